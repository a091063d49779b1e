"""Which agent an observation is of: a number for each agent at its end, 1 for the agent itself.

One network for all agents needs it wherever their observations would be alike (parameter sharing with an agent
indicator, Terry et al. 2020, arXiv:2005.13625).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.base.array_interface import spaces

if TYPE_CHECKING:
    import numpy.typing as npt

#: Where a dictionary of observations has its row of numbers.
ROW = "observation"
Observation = TypeVar("Observation")


def indicator_names(agents: Sequence[str]) -> tuple[str, ...]:
    """Return what the added numbers are called."""
    return tuple(f"is_{agent}" for agent in agents)


def with_indicator(observation: Observation, number: int, agents: int) -> Observation:
    """Return an observation, or its part ``observation``, with the numbers at its end.

    Args:
        observation: A row of L numbers, or a dictionary with one; it stays as it is.
        number: Whose it is, from 0.
        agents: How many there are, n.

    Returns:
        The same with a row of L + n numbers.
    """
    if isinstance(observation, dict):
        return {**observation, ROW: _longer(observation[ROW], number, agents)}  # type: ignore[return-value]
    return _longer(observation, number, agents)  # type: ignore[return-value,arg-type]


def _longer(row: npt.NDArray[Any], number: int, agents: int) -> npt.NDArray[Any]:
    longer = np.zeros(len(row) + agents, row.dtype)
    longer[: len(row)], longer[len(row) + number] = row, 1
    longer.flags.writeable = row.flags.writeable
    return longer


def stack_indicators(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return (..., n, L + n) for (..., n, L): the rows of all agents with the numbers at their ends."""
    count = rows.shape[-2]
    marks = np.broadcast_to(np.eye(count, dtype=rows.dtype), (*rows.shape[:-1], count))
    return np.concatenate((rows, marks), axis=-1)


def space_with_indicator(space: Any, agents: int) -> Any:  # noqa: ANN401  (spaces of packages)
    """Return the space of what ``with_indicator`` returns.

    Raises:
        UserError: An observation is no row of numbers.
    """
    box = spaces().Box
    if isinstance(space, spaces().Dict):
        return spaces().Dict({**space.spaces, ROW: space_with_indicator(space[ROW], agents)})
    if not isinstance(space, box) or len(space.shape) != 1:
        raise UserError(f"agent_indicator=True needs observations that are rows of numbers, got {space}")
    low, high = (
        np.concatenate((bound, np.full(agents, mark, space.dtype))) for bound, mark in ((space.low, 0), (space.high, 1))
    )
    return box(low, high, dtype=space.dtype)
