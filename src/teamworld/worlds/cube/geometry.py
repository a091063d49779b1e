"""Geometry of a symbolic state: distances, faces, lines of agents, chains of blocks and shortest paths.

The first part holds the symbolic concepts of the CUBE paper, in which plans, checks and custom feedback speak of a
state::

    from teamworld.worlds.cube import geometry
    geometry.quorum_deficit(state, Entity("block", 0), "left")

Blocks are given as entities or ids, sides as ``up``, ``down``, ``left``, ``right``. The functions of the second part
take ids of open blocks. Shortest paths come from compiled flood fills: one flood from a target gives the distance of
every cell, O(cells), so all agents that go to one place in one step share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.language import AgentId, Cell, Entity
from teamworld.worlds.cube.symbolic_state import (
    DELTA,
    OPPOSITE,
    SIDES,
    Square,
    SymbolicState,
    once_per_blocks,
    once_per_state,
)
from teamworld.worlds.kernel_compiler import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.int16]
    #: Distance in steps of each cell of the framed grid, shape (K + 2, K + 2); -1 where there is no way.
    Distances = npt.NDArray[np.int32]


#: An agent is aligned at most this many cells from the face, itself included.
LONGEST_LINE = 10

BlockRef: TypeAlias = Entity | int


class Place(NamedTuple):
    """A face at which an agent is aligned."""

    block: int
    face: str


class FaceObstacles(NamedTuple):
    """What stands outside a face."""

    wall: bool
    blocks: tuple[int, ...]
    agents: tuple[AgentId, ...]


def get_distance(state: SymbolicState, first: AgentId | BlockRef | Cell, second: AgentId | BlockRef | Cell) -> int:
    """Return the Manhattan distance in cells between two agents, blocks or positions.

    For a block the cell nearest to the other one counts.

    Raises:
        UserError: Something is unknown, or a block has been delivered and is nowhere.
    """
    top, left, bottom, right = _bounding_box(state, first)
    top2, left2, bottom2, right2 = _bounding_box(state, second)
    return max(top2 - bottom, top - bottom2, 0) + max(left2 - right, left - right2, 0)


def is_aligned_with_block(state: SymbolicState, block: BlockRef, side: str, agent: AgentId | None = None) -> bool:
    """Return whether an agent is on that face, or behind it in an unbroken line of agents.

    Args:
        state: Where everything stands.
        block: A block that is not delivered.
        side: Its face.
        agent: Whom to ask about; None asks whether anybody is aligned.

    Raises:
        UserError: The block, the face or the agent is unknown, or the block has been delivered.
    """
    aligned = aligned_agents(state, _open_id(state, block), _check_side(side))
    if agent is not None and agent not in state.agents:
        raise UserError(f"there is no agent '{agent}'{suggest(agent, list(state.agents))}")
    return bool(aligned) if agent is None else agent in aligned


def count_aligned_agents(state: SymbolicState, block: BlockRef, side: str) -> int:
    """Return how many agents are aligned with that face."""
    return len(aligned_agents(state, _open_id(state, block), _check_side(side)))


def all_aligned_positions(state: SymbolicState, block: BlockRef, side: str) -> frozenset[Cell]:
    """Return the cells at which an agent is, or by walking there would be, aligned with that face."""
    cells: set[Cell] = set()
    for line in lines(state, _open_id(state, block), _check_side(side)):
        cells.update(line.taken)
        if line.next is not None:
            cells.add(line.next)
    return frozenset(cells)


def block_progress(state: SymbolicState, block: BlockRef) -> int:
    """Return the columns that the block has still to travel to the goal, 0 once delivered."""
    return state.distance(_known_id(state, block))


def delivered(state: SymbolicState, block: BlockRef) -> bool:
    """Return whether the block has been delivered."""
    return state.blocks[_known_id(state, block)].delivered


def quorum_status(state: SymbolicState, block: BlockRef, side: str) -> bool:
    """Return whether the aligned agents meet or exceed the block's own weight."""
    return quorum_deficit(state, block, side) == 0


