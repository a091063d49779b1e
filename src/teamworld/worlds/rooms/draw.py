"""Pictures of rooms from a snapshot and the instance's ``static``: as text, or as pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

#: The colour of each sign: ``#`` wall, ``/`` open door, ``|`` shut door, and those of ``text``.
COLORS: Mapping[str, tuple[int, int, int]] = {
    **{"#": (70, 70, 70), " ": (245, 245, 240), "/": (225, 215, 195), "|": (120, 80, 40), "T": (157, 212, 177)},
    **{",": (190, 185, 180), "*": (226, 88, 34), "o": (212, 196, 188), "O": (160, 130, 110), "a": (60, 110, 170)},
}


def text(static: Mapping[str, Any], snapshot: Mapping[str, Any]) -> str:
    """Draw a moment as text: ``o`` light and ``O`` heavy items, ``a`` agents, ``T`` table, ``*`` fire, ``,`` ash."""
    rows, columns = static["size"]
    room = (columns + 1) // static["rooms"]
    cells = [["#" if col % room == room - 1 else " " for col in range(columns)] for _ in range(rows)]
    items = zip(static["weights"], snapshot["items"], strict=True)
    marks = [  # from the bottom up
        *(("|" if door in snapshot["shut"] else "/", cell) for door, cell in enumerate(static["doors"])),
        ("T", static["table"]),
        *((",", cell) for cell in snapshot["ash"]),
        *(("O" if weight > 1 else "o", cell) for weight, (cell, state) in items if cell and state != "lost"),
        *(("a", cell) for cell in snapshot["agents"] if cell),
        *(("*", cell) for cell in snapshot["fire"]),
    ]
    for mark, (row, col) in marks:
        cells[row][col] = mark
    return "\n".join("".join(row) for row in cells)


def frame(static: Mapping[str, Any], snapshot: Mapping[str, Any], scale: int = 24) -> npt.NDArray[np.uint8]:
    """Draw a moment as pixels: uint8 array of shape (rows * scale, columns * scale, 3)."""
    plain = np.array([[COLORS[mark] for mark in row] for row in text(static, snapshot).split("\n")], np.uint8)
    return plain.repeat(scale, axis=0).repeat(scale, axis=1)
