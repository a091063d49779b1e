"""Pictures of a home from plain data (``drawing_data``): as a floor plan in pixels, and as text.

North is where z grows. Containers are filled while they are closed and outlined once they are open; what they hide is
shown faintly. The target of the goal is green. Things are tags with two letters of their class, a number on it where
several lie in one place; agents are discs with a nose that points where they look, what they hold beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, fsum, radians, sin
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.household.drawing_data import STYLE, Snapshot, Static, check_version, hiding_of, text
from teamworld.worlds.household.homes.home import NAMES
from teamworld.worlds.household.sheet import CLOSED, FINE, INK, PAPER, Area, Plan, Spot, Tag, mix

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["frame", "mark", "text"]

SOFT, WALL = STYLE["soft"], STYLE["wall"]
ROOMS, ANY_ROOM = STYLE["rooms"], STYLE["any_room"]
(FURNITURE, RIM), (_, SHUT_RIM), (OPEN, _) = STYLE["furniture"], STYLE["closed"], STYLE["open"]
TARGET, TARGET_RIM = STYLE["target"]
#: By id.
AGENTS: Final = (
    "#0b4f8a", "#a33b00", "#00694c", "#8a2f6b", "#4b3f9e", "#7a5200", "#1f6f78", "#8c1c2e", "#3b4a54", "#5b6b00",
)  # fmt: skip
#: Pixels of a picture without a given width, and the least and most.
WIDTH, LEAST, MOST = 900, 160, 4000


def mark(name: str) -> str:
    """Return the two letters of a class."""
    return str(STYLE["marks"].get(name, name[:2].title()))


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
    plan = Plan(static, int(pixels))
    _draw_rooms(plan, static)
    _draw_furniture(plan, static, snapshot)
    _draw_names(plan, static, snapshot)
    tags = list(_tags(plan, static, snapshot))
    for tag in tags:
        plan.leader(tag)
    for tag in tags:
        plan.tag(tag)
    _draw_agents(plan, static, snapshot)
    _draw_legend(plan, static, snapshot)
    small = plan.image.resize((plan.width, plan.height), Image.Resampling.BOX)
    return np.asarray(small, np.uint8).copy()


def _draw_rooms(plan: Plan, static: Static) -> None:
    """Draw floors and walls, and the doors as gaps in these."""
    wall = max(14 * plan.scale, 1.5)
    for room in static["rooms"]:
        plan.box(room["box"], ROOMS.get(room["name"], ANY_ROOM), WALL, wall, -wall / 2)
    for door in static["doors"]:
        (x, z), half = door["at"], door["width"] / 2
        thin = wall / plan.scale / 2 + 1
        across, along = (thin, half) if door["across"] == "x" else (half, thin)
        (x0, y0), (x1, y1) = plan.spot(x - across, z + along), plan.spot(x + across, z - along)
        plan.pen.rectangle([x0 * FINE, y0 * FINE, x1 * FINE, y1 * FINE], STYLE["door"])


def _draw_furniture(plan: Plan, static: Static, snapshot: Snapshot) -> None:
    opened = set(snapshot["open"])
    thick = max(1.3 * plan.unit, 0.7)
    for piece in static["furniture"]:
        shut = piece["container"] and piece["id"] not in opened
        if piece["goal"]:
            plan.box(piece["box"], mix(TARGET, TARGET_RIM, 0.35) if shut else TARGET, TARGET_RIM, 2.2 * thick)
        elif not piece["container"]:
            plan.box(piece["box"], FURNITURE, RIM, thick)
        elif shut:
            plan.box(piece["box"], CLOSED, SHUT_RIM, thick)
        else:
            plan.box(piece["box"], OPEN, SHUT_RIM, 1.6 * thick)


def _draw_names(plan: Plan, static: Static, snapshot: Snapshot) -> None:
    """Write what rooms and pieces are where there is room for it: rooms where they cover the least."""
    pieces = [plan.area(piece["box"]) for piece in static["furniture"]]
    taken: list[Area] = []
    for room in static["rooms"]:
        inner, size = plan.area(room["box"]), max(14 * plan.unit, 9.0)
        long, edge = plan.length(room["name"], size), 9 * plan.unit
        far, low = inner.x1 - inner.x0 - 2 * edge - long, inner.y1 - inner.y0 - 2 * edge - size
        corners = ((inner.x0 + edge + far * i / 6, inner.y0 + edge + low * j / 8) for j in range(9) for i in range(7))
        places = [Area(x, y, x + long, y + size) for x, y in corners]
        place = min(places, key=lambda spot: sum(map(spot.shared, pieces)))
        tint = ROOMS.get(room["name"], ANY_ROOM)
        plan.words((place.x0, place.y0), room["name"], size, SOFT, "la", tint)
        taken.append(place)
    kinds = {piece["id"]: piece for piece in static["furniture"]}
    rooms = [plan.area(room["box"]) for room in static["rooms"]]
    together = static.get("touching", [])
    alone = [[number] for number in kinds if not any(number in group for group in together)]
    for numbers in [*together, *alone]:
        piece, own = kinds[numbers[0]], [plan.area(kinds[number]["box"]) for number in numbers]
        words = piece["name"] + (f" x{len(numbers)}" if len(numbers) > 1 else "")
        around = Area(*map(min, list(zip(*own, strict=True))[:2]), *map(max, list(zip(*own, strict=True))[2:]))
        others = [area for area in pieces if area not in own]
        spot = _find_label(plan, around, own, rooms, [*taken, *others], plan.length(words, plan.small))
        if spot is not None:
            ink = TARGET_RIM if piece["goal"] else "#3d4750" if piece["container"] else "#8b8172"
            halo = "" if any(map(spot.within, own)) else PAPER
            plan.words((spot.x0, spot.y1), words, plan.small, ink, "ls", halo)
            taken.append(spot)


def _find_label(
    plan: Plan, around: Area, own: Sequence[Area], rooms: Sequence[Area], taken: Sequence[Area], long: float
) -> Area | None:
    """Return where a name of a length has room: within a piece, else beside it, in a room first; None if nowhere."""
    size = plan.small
    places = [
        Area((piece.x0 + piece.x1 - long) / 2, y - size, (piece.x0 + piece.x1 + long) / 2, y)
        for piece in own
        for y in (piece.y1 - 3, (piece.y0 + piece.y1 + size) / 2)
    ]
    inside = [place for place in places if any(map(place.within, own))]
    middle, down = (around.x0 + around.x1 - long) / 2, (around.y0 + around.y1 - size) / 2
    beside = [
        Area(x, y, x + long, y + size)
        for far in (2.0, 2 * size, 4 * size)
        for x, y in (
            (middle, around.y1 + far), (middle, around.y0 - size - far),
            (around.x1 + far, down), (around.x0 - long - far, down),
        )
    ]  # fmt: skip
    sheet = Area(0, 0, plan.width, plan.floor)
    beside = [place for place in beside if place.within(sheet)]
    beside.sort(key=lambda place: not any(map(place.within, rooms)))
    return next((place for place in [*inside, *beside] if not any(map(place.shared, taken))), None)


def _classes(static: Static) -> list[int]:
    """Return for each thing the place of its class among the needs."""
    names = [need["name"] for need in static["needs"]]
    return [names.index(thing["name"]) for thing in static["things"]]


def _tags(plan: Plan, static: Static, snapshot: Snapshot) -> Iterator[Tag]:
    """Go through the things that nobody holds: those of a class in one place are one tag, and no tag covers another."""
    boxes = {piece["id"]: piece["box"] for piece in static["furniture"]}
    hiding = hiding_of(static, snapshot)
    rooms = {room["id"] for room in static["rooms"]}
    heaps: dict[tuple[Any, ...], list[Spot]] = {}
    for thing, need, (relation, place, x, z) in zip(
        static["things"], _classes(static), snapshot["things"], strict=True
    ):
        if relation != "HELD":
            heaps.setdefault((relation, place, thing["id"] if place in rooms else 0, need), []).append(plan.spot(x, z))
    areas, taken = [plan.area(room["box"]) for room in static["rooms"]], list[Spot]()
    for (relation, place, _, need), spots in heaps.items():
        home = fsum(x for x, _ in spots) / len(spots), fsum(y for _, y in spots) / len(spots)
        if relation == "INSIDE" and place in boxes:
            box = boxes[place]
            home = plan.spot((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        at = _find_spot(home, taken, areas, STYLE["apart"] * plan.unit)
        taken.append(at)
        faint = relation == "INSIDE" and place in hiding
        yield Tag(at, need, mark(static["needs"][need]["name"]), len(spots), faint, home)


#: Steps aside that a tag may take, the shortest first.
_ASIDE: Final = sorted(
    ((i, j) for i in range(-6, 7) for j in range(-6, 7)), key=lambda at: (at[0] ** 2 + at[1] ** 2, at)
)


def _find_spot(home: Spot, taken: Sequence[Spot], areas: Sequence[Area], apart: float) -> Spot:
    """Return the place nearest to where a tag belongs at which it covers no other and lies in a room."""
    for i, j in _ASIDE:
        x, y = home[0] + i * apart / 2, home[1] + j * apart / 2
        is_inside = any(
            room.x0 + apart / 2 <= x <= room.x1 - apart / 2 and room.y0 + apart / 2 <= y <= room.y1 - apart / 2
            for room in areas
        )
        if is_inside and all(max(abs(x - a), abs(y - b)) >= apart for a, b in taken):
            return x, y
    return home


def _draw_agents(plan: Plan, static: Static, snapshot: Snapshot) -> None:
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
                plan.tag(Tag(at, need or 0, "?" if need is None else mark(static["needs"][need]["name"]), 1))
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


def _draw_legend(plan: Plan, static: Static, snapshot: Snapshot) -> None:
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
        plan.tag(Tag((left + 9 * plan.unit, down), k, mark(needed["name"]), 1))
        words = f"{needed['name']}  {needed['number'] - missing} of {needed['number']}"
        plan.words((left + 25 * plan.unit, down), words, size, SOFT if missing == 0 else INK, "lm")
        start = left + 33 * plan.unit + plan.length(words, size)
        for unit in range(needed["number"]):
            done = unit < needed["number"] - missing
            at = (start + unit * 13 * plan.unit, down)
            plan.disc(at, 4.6 * plan.unit, TARGET_RIM if done else PAPER, TARGET_RIM, 1.3 * plan.unit)
    left, down = x, y + line * (-(-len(static["needs"]) // plan.columns) + 1)
    small = 11 * plan.unit
    for name, words in STYLE["legend"]:
        fill, rim = STYLE[name]
        corners = [left * FINE, (down - small / 2) * FINE, (left + small) * FINE, (down + small / 2) * FINE]
        plan.pen.rectangle(corners, fill, rim, FINE)
        plan.words((left + small * 1.4, down), words, small, SOFT, "lm")
        left += small * 2.6 + plan.length(words, small)
    plan.words((left, down), "pale: hidden", small, SOFT, "lm")
