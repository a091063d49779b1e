"""Cells in processes of their own: the same run, one error ends all, and no worker outlives who started it."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.memory.store import MemoryStore
from tests.experiment.ledger import logs
from tests.experiment.squares import Task, squared

GIVEN = {"methods": ["drwell", "greedy"], "seeds": [0, 1, 2], "episodes": 2, "max_steps": 25}


def state(out: Path) -> dict[str, object]:
    with MemoryStore(out / "memory.sqlite", readonly=True) as memory:
        deltas = {name: memory.deltas(name) for name in memory.runs()}
    return {"logs": logs(out), "memory": deltas}


class Finished(NamedTuple):
    """A run that two processes played."""

    out: Path
    rows: list[EpisodeRow]
    reported: list[EpisodeRow]
    """The rows that were reported while it went on."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    out, reported = tmp_path_factory.mktemp("pool") / "run", list[EpisodeRow]()
    return Finished(out, run(build(GIVEN), out, reported.append, RunOptions(processes=2)), reported)


@pytest.mark.heavy
def test_a_run_in_several_processes_is_the_same(finished: Finished, tmp_path: Path) -> None:
    rows = finished.rows
    alone = run(build(GIVEN), tmp_path / "one", running=RunOptions(processes=1))
    assert [row._replace(seconds=0.0) for row in rows] == [row._replace(seconds=0.0) for row in alone]
    assert state(finished.out) == state(tmp_path / "one")
    assert sorted(row[:2] for row in finished.reported) == sorted(row[:2] for row in rows)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    folder = RunFolder(finished.out)
    assert {checked.difference for checked in replay(folder, folder.experiment(), scratch)} == {None}


@pytest.mark.heavy
def test_what_is_finished_is_not_run_again(finished: Finished, tmp_path: Path) -> None:
    out, first = shutil.copytree(finished.out, tmp_path / "run"), finished.rows
    for path in out.glob("logs/greedy-s1/*.zst"):
        path.unlink()  # a finished episode's log is not needed to know that it is finished
    reported: list[EpisodeRow] = []
    assert run(build(GIVEN), out, reported.append, RunOptions(processes=2)) == first
    assert len(reported) == len(first)
    assert not list(out.glob("logs/greedy-s1/*.zst"))


def test_an_error_in_a_cell_is_one_error(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(build(GIVEN), out, running=RunOptions(processes=1))
    (out / "memory.sqlite").unlink()
    next(out.glob("logs/drwell-s1/*0001*")).unlink()
    more = build(GIVEN | {"episodes": 3})
    (out / "experiment.yaml").write_text((out / "experiment.yaml").read_text().replace("episodes: 2", "episodes: 3"))
    with pytest.raises(UserError, match=r"drwell-s1.* is missing or altered"):
        run(more, out, running=RunOptions(processes=2))


def test_short_runs_stay_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "as_done", lambda *given: pytest.fail("not worth it"))
    assert len(run(build(GIVEN), tmp_path / "run")) == 12
    assert process_pool.processors() >= 1


def test_tasks_are_done_in_processes_and_told_in_order() -> None:
    with multiprocessing.Manager() as manager:
        second = manager.Event()  # the first task waits for the second, which another process must do
        tasks = [Task(0, waits_for=second), Task(1, sets=second), *map(Task, range(2, 6))]
        result = list(process_pool.in_order(squared, tasks, 2))
    assert [square for square, _ in result] == [number**2 for number in range(6)]
    assert len({process for _, process in result} - {os.getpid()}) == 2
    assert {process for _, process in process_pool.in_order(squared, tasks[2:], 1)} == {os.getpid()}


def test_the_first_error_of_a_task_ends_all() -> None:
    told = process_pool.in_order(squared, list(map(Task, (1, 13, 2))), 2)
    assert next(told)[0] == 1
    with pytest.raises(UserError, match="not that one"):
        next(told)
    assert next(told, None) is None
    begun = process_pool.in_order(squared, list(map(Task, (1, 2, 3))), 2)
    next(begun)
    begun.close()  # nobody wants the rest


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import teamworld\n"
        "from teamworld.experiment.run_options import RunOptions\n"
        f"rows = teamworld.run(method='greedy', seed=[0, 1], max_steps=3, out={str(tmp_path / 'run')!r},"
        " running=RunOptions(processes=2))\n"
        "print(len(rows), __name__)\n",
        "utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "2 __main__\n"), done.stderr


WORKING = """
from teamworld.experiment import process_pool
from tests.experiment.ledger import logs
from tests.experiment.squares import work_without_end

list(process_pool.in_order(work_without_end, [0, 1], 2))
"""


@pytest.mark.timeout(120)
def test_workers_end_with_who_started_them() -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", WORKING], stdout=subprocess.PIPE, text=True, cwd=root) as begun:
        assert begun.stdout is not None
        assert [begun.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
        begun.kill()
        assert begun.stdout.read() == ""  # it ends when the last worker, which holds the other end, has ended
