"""The rasters against a plain reference, and the searches on them."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.worlds.transport import rasters
from teamworld.worlds.transport.rasters import CELL, Frame
from teamworld.worlds.transport.scene import FloorPlan, Furniture, Pose, Rasters, Rect, ReferenceSamples, Room
from tests.worlds.transport import slow_rasters

#: Points nearer than this to an outline, or distances to a limit, are left out: rounding may decide them either way.
CLOSE = 1e-6


def box(x: float, z: float, width: float, depth: float, yaw: float, top: float, bottom: float = 0.0) -> Furniture:
    """Return a box of furniture around its middle."""
    sine, cosine = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    corners = tuple(
        (x + a * width / 2 * cosine + b * depth / 2 * sine, z - a * width / 2 * sine + b * depth / 2 * cosine)
        for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )
    return Furniture("box", "table", x, z, yaw, corners, bottom, top, is_kinematic=False)


def plan(*furniture: Furniture, samples: ReferenceSamples | None = None) -> FloorPlan:
    """Return a room of 2.4 m x 2 m with a wall to the south and half a wall through its middle."""
    walls = np.array([(-0.1, -0.1, 2.5, 0.0), (1.13, 0.0, 1.21, 0.93)])
    bounds = Rect(0.0, 0.0, 2.4, 2.0)
    return FloorPlan("plan", bounds, walls, 2.97, (Room(0, "Kitchen", bounds),), furniture, samples)


def frame_of(made: Rasters) -> Frame:
    return Frame(made.x0, made.z0, (made.is_blocked.shape[0], made.is_blocked.shape[1]))


def sampled(codes: list[list[int]]) -> ReferenceSamples:
    grid = np.array(codes)
    return ReferenceSamples(0.07, 0.11, 0.49, grid == 0, grid == -1)


lengths = st.floats(0.05, 1.5)
pieces = st.builds(
    box,
    x=st.floats(-0.5, 3.0),
    z=st.floats(-0.5, 2.5),
    width=lengths,
    depth=lengths,
    yaw=st.floats(0, 360),
    top=st.floats(0.05, 2.2),
    bottom=st.sampled_from((0.0, 1.3, 1.9)),
).filter(lambda piece: piece.bottom < piece.top)
grids = st.lists(st.lists(st.sampled_from((-1, 0, 1)), min_size=4, max_size=4), min_size=5, max_size=5).map(sampled)
starts = st.builds(Pose, st.floats(0, 2.4), st.floats(0, 2.0))


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(st.lists(pieces, max_size=4), st.none() | grids, st.lists(starts, max_size=2))
def test_every_cell_has_what_is_at_its_middle(
    furniture: list[Furniture], samples: ReferenceSamples | None, free: list[Pose]
) -> None:
    room = plan(*furniture, samples=samples)
    made = rasters.build_rasters(room, free)
    x, z = frame_of(made).centers
    for i in range(0, made.top.shape[0], 3):
        for j in range(0, made.top.shape[1], 3):
            point = (float(x[i, 0]), float(z[0, j]))
            if any(slow_rasters.distance_to_outline(piece.corners, *point) < CLOSE for piece in furniture):
                continue
            if any(abs(math.dist(point, (start.x, start.z)) - 0.3) < CLOSE for start in free):
                continue
            covering = slow_rasters.covering(furniture, *point)
            if slow_rasters.is_carved(samples, free, *point):
                covering = []
            assert made.is_blocked[i, j] == any(furniture[index].top > 0.12 for index in covering)
            heights = {index: float(np.float32(furniture[index].top)) for index in covering}
            assert made.top[i, j] == max(heights.values(), default=0.0)
            assert made.owner[i, j] == (
                -1 if not covering else max(covering, key=lambda index: (heights[index], -index))
            )
            assert made.is_wall[i, j] == (slow_rasters.wall_distance(room.walls, *point) == 0)


def test_what_blocks_and_what_does_not() -> None:
    room = plan(
        box(0.5, 0.5, 0.4, 0.4, 0, top=0.12),  # a rug, as high as the probe begins
        box(0.5, 1.5, 0.4, 0.4, 0, top=0.13),
        box(2.0, 0.5, 0.4, 0.4, 0, top=2.0, bottom=1.88),  # hangs above the probe
        box(2.0, 1.5, 0.4, 0.4, 0, top=2.0, bottom=1.87),
    )
    made = rasters.build_rasters(room)
    cells = [rasters.cell_of(made, x, z) for x, z in ((0.5, 0.5), (0.5, 1.5), (2.0, 0.5), (2.0, 1.5))]
    assert [bool(made.is_blocked[cell]) for cell in cells] == [False, True, False, True]
    assert [float(made.top[cell]) for cell in cells] == pytest.approx([0.12, 0.13, 0.0, 2.0])
    assert [int(made.owner[cell]) for cell in cells] == [0, 1, -1, 3]
    assert not made.is_blocked.flags.writeable


def test_of_equally_high_pieces_the_first_owns_a_cell() -> None:
    first, other = box(1.0, 1.0, 0.4, 0.4, 0, top=0.7), box(1.1, 1.0, 0.4, 0.4, 0, top=0.7)
    made = rasters.build_rasters(plan(first, other))
    assert [int(made.owner[rasters.cell_of(made, x, 1.0)]) for x in (0.91, 1.11, 1.28)] == [0, 0, 1]


def test_outlines_in_either_direction_and_outside_of_the_rasters() -> None:
    piece = box(1.7, 1.2, 0.9, 0.4, 30, top=1.0)
    backwards = replace_corners(piece, tuple(reversed(piece.corners)))
    far = box(40.0, -40.0, 1.0, 1.0, 0, top=1.0)
    made, other = rasters.build_rasters(plan(piece)), rasters.build_rasters(plan(backwards, far))
    assert made.is_blocked.any()
    assert (made.is_blocked == other.is_blocked).all()


def replace_corners(piece: Furniture, corners: tuple[tuple[float, float], ...]) -> Furniture:
    return piece._replace(corners=corners)


def test_rasters_cover_walls_with_a_margin() -> None:
    made = rasters.build_rasters(plan())
    frame = frame_of(made)
    assert made.cell == CELL
    assert made.x0 == pytest.approx(-1.1)
    assert made.x0 / CELL == pytest.approx(round(made.x0 / CELL))
    assert frame.x0 + frame.shape[0] * CELL >= 2.5 + rasters.MARGIN - 1e-9
    assert frame.z0 + frame.shape[1] * CELL >= 2.0 + rasters.MARGIN - 1e-9


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(st.lists(pieces, max_size=3), st.floats(0.1, 0.7))
def test_a_body_fits_where_nothing_is_nearer_than_its_radius(furniture: list[Furniture], radius: float) -> None:
    room = plan(*furniture)
    made = rasters.build_rasters(room)
    is_free = rasters.standing_room(room, made, radius)
    x, z = frame_of(made).centers
    blocked = [(float(x[i, 0]), float(z[0, j])) for i, j in np.argwhere(made.is_blocked)]
    for i in range(0, is_free.shape[0], 5):
        for j in range(0, is_free.shape[1], 5):
            point = (float(x[i, 0]), float(z[0, j]))
            gap = slow_rasters.wall_distance(room.walls, *point)
            for middle in blocked:  # to the square of the cell
                across, along = (max(abs(a - b) - CELL / 2, 0.0) for a, b in zip(point, middle, strict=True))
                gap = min(gap, math.hypot(across, along))
            if abs(gap - radius) > CLOSE:
                assert is_free[i, j] == (gap > radius), (point, gap)


def test_a_body_passes_where_it_just_fits() -> None:
    room = plan(box(0.5, 1.0, 0.4, 0.4, 0, top=1.0), box(1.3, 1.5, 0.4, 0.4, 0, top=1.0))
    made = rasters.build_rasters(room)
    x, z = frame_of(made).centers
    cell = rasters.cell_of(made, 0.92, 1.0)
    assert x[cell[0], 0] == pytest.approx(0.925)
    assert rasters.standing_room(room, made, 0.225)[cell], "what only touches is clear"
    assert not rasters.standing_room(room, made, 0.23)[cell]
    beside_wall = rasters.cell_of(made, 0.92, 0.3)
    assert rasters.standing_room(room, made, 1.13 - 0.925)[beside_wall]
    assert not rasters.standing_room(room, made, 0.206)[beside_wall]
    assert z[0, cell[1]] == pytest.approx(1.025)


@pytest.mark.heavy
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.data())
def test_connected_cells(across: int, along: int, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=across * along, max_size=across * along))
    is_free = np.array(bits, np.bool_).reshape(across, along)
    start = data.draw(st.tuples(st.integers(-1, across), st.integers(-1, along)))
    graph = nx.grid_2d_graph(across, along)
    graph.remove_nodes_from([cell for cell in list(graph) if not is_free[cell]])
    expected = nx.node_connected_component(graph, start) if start in graph else set()
    assert {(int(i), int(j)) for i, j in np.argwhere(rasters.connected(is_free, start))} == expected


def test_near() -> None:
    made = rasters.build_rasters(plan())
    mark = np.zeros(made.is_blocked.shape, np.bool_)
    assert not rasters.is_near(mark, made, 0.5, 0.5, 9.0)
    mark[rasters.cell_of(made, 0.51, 0.51)] = True  # its middle is (0.525, 0.525)
    assert rasters.is_near(mark, made, 0.525, 1.5, 0.976)
    assert not rasters.is_near(mark, made, 0.525, 1.5, 0.974)
    assert rasters.is_near(mark, made, 0.525, -30.0, 40.0), "far outside of the rasters"
    assert not rasters.is_near(mark, made, 0.525, -30.0, 20.0)


@pytest.mark.parametrize("distance", [0.0, 0.049, 0.051])
def test_near_counts_middles_of_cells(distance: float) -> None:
    made = rasters.build_rasters(plan())
    mark = np.zeros(made.is_blocked.shape, np.bool_)
    mark[rasters.cell_of(made, 0.51, 0.51)] = True
    assert rasters.is_near(mark, made, 0.575, 0.525, distance) == (distance > 0.05)


def test_a_plan_with_samples_is_carved() -> None:
    piece = box(1.2, 1.4, 2.0, 1.0, 0, top=0.8)
    whole = rasters.build_rasters(plan(piece))
    codes = [[1] * 4 for _ in range(5)]
    codes[2][3] = 0  # at (1.05, 1.58)
    carved = rasters.build_rasters(replace(plan(piece), samples=sampled(codes)))
    gone = whole.is_blocked & ~carved.is_blocked
    x, z = frame_of(whole).centers
    assert gone.sum() == pytest.approx((0.49 / CELL) ** 2, rel=0.15)
    assert (abs(x - 1.05)[gone.any(axis=1)] <= 0.245).all()
    assert (abs(z - 1.58)[:, gone.any(axis=0)] <= 0.245).all()
