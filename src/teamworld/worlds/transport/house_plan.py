"""Draws houses of our own: rooms in two rows, with or without a corridor between them, walls and openings.

The benchmark's floor plans are of these two forms: rooms that lead into one another (scene 5a) and rooms along a
corridor, some as deep as the house at its ends (scene 2a). Lengths are whole centimetres, so that houses are the same
on every machine; widths of openings, walls and the corridor are those measured in the published scenes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from teamworld.worlds.transport.scene import Rect, RoomKind

#: Between the faces of a wall.
WALL: Final = 12
WALL_HEIGHT: Final = 297
#: Width of an opening; there are no door leaves.
OPENING: Final = (140, 150)
CORRIDOR: Final = 178
#: Named rooms of a house.
ROOMS: Final = (6, 7, 8)
#: Depth of a row of rooms: beside a corridor, and without one.
_DEPTHS: Final = {True: (330, 470), False: (380, 560)}
_WIDTHS: Final = (370, 640)
_WIDEST: Final = 760
#: Width of a room at the end of a corridor.
_END_WIDTHS: Final = (260, 400)
#: Longest sides of a house: its walls lie within the 30 m x 15 m of the agents' map.
_LONGEST: Final = (2800, 1350)
#: What a room with a bed, or a kitchen, measures at least.
_BEDROOM, _KITCHEN = (370, 340), (340, 330)
#: Share of the neighbours that are joined though the house needs no opening there: without and with a corridor.
_EXTRA: Final = {True: 0.12, False: 0.3}


class Blocked(Exception):
    """Something that must be there has no place."""


class Area(NamedTuple):
    """A rectangle of floor in centimetres, ``x0 < x1`` and ``z0 < z1``."""

    x0: int
    z0: int
    x1: int
    z1: int

    def meets(self, other: Area) -> bool:
        """Whether they share more than a border."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.z0 < other.z1 and other.z0 < self.z1

    def within(self, other: Area) -> bool:
        """Whether it lies in the other."""
        return other.x0 <= self.x0 and self.x1 <= other.x1 and other.z0 <= self.z0 and self.z1 <= other.z1

    def grown(self, across: int, along: int | None = None) -> Area:
        """Return it with so much more on the sides of x, and of z (by default as much)."""
        along = across if along is None else along
        return Area(self.x0 - across, self.z0 - along, self.x1 + across, self.z1 + along)

    def moved(self, x: int, z: int) -> Area:
        """Return it somewhere else."""
        return Area(self.x0 + x, self.z0 + z, self.x1 + x, self.z1 + z)

    @property
    def sides(self) -> tuple[int, int]:
        """Its lengths along x and z."""
        return self.x1 - self.x0, self.z1 - self.z0

    @property
    def meters(self) -> Rect:
        """The same in metres."""
        return Rect(self.x0 / 100, self.z0 / 100, self.x1 / 100, self.z1 / 100)


class Opening(NamedTuple):
    """A gap in the wall between two rooms."""

    rooms: tuple[int, int]
    area: Area
    """As deep as the wall."""

    @property
    def is_across_x(self) -> bool:
        """Whether it leads from one x to another."""
        return self.area.x1 - self.area.x0 == WALL


class House(NamedTuple):
    """A house without furniture."""

    kinds: tuple[RoomKind, ...]
    areas: tuple[Area, ...]
    """Of the rooms, between their walls; neighbours are as far apart as a wall is thick."""
    openings: tuple[Opening, ...]
    walls: tuple[Area, ...]


def draw_house(rng: np.random.Generator) -> House:
    """Draw a house whose rooms are all joined.

    Raises:
        Blocked: What was drawn does not fit.
    """
    number, has_corridor = int(rng.choice(ROOMS)), bool(rng.integers(2))
    areas, neighbours = (_along_corridor if has_corridor else _in_two_rows)(number, rng)
    openings = _draw_openings(areas, neighbours, has_corridor, rng)
    kinds = _draw_kinds(areas[:number], rng) + (("Porch",) if has_corridor else ())
    walls = _walls(areas, openings)
    house = Area(
        min(wall.x0 for wall in walls), min(wall.z0 for wall in walls),
        max(wall.x1 for wall in walls), max(wall.z1 for wall in walls),
    )  # fmt: skip
    if house.sides[0] > _LONGEST[0] or house.sides[1] > _LONGEST[1]:
        raise Blocked("a house too large for the map")
    shift = -(house.x0 + house.x1) // 2, -(house.z0 + house.z1) // 2
    return House(
        kinds,
        tuple(area.moved(*shift) for area in areas),
        tuple(Opening(opening.rooms, opening.area.moved(*shift)) for opening in openings),
        tuple(wall.moved(*shift) for wall in walls),
    )


