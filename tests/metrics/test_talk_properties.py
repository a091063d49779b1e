"""Metrics of talk, belief and cost over logs at random: against the slow ones."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given

from teamworld.metrics import belief, communication, cost
from teamworld.metrics.definition import Value
from teamworld.metrics.event_tables import gather
from teamworld.record import Believe, Event
from tests.metrics import naive_talk as slow
from tests.metrics.beliefs import belief_logs
from tests.metrics.strategies import logs

pytestmark = pytest.mark.heavy


def measured(log: list[Event]) -> dict[str, Value]:
    episode = gather(log)
    return {**communication.measure(episode), **belief.measure(episode), **cost.measure(episode)}


def pair(value: Value) -> tuple[int, int]:
    return int(value.num or 0), int(value.den or 0)


@given(belief_logs)
def test_what_messages_tell_is_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    assert pair(found["M4"]) == slow.novelty(log)
    assert pair(found["M7"]) == slow.uptake(log)
    assert (pair(found["M8.stale"]), pair(found["M8.fabricated"])) == slow.falsehood(log)
    assert pair(found["M10"]) == slow.withheld(log)


@given(belief_logs)
def test_repeated_and_lost_messages_are_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    assert pair(found["M6"]) == slow.repetition(log)
    assert pair(found["M13"]) == slow.orphans(log)


@given(belief_logs)
def test_beliefs_are_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    told = slow.beliefs(log)
    if not any(isinstance(event, Believe) and event.about is None for event in log):
        assert found["B1"].value is None
        return
    for name, points in (("B1.precision", told.precision), ("B1.recall", told.recall), ("B1", told.f1)):
        assert found[name].den == len(points)
        assert isclose(found[name].num or 0.0, sum(points), abs_tol=1e-9)
    assert pair(found["B2"]) == told.stale
    assert pair(found["B2.share"]) == (told.stale[1], told.held)
    assert pair(found["B3"]) == told.acted
    assert found["B4"].den == len(told.squares)
    assert isclose(found["B4"].num or 0.0, sum(told.squares), abs_tol=1e-9)
    assert found["B7"].den == len(told.alike)
    assert isclose(found["B7"].num or 0.0, sum(told.alike), abs_tol=1e-9)


@given(belief_logs)
def test_what_others_are_believed_to_know_is_what_the_slow_way_finds(log: list[Event]) -> None:
    right, told = slow.first_order(log)
    assert pair(measured(log)["B5"]) == (right, told)


@pytest.mark.parametrize("name", ["K1", "K2", "K2.output"])
@given(log=logs)
def test_costs_by_agent_and_by_purpose_add_up_to_the_whole(name: str, log: list[Event]) -> None:
    episode = gather(log)
    whole, parts = cost.measure(episode)[name], cost.parts(episode)
    for kind in ("agent", "purpose"):
        some = [value for part, value in parts.items() if part.startswith(f"{name}[{kind}=")]
        if whole.value:
            assert sum(value.num or 0.0 for value in some) == whole.num
        elif whole.value is None and some:
            assert any(value.value is None for value in some)
