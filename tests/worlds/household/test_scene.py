"""Episodes and moments as plain data: small, whole, and true to the state at every step."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.household import drawing_data, physics
from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.home import SEARCHED, Episode, Need
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import PrimitiveAction
from teamworld.worlds.household.state import Rules, State
from tests.worlds.household import homes
from tests.worlds.household.data import episodes, needs_data
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, FRIDGE, KITCHEN, LIVING, STOVE, TABLE


def play(episode: Episode, seed: int, steps: int, agents: int = 2) -> State:
    """Return a moment after acts drawn at random, in engine mode so that much happens."""
    rng = generator(seed, "test")
    state = physics.start(episode, Floor(episode.home), rng, agents=agents, rules=Rules(mode="engine"))
    nodes = sorted(state.watched)
    for _ in range(steps):
        acts = {}
        for agent in state.points:
            verb = ("walktowards", "open", "grab", "putin", "putback", "close")[rng.integers(6)]
            node, held = nodes[rng.integers(len(nodes))], state.hands[agent].things
            targets = (held[0], node) if verb.startswith("put") and held else (node,)
            acts[agent] = PrimitiveAction(verb, *targets)  # type: ignore[arg-type]
        physics.step(state, acts, rng)
    return state


def test_what_stands_where() -> None:
    fixed = drawing_data.static(homes.tea())
    assert (fixed["v"], fixed["home"], fixed["task"], fixed["steps"]) == (1, "flat", "read_book", 250)
    assert fixed["rooms"] == [
        {"id": KITCHEN, "name": "kitchen", "box": [-300, -250, 300, 250]},
        {"id": LIVING, "name": "livingroom", "box": [300, -250, 900, 250]},
    ], "rooms meet in the middle of the wall"
    assert fixed["doors"] == [{"at": [300, 0], "across": "x", "width": 93}]
    pieces = {piece["id"]: piece for piece in fixed["furniture"]}
    assert {FRIDGE, STOVE, TABLE, COFFEE} <= pieces.keys()
    assert homes.SWITCH not in pieces
    assert homes.APPLE not in pieces
    assert pieces[FRIDGE] == {
        "id": FRIDGE, "name": "fridge", "container": True, "goal": False, "box": [-280, 160, -200, 240],
    }  # fmt: skip
    assert [one for one, piece in pieces.items() if piece["goal"]] == [COFFEE]
    assert [one["id"] for one in fixed["things"]] == [APPLE, CUPCAKE]
    assert fixed["needs"][1] == {"relation": "ON", "name": "cupcake", "target": COFFEE, "number": 1}


def test_a_moment() -> None:
    episode = homes.tea()
    state = physics.start(episode, Floor(episode.home), generator(0, "test"))
    state.headings[1] = 359.7
    state.grab(2, CUPCAKE)
    state.open(FRIDGE)
    state.time = 7
    (x, z), (other_x, other_z) = state.points.values()
    assert drawing_data.snapshot(state, episode) == {
        "v": 1,
        "t": 7,
        "agents": [[round(x * 100), round(z * 100), 0], [round(other_x * 100), round(other_z * 100), 0]],
        "hands": [[None, None], [CUPCAKE, None]],
        "open": [FRIDGE],
        "things": [["INSIDE", FRIDGE, -240, 200], ["HELD", 2, round(other_x * 100), round(other_z * 100)]],
        "missing": [1, 1],
    }
    state.release(CUPCAKE, ("ON", COFFEE))
    moment = drawing_data.snapshot(state, episode)
    assert moment["things"][1][:2] == ["ON", COFFEE]
    assert moment["missing"] == [1, 0]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 40), agents=st.integers(1, 5), steps=st.integers(0, 60))
def test_snapshots_are_small_plain_and_true(seed: int, agents: int, steps: int) -> None:
    episode = home_generator.episode(seed % 4)
    fixed, state = drawing_data.static(episode), play(episode, seed, steps, agents)
    moment = drawing_data.snapshot(state, episode)
    assert json.loads(json.dumps(moment)) == moment
    assert json.loads(json.dumps(fixed)) == fixed
    assert len(json.dumps(moment)) < 900
    assert len(json.dumps(fixed)) < 9000
    assert len(moment["things"]) == len(fixed["things"])
    assert moment["missing"] == [max(0, state.missing(need)) for need in episode.needs]
    held = [thing for hands in moment["hands"] for thing in hands if thing is not None]
    for thing, (relation, node, x, z) in zip(fixed["things"], moment["things"], strict=True):
        box = state.box(thing["id"])
        assert np.allclose((x, z), (box.x * 100, box.z * 100), atol=0.51)
        if relation == "HELD":
            assert moment["hands"][node - 1].count(thing["id"]) == 1
            held.remove(thing["id"])
        else:
            assert state.place(thing["id"]) == (relation, node)
    assert all(episode.home.nodes[thing].name not in {need.name for need in episode.needs} for thing in held)
    assert {node for node in moment["open"] if episode.home.nodes[node].name in SEARCHED} == {
        node for node in state.opened if episode.home.nodes[node].name in SEARCHED
    }


def test_moments_can_be_told_apart() -> None:
    episode = home_generator.episode(0)
    seen = {json.dumps(drawing_data.snapshot(play(episode, 3, steps), episode)) for steps in range(12)}
    assert len(seen) == 12


def test_more_than_asked_for_is_not_missing_less_than_nothing() -> None:
    home = homes.flat()
    episode = Episode(
        "e", "read_book", home, (Need("ON", "cupcake", TABLE, 1), Need("ON", "apple", COFFEE, 1)), (KITCHEN,)
    )
    state = physics.start(episode, Floor(home), generator(0, "test"), agents=1)
    state.grab(1, CUPCAKE)
    state.release(CUPCAKE, ("ON", TABLE))
    assert drawing_data.snapshot(state, episode)["missing"] == [0, 1]


@needs_data
@pytest.mark.parametrize("task", [0, 5, 20])
def test_real_homes(task: int) -> None:
    episode = episodes()[task]
    fixed = drawing_data.static(episode)
    names = [piece["name"] for piece in fixed["furniture"]]
    assert {"bed", "kitchentable", "desk", "sofa"} <= set(names), "also what stands on a rug"
    assert sum(piece["container"] for piece in fixed["furniture"]) == len(episode.home.searched)
    assert [piece["id"] for piece in fixed["furniture"] if piece["goal"]] == [episode.needs[0].target]
    assert not any(name.startswith(("wall", "ceiling", "curtain")) for name in names)
    assert len(json.dumps(fixed)) < 9000
