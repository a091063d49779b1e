"""What a metric is: one definition from which the code, the tables, the command and the page are made.

The definitions stand in ``definitions.csv``. A metric is a pure function of the log of one episode, or (``runs``) of
the values of several. Whatever it cannot tell is null, never 0 or 1; a share keeps what it is a share of (metrics
spec, section 1).

Fractions are added with ``math.fsum``: exactly, so that the order, the processor and the version of Python do not
matter. Dot products, ``numpy.sum`` of fractions and powers do not have that.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

import msgspec

#: How values of several episodes become one: ``micro`` sums numerators and denominators, for rates of events; ``macro``
#: is the mean of the episodes' values.
Pooling: TypeAlias = Literal["micro", "macro"]
#: What a metric is made from: the log of one episode (for seconds and dollars, its calls on record too), or those of
#: several runs.
Basis: TypeAlias = Literal["log", "runs"]


class Value(NamedTuple):
    """A number with what it was made from."""

    value: float | None
    """None where there was nothing to measure."""
    num: float | None
    """Numerator of a share or a mean; of a count, the count; None where it is neither, such as a median."""
    den: float | None
    """Denominator; of a median or the like, over how many it was taken; of a count, None."""


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


#: Not there to be measured.
NULL = Value(None, None, None)


class Metric(NamedTuple):
    """The definition of a metric (metrics spec, sections 4 to 9)."""

    id: str
    """As in the specification: ``O2``; a part of one follows a dot: ``E6.work``."""
    symbol: str | None
    """None where it is known by its name alone."""
    name: str
    tier: int
    basis: Basis
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


@cache
def metrics() -> Mapping[str, Metric]:
    """Return all metrics by id, in the order of the specification."""
    head, *rows = csv.reader(files("teamworld.metrics").joinpath("definitions.csv").read_text("utf-8").splitlines())
    if tuple(head) != Metric._fields:
        raise ValueError(f"definitions.csv has the columns {head}")
    found = [msgspec.convert([text or None for text in row], Metric, strict=False) for row in rows]
    return {one.id: one for one in found}
