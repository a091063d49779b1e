"""Values of small logs, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.coordination import deadlocks
from teamworld.metrics.definition import metrics
from teamworld.metrics.effort import contributions
from teamworld.metrics.log_reader import tabulate
from teamworld.record import Event, QuestionAsked
from tests.metrics.logs import (
    Case,
    act,
    asked,
    call_row,
    change,
    check,
    commit,
    log,
    measured,
    of_cases,
    plan,
    release,
)

NOTHING = (None, 0.0, 0.0)

# ---- goals, steps and actions

GOALS = {"g": 1, "h": 1, "i": 1}


PASSED_OVER = act("a", "g", legal=False, status="failed", spent=False)

EFFORT: list[Case] = [
    ("no goals", log([], [], goals={}), {"completion": None, "anytime_completion": None}),
    (
        "an episode that ends with a goal lost counts its limit of steps, not those until the loss",
        log([act("a", "g")], [change(event="lost")], goals={"g": 1}),
        {"steps": (100, 100, None)},
    ),
    (
        "an episode whose goals are done counts the steps until then",
        log([act("a", "g")], [change()], goals={"g": 1}),
        {"steps": (2, 2, None)},
    ),
    (
        "actions passed over were refused too",
        log([PASSED_OVER, act("a", "g"), act("b", legal=False)]),
        {"invalid_action_rate": (2 / 3, 2, 3)},
    ),
    (
        "who waits in place for its own goal is in sync",
        log([act("a", "g", ready="g"), act("b", "h", ready="g")], goals={"g": 2, "h": 1}),
        {"waiting_share": (0.5, 1, 2), "idle_share": (0.5, 1, 2)},
    ),
]


def test_nothing_is_locked_once_all_goals_are_done_or_lost() -> None:
    still = [[act("a")]] * 9
    assert deadlocks(tabulate(log(*still))) == [(0, 9)]
    assert deadlocks(tabulate(log([change()], *still))) == []
    assert deadlocks(tabulate(log([change(event="lost")], *still))) == []


def test_progress_that_is_undone_counts_against_who_undid_it() -> None:
    gains = [change("g", "progress", delta, who) for delta, who in ((0.5, "ab"), (-0.5, "a"), (0.5, "b"))]
    assert contributions(tabulate(log(gains))) == [0.0, 0.75]
    check(log(gains), {"contribution_gini": 0.5})


# ---- commitments


def committing(*steps: list[Any]) -> list[Event]:
    return log(*steps, goals={"g": 2, "h": 1})


def reliability(kept: int, number: int) -> dict[str, Any]:
    return {"commitment_reliability": (kept / number, kept, number)}


COORDINATION: list[Case] = [
    ("an agreed release", committing([commit("a")], [release("a")]), reliability(1, 1)),
    ("done while it held", committing([commit("a")], [change()], [act("a")]), reliability(1, 1)),
    ("done before", committing([change()], [commit("a")]), reliability(0, 1)),
    ("another goal", committing([commit("a")], [commit("a", "h")], [release("a", "h")]), reliability(1, 2)),
    ("a plan for another goal", committing([commit("a")], [plan("a", 0, "h")]), reliability(0, 1)),
    ("the same goal again", committing([commit("a")], [commit("a")]), reliability(0, 1)),
]

# ---- calls

CALLS: list[Case] = [
    (
        "calls and tokens are counted, re-asks included",
        log([*asked("a", calls=2), *asked("b", prompt_tokens=300)], asked("a", prompt_tokens=130)),
        {"calls": 4, "tokens": 670, "unusable_answers": (1 / 4, 1, 4)},
    ),
    (
        "a sum with an unknown part is unknown",
        log([*asked("a"), *asked("b", output_tokens=None)]),
        {"output_tokens": None, "tokens": None},
    ),
    (
        "rules take no calls and have no tokens",
        log([QuestionAsked(agent="a", purpose="plan", reasoner="rules", answer={})]),
        dict.fromkeys(name for name, metric in metrics().items() if metric.section == "Cost") | {"calls": 0},
    ),
]


@of_cases([*EFFORT, *COORDINATION, *CALLS])
def test_a_value_is_what_it_was_worked_out_to_be(events: list[Event], expected: dict[str, Any]) -> None:
    check(events, expected)


@pytest.mark.parametrize(
    ("calls", "dollars"),
    [
        ([call_row(), call_row(usd=0.25)], 0.75),
        ([call_row(), call_row(usd=None)], None),
        ([call_row(), call_row(usd=None, finish=None)], 0.5),
        ([call_row(usd=None, cached=True)], 0),
        (None, None),
    ],
    ids=["all priced", "one without a price", "no answer, no price", "from a cache", "no record"],
)
def test_dollars_need_a_price_for_every_answer(calls: Any, dollars: float | None) -> None:  # noqa: ANN401
    assert measured(log([*asked("a"), *asked("b")]), calls)["cost_usd"].value == dollars


def test_seconds_of_an_episode_are_those_of_its_decisions() -> None:
    waited = [call_row(seconds=1.0), call_row(seconds=3.0, number=2), call_row(seconds=9.0, number=3, cached=True)]
    values = measured(log(asked("a")), waited)
    assert values["latency_p95"].value == pytest.approx(2.9)
    assert values["latency_p95"][1:] == (None, 2)
    assert measured(log(asked("a")))["latency_p95"].value is None
