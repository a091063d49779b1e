"""A plain world in which steps are done one by one, each checked and priced by itself."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.model import Model, State, Step, Subgoal
from teamworld.methods.mhp.stock import Number, Stock


@dataclass
class Plain:
    """All that is the case."""

    place: dict[Number, Number]
    on: dict[Number, Number]
    opened: set[Number]
    room: Number
    beside: Number | None = None
    hand: Number | None = None
    cost: float = 0.0
    """Of the last steps."""

    def units(self, stock: Stock) -> int:
        done = 0
        for need in stock.needs:
            where = self.place if need.how == "INSIDE" else self.on
            done += min(need.number, sum(where.get(thing) == need.target for thing in need.things))
        return done

    def room_of(self, one: Number, stock: Stock) -> Number:
        while one not in stock.rooms:
            one = self.place[one]
        return one

    def hidden(self, one: Number, stock: Stock) -> bool:
        into = self.place[one]
        return into not in stock.rooms and into not in self.opened


def run(stock: Stock, belief: Belief, room: Number, steps: Iterable[Step], before: Plain | None = None) -> Plain:
    """Do steps in a world that is as believed."""
    world = copy.deepcopy(before) or Plain(dict(belief.place), dict(belief.on), set(belief.opened), room)
    world.cost = 0.0
    first = True
    for step in steps:
        _do(world, stock, step, first=first)
        first = step.verb in ("grab", "open", "close")
    return world


def _do(world: Plain, stock: Stock, step: Step, *, first: bool) -> None:
    one = step.what
    if step.verb == "go":
        room = world.room_of(one, stock)
        # One walks up to what is in sight, into the room of what is not, and from its door on.
        assert one in stock.rooms or (room == world.room and not world.hidden(one, stock))
        world.cost += 1.0 if first else 0.5
        world.beside, world.room = (None if one in stock.rooms else one), room
        return
    world.cost += 0.05
    near = {world.beside, None if world.beside in (None, *stock.rooms) else world.place[world.beside]}  # type: ignore[index]
    near |= {other for other, into in world.place.items() if into in near and into not in stock.rooms}
    assert (step.onto if step.verb == "put" else one) in near
    if step.verb == "open":
        assert one not in world.opened
        world.opened.add(one)
    elif step.verb == "close":
        assert one in world.opened
        world.opened.discard(one)
    elif step.verb == "grab":
        assert world.hand is None
        assert not world.hidden(one, stock)
        assert world.room_of(one, stock) == world.room
        world.beside = world.place[one] if world.place[one] not in stock.rooms else one
        world.hand, world.place[one] = one, world.room
        world.on.pop(one, None)
    else:
        assert step.verb == "put"
        assert world.hand == one
        world.hand, world.beside = None, step.onto
        need = next(need for need in stock.needs if one in need.things)
        if need.how == "INSIDE":
            assert step.onto in world.opened
            world.place[one] = step.onto
        else:
            world.on[one] = step.onto
            world.place[one] = world.room_of(step.onto, stock)


def values(model: Model, state: State, depth: int) -> set[float]:
    """Return every value that a roll-out from a moment can have: over all orders of its subgoals."""
    found = set()
    for order in _orders(model.subgoals(state)):
        now, total, before = state, 0.0, 0
        for move in order[:depth]:
            done = model.bring(move, now)
            now = done.then
            after = model.units(now)
            total, before = total + (after - before) - done.cost, after
        found.add(round(total, 9))
    return found


def _orders(moves: Sequence[Subgoal]) -> list[list[Subgoal]]:
    if not moves:
        return [[]]
    return [[one, *rest] for one in moves for rest in _orders([other for other in moves if other != one])]
