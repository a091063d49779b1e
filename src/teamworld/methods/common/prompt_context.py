"""What prompts show of an agent and of the team, where agents choose one action at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from teamworld.language import AgentId, GoalId, Plan
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import Domain, Goal, View, WorldSpec


def team_by_kind(spec: WorldSpec, living: Iterable[AgentId]) -> dict[str, list[AgentId]]:
    """Return who is in the team, by kind, in the order of the agents."""
    team: defaultdict[str, list[AgentId]] = defaultdict(list)
    for agent in living:
        team[spec.kinds[agent]].append(agent)
    return dict(team)


def describe_plan(plan: Plan | None) -> str:
    """Return in words what an agent is doing: the action, and what it is for; empty for nothing."""
    if plan is None or not plan.actions:
        return ""
    return f"{plan.actions[0]}{f' for {plan.goal}' if plan.goal is not None else ''}"


def team_open_goals(views: Iterable[View]) -> list[Goal]:
    """Return the goals that anybody knows of and that are open, by id, each as the first in the team knows it."""
    goals: dict[GoalId, Goal] = {}
    for view in views:
        for goal in view.goals:
            goals.setdefault(goal.id, goal)
    return open_goals(goals[name] for name in sorted(goals))


def scene_context(scene: str | None, view: View) -> Mapping[str, Any]:
    """Return a perception for a prompt: the words of a reasoner, which are quoted, or the world's own."""
    return {"scene": view.text() if scene is None else scene, "spoken": scene is not None}


def ability_context(view: View, past: int) -> dict[str, Any]:
    """Return what an agent could do and what it did last: its options, its abilities, its past."""
    history: Sequence[Any] = view.history
    return {
        "kind": view.kind,
        "steps_left": view.steps_left,
        "options": view.options,
        "abilities": view.abilities,
        "past": history[len(history) - min(past, len(history)) :],
    }


@dataclass(frozen=True)
class AgentRecord:
    """What an agent reads that chooses for itself, beside its view."""

    domain: Domain
    team: Mapping[str, Sequence[AgentId]]
    """Who is there, by kind."""
    scenes: Mapping[AgentId, str]
    """Perceptions in the words of reasoners, as far as there are any."""
    aim: GoalId | None
    """What its last action was for."""
    past: int
    """Finished actions to show."""

    def context(self, view: View) -> dict[str, Any]:
        """Return the team, the tasks, and what the agent perceives, can do and did."""
        return {
            "agent": view.agent,
            "team": self.team,
            "goals": team_open_goals([view]),
            "aim": self.aim,
            **scene_context(self.scenes.get(view.agent), view),
            **ability_context(view, self.past),
        }


class Entry(NamedTuple):
    """What a shared record holds of one agent; templates read its fields."""

    agent: AgentId
    kind: str
    perception: Mapping[str, Any]
    """Its perception, see ``scene_context``."""
    doing: str
    """What it is doing; empty for nothing."""
    aim: GoalId | None
    """What its last action was for."""
    open: bool
    """It can be given an action now."""
    own: Mapping[str, Any]
    """Its options and its past, see ``ability_context``."""


@dataclass(frozen=True)
class TeamRecord:
    """What a reasoner reads that plans for others, beside the views of the team."""

    domain: Domain
    team: Mapping[str, Sequence[AgentId]]
    """Who is there, by kind."""
    scenes: Mapping[AgentId, str]
    """Perceptions in the words of reasoners, as far as there are any."""
    running: Mapping[AgentId, Plan]
    """What agents do, what was decided in this step included."""
    aims: Mapping[AgentId, GoalId | None]
    """What each agent's last action was for."""
    members: tuple[AgentId, ...]
    """Who can be given an action now."""
    past: int
    """Finished actions to show of each."""

    def context(self, views: Mapping[AgentId, View]) -> dict[str, Any]:
        """Return the team, the tasks, and a shared record of all agents."""
        record = [
            Entry(
                agent,
                view.kind,
                scene_context(self.scenes.get(agent), view),
                describe_plan(self.running.get(agent)),
                self.aims.get(agent),
                agent in self.members,
                ability_context(view, self.past),
            )
            for agent, view in views.items()
        ]
        left = min(view.steps_left for view in views.values())
        return {"team": self.team, "goals": team_open_goals(views.values()), "record": record, "steps_left": left}
