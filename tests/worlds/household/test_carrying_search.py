"""No team is faster than the search says: not one that hands things on at random, nor any agent by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds.household import bounds, joint_plans, physics, sight
from teamworld.worlds.household.homes.home import Episode, Need, NodeId, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import WAIT, PrimitiveAction
from teamworld.worlds.household.state import AgentId, Rules, State
from tests.worlds.household.homes import CABINET, COFFEE, FRIDGE, KITCHEN, LIVING, STOVE, TABLE, flat

#: An agent takes a thing, and puts it on or into a piece.
Carry = tuple[AgentId, NodeId, NodeId]


def begin(at: Mapping[AgentId, Point], needs: Sequence[Need], rules: Rules = Rules()) -> State:  # noqa: B008
    placed = Episode("tests", "put_fridge", flat(), tuple(needs), (KITCHEN, LIVING))
    return physics.start(placed, Floor(placed.home), generator(0, "tests"), agents=len(at), rules=rules, at=at)


def bound(state: State, needs: Sequence[Need]) -> int:
    found = bounds.bound(state, needs, state.watched, 60)
    assert found is not None
    return found.steps


def play(state: State, carries: Sequence[Carry], needs: Sequence[Need]) -> int:
    """Play carries, each agent its own in their order, each thing its own in their order; return the steps."""
    left = list(carries)
    rng = generator(0, "tests", "play")
    while not state.done(needs):
        assert state.time < 200
        acts = {}
        for agent in state.points:
            number = next((n for n, carry in enumerate(left) if carry[0] == agent), None)
            acts[agent] = WAIT
            if number is not None and not any(carry[1] == left[number][1] for carry in left[:number]):
                acts[agent] = act(state, agent, *left[number][1:])
        happened = physics.step(state, acts, rng)
        for agent, done in happened.done.items():
            if done.act.verb in ("putin", "putback") and not done.reason:
                left.remove((agent, done.act.target, done.act.onto))
    return state.time


def act(state: State, agent: AgentId, thing: NodeId, piece: NodeId) -> PrimitiveAction:
    if thing not in state.hands[agent].things:
        return joint_plans._take(state, agent, thing)
    if not joint_plans._within_reach(state, agent, piece):
        return joint_plans._go(state, agent, piece)
    node = state.home.nodes[piece]
    if state.rules.strict_put and node.opens and piece not in state.opened:
        return PrimitiveAction("open", piece)
    return PrimitiveAction("putin" if node.opens and node.container else "putback", thing, piece)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rules", [Rules(), Rules(strict_put=True)])
def test_no_team_that_hands_things_on_is_faster(seed: int, rules: Rules) -> None:
    rng = np.random.default_rng(seed)
    needs = (Need("ON", "apple", COFFEE, 1), Need("ON", "wine", COFFEE, 1))
    if seed == 1:
        needs = (Need("INSIDE", "wine", FRIDGE, 1), Need("INSIDE", "cupcake", FRIDGE, 1))
    floor = Floor(flat())
    at = {agent: floor.random(int(rng.choice((KITCHEN, LIVING))), rng) for agent in (1, 2)}
    state = begin(at, needs, rules)
    proven = bound(state, needs)
    fastest = 200
    for _ in range(8):
        carries: list[Carry] = []
        for need in needs:
            thing = next(node.id for node in state.home.nodes.values() if node.name == need.name)
            pieces = [TABLE, STOVE] if seed == 1 else [FRIDGE, CABINET]
            over = rng.permutation(pieces)[: int(rng.integers(3))].tolist()
            carries += [(int(rng.integers(1, 3)), thing, piece) for piece in (*over, need.target)]
        fastest = min(fastest, play(state.copy(), carries, needs))
    assert proven <= fastest


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("needs", "at"),
    [
        ((Need("ON", "apple", TABLE, 1),), Point(-1.05, -0.05)),
        ((Need("INSIDE", "cupcake", FRIDGE, 1),), Point(0.05, -0.55)),
    ],
)
def test_bounds_of_one_agent_are_those_of_all_its_courses(needs: Sequence[Need], at: Point) -> None:
    state = begin({1: at}, needs)
    proven = bound(state, needs)
    level, steps = {key(state): state}, 0
    seen = set(level)
    while not any(each.done(needs) for each in level.values()):
        steps += 1
        after: dict[object, State] = {}
        for each in level.values():
            for tried in list_acts(each, needs[0]):
                other = each.copy()
                physics.step(other, {1: tried}, generator(0, "tests", "play"))
                if (new := key(other)) not in seen:
                    seen.add(new)
                    after[new] = other
        level = after
        assert steps < 12
    assert proven <= steps <= proven + 1


def key(state: State) -> object:
    places = tuple(state.place(thing) for thing in sorted(state.watched))
    return state.points[1], state.hands[1], state.opened, places, state.known[1]


def list_acts(state: State, need: Need) -> list[PrimitiveAction]:
    view, nodes = sight.view(state, 1), state.home.nodes
    walks = [PrimitiveAction("walktowards", n) for n in sorted({*state.home.rooms} | (state.known[1] & state.watched))]
    near = [node for node in sorted(state.watched & view) if state.close(1, node)]
    acts = [PrimitiveAction(verb, node) for node in near for verb in ("grab", "open", "close")]
    for node in near:
        if not nodes[node].grabbable:
            lays = ("ON", node) == (need.relation, need.target) or not (nodes[node].opens and nodes[node].container)
            acts += [PrimitiveAction("putback" if lays else "putin", t, node) for t in state.hands[1].things]
    return [*walks, *(each for each in acts if not physics.refusal(state, 1, each))]
