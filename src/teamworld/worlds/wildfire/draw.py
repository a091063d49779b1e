"""A wildfire as pixels: the map, and beside or below it a key with what is left of the team and how the fire goes.

The data and the looks are those of ``drawing_data``. Words need Pillow (extra ``[plots]``); without it the map stands
alone, with shapes for the agents and no numbers.
"""

from __future__ import annotations

from functools import lru_cache
from math import hypot
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.wildfire.drawing_data import (
    COLOURS,
    STYLE,
    burning_box,
    codes_of,
    scale_bar,
    snapshot,
    static,
    text,
)
from teamworld.worlds.wildfire.map_pixels import INK, Part, Sizes, draw_arrow, draw_map, outline, stamp
from teamworld.worlds.wildfire.state import KINDS

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.drawing_data import Codes, Snapshot, Static
    from teamworld.worlds.wildfire.map_pixels import Pixels

__all__ = ["frame", "snapshot", "static", "text"]

#: Pixels of a picture without a given width, and the least and most.
WIDTH, LEAST, MOST = 900, 160, 4000
#: From this width on the key stands beside the map, with this share of the width.
BESIDE, SHARE = 560, 0.26
SOFT, PAPER, FIRE = (92, 101, 110), (255, 255, 255), (200, 30, 10)


def frame(
    static: Static, snapshot: Snapshot, width: int | None = None, *, seen: Codes | None = None, key: bool = True
) -> Pixels:
    """Draw a moment as pixels.

    Args:
        static: What does not change.
        snapshot: The moment.
        width: Pixels, 160 to 4000; 900 if None. From 560 on a key stands beside the map, else below it.
        seen: (N, N) codes as ``Sightings.seen`` has them: what is 0 there is drawn faintly. None: all was seen.
        key: Whether to draw the key; without it the picture is the map, as high as wide.

    Returns:
        uint8 array of shape (height, width, 3); the height is the same in all moments of an episode.

    Raises:
        UserError: If the width is no such integer.
    """
    wide = WIDTH if width is None else width
    if isinstance(wide, bool) or not isinstance(wide, (int, np.integer)) or not LEAST <= wide <= MOST:
        raise UserError(f"width must be None or an integer from {LEAST} to {MOST} (pixels), got {width!r}")
    sizes = _lay_out(int(wide), key)
    codes = codes_of(static, snapshot)
    pixels, numbers = draw_map(static, snapshot, codes, seen, Part(0, 0, len(codes), sizes.side), sizes)
    near = _find_detail(codes, sizes)
    if near is not None:
        cell, thick = sizes.side / len(codes), 1 + (sizes.side > 400)
        left, top, far = near.left * cell, near.top * cell, near.cells * cell
        outline(pixels, (left, top, left + far, top + far), thick, FIRE)
    try:
        from PIL import Image, ImageDraw
    except ImportError:  # a picture without words is still a picture
        return pixels
    lines = _key(static, snapshot, seen is not None) if key else []
    places = _places(sizes, len(lines))
    lowest = max((top + sizes.line + 4 for _, top in places), default=0)
    sheet = np.full((max(lowest, sizes.side), sizes.width, 3), PAPER, np.uint8)
    sheet[: sizes.side, : sizes.side] = pixels
    if near is not None and sizes.beside and lowest < sizes.side - near.side - 4:
        detail = draw_map(static, snapshot, codes, seen, near, sizes)
        outline(detail.pixels, (0, 0, near.side, near.side), 2, FIRE)
        x, y = places[0][0], sizes.side - near.side - 4
        sheet[y : y + near.side, x : x + near.side] = detail.pixels
        numbers = numbers + [(x + right, y + down, number) for right, down, number in detail.numbers]
    for line, place in zip(lines, places, strict=True):
        _draw_samples(sheet, line, place, sizes)
    picture = Image.fromarray(sheet)
    pen = ImageDraw.Draw(picture)
    for right, down, number in numbers:
        pen.text((right, down), str(number), INK, _font(sizes.badge), "mm", stroke_width=2, stroke_fill=PAPER)
    _draw_scale(pen, static, sizes)
    for line, (right, down) in zip(lines, places, strict=True):
        at = right + (sizes.sample + 3) * len(line.samples) + 4 * bool(line.samples)
        pen.text((at, down + sizes.line / 2), line.words, INK if line.strong else SOFT, _font(sizes.font), "lm")
    return np.asarray(picture, np.uint8).copy()


