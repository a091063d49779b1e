"""A record knows its code: what changes between a stop and a resume is noticed before the first step."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment import code_identity
from teamworld.experiment.code_identity import _digest, code_of
from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.data_frames import load
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import EpisodeStart, LogWriter, read_log

ROOT = Path(code_identity.__file__).parents[1]
SMALL = {"level": "n1", "max_steps": 4, "seeds": [0]}
#: A file of each kind that decides play.
FILES = (
    *("worlds/cube/physics.py", "worlds/household/placement_prior.json", "worlds/contract.py", "episode/loop.py"),
    *("methods/drwell/prompts/commit.md.j2", "methods/common/prompts/team.md.j2", "methods/cobel/planning.py"),
    *("language/grammar.lark", "memory/schema.sql", "metrics/definitions.csv", "reasoning/rules.py", "seeding.py"),
)
_NUMBERS = count()
MODULE = """
from teamworld.methods.zero_shot.method import ZeroShot

class Mine(ZeroShot):
    name = "mine"
"""


def grown(**fields: object) -> ExperimentSpec:
    return build(SMALL | {"seeds": [0, 1]} | fields)


@pytest.mark.parametrize("file", FILES)
def test_a_change_of_any_file_that_plays_is_another_digest(tmp_path: Path, file: str) -> None:
    copy = tmp_path / "teamworld"
    path = copy / file
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / file, path)
    before = _digest(copy, copy.rglob("*"))
    path.write_bytes(path.read_bytes() + b" ")
    assert _digest(copy, copy.rglob("*")) != before
    path.write_bytes(path.read_bytes()[:-1].replace(b"\n", b"\r\n"))  # as another system checks it out
    assert _digest(copy, copy.rglob("*")) == before


def test_what_only_looks_on_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []

    def note(root: Path, files: Iterable[Path]) -> str:
        seen.extend(files)
        return ""

    monkeypatch.setattr(code_identity, "_digest", note)
    code_identity.package_digest.__wrapped__()
    rooms = {path.relative_to(ROOT).parts[0] for path in seen}
    assert {"worlds", "methods", "episode", "experiment", "memory", "seeding.py"} <= rooms
    assert rooms.isdisjoint({"cli", "papers", "report", "testing", "viewer"})


@pytest.mark.parametrize(("part", "other"), [("package_digest", "changed"), ("dependencies", ("numpy==0",))])
def test_other_code_is_refused_until_the_user_accepts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, other: object
) -> None:
    run(build(SMALL), tmp_path / "run")
    monkeypatch.setattr(code_identity, part, lambda: other)
    run(build(SMALL), tmp_path / "run")  # it is finished: nothing is played
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != ".lock"}
    with pytest.raises(UserError, match=r"has changed since the run in .* began: .*--accept-changes"):
        run(grown(), tmp_path / "run")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != ".lock"} == times
    rows = run(grown(), tmp_path / "run", running=RunOptions(accept_changes=True))
    assert len(rows) == 2
    (scratch := tmp_path / "scratch").mkdir()
    assert rows[0].summary.code != rows[1].summary.code
    frame = load(tmp_path / "run").episodes
    assert frame["code"].to_list() == [row.summary.code for row in rows]
    folder = RunFolder(tmp_path / "run")
    assert [row.difference for row in replay(folder, folder.experiment(), scratch)] == [None, None]
    codes = folder.codes()
    assert [code["from"] for code in codes] == [0, 1]
    assert codes[1] == {**codes[1], **code_of(build(SMALL).resolved())}
    run(grown(seeds=[0, 1, 2]), tmp_path / "run")  # the code is the last one: nothing to accept


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / f"somebodys{next(_NUMBERS)}"  # a name is loaded once
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "method.py").write_text(MODULE)
    (folder / "helper.py").write_text("NUMBER = 1\n")
    (folder / "prompt.md.j2").write_text("{# version 1 #}\n")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("file", ["__init__.py", "method.py", "helper.py", "prompt.md.j2", "new.py"])
def test_a_change_of_a_plugin_is_noticed(package: Path, tmp_path: Path, file: str) -> None:
    asked = SMALL | {"methods": [f"{package.name}.method:Mine"]}
    run(build(asked), tmp_path / "run")
    assert package.name in RunFolder(tmp_path / "run").codes()[0]
    with (package / file).open("a") as changed:
        changed.write("\n# changed\n")
    with pytest.raises(UserError, match=f"the code of {package.name} has changed"):
        run(build(asked | {"seeds": [0, 1]}), tmp_path / "run")


def test_new_methods_bring_code_of_their_own(package: Path, tmp_path: Path) -> None:
    run(build(SMALL), tmp_path / "run")
    run(build(SMALL | {"methods": [f"{package.name}.method:Mine"]}), tmp_path / "run")
    (code,) = RunFolder(tmp_path / "run").codes()
    assert set(code) == {"teamworld", "dependencies", package.name, "from"}


def test_each_log_names_the_code_of_its_method_alone(package: Path, tmp_path: Path) -> None:
    mine = f"{package.name}.method:Mine"
    rows = run(build(SMALL | {"methods": [mine, "zero_shot"]}), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    named = {}
    for cell, row in folder.finished(folder.experiment()):
        start = next(iter(read_log(folder.log(cell, row.episode))))
        assert isinstance(start, EpisodeStart)
        named[cell.method] = set(start.code or ())
    assert named == {mine: {"teamworld", "dependencies", package.name}, "zero_shot": {"teamworld", "dependencies"}}
    assert len({row.summary.code for row in rows}) == 2


def test_a_comparison_tells_that_not_one_code_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", "cube", "--level", "n1", "--max-steps", "4", "--seeds", "2", "--method"]
    assert command([*asked, "greedy", "--out", str(tmp_path / "a")]) == 0
    assert command(["compare", str(tmp_path / "a")]) == 0
    assert "same code" not in capsys.readouterr().out
    monkeypatch.setattr(code_identity, "package_digest", lambda: "changed")
    assert command([*asked, "random", "--out", str(tmp_path / "b")]) == 0
    assert command(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "not all played by the same code, but by 2 versions of teamworld" in capsys.readouterr().out


def test_a_run_of_before_digests_were_kept_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(build(SMALL), tmp_path / "run")
    file = RunFolder(tmp_path / "run").experiment_file
    file.write_text(file.read_text().partition("code:")[0])
    monkeypatch.setattr(code_identity, "package_digest", lambda: "changed")
    assert len(run(grown(), tmp_path / "run")) == 2


def test_reports_tell_that_the_code_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    asked = ["run", "cube", "--level", "n1", "--max-steps", "4", "--out", out]
    assert command(asked) == 0
    assert "changed code" not in capsys.readouterr().out
    monkeypatch.setattr(code_identity, "package_digest", lambda: "changed")
    assert command([*asked, "--seeds", "2"]) == 2
    assert "--accept-changes" in capsys.readouterr().err
    assert command([*asked, "--seeds", "2", "--accept-changes"]) == 0
    assert "changed code from its 2nd episode on" in capsys.readouterr().out
    assert command(["report", out]) == 0
    assert "changed code from its 2nd episode on" in capsys.readouterr().out


def test_a_replay_that_differs_says_that_the_code_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    assert command(["run", "cube", "--level", "n1", "--max-steps", "4", "--out", out]) == 0
    log = next((tmp_path / "run").glob("logs/*/*.zst"))
    events = list(read_log(log))
    with LogWriter(log) as writer:
        for event in (*events[:3], *events[4:]):
            writer.write(event, event.step, event.tick)
        writer.finish()
    capsys.readouterr()
    assert command(["replay", out]) == 1
    assert "has changed since" not in capsys.readouterr().out
    monkeypatch.setattr(code_identity, "package_digest", lambda: "changed")
    assert command(["replay", out]) == 1
    assert "the code of teamworld has changed since this run was played" in capsys.readouterr().out
