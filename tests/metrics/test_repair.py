"""The quality of warnings and repairs, on logs written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from teamworld.metrics.definition import NULL, Value
from teamworld.record import AttemptMade, EpisodeStart, MessageSent, PlanStart, Predict
from tests.metrics.logs import attempt, log, measured, plan

NOTHING = Value(None, 0.0, 0.0)


def of_repair(*steps: Sequence[Any], level: str = "beliefs") -> dict[str, Value]:
    start, *rest = log(*steps, goals={"g": 2, "h": 2})
    assert isinstance(start, EpisodeStart)
    values = measured([msgspec.structs.replace(start, log_level=level), *rest])
    return {name: value for name, value in values.items() if name.startswith(("warning_", "repair_"))}


def told(unmet: str | None, agent: str = "a", goal: str = "g") -> Predict:
    """Return a prediction of the next joint act: a warning, or that all will be met."""
    return Predict(agent=agent, subject="constraint", about=goal, value=unmet)


def mend(agent: str, number: int, goal: str = "g") -> PlanStart:
    return plan(agent, number, goal, origin="revised", cause="repair")


def say(number: int, agent: str, text: str) -> MessageSent:
    return MessageSent(agent=agent, id=number, recipients=("b",), act="propose", text=text, goal="g")


WARN, FINE = told("participation"), told(None)
WON, LOST = attempt(True), attempt(False, participation=1)


@pytest.mark.parametrize(
    ("told", "came", "precision", "recall", "f1"),
    [
        (WARN, LOST, (1.0, 1, 1), (1.0, 1, 1), (1.0, 2, 2)),
        (WARN, WON, (0.0, 0, 1), NOTHING, (0.0, 0, 1)),
        (FINE, LOST, NOTHING, (0.0, 0, 1), (0.0, 0, 1)),
        (FINE, WON, NOTHING, NOTHING, NOTHING),
    ],
    ids=["right warning", "false alarm", "missed", "rightly quiet"],
)
def test_a_prediction_is_held_against_the_next_attempt(
    told: Predict, came: AttemptMade, precision: Value, recall: Value, f1: Value
) -> None:
    values = of_repair([told], [], [came], [WON, LOST])
    assert (values["warning_precision"], values["warning_recall"], values["warning_f1"]) == (precision, recall, f1)


def test_each_prediction_counts_once() -> None:
    values = of_repair([WARN, told("temporal", "b"), LOST], [WARN, WON], [FINE, LOST], [LOST], [WARN])
    assert values["warning_precision"] == (2 / 3, 2, 3), "the last warning had no attempt"
    assert values["warning_recall"] == (2 / 3, 2, 3), "of what nobody predicted nothing is told"
    assert values["warning_f1"] == (4 / 6, 4, 6)


def test_an_attempt_on_another_goal_tells_nothing() -> None:
    assert of_repair([told("spatial", goal="h")], [LOST])["warning_precision"] == NOTHING


def test_other_predictions_are_none_of_a_joint_act() -> None:
    other = Predict(agent="a", subject="conflict", about="g", value="g")
    assert of_repair([other], [LOST])["warning_precision"] == NOTHING


def test_what_would_have_come_without_the_repair_is_not_told() -> None:
    values = of_repair([WARN], [mend("b", 0)], [WON], [FINE, LOST])
    assert [values[f"warning_{name}"] for name in ("precision", "recall", "f1")] == [NULL] * 3
    after = of_repair([WARN, LOST], [mend("b", 0)], [WON])
    assert after["warning_precision"] == (1.0, 1, 1), "repaired after the attempt that was meant"


def test_a_repair_is_a_success_if_the_next_attempt_is() -> None:
    assert of_repair([mend("a", 0), mend("b", 1)], [WON], [LOST])["repair_success"] == (1.0, 1, 1)
    assert of_repair([mend("a", 0), mend("b", 1)], [LOST], [WON])["repair_success"] == (0.0, 0, 1)
    assert of_repair([mend("a", 0)], [])["repair_success"] == (0.0, 0, 1), "nobody tried"
    assert of_repair([WON], [mend("a", 0)], [mend("b", 1)], [WON])["repair_success"] == (0.5, 1, 2), "only the last one"
    assert of_repair([mend("a", 0), mend("b", 1, "h")], [WON])["repair_success"] == (0.5, 1, 2), "a goal each"
    assert of_repair([plan("a", 0)], [WON])["repair_success"] == NOTHING


def test_a_repair_costs_what_is_said_and_waited_from_the_warning_on() -> None:
    before, after = [say(0, "a", "far too early")], [say(3, "a", "thanks"), WON]
    between = [WARN, say(1, "a", "come to me"), say(2, "b", "I come")]
    values = of_repair(before, between, [told("spatial")], [mend("b", 0)], after)
    assert (values["repair_tokens"], values["repair_steps"]) == ((5.0, 5, 1), (2.0, 2, 1))
    apart = of_repair(between, [mend("a", 0)], [WON])
    assert apart["repair_tokens"] == (3.0, 3, 1), "b neither warned nor was repaired"


def test_a_repair_without_a_warning_has_no_cost() -> None:
    assert of_repair([mend("a", 0)], [WON])["repair_steps"] == NOTHING
    assert of_repair([FINE], [mend("a", 0)], [WON])["repair_steps"] == NOTHING
    old = of_repair([WARN, LOST], [], [mend("a", 0)], [WON])
    assert old["repair_steps"] == NOTHING, "the warning was of the attempt before"
    twice = of_repair([WARN], [mend("a", 0)], [mend("a", 1)], [WON])
    assert twice["repair_steps"] == (1.0, 1, 1), "the warning is used up"


def test_without_predictions_and_below_the_level_of_beliefs_it_is_null() -> None:
    assert set(of_repair([LOST]).values()) == {NOTHING}
    assert set(of_repair([WARN], [mend("a", 0)], [WON], level="play").values()) == {NULL}
