"""What an agent has told the others that it takes: put on record, and its release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teamworld.language import AgentId, GoalId
from teamworld.methods.contract import DecisionContext
from teamworld.record import Commit, Release

#: Why an agent lets go of a goal, by how the goal stands.
_RELEASED: Final[Mapping[str, str]] = {"open": "reassigned", "done": "done", "lost": "failed"}


def bind(context: DecisionContext, agent: AgentId, bound: GoalId | None, goal: GoalId | None) -> GoalId | None:
    """Put on record that an agent has told the others that it takes a goal.

    Args:
        context: Where it is put on record.
        agent: Who.
        bound: What it is bound to.
        goal: What it told of; None if of nothing.

    Returns:
        What it is bound to now.
    """
    bound = unbind(context, agent, bound, goal)
    if goal is not None and bound is None:
        context.note(Commit(agent=agent, goal=goal, cause="message"))
        return goal
    return bound


def unbind(context: DecisionContext, agent: AgentId, bound: GoalId | None, goal: GoalId | None) -> GoalId | None:
    """Release an agent from a goal that is over as far as it knows, or that it leaves for another one.

    Returns:
        What it is bound to now.
    """
    if bound is None:
        return None
    known = next((known for known in context.views[agent].goals if known.id == bound), None)
    over = known is not None and known.state != "open"
    if not over and goal in (None, bound):
        return bound
    cause = _RELEASED[known.state] if known is not None else "reassigned"
    context.note(Release(agent=agent, goal=bound, cause=cause))
    return None
