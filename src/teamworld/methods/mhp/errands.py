"""Fetching and delivering apart, for the stronger baseline: several things are carried, and ways cost what they take.

Everything is guessed to be somewhere by the agent's belief, as in the published planner. Ways are straight lines, a
little longer where they lead into another room; known is where rooms are, and where what was seen stands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from teamworld.language import Cell
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.model import HANDLE, WALK, WALK_ON, Model, Subgoal
from teamworld.methods.mhp.sight import Sight
from teamworld.methods.mhp.stock import Number

#: Steps that cost as much as bringing one thing is worth.
SCALE: Final = 20.0
#: Centimetres from the middle of a room at which one is in it, and from a thing at which one is near it.
DOOR, REACH = 300.0, 130.0
#: How much longer ways into another room are than straight lines.
ROUND: Final = 1.25
#: Deliver all that is held.
DELIVER: Final = Subgoal(-1, -1)


class Trip(NamedTuple):
    """One moment of a way in the head."""

    at: Number
    """What the agent stands at; -1 where it is now."""
    hands: tuple[Subgoal, ...]
    brought: frozenset[Subgoal]
    opened: frozenset[Number]


class Gone(NamedTuple):
    """What a leg of the way costs and leads to."""

    cost: float
    then: Trip


class Errands:
    """Which thing to fetch next, and when to deliver.

    Args:
        model: Of the world in the head.
        belief: What the model was made of.
        sight: What the agent perceives.
        hands: How many things it carries at most.
        costs: What ways cost.
        theirs: Things last seen in the hands of team-mates, who will bring them.
        at: Where things stand that were seen, and rooms; whole centimetres.
    """

    def __init__(
        self,
        model: Model,
        belief: Belief,
        sight: Sight,
        *,
        hands: int,
        costs: Literal["legs", "metres"],
        theirs: Collection[Number],
        at: Mapping[Number, Cell],
    ) -> None:
        self._model, self._belief, self._sight = model, belief, sight
        self._most, self._costs, self._theirs, self._at = hands, costs, frozenset(theirs), at
        self._ways: dict[tuple[Number, Number], float] = {}
        self._lacking = [model.lacking(model.root, need) for need in range(len(model.stock.needs))]
        self._others = [
            sum(thing in self._theirs for thing in need.things if thing not in model.satisfied[number])
            for number, need in enumerate(model.stock.needs)
        ]
        satisfied, needs = model.satisfied, enumerate(model.stock.needs)
        every = (Subgoal(thing, number) for number, need in needs for thing in need.things)
        self._pool = [one for one in every if one.thing not in satisfied[one.need] and one.thing not in sight.taken]
        self._mine = [one for one in self._pool if one.thing not in self._theirs]
        self.root = Trip(-1, self._held(sight.hands), frozenset(), frozenset())

    def _held(self, hands: Sequence[Number]) -> tuple[Subgoal, ...]:
        needs = self._model.stock.needs
        return tuple(
            Subgoal(thing, next((number for number, need in enumerate(needs) if thing in need.things), 0))
            for thing in hands
        )

    def subgoals(self, state: Trip) -> Sequence[Subgoal]:
        """Return what could be fetched next, and that all be delivered."""
        found = [DELIVER] if state.hands else []
        if len(state.hands) >= self._most:
            return found
        left = list(self._lacking)
        for one in (*state.hands, *state.brought):
            left[one.need] -= 1
        for one in self._mine:  # what others carry is left to them, unless nothing else is left
            if left[one.need] > self._others[one.need] and one not in state.hands and one not in state.brought:
                found.append(one)
        if not found:
            gone = state.brought.union(state.hands)
            found = [one for one in self._pool if left[one.need] > 0 and one not in gone]
        return found

    def units(self, state: Trip) -> int:
        """Return how many things were brought, no more than asked for."""
        return sum(
            min(max(0, lacking), sum(one.need == number for one in state.brought))
            for number, lacking in enumerate(self._lacking)
        )

    def bring(self, subgoal: Subgoal, state: Trip) -> Gone:
        """Go for a thing and take it, or deliver all."""
        if subgoal == DELIVER:
            need = self._model.stock.needs[state.hands[0].need]
            shut = need.how == "INSIDE" and len(state.hands) < 2 and not self._open(need.target, state)
            opened = state.opened | {need.target} if shut else state.opened
            cost = self._way(state.at, need.target) + self._handling(len(state.hands) + shut)
            return Gone(cost, Trip(need.target, (), state.brought.union(state.hands), opened))
        into = self._belief.place[subgoal.thing]
        box = into if into not in self._model.stock.rooms else None
        shut = box is not None and not self._open(box, state)
        at = subgoal.thing if box is None else box
        opened = state.opened | {box} if box is not None else state.opened
        cost = self._way(state.at, at) + self._handling(1 + shut)
        return Gone(cost, Trip(at, (*state.hands, subgoal), state.brought, opened))

    def _open(self, box: Number, state: Trip) -> bool:
        return box in state.opened or box in self._belief.opened

    def _handling(self, actions: int) -> float:
        return actions * HANDLE if self._costs == "legs" else actions / SCALE

    def _way(self, start: Number, end: Number) -> float:
        """Return what a way costs, in units of the goal."""
        found = self._ways.get((start, end))
        if found is None:
            found = self._legs(start, end) if self._costs == "legs" else self._steps(start, end) / SCALE
            self._ways[start, end] = found
        return found

    def _legs(self, start: Number, end: Number) -> float:
        if start == end or (start == -1 and end in self._model.root.near):
            return 0.0
        here = self._sight.room if start == -1 else self._belief.room_of(start)
        return WALK if here == self._belief.room_of(end) else WALK + WALK_ON

    def _steps(self, start: Number, end: Number) -> float:
        if start == end or (start == -1 and end in self._model.root.near):
            return 0.0
        here = self._sight.room if start == -1 else self._belief.room_of(start)
        there = self._belief.room_of(end)
        one, _ = (self._sight.here, REACH) if start == -1 else self._stands(start)
        other, short = self._stands(end)
        if one is None or other is None:
            return 3.0 if here == there else 9.0
        way = math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) * (1.0 if here == there else ROUND)
        return max(0.0, way - short) / 100

    def _stands(self, one: Number) -> tuple[Cell | None, float]:
        """Return where something is taken to stand, and how near one has to come to it."""
        if one in self._belief.seen and one in self._at:
            return self._at[one], REACH
        return self._at.get(self._belief.room_of(one)), DOOR
