"""Learn CUBE by independent PPO: each agent by its own window and its own value, one network for all.

pip install 'teamworld[rl,policy]' torch onnxscript
python examples/rl_ippo.py --out pushers.onnx
teamworld run cube --level n2 --method policy:pushers.onnx --seeds 5 --out runs/pushers
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from teamworld.worlds.cube import vector_env
from teamworld.worlds.cube.observe import TEAMMATE

RADIUS = 5
HEAVIEST = 2
CLASSES = TEAMMATE + HEAVIEST + 1  # empty, goal, outside, agent, weights 1 and 2
ACTIONS = 5
#: A small grid: two light blocks and one that takes both agents. A window looks the same on grids of every side.
SCENE: dict[str, Any] = {"grid_size": 8, "num_agents": 2, "blocks": {1: 2, 2: 1}, "observation": f"window:{RADIUS}"}
#: Steps of a rollout, passes over it, parts of a pass.
ROLLOUT, EPOCHS, PARTS = 64, 4, 8
GAMMA, LAMBDA, CLIP, ENTROPY = 0.98, 0.95, 0.2, 0.01


class Network(nn.Module):
    """From windows (B, 2R + 1, 2R + 1) of classes of cells to scores of actions (B, 5); ``value`` beside it."""

    def __init__(self) -> None:
        super().__init__()
        side = 2 * RADIUS + 1
        self.body = nn.Sequential(nn.Linear(side * side * CLASSES, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.scores, self.values = nn.Linear(128, ACTIONS), nn.Linear(128, 1)
        nn.init.zeros_(self.scores.weight)  # all actions alike at first
        self.register_buffer("classes", torch.arange(CLASSES, dtype=torch.float32))

    def look(self, windows: Tensor) -> Tensor:
        """Return what the windows show: one plane for each class, then two layers."""
        planes = windows.unsqueeze(-1) == self.classes
        features: Tensor = self.body(planes.flatten(1).float())
        return features

    def forward(self, windows: Tensor) -> Tensor:
        """Return scores: all that a policy file holds."""
        scores: Tensor = self.scores(self.look(windows))
        return scores

    def both(self, windows: Tensor) -> tuple[Categorical, Tensor]:
        """Return the distribution of actions and the value of each window."""
        features = self.look(windows)
        return Categorical(logits=self.scores(features)), self.values(features).squeeze(-1)


class Rollout(NamedTuple):
    """What was seen, done and gained: arrays (T, E, n, ...)."""

    windows: Tensor
    actions: Tensor
    chances: Tensor
    """Logarithms of the probabilities of the actions."""
    values: Tensor
    gains: Tensor
    """Advantages."""
    is_played: Tensor
    """False where an environment began anew: its actions did nothing."""


class Player:
    """Plays a batch of environments with a network."""

    def __init__(self, network: Network, num_envs: int, seed: int, max_steps: int) -> None:
        self.network = network
        self.env = vector_env(num_envs=num_envs, max_steps=max_steps, **SCENE)
        seen, _ = self.env.reset(seed=seed)
        self.seen = torch.as_tensor(seen)
        self.begun = np.zeros(num_envs, np.bool_)  # environments that begin anew in the next step

    @torch.no_grad()
    def play(self, steps: int) -> Rollout:
        """Return a rollout, with advantages by GAE (Schulman et al. 2016)."""
        seen, done, chances, values, rewards, ends, played = [], [], [], [], [], [], []
        for _ in range(steps):
            windows = self.seen.flatten(0, 1).float()
            choice, value = self.network.both(windows)
            action = choice.sample()
            chance = choice.log_prob(action)
            shape = self.seen.shape[:2]
            stepped, reward, terminated, truncated, _ = self.env.step(action.view(shape).numpy().astype(np.int8))
            seen.append(self.seen)
            done.append(action.view(shape))
            chances.append(chance.view(shape))
            values.append(value.view(shape))
            rewards.append(torch.as_tensor(reward, dtype=torch.float32).unsqueeze(-1).expand(shape))
            ends.append(torch.as_tensor(terminated | truncated).unsqueeze(-1).expand(shape))
            played.append(torch.as_tensor(~self.begun).unsqueeze(-1).expand(shape))
            self.begun, self.seen = terminated | truncated, torch.as_tensor(stepped)
        _, last = self.network.both(self.seen.flatten(0, 1).float())
        value, reward, end = torch.stack(values), torch.stack(rewards), torch.stack(ends)
        gains, gain, after = torch.zeros_like(value), torch.zeros_like(value[0]), last.view(value.shape[1:])
        for t in reversed(range(steps)):
            goes_on = (~end[t]).float()
            gain = reward[t] + GAMMA * after * goes_on - value[t] + GAMMA * LAMBDA * goes_on * gain
            gains[t], after = gain, value[t]
        return Rollout(torch.stack(seen), torch.stack(done), torch.stack(chances), value, gains, torch.stack(played))


def improve(network: Network, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Take PPO's steps (Schulman et al. 2017) on a rollout."""
    keep = rollout.is_played.flatten()
    windows, actions, chances, values, gains = (part.flatten(0, 2)[keep] for part in rollout[:5])
    aims = values + gains
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(actions)).chunk(PARTS):
            choice, value = network.both(windows[part].float())
            ratio = (choice.log_prob(actions[part]) - chances[part]).exp()
            gain = torch.min(ratio * gains[part], ratio.clamp(1 - CLIP, 1 + CLIP) * gains[part]).mean()
            loss = -gain + 0.5 * (value - aims[part]).square().mean() - ENTROPY * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


