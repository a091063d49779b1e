"""What CUBE shows as arrays: the five-channel picture of the grid, and the lists that go with it (CUBE spec A9, B15).

The picture of one environment is kept up to date edge by edge as things move, and copied once for each step that
somebody looks at. Copies are read-only and never change, so all agents can share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np

from teamworld.worlds.cube.physics import compiled, u
from teamworld.worlds.cube.state import (
    BLOCK_FIELDS,
    BLOCK_WEIGHT,
    COL,
    DELIVERED_AT,
    DOWN,
    LEFT,
    MOVED_AT,
    MOVED_DIR,
    RIGHT,
    ROW,
    UP,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState

#: Channels of an observation: agent present, weight of the block, goal column, agent index + 1, block id + 1.
AGENT, WEIGHT, GOAL, AGENT_INDEX, BLOCK_ID = range(5)
CHANNELS = 5

Row = TypeVar("Row")


def largest_value(state: CubeState, env: int = 0) -> int:
    """Return the largest number an observation can hold: max(n, heaviest weight, number of blocks)."""
    weights = (int(weight) for weight in state.block_weight[env])
    return max(state.num_agents, state.num_blocks, *weights)


def render_array(state: CubeState, env: int = 0) -> npt.NDArray[np.float32]:
    """Build the (K, K, 5) float32 observation of one environment from its grid, O(cells)."""
    codes = state.grid[env, 1:-1, 1:-1].astype(np.int32)
    array = np.zeros((*codes.shape, CHANNELS), np.float32)
    array[:, :, AGENT] = codes < 0
    array[:, :, AGENT_INDEX] = np.maximum(-codes, 0)
    array[:, :, BLOCK_ID] = np.maximum(codes, 0)
    array[:, :, WEIGHT] = np.append(0, state.block_weight[env])[np.maximum(codes, 0)]
    array[:, -1, GOAL] = 1.0
    return array


class Observer:
    """Keeps the observation of one environment up to date while the state is stepped.

    Call ``look`` after every step; after skipped steps or a new episode call ``restart`` first.
    """

    def __init__(self, state: CubeState, env: int = 0) -> None:
        self._state = state
        self._env = env
        self.restart()

    def restart(self) -> None:
        """Build everything anew, for a new episode."""
        self._array = render_array(self._state, self._env)
        self._shown = self._state.agent_cell[self._env].copy()
        self._step = int(self._state.steps[self._env])

    def look(self) -> npt.NDArray[np.float32]:
        """Return the observation of now: a fresh read-only array of shape (K, K, 5), float32."""
        state, env = self._state, self._env
        now = int(state.steps[env])
        if now == self._step + 1:
            agents, blocks = state.agent_cell[env], state.blocks[env].reshape(-1)
            sizes = (state.num_agents, state.num_blocks, state.grid_size)
            _update(self._array.reshape(-1), self._shown, agents, blocks, now, *sizes)
            self._step = now
        elif now != self._step:
            self.restart()
        fresh = self._array.copy()
        fresh.flags.writeable = False
        return fresh

    def windows(self, radius: int) -> list[npt.NDArray[np.float32]]:
        """Return one read-only (K, K, 5) array per agent, blank further than ``radius`` away from it.

        The distance is the larger of the row and column distances, so the window is a square of side
        2 * radius + 1 around the agent. The goal channel is always whole. Call ``look`` first.
        """
        blank = np.zeros_like(self._array)
        blank[:, -1, GOAL] = 1.0
        arrays = []
        for row, col in self._state.agent_positions(self._env).tolist():
            window = (slice(max(row - radius, 0), row + radius + 1), slice(max(col - radius, 0), col + radius + 1))
            own = blank.copy()
            own[window] = self._array[window]
            own.flags.writeable = False
            arrays.append(own)
        return arrays


@compiled
def _update(
    array: npt.NDArray[np.float32],
    shown: npt.NDArray[np.int32],
    agent_cell: npt.NDArray[np.int32],
    blocks: npt.NDArray[np.int32],
    now: int,
    num_agents: int,
    num_blocks: int,
    grid_size: int,
) -> None:
    """Bring the flat observation ``array`` from the step before ``now`` to ``now``.

    What has left a cell is wiped everywhere before anything is drawn, since most cells that are entered were left
    in the same step. ``shown`` holds the agents' cells in the array, ``agent_cell`` those to show.
    """
    stride = grid_size + 2
    for i in range(num_agents):
        if shown[u(i)] != agent_cell[u(i)]:
            old = int(shown[u(i)])
            pixel = ((old // stride - 1) * grid_size + old % stride - 1) * CHANNELS
            array[u(pixel + AGENT)] = 0.0
            array[u(pixel + AGENT_INDEX)] = 0.0
    for phase in range(2):
        for b in range(num_blocks):
            at = b * BLOCK_FIELDS
            if blocks[u(at + MOVED_AT)] != now:
                continue
            delivered = blocks[u(at + DELIVERED_AT)] == now
            if phase == 1 and delivered:
                continue
            side = int(blocks[u(at + BLOCK_WEIGHT)])
            row = int(blocks[u(at + ROW)])
            col = int(blocks[u(at + COL)])
            direction = blocks[u(at + MOVED_DIR)]
            height, width = side, side
            # Phase 0 wipes the trailing edge, which the block has just left, or all of a delivered block (which
            # moved RIGHT); phase 1 draws the leading edge.
            if delivered:
                col -= 1
            elif direction in (UP, DOWN):
                height = 1
                if phase == 0:
                    row += side if direction == UP else -1
                elif direction == DOWN:
                    row += side - 1
            else:
                width = 1
                if phase == 0:
                    col += side if direction == LEFT else -1
                elif direction == RIGHT:
                    col += side - 1
            weight = np.float32(side if phase == 1 else 0)
            number = np.float32(b + 1 if phase == 1 else 0)
            for r in range(row, row + height):
                pixel = (r * grid_size + col) * CHANNELS
                for _ in range(width):
                    array[u(pixel + WEIGHT)] = weight
                    array[u(pixel + BLOCK_ID)] = number
                    pixel += CHANNELS
    for i in range(num_agents):
        if shown[u(i)] != agent_cell[u(i)]:
            new = int(agent_cell[u(i)])
            shown[u(i)] = agent_cell[u(i)]
            pixel = ((new // stride - 1) * grid_size + new % stride - 1) * CHANNELS
            array[u(pixel + AGENT)] = 1.0
            array[u(pixel + AGENT_INDEX)] = i + 1


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


class Listing(Sequence[Row]):
    """A tuple that is made when first read: the step info costs nothing if nobody looks at it."""

    __slots__ = ("_make", "_rows")

    def __init__(self, make: Callable[[], tuple[Row, ...]]) -> None:
        self._make: Callable[[], tuple[Row, ...]] | None = make
        self._rows: tuple[Row, ...] = ()

    def _all(self) -> tuple[Row, ...]:
        if self._make is not None:
            self._rows, self._make = self._make(), None
        return self._rows

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        """Return a row, or a tuple of rows."""
        return self._all()[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        """Compare as a tuple; equal to a tuple, list or listing of the same rows."""
        return self._all() == tuple(other) if isinstance(other, (Listing, tuple, list)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have no hash

    def __repr__(self) -> str:
        """Show the rows."""
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows, not the recipe."""
        return _listing, (self._all(),)


def _listing(rows: tuple[Row, ...]) -> Listing[Row]:
    return Listing(lambda: rows)


def info_lists(state: CubeState, names: Sequence[str], env: int = 0) -> tuple[Listing[AgentRow], Listing[BlockRow]]:
    """Return the agents and the blocks of now as lazy lists; they do not change when the state does (CUBE spec A9)."""
    cells, blocks, stride = state.agent_cell[env].copy(), state.blocks[env].copy(), state.stride

    def agents() -> tuple[AgentRow, ...]:
        places = (divmod(cell, stride) for cell in cells.tolist())
        return tuple(AgentRow(names[i], i, (row - 1, col - 1)) for i, (row, col) in enumerate(places))

    def live_blocks() -> tuple[BlockRow, ...]:
        rows = enumerate(blocks.tolist())
        return tuple(BlockRow(b, at[BLOCK_WEIGHT], (at[ROW], at[COL])) for b, at in rows if not at[DELIVERED_AT])

    return Listing(agents), Listing(live_blocks)
