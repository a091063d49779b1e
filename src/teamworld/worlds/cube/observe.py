"""CUBE's observations as arrays: the five-channel picture of the grid, windows around agents, and the step info.

Pictures are updated edge by edge as things move, and copied once for each step that is read. Copies are read-only and
never change, so all agents can share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from teamworld.worlds.cube.physics import u
from teamworld.worlds.cube.state import (
    AT_AGENTS,
    AT_BLOCKS,
    AT_EPISODES,
    BLOCK_FIELDS,
    BLOCK_WEIGHT,
    COL,
    DELIVERED_AT,
    DOWN,
    EPISODE_FIELDS,
    GRID_SIZE,
    LEFT,
    MOVED_AT,
    MOVED_DIR,
    NUM_AGENTS,
    NUM_BLOCKS,
    NUM_ENVS,
    RIGHT,
    ROW,
    STEPS_DONE,
    UP,
)
from teamworld.worlds.kernel_compiler import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState

#: Channels of an observation: agent present, weight of the block, goal column, agent index + 1, block id + 1.
AGENT, WEIGHT, GOAL, AGENT_INDEX, BLOCK_ID = range(5)
CHANNELS = 5
#: What each channel of a picture tells, in their order; with an indicator ``self`` comes last.
CHANNEL_NAMES = ("agents", "block_weights", "goal", "agent_ids", "block_ids")

Row = TypeVar("Row")


def largest_value(state: CubeState, env: int = 0) -> int:
    """Return the largest number an observation can hold: max(n, heaviest weight, number of blocks)."""
    weights = (int(weight) for weight in state.block_weight[env])
    return max(state.num_agents, state.num_blocks, *weights)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


class Pictures:
    """Keeps the observations of all environments of a state up to date while it is stepped.

    Call ``look`` after every step; environments that were loaded anew have to be told to ``restart`` first.
    """

    def __init__(self, state: CubeState, envs: slice = slice(None)) -> None:
        """Show the environments ``envs`` of ``state``."""
        self._state = state
        self._envs = envs
        self.shape = (len(state.reward[envs]), state.grid_size, state.grid_size, CHANNELS)
        self.array = np.zeros(self.shape, np.float32)
        """The pictures of the last look."""
        self._shown = np.zeros_like(state.agent_cell[envs])
        self._seen = np.full(len(self._shown), -1, np.int32)
        self._bind()

    def _bind(self) -> None:
        """Make what the kernel takes: once, and anew in a copy."""
        state = self._state
        arrays = (state.grid, state.agent_cell, state.blocks, state.episodes)
        flat = (part[self._envs].reshape(-1) for part in arrays)
        sizes = (state.num_agents, state.num_blocks, state.grid_size)
        self._args: tuple[Any, ...] = (self.array.reshape(-1), self._shown.reshape(-1), self._seen, *flat, *sizes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_args"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._bind()

    def restart(self, envs: npt.NDArray[np.int32] | slice = slice(None)) -> None:
        """Have ``envs`` drawn anew at the next look, whatever happened to them."""
        self._seen[envs] = -1

    def look(self, copy: bool = True) -> npt.NDArray[np.float32]:
        """Return the pictures of now: float32 of shape (E, K, K, 5).

        They are a fresh array, or without ``copy`` a read-only one that the next look overwrites.
        """
        _update_pictures(*self._args)
        return self.array.copy() if copy else frozen(self.array)


class Observer:
    """Keeps the observation of one environment up to date while the state is stepped.

    Call ``look`` after every step; after a new episode call ``restart`` first.
    """

    def __init__(self, state: CubeState, env: int = 0) -> None:
        """Watch environment ``env`` of ``state``."""
        self._state = state
        self._env = env
        self._pictures = Pictures(state, slice(env, env + 1))

    def restart(self) -> None:
        """Build everything anew at the next look, for a new episode."""
        self._pictures.restart()

    def look(self) -> npt.NDArray[np.float32]:
        """Return the observation of now: a fresh read-only array of shape (K, K, 5), float32."""
        fresh: npt.NDArray[np.float32] = self._pictures.look()[0]
        fresh.flags.writeable = False
        return fresh

    def windows(self, radius: int) -> list[npt.NDArray[np.float32]]:
        """Return one read-only (K, K, 5) array per agent, blank further than ``radius`` away from it.

        The distance is the larger of the row and column distances, so the window is a square of side
        2 * radius + 1 around the agent. The goal channel is always whole. Call ``look`` first.
        """
        everything = self._pictures.array[0]
        blank = np.zeros_like(everything)
        blank[:, -1, GOAL] = 1.0
        arrays = []
        for row, col in self._state.agent_positions(self._env).tolist():
            window = (slice(max(row - radius, 0), row + radius + 1), slice(max(col - radius, 0), col + radius + 1))
            own = blank.copy()
            own[window] = everything[window]
            own.flags.writeable = False
            arrays.append(own)
        return arrays


#: Classes of cells in a window; a block of weight w is TEAMMATE + w, at most HEAVIEST.
EMPTY, GOAL_COLUMN, OUTSIDE, TEAMMATE = range(4)
HEAVIEST = 255
#: Cells that are copied at once; those beyond the end of a row are overwritten by the next one.
CHUNK = 16


class Windows:
    """Keeps a grid of classes up to date for each environment, and copies what each agent sees of it.

    A cell is EMPTY, of the GOAL_COLUMN, OUTSIDE of the grid, an agent (TEAMMATE; the agent itself in the
    centre), or a block. Agents and blocks hide the goal column. To be used like ``Pictures``.
    """

    def __init__(self, state: CubeState, radius: int) -> None:
        """Prepare windows of side 2 * ``radius`` + 1."""
        self._state = state
        self._radius = radius
        margin = max(radius, 1)  # cells OUTSIDE round each grid; those behind a row are those before the next
        cells = state.num_envs * (state.grid_size + 2 * margin) * (state.grid_size + margin)
        self._classes = np.full(cells + margin + CHUNK, OUTSIDE, np.uint8)
        self._shown = np.full(state.num_envs * (1 + state.num_agents), -1, np.int32)  # see _look_through_windows
        self.shape = (*state.agent_cell.shape, 2 * radius + 1, 2 * radius + 1)
        self._buffer = np.empty(self.shape, np.uint8)

    def restart(self, envs: npt.NDArray[np.int32] | slice = slice(None)) -> None:
        """Have ``envs`` drawn anew at the next look, whatever happened to them."""
        self._shown[:: 1 + self._state.num_agents][envs] = -1

    def look(self, copy: bool = True) -> npt.NDArray[np.uint8]:
        """Return the windows of now: uint8 of shape (E, n, 2R + 1, 2R + 1).

        They are a fresh array, or without ``copy`` a read-only one that the next look overwrites.
        """
        windows = np.empty(self.shape, np.uint8) if copy else self._buffer
        _look_through_windows(windows, self._classes, self._shown, self._state.arena, self._radius)
        return windows if copy else frozen(windows)


@compiled
def _edge(blocks: npt.NDArray[np.int32], at: int, step: int, wipe: bool) -> tuple[int, int, int, int]:
    """Return row, column, height and width of what the block at ``at`` has left (``wipe``) or entered in step ``step``.

    Nothing if it stood. A delivered block, which moved RIGHT, has left all of its cells and entered none.
    """
    row = int(blocks[u(at + ROW)])
    col = int(blocks[u(at + COL)])
    side = int(blocks[u(at + BLOCK_WEIGHT)])
    height, width = side, side
    direction = int(blocks[u(at + MOVED_DIR)])
    delivered = blocks[u(at + DELIVERED_AT)] == step
    if blocks[u(at + MOVED_AT)] != step or (delivered and not wipe):
        height = 0
    elif delivered:
        col -= 1
    elif direction in (UP, DOWN):
        height = 1
        if wipe:
            row += side if direction == UP else -1
        elif direction == DOWN:
            row += side - 1
    else:
        width = 1
        if wipe:
            col += side if direction == LEFT else -1
        elif direction == RIGHT:
            col += side - 1
    return row, col, height, width


# Both kernels wipe what has left a cell everywhere before they draw anything, since most cells that are entered were
# left in the same step. ``shown`` holds the agents' cells in the array, ``seen`` the step it shows, -1 if none.


@compiled
def _update_pictures(
    array: npt.NDArray[np.float32],
    shown: npt.NDArray[np.int32],
    seen: npt.NDArray[np.int32],
    grid: npt.NDArray[np.int16],
    agent_cell: npt.NDArray[np.int32],
    blocks: npt.NDArray[np.int32],
    episodes: npt.NDArray[np.int32],
    num_agents: int,
    num_blocks: int,
    grid_size: int,
) -> None:
    stride = grid_size + 2
    for env in range(len(seen)):
        step = int(episodes[u(env * EPISODE_FIELDS + STEPS_DONE)])
        origin = env * grid_size * grid_size * CHANNELS
        agent0 = env * num_agents
        block0 = env * num_blocks * BLOCK_FIELDS
        if step == seen[env]:
            continue
        fresh = step != seen[env] + 1 or step == 0
        seen[env] = step
        if fresh:
            for row in range(grid_size):
                pixel = origin + row * grid_size * CHANNELS
                cell = env * stride * stride + (row + 1) * stride + 1
                for col in range(grid_size):
                    code = int(grid[u(cell + col)])
                    at = block0 + (code - 1) * BLOCK_FIELDS
                    array[u(pixel + AGENT)] = code < 0
                    array[u(pixel + WEIGHT)] = blocks[u(at + BLOCK_WEIGHT)] if code > 0 else 0
                    array[u(pixel + GOAL)] = col == grid_size - 1
                    array[u(pixel + AGENT_INDEX)] = max(-code, 0)
                    array[u(pixel + BLOCK_ID)] = max(code, 0)
                    pixel += CHANNELS
            for i in range(agent0, agent0 + num_agents):
                shown[u(i)] = agent_cell[u(i)]
            continue
        for i in range(agent0, agent0 + num_agents):
            if shown[u(i)] != agent_cell[u(i)]:
                old = int(shown[u(i)])
                pixel = origin + ((old // stride - 1) * grid_size + old % stride - 1) * CHANNELS
                array[u(pixel + AGENT)] = 0.0
                array[u(pixel + AGENT_INDEX)] = 0.0
        for wipe in (True, False):
            for b in range(num_blocks):
                at = block0 + b * BLOCK_FIELDS
                top, left, height, width = _edge(blocks, at, step, wipe)
                weight = 0 if wipe else int(blocks[u(at + BLOCK_WEIGHT)])
                for row in range(top, top + height):
                    pixel = origin + (row * grid_size + left) * CHANNELS
                    for _ in range(width):
                        array[u(pixel + WEIGHT)] = weight
                        array[u(pixel + BLOCK_ID)] = 0 if wipe else b + 1
                        pixel += CHANNELS
        for i in range(agent0, agent0 + num_agents):
            if shown[u(i)] != agent_cell[u(i)]:
                new = int(agent_cell[u(i)])
                shown[u(i)] = new
                pixel = origin + ((new // stride - 1) * grid_size + new % stride - 1) * CHANNELS
                array[u(pixel + AGENT)] = 1.0
                array[u(pixel + AGENT_INDEX)] = i - agent0 + 1


# One function, although long, for the reason given in physics. Each environment is copied as soon as it is up to date:
# of a batch of large grids only one is in the cache.
@compiled
def _look_through_windows(
    windows: npt.NDArray[np.uint8],
    classes: npt.NDArray[np.uint8],
    shown: npt.NDArray[np.int32],
    arena: npt.NDArray[np.int32],
    radius: int,
) -> None:
    """Bring ``classes`` up to date and copy the windows.

    A record of ``shown`` is the step that the classes of an environment show, -1 if none, then where each agent stands
    among them.
    """
    num_agents = int(arena[NUM_AGENTS])
    num_blocks = int(arena[NUM_BLOCKS])
    grid_size = int(arena[GRID_SIZE])
    at_cells = int(arena[AT_AGENTS])
    stride = grid_size + 2
    across = 1.0 / stride
    margin = max(radius, 1)
    side = grid_size + margin
    first = margin * side + margin  # of cell (0, 0)
    corner = radius * side + radius
    width = 2 * radius + 1
    target = windows.reshape(windows.size)
    to = 0
    for env in range(int(arena[NUM_ENVS])):
        step = int(arena[u(int(arena[AT_EPISODES]) + env * EPISODE_FIELDS + STEPS_DONE)])
        origin = env * (grid_size + 2 * margin) * side
        block0 = int(arena[AT_BLOCKS]) + env * num_blocks * BLOCK_FIELDS
        record = env * (1 + num_agents)
        agent0 = record + 1
        before = int(shown[u(record)])
        fresh = step != before + 1 or step == 0
        if step != before:
            shown[u(record)] = step
            if fresh:
                for row in range(grid_size):
                    at = origin + first + row * side
                    for col in range(grid_size - 1):
                        classes[u(at + col)] = EMPTY
                    classes[u(at + grid_size - 1)] = GOAL_COLUMN
            else:
                for i in range(num_agents):
                    at = origin + int(shown[u(agent0 + i)])
                    classes[u(at)] = GOAL_COLUMN if classes[u(at + 1)] == OUTSIDE else EMPTY
                for b in range(num_blocks):
                    block = block0 + b * BLOCK_FIELDS
                    if arena[u(block + MOVED_AT)] == step:
                        top, left, height, breadth = _edge(arena, block, step, True)
                        for row in range(top, top + height):
                            for col in range(left, left + breadth):
                                classes[u(origin + first + row * side + col)] = EMPTY
            for b in range(num_blocks):
                block = block0 + b * BLOCK_FIELDS
                if arena[u(block + DELIVERED_AT)] == 0 and (fresh or arena[u(block + MOVED_AT)] == step):
                    weight = int(arena[u(block + BLOCK_WEIGHT)])
                    top, left, height, breadth = int(arena[u(block + ROW)]), int(arena[u(block + COL)]), weight, weight
                    if not fresh:
                        top, left, height, breadth = _edge(arena, block, step, False)
                    for row in range(top, top + height):
                        for col in range(left, left + breadth):
                            classes[u(origin + first + row * side + col)] = min(TEAMMATE + weight, HEAVIEST)
            for i in range(num_agents):
                # A division by multiplying: exact, for a cell within the walls lies 1/stride off a whole row at least.
                cell = int(arena[u(at_cells + env * num_agents + i)])
                at = first + cell - stride - 1 + (int(cell * across) - 1) * (side - stride)
                shown[u(agent0 + i)] = at
                classes[u(origin + at)] = TEAMMATE
        for i in range(num_agents):
            begin = origin + int(shown[u(agent0 + i)]) - corner
            if to + width * width + CHUNK > windows.size:
                for _ in range(width):
                    for k in range(width):
                        target[u(to + k)] = classes[u(begin + k)]
                    begin += side
                    to += width
            elif width <= CHUNK:  # a loop over one chunk would take a fifth longer
                for _ in range(width):
                    _copy_chunk(target, u(to), classes, u(begin))
                    begin += side
                    to += width
            else:
                for _ in range(width):
                    for part in range(0, width, CHUNK):
                        _copy_chunk(target, u(to + part), classes, u(begin + part))
                    begin += side
                    to += width


@compiled
def _copy_chunk(target: npt.NDArray[np.uint8], to: u, source: npt.NDArray[np.uint8], at: u) -> None:
    """Copy CHUNK cells: reading all before writing any makes it one load and one store."""
    a, b, c, d = source[at], source[at + u(1)], source[at + u(2)], source[at + u(3)]
    e, f, g, h = source[at + u(4)], source[at + u(5)], source[at + u(6)], source[at + u(7)]
    i, j, k, l = source[at + u(8)], source[at + u(9)], source[at + u(10)], source[at + u(11)]  # noqa: E741
    m, n, o, p = source[at + u(12)], source[at + u(13)], source[at + u(14)], source[at + u(15)]
    target[to], target[to + u(1)], target[to + u(2)], target[to + u(3)] = a, b, c, d
    target[to + u(4)], target[to + u(5)], target[to + u(6)], target[to + u(7)] = e, f, g, h
    target[to + u(8)], target[to + u(9)], target[to + u(10)], target[to + u(11)] = i, j, k, l
    target[to + u(12)], target[to + u(13)], target[to + u(14)], target[to + u(15)] = m, n, o, p


class AgentRow(NamedTuple):
    """One agent in the step info."""

    name: str
    id: int
    position: tuple[int, int]


class BlockRow(NamedTuple):
    """One block in the step info; delivered blocks are not listed."""

    id: int
    weight: int
    position: tuple[int, int]
    """(row, column) of the top-left cell."""


class LazyRows(Sequence[Row]):
    """A tuple that is made when first read: the step info costs nothing if nobody looks at it."""

    def __init__(self, make: Callable[..., Iterator[Row]], *args: object) -> None:
        self._make, self._args = make, args

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(self._make(*self._args))

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  (as of a tuple)
        """Return a row, or a tuple of rows."""
        return self.rows[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        """Compare as a tuple; equal to a tuple, list or listing of the same rows."""
        return self.rows == tuple(other) if isinstance(other, (LazyRows, tuple, list)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have no hash

    def __repr__(self) -> str:
        """Show the rows."""
        return repr(self.rows)


def info_lists(state: CubeState, names: Sequence[str], env: int = 0) -> tuple[LazyRows[AgentRow], LazyRows[BlockRow]]:
    """Return the agents and the blocks of now as lazy lists; they do not change when the state does."""
    cells, blocks = state.agent_cell[env].copy(), state.blocks[env].copy()
    return LazyRows(_agent_rows, names, cells, state.stride), LazyRows(_block_rows, blocks)


def _agent_rows(names: Sequence[str], cells: npt.NDArray[np.int32], stride: int) -> Iterator[AgentRow]:
    for i, (row, col) in enumerate(divmod(cell, stride) for cell in cells.tolist()):
        yield AgentRow(names[i], i, (row - 1, col - 1))


def _block_rows(blocks: npt.NDArray[np.int32]) -> Iterator[BlockRow]:
    for b, at in enumerate(blocks.tolist()):
        if not at[DELIVERED_AT]:
            yield BlockRow(b, at[BLOCK_WEIGHT], (at[ROW], at[COL]))
