"""Other packages' environments beside the bare packages: the same observations and rewards, and what the adapter costs.

Both get the same seeds and the same random actions. Steps of the bare package and of the adapter take turns, a hundred
each; what is reported is CPU time. The adapter is played through its array interface.

    python benchmarks/adapters.py [--steps 10000] [--levels ...]
    python benchmarks/adapters.py --finished 20 --levels rware-tiny-2ag-v2    # what methods finish, of so many seeds
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from teamworld.episode.compatibility import DoesNotApply
from teamworld.record import EpisodeEnd
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.adapters.gymnasium_team import GymnasiumTeam, make_registered
from teamworld.worlds.adapters.lbf.env import parallel_env as lbf
from teamworld.worlds.adapters.overcooked.env import OvercookedEnv, make_bare
from teamworld.worlds.adapters.overcooked.env import parallel_env as overcooked
from teamworld.worlds.adapters.overcooked.levels import LEVELS as KITCHENS
from teamworld.worlds.adapters.rware.env import parallel_env as rware

LEVELS = {
    "Foraging-8x8-2p-2f-coop-v3": ("lbforaging", lbf),
    "Foraging-2s-10x10-3p-3f-v3": ("lbforaging", lbf),
    "Foraging-15x15-4p-3f-v3": ("lbforaging", lbf),
    "rware-tiny-2ag-v2": ("rware", rware),
    "rware-small-4ag-v2": ("rware", rware),
    **dict.fromkeys(KITCHENS, ("cogrid", overcooked)),
}
METHODS = ("greedy", "random", "drwell", "coela", "hmas2", "camon", "embodied", "cobel")
#: Steps of one, then of the other.
TURN = 100


class BareKitchen:
    """An environment of cogrid, whose actions, observations and rewards stand by the agents' numbers, as lists."""

    def __init__(self, level: str) -> None:
        self.env = make_bare(level)
        self.action_space = [*self.env.action_spaces.values()]

    def reset(self, seed: int) -> tuple[list[Any], Any]:
        observations, infos = self.env.reset(seed=seed)
        return [*observations.values()], infos

    def step(self, action: list[int]) -> tuple[list[Any], list[float], bool, bool, Any]:
        observations, rewards, _, truncations, infos = self.env.step(dict(enumerate(action)))
        return [*observations.values()], [*rewards.values()], False, truncations[0], infos


class BareEpisodes:
    """A bare environment that starts over when an episode ends, and what it showed."""

    def __init__(self, env: Any) -> None:  # noqa: ANN401  (the packages are not typed)
        self.env, self.seed, self.seconds = env, 0, 0.0
        self.shown: list[Any] = [env.reset(seed=0)[0]]

    def play(self, actions: list[list[int]]) -> None:
        """Play a turn."""
        begin, shown = time.process_time(), []
        for action in actions:
            observations, rewards, terminated, truncated, _ = self.env.step(action)
            shown.append((observations, rewards))
            if terminated or truncated:
                self.seed += 1
                shown.append(self.env.reset(seed=self.seed)[0])
        self.seconds += time.process_time() - begin
        self.shown += shown


class AdapterEpisodes:
    """The same through the adapter."""

    def __init__(self, env: GymnasiumTeam | OvercookedEnv) -> None:
        self.env, self.seed, self.seconds = env, 0, 0.0
        self.shown: list[Any] = [env.reset(seed=0)[0]]

    def play(self, actions: list[list[int]]) -> None:
        """Play a turn."""
        named = [dict(zip(self.env.possible_agents, action, strict=True)) for action in actions]
        begin, shown = time.process_time(), []
        for action in named:
            observations, rewards, _, _, _ = self.env.step(action)
            shown.append((observations, rewards))
            if not self.env.agents:
                self.seed += 1
                shown.append(self.env.reset(seed=self.seed)[0])
        self.seconds += time.process_time() - begin
        self.shown += shown


def count_differences(bare: list[Any], adapted: list[Any]) -> int:
    """Return how many observations or rewards differ."""
    differences = abs(len(bare) - len(adapted))
    for own, other in zip(bare, adapted, strict=False):
        is_step = len(own) == 2 and isinstance(own[1], list)
        observations, rewards = own if is_step else (own, [])
        others, other_rewards = other if is_step else (other, {})
        same = all(map(np.array_equal, observations, others.values()))
        differences += not (same and list(rewards) == list(other_rewards.values()))
    return differences


def print_finished(levels: list[str], seeds: int) -> None:
    """Print for each level and method how many episodes were finished, and the mean steps."""
    print(f"| level | {' | '.join(METHODS)} |\n| --- |{' --- |' * len(METHODS)}")
    for level in levels:
        cells = []
        for method in METHODS:
            world = "lbf" if level.startswith("Foraging") else "rware" if level.startswith("rware") else "overcooked"
            try:
                played = [play(method, Scenario(world, level, seed, None), {}).events[-1] for seed in range(seeds)]
            except DoesNotApply:
                cells.append("does not apply")
                continue
            ends = [event for event in played if isinstance(event, EpisodeEnd)]
            done = sum(event.reason == "all_done" for event in ends)
            cells.append(f"{done} ({sum(event.step for event in ends) / seeds:.0f})")
        print(f"| `{level}` | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--levels", nargs="*", default=[*LEVELS])
    parser.add_argument("--finished", type=int, help="play so many seeds with each method instead")
    options = parser.parse_args()
    if options.finished:
        print_finished(options.levels, options.finished)
        return
    print(f"{'level':30} {'steps':>7} {'different':>9} {'bare us':>9} {'adapter us':>10} {'overhead':>8}")
    for level in options.levels:
        package, make = LEVELS[level]
        own_env = BareKitchen(level) if package == "cogrid" else make_registered(package, level)
        bare, adapted = BareEpisodes(own_env), AdapterEpisodes(make(level))
        rng = np.random.default_rng(0)
        spaces = bare.env.action_space
        for turn in range(options.steps // TURN):
            actions = rng.integers(spaces[0].n, size=(TURN, len(spaces))).tolist()
            for side in (bare, adapted) if turn % 2 else (adapted, bare):
                side.play(actions)
        different = count_differences(bare.shown, adapted.shown)
        own, other = (1e6 * side.seconds / options.steps for side in (bare, adapted))
        print(f"{level:30} {options.steps:7} {different:9} {own:9.1f} {other:10.1f} {other / own - 1:8.1%}")


if __name__ == "__main__":
    main()
