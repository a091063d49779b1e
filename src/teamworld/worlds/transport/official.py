"""Reads the published TDW-MAT episodes: 24 of the test set and 24 of the training set, as neutral JSON.

A data folder holds ``episodes.json``, ``placements.json`` and, for each scene and layout, ``scene_S.json`` and
``layout_S_L.json``. Everything is checked field by field, and what cannot be used is a
:class:`~teamworld.errors.UserError` of one line.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert

from teamworld.errors import UserError, brief
from teamworld.worlds.base.data_files import read_json
from teamworld.worlds.transport.rasters import build_rasters
from teamworld.worlds.transport.scene import (
    CONTAINERS,
    TARGETS,
    Bed,
    Capacity,
    FloorPlan,
    Furniture,
    Instance,
    Item,
    ItemKind,
    Pose,
    Rect,
    ReferenceSamples,
    Room,
    RoomKind,
    Task,
    rest_height,
)

Split: TypeAlias = Literal["test", "train"]

#: Episodes of each split.
EPISODES: Final = 24
#: Metres within which all coordinates lie.
_FAR: Final = 50.0
#: Metres by which the goal may differ from the place of the bed; both are rounded.
_SAME: Final = 1e-3
#: Square metres by which a corner may bend inward; corners are rounded to millimetres.
_FLAT: Final = 2e-3
#: Metres by which the stored height of a thing may differ from the top of what it lies on; boxes are rounded.
_HEIGHT_SLACK: Final = 0.05

_Length: TypeAlias = Annotated[float, Meta(ge=-_FAR, le=_FAR)]
_Size: TypeAlias = Annotated[float, Meta(gt=0, le=_FAR)]
_Angle: TypeAlias = Annotated[float, Meta(ge=-360, le=360)]
_Corner: TypeAlias = tuple[_Length, _Length]
_Text: TypeAlias = Annotated[str, Meta(pattern=r"^\S", max_length=80)]
_Index: TypeAlias = Annotated[int, Meta(ge=0, le=10_000)]
_Grid: TypeAlias = list[list[Annotated[int, Meta(ge=-1, le=1)]]]
_Content = TypeVar("_Content")

# ---- the format


class _Place(Struct):
    x: _Length
    z: _Length
    yaw: _Angle = 0.0


class _Goal(Struct):
    x: _Length
    z: _Length
    region: _Index


class _EpisodeRecord(Struct):
    split: Split
    index: Annotated[int, Meta(ge=0, lt=EPISODES)]
    placement: _Text
    task: Task
    capacity: Capacity
    goal_description: dict[_Text, Annotated[int, Meta(ge=1, le=100)]]
    target_ids: list[int]
    container_ids: list[int]
    goal: _Goal
    agents: Annotated[list[_Place], Meta(min_length=1, max_length=8)]


class _ItemRecord(Struct):
    id: Annotated[int, Meta(ge=0)]
    model: _Text
    name: _Text
    task: Task
    kind: Literal["target", "container"]
    x: _Length
    y: _Length
    z: _Length
    yaw: _Angle
    size: tuple[_Size, _Size, _Size]
    support: _Index | None
    region: _Index
    room_type_stored: RoomKind


class _PlacementRecord(Struct):
    scene: Annotated[str, Meta(pattern=r"^[0-9][a-z]$")]
    layout: Annotated[int, Meta(ge=0, le=9)]
    items: list[_ItemRecord]


class _FurnitureRecord(Struct):
    name: _Text
    category: _Text
    x: _Length
    z: _Length
    yaw: _Angle
    y_bottom: _Length
    y_top: _Length
    kinematic: bool
    footprint: tuple[_Corner, _Corner, _Corner, _Corner]


class _LayoutRecord(Struct):
    scene: _Text
    layout: _Index
    room_types: list[RoomKind]
    objects: Annotated[list[_FurnitureRecord], Meta(max_length=1000)]


class _Walls(Struct):
    height: _Size
    rects_x0_z0_x1_z1: Annotated[list[tuple[_Length, _Length, _Length, _Length]], Meta(min_length=1, max_length=1000)]


class _Region(Struct):
    id: _Index
    x_min: _Length
    x_max: _Length
    z_min: _Length
    z_max: _Length
    type_by_layout: list[RoomKind]


class _Samples(Struct):
    cell: _Size
    shape: tuple[Annotated[int, Meta(ge=1, le=1000)], Annotated[int, Meta(ge=1, le=1000)]]
    occupancy_by_layout: dict[str, _Grid]


class _SceneRecord(Struct):
    scene: _Text
    variant_used: _Text
    x_min: _Length
    z_min: _Length
    x_max: _Length
    z_max: _Length
    walls: _Walls
    regions: Annotated[list[_Region], Meta(min_length=1, max_length=100)]
    grid049: _Samples


# ---- reading


class Listed(NamedTuple):
    """What the list of episodes says of one of them."""

    number: int
    """Its place in the published list."""
    task: Task
    capacity: Capacity


def list_episodes(data: Path, split: Split) -> tuple[Listed, ...]:
    """Return the episodes of a split, in the order of the published list.

    Args:
        data: The data folder.
        split: ``test`` or ``train``.

    Raises:
        UserError: If the folder is not there, or its list is damaged or lacks an episode.
    """
    return tuple(Listed(record.index, record.task, record.capacity) for record in _records(data, split))


@lru_cache(maxsize=64)
def read_instance(data: Path, split: Split, index: int) -> Instance:
    """Read one episode, with its two starts.

    Everything fits: ids are unique and those of the goal are there, goal counts add up, each thing lies in the room and
    on the furniture that it is stored with, and there is one bed, in a bedroom.

    Args:
        data: The data folder.
        split: ``test`` or ``train``.
        index: Its place in the published list, 0 to 23.

    Raises:
        UserError: If a file is not there, is damaged, holds anything else, or its parts do not fit together.
    """
    record = _records(data, split)[index]
    placement = _placements(data).get(record.placement)
    file = data / "episodes.json"
    if placement is None:
        raise UserError(f"{file}: episode {index} of {split} has the placement {brief(record.placement)}, expected one")
    plan = read_floor_plan(data, placement.scene, placement.layout)
    with _errors_of(f"{file}: episode {index} of {split}"):
        starts = tuple(Pose(place.x, place.z, place.yaw) for place in record.agents)
        for start in starts:
            _expect(plan.bounds.contains(start.x, start.z), f"expected starts in the house, found {tuple(start)}")
        return Instance(
            name=f"{'official' if split == 'test' else 'train'}-{index}",
            plan=plan,
            task=record.task,
            capacity=record.capacity,
            items=_items(record, placement, plan),
            goals=record.goal_description,
            bed=_bed(record.goal, plan),
            starts=starts,
            rasters=build_rasters(plan, starts),
        )


@lru_cache(maxsize=16)
def read_floor_plan(data: Path, scene: str, layout: int) -> FloorPlan:
    """Read the walls, rooms and furniture of a layout of a scene.

    Args:
        data: The data folder.
        scene: Such as ``5a``; the file is named by the number alone.
        layout: 0, 1 or 2.

    Raises:
        UserError: If a file is not there, is damaged, or holds anything else.
    """
    scene_path, layout_path = data / f"scene_{scene[0]}.json", data / f"layout_{scene[0]}_{layout}.json"
    record, furnishing = _read(scene_path, _SceneRecord), _read(layout_path, _LayoutRecord)
    with _errors_of(scene_path):
        _expect(record.variant_used == scene, f"expected scene {scene}, found {brief(record.variant_used)}")
        bounds = _rect((record.x_min, record.z_min, record.x_max, record.z_max))
        walls = np.array([_rect(wall) for wall in record.walls.rects_x0_z0_x1_z1], dtype=np.float64)
        rooms = tuple(_room(number, region, layout) for number, region in enumerate(record.regions))
        _expect(any(room.is_named for room in rooms), "expected rooms with a name, found none")
        samples = _samples(record, layout)
    with _errors_of(layout_path):
        is_same = (furnishing.scene, furnishing.layout) == (scene[0], layout)
        _expect(is_same, f"expected scene {scene[0]}, layout {layout}, found {furnishing.scene}, {furnishing.layout}")
        kinds = [room.kind for room in rooms]
        _expect(furnishing.room_types == kinds, f"expected rooms {kinds}, found {brief(furnishing.room_types)}")
        furniture = tuple(map(_furniture, furnishing.objects))
    walls.setflags(write=False)
    return FloorPlan(f"{scene}_{layout}", bounds, walls, record.walls.height, rooms, furniture, samples)


def fingerprint(instance: Instance) -> str:
    """Return ``sha256:`` and 16 hexadecimal digits that name what an instance holds, whatever folder it came from."""
    plan, samples = instance.plan, instance.plan.samples
    parts: list[object] = [plan.name, plan.bounds, plan.walls.tolist(), plan.wall_height, plan.rooms, plan.furniture]
    if samples is not None:
        parts += [samples.x0, samples.z0, samples.spacing, samples.is_free.tolist(), samples.is_wall.tolist()]
    parts += [instance.task, instance.capacity, instance.items, sorted(instance.goals.items()), instance.bed]
    parts += [instance.starts]
    return f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


# ---- files


def _read(path: Path, kind: type[_Content]) -> _Content:
    """Return the checked content of a file of the folder."""
    if not path.parent.is_dir():
        raise UserError(f"{path.parent}: no such folder; expected that of the TDW-MAT data, with episodes.json")
    if not os.path.realpath(path).startswith(os.path.realpath(path.parent) + os.sep):
        raise UserError(f"{path}: expected a file of the folder, found a link that leads out of it")
    content = read_json(path, "a file of the TDW-MAT data")
    with _errors_of(path):
        return convert(content, kind)


@contextmanager
def _errors_of(place: Path | str) -> Iterator[None]:
    """Say in the message of an error where it was."""
    try:
        yield
    except (ValidationError, UserError) as error:
        raise UserError(f"{place}: {error}") from None


def _expect(condition: bool, reason: str) -> None:
    """Refuse a file if a condition does not hold."""
    if not condition:
        raise UserError(reason)


@lru_cache(maxsize=4)
def _records(data: Path, split: Split) -> tuple[_EpisodeRecord, ...]:
    """Return the records of a split in the order of their indices."""
    path = data / "episodes.json"
    records = sorted((record for record in _read(path, list[_EpisodeRecord]) if record.split == split), key=_index)
    with _errors_of(path):
        indices = [record.index for record in records]
        _expect(indices == list(range(EPISODES)), f"expected {EPISODES} episodes of {split}, found {brief(indices)}")
    return tuple(records)


def _index(record: _EpisodeRecord) -> int:
    return record.index


@lru_cache(maxsize=2)
def _placements(data: Path) -> dict[str, _PlacementRecord]:
    return _read(data / "placements.json", dict[str, _PlacementRecord])


# ---- floor plans


def _rect(sides: tuple[float, float, float, float]) -> Rect:
    rect = Rect(*sides)
    _expect(rect.x0 < rect.x1 and rect.z0 < rect.z1, f"expected x0 < x1 and z0 < z1, found {brief(sides)}")
    return rect


def _room(number: int, region: _Region, layout: int) -> Room:
    _expect(region.id == number, f"expected regions by id, found {region.id} as number {number}")
    kinds = region.type_by_layout
    _expect(layout < len(kinds), f"expected a type of region {number} for layout {layout}, found {brief(kinds)}")
    return Room(number, kinds[layout], _rect((region.x_min, region.z_min, region.x_max, region.z_max)))


def _samples(record: _SceneRecord, layout: int) -> ReferenceSamples:
    grid = record.grid049
    cells = grid.occupancy_by_layout.get(str(layout))
    if cells is None:
        raise UserError(f"expected an occupancy of layout {layout}, found {brief(list(grid.occupancy_by_layout))}")
    is_whole = len(cells) == grid.shape[0] and all(len(row) == grid.shape[1] for row in cells)
    _expect(is_whole, f"expected an occupancy of {grid.shape[0]} x {grid.shape[1]} for layout {layout}")
    codes = np.array(cells)
    is_free, is_wall = codes == 0, codes == -1
    for array in (is_free, is_wall):
        array.setflags(write=False)
    return ReferenceSamples(record.x_min, record.z_min, grid.cell, is_free, is_wall)


def _furniture(record: _FurnitureRecord) -> Furniture:
    corners = np.array(record.footprint)
    sides = np.roll(corners, -1, axis=0) - corners
    turns = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
    is_convex = bool((turns >= -_FLAT).all() or (turns <= _FLAT).all())
    _expect(is_convex, f"expected the corners of {brief(record.name)} around it, found {brief(record.footprint)}")
    heights = (record.y_bottom, record.y_top)
    _expect(heights[0] < heights[1], f"expected {brief(record.name)} to begin below its top, found {heights}")
    return Furniture(
        name=record.name,
        category=record.category,
        x=record.x,
        z=record.z,
        yaw=record.yaw,
        corners=record.footprint,
        bottom=record.y_bottom,
        top=record.y_top,
        is_kinematic=record.kinematic,
    )


# ---- things and goals


def _items(record: _EpisodeRecord, placement: _PlacementRecord, plan: FloorPlan) -> tuple[Item, ...]:
    """Return all things of the placement as this episode has them, checked against its goal."""
    kinds: dict[int, ItemKind] = dict.fromkeys(record.target_ids, "target")
    kinds |= dict.fromkeys(record.container_ids, "container")
    items = tuple(_item(item, plan, kinds.get(item.id, "unrelated")) for item in placement.items)
    _expect(len({item.id for item in items}) == len(items), "expected every id once, found one twice")
    asked = len(record.target_ids) + len(record.container_ids)
    there = [item for item in items if item.kind != "unrelated"]
    _expect(len(kinds) == asked == len(there), f"expected {asked} things of the task, found {len(there)}")
    for item, stored in zip(items, placement.items, strict=True):
        is_asked = item.kind != "unrelated"
        is_fit = is_asked == (item.task == record.task) and item.kind in (stored.kind, "unrelated")
        _expect(is_fit, f"thing {item.id} is a {stored.kind} of {stored.task}, but the goal has it as {item.kind}")
    counts = Counter(item.name for item in items if item.kind == "target")
    goals = record.goal_description
    _expect(counts == goals, f"expected the goal {brief(goals)}, found targets {brief(dict(sorted(counts.items())))}")
    return items


def _item(record: _ItemRecord, plan: FloorPlan, kind: ItemKind) -> Item:
    names = TARGETS[record.task] if record.kind == "target" else CONTAINERS[record.task]
    _expect(record.name in names, f"expected a {record.kind} of {record.task}, found {brief(record.name)}")
    furniture = None
    if record.support is not None:
        _expect(record.support < len(plan.furniture), f"thing {record.id} lies on furniture that is not there")
        furniture = plan.furniture[record.support]
        gap = abs(record.y - furniture.top)
        _expect(gap <= _HEIGHT_SLACK, f"thing {record.id} is {gap:.2f} m from the top of the {furniture.category}")
    room = plan.room_at(record.x, record.z)
    is_there = (room.number, room.kind) == (record.region, record.room_type_stored)
    _expect(is_there, f"expected thing {record.id} in region {record.region}, found it in {room.name}")
    return Item(
        id=record.id,
        model=record.model,
        name=record.name,
        task=record.task,
        kind=kind,
        x=record.x,
        y=rest_height(furniture),
        z=record.z,
        yaw=record.yaw,
        size=record.size,
        support=record.support,
        room=room.number,
    )


def _bed(goal: _Goal, plan: FloorPlan) -> Bed:
    beds = [index for index, piece in enumerate(plan.furniture) if piece.category == "bed"]
    _expect(len(beds) == 1, f"expected one bed in layout {plan.name}, found {len(beds)}")
    piece = plan.furniture[beds[0]]
    is_same = max(abs(piece.x - goal.x), abs(piece.z - goal.z)) < _SAME
    _expect(is_same, f"expected the goal at the bed, found it at {goal.x}, {goal.z}")
    room = plan.room_at(piece.x, piece.z)
    is_there = room.kind == "Bedroom" and room.number == goal.region
    _expect(is_there, f"expected the bed in the bedroom of region {goal.region}, found it in {room.name}")
    return Bed(beds[0], piece.x, piece.z, room.number)
