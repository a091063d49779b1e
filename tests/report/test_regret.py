"""Bounds and regret, in a comparison, in the report of a run and by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.experiment.api import run
from teamworld.experiment.store.folder import RunFolder
from teamworld.report import regret
from teamworld.worlds import registry
from teamworld.worlds.base.bounds import StepBound

ROOMS = ["--world", "rooms", "--level", "two", "--seeds", "3", "--max-steps", "60"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("regret") / "c"
    assert command(["compare", "drwell", *ROOMS, "--out", str(out), "--metrics", "steps,regret"]) == 0
    return out


def test_regret_is_what_lies_beyond_the_bound(compared: Path) -> None:
    folder = RunFolder(compared / "run")
    experiment = folder.experiment()
    for cell, row in folder.finished(experiment):
        bound = registry.step_bound("rooms", "two", cell.seed, {})
        assert bound is not None
        steps = row.summary.steps if row.summary.success else 60
        assert regret.regret(experiment, cell, row).value == steps - bound.steps >= 0
    assert {row.summary.success for _, row in folder.finished(experiment)} == {True, False}  # the random team fails


def test_a_comparison_shows_regret_where_it_is_asked_for(compared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", str(compared), "--metrics", "steps,regret", "--json"]) == 0
    rows = {(row["method"], row["metric"]): row for row in json.loads(capsys.readouterr().out)["rows"]}
    bounds = [registry.step_bound("rooms", "two", seed, {}) for seed in range(3)]
    mean = sum(bound.steps for bound in bounds if bound is not None) / 3
    assert rows["drwell", "regret"]["value"] == pytest.approx(rows["drwell", "steps"]["value"] - mean)
    assert rows["random", "regret"]["value"] == pytest.approx(60 - mean)
    assert command(["compare", str(compared), "--json"]) == 0
    assert "regret" not in capsys.readouterr().out


def test_the_report_of_a_run_shows_it(compared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["report", str(compared / "run"), "--regret", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    by_method = {row["method"]: row for row in table["rows"]}
    assert (by_method["drwell"]["solved"], by_method["random"]["solved"]) == ("1.00", "0.00")
    assert by_method["drwell"]["exact"] == "3/3"
    assert command(["report", str(compared / "run"), "--regret", "--bill"]) == 2
    assert "five reports: ask for one" in capsys.readouterr().err


def test_bounds_beside_what_was_played_best(compared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bounds", "rooms", "--level", "two", "--seeds", "4", "--run", str(compared), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert [row["proven"] for row in table["rows"]] == ["optimum"] * 4
    assert [row["best played"] != "" for row in table["rows"]] == [True] * 3 + [False]
    assert all(int(row["best played"]) >= int(row["steps"]) for row in table["rows"][:3])


def test_instances_that_cannot_be_done_are_listed_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bounds", "rooms", "--level", "two-hazard", "--seed", "1", "--seeds", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["steps"], row["proven"]) for row in rows] == [("none", "cannot be done"), ("39", "optimum")]
    assert StepBound(45, can_be_done=False).within(60) == 60
    assert (StepBound(45).within(60), StepBound(45).within(40)) == (45, 40)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["wildfire", "--level", "suppress_fire_contain"], "nothing is proven of wildfire suppress_fire_contain"),
        (["rooms", "--level", "four"], "four"),
        (["rooms", "--seeds", "0"], "--seeds is a number from 1"),
        (["rooms", "--set", "cube.agents=2"], "got one of 'cube'"),
        (["rooms", "--set", "rooms.spread=2"], "spread"),
    ],
)
def test_what_cannot_be_bounded_is_refused(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bounds", *words]) == 2
    assert problem in capsys.readouterr().err


def test_runs_of_another_place_say_nothing_of_this_one(compared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bounds", "rooms", "--level", "one", "--run", str(compared)]) == 2
    assert "holds no run of rooms one" in capsys.readouterr().err


def test_where_nothing_is_proven_there_is_no_regret(compared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(compared / "run")
    experiment = folder.experiment()
    cell, row = folder.finished(experiment)[0]
    monkeypatch.setattr(registry, "step_bound", lambda *place: None)
    other = experiment.model_copy(update={"level": "one"})  # of which no bound is kept yet
    assert regret.regret(other, cell, row).value is None
    assert {line[4] for line in regret.by_method([row], other).rows} == {"none"}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("world", "level"),
    [("cube", "n1"), ("cube", "n2"), ("cube", "paper-n4"), ("rooms", "two-hazard"), ("lbf", "Foraging-8x8-2p-1f-v3")],
)
def test_no_method_beats_a_bound(world: str, level: str, tmp_path: Path) -> None:
    if world == "lbf":
        pytest.importorskip("lbforaging")
    run(world, level=level, method=("greedy", "zero_shot", "drwell"), seed=(3, 4), out=tmp_path / "r")
    folder = RunFolder(tmp_path / "r")
    values = [regret.regret(folder.experiment(), cell, row).value for cell, row in folder.finished(folder.experiment())]
    assert len(values) == 6
    assert all(value is not None and value >= 0 for value in values)
