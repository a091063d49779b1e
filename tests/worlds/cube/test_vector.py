"""CUBE as a vector environment: equal to ``parallel_env`` bit by bit, and Gymnasium's conventions."""

from __future__ import annotations

import copy
import importlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from gymnasium.wrappers.vector import RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds.cube import parallel_env, vector_env
from teamworld.worlds.cube.autoreset import AutoReset, _below
from teamworld.worlds.cube.levels import generate, layout_for
from teamworld.worlds.cube.observe import EMPTY, GOAL_COLUMN, HEAVIEST, OUTSIDE, TEAMMATE
from teamworld.worlds.cube.state import LEFT, RIGHT, STAY, Block, Layout, make_state
from tests.worlds.cube.team import run_python
from tests.worlds.cube.test_levels import same
from tests.worlds.cube.test_physics import biased_actions, runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.cube.env import CubeEnv, CubeVectorEnv

ONE_PUSH = Layout(6, ((2, 3), (0, 0)), (Block(1, 2, 4),))


def window(picture: npt.NDArray[np.float32], agent: int, radius: int) -> list[list[int]]:
    """Return what an agent sees, cell by cell, from the picture that all see."""
    side = len(picture)
    ((row, col),) = np.argwhere(picture[:, :, 3] == agent + 1).tolist()
    seen = []
    for r in range(row - radius, row + radius + 1):
        seen.append([OUTSIDE] * (2 * radius + 1))
        for k, c in enumerate(range(col - radius, col + radius + 1)):
            if 0 <= r < side and 0 <= c < side:
                present, weight, goal = picture[r, c, :3].tolist()
                cell = GOAL_COLUMN if goal else EMPTY
                seen[-1][k] = TEAMMATE if present else min(TEAMMATE + int(weight), HEAVIEST) if weight else cell
    return seen


class Twin:
    """One ``parallel_env`` played as the vector environment plays each of its own."""

    def __init__(self, env: CubeEnv, seed: int) -> None:
        self.env = env
        self.picture = env.reset(seed=seed)[0]["agent_0"]

    def step(self, actions: list[int]) -> tuple[float, bool, bool]:
        env = self.env
        if not env.agents:
            self.picture = env.reset()[0]["agent_0"]
            return 0.0, False, False
        observations, rewards, terminated, truncated, _ = env.step(dict(zip(env.agents, actions, strict=True)))
        self.picture = observations["agent_0"]
        return rewards["agent_0"], terminated["agent_0"], truncated["agent_0"]


def play_beside(env: CubeVectorEnv, twins: list[Twin], radius: int | None, actions: npt.NDArray[np.int8]) -> int:
    """Step both, compare everything, and return how many episodes ended."""
    seen, rewards, terminated, truncated, infos = env.step(actions)
    expected = [twin.step(row) for twin, row in zip(twins, actions.tolist(), strict=True)]
    assert list(zip(rewards.tolist(), terminated.tolist(), truncated.tolist(), strict=True)) == expected
    assert infos == {}
    compare(seen, twins, radius)
    return int((terminated | truncated).sum())


def compare(seen: npt.NDArray[Any] | None, twins: list[Twin], radius: int | None) -> None:
    """Compare observations: pictures (radius -1), windows, or none."""
    if radius is None:
        assert seen is None
        return
    assert seen is not None
    for own, twin in zip(seen, twins, strict=True):
        if radius < 0:
            assert own.dtype == np.float32
            assert np.array_equal(own, twin.picture)
        else:
            assert own.dtype == np.uint8
            assert own.tolist() == [window(twin.picture, agent, radius) for agent in range(len(own))]


OPTIONS: list[dict[str, Any]] = [
    {"n": 1},
    {"n": 4, "max_steps": 23},
    {"n": 8, "max_steps": 31, "step_cost": 0.3, "deliver_reward": 7.0},
    {"grid_size": 7, "num_agents": 4, "blocks": {1: 2, 2: 1}, "max_steps": 60},
    {"layout": ONE_PUSH, "max_steps": 7, "force_scope": "rear"},
]


