"""All metrics of one episode."""

from __future__ import annotations

from teamworld.metrics import efficiency, outcome
from teamworld.metrics.definition import Value
from teamworld.metrics.episode import Episode

_FAMILIES = (outcome, efficiency)


def measure(episode: Episode) -> dict[str, Value]:
    """Return every metric that one episode can tell, by id, in the order of the specification."""
    return {name: value for family in _FAMILIES for name, value in family.measure(episode).items()}
