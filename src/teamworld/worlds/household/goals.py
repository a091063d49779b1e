"""The goal of an episode as predicates, and what is still missing of it as far as somebody knows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from teamworld.language import Entity, GoalId
from teamworld.worlds.contract import Goal
from teamworld.worlds.household.observe import Known, Names


class Wanted(NamedTuple):
    """One predicate of the goal."""

    id: GoalId
    relation: str
    kind: str
    """Class of the things."""
    target: Entity
    number: int


@dataclass(frozen=True)
class Predicates:
    """All predicates of an episode: everybody knows them from the start."""

    names: Names

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """The predicates, in their order."""
        nodes, watched = self.names.episode.home.nodes, self.names.watched
        return tuple(
            Wanted(
                f"{need.name}_{need.relation.lower()}_{nodes[need.target].name}",
                need.relation,
                need.name,
                watched[need.target],
                need.number,
            )
            for need in self.names.episode.needs
        )

    @cached_property
    def target(self) -> Entity:
        """Where all things are brought: one for all predicates."""
        return self.wanted[0].target

    @cached_property
    def relation(self) -> str:
        """How they lie there, ``ON`` or ``INSIDE``."""
        return self.wanted[0].relation

    def goals(self, known: Known) -> tuple[Goal, ...]:
        """Return one goal for each predicate, as they stand if so much is known."""
        goals = []
        for wanted in self.wanted:
            left = max(0, wanted.number - len(self.brought(wanted, known)))
            goals.append(
                Goal(
                    wanted.id,
                    "put",
                    wanted.target,
                    features=(("thing", wanted.kind), ("relation", wanted.relation), ("target", wanted.target.kind)),
                    weight=float(wanted.number),
                    capacity=max(1, left),
                    units=left,
                    state="open" if left else "done",
                )
            )
        return tuple(goals)

    def brought(self, wanted: Wanted, known: Known) -> list[Entity]:
        """Return the things of a predicate that are where they are wanted."""
        place = (wanted.relation, wanted.target)
        return [thing for thing, at in known.places.items() if thing.kind == wanted.kind and at == place]

    def missing(self, known: Known) -> dict[GoalId, int]:
        """Return how many things each open predicate lacks; what is in hands has not been brought."""
        left = {wanted.id: wanted.number - len(self.brought(wanted, known)) for wanted in self.wanted}
        return {goal: units for goal, units in left.items() if units > 0}

    def useful(self, known: Known) -> dict[Entity, GoalId]:
        """Return the known things that lie about and that an open predicate can use, with it, by number."""
        missing, there = self.missing(known), (self.relation, self.target)
        serves = {wanted.kind: wanted.id for wanted in self.wanted if wanted.id in missing}
        lying = (thing for thing in sorted(known.places, key=attrgetter("id")) if thing.kind in serves)
        return {thing: serves[thing.kind] for thing in lying if known.places[thing] != there}

    def carried(self, known: Known, *, unseen: bool = False) -> set[GoalId]:
        """Return the open predicates all of whose missing things are in hands that are in sight.

        Args:
            known: What is known.
            unseen: Also in hands that were seen before, and may bring them.
        """
        held = Counter(thing.kind for things in known.hands.values() for thing in things)
        held, missing = held if unseen else _held_in_sight(known), self.missing(known)
        return {wanted.id for wanted in self.wanted if held[wanted.kind] >= missing.get(wanted.id, math.inf)}

    def is_search_over(self, known: Known) -> bool:
        """Return whether nothing is left to look for: the place is known, and so are things enough."""
        return self.target in known.room and self.has_all(known)

    def has_all(self, known: Known) -> bool:
        """Return whether so many things are known to lie about, or seen in hands, as are missing."""
        sure, lying = _held_in_sight(known), Counter(self.useful(known).values())
        missing = self.missing(known)
        return all(sure[wanted.kind] + lying[wanted.id] >= missing.get(wanted.id, 0) for wanted in self.wanted)

    def unchecked(self, known: Known) -> list[Entity]:
        """Return the containers that are known and closed, without that of the goal, by number."""
        closed = (box for box, opened in known.opened.items() if not opened and box != self.target)
        return sorted(closed, key=attrgetter("id"))


def _held_in_sight(known: Known) -> Counter[str]:
    """Return how many things of each class are in hands that are seen now."""
    return Counter(thing.kind for who, held in known.hands.items() if who not in known.last for thing in held)
