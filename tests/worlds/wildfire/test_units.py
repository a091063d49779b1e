"""The arrays of units, the rules as options, copies, and what a seed decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.wildfire.levels import Team, instance_for
from teamworld.worlds.wildfire.physics import begin_incident, step
from teamworld.worlds.wildfire.state import (
    BULLDOZER,
    DRONE,
    FIREFIGHTER,
    HELICOPTER,
    Cell,
    FireMode,
    Rules,
    civilians_at,
    units_at,
)
from tests.worlds.wildfire.scenes import do, same, scene, state


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
    ("option", "value", "told"),
    [
        ("pick_up", 0, "pick_up must be a number of cells from 0.01 to 100, got 0"),
        ("pick_up", math.nan, "pick_up must be a number of cells"),
        ("pick_up", "near", "pick_up must be a number of cells from 0.01 to 100, got 'near'"),
        ("refill", -1, "refill must be an integer from 0 to 100, got -1"),
        ("refill", 1.5, "refill must be an integer"),
        ("rescue_reach", True, "rescue_reach must be an integer"),
    ],
)
def test_rules_that_cannot_be(option: str, value: object, told: str) -> None:
    with pytest.raises(UserError, match=told):
        Rules(**{option: value})  # type: ignore[arg-type]


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

    one, again, other = run(1), run(1), run(2)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))
