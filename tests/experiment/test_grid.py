"""Grids: one file, a run for each combination, and how far they are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import EpisodeStart, read_log

DATA: dict[str, Any] = {
    "world": "cube",
    "methods": ["greedy", "zero_shot"],
    "seeds": [0, 1],
    "max_steps": 12,
    "grid": {"level": ["n1", "n2"], "instances": [5, "fixed"], "reasoner": ["rules", "rules:noise=0.5"]},
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "grid.yaml"
    path.write_text(yaml.safe_dump(DATA))
    return path


@pytest.fixture(scope="module")
def out(file: Path) -> Path:
    folder = file.parent / "out"
    assert command(["run", str(file), "--out", str(folder)]) == 0
    return folder


def test_every_combination_is_a_run_of_its_own() -> None:
    parts = grid.expand(DATA)
    assert len(parts) == len({part.name for part in parts}) == 8
    assert [part.values for part in parts[:2]] == [
        {"level": "n1", "reasoner": "rules", "instances": 5},
        {"level": "n1", "reasoner": "rules", "instances": "fixed"},
    ]
    assert parts[0].name == "level=n1,reasoner=rules,instances=5"
    assert parts[2].name.startswith("level=n1,reasoner=rules_noise=0.5,instances=5-")  # fit for every file system
    turned = {**DATA, "grid": dict(reversed(DATA["grid"].items()))}
    assert [part.name for part in grid.expand(turned)] == [part.name for part in parts]
    assert all(part.experiment.methods == ("greedy", "zero_shot") for part in parts)


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ([], "expected lists of values"),
        ({}, "expected lists of values"),
        ({"levels": ["n1"]}, "'levels' cannot vary from run to run; did you mean 'level'"),
        ({"seeds": [[0], [1]]}, "'seeds' cannot vary"),
        ({"world": ["cube"]}, "world is given twice"),
        ({"level": "n1"}, "expected a list of values for level"),
        ({"level": []}, "expected a list of values for level"),
        ({"level": ["n1", "n1"]}, "a value of level is named twice"),
        ({"max_steps": [0]}, "max_steps"),
        ({"instances": ["often"]}, "instances"),
        ({"level": {"a": 1}}, "expected a list of values for level, got {'a': 1}"),
        (
            {"retries": list(range(600)), "instances": list(range(600))},
            "600 retries x 600 instances are 360,000 runs",
        ),
    ],
)
def test_what_is_no_grid_is_refused(axes: object, says: str) -> None:
    with pytest.raises(UserError, match=says):
        grid.expand(DATA | {"grid": axes})


def test_a_large_grid_is_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: object) -> None:
        raise AssertionError("built")

    monkeypatch.setattr(grid, "build", build)
    with pytest.raises(UserError, match="20,000 runs, and at most 10,000 are taken"):
        grid.expand(DATA | {"grid": {"instances": list(range(20_000))}})


@pytest.mark.parametrize("grid_of", [lambda bomb: bomb, lambda bomb: {"level": {"x": bomb}}, lambda bomb: {bomb: [1]}])
def test_what_is_quoted_is_short(grid_of: Callable[[str], object]) -> None:
    with pytest.raises(UserError) as caught:
        grid.expand(DATA | {"grid": grid_of("x" * 10**6)})
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("options", [3, [1], {"drwell": 3}])
def test_options_that_are_none_are_refused(options: object) -> None:
    with pytest.raises(UserError, match="options"):
        grid.expand(DATA | {"options": options, "grid": {"drwell.explore": [1, 2]}})


def test_a_named_instance_is_the_same_for_all_seeds(out: Path) -> None:
    part = next(part for part in grid.expand(DATA) if part.values["instances"] == 5)
    folder = RunFolder(out / part.name)
    for seed in (0, 1):
        start = next(iter(read_log(folder.log(RunCell("greedy", seed), 1))))
        assert isinstance(start, EpisodeStart)
        assert (start.world_seed, start.seed) == (5, seed)


@pytest.mark.heavy
def test_a_grid_goes_on_and_is_loaded_as_one(file: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")}
    assert len(times) == 8 * 4
    assert command(["run", str(file), "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["runs"]
    assert [len(rows) for rows in document.values()] == [4] * 8
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")} == times
    pytest.importorskip("polars")
    frame = teamworld.load(out).episodes
    assert frame.height == 32
    assert frame.select("level", "instances", "reasoner").unique().height == 8


@pytest.mark.heavy
def test_the_table_of_a_grid_tells_its_minds_and_counts(
    file: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["run", str(file), "--out", str(out)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "2 seeds, mean of 1 episode each [95 % interval over seeds]; at most 12 steps" in output
    assert "rules: built-in rules, no language model; rules:noise=0.5: stand-in rules:noise=0.5" in output
    one = tmp_path / "one.yaml"
    one.write_text(yaml.safe_dump({"methods": ["greedy"], "grid": {"level": ["n1"], "max_steps": [3, 4]}}))
    assert command(["run", str(one), "--out", str(tmp_path / "out")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "1 seed, mean of 1 episode each, no interval; at most 3 or 4 steps; built-in rules, no language" in output


def test_another_grid_in_the_same_folder_is_refused(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(DATA | {"retries": 5}))
    assert command(["run", str(other), "--out", str(out)]) == 2
    assert "holds another grid" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").write_text("mine")
    assert command(["run", str(other), "--out", str(tmp_path / "full")]) == 2
    assert command(["run", str(other)]) == 2
    assert "add --out DIR" in capsys.readouterr().err


def test_nothing_begins_where_one_run_cannot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(yaml.safe_dump(DATA | {"grid": {"level": ["n1", "n0"]}}))
    assert command(["run", str(bad), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_status_tells_how_far_all_are(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["status", str(out), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(each["done"], each["wanted"], each["running"]) for each in runs] == [(4, 4, False)] * 8
    with RunFolder(Path(runs[0]["run"])).locked():
        assert command(["status", str(out)]) == 0
    output = capsys.readouterr().out
    assert output.count("running") == 1
    assert "32 of 32 episodes are finished" in output
    half = tmp_path / "half"
    teamworld.run(method="greedy", max_steps=5, out=half)
    assert command(["status", str(half)]) == 0
    assert "1 of 1" in capsys.readouterr().out
    assert command(["status", str(tmp_path)]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="locks cannot be shared there")
def test_status_takes_no_lock_and_writes_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    folder = RunFolder(next(iter(grid.runs(out)))[0])
    with folder.locked():
        assert folder.held() is True
    with folder.lock_file.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # somebody else looks at the same moment
        assert folder.held() is False
    modes = []
    original = os.open

    def opened(path: Path, flags: int) -> int:
        modes.append(flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT))
        return original(path, flags)

    monkeypatch.setattr(os, "open", opened)
    assert folder.held() is False
    assert modes == [0]  # nothing that a folder which is only read would refuse

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    assert folder.held() is None


@pytest.mark.skipif(sys.platform == "win32", reason="locks cannot be shared there")
def test_a_run_begins_while_somebody_looks(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    folder = RunFolder(next(iter(grid.runs(out)))[0])
    other = folder.lock_file.open("rb")
    fcntl.flock(other, fcntl.LOCK_SH)
    monkeypatch.setattr("time.sleep", lambda _: other.close())  # while the run waits for its lock
    with folder.locked():
        assert other.closed


def test_a_lock_that_cannot_be_seen_is_told(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(RunFolder, "held", lambda _: None)
    assert command(["status", str(out), "--json"]) == 0
    assert {run_status["running"] for run_status in json.loads(capsys.readouterr().out)["runs"]} == {None}
    assert command(["status", str(out)]) == 0
    assert "done" in capsys.readouterr().out
    monkeypatch.setattr(RunFolder, "count_finished", lambda *_: 0)
    assert command(["status", str(out)]) == 0
    assert capsys.readouterr().out.count("not known") == 8