def quorum_deficit(state: SymbolicState, block: BlockRef, side: str) -> int:
    """Return how many more agents the block's own weight needs on that face."""
    return max(0, state.blocks[_open_id(state, block)].weight - count_aligned_agents(state, block, side))


def blocked(state: SymbolicState, block: BlockRef, side: str) -> bool:
    """Return whether a cell outside that face is off the grid, in another block, or holds an agent."""
    causes = blocked_by(state, block, side)
    return bool(causes.wall or causes.blocks or causes.agents)


def blocked_by(state: SymbolicState, block: BlockRef, side: str) -> FaceObstacles:
    """Return what stands outside that face: the causes of ``blocked``."""
    wall, blocks, agents = False, dict[int, None](), list[AgentId]()
    for cell in cells_outside(state.blocks[_open_id(state, block)], _check_side(side)):
        if not state.is_inside(cell):
            wall = True
        elif (other := state.block_at(cell)) is not None:
            blocks[other] = None
        elif cell in state.by_cell:
            agents.append(state.by_cell[cell])
    return FaceObstacles(wall, tuple(blocks), tuple(agents))


def chain_weight(state: SymbolicState, block: BlockRef, side: str) -> int:
    """Return the weight that a push on that face has to move: the block and all blocks in contact ahead."""
    return sum(
        state.blocks[member].weight for member in chain(state, _open_id(state, block), OPPOSITE[_check_side(side)])
    )


def _known_id(state: SymbolicState, block: BlockRef) -> int:
    name = block.id if isinstance(block, Entity) else block
    if name not in state.blocks or (isinstance(block, Entity) and block.kind != "block"):
        raise UserError(
            f"no block {block} is known; the known blocks are {', '.join(map(str, state.blocks)) or 'none'}"
        )
    return name


def _open_id(state: SymbolicState, block: BlockRef) -> int:
    name = _known_id(state, block)
    if state.blocks[name].delivered:
        raise UserError(f"block {name} has been delivered and has no faces")
    return name


def _check_side(side: str) -> str:
    if side not in SIDES:
        raise UserError(f"a side is one of {', '.join(SIDES)}, got '{side}'{suggest(side, list(SIDES))}")
    return side


def _bounding_box(state: SymbolicState, thing: AgentId | BlockRef | Cell) -> tuple[int, int, int, int]:
    if isinstance(thing, tuple):
        return *thing, *thing
    if isinstance(thing, str):
        if thing not in state.agents:
            raise UserError(f"no agent '{thing}' is known{suggest(thing, list(state.agents))}")
        return *state.agents[thing], *state.agents[thing]
    weight, row, col, _ = state.blocks[_open_id(state, thing)]
    return row, col, row + weight - 1, col + weight - 1


# ---- faces, lines and chains of open blocks, by id


def cells_to_edge(state: SymbolicState, block: int, direction: str) -> int:
    """Return the cells from a block's edge to the end of the grid, or to the goal if pushed right."""
    weight, row, col, _ = state.blocks[block]
    return {"right": state.distance(block), "left": col, "up": row, "down": state.side - row - weight}[direction]


class AgentLine(NamedTuple):
    """The agents in line on one cell of a face, and where the next one would stand."""

    agents: tuple[AgentId, ...]
    """Nearest to the block first."""
    taken: tuple[Cell, ...]
    next: Cell | None
    """None where a wall or a block ends the line, or it is as long as a line may be."""
    offset: int
    """Distance of the line from the middle of the face, in half cells."""


def cells_outside(square: Square, side: str) -> list[Cell]:
    """Return the cells just outside a face, from the top or the left; some may be off the grid."""
    weight, row, col, _ = square
    if side in ("left", "right"):
        at = col - 1 if side == "left" else col + weight
        return [(row + i, at) for i in range(weight)]
    at = row - 1 if side == "up" else row + weight
    return [(at, col + i) for i in range(weight)]


@once_per_blocks
def staging_cells(state: SymbolicState, block: int, side: str) -> list[Cell]:
    """Return the usable cells of a face, most central first, ties from the top or the left."""
    square = state.blocks[block]
    cells, codes = cells_outside(square, side), state.block_map.codes_beside(block, side)
    return [cells[i] for i in _center_out(square.weight) if codes[i] == 0]


