"""How far it is at least between places of a home: the shortest ways round all that is solid, in any direction.

A shortest way bends at corners alone where three of four cells are free, or two that touch there. So its length is
that of the straight line, or of a straight line to a corner, a shortest way among corners, and a straight line. Ways
may touch what is solid and pass between two cells that touch in a corner.

Places are whole centimetres, x and z, from the corner of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.pathfinding import CELL
from teamworld.worlds.kernel_compiler import compiled, part

Ints: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.int64]
"""Shape (places, x and z)."""
Lengths: TypeAlias = npt.NDArray[np.float64]
"""Centimetres."""


class Located(NamedTuple):
    """Places, and how far all corners are from them."""

    at: Places
    sides: Lengths
    """Of straight lines; shape (places, corners)."""
    ways: Lengths
    """Of the shortest ways."""

    def part(self, places: slice) -> Located:
        """Return some of the places."""
        return Located(self.at[places], self.sides[places], self.ways[places])


class Border(NamedTuple):
    """Places of which the nearest counts."""

    at: Places
    side: Lengths
    """The shortest straight line from any of them to each corner; shape (corners,)."""


class Geodesics:
    """Lengths of the shortest ways, in centimetres.

    Args:
        free: The free cells, none of them at the rim; shape (rows, columns).
    """

    def __init__(self, free: Bools) -> None:
        self._free, self._solid = free, np.zeros(np.add(free.shape, 1), np.int64)
        self._solid[1:, 1:] = np.cumsum(np.cumsum(~free, axis=0), axis=1)  # how many cells are, up to a corner
        upper, lower = free[:-1], free[1:]
        parts = (upper[:, :-1], upper[:, 1:], lower[:, :-1], lower[:, 1:])
        count = np.sum(parts, axis=0)
        is_aslant = (count == 2) & (parts[0] == parts[3])
        rows, columns = np.nonzero((count == 3) | is_aslant)
        self._corners: Places = np.stack((columns + 1, rows + 1), axis=1).astype(np.int64) * CELL
        self._between = _all_pairs(self._straight(self._corners, self._corners))

    def locate(self, places: Places) -> Located:
        """Return how far all corners are from some places."""
        sides = self._straight(places, self._corners)
        return Located(places, sides, _min_plus(sides, self._between))

    def border(self, places: Places) -> Border:
        """Return places of which the nearest counts."""
        return Border(places, self._straight(places, self._corners).min(axis=0, initial=np.inf))

    def between(self, first: Located, second: Located) -> Lengths:
        """Return the lengths of the shortest ways between any two places; shape (first, second)."""
        over = _min_plus(first.ways, np.ascontiguousarray(second.sides.T))
        return _shorten(self._free, self._solid, first.at, second.at, np.arange(len(second.at)), over)

    def nearest(self, first: Located, borders: Sequence[Border]) -> Lengths:
        """Return the lengths of the shortest ways from places to the nearest of each border; shape (first, borders)."""
        over = _min_plus(first.ways, np.stack([border.side for border in borders], axis=1))
        numbers = np.repeat(np.arange(len(borders)), [len(border.at) for border in borders])
        return _shorten(
            self._free, self._solid, first.at, np.concatenate([border.at for border in borders]), numbers, over
        )

    def _straight(self, first: Places, second: Places) -> Lengths:
        """Return the lengths of straight lines; infinity where something solid is in between."""
        never = np.full((len(first), len(second)), np.inf)
        return _shorten(self._free, self._solid, first, second, np.arange(len(second)), never)


@part
def _is_straight(free: Bools, solid: Ints, x: int, z: int, to_x: int, to_z: int) -> bool:
    """Whether a straight line between two places meets the inside of no cell that is not free."""
    if x > to_x:
        x, z, to_x, to_z = to_x, to_z, x, z
    if x == to_x:
        left = x // CELL - 1 if x % CELL == 0 else x // CELL
        for row in range(min(z, to_z) // CELL, (max(z, to_z) + CELL - 1) // CELL):
            if not (free[row, left] or free[row, x // CELL]):
                return False
        return True
    if z == to_z and z % CELL == 0:
        for column in range(x // CELL, (to_x + CELL - 1) // CELL):
            if not (free[z // CELL - 1, column] or free[z // CELL, column]):
                return False
        return True
    left, right, low, high = x // CELL, (to_x - 1) // CELL + 1, min(z, to_z) // CELL, (max(z, to_z) - 1) // CELL + 1
    if solid[high, right] - solid[high, left] - solid[low, right] + solid[low, left] == 0:
        return True
    # Where the line leaves each column of cells: a row, and so many parts of a row, of which there are `size`.
    long_x, long_z = to_x - x, to_z - z
    size = CELL * long_x
    row, more = z // CELL, z % CELL * long_x
    begun = more + (CELL - x % CELL) * long_z
    rows, parts = (CELL * long_z) // size, (CELL * long_z) % size
    last = (to_x - 1) // CELL
    for column in range(x // CELL, last + 1):
        if column == last:
            next_row, next_more = to_z // CELL, to_z % CELL * long_x
        elif column == x // CELL:
            next_row, next_more = row + begun // size, begun % size
        else:
            next_row, next_more = row + rows, more + parts
            if next_more >= size:
                next_row, next_more = next_row + 1, next_more - size
        low, high = (row, next_row + (next_more > 0)) if long_z >= 0 else (next_row, row + (more > 0))
        for crossed in range(low, max(low + 1, high)):
            if not free[crossed, column]:
                return False
        row, more = next_row, next_more
    return True


@compiled
def _shorten(free: Bools, solid: Ints, first: Places, second: Places, numbers: Ints, best: Lengths) -> Lengths:
    """Return lengths that are no longer than straight lines between places and the nearest of those of each number.

    Args:
        free: The free cells.
        solid: How many are not, above and to the left of each corner; shape (rows + 1, columns + 1).
        first: Some places.
        second: Others.
        numbers: The columns of the lengths that these stand for; shape (second,).
        best: What is shortened.
    """
    for i in range(len(first)):
        x, z = first[i]
        for j in range(len(second)):
            to_x, to_z = second[j]
            length = math.sqrt((to_x - x) ** 2 + (to_z - z) ** 2)
            if length < best[i, numbers[j]] and _is_straight(free, solid, x, z, to_x, to_z):
                best[i, numbers[j]] = length
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
