"""Where an agent takes things to be: weights over places, and one world drawn from them (household spec A13).

Weights are either what they were at the start, all alike, or ruled out, so they are kept as sets of what is still
possible. The drawn world keeps its guesses until what the agent sees contradicts them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from teamworld.methods.mhp.sight import Sight
from teamworld.methods.mhp.stock import Number, Stock

#: The place of what lies in no container.
OPEN: Final = -1


class Belief:
    """What one agent takes to be where.

    Args:
        stock: What there is.
        rng: Draws the guesses.
        ahead: Whether the agent sees what is ahead only. Then nothing is taken to be hidden in a target: so it is
            published for what is seen through a camera.
    """

    def __init__(self, stock: Stock, rng: np.random.Generator, *, ahead: bool = False) -> None:
        self.stock, self._rng = stock, rng
        self._prior = {OPEN, *stock.containers} - ({need.target for need in stock.needs} if ahead else set())
        self.boxes: dict[Number, set[Number]] = {thing: set(self._prior) for thing in stock.things}
        """Containers that a thing may be in, and ``OPEN``."""
        fixed = (*stock.containers, *stock.furniture)
        self.rooms: dict[Number, set[Number]] = {one: set(stock.rooms) for one in (*fixed, *stock.things)}
        """Rooms in which anything may be in the open: furniture and containers too, which start anywhere."""
        self.place: dict[Number, Number] = {}
        """The drawn world: the container, else the room, of everything."""
        self.on: dict[Number, Number] = {}
        """What things were last seen to lie on."""
        self.opened = {one for one in stock.containers if rng.random() < 0.5}
        """The drawn world: what stands open."""
        self.seen: set[Number] = set()
        """Where all is known that was seen or told, and neither contradicted nor drawn again since."""
        for one in self.rooms:
            self.place[one] = self._draw(one)

    def update(self, sight: Sight) -> None:
        """Take in what an agent perceives: first the weights, then the drawn world."""
        for one in self.rooms:
            into = sight.place.get(one)
            if into is None:
                self._missed(one, sight)
            else:
                self._certain(one, into, sight.room)
        self.opened = (self.opened | sight.opened) - sight.shut
        for one in self.rooms:
            into = sight.place.get(one)
            if into is not None:
                self.put(one, into, sight.on.get(one))
            elif self._contradicted(one, sight):
                self.guess(one)

    def put(self, one: Number, into: Number, on: Number | None = None) -> None:
        """Let the drawn world have something where it was seen, or is known to be."""
        self.place[one] = into
        self.seen.add(one)
        if on is None:
            self.on.pop(one, None)
        else:
            self.on[one] = on

    def tell(self, one: Number, into: Number, on: Number | None = None) -> None:
        """Take something for certain that is not in sight: what was told, or done where it cannot be seen."""
        self._certain(one, into, into if into in self.stock.rooms else self.place[into])
        self.put(one, into, on)

    def rule_out(self, one: Number, place: Number) -> None:
        """Take it for certain that a thing is not in a container, or not in the open in a room."""
        if place in self.stock.rooms:
            self.rooms[one].discard(place)
        elif one in self.boxes:
            self.boxes[one].discard(place)
        self._restore(one, None)
        if self.place[one] == place:
            self.guess(one)

    def guess(self, one: Number) -> None:
        """Draw anew where something is."""
        self.seen.discard(one)
        self.on.pop(one, None)
        self.place[one] = self._draw(one)

    def room_of(self, one: Number) -> Number:
        """Return the room that something is in, in the drawn world."""
        into = self.place[one]
        return into if into in self.stock.rooms else self.place[into]

    # ---- the weights

    def _certain(self, one: Number, into: Number, room: Number) -> None:
        if one in self.boxes:
            self.boxes[one] = {OPEN if into in self.stock.rooms else into}
        self.rooms[one] = {room}

    def _missed(self, one: Number, sight: Sight) -> None:
        """Rule out where something would be in sight; where that leaves nothing, begin anew."""
        if sight.whole:
            self.rooms[one].discard(sight.room)
        if one in self.boxes:
            self.boxes[one] -= sight.opened
        self._restore(one, sight.room)

    def _restore(self, one: Number, room: Number | None) -> None:
        """Rule out the open where no room is left for it; where no place is left at all, begin anew."""
        anywhere = set(self.stock.rooms) - {room}
        if one not in self.boxes:
            self.rooms[one] = self.rooms[one] or anywhere
            return
        if not self.rooms[one]:
            self.boxes[one].discard(OPEN)
        if not self.boxes[one]:
            self.boxes[one], self.rooms[one] = set(self._prior), anywhere

    # ---- the drawn world

    def _contradicted(self, one: Number, sight: Sight) -> bool:
        """Whether something would be in sight where it was taken to be."""
        into = self.place[one]
        return into in sight.opened or (into == sight.room and sight.whole)

    def _draw(self, one: Number) -> Number:
        box = self._pick(self.boxes[one]) if one in self.boxes else OPEN
        return self._pick(self.rooms[one]) if box == OPEN else box

    def _pick(self, places: Collection[Number]) -> Number:
        """Draw one of some places, all alike: a softmax over weights that are equal or minus a billion (C16)."""
        return sorted(places)[int(self._rng.integers(len(places)))]
