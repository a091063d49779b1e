"""What counts at the edges of a definition: goals that can be lost, solved episodes, actions passed over, waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from teamworld.metrics.definition import NULL, Value
from teamworld.record import EpisodeStart, GoalChange
from tests.metrics.logs import act, log, measured


def with_losable(*steps: Sequence[Any], losable: Sequence[str] = (), **given: Any) -> dict[str, Value]:
    start, *rest = log(*steps, **given)
    assert isinstance(start, EpisodeStart)
    goals = tuple(msgspec.structs.replace(goal, losable=goal.id in losable) for goal in start.goals)
    return measured([msgspec.structs.replace(start, goals=goals), *rest])


def change(goal: str, event: Literal["opened", "done", "lost"]) -> GoalChange:
    return GoalChange(goal=goal, event=event, delta=0.0, participants=())


def test_loss_is_of_the_goals_that_can_be_lost() -> None:
    goals = {"g": 1, "h": 1, "i": 1}
    assert with_losable([], goals=goals)["loss"] == (None, 0, 0), "none can be"
    assert with_losable([], goals=goals, losable=("g", "h"))["loss"] == (0, 0, 2)
    assert with_losable([change("g", "lost")], goals=goals, losable=("g", "h"))["loss"] == (0.5, 1, 2)
    assert with_losable([change("i", "lost")], goals=goals, losable=("g", "h"))["loss"] == NULL, (
        "the log does not tell all"
    )


def test_steps_of_solved_episodes() -> None:
    done = [change("g", "done")]
    assert with_losable([], done)["steps_solved"] == (2, 2, None)
    assert with_losable([], [])["steps_solved"] == NULL
    assert with_losable([], done, [change("late", "opened")])["steps_solved"] == NULL
    assert with_losable([], goals={})["steps_solved"] == NULL


def test_actions_passed_over_were_refused_too() -> None:
    over = act("a", "g", legal=False, status="failed", spent=False)
    values = with_losable([over, act("a", "g"), act("b", legal=False)])
    assert values["invalid_action_rate"] == (2 / 3, 2, 3)
    assert values["invalid_share"] == (0.5, 1, 2)


def test_who_waits_in_place_for_its_own_goal_is_in_sync() -> None:
    values = with_losable([act("a", "g", ready="g"), act("b", "h", ready="g")], goals={"g": 2, "h": 1})
    assert (values["waiting_share"].num, values["idle_share"].num) == (1, 1)
