"""Where one stands to handle something."""

from __future__ import annotations

import math

import pytest

from teamworld.worlds.household.homes.home import Box, close
from teamworld.worlds.household.interaction_points import BEFORE, HANDLES, SIDES, SWINGS, Side, handle_place, opened_box
from teamworld.worlds.household.pathfinding import Floor
from tests.worlds.household.data import episodes, needs_data
from tests.worlds.household.homes import node


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["fridge", "kitchencabinet", "dishwasher"])
def test_one_stands_before_the_handle(name: str, side: Side) -> None:
    """The handle keeps its place in the front, wherever that points."""
    piece = node(50, name, "Furniture", "o", (2.0, 1.0, -3.0, 0.8, 1.0, 0.6))
    (x, z), (out_x, out_z) = handle_place(piece, side), side
    away, beside = (x - 2.0) * out_x + (z + 3.0) * out_z, (z + 3.0) * out_x - (x - 2.0) * out_z
    assert away == pytest.approx((0.4 if out_x else 0.3) + BEFORE)
    assert beside == pytest.approx(HANDLES.get(name, 0.0) * (0.3 if out_x else 0.4))


def test_open_doors_of_some_containers_make_them_reach_farther_to_the_front() -> None:
    piece = node(50, "kitchencabinet", "Furniture", "o", (0.0, 2.0, 0.0, 0.8, 0.7, 0.4))
    assert opened_box(piece, (0, 1)) == pytest.approx(Box(0.0, 2.0, 0.2, 0.8, 0.7, 0.8))
    assert opened_box(piece, (-1, 0)) == pytest.approx(Box(-0.2, 2.0, 0.0, 1.2, 0.7, 0.4))
    assert opened_box(piece._replace(name="fridge"), (0, 1)) == piece.box
    agent = Box(0.0, 0.9, 1.9, 0.8, 1.8, 0.8)
    assert not close(agent, piece.box)
    assert close(agent, opened_box(piece, (0, 1)))
    assert set(SWINGS) == {"kitchencabinet", "microwave"}


#: Where the recorded agents stood when they had opened something, from the middle of its box: of each class in one
#: apartment, and in the other, which no constant was read off.
RECORDED = {
    (0, 73): (0.95, 0.31),
    (0, 103): (-0.23, -1.22),
    (0, 104): (1.22, 0.00),
    (0, 105): (1.16, 0.22),
    (0, 190): (0.55, -0.90),
    (0, 216): (0.01, 0.93),
    (5, 25): (-0.91, -0.55),
    (5, 134): (-0.31, 0.95),
    (5, 139): (-0.95, -0.24),
    (5, 157): (-0.21, 1.16),
    (5, 159): (0.00, 1.22),
    (5, 165): (1.22, -0.23),
    (5, 167): (0.12, -0.94),
    (5, 328): (0.01, 0.93),
}


@needs_data
@pytest.mark.parametrize(("task", "container"), list(RECORDED))
def test_containers_are_opened_where_recorded_agents_stood(task: int, container: int) -> None:
    home = episodes()[task].home
    box, end = home.nodes[container].box, Floor(home).end(container)
    assert math.dist(end, (box.x + RECORDED[task, container][0], box.z + RECORDED[task, container][1])) < 0.17
