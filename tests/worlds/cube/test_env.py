"""CUBE through PettingZoo: the conformance tests, and what they leave out."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import parallel_to_aec

from teamworld.errors import UserError
from teamworld.worlds.cube.env import CubeEnv, parallel_env
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.state import LEFT, RIGHT, STAY, Block, Layout
from tests.worlds.cube.team import render_array

if TYPE_CHECKING:
    from collections.abc import Iterator

ONE_PUSH = Layout(6, ((2, 3), (0, 0)), (Block(1, 2, 4),))

OPTIONS: list[dict[str, Any]] = [
    {},
    {"n": 1},
    {"n": 4},
    {"n": 20, "max_steps": 30},
    {"grid_size": 10, "num_agents": 3, "blocks": {1: 3, 2: 1}},
    {"layout": ONE_PUSH, "force_scope": "rear"},
    {"n": 4, "view_radius": 2, "render_mode": "rgb_array"},
]


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def always(env: CubeEnv, action: int) -> dict[str, int]:
    """Return one action for every live agent."""
    return dict.fromkeys(env.agents, action)


@pytest.mark.parametrize("options", OPTIONS)
def test_pettingzoo_conformance(options: dict[str, Any]) -> None:
    parallel_api_test(parallel_env(**options), num_cycles=150)
    parallel_seed_test(lambda: parallel_env(**options), num_cycles=15)
    with warnings.catch_warnings():
        # The tests warn that observations are not images and that the highest value of the box is not 1 or 255.
        warnings.filterwarnings("ignore", message=".*[Oo]bservation.*")
        api_test(parallel_to_aec(parallel_env(**options)), num_cycles=60)


def test_metadata_spaces_and_names() -> None:
    env = parallel_env(n=16)
    assert env.metadata["name"] == "cube_v0"
    assert env.metadata["is_parallelizable"]
    assert env.possible_agents == [f"agent_{i}" for i in range(16)]
    assert env.agents == []
    space = env.observation_space("agent_0")
    assert space.shape == (20, 20, 5)
    assert space.high.max() == 16
    assert space.low.min() == 0
    assert space.dtype == np.float32
    assert env.action_space("agent_15").n == 5
    assert env.action_space("agent_0") is not env.action_space("agent_1")
    with pytest.raises(UserError, match="did you mean 'agent_1'"):
        env.action_space("agent1")


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
    for actions in ({}, {"agent_0": RIGHT, "agent_1": STAY}):
        with pytest.raises(UserError, match="is over: call reset"):
            env.step(actions)
    env.reset()
    assert len(env.agents) == 2
    assert env.state()[2, 4, 1] == 1


def test_truncation() -> None:
    env = parallel_env(layout=ONE_PUSH, max_steps=3, step_cost=0.25)
    env.reset()
    for t in range(3):
        _, rewards, terminated, truncated, _ = env.step(always(env, LEFT))
        assert rewards["agent_0"] == -0.25
        assert not terminated["agent_0"]
        assert truncated["agent_0"] is (t == 2)
    env.reset()
    env.step(always(env, STAY))
    env.step(always(env, STAY))
    _, _, terminated, truncated, _ = env.step(always(env, RIGHT))
    assert terminated["agent_0"]
    assert not truncated["agent_0"]


def test_seeds() -> None:
    env, twin = parallel_env(n=4), parallel_env(n=4)
    env.reset(seed=7)
    assert env._state.layout() == layout_for("n4", 7)
    env.reset(seed=np.int64(7))  # type: ignore[arg-type]
    assert env._state.layout() == layout_for("n4", 7)
    env.reset()
    other = env._state.layout()
    assert other != layout_for("n4", 7)
    twin.reset(seed=7)
    twin.reset()
    assert twin._state.layout() == other
    twin = parallel_env(n=4)
    twin.reset()
    assert twin._state.layout() == layout_for("n4", 0)
    fixed = parallel_env(layout=ONE_PUSH)
    fixed.reset(seed=3)
    assert fixed._state.layout() == ONE_PUSH
    with pytest.raises(UserError, match="seed must be"):
        env.reset(seed="x")  # type: ignore[arg-type]


def test_wrong_actions() -> None:
    env = parallel_env(layout=ONE_PUSH)
    with pytest.raises(UserError, match="has not begun"):
        env.step({"agent_0": 1, "agent_1": 1})
    with pytest.raises(UserError, match="has not begun"):
        env.state()
    env.reset()
    wrong: list[tuple[Any, str]] = [
        ({"agent_0": 1}, "no action for agent_1"),
        ({"agent_0": 1, "agent_1": 1, "agent_2": 1}, "actions for .'agent_2'"),
        ({"agent_0": 1, "agent1": 1}, "no action for agent_1"),
        ({"agent_0": 1, "agent_1": 1.5}, "integers"),
        ({"agent_0": 1, "agent_1": None}, "integers"),
        ({"agent_0": 1, "agent_1": [1, 2]}, "one integer"),
        ({"agent_0": [1], "agent_1": [2]}, "shape"),
        ([1, 2], "one action for each of the 2 live agents"),
        (None, "one action for each of the 2 live agents"),
        ({}, "no action for agent_0, agent_1"),
    ]
    for actions, message in wrong:
        with pytest.raises(UserError, match=message):
            env.step(actions)
    assert env._state.steps[0] == 0
    env.step({"agent_0": 77, "agent_1": np.int64(-3)})
    assert env._state.layout() == ONE_PUSH


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"n": 2, "num_agents": 2}, "either n or"),
        ({"layout": ONE_PUSH, "n": 2}, "either layout or"),
        ({"view_radius": -1}, "view_radius"),
        ({"render_mode": "human"}, "no window mode"),
        ({"render_mode": "rgb"}, "'rgb_array' or 'ansi', got 'rgb'"),
        ({"force_scope": "all"}, "force_scope"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parallel_env(**options)


def test_mistyped_options_are_refused() -> None:
    with pytest.raises(TypeError, match="max_step"):
        parallel_env(n=2, max_step=3)  # type: ignore[call-arg]


def test_render() -> None:
    env = parallel_env(layout=ONE_PUSH, render_mode="rgb_array")
    with pytest.raises(UserError, match="call reset"):
        env.render()
    env.reset()
    pixels = env.render()
    assert isinstance(pixels, np.ndarray)
    assert pixels.shape[2] == 3
    assert pixels.dtype == np.uint8
    env = parallel_env(layout=ONE_PUSH, render_mode="ansi")
    env.reset()
    assert "A0" in str(env.render())
    env = parallel_env(layout=ONE_PUSH)
    env.reset()
    with pytest.raises(UserError, match="render mode"):
        env.render()
    env.close()


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


def run_python(code: str, tmp_path: Path, **variables: str) -> str:
    """Run code in a fresh interpreter with the same package, return what it prints."""
    home = str(Path(sys.modules["teamworld"].__path__[0]).parent)
    variables = {**os.environ, "PYTHONPATH": home, **variables}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["pettingzoo"] = None
from teamworld.worlds.cube.env import parallel_env
try:
    parallel_env(n=2)
except ValueError as error:
    print(error)
"""
    assert "pip install 'teamworld[rl]'" in run_python(code, tmp_path)


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


@pytest.mark.parametrize(
    "arguments", [{"blocks": [1, 2]}, {"layout": 5}, {"n": "four"}, {"grid_size": None, "blocks": 3}]
)
def test_misuse_is_told_in_one_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        parallel_env(**arguments)


def test_a_layout_is_made_of_sequences() -> None:
    for agents, blocks in ((3, ()), (((0, 0),), None)):
        with pytest.raises(UserError, match="as a sequence"):
            Layout(10, agents, blocks)  # type: ignore[arg-type]
