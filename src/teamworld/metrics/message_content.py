"""What messages tell: news, truth, and what comes of it (metrics spec M4, M5, M7, M8, M10).

A fact stands for itself, never for words: only what a message carries as typed facts is told. Whatever needs to know
what agents perceived or what was true is null below the log level ``beliefs``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from teamworld.metrics.definition import NULL, Value, share
from teamworld.metrics.episode import NOBODY, Episode, Ints
from teamworld.metrics.knowledge import Knowledge, Series, names, parts
from teamworld.record import ActionStep, AttemptMade, Commit, MessageSent, PlanStart


def measure(episode: Episode, within: int) -> Mapping[str, Value]:
    """Measure what messages tell.

    Args:
        episode: The episode.
        within: Steps in which a fact is taken up.
    """
    messages = episode.all(MessageSent)
    untold = share(sum(not message.facts for message in messages), len(messages))
    if episode.start.log_level == "play":
        needing = ("M4", "M5", "M7", "M8", "M8.stale", "M8.fabricated", "M10")
        return {**dict.fromkeys(needing, NULL), "M4.unread": untold}
    knowledge = Knowledge(episode)
    told = knowledge.tellings
    new = ~knowledge.holds(told.agent, told.fact, told.seq)
    return {
        "M4": share(int(new.sum()), len(new)),
        "M5": share(int((~new).sum()), len(new)),
        "M4.unread": untold,
        "M7": share(len(taken_up(episode, knowledge, within)), len(new)),
        **_falsehood(knowledge, messages),
        "M10": share(len(withheld(episode, knowledge)), len(failures(episode, attempts=True))),
    }


class Use(NamedTuple):
    """A fact that was news to whom a message told it, and the first of its plans or commitments about it (M7)."""

    agent: int
    """The recipient, as index in ``Episode.team``."""
    fact: int
    """Its number in ``Knowledge.facts``."""
    told: int
    """Place of the delivery in the log."""
    used: int
    """Place of the plan or commitment."""


def taken_up(
    episode: Episode,
    knowledge: Knowledge,
    within: int,
    by: tuple[type[PlanStart | Commit], ...] = (PlanStart, Commit),
) -> list[Use]:
    """Return the new facts that recipients take up, in the order of delivery.

    One does if its next plan or commitment that names the fact's subject or value, or a goal about these, comes soon
    enough, and it has not perceived the fact by itself until then.

    Args:
        episode: The episode.
        knowledge: What agents hold in it.
        within: Steps in which a fact is taken up.
        by: What it can be taken up by.
    """
    told = knowledge.tellings
    rows = np.flatnonzero(~knowledge.holds(told.agent, told.fact, told.seq))
    terms: dict[str, int] = {}
    of_fact = {
        fact: [terms.setdefault(name, len(terms)) for name in _terms(knowledge.facts[fact])]
        for fact in np.unique(told.fact[rows]).tolist()
    }
    mentions = [
        (episode.who[agent], terms[name], seq, step)
        for agent, seq, step, some in _mentions(episode, by)
        for name in some
        if name in terms
    ]
    who, term, seq, step = (np.ascontiguousarray(part) for part in np.array(mentions, np.int64).reshape(-1, 4).T)
    span = max(int(some.max()) for some in (seq, told.seq) if len(some)) + 2 if len(rows) else 2
    series = Series(who * max(1, len(terms)) + term, seq, span)
    tries = [(row, name) for row in rows.tolist() for name in of_fact[int(told.fact[row])]]
    row, name = (np.ascontiguousarray(part) for part in np.array(tries, np.int64).reshape(-1, 2).T)
    first = series.after(told.agent[row] * max(1, len(terms)) + name, told.seq[row])
    found = first != NOBODY
    row, first = row[found], first[found]
    soon = step[first] <= told.step[row] + within
    unseen = knowledge.perceived_from(told.agent[row], told.fact[row], told.seq[row]) > seq[first]
    used: dict[int, int] = {}
    for at, place in zip(row[soon & unseen].tolist(), seq[first[soon & unseen]].tolist(), strict=True):
        used[at] = min(place, used.get(at, place))
    return [Use(int(told.agent[at]), int(told.fact[at]), int(told.seq[at]), used[at]) for at in sorted(used)]


def _terms(fact: str) -> set[str]:
    """Return what a fact is about: its subject, and its value where that is no number."""
    subject, _, value = parts(fact)
    return {subject, *names(value)}


def _mentions(episode: Episode, by: tuple[type[PlanStart | Commit], ...]) -> Iterator[tuple[str, int, int, set[str]]]:
    """Yield agent, place in the log, step, and what it then names by a plan or commitment."""
    things = {goal.id: goal.thing for goal in episode.start.goals}
    events = [event for kind in by for event in episode.all(kind)]
    for event in events:
        found = {name for name in (event.goal, things.get(event.goal or "")) if name is not None}
        if isinstance(event, PlanStart):
            found |= {*names(event.text)} | ({event.thing} if event.thing is not None else set())
        yield event.agent, event.seq, event.step, found


def _falsehood(knowledge: Knowledge, messages: Sequence[MessageSent]) -> dict[str, Value]:
    sent = [(knowledge.index[fact], message.seq) for message in messages for fact in dict.fromkeys(message.facts)]
    fact, seq = (np.ascontiguousarray(part) for part in np.array(sent, np.int64).reshape(-1, 2).T)
    can = knowledge.judged[fact]
    fact, seq = fact[can], seq[can]
    false, once = ~knowledge.true(fact, seq), knowledge.was_true(fact, seq)
    return {
        "M8": share(int(false.sum()), len(fact)),
        "M8.stale": share(int((false & once).sum()), len(fact)),
        "M8.fabricated": share(int((false & ~once).sum()), len(fact)),
    }


class Failure(NamedTuple):
    """Something that failed, what it was about, and who took part."""

    agents: tuple[int, ...]
    event: ActionStep | AttemptMade
    about: tuple[str, ...]
    """Things, agents and cells that the action named, and the goal's thing."""

    @property
    def seq(self) -> int:
        """Its place in the log."""
        return self.event.seq


