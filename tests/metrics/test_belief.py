"""Metrics of beliefs and predictions, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.definition import Value, metrics
from teamworld.record import Believe, HeldBelief, Observe, Predict, StageEntered, Truth
from tests.metrics.logs import act, commit, measured, release
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


def of_steps(*steps: list[Any], **given: Any) -> dict[str, Value]:
    return measured(with_beliefs(*steps, **given))


def test_precision_and_recall_are_over_what_matters_and_is_asserted() -> None:
    found = of_steps(
        [
            Truth(true=(HERE, HEAVY, AWAY)),
            believes("a", HERE, HELD, AWAY, "a MOOD merry"),
            believes("a", HEAVY, probability=0.4),
            *decides("a"),
        ],
        [believes("a", HEAVY, probability=0.5), Believe(agent="a", dropped=(HELD,)), *decides("a"), *decides("b")],
    )
    assert found["belief_precision"] == ((1 / 2 + 1) / 2, 1.5, 2)
    assert found["belief_recall"] == ((1 / 2 + 1 + 0) / 3, 1.5, 3)
    assert found["belief_f1"] == ((1 / 2 + 1) / 2, 1.5, 2)


def test_stale_facts_count_from_when_they_stopped_being_true() -> None:
    found = of_steps(
        [Truth(true=(HERE, HEAVY)), believes("a", HERE, HEAVY, HELD), *decides("a")],
        [Truth(true=(THERE,), false=(HERE,))],
        [],
        [*decides("a")],
        [Truth(true=(HERE,), false=(THERE,)), *decides("a")],
    )
    assert found["belief_staleness"] == (2, 2, 1)
    assert found["stale_beliefs"] == (1 / 9, 1, 9), "what was never true is not stale"


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
    found = of_steps([Truth(true=(THERE,)), believes("a", *held), act("a", status="failed", args=args)])
    assert found["misled_failures"] == (wrong, wrong, 1)


def test_calibration_is_over_all_probabilities() -> None:
    found = of_steps(
        [
            Truth(true=(HERE,)),
            believes("a", HERE, probability=0.8),
            believes("a", THERE, probability=0.1),
            *decides("a"),
        ]
    )
    assert found["belief_brier"].value == pytest.approx((0.2**2 + 0.1**2) / 2)
    assert found["belief_calibration"].value == pytest.approx((0.2 + 0.1) / 2)


def test_beliefs_about_a_teammate_are_judged_by_what_it_holds() -> None:
    found = of_steps(
        [
            Observe(agent="b", seen=(HERE,)),
            *say("a", 0, facts=(HEAVY,)),
            believes("a", HERE, HEAVY, THERE, about="b"),
            believes("a", HELD, probability=0.0, about="b"),
        ]
    )
    assert found["first_order_accuracy"] == (3 / 4, 3, 4)
    assert found["belief_f1"].value is None, "of beliefs about the world there are none"


def test_the_next_commitment_decides_on_a_prediction() -> None:
    found = of_steps(
        [
            commit("b", "g"),
            Predict(agent="a", subject="partner_goal", about="b", value="h"),
            Predict(agent="a", subject="partner_goal", about="b", value=("g", "h")),
        ],
        [commit("b", "h"), Predict(agent="a", subject="partner_goal", about="b", value="h")],
        goals={"g": 1, "h": 1},
    )
    assert found["intent_accuracy"] == (1 / 2, 1, 2)
    assert found["intent_in_set"] == (1, 2, 2)


def test_convergence_is_followed_step_by_step() -> None:
    found = of_steps(
        [],
        [Truth(true=(HERE,)), believes("a", HERE), believes("b", HERE, HELD)],
        [],
        [believes("a", HELD)],
    )
    assert found["belief_convergence"] == (2 / 3, 2, 3)


def test_senders_choose_what_the_recipient_lacks() -> None:
    found = of_steps(
        [
            believes("a", HERE, HEAVY, probability=0.0, about="b"),
            believes("a", HELD, THERE, about="b"),
            *say("a", 0, facts=(HERE, HELD)),
            believes("a", HERE, about="b"),
            *say("a", 1, facts=(HEAVY, AWAY)),
        ]
    )
    assert found["sent_to_lacking"] == (2 / 3, 2, 3)
    assert found["sent_to_holding"] == (1 / 5, 1, 5)
    assert found["receiver_sensitivity"].value == pytest.approx(2 / 3 - 1 / 5)
    assert of_steps(say("a", 0, facts=(HERE,)))["receiver_sensitivity"].value is None


def test_declared_conflicts_are_compared_with_those_that_come() -> None:
    clash = [act("a", blocker="b"), act("b")]
    declared = Predict(agent="a", subject="conflict", about="b")
    found = of_steps([declared], clash, *([] for _ in range(11)), clash)
    assert found["conflict_precision"] == (1, 1, 1)
    assert found["conflict_recall"] == (1 / 2, 1, 2)
    over = Predict(agent="b", subject="conflict", about="g")
    found = of_steps([commit("a"), over, commit("b")], goals={"g": 1})
    assert (found["conflict_precision"].value, found["conflict_recall"].value) == (1, 1)
    found = of_steps([commit("a"), release("a"), over, commit("b")], goals={"g": 1})
    assert found["conflict_precision"].value == 0
    assert found["conflict_recall"].value is None
    assert of_steps(clash)["conflict_recall"].value is None, "nobody declared any"


def test_who_declares_nothing_has_no_beliefs_to_measure() -> None:
    found = of_steps([Truth(true=(HERE,)), Observe(agent="a", seen=(HERE,)), *decides("a")])
    names = [name for name, metric in metrics().items() if metric.section.startswith("Beliefs") and metric.tier == 2]
    assert len(names) > 10
    assert all(found[name].value is None for name in names)
