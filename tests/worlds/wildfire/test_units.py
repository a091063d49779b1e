"""Units, civilians, the rules as options, copies, and what a seed decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import Team, instance_for
from teamworld.worlds.wildfire.physics import begin_incident, step
from teamworld.worlds.wildfire.state import (
    BULLDOZER,
    BURNT_OUT,
    CARRIED,
    DEAD,
    DRONE,
    FIREFIGHTER,
    FREE,
    HELICOPTER,
    IGNITED,
    SAFE,
    ActionRules,
    Cell,
    FireMode,
    civilians_at,
    units_at,
)
from tests.worlds.wildfire.incidents import do, same, scene, state
from tests.worlds.wildfire.maps import flat


def test_ids_run_by_kind_and_all_start_in_one_cell() -> None:
    units = units_at(Cell(3, 4), Team(2, 1, 1, 2))
    assert units.kind.tolist() == [FIREFIGHTER] * 2 + [BULLDOZER, DRONE] + [HELICOPTER] * 2
    assert units.places().tolist() == [[3, 4]] * 6
    assert units.alive.all()
    assert not units.water.any()


def test_civilians_of_a_cluster_start_in_its_cell() -> None:
    civilians = civilians_at((Cell(1, 2), Cell(5, 6)), 2)
    assert civilians.x.tolist() == [1, 1, 5, 5]
    assert civilians.y.tolist() == [2, 2, 6, 6]
    assert len(civilians_at((), 3)) == 0


@pytest.mark.parametrize("at", [0.0, 0.5, 1.5, 2.4999, 2.5, 7.51, 11.0])
def test_one_rule_says_which_cell_a_position_is_in(at: float) -> None:
    incident = scene(team=Team(1, 1))
    incident.units.x[0] = at
    assert incident.units.places()[0, 0] == incident.units.place(0)[0] == round(at)
    # the kernels have the same: what is cut is the cell that ``place`` names
    incident.land.trees[:] = 3
    step(incident, do(incident, a1=(1, 0, 0)))
    assert incident.land.inner(incident.land.trees)[10, round(at)] == 2


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("pick_up", 0, "pick_up must be a number of cells from 0.01 to 100, got 0"),
        ("pick_up", math.nan, "pick_up must be a number of cells"),
        ("pick_up", "near", "pick_up must be a number of cells from 0.01 to 100, got 'near'"),
        ("refill", -1, "refill must be an integer from 0 to 100, got -1"),
        ("refill", 1.5, "refill must be an integer"),
        ("rescue_reach", True, "rescue_reach must be an integer"),
    ],
)
def test_rules_that_cannot_be(option: str, value: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        ActionRules(**{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["reference", "stochastic"])
def test_a_seed_decides_everything_and_copies_are_apart(mode: FireMode) -> None:
    """Conformance check 3, for whole episodes of random actions."""

    def run(seed: int) -> list[Any]:
        incident = begin_incident(instance_for("full_game", 3), seed, mode)
        rng = np.random.default_rng(0)
        for t in range(40):
            actions = np.column_stack([rng.integers(-1, 5, 15), rng.integers(0, 200, (15, 2))]).astype(np.int32)
            if t % 10 == 5:
                twin = incident.copy()
                assert same(incident, twin)
                step(twin, actions)
                assert not same(incident, twin)
            step(incident, actions)
        return state(incident)

    first, repeated, other = run(1), run(1), run(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, repeated, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_each_way_is_as_likely() -> None:
    incident = scene(team=Team(1), clusters=((20, 20),) * 4000)
    physics.step_civilians(incident, 1)
    moves = zip(incident.civilians.x - 20, incident.civilians.y - 20, strict=True)
    steps, counts = np.unique([(int(right), int(down)) for right, down in moves], axis=0, return_counts=True)
    assert steps.tolist() == [[-1, 0], [0, -1], [0, 1], [1, 0]]
    assert (abs(counts - 1000) < 120).all()  # 27 is the standard deviation


@pytest.mark.parametrize(("place", "ways"), [((0, 0), 2), ((38, 38), 2), ((39, 39), 0), ((39, 20), 1), ((20, 0), 3)])
def test_the_map_ends_before_its_last_row_and_column(place: tuple[int, int], ways: int) -> None:
    incident = scene(team=Team(1), clusters=(place,) * 300)
    physics.step_civilians(incident, 1)
    cells = set(zip(incident.civilians.x.tolist(), incident.civilians.y.tolist(), strict=True))
    assert len(cells) == max(1, ways)
    assert (place in cells) == (ways == 0)
    assert ways == 0 or all(x <= 38 and y <= 38 for x, y in cells)


@given(st.integers(0, 10**6), st.integers(1, 100))
@settings(max_examples=50)
def test_nobody_steps_into_fire_or_on_burnt_ground(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    incident = scene(team=Team(1), terrain=flat(12), clusters=((6, 6),) * 20, seed=seed, spawn=(3, 3))
    incident.land.inner(incident.land.burn)[:] = rng.choice([0, 1, 2, 3, 4, 5], (12, 12))
    incident.civilians.x[:], incident.civilians.y[:] = rng.integers(0, 11, (2, 20))
    before = incident.copy().civilians
    physics.step_civilians(incident, number)
    after = incident.civilians
    moved = (after.x != before.x) | (after.y != before.y)
    assert (abs(after.x - before.x) + abs(after.y - before.y) <= 1).all()
    assert (incident.land.inner(incident.land.burn)[after.y, after.x][moved] < IGNITED).all()
    for k in np.flatnonzero(~moved):  # who stays has nowhere to go
        for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            x, y = int(after.x[k]) + right, int(after.y[k]) + down
            assert not (0 <= x <= 10 and 0 <= y <= 10) or incident.land.burn[y + 1, x + 1] >= IGNITED


def test_only_the_free_walk() -> None:
    incident = scene(team=Team(1), clusters=((20, 20),) * 4)
    incident.civilians.state[:] = (FREE, CARRIED, SAFE, DEAD)
    physics.step_civilians(incident, 1)
    stayed = (incident.civilians.x == 20) & (incident.civilians.y == 20)
    assert stayed.tolist() == [False, True, True, True]


def test_what_one_does_changes_no_draw_of_another() -> None:
    alone = scene(team=Team(1), clusters=((20, 20),) * 5)
    crowd = scene(team=Team(1), clusters=((20, 20),) * 9)
    crowd.civilians.state[:3] = (SAFE, DEAD, CARRIED)
    for number in range(1, 20):
        physics.step_civilians(alone, number)
        physics.step_civilians(crowd, number)
    assert alone.civilians.x[3:].tolist() == crowd.civilians.x[3:5].tolist()
    assert alone.civilians.y[3:].tolist() == crowd.civilians.y[3:5].tolist()
    other = scene(team=Team(1), clusters=((20, 20),) * 5, seed=1)
    for number in range(1, 20):
        physics.step_civilians(other, number)
    assert alone.civilians.x.tolist() != other.civilians.x.tolist()


@pytest.mark.parametrize(("every", "moves"), [(300, [0, 0, 1, 1, 1, 2]), (100, [1, 2, 3, 4, 5, 6]), (40, [2, 5, 7])])
def test_they_step_when_the_clock_says(every: int, moves: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    incident = scene(team=Team(1), clusters=((20, 20),), civilian_every=every)
    numbers: list[int] = []
    monkeypatch.setattr(physics, "step_civilians", lambda _, number: numbers.append(number))
    for count in moves:
        step(incident, do(incident))
        assert numbers == list(range(1, count + 1))


def test_burnt_out_ground_is_closed_though_it_does_not_kill() -> None:
    incident = scene(team=Team(1), terrain=flat(40), clusters=((20, 20),) * 50)
    burn = incident.land.inner(incident.land.burn)
    burn[20, 21] = burn[20, 19] = burn[19, 20] = BURNT_OUT
    physics.step_civilians(incident, 1)
    assert (incident.civilians.y == 21).all()
