"""Makes the rasters of an instance: which floor furniture blocks, how high it reaches, and where a body fits.

The boxes of furniture are larger than what stands there (L-shaped sofas, chairs, lamps). They are carved: a point is
free where the nearest sample of the original house is free, and near the places where published episodes start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled
from teamworld.worlds.transport.scene import Floats, FloorPlan, Furniture, Pose, Rasters, ReferenceSamples

Mask: TypeAlias = npt.NDArray[np.bool_]

#: Side of a cell, metres.
CELL: Final = 0.05
#: Metres around the walls that the rasters cover: more than a reach of the probe from the last place to stand.
MARGIN: Final = 1.0
#: Heights between which the probe of a walking agent touches things, metres (``Replicant``, TDW v1.11.23).
PROBE_HEIGHTS: Final = (0.12, 1.88)
#: Metres around a published start that furniture leaves free: agents stood there.
START_CLEARANCE: Final = 0.3
#: Radius of the body that has to fit where an agent stands, metres.
BODY: Final = 0.2


class Frame(NamedTuple):
    """Where the cells of a raster lie."""

    x0: float
    z0: float
    shape: tuple[int, int]

    @property
    def centers(self) -> tuple[Floats, Floats]:
        """The middles of all cells: x as (I, 1) and z as (1, J)."""
        across, along = self.shape
        x = self.x0 + CELL * (np.arange(across, dtype=np.float64) + 0.5)
        z = self.z0 + CELL * (np.arange(along, dtype=np.float64) + 0.5)
        return x[:, None], z[None, :]


def build_rasters(plan: FloorPlan, starts: Iterable[Pose] = ()) -> Rasters:
    """Return the rasters of a floor plan with its furniture.

    Args:
        plan: The floor plan; where it has samples they carve the furniture.
        starts: Places at which published episodes start; furniture leaves ``START_CLEARANCE`` around them free.

    Returns:
        The rasters; their arrays are read-only.
    """
    frame = cover(plan)
    shape = frame.shape
    is_blocked, top = np.zeros(shape, np.bool_), np.zeros(shape, np.float32)
    owner = np.full(shape, -1, np.int16)
    is_solid = ~carve(frame, plan.samples, starts)
    for index, piece in enumerate(plan.furniture):
        if piece.bottom >= PROBE_HEIGHTS[1]:
            continue
        window, inside = outline_cells(frame, piece)
        covered = inside & is_solid[window]
        is_blocked[window] |= covered & (piece.top > PROBE_HEIGHTS[0])
        is_higher = covered & (piece.top > top[window])
        top[window][is_higher] = piece.top
        owner[window][is_higher] = index
    is_wall = wall_cells(frame, plan.walls)
    for array in (is_blocked, top, owner, is_wall):
        array.setflags(write=False)
    return Rasters(frame.x0, frame.z0, CELL, is_blocked, top, owner, is_wall)


def cover(plan: FloorPlan) -> Frame:
    """Return a frame that covers the bounds and walls of a floor plan with a margin, on whole multiples of the cell."""
    boxes = np.concatenate([np.array([plan.bounds]), plan.walls])
    low = np.floor((boxes[:, :2].min(axis=0) - MARGIN) / CELL)
    high = np.ceil((boxes[:, 2:].max(axis=0) + MARGIN) / CELL)
    across, along = (int(cells) for cells in high - low)
    return Frame(float(low[0]) * CELL, float(low[1]) * CELL, (across, along))


def outline_cells(frame: Frame, piece: Furniture) -> tuple[tuple[slice, slice], Mask]:
    """Return the window of cells around a piece and, in it, those whose middle lies in its outline or on its border.

    Args:
        frame: Where the cells lie.
        piece: Its corners form a convex outline, in either order around it.
    """
    corners = np.array(piece.corners)
    low = np.floor((corners.min(axis=0) - (frame.x0, frame.z0)) / CELL)
    high = np.ceil((corners.max(axis=0) - (frame.x0, frame.z0)) / CELL)
    window = tuple(
        slice(max(int(first), 0), min(max(int(last), 0), most))
        for first, last, most in zip(low, high, frame.shape, strict=True)
    )
    x, z = frame.centers
    x, z = x[window[0]], z[:, window[1]]
    is_left = np.ones(np.broadcast_shapes(x.shape, z.shape), np.bool_)
    is_right = is_left.copy()
    for (x0, z0), (x1, z1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = (x1 - x0) * (z - z0) - (z1 - z0) * (x - x0)
        is_left &= side >= 0
        is_right &= side <= 0
    return (window[0], window[1]), is_left | is_right


def carve(frame: Frame, samples: ReferenceSamples | None, starts: Iterable[Pose]) -> Mask:
    """Return the cells that are free whatever furniture covers them.

    Args:
        frame: Where the cells lie.
        samples: Free samples free the square of one spacing around them; other samples and places without one do not.
        starts: Places around which all is free.
    """
    x, z = frame.centers
    is_free = np.zeros(frame.shape, np.bool_)
    if samples is not None:
        across, along = samples.is_free.shape
        i = np.floor((x[:, 0] - samples.x0) / samples.spacing + 0.5).astype(np.int64)
        j = np.floor((z[0] - samples.z0) / samples.spacing + 0.5).astype(np.int64)
        rows, columns = (i >= 0) & (i < across), (j >= 0) & (j < along)
        is_free[np.ix_(rows, columns)] = samples.is_free[np.ix_(i[rows], j[columns])]
    for start in starts:
        is_free |= (x - start.x) ** 2 + (z - start.z) ** 2 <= START_CLEARANCE**2
    return is_free


def wall_cells(frame: Frame, walls: Floats, grown: float = 0.0) -> Mask:
    """Return the cells whose middle is at most so far (metres) from a wall; in one, by default."""
    x, z = frame.centers
    is_wall = np.zeros(frame.shape, np.bool_)
    for x0, z0, x1, z1 in walls:
        i0, i1 = np.searchsorted(x[:, 0], (x0 - grown, x1 + grown), side="left")
        j0, j1 = np.searchsorted(z[0], (z0 - grown, z1 + grown), side="left")
        i1, j1 = min(int(i1) + 1, frame.shape[0]), min(int(j1) + 1, frame.shape[1])
        near_x, near_z = x[i0:i1], z[:, j0:j1]
        dx = np.maximum(np.maximum(x0 - near_x, near_x - x1), 0.0)
        dz = np.maximum(np.maximum(z0 - near_z, near_z - z1), 0.0)
        is_wall[i0:i1, j0:j1] |= dx * dx + dz * dz <= grown * grown
    return is_wall


def standing_room(plan: FloorPlan, rasters: Rasters, radius: float = BODY) -> Mask:
    """Return the cells on whose middle a disc fits: clear of walls, and of the squares of cells that are blocked.

    Args:
        plan: The floor plan of the rasters.
        rasters: Its rasters.
        radius: Of the disc, metres. What only touches is clear.

    Returns:
        (I, J) bool; cells outside the walls are free where nothing stands, so a search from inside tells them apart.
    """
    shape = rasters.is_blocked.shape
    frame = Frame(rasters.x0, rasters.z0, (shape[0], shape[1]))
    is_taken = wall_cells(frame, plan.walls, radius - 1e-9)
    reach = math.ceil(radius / CELL + 0.5)
    # How many blocked cells come before each cell of a row, so that a difference says whether a span has any.
    counts = np.pad(np.cumsum(np.pad(rasters.is_blocked, reach), axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    steps = np.maximum(np.abs(np.arange(-reach, reach + 1, dtype=np.float64)) - 0.5, 0.0) * CELL
    for di in range(2 * reach + 1):
        near = np.flatnonzero(np.hypot(steps[di], steps) < radius - 1e-9)
        if len(near):
            rows = counts[di : di + shape[0]]
            is_taken |= rows[:, near[-1] + 1 : near[-1] + 1 + shape[1]] > rows[:, near[0] : near[0] + shape[1]]
    return ~is_taken


def cell_of(rasters: Rasters, x: float, z: float) -> tuple[int, int]:
    """Return the cell that holds a point."""
    return math.floor((x - rasters.x0) / rasters.cell), math.floor((z - rasters.z0) / rasters.cell)


def connected(is_free: Mask, start: tuple[int, int]) -> Mask:
    """Return the free cells to which steps through free cells lead from a start, from side to side only.

    Args:
        is_free: (I, J): where one can stand.
        start: The cell to start from; from one that is not free, or outside, nothing is reached.
    """
    is_reached = np.zeros(is_free.shape, np.bool_)
    if 0 <= start[0] < is_free.shape[0] and 0 <= start[1] < is_free.shape[1] and is_free[start]:
        _flood(is_free, start[0], start[1], is_reached)
    return is_reached


def is_near(is_marked: Mask, rasters: Rasters, x: float, z: float, distance: float) -> bool:
    """Whether the middle of a marked cell lies at most so far (metres) from a point."""
    i, j = cell_of(rasters, x, z)
    reach = math.ceil(distance / rasters.cell)
    i0, j0 = max(i - reach, 0), max(j - reach, 0)
    window = is_marked[i0 : max(i + reach + 1, 0), j0 : max(j + reach + 1, 0)]
    dx = rasters.x0 + rasters.cell * (np.arange(i0, i0 + window.shape[0]) + 0.5) - x
    dz = rasters.z0 + rasters.cell * (np.arange(j0, j0 + window.shape[1]) + 0.5) - z
    return bool((window & (dx[:, None] ** 2 + dz[None, :] ** 2 <= distance * distance)).any())


@compiled
def _flood(is_free: Mask, i: int, j: int, is_reached: Mask) -> None:
    """Mark all free cells that join a free cell."""
    across, along = is_free.shape
    waiting = np.empty(across * along, np.int64)
    waiting[0] = i * along + j
    is_reached[i, j] = True
    count = 1
    while count:
        count -= 1
        cell = waiting[count]
        for side in range(4):
            row = cell // along + (side == 0) - (side == 1)
            column = cell % along + (side == 2) - (side == 3)
            if 0 <= row < across and 0 <= column < along and is_free[row, column] and not is_reached[row, column]:
                is_reached[row, column] = True
                waiting[count] = row * along + column
                count += 1
