"""The data of instances: names of rooms, the room of a point, where things rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.worlds.transport.scene import (
    CONTAINERS,
    TARGETS,
    FloorPlan,
    Furniture,
    Item,
    Rect,
    Room,
    RoomKind,
    rest_height,
)


def plan(*kinds: RoomKind) -> FloorPlan:
    """Return rooms of 3 m x 2 m in a row from west to east, 1 m apart."""
    rooms = tuple(Room(n, kind, Rect(4.0 * n, 0.0, 4.0 * n + 3.0, 2.0)) for n, kind in enumerate(kinds))
    return FloorPlan("row", Rect(0.0, 0.0, 4.0 * len(kinds) - 1.0, 2.0), np.zeros((0, 4)), 2.97, rooms, ())


def piece(category: str, top: float) -> Furniture:
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    return Furniture("model", category, 0.5, 0.5, 0.0, corners, 0.0, top, is_kinematic=False)


def test_names_of_rooms() -> None:
    rooms = plan("Kitchen", "Porch", "Bedroom").rooms
    assert [room.name for room in rooms] == ["<Kitchen> (1000)", "<Porch> (2000)", "<Bedroom> (3000)"]
    assert [room.id for room in rooms] == [1000, 2000, 3000]
    assert [room.is_named for room in rooms] == [True, False, True]
    assert plan("Kitchen", "Porch").is_named.tolist() == [True, False]
    assert plan("Kitchen", "Porch").room_boxes.tolist() == [[0, 0, 3, 2], [4, 0, 7, 2]]


@pytest.mark.parametrize(
    ("x", "z", "number"),
    [
        (1.0, 1.0, 0),
        (3.4, 1.0, 0),  # in the wall between, nearer to the first
        (4.5, 1.0, 0),  # in the corridor, which has no name
        (5.5, 1.0, 0),  # in its middle: the first of equally near rooms
        (5.6, 1.0, 2),
        (40.0, 9.0, 2),
    ],
)
def test_the_room_of_a_point_is_the_nearest_that_has_a_name(x: float, z: float, number: int) -> None:
    assert plan("Kitchen", "Porch", "Bedroom").room_at(x, z).number == number


def test_points_in_corridors_are_in_a_room() -> None:
    assert plan("Kitchen", "Porch").has_room(5.0, 1.0)
    assert plan("Kitchen", "Porch").has_room(7.0, 2.0)
    assert not plan("Kitchen", "Porch").has_room(3.5, 1.0)


corner = st.floats(-20, 20)


@given(corner, corner, st.floats(0.1, 9), st.floats(0.1, 9), corner, corner)
def test_distance_to_a_rectangle(x0: float, z0: float, width: float, depth: float, x: float, z: float) -> None:
    rect = Rect(x0, z0, x0 + width, z0 + depth)
    nearest = (min(max(x, rect.x0), rect.x1), min(max(z, rect.z0), rect.z1))
    assert rect.distance(x, z) == pytest.approx(math.dist((x, z), nearest))
    assert rect.contains(x, z) == (rect.distance(x, z) == 0)
    assert rect.contains(*rect.center)


def test_things_rest_on_tops_and_on_seats() -> None:
    assert rest_height(None) == 0.0
    assert rest_height(piece("table", 0.73)) == 0.73
    assert rest_height(piece("chair", 1.0)) == pytest.approx(0.6)
    assert rest_height(piece("sofa", 0.8)) == pytest.approx(0.48)


def test_containers_of_the_other_task_are_containers() -> None:
    item = Item(1, "bowl", "bowl", "food", "unrelated", 0.0, 0.0, 0.0, 0.0, (0.5, 0.2, 0.5), None, 0)
    assert item.is_container
    assert not item._replace(name="apple").is_container
    names = [name for group in (TARGETS, CONTAINERS) for names in group.values() for name in names]
    assert len(set(names)) == len(names) == 18
