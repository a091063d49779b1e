"""No agent that does what it can at random is faster from one handling to the next than the legs say."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds.household import physics, sight
from teamworld.worlds.household.handling_legs import Handling, Legs
from teamworld.worlds.household.homes.home import Need, NodeId, close
from teamworld.worlds.household.levels import episode
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import HANDLING, PrimitiveAction
from teamworld.worlds.household.state import AgentId, State, body
from tests.worlds.household.homes import flat
from tests.worlds.household.scenes import groceries


def begin(seed: int) -> tuple[State, Need]:
    placed = groceries(flat()) if seed == 0 else episode("dev", seed)
    return physics.start(placed, Floor(placed.home), generator(seed, "tests")), placed.needs[0]


def list_acts(state: State, agent: AgentId, need: Need) -> list[PrimitiveAction]:
    """Return all handling by which an agent may do something now, as the actions of the world ask for."""
    view, nodes, acts = sight.view(state, agent), state.home.nodes, []
    for node in sorted(state.watched & view):
        if not state.close(agent, node):
            continue
        acts += [PrimitiveAction(verb, node) for verb in ("grab", "open", "close")]
        lays = ("ON", node) == (need.relation, need.target) or not (nodes[node].opens and nodes[node].container)
        if not nodes[node].grabbable:
            acts += [PrimitiveAction("putback" if lays else "putin", t, node) for t in state.hands[agent].things]
    return [act for act in acts if not physics.refusal(state, agent, act)]


def name(state: State, act: PrimitiveAction, need: Need) -> Handling:
    """Return what legs call an act that is done next."""
    if act.verb == "grab":
        place = state.place(act.target)
        assert place is not None
        return ("grab", act.target) if state.fixed(act.target) else ("take", place[1])
    if act.verb in ("putin", "putback"):
        return ("put" if act.onto == need.target else "lay"), act.onto
    return "open", act.target


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
def test_nobody_is_faster_than_a_leg(seed: int) -> None:
    state, need = begin(seed)
    legs = Legs(state, need, state.watched)
    rng, play = np.random.default_rng(seed), generator(seed, "tests", "play")
    history: dict[AgentId, list[tuple[Handling, int, bool]]] = {
        agent: [(("start", agent), 0, False)] for agent in state.points
    }
    aims: dict[AgentId, NodeId] = {}
    for _ in range(250):
        acts = {}
        for agent in state.points:
            able = list_acts(state, agent, need)
            if able and rng.random() < 0.4:
                acts[agent] = able[int(rng.integers(len(able)))]
                continue
            if agent not in aims or rng.random() < 0.2:
                known = sorted((state.known[agent] & state.watched) | {*state.home.rooms})
                aims[agent] = int(rng.choice(known))
            acts[agent] = PrimitiveAction("walktowards", aims[agent])
        names = {agent: name(state, act, need) for agent, act in acts.items() if act.verb in HANDLING}
        happened = physics.step(state, acts, play)
        for agent, done in happened.done.items():
            past = history[agent]
            if done.act.verb in HANDLING and not done.reason:
                was_full = True
                for handling, time, is_full in reversed(past[-6:]):
                    was_full = was_full and is_full
                    fewest = int(legs.steps(handling, names[agent], was_full).min())
                    assert fewest <= state.time - time, (handling, names[agent])
                past.append((names[agent], state.time, len(state.hands[agent].things) == 2))
    assert min(len(past) for past in history.values()) > 20


def test_things_are_handled_from_where_they_are_close_and_seen() -> None:
    state, need = begin(0)
    legs, floor, rng = Legs(state, need, state.watched), state.floor, np.random.default_rng(0)
    counts = [0, 0]
    for node in legs.pieces:
        near, room = legs._stop(("lay", node)).near, state.room(node)
        for each in rng.permutation(np.argwhere(floor.free))[:400]:
            at = floor.middle((int(each[0]), int(each[1])))
            boxes = legs._reached(node) if node not in legs._laid else [state.box(node)]
            is_close = any(close(body(at), box, 1e-9) for box in boxes)
            is_seen = room in (floor.room(at), *floor.doorway(at))
            assert near.contains(legs._at([at]))[0] == (is_close and is_seen)
            counts[is_close and is_seen] += 1
    assert min(counts) > 20
