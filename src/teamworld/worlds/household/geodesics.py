"""How far it is at least between places of a home: the shortest ways round all that is solid, in any direction.

A shortest way bends at corners alone where three of four cells are free, or two that touch there. So its length is
that of the straight line, or of a straight line to a corner, a shortest way among corners, and a straight line. Ways
may touch what is solid and pass between two cells that touch in a corner.

Places are whole centimetres, x and z, from the corner of the grid.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.pathfinding import CELL
from teamworld.worlds.kernel_compiler import compiled, part

Places: TypeAlias = npt.NDArray[np.int64]
"""Shape (places, x and z)."""
Lengths: TypeAlias = npt.NDArray[np.float64]
"""Centimetres."""


class Geodesics:
    """Lengths of the shortest ways, in centimetres.

    Args:
        free: The free cells, none of them at the rim; shape (rows, columns).
    """

    def __init__(self, free: Bools) -> None:
        self._free = free
        upper, lower = free[:-1], free[1:]
        parts = (upper[:, :-1], upper[:, 1:], lower[:, :-1], lower[:, 1:])
        count = np.sum(parts, axis=0)
        is_aslant = (count == 2) & (parts[0] == parts[3])
        rows, columns = np.nonzero((count == 3) | is_aslant)
        self._corners: Places = np.stack((columns + 1, rows + 1), axis=1).astype(np.int64) * CELL
        self._between = _all_pairs(_straight(free, self._corners, self._corners))

    def sides(self, places: Places) -> Lengths:
        """Return the lengths of straight lines from places to all corners; shape (places, corners)."""
        return _straight(self._free, places, self._corners)

    def to_corners(self, sides: Lengths) -> Lengths:
        """Return the lengths of the shortest ways from places to all corners, from those of straight lines."""
        return _min_plus(sides, self._between)

    def between(self, first: Places, second: Places, ways: Lengths, sides: Lengths) -> Lengths:
        """Return the lengths of the shortest ways between any two places; shape (first, second).

        Args:
            first: Some places.
            second: Others.
            ways: From the first to all corners.
            sides: Straight lines from the second to all corners.
        """
        return _between(self._free, first, second, _min_plus(ways, np.ascontiguousarray(sides.T)))

    def nearest(self, first: Places, second: Places, ways: Lengths, nearest_side: Lengths) -> Lengths:
        """Return the lengths of the shortest ways from places to the nearest of others; shape (first,).

        Args:
            first: Some places.
            second: Others.
            ways: From the first to all corners.
            nearest_side: The shortest straight line from the second to each corner.
        """
        return _nearest(self._free, first, second, (ways + nearest_side).min(axis=1))


@part
def _is_straight(free: Bools, x: int, z: int, to_x: int, to_z: int) -> bool:
    """Whether a straight line between two places meets the inside of no cell that is not free."""
    if x == to_x:
        left = x // CELL - 1 if x % CELL == 0 else x // CELL
        for row in range(min(z, to_z) // CELL, (max(z, to_z) + CELL - 1) // CELL):
            if not (free[row, left] or free[row, x // CELL]):
                return False
        return True
    if x > to_x:
        x, z, to_x, to_z = to_x, to_z, x, z
    long_x, long_z = to_x - x, to_z - z
    if long_z == 0 and z % CELL == 0:
        for column in range(x // CELL, (to_x + CELL - 1) // CELL):
            if not (free[z // CELL - 1, column] or free[z // CELL, column]):
                return False
        return True
    size = CELL * long_x
    for column in range(x // CELL, (to_x + CELL - 1) // CELL):
        start, end = max(x, CELL * column), min(to_x, CELL * column + CELL)
        first, last = z * long_x + (start - x) * long_z, z * long_x + (end - x) * long_z
        low, high = min(first, last), max(first, last)
        for row in range(low // size, max(low // size + 1, -(-high // size))):
            if not free[row, column]:
                return False
    return True


@compiled
def _straight(free: Bools, first: Places, second: Places) -> Lengths:
    """Return the lengths of straight lines; infinity where something solid is in between."""
    return _between(free, first, second, np.full((len(first), len(second)), np.inf))


@compiled
def _between(free: Bools, first: Places, second: Places, best: Lengths) -> Lengths:
    """Return lengths that are no longer than straight lines between some places."""
    for i in range(len(first)):
        x, z = first[i]
        for j in range(len(second)):
            to_x, to_z = second[j]
            length = math.sqrt((to_x - x) ** 2 + (to_z - z) ** 2)
            if length < best[i, j] and _is_straight(free, x, z, to_x, to_z):
                best[i, j] = length
    return best


@compiled
def _nearest(free: Bools, first: Places, second: Places, best: Lengths) -> Lengths:
    """Return lengths that are no longer than straight lines to the nearest of some places."""
    for i in range(len(first)):
        x, z = first[i]
        for j in range(len(second)):
            to_x, to_z = second[j]
            length = math.sqrt((to_x - x) ** 2 + (to_z - z) ** 2)
            if length < best[i] and _is_straight(free, x, z, to_x, to_z):
                best[i] = length
    return best


@compiled
def _all_pairs(lengths: Lengths) -> Lengths:
    """Return the lengths of the shortest ways over any of some places, from those of straight lines."""
    size = len(lengths)
    for k in range(size):
        lengths[k, k] = 0.0
    for k in range(size):
        for i in range(size):
            first = lengths[i, k]
            if first < np.inf:
                for j in range(size):
                    way = first + lengths[k, j]
                    if way < lengths[i, j]:
                        lengths[i, j] = way
    return lengths


@compiled
def _min_plus(first: Lengths, second: Lengths) -> Lengths:
    """Return the lengths of the shortest ways over one place of the second kind."""
    lengths = np.full((len(first), second.shape[1]), np.inf)
    for i in range(len(first)):
        for k in range(second.shape[0]):
            way = first[i, k]
            if way < np.inf:
                for j in range(second.shape[1]):
                    if way + second[k, j] < lengths[i, j]:
                        lengths[i, j] = way + second[k, j]
    return lengths
