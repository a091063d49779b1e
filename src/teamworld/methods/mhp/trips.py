"""Fetch and deliver as separate subgoals, for the stronger baseline: several things are carried, ways have a length.

Everything is guessed to be somewhere by the agent's belief, as in the published planner. Ways are straight lines, a
little longer where they lead into another room; it is known where rooms are, and where what was seen stands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from teamworld.language import Cell
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.carrying import HANDLE, WALK, WALK_ON, CarryModel, Subgoal
from teamworld.methods.mhp.inventory import Index
from teamworld.methods.mhp.percept import Percept
from teamworld.methods.mhp.search import Transition

#: Steps that cost as much as bringing one thing is worth.
SCALE: Final = 20.0
#: Centimetres from the middle of a room at which one is in it, and from a thing at which one is near it.
DOOR, REACH = 300.0, 130.0
#: How much longer ways into another room are than straight lines.
DETOUR: Final = 1.25
#: Steps of a way between places that are not known, in a room and into another one.
SHORT_WAY, LONG_WAY = 3.0, 9.0
#: Deliver all that is held.
DELIVER: Final = Subgoal(-1, -1)


class TripState(NamedTuple):
    """One state of a trip in the drawn world."""

    at: Index
    """What the agent stands at; -1 where it is now."""
    held: tuple[Subgoal, ...]
    brought: frozenset[Subgoal]
    opened: frozenset[Index]


class TripModel:
    """Which thing to fetch next, and when to deliver.

    Args:
        model: Of the drawn world.
        belief: What the model was made of.
        percept: What the agent perceives.
        hands: How many things it carries at most.
        costs: What ways cost.
        taken: Things last seen in the hands of teammates, who will bring them.
        positions: Where things stand that were seen, and rooms; whole centimetres.
    """

    def __init__(
        self,
        model: CarryModel,
        belief: Belief,
        percept: Percept,
        *,
        hands: int,
        costs: Literal["legs", "metres"],
        taken: Collection[Index],
        positions: Mapping[Index, Cell],
    ) -> None:
        self._model, self._belief, self._percept = model, belief, percept
        self._hands, self._costs, self._positions = hands, costs, positions
        self._ways: dict[tuple[Index, Index], float] = {}
        demands, satisfied = model.inventory.demands, model.satisfied
        self._missing = [model.missing(model.root, demand) for demand in range(len(demands))]
        self._others = [
            sum(thing in taken for thing in wanted.things if thing not in satisfied[demand])
            for demand, wanted in enumerate(demands)
        ]
        subgoals = (Subgoal(thing, demand) for demand, wanted in enumerate(demands) for thing in wanted.things)
        self._pool = [
            subgoal
            for subgoal in subgoals
            if subgoal.thing not in satisfied[subgoal.demand] and subgoal.thing not in percept.held_by_others
        ]
        self._own = [subgoal for subgoal in self._pool if subgoal.thing not in taken]
        held = tuple(Subgoal(thing, model.inventory.demand_of(thing) or 0) for thing in percept.held)
        self.root = TripState(-1, held, frozenset(), frozenset())

    def subgoals(self, state: TripState) -> Sequence[Subgoal]:
        """Return what could be fetched next, and that all be delivered."""
        subgoals = [DELIVER] if state.held else []
        if len(state.held) >= self._hands:
            return subgoals
        left = list(self._missing)
        for subgoal in (*state.held, *state.brought):
            left[subgoal.demand] -= 1
        for subgoal in self._own:  # what others carry is left to them, unless nothing else is left
            is_missing = left[subgoal.demand] > self._others[subgoal.demand]
            if is_missing and subgoal not in state.held and subgoal not in state.brought:
                subgoals.append(subgoal)
        if subgoals:
            return subgoals
        fetched = state.brought.union(state.held)
        return [subgoal for subgoal in self._pool if left[subgoal.demand] > 0 and subgoal not in fetched]

    def units(self, state: TripState) -> int:
        """Return how many things were brought, no more than asked for."""
        return sum(
            min(max(0, missing), sum(subgoal.demand == demand for subgoal in state.brought))
            for demand, missing in enumerate(self._missing)
        )

    def carry_out(self, subgoal: Subgoal, state: TripState) -> Transition[TripState]:
        """Go for a thing and take it, or deliver all."""
        if subgoal == DELIVER:
            wanted = self._model.inventory.demands[state.held[0].demand]
            is_opened = wanted.inside and len(state.held) < 2 and not self._is_open(wanted.target, state)
            opened = state.opened | {wanted.target} if is_opened else state.opened
            cost = self._way(state.at, wanted.target) + self._handling(len(state.held) + is_opened)
            return Transition(cost, TripState(wanted.target, (), state.brought.union(state.held), opened))
        into = self._belief.place[subgoal.thing]
        box = into if into not in self._model.inventory.rooms else None
        is_opened = box is not None and not self._is_open(box, state)
        at = subgoal.thing if box is None else box
        opened = state.opened | {box} if box is not None else state.opened
        cost = self._way(state.at, at) + self._handling(1 + is_opened)
        return Transition(cost, TripState(at, (*state.held, subgoal), state.brought, opened))

    def _is_open(self, box: Index, state: TripState) -> bool:
        return box in state.opened or box in self._belief.opened

    def _handling(self, actions: int) -> float:
        return actions * HANDLE if self._costs == "legs" else actions / SCALE

    def _way(self, start: Index, end: Index) -> float:
        """Return what a way costs, in units of the goal."""
        if start == end or (start == -1 and end in self._model.root.near):
            return 0.0
        if (start, end) not in self._ways:
            here = self._percept.room if start == -1 else self._belief.room_of(start)
            same_room = here == self._belief.room_of(end)
            if self._costs == "legs":
                cost = WALK if same_room else WALK + WALK_ON
            else:
                cost = self._steps(start, end, same_room=same_room) / SCALE
            self._ways[start, end] = cost
        return self._ways[start, end]

    def _steps(self, start: Index, end: Index, *, same_room: bool) -> float:
        origin = self._percept.position if start == -1 else self._position(start)[0]
        target, reach = self._position(end)
        if origin is None or target is None:
            return SHORT_WAY if same_room else LONG_WAY
        length = math.sqrt((origin[0] - target[0]) ** 2 + (origin[1] - target[1]) ** 2)
        return max(0.0, length * (1.0 if same_room else DETOUR) - reach) / 100

    def _position(self, entity: Index) -> tuple[Cell | None, float]:
        """Return where something is taken to stand, and how near one has to come to it."""
        if entity in self._belief.seen and entity in self._positions:
            return self._positions[entity], REACH
        return self._positions.get(self._belief.room_of(entity)), DOOR
