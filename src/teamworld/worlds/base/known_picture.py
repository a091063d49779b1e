"""What one agent knows as a picture, in the form that the replay's drawer of its world reads.

A world offers it as ``known_picture`` in its module. It is made from a view alone, that is from what its agent may
know: what the agent does not know cannot be in it, also not in ``static``, which of a log holds a whole map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from teamworld.language import AgentId, Cell
from teamworld.worlds.contract import View

#: Where something is drawn whose place nobody knows: far off every plan, in centimetres or cells.
AWAY: Final[Cell] = (-100_000, -100_000)


class KnownPicture(NamedTuple):
    """A moment as one agent knows it."""

    static: Mapping[str, Any]
    """As in ``WorldSpec.static``, of what it knows."""
    frame: Mapping[str, Any]
    """As in ``World.snapshot``, of what it knows; agents that it does not know the place of are off the picture."""
    hidden: frozenset[AgentId]
    """The agents that it does not know the place of."""


#: Makes the picture from a view, given the team in its order.
DrawKnown: TypeAlias = Callable[[View, Sequence[AgentId]], KnownPicture]


def guess_extent(middle: Cell, inside: Iterable[Cell], *, least: int, beyond: int) -> list[int]:
    """Return a box round the middle of a room of which only this and places in it are known.

    Args:
        middle: Of the room, in centimetres.
        inside: Known places in it.
        least: Half of the shortest side.
        beyond: How far it reaches behind the outmost known place.

    Returns:
        [least x, least z, greatest x, greatest z].
    """
    places = list(inside)
    half = [max((least, *(abs(place[axis] - middle[axis]) + beyond for place in places))) for axis in (0, 1)]
    return [middle[0] - half[0], middle[1] - half[1], middle[0] + half[0], middle[1] + half[1]]
