"""The environments of all worlds: the conformance tests of PettingZoo and Gymnasium, and what the bases promise."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from gymnasium.vector import AutoresetMode, VectorEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import parallel_to_aec

from teamworld.errors import UserError
from teamworld.worlds import cube, household, transport, wildfire
from teamworld.worlds.cube import Block, Layout
from tests.worlds.household import homes

ONE_PUSH = Layout(6, ((2, 3), (0, 0)), (Block(1, 2, 4),))


class Case(NamedTuple):
    """An environment, and calls that it refuses."""

    name: str
    make: Callable[..., Any]
    level: dict[str, Any]
    """A level with another instance for each seed."""
    idle: Any
    """An action that does nothing."""
    metadata: tuple[str, int]
    """Name, and frames a second."""
    agents: tuple[str, ...]
    near: str
    """Almost the name of the last agent."""
    wrong_actions: tuple[Any, ...]
    refused_action: str
    """What the error says of these."""
    wrong_seeds: tuple[Any, ...]


CASES = (
    Case(
        "cube",
        cube.parallel_env,
        {"n": 4},
        0,
        ("cube_v0", 10),
        ("agent_0", "agent_1", "agent_2", "agent_3"),
        "agent3",
        (1.5, None, [1, 2]),
        "integer",
        ("x", True, 0.5),
    ),
    Case(
        "wildfire",
        wildfire.parallel_env,
        {},
        [-1, 0, 0],
        ("wildfire_v0", 5),
        ("firefighter_1", "firefighter_2", "firefighter_3"),
        "firefighter3",
        ([0, 1], [0.5, 1, 1], 3, ["a", "b", "c"], [[0, 1, 1]]),
        "an action is three whole numbers",
        ("x", True, 0.5),
    ),
    Case(
        "household",
        household.parallel_env,
        {"level": "dev"},
        0,
        ("household_v0", 5),
        ("Alice", "Bob"),
        "Bbo",
        (-1, 195, 0.5, True, "wait"),
        "an action is an integer from 0 to 194",
        ("x", -1, True),
    ),
    Case(
        "transport",
        transport.parallel_env,
        {"level": "dev"},
        0,
        ("transport_v0", 10),
        ("Alice", "Bob"),
        "Bbo",
        (-1, 23, 0.5, True, "wait"),
        "an action is an integer from 0 to 22",
        ("x", -1, True),
    ),
)
VECTORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "cube": (cube.vector_env, {"n": 4}),
    "wildfire": (wildfire.vector_env, {}),
    "transport": (transport.vector_env, {}),
}
in_each_world = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
in_each_vector = pytest.mark.parametrize("world", VECTORS)


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def flat(observation: Any) -> Any:  # noqa: ANN401
    """Return an observation as one array."""
    return np.concatenate([*map(np.ravel, observation.values())]) if isinstance(observation, dict) else observation


def idle(case: Case, env: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return no action for every live agent."""
    return dict.fromkeys(env.agents, case.idle)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (cube.parallel_env, {}),
        (cube.parallel_env, {"n": 1}),
        (cube.parallel_env, {"n": 20, "max_steps": 30}),
        (cube.parallel_env, {"grid_size": 10, "num_agents": 3, "blocks": {1: 3, 2: 1}}),
        (cube.parallel_env, {"layout": ONE_PUSH, "force_scope": "rear"}),
        (cube.parallel_env, {"n": 4, "view_radius": 2, "render_mode": "rgb_array"}),
        (wildfire.parallel_env, {}),
        (wildfire.parallel_env, {"level": "full_game", "max_steps": 12}),
        (wildfire.parallel_env, {"level": "perception", "mode": "stochastic", "render_mode": "rgb_array"}),
        (
            wildfire.parallel_env,
            {"level": "suppress_fire_contain", "score": "burnt", "shared_map": False, "max_steps": 20},
        ),
        (wildfire.parallel_env, {"level": "dynamic_more_civilians", "max_steps": 12}),
        (household.parallel_env, {"level": "dev-0"}),
        (household.parallel_env, {"level": "dev", "agents": 3, "max_steps": 15, "render_mode": "ansi"}),
        (household.parallel_env, {"level": "test-dishes-4", "sight": "cone", "occlusion": True}),
        (
            household.parallel_env,
            {"level": homes.tea(homes.flat()), "agents": 1, "mode": "engine", "strict_put": True},
        ),
        (transport.parallel_env, {"level": "dev-3", "max_steps": 30}),
        (transport.parallel_env, {"level": "dev-stuff-low-1", "agents": 4, "render_mode": "ansi"}),
    ],
)
def test_pettingzoo_conformance(make: Callable[..., Any], options: dict[str, Any]) -> None:
    parallel_api_test(make(**options), num_cycles=40)
    parallel_seed_test(lambda: make(**options), num_cycles=8)
    with warnings.catch_warnings():
        # The tests warn that observations are not images, that the highest value of a box is not 1 or 255, of every
        # space of actions but Box and Discrete, and of names without numbers.
        warnings.filterwarnings("ignore", message=".*[Oo]bservation.*|Action space for each agent|We recommend agents")
        api_test(parallel_to_aec(make(**options)), num_cycles=30)


