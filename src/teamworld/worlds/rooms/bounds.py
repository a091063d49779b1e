"""The fewest steps in which carriers that see all and plan together can bring everything to the table.

The bounds below count doors as open and leave fire out: both only take ways and time away. Where two carriers with one
heavy item and at most two others have to go through fire, and the plans that are tried take longer, ``exact_search``
goes through all that they can do; it may prove that nobody can do it. Nobody is in anybody's way in rooms. With
``d(a, b)`` the steps between cells and ``T`` the table:

*One item.* Its carriers reach it, lift it (1 step), carry it a cell a step, and put it down (1 step).

*Work.* Count a heavy item as one unit of work for each of its carriers, who need not act together: a relaxation. Then
nothing is gained by putting an item down on its way. Take the last time when a unit is, at ``x`` by ``A``, and later
lifted there by ``B``. If ``A = B``, the ways from ``x`` with the next unit, at ``c``, and with this one are
``d(x, c) + d(c, T) + 2 d(x, T)`` at least; those of carrying this one on first are ``d(x, T) + 2 d(c, T)``, no more.
Else let ``A`` carry on and do what ``B`` did then, and ``B`` do from ``x`` on what ``A`` did: no way is longer, and 2
steps are saved. So a unit at ``c`` takes a carrier's way to it, from ``T`` or once from where it started, ``d(c, T)``
and 2 steps. The sum is shared by all carriers.

*Meeting.* Of two carriers with one item that takes both, and at most two others: putting the heavy one down at ``y``
does not help. What both do from there until they lift it again is to move others, each from ``c`` to an ``x``, which
takes ``d(y, c) + d(c, x) + d(x, y)`` and ``2 d(x, T)`` later, no less than ``2 d(c, T)``: they may as well carry on,
and then fetch the others, one each. So they meet at the heavy item once. Before, each other item was moved to some
``x`` or not at all, and whoever moved it last went on to the meeting. Then they carry, and fetch what is left, one
each. With the best places ``x`` this is a lower bound. Where a plan in which each carrier moves what it moves by
itself takes no more, played by the rules of the world with its fire, it is the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import TypeAlias

import numpy as np

from teamworld.language import Cell
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.rooms.exact_search import Search, read_maze
from teamworld.worlds.rooms.fire import Fire
from teamworld.worlds.rooms.joint_plans import JointPlan, Move, try_plans
from teamworld.worlds.rooms.levels import Instance
from teamworld.worlds.rooms.state import House, distances

Distance: TypeAlias = Callable[[Cell, Cell], int]
#: How much longer than the bound plans may be that are tried where something burns; the search tries these first, too.
SLACK = 6


def bound(placed: Instance, rng: np.random.Generator | None = None, spread: float = 0.0) -> StepBound:
    """Return the bound of an instance: the best of those above.

    Args:
        placed: The instance.
        rng: Draws where the fire spreads, as in the world; it is used up. None where nothing burns.
        spread: Probability that a cell beside fire catches fire in a step.
    """
    house, state = placed.house, placed.state
    ways: dict[Cell, Mapping[Cell, int]] = {}

    def distance(first: Cell, second: Cell) -> int:
        if second not in ways:
            ways[second] = distances(house, second, frozenset())
        return ways[second][first]

    carriers = [state.agents[agent] for agent, kind in placed.kinds.items() if kind == "carrier"]
    lying = {number: (item.weight, item.cell) for number, item in state.items.items() if item.cell is not None}
    items = [*lying.values()]
    alone = max(_alone(weight, cell, carriers, house.table, distance) for weight, cell in items)
    work = _work(items, carriers, house.table, distance)
    least = max(alone, work)
    heavy, light = ({n: cell for n, (weight, cell) in lying.items() if weight == wanted} for wanted in (2, 1))
    if len(carriers) == 2 and len(heavy) == 1 and len(light) <= 2 and not state.shut:
        together, plans = _meeting(heavy, light, carriers, house, distance)
        return _search(Fire(placed, rng, spread), plans, max(least, together))
    is_free = not state.shut and not state.fire
    return StepBound(least, least if is_free and len(carriers) == 1 else None)


def _search(fire: Fire, plans: Sequence[JointPlan], least: int) -> StepBound:
    """Return the bound of two carriers who may have to go through fire; ``least`` is what it is if nothing burns."""
    planned = try_plans(fire, plans, least)
    maze = read_maze(fire.placed.house)
    if planned == least or not fire.placed.state.fire or maze is None:
        return StepBound(least, planned)
    search = Search(fire, maze)
    limits = (least + SLACK, least + 4 * SLACK, None) if planned is None else (planned - 1,)
    steps = next((steps for limit in limits if (steps := search.count_steps(limit)) is not None), None)
    if steps is None:
        return StepBound(least, can_be_done=False) if planned is None else StepBound(planned, planned)
    better = search.find_plan(steps)
    return StepBound(steps, planned if better is None else better)


def _alone(weight: int, cell: Cell, carriers: Sequence[Cell], table: Cell, distance: Distance) -> int:
    return sorted(distance(at, cell) for at in carriers)[weight - 1] + distance(cell, table) + 2


def _work(items: Sequence[tuple[int, Cell]], carriers: Sequence[Cell], table: Cell, distance: Distance) -> int:
    units = [cell for weight, cell in items for _ in range(weight)]
    whole = sum(2 * distance(cell, table) + 2 for cell in units)
    firsts = permutations([*units, *[None] * (len(carriers) - 1)], len(carriers))  # None: that carrier does nothing
    saved = max(
        sum(distance(cell, table) - distance(at, cell) for at, cell in zip(carriers, first, strict=True) if cell)
        for first in firsts
    )
    return -((saved - whole) // len(carriers))


def _meeting(
    heavy: Mapping[int, Cell], light: Mapping[int, Cell], carriers: Sequence[Cell], house: House, distance: Distance
) -> tuple[int, list[JointPlan]]:
    """Return a lower bound and joint plans, the shortest first if nothing burns; see *Meeting*."""
    ((item, place),) = heavy.items()

    def moves(number: int, cell: Cell) -> Iterator[Move]:
        yield Move(number, cell, cell, 2 * distance(cell, house.table) + 2)
        for end in house.floor:
            if end != cell:
                yield Move(number, cell, end, 0 if end == house.table else 2 * distance(end, house.table) + 2)

    def trip(at: Cell, order: Sequence[Move]) -> int:
        """Return the steps in which a carrier moves items and comes to the meeting."""
        steps = 0
        for move in order:
            if move.start != move.end:
                steps += distance(at, move.start) + distance(move.start, move.end) + 2
                at = move.end
        return steps + distance(at, place)

    gather = max(distance(at, place) for at in carriers)
    carry = distance(place, house.table) + 2
    least, plans = 1 << 30, list[JointPlan]()
    singles = [[(move, min(trip(at, (move,)) for at in carriers)) for move in moves(*where)] for where in light.items()]
    for chosen in product(*singles):
        after = max((move.after for move, _ in chosen), default=0)
        before = max([gather, *(steps for _, steps in chosen)])
        least = min(least, before + carry + after)
        if before + carry + after > least + SLACK:
            continue
        for order in permutations([move for move, _ in chosen]):
            for cut in range(len(order) + 1):
                steps = max(trip(carriers[0], order[:cut]), trip(carriers[1], order[cut:]))
                plans.append(JointPlan(steps + carry + after, item, order[:cut], order[cut:]))
    return least, sorted(plans, key=lambda plan: plan.steps)
