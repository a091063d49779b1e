from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.language import Entity, Fact, Facts
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.levels import generate
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import make_state
from teamworld.worlds.cube.symbolic_state import (
    DELTA,
    OPPOSITE,
    SIDES,
    Square,
    SymbolicState,
    agent_name,
    read_state,
)
from tests.worlds.cube.reference import Scene
from tests.worlds.cube.team import state

# A block of weight 2 at rows 2-3, columns 4-5, another of weight 1 right of its upper row.
SCENE = state(10, [(2, 3), (2, 2), (3, 1), (6, 4)], [(2, 2, 4), (1, 2, 6)])
B0, B1 = Entity("block", 0), Entity("block", 1)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("agent_0", "agent_2", 3),
        ("agent_0", (0, 0), 5),
        ("agent_0", B0, 1),
        ("agent_3", B0, 3),
        (B0, B1, 1),
        ((9, 9), B0, 6 + 4),
        ((3, 4), 0, 0),
    ],
)
def test_distance_is_manhattan_to_the_nearest_cell(first: object, second: object, distance: int) -> None:
    assert geometry.get_distance(SCENE, first, second) == distance  # type: ignore[arg-type]
    assert geometry.get_distance(SCENE, second, first) == distance  # type: ignore[arg-type]


def test_an_agent_on_the_face_or_in_line_behind_it_is_aligned() -> None:
    assert geometry.is_aligned_with_block(SCENE, B0, "left")
    assert not geometry.is_aligned_with_block(SCENE, B0, "down")
    assert geometry.is_aligned_with_block(SCENE, B0, "left", "agent_0")
    assert geometry.is_aligned_with_block(SCENE, B0, "left", "agent_1")
    assert not geometry.is_aligned_with_block(SCENE, B0, "left", "agent_2")  # a gap in its row
    assert not geometry.is_aligned_with_block(SCENE, B0, "down", "agent_3")
    assert not geometry.is_aligned_with_block(SCENE, B0, "up", "agent_0")
    with pytest.raises(UserError, match="no agent 'bob'"):
        geometry.is_aligned_with_block(SCENE, B0, "left", "bob")
    assert geometry.count_aligned_agents(SCENE, B0, "left") == 2
    assert geometry.count_aligned_agents(SCENE, B0, "right") == 0


def test_a_line_is_at_most_ten_long() -> None:
    long = state(20, [(5, col) for col in range(12)], [(1, 5, 12)])
    assert geometry.count_aligned_agents(long, 0, "left") == 10
    assert geometry.face_of(long, "agent_2", 0) == "left"
    assert geometry.face_of(long, "agent_1", 0) is None
    assert geometry.aligned_faces(long, "agent_2") == [geometry.Place(0, "left")]
    assert geometry.aligned_faces(long, "agent_1") == []


def test_aligned_positions_are_the_face_and_the_ends_of_its_lines() -> None:
    assert geometry.all_aligned_positions(SCENE, B0, "left") == {(2, 3), (2, 2), (2, 1), (3, 3)}
    assert geometry.all_aligned_positions(SCENE, B0, "right") == {(3, 6)}  # the other cell is in block 1
    assert geometry.all_aligned_positions(SCENE, B0, "up") == {(1, 4), (1, 5)}
    corner = state(6, [(5, 5)], [(1, 0, 0)])
    assert geometry.all_aligned_positions(corner, 0, "left") == frozenset()


def test_progress_and_delivery() -> None:
    assert geometry.block_progress(SCENE, B0) == 10 - 4 - 2
    assert not geometry.delivered(SCENE, B0)
    done = SymbolicState(10, SCENE.agents, {**SCENE.blocks, 1: Square(1, -1, -1, True)})
    assert geometry.delivered(done, B1)
    assert geometry.block_progress(done, B1) == 0


def test_quorum_counts_the_own_weight_and_the_chain_has_its_own_concept() -> None:
    assert geometry.quorum_status(SCENE, B0, "left")
    assert geometry.quorum_deficit(SCENE, B0, "left") == 0
    assert geometry.quorum_deficit(SCENE, B0, "down") == 2
    assert not geometry.quorum_status(SCENE, B1, "up")
    assert geometry.chain_weight(SCENE, B0, "left") == 3
    assert geometry.chain_weight(SCENE, B0, "up") == 2
    assert geometry.chain_weight(SCENE, B1, "right") == 3


