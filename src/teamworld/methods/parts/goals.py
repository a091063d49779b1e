"""Goals as methods look at them."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.worlds.contract import Goal


def open_goals(goals: Iterable[Goal]) -> list[Goal]:
    """Return the goals still to be done."""
    return [goal for goal in goals if goal.state == "open"]
