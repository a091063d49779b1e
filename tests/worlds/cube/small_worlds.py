"""The fewest steps from all states of two agents on a small grid, each step of each state played by the physics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import Block, CubeState, Layout, make_state

CHUNK = 20_000
FAR = 10_000

Numbers = npt.NDArray[np.int64]


class SmallWorld(NamedTuple):
    """Two agents and blocks on a grid. A state is a pair of cells, and a place of each block; the last is delivered."""

    size: int
    weights: tuple[int, ...]

    @property
    def pairs(self) -> Numbers:
        """(pairs, 2): the cells of both agents."""
        return np.array(list(permutations(range(self.size**2), 2)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Pairs of cells, and places of each block."""
        return len(self.pairs), *((self.size + 1 - w) * (self.size - w) + 1 for w in self.weights)

    def find_optima(self) -> Numbers:
        """Return the fewest steps from each state, ``FAR`` from those that cannot be or cannot be done."""
        count = int(np.prod(self.shape))
        after, possible = np.zeros((25, count), np.int32), np.zeros(count, np.bool_)
        for first in range(0, count, CHUNK):
            numbers = np.arange(first, min(count, first + CHUNK))
            state = self._build(numbers)
            possible[numbers] = ~state.terminated
            arrays: tuple[npt.NDArray[Any], ...] = (state.grid, state.arena, state.rewards, state.ended)
            copies = [array.copy() for array in arrays]
            for code, actions in enumerate(product(range(5), repeat=2)):
                for array, copy in zip(arrays, copies, strict=True):
                    array[...] = copy
                step(state, np.tile(np.array(actions, np.int8), (len(numbers), 1)))
                after[code, numbers] = self._read(state)
        steps = np.full(count, FAR, np.int64)
        steps.reshape(self.shape[0], -1)[:, -1] = 0  # all delivered
        while True:
            better = np.where(possible, np.minimum(steps, 1 + steps[after].min(axis=0)), steps)
            if (better == steps).all():
                return steps.reshape(self.shape)
            steps = better

    def list_layouts(self, steps: Numbers, rng: np.random.Generator) -> Iterator[tuple[Layout, int]]:
        """Yield layouts with their optimum, in random order."""
        undelivered = (slice(None), *(slice(places - 1) for places in self.shape[1:]))
        starts = np.argwhere(steps[undelivered] < FAR)
        for pair, *places in rng.permutation(starts):
            agents = tuple(divmod(int(cell), self.size) for cell in self.pairs[pair])
            blocks = tuple(Block(w, *divmod(int(k), self.size - w)) for w, k in zip(self.weights, places, strict=True))
            yield Layout(self.size, agents, blocks), int(steps[(pair, *places)])

    def _build(self, numbers: Numbers) -> CubeState:
        """Return environments with these states; what cannot be is finished."""
        pair, *places = np.unravel_index(numbers, self.shape)
        any_layout = Layout(
            self.size,
            ((0, 0), (0, 1)),
            tuple(Block(w, 1, sum(self.weights[:number])) for number, w in enumerate(self.weights)),
        )
        state = make_state([any_layout] * len(numbers))
        envs = np.arange(len(numbers))
        inner = state.grid[:, 1:-1, 1:-1]
        inner[...] = 0
        impossible = np.zeros(len(numbers), np.bool_)
        for number, (weight, place) in enumerate(zip(self.weights, places, strict=True)):
            gone = place == self.shape[1 + number] - 1
            row, col = np.divmod(np.where(gone, 0, place), self.size - weight)
            state.block_row[:, number], state.block_col[:, number] = row, col
            state.delivered_at[:, number] = gone
            state.blocks_left[:] -= gone
            for down, right in product(range(weight), repeat=2):
                cell = envs[~gone], (row + down)[~gone], (col + right)[~gone]
                impossible[~gone] |= inner[cell] != 0
                inner[cell] = number + 1
        for agent in range(2):
            row, col = np.divmod(self.pairs[pair, agent], self.size)
            impossible |= inner[envs, row, col] != 0
            inner[envs, row, col] = -(agent + 1)
            state.agent_cell[:, agent] = state.agent_from[:, agent] = (row + 1) * state.stride + col + 1
        state.terminated[:] = impossible | (state.blocks_left == 0)
        return state

    def _read(self, state: CubeState) -> Numbers:
        rows, cols = np.divmod(state.agent_cell.astype(np.int64), state.stride)
        one, two = ((rows - 1) * self.size + cols - 1).T
        pair = one * (self.size**2 - 1) + two - (two > one)
        places = (
            np.where(
                state.delivered_at[:, number] > 0,
                self.shape[1 + number] - 1,
                state.block_row[:, number] * (self.size - weight) + state.block_col[:, number],
            )
            for number, weight in enumerate(self.weights)
        )
        return np.ravel_multi_index((pair, *places), self.shape)
