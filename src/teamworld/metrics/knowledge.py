"""What is true, W(t), and what each agent j holds, K_j(t), at any place of the log.

An agent **holds** a fact if it perceives it; or if it perceived it or was told it before, and since it last did, has
neither newly perceived nor been told a fact with the same subject and predicate. So what is out of sight is remembered
until something else is known in its place, and what somebody says never outdoes the eyes.

All look-ups take arrays of agents, facts and places (``seq``) in the log, and tell how it stood just before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from teamworld.metrics.event_table import NOBODY, EventTable, Flags, Ints, primitive
from teamworld.record import Believe, Deliver, MessageSent, Observe, Truth

#: Subject, predicate and value of a fact in written form, see ``teamworld.language.Fact``.
_FACT = re.compile(r'("(?:[^"\\]|\\.)*"|\S+) ([A-Z][A-Z0-9_]*) (.*)', re.DOTALL)
#: Names of things, agents and cells in facts and plans; numbers and what is in capitals name nothing.
_NAME = re.compile(r'<\w+>\(\d+\)|"(?:[^"\\]|\\.)*"|\(-?\d+, -?\d+\)|[A-Za-z_]\w*')


def split_fact(fact: str) -> tuple[str, str, str]:
    """Return subject, predicate and value of a fact; of what is none, the text as a subject."""
    match = _FACT.fullmatch(fact)
    return (match[1], match[2], match[3]) if match else (fact, "", "")


def names(text: str) -> list[str]:
    """Return the things, agents, cells and other names in the written form of a term, an action or a plan."""
    return _NAME.findall(text)


class TimeSeries:
    """Moments of many series, to look up the last before a time and the first after it.

    Args:
        series: Number of the series, of each moment.
        time: Of each moment, from 0 and below ``span``.
        span: More than any time.
        values: What look-ups return of a moment; its time if None.
    """

    def __init__(self, series: Ints, time: Ints, span: int, values: Ints | None = None) -> None:
        codes = series * span + time
        order = np.argsort(codes, kind="stable")
        self._codes = codes[order]
        self._series = np.append(series[order], NOBODY)
        self._values = np.append((time if values is None else values)[order], NOBODY)
        self._span = span

    def before(self, series: Ints, time: Ints) -> Ints:
        """Return the value of the last moment before a time; ``NOBODY`` where there is none."""
        return self._at(np.searchsorted(self._codes, series * self._span + time) - 1, series)

    def after(self, series: Ints, time: Ints) -> Ints:
        """Return the value of the first moment after a time; ``NOBODY`` where there is none."""
        return self._at(np.searchsorted(self._codes, series * self._span + time, side="right"), series)

    def _at(self, place: Ints, series: Ints) -> Ints:
        # Before the first and behind the last moment stands the one of nobody.
        return np.where(self._series[place] == series, self._values[place], NOBODY)


class FactChanges(NamedTuple):
    """What comes to be perceived or true and what no longer is, in the order of the log."""

    seq: Ints
    step: Ints
    agent: Ints
    """Who perceives; ``NOBODY`` where it is about the truth."""
    fact: Ints
    on: Flags
    """Whether it does from here on."""


class ToldFacts(NamedTuple):
    """Facts that reached another agent than their sender, one row for each, in the order of delivery."""

    agent: Ints
    fact: Ints
    seq: Ints
    step: Ints


class Knowledge:
    """What was perceived, told and true in an episode that was recorded at the log level ``beliefs``."""

    def __init__(self, table: EventTable) -> None:
        self._table = table
        self.index: dict[str, int] = {}
        """Number of each fact that was perceived, true, told or believed."""
        self.sights = self._read_sights()
        for message in table.all(MessageSent):
            self._number(message.facts)
        for belief in table.all(Believe):
            self._number(held.fact for held in belief.held)
        self.facts = tuple(self.index)
        split = [split_fact(fact) for fact in self.facts]
        self.subjects: dict[str, int] = {}
        self.subject = np.array(
            [self.subjects.setdefault(subject, len(self.subjects)) for subject, _, _ in split], np.int64
        )
        """Of each fact, the number of its subject."""
        keys: dict[tuple[str, str], int] = {}
        self._key = np.array([keys.setdefault(parts[:2], len(keys)) for parts in split], np.int64)
        known = {split[at][1] for at in np.unique(self.sights.fact[self.sights.agent == NOBODY])}
        known |= {relation.predicate for relation in table.start.relations}
        self.judged = np.array([predicate in known for _, predicate, _ in split], np.bool_)
        """Of each fact, whether the truth tells such facts: others are neither true nor false."""
        # A moment is twice its place in the log, and one more for what begins with it.
        self._moment = 2 * self.sights.seq + self.sights.on
        self._span = 2 * table.end.seq + 4
        self.told_facts = self._read_told_facts()
        """Facts that reached somebody else than their sender."""

    def _read_sights(self) -> FactChanges:
        rows: list[tuple[int, int, int, int, int]] = []
        events: list[Truth | Observe] = self._table.all(Truth, Observe)
        for event in events:
            if isinstance(event, Truth):
                agent, begun, ended = NOBODY, event.true, event.false
            else:
                agent, begun, ended = self._table.who[event.agent], event.seen, event.unseen
            rows += [(event.seq, event.step, agent, fact, 1) for fact in self._number(begun)]
            rows += [(event.seq, event.step, agent, fact, 0) for fact in self._number(ended)]
        seq, step, who, fact, on = np.array(rows, np.int64).reshape(-1, 5).T.copy()
        return FactChanges(seq, step, who, fact, on > 0)

    def _read_told_facts(self) -> ToldFacts:
        messages = {message.id: message for message in self._table.all(MessageSent) if message.facts}
        rows: list[tuple[int, int, int, int]] = []
        for deliver in self._table.all(Deliver):
            message = messages.get(deliver.message)
            if message is not None and not deliver.dropped and deliver.agent != message.agent:
                agent = self._table.who[deliver.agent]
                rows += [(agent, self.index[fact], deliver.seq, deliver.step) for fact in dict.fromkeys(message.facts)]
        return ToldFacts(*np.array(rows, np.int64).reshape(-1, 4).T.copy())

    def _number(self, facts: Iterable[str]) -> list[int]:
        return [self.index.setdefault(fact, len(self.index)) for fact in facts]

    def _series(self, agent: Ints, fact: Ints) -> Ints:
        """Return the number of a series; the truth is the first agent's."""
        return (agent - NOBODY) * len(self.facts) + fact

    @cached_property
    def _seen(self) -> TimeSeries:
        return TimeSeries(self._series(self.sights.agent, self.sights.fact), self._moment, self._span)

    @cached_property
    def _told(self) -> TimeSeries:
        facts = self.told_facts
        return TimeSeries(self._series(facts.agent, facts.fact), 2 * facts.seq + 1, self._span)

    @cached_property
    def _begun(self) -> tuple[TimeSeries, TimeSeries]:
        """Moments and facts of what was newly perceived or told, by agent and by subject and predicate."""
        sights, deliveries = self.sights, self.told_facts
        new = sights.on & (sights.agent != NOBODY)
        fact = np.concatenate((sights.fact[new], deliveries.fact))
        series = self._series(np.concatenate((sights.agent[new], deliveries.agent)), self._key[fact])
        moment = np.concatenate((self._moment[new], 2 * deliveries.seq + 1))
        return TimeSeries(series, moment, self._span), TimeSeries(series, moment, self._span, fact)

    def perceived_from(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return the place from which on the agent perceives a fact that it does not perceive now; or the end."""
        moment = self._seen.after(self._series(agent, fact), 2 * seq)
        return np.where(moment == NOBODY, np.iinfo(np.int64).max, moment // 2)

    def true(self, fact: Ints, seq: Ints) -> Flags:
        """Return whether the fact is true."""
        moment = self._seen.before(self._series(np.full_like(fact, NOBODY), fact), 2 * seq)
        return _is_on(moment)

    def holds(self, agent: Ints, fact: Ints, seq: Ints) -> Flags:
        """Return whether the agent holds the fact."""
        series = self._series(agent, fact)
        seen = self._seen.before(series, 2 * seq)
        since = np.maximum(seen, self._told.before(series, 2 * seq))
        other = self._begun[0].before(self._series(agent, self._key[fact]), 2 * seq)
        held: Flags = _is_on(seen) | ((since != NOBODY) & (other <= since))
        return held

    def instead(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return what the agent came to know last of the same subject and predicate; ``NOBODY`` if nothing."""
        return self._begun[1].before(self._series(agent, self._key[fact]), 2 * seq)


def _is_on(moment: Ints) -> Flags:
    flags: Flags = (moment != NOBODY) & (moment % 2 == 1)
    return flags


@primitive
def knowledge_of(table: EventTable) -> Knowledge:
    """Return what was true and what agents held in an episode."""
    return Knowledge(table)
