"""Predictions: what teammates will do next, and which conflicts will occur; null where no agent declares any."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from teamworld.metrics.commitments import overstaffings
from teamworld.metrics.definition import NULL, Value, metric, share
from teamworld.metrics.tables.event_table import NOBODY, EventTable, primitive
from teamworld.record import Commit, Predict

#: Steps within which a declared conflict has to occur.
WITHIN: Final = 10


class _Intents(NamedTuple):
    """Predictions of agents that commit themselves to a goal afterwards."""

    first: int
    """Those whose first goal is this goal."""
    named: int
    """Those that name this goal."""
    number: int


@primitive
def _intents(table: EventTable) -> _Intents:
    next_of: defaultdict[str, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    for commit in table.all(Commit):
        next_of[commit.agent][0].append(commit.seq)
        next_of[commit.agent][1].append(commit.goal)
    first = named = number = 0
    for prediction in table.all(Predict):
        if prediction.subject != "partner_goal":
            continue
        places, goals = next_of[prediction.about]
        at = bisect_right(places, prediction.seq)
        if at < len(places):
            value = prediction.value if isinstance(prediction.value, tuple) else (prediction.value,)
            number += 1
            first += goals[at] in value[:1]
            named += goals[at] in value
    return _Intents(first, named, number)


@metric
def intent_accuracy(table: EventTable) -> Value:
    """Return the share of predictions whose first goal is the one that the teammate commits itself to next."""
    return share(_intents(table).first, _intents(table).number)


@metric
def intent_in_set(table: EventTable) -> Value:
    """Return the share of predictions that name the goal that the teammate commits itself to next."""
    return share(_intents(table).named, _intents(table).number)


class _Conflict(NamedTuple):
    """Two agents in each other's way, or on a goal that takes only one of them."""

    step: int
    agents: frozenset[str]
    goal: str | None
    """None for one over a place."""


class _Declared(NamedTuple):
    """Conflicts that were declared, and those that occurred."""

    right: int
    """Declared ones that one that they fit follows in time."""
    declared: int
    foreseen: int
    """Those that a declared one fits."""
    occurred: int


@primitive
def _declared_conflicts(table: EventTable) -> _Declared | None:
    declared = [prediction for prediction in table.all(Predict) if prediction.subject == "conflict"]
    if not declared:
        return None
    occurred = sorted(_conflicts(table), key=lambda conflict: conflict.step)
    by_agent: defaultdict[str, list[_Conflict]] = defaultdict(list)
    for conflict in occurred:
        for agent in conflict.agents:
            by_agent[agent].append(conflict)
    steps = {agent: [conflict.step for conflict in own] for agent, own in by_agent.items()}
    right, foreseen = 0, set[int]()
    for prediction in declared:
        first = bisect_left(steps.get(prediction.agent, ()), prediction.step)
        last = bisect_right(steps.get(prediction.agent, ()), prediction.step + WITHIN)
        fitting = [conflict for conflict in by_agent[prediction.agent][first:last] if _fits(prediction, conflict)]
        right += bool(fitting)
        foreseen |= set(map(id, fitting))
    return _Declared(right, len(declared), len(foreseen), len(occurred))


def _fits(prediction: Predict, conflict: _Conflict) -> bool:
    is_over_it = prediction.value is None or prediction.value == conflict.goal
    return is_over_it and (prediction.about in conflict.agents or prediction.about == conflict.goal)


def _conflicts(table: EventTable) -> Sequence[_Conflict]:
    """Return where an agent is in another's way, and the commitments beyond what a goal takes."""
    acts, team = table.acts, table.team
    rows = np.flatnonzero((acts.blocker != NOBODY) & ~acts.moved).tolist()
    blocked = [
        _Conflict(int(acts.step[row]), frozenset((team[acts.agent[row]], team[acts.blocker[row]])), None)
        for row in rows
    ]
    over_goals = [
        _Conflict(commit.step, frozenset((commit.agent, other)), commit.goal)
        for commit in overstaffings(table)
        for other in commit.others
    ]
    return blocked + over_goals


@metric
def conflict_precision(table: EventTable) -> Value:
    """Return the share of declared conflicts that occur in time."""
    conflicts = _declared_conflicts(table)
    return NULL if conflicts is None else share(conflicts.right, conflicts.declared)


@metric
def conflict_recall(table: EventTable) -> Value:
    """Return the share of conflicts that were declared in time."""
    conflicts = _declared_conflicts(table)
    return NULL if conflicts is None else share(conflicts.foreseen, conflicts.occurred)
