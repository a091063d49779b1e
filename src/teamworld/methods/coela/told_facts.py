"""Facts in messages: how they are read from a text, and what an agent believes of what it was told."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from teamworld.language import Entity, Fact, Facts, ParseError, Relation, Term, parse_fact, plain, written_names
from teamworld.language.rules import IN_HAND, WHERE, Schema
from teamworld.methods.common.knowledge import Line
from teamworld.planning.goals import are_possible
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import Domain, View

#: What is said of one aspect of a thing, and when: the thing, and the predicate or that it is about its place.
Reports: TypeAlias = Mapping[tuple[Entity, str], tuple[int, tuple[Fact, ...]]]
#: How messages of rules, and facts beside words, begin to state facts (``Message.whole``).
_STATED: Final = re.compile(r"(?:I know|Facts): ")
_END: Final = re.compile(r"\.(?:\s|$)")
_QUOTES: Final = re.compile("[\"'`]")
_AT_PLACE: Final = "at"
#: What lies in a room or a container: seen where the room was searched, or the container stands open.
_WITHIN: Final = "within"
#: Values that are shown of a predicate.
_SHOWN: Final = 3


def read_told(text: str, domain: Domain) -> tuple[Fact, ...]:
    """Return the facts about things that a message states after ``I know:`` or ``Facts:``; the rest is for readers."""
    return _read_told(text, tuple(domain.relations))


@lru_cache(maxsize=4096)
def _read_told(text: str, relations: tuple[Relation, ...]) -> tuple[Fact, ...]:
    schema, facts = _schema(relations), dict[Fact, None]()
    for part in _STATED.split(text)[1:]:
        end = _END.search(part)
        for statement in part[: end.start()].split(";") if end is not None else ():
            try:
                fact = parse_fact(written_names(statement.strip(), schema.kinds))
            except ParseError:
                continue
            if isinstance(fact.subject, Entity) and schema.statable(fact):
                facts[fact] = None
    return tuple(facts)


@lru_cache(maxsize=64)
def _schema(relations: tuple[Relation, ...]) -> Schema:
    return Schema(relations)


def read_fact(text: str, domain: Domain) -> Fact:
    """Return the fact of an answer: names plain or exact, in quotes or not, the predicate in any case.

    Raises:
        ParseError: It is none that this world can state about a thing.
    """
    schema = _schema(tuple(domain.relations))
    words = written_names(_QUOTES.sub("", text).strip(" \t\r\n.;"), schema.kinds)
    predicates = sorted(schema.predicates, key=len, reverse=True)
    known = re.compile(rf"\s({'|'.join(map(re.escape, predicates))})\s", re.IGNORECASE)
    fact = parse_fact(known.sub(lambda match: match[0].upper(), words, count=1) if predicates else words)
    if not isinstance(fact.subject, Entity) or not schema.statable(fact):
        raise ParseError("fact", 1, 1, text, ("a fact about a thing that this world can state",))
    return fact


def example_facts(facts: Iterable[Fact], domain: Domain) -> tuple[str, ...]:
    """Return facts about things that an agent knows, in plain names, one of each predicate that no map shows."""
    schema, examples = _schema(tuple(domain.relations)), dict[str, str]()
    for fact in facts:
        relation = schema.of(fact) if isinstance(fact.subject, Entity) else None
        if relation is not None and relation.role not in ("position", "near", "map") and schema.statable(fact):
            examples.setdefault(fact.predicate, plain(fact))
    return tuple(examples.values())


def list_predicates(domain: Domain) -> Mapping[str, str]:
    """Return what facts about things can say: each predicate, as it is written with its values."""
    values: dict[str, dict[str, None]] = {}
    for relation in domain.relations:
        if relation.subject != "agent" and relation.role not in ("position", "near", "map"):
            values.setdefault(relation.predicate, {}).update(dict.fromkeys(relation.values))
    return {
        predicate: f"{predicate} {'/'.join('(x, y)' if value == 'cell' else value for value in [*choices][:_SHOWN])}"
        + ("/..." if len(choices) > _SHOWN else "")
        for predicate, choices in values.items()
    }


def believed(view: View, domain: Domain, lines: Iterable[Line]) -> Facts:
    """Return what an agent has seen and, of what it has not seen since, what others told.

    A message may say anything. What the rules of the world cannot state is passed over, and so are things of which
    the rules can make nothing: a place in a wall, a number too large. That a place was searched stands beside what the
    agent has seen of it. A thing has one place: it is not where the agent has looked since, nor where it lay before
    somebody took it.
    """
    news = _news(view, domain, _reports(view, domain, lines))
    if not news:
        return view.known
    merged = _merge(view, news)
    if are_possible(merged, view, domain):
        return merged
    possible: dict[tuple[Entity, str], tuple[int, tuple[Fact, ...]]] = {}
    for thing in dict.fromkeys(subject for subject, _ in news):
        report = {about: facts for about, facts in news.items() if about[0] == thing}
        if are_possible(_merge(view, possible | report), view, domain):
            possible |= report
    return _merge(view, possible) if possible else view.known


def _reports(view: View, domain: Domain, lines: Iterable[Line]) -> Reports:
    reports: dict[tuple[Entity, str], tuple[int, tuple[Fact, ...]]] = {}
    for line in lines:
        about: dict[tuple[Entity, str], list[Fact]] = {}
        for fact in read_told(line.text, domain) if line.sender != view.agent else ():
            if isinstance(fact.subject, Entity):
                about.setdefault((fact.subject, _aspect(fact)), []).append(fact)
        reports |= {aspect: (line.step, tuple(facts)) for aspect, facts in about.items()}
    return reports


def _news(view: View, domain: Domain, reports: Reports) -> Reports:
    """Return the reports of what the agent does not see and has not seen since."""
    if not reports:
        return {}
    words = Vocabulary(domain.relations)
    last: dict[tuple[Term, str], float] = {}
    in_sight = ((fact, math.inf) for fact in view.facts)
    for fact, step in chain(((fact, view.recall.seen.get(fact, 0)) for fact in view.recall), in_sight):
        abouts: list[tuple[Term, str]] = [(fact.subject, _aspect(fact))]
        if fact.predicate in IN_HAND:
            abouts.append((fact.value, _AT_PLACE))
        if (fact.predicate, fact.value) in ((words.access, words.opened), (words.search, words.seen)):
            abouts.append((fact.subject, _WITHIN))
        last |= {about: max(step, last.get(about, 0)) for about in abouts}

    def is_news(about: tuple[Entity, str], report: tuple[int, tuple[Fact, ...]]) -> bool:
        looked = (last.get((fact.value, _WITHIN), -1) for fact in report[1] if fact.predicate in within)
        return report[0] > max(last.get(about, -1), *looked, -1)

    within = {words.room, words.container} - {""}
    news = {about: report for about, report in reports.items() if is_news(about, report)}
    for about, report in reports.items():  # what a teammate has searched is searched
        is_whole = about[1] == words.search and any(fact.value == words.seen for fact in report[1])
        if is_whole and view.known.value(about[0], words.search) != words.seen:
            news[about] = report
    return news


def _aspect(fact: Fact) -> str:
    return _AT_PLACE if fact.predicate in WHERE else fact.predicate


def _merge(view: View, news: Reports) -> Facts:
    stated: Collection[tuple[Entity | str, str]] = news.keys()
    own = tuple(
        fact
        for fact in view.known
        if (fact.subject, _aspect(fact)) not in stated
        and not (fact.predicate in IN_HAND and (fact.value, _AT_PLACE) in stated)
    )
    told_facts = {fact: step for step, facts in news.values() for fact in facts}
    return Facts((*own, *told_facts), {**view.known.seen, **told_facts})
