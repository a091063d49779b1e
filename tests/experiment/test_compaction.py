"""Parquet of a run: the same as the run says, brought up to date, whole after a kill, and enough by itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment import episode_metrics
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store import compaction, data_frames
from teamworld.experiment.store.compaction import Sizes, choose_tables, compact
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.parquet_tables import Manifest, ParquetTables
from teamworld.experiment.store.result_tables import TABLES, TableName, columns_of, planned
from teamworld.metrics.definition import logged_metrics
from teamworld.record import MessageSent, read_log

polars = pytest.importorskip("polars", reason="needs teamworld[tables]")

SMALL = Sizes(batch=3, rows=500)
FIELDS: dict[str, Any] = {"level": "n2", "method": ["zero_shot", "drwell"], "max_steps": 12}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compaction") / "run"
    teamworld.run(**FIELDS, seed=[0, 1], episodes=2, out=folder)
    return folder


@pytest.fixture
def out(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of the tables, with what is in it and when it was written."""
    paths = [path for path in (folder / "parquet").rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def contents(folder: Path) -> dict[str, bytes]:
    """What is in every file of the tables, the manifest aside."""
    return {name: data for name, (data, _) in files(folder).items() if name.endswith(".parquet")}


def manifest(folder: Path) -> Manifest:
    return msgspec.json.decode((folder / "parquet/manifest.json").read_bytes(), type=Manifest)


def frames(folder: Path) -> dict[str, Any]:
    loaded = teamworld.load(folder)
    return {name: getattr(loaded, name) for name in ("episodes", "calls", "messages", "events")}


@pytest.mark.heavy
def test_the_tables_say_what_the_run_says(out: Path) -> None:
    before = frames(out)
    scanned = {table: teamworld.load(out).scan(table).collect() for table in TABLES}
    made = compact(RunFolder(out), sizes=SMALL)
    assert (made.episodes, made.written, made.kept) == (8, 3, 0)
    for name, frame in frames(out).items():
        assert frame.equals(before[name])
        assert frame.schema == before[name].schema
    for table in TABLES:
        assert teamworld.load(out).scan(table).collect().equals(scanned[table])
    messages = [
        event
        for cell, numbers in planned(RunFolder(out).experiment()).items()
        for number in numbers
        for event in read_log(RunFolder(out).log(cell, number))
        if isinstance(event, MessageSent)
    ]
    assert before["messages"]["text"].to_list() == [message.text for message in messages]
    assert messages


def test_rows_of_a_file_are_bounded(out: Path) -> None:
    compact(RunFolder(out), sizes=SMALL)
    for table in TABLES:
        for part in manifest(out).parts(table):
            assert part.rows <= SMALL.rows
            read = polars.read_parquet(out / "parquet" / part.file)
            assert (read.height, read.columns) == (part.rows, list(columns_of(table)))
    assert len(manifest(out).parts("events")) > 3  # more than the batches
    made = compact(RunFolder(out), sizes=Sizes(batch=3, rows=10**6, characters=1000))
    assert made.written == 3  # other sizes, other files
    assert len(manifest(out).parts("events")) > 3


def test_a_second_time_writes_nothing(out: Path) -> None:
    compact(RunFolder(out), sizes=SMALL)
    before = files(out)
    made = compact(RunFolder(out), sizes=SMALL)
    assert (made.written, made.kept) == (0, 3)
    assert files(out) == before


@pytest.mark.heavy
def test_several_processes_write_the_same(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path / "other")
    compact(RunFolder(out), processes=1, sizes=SMALL)
    compact(RunFolder(tmp_path / "other"), processes=2, sizes=SMALL)
    assert contents(out) == contents(tmp_path / "other")


def test_a_run_that_grew_is_brought_up_to_date(grown: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(grown, tmp_path / "run"))
    before = files(out)
    assert RunFolder(out).tables() is None  # no longer what the run says
    assert teamworld.load(out).episodes.height == 12
    made = compact(RunFolder(out), sizes=SMALL)
    assert (made.written, made.kept) == (2, 2)
    after = files(out)
    for part in (part for batch in manifest(out).batches[:2] for parts in batch.parts.values() for part in parts):
        assert after[f"parquet/{part.file}"] == before[f"parquet/{part.file}"]
    shutil.copytree(out, tmp_path / "anew", ignore=shutil.ignore_patterns("parquet"))
    compact(RunFolder(tmp_path / "anew"), sizes=SMALL)
    assert contents(tmp_path / "anew") == contents(out)


def test_other_code_measures_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compact(RunFolder(out))
    assert episode_metrics.measured_tables(RunFolder(out)) is not None
    for module in (episode_metrics, compaction):
        monkeypatch.setattr(module, "package_digest", lambda: "other")
    assert episode_metrics.measured_tables(RunFolder(out)) is None
    assert compact(RunFolder(out)).written == 1
    assert episode_metrics.measured_tables(RunFolder(out)) is not None


def report(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command([*arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out.replace(str(folder), "RUN")


def test_an_episode_is_shown_from_its_log_where_the_results_are_parquet(out: Path, tmp_path: Path) -> None:
    compact(RunFolder(out))
    (out / "results.sqlite").unlink()
    assert command(["view", str(out), "--export", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.heavy
def test_parquet_alone_is_read_as_the_run_was(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from teamworld.viewer.overview import EpisodeFolder

    shown = [
        ["report", str(out), "--json"],
        ["metrics", str(out), "--json"],
        ["compare", str(out), "--metrics", "all", "--no-references"],
        ["status", str(out)],
    ]
    before = [report(out, capsys, *arguments) for arguments in shown]
    listed = EpisodeFolder(out).overview().episodes
    compact(RunFolder(out), sizes=SMALL)
    assert [report(out, capsys, *arguments) for arguments in shown] == before
    for name in ("results.sqlite", "memory.sqlite", "logs"):
        path = out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert [report(out, capsys, *arguments) for arguments in shown] == before
    assert EpisodeFolder(out).overview().episodes == listed
    assert EpisodeFolder(out).tables()
    assert command(["run", "cube", "--level", "n2", "--method", "drwell", "--max-steps", "12", "--out", str(out)]) == 2
    assert "Parquet alone" in capsys.readouterr().err
    assert command(["report", str(out), "--bill"]) == 2
    assert "a bill takes its results.sqlite" in capsys.readouterr().err
    with pytest.raises(UserError, match="nothing to make tables of"):
        compact(RunFolder(out))


def test_columns_of_metrics_that_are_gone_are_passed_over(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compact(RunFolder(out))
    (out / "results.sqlite").unlink()
    kept = logged_metrics()[::2]  # as if a later version had only these
    monkeypatch.setattr(episode_metrics, "logged_metrics", lambda: kept)
    (*_, cell) = RunFolder(out).experiment().cells()
    measured = episode_metrics.of_cell(RunFolder(out), cell)
    assert measured
    assert {tuple(episode.values) for episode in measured} == {tuple(kept)}


def test_tables_without_a_look_into_logs(out: Path) -> None:
    shutil.rmtree(out / "logs")
    with pytest.raises(UserError, match="cannot be read"):
        compact(RunFolder(out))
    assert not (out / "parquet/manifest.json").exists()
    compact(RunFolder(out), choose_tables(["calls"]))
    assert set(manifest(out).tables) == {"episodes", "calls"}
    episodes = teamworld.load(out).scan("episodes").collect()
    assert episodes["steps"].to_list() == [
        row.summary.steps for _, row in RunFolder(out).finished(RunFolder(out).experiment())
    ]
    with pytest.raises(UserError, match="cannot be read"):
        _ = teamworld.load(out).events
    with pytest.raises(UserError, match="no table 'event'; did you mean 'events'"):
        choose_tables(["event"])


def test_calls_of_an_episode_that_is_not_finished_are_there(out: Path) -> None:
    import sqlite3
    from contextlib import closing

    from tests.experiment.test_frames import COLUMNS, NULL

    compact(RunFolder(out), sizes=SMALL)
    with closing(sqlite3.connect(out / "results.sqlite")) as db, db:
        known: dict[str, object] = {"cell": "drwell-s1", "episode": 2, "mind": "agent_0", "faults": "[]"}
        row = [None if name in NULL else known.get(name, 1) for name in COLUMNS]
        db.execute(f"INSERT INTO calls ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})", row)
        db.execute("DELETE FROM episodes WHERE cell = 'drwell-s1' AND episode = 2")
    made = compact(RunFolder(out), sizes=SMALL)
    assert (made.episodes, made.written, made.kept) == (7, 1, 2)
    before = data_frames.load(out).calls
    (out / "results.sqlite").unlink()
    assert data_frames.load(out).calls.equals(before)
    assert before.height == 1
    assert RunFolder(out).finished(RunFolder(out).experiment())[-1][1].episode == 1


_KILLED = """
import os, signal, sys
from pathlib import Path
from teamworld.experiment.store import compaction
from teamworld.experiment.store.folder import RunFolder

calls, last = 0, int(sys.argv[2])
def counted(function):
    def wrapped(*args, **kwargs):
        global calls
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapped

Path.replace = counted(Path.replace)
os.fsync = counted(os.fsync)
if last == 0:  # after the manifest, before what it does not name is taken away
    compaction._sweep = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
compaction.compact(RunFolder(Path(sys.argv[1])), sizes=compaction.Sizes(batch=3, rows=500))
"""


@pytest.fixture(scope="module")
def grown(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that grew after its tables were written."""
    folder = Path(shutil.copytree(played, tmp_path_factory.mktemp("compaction") / "grown"))
    compact(RunFolder(folder), sizes=SMALL)
    teamworld.run(**FIELDS | {"method": "greedy"}, seed=[0, 1], episodes=2, out=folder)
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize("place", [1, 6, 0])
def test_a_kill_leaves_the_state_before(grown: Path, tmp_path: Path, place: int) -> None:
    out = Path(shutil.copytree(grown, tmp_path / "run"))
    before = manifest(out)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(out), str(place)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (manifest(out) == before) == (place > 0)
    tables = ParquetTables.open(out)
    assert tables is not None
    assert all(path.exists() for table in TABLES for path in tables.paths(table))
    compact(RunFolder(out), sizes=SMALL)
    kept = {f"parquet/{part.file}" for table in TABLES for part in manifest(out).parts(table)}
    assert set(files(out)) == kept | {"parquet/manifest.json"}
    assert teamworld.load(out).scan("episodes").collect().height == 12


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"format": 1', '"format": 2', "format 2, this one reads 1"),
        ('"episodes": 8', '"episodes": -8', "is damaged"),
        ('"episodes/', '"../episodes/', "no name of a file"),
        ("{", "[", "is damaged"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused(out: Path, old: str, new: str, message: str) -> None:
    compact(RunFolder(out))
    path = out / "parquet/manifest.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UserError, match=message):
        ParquetTables.open(out)
    compact(RunFolder(out))
    assert ParquetTables.open(out) is not None


def test_a_file_that_is_damaged_is_refused(out: Path) -> None:
    compact(RunFolder(out))
    (part,) = manifest(out).parts("episodes")
    path = out / "parquet" / part.file
    whole = path.read_bytes()
    (out / "results.sqlite").unlink()
    path.write_bytes(b"x" * len(whole))
    with pytest.raises(UserError, match="was altered"):
        RunFolder(out).finished(RunFolder(out).experiment())
    path.write_bytes(whole[:-1])
    with pytest.raises(UserError, match="missing or altered"):
        RunFolder(out).finished(RunFolder(out).experiment())
    path.unlink()
    with pytest.raises(UserError, match="missing or altered"):
        teamworld.load(out).scan("episodes")


@pytest.mark.parametrize("begin", range(9))
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_batches_are_ranges_of_the_planned_episodes(played: Path, begin: int, size: int) -> None:
    experiment = RunFolder(played).experiment()
    every = [(cell, number) for cell in experiment.cells() for number in experiment.episode_numbers]
    part = planned(experiment, begin, begin + size)
    assert [(cell, number) for cell, numbers in part.items() for number in numbers] == every[begin : begin + size]


def test_the_command_says_what_it_did(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(out, capsys, "compact", str(out))
    assert said.startswith("RUN/parquet: 8 episodes, ")
    assert "1 of 1 batches written" in said
    assert "nothing to do" in report(out, capsys, "compact", str(out))
    names: tuple[TableName, ...] = ("episodes", "events")
    assert choose_tables(["events"]) == names
    assert RunCell("drwell", 1).name in manifest(out).batches[0].cells
