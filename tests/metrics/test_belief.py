"""Metrics of messages, beliefs and predictions, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.definition import metrics
from teamworld.record import Event, Observe, Predict, Truth
from tests.metrics.logs import (
    Case,
    act,
    asked,
    belief_log,
    believes,
    check,
    commit,
    decides,
    log,
    of_cases,
    plan,
    release,
    say,
)

HERE, THERE = "<block>(1) AT (0, 0)", "<block>(1) AT (5, 5)"
HEAVY, HELD = "<block>(1) WEIGHT 2", "a HOLD <block>(1)"
AWAY = "<block>(9) AT (0, 0)"
"""About no agent and no goal's thing."""

# ---- messages

REQUEST = say("a", 0, "b", act="request", goal="g")


def later(first: list[Event], step: int, *events: Event) -> list[list[Event]]:
    """Return steps in the first of which something happens, and something else in a later one."""
    steps: list[list[Event]] = [first, *([] for _ in range(11))]
    steps[step] = [*steps[step], *events]
    return steps


MESSAGES: list[Case] = [
    (
        "who says how much to whom",
        log(say("a", 0, text="one two"), say("a", 1, ("b", "c"), "three"), team=("a", "b", "c")),
        {"messages": 2, "message_tokens": 3},
    ),
    (
        "a silent team has counts but no shares",
        log([act("a"), act("b")]),
        {"messages": 0, "message_tokens": 0}
        | dict.fromkeys(("repetition", "request_fulfilment", "message_generation_tokens")),
    ),
    (
        "tokens of the kinds of question that write; what is said after a plan was not asked for",
        log(
            [
                *asked("a", "say", output_tokens=10),
                *say("a", 0),
                *asked("a", "plan", output_tokens=100),
                plan("a", 0),
                *say("a", 1),
            ],
            asked("a", "say", output_tokens=7),
        ),
        {"message_generation_tokens": 17},
    ),
    (
        "tokens that nobody counted",
        log([*asked("a", "say", output_tokens=None), *say("a", 0)]),
        {"message_generation_tokens": None},
    ),
    *(
        (
            f"request: {what}",
            log(*later(REQUEST, step, *answer), goals={"g": 2, "h": 2}, team="abc"),
            {"request_fulfilment": (is_answered, is_answered, 1)},
        )
        for what, answer, step, is_answered in (
            ("no answer", [], 1, False),
            ("a reply", say("b", 1, "a", reply_to=0), 3, True),
            ("a reply of another", say("c", 1, "a", reply_to=0), 3, False),
            ("a commitment", [commit("b")], 3, True),
            ("a commitment to another goal", [commit("b", "h")], 3, False),
            ("a plan", [plan("b", 0)], 10, True),
            ("a late plan", [plan("b", 0)], 11, False),
        )
    ),
]

# ---- beliefs and predictions

CLASH: list[Any] = [act("a", blocker="b"), act("b")]
DECLARED = Predict(agent="a", subject="conflict", about="b")
OVER_GOAL = Predict(agent="b", subject="conflict", about="g")


def expect_goal(*goals: str) -> Predict:
    return Predict(agent="a", subject="partner_goal", about="b", value=goals if len(goals) > 1 else goals[0])


BELIEFS: list[Case] = [
    (
        "calibration is over all probabilities",
        belief_log(
            [
                Truth(true=(HERE,)),
                believes("a", HERE, probability=0.8),
                believes("a", THERE, probability=0.1),
                *decides("a"),
            ]
        ),
        {"belief_calibration": pytest.approx((0.2 + 0.1) / 2)},
    ),
    (
        "the next commitment decides on a prediction",
        belief_log(
            [commit("b", "g"), expect_goal("h"), expect_goal("g", "h")],
            [commit("b", "h"), expect_goal("h")],
            goals={"g": 1, "h": 1},
        ),
        {"intent_accuracy": (1 / 2, 1, 2), "intent_in_set": (1, 2, 2)},
    ),
    (
        "senders choose what the recipient lacks",
        belief_log(
            [
                believes("a", HERE, HEAVY, probability=0.0, about="b"),
                believes("a", HELD, THERE, about="b"),
                *say("a", 0, facts=(HERE, HELD)),
                believes("a", HERE, about="b"),
                *say("a", 1, facts=(HEAVY, AWAY)),
            ]
        ),
        {
            "sent_to_lacking": (2 / 3, 2, 3),
            "sent_to_holding": (1 / 5, 1, 5),
            "receiver_sensitivity": pytest.approx(2 / 3 - 1 / 5),
        },
    ),
    ("senders without beliefs", belief_log(say("a", 0, facts=(HERE,))), {"receiver_sensitivity": None}),
    (
        "a conflict comes in time, another too late",
        belief_log([DECLARED], CLASH, *([] for _ in range(11)), CLASH),
        {"conflict_precision": (1, 1, 1), "conflict_recall": (1 / 2, 1, 2)},
    ),
    (
        "a conflict over a goal",
        belief_log([commit("a"), OVER_GOAL, commit("b")], goals={"g": 1}),
        {"conflict_precision": 1, "conflict_recall": 1},
    ),
    (
        "no conflict over a goal",
        belief_log([commit("a"), release("a"), OVER_GOAL, commit("b")], goals={"g": 1}),
        {"conflict_precision": 0, "conflict_recall": None},
    ),
    ("nobody declares a conflict", belief_log(CLASH), {"conflict_recall": None}),
    (
        "who declares nothing has no beliefs to measure",
        belief_log([Truth(true=(HERE,)), Observe(agent="a", seen=(HERE,)), *decides("a")]),
        dict.fromkeys(
            name for name, metric in metrics().items() if metric.section.startswith("Beliefs") and metric.tier == 2
        ),
    ),
]


@of_cases([*MESSAGES, *BELIEFS])
def test_what_messages_and_beliefs_are_worth(events: list[Event], expected: dict[str, Any]) -> None:
    check(events, expected)
