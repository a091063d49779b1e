"""How agents find their way: the cheapest way over cells, steps along it, and walks that arrive."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action
from teamworld.seeding import generator
from teamworld.worlds.transport import navigation, physics
from teamworld.worlds.transport.navigation import AT, COSTS, GOAL, LENGTH, STEPS, UNKNOWN_COST, Way
from teamworld.worlds.transport.sight import CHART_CELL, CHART_X, CHART_Z, FREE, OBSTACLE, UNKNOWN, WALL, Moment
from teamworld.worlds.transport.state import FAILURE, FORWARD, LEFT, NONE, RIGHT, Primitive, Rules
from teamworld.worlds.transport.world import make
from tests.worlds.transport import slow_sight
from tests.worlds.transport.houses import box, house, look, moment, put_agent

#: Columns and rows of the small house with a margin.
LOW, HIGH = (112, 52), (224, 100)


def choose(here: Moment, way: Way, x: float, z: float) -> int:
    knowledge = here.knowledge
    return int(navigation.choose_move(way, knowledge.chart[0], knowledge.near[0], here.state, 0, x, z))


def draw_chart(here: Moment, cells: npt.NDArray[np.uint8]) -> None:
    """Let the agent know these cells from (LOW) on, and nothing else."""
    chart = here.knowledge.chart[0]
    chart[:] = UNKNOWN
    chart[LOW[0] : LOW[0] + cells.shape[0], LOW[1] : LOW[1] + cells.shape[1]] = cells
    here.knowledge.near[0] = slow_sight.near_of(chart)


def place_of(cell: int) -> tuple[float, float]:
    return CHART_X + CHART_CELL * (cell // 120), CHART_Z + CHART_CELL * (cell % 120)


def cells_of(way: Way) -> list[int]:
    return [int(cell) for cell in way.cells[: way.marks[LENGTH]]]


def price(here: Moment, cells: list[int]) -> int:
    """Return what a way costs, in halves."""
    chart, near = here.knowledge.chart[0].reshape(-1), here.knowledge.near[0].reshape(-1)
    return sum(COSTS[near[cell]] + UNKNOWN_COST * (chart[cell] == UNKNOWN) for cell in cells[1:])


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_ways_are_the_cheapest(seed: int) -> None:
    rng = generator(seed, "test")
    here = moment(house())
    here.state.clock[0] = 200  # obstacles can be passed at a cost from then on
    draw_chart(here, rng.choice([UNKNOWN, FREE, FREE, FREE, OBSTACLE], (40, 20)).astype(np.uint8))
    way = navigation.begin_way(here.ground)
    start, goal = ((LOW[0] + int(rng.integers(40))) * 120 + LOW[1] + int(rng.integers(20)) for _ in range(2))
    put_agent(here, 0, *place_of(start))
    choose(here, way, *place_of(goal))
    found = cells_of(way)
    assert (found[0], found[-1]) == (start, goal)
    assert all(abs(one - other) in (1, 120) for one, other in pairwise(found))
    graph = nx.DiGraph()
    low, high = way.marks[4:8:2].tolist(), way.marks[5:8:2].tolist()
    for i in range(low[0], high[0] + 1):
        for j in range(low[1], high[1] + 1):
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if low[0] <= i + di <= high[0] and low[1] <= j + dj <= high[1]:
                    cell = (i + di) * 120 + j + dj
                    graph.add_edge(i * 120 + j, cell, weight=price(here, [0, cell]))
    assert price(here, found) == nx.dijkstra_path_length(graph, start, goal)


def test_an_agent_turns_to_what_is_more_than_18_degrees_aside() -> None:
    here = moment(house(starts=[(2.0, 2.0, 0.0)]))
    draw_chart(here, np.full((110, 48), FREE, np.uint8))
    for degrees, wanted in ((0, FORWARD), (17, FORWARD), (-17, FORWARD), (20, RIGHT), (-20, LEFT), (170, RIGHT)):
        put_agent(here, 0, 2.0, 2.0, -degrees)
        assert choose(here, navigation.begin_way(here.ground), 2.0, 2.5) == wanted, degrees


def test_ways_lead_round_walls_and_through_none() -> None:
    here = moment(house(starts=[(2.0, 0.5, 90.0)]))
    cells = np.full((110, 48), FREE, np.uint8)
    wall = round((4.0 - CHART_X) / CHART_CELL) - LOW[0]
    cells[wall, :] = WALL
    cells[wall, 20:30] = FREE
    draw_chart(here, cells)
    way = navigation.begin_way(here.ground)
    assert choose(here, way, 6.0, 0.5) != NONE
    assert not any(here.knowledge.chart[0].reshape(-1)[cell] == WALL for cell in cells_of(way))
    cells[:, [0, -1]], cells[[0, -1], :], cells[wall, :] = WALL, WALL, WALL
    draw_chart(here, cells)
    assert choose(here, navigation.begin_way(here.ground), 6.0, 0.5) == NONE


def test_things_beside_walls_can_be_walked_to() -> None:
    here = moment(house(starts=[(2.0, 2.0, 0.0)]))
    cells = np.full((110, 48), FREE, np.uint8)
    cells[:, 40:] = WALL
    draw_chart(here, cells)
    assert choose(here, navigation.begin_way(here.ground), 2.0, CHART_Z + CHART_CELL * (LOW[1] + 41)) == FORWARD


def test_a_way_is_kept_until_something_speaks_against_it() -> None:
    here = moment(house(starts=[(1.0, 2.0, 90.0)]))
    cells = np.full((110, 48), FREE, np.uint8)
    draw_chart(here, cells)
    way = navigation.begin_way(here.ground)
    choose(here, way, 6.0, 2.0)
    assert (way.marks[STEPS], way.marks[AT]) == (0, 0)
    put_agent(here, 0, 1.5, 2.0, 90.0)
    choose(here, way, 6.0, 2.0)
    assert (way.marks[STEPS], way.marks[AT]) == (1, 4), "kept"
    cells[30, 0:3] = OBSTACLE  # far from the way
    draw_chart(here, cells)
    choose(here, way, 6.0, 2.0)
    assert way.marks[STEPS] == 2
    cells[40] = OBSTACLE  # across it
    cells[40, 44:] = FREE
    draw_chart(here, cells)
    choose(here, way, 6.0, 2.0)
    assert way.marks[STEPS] == 0, "dearer than when it was found"
    choose(here, way, 6.0, 1.0)
    assert (way.marks[STEPS], int(way.marks[GOAL] % 120)) == (0, round((1.0 - CHART_Z) / CHART_CELL))
    put_agent(here, 0, 1.5, 3.0, 90.0)
    choose(here, way, 6.0, 1.0)
    assert way.marks[STEPS] == 0, "the agent is beside it"
    for step in range(1, navigation.KEPT + 2):
        choose(here, way, 6.0, 1.0)
        assert way.marks[STEPS] == (step if step <= navigation.KEPT else 0)
    navigation.forget_way(way)
    choose(here, way, 6.0, 1.0)
    assert way.marks[STEPS] == 0


@pytest.mark.parametrize("goal", [(10.0, 3.0), (6.0, 0.5), (0.5, 3.5)])
def test_walks_arrive(goal: tuple[float, float]) -> None:
    furniture = [box("table", 2.0, 1.2, 1.0, 0.8, 0.75), box("sofa", 6.0, 3.4, 2.0, 0.8, 0.8)]
    here = moment(house((), furniture, [(1.0, 0.5, 0.0)]))
    way = navigation.begin_way(here.ground)
    look(here)
    for _ in range(250):
        body = here.state.agents[0]
        if math.dist((body["x"], body["z"]), goal) < 0.5:
            break
        physics.order(here.state, 0, Primitive(choose(here, way, *goal)))
        physics.run(here.ground, Rules(), here.state, 100)
        look(here)
    assert math.dist((body["x"], body["z"]), goal) < 0.5
    assert here.state.clock[0] < 40 * math.dist((1.0, 0.5), goal) + 120


def test_cells_where_moves_were_stopped_become_dearer() -> None:
    """Something that is on no chart is walked round, not into again and again; another walk tries it anew."""
    here = moment(house(starts=[(0.5, 0.25, 90.0)]))
    here.state.clock[0] = 200
    draw_chart(here, np.full((40, 20), FREE, np.uint8))
    way = navigation.begin_way(here.ground)
    assert choose(here, way, 3.0, 0.25) == FORWARD
    straight = cells_of(way)
    for _ in range(navigation.FEW_BUMPS + 3):
        here.state.agents["last"], here.state.agents["status"] = FORWARD, FAILURE
        choose(here, way, 3.0, 0.25)
    around = cells_of(way)
    assert way.bumps.max() == navigation.FEW_BUMPS + 3
    assert not set(around) & set(np.flatnonzero(way.bumps).tolist())
    navigation.forget_way(way)
    here.state.agents["last"] = NONE
    choose(here, way, 3.0, 0.25)
    assert cells_of(way) == straight


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(200, 212))
def test_all_rooms_of_own_houses_are_walked_to(seed: int) -> None:
    here = make("dev", seed, 10_000, {"agents": 1})
    for room in here._names.rooms:
        actions = {"Alice": Action("explore", (room,))}
        while (outcome := here.step(actions).outcomes["Alice"]).status == "running":
            actions = {}
        assert outcome.status == "done", f"{room}: {outcome.reason}"
