"""Where agents can walk and start: around solid items, in rooms of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds.transport.generator import generate_instance
from teamworld.worlds.transport.rasters import BODY, cell_of, standing_room
from teamworld.worlds.transport.scene import Instance, Pose
from teamworld.worlds.transport.starting_places import draw_starts, reached_from, walkable_floor


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate_instance(2, "stuff", "high")


def test_solid_items_are_in_the_way_and_targets_are_not(instance: Instance) -> None:
    plan, rasters = instance.plan, instance.rasters
    empty = standing_room(plan, rasters, BODY)
    is_free = walkable_floor(plan, rasters, instance.items)
    assert (is_free <= empty).all()
    gone = np.argwhere(empty & ~is_free)
    assert len(gone)
    solid = [item for item in instance.items if item.support is None and item.kind != "target" and item.size[1] > 0.12]
    assert {item.kind for item in solid} == {"container", "unrelated"}
    for i, j in gone:
        x, z = rasters.x0 + rasters.cell * (i + 0.5), rasters.z0 + rasters.cell * (j + 0.5)
        gaps = [math.dist((item.x, item.z), (x, z)) - max(item.size[0], item.size[2]) / 2 for item in solid]
        assert min(gaps) < BODY + 1e-9
    for item in solid:
        assert not is_free[cell_of(rasters, item.x, item.z)]
    low = [item for item in instance.items if item.support is None and item.size[1] <= 0.12]
    assert all(
        is_free[cell_of(rasters, item.x, item.z)]
        for item in low
        if min(math.dist((item.x, item.z), (other.x, other.z)) for other in solid) > 0.8
    )


def test_starts_keep_out_of_rooms_that_are_taken(instance: Instance) -> None:
    plan, rasters = instance.plan, instance.rasters
    is_reached = reached_from(rasters, walkable_floor(plan, rasters, instance.items), instance.starts[0])
    for seed in range(20):
        starts = draw_starts(plan, rasters, is_reached, instance.starts, 2, generator(seed, "test"))
        assert starts is not None
        rooms = {plan.room_at(start.x, start.z).number for start in (*starts, *instance.starts)}
        assert len(rooms) == 4
        assert all(is_reached[cell_of(rasters, start.x, start.z)] for start in starts)


def test_no_starts_without_rooms(instance: Instance) -> None:
    plan, rasters = instance.plan, instance.rasters
    is_reached = reached_from(rasters, walkable_floor(plan, rasters, instance.items), instance.starts[0])
    assert draw_starts(plan, rasters, is_reached, (), len(plan.rooms) + 1, generator(0, "test")) is None
    nowhere = reached_from(rasters, is_reached, Pose(99.0, 99.0))
    assert not nowhere.any()
    assert draw_starts(plan, rasters, nowhere, (), 1, generator(0, "test")) is None
    assert draw_starts(plan, rasters, nowhere, (), 0, generator(0, "test")) == ()
