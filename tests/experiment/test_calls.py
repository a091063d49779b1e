"""Calls on record: all of them come back, none twice, whatever kills the process or lies about the file."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.recorded_calls import CallStore, RecordedCalls, changed
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.metrics.summary import Rate, Summary
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.budget import Spent, spent_by
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Fault, Request, Turn, Usage
from tests.reasoning.llm.records import KEYS, RECORDS, REQUESTS, SCHEMA, completion, failed, key, record, request

CELL = RunCell("drwell", 0)
OTHER = RunCell("drwell:no_memory", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[CallStore]:
    with CallStore(path) as opened:
        yield opened


def row(episode: int = 1) -> EpisodeRow:
    """Return a finished episode."""
    summary = Summary(
        completion=0.5,
        success=False,
        steps=3,
        anytime=0.25,
        reward=0.0,
        done={"g": None},
        plans=Rate(0, 1),
        attempts=Rate(0, 0),
        messages=0,
        questions=1,
        re_asked=0,
        fallbacks=0,
        reason="horizon",
    )
    return EpisodeRow(CELL.name, episode, "drwell", 0, summary, "abc", 1.5)


def a_price(model: str, served: str, usage: Usage) -> float | None:
    return None if usage.prompt is None or usage.output is None else (usage.prompt + usage.output) / 1024


# ---- what was added comes back


@settings(max_examples=40)  # each makes a file
@given(st.dictionaries(st.tuples(st.sampled_from([CELL, OTHER]), st.integers(1, 2), KEYS), RECORDS, max_size=12))
def test_interleaved_episodes_each_find_their_own(made: dict[tuple[RunCell, int, CallKey], CallRecord]) -> None:
    with tempfile.TemporaryDirectory() as folder, CallStore(Path(folder) / "results.sqlite") as store:
        calls = {(cell, episode): store.of(cell, episode) for cell in (CELL, OTHER) for episode in (1, 2)}
        for (cell, episode, one), added in made.items():
            assert calls[cell, episode].find(one) is None
            calls[cell, episode].add(one, added)
            assert calls[cell, episode].find(one) == added
        for (cell, episode, one), added in made.items():
            found = store.of(cell, episode).find(one)
            assert found == added
            assert found.request.digest() == added.request.digest()
        assert store.count() == len(made)
        for cell, episode in calls:
            own = [added for (held, number, _), added in made.items() if (held, number) == (cell, episode)]
            assert store.count(cell, episode) == len(own)
            told = Spent()
            for added in own:
                told = told.plus(spent_by(added, a_price))
            for unit, added_up in zip(store.spent(a_price, cell, episode), told, strict=True):
                assert unit == pytest.approx(added_up)
        for known in (0, 1, 2):
            rows = store.rows(*((), (CELL,), (CELL, 2))[known])
            expected = [place for place in made if place[0] == CELL or known == 0]
            expected = [place for place in expected if place[1] == 2 or known < 2]
            assert [
                (one.cell, one.episode, one.respondent, one.purpose, one.number, one.attempt) for one in rows
            ] == sorted((cell.name, episode, *one) for cell, episode, one in expected)


def test_rows_hold_what_reports_count(store: CallStore) -> None:
    usage = Usage(prompt=10, cached=4, written=2, output=7, reasoning=3)
    answer = msgspec.structs.replace(completion(), usage=usage)
    one = record(usd=0.25, seconds=1.5, completion=answer, faults=failed().faults * 2)
    store.of(CELL, 3).add(key(2, attempt=1), one)
    store.of(OTHER, 1).add(key(), msgspec.structs.replace(failed(), cached=False))
    store.of(OTHER, 1).add(key(2), record(cached=True))
    first, second, third = store.rows()
    assert first[:6] == ("drwell-no_memory-s1", 1, "agent_0", "drwell.propose", 1, 0)
    assert (first.model, first.served, first.finish, first.prompt_tokens, first.usd) == ("openai:gpt-4o", *[None] * 4)
    assert (first.faults, first.seconds, first.cached) == (1, 3.0, False)
    assert second.cached is True
    assert third[:6] == ("drwell-s0", 3, "agent_0", "drwell.propose", 2, 1)
    assert third[6:9] == ("openai:gpt-4o", "gpt-4o-2024-08-06", "stop")
    assert third[9:] == (10, 4, 2, 7, 3, 1.5, 0.25, 2, False, 0, 0, 0)


def test_the_table_can_be_read_with_plain_sql(store: CallStore, path: Path) -> None:
    store.of(CELL, 1).add(key(), record())
    db = sqlite3.connect(path)
    columns = "model, digest, request ->> '$.turns[1].text', text, faults, written_tokens"
    assert db.execute(f"SELECT {columns} FROM calls").fetchall() == [
        ("openai:gpt-4o", request().digest(), "What do you do?", '{"goal": "g"}', "[]", None)
    ]
    db.close()


def test_what_nobody_answered_or_a_cache_or_a_person_did_costs_nothing(store: CallStore) -> None:
    calls = store.of(CELL, 1)
    person = record(None, None, request=request(model=HUMAN))
    for number, one in enumerate((failed(), record(9.0, cached=True), record(0.5, 60), record(None, None), person)):
        calls.add(key(number), one)
    estimated = spent_by(record(None, None), a_price)
    assert store.spent(a_price) == spent_by(record(0.5, 60), a_price).plus(estimated)
    assert estimated.tokens.estimated > 0
    assert store.spent(a_price, OTHER) == Spent()


def test_the_form_in_which_a_model_was_asked_is_remembered(store: CallStore) -> None:
    store.of(CELL, 1).add(key(), record(request=request(form="tool")))
    assert (store.form("openai:gpt-4o"), store.form("openai:o3")) == ("tool", None)


@pytest.mark.parametrize("second", [record(), record(request=request("Something else?")), failed()])
def test_a_call_is_not_put_on_record_twice(store: CallStore, second: CallRecord) -> None:
    calls = store.of(CELL, 1)
    calls.add(key(), record(usd=0.5))
    with pytest.raises(RuntimeError, match="call drwell.propose 1 of agent_0, episode 1 of drwell-s0 is on record"):
        calls.add(key(), second)
    assert calls.find(key()) == record(usd=0.5)
    calls.add(key(attempt=1), second)  # and the store goes on
    assert store.count() == 2


def test_another_fault_of_the_program_is_not_taken_for_a_call_paid_twice(store: CallStore) -> None:
    answer = msgspec.structs.replace(completion(), finish="tired")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.of(CELL, 1).add(key(), record(completion=answer))


def test_episodes_and_calls_share_the_file_while_both_are_open(path: Path) -> None:
    with Results(path) as results, CallStore(path) as store:
        for episode in (1, 2):
            store.of(CELL, episode).add(key(), record())
            results.add(row(episode))
        assert (len(results.rows()), store.count()) == (2, 2)
    with Results(path, readonly=True) as results, CallStore(path, readonly=True) as store:
        assert (results.rows(), store.count()) == ([row(1), row(2)], 2)
        with pytest.raises(sqlite3.ProgrammingError, match="reading only"):
            store.of(CELL, 1).add(key(2), record())


def test_half_a_character_is_no_reason_to_lose_a_call(store: CallStore) -> None:
    added = record(completion=completion("a\ud83d b\0"), faults=(Fault(kind="broken", text="\udc00"),))
    store.of(CELL, 1).add(key(), added)
    held = store.of(CELL, 1).find(key())
    assert held == added
    assert held.completion is not None
    assert held.completion.text == "a? b\0"


# ---- replaying


def test_a_replay_finds_what_is_on_record_and_names_what_is_not(store: CallStore) -> None:
    store.of(CELL, 4).add(key(), record())
    recorded = RecordedCalls(store.of(CELL, 4))
    assert recorded.find(key(), request()) == record()
    with pytest.raises(UserError) as caught:
        recorded.find(key(7, attempt=2), request())
    assert "call drwell.propose 7 of agent_0, re-ask 2, episode 4 of drwell-s0 is not on record" in str(caught.value)
    with pytest.raises(RuntimeError, match="during a replay"):
        recorded.add(key(7), record())
    assert store.count() == 1


def test_what_was_another_request_is_refused_and_the_change_is_named(store: CallStore) -> None:
    calls = store.of(CELL, 4)
    calls.add(key(), record())
    assert calls.find(key(), request()) == record()
    for result in (calls, RecordedCalls(calls)):
        with pytest.raises(UserError) as caught:
            result.find(key(), request(temperature=0.1))
        assert "call drwell.propose 1 of agent_0, episode 4 of drwell-s0 was another request" in str(caught.value)
        assert "temperature" in str(caught.value)


def test_calls_of_another_run_are_copied_as_they_are_asked_for(store: CallStore, tmp_path: Path) -> None:
    store.of(CELL, 4).add(key(), record(usd=0.5))
    store.of(CELL, 4).add(key(2), record(usd=0.5))
    with CallStore(tmp_path / "new.sqlite") as new:
        copied = RecordedCalls(new.of(CELL, 4), store.of(CELL, 4))
        with pytest.raises(UserError, match="temperature"):
            copied.find(key(), request(temperature=0.1))
        assert new.count() == 0  # what does not fit is not kept
        assert copied.find(key(), request()) == record(usd=0.5, cached=True)
        assert copied.find(key(), request()) == record(usd=0.5, cached=True)
        assert [row.number for row in new.rows()] == [1]
        assert new.spent(a_price) == Spent()
        with pytest.raises(UserError, match="call drwell.propose 9 .* is not on record"):
            copied.find(key(9), request())
        with pytest.raises(RuntimeError, match="during a replay"):
            copied.add(key(9), record())


TURNS = request().turns


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "openai:gpt-5"}, "the model was openai:gpt-4o, now openai:gpt-5"),
        ({"form": "tool"}, "the form of the answer was schema, now tool"),
        ({"answer": "Vote"}, "the answer's model was Plan, now Vote"),
        ({"temperature": None}, "the temperature was 0.2, now None"),
        ({"top_p": 0.5}, "the top_p was None, now 0.5"),
        ({"max_tokens": 101}, "the token limit was 100, now 101"),
        ({"seed": 3}, "the sampling seed was None, now 3"),
        ({"schema": SCHEMA | {"required": []}}, "the answer's schema changed at character"),
        ({"turns": TURNS[:1]}, "the prompt had 2 turns, now 1"),
        ({"turns": (*TURNS, Turn("user", "And?"))}, "the prompt had 2 turns, now 3"),
        ({"turns": (TURNS[0], Turn("assistant", TURNS[1].text))}, "turn 2 (assistant) changed at character 0"),
        ({"turns": (Turn("system", "x"), TURNS[1])}, "turn 1 (system) changed at character 0: was 'Du bist"),
        ({"turns": (TURNS[0], Turn("user", "What do we\ndo?"))}, r"turn 2 (user) changed at character 8: was"),
        ({"turns": (TURNS[0], Turn("user", "What do you do?!"))}, "changed at character 15"),
    ],
)
def test_what_changed_of_a_request_is_said_in_one_line(fields: dict[str, Any], words: str) -> None:
    said = changed(request(), request(**fields))
    assert said is not None
    assert words in said
    assert "\n" not in said
    assert ";" not in said.replace(repr(TURNS[1].text), "")


def test_of_a_long_prompt_only_the_place_of_the_change_is_shown() -> None:
    said = changed(request("a" * 5000 + "b" + "c" * 5000), request("a" * 5000 + "x" + "c" * 5000))
    assert said is not None
    assert "aab" in said
    assert "aax" in said
    assert len(said) < 300


def test_the_order_of_a_schema_is_no_change() -> None:
    turned = request(schema=dict(reversed(SCHEMA.items())))
    assert list(turned.schema) != list(SCHEMA)
    assert changed(request(), turned) is None


@given(REQUESTS, REQUESTS)
def test_a_change_is_said_exactly_where_there_is_one(one: Request, other: Request) -> None:
    assert changed(one, one) is None
    assert (changed(one, other) is None) == (one.digest() == other.digest())
    assert changed(one, other) != ""
    assert "\n" not in (changed(one, other) or "")


# ---- damaged records


@pytest.mark.parametrize(
    "change",
    [
        "request = 'x'",
        "request = '{}'",
        "faults = '[1]'",
        "request = replace(request, 'schema', 'sch')",
        "text = NULL",
        "finish = NULL",
        "served = NULL",
        "text = CAST(X'ff' AS TEXT)",  # which SQLite itself cannot read
    ],
)
def test_a_record_that_does_not_parse_is_named(store: CallStore, path: Path, change: str) -> None:
    store.of(CELL, 1).add(key(), record())
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE calls SET {change}")
    named = (
        "cannot be used as results file"
        if "CAST" in change
        else "is damaged: the record of call drwell.propose 1 of agent_0"
    )
    with pytest.raises(UserError, match=named) as caught:
        store.of(CELL, 1).find(key())
    assert "\n" not in str(caught.value)
    if "request" in change:
        with pytest.raises(UserError, match="is damaged: a request to openai:gpt-4o does not parse"):
            store.form("openai:gpt-4o")


# ---- kills

ADDING = """
import sys
from pathlib import Path
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.spec import RunCell
from tests.reasoning.llm.records import key, record, request

