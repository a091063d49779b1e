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
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.tables.event_table import NOBODY, EventTable, Flags, Ints, primitive
from teamworld.record import Believe, MessageSent

Scalar = TypeVar("Scalar", bound=np.generic)

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
    """Moments of many series, to look up the last before a place and the first after it.

    Args:
        series: Number of the series, of each moment.
        time: Of each moment, from 0 and below ``span``.
        span: More than any time.
    """

    def __init__(self, series: Ints, time: Ints, span: int) -> None:
        codes = series * span + time
        self.order = np.argsort(codes, kind="stable")
        """Of the sorted moments, their places in what was given."""
        self._codes = codes[self.order]
        self._span = span

    def before(self, series: Ints, time: Ints) -> Ints:
        """Return the place in what was given of the last moment before a time; ``NOBODY`` where there is none."""
        return self._at(np.searchsorted(self._codes, series * self._span + time) - 1, series)

    def after(self, series: Ints, time: Ints) -> Ints:
        """Return the place in what was given of the first moment after a time; ``NOBODY`` where there is none."""
        return self._at(np.searchsorted(self._codes, series * self._span + time, side="right"), series)

    def _at(self, at: Ints, series: Ints) -> Ints:
        if not len(self._codes):
            return np.full(np.shape(series), NOBODY, np.int64)
        inside = np.clip(at, 0, len(self._codes) - 1)
        there = (at == inside) & (self._codes[inside] // self._span == series)
        return np.where(there, self.order[inside], NOBODY)


class Knowledge:
    """What was perceived, told and true in an episode that was recorded at the log level ``beliefs``."""

    def __init__(self, table: EventTable) -> None:
        self._table = table
        self.index = {fact: at for at, fact in enumerate(table.facts)}
        """Number of each fact that was perceived, true, told or believed."""
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
        known = {split[at][1] for at in np.unique(table.sights.fact[table.sights.agent == NOBODY])}
        known |= {relation.predicate for relation in table.start.relations}
        self.judged = np.array([predicate in known for _, predicate, _ in split], np.bool_)
        """Of each fact, whether the truth tells such facts: others are neither true nor false."""
        sights = table.sights
        # A moment is twice its place in the log, and one more for what begins with it.
        self._moment = 2 * sights.seq + sights.on
        last = max((int(column.max()) for column in (sights.seq, table.deliveries.seq) if len(column)), default=0)
        self._span = 2 * last + 4

    def _number(self, facts: Iterable[str]) -> None:
        for fact in facts:
            self.index.setdefault(fact, len(self.index))

    def _series(self, agent: Ints, fact: Ints) -> Ints:
        """Return the number of a series; the truth is the first agent's."""
        return (agent - NOBODY) * len(self.facts) + fact

    def _before(self, seq: Ints) -> Ints:
        return np.minimum(2 * seq, self._span - 1)

    @cached_property
    def told_facts(self) -> ToldFacts:
        """Facts that reached somebody else than their sender."""
        return ToldFacts.of(self._table, self.index)

    @cached_property
    def _seen(self) -> TimeSeries:
        return TimeSeries(self._series(self._table.sights.agent, self._table.sights.fact), self._moment, self._span)

    @cached_property
    def _told_series(self) -> TimeSeries:
        facts = self.told_facts
        return TimeSeries(self._series(facts.agent, facts.fact), 2 * facts.seq + 1, self._span)

    @cached_property
    def _begun(self) -> tuple[TimeSeries, Ints, Ints]:
        """What was newly perceived or told, by agent and by subject and predicate; with its facts and moments."""
        sights, deliveries = self._table.sights, self.told_facts
        new = sights.on & (sights.agent != NOBODY)
        agent = np.concatenate((sights.agent[new], deliveries.agent))
        fact = np.concatenate((sights.fact[new], deliveries.fact))
        moment = np.concatenate((self._moment[new], 2 * deliveries.seq + 1))
        return TimeSeries(agent * len(self.facts) + self._key[fact], moment, self._span), fact, moment

    def perceives(self, agent: Ints, fact: Ints, seq: Ints) -> Flags:
        """Return whether the agent perceives the fact; of ``NOBODY``, whether it is true."""
        at = self._seen.before(self._series(agent, fact), self._before(seq))
        perceived: Flags = (at != NOBODY) & _of(self._table.sights.on, at)
        return perceived

    def perceived_from(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return the place from which on the agent perceives a fact that it does not perceive now; or the end."""
        at = self._seen.after(self._series(agent, fact), self._before(seq))
        return np.where(at == NOBODY, np.iinfo(np.int64).max, _of(self._table.sights.seq, at))

    def true(self, fact: Ints, seq: Ints) -> Flags:
        """Return whether the fact is true."""
        return self.perceives(np.full_like(fact, NOBODY), fact, seq)

    def holds(self, agent: Ints, fact: Ints, seq: Ints) -> Flags:
        """Return whether the agent holds the fact."""
        series, moment = self._series(agent, fact), self._before(seq)
        seen, delivered = self._seen.before(series, moment), self._told_series.before(series, moment)
        perceived = (seen != NOBODY) & _of(self._table.sights.on, seen)
        since = np.maximum(
            np.where(seen != NOBODY, _of(self._moment, seen), NOBODY),
            np.where(delivered != NOBODY, 2 * _of(self.told_facts.seq, delivered) + 1, NOBODY),
        )
        begun, _, moments = self._begun
        last = begun.before(agent * len(self.facts) + self._key[fact], moment)
        other = np.where(last != NOBODY, _of(moments, last), NOBODY)
        held: Flags = perceived | ((since != NOBODY) & (other <= since))
        return held

    def instead(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return what the agent came to know last of the same subject and predicate; ``NOBODY`` if nothing."""
        begun, facts, _ = self._begun
        last = begun.before(agent * len(self.facts) + self._key[fact], self._before(seq))
        return np.where(last != NOBODY, _of(facts, last), NOBODY)


def _of(values: NDArray[Scalar], at: Ints) -> NDArray[Scalar]:
    """Return values by place; anything where there is none."""
    return values[at] if len(values) else np.zeros(np.shape(at), values.dtype)


class ToldFacts(NamedTuple):
    """Facts that reached another agent than their sender, one row for each, in the order of delivery."""

    agent: Ints
    fact: Ints
    seq: Ints
    step: Ints

    @staticmethod
    def of(table: EventTable, index: dict[str, int]) -> ToldFacts:
        """Collect them; facts are numbered by ``index``."""
        messages = {message.id: message for message in table.all(MessageSent) if message.facts}
        facts = {number: [index[fact] for fact in dict.fromkeys(sent.facts)] for number, sent in messages.items()}
        deliveries, rows = table.deliveries, []
        wanted = np.isin(deliveries.message, np.fromiter(messages, np.int64, len(messages)))
        for at in np.flatnonzero(wanted).tolist():
            number, agent, step, seq = (int(column[at]) for column in deliveries)
            if table.team[agent] != messages[number].agent:
                rows += [(agent, fact, seq, step) for fact in facts[number]]
        return ToldFacts(*np.array(rows, np.int64).reshape(-1, 4).T.copy())


@primitive
def knowledge_of(table: EventTable) -> Knowledge:
    """Return what was true and what agents held in an episode."""
    return Knowledge(table)
