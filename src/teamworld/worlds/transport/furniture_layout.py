"""Places the furniture of a room: at walls, in corners, in the middle, around tables and on walls.

The way through openings stays free, and so does the floor in front of what stands at a wall. Whether one can really
walk everywhere is for ``generator`` to check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from teamworld.worlds.transport.furnishing import COUNTERS, GROUPS, MODELS, SHORTEST_COUNTER, Spot
from teamworld.worlds.transport.house_plan import Area, Blocked, Opening
from teamworld.worlds.transport.scene import Furniture, RoomKind

#: Between furniture and the wall behind it.
GAP: Final = 4
#: Free floor in front of furniture at a wall, and around tables: the probe of a walking agent is 64 cm wide.
FRONT: Final = 70
#: Free floor on both sides of an opening.
DOORWAY: Final = 110
#: Between a sofa and the table before it, and between a table and the chairs around it.
_SOFA_GAP, _CHAIR_GAP = 44, 4
_TRIES: Final = 40


class Piece(NamedTuple):
    """A piece of furniture in its place."""

    model: str
    x: int
    z: int
    """Its middle."""
    yaw: int
    """Degrees clockwise from +z, to where its front looks."""

    @property
    def area(self) -> Area:
        """The rectangle around it, to whole centimetres outward."""
        model = MODELS[self.model]
        if self.yaw % 90 == 0:
            across, along = (model.depth, model.width) if self.yaw % 180 else (model.width, model.depth)
            return Area(self.x, self.z, self.x, self.z).grown(across // 2, along // 2)
        half = math.ceil(math.hypot(model.width, model.depth) / 2)
        return Area(self.x, self.z, self.x, self.z).grown(half)

    def furniture(self) -> Furniture:
        """Return it in metres; the corners are rounded, so that they are the same on every machine."""
        model = MODELS[self.model]
        sine, cosine = math.sin(math.radians(self.yaw)), math.cos(math.radians(self.yaw))
        corners = []
        for right, front in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            across, along = right * model.width / 2, front * model.depth / 2
            x = self.x + across * cosine + along * sine
            z = self.z - across * sine + along * cosine
            corners.append((round(x / 100, 3), round(z / 100, 3)))
        return Furniture(
            name=self.model,
            category=model.category,
            x=self.x / 100,
            z=self.z / 100,
            yaw=float(self.yaw % 360),
            corners=tuple(corners),
            bottom=model.bottom / 100,
            top=model.top / 100,
            is_kinematic=model.is_fixed,
        )


def furnish(kind: RoomKind, area: Area, openings: Iterable[Opening], rng: np.random.Generator) -> list[Piece]:
    """Draw the furniture of a room.

    Args:
        kind: What the room is.
        area: Its floor.
        openings: Those of the whole house; the ways through them stay free.
        rng: Decides everything.

    Raises:
        Blocked: A piece that the room needs has no place.
    """
    doorways = [opening.area.grown(*((DOORWAY, 0) if opening.is_across_x else (0, DOORWAY))) for opening in openings]
    floor = _Floor(area, rng, [doorway for doorway in doorways if doorway.meets(area)])
    if kind == "Kitchen":
        floor.place_counter()
    for group in GROUPS[kind]:
        for _ in range(int(rng.choice(group.counts))):
            model = group.models[rng.integers(len(group.models))]
            is_placed = any(floor.place(model, spot) for spot in group.spots)
            if group.is_needed and not is_placed:
                raise Blocked(f"no place for a {model}")
    return floor.pieces


@dataclass
class _Floor:
    """A room while it is furnished."""

    area: Area
    rng: np.random.Generator
    kept: list[Area]
    """Must stay free of furniture."""
    pieces: list[Piece] = field(default_factory=list)
    taken: list[Area] = field(default_factory=list)
    """What stands there."""
    hung: list[Area] = field(default_factory=list)
    """What hangs on the walls."""

    def place(self, model: str, spot: Spot) -> bool:
        """Place a piece at a spot of a kind; say whether there was a place."""
        ways: Mapping[Spot, Callable[[str], bool]] = {
            "wall": self._at_wall,
            "corner": self._in_corner,
            "middle": self._in_middle,
            "before_sofa": self._before_sofa,
            "around_table": self._around_table,
            "hung": self._on_wall,
        }
        return ways[spot](model)

    def place_counter(self) -> None:
        """Place the counter of a kitchen along a wall, from a corner on, with cabinets on the wall above it.

        Raises:
            Blocked: No wall is long enough.
        """
        orders = [COUNTERS[i] for i in self.rng.permutation(len(COUNTERS))]
        walls = [int(wall) for wall in self.rng.permutation(4)]
        for order in (*orders, SHORTEST_COUNTER):
            for wall in walls:
                length = sum(MODELS[name].width for name in order)
                spare = self._side(wall) - 2 * GAP - length
                for start in (GAP, GAP + spare // 2 * 2) if spare >= 0 else ():
                    if self._take_counter(order, wall, start):
                        return
        raise Blocked("no wall for a counter")

    def _take_counter(self, order: Sequence[str], wall: int, start: int) -> bool:
        pieces, hung = [], []
        for name in order:
            pieces.append(self._against(name, wall, start))
            if name == "base_cabinet":
                hung.append(self._against("wall_cabinet", wall, start))
            start += MODELS[name].width
        if not all(self._fits(piece.area, self._front(piece, wall)) for piece in pieces):
            return False
        for piece in pieces:
            self._take(piece, self._front(piece, wall))
        self.pieces += hung
        self.hung += [piece.area for piece in hung]
        return True

    # ---- spots

    def _at_wall(self, model: str) -> bool:
        """Place a piece with its back to a wall."""
        width = MODELS[model].width
        for _ in range(_TRIES):
            wall = int(self.rng.integers(4))
            spare = self._side(wall) - 2 * GAP - width
            if spare < 0:
                continue
            piece = self._against(model, wall, GAP + 2 * int(self.rng.integers(spare // 2 + 1)))
            if self._fits(piece.area, self._front(piece, wall)):
                self._take(piece, self._front(piece, wall))
                return True
        return False

    def _in_corner(self, model: str) -> bool:
        """Place a piece in a corner, turned as it comes."""
        for corner in self.rng.permutation(4):
            piece = Piece(model, 0, 0, 15 * int(self.rng.integers(24)))
            half = (piece.area.x1 + GAP, piece.area.z1 + GAP)
            x = self.area.x0 + half[0] if corner % 2 else self.area.x1 - half[0]
            z = self.area.z0 + half[1] if corner < 2 else self.area.z1 - half[1]
            piece = piece._replace(x=x, z=z)
            if self._fits(piece.area):
                self._take(piece)
                return True
        return False

    def _in_middle(self, model: str) -> bool:
        """Place a piece that one can walk around."""
        for _ in range(_TRIES):
            piece = Piece(model, 0, 0, 90 * int(self.rng.integers(4)))
            inner = self.area.grown(-piece.area.x1 - FRONT, -piece.area.z1 - FRONT)
            if min(inner.sides) < 0:
                continue
            x, z = (int(self.rng.integers(side // 2 + 1)) * 2 for side in inner.sides)
            piece = piece._replace(x=inner.x0 + x, z=inner.z0 + z)
            if self._fits(piece.area, piece.area.grown(FRONT)):
                self._take(piece)  # chairs may stand around it
                return True
        return False

    def _before_sofa(self, model: str) -> bool:
        """Place a table before a sofa that has none yet."""
        for sofa in self._standing("sofa"):
            away = _SOFA_GAP + (MODELS[sofa.model].depth + MODELS[model].depth) // 2
            piece = Piece(model, *_ahead(sofa, away), sofa.yaw)
            if self._fits(piece.area, ignored=self._front(sofa, sofa.yaw // 90)):
                self._take(piece)
                return True
        return False

    def _around_table(self, model: str) -> bool:
        """Place a chair at a side of a table, facing it, a little askew."""
        for table in self._standing("table"):
            for side in self.rng.permutation(4):
                yaw = (table.yaw + 90 * int(side)) % 360
                reach = MODELS[table.model].width if side % 2 else MODELS[table.model].depth
                askew = 15 * int(self.rng.integers(-2, 3))
                chair = Piece(model, 0, 0, (yaw + 180 + askew) % 360)
                away = reach // 2 + _CHAIR_GAP + max(chair.area.x1, chair.area.z1)
                x, z = _ahead(table._replace(yaw=yaw), away)
                chair = chair._replace(x=x, z=z)
                if self._fits(chair.area, ignored=self._front(table, table.yaw // 90)):
                    self._take(chair)
                    return True
        return False

    def _on_wall(self, model: str) -> bool:
        """Hang a piece on a wall, clear of openings and of what hangs there."""
        for _ in range(_TRIES):
            wall = int(self.rng.integers(4))
            spare = self._side(wall) - 2 * GAP - MODELS[model].width
            if spare < 0:
                continue
            piece = self._against(model, wall, GAP + 2 * int(self.rng.integers(spare // 2 + 1)), gap=0)
            if not any(piece.area.meets(other) for other in (*self.kept[: self._doorways], *self.hung)):
                self.pieces.append(piece)
                self.hung.append(piece.area)
                return True
        return False

    # ---- geometry

    def __post_init__(self) -> None:
        """Remember which of the kept areas are doorways: what hangs on walls heeds these alone."""
        self._doorways = len(self.kept)

    def _side(self, wall: int) -> int:
        """Return the length of a wall: 0 is that of the lower z, 1 of the lower x, 2 and 3 those opposite."""
        return self.area.sides[wall % 2]

    def _against(self, model: str, wall: int, along: int, gap: int = GAP) -> Piece:
        """Return a piece with its back to a wall, so far along it."""
        across, away = along + MODELS[model].width // 2, gap + MODELS[model].depth // 2
        x0, z0, x1, z1 = self.area
        x, z = ((x0 + across, z0 + away), (x0 + away, z0 + across), (x0 + across, z1 - away), (x1 - away, z0 + across))[
            wall
        ]
        return Piece(model, x, z, 90 * wall)

    def _front(self, piece: Piece, wall: int) -> Area:
        """Return the floor before a piece that looks away from a wall."""
        x0, z0, x1, z1 = piece.area
        return (
            Area(x0, z1, x1, z1 + FRONT), Area(x1, z0, x1 + FRONT, z1),
            Area(x0, z0 - FRONT, x1, z0), Area(x0 - FRONT, z0, x0, z1),
        )[wall]  # fmt: skip

    def _standing(self, category: str) -> list[Piece]:
        """Return the pieces of a category in an order that is drawn."""
        pieces = [piece for piece in self.pieces if MODELS[piece.model].category == category]
        return [pieces[i] for i in self.rng.permutation(len(pieces))]

    def _fits(self, solid: Area, front: Area | None = None, ignored: Area | None = None) -> bool:
        """Whether a piece may stand somewhere, with the floor before it free."""
        kept = [area for area in self.kept if area != ignored]
        if not solid.within(self.area) or any(solid.meets(area) for area in (*kept, *self.taken)):
            return False
        return front is None or (front.within(self.area) and not any(front.meets(area) for area in self.taken))

    def _take(self, piece: Piece, front: Area | None = None) -> None:
        self.pieces.append(piece)
        self.taken.append(piece.area)
        if front is not None:
            self.kept.append(front)


def _ahead(piece: Piece, distance: int) -> tuple[int, int]:
    """Return the point so far before the middle of a piece that looks along an axis."""
    right, front = ((0, 1), (1, 0), (0, -1), (-1, 0))[piece.yaw // 90 % 4]
    return piece.x + right * distance, piece.z + front * distance
