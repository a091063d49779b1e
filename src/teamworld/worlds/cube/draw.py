"""Pictures of a CUBE world, as pixels or as text.

One pixel per cell needs numpy only. Larger pictures have a grid, round agents and, if Pillow is installed (extra
``[plots]``), labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from teamworld.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from PIL import ImageDraw, ImageFont

    from teamworld.worlds.cube.state import CubeState

#: Colours of the published pictures.
BACKGROUND, GOAL, AGENT, BLOCK = (0, 0, 0), (157, 212, 177), (152, 193, 217), (212, 196, 188)
WHITE, BLACK, RIM = (255, 255, 255), (0, 0, 0), (44, 74, 97)
#: How much of the background shows through the white grid lines.
GRID_STRENGTH = 0.3
#: Background for print, and how much of black its grid lines have.
PAPER, PRINTED_STRENGTH = (252, 252, 250), 0.14
#: Side in pixels that a picture without a given scale comes near to, and the scale from which there is a grid.
DEFAULT_SIDE, GRID_SCALE = 800, 4
#: Smallest font that can be read, in pixels (labels that need a smaller one are left out), and the largest.
MIN_FONT, MAX_FONT = 8, 64
#: Margin round a block's label, as a share of the block's side, and the most that a font may be of it.
MARGIN, LARGEST = 0.1, 0.6

Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a picture needs; small enough to keep one per step."""

    grid_size: int
    step: int
    agents: tuple[tuple[int, int], ...]
    """(row, column) of agent i."""
    blocks: tuple[tuple[int, int, int, int], ...]
    """(id, weight, row, column) of each block that is not delivered; the position is the top-left cell."""


def snapshot(state: CubeState, env: int = 0) -> Snapshot:
    """Return what one environment looks like now."""
    agents = tuple((row, col) for row, col in state.agent_positions(env).tolist())
    live = np.flatnonzero(state.delivered_at[env] == 0).tolist()
    parts = (state.block_weight[env], state.block_row[env], state.block_col[env])
    blocks = tuple((b, *(int(part[b]) for part in parts)) for b in live)
    return Snapshot(state.grid_size, int(state.steps[env]), agents, blocks)  # type: ignore[arg-type]


