"""What agents perceive and believe, and what is true: from a log of the level ``beliefs``, as changes by moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from teamworld.language import ParseError, parse_fact
from teamworld.record import Believe, Event, Observe, Truth
from teamworld.viewer.replay_types import BeliefChange, FactChange, HeldFact, KnowledgeLog


class _Facts:
    """Facts by number, in the order in which they first came; and which predicates ever had two values at a time."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.groups: list[int] = []
        self._places: dict[str, int] = {}
        self._named: dict[tuple[str, str], int] = {}

    def place(self, text: str) -> int:
        """Return the number of a fact."""
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
            self.groups.append(self._named.setdefault(subject_of(text), len(self._named)))
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
    true: set[int] = set()
    several: set[str] = set()
    for event in log:
        match event:
            case Truth():
                change = FactChange(frame=event.step, on=facts.places(event.true), off=facts.places(event.false))
                truth.append(change)
                true.update(change.on)
                true.difference_update(change.off)
                several |= _several(facts, true)
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
    single = [subject_of(text)[1] not in several for text in facts.texts]
    return KnowledgeLog(
        facts=facts.texts,
        about=[group if is_single else -1 for group, is_single in zip(facts.groups, single, strict=True)],
        truth=truth,
        seen=seen,
        believed=believed,
    )


def _several(facts: _Facts, true: Iterable[int]) -> set[str]:
    """Return the predicates of which something has two values."""
    counts: defaultdict[int, list[int]] = defaultdict(list)
    for place in true:
        counts[facts.groups[place]].append(place)
    return {subject_of(facts.texts[places[0]])[1] for places in counts.values() if len(places) > 1}
