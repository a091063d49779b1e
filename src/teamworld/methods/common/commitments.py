"""An agent's commitment to a goal that it has announced: put on record, with its release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teamworld.language import AgentId, GoalId
from teamworld.methods.contract import DecisionContext
from teamworld.record import Commit, Release
from teamworld.worlds.contract import View

#: Why an agent lets go of a goal, by how the goal stands.
RELEASE_CAUSES: Final[Mapping[str, str]] = {"open": "reassigned", "done": "done", "lost": "failed"}


def commit_to(
    context: DecisionContext, agent: AgentId, commitment: GoalId | None, goal: GoalId | None
) -> GoalId | None:
    """Record that an agent has announced that it takes a goal.

    Args:
        context: Where it is recorded.
        agent: Who.
        commitment: What it is committed to.
        goal: What it announced; None if nothing.

    Returns:
        What it is committed to now.
    """
    commitment = release_if_over(context, agent, commitment, goal)
    if goal is None or commitment is not None:
        return commitment
    context.note(Commit(agent=agent, goal=goal, cause="message"))
    return goal


def release_if_over(
    context: DecisionContext, agent: AgentId, commitment: GoalId | None, goal: GoalId | None
) -> GoalId | None:
    """Release an agent from a goal that is over as far as it knows, or that it leaves for another one.

    Returns:
        What it is committed to now.
    """
    if commitment is None:
        return None
    known = next((known for known in context.views[agent].goals if known.id == commitment), None)
    is_over = known is not None and known.state != "open"
    if not is_over and goal in (None, commitment):
        return commitment
    context.note(Release(agent=agent, goal=commitment, cause=release_cause(context.views[agent], commitment)))
    return None


def release_cause(view: View, goal: GoalId) -> str:
    """Return why an agent lets go of a goal, by how it stands as far as the agent knows."""
    known = next((known for known in view.goals if known.id == goal), None)
    return "reassigned" if known is None else RELEASE_CAUSES[known.state]
