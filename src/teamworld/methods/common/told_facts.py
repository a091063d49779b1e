"""Facts in messages: how they are read from a text, and what an agent believes of what it was told."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from teamworld.language import (
    AgentId,
    Entity,
    Fact,
    Facts,
    ParseError,
    Relation,
    Role,
    Term,
    parse_fact,
    plain,
    written_names,
)
from teamworld.language.rules import IN_HAND, WHERE, Schema
from teamworld.methods.common.knowledge import Line
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.goals import are_possible
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import Domain, View

#: A thing or an agent, and the predicate of a fact about it, or that it is about its place.
Aspect: TypeAlias = tuple[Entity | AgentId, str]
#: What is said of an aspect, and when.
Reports: TypeAlias = Mapping[Aspect, tuple[int, tuple[Fact, ...]]]
#: How messages of rules, and facts beside words, begin to state facts (``Message.whole``).
_STATED: Final = re.compile(r"(?:I know|Facts): ")
_END: Final = re.compile(r"\.(?:\s|$)")
_QUOTES: Final = re.compile("[\"'`]")
_AT_PLACE: Final = "at"
#: What lies in a room or a container: seen where the room was searched, or the container stands open.
_WITHIN: Final = "within"
#: Roles of relations about agents of which others can be told; what is in whose hands is left to be seen.
OF_AGENTS: Final[tuple[Role, ...]] = ("", "at")
#: The same where agents tell all of their state: what is in their hands and where exactly they are too.
STATE_OF_AGENTS: Final[tuple[Role, ...]] = (*OF_AGENTS, "position", "held")
#: Roles of relations that a map shows better.
_MAPPED: Final = ("position", "near", "map")
#: Values that are shown of a predicate.
_SHOWN: Final = 3


def read_told(
    text: str, domain: Domain, team: Iterable[AgentId] = (), roles: tuple[Role, ...] = OF_AGENTS
) -> tuple[Fact, ...]:
    """Return the facts that a message states after ``I know:`` or ``Facts:``; the rest is for readers.

    Args:
        text: Of the message.
        domain: The rules of the world.
        team: Agents that facts may be about, beside things.
        roles: Of the relations about agents of which a message can tell.
    """
    return _read_told(text, tuple(domain.relations), tuple(team), roles)


@lru_cache(maxsize=4096)
def _read_told(
    text: str, relations: tuple[Relation, ...], team: tuple[AgentId, ...], roles: tuple[Role, ...]
) -> tuple[Fact, ...]:
    schema, facts = _schema(relations), dict[Fact, None]()
    for part in _STATED.split(text)[1:]:
        end = _END.search(part)
        for statement in part[: end.start()].split(";") if end is not None else ():
            try:
                fact = parse_fact(written_names(statement.strip(), schema.kinds))
            except ParseError:
                continue
            if _can_be_told(fact, schema, team, roles):
                facts[fact] = None
    return tuple(facts)


@lru_cache(maxsize=64)
def _schema(relations: tuple[Relation, ...]) -> Schema:
    return Schema(relations)


def _can_be_told(fact: Fact, schema: Schema, team: Collection[AgentId], roles: Collection[Role] = OF_AGENTS) -> bool:
    relation = schema.of(fact)
    if relation is None or not schema.statable(fact):
        return False
    return isinstance(fact.subject, Entity) or (fact.subject in team and relation.role in roles)


def read_fact(text: str, domain: Domain, team: Collection[AgentId] = ()) -> Fact:
    """Return the fact of an answer: names plain or exact, in quotes or not, the predicate in any case.

    Raises:
        ParseError: It is none that this world can state about a thing or an agent of the team.
    """
    schema = _schema(tuple(domain.relations))
    words = written_names(_QUOTES.sub("", text).strip(" \t\r\n.;"), schema.kinds)
    predicates = sorted(schema.predicates, key=len, reverse=True)
    known = re.compile(rf"\s({'|'.join(map(re.escape, predicates))})\s", re.IGNORECASE)
    fact = parse_fact(known.sub(lambda match: match[0].upper(), words, count=1) if predicates else words)
    if not _can_be_told(fact, schema, team):
        raise ParseError("fact", 1, 1, text, ("a fact about a thing or an agent that this world can state",))
    return fact


def example_fact(facts: Iterable[Fact], domain: Domain) -> str | None:
    """Return the first of some facts about things that no map shows, in plain names; None where there is none."""
    schema = _schema(tuple(domain.relations))
    for fact in facts:
        relation = schema.of(fact) if isinstance(fact.subject, Entity) else None
        if relation is not None and relation.role not in _MAPPED and schema.statable(fact):
            return plain(fact)
    return None


def list_predicates(domain: Domain, subject: Entity | AgentId | None = None) -> Mapping[str, str]:
    """Return what facts can say: each predicate, as it is written with its values.

    Args:
        domain: The rules of the world.
        subject: About what; None: any thing or agent.
    """
    kind = subject.kind if isinstance(subject, Entity) else None if subject is None else "agent"
    values: dict[str, dict[str, None]] = {}
    for relation in domain.relations:
        hidden = relation.role not in OF_AGENTS if relation.subject == "agent" else relation.role in _MAPPED
        if not hidden and kind in (None, relation.subject) and relation.values != ("agent",):
            values.setdefault(relation.predicate, {}).update(dict.fromkeys(relation.values))
    return {
        predicate: f"{predicate} {'/'.join([*choices][:_SHOWN])}" + ("/..." if len(choices) > _SHOWN else "")
        for predicate, choices in values.items()
    }


def believed(
    view: View,
    domain: Domain,
    lines: Iterable[Line],
    team: Iterable[AgentId] = (),
    roles: tuple[Role, ...] = OF_AGENTS,
) -> Facts:
    """Return what an agent has seen and, of what it has not seen since, what others told.

    A message may say anything. What the rules of the world cannot state is passed over, and so are things of which
    the rules can make nothing: a place in a wall, a number too large. That a place was searched stands beside what the
    agent has seen of it. A thing has one place: it is not where the agent has looked since, nor where it lay before
    somebody took it. Of agents of the team other than itself it believes what was told of them too: what lies in their
    hands, where that can be told, lies nowhere else, and whoever tells of itself tells of all that it holds.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        lines: What was said, oldest first.
        team: Agents that facts may be about.
        roles: Of the relations about agents of which messages can tell.
    """
    others = tuple(agent for agent in team if agent != view.agent)
    news = _news(view, domain, _reports(view, domain, lines, others, roles))
    if not news:
        return view.known
    merged = _merge(view, news)
    if are_possible(merged, view, domain):
        return merged
    possible: dict[Aspect, tuple[int, tuple[Fact, ...]]] = {}
    for thing in dict.fromkeys(subject for subject, _ in news):
        report = {about: facts for about, facts in news.items() if about[0] == thing}
        if are_possible(_merge(view, possible | report), view, domain):
            possible |= report
    return _merge(view, possible) if possible else view.known


def _reports(
    view: View, domain: Domain, lines: Iterable[Line], team: Iterable[AgentId], roles: tuple[Role, ...]
) -> Reports:
    reports: dict[Aspect, tuple[int, tuple[Fact, ...]]] = {}
    for line in lines:
        about: dict[Aspect, list[Fact]] = {}
        for fact in read_told(line.text, domain, team, roles) if line.sender != view.agent else ():
            about.setdefault((fact.subject, _aspect(fact)), []).append(fact)
        if "held" in roles:
            about = _with_hands(about, line.sender, Vocabulary(domain.relations).held)
        reports |= {aspect: (line.step, tuple(facts)) for aspect, facts in about.items()}
    return _without_let_go(reports, view) if "held" in roles else reports


def _with_hands(about: Mapping[Aspect, list[Fact]], sender: AgentId, held: str) -> dict[Aspect, list[Fact]]:
    """Return what a message tells, and what follows for hands: what is in one lies nowhere, what is not told is none.

    Args:
        about: What it tells.
        sender: Whose message it is.
        held: How the world writes that an agent holds a thing.
    """
    whole = dict(about)
    if any(subject == sender for subject, _ in about):
        whole.setdefault((sender, held), [])
    in_hand = [fact.value for facts in about.values() for fact in facts if fact.predicate in IN_HAND]
    for thing in in_hand:
        if isinstance(thing, Entity):
            whole.setdefault((thing, _AT_PLACE), [])
    return whole


def _without_let_go(reports: Reports, view: View) -> Reports:
    """Return reports without things in hands that somebody told, or the agent saw, to lie somewhere since."""
    lay = {about[0]: step for about, (step, facts) in reports.items() if about[1] == _AT_PLACE and facts}
    in_sight = set(view.facts)
    for fact in view.known:
        if fact.predicate in WHERE and isinstance(fact.subject, Entity):
            step = view.t if fact in in_sight else view.known.seen.get(fact, 0)
            lay[fact.subject] = max(step, lay.get(fact.subject, 0))
    return {
        about: (
            step,
            tuple(fact for fact in facts if fact.predicate not in IN_HAND or lay.get(_thing(fact), 0) <= step),
        )
        for about, (step, facts) in reports.items()
    }


def _thing(fact: Fact) -> Entity | AgentId:
    """Return what is in the hand that a fact is about."""
    return fact.value if isinstance(fact.value, Entity) else fact.subject


def _news(view: View, domain: Domain, reports: Reports) -> Reports:
    """Return the reports of what the agent does not see and has not seen since; what is done lies nowhere."""
    if not reports:
        return {}
    words = Vocabulary(domain.relations)
    over = {goal.thing for goal in view.goals if goal.state != "open" and wanted_kind(goal) is None}
    last: dict[tuple[Term, str], float] = {}
    in_sight = ((fact, math.inf) for fact in view.facts)
    for fact, step in chain(((fact, view.recall.seen.get(fact, 0)) for fact in view.recall), in_sight):
        abouts: list[tuple[Term, str]] = [(fact.subject, _aspect(fact))]
        if fact.predicate in IN_HAND:
            abouts.append((fact.value, _AT_PLACE))
        if (fact.predicate, fact.value) in ((words.access, words.opened), (words.search, words.seen)):
            abouts.append((fact.subject, _WITHIN))
        last |= {about: max(step, last.get(about, 0)) for about in abouts}

    own = set(view.known)

    def is_news(about: Aspect, report: tuple[int, tuple[Fact, ...]]) -> bool:
        if about[1] == _AT_PLACE and about[0] in over:
            return False
        is_held = any(fact.predicate in IN_HAND for fact in report[1])
        if report[1] and not is_held and own.issuperset(report[1]):
            return False  # what it saw itself may say where in the room, this does not
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
    stated: Collection[Aspect] = news.keys()
    own = tuple(
        fact
        for fact in view.known
        if (fact.subject, _aspect(fact)) not in stated
        and not (fact.predicate in IN_HAND and (fact.value, _AT_PLACE) in stated)
    )
    told_facts = {fact: step for step, facts in news.values() for fact in facts}
    return Facts((*own, *told_facts), {**view.known.seen, **told_facts})