store = CallStore(Path(sys.argv[1]))
calls = [store.of(RunCell("drwell", 0), episode) for episode in (1, 2)]
number = store.count() // 2
while True:
    number += 1
    for episode in calls:
        if episode.find(key(number)) is None:
            episode.add(key(number), record(request=request(f"{number} " * 2000)))
        print(number, flush=True)
"""


@pytest.mark.heavy
def test_what_was_added_survives_kills_at_any_moment(path: Path, tmp_path: Path) -> None:
    moments = random.Random(4)
    added = 0
    for _ in range(6):
        command = [sys.executable, "-c", ADDING, str(path)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
        assert child.stdout is not None
        told = [line for _, line in zip(range(moments.randint(1, 150)), child.stdout, strict=False)]  # no line is lost
        child.kill()
        told += [line for line in child.stdout if line.endswith("\n")]
        child.stdout.close()
        assert child.wait() == -9
        added = max(added, 2 * int(told[-1]) - (told.count(told[-1]) == 1))
        shutil.copytree(tmp_path, tmp_path.parent / "copy", dirs_exist_ok=True)  # as the kill left it, log and all
        with CallStore(tmp_path.parent / "copy" / path.name) as store:
            assert added <= store.count() <= added + 1  # the one more was added and not told of
            added = store.count()
            for number in range(1, added // 2 + 1):
                for episode in (1, 2):
                    held = store.of(CELL, episode).find(key(number))
                    assert held == record(request=request(f"{number} " * 2000))
        shutil.rmtree(tmp_path.parent / "copy")
    assert added > 50
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
