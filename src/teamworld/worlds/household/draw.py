"""Pictures of a home from plain data (``scene``): as a floor plan in pixels, and as text.

North is where z grows. Containers are filled while they are closed and outlined once they are open; what they hide is
shown faintly. The target of the goal is green. Things are tags with two letters of their class, a number on it where
several lie in one place; agents are discs with a nose that points where they look, what they hold beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, radians, sin
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.household.drawing_data import Snapshot, Static, check_version, hiding_of, text
from teamworld.worlds.household.homes.home import NAMES

if TYPE_CHECKING:
    import numpy.typing as npt
    from PIL import ImageFont

__all__ = ["frame", "mark", "text"]

Colour: TypeAlias = str
Spot: TypeAlias = tuple[float, float]
"""Pixels from the left and from the top."""

PAPER, INK, SOFT, WALL = "#ffffff", "#20262c", "#6a737c", "#4a5058"
ROOMS: Final[Mapping[str, Colour]] = {
    "kitchen": "#fbf2df", "bathroom": "#e2eff5", "bedroom": "#f1e9f6", "livingroom": "#e9f3e6",
}  # fmt: skip
ANY_ROOM = "#f0f0ee"
FURNITURE, RIM, CLOSED, OPEN, SHUT_RIM = "#e4dccf", "#c9bfae", "#98a5b1", "#ffffff", "#5f6d79"
TARGET, TARGET_RIM = "#bfe5cf", "#00795a"
#: Of the things, by the place of their class among the needs; of the agents, by id.
THINGS: Final = ("#ffd34d", "#f2a3b3", "#9bd0f5", "#b9dd7f", "#cdb4ea", "#f7b27a")
AGENTS: Final = (
    "#0b4f8a", "#a33b00", "#00694c", "#8a2f6b", "#4b3f9e", "#7a5200", "#1f6f78", "#8c1c2e", "#3b4a54", "#5b6b00",
)  # fmt: skip
#: Pixels of a picture without a given width, and the least and most.
WIDTH, LEAST, MOST = 900, 160, 4000
_FINE: Final = 3  # drawn so many times larger, then made smaller: smooth edges
_MARGIN: Final = 30  # centimetres round the home


def mark(name: str) -> str:
    """Return the two letters of a class."""
    return {"cutleryfork": "Fo"}.get(name, name[:2].title())


def frame(static: Static, snapshot: Snapshot, width: int | None = None) -> npt.NDArray[np.uint8]:
    """Draw a moment as a floor plan, with what the goal still lacks below it (extra ``[plots]``).

    Args:
        static: What does not change.
        snapshot: The moment.
        width: Pixels, 160 to 4000; 900 if None. The height follows from the home.

    Returns:
        uint8 array of shape (height, width, 3).

    Raises:
        UserError: If the width is no such integer, the data is of another version, or Pillow is not installed.
    """
    check_version(static, snapshot)
    pixels = WIDTH if width is None else width
    if isinstance(pixels, bool) or not isinstance(pixels, (int, np.integer)) or not LEAST <= pixels <= MOST:
        raise UserError(f"width must be None or an integer from {LEAST} to {MOST} (pixels), got {width!r}")
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError(f"pictures need Pillow ({error}): run pip install 'teamworld[plots]'") from None
    plan = _Plan(static, int(pixels))
    _draw_rooms(plan, static)
    _draw_furniture(plan, static, snapshot)
    _draw_names(plan, static, snapshot)
    for tag in _tags(plan, static, snapshot):
        plan.tag(tag)
    _draw_agents(plan, static, snapshot)
    _draw_legend(plan, static, snapshot)
    small = plan.image.resize((plan.width, plan.height), Image.Resampling.BOX)
    return np.asarray(small, np.uint8).copy()


class _Area(NamedTuple):
    """A box of the picture, pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    def shared(self, other: _Area) -> float:
        """Return how much of it another covers."""
        across = min(self.x1, other.x1) - max(self.x0, other.x0)
        return max(0.0, across) * max(0.0, min(self.y1, other.y1) - max(self.y0, other.y0))


class _Tag(NamedTuple):
    """One or more things of a class in one place."""

    at: Spot
    need: int
    """Place of the class among the needs, which gives the colour."""
    words: str
    number: int
    faint: bool = False


