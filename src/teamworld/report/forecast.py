"""How many layouts it takes to find a difference: sample sizes before anything is spent, from the runs of a pilot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum
from statistics import NormalDist, fmean, variance
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.experiment.comparison_runs import TWIN, own_methods
from teamworld.metrics.definition import metrics
from teamworld.report.comparison import LEVEL, Sample
from teamworld.report.measurement import list_pairs
from teamworld.report.statistics import student

#: More layouts are not looked for.
MOST = 1_000_000
#: What an episode takes, as metrics.
_COSTS = ("calls", "tokens", "cost_usd")


class Need(NamedTuple):
    """What it takes to tell two methods apart."""

    a: str
    b: str
    difference: float
    """Of the pilot: a minus b."""
    layouts: int
    """That both met in the pilot."""
    between: float | None
    """Standard deviation of the difference from layout to layout, repeats taken out; None of one layout."""
    within: float | None
    """Standard deviation of the difference from repeat to repeat; None where each layout has one play."""
    needed: int | None
    """Layouts, each played once by both; None where the pilot cannot tell."""


class Forecast(NamedTuple):
    """What a comparison would take."""

    metric: str
    effect: float
    power: float
    needs: tuple[Need, ...]
    seeds: int | None
    """The most that any pair needs."""
    costs: Mapping[str, float]
    """Calls, tokens and dollars of so many seeds, all methods and episodes; empty where nobody was asked."""
    family: int = 1
    """Differences that are tested beside one another, and corrected for."""


def forecast(samples: Sequence[Sample], metric: str, effect: float, power: float) -> Forecast:
    """Return how many layouts it takes to find a difference with a power.

    A paired t test at 5 %, shared among all pairs that a comparison of the same methods tests, reference teams and
    silence included where the pilot has them (Bonferroni, the first step of Holm). The variance of the difference
    is split into that of layouts and that of repeats by the method of moments (one-way random effects).

    Args:
        samples: Measured episodes of the pilot.
        metric: What is compared.
        effect: The smallest difference that matters, in its unit.
        power: How likely it is to be found.

    Raises:
        UserError: The pilot has fewer than two methods, or they share no layout.
    """
    samples = [sample for sample in samples if sample.method.partition(":")[0] != TWIN]
    methods = list(dict.fromkeys(sample.method for sample in samples))
    own = own_methods(methods)
    pairs = list(combinations(own if len(own) > 1 else methods, 2))
    if not pairs:
        raise UserError("a forecast is about the difference of two methods: expected a pilot with two or more, got one")
    values = {name: _by_instance([sample for sample in samples if sample.method == name], metric) for name in methods}
    layouts = {sample.instance: sample.layout or sample.instance for sample in samples}
    family = max(len(pairs), len(list_pairs(methods)))
    needs = tuple(
        _need(a, b, _differences(values[a], values[b], layouts), effect, power, LEVEL / family) for a, b in pairs
    )
    known = [need.needed for need in needs if need.needed is not None]
    seeds = max(known) if len(known) == len(needs) else None
    return Forecast(metric, effect, power, needs, seeds, {} if seeds is None else _costs(samples, seeds), family)


def _by_instance(samples: Iterable[Sample], metric: str) -> dict[str, float]:
    """Return the mean of a metric over the episodes of each instance."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        value = sample.values[metric].value if metric in sample.values else None
        if value is not None:
            values.setdefault(sample.instance, []).append(value)
    return {instance: fmean(own) for instance, own in values.items()}


def _differences(
    first: Mapping[str, float], second: Mapping[str, float], layouts: Mapping[str, str]
) -> list[list[float]]:
    """Return the differences of the instances of each layout that both met."""
    by_layout: dict[str, list[float]] = {}
    for instance in first:
        if instance in second:
            by_layout.setdefault(layouts[instance], []).append(first[instance] - second[instance])
    return list(by_layout.values())