def test_the_chain_takes_both_of_two_blocks_side_by_side() -> None:
    fork = state(10, [(9, 0)], [(2, 2, 2), (1, 2, 4), (1, 3, 4), (1, 3, 5), (1, 3, 7)])
    assert sorted(geometry.chain(fork, 0, "right")) == [0, 1, 2, 3]
    assert geometry.chain_weight(fork, 0, "left") == 5


def test_blocked_names_its_causes() -> None:
    assert geometry.blocked(SCENE, B0, "right")
    assert geometry.blocked_by(SCENE, B0, "right") == geometry.FaceObstacles(False, (1,), ())
    assert geometry.blocked_by(SCENE, B0, "left") == geometry.FaceObstacles(False, (), ("agent_0",))
    assert not geometry.blocked(SCENE, B0, "up")
    assert geometry.blocked_by(state(6, [(5, 5)], [(2, 0, 0)]), 0, "up") == geometry.FaceObstacles(True, (), ())


def test_wrong_arguments_say_what_was_expected() -> None:
    with pytest.raises(UserError, match="did you mean 'left'"):
        geometry.quorum_deficit(SCENE, B0, "lef")
    with pytest.raises(UserError, match="the known blocks are 0, 1"):
        geometry.blocked(SCENE, Entity("block", 7), "left")
    with pytest.raises(UserError, match="no agent 'agent_9'"):
        geometry.get_distance(SCENE, "agent_9", B0)
    done = SymbolicState(10, SCENE.agents, {0: Square(2, -1, -1, True)})
    with pytest.raises(UserError, match="delivered"):
        geometry.chain_weight(done, B0, "left")


@given(seed=st.integers(0, 10_000), n=st.sampled_from([2, 4, 8, 16]), steps=st.integers(0, 40))
def test_lines_and_chains_are_those_of_the_physics(seed: int, n: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = make_state(generate(n, rng=rng))
    for _ in range(steps):
        step(arrays, rng.choice(5, size=n, p=[0.05, 0.1, 0.1, 0.05, 0.7]))
    names = tuple(map(agent_name, range(n)))
    here = SymbolicState.from_arrays(arrays, names)
    agents = dict(enumerate(here.agents.values()))
    scene = Scene(
        here.side, agents, {block: (square.weight, (square.row, square.col)) for block, square in here.open_blocks}
    )
    for block, _ in here.open_blocks:
        for side in SIDES:
            way = DELTA[OPPOSITE[side]]
            chain = scene.chain(block, way)
            assert set(geometry.chain(here, block, OPPOSITE[side])) == chain
            assert geometry.chain_weight(here, block, side) == sum(here.blocks[member].weight for member in chain)
            pushers = scene.line_agents(chain, way, dict.fromkeys(scene.agents, way))
            lines = {agent for member in chain for agent in geometry.aligned_agents(here, member, side)}
            assert lines <= {names[agent] for agent in pushers}  # equal but for lines over ten
            faces = {agent for agent in names if geometry.face_of(here, agent, block) == side}
            assert faces == geometry.aligned_agents(here, block, side)
            assert all(geometry.Place(block, side) in geometry.aligned_faces(here, agent) for agent in faces)


@given(seed=st.integers(0, 10_000), n=st.sampled_from([1, 2, 4, 8]), steps=st.integers(0, 60))
def test_a_scene_and_its_facts_are_one(seed: int, n: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = make_state(generate(n, rng=rng))
    for _ in range(steps):
        step(arrays, rng.choice(5, size=n, p=[0, 0, 0, 0.1, 0.9]))
    here = SymbolicState.from_arrays(arrays, tuple(map(agent_name, range(n))))
    again = read_state(Facts(here.facts.items))
    assert again == here
    assert (again.grid == arrays.grid[0]).all()
    assert again.facts.items == here.facts.items


def test_facts_have_the_documented_form() -> None:
    texts = [str(fact) for fact in state(20, [(0, 0)], [(1, 1, 5)]).facts]
    assert texts == [
        "<grid>(0) SIDE 20",
        "agent_0 AT (0, 0)",
        "<block>(0) AT (1, 5)",
        "<block>(0) WEIGHT 1",
        "<block>(0) STATE free",
    ]


def test_facts_that_are_no_scene_are_refused() -> None:
    with pytest.raises(UserError, match="SIDE"):
        read_state(Facts((Fact("agent_0", "AT", (0, 0)),)))
    with pytest.raises(UserError, match="a place is written"):
        read_state(Facts((Fact(Entity("grid", 0), "SIDE", 9), Fact("agent_0", "AT", "home"))))
