"""How an agent finds its way on its own chart: A* over cells, then a turn or a move forward for each step.

The costs of cells, the waypoint and the rule of 18 degrees are those of RHP, the rule-based planner of TDW-MAT
(``h_agent.py``, ``agent_memory.py``). It looks for a new way at every step; here a way is kept as long as the agent
stays on it and none of its cells has become dearer, for at most ``KEPT`` steps, which costs a fraction of the time.
RHP walks again and again into what stops it; here cells become dearer in which a move was stopped.

All kernels stand in this file, because numba's cache does not notice a change in another.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.transport.sight import (
    CHART,
    CHART_CELL,
    CHART_X,
    CHART_Z,
    CLEAR,
    IN_OBSTACLE,
    IN_WALL,
    UNKNOWN,
    WALL,
)
from teamworld.worlds.transport.state import FAILURE, FORWARD, I64, LEFT, NONE, RIGHT, U8, Ground, TransportState

I32: TypeAlias = npt.NDArray[np.int32]

#: What it costs to enter a cell, in halves: free, within 2 cells of an obstacle, within 1, an obstacle, a wall.
COSTS: Final = (2, 10, 20, 2000, 1_020_000)
#: An obstacle in the first frames of an episode, and how many these are.
FIRST_COST, FIRST_FRAMES = 1_000_000, 200
#: What a cell that was not seen yet costs more, in halves.
UNKNOWN_COST: Final = 5
#: Cells ahead to which an agent walks in a straight line.
WAYPOINT: Final = 5
#: An agent walks if what it walks to is within 18 degrees of its heading, else it turns.
ALIGNED: Final = round(math.cos(math.radians(18.0)), 12)
#: What a cell costs more, in halves, for each move that was stopped there beyond the first few, and how many moves are
#: counted: who gives up sooner walks unlike the benchmark's agents, who never gives up stays where it is.
BUMP_COST, MOST_BUMPS = 10, 20
FEW_BUMPS: Final = 5
#: How far ahead of an agent, metres, lies what stops it, and cells around that to which this applies.
BUMP_AHEAD, BUMP_CELLS = 0.4, 1
#: Steps for which a way is kept at most, and cells by which an agent may be beside it.
KEPT, ASTRAY = 20, 2

#: Cells at the end of a way that may be in a wall: things lie beside walls.
BEHIND: Final = 3

_CELLS: Final = CHART[0] * CHART[1]
_HEAP: Final = 4 * _CELLS  # each cell is added once from each side at most
_SHIFT, _CELL_BITS, _MOST = 16, 0xFFFF, 1 << 40
_SIDES: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Way(NamedTuple):
    """The way of one agent, and room to look for another."""

    cells: I32
    """(28800,): the cells of the way, from the agent on; cell i, j of the chart is i * 120 + j."""
    marks: I64
    """(8,): how many cells it has, at which of them the agent is, to which it leads, for how many steps it was kept;
    the columns and rows between which ways lie: there is nothing to be found outside the house."""
    cost: I64
    """(28800,): least cost to each cell, by the last search."""
    came: I32
    """(28800,): the cell before each, by the last search."""
    heap: I64
    """(H,): cells to be visited in a search: what a way by them costs at least, times 65536, and their number."""
    bumps: U8
    """(28800,): how many moves of the agent were stopped around each cell, ``MOST_BUMPS`` at most."""


#: Places in ``Way.marks``.
LENGTH, AT, GOAL, STEPS, WEST, EAST, SOUTH, NORTH = range(8)
#: Cells by which ways may lie outside the boxes of the rooms.
MARGIN: Final = 8


def begin_way(ground: Ground) -> Way:
    """Return no way yet."""
    rooms, marks = ground.rooms, np.zeros(8, np.int64)
    for low, high, names, first, size in ((WEST, EAST, "x", CHART_X, CHART[0]), (SOUTH, NORTH, "z", CHART_Z, CHART[1])):
        marks[low] = max(0, int((rooms[f"{names}0"].min() - first) / CHART_CELL) - MARGIN)
        marks[high] = min(size - 1, int((rooms[f"{names}1"].max() - first) / CHART_CELL) + MARGIN)
    cells, came = np.zeros(_CELLS, np.int32), np.zeros(_CELLS, np.int32)
    bumps = np.zeros(_CELLS, np.uint8)
    return Way(cells, marks, np.zeros(_CELLS, np.int64), came, np.zeros(_HEAP, np.int64), bumps)


def forget_way(way: Way) -> None:
    """Give a way up, and forget where moves were stopped: what stood there may have gone."""
    way.marks[LENGTH] = 0
    way.bumps[:] = 0


@compiled
def choose_move(way: Way, chart: U8, near: U8, state: TransportState, agent: int, x: float, z: float) -> int:
    """Return the next primitive action of an agent that walks to a place: ``FORWARD``, ``LEFT`` or ``RIGHT``.

    Args:
        way: Its way; changed.
        chart: (240, 120): what it knows of each cell.
        near: (240, 120): how near each cell is to an obstacle that it knows of.
        state: The moment.
        agent: Its number.
        x: The place, metres.
        z: The place, metres.

    Returns:
        The code of a primitive action; ``NONE`` where only a way through a wall leads there.
    """
    body, marks, cells, nearness = state.agents[agent], way.marks, chart.reshape(-1), near.reshape(-1)
    start, goal = _cell_at(marks, body.x, body.z), _cell_at(marks, x, z)
    obstacle = FIRST_COST if state.clock[0] < FIRST_FRAMES else COSTS[IN_OBSTACLE]
    marks[STEPS] += 1
    if body.last == FORWARD and body.status == FAILURE:
        _note_bump(way, body.x + BUMP_AHEAD * body.east, body.z + BUMP_AHEAD * body.north)
    if not _is_kept(way, cells, nearness, start, goal, obstacle):
        _find_way(way, cells, nearness, start, goal, obstacle)
        for place in range(1, marks[LENGTH] - BEHIND):
            if nearness[way.cells[place]] == IN_WALL:
                marks[LENGTH] = 0
                return NONE
    last = marks[LENGTH] - 1
    waypoint = min(marks[AT] + WAYPOINT, last)
    if _has_wall_between(chart, start, way.cells[waypoint]):
        waypoint = min(marks[AT] + 1, last)
    to_x, to_z = x, z
    if way.cells[waypoint] != goal:
        to_x = CHART_X + CHART_CELL * (way.cells[waypoint] // CHART[1])
        to_z = CHART_Z + CHART_CELL * (way.cells[waypoint] % CHART[1])
    east, north = to_x - body.x, to_z - body.z
    if east * body.east + north * body.north >= ALIGNED * math.sqrt(east * east + north * north):
        return FORWARD
    return RIGHT if east * body.north > north * body.east else LEFT


@part
def _cell_at(marks: I64, x: float, z: float) -> int:
    """Return the number of the cell of a place, the nearest one where it is outside."""
    i = min(max(int((x - CHART_X) / CHART_CELL + 0.5), marks[WEST]), marks[EAST])
    return int(i * CHART[1] + min(max(int((z - CHART_Z) / CHART_CELL + 0.5), marks[SOUTH]), marks[NORTH]))


@part
def _note_bump(way: Way, x: float, z: float) -> None:
    """Note that a move was stopped at a place."""
    cell = _cell_at(way.marks, x, z)
    for i in range(max(cell // CHART[1] - BUMP_CELLS, 0), min(cell // CHART[1] + BUMP_CELLS, CHART[0] - 1) + 1):
        for j in range(max(cell % CHART[1] - BUMP_CELLS, 0), min(cell % CHART[1] + BUMP_CELLS, CHART[1] - 1) + 1):
            if way.bumps[i * CHART[1] + j] < MOST_BUMPS:
                way.bumps[i * CHART[1] + j] += 1


@part
def _is_kept(way: Way, chart: U8, near: U8, start: int, goal: int, obstacle: int) -> bool:
    """Return whether the way goes on: to the same place, from where the agent is, and no dearer than when found."""
    marks, cells = way.marks, way.cells
    if marks[LENGTH] == 0 or marks[GOAL] != goal or marks[STEPS] > KEPT:
        return False
    best, at = ASTRAY + 1, marks[AT]
    for place in range(marks[AT], min(marks[AT] + 2 * WAYPOINT, marks[LENGTH])):
        apart = _steps_between(cells[place], start)
        if apart <= best and apart <= ASTRAY:
            best, at = apart, place
    if best > ASTRAY:
        return False
    marks[AT] = at
    price = 0
    for place in range(at + 1, marks[LENGTH]):
        price += _cost_of(chart, near, way.bumps, cells[place], obstacle)
    return bool(price <= way.cost[cells[marks[LENGTH] - 1]] - way.cost[cells[at]])


@part
def _steps_between(first: int, other: int) -> int:
    """Return the moves between two cells of one who can also move diagonally."""
    return max(abs(first // CHART[1] - other // CHART[1]), abs(first % CHART[1] - other % CHART[1]))


@part
def _cost_of(chart: U8, near: U8, bumps: U8, cell: int, obstacle: int) -> int:
    """Return what it costs to enter a cell; chart, nearness and bumps as flat arrays."""
    kind = near[cell]
    cost = (obstacle if kind == IN_OBSTACLE else COSTS[kind]) + BUMP_COST * max(int(bumps[cell]) - FEW_BUMPS, 0)
    return cost + UNKNOWN_COST if chart[cell] == UNKNOWN else cost


@part
def _has_wall_between(chart: U8, first: int, other: int) -> bool:
    """Return whether the rectangle between two cells has a known wall in it."""
    i, j, to_i, to_j = first // CHART[1], first % CHART[1], other // CHART[1], other % CHART[1]
    for column in range(min(i, to_i), max(i, to_i) + 1):
        for row in range(min(j, to_j), max(j, to_j) + 1):
            if chart[column, row] == WALL:
                return True
    return False


@part
def _find_way(way: Way, chart: U8, near: U8, start: int, goal: int, obstacle: int) -> None:
    """Look for the cheapest way between cells that share a side: A* by the cells that are left at least."""
    cost, came, heap, marks, rows = way.cost, way.came, way.heap, way.marks, CHART[1]
    goal_i, goal_j = goal // rows, goal % rows
    cost[:] = _MOST
    cost[start], came[start] = 0, -1
    size = _push(heap, 0, start)
    while size > 0:
        entry = heap[0]
        size = _pop(heap, size)
        cell, dues = entry & _CELL_BITS, entry >> _SHIFT
        if cell == goal:
            break
        i, j = cell // rows, cell % rows
        if dues > cost[cell] + COSTS[CLEAR] * (abs(i - goal_i) + abs(j - goal_j)):
            continue  # found on a cheaper way since
        for side in range(4):
            to_i, to_j = i + _SIDES[side][0], j + _SIDES[side][1]
            if marks[WEST] <= to_i <= marks[EAST] and marks[SOUTH] <= to_j <= marks[NORTH]:
                other = to_i * rows + to_j
                price = cost[cell] + _cost_of(chart, near, way.bumps, other, obstacle)
                if price < cost[other]:
                    cost[other], came[other] = price, cell
                    least = price + COSTS[CLEAR] * (abs(to_i - goal_i) + abs(to_j - goal_j))
                    size = _push(heap, size, (least << _SHIFT) | other)
    _follow_back(way, goal)


@part
def _follow_back(way: Way, goal: int) -> None:
    """Write down the way that a search has found."""
    length, cell = 0, goal
    while cell >= 0:
        length += 1
        cell = way.came[cell]
    cell = goal
    for place in range(length - 1, -1, -1):
        way.cells[place] = cell
        cell = way.came[cell]
    way.marks[LENGTH], way.marks[AT], way.marks[GOAL], way.marks[STEPS] = length, 0, goal, 0


@part
def _push(heap: I64, size: int, entry: int) -> int:
    """Add an entry to a heap; return its new size."""
    place = size
    while place > 0:
        above = (place - 1) // 2
        if heap[above] <= entry:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = entry
    return size + 1


@part
def _pop(heap: I64, size: int) -> int:
    """Take the first entry from a heap; return its new size."""
    size -= 1
    entry, place = heap[size], 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= entry:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = entry
    return size
