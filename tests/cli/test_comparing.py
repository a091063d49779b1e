"""``teamworld compare``: methods on the same instances beside random, scripted and silent teams."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from teamworld.cli import run as command
from teamworld.experiment.folder import Folder
from teamworld.report import study

SMALL = ["--seeds", "3", "--episodes", "2", "--max-steps", "20"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare") / "c"
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(folder)]) == 0
    return folder


def plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert command(["compare", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_one_json_object_tells_all(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = plain(["drwell", "zero_shot", *SMALL, "--out", str(out)], capsys)
    assert {row["method"] for row in found["rows"]} == {"drwell", "zero_shot", "random", "greedy", "silent"}
    for row in found["rows"]:
        assert {"method", "metric", "value", "low", "high", "n", "nulls"} == set(row)
        assert row["n"] + row["nulls"] == 3
        assert row["value"] is None or row["low"] <= row["value"] <= row["high"]
    pairs = {(pair["a"], pair["b"]) for pair in found["paired"]}
    assert pairs == {
        ("drwell", "zero_shot"),
        *((method, reference) for method in ("drwell", "zero_shot") for reference in ("random", "greedy")),
        ("drwell", "silent"),
    }
    assert {"a", "b", "metric", "difference", "low", "high", "p", "n"} <= set(found["paired"][0])


def test_what_was_run_is_used_again(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")}
    assert len(times) == (4 + 1) * 3 * 2
    plain(["drwell", "zero_shot", *SMALL, "--out", str(out), "--metrics", "O2,E5"], capsys)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")} == times


def test_tables_are_written_in_every_form(out: Path) -> None:
    assert "| metric | drwell |" in (out / "comparison.md").read_text("utf-8")
    tex = (out / "comparison.tex").read_text("utf-8")
    assert r"zero\_shot" in tex
    assert tex.count(r"\\") == (out / "comparison.md").read_text("utf-8").count("\n| ")
    rows = list(csv.DictReader((out / "rows.csv").read_text("utf-8").splitlines()))
    assert rows[0]["method"] == "drwell"
    assert any(row["value"] == "" for row in rows) or all(row["value"] for row in rows)
    assert (out / "paired.csv").read_text("utf-8").startswith("a,b,metric,difference,low,high,p,p_corrected,effect,n\n")


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
    silent = Folder(out / "silent").experiment()
    assert silent.methods == ("drwell",)  # zero_shot says nothing anyway
    assert silent.options["messages"]["loss"] == 1.0
    assert Folder(out / "run").experiment().options["messages"]["loss"] == 0.0


def test_sentences_say_what_is_supported(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "not supported: a difference in completion (C) between drwell and zero_shot" in told
    assert "with 3 seeds no difference can be supported" in told


def test_figures_are_drawn(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", "drwell", "zero_shot", *SMALL, "--out", str(out), "--figures"]) == 0
    drawn = {path.name for path in (out / "figures").iterdir()}
    assert {"values.png", "values.svg", "profile.png", "learning.png"} <= drawn


def test_one_method_alone_and_without_references(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = plain(
        ["greedy", "--no-references", "--seeds", "2", "--max-steps", "9", "--out", str(tmp_path / "c")], capsys
    )
    assert {row["method"] for row in found["rows"]} == {"greedy"}
    assert found["paired"] == []
    assert study.in_silence(Folder(tmp_path / "c" / "run").experiment(), tmp_path, ()) is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
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
