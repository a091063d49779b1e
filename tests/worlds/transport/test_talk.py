"""The price of talk: a frame for every 500 characters begun, for its sender."""

from __future__ import annotations

from collections import Counter
from math import ceil
from pathlib import Path

import pytest

import teamworld
from teamworld.experiment.spec import build
from teamworld.record import ActionStep, MessageSent, StepDone, read_log
from teamworld.worlds.registry import talk_price


@pytest.mark.parametrize("method", ["coela", "cobel", "capo"])
def test_methods_whose_messages_are_paid_for_pay_by_characters(method: str) -> None:
    rule = build({"world": "transport", "methods": [method]}).message_rule(method)
    assert [rule.cost("x" * length) for length in (1, 500, 501, 1000)] == [1, 1, 2, 2]
    assert (rule.maximum, rule.paid_by) == (1000, "speaker")
    elsewhere = build({"world": "household", "methods": [method]}).message_rule(method)
    assert (elsewhere.cost("x" * 501), elsewhere.maximum) == (1, None)


def test_what_is_free_stays_free_and_one_rule_for_all_is_that_rule() -> None:
    assert build({"world": "transport", "methods": ["drwell"]}).message_rule("drwell").cost("x" * 600) == 0
    asked = {"world": "transport", "methods": ["coela"], "options": {"messages": {"maximum": 80}}}
    assert build(asked).message_rule("coela").model_dump()["chars_per_tick"] is None
    assert talk_price("cube") == talk_price("nowhere") == {}


@pytest.mark.parametrize("method", ["coela", "cobel", "capo"])
def test_frames_of_talk_are_those_of_the_formula(tmp_path: Path, method: str) -> None:
    teamworld.run("transport", level="dev", method=method, seeds=[3], max_steps=1500, out=tmp_path)
    events = list(read_log(next(tmp_path.rglob("*.zst"))))
    frames = {event.step: event.ticks for event in events if isinstance(event, StepDone)}
    owed, spent = Counter[str](), Counter[str]()
    for event in events:
        if isinstance(event, MessageSent):
            assert event.ticks == ceil(len(event.text) / 500)
            owed[event.agent] += event.ticks
        elif isinstance(event, ActionStep) and event.verb == "talk" and event.spent:
            spent[event.agent] += frames[event.step]
    assert owed
    talked_last = max(event.step for event in events if isinstance(event, MessageSent))
    for agent, due in owed.items():
        assert spent[agent] == due or talked_last == max(frames), f"{agent} owes {due} frames and talked {spent[agent]}"