@in_each_world
def test_names_metadata_and_spaces(case: Case) -> None:
    env = case.make(**case.level)
    assert (env.metadata["name"], env.metadata["render_fps"]) == case.metadata
    assert env.metadata["is_parallelizable"]
    assert (tuple(env.possible_agents), env.agents) == (case.agents, [])
    first, second = case.agents[:2]
    assert env.action_space(first) is not env.action_space(second)
    assert env.observation_space(first) is env.observation_space(second)
    with pytest.raises(UserError, match=f"did you mean '{case.agents[-1]}'"):
        env.action_space(case.near)


@in_each_world
def test_observations_are_in_their_space_and_never_change(case: Case) -> None:
    env = case.make(**case.level)
    observations, _ = env.reset(seed=1)
    kept = []
    for _ in range(15):
        for agent, seen in observations.items():
            assert env.observation_space(agent).contains(seen)
            kept.append((flat(seen), flat(seen).copy()))
        env.action_space(env.agents[0]).seed(0)
        observations, *_ = env.step(idle(case, env) | {env.agents[0]: env.action_space(env.agents[0]).sample()})
    assert kept
    assert all(np.array_equal(*pair) for pair in kept)


@in_each_world
def test_the_step_limit_truncates(case: Case) -> None:
    env = case.make(**case.level, max_steps=3)
    env.reset(seed=0)
    for step in range(3):
        observations, rewards, terminated, truncated, infos = env.step(idle(case, env))
        for values in (observations, rewards, terminated, truncated, infos):
            assert tuple(values) == case.agents
        assert not any(terminated.values())
        assert set(truncated.values()) == {step == 2}
        assert {type(value) for value in (*terminated.values(), *truncated.values())} == {bool}
        assert {type(reward) for reward in rewards.values()} == {float}
    assert env.agents == []
    for actions in ({}, dict.fromkeys(case.agents, case.idle)):
        with pytest.raises(UserError, match="is over: call reset"):
            env.step(actions)
    assert env.state().any()
    assert tuple(env.reset()[0]) == case.agents == tuple(env.agents)


@in_each_world
def test_a_seed_begins_a_stream_of_episodes(case: Case) -> None:
    env, other, fresh, zero = (case.make(**case.level) for _ in range(4))

    def start(env: Any, seed: int | None = None) -> Any:  # noqa: ANN401
        return flat(env.reset(seed=seed)[0][case.agents[0]])

    first, second = start(env, 7), start(env)
    assert not np.array_equal(first, second)
    assert np.array_equal(start(other, np.int64(7)), first)  # type: ignore[arg-type]
    assert np.array_equal(start(other), second)
    assert np.array_equal(start(fresh), start(zero, 0))


