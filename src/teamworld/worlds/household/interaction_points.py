"""Where one stands to handle something, and where walks to it end, as the engine of the benchmark chooses it.

The engine (VirtualHome, ``ScriptExecution.cs`` and ``GameObjectUtils.cs``) puts agents 0.75 m before the handle of what
can be opened, and else on the first circle around a middle that has a free place. Which side that is depends on its 3-D
scene; ours is that of the room's middle for furniture, and the nearest free cell for things. Where handles are was read
off the standing places recorded in apartment 3, and holds in apartment 6 (``docs/reference/worlds/household.md``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.homes.home import Box, Node

Ints: TypeAlias = npt.NDArray[np.int64]
Side: TypeAlias = tuple[int, int]

#: Metres from the front of what can be opened to who opens it.
BEFORE: Final = 0.75
#: Directions in which the engine looks around a middle, counter-clockwise from x.
_DIRECTIONS: Final = 20
#: Metres between the circles around a thing, and around the middle of a room; how far they reach.
_THINGS, _ROOMS, _FARTHEST = 0.25, 0.3, 2.0
#: How far beside the middle of its front the handle of a class is, as a share of half the width; positive is to the
#: left of who comes out of it. Others have it in the middle.
HANDLES: Final[Mapping[str, float]] = MappingProxyType(
    {"kitchencabinet": 0.83, "fridge": -0.52, "stove": 0.43, "bathroomcabinet": 0.39}
)
#: Metres by which the box of an open container reaches farther to the front than that of a closed one.
SWINGS: Final[Mapping[str, float]] = MappingProxyType({"kitchencabinet": 0.4, "microwave": 0.4})
#: The directions in which a front may point, along x and z.
SIDES: Final[tuple[Side, ...]] = ((1, 0), (0, 1), (-1, 0), (0, -1))


def _circles(apart: float) -> Ints:
    """Return places around a middle, whole centimetres, shape (circles, directions, x and z)."""
    radii = np.arange(0.0, _FARTHEST + 1e-9, apart)[:, None]
    turns = np.arange(_DIRECTIONS) * (2 * math.pi / _DIRECTIONS)
    around = np.stack((radii * np.cos(turns), radii * np.sin(turns)), axis=-1)
    cells: Ints = np.rint(around * 100).astype(np.int64)
    return cells


#: Circles around a thing, around the middle of a room, and the place itself.
AROUND_THINGS: Final = _circles(_THINGS)
AROUND_ROOMS: Final = _circles(_ROOMS)
HERE: Final = AROUND_THINGS[:1, :1]


def has_handle(node: Node) -> bool:
    """Whether one opens a node by a handle; doors stay as they are."""
    return node.opens and node.category != "Doors"


def handle_place(node: Node, side: Side) -> tuple[float, float]:
    """Return the place in front of the handle of a node whose front is at a side of its box, metres."""
    box, (out_x, out_z) = node.box, side
    deep, wide = (box.width, box.depth) if out_x else (box.depth, box.width)
    away, aside = deep / 2 + BEFORE, HANDLES.get(node.name, 0.0) * wide / 2
    return box.x + out_x * away - out_z * aside, box.z + out_z * away + out_x * aside


def opened_box(node: Node, side: Side) -> Box:
    """Return the box of a node that stands open: that of some classes reaches as far as their doors."""
    box, (out_x, out_z), more = node.box, side, SWINGS.get(node.name, 0.0)
    return Box(
        box.x + out_x * more / 2,
        box.y,
        box.z + out_z * more / 2,
        box.width + abs(out_x) * more,
        box.height,
        box.depth + abs(out_z) * more,
    )
