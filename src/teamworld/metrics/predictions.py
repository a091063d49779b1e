"""Predictions of goals, conflicts and failing joint acts, and repairs; null where no agent declares any.

A **warning** is a prediction that names the constraint which the next joint act on a goal will not meet; a prediction
that names none says that all will be met. A **repair** of a goal is the taking up, in one step, of plans for it whose
cause is ``repair``; the agents that take them up are the repaired group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from teamworld.metrics.coordination import overstaffings
from teamworld.metrics.definition import NULL, Value, metric, metric_family, share
from teamworld.metrics.event_table import NOBODY, EventTable, primitive
from teamworld.metrics.messages import tokenize
from teamworld.record import AttemptMade, Commit, MessageSent, PlanStart, Predict

#: Steps within which a declared conflict has to occur.
WITHIN: Final = 10
#: The cause of plans that repair.
CAUSE: Final = "repair"


@metric_family("intent_accuracy", "intent_in_set")
def intents(table: EventTable) -> tuple[Value, Value]:
    """Return the shares of predictions whose first goal, and of which any, the teammate commits itself to next."""
    commits_of: defaultdict[str, list[Commit]] = defaultdict(list)
    for commit in table.all(Commit):
        commits_of[commit.agent].append(commit)
    first = named = number = 0
    for prediction in table.all(Predict):
        if prediction.subject != "partner_goal":
            continue
        commits = commits_of[prediction.about]
        at = bisect_right(commits, prediction.seq, key=attrgetter("seq"))
        if at < len(commits):
            value = prediction.value if isinstance(prediction.value, tuple) else (prediction.value,)
            number += 1
            first += commits[at].goal in value[:1]
            named += commits[at].goal in value
    return share(first, number), share(named, number)


class _Conflict(NamedTuple):
    """Two agents in each other's way, or on a goal that takes only one of them."""

    step: int
    agents: frozenset[str]
    goal: str | None
    """None for one over a place."""


@metric_family("conflict_precision", "conflict_recall")
def declared_conflicts(table: EventTable) -> tuple[Value, Value]:
    """Return the share of declared conflicts that occur in time, and that of conflicts that were declared in time."""
    declared = [prediction for prediction in table.all(Predict) if prediction.subject == "conflict"]
    if not declared:
        return NULL, NULL
    occurred = sorted(_conflicts(table), key=lambda conflict: conflict.step)
    by_agent: defaultdict[str, list[_Conflict]] = defaultdict(list)
    for conflict in occurred:
        for agent in conflict.agents:
            by_agent[agent].append(conflict)
    right, foreseen = 0, set[int]()
    for prediction in declared:
        conflicts = by_agent[prediction.agent]
        first = bisect_left(conflicts, prediction.step, key=attrgetter("step"))
        last = bisect_right(conflicts, prediction.step + WITHIN, key=attrgetter("step"))
        fitting = [conflict for conflict in conflicts[first:last] if _fits(prediction, conflict)]
        right += bool(fitting)
        foreseen |= set(map(id, fitting))
    return share(right, len(declared)), share(len(foreseen), len(occurred))


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


# ---- warnings and repairs


class _Repair(NamedTuple):
    """Plans for one goal that were taken up in one step to mend its joint act."""

    goal: str
    step: int
    first: int
    """Place in the log of the first of the plans."""
    last: int
    group: frozenset[str]


@metric
def repair_success(table: EventTable) -> Value:
    """Return the share of repairs that success follows before the next repair of the goal."""
    repairs = _repairs(table)
    following: dict[str, int] = {}
    won = 0
    for repair in reversed(repairs):
        attempt = _attempt_after(table, repair.goal, repair.last)
        in_time = attempt is not None and attempt.seq < following.get(repair.goal, attempt.seq + 1)
        won += attempt is not None and in_time and attempt.success
        following[repair.goal] = repair.first
    return share(won, len(repairs))


@primitive
def _predictions(table: EventTable) -> list[Predict]:
    return [prediction for prediction in table.all(Predict) if prediction.subject == "constraint"]