@in_each_world
def test_wrong_calls_are_refused(case: Case) -> None:
    env = case.make(**case.level)
    for call in (lambda: env.step({}), env.state, case.make(**case.level, render_mode="ansi").render):
        with pytest.raises(UserError, match=r"has not begun: call reset\(\)"):
            call()
    with pytest.raises(UserError, match="no render mode was chosen"):
        env.render()
    for seed in case.wrong_seeds:
        with pytest.raises(UserError, match="seed must be an integer"):
            env.reset(seed=seed)
    env.reset()
    first, *others = case.agents
    whole = idle(case, env)
    wrong: list[tuple[Any, str]] = [
        ({first: case.idle}, f"no action for {', '.join(others)}"),
        ({**whole, "nobody": case.idle}, r"actions for \['nobody'\]"),
        ({}, f"no action for {first}"),
        (None, f"one action for each of the {len(case.agents)} live agents"),
        ([1, 2], "one action for each of"),
        *(({**whole, first: action}, case.refused_action) for action in case.wrong_actions),
    ]
    before = env.state().copy()
    for actions, message in wrong:
        with pytest.raises(UserError, match=message):
            env.step(actions)
    assert np.array_equal(env.state(), before)
    env.step(whole)
    env.close()


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        *((case.make, {"render_mode": "human"}, "there is no window mode") for case in CASES),
        *((case.make, {"max_steps": 0}, "max_steps") for case in CASES),
        (cube.parallel_env, {"render_mode": "rgb"}, "'rgb_array' or 'ansi', got 'rgb'"),
        (cube.parallel_env, {"view_radius": -1}, "view_radius"),
        (cube.parallel_env, {"n": 0}, "n must be"),
        (cube.parallel_env, {"n": "four"}, "n must be"),
        (cube.parallel_env, {"n": 2, "num_agents": 2}, "either n or"),
        (cube.parallel_env, {"layout": ONE_PUSH, "n": 2}, "either layout or"),
        (cube.parallel_env, {"layout": 5}, "layout must be"),
        (cube.parallel_env, {"blocks": [1, 2]}, "blocks must map"),
        (cube.parallel_env, {"force_scope": "all"}, "force_scope"),
        (wildfire.parallel_env, {"level": "full_gam"}, "did you mean 'full_game'"),
        (wildfire.parallel_env, {"level": 3}, "a level is a name, a Level or an Instance"),
        (wildfire.parallel_env, {"score": "both"}, "score must be one of reference, burnt"),
        (wildfire.parallel_env, {"mode": "wild"}, "fire mode must be"),
        (wildfire.parallel_env, {"shared_map": 1}, "shared_map must be True or False"),
        (household.parallel_env, {"level": "deev"}, "there is no household level 'deev'"),
        (household.parallel_env, {"level": "official-0"}, "needs the data"),
        (household.parallel_env, {"agents": 0}, "agents must be an integer from 1 to 10, got 0"),
        (household.parallel_env, {"agents": True}, "agents must be an integer"),
        (household.parallel_env, {"sight": "eyes"}, "sight must be one of room, cone"),
        (household.parallel_env, {"mode": "easy"}, "mode must be one of strict, engine"),
        (transport.parallel_env, {"level": "deev"}, "there is no transport level 'deev'"),
        (transport.parallel_env, {"level": "official-0"}, "needs the data"),
        (transport.parallel_env, {"agents": 5}, "agents must be an integer from 1 to 4, got 5"),
        (transport.vector_env, {"observation": "grid"}, "observation must be one of numbers, window, both, none"),
        *((make, {"num_envs": 0}, "num_envs must be an integer from 1 to") for make, _ in VECTORS.values()),
        (cube.vector_env, {"num_envs": 10**30}, "num_envs must be an integer from 1 to 1000000"),
        (
            cube.vector_env,
            {"n": 256, "num_envs": 500_000, "observation": "window:9"},
            "too many|do not fit into memory",
        ),
        (cube.vector_env, {"num_envs": 2.0}, "num_envs"),
        (cube.vector_env, {"num_envs": True}, "num_envs"),
        (cube.vector_env, {"observation": "window"}, "'grid', 'window:R'"),
        (cube.vector_env, {"observation": "window:-1"}, "got 'window:-1'"),
        (cube.vector_env, {"observation": "window:\N{ARABIC-INDIC DIGIT ONE}"}, "observation must be"),
        (cube.vector_env, {"observation": 5}, "observation must be"),
        (cube.vector_env, {"n": 2, "layout": ONE_PUSH}, "either layout or"),
        (cube.vector_env, {"grid_size": 5, "num_agents": 6}, "takes at most 5"),
        (wildfire.vector_env, {"observation": "grid"}, "observation must be 'rows' or 'none'"),
        (wildfire.vector_env, {"level": "nowhere"}, "there is no wildfire level 'nowhere'"),
    ],
)
def test_wrong_options_are_refused(make: Callable[..., Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(**options)


@in_each_world
def test_render(case: Case) -> None:
    env, words = (case.make(**case.level, render_mode=mode) for mode in ("rgb_array", "ansi"))
    env.reset(seed=0)
    words.reset(seed=0)
    picture, text = env.render(), words.render()
    assert (picture.ndim, picture.shape[2], picture.dtype) == (3, 3, np.uint8)
    assert isinstance(text, str)
    assert len(text.split("\n")) > 10


def test_without_the_extra_modules_are_read_and_say_what_is_missing() -> None:
    code = (
        "import importlib, sys\nsys.modules['pettingzoo'] = None\nfrom teamworld.errors import UserError\n"
        "for world in ('cube', 'wildfire', 'household', 'transport'):\n"
        "    env = importlib.import_module(f'teamworld.worlds.{world}.env')\n"
        "    try:\n        env.parallel_env()\n    except UserError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'teamworld[rl]'") == 4


@in_each_world
def test_packages_offer_their_environments(case: Case) -> None:
    package = importlib.import_module(f"teamworld.worlds.{case.name}")
    env = importlib.import_module(f"teamworld.worlds.{case.name}.env")
    assert package.parallel_env is env.parallel_env
    assert case.name == "household" or package.vector_env is env.vector_env
    with pytest.raises(AttributeError, match="no attribute 'paralel_env'"):
        _ = package.paralel_env


# ---- vector environments


def vector(world: str, **options: Any) -> Any:  # noqa: ANN401
    """Return a vector environment of a world."""
    make, level = VECTORS[world]
    return make(**level, **options)


@in_each_vector
def test_gymnasium_conventions(world: str) -> None:
    envs = vector(world, num_envs=3)
    assert isinstance(envs, VectorEnv)
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    seen, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(seen)
    assert envs.single_observation_space.contains(seen[0])
    envs.action_space.seed(0)
    actions = envs.action_space.sample()
    assert envs.action_space.contains(actions)
    assert envs.single_action_space.contains(actions[0])
    seen, rewards, terminated, truncated, _ = envs.step(actions)
    assert envs.observation_space.contains(seen)
    assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    envs.close()
    assert envs.closed
    blind = vector(world, observation="none")
    assert blind.reset()[0] is None
    with pytest.raises(UserError, match="there are no observations"):
        _ = blind.observation_space


@in_each_vector
def test_seeds_and_masks_of_vectors(world: str) -> None:
    envs = vector(world, num_envs=3)
    first, _ = envs.reset(seed=[9, 8, 7])
    again, _ = envs.reset(seed=[None, 8, None])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], again[0])
    masked, _ = envs.reset(seed=9, options={"reset_mask": np.array([True, False, False])})
    assert np.array_equal(masked[0], first[0])
    assert np.array_equal(masked[1:], again[1:])
    fresh = vector(world, num_envs=3).reset()[0]
    assert np.array_equal(fresh, vector(world, num_envs=3).reset(seed=np.int64(0))[0])
    assert np.array_equal(fresh[:2], vector(world, num_envs=3).reset(seed=(None, 1, 5))[0][:2])


