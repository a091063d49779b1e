"""Beliefs about the world, and about what teammates know, against what was; null where no agent declared any.

An agent **asserts** a fact that it believes with a probability of one half or more. A **decision point** is an agent's
entry into stage W: it has decided. **R**, what matters for the task, are the facts about agents and about the things of
goals. Facts of a kind that the truth never tells are left out: they are neither right nor wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from typing import Final, NamedTuple

import numpy as np

from teamworld.metrics.definition import NULL, Value, metric, metric_family, only, share
from teamworld.metrics.event_table import NOBODY, EventTable, primitive
from teamworld.metrics.knowledge import knowledge_of
from teamworld.metrics.message_content import FailedAct, failed_acts
from teamworld.record import ActionStep, Believe, MessageSent, StageEntered

#: Metrics of beliefs about the world.
RATIOS: Final = (
    *("belief_f1", "belief_precision", "belief_recall", "belief_staleness", "stale_beliefs", "belief_brier"),
    *("misled_failures", "belief_calibration", "belief_convergence"),
)
BINS: Final = 10
"""Of the expected calibration error."""
#: Places in an agent's sums of beliefs: how many it holds with any probability, and asserts; of those it asserts, how
#: many are in R, are in R and true, are true no more, and the sum of the steps from which on these are not; the sum of
#: (probability - truth)²; from ``_GAPS`` on, the sums of probability - truth by bins of probability.
_JUDGED, _ASSERTED, _RELEVANT, _RIGHT, _STALE, _SINCE, _SQUARE, _GAPS = range(8)


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
        knowledge, team = self._knowledge, len(table.team)
        things = {goal.thing for goal in table.start.goals} | set(table.team)
        is_about_task = np.array([name in things for name in knowledge.subjects], np.bool_)
        self._is_judged: list[bool] = knowledge.judged.tolist()
        self._is_relevant: list[bool] = (is_about_task[knowledge.subject] & knowledge.judged).tolist()
        self._failures = failed_acts(table, attempts=False)
        self._chances: list[dict[int, float]] = [{} for _ in table.team]
        """Of each agent, the probability of each fact that it believes."""
        self._sums = [[0.0] * (_GAPS + BINS) for _ in table.team]
        self._true: set[int] = set()
        self._ended: dict[int, int] = {}
        """For facts that are true no more, the step from which on they are not."""
        self._true_relevant = 0
        """How many facts of R are true."""
        self._gaps = [0.0] * BINS
        self._asserts = np.zeros((team, len(knowledge.facts)), np.bool_)
        """Which facts of R each agent asserts."""
        self._common = np.zeros((team, team), np.int64)
        """Facts of R that both assert; on the diagonal, those that one does."""
        self._likeness: float | None = None
        self._has_changed = False
        self._likenesses: list[float] = []
        self.ratios: defaultdict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        """By metric, numerator and denominator."""
        self.misled: list[MisledAct] = []
        """The actions that failed with a false belief, in the order of the log."""

    def run(self) -> None:
        """Take all events that matter, in the order of the log."""
        ended = 0
        for _, step, take in sorted(self._events(), key=lambda event: event[0]):
            while ended < min(step, self._table.steps):
                self._end_step()
                ended += 1
            take()
        for _ in range(ended, self._table.steps):
            self._end_step()
        self.ratios["misled_failures"] = len(self.misled), len(self._failures)
        self.ratios["belief_calibration"] = fsum(map(abs, self._gaps)), self.ratios["belief_brier"][1]
        self.ratios["belief_convergence"] = fsum(self._likenesses), len(self._likenesses)

    def _events(self) -> Iterator[tuple[int, int, Callable[[], None]]]:
        """Yield place, step and effect of what happens."""
        sights, beliefs = self._knowledge.sights, self._table.all(Believe)
        believed = [self._knowledge.index[held.fact] for belief in beliefs for held in belief.held]
        is_wanted = np.array(self._is_relevant, np.bool_)
        is_wanted[believed] = True
        rows = np.flatnonzero((sights.agent == NOBODY) & is_wanted[sights.fact])
        columns = (column[rows].tolist() for column in (sights.seq, sights.step, sights.fact, sights.on))
        for seq, step, fact, on in zip(*columns, strict=True):
            yield seq, step, partial(self._flip, fact, step, on)
        for belief in beliefs:
            if belief.about is None:
                yield belief.seq, belief.step, partial(self._believe, belief)
        for event in self._table.all(StageEntered):
            if event.stage == "W":
                yield event.seq, event.step, partial(self._decide, self._table.who[event.agent], event.step)
        for failure, act in zip(self._failures, self._table.failed, strict=True):
            yield act.seq, act.step, partial(self._fail, failure, act)

    def _count(self, agent: int, fact: int, sign: int) -> None:
        """Add a belief as it stands to its agent's sums, or take it off."""
        if not self._is_judged[fact]:
            return
        chance, is_true = self._chances[agent][fact], fact in self._true
        gap = chance - is_true
        parts = {_JUDGED: 1, _SQUARE: gap * gap, _GAPS + min(BINS - 1, int(chance * BINS)): gap}
        if chance >= 0.5:
            parts[_ASSERTED] = 1
            if not is_true and fact in self._ended:
                parts |= {_STALE: 1, _SINCE: self._ended[fact]}
            if self._is_relevant[fact]:
                parts |= {_RELEVANT: 1, _RIGHT: is_true}
                self._assert(agent, fact, sign)
        sums = self._sums[agent]
        for place, part in parts.items():
            sums[place] += sign * part

    def _assert(self, agent: int, fact: int, sign: int) -> None:
        """Let an agent assert a fact of R from now on, or no longer."""
        self._asserts[agent, fact] = True
        self._common[agent] += sign * self._asserts[:, fact]
        self._common[:, agent] = self._common[agent]
        self._asserts[agent, fact] = sign > 0
        self._has_changed = True

    def _end_step(self) -> None:
        """Take the mean Jaccard likeness of two agents' assertions, over the pairs that assert anything."""
        if self._has_changed:
            first, second = np.triu_indices(len(self._common), 1)
            common, own = self._common[first, second], self._common.diagonal()
            either = own[first] + own[second] - common
            ratios = (common[either > 0] / either[either > 0]).tolist()
            self._likeness = fsum(ratios) / len(ratios) if ratios else None
            self._has_changed = False
        if self._likeness is not None:
            self._likenesses.append(self._likeness)

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

    def _decide(self, agent: int, step: int) -> None:
        """Add what an agent believes at a decision point."""
        judged, asserted, relevant, right, stale, since, square, *gaps = self._sums[agent]
        true = self._true_relevant
        if relevant:
            self._add("belief_precision", right / relevant)
        if true:
            self._add("belief_recall", right / true)
        if relevant and true:
            self._add("belief_f1", 2 * right / (relevant + true))
        self._add("belief_staleness", stale * step - since, stale)
        self._add("stale_beliefs", stale, asserted)
        self._add("belief_brier", max(0.0, square), judged)
        self._gaps = [whole + gap for whole, gap in zip(self._gaps, gaps, strict=True)]

    def _add(self, name: str, num: float, den: float = 1.0) -> None:
        whole = self.ratios[name]
        self.ratios[name] = whole[0] + num, whole[1] + den

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


