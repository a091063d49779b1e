"""Where agents can walk at the start of an episode, and where they may start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from teamworld.worlds.transport.rasters import BODY, PROBE_HEIGHTS, Frame, Mask, cell_of, connected, standing_room
from teamworld.worlds.transport.scene import FloorPlan, Item, Pose, Rasters, Room

#: Metres between the points at which agents may start (``scene_generate.py``), from the lower corner of the house on.
GRID: Final = 0.5
#: Metres that are free around one.
CLEARANCE: Final = 0.3


def walkable_floor(plan: FloorPlan, rasters: Rasters, items: Iterable[Item], radius: float = BODY) -> Mask:
    """Return the cells on which a body can stand while nothing was carried away.

    Args:
        plan: The floor plan of the rasters.
        rasters: Its rasters.
        items: What lies there. Items on the floor stop a body, as discs as wide as their longer side, unless they are
            targets or too low for the probe.
        radius: Of the body, metres.
    """
    is_free = standing_room(plan, rasters, radius)
    x, z = Frame(rasters.x0, rasters.z0, (is_free.shape[0], is_free.shape[1])).centers
    for item in items:
        if item.support is None and item.kind != "target" and item.size[1] > PROBE_HEIGHTS[0]:
            reach = radius + max(item.size[0], item.size[2]) / 2
            is_free &= (x - item.x) ** 2 + (z - item.z) ** 2 >= reach * reach
    return is_free


def draw_starts(
    plan: FloorPlan, rasters: Rasters, is_reached: Mask, taken: Sequence[Pose], number: int, rng: np.random.Generator
) -> tuple[Pose, ...] | None:
    """Draw where agents start: free points of the grid in distinct named rooms, facing north.

    Args:
        plan: The floor plan of the rasters.
        rasters: Its rasters.
        is_reached: (I, J): the cells that can be reached.
        taken: Where others start; their rooms get nobody else.
        number: How many to draw.
        rng: Decides everything.

    Returns:
        The starts, or None if there are not enough rooms with a free point.
    """
    is_free = is_reached & standing_room(plan, rasters, CLEARANCE)
    rooms = {plan.room_at(pose.x, pose.z).number for pose in taken}
    starts: list[Pose] = []
    for index in rng.permutation(len(plan.rooms)):
        room = plan.rooms[index]
        if len(starts) == number or not room.is_named or room.number in rooms:
            continue
        points = _points(plan, rasters, is_free, room)
        if points:
            starts.append(points[rng.integers(len(points))])
    return tuple(starts) if len(starts) == number else None


def _points(plan: FloorPlan, rasters: Rasters, is_free: Mask, room: Room) -> list[Pose]:
    """Return the free points of the grid in a room, by x and then z."""
    first = plan.bounds
    counts = [math.floor((high - low) / GRID) + 1 for low, high in ((first.x0, first.x1), (first.z0, first.z1))]
    xs = [round(first.x0 + GRID * i, 4) for i in range(counts[0])]
    zs = [round(first.z0 + GRID * j, 4) for j in range(counts[1])]
    points = [(x, z) for x in xs for z in zs if room.box.contains(x, z)]
    return [Pose(x, z) for x, z in points if is_free[cell_of(rasters, x, z)]]


def reached_from(rasters: Rasters, is_free: Mask, start: Pose) -> Mask:
    """Return the cells to which one can walk from a start."""
    return connected(is_free, cell_of(rasters, start.x, start.z))
