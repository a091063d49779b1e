"""What agents perceive and believe, and what is true: from a log of the level ``beliefs``, as changes by moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from teamworld.language import ParseError, parse_fact
from teamworld.record import Believe, Event, Observe, Truth
from teamworld.viewer.replay_types import BeliefChange, FactChange, HeldFact, KnowledgeLog


class _Facts:
    """Facts by number, in the order in which they first came, with what they are about."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.groups: list[int] = []
        self.predicates: list[str] = []
        self._places: dict[str, int] = {}
        self._named: dict[tuple[str, str], int] = {}

    def place(self, text: str) -> int:
        """Return the number of a fact."""
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
            about = subject_of(text)
            self.groups.append(self._named.setdefault(about, len(self._named)))
            self.predicates.append(about[1])
        return self._places[text]

    def places(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of facts."""
        return [self.place(text) for text in texts]


def subject_of(text: str) -> tuple[str, str]:
    """Return what a fact is about, and its predicate; a text of another form is about itself."""
    try:
        fact = parse_fact(text)
    except ParseError:
        return text, ""
    return str(fact.subject), fact.predicate


def list_knowledge(log: Iterable[Event]) -> KnowledgeLog | None:
    """Return what a log records of truth, perception and belief; None if it is of a level that records none."""
    facts, truth, seen, believed = _Facts(), list[FactChange](), list[FactChange](), list[BeliefChange]()
    true, values = set[int](), Counter[int]()  # facts, and how many of each group
    several: set[str] = set()
    for event in log:
        match event:
            case Truth():
                change = FactChange(frame=event.step, on=facts.places(event.true), off=facts.places(event.false))
                truth.append(change)
                values.subtract(facts.groups[place] for place in true.intersection(change.off))
                true.difference_update(change.off)
                fresh = set(change.on) - true
                values.update(facts.groups[place] for place in fresh)
                true |= fresh
                several.update(facts.predicates[place] for place in fresh if values[facts.groups[place]] > 1)
            case Observe():
                on, off = facts.places(event.seen), facts.places(event.unseen)
                seen.append(FactChange(frame=event.step, agent=event.agent, on=on, off=off))
            case Believe():
                held = [
                    HeldFact(fact=facts.place(part.fact), chance=part.probability, since=part.since, source=part.source)
                    for part in event.held
                ]
                row = BeliefChange(frame=event.step, agent=event.agent, about=event.about, held=held)
                row.dropped = facts.places(event.dropped)
                believed.append(row)
            case _:
                pass
    if not seen and not believed:
        return None
    single = [predicate not in several for predicate in facts.predicates]
    return KnowledgeLog(
        facts=facts.texts,
        about=[group if is_single else -1 for group, is_single in zip(facts.groups, single, strict=True)],
        truth=truth,
        seen=seen,
        believed=believed,
    )
