"""How civilians walk about."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import Team
from teamworld.worlds.wildfire.physics import step
from teamworld.worlds.wildfire.state import BURNT_OUT, CARRIED, DEAD, FREE, IGNITED, SAFE
from tests.worlds.wildfire.maps import flat
from tests.worlds.wildfire.scenes import do, scene


def test_each_way_is_as_likely() -> None:
    incident = scene(team=Team(1), clusters=((20, 20),) * 4000)
    physics.step_civilians(incident, 1)
    moves = zip(incident.civilians.x - 20, incident.civilians.y - 20, strict=True)
    found, counts = np.unique([(int(right), int(down)) for right, down in moves], axis=0, return_counts=True)
    assert found.tolist() == [[-1, 0], [0, -1], [0, 1], [1, 0]]
    assert (abs(counts - 1000) < 120).all()  # 27 is the standard deviation


@pytest.mark.parametrize(("place", "ways"), [((0, 0), 2), ((38, 38), 2), ((39, 39), 0), ((39, 20), 1), ((20, 0), 3)])
def test_the_map_ends_before_its_last_row_and_column(place: tuple[int, int], ways: int) -> None:
    incident = scene(team=Team(1), clusters=(place,) * 300)
    physics.step_civilians(incident, 1)
    found = set(zip(incident.civilians.x.tolist(), incident.civilians.y.tolist(), strict=True))
    assert len(found) == max(1, ways)
    assert (place in found) == (ways == 0)
    assert ways == 0 or all(x <= 38 and y <= 38 for x, y in found)


@given(st.integers(0, 10**6), st.integers(1, 100))
@settings(max_examples=50)
def test_nobody_steps_into_fire_or_on_burnt_ground(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    incident = scene(team=Team(1), terrain=flat(12), clusters=((6, 6),) * 20, seed=seed, spawn=(3, 3))
    incident.land.inner(incident.land.burn)[:] = rng.choice([0, 1, 2, 3, 4, 5], (12, 12))
    incident.civilians.x[:], incident.civilians.y[:] = rng.integers(0, 11, (2, 20))
    before = incident.copy().civilians
    physics.step_civilians(incident, number)
    now = incident.civilians
    moved = (now.x != before.x) | (now.y != before.y)
    assert (abs(now.x - before.x) + abs(now.y - before.y) <= 1).all()
    assert (incident.land.inner(incident.land.burn)[now.y, now.x][moved] < IGNITED).all()
    for k in np.flatnonzero(~moved):  # who stays has nowhere to go
        for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            x, y = int(now.x[k]) + right, int(now.y[k]) + down
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
