"""What is computed the quick way against a slow plain reference: lines, chains, imagined moves, shared blocks."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.cube import candidate_plans, geometry
from teamworld.worlds.cube.domain import CubeDomain
from teamworld.worlds.cube.geometry import targets
from teamworld.worlds.cube.levels import generate
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.skills import better_place
from teamworld.worlds.cube.state import RIGHT, make_state
from teamworld.worlds.cube.symbolic_state import (
    DELTA,
    OPPOSITE,
    SIDES,
    Square,
    SymbolicState,
    agent_name,
    entity,
    read_state,
)
from tests.worlds.cube.team import state


def imagined(seed: int, n: int, steps: int, *, anywhere: bool) -> SymbolicState:
    """Return a state as a team leaves it; with ``anywhere`` agents also stand in blocks and on one another."""
    rng = np.random.default_rng(seed)
    arrays = make_state(generate(n, rng=rng))
    for _ in range(steps):
        step(arrays, rng.choice(5, size=n, p=[0.05, 0.2, 0.2, 0.05, 0.5]))
    here = SymbolicState.from_arrays(arrays, tuple(map(agent_name, range(n))))
    if not anywhere:
        return here
    crowd = {agent: (int(rng.integers(6)), int(rng.integers(10))) for agent in here.agents}
    return SymbolicState(here.side, crowd, dict(here.blocks))


states = st.builds(
    imagined, st.integers(0, 10_000), st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 40), anywhere=st.booleans()
)
faces = st.sampled_from(SIDES)


def fresh(here: SymbolicState) -> SymbolicState:
    """Return an equal state that shares nothing."""
    return SymbolicState(here.side, dict(here.agents), dict(here.blocks), dict(here.unseen))


def some_block(here: SymbolicState, pick: int) -> int:
    blocks = [block for block, _ in here.open_blocks]
    assume(blocks)
    return blocks[pick % len(blocks)]


def plain_staging(here: SymbolicState, block: int, face: str) -> list[Cell]:
    square = here.blocks[block]
    along = 0 if face in ("left", "right") else 1
    corner = (square.row, square.col)[along]
    cells = sorted(
        geometry.cells_outside(square, face), key=lambda cell: abs(2 * (cell[along] - corner) - (square.weight - 1))
    )
    others = [other for _, other in here.open_blocks]
    return [cell for cell in cells if here.is_inside(cell) and not any(other.contains(cell) for other in others)]


def plain_chain(here: SymbolicState, block: int, direction: str) -> set[int]:
    members = {block}
    while True:
        cells = [cell for member in members for cell in geometry.cells_outside(here.blocks[member], direction)]
        more = {other for other, square in here.open_blocks if any(map(square.contains, cells))} - members
        if not more:
            return members
        members |= more


def plain_lined_up(here: SymbolicState, agent: AgentId, block: int, face: str) -> SymbolicState:
    """Line one agent up at a face, from nothing but the state."""
    here = fresh(here)
    if agent in {teammate for line in geometry.lines(here, block, face) for teammate in line.agents}:
        return here
    away = SymbolicState(here.side, {**here.agents, agent: (-2, -2)}, dict(here.blocks))
    free = [line for line in geometry.lines(away, block, face) if line.next is not None]
    if free:
        best = min(free, key=lambda line: (len(line.agents), line.offset))
        assert best.next is not None
        return here.with_agents({agent: best.next})
    middle = next(iter(plain_staging(here, block, face)), None)
    if middle is None:
        return here
    return here.with_agents({here.by_cell[middle]: here.agents[agent], agent: middle})


def plain_gathered(here: SymbolicState, block: int, face: str, need: int) -> SymbolicState:
    here = fresh(here)
    aligned = {teammate for line in geometry.lines(here, block, face) for teammate in line.agents}
    others = [agent for agent in here.agents if agent not in aligned]
    others.sort(key=lambda agent: geometry.get_distance(here, agent, block))
    for agent in others[: max(0, need - len(aligned))]:
        here = plain_lined_up(here, agent, block, face)
    return here


def plain_shifted(here: SymbolicState, block: int, direction: str, steps: int) -> SymbolicState:
    """Push a block all the way if that is clear, else cell by cell."""
    steps = min(steps, geometry.cells_to_edge(here, block, direction))
    while steps > 0 and not here.blocks[block].delivered:
        here = fresh(here)
        square = here.blocks[block]
        rows, cols = DELTA[direction]
        lane = [replace_square(square, rows * i, cols * i) for i in range(1, steps + 1)]
        rest = [other for name, other in here.open_blocks if name != block]
        clear = not any(overlap(member, other) for member in lane for other in rest)
        leap = steps if clear else 1
        chain = plain_chain(here, block, direction)
        weight = sum(here.blocks[member].weight for member in chain)
        if weight > len(here.agents) or any(geometry.cells_to_edge(here, member, direction) == 0 for member in chain):
            break
        blocks = dict(here.blocks)
        for member in chain:
            moved = replace_square(blocks[member], rows * leap, cols * leap)
            home = direction == "right" and moved.col + moved.weight >= here.side
            blocks[member] = Square(moved.weight, -1, -1, True) if home else moved
        behind = {member for line in geometry.lines(here, block, OPPOSITE[direction]) for member in line.agents}
        agents = {
            agent: (row + rows * leap, col + cols * leap) if agent in behind else (row, col)
            for agent, (row, col) in here.agents.items()
        }
        here = SymbolicState(here.side, agents, blocks)
        steps -= leap
    return here


def replace_square(square: Square, rows: int, cols: int) -> Square:
    return Square(square.weight, square.row + rows, square.col + cols)


def overlap(first: Square, second: Square) -> bool:
    return (
        first.row < second.row + second.weight
        and second.row < first.row + first.weight
        and first.col < second.col + second.weight
        and second.col < first.col + first.weight
    )


@given(here=states, pick=st.integers(0, 50), face=faces)
def test_faces_chains_and_lines(here: SymbolicState, pick: int, face: str) -> None:
    block = some_block(here, pick)
    assert geometry.staging_cells(here, block, face) == plain_staging(here, block, face)
    assert set(geometry.chain(here, block, face)) == plain_chain(here, block, face)
    lines = geometry.lines(here, block, face)
    aligned = {agent for line in lines for agent in line.agents}
    assert geometry.aligned_agents(here, block, face) == aligned
    assert {agent for agent in here.agents if geometry.face_of(here, agent, block) == face} == aligned
    free = [((len(line.agents), line.offset), line.next) for line in lines if line.next is not None]
    assert targets(here, block, face) == sorted(free, key=lambda target: target[0])


@given(here=states, pick=st.integers(0, 50), face=faces, need=st.integers(1, 16))
def test_gathering_is_lining_up_one_after_another(here: SymbolicState, pick: int, face: str, need: int) -> None:
    block = some_block(here, pick)
    assert candidate_plans._state_after_rendezvous(here, block, face, need) == plain_gathered(here, block, face, need)


@given(here=states, pick=st.integers(0, 50), face=faces)
def test_one_agent_lines_up(here: SymbolicState, pick: int, face: str) -> None:
    block = some_block(here, pick)
    for agent in here.agents:
        then = candidate_plans.expected_state(here, agent, Action("move_to_block", (entity(block), face, 40)))
        goes_on = geometry.face_of(here, agent, block) == face and better_place(here, agent, block, face) is not None
        if goes_on:  # toward the middle, as the action does
            assert then.agents[agent] in [cell for _, cell in targets(here, block, face)]
            assert then == here.with_agents({agent: then.agents[agent]})
        else:
            assert then == plain_lined_up(here, agent, block, face)


@given(here=states, pick=st.integers(0, 50), direction=faces, steps=st.integers(1, 20))
def test_a_push_leaps_to_where_single_steps_lead(here: SymbolicState, pick: int, direction: str, steps: int) -> None:
    block = some_block(here, pick)
    expected = plain_shifted(here, block, direction, steps)
    assert candidate_plans.pushed_state(here, block, direction, steps) == expected
    assert candidate_plans.pushed_state(here, block, direction, steps) == expected  # now from the memo


@pytest.mark.parametrize("other", [(4, 4), (4, 2), (4, 3)])
def test_who_is_run_over_comes_out_behind(other: Cell) -> None:
    here = SymbolicState(12, {"agent_0": (4, 1), "agent_1": other}, {0: Square(2, 4, 2), 1: Square(1, 4, 9)})
    assert candidate_plans.pushed_state(here, 0, "right", 8) == plain_shifted(here, 0, "right", 8)


def test_a_full_face_makes_room() -> None:
    here = state(10, [(0, 0), (1, 0), (2, 0), (3, 0), (5, 5)], [(2, 1, 1)])
    assert geometry.aligned_agents(here, 0, "left") == {"agent_1", "agent_2"}
    then = candidate_plans._state_after_rendezvous(here, 0, "left", 4)
    assert then == plain_gathered(here, 0, "left", 4)
    assert then.agents != here.agents  # somebody changed places


def test_ways_hold_while_no_block_moves() -> None:
    here = state(10, [(1, 0), (8, 8)], [(1, 1, 2)])
    walked = here.with_agents({"agent_1": (0, 0)})
    assert walked.block_map is here.block_map
    pushed = candidate_plans.pushed_state(here, 0, "right", 1)
    assert pushed.block_map is not here.block_map
    assert pushed.walls[2, 4] == 1
    assert here.walls[2, 4] == 0
    assert replace(here, side=12).block_map is not here.block_map
    assert replace(here, side=12).walls.shape == (14, 14)


def test_the_next_scene_takes_over_blocks_that_stand() -> None:
    arrays = make_state(generate(1, rng=np.random.default_rng(0)))
    names = ("agent_0",)
    before = SymbolicState.from_arrays(arrays, names)
    shared = []
    for _ in range(60):
        step(arrays, np.full(1, RIGHT))
        after = SymbolicState.from_arrays(arrays, names, before=before)
        assert after == SymbolicState.from_arrays(arrays, names)
        assert (after.grid == arrays.grid[0]).all()
        assert (np.where(arrays.grid[0] < 0, 0, arrays.grid[0]) == np.maximum(after.walls, 0)).all()
        assert (after.block_map is before.block_map) == (after.blocks == before.blocks)
        shared.append(after.block_map is before.block_map)
        before = after
    assert any(shared)


def test_a_scene_in_which_nothing_moves_stays() -> None:
    arrays = make_state(generate(2, rng=np.random.default_rng(0)))
    names = ("agent_0", "agent_1")
    before = SymbolicState.from_arrays(arrays, names)
    step(arrays, np.zeros(2, np.int8))
    assert SymbolicState.from_arrays(arrays, names, before=before) is before
    step(arrays, np.array([RIGHT, 0], np.int8))
    assert SymbolicState.from_arrays(arrays, names, before=before) is not before


def test_facts_lead_back_to_their_scene() -> None:
    here = state(10, [(1, 0), (8, 8)], [(1, 1, 2)])
    facts = here.facts
    assert read_state(facts) is here
    assert here.facts is facts, "as long as somebody holds them"
    told = list(facts)
    del facts
    assert list(here.facts) == told


def test_a_scene_goes_with_its_last_reader() -> None:
    here = state(10, [(1, 0), (8, 8)], [(1, 1, 2)])
    domain, gone = CubeDomain(), weakref.ref(here)
    facts = here.facts
    for action in (Action("idle", (3,)), Action("move_to_block", (entity(0), "left"))):
        domain.predict("agent_0", action, facts)
    assert better_place(here, "agent_1", 0, "left") is not None
    gc.disable()
    try:
        del here, facts
        assert gone() is None
    finally:
        gc.enable()


def test_completed_actions_are_kept_by_value_and_type() -> None:
    known = CubeDomain().schemas(state(10, [(1, 0)], [(1, 1, 2)]))
    assert known.complete(Action("idle", (2,))) == Action("idle", (2,))
    with pytest.raises(UserError, match="number"):
        known.complete(Action("idle", (2.0,)))
    assert known.complete(Action("idle")) is known.complete(Action("idle"))
