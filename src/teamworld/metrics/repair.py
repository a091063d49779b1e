"""Repair: whether joint acts that will fail are foreseen, and whether mending their plans helps.

A **warning** is a prediction that names the constraint which the next joint act on a goal will not meet; a prediction
that names none says that all will be met. A **repair** of a goal is the taking up, in one step, of plans for it whose
cause is ``repair``; the agents that take them up are the repaired group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from teamworld.metrics.definition import NULL, Value, metric, share
from teamworld.metrics.message_text import tokenize
from teamworld.metrics.tables.event_table import EventTable, primitive
from teamworld.record import AttemptMade, MessageSent, PlanStart, Predict

#: The cause of plans that repair.
CAUSE = "repair"


class _Repair(NamedTuple):
    """Plans for one goal that were taken up in one step to mend its joint act."""

    goal: str
    step: int
    first: int
    """Place in the log of the first of the plans."""
    last: int
    group: frozenset[str]


class _Warnings(NamedTuple):
    """Predictions of joint acts that an attempt on their goal follows."""

    right: int
    false_alarms: int
    misses: int


class _RepairCost(NamedTuple):
    """What repairs took from the first warning on, over those that had one."""

    tokens: int
    steps: int
    warned: int


@metric
def warning_precision(table: EventTable) -> Value:
    """Return the share of warnings whose attempt fails."""
    warnings = _warnings(table)
    return NULL if warnings is None else share(warnings.right, warnings.right + warnings.false_alarms)


@metric
def warning_recall(table: EventTable) -> Value:
    """Return the share of failing attempts that were warned of, of those with a prediction."""
    warnings = _warnings(table)
    return NULL if warnings is None else share(warnings.right, warnings.right + warnings.misses)


@metric
def warning_f1(table: EventTable) -> Value:
    """Return the harmonic mean of both."""
    warnings = _warnings(table)
    return NULL if warnings is None else share(2 * warnings.right, 2 * warnings.right + sum(warnings[1:]))


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


@metric
def repair_tokens(table: EventTable) -> Value:
    """Return the tokens of messages that a repair takes."""
    return share(_cost(table).tokens, _cost(table).warned)


@metric
def repair_steps(table: EventTable) -> Value:
    """Return the steps from the first warning to the repair."""
    return share(_cost(table).steps, _cost(table).warned)


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


@primitive
def _warnings(table: EventTable) -> _Warnings | None:
    """Return what came of predictions; None where one of these acts was repaired before it was tried.

    The log does not tell what would have come of it otherwise, and to leave out those that were warned of and mended
    would count the missed ones alone.
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
        at = bisect_left(places, prediction.seq)
        if at < len(places) and places[at] < attempt.seq:
            return None
        warned = prediction.value is not None
        right += warned and not attempt.success
        false_alarms += warned and attempt.success
        misses += not warned and not attempt.success
    return _Warnings(right, false_alarms, misses)


@primitive
def _cost(table: EventTable) -> _RepairCost:
    """Return what repairs took; one that no warning precedes since the attempt or repair before has no cost."""
    warnings: defaultdict[str, list[Predict]] = defaultdict(list)
    for prediction in _predictions(table):
        if prediction.value is not None:
            warnings[prediction.about].append(prediction)
    messages: list[MessageSent] = table.all(MessageSent)
    since: dict[str, int] = {}
    spent = steps = warned = 0
    for repair in _repairs(table):
        warning = next(
            (candidate for candidate in warnings[repair.goal] if _warns(table, candidate, repair, since)), None
        )
        since[repair.goal] = repair.last
        if warning is None:
            continue
        warned += 1
        steps += repair.step - warning.step
        speakers = {*repair.group, warning.agent}
        low, high = (bisect_left(messages, seq, key=lambda sent: sent.seq) for seq in (warning.seq, repair.first))
        spent += sum(len(tokenize(sent.text)) for sent in messages[low:high] if sent.agent in speakers)
    return _RepairCost(spent, steps, warned)


def _warns(table: EventTable, warning: Predict, repair: _Repair, since: Mapping[str, int]) -> bool:
    """Return whether a warning is of the act that a repair mends: no attempt or repair stands between them."""
    if not since.get(repair.goal, -1) < warning.seq < repair.first:
        return False
    attempt = _attempt_after(table, repair.goal, warning.seq)
    return attempt is None or attempt.seq > repair.first