class _Plan:
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
        self.columns = 2 if width >= 420 else 1
        rows = -(-len(static["needs"]) // self.columns)
        self.height = round(self.floor + self.line * (rows + 1.4))
        self.image = Image.new("RGB", (width * _FINE, self.height * _FINE), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def spot(self, x: float, z: float) -> Spot:
        """Return the pixels of a place."""
        return (x - self.left) * self.scale, (self.top - z) * self.scale

    def area(self, box: Sequence[int]) -> _Area:
        """Return the pixels of a box of the floor."""
        return _Area(*self.spot(box[0], box[3]), *self.spot(box[2], box[1]))

    def box(self, box: Sequence[int], fill: Colour | None, rim: Colour, thick: float, less: float = 0.0) -> None:
        """Draw a box of the floor, ``less`` pixels smaller on all sides."""
        x0, y0, x1, y1 = self.area(box)
        round_ = min(3 * self.unit, (x1 - x0) / 4, (y1 - y0) / 4)
        corners = [(x0 + less) * _FINE, (y0 + less) * _FINE, (x1 - less) * _FINE, (y1 - less) * _FINE]
        self.pen.rounded_rectangle(corners, round_ * _FINE, fill, rim, max(1, round(thick * _FINE)))

    def words(self, at: Spot, words: str, size: float, fill: Colour = INK, anchor: str = "mm", halo: str = "") -> None:
        """Write, ``size`` pixels high, perhaps with a rim of a colour round the letters."""
        rim = round(size * 0.18 * _FINE) if halo else 0
        self.pen.text(
            (at[0] * _FINE, at[1] * _FINE), words, fill, _font(round(size * _FINE)), anchor,
            stroke_width=rim, stroke_fill=halo or None,
        )  # fmt: skip

    def length(self, words: str, size: float) -> float:
        """Return how long words are, pixels."""
        return float(_font(round(size * _FINE)).getlength(words)) / _FINE

    def disc(self, at: Spot, radius: float, fill: Colour, rim: Colour | None = None, thick: float = 0.0) -> None:
        """Draw a disc."""
        (x, y), far = at, radius
        corners = [(x - far) * _FINE, (y - far) * _FINE, (x + far) * _FINE, (y + far) * _FINE]
        self.pen.ellipse(corners, fill, rim, round(thick * _FINE))

    def pointer(self, at: Spot, radius: float, ahead: float, fill: Colour) -> None:
        """Draw a disc with a nose."""
        nose = [
            (at[0] + far * radius * sin(ahead + side), at[1] - far * radius * cos(ahead + side))
            for far, side in ((1.65, 0.0), (0.95, 0.85), (0.95, -0.85))
        ]
        self.pen.polygon([(x * _FINE, y * _FINE) for x, y in nose], fill)
        self.disc(at, radius, fill)

    def tag(self, tag: _Tag, size: float = 1.0) -> None:
        """Draw a thing, or several."""
        half = 8.5 * self.unit * size * (0.72 if tag.faint else 1.0)
        colour = THINGS[tag.need % len(THINGS)]
        fill, ink, rim = colour, INK, INK
        if tag.faint:
            fill, ink, rim = _mix(colour, CLOSED, 0.55), _mix(INK, CLOSED, 0.3), _mix(INK, CLOSED, 0.6)
        x, y = tag.at
        corners = [(x - half) * _FINE, (y - half) * _FINE, (x + half) * _FINE, (y + half) * _FINE]
        self.pen.rounded_rectangle(corners, half * 0.55 * _FINE, fill, rim, max(1, round(half * 0.13 * _FINE)))
        self.words((x, y), tag.words, half * 1.15, ink)
        if tag.number > 1:
            at = (x + half * 0.95, y - half * 0.85)
            self.disc(at, half * 0.62, ink)
            self.words(at, str(tag.number), half * 0.95, fill)


def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.load_default(max(size, 4))


def _mix(first: Colour, other: Colour, share: float) -> Colour:
    parts = ((int(first[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _draw_rooms(plan: _Plan, static: Static) -> None:
    """Draw floors and walls, and the doors as gaps in these."""
    wall = max(14 * plan.scale, 1.5)
    for room in static["rooms"]:
        plan.box(room["box"], ROOMS.get(room["name"], ANY_ROOM), WALL, wall, -wall / 2)
    for door in static["doors"]:
        (x, z), half = door["at"], door["width"] / 2
        thin = wall / plan.scale / 2 + 1
        across, along = (thin, half) if door["across"] == "x" else (half, thin)
        (x0, y0), (x1, y1) = plan.spot(x - across, z + along), plan.spot(x + across, z - along)
        plan.pen.rectangle([x0 * _FINE, y0 * _FINE, x1 * _FINE, y1 * _FINE], "#f4eee2")


def _draw_furniture(plan: _Plan, static: Static, snapshot: Snapshot) -> None:
    opened = set(snapshot["open"])
    thick = max(1.3 * plan.unit, 0.7)
    for piece in static["furniture"]:
        shut = piece["container"] and piece["id"] not in opened
        if piece["goal"]:
            plan.box(piece["box"], _mix(TARGET, TARGET_RIM, 0.35) if shut else TARGET, TARGET_RIM, 2.2 * thick)
        elif not piece["container"]:
            plan.box(piece["box"], FURNITURE, RIM, thick)
        elif shut:
            plan.box(piece["box"], CLOSED, SHUT_RIM, thick)
        else:
            plan.box(piece["box"], OPEN, SHUT_RIM, 1.6 * thick)


def _draw_names(plan: _Plan, static: Static, snapshot: Snapshot) -> None:
    """Write what rooms and pieces are where there is room for it: rooms where they cover the least."""
    pieces = [plan.area(piece["box"]) for piece in static["furniture"]]
    taken: list[_Area] = []
    for room in static["rooms"]:
        inner, size = plan.area(room["box"]), max(14 * plan.unit, 9.0)
        long, edge = plan.length(room["name"], size), 9 * plan.unit
        far, low = inner.x1 - inner.x0 - 2 * edge - long, inner.y1 - inner.y0 - 2 * edge - size
        corners = ((inner.x0 + edge + far * i / 6, inner.y0 + edge + low * j / 8) for j in range(9) for i in range(7))
        places = [_Area(x, y, x + long, y + size) for x, y in corners]
        place = min(places, key=lambda spot: sum(map(spot.shared, pieces)))
        tint = ROOMS.get(room["name"], ANY_ROOM)
        plan.words((place.x0, place.y0), room["name"], size, SOFT, "la", tint)
        taken.append(place)
    if plan.unit < 0.75:
        return
    busy = {place for _, place, _, _ in snapshot["things"]}
    for k, piece in reversed([*enumerate(static["furniture"])]):  # what stands higher comes first
        area, size = pieces[k], 8.5 * plan.unit
        long = plan.length(piece["name"], size)
        foot = area.y1 - 3 * plan.unit
        label = _Area((area.x0 + area.x1 - long) / 2, foot - size, (area.x0 + area.x1 + long) / 2, foot)
        least = (44 if piece["id"] in busy else 13) * plan.unit
        if long > area.x1 - area.x0 - 2 * plan.unit or area.y1 - area.y0 < least:
            continue
        if not any(map(label.shared, [*taken, *pieces[k + 1 :]])):
            ink = TARGET_RIM if piece["goal"] else "#3d4750" if piece["container"] else "#8b8172"
            plan.words(((area.x0 + area.x1) / 2, foot), piece["name"], size, ink, "ms")
            taken.append(label)


def _classes(static: Static) -> list[int]:
    """Return for each thing the place of its class among the needs."""
    names = [need["name"] for need in static["needs"]]
    return [names.index(thing["name"]) for thing in static["things"]]


def _tags(plan: _Plan, static: Static, snapshot: Snapshot) -> Iterator[_Tag]:
    """Go through the things that nobody holds: those of a class in one place together, those in one place in rows."""
    boxes = {piece["id"]: piece["box"] for piece in static["furniture"]}
    hiding = hiding_of(static, snapshot)
    rooms = {room["id"]: plan.area(room["box"]) for room in static["rooms"]}
    heaps: dict[tuple[Any, ...], dict[int, list[Spot]]] = {}
    for thing, need, (relation, place, x, z) in zip(
        static["things"], _classes(static), snapshot["things"], strict=True
    ):
        if relation != "HELD":
            key = (relation, place, thing["id"] if place in rooms else 0)
            heaps.setdefault(key, {}).setdefault(need, []).append(plan.spot(x, z))
    for (relation, place, _), kinds in heaps.items():
        faint = relation == "INSIDE" and place in hiding
        if relation == "INSIDE" and place in boxes:
            box = boxes[place]
            middle = plan.spot((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        else:
            spots = [spot for numbers in kinds.values() for spot in numbers]
            middle = sum(x for x, _ in spots) / len(spots), sum(y for _, y in spots) / len(spots)
        places = _rows(plan, middle, len(kinds), faint, rooms.values())
        for (need, numbers), at in zip(sorted(kinds.items()), places, strict=True):
            yield _Tag(at, need, mark(static["needs"][need]["name"]), len(numbers), faint)


def _rows(plan: _Plan, middle: Spot, number: int, faint: bool, rooms: Iterable[_Area]) -> list[Spot]:
    """Return the places of tags round a middle, three in a row, moved so that all are within the room."""
    apart = 20 * plan.unit * (0.72 if faint else 1.0)
    down = (number + 2) // 3
    spots = []
    for k in range(number):
        row, rest = k // 3, min(3, number - k // 3 * 3)
        spots.append((middle[0] + (k % 3 - (rest - 1) / 2) * apart, middle[1] + (row - (down - 1) / 2) * apart))
    x, y = middle
    for room in rooms:
        if room.x0 <= x <= room.x1 and room.y0 <= y <= room.y1:
            edge = 12 * plan.unit
            right = max(0.0, room.x0 + edge - min(spots)[0]) - max(0.0, max(spots)[0] - room.x1 + edge)
            return [(at + right, below) for at, below in spots]
    return spots


def _draw_agents(plan: _Plan, static: Static, snapshot: Snapshot) -> None:
    by_id = {thing["id"]: need for thing, need in zip(static["things"], _classes(static), strict=True)}
    radius = 12 * plan.unit
    spots = _apart([plan.spot(x, z) for x, z, _ in snapshot["agents"]], 2.2 * radius)
    for agent, ((x, y), (_, _, heading)) in enumerate(zip(spots, snapshot["agents"], strict=True)):
        colour, ahead = AGENTS[agent % len(AGENTS)], radians(heading)
        for fill, more in ((PAPER, 1.6 * plan.unit), (colour, 0.0)):
            plan.pointer((x, y), radius + more, ahead, fill)
        plan.words((x, y), NAMES[agent][0], radius * 1.2, PAPER)
        for thing, side in zip(snapshot["hands"][agent], (1, -1), strict=True):
            if thing is not None:
                need = by_id.get(thing)
                at = x + side * 1.5 * radius, y - 0.9 * radius
                plan.tag(_Tag(at, need or 0, "?" if need is None else mark(static["needs"][need]["name"]), 1))
        if plan.unit >= 0.6:
            plan.words((x, y + 1.75 * radius), NAMES[agent], 11.5 * plan.unit, colour, "mm", PAPER)


def _apart(spots: Sequence[Spot], least: float) -> list[Spot]:
    """Move those who stand on one another aside."""
    separated: list[Spot] = []
    for x, y in spots:
        at = (x, y)
        for k in range(1, 7):
            if all((at[0] - a) ** 2 + (at[1] - b) ** 2 >= least**2 * 0.5 for a, b in separated):
                break
            at = (x + least * cos(k * 1.05), y + least * sin(k * 1.05))
        separated.append(at)
    return separated


def _draw_legend(plan: _Plan, static: Static, snapshot: Snapshot) -> None:
    """Write below the home what is wanted and how much of it is missing, and the step."""
    size, line = 13 * plan.unit, plan.line
    names = {piece["id"]: piece["name"] for piece in static["furniture"]}
    need = static["needs"][0]
    x, y = 14 * plan.unit, plan.floor + 0.65 * line
    verb = "on" if need["relation"] == "ON" else "into"
    plan.words((x, y), f"{verb} the {names.get(need['target'], 'target')}:", size, TARGET_RIM, "lm")
    plan.words((plan.width - x, y), f"step {snapshot['t']} of {static['steps']}", size, SOFT, "rm")
    for k, (needed, missing) in enumerate(zip(static["needs"], snapshot["missing"], strict=True)):
        left, down = x + (k % plan.columns) * plan.width / 2, y + line * (k // plan.columns + 1)
        plan.tag(_Tag((left + 9 * plan.unit, down), k, mark(needed["name"]), 1))
        words = f"{needed['name']}  {needed['number'] - missing} of {needed['number']}"
        plan.words((left + 25 * plan.unit, down), words, size, SOFT if missing == 0 else INK, "lm")
        start = left + 33 * plan.unit + plan.length(words, size)
        for unit in range(needed["number"]):
            done = unit < needed["number"] - missing
            at = (start + unit * 13 * plan.unit, down)
            plan.disc(at, 4.6 * plan.unit, TARGET_RIM if done else PAPER, TARGET_RIM, 1.3 * plan.unit)
