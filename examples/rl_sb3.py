"""Learn CUBE by PPO of Stable-Baselines3: all agents of the PettingZoo environment share one network.

pip install 'teamworld[learn,policy]' onnxscript
python examples/rl_sb3.py --out pushers.onnx
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecEnv

from teamworld.worlds.cube import parallel_env

#: A small grid: two light blocks and one that takes both agents.
SCENE: dict[str, Any] = {"grid_size": 8, "num_agents": 2, "blocks": {1: 2, 2: 1}, "max_steps": 100}


class SharedAgents(VecEnv):
    """Every agent of some PettingZoo environments as one environment of Stable-Baselines3.

    The arrays are those of ``parallel_env`` with its indicator, flat, so that one network knows which agent it plays.
    """

    def __init__(self, num_envs: int, seed: int) -> None:
        """Make the environments; environment e begins with the seed ``seed * num_envs + e``."""
        self.envs = [parallel_env(agent_indicator=True, **SCENE) for _ in range(num_envs)]
        self.first_seed = seed * num_envs
        self.agents = self.envs[0].possible_agents
        self.returns: list[float] = []  # of finished episodes
        space = self.envs[0].observation_space(self.agents[0])
        flat = Box(0.0, float(space.high.max()), (int(np.prod(space.shape)),), np.float32)
        super().__init__(num_envs * len(self.agents), flat, self.envs[0].action_space(self.agents[0]))

    def _rows(self, seen: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [seen[agent].reshape(-1) for agent in self.agents]

    def reset(self) -> np.ndarray:
        """Start episodes everywhere."""
        self._sums = [0.0] * len(self.envs)
        starts = (env.reset(seed=self.first_seed + number) for number, env in enumerate(self.envs))
        return np.array([row for seen, _ in starts for row in self._rows(seen)])

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of all agents of all environments."""
        self._actions = actions.reshape(len(self.envs), -1).tolist()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step; finished environments begin anew in the same step, as Stable-Baselines3 expects."""
        rows: list[np.ndarray] = []
        rewards, dones, infos = [], [], list[dict[str, Any]]()
        for number, env in enumerate(self.envs):
            actions = dict(zip(self.agents, self._actions[number], strict=True))
            seen, reward, terminated, truncated, _ = env.step(actions)
            self._sums[number] += reward[self.agents[0]]  # of the team: all get the same
            done = not env.agents
            last = self._rows(seen)
            if done:
                self.returns.append(self._sums[number])
                self._sums[number] = 0.0
                seen, _ = env.reset()
            rows += self._rows(seen)
            for agent, row in zip(self.agents, last, strict=True):
                rewards.append(reward[agent])
                dones.append(done)
                end = {"terminal_observation": row, "TimeLimit.truncated": truncated[agent] and not terminated[agent]}
                infos.append(end if done else {})
        return np.array(rows), np.array(rewards, np.float32), np.array(dones), infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401
        """Return an attribute for each agent, None where there is none."""
        return [getattr(self, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ANN401
        """Agents have no attributes of their own."""
        raise AttributeError(attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:  # noqa: ANN401
        """Agents have no methods of their own."""
        raise AttributeError(method_name)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:  # noqa: ANN401
        """Say that nothing is wrapped."""
        return [False] * self.num_envs


class Scores(torch.nn.Module):
    """What a policy file holds: from one agent's array (B, K, K, 6) to scores of actions (B, 5)."""

    def __init__(self, policy: ActorCriticPolicy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the scores."""
        features = self.policy.mlp_extractor.forward_actor(seen.flatten(1))
        scores: torch.Tensor = self.policy.action_net(features)
        return scores


def evaluate(model: PPO, seed: int, episodes: int) -> list[float]:
    """Return the return of each of some episodes whose placements training has not seen."""
    agents = SharedAgents(1, seed)
    seen = agents.reset()
    while len(agents.returns) < episodes:
        agents.step_async(model.predict(seen)[0])
        seen, *_ = agents.step_wait()
    return agents.returns


def show(name: str, returns: list[float]) -> None:
    """Print the mean return and its standard error."""
    print(f"{name:8} {np.mean(returns):6.3f} +- {np.std(returns, ddof=1) / len(returns) ** 0.5:.3f}")


def main() -> None:
    """Learn, compare with what was there before, and save the network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=400_000, help="agent-steps of training")
    parser.add_argument("--envs", type=int, default=16, help="environments")
    parser.add_argument("--episodes", type=int, default=100, help="episodes of each test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to save the network, as ONNX")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy", SharedAgents(options.envs, options.seed), n_steps=128, batch_size=1024, n_epochs=4,
        learning_rate=7e-4, gamma=0.98, ent_coef=0.01, policy_kwargs={"net_arch": [128, 128]},
        seed=options.seed, device="cpu",
    )  # fmt: skip
    print(
        f"seed {options.seed}: mean return and standard error over {options.episodes} episodes that were not trained on"
    )
    show("before", evaluate(model, 10**6, options.episodes))
    model.learn(options.steps)
    show("after", evaluate(model, 10**6, options.episodes))
    if options.out:
        side = SCENE["grid_size"]
        model.policy.set_training_mode(False)
        torch.onnx.export(
            Scores(model.policy), (torch.zeros(1, side, side, 6),), str(options.out), external_data=False
        )  # fmt: skip


if __name__ == "__main__":
    main()
