"""Bounds on the steps of pushers: against a search over all that they can do, and against teams that play."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds import registry
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.cube import bounds
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.state import Block, Layout
from tests.worlds.cube.reference import Cell, Scene


def brute_force(layout: Layout) -> int:
    """Return the fewest steps, by a search over all moments with the plain reference of the rules."""
    weights = [block.weight for block in layout.blocks]
    layer = {(layout.agents, tuple((block.row, block.col) for block in layout.blocks))}
    met = set(layer)
    for steps in range(1000):
        if any(not any(blocks) for _, blocks in layer):
            return steps
        after = set()
        for agents, blocks in layer:
            for actions in product(range(5), repeat=len(agents)):
                there = {number: (weights[number], at) for number, at in enumerate(blocks) if at}
                scene = Scene(layout.grid_size, dict(enumerate(agents)), there)
                scene.step(dict(enumerate(actions)))
                left: list[Cell | tuple[()]] = [
                    scene.blocks[b][1] if b in scene.blocks else () for b in range(len(blocks))
                ]
                after.add((tuple(scene.agents[agent] for agent in range(len(agents))), tuple(left)))
        layer = after - met  # type: ignore[assignment]
        met |= layer
    raise AssertionError("no end")


def small(rng: np.random.Generator, agents: int, weights: tuple[int, ...]) -> Layout:
    """Return a layout on the smallest grid that can be done: agents anywhere, blocks in contact too."""
    while True:
        places = [(int(rng.integers(5)), int(rng.integers(5))) for _ in range(agents)]
        blocks = [Block(w, int(rng.integers(1, 5 - w)), int(rng.integers(1, 5 - w))) for w in weights]
        with suppress(UserError):
            return Layout(5, tuple(places), tuple(blocks))


@pytest.mark.heavy
@pytest.mark.parametrize(("agents", "weights", "number"), [(1, (1,), 20), (1, (1, 1), 2), (2, (1,), 1), (2, (2,), 1)])
def test_no_plan_beats_the_bound(agents: int, weights: tuple[int, ...], number: int) -> None:
    rng = generator(3, "tests", "bounds")
    for _ in range(number):
        layout = small(rng, agents, weights)
        bound, best = bounds.bound(layout), brute_force(layout)
        assert bound is not None
        assert bound.steps <= best, layout
        assert bound.planned is None or bound.planned >= best, layout


def test_what_is_proven_of_one_agent_is_exact() -> None:
    for seed in range(20):
        bound = registry.step_bound("cube", "n1", seed, {})
        ((row, col),), (block,) = layout_for("n1", seed).agents, layout_for("n1", seed).blocks
        steps = abs(row - block.row) + block.col - 1 - col + 19 - block.col
        assert bound == StepBound(steps, steps)


def test_a_block_that_is_too_heavy_has_no_bound() -> None:
    assert registry.step_bound("cube", "paper-n4", 0, {"agents": 2}) is None
    assert registry.step_bound("cube", "paper-n4", 0, {"agents": 3}) is not None


def test_more_agents_never_raise_the_bound_of_the_same_blocks() -> None:
    for level in ("n4", "n8"):
        for seed in range(3):
            steps = [registry.step_bound("cube", level, seed, {"agents": n}) for n in range(1, int(level[1:]) + 1)]
            known = [bound.steps for bound in steps if bound is not None]
            assert known == sorted(known, reverse=True)


def test_a_line_of_agents_needs_not_come_nearer_than_its_length() -> None:
    line = Layout(9, ((4, 0), (4, 1)), (Block(2, 3, 2),))
    assert bounds.bound(line) == StepBound(5, 5)  # five columns, and both push at once: the optimum


def test_a_block_that_others_push_on_saves_steps() -> None:
    shared = registry.step_bound("cube", "n4", 0, {})
    assert shared is not None
    assert shared.planned == 35  # 49 where each block is pushed by one team


def test_plans_are_played_by_the_rules_and_do_not_beat_the_bound() -> None:
    known = [registry.step_bound("cube", level, seed, {}) for level in ("n2", "n4", "paper-n4") for seed in range(6)]
    for bound in known:
        assert bound is not None
        assert bound.planned is not None
        assert bound.steps <= bound.planned <= 80
    assert registry.step_bound("cube", "n16", 0, {}) is not None
