"""Intervals and tests: bootstrap over independent units, plain and paired, and permutations of signs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import fsum
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from teamworld.seeding import generator

_RESAMPLES = 10_000
#: Exchanges that are drawn where none of the first shows a difference as large: p can be as small as the corrections
#: for several comparisons ask.
_MOST = 100_000
#: Pairs up to which all signs are tried instead of drawn.
_EXACT = 13
#: Units below which a bootstrap covers too seldom.
_FEW = 5
#: Between the resamples of one stratum and the next; has no factor in common with their number.
_SHIFT = 137
#: Share of a value below which a difference is that of rounding.
_NOISE = 1e-12
_NORMAL = NormalDist()

#: A numerator and its denominator.
Ratio: TypeAlias = tuple[float, ...]


class Interval(NamedTuple):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


class Paired(NamedTuple):
    """The difference of pairs."""

    difference: float
    low: float
    """Of the 95 % interval."""
    high: float
    p: float
    """Two-sided, that it is chance which of a pair is the one."""
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


def ratio_interval(strata: Mapping[str, Sequence[Ratio]]) -> Interval | None:
    """Return a ratio of sums over independent units with its 95 % bootstrap interval, resampled within strata.

    A percentile interval, widened for few units as Student's distribution is wider than the normal one (the expanded
    percentile interval of Hesterberg 2015, section 4.3.3): the plain one covers too seldom. Strata of a single unit are
    resampled together: alone they would show no uncertainty.

    Args:
        strata: Numerator and denominator of each unit, by stratum, such as the level that it is from.

    Returns:
        None where the denominators sum to nothing. One unit has no interval: its bounds are its value.
    """
    parts = _parts(strata)
    num, den = (fsum(float(part[at].sum()) for part in parts) for at in (0, 1))
    number = sum(part.shape[1] for part in parts)
    if not number or not den:
        return None
    if number == len(parts):
        return Interval(num / den, num / den, num / den, number)
    sums = _sums(parts)
    values = sums[0, sums[1] != 0.0] / sums[1, sums[1] != 0.0]
    return Interval(_same(num / den), *_bounds(values, number, len(parts)), number)


def fitting_interval(strata: Mapping[str, Sequence[Ratio]], *, shares: bool) -> Interval | None:
    """Return the interval that covers best for such units.

    The bootstrap's; Student's of fewer than 5 units; Wilson's (1927) of shares that are all 0 or 1, over all strata: a
    bootstrap of ten successes would be sure of the eleventh.

    Args:
        strata: As for ``ratio_interval``.
        shares: Whether each unit is a share from 0 to 1 of its own, over 1.
    """
    interval = ratio_interval(strata)
    units = np.concatenate([*_parts(strata), np.empty((2, 0))], axis=1)
    if interval is None or interval.n < 2:
        return interval
    if shares and np.isin(units[0], (0.0, 1.0)).all():
        return Interval(interval.mean, *_wilson(interval.mean, interval.n), interval.n)
    if interval.n < _FEW:
        residuals = (units[0] - interval.mean * units[1]) / units[1].mean()
        return Interval(interval.mean, *_around(interval.mean, residuals), interval.n)
    return interval


def _parts(strata: Mapping[str, Sequence[Ratio]]) -> list[NDArray[np.float64]]:
    """Return (2, units) of each stratum; those of a single unit are one."""
    parts = [np.asarray(units, np.float64).reshape(-1, 2).T for units in strata.values() if len(units)]
    alone = [part for part in parts if part.shape[1] == 1]
    several = [part for part in parts if part.shape[1] > 1]
    if len(alone) == 1 and several:
        return [*several[:-1], np.concatenate([several[-1], alone[0]], axis=1)]
    return several + ([np.concatenate(alone, axis=1)] if alone else [])


def _sums(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sums of (rows, units) over resamples of the units of each part: (rows, resamples)."""
    sums = np.zeros((parts[0].shape[0], _RESAMPLES))
    for stratum, part in enumerate(parts):
        # Strata of a size share their draws, shifted: each resample takes other ones of every stratum.
        sums += np.roll(part @ _resampled(part.shape[1]), _SHIFT * stratum, axis=1)
    return sums


def _bounds(values: NDArray[np.float64], number: int, parts: int) -> tuple[float, float]:
    """Return the expanded percentile interval of resampled values."""
    free = number - parts
    tail = 100.0 * _NORMAL.cdf(math.sqrt(number / free) * _student(0.025, free))
    low, high = np.percentile(values, (tail, 100.0 - tail))
    return _same(low), _same(high)


