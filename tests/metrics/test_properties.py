"""What holds of every metric of a log: ranges, nulls, sums, names, and prefixes of a log.

Each property goes over all ids whose basis is the log, or over a table of ids that is itself checked: who adds a metric
has to say here how it behaves. What single metrics are is tested elsewhere.
"""

from __future__ import annotations

import math
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

from teamworld.metrics import cost
from teamworld.metrics.definition import Value, metrics
from teamworld.metrics.event_tables import gather
from teamworld.metrics.measure import measure
from teamworld.metrics.pooling import pooled
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
    Predict,
    QuestionAsked,
    Release,
    StageEntered,
    StepDone,
)
from tests.metrics.beliefs import belief_log, enriched
from tests.metrics.logs import log as by_hand
from tests.metrics.strategies import GOALS, NAMES, SURPRISE, logs, made

IDS = [one.id for one in metrics().values() if one.basis == "log"]


class Row(NamedTuple):
    """A call on record."""

    respondent: str
    purpose: str
    number: int
    seconds: float
    usd: float
    cell: str = "x-s0"
    episode: int = 1
    finish: str | None = "stop"
    cached: bool = False


class Run(NamedTuple):
    """An episode: its log, and its calls on record."""

    log: Sequence[Event]
    calls: Sequence[Row]


def billed(log: Sequence[Event], rng: Random) -> Run:
    """Return the log with seconds and dollars for each of its calls."""
    asked: Counter[tuple[str, str]] = Counter()
    rows = []
    for event in log:
        if isinstance(event, LlmCall):
            number = asked[event.agent, event.purpose] + 1
            rows.append(Row(event.agent, event.purpose, number, rng.random(), rng.random() / 100))
        elif isinstance(event, QuestionAsked):
            asked[event.agent, event.purpose] += 1
    return Run(log, rows)


def told(run: Run) -> dict[str, Value]:
    return measure(gather(run.log), run.calls)


_RANDOM = st.integers(0, 10**9).map(Random)
runs: st.SearchStrategy[Run] = st.builds(billed, logs | st.builds(enriched, logs, _RANDOM), _RANDOM)


@cache
def numbered(seed: int) -> Run:
    """Return a run that is always the same; every other one at the log level of beliefs, some of them longer."""
    rng, steps = Random(seed), 40 if seed % 6 > 3 else 16
    return billed(made(rng, goals=seed % 5, steps=steps) if seed % 2 else belief_log(rng, steps), rng)


def some_runs(number: int = 60) -> Iterator[Run]:
    """Yield so many runs, always the same."""
    return map(numbered, range(number))


@cache
def with_values() -> frozenset[str]:
    """Return the metrics that have a value in some of the runs that are always the same."""
    return frozenset(name for run in some_runs() for name, value in told(run).items() if value.value is not None)


def of_family(*names: str) -> set[str]:
    """Return the ids with these names, and their parts."""
    return {name for name in IDS if name.partition(".")[0] in names or name in names}


# ---- ranges


@pytest.mark.heavy
@settings(max_examples=150)
@given(runs)
def test_every_metric_is_told_in_its_range_with_what_it_is_made_of(run: Run) -> None:
    values = told(run)
    assert list(values) == IDS
    for name, (value, num, den) in values.items():
        one = metrics()[name]
        assert all(part is None or (type(part) is float and math.isfinite(part)) for part in (value, num, den)), name
        if value is not None:
            assert one.low is None or value >= one.low, name
            assert one.high is None or value <= one.high, name
        if den is not None:
            assert den >= 0, name
        if num is not None:
            assert num >= 0 or one.low != 0, name
            assert value == (num if den is None else num / den if den else None), name


def test_every_metric_has_a_value_in_some_run() -> None:
    """Or the properties say nothing about it."""
    assert set(IDS) - with_values() == {"E11"}, "E11 needs places that are inspected; no log tells any yet"


# ---- nulls


