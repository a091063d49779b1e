"""The recorded runs and the walks in them, read once."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from teamworld.worlds.household.homes.home import Episode, NodeId
from tests.worlds.household import data
from tests.worlds.household.traces import Trace, TraceAgent, trace


def published() -> tuple[Episode, ...]:
    """Return the ten episodes."""
    return tuple(data.episodes().values())


@cache
def runs(*, visual: bool = False) -> tuple[tuple[str, Episode, Trace], ...]:
    """Return the recorded runs, each with the name of its file and its episode."""
    read = [(path.stem, trace(path)) for path in data.traces("*.json")]
    return tuple((name, data.episodes()[run.task_id], run) for name, run in read if run.visual == visual)


class Walk(NamedTuple):
    """A recorded walk, from the first step towards a target to the end: inside the room, or CLOSE to the thing."""

    episode: Episode
    target: NodeId
    to_room: bool
    places: tuple[TraceAgent, ...]
    """The agent before each step and at the end."""

    @property
    def steps(self) -> int:
        return len(self.places) - 1


@cache
def walks() -> tuple[Walk, ...]:
    """Return all recorded walks that were not broken off."""
    found = []
    for _, episode, run in runs():
        for agent in range(len(run.steps[0].agents)):
            found += _walks(episode, [step.agents[agent] for step in run.steps])
    return tuple(found)


def _walks(episode: Episode, told: list[TraceAgent]) -> list[Walk]:
    collected, start = [], 0
    while start < len(told):
        act = told[start].action
        if act is None or act.verb != "walktowards":
            start += 1
            continue
        (target,) = act.ids
        to_room, last = target in episode.home.rooms, start
        while last < len(told) and told[last].action == act and not _there(told[last], target, to_room):
            last += 1
        if last > start and last < len(told) and _there(told[last], target, to_room):
            collected.append(Walk(episode, target, to_room, tuple(told[start : last + 1])))
        start = max(last, start + 1)
    return collected


def _there(agent: TraceAgent, target: NodeId, to_room: bool) -> bool:
    return agent.room == target if to_room else target in agent.close
