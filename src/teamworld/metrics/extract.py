"""What metrics across runs need of an episode, beside its own metrics (metrics spec, tier 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from teamworld.metrics.episode import Episode
from teamworld.record import PlanEnd, PlanStart


class Tally(NamedTuple):
    """Plans, and those of them that ended with success."""

    won: int
    plans: int


class Extract(NamedTuple):
    """Some numbers of an episode."""

    world_seed: int
    """What placed its world."""
    team: int
    """Agents."""
    reused: Mapping[str, Tally]
    """By goal, plans that were taken from a memory as they were."""
    fresh: Mapping[str, Tally]
    """By goal, all other plans."""


def extract(episode: Episode) -> Extract:
    """Return what runs need of an episode."""
    won = {ending.plan: ending.status == "success" for ending in episode.all(PlanEnd)}
    reused: dict[str, Tally] = {}
    fresh: dict[str, Tally] = {}
    for plan in episode.all(PlanStart):
        if plan.goal is not None:
            found = reused if plan.origin == "reused" else fresh
            before = found.get(plan.goal, Tally(0, 0))
            found[plan.goal] = Tally(before.won + won.get(plan.plan, False), before.plans + 1)
    start = episode.start
    return Extract(start.world_seed, len(episode.team), reused, fresh)
