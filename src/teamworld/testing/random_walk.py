"""A random team walks through a world; the checks of worlds look at each of its steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from teamworld.language import Action, AgentId, GoalId
from teamworld.seeding import generator
from teamworld.worlds.contract import StepResult, View, World


@dataclass(frozen=True)
class BeforeStep:
    """The world between two steps, before actions are chosen."""

    world: World
    t: int
    alive: tuple[AgentId, ...]
    gone: tuple[AgentId, ...]
    views: Mapping[AgentId, View]
    turn: int
    """Steps so far; expensive checks look at one agent a step."""

    @property
    def sampled_view(self) -> View:
        """The view of one agent, each in turn."""
        return self.views[self.alive[self.turn % len(self.alive)]]


@dataclass(frozen=True)
class AfterStep:
    """One step of the world."""

    world: World
    alive: tuple[AgentId, ...]
    """Who was alive when the step began."""
    running: Mapping[AgentId, Action]
    """The actions that ran before it, of agents that were given no new one."""
    result: StepResult
    progress: Mapping[GoalId, float]
    """The sum of each goal's progress events so far, this step included."""


def walk_randomly(world: World, seed: int, steps: int) -> Iterator[BeforeStep | AfterStep]:
    """Yield the moment before and after each step until the episode is over; actions are drawn from the options.

    An agent that is not able gets no action; a running action mostly runs on.
    """
    rngs = {agent: generator(seed, "testing", agent) for agent in world.spec.agents}
    alive, t = tuple(world.spec.agents), 0
    gone: tuple[AgentId, ...] = ()
    running: dict[AgentId, Action] = {}
    progress: dict[GoalId, float] = {}
    for turn in range(steps):
        views = {agent: world.view(agent) for agent in alive}
        yield BeforeStep(world, t, alive, gone, views, turn)
        actions: dict[AgentId, Action] = {}
        for agent in alive:
            draw = rngs[agent].random()
            options = views[agent].options if views[agent].is_able else ()
            if options and (agent not in running or draw < 0.1):
                actions[agent] = options[int(rngs[agent].integers(len(options)))].action
        result = world.step(actions)
        kept = {agent: action for agent, action in running.items() if agent not in actions}
        for event in result.goals:
            progress[event.goal] = progress.get(event.goal, 0.0) + event.delta
        yield AfterStep(world, alive, kept, result, progress)
        running = {agent: done.action for agent, done in result.outcomes.items() if done.status == "running"}
        t += result.ticks
        gone = (*gone, *result.gone)
        alive = tuple(agent for agent in alive if agent not in result.gone)
        if result.end_reason is not None or not alive:
            return


def describe_result(result: StepResult) -> str:
    """Return all of a step's result as text, to compare it."""
    return repr(result._replace(outcomes=dict(result.outcomes), gone=dict(result.gone), score=dict(result.score)))


def describe_view(view: View) -> dict[str, Any]:
    """Return all that a view shows, to compare it."""
    return {
        "t": (view.t, view.steps_left),
        "able": view.is_able,
        "facts": list(map(str, view.facts)),
        "recall": [(str(fact), view.recall.seen.get(fact)) for fact in view.recall],
        "goals": list(view.goals),
        "abilities": list(view.abilities),
        "options": list(view.options),
        "history": list(view.history),
        "text": view.text(),
    }


def differing_part(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    """Return the first part in which two described views differ."""
    return next((part for part in first if first[part] != second[part]), None)


def is_plain_json(value: object) -> bool:
    """Return whether a value survives JSON unchanged, with finite floats."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False
