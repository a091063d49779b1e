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
        (["--no-prompts"], "random, seed 3, episode 2"),
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


def test_it_draws_moments_and_says_of_which_episode(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "moments.png"
    code, out, err = call(capsys, played, "--export", target, "--steps", "0,3", "--method", "greedy")
    assert (code, err) == (0, "")
    assert "greedy, seed 3, episode 2" in out
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["moments.png", "moments.svg"]
    shown = (tmp_path / "moments.svg").read_text("utf-8")
    assert ">step 3<" in shown
    assert ">step 6<" not in shown


def test_two_episodes_side_by_side(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "pair.html"
    code, out, err = call(capsys, played, "--export", target, "--seed", 4, "--episode", 1, "--against", "greedy")
    assert (code, err) == (0, "")
    assert "random, seed 4, episode 1, beside greedy" in out
    assert "random, seed 4, episode 1; greedy, seed 4, episode 1</title>" in target.read_text("utf-8")
    other = tmp_path / "other"
    play(build({"world": "cube", "methods": ["do_nothing"], "episodes": 2, "seeds": [3], "max_steps": 4}), other)
    code, out, err = call(capsys, played, "--export", target, "--against", other)
    assert (code, err) == (0, "")
    assert f"random, seed 3, episode 2, beside do_nothing of {other}" in out


@pytest.fixture
def begun(played: Path, tmp_path: Path) -> Path:
    """Return a folder with a run that has no finished episode, and a folder that is named as a page would be."""
    (tmp_path / "begun").mkdir()
    (tmp_path / "folder.html").mkdir()
    shutil.copy(played / "experiment.yaml", tmp_path / "begun")
    return tmp_path


@pytest.mark.parametrize(
    ("run", "target", "arguments", "words"),
    [
        ("PLAYED", "replay.html", ["--episode", "3"], ["no finished episode", "it has 1 to 2"]),
        ("PLAYED", "replay.html", ["--episode", "0"], ["no finished episode", "it has 1 to 2"]),
        ("PLAYED", "replay.html", ["--episode", "-1"], ["no finished episode", "it has 1 to 2"]),
        ("PLAYED", "replay.html", ["--episode", "one"], ["whole number"]),
        ("PLAYED", "replay.html", ["--method", "gredy"], ["did you mean 'greedy'"]),
        ("PLAYED", "replay.html", ["--method", "drwell"], ["known: random, greedy"]),
        ("PLAYED", "replay.html", ["--seed", "5"], ["it has: 3, 4"]),
        ("PLAYED", "missing/replay.html", [], ["is no folder"]),
        ("PLAYED", "replay.pdf", [], ["web page"]),
        ("PLAYED", "results.sqlite", [], ["web page"]),
        ("PLAYED", "folder.html", [], ["is a folder"]),
        ("PLAYED", "replay.html", ["--steps", "1"], ["--steps is for a figure"]),
        ("PLAYED", "moments.png", ["--steps", "1,two"], ["numbers of steps", "1, two"]),
        ("PLAYED", "moments.png", ["--steps", "0,7"], ["from 0 to 6, got 0, 7"]),
        ("PLAYED", "moments.png", ["--steps", "0,1,2,3,4,5,6"], ["1 to 6 steps"]),
        ("PLAYED", None, ["--steps", "1"], ["--steps is for a figure"]),
        ("PLAYED", None, ["--episode", "1"], ["--episode is for a file"]),
        ("PLAYED", "replay.html", ["--against", "gredy"], ["did you mean 'greedy'", "the folder of another run"]),
        ("PLAYED", None, ["--against", "gredy", "--no-browser"], ["did you mean 'greedy'"]),
        ("PLAYED", "moments.png", ["--against", "greedy"], ["are for a page"]),
        ("PLAYED", None, ["--no-prompts"], ["--no-prompts is for a file"]),
        ("PLAYED", "moments.png", ["--no-prompts"], ["are for a page"]),
        ("PLAYED", None, ["--port", "99999", "--no-browser"], ["choose another --port"]),
        ("PLAYED", "replay.html", ["--port", "8000"], ["leave out --export"]),
        ("", "replay.html", [], ["holds several runs"]),
        ("missing", "replay.html", [], ["holds no run"]),
        ("begun", "replay.html", [], ["no finished episode of random with seed 3", "teamworld resume"]),
    ],
)
def test_what_cannot_be_shown_or_written_is_told_in_one_line(
    played: Path,
    begun: Path,
    capsys: pytest.CaptureFixture[str],
    run: str,
    target: str | None,
    arguments: list[str],
    words: list[str],
) -> None:
    export = [] if target is None else ["--export", begun / target]
    code, out, err = call(capsys, played if run == "PLAYED" else begun / run, *export, *arguments)
    assert (code, out) == (2, "")
    assert all(word in err for word in words)
    assert len(err.strip().splitlines()) == 1
    assert sorted(entry.name for entry in begun.iterdir()) == ["begun", "folder.html"], "nothing is half written"


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