def _wilson(value: float, number: int) -> tuple[float, float]:
    z = _NORMAL.inv_cdf(0.975)
    middle = (value + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(value * (1 - value) / number + z * z / (4 * number * number))
    low, high = (0.0 if value == 0.0 else middle - half), (1.0 if value == 1.0 else middle + half)
    return _same(max(0.0, low)), _same(min(1.0, high))  # exact at the ends, where rounding leaves crumbs


def _around(value: float, residuals: NDArray[np.float64]) -> tuple[float, float]:
    """Return Student's interval round a mean or, linearised, round a ratio of sums."""
    free = len(residuals) - 1
    half = abs(_student(0.025, free)) * math.sqrt(float((residuals**2).sum()) / free / len(residuals))
    return _same(value - half), _same(value + half)


@lru_cache(maxsize=8)
def _resampled(number: int) -> NDArray[np.float64]:
    """Return how often each of some units is in each resample: the same draws for every metric of the same units."""
    drawn = generator(0, "bootstrap", number).integers(number, size=(_RESAMPLES, number))
    counts = np.zeros((_RESAMPLES, number))
    np.add.at(counts, (np.arange(_RESAMPLES)[:, None], drawn), 1.0)
    return np.ascontiguousarray(counts.T)


def _same(value: float) -> float:
    """Return a value as on every machine: the last digits depend on the order in which a processor adds."""
    return float(f"{value:.12g}")


def _student(tail: float, free: int) -> float:
    """Return a quantile of Student's distribution (Abramowitz and Stegun 26.7.5), to 0.01 from 3 degrees of freedom.

    Of one and two degrees it is exact.
    """
    if free == 1:
        return math.tan(math.pi * (tail - 0.5))
    if free == 2:
        return (2 * tail - 1) / math.sqrt(2 * tail * (1 - tail))
    z: float = _NORMAL.inv_cdf(tail)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + fsum(term / float(free) ** power for power, term in enumerate(terms, start=1))


def paired_interval(first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """Return the mean of the differences ``one - other`` of pairs, with its 95 % interval.

    Raises:
        ValueError: The two have different lengths.
    """
    return mean_interval([a - b for a, b in zip(first, second, strict=True)])


def paired(
    first: Sequence[Ratio], second: Sequence[Ratio], strata: Sequence[str] | None = None, *, shares: bool = False
) -> Paired | None:
    """Compare pairs: the ratio of sums of the one minus that of the other, its interval, and a permutation test.

    The test exchanges the two of each pair; of means it permutes the signs of the differences. Of shares that are all 0
    or 1 the interval is that of Agresti and Min (2005) for matched pairs, of fewer than 5 pairs Student's.

    Args:
        first: Numerator and denominator on some instances and seeds; (value, 1) of values that are averaged.
        second: Those of the other on the same, in the same order.
        strata: What each pair is from, such as its level; all from one if None.
        shares: Whether each value is a share from 0 to 1, over 1.

    Returns:
        None where there is no pair, or the denominators of one sum to nothing.

    Raises:
        ValueError: The lengths differ.
    """
    if not len(first) == len(second) == len(strata or first):
        raise ValueError(f"{len(first)} and {len(second)} values are no pairs")
    by_stratum: dict[str, list[tuple[float, ...]]] = {}
    for stratum, a, b in zip(strata or [""] * len(first), first, second, strict=True):
        by_stratum.setdefault(stratum, []).append((*a, *b))
    parts = _pair_parts(by_stratum)
    if not parts:
        return None
    units = np.concatenate(parts, axis=1)
    totals, number = units.sum(axis=1), units.shape[1]
    if not totals[1] or not totals[3]:
        return None
    seen = float(_ratio_difference(totals[:, None])[0])
    scale = max(abs(totals[0] / totals[1]), abs(totals[2] / totals[3]))
    difference = _same(seen) if abs(seen) > _NOISE * scale else 0.0
    low, high = _pair_bounds(parts, difference, shares=shares)
    each = _ratio_difference(units[:, (units[1] != 0.0) & (units[3] != 0.0)])
    spread = float(each.std(ddof=1)) if len(each) > 1 else 0.0
    effect = _same(float(each.mean()) / spread) if spread > _NOISE * scale else None
    return Paired(difference, low, high, exchanged(units, _NOISE * scale), effect, number)


def _pair_parts(strata: Mapping[str, Sequence[tuple[float, ...]]]) -> list[NDArray[np.float64]]:
    """Return (4, pairs) of each stratum: numerator and denominator of the one, then of the other."""
    ones = _parts({name: [unit[:2] for unit in units] for name, units in strata.items()})
    others = _parts({name: [unit[2:] for unit in units] for name, units in strata.items()})
    return [np.concatenate(both) for both in zip(ones, others, strict=True)]


def _ratio_difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the difference of ratios of (4, n) sums; those without a denominator are left out."""
    sums = sums[:, (sums[1] != 0.0) & (sums[3] != 0.0)]
    return np.asarray(sums[0] / sums[1] - sums[2] / sums[3])


def _pair_bounds(parts: Sequence[NDArray[np.float64]], difference: float, *, shares: bool) -> tuple[float, float]:
    units = np.concatenate(parts, axis=1)
    number = units.shape[1]
    if number < 2:
        return difference, difference
    if shares and np.isin(units[[0, 2]], (0.0, 1.0)).all():
        return _matched(units[0] - units[2])
    if number < _FEW:
        a, b = units[0].sum() / units[1].sum(), units[2].sum() / units[3].sum()
        residuals = (units[0] - a * units[1]) / units[1].mean() - (units[2] - b * units[3]) / units[3].mean()
        return _around(difference, residuals)
    values = _ratio_difference(_sums(parts))
    low, high = _bounds(values, number, len(parts))
    noise = _NOISE * max(1.0, float(np.abs(values).max(initial=0.0)))
    return (low if abs(low) > noise else 0.0), (high if abs(high) > noise else 0.0)


def _matched(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the interval of a difference of matched shares, half a pair added to each kind (Agresti and Min 2005)."""
    more, less = np.count_nonzero(differences > 0) + 0.5, np.count_nonzero(differences < 0) + 0.5
    number = len(differences) + 2
    middle = (more - less) / number
    half = _NORMAL.inv_cdf(0.975) * math.sqrt((more + less) - (more - less) ** 2 / number) / number
    return _same(max(-1.0, middle - half)), _same(min(1.0, middle + half))


def exchanged(units: NDArray[np.float64], noise: float = 0.0) -> float:
    """Return how likely a difference at least as large is if it is chance which of a pair is the one.

    All exchanges are tried of few pairs; of more, 10,000 are drawn, and 100,000 where none of these shows as much; the
    given order counts as one of them. An exchange that leaves a side without a denominator counts as showing as much.

    Args:
        units: (4, pairs): numerator and denominator of the one, then of the other.
        noise: Differences below are those of rounding.
    """
    number, totals = units.shape[1], units.sum(axis=1)
    seen = abs(float(_ratio_difference(totals[:, None])[0])) * (1.0 - 1e-9) - noise

    def further(swaps: NDArray[np.float64]) -> int:
        moved = np.stack([(units[2] - units[0]) @ swaps, (units[3] - units[1]) @ swaps])
        sums = np.concatenate([totals[:2, None] + moved, totals[2:, None] - moved])
        return int(swaps.shape[1]) - int(np.count_nonzero(np.abs(_ratio_difference(sums)) < seen))

    if number <= _EXACT:
        return float(further(_every_swap(number)) / 2**number)
    further_count, drawn = further(_drawn_swaps(number, 0)), _RESAMPLES
    while not further_count and drawn < _MOST:
        further_count += further(_drawn_swaps(number, drawn))
        drawn += _RESAMPLES
    return (1 + further_count) / (1 + drawn)


def least(pairs: int) -> float:
    """Return the smallest p that so many pairs can have: all differ in one direction."""
    return 2.0 / 2.0**pairs if pairs <= _EXACT else 1.0 / (1 + _MOST)


@lru_cache(maxsize=16)
def _every_swap(number: int) -> NDArray[np.float64]:
    """Return (pairs, exchanges) of 0 and 1: all there are."""
    bits = (np.arange(2**number)[:, None] >> np.arange(number)) & 1
    return np.ascontiguousarray(bits.T.astype(np.float64))


@lru_cache(maxsize=32)
def _drawn_swaps(number: int, first: int) -> NDArray[np.float64]:
    """Return (pairs, exchanges) of 0 and 1: those from the first on."""
    bits = generator(0, "signs", number, first).integers(2, size=(_RESAMPLES, number))
    return np.ascontiguousarray(bits.T.astype(np.float64))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected for being several (Holm 1979): the chance that any of them is wrong stays bounded."""
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    corrected, least = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        corrected[at] = least
    return corrected


def slope(values: Sequence[float], at: Sequence[float] | None = None) -> float:
    """Return the least-squares slope of values over where they are, their index if None; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    x = np.asarray(range(len(values)) if at is None else at, dtype=np.float64)
    fitted = np.polynomial.polynomial.polyfit(x, np.asarray(values, dtype=np.float64), 1)[1]
    return round(float(fitted), 12)  # what is level is 0, not the rounding of a sum
