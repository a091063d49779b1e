"""D22, the quality of warnings and repairs, on logs written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from teamworld.metrics import repair
from teamworld.metrics.definition import NULL, Value
from teamworld.metrics.event_tables import gather
from teamworld.record import AttemptMade, EpisodeStart, MessageSent, PlanStart, Predict
from tests.metrics.logs import attempt, log, plan

NOTHING = Value(None, 0.0, 0.0)


def measured(*steps: Sequence[Any], level: str = "beliefs") -> dict[str, Value]:
    start, *rest = log(*steps, goals={"g": 2, "h": 2})
    assert isinstance(start, EpisodeStart)
    return dict(repair.measure(gather([msgspec.structs.replace(start, log_level=level), *rest])))


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
    values = measured([told], [], [came], [WON, LOST])
    assert (values["D22.precision"], values["D22.recall"], values["D22.f1"]) == (precision, recall, f1)


def test_each_prediction_counts_once() -> None:
    values = measured([WARN, told("temporal", "b"), LOST], [WARN, WON], [FINE, LOST], [LOST], [WARN])
    assert values["D22.precision"] == (2 / 3, 2, 3), "the last warning had no attempt"
    assert values["D22.recall"] == (2 / 3, 2, 3), "of what nobody predicted nothing is told"
    assert values["D22.f1"] == (4 / 6, 4, 6)


def test_an_attempt_on_another_goal_tells_nothing() -> None:
    assert measured([told("spatial", goal="h")], [LOST])["D22.precision"] == NOTHING


def test_other_predictions_are_none_of_a_joint_act() -> None:
    other = Predict(agent="a", subject="conflict", about="g", value="g")
    assert measured([other], [LOST])["D22.precision"] == NOTHING


def test_what_would_have_come_without_the_repair_is_not_told() -> None:
    values = measured([WARN], [mend("b", 0)], [WON], [FINE, LOST])
    assert [values[f"D22.{name}"] for name in ("precision", "recall", "f1")] == [NULL] * 3
    after = measured([WARN, LOST], [mend("b", 0)], [WON])
    assert after["D22.precision"] == (1.0, 1, 1), "repaired after the attempt that was meant"


def test_a_repair_is_a_success_if_the_next_attempt_is() -> None:
    assert measured([mend("a", 0), mend("b", 1)], [WON], [LOST])["D22.success"] == (1.0, 1, 1)
    assert measured([mend("a", 0), mend("b", 1)], [LOST], [WON])["D22.success"] == (0.0, 0, 1)
    assert measured([mend("a", 0)], [])["D22.success"] == (0.0, 0, 1), "nobody tried"
    assert measured([WON], [mend("a", 0)], [mend("b", 1)], [WON])["D22.success"] == (0.5, 1, 2), "only the last one"
    assert measured([mend("a", 0), mend("b", 1, "h")], [WON])["D22.success"] == (0.5, 1, 2), "a goal each"
    assert measured([plan("a", 0)], [WON])["D22.success"] == NOTHING


def test_a_repair_costs_what_is_said_and_waited_from_the_warning_on() -> None:
    before, after = [say(0, "a", "far too early")], [say(3, "a", "thanks"), WON]
    between = [WARN, say(1, "a", "come to me"), say(2, "b", "I come")]
    values = measured(before, between, [told("spatial")], [mend("b", 0)], after)
    assert (values["D22.tokens"], values["D22.steps"]) == ((5.0, 5, 1), (2.0, 2, 1))
    apart = measured(between, [mend("a", 0)], [WON])
    assert apart["D22.tokens"] == (3.0, 3, 1), "b neither warned nor was repaired"


def test_a_repair_without_a_warning_has_no_cost() -> None:
    assert measured([mend("a", 0)], [WON])["D22.steps"] == NOTHING
    assert measured([FINE], [mend("a", 0)], [WON])["D22.steps"] == NOTHING
    old = measured([WARN, LOST], [], [mend("a", 0)], [WON])
    assert old["D22.steps"] == NOTHING, "the warning was of the attempt before"
    twice = measured([WARN], [mend("a", 0)], [mend("a", 1)], [WON])
    assert twice["D22.steps"] == (1.0, 1, 1), "the warning is used up"


def test_without_predictions_and_below_the_level_of_beliefs_it_is_null() -> None:
    assert set(measured([LOST]).values()) == {NOTHING}
    assert set(measured([WARN], [mend("a", 0)], [WON], level="play").values()) == {NULL}
