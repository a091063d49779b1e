"""CUBE's rules of motion: published cases, the reference implementation, and invariants."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.physics import PushAttempt, push_attempt, step
from teamworld.worlds.cube.state import (
    DOWN,
    LEFT,
    PUSHED,
    RIGHT,
    STAY,
    STEPS,
    UP,
    WALKED,
    WALL,
    Block,
    CubeState,
    EpisodeRules,
    ForceScope,
    Layout,
    load,
    make_state,
)
from teamworld.worlds.kernel_compiler import compiled
from tests.worlds.cube.reference import Scene

if TYPE_CHECKING:
    import numpy.typing as npt

Cell = tuple[int, int]


def play(layout: Layout, actions: list[int], rules: EpisodeRules | None = None) -> CubeState:
    """Play one step of a layout and return the state."""
    state = make_state(layout, rules)
    step(state, np.array(actions))
    return state


def blocks_of(state: CubeState, env: int = 0) -> list[Cell]:
    """Return the top-left cells of all blocks."""
    return [(int(row), int(col)) for row, col in zip(state.block_row[env], state.block_col[env], strict=True)]


def agents_of(state: CubeState, env: int = 0) -> list[Cell]:
    """Return the cells of all agents."""
    return [(int(row), int(col)) for row, col in state.agent_positions(env)]


def attempt_on(state: CubeState, block: int, direction: int) -> PushAttempt:
    """Return the outcome of the last step's push."""
    attempt = push_attempt(state, 0, block, direction)
    assert attempt is not None
    return attempt


def moved_by(cells: list[Cell], row: int, col: int) -> list[Cell]:
    """Return the cells moved by (row, col)."""
    return [(r + row, c + col) for r, c in cells]


def rebuilt(state: CubeState, env: int) -> npt.NDArray[np.int16]:
    """Make the grid of one environment anew from positions; fail if two entities share a cell."""
    side = state.grid_size
    grid = np.full((side + 2, side + 2), WALL, np.int16)
    grid[1:-1, 1:-1] = 0
    for b in np.flatnonzero(state.delivered_at[env] == 0):
        row, col, weight = (int(part[env, b]) for part in (state.block_row, state.block_col, state.block_weight))
        body = grid[row + 1 : row + 1 + weight, col + 1 : col + 1 + weight]
        assert body.shape == (weight, weight)
        assert not body.any()
        body[...] = b + 1
    for i, (row, col) in enumerate(agents_of(state, env)):
        assert grid[row + 1, col + 1] == 0
        grid[row + 1, col + 1] = -(i + 1)
    return grid


# Published cases -----------------------------------------------------------------------------------------


def test_agent_chain_and_block_chain_move_as_one() -> None:
    layout = Layout(8, ((2, 1), (3, 1), (3, 0)), (Block(2, 2, 2), Block(1, 2, 4)))
    state = play(layout, [RIGHT] * 3)
    assert blocks_of(state) == [(2, 3), (2, 5)]
    assert agents_of(state) == moved_by(list(layout.agents), 0, 1)
    assert state.agent_result[0].tolist() == [PUSHED] * 3


def test_too_heavy_a_chain_stays() -> None:
    layout = Layout(8, ((2, 0), (3, 0), (4, 0)), (Block(3, 2, 1), Block(1, 3, 4)))
    state = play(layout, [RIGHT] * 3)
    assert blocks_of(state) == [(2, 1), (3, 4)]
    assert agents_of(state) == list(layout.agents)
    attempt = attempt_on(state, 0, RIGHT)
    assert (attempt.force, attempt.weight, attempt.too_heavy) == (3, 4, True)


def test_smallest_index_wins_a_free_cell() -> None:
    state = play(Layout(8, ((2, 3), (4, 3)), ()), [DOWN, UP])
    assert agents_of(state) == [(3, 3), (4, 3)]
    assert state.agent_result[0].tolist() == [WALKED, 0]
    state = play(Layout(8, ((4, 3), (2, 3)), ()), [UP, DOWN])
    assert agents_of(state) == [(3, 3), (2, 3)]


