"""Methods compared on the same instances and seeds: values, paired differences, and what may be claimed of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from teamworld.metrics.definition import Metric, Value, metrics
from teamworld.metrics.pooling import pool
from teamworld.report.statistics import Paired, holm, paired, ratio_interval

#: What a results table shows first (metrics spec, section 11).
HEADLINE = (
    *("O2", "O5", "O4", "O1", "E1", "D1", "D5", "E5", "E6.sync", "M1", "M2", "M5", "D11", "D17.gini", "K1", "K2", "K3"),
)
#: A difference is supported if its corrected p is below.
LEVEL = 0.05


class Sample(NamedTuple):
    """One measured episode."""

    method: str
    instance: str
    """Level and seed: what pairs it with those of other methods."""
    stratum: str
    """The level: units are resampled within it."""
    episode: int
    values: Mapping[str, Value]


class Row(NamedTuple):
    """A metric of a method."""

    method: str
    metric: str
    value: float | None
    low: float | None
    """Of the 95 % interval."""
    high: float | None
    n: int
    """Instances with a value."""
    nulls: int
    """Instances without one."""


class Pair(NamedTuple):
    """A metric of one method minus that of another, on the instances where both have one."""

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    """For all pairs of methods that are compared in this metric (Holm)."""
    effect: float | None
    """Mean over standard deviation of the differences; None where they do not vary."""
    n: int

    @property
    def supported(self) -> bool:
        """Whether the data support that there is a difference."""
        return self.p_corrected < LEVEL and not self.low <= 0.0 <= self.high


class Comparison(NamedTuple):
    """All of it."""

    rows: tuple[Row, ...]
    paired: tuple[Pair, ...]


#: Per method: the value of each instance, over its episodes; and from which stratum it is.
Units = Mapping[str, Value]


def compare(
    samples: Iterable[Sample], names: Sequence[str], wanted: Sequence[tuple[str, str]] | None = None
) -> Comparison:
    """Compare methods in some metrics.

    A unit is an instance: the episodes of one seed share a memory and are one observation, not many.

    Args:
        samples: Measured episodes of all methods.
        names: Ids of metrics.
        wanted: The pairs of methods that are compared; all if None.
    """
    found = list(samples)
    strata = {sample.instance: sample.stratum for sample in found}
    methods = list(dict.fromkeys(sample.method for sample in found))
    rows: list[Row] = []
    pairs: list[Pair] = []
    for name in names:
        metric = metrics()[name]
        units = {method: _units(metric, [one for one in found if one.method == method]) for method in methods}
        rows += [_row(method, metric, units[method], strata) for method in methods]
        pairs += _pairs(metric, units, strata, tuple(combinations(methods, 2)) if wanted is None else wanted)
    return Comparison(tuple(rows), tuple(pairs))


def _units(metric: Metric, samples: Sequence[Sample]) -> Units:
    by_instance: dict[str, list[Value]] = {}
    for sample in samples:
        by_instance.setdefault(sample.instance, []).append(sample.values.get(metric.id, Value(None, None, None)))
    pooled = {instance: pool(metric, values) for instance, values in by_instance.items()}
    return {instance: Value(one.value, one.num, one.den) for instance, one in pooled.items()}


def _row(method: str, metric: Metric, units: Units, strata: Mapping[str, str]) -> Row:
    known = {instance: unit for instance, unit in units.items() if unit.value is not None}
    by_stratum: dict[str, list[tuple[float, float]]] = {}
    for instance, unit in (units if metric.pooling == "micro" else known).items():
        ratio = (unit.num or 0.0, unit.den or 0.0) if metric.pooling == "micro" else (unit.value or 0.0, 1.0)
        by_stratum.setdefault(strata[instance], []).append(ratio)
    interval = ratio_interval(by_stratum)
    value, low, high = (None, None, None) if interval is None else interval[:3]
    return Row(method, metric.id, value, low, high, len(known), len(units) - len(known))


def _pairs(
    metric: Metric, units: Mapping[str, Units], strata: Mapping[str, str], wanted: Sequence[tuple[str, str]]
) -> Iterator[Pair]:
    found: list[tuple[str, str, Paired]] = []
    for one, other in wanted:
        both = [
            (instance, first.value, second.value)
            for instance, first in units[one].items()
            if (second := units[other].get(instance)) is not None and None not in (first.value, second.value)
        ]
        values = [(first, second) for _, first, second in both if first is not None and second is not None]
        result = paired([x for x, _ in values], [y for _, y in values], [strata[instance] for instance, *_ in both])
        if result is not None:
            found.append((one, other, result))
    corrected = holm([result.p for *_, result in found])
    for (one, other, result), p in zip(found, corrected, strict=True):
        yield Pair(
            *(one, other, metric.id, result.difference, result.low, result.high, result.p, p, result.effect, result.n)
        )


def least_p(pairs: int) -> float:
    """Return the smallest p that so many pairs can have: all differences have one sign."""
    return 2.0 / 2.0**pairs


def claims(comparison: Comparison, names: Sequence[str] | None = None) -> Iterator[str]:
    """Yield what may be said of the differences, one sentence each, with its numbers.

    Args:
        comparison: What was compared.
        names: Metrics of which differences that are not supported are told too; of all if None.
    """
    for pair in comparison.paired:
        if not (pair.supported or names is None or pair.metric in names):
            continue
        metric = metrics()[pair.metric]
        what = metric.name.lower() if metric.symbol is None else f"{metric.name.lower()} ({metric.symbol})"
        unit = f" {metric.unit}" if metric.unit else ""
        numbers = (
            f"95 % interval of the difference {_number(pair.low)} to {_number(pair.high)}, "
            f"p = {_number(pair.p_corrected)} corrected for several comparisons"
        )
        over = f"over {pair.n} paired instances"
        if pair.supported:
            more = "higher" if pair.difference > 0 else "lower"
            by = f"{_number(abs(pair.difference))}{unit} {more} than of {pair.b}"
            yield f"{over} the {what} of {pair.a} is {by}, {numbers}"
        else:
            yield (
                f"not supported: a difference in {what} between {pair.a} and {pair.b} "
                f"({over} {_number(pair.difference)}{unit}, {numbers})"
            )


def _number(value: float) -> str:
    return f"{value:.3g}"
