"""What an instance of the transport world is before its first frame: floor plan, furniture, items, starts.

Everything here is a value that never changes. Lengths are metres: x points east, z north, y up; the floor is y = 0.
Angles are degrees, clockwise from north (+z), so an agent with yaw ``a`` looks along ``(sin a, cos a)`` in (x, z).
Frame and names are those of ThreeDWorld Multi-Agent Transport (TDW-MAT, ``tdw_mat`` of UMass-Embodied-AGI/CoELA).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Task: TypeAlias = Literal["food", "stuff"]
Capacity: TypeAlias = Literal["high", "low"]
"""Many containers (5 in the published episodes) or few (2)."""
RoomKind: TypeAlias = Literal["Kitchen", "Livingroom", "Bedroom", "Office", "Porch"]
ItemKind: TypeAlias = Literal["target", "container", "unrelated"]

#: Kinds of rooms that have a name; a porch, which is a corridor, has none (``tdw-gym/tdw_gym.py``).
NAMED_KINDS: Final = ("Kitchen", "Livingroom", "Bedroom", "Office")
#: Display names of the targets of each task (``dataset/list.json``, ``name_map.json``).
TARGETS: Final[Mapping[Task, tuple[str, ...]]] = {
    "food": ("apple", "banana", "orange", "bread", "loaf_bread", "burger"),
    "stuff": ("calculator", "mouse", "pen", "lighter", "purse", "iphone"),
}
#: Display names of the containers of each task.
CONTAINERS: Final[Mapping[Task, tuple[str, ...]]] = {
    "food": ("bowl", "plate", "tea_tray"),
    "stuff": ("plastic_basket", "wicker_basket", "wood_basket"),
}
#: Of the furniture's height, where things lie on the seat of a chair or sofa; the box reaches to the top of its back.
SEAT: Final = 0.6


class Rect(NamedTuple):
    """A rectangle of floor along the axes, ``x0 < x1`` and ``z0 < z1``."""

    x0: float
    z0: float
    x1: float
    z1: float

    def distance(self, x: float, z: float) -> float:
        """Return how far a point is from the rectangle, 0 inside."""
        return math.hypot(max(self.x0 - x, x - self.x1, 0.0), max(self.z0 - z, z - self.z1, 0.0))

    def contains(self, x: float, z: float) -> bool:
        """Whether a point is inside, the border included."""
        return self.x0 <= x <= self.x1 and self.z0 <= z <= self.z1

    @property
    def center(self) -> tuple[float, float]:
        """The middle (x, z)."""
        return (self.x0 + self.x1) / 2, (self.z0 + self.z1) / 2


class Room(NamedTuple):
    """A region of the floor plan; its box leaves out the walls."""

    number: int
    """Its place among the regions of the floor plan, from 0 on."""
    kind: RoomKind
    box: Rect

    @property
    def is_named(self) -> bool:
        """Whether agents know it by a name; a porch has none."""
        return self.kind in NAMED_KINDS

    @property
    def id(self) -> int:
        """The number in its name: 1000 for the first region, 2000 for the second."""
        return 1000 * (self.number + 1)

    @property
    def name(self) -> str:
        """Return its name as the benchmark prints it, such as ``<Bedroom> (2000)``."""
        return f"<{self.kind}> ({self.id})"


class Furniture(NamedTuple):
    """A piece that nobody can carry, as an upright box turned by its yaw."""

    name: str
    """The name of its model."""
    category: str
    """What it is: ``table``, ``chair``, ``sofa``, ``bed`` and so on."""
    x: float
    z: float
    """Where its model stands, which is not always the middle of its corners."""
    yaw: float
    corners: tuple[tuple[float, float], ...]
    """The four corners (x, z) of its outline, in order around it."""
    bottom: float
    top: float
    """Between which heights it is."""
    is_kinematic: bool
    """Whether it is fixed to its place."""


class Item(NamedTuple):
    """A thing that can be carried: a target, a container, or one of the other task (unrelated)."""

    id: int
    model: str
    name: str
    """The display name, such as ``apple``; one of ``TARGETS`` or ``CONTAINERS``."""
    task: Task
    """The task that it belongs to."""
    kind: ItemKind
    """What it is in this instance."""
    x: float
    y: float
    z: float
    """Its middle in x and z, and the height at which its bottom rests."""
    yaw: float
    size: tuple[float, float, float]
    """Width, height and depth as its model has them, before the turn by its yaw."""
    support: int | None
    """The index of the furniture that it lies on, or None on the floor."""
    room: int
    """The number of its room."""

    @property
    def is_container(self) -> bool:
        """Whether things can be put into it, of this task or the other."""
        return self.name in CONTAINERS[self.task]


class Pose(NamedTuple):
    """Where an agent stands and looks."""

    x: float
    z: float
    yaw: float = 0.0


class Bed(NamedTuple):
    """Where the targets are brought."""

    furniture: int
    """Its index in the furniture of the floor plan."""
    x: float
    z: float
    """The point from which the distance of delivered targets counts."""
    room: int
    """The number of its room, a bedroom."""


@dataclass(frozen=True, eq=False)
class ReferenceSamples:
    """Where a body of 0.245 m was found free in the original house, on a coarse grid (Magnebot, ``data/scenes``).

    Furniture is only known by its boxes, which are larger than what stands there. These samples say where one is empty.
    """

    x0: float
    z0: float
    """The first sample; sample [i, j] lies at ``(x0 + i * spacing, z0 + j * spacing)``."""
    spacing: float
    """0.49 m in the published maps."""
    is_free: npt.NDArray[np.bool_]
    """(I, J): whether no furniture and no wall was there."""
    is_wall: npt.NDArray[np.bool_]
    """(I, J): whether a wall or the outside was there."""


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """Walls, rooms and furniture: what stays where it is."""

    name: str
    """Such as ``5a_0`` for layout 0 of scene 5a."""
    bounds: Rect
    """The floor that the benchmark's grids cover; bays and walls may reach beyond it."""
    walls: Floats
    """(W, 4): x0, z0, x1, z1 of each wall. They reach from the floor to the ceiling; openings have no door leaf."""
    wall_height: float
    rooms: tuple[Room, ...]
    """All regions, the unnamed ones too, by number."""
    furniture: tuple[Furniture, ...]
    samples: ReferenceSamples | None = None
    """What carves the boxes of the furniture; without it boxes stay whole."""

    @cached_property
    def room_boxes(self) -> Floats:
        """(R, 4): x0, z0, x1, z1 of all rooms, by number."""
        return np.array([room.box for room in self.rooms], dtype=np.float64).reshape(-1, 4)

    @cached_property
    def is_named(self) -> npt.NDArray[np.bool_]:
        """(R,): whether each room has a name."""
        return np.array([room.is_named for room in self.rooms], dtype=np.bool_)

    def room_at(self, x: float, z: float) -> Room:
        """Return the room of a point: the named room whose box is nearest, the first of equally near ones.

        A point in a corridor belongs to a room beside it (``get_room_as_gt`` of ``tdw_gym.py``).
        """
        return min((room for room in self.rooms if room.is_named), key=lambda room: room.box.distance(x, z))

    def has_room(self, x: float, z: float) -> bool:
        """Whether a point lies in the box of any room, the unnamed ones included."""
        return any(room.box.contains(x, z) for room in self.rooms)