def test_a_block_in_a_corner_cannot_be_moved() -> None:
    layout = Layout(9, ((0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2), (1, 4), (4, 1)), (Block(3, 0, 0),))
    for action in (LEFT, UP, RIGHT, DOWN):
        state = play(layout, [action] * 8)
        assert blocks_of(state) == [(0, 0)]
    attempt = attempt_on(play(layout, [LEFT] * 8), 0, LEFT)
    assert attempt.blockers == ("wall",)
    assert attempt.force == 4
    assert not attempt.moved


def test_always_right_from_the_published_layouts() -> None:
    state = make_state(layout_for("paper-n16", 42))
    for _ in range(9):
        step(state, np.full(16, RIGHT))
    where = blocks_of(state)
    assert (where[0], where[4], where[8]) == ((1, 2), (11, 2), (15, 1))
    attempt = attempt_on(state, 0, RIGHT)
    assert (attempt.force, attempt.weight) == (9, 13)
    attempt = attempt_on(state, 4, RIGHT)
    assert (attempt.force, attempt.weight) == (1, 2)
    stuck = {row for block in layout_for("paper-n16", 42).blocks for row in range(block.row, block.row + block.weight)}
    free = [col for row, col in agents_of(state) if row not in stuck]
    assert free
    assert set(free) == {9}

    state = make_state(layout_for("paper-n32", 42))
    for _ in range(17):
        step(state, np.full(32, RIGHT))
    where = blocks_of(state)
    assert (where[0], where[10], where[4], where[12]) == ((1, 2), (20, 2), (23, 11), (28, 5))
    assert state.blocks_left[0] == 15
    for block, forces, weight in ((0, {17}, 25), (4, {4, 5}, 8)):
        attempt = attempt_on(state, block, RIGHT)
        assert attempt.force in forces
        assert attempt.weight == weight


def test_rewards() -> None:
    layout = Layout(6, ((2, 2), (3, 2)), (Block(2, 2, 3), Block(1, 0, 1)))
    assert play(layout, [STAY, STAY]).reward[0] == pytest.approx(-0.01)
    state = play(layout, [RIGHT, RIGHT])
    assert state.reward[0] == pytest.approx(-0.01 + 1.0)
    assert state.delivered_at[0].tolist() == [1, 0]
    assert state.delivered_weight[0] == 2
    assert not state.terminated[0]
    assert not state.grid[0, 3:5, 5:7].any()
    state = play(layout, [RIGHT, RIGHT], EpisodeRules(step_cost=0.5, deliver_reward=3.0))
    assert state.reward[0] == pytest.approx(-0.5 + 3.0)


# Points that the sources leave open ---------------------------------------------------------------------------------


SIDE_BY_SIDE = (Block(2, 2, 2), Block(1, 2, 4), Block(1, 3, 4))
LEANING = (Block(2, 3, 2), Block(2, 2, 4), Block(2, 4, 4), Block(3, 2, 6))
TWO_LINES = ((1, 3), (1, 2), (1, 1), (1, 0), (6, 3), (6, 2), (6, 1), (6, 0))


