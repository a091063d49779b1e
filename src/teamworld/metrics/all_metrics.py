"""All metrics of one episode."""

from __future__ import annotations

from teamworld.metrics import (  # noqa: F401 - each registers its metrics
    beliefs,
    coordination,
    cost,
    effort,
    message_content,
    messages,
    outcome,
    predictions,
)
from teamworld.metrics.definition import NULL, Value, metric_functions, metrics
from teamworld.metrics.event_table import EventTable


def measure(table: EventTable) -> dict[str, Value]:
    """Return every metric that one episode can tell, by name; null below the log level that it takes."""
    return {
        name: NULL if metrics()[name].tier == 2 and not table.has_beliefs else function(table)
        for name, function in metric_functions().items()
    }
