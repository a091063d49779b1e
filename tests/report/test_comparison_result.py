"""Comparisons from Python say what the command says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.methods.zero_shot.method import ZeroShot

SMALL: dict[str, Any] = {"level": "n1", "max_steps": 12, "seeds": range(3)}


class Lazy(ZeroShot):
    name = "lazy"


def test_python_and_the_command_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = teamworld.compare("drwell", "zero_shot", **SMALL, metrics=["steps", "messages"], out=tmp_path / "c")
    asked = ["compare", str(tmp_path / "c"), "--metrics", "steps,messages", "--json"]
    assert command(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert (result.rows, result.paired) == (told["rows"], told["paired"])
    assert (tmp_path / "c" / "comparison.md").read_text("utf-8").startswith("**Methods on the same instances")
    assert {row["method"] for row in result.rows} >= {"drwell", "zero_shot", "random", "greedy"}
    assert str(result) == result._repr_markdown_()
    assert all(sentence in str(result) for sentence in result.sentences)
    assert "| metric | drwell | zero_shot |" in str(result)


def test_what_exists_is_compared_and_nothing_is_written(tmp_path: Path) -> None:
    teamworld.run("cube", level="n1", method=["drwell", "greedy"], seed=range(3), max_steps=12, out=tmp_path / "r")
    before = sorted(tmp_path.rglob("*"))
    result = teamworld.compare(tmp_path / "r", metrics="steps")
    assert sorted(tmp_path.rglob("*")) == before
    assert [row["method"] for row in result.rows] == ["drwell", "greedy"]
    alone = teamworld.compare(str(tmp_path / "r"), metrics="steps", references=False)
    assert [row["method"] for row in alone.rows] == ["drwell"]


def test_classes_are_compared_and_comparisons_grow(tmp_path: Path) -> None:
    quiet: dict[str, Any] = {"references": False, "metrics": "steps", "out": tmp_path / "c"}
    first = teamworld.compare(Lazy, **SMALL, **quiet)
    assert [row["method"] for row in first.rows] == [f"{__name__}:Lazy"]
    both = teamworld.compare("zero_shot", **SMALL, **quiet)
    assert len(both.rows) == 2


@pytest.mark.parametrize(
    ("compared", "fields", "why"),
    [
        (("drwell",), {}, "a folder"),
        ((), {"out": "x"}, "one method or more"),
        (("drwell", "some/folder"), {"out": "x"}, "or folders of runs alone"),
        (("some/folder",), {"level": "n1"}, "or folders of runs alone"),
        (("some/folder",), {}, "holds no run"),
        (("drwel",), {"out": "x"}, "drwel"),
        (("drwell",), {"out": "x", "levl": "n1"}, "levl"),
    ],
)
def test_misuse_gets_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared: tuple[str, ...], fields: dict[str, Any], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=why):
        teamworld.compare(*compared, **fields)
    assert list(tmp_path.iterdir()) == []