@pytest.mark.parametrize(
    ("agents", "blocks", "actions", "blocks_after", "agents_after"),
    [
        # The pushed block takes the only cell of the other block's left face.
        (((3, 1),), (Block(1, 3, 4), Block(1, 3, 2)), [RIGHT], [(3, 4), (3, 3)], [(3, 2)]),
        # Two blocks side by side ahead both belong to the chain: three are too few, four are enough.
        (((2, 1), (3, 1), (3, 0)), SIDE_BY_SIDE, [RIGHT] * 3, [(2, 2), (2, 4), (3, 4)], None),
        (((2, 1), (3, 1), (3, 0), (2, 0)), SIDE_BY_SIDE, [RIGHT] * 4, [(2, 3), (2, 5), (3, 5)], None),
        # No pulling. Block 0 touches block 1 from behind; only block 1 is pushed, with force for both.
        (((3, 2), (3, 1), (3, 0)), (Block(1, 2, 2), Block(2, 2, 3)), [RIGHT] * 3, [(2, 2), (2, 4)], None),
        # Two blocks lean on a common one; each alone is too weak for its chain, together they would exceed the sum,
        # and an idle block behind both must not turn them into one body.
        (TWO_LINES, LEANING, [RIGHT] * 8, [(3, 2), (2, 4), (4, 4), (2, 6)], None),
        # Agent 1 stands before block 0 and pushes block 1, which is further ahead: the cell that it leaves is free.
        (
            ((3, 1), (3, 3)),
            (Block(1, 3, 2), Block(1, 3, 4)),
            [RIGHT] * 2,
            [(3, 3), (3, 5)],
            [(3, 2), (3, 4)],
        ),
        # No trains, swaps or rotations of free agents.
        (((2, 2), (2, 1)), (), [RIGHT] * 2, [], [(2, 3), (2, 1)]),
        (((2, 2), (2, 3)), (), [RIGHT, LEFT], [], [(2, 2), (2, 3)]),
        (((2, 2), (2, 3), (3, 3), (3, 2)), (), [RIGHT, DOWN, LEFT, UP], [], [(2, 2), (2, 3), (3, 3), (3, 2)]),
        # A cell left by a pushing line can be entered.
        (((3, 1), (4, 1)), (Block(1, 3, 2),), [RIGHT, UP], [(3, 3)], [(3, 2), (3, 1)]),
        # Agents may enter the goal column, and excess force is allowed.
        (((3, 10),), (Block(1, 0, 0),), [RIGHT], [(0, 0)], [(3, 11)]),
        (((3, 2), (3, 1)), (Block(1, 3, 3),), [RIGHT] * 2, [(3, 4)], [(3, 3), (3, 2)]),
    ],
)
def test_one_step(
    agents: tuple[Cell, ...],
    blocks: tuple[Block, ...],
    actions: list[int],
    blocks_after: list[Cell],
    agents_after: list[Cell] | None,
) -> None:
    state = play(Layout(12, agents, blocks), actions)
    assert blocks_of(state) == blocks_after
    assert agents_after is None or agents_of(state) == agents_after


@pytest.mark.parametrize(("scope", "moves"), [("chain", True), ("rear", False)])
def test_force_on_a_later_block_counts_only_in_chain_scope(scope: ForceScope, moves: bool) -> None:
    # Block 0 (weight 1) touches the upper half of block 1 (weight 2); its rear is pushed by two, block 1's by one.
    layout = Layout(9, ((2, 1), (2, 0), (3, 2)), (Block(1, 2, 2), Block(2, 2, 3)))
    state = play(layout, [RIGHT] * 3, EpisodeRules(force_scope=scope))
    assert blocks_of(state) == moved_by([(2, 2), (2, 3)], 0, int(moves))
    assert agents_of(state) == moved_by(list(layout.agents), 0, int(moves))


def test_the_front_block_goes_first_whatever_the_ids() -> None:
    for blocks in ((Block(1, 2, 2), Block(2, 2, 3)), (Block(2, 2, 3), Block(1, 2, 2))):
        # Two push the front block, one the rear block: the front one leaves alone, then the rear one follows.
        state = play(Layout(9, ((2, 1), (3, 2), (3, 1)), blocks), [RIGHT] * 3)
        assert blocks_of(state) == moved_by([(b.row, b.col) for b in blocks], 0, 1)
        fronts = [push_attempt(state, 0, b, RIGHT) for b in (0, 1)]
        assert sorted(f.weight for f in fronts if f) == [1, 2]


def test_a_block_moves_once_in_a_step_up_first() -> None:
    layout = Layout(9, ((4, 3), (3, 2)), (Block(1, 3, 3),))
    state = play(layout, [UP, RIGHT])
    assert blocks_of(state) == [(2, 3)]
    assert agents_of(state) == [(3, 3), (3, 2)]
    attempt = attempt_on(state, 0, UP)
    assert attempt.moved


def test_a_block_that_has_moved_holds_up_a_chain() -> None:
    # Up: block 1 slides along block 0's right side. Right: block 0 still touches it, so the chain stands.
    layout = Layout(9, ((5, 4), (5, 5), (3, 1), (4, 1), (3, 0), (4, 0)), (Block(2, 3, 2), Block(2, 3, 4)))
    state = play(layout, [UP, UP, RIGHT, RIGHT, RIGHT, RIGHT])
    assert blocks_of(state) == [(3, 2), (2, 4)]
    attempt = attempt_on(state, 0, RIGHT)
    assert attempt.already_moved
    assert not attempt.moved
    assert not attempt.too_heavy


