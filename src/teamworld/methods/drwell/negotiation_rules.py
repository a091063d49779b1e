"""From votes to an allocation: the preferences behind the rules, and the validator of commitments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from teamworld.language import GoalId
from teamworld.memory.contract import GuideEntry
from teamworld.memory.plan_statistics import smoothed
from teamworld.worlds.contract import Goal


def preferred(
    goals: Sequence[Goal],
    guide: Mapping[GoalId, GuideEntry],
    staffed: Mapping[GoalId, int],
    team: int,
    t: int,
    rng: np.random.Generator,
) -> Goal:
    """Return the goal that the guidebook speaks for most, without over-staffing any.

    Goals that the team can never staff come last, those with all the agents they can use before
    them. Among the others what has gone well when begun about this time of an episode comes first, or
    earlier where it was not tried now, the one that can be expected to succeed soonest before the
    others; then what is untested so early; then what has only failed about now. The time counts
    because what fails early may go well when other tasks are out of the way. Equals are drawn.

    Args:
        goals: Open goals, at least one.
        guide: The guidebook's entry of each.
        staffed: Agents that are on each goal, or have spoken for it.
        team: Agents in the team.
        t: Steps gone in the episode.
        rng: Draws among equals.
    """
    ticket = {goals[index].id: place for place, index in enumerate(rng.permutation(len(goals)))}

    def rank(goal: Goal) -> tuple[bool, bool, int, float, int]:
        entry = guide[goal.id]
        full = staffed.get(goal.id, 0) >= goal.capacity
        return goal.quorum > team, full, _standing(entry, t), _expected(entry), ticket[goal.id]

    return min(goals, key=rank)


def _standing(entry: GuideEntry, t: int) -> int:
    """Return 0 for what has gone well about now (or earlier, if untried now), 1 for untested, 2 for only failed."""
    attempts, successes = entry.about_now
    if attempts:
        return 0 if successes else 2
    begun_so_early = entry.earliest_start is not None and entry.earliest_start <= t
    return 0 if begun_so_early else 1


def _expected(entry: GuideEntry) -> float:
    """Return the ticks to be expected until a success: the mean duration over the rate about now, if tried now."""
    attempts, successes = entry.about_now if entry.about_now.attempts else (entry.attempts, entry.successes)
    return math.inf if entry.mean_duration is None else entry.mean_duration / smoothed(successes, attempts)
