"""What counts at the edges of a definition: goals that can be lost, solved episodes, actions passed over, waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from teamworld.metrics.definition import NULL, Value
from teamworld.metrics.event_tables import gather
from teamworld.metrics.measure import measure
from teamworld.record import EpisodeStart, GoalChange
from tests.metrics.logs import act, log


def measured(*steps: Sequence[Any], losable: Sequence[str] = (), **given: Any) -> dict[str, Value]:
    start, *rest = log(*steps, **given)
    assert isinstance(start, EpisodeStart)
    goals = tuple(msgspec.structs.replace(goal, losable=goal.id in losable) for goal in start.goals)
    return measure(gather([msgspec.structs.replace(start, goals=goals), *rest]))


def change(goal: str, event: Literal["opened", "done", "lost"]) -> GoalChange:
    return GoalChange(goal=goal, event=event, delta=0.0, participants=())


def test_loss_is_of_the_goals_that_can_be_lost() -> None:
    goals = {"g": 1, "h": 1, "i": 1}
    assert measured([], goals=goals)["O6"] == (None, 0, 0), "none can be"
    assert measured([], goals=goals, losable=("g", "h"))["O6"] == (0, 0, 2)
    assert measured([change("g", "lost")], goals=goals, losable=("g", "h"))["O6"] == (0.5, 1, 2)
    assert measured([change("i", "lost")], goals=goals, losable=("g", "h"))["O6"] == NULL, "the log does not tell all"


def test_steps_of_solved_episodes() -> None:
    done = [change("g", "done")]
    assert measured([], done)["E1.solved"] == (2, 2, None)
    assert measured([], [])["E1.solved"] == NULL
    assert measured([], done, [change("late", "opened")])["E1.solved"] == NULL
    assert measured([], goals={})["E1.solved"] == NULL


def test_actions_passed_over_were_refused_too() -> None:
    over = act("a", "g", legal=False, status="failed", spent=False)
    values = measured([over, act("a", "g"), act("b", legal=False)])
    assert values["E8"] == (2 / 3, 2, 3)
    assert values["E6.invalid"] == (0.5, 1, 2)


def test_who_waits_in_place_for_its_own_goal_is_in_sync() -> None:
    values = measured([act("a", "g", ready="g"), act("b", "h", ready="g")], goals={"g": 2, "h": 1})
    assert (values["E6.sync"].num, values["E6.idle"].num, values["D7"].num) == (1, 1, 1)
    assert values["E9"].num == 1, "to stand in a place of another goal is in vain"
