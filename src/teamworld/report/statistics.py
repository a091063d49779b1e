"""Intervals and tests: bootstrap over independent units, plain and paired, and permutations of signs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teamworld.seeding import generator

_RESAMPLES = 10_000
#: Pairs up to which all signs are tried instead of drawn.
_EXACT = 13
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


class Paired(NamedTuple):
    """A mean difference of pairs."""

    difference: float
    low: float
    """Of the 95 % interval."""
    high: float
    p: float
    """Two-sided, that the signs of the differences are chance."""
    effect: float | None
    """Mean over standard deviation of the differences (Cohen's d_z); None where they do not vary."""
    n: int
    """Pairs."""


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the mean of independent values with its 95 % bootstrap interval; None of no value.

    One value has no interval: its bounds are the value.
    """
    return stratified_interval({0: values})


def stratified_interval(strata: Mapping[object, Sequence[float]]) -> Interval | None:
    """Return the mean of independent values with its 95 % bootstrap interval, resampled within strata.

    A percentile interval of the bootstrap, widened for few values as Student's distribution is wider than the normal
    one (the expanded percentile interval of Hesterberg 2015, section 4.3.3): the plain one covers too seldom.

    Args:
        strata: Values by stratum, such as the level that they are from; their order does not matter but for the draws.
    """
    parts = [np.asarray(values, np.float64) for values in strata.values() if len(values)]
    number = sum(map(len, parts))
    if not number:
        return None
    mean = float(sum(part.sum() for part in parts) / number)
    free = number - len(parts)
    if free < 1:
        return Interval(mean, mean, mean, number)
    rng = generator(0, "bootstrap", number)
    sums = np.zeros(_RESAMPLES)
    for part in parts:
        sums += part[rng.integers(len(part), size=(_RESAMPLES, len(part)))].sum(axis=1)
    tail = 100.0 * _NORMAL.cdf(math.sqrt(number / free) * _student(0.025, free))
    low, high = np.percentile(sums / number, (tail, 100.0 - tail))
    return Interval(mean, float(low), float(high), number)


def _student(tail: float, free: int) -> float:
    """Return a quantile of Student's distribution (Abramowitz and Stegun 26.7.5), to 0.01 from 3 degrees of freedom."""
    z: float = _NORMAL.inv_cdf(tail)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / free**power for power, term in enumerate(terms, start=1))


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the mean of the differences ``one - other`` of pairs, with its 95 % interval.

    Raises:
        ValueError: The two have different lengths.
    """
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


def paired(one: Sequence[float], other: Sequence[float], strata: Sequence[object] | None = None) -> Paired | None:
    """Compare pairs: the mean of ``one - other``, its interval, and a test that permutes signs.

    Args:
        one: Values on some instances and seeds.
        other: Values on the same, in the same order.
        strata: What each pair is from, such as its level; all from one if None.

    Returns:
        None where there is no pair.

    Raises:
        ValueError: The lengths differ.
    """
    differences = np.array([a - b for a, b in zip(one, other, strict=True)], np.float64)
    by_stratum: dict[object, list[float]] = {}
    for stratum, value in zip(strata or [0] * len(differences), differences, strict=True):
        by_stratum.setdefault(stratum, []).append(float(value))
    interval = stratified_interval(by_stratum)
    if interval is None:
        return None
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    effect = interval.mean / spread if spread else None
    return Paired(*interval[:3], permuted_signs(differences), effect, interval.n)


def permuted_signs(differences: NDArray[np.float64]) -> float:
    """Return how likely a mean of differences at least as far from 0 is if each sign is chance.

    All signs are tried of few pairs; of more, 10,000 are drawn, and the given ones count as one of them.
    """
    number = len(differences)
    seen = abs(differences.sum()) * (1.0 - 1e-12)
    if number <= _EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2**number)[:, None] >> np.arange(number)) & 1)
        return float(np.mean(np.abs(signs @ differences) >= seen))
    rng = generator(0, "signs", number)
    drawn = 1.0 - 2.0 * rng.integers(2, size=(_RESAMPLES, number))
    return float((1 + np.count_nonzero(np.abs(drawn @ differences) >= seen)) / (1 + _RESAMPLES))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected for being several (Holm 1979): the chance that any of them is wrong stays bounded."""
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    corrected, least = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        corrected[at] = least
    return corrected


def slope(values: Sequence[float]) -> float:
    """Return the least-squares slope of values over their index; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    x = np.arange(len(values), dtype=np.float64)
    return float(np.polynomial.polynomial.polyfit(x, np.asarray(values, dtype=np.float64), 1)[1])
