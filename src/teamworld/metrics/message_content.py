"""What messages tell: news, truth, and what comes of it.

A fact stands for itself, never for words: only what a message carries as typed facts is told. Whatever needs to know
what agents perceived or what was true is null below the log level ``beliefs``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from teamworld.metrics.definition import Value, metric, share
from teamworld.metrics.event_table import NOBODY, EventTable, Flags, Ints, primitive
from teamworld.metrics.knowledge import knowledge_of, names, split_fact
from teamworld.metrics.messages import WITHIN
from teamworld.record import ActionStep, AttemptMade, Commit, MessageSent, PlanStart


@metric
def redundancy(table: EventTable) -> Value:
    """Return the share of facts that recipients held when they were told them."""
    return share(int(_is_held(table).sum()), len(_is_held(table)))


@metric
def uptake(table: EventTable) -> Value:
    """Return the share of delivered facts that were new and taken up."""
    return share(len(taken_up(table)), len(_is_held(table)))


@metric
def withheld_information(table: EventTable) -> Value:
    """Return the share of failures that a fact which a teammate held and never told might have prevented."""
    return share(len(withheld(table)), len(failed_acts(table, attempts=True)))


@primitive
def _is_held(table: EventTable) -> Flags:
    """Return for each told fact whether its recipient held it already."""
    knowledge = knowledge_of(table)
    return knowledge.holds(knowledge.told_facts.agent, knowledge.told_facts.fact, knowledge.told_facts.seq)


class Uptake(NamedTuple):
    """A fact that was news to whom a message told it, and the first of its plans or commitments about it."""

    agent: int
    """The recipient, as index in ``EventTable.team``."""
    fact: int
    """Its number in ``Knowledge.facts``."""
    delivered: int
    """Place of the delivery in the log."""
    used: int
    """Place of the plan or commitment."""


def taken_up(table: EventTable, by: tuple[type[PlanStart | Commit], ...] = (PlanStart, Commit)) -> list[Uptake]:
    """Return the new facts that recipients take up, in the order of delivery.

    One does if its next plan or commitment that names the fact's subject or value, or a goal about these, comes soon
    enough, and it has not perceived the fact by itself until then.

    Args:
        table: The episode.
        by: What it can be taken up by.
    """
    knowledge, mentions = knowledge_of(table), _mentions(table, by)
    deliveries, is_new = knowledge.told_facts, ~_is_held(table)
    agent, fact, seq, step = (column[is_new] for column in deliveries)
    perceived = knowledge.perceived_from(agent, fact, seq)
    uptakes = []
    for row in zip(*(column.tolist() for column in (agent, fact, seq, step, perceived)), strict=True):
        recipient, number, delivered, then, seen = row
        following = []
        for name in _terms(knowledge.facts[number]):
            places = mentions.get((recipient, name), [])
            at = bisect_right(places, delivered, key=itemgetter(0))
            following += places[at : at + 1]
        used = [place for place, at in following if at <= then + WITHIN and place < seen]
        if used:
            uptakes.append(Uptake(recipient, number, delivered, min(used)))
    return uptakes


def _terms(fact: str) -> set[str]:
    """Return what a fact is about: its subject, and its value where that is no number."""
    subject, _, value = split_fact(fact)
    return {subject, *names(value)}


def _mentions(
    table: EventTable, by: tuple[type[PlanStart | Commit], ...]
) -> dict[tuple[int, str], list[tuple[int, int]]]:
    """Return by agent and name where, in the log, and in which step its plans and commitments name it."""
    mentions: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    events: list[PlanStart | Commit] = table.all(*by)
    for event in events:
        named = {event.goal, table.things.get(event.goal)}
        if isinstance(event, PlanStart):
            named |= {*names(event.text), event.thing}
        for name in filter(None, named):
            mentions[table.who[event.agent], name].append((event.seq, event.step))
    return mentions


class FailedAct(NamedTuple):
    """Something that failed, what it was about, and who took part."""

    agents: tuple[int, ...]
    event: ActionStep | AttemptMade
    about: tuple[str, ...]
    """Things, agents and cells that the action named, and the goal's thing."""


