"""The search for two agents and two blocks: against the optimum of small worlds, and a search without an estimate."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds import registry
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.cube import pair_search
from teamworld.worlds.cube.levels import generate
from teamworld.worlds.cube.state import Block, Layout
from tests.worlds.cube.small_worlds import SmallWorld


@pytest.mark.heavy
def test_the_bound_is_at_most_the_optimum_and_mostly_equal() -> None:
    world = SmallWorld(5, (2, 1))
    pairs = [
        (pair_search.bound_pairs(layout, 100, 50_000), best)
        for layout, best in islice(world.list_layouts(world.find_optima(), generator(1, "tests", "pairs")), 300)
    ]
    assert all(bound <= best for bound, best in pairs)
    assert sum(bound == best for bound, best in pairs) >= 150


@pytest.mark.heavy
@pytest.mark.parametrize("light", [1, 2])
def test_the_estimate_leaves_out_no_shorter_sequence(light: int) -> None:
    rng = generator(2, "tests", "pairs")
    deep = 3 if light > 1 else 1
    left = pair_search._tabulate(7, deep)
    for _ in range(20):
        layout = generate(grid_size=7, num_agents=2, blocks={2: 1, 1: 1}, rng=rng)
        heavy, other = (block.row * 7 + block.col for block in layout.blocks)
        agents = min(7 * row for row, _ in layout.agents), max(7 * row for row, _ in layout.agents)
        found = [
            pair_search._search(7, heavy, other, agents, light > 1, 60, 500_000, estimate)
            for estimate in (left, np.zeros_like(left))
        ]
        assert found[0] == found[1] < 60, layout


def test_what_is_proven_of_two_agents_is_near_the_plan() -> None:
    for seed, expected in ((4, StepBound(36, 36)), (5, StepBound(33, 33)), (1004, StepBound(41, 43))):
        assert registry.step_bound("cube", "n2", seed, {}) == expected


def test_a_bound_stands_when_the_states_run_out() -> None:
    layout = generate(grid_size=9, num_agents=2, blocks={2: 1, 1: 1}, rng=generator(4, "tests", "pairs"))
    bounds = [pair_search.bound_pairs(layout, 100, states) for states in (2, 50, 5_000, 500_000)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] < 100
    assert pair_search.bound_pairs(layout, bounds[-1] - 3, 500_000) == bounds[-1] - 3


def test_other_teams_and_blocks_have_no_bound_of_pairs() -> None:
    heavy, light = Block(2, 3, 3), Block(1, 1, 1)
    assert pair_search.bound_pairs(Layout(9, ((0, 0), (1, 0)), (heavy, light)), 100) > 0
    assert pair_search.bound_pairs(Layout(9, ((0, 0), (1, 0)), (heavy,)), 100) == 0
    assert pair_search.bound_pairs(Layout(9, ((0, 0), (1, 0)), (light,)), 100) == 0
    assert pair_search.bound_pairs(Layout(9, ((0, 0), (1, 0), (2, 0)), (heavy, light)), 100) == 0
