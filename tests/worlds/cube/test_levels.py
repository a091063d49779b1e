"""CUBE's instances: the curriculum, seeded placement, published layouts, and layouts that are refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.cube.levels import LEVELS, curriculum, generate, layout_for
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import RIGHT, Block, CubeState, EpisodeRules, Layout, load, make_state, name_of
from tests.worlds.cube.reference import Scene


@pytest.mark.parametrize(
    ("n", "side", "blocks"),
    [
        (1, 20, {1: 1}),
        (2, 20, {2: 1, 1: 2}),
        (3, 20, {2: 1, 1: 2}),
        (4, 20, {3: 1, 1: 2}),
        (5, 20, {3: 1, 1: 2}),
        (8, 20, {5: 1, 2: 2, 1: 3}),
        (16, 20, {9: 1, 4: 2, 2: 3, 1: 4}),
        (32, 32, {17: 1, 8: 2, 4: 3, 2: 4, 1: 5}),
        (64, 64, {33: 1, 16: 2, 8: 3, 4: 4, 2: 5, 1: 6}),
        (128, 128, {65: 1, 32: 2, 16: 3, 8: 4, 4: 5, 2: 6, 1: 7}),
        (256, 256, {129: 1, 64: 2, 32: 3, 16: 4, 8: 5, 4: 6, 2: 7, 1: 8}),
    ],
)
def test_curriculum_table(n: int, side: int, blocks: dict[int, int]) -> None:
    assert curriculum(n) == (side, blocks)


@pytest.mark.parametrize("n", [*range(1, 41), 64, 100, 127, 200, 256])
@pytest.mark.parametrize("seed", [0, 42])
def test_placement_keeps_the_spawn_rules(n: int, seed: int) -> None:
    layout = layout_for(f"n{n}", seed)
    side, counts = curriculum(n)
    assert layout.grid_size == side
    assert len(layout.agents) == n
    assert {col for _, col in layout.agents} == {0}
    assert len({row for row, _ in layout.agents}) == n
    assert list(layout.weights) == sorted((w for w, count in counts.items() for _ in range(count)), reverse=True)
    near = np.zeros((side, side), np.int32)
    for block in layout.blocks:
        for at in (block.row, block.col):
            assert 1 <= at <= side - block.weight - 2
        near[block.row - 1 : block.row + block.weight + 1, block.col - 1 : block.col + block.weight + 1] += 1
    for block in layout.blocks:  # no block's moat reaches a cell of another block
        assert (near[block.row : block.row + block.weight, block.col : block.col + block.weight] == 1).all()


def test_placement_depends_on_the_seed_alone() -> None:
    assert layout_for("n8", 3) == layout_for("n8", 3)
    assert len({layout_for("n8", seed) for seed in range(20)}) == 20
    rng = np.random.default_rng(5)
    assert generate(4, rng=rng) != generate(4, rng=rng)


def test_placement_has_no_corner_bias() -> None:
    spots = [layout_for("n1", seed).blocks[0] for seed in range(600)]
    for coordinates in ([b.row for b in spots], [b.col for b in spots]):
        assert set(coordinates) == set(range(1, 18))
        assert np.mean(coordinates) == pytest.approx(9, abs=0.6)


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 32])
def test_paper_layouts(n: int) -> None:
    layout = layout_for(f"paper-n{n}", 7)
    side, counts = curriculum(n)
    assert layout.grid_size == side
    assert len(layout.agents) == n
    assert layout == layout_for(f"paper-n{n}", 42)
    assert list(layout.weights) == sorted((w for w, count in counts.items() for _ in range(count)), reverse=True)
    assert {col for _, col in layout.agents} == {0}
    scene = Scene(side, {}, {b: (block.weight, (block.row, block.col)) for b, block in enumerate(layout.blocks)})
    for b in scene.blocks:  # all movable at the start: in contact with nothing
        assert scene.chain(b, (0, 1)) == {b}


def test_some_published_positions() -> None:
    assert layout_for("paper-n8", 0).blocks[5] == Block(1, 3, 11)
    assert layout_for("paper-n4", 0).agents == ((13, 0), (14, 0), (11, 0), (8, 0))
    assert layout_for("paper-n32", 0).blocks[14] == Block(1, 28, 25)


def test_every_listed_level_exists() -> None:
    for level, line in LEVELS.items():
        assert layout_for(level, 1).agents
        assert line
    assert "n4" in LEVELS
    assert "paper-n32" in LEVELS


@pytest.mark.parametrize("level", ["n0", "n-1", "n04", "x4", "paper-n3", "paper-4", "", "n4 ", "n٤"])
def test_unknown_levels_are_refused(level: str) -> None:
    with pytest.raises(UserError, match="there is no CUBE level"):
        layout_for(level, 0)
    with pytest.raises(UserError, match="did you mean 'paper-n32'"):
        layout_for("paper_n32", 0)


def test_custom_sizes_and_their_defaults() -> None:
    rng = np.random.default_rng(0)
    layout = generate(rng=rng)
    assert (layout.grid_size, len(layout.agents), layout.weights) == (15, 3, (3, 2, 2, 1, 1, 1))
    layout = generate(grid_size=10, num_agents=10, blocks={1: 2, 3: 1, 2: 0}, rng=rng)
    assert (layout.grid_size, len(layout.agents), layout.weights) == (10, 10, (3, 1, 1))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": 0}, "n must be an integer"),
        ({"n": 2.5}, "n must be an integer"),
        ({"n": True}, "n must be an integer"),
        ({"n": 4, "grid_size": 20}, "either n or grid_size"),
        ({"grid_size": 4}, "grid_size must be an integer from 5"),
        ({"num_agents": 0}, "num_agents must be an integer from 1"),
        ({"num_agents": 16}, "at most 15, got 16"),
        ({"blocks": {0: 1}}, "a block weight must be"),
        ({"blocks": {1: -1}}, "a block count must be"),
        ({"blocks": {1: 1.5}}, "a block count must be"),
        ({"blocks": 3}, "must map weight to count"),
        ({"blocks": {13: 1}}, "up to 12"),
        ({"blocks": {1: 200}}, "no room found"),
        ({"grid_size": 9, "blocks": {2: 5}}, "no room found"),
    ],
)
def test_impossible_sizes_are_refused(sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        generate(**sizes, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ((4, [(0, 0)], []), "grid_size must be from 5"),
        (("8", [(0, 0)], []), "whole numbers"),
        ((8, [], []), "1 to 8 agents"),
        ((8, [(i % 8, i // 8) for i in range(9)], []), "1 to 8 agents .* got 9"),
        ((8, [(8, 0)], []), "agent 0 must stand inside"),
        ((8, [(0, -1)], []), "agent 0 must stand inside"),
        ((8, [(0, 0.5)], []), "whole numbers"),
        ((8, [(0, 0, 0)], []), "pairs"),
        ((8, [(1, 1), (1, 1)], []), r"agent 0 and agent 1 overlap at \(1, 1\)"),
        ((8, [(1, 1)], [Block(2, 0, 0)]), r"agent 0 and block 0 overlap at \(1, 1\)"),
        ((8, [(7, 0)], [Block(2, 0, 0), Block(1, 1, 1)]), r"block 0 and block 1 overlap at \(1, 1\)"),
        ((8, [(7, 0)], [Block(1, 0, 7)]), "outside the goal column"),
        ((8, [(7, 0)], [Block(2, 0, 6)]), "outside the goal column"),
        ((8, [(7, 0)], [Block(2, 7, 0)]), "must lie inside"),
        ((8, [(7, 0)], [Block(2, 0, -1)]), "must lie inside"),
        ((8, [(7, 0)], [Block(8, 0, 0)]), "outside the goal column"),
        ((8, [(7, 0)], [Block(0, 0, 0)]), "at least 1"),
        ((8, [(7, 0)], [Block(True, 0, 0)]), "whole numbers"),
        ((8, [(7, 0)], [(1, 0, 0)]), "whole numbers"),
        ((200, [(7, 0)], [Block(1, k // 190, k % 190) for k in range(32_768)]), "at most 32767 blocks, got 32768"),
    ],
)
def test_impossible_layouts_are_refused(layout: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Layout(*layout)


def test_layouts_may_touch_walls_and_use_the_goal_column_for_agents() -> None:
    layout = Layout(np.int64(8), [(7, 7), [0, 3]], [Block(2, 0, 0), Block(1, 0, 2)])  # type: ignore[arg-type]
    assert layout == Layout(8, ((7, 7), (0, 3)), (Block(2, 0, 0), Block(1, 0, 2)))
    assert hash(layout)
    assert make_state(layout).layout() == layout


@pytest.mark.parametrize(
    "rules",
    [
        {"max_steps": 0},
        {"max_steps": 1.5},
        {"step_cost": "x"},
        {"deliver_reward": float("nan")},
        {"force_scope": "chian"},
    ],
)
def test_wrong_rules_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(rules))):
        EpisodeRules(**rules)


def same(first: CubeState, second: CubeState) -> bool:
    """Whether two states hold equal arrays."""
    names = ["grid", "agent_cell", "agent_from", "pushed_at", "blocks", "pushes", "episodes", "reward", "ended"]
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def test_states_are_loaded_copied_and_pickled_whole() -> None:
    layouts = [layout_for("n4", seed) for seed in range(3)]
    state = make_state(layouts)
    rng = np.random.default_rng(0)
    for _ in range(30):
        step(state, rng.integers(0, 5, (3, 4)))
    twins = [copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    for twin in twins:
        assert same(state, twin)
        step(twin, np.full((3, 4), RIGHT))
        assert not same(state, twin)
        assert np.array_equal(twin.block_row, twin.blocks[:, :, 0])
    assert same(*twins)
    for env, layout in enumerate(layouts):
        load(state, env, layout)
    assert same(state, make_state(layouts))
    with pytest.raises(UserError, match="like its state"):
        load(state, 0, layout_for("n2", 0))
    with pytest.raises(UserError, match="one state per shape"):
        make_state([layout_for("n2", 0), layout_for("n4", 0)])
    with pytest.raises(UserError, match="no layout"):
        make_state([])


def test_codes_have_names() -> None:
    state = make_state(Layout(8, ((0, 0),), (Block(1, 2, 2),)))
    codes = [int(state.grid[0, row + 1, col + 1]) for row, col in ((-1, 0), (0, 0), (2, 2), (5, 5))]
    assert [name_of(code) for code in codes] == ["wall", "agent 0", "block 0", "empty"]
