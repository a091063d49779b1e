"""Logs that are well-formed and impossible: metrics stay in their ranges, or the log is refused in one clear line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.cli import run as command
from teamworld.metrics.all_metrics import measure
from teamworld.metrics.log_reader import Unsound, tabulate
from teamworld.record import ActionStep, EpisodeEnd, EpisodeStart, Event, LogWriter, decode
from tests.metrics import golden
from tests.metrics.beliefs import belief_logs
from tests.metrics.logs import check_ranges
from tests.metrics.strategies import logs, made

#: What a field is overwritten with: other kinds of values are refused by the reader.
ODD: tuple[Any, ...] = (
    *(-3, -1, 0, 1, 7, 2**31, 10**9, 10**30, 1e308, -1e308, 5e-324, 0.5, 1e30, None, True, False),
    *("", "nobody", "g_one", "ann", "a\nb", "\u0000", "<block>(1)", [], ["nobody"], ["ann", "ann"], {}),
)


def overwritten(value: object, rng: Random) -> object:
    """Return the value with one of its parts overwritten."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice([key for key in value if key not in ("kind", "seq")] or list(value))
        return value | {key: overwritten(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.6:
        at = rng.randrange(len(value))
        return [*value[:at], overwritten(value[at], rng), *value[at + 1 :]]
    return rng.choice(ODD)


def spoilt(log: Sequence[Event], rng: Random) -> list[Event] | None:
    """Return the log as the reader would yield it after a change by hand; None where it would refuse it."""
    plain: list[Any] = [msgspec.to_builtins(event) for event in log]
    for _ in range(rng.choice((1, 1, 1, 3))):
        at = rng.randrange(len(plain))
        how = rng.choice(("change", "change", "change", "drop", "repeat", "swap"))
        if how == "change":
            plain[at] = overwritten(plain[at], rng)
        elif how == "drop":
            plain = [*plain[:at], *plain[at + 1 :]]
        elif how == "repeat":
            plain.insert(at, plain[rng.randrange(len(plain))])
        else:
            other = rng.randrange(len(plain))
            plain[at], plain[other] = plain[other], plain[at]
        if not plain:
            return None
    try:
        events = [decode(msgspec.json.encode(one | {"seq": seq})) for seq, one in enumerate(plain)]
    except (msgspec.MsgspecError, TypeError):
        return None
    return events if isinstance(events[0], EpisodeStart) and isinstance(events[-1], EpisodeEnd) else None


@pytest.mark.heavy
@settings(max_examples=200)
@given(logs | belief_logs, st.integers(0, 10**9).map(Random))
def test_a_spoilt_log_is_refused_or_gives_values_in_range(log: list[Event], rng: Random) -> None:
    events = spoilt(log, rng)
    if events is None:
        return
    try:
        values = measure(tabulate(events))
    except Unsound as error:
        assert str(error).isprintable()
        assert str(error).startswith("an impossible log: ")
        return
    check_ranges(values)


def replaced(log: Sequence[Event], kind: str, **fields: Any) -> list[Event]:
    """Return the log with the first record of a kind changed."""
    plain = [msgspec.to_builtins(event) for event in log]
    next(one for one in plain if one["kind"] == kind).update(fields)
    return [decode(msgspec.json.encode(one)) for one in plain]


def _weighed(weight: float) -> Callable[[], list[Event]]:
    goals = [msgspec.to_builtins(golden.goal(name, 1)) | {"weight": weight} for name in ("g1", "g2")]
    return lambda: replaced(golden.log(), "episode_start", goals=goals)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda: replaced(golden.log(), "action", agent="eve"), "(action) names 'eve', who is not in the team"),
        (lambda: replaced(golden.log(), "commit", agent="eve"), "(commit) names 'eve', who is not in the team"),
        (lambda: replaced(golden.log(), "goal", participants=["eve"]), "(goal) names 'eve', who is not in the team"),
        (lambda: replaced(golden.log(), "episode_start", team=[]), "(episode_start) names no agent"),
        (lambda: replaced(golden.log(), "episode_start", team=["a", "a"]), "(episode_start) names an agent twice"),
        (lambda: replaced(golden.log(), "action", step=10**9), "says step 1000000000, tick 0: it stands in step 0"),
        (lambda: replaced(golden.log(), "plan", step=-3), "says step -3, tick 0: it stands in step 0, tick 0"),
        (lambda: replaced(golden.log(), "plan", plan=2**40), "(plan) has plan 1099511627776: expected 0 to"),
        (lambda: replaced(golden.log(), "action", plan=2**40), "(action) has a number that is out of all bounds"),
        (lambda: replaced(golden.log(), "step", ticks=0), "(step) has 0 ticks: expected 1 to"),
        (_weighed(1e308), "gives goal 'g1' the weight 1e+308: expected 0, or 1e-100 to 1e+100"),
        (_weighed(-1.0), "gives goal 'g1' the weight -1.0: expected 0, or"),
    ],
)
def test_an_impossible_log_is_refused_in_one_line(
    spoil: Callable[[], list[Event]], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = spoil()
    with pytest.raises(Unsound, match="an impossible log") as caught:
        tabulate(events)
    assert says in str(caught.value)
    path = tmp_path / "log.jsonl.zst"
    with LogWriter(path) as writer:
        for event in events:
            writer.write(event, event.step, event.tick)
        writer.finish()
    assert command(["metrics", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"teamworld: {path} cannot be measured: an impossible log: ")
    assert says in line


def test_two_acts_of_one_agent_in_a_step_are_refused() -> None:
    log = golden.log()
    at = next(at for at, event in enumerate(log) if isinstance(event, ActionStep))
    twice = [*log[: at + 1], *log[at:]]
    events = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(twice)]
    with pytest.raises(Unsound, match="a acts twice in step 0"):
        tabulate(events)


def test_most_logs_are_spoilt_where_it_shows() -> None:
    """Or the property says nothing."""
    rng, refused, measured = Random(5), 0, 0
    for _ in range(200):
        events = spoilt(made(rng), rng)
        if events is not None:
            try:
                tabulate(events)
                measured += 1
            except Unsound:
                refused += 1
    assert min(refused, measured) > 30
