"""What a metric is: a function of an episode's table of events, with a definition of the same name.

The definitions stand in ``definitions.csv``, one line each: tables, the command and the page are made from them. A
metric of an episode is the function that ``metric`` registers under its name; one that needs ``runs`` takes the values
of several episodes. What cannot be measured is null, never 0 or 1; a share keeps what it is a share of.

Fractions are added with ``math.fsum``: exactly, so that the order, the processor and the version of Python do not
matter. Dot products, ``numpy.sum`` of fractions and powers do not have that.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from math import fsum
from typing import Annotated, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from teamworld.metrics.event_table import EventTable, primitive

#: How values of several episodes become one: ``micro`` sums numerators and denominators, for rates of events; ``macro``
#: is the mean of the episodes' values.
Pooling: TypeAlias = Literal["micro", "macro"]
#: What a metric is made from: an episode's log, its calls on record too, a log of the level ``beliefs``, several runs.
Needs: TypeAlias = Literal["log", "calls", "beliefs", "runs"]
#: ``front``: what the usual table of a comparison shows; ``second``: what is shown where it is asked for.
Tier: TypeAlias = Literal["front", "second"]


#: Numbers that can be summed without end; what is read from a file holds no others.
Number: TypeAlias = Annotated[float, Meta(ge=-(2.0**53), le=2.0**53)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]


class Value(NamedTuple):
    """A number with what it was made from."""

    value: Number | None
    """None where there was nothing to measure."""
    num: Number | None
    """Numerator of a share or a mean; of a count, the count; None where it is neither, such as a median."""
    den: Number | None
    """Denominator; of a median or the like, over how many it was taken; of a count, None."""


MetricFunction: TypeAlias = Callable[[EventTable], Value]
FamilyFunction: TypeAlias = Callable[[EventTable], Sequence[Value]]
Row = TypeVar("Row")


def share(num: float, den: float) -> Value:
    """Return a share or a mean; of nothing it is null."""
    return Value(num / den if den else None, float(num), float(den))


def mean(values: Collection[float]) -> Value:
    """Return the mean of values; of none it is null."""
    return share(fsum(values), len(values))


def count(number: float) -> Value:
    """Return a count, or a sum."""
    return Value(float(number), float(number), None)


def only(value: float | None, over: float | None = None) -> Value:
    """Return a value that is no ratio, such as a median, and over how many it was taken."""
    return Value(None if value is None else float(value), None, None if over is None else float(over))


def count_known(numbers: Iterable[int | None]) -> Value:
    """Return a sum; null of none, and where one of the numbers is not known."""
    numbers = list(numbers)
    known = [number for number in numbers if number is not None]
    return count(fsum(known)) if numbers and len(known) == len(numbers) else NULL


#: Not there to be measured.
NULL = Value(None, None, None)


class Metric(NamedTuple):
    """The definition of a metric."""

    name: str
    section: str
    """Of the page: ``Outcome``, ``Effort``, ..."""
    symbol: str | None
    """As papers write it; None where it is known by its title alone."""
    title: str
    tier: Tier
    needs: Needs
    unit: str | None
    """None for shares and other numbers without one."""
    low: float | None
    """Smallest possible value; None where there is no bound."""
    high: float | None
    better: Literal["high", "low"] | None
    """Which direction is better; None where neither is."""
    pooling: Pooling
    formula: str
    diagnoses: str
    """What a bad value points to."""
    source: str
    codes: str | None = None
    """Letter codes of older versions, read in old files and accepted where a user names metrics."""

    @property
    def is_of_episode(self) -> bool:
        """Whether one episode gives it, and not only several runs."""
        return self.needs != "runs"

    @property
    def is_binary(self) -> bool:
        """Whether an episode's value is yes or no."""
        return self.formula.startswith("1[")

    def within(self, low: float, high: float) -> tuple[float, float]:
        """Cut an interval to what is possible."""
        return (
            low if self.low is None else max(low, self.low),
            high if self.high is None else min(high, self.high),
        )


def read_definitions(path: str, kind: type[Row]) -> list[Row]:
    """Return the definitions in a table of this package, in order; an empty field is None."""
    rows = csv.reader(files("teamworld.metrics").joinpath(path).read_text("utf-8").splitlines()[1:])
    return [msgspec.convert([text or None for text in row], kind, strict=False) for row in rows]


@cache
def metrics() -> Mapping[str, Metric]:
    """Return all metrics by name, in the order in which they are listed."""
    return {metric.name: metric for metric in read_definitions("definitions.csv", Metric)}


def logged_metrics() -> list[str]:
    """Return the names of the metrics that an episode gives, in the order in which they are listed."""
    return [name for name, metric in metrics().items() if metric.is_of_episode]


@cache
def letter_codes() -> Mapping[str, str]:
    """Return the names of metrics by the letter codes that they once had; codes of metrics that are gone have none."""
    return {code: name for name, metric in metrics().items() for code in (metric.codes or "").split()}


def name_of(word: str) -> str:
    """Return the name of the metric that a word stands for: a code's name, any other word as it is."""
    return letter_codes().get(word, word)


_FUNCTIONS: dict[str, MetricFunction] = {}


def metric(function: MetricFunction) -> MetricFunction:
    """Make a function the metric of its name."""
    _FUNCTIONS[function.__name__] = function
    return function


def metric_family(*names: str) -> Callable[[FamilyFunction], FamilyFunction]:
    """Make a function that returns several values, computed once for each episode, the metrics of these names."""

    def decorate(function: FamilyFunction) -> FamilyFunction:
        values = primitive(function)
        for place, name in enumerate(names):
            _FUNCTIONS[name] = partial(_value_at, values, place)
        return values

    return decorate


def _value_at(values: FamilyFunction, place: int, table: EventTable) -> Value:
    return values(table)[place]


def metric_functions() -> Mapping[str, MetricFunction]:
    """Return the registered metrics by name, in the order in which metrics are listed; see ``measure``."""
    return {name: _FUNCTIONS[name] for name in logged_metrics()}


class PooledValue(NamedTuple):
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


def pool(definition: Metric, values: Sequence[Value]) -> PooledValue:
    """Pool the values of one metric: the ratio of sums for rates of events, the mean for quantities of an episode."""
    known = [value for value, _, _ in values if value is not None]
    nums = [value.num for value in values if value.num is not None]
    dens = [value.den for value in values if value.den is not None]
    return pool_known(definition, known, nums, dens, len(values))


def pool_known(
    definition: Metric, values: Sequence[float], nums: Sequence[float], dens: Sequence[float], count: int
) -> PooledValue:
    """Pool a metric over so many episodes: of their values, numerators and denominators those that there are."""
    if definition.pooling == "micro":
        # Numerators without a denominator count: moves of an episode in which nothing was done are travel too.
        num, den = fsum(nums), fsum(dens)
    else:
        num, den = fsum(values), float(len(values))
    return PooledValue(num / den if den else None, num, den, len(values), count - len(values))


def pool_all(episodes: Sequence[Mapping[str, Value]]) -> dict[str, PooledValue]:
    """Pool all metrics of episodes, in the order in which metrics are listed."""
    return {
        name: pool(metrics()[name], [values[name] for values in episodes if name in values])
        for name in logged_metrics()
    }
