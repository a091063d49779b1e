"""How one walks through a home: free space, rooms, and steps of one metre along shortest paths.

The walking model of the page on the household: a grid of cells of 0.1 m; free is what lies inside a room and away from
its walls, furniture and things, and a strip through each door. Paths are shortest on the grid, with eight neighbours
and no cut corners, and straightened by line of sight. Places are whole centimetres and lengths on the grid whole
numbers, so that equal questions have equal answers on every machine.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.errors import UserError
from teamworld.worlds.household.free_space import Bools, bounds, free_cells
from teamworld.worlds.household.homes.home import Box, Home, NodeId, Point
from teamworld.worlds.household.interaction_points import (
    AROUND_ROOMS,
    AROUND_THINGS,
    HERE,
    SIDES,
    Side,
    handle_place,
    has_handle,
    opened_box,
)
from teamworld.worlds.kernel_compiler import compiled, part

Cell: TypeAlias = tuple[int, int]
"""Row along z and column along x, from the corner of the grid with the least of both."""
Target: TypeAlias = NodeId | Box
Ints: TypeAlias = npt.NDArray[np.int32]

#: Edge of a cell and length of a step, centimetres.
CELL, STEP = 10, 100
#: Lengths on the grid to a neighbour, straight and aslant: related as 1 to the root of 2, to 2 in a million.
STRAIGHT, ASLANT = 408, 577
FAR: Final = 2**30

_ANSWERS, _FIELDS, _GRIDS = 16_384, 128, 8  # how many are remembered: at most some 10 MB for a grid

# Neighbours of a cell: straight ones first, so that among equals a path goes straight.
_ASIDE: Final = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))


class Floor:
    """The floor of one home, as it is before the first step; what is moved later is never in the way.

    Raises:
        UserError: If there is no free cell.
    """

    def __init__(self, home: Home) -> None:
        boxes = [home.nodes[room].box for room in home.rooms]
        self._rooms = [
            (box.x, box.z, box.width / 2, box.depth / 2, room) for box, room in zip(boxes, home.rooms, strict=True)
        ]
        left, low, right, high = bounds(boxes)
        mask = free_cells(home, left, low, (high - low, right - left))
        self._x, self._z = left * CELL, low * CELL  # the corner of the grid, centimetres
        self._grid = _grid(mask.tobytes(), mask.shape[1], left, low)
        #: Free cells, all of them joined by paths, shape (rows, columns); what is not joined to them counts as blocked.
        self.free: Bools = self._grid.numbers >= 0
        if not self._grid.rows.size:
            raise UserError(f"{home.name}: expected space to walk in, found none")
        self._xs, self._zs = self._grid.columns * CELL + CELL // 2, self._grid.rows * CELL + CELL // 2
        x, z = (self._xs + self._x) / 100, (self._zs + self._z) / 100
        depths = [
            np.minimum(half_x - np.abs(x - at_x), half_z - np.abs(z - at_z))
            for at_x, at_z, half_x, half_z, _ in self._rooms
        ]
        within = np.argmax(depths, axis=0)
        self._cells_of = {room: np.flatnonzero(within == number) for number, room in enumerate(home.rooms)}
        self._room_of = np.array(home.rooms)[within]
        self._home = home
        self._opened: dict[NodeId, Box] = {}
        self._fronts: dict[NodeId, Side] = {}
        self._targets: dict[NodeId | tuple[float, float], int] = {}

    def room(self, at: Point) -> NodeId:
        """Return the room a place is in: where several overlap, the one in which it lies deepest."""
        x, z = at
        best, nearest = -math.inf, 0
        for at_x, at_z, half_x, half_z, room in self._rooms:
            depth, other = half_x - abs(x - at_x), half_z - abs(z - at_z)
            if other < depth:
                depth = other
            if depth > best:
                best, nearest = depth, room
        return nearest

    def doorway(self, at: Point) -> tuple[NodeId, ...]:
        """Return the rooms in whose boxes a place lies: of two neighbours, both in the doorway that they share."""
        return tuple(
            room for x, z, half_x, half_z, room in self._rooms if abs(at.x - x) <= half_x and abs(at.z - z) <= half_z
        )

    def cell(self, x: float, z: float) -> Cell:
        """Return the free cell a place is in, or the one nearest to it."""
        number = self._cell(round(x * 100) - self._x, round(z * 100) - self._z)
        return int(self._grid.rows[number]), int(self._grid.columns[number])

    def middle(self, cell: Cell) -> Point:
        """Return the middle of a cell."""
        row, column = cell
        return self._point(column * CELL + CELL // 2, row * CELL + CELL // 2)

    def towards(self, at: Point, target: Target) -> Point:
        """Walk one step.

        Args:
            at: Where one stands; if this is not free, one first goes straight to the nearest free cell.
            target: A node as it lies at the start, or the box of one that was moved.

        Returns:
            The place 1.0 m further along the path to the end of the walk (:meth:`end`), or that end if it is nearer.
            Where no path leads, ``at``.
        """
        key = (at, self._target(target))
        answers = self._grid.answers
        cached = answers.get(key)
        if cached is None:
            if len(answers) >= _ANSWERS:
                answers.clear()
            cached = answers[key] = self._walked(at, key[1], STEP)[0]
        return cached

    def end(self, target: Target) -> Point:
        """Return where walks to a target end: the middle of a free cell of its room (:mod:`.interaction_points`)."""
        number = self._target(target)
        if number < 0:
            raise ValueError(f"expected a target that can be reached, found {target}")
        return self._middle(number)

    def reach(self, at: Point, target: Target) -> bool:
        """Whether a path leads to the room of a target; all free cells are joined, so it matters little from where."""
        return self._target(target) >= 0

    def random(self, room: NodeId, rng: np.random.Generator) -> Point:
        """Draw the middle of a free cell of a room."""
        cells = self._cells_of[room]
        if not cells.size:
            raise UserError(f"room {room} has no free cell to stand in")
        return self._middle(int(cells[rng.integers(cells.size)]))

    def _middle(self, number: int) -> Point:
        return self._point(int(self._xs[number]), int(self._zs[number]))

    def _point(self, x: int, z: int) -> Point:
        return Point((x + self._x) / 100, (z + self._z) / 100)

    def _cell(self, x: int, z: int) -> int:
        """Return the number of the free cell at, or nearest to, a place in centimetres from the grid's corner."""
        rows, columns = self._grid.numbers.shape
        if 0 <= z < rows * CELL and 0 <= x < columns * CELL:
            number = int(self._grid.numbers[z // CELL, x // CELL])
            if number >= 0:
                return number
        return int(np.argmin((self._xs - x) ** 2 + (self._zs - z) ** 2))

    def _target(self, target: Target) -> int:
        """Return the number of the cell at which walks to a target end, -1 if its room has none."""
        key = (target.x, target.z) if isinstance(target, Box) else target
        cached = self._targets.get(key)
        if cached is None:
            cached = self._find_target(target)
            if len(self._targets) >= _ANSWERS:
                self._targets.clear()
            self._targets[key] = cached
        return cached

    def front(self, node: NodeId) -> Side:
        """Return the side at which one opens a node: of those with a free place before the handle, the inmost one."""
        cached = self._fronts.get(node)
        if cached is None:
            cached = self._fronts[node] = min(SIDES, key=lambda side: self._inmost(node, side))
        return cached

    def opened_box(self, node: NodeId) -> Box:
        """Return the box of a node that stands open, with its doors."""
        cached = self._opened.get(node)
        if cached is None:
            cached = self._opened[node] = opened_box(self._home.nodes[node], self.front(node))
        return cached

    def _inmost(self, node: NodeId, side: Side) -> tuple[bool, float]:
        """Return an order of sides: free places by their distance to the middle of the room, then all by way to one."""
        room = self._home.room[node]
        place, middle = handle_place(self._home.nodes[node], side), self._home.nodes[room].box
        is_free = self._cells(*place, HERE, room)[0, 0] >= 0
        other = (middle.x, middle.z) if is_free else self._middle(max(self._nearest(*place, room), 0))
        return not is_free, math.dist(place, other)

    def _find_target(self, target: Target) -> int:
        if isinstance(target, Box):
            return self._nearest(target.x, target.z, self.room(Point(target.x, target.z)))
        node, room = self._home.nodes[target], self._home.room[target]
        x, z = node.box.x, node.box.z
        cells: Ints = np.zeros(0, np.int32)  # the best first
        if target == room:
            places = self._cells(x, z, AROUND_ROOMS, room)
            cells = places[(places >= 0) & (self._grid.aside[places] >= 0).all(axis=-1)]  # free all round
        elif has_handle(node):
            x, z = handle_place(node, self.front(target))
        elif not node.grabbable:
            places = self._cells(x, z, AROUND_THINGS, room)
            circle, middle = places[np.argmax((places >= 0).any(axis=1))], self._target(room)
            cells = circle[circle >= 0]
            away = (self._xs[cells] - self._xs[middle]) ** 2 + (self._zs[cells] - self._zs[middle]) ** 2
            cells = cells[np.argsort(away, kind="stable")]
        return int(cells[0]) if cells.size else self._nearest(x, z, room)

    def _cells(self, x: float, z: float, around: npt.NDArray[np.int64], room: NodeId) -> Ints:
        """Return the cells of a room at places around a middle, -1 for none; shape (circles, directions)."""
        columns = (around[..., 0] + round(x * 100) - self._x) // CELL
        rows = (around[..., 1] + round(z * 100) - self._z) // CELL
        height, width = self._grid.numbers.shape
        there = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        numbers = self._grid.numbers[np.where(there, rows, 0), np.where(there, columns, 0)]
        return np.where(there & (numbers >= 0) & (self._room_of[numbers] == room), numbers, -1)

    def _nearest(self, x: float, z: float, room: NodeId) -> int:
        """Return the free cell of a room that is nearest to a place, -1 if it has none."""
        cells = self._cells_of[room]
        away = (self._xs[cells] + self._x - x * 100) ** 2 + (self._zs[cells] + self._z - z * 100) ** 2
        return int(cells[np.argmin(away)]) if cells.size else -1

    def _walked(self, at: Point, end: int, length: int) -> tuple[Point, float]:
        """Walk so many centimetres; return where one gets, and how far it was."""
        if end < 0:
            return at, math.inf
        grid = self._grid
        x, z = round(at.x * 100) - self._x, round(at.z * 100) - self._z
        start = self._cell(x, z)
        x, z, walked = _walk(grid.numbers, grid.aside, grid.rows, grid.columns, grid.field(end), x, z, start, length)
        return self._point(x, z), walked


class _Grid(NamedTuple):
    """The free cells that are joined, numbered row by row."""

    numbers: Ints
    """The number of each cell, -1 where it is not free; shape (rows, columns)."""
    rows: Ints
    columns: Ints
    aside: Ints
    """The neighbours of each cell as ``_ASIDE`` orders them, -1 for none; shape (cells, 8)."""
    fields: dict[int, Ints]
    answers: dict[tuple[Point, int], Point]

    def field(self, end: int) -> Ints:
        """Return the length of the shortest path on the grid from each cell to one."""
        cached = self.fields.get(end)
        if cached is None:
            if len(self.fields) >= _FIELDS:
                self.fields.clear()
            cached = self.fields[end] = _field(self.aside, end)
        return cached


@lru_cache(maxsize=_GRIDS)
def _grid(mask: bytes, columns: int, left: int, low: int) -> _Grid:
    """Number the largest joined part of the free cells.

    Homes that differ only in small things share a grid and what has been answered on it; ``left`` and ``low`` say where
    it lies, which answers depend on.
    """
    free = np.frombuffer(mask, np.bool_).reshape(-1, columns)
    every = _numbered(free)
    rest = np.ones(every.rows.size, np.bool_)
    largest = np.zeros(0, np.int64)
    while rest.sum() > largest.size:
        joined = np.flatnonzero(_field(every.aside, int(np.argmax(rest))) < FAR)
        rest[joined] = False
        largest = max(largest, joined, key=len)
    kept = np.zeros_like(free)
    kept[every.rows[largest], every.columns[largest]] = True
    return _numbered(kept)


def _numbered(free: Bools) -> _Grid:
    rows, columns = np.nonzero(free)
    index = np.full((free.shape[0] + 2, free.shape[1] + 2), -1, np.int32)  # with a rim that is never free
    index[1:-1, 1:-1][free] = np.arange(rows.size, dtype=np.int32)
    aside = np.empty((rows.size, len(_ASIDE)), np.int32)
    for side, (down, right) in enumerate(_ASIDE):
        aside[:, side] = index[rows + 1 + down, columns + 1 + right]
        if down and right:  # no corner is cut
            cut = (index[rows + 1 + down, columns + 1] < 0) | (index[rows + 1, columns + 1 + right] < 0)
            aside[cut, side] = -1
    inner = np.ascontiguousarray(index[1:-1, 1:-1])
    return _Grid(inner, rows.astype(np.int32), columns.astype(np.int32), aside, {}, {})


@compiled
def _field(aside: Ints, end: int) -> Ints:
    """Find the lengths of the shortest paths from all cells to one; FAR where there is none."""
    cells = len(aside)
    field = np.full(cells, FAR, np.int32)
    if cells == 0:
        return field
    waiting, queued = np.empty(cells, np.int32), np.zeros(cells, np.bool_)
    field[end], waiting[0], first, number = 0, end, 0, 1
    while number:
        cell = waiting[first]
        first, number = (first + 1) % cells, number - 1
        queued[cell] = False
        for side in range(8):
            other = aside[cell, side]
            length = field[cell] + (STRAIGHT if side < 4 else ASLANT)
            if other >= 0 and length < field[other]:
                field[other] = length
                if not queued[other]:
                    queued[other] = True
                    waiting[(first + number) % cells] = other
                    number += 1
    return field


@part
def _next(aside: Ints, field: Ints, cell: int) -> int:
    """Return the neighbour that lies on a shortest path."""
    for side in range(8):
        other = aside[cell, side]
        if other >= 0 and field[other] + (STRAIGHT if side < 4 else ASLANT) == field[cell]:
            return int(other)
    return cell


@part
def _sees(index: Ints, x: int, z: int, to_x: int, to_z: int) -> bool:
    """Whether all cells on the straight line between two places are free, both sides of a corner it meets included."""
    column, row, last_column, last_row = x // CELL, z // CELL, to_x // CELL, to_z // CELL
    right, down = (1 if to_x > x else -1), (1 if to_z > z else -1)
    long_x, long_z = abs(to_x - x), abs(to_z - z)
    # To the next border of a cell, each times the length along the other axis: what comes first is smaller.
    to_border_x = ((column + 1) * CELL - x if right > 0 else x - column * CELL) * long_z
    to_border_z = ((row + 1) * CELL - z if down > 0 else z - row * CELL) * long_x
    while column != last_column or row != last_row:
        by_x = column != last_column and (row == last_row or to_border_x <= to_border_z)
        by_z = row != last_row and (column == last_column or to_border_z <= to_border_x)
        if by_x and by_z and (index[row, column + right] < 0 or index[row + down, column] < 0):
            return False
        if by_x:
            column += right
            to_border_x += CELL * long_z
        if by_z:
            row += down
            to_border_z += CELL * long_x
        if index[row, column] < 0:
            return False
    return True


@compiled
def _walk(
    index: Ints, aside: Ints, rows: Ints, columns: Ints, field: Ints, x: int, z: int, cell: int, length: int
) -> tuple[int, int, float]:
    """Walk down a field from a place in or near a cell; return the place reached and the centimetres walked."""
    left = float(length)
    if z // CELL != rows[cell] or x // CELL != columns[cell]:  # not free: straight to the cell that is
        aim_x, aim_z = int(columns[cell]) * CELL + CELL // 2, int(rows[cell]) * CELL + CELL // 2
        away = math.sqrt((aim_x - x) ** 2 + (aim_z - z) ** 2)
        if away > left:
            return round(x + (aim_x - x) * left / away), round(z + (aim_z - z) * left / away), float(length)
        x, z, left = aim_x, aim_z, left - away
    while True:
        aim = _next(aside, field, cell)
        while field[aim] > 0:
            other = _next(aside, field, aim)
            if not _sees(index, x, z, columns[other] * CELL + CELL // 2, rows[other] * CELL + CELL // 2):
                break
            aim = other
        aim_x, aim_z = int(columns[aim]) * CELL + CELL // 2, int(rows[aim]) * CELL + CELL // 2
        away = math.sqrt((aim_x - x) ** 2 + (aim_z - z) ** 2)
        if away > left:
            exact_x, exact_z = x + (aim_x - x) * left / away, z + (aim_z - z) * left / away
            near_x, near_z = math.floor(exact_x + 0.5), math.floor(exact_z + 0.5)
            if index[near_z // CELL, near_x // CELL] < 0:  # rounded into a wall: the whole centimetre in the same cell
                near_x, near_z = math.floor(exact_x), math.floor(exact_z)
            return near_x, near_z, float(length)
        x, z, cell, left = aim_x, aim_z, aim, left - away
        if field[aim] == 0:
            return x, z, length - left
