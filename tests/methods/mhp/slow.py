"""A plain world in which steps are done one by one, each checked and priced by itself."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.carrying import CarryModel, CarryState, PrimitiveStep, Subgoal
from teamworld.methods.mhp.inventory import Index, Inventory


@dataclass
class Plain:
    """All that is the case."""

    place: dict[Index, Index]
    on: dict[Index, Index]
    opened: set[Index]
    room: Index
    beside: Index | None = None
    hand: Index | None = None
    cost: float = 0.0
    """Of the last steps."""

    def units(self, inventory: Inventory) -> int:
        done = 0
        for need in inventory.demands:
            where = self.place if need.inside else self.on
            done += min(need.number, sum(where.get(thing) == need.target for thing in need.things))
        return done

    def room_of(self, one: Index, inventory: Inventory) -> Index:
        while one not in inventory.rooms:
            one = self.place[one]
        return one

    def hidden(self, one: Index, inventory: Inventory) -> bool:
        into = self.place[one]
        return into not in inventory.rooms and into not in self.opened


def run(
    inventory: Inventory, belief: Belief, room: Index, steps: Iterable[PrimitiveStep], before: Plain | None = None
) -> Plain:
    """Do steps in a world that is as believed."""
    world = copy.deepcopy(before) or Plain(dict(belief.place), dict(belief.on), set(belief.opened), room)
    world.cost = 0.0
    first = True
    for step in steps:
        _do(world, inventory, step, first=first)
        first = step.verb in ("grab", "open", "close")
    return world


def _do(world: Plain, inventory: Inventory, step: PrimitiveStep, *, first: bool) -> None:
    one = step.entity
    if step.verb == "go":
        room = world.room_of(one, inventory)
        # One walks up to what is in sight, into the room of what is not, and from its door on.
        assert one in inventory.rooms or (room == world.room and not world.hidden(one, inventory))
        world.cost += 1.0 if first else 0.5
        world.beside, world.room = (None if one in inventory.rooms else one), room
        return
    world.cost += 0.05
    near = {world.beside, None if world.beside in (None, *inventory.rooms) else world.place[world.beside]}  # type: ignore[index]
    near |= {other for other, into in world.place.items() if into in near and into not in inventory.rooms}
    assert (step.target if step.verb == "put" else one) in near
    if step.verb == "open":
        assert one not in world.opened
        world.opened.add(one)
    elif step.verb == "close":
        assert one in world.opened
        world.opened.discard(one)
    elif step.verb == "grab":
        assert world.hand is None
        assert not world.hidden(one, inventory)
        assert world.room_of(one, inventory) == world.room
        world.beside = world.place[one] if world.place[one] not in inventory.rooms else one
        world.hand, world.place[one] = one, world.room
        world.on.pop(one, None)
    else:
        assert step.verb == "put"
        assert step.target is not None
        assert world.hand == one
        world.hand, world.beside = None, step.target
        need = next(need for need in inventory.demands if one in need.things)
        if need.inside:
            assert step.target in world.opened
            world.place[one] = step.target
        else:
            world.on[one] = step.target
            world.place[one] = world.room_of(step.target, inventory)


def values(model: CarryModel, state: CarryState, depth: int) -> set[float]:
    """Return every value that a roll-out from a moment can have: over all orders of its subgoals."""
    found = set()
    for order in _orders(model.subgoals(state)):
        now, total, before = state, 0.0, 0
        for move in order[:depth]:
            done = model.carry_out(move, now)
            now = done.state
            after = model.units(now)
            total, before = total + (after - before) - done.cost, after
        found.add(round(total, 9))
    return found


def _orders(moves: Sequence[Subgoal]) -> list[list[Subgoal]]:
    if not moves:
        return [[]]
    return [[one, *rest] for one in moves for rest in _orders([other for other in moves if other != one])]