def frame(
    snapshot: Snapshot, scale: int | None = None, *, labels: bool = True, printed: bool = False
) -> npt.NDArray[np.uint8]:
    """Draw a snapshot.

    Args:
        snapshot: What to draw.
        scale: Pixels per cell; if None, as many as make the side about 800 pixels. At 1 the picture is plain: one
            pixel per cell in the published colours. From 4 there is a grid and agents are round.
        labels: Whether to write A<i> on agents and B<id> and s:<weight> on blocks, where they fit and Pillow is
            installed.
        printed: Whether the background is light, for print, not the published black.

    Returns:
        uint8 array of shape (K * scale, K * scale, 3).

    Raises:
        UserError: If the scale is not an integer of at least 1.
    """
    if scale is None:
        scale = max(1, DEFAULT_SIDE // snapshot.grid_size)
    if isinstance(scale, bool) or not isinstance(scale, (int, np.integer)) or scale < 1:
        raise UserError(f"scale must be None or an integer of at least 1 (pixels per cell), got {scale!r}")
    scale = int(scale)
    side = snapshot.grid_size * scale
    pixels = np.empty((side, side, 3), np.uint8)
    pixels[...] = PAPER if printed else BACKGROUND
    pixels[:, -scale:] = GOAL
    fine = scale >= GRID_SCALE
    if fine:
        _grid_lines(pixels, scale, *((0.0, PRINTED_STRENGTH) if printed else (255.0, GRID_STRENGTH)))
    gap = max(1, scale // 12) if fine else 0
    for _, weight, row, col in snapshot.blocks:
        top, left, size = row * scale + gap, col * scale + gap, weight * scale - 2 * gap + (1 if fine else 0)
        pixels[top : top + size, left : left + size] = BLOCK
    disc = _disc(scale, gap) if fine else np.ones((scale, scale, 1), np.float32)
    for row, col in snapshot.agents:
        cell = pixels[row * scale : (row + 1) * scale, col * scale : (col + 1) * scale]
        cell[...] = np.rint(cell + (np.array(AGENT, np.float32) - cell) * disc).astype(np.uint8)
    return _labelled(pixels, snapshot, scale, gap) if labels and fine else pixels


def still_picture(static: Mapping[str, Any], snapshot: Mapping[str, Any], width: int) -> npt.NDArray[np.uint8]:
    """Draw a moment of a log.

    Args:
        static: ``WorldSpec.static``.
        snapshot: ``World.snapshot``.
        width: Of the picture at most, in pixels.

    Returns:
        uint8 array of shape (side, side, 3).
    """
    placed = enumerate(zip(static["weights"], snapshot["blocks"], strict=True))
    blocks = tuple((block, weight, place[0], place[1]) for block, (weight, place) in placed if place is not None)
    size = static["grid_size"]
    shown = Snapshot(size, 0, tuple((row, col) for row, col in snapshot["agents"]), blocks)
    return frame(shown, max(1, width // size), printed=True)


def _grid_lines(pixels: npt.NDArray[np.uint8], scale: int, shade: float, strength: float) -> None:
    """Bring the first row and column of every cell nearer to a shade of grey, by a share of the way."""
    for lines in (pixels[::scale], pixels[:, ::scale]):
        lines[...] = np.rint(lines + (shade - lines) * strength).astype(np.uint8)


@lru_cache(maxsize=16)
def _disc(scale: int, gap: int) -> npt.NDArray[np.float32]:
    """Return how much of each pixel of a cell an agent's disc covers: (scale, scale, 1), 0 to 1, smooth edge."""
    axis = np.arange(scale) - scale / 2  # one pixel off the centre: the grid line is the cell's first pixel
    distance = np.hypot(axis[:, None], axis[None, :])
    cover: npt.NDArray[np.float32] = np.clip((scale - 1) / 2 - gap + 0.5 - distance, 0, 1).astype(np.float32)
    return cover[:, :, None]


def _labelled(pixels: npt.NDArray[np.uint8], snapshot: Snapshot, scale: int, gap: int) -> npt.NDArray[np.uint8]:
    """Write the labels, if Pillow is there and the font would be readable."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:  # a picture without labels is still a picture
        return pixels
    image = Image.fromarray(pixels)
    pen = ImageDraw.Draw(image)
    for b, weight, row, col in snapshot.blocks:
        room = weight * scale - 2 * gap + 1
        label = _fitting(f"B{b}\ns:{weight}", room) or _fitting(f"B{b}", room)
        _write(pen, (col + weight / 2) * scale, (row + weight / 2) * scale, label, BLACK)
    for i, (row, col) in enumerate(snapshot.agents):
        label = _fitting(f"A{i}", scale - 2 * gap, outline=True)
        _write(pen, (col + 0.5) * scale, (row + 0.5) * scale, label, WHITE)
    return np.asarray(image).copy()


class _Label(NamedTuple):
    """Words in the largest font that fits."""

    words: str
    size: int
    rim: int
    """Width of the outline in pixels."""
    middle: tuple[float, float]
    """Where the middle of the ink comes to lie when written at (0, 0)."""


@lru_cache(maxsize=4096)
def _fitting(words: str, room: int, *, outline: bool = False) -> _Label | None:
    """Return the words in the largest font whose ink fits, or None if it could not be read.

    Args:
        words: One or two lines.
        room: Side of the square that they have to fit into; with an outline, diameter of the disc.
        outline: Whether there is a rim round the letters.
    """
    from PIL import Image, ImageDraw

    pen = ImageDraw.Draw(Image.new("L", (1, 1)))
    for size in range(max(MIN_FONT, min(MAX_FONT, int(LARGEST * room))), MIN_FONT - 1, -1):
        rim = max(1, size // 10) if outline else 0
        left, top, right, bottom = pen.multiline_textbbox((0, 0), words, **_style(size, rim))
        width, height = right - left, bottom - top
        if (math.hypot(width, height) if outline else max(width, height) + 2 * MARGIN * room) <= room:
            return _Label(words, size, rim, ((left + right) / 2, (top + bottom) / 2))
    return None


def _write(pen: ImageDraw.ImageDraw, x: float, y: float, label: _Label | None, color: Color) -> None:
    """Write a label with its middle at a point; white text gets a dark rim, since the agents' blue is too light."""
    if label is not None:
        corner = (round(x + 0.5 - label.middle[0]), round(y + 0.5 - label.middle[1]))  # the grid line shifts the middle
        pen.multiline_text(corner, label.words, fill=color, stroke_fill=RIM, **_style(label.size, label.rim))


def _style(size: int, rim: int) -> dict[str, Any]:
    return {"font": _font(size), "align": "center", "spacing": max(1, size // 6), "stroke_width": rim}


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text(snapshot: Snapshot) -> str:
    """Draw a snapshot as text: three characters per cell, ``A<i>`` agents, ``<id>`` blocks in brackets, ``|`` the goal.

    Numbers of more than two digits are shown by their last two.
    """
    cells = [[" . "] * (snapshot.grid_size - 1) + [" | "] for _ in range(snapshot.grid_size)]
    for b, weight, row, col in snapshot.blocks:
        for r in range(row, row + weight):
            for c in range(col, col + weight):
                cells[r][c] = f"[{b}]" if b < 10 else f"[{b % 100:02d}"
    for i, (row, col) in enumerate(snapshot.agents):
        cells[row][col] = f"A{i} " if i < 10 else f"A{i % 100:02d}"
    weights = "  ".join(f"[{b}] weight {weight}" for b, weight, _, _ in snapshot.blocks) or "none"
    lines = "\n".join("".join(line).rstrip() for line in cells)
    return f"step {snapshot.step}\n{lines}\nblocks left: {weights}"
