"""Commitments that agents announce: what of them stays known, and putting them on record.

What was said is soon out of sight of a prompt; what somebody said that it takes stays known to whoever heard it until
it is seen to be over.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final, NamedTuple

from teamworld.language import AgentId, GoalId
from teamworld.methods.contract import DecisionContext
from teamworld.record import Commit, Release
from teamworld.worlds.contract import View

#: Why an agent lets go of a goal, by how the goal stands.
RELEASE_CAUSES: Final[Mapping[str, str]] = {"open": "reassigned", "done": "done", "lost": "failed"}


class Announcement(NamedTuple):
    """What an agent said that it takes."""

    goals: tuple[GoalId, ...]
    """In the order in which it takes them; at least one."""
    said: int
    """The step at which it said so first."""


class Announcements:
    """What one agent knows that its teammates and itself said that they take."""

    def __init__(self) -> None:
        self._by_agent: dict[AgentId, Announcement] = {}

    def hear(self, agent: AgentId, goals: Iterable[GoalId], t: int) -> None:
        """Take in what an agent said that it takes; said again, the first goal keeps the step of its first mention.

        Args:
            agent: Who said it.
            goals: What it takes, in order; nothing leaves what it said before.
            t: When it was said.
        """
        taken, before = tuple(dict.fromkeys(goals)), self._by_agent.get(agent)
        if taken:
            same = before is not None and before.goals[0] == taken[0]
            self._by_agent[agent] = Announcement(taken, min(t, before.said) if same and before is not None else t)

    def standing(self, view: View, team: Container[AgentId]) -> dict[AgentId, Announcement]:
        """Return what stands: without goals that the agent knows to be over, and without those who are gone.

        Args:
            view: Of the agent that heard it.
            team: Who is there.
        """
        over = {goal.id for goal in view.goals if goal.state != "open"}
        for agent, announced in list(self._by_agent.items()):
            left = tuple(goal for goal in announced.goals if goal not in over)
            if not left or agent not in team:
                del self._by_agent[agent]
            elif left != announced.goals:
                self._by_agent[agent] = announced._replace(goals=left)
        return dict(self._by_agent)


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
