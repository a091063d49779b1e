"""A run on record from an earlier version is read for as long as its format is, and replays alike or says why not.

``stored/run-0.1.0`` was played on Python 3.11, before the first release::

    teamworld run cube --level paper-n2 --method drwell,cobel --episodes 2 --max-steps 40 --seed 3 \
        --reasoner rules:noise=0.2 --out tests/experiment/stored/run-0.1.0

Each release adds one; the oldest but two goes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from teamworld.cli import run as command

STORED = sorted((Path(__file__).parent / "stored").iterdir())


@pytest.fixture(params=STORED, ids=lambda path: str(path.name))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(request.param, tmp_path / "run"))


def test_it_replays_alike_or_says_that_the_code_has_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command(["replay", str(folder)])
    shown = capsys.readouterr()
    if code == 0:
        assert "4 episodes replayed: every log is the same" in shown.out
    else:
        assert code == 1
        differs, why = shown.out.splitlines()
        assert " differs: " in differs
        assert why.startswith("the code of teamworld")


@pytest.mark.parametrize("arguments", [["report"], ["report", "--failures"], ["metrics"], ["status"], ["compare"]])
def test_it_is_read(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = arguments
    assert command([name, str(folder), *rest]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.heavy
def test_it_goes_on_only_where_the_code_is_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["resume", str(folder)]) == 0  # all is finished: nothing is played
    more = ["run", "cube", "--level", "paper-n2", "--method", "drwell,cobel", "--episodes", "2", "--max-steps", "40"]
    more += ["--reasoner", "rules:noise=0.2", "--seed", "3", "--seeds", "2", "--out", str(folder)]
    code = command(more)
    assert code == 0 or "has changed since the run in" in capsys.readouterr().err
    assert command([*more, "--accept-changes"]) == 0
