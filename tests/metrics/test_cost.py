"""What calls cost and how long decisions take."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.metrics.cost import Cost, Latency, cost, group_by, latency
from tests.metrics.logs import call_row


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
