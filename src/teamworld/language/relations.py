"""What facts of a world can state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: What a predicate means to an agent that fetches things, where it means anything to it. ``at``: where an agent is;
#: ``held``: a thing in an agent's hands; ``near``: in an agent's reach; ``room``: the room that something is in;
#: ``container``: the container that a thing is in; ``surface``: what a thing lies on; ``position``: coordinates;
#: ``access``: whether a container can be looked into (values: open, closed); ``search``: how much of a room was seen
#: (values: a part, all); ``map``: what a map shows better than words.
Role: TypeAlias = Literal[
    "", "at", "held", "near", "room", "container", "surface", "position", "access", "search", "map"
]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation or attribute that facts of the world can state."""

    predicate: str
    subject: str
    """Kind of entity, or ``agent``."""
    values: tuple[str, ...]
    """Its values, where these can be listed, or their kind: ``cell``, ``number``, ``agent``, a kind of entity."""
    max_values: int = 1
    """Values of one subject that can hold at a time: one that excludes all others, or a capacity."""
    role: Role = ""
    verbs: tuple[str, ...] = ()
    """Actions by which an agent that fetches things changes it: of ``access`` opening, closing and looking into."""
