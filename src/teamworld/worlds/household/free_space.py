"""Where in a home one can stand: cells of 0.1 m inside rooms, away from walls and furniture, and through doors."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.homes.home import Box, Home, Node

Bools: TypeAlias = npt.NDArray[np.bool_]

# Metres, and square metres for the footprint (``docs/reference/worlds/household.md``).
_SHARED, _WALL, _BODY = 0.25, 0.07, 0.2  # half of what neighbouring rooms share, thickness of a wall, half a body
_THROUGH: Final = 0.45  # half the length of the strip through a door
_LOW, _HIGH, _FOOTPRINT = 0.1, 1.8, 0.02  # heights between which a thing is in the way, and the least that is

_SOLID: Final = frozenset({"Furniture", "Appliances", "Electronics", "Decor", "Props"})
_HANGING: Final = frozenset({"curtain", "curtains", "wallpictureframe"})
_LYING: Final = ("rug", "mat")


def solid(node: Node) -> bool:
    """Say whether a node is in the way of those who walk (part B)."""
    box = node.box
    return (
        node.category in _SOLID
        and node.name not in _HANGING
        and not node.name.endswith(_LYING)
        and box.width * box.depth >= _FOOTPRINT
        and box.y - box.height / 2 < _HIGH
        and box.y + box.height / 2 > _LOW
    )


def bounds(rooms: list[Box]) -> tuple[int, int, int, int]:
    """Return the least cells that cover all rooms: from column, row to column, row."""
    return (
        math.floor(min(box.x - box.width / 2 for box in rooms) * 10),
        math.floor(min(box.z - box.depth / 2 for box in rooms) * 10),
        math.ceil(max(box.x + box.width / 2 for box in rooms) * 10),
        math.ceil(max(box.z + box.depth / 2 for box in rooms) * 10),
    )


def free_cells(home: Home, left: int, low: int, shape: tuple[int, int]) -> Bools:
    """Find the cells whose middles are free, joined or not; shape (rows, columns)."""
    xs, zs = (np.arange(left, left + shape[1]) * 10 + 5) / 100, (np.arange(low, low + shape[0]) * 10 + 5) / 100

    def inside(x: float, z: float, half_x: float, half_z: float) -> tuple[slice, slice]:
        columns, rows = np.flatnonzero(np.abs(xs - x) <= half_x), np.flatnonzero(np.abs(zs - z) <= half_z)
        if not columns.size or not rows.size:
            return slice(0), slice(0)
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)

    free = np.zeros(shape, np.bool_)
    less = _SHARED + _WALL + _BODY
    for room in home.rooms:
        box = home.nodes[room].box
        free[inside(box.x, box.z, box.width / 2 - less, box.depth / 2 - less)] = True
    for node in home.nodes.values():
        if solid(node):
            box = node.box
            free[inside(box.x, box.z, box.width / 2 + _BODY, box.depth / 2 + _BODY)] = False
    for door in home.doors:
        beside = door.width / 2 - _BODY
        half_x, half_z = (_THROUGH, beside) if door.across_x else (beside, _THROUGH)
        free[inside(door.x, door.z, half_x, half_z)] = True
    free[[0, -1]] = free[:, [0, -1]] = False  # a rim, which kernels never leave
    return free
