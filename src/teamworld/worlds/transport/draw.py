"""Pictures of a house from plain data (``drawing_data``): as a floor plan in pixels, and as text.

North is where z grows. The bed is green, with the circle in which targets count; targets are yellow, containers violet,
things of no use grey. Agents are discs with a nose that points where they look, with the cone that they see, the way
that they came, and what they hold beside them. Below stands what was delivered and what each agent knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, inf, radians, sin
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.transport.drawing_data import STYLE, Snapshot, Static, check_version
from teamworld.worlds.transport.state import TEAM

if TYPE_CHECKING:
    import numpy.typing as npt
    from PIL import ImageDraw

#: Pixels of a picture without a given width, and the least and most.
WIDTH, LEAST, MOST = 1000, 200, 4000
#: Degrees to each side that an agent sees.
HALF_VIEW: Final = 45
_RAYS: Final = 90
_FINE: Final = 2  # drawn so many times larger, then made smaller: smooth edges
_MARGIN: Final = 40  # centimetres round the house
_LINE: Final = 20  # pixels of a line of words, in a picture of WIDTH
_SIGNS: Final = {"target": "o", "container": "u", "unrelated": "."}


def frame(static: Static, snapshot: Snapshot, width: int | None = None) -> npt.NDArray[np.uint8]:
    """Draw a moment as a floor plan (extra ``[plots]``).

    Args:
        static: What does not change.
        snapshot: The moment.
        width: Pixels, 200 to 4000; 1000 if None. The height follows from the house.

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
    sheet = _Sheet(static, len(snapshot["agents"]), int(pixels))
    sheet.rooms()
    sheet.furniture()
    sheet.items(snapshot)
    sheet.agents(snapshot)
    sheet.words(snapshot)
    small = sheet.image.resize((sheet.width, sheet.height), Image.Resampling.BOX)
    return np.asarray(small, np.uint8).copy()


