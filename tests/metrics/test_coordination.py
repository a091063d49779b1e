"""Coordination: against a slow check from the events, and rules by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

import pytest
from hypothesis import given, settings

import teamworld
from teamworld.language import parse_plan
from teamworld.metrics.definition import Value, metrics
from teamworld.metrics.effort import contribution_gini, contributions
from teamworld.metrics.failures import tags
from teamworld.metrics.log_reader import tabulate
from teamworld.record import (
    ActionStep,
    Event,
    GoalChange,
    PlanStart,
    decode,
    encode,
    read_log,
)
from teamworld.worlds.registry import finder
from tests.metrics import naive
from tests.metrics.logs import act, attempt, commit, ended, log, measured, plan, release
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
    """Return the logs of short CUBE episodes of three methods in three sizes."""
    folder = tmp_path_factory.mktemp("runs")
    for level in ("paper-n2", "n4", "n8"):
        teamworld.run(level=level, method=["drwell", "greedy", "random"], seed=[0, 1], max_steps=60, out=folder / level)
    return [list(read_log(path)) for path in sorted(folder.rglob("*.jsonl.zst"))]


@pytest.mark.heavy
def test_the_slow_check_agrees_on_real_episodes(played: list[list[Event]]) -> None:
    assert len(played) == 18
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
        assert values["oscillation"].num == len(spans["oscillation"])
        assert values["deadlock"].num == len({step for step, _ in spans["deadlock"]})
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


def test_every_part_is_reached_by_logs_at_random() -> None:
    rng, reached = Random(1), set()
    for _ in range(300):
        reached |= {name for name, value in measured(made(rng, steps=30)).items() if value.value}
    names = {
        name for name, metric in metrics().items() if metric.section in ("Effort", "Coordination") and metric.tier == 1
    }
    assert names - reached == {name for name in names if metrics()[name].basis == "runs"}


# ---- by hand


@pytest.mark.parametrize(
    ("have", "cause"),
    [
        ({"dependency": 0, "temporal": 0}, "dependency"),
        ({"participation": 1, "spatial": 1, "temporal": 1}, "participation"),
        ({"spatial": 1, "temporal": 1}, "spatial"),
        ({"temporal": 1}, "temporal"),
        ({}, "none"),
    ],
)
def test_a_failed_attempt_has_one_cause(have: dict[str, int], cause: str) -> None:
    values = measured(log([act("a"), attempt(False, 2, **have)]))
    assert values[f"unmet_{cause}"] == (1.0, 1, 1)


def test_a_commitment_beyond_the_places_of_a_goal_is_a_conflict() -> None:
    crowd = ("a", "b", "c")
    bound = [commit(agent) for agent in crowd]
    assert measured(log(bound, team=crowd))["assignment_conflict"] == (1 / 3, 1, 3)
    assert measured(log([*bound[:2], release("a"), bound[2]], team=crowd))["assignment_conflict"] == (0.0, 0, 3)
    assert measured(log([*bound[:2], bound[1]], team=crowd))["assignment_conflict"] == (0.0, 0, 3), "made again"


def test_a_split_team_is_not_coherent() -> None:
    goals = {"g": 2, "h": 2}
    split = [plan("a", 0, "g"), plan("b", 1, "h"), act("a"), act("b")]
    joined = [ended("b", 1), plan("b", 2, "g"), act("a"), act("b")]
    assert measured(log(split, joined, goals=goals))["staffing_coherence"] == (0.5, 1.0, 2)


def test_conflicts_of_place() -> None:
    swap = [act("a", blocker="b", place="1", aim="2"), act("b", blocker="a", place="2", aim="1")]
    race = [act("a", blocker="b", place="1", aim="2"), act("b", place="3", aim="2", moved=True)]
    stands = [act("a", blocker="b", place="1", aim="2"), act("b", place="2")]
    wall = [act("a", blocker="wall", place="1", aim="0"), act("b", place="2")]
    values = measured(log(swap, race, stands, wall))
    assert values["spatial_conflict"] == (4 / 6, 4, 6)
    assert measured(log([act("a", blocker="b"), act("b")]))["spatial_conflict"].value == 1.0


@pytest.mark.parametrize(("steps", "locked"), [(7, 0), (8, 8), (11, 11)])
def test_a_deadlock_lasts_eight_steps(steps: int, locked: int) -> None:
    still, moving = [act("a"), act("b")], [act("a"), act("b", moved=True)]
    assert measured(log(moving, *[still] * steps))["deadlock"] == (locked / (steps + 1), locked, steps + 1)


@pytest.mark.parametrize("how", ["done", "lost"])
def test_nothing_is_locked_once_all_goals_are_over(how: Literal["done", "lost"]) -> None:
    done = [act("a", effect=True), GoalChange(goal="g", event=how, delta=0.0, participants=("a",))]
    assert measured(log(done, *[[act("a")]] * 9))["deadlock"].value == 0


def test_going_to_and_fro_between_places() -> None:
    def walk(*places: str) -> Value:
        steps = ([act("a", place=at, aim=to, moved=at != to)] for at, to in pairwise(places))
        return measured(log(*steps))["position_oscillation"]

    assert walk("A", "B", "A", "B") == (1.0, 3, 3), "the last place is known from its aim"
    assert walk("A", "B", "A", "A", "B") == (0.0, 0, 4)
    assert walk("C", "A", "B", "A", "B", "B") == (3 / 5, 3, 5)


def test_going_to_and_fro_between_plans() -> None:
    def swings(*texts: str, status: str = "failed") -> float | None:
        steps = [[plan("a", n, text=text), act("a"), ended("a", n, status)] for n, text in enumerate(texts)]  # type: ignore[arg-type]
        return measured(log(*steps))["plan_oscillation"].value

    assert swings("A", "B", "A", "B", "C") == pytest.approx(4 / 5)
    assert swings("A", "B", "A", "C") == swings("A", "A", "A", "A") == 0
    assert swings("A", "B", "A", "B", status="success") == 0


def test_progress_that_is_undone_counts_against_who_undid_it() -> None:
    def moved(delta: float, *who: str) -> GoalChange:
        return GoalChange(goal="g", event="progress", delta=delta, participants=who)

    table = tabulate(log([moved(0.5, "a", "b"), moved(-0.5, "a"), moved(0.5, "b")]))
    assert contributions(table) == [0.0, 0.75]
    assert contribution_gini(table).value == 0.5


@pytest.mark.parametrize(
    ("events", "kept", "dropped", "number"),
    [
        ([[commit("a")], [release("a")]], 1, 0, 1),
        ([[commit("a")], [GoalChange(goal="g", event="done", delta=1.0, participants=())], [act("a")]], 1, 0, 1),
        ([[GoalChange(goal="g", event="done", delta=1.0, participants=())], [commit("a")]], 0, 0, 1),
        ([[commit("a")], [commit("a", "h")], [release("a", "h")]], 1, 1, 2),
        ([[commit("a")], [plan("a", 0, "h")]], 0, 1, 1),
        ([[commit("a")], [commit("a")]], 0, 0, 1),
    ],
)
def test_how_commitments_end(events: list[list[Event]], kept: int, dropped: int, number: int) -> None:
    values = measured(log(*events, goals={"g": 2, "h": 1}))
    assert values["commitment_reliability"][1:] == (kept, number)
    assert values["commitments_dropped"][1:] == (dropped, number)


def test_replanning_is_per_agent_and_100_steps() -> None:
    steps = [[plan("a", at, origin=origin), act("a")] for at, origin in enumerate(("fresh", "revised", "reused"))]
    assert measured(log(*steps))["replanning"] == (100 / 3, 100, 3)
