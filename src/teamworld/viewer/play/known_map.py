"""The map on a person's page: drawn as the replay draws, from what the person's agent knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from teamworld.language import AgentId, GoalId
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.reasoning.contract import Question
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import View


class MapAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent, in the team's order."""

    name: str
    kind: str
    aim: GoalId | None = None
    """What it works on, as far as the person's agent knows."""
    is_hidden: bool = False
    """The person's agent does not know where it is."""


class PlayMap(msgspec.Struct, frozen=True, kw_only=True):
    """A moment, in the form of the world's drawer."""

    world: str
    t: int
    """Steps gone."""
    me: int
    """Place of the person's agent in the team."""
    static: dict[str, Any]
    frame: dict[str, Any]
    style: dict[str, Any]
    team: tuple[MapAgent, ...]
    goals: tuple[GoalId, ...]
    """Those that the agent knows, in order: their place gives the colour."""


def drawer(world: str, team: Mapping[AgentId, str]) -> Callable[[Question[Any]], PlayMap | None]:
    """Return what makes the maps of a world's questions: from the view of who is asked alone.

    Args:
        world: Its name.
        team: The kind of each agent, in the team's order.
    """
    draw = worlds.known_picture(world)
    if draw is None:
        return lambda question: None
    looks, names = dict(worlds.style(world)), tuple(team)

    def make(question: Question[Any]) -> PlayMap | None:
        view = question.views.get(question.respondent)
        if view is None or (picture := draw(view, names)) is None:  # a planner has no eyes of its own
            return None
        aims = _aims(question)
        return PlayMap(
            world=world,
            t=view.t,
            me=names.index(view.agent),
            static=dict(picture.static),
            frame=dict(picture.frame),
            style=looks,
            team=tuple(
                MapAgent(name=name, kind=team[name], aim=aims.get(name), is_hidden=name in picture.hidden)
                for name in names
            ),
            goals=_goals(view),
        )

    return make


def _goals(view: View) -> tuple[GoalId, ...]:
    return tuple(goal.id for goal in view.goals)


def _aims(question: Question[Any]) -> dict[AgentId, GoalId | None]:
    """Return what agents work on, as the question tells it."""
    if not isinstance(question, AgentQuestion):
        return {}
    me = question.me
    own = me.commitment if me.running is None or me.running.goal is None else me.running.goal
    return {me.agent: own, **{teammate.agent: teammate.commitment for teammate in me.team}}