@dataclass(frozen=True, eq=False)
class Rasters:
    """The furniture of an instance on a fine grid, carved; walls are not in it, they are exact rectangles.

    Cell [i, j] covers ``x0 + i * cell <= x < x0 + (i + 1) * cell`` and the same of z with j. It has what is at its
    middle. The grid covers all walls with a margin, so that no point that an agent can reach lies outside.
    """

    x0: float
    z0: float
    cell: float
    """Side of a cell, 0.05 m."""
    is_blocked: npt.NDArray[np.bool_]
    """(I, J): whether furniture stops a walking body there (top above 0.12 m, bottom below 1.88 m)."""
    top: npt.NDArray[np.float32]
    """(I, J): how high the furniture reaches, 0 where none is. What begins above 1.88 m is left out."""
    owner: npt.NDArray[np.int16]
    """(I, J): the index of the furniture that reaches highest, -1 where none is."""
    is_wall: npt.NDArray[np.bool_]
    """(I, J): whether the middle of the cell lies in a wall; for maps and searches, not for exact tests."""


@dataclass(frozen=True, eq=False)
class Instance:
    """One instance of the transport world, complete: everything that a frame needs to know that never changes."""

    name: str
    plan: FloorPlan
    task: Task
    capacity: Capacity
    items: tuple[Item, ...]
    """Targets, containers and unrelated things of all tasks, in the order of the data; ids are unique."""
    goals: Mapping[str, int]
    """By display name, how many targets are to be delivered; they add up to the targets."""
    bed: Bed
    starts: tuple[Pose, ...]
    """One for each agent."""
    rasters: Rasters

    @cached_property
    def targets(self) -> tuple[Item, ...]:
        """The items to deliver."""
        return tuple(item for item in self.items if item.kind == "target")

    @cached_property
    def containers(self) -> tuple[Item, ...]:
        """The containers that help to deliver them."""
        return tuple(item for item in self.items if item.kind == "container")


def rest_height(furniture: Furniture | None) -> float:
    """Return the height at which things lie on a piece of furniture, or on the floor (None).

    Published episodes store the height from which a thing was dropped. On tables it stays there; on chairs and sofas
    it falls from the top of the back to the seat, which ``SEAT`` estimates.
    """
    if furniture is None:
        return 0.0
    return round(furniture.top * SEAT, 4) if furniture.category in ("chair", "sofa") else furniture.top
