"""How often do the intervals hold the truth, and how often is a difference found where there is none?

Simulated units of known truth, many samples of each size, through the very functions that every table uses. ``--play``
also compares a method with itself on episodes that were played: each half of its seeds stands for one method.

    python benchmarks/intervals.py
    python benchmarks/intervals.py --samples 200 --sizes 5 20
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import teamworld
from teamworld.report.statistics import Ratio, paired, ratio_interval

Units = list[Ratio]
Generator = np.random.Generator


def means(values: NDArray[np.float64]) -> Units:
    return [(float(value), 1.0) for value in values]


def rates(rng: Generator, size: int) -> Units:
    """Rates with denominators that differ tenfold, and a chance of success of their own."""
    trials = rng.integers(5, 51, size)
    return [(float(rng.binomial(n, rng.beta(6, 4))), float(n)) for n in trials]


#: By name: draws units, the truth, and whether they are binary.
KINDS: dict[str, tuple[Callable[[Generator, int], Units], float, bool]] = {
    "normal": (lambda rng, n: means(rng.normal(0, 1, n)), 0.0, False),
    "skewed (exponential)": (lambda rng, n: means(rng.exponential(1, n)), 1.0, False),
    "heavy (log-normal, sigma 1)": (lambda rng, n: means(rng.lognormal(0, 1, n)), float(np.exp(0.5)), False),
    "censored at 1.5 sd": (lambda rng, n: means(np.minimum(rng.normal(0, 1, n), 1.5)), -0.02931, False),
    "ties (die)": (lambda rng, n: means(rng.integers(1, 7, n).astype(float)), 3.5, False),
    "yes or no, 0.9": (lambda rng, n: means((rng.random(n) < 0.9).astype(float)), 0.9, True),
    "shares near 1": (lambda rng, n: means(np.round(rng.beta(8, 1, n), 2)), 8 / 9, False),
    "rates": (rates, 0.6, False),
}


def coverage(kind: str, size: int, samples: int) -> float:
    """Return the share of intervals that hold the truth; where all units are alike, tables show none."""
    draw, truth, binary = KINDS[kind]
    rng, held, shown = np.random.default_rng(size), 0, 0
    for _ in range(samples):
        interval = ratio_interval({"": draw(rng, size)}, binary=binary)
        assert interval is not None
        shown += interval.low < interval.high
        held += interval.low <= truth <= interval.high and interval.low < interval.high
    return held / shown


def size_of(kind: str, size: int, samples: int) -> float:
    """Return how often two samples of one kind differ: p below 0.05, and an interval without 0."""
    draw, _, binary = KINDS[kind]
    rng, found = np.random.default_rng(size), 0
    for _ in range(samples):
        result = paired(draw(rng, size), draw(rng, size), binary=binary)
        assert result is not None
        found += result.p < 0.05 and not result.low <= 0.0 <= result.high
    return found / samples


def split(world: str, level: str, method: str, seeds: int, samples: int, size: int) -> float:
    """Return the same for steps of played episodes: random halves of the seeds, paired at random."""
    with tempfile.TemporaryDirectory() as folder:
        rows = teamworld.run(world, level=level, method=method, seeds=list(range(seeds)), out=folder)
    steps = np.array([row.summary.steps for row in rows], float)
    rng, found = np.random.default_rng(0), 0
    for _ in range(samples):
        drawn = rng.permutation(steps)[: 2 * size]
        result = paired(means(drawn[:size]), means(drawn[size:]))
        assert result is not None
        found += result.p < 0.05 and not result.low <= 0.0 <= result.high
    return found / samples


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 5, 10, 20])
    parser.add_argument("--play", nargs="*", default=["cube:n2:drwell", "household:dev:coela", "rooms:two:cobel"])
    parser.add_argument("--seeds", type=int, default=120, help="episodes of each that are split")
    args = parser.parse_args()
    print("coverage of nominal 95 % (size of p < 0.05 with an interval without 0), in per cent")
    print("kind".ljust(30) + "".join(f"n = {size}".rjust(14) for size in args.sizes))
    for kind in KINDS:
        cells = ((coverage(kind, n, args.samples), size_of(kind, n, args.samples)) for n in args.sizes)
        print(kind.ljust(30) + "".join(f"{held:.1%} ({size:.1%})".rjust(14) for held, size in cells), flush=True)
    for place in args.play:
        world, level, method = place.split(":")
        found = split(world, level, method, args.seeds, args.samples, 20)
        print(f"{place}, 20 pairs out of {args.seeds} episodes with themselves: {found:.1%} differ")


if __name__ == "__main__":
    main()
