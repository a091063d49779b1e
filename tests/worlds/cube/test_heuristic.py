from __future__ import annotations

import pytest

from teamworld.language import Action
from teamworld.worlds.cube import heuristic
from teamworld.worlds.cube.symbolic_state import Square, SymbolicState
from teamworld.worlds.cube.world import make
from tests.worlds.cube.team import play_greedy, state, world


def test_the_target_is_the_block_nearest_to_the_goal() -> None:
    here = state(20, [(0, 0)], [(2, 1, 1), (1, 8, 9), (1, 4, 9)])
    assert heuristic.nearest_block(here) == 1  # ties to the lowest id
    done = SymbolicState(20, here.agents, {block: Square(1, -1, -1, True) for block in here.blocks})
    assert heuristic.nearest_block(done) is None
    assert heuristic.greedy_plan(done) is None


def test_the_plan_is_that_of_the_paper() -> None:
    here = state(20, [(0, 0), (1, 0)], [(3, 1, 1)])
    assert str(heuristic.greedy_plan(here)) == (
        "plan for block_0 { move_to_block(<block>(0), left); rendezvous(<block>(0), left, 2, 5); "
        "push_block(<block>(0), 16) }"
    )


def test_everybody_asked_gets_the_same_plan() -> None:
    here = world(20, [(0, 0), (1, 0)], [(1, 4, 4), (1, 9, 9)])
    views = {agent: here.view(agent) for agent in here.spec.agents}
    plans = here.domain.plan_scripted_team(views, {})
    assert set(plans) == {"agent_0", "agent_1"}
    assert len(set(plans.values())) == 1
    assert set(here.domain.plan_scripted_team({"agent_1": here.view("agent_1")}, {})) == {"agent_1"}
    assert here.domain.plan_scripted_team({}, {}) == {}
    assert here.domain.plan_scripted_team(views, {"agent_0": plans["agent_0"]}) == {}  # all begin anew together


@pytest.mark.parametrize(("level", "steps"), [("paper-n1", 34), ("paper-n2", 94), ("paper-n4", 101), ("paper-n8", 170)])
def test_the_greedy_team_delivers_everything_on_the_published_layouts(level: str, steps: int) -> None:
    # Published: means of 29, 100, 105 and 165 steps. The numbers here pin our own behaviour.
    here = make(level, 42, 200, {})
    reports = play_greedy(here)
    assert reports[-1].end_reason == "all_done"
    assert all(goal.state == "done" for goal in here.goals())
    assert abs(len(reports) - steps) <= 5


@pytest.mark.parametrize("level", ["n1", "n2", "n4"])
@pytest.mark.parametrize("seed", [42, 43, 44])
def test_the_greedy_team_delivers_everything_on_random_layouts(level: str, seed: int) -> None:
    assert play_greedy(make(level, seed, 200, {}))[-1].end_reason == "all_done"


def test_always_right_ends_as_published() -> None:
    # the published layout for n = 16 after 9 steps
    here = make("paper-n16", 0, 50, {})
    for _ in range(9):
        here.step(dict.fromkeys(here.spec.agents, Action("move", ("right", here.state.side))))
    assert here.state.blocks[0] == Square(9, 1, 2)
    assert here.state.blocks[4] == Square(2, 11, 2)
    assert here.state.blocks[8] == Square(1, 15, 1)
    assert any(col == 9 for _, col in here.state.agents.values())