@in_each_vector
def test_wrong_calls_of_vectors_are_refused(world: str) -> None:
    envs = vector(world, num_envs=3)
    with pytest.raises(UserError, match="have not begun: call reset"):
        envs.step(envs.action_space.sample())
    with pytest.raises(UserError, match="no episode has begun: call reset.. without a reset_mask first"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    envs.reset()
    good = np.zeros_like(envs.action_space.sample())
    for wrong in (good[:2], good.ravel(), good.astype(np.float64), good.astype(np.bool_), None):
        with pytest.raises(UserError, match="integers|whole numbers|shape"):
            envs.step(wrong)
    for seed in ("x", 1.5, [1, 2], [1, 2, "x"], True, np.array(1), np.ones(3), range(3)):
        with pytest.raises(UserError, match="seed"):
            envs.reset(seed=seed)
    for mask in ([1, 0, 0], np.array([True]), np.zeros(3, np.bool_)):
        with pytest.raises(UserError, match="reset_mask must be a bool array"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(UserError, match="only option"):
        envs.reset(options={"mask": 1})
    for options in ([], ["reset_mask"], 5):
        with pytest.raises(UserError, match="options must be a dictionary or None"):
            envs.reset(options=options)


@in_each_vector
def test_copies_are_fresh_and_own_buffers_are_read_only(world: str) -> None:
    fresh, own = (vector(world, num_envs=2, copy=copy) for copy in (True, False))
    actions = np.zeros_like(fresh.action_space.sample())
    seen = fresh.reset(seed=0)[0]
    kept = seen.copy()
    later = [fresh.step(actions)[0] for _ in range(3)]
    assert not any(np.shares_memory(seen, other) for other in later)
    assert np.array_equal(seen, kept)
    assert seen.flags.writeable
    first, _ = own.reset(seed=0)
    second = own.step(actions)[0]
    assert np.shares_memory(first, second)
    with pytest.raises(ValueError, match="read-only"):
        second[0, 0, 0] = 1