@cache
def _center_out(weight: int) -> tuple[int, ...]:
    """Return the places along a face, the most central first, ties from the top or the left."""
    return tuple(sorted(range(weight), key=lambda i: abs(2 * i - (weight - 1))))


def _offset(square: Square, cell: Cell, side: str) -> int:
    along = cell[0] - square.row if side in ("left", "right") else cell[1] - square.col
    return abs(2 * along - (square.weight - 1))


@once_per_state
def lines(state: SymbolicState, block: int, side: str) -> list[AgentLine]:
    """Return the lines of agents on the usable cells of a face, in the order of ``staging_cells``."""
    square = state.blocks[block]
    by_cell = state.by_cell
    return [
        line_at(state, by_cell, cell, side, _offset(square, cell, side)) for cell in staging_cells(state, block, side)
    ]


def line_at(state: SymbolicState, by_cell: Mapping[Cell, AgentId], cell: Cell, side: str, offset: int) -> AgentLine:
    """Return the line on one cell of a face, with agents on the cells of ``by_cell``."""
    if cell not in by_cell:
        return AgentLine((), (), cell, offset)  # the cell is usable
    rows, cols = DELTA[side]
    agents: list[AgentId] = []
    taken: list[Cell] = []
    while len(taken) < LONGEST_LINE and (agent := by_cell.get(cell)) is not None:
        agents.append(agent)
        taken.append(cell)
        cell = cell[0] + rows, cell[1] + cols
    more = len(taken) < LONGEST_LINE and state.is_passable(cell)
    return AgentLine(tuple(agents), tuple(taken), cell if more else None, offset)


Rank: TypeAlias = tuple[int, int]


@once_per_state
def targets(state: SymbolicState, block: int, face: str) -> list[tuple[Rank, Cell]]:
    """Return the free cells to line up on, best first, each with its rank.

    The rank is the distance from the face, then from the middle of the face: free cells
    of the face come first, then the ends of the queues behind it.
    """
    ends = lines(state, block, face)
    free = [((len(line.agents), line.offset), line.next) for line in ends if line.next is not None]
    return sorted(free, key=lambda target: target[0])


@once_per_state
def aligned_agents(state: SymbolicState, block: int, side: str) -> frozenset[AgentId]:
    """Return the agents aligned with a face."""
    (rows, cols), by_cell = DELTA[side], state.by_cell
    aligned: list[AgentId] = []
    for row, col in staging_cells(state, block, side):
        for i in range(LONGEST_LINE):
            agent = by_cell.get((row + i * rows, col + i * cols))
            if agent is None:
                break
            aligned.append(agent)
    return frozenset(aligned)


def aligned_faces(state: SymbolicState, agent: AgentId) -> list[Place]:
    """Return all faces at which an agent is aligned: ``left`` first, for that is where delivery is pushed from."""
    faces: list[Place] = []
    at = state.agents[agent]
    for face in ("left", "right", "up", "down"):
        rows, cols = DELTA[OPPOSITE[face]]
        for step in range(1, LONGEST_LINE + 1):
            cell = at[0] + rows * step, at[1] + cols * step
            if cell in state.by_cell:
                continue
            if state.is_inside(cell) and (block := state.block_at(cell)) is not None:
                faces.append(Place(block, face))
            break
    return faces


@once_per_state
def face_of(state: SymbolicState, agent: AgentId, block: int) -> str | None:
    """Return the face of the block at which the agent is aligned, or None."""
    square = state.blocks.get(block)
    if square is None or square.delivered:
        return None
    weight, top, left, _ = square
    row, col = state.agents[agent]
    if 0 <= row - top < weight:
        side, ahead = ("left", left - 1 - col) if col < left else ("right", col - left - weight)
    elif 0 <= col - left < weight:
        side, ahead = ("up", top - 1 - row) if row < top else ("down", row - top - weight)
    else:
        return None
    return side if 0 <= ahead < LONGEST_LINE and _is_in_line(state, agent, side, ahead) else None


