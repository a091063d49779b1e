"""All metrics of one episode."""

from __future__ import annotations

from typing import Literal, NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.metrics import (  # noqa: F401 - each registers its metrics
    beliefs,
    coordination,
    cost,
    effort,
    headline,
    message_content,
    messages,
    outcome,
)
from teamworld.metrics.definition import NULL, MetricFunction, Value, metric_functions, metrics
from teamworld.metrics.event_table import EventTable
from teamworld.worlds.contract import WorldSpec


class HeadlineValue(NamedTuple):
    """A measure that results of a level are told in first, and its value in an episode."""

    metric: str
    unit: str
    better: Literal["high", "low"]
    definition: str
    value: Value


def measure(table: EventTable) -> dict[str, Value]:
    """Return every metric that one episode can tell, by name; null below the log level that it takes."""
    return {name: _value(name, function, table) for name, function in metric_functions().items()}


def check_headline(spec: WorldSpec) -> None:
    """Check that the headline of a level names metrics of an episode.

    Raises:
        UserError: It does not.
    """
    for part in spec.headline:
        if part.metric not in (known := list(metric_functions())):
            where = f"the headline of {spec.world} {spec.level}"
            raise UserError(f"{where} names '{part.metric}', no metric of an episode{suggest(part.metric, known)}")


def measure_headline(table: EventTable) -> tuple[HeadlineValue, ...]:
    """Return what the level's results are told in first, in the order of its world."""
    functions, measures = metric_functions(), headline.of_episode(table.start)
    values = [_value(part.metric, functions[part.metric], table) for part in measures]
    return tuple(
        HeadlineValue(part.metric, part.unit, part.better, part.definition, value)
        for part, value in zip(measures, values, strict=True)
    )


def _value(name: str, function: MetricFunction, table: EventTable) -> Value:
    return NULL if metrics()[name].needs == "beliefs" and not table.has_beliefs else function(table)
