"""All metrics of one episode."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.metrics import (
    agreement,
    balance,
    belief,
    communication,
    conflict,
    cost,
    efficiency,
    joint,
    outcome,
    plans,
    repair,
)
from teamworld.metrics.bill import Made
from teamworld.metrics.definition import Value, metrics
from teamworld.metrics.episode import Episode

_FAMILIES = (outcome, efficiency, communication, joint, conflict, plans, balance, agreement, repair, belief, cost)
#: Those that also read the calls on record.
_READ_CALLS = (communication, cost)


def measure(episode: Episode, calls: Sequence[Made] | None = None) -> dict[str, Value]:
    """Return every metric that one episode can tell, by id, in the order of the specification.

    Args:
        episode: The episode.
        calls: Its calls of language models on record; None where there is no record: then seconds and dollars are null.
    """
    found: dict[str, Value] = {}
    for family in _FAMILIES:
        found |= family.measure(episode, calls) if family in _READ_CALLS else family.measure(episode)
    return {name: found.pop(name) for name in metrics() if name in found} | found
