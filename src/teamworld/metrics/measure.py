"""All metrics of one episode."""

from __future__ import annotations

from teamworld.metrics import (  # noqa: F401 - each registers its metrics
    beliefs,
    commitments,
    conflict,
    cost,
    effort,
    joint_acts,
    message_content,
    messages,
    outcome,
    plans,
    predictions,
    repair,
)
from teamworld.metrics.definition import Value, evaluate
from teamworld.metrics.event_table import EventTable


def measure(table: EventTable) -> dict[str, Value]:
    """Return every metric that one episode can tell, by name, in the order in which metrics are listed."""
    return evaluate(table)