# ---- rooms


def _along_corridor(number: int, rng: np.random.Generator) -> tuple[list[Area], list[tuple[int, int]]]:
    """Draw rooms on both sides of a corridor and at its ends; the corridor is the last."""
    ends = [bool(rng.random() < 0.5), bool(rng.random() < 0.5)]
    counts = _split(number - sum(ends), rng)
    widths = [_draw_widths(count, rng) for count in counts]
    length = max(_length(row) for row in widths)
    lower, upper = (_draw_length(_DEPTHS[True], rng) for _ in range(2))
    top = CORRIDOR + 2 * WALL
    rows = [
        _row(_stretched(widths[0], length), 0, -lower, 0),
        _row(_stretched(widths[1], length), 0, top, top + upper),
    ]
    corridor = number
    pairs = [(index, corridor) for index in range(number)]
    sides = [pair for start, row in zip((0, len(rows[0])), rows, strict=True) for pair in _pairs(start, len(row))]
    areas = [*rows[0], *rows[1]]
    if ends[0]:
        areas.append(Area(-WALL - _draw_length(_END_WIDTHS, rng), -lower, -WALL, top + upper))
    if ends[1]:
        areas.append(Area(length + WALL, -lower, length + WALL + _draw_length(_END_WIDTHS, rng), top + upper))
    return [*areas, Area(0, WALL, length, WALL + CORRIDOR)], pairs + sides


