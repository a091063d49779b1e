"""Bounds of the wildfire tasks: no walk is quicker than its ticks, no search finds a shorter joint plan."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from teamworld.worlds.wildfire import bounds, cutting, physics
from teamworld.worlds.wildfire.levels import instance_for
from teamworld.worlds.wildfire.state import GO_ANYWHERE, STOP, Cell, Incident
from teamworld.worlds.wildfire.walking_times import SAVED, WalkingTimes, _steepness, slowness_of

LEVEL = "cut_trees_sparse_small"


def begin(seed: int) -> Incident:
    return physics.begin_incident(instance_for(LEVEL, seed), seed)


def set_trees(incident: Incident, trees: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> None:
    incident.land.inner(incident.land.trees)[:] = trees


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
def test_no_step_gets_nearer_than_a_step(seed: int) -> None:
    incident, rng = begin(seed), np.random.default_rng(seed)
    trees = incident.land.inner(incident.land.trees)
    if seed == 2:
        set_trees(incident, rng.integers(0, 4, trees.shape, dtype=np.uint8))  # woods as uneven as can be
    size = len(trees)
    aim = Cell(*map(int, rng.integers(0, size, 2)))
    times = WalkingTimes(slowness_of(trees), aim)
    assert _steepness(times.ticks, slowness_of(trees) / 8).max() <= 1
    gains = []
    for _ in range(600):
        places = rng.uniform(0, size - 1, (3, 2))
        incident.units.x[:], incident.units.y[:] = places.T
        heading = rng.integers(0, size, (3, 2)) if rng.random() < 0.5 else np.array([aim] * 3)
        physics.step(incident, np.column_stack((np.full(3, GO_ANYWHERE), heading)))
        for (x, y), at_x, at_y in zip(places, incident.units.x, incident.units.y, strict=True):
            if (round(at_x), round(at_y)) != aim:
                gains.append(_highest(times, x, y) - times.from_place(at_x, at_y))
    slack = 2 * float(slowness_of(trees).max()) / 8 * 2**0.5  # corners of squares stand for places
    assert max(gains) <= 100 + slack
    assert max(gains) > 90  # and it is not far less


def _highest(times: WalkingTimes, x: float, y: float) -> float:
    column, row = int((x + 0.5) * 8), int((y + 0.5) * 8)
    return float(times.ticks[row : row + 2, column : column + 2].max())


def test_a_tree_less_saves_no_more_than_is_said() -> None:
    rng = np.random.default_rng(0)
    trees = rng.integers(0, 4, (8, 8))
    aim, start = Cell(0, 3), Cell(7, 4)
    before = WalkingTimes(slowness_of(trees), aim).from_cell(start)
    for _ in range(12):
        y, x = rng.integers(0, 8, 2)
        if trees[y, x]:
            less = trees.copy()
            less[y, x] -= 1
            after = WalkingTimes(slowness_of(less), aim).from_cell(start)
            assert before - after <= SAVED + 0.01 * before  # both are known to a hundredth


def small(seed: int) -> Incident:
    """Return an instance with two firefighters, and two cells with one or two trees, others bare."""
    incident, rng = begin(seed), np.random.default_rng(seed)
    trees = np.zeros_like(incident.land.inner(incident.land.trees))
    for line in incident.instance.targets:
        for cell in line:
            trees[cell.y, cell.x] = 0
    for cell in rng.permutation([cell for line in incident.instance.targets for cell in line])[:2].tolist():
        trees[cell[1], cell[0]] = int(rng.integers(1, 3))
    set_trees(incident, trees)
    return incident


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(6))
def test_no_search_of_all_plans_beats_the_bound(seed: int) -> None:
    incident = small(seed)
    left = bounds._trees_to_cut(incident)
    starts = [(float(incident.units.x[0]), float(incident.units.y[0]))] * 2
    task = cutting.read_task(incident, left, starts)
    assert task is not None
    least = cutting.least_timesteps(task)
    found = search(incident, [cell for cell, trees in left.items() if trees])
    assert least <= found <= least + 1


def search(incident: Incident, cells: list[Cell]) -> int:
    """Return the timesteps of the best plan of two firefighters who head for the cells, cut or wait, by the physics."""
    incident.units.x[2:], incident.units.y[2:] = incident.units.x[0], incident.units.y[0]
    acts = [(1, 0, 0), (STOP, 0, 0), *((GO_ANYWHERE, cell.x, cell.y) for cell in cells)]
    layer, steps = {_key(incident): incident}, 0
    trees = {cell: cell for cell in cells}
    while not any(_is_cut(state, trees) for state in layer.values()):
        after: dict[tuple[bytes, bytes, bytes], Incident] = {}
        for state in layer.values():
            for first, second in product(acts, repeat=2):
                new = state.copy()
                physics.step(new, np.array([first, second, (STOP, 0, 0)]))
                after.setdefault(_key(new), new)
        layer, steps = after, steps + 1
    return steps


def _is_cut(incident: Incident, cells: dict[Cell, Cell]) -> bool:
    trees = incident.land.inner(incident.land.trees)
    return not any(trees[cell.y, cell.x] for cell in cells)


def _key(incident: Incident) -> tuple[bytes, bytes, bytes]:
    units = incident.units
    return units.x.tobytes(), units.y.tobytes(), incident.land.trees.tobytes()


@pytest.mark.heavy
def test_the_plan_that_is_known_is_within_a_tenth() -> None:
    bound = bounds.bound(begin(3))
    assert bound is not None
    assert bound.planned is not None
    assert bound.steps <= bound.planned <= 1.1 * bound.steps
