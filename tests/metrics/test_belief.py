"""Metrics of beliefs and predictions, worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from teamworld.metrics import belief
from teamworld.metrics.definition import Value
from teamworld.metrics.event_tables import gather
from teamworld.record import Believe, HeldBelief, Observe, Predict, StageEntered, Truth
from tests.metrics.logs import act, commit, ended, plan, release
from tests.metrics.test_communication import HERE, THERE, say, with_beliefs

HEAVY, HELD = "<block>(1) WEIGHT 2", "a HOLD <block>(1)"
AWAY = "<block>(9) AT (0, 0)"
"""About no agent and no goal's thing."""


def decides(agent: str) -> list[Any]:
    return [StageEntered(agent=agent, stage="R"), StageEntered(agent=agent, stage="W")]


def believes(agent: str, *facts: str, probability: float = 1.0, about: str | None = None) -> Believe:
    return Believe(
        agent=agent, about=about, held=tuple(HeldBelief(fact=fact, probability=probability) for fact in facts)
    )


def measured(*steps: list[Any], **given: Any) -> dict[str, Value]:
    return dict(belief.measure(gather(with_beliefs(*steps, **given))))


def test_precision_and_recall_are_over_what_matters_and_is_asserted() -> None:
    found = measured(
        [
            Truth(true=(HERE, HEAVY, AWAY)),
            believes("a", HERE, HELD, AWAY, "a MOOD merry"),
            believes("a", HEAVY, probability=0.4),
            *decides("a"),
        ],
        [believes("a", HEAVY, probability=0.5), Believe(agent="a", dropped=(HELD,)), *decides("a"), *decides("b")],
    )
    assert found["B1.precision"] == ((1 / 2 + 1) / 2, 1.5, 2)
    assert found["B1.recall"] == ((1 / 2 + 1 + 0) / 3, 1.5, 3)
    assert found["B1"] == ((1 / 2 + 1) / 2, 1.5, 2)


def test_stale_facts_count_from_when_they_stopped_being_true() -> None:
    found = measured(
        [Truth(true=(HERE, HEAVY)), believes("a", HERE, HEAVY, HELD), *decides("a")],
        [Truth(true=(THERE,), false=(HERE,))],
        [],
        [*decides("a")],
        [Truth(true=(HERE,), false=(THERE,)), *decides("a")],
    )
    assert found["B2"] == (2, 2, 1)
    assert found["B2.share"] == (1 / 9, 1, 9), "what was never true is not stale"


@pytest.mark.parametrize(
    ("held", "args", "wrong"),
    [
        ((HERE,), ("<block>(1)",), True),
        ((THERE,), ("<block>(1)",), False),
        ((HERE,), ("<block>(2)",), False),
        (("<block>(1) MOOD bad",), ("<block>(1)",), False),
    ],
)
def test_a_failure_is_due_to_a_false_belief_about_what_the_action_names(
    held: tuple[str, ...], args: tuple[str, ...], wrong: bool
) -> None:
    found = measured([Truth(true=(THERE,)), believes("a", *held), act("a", status="failed", args=args)])
    assert found["B3"] == (wrong, wrong, 1)


def test_calibration_is_over_all_probabilities() -> None:
    found = measured(
        [
            Truth(true=(HERE,)),
            believes("a", HERE, probability=0.8),
            believes("a", THERE, probability=0.1),
            *decides("a"),
        ]
    )
    assert found["B4"].value == pytest.approx((0.2**2 + 0.1**2) / 2)
    assert found["B4.ece"].value == pytest.approx((0.2 + 0.1) / 2)


def test_beliefs_about_a_mate_are_judged_by_what_it_holds() -> None:
    found = measured(
        [
            Observe(agent="b", seen=(HERE,)),
            *say("a", 0, facts=(HEAVY,)),
            believes("a", HERE, HEAVY, THERE, about="b"),
            believes("a", HELD, probability=0.0, about="b"),
        ]
    )
    assert found["B5"] == (3 / 4, 3, 4)
    assert found["B1"].value is None, "of beliefs about the world there are none"


def test_the_next_commitment_decides_on_a_prediction() -> None:
    found = measured(
        [
            commit("b", "g"),
            Predict(agent="a", subject="partner_goal", about="b", value="h"),
            Predict(agent="a", subject="partner_goal", about="b", value=("g", "h")),
        ],
        [commit("b", "h"), Predict(agent="a", subject="partner_goal", about="b", value="h")],
        goals={"g": 1, "h": 1},
    )
    assert found["B6"] == (1 / 2, 1, 2)
    assert found["B6.set"] == (1, 2, 2)


def test_convergence_is_followed_step_by_step() -> None:
    found = measured(
        [],
        [Truth(true=(HERE,)), believes("a", HERE), believes("b", HERE, HELD)],
        [],
        [believes("a", HELD)],
    )
    assert found["B7"] == (2 / 3, 2, 3)
    assert (found["B7.start"].value, found["B7.end"].value) == (1 / 2, 1)
    assert found["B7.slope"].value == pytest.approx(25)
    assert found["B7.true"] == (1, 3, 3)


def test_senders_choose_what_the_recipient_lacks() -> None:
    found = measured(
        [
            believes("a", HERE, HEAVY, probability=0.0, about="b"),
            believes("a", HELD, THERE, about="b"),
            *say("a", 0, facts=(HERE, HELD)),
            believes("a", HERE, about="b"),
            *say("a", 1, facts=(HEAVY, AWAY)),
        ]
    )
    assert found["B8.lacking"] == (2 / 3, 2, 3)
    assert found["B8.having"] == (1 / 5, 1, 5)
    assert found["B8"].value == pytest.approx(2 / 3 - 1 / 5)
    assert measured(say("a", 0, facts=(HERE,)))["B8"].value is None


def test_declared_conflicts_are_compared_with_those_that_come() -> None:
    clash = [act("a", blocker="b"), act("b")]
    declared = Predict(agent="a", subject="conflict", about="b")
    found = measured([declared], clash, *([] for _ in range(11)), clash)
    assert found["B9.precision"] == (1, 1, 1)
    assert found["B9.recall"] == (1 / 2, 1, 2)
    over = Predict(agent="b", subject="conflict", about="g")
    found = measured([commit("a"), over, commit("b")], goals={"g": 1})
    assert (found["B9.precision"].value, found["B9.recall"].value) == (1, 1)
    found = measured([commit("a"), release("a"), over, commit("b")], goals={"g": 1})
    assert found["B9.precision"].value == 0
    assert found["B9.recall"].value is None
    assert measured(clash)["B9.recall"].value is None, "nobody declared any"


def test_plans_take_longer_or_shorter_than_predicted() -> None:
    steps: list[list[Any]] = [
        [msgspec.structs.replace(one, predicted_steps=2) for one in (plan("a", 0), plan("b", 1))],
        [],
        [],
        [],
        [ended("a", 0, "success"), ended("b", 1, "failed")],
    ]
    assert measured(*steps)["B10"] == (0.5, 0.5, 1)
    steps[0].append(Predict(agent="a", subject="plan_effect", about="0", value=5.0))
    assert measured(*steps)["B10"].value == 0.25


def test_who_declares_nothing_has_no_beliefs_to_measure() -> None:
    found = measured([Truth(true=(HERE,)), Observe(agent="a", seen=(HERE,)), *decides("a")])
    assert all(value.value is None for value in found.values())
