"""Start environments anew in compiled code: place agents and blocks by seed, and load them into the state.

A short episode of a small team takes less time than one placement in Python (``levels.generate``). The kernel places by
the same rules and turns the same random numbers into the same layouts: each environment has a stream of its own,
whose raw words are drawn ahead by numpy and read here as numpy reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds.cube.levels import ATTEMPTS, no_room
from teamworld.worlds.cube.state import (
    AT_AGENTS,
    AT_BLOCKS,
    AT_EPISODES,
    AT_FROM,
    AT_PUSHED,
    AT_PUSHES,
    BLOCK_FIELDS,
    BLOCK_WEIGHT,
    BLOCKS_LEFT,
    COL,
    DELIVER_REWARD,
    EPISODE_FIELDS,
    GRID_SIZE,
    NUM_AGENTS,
    NUM_BLOCKS,
    NUM_ENVS,
    PUSH_FIELDS,
    ROW,
    WALL,
)
from teamworld.worlds.kernel_compiler import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState, Layout

#: What the kernel says when it cannot go on: the drawn words are used up, or no placement was found.
_THIRSTY, _FULL = 1, 2


class AutoReset:
    """Restarts environments of one state, each from its own stream of placements, or all from one fixed layout."""

    def __init__(self, state: CubeState, first: Layout, stream: str | None) -> None:
        """Prepare; call ``seed`` before the first ``restart``.

        Args:
            state: The environments.
            first: The fixed layout, or any layout of the stream.
            stream: Name of the stream of placements, as ``parallel_env`` uses it; None for a fixed layout.
        """
        self._state = state
        self._stream = stream
        self._bits: list[np.random.BitGenerator | None] = [None] * state.num_envs
        # Enough for several placements: one takes a permutation of the rows, and one number for each block.
        width = max(256, state.grid_size + state.num_blocks)
        self._words = np.zeros((state.num_envs, width), np.uint64)
        self._used = np.zeros(state.num_envs, np.int64)
        self._weights = np.array(first.weights, np.int32)
        cells = (state.cell(*at) for at in (*first.agents, *((block.row, block.col) for block in first.blocks)))
        self._places = np.array([*cells], np.int32)
        self._work = np.zeros(state.grid_size**2 + 2 * state.grid_size, np.int32)

    def seed(self, env: int, seed: int) -> None:
        """Begin the stream of ``seed`` in environment ``env``."""
        if self._stream is not None:
            self._bits[env] = generator(seed, "cube", "layout", self._stream).bit_generator
            self._used[env] = 2 * self._words.shape[1]

    def restart(self, envs: npt.NDArray[np.int32]) -> None:
        """Place and load the next episode of each of ``envs``, which are seeded; a C-contiguous int32 array.

        Raises:
            UserError: If no placement was found, see ``levels.generate``.
        """
        done, fixed = 0, self._stream is None
        tables = (self._weights, self._places, self._work)
        while True:
            streams = (self._words, self._used)
            done, problem = _restart(envs, done, fixed, *streams, *tables, *self._state.kernel_args)
            if problem == 0:
                return
            if problem == _FULL:
                raise UserError(no_room(self._state.grid_size, self._weights.tolist()))
            self._refill(int(envs[done]))

    def _refill(self, env: int) -> None:
        """Draw the next words of one environment, behind those that it has not used up."""
        gone = int(self._used[env]) // 2
        if gone == 0:
            self._widen()
            return
        bits, row = self._bits[env], self._words[env]
        assert bits is not None
        row[:-gone] = row[gone:].copy()
        row[-gone:] = bits.random_raw(gone)
        self._used[env] -= 2 * gone

    def _widen(self) -> None:
        """Double the words of all environments: one placement took more than a row of them."""
        width = self._words.shape[1]
        more = [np.zeros(width, np.uint64) if bits is None else bits.random_raw(width) for bits in self._bits]
        self._words = np.concatenate((self._words, np.array(more)), axis=1)


@compiled
def _half(words: npt.NDArray[np.uint64], k: int) -> int:
    """Return the k-th 32 random bits: numpy's PCG64 hands out the low half of a word first."""
    word = words[k >> 1]
    return int((word >> np.uint64(32)) if k & 1 else (word & np.uint64(0xFFFFFFFF)))


@compiled
def _below(words: npt.NDArray[np.uint64], used: int, limit: int) -> tuple[int, int]:
    """Return a number under ``limit`` as ``Generator.integers`` draws it, and the halves used; -1 if there are too few.

    Lemire, Fast random integer generation in an interval, ACM TOMACS 29(1), 2019.
    """
    if limit == 1:
        return 0, used
    least = (1 << 32) % limit
    while used < 2 * len(words):
        product = _half(words, used) * limit
        used += 1
        if product & 0xFFFFFFFF >= least:
            return product >> 32, used
    return -1, used


@compiled
def _up_to(words: npt.NDArray[np.uint64], used: int, most: int) -> tuple[int, int]:
    """Return a number up to ``most`` as ``Generator.permutation`` draws it: masked bits, refused if too large."""
    mask = 1
    while mask < most:
        mask = 2 * mask + 1
    while used < 2 * len(words):
        number = _half(words, used) & mask
        used += 1
        if number <= most:
            return number, used
    return -1, used