def _is_in_line(state: SymbolicState, agent: AgentId, side: str, ahead: int) -> bool:
    """Return whether the cells from an agent to the face, so many ahead of its own, all hold agents."""
    row, col = state.agents[agent]
    rows, cols = DELTA[OPPOSITE[side]]
    taken = all((row + i * rows, col + i * cols) in state.by_cell for i in range(1, ahead + 1))
    return taken and state.by_cell[row, col] == agent and state.is_passable((row + ahead * rows, col + ahead * cols))


@once_per_blocks
def chain(state: SymbolicState, block: int, direction: str) -> list[int]:
    """Return the blocks that move together if the block is pushed in a direction: contacts ahead."""
    members = {block: None}
    todo = [block]
    while todo:
        for code in state.block_map.codes_beside(todo.pop(), direction):
            if code > 0 and code - 1 not in members:
                members[code - 1] = None
                todo.append(code - 1)
    return list(members)


# ---- shortest paths


@compiled
def _flood(grid: Codes, stride: int, queue: Distances, count: int, distance: Distances) -> None:
    """Fill ``distance`` from the first ``count`` cells of ``queue``, over cells with code 0."""
    for k in range(count):
        distance[queue[k]] = 0
    done = 0
    while done < count:
        cell = queue[done]
        done += 1
        further = distance[cell] + 1
        for side in range(4):
            if side == 0:
                near = cell - stride
            elif side == 1:
                near = cell + stride
            elif side == 2:
                near = cell - 1
            else:
                near = cell + 1
            if grid[near] == 0 and distance[near] < 0:
                distance[near] = further
                queue[count] = near
                count += 1


def distances(state: SymbolicState, targets: Iterable[Cell], *, through_agents: bool = False) -> Distances:
    """Return the steps from each cell to the nearest target.

    Args:
        state: Where everything stands; blocks are obstacles.
        targets: Cells to go to; those that are not free are left out.
        through_agents: Whether agents are passed as if they were not there, because they will move on.
    """
    cells = tuple(targets)
    return _THROUGH.get(state.walls, cells) if through_agents else _AROUND.get(_GRIDS.of(state), cells)


class _Fields:
    """Distances that were computed last, of all states together: those of a large grid take a quarter of a megabyte.

    Args:
        most: Bytes that are kept at most.
    """

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._fields: dict[tuple[int, tuple[Cell, ...]], tuple[Codes, Distances]] = {}

    def get(self, grid: Codes, targets: tuple[Cell, ...]) -> Distances:
        """Return the distances over a grid, which never changes, to some targets."""
        key = id(grid), targets
        kept = self._fields.get(key)  # with its grid, whose id stays taken
        if kept is not None and kept[0] is grid:
            return kept[1]
        field = _distances(grid, targets)
        self._fields[key] = grid, field
        self._taken += field.nbytes + grid.nbytes
        while self._taken > self._most and len(self._fields) > 1:
            old, oldest = self._fields.pop(next(iter(self._fields)))
            self._taken -= oldest.nbytes + old.nbytes
        return field


class _Grids:
    """Grids with agents; of imagined states on a large grid the last one alone, as there are thousands."""

    def __init__(self) -> None:
        self._last: tuple[SymbolicState, Codes] | None = None

    def of(self, state: SymbolicState) -> Codes:
        """Return the grid of a state."""
        if state.side <= SMALL or "grid" in state.__dict__:
            return state.grid
        if self._last is None or self._last[0] is not state:
            self._last = state, state.draw()
        return self._last[1]


_THROUGH, _AROUND, _GRIDS = _Fields(1 << 27), _Fields(1 << 25), _Grids()
#: Sides of grids that are kept with every state.
SMALL = 64


def is_way_free(state: SymbolicState, field: Distances, cell: Cell) -> bool:
    """Return whether one of the shortest ways from a cell to the nearest target is seen to be free of agents.

    Args:
        state: Where agents stand.
        field: Distances that pass through agents.
        cell: Where the way begins; who stands there does not count.
    """
    stride = field.shape[1]
    start = (cell[0] + 1) * stride + cell[1] + 1
    length = int(field[cell[0] + 1, cell[1] + 1])
    if length <= 0:  # it is there, where it may be in its own way
        return False
    way = np.empty(length, np.int32)
    for turned in (False, True):  # two of the shortest ways: one turns as soon, the other as late as can be
        _follow(field.reshape(-1), stride, start, turned, way)
        if state.taken.isdisjoint(way.tolist()):
            return True
    return False


