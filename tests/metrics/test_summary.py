"""Headline numbers: those that are metrics, and what else a table shows of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given

from teamworld.metrics.all_metrics import measure
from teamworld.metrics.log_reader import tabulate
from teamworld.metrics.summary import Rate, Summary, summarise
from teamworld.record import (
    AnswerError,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    HeadlineInfo,
    QuestionAsked,
    StepDone,
)
from tests.metrics.logs import attempt, change, ended, log, measured, say
from tests.metrics.strategies import logs


def summarised(*steps: Sequence[Event], ticks: Sequence[int] = (), weights: Sequence[float] = (1.0, 3.0)) -> Summary:
    """Return the headline numbers of an episode: goals ``a``, ``b``, ... have weights, steps have ticks."""
    start, *events = log(*steps, goals={name: 1 for name, _ in zip("abc", weights, strict=False)}, horizon=20)
    assert isinstance(start, EpisodeStart)
    goals = tuple(
        msgspec.structs.replace(goal, weight=weight) for goal, weight in zip(start.goals, weights, strict=True)
    )
    placed: list[Event] = [msgspec.structs.replace(start, goals=goals)]
    tick = 0
    for event in events:
        longer = msgspec.structs.replace(event, tick=tick)
        if isinstance(longer, StepDone) and ticks:
            longer = msgspec.structs.replace(longer, ticks=ticks[longer.step])
        placed.append(longer)
        tick += longer.ticks if isinstance(longer, StepDone) else 0
    return summarise(placed)


def test_completion_is_by_weight_and_only_done_is_done() -> None:
    changes = [change("b", "opened"), change("b", "progress", 0.9), change("b", "lost")]
    summary = summarised([change("a")], changes, [change("c")], weights=(1.0, 2.0, 5.0))
    assert (summary.completion, summary.success) == (6 / 8, False)
    assert summary.done == {"a": 1, "b": None, "c": 3}


def test_completion_counts_from_the_last_tick_of_its_step_and_holds_after_an_early_end() -> None:
    """Ticks 0-4, 5-7, 8-17: a is done in tick 7, b in tick 17 of a horizon of 20."""
    summary = summarised([], [change("a")], [change("b")], ticks=(5, 3, 10))
    assert summary.steps == 18
    assert summary.done == {"a": 8, "b": 18}
    assert summary.anytime == pytest.approx((0.25 * 10 + 1.0 * 3) / 20)


def test_no_goals_is_no_number() -> None:
    summary = summarised([], [], weights=())
    assert (summary.completion, summary.success, summary.anytime, summary.done) == (None, None, None, {})


def test_rewards_are_summed() -> None:
    events = log([], [], [])
    scores = iter((-0.1, -0.1, 2.3))
    scored = [
        msgspec.structs.replace(event, score={"reward": next(scores), "other": 99.0})
        if isinstance(event, StepDone)
        else event
        for event in events
    ]
    assert summarise(scored).reward == 2.1  # exactly: no 2.0999999999999996
    assert summarise(events).reward == 0.0


@pytest.mark.parametrize(
    ("lost", "idle", "prevented"),
    [
        ((-10.0, -20.0), {"reward": -120.0}, 0.75),
        ((-30.0,), {"reward": -20.0}, -0.5),
        ((-120.0,), {"reward": -120.0}, 0.0),
        ((0.0,), {"reward": 0.0}, None),
        ((5.0,), {"reward": -1.0}, None),
        ((-5.0,), None, None),
    ],
)
def test_damage_prevented_by_hand(
    lost: tuple[float, ...], idle: dict[str, float] | None, prevented: float | None
) -> None:
    points = iter(lost)
    events = [
        msgspec.structs.replace(event, score={"reward": next(points), "area_burnt": 7.0})
        if isinstance(event, StepDone)
        else msgspec.structs.replace(event, idle=msgspec.UNSET if idle is None else idle)
        if isinstance(event, EpisodeEnd)
        else event
        for event in log(*([] for _ in lost))
    ]
    values = measure(tabulate(events))
    assert (values["damage_prevented"].value, values["area_burnt"].value) == (prevented, 7.0)


def test_a_level_without_completion_in_its_headline_knows_no_success() -> None:
    info = HeadlineInfo(metric="world_score", unit="points", better="high", definition="what is left")
    usual = log([change("g")])
    start = usual[0]
    assert isinstance(start, EpisodeStart)
    other = summarise([msgspec.structs.replace(start, headline=(info,)), *usual[1:]])
    assert [part.metric for part in summarise(usual).headline] == ["completion", "steps"]
    assert (summarise(usual).success, summarise(usual).has_success) == (True, True)
    assert (other.success, other.has_success, other.completion) == (None, False, 1.0)
    values = measure(tabulate([msgspec.structs.replace(start, headline=(info,)), *usual[1:]]))
    assert [values[name].value for name in ("success", "completion")] == [None, 1.0]
    assert [part.metric for part in other.headline] == ["world_score"]


def test_plans_and_joint_acts_keep_what_they_are_a_share_of() -> None:
    attempts = [attempt(k == 2, k) for k in (2, 3, 4, 4)] + [attempt(True, 1), attempt(False, 1)]
    plans = [ended("a", 0, "success"), ended("a", 1), ended("a", 2, "superseded"), ended("a", 3, "unfinished")]
    summary = summarised([*attempts, *plans])
    assert (summary.attempts, summary.attempts.value) == (Rate(1, 4), 0.25)  # where nobody else is needed: no joint act
    assert (summary.plans, summary.plans.value) == (Rate(1, 4), 0.25)
    nothing = summarised([attempt(True, 1)])
    assert (nothing.attempts, nothing.plans) == (Rate(0, 0), Rate(0, 0))
    assert nothing.attempts.value is None
    assert Rate(0, 3).value == 0.0


def test_messages_and_questions() -> None:
    def question(*errors: str, fallback: bool = False) -> QuestionAsked:
        flaws = tuple(AnswerError(flaw="json", text=text) for text in errors)
        return QuestionAsked(agent="a", purpose="plan", reasoner="r", answer={}, errors=flaws, fallback=fallback)

    asked = [question(), question("no such goal"), question("not JSON", "too long", fallback=True)]
    summary = summarised([*say("a", 0), *say("a", 1), *asked])
    assert (summary.messages, summary.questions, summary.re_asked, summary.fallbacks) == (2, 3, 3, 1)
    quiet = summarised([])
    assert (quiet.messages, quiet.questions, quiet.re_asked, quiet.fallbacks) == (0, 0, 0, 0)


@pytest.mark.parametrize("cut", [slice(0, 0), slice(0, -1), slice(1, None)], ids=["empty", "no end", "no start"])
def test_an_unfinished_log_has_no_summary(cut: slice) -> None:
    with pytest.raises(ValueError, match="unfinished"):
        summarise(log([], [])[cut])


@given(logs)
def test_headline_numbers_are_the_metrics_of_these_names(events: list[Event]) -> None:
    summary, values = summarise(events), measured(events)
    assert isinstance(events[0], EpisodeStart)
    told = {
        "success": None if summary.success is None else float(summary.success),
        "completion": summary.completion,
        "anytime_completion": summary.anytime,
        "steps": events[0].horizon if summary.success is False else summary.steps,
        "messages": summary.messages,
        "joint_success": summary.attempts.value,
        "plan_success": summary.plans.value,
    }
    assert told == {name: values[name].value for name in told}


@given(logs)
def test_completion_and_its_mean_over_ticks_are_what_the_slow_way_finds(events: list[Event]) -> None:
    first = events[0]
    assert isinstance(first, EpisodeStart)
    weights = {goal.id: Fraction(goal.weight) for goal in first.goals}
    total, reached = sum(weights.values(), Fraction()), Fraction()
    after: list[Fraction] = []  # C after each tick
    fresh = Fraction()
    for event in events:
        if isinstance(event, GoalChange) and event.event == "done":
            fresh += weights.get(event.goal, 0)
        if isinstance(event, StepDone):
            after += [reached] * (event.ticks - 1) + [reached + fresh]
            reached, fresh = reached + fresh, Fraction()
    after = (after + [reached] * first.horizon)[: first.horizon]
    summary = summarise(events)
    assert summary.completion == (pytest.approx(float(reached / total)) if total else None)
    some = total and first.horizon
    assert summary.anytime == (pytest.approx(float(sum(after) / total / first.horizon)) if some else None)
