"""The map of a wildfire as pixels, whole or a part: land, relief, wind, targets, civilians and agents."""

from __future__ import annotations

from functools import lru_cache
from math import hypot
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from teamworld.worlds.wildfire.drawing_data import (
    COLOURS,
    DARKEST,
    LIGHTEST,
    SHADES,
    STYLE,
    group_units,
    people,
    team,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from teamworld.worlds.wildfire.drawing_data import Codes, Group, Snapshot, Static

    Colour = tuple[int, int, int]
    Pixels = npt.NDArray[np.uint8]

AGENT, INK = (255, 255, 255), (20, 24, 28)
#: Pixels between two arrows of the wind, at least.
WIND_SIDE: Final = 56
_FINE: Final = 4  # shapes are sampled so many times finer than pixels

_RANK: Final = len(COLOURS) * np.array(STYLE["rank"], np.uint16) + np.arange(len(COLOURS), dtype=np.uint16)
_PLAIN: Final = np.isin(np.arange(len(COLOURS)), STYLE["plain"])


class Sizes(NamedTuple):
    """Sizes of a picture, in pixels."""

    width: int
    side: int
    """Of the map."""
    beside: bool
    """Whether the key stands beside the map."""
    font: int
    line: int
    sample: int
    """Side of a sample of a colour in the key."""
    symbol: int
    """Side of the symbol of a unit."""
    several: int
    """Side of the symbol of several units."""
    badge: int
    """Height of a number in a symbol."""


class Part(NamedTuple):
    """A square part of the map, and how large it is drawn."""

    left: int
    top: int
    cells: int
    side: int
    """Pixels."""

    @property
    def cell(self) -> float:
        """Pixels a cell."""
        return self.side / self.cells

    def spot(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixels of the middle of a cell."""
        return (x - self.left + 0.5) * self.cell, (y - self.top + 0.5) * self.cell

    def near(self, x: float, y: float) -> bool:
        """Return whether a cell is in this part."""
        return 0 <= x - self.left < self.cells and 0 <= y - self.top < self.cells


class Drawn(NamedTuple):
    """A part of the map as pixels, and the numbers that are still to be written on it: x, y, number."""

    pixels: Pixels
    numbers: list[tuple[float, float, int]]


def draw_map(static: Static, snapshot: Snapshot, codes: Codes, seen: Codes | None, part: Part, sizes: Sizes) -> Drawn:
    """Draw the whole map or a part: land, wind (on the whole map only), targets, civilians and agents.

    Args:
        static: What does not change.
        snapshot: The moment.
        codes: (N, N), as ``codes_of`` has them.
        seen: (N, N): what is 0 there is drawn faintly; None: all was seen.
        part: What to draw, and how large.
        sizes: Those of the picture.
    """
    pixels = paint_land(static, codes, seen, part)
    if part.side >= 2 * WIND_SIDE and part.cells == len(codes):
        _draw_wind(pixels, static)
    _draw_targets(pixels, static, part, sizes)
    numbers: list[tuple[float, float, int]] = []
    for units in (people(snapshot), team(static, snapshot)):
        shown = [unit for unit in units if part.near(unit.x, unit.y)]
        for group in group_units(shown, sizes.several / part.cell):
            numbers += _draw_group(pixels, group, part, sizes)
    return Drawn(pixels, numbers)


def paint_land(static: Static, codes: Codes, seen: Codes | None = None, part: Part | None = None) -> Pixels:
    """Paint the land: colours of the codes under the light of the relief; of small cells the one that matters most.

    Args:
        static: What does not change.
        codes: (N, N), as ``codes_of`` has them.
        seen: (N, N): what is 0 there is painted faintly.
        part: What to paint; a pixel for each cell of the map if None.

    Returns:
        uint8 array of shape (side, side, 3).
    """
    size = len(codes)
    part = part or Part(0, 0, size, size)
    offsets = np.arange(part.side) * part.cells // part.side
    rows, columns = offsets + part.top, offsets + part.left
    if part.side < part.cells:
        ranks = np.maximum.reduceat(np.maximum.reduceat(_RANK[codes], rows, axis=0), columns, axis=1)
        shown = (ranks % len(COLOURS)).astype(np.uint8)
    else:
        shown = codes[np.ix_(rows, columns)]
    painted = COLOURS[shown].astype(np.float32)
    if "relief" in static:
        points = len(static["relief"])
        digits = np.frombuffer("".join(static["relief"]).encode(), np.uint8).reshape(points, points) - ord("0")
        light = (
            DARKEST
            + (LIGHTEST - DARKEST) / (SHADES - 1) * digits[np.ix_(rows * points // size, columns * points // size)]
        )
        painted *= np.where(_PLAIN[shown], 1, light)[:, :, None]
    if seen is not None:
        haze = np.where((shown == 9) | (shown == 10), STYLE["haze"] / 2, STYLE["haze"])
        painted += (COLOURS[0] - painted) * np.where(seen[np.ix_(rows, columns)] == 0, haze, 0)[:, :, None]
    return np.rint(np.clip(painted, 0, 255)).astype(np.uint8)


@lru_cache(maxsize=256)
def _cover(shape: str, side: int, less: float = 0.0) -> npt.NDArray[np.float32]:
    """Return (side, side, 1): how much of each pixel a shape covers; ``less`` pixels smaller all round."""
    fine = side * _FINE
    axis = (np.arange(fine) + 0.5) * 2.5 / fine - 1.25  # shapes reach about 1.2 far
    x, y = np.meshgrid(axis, axis)
    inside = np.zeros((fine, fine), np.bool_)
    for polygon in STYLE["shapes"][shape]:
        within = np.ones((fine, fine), np.bool_)
        for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
            far = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / hypot(x1 - x0, y1 - y0)
            within &= far >= less * 2.5 / side
        inside |= within
    cover: npt.NDArray[np.float32] = inside.reshape(side, _FINE, side, _FINE).mean(axis=(1, 3), dtype=np.float32)
    return cover[:, :, None]


def stamp(pixels: Pixels, shape: str, side: int, x: float, y: float) -> None:
    """Draw a shape with a dark rim, its middle at a pixel; what lies outside the picture is cut off."""
    rim = max(1.0, side / 11)
    top, left = round(y - side / 2), round(x - side / 2)
    fill = np.array(STYLE["fills"].get(shape, AGENT), np.float32)
    part = pixels[max(0, top) : max(0, top + side), max(0, left) : max(0, left + side)]
    for cover, colour in ((_cover(shape, side), np.array(INK, np.float32)), (_cover(shape, side, rim), fill)):
        inside = cover[max(0, -top) :, max(0, -left) :][: part.shape[0], : part.shape[1]]
        part[...] = np.rint(part + (colour - part) * inside)


def _draw_group(pixels: Pixels, group: Group, part: Part, sizes: Sizes) -> list[tuple[float, float, int]]:
    """Draw a group as a row of one symbol for each kind; return the numbers to be written on these."""
    wide = [_side(kind, len(rows), sizes) for kind, rows in group.kinds.items()]
    x, y = part.spot(group.x, group.y)
    x -= sum(wide) / 2
    numbers = []
    for (kind, rows), side in zip(group.kinds.items(), wide, strict=True):
        stamp(pixels, kind, side, x + side / 2, y)
        if len(rows) > 1:
            numbers.append((x + side / 2, y + (0.12 * side if kind == "helicopter" else 0.0), len(rows)))
        x += side
    return numbers


def _side(kind: str, number: int, sizes: Sizes) -> int:
    """Return the side of the symbol of so many: room for the number, more of it in a cross."""
    if number == 1:
        return sizes.symbol
    digits = max(0, len(str(number)) - 2)
    return int(sizes.several * (1.25 if kind in STYLE["fills"] else 1.0) * (1 + 0.3 * digits)) // 2 * 2 + 1


def outline(pixels: Pixels, box: tuple[float, float, float, float], thick: int, colour: Colour) -> None:
    """Draw a frame: left, top, right and bottom in pixels, as much of it as lies in the picture."""
    side = len(pixels)
    left, top, right, bottom = (round(min(max(at, 0), side)) for at in box)
    for rows, columns in (
        (slice(top, top + thick), slice(left, right)), (slice(max(bottom - thick, 0), bottom), slice(left, right)),
        (slice(top, bottom), slice(left, left + thick)), (slice(top, bottom), slice(max(right - thick, 0), right)),
    ):  # fmt: skip
        pixels[rows, columns] = colour


def _draw_targets(pixels: Pixels, static: Static, part: Part, sizes: Sizes) -> None:
    """Draw a rim round the cells to cut, and a larger one round the place where to bring people."""
    half = max(part.cell / 2, 4.0)
    for places, far, thick in (
        (static["targets"], half, 1 + int(half > 5)),
        ([static["target"]], max(2.2 * half, 0.7 * sizes.several), 3),
    ):
        for cell in filter(None, places):
            x, y = part.spot(*cell)
            outline(pixels, (x - far, y - far, x + far, y + far), thick, INK)


def _draw_wind(pixels: Pixels, static: Static) -> None:
    """Draw arrows of the wind, thinned out until they are apart."""
    field = static.get("wind", ())
    side, points = len(pixels), max(len(field), 1)
    every = max(1, -(-WIND_SIDE * points // side))
    room = side / points * every
    for row in range(every // 2, len(field), every):
        for column in range(every // 2, points, every):
            draw_arrow(pixels, (column + 0.5) * side / points, (row + 0.5) * side / points, field[row][column], room)


def draw_arrow(pixels: Pixels, x: float, y: float, wind: Sequence[float], room: float) -> None:
    """Draw a half-clear arrow, as long as its room for wind of 15 m/s; none for wind below 0.5 m/s."""
    speed = hypot(*wind)
    if speed < 0.5:
        return
    half = min(speed / 15, 1.0) * room / 2
    far, wide = min(5.0 + room / 20, half), min(2.5 + room / 40, half * 0.6)
    reach = int(room / 2 + wide + 2)
    top, left = max(0, round(y) - reach), max(0, round(x) - reach)
    part = pixels[top : round(y) + reach, left : round(x) + reach]
    v = np.arange(part.shape[0])[:, None] + top + 0.5 - y
    u = np.arange(part.shape[1])[None, :] + left + 0.5 - x
    along, aside = (u * wind[0] + v * wind[1]) / speed, np.abs(v * wind[0] - u * wind[1]) / speed
    line = (along > -half) & (along < half - far * 0.8) & (aside <= 0.5 + room / 130)
    head = (along <= half) & (along > half - far) & (aside <= (half - along) / far * wide)
    part[line | head] = np.rint(part[line | head] * 0.35 + np.array(STYLE["wind"]) * 0.65)