def agents_on_way(state: SymbolicState, field: Distances, cell: Cell) -> Iterator[AgentId]:
    """Yield the agents on the shortest way that ``first_step`` leads, from a cell that a way leads from."""
    stride = field.shape[1]
    way = np.empty(int(field[cell[0] + 1, cell[1] + 1]), np.int32)
    _follow(field.reshape(-1), stride, (cell[0] + 1) * stride + cell[1] + 1, False, way)
    for place in way.tolist():
        if place in state.taken:
            row, col = divmod(place, stride)
            yield state.by_cell[row - 1, col - 1]


@compiled
def _follow(field: Distances, stride: int, cell: int, turned: bool, way: Distances) -> None:
    """Write the cells of a shortest way, without the first: ties go to the first, or last, of up, down, left, right."""
    for step in range(len(way)):
        least, best = field[cell], cell
        for number in range(4):
            side = 3 - number if turned else number
            if side == 0:
                near = cell - stride
            elif side == 1:
                near = cell + stride
            elif side == 2:
                near = cell - 1
            else:
                near = cell + 1
            if 0 <= field[near] < least:
                least, best = field[near], near
        cell = best
        way[step] = cell


def _distances(grid: Codes, targets: Iterable[Cell]) -> Distances:
    flat, stride = grid.reshape(-1), grid.shape[1]
    cells = [(row + 1) * stride + col + 1 for row, col in targets if grid[row + 1, col + 1] == 0]
    queue = np.empty(flat.size, np.int32)
    queue[: len(cells)] = cells
    distance = np.full(flat.size, -1, np.int32)
    _flood(flat, stride, queue, len(cells), distance)
    return distance.reshape(grid.shape)


def first_step(field: Distances, cell: Cell) -> tuple[str, int] | None:
    """Return the direction of the first step of a shortest path, and its length; None if there is no way.

    Ties go to the first of up, down, left, right. The cell itself may be an obstacle.
    """
    best: tuple[str, int] | None = None
    for side in SIDES:
        rows, cols = DELTA[side]
        steps = int(field[cell[0] + rows + 1, cell[1] + cols + 1])
        if steps >= 0 and (best is None or steps + 1 < best[1]):
            best = side, steps + 1
    return best


def path_length(field: Distances, cell: Cell) -> int | None:
    """Return the steps from a cell to the nearest target, 0 if it is one; None if there is no way."""
    steps = int(field[cell[0] + 1, cell[1] + 1])
    if steps >= 0:
        return steps
    way = first_step(field, cell)
    return way[1] if way is not None else None


def straight_runs(field: Distances, cell: Cell) -> list[tuple[str, int]]:
    """Return a shortest path as straight runs: (direction, cells) each."""
    runs: list[tuple[str, int]] = []
    while field[cell[0] + 1, cell[1] + 1] != 0 and (way := first_step(field, cell)) is not None:
        side = way[0]
        cell = cell[0] + DELTA[side][0], cell[1] + DELTA[side][1]
        if runs and runs[-1][0] == side:
            runs[-1] = side, runs[-1][1] + 1
        else:
            runs.append((side, 1))
    return runs


def find_better_place(state: SymbolicState, agent: AgentId, block: int, face: str) -> Cell | None:
    """Return the best free cell to line up on that an aligned agent can reach and that is better than its own, if any.

    None for an agent that is not aligned with the face.
    """
    if face_of(state, agent, block) != face:
        return None
    at = state.agents[agent]
    ends = lines(state, block, face)
    own = next(((line.taken.index(at), line.offset) for line in ends if at in line.taken), None)
    for rank, cell in targets(state, block, face):
        if own is None or rank >= own:
            return None
        if first_step(distances(state, (cell,)), at) is not None:
            return cell
    return None
