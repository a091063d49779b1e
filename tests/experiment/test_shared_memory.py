"""Runs that share their world models on a PostgreSQL server: the same as in files, whatever the server does."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.merge import merge
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.server_store import ServerStore
from teamworld.memory.store import MemoryStore
from teamworld.record.server import login
from tests.record.postgres_server import PostgresServer

FIELDS: dict[str, Any] = {"level": "n2", "method": ["drwell", "zero_shot"], "max_steps": 8, "seed": [0, 1]}
CELLS = [RunCell("drwell", seed).name for seed in (0, 1)]


def play(out: Path, memory: str | Path | None = None, **changes: Any) -> Path:
    teamworld.run("cube", out=out, memory=memory, **{**FIELDS, "episodes": 2, **changes})
    return out


def logs(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.zst"))}


def stored(address: str) -> dict[str, list[Any]]:
    with ServerStore(login(address)) as store:
        return {run: list(store.deltas(run)) for run in store.runs()}


def learned(folder: Path) -> list[Any]:
    with MemoryStore(folder / "memory.sqlite", readonly=True) as store:
        return [list(store.deltas(cell)) for cell in CELLS]


def guidebooks(store: MemoryStore | ServerStore, runs: list[str]) -> list[str]:
    models = [store.world_model(run) for run in runs]
    return [repr([*model.rows(), *model.team_rows(), *model.cause_rows(), *model.notes]) for model in models]


@pytest.mark.heavy
def test_a_run_leaves_the_same_guidebook_on_a_server_as_in_a_file(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.database()
    alone, shared = play(tmp_path / "alone"), play(tmp_path / "shared", address)
    assert list(stored(address).values()) == learned(shared)
    with MemoryStore(shared / "memory.sqlite") as file, ServerStore(login(address)) as server:
        assert guidebooks(server, list(server.runs())) == guidebooks(file, CELLS)
    # The first finds nothing there, so it plays what a run without a server does.
    assert learned(shared) == learned(alone)


@pytest.mark.heavy
def test_the_next_run_begins_with_it_as_with_the_folder(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.database()
    first = play(tmp_path / "first", address)
    second, like = play(tmp_path / "second", address), play(tmp_path / "like", first)
    assert learned(second) == learned(like)
    assert len(stored(address)) == 4  # what was there stays, and each run has names of its own
    held = stored(address)
    play(second, address)
    assert command(["replay", str(second)]) == 0
    assert stored(address) == held


@pytest.mark.heavy
def test_the_same_episodes_elsewhere_are_stored_once(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.database()
    for number in (1, 2, 1):
        folder = tmp_path / f"{number} {len(list(tmp_path.iterdir()))}"
        play(folder, address, running=RunOptions(shard=f"{number}/2"))
    parts = sorted(tmp_path.iterdir())
    assert len(stored(address)) == 2
    (joined,) = merge(parts, tmp_path / "joined")
    assert joined.missing == 0
    assert sorted(stored(address).values(), key=repr) == sorted(learned(joined.folder.path), key=repr)


@pytest.mark.heavy
def test_processes_and_a_grown_run_store_the_same(postgres: PostgresServer, tmp_path: Path) -> None:
    address, other = postgres.database(), postgres.database()
    play(tmp_path / "one", address)
    play(tmp_path / "two", other, episodes=1)
    play(tmp_path / "two", other, running=RunOptions(processes=2))
    assert stored(other) == stored(address)


def test_tasks_by_class_are_shared_by_all_instances(postgres: PostgresServer, tmp_path: Path) -> None:
    address = postgres.database()
    options = {"drwell": {"task_identity": "class"}}
    play(tmp_path / "first", address, method="drwell", seed=0, options=options)
    play(tmp_path / "second", address, method="drwell", seed=1, level="n4", options=options)
    with (
        MemoryStore(tmp_path / "second" / "before.sqlite") as begun,
        MemoryStore(tmp_path / "first/memory.sqlite") as end,
    ):
        assert begun.deltas("drwell-s1") == end.deltas("drwell-s0")


@pytest.mark.heavy
def test_restarts_during_a_run_change_nothing(postgres: PostgresServer, tmp_path: Path) -> None:
    address, other = postgres.database(), postgres.database()
    play(tmp_path / "calm", other, episodes=4)
    done = threading.Event()

    def restart() -> None:
        while not done.is_set():
            postgres.restart()

    restarting = threading.Thread(target=restart)
    restarting.start()
    try:
        shaken = None
        while shaken is None:
            try:
                shaken = play(tmp_path / "shaken", address, episodes=4)
            except UserError as error:  # only who begins needs a server at once
                assert "cannot be reached" in str(error)
    finally:
        done.set()
        restarting.join()
    assert stored(address) == stored(other)
    assert learned(tmp_path / "shaken") == learned(tmp_path / "calm")


# ---- what the user sees


def test_no_password_is_shown_or_written(
    postgres: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = postgres.database()
    secret = "s3cret-of-a-test"
    with_password = address.replace("teamworld@", f"teamworld:{secret}@")
    out = tmp_path / "run"
    fields = ["cube", "--level", "n1", "--method", "drwell", "--max-steps", "4", "--memory", with_password]
    assert command(["run", *fields, "--out", str(out)]) == 0
    assert RunFolder(out).experiment().memory == address
    assert command(["compare", "drwell", *fields[1:3], *fields[5:], "--out", str(tmp_path / "compared")]) == 2
    assert command(["run", *fields[:-1], with_password.replace("/test_", "/none_"), "--out", str(tmp_path / "no")]) == 2
    shown = capsys.readouterr()
    assert "a memory that stands still" in shown.err
    assert "does not exist" in shown.err
    assert secret not in shown.out + shown.err
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("memory", ["postgresql://ada@host", "postgresql://ada:x@127.0.0.1:1/db"])
@pytest.mark.parametrize("option", ["--memory", "--cache"])
def test_a_server_that_cannot_be_used_is_told_in_one_line(
    option: str, memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    fields = ["cube", "--level", "n1", "--method", "drwell", "--max-steps", "4", "--reasoner", "openai:gpt-4o"]
    assert command(["run", *fields, option, memory, "--out", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_methods_without_a_memory_share_none(postgres: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of zero_shot has a memory"):
        play(tmp_path / "run", postgres.database(), method="zero_shot")
