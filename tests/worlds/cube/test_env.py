"""CUBE through PettingZoo: what is its own; ``tests.worlds.base.test_environments`` has what all worlds share."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("pettingzoo")


from teamworld.errors import UserError
from teamworld.worlds.cube.env import CubeEnv, parallel_env
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.state import RIGHT, STAY, Block, Layout
from tests.worlds.cube.team import render_array, run_python

if TYPE_CHECKING:
    pass

ONE_PUSH = Layout(6, ((2, 3), (0, 0)), (Block(1, 2, 4),))


def always(env: CubeEnv, action: int) -> dict[str, int]:
    """Return one action for every live agent."""
    return dict.fromkeys(env.agents, action)


def test_spaces() -> None:
    env = parallel_env(n=16)
    space = env.observation_space("agent_0")
    assert space.shape == (20, 20, 5)
    assert space.high.max() == 16
    assert space.low.min() == 0
    assert space.dtype == np.float32
    assert env.action_space("agent_15").n == 5


def test_observations_are_shared_frozen_and_right() -> None:
    env = parallel_env(n=8)
    rng = np.random.default_rng(0)
    history = []
    observations, infos = env.reset(seed=1)
    for _ in range(40):
        arrays = {id(array) for array in observations.values()}
        array = observations["agent_0"]
        assert len(arrays) == 1
        assert np.array_equal(array, render_array(env._state))
        assert array is env.state()
        assert env.observation_space("agent_0").contains(array)
        history.append((array, array.copy(), infos["agent_3"]["agents"], env._state.agent_positions().tolist()))
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0, 0] = 9
        observations, _, _, _, infos = env.step(dict(zip(env.agents, rng.integers(0, 5, 8).tolist(), strict=True)))
    for array, before, rows, places in history:
        assert np.array_equal(array, before)
        assert [list(row.position) for row in rows] == places
        assert [row.name for row in rows] == env.possible_agents


def test_infos_do_not_leak_between_agents() -> None:
    env = parallel_env(n=4)
    _, infos = env.reset(seed=0)
    infos["agent_0"]["note"] = 1
    assert "note" not in infos["agent_1"]
    assert [row.weight for row in infos["agent_1"]["blocks"]] == [3, 1, 1]


def test_view_radius() -> None:
    env = parallel_env(layout=ONE_PUSH, view_radius=1)
    observations, _ = env.reset()
    first, second = observations["agent_0"], observations["agent_1"]
    assert first[2, 4, 4] == 1
    assert second[2, 4, 4] == 0
    assert first[0, 0, 0] == 0
    assert second[0, 0, 3] == 2
    assert env.state()[2, 4, 4] == 1
    assert env.state()[0, 0, 3] == 2
    assert (second[:, 5, 2] == 1).all()


def test_the_last_step_returns_values_for_all() -> None:
    env = parallel_env(layout=ONE_PUSH)
    env.reset()
    observations, rewards, terminated, truncated, infos = env.step({"agent_0": RIGHT, "agent_1": STAY})
    for values in (observations, rewards, terminated, truncated, infos):
        assert set(values) == {"agent_0", "agent_1"}
    assert rewards["agent_0"] == pytest.approx(-0.01 + 0.5)
    assert type(rewards["agent_0"]) is float
    assert terminated["agent_1"] is True
    assert truncated["agent_1"] is False
    assert env.agents == []
    assert not env.state()[:, :, 1].any()
    env.reset()
    assert len(env.agents) == 2
    assert env.state()[2, 4, 1] == 1


def test_a_delivery_in_the_last_step_terminates() -> None:
    env = parallel_env(layout=ONE_PUSH, max_steps=3, step_cost=0.25)
    env.reset()
    for action in (STAY, STAY, RIGHT):
        _, rewards, terminated, truncated, _ = env.step(always(env, action))
    assert rewards["agent_0"] == 0.25
    assert terminated["agent_0"]
    assert not truncated["agent_0"]


def test_numbers_that_are_no_action_act_as_stay() -> None:
    env = parallel_env(layout=ONE_PUSH)
    env.reset()
    with pytest.raises(UserError, match="shape"):
        env.step({"agent_0": [1], "agent_1": [2]})
    assert env._state.steps[0] == 0
    env.step({"agent_0": 77, "agent_1": np.int64(-3)})
    assert env._state.layout() == ONE_PUSH


def test_the_curriculum_begins_with_the_level_of_the_seed() -> None:
    env, fixed = parallel_env(n=4), parallel_env(layout=ONE_PUSH)
    env.reset(seed=7)
    assert env._state.layout() == layout_for("n4", 7)
    env.reset()
    assert env._state.layout() != layout_for("n4", 7)
    fixed.reset(seed=3)
    assert fixed._state.layout() == ONE_PUSH


def test_mistyped_options_are_refused() -> None:
    with pytest.raises(TypeError, match="max_step"):
        parallel_env(n=2, max_step=3)  # type: ignore[call-arg]


def test_copies_and_pickles_are_independent() -> None:
    env = parallel_env(n=4)
    env.reset(seed=2)
    env.step(always(env, RIGHT))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert np.array_equal(twin.step(always(twin, RIGHT))[0]["agent_0"], render_array(twin._state))
        assert env._state.steps[0] == 1
        assert twin._state.steps[0] == 2
        twin.reset()
        later = copy.deepcopy(env)
        later.reset()
        assert twin._state.layout() == later._state.layout()


def test_layouts_are_cheap_to_import(tmp_path: Path) -> None:
    code = """
import sys
from teamworld.worlds.cube import Block, Layout
print([name for name in ("numba", "pettingzoo", "gymnasium", "PIL", "matplotlib") if name in sys.modules])
"""
    assert run_python(code, tmp_path).strip() == "[]"


@pytest.mark.heavy
def test_the_kernels_compile_once_wherever_the_cache_is(tmp_path: Path) -> None:
    code = """
from teamworld.worlds.cube import parallel_env
from teamworld.worlds.cube import physics, observe
for options in ({"n": 2}, {"n": 4, "view_radius": 2, "force_scope": "rear"}):
    env = parallel_env(**options)
    env.reset()
    for _ in range(3):
        env.step(dict.fromkeys(env.agents, 4))
for kernel in (physics.advance, observe._update_pictures):
    print(len(kernel.signatures), sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run_python(code, tmp_path, **cache).split() == ["1", "0", "1"] * 2
    assert run_python(code, tmp_path, **cache).split() == ["1", "1", "0"] * 2


def test_a_layout_is_made_of_sequences() -> None:
    for agents, blocks in ((3, ()), (((0, 0),), None)):
        with pytest.raises(UserError, match="as a sequence"):
            Layout(10, agents, blocks)  # type: ignore[arg-type]


@pytest.mark.parametrize("radius", [None, 3])
def test_an_indicator_tells_each_agent_which_one_it_is(radius: int | None) -> None:
    env, plain = (parallel_env(n=4, view_radius=radius, agent_indicator=mark) for mark in (True, False))
    assert env.channels == (*plain.channels, "self")
    rng = np.random.default_rng(0)
    seen, same = env.reset(seed=2)[0], plain.reset(seed=2)[0]
    for _ in range(20):
        for number, (agent, picture) in enumerate(seen.items()):
            assert env.observation_space(agent).contains(picture)
            assert np.array_equal(picture[..., :-1], same[agent])
            [(row, column)] = np.argwhere(picture[..., env.channels.index("self")])
            assert picture[row, column, env.channels.index("agent_ids")] == number + 1
        actions = {agent: int(rng.integers(5)) for agent in env.agents}
        seen, same = env.step(actions)[0], plain.step(actions)[0]
