"""What was seen: against a slow reference, and that nothing else is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import observe, physics
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.kernels.agents import TILE
from teamworld.worlds.wildfire.levels import Level, Team, WildfireInstance
from teamworld.worlds.wildfire.state import (
    BURNT_OUT,
    CARRIED,
    DEAD,
    EXTINGUISHING,
    FREE,
    IGNITED,
    ON_FIRE,
    SAFE,
    SIGHTS,
    WATER,
    Cell,
    Civilians,
)
from tests.worlds.wildfire.maps import cut_trees, douse, flat, rough

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Incident, Terrain


def started(terrain: Terrain, team: Team, spawn: tuple[int, int] = (5, 5)) -> Incident:
    """Return an incident on a map, everybody in one cell, nothing burning."""
    level = Level(name="x", task="cut_sparse", size=terrain.size, team=team, targets=1, max_steps=50)
    instance = WildfireInstance(level=level, seed=0, terrain=terrain, spawn=Cell(*spawn), targets=((Cell(0, 0),),))
    return physics.begin_incident(instance, seed=0)


def send(running: Incident, places: npt.NDArray[np.float64]) -> None:
    """Put the agents somewhere else."""
    running.units.x[:], running.units.y[:] = places.T


def code(running: Incident, x: int, y: int) -> int:
    """Return what can be seen of a cell, from the specification."""
    land, folk = running.land, running.civilians
    for at_x, at_y, state in zip(folk.x.tolist(), folk.y.tolist(), folk.state.tolist(), strict=True):
        if (at_x, at_y) == (x, y) and state in (FREE, SAFE):
            return 15
    cell = land.cell(x, y)
    burn = int(land.burn.reshape(-1)[cell])
    if burn in (IGNITED, ON_FIRE, EXTINGUISHING, BURNT_OUT):
        return {IGNITED: 9, ON_FIRE: 10, EXTINGUISHING: 11, BURNT_OUT: 12}[burn]
    if land.land.reshape(-1)[cell] == WATER:
        return 13
    if land.building.reshape(-1)[cell]:
        return 14
    wet = land.wet_until.reshape(-1)[cell] > land.fire_steps
    return (1 if wet else 5) + int(land.trees.reshape(-1)[cell])


class Slow:
    """Sightings as dictionaries: one for each owner, (x, y) -> code."""

    def __init__(self, running: Incident, shared: bool) -> None:
        agents = len(running.units)
        self.known: list[dict[tuple[int, int], int]] = [{} for _ in range(1 if shared else agents)]
        self.at = [running.units.place(k) for k in range(agents)]
        self.look(running)

    def look(self, running: Incident) -> None:
        """Reveal the square round every cell between where an agent was and is."""
        size, units = running.land.size, running.units
        for k, (x0, y0) in enumerate(self.at):
            x1, y1 = self.at[k] = units.place(k)
            if not units.alive[k]:
                continue
            if y0 > y1:
                x0, y0, x1, y1 = x1, y1, x0, y0
            steps = max(abs(x1 - x0), y1 - y0, 1)
            reach = SIGHTS[units.kind[k]].reveals
            for step in range(steps + 1):
                x, y = (int(np.floor(a + (b - a) * step / steps + 0.5)) for a, b in ((x0, x1), (y0, y1)))
                for row in range(max(0, y - reach), min(size, y + reach + 1)):
                    for column in range(max(0, x - reach), min(size, x + reach + 1)):
                        self.known[k % len(self.known)][column, row] = code(running, column, row)

    def map(self, owner: int, size: int) -> npt.NDArray[np.uint8]:
        """Return (N, N) codes."""
        out = np.zeros((size, size), np.uint8)
        for (x, y), seen in self.known[owner].items():
            out[y, x] = seen
        return out


def scramble(running: Incident, rng: np.random.Generator, share: float = 0.1) -> None:
    """Change the land and its people at random: what burns, is wet, is cut, who stands where."""
    land = running.land
    for array, most in ((land.burn, 6), (land.trees, 4), (land.building, 2)):
        inner = land.inner(array)
        hit = rng.random(inner.shape) < share
        inner[hit] = rng.integers(0, most, np.count_nonzero(hit))
    land.inner(land.land)[rng.random((land.size, land.size)) < share / 4] = WATER
    land.inner(land.wet_until)[rng.random((land.size, land.size)) < share] = land.fire_steps + 3
    count = 6
    running.civilians = Civilians(
        rng.integers(0, land.size, count).astype(np.int32),
        rng.integers(0, land.size, count).astype(np.int32),
        rng.choice([FREE, CARRIED, SAFE, DEAD], count).astype(np.uint8),
    )


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(10, 75),
    team=st.tuples(*[st.integers(0, 2)] * 4).filter(lambda team: team[0] + team[1] > 0),
    shared=st.booleans(),
)
def test_maps_are_those_of_the_slow_reference(seed: int, size: int, team: tuple[int, ...], shared: bool) -> None:
    rng = np.random.default_rng(seed)
    running = started(rough(seed, size), Team(*team))
    seen, slow = observe.begin_sightings(running, shared_map=shared), Slow(running, shared)
    for _ in range(3):
        scramble(running, rng)
        send(running, np.clip(rng.normal(np.stack([running.units.x, running.units.y], 1), 12), 0, size - 1))
        running.units.alive[rng.random(len(running.units)) < 0.1] = False
        seen.look(running)
        slow.look(running)
        for owner in range(len(slow.known)):
            assert np.array_equal(seen.seen(owner), slow.map(owner, size))
        assert seen.explored == len(set().union(*slow.known))
        assert not seen.people.any()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 59), min_size=4, max_size=4), st.sampled_from([5, 15, 20]))
def test_a_way_is_seen_as_the_union_of_its_squares(ends: list[int], reach: int) -> None:
    left, right = np.zeros(60, np.int32), np.zeros(60, np.int32)
    x0, y0, x1, y1 = ends
    top, bottom = agents.sight_spans(x0, y0, x1, y1, reach, 60, left, right)
    steps = max(abs(x1 - x0), abs(y1 - y0), 1)
    cells = {
        (x, y)
        for k in range(steps + 1)
        for x in range(60)
        for y in range(60)
        if abs(x - (x0 + (x1 - x0) * k / steps)) <= reach - 0.5 and abs(y - (y0 + (y1 - y0) * k / steps)) <= reach - 0.5
    }
    spans = {(x, y) for y in range(top, bottom + 1) for x in range(left[y], right[y] + 1)}
    assert cells <= spans  # rounding to cells may only add a rim
    for x, y in ((x0, y0), (x1, y1)):
        assert {(x + reach, y), (x, y - reach)} & {(c, r) for c in range(60) for r in range(60)} <= spans


def test_codes_of_the_specification() -> None:
    running = started(flat(21, trees=2), Team(1), (10, 10))
    land = running.land
    cut_trees(land, np.array([land.cell(7, 10)]), most=3)
    douse(land, np.array([land.cell(7, 10), land.cell(8, 10)]))
    for x, state in ((9, IGNITED), (10, ON_FIRE), (11, EXTINGUISHING), (12, BURNT_OUT)):
        land.inner(land.burn)[10, x] = state
    physics.set_water(land, 13, 10)
    land.inner(land.building)[10, 14] = True
    running.civilians = Civilians(
        np.array([15, 10, 6, 6], np.int32),
        np.array([10, 11, 11, 12], np.int32),
        np.array([FREE, SAFE, CARRIED, DEAD], np.uint8),
    )
    seen = observe.begin_sightings(running).seen()
    assert seen[10, 5:16].tolist() == [7, 7, 1, 3, 9, 10, 11, 12, 13, 14, 15]
    assert seen[11, 10] == 15
    assert seen[11, 6] == seen[12, 6] == 7  # carried and dead are not shown
    assert not seen[:5].any()
    assert np.array_equal(observe.true_codes(land)[10, 5:15], seen[10, 5:15])


def test_who_walks_leaves_no_gap_and_what_was_seen_stays() -> None:
    running = started(flat(60), Team(1), (10, 30))
    seen = observe.begin_sightings(running)
    send(running, np.array([[22.0, 30.0]]))
    seen.look(running)
    assert (seen.seen()[25:36, 5:28] == 7).all()  # 12 cells in one step, 5 to each side
    assert seen.explored == 11 * 23
    physics.ignite(running.land, 6, 30)
    seen.look(running)
    assert seen.seen()[30, 6] == 7  # out of sight now
    physics.ignite(running.land, 20, 30)
    seen.look(running)
    assert seen.seen()[30, 20] == 9


def test_the_dead_tell_nothing() -> None:
    running = started(flat(60), Team(1), (10, 30))
    seen = observe.begin_sightings(running)
    before = seen.seen()
    running.units.alive[0] = False
    send(running, np.array([[22.0, 30.0]]))
    seen.look(running)
    assert np.array_equal(seen.seen(), before)


def test_maps_of_ones_own_hold_what_one_saw_only() -> None:
    running = started(flat(60), Team(2, drones=1), (10, 30))
    send(running, np.array([[10.0, 30.0], [40.0, 30.0], [20.0, 30.0]]))
    seen = observe.begin_sightings(running, shared_map=False)
    maps = [seen.seen(k) for k in range(3)]
    assert [np.count_nonzero(seen_map) for seen_map in maps] == [121, 121, 31 * 31]
    assert not (maps[0] > 0)[:, 30:].any()
    together = observe.begin_sightings(running).seen()
    assert np.array_equal(together, np.maximum.reduce(maps))
    assert seen.explored == np.count_nonzero(together)


def test_a_map_costs_what_was_seen() -> None:
    size, agents = 1000, 500
    running = started(flat(size), Team(agents), (500, 500))
    seen = observe.begin_sightings(running, shared_map=False)
    rng = np.random.default_rng(0)
    for _ in range(3):
        send(
            running, np.clip(np.stack([running.units.x, running.units.y], 1) + rng.uniform(-8, 8, (agents, 2)), 0, 999)
        )
        seen.look(running)
    tiles = (np.array([seen.seen(k) for k in range(0, agents, 100)]) > 0).sum(axis=(1, 2))
    assert (tiles < 50 * 50).all()
    assert seen.used <= agents * 9 + 1
    assert seen.nbytes < seen.used * TILE * TILE + 4 * agents * 32 * 32 + 3 * size * size


def test_a_copy_goes_its_own_way() -> None:
    running = started(flat(40), Team(1), (10, 10))
    seen = observe.begin_sightings(running)
    other = seen.copy()
    send(running, np.array([[30.0, 30.0]]))
    seen.look(running)
    assert not np.array_equal(seen.seen(), other.seen())
    other.look(running)
    assert np.array_equal(seen.seen(), other.seen())


@pytest.mark.parametrize("value", [1, "yes", None])
def test_bad_input(value: object) -> None:
    running = started(flat(12), Team(1))
    with pytest.raises(UserError, match="shared_map must be True or False"):
        observe.begin_sightings(running, shared_map=value)  # type: ignore[arg-type]


def test_any_size_of_map_fits_the_tiles() -> None:
    for size in (TILE - 1, TILE, TILE + 1, 3 * TILE):
        running = started(flat(size), Team(1, drones=1), (size - 1, size - 1))
        for shared in (True, False):
            seen = observe.begin_sightings(running, shared_map=shared)
            assert seen.seen().shape == (size, size)
            assert seen.seen()[size - 1, size - 1] == 7
