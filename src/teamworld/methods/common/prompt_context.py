"""What prompts show of an agent and of the team, where agents choose one action at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from teamworld.language import AgentId, GoalId, Plan
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import Goal, View, WorldSpec


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
    found: dict[GoalId, Goal] = {}
    for view in views:
        for goal in view.goals:
            found.setdefault(goal.id, goal)
    return open_goals(found[name] for name in sorted(found))


def scene_context(scene: str | None, view: View) -> Mapping[str, Any]:
    """Return a perception for a prompt: the words of a mind, which are quoted, or the world's own."""
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


def agent_context(
    view: View, team: Mapping[str, Sequence[AgentId]], scenes: Mapping[AgentId, str], aim: GoalId | None, past: int
) -> dict[str, Any]:
    """Return what an agent reads that chooses for itself: the team, the tasks, what it perceives, can do and did.

    Args:
        view: Of the agent.
        team: Who is there, by kind.
        scenes: Perceptions in the words of minds, as far as there are any.
        aim: What its last action was for.
        past: Finished actions to tell.
    """
    return {
        "agent": view.agent,
        "team": team,
        "goals": team_open_goals([view]),
        "aim": aim,
        **scene_context(scenes.get(view.agent), view),
        **ability_context(view, past),
    }


class Entry(NamedTuple):
    """What a shared record holds of one agent."""

    agent: AgentId
    kind: str
    told: Mapping[str, Any]
    """Its perception, see ``scene_context``."""
    doing: str
    """What it is doing; empty for nothing."""
    aim: GoalId | None
    """What its last action was for."""
    open: bool
    """It can be given an action now."""
    own: Mapping[str, Any]
    """Its options and its past, see ``ability_context``."""


def team_context(
    views: Mapping[AgentId, View],
    team: Mapping[str, Sequence[AgentId]],
    scenes: Mapping[AgentId, str],
    running: Mapping[AgentId, Plan],
    aims: Mapping[AgentId, GoalId | None],
    takers: Collection[AgentId],
    past: int,
) -> dict[str, Any]:
    """Return what a mind reads that plans for others: the team, the tasks, and a shared record of all agents.

    Args:
        views: Of the agents.
        team: Who is there, by kind.
        scenes: Perceptions in the words of minds, as far as there are any.
        running: What agents do.
        aims: What each agent's last action was for.
        takers: Who can be given an action now.
        past: Finished actions to tell of each.
    """
    record = [
        Entry(
            agent,
            view.kind,
            scene_context(scenes.get(agent), view),
            describe_plan(running.get(agent)),
            aims.get(agent),
            agent in takers,
            ability_context(view, past),
        )
        for agent, view in views.items()
    ]
    left = min(view.steps_left for view in views.values())
    return {"team": team, "goals": team_open_goals(views.values()), "record": record, "steps_left": left}
