"""Headline numbers of small logs, against values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import msgspec
import pytest
from hypothesis import given

from teamworld.metrics.summary import Rate, Summary, summarise
from teamworld.record import (
    AnswerError,
    AttemptMade,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    MessageSent,
    PlanEnd,
    QuestionAsked,
    StageEntered,
    StepDone,
)
from tests.metrics.logs import episode_start, goal_info, measured
from tests.metrics.strategies import logs


def start(weights: dict[str, float], horizon: int = 10) -> EpisodeStart:
    goals = [goal_info(name, weight=weight, exclusive=False) for name, weight in weights.items()]
    return episode_start(goals, horizon=horizon)


def steps(
    ticks: Sequence[int], done: dict[int, Sequence[str]] | None = None, reward: Sequence[float] = ()
) -> list[Event]:
    """Steps of the world of so many ticks each; the goals done in a step come before its end, as in a log."""
    events: list[Event] = []
    tick = 0
    for step, length in enumerate(ticks):
        for goal in (done or {}).get(step, ()):
            events.append(GoalChange(goal=goal, event="done", delta=1.0, participants=("a",), step=step, tick=tick))
        score = {"reward": reward[step], "other": 99.0} if reward else {}
        events.append(StepDone(ticks=length, score=score, step=step, tick=tick))
        tick += length
    return events


def end(tick: int, reason: Literal["all_done", "horizon", "quit"] = "horizon") -> EpisodeEnd:
    return EpisodeEnd(reason=reason, tick=tick)


def attempt(k: int, success: bool) -> AttemptMade:
    have, need = {"participation": k if success else k - 1}, {"participation": k}
    return AttemptMade(goal="g", k=k, have=have, need=need, participants=("a", "b"), success=success)


def plan_end(number: int, status: Literal["success", "failed", "superseded", "unfinished"]) -> PlanEnd:
    return PlanEnd(
        agent="a", plan=number, goal="g", status=status, cause="", actions_done=1, goal_done=False, units_left=0
    )


def question(errors: tuple[str, ...] = (), fallback: bool = False) -> QuestionAsked:
    return QuestionAsked(
        agent="a",
        purpose="plan",
        reasoner="rules",
        answer={},
        errors=tuple(AnswerError(flaw="json", text=text) for text in errors),
        fallback=fallback,
    )


def message(number: int) -> MessageSent:
    return MessageSent(agent="a", id=number, recipients=("b",), act="inform", text="hello", goal=None)


def summarised(log: Sequence[Event]) -> Summary:
    """Return the headline numbers of a log whose records say where they stand."""
    placed, step, tick = list[Event](), 0, 0
    for seq, event in enumerate(log):
        placed.append(msgspec.structs.replace(event, seq=seq, step=step, tick=tick))
        if isinstance(event, StepDone):
            step, tick = step + 1, tick + event.ticks
    return summarise(placed)


def test_the_golden_example() -> None:
    """The block world: g1 of weight 1 is done in step 2, g2 of weight 2 in step 5, of a horizon of 10."""
    made = steps([1] * 6, {2: ["g1"], 5: ["g2"]})
    at = {step: index for index, step in reversed([(i, e.step) for i, e in enumerate(made)])}
    log: list[Event] = [start({"g1": 1.0, "g2": 2.0}), *made[: at[1]], message(0), *made[at[1] : at[2]]]
    log += [attempt(2, False), *made[at[2] : at[5]], attempt(2, True), *made[at[5] :]]
    log += [plan_end(0, "success"), plan_end(1, "success"), plan_end(2, "success"), end(6, "all_done")]
    summary = summarised(log)
    assert summary.success is True
    assert summary.completion == 1.0
    assert summary.steps == 6
    assert summary.anytime == pytest.approx(0.60)
    assert summary.attempts == Rate(1, 2)
    assert summary.attempts.value == 0.5
    assert summary.plans == Rate(3, 3)
    assert summary.messages == 1
    assert summary.done == {"g1": 3, "g2": 6}
    assert summary.reason == "all_done"


def test_completion_is_by_weight() -> None:
    summary = summarised([start({"a": 1.0, "b": 2.0, "c": 5.0}), *steps([1, 1], {0: ["a"], 1: ["c"]}), end(2, "quit")])
    assert summary.completion == pytest.approx(6 / 8)
    assert summary.success is False
    assert summary.done == {"a": 1, "b": None, "c": 2}
    assert summary.reason == "quit"


def test_only_done_is_done() -> None:
    changes: list[Event] = [
        GoalChange(goal="a", event=event, delta=0.9, participants=()) for event in ("opened", "progress", "lost")
    ]
    summary = summarised([start({"a": 1.0}), *changes, *steps([1] * 10), end(10)])
    assert (summary.completion, summary.success, summary.anytime) == (0.0, False, 0.0)
    assert summary.done == {"a": None}


def test_completion_counts_from_the_tick_that_reached_it() -> None:
    """C(t) is that after tick t: a goal done in tick 3 of 0 to 9 counts for 7 of them."""
    summary = summarised([start({"a": 1.0, "b": 3.0}), *steps([1] * 10, {3: ["a"]}), end(10)])
    assert summary.anytime == pytest.approx(0.25 * 7 / 10)


def test_an_early_end_holds_the_last_value() -> None:
    """Quit after 4 of 10 ticks with a quarter done in tick 1: it counts for ticks 1 to 9."""
    summary = summarised([start({"a": 1.0, "b": 3.0}), *steps([1] * 4, {1: ["a"]}), end(4, "quit")])
    assert summary.anytime == pytest.approx(0.25 * 9 / 10)
    assert summary.steps == 4


def test_steps_of_many_ticks() -> None:
    """Ticks 0-4, 5-7, 8-19: a done in tick 7, b in tick 19 of a horizon of 20."""
    log = [start({"a": 1.0, "b": 1.0}, horizon=20), *steps([5, 3, 12], {1: ["a"], 2: ["b"]}), end(20, "all_done")]
    summary = summarised(log)
    assert summary.steps == 3
    assert summary.done == {"a": 8, "b": 20}
    assert summary.completion == 1.0
    assert summary.anytime == pytest.approx((0.5 * 12 + 1.0) / 20)  # half in ticks 7 to 18, all in tick 19


def test_no_goals_is_no_number() -> None:
    summary = summarised([start({}), *steps([1, 1]), end(2)])
    assert summary.completion is None
    assert summary.success is None
    assert summary.anytime is None
    assert summary.done == {}
    assert summary.steps == 2


def test_rewards_are_summed() -> None:
    summary = summarised([start({"a": 1.0}), *steps([1, 1, 1], reward=[-0.1, -0.1, 2.3]), end(3)])
    assert summary.reward == 2.1  # exactly: no 2.0999999999999996
    assert summarised([start({"a": 1.0}), *steps([1, 1]), end(2)]).reward == 0.0


def test_plans_and_joint_acts_keep_what_they_are_a_share_of() -> None:
    log: list[Event] = [start({"a": 1.0}), attempt(2, True), attempt(3, False), attempt(2, False), attempt(4, False)]
    log += [attempt(1, True), attempt(1, False), attempt(1, True)]  # nobody else needed: no joint act
    log += [plan_end(0, "success"), plan_end(1, "failed"), plan_end(2, "superseded"), plan_end(3, "unfinished")]
    log += [plan_end(4, "success"), *steps([1]), end(1)]
    summary = summarised(log)
    assert summary.attempts == Rate(1, 4)
    assert summary.attempts.value == 0.25
    assert summary.plans == Rate(2, 5)
    assert summary.plans.value == 0.4


def test_nothing_to_count_is_none() -> None:
    summary = summarised([start({"a": 1.0}), attempt(1, True), *steps([1]), end(1)])
    assert (summary.attempts, summary.plans) == (Rate(0, 0), Rate(0, 0))
    assert summary.attempts.value is None
    assert summary.plans.value is None
    assert Rate(0, 3).value == 0.0


def test_messages_and_questions() -> None:
    log: list[Event] = [start({"a": 1.0}), StageEntered(agent="a", stage="R"), message(0), message(1), message(2)]
    log += [question(), question(("no such goal",)), question(("not JSON", "too long"), fallback=True)]
    summary = summarised([*log, *steps([1]), end(1)])
    assert summary.messages == 3
    assert (summary.questions, summary.re_asked, summary.fallbacks) == (3, 3, 1)
    quiet = summarised([start({"a": 1.0}), *steps([1]), end(1)])
    assert (quiet.messages, quiet.questions, quiet.re_asked, quiet.fallbacks) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "log", [[], [start({"a": 1.0}), *steps([1, 1])], [*steps([1]), end(1)]], ids=["empty", "no end", "no start"]
)
def test_an_unfinished_log_has_no_summary(log: list[Event]) -> None:
    with pytest.raises(ValueError, match="unfinished"):
        summarised(log)


@given(logs)
def test_headline_numbers_are_the_metrics_of_these_names(log: list[Event]) -> None:
    summary, values = summarised(log), measured(log)
    told = {
        "success": None if summary.success is None else float(summary.success),
        "completion": summary.completion,
        "anytime_completion": summary.anytime,
        "steps": summary.steps,
        "messages": summary.messages,
        "joint_success": summary.attempts.value,
        "plan_success": summary.plans.value,
    }
    assert told == {name: values[name].value for name in told}


@given(logs)
def test_completion_and_its_mean_over_ticks_are_what_the_slow_way_finds(log: list[Event]) -> None:
    first = log[0]
    assert isinstance(first, EpisodeStart)
    weights = {goal.id: Fraction(goal.weight) for goal in first.goals}
    total, reached = sum(weights.values(), Fraction()), Fraction()
    after: list[Fraction] = []  # C after each tick
    fresh = Fraction()
    for event in log:
        if isinstance(event, GoalChange) and event.event == "done":
            fresh += weights.get(event.goal, 0)
        if isinstance(event, StepDone):
            after += [reached] * (event.ticks - 1) + [reached + fresh]
            reached, fresh = reached + fresh, Fraction()
    after = (after + [reached] * first.horizon)[: first.horizon]
    summary = summarised(log)
    assert summary.completion == (pytest.approx(float(reached / total)) if total else None)
    some = total and first.horizon
    assert summary.anytime == (pytest.approx(float(sum(after) / total / first.horizon)) if some else None)
