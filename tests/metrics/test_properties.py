"""What holds of every metric of a log: ranges, nulls, sums, names, and prefixes of a log.

Each property goes over all metrics of an episode, or over a table of ids that is itself checked: who adds a metric has
to say here how it behaves. What single metrics are is tested elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.metrics.definition import Value, logged_metrics, metrics, pool_all
from teamworld.metrics.event_table import CallRow
from teamworld.record import (
    ActionStep,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    LlmCall,
    MessageSent,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    Release,
    StepDone,
)
from tests.metrics.beliefs import belief_log, enriched
from tests.metrics.logs import call_row, check_ranges, measured
from tests.metrics.logs import log as by_hand
from tests.metrics.strategies import GOALS, NAMES, SURPRISE, logs, made

UNMET = [f"unmet_{name}" for name in ("dependency", "capability", "participation", "spatial", "temporal")]
TOKENS = ["tokens", "output_tokens"]
IDS = logged_metrics()


class Run(NamedTuple):
    """An episode: its log, and its calls on record."""

    log: Sequence[Event]
    calls: Sequence[CallRow]


def billed(log: Sequence[Event], rng: Random) -> Run:
    """Return the log with seconds and dollars for each of its calls."""
    asked: Counter[tuple[str, str]] = Counter()
    rows = []
    for event in log:
        if isinstance(event, LlmCall):
            number = asked[event.agent, event.purpose] + 1
            place = {"respondent": event.agent, "purpose": event.purpose, "number": number}
            rows.append(call_row(**place, seconds=rng.random(), usd=rng.random() / 100))
        elif isinstance(event, QuestionAsked):
            asked[event.agent, event.purpose] += 1
    return Run(log, rows)


def told(run: Run) -> dict[str, Value]:
    return measured(run.log, run.calls)


_RANDOM = st.integers(0, 10**9).map(Random)
runs: st.SearchStrategy[Run] = st.builds(billed, logs | st.builds(enriched, logs, _RANDOM), _RANDOM)


@cache
def numbered(seed: int) -> Run:
    """Return a run that is always the same; every other one at the log level of beliefs, some of them longer."""
    rng, steps = Random(seed), 40 if seed % 6 > 3 else 16
    return billed(made(rng, goals=seed % 5, steps=steps) if seed % 2 else belief_log(rng, steps), rng)


def some_runs(number: int = 120) -> Iterator[Run]:
    """Yield so many runs, always the same."""
    return map(numbered, range(number))


@cache
def with_values() -> frozenset[str]:
    """Return the metrics that have a value other than 0 in some of the runs that are always the same."""
    return frozenset(name for run in some_runs() for name, value in told(run).items() if value.value)


# ---- ranges


@pytest.mark.heavy
@settings(max_examples=50)
@given(runs)
def test_every_metric_is_told_in_its_range_with_what_it_is_made_of(run: Run) -> None:
    values = told(run)
    assert list(values) == IDS
    check_ranges(values)
    for name, (value, num, den) in values.items():
        if den is not None:
            assert den >= 0, name
        if num is not None:
            assert num >= 0 or metrics()[name].low != 0, name
            assert value == (num if den is None else num / den if den else None), name


def test_every_metric_has_a_value_in_some_run() -> None:
    """Or the properties say nothing about it."""
    assert set(IDS) == with_values()


# ---- nulls


@pytest.mark.heavy
@settings(max_examples=50)
@given(runs)
def test_what_is_made_of_nothing_is_null_and_what_is_null_is_made_of_nothing(run: Run) -> None:
    for name, (value, num, den) in told(run).items():
        if den is not None:
            assert (value is None) == (den == 0), name
        else:
            assert value == num, f"{name}: a value without denominator is a count"


def test_an_empty_episode_has_counts_of_0_and_nothing_else() -> None:
    zero = ("messages", "message_tokens", "calls")
    for goals in ({}, {"g": 2}):
        values = measured(by_hand(goals=goals), [])
        known = {name: value.value for name, value in values.items() if value.value is not None}
        assert known.pop("steps") == (100 if goals else 0), "nothing was done: the limit counts"
        announced = ("success", "completion", "anytime_completion", "attempt_coverage") if goals else ()
        assert known == dict.fromkeys((*zero, *announced), 0.0)


#: What is null where a log has no records of some kinds.
NEEDS: Mapping[tuple[type[Any], ...], set[str]] = {
    (ActionStep,): {
        *("work_share", "waiting_share", "idle_share", "invalid_action_rate", "duplicate_work", "duplicate_search"),
        "spatial_conflict",
    },
    (AttemptMade,): {"joint_success", *UNMET},
    (Believe,): {"belief_f1", "misled_failures", "first_order_accuracy"},
    (Commit, Release): {"commitment_reliability"},
    (GoalChange,): {"contribution_gini"},
    (LlmCall,): {*TOKENS, "message_generation_tokens", "unusable_answers"},
    (MessageSent, Deliver): {"redundancy", "uptake"},
    (PlanStart, PlanEnd): {"plan_success", "plan_reuse"},
}


@pytest.mark.parametrize("kinds", NEEDS, ids=lambda kinds: kinds[0].__name__)
def test_without_the_records_that_it_is_made_of_a_metric_is_null(kinds: tuple[type[Any], ...]) -> None:
    for run in some_runs():
        kept = [event for event in run.log if not isinstance(event, kinds)]
        kept = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(kept)]
        if StepDone in kinds:
            kept = [msgspec.structs.replace(event, step=0, tick=0) for event in kept]
        values = told(Run(kept, run.calls))
        assert {name: values[name].value for name in NEEDS[kinds]} == dict.fromkeys(NEEDS[kinds])
    assert NEEDS[kinds] <= with_values()


def test_without_calls_on_record_seconds_and_dollars_are_null() -> None:
    for run in some_runs():
        values = measured(run.log)
        assert {values[name] for name in ("cost_usd", "latency_p95")} == {(None, None, None)}


def test_at_the_log_level_of_play_what_tells_beliefs_is_null() -> None:
    for run in some_runs():
        start = run.log[0]
        assert isinstance(start, EpisodeStart)
        if start.log_level == "play":
            values = told(run)
            second = {name for name in IDS if metrics()[name].needs == "beliefs"}
            assert {name: values[name].value for name in second} == dict.fromkeys(second)


# ---- sums


@pytest.mark.heavy
@settings(max_examples=50)
@given(st.lists(runs, min_size=2, max_size=3))
def test_pooled_rates_are_the_ratio_of_sums_and_pooled_quantities_the_mean(some: list[Run]) -> None:
    each = [told(run) for run in some]
    for name, whole in pool_all(each).items():
        values = [values[name] for values in each]
        known = [Fraction(value.value) for value in values if value.value is not None]
        num, den = sum(known, Fraction()), Fraction(len(known))
        if metrics()[name].pooling == "micro":
            num, den = (sum((Fraction(value[part] or 0) for value in values), Fraction()) for part in (1, 2))
        assert (whole.num, whole.den) == (float(num), float(den)), name
        assert whole.value == (pytest.approx(float(num / den), rel=1e-12) if den else None), name
        assert (whole.n, whole.nulls) == (len(known), len(values) - len(known)), name
    assert pool_all(each[::-1]) == pool_all(each)


#: Parts of one whole, their denominator.
PARTS: Mapping[str, set[str]] = {
    "step classes": {f"{name}_share" for name in ("work", "waiting", "idle")},
    "first unmet constraint": set(UNMET),
}


@pytest.mark.parametrize("family", PARTS)
@settings(max_examples=50)
@given(run=runs)
def test_parts_of_a_whole_are_no_more_than_it(family: str, run: Run) -> None:
    values = told(run)
    parts = [values[name] for name in PARTS[family]]
    (whole,) = {part.den for part in parts}
    assert sum((Fraction(part.num or 0) for part in parts), Fraction()) <= Fraction(whole or 0)


#: Numerators and denominators that add up where one log follows another: they count events, or agents' steps.
ADDITIVE = {
    *PARTS["step classes"],
    *UNMET,
    *TOKENS,
    *("invalid_action_rate", "joint_success", "plan_success", "calls", "cost_usd", "unusable_answers"),
    *("world_score", "messages", "message_tokens", "spatial_conflict"),
}


def joined(one: Run, other: Run) -> Run:
    """Return an episode that goes on as the other did, with the first one's team and goals."""
    steps = sum(isinstance(event, StepDone) for event in one.log)
    ticks = sum(event.ticks for event in one.log if isinstance(event, StepDone))
    plans = sum(isinstance(event, PlanStart) for event in one.log)
    messages = sum(isinstance(event, MessageSent) for event in one.log)
    events: list[Any] = list(one.log[:-1])
    for event in other.log[1:]:
        moved = _renumbered(event, lambda plan: plan + plans, lambda message: message + messages)
        events.append(msgspec.structs.replace(moved, step=event.step + steps, tick=event.tick + ticks))
    asked = Counter((event.agent, event.purpose) for event in one.log if isinstance(event, QuestionAsked))
    calls = [row._replace(number=row.number + asked[row.respondent, row.purpose]) for row in other.calls]
    log = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]
    return Run(log, [*one.calls, *calls])


