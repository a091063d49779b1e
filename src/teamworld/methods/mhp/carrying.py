"""Carry things in the drawn world: the steps that bring one to its target, what they cost and what they lead to.

This is the published regression planner on the world that an agent's belief has drawn. A state keeps what differs from
that world, so that carrying a subgoal out copies no more than a few numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.inventory import Index
from teamworld.methods.mhp.percept import Percept
from teamworld.methods.mhp.search import Transition

#: What steps cost, in units of the goal: walking to what is not near, walking on in another room, handling.
WALK, WALK_ON, HANDLE = 1.0, 0.5, 0.05


class PrimitiveStep(NamedTuple):
    """One primitive action."""

    verb: str
    """In the world's words."""
    entity: Index
    target: Index | None = None
    """Where a thing is put."""


class Subgoal(NamedTuple):
    """Bring a thing to the target of a demand."""

    thing: Index
    demand: int
    """Place in ``Inventory.demands``."""


class CarryState(NamedTuple):
    """One state of the drawn world."""

    room: Index
    near: frozenset[Index]
    held: tuple[Index, ...]
    brought: Mapping[Index, Index]
    """The targets of what was brought since the beginning, by thing."""
    turned: Mapping[Index, bool]
    """Whether containers stand open that were opened or closed since the beginning."""


class Route(NamedTuple):
    """Steps, what they cost, and the state that they lead to."""

    steps: tuple[PrimitiveStep, ...]
    cost: float
    state: CarryState


class CarryModel:
    """The world of a belief as it is now; it must not change while the model is in use.

    Args:
        belief: The drawn world.
        percept: What the agent perceives.
        served: What teammates say that they do: it is left to them.
    """

    def __init__(self, belief: Belief, percept: Percept, served: Sequence[Subgoal] = ()) -> None:
        self.inventory, self._belief = belief.inventory, belief
        self._place, self._opened = belief.place, belief.opened
        self._rooms = frozenset(self.inventory.rooms)
        self._taken = percept.held_by_others
        self._served = frozenset(served)
        self._busy = frozenset(subgoal.demand for subgoal in served)
        carried = percept.held_by_others.union(percept.held)
        self.satisfied: tuple[frozenset[Index], ...] = tuple(
            frozenset(thing for thing in wanted.things if thing not in carried and belief.is_delivered(thing, demand))
            for demand, wanted in enumerate(self.inventory.demands)
        )
        """By demand, what is at its target in the drawn world."""
        inside = (entity for entity, into in self._place.items() if into in percept.near and into not in self._rooms)
        self.root = CarryState(percept.room, percept.near.union(inside), percept.held, {}, {})

    # ---- what is still to do

    def missing(self, state: CarryState, demand: int) -> int:
        """Return how many things a demand lacks; negative where there are more than asked for."""
        wanted = self.inventory.demands[demand]
        brought = sum(state.brought.get(thing) == wanted.target for thing in wanted.things)
        return wanted.number - len(self.satisfied[demand]) - brought

    def units(self, state: CarryState) -> int:
        """Return how many things are where they are wanted, no more than asked for."""
        demands = range(len(self.inventory.demands))
        return self.inventory.units - sum(max(0, self.missing(state, demand)) for demand in demands)

    def subgoals(self, state: CarryState) -> Sequence[Subgoal]:
        """Return what could be brought next: what is in the hand, else what is in sight, else anything."""
        open_subgoals, spare = list[Subgoal](), list[Subgoal]()
        for demand, wanted in enumerate(self.inventory.demands):
            missing = self.missing(state, demand)
            if missing <= 0:
                continue
            for thing in wanted.things:
                subgoal = Subgoal(thing, demand)
                if thing in state.brought or thing in self.satisfied[demand]:
                    continue
                is_served = subgoal in self._served or (missing == 1 and demand in self._busy)
                (spare if is_served else open_subgoals).append(subgoal)
        subgoals = open_subgoals or spare
        held = [subgoal for subgoal in subgoals if subgoal.thing in state.held]
        return held or [subgoal for subgoal in subgoals if self.is_visible(subgoal.thing, state)] or subgoals

    # ---- where things are

    def holder(self, entity: Index, state: CarryState) -> Index:
        """Return the container, else the room, that something is in."""
        if entity not in state.brought:
            return self._place[entity]
        target = state.brought[entity]
        return target if target in self.inventory.containers else self._place[target]

    def is_open(self, container: Index, state: CarryState) -> bool:
        """Return whether a container stands open."""
        return state.turned.get(container, container in self._opened)

    def is_visible(self, entity: Index, state: CarryState) -> bool:
        """Return whether the agent would see something."""
        if entity in self._rooms or entity in state.held:
            return True
        into = self.holder(entity, state)
        if into in self._rooms:
            return into == state.room
        return self._place[into] == state.room and self.is_open(into, state)

    # ---- the regression planner

    def carry_out(self, subgoal: Subgoal, state: CarryState) -> Transition[CarryState]:
        """Carry a subgoal out."""
        route = self.plan(subgoal, state)
        return Transition(route.cost, route.state)

    def plan(self, subgoal: Subgoal, state: CarryState) -> Route:
        """Return how to carry a subgoal out; nothing can be done about what a teammate holds."""
        thing, wanted, words = subgoal.thing, self.inventory.demands[subgoal.demand], self.inventory.words
        if thing in self._taken and thing not in state.brought:
            return Route((), 0.0, state)
        steps: list[PrimitiveStep] = []
        cost = 0.0
        if thing not in state.held:
            route = self.approach(thing, state)
            steps += [*route.steps, PrimitiveStep(words.grab, thing)]
            cost += route.cost + HANDLE
            state = route.state._replace(held=(*state.held, thing))
        route = self.approach(wanted.target, state)
        steps += route.steps
        cost += route.cost
        state = route.state
        turned = state.turned
        if wanted.inside and not self.is_open(wanted.target, state):
            steps.append(PrimitiveStep(words.open, wanted.target))
            cost += HANDLE
            turned = {**turned, wanted.target: True}
        steps.append(PrimitiveStep(words.put, thing, wanted.target))
        cost += HANDLE
        if wanted.inside and self.inventory.units - self.units(state) > 1:
            steps.append(PrimitiveStep(words.close, wanted.target))
            cost += HANDLE
            turned = {**turned, wanted.target: False}
        held = tuple(other for other in state.held if other != thing)
        brought = {**state.brought, thing: wanted.target}
        return Route(tuple(steps), cost, CarryState(state.room, state.near | {thing}, held, brought, turned))

    def approach(self, entity: Index, state: CarryState) -> Route:
        """Return how to come near something, from the last step to the first: through what it is in, to its room."""
        words = self.inventory.words
        back: list[PrimitiveStep] = []
        cost, reached, turned = 0.0, entity, state.turned
        while not self.is_visible(reached, state):
            into = self.holder(reached, state)
            if into in self._rooms:
                back.append(PrimitiveStep(words.go, reached))
                cost += WALK_ON
            elif not self.is_open(into, state):
                back.append(PrimitiveStep(words.open, into))
                cost += HANDLE
                turned = {**turned, into: True}
            reached = into
        if reached not in state.near:
            back.append(PrimitiveStep(words.go, reached))
            cost += WALK
        if not any(step.verb == words.go for step in back):
            return Route(tuple(back[::-1]), cost, state._replace(turned=turned))
        into = self.holder(entity, state)
        room = into if into in self._rooms else self._place[into]
        beside = {entity} if into in self._rooms else {entity, into}
        return Route(tuple(back[::-1]), cost, state._replace(room=room, near=frozenset(beside), turned=turned))
