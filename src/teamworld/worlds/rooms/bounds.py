"""The fewest steps in which carriers that see all and plan together can bring everything to the table.

Every bound here counts doors as open and leaves fire out: both only take ways and time away. Nobody is in anybody's
way in rooms. With ``d(a, b)`` the steps between cells and ``T`` the table:

*One item.* Its carriers reach it, lift it (1 step), carry it a cell a step, and put it down (1 step).

*Work.* Count a heavy item as one unit of work for each of its carriers, who need not act together: a relaxation. Then
nothing is gained by putting an item down on its way. Take the last time when a unit is, at ``x`` by ``A``, and later
lifted there by ``B``. If ``A = B``, at most ``d(x, c) + d(c, T) + 2 d(x, T)`` would be spent from there on it and the
next unit at ``c``, which is no less than ``d(x, T) + 2 d(c, T)``: carrying it on is no worse. Else let ``A`` carry on
and do what ``B`` did then, and ``B`` do from ``x`` on what ``A`` did: nothing is longer, and 2 steps are saved. So a
unit at ``c`` takes a carrier's way to it, from ``T`` or once from where it started, ``d(c, T)`` and 2 steps. The sum is
shared by all carriers.

*Meeting.* Of two carriers with one item that takes both, and at most two others: putting the heavy one down at ``y``
does not help. What both do from there until they lift it again is to move others, each from ``c`` to an ``x``, which
takes ``d(y, c) + d(c, x) + d(x, y)`` and ``2 d(x, T)`` later, no less than ``2 d(c, T)``: they may as well carry on,
and then fetch the others, one each. So they meet at the heavy item once. Before, each other item was moved to some
``x`` or not at all, and whoever moved it last went on to the meeting. Then they carry, and fetch what is left, one
each. With the best places ``x`` this is a lower bound, and where each carrier alone has the time for what it moves, the
optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple, TypeAlias

from teamworld.language import Cell
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.rooms.levels import Instance
from teamworld.worlds.rooms.state import House, distances

Distance: TypeAlias = Callable[[Cell, Cell], int]


class Move(NamedTuple):
    """An item is moved before the meeting, or left where it is."""

    start: Cell
    end: Cell
    """The table: it is delivered. Its own cell: it is left."""
    after: int
    """Steps after the meeting until it is delivered."""


def bound(placed: Instance) -> StepBound:
    """Return the bound of an instance: the best of those above."""
    house, state = placed.house, placed.state
    ways: dict[Cell, Mapping[Cell, int]] = {}

    def distance(first: Cell, second: Cell) -> int:
        if second not in ways:
            ways[second] = distances(house, second, frozenset())
        return ways[second][first]

    carriers = [state.agents[agent] for agent, kind in placed.kinds.items() if kind == "carrier"]
    items = [(item.weight, item.cell) for item in state.items.values() if item.cell is not None]
    is_free = not state.shut and not state.fire
    alone = max(_alone(weight, cell, carriers, house.table, distance) for weight, cell in items)
    work = _work(items, carriers, house.table, distance)
    least = StepBound(max(alone, work), is_free and len(carriers) == 1)
    heavy, light = ([cell for weight, cell in items if weight == wanted] for wanted in (2, 1))
    if len(carriers) == 2 and len(heavy) == 1 and len(light) <= 2:
        together, known = _meeting(heavy[0], light, carriers, house, distance)
        steps = max(least.steps, together)
        return StepBound(steps, is_free and steps == known)
    return least


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
    heavy: Cell, light: Sequence[Cell], carriers: Sequence[Cell], house: House, distance: Distance
) -> tuple[int, int]:
    """Return a lower bound and the steps of a joint plan, see *Meeting*."""

    def moves(cell: Cell) -> Iterator[Move]:
        yield Move(cell, cell, 2 * distance(cell, house.table) + 2)
        for end in house.floor:
            if end != cell:
                yield Move(cell, end, 0 if end == house.table else 2 * distance(end, house.table) + 2)

    def trip(at: Cell, order: Sequence[Move]) -> int:
        """Return the steps in which a carrier moves items and comes to the meeting."""
        steps = 0
        for move in order:
            if move.start != move.end:
                steps += distance(at, move.start) + distance(move.start, move.end) + 2
                at = move.end
        return steps + distance(at, heavy)

    gather = max(distance(at, heavy) for at in carriers)
    carry = distance(heavy, house.table) + 2
    least = known = 1 << 30
    singles = {cell: [(move, min(trip(at, (move,)) for at in carriers)) for move in moves(cell)] for cell in light}
    for chosen in product(*(singles[cell] for cell in light)):
        after = max((move.after for move, _ in chosen), default=0)
        least = min(least, max([gather, *(steps for _, steps in chosen)]) + carry + after)
        if max([gather, *(steps for _, steps in chosen)]) + carry + after >= known:
            continue
        for order in permutations([move for move, _ in chosen]):
            for cut in range(len(order) + 1):
                steps = max(trip(carriers[0], order[:cut]), trip(carriers[1], order[cut:]))
                known = min(known, steps + carry + after)
    return least, known
