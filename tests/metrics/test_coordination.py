"""Coordination: against a slow check from the events, and rules by hand."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

import pytest
from hypothesis import given, settings

import teamworld
from teamworld.language import parse_plan
from teamworld.metrics import agreement, balance, conflict, efficiency, joint, plans
from teamworld.metrics.definition import Value
from teamworld.metrics.event_tables import gather
from teamworld.metrics.failures import tags
from teamworld.record import (
    ActionStep,
    Event,
    GoalChange,
    MessageSent,
    PlanStart,
    Release,
    StageEntered,
    decode,
    encode,
    read_log,
)
from teamworld.worlds.registry import finder
from tests.metrics import naive
from tests.metrics.logs import act, attempt, commit, ended, log, plan, release
from tests.metrics.strategies import logs, made


def measured(events: Sequence[Event]) -> dict[str, Value]:
    episode = gather(events)
    families = (efficiency, joint, conflict, plans, balance, agreement)
    return {name: value for family in families for name, value in family.measure(episode).items()}


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
    for name, several in naive.MEDIANS.items():
        found = several(events)
        assert values[name].value == (statistics.median(found) if found else None), name
        assert values[name].den == len(found), name
    assert values["D17.utilisation"].value == pytest.approx(naive.utilisation(events))
    cost = naive.agreement(events)
    parts = [values[f"D20.{part}"].value for part in ("rounds", "messages", "tokens", "steps")]
    assert parts == (list(cost) if cost is not None else [None] * 4)


@settings(max_examples=150)
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
        assert values["D13.oscillation"].num == len(spans["oscillation"])
        assert values["D13.deadlock"].num == len({step for step, _ in spans["deadlock"]})
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

    told = {"D12.swap", "D12.cell", "D13.oscillation", "D13.positions", "D15.survival"}
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
    assert set(measured(made(rng))) - reached == {"D16.world", "E6.think", "E11"}, "no log tells them"


# ---- by hand


def test_an_agent_is_in_place_while_it_waits_takes_part_in_an_attempt_or_in_progress() -> None:
    came = (
        [act("a", ready="g"), act("b", moved=True)],
        [act("a"), act("b"), attempt(participation=1)],
        [act("a"), act("b"), GoalChange(goal="g", event="progress", delta=0.5, participants=("b",))],
        [act("a", ready="other"), act("b")],
    )
    (goal, present), *rest = joint.in_place(gather(log(*came)))
    assert (goal, rest) == (0, [])
    assert present.tolist() == [[True, False], [True, True], [False, True], [False, False]]


def test_a_quorum_that_leaves_before_it_acts_is_lost() -> None:
    both = [act("a", ready="g"), act("b", ready="g")]
    gone = [act("a", moved=True), act("b", ready="g")]
    pushed = [*both, attempt(success=True)]
    assert measured(log(gone, both, both, gone))["D9"] == (1.0, 1, 1)
    assert measured(log(gone, both, pushed, gone))["D9"] == (0.0, 0, 1)
    assert measured(log(both, gone, both, gone, pushed))["D9"] == (2 / 3, 2, 3)
    assert measured(log(gone, both))["D9"] == (0.0, 0, 1), "it still stood when the episode ended"


def test_arrival_counts_from_the_stay_that_made_the_quorum() -> None:
    alone, away, both = [act("a", ready="g")], [act("a", moved=True)], [act("a", ready="g"), act("b", ready="g")]
    assert measured(log(alone, away, alone, alone, both))["D8"] == (2.0, None, 1)
    assert measured(log(alone, away, alone))["D8"] == (None, None, 0)


def test_assembly_begins_with_the_first_commitment() -> None:
    both = [act("a", ready="g"), act("b", ready="g")]
    assert measured(log([act("a")], [commit("a"), *both]))["D6"] == (0.0, None, 1)
    assert measured(log(both, [commit("a"), act("a")], [act("a")], both))["D6"] == (2.0, None, 1)
    assert measured(log([commit("a"), act("a")], [act("a")]))["D6"] == (None, None, 0)


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
    assert values[f"D3.{cause}"] == (1.0, 1, 1)


def test_a_commitment_beyond_the_places_of_a_goal_is_a_conflict() -> None:
    crowd = ("a", "b", "c")
    bound = [commit(agent) for agent in crowd]
    assert measured(log(bound, team=crowd))["D10"] == (1 / 3, 1, 3)
    assert measured(log([*bound[:2], release("a"), bound[2]], team=crowd))["D10"] == (0.0, 0, 3)
    assert measured(log([*bound[:2], bound[1]], team=crowd))["D10"] == (0.0, 0, 3), "made again"


def test_a_split_team_is_not_coherent() -> None:
    goals = {"g": 2, "h": 2}
    split = [plan("a", 0, "g"), plan("b", 1, "h"), act("a"), act("b")]
    joined = [ended("b", 1), plan("b", 2, "g"), act("a"), act("b")]
    assert measured(log(split, joined, goals=goals))["D11"] == (0.5, 1.0, 2)


def test_conflicts_of_place_by_kind() -> None:
    swap = [act("a", blocker="b", place="1", aim="2"), act("b", blocker="a", place="2", aim="1")]
    race = [act("a", blocker="b", place="1", aim="2"), act("b", place="3", aim="2", moved=True)]
    stands = [act("a", blocker="b", place="1", aim="2"), act("b", place="2")]
    wall = [act("a", blocker="wall", place="1", aim="0"), act("b", place="2")]
    values = measured(log(swap, race, stands, wall))
    assert [values[name].num for name in ("D12", "D12.swap", "D12.cell")] == [4, 2, 1]
    assert {values[name].den for name in ("D12", "D12.swap", "D12.cell")} == {6}
    old = measured(log([act("a", blocker="b"), act("b")]))
    assert (old["D12"].value, old["D12.swap"].value, old["D12.cell"].value) == (1.0, None, None)


@pytest.mark.parametrize(("steps", "locked"), [(7, 0), (8, 8), (11, 11)])
def test_a_deadlock_lasts_eight_steps(steps: int, locked: int) -> None:
    still, moving = [act("a"), act("b")], [act("a"), act("b", moved=True)]
    assert measured(log(moving, *[still] * steps))["D13.deadlock"] == (locked / (steps + 1), locked, steps + 1)


@pytest.mark.parametrize("how", ["done", "lost"])
def test_nothing_is_locked_once_all_goals_are_over(how: Literal["done", "lost"]) -> None:
    done = [act("a", effect=True), GoalChange(goal="g", event=how, delta=0.0, participants=("a",))]
    assert measured(log(done, *[[act("a")]] * 9))["D13.deadlock"].value == 0


def test_going_to_and_fro_between_places() -> None:
    def walk(*places: str) -> Value:
        steps = ([act("a", place=at, aim=to, moved=at != to)] for at, to in pairwise(places))
        return measured(log(*steps))["D13.positions"]

    assert walk("A", "B", "A", "B") == (1.0, 3, 3), "the last place is known from its aim"
    assert walk("A", "B", "A", "A", "B") == (0.0, 0, 4)
    assert walk("C", "A", "B", "A", "B", "B") == (3 / 5, 3, 5)


def test_going_to_and_fro_between_plans() -> None:
    def swings(*texts: str, status: str = "failed") -> float | None:
        steps = [[plan("a", n, text=text), act("a"), ended("a", n, status)] for n, text in enumerate(texts)]  # type: ignore[arg-type]
        return measured(log(*steps))["D13.plans"].value

    assert swings("A", "B", "A", "B", "C") == pytest.approx(4 / 5)
    assert swings("A", "B", "A", "C") == swings("A", "A", "A", "A") == 0
    assert swings("A", "B", "A", "B", status="success") == 0


def test_replanning_by_cause() -> None:
    steps = [
        [plan("a", 0, origin="revised", cause="start"), act("a", plan=0, legal=False, status="failed")],
        [ended("a", 0), plan("a", 1, origin="revised", cause="not_aligned"), act("a", plan=1, status="failed")],
        [
            ended("a", 1),
            plan("a", 2, origin="revised", cause="timeout"),
            act("a", plan=2, spent=False, status="failed"),
        ],
        [ended("a", 2), plan("a", 3, origin="fresh", cause="idle"), act("a", plan=3)],
        [ended("a", 3, "success"), plan("a", 4, origin="revised", cause="goal_done"), act("a", plan=4)],
        [ended("a", 4, "superseded"), plan("a", 5, origin="revised", cause="resync"), act("a", plan=5)],
    ]
    values = measured(log(*steps))
    assert values["D16"].num == 500
    causes = ("other", "precondition", "failure", "goal_done", "message")
    assert [values[f"D16.{cause}"].num for cause in causes] == [100] * 5


def test_an_action_passed_over_is_a_failed_precondition_and_no_agent_step() -> None:
    over = act("a", plan=0, spent=False, legal=False, status="failed")
    values = measured(log([plan("a", 0), over, act("a")], [ended("a", 0), plan("a", 1, origin="revised"), act("a")]))
    assert values["D16.precondition"] == (50.0, 100, 2)
    later = act("a", plan=0, status="failed")  # in the same step, after what was passed over
    values = measured(log([plan("a", 0), over, later], [ended("a", 0), plan("a", 1, origin="revised"), act("a")]))
    assert values["D16.failure"] == (50.0, 100, 2)


def test_a_plan_that_goes_on_after_an_interruption_is_resumed() -> None:
    def halted(*steps: Sequence[object]) -> Value:
        return measured(log([plan("a", 0, text="A"), act("a")], *steps))["D16.resume"]

    halt = StageEntered(agent="a", stage="I")
    assert halted([act("a")]) == (None, 0, 0)
    assert halted([halt, act("a")]) == (1.0, 1, 1), "let run on"
    assert halted([halt, ended("a", 0, "interrupted"), plan("a", 1, text="A"), act("a")]) == (1.0, 1, 1)
    assert halted([halt, ended("a", 0, "interrupted"), plan("a", 1, text="B"), act("a")]) == (0.0, 0, 1)
    assert halted([halt, ended("a", 0, "interrupted"), act("a")]) == (None, 0, 0), "no next plan"


def test_progress_that_is_undone_counts_against_who_undid_it() -> None:
    def moved(delta: float, *who: str) -> GoalChange:
        return GoalChange(goal="g", event="progress", delta=delta, participants=who)

    episode = gather(log([moved(0.5, "a", "b"), moved(-0.5, "a"), moved(0.5, "b")]))
    assert balance.contributions(episode) == [0.0, 0.75]
    values = balance.measure(episode)
    assert [value.value for value in values.values()] == [0.5, 0.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("events", "how"),
    [
        ([[commit("a")], [release("a")]], ""),
        ([[commit("a")], [GoalChange(goal="g", event="done", delta=1.0, participants=())], [act("a")]], ""),
        ([[GoalChange(goal="g", event="done", delta=1.0, participants=())], [commit("a")]], ".ended"),
        ([[commit("a")], [commit("a", "h")], [release("a", "h")]], ".dropped"),
        ([[commit("a")], [plan("a", 0, "h")]], ".dropped"),
        ([[commit("a")], [commit("a")]], ".ended"),
    ],
)
def test_how_commitments_end(events: list[list[Event]], how: str) -> None:
    values = measured(log(*events, goals={"g": 2, "h": 1}))
    number = values["D19"].den
    assert number == (2 if how == ".dropped" and values["D19"].value else 1)
    assert values[f"D19{how}"].num == 1


def test_an_assignment_is_agreed_when_it_stands_for_five_steps() -> None:
    def said(agent: str, kind: str) -> MessageSent:
        return MessageSent(agent=agent, id=0, recipients=(), act=kind, text="I go.", goal="g")

    early = [said("a", "inform"), said("a", "propose"), said("b", "accept"), commit("a")]
    late = [said("b", "propose"), release("a"), commit("b")]
    rest = [[act("a")]] * 4

    def cost(*steps: Sequence[object]) -> list[float | None]:
        values = measured(log(*steps))
        return [values[f"D20.{part}"].value for part in ("rounds", "messages", "tokens", "steps")]

    assert cost(early, *rest) == [1, 2, 6, 0]
    assert cost(early, *rest[1:]) == [None] * 4, "four steps are not enough"
    assert cost(early, [act("a")], late, *rest) == [2, 3, 9, 2]
    assert cost([commit("a")], *rest) == [None] * 4, "nobody proposed"


def test_churn_counts_who_is_taken_off_an_open_goal() -> None:
    done = GoalChange(goal="g", event="done", delta=1.0, participants=("a",))
    values = measured(log([commit("a")], [commit("a", "h"), commit("b")], [done], goals={"g": 2, "h": 1}))
    assert values["D21"] == (0.0, 0, 2), "it was done while the word stood"
    values = measured(log([commit("a")], [commit("a", "h")], goals={"g": 2, "h": 1}))
    assert values["D21"] == (0.5, 1, 2)
    values = measured(log([done], [commit("a")], [Release(agent="a", goal="g", cause="failed")]))
    assert values["D21"] == (0.0, 0, 1), "it was done before"
