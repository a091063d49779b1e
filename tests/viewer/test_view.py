"""``teamworld view``: which episode it takes, and one line for whatever cannot be shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from teamworld.cli import run
from teamworld.experiment.runner import run as play
from teamworld.experiment.spec import build


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    made = {"world": "cube", "methods": ["random", "greedy"], "episodes": 2, "seeds": [3, 4], "max_steps": 6}
    play(build(made), out)
    return out


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["view", *map(str, arguments)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "random, seed 3, episode 2"),
        (["--episode", "1"], "random, seed 3, episode 1"),
        (["--method", "greedy", "--seed", "4", "--episode", "1"], "greedy, seed 4, episode 1"),
    ],
)
def test_it_writes_the_episode_and_says_which(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    target = tmp_path / "replay.html"
    target.write_text("older")
    code, out, err = call(capsys, played, "--export", target, *arguments)
    assert (code, err) == (0, "")
    assert words in out
    assert str(target) in out
    method, seed, episode = words.split(", ")
    assert f"<title>cube paper-n2: {method}, {seed}, {episode}</title>" in target.read_text("utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["replay.html"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--episode", "3"], "finished episodes 1 to 2"),
        (["--episode", "0"], "finished episodes 1 to 2"),
        (["--episode", "-1"], "finished episodes 1 to 2"),
        (["--episode", "one"], "whole number"),
        (["--method", "gredy"], "did you mean 'greedy'"),
        (["--method", "drwell"], "known are: random, greedy"),
        (["--seed", "5"], "it has: 3, 4"),
    ],
)
def test_what_is_not_in_the_run_is_told(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = call(capsys, played, "--export", tmp_path / "replay.html", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir()), "nothing is half written"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing/replay.html", "is no folder"),
        ("replay.pdf", "web page"),
        ("results.sqlite", "web page"),
        ("folder.html", "is a folder"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, words: str
) -> None:
    (tmp_path / "folder.html").mkdir()
    code, out, err = call(capsys, played, "--export", tmp_path / target)
    assert (code, out) == (2, "")
    assert words in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.html"]


def test_without_a_target_it_says_so(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, played)
    assert code == 2
    assert "--export" in err


def test_a_folder_without_a_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        code, _, err = call(capsys, folder, "--export", tmp_path / "replay.html")
        assert code == 2
        assert "holds no run" in err


def test_a_run_without_a_finished_episode_is_refused(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    shutil.copy(played / "experiment.yaml", begun)
    code, _, err = call(capsys, begun, "--export", tmp_path / "replay.html")
    assert code == 2
    assert "no finished episode of random with seed 3" in err
    assert "teamworld resume" in err


def test_a_missing_cut_or_damaged_log_is_refused(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(played, copy)
    log = copy / "logs" / "random-s3" / "0002.jsonl.zst"
    whole = log.read_bytes()
    for broken, words in (
        (whole[: len(whole) // 2], "not finished"),
        (b"not a log", "not a log"),
        (None, "cannot be read"),
    ):
        log.unlink()
        if broken is not None:
            log.write_bytes(broken)
        code, out, err = call(capsys, copy, "--export", tmp_path / "replay.html")
        assert (code, out) == (2, "")
        assert words in err, err
        assert len(err.strip().splitlines()) == 1
        assert not (tmp_path / "replay.html").exists()
        log.touch()
