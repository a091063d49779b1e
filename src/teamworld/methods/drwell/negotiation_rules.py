"""What a task is worth to the team: the estimate of a dry run and the guidebook's record together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teamworld.language import GoalId
from teamworld.memory.contract import GuideEntry
from teamworld.methods.drwell.library import pooled_rate
from teamworld.planning.candidates import find_step
from teamworld.worlds.contract import Domain, Goal, View


def worth_per_step(goal: Goal, entry: GuideEntry, view: View, domain: Domain) -> float:
    """Return what an agent can expect a task to bring a step of each of its agents.

    The goal's weight, times the share of its work a step, over the agents that it needs at once. The share a step is
    that of the best plan by a dry run, counted as one attempt beside those of the guidebook; a mere search counts by
    its estimate alone. Where the agent can do nothing now but wait it is 0.

    Args:
        goal: An open goal that the agent's kind can work on.
        entry: The guidebook's line on it.
        view: Of the agent.
        domain: The rules of its world.
    """
    step = find_step(goal, view, domain)
    if step is None or step.still:
        return 0.0
    attempts = entry.attempts if step.share else 0  # what was done with things at hand says nothing of a search
    rate = pooled_rate(step.share, step.ticks, attempts, entry.progress or 0.0, entry.steps or 0.0)
    return goal.weight * rate / max(1, goal.quorum)


def preferred(goals: Sequence[Goal], worth: Mapping[GoalId, float], staffed: Mapping[GoalId, int], hands: int) -> Goal:
    """Return the goal that is worth most, without over-staffing any; equals by their order.

    Goals that cannot be staffed come last, those with all the agents they can use before them. Whoever joins a goal
    that has enough agents shares its work with them, so it is worth less by their number.

    Args:
        goals: Open goals, at least one.
        worth: What each is worth a step.
        staffed: Agents that are on each goal, or have spoken for it.
        hands: Agents that could join, this one included.
    """

    def rank(goal: Goal) -> tuple[bool, bool, float]:
        there = staffed.get(goal.id, 0)
        shared = there + 1 if there >= goal.quorum else 1
        return goal.quorum > there + hands, there >= goal.capacity, -worth[goal.id] / shared

    return min(goals, key=rank)
