"""``teamworld compare``: methods on the same instances beside random, scripted and silent teams."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from teamworld.cli import run as command
from teamworld.experiment import comparison_runs
from teamworld.experiment.grid import GridRun, runs
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import EpisodeStart, read_log

SMALL = ["--seeds", "3", "--episodes", "2", "--max-steps", "20"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare") / "c"
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(folder)]) == 0
    return folder


def plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert command(["compare", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


@pytest.mark.heavy
def test_one_json_object_tells_all(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = plain(["drwell", "zero_shot", *SMALL, "--out", str(out)], capsys)
    assert {row["method"] for row in result["rows"]} == {"drwell", "zero_shot", "random", "greedy", "silent"}
    for row in result["rows"]:
        assert {"method", "metric", "value", "low", "high", "n", "nulls"} == set(row)
        assert row["n"] + row["nulls"] <= 3  # copies of a play count once
        told = row["value"] is not None and row["low"] is not None
        assert not told or row["low"] <= row["value"] <= row["high"]
        assert told or row["n"] < 2
    assert (result["world"], result["level"]) == ("cube", "paper-n2")
    assert result["mind"] == "built-in rules, no language model"
    pairs = {(pair["a"], pair["b"]) for pair in result["paired"]}
    assert pairs == {
        ("drwell", "zero_shot"),
        *((method, reference) for method in ("drwell", "zero_shot") for reference in ("random", "greedy")),
        ("drwell", "silent"),
    }
    assert {"a", "b", "metric", "difference", "low", "high", "p", "n", "supported"} <= set(result["paired"][0])
    counts = {one["method"]: (one["instances"], one["layouts"], one["plays"]) for one in result["independence"]}
    assert (counts["random"], counts["greedy"], counts["zero_shot"]) == ((3, 1, 3), (3, 1, 1), (3, 1, 1))
    assert not any(pair["supported"] for pair in result["paired"])


def test_what_was_run_is_used_again(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")}
    assert len(times) == (4 + 1) * 3 * 2
    plain(["drwell", "zero_shot", *SMALL, "--out", str(out), "--metrics", "completion,work_share"], capsys)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")} == times


def test_tables_are_written_in_every_form(out: Path) -> None:
    assert "| metric | drwell |" in (out / "comparison.md").read_text("utf-8")
    tex = (out / "comparison.tex").read_text("utf-8")
    assert r"zero\_shot" in tex
    assert tex.count(r"\\") == (out / "comparison.md").read_text("utf-8").count("\n| ") - 1  # less the line of dashes
    rows = list(csv.DictReader((out / "rows.csv").read_text("utf-8").splitlines()))
    assert rows[0]["method"] == "drwell"
    assert any(row["value"] == "" for row in rows) or all(row["value"] for row in rows)
    assert (
        (out / "paired.csv")
        .read_text("utf-8")
        .startswith(
            "a,b,metric,difference,low,high,p,p_corrected,effect,n,nulls,family,left_out,floor,times_floor,within_floor,supported,world,level,mind\n"
        )
    )


def test_parquet_holds_what_csv_does(out: Path) -> None:
    polars = pytest.importorskip("polars")
    for name in ("rows", "paired"):
        frame = polars.read_parquet(out / f"{name}.parquet")
        told = list(csv.DictReader((out / f"{name}.csv").read_text("utf-8").splitlines()))
        assert frame.columns == list(told[0])
        assert frame["metric"].to_list() == [row["metric"] for row in told]
        for value, text in zip(frame["low"].to_list(), (row["low"] for row in told), strict=True):
            assert (value is None) == (text == "")
            assert value is None or value == float(text)


def test_silence_is_a_run_in_which_nobody_hears(out: Path) -> None:
    silent = RunFolder(out / "silent").experiment()
    assert silent.methods == ("drwell",)  # zero_shot says nothing anyway
    assert silent.options["messages"]["loss"] == 1.0
    assert RunFolder(out / "run").experiment().options["messages"]["loss"] == 0.0


def test_sentences_say_what_is_supported(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(out)]) == 0
    output = capsys.readouterr().out
    assert "not supported: a difference in steps (T) between drwell and zero_shot" in output
    assert "with 3 independent observations none of the 6 differences in steps can be supported" in output
    assert "take 8 or more" in output  # 6 * 2 / 2**8 is below 0.05
    assert command(["compare", str(out), "--primary", "completion,steps", "--metrics", "completion"]) == 0
    assert "none of the 12 differences in completion and steps can be" in capsys.readouterr().out
    assert command(["compare", str(out), "--primary", "stepz"]) == 2
    assert "there is no metric 'stepz'; did you mean 'steps'" in capsys.readouterr().err
    assert "copies count once: the 3 seeds of drwell, zero_shot, greedy, silent are 1 play" in output
    assert "all seeds play in one layout" in output


@pytest.mark.heavy
def test_ten_copies_of_a_play_support_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules that draw nothing, in a published layout: whatever the difference is, it was seen once."""
    ten = ["--level", "paper-n4", "--seeds", "10", "--no-references", "--metrics", "steps"]
    result = plain(["coela", "zero_shot", *ten, "--out", str(tmp_path / "c")], capsys)
    (pair,) = result["paired"]
    assert pair["difference"] != 0
    assert (pair["n"], pair["low"], pair["supported"]) == (1, None, False)
    assert pair["p"] == 1


