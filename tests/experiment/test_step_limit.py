"""Step limits: the level's own where none is given, the one that is given, and the one a run began with."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import EpisodeStart, read_log
from teamworld.report import tables
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.worlds import registry

#: The limits of the benchmarks: CUBE's environment, C-WAH, CREW-Wildfire's tables.
OWN = [
    ("cube", "paper-n4", 500),
    ("cube", "n8", 500),
    ("rooms", "one", 120),
    ("household", "dev-3", 250),
    ("wildfire", "cut_trees_sparse_small", 30),
    ("wildfire", "suppress_fire_contain@2026", 100),
    ("wildfire", "full_game", 120),
]
ONE: dict[str, Any] = {"world": "rooms", "level": "one", "methods": ["random"]}


def recorded(folder: Path) -> tuple[int | None, int]:
    """Return the limit in the experiment's file, and that in the log."""
    held = RunFolder(folder)
    start = next(iter(read_log(held.log(RunCell("random", 0), 1))))
    assert isinstance(start, EpisodeStart)
    return held.experiment().max_steps, start.horizon


@pytest.mark.parametrize(("world", "level", "steps"), OWN)
def test_an_experiment_takes_the_limit_of_its_level_unless_told_otherwise(world: str, level: str, steps: int) -> None:
    asked = ExperimentSpec(world=world, level=level, methods=("random",))
    assert (asked.max_steps, asked.step_limit) == (None, steps)
    assert asked.resolved().max_steps == steps == registry.make(world, level, 0, None, {}).spec.horizon
    assert asked.model_copy(update={"max_steps": 7}).resolved().max_steps == 7
    short = registry.make(world, level, 0, 7, {})
    assert {short.view(agent).steps_left for agent in short.spec.agents} == {7}  # what prompts say


@pytest.mark.heavy
def test_the_commands_python_and_files_record_the_limit_that_was_used(tmp_path: Path) -> None:
    written = tmp_path / "e.yaml"
    written.write_text("world: rooms\nlevel: one\nmethods: [random]\nmax_steps: null\n")
    assert command(["run", "rooms", "--level", "one", "--method", "random", "--out", str(tmp_path / "line")]) == 0
    assert command(["run", str(written), "--out", str(tmp_path / "file")]) == 0
    teamworld.run("rooms", level="one", method="random", out=tmp_path / "python")
    for name in ("line", "file", "python"):
        assert recorded(tmp_path / name) == (120, 120)
    teamworld.run("rooms", level="one", method="random", max_steps=200, out=tmp_path / "more")
    assert recorded(tmp_path / "more") == (200, 200)


def test_a_sweep_over_limits_has_the_own_one_too(tmp_path: Path) -> None:
    path = tmp_path / "grid.yaml"
    path.write_text("world: rooms\nlevel: one\nmethods: [random]\ngrid: {max_steps: [5, null]}\n")
    assert command(["run", str(path), "--out", str(tmp_path / "grid")]) == 0
    limits = sorted(recorded(folder.path)[1] for folder in map(RunFolder, (tmp_path / "grid").glob("max_steps=*")))
    assert limits == [5, 120]


def test_a_run_goes_on_with_the_limit_that_it_began_with(tmp_path: Path) -> None:
    run(build({**ONE, "max_steps": 9}), tmp_path)
    assert [row.summary.steps for row in run(build(ONE), tmp_path)] == [9]
    with pytest.raises(teamworld.errors.UserError, match="its max_steps is 9, not 120"):
        run(build({**ONE, "max_steps": 120}), tmp_path)


def test_results_of_earlier_versions_are_replayed_though_they_hold_no_headline(tmp_path: Path) -> None:
    teamworld.run("wildfire", level="cut_trees_sparse_small", method="random", max_steps=5, out=tmp_path)
    path = RunFolder(tmp_path).results_file
    with closing(sqlite3.connect(path)) as db, db:
        ((text,),) = db.execute("SELECT summary FROM episodes").fetchall()
        summary = json.loads(text)
        assert summary.pop("headline")
        db.execute("UPDATE episodes SET summary = ?", (json.dumps(summary),))
    assert command(["replay", str(tmp_path)]) == 0
    summary["steps"] += 1
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE episodes SET summary = ?", (json.dumps(summary),))
    assert command(["replay", str(tmp_path)]) == 1


def test_tables_and_the_list_of_levels_state_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = run(build({**ONE, "max_steps": 9}), tmp_path)
    held = RunFolder(tmp_path).experiment()
    assert all("at most 9 steps" in table.caption for table in tables.of_run(EpisodeColumns(rows), held))
    assert command(["levels", "rooms"]) == 0
    assert all(" 120 steps  " in line for line in capsys.readouterr().out.splitlines())
