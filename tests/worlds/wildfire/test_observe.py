"""Observations: against a slow reference, there and back, and nothing that nobody saw."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import observe, physics, text
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.levels import PRESETS, Edition, Team, instance_for, level_for
from teamworld.worlds.wildfire.observe import ManagerRow, Observation
from teamworld.worlds.wildfire.state import DEAD, DESTROYED, HELICOPTER, KINDS, NOBODY
from tests.worlds.wildfire.maps import flat, rough
from tests.worlds.wildfire.test_sightings import scramble, send, started

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.observe import Sightings
    from teamworld.worlds.wildfire.state import Incident


SIDES = {"firefighter": 21, "bulldozer": 21, "drone": 51, "helicopter": 61}


def slow_row(running: Incident, seen: Sightings, agent: int) -> list[float]:
    """Return an agent's row, from the specification."""
    units = running.units
    x, y = units.place(agent)
    if not units.alive[agent]:
        return [5, *[-1] * 3721, 0, x, y, 0, 0, 0]
    kind = int(units.kind[agent])
    side, known = SIDES[KINDS[kind]], seen.seen(agent)
    size = len(known)
    window = [
        float(known[row, column]) if 0 <= row < size and 0 <= column < size else 0.0
        for row in range(y - side // 2, y + side // 2 + 1)
        for column in range(x - side // 2, x + side // 2 + 1)
    ]
    extras = [0.0, 0.0, 0.0]
    if KINDS[kind] == "firefighter":
        extras = [units.carries[agent] != -1, units.water[agent], units.aboard[agent] != -1]
    if KINDS[kind] == "helicopter":
        extras = [sum(int(helicopter) == agent for helicopter in units.aboard), units.water[agent], 0]
    return [kind, *window, *[-1] * (3721 - side * side), 0, x, y, *map(float, extras)]


def busy(seed: int, size: int, team: Team) -> Incident:
    """Return an incident with everything going on at random."""
    rng = np.random.default_rng(seed)
    running = started(rough(seed, size), team, (size // 2, size // 2))
    scramble(running, rng)
    units = running.units
    send(running, rng.uniform(-0.49, size - 0.51, (team.size, 2)))
    units.water[:] = rng.integers(0, 6, team.size)
    units.carries[:] = np.where((units.kind == 0) & (rng.random(team.size) < 0.5), 0, NOBODY)
    helicopters = np.flatnonzero(units.kind == HELICOPTER)
    if len(helicopters):
        units.aboard[:] = np.where((units.kind == 0) & (rng.random(team.size) < 0.3), helicopters[0], NOBODY)
    units.alive[rng.random(team.size) < 0.2] = False
    return running


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(10, 80), shared=st.booleans())
def test_rows_are_those_of_the_slow_reference(seed: int, size: int, shared: bool) -> None:
    running = busy(seed, size, Team(2, 1, 1, 2))
    seen = observe.begin_sightings(running, shared_map=shared)
    rows = observe.observations(running, seen)
    assert rows.shape == (7, 3728)
    assert rows.dtype == np.float32
    for agent in range(6):
        assert rows[agent + 1].tolist() == slow_row(running, seen, agent)
        decoded = observe.decode_row(rows[agent + 1])
        single = observe.observation(running, seen, agent)
        assert isinstance(decoded, Observation)
        assert np.array_equal(decoded.window, single.window)
        assert np.array_equal(single.window, observe.window(running, seen, agent))
        assert decoded._replace(window=single.window) == single
        assert np.array_equal(observe.encode_row(single), rows[agent + 1])


def test_windows_of_the_specification() -> None:
    running = started(flat(100), Team(1, 1, 1, 1), (50, 50))
    seen = observe.begin_sightings(running)
    sides = [len(observe.window(running, seen, k)) for k in range(4)]
    assert sides == [21, 21, 51, 61]
    running.land.inner(running.land.trees)[50, 50] = 3
    seen.look(running)
    for agent, side in enumerate(sides):
        assert observe.window(running, seen, agent)[side // 2, side // 2] == 8
    send(running, np.zeros((4, 2)))
    seen.look(running)
    corner = observe.window(running, seen, 0)
    assert not corner[:10].any()
    assert not corner[:, :10].any()
    assert (corner[10:, 10:] == 7).all()  # the helicopter revealed it for all
    assert agents.LENGTH == 3728


def test_out_is_written_and_checked() -> None:
    running = started(flat(20), Team(1, drones=1))
    seen = observe.begin_sightings(running)
    out = np.full((3, 3728), 99, np.float32)
    assert observe.observations(running, seen, out) is out
    assert np.array_equal(out, observe.observations(running, seen))
    for wrong in (np.zeros((2, 3728), np.float32), np.zeros((3, 3728)), np.zeros((3, 7456), np.float32)[:, ::2]):
        with pytest.raises(UserError, match="out must be a contiguous float32 array"):
            observe.observations(running, seen, wrong)  # type: ignore[arg-type]


codes = st.integers(0, 15)


@st.composite
def any_observation(draw: st.DrawFn) -> Observation:
    """Draw what an agent may observe."""
    kind = draw(st.sampled_from([0, 1, 2, 3, DESTROYED]))
    side = 0 if kind == DESTROYED else SIDES[KINDS[kind]]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    window = rng.integers(0, 16, (side, side)).astype(np.uint8)
    x, y, a, b, c = draw(st.tuples(*[st.integers(0, 1999)] * 2, *[st.integers(0, 5)] * 3))
    return Observation(kind, window, draw(st.integers(0, 1)), x, y, (a, b, c))


@settings(max_examples=50, deadline=None)
@given(any_observation())
def test_decode_of_encode_is_the_identity(seen: Observation) -> None:
    row = observe.encode_row(seen)
    back = observe.decode_row(row)
    assert isinstance(back, Observation)
    assert np.array_equal(back.window, seen.window)
    assert back._replace(window=seen.window) == seen
    assert np.array_equal(observe.encode_row(back), row)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 5),
    st.integers(10, 2000),
    st.lists(st.integers(0, 1999), max_size=60),
    st.sampled_from(get_args(Edition)),
    st.integers(-(10**6), 10**6),
)
def test_decode_of_encode_is_the_identity_for_the_manager(
    task: int, size: int, parameters: list[int], edition: Edition, score: int
) -> None:
    counters = (float(score),) * observe.COUNTERS[edition]
    manager = ManagerRow(task, size, counters, tuple(parameters))
    assert observe.decode_row(observe.encode_row(manager), edition) == manager


@pytest.mark.parametrize("name", PRESETS)
def test_the_manager_is_told_the_task(name: str) -> None:
    placed = instance_for(name, 3)
    running = physics.begin_incident(placed, 3)
    manager = observe.manager_row(running, observe.begin_sightings(running))
    cells = list(zip(manager.parameters[::2], manager.parameters[1::2], strict=True))
    task = placed.level.task
    assert manager.size == placed.level.size
    assert manager.counters == (physics.score(running).reference,)
    if task == "cut_sparse":
        assert cells == [(0, placed.level.targets), *(line[0] for line in placed.targets)]
    elif task == "cut_lines":
        assert cells == [(1, placed.level.targets), *(end for line in placed.targets for end in (line[0], line[-1]))]
    elif task == "scout":
        assert cells == [placed.fire]
    elif task == "transport":
        assert cells == [placed.target]
    elif task == "contain":
        assert cells == [placed.fire, *placed.water]
    elif task == "rescue":
        assert cells == [placed.target, *placed.clusters]
    else:
        assert cells == [placed.fire, (0, 0), *placed.clusters]
    assert observe.decode_row(observe.observations(running, observe.begin_sightings(running))[0]) == manager


def test_the_manager_of_2026_counts() -> None:
    running = physics.begin_incident(instance_for("full_game@2026", 1), 1)
    seen = observe.begin_sightings(running)
    manager = observe.decode_row(observe.observations(running, seen)[0], "2026")
    assert isinstance(manager, ManagerRow)
    assert manager.counters[0] == seen.explored == np.count_nonzero(seen.seen())
    assert manager.counters[:13] == tuple(map(float, physics.counters(running, seen.explored)))  # type: ignore[arg-type]
    assert manager.counters[13] == 1  # something burns
    water = running.instance.water[0]
    assert manager.parameters[2:4] == (water.x, water.y)


def test_too_many_parameters_are_cut_to_whole_cells() -> None:
    level = replace(level_for("cut_trees_sparse_large"), targets=2000, size=120)
    running = physics.begin_incident(instance_for(level, 0, terrain=flat(120, trees=3)), 0)
    manager = observe.manager_row(running, observe.begin_sightings(running))
    assert manager.parameters[:2] == (0, 2000)
    assert len(manager.parameters) == 3724
    assert observe.decode_row(observe.encode_row(manager)) == manager


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (np.zeros(3727), "3728 numbers"),
        (np.full(3728, 6.0), "begins with a kind from 0 to 5"),
        (np.full(3728, 0.5), "begins with a kind from 0 to 5"),
        (np.full(3728, np.nan), "begins with a kind from 0 to 5"),
        (np.append([0.0], np.full(3727, 16.0)), "codes from 0 to 15"),
    ],
)
def test_rows_that_are_none_are_told(row: npt.NDArray[np.float64], words: str) -> None:
    with pytest.raises(UserError, match=words):
        observe.decode_row(row)


