"""The text grid: a window of codes as characters (wildfire spec A9).

One row a line from the top, cells separated by commas, the agent's own cell between asterisks. ``LEGEND`` says what
the characters mean.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from teamworld.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

#: By the code of a cell.
SYMBOLS = ("-", "'0'", "'1'", "'2'", "'3'", "0", "1", "2", "3", "i", "f", "e", "x", "w", "B", "C")


def _meanings() -> tuple[str, ...]:
    trees = ("without trees", "with 1 tree", "with 2 trees", "with 3 trees")
    wet, dry = (tuple(f"{how} ground {many}" for many in trees) for how in ("wet", "dry"))
    burnt = ("ignited", "on fire", "smouldering", "burnt out")
    return ("not seen yet, or outside the map", *wet, *dry, *burnt, "water", "building", "civilian")


#: What a cell is, in words, by its code.
MEANINGS = _meanings()
#: What each character means, in the order of the codes.
LEGEND: Mapping[str, str] = MappingProxyType(dict(zip(SYMBOLS, MEANINGS, strict=True)))


def text(window: npt.NDArray[np.integer]) -> str:
    """Write a window as text.

    Args:
        window: Codes of shape (2W + 1, 2W + 1), indexed [y, x]; of shape (0, 0) for one that is lost.

    Returns:
        2W + 1 lines, ``0,0,1`` and so on; empty for an empty window.

    Raises:
        UserError: If it is no square with a middle, or holds other codes.
    """
    side = len(window)
    if window.shape != (side, side) or side % 2 == 0 < side:
        raise UserError(f"a window is a square with a cell in the middle, got an array of shape {window.shape}")
    if window.size and not (window.min() >= 0 and window.max() < len(SYMBOLS)):
        raise UserError(f"a window holds codes from 0 to {len(SYMBOLS) - 1}, got {window.min()} to {window.max()}")
    rows = [[SYMBOLS[code] for code in row] for row in window.tolist()]
    if rows:
        rows[side // 2][side // 2] = f"*{rows[side // 2][side // 2]}*"
    return "\n".join(",".join(row) for row in rows)


def legend() -> str:
    """Return the legend in one line, for texts."""
    return "; ".join(f"{symbol} {meaning}" for symbol, meaning in LEGEND.items())