@primitive
def _attempts(table: EventTable) -> dict[str, list[AttemptMade]]:
    """Return the attempts on each goal, in the order of the log."""
    attempts: dict[str, list[AttemptMade]] = {}
    for attempt in table.all(AttemptMade):
        attempts.setdefault(attempt.goal, []).append(attempt)
    return attempts


def _attempt_after(table: EventTable, goal: str, seq: int) -> AttemptMade | None:
    """Return the first attempt on a goal after a place in the log."""
    attempts = _attempts(table).get(goal, [])
    at = bisect_right(attempts, seq, key=lambda attempt: attempt.seq)
    return attempts[at] if at < len(attempts) else None


@primitive
def _repairs(table: EventTable) -> list[_Repair]:
    groups: dict[tuple[int, str], list[PlanStart]] = {}
    for plan in table.all(PlanStart):
        if plan.cause == CAUSE and plan.goal is not None:
            groups.setdefault((plan.step, plan.goal), []).append(plan)
    return [
        _Repair(goal, step, plans[0].seq, plans[-1].seq, frozenset(plan.agent for plan in plans))
        for (step, goal), plans in groups.items()
    ]


@metric_family("warning_precision", "warning_recall", "warning_f1")
def warnings(table: EventTable) -> tuple[Value, Value, Value]:
    """Return how many warnings come true, how many failing attempts were warned of, and the harmonic mean of both.

    Null where one of these acts was repaired before it was tried: the log does not tell what would have come of it
    otherwise, and to leave out those that were warned of and mended would count the missed ones alone.
    """
    mended: defaultdict[str, list[int]] = defaultdict(list)
    for repair in _repairs(table):
        mended[repair.goal].append(repair.first)
    right = false_alarms = misses = 0
    for prediction in _predictions(table):
        attempt = _attempt_after(table, prediction.about, prediction.seq)
        if attempt is None:
            continue
        places = mended[prediction.about]
        if any(place < attempt.seq for place in places[bisect_left(places, prediction.seq) :][:1]):
            return NULL, NULL, NULL
        is_warning = prediction.value is not None
        right += is_warning and not attempt.success
        false_alarms += is_warning and attempt.success
        misses += not is_warning and not attempt.success
    f1 = share(2 * right, 2 * right + false_alarms + misses)
    return share(right, right + false_alarms), share(right, right + misses), f1


@metric_family("repair_tokens", "repair_steps")
def repair_cost(table: EventTable) -> tuple[Value, Value]:
    """Return the tokens of messages and the steps from the first warning to the repair.

    A repair that no warning precedes since the attempt or repair before has no cost.
    """
    warnings: defaultdict[str, list[Predict]] = defaultdict(list)
    for prediction in _predictions(table):
        if prediction.value is not None:
            warnings[prediction.about].append(prediction)
    messages: list[MessageSent] = table.all(MessageSent)
    since: dict[str, int] = {}
    tokens = steps = warned = 0
    for repair in _repairs(table):
        warning = next((warning for warning in warnings[repair.goal] if _warns(table, warning, repair, since)), None)
        since[repair.goal] = repair.last
        if warning is not None:
            warned += 1
            steps += repair.step - warning.step
            speakers = {*repair.group, warning.agent}
            low, high = (bisect_left(messages, seq, key=attrgetter("seq")) for seq in (warning.seq, repair.first))
            tokens += sum(len(tokenize(sent.text)) for sent in messages[low:high] if sent.agent in speakers)
    return share(tokens, warned), share(steps, warned)


def _warns(table: EventTable, warning: Predict, repair: _Repair, since: Mapping[str, int]) -> bool:
    """Return whether a warning is of the act that a repair mends: no attempt or repair stands between them."""
    if not since.get(repair.goal, -1) < warning.seq < repair.first:
        return False
    attempt = _attempt_after(table, repair.goal, warning.seq)
    return attempt is None or attempt.seq > repair.first