@pytest.mark.heavy
@settings(max_examples=150)
@given(runs)
def test_what_is_made_of_nothing_is_null_and_what_is_null_is_made_of_nothing(run: Run) -> None:
    for name, (value, num, den) in told(run).items():
        if den is not None:
            assert (value is None) == (den == 0), name
        else:
            assert value == num, f"{name}: a value without denominator is a count"


def test_an_empty_episode_has_counts_of_0_and_nothing_else() -> None:
    zero = {"E1", "E1.ticks", "M1", "M2", "M3", "K1", "K1.agent", "M12.density"}
    for goals in ({}, {"g": 2}):
        values = measure(gather(by_hand(goals=goals)), [])
        measured = {name: value.value for name, value in values.items() if value.value is not None}
        announced = ("O1", "O2", "O3", "O4", "O5", "O9", "D5") if goals else ()
        assert measured == dict.fromkeys((*zero, *announced), 0.0)


#: What is told of predictions of joint acts.
FORESIGHT = {"D22.precision", "D22.recall", "D22.f1"}
#: What is null where a log has no records of some kinds.
NEEDS: Mapping[tuple[type[Any], ...], set[str]] = {
    (ActionStep,): of_family("E5", "E6", "E7", "E8", "E9", "E10", "D7", "D11", "D12") - {"D7.per_act"}
    | {f"D16.{name}" for name in ("message", "failure", "timer")}
    | {"D16", "D13.positions"},
    (AttemptMade,): of_family("D1", "D2", "D3", "D4") | FORESIGHT,
    (Believe,): of_family("B1", "B2", "B3", "B4", "B5", "B7", "B8"),
    (Commit, Release): of_family("D6", "D10", "D19", "D20", "D21", "B6"),
    (GoalChange,): of_family("D17", "K4") | {"O10", "E1.solved", "E12", "M2.unit"},
    (LlmCall,): of_family("K2", "K7", "K8", "K9", "M2b"),
    (MessageSent, Deliver): of_family("M4", "M5", "M6", "M7", "M8", "M9", "M13", "D20")
    | {"M3.gini", "M12.centralisation"},
    (PlanStart, PlanEnd): of_family("D14", "D15", "B10") | {"D16.resume", "D22.success"},
    (Predict,): of_family("B6", "B9") | FORESIGHT | {"D22.tokens", "D22.steps"},
    (StageEntered,): of_family("M11"),
    (StepDone, ActionStep, GoalChange, AttemptMade): of_family("B7", "D13") | {"M1.rate", "K1.step"},
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
        values = measure(gather(run.log))
        assert {values[name] for name in of_family("K3", "K4.usd", "K5", "K6", "M11.seconds")} == {(None, None, None)}


def test_at_the_log_level_of_play_what_tells_beliefs_is_null() -> None:
    for run in some_runs():
        start = run.log[0]
        assert isinstance(start, EpisodeStart)
        if start.log_level == "play":
            values = told(run)
            second = {name for name in IDS if metrics()[name].tier == 2} - {"M4.unread", "B10"}
            assert {name: values[name].value for name in second} == dict.fromkeys(second)


# ---- sums


@pytest.mark.heavy
@settings(max_examples=50)
@given(st.lists(runs, min_size=2, max_size=3))
def test_pooled_rates_are_the_ratio_of_sums_and_pooled_quantities_the_mean(some: list[Run]) -> None:
    each = [told(run) for run in some]
    for name, whole in pooled(each).items():
        values = [values[name] for values in each]
        known = [Fraction(value.value) for value in values if value.value is not None]
        num, den = sum(known, Fraction()), Fraction(len(known))
        if metrics()[name].pooling == "micro":
            num, den = (sum((Fraction(value[part] or 0) for value in values), Fraction()) for part in (1, 2))
        assert (whole.num, whole.den) == (float(num), float(den)), name
        assert whole.value == (pytest.approx(float(num / den), rel=1e-12) if den else None), name
        assert (whole.n, whole.nulls) == (len(known), len(values) - len(known)), name
    assert pooled(each[::-1]) == pooled(each)


#: Parts whose numerators add up to that of a whole, or to the denominator that they share.
PARTS: Mapping[str, tuple[set[str], str | None]] = {
    "step classes": (of_family("E6"), None),
    "first unmet constraint": (of_family("D3"), None),
    "ends of plans": (of_family("D15") - {"D15.survival"}, None),
    "ends of commitments": (of_family("D19"), None),
    "novelty and redundancy": ({"M4", "M5"}, None),
    "stale and fabricated": ({"M8.stale", "M8.fabricated"}, "M8"),
    "causes of replanning": (of_family("D16") - {"D16", "D16.resume"}, "D16"),
    "tokens": ({"K2.prompt", "K2.output"}, "K2"),
}


@pytest.mark.parametrize("family", PARTS)
@settings(max_examples=50)
@given(run=runs)
def test_parts_add_up_to_their_whole(family: str, run: Run) -> None:
    parts, whole = PARTS[family]
    values = told(run)
    if any(values[name].num is None for name in parts):
        assert whole is None or values[whole].num is None
        return
    dens = {values[name].den for name in parts}
    assert len(dens) == 1
    together = sum((Fraction(values[name].num or 0) for name in parts), Fraction())
    assert together == (dens.pop() if whole is None else values[whole].num)


@given(runs)
def test_a_part_is_no_more_than_its_whole(run: Run) -> None:
    values = told(run)
    for parts, whole in (
        (("D12.swap", "D12.cell"), "D12"),
        (("B6",), "B6.set"),
        (("K2.cached",), "K2.prompt"),
        (("K2.reasoning",), "K2.output"),
    ):
        nums = [values[name].num for name in (*parts, whole)]
        if None not in nums:
            assert sum(num or 0 for num in nums[:-1]) <= (nums[-1] or 0), whole


#: Numerators and denominators that add up where one log follows another: they count events, or agents' steps.
ADDITIVE = (
    of_family("E5", "E6", "E7", "E8", "E9", "M6", "D1", "D2", "D3", "D14", "D15", "K1", "K2", "K3", "K8", "K9")
    | {"O7.raw", "E1", "E1.ticks", "M1", "M1.rate", "M2", "M4.unread", "D7", "D12", "K5.path"}
) - {"K1.agent", "M6"}


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
    for part, value in cost.parts(gather(run.log)).items():
        key = re.sub(r"(?<=agent=)\w+", lambda found: names.get(found[0], found[0]), part)
        assert cost.parts(gather(other.log))[key] == value


# ---- prefixes

#: Values that never fall while an episode goes on: what is done stays done, what is counted stays counted; an
#: agreement (D20) is settled once it is there.
GROWING = of_family("O2", "O3", "O4", "O5", "O6", "E1", "D5", "D20", "K2", "K3") | {
    "M1",
    "M2",
    "M2b",
    "M11.total",
    "M12.density",
    "K1",
    "K1.agent",
    "K5.max",
    "K6.decision",
    "K6.waiting",
}
#: Values that hardly or never fall in logs at random, though nothing says that they do not.
STILL = {
    "O1": "falls where a goal opens after all others were done",
    "B7.start": "falls where the truth tells of a kind of fact late",
    "D22.tokens": "falls where a repair takes fewer than those before",
    "M9.delay": "falls where a later request is answered sooner",
    "O9": "a prefix ends by its horizon; nobody quits",
    "E6.think": "no world runs in real time",
    "E11": "no log tells what was inspected",
    "D16.world": "no such cause is made",
    "D15.unfinished": "plans are unfinished at the end alone",
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


@pytest.mark.heavy
def test_every_other_metric_falls_in_some_episode() -> None:
    """So that nothing that grows is left out of the table."""
    left = set(IDS) - GROWING - STILL.keys()
    for run in some_runs(200):
        left -= falls(run)
        if not left:
            break
    assert not left, "these grow, or the logs at random hardly have them: put them into one of the tables"
    assert not GROWING & STILL.keys()