@torch.no_grad()
def evaluate(choose: Callable[[Tensor], Tensor], seeds: range, max_steps: int) -> list[float]:
    """Return the return of one episode of each seed."""
    env = vector_env(num_envs=len(seeds), max_steps=max_steps, **SCENE)
    seen, _ = env.reset(seed=seeds.start)
    returns, is_on = np.zeros(len(seeds)), np.ones(len(seeds), np.bool_)
    while is_on.any():
        actions = choose(torch.as_tensor(seen).flatten(0, 1).float()).view(len(seeds), -1)
        seen, rewards, terminated, truncated, _ = env.step(actions.numpy().astype(np.int8))
        returns += rewards * is_on
        is_on &= ~(terminated | truncated)
    return [float(value) for value in returns]


def show(name: str, returns: list[float]) -> None:
    """Print the mean return and its standard error."""
    print(f"{name:16} {np.mean(returns):6.3f} +- {np.std(returns, ddof=1) / len(returns) ** 0.5:.3f}")


def main() -> None:
    """Learn, compare with what was there before on placements that were never seen, and save the network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000, help="agent-steps of training")
    parser.add_argument("--envs", type=int, default=128, help="environments")
    parser.add_argument("--max-steps", type=int, default=100, help="steps of an episode")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to save the network, as ONNX")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=7e-4)
    tests = range(10**6, 10**6 + 100)
    before = evaluate(lambda seen: Categorical(logits=network(seen)).sample(), tests, options.max_steps)
    begin = time.thread_time()
    player = Player(network, options.envs, options.seed * options.envs, options.max_steps)
    for _ in range(max(1, options.steps // (ROLLOUT * options.envs * 2))):
        improve(network, optimizer, player.play(ROLLOUT))
    print(f"seed {options.seed}: {options.steps:,} agent-steps in {time.thread_time() - begin:.0f} s of CPU time")
    print(f"mean return and standard error, {len(tests)} placements of seeds {tests.start} to {tests.stop - 1}")
    show("before, drawn", before)
    show("after, drawn", evaluate(lambda seen: Categorical(logits=network(seen)).sample(), tests, options.max_steps))
    show("after, argmax", evaluate(lambda seen: network(seen).argmax(-1), tests, options.max_steps))
    if options.out:
        example = torch.zeros(1, 2 * RADIUS + 1, 2 * RADIUS + 1)
        torch.onnx.export(network.eval(), (example,), str(options.out), external_data=False)


if __name__ == "__main__":
    main()
