"""Furniture of houses of our own: in its room, apart from other furniture, out of the way."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.transport.furnishing import COUNTERS, GROUPS, MODELS, SHORTEST_COUNTER
from teamworld.worlds.transport.furniture_layout import FRONT, GAP, Piece, furnish
from teamworld.worlds.transport.house_plan import WALL, Area, Blocked, Opening
from teamworld.worlds.transport.scene import RoomKind

AREA = Area(-250, -200, 250, 210)
#: In the wall to the east, at its corner, and in the middle of the wall to the south; the last is of other rooms.
OPENINGS = (
    Opening((0, 1), Area(250, 65, 250 + WALL, 210)),
    Opening((0, 2), Area(-72, -200 - WALL, 72, -200)),
    Opening((1, 2), Area(600, 0, 600 + WALL, 145)),
)
KINDS: tuple[RoomKind, ...] = ("Kitchen", "Livingroom", "Bedroom", "Office")


@cache
def furnished(kind: RoomKind, seed: int) -> list[Piece]:
    """Return the first furniture of a room that fits."""
    for attempt in range(50):
        try:
            return furnish(kind, AREA, OPENINGS, generator(seed, "test", kind, attempt))
        except Blocked:
            continue
    raise AssertionError((kind, seed))


rooms = st.builds(furnished, st.sampled_from(KINDS), st.integers(0, 200))
examples = settings(max_examples=80, deadline=None)


def is_hung(piece: Piece) -> bool:
    return MODELS[piece.model].bottom > 0


def category(piece: Piece) -> str:
    return MODELS[piece.model].category


@examples
@given(rooms)
def test_pieces_stand_in_the_room_apart(pieces: list[Piece]) -> None:
    assert all(piece.area.within(AREA) for piece in pieces)
    for first, other in combinations(pieces, 2):
        if is_hung(first) == is_hung(other):
            assert not first.area.meets(other.area), (first, other)


@examples
@given(rooms)
def test_the_way_through_openings_stays_free(pieces: list[Piece]) -> None:
    for opening in OPENINGS[:2]:
        doorway = opening.area.grown(*((100, 0) if opening.is_across_x else (0, 100)))
        assert not any(piece.area.meets(doorway) for piece in pieces)


@examples
@given(rooms)
def test_corners_are_within_the_area(pieces: list[Piece]) -> None:
    for piece in pieces:
        corners = piece.furniture().corners
        area = piece.area.meters
        assert all(area.distance(x, z) < 0.0011 for x, z in corners), "corners are whole millimetres"
        model = MODELS[piece.model]
        sides = (math.dist(corners[0], corners[1]), math.dist(corners[1], corners[2]))
        assert sides == pytest.approx((model.width / 100, model.depth / 100), abs=0.002)
        middle = ((corners[2][0] + corners[3][0]) / 2, (corners[2][1] + corners[3][1]) / 2)
        ahead = math.radians(piece.yaw)
        front = (piece.x + model.depth / 2 * math.sin(ahead), piece.z + model.depth / 2 * math.cos(ahead))
        assert middle == pytest.approx((front[0] / 100, front[1] / 100), abs=0.002)
        assert math.dist(corners[0], corners[2]) == pytest.approx(math.dist(corners[1], corners[3]), abs=0.003)


def test_what_looks_along_its_yaw() -> None:
    east = Piece("loveseat", 100, 0, 90).furniture()
    (x0, _), (x1, _), (x2, _), (x3, _) = east.corners
    assert (x0, x1) == (0.54, 0.54), "its back"
    assert (x2, x3) == (1.46, 1.46), "its front"
    assert (east.x, east.z, east.yaw, east.bottom, east.top) == (1.0, 0.0, 90.0, 0.0, 0.83)
    north = Piece("loveseat", 100, 0, 360).furniture()
    assert north.corners == ((0.19, -0.46), (1.81, -0.46), (1.81, 0.46), (0.19, 0.46))
    assert north.yaw == 0.0
    assert Piece("loveseat", 0, 0, 0).area == Area(-81, -46, 81, 46)
    assert Piece("loveseat", 0, 0, 270).area == Area(-46, -81, 46, 81)
    assert Piece("loveseat", 0, 0, 45).area == Area(-94, -94, 94, 94)


@pytest.mark.parametrize("kind", KINDS)
def test_rooms_get_what_they_need_and_vary(kind: RoomKind) -> None:
    drawn = [furnished(kind, seed) for seed in range(40)]
    counts = [Counter(map(category, pieces)) for pieces in drawn]
    assert len({tuple(pieces) for pieces in drawn}) == 40
    if kind == "Bedroom":
        assert all(count["bed"] == 1 for count in counts)
    else:
        assert all(count["bed"] == 0 for count in counts)
    if kind == "Kitchen":
        assert all(count["refrigerator"] == count["dishwasher"] == 1 for count in counts)
        assert all(count["table"] >= 1 for count in counts)
        assert any(count["chair"] >= 3 for count in counts)
    if kind == "Livingroom":
        assert all(count["sofa"] >= 1 for count in counts)
        assert any(count["coffee table"] for count in counts)
    if kind == "Office":
        assert all(count["table"] >= 1 for count in counts)
    for group in GROUPS[kind]:
        assert any(piece.model in group.models for pieces in drawn for piece in pieces), group


@examples
@given(st.integers(0, 200))
def test_a_counter_stands_in_a_row_along_a_wall(seed: int) -> None:
    pieces = furnished("Kitchen", seed)
    models = [piece.model for piece in pieces]
    order = next(order for order in (*COUNTERS, SHORTEST_COUNTER) if tuple(models[: len(order)]) == order)
    row = pieces[: len(order)]
    assert len({piece.yaw for piece in row}) == 1
    for left, right in pairwise(row):
        gap = math.dist((left.x, left.z), (right.x, right.z))
        across = (MODELS[left.model].width + MODELS[right.model].width) / 2
        assert gap == pytest.approx(across, abs=15), "beside each other, if not equally deep"
        assert left.area.grown(1).meets(right.area)
    hung = [piece for piece in pieces if piece.model == "wall_cabinet"]
    assert len(hung) == order.count("base_cabinet")
    assert all(any(piece.area.meets(below.area) for below in row) for piece in hung)


@examples
@given(st.integers(0, 200))
def test_one_can_stand_before_sofas_and_tables_of_a_room(seed: int) -> None:
    """Before what stands at a wall is free floor; only the table of a sofa, and chairs of a table, may stand there."""
    pieces = furnished("Livingroom", seed)
    standing = [piece for piece in pieces if not is_hung(piece)]
    for sofa in (piece for piece in standing if category(piece) == "sofa"):
        x0, z0, x1, z1 = sofa.area
        front = (
            Area(x0, z1, x1, z1 + FRONT), Area(x1, z0, x1 + FRONT, z1),
            Area(x0, z0 - FRONT, x1, z0), Area(x0 - FRONT, z0, x0, z1),
        )[sofa.yaw // 90]  # fmt: skip
        before = {category(piece) for piece in standing if piece.area.meets(front)}
        assert before <= {"coffee table"}
        assert front.within(AREA)


def test_too_small_a_room_is_blocked() -> None:
    with pytest.raises(Blocked):
        furnish("Bedroom", Area(0, 0, 240, 240), (), generator(0, "test"))
    with pytest.raises(Blocked):
        furnish("Kitchen", Area(0, 0, 200, 200), (), generator(0, "test"))
    assert furnish("Porch", Area(0, 0, 900, 178), (), generator(0, "test")) == []
    assert GAP == 4