def test_an_agent_that_is_about_to_leave_blocks() -> None:
    layout = Layout(9, ((3, 1), (3, 3)), (Block(1, 3, 2),))
    state = play(layout, [RIGHT, RIGHT])
    assert blocks_of(state) == [(3, 2)]
    assert agents_of(state) == [(3, 1), (3, 4)]
    attempt = attempt_on(state, 0, RIGHT)
    assert attempt.blockers == ("agent",)
    assert attempt.blocker == -2


def test_all_members_of_a_chain_are_delivered_that_reach_the_goal() -> None:
    blocks = (Block(2, 2, 2), Block(1, 2, 4), Block(1, 3, 4), Block(1, 5, 1))
    state = play(Layout(6, ((2, 1), (2, 0), (3, 1), (3, 0)), blocks), [RIGHT] * 4)
    assert state.delivered_at[0].tolist() == [0, 1, 1, 0]
    assert state.blocks_left[0] == 2
    assert state.reward[0] == pytest.approx(-0.01 + 2 / 4)


def test_delivery_on_the_last_step_is_success() -> None:
    layout = Layout(6, ((2, 3),), (Block(1, 2, 4),))
    state = play(layout, [RIGHT], EpisodeRules(max_steps=1))
    assert state.terminated[0]
    assert not state.truncated[0]
    state = play(layout, [LEFT], EpisodeRules(max_steps=1))
    assert state.truncated[0]
    assert not state.terminated[0]
    before = agents_of(state)
    step(state, [RIGHT])
    assert agents_of(state) == before
    assert state.steps[0] == 1
    assert state.reward[0] == 0


@pytest.mark.parametrize("wild", [-1, -4, -7, 5, 9, 12, 68, 127, -128, 256 + RIGHT, 2**40 + UP])
def test_actions_out_of_range_stay(wild: int) -> None:
    layout = Layout(8, ((3, 1), (3, 0)), (Block(1, 3, 2), Block(2, 5, 5)))
    state = play(layout, [wild, RIGHT])
    assert agents_of(state) == list(layout.agents)
    assert blocks_of(state) == [(3, 2), (5, 5)]
    if -128 <= wild <= 127:
        state = make_state(layout)
        step(state, np.array([wild, RIGHT], np.int8))
        assert agents_of(state) == list(layout.agents)


def test_actions_must_be_integers_of_the_right_shape() -> None:
    state = make_state(layout_for("n2", 0))
    with pytest.raises(UserError, match="integers"):
        step(state, [1.0, 2.0])
    with pytest.raises(UserError, match=r"shape \(1, 2\), got \(3,\)"):
        step(state, [1, 2, 3])
    fixed = np.array([RIGHT, STAY], np.int8)
    fixed.flags.writeable = False
    step(state, fixed)
    assert state.steps[0] == 1