class _Sheet:
    """A sheet that is drawn on in centimetres of the house."""

    def __init__(self, static: Static, agents: int, width: int) -> None:
        from PIL import Image, ImageDraw

        self.static = static
        walls = static["walls"]
        self.left, self.top = min(wall[0] for wall in walls) - _MARGIN, max(wall[3] for wall in walls) + _MARGIN
        across = max(wall[2] for wall in walls) + _MARGIN - self.left
        down = self.top - min(wall[1] for wall in walls) + _MARGIN
        self.scale = width * _FINE / across
        self.unit = width * _FINE / WIDTH
        self.width, self.floor = width, round(down * self.scale)
        self.height = round((self.floor + self.unit * _LINE * (2 + agents)) / _FINE)
        self.image = Image.new("RGB", (width * _FINE, self.height * _FINE), "#ffffff")
        self.pen: ImageDraw.ImageDraw = ImageDraw.Draw(self.image, "RGBA")

    def spot(self, x: float, z: float) -> tuple[float, float]:
        """Return the pixels of a place."""
        return (x - self.left) * self.scale, (self.top - z) * self.scale

    def box(self, box: Sequence[int]) -> list[float]:
        """Return the pixels of a box of the floor."""
        return [*self.spot(box[0], box[3]), *self.spot(box[2], box[1])]

    def disc(self, at: tuple[float, float], radius: float, fill: str | None, rim: str | None = None) -> None:
        """Draw a disc; the radius is in pixels."""
        corners = [at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius]
        self.pen.ellipse(corners, fill, rim, max(1, round(self.unit)))

    def write(self, at: tuple[float, float], words: str, size: float, fill: str, anchor: str = "mm") -> None:
        """Write; the size is in pixels of a picture of the usual width."""
        from PIL import ImageFont

        self.pen.text(at, words, fill, ImageFont.load_default(max(4.0, size * self.unit)), anchor)

    # ---- the house

    def rooms(self) -> None:
        """Draw floors with their names, walls, and the circle round the bed."""
        for room in self.static["rooms"]:
            self.pen.rectangle(self.box(room["box"]), STYLE["rooms"].get(room["name"], STYLE["any_room"]))
        x, z, reach = self.static["bed"]
        self.disc(self.spot(x, z), reach * self.scale, None, STYLE["bed"][1])
        for wall in self.static["walls"]:
            self.pen.rectangle(self.box(wall), STYLE["wall"])

    def furniture(self) -> None:
        """Draw outlines of furniture, and the names of rooms over them."""
        for piece in self.static["furniture"]:
            fill, rim = STYLE["bed" if piece["bed"] else "furniture"]
            self.pen.polygon([self.spot(*corner) for corner in piece["outline"]], fill, rim)
        for room in self.static["rooms"]:
            x0, y0, _, _ = self.box(room["box"])
            at = x0 + 6 * self.unit, y0 + 4 * self.unit
            self.write(at, f"{room['name']} {room['id']}", 12, STYLE["soft"], "la")

    # ---- what moves

    def items(self, snapshot: Snapshot) -> None:
        """Draw what lies about; of a container how many things are in it."""
        contents = [inside for _, _, _, inside, _ in snapshot["items"]]
        for number, (x, z, holder, inside, _) in enumerate(snapshot["items"]):
            if holder < 0 and inside < 0:
                self.item(number, self.spot(x, z), contents.count(number))

    def item(self, number: int, at: tuple[float, float], count: int) -> None:
        """Draw a thing."""
        item = self.static["items"][number]
        fill, rim = STYLE["other" if item["kind"] == "unrelated" else item["kind"]]
        radius = (5 if item["kind"] == "unrelated" else 8) * self.unit
        self.disc(at, radius, fill, rim)
        if item["kind"] != "unrelated":
            self.write(at, f"{item['name'][:2]}{count or ''}", 9, STYLE["ink"])

    def agents(self, snapshot: Snapshot) -> None:
        """Draw agents with their cones, the ways that they came, and what they hold."""
        contents = [inside for _, _, _, inside, _ in snapshot["items"]]
        for agent, (x, z, heading) in enumerate(snapshot["agents"]):
            colour = STYLE["agents"][agent]
            at, ahead = self.spot(x, z), radians(heading)
            seen = [self.spot(*corner) for corner in list_sight(self.static, (x, z), heading)]
            self.pen.polygon(seen, f"{colour}2a", f"{colour}90")
            trail = [self.spot(*place) for place in (snapshot["trails"] or [[]] * (agent + 1))[agent]]
            if len(trail) > 1:
                self.pen.line(trail, colour, max(1, round(2 * self.unit)))
            radius = 20 * self.scale
            nose = [
                (at[0] + length * radius * sin(ahead + side), at[1] - length * radius * cos(ahead + side))
                for length, side in ((1.7, 0.0), (0.95, 0.85), (0.95, -0.85))
            ]
            self.pen.polygon(nose, colour)
            self.disc(at, radius, colour, "#ffffff")
            self.write(at, TEAM[agent][0], 12, "#ffffff")
            for side, item in zip((-1, 1), snapshot["hands"][agent], strict=True):
                if item >= 0:
                    hand = (
                        at[0] + 1.4 * radius * (sin(ahead) + side * cos(ahead)),
                        at[1] - 1.4 * radius * (cos(ahead) - side * sin(ahead)),
                    )
                    self.item(item, hand, contents.count(item))

    def words(self, snapshot: Snapshot) -> None:
        """Write what was delivered and what each agent knows below the plan."""
        self.pen.rectangle([0, self.floor, *self.image.size], "#ffffff")  # the circle round the bed may reach down here
        for row, line in enumerate(_lines(self.static, snapshot)):
            at = 10 * self.unit, self.floor + (row + 0.2) * _LINE * self.unit
            self.write(at, line, 13, STYLE["ink"], "la")


def list_sight(static: Static, at: tuple[float, float], heading: float) -> list[tuple[float, float]]:
    """Return the corners of the floor that an agent sees: a right angle ahead, as deep as its sight, cut off by walls.

    Args:
        static: What does not change.
        at: Where the agent is, in centimetres.
        heading: In degrees, 0 along z and 90 along x.
    """
    corners = [at]
    for ray in range(_RAYS + 1):
        aside = radians(HALF_VIEW) * (2 * ray / _RAYS - 1)
        way = sin(radians(heading) + aside), cos(radians(heading) + aside)
        far = static["sight"] / cos(aside)
        far = min((far, *(reach for wall in static["walls"] if (reach := _meet(wall, at, way)) > 0)))
        corners.append((at[0] + far * way[0], at[1] + far * way[1]))
    return corners


