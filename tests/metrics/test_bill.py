"""Bills of small episodes, against values worked out by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics.bill import FLAWS, Cost, Count, Latency, Slope, bill, cost, grouped, growth, latency, tokens
from teamworld.metrics.summary import Rate
from teamworld.record import AnswerError, Event, LlmCall, QuestionAsked, StepDone


def call(
    agent: str = "a",
    prompt: int | None = 100,
    cached: int | None = 0,
    output: int | None = 10,
    *,
    purpose: str = "m.plan",
    reasoning: int | None = None,
    usable: bool = True,
    attempt: int = 0,
) -> LlmCall:
    return LlmCall(
        agent=agent,
        purpose=purpose,
        model="openai:gpt-4o",
        prompt_tokens=prompt,
        cached_tokens=cached,
        output_tokens=output,
        reasoning_tokens=reasoning,
        usable=usable,
        attempt=attempt,
    )


def asked(*flaws: str, fallback: bool = False) -> QuestionAsked:
    errors = tuple(AnswerError(flaw=flaw, text="bad") for flaw in flaws)  # type: ignore[arg-type]
    return QuestionAsked(agent="a", purpose="m.plan", reasoner="x", answer={}, errors=errors, fallback=fallback)


STEP = StepDone(ticks=1, score={})


def test_an_episode_worked_out_by_hand() -> None:
    log: list[Event] = [
        call("a", 100, 0, 10),
        asked(),
        call("b", 200, 150, 20, purpose="m.say", reasoning=5, usable=False),
        call("b", 260, 200, 30, purpose="m.say", reasoning=7, attempt=1),
        asked("json"),
        STEP,
        call("a", 130, None, 11),
        asked(),
        STEP,
        call("a", 160, 80, None, usable=False),
        call("a", None, None, None, attempt=1, usable=False),
        call("a", 170, 90, 4, attempt=2, usable=False),
        asked("schema", "none", "intent", fallback=True),
        STEP,
    ]
    found = bill(log)
    assert list(found.agents) == ["a", "b"]
    assert list(found.purposes) == ["m.plan", "m.say"]
    assert found.total.prompt == Count(1020, 6, 7)
    assert found.total.cached == Count(520, 5, 7)
    assert found.total.output == Count(75, 5, 7)
    assert found.total.reasoning == Count(12, 2, 7)
    assert found.total.cache == Rate(520, 890)  # the call of 130 did not say
    assert found.total.unusable == Rate(4, 7)
    assert found.total.retries == Rate(3, 7)
    assert found.agents["a"].prompt == Count(560, 4, 5)
    assert found.agents["a"].reasoning == Count(0, 0, 5)
    assert found.agents["a"].reasoning.value is None
    assert found.agents["b"] == found.purposes["m.say"]
    assert found.agents["b"].cache == Rate(350, 460)
    assert found.per_step == Rate(7, 3)
    assert found.growth["a"] == Slope(3 * (130 + 320) - 3 * 390, 3 * 5 - 9, 3)
    assert found.growth["a"].value == 30.0  # 100, 130, 160
    assert found.growth["b"] == Slope(0, 0, 1)
    assert found.growth["b"].value is None
    flaws = {flaw: rate for flaw, rate in found.flaws.items() if rate.num}
    assert flaws == {"json": Rate(1, 7), "schema": Rate(1, 7), "none": Rate(1, 7), "intent": Rate(1, 7)}
    assert tuple(found.flaws) == FLAWS


def test_a_run_on_rules_has_no_bill() -> None:
    found = bill([asked(), asked("json"), STEP])
    assert (found.agents, found.purposes, found.growth) == ({}, {}, {})
    assert found.per_step == Rate(0, 1)
    assert found.total.prompt.value is None
    assert found.total.cache.value is None
    assert found.total.unusable.value is None
    assert found.flaws["json"] == Rate(1, 3)  # rules that slip are counted too
    nothing = bill([])
    assert nothing.per_step.value is None
    assert {rate.value for rate in nothing.flaws.values()} == {None}


def test_nothing_that_was_counted_is_none_and_zero_that_was_is_zero() -> None:
    silent = tokens([call("a", None, None, None)])
    assert silent.prompt == Count(0, 0, 1)
    assert (silent.prompt.value, silent.cache.value) == (None, None)
    counted = tokens([call("a", 0, 0, 0)])
    assert (counted.prompt.value, counted.output.value) == (0, 0)
    assert counted.cache.value is None
    assert tokens([call("a", 8, 0)]).cache.value == 0.0


@given(st.lists(st.integers(0, 100_000), min_size=2, max_size=40))
def test_growth_is_the_slope_of_a_fit(prompts: list[int]) -> None:
    slope = growth([call(prompt=prompt) for prompt in prompts])
    fitted = np.polyfit(np.arange(len(prompts)), prompts, 1)[0]
    assert slope.value == pytest.approx(fitted, abs=1e-6 * max(prompts) + 1e-9)
    assert slope.points == len(prompts)


def test_a_question_whose_prompt_was_not_counted_keeps_its_place() -> None:
    assert growth([call(prompt=10), call(prompt=None), call(prompt=30)]).value == 10.0


CALLS = st.builds(
    call,
    st.sampled_from("ab"),
    st.none() | st.integers(0, 999),
    st.none() | st.integers(0, 99),
    st.none() | st.integers(0, 99),
    purpose=st.sampled_from(["m.plan", "m.say"]),
    reasoning=st.none() | st.integers(0, 9),
    usable=st.booleans(),
    attempt=st.integers(0, 2),
)


@given(st.lists(CALLS, max_size=30))
def test_the_parts_of_a_bill_make_up_the_whole(calls: list[LlmCall]) -> None:
    found = bill(calls)
    for parts in (found.agents, found.purposes):
        for name in found.total._fields:
            sums = [sum(values) for values in zip(*(getattr(part, name) for part in parts.values()), strict=True)]
            assert sums == list(getattr(found.total, name)) or not calls
    assert found.total.cache.num <= sum(one.cached_tokens or 0 for one in calls)


class Made(NamedTuple):
    """A call on record."""

    usd: float | None = 0.5
    seconds: float = 1.0
    respondent: str = "a"
    number: int = 1
    episode: int = 1
    cell: str = "drwell-s0"
    purpose: str = "m.plan"
    finish: str | None = "stop"
    cached: bool = False


def test_what_calls_cost() -> None:
    calls = [Made(), Made(0.25), Made(None), Made(None, finish=None), Made(None, cached=True), Made(3.0, cached=True)]
    assert cost(calls) == Cost(0.75, 2, 3, 2)
    assert cost(calls).value == 0.75
    assert cost([Made(None)]) == Cost(0.0, 0, 1, 0)
    assert cost([Made(None)]).value is None
    assert cost([]).value is None
    assert cost([Made(0.0)]).value == 0.0


def test_a_decision_takes_as_long_as_all_its_tries() -> None:
    calls = [Made(seconds=1.0, number=number) for number in range(1, 9)]
    calls += [Made(seconds=2.0), Made(seconds=4.0, respondent="b"), Made(seconds=9.0, finish=None, episode=2)]
    calls += [
        Made(seconds=0.0, cached=True, respondent="c"),
        Made(seconds=50.0, respondent="c"),
    ]  # only in part on the clock
    found = latency(calls)
    waits = [3.0, *[1.0] * 7, 4.0, 9.0]
    assert found._replace(p95=None) == Latency(10, 23.0, 1.0, None, 9.0)
    assert found.p95 == pytest.approx(np.percentile(waits, 95)) == pytest.approx(6.75)
    for nothing in ([], [Made(cached=True)]):
        assert latency(nothing) == Latency(0, 0.0, None, None, None)


def test_questions_of_other_cells_kinds_and_minds_are_other_decisions() -> None:
    calls = [
        Made(),
        Made(cell="drwell-s1"),
        Made(episode=2),
        Made(respondent="b"),
        Made(purpose="m.say"),
        Made(number=2),
    ]
    assert latency(calls).decisions == 6
    assert {mind: cost(some).usd for mind, some in grouped(calls, lambda one: one.respondent).items()} == {
        "a": 2.5,
        "b": 0.5,
    }
