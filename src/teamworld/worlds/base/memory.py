"""What one agent perceives and remembers as facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from teamworld.language import Fact, Facts, Term


class Perception(NamedTuple):
    """What one agent may know at one moment."""

    facts: Facts
    """Perceived now."""
    recall: Facts
    """Perceived before and not since, with the step of last sight."""
    known: Facts
    """Both."""


class FactMemory:
    """What one agent has seen, and when: a fact stays until its subject is seen, or is not where it should be seen.

    Args:
        places: Predicates that no longer hold if their subject is not where it was.
        transient: Predicates that are not remembered.
    """

    def __init__(self, places: Collection[str] = ("AT", "HOLD"), transient: Collection[str] = ()) -> None:
        self._places, self._transient = places, transient
        self._perceived: tuple[Fact, ...] = ()
        self._past: dict[Fact, int] = {}

    def look(self, perceived: Iterable[Fact], t: int, in_sight: Collection[Term]) -> None:
        """Take in what the agent perceives at step ``t``; ``in_sight`` are the places that it sees."""
        before = self._past | {fact: t - 1 for fact in self._perceived if fact.predicate not in self._transient}
        self._perceived = tuple(perceived)
        seen = {fact.subject for fact in self._perceived}
        gone = {fact.subject for fact in before if fact.predicate == "AT" and fact.value in in_sight}
        self._past = {
            fact: tick
            for fact, tick in before.items()
            if fact.subject not in seen and not (fact.subject in gone and fact.predicate in self._places)
        }

    @property
    def perception(self) -> Perception:
        """What the agent perceives now and remembers."""
        past = self._past
        return Perception(Facts(self._perceived), Facts(tuple(past), past), Facts((*self._perceived, *past), past))