def _meet(wall: Sequence[float], at: tuple[float, float], way: tuple[float, float]) -> float:
    """Return how far a ray goes until it enters a wall; below 0 if it does not."""
    enters, leaves = -inf, inf
    for axis in (0, 1):
        if way[axis] == 0:
            if not wall[axis] <= at[axis] <= wall[axis + 2]:
                return -1.0
            continue
        near, far = sorted(((wall[axis] - at[axis]) / way[axis], (wall[axis + 2] - at[axis]) / way[axis]))
        enters, leaves = max(enters, near), min(leaves, far)
    return enters if enters <= leaves else -1.0


def _lines(static: Static, snapshot: Snapshot) -> Iterator[str]:
    """Yield what was delivered, and for each agent what it holds and how much it knows."""
    items = static["items"]
    done = [items[k]["name"] for k, (*_, state) in enumerate(snapshot["items"]) if state]
    wanted = ", ".join(f"{done.count(kind)} of {number} {kind}" for kind, number in static["goals"].items())
    yield f"frame {snapshot['t']}: {wanted} delivered"
    useful = sum(item["kind"] != "unrelated" for item in items)
    for agent, hands in enumerate(snapshot["hands"]):
        held = [_name(static, snapshot, item) for item in hands if item >= 0]
        shares = [share for room, share in zip(static["rooms"], snapshot["seen"][agent], strict=True) if _counts(room)]
        seen = round(sum(shares) / max(1, len(shares)))
        moves, blocked = snapshot["moves"][agent]
        known = len(snapshot["known"][agent])
        yield (
            f"{TEAM[agent]} holds {' and '.join(held) or 'nothing'}; knows of {known} of {useful} things; "
            f"{seen} % of the rooms seen; {blocked} of {moves} moves blocked"
        )


def _counts(room: Any) -> bool:  # noqa: ANN401  (plain data)
    return bool(room["name"] in STYLE["rooms"])


def _name(static: Static, snapshot: Snapshot, number: int) -> str:
    """Return a thing that is held, with what is in it."""
    inside = [static["items"][k]["name"] for k, item in enumerate(snapshot["items"]) if item[3] == number]
    contents = f" ({', '.join(inside)})" if inside else ""
    return f"{static['items'][number]['name']}{contents}"


def text(static: Static, snapshot: Snapshot) -> str:
    """Draw a moment as text: a sign for 25 by 50 centimetres, then in words what it cannot show.

    ``#`` walls, ``:`` furniture, ``B`` the bed, ``o`` targets, ``u`` containers, ``.`` things of no use, digits agents.
    """
    check_version(static, snapshot)
    walls = static["walls"]
    left, top = min(wall[0] for wall in walls), max(wall[3] for wall in walls)
    size = (top - min(wall[1] for wall in walls)) // 50 + 1, (max(wall[2] for wall in walls) - left) // 25 + 1
    signs = np.full(size, " ")

    def mark(sign: str, x: float, z: float) -> None:
        row, column = int(top - z) // 50, int(x - left) // 25
        if 0 <= row < size[0] and 0 <= column < size[1]:
            signs[row, column] = sign

    for piece in static["furniture"]:
        xs, zs = zip(*piece["outline"], strict=True)
        for x in np.arange(min(xs), max(xs), 12.5):
            for z in np.arange(min(zs), max(zs), 25.0):
                mark("B" if piece["bed"] else ":", x, z)
    for x0, z0, x1, z1 in walls:
        for x in np.arange(x0, x1 + 1, 6.0):
            for z in np.arange(z0, z1 + 1, 6.0):
                mark("#", x, z)
    for item, (x, z, holder, inside, _) in zip(static["items"], snapshot["items"], strict=True):
        if holder < 0 and inside < 0:
            mark(_SIGNS[item["kind"]], x, z)
    for agent, (x, z, _) in enumerate(snapshot["agents"], 1):
        mark(str(agent), x, z)
    plan = "\n".join("".join(row).rstrip() for row in signs.tolist()).rstrip()
    return f"{plan}\n" + "\n".join(_lines(static, snapshot))
