"""Runs on disk: the same bytes everywhere, going on after a stop, replay, and folders that are refused."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from teamworld import run
from teamworld.cli import run as command
from teamworld.cli.executions import default_folder
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.runner import completed
from teamworld.experiment.spec import RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.memory.store import MemoryStore
from teamworld.record import LogWriter, StepDone, read_log
from tests.experiment.ledger import logs, plays

SHORT: dict[str, Any] = {"method": ["drwell", "zero_shot"], "episodes": 2, "max_steps": 40}
COMMAND = ["run", "cube", "--method", "drwell,zero_shot", "--episodes", "2", "--max-steps", "40"]


def teamworld(*arguments: str, seed: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "teamworld", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": seed},
        check=False,
    )


def scores(rows: list[EpisodeRow]) -> list[EpisodeRow]:
    """Return rows without their wall time."""
    return [row._replace(seconds=0.0) for row in rows]


def contents(database: Path) -> list[str]:
    """Return a database's contents as statements."""
    connection = sqlite3.connect(database)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return list(connection.iterdump())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    run("cube", **SHORT, out=folder)
    return folder


@pytest.mark.heavy
def test_other_processes_and_hash_seeds_write_the_same_bytes(tmp_path: Path, finished: Path) -> None:
    for seed in ("1", "4242"):
        done = teamworld(*COMMAND, "--out", str(tmp_path / seed), seed=seed)
        assert done.returncode == 0, done.stderr
        assert logs(tmp_path / seed) == logs(finished)


def test_another_seed_and_another_episode_differ(tmp_path: Path, finished: Path) -> None:
    run("cube", **SHORT, seed=1, out=tmp_path / "other")
    other = logs(tmp_path / "other")
    assert set(other.values()).isdisjoint(logs(finished).values())
    assert len(set(logs(finished).values())) == 4


def test_a_finished_run_is_not_run_again(finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (finished / "logs").rglob("*.zst")}
    with Results(finished / "results.sqlite") as results:
        held = results.rows()
    assert run("cube", **SHORT, out=finished) == held
    assert {path: path.stat().st_mtime_ns for path in (finished / "logs").rglob("*.zst")} == before


def change(database: Path, statement: str, *values: object) -> None:
    """Change a database behind the program's back."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, values)


def stopped_after(folder: Path, source: Path, cell: str, episode: int) -> None:
    """Copy a finished run as if it had been killed when that episode's log was done, and nothing after it."""
    shutil.copytree(source, folder)
    change(
        folder / "results.sqlite",
        "DELETE FROM episodes WHERE cell > ? OR cell = ? AND episode >= ?",
        cell,
        cell,
        episode,
    )


@pytest.mark.parametrize("episode", [1, 2])
def test_a_delta_without_a_result_row_is_discarded_and_its_episode_runs_again(
    tmp_path: Path, finished: Path, episode: int
) -> None:
    stopped_after(tmp_path / "run", finished, "drwell-s0", episode)
    rows = run("cube", **SHORT, out=tmp_path / "run")
    with Results(finished / "results.sqlite") as results:
        assert scores(rows) == scores(results.rows())
    assert logs(tmp_path / "run") == logs(finished)
    assert contents(tmp_path / "run" / "memory.sqlite") == contents(finished / "memory.sqlite")


