"""What a policy is shown in CUBE is what it was shown when it learned, number by number."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.cube import parallel_env, vector_env
from teamworld.worlds.cube.state import Block, Layout
from teamworld.worlds.cube.world import CubeOptions, CubeWorld

#: Beside an agent that sees one cell far stands a block that reaches out of its sight; another is soon delivered.
LAYOUT = Layout(9, ((1, 0), (0, 0), (2, 0), (6, 5)), (Block(3, 0, 1), Block(1, 6, 6)))


@pytest.mark.parametrize("radius", [None, 1, 4])
def test_views_and_environments_show_the_same(radius: int | None) -> None:
    world, side = CubeWorld(LAYOUT, options=CubeOptions(view_radius=radius)), LAYOUT.grid_size
    marked, plain = (parallel_env(layout=LAYOUT, view_radius=radius, agent_indicator=mark) for mark in (True, False))
    near = 3 if radius is None else radius
    teams = vector_env(layout=LAYOUT, observation=f"window:{near}")
    arrays = world.domain.arrays
    assert arrays is not None
    readers = [arrays.reader(shape) for shape in ((side, None, 6), (None, side, 5), (2 * near + 1,) * 2)]
    seen, same = marked.reset(seed=0)[0], plain.reset(seed=0)[0]
    windows, _ = teams.reset(seed=0)
    rng = np.random.default_rng(0)
    for step in range(80):
        for number, agent in enumerate(marked.agents):
            view = world.view(agent)
            own, every, window = (read(view) for read in readers)
            assert own.dtype == np.dtype(np.float32)
            assert own.tolist() == seen[agent].tolist()
            assert every.tolist() == same[agent].tolist()
            assert windows is not None
            assert window.tolist() == windows[0, number].tolist()
        numbers = rng.choice(5, len(marked.agents), p=[0.1, 0.15, 0.15, 0.15, 0.45])
        numbers[3] = 4 if step < 3 else numbers[3]
        chosen = dict(zip(marked.agents, numbers.tolist(), strict=True))
        seen, same = marked.step(chosen)[0], plain.step(chosen)[0]
        windows = teams.step(numbers[None].astype(np.int8))[0]
        result = world.step({agent: arrays.actions[number] for agent, number in chosen.items()})
        assert all(outcome.legal for outcome in result.outcomes.values())
    assert world.state.blocks[1].delivered
    assert world.state.blocks[0].col > 1


@pytest.mark.parametrize("shape", [(20, 20, 4), (20, 20), (9, 11), (400,), (19, 20, 5), (None, None)])
def test_other_shapes_are_refused_in_a_line(shape: tuple[int | None, ...]) -> None:
    arrays = CubeWorld(Layout(20, ((0, 0),), (Block(1, 4, 4),))).domain.arrays
    assert arrays is not None
    with pytest.raises(UserError, match=r"on a grid of side 20 .* \(20, 20, 5\)"):
        arrays.reader(shape)


def test_a_window_wider_than_sight_is_refused() -> None:
    arrays = CubeWorld(LAYOUT, options=CubeOptions(view_radius=2)).domain.arrays
    assert arrays is not None
    arrays.reader((5, 5))
    with pytest.raises(UserError, match="a window of radius 3, and agents see 2 cells far"):
        arrays.reader((7, 7))
