"""Grids of runs on the command line: running them, and how far they, or single runs, are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable

from teamworld.cli.running import expect_all, watched
from teamworld.errors import UserError
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.calls import CallStore
from teamworld.experiment.config import ExperimentSpec
from teamworld.experiment.episode_metrics import finished
from teamworld.experiment.folder import RunFolder
from teamworld.experiment.results import EpisodeRow
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.report import evidence, tables
from teamworld.report.tables import Table, rich_tables


def execute(
    data: Mapping[str, Any], out: Path | None, running: RunOptions, *, estimate: bool = False, as_json: bool
) -> None:
    """Run what is missing of a grid, one run after the other under one budget, and print a table of all.

    Args:
        data: Of the experiment file.
        out: Folder of the grid.
        running: How the runs are carried out.
        estimate: Run nothing; print what calls of language models would take.
        as_json: Whether to print one JSON object, and nothing else.

    Raises:
        UserError: The grid, one of its runs or the folder cannot be used.
    """
    parts = grid.expand(data)
    for part in parts:
        part.experiment.resolved()  # all of them, before the first begins
    if out is None:
        raise UserError("a grid of runs needs a folder: add --out DIR")
    folders = {part.name: out / part.name for part in parts}
    told = expect_all([(folders[part.name], part.experiment) for part in parts], running)
    if estimate:
        print("\n".join(told) or "no language model is asked")
        return
    purse = SharedBudget(running, folders.values())
    grid.claim(out, data)
    total = sum(len(part.experiment.cells()) * part.experiment.episodes for part in parts)
    done: dict[str, list[EpisodeRow]] = {}
    with watched(total, parts[0].experiment, running, told=told) as (step, watch):
        for part in parts:
            folder = folders[part.name]
            done[part.name] = run(part.experiment, folder, step, purse.running(folder, part.experiment), watch)
    if as_json:
        plain = {part.name: [row.plain() for row in done[part.name]] for part in parts}
        print(json.dumps({"grid": str(out), "runs": plain}, allow_nan=False))
        return
    table = _table(parts, done)
    print(table.title)
    for piece in rich_tables(table, Console().width):
        Console().print(piece)
    print(f"{table.caption}\n\nEverything is recorded in {out}; in Python: teamworld.load('{out}').episodes")


def _table(parts: Sequence[grid.GridRun], done: Mapping[str, list[EpisodeRow]]) -> Table:
    axes = list(parts[0].values)
    rows = []
    for part in parts:
        lines = tables.by_method(done[part.name], part.experiment)
        at = [lines.columns.index(name) for name in ("method", "episodes", "completion", "solved", "steps")]
        told = " ".join(f"{name}={part.values[name]}" for name in axes)
        rows += [(f"{told} {line[at[0]]}", *(line[place] for place in at[1:])) for line in lines.rows]
    caption = _caption([part.experiment for part in parts])
    return Table(f"{len(parts)} runs", ("run", "episodes", "completion", "solved", "steps"), tuple(rows), caption)


def _caption(experiments: Sequence[ExperimentSpec]) -> str:
    """Return what the numbers of some runs are: of how many seeds and episodes, which minds, which talk."""
    seeds = _several("seed", [len(one.seeds) for one in experiments])
    episodes = _several("episode", [one.episodes for one in experiments])
    steps = _several("step", [one.max_steps for one in experiments])
    minds = {one.reasoner: tables.describe_reasoner(one) for one in experiments}
    told = [text if len(minds) == 1 or text == name else f"{name}: {text}" for name, text in minds.items()]
    told += filter(None, dict.fromkeys(map(tables.talk, experiments)))
    several = any(len(one.seeds) > 1 for one in experiments)
    over = f"mean of {episodes} each{' [95 % bootstrap interval over seeds]' if several else ', no interval'}"
    return f"{seeds}, {over}; at most {steps}; {'; '.join(told)}"


def _several(word: str, counts: Sequence[int]) -> str:
    """Return a count with its word, as in '1 seed'; of runs that differ all counts, as in '2 or 4 seeds'."""
    found = sorted(set(counts))
    return f"{' or '.join(map(str, found))} {word}{'' if found == [1] else 's'}"


class RunProgress(NamedTuple):
    """How far a run is."""

    run: str
    done: int
    """Episodes."""
    wanted: int
    running: bool | None
    """A process holds it now; None where that cannot be seen."""
    calls: int


def progress(folder: Path) -> Iterator[RunProgress]:
    """Yield how far each run of a folder is; nothing is touched, also while it goes on.

    Raises:
        UserError: The folder holds no run.
    """
    for path, experiment in _runs(folder):
        yield RunProgress(str(path), *_far(RunFolder(path), experiment))


def _runs(folder: Path) -> Iterator[tuple[Path, ExperimentSpec]]:
    """Yield the runs of a folder, those too that a page of evidence or a comparison has not begun.

    Which methods a comparison runs in silence is known once they have spoken.
    """
    kind = grid.kind_of(folder)
    if kind == "evidence":
        planned = evidence.planned(evidence.parsed(grid.told(folder)), folder)
    elif kind == "comparison":
        settings = comparison_runs.settings(grid.told(folder))
        parts = comparison_runs.planned(settings, folder, references=True, silent=None)
        planned = [(part.folder, part.experiment) for part in parts if not part.is_silent or part.folder.exists()]
    else:
        yield from grid.runs(folder)
        return
    for path, experiment in planned:
        held = RunFolder(path)
        yield path, held.experiment() if held.experiment_file.exists() else experiment


def _far(folder: RunFolder, experiment: ExperimentSpec) -> tuple[int, int, bool | None, int]:
    wanted = len(experiment.cells()) * experiment.episodes
    done = len(finished(folder, experiment))
    calls = 0
    if folder.results_file.exists():
        with CallStore(folder.results_file, readonly=True) as store:
            calls = store.count()
    return done, wanted, folder.held(), calls


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
        path = Path(one.run)
        name = path.name if path == folder else path.relative_to(folder).as_posix()
        bar = ProgressBar(one.wanted, one.done, width=24)
        table.add_row(name, bar, f"{one.done} of {one.wanted}", str(one.calls or ""), _state(one))
    Console(highlight=False).print(table)
    done, wanted = sum(one.done for one in found), sum(one.wanted for one in found)
    print(f"{done} of {wanted} episodes are finished")


def _state(one: RunProgress) -> str:
    if one.running:
        return "running"
    if one.done == one.wanted:
        return "done"
    if one.running is None:
        return "not known"
    return "stopped" if one.done else "waiting"
