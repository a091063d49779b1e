"""Values of small logs, worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from teamworld.metrics.definition import NULL, metrics
from teamworld.metrics.effort import contributions
from teamworld.metrics.log_reader import tabulate
from teamworld.record import EpisodeStart, Event, Predict, QuestionAsked
from tests.metrics.logs import (
    Case,
    Status,
    act,
    asked,
    attempt,
    belief_log,
    call_row,
    change,
    check,
    commit,
    ended,
    log,
    measured,
    of_cases,
    plan,
    release,
    say,
)

NOTHING = (None, 0.0, 0.0)

# ---- goals, steps and actions

GOALS = {"g": 1, "h": 1, "i": 1}


def losing(*goals: str, losable: str) -> list[Event]:
    """Return a log in which goals are lost."""
    start, *rest = log([change(goal, "lost") for goal in goals], goals=GOALS)
    assert isinstance(start, EpisodeStart)
    infos = tuple(msgspec.structs.replace(goal, losable=goal.id in losable) for goal in start.goals)
    return [msgspec.structs.replace(start, goals=infos), *rest]


def swing(texts: str, status: Status = "failed") -> list[Event]:
    return log(*([plan("a", n, text=text), act("a"), ended("a", n, status)] for n, text in enumerate(texts)))


PASSED_OVER = act("a", "g", legal=False, status="failed", spent=False)

EFFORT: list[Case] = [
    ("no goal can be lost", losing(losable=""), {"loss": NOTHING}),
    ("none is lost", losing(losable="gh"), {"loss": (0, 0, 2)}),
    ("one of two is lost", losing("g", losable="gh"), {"loss": (0.5, 1, 2)}),
    ("the log does not tell which can be lost", losing("i", losable="gh"), {"loss": NULL}),
    ("solved", log([], [change()]), {"steps_solved": (2, 2, None)}),
    ("not solved", log([], []), {"steps_solved": NULL}),
    ("a later goal is open", log([], [change()], [change("late", "opened")]), {"steps_solved": NULL}),
    ("no goals", log([], [], goals={}), {"steps_solved": NULL, "completion": None, "anytime_completion": None}),
    (
        "actions passed over were refused too",
        log([PASSED_OVER, act("a", "g"), act("b", legal=False)]),
        {"invalid_action_rate": (2 / 3, 2, 3), "invalid_share": (0.5, 1, 2)},
    ),
    (
        "who waits in place for its own goal is in sync",
        log([act("a", "g", ready="g"), act("b", "h", ready="g")], goals={"g": 2, "h": 1}),
        {"waiting_share": (0.5, 1, 2), "idle_share": (0.5, 1, 2)},
    ),
    ("plans to and fro", swing("ABABC"), {"plan_oscillation": pytest.approx(4 / 5)}),
    ("another plan", swing("ABAC"), {"plan_oscillation": 0}),
    ("the same plan", swing("AAAA"), {"plan_oscillation": 0}),
    ("plans that succeed", swing("ABAB", "success"), {"plan_oscillation": 0}),
    (
        "replanning is per agent and 100 steps",
        log(*([plan("a", n, origin=origin), act("a")] for n, origin in enumerate(("fresh", "revised", "reused")))),
        {"replanning": (100 / 3, 100, 3)},
    ),
]


def test_progress_that_is_undone_counts_against_who_undid_it() -> None:
    gains = [change("g", "progress", delta, who) for delta, who in ((0.5, "ab"), (-0.5, "a"), (0.5, "b"))]
    assert contributions(tabulate(log(gains))) == [0.0, 0.75]
    check(log(gains), {"contribution_gini": 0.5})


# ---- commitments


def committing(*steps: list[Any]) -> list[Event]:
    return log(*steps, goals={"g": 2, "h": 1})


def endings(kept: int, dropped: int, number: int) -> dict[str, Any]:
    reliability, dropping = (kept / number, kept, number), (dropped / number, dropped, number)
    return {"commitment_reliability": reliability, "commitments_dropped": dropping}


COORDINATION: list[Case] = [
    ("an agreed release", committing([commit("a")], [release("a")]), endings(1, 0, 1)),
    ("done while it held", committing([commit("a")], [change()], [act("a")]), endings(1, 0, 1)),
    ("done before", committing([change()], [commit("a")]), endings(0, 0, 1)),
    ("another goal", committing([commit("a")], [commit("a", "h")], [release("a", "h")]), endings(1, 1, 2)),
    ("a plan for another goal", committing([commit("a")], [plan("a", 0, "h")]), endings(0, 1, 1)),
    ("the same goal again", committing([commit("a")], [commit("a")]), endings(0, 0, 1)),
    ("nothing is locked once all goals are done", log([change()], *[[act("a")]] * 9), {"deadlock": 0}),
    ("nothing is locked once all goals are lost", log([change(event="lost")], *[[act("a")]] * 9), {"deadlock": 0}),
]

# ---- warnings and repairs


def expect(unmet: str | None, agent: str = "a", goal: str = "g") -> Predict:
    """Return a prediction of the next joint act: a warning, or that all will be met."""
    return Predict(agent=agent, subject="constraint", about=goal, value=unmet)


def mend(agent: str, number: int, goal: str = "g") -> Event:
    return plan(agent, number, goal, origin="revised", cause="repair")


def repairing(*steps: list[Any], **given: Any) -> list[Event]:
    return belief_log(*steps, goals={"g": 2, "h": 2}, **given)


def warned(precision: object, recall: object, f1: object) -> dict[str, Any]:
    return {"warning_precision": precision, "warning_recall": recall, "warning_f1": f1}


def repaired(share: float, won: int, number: int) -> dict[str, Any]:
    return {"repair_success": (share, won, number)}


def cost(tokens: int, steps: int) -> dict[str, Any]:
    return {"repair_tokens": (tokens, tokens, 1), "repair_steps": (steps, steps, 1)}


WARN, FINE = expect("participation"), expect(None)
WON, LOST = attempt(True), attempt(False, participation=1)
TALK = [WARN, *say("a", 1, "b", "come to me"), *say("b", 2, "b", "I come")]
OTHER = Predict(agent="a", subject="conflict", about="g", value="g")
NO_REPAIR = dict.fromkeys(("repair_success", "repair_tokens", "repair_steps"), NOTHING)

REPAIR: list[Case] = [
    ("right warning", repairing([WARN], [], [LOST], [WON]), warned((1.0, 1, 1), (1.0, 1, 1), (1.0, 2, 2))),
    ("false alarm", repairing([WARN], [], [WON], [LOST]), warned((0.0, 0, 1), NOTHING, (0.0, 0, 1))),
    ("missed", repairing([FINE], [], [LOST], [WON]), warned(NOTHING, (0.0, 0, 1), (0.0, 0, 1))),
    ("rightly quiet", repairing([FINE], [], [WON], [LOST]), warned(NOTHING, NOTHING, NOTHING)),
    (
        "each prediction counts once; the last has no attempt, and of what nobody predicted nothing is told",
        repairing([WARN, expect("temporal", "b"), LOST], [WARN, WON], [FINE, LOST], [LOST], [WARN]),
        warned((2 / 3, 2, 3), (2 / 3, 2, 3), (4 / 6, 4, 6)),
    ),
    ("another goal", repairing([expect("spatial", goal="h")], [LOST]), warned(NOTHING, NOTHING, NOTHING)),
    ("another prediction", repairing([OTHER], [LOST]), warned(NOTHING, NOTHING, NOTHING)),
    ("no prediction", repairing([LOST]), warned(NOTHING, NOTHING, NOTHING) | NO_REPAIR),
    ("repaired before", repairing([WARN], [mend("b", 0)], [WON], [FINE, LOST]), warned(NULL, NULL, NULL)),
    ("repaired after", repairing([WARN, LOST], [mend("b", 0)], [WON]), {"warning_precision": (1.0, 1, 1)}),
    (
        "level play",
        repairing([WARN], [mend("a", 0)], [WON], level="play"),
        warned(*[NULL] * 3) | {"repair_steps": NULL},
    ),
    ("the next attempt succeeds", repairing([mend("a", 0), mend("b", 1)], [WON], [LOST]), repaired(1.0, 1, 1)),
    ("the next attempt fails", repairing([mend("a", 0), mend("b", 1)], [LOST], [WON]), repaired(0.0, 0, 1)),
    ("nobody tries", repairing([mend("a", 0)], []), repaired(0.0, 0, 1)),
    ("only the last repair", repairing([WON], [mend("a", 0)], [mend("b", 1)], [WON]), repaired(0.5, 1, 2)),
    ("a goal each", repairing([mend("a", 0), mend("b", 1, "h")], [WON]), repaired(0.5, 1, 2)),
    ("no repair", repairing([plan("a", 0)], [WON]), {"repair_success": NOTHING}),
    (
        "what is said and waited from the warning on",
        repairing(
            say("a", 0, "b", "far too early"),
            TALK,
            [expect("spatial")],
            [mend("b", 0)],
            [*say("a", 3, "b", "thanks"), WON],
        ),
        cost(5, 2),
    ),
    ("b neither warned nor was repaired", repairing(TALK, [mend("a", 0)], [WON]), cost(3, 1)),
    ("no warning", repairing([mend("a", 0)], [WON]), {"repair_steps": NOTHING}),
    ("no cost of a quiet prediction", repairing([FINE], [mend("a", 0)], [WON]), {"repair_steps": NOTHING}),
    ("a warning of the attempt before", repairing([WARN, LOST], [], [mend("a", 0)], [WON]), {"repair_steps": NOTHING}),
    (
        "the warning is used up",
        repairing([WARN], [mend("a", 0)], [mend("a", 1)], [WON]),
        {"repair_steps": (1.0, 1, 1)},
    ),
]

# ---- calls

CALLS: list[Case] = [
    (
        "calls and tokens are counted, re-asks included",
        log([*asked("a", calls=2), *asked("b", prompt_tokens=300)], asked("a", prompt_tokens=130)),
        {"calls": 4, "prompt_tokens": 630, "tokens": 670, "cached_tokens": 160, "reasoning_tokens": 0}
        | {"unusable_answers": (1 / 4, 1, 4)},
    ),
    (
        "a sum with an unknown part is unknown",
        log([*asked("a"), *asked("b", output_tokens=None)]),
        {"output_tokens": None, "tokens": None, "prompt_tokens": 200},
    ),
    (
        "rules take no calls and have no tokens",
        log([QuestionAsked(agent="a", purpose="plan", reasoner="rules", answer={})]),
        dict.fromkeys(name for name, metric in metrics().items() if (metric.section, metric.basis) == ("Cost", "log"))
        | {"calls": 0},
    ),
]


@of_cases([*EFFORT, *COORDINATION, *REPAIR, *CALLS])
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
    assert values["latency_p50"] == (2.0, None, 2)
    assert values["latency_p95"].value == pytest.approx(2.9)
    assert measured(log(asked("a")))["latency_p50"].value is None
