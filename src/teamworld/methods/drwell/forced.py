"""What a meeting cannot decide: tasks that nobody can do now, a task that all must take, too few steps left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil

from teamworld.language import AgentId, GoalId
from teamworld.planning.candidates import find_step
from teamworld.planning.simulate import SimulatedPlan, dry_run
from teamworld.worlds.contract import Domain, Goal, View


def possible_goals(
    goals: Sequence[Goal], working: Mapping[GoalId, int], knows: Mapping[AgentId, Collection[GoalId]]
) -> list[Goal]:
    """Return the goals that have room and can get enough agents.

    Args:
        goals: Open goals.
        working: Agents outside the meeting on each.
        knows: The goals that each of the free agents can work on.
    """
    can = {goal.id: sum(goal.id in known for known in knows.values()) for goal in goals}
    return [
        goal
        for goal in goals
        if can[goal.id]
        and working.get(goal.id, 0) < goal.capacity
        and working.get(goal.id, 0) + can[goal.id] >= goal.quorum
    ]


def find_forced(
    possible: Sequence[Goal], working: Mapping[GoalId, int], knows: Mapping[AgentId, Collection[GoalId]]
) -> GoalId | None:
    """Return the goal that all free agents must take: the only possible one, with room for all of them.

    Whoever sees that it cannot help hands the task back when it plans.
    """
    if len(possible) != 1:
        return None
    (goal,) = possible
    has_room = working.get(goal.id, 0) + len(knows) <= goal.capacity
    return goal.id if has_room and all(goal.id in known for known in knows.values()) else None


def can_help(goal: Goal, view: View, domain: Domain) -> bool:
    """Return whether an agent knows a plan for a goal that is more than to wait."""
    step = find_step(goal, view, domain)
    return step is not None and not step.still


def leaves_time(goals: Sequence[Goal], view: View, domain: Domain) -> bool:
    """Return whether the steps left suffice for an agent to do some of the work of one of some goals."""
    for goal in goals:
        if (goal.kinds and view.kind not in goal.kinds) or not _is_known(goal, view):
            continue
        step = find_step(goal, view, domain)
        if step is not None and step.ticks <= view.steps_left:
            return True
        for plan in domain.candidate_plans(goal, view.agent, view.known):
            tried = dry_run(plan, view, domain)
            if tried.ok and _steps_to_progress(tried, goal, domain) <= view.steps_left:
                return True
    return False


def _is_known(goal: Goal, view: View) -> bool:
    return any(known.id == goal.id for known in view.goals)


def _steps_to_progress(tried: SimulatedPlan, goal: Goal, domain: Domain) -> int:
    """Return the estimated steps until a plan has done a unit of a goal's work; a search does none before its end."""
    units, steps = goal.units, 0
    for facts, span in zip([*tried.before[1:], tried.then], tried.spans, strict=True):
        left = next((known.units for known in domain.goals(facts) if known.id == goal.id and known.state == "open"), 0)
        if left < units:
            return steps + ceil(span / (units - left))
        steps += span
    return steps + 1