def _renumbered(event: Event, plan: Callable[[int], int], message: Callable[[int], int]) -> Event:
    change: dict[str, Any] = {}
    if isinstance(event, PlanStart | PlanEnd | ActionStep) and event.plan is not None:
        change["plan"] = plan(event.plan)
    if isinstance(event, MessageSent):
        change["id"] = message(event.id)
        change["reply_to"] = None if event.reply_to is None else message(event.reply_to)
    if isinstance(event, Deliver):
        change["message"] = message(event.message)
    return msgspec.structs.replace(event, **change)


#: Two runs of the same team, with goals of the same names.
pairs: st.SearchStrategy[list[Run]] = st.builds(
    lambda rngs, agents, goals, steps: [billed(made(rng, agents, goals, steps), rng) for rng in rngs],
    st.lists(st.integers(0, 10**9).map(Random), min_size=2, max_size=2),
    st.integers(1, 4),
    st.integers(0, 4),
    st.integers(0, 12),
)


@pytest.mark.heavy
@settings(max_examples=60)
@given(pairs)
def test_counts_of_an_episode_that_goes_on_add_up(pair: list[Run]) -> None:
    one, other = (told(run) for run in pair)
    both = told(joined(pair[0], pair[1]))
    for name in ADDITIVE:
        for part in (1, 2):
            parts = [values[name][part] for values in (one, other)]
            if None not in parts:
                assert both[name][part] == pytest.approx(sum(number or 0 for number in parts), rel=1e-12), name


