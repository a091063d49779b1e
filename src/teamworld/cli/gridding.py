"""Grids of runs on the command line: running them, and how far they, or single runs, are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable

from teamworld.cli.running import watched
from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.calls import CallStore
from teamworld.experiment.config import Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.measured import finished
from teamworld.experiment.results import Row
from teamworld.experiment.runner import run
from teamworld.experiment.running import Running
from teamworld.report import tables
from teamworld.report.tables import Table, rich_tables


def execute(data: Mapping[str, Any], out: Path | None, running: Running, *, as_json: bool) -> None:
    """Run what is missing of a grid, one run after the other, and print a table of all.

    Raises:
        UserError: The grid, one of its runs or the folder cannot be used.
    """
    parts = grid.expand(data)
    for part in parts:
        part.experiment.resolved()  # all of them, before the first begins
    if out is None:
        raise UserError("a grid of runs needs a folder: add --out DIR")
    grid.claim(out, data)
    total = sum(len(part.experiment.cells()) * part.experiment.episodes for part in parts)
    done: dict[str, list[Row]] = {}
    with watched(total, parts[0].experiment, running) as (step, watch):
        for part in parts:
            done[part.name] = run(part.experiment, out / part.name, step, running, watch)
    if as_json:
        plain = {part.name: [row.plain() for row in done[part.name]] for part in parts}
        print(json.dumps({"grid": str(out), "runs": plain}, allow_nan=False))
        return
    table = _table(parts, done)
    print(table.title)
    for piece in rich_tables(table, Console().width):
        Console().print(piece)
    print(f"{table.caption}\n\nEverything is recorded in {out}; in Python: teamworld.load('{out}').episodes")


def _table(parts: Sequence[grid.Part], done: Mapping[str, list[Row]]) -> Table:
    axes = list(parts[0].values)
    rows = []
    for part in parts:
        lines = tables.by_method(done[part.name], part.experiment)
        at = [lines.columns.index(name) for name in ("method", "episodes", "completion", "solved", "steps")]
        told = " ".join(f"{name}={part.values[name]}" for name in axes)
        rows += [(f"{told} {line[at[0]]}", *(line[place] for place in at[1:])) for line in lines.rows]
    first = parts[0].experiment
    caption = (
        f"mean of episodes [95 % bootstrap interval over seeds]; {len(first.seeds)} seeds, {first.episodes} episodes"
    )
    return Table(f"{len(parts)} runs", ("run", "episodes", "completion", "solved", "steps"), tuple(rows), caption)


class Progress(NamedTuple):
    """How far a run is."""

    run: str
    done: int
    """Episodes."""
    wanted: int
    running: bool
    """A process holds it now."""
    calls: int


def progress(folder: Path) -> Iterator[Progress]:
    """Yield how far each run of a folder is; nothing is touched, also while it goes on.

    Raises:
        UserError: The folder holds no run.
    """
    for path, experiment in grid.runs(folder):
        yield Progress(str(path), *_far(Folder(path), experiment))


def _far(folder: Folder, experiment: Experiment) -> tuple[int, int, bool, int]:
    wanted = len(experiment.cells()) * experiment.episodes
    done = len(finished(folder, experiment))
    calls = 0
    if folder.results_file.exists():
        with CallStore(folder.results_file, readonly=True) as store:
            calls = store.count()
    return done, wanted, _held(folder), calls


def _held(folder: Folder) -> bool:
    if not folder.lock_file.exists():
        return False
    try:
        with FileLock(folder.lock_file, timeout=0):
            return False
    except Timeout:
        return True


def status(folder: Path, *, as_json: bool) -> None:
    """Print how far a run, or each run of a grid, is."""
    found = list(progress(folder))
    if as_json:
        print(json.dumps({"folder": str(folder), "runs": [one._asdict() for one in found]}))
        return
    table = RichTable(box=None, padding=(0, 2, 0, 0))
    for heading in ("run", "", "episodes", "calls", ""):
        table.add_column(heading, justify="left" if heading in ("run", "") else "right")
    for one in found:
        state = "running" if one.running else "done" if one.done == one.wanted else "stopped" if one.done else "waiting"
        bar = ProgressBar(one.wanted, one.done, width=24)
        table.add_row(Path(one.run).name, bar, f"{one.done} of {one.wanted}", str(one.calls or ""), state)
    Console(highlight=False).print(table)
    done, wanted = sum(one.done for one in found), sum(one.wanted for one in found)
    print(f"{done} of {wanted} episodes are finished")
