"""What keeps a folder of a million episodes quick: nothing is looked through that is not asked for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import teamworld
from teamworld import plain_files
from teamworld.errors import UserError
from teamworld.experiment import runner
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import Results
from teamworld.record import database
from teamworld.viewer import overview


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "run"
    teamworld.run(level="n1", method=["greedy", "random"], seed=[0, 1], episodes=2, max_steps=4, out=folder)
    return folder


@pytest.fixture
def out(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def test_the_page_lists_the_first_and_counts_all(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = overview.EpisodeFolder(out).overview()
    assert (len(every.episodes), every.finished) == (8, 8)
    monkeypatch.setattr(overview, "MOST_LISTED", 3)
    first = overview.EpisodeFolder(out).overview()
    assert (first.episodes, first.finished, first.wanted) == (every.episodes[:3], 8, 8)


def test_what_is_finished_is_the_same_in_every_form(out: Path) -> None:
    folder = RunFolder(out)
    experiment = folder.experiment()
    with Results(folder.results_file) as results, results.transaction() as db:
        db.execute("DELETE FROM episodes WHERE cell = 'greedy-s0' OR (cell = 'random-s1' AND episode = 1)")
    rows = folder.finished(experiment)
    assert [(cell.name, row.episode) for cell, row in rows] == [
        ("greedy-s1", 1), ("greedy-s1", 2), ("random-s0", 1), ("random-s0", 2), ("random-s1", 2),
    ]  # fmt: skip
    assert folder.count_finished(experiment) == len(rows)
    assert folder.finished_places(experiment) == {(cell.name, row.episode) for cell, row in rows}
    assert folder.first_finished(experiment) == (RunCell("greedy", 1), 1)
    for cell in experiment.cells():
        assert folder.digests(cell) == {row.episode: row.digest for own, row in rows if own == cell}
        with Results(folder.results_file, readonly=True) as results:
            assert results.rows(cell, [2]) == [row for own, row in rows if own == cell and row.episode == 2]


def test_a_finished_run_is_counted_and_not_read(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier: dict[str, list[int]] = {}
    monkeypatch.setattr(Results, "_decoded", lambda self, rows: pytest.fail("a row was read"))
    runner.finish(
        RunFolder(out).experiment(), out, earlier=lambda cell, numbers: earlier.update({cell.name: sorted(numbers)})
    )
    assert earlier == {name: [1, 2] for name in ("greedy-s0", "greedy-s1", "random-s0", "random-s1")}


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_rows_are_read_a_few_at_a_time(out: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("teamworld.experiment.store.results._AT_ONCE", at_once)
    with Results(RunFolder(out).results_file, readonly=True) as results:
        for cell in RunFolder(out).experiment().cells():
            assert list(results.each(cell)) == results.rows(cell)
            assert len(results.rows(cell)) == 2


def test_a_log_beyond_those_that_are_looked_at_is_no_link_out_either(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(out)
    path = folder.log(RunCell("random", 1), 2)
    shutil.move(path, tmp_path / "mine")
    path.symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="is a link out of"):
        folder.experiment()
    monkeypatch.setattr(plain_files, "_MOST_LOGS", 0)
    folder.experiment()
    with pytest.raises(UserError, match="is a link out of"):
        folder.log(RunCell("random", 1), 2)


def test_a_large_database_is_refused_where_it_is_read(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(out)
    experiment = folder.experiment()
    data = bytearray(folder.results_file.read_bytes())
    with Results(folder.results_file, readonly=True) as results, results.reading() as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'episodes'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    data[(page - 1) * size : page * size] = b"\xff" * size
    folder.results_file.write_bytes(data)
    for most in (database._CHECKED_BYTES, 0):
        monkeypatch.setattr(database, "_CHECKED_BYTES", most)
        with pytest.raises(UserError, match="is damaged"):
            folder.finished(experiment)
