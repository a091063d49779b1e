"""What a pushed block meets, against pushes that are carried out cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.candidate_plans import pushed_state
from teamworld.worlds.cube.levels import generate
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.push_path import agents_ahead, meetings, obstruction, reach
from teamworld.worlds.cube.state import make_state
from teamworld.worlds.cube.symbolic_state import OPPOSITE, SIDES, SymbolicState, agent_name
from tests.worlds.cube.team import state


def scene(seed: int, n: int, steps: int) -> SymbolicState:
    """Return the blocks as a team leaves them that walks mostly right; all agents stand out of their way."""
    rng = np.random.default_rng(seed)
    arrays = make_state(generate(n, rng=rng))
    for _ in range(steps):
        step(arrays, rng.choice(5, size=n, p=[0.05, 0.2, 0.2, 0.05, 0.5]))
    here = SymbolicState.from_arrays(arrays, tuple(map(agent_name, range(n))))
    return SymbolicState(here.side, {}, dict(here.blocks))


@given(
    st.integers(0, 10_000),
    st.sampled_from([4, 8, 16]),
    st.integers(0, 60),
    st.integers(0, 99),
    st.sampled_from(SIDES),
    st.integers(1, 40),
)
def test_blocks_are_met_where_a_push_meets_them(seed: int, n: int, steps: int, pick: int, way: str, force: int) -> None:
    here = scene(seed, n, steps)
    blocks = [block for block, _ in here.open_blocks]
    assume(blocks)
    block = blocks[pick % len(blocks)]
    most, face = geometry.cells_to_edge(here, block, way), OPPOSITE[way]
    strong = SymbolicState(here.side, {f"agent_{i}": (-9 - i, -9) for i in range(10_000 // 10)}, dict(here.blocks))
    needs, now = [], strong
    for _ in range(most):
        needs.append((geometry.chain_weight(now, block, face), frozenset(geometry.chain(now, block, way))))
        then = pushed_state(now, block, way, 1)
        if then.blocks[block] == now.blocks[block]:
            needs.pop()
            break
        now = then
    can = next((at for at, (need, _) in enumerate(needs) if need > force), len(needs))
    assert reach(here, block, way, force) == can
    met = {meeting.block: meeting for meeting in meetings(here, block, way) if meeting.after < len(needs)}
    seen = {other: at for at in reversed(range(len(needs))) for other in needs[at][1] if other != block}
    assert {other: meeting.after for other, meeting in met.items()} == seen
    assert all(meeting.need == needs[meeting.after][0] for meeting in met.values())


def test_who_stands_before_a_block_or_before_what_it_takes_along_stops_it() -> None:
    here = state(20, [(1, 4), (2, 17), (3, 9), (1, 0)], [(2, 1, 1), (1, 1, 6)])
    assert agents_ahead(here, 0) == [(1, "agent_0"), (14, "agent_1")]
    assert agents_ahead(here, 1) == []
    behind = state(20, [(1, 10)], [(2, 1, 1), (1, 1, 6)])
    assert agents_ahead(behind, 0) == [(6, "agent_0")]  # block 1 touches it three cells after it was met


@pytest.mark.parametrize(("force", "block"), [(1, None), (2, 1), (3, 2), (4, None)])
def test_what_is_in_the_way_is_what_makes_it_too_heavy(force: int, block: int | None) -> None:
    here = state(20, [(9, 9)], [(2, 1, 1), (1, 1, 5), (1, 1, 8)])
    stop = obstruction(here, 0, "right", force)
    if force > 1:
        assert (stop and stop.block) == block
    assert reach(here, 0, "right", force) == {1: 0, 2: 2, 3: 4, 4: 17}[force]
