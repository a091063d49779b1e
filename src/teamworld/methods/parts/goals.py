"""Goals as methods look at them."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.worlds.contract import Goal, View


def open_goals(goals: Iterable[Goal]) -> list[Goal]:
    """Return the goals still to be done."""
    return [goal for goal in goals if goal.state == "open"]


def workable(view: View) -> list[Goal]:
    """Return the open goals that an agent knows of, that its kind can work on, and that wait for no other goal."""
    goals, kind = open_goals(view.goals), view.kind
    mine = [goal for goal in goals if not goal.kinds or kind in goal.kinds]
    if not any(goal.prerequisites for goal in mine):
        return mine
    ahead = {goal.id for goal in goals}
    return [goal for goal in mine if ahead.isdisjoint(goal.prerequisites)]
