"""Looking for blocks that nobody has found: shares of agents, and what comes into view on a walk."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from teamworld.worlds.cube.exploration import cells_shown, exploration_plans, shared_searches
from teamworld.worlds.cube.symbolic_state import DELTA, SIDES, Square, SymbolicState

#: The areas of a grid of side 20 that agents see 4 cells far in.
AREAS = dict(enumerate(product(range(0, 20, 5), range(0, 20, 5))))


def test_each_free_agent_has_an_area_of_its_own_first() -> None:
    here = SymbolicState(20, {"agent_0": (10, 0), "agent_1": (10, 1)}, {}, {0: (0, 0), 1: (0, 5)})
    first, second = (shared_searches(here, agent, 4) for agent in here.agents)
    assert [(search.area, search.owner) for search in first] == [((0, 0), "agent_0"), ((0, 5), "agent_1")]
    assert [(search.area, search.owner) for search in second] == [((0, 5), "agent_1"), ((0, 0), "agent_0")]
    assert exploration_plans(here, "agent_1", 4)[0].actions != second[0].actions, "plans go to the nearest"


def test_who_can_push_has_no_share_and_does_not_look() -> None:
    agents, blocks = {"agent_0": (10, 0), "agent_1": (10, 5)}, {0: Square(1, 10, 1)}
    here = SymbolicState(20, agents, blocks, {0: (0, 0), 1: (0, 5)})
    assert shared_searches(here, "agent_0", 4) == ()
    assert [search.owner for search in shared_searches(here, "agent_1", 4)] == ["agent_1", None]


@given(
    start=st.tuples(st.integers(0, 19), st.integers(0, 19)),
    runs=st.lists(st.tuples(st.sampled_from(SIDES), st.integers(1, 6)), max_size=4),
    unseen=st.sets(st.tuples(st.integers(0, 19), st.integers(0, 19))),
    radius=st.integers(1, 5),
)
def test_a_walk_shows_what_is_near_one_of_its_cells(
    start: tuple[int, int], runs: list[tuple[str, int]], unseen: set[tuple[int, int]], radius: int
) -> None:
    path = [start]
    for side, cells in runs:
        for _ in range(cells):
            path.append((path[-1][0] + DELTA[side][0], path[-1][1] + DELTA[side][1]))
    near = {cell for cell in unseen if any(max(abs(cell[0] - r), abs(cell[1] - c)) <= radius for r, c in path)}
    assert cells_shown(start, runs, unseen, radius) == sorted(near if runs else ())


@given(
    agents=st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), min_size=1, max_size=5, unique=True),
    unseen=st.sets(st.sampled_from(list(AREAS)), min_size=1),
)
def test_no_area_falls_to_two_agents_and_no_agent_has_two(agents: list[tuple[int, int]], unseen: set[int]) -> None:
    here = SymbolicState(
        20, {f"agent_{i}": at for i, at in enumerate(agents)}, {}, {area: AREAS[area] for area in sorted(unseen)}
    )
    first = [searches[0] for agent in here.agents if (searches := shared_searches(here, agent, 4))]
    own = [search.area for agent, search in zip(here.agents, first, strict=False) if search.owner == agent]
    assert len(own) == len(set(own))
