"""The walking model once more, slow and plain."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np

from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.pathfinding import ASLANT, CELL, STRAIGHT, Cell

ASIDE = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))
Place = tuple[int, int]
"""x and z in centimetres from the corner of the grid."""


def is_free(free: Bools, row: int, column: int) -> bool:
    return 0 <= row < free.shape[0] and 0 <= column < free.shape[1] and bool(free[row, column])


def neighbours(free: Bools, cell: Cell) -> list[tuple[Cell, int]]:
    row, column = cell
    found = []
    for down, right in ASIDE:
        sides = ((row + down, column + right), (row + down, column), (row, column + right))
        if all(is_free(free, *side) for side in sides):
            found.append(((row + down, column + right), ASLANT if down and right else STRAIGHT))
    return found


def lengths(free: Bools, end: Cell) -> dict[Cell, int]:
    """Dijkstra's algorithm."""
    found, waiting = {end: 0}, [(0, end)]
    while waiting:
        length, cell = heapq.heappop(waiting)
        if length > found[cell]:
            continue
        for other, step in neighbours(free, cell):
            if length + step < found.get(other, math.inf):
                found[other] = length + step
                heapq.heappush(waiting, (length + step, other))
    return found


def sees(free: Bools, start: Place, end: Place) -> bool:
    """Try every cell: all that share an inner point with the line, and all four round a corner it passes, are free."""
    (x, z), (to_x, to_z) = start, end
    for row in range(min(z, to_z) // CELL, max(z, to_z) // CELL + 1):
        for column in range(min(x, to_x) // CELL, max(x, to_x) // CELL + 1):
            if _inner(start, end, row, column) and not is_free(free, row, column):
                return False
    for corner_z in range(min(z, to_z) // CELL, max(z, to_z) // CELL + 1):
        for corner_x in range(min(x, to_x) // CELL, max(x, to_x) // CELL + 1):
            corner = (corner_x * CELL, corner_z * CELL)
            met = (to_x - x) * (corner[1] - z) == (to_z - z) * (corner[0] - x)
            within = min(x, to_x) < corner[0] < max(x, to_x)
            leaves = corner == start and to_x < x and to_z < z  # into the cell beyond the corner
            if (met and within) or leaves:
                around = [(corner_z - down, corner_x - right) for down in (0, 1) for right in (0, 1)]
                if not all(is_free(free, *cell) for cell in around):
                    return False
    return True


def _inner(start: Place, end: Place, row: int, column: int) -> bool:
    """Whether a line has a point in a cell; a cell has its lower borders, but not its upper ones."""
    begin, stop, whole = Fraction(0), Fraction(1), True
    for at, to, low in ((start[0], end[0], column * CELL), (start[1], end[1], row * CELL)):
        if at == to:
            whole &= low <= at < low + CELL
        else:
            one, other = sorted((Fraction(low - at, to - at), Fraction(low + CELL - at, to - at)))
            begin, stop = max(begin, one), min(stop, other)
    if begin < stop:
        return whole
    # The line touches the cell at one point, which counts only where it begins: its cell is told by rounding down.
    return whole and begin == stop == 0 and (start[0] // CELL, start[1] // CELL) == (column, row)


def walk(free: Bools, start: Place, end: Cell, length: float) -> tuple[Place, float]:
    """Walk so many centimetres from a place in a free cell; return where one gets and how far it was."""
    field, left, at = lengths(free, end), length, start
    cell = (at[1] // CELL, at[0] // CELL)
    while True:
        path = [cell]
        while path[-1] != end:
            path.append(next(o for o, step in neighbours(free, path[-1]) if field[o] + step == field[path[-1]]))
        aim = path[1] if len(path) > 1 else end
        for other in path[2:]:
            if not sees(free, at, middle(other)):
                break
            aim = other
        (x, z), (aim_x, aim_z) = at, middle(aim)
        away = math.hypot(aim_x - x, aim_z - z)
        if away > left:
            exact = (x + (aim_x - x) * left / away, z + (aim_z - z) * left / away)
            near = (math.floor(exact[0] + 0.5), math.floor(exact[1] + 0.5))
            if not is_free(free, near[1] // CELL, near[0] // CELL):
                near = (math.floor(exact[0]), math.floor(exact[1]))
            return near, length
        at, cell, left = (aim_x, aim_z), aim, left - away
        if aim == end:
            return at, length - left


def middle(cell: Cell) -> Place:
    return cell[1] * CELL + CELL // 2, cell[0] * CELL + CELL // 2


def maze(rng: np.random.Generator, rows: int, columns: int, blocked: float) -> Bools:
    """Return a random floor with a rim that is never free."""
    free = rng.random((rows, columns)) >= blocked
    free[[0, -1]] = free[:, [0, -1]] = False
    return free
