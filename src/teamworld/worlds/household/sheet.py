"""The sheet that a home is drawn on: boxes, words, discs, tags, in centimetres of the home or pixels of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from teamworld.worlds.household.drawing_data import STYLE, Static

if TYPE_CHECKING:
    from PIL import ImageFont

Colour: TypeAlias = str
Spot: TypeAlias = tuple[float, float]
"""Pixels from the left and from the top."""

PAPER, INK, CLOSED = "#ffffff", STYLE["ink"], STYLE["closed"][0]
#: Of the things, by the place of their class among the needs.
THINGS: Final = ("#ffd34d", "#f2a3b3", "#9bd0f5", "#b9dd7f", "#cdb4ea", "#f7b27a")
FINE: Final = 3  # drawn so many times larger, then made smaller: smooth edges
_MARGIN: Final = 30  # centimetres round the home


class Area(NamedTuple):
    """A box of the picture, pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    def within(self, other: Area) -> bool:
        """Return whether it lies within another."""
        return other.x0 <= self.x0 and self.x1 <= other.x1 and other.y0 <= self.y0 and self.y1 <= other.y1

    def shared(self, other: Area) -> float:
        """Return how much of it another covers."""
        across = min(self.x1, other.x1) - max(self.x0, other.x0)
        return max(0.0, across) * max(0.0, min(self.y1, other.y1) - max(self.y0, other.y0))


class Tag(NamedTuple):
    """One or more things of a class in one place."""

    at: Spot
    need: int
    """Place of the class among the needs, which gives the colour."""
    words: str
    number: int
    faint: bool = False
    home: Spot | None = None
    """Where it belongs, if it may have been moved aside."""


class Plan:
    """A sheet that is drawn on in centimetres of the home, or pixels of the picture."""

    def __init__(self, static: Static, width: int) -> None:
        from PIL import Image, ImageDraw

        boxes = [room["box"] for room in static["rooms"]]
        self.left, self.top = min(box[0] for box in boxes) - _MARGIN, max(box[3] for box in boxes) + _MARGIN
        across = max(box[2] for box in boxes) + _MARGIN - self.left
        down = self.top - min(box[1] for box in boxes) + _MARGIN
        self.scale = width / across
        """Pixels a centimetre."""
        self.width, self.floor = width, round(down * self.scale)
        self.unit = max(width / 900, 0.5)
        """Size of letters and marks, 1 where the picture is 900 pixels wide."""
        self.line = 24 * self.unit
        self.small = max(8.5 * self.unit, 8.0)
        """Height of the names of furniture."""
        self.columns = 2 if width >= 420 else 1
        rows = -(-len(static["needs"]) // self.columns)
        self.height = round(self.floor + self.line * (rows + 2.6))
        self.image = Image.new("RGB", (width * FINE, self.height * FINE), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def spot(self, x: float, z: float) -> Spot:
        """Return the pixels of a place."""
        return (x - self.left) * self.scale, (self.top - z) * self.scale

    def area(self, box: Sequence[int]) -> Area:
        """Return the pixels of a box of the floor."""
        return Area(*self.spot(box[0], box[3]), *self.spot(box[2], box[1]))

    def box(self, box: Sequence[int], fill: Colour | None, rim: Colour, thick: float, less: float = 0.0) -> None:
        """Draw a box of the floor, ``less`` pixels smaller on all sides."""
        x0, y0, x1, y1 = self.area(box)
        round_ = min(3 * self.unit, (x1 - x0) / 4, (y1 - y0) / 4)
        corners = [(x0 + less) * FINE, (y0 + less) * FINE, (x1 - less) * FINE, (y1 - less) * FINE]
        self.pen.rounded_rectangle(corners, round_ * FINE, fill, rim, max(1, round(thick * FINE)))

    def words(self, at: Spot, words: str, size: float, fill: Colour = INK, anchor: str = "mm", halo: str = "") -> None:
        """Write, ``size`` pixels high, perhaps with a rim of a colour round the letters."""
        rim = round(size * 0.18 * FINE) if halo else 0
        self.pen.text(
            (at[0] * FINE, at[1] * FINE), words, fill, _font(round(size * FINE)), anchor,
            stroke_width=rim, stroke_fill=halo or None,
        )  # fmt: skip

    def length(self, words: str, size: float) -> float:
        """Return how long words are, pixels."""
        return float(_font(round(size * FINE)).getlength(words)) / FINE

    def disc(self, at: Spot, radius: float, fill: Colour, rim: Colour | None = None, thick: float = 0.0) -> None:
        """Draw a disc."""
        (x, y), far = at, radius
        corners = [(x - far) * FINE, (y - far) * FINE, (x + far) * FINE, (y + far) * FINE]
        self.pen.ellipse(corners, fill, rim, round(thick * FINE))

    def pointer(self, at: Spot, radius: float, ahead: float, fill: Colour) -> None:
        """Draw a disc with a nose."""
        nose = [
            (at[0] + far * radius * sin(ahead + side), at[1] - far * radius * cos(ahead + side))
            for far, side in ((1.65, 0.0), (0.95, 0.85), (0.95, -0.85))
        ]
        self.pen.polygon([(x * FINE, y * FINE) for x, y in nose], fill)
        self.disc(at, radius, fill)

    def leader(self, tag: Tag) -> None:
        """Draw a line from where a thing is to its tag, if that was moved aside."""
        if tag.home is not None and tag.home != tag.at:
            ends = [(x * FINE, y * FINE) for x, y in (tag.home, tag.at)]
            self.pen.line(ends, INK, max(1, round(self.unit * FINE)))
            self.disc(tag.home, 1.8 * self.unit, INK)

    def tag(self, tag: Tag, size: float = 1.0) -> None:
        """Draw a thing, or several."""
        half = 8.5 * self.unit * size * (0.85 if tag.faint else 1.0)
        colour = THINGS[tag.need % len(THINGS)]
        fill, ink, rim = colour, INK, INK
        if tag.faint:
            fill, ink, rim = mix(colour, CLOSED, 0.55), mix(INK, CLOSED, 0.3), mix(INK, CLOSED, 0.6)
        x, y = tag.at
        corners = [(x - half) * FINE, (y - half) * FINE, (x + half) * FINE, (y + half) * FINE]
        self.pen.rounded_rectangle(corners, half * 0.55 * FINE, fill, rim, max(1, round(half * 0.13 * FINE)))
        self.words((x, y), tag.words, half * 1.15, ink)
        if tag.number > 1:
            at = (x + half * 0.95, y - half * 0.85)
            self.disc(at, half * 0.62, ink)
            self.words(at, str(tag.number), half * 0.95, fill)


def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.load_default(max(size, 4))


def mix(first: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two, ``share`` of the way from the first to the other."""
    parts = ((int(first[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)