@pytest.mark.heavy
def test_figures_are_drawn(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(out), "--figures"]) == 0
    drawn = {path.name for path in (out / "figures").iterdir()}
    assert {"values.png", "values.svg", "profile.png", "learning.png"} <= drawn


def test_one_method_alone_and_without_references(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = plain(
        ["greedy", "--no-references", "--seeds", "2", "--max-steps", "9", "--out", str(tmp_path / "c")], capsys
    )
    assert {row["method"] for row in result["rows"]} == {"greedy"}
    assert result["paired"] == []
    alone = GridRun("", {}, RunFolder(tmp_path / "c" / "run").experiment())
    assert comparison_runs.in_silence(alone, tmp_path, ()) is None


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sizes") / "c"
    vary = ["--vary", "cube.agents=1,2", "--vary", "instances=1,2", "--level", "n2"]
    wanted = ["--metrics", "success,completion,steps,speedup,scaling_tax"]
    arguments = ["compare", "greedy", *vary, *wanted, "--seeds", "2", "--max-steps", "60", "--out", str(folder)]
    assert command([*arguments, "--figures"]) == 0
    return folder


@pytest.mark.heavy
def test_teams_of_several_sizes_meet_the_same_instances(sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teams: dict[tuple[str, int], list[tuple[object, ...]]] = {}
    for path, experiment in runs(sizes):
        for cell in experiment.cells():
            start = next(iter(read_log(RunFolder(path).log(cell, 1))))
            assert isinstance(start, EpisodeStart)
            teams.setdefault((cell.method, start.world_seed), []).append((len(start.team), start.goals))
    assert {seed for _, seed in teams} == {1, 2}
    for result in teams.values():
        assert {team for team, _ in result} == {1, 2}
        assert len({goals for _, goals in result}) == 1


def test_what_varies_is_told_setting_by_setting(sizes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (sizes / "comparison.md").read_text("utf-8")
    assert "| scaling_tax |" in text
    assert "| method | instances=1,cube.agents=1 |" in text
    assert (
        command(["compare", str(sizes / "comparison.yaml"), "--metrics", "O2,D23", "--out", str(sizes), "--json"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert [part["setting"] for part in document["settings"]] == [
        f"instances={layout},cube.agents={agents}" for layout in (1, 2) for agents in (1, 2)
    ]
    rows = {row["metric"]: row for row in document["rows"] if row["method"] == "greedy"}
    assert rows["completion"]["n"] == 2  # two layouts: what two seeds play in one is one observation
    alone = next(
        row for row in document["settings"][0]["rows"] if (row["method"], row["metric"]) == ("greedy", "completion")
    )
    assert alone["value"] <= 0.5  # one agent cannot push the block that takes two
    larger = next(
        row for row in document["settings"][1]["rows"] if (row["method"], row["metric"]) == ("greedy", "scaling_tax")
    )
    assert larger["value"] is not None  # what pairs settings is told in each
    assert {path.name for path in (sizes / "figures").iterdir()} >= {"by_cube_agents.png", "by_instances.png"}


def test_a_folder_of_something_else_is_left_alone(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "comparison.md").write_text("mine")
    assert command(["compare", "drwell", *SMALL, "--out", str(tmp_path)]) == 2
    assert "is not empty and holds no comparison" in capsys.readouterr().err
    assert (tmp_path / "comparison.md").read_text() == "mine"
    assert command(["compare", "drwell", *SMALL, "--retries", "5", "--out", str(out)]) == 2
    assert "holds another comparison" in capsys.readouterr().err
    assert command(["status", str(out)]) == 0
    assert "30 of 30 episodes are finished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["drwell", "--vary", "level"], "--vary takes FIELD=VALUE,VALUE"),
        (["drwell", "--vary", "level=n1,"], "--vary takes FIELD=VALUE,VALUE"),
        (["drwell", "--vary", "level=n1", "--vary", "level=n2"], "--vary level is given twice"),
        (["drwell", "--vary", "levels=n1"], "did you mean 'level'"),
        (["drwell", "--vary", "cube.agent=1"], "cube"),
        (["drwell", "--vary", "cube.agents=3", "--level", "n2"], "level n2 has 2 agents, got 3"),
        (["drwell", "--vary", "cube.agents=0"], "cube"),
        (["drwell", "--vary", "cube.agents=1,1.0"], "named twice"),
        (["drwell", "--vary", "instances=true,1"], "named twice"),
        (["drwell", "--vary", "world=cub"], "there is no world 'cub'"),
        (["nowhere.yaml"], "nowhere.yaml cannot be read"),
        (["nowhere.yaml", "--seeds", "3"], "leave out --seeds"),
        ([], "which methods?"),
        (["drwel"], "drwell"),
        (["drwell", "--metrics", "O99"], "there is no metric 'O99'"),
        (["drwell", "drwell"], "each may be named once"),
    ],
)
def test_what_cannot_be_compared_is_told(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["compare", *arguments, "--out", str(tmp_path / "c")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_silence_keeps_what_is_set_for_a_method(tmp_path: Path) -> None:
    data = {"methods": ["drwell", "drwell:no_memory"], "options": {"drwell": {"explore": 3}}, "level": "n2"}
    setting = comparison_runs.settings(data)[0]
    quiet = comparison_runs.in_silence(setting, tmp_path, (), ["drwell:no_memory"])
    assert quiet is not None
    assert quiet.experiment.resolved().options["drwell:no_memory"]["explore"] == 3
    assert quiet.experiment.methods == ("drwell:no_memory",)
