"""What worlds say of beliefs in the same way: where something may have gone, and how much of a place is in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard, TypeVar

from teamworld.language import Cell, Facts

Scene = TypeVar("Scene")

#: Ticks that are lost with an agent that is lost: more than any message costs, whatever its budget (CoBel-World B2).
SAFETY: Final = 1000.0
#: How likely somebody whose sight does not reach a place has not seen it before either. Not certain: it may have.
UNSEEN_TOO: Final = 0.9
#: The eight directions, as steps.
COMPASS: Final = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def readable(read: Callable[[Facts], Scene], given: Facts) -> Scene | None:
    """Return what facts tell; None where nothing can be made of them, since somebody made them up."""
    try:
        return read(given)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None


def is_cell(value: object) -> TypeGuard[Cell]:
    """Return whether a value is a pair of whole numbers."""
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value)


def round_about(at: Cell, far: int) -> list[Cell]:
    """Return the eight cells so many cells away, on the straight ways and the diagonals."""
    return [(at[0] + down * far, at[1] + right * far) for down, right in COMPASS]


def overlap(low: int, high: int, first: int, last: int) -> int:
    """Return how many numbers from ``low`` to below ``high`` lie from ``first`` to ``last``."""
    return max(0, min(high - 1, last) - max(low, first) + 1)


def at_least(in_sight: float, unseen: float) -> float:
    """Return how likely at least one sees what lies in the unseen part of an area.

    Which part of it was seen is not told. From where one stands one has looked already: nothing new is promised there.

    Args:
        in_sight: Share of the area that is in sight.
        unseen: Share of it that nobody has seen, above 0.
    """
    return min(1.0, max(0.0, (in_sight + unseen - 1) / unseen))
