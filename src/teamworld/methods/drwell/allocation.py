"""From votes to an allocation: the preferences behind the rules, and the validator of commitments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import GuideEntry
from teamworld.memory.experience import verdict
from teamworld.worlds.contract import Goal

_ORDER = {
    "highly effective": 0,
    "moderate": 1,
    "untested": 2,
    "challenging": 3,
    "needs a new strategy": 4,
}


def open_goals(goals: Sequence[Goal]) -> list[Goal]:
    """Return the goals still to be done."""
    return [goal for goal in goals if goal.state == "open"]


def preferred(
    goals: Sequence[Goal],
    guide: Mapping[GoalId, GuideEntry],
    staffed: Mapping[GoalId, int],
    team: int,
    rng: np.random.Generator,
) -> Goal:
    """Return the goal that the guidebook speaks for most, without over-staffing any.

    Goals that the team can never staff come last, those with all the agents they can use before
    them; among the others the guidebook's verdict decides, then the shorter mean duration. Where a
    goal was attempted about this time of an episode, those attempts decide: what fails when begun
    early may go well later. What nothing speaks for or against is drawn.

    Args:
        goals: Open goals, at least one.
        guide: The guidebook's entry of each.
        staffed: Agents that are on each goal, or have spoken for it.
        team: Agents in the team.
        rng: Draws among equals.
    """
    ticket = {goals[index].id: place for place, index in enumerate(rng.permutation(len(goals)))}

    def rank(goal: Goal) -> tuple[bool, bool, int, float, int]:
        entry = guide[goal.id]
        full = staffed.get(goal.id, 0) >= goal.quorum
        duration = entry.mean_duration if entry.mean_duration is not None else math.inf
        return goal.quorum > team, full, _ORDER[_judgement(entry)], duration, ticket[goal.id]

    return min(goals, key=rank)


def _judgement(entry: GuideEntry) -> str:
    attempts, successes = entry.about_now
    return verdict((successes + 1) / (attempts + 2)) if attempts else entry.verdict


class Allocation(NamedTuple):
    """Who does what after the validator."""

    goals: dict[AgentId, GoalId | None]
    """For each agent its goal; None is a waiting plan."""
    moved: tuple[AgentId, ...]
    """Agents whose commitment was dissolved."""


def validate(
    committed: Mapping[AgentId, GoalId | None], working: Mapping[AgentId, GoalId], goals: Sequence[Goal]
) -> Allocation:
    """Turn commitments into an allocation that the world's constraints allow (DR. WELL spec B1, B2).

    A goal is feasible if the agents committed to it and those at work on it already reach its
    quorum. Commitments to other goals are dissolved; their agents go to the feasible goal with
    the most votes that can use another agent, ties by work left, then order, or else wait.

    Args:
        committed: The votes of the agents in the room, in speaking order; None waits.
        working: What agents outside the room are at work on.
        goals: Open goals in a fixed order, with their quorum as things stand now.
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
        room = [goal for goal in joinable if staff[goal.id] < goal.places]
        chosen = min(room, key=lambda goal: (-votes[goal.id], goal.units, place[goal.id]), default=None)
        result[agent] = chosen.id if chosen is not None else None
        if chosen is not None:
            staff[chosen.id] += 1
    return Allocation(result, tuple(moved))
