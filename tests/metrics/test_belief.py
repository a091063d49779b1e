"""Metrics of messages and beliefs, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.definition import metrics
from teamworld.metrics.log_reader import tabulate
from teamworld.metrics.messages import is_answered
from teamworld.record import Event, MessageSent, Observe, Truth
from tests.metrics.logs import (
    Case,
    act,
    asked,
    belief_log,
    check,
    commit,
    decides,
    log,
    of_cases,
    plan,
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
        {"messages": 0, "message_tokens": 0} | {"message_generation_tokens": None},
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
]

# ---- beliefs

BELIEFS: list[Case] = [
    (
        "who declares nothing has no beliefs to measure",
        belief_log([Truth(true=(HERE,)), Observe(agent="a", seen=(HERE,)), *decides("a")]),
        dict.fromkeys(
            name
            for name, metric in metrics().items()
            if metric.section.startswith("Beliefs") and metric.needs == "beliefs"
        ),
    ),
]


@of_cases([*MESSAGES, *BELIEFS])
def test_what_messages_and_beliefs_are_worth(events: list[Event], expected: dict[str, Any]) -> None:
    check(events, expected)


@pytest.mark.parametrize(
    ("answer", "step", "answered"),
    [
        pytest.param([], 1, False, id="no answer"),
        pytest.param(say("b", 1, "a", reply_to=0), 3, True, id="a reply"),
        pytest.param(say("c", 1, "a", reply_to=0), 3, False, id="a reply of another"),
        pytest.param([commit("b")], 3, True, id="a commitment"),
        pytest.param([commit("b", "h")], 3, False, id="a commitment to another goal"),
        pytest.param([plan("b", 0)], 10, True, id="a plan"),
        pytest.param([plan("b", 0)], 11, False, id="a late plan"),
    ],
)
def test_a_request_is_answered_by_one_of_those_asked(answer: list[Event], step: int, answered: bool) -> None:
    table = tabulate(log(*later(REQUEST, step, *answer), goals={"g": 2, "h": 2}, team="abc"))
    (request,) = [message for message in table.all(MessageSent) if message.act == "request"]
    assert is_answered(table, request) == answered
