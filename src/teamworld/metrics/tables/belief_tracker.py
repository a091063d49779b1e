"""Follows what agents believe through the log: the sums that metrics of beliefs are made of.

An agent **asserts** a fact that it believes with a probability of one half or more. A **decision point** is an agent's
entry into stage W: it has decided. **R**, what matters for the task, are the facts about agents and about the things of
goals. Facts of a kind that the truth never tells are left out: they are neither right nor wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import fsum
from typing import NamedTuple

import numpy as np

from teamworld.metrics.knowledge import knowledge_of
from teamworld.metrics.message_content import failed_acts
from teamworld.metrics.tables.event_table import NOBODY, EventTable, primitive
from teamworld.record import ActionStep, Believe

BINS = 10
"""Of the expected calibration error."""


class MisledAct(NamedTuple):
    """An action that failed while its agent asserted false facts about what it named."""

    act: ActionStep
    false: Mapping[str, int | None]
    """These facts, each with the step from which on it is true no more; None for what never was."""


class _AgentBeliefs:
    """What one agent believes now, with sums that are kept up to date."""

    def __init__(self) -> None:
        self.chance: dict[int, float] = {}
        """Probability of each fact."""
        self.about: defaultdict[int, set[int]] = defaultdict(set)
        """Facts that it asserts, by their subject."""
        self.asserted = self.relevant = self.right = 0
        """How many facts it asserts; of these in R; of these also true."""
        self.stale = self.since = 0
        """How many it asserts that are true no more, and the sum of the steps from which on they are not."""
        self.square = 0.0
        """Sum of (probability - truth)²."""
        self.judged = 0
        """How many facts it believes with any probability."""
        self.gaps = [0.0] * BINS
        """Sums of probability - truth, by probability."""


class RunningRatio:
    """Numerator and denominator, added up over decision points."""

    def __init__(self) -> None:
        self.num = self.den = 0.0

    def add(self, num: float, den: float = 1.0) -> None:
        """Add a share, or a value to a mean."""
        self.num += num
        self.den += den


class BeliefTracker:
    """Goes through the log once.

    Args:
        table: An episode in which agents declare beliefs, at the log level ``beliefs``.
    """

    def __init__(self, table: EventTable) -> None:
        self.table, self.knowledge = table, knowledge_of(table)
        things = {goal.thing for goal in table.start.goals} | set(table.team)
        is_about_task = np.array([name in things for name in self.knowledge.subjects], np.bool_)
        self.judged: list[bool] = self.knowledge.judged.tolist()
        self.relevant: list[bool] = (is_about_task[self.knowledge.subject] & self.knowledge.judged).tolist()
        self.subject: list[int] = self.knowledge.subject.tolist()
        self.beliefs = [belief for belief in table.all(Believe) if belief.about is None]
        self.failures = failed_acts(table, attempts=False)
        self.agents = [_AgentBeliefs() for _ in table.team]
        self.holders: defaultdict[int, set[int]] = defaultdict(set)
        """Who believes a fact with any probability."""
        self.true: set[int] = set()
        self.ended: dict[int, int] = {}
        """For facts that are true no more, the step from which on they are not."""
        self.all_true = 0
        """How many facts of R are true."""
        self.precision, self.recall, self.f1 = RunningRatio(), RunningRatio(), RunningRatio()
        self.staleness, self.stale, self.brier = RunningRatio(), RunningRatio(), RunningRatio()
        self.misled: list[MisledAct] = []
        """The actions that failed with a false belief, in the order of the log."""
        self.gaps = [0.0] * BINS
        """Of all decision points, the sums of probability - truth, by probability."""
        self.overlap = _Overlap(len(table.team))

    def run(self) -> None:
        """Take all events that matter, in the order of the log."""
        over = 0
        for _, step, kind, number in sorted(self._events()):
            while over < min(step, self.table.steps):
                self.overlap.end_step()
                over += 1
            if kind == 0:
                self._flip(number)
            elif kind == 1:
                self._believe(self.beliefs[number])
            elif kind == 2:
                self._decide(int(self.table.decisions.agent[number]), step)
            else:
                self._fail(number)
        for _ in range(over, self.table.steps):
            self.overlap.end_step()

    def _events(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield place, step, kind and number of what is to be taken."""
        sights, decisions = self.table.sights, self.table.decisions
        believed = [self.knowledge.index[held.fact] for belief in self.beliefs for held in belief.held]
        wanted = np.array(self.relevant, np.bool_)
        wanted[believed] = True
        rows = np.flatnonzero((sights.agent == NOBODY) & wanted[sights.fact])
        for row, seq, step in zip(rows.tolist(), sights.seq[rows].tolist(), sights.step[rows].tolist(), strict=True):
            yield seq, step, 0, row
        for number, belief in enumerate(self.beliefs):
            yield belief.seq, belief.step, 1, number
        for row, (seq, step) in enumerate(zip(decisions.seq.tolist(), decisions.step.tolist(), strict=True)):
            yield seq, step, 2, row
        for number, failure in enumerate(self.failures):
            yield failure.seq, failure.event.step, 3, number

    def _count(self, agent: int, fact: int, sign: int) -> None:
        """Add a belief as it stands to its agent's sums, or take it off."""
        if not self.judged[fact]:
            return
        own, chance, is_true = self.agents[agent], self.agents[agent].chance[fact], fact in self.true
        own.judged += sign
        own.square += sign * (chance - is_true) * (chance - is_true)
        own.gaps[min(BINS - 1, int(chance * BINS))] += sign * (chance - is_true)
        if chance < 0.5:
            return
        own.asserted += sign
        if not is_true and fact in self.ended:
            own.stale += sign
            own.since += sign * self.ended[fact]
        if self.relevant[fact]:
            own.relevant += sign
            own.right += sign * is_true
            self.overlap.change(agent, fact, asserts=sign > 0)
        if sign > 0:
            own.about[self.subject[fact]].add(fact)
        else:
            own.about[self.subject[fact]].discard(fact)

    def _flip(self, row: int) -> None:
        """Let a fact become true, or be true no more."""
        sights = self.table.sights
        fact, on = int(sights.fact[row]), bool(sights.on[row])
        if on == (fact in self.true):
            return
        for agent in self.holders[fact]:
            self._count(agent, fact, -1)
        if on:
            self.true.add(fact)
            self.ended.pop(fact, None)
        else:
            self.true.discard(fact)
            self.ended[fact] = int(sights.step[row])
        self.all_true += (1 if on else -1) * self.relevant[fact]
        for agent in self.holders[fact]:
            self._count(agent, fact, 1)

    def _believe(self, event: Believe) -> None:
        agent = self.table.who[event.agent]
        chances = self.agents[agent].chance
        changes = [(fact, None) for fact in event.dropped] + [(held.fact, held.probability) for held in event.held]
        for text, chance in changes:
            fact = self.knowledge.index.get(text, NOBODY)
            if fact in chances:
                self._count(agent, fact, -1)
                del chances[fact]
                self.holders[fact].discard(agent)
            if chance is not None:
                chances[fact] = chance
                self.holders[fact].add(agent)
                self._count(agent, fact, 1)

    def _decide(self, agent: int, step: int) -> None:
        own = self.agents[agent]
        if own.relevant:
            self.precision.add(own.right / own.relevant)
        if self.all_true:
            self.recall.add(own.right / self.all_true)
        if own.relevant and self.all_true:
            self.f1.add(2 * own.right / (own.relevant + self.all_true))
        self.staleness.add(own.stale * step - own.since, own.stale)
        self.stale.add(own.stale, own.asserted)
        self.brier.add(max(0.0, own.square), own.judged)
        self.gaps = [whole + gap for whole, gap in zip(self.gaps, own.gaps, strict=True)]

    def _fail(self, number: int) -> None:
        failure = self.failures[number]
        about = self.agents[failure.agents[0]].about
        things = (self.knowledge.subjects.get(name, NOBODY) for name in failure.about)
        false = sorted({fact for thing in things if thing in about for fact in about[thing] - self.true})
        if false:
            ended = {self.knowledge.facts[fact]: self.ended.get(fact) for fact in false}
            self.misled.append(MisledAct(self.table.failed[number], ended))