@metric_family(*RATIOS)
def belief_ratios(table: EventTable) -> Sequence[Value]:
    """Return what came of beliefs about the world, by ``RATIOS``."""
    tracker = tracked_beliefs(table)
    return [NULL if tracker is None else share(*tracker.ratios[name]) for name in RATIOS]


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


@metric_family("sent_to_lacking", "sent_to_holding", "receiver_sensitivity")
def sent_facts(table: EventTable) -> tuple[Value, Value, Value]:
    """Return the shares of facts sent, of those recipients were believed to lack and to hold, and their difference."""
    thoughts: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    sent, could = [0, 0], [0, 0]
    events: list[Believe | MessageSent] = table.all(Believe, MessageSent)
    for event in events:
        if isinstance(event, MessageSent):
            for recipient in set(event.recipients) - {event.agent}:
                thought = thoughts[event.agent, recipient]
                could[True] += sum(thought.values())
                could[False] += len(thought) - sum(thought.values())
                for fact in thought.keys() & event.facts:
                    sent[thought[fact]] += 1
        elif event.about is not None:
            thought = thoughts[event.agent, event.about]
            for fact in event.dropped:
                thought.pop(fact, None)
            thought |= {held.fact: held.probability >= 0.5 for held in event.held}
    lacking, holding = share(sent[False], could[False]), share(sent[True], could[True])
    if lacking.value is None or holding.value is None:
        return lacking, holding, NULL
    return lacking, holding, only(lacking.value - holding.value, sum(could))