def _in_two_rows(number: int, rng: np.random.Generator) -> tuple[list[Area], list[tuple[int, int]]]:
    """Draw two rows of rooms with one wall between them."""
    counts = _split(number, rng)
    widths = [_draw_widths(count, rng) for count in counts]
    spare = _length(widths[0]) - _length(widths[1])
    shift = int(rng.integers(abs(spare) // 10 + 1)) * 10
    lower, upper = (_draw_length(_DEPTHS[False], rng) for _ in range(2))
    rows = [
        _row(widths[0], shift if spare < 0 else 0, -lower, 0),
        _row(widths[1], shift if spare > 0 else 0, WALL, WALL + upper),
    ]
    first = len(rows[0])
    pairs = [*_pairs(0, first), *_pairs(first, len(rows[1]))]
    for i, below in enumerate(rows[0]):
        for j, above in enumerate(rows[1], first):
            if min(below.x1, above.x1) - max(below.x0, above.x0) >= 200:
                pairs.append((i, j))
    return [*rows[0], *rows[1]], pairs


def _split(number: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw how many rooms are in each of two rows, which differ by one at most."""
    more = number - number // 2
    return (more, number // 2) if rng.integers(2) else (number // 2, more)


def _draw_length(limits: tuple[int, int], rng: np.random.Generator) -> int:
    """Draw a length in steps of ten."""
    return int(rng.integers(limits[0] // 10, limits[1] // 10 + 1)) * 10


def _draw_widths(count: int, rng: np.random.Generator) -> list[int]:
    return [_draw_length(_WIDTHS, rng) for _ in range(count)]


def _length(widths: Sequence[int]) -> int:
    """Return how long a row of rooms is, with the walls between them."""
    return sum(widths) + WALL * (len(widths) - 1)


def _stretched(widths: list[int], length: int) -> list[int]:
    """Return a row that is as long as another.

    Raises:
        Blocked: Its rooms would be too wide.
    """
    spare = length - _length(widths)
    more = [spare * (place + 1) // len(widths) - spare * place // len(widths) for place in range(len(widths))]
    wide = [width + extra for width, extra in zip(widths, more, strict=True)]
    if max(wide) > _WIDEST:
        raise Blocked("rows of different lengths")
    return wide


def _row(widths: Sequence[int], x: int, z0: int, z1: int) -> list[Area]:
    row = []
    for width in widths:
        row.append(Area(x, z0, x + width, z1))
        x += width + WALL
    return row


def _pairs(first: int, count: int) -> list[tuple[int, int]]:
    """Return the neighbours in a row."""
    return list(pairwise(range(first, first + count)))


def _draw_kinds(areas: Sequence[Area], rng: np.random.Generator) -> tuple[RoomKind, ...]:
    """Draw what rooms are: one bedroom, one kitchen, one to three offices, and living rooms.

    Layouts of the benchmark have 1.3 offices in the mean, the larger house more.
    """
    kinds: list[RoomKind] = ["Livingroom"] * len(areas)
    offices = int(rng.choice((1, 1, 1, 1, 1, 2) if len(areas) == min(ROOMS) else (1, 1, 1, 2, 3)))
    order = [int(place) for place in rng.permutation(len(areas))]
    wanted: tuple[tuple[RoomKind, tuple[int, int]], ...] = (("Bedroom", _BEDROOM), ("Kitchen", _KITCHEN))
    for kind, (long, short) in wanted + (("Office", (0, 0)),) * offices:
        for place in order:
            if max(areas[place].sides) >= long and min(areas[place].sides) >= short:
                kinds[place] = kind
                order.remove(place)
                break
        else:
            raise Blocked(f"no room for a {kind}")
    return tuple(kinds)


# ---- openings and walls


def _draw_openings(
    areas: Sequence[Area], neighbours: Sequence[tuple[int, int]], has_corridor: bool, rng: np.random.Generator
) -> list[Opening]:
    """Draw openings that join all rooms, and a few more; a room at a corridor always opens to it.

    Raises:
        Blocked: Some rooms are no neighbours.
    """
    group = list(range(len(areas)))
    corridor = len(areas) - 1 if has_corridor else -1
    drawn = [neighbours[place] for place in rng.permutation(len(neighbours))]
    openings = []
    for first, other in sorted(drawn, key=lambda pair: corridor not in pair):
        is_needed = group[first] != group[other]
        if is_needed or rng.random() < _EXTRA[has_corridor]:
            openings.append(Opening((first, other), _draw_opening(areas[first], areas[other], rng)))
            joined = group[other]
            group = [group[first] if number == joined else number for number in group]
    if len(set(group)) > 1:
        raise Blocked("rooms that are no neighbours")
    return openings


def _draw_opening(first: Area, other: Area, rng: np.random.Generator) -> Area:
    """Draw a gap in the wall between two neighbours: most are at a corner, as in the published scenes."""
    width = int(rng.integers(OPENING[0], OPENING[1] + 1))
    is_across_x = first.x1 < other.x0 or other.x1 < first.x0
    if is_across_x:
        low, high = max(first.z0, other.z0), min(first.z1, other.z1) - width
    else:
        low, high = max(first.x0, other.x0), min(first.x1, other.x1) - width
    place = (low, low, high, high, int(rng.integers(low, high + 1)))[rng.integers(5)]
    if is_across_x:
        face = min(first.x1, other.x1)
        return Area(face, place, face + WALL, place + width)
    face = min(first.z1, other.z1)
    return Area(place, face, place + width, face + WALL)


def _walls(areas: Iterable[Area], openings: Iterable[Opening]) -> tuple[Area, ...]:
    """Return the walls around rooms: strips that do not overlap along their length, cut where openings are."""
    strips: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for area in areas:
        ring = area.grown(WALL)
        for face in (ring.x0, area.x1):
            strips.setdefault((True, face), []).append((ring.z0, ring.z1))
        for face in (ring.z0, area.z1):
            strips.setdefault((False, face), []).append((ring.x0, ring.x1))
    cuts: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for opening in openings:
        gap = opening.area
        key, cut = ((True, gap.x0), (gap.z0, gap.z1)) if opening.is_across_x else ((False, gap.z0), (gap.x0, gap.x1))
        cuts.setdefault(key, []).append(cut)
    walls = []
    for (is_vertical, face), spans in sorted(strips.items()):
        for low, high in _cut(_merged(spans), sorted(cuts.get((is_vertical, face), ()))):
            walls.append(Area(face, low, face + WALL, high) if is_vertical else Area(low, face, high, face + WALL))
    return tuple(walls)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans that meet or overlap as one."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _cut(spans: Iterable[tuple[int, int]], cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what cuts leave of spans; cuts are sorted and apart from one another."""
    rest = []
    for low, high in spans:
        for start, end in cuts:
            if low < end and start < high:
                if low < start:
                    rest.append((low, start))
                low = end
        if low < high:
            rest.append((low, high))
    return rest
