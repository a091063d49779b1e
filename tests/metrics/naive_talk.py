"""Metrics of talk and belief once more, slow and plain: event by event over sets, all compared with all.

Nothing here is shared with the package but the records and the parser of facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from teamworld.language import parse_fact
from teamworld.record import (
    ActionStep,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    EpisodeStart,
    Event,
    MessageSent,
    Observe,
    PlanStart,
    StageEntered,
    Truth,
)


class Mind:
    """One agent: what it perceives, holds and believes."""

    def __init__(self) -> None:
        self.perceives: set[str] = set()
        self.holds: set[str] = set()
        self.last: dict[tuple[str, str], str] = {}
        """By subject and predicate, what it came to know last."""
        self.chance: dict[str, float] = {}

    def learn(self, facts: Sequence[str]) -> None:
        for fact in facts:
            self.holds -= {
                old for old in self.holds if key(old) == key(fact) and old not in self.perceives and old not in facts
            }
        self.holds |= set(facts)
        self.last |= {key(fact): fact for fact in facts}


class DecisionPoint(NamedTuple):
    """How it stands just before an event."""

    event: Event
    minds: dict[str, Mind]
    true: set[str]
    ended: dict[str, int]


def key(fact: str) -> tuple[str, str]:
    parsed = parse_fact(fact)
    return str(parsed.subject), parsed.predicate


def terms(fact: str) -> set[str]:
    parsed = parse_fact(fact)
    value = str(parsed.value)
    return {str(parsed.subject)} | (set() if isinstance(parsed.value, int | float) else {value})


def start_of(log: Sequence[Event]) -> EpisodeStart:
    assert isinstance(log[0], EpisodeStart)
    return log[0]


def replay(log: Sequence[Event]) -> Iterator[DecisionPoint]:
    """Yield every event with what held before it; what is yielded changes afterwards."""
    minds = {agent: Mind() for agent in start_of(log).team}
    true, ended = set[str](), dict[str, int]()
    said = {event.id: event for event in log if isinstance(event, MessageSent)}
    for event in log:
        yield DecisionPoint(event, minds, true, ended)
        if isinstance(event, Observe):
            mind = minds[event.agent]
            mind.perceives -= set(event.unseen)
            mind.perceives |= set(event.seen)
            mind.learn(event.seen)
        elif isinstance(event, Deliver) and not event.dropped and said[event.message].agent != event.agent:
            minds[event.agent].learn(said[event.message].facts)
        elif isinstance(event, Truth):
            true |= set(event.true)
            true -= set(event.false)
            ended |= dict.fromkeys(event.false, event.step)
            for fact in event.true:
                ended.pop(fact, None)
        elif isinstance(event, Believe) and event.about is None:
            for fact in event.dropped:
                minds[event.agent].chance.pop(fact, None)
            minds[event.agent].chance |= {held.fact: held.probability for held in event.held}


def judged(log: Sequence[Event]) -> set[str]:
    """Return the predicates of what is ever true."""
    told = {key(fact)[1] for event in log if isinstance(event, Truth) for fact in (*event.true, *event.false)}
    return told | {relation.predicate for relation in start_of(log).relations}


Ratio = tuple[int, int]


def redundancy(log: Sequence[Event]) -> Ratio:
    """Return told facts that were held already, of all."""
    said = {event.id: event for event in log if isinstance(event, MessageSent)}
    new = old = 0
    for now in replay(log):
        if isinstance(now.event, Deliver) and not now.event.dropped:
            message = said[now.event.message]
            if message.agent != now.event.agent:
                lacking = [fact for fact in message.facts if fact not in now.minds[now.event.agent].holds]
                new += len(lacking)
                old += len(message.facts) - len(lacking)
    return old, new + old


def uptake(log: Sequence[Event], within: int = 10) -> Ratio:
    """Return told facts that were taken up, of all."""
    said = {event.id: event for event in log if isinstance(event, MessageSent)}
    things = {goal.id: goal.thing for goal in start_of(log).goals}
    taken = told = 0
    for now in replay(log):
        event = now.event
        if not isinstance(event, Deliver) or event.dropped or said[event.message].agent == event.agent:
            continue
        for fact in said[event.message].facts:
            told += 1
            if fact in now.minds[event.agent].holds:
                continue
            for later in log[event.seq + 1 :]:
                if isinstance(later, Observe) and later.agent == event.agent and fact in later.seen:
                    break
                if isinstance(later, PlanStart | Commit) and later.agent == event.agent:
                    named = {later.goal, things.get(later.goal or "")}
                    if isinstance(later, PlanStart):
                        named |= {later.thing, *re.findall(r"<\w+>\(\d+\)|\(\d+, \d+\)|[A-Za-z_]\w*", later.text)}
                    if named & terms(fact):
                        taken += later.step <= event.step + within
                        break
    return taken, told


def withheld(log: Sequence[Event]) -> Ratio:
    """Return failures for which a fact was withheld, of all."""
    things = {goal.id: goal.thing for goal in start_of(log).goals}
    count = failed = 0
    for now in replay(log):
        event = now.event
        if isinstance(event, ActionStep) and event.spent and event.status == "failed":
            about, actors = {*event.args, things.get(event.goal or "")}, {event.agent}
        elif isinstance(event, AttemptMade) and not event.success:
            about, actors = {things.get(event.goal)}, set(event.participants)
        else:
            continue
        failed += 1
        count += any(
            _kept_back(log, event.seq, now, actor, mate, fact)
            for fact in now.true
            if key(fact)[0] in about
            for actor in actors
            for mate in now.minds
            if mate != actor
        )
    return count, failed


def _kept_back(log: Sequence[Event], seq: int, now: DecisionPoint, actor: str, mate: str, fact: str) -> bool:
    mind = now.minds[actor]
    assumed = mind.last.get(key(fact))
    if fact in mind.holds or assumed is None or assumed in now.true or fact not in now.minds[mate].holds:
        return False
    said = (event for event in log[:seq] if isinstance(event, MessageSent) and event.agent == mate)
    return not any(fact in message.facts and actor in message.recipients for message in said)


def repetition(log: Sequence[Event]) -> Ratio:
    """Return messages that repeat: every message beside every earlier one."""

    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+|[^\w\s]", text.casefold())
        return {tuple(words[at : at + 3]) for at in range(len(words) - 2)} or {tuple(words)}

    said = [event for event in log if isinstance(event, MessageSent)]
    again = 0
    for at, message in enumerate(said):
        own = runs(message.text)
        for other in said[:at]:
            theirs = runs(other.text)
            alike = Fraction(len(own & theirs), len(own | theirs)) >= Fraction(8, 10)
            if alike and other.agent == message.agent and set(other.recipients) & set(message.recipients):
                again += 1
                break
    return again, len(said)


class Beliefs(NamedTuple):
    """Of what metrics of beliefs are made."""

    f1: list[Fraction]
    """At each decision point that has one."""
    acted: Ratio


def beliefs(log: Sequence[Event]) -> Beliefs:
    """Return what metrics of beliefs are made of."""
    start, known = start_of(log), judged(log)
    mattering = {*start.team, *(goal.thing for goal in start.goals)}
    things = {goal.id: goal.thing for goal in start.goals}

    def asserted(mind: Mind) -> set[str]:
        return {fact for fact, chance in mind.chance.items() if chance >= 0.5 and key(fact)[1] in known}

    def relevant(facts: set[str]) -> set[str]:
        return {fact for fact in facts if key(fact)[0] in mattering}

    f1: list[Fraction] = []
    wrong = failed = 0
    for now in replay(log):
        event = now.event
        if isinstance(event, StageEntered) and event.stage == "W":
            own, world = relevant(asserted(now.minds[event.agent])), relevant(now.true)
            if own and world:
                f1.append(Fraction(2 * len(own & world), len(own) + len(world)))
        if isinstance(event, ActionStep) and event.spent and event.status == "failed":
            failed += 1
            about = {*event.args, things.get(event.goal or "")}
            wrong += any(key(fact)[0] in about for fact in asserted(now.minds[event.agent]) - now.true)
    return Beliefs(f1, (wrong, failed))


def first_order(log: Sequence[Event]) -> Ratio:
    """Return beliefs about teammates that are right, of all."""
    right = told = 0
    for now in replay(log):
        event: Any = now.event
        if isinstance(event, Believe) and event.about in now.minds:
            for held in event.held:
                told += 1
                right += (held.fact in now.minds[event.about].holds) == (held.probability >= 0.5)
    return right, told
