"""Floor plans of homes of our own: where rooms and doors are.

Everything is in whole centimetres on the floor, and drawn from one generator. Rooms join at walls, so that every room
can be reached from every other by one way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from teamworld.worlds.household.homes.furnishing import ROOMS

#: Of the floor inside a door that stays free: how deep, and how wide to each side of its middle.
DOORWAY: Final = (130, 65)
#: From a door's middle to the corner, at least.
CORNER: Final = 90

#: Numbers of rooms that a home can have.
NUMBERS: Final = range(3, 7)
#: The rooms of a home of four.
FOUR: Final = ("kitchen", "bathroom", "bedroom", "livingroom")
#: Which of the four a home of three lacks, and which rooms more a larger one has: one of each list. Every task keeps
#: its goal, for these stand in the kitchen and the living room.
_WITHOUT: Final = (("bathroom",), ("bedroom",))
_ADDED: Final[Mapping[int, tuple[tuple[str, ...], ...]]] = {
    5: (("corridor",), ("bathroom",), ("bedroom",)),
    6: (("corridor", "bathroom"), ("corridor", "bedroom"), ("bathroom", "bedroom")),
}
#: Share of the rooms that join the corridor, where there is one; the others join any room but a bathroom.
BESIDE_CORRIDOR: Final = 0.75


class Rect(NamedTuple):
    """A rectangle of floor, ``x0 < x1`` and ``z0 < z1``."""

    x0: int
    z0: int
    x1: int
    z1: int

    def meets(self, other: Rect) -> bool:
        """Whether they share more than a border."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.z0 < other.z1 and other.z0 < self.z1

    def within(self, other: Rect) -> bool:
        """Whether it lies in the other."""
        return other.x0 <= self.x0 and self.x1 <= other.x1 and other.z0 <= self.z0 and self.z1 <= other.z1

    def grown(self, by: int) -> Rect:
        """Return it with so much more on every side."""
        return Rect(self.x0 - by, self.z0 - by, self.x1 + by, self.z1 + by)

    def at(self, wall: int, along: int, off: int, width: int, depth: int) -> Rect:
        """Return the rectangle that begins ``along`` one of the walls 0 to 3 and ``off`` from it."""
        if wall == 0:
            return Rect(self.x0 + along, self.z0 + off, self.x0 + along + width, self.z0 + off + depth)
        if wall == 1:
            return Rect(self.x0 + off, self.z0 + along, self.x0 + off + depth, self.z0 + along + width)
        if wall == 2:
            return Rect(self.x0 + along, self.z1 - off - depth, self.x0 + along + width, self.z1 - off)
        return Rect(self.x1 - off - depth, self.z0 + along, self.x1 - off, self.z0 + along + width)

    def side(self, wall: int) -> int:
        """Return how long a wall is."""
        return self.z1 - self.z0 if wall % 2 else self.x1 - self.x0


class Opening(NamedTuple):
    """A door between two rooms."""

    rooms: tuple[str, str]
    x: int
    z: int
    across_x: bool

    def clear(self) -> Rect:
        """Return the floor that stays free, on both sides."""
        deep, wide = DOORWAY if self.across_x else DOORWAY[::-1]
        return Rect(self.x - deep, self.z - wide, self.x + deep, self.z + wide)


class Blocked(Exception):
    """Something that must be there found no place."""


def draw_labels(number: int, rng: np.random.Generator) -> Sequence[str]:
    """Draw which rooms there are, a corridor first and bathrooms last; the second of a kind is ``bathroom 2``."""
    if number == len(FOUR):
        return FOUR
    choices = _WITHOUT if number < 4 else _ADDED[number]
    changed = choices[rng.integers(len(choices))]
    kinds = [kind for kind in FOUR if kind not in changed] if number < 4 else [*FOUR, *changed]
    kinds = sorted(rng.permutation(kinds).tolist(), key=_rank)
    seen: Counter[str] = Counter()
    labels = []
    for kind in kinds:
        seen[kind] += 1
        labels.append(kind if seen[kind] == 1 else f"{kind} {seen[kind]}")
    return labels


def rooms(labels: Sequence[str], rng: np.random.Generator) -> tuple[dict[str, Rect], list[Opening]]:
    """Draw where rooms are, and the doors between them.

    ``FOUR`` are a chain with the bathroom at an end, or a star around the kitchen or the living room. Others lie around
    a corridor where there is one, else join as they come; no way leads through a bathroom.

    Args:
        labels: Of the rooms, in an order in which they can be added (``draw_labels``).
        rng: Decides everything.

    Raises:
        Blocked: The rooms would lie over each other.
    """
    pairs = _pairs_of_four(rng) if labels == FOUR else _pairs(labels, rng)
    sizes = {}
    for label in labels:
        sides = ROOMS[kind_of(label)]
        long, short = (int(rng.integers(low // 10, high // 10 + 1)) * 10 for low, high in sides)
        sizes[label] = (long, short) if rng.integers(2) else (short, long)
    first = pairs[0][0]
    placed = {first: Rect(0, 0, *sizes[first])}
    doors = [_joined(placed, first_room, other, sizes[other], rng) for first_room, other in pairs]
    return placed, doors


def kind_of(label: str) -> str:
    """Return the kind of a room: ``bathroom`` of ``bathroom 2``."""
    return label.partition(" ")[0]


def _pairs_of_four(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw which of four rooms join, each pair with a room that is there and one that is added."""
    if rng.integers(2):
        order = ["bathroom", *rng.permutation(["kitchen", "bedroom", "livingroom"]).tolist()]
        pairs = list(pairwise(order))
        return [(b, a) for a, b in reversed(pairs)] if rng.integers(2) else pairs
    middle = ("kitchen", "kitchen", "livingroom")[rng.integers(3)]
    return [(middle, str(other)) for other in rng.permutation([name for name in FOUR if name != middle])]


def _rank(kind: str) -> int:
    return {"corridor": 0, "bathroom": 2}.get(kind, 1)


def _pairs(labels: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw to which room each is added."""
    first, *others = labels
    through, pairs = [first], []
    for other in others:
        is_beside = first == "corridor" and rng.random() < BESIDE_CORRIDOR
        pairs.append((first if is_beside else through[rng.integers(len(through))], other))
        if kind_of(other) != "bathroom":
            through.append(other)
    return pairs


def _joined(
    placed: dict[str, Rect], first: str, other: str, size: tuple[int, int], rng: np.random.Generator
) -> Opening:
    """Put a room beside one that is there, with a door between them."""
    base, most = placed[first], max(size) // 10
    for _ in range(40):
        wall, shift = int(rng.integers(4)), int(rng.integers(-most, most + 1)) * 10
        width, depth = (size[1], size[0]) if wall % 2 else size
        rect = base.at(wall, shift, -depth, width, depth)
        low, high = max(0, shift) + CORNER, min(base.side(wall), shift + width) - CORNER
        if high < low or any(rect.meets(room) for room in placed.values()):
            continue
        door = base.at(wall, int(rng.integers(low // 5, high // 5 + 1)) * 5, 0, 0, 0)
        placed[other] = rect
        return Opening((first, other), door.x0, door.z0, bool(wall % 2))
    raise Blocked(other)
