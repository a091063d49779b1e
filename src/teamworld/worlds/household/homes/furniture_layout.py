"""The furniture of homes of our own, room by room: at walls and in the middle, drawn from one generator.

Furniture leaves the way to doors and the place in front of it free. Whether one really can walk everywhere is for
``home_generator`` to check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from teamworld.worlds.household.homes.floor_plan import Blocked, Opening, Rect, kind_of
from teamworld.worlds.household.homes.furnishing import FURNITURE

#: Between a wall's middle and the furniture at it.
GAP: Final = 8
#: Free floor in front of furniture, and around tables: a body of 0.4 m and some.
FRONT: Final = 70


class Piece(NamedTuple):
    """A piece of furniture in its place."""

    name: str
    rect: Rect
    bottom: int
    top: int
    on: int | None = None
    """Number, in its room, of the piece on which it stands."""


@dataclass
class Floor:
    """A room while it is furnished."""

    rect: Rect
    kept: list[Rect]
    """Must stay free."""
    rng: np.random.Generator
    taken: list[Rect] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    def _fits(self, solid: Rect, free: Rect) -> bool:
        return (
            free.within(self.rect)
            and not any(solid.meets(rect) for rect in self.kept)
            and not any(free.meets(rect) or solid.meets(rect) for rect in self.taken)
        )

    def _take(self, solid: Rect, free: Rect) -> None:
        self.taken.append(solid)
        self.kept.append(free)

    def wall(self, width: int, depth: int, spots: Sequence[tuple[int, int]] = ()) -> tuple[int, int]:
        """Take a place at a wall; return the wall and how far along it.

        Args:
            width: Along the wall.
            depth: From the wall.
            spots: To try first.

        Raises:
            Blocked: There is none.
        """
        walls = [(wall, along) for wall in range(4) for along in range(GAP, self.rect.side(wall) - GAP - width + 1, 10)]
        for wall, along in (*spots, *(walls[i] for i in self.rng.permutation(len(walls)))):
            solid = self.rect.at(wall, along, GAP, width, depth)
            free = self.rect.at(wall, along, GAP + depth, width, FRONT)
            if solid.within(self.rect) and self._fits(solid, free):
                self._take(solid, free)
                return wall, along
        raise Blocked

    def middle(self, width: int, depth: int) -> tuple[Rect, bool]:
        """Take a place away from walls, free all round; return it and whether it is turned.

        Raises:
            Blocked: None was found.
        """
        for _ in range(60):
            turned = bool(self.rng.integers(2))
            w, d = (depth, width) if turned else (width, depth)
            spare = [
                side - size - 2 * FRONT
                for side, size in zip((self.rect.side(0), self.rect.side(1)), (w, d), strict=True)
            ]
            if min(spare) < 0:
                continue
            x, z = (int(self.rng.integers(rest // 5 + 1)) * 5 + FRONT for rest in spare)
            solid = Rect(self.rect.x0 + x, self.rect.z0 + z, self.rect.x0 + x + w, self.rect.z0 + z + d)
            if self._fits(solid, solid.grown(FRONT)):
                self._take(solid, solid.grown(FRONT))
                return solid, turned
        raise Blocked

    def put(self, name: str, rect: Rect, on: int | None = None) -> int:
        """Add a piece and return its number."""
        kind = FURNITURE[name]
        bottom = kind.bottom if on is None else self.pieces[on].top
        self.pieces.append(Piece(name, rect, bottom, bottom + kind.height, on))
        return len(self.pieces) - 1

    def atop(self, name: str, on: int) -> int | None:
        """Stand a piece on another, clear of what stands there; return its number, or None if there is no room."""
        kind, base = FURNITURE[name], self.pieces[on].rect
        for _ in range(12):
            turned = bool(self.rng.integers(2))
            spot = inside(
                base.grown(-2), kind.depth if turned else kind.width, kind.width if turned else kind.depth, self.rng
            )
            if spot is not None and not any(piece.on == on and piece.rect.meets(spot) for piece in self.pieces):
                return self.put(name, spot, on)
        return None


def inside(rect: Rect, width: int, depth: int, rng: np.random.Generator) -> Rect | None:
    """Draw a place of a size in a rectangle, None if it is too small; its middle is on whole centimetres."""
    spare = (rect.x1 - rect.x0 - width, rect.z1 - rect.z0 - depth)
    if min(spare) < 0:
        return None
    x, z = rect.x0 + int(rng.integers(spare[0] + 1)), rect.z0 + int(rng.integers(spare[1] + 1))
    return Rect(x, z, x + width, z + depth)


def _stand(floor: Floor, name: str) -> int:
    """Put a piece at a wall."""
    kind = FURNITURE[name]
    wall, along = floor.wall(kind.width, kind.depth)
    return floor.put(name, floor.rect.at(wall, along, GAP, kind.width, kind.depth))


def _try(floor: Floor, names: Iterable[str]) -> None:
    """Put pieces at walls that need not be there."""
    for name in names:
        try:
            number = _desk(floor) if name == "desk" else _stand(floor, name)
        except Blocked:
            continue
        if name in ("nightstand", "tvstand"):
            floor.atop({"nightstand": "tablelamp", "tvstand": "tv"}[name], number)


def _some(floor: Floor, **chances: float) -> list[str]:
    """Draw which pieces there are; a chance above 1 means one and perhaps another."""
    names = [name for name, chance in chances.items() for number in range(2) if floor.rng.random() < chance - number]
    return [names[i] for i in floor.rng.permutation(len(names))]


def _desk(floor: Floor) -> int:
    """Put a desk with a chair in front of it."""
    desk, chair = FURNITURE["desk"], FURNITURE["chair"]
    wall, along = floor.wall(desk.width, desk.depth + 30)
    number = floor.put("desk", floor.rect.at(wall, along, GAP, desk.width, desk.depth))
    left = (desk.width - chair.width) // 2
    floor.put("chair", floor.rect.at(wall, along + left, GAP + desk.depth - 16, chair.width, chair.depth))
    if floor.rng.random() < 0.6:
        floor.atop("computer", number)
    return number


def _kitchen(floor: Floor) -> None:
    """Fridges, stove, dishwasher and counters with cabinets above in a row where they can, and a table."""
    rng = floor.rng
    cabinets = int(rng.integers(6, 10))
    runs = {6: (3, 3), 7: (3, 4), 8: (4, 4), 9: (3, 3, 3)}[cabinets]
    units = ["fridge"] * int(rng.integers(1, 3)) + ["stove", "dishwasher", *(f"run{n}" for n in runs)]
    spots: list[tuple[int, int]] = []
    counters = []
    for unit in rng.permutation(units).tolist():
        name, number = ("kitchencounter", int(unit[3:])) if unit.startswith("run") else (unit, 1)
        kind = FURNITURE[name]
        width = kind.width * number
        before = [(wall, along - width) for wall, along in spots]
        after = [(wall, along) for wall, along in spots]
        wall, along = floor.wall(width, kind.depth, [*before, *after])
        spots += [(wall, along), (wall, along + width)]
        piece = floor.put(name, floor.rect.at(wall, along, GAP, width, kind.depth))
        if name == "kitchencounter":
            counters.append(piece)
            above = FURNITURE["kitchencabinet"]
            for i in range(number):
                at = floor.rect.at(wall, along + i * above.width, GAP, above.width, above.depth)
                floor.put("kitchencabinet", at)
    for name in ("microwave", "coffeemaker", "toaster"):
        if floor.atop(name, counters[rng.integers(len(counters))]) is None and name == "microwave":
            raise Blocked
    _table(floor)
    _try(floor, _some(floor, sofa=0.3, tvstand=0.3, bookshelf=0.6, nightstand=0.5, garbagecan=0.8))


def _table(floor: Floor) -> None:
    """A table with benches or chairs at its long sides."""
    table, benches = FURNITURE["kitchentable"], bool(floor.rng.integers(2))
    reach = 34 if benches else 20
    solid, turned = floor.middle(table.width, table.depth + 2 * reach)
    wall = 1 if turned else 0
    floor.put("kitchentable", solid.at(wall, 0, reach, table.width, table.depth))
    kind = FURNITURE["bench" if benches else "chair"]
    for side in (wall, wall + 2):
        for left in (20,) if benches else (22, 112):
            floor.put("bench" if benches else "chair", solid.at(side, left, 0, kind.width, kind.depth))


def _bathroom(floor: Floor) -> None:
    """A counter with a cabinet above, and the rest."""
    counter, cabinet = FURNITURE["bathroomcounter"], FURNITURE["bathroomcabinet"]
    wall, along = floor.wall(counter.width, counter.depth)
    floor.put("bathroomcounter", floor.rect.at(wall, along, GAP, counter.width, counter.depth))
    left = along + (counter.width - cabinet.width) // 2
    floor.put("bathroomcabinet", floor.rect.at(wall, left, GAP, cabinet.width, cabinet.depth))
    _try(floor, ("toilet", *_some(floor, stall=1, washingmachine=0.8, garbagecan=0.7)))


def _bedroom(floor: Floor) -> None:
    """A bed and a cabinet; perhaps a coffee table that is not the goal."""
    _stand(floor, "bed")
    _stand(floor, "cabinet")
    _try(floor, _some(floor, nightstand=1.4, closet=0.8, desk=1.3, bookshelf=0.9, coffeetable=0.35))


def _livingroom(floor: Floor) -> None:
    """A sofa with a coffee table before it."""
    sofa, table = FURNITURE["sofa"], FURNITURE["coffeetable"]
    away = sofa.depth + 46
    wall, along = floor.wall(sofa.width, away + table.depth)
    floor.put("sofa", floor.rect.at(wall, along, GAP, sofa.width, sofa.depth))
    left = along + (sofa.width - table.width) // 2
    floor.put("coffeetable", floor.rect.at(wall, left, GAP + away, table.width, table.depth))
    _try(floor, _some(floor, tvstand=1, desk=1, bookshelf=1.7, closet=0.9, nightstand=0.8, sofa=0.5))


def _corridor(floor: Floor) -> None:
    """What stands in the way of nobody."""
    _try(floor, _some(floor, bookshelf=0.5, nightstand=0.4))


_FURNISH: Final = {
    "kitchen": _kitchen, "bathroom": _bathroom, "bedroom": _bedroom, "livingroom": _livingroom,
    "corridor": _corridor,
}  # fmt: skip


def furnished(label: str, rect: Rect, doors: Iterable[Opening], rng: np.random.Generator) -> list[Piece]:
    """Draw the furniture of a room.

    Raises:
        Blocked: Something that must be there found no place, in several tries.
    """
    kept = [door.clear() for door in doors if label in door.rooms]
    for _ in range(20):
        floor = Floor(rect, list(kept), rng)
        try:
            _FURNISH[kind_of(label)](floor)
        except Blocked:
            continue
        return floor.pieces
    raise Blocked(label)