def test_kernels_compile_without_a_place_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_place(self: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.dispatcher.Dispatcher.enable_caching", no_place)
    assert compiled(lambda number: number + 1)(2) == 3


# Against the reference ------------------------------------------------------------------------------------------------


def crowded(
    rng: np.random.Generator, side: int, num_agents: int, weights: list[int], towards: int = 0
) -> Layout | None:
    """Fill a small grid at random: blocks may touch each other and the walls, agents stand anywhere.

    With a direction, blocks huddle and many agents stand in lines behind their rear faces, so that chains move.
    """
    taken = np.zeros((side, side), np.bool_)
    blocks: list[Block] = []
    for weight in weights:
        spots = [
            (row, col)
            for row in range(side - weight + 1)
            for col in range(side - weight)
            if not taken[row : row + weight, col : col + weight].any()
        ]
        touching = [
            (row, col)
            for row, col in spots
            if taken[max(row - 1, 0) : row + weight + 1, max(col - 1, 0) : col + weight + 1].any()
        ]
        if towards and touching and rng.random() < 0.6:
            spots = touching
        if not spots:
            return None
        row, col = spots[rng.integers(len(spots))]
        taken[row : row + weight, col : col + weight] = True
        blocks.append(Block(weight, row, col))
    agents: list[Cell] = []
    back_row, back_col = -STEPS[towards][0], -STEPS[towards][1]
    for block in rng.permutation(len(blocks)) if towards else ():
        weight, row, col = blocks[block].weight, blocks[block].row, blocks[block].col
        for offset in rng.permutation(weight):
            r = row + (offset if back_row == 0 else -1 if back_row < 0 else weight)
            c = col + (offset if back_col == 0 else -1 if back_col < 0 else weight)
            for _ in range(rng.integers(1, 5)):
                if len(agents) == num_agents or not (0 <= r < side and 0 <= c < side) or taken[r, c]:
                    break
                taken[r, c] = True
                agents.append((int(r), int(c)))
                r, c = r + back_row, c + back_col
    free = np.argwhere(~taken)
    if len(agents) + len(free) < num_agents:
        return None
    rest = free[rng.permutation(len(free))[: num_agents - len(agents)]]
    agents += [(int(row), int(col)) for row, col in rest]
    return Layout(side, tuple(agents[i] for i in rng.permutation(num_agents)), tuple(blocks))


def scene_of(layout: Layout, rules: EpisodeRules) -> Scene:
    """Return the reference's scene for a layout."""
    return Scene(
        layout.grid_size,
        dict(enumerate(layout.agents)),
        {b: (block.weight, (block.row, block.col)) for b, block in enumerate(layout.blocks)},
        rules.force_scope,
        rules.max_steps,
        rules.step_cost,
        rules.deliver_reward,
    )


def compare(state: CubeState, env: int, scene: Scene) -> None:
    """Assert that the kernel and the reference agree on everything."""
    step_number = state.steps[env]
    assert step_number == scene.steps
    assert dict(enumerate(agents_of(state, env))) == scene.agents
    live = np.flatnonzero(state.delivered_at[env] == 0)
    where = blocks_of(state, env)
    assert {int(b): (int(state.block_weight[env, b]), where[b]) for b in live} == scene.blocks
    moved = np.flatnonzero(state.moved_at[env] == step_number) if step_number else ()
    assert {int(b): int(state.moved_dir[env, b]) for b in moved} == scene.moved
    delivered = np.flatnonzero(state.delivered_at[env] == step_number) if step_number else ()
    assert set(map(int, delivered)) == scene.delivered
    assert set(map(int, np.flatnonzero(state.agent_result[env] == PUSHED))) == scene.pushed
    assert set(map(int, np.flatnonzero(state.agent_result[env] == WALKED))) == scene.walked
    assert state.reward[env] == pytest.approx(scene.reward)
    assert (state.terminated[env], state.truncated[env]) == (scene.terminated, scene.truncated)
    assert np.array_equal(state.grid[env], rebuilt(state, env))


def biased_actions(rng: np.random.Generator, shape: tuple[int, int], towards: int = 0) -> npt.NDArray[np.int8]:
    """Draw actions that often agree on one direction per environment, so that lines form."""
    uniform = rng.integers(0, 5, shape)
    common = np.full((shape[0], 1), towards) if towards and rng.random() < 0.7 else rng.integers(1, 5, (shape[0], 1))
    agree = rng.random(shape) < rng.choice([0.0, 0.4, 0.9, 1.0], (shape[0], 1))
    return np.where(agree, common, uniform).astype(np.int8)


@pytest.mark.heavy
@pytest.mark.parametrize("scope", ["chain", "rear"])
def test_agrees_with_the_reference_on_crowded_scenes(scope: ForceScope) -> None:
    rng = np.random.default_rng(20)
    rules = EpisodeRules(force_scope=scope, max_steps=9)
    seen: Counter[str] = Counter()
    for _ in range(200):
        side = int(rng.integers(5, 11))
        num_agents = int(rng.integers(1, side + 1))
        weights = rng.choice([1, 1, 1, 2, 2, 3], rng.integers(1, 1 + side * side // 8)).tolist()
        towards = int(rng.integers(0, 5))
        tries = (crowded(rng, side, num_agents, weights, towards) for _ in range(5))
        layouts = [layout for layout in tries if layout is not None]
        if not layouts:
            continue
        state = make_state(layouts, rules)
        scenes = [scene_of(layout, rules) for layout in layouts]
        for _ in range(10):
            actions = biased_actions(rng, (len(layouts), num_agents), towards)
            done = state.terminated | state.truncated
            step(state, actions)
            for env, scene in enumerate(scenes):
                if done[env]:  # restart it, to show that the environments of a batch are independent
                    load(state, env, layouts[env])
                    scenes[env] = scene_of(layouts[env], rules)
                    continue
                scene.step(dict(enumerate(actions[env].tolist())))
                compare(state, env, scene)
                seen += Counter(delivered=len(scene.delivered), truncated=scene.truncated, ended=scene.terminated)
                for direction in {int(state.moved_dir[env, b]) for b in scene.moved}:
                    seen[f"moved {direction}"] += 1
                for b, direction in product(range(len(weights)), (UP, DOWN, LEFT, RIGHT)):
                    if (attempt := push_attempt(state, env, b, direction)) is not None:
                        seen["chain"] += attempt.moved and attempt.weight > weights[b]
                        seen["too heavy"] += attempt.too_heavy
                        seen["already moved"] += attempt.already_moved and not attempt.too_heavy
                        seen.update(attempt.blockers)
    assert len(seen) == 12, seen  # every kind of event was met, and often enough
    assert min(seen.values()) >= 10, seen


# Invariants -----------------------------------------------------------------------------------------------------------

layouts = st.builds(
    lambda seed, side, agents, weights: crowded(
        np.random.default_rng(seed), side, min(agents, side), weights, towards=seed % 5
    ),
    st.integers(0, 2**32 - 1),
    st.integers(5, 12),
    st.integers(1, 12),
    st.lists(st.integers(1, 4), min_size=1, max_size=9),
).filter(lambda layout: layout is not None)
runs = st.tuples(layouts, st.integers(0, 2**32 - 1), st.sampled_from(["chain", "rear"]))


def mirrored(layout: Layout) -> Layout:
    """Return the layout turned upside down."""
    last = layout.grid_size - 1
    agents = tuple((last - row, col) for row, col in layout.agents)
    blocks = tuple(Block(b.weight, last - b.row - b.weight + 1, b.col) for b in layout.blocks)
    return Layout(layout.grid_size, agents, blocks)


@given(runs)
@settings(max_examples=60, deadline=None)
def test_up_and_down_are_mirror_images(run: tuple[Layout, int, ForceScope]) -> None:
    layout, seed, scope = run
    rng = np.random.default_rng(seed)
    upright, turned = (make_state(scene, EpisodeRules(force_scope=scope)) for scene in (layout, mirrored(layout)))
    swap = np.array([STAY, DOWN, UP, LEFT, RIGHT])
    for _ in range(10):
        # UP and DOWN are resolved in this order, so a step uses only one of them to stay symmetric.
        actions = rng.choice([STAY, int(rng.choice([UP, DOWN])), int(rng.choice([LEFT, RIGHT]))], len(layout.agents))
        if len({LEFT, RIGHT} & set(actions.tolist())) and len({UP, DOWN} & set(actions.tolist())):
            actions[np.isin(actions, [LEFT, RIGHT])] = STAY
        step(upright, actions)
        step(turned, swap[actions])
        flipped = turned.grid[0, ::-1]
        assert np.array_equal(upright.grid[0], flipped)


@given(runs, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_block_ids_do_not_matter(run: tuple[Layout, int, ForceScope], shuffle: object) -> None:
    layout, seed, scope = run
    order = np.random.default_rng(seed).permutation(len(layout.blocks))
    renamed = Layout(layout.grid_size, layout.agents, tuple(layout.blocks[b] for b in order))
    first, second = (make_state(scene, EpisodeRules(force_scope=scope)) for scene in (layout, renamed))
    rng = np.random.default_rng(seed)
    for _ in range(10):
        actions = biased_actions(rng, (1, len(layout.agents)))
        step(first, actions)
        step(second, actions)
        assert agents_of(first) == agents_of(second)
        assert [blocks_of(first)[b] for b in order] == blocks_of(second)


@given(runs)
@settings(max_examples=50, deadline=None)
def test_deterministic_and_independent_of_the_batch(run: tuple[Layout, int, ForceScope]) -> None:
    layout, seed, scope = run
    rules = EpisodeRules(force_scope=scope)
    alone, batch = make_state(layout, rules), make_state([mirrored(layout), layout, layout], rules)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        actions = biased_actions(rng, (1, len(layout.agents)))
        noise = biased_actions(rng, (1, len(layout.agents)))
        step(alone, actions)
        step(batch, np.concatenate([noise, actions, actions]))
    for name in ("grid", "agent_cell", "agent_result", "block_row", "block_col", "moved_at", "delivered_at"):
        part = getattr(batch, name)
        assert np.array_equal(getattr(alone, name)[0], part[1])
        assert np.array_equal(part[1], part[2])