def test_a_memory_that_lost_an_episode_learns_it_again_from_the_log(tmp_path: Path, finished: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    with MemoryStore(tmp_path / "run" / "memory.sqlite") as memory:
        memory.discard("drwell-s0", keep=[2])
    run("cube", **SHORT, out=tmp_path / "run")
    with (
        MemoryStore(tmp_path / "run" / "memory.sqlite") as one,
        MemoryStore(finished / "memory.sqlite") as other,
    ):
        assert one.deltas("drwell-s0") == other.deltas("drwell-s0")


#: Runs ``teamworld`` and kills it at the so-manieth call of a method.
KILLED = """
import importlib, os, signal, sys
module, owner, name, count, *arguments = sys.argv[1:]
kind = getattr(importlib.import_module(module), owner)
original, calls = getattr(kind, name), []
def kill(*args, **kwargs):
    calls.append(name)
    if len(calls) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **kwargs)
setattr(kind, name, kill)
from teamworld.cli import main
main(arguments)
"""


@pytest.mark.heavy
def test_kill_at_several_moments_then_the_same_command(tmp_path: Path) -> None:
    """Inside an episode and between its last steps; benchmarks/durability.py kills at fifty moments."""
    run("cube", method=["drwell", "zero_shot"], episodes=4, max_steps=60, out=tmp_path / "quiet")
    folder = tmp_path / "run"
    arguments = ["run", "cube", "--method", "drwell,zero_shot", "--episodes", "4", "--max-steps", "60"]
    begun = [sys.executable, "-m", "teamworld", *arguments, "--out", str(folder)]
    for moment in (
        ("teamworld.experiment.store.folder", "RunFolder", "claim", "1"),
        ("teamworld.record", "LogWriter", "write", "500"),
        ("teamworld.record", "LogWriter", "finish", "2"),
        ("teamworld.memory.store", "MemoryStore", "commit", "2"),
        ("teamworld.experiment.store.results", "Results", "add", "3"),
    ):
        killed = subprocess.run([sys.executable, "-c", KILLED, *moment, *begun[3:]], capture_output=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    done = subprocess.run(begun, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert logs(folder) == logs(tmp_path / "quiet")
    assert contents(folder / "memory.sqlite") == contents(tmp_path / "quiet" / "memory.sqlite")
    assert contents(folder / "results.sqlite")


def test_replay_finds_no_difference_and_then_every_kind_of_alteration(
    tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (tmp_path / "scratch").mkdir()
    result = list(replay(RunFolder(folder), RunFolder(folder).experiment(), tmp_path / "scratch"))
    assert [checked.difference for checked in result] == [None] * 4
    assert command(["replay", str(folder)]) == 0
    path = RunFolder(folder).log(RunCell("drwell", 0), 2)
    events = list(read_log(path))
    with LogWriter(path) as log:
        for event in events:
            altered = event if not isinstance(event, StepDone) else StepDone(ticks=1, score={"reward": 1.0})
            log.write(altered, event.step, event.tick)
        log.finish()
    capsys.readouterr()
    assert command(["replay", str(folder)]) == 1
    assert "differs" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-20])
    assert command(["replay", str(folder)]) == 1
    path.unlink()
    assert command(["replay", str(folder)]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"max_steps": 41},
        {"reasoner": "rules:noise=0.1"},
        {"retries": 1},
        {"options": {"cube": {"view_radius": 4}}},
        {"options": {"drwell": {"explore": 3}}},
        {"options": {"messages": {"loss": 0.5}}},
        {"level": "n2"},
    ],
)
def test_other_arguments_on_the_same_folder_are_refused(finished: Path, change: dict[str, object]) -> None:
    with pytest.raises(UserError, match="holds another experiment"):
        run("cube", **(SHORT | change), out=finished)


