"""Intervals and tests over independent units, plain and paired: one procedure, wherever an interval is shown.

The interval of a mean, of a ratio of sums and of a difference of either is made from the jackknife pseudo-values of the
units (Efron and Tibshirani 1993, chapter 11), which are the values themselves where there is no ratio. Of fewer than 8
units it is Student's; that of a mean or a ratio of 3 to 7 is wider by a factor of 1.28, as Student's own holds the
truth of skewed values, and of shares near an end, only nine times in ten. Of more each bound is half way between
Student's and that of the studentised bootstrap (chapter 12), whose distance from the mean is cut at twice Student's.
What this covers is printed by ``benchmarks/intervals.py``.
"""

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
#: Exchanges are drawn until so many show a difference as large, but no more than there are of the second: p can be as
#: small as the corrections for several comparisons ask, and is no matter of luck.
_ENOUGH, _MOST = 10, 100_000
#: The smallest p that is told of drawn exchanges; of that and less only that it is less.
FLOOR = 1.0 / (1 + _MOST)
#: Pairs up to which all signs are tried instead of drawn.
_EXACT = 13
#: Units below which a bootstrap covers too seldom, and how much wider than Student's the interval of their mean is from
#: 3 on.
_FEW, _WIDER = 8, 1.28
#: The bootstrap's bounds are at most so many times as far from the mean as Student's.
_WIDEST = 2.0
#: Between the resamples of one stratum and the next; has no factor in common with their number.
_SHIFT = 137
#: Share of a value below which a difference is that of rounding.
_NOISE = 1e-12
_NORMAL = NormalDist()

#: A numerator and its denominator.
Ratio: TypeAlias = tuple[float, ...]


class Interval(NamedTuple):
    """A mean with its 95 % interval."""

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


def mean_interval(values: Sequence[float], *, binary: bool = False) -> Interval | None:
    """Return the mean of independent values with its 95 % interval; None of no value.

    One value has no interval: its bounds are the value.
    """
    return stratified_interval({"": values}, binary=binary)


def stratified_interval(strata: Mapping[str, Sequence[float]], *, binary: bool = False) -> Interval | None:
    """Return the mean of independent values with its interval; see ``ratio_interval``."""
    units = {name: [(value, 1.0) for value in values] for name, values in strata.items()}
    return ratio_interval(units, binary=binary)


def ratio_interval(strata: Mapping[str, Sequence[Ratio]], *, binary: bool = False) -> Interval | None:
    """Return a ratio of sums over independent units with its 95 % interval; strata are taken as they are.

    Strata of a single unit are one stratum: alone they would show no uncertainty.

    Args:
        strata: Numerator and denominator of each unit, by stratum, such as the level that it is from.
        binary: Whether a unit says yes or no. Where all do, each over 1, the interval is Wilson's (1927).

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
    mean = _same(num / den)
    units = np.concatenate(parts, axis=1)
    if binary and (units[1] == 1.0).all() and np.isin(units[0], (0.0, 1.0)).all():
        return Interval(mean, *wilson(mean, number), number)
    wider = _WIDER if 2 < number < _FEW else 1.0
    return Interval(mean, *_around(num / den, _pseudo_values(units), _sizes(parts), wider), number)


def _pseudo_values(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each of (2, n) units adds to their ratio, or each of (4, n) pairs to the difference of two ratios."""
    number, totals = units.shape[1], units.sum(axis=1, keepdims=True)
    whole, rest = _statistic(totals), totals - units
    alone = (rest[1::2] == 0.0).any(axis=0)  # nothing would be left to divide by: linearised
    rest[1::2, alone] = 1.0
    values = number * whole - (number - 1) * _statistic(rest)
    for at in np.flatnonzero(alone):
        change = sum(
            sign
            * (units[row, at] - totals[row, 0] / totals[row + 1, 0] * units[row + 1, at])
            * number
            / totals[row + 1, 0]
            for row, sign in zip(range(0, len(units), 2), (1.0, -1.0), strict=False)
        )
        values[at] = whole[0] + change
    return np.asarray(values)


