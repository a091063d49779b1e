"""CUBE as a multi-agent environment of RLlib: one network for all agents, trained by RLlib's PPO.

Ray asks for an older Gymnasium than the extra [rl]; the environment runs on both:

pip install teamworld 'ray[rllib]' torch && pip install --no-deps pettingzoo
python examples/rl_rllib.py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import ray
import torch
from gymnasium.spaces import Box
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import RLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from teamworld.worlds.cube import parallel_env

#: A small grid: two light blocks and one that takes both agents.
SCENE: dict[str, Any] = {"grid_size": 8, "num_agents": 2, "blocks": {1: 2, 2: 1}, "max_steps": 100}


class CubeTeam(MultiAgentEnv):
    """The PettingZoo environment with its indicator; its arrays are flat: to RLlib six channels are no picture."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        """Make the environment; ``config`` has what ``parallel_env`` takes."""
        super().__init__()
        self.env = parallel_env(agent_indicator=True, **{**SCENE, **(config or {})})
        self.agents = self.possible_agents = list(self.env.possible_agents)
        space = self.env.observation_space(self.agents[0])
        flat = Box(0.0, float(space.high.max()), (int(np.prod(space.shape)),), np.float32)
        self.observation_spaces = dict.fromkeys(self.agents, flat)
        self.action_spaces = {agent: self.env.action_space(agent) for agent in self.agents}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
        """Start an episode: observations and infos by agent."""
        seen, _ = self.env.reset(seed=seed)
        return {agent: seen[agent].reshape(-1) for agent in seen}, {}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Step: observations, rewards, ends and infos by agent; ``__all__`` says whether all has ended."""
        seen, rewards, terminated, truncated, _ = self.env.step({a: int(n) for a, n in action_dict.items()})
        flat = {agent: seen[agent].reshape(-1) for agent in seen}
        ends = {"__all__": all(terminated.values())}, {"__all__": all(truncated.values())}
        return flat, rewards, {**terminated, **ends[0]}, {**truncated, **ends[1]}, {}


def evaluate(module: RLModule, seed: int, episodes: int) -> list[float]:
    """Return the return of each of some episodes, actions drawn, whose placements training has not seen."""
    returns = []
    for number in range(episodes):
        torch.manual_seed(seed + number)
        team = CubeTeam()
        seen, _ = team.reset(seed=seed + number)
        total, over = 0.0, False
        while not over:
            batch = torch.as_tensor(np.array([seen[agent] for agent in team.agents]))
            scores = module.forward_inference({Columns.OBS: batch})[Columns.ACTION_DIST_INPUTS]
            actions = torch.distributions.Categorical(logits=scores).sample().tolist()
            seen, rewards, terminated, truncated, _ = team.step(dict(zip(team.agents, actions, strict=True)))
            total, over = total + rewards[team.agents[0]], terminated["__all__"] or truncated["__all__"]
        returns.append(total)
    return returns


def show(name: str, returns: list[float]) -> None:
    """Print the mean return and its standard error."""
    print(f"{name:8} {np.mean(returns):6.3f} +- {np.std(returns, ddof=1) / len(returns) ** 0.5:.3f}")


def main() -> None:
    """Learn, and compare with what was there before."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--iterations", type=int, default=25, help="of 4,000 steps each")
    parser.add_argument("--episodes", type=int, default=100, help="episodes of each test")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment(CubeTeam)
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .training(
            lr=3e-4,
            gamma=0.98,
            lambda_=0.95,
            entropy_coeff=0.01,
            train_batch_size_per_learner=4000,
            num_epochs=4,
            minibatch_size=1000,
        )
        .debugging(seed=options.seed)
    )
    algorithm = config.build_algo()
    print(
        f"seed {options.seed}: mean return and standard error over {options.episodes} episodes that were not trained on"
    )
    show("before", evaluate(algorithm.get_module("shared"), 10**6, options.episodes))
    for _ in range(options.iterations):
        algorithm.train()
    show("after", evaluate(algorithm.get_module("shared"), 10**6, options.episodes))
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
