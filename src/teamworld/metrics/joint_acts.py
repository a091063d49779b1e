"""Joint acts: attempts on goals, and which constraint of them is not met."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import get_args

from teamworld.metrics.definition import Value, metric, register, share
from teamworld.metrics.tables.event_table import EventTable, primitive
from teamworld.record import AttemptMade
from teamworld.worlds.contract import Constraint

#: In the order in which the first unmet one is named.
CONSTRAINTS: tuple[Constraint, ...] = get_args(Constraint)


def first_unmet(attempt: AttemptMade) -> Constraint | None:
    """Return the first unmet constraint of an attempt; None if all that were counted were met."""
    return next((name for name in CONSTRAINTS if attempt.have.get(name, 0) < attempt.need.get(name, 0)), None)


@metric
def joint_success(table: EventTable) -> Value:
    """Return the share of attempts with a quorum of two or more that succeed."""
    joint = [attempt for attempt in table.all(AttemptMade) if attempt.k >= 2]
    return share(sum(attempt.success for attempt in joint), len(joint))


@primitive
def _causes(table: EventTable) -> Counter[Constraint | None]:
    return Counter(first_unmet(attempt) for attempt in table.all(AttemptMade) if not attempt.success)


def _failed_by(table: EventTable, constraint: Constraint | None) -> Value:
    """Return the share of failed attempts whose first unmet constraint is this; None: no unmet one was counted."""
    return share(_causes(table)[constraint], _causes(table).total())


for _constraint in (*CONSTRAINTS, None):
    register(f"unmet_{_constraint or 'none'}", partial(_failed_by, constraint=_constraint))


@metric
def attempt_coverage(table: EventTable) -> Value:
    """Return the share of goals with a quorum of two or more that saw an attempt."""
    tried = {attempt.goal for attempt in table.all(AttemptMade)}
    joint = [goal.id for goal in table.start.goals if goal.quorum >= 2]
    return share(sum(goal in tried for goal in joint), len(joint))
