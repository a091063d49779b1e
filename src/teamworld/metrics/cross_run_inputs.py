"""What metrics over several runs need of an episode, beside its own metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from teamworld.metrics.tables.event_table import EventTable
from teamworld.record import PlanStart


class PlanTally(NamedTuple):
    """Plans, and those of them that ended with success."""

    won: int
    plans: int


class Extract(NamedTuple):
    """Some numbers of an episode."""

    world_seed: int
    """What placed its world."""
    team: int
    """Agents."""
    reused: Mapping[str, PlanTally]
    """By goal, plans that were taken from a memory as they were."""
    fresh: Mapping[str, PlanTally]
    """By goal, all other plans."""


def extract(table: EventTable) -> Extract:
    """Return what metrics over several runs need of an episode."""
    reused: dict[str, PlanTally] = {}
    fresh: dict[str, PlanTally] = {}
    for plan in table.all(PlanStart):
        if plan.goal is not None:
            tallies = reused if plan.origin == "reused" else fresh
            won, plans = tallies.get(plan.goal, PlanTally(0, 0))
            ending = table.endings.get(plan.plan)
            tallies[plan.goal] = PlanTally(won + (ending is not None and ending.status == "success"), plans + 1)
    return Extract(table.start.world_seed, len(table.team), reused, fresh)
