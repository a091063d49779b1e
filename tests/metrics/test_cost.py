"""What episodes took, worked out by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from teamworld.metrics import communication, cost
from teamworld.metrics.definition import Value
from teamworld.metrics.event_tables import gather
from teamworld.record import GoalChange, LlmCall, MessageSent, QuestionAsked, StageEntered
from tests.metrics.logs import log


class Row(NamedTuple):
    """A call on record."""

    respondent: str
    number: int = 1
    seconds: float = 1.0
    usd: float | None = 0.5
    purpose: str = "plan"
    cell: str = "x-s0"
    episode: int = 1
    finish: str | None = "stop"
    cached: bool = False


def asked(agent: str, purpose: str = "plan", *, calls: int = 1, **given: int | None) -> list[Any]:
    tokens: dict[str, Any] = {
        "prompt_tokens": 100,
        "cached_tokens": 40,
        "output_tokens": 10,
        "reasoning_tokens": 0,
    }
    tries = [
        LlmCall(agent=agent, purpose=purpose, model="m", usable=at == calls - 1, attempt=at, **(tokens | given))
        for at in range(calls)
    ]
    return [*tries, QuestionAsked(agent=agent, purpose=purpose, reasoner="m", answer={})]


def measured(*steps: list[Any], rows: list[Row] | None = None) -> dict[str, Value]:
    return dict(cost.measure(gather(log(*steps)), rows))


def say(agent: str, number: int) -> MessageSent:
    return MessageSent(agent=agent, id=number, recipients=(), act="inform", text="", goal=None)


DONE = GoalChange(goal="g", event="done", delta=1.0, participants=("a",))


def test_calls_and_tokens_are_counted_re_asks_included() -> None:
    found = measured([*asked("a", calls=2), *asked("b", prompt_tokens=300)], [*asked("a", prompt_tokens=130), DONE])
    assert found["K1"].value == 4
    assert found["K1.agent"].value == 2
    assert found["K1.step"].value == 2
    assert found["K2.prompt"].value == 630
    assert found["K2"].value == found["K4.tokens"].value == 670
    assert found["K7"] == (30, 30, 1), "one mind was asked once"
    assert found["K8"] == (1 / 4, 1, 4)
    assert found["K8.retries"] == (1 / 4, 1, 4)
    assert found["K9"] == (160 / 630, 160, 630)


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    found = measured([*asked("a"), *asked("b", output_tokens=None)])
    assert found["K2.output"].value is found["K2"].value is found["K4.tokens"].value is None
    assert found["K2.prompt"].value == 200


def test_rules_take_no_calls_and_have_no_tokens() -> None:
    found = measured([QuestionAsked(agent="a", purpose="plan", reasoner="rules", answer={}), DONE], rows=[])
    assert found["K1"].value == 0
    assert {name for name, value in found.items() if value.value is not None} == {"K1", "K1.agent", "K1.step"}


def test_parts_are_those_that_are_there() -> None:
    parts = cost.parts(gather(log([*asked("a"), *asked("a", "say"), *asked("b", "say")])))
    assert parts["K1[agent=a]"].value == 2
    assert parts["K2.prompt[purpose=say]"].value == 200
    assert parts["K7[agent=b]"].value is None


def test_dollars_need_a_price_for_every_answer() -> None:
    steps = [*asked("a"), *asked("b"), DONE]
    found = measured(steps, rows=[Row("a"), Row("b", usd=0.25)])
    assert found["K3"].value == found["K4.usd"].value == 0.75
    assert measured(steps, rows=[Row("a"), Row("b", usd=None)])["K3"].value is None
    assert measured(steps, rows=[Row("a"), Row("b", usd=None, finish=None)])["K3"].value == 0.5, "no answer, no price"
    assert measured(steps, rows=[Row("a", usd=None, cached=True)])["K3"].value == 0
    assert measured(steps)["K3"].value is None
    assert measured(asked("a"), rows=[Row("a")])["K4.usd"].value is None, "nothing was done"


def test_minds_take_turns_where_messages_lie_between() -> None:
    times = (("a", 1, 2), ("a", 2, 1), ("b", 1, 4), ("a", 3, 5), ("c", 1, 1))
    rows = [Row(mind, number, seconds) for mind, number, seconds in times]
    together = [*asked("a"), *asked("a"), *asked("b")]
    in_turn = [say("a", 0), *asked("a")]
    found = measured([*together, *in_turn], [], asked("c"), rows=rows)
    assert found["K5.path"] == ((4 + 5 + 1) / 2, 10, 2)
    assert found["K5.p50"].value == 2
    assert found["K5.max"] == (5, None, 5)
    found = measured([*together, *in_turn], rows=rows)
    assert found["K6.decision"] == (12 / 2, 12, 2)
    assert found["K6.waiting"] == ((9 - 8 + 9 - 4) / 2, 6, 2)
    assert found["K6"] == (6 / 18, 6, 18)


def test_who_is_ready_without_a_question_waits_too() -> None:
    ready = [StageEntered(agent="b", stage="R"), StageEntered(agent="b", stage="W")]
    assert measured([*asked("a"), *ready], rows=[Row("a", seconds=3)])["K6.waiting"].num == 3


def test_answers_of_a_cache_leave_the_seconds_unknown() -> None:
    found = measured([*asked("a"), *asked("b")], rows=[Row("a", seconds=3), Row("b", cached=True)])
    assert found["K5.max"] == (3, None, 1)
    assert found["K5.path"].value is found["K6"].value is None


def test_an_interruption_costs_the_seconds_of_what_is_asked_then() -> None:
    stages = [StageEntered(agent="a", stage="I"), StageEntered(agent="a", stage="R")]
    steps = [*asked("a"), *stages, *asked("a"), *asked("b"), StageEntered(agent="a", stage="W"), *asked("a")]
    rows = [Row("a", seconds=1), Row("a", 2, seconds=2), Row("b", seconds=4), Row("a", 3, seconds=8)]
    assert communication.measure(gather(log(steps)), rows)["M11.seconds"] == (2, 2, 1)


@pytest.mark.parametrize("number", [1, 2])
def test_a_call_belongs_to_the_question_of_its_kind_and_number(number: int) -> None:
    rows = [Row("a", number, seconds=3, purpose="say")]
    found = measured([*asked("a"), *asked("a", "say")], asked("a", "say"), rows=rows)
    assert found["K5.path"].num == 3
    assert found["K5.path"].den == 2
