"""What is true and what each agent holds at any place of the log: K_j(t) and W(t) of metrics spec 6 and 8.

An agent **holds** a fact if it perceives it; or if it perceived it or was told it before, and since it last did, has
neither newly perceived nor been told a fact with the same subject and predicate. So what is out of sight is remembered
until something else is known in its place, and what somebody says never outdoes the eyes.

All look-ups take arrays of agents, facts and places (``seq``) in the log, and tell how it stood just before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.episode import NOBODY, Episode, Ints
from teamworld.record import Believe, MessageSent

Bools: TypeAlias = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

#: Subject, predicate and value of a fact in written form, see ``teamworld.language.Fact``.
_FACT = re.compile(r'("(?:[^"\\]|\\.)*"|\S+) ([A-Z][A-Z0-9_]*) (.*)', re.DOTALL)
#: Names of things, agents and cells in facts and plans; numbers and what is in capitals name nothing.
_NAME = re.compile(r'<\w+>\(\d+\)|"(?:[^"\\]|\\.)*"|\(-?\d+, -?\d+\)|[A-Za-z_]\w*')


def parts(fact: str) -> tuple[str, str, str]:
    """Return subject, predicate and value of a fact; of what is none, the text as a subject."""
    found = _FACT.fullmatch(fact)
    return (found[1], found[2], found[3]) if found else (fact, "", "")


def names(text: str) -> list[str]:
    """Return the things, agents, cells and other names in the written form of a term, an action or a plan."""
    return _NAME.findall(text)


class Series:
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

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self.index = {fact: at for at, fact in enumerate(episode.facts)}
        """Number of each fact that was perceived, true, told or believed."""
        for message in episode.all(MessageSent):
            self._number(message.facts)
        for belief in episode.all(Believe):
            self._number(held.fact for held in belief.held)
        self.facts = tuple(self.index)
        split = [parts(fact) for fact in self.facts]
        self.subjects: dict[str, int] = {}
        self.subject = np.array([self.subjects.setdefault(one, len(self.subjects)) for one, _, _ in split], np.int64)
        """Of each fact, the number of its subject."""
        keys: dict[tuple[str, str], int] = {}
        self._key = np.array([keys.setdefault(one[:2], len(keys)) for one in split], np.int64)
        told = {split[at][1] for at in np.unique(episode.sights.fact[episode.sights.agent == NOBODY])}
        told |= {relation.predicate for relation in episode.start.relations}
        self.judged = np.array([predicate in told for _, predicate, _ in split], np.bool_)
        """Of each fact, whether the truth tells such facts: others are neither true nor false."""
        sights = episode.sights
        # A moment is twice its place in the log, and one more for what begins with it.
        self._moment = 2 * sights.seq + sights.on
        last = max((int(some.max()) for some in (sights.seq, episode.deliveries.seq) if len(some)), default=0)
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
    def tellings(self) -> Tellings:
        """Facts that reached somebody else than their sender."""
        return Tellings.of(self._episode, self.index)

    @cached_property
    def _seen(self) -> Series:
        return Series(self._series(self._episode.sights.agent, self._episode.sights.fact), self._moment, self._span)

    @cached_property
    def _told(self) -> Series:
        told = self.tellings
        return Series(self._series(told.agent, told.fact), 2 * told.seq + 1, self._span)

    @cached_property
    def _begun(self) -> tuple[Series, Ints, Ints]:
        """What was newly perceived or told, by agent and by subject and predicate; with its facts and moments."""
        sights, told = self._episode.sights, self.tellings
        new = sights.on & (sights.agent != NOBODY)
        agent = np.concatenate((sights.agent[new], told.agent))
        fact = np.concatenate((sights.fact[new], told.fact))
        moment = np.concatenate((self._moment[new], 2 * told.seq + 1))
        return Series(agent * len(self.facts) + self._key[fact], moment, self._span), fact, moment

    def perceives(self, agent: Ints, fact: Ints, seq: Ints) -> Bools:
        """Return whether the agent perceives the fact; of ``NOBODY``, whether it is true."""
        at = self._seen.before(self._series(agent, fact), self._before(seq))
        found: Bools = (at != NOBODY) & _of(self._episode.sights.on, at)
        return found

    def perceived_from(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return the place from which on the agent perceives a fact that it does not perceive now; or the end."""
        at = self._seen.after(self._series(agent, fact), self._before(seq))
        return np.where(at == NOBODY, np.iinfo(np.int64).max, _of(self._episode.sights.seq, at))

    def true(self, fact: Ints, seq: Ints) -> Bools:
        """Return whether the fact is true."""
        return self.perceives(np.full_like(fact, NOBODY), fact, seq)

    def was_true(self, fact: Ints, seq: Ints) -> Bools:
        """Return whether the fact is true or once was."""
        series = self._series(np.full_like(fact, NOBODY), fact)
        found: Bools = self._seen.before(series, self._before(seq)) != NOBODY
        return found

    def holds(self, agent: Ints, fact: Ints, seq: Ints) -> Bools:
        """Return whether the agent holds the fact."""
        series, now = self._series(agent, fact), self._before(seq)
        seen, told = self._seen.before(series, now), self._told.before(series, now)
        perceived = (seen != NOBODY) & _of(self._episode.sights.on, seen)
        since = np.maximum(
            np.where(seen != NOBODY, _of(self._moment, seen), NOBODY),
            np.where(told != NOBODY, 2 * _of(self.tellings.seq, told) + 1, NOBODY),
        )
        begun, _, moments = self._begun
        last = begun.before(agent * len(self.facts) + self._key[fact], now)
        other = np.where(last != NOBODY, _of(moments, last), NOBODY)
        found: Bools = perceived | ((since != NOBODY) & (other <= since))
        return found

    def instead(self, agent: Ints, fact: Ints, seq: Ints) -> Ints:
        """Return what the agent came to know last of the same subject and predicate; ``NOBODY`` if nothing."""
        begun, facts, _ = self._begun
        last = begun.before(agent * len(self.facts) + self._key[fact], self._before(seq))
        return np.where(last != NOBODY, _of(facts, last), NOBODY)


def _of(values: NDArray[Scalar], at: Ints) -> NDArray[Scalar]:
    """Return values by place; anything where there is none."""
    return values[at] if len(values) else np.zeros(np.shape(at), values.dtype)


class Tellings:
    """Facts that reached somebody else than their sender, one row for each, in the order of delivery."""

    def __init__(self, agent: Ints, fact: Ints, seq: Ints, step: Ints) -> None:
        self.agent, self.fact, self.seq, self.step = agent, fact, seq, step

    @staticmethod
    def of(episode: Episode, index: dict[str, int]) -> Tellings:
        """Gather them; facts are numbered by ``index``."""
        messages = {message.id: message for message in episode.all(MessageSent) if message.facts}
        facts = {number: [index[fact] for fact in dict.fromkeys(one.facts)] for number, one in messages.items()}
        told, rows = episode.deliveries, []
        wanted = np.isin(told.message, np.fromiter(messages, np.int64, len(messages)))
        for at in np.flatnonzero(wanted).tolist():
            number, agent = int(told.message[at]), int(told.agent[at])
            if episode.team[agent] != messages[number].agent:
                rows += [(agent, fact, int(told.seq[at]), int(told.step[at])) for fact in facts[number]]
        table = np.array(rows, np.int64).reshape(-1, 4)
        return Tellings(*(np.ascontiguousarray(column) for column in table.T))