def failures(episode: Episode, *, attempts: bool) -> list[Failure]:
    """Return the actions that failed, in the order of the log; then, where wanted, the joint acts that did."""
    things = {goal.id: goal.thing for goal in episode.start.goals}
    found = []
    for act in episode.failed:
        thing = things.get(act.goal or "")
        about = (*act.args, *(() if thing is None else (thing,)))
        found.append(Failure((episode.who[act.agent],), act, tuple(dict.fromkeys(about))))
    for attempt in episode.all(AttemptMade) if attempts else ():
        thing = things.get(attempt.goal)
        if not attempt.success:
            team = tuple(episode.who[agent] for agent in attempt.participants if agent in episode.who)
            found.append(Failure(team, attempt, () if thing is None else (thing,)))
    return found


class Withheld(NamedTuple):
    """A failure that a fact which team-mates held and never told might have prevented (M10)."""

    failure: Failure
    agent: int
    """Who lacked the fact, as index in ``Episode.team``."""
    fact: int
    """Its number in ``Knowledge.facts``, as that of ``assumed``."""
    assumed: int
    """The false one that the agent came to know last in its place."""
    mates: tuple[int, ...]
    """Who held it."""


def withheld(episode: Episode, knowledge: Knowledge) -> list[Withheld]:
    """Return the failures of which some team-mate held a true fact about a thing, and the actor a false other.

    A precondition that the actor assumed is taken to be what it held last of a thing that the action names. Where
    several facts were held back, the first that somebody held stands for them.
    """
    failed = failures(episode, attempts=True)
    case, agent, fact, seq = _true_then(episode, knowledge, failed)
    lacks = ~knowledge.holds(agent, fact, seq)
    case, agent, fact, seq = case[lacks], agent[lacks], fact[lacks], seq[lacks]
    assumed = knowledge.instead(agent, fact, seq)
    wrong = (assumed != NOBODY) & ~knowledge.true(np.maximum(assumed, 0), seq)
    case, agent, fact, seq, assumed = (column[wrong] for column in (case, agent, fact, seq, assumed))
    sent: dict[tuple[str, int, str], int] = {}
    for message in episode.all(MessageSent):
        for told in message.facts:
            for recipient in message.recipients:
                sent.setdefault((message.agent, knowledge.index[told], recipient), message.seq)
    row_of: dict[int, int] = {}
    mates: defaultdict[int, list[int]] = defaultdict(list)
    for mate, name in enumerate(episode.team):
        held = knowledge.holds(np.full_like(agent, mate), fact, seq) & (agent != mate)
        for row in np.flatnonzero(held).tolist():
            to = episode.team[int(agent[row])]
            never = sent.get((name, int(fact[row]), to), int(seq[row])) >= int(seq[row])
            if never and row_of.setdefault(int(case[row]), row) == row:
                mates[row].append(mate)
    return [
        Withheld(failed[number], int(agent[row]), int(fact[row]), int(assumed[row]), tuple(mates[row]))
        for number, row in sorted(row_of.items())
    ]


def _true_then(episode: Episode, knowledge: Knowledge, failed: Sequence[Failure]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the true facts about the things of each failure: the failure's number, agent, fact, place in the log."""
    about = {name for failure in failed for name in failure.about}
    wanted = np.array([number for name, number in knowledge.subjects.items() if name in about], np.int64)
    sights = episode.sights
    changes = np.flatnonzero((sights.agent == NOBODY) & np.isin(knowledge.subject[sights.fact], wanted))
    now: defaultdict[int, dict[int, None]] = defaultdict(dict)
    rows: list[tuple[int, int, int, int]] = []
    at = 0
    places, facts, ons = (column[changes].tolist() for column in (sights.seq, sights.fact, sights.on))
    for number in sorted(range(len(failed)), key=lambda number: failed[number].seq):
        failure = failed[number]
        while at < len(places) and places[at] < failure.seq:
            subject = now[int(knowledge.subject[facts[at]])]
            if ons[at]:
                subject[facts[at]] = None
            else:
                subject.pop(facts[at], None)
            at += 1
        for name in failure.about:
            for fact in now.get(knowledge.subjects.get(name, NOBODY), ()):
                rows += [(number, agent, fact, failure.seq) for agent in failure.agents]
    case, who, which, when = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    return case, who, which, when
