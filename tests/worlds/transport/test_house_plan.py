"""Houses without furniture: rooms apart, walls around them, gaps where one can walk."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.transport import house_plan
from teamworld.worlds.transport.house_plan import WALL, Area, Blocked, House, draw_house

#: Half the sides of the map that agents draw, centimetres: 240 x 120 cells of 0.125 m.
MAP = (1500, 750)


@cache
def drawn(seed: int) -> House:
    """Return the first house of a seed that fits."""
    for attempt in range(100):
        try:
            return draw_house(generator(seed, "test", attempt))
        except Blocked:
            continue
    raise AssertionError(seed)


houses = st.integers(0, 400).map(drawn)
examples = settings(max_examples=60, deadline=None)


@examples
@given(houses)
def test_rooms_are_apart_and_of_the_kinds_that_a_house_has(house: House) -> None:
    kinds = Counter(house.kinds)
    assert kinds["Bedroom"] == kinds["Kitchen"] == 1
    assert 1 <= kinds["Office"] <= 3
    assert kinds["Livingroom"] >= 1
    assert kinds["Porch"] == (house.kinds[-1] == "Porch")
    assert len(house.kinds) - kinds["Porch"] in house_plan.ROOMS
    for first, other in combinations(house.areas, 2):
        gap = first.grown(WALL - 1)
        assert not gap.meets(other), "neighbours are as far apart as a wall is thick"


@examples
@given(houses)
def test_a_house_lies_on_the_map(house: House) -> None:
    for wall in house.walls:
        assert wall.within(Area(-MAP[0], -MAP[1], MAP[0], MAP[1]).grown(-100, -50))
    walls = np.array(house.walls)
    middle = walls[:, :2].min(axis=0) + walls[:, 2:].max(axis=0)
    assert abs(middle).max() <= 1


@examples
@given(houses)
def test_openings_lead_from_room_to_room_and_join_all(house: House) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(house.areas)))
    for opening in house.openings:
        first, other = (house.areas[number] for number in opening.rooms)
        across, along = opening.area.sides if opening.is_across_x else opening.area.sides[::-1]
        assert across == WALL
        assert house_plan.OPENING[0] <= along <= house_plan.OPENING[1]
        on_both_sides = opening.area.grown(*((1, 0) if opening.is_across_x else (0, 1)))
        assert on_both_sides.meets(first)
        assert on_both_sides.meets(other)
        assert not any(opening.area.meets(wall) for wall in house.walls)
        graph.add_edge(*opening.rooms)
    assert nx.is_connected(graph)
    if house.kinds[-1] == "Porch":
        assert graph.degree(len(house.areas) - 1) == len(house.areas) - 1, "all rooms open to the corridor"


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(houses)
def test_walls_are_all_that_is_near_rooms_but_openings(house: House) -> None:
    """On a grid of centimetres, what is within a wall's thickness of a room is room, opening or wall."""
    x0, z0 = min(wall.x0 for wall in house.walls), min(wall.z0 for wall in house.walls)
    shape = (max(wall.x1 for wall in house.walls) - x0, max(wall.z1 for wall in house.walls) - z0)

    def painted(areas: list[Area]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        cells = np.zeros(shape, np.bool_)
        for area in areas:
            cells[area.x0 - x0 : area.x1 - x0, area.z0 - z0 : area.z1 - z0] = True
        return cells

    rooms = painted(list(house.areas))
    near = painted([area.grown(WALL) for area in house.areas])
    gaps = painted([opening.area for opening in house.openings])
    assert (painted(list(house.walls)) == near & ~rooms & ~gaps).all()


def test_the_same_stream_gives_the_same_house() -> None:
    assert drawn.__wrapped__(7) == drawn.__wrapped__(7)
    assert len({drawn(seed) for seed in range(50)}) == 50


def test_both_forms_are_drawn() -> None:
    corridors = sum(drawn(seed).kinds[-1] == "Porch" for seed in range(60))
    assert 15 <= corridors <= 45
    deep = sum(_has_end_room(drawn(seed)) for seed in range(60))
    assert deep >= 10


def _has_end_room(house: House) -> bool:
    corridor = house.areas[-1]
    return house.kinds[-1] == "Porch" and any(area.z0 < corridor.z0 and area.z1 > corridor.z1 for area in house.areas)


def test_areas() -> None:
    area = Area(0, 0, 10, 20)
    assert area.grown(1) == Area(-1, -1, 11, 21)
    assert area.grown(1, 0) == Area(-1, 0, 11, 20)
    assert area.moved(5, -5) == Area(5, -5, 15, 15)
    assert area.sides == (10, 20)
    assert area.meters == (0.0, 0.0, 0.1, 0.2)
    assert area.within(area)
    assert not area.within(area.grown(-1))
    assert not area.meets(area.moved(10, 0)), "they share a border only"
