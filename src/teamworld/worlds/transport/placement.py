"""Lays out the items of an episode of our own, by the rules of the benchmark's generator (``scene_generate.py``).

Targets of both tasks lie on tables, chairs and sofas first, then on the floor; containers lie on the floor of one room
or two. Bedrooms and corridors get nothing.

The benchmark's generator lets the cells that it draws decide in which rooms containers lie. Its published training
episodes show more order than that: where they lie in two rooms, these are of two kinds, a kitchen or office and a
living room; where they lie in one, it is of either kind about as often. The rooms of containers are drawn that way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from teamworld.worlds.transport.house_plan import Blocked
from teamworld.worlds.transport.rasters import Mask, cell_of, is_near, standing_room
from teamworld.worlds.transport.scene import (
    CONTAINERS,
    TARGETS,
    Capacity,
    FloorPlan,
    Furniture,
    Item,
    ItemKind,
    Rasters,
    Room,
    RoomKind,
    Task,
    rest_height,
)

#: Targets of each task in a house, and how many of one family at most: on furniture, and in all.
TARGET_COUNT: Final = 10
FAMILY_LIMITS: Final = (4, 6)
#: Containers of each task in a house.
CONTAINER_COUNTS: Final[Mapping[Capacity, int]] = {"high": 5, "low": 2}
#: The kinds of rooms that hold containers of each task: one of each if there are many, one of either if there are few.
CONTAINER_ROOMS: Final[Mapping[Task, tuple[RoomKind, RoomKind]]] = {
    "food": ("Kitchen", "Livingroom"),
    "stuff": ("Office", "Livingroom"),
}
#: Metres that floor keeps free around a target and around a container.
CLEARANCES: Final[Mapping[str, float]] = {"target": 0.5, "container": 0.65}
#: Metres within which one can come to every item: where the benchmark's planner stops walking.
NEAR_ITEM: Final = 1.0
#: Metres between the cells that may hold something.
FLOOR_GRID: Final = 0.25
#: Along each side of a top, where things may lie: between which shares of its length.
_SPOTS: Final = ((0.2, 0.3), (0.8, 0.9))
#: How many things a piece of furniture gets.
_COUNTS: Final[Mapping[str, tuple[int, ...]]] = {"table": (1, 2), "chair": (0, 1), "sofa": (0, 1)}
_TRIES: Final = 20_000


class Family(NamedTuple):
    """Half of the targets of a task: they lie in the same places."""

    task: Task
    names: tuple[str, ...]


FRUIT: Final = Family("food", TARGETS["food"][:3])
BREAD: Final = Family("food", TARGETS["food"][3:])
OFFICE_THINGS: Final = Family("stuff", TARGETS["stuff"][:3])
COMMON_THINGS: Final = Family("stuff", TARGETS["stuff"][3:])
_FAMILIES: Final = {name: family for family in (FRUIT, BREAD, OFFICE_THINGS, COMMON_THINGS) for name in family.names}

#: What lies on furniture, by the kind of the room and the category.
ON_FURNITURE: Final[Mapping[tuple[RoomKind, str], Family]] = {
    ("Kitchen", "table"): BREAD,
    ("Kitchen", "chair"): BREAD,
    ("Livingroom", "table"): FRUIT,
    ("Livingroom", "chair"): COMMON_THINGS,
    ("Livingroom", "sofa"): COMMON_THINGS,
    ("Office", "table"): OFFICE_THINGS,
    ("Office", "chair"): OFFICE_THINGS,
}
#: Whose things may lie on the floor of a room.
ON_FLOOR: Final[Mapping[RoomKind, tuple[Task, ...]]] = {
    "Kitchen": ("food",),
    "Livingroom": ("food", "stuff"),
    "Office": ("stuff",),
}
#: Model and size of every kind of item, metres (sizes of TDW's models times ``object_scale.json``).
ITEM_MODELS: Final[Mapping[str, tuple[str, tuple[float, float, float]]]] = {
    "apple": ("apple", (0.121, 0.114, 0.121)),
    "banana": ("b04_banana", (0.206, 0.044, 0.203)),
    "orange": ("b04_orange_00", (0.12, 0.12, 0.121)),
    "bread": ("bread", (0.163, 0.09, 0.17)),
    "loaf_bread": ("b03_loafbread", (0.106, 0.066, 0.243)),
    "burger": ("b03_burger", (0.133, 0.097, 0.139)),
    "calculator": ("b05_calculator", (0.124, 0.039, 0.164)),
    "mouse": ("mouse_02_vray", (0.093, 0.052, 0.165)),
    "pen": ("b05_executive_pen", (0.266, 0.04, 0.035)),
    "lighter": ("b04_lighter", (0.026, 0.201, 0.056)),
    "purse": ("small_purse", (0.317, 0.135, 0.051)),
    "iphone": ("f10_apple_iphone_4", (0.118, 0.019, 0.231)),
    "bowl": ("b04_bowl_smooth", (0.528, 0.18, 0.528)),
    "plate": ("plate06", (0.536, 0.05, 0.536)),
    "tea_tray": ("teatray", (0.56, 0.062, 0.404)),
    "plastic_basket": ("basket_18inx18inx12iin_plastic_lattice", (0.457, 0.305, 0.457)),
    "wicker_basket": ("basket_18inx18inx12iin_wicker", (0.457, 0.305, 0.457)),
    "wood_basket": ("basket_18inx18inx12iin_wood_mesh", (0.457, 0.305, 0.457)),
}
_TASKS: Final[tuple[Task, ...]] = ("food", "stuff")
#: Everything that may be drawn for the floor, with its task and whether it is a container.
_ALL_KINDS: Final = tuple(
    (name, task, is_container)
    for task in _TASKS
    for is_container, names in ((False, TARGETS[task]), (True, CONTAINERS[task]))
    for name in names
)


class Laid(NamedTuple):
    """A thing in its place."""

    name: str
    task: Task
    is_container: bool
    x: float
    z: float
    yaw: float
    support: int | None
    room: int


def lay_out(
    plan: FloorPlan, rasters: Rasters, is_reached: Mask, capacity: Capacity, rng: np.random.Generator
) -> list[Laid]:
    """Draw all items of a house: ten targets and the containers of both tasks.

    Args:
        plan: The house.
        rasters: Its rasters.
        is_reached: (I, J): where one can walk; all items lie within ``NEAR_ITEM`` of it.
        capacity: Whether there are many containers or few.
        rng: Decides everything.

    Raises:
        Blocked: The floor has no place for all.
    """
    layout = _Layout(plan, rasters, is_reached, capacity, rng)
    layout.fill_furniture()
    layout.fill_floor()
    return layout.laid


def _point(piece: Furniture, across: float, along: float) -> tuple[float, float]:
    """Return the point (x, z) of a top that lies so far along its two sides, as shares of their lengths."""
    (x0, z0), (x1, z1), _, (x3, z3) = piece.corners
    x = x0 + across * (x1 - x0) + along * (x3 - x0)
    z = z0 + across * (z1 - z0) + along * (z3 - z0)
    return round(x, 4), round(z, 4)


def as_items(laid: Sequence[Laid], plan: FloorPlan, task: Task, ids: Sequence[int]) -> tuple[Item, ...]:
    """Return what was laid out as the items of an episode of a task."""
    items = []
    for thing, number in zip(laid, ids, strict=True):
        model, size = ITEM_MODELS[thing.name]
        kind: ItemKind = "unrelated" if thing.task != task else "container" if thing.is_container else "target"
        furniture = None if thing.support is None else plan.furniture[thing.support]
        items.append(
            Item(
                id=number,
                model=model,
                name=thing.name,
                task=thing.task,
                kind=kind,
                x=thing.x,
                y=rest_height(furniture),
                z=thing.z,
                yaw=thing.yaw,
                size=size,
                support=thing.support,
                room=thing.room,
            )
        )
    return tuple(items)


@dataclass
class _Layout:
    """Items while they are laid out."""

    plan: FloorPlan
    rasters: Rasters
    is_reached: Mask
    capacity: Capacity
    rng: np.random.Generator
    laid: list[Laid] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Draw the rooms of containers, and begin to count what lies there."""
        self._families: Counter[Family] = Counter()
        self._targets: Counter[Task] = Counter()
        self._containers: Counter[Task] = Counter()
        self._container_rooms = self._draw_container_rooms()

    def _draw_container_rooms(self) -> dict[Task, list[int]]:
        """Draw in which rooms the containers of each task may lie; no room has those of both."""
        rooms: dict[Task, list[int]] = {task: [] for task in _TASKS}
        for task in (_TASKS[place] for place in self.rng.permutation(len(_TASKS))):
            kinds = CONTAINER_ROOMS[task]
            for kind in kinds if self.capacity == "high" else (kinds[self.rng.integers(2)],):
                taken = [number for others in rooms.values() for number in others]
                free = [room.number for room in self.plan.rooms if room.kind == kind and room.number not in taken]
                if not free:
                    raise Blocked(f"no {kind} for containers")
                rooms[task].append(free[self.rng.integers(len(free))])
        return rooms

    def fill_furniture(self) -> None:
        """Lay targets on furniture in random order: one or two on a table, one at most on a chair or sofa."""
        for index in self.rng.permutation(len(self.plan.furniture)):
            piece = self.plan.furniture[index]
            family = ON_FURNITURE.get((self.plan.room_at(piece.x, piece.z).kind, piece.category))
            if family is None:
                continue
            count = int(self.rng.choice(_COUNTS[piece.category]))
            spots = self.rng.permutation(4)[:count]
            for spot in spots:
                if self._families[family] < FAMILY_LIMITS[0]:
                    name = family.names[self.rng.integers(len(family.names))]
                    shares = (self.rng.uniform(*_SPOTS[side]) for side in (spot % 2, spot // 2))
                    x, z = _point(piece, *shares)
                    if is_near(self.is_reached, self.rasters, x, z, NEAR_ITEM):
                        room = self.plan.room_at(x, z)
                        self._lay(Laid(name, family.task, False, x, z, 0.0, int(index), room.number))

    def fill_floor(self) -> None:
        """Lay things on the floor, each kind as likely as the others, until there are enough.

        Raises:
            Blocked: There are still not enough after many draws.
        """
        cells = self._cells()
        for _ in range(_TRIES if cells else 0):
            if self._is_full():
                return
            room, x, z = cells[self.rng.integers(len(cells))]
            name, task, is_container = _ALL_KINDS[self.rng.integers(len(_ALL_KINDS))]
            is_wanted = self._wants_container(task, room) if is_container else self._wants_target(name, task)
            if is_wanted and task in ON_FLOOR[room.kind] and self._is_clear(x, z, is_container):
                yaw = float(self.rng.integers(360))
                self._lay(Laid(name, task, is_container, x, z, yaw, None, room.number))
        raise Blocked("no floor for all items")

    def _cells(self) -> list[tuple[Room, float, float]]:
        """Return the points of the grid in rooms whose floor may hold things, that can be reached."""
        self._free: dict[bool, Mask] = {
            is_container: self.is_reached & standing_room(self.plan, self.rasters, CLEARANCES[kind])
            for is_container, kind in ((False, "target"), (True, "container"))
        }
        x0, z0 = self.plan.bounds[:2]
        cells = []
        for room in (room for room in self.plan.rooms if room.kind in ON_FLOOR):
            for i in _steps(x0, room.box.x0, room.box.x1):
                for j in _steps(z0, room.box.z0, room.box.z1):
                    x, z = round(x0 + FLOOR_GRID * i, 4), round(z0 + FLOOR_GRID * j, 4)
                    if self._free[False][cell_of(self.rasters, x, z)]:
                        cells.append((room, x, z))
        return cells

    def _is_full(self) -> bool:
        most = CONTAINER_COUNTS[self.capacity]
        return all(self._targets[task] == TARGET_COUNT and self._containers[task] == most for task in _TASKS)

    def _wants_target(self, name: str, task: Task) -> bool:
        return self._targets[task] < TARGET_COUNT and self._families[_FAMILIES[name]] < FAMILY_LIMITS[1]

    def _wants_container(self, task: Task, room: Room) -> bool:
        is_missing = self._containers[task] < CONTAINER_COUNTS[self.capacity]
        return is_missing and room.number in self._container_rooms[task]

    def _is_clear(self, x: float, z: float, is_container: bool) -> bool:
        """Whether a thing keeps its distance from furniture, walls and what lies on the floor."""
        if not self._free[is_container][cell_of(self.rasters, x, z)]:
            return False
        least = CLEARANCES["container" if is_container else "target"]
        lying = (thing for thing in self.laid if thing.support is None)
        return all(
            math.hypot(thing.x - x, thing.z - z) >= max(least, CLEARANCES["container"] if thing.is_container else 0.0)
            for thing in lying
        )

    def _lay(self, thing: Laid) -> None:
        self.laid.append(thing)
        if thing.is_container:
            self._containers[thing.task] += 1
        else:
            self._targets[thing.task] += 1
            self._families[_FAMILIES[thing.name]] += 1


def _steps(origin: float, low: float, high: float) -> range:
    """Return the steps of the grid from an origin that lie between two coordinates."""
    return range(math.ceil((low - origin) / FLOOR_GRID - 1e-9), math.floor((high - origin) / FLOOR_GRID + 1e-9) + 1)
