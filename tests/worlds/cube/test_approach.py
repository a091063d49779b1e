"""Ways to a face, waits for those who are to push too, and who has to make room."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.approach import find_jam, wait_for_others, ways_to_face
from teamworld.worlds.cube.symbolic_state import DELTA, SIDES, SymbolicState
from tests.worlds.cube.team import Cell, state
from tests.worlds.cube.test_domain import random_scene


def plain_steps(here: SymbolicState, start: Cell, goals: set[Cell], through: bool) -> int | None:
    """Return the steps from a cell to the nearest of some cells by plain breadth-first search."""
    todo, seen = deque([(start, 0)]), {start}
    while todo:
        at, steps = todo.popleft()
        if at in goals:
            return steps
        for cell in ((at[0] - 1, at[1]), (at[0] + 1, at[1]), (at[0], at[1] - 1), (at[0], at[1] + 1)):
            if cell not in seen and (here.is_passable(cell) if through else here.is_free(cell)):
                seen.add(cell)
                todo.append((cell, steps + 1))
    return None


@given(seed=st.integers(0, 10_000), n=st.sampled_from([2, 4, 8]), face=st.sampled_from(SIDES))
def test_ways_are_those_of_a_plain_search(seed: int, n: int, face: str) -> None:
    here = random_scene(seed, n, 20)
    for block in here.blocks:
        ways, aligned = ways_to_face(here, block, face), geometry.aligned_agents(here, block, face)
        staging = set(geometry.staging_cells(here, block, face))
        best = [cell for _, cell in geometry.targets(here, block, face)]
        for agent, at in here.agents.items():
            straight = plain_steps(here, at, staging, through=True)
            assert (agent in ways) == (agent in aligned or straight is not None)
            if agent in aligned or agent not in ways:
                continue
            way, free = ways[agent], plain_steps(here, at, set(best), through=False)
            assert way.is_barred == (free is None)
            assert way.steps == straight if free is None else way.steps >= free
            assert way.straight <= way.steps
            assert bool(way.met) == (way.steps > way.straight or way.is_barred)


@given(seed=st.integers(0, 10_000), n=st.sampled_from([8, 16]), face=st.sampled_from(SIDES))
def test_who_stands_on_a_way_is_met_step_by_step(seed: int, n: int, face: str) -> None:
    here = random_scene(seed, n, 20)
    for block in here.blocks:
        field = geometry.distances(here, geometry.staging_cells(here, block, face), through_agents=True)
        for at in here.agents.values():
            if geometry.path_length(field, at) is None:
                continue
            met, cell = [], at
            while (way := geometry.first_step(field, cell)) is not None and way[1] <= field[cell[0] + 1, cell[1] + 1]:
                cell = cell[0] + DELTA[way[0]][0], cell[1] + DELTA[way[0]][1]
                met += [here.by_cell[cell]] if cell in here.by_cell else []
            assert list(geometry.agents_on_way(here, field, at)) == met


def test_who_is_shut_out_is_not_waited_for() -> None:
    shut = state(20, [(16, 0), (17, 0), (14, 0), (6, 0)], [(3, 14, 1)])
    assert wait_for_others(shut, "agent_0", 0, "left", 3) is None
    jam = find_jam(shut, 0, "left")
    assert jam is not None
    assert (jam.agent, jam.way, jam.comer) == ("agent_0", (("up", 1),), "agent_1")
    made = shut.with_agents({"agent_0": (15, 0)})
    assert wait_for_others(made, "agent_0", 0, "left", 3) == 1
    assert find_jam(made, 0, "left") is None


def test_who_walks_in_the_way_is_taken_to_walk_on() -> None:
    queue = state(20, [(4, 3), (6, 0), (7, 0)], [(2, 4, 4)])
    assert wait_for_others(queue, "agent_0", 0, "left", 2) == 4
    assert find_jam(queue, 0, "left") is None
