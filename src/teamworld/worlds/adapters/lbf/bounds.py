"""The fewest steps in which foragers that see all and plan together can load all food.

The search is over the order of the loads, who takes part and from which sides. It is exact but for two liberties:
foragers do not stand in one another's way, and a food that is loaded before another is out of the way of who walks to
the other. Every legal course, its loads in the order of their steps, is one of its schedules, with each walk at least
as long as counted here: so the best schedule is a lower bound. Where ``walk`` finds paths for it under the rules of the
field, nobody in another's way, it is the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

from teamworld.language import Cell
from teamworld.worlds.adapters.lbf.state import ForagingState
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.grid import distance, distances, list_neighbours

#: Steps by which the best schedule is put off at most, so that paths are found.
SLACK = 3


class Load(NamedTuple):
    """One food that is loaded."""

    food: int
    step: int
    """Steps gone before the one in which it is loaded."""
    sides: Mapping[int, Cell]
    """Where each forager that takes part stands."""


class Problem(NamedTuple):
    """An instance, as numbers."""

    size: Cell
    foragers: tuple[Cell, ...]
    levels: tuple[int, ...]
    """Of the foragers."""
    foods: tuple[Cell, ...]
    needs: tuple[int, ...]
    """Levels that each food takes at once."""


class Schedule(NamedTuple):
    """The loads of all food, in order, and the steps that they take."""

    steps: int
    loads: tuple[Load, ...]


def bound(size: Cell, state: ForagingState) -> StepBound | None:
    """Return the bound of an instance; None where the team cannot load some food.

    Args:
        size: Of the field.
        state: The truth at the start.
    """
    levels = tuple(state.levels[agent] for agent in state.at)
    foods = tuple(cell for cell, food in state.foods.items() if not food.loaded)
    problem = Problem(size, tuple(state.at.values()), levels, foods, tuple(state.foods[cell].level for cell in foods))
    best = search(problem)
    if best is None:
        return None
    for late in range(SLACK + 1):
        delayed = Schedule(best.steps + late, tuple(load._replace(step=load.step + late) for load in best.loads))
        if walk(problem, delayed) is not None:
            return StepBound(best.steps, delayed.steps)
    return StepBound(best.steps)


def search(problem: Problem) -> Schedule | None:
    """Return the best schedule, see the module; None where there is none."""
    count, total = len(problem.foragers), len(problem.foods)
    teams = [list(_teams(problem.levels, need)) for need in problem.needs]
    if not all(teams):
        return None

    @cache
    def ways(side: Cell, left: frozenset[int]) -> Mapping[Cell, int]:
        return distances(problem.size, side, frozenset(problem.foods[food] for food in left))

    @cache
    def near(cell: Cell, food: int) -> int:
        return max(0, distance(cell, problem.foods[food]) - 1)

    best: list[Schedule] = [Schedule(1 << 30, ())]
    met: dict[tuple[frozenset[int], tuple[Cell, ...]], list[tuple[int, ...]]] = {}

    def least(at: Sequence[Cell], free: Sequence[int], left: frozenset[int]) -> int:
        """Return steps that are needed at least, each food by itself."""
        return max((min(max(free[a] + near(at[a], f) for a in team) + 1 for team in teams[f]) for f in left), default=0)

    def go(at: tuple[Cell, ...], free: tuple[int, ...], left: frozenset[int], loads: tuple[Load, ...]) -> None:
        last = loads[-1].step if loads else 0
        if not left:
            if last + 1 < best[0].steps or not best[0].loads:
                best[0] = Schedule(last + 1 if loads else 0, loads)
            return
        times = (*free, last)
        known = met.setdefault((left, at), [])
        if any(all(a <= b for a, b in zip(other, times, strict=True)) for other in known):
            return
        known[:] = [other for other in known if not all(b <= a for a, b in zip(other, times, strict=True))] + [times]
        options: list[tuple[int, int, tuple[Cell, ...], tuple[int, ...], Load]] = []
        for food in left:
            sides = [side for side in list_neighbours(problem.foods[food], problem.size) if side not in problem.foods]
            for team in teams[food]:
                for places in permutations(sides, len(team)):
                    arrivals = [free[a] + ways(p, left).get(at[a], 1 << 29) for a, p in zip(team, places, strict=True)]
                    step = max(last, *arrivals)
                    if step + 1 >= best[0].steps:
                        continue
                    then = dict(zip(team, places, strict=True))
                    moved = tuple(then.get(a, at[a]) for a in range(count))
                    later = tuple(step + 1 if a in then else free[a] for a in range(count))
                    need = max(step + 1, least(moved, later, left - {food}))
                    options.append((need, step, moved, later, Load(food, step, then)))
        for need, _, moved, later, load in sorted(options, key=lambda option: option[:2]):
            if need < best[0].steps:
                go(moved, later, left - {load.food}, (*loads, load))

    go(problem.foragers, (0,) * count, frozenset(range(total)), ())
    return best[0] if best[0].steps < 1 << 29 else None


def _teams(levels: Sequence[int], need: int) -> Iterator[tuple[int, ...]]:
    """Yield the teams that can load a food and in which all are needed; at most four fit round it."""
    for size in range(1, min(4, len(levels)) + 1):
        for team in combinations(range(len(levels)), size):
            total = sum(levels[a] for a in team)
            if total >= need and all(total - levels[a] < need for a in team):
                yield team


def walk(problem: Problem, schedule: Schedule) -> tuple[tuple[Cell, ...], ...] | None:
    """Return where each forager is after each step of a schedule, so that no two ever aim at one cell.

    Foragers are placed one after another, in all orders until one fits; None if none does, which does not mean that
    there are no such paths.
    """
    for order in permutations(range(len(problem.foragers))):
        paths: dict[int, tuple[Cell, ...]] = {}
        for forager in order:
            path = _path(problem, schedule, forager, list(paths.values()))
            if path is None:
                break
            paths[forager] = path
        else:
            return tuple(paths[forager] for forager in range(len(problem.foragers)))
    return None


def _path(
    problem: Problem, schedule: Schedule, forager: int, others: list[tuple[Cell, ...]]
) -> tuple[Cell, ...] | None:
    """Return a path of one forager that keeps its loads, from whatever side, and leaves the others theirs."""
    gone = {
        problem.foods[load.food]: load.step + 2 for load in schedule.loads
    }  # first moment at which one may be there
    due = {load.step: problem.foods[load.food] for load in schedule.loads if forager in load.sides}
    start = problem.foragers[forager]
    layers: list[dict[Cell, Cell]] = [{start: start}]
    for moment in range(schedule.steps + 1):
        layer = layers[-1]
        if moment in due:
            layer = layers[-1] = {at: was for at, was in layer.items() if distance(at, due[moment]) == 1}
        if moment == schedule.steps or not layer:
            break
        after: dict[Cell, Cell] = {}
        for cell in layer:
            for aim in (cell,) if moment in due else (cell, *list_neighbours(cell, problem.size)):
                if gone.get(aim, 0) <= moment + 1 and all(path[moment + 1] != aim for path in others):
                    after.setdefault(aim, cell)
        layers.append(after)
    if not layers[-1]:
        return None
    path = [min(layers[-1])]
    for layer in reversed(layers[1:]):
        path.append(layer[path[-1]])
    return tuple(reversed(path))
