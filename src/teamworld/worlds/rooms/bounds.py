"""The fewest steps in which carriers that see all and plan together can bring everything to the table.

Every bound here counts doors as open and leaves fire out: both only take ways and time away. Nobody is in anybody's
way in rooms. With ``d(a, b)`` the steps between cells and ``T`` the table:

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
from dataclasses import replace
from itertools import pairwise, permutations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.rooms.levels import Instance
from teamworld.worlds.rooms.physics import STAY, Primitive, draw_catches
from teamworld.worlds.rooms.physics import step as physics_step
from teamworld.worlds.rooms.state import House, distances

Distance: TypeAlias = Callable[[Cell, Cell], int]
#: Plans that are tried where something burns, how much longer than the bound they may be, and the longest walk.
TRIES, SLACK, LONGEST = 40, 6, 60


class Move(NamedTuple):
    """An item is moved before the meeting, or left where it is."""

    item: int
    start: Cell
    end: Cell
    """The table: it is delivered. Its own cell: it is left."""
    after: int
    """Steps after the meeting until it is delivered."""


class JointPlan(NamedTuple):
    """What both carriers move before they meet at the heavy item, see *Meeting*."""

    steps: int
    """If nothing burns."""
    heavy: int
    """The item."""
    first: tuple[Move, ...]
    second: tuple[Move, ...]


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
        fire = Fire(placed, rng, spread)
        return StepBound(max(least, together), fire.try_plans(plans, max(least, together)))
    is_free = not state.shut and not state.fire
    return StepBound(least, least if is_free and len(carriers) == 1 else None)


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


class Fire:
    """How the fire of an instance spreads, which nobody has a hand in, and what plans come to in it.

    Args:
        placed: The instance.
        rng: See ``bound``.
        spread: See ``bound``.
    """

    def __init__(self, placed: Instance, rng: np.random.Generator | None, spread: float) -> None:
        self._placed, self._rng, self._spread = placed, rng, spread
        self._state = replace(placed.state, agents={}, items={})
        self._catches: list[list[Cell]] = []
        self._unsafe: list[frozenset[Cell]] = [frozenset(placed.state.fire)]

    def try_plans(self, plans: Sequence[JointPlan], wanted: int) -> int | None:
        """Return the steps of the best of some plans, played by the rules of the world; None if none gets through.

        Args:
            plans: The shortest first.
            wanted: Stop at one that takes no more.
        """
        best: int | None = None
        for plan in plans[:TRIES] if self._placed.state.fire else plans[:1]:
            steps = None if best is not None and plan.steps >= best else self._play(plan)
            best = steps if best is None or (steps is not None and steps < best) else best
            if best is not None and best <= wanted:
                break
        return best

    def _play(self, plan: JointPlan) -> int | None:
        """Return the steps of a plan; None where fire keeps a carrier or item from its way."""
        house, names = self._placed.house, [a for a, kind in self._placed.kinds.items() if kind == "carrier"]
        acts: dict[AgentId, list[Primitive]] = {name: [] for name in names}
        at = {name: self._placed.state.agents[name] for name in names}
        heavy = self._placed.state.items[plan.heavy].cell or house.table
        left: list[tuple[Cell, int]] = []

        def fetch(name: AgentId, start: Cell, end: Cell, number: int) -> bool:
            is_there = self._walk(acts[name], at, name, start)
            acts[name].append(Primitive("lift", target=number))
            is_done = is_there and self._walk(acts[name], at, name, end)
            acts[name].append(Primitive("put"))
            return is_done

        for name, order in zip(names, (plan.first, plan.second), strict=True):
            for move in order:
                if move.start != move.end and not fetch(name, move.start, move.end, move.item):
                    return None
                if move.end != house.table:
                    left.append((move.end, move.item))
            if not self._walk(acts[name], at, name, heavy):
                return None
        meeting = max(map(len, acts.values()))
        for name in names:
            acts[name] += [STAY] * (meeting - len(acts[name]))
            if not fetch(name, heavy, house.table, plan.heavy):
                return None
        for name, (cell, number) in zip(names, left, strict=False):
            if not fetch(name, cell, house.table, number):
                return None
        return self._check(acts)

    def _walk(self, acts: list[Primitive], at: dict[AgentId, Cell], name: AgentId, end: Cell) -> bool:
        """Add the quickest walk that is never in fire or fresh smoke; return whether there is one."""
        start = len(acts)
        layers: list[dict[Cell, Cell]] = [{at[name]: at[name]}]
        while end not in layers[-1]:
            unsafe = self._at(start + len(layers))
            after: dict[Cell, Cell] = {}
            for cell in layers[-1]:
                for aim in (cell, *self._placed.house.beside(cell)):
                    if aim not in unsafe:
                        after.setdefault(aim, cell)
            if not after or len(layers) > LONGEST:
                return False
            layers.append(after)
        path = [end]
        for layer in reversed(layers[1:]):
            path.append(layer[path[-1]])
        path.reverse()
        for cell, aim in pairwise(path):
            acts.append(STAY if aim == cell else Primitive("go", (aim,)))
        at[name] = end
        return True

    def _at(self, step: int) -> frozenset[Cell]:
        """Return the cells that burn after so many steps, and those beside a cell that has just caught fire."""
        house = self._placed.house
        while len(self._unsafe) <= step:
            self._catches.append([] if self._rng is None else draw_catches(self._rng, house, self._spread))
            before = self._state
            self._state = physics_step(before, house, {}, self._catches[-1]).state
            caught = self._state.fire.keys() - before.fire.keys()
            smoke = {cell for fresh in caught for cell in house.beside(fresh)}
            self._unsafe.append(frozenset(self._state.fire) | smoke)
        return self._unsafe[step]

    def _check(self, acts: Mapping[AgentId, Sequence[Primitive]]) -> int | None:
        """Return the steps in which carriers who act so deliver all, by the rules of the world; None if they do not."""
        state, steps = self._placed.state, max(map(len, acts.values()))
        self._at(steps)
        for step in range(steps):
            tried = {name: own[step] for name, own in acts.items() if step < len(own)}
            state = physics_step(state, self._placed.house, tried, self._catches[step]).state
        return steps if all(item.state == "delivered" for item in state.items.values()) else None