@compiled
def _place(
    words: npt.NDArray[np.uint64],
    used: int,
    weights: npt.NDArray[np.int32],
    places: npt.NDArray[np.int32],
    work: npt.NDArray[np.int32],
    num_agents: int,
    side: int,
) -> tuple[int, int]:
    """Fill ``places`` with the cells of agents and blocks; return the halves used and what went wrong, else 0.

    The rules and the use of random numbers are those of ``levels.generate``. ``work`` holds for each top-left cell
    whether it is taken, for blocks of the weight at hand; then the free cells of each row; then a permutation.
    """
    stride = side + 2
    at_free = side * side
    at_rows = at_free + side
    for i in range(side):
        work[at_rows + i] = i
    for i in range(side - 1, 0, -1):
        j, used = _up_to(words, used, i)
        if j < 0:
            return used, _THIRSTY
        row = int(work[at_rows + i])
        work[at_rows + i] = work[at_rows + j]
        work[at_rows + j] = row
    for i in range(num_agents):
        places[i] = (int(work[at_rows + i]) + 1) * stride + 1
    for _ in range(ATTEMPTS):
        placed = 0
        width, known, room = 0, 0, 0
        for b in range(len(weights)):
            weight = int(weights[b])
            if b == 0 or weight != weights[b - 1]:
                width, known = side - weight - 2, 0
                room = width * width
                for k in range(room):
                    work[k] = 0
                for row in range(width):
                    work[at_free + row] = width
            while known < b:  # a moat of one cell round each block that stands
                cell, other = int(places[num_agents + known]), int(weights[known])
                row, col = cell // stride - 1, cell % stride - 1
                for r in range(max(row - weight - 1, 0), min(row + other, width)):
                    for c in range(max(col - weight - 1, 0), min(col + other, width)):
                        free = 1 - int(work[r * width + c])
                        work[r * width + c] = 1
                        work[at_free + r] -= free
                        room -= free
                known += 1
            if room == 0:
                break
            choice, used = _below(words, used, room)
            if choice < 0:
                return used, _THIRSTY
            row = 0
            while choice >= work[at_free + row]:
                choice -= int(work[at_free + row])
                row += 1
            k = row * width
            while choice > 0 or work[k] != 0:
                choice -= 1 - int(work[k])
                k += 1
            places[num_agents + b] = (row + 2) * stride + k - row * width + 2
            placed += 1
        if placed == len(weights):
            return used, 0
    return used, _FULL


@compiled
def _restart(
    envs: npt.NDArray[np.int32],
    done: int,
    fixed: bool,
    words: npt.NDArray[np.uint64],
    used: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int32],
    places: npt.NDArray[np.int32],
    work: npt.NDArray[np.int32],
    grid: npt.NDArray[np.int16],
    arena: npt.NDArray[np.int32],
    rewards: npt.NDArray[np.float64],
    ended: npt.NDArray[np.bool_],
) -> tuple[int, int]:
    """Restart ``envs`` from the one at ``done`` on; return how many are done and what went wrong, else 0."""
    num_envs = int(arena[NUM_ENVS])
    num_agents = int(arena[NUM_AGENTS])
    num_blocks = int(arena[NUM_BLOCKS])
    side = int(arena[GRID_SIZE])
    stride = side + 2
    for k in range(done, len(envs)):
        env = int(envs[k])
        if not fixed:
            position, problem = _place(words[env], used[env], weights, places, work, num_agents, side)
            if problem != _THIRSTY:  # else it is placed again, from the same number on
                used[env] = position
            if problem != 0:
                return k, problem
        rewards[DELIVER_REWARD + 1 + env] = 0.0
        ended[env] = False
        ended[num_envs + env] = False
        episode = arena[AT_EPISODES] + env * EPISODE_FIELDS
        arena[episode : episode + EPISODE_FIELDS] = 0
        arena[episode + BLOCKS_LEFT] = num_blocks
        block0 = arena[AT_BLOCKS] + env * num_blocks * BLOCK_FIELDS
        arena[block0 : block0 + num_blocks * BLOCK_FIELDS] = 0
        push0 = arena[AT_PUSHES] + env * num_blocks * 4 * PUSH_FIELDS
        arena[push0 : push0 + num_blocks * 4 * PUSH_FIELDS] = 0
        cells = grid[env * stride * stride : (env + 1) * stride * stride]
        cells[:] = WALL
        for row in range(1, side + 1):
            cells[row * stride + 1 : row * stride + 1 + side] = 0
        for i in range(num_agents):
            cell = places[i]
            cells[cell] = -(i + 1)
            arena[arena[AT_AGENTS] + env * num_agents + i] = cell
            arena[arena[AT_FROM] + env * num_agents + i] = cell
            arena[arena[AT_PUSHED] + env * num_agents + i] = 0
        for b in range(num_blocks):
            cell, weight = places[num_agents + b], weights[b]
            at = block0 + b * BLOCK_FIELDS
            arena[at + ROW] = cell // stride - 1
            arena[at + COL] = cell % stride - 1
            arena[at + BLOCK_WEIGHT] = weight
            for row in range(weight):
                cells[cell + row * stride : cell + row * stride + weight] = b + 1
    return len(envs), 0
