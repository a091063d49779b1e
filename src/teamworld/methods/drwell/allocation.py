"""From votes to an allocation: the preferences behind the rules, and the validator of commitments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import GuideEntry
from teamworld.memory.tally import smoothed
from teamworld.worlds.contract import Goal


def preferred(
    goals: Sequence[Goal],
    guide: Mapping[GoalId, GuideEntry],
    staffed: Mapping[GoalId, int],
    team: int,
    now: int,
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
        now: Ticks gone in the episode.
        rng: Draws among equals.
    """
    ticket = {goals[index].id: place for place, index in enumerate(rng.permutation(len(goals)))}

    def rank(goal: Goal) -> tuple[bool, bool, int, float, int]:
        entry = guide[goal.id]
        full = staffed.get(goal.id, 0) >= goal.places
        return goal.quorum > team, full, _standing(entry, now), _expected(entry), ticket[goal.id]

    return min(goals, key=rank)


def _standing(entry: GuideEntry, now: int) -> int:
    """Return 0 for what has gone well about now (or earlier, if untried now), 1 for untested, 2 for only failed."""
    attempts, successes = entry.about_now
    if attempts:
        return 0 if successes else 2
    begun_so_early = entry.earliest_start is not None and entry.earliest_start <= now
    return 0 if begun_so_early else 1


def _expected(entry: GuideEntry) -> float:
    """Return the ticks to be expected until a success: the mean duration over the rate about now, if tried now."""
    attempts, successes = entry.about_now if entry.about_now.attempts else (entry.attempts, entry.successes)
    return math.inf if entry.mean_duration is None else entry.mean_duration / smoothed(successes, attempts)


class Allocation(NamedTuple):
    """Who does what after the validator."""

    goals: dict[AgentId, GoalId | None]
    """For each agent its goal; None is a waiting plan."""
    moved: tuple[AgentId, ...]
    """Agents whose commitment was dissolved."""


def validate(
    committed: Mapping[AgentId, GoalId | None],
    working: Mapping[AgentId, GoalId],
    goals: Sequence[Goal],
    knows: Mapping[AgentId, Collection[GoalId]],
) -> Allocation:
    """Turn commitments into an allocation that the world's constraints allow (DR. WELL spec B1, B2).

    A goal is feasible if the agents committed to it and those at work on it already reach its
    quorum. Commitments to other goals are dissolved; their agents go to the feasible goal with
    the most votes that can use another agent, ties by work left, then order, or else wait. Nobody is sent to a goal
    that it does not know of, or that its kind cannot work on.

    Args:
        committed: The votes of the agents in the room, in speaking order; None waits.
        working: What agents outside the room are at work on.
        goals: Open goals in a fixed order, with their quorum as things stand now.
        knows: The goals that each of these agents can be sent to.
    """
    known = {goal.id: goal for goal in goals}
    votes = Counter(goal for goal in committed.values() if goal in known)
    staff = votes + Counter(working.values())
    feasible = [goal for goal in goals if votes[goal.id] and staff[goal.id] >= goal.quorum]
    joinable = [goal for goal in goals if goal in feasible or staff[goal.id] >= goal.quorum]
    place = {goal.id: index for index, goal in enumerate(goals)}
    result: dict[AgentId, GoalId | None] = {}
    moved = []
    for agent, goal_id in committed.items():
        if goal_id is None or any(goal.id == goal_id for goal in feasible):
            result[agent] = goal_id
            continue
        moved.append(agent)
        room = [goal for goal in joinable if staff[goal.id] < goal.places and goal.id in knows[agent]]
        chosen = min(room, key=lambda goal: (-votes[goal.id], goal.units, place[goal.id]), default=None)
        result[agent] = chosen.id if chosen is not None else None
        if chosen is not None:
            staff[chosen.id] += 1
    return Allocation(result, tuple(moved))
