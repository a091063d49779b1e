"""What episodes took, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teamworld.metrics.cost import Cost, Latency, cost, group_by, latency
from teamworld.metrics.definition import metrics
from teamworld.record import LlmCall, QuestionAsked
from tests.metrics.logs import call_row, log, measured


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


def test_calls_and_tokens_are_counted_re_asks_included() -> None:
    found = measured(log([*asked("a", calls=2), *asked("b", prompt_tokens=300)], asked("a", prompt_tokens=130)))
    assert found["calls"].value == 4
    assert found["prompt_tokens"].value == 630
    assert found["tokens"].value == 670
    assert found["unusable_answers"] == (1 / 4, 1, 4)
    assert (found["cached_tokens"].value, found["reasoning_tokens"].value) == (160, 0)


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    found = measured(log([*asked("a"), *asked("b", output_tokens=None)]))
    assert found["output_tokens"].value is found["tokens"].value is None
    assert found["prompt_tokens"].value == 200


def test_rules_take_no_calls_and_have_no_tokens() -> None:
    found = measured(log([QuestionAsked(agent="a", purpose="plan", reasoner="rules", answer={})]), [])
    assert found["calls"].value == 0
    costs = [name for name, metric in metrics().items() if (metric.section, metric.basis) == ("Cost", "log")]
    assert [name for name in costs if found[name].value is not None] == ["calls"]


def test_dollars_need_a_price_for_every_answer() -> None:
    events = log([*asked("a"), *asked("b")])
    assert measured(events, [call_row(), call_row(usd=0.25)])["cost_usd"].value == 0.75
    assert measured(events, [call_row(), call_row(usd=None)])["cost_usd"].value is None
    assert measured(events, [call_row(), call_row(usd=None, finish=None)])["cost_usd"].value == 0.5, (
        "no answer, no price"
    )
    assert measured(events, [call_row(usd=None, cached=True)])["cost_usd"].value == 0
    assert measured(events)["cost_usd"].value is None


def test_seconds_of_an_episode_are_those_of_its_decisions() -> None:
    waited = [call_row(seconds=1.0), call_row(seconds=3.0, number=2), call_row(seconds=9.0, number=3, cached=True)]
    found = measured(log(asked("a")), waited)
    assert found["latency_p50"] == (2.0, None, 2)
    assert found["latency_p95"].value == pytest.approx(2.9)
    assert measured(log(asked("a")))["latency_p50"].value is None


def test_what_calls_cost() -> None:
    calls = [
        call_row(),
        call_row(usd=0.25),
        call_row(usd=None),
        call_row(usd=None, finish=None),
        call_row(usd=None, cached=True),
        call_row(usd=3.0, cached=True),
    ]
    assert cost(calls) == Cost(0.75, 2, 3, 2)
    assert cost(calls).value == 0.75
    assert cost([call_row(usd=None)]) == Cost(0.0, 0, 1, 0)
    assert cost([call_row(usd=None)]).value is None
    assert cost([]).value is None
    assert cost([call_row(usd=0.0)]).value == 0.0


def test_a_decision_takes_as_long_as_all_its_tries() -> None:
    calls = [call_row(seconds=1.0, number=number) for number in range(1, 9)]
    calls += [
        call_row(seconds=2.0),
        call_row(seconds=4.0, respondent="b"),
        call_row(seconds=9.0, finish=None, episode=2),
    ]
    calls += [
        call_row(seconds=0.0, cached=True, respondent="c"),
        call_row(seconds=50.0, respondent="c"),
    ]  # only in part on the clock
    waited = latency(calls)
    waits = [3.0, *[1.0] * 7, 4.0, 9.0]
    assert waited._replace(p95=None) == Latency(10, 23.0, 1.0, None)
    assert waited.p95 == pytest.approx(np.percentile(waits, 95)) == pytest.approx(6.75)
    for nothing in ([], [call_row(cached=True)]):
        assert latency(nothing) == Latency(0, 0.0, None, None)


def test_questions_of_other_cells_kinds_and_reasoners_are_other_decisions() -> None:
    calls = [
        call_row(),
        call_row(cell="drwell-s1"),
        call_row(episode=2),
        call_row(respondent="b"),
        call_row(purpose="m.say"),
        call_row(number=2),
    ]
    assert latency(calls).decisions == 6
    assert {who: cost(made).usd for who, made in group_by(calls, lambda call: call.respondent).items()} == {
        "a": 2.5,
        "b": 0.5,
    }
