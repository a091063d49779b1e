"""Coordination: joint acts, plans, commitments, agents in one another's way, standstill, going to and fro."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, get_args

import numpy as np

from teamworld.metrics.definition import Value, metric, metric_family, share
from teamworld.metrics.event_table import NOBODY, EventTable, Flags, consecutive_runs, primitive
from teamworld.record import AttemptMade, GoalChange, PlanEnd, PlanStart
from teamworld.worlds.contract import Constraint

#: In the order in which the first unmet one is named.
CONSTRAINTS: Final[tuple[Constraint, ...]] = get_args(Constraint)
#: Steps without any movement or effect that make a deadlock.
STILL: Final = 8


# ---- joint acts


def first_unmet(attempt: AttemptMade) -> Constraint | None:
    """Return the first unmet constraint of an attempt; None if all that were counted were met."""
    return next((name for name in CONSTRAINTS if attempt.have.get(name, 0) < attempt.need.get(name, 0)), None)


@metric
def joint_success(table: EventTable) -> Value:
    """Return the share of attempts with a quorum of two or more that succeed."""
    joint = [attempt for attempt in table.all(AttemptMade) if attempt.k >= 2]
    return share(sum(attempt.success for attempt in joint), len(joint))


@metric_family(*(f"unmet_{constraint}" for constraint in CONSTRAINTS))
def unmet_shares(table: EventTable) -> Sequence[Value]:
    """Return the shares of failed attempts by their first unmet constraint."""
    first = Counter(first_unmet(attempt) for attempt in table.all(AttemptMade) if not attempt.success)
    return [share(first[constraint], first.total()) for constraint in CONSTRAINTS]


@metric
def attempt_coverage(table: EventTable) -> Value:
    """Return the share of goals with a quorum of two or more that saw an attempt."""
    tried = {attempt.goal for attempt in table.all(AttemptMade)}
    joint = [goal.id for goal in table.start.goals if goal.quorum >= 2]
    return share(sum(goal in tried for goal in joint), len(joint))


# ---- plans


@metric_family("plan_success", "plan_reuse")
def plan_shares(table: EventTable) -> tuple[Value, Value]:
    """Return the shares of ended plans that end well, and of plans that come from a memory.

    A plan ends well if its actions were all done, whether or not that did its goal.
    """
    plans = table.all(PlanStart)
    reused = sum(plan.origin == "reused" for plan in plans)
    return share(len(table.carried_out), len(table.all(PlanEnd))), share(reused, len(plans))


# ---- commitments


@metric
def commitment_reliability(table: EventTable) -> Value:
    """Return the share of commitments that are kept.

    One is kept if its goal was done while it held, or its release was agreed; one made again to the same goal is one
    with that before.
    """
    latest = {(held.agent, held.goal): held for held in table.commitments}
    since: dict[tuple[int, int], int] = {}
    kept = number = 0
    for commitment in table.commitments:
        key = commitment.agent, commitment.goal
        first = since.setdefault(key, commitment.first)
        if commitment.cause is None and commitment is not latest[key]:
            continue  # made again
        del since[key]
        done = table.done.get(table.goals[commitment.goal])
        was_done = done is not None and first <= done < commitment.end
        kept += commitment.cause in ("done", "agreed") or was_done
        number += 1
    return share(kept, number)


# ---- conflict


@metric
def spatial_conflict(table: EventTable) -> Value:
    """Return the share of tried moves that failed because of another agent."""
    blocked = table.acts.in_class("blocked")
    return share(int((blocked & (table.acts.blocker != NOBODY)).sum()), int((table.acts.moved | blocked).sum()))


@primitive
def deadlocks(table: EventTable) -> list[tuple[int, int]]:
    """Return the long runs of steps in which no agent moves and nothing changes though goals are open.

    Returns:
        The first step of each, and the step after its last.
    """
    acts, changes = table.acts, table.all(GoalChange)
    over = {change.goal: change.step for change in changes if change.event in ("done", "lost")}
    goals = {*(goal.id for goal in table.start.goals), *(change.goal for change in changes)}
    last = max((over.get(goal, table.steps) for goal in goals), default=-1)
    still = np.arange(table.steps) <= last
    still[acts.step[acts.moved | acts.effect]] = False
    still[[change.step for change in changes if change.step < table.steps]] = False
    runs = consecutive_runs(np.flatnonzero(still).tolist())
    return [(first, last + 1) for first, last in runs if last - first + 1 >= STILL]


def place_swings(table: EventTable) -> Flags:
    """Return the steps (T, N) that lead an agent from A to B, back to A, and to B again."""
    acts, row = table.acts, table.row
    inside = np.zeros(row.shape, np.bool_)
    if len(row) < 3:
        return inside
    place = np.append(acts.place, NOBODY)[row]  # row NOBODY, -1, is the last one
    after = np.append(np.where(acts.moved & (acts.aim != NOBODY), acts.aim, acts.place), NOBODY)[row[-1:]]
    at = np.concatenate((place, after))
    first, second, third, fourth = at[:-3], at[1:-2], at[2:-1], at[3:]
    is_known = (first != NOBODY) & (second != NOBODY)
    swings = (first == third) & (second == fourth) & (first != second) & is_known
    for shift in range(3):
        inside[shift : shift + len(swings)] |= swings
    return inside
