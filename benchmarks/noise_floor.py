"""Is the noise floor of a twin that of repeats?

In each place a method plays one layout so many times, and so does its twin. The floor of the twin, for half as many
pairs, is set beside the split-half floor: the 95 % quantile of the difference between two random halves of the
method's own repeats.

    python benchmarks/noise_floor.py
    python benchmarks/noise_floor.py --repeats 60 --layouts 0 1 2 --noise 0.2 --places 0 1
"""

from __future__ import annotations

import argparse
import math
import tempfile

import numpy as np

import teamworld
from teamworld.report.comparison import Sample

#: World, level, method and steps of an episode.
PLACES = (
    ("cube", "n2", "drwell", 100),
    ("cube", "n2", "coela", 100),
    ("cube", "n2", "zero_shot", 100),
    ("household", "dev", "coela", 120),
    ("rooms", "two", "cobel", 60),
)
METRIC = "steps"
_DRAWS = 20_000


def values(samples: list[Sample], method: str) -> np.ndarray:
    """Return the metric of each repeat."""
    return np.array([sample.values[METRIC].value for sample in samples if sample.method == method], float)


def split_half(steps: np.ndarray, seed: int) -> float:
    """Return the 95 % quantile of the difference between the means of two random halves."""
    rng, half = np.random.default_rng(seed), len(steps) // 2
    drawn = [rng.permutation(steps) for _ in range(_DRAWS)]
    return float(np.quantile([abs(part[:half].mean() - part[half : 2 * half].mean()) for part in drawn], 0.95))


def measure(place: tuple[str, str, str, int], layout: int, repeats: int, noise: float) -> tuple[float, float]:
    """Return the floor of the twin and the split-half floor, both for half of the repeats."""
    world, level, method, steps = place
    with tempfile.TemporaryDirectory() as folder:
        result = teamworld.compare(
            method,
            world=world,
            level=level,
            seeds=range(repeats),
            instances=layout,
            max_steps=steps,
            reasoner=f"rules:noise={noise}",
            metrics=METRIC,
            primary=METRIC,
            references=False,
            twin=method,
            out=folder,
        )
        (twin,) = result.comparison.twins
        floor = math.nan if twin.floor is None else twin.floor * math.sqrt(2.0)
        return floor, split_half(values(result.measured.episodes, method), layout)


def main() -> None:
    """Print both floors and their ratio for each place and layout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--layouts", type=int, nargs="*", default=(0, 1), help="their seeds")
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--places", type=int, nargs="*", default=range(len(PLACES)), help="numbers, from 0")
    options = parser.parse_args()
    found: list[float] = []
    for number in options.places:
        for layout in options.layouts:
            twin, halves = measure(PLACES[number], layout, options.repeats, options.noise)
            if halves:
                found.append(twin / halves)
                ratio = f"{twin / halves:.2f}"
            else:
                ratio = "no noise"
            place = " ".join(map(str, PLACES[number][:3]))
            print(f"{place} layout {layout}: twin {twin:.2f}, split halves {halves:.2f}, {ratio}", flush=True)
    ratios = np.array(found)
    if len(ratios):
        error = ratios.std(ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.nan
        within = np.abs(ratios - 1) <= 0.1
        print(f"mean ratio {ratios.mean():.3f} +- {error:.3f}; within 10 %: {within.sum()} of {len(ratios)}")


if __name__ == "__main__":
    main()
