"""Wildfire as a vector environment: equal to ``parallel_env`` bit by bit, and Gymnasium's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teamworld.worlds.wildfire.env import WildfireEnv, parallel_env, vector_env

pytest.importorskip("pettingzoo")

from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from teamworld.errors import UserError

if TYPE_CHECKING:
    import numpy.typing as npt


class Twin:
    """One ``parallel_env`` played as the vector environment plays each of its own."""

    def __init__(self, env: WildfireEnv, seed: int) -> None:
        self.env, self.waiting = env, False
        env.reset(seed=seed)

    def step(self, actions: npt.NDArray[np.int64]) -> tuple[float, bool, bool]:
        """Return reward, terminated, truncated."""
        if self.waiting:
            self.env.reset()
            self.waiting = False
            return 0.0, False, False
        given = {agent: actions[self.env.possible_agents.index(agent)] for agent in self.env.agents}
        _, rewards, _, cut, _ = self.env.step(given)
        self.waiting = not self.env.agents
        return next(iter(rewards.values())), self.waiting and not any(cut.values()), any(cut.values())


@pytest.mark.parametrize(
    "options",
    [
        {"level": "perception", "mode": "stochastic", "max_steps": 6},
        {"level": "suppress_fire_contain", "score": "burnt", "shared_map": False, "max_steps": 5},
        {"level": "scout_fire_small", "max_steps": 4},
    ],
)
@pytest.mark.parametrize("copy", [True, False])
def test_equal_to_the_parallel_environment(options: dict[str, Any], copy: bool) -> None:
    envs = vector_env(num_envs=3, copy=copy, **options)
    rows, infos = envs.reset(seed=5)
    twins = [Twin(parallel_env(**options), 5 + k) for k in range(3)]
    rng = np.random.default_rng(1)
    size = int(envs.single_action_space.nvec[0, 1])  # type: ignore[attr-defined]
    for _ in range(16):
        assert rows is not None
        assert np.array_equal(rows, np.stack([twin.env.state() for twin in twins]))
        assert np.array_equal(infos["alive"], rows[:, 1:, 0] != 5)
        actions = rng.integers(0, size, (3, envs.num_agents, 3))
        actions[..., 0] %= 4
        rows, reward, terminated, truncated, infos = envs.step(actions)
        expected = [twin.step(one) for twin, one in zip(twins, actions, strict=True)]
        assert list(zip(reward.tolist(), terminated.tolist(), truncated.tolist(), strict=True)) == expected


def test_gymnasium_takes_it() -> None:
    envs = vector_env("perception", num_envs=2, max_steps=4)
    assert isinstance(envs, VectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    recorded = RecordEpisodeStatistics(envs)
    recorded.reset(seed=0)
    finished = 0
    for _ in range(11):
        envs.action_space.seed(3)
        *_, infos = recorded.step(envs.action_space.sample())
        if "episode" in infos:
            finished += int(infos["_episode"].sum())
            assert set(infos["episode"]["l"][infos["_episode"]].tolist()) <= {1, 2, 3, 4}
    assert finished >= 4


def test_spaces() -> None:
    envs = vector_env("suppress_fire_contain", num_envs=2)
    assert envs.single_action_space.shape == (6, 3)
    assert envs.action_space.shape == (2, 6, 3)
    assert envs.observation_space.shape == (2, 7, 3728)
    envs.action_space.seed(0)
    for _ in range(20):
        actions = envs.action_space.sample()
        assert (actions[..., 0] >= -2).all()
        assert (actions[:, 5, 0] <= 1).all()  # a bulldozer
        assert (actions[..., 1:] < 60).all()
    rows, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(rows)


def test_copies_and_views() -> None:
    waiting = np.full((1, 3, 3), -1)
    fresh = vector_env(num_envs=1)
    first, _ = fresh.reset(seed=0)
    second = fresh.step(waiting)[0]
    assert first is not None
    assert second is not None
    assert not np.shares_memory(first, second)
    shared = vector_env(num_envs=1, copy=False)
    first, _ = shared.reset(seed=0)
    second = shared.step(waiting)[0]
    assert first is not None
    assert second is not None
    assert np.shares_memory(first, second)
    with pytest.raises(ValueError, match="read-only"):
        second[0, 0, 0] = 1


def test_no_observations() -> None:
    envs = vector_env(num_envs=2, observation="none")
    rows, infos = envs.reset(seed=0)
    assert rows is None
    assert infos["alive"].all()
    assert envs.step(np.zeros((2, 3, 3), np.int32))[0] is None
    with pytest.raises(UserError, match="there are no observations"):
        _ = envs.observation_space


def test_seeds_and_masks() -> None:
    envs = vector_env(num_envs=3)
    first, _ = envs.reset(seed=[9, 8, 7])
    again, _ = envs.reset(seed=[None, 8, None])
    assert first is not None
    assert again is not None
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], again[0])
    masked, _ = envs.reset(seed=9, options={"reset_mask": np.array([True, False, False])})
    assert masked is not None
    assert np.array_equal(masked[0], first[0])
    assert np.array_equal(masked[1:], again[1:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
        ({"observation": "grid"}, "observation must be 'rows' or 'none'"),
        ({"level": "nowhere"}, "there is no wildfire level 'nowhere'"),
    ],
)
def test_bad_arguments_are_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        vector_env(**options)


def test_bad_calls_are_told() -> None:
    envs = vector_env(num_envs=2)
    with pytest.raises(UserError, match="have not begun"):
        envs.step(np.zeros((2, 3, 3), np.int64))
    with pytest.raises(UserError, match="no episode has begun"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset()
    for wrong in (np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((1, 3, 3), np.int64)):
        with pytest.raises(UserError, match="actions must be whole numbers of shape"):
            envs.step(wrong)  # type: ignore[arg-type]
    for options, words in (
        ({"mask": 1}, "only option of reset"),
        ({"reset_mask": np.zeros(2, np.bool_)}, "at least one True"),
        ({"reset_mask": np.ones(3, np.bool_)}, "reset_mask must be"),
    ):
        with pytest.raises(UserError, match=words):
            envs.reset(options=options)
    for seed, words in (([1], "one seed for each"), ("x", "seed must be an integer")):
        with pytest.raises(UserError, match=words):
            envs.reset(seed=seed)  # type: ignore[arg-type]
    envs.close()
    assert envs.closed
