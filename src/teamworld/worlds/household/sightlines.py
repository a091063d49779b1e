"""Lines of sight from an agent's eyes into other rooms: through doorways, past leaves of doors and furniture.

``Outlook`` holds what never changes in a home, ``Scene`` what can be seen at a moment; the kernel :func:`look` goes
through the scene. A slow plain reference stands in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.homes.home import TALL, Box, Home, NodeId
from teamworld.worlds.kernel_compiler import compiled, part

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

#: Half the angle of view, degrees; the same as metres to the right for each ahead.
HALF_VIEW: Final = 33.0
WIDTH: Final = math.tan(math.radians(HALF_VIEW))
#: Height from which agents look, metres.
EYES: Final = 1.8
#: How thick a wall is, metres: one looks through a doorway past the jambs on both its sides.
WALL: Final = 0.14
#: How much of the height of lower furniture hides what is behind it: boxes reach to the top of a backrest. Recorded
#: pictures of apartment 3 tell neither 0.6 from 0.9 nor 15 pixels from 25 (docs/reference/worlds/household.md).
SOLID: Final = 0.75
#: Pixels of a thing's visible part that suffice, and pixels for a metre at a distance of one: pictures of the benchmark
#: show 60 degrees in 256 pixels.
PIXELS: Final = 20.0
FOCUS: Final = 128 / math.tan(math.radians(30))
#: Points along each side of a box to which one looks.
_POINTS: Final = 3
#: A line ends at what it looks at, give or take this share of its length.
_NEARLY: Final = 0.999
#: Of the things and furniture that something lies in or on, how many are looked up.
_HOLDERS: Final = 3


class Outlook(NamedTuple):
    """What never changes of what can be seen in a home. D doors, R rooms, K pieces of furniture."""

    number: dict[NodeId, int]
    """The number of each room."""
    doors: Floats
    """(D, 8): middle x, z; 1 if one walks through it along x; half the width; x, z of both ends of its leaf, or nan."""
    ways: Ints
    """(R, R, longest): doors on the way from a room to another, filled with -1."""
    passed: Ints
    """(R, R): the rooms on the way, the first and the last among them, as bits."""
    pieces: Floats
    """(K, 7): furniture that hides things: least x, y, z, greatest x, y, z, metres, and its room."""
    piece: dict[NodeId, int]
    """The number of each piece."""
    nodes: tuple[NodeId, ...]
    """What is watched, ascending."""
    boxes: Floats
    """Of these at the start, as in a scene."""
    places: Ints
    """The same."""

    def place(self, room: NodeId, chain: Iterable[NodeId]) -> tuple[int, ...]:
        """Return a row of places: of what is in a room and, itself first, in or on what."""
        pieces = [self.piece[node] for node in chain if node in self.piece][:_HOLDERS]
        return (self.number[room], *pieces, *[-1] * (_HOLDERS - len(pieces)))


class Scene(NamedTuple):
    """What can be seen at a moment: N rows, things and then agents."""

    nodes: tuple[NodeId, ...]
    boxes: Floats
    """(N, 8): middle and size, x, y and z, of boxes with their open doors, metres; middle x and z without."""
    places: Ints
    """(N, 4): the room, -1 for what cannot be seen; and up to three pieces that it is, or lies in or on, else -1."""
    rows: Ints
    """(N,): where the kernel writes."""


def outlook(home: Home, watched: frozenset[NodeId]) -> Outlook:
    """Return what never changes of what can be seen in a home, and where what is watched is at the start."""
    number = {room: k for k, room in enumerate(home.rooms)}
    gap = (math.nan,) * 4
    doors = [(door.x, door.z, door.across_x, door.width / 2, *home.leaves.get(door.id, gap)) for door in home.doors]
    stands = [
        node
        for node in home.nodes.values()
        if node.category in ("Furniture", "Appliances") and not node.grabbable and not node.name.startswith("curtain")
    ]
    routes = {(start, end): way for start in home.rooms for end, way in _ways(home, start).items()}
    ways = np.full((len(number), len(number), max(1, *map(len, routes.values()))), -1, np.int64)
    passed = np.zeros(ways.shape[:2], np.int64)
    for (start, end), way in routes.items():
        at = number[start], number[end]
        ways[at][: len(way)] = way
        for room in (start, end, *(room for door in way for room in home.doors[door].rooms)):
            passed[at] |= 1 << number[room]
    nodes = tuple(sorted(watched))
    made = Outlook(
        number,
        np.array(doors, np.float64).reshape(-1, 8),
        ways,
        passed,
        np.array([_piece(node.box, number[home.room[node.id]]) for node in stands], np.float64).reshape(-1, 7),
        {node.id: k for k, node in enumerate(stands)},
        nodes,
        np.array([shape(home.nodes[node].box) for node in nodes], np.float64).reshape(-1, 8),
        np.full((len(nodes), 1 + _HOLDERS), -1, np.int64),
    )
    for row, node in enumerate(nodes):
        made.places[row] = made.place(home.room[node], _chain(home, node))
    return made


def shape(box: Box, closed: Box | None = None) -> tuple[float, ...]:
    """Return a row of a scene's boxes: a box, and that without open doors if it has some."""
    middle = closed or box
    return (*box, middle.x, middle.z)