@primitive
def tracked_beliefs(table: EventTable) -> BeliefTracker | None:
    """Return what came of beliefs about the world; None where no agent declared any, or the log tells no truth."""
    if not table.has_beliefs or all(belief.about is not None for belief in table.all(Believe)):
        return None
    tracker = BeliefTracker(table)
    tracker.run()
    return tracker


class _Overlap:
    """How alike the assertions of any two agents are, step by step.

    Args:
        team: Number of agents.
    """

    def __init__(self, team: int) -> None:
        self._asserters: defaultdict[int, list[int]] = defaultdict(list)
        self._common = np.zeros((team, team), np.int64)
        """Facts that both assert; on the diagonal, those that one does."""
        self._pairs = np.triu_indices(team, 1)
        self._has_changed = True
        self._mean: float | None = None
        self.means: list[float] = []
        """Of each step in which a pair asserts anything, the mean Jaccard likeness over such pairs."""

    def change(self, agent: int, fact: int, *, asserts: bool) -> None:
        """Let an agent assert a fact of R from now on, or no longer."""
        self._has_changed = True
        asserters = self._asserters[fact]
        if asserts:
            asserters.append(agent)
        self._common[agent, asserters] += 1 if asserts else -1
        self._common[asserters, agent] = self._common[agent, asserters]
        if not asserts:
            asserters.remove(agent)

    def end_step(self) -> None:
        """Take the overlap as it stands at the end of a step."""
        if self._has_changed:
            first, second = self._pairs
            common, own = self._common[first, second], self._common.diagonal()
            either = own[first] + own[second] - common
            asserting = either > 0
            ratios = common[asserting] / either[asserting]
            self._mean = fsum(ratios.tolist()) / len(ratios) if len(ratios) else None
            self._has_changed = False
        if self._mean is not None:
            self.means.append(self._mean)
