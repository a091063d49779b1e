"""Steps of robots that no team beats: against a search over all that they can do, and what the package draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from teamworld.language import Cell
from teamworld.worlds.adapters.rware import bounds
from teamworld.worlds.adapters.rware.bounds import Problem
from teamworld.worlds.adapters.rware.env import parallel_env
from teamworld.worlds.base import grid

WAYS = ((-1, 0), (0, 1), (1, 0), (0, -1))
SIZE = (3, 4)


class Moment(NamedTuple):
    """Robots as cell, direction and the shelf that they carry; where shelves are; the requests that are left."""

    robots: tuple[tuple[Cell, int, int | None], ...]
    shelves: tuple[Cell, ...]
    left: frozenset[int]


def moves(problem: Problem, moment: Moment) -> Iterator[Moment]:
    """Yield what a step can lead to, by the rules of the package: the plain reference."""
    carried = {shelf for _, _, shelf in moment.robots}
    standing = {cell: n for n, cell in enumerate(moment.shelves) if n not in carried}
    choices: list[list[tuple[Cell, int, int | None]]] = []
    for cell, facing, shelf in moment.robots:
        options = [(cell, facing, shelf), (cell, (facing + 1) % 4, shelf), (cell, (facing - 1) % 4, shelf)]
        ahead = grid.add(cell, WAYS[facing])
        if grid.is_inside(ahead, SIZE) and not (shelf is not None and ahead in standing):
            options.append((ahead, facing, shelf))
        if shelf is None and cell in standing:
            options.append((cell, facing, standing[cell]))
        elif shelf is not None and cell in problem.slots:
            options.append((cell, facing, None))
        choices.append(options)
    for chosen in product(*choices):
        cells = [cell for cell, _, _ in chosen]
        swapped = len(cells) == 2 and cells[0] == moment.robots[1][0] and cells[1] == moment.robots[0][0]
        if len(set(cells)) < len(cells) or swapped:
            continue
        shelves = [*moment.shelves]
        for cell, _, shelf in chosen:
            if shelf is not None:
                shelves[shelf] = cell
        yield Moment(chosen, tuple(shelves), frozenset(n for n in moment.left if shelves[n] not in problem.goals))


def brute_force(problem: Problem, facings: tuple[int, ...]) -> int:
    robots = tuple((cell, facing, None) for cell, facing in zip(problem.robots, facings, strict=True))
    start = Moment(robots, problem.slots, frozenset(request.start for request in problem.requests))
    layer, met = {start}, {start}
    for steps in range(1000):
        if any(not moment.left for moment in layer):
            return steps
        layer = {after for moment in layer for after in moves(problem, moment)} - met
        met |= layer
    raise AssertionError("no end")


@pytest.mark.heavy
@pytest.mark.parametrize(("robots", "requests", "number"), [(1, 1, 40), (1, 2, 12), (2, 1, 2)])
def test_no_plan_beats_the_bound(robots: int, requests: int, number: int) -> None:
    rng, equal = np.random.default_rng(robots + 2 * requests), 0
    cells = [(row, col) for row in range(SIZE[0]) for col in range(SIZE[1])]
    for _ in range(number):
        drawn = [cells[int(place)] for place in rng.permutation(len(cells) - 4)[:3]]  # not in the row of the goal
        slots = tuple(sorted(drawn))
        at = tuple(cells[int(place)] for place in rng.permutation(len(cells))[:robots])
        asked = sorted(int(n) for n in rng.permutation(3)[:requests])
        problem = Problem(at, slots, ((2, int(rng.integers(4))),), tuple(range(n, n + 1) for n in asked))
        best = brute_force(problem, tuple(int(n) for n in rng.integers(4, size=robots)))
        steps = bounds.bound(problem).steps
        assert steps <= best, problem
        equal += steps == best
    assert equal > 0 or robots + requests > 2


def test_each_request_is_for_a_shelf_of_its_set() -> None:
    for level in ("rware-tiny-2ag-v2", "rware-tiny-4ag-v2", "rware-tiny-2ag-easy-v2"):
        env = parallel_env(level)
        env.reset(seed=5)
        warehouse, rng = env.env, np.random.default_rng(1)
        problem = bounds.read_problem(warehouse, 40)
        places = {shelf.id: n for n, shelf in enumerate(warehouse.shelfs)}
        for _ in range(60):
            number = int(rng.integers(len(warehouse.request_queue)))
            shelf, slot = warehouse.request_queue[number], env.slots[warehouse.request_queue[number].id]
            (shelf.x, shelf.y), still = warehouse.goals[0], dict.fromkeys(env.possible_agents, 0)
            warehouse._recalc_grid()
            env.step(still)
            shelf.y, shelf.x = slot
            warehouse._recalc_grid()
        for order, request in zip(env.orders, problem.requests, strict=False):
            assert places[order] in request
        assert len(env.orders) > len(problem.requests) == 40 - (len(warehouse.goals) - 1)


def test_requests_that_may_be_for_the_same_shelf_count_once() -> None:
    assert bounds.count_distinct([range(2, 5), range(4, 7), range(5, 8), range(0, 2)]) == 3
    assert bounds.count_distinct([]) == 0
