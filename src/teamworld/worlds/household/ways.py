"""How far it is to rooms and things, as everybody estimates it: straight lines from door to door.

Rooms and doors are known to all from the start, as walks find their way from the first step on. Furniture is passed
over, so that nobody needs to know it: 93 % of walks took at most a step more or less (how that was measured stands in
docs/reference/worlds/household.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

from teamworld.language import AgentId, Cell, Entity
from teamworld.worlds.household.observe import HEADINGS, Known, Names

#: Metres before the middle of a thing at which a walk to it ends, by what agents see. Fitted to walks in development
#: homes: what is CLOSE lies within 1.3 m of a body 0.8 m wide; who sees only what is ahead has to turn to it first.
SHORT: Final[Mapping[Literal["room", "cone"], float]] = {"room": 1.7, "cone": 0.5}
#: Turns by which all of a room is seen from its middle.
TURNS: Final = HEADINGS - 1
#: Metres to what nobody knows where to look for.
_UNKNOWN: Final = 5.0


class Ways:
    """The estimated ways through a home.

    Args:
        names: Of rooms and doors.
        sight: What agents see.
    """

    def __init__(self, names: Names, sight: Literal["room", "cone"]) -> None:
        self._names, self.short = names, SHORT[sight]

    def doors(self, start: Entity | None, end: Entity | None) -> tuple[Cell, ...]:
        """Return the doors on the way from one room to another; none where it is not known which rooms they are."""
        return () if start is None or end is None else self._routes.get((start, end), ())

    def steps(self, agent: AgentId, place: Entity, known: Known) -> int:
        """Return the estimated steps until an agent is in a room, or has something in reach."""
        if place in known.near.get(agent, ()) or known.at.get(agent) == place:
            return 0
        if place in known.rooms:
            return max(1, _rounded(self._to_room(agent, place, known)))
        return max(0, _rounded(self.metres(agent, place, known) - self.short))

    def steps_to_middle(self, agent: AgentId, room: Entity, known: Known) -> int:
        """Return the estimated steps until an agent is in the middle of a room."""
        return _rounded(self.metres(agent, room, known))

    def metres(self, agent: AgentId, place: Entity, known: Known) -> float:
        """Return the estimated way of an agent to the middle of something."""
        start, end = _spot(agent, known), known.rooms.get(place) or known.points.get(place)
        room = known.room_of(place)
        end = end or (None if room is None else known.rooms.get(room))
        if start is None or end is None:
            return _UNKNOWN
        return _length(start, *self.doors(known.at.get(agent), room), end)

    def _to_room(self, agent: AgentId, room: Entity, known: Known) -> float:
        """Return the estimated way of an agent to the door by which it enters a room."""
        start, doors = _spot(agent, known), self.doors(known.at.get(agent), room)
        return _length(start, *doors) if doors and start is not None else self.metres(agent, room, known)

    @cached_property
    def _routes(self) -> Mapping[tuple[Entity, Entity], tuple[Cell, ...]]:
        """The doors between any two rooms, on the way through the fewest rooms."""
        routes: dict[tuple[Entity, Entity], tuple[Cell, ...]] = {(room, room): () for room in self._names.rooms}
        new = [*routes]
        while new:
            farther = []
            for start, room in new:
                for first, other, spot in self._names.doors:
                    beside = {first: other, other: first}.get(room)
                    if beside is not None and (start, beside) not in routes:
                        routes[start, beside] = (*routes[start, room], spot)
                        farther.append((start, beside))
            new = farther
        return routes


def _spot(agent: AgentId, known: Known) -> Cell | None:
    """Return where an agent is; in the middle of its room where nothing more is known."""
    room = known.at.get(agent)
    return known.points.get(agent) or (None if room is None else known.rooms.get(room))


def _length(*spots: Cell) -> float:
    """Return how long the straight lines between some spots are, metres."""
    legs = (math.sqrt((x - a) ** 2 + (z - b) ** 2) for (a, b), (x, z) in pairwise(spots))
    return math.fsum(legs) / 100


def _rounded(metres: float) -> int:
    return math.ceil(metres - 1e-9)
