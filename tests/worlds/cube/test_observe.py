"""CUBE's arrays: always up to date, never changing once returned."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.observe import CHANNELS, Observer, info_lists, largest_value
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import DOWN, LEFT, RIGHT, STAY, UP, Block, EpisodeRules, Layout, load, make_state
from tests.worlds.cube.team import render_array
from tests.worlds.cube.test_physics import biased_actions, runs


def by_hand(layout: Layout) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Write the observation of a layout cell by cell."""
    array = np.zeros((layout.grid_size, layout.grid_size, 5), np.float32)
    array[:, layout.grid_size - 1, 2] = 1
    for i, (row, col) in enumerate(layout.agents):
        array[row, col, 0] = 1
        array[row, col, 3] = i + 1
    for b, block in enumerate(layout.blocks):
        for row in range(block.row, block.row + block.weight):
            for col in range(block.col, block.col + block.weight):
                array[row, col, 1] = block.weight
                array[row, col, 4] = b + 1
    return array


def test_channels() -> None:
    for level in ("paper-n8", "n20"):
        layout = layout_for(level, 3)
        state = make_state(layout)
        array = Observer(state).look()
        assert array.dtype == np.float32
        assert array.shape == (20, 20, CHANNELS)
        assert np.array_equal(array, by_hand(layout))
        assert np.array_equal(array, render_array(state))
        assert array.max() <= largest_value(state) == max(len(layout.agents), max(layout.weights), len(layout.blocks))


@given(runs)
@settings(max_examples=60, deadline=None)
def test_kept_up_to_date_and_never_changed(run: tuple[Layout, int, str]) -> None:
    layout, seed, _ = run
    state = make_state([layout, layout])
    rng = np.random.default_rng(seed)
    observers = [Observer(state, env) for env in (0, 1)]
    history = [(observer.look(), render_array(state, env)) for env, observer in enumerate(observers)]
    for _ in range(12):
        step(state, biased_actions(rng, (2, len(layout.agents)), seed % 5))
        for env, observer in enumerate(observers):
            history.append((observer.look(), render_array(state, env)))
            assert np.array_equal(observer.look(), history[-1][1])
    for seen, truth in history:
        assert np.array_equal(seen, truth)
        assert not seen.flags.writeable


@pytest.mark.parametrize("direction", [UP, DOWN, LEFT, RIGHT])
def test_moved_and_delivered_blocks_leave_nothing_behind(direction: int) -> None:
    lines = {UP: ((7, 4), (7, 5)), DOWN: ((4, 4), (4, 5)), LEFT: ((5, 6), (6, 6)), RIGHT: ((5, 3), (6, 3))}
    state = make_state(Layout(9, lines[direction], (Block(2, 5, 4), Block(1, 0, 0))))
    observer = Observer(state)
    for _ in range(9):
        step(state, [direction] * 2)
        assert np.array_equal(observer.look(), render_array(state))
    assert state.delivered_at[0, 0] == (3 if direction == RIGHT else 0)


def test_skipped_steps_and_new_episodes_are_noticed() -> None:
    layout = layout_for("n4", 0)
    state = make_state(layout, EpisodeRules(max_steps=50))
    observer = Observer(state)
    for _ in range(7):
        step(state, [RIGHT] * 4)
    assert np.array_equal(observer.look(), render_array(state))
    load(state, 0, layout)
    observer.restart()
    assert np.array_equal(observer.look(), by_hand(layout))


@given(runs, st.integers(0, 6))
@settings(max_examples=50, deadline=None)
def test_windows_show_their_square_and_the_goal(run: tuple[Layout, int, str], radius: int) -> None:
    layout, _, _ = run
    observer = Observer(make_state(layout))
    everything = observer.look()
    rows, cols = np.indices(everything.shape[:2])
    for (row, col), own in zip(layout.agents, observer.windows(radius), strict=True):
        seen = np.maximum(np.abs(rows - row), np.abs(cols - col)) <= radius
        assert np.array_equal(own[seen], everything[seen])
        assert not own.flags.writeable
        assert not np.delete(own, 2, axis=2)[~seen].any()
        assert np.array_equal(own[:, :, 2], everything[:, :, 2])


def test_info_lists_are_lazy_frozen_and_comparable() -> None:
    layout = Layout(6, ((2, 3), (0, 0)), (Block(1, 2, 4), Block(2, 4, 0)))
    state = make_state(layout)
    agents, blocks = info_lists(state, ["a", "b"])
    step(state, [RIGHT, STAY])
    assert agents == [("a", 0, (2, 3)), ("b", 1, (0, 0))]
    assert agents[0].position == (2, 3)
    assert blocks == ((0, 1, (2, 4)), (1, 2, (4, 0)))
    assert len(blocks) == 2
    assert blocks[1:] == (blocks[1],)
    later_agents, later_blocks = info_lists(state, ["a", "b"])
    assert later_blocks == [(1, 2, (4, 0))]
    assert later_agents != agents
    assert pickle.loads(pickle.dumps(blocks)) == blocks
    assert repr(later_blocks).startswith("(BlockRow(id=1")
    assert type(agents[0].position[0]) is int
    assert type(blocks[0].weight) is int