def _statistic(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio of (2, n) sums, or the difference of the two of (4, n)."""
    return np.asarray(sums[0] / sums[1] - (sums[2] / sums[3] if len(sums) > 2 else 0.0))


def _sizes(parts: Sequence[NDArray[np.float64]]) -> tuple[int, ...]:
    return tuple(part.shape[1] for part in parts)


def _around(
    center: float, values: NDArray[np.float64], sizes: Sequence[int], wider: float = 1.0
) -> tuple[float, float]:
    """Return the interval round a statistic.

    Args:
        center: The statistic.
        values: Pseudo-values of the units, stratum by stratum.
        sizes: Units of each stratum.
        wider: Factor of the interval where there are few.
    """
    number, free = len(values), len(values) - len(sizes)
    strata = np.split(values, np.cumsum(sizes)[:-1])
    error = math.sqrt(fsum(len(part) * float(part.var(ddof=1)) for part in strata)) / number
    below = above = wider * abs(student(0.025, free)) * error
    if number >= _FEW and error > _NOISE * max(1.0, float(np.abs(values).max())):
        reach = _studentised(strata, number)
        below, above = (
            (side + min(max(far * error, 0.0), _WIDEST * side)) / 2
            for side, far in ((below, reach[1]), (above, -reach[0]))
        )
    elif error <= _NOISE * max(1.0, float(np.abs(values).max())):
        below = above = 0.0
    return _same(center - below), _same(center + above)


def _studentised(strata: Sequence[NDArray[np.float64]], number: int) -> tuple[float, float]:
    """Return the 2.5 % and the 97.5 % quantile of (resampled mean - mean) / its standard error."""
    sums, errors = np.zeros(_RESAMPLES), np.zeros(_RESAMPLES)
    for at, part in enumerate(strata):
        size, counts = len(part), _resampled(len(part))
        centred = part - part.mean()
        first, second = centred @ counts, centred**2 @ counts
        # Strata of a size share their draws, shifted: each resample takes other ones of every stratum.
        sums += np.roll(first, _SHIFT * at)
        errors += np.roll(np.maximum(second - first**2 / size, 0.0) * size / (size - 1), _SHIFT * at)
    scale = np.sqrt(errors)
    known = scale > _NOISE * float(scale.max())
    far = np.where(sums == 0.0, 0.0, np.copysign(np.inf, sums))
    ratios = np.where(known, sums / np.where(known, scale, 1.0), far)
    low, high = np.quantile(ratios, (0.025, 0.975), method="nearest")
    return float(low), float(high)


def _parts(strata: Mapping[str, Sequence[Ratio]]) -> list[NDArray[np.float64]]:
    """Return (2, units) of each stratum; those of a single unit are one."""
    parts = [np.asarray(units, np.float64).reshape(-1, 2).T for units in strata.values() if len(units)]
    alone = [part for part in parts if part.shape[1] == 1]
    several = [part for part in parts if part.shape[1] > 1]
    if len(alone) == 1 and several:
        return [*several[:-1], np.concatenate([several[-1], alone[0]], axis=1)]
    return several + ([np.concatenate(alone, axis=1)] if alone else [])


def wilson(value: float, number: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of so many trials (Wilson 1927)."""
    z = _NORMAL.inv_cdf(0.975)
    middle = (value + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(value * (1 - value) / number + z * z / (4 * number * number))
    low, high = (0.0 if value == 0.0 else middle - half), (1.0 if value == 1.0 else middle + half)
    return _same(max(0.0, low)), _same(min(1.0, high))  # exact at the ends, where rounding leaves crumbs


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


def student(tail: float, free: int) -> float:
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
    first: Sequence[Ratio], second: Sequence[Ratio], strata: Sequence[str] | None = None, *, binary: bool = False
) -> Paired | None:
    """Compare pairs: the ratio of sums of the one minus that of the other, its interval, and a permutation test.

    The test exchanges the two of each pair; of means it permutes the signs of the differences. Where both of every pair
    say yes or no the interval is that of Agresti and Min (2005) for matched pairs.

    Args:
        first: Numerator and denominator on some instances and seeds; (value, 1) of values that are averaged.
        second: Those of the other on the same, in the same order.
        strata: What each pair is from, such as its level; all from one if None.
        binary: As for ``ratio_interval``.

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
    low, high = _pair_bounds(parts, difference, binary=binary)
    each = _ratio_difference(units[:, (units[1] != 0.0) & (units[3] != 0.0)])
    spread = float(each.std(ddof=1)) if len(each) > 1 else 0.0
    effect = _same(float(each.mean()) / spread) if spread > _NOISE * scale else None
    return Paired(difference, low, high, exchanged(units, _NOISE * scale), effect, number)


def noise_floor(first: Sequence[Ratio], second: Sequence[Ratio]) -> float | None:
    """Return what 95 % of the differences stay below that noise alone makes, from pairs of one method and its twin.

    The expected difference of such pairs is known to be 0, so the standard error is the root of the mean square of
    their pseudo-values, and not of the distances from their mean, over the root of their number; the floor is as many
    of it as Student's 97.5 % quantile with as many degrees of freedom as pairs.

    Args:
        first: Numerator and denominator of the method, as for ``paired``.
        second: Those of its twin on the same instances, in the same order.

    Returns:
        None where that cannot be known: of no pair, of one that differs, or where denominators sum to nothing.
    """
    units = np.array([(*a, *b) for a, b in zip(first, second, strict=True)], np.float64).reshape(-1, 4).T
    totals, number = units.sum(axis=1), units.shape[1]
    if not number or not totals[1] or not totals[3]:
        return None
    values = _pseudo_values(units)
    scale = max(abs(totals[0] / totals[1]), abs(totals[2] / totals[3]))
    error = math.sqrt(fsum(float(value) ** 2 for value in values)) / number
    if error <= _NOISE * scale:
        return 0.0
    return _same(student(0.975, number) * error) if number > 1 else None


def _pair_parts(strata: Mapping[str, Sequence[tuple[float, ...]]]) -> list[NDArray[np.float64]]:
    """Return (4, pairs) of each stratum: numerator and denominator of the one, then of the other."""
    ones = _parts({name: [unit[:2] for unit in units] for name, units in strata.items()})
    others = _parts({name: [unit[2:] for unit in units] for name, units in strata.items()})
    return [np.concatenate(both) for both in zip(ones, others, strict=True)]


def _ratio_difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the difference of ratios of (4, n) sums; those without a denominator are left out."""
    sums = sums[:, (sums[1] != 0.0) & (sums[3] != 0.0)]
    return np.asarray(sums[0] / sums[1] - sums[2] / sums[3])


def _pair_bounds(parts: Sequence[NDArray[np.float64]], difference: float, *, binary: bool) -> tuple[float, float]:
    units = np.concatenate(parts, axis=1)
    if units.shape[1] == len(parts):
        return difference, difference
    if binary and (units[[1, 3]] == 1.0).all() and np.isin(units[[0, 2]], (0.0, 1.0)).all():
        return _matched(units[0] - units[2])
    return _around(difference, _pseudo_values(units), _sizes(parts))


def _matched(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the interval of a difference of matched shares, half a pair added to each kind (Agresti and Min 2005)."""
    more, less = np.count_nonzero(differences > 0) + 0.5, np.count_nonzero(differences < 0) + 0.5
    number = len(differences) + 2
    middle = (more - less) / number
    half = _NORMAL.inv_cdf(0.975) * math.sqrt((more + less) - (more - less) ** 2 / number) / number
    return _same(max(-1.0, middle - half)), _same(min(1.0, middle + half))


def exchanged(units: NDArray[np.float64], noise: float = 0.0) -> float:
    """Return how likely a difference at least as large is if it is chance which of a pair is the one.

    All exchanges are tried of few pairs. Of more, 10,000 at a time are drawn until 10 show as much, at most 100,000, of
    which the given order is one. An exchange that leaves a side without a denominator counts as showing as much.

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
    while further_count < _ENOUGH and drawn < _MOST:
        further_count += further(_drawn_swaps(number, drawn))
        drawn += _RESAMPLES
    return (1 + further_count) / (1 + drawn)


def least(pairs: int) -> float:
    """Return the smallest p that so many pairs can have: all differ in one direction."""
    return 2.0 / 2.0**pairs if pairs <= _EXACT else FLOOR


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
