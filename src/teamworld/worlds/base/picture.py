"""Pictures of environments that are grids: one form of data for pixels, text and the replay page.

``static`` of a world holds once ``drawer`` (``"grid"``), ``size`` (rows, columns), ``kinds`` (name -> shape, colour,
words for the key) and ``ground`` (row, column, kind). A snapshot holds ``agents`` (row, column, label, facing, kind
that is carried; the last two may be empty; null is an agent that is gone) in the team's order, and ``things`` (row,
column, kind, label).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from teamworld.language import Cell

Shape: TypeAlias = Literal["square", "disc", "tile"]
#: Shape, colour and words of a kind of thing; a ``tile`` fills its cell.
Kind: TypeAlias = tuple[Shape, str, str]

#: Draws a moment of a world as pixels, (height, width, 3), with its key: from what is declared once, a snapshot and a
#: width in pixels.
DrawStill: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any], int], npt.NDArray[np.uint8]]

PAPER, LINE, AGENT, INK = (250, 250, 247), (222, 222, 216), (60, 110, 170), (25, 30, 35)
#: Where the mark of an agent's facing lies, as (row, column) from its middle.
_FACING: Final = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


_Name = Annotated[str, msgspec.Meta(min_length=1)]
_Label = Annotated[str, msgspec.Meta(max_length=40)]
#: A log of somebody else's may say anything: what is drawn of it has an end.
_Length = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class _Look(msgspec.Struct):
    shape: Shape
    colour: Annotated[str, msgspec.Meta(pattern="^#[0-9a-fA-F]{6}$")]
    words: str


class _Static(msgspec.Struct):
    drawer: Literal["grid"]
    size: tuple[_Length, _Length]
    kinds: dict[str, _Look]
    ground: list[tuple[int, int, _Name]]


class _Moment(msgspec.Struct):
    agents: list[tuple[int, int, _Label, Literal["", "north", "south", "west", "east"], str] | None]
    things: list[tuple[int, int, _Name, _Label]]


def static(size: Cell, kinds: Mapping[str, Kind], ground: Iterable[tuple[Cell, str]] = ()) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    named = {name: {"shape": shape, "colour": colour, "words": words} for name, (shape, colour, words) in kinds.items()}
    return {"drawer": "grid", "size": list(size), "kinds": named, "ground": [[*cell, kind] for cell, kind in ground]}


def snapshot(
    agents: Iterable[tuple[Cell, str, str, str] | None], things: Collection[tuple[Cell, str, str]]
) -> dict[str, Any]:
    """Return what a drawing needs to know of a moment.

    Args:
        agents: Cell, label, facing and kind that is carried, in the team's order; None for those that are gone.
        things: Cell, kind and label.
    """
    return {
        "v": 1,
        "agents": [None if agent is None else [*agent[0], *agent[1:]] for agent in agents],
        "things": [[*cell, kind, label] for cell, kind, label in things],
    }


def find_fault(static: Mapping[str, Any], snapshots: Iterable[Mapping[str, Any]], team: int) -> str:
    """Return what in a world's drawing data keeps it from being drawn, and where; empty where nothing does.

    Worlds from outside may declare anything: what draws their data asks first.

    Args:
        static: What the world declares once.
        snapshots: Its moments.
        team: How many agents it has; all have a place in each moment, also those that are gone.
    """
    place = "static"
    try:
        once = msgspec.convert(dict(static), _Static)
        fault = _find_misplaced(once, once.ground)
        for number, snapshot in enumerate(snapshots):
            if fault:
                break
            place = f"snapshot {number}"
            moment = msgspec.convert(dict(snapshot), _Moment)
            if len(moment.agents) != team:
                fault = f"{len(moment.agents)} agents of a team of {team}"
                break
            held = [(agent[0], agent[1], agent[4]) for agent in moment.agents if agent is not None]
            fault = _find_misplaced(once, [*held, *((row, column, kind) for row, column, kind, _ in moment.things)])
    except msgspec.ValidationError as error:
        fault = str(error)
    return fault and f"{place}: {fault}"


def _find_misplaced(once: _Static, marks: Iterable[tuple[int, int, str]]) -> str:
    rows, columns = once.size
    for row, column, kind in marks:
        if not (0 <= row < rows and 0 <= column < columns):
            return f"cell ({row}, {column}) is not in a grid of {rows} by {columns}"
        if kind and kind not in once.kinds:
            return f"there is no kind {kind!r}"
    return ""


def text(static: Mapping[str, Any], snapshot: Mapping[str, Any]) -> str:
    """Draw a moment as text: agents by their number (the last digit), kinds by their first letter."""
    rows, columns = static["size"]
    cells = [["."] * columns for _ in range(rows)]
    for row, column, kind, *label in (*static["ground"], *snapshot["things"]):
        cells[row][column] = label[0] if label and label[0] else kind[0]
    for number, agent in enumerate(snapshot["agents"]):
        if agent is not None:
            cells[agent[0]][agent[1]] = "@" if number > 9 else "ABCDEFGHIJ"[number]
    return "\n".join("".join(row) for row in cells)


def frame(static: Mapping[str, Any], snapshot: Mapping[str, Any], scale: int = 32) -> npt.NDArray[np.uint8]:
    """Draw a moment as pixels: uint8 array of shape (rows * scale, columns * scale, 3).

    Labels are written if Pillow is installed (extra ``[plots]``).
    """
    rows, columns = static["size"]
    picture = np.empty((rows * scale, columns * scale, 3), np.uint8)
    picture[:] = PAPER
    picture[::scale] = picture[:, ::scale] = LINE
    labels: list[tuple[float, float, str, tuple[int, ...], float]] = []
    for row, column, kind, *label in (*static["ground"], *snapshot["things"]):
        look = static["kinds"][kind]
        _fill(picture, row, column, scale, look["shape"], _channels(look["colour"]))
        labels += [(row, column, label[0], INK, 0.42)] if label else []
    agents = [agent for agent in snapshot["agents"] if agent is not None]
    for (row, column, radius), (*_, label, facing, held) in zip(_spread(agents), agents, strict=True):
        if held:
            _fill(picture, row, column, scale, "square", _channels(static["kinds"][held]["colour"]), radius + 0.06)
        _fill(picture, row, column, scale, "disc", AGENT, radius)
        if facing:
            down, right = _FACING[facing]
            _fill(picture, row + radius * down, column + radius * right, scale, "disc", INK, 0.3 * radius)
        labels.append((row, column, label, (255, 255, 255), 1.3 * radius))
    return _write(picture, scale, labels)


def _spread(agents: Sequence[Sequence[Any]]) -> list[tuple[float, float, float]]:
    """Return where agents are drawn, as (row, column, radius): those that share a cell stand in a ring, smaller."""
    cells = [(row, column) for row, column, *_ in agents]
    sizes, spots = Counter(cells), list[tuple[float, float, float]]()
    for at, (row, column) in enumerate(cells):
        if (size := sizes[row, column]) == 1:
            spots.append((row, column, 0.32))
            continue
        angle = 2 * math.pi * cells[:at].count((row, column)) / size
        spots.append((row - 0.25 * math.cos(angle), column + 0.25 * math.sin(angle), 0.17 if size < 5 else 0.1))
    return spots


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
    picture: npt.NDArray[np.uint8], scale: int, labels: Iterable[tuple[float, float, str, tuple[int, ...], float]]
) -> npt.NDArray[np.uint8]:
    """Write labels in the middle of cells; the last number is their size, as a share of a cell's side."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        return picture
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    for row, column, label, colour, size in labels:
        font = ImageFont.load_default(size=max(8, int(scale * size * (1.0 if len(label) < 3 else 0.7))))
        middle = ((column + 0.5) * scale, (row + 0.5) * scale)
        pen.text(middle, label, fill=colour, font=font, anchor="mm")
    return np.asarray(image)
