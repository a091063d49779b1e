"""Where an agent takes things to be: what is still possible, and one world drawn from it.

Published weights are either what they were at the start, all alike, or ruled out, so they are kept as sets of what is
still possible. The drawn world keeps its guesses until what the agent sees contradicts them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from math import fsum
from typing import Final

import numpy as np

from teamworld.language import Action, Entity
from teamworld.methods.mhp.inventory import Index, Inventory
from teamworld.methods.mhp.percept import Percept
from teamworld.worlds.contract import Domain, LatentVariable, View

#: The place of what lies in no container.
OPEN: Final = -1


class Belief:
    """What one agent takes to be where.

    Args:
        inventory: What there is.
        rng: Draws the guesses.
        in_part: Whether the agent sees only what is ahead. Then nothing is taken to be hidden in a target, as published
            for what is seen through a camera.
    """

    def __init__(self, inventory: Inventory, rng: np.random.Generator, *, in_part: bool = False) -> None:
        self.inventory, self._rng = inventory, rng
        targets = {demand.target for demand in inventory.demands} if in_part else set()
        self._prior = {OPEN, *inventory.containers} - targets
        self.boxes: dict[Index, set[Index]] = {thing: set(self._prior) for thing in inventory.things}
        """Containers that a thing may be in, and ``OPEN``."""
        entities = (*inventory.containers, *inventory.furniture, *inventory.things)
        self.rooms: dict[Index, set[Index]] = {entity: set(inventory.rooms) for entity in entities}
        """Rooms in which anything may be in the open: furniture and containers too, which start anywhere."""
        self.place: dict[Index, Index] = {}
        """The drawn world: the container, else the room, of everything."""
        self.on: dict[Index, Index] = {}
        """What things were last seen to lie on."""
        self.opened = {box for box in inventory.containers if rng.random() < 0.5}
        """The drawn world: what stands open."""
        self.seen: set[Index] = set()
        """Where all is known that was seen or told, and neither contradicted nor drawn again since."""
        for entity in self.rooms:
            self.place[entity] = self._draw(entity)

    def update(self, percept: Percept) -> None:
        """Take in what an agent perceives: first what is possible, then the drawn world."""
        for entity in self.rooms:
            into = percept.place.get(entity)
            if into is None:
                self._rule_out_sight(entity, percept)
            else:
                self._make_certain(entity, into, percept.room)
        self.opened = (self.opened | percept.opened) - percept.closed
        for entity in self.rooms:
            into = percept.place.get(entity)
            if into is not None:
                self.put(entity, into, percept.on.get(entity))
            elif self._is_contradicted(entity, percept):
                self.guess(entity)

    def put(self, entity: Index, into: Index, on: Index | None = None) -> None:
        """Let the drawn world have something where it was seen, or is known to be."""
        self.place[entity] = into
        self.seen.add(entity)
        if on is None:
            self.on.pop(entity, None)
        else:
            self.on[entity] = on

    def accept(self, entity: Index, into: Index, on: Index | None = None) -> None:
        """Take something for certain that is not in sight: what was told, or done where it cannot be seen."""
        self._make_certain(entity, into, into if into in self.inventory.rooms else self.place[into])
        self.put(entity, into, on)

    def rule_out(self, entity: Index, place: Index) -> None:
        """Take it for certain that a thing is not in a container, or not in the open in a room."""
        if place in self.inventory.rooms:
            self.rooms[entity].discard(place)
        elif entity in self.boxes:
            self.boxes[entity].discard(place)
        self._restore(entity, None)
        if self.place[entity] == place:
            self.guess(entity)

    def guess(self, entity: Index) -> None:
        """Draw anew where something is."""
        self.seen.discard(entity)
        self.on.pop(entity, None)
        self.place[entity] = self._draw(entity)

    def room_of(self, entity: Index) -> Index:
        """Return the room that something is in, in the drawn world."""
        into = self.place[entity]
        return into if into in self.inventory.rooms else self.place[into]

    def is_delivered(self, thing: Index, demand: int) -> bool:
        """Return whether a thing is where a demand wants it, in the drawn world."""
        wanted = self.inventory.demands[demand]
        return (self.place if wanted.inside else self.on).get(thing) == wanted.target

    # ---- what is possible

    def _make_certain(self, entity: Index, into: Index, room: Index) -> None:
        if entity in self.boxes:
            self.boxes[entity] = {OPEN if into in self.inventory.rooms else into}
        self.rooms[entity] = {room}

    def _rule_out_sight(self, entity: Index, percept: Percept) -> None:
        """Rule out where something would be in sight; where that leaves nothing, begin anew."""
        if percept.is_whole:
            self.rooms[entity].discard(percept.room)
        if entity in self.boxes:
            self.boxes[entity] -= percept.opened
        self._restore(entity, percept.room)

    def _restore(self, entity: Index, room: Index | None) -> None:
        """Rule out the open where no room is left for it; where no place is left at all, begin anew."""
        anywhere = set(self.inventory.rooms) - {room}
        if entity not in self.boxes:
            self.rooms[entity] = self.rooms[entity] or anywhere
            return
        if not self.rooms[entity]:
            self.boxes[entity].discard(OPEN)
        if not self.boxes[entity]:
            self.boxes[entity], self.rooms[entity] = set(self._prior), anywhere

    # ---- the drawn world

    def _is_contradicted(self, entity: Index, percept: Percept) -> bool:
        """Return whether something would be in sight where it was taken to be."""
        into = self.place[entity]
        return into in percept.opened or (into == percept.room and percept.is_whole)

    def _draw(self, entity: Index) -> Index:
        box = self._pick(self.boxes[entity]) if entity in self.boxes else OPEN
        return self._pick(self.rooms[entity]) if box == OPEN else box

    def _pick(self, places: Collection[Index]) -> Index:
        """Draw one of some places, all alike: a softmax over weights that are equal or minus a billion."""
        return sorted(places)[int(self._rng.integers(len(places)))]


class NearestBelief(Belief):
    """A belief whose guesses are where the chance to find something missing is largest for the steps that it takes.

    Chances are those of the rules that everybody knows (``Domain.latent_variables``), and so are steps.

    Args:
        inventory: What there is.
        rng: Draws guesses where the rules tell nothing.
        domain: The rules.
        in_part: See ``Belief``.
    """

    def __init__(
        self, inventory: Inventory, rng: np.random.Generator, domain: Domain, *, in_part: bool = False
    ) -> None:
        self._domain = domain
        self._view: View | None = None
        self._rates: dict[str, dict[Index, float]] | None = None
        super().__init__(inventory, rng, in_part=in_part)

    def look_from(self, view: View) -> None:
        """Guess by what the agent knows now, from where it is now."""
        self._view, self._rates = view, None

    def guess_all(self) -> None:
        """Guess anew where everything is that was not seen."""
        for entity in self.rooms:
            if entity not in self.seen:
                self.guess(entity)

    def update(self, percept: Percept) -> None:
        """As every belief; where a guess has changed, guess everything anew."""
        before = dict(self.place)
        super().update(percept)
        if any(self.place[entity] != into for entity, into in before.items() if entity not in self.seen):
            self.guess_all()

    def _draw(self, entity: Index) -> Index:
        rates = self._rate_places().get(self.inventory.entities[entity].kind, {})
        rooms = self.rooms[entity] if OPEN in self.boxes.get(entity, {OPEN}) else ()
        boxes = self.boxes.get(entity, ())
        allowed = {place: rate for place, rate in rates.items() if place in rooms or place in boxes}
        if not allowed:
            return super()._draw(entity)
        best = max(allowed.values())
        return self._pick([place for place, rate in allowed.items() if rate == best])

    def _rate_places(self) -> dict[str, dict[Index, float]]:
        """Return by class what looking into each place is worth: chances to find anything missing, by step."""
        if self._view is None:
            return {}
        if self._rates is None:
            view, rates = self._view, defaultdict[str, dict[Index, float]](dict)
            rules = self._domain.beliefs
            latents = [] if rules is None else list(rules.latent_variables(view.known))
            chances: defaultdict[Index, float] = defaultdict(float)
            for latent in latents:
                for _, place, chance in self._values(latent):
                    chances[place] += chance
            ticks = {place: self._ticks(place, view) for place in chances}
            for latent in latents:
                for kind, place, _ in self._values(latent):
                    rates[kind][place] = chances[place] / ticks[place]
            self._rates = dict(rates)
        return self._rates

    def _values(self, latent: LatentVariable) -> Iterator[tuple[str, Index, float]]:
        total = fsum(value.weight for value in latent.values)
        for value in latent.values:
            subject, place = value.fact.subject, value.fact.value
            if isinstance(subject, Entity) and isinstance(place, Entity) and place in self.inventory.indices:
                yield subject.kind, self.inventory.indices[place], value.weight / total

    def _ticks(self, place: Index, view: View) -> int:
        words = self.inventory.words
        verb = words.explore if place in self.inventory.rooms else words.check
        return max(
            1, self._domain.estimate_steps(view.agent, Action(verb, (self.inventory.entities[place],)), view.known)
        )
