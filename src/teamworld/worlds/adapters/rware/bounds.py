"""Steps in which no team of robots can deliver a number of requests, whatever the later ones are.

The package draws a new request for each one that is delivered: the ``k``-th draw is the ``i_k``-th of the shelves that
are not requested, in their order, where ``i_k`` is known from the start, as its generator is asked for nothing else.
With ``q`` requests at a time that is one of ``q + 1`` shelves that follow one another, whatever was delivered. Requests
that were drawn in the same step may be numbered the other way round; so with ``g`` goals ``g - 1`` draws are left out.

*One request.* A robot gets to a shelf of the first requests and lifts it, and it is carried to a goal, a cell a step.

*Work.* Each step a robot turns, goes to the next cell, lifts, puts down, or waits. Shelves may be put down anywhere,
and robots are in nobody's way. The requests are for at least so many distinct shelves as there are of them whose sets
of possible shelves do not overlap; and a shelf that has been at a goal may be delivered again at no cost.

- Let all goals lie beyond a line between two rows or columns, and ``r`` distinct requested shelves on this side. Each
  shelf is carried over the line, one by a robot, so robots cross it ``r`` times; and back ``r`` times at least, but
  for the robots that began on this side.
- Each distinct shelf is lifted, and put down again, but for the last of each robot.
- From each crossing of such a line to the one back and from that to the next a robot makes two turns at least. The line
  with the most counts.

All robots share the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from teamworld.language import Cell
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.grid import distance


class Problem(NamedTuple):
    """The warehouse before its first step."""

    robots: tuple[Cell, ...]
    slots: tuple[Cell, ...]
    """Of the shelves, in the package's order."""
    goals: tuple[Cell, ...]
    requests: tuple[range, ...]
    """The shelves that each may be for, by their places in ``slots``; the first ones are known."""


def read_problem(warehouse: Any, orders: int) -> Problem:  # noqa: ANN401  (the package is not typed)
    """Return what an environment of the package, after its reset, is about; nothing in it changes.

    Args:
        warehouse: The environment.
        orders: Requests that are to be delivered.
    """
    places = {shelf.id: number for number, shelf in enumerate(warehouse.shelfs)}
    first = [range(places[shelf.id], places[shelf.id] + 1) for shelf in warehouse.request_queue][:orders]
    rng, number = deepcopy(warehouse.np_random), len(warehouse.request_queue)
    draws = max(0, orders - number - (len(warehouse.goals) - 1))
    drawn = [int(rng.choice(len(places) - number)) for _ in range(draws)]
    return Problem(
        tuple((int(robot.y), int(robot.x)) for robot in warehouse.agents),
        tuple((int(shelf.y), int(shelf.x)) for shelf in warehouse.shelfs),
        tuple((int(y), int(x)) for x, y in warehouse.goals),
        (*first, *(range(place, place + number + 1) for place in drawn)),
    )


def bound(problem: Problem) -> StepBound:
    """Return the bound of an instance: the larger one of those above."""
    known = [problem.slots[request.start] for request in problem.requests if len(request) == 1]
    alone = max((_alone(slot, problem) for slot in known), default=0)
    return StepBound(max(alone, -(-_work(problem) // len(problem.robots))))


def _alone(slot: Cell, problem: Problem) -> int:
    return min(distance(at, slot) for at in problem.robots) + 1 + min(distance(slot, goal) for goal in problem.goals)


def _work(problem: Problem) -> int:
    team = len(problem.robots)
    shelves = count_distinct(problem.requests)
    moves = turns = 0
    for is_this_side in _list_lines(problem):
        carried = count_distinct(
            request for request in problem.requests if all(is_this_side(problem.slots[place]) for place in request)
        )
        here = sum(is_this_side(at) for at in problem.robots)
        moves += carried + max(0, carried - here)
        turns = max(turns, 4 * carried - 4 * here - 2 * (team - here))
    return moves + turns + shelves + max(0, shelves - team)


def _list_lines(problem: Problem) -> Sequence[Callable[[Cell], bool]]:
    """Return for each line with no goal on one of its sides what tells whether a cell is on that side."""
    lines: list[Callable[[Cell], bool]] = []
    for axis in (0, 1):
        along = [goal[axis] for goal in problem.goals]
        last = max(slot[axis] for slot in problem.slots)
        lines += [_is_until(axis, line) for line in range(min(along))]
        lines += [_is_after(axis, line) for line in range(max(along), last)]
    return lines


def _is_until(axis: int, line: int) -> Callable[[Cell], bool]:
    return lambda cell: cell[axis] <= line


def _is_after(axis: int, line: int) -> Callable[[Cell], bool]:
    return lambda cell: cell[axis] > line


def count_distinct(requests: Iterable[range]) -> int:
    """Return how many distinct shelves requests are for at least: how many of their sets do not overlap."""
    count, last = 0, -1
    for request in sorted(requests, key=lambda request: request.stop):
        if request.start > last:
            count, last = count + 1, request.stop - 1
    return count
