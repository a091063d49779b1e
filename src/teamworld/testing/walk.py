"""A walk through a world: a random team, seen step by step by whoever checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from teamworld.language import Action, AgentId
from teamworld.seeding import generator
from teamworld.worlds.contract import StepResult, View, World


@dataclass(frozen=True)
class Pause:
    """The world between two steps, before the orders."""

    world: World
    t: int
    alive: tuple[AgentId, ...]
    gone: tuple[AgentId, ...]
    views: Mapping[AgentId, View]
    turn: int
    """Steps so far; checks that are dear look at one agent a step."""

    @property
    def one(self) -> View:
        """The view of one agent, in turn."""
        return self.views[self.alive[self.turn % len(self.alive)]]


@dataclass(frozen=True)
class Stride:
    """One step."""

    world: World
    before: int
    """Ticks gone when it began."""
    alive: tuple[AgentId, ...]
    """Who was alive when it began."""
    orders: Mapping[AgentId, Action]
    running: Mapping[AgentId, Action]
    """What ran before it, where no order was given."""
    report: StepResult


def walk(world: World, seed: int, steps: int) -> Iterator[Pause | Stride]:
    """Yield pauses and strides by turns, until the episode is over; orders are drawn from the options.

    An agent that is not able gets no order; whoever runs something mostly lets it run on.
    """
    rngs = {agent: generator(seed, "testing", agent) for agent in world.spec.agents}
    alive, t = tuple(world.spec.agents), 0
    gone: tuple[AgentId, ...] = ()
    running: dict[AgentId, Action] = {}
    for turn in range(steps):
        views = {agent: world.view(agent) for agent in alive}
        yield Pause(world, t, alive, gone, views, turn)
        orders: dict[AgentId, Action] = {}
        for agent in alive:
            draw = rngs[agent].random()
            options = views[agent].options if views[agent].able else ()
            if options and (agent not in running or draw < 0.1):
                orders[agent] = options[int(rngs[agent].integers(len(options)))].action
        report = world.step(orders)
        kept = {agent: action for agent, action in running.items() if agent not in orders}
        yield Stride(world, t, alive, orders, kept, report)
        running = {agent: done.action for agent, done in report.outcomes.items() if done.status == "running"}
        t += report.ticks
        gone = (*gone, *report.gone)
        alive = tuple(agent for agent in alive if agent not in report.gone)
        if report.over is not None or not alive:
            return


def told(report: StepResult) -> str:
    """Return all of a report as text, to compare it."""
    return repr(report._replace(outcomes=dict(report.outcomes), gone=dict(report.gone), score=dict(report.score)))


def seen(view: View) -> dict[str, Any]:
    """Return all that a view shows, to compare it."""
    return {
        "t": (view.t, view.left),
        "able": view.able,
        "facts": list(map(str, view.facts)),
        "recall": [(str(fact), view.recall.seen.get(fact)) for fact in view.recall],
        "goals": list(view.goals),
        "abilities": list(view.abilities),
        "options": list(view.options),
        "history": list(view.history),
        "text": view.text(),
    }


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return the first part in which two views differ."""
    return next((part for part in one if one[part] != other[part]), None)


def plain(value: object) -> bool:
    """Return whether a value is plain JSON data: it comes back as it was, floats finite."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False
