"""Pictures of environments that are grids: one form of data for pixels, text and the replay page.

``static`` of a world holds once ``drawer`` (``"grid"``), ``size`` (rows, columns), ``kinds`` (name -> shape, colour,
words for the key) and ``ground`` (row, column, kind). A snapshot holds ``agents`` (row, column, label, facing, kind
that is carried; the last two may be empty) in the team's order, and ``things`` (row, column, kind, label).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.language import Cell

Shape: TypeAlias = Literal["square", "disc", "tile"]
#: Shape, colour and words of a kind of thing; a ``tile`` fills its cell.
Kind: TypeAlias = tuple[Shape, str, str]

PAPER, LINE, AGENT, INK = (250, 250, 247), (222, 222, 216), (60, 110, 170), (25, 30, 35)
#: Where the mark of an agent's facing lies, as (row, column) from its middle.
_FACING: Final = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


def static(size: Cell, kinds: Mapping[str, Kind], ground: Iterable[tuple[Cell, str]] = ()) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    named = {name: {"shape": shape, "colour": colour, "words": words} for name, (shape, colour, words) in kinds.items()}
    return {"drawer": "grid", "size": list(size), "kinds": named, "ground": [[*cell, kind] for cell, kind in ground]}


def snapshot(agents: Iterable[tuple[Cell, str, str, str]], things: Collection[tuple[Cell, str, str]]) -> dict[str, Any]:
    """Return what a drawing needs to know of a moment.

    Args:
        agents: Cell, label, facing and kind that is carried, in the team's order.
        things: Cell, kind and label.
    """
    return {
        "v": 1,
        "agents": [[*cell, label, facing, held] for cell, label, facing, held in agents],
        "things": [[*cell, kind, label] for cell, kind, label in things],
    }


def text(static: Mapping[str, Any], snapshot: Mapping[str, Any]) -> str:
    """Draw a moment as text: agents by their number (the last digit), kinds by their first letter."""
    rows, columns = static["size"]
    cells = [["."] * columns for _ in range(rows)]
    for row, column, kind, *label in (*static["ground"], *snapshot["things"]):
        cells[row][column] = label[0] if label and label[0] else kind[0]
    for number, (row, column, *_) in enumerate(snapshot["agents"]):
        cells[row][column] = "@" if number > 9 else "ABCDEFGHIJ"[number]
    return "\n".join("".join(row) for row in cells)


def frame(static: Mapping[str, Any], snapshot: Mapping[str, Any], scale: int = 32) -> npt.NDArray[np.uint8]:
    """Draw a moment as pixels: uint8 array of shape (rows * scale, columns * scale, 3).

    Labels are written if Pillow is installed (extra ``[plots]``).
    """
    rows, columns = static["size"]
    picture = np.empty((rows * scale, columns * scale, 3), np.uint8)
    picture[:] = PAPER
    picture[::scale] = picture[:, ::scale] = LINE
    labels: list[tuple[int, int, str, tuple[int, ...]]] = []
    for row, column, kind, *label in (*static["ground"], *snapshot["things"]):
        look = static["kinds"][kind]
        _fill(picture, row, column, scale, look["shape"], _channels(look["colour"]))
        labels += [(row, column, label[0], INK)] if label else []
    for row, column, label, facing, held in snapshot["agents"]:
        if held:
            _fill(picture, row, column, scale, "square", _channels(static["kinds"][held]["colour"]))
        _fill(picture, row, column, scale, "disc", AGENT, 0.32)
        if facing:
            down, right = _FACING[facing]
            _fill(picture, row + 0.3 * down, column + 0.3 * right, scale, "disc", INK, 0.1)
        labels.append((row, column, label, (255, 255, 255)))
    return _write(picture, scale, labels)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _fill(
    picture: npt.NDArray[np.uint8],
    row: float,
    column: float,
    scale: int,
    shape: Shape,
    colour: tuple[int, ...],
    radius: float = 0.38,
) -> None:
    """Fill a shape in the middle of a cell; ``radius`` is a share of the cell's side."""
    reach = 0.5 if shape == "tile" else radius
    middle_row, middle_column = (row + 0.5) * scale, (column + 0.5) * scale
    top, left = (
        round(middle_row - reach * scale) + (shape == "tile"),
        round(middle_column - reach * scale) + (shape == "tile"),
    )
    bottom, right = round(middle_row + reach * scale), round(middle_column + reach * scale)
    part = picture[top:bottom, left:right]
    if shape != "disc":
        part[:] = colour
        return
    ys, xs = np.ogrid[top:bottom, left:right]
    inside = (ys + 0.5 - middle_row) ** 2 + (xs + 0.5 - middle_column) ** 2 <= (reach * scale) ** 2
    part[inside] = colour


def _write(
    picture: npt.NDArray[np.uint8], scale: int, labels: Iterable[tuple[int, int, str, tuple[int, ...]]]
) -> npt.NDArray[np.uint8]:
    """Write labels in the middle of their cells."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        return picture
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    for row, column, label, colour in labels:
        font = ImageFont.load_default(size=max(8, int(scale * (0.42 if len(label) < 3 else 0.3))))
        middle = ((column + 0.5) * scale, (row + 0.5) * scale)
        pen.text(middle, label, fill=colour, font=font, anchor="mm")
    return np.asarray(image)