def _need(a: str, b: str, by_layout: Sequence[Sequence[float]], effect: float, power: float, level: float) -> Need:
    if not by_layout:
        raise UserError(f"{a} and {b} met in no layout of the pilot: play both with the same seeds")
    difference = fmean(fmean(own) for own in by_layout)
    repeats = [own for own in by_layout if len(own) > 1]
    free = sum(len(own) - 1 for own in repeats)
    within = fsum(variance(own) * (len(own) - 1) for own in repeats) / free if free else None
    if len(by_layout) < 2:
        return Need(a, b, difference, 1, None, None if within is None else math.sqrt(within), None)
    of_means = variance([fmean(own) for own in by_layout])
    shared = 0.0 if within is None else within * fmean(1 / len(own) for own in by_layout)
    between = max(0.0, of_means - shared)
    needed = layouts_needed(math.sqrt(between + (within or 0.0)), effect, power, level)
    spread = None if within is None else math.sqrt(within)
    return Need(a, b, difference, len(by_layout), math.sqrt(between), spread, needed)


def layouts_needed(deviation: float, effect: float, power: float, level: float) -> int | None:
    """Return the pairs that a t test takes to find a mean difference; None for more than ``MOST``.

    The smallest n with n >= ((t_{1 - level/2, n - 1} + t_{power, n - 1}) * deviation / effect)^2, and enough that a
    test of signs can reach the level at all (2 / 2^n).

    Args:
        deviation: Standard deviation of the pairs' differences.
        effect: The mean difference.
        power: How likely it is to be found.
        level: Two-sided.
    """
    number = max(2, math.ceil(math.log2(2 / level)))
    normal = NormalDist()
    start = ((normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * deviation / effect) ** 2
    number = max(number, min(MOST, math.floor(start)))
    while number <= MOST:
        reach = student(1 - level / 2, number - 1) + student(power, number - 1)
        if number >= (reach * deviation / effect) ** 2:
            return number
        number += max(1, number // 200)
    return None


def _costs(samples: Sequence[Sample], seeds: int) -> dict[str, float]:
    """Return what so many seeds of all methods would take, as the pilot's seeds did."""
    costs = {}
    for name in _COSTS:
        by_method: dict[str, dict[str, float]] = {}
        for sample in samples:
            value = sample.values[name].value if name in sample.values else None
            if value is not None:
                instances = by_method.setdefault(sample.method, {})
                instances[sample.instance] = instances.get(sample.instance, 0.0) + value
        total = fsum(fmean(instances.values()) for instances in by_method.values())
        if total > 0:
            costs[name] = total * seeds
    return costs


def lines(made: Forecast) -> list[str]:
    """Return a forecast in words."""
    unit = metrics()[made.metric].unit
    what = f"{made.effect:g} {unit}" if unit == made.metric else f"{made.effect:g} {unit or ''} in {made.metric}"
    sentences = []
    for need in made.needs:
        spread = "" if need.between is None else f", {need.between:.3g} from layout to layout"
        again = "" if need.within is None else f", {need.within:.3g} from repeat to repeat"
        seen = f"{need.a} - {need.b}: {need.difference:.3g} in {need.layouts} layout{'s'[: need.layouts - 1]}"
        sd = f" (standard deviation{spread}{again})".replace("deviation,", "deviation") if spread or again else ""
        takes = f"{need.needed:,} layouts" if need.needed is not None else "the pilot cannot tell"
        sentences.append(f"{seen}{sd}: {takes}")
    if any(need.between is None for need in made.needs):
        sentences.append("the pilot has one layout: how much layouts differ is not known; take a level that draws them")
    elif any(need.layouts < 8 for need in made.needs):
        sentences.append("of so few layouts the standard deviation is a guess: expect to need half or twice as many")
    if made.seeds is not None:
        seeds = f"{made.seeds:,} seeds, each of another layout"
        beside = f", corrected for the {made.family} differences that are tested" if made.family > 1 else ""
        sentences.append(f"a difference of {what} is found with power {made.power:g} by {seeds}{beside}")
        words = {"calls": "{:,.0f} calls", "tokens": "{:,.0f} tokens", "cost_usd": "{:,.2f} dollars"}
        cost = ", ".join(words[name].format(value) for name, value in made.costs.items())
        sentences.append(f"all methods of the pilot then take {cost or 'no call of a language model'}")
    return sentences
