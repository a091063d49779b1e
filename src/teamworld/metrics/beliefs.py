"""Beliefs about the world, and about what teammates know, against what was; null where no agent declared any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from math import fsum
from typing import Final, NamedTuple

import numpy as np

from teamworld.metrics.definition import NULL, Value, mean, metric, only, register, share
from teamworld.metrics.knowledge import knowledge_of
from teamworld.metrics.tables.belief_tracker import BeliefTracker, RunningRatio, tracked_beliefs
from teamworld.metrics.tables.event_table import EventTable, primitive
from teamworld.record import Believe, MessageSent

_RATIOS: Final[Mapping[str, Callable[[BeliefTracker], RunningRatio]]] = {
    "belief_f1": lambda tracker: tracker.f1,
    "belief_precision": lambda tracker: tracker.precision,
    "belief_recall": lambda tracker: tracker.recall,
    "belief_staleness": lambda tracker: tracker.staleness,
    "stale_beliefs": lambda tracker: tracker.stale,
    "belief_brier": lambda tracker: tracker.brier,
}


def _ratio(table: EventTable, of: Callable[[BeliefTracker], RunningRatio]) -> Value:
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else share(of(tracker).num, of(tracker).den)


for _name, _of in _RATIOS.items():
    register(_name, partial(_ratio, of=_of))


@metric
def misled_failures(table: EventTable) -> Value:
    """Return the share of failed actions whose agent believed something false about what the action named."""
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else share(len(tracker.misled), len(tracker.failures))


@metric
def belief_calibration(table: EventTable) -> Value:
    """Return the expected calibration error of beliefs at decision points."""
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else share(fsum(map(abs, tracker.gaps)), tracker.brier.den)


@metric
def belief_convergence(table: EventTable) -> Value:
    """Return the mean over steps of how alike the assertions of any two agents are."""
    tracker = tracked_beliefs(table)
    return NULL if tracker is None else mean(tracker.overlap.means)


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


class _Sent(NamedTuple):
    """Facts that senders believed recipients to lack or to hold when they sent them a message."""

    lacking: Value
    """Those that were sent, of those believed to be lacking."""
    holding: Value
    """Those that were sent, of those believed to be held."""


@primitive
def _sent(table: EventTable) -> _Sent:
    thinks: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    holding: defaultdict[tuple[str, str], int] = defaultdict(int)
    sent, could = [0, 0], [0, 0]
    events: list[Believe | MessageSent] = table.all(Believe, MessageSent)
    for event in events:
        if isinstance(event, Believe):
            if event.about is None:
                continue
            pair = event.agent, event.about
            for fact in (*event.dropped, *(held.fact for held in event.held)):
                holding[pair] -= thinks[pair].pop(fact, False)
            for held in event.held:
                thinks[pair][held.fact] = held.probability >= 0.5
                holding[pair] += held.probability >= 0.5
            continue
        for recipient in event.recipients:
            pair = event.agent, recipient
            if recipient == event.agent or pair not in thinks:
                continue
            could[True] += holding[pair]
            could[False] += len(thinks[pair]) - holding[pair]
            for fact in dict.fromkeys(event.facts):
                if fact in thinks[pair]:
                    sent[thinks[pair][fact]] += 1
    return _Sent(share(sent[False], could[False]), share(sent[True], could[True]))


@metric
def sent_to_lacking(table: EventTable) -> Value:
    """Return the share of facts that were sent, of those that the sender believed the recipient to lack."""
    return _sent(table).lacking


@metric
def sent_to_holding(table: EventTable) -> Value:
    """Return the share of facts that were sent, of those that the sender believed the recipient to hold."""
    return _sent(table).holding


@metric
def receiver_sensitivity(table: EventTable) -> Value:
    """Return how much likelier a fact is sent to a recipient that is believed to lack it."""
    lacking, holding = _sent(table)
    if lacking.value is None or holding.value is None:
        return NULL
    return only(lacking.value - holding.value, (lacking.den or 0.0) + (holding.den or 0.0))