def test_windows_that_do_not_fit_are_told() -> None:
    with pytest.raises(UserError, match=r"window of shape \(21, 21\)"):
        observe.encode_row(Observation(0, np.zeros((3, 3), np.uint8), 0, 0, 0, (0, 0, 0)))
    with pytest.raises(UserError, match="number from 0 to 3"):
        observe.encode_row(Observation(4, np.zeros((3, 3), np.uint8), 0, 0, 0, (0, 0, 0)))
    with pytest.raises(UserError, match="holds 3728 numbers"):
        observe.encode_row(ManagerRow(0, 10, (0.0,), (1,) * 3725))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), shared=st.booleans())
def test_what_nobody_saw_changes_no_row_and_no_word(seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    team = Team(2, 1, 1, 1)
    incident = started(rough(seed, 110), team, (40, 40))
    ways = [np.clip(rng.normal(40, 10, (team.size, 2)), 0, 109) for _ in range(2)]

    def play(running: Incident) -> Sightings:
        running.units.x[:], running.units.y[:] = 40, 40
        seen = observe.begin_sightings(running, shared_map=shared)
        for way in ways:
            send(running, way)
            seen.look(running)
        return seen

    first = play(incident)
    owners = 1 if shared else team.size
    known = np.logical_or.reduce([first.seen(k) > 0 for k in range(owners)])
    twin = incident.copy()
    scramble(twin, rng, share=1.0)
    for name in ("burn", "trees", "land", "building", "wet_until"):
        mine, other = incident.land.inner(getattr(incident.land, name)), twin.land.inner(getattr(twin.land, name))
        other[known] = mine[known]
    twin.civilians.state[known[twin.civilians.y, twin.civilians.x]] = DEAD
    second = play(twin)
    rows, others = observe.observations(incident, first)[1:], observe.observations(twin, second)[1:]
    assert np.array_equal(rows, others)
    assert not np.array_equal(observe.true_codes(incident.land), observe.true_codes(twin.land))
    assert all(np.array_equal(first.seen(owner), second.seen(owner)) for owner in range(owners))
    for agent in range(team.size):
        words, same = (
            text.describe(text.agent_situation(running, seen, agent))
            for running, seen in ((incident, first), (twin, second))
        )
        assert words == same
        assert text.grid_text(observe.window(incident, first, agent)) == text.grid_text(
            observe.window(twin, second, agent)
        )


def test_a_real_fire_far_off_changes_no_row() -> None:
    # Two incidents that differ in the seed of chance alone: the fire spreads differently, out of everybody's sight.
    placed = instance_for(replace(level_for("full_game"), fire_every=100), 3)
    runs = [physics.begin_incident(placed, seed, "stochastic") for seed in (1, 2)]
    seen = [observe.begin_sightings(running) for running in runs]
    agents = len(runs[0].units)
    for _ in range(12):
        rows = []
        for running, map_ in zip(runs, seen, strict=True):
            physics.step(running, np.full((agents, 3), -1))
            map_.look(running)
            rows.append(observe.observations(running, map_)[1:])
        assert np.array_equal(rows[0], rows[1])
    assert runs[0].land.cells_caught != runs[1].land.cells_caught > 100
