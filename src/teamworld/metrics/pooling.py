"""Several episodes as one value: the ratio of sums for rates of events, the mean for quantities of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

from teamworld.metrics.definition import Metric, Value, metrics


class Pooled(NamedTuple):
    """A value over several episodes."""

    value: float | None
    num: float | None
    """Sum of numerators (micro), or of the values (macro)."""
    den: float | None
    """Sum of denominators (micro), or the episodes that have a value (macro)."""
    n: int
    """Episodes with a value."""
    nulls: int
    """Episodes without one; they are left out of it."""


def pool(metric: Metric, values: Sequence[Value]) -> Pooled:
    """Pool the values of one metric (metrics spec, ground rule 4)."""
    known = [one for one in values if one.value is not None]
    nulls = len(values) - len(known)
    if metric.pooling == "micro":
        # Numerators without a denominator count: moves of an episode in which nothing was done are travel too.
        num = fsum(one.num for one in values if one.num is not None)
        den = fsum(one.den for one in values if one.den is not None)
    else:
        num, den = fsum(one.value for one in known if one.value is not None), float(len(known))
    return Pooled(num / den if den else None, num, den, len(known), nulls)


def pooled(episodes: Sequence[Mapping[str, Value]]) -> dict[str, Pooled]:
    """Pool all metrics of episodes, in the order of the specification."""
    return {
        name: pool(metric, [values[name] for values in episodes if name in values])
        for name, metric in metrics().items()
        if metric.basis == "log"
    }
