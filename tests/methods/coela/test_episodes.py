"""COELA on rules keeps the contract of methods, and gets the work done in every world."""

from __future__ import annotations

import pytest

from teamworld.record import EpisodeEnd, GoalChange, StepDone
from teamworld.testing.episodes import Scenario, play


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["coela", "coela:silent", "coela:simultaneous"])
@pytest.mark.parametrize(
    ("world", "level", "horizon", "goals"),
    [("cube", "paper-n2", 150, 3), ("rooms", "three", 120, 5), ("wildfire", "cut_trees_sparse_small", 30, 6)],
)
def test_all_that_is_to_be_done_gets_done(label: str, world: str, level: str, horizon: int, goals: int) -> None:
    played = play(label, Scenario(world, level, 0, horizon), {})
    done = {event.goal for event in played.events if isinstance(event, GoalChange) and event.event == "done"}
    assert len(done) == goals
    assert isinstance(played.events[-1], EpisodeEnd)
    assert sum(isinstance(event, StepDone) for event in played.events) < horizon


@pytest.mark.heavy
def test_who_has_ended_a_plan_begins_another_of_the_same_kind() -> None:
    played = play("coela", Scenario("wildfire", "rescue_civilians_known_location_large", 42, 100), {})
    score = [event for event in played.events if isinstance(event, StepDone)][-1].score
    assert score["score"] > 5, "5 firefighters, 9 civilians: somebody has to go twice"
