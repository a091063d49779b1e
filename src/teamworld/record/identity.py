"""What an episode is apart from its seeds: two episodes with one layout and one play are copies of each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from teamworld.record.events import ActionStep, DrawingState, EpisodeStart, Event
from teamworld.record.log import encode

#: Fields of the first record that say where the episode takes place; seeds, method and reasoner do not.
_PLACE = ("world", "level", "world_options", "team", "kinds", "goals", "static", "horizon", "task")

#: Verbs that change nothing in a world.
_IDLE = ("wait", "talk")


class Identity(NamedTuple):
    """Digests (BLAKE2) of an episode."""

    layout: str
    """Where it took place: the world, all that stands in it at the start, and the team."""
    play: str
    """All that happened there: of equal ones one is a copy of the other, whatever their seeds."""


class Identifier:
    """Watches the events of a log pass by and identifies the episode; any digest costs one more encoding."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self._layout, self._play, self._deeds = (hashlib.blake2b(digest_size=8) for _ in range(3))

    def __iter__(self) -> Iterator[Event]:
        """Yield the events."""
        for event in self._events:
            if isinstance(event, EpisodeStart):
                place = [getattr(event, name) for name in _PLACE]
                self._layout.update(msgspec.json.encode(place, order="deterministic"))
            else:
                line = encode(event)
                self._play.update(line)
                if event.step == 0 and isinstance(event, DrawingState):
                    self._layout.update(line)
                elif isinstance(event, ActionStep) and event.spent and event.verb not in _IDLE:
                    self._deeds.update(repr((event.step, event.agent, event.verb, event.args)).encode())
            yield event

    @property
    def identity(self) -> Identity:
        """Of the events so far."""
        layout = self._layout.hexdigest()
        play = hashlib.blake2b(f"{layout} {self._play.hexdigest()}".encode(), digest_size=8).hexdigest()
        return Identity(layout, play)

    @property
    def deeds(self) -> str:
        """Digest of what agents did so far but wait and talk, step by step."""
        return self._deeds.hexdigest()