def test_folders_that_are_no_run_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds no run"):
        run("cube", out=tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(UserError, match="is a file"):
        run("cube", out=tmp_path / "notes.txt")


def test_two_processes_on_one_folder_are_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.locked(), pytest.raises(UserError, match="another process"):
        run("cube", **SHORT, out=tmp_path / "run")


@pytest.mark.parametrize("name", ["results.sqlite", "memory.sqlite"])
@pytest.mark.parametrize("damage", ["foreign", "text", "newer", "cut"])
def test_foreign_and_damaged_databases_are_told_and_left_untouched(
    tmp_path: Path, finished: Path, name: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    path = folder / name
    if damage == "foreign":
        path.unlink()
        change(path, "CREATE TABLE mine (x)")
    elif damage == "text":
        path.write_text("hello")
    elif damage == "newer":
        change(path, "PRAGMA user_version = 999")
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    before = path.read_bytes()
    assert command(["resume", str(folder)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert path.read_bytes() == before


def test_the_experiment_file_is_the_experiment(finished: Path) -> None:
    experiment = RunFolder(finished).experiment()
    assert experiment.methods == ("drwell", "zero_shot")
    assert experiment.options["cube"]["step_cost"] == 0.01
    assert experiment.resolved() == experiment
    assert build(experiment.model_dump(mode="json")) == experiment


@pytest.mark.heavy
def test_every_seed_has_a_memory_of_its_own(tmp_path: Path) -> None:
    run("cube", method="drwell", episodes=2, seed=[0, 1], max_steps=40, out=tmp_path / "both")
    run("cube", method="drwell", episodes=2, seed=1, max_steps=40, out=tmp_path / "one")
    both, one = plays(tmp_path / "both"), plays(tmp_path / "one")
    assert {name: both[name] for name in one} == one


def test_a_run_works_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    async def cell() -> list[EpisodeRow]:
        return run("cube", method="random", max_steps=5, out=tmp_path / "run")

    assert len(asyncio.run(cell())) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"seed": 1.5},
        {"seed": "many"},
        {"method": 1},
        {"methods": 5},
        {"method": []},
        {"options": [1]},
        {"options": {"cube": 3}},
        {"out": 3},
        {"level": 4},
        {"episodes": "many"},
    ],
)
def test_misuse_from_python_is_told_in_one_line(tmp_path: Path, fields: dict[str, object]) -> None:
    with pytest.raises(UserError) as caught:
        run("cube", **({"out": tmp_path / "run"} | fields))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_log_put_in_the_place_of_another_is_not_learned(tmp_path: Path, finished: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "memory.sqlite").unlink()
    shutil.copy(folder / "logs/drwell-s0/0001.jsonl.zst", folder / "logs/drwell-s0/0002.jsonl.zst")
    with pytest.raises(UserError, match="altered"):
        run("cube", **SHORT, out=folder)


def test_an_altered_result_is_found_by_replay(
    tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    change(folder / "results.sqlite", "UPDATE episodes SET summary = replace(summary, '\"steps\":40', '\"steps\":39')")
    assert command(["replay", str(folder)]) == 1
    assert "results.sqlite" in capsys.readouterr().out


def test_a_report_leaves_no_trace(tmp_path: Path, finished: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert command(["report", str(folder)]) == 0
    assert command(["replay", str(folder)]) == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_an_interrupt_in_a_notebook_ends_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    waits, result = threading.Event(), Future.result

    def wait(self: Future[Any], timeout: float | None = None) -> Any:  # noqa: ANN401
        waits.set()
        return result(self, timeout)

    monkeypatch.setattr(Future, "result", wait)

    async def work() -> None:
        try:
            await asyncio.to_thread(waits.wait)  # until the other thread waits
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.Event().wait()  # for ever
        except asyncio.CancelledError:
            ended.append("at once")
            raise

    async def cell() -> None:
        completed(work())

    loop = asyncio.new_event_loop()  # as a notebook's: it catches no signal
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        signal.signal(signal.SIGINT, before)
    loop.close()
    assert ended == ["at once"]


def test_a_default_folder_tells_experiments_apart() -> None:
    given: list[dict[str, Any]] = [{}, {"retries": 1}, {"answers": "text"}, {"sampling": {"*": {"seed": 1}}}]
    folders = {default_folder(build({"reasoner": "http://[::1]:8000/v1#a/b:c"} | one)) for one in given}
    assert len(folders) == len(given)
    assert all(re.fullmatch(r"[\w.-]+", folder.name) for folder in folders)


def test_a_replay_works_in_a_notebook(tmp_path: Path, finished: Path) -> None:
    async def cell() -> list[str | None]:
        folder = RunFolder(finished)
        return [episode.difference for episode in replay(folder, folder.experiment(), tmp_path)]

    assert asyncio.run(cell()) == [None] * 4


@pytest.mark.parametrize("out", ["\0", "a" * 5000, f"{'b/' * 3000}c"])
def test_a_path_that_cannot_be_is_refused(out: str) -> None:
    with pytest.raises(UserError, match="cannot be a folder"):
        run("cube", level="n1", max_steps=3, out=out)


def test_a_seed_in_text_is_not_its_digits(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="got the text '12'"):
        run("cube", seed="12", out=tmp_path / "run")  # type: ignore[arg-type]
