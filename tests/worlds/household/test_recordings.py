"""Runs recorded from the engine, played again through the public interfaces: the issue's bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple, cast

import pytest

from teamworld.errors import UserError
from teamworld.language import Action, Entity
from teamworld.seeding import generator
from teamworld.worlds import registry
from teamworld.worlds.contract import WAIT
from teamworld.worlds.household import physics
from teamworld.worlds.household.array_features import PLAIN, ROWS, Table
from teamworld.worlds.household.env import parallel_env
from teamworld.worlds.household.homes.home import Episode, Home, NodeId, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import HANDLING, PrimitiveAction, Verb
from teamworld.worlds.household.state import Rules
from teamworld.worlds.household.world import HouseholdWorld
from tests.worlds.household.data import FOLDER, needs_data
from tests.worlds.household.recordings import runs
from tests.worlds.household.traces import Acted, Trace, TraceAgent, TraceStep

VERBS: dict[str, Verb] = {verb: verb for verb in physics.VERBS}


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
    handling = [(agent, agent.action) for agent in agents if agent.action is not None and agent.action.verb in HANDLING]
    for (first, act), (other, same) in combinations(handling, 2):
        if act.ids[0] == same.ids[0]:
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


@needs_data
def test_recorded_runs_go_as_recorded_through_the_public_world() -> None:
    """Bars: 97 % of 1,266 steps, 12 of 14 runs; measured: all of both."""
    found = replayed()
    assert sum(run.steps for run in found) == 1266
    assert sum(run.right for run in found) >= 0.97 * 1266
    finished = [run for run in found if not run.name.endswith("unfinished")]
    assert len(finished) == 14
    assert sum(run.ends_right for run in finished) >= 12
    assert sum(run.refused for run in found) <= 6


@needs_data
@pytest.mark.parametrize("apartment", ["apartment_3", "apartment_6"])
def test_recorded_handling_is_near_enough_in_both_apartments(apartment: str) -> None:
    """Apartment 3 is what ``TOLERANCE`` was calibrated on; in apartment 6 less would do."""
    names = {name for name, episode, _ in runs() if episode.home.name == apartment}
    found = [run for run in replayed() if run.name in names]
    assert sum(run.right for run in found) == sum(run.steps for run in found)
    assert sum(run.refused for run in found) <= 1


#: By verb the mean displacement that was recorded, and ours from the recorded places, metres.
DISPLACED = {"putin": (0.06, 0.0), "putback": (0.98, 1.11), "open": (0.68, 0.7), "grab": (0.62, 0.64)}


@needs_data
def test_handling_moves_agents_as_recorded() -> None:
    moved: dict[str, list[tuple[float, float, float]]] = {verb: [] for verb in DISPLACED}
    for _, episode, run in runs():
        at = {agent.id: Point(agent.x, agent.z) for agent in run.steps[0].agents}
        state = physics.start(
            episode, Floor(episode.home), generator(0, "replay"), agents=len(at), rules=Rules("engine"), at=at
        )
        for number, step in enumerate(run.steps[:-1]):
            for agent in step.agents:
                state.put(agent.id, Point(agent.x, agent.z))
            acts = {agent: primitive(act) for agent, act in acted(run, number).items()}
            physics.step(state, acts, generator(number, "replay"))
            for agent, after in zip(step.agents, run.steps[number + 1].agents, strict=True):
                if acts[agent.id].verb in moved:
                    start, end, ours = (agent.x, agent.z), (after.x, after.z), state.points[agent.id]
                    moved[acts[agent.id].verb].append(
                        (math.dist(start, end), math.dist(start, ours), math.dist(end, ours))
                    )
    for verb, expected in DISPLACED.items():
        recorded, ours, apart = (sum(values) / len(values) for values in zip(*moved[verb], strict=True))
        assert (recorded, ours) == pytest.approx(expected, abs=0.02), verb
        assert abs(recorded - ours) < 0.15, verb
        assert apart < 0.35, "metres between where the engine and we put agents, on average"


def primitive(act: Acted | None) -> PrimitiveAction:
    if act is None:
        return physics.WAIT
    first, second, *_ = (*act.ids, 0, 0)
    return PrimitiveAction(VERBS[act.verb], first, second)


# ---- starts and single actions, in every interface


PLACES = [[7.5, -3.7], [14.1, -4.4]]


@needs_data
def test_agents_start_where_they_are_told_to_in_both_interfaces() -> None:
    options = {"data": str(FOLDER), "starts": PLACES}
    world = registry.make("household", "official-0", seed=3, horizon=250, options=options)
    env = parallel_env("official-0", data=FOLDER, starts=[(7.5, -3.7), (14.1, -4.4)])
    observations, _ = env.reset(seed=3)
    assert world.snapshot()["agents"] == [[750, -370, 0], [1410, -440, 0]]
    for agent, place in zip(env.agents, PLACES, strict=True):
        assert observations[agent]["observation"][:2].tolist() == pytest.approx(place)


@needs_data
def test_recorded_starts_are_the_same_in_both_interfaces() -> None:
    options = {"data": str(FOLDER), "starts": "recorded"}
    world = registry.make("household", "official-5", seed=0, horizon=250, options=options)
    env = parallel_env("official-5", data=FOLDER, starts="recorded")
    for seed in range(4):
        world.reset(seed)
        observations, _ = env.reset(seed=seed)
        at = [observations[agent]["observation"][:2].tolist() for agent in env.agents]
        assert [[round(100 * x), round(100 * z)] for x, z in at] == [place[:2] for place in world.snapshot()["agents"]]


@needs_data
def test_a_recorded_run_goes_as_recorded_through_the_array_environment() -> None:
    name, episode, run = next(item for item in runs() if item[0] == "task40_setup_table_two_agents")
    env = parallel_env("official-40", data=FOLDER, starts=[(agent.x, agent.z) for agent in run.steps[0].agents])
    env.reset(seed=0)
    table = Table(episode)
    right = 0
    for number, step in enumerate(run.steps):
        rewards: dict[str, float] = {}
        before = sum(max(0, units) for units in (run.steps[number - 1] if number else FIRST).remaining.values())
        if not env.agents:
            break
        orders = {env.agents[agent - 1]: numbered(table, act) for agent, act in acted(run, number).items()}
        _, rewards, *_ = env.step(orders)
        gained = before - sum(max(0, units) for units in step.remaining.values())
        right += number == 0 or rewards["Alice"] == gained
    assert (name, right) == ("task40_setup_table_two_agents", len(run.steps))
    assert not env.agents


FIRST = TraceStep((), {})


def numbered(table: Table, act: Acted | None) -> int:
    """Return a recorded action as a number of the array environment; what is put down is what the right hand holds."""
    on_rows = {"walktowards": 0, "open": 1, "grab": 2, "putin": 3, "putback": 3}
    if act is None or act.verb not in on_rows:
        return 0
    return len(PLAIN) + on_rows[act.verb] * ROWS + table.row[act.ids[-1]]


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        (5, "starts must be random, recorded, or a list of places"),
        ("somewhere", "starts must be random, recorded, or a list of places"),
        ([[1.0]], "starts must be random, recorded, or a list of places"),
        ([], "starts must be random, recorded, or a list of places"),
        ([["a", 1.0]], "starts must be random, recorded, or a list of places"),
        ([[float("nan"), 1.0]], "starts must be random, recorded, or a list of places"),
        ([[7.5, -3.7]] * 3, "starts names 3 places, expected at most one for each of the 2 agents"),
        ([[70.0, 80.0]], "agent 1 would start at [70.0, 80.0], which is in no room"),
    ],
)
def test_bad_starts_are_refused_with_one_line_in_both_interfaces(starts: object, message: str) -> None:
    with pytest.raises(UserError) as world:
        registry.make("household", "dev-0", seed=0, horizon=9, options={"starts": starts})
    with pytest.raises(UserError) as env:
        parallel_env("dev-0", starts=cast("Any", starts))
    assert all(message in str(error.value) and "\n" not in str(error.value) for error in (world, env))
