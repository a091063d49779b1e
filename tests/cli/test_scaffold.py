"""``teamworld new``: what it writes plays and passes its own tests, and bad names end in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from teamworld.cli import run as command

SOURCE = Path(__file__).parents[2] / "src"


def count_code(path: Path) -> int:
    return sum(bool(line.strip()) for line in path.read_text().splitlines())


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "file", "most"), [("world", "world.py", 120), ("method", "method.py", 60)])
def test_what_is_written_plays_and_passes_its_tests(
    kind: str, file: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(["new", kind, "my_own"]) == 0
    folder = tmp_path / "my_own"
    assert count_code(folder / "my_own" / file) <= most
    play = next(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("  teamworld "))
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    runs = [
        [sys.executable, "-m", "teamworld", *play[1:], "--max-steps", "40"],
        [sys.executable, "-m", "teamworld", "replay", "runs/first"],
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
    ]
    for arguments in runs:
        done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["", "My", "a-b", "../a", "/tmp/a", "class", "1a", "a b", "json", "teamworld", "x" * 50]
)
def test_a_name_that_is_none_is_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(["new", "world", name]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for out in ("full", "file"):
        assert command(["new", "method", "my_own", "--out", out]) == 2
        assert f"{out} is there already" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert command(["new", "method", "my_own", "--out", "empty"]) == 0
    assert command(["new", "method", "my_own", "--out", "empty"]) == 2
