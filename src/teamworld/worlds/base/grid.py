"""Ways on a grid of cells, for environments that are grids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

from teamworld.language import Cell

#: The four directions, in the order in which ties are broken.
NORTH, SOUTH, WEST, EAST = (-1, 0), (1, 0), (0, -1), (0, 1)
DIRECTIONS: Final = (NORTH, SOUTH, WEST, EAST)


def add(cell: Cell, step: Cell) -> Cell:
    """Return the cell that a step leads to."""
    return cell[0] + step[0], cell[1] + step[1]


def distance(first: Cell, second: Cell) -> int:
    """Return the steps between two cells of an empty grid."""
    return abs(first[0] - second[0]) + abs(first[1] - second[1])


def is_inside(cell: Cell, size: Cell) -> bool:
    """Return whether a cell lies on a grid of so many rows and columns."""
    return 0 <= cell[0] < size[0] and 0 <= cell[1] < size[1]


def list_neighbours(cell: Cell, size: Cell) -> Iterator[Cell]:
    """Yield the cells beside a cell, in the order of ``DIRECTIONS``."""
    return (beside for step in DIRECTIONS if is_inside(beside := add(cell, step), size))


@lru_cache(maxsize=4096)
def distances(size: Cell, end: Cell, closed: frozenset[Cell]) -> Mapping[Cell, int]:
    """Return the steps to ``end`` from each cell from which there is a way around the closed cells.

    The end itself may be closed.
    """
    steps, edge = {end: 0}, [end]
    for cell in edge:  # grows while it is gone through
        for beside in list_neighbours(cell, size):
            if beside not in steps and beside not in closed:
                steps[beside] = steps[cell] + 1
                edge.append(beside)
    return steps


def find_step(size: Cell, at: Cell, ends: Collection[Cell], closed: frozenset[Cell]) -> Cell | None:
    """Return the next cell on a shortest way to the nearest of some cells; None if there is none, or one is here."""
    ways = [distances(size, end, closed) for end in ends]
    around = [*list_neighbours(at, size)]
    steps = {cell: min((way[cell] for way in ways if cell in way), default=-1) for cell in around}
    open_cells = [cell for cell in around if cell not in closed or cell in ends]
    reached = [cell for cell in open_cells if steps[cell] >= 0]
    return None if at in ends or not reached else min(reached, key=steps.__getitem__)
