"""What the scripted team of wildfire, or another one, reaches beside a team that does nothing.

``python benchmarks/wildfire_scripted.py``, with ``--levels A,B`` (all 17 presets), ``--seeds N`` (10), ``--method M``
(greedy, the scripted team), prints a line for each level: the best possible score, then mean score and steps of both
teams; on fire levels what burnt (trees, 10 a building, 100 a civilian; own agents not counted) and the paired
difference with a 95 % bootstrap interval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

import numpy as np

from teamworld.record import StepDone
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.wildfire.levels import PRESETS, level_for


def played(method: str, level: str, seed: int) -> tuple[Mapping[str, float], int]:
    """Return the last score of an episode and its steps."""
    events = play(method, Scenario("wildfire", level, seed, level_for(level).max_steps), {}).events
    steps = [event for event in events if isinstance(event, StepDone)]
    return steps[-1].score, len(steps)


def burnt(score: Mapping[str, float]) -> float:
    """Return the damage, own agents not counted."""
    return score["trees_burnt"] + 10 * score["buildings_lost"] + 100 * score["civilians_lost"]


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean."""
    values, rng = np.array(differences), generator(0, "benchmark", "bootstrap")
    means = values[rng.integers(len(values), size=(10_000, len(values)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default=",".join(PRESETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--method", default="greedy")
    given = parser.parse_args()
    team = given.method
    for level in given.levels.split(","):
        began = time.perf_counter()
        rows = {m: [played(m, level, seed) for seed in range(given.seeds)] for m in (team, "do_nothing")}
        seconds = time.perf_counter() - began
        means = {
            method: (np.mean([score["score"] for score, _ in found]), np.mean([steps for _, steps in found]))
            for method, found in rows.items()
        }
        line = f"{level}: best {level_for(level).max_score}"
        for method, (score, steps) in means.items():
            line += f"; {method} {score:.1f} in {steps:.1f} steps"
        best = sum(score["score"] >= level_for(level).max_score for score, _ in rows[team])
        line += f"; at the best {best}/{given.seeds}"
        if "trees_burnt" in rows[team][0][0]:
            damage = {method: [burnt(score) for score, _ in found] for method, found in rows.items()}
            less = [b - a for a, b in zip(damage[team], damage["do_nothing"], strict=True)]
            low, high = interval(less)
            cut = np.mean([score["trees_cut"] for score, _ in rows[team]])
            line += (
                f"; burnt {np.mean(damage[team]):.0f} and {np.mean(damage['do_nothing']):.0f}, less by "
                f"{np.mean(less):.0f} [{low:.0f}, {high:.0f}], trees cut {cut:.0f}"
            )
        print(f"{line} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
