"""Intervals and tests: bootstrap over independent units, plain and paired, and permutations of signs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
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
    return stratified_interval({"": values})


def stratified_interval(strata: Mapping[str, Sequence[float]]) -> Interval | None:
    """Return the mean of independent values with its interval, resampled within strata; see ``ratio_interval``."""
    return ratio_interval({name: [(value, 1.0) for value in values] for name, values in strata.items()})


def ratio_interval(strata: Mapping[str, Sequence[tuple[float, float]]]) -> Interval | None:
    """Return a ratio of sums over independent units with its 95 % bootstrap interval, resampled within strata.

    A percentile interval, widened for few units as Student's distribution is wider than the normal one (the expanded
    percentile interval of Hesterberg 2015, section 4.3.3): the plain one covers too seldom.

    Args:
        strata: Numerator and denominator of each unit, by stratum, such as the level that it is from.

    Returns:
        None where the denominators sum to nothing. One unit has no interval: its bounds are its value.
    """
    parts = [np.asarray(units, np.float64).T for units in strata.values() if len(units)]
    number = sum(part.shape[1] for part in parts)
    num, den = (sum(float(part[at].sum()) for part in parts) for at in (0, 1))
    if not number or not den:
        return None
    value, free = num / den, number - len(parts)
    if free < 1:
        return Interval(value, value, value, number)
    sums = np.zeros((2, _RESAMPLES))
    for stratum, part in enumerate(parts):
        sums += part @ _resampled(part.shape[1], stratum)
    values = sums[0, sums[1] != 0.0] / sums[1, sums[1] != 0.0]
    tail = 100.0 * _NORMAL.cdf(math.sqrt(number / free) * _student(0.025, free))
    low, high = np.percentile(values, (tail, 100.0 - tail))
    return Interval(_same(value), _same(low), _same(high), number)


@lru_cache(maxsize=16)
def _resampled(number: int, stratum: int) -> NDArray[np.float64]:
    """Return how often each of some units is in each resample: the same draws for every metric of the same units."""
    rng = generator(0, "bootstrap", number, stratum)
    drawn = rng.integers(number, size=(_RESAMPLES, number))
    counts = np.zeros((_RESAMPLES, number))
    np.add.at(counts, (np.arange(_RESAMPLES)[:, None], drawn), 1.0)
    return np.ascontiguousarray(counts.T)


def _same(value: float) -> float:
    """Return a value as on every machine: the last digits depend on the order in which a processor adds."""
    return float(f"{value:.12g}")


def _student(tail: float, free: int) -> float:
    """Return a quantile of Student's distribution (Abramowitz and Stegun 26.7.5), to 0.01 from 3 degrees of freedom."""
    z: float = _NORMAL.inv_cdf(tail)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / float(free) ** power for power, term in enumerate(terms, start=1))


def paired_interval(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the mean of the differences ``one - other`` of pairs, with its 95 % interval.

    Raises:
        ValueError: The two have different lengths.
    """
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


def paired(one: Sequence[float], other: Sequence[float], strata: Sequence[str] | None = None) -> Paired | None:
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
    by_stratum: dict[str, list[float]] = {}
    for stratum, value in zip(strata or [""] * len(differences), differences, strict=True):
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
    seen = abs(differences.sum()) * (1.0 - 1e-9)  # sums of equal numbers in another order are equal
    further = np.count_nonzero(np.abs(_signs(number) @ differences) >= seen)
    return float(further / 2**number) if number <= _EXACT else float((1 + further) / (1 + _RESAMPLES))


@lru_cache(maxsize=16)
def _signs(number: int) -> NDArray[np.float64]:
    """Return rows of signs: all there are, or drawn ones where these are too many."""
    few = number <= _EXACT
    bits = (np.arange(2**number)[:, None] >> np.arange(number)) & 1 if few else _drawn_bits(number)
    return np.where(bits, -1.0, 1.0)


def _drawn_bits(number: int) -> NDArray[np.int64]:
    return generator(0, "signs", number).integers(2, size=(_RESAMPLES, number))


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