def _lay_out(width: int, key: bool) -> Sizes:
    beside = key and width >= BESIDE
    side = width - max(round(width * SHARE), 172) if beside else width
    font = min(max(round(side / 50), 9 if beside else 8 + (width >= 240)), 30)
    badge = min(max(round(side / 48), 9), 36)
    symbol, several = (int(size) // 2 * 2 + 1 for size in (min(max(side / 40, 9), 40), badge * 1.9))
    return Sizes(width, side, beside, font, round(font * 1.55), font, symbol, several, badge)


def _find_detail(codes: Codes, sizes: Sizes) -> Part | None:
    """Return the part of the map round the fire, where that is small on the picture; None where nothing burns."""
    box = burning_box(codes)
    if box is None:
        return None
    cells = max(box[2] - box[0], box[3] - box[1]) + 9
    if cells > len(codes) // 4:
        return None
    left, top = (
        min(max((low + high + 1 - cells) // 2, 0), len(codes) - cells)
        for low, high in ((box[0], box[2]), (box[1], box[3]))
    )
    return Part(left, top, cells, sizes.width - sizes.side - 2 * (sizes.font // 2 + 4))


class _Line(NamedTuple):
    """A line of the key."""

    words: str
    samples: tuple[Any, ...] = ()
    """Codes of cells, names of shapes, an arrow's [x, y], or the width of a frame as (pixels,)."""
    strong: bool = False


def _key(static: Static, snapshot: Snapshot, fog: bool) -> list[_Line]:
    """Return what is told beside the map: as many lines in all moments of an episode."""
    lines = [_Line(f"step {snapshot['t']}", strong=True)]
    if "score" in snapshot:
        lines.append(_Line(f"score {snapshot['score']:g}", strong=True))
    if "counts" in snapshot:
        burning, caught, lost, cut = snapshot["counts"]
        lines.append(_Line(f"{burning} burn, {caught} caught", (10,), strong=True))
        lines.append(_Line(f"{cut} trees cut", (16,), strong=True))
        if houses := sum(row.count("e") for row in static["land"]):
            lines.append(_Line(f"houses {houses - lost} of {houses}", (14,), strong=True))
        wind = snapshot["wind"]
        words = f"{hypot(*wind):.0f} m/s at the fire" if wind else "no fire"
        lines.append(_Line(words, (wind or [0.0, 0.0],), strong=True))
    alive = [kind for kind, place in zip(static["kinds"], snapshot["agents"], strict=True) if place is not None]
    for kind in KINDS:
        if kind in static["kinds"]:
            lines.append(_Line(f"{kind}s {alive.count(kind)} of {static['kinds'].count(kind)}", (kind,), strong=True))
    states = [state for _, _, state in snapshot["civilians"]]
    names = ("free", "carried", "safe", "dead")
    words = ", ".join(f"{states.count(k)} {name}" for k, name in enumerate(names) if k in states)
    lines.append(_Line(words or "no civilians", ("civilian",), strong=True))
    if static["targets"]:
        lines.append(_Line("trees to cut", ((1,),)))
    if static["target"]:
        lines.append(_Line("bring people here", ((3,),)))
    for codes, words in STYLE["legend"]:
        if fog or codes != [0]:
            lines.append(_Line(words, tuple(codes)))
    return lines


def _places(sizes: Sizes, lines: int) -> list[tuple[int, int]]:
    """Return left and top of each line, down one column beside the map or down some below it."""
    edge = max(4, sizes.font // 2)
    if sizes.beside:
        return [(sizes.side + edge + 4, edge + k * sizes.line) for k in range(lines)]
    columns = 2 if sizes.width < 400 else 3
    rows = -(-lines // columns)
    wide = (sizes.width - edge) // columns
    return [(edge + k // rows * wide, sizes.side + edge + k % rows * sizes.line) for k in range(lines)]


def _draw_samples(sheet: Pixels, line: _Line, place: tuple[int, int], sizes: Sizes) -> None:
    left, top = place
    size = sizes.sample
    for k, sample in enumerate(line.samples):
        x, y = left + k * (size + 3), top + (sizes.line - size) // 2
        if isinstance(sample, str):
            stamp(sheet, sample, size // 2 * 2 + 3, x + size / 2, y + size / 2)
        elif isinstance(sample, list):
            full = [15 * part / (hypot(*sample) or 1) for part in sample]  # here only the direction is told
            draw_arrow(sheet, x + size / 2, y + size / 2, full, size * 1.3)
        elif isinstance(sample, tuple):
            sheet[y : y + size, x : x + size] = INK
            sheet[y + sample[0] : y + size - sample[0], x + sample[0] : x + size - sample[0]] = PAPER
        else:
            sheet[y : y + size, x : x + size] = SOFT
            sheet[y + 1 : y + size - 1, x + 1 : x + size - 1] = COLOURS[sample]


def _draw_scale(pen: Any, static: Static, sizes: Sizes) -> None:  # noqa: ANN401
    """Draw a bar of a round length, at most a quarter of the map."""
    if "cell_m" not in static:
        return
    metres, across = scale_bar(static["size"] * static["cell_m"], sizes.side)
    edge = max(5, sizes.font // 2)
    x, y = edge, sizes.side - edge
    words = f"{metres // 1000} km" if metres >= 1000 else f"{metres} m"
    high = round(sizes.font * 1.5)
    pen.rectangle([x - 3, y - high - 3, x + max(across, pen.textlength(words, _font(sizes.font))) + 4, y + 3], PAPER)
    pen.rectangle([x, y - 2, x + across, y], INK)
    pen.text((x, y - high / 2 - 3), words, INK, _font(sizes.font), "lm")


@lru_cache(maxsize=64)
def _font(size: int) -> Any:  # noqa: ANN401  (of Pillow)
    from PIL import ImageFont

    return ImageFont.load_default(size)
