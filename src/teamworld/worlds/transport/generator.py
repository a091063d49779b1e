"""Makes episodes of our own by seed: a house, its furniture, its items and the places where agents start.

Seeds are published as two ranges. Tune on ``DEV`` only; ``TEST`` is for what is reported. The two never share a house.
What is drawn is checked on foot, and drawn anew where a room, an item or the bed cannot be reached.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.transport.furniture_layout import furnish
from teamworld.worlds.transport.house_plan import WALL_HEIGHT, Blocked, House, draw_house
from teamworld.worlds.transport.placement import NEAR_ITEM, Laid, as_items, lay_out
from teamworld.worlds.transport.rasters import Mask, build_rasters, cell_of, connected, is_near, standing_room
from teamworld.worlds.transport.scene import Bed, Capacity, FloorPlan, Instance, Pose, Rasters, Rect, Room, Task
from teamworld.worlds.transport.starting_places import draw_starts, reached_from, walkable_floor

#: Seeds to tune on.
DEV: Final = range(10_000)
#: Seeds to report, never to tune on.
TEST: Final = range(10_000, 20_000)
#: Agents that an episode can start with.
MOST_AGENTS: Final = 4
#: Radius of the body for which all rooms are joined: half of the front probe, metres.
PROBE: Final = 0.32
#: Metres within which one can come to the bed: where the benchmark's planner stops walking.
NEAR_BED: Final = 1.5
#: The first of the numbers that name items; those of rooms begin at 1000.
FIRST_ID: Final = 101
_ATTEMPTS: Final = 500


class _Built(NamedTuple):
    """A furnished house."""

    plan: FloorPlan
    rasters: Rasters
    bed: Bed
    is_reached: Mask
    """(I, J): where one can walk while nothing lies there."""


class _Filled(NamedTuple):
    """A house with everything in its place."""

    laid: list[Laid]
    ids: tuple[int, ...]
    starts: tuple[Pose, ...]


def generate_instance(seed: int, task: Task, capacity: Capacity, agents: int = 2) -> Instance:
    """Return an episode; equal for equal arguments on every machine.

    A seed has one house. Its items depend on the capacity as well, not on the task: those of the other task lie there
    too. More agents start in further rooms.

    Args:
        seed: Decides everything that is drawn.
        task: What is to be brought to the bed.
        capacity: Whether there are five containers (high) or two (low).
        agents: How many agents start, 1 to 4.

    Raises:
        UserError: The seed is no integer from 0 on, or there are too many agents.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"a transport seed is an integer from 0 on, got {brief(seed)}")
    if agents not in range(1, MOST_AGENTS + 1):
        raise UserError(f"a transport episode has 1 to {MOST_AGENTS} agents, got {brief(agents)}")
    house, filled = _build(seed), _fill(seed, capacity)
    items = as_items(filled.laid, house.plan, task, filled.ids)
    return Instance(
        name=f"{task}-{capacity}-{seed}",
        plan=house.plan,
        task=task,
        capacity=capacity,
        items=items,
        goals=dict(sorted(Counter(item.name for item in items if item.kind == "target").items())),
        bed=house.bed,
        starts=filled.starts[:agents],
        rasters=house.rasters,
    )


@lru_cache(maxsize=8)
def _build(seed: int) -> _Built:
    """Return the house of a seed."""
    for attempt in range(_ATTEMPTS):
        rng = generator(seed, "transport", "house", attempt)
        try:
            house = draw_house(rng)
            plan = _furnished(f"house-{seed}", house, rng)
        except Blocked:
            continue
        rasters, bed = build_rasters(plan), _bed(plan)
        if _is_walkable(house, plan, rasters, bed):
            is_reached = connected(standing_room(plan, rasters, PROBE), _gap_cells(house, rasters)[0])
            return _Built(plan, rasters, bed, is_reached)
    raise RuntimeError(f"no house for seed {seed} in {_ATTEMPTS} tries")