# ---- names


def renamed(
    run: Run, names: Mapping[str, str], number: Callable[[int], int], order: Callable[[Sequence[Any]], list[Any]]
) -> Run:
    """Return the run with other names, other numbers of plans and messages, and agents and goals in another order."""

    def change(value: Any) -> Any:  # noqa: ANN401 - plain values, as msgspec makes them
        if isinstance(value, str):
            value = re.sub(r"(?<=^message:)\d+", lambda found: str(number(int(found[0]))), value)
            return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), value)
        if isinstance(value, dict):
            return {change(key): change(one) for key, one in value.items()}
        return [change(one) for one in value] if isinstance(value, list | tuple) else value

    log: list[Any] = []
    for event in run.log:
        again = _renumbered(msgspec.convert(change(msgspec.to_builtins(event)), type(event)), number, number)
        if isinstance(again, EpisodeStart):
            again = msgspec.structs.replace(again, team=tuple(order(again.team)), goals=tuple(order(again.goals)))
        log.append(again)
    return Run(log, [row._replace(respondent=change(row.respondent)) for row in run.calls])


def _bijection(old: Sequence[str], stem: str, *, kept: bool) -> dict[str, str]:
    """Return new names that sort as the old ones do, or the other way round."""
    new = [f"{stem}{at}" for at in range(len(old))]
    return dict(zip(sorted(old), new if kept else new[::-1], strict=True))


@pytest.mark.heavy
@pytest.mark.parametrize("kept", [True, False], ids=["order kept", "order turned"])
@pytest.mark.parametrize("what", ["agents", "goals", "numbers", "all"])
@settings(max_examples=25)
@given(run=runs)
def test_names_and_numbers_do_not_matter(what: str, kept: bool, run: Run) -> None:
    """Names of agents and goals, their order at the start, numbers of plans and messages: alone and together."""
    names: dict[str, str] = {}
    if what in ("agents", "all"):
        names |= _bijection(NAMES, "unit_", kept=kept)
    if what in ("goals", "all"):
        names |= _bijection((*GOALS, SURPRISE), "z_", kept=kept)
    numbers: Callable[[int], int] = (lambda old: 3 * old + 7) if kept else (lambda old: 10_000 - old)
    other = renamed(
        run,
        names,
        numbers if what in ("numbers", "all") else lambda old: old,
        list if kept else lambda some: list(some)[::-1],
    )
    assert told(other) == told(run)


# ---- prefixes

#: Values that never fall while an episode goes on: what is done stays done, what is counted stays counted.
GROWING = {
    *("completion", "anytime_completion", "attempt_coverage", "cost_usd"),
    *("messages", "message_tokens", "message_generation_tokens", "calls", *TOKENS),
}


def prefixes(run: Run) -> Iterator[Run]:
    """Yield the run as it would stand had it ended after each of its steps; calls are those of the questions so far."""
    asked: Counter[tuple[str, str]] = Counter()
    for at, event in enumerate(run.log):
        if isinstance(event, QuestionAsked):
            asked[event.agent, event.purpose] += 1
        if isinstance(event, StepDone):
            tick = event.tick + event.ticks
            end = EpisodeEnd(reason="horizon", seq=at + 1, step=event.step + 1, tick=tick)
            rows = [row for row in run.calls if row.number <= asked[row.respondent, row.purpose]]
            yield Run([*run.log[: at + 1], end], rows)


def falls(run: Run) -> set[str]:
    """Return the metrics whose value falls from some prefix of the run to a longer one; nulls are passed over."""
    found, before = set(), dict[str, float]()
    for prefix in prefixes(run):
        for name, value in told(prefix).items():
            if value.value is not None:
                if value.value < before.get(name, value.value):
                    found.add(name)
                before[name] = value.value
    return found


@pytest.mark.heavy
@settings(max_examples=40)
@given(runs)
def test_what_is_done_and_counted_never_falls_while_an_episode_goes_on(run: Run) -> None:
    fell = falls(run) & GROWING
    assert not fell, sorted(fell)
