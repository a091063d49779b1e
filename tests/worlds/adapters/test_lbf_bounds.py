"""The fewest steps of foragers: against a search over all that they can do, and against what methods play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest

from teamworld.language import Cell
from teamworld.worlds.adapters.lbf import bounds
from teamworld.worlds.adapters.lbf.bounds import Problem
from teamworld.worlds.base.grid import distance, list_neighbours


def moves(
    problem: Problem, at: Sequence[Cell], left: frozenset[int]
) -> Iterator[tuple[tuple[Cell, ...], frozenset[int]]]:
    """Yield what a step can lead to, by the rules of the package: the plain reference."""
    foods = {problem.foods[food] for food in left}
    choices = [
        [
            *((aim, None) for aim in (cell, *list_neighbours(cell, problem.size)) if aim not in foods),
            *((cell, food) for food in left if distance(cell, problem.foods[food]) == 1),
        ]
        for cell in at
    ]
    for chosen in product(*choices):
        aims = [aim for aim, _ in chosen]
        after = tuple(aim if aims.count(aim) == 1 else cell for cell, aim in zip(at, aims, strict=True))
        loaded = {
            food
            for food in left
            if sum(level for (_, load), level in zip(chosen, problem.levels, strict=True) if load == food)
            >= problem.needs[food]
        }
        yield after, left - loaded


def brute_force(problem: Problem) -> int | None:
    layer = {(problem.foragers, frozenset(range(len(problem.foods))))}
    met = set(layer)
    for steps in range(1000):
        if any(not left for _, left in layer):
            return steps
        layer = {after for at, left in layer for after in moves(problem, at, left)} - met
        if not layer:
            return None
        met |= layer
    raise AssertionError("no end")


def random_problem(rng: np.random.Generator, side: int, foragers: int, foods: int) -> Problem:
    """Place foods as the package does: not at the border, none beside another, none at two cells straight."""
    inner = [(row, col) for row in range(1, side - 1) for col in range(1, side - 1)]
    placed: list[Cell] = []
    for place in rng.permutation(len(inner)):
        cell = inner[int(place)]
        if len(placed) < foods and all(distance(cell, other) > 2 for other in placed):
            placed.append(cell)
    free = [(row, col) for row in range(side) for col in range(side) if (row, col) not in placed]
    at = [free[int(place)] for place in rng.permutation(len(free))[:foragers]]
    levels = tuple(int(level) for level in rng.integers(1, 3, foragers))
    needs = tuple(int(need) for need in rng.integers(1, sum(levels) + 1, len(placed)))
    return Problem((side, side), tuple(at), levels, tuple(placed), needs)


@pytest.mark.heavy
def test_the_bound_is_the_optimum_of_small_instances() -> None:
    rng, exact, count = np.random.default_rng(3), 0, 0
    for side, foragers, foods, number in ((4, 2, 1, 70), (5, 2, 1, 60), (5, 2, 2, 70), (6, 2, 2, 30), (4, 3, 1, 5)):
        for _ in range(number):
            problem = random_problem(rng, side, foragers, foods)
            best, found = brute_force(problem), bounds.search(problem)
            assert (best is None) == (found is None)
            if best is None or found is None:
                continue
            count += 1
            is_exact = bounds.walk(problem, found) is not None
            assert found.steps <= best, problem
            assert not is_exact or found.steps == best, problem
            exact += is_exact
    assert count >= 220
    assert exact >= 210  # what is left is in one another's way: no claim is made there


def test_paths_of_a_plan_keep_the_rules() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        problem = random_problem(rng, 6, 3, 2)
        plan = bounds.search(problem)
        paths = plan and bounds.walk(problem, plan)
        if plan is None or paths is None:
            continue
        left, loads = frozenset(range(len(problem.foods))), {load.food: load.step for load in plan.loads}
        for moment in range(plan.steps):
            at, after = ([path[m] for path in paths] for m in (moment, moment + 1))
            left_after = frozenset(food for food in left if loads[food] != moment)
            assert (tuple(after), left_after) in set(moves(problem, at, left))
            left = left_after
        assert not left


def test_what_the_team_cannot_load_has_no_bound() -> None:
    assert bounds.search(Problem((5, 5), ((0, 0), (0, 1)), (1, 1), ((2, 2),), (3,))) is None
    five = tuple((0, col) for col in range(5))
    assert bounds.search(Problem((5, 5), five, (1,) * 5, ((2, 2),), (5,))) is None  # five do not fit round it
    assert bounds.search(Problem((5, 5), five[:4], (1,) * 4, ((2, 2),), (4,))) is not None
