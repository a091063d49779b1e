"""Learn to push blocks together: PPO of Stable-Baselines3 on a small CUBE, one network for all agents.

pip install 'teamworld[rl,plots,learn]'
python examples/learn_cube.py --figure learn_cube.png
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from teamworld.worlds.cube import vector_env
from teamworld.worlds.cube.observe import TEAMMATE

if TYPE_CHECKING:
    from collections.abc import Callable

#: Two agents, two blocks that one of them can push and one that takes both.
SCENE: dict[str, Any] = {"grid_size": 8, "num_agents": 2, "blocks": {1: 2, 2: 1}, "max_steps": 100}
RADIUS = 5
CLASSES = TEAMMATE + 2 + 1  # empty, goal, outside, agent, weight 1, weight 2
#: Episodes in a point of the learning curve.
LAST = 256


class Slots(VecEnv):
    """Every agent of every environment as one slot of Stable-Baselines3: all share one policy and the team's reward."""

    def __init__(self, num_envs: int, seed: int) -> None:
        """Make the environments; their episodes follow from ``seed``."""
        self.teams = vector_env(num_envs=num_envs, observation=f"window:{RADIUS}", copy=False, **SCENE)
        self.shape = self.teams.num_envs, self.teams.num_agents
        self.ends: list[tuple[float, bool]] = []  # return of each finished episode, and whether all was delivered
        self._seed: int | None = seed * num_envs
        side = 2 * RADIUS + 1
        super().__init__(self.shape[0] * self.shape[1], Box(0, 1, (side * side * CLASSES,), np.uint8), Discrete(5))

    def _features(self, windows: np.ndarray | None) -> np.ndarray:
        """One plane for each class of cells, flat."""
        assert windows is not None
        return (windows.reshape(self.num_envs, -1, 1) == np.arange(CLASSES)).astype(np.uint8).reshape(self.num_envs, -1)

    def reset(self) -> np.ndarray:
        """Start episodes everywhere."""
        windows, _ = self.teams.reset(seed=self._seed)
        self._seed = None
        self._returns = np.zeros(self.shape[0])
        return self._features(windows)

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of all slots."""
        self._actions = actions.reshape(self.shape).astype(np.int8)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step; finished teams begin anew in the same step, as Stable-Baselines3 expects."""
        windows, rewards, terminated, truncated, _ = self.teams.step(self._actions)
        seen, done, rewards = self._features(windows), terminated | truncated, rewards.copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._returns += rewards
        if done.any():
            for env in np.flatnonzero(done):
                self.ends.append((float(self._returns[env]), bool(terminated[env])))
                for slot in range(env * self.shape[1], (env + 1) * self.shape[1]):
                    infos[slot] = {"terminal_observation": seen[slot], "TimeLimit.truncated": bool(truncated[env])}
            self._returns[done] = 0.0
            seen = self._features(self.teams.reset(options={"reset_mask": done})[0])
        each = self.shape[1]
        return seen, np.repeat(rewards, each).astype(np.float32), np.repeat(done, each), infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401
        """Return an attribute for each slot, None where there is none."""
        return [getattr(self, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ANN401
        """Slots have no attributes of their own."""
        raise AttributeError(attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:  # noqa: ANN401
        """Slots have no methods of their own."""
        raise AttributeError(method_name)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:  # noqa: ANN401
        """Say that no slot is wrapped."""
        return [False] * self.num_envs


class Score(NamedTuple):
    """Mean over the episodes of one seed."""

    value: float
    completed: float


class Watch(BaseCallback):
    """Notes how the last episodes of training went, update by update."""

    def __init__(self, slots: Slots) -> None:
        """Watch ``slots``."""
        super().__init__()
        self.slots = slots
        self.curve: list[tuple[int, Score]] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.slots.ends:
            self.curve.append((self.num_timesteps, mean(self.slots.ends[-LAST:])))


def mean(ends: list[tuple[float, bool]]) -> Score:
    """Return the mean of some episodes."""
    return Score(statistics.fmean(end[0] for end in ends), statistics.fmean(end[1] for end in ends))


def evaluate(policy: Callable[[np.ndarray], np.ndarray], seed: int, teams: int = 50) -> Score:
    """Play one episode of each of ``teams`` placements that training has not seen."""
    slots = Slots(teams, seed)
    seen = slots.reset()
    first: dict[int, tuple[float, bool]] = {}
    for _ in range(SCENE["max_steps"]):
        before = len(slots.ends)
        slots.step_async(policy(seen))
        seen, _, done, _ = slots.step_wait()
        for team, end in zip(np.flatnonzero(done[:: slots.shape[1]]), slots.ends[before:], strict=True):
            first.setdefault(int(team), end)
    return mean([*first.values()])


def interval(values: list[float]) -> str:
    """Return mean and 95 % interval over the seeds (Student's t for 10 values)."""
    half = 2.262 * statistics.stdev(values) / len(values) ** 0.5
    middle = statistics.fmean(values)
    return f"{middle:6.3f} [{middle - half:.3f}, {middle + half:.3f}]"


def draw(curve: list[tuple[int, Score]], random: list[Score], path: Path) -> None:
    """Save the learning curve beside what random agents reach."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    steps = [at / 1e6 for at, _ in curve]
    for panel, field, name in zip(axes, Score._fields, ("return", "episodes completed"), strict=True):
        panel.plot(steps, [getattr(score, field) for _, score in curve], color="#1b6ca8", label="PPO, in training")
        level = statistics.fmean(getattr(score, field) for score in random)
        panel.axhline(level, color="#888888", linestyle="--", label="random")
        panel.set_xlabel("million agent-steps")
        panel.set_title(name, loc="left", fontsize=11)
        panel.spines[["top", "right"]].set_visible(False)
    axes[1].set_ylim(-0.02, 1.02)
    axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Learn, then compare with random agents on ten seeds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000, help="agent-steps of training")
    parser.add_argument("--envs", type=int, default=128, help="environments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path, help="where to save the learning curve")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    rng = np.random.default_rng(given.seed)

    slots = Slots(given.envs, given.seed)
    begin = time.thread_time()
    model = PPO(
        "MlpPolicy", slots, n_steps=64, batch_size=2048, n_epochs=4, learning_rate=7e-4, gamma=0.98, gae_lambda=0.95,
        ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]}, seed=given.seed, device="cpu",
    )  # fmt: skip
    watch = Watch(slots)
    model.learn(given.steps, callback=watch)
    print(f"{given.steps:,} agent-steps in {time.thread_time() - begin:.0f} s of CPU time")

    tests = range(1000, 1010)  # no placement is shared with training, whose seeds are 0 to the number of environments
    random = [evaluate(lambda seen: rng.integers(0, 5, len(seen)), seed) for seed in tests]
    learned = [evaluate(lambda seen: model.predict(seen)[0], seed) for seed in tests]
    print(f"{'':8} {'return':>24} {'episodes completed':>24}   mean and 95 % interval over ten seeds, 50 episodes each")
    for name, scores in (("random", random), ("PPO", learned)):
        value, completed = (interval([score[k] for score in scores]) for k in range(2))
        print(f"{name:8} {value:>24} {completed:>24}")
    if given.figure:
        draw(watch.curve, random, given.figure)


if __name__ == "__main__":
    main()