def _chain(home: Home, node: NodeId) -> tuple[NodeId, ...]:
    """Return a node and what it lies in or on at the start, one after the other."""
    return (node, *_chain(home, home.parent[node][1])) if node in home.parent else (node,)


def _ways(home: Home, start: NodeId) -> dict[NodeId, tuple[int, ...]]:
    """Return for each room the doors on the shortest way from a room."""
    ways: dict[NodeId, tuple[int, ...]] = {start: ()}
    rooms = [start]
    for room in rooms:  # which grows
        for k, door in enumerate(home.doors):
            if room in door.rooms and (other := door.rooms[door.rooms[0] == room]) not in ways:
                ways[other] = (*ways[room], k)
                rooms.append(other)
    return ways


def _piece(box: Box, room: int) -> tuple[float, ...]:
    wide, high, deep = box.width / 2, box.height / 2, box.depth / 2
    top = box.y + high if box.y + high >= TALL else box.y - high + SOLID * box.height
    return box.x - wide, box.y - high, box.z - deep, box.x + wide, top, box.z + deep, float(room)


@part
def _passes(x: float, z: float, to_x: float, to_z: float, ways: Ints, own: int, room: int, doors: Floats) -> bool:
    """Whether a line passes through all doorways on the way, and beside the leaves of their doors."""
    for door in ways[own, room]:
        if door < 0:
            break
        middle_x, middle_z, along, half = doors[door, 0], doors[door, 1], doors[door, 2], doors[door, 3]
        for off in (-WALL / 2, WALL / 2):
            if along:
                wall, start, end, aside, towards, middle = middle_x + off, x, to_x, z, to_z, middle_z
            else:
                wall, start, end, aside, towards, middle = middle_z + off, z, to_z, x, to_x, middle_x
            crosses = start < wall < end or end < wall < start
            if crosses and abs(aside + (wall - start) / (end - start) * (towards - aside) - middle) > half:
                return False
        hinge_x, hinge_z, leaf_x, leaf_z = doors[door, 4], doors[door, 5], doors[door, 6], doors[door, 7]
        way_x, way_z = to_x - x, to_z - z
        first = (hinge_x - x) * way_z - (hinge_z - z) * way_x
        other = (leaf_x - x) * way_z - (leaf_z - z) * way_x
        long_x, long_z = leaf_x - hinge_x, leaf_z - hinge_z
        eye = (x - hinge_x) * long_z - (z - hinge_z) * long_x
        far = (to_x - hinge_x) * long_z - (to_z - hinge_z) * long_x
        if first * other <= 0 and eye * far < 0:  # never where there is no leaf: nan
            return False
    return True


@part
def _meets(start: float, way: float, low: float, high: float, first: float, last: float) -> tuple[float, float]:
    """Return the part of a line, from its first to its last share, that lies between two planes; (1, 0) if none."""
    if way == 0.0:
        return (first, last) if low < start < high else (1.0, 0.0)
    enters, leaves = (low - start) / way, (high - start) / way
    if enters > leaves:
        enters, leaves = leaves, enters
    return max(first, enters), min(last, leaves)


@part
def _blocks(piece: Floats, x: float, z: float, to_x: float, to_y: float, to_z: float) -> bool:
    """Whether a line from the eyes enters a piece of furniture before its end."""
    first, last = _meets(x, to_x - x, piece[0], piece[3], -math.inf, math.inf)
    first, last = _meets(EYES, to_y - EYES, piece[1], piece[4], first, last)
    first, last = _meets(z, to_z - z, piece[2], piece[5], first, last)
    return 0.0 < first < _NEARLY and first < last - 1e-6


