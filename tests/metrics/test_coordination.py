"""Coordination and effort: against a slow check from the events, and on real episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings

import teamworld
from teamworld.language import parse_plan
from teamworld.metrics.failures import tags
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


def test_metrics_and_failure_labels_tell_the_same(played: list[list[Event]]) -> None:
    found = set()
    for events in played:
        values = measured(events)
        spans: dict[str, set[tuple[int, str]]] = {"deadlock": set(), "oscillation": set()}
        for tag in tags(events, finder("cube")):
            if tag.label in spans:
                spans[tag.label] |= {(step, agent) for step in range(tag.first, tag.last + 1) for agent in tag.agents}
        assert (values["oscillation"].num or 0) >= len(spans["oscillation"]), (
            "labels leave out what got on, or came back late"
        )
        assert (values["deadlock"].num or 0) >= len({step for step, _ in spans["deadlock"]}), (
            "and where all wait by choice"
        )
        found |= {label for label, steps in spans.items() if steps}
    assert found == {"deadlock", "oscillation"}


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

    told = {"oscillation", "position_oscillation"}
    for events in played:
        new, old = measured(events), measured([older(event) for event in events])
        assert all(old[name].value is None for name in told)
        assert {name: value for name, value in new.items() if name not in told} == {
            name: value for name, value in old.items() if name not in told
        }
