"""Results as data frames."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import teamworld
from teamworld.errors import UserError
from teamworld.experiment.store.data_frames import load
from teamworld.metrics.event_table import CallRow

pytest.importorskip("polars", reason="needs teamworld[tables]")

#: Of the table of calls; those of ``NULL`` are null in a call that no completion came of.
NULL = (
    *("text", "finish", "served", "prompt_tokens", "cached_tokens", "written_tokens", "output_tokens"),
    *("reasoning_tokens", "usd"),
)
COLUMNS = (
    *("cell", "episode", "mind", "purpose", "number", "attempt", "model", "digest", "request"),
    *(*NULL, "seconds", "faults", "cached"),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frames") / "run"
    teamworld.run(method=["greedy", "random"], episodes=2, seed=[0, 1], max_steps=15, out=folder)
    return folder


def test_episodes_are_rows_with_their_metrics(out: Path) -> None:
    frame = teamworld.load(out).episodes
    assert frame.height == 8
    assert set(frame["method"]) == {"greedy", "random"}
    assert frame.select("seed", "episode").unique().height == 4
    assert frame["completion"].is_between(0, 1).all()
    assert frame["steps"].max() == 15
    assert frame["area_burnt"].null_count() == 8  # nothing burns in CUBE
    assert str(frame.schema["area_burnt"]) == "Float64"
    mean = frame.select("method", "completion").group_by("method").mean()
    assert mean.height == 2


def test_events_are_rows_in_order(out: Path) -> None:
    frame = load(out).events
    one = frame.filter((frame["method"] == "greedy") & (frame["seed"] == 1) & (frame["episode"] == 2))
    assert one["seq"].to_list() == list(range(one.height))
    assert one["kind"][0] == "episode_start"
    acts = one.filter(one["kind"] == "action")
    assert json.loads(acts["data"][0])["verb"]
    assert set(acts["agent"]) == {"agent_0", "agent_1"}


def test_frames_without_rows_have_all_columns(out: Path, tmp_path: Path) -> None:
    shutil.copy(out / "experiment.yaml", tmp_path)
    begun, empty = load(out), load(tmp_path)
    assert empty.episodes.schema == begun.episodes.schema
    assert empty.events.schema == begun.events.schema
    assert (empty.episodes.height, empty.events.height, empty.calls.height, begun.calls.height) == (0, 0, 0, 0)
    assert empty.calls.schema == begun.calls.schema
    assert {"seed": "Int64", "usd": "Float64", "cached": "Boolean", "finish": "String"}.items() <= {
        name: str(kind) for name, kind in begun.calls.schema.items()
    }.items()
    assert empty.calls.group_by("purpose").agg().height == 0


def test_every_field_of_a_call_is_a_column(tmp_path: Path, out: Path) -> None:
    place = {"run", "world", "level", "instances", "method", "reasoner", "talk", "seed"}
    assert set(load(out).calls.columns) == place | set(CallRow._fields) - {"cell"}
    shutil.copytree(out, tmp_path / "called")
    with closing(sqlite3.connect(tmp_path / "called/results.sqlite")) as db, db:
        known: dict[str, object] = {"cell": "greedy-s1", "episode": 2, "mind": "agent_0", "faults": "[]"}
        row = [None if name in NULL else known.get(name, 1) for name in COLUMNS]
        db.execute(f"INSERT INTO calls ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})", row)
    frame = load(tmp_path / "called").calls
    assert frame.schema == load(out).calls.schema
    assert frame.select("method", "seed", "episode", "respondent", "usd").row(0) == ("greedy", 1, 2, "agent_0", None)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        load(tmp_path)


def test_the_package_is_asked_for(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UserError, match=r"teamworld\[tables\]"):
        _ = load(out).episodes