@part
def _visible(
    own: int, x: float, z: float, sine: float, cosine: float, box: Floats, place: Ints, doors: Floats, ways: Ints,
    passed: Ints, pieces: Floats,
) -> int:  # fmt: skip
    """Return which points of a box in another room are in view, as bits."""
    room, bits, bit = place[0], 0, 1
    for i in range(_POINTS):
        to_x = box[0] + (i / (_POINTS - 1) - 0.5) * box[3]
        for j in range(_POINTS):
            to_z = box[2] + (j / (_POINTS - 1) - 0.5) * box[5]
            right, ahead = (to_x - x) * cosine - (to_z - z) * sine, (to_x - x) * sine + (to_z - z) * cosine
            if abs(right) <= WIDTH * ahead and _passes(x, z, to_x, to_z, ways, own, room, doors):
                bits |= bit * (2**_POINTS - 1)
            bit <<= _POINTS
    if bits == 0:
        return 0
    least_x, most_x = min(x, box[0] - box[3] / 2), max(x, box[0] + box[3] / 2)
    least_z, most_z = min(z, box[2] - box[5] / 2), max(z, box[2] + box[5] / 2)
    for number in range(len(pieces)):
        piece = pieces[number]
        if piece[0] >= most_x or piece[3] <= least_x or piece[2] >= most_z or piece[5] <= least_z:
            continue
        if not passed[own, room] >> int(piece[6]) & 1 or number in (place[1], place[2], place[3]):
            continue
        bit = 1
        for i in range(_POINTS):
            to_x = box[0] + (i / (_POINTS - 1) - 0.5) * box[3]
            for j in range(_POINTS):
                to_z = box[2] + (j / (_POINTS - 1) - 0.5) * box[5]
                for k in range(_POINTS):
                    to_y = box[1] + (k / (_POINTS - 1) - 0.5) * box[4]
                    if bits & bit and _blocks(piece, x, z, to_x, to_y, to_z):
                        bits &= ~bit
                    bit <<= 1
        if bits == 0:
            break
    return bits


@part
def _pixels(x: float, z: float, box: Floats) -> float:
    """Return about how many pixels of a picture a box fills."""
    off_x, off_y, off_z = abs(box[0] - x), abs(box[1] - EYES), abs(box[2] - z)
    away = math.sqrt(off_x * off_x + off_y * off_y + off_z * off_z)
    faces = off_x * box[4] * box[5] + off_y * box[3] * box[5] + off_z * box[3] * box[4]
    return FOCUS * FOCUS * faces / (away * away * away) if away > 0.0 else math.inf


@compiled
def look(
    own: int, x: float, z: float, sine: float, cosine: float, boxes: Floats, places: Ints, doors: Floats, ways: Ints,
    passed: Ints, pieces: Floats, rows: Ints,
) -> int:  # fmt: skip
    """Find what an agent sees: in its room what has its middle ahead, in others what fills enough of a picture.

    Args:
        own: The agent's room.
        x: Where it stands, metres.
        z: The same.
        sine: Of its heading.
        cosine: The same.
        boxes: Of the scene.
        places: Of the scene.
        doors: Of the home.
        ways: Of the home.
        passed: Of the home.
        pieces: Of the home.
        rows: Gets the rows of the scene that are seen, ascending.

    Returns:
        How many.
    """
    count = 0
    for row in range(len(boxes)):
        box, room = boxes[row], places[row, 0]
        if room < 0:
            continue
        if room == own:
            off_x, off_z = box[6] - x, box[7] - z
            if abs(off_x * cosine - off_z * sine) > WIDTH * (off_x * sine + off_z * cosine):
                continue
        else:
            off_x, off_z = box[0] - x, box[2] - z
            right, ahead = abs(off_x * cosine - off_z * sine), off_x * sine + off_z * cosine
            door, reach = ways[own, room, 0], (box[3] + box[5]) / 2  # no part is farther from the middle
            if door < 0 or right - reach > WIDTH * (ahead + reach):
                continue
            off_x, off_z, reach = doors[door, 0] - x, doors[door, 1] - z, doors[door, 3] + WALL
            if abs(off_x * cosine - off_z * sine) - reach > WIDTH * (off_x * sine + off_z * cosine + reach):
                continue  # one does not look there, as mostly
            bits = _visible(own, x, z, sine, cosine, box, places[row], doors, ways, passed, pieces)
            points = 0
            while bits:
                bits &= bits - 1
                points += 1
            if _pixels(x, z, box) * points < PIXELS * _POINTS**3:
                continue
        rows[count] = row
        count += 1
    return count