@lru_cache(maxsize=8)
def _fill(seed: int, capacity: Capacity) -> _Filled:
    """Return the items and starts of a house, all within reach of all starts."""
    house = _build(seed)
    for attempt in range(_ATTEMPTS):
        rng = generator(seed, "transport", "items", capacity, attempt)
        try:
            laid = lay_out(house.plan, house.rasters, house.is_reached, capacity, rng)
        except Blocked:
            continue
        # So that ids tell nothing of where things lie.
        ids = tuple(FIRST_ID + int(place) for place in rng.permutation(len(laid)))
        starts = _starts(house, laid, rng)
        if starts is not None:
            return _Filled(laid, ids, starts)
    raise RuntimeError(f"no items for seed {seed}, {capacity} in {_ATTEMPTS} tries")


def _furnished(name: str, house: House, rng: np.random.Generator) -> FloorPlan:
    """Return a house with its furniture."""
    rooms = tuple(
        Room(number, kind, area.meters)
        for number, (kind, area) in enumerate(zip(house.kinds, house.areas, strict=True))
    )
    pieces = [
        piece.furniture()
        for kind, area in zip(house.kinds, house.areas, strict=True)
        for piece in furnish(kind, area, house.openings, rng)
    ]
    boxes = np.array(house.areas) / 100
    walls = np.array(house.walls) / 100
    walls.setflags(write=False)
    low, high = boxes.min(axis=0), boxes.max(axis=0)
    bounds = Rect(float(low[0]), float(low[1]), float(high[2]), float(high[3]))
    return FloorPlan(name, bounds, walls, WALL_HEIGHT / 100, rooms, tuple(pieces))


def _bed(plan: FloorPlan) -> Bed:
    index, piece = next((index, piece) for index, piece in enumerate(plan.furniture) if piece.category == "bed")
    return Bed(index, piece.x, piece.z, plan.room_at(piece.x, piece.z).number)


def _is_walkable(house: House, plan: FloorPlan, rasters: Rasters, bed: Bed) -> bool:
    """Whether one comes through all openings with some room to spare, and to the bed from within its room."""
    gaps = _gap_cells(house, rasters)
    is_reached = connected(standing_room(plan, rasters, PROBE), gaps[0])
    return all(is_reached[gap] for gap in gaps) and _comes_to_bed(plan, rasters, is_reached, bed)


def _gap_cells(house: House, rasters: Rasters) -> list[tuple[int, int]]:
    """Return the cells in the middle of all openings."""
    return [cell_of(rasters, *opening.area.meters.center) for opening in house.openings]


def _comes_to_bed(plan: FloorPlan, rasters: Rasters, is_reached: Mask, bed: Bed) -> bool:
    box = plan.rooms[bed.room].box
    (i0, j0), (i1, j1) = cell_of(rasters, box.x0, box.z0), cell_of(rasters, box.x1, box.z1)
    is_inside = np.zeros_like(is_reached)
    is_inside[i0:i1, j0:j1] = True
    return is_near(is_reached & is_inside, rasters, bed.x, bed.z, NEAR_BED)


def _starts(house: _Built, laid: list[Laid], rng: np.random.Generator) -> tuple[Pose, ...] | None:
    """Draw starts from which all items and the bed can be reached; None if what lies there is in the way.

    Whatever the task, so that the same starts serve both: everything solid on the floor is in the way.
    """
    plan, rasters = house.plan, house.rasters
    solid = as_items(laid, plan, "food", range(len(laid))) + as_items(laid, plan, "stuff", range(len(laid)))
    is_free = walkable_floor(plan, rasters, solid, PROBE)
    starts = draw_starts(plan, rasters, is_free & house.is_reached, (), MOST_AGENTS, rng)
    if starts is None:
        return None
    is_reached = reached_from(rasters, is_free, starts[0])
    can_start = all(is_reached[cell_of(rasters, start.x, start.z)] for start in starts)
    can_take = all(is_near(is_reached, rasters, thing.x, thing.z, NEAR_ITEM) for thing in laid)
    return starts if can_start and can_take and _comes_to_bed(plan, rasters, is_reached, house.bed) else None
