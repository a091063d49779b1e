"""What is true and what agents perceive, put on record as changes: the log level ``beliefs``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from teamworld.language import AgentId, Fact, Facts
from teamworld.record import Event, Observe, Truth


class _Changes(NamedTuple):
    """What holds now and did not before, and the other way round, in written form."""

    on: tuple[str, ...]
    off: tuple[str, ...]


_NOTHING: Mapping[Fact, None] = {}


class PerceptionRecorder:
    """Compares each moment with the last and records the difference; where there is none, nothing.

    Args:
        record: Writes an event to the log.
    """

    def __init__(self, record: Callable[[Event], None]) -> None:
        self._record = record
        self._true = _NOTHING
        self._seen: dict[AgentId, Mapping[Fact, None]] = {}

    def truth(self, facts: Facts) -> None:
        """Record what became true or false."""
        current = dict.fromkeys(facts)
        on, off = _changes(self._true, current)
        self._true = current
        if on or off:
            self._record(Truth(true=on, false=off))

    def observe(self, perceived: Mapping[AgentId, Facts]) -> None:
        """Record what each agent has come to perceive, and does so no longer."""
        # Where all see everything, they share one collection: it is compared once.
        known: dict[tuple[int, int], tuple[Mapping[Fact, None], _Changes]] = {}
        for agent, facts in perceived.items():
            before = self._seen.get(agent, _NOTHING)
            place = (id(before), id(facts))
            if place not in known:
                current = dict.fromkeys(facts)
                known[place] = current, _changes(before, current)
            self._seen[agent], changes = known[place]
            if changes.on or changes.off:
                self._record(Observe(agent=agent, seen=changes.on, unseen=changes.off))


def _changes(before: Mapping[Fact, None], current: Mapping[Fact, None]) -> _Changes:
    return _Changes(
        tuple(str(fact) for fact in current if fact not in before),
        tuple(str(fact) for fact in before if fact not in current),
    )
