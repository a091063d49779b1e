"""Looking around where nothing else is to be done: nobody stops as long as there is ground that nobody has seen."""

from __future__ import annotations

import pytest

from teamworld.language import Action, Cell, Facts
from teamworld.methods.cobel.prospects import Outlook, Prospect
from teamworld.record import EpisodeEnd
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.cube.domain import CubeDomain
from teamworld.worlds.cube.symbolic_state import SymbolicState

#: One block, on a grid of twenty cells; agents see five cells around them.
SEARCH = CubeDomain("spec", 5, (1,), 20)


def best(domain: BeliefDomain, given: Facts) -> Prospect:
    return max(Outlook("agent_0", "agent", domain)(given), key=lambda one: one.rate)


def ground(*unseen: Cell) -> Facts:
    """Two agents in a corner, the block not found, and where nobody has looked."""
    return SymbolicState(20, {"agent_0": (2, 18), "agent_1": (1, 18)}, {}, dict(enumerate(unseen))).facts


@pytest.mark.parametrize("unseen", [((12, 0),), ((12, 0), (0, 0))])
def test_far_ground_is_walked_to_however_few_areas_are_left(unseen: tuple[Cell, ...]) -> None:
    look = best(SEARCH, ground(*unseen))
    assert {action.verb for action in look.actions} == {"move"}
    assert look.goal is None
    assert look.chance > 0  # worth what it reveals, as a step that reveals something is
    assert look.steps == sum(int(str(action.args[1])) for action in look.actions)


def test_a_way_that_ends_before_the_ground_comes_before_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teamworld.worlds.cube.exploration.LEGS", 1)
    look = best(SEARCH, ground((12, 0)))
    assert look.chance == 0
    assert look.actions[0].verb == "move"


def test_nobody_looks_where_all_was_found() -> None:
    known = CubeDomain("spec", 5, (), 20)
    assert best(known, ground()).actions == (Action("wait_agents", (2,)),)


def test_a_block_that_is_far_from_all_is_found() -> None:
    end = play("cobel:exact", Scenario("cube", "n2", 2, 120, {"view_radius": 5}), {}).events[-1]
    assert isinstance(end, EpisodeEnd)
    assert end.reason == "all_done"
