"""Intervals: bootstrap over seeds, plain and paired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from teamworld.seeding import generator

_RESAMPLES = 10_000


class Interval(NamedTuple):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the mean of independent values with its 95 % percentile bootstrap interval.

    One value has no interval: its bounds are the value. No value gives None.
    """
    if not values:
        return None
    data = np.asarray(values, dtype=np.float64)
    mean = float(data.mean())
    if len(data) == 1:
        return Interval(mean, mean, mean, 1)
    rng = generator(0, "bootstrap", len(data))
    means = data[rng.integers(len(data), size=(_RESAMPLES, len(data)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return Interval(mean, float(low), float(high), len(data))


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the mean of the differences ``one - other`` of pairs, with its 95 % interval.

    Raises:
        ValueError: The two have different lengths.
    """
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


def slope(values: Sequence[float]) -> float:
    """Return the least-squares slope of values over their index; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    x = np.arange(len(values), dtype=np.float64)
    return float(np.polynomial.polynomial.polyfit(x, np.asarray(values, dtype=np.float64), 1)[1])
