"""Repair: whether joint acts that will fail are foreseen, and whether mending their plans helps (metrics spec, D22).

A **warning** is a prediction that names the constraint which the next joint act on a goal will not meet; a prediction
that names none says that all will be met. A **repair** of a goal is the taking up, in one step, of plans for it whose
cause is ``repair``; the agents that take them up are the repaired group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.metrics.definition import NULL, Value, share
from teamworld.metrics.episode import Episode
from teamworld.metrics.words import tokens
from teamworld.record import AttemptMade, MessageSent, PlanStart, Predict

#: The cause of plans that repair.
CAUSE = "repair"
_NAMES = ("D22.precision", "D22.recall", "D22.f1", "D22.success", "D22.tokens", "D22.steps")


class _Repair(NamedTuple):
    """Plans for one goal that were taken up in one step to mend its joint act."""

    goal: str
    step: int
    first: int
    """Place in the log of the first of the plans."""
    last: int
    group: frozenset[str]


class _Outcomes:
    """The attempts on each goal, in the order of the log."""

    def __init__(self, attempts: Iterable[AttemptMade]) -> None:
        self._of: defaultdict[str, list[AttemptMade]] = defaultdict(list)
        for attempt in attempts:
            self._of[attempt.goal].append(attempt)

    def after(self, goal: str, seq: int) -> AttemptMade | None:
        """Return the first attempt after a place in the log."""
        some = self._of[goal]
        at = bisect_right(some, seq, key=lambda attempt: attempt.seq)
        return some[at] if at < len(some) else None


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure predictions of joint acts and repairs; null below the log level ``beliefs``."""
    if episode.start.log_level == "play":
        return dict.fromkeys(_NAMES, NULL)
    told = [one for one in episode.all(Predict) if one.subject == "constraint"]
    repairs, outcomes = _repairs(episode.all(PlanStart)), _Outcomes(episode.all(AttemptMade))
    return {**_foresight(told, repairs, outcomes), **_mending(episode, told, repairs, outcomes)}


def _repairs(plans: Sequence[PlanStart]) -> list[_Repair]:
    found: dict[tuple[int, str], list[PlanStart]] = {}
    for plan in plans:
        if plan.cause == CAUSE and plan.goal is not None:
            found.setdefault((plan.step, plan.goal), []).append(plan)
    return [
        _Repair(goal, step, some[0].seq, some[-1].seq, frozenset(plan.agent for plan in some))
        for (step, goal), some in found.items()
    ]


def _foresight(told: Sequence[Predict], repairs: Sequence[_Repair], outcomes: _Outcomes) -> dict[str, Value]:
    """Return precision, recall and F1 of warnings, over predictions that an attempt on their goal follows.

    Where one of these acts was repaired before it was tried, all three are null: what would have come of it otherwise
    the log does not tell, and to leave out those that were warned of and mended would count the missed ones alone.
    """
    mended: defaultdict[str, list[int]] = defaultdict(list)
    for repair in repairs:
        mended[repair.goal].append(repair.first)
    hits = alarms = misses = 0
    for one in told:
        attempt = outcomes.after(one.about, one.seq)
        if attempt is None:
            continue
        places = mended[one.about]
        at = bisect_left(places, one.seq)
        if at < len(places) and places[at] < attempt.seq:
            return dict.fromkeys(_NAMES[:3], NULL)
        warned = one.value is not None
        hits += warned and not attempt.success
        alarms += warned and attempt.success
        misses += not warned and not attempt.success
    values = share(hits, hits + alarms), share(hits, hits + misses), share(2 * hits, 2 * hits + alarms + misses)
    return dict(zip(_NAMES[:3], values, strict=True))


def _mending(
    episode: Episode, told: Sequence[Predict], repairs: Sequence[_Repair], outcomes: _Outcomes
) -> dict[str, Value]:
    """Return how many repairs were followed by success before the next repair, and what they took from the warning.

    A repair that nobody warned of since the attempt or repair before has no beginning, so no cost either.
    """
    warned: defaultdict[str, list[Predict]] = defaultdict(list)
    for one in told:
        if one.value is not None:
            warned[one.about].append(one)
    following: dict[str, int] = {}
    won = 0
    for repair in reversed(repairs):
        attempt = outcomes.after(repair.goal, repair.last)
        in_time = attempt is not None and attempt.seq < following.get(repair.goal, attempt.seq + 1)
        won += attempt is not None and in_time and attempt.success
        following[repair.goal] = repair.first
    messages: list[MessageSent] = episode.all(MessageSent)
    since: dict[str, int] = {}
    spent = steps = known = 0
    for repair in repairs:
        warning = next((one for one in warned[repair.goal] if _warns(one, repair, since, outcomes)), None)
        since[repair.goal] = repair.last
        if warning is None:
            continue
        known += 1
        steps += repair.step - warning.step
        circle = {*repair.group, warning.agent}
        low, high = (bisect_left(messages, seq, key=lambda one: one.seq) for seq in (warning.seq, repair.first))
        spent += sum(len(tokens(one.text)) for one in messages[low:high] if one.agent in circle)
    return {
        "D22.success": share(won, len(repairs)),
        "D22.tokens": share(spent, known),
        "D22.steps": share(steps, known),
    }


def _warns(one: Predict, repair: _Repair, since: Mapping[str, int], outcomes: _Outcomes) -> bool:
    """Whether a warning is of the act that a repair mends: no attempt or repair stands between them."""
    if not since.get(repair.goal, -1) < one.seq < repair.first:
        return False
    attempt = outcomes.after(repair.goal, one.seq)
    return attempt is None or attempt.seq > repair.first