@pytest.mark.parametrize("observation", ["grid", "window:2", "none"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fresh", [True, False])
def test_equal_to_parallel_env_through_several_episodes(options: dict[str, Any], observation: str, fresh: bool) -> None:
    radius = {"grid": -1, "window:2": 2, "none": None}[observation]
    env = vector_env(num_envs=5, observation=observation, copy=fresh, **options)
    twins = [Twin(parallel_env(**options), 11 + k) for k in range(5)]
    seen, infos = env.reset(seed=11)
    assert infos == {}
    compare(seen, twins, radius)
    rng = np.random.default_rng(3)
    ends = 0
    for t in range(130):
        towards = RIGHT if t % 40 < 25 else 0
        ends += play_beside(env, twins, radius, biased_actions(rng, (5, env.num_agents), towards))
    assert ends >= (10 if options.get("max_steps") else 0)


@pytest.mark.parametrize("observation", ["grid", "window:2"])
def test_a_reset_before_any_step_is_seen(observation: str) -> None:
    env, other = (vector_env(4, num_envs=2, observation=observation) for _ in range(2))
    env.reset(seed=1)
    assert np.array_equal(np.asarray(env.reset(seed=2)[0]), np.asarray(other.reset(seed=2)[0]))


@given(runs, st.sampled_from([0, 1, 2, 4, 9]), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_equal_in_any_scene(run: tuple[Layout, int, Any], radius: int, max_steps: int) -> None:
    layout, seed, scope = run
    options: dict[str, Any] = {"layout": layout, "max_steps": max_steps, "force_scope": scope}
    envs = [vector_env(num_envs=3, observation=observation, **options) for observation in ("grid", f"window:{radius}")]
    rng = np.random.default_rng(seed)
    twins = [[Twin(parallel_env(**options), seed=0) for _ in range(3)] for _ in envs]
    for env, own, kind in zip(envs, twins, (-1, radius), strict=True):
        compare(env.reset()[0], own, kind)
    for _ in range(2 * max_steps + 3):
        actions = biased_actions(rng, (3, len(layout.agents)), seed % 5)
        for env, own, kind in zip(envs, twins, (-1, radius), strict=True):
            play_beside(env, own, kind, actions)


@given(st.integers(0, 2**32), st.integers(2, 9), st.lists(st.integers(1, 3), max_size=5), st.integers(5, 40))
@settings(max_examples=60, deadline=None)
def test_episodes_are_placed_as_generate_places_them(seed: int, agents: int, weights: list[int], side: int) -> None:
    blocks = {weight: weights.count(weight) for weight in set(weights)}
    sizes: dict[str, Any] = {"grid_size": max(side, agents), "num_agents": agents, "blocks": blocks}
    rng = generator(seed, "cube", "layout", "custom")
    try:
        layouts = [generate(**sizes, rng=rng) for _ in range(9)]
        vector_env(**sizes)
    except UserError:
        return
    state = make_state([layouts[0]] * 2)
    restarts = AutoReset(state, layouts[0], "custom")
    for env in range(2):
        restarts.seed(env, seed)
    for layout in layouts:
        restarts.restart(np.arange(2, dtype=np.int32))
        assert same(state, make_state([layout, layout]))


@given(st.integers(0, 2**32), st.lists(st.one_of(st.integers(1, 2**30), st.integers(1, 9)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_numbers_are_drawn_as_numpy_draws_them(seed: int, limits: list[int]) -> None:
    rng = generator(seed)
    words, used = generator(seed).bit_generator.random_raw(200), 0
    for limit in [*[3 << 28] * 40, *limits]:  # the first ones refuse one number in sixteen
        number, used = _below(words, used, limit)
        assert number == rng.integers(limit)
    assert _below(words[:3], 6, 2) == (-1, 6)


@pytest.mark.parametrize("n", [1, 2, 16, 22, 23, 64, 130, 256])
def test_levels_are_placed_as_by_seed(n: int) -> None:
    env = vector_env(n, num_envs=3, observation="none")
    env.reset(seed=40)
    assert [env._state.layout(k) for k in range(3)] == [layout_for(f"n{n}", 40 + k) for k in range(3)]
    rng = generator(41, "cube", "layout", f"n{n}")
    for _ in range(3 if n > 64 else 12):
        expected = generate(n, rng=rng)
        assert env._state.layout(1) == expected
        env.reset()


def test_no_room_is_told_as_generate_tells_it() -> None:
    fits = generate(grid_size=12, num_agents=1, blocks={2: 4}, rng=generator(0))
    restarts = AutoReset(make_state(fits), fits, "custom")
    restarts.seed(0, 0)
    restarts.restart(np.zeros(1, np.int32))
    restarts._weights = np.array([5, 5, 1, 1], np.int32)  # two of them never fit; the kernel tries a thousand times
    with pytest.raises(UserError, match="no room found for blocks of weights .5, 5, 1, 1. on a grid of 12 x 12"):
        restarts.restart(np.zeros(1, np.int32))


def test_a_placement_without_room_is_passed_over() -> None:
    sizes: dict[str, Any] = {"grid_size": 12, "num_agents": 1, "blocks": {2: 4}}
    rng = generator(0, "cube", "layout", "custom")
    first = generate(**sizes, rng=rng)
    restarts = AutoReset(state := make_state(first), first, "custom")
    restarts.seed(0, 0)
    restarts.restart(np.zeros(1, np.int32))
    restarts._weights = np.array([5, 5, 1, 1], np.int32)
    with pytest.raises(UserError, match="no room"):
        restarts.restart(np.zeros(1, np.int32))
    with pytest.raises(UserError, match="no room"):
        generate(**{**sizes, "blocks": {5: 2, 1: 2}}, rng=rng)
    restarts._weights = np.array([2, 2, 2, 2], np.int32)
    restarts.restart(np.zeros(1, np.int32))
    assert state.layout() == generate(**sizes, rng=rng)


def test_one_placement_may_take_more_words_than_are_kept() -> None:
    sizes: dict[str, Any] = {"grid_size": 12, "num_agents": 1, "blocks": {2: 9}}
    env = vector_env(**sizes, num_envs=64, observation="none")
    width = env._restarts._words.shape[1]
    env.reset(seed=0)
    assert env._restarts._words.shape[1] > width
    streams = [generator(seed, "cube", "layout", "custom") for seed in range(64)]
    for _ in range(2):
        assert [env._state.layout(k) for k in range(64)] == [generate(**sizes, rng=rng) for rng in streams]
        env.reset()


@pytest.mark.parametrize("observation", ["grid", "window:0", "none"])
def test_without_blocks_every_step_ends_all_episodes(observation: str) -> None:
    env = vector_env(grid_size=5, num_agents=5, blocks={}, num_envs=3, observation=observation, max_steps=1)
    env.reset()
    for t in range(6):
        _, rewards, terminated, truncated, _ = env.step(np.zeros((3, 5), np.int8))
        assert terminated.tolist() == [t % 2 == 0] * 3
        assert rewards.tolist() == [-0.01 if t % 2 == 0 else 0.0] * 3
        assert not truncated.any()


def test_next_step_autoreset() -> None:
    env = vector_env(layout=ONE_PUSH, num_envs=2, max_steps=4)
    first, _ = env.reset()
    assert first is not None
    start = first.copy()
    push = np.array([[RIGHT, STAY], [LEFT, STAY]], np.int8)
    last, rewards, terminated, truncated, _ = env.step(push)
    assert last is not None
    assert rewards.tolist() == pytest.approx([-0.01 + 0.5, -0.01])
    assert (terminated.tolist(), truncated.tolist()) == ([True, False], [False, False])
    assert not last[0, :, :, 1].any()
    seen, rewards, terminated, truncated, _ = env.step(push)  # the first team's push is ignored
    assert seen is not None
    assert np.array_equal(seen[0], start[0])
    assert rewards.tolist() == [0.0, -0.01]
    assert not (terminated | truncated).any()
    assert env.step(push)[2].tolist() == [True, False]
    _, _, terminated, truncated, _ = env.step(push)
    assert (terminated.tolist(), truncated.tolist()) == ([False, False], [False, True])
    assert env._state.steps.tolist() == [0, 4]


def test_nothing_of_the_last_episode_is_left() -> None:
    env = vector_env(layout=ONE_PUSH, num_envs=2, observation="none")
    env.reset()
    assert env.step(np.array([[RIGHT, RIGHT]] * 2, np.int8))[2].all()
    env.step(np.zeros((2, 2), np.int8))
    assert same(env._state, make_state([ONE_PUSH] * 2))
    env.step(np.array([[RIGHT, LEFT]] * 2, np.int8))
    env.reset()
    assert same(env._state, make_state([ONE_PUSH] * 2))


def test_seeds() -> None:
    env = vector_env(4, num_envs=3)
    started = [env._state.layout(k) for k in range(3)] if env.reset() else []
    assert started == [layout_for("n4", k) for k in range(3)]
    env.reset(seed=[9, None, 2])
    assert [env._state.layout(k) for k in (0, 2)] == [layout_for("n4", 9), layout_for("n4", 2)]
    twin = parallel_env(4)
    twin.reset(seed=1)
    twin.reset()
    assert env._state.layout(1) == twin._state.layout()
    env.reset(seed=np.int64(5))  # type: ignore[arg-type]
    assert env._state.layout(2) == layout_for("n4", 7)
    young = vector_env(4, num_envs=2)
    young.reset(seed=(None, 8))
    assert [young._state.layout(k) for k in range(2)] == [layout_for("n4", 0), layout_for("n4", 8)]


def test_some_environments_are_reset_by_a_mask() -> None:
    env = vector_env(4, num_envs=3, observation="window:1", max_steps=5)
    env.reset(seed=0)
    for _ in range(5):
        *_, truncated, _ = env.step(np.full((3, 4), RIGHT, np.int8))
    assert truncated.all()
    before = env._state.layout(1)
    seen, _ = env.reset(seed=70, options={"reset_mask": np.array([True, False, True])})
    assert seen is not None
    assert env._state.truncated.tolist() == [False, True, False]
    assert [env._state.layout(k) for k in range(3)] == [layout_for("n4", 70), before, layout_for("n4", 72)]
    seen, rewards, *_ = env.step(np.zeros((3, 4), np.int8))
    assert seen is not None
    assert rewards.tolist() == [-0.01, 0.0, -0.01]
    assert env._state.steps.tolist() == [1, 0, 1]


def test_copies_are_fresh_and_own_buffers_are_read_only() -> None:
    actions = np.full((4, 8), RIGHT, np.int8)
    for observation in ("grid", "window:3"):
        fresh = vector_env(8, num_envs=4, observation=observation)
        history: list[Any] = [fresh.reset(seed=0)[0], *fresh.step(actions)[:4]]
        kept = [np.array(part) for part in history]
        for part in history:
            assert isinstance(part, np.ndarray)
            part.flags.writeable = part.flags.writeable  # refused if it were a view of something frozen
        for _ in range(30):
            fresh.step(actions)
        assert all(np.array_equal(*pair) for pair in zip(history, kept, strict=True))
        history[1][...] = 0  # a caller may write into what is his

        own = vector_env(8, num_envs=4, observation=observation, copy=False)
        own.reset(seed=0)
        first = own.step(actions)
        rewards = np.array(first[1])
        second = own.step(actions)
        assert all(np.shares_memory(a, b) for a, b in zip(first[:4], second[:4], strict=True))
        assert not any(part.flags.writeable for part in second[:4])  # type: ignore[union-attr]
        with pytest.raises(ValueError, match="read-only"):
            second[1][0] = 3.0
        assert rewards.shape == (4,)


def test_copies_and_pickles_of_the_environment_are_independent() -> None:
    rng = np.random.default_rng(0)
    for observation in ("grid", "window:2", "none"):
        env = vector_env(4, num_envs=3, observation=observation, copy=False, max_steps=9)
        unborn = copy.deepcopy(env)
        env.reset(seed=3)
        for _ in range(14):
            env.step(biased_actions(rng, (3, 4)))
        twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        for _ in range(25):
            actions = biased_actions(rng, (3, 4))
            mine: Any = env.step(actions)[:4]
            for twin in twins:
                theirs: Any = twin.step(actions)[:4]
                assert all(np.array_equal(*pair) for pair in zip(mine, theirs, strict=True))
            twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        with pytest.raises(UserError, match="not begun"):
            unborn.step(actions)


def test_spaces() -> None:
    env = vector_env(4, num_envs=3)
    assert env.single_observation_space.shape == (20, 20, 5)
    assert env.single_observation_space == parallel_env(4).observation_space("agent_0")
    actions = env.action_space.sample()
    assert (actions.dtype, actions.shape) == (np.int8, (3, 4))
    windows = vector_env(4, num_envs=3, observation="window:2")
    seen, _ = windows.reset()
    assert windows.observation_space.contains(seen)
    assert windows.single_observation_space.shape == (4, 5, 5)


@pytest.mark.parametrize("own", [True, False])
def test_gymnasium_wrappers(own: bool) -> None:
    teams: Any = vector_env(layout=ONE_PUSH, num_envs=2, max_steps=4, copy=own)
    env = RecordEpisodeStatistics(teams)
    env.reset(seed=0)
    counted = []
    push = np.array([[RIGHT, STAY], [LEFT, STAY]], np.int8)
    for _ in range(5):
        infos = env.step(push)[4]
        counted += [
            (k, infos["episode"]["l"][k], infos["episode"]["r"][k])
            for k in np.flatnonzero(infos.get("_episode", ())).tolist()
        ]
    env.close()
    assert env.spec is None
    assert env.render_mode is None
    assert env.closed
    # One step to deliver and one to begin anew; the other team runs out of steps.
    assert counted == [(0, 1, 0.49), (0, 1, 0.49), (1, 4, pytest.approx(-0.04)), (0, 1, 0.49)]


def test_heavy_blocks_saturate() -> None:
    env = vector_env(layout=Layout(300, ((0, 0),), (Block(290, 1, 1),)), observation="window:1")
    seen, _ = env.reset()
    assert seen is not None
    assert seen[0, 0].tolist() == [[OUTSIDE] * 3, [OUTSIDE, TEAMMATE, EMPTY], [OUTSIDE, EMPTY, HEAVIEST]]
    agents = (*((row, 0) for row in range(260)), (260, 262))  # a team to push, and one to see the edge that is drawn
    env = vector_env(layout=Layout(300, agents, (Block(260, 0, 1),)), observation="window:1")
    env.reset()
    seen, *_ = env.step(np.array([[RIGHT] * 260 + [STAY]], np.int8))
    assert seen is not None
    assert seen[0, 260].tolist() == [[HEAVIEST, EMPTY, EMPTY], [EMPTY, TEAMMATE, EMPTY], [EMPTY] * 3]


@pytest.mark.parametrize("kind", ["list", "int64", "strided", "frozen", "fortran"])
def test_any_array_of_integers_will_do(kind: str) -> None:
    env, plain = (vector_env(8, num_envs=4, observation="none") for _ in range(2))
    env.reset(seed=0)
    plain.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        actions = rng.integers(0, 5, (4, 8)).astype(np.int8)
        plain.step(actions)
        made: Any = {
            "list": actions.tolist(),
            "int64": actions.astype(np.int64) + (actions == 0) * 256,
            "strided": np.repeat(actions, 2, axis=1)[:, ::2],
            "frozen": actions.copy(),
            "fortran": np.asfortranarray(actions),
        }[kind]
        if kind == "frozen":
            made.flags.writeable = False
        env.step(made)
    assert same(env._state, plain._state)


def test_the_kernels_allocate_nothing() -> None:
    runtime: Any = importlib.import_module("numba.core.runtime")
    runtime._nrt_python.memsys_enable_stats()
    counts = []
    for num_envs in (1, 64):  # what is counted are the arrays handed over, as many for one environment as for 64
        env = vector_env(8, num_envs=num_envs, observation="window:2", copy=False)
        env.reset(seed=0)
        actions = np.full((num_envs, 8), RIGHT, np.int8)
        env.step(actions)
        before = runtime.rtsys.get_allocation_stats().alloc
        env.step(actions)
        counts.append(runtime.rtsys.get_allocation_stats().alloc - before)
    assert counts[0] == counts[1] < 20


PLAY = """
import hashlib, warnings
import numpy as np
warnings.simplefilter("error")
from teamworld.worlds.cube import vector_env
digest = hashlib.blake2b(digest_size=8)
for observation in ("grid", "window:2"):
    env = vector_env(grid_size=8, num_agents=5, blocks={1: 3, 2: 1}, num_envs=3, observation=observation, max_steps=20)
    rng = np.random.default_rng(0)
    digest.update(env.reset(seed=5)[0].tobytes())
    for t in range(60):
        common = rng.choice([0, 4, 4, 4, 1, 2], (3, 1))
        actions = np.where(rng.random((3, 5)) < 0.7, common, rng.integers(-128, 127, (3, 5))).astype(np.int8)
        for part in env.step(actions)[:4]:
            digest.update(part.tobytes())
print(digest.hexdigest(), bool(env._state.pushed_at.any()))
"""


@pytest.mark.heavy
def test_without_compiling_the_kernels_do_the_same(tmp_path: Path) -> None:
    compiled, plain = run_python(PLAY, tmp_path), run_python(PLAY, tmp_path, NUMBA_DISABLE_JIT="1")
    assert compiled == plain
    assert compiled.split()[1] == "True"


@pytest.mark.heavy
def test_the_arrays_work_without_gymnasium(tmp_path: Path) -> None:
    code = "import sys; sys.modules['gymnasium'] = sys.modules['pettingzoo'] = None\n" + PLAY
    code += "print(env.metadata['autoreset_mode'], env.spec, env.render_mode, env.closed)\nenv.close()\n"
    code += "try:\n    env.action_space\nexcept ValueError as error:\n    print(error)"
    said = run_python(code, tmp_path)
    assert said.startswith(run_python(PLAY, tmp_path))
    assert "NextStep None None False" in said
    assert "pip install 'teamworld[rl]'" in said


def test_the_kernels_compile_once(tmp_path: Path) -> None:
    code = f"""{PLAY}
from teamworld.worlds.cube import autoreset, observe, physics
env = vector_env(layout=env._state.layout(0), num_envs=1, observation="grid", copy=False, force_scope="rear")
env.reset()
env.step(np.zeros((1, 5), np.int8))
kernels = physics.advance, observe._update_pictures, observe._look_through_windows, autoreset._restart
print([len(kernel.signatures) for kernel in kernels])
"""
    assert run_python(code, tmp_path).splitlines()[-1] == "[1, 1, 1, 1]"
