"""Beliefs about the world, and about what teammates know, against what was; null where no agent declared any.

An agent **asserts** a fact that it believes with a probability of one half or more. A **decision point** is an agent's
entry into stage W: it has decided. **R**, what matters for the task, are the facts about agents and about the things of
goals. Facts of a kind that the truth never tells are left out: they are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from teamworld.metrics.definition import NULL, Value, mean, metric, share
from teamworld.metrics.event_table import NOBODY, EventTable, primitive
from teamworld.metrics.knowledge import knowledge_of
from teamworld.metrics.message_content import FailedAct, failed_acts
from teamworld.record import ActionStep, Believe, StageEntered


class MisledAct(NamedTuple):
    """An action that failed while its agent asserted false facts about what it named."""

    act: ActionStep
    false: Mapping[str, int | None]
    """These facts, each with the step from which on it is true no more; None for what never was."""


class BeliefTracker:
    """Follows what agents believe through the log, with sums that are kept up to date.

    Args:
        table: An episode in which agents declare beliefs, at the log level ``beliefs``.
    """

    def __init__(self, table: EventTable) -> None:
        self._table, self._knowledge = table, knowledge_of(table)
        knowledge = self._knowledge
        things = {goal.thing for goal in table.start.goals} | set(table.team)
        is_about_task = np.array([name in things for name in knowledge.subjects], np.bool_)
        self._is_judged: list[bool] = knowledge.judged.tolist()
        self._is_relevant: list[bool] = (is_about_task[knowledge.subject] & knowledge.judged).tolist()
        self._failures = failed_acts(table, attempts=False)
        self._chances: list[dict[int, float]] = [{} for _ in table.team]
        """Of each agent, the probability of each fact that it believes."""
        self._asserted = [0] * len(table.team)
        """How many facts of R each agent asserts."""
        self._right = [0] * len(table.team)
        """How many of these are true."""
        self._true: set[int] = set()
        self._ended: dict[int, int] = {}
        """For facts that are true no more, the step from which on they are not."""
        self._true_relevant = 0
        """How many facts of R are true."""
        self._scores: list[float] = []
        """F1 at each decision point that has one."""
        self.misled: list[MisledAct] = []
        """The actions that failed with a false belief, in the order of the log."""

    def run(self) -> None:
        """Take all events that matter, in the order of the log."""
        for _, take in sorted(self._events(), key=itemgetter(0)):
            take()

    @property
    def f1(self) -> Value:
        """The mean over decision points."""
        return mean(self._scores)

    @property
    def misled_share(self) -> Value:
        """The share of failed actions whose agent asserted something false about what they named."""
        return share(len(self.misled), len(self._failures))

    def _events(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Yield place and effect of what happens."""
        sights, beliefs = self._knowledge.sights, self._table.all(Believe)
        believed = [self._knowledge.index[held.fact] for belief in beliefs for held in belief.held]
        is_wanted = np.array(self._is_relevant, np.bool_)
        is_wanted[believed] = True
        rows = np.flatnonzero((sights.agent == NOBODY) & is_wanted[sights.fact])
        columns = (column[rows].tolist() for column in (sights.seq, sights.step, sights.fact, sights.on))
        for seq, step, fact, on in zip(*columns, strict=True):
            yield seq, partial(self._flip, fact, step, on)
        for belief in beliefs:
            if belief.about is None:
                yield belief.seq, partial(self._believe, belief)
        for event in self._table.all(StageEntered):
            if event.stage == "W":
                yield event.seq, partial(self._decide, self._table.who[event.agent])
        for failure, act in zip(self._failures, self._table.failed, strict=True):
            yield act.seq, partial(self._fail, failure, act)

    def _count(self, agent: int, fact: int, sign: int) -> None:
        """Add a belief as it stands to its agent's sums, or take it off."""
        if self._is_relevant[fact] and self._chances[agent][fact] >= 0.5:
            self._asserted[agent] += sign
            self._right[agent] += sign * (fact in self._true)

    def _flip(self, fact: int, step: int, on: bool) -> None:
        """Let a fact become true, or be true no more."""
        if on == (fact in self._true):
            return
        holders = [agent for agent, chances in enumerate(self._chances) if fact in chances]
        for agent in holders:
            self._count(agent, fact, -1)
        if on:
            self._true.add(fact)
            self._ended.pop(fact, None)
        else:
            self._true.discard(fact)
            self._ended[fact] = step
        self._true_relevant += (1 if on else -1) * self._is_relevant[fact]
        for agent in holders:
            self._count(agent, fact, 1)

    def _believe(self, event: Believe) -> None:
        agent = self._table.who[event.agent]
        chances = self._chances[agent]
        changes = [(fact, None) for fact in event.dropped] + [(held.fact, held.probability) for held in event.held]
        for text, chance in changes:
            fact = self._knowledge.index.get(text, NOBODY)
            if fact in chances:
                self._count(agent, fact, -1)
                del chances[fact]
            if chance is not None:
                chances[fact] = chance
                self._count(agent, fact, 1)

    def _decide(self, agent: int) -> None:
        """Add what an agent believes at a decision point."""
        asserted, true = self._asserted[agent], self._true_relevant
        if asserted and true:
            self._scores.append(2 * self._right[agent] / (asserted + true))

    def _fail(self, failure: FailedAct, act: ActionStep) -> None:
        things = {self._knowledge.subjects.get(name) for name in failure.about}
        false = sorted(
            fact
            for fact, chance in self._chances[failure.agents[0]].items()
            if chance >= 0.5
            and self._is_judged[fact]
            and int(self._knowledge.subject[fact]) in things
            and fact not in self._true
        )
        if false:
            self.misled.append(MisledAct(act, {self._knowledge.facts[fact]: self._ended.get(fact) for fact in false}))


@primitive
def tracked_beliefs(table: EventTable) -> BeliefTracker | None:
    """Return what came of beliefs about the world; None where no agent declared any, or the log tells no truth."""
    if not table.has_beliefs or all(belief.about is not None for belief in table.all(Believe)):
        return None
    tracker = BeliefTracker(table)
    tracker.run()
    return tracker


@metric
def belief_f1(table: EventTable) -> Value:
    """Return how well beliefs agree with the truth, in what matters for the task."""
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else tracker.f1


@metric
def misled_failures(table: EventTable) -> Value:
    """Return the share of failed actions whose agent believed something false about what they named."""
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else tracker.misled_share


@metric
def first_order_accuracy(table: EventTable) -> Value:
    """Return the share of beliefs that another agent holds a fact, or lacks it, that are right when declared."""
    declared = [belief for belief in table.all(Believe) if belief.about in table.who]
    if not declared:
        return NULL
    knowledge = knowledge_of(table)
    rows = [
        (table.who[belief.about or ""], knowledge.index[held.fact], belief.seq, held.probability >= 0.5)
        for belief in declared
        for held in belief.held
    ]
    agent, fact, seq, has = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    right = knowledge.holds(agent, fact, seq) == (has > 0)
    return share(int(right.sum()), len(right))
