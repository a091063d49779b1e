"""Metrics of talk and belief over logs at random: against the slow ones."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given

from teamworld.metrics.definition import Value
from teamworld.record import Believe, Event
from tests.metrics import naive_talk as slow
from tests.metrics.beliefs import belief_logs
from tests.metrics.logs import measured

pytestmark = pytest.mark.heavy


def pair(value: Value) -> tuple[int, int]:
    return int(value.num or 0), int(value.den or 0)


@given(belief_logs)
def test_what_messages_tell_is_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    assert pair(found["redundancy"]) == slow.redundancy(log)
    assert pair(found["uptake"]) == slow.uptake(log)
    assert pair(found["falsehood"]) == slow.falsehood(log)
    assert pair(found["withheld_information"]) == slow.withheld(log)


@given(belief_logs)
def test_repeated_messages_are_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    assert pair(found["repetition"]) == slow.repetition(log)


@given(belief_logs)
def test_beliefs_are_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    told = slow.beliefs(log)
    if not any(isinstance(event, Believe) and event.about is None for event in log):
        assert found["belief_f1"].value is None
        return
    for name, points in (("belief_precision", told.precision), ("belief_recall", told.recall), ("belief_f1", told.f1)):
        assert found[name].den == len(points)
        assert isclose(found[name].num or 0.0, sum(points), abs_tol=1e-9)
    assert pair(found["belief_staleness"]) == told.stale
    assert pair(found["stale_beliefs"]) == (told.stale[1], told.held)
    assert pair(found["misled_failures"]) == told.acted
    assert found["belief_brier"].den == len(told.squares)
    assert isclose(found["belief_brier"].num or 0.0, sum(told.squares), abs_tol=1e-9)
    assert found["belief_convergence"].den == len(told.alike)
    assert isclose(found["belief_convergence"].num or 0.0, sum(told.alike), abs_tol=1e-9)


@given(belief_logs)
def test_what_others_are_believed_to_know_is_what_the_slow_way_finds(log: list[Event]) -> None:
    right, told = slow.first_order(log)
    assert pair(measured(log)["first_order_accuracy"]) == (right, told)