def failed_acts(table: EventTable, *, attempts: bool) -> list[FailedAct]:
    """Return the actions that failed, in the order of the log; then, where wanted, the joint acts that did."""
    failed = []
    for act in table.failed:
        thing = table.things.get(act.goal)
        about = (*act.args, *(() if thing is None else (thing,)))
        failed.append(FailedAct((table.who[act.agent],), act, tuple(dict.fromkeys(about))))
    for attempt in table.all(AttemptMade) if attempts else ():
        thing = table.things.get(attempt.goal)
        if not attempt.success:
            team = tuple(table.who[agent] for agent in attempt.participants if agent in table.who)
            failed.append(FailedAct(team, attempt, () if thing is None else (thing,)))
    return failed


class Withheld(NamedTuple):
    """A failure that a fact which teammates held and never told might have prevented."""

    failure: FailedAct
    agent: int
    """Who lacked the fact, as index in ``EventTable.team``."""
    fact: int
    """Its number in ``Knowledge.facts``, as that of ``assumed``."""
    assumed: int
    """The false one that the agent came to know last in its place."""
    holders: tuple[int, ...]
    """Who held it."""


def withheld(table: EventTable) -> list[Withheld]:
    """Return the failures of which some teammate held a true fact about a thing, and the actor a false other.

    A precondition that the actor assumed is taken to be what it held last of a thing that the action names. Where
    several facts were held back, the first that a teammate held stands for them.
    """
    knowledge = knowledge_of(table)
    failed = failed_acts(table, attempts=True)
    case, agent, fact, seq = _true_then(table, failed)
    lacks = ~knowledge.holds(agent, fact, seq)
    case, agent, fact, seq = case[lacks], agent[lacks], fact[lacks], seq[lacks]
    assumed = knowledge.instead(agent, fact, seq)
    wrong = (assumed != NOBODY) & ~knowledge.true(np.maximum(assumed, 0), seq)
    case, agent, fact, seq, assumed = (column[wrong] for column in (case, agent, fact, seq, assumed))
    sent: dict[tuple[str, int, str], int] = {}
    for message in table.all(MessageSent):
        for sent_fact in message.facts:
            for recipient in message.recipients:
                sent.setdefault((message.agent, knowledge.index[sent_fact], recipient), message.seq)
    row_of: dict[int, int] = {}
    teammates: defaultdict[int, list[int]] = defaultdict(list)
    for teammate, name in enumerate(table.team):
        held = knowledge.holds(np.full_like(agent, teammate), fact, seq) & (agent != teammate)
        for row in np.flatnonzero(held).tolist():
            to = table.team[int(agent[row])]
            never = sent.get((name, int(fact[row]), to), int(seq[row])) >= int(seq[row])
            if never and row_of.setdefault(int(case[row]), row) == row:
                teammates[row].append(teammate)
    return [
        Withheld(failed[number], int(agent[row]), int(fact[row]), int(assumed[row]), tuple(teammates[row]))
        for number, row in sorted(row_of.items())
    ]


def _true_then(table: EventTable, failed: Sequence[FailedAct]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the true facts about the things of each failure: the failure's number, agent, fact, place in the log."""
    knowledge = knowledge_of(table)
    about = {name for failure in failed for name in failure.about}
    wanted = np.array([number for name, number in knowledge.subjects.items() if name in about], np.int64)
    sights = knowledge.sights
    changes = np.flatnonzero((sights.agent == NOBODY) & np.isin(knowledge.subject[sights.fact], wanted))
    true_facts: defaultdict[int, dict[int, None]] = defaultdict(dict)
    rows: list[tuple[int, int, int, int]] = []
    at = 0
    places, facts, ons = (column[changes].tolist() for column in (sights.seq, sights.fact, sights.on))
    for number in sorted(range(len(failed)), key=lambda number: failed[number].event.seq):
        failure = failed[number]
        while at < len(places) and places[at] < failure.event.seq:
            subject = true_facts[int(knowledge.subject[facts[at]])]
            if ons[at]:
                subject[facts[at]] = None
            else:
                subject.pop(facts[at], None)
            at += 1
        for name in failure.about:
            for fact in true_facts.get(knowledge.subjects.get(name, NOBODY), ()):
                rows += [(number, agent, fact, failure.event.seq) for agent in failure.agents]
    case, who, which, when = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    return case, who, which, when
