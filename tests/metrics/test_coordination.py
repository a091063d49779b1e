"""Coordination and effort: against a slow check from the events, and on real episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import teamworld
from teamworld.language import parse_plan
from teamworld.metrics.coordination import deadlocks, place_swings
from teamworld.metrics.failures import tags
from teamworld.metrics.log_reader import tabulate
from teamworld.record import (
    ActionStep,
    Event,
    PlanStart,
    decode,
    encode,
    read_log,
)
from teamworld.worlds.registry import finder
from tests.metrics import naive
from tests.metrics.logs import measured
from tests.metrics.strategies import logs, made

# ---- the slow check


def check(events: Sequence[Event]) -> None:
    values = measured(events)
    for name, slow in naive.SHARES.items():
        num, den = slow(events)
        value = values[name]
        assert value.value == (pytest.approx(num / den, abs=1e-9) if den else None), name
        if value.den is not None:
            assert value.num == pytest.approx(num, abs=1e-9), name
            assert value.den == pytest.approx(den), name
    table = tabulate(events)
    locked = {step for first, end in deadlocks(table) for step in range(first, end)}
    swings = {(int(step), table.team[agent]) for step, agent in np.argwhere(place_swings(table))}
    assert (locked, swings) == (naive.locked(events), naive.to_and_fro(events))


@settings(max_examples=50)
@given(logs)
def test_the_slow_check_agrees_on_logs_at_random(events: list[Event]) -> None:
    check(events)


@pytest.mark.heavy
def test_the_slow_check_agrees_on_longer_logs() -> None:
    rng = Random(0)
    for _ in range(15):
        check(made(rng, steps=50))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[list[Event]]:
    """Return the logs of short CUBE episodes of four methods in three sizes."""
    folder = tmp_path_factory.mktemp("runs")
    methods = ["drwell", "greedy", "random", "do_nothing"]
    for level in ("paper-n2", "n4", "n8"):
        teamworld.run(level=level, method=methods, seed=[0, 1], max_steps=60, out=folder / level)
    return [list(read_log(path)) for path in sorted(folder.rglob("*.jsonl.zst"))]


@pytest.mark.heavy
def test_the_slow_check_agrees_on_real_episodes(played: list[list[Event]]) -> None:
    assert len(played) == 24
    for events in played:
        check(events)


def test_failure_labels_are_no_more_than_what_the_log_shows(played: list[list[Event]]) -> None:
    found = set()
    for events in played:
        table, given = tabulate(events), tags(events, finder("cube"))
        locked = {step for first, end in deadlocks(table) for step in range(first, end)}
        for tag in given:
            if tag.label == "deadlock":  # where all wait by choice there is none
                assert locked >= set(range(tag.first, tag.last + 1))
        found |= {tag.label for tag in given}
    assert {"deadlock", "oscillation"} <= found


def test_places_aims_and_lengths_of_plans_in_real_logs_fit_together(played: list[list[Event]]) -> None:
    for events in played:
        before: dict[str, ActionStep] = {}
        for event in events:
            if isinstance(event, PlanStart):
                assert event.length == len(parse_plan(event.text).actions)
            if isinstance(event, ActionStep) and event.spent:
                if (last := before.get(event.agent)) is not None:
                    assert event.place == (last.aim if last.moved else last.place)
                before[event.agent] = event


def test_a_log_without_places_aims_and_lengths_is_read_and_what_they_tell_is_null(played: list[list[Event]]) -> None:
    def older(event: Event) -> Event:
        fields = json.loads(encode(event))
        for name in ("place", "aim", "length"):
            fields.pop(name, None)
        return decode(json.dumps(fields).encode())

    for events in played:
        before = [older(event) for event in events]
        assert not place_swings(tabulate(before)).any()
        assert measured(events) == measured(before)
