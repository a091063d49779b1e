"""Results as data frames."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import teamworld
from teamworld.errors import UserError
from teamworld.experiment.frames import load

pytest.importorskip("polars", reason="needs teamworld[tables]")


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
    assert frame["O2"].is_between(0, 1).all()
    assert frame["E1"].max() == 15
    assert frame["O6"].null_count() == 8  # nothing can be lost in CUBE
    assert str(frame.schema["O6"]) == "Float64"
    mean = frame.select("method", "O2").group_by("method").mean()
    assert mean.height == 2


def test_events_are_rows_in_order(out: Path) -> None:
    frame = load(out).events
    one = frame.filter((frame["method"] == "greedy") & (frame["seed"] == 1) & (frame["episode"] == 2))
    assert one["seq"].to_list() == list(range(one.height))
    assert one["kind"][0] == "episode_start"
    acts = one.filter(one["kind"] == "action")
    assert json.loads(acts["data"][0])["verb"]
    assert set(acts["agent"]) == {"agent_0", "agent_1"}


def test_a_run_on_rules_has_no_calls(out: Path) -> None:
    assert load(out).calls.height == 0


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        load(tmp_path)


def test_the_package_is_asked_for(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UserError, match=r"teamworld\[tables\]"):
        _ = load(out).episodes
