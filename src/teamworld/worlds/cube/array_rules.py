"""CUBE by numbers: what ``parallel_env`` and ``vector_env`` show an agent, made from what its view says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from teamworld.errors import UserError
from teamworld.language import Action
from teamworld.worlds.contract import ArrayReader, View
from teamworld.worlds.cube.observe import (
    AGENT,
    AGENT_INDEX,
    BLOCK_ID,
    CHANNELS,
    EMPTY,
    GOAL,
    GOAL_COLUMN,
    HEAVIEST,
    OUTSIDE,
    TEAMMATE,
    WEIGHT,
)
from teamworld.worlds.cube.state import ACTIONS
from teamworld.worlds.cube.symbolic_state import PRIMITIVE, read_state

if TYPE_CHECKING:
    import numpy.typing as npt

_DIRECTIONS: Final = {number: side for side, number in PRIMITIVE.items()}


class CubeArrays:
    """``contract.ArrayRules`` for CUBE.

    Args:
        side: K, cells on a side of the grid.
        radius: How far agents see, in rows and columns; None if they see everything.
    """

    def __init__(self, side: int, radius: int | None) -> None:
        self._side, self._radius = side, radius

    @property
    def actions(self) -> Sequence[Action]:
        """Stay, up, down, left, right: the numbers of ``parallel_env``."""
        return tuple(
            Action("move", (_DIRECTIONS[number], 1)) if number in _DIRECTIONS else Action("idle", (1,))
            for number in range(len(ACTIONS))
        )

    def reader(self, shape: Sequence[int | None]) -> ArrayReader:
        """Return what makes observations of a shape.

        (K, K, 5) and (K, K, 6) are those of ``parallel_env`` without and with ``agent_indicator``; (2R + 1, 2R + 1) is
        the window of radius R that ``vector_env`` shows.

        Raises:
            UserError: There is none of this shape, or agents do not see so far.
        """
        side = self._side
        match tuple(shape):
            case (int() | None as rows, int() | None as columns, 5 | 6 as channels) if {rows, columns} <= {side, None}:
                return lambda view: self._picture(view, channels)
            case (int(rows), int(columns)) if rows == columns and rows % 2:
                if self._radius is not None and rows // 2 > self._radius:
                    raise UserError(f"got a window of radius {rows // 2}, and agents see {self._radius} cells far")
                return lambda view: self._window(view, rows // 2)
        wanted = ", ".join("?" if length is None else str(length) for length in shape)
        raise UserError(
            f"CUBE on a grid of side {side} shows an agent arrays of shape ({side}, {side}, 5), with agent_indicator "
            f"({side}, {side}, 6), or in windows of radius R (2R + 1, 2R + 1); got ({wanted})"
        )

    def _picture(self, view: View, channels: int) -> npt.NDArray[Any]:
        state = read_state(view.facts)
        picture = np.zeros((self._side, self._side, channels), np.float32)
        for block, square in state.open_blocks:
            rows, columns = slice(square.row, square.row + square.weight), slice(square.col, square.col + square.weight)
            picture[rows, columns, WEIGHT] = square.weight
            picture[rows, columns, BLOCK_ID] = block + 1
        for agent, cell in state.agents.items():
            picture[*cell, AGENT] = 1
            picture[*cell, AGENT_INDEX] = int(agent.rpartition("_")[2]) + 1
        own = state.agents[view.agent]
        if self._radius is not None:  # a block may reach out of sight
            hidden = np.ones(picture.shape[:2], np.bool_)
            hidden[tuple(slice(max(at - self._radius, 0), at + self._radius + 1) for at in own)] = False
            picture[hidden] = 0
        picture[:, -1, GOAL] = 1
        if channels > CHANNELS:
            picture[*own, CHANNELS] = 1
        return picture

    def _window(self, view: View, radius: int) -> npt.NDArray[Any]:
        state = read_state(view.facts)
        classes = np.full((self._side + 2 * radius,) * 2, OUTSIDE, np.uint8)
        grid = classes[radius : radius + self._side, radius : radius + self._side]
        grid[:], grid[:, -1] = EMPTY, GOAL_COLUMN
        for _, square in state.open_blocks:
            across = slice(square.row, square.row + square.weight), slice(square.col, square.col + square.weight)
            grid[across] = min(TEAMMATE + square.weight, HEAVIEST)
        for cell in state.agents.values():
            grid[cell] = TEAMMATE
        row, column = state.agents[view.agent]
        return classes[row : row + 2 * radius + 1, column : column + 2 * radius + 1]
