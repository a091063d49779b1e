"""The lemmas of the bounds in homes: no walk is shorter than its way in the graph, and no step leads further."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds.household import bounds, joint_plans, physics
from teamworld.worlds.household.homes.home import NodeId
from teamworld.worlds.household.levels import episode
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import Rules, State


def begin(seed: int, agents: int = 2) -> tuple[State, frozenset[NodeId]]:
    placed = episode("dev", seed)
    state = physics.start(placed, Floor(placed.home), generator(seed, "tests"), agents=agents, rules=Rules())
    return state, state.watched


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(4))
def test_no_walk_is_shorter_than_its_way_in_the_graph(seed: int) -> None:
    state, _ = begin(seed)
    floor, rng = state.floor, np.random.default_rng(seed)
    graph = bounds._Graph(state, frozenset(), (), ())
    ratios = []
    for node in rng.choice([n for n in state.home.nodes if n not in state.home.rooms], 12).tolist():
        start = floor.random(int(rng.choice(state.home.rooms)), rng)
        if not floor.reach(start, node):
            continue
        at, steps = start, 0
        while (after := floor.towards(at, node)) != at:
            at, steps = after, steps + 1
        far = int(graph.distances(graph.nearest_corner(start))[graph.nearest_corner(at)].min())
        assert (far - 2 * bounds._CORNER) / bounds.STEP_LENGTH <= steps
        if steps > 6:
            ratios.append(far / bounds.STEP_LENGTH / steps)
    assert np.mean(ratios) > 0.8  # and it is not much shorter


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(4))
def test_no_step_of_a_plan_leads_further_than_one_step(seed: int) -> None:
    state, watched = begin(seed)
    needs = episode("dev", seed).needs
    laid = {need.target for need in needs if need.relation == "ON"}
    graph = bounds._Graph(state, watched, laid, ())
    inwards = graph.distances(graph.surroundings[needs[0].target])
    things = [thing for need in needs for thing in bounds._list_things(state, need, watched)[: need.number]]
    left = {1: [[thing] for thing in things[::2]], 2: [[thing] for thing in things[1::2]]}
    rng, slack = generator(seed, "tests", "play"), 2 * bounds._CORNER
    for _ in range(250):
        before = dict(state.points)
        physics.step(
            state, {agent: joint_plans._act(state, agent, trips, needs[0]) for agent, trips in left.items()}, rng
        )
        for agent, at in state.points.items():
            far = [int(inwards[graph.nearest_corner(point)].min()) for point in (before[agent], at)]
            assert abs(far[0] - far[1]) <= bounds.STEP_LENGTH + slack
        if state.done(needs):
            break
    assert state.done(needs)
