"""Bringing things in the head: the steps that bring one to its target, what they cost and what they lead to.

The regression planner of the household spec (A13) on the world that an agent's belief has drawn. A state keeps what
differs from that world, so that carrying a subgoal out copies no more than a few numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.sight import Sight
from teamworld.methods.mhp.stock import Need, Number, Stock

#: What steps cost, in units of the goal: walking to what is not near, walking on in another room, handling.
WALK, WALK_ON, HANDLE = 1.0, 0.5, 0.05
Verb: TypeAlias = Literal["go", "open", "close", "grab", "put", "explore"]


class Step(NamedTuple):
    """One primitive action."""

    verb: Verb
    what: Number
    onto: Number = -1
    """Of ``put``: the target."""


class Subgoal(NamedTuple):
    """Bring a thing to the target of a need."""

    thing: Number
    need: int
    """Place in ``Stock.needs``."""


class State(NamedTuple):
    """One moment of a world in the head."""

    room: Number
    near: frozenset[Number]
    hands: tuple[Number, ...]
    brought: Mapping[Number, Number]
    """The targets of what was brought since the beginning, by thing."""
    turned: Mapping[Number, bool]
    """Whether containers stand open that were opened or closed since the beginning."""


class Brought(NamedTuple):
    """What it takes to carry a subgoal out, and what it leads to."""

    steps: tuple[Step, ...]
    cost: float
    then: State


class Model:
    """The world of a belief as it is now; it must not change while the model is in use.

    Args:
        belief: The drawn world.
        sight: What the agent perceives.
        served: What team-mates say that they do: they are left to it.
    """

    def __init__(self, belief: Belief, sight: Sight, served: Sequence[Subgoal] = ()) -> None:
        self.stock: Stock = belief.stock
        self._place, self._on, self._opened = belief.place, belief.on, belief.opened
        self._rooms = frozenset(self.stock.rooms)
        self._taken = sight.taken
        self._served = frozenset(served)
        self._busy = frozenset(subgoal.need for subgoal in served)
        self.satisfied: tuple[frozenset[Number], ...] = tuple(
            frozenset(thing for thing in need.things if self._there(thing, need, sight)) for need in self.stock.needs
        )
        """By need, what is at its target in the drawn world."""
        inside = (one for one, into in self._place.items() if into in sight.near and into not in self._rooms)
        self.root = State(sight.room, sight.near.union(inside), sight.hands, {}, {})

    def _there(self, thing: Number, need: Need, sight: Sight) -> bool:
        if thing in sight.hands or thing in sight.taken:
            return False
        return (self._place if need.how == "INSIDE" else self._on).get(thing) == need.target

    # ---- what is still to do

    def lacking(self, state: State, need: int) -> int:
        """Return how many things a need lacks; negative where there are more than asked for."""
        wanted = self.stock.needs[need]
        brought = sum(state.brought.get(thing) == wanted.target for thing in wanted.things)
        return wanted.number - len(self.satisfied[need]) - brought

    def units(self, state: State) -> int:
        """Return how many things are where they are wanted, no more than asked for."""
        return self.stock.units - sum(max(0, self.lacking(state, need)) for need in range(len(self.stock.needs)))

    def subgoals(self, state: State) -> Sequence[Subgoal]:
        """Return what could be brought next: what is in the hand, else what is in sight, else anything."""
        found, spare = list[Subgoal](), list[Subgoal]()
        for number, need in enumerate(self.stock.needs):
            lacking = self.lacking(state, number)
            if lacking <= 0:
                continue
            for thing in need.things:
                subgoal = Subgoal(thing, number)
                if thing in state.brought or thing in self.satisfied[number]:
                    continue
                left = subgoal in self._served or (lacking == 1 and number in self._busy)
                (spare if left else found).append(subgoal)
        found = found or spare
        held = [subgoal for subgoal in found if subgoal.thing in state.hands]
        return held or [subgoal for subgoal in found if self.visible(subgoal.thing, state)] or found

    # ---- where things are

    def holder(self, one: Number, state: State) -> Number:
        """Return the container, else the room, that something is in."""
        if one not in state.brought:
            return self._place[one]
        target = state.brought[one]
        return target if target in self.stock.containers else self._place[target]

    def open_(self, container: Number, state: State) -> bool:
        """Return whether a container stands open."""
        return state.turned.get(container, container in self._opened)

    def visible(self, one: Number, state: State) -> bool:
        """Return whether the agent would see something."""
        if one in self._rooms or one in state.hands:
            return True
        into = self.holder(one, state)
        if into in self._rooms:
            return into == state.room
        return self._place[into] == state.room and self.open_(into, state)

    # ---- the regression planner

    def bring(self, subgoal: Subgoal, state: State) -> Brought:
        """Return how to carry a subgoal out; nothing can be done about what a team-mate holds."""
        thing, need = subgoal.thing, self.stock.needs[subgoal.need]
        if thing in self._taken and thing not in state.brought:
            return Brought((), 0.0, state)
        steps: list[Step] = []
        cost = 0.0
        if thing not in state.hands:
            found = self.find(thing, state)
            steps += [*found.steps, Step("grab", thing)]
            cost += found.cost + HANDLE
            state = found.then._replace(hands=(*state.hands, thing))
        found = self.find(need.target, state)
        steps += found.steps
        cost += found.cost
        state = found.then
        turned = state.turned
        if need.how == "INSIDE" and not self.open_(need.target, state):
            steps.append(Step("open", need.target))
            cost += HANDLE
            turned = {**turned, need.target: True}
        steps.append(Step("put", thing, need.target))
        cost += HANDLE
        if need.how == "INSIDE" and self.stock.units - self.units(state) > 1:
            steps.append(Step("close", need.target))
            cost += HANDLE
            turned = {**turned, need.target: False}
        hands = tuple(one for one in state.hands if one != thing)
        brought = {**state.brought, thing: need.target}
        return Brought(tuple(steps), cost, State(state.room, state.near | {thing}, hands, brought, turned))

    def find(self, one: Number, state: State) -> Brought:
        """Return how to come near something, from the last step to the first: through what it is in, to its room."""
        back: list[Step] = []
        cost, reached, turned = 0.0, one, state.turned
        while not self.visible(reached, state):
            into = self.holder(reached, state)
            if into in self._rooms:
                back.append(Step("go", reached))
                cost += WALK_ON
            elif not self.open_(into, state):
                back.append(Step("open", into))
                cost += HANDLE
                turned = {**turned, into: True}
            reached = into
        if reached not in state.near:
            back.append(Step("go", reached))
            cost += WALK
        if not any(step.verb == "go" for step in back):
            return Brought(tuple(back[::-1]), cost, state._replace(turned=turned))
        into = self.holder(one, state)
        room = into if into in self._rooms else self._place[into]
        beside = {one} if into in self._rooms else {one, into}
        return Brought(tuple(back[::-1]), cost, state._replace(room=room, near=frozenset(beside), turned=turned))
