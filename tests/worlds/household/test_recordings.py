"""Runs recorded from the engine, played again through the public interfaces: the issue's bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from teamworld.language import Action, Entity
from teamworld.worlds import registry
from teamworld.worlds.contract import WAIT
from teamworld.worlds.household.homes.home import Episode, Home, NodeId
from teamworld.worlds.household.physics import HANDLING
from teamworld.worlds.household.world import HouseholdWorld
from tests.worlds.household.data import FOLDER, needs_data
from tests.worlds.household.recordings import runs
from tests.worlds.household.traces import Acted, Trace, TraceAgent

pytestmark = needs_data
#: Apartment 3 is what handling was calibrated on, apartment 6 is held out.
CALIBRATED_ON = "apartment_3"


class Replayed(NamedTuple):
    """What came of a recorded run."""

    name: str
    right: int
    """Steps after which the goal lacked what was recorded."""
    steps: int
    ends_right: bool
    """The goal is met after the last recorded step, and not before."""
    refused: int


def acted(run: Trace, step: int) -> dict[NodeId, Acted | None]:
    """Return who did what; of those who handled the same thing, only who did it as the recording tells."""
    agents = run.steps[step].agents
    acts = {agent.id: agent.action for agent in agents}
    after = {agent.id: agent for agent in run.steps[min(step + 1, len(run.steps) - 1)].agents}
    first, *others = [agent for agent in agents if agent.action is not None and agent.action.verb in HANDLING] or [None]
    for other in others:
        assert first is not None
        assert other is not None
        assert first.action is not None
        assert other.action is not None
        if first.action.ids[0] == other.action.ids[0]:
            winner = max((first, other), key=lambda agent: effect(agent, after[agent.id]))
            acts[(first if winner is other else other).id] = None
    return acts


def effect(before: TraceAgent, after: TraceAgent) -> tuple[bool, float]:
    """Return how much one sees of an action: who has grabbed holds something more, who has opened has moved."""
    return len(after.held) > len(before.held), math.dist((before.x, before.z), (after.x, after.z))


def named(home: Home, act: Acted | None) -> Action:
    """Return a recorded action as one of the world."""
    if act is None or act.verb == "send_message":
        return WAIT
    return Action(act.verb, tuple(Entity(home.nodes[node].name, node) for node in act.ids))


def begun(run: Trace) -> HouseholdWorld:
    """Return the world of a recorded run at its start."""
    options = {
        "data": str(FOLDER),
        "agents": len(run.steps[0].agents),
        "starts": [[agent.x, agent.z] for agent in run.steps[0].agents],
        "primitives": True,
    }
    world = registry.make("household", f"official-{run.task_id}", seed=0, horizon=250, options=options)
    assert isinstance(world, HouseholdWorld)
    return world


@cache
def replayed() -> tuple[Replayed, ...]:
    return tuple(replay(name, episode, run) for name, episode, run in runs())


def replay(name: str, episode: Episode, run: Trace) -> Replayed:
    world = begun(run)
    right = refused = 0
    early = False
    for number, step in enumerate(run.steps):
        acts = acted(run, number)
        orders = {world.spec.agents[agent - 1]: named(episode.home, act) for agent, act in acts.items()}
        result = world.step(orders)
        refused += sum(outcome.status == "failed" for outcome in result.outcomes.values())
        right += missing(world) == {goal: max(0, units) for goal, units in step.remaining.items()}
        if result.end_reason is not None:
            early = number < len(run.steps) - 1
            break
    return Replayed(name, right, len(run.steps), world.is_complete() and not early, refused)


def missing(world: HouseholdWorld) -> Mapping[str, int]:
    return {str(dict(goal.features)["thing"]): goal.units for goal in world.goals()}


def test_recorded_runs_go_as_recorded_through_the_public_world() -> None:
    """Bars: 97 % of 1,266 steps, 12 of 14 runs; measured: all of both."""
    found = replayed()
    assert sum(run.steps for run in found) == 1266
    assert sum(run.right for run in found) >= 0.97 * 1266
    finished = [run for run in found if not run.name.endswith("unfinished")]
    assert len(finished) == 14
    assert sum(run.ends_right for run in finished) >= 12
    assert sum(run.refused for run in found) <= 6
