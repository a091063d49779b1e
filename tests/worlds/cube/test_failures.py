"""Failures that CUBE finds: small worlds that provoke each mode, played by the loop, and worlds that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teamworld.language import Plan
from teamworld.methods import registry as methods
from teamworld.metrics.failures import LABELS, Tag, tags
from teamworld.record import read_log
from teamworld.worlds.cube.failures import failures
from teamworld.worlds.cube.world import CubeOptions
from teamworld.worlds.registry import finder
from tests.metrics.logs import Given, labels, of, play
from tests.worlds.cube.team import act, world

Cell = tuple[int, int]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "0001.jsonl.zst"


def found(
    path: Path,
    plans: Mapping[int, Sequence[str]],
    agents: Sequence[Cell],
    blocks: Sequence[tuple[int, int, int]],
    side: int = 8,
    horizon: int = 12,
    options: CubeOptions | None = None,
) -> list[Tag]:
    """Play one plan an agent, for goal block_0, and return the tags, read back from the file."""
    plans_by_agent = {f"agent_{i}": [Plan(tuple(map(act, texts)), "block_0")] for i, texts in plans.items()}
    play(path, world(side, agents, blocks, horizon, options), Given(plans_by_agent))
    return tags(read_log(path), finder("cube"))


def test_the_registry_knows_the_finder() -> None:
    assert finder("cube") is failures


# ---- pushes


def test_a_chain_that_is_too_heavy(path: Path) -> None:
    """The example of the paper: three agents against weights 3 + 1."""
    three, push = [(1, 0), (2, 0), (3, 0)], {i: ["push_block(0, 1)"] for i in range(3)}
    all_found = found(path, push, three, [(3, 1, 1), (1, 2, 4)])
    (tag,) = of(all_found, "chain-too-heavy")
    assert (tag.first, tag.last, tag.goal) == (0, 2, "block_0")
    assert tag.agents == ("agent_0", "agent_1", "agent_2")
    assert "force 3" in tag.text
    assert "4 are needed" in tag.text
    assert len(of(all_found, "understaffed")) == 1
    assert not of(found(path, push, three, [(3, 1, 1), (1, 2, 5)]), "chain-too-heavy")
    two = {i: push[i] for i in range(2)}
    weak = found(path, two, three, [(3, 1, 1), (1, 2, 4)])
    assert not of(weak, "chain-too-heavy")  # the block alone would not have moved either
    assert of(weak, "understaffed")
    assert not of(weak, "blocked-destination")  # nothing stands in the way, they are too few


def test_somebody_stands_where_the_block_would_go(path: Path) -> None:
    push = ["push_block(0, 1, 3)"]
    all_found = found(path, {0: push}, [(1, 0), (1, 2)], [(1, 1, 1)])
    (tag,) = of(all_found, "blocked-destination")
    assert (tag.first, tag.last, tag.agents) == (0, 2, ("agent_0", "agent_1"))
    assert "agent_1 is in the way" in tag.text
    assert len(of(all_found, "missing-prerequisite")) == 1
    assert not of(found(path, {0: push}, [(1, 0), (2, 2)], [(1, 1, 1)]), "blocked-destination")


def test_a_block_that_went_another_way_is_not_in_its_own_way(path: Path) -> None:
    push = {0: ["push_block(0, 1, 1)"], 1: ["push_block(0, 1, 1)"]}
    all_found = found(path, push, [(3, 2), (2, 3)], [(1, 3, 3)])  # rightward and downward at once
    assert "missing-prerequisite" in labels(all_found)
    assert "blocked-destination" not in labels(all_found)


def test_a_wall_is_in_the_way(path: Path) -> None:
    (tag,) = of(found(path, {0: ["push_block(0, 1, 3)"]}, [(1, 3)], [(1, 0, 3)]), "blocked-destination")
    assert tag.agents == ("agent_0",)
    assert "upward, but wall" in tag.text


@pytest.mark.parametrize("action", ["push_block(0, 1)", "rendezvous(0, left, 1, 5)"])
def test_acting_away_from_the_face(path: Path, action: str) -> None:
    (tag,) = of(found(path, {0: [action]}, [(5, 5)], [(1, 1, 1)]), "misalignment")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 0, ("agent_0",), "block_0")
    assert "(5, 5), 8 cells away" in tag.text
    assert not of(
        found(path, {0: ["move_to_block(0, left)", action]}, [(5, 5)], [(1, 1, 1)], horizon=20), "misalignment"
    )


# ---- ways


def test_two_go_for_one_cell(path: Path) -> None:
    passing = {0: ["move(down)", "move(right)"], 1: ["move(up)"]}
    (tag,) = of(found(path, passing, [(0, 0), (2, 0)], [(1, 5, 5)]), "cell-race")
    assert (tag.first, tag.last, tag.agents) == (0, 0, ("agent_1", "agent_0"))  # the lower number enters
    assert "(1, 0)" in tag.text
    assert not of(found(path, {0: ["move(down)"]}, [(0, 0), (2, 0)], [(1, 5, 5)]), "cell-race")
    assert not of(found(path, {0: ["move(down)"], 1: ["move(up)"]}, [(0, 0), (2, 0)], [(1, 5, 5)]), "cell-race")
    taken = found(path, passing, [(0, 0), (2, 0), (1, 0)], [(1, 5, 5)])
    assert not of(taken, "cell-race")  # nobody can win a cell that is held


def test_a_stranger_on_the_face(path: Path) -> None:
    push = ["push_block(0, 1, 6)"]
    (tag,) = of(found(path, {0: push, 1: ["idle(9)"]}, [(1, 0), (1, 1)], [(1, 1, 2)]), "occlusion")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 2, ("agent_0", "agent_1"), "block_0")
    assert "(1, 1)" in tag.text
    (tag,) = of(found(path, {0: push, 1: ["idle(3)", "move(up)"]}, [(1, 0), (1, 1)], [(1, 1, 2)]), "occlusion")
    assert (tag.first, tag.last) == (0, 2)
    wide = found(path, {0: push, 1: ["idle(9)"]}, [(1, 1), (2, 1)], [(2, 1, 2)])
    assert not of(wide, "occlusion")  # the team has the cell that it needs
    leaves = {0: push, 1: ["idle(2)", "move(up)"]}
    assert not of(found(path, leaves, [(1, 0), (1, 1)], [(1, 1, 2)]), "occlusion")
    helps = {0: push, 1: push}
    assert not of(found(path, helps, [(1, 0), (1, 1)], [(1, 1, 2)]), "occlusion")


def test_no_way_past_a_team_mate(path: Path) -> None:
    """Column 0 is a corridor beside the block; agent_1 stands in it."""
    go, block = {0: ["move_to_block(0, down, 6)"], 1: ["idle(9)"]}, [(3, 0, 1)]
    (tag,) = of(found(path, go, [(0, 0), (1, 0)], block), "occlusion")
    assert (tag.first, tag.last, tag.agents) == (0, 5, ("agent_0", "agent_1"))
    assert not of(found(path, go, [(0, 0), (6, 6)], block), "occlusion")
    assert not of(found(path, go | {1: ["move(down, 4)"]}, [(0, 0), (1, 0)], block), "occlusion")


def test_every_cell_of_the_face_is_held(path: Path) -> None:
    """Two must line up at the left face, which has one cell and room for one behind it."""
    blocks, go = [(1, 2, 2), (1, 2, 3)], {0: ["move_to_block(0, left, 6)"], 1: ["rendezvous(0, left, 2, 9)"]}
    (tag,) = of(found(path, go, [(3, 1), (2, 1), (2, 0)], blocks), "staging-congestion")
    assert (tag.agents, tag.goal) == (("agent_0", "agent_1"), "block_0")
    assert "all 1 cells" in tag.text
    assert not of(found(path, go, [(3, 1), (2, 1), (7, 7)], blocks), "staging-congestion")  # room behind
    enough = found(path, go, [(3, 1), (2, 1), (2, 0)], blocks[:1])
    assert not of(enough, "staging-congestion")  # nobody else is needed


def test_a_way_is_shut_by_one_who_moves_in(path: Path) -> None:
    go = {0: ["move_to_block(0, down, 9)"], 1: ["move(left)", "idle(9)"]}
    (tag,) = of(found(path, go, [(0, 0), (4, 1)], [(4, 0, 1)]), "dynamic-blocking")
    assert (tag.agents, tag.goal) == (("agent_0", "agent_1"), "block_0")
    assert tag.first == 1
    assert not of(found(path, go, [(0, 0), (6, 6)], [(4, 0, 1)]), "dynamic-blocking")
    stood = found(path, {0: go[0], 1: ["idle(9)"]}, [(0, 0), (4, 0)], [(4, 0, 1)])
    assert of(stood, "occlusion")
    assert not of(stood, "dynamic-blocking")


def test_a_way_is_shut_by_a_block(path: Path) -> None:
    """Block 1 is pushed into column 0 below agent_0, which goes to the face down of block 0."""
    go = {0: ["move_to_block(0, down, 9)"], 1: ["push_block(1, 1)"]}
    (tag,) = of(found(path, go, [(0, 0), (4, 2)], [(4, 0, 1), (1, 4, 1)]), "dynamic-blocking")
    assert tag.agents == ("agent_0",)
    assert "block_1 moved in" in tag.text


def test_head_on(path: Path) -> None:
    (tag,) = of(
        found(path, {0: ["move(right, 4)"], 1: ["move(left, 4)"]}, [(0, 0), (0, 1)], [(1, 5, 5)]), "mutual-blocking"
    )
    assert (tag.first, tag.last, tag.agents) == (0, 3, ("agent_0", "agent_1"))


# ---- blocks


def test_a_face_vanishes_under_way(path: Path) -> None:
    go = {0: ["move_to_block(0, left)"], 1: ["push_block(1, 1)"]}
    agents, blocks = [(6, 0), (2, 1)], [(1, 2, 4), (1, 2, 2)]
    (tag,) = of(found(path, go, agents, blocks), "vanishing-face")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 0, ("agent_0",), "block_0")
    assert "block_1 moved against it" in tag.text
    assert not of(found(path, {0: go[0]}, agents, blocks), "vanishing-face")
    other = go | {0: ["move_to_block(0, down)"]}
    assert not of(found(path, other, agents, blocks), "vanishing-face")


def test_a_face_vanishes_that_was_planned_for(path: Path) -> None:
    go = {0: ["idle(4)", "move_to_block(0, left)"], 1: ["push_block(1, 1)"]}
    agents, blocks = [(6, 0), (2, 1)], [(1, 2, 4), (1, 2, 2)]
    all_found = found(path, go, agents, blocks)
    (tag,) = of(all_found, "vanishing-face")
    assert (tag.first, tag.agents) == (4, ("agent_0",))
    assert "step 0" in tag.text
    assert of(all_found, "stale-plan")
    never = found(path, {0: go[0]}, agents, [(1, 2, 4), (1, 2, 3)])
    assert not of(never, "vanishing-face")  # it was not there when the plan was made


def test_a_block_at_the_left_wall(path: Path) -> None:
    (tag,) = of(found(path, {0: ["push_block(0, 1)"]}, [(3, 2)], [(1, 3, 1)]), "stuck-object")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 11, ("agent_0",), "block_0")
    assert "left wall" in tag.text
    assert not of(found(path, {0: ["push_block(0, 1)"]}, [(3, 0)], [(1, 3, 1)]), "stuck-object")


def test_a_block_without_a_free_cell_about_it(path: Path) -> None:
    ring = [(1, 0, 3), (1, 0, 2), (1, 0, 4), (1, 1, 3)]
    (tag,) = of(found(path, {}, [(6, 6)], ring), "stuck-object")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 11, (), "block_0")
    assert "four faces" in tag.text
    assert not of(found(path, {}, [(6, 6)], ring[:3]), "stuck-object")


def test_a_block_that_nobody_can_get_at(path: Path) -> None:
    """The only free cell about block 0 is (0, 0), which the others shut off."""
    shut = [(1, 0, 1), (1, 1, 1), (1, 0, 2), (1, 1, 0)]
    stuck = {tag.goal: tag.text for tag in of(found(path, {}, [(6, 6)], shut), "stuck-object")}
    assert "no agent can get there" in stuck["block_0"]
    assert "block_2" not in stuck
    inside = {tag.goal for tag in of(found(path, {}, [(0, 0)], shut), "stuck-object")}
    assert "block_0" not in inside


# ---- everything


def test_a_team_that_does_well_has_no_tags(path: Path) -> None:
    plans = {i: ["move_to_block(0, left)", "rendezvous(0, left, 2)", "push_block(0, 5)"] for i in range(2)}
    assert found(path, plans, [(1, 0), (2, 0)], [(2, 1, 1)], horizon=30) == []


@pytest.mark.heavy
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=4, unique=True),
    st.sampled_from(["random", "greedy", "zero_shot", "drwell"]),
    st.sampled_from([None, 2]),
)
def test_tags_of_any_episode(path: Path, agents: list[Cell], method: str, radius: int | None) -> None:
    """Spans lie in the episode, agents are of the team, goals of the world, and reading again changes nothing."""
    here = world(7, agents, [(2, 1, 2), (1, 4, 3), (1, 4, 4)], 25, CubeOptions(view_radius=radius))
    made = methods.method_class(method)
    play(path, here, made(made.options()))
    whole = list(read_log(path))
    result = tags(whole, finder("cube"))
    assert result == tags(read_log(path), finder("cube"))
    assert set(labels(result)) <= set(LABELS)
    last = whole[-1].step - 1
    goals = {f"block_{block}" for block in range(3)}
    for tag in result:
        assert 0 <= tag.first <= tag.last <= max(0, last)
        assert set(tag.agents) <= set(here.spec.agents)
        assert len(set(tag.agents)) == len(tag.agents)
        assert tag.goal is None or tag.goal in goals
        assert tag.text
        assert tag.source
    for earlier, later in pairwise(result):
        assert earlier.first <= later.first
    spans = [(tag.label, tag.goal, tag.agents, tag.first, tag.last) for tag in result]
    for label, goal, who, first, end in spans:  # like tags do not touch
        assert not any((label, goal, who) == later[:3] and first < later[3] <= end + 1 for later in spans)
