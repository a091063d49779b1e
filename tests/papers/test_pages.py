"""``teamworld reproduce`` from end to end, with --quick, and the folders that it takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teamworld.cli import run
from teamworld.errors import UserError
from teamworld.papers import cube, drwell
from teamworld.papers.cube import figures as cube_figures
from teamworld.papers.cube.costs import POLICIES, ActionCost, StepCost
from teamworld.papers.drwell import figures as drwell_figures
from teamworld.papers.drwell.figures import Strip
from teamworld.papers.reproduction import check_folder, plain_data, reproduce, title
from teamworld.report.figure_style import need

pytestmark = pytest.mark.heavy


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["reproduce", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def pictures(page: Path) -> list[Path]:
    return [page.parent / name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text("utf-8"))]


def unwritten(drawn: object, stem: Path) -> Path:
    """Stand in for writing a figure, which takes most of the time."""
    return stem.with_suffix(".png")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_drwell_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    first = ("drwell", "--quick", "--seeds", "1", "--out", str(out))
    code, text, errors = call(capsys, *first)
    assert (code, errors) == (0, "")
    assert text.startswith("1a  baseline")
    page = out / "report.md"
    words = page.read_text("utf-8")
    assert "teamworld reproduce drwell --seeds 1 --quick" in words
    assert "Simulated, not measured" in words
    assert "0.7 s a call" in words
    assert "built-in rules, no language model" in words
    assert str(tmp_path) not in words
    assert len(pictures(page)) == 5
    for picture in pictures(page):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.with_suffix(".svg").read_text("utf-8").lstrip().startswith("<?xml")
    # The second call runs nothing again; another assumption changes the simulated seconds.
    logs = contents(out / "run" / "logs" / "drwell-s42")
    monkeypatch.setattr(drwell_figures, "save", unwritten)
    monkeypatch.setattr(drwell, "draw_stages", lambda deltas, path, title: path)
    code, text, _ = call(capsys, *first, "--latency", "2", "--step-time", "0", "--json")
    assert code == 0
    assert contents(out / "run" / "logs" / "drwell-s42") == logs
    _check_drwell(json.loads(text))


def _check_drwell(numbers: dict[str, Any]) -> None:
    assert numbers["assumed"] == {"latency_s": 2.0, "step_s": 0.0}
    assert numbers["mind"] == "built-in rules, no language model"
    assert len(numbers["trends"]) == 12
    assert np.array(numbers["published"]["runs"]["drwell"]["completed"]).shape == (1, 3, 10)
    for method in ("zero_shot", "drwell"):
        ours = numbers["ours"]["runs"][method]
        for part in ("completed", "steps", "seconds"):
            assert np.array(ours[part], object).shape == (1, 3, 6)
        flat = zip(np.ravel(ours["completed"]), np.ravel(ours["steps"]), np.ravel(ours["seconds"]), strict=True)
        for completed, steps, seconds in flat:
            assert (steps is not None) == (seconds is not None) == completed
            assert seconds is None or seconds % 2 == 0  # whole calls of two seconds
        calls, chain = (np.array(numbers["ours"][name][method]) for name in ("calls", "chain"))
        assert (chain <= calls).all()
        assert (chain > 0).all()


def test_cube_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("matplotlib", "pettingzoo", "gymnasium"):
        pytest.importorskip(package)
    code, text, errors = call(capsys, "cube", "--quick", "--seeds", "2", "--out", str(tmp_path / "out"), "--json")
    assert (code, errors) == (0, "")
    numbers = json.loads(text)
    page = Path(numbers["page"])
    words = page.read_text("utf-8")
    assert "published: gpt-4o (LLM)" in words
    assert "ours: zero-shot, rules" in words
    assert str(tmp_path) not in words
    assert len(pictures(page)) == 3
    assert all(picture.exists() and picture.with_suffix(".svg").exists() for picture in pictures(page))
    greedy = numbers["ours"]["baselines"]["completed"]["greedy"]
    assert [band["mean"] for band in greedy] == [1, 3]
    assert numbers["ours"]["seed_42_layout"]["2"]["greedy"]["completed"] == 3
    assert [cost["n"] for cost in numbers["ours"]["scaling"]] == [2, 2, 10, 10]
    assert len(numbers["ours"]["actions"]) == 3 * 6
    # A second call measures nothing again; where the file was cut off, it measures anew.
    measured = (page.parent / "measured.json").read_bytes()
    sizes: list[int] = []

    def stand_in(n: int, window: float) -> list[StepCost]:
        sizes.append(n)
        return [StepCost(n, policy, 50, 1e-4, 1e-5, 99.0, None) for policy in POLICIES]

    monkeypatch.setattr(cube_figures, "save", unwritten)
    monkeypatch.setattr(cube, "step_costs_apart", stand_in)
    plan = cube.QUICK
    assert reproduce(plan, page.parent, "again").numbers["ours"] == numbers["ours"]
    assert (page.parent / "measured.json").read_bytes() == measured
    assert sizes == []
    monkeypatch.setattr(cube, "action_cost", lambda n, verb, window: ActionCost(n, verb, 1, 1e-5))
    other = json.dumps({**json.loads(measured), "machine": {}}).encode()
    for damaged in (measured[:100], b"", b"[]", b'["\xff"]', other):
        (page.parent / "measured.json").write_bytes(damaged)
        sizes.clear()
        assert len(reproduce(plan, page.parent, "again").numbers["ours"]["actions"]) == 18
        assert sizes == [2, 10]
    assert "The machine was busy" not in page.read_text("utf-8")
    assert "| none |" in page.read_text("utf-8")  # memory that cannot be read is no number
    monkeypatch.setattr(
        cube, "step_costs_apart", lambda n, window: [cost._replace(cpu=40.0) for cost in stand_in(n, window)]
    )
    (page.parent / "measured.json").unlink()
    reproduce(plan, page.parent, "again")
    assert "The machine was busy while this was measured** (load down to 40 %)" in page.read_text("utf-8")


@pytest.mark.parametrize("paper", ["drwell", "cube"])
def test_a_folder_with_other_things_is_left_alone(
    paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("matplotlib", "pettingzoo", "gymnasium"):
        pytest.importorskip(package)
    (tmp_path / "report.md").write_text("mine")
    code, _, errors = call(capsys, paper, "--quick", "--out", str(tmp_path))
    assert code == 2
    assert "not empty" in errors
    assert (tmp_path / "report.md").read_text() == "mine"
    code, _, errors = call(capsys, paper, "--quick", "--out", str(tmp_path / "report.md"))
    assert code == 2
    assert "is a file" in errors


def test_a_folder_of_the_other_paper_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    check_folder(tmp_path, "run", "drwell")
    with pytest.raises(UserError, match="no reproduction of this paper"):
        check_folder(tmp_path, "runs", "cube")


@pytest.mark.parametrize("name", ["report.md", "notes.md", "pyproject.toml"])
def test_a_folder_of_runs_that_holds_more_is_left_alone(name: str, tmp_path: Path) -> None:
    """As a project of the user's own has it: its page and figures would be written over."""
    (tmp_path / "runs").mkdir()
    (tmp_path / name).write_text("# My own\n")
    with pytest.raises(UserError, match=f"holds {name}, which no reproduction"):
        check_folder(tmp_path, "runs", "cube")


@pytest.mark.parametrize("begin", ["", title("cube"), f"{title('cube')}\n\nmore"])
def test_what_a_call_left_behind_is_gone_on_with(begin: str, tmp_path: Path) -> None:
    for name in ("runs", "figures"):
        (tmp_path / name).mkdir()
    for name, text in {"report.md": begin, "measured.json": "{", "measured.json.tmp": ""}.items():
        (tmp_path / name).write_text(text)
    check_folder(tmp_path, "runs", "cube")


def test_missing_extras_are_named() -> None:
    need(json="plots")
    with pytest.raises(UserError, match=r"no_such_one, no_such_two, not installed: .*teamworld\[plots,rl\]"):
        need(no_such_one="rl", json="rl", no_such_two="plots")


def test_infinity_is_null_in_plain_data() -> None:
    values = {"a": np.array([1.0, np.inf]), "b": (float("nan"), 2), "c": Strip(0, 1, 2), 3: np.bool_(True)}
    assert plain_data(values) == {"a": [1.0, None], "b": [None, 2], "c": {"block": 0, "begin": 1, "end": 2}, "3": True}
