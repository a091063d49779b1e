"""Running, replaying and reporting from the command line: progress and tables."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from teamworld.cli.terminal import Keyboard
from teamworld.errors import UserError
from teamworld.experiment.config import ExperimentSpec, RunCell
from teamworld.experiment.folder import RunFolder
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.replay import replay
from teamworld.experiment.replay_reasoner import replays
from teamworld.experiment.results import EpisodeRow
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm import budget as budgets
from teamworld.reasoning.llm.budget import Spent
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.registry import list_models
from teamworld.reasoning.router import parse_routes
from teamworld.report import bills, tables

if TYPE_CHECKING:
    from teamworld.experiment.estimate import CostEstimate

#: Longest name made from arguments, without the hash that then stands for the rest.
_LONGEST = 120


def _progress(console: Console, *, shown: bool = True) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))


def default_folder(experiment: ExperimentSpec) -> Path:
    """Return the folder of a run that was not given one: the same arguments, the same folder.

    All that is not named in it and not the default stands in it as a short hash.
    """
    first, last = experiment.seeds[0], experiment.seeds[-1]
    seeds = f"s{first}" if first == last else f"s{first}-{last}"
    named = {"world", "level", "methods", "reasoner", "seeds"}
    rest = experiment.model_dump(mode="json", exclude=named)
    if rest != ExperimentSpec().model_dump(mode="json", exclude=named):
        told = json.dumps(rest, sort_keys=True).encode()
        seeds += f"-{hashlib.blake2b(told, digest_size=3).hexdigest()}"
    parts = (experiment.world, experiment.level, *experiment.methods, experiment.reasoner, seeds)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(parts))
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}-{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"
    return Path("runs") / name


def _bill(spent: Spent) -> str:
    """Return what calls took, in words."""
    dollars = f"{spent.usd.total:.4f} USD, " if spent.usd.counted else ""
    return f"{dollars}{spent.tokens.total:,.0f} tokens"


def expect_all(runs: Sequence[tuple[Path, ExperimentSpec]], running: RunOptions) -> list[str]:
    """Return what several runs with language models will take together, as lines; none if nobody will be asked.

    Args:
        runs: Folders and experiments; what is begun is left out, for it was told when it began.
        running: How they are carried out.

    Raises:
        UserError: An experiment, the budget or the file of prices cannot be used.
    """
    from teamworld.experiment.estimate import CostEstimate, estimate

    prices = Prices.load(running.prices)
    new = [
        one
        for path, one in runs
        if list_models(one.reasoner) and not replays(one) and not RunFolder(path).experiment_file.exists()
    ]
    sums: dict[str, list[CostEstimate]] = {}
    for experiment in new:
        for one in estimate(experiment.resolved(), prices):
            sums.setdefault(one.model, []).append(one)
    found = []
    for model, some in sums.items():
        usd = None if any(one.usd is None for one in some) else sum(one.usd or 0.0 for one in some)
        calls, prompt, output = (sum(getattr(one, name) for one in some) for name in ("calls", "prompt", "output"))
        found.append(CostEstimate(model, calls, prompt, output, usd))
    return [f"{len(new)} runs together:", *_expected(found, prices, running)] if found else []


def expect(experiment: ExperimentSpec, running: RunOptions, *, as_json: bool) -> None:
    """Print what a run with language models will take, without asking one."""
    from teamworld.experiment.estimate import estimate

    prices = Prices.load(running.prices)
    for limit in (running.budget, running.episode_budget):
        if limit is not None:
            budgets.parse_limit(limit)
    found = [] if replays(experiment) else estimate(experiment.resolved(), prices)
    if as_json:
        _dump({"expected": [one._asdict() for one in found], "prices": prices.table()})
        return
    if not found:
        print(f"no language model is asked: {tables.describe_reasoner(experiment)}")
        return
    for line in _expected(found, prices, running):
        print(line)


def _expected(found: Sequence[CostEstimate], prices: Prices, running: RunOptions) -> Iterator[str]:
    from teamworld.experiment.estimate import CHARACTERS, beyond

    yield from map(str, found)
    yield (
        f"From a dry run of the first episode with the built-in rules, {CHARACTERS:g} characters a token; prices: "
        f"{prices.table()}. A model that reasons, errs or needs more steps takes more: set a --budget."
    )
    if running.budget is not None and beyond(found, budgets.parse_limit(running.budget)):
        yield f"that is more than --budget {running.budget}: the run stops there; with a larger one it goes on"


def _dump(data: object) -> None:
    """Print one JSON object, in plain ASCII: it prints in any locale."""
    print(json.dumps(data, allow_nan=False))


@contextmanager
def watched(
    total: int, experiment: ExperimentSpec, running: RunOptions, *, told: Sequence[str] | None = None
) -> Iterator[tuple[Callable[[EpisodeRow], None], RunMonitor]]:
    """Show a progress bar for so many episodes; give what is called with each and what watches their minds.

    Args:
        total: Episodes.
        experiment: The first of what is run.
        running: How it is carried out.
        told: What is said of the costs before anything is asked; None: what each new run says for itself.
    """
    errors = Console(stderr=True)
    # A bar that redraws itself would garble what a person reads and types.
    keyboard = Keyboard() if any(share.name == HUMAN for share in parse_routes(experiment.reasoner)) else None
    with _progress(errors, shown=keyboard is None) as bar:
        task = bar.add_task("episodes", total=total)

        def step(row: EpisodeRow) -> None:
            bar.update(task, advance=1, description=f"{row.method}, seed {row.seed}")

        def spent(so_far: Spent, flying: int, waiting: int) -> None:
            queued = f", {waiting} waiting" if waiting else ""
            bar.update(task, description=f"{_bill(so_far)}, {flying} calls in flight{queued}")

        def notice(line: str) -> None:
            errors.print(line, markup=False, highlight=False, soft_wrap=True)

        def begins(experiment: ExperimentSpec, prices: Prices) -> None:
            if told is not None:
                return
            from teamworld.experiment.estimate import estimate

            bar.update(task, description="estimate: a dry run with the rules")
            for line in _expected(estimate(experiment, prices), prices, running):
                notice(line)

        for line in told or ():
            notice(line)
        yield step, RunMonitor(spent, notice, begins, keyboard)


def execute(
    experiment: ExperimentSpec, out: Path | None, running: RunOptions, *, figures: bool = False, as_json: bool
) -> None:
    """Run an experiment with a progress bar, then print its tables or its JSON and draw its figures."""
    folder = out if out is not None else default_folder(experiment)
    total = len(experiment.cells()) * experiment.episodes
    with watched(total, experiment, running) as (step, watch):
        rows = run(experiment, folder, step, running, watch)
    if as_json:
        if figures:
            _draw(RunFolder(folder), rows, quiet=True)
        _dump({"run": str(folder), "episodes": [row.plain() for row in rows]})
        return
    held = RunFolder(folder).experiment()
    _print_tables(rows, held)
    if (bill := next(bills.of_run(RunFolder(folder), Prices.load(running.prices)), None)) is not None:
        _print_table(bill)
    if figures:
        _draw(RunFolder(folder), rows, quiet=False)
    print(f"Everything is recorded in {folder}; look closer with: teamworld report {folder} --figures")


def _print_tables(rows: list[EpisodeRow], experiment: ExperimentSpec) -> None:
    for table in tables.of_run(rows, experiment):
        _print_table(table)


def _print_table(table: tables.Table) -> None:
    print(table.title)
    for part in tables.rich_tables(table):
        Console().print(part)
    print(f"{table.caption}\n")


def report_run(folder: Path, *, figures: bool, as_json: bool) -> None:
    """Print the tables of a run and, if wanted, draw its figures."""
    from teamworld.experiment.results import Results

    place = RunFolder(folder)
    experiment = place.experiment()
    if not place.results_file.exists():
        rows: list[EpisodeRow] = []
    else:
        with Results(place.results_file, readonly=True) as results:
            rows = results.rows()
    if as_json:
        _dump({"run": str(folder), "tables": [table.plain() for table in tables.of_run(rows, experiment)]})
    else:
        _print_tables(rows, experiment)
    if figures:
        _draw(place, rows, quiet=as_json)


def report_bill(folder: Path, prices: Path | None, *, as_json: bool) -> None:
    """Print what the calls of a run took."""
    place = RunFolder(folder)
    experiment = place.experiment()
    found = list(bills.of_run(place, Prices.load(prices)))
    if as_json:
        _dump({"run": str(folder), "tables": [table.plain() for table in found]})
        return
    for table in found:
        _print_table(table)
    if not found:
        print(f"{folder} asked no language model: {tables.describe_reasoner(experiment)}")


def report_competence(folder: Path, *, as_json: bool) -> None:
    """Print the Behavioural Competency Scores of a run, a grid or a comparison."""
    from teamworld.report import competence

    found = competence.of_folder(folder)
    if as_json:
        _dump({"run": str(folder), "tables": [found.plain()]})
    else:
        _print_table(found)


def report_failures(folder: Path, episode: int | None, *, everything: bool, as_json: bool) -> None:
    """Print the failure labels of a run: a table of counts, then what happened, method by method."""
    from teamworld.report import failures

    place = RunFolder(folder)
    experiment = place.experiment()
    rows = failures.finished(place, experiment, episode)
    with _progress(Console(stderr=True)) as bar:
        found = list(bar.track(failures.tagged(place, experiment, rows), len(rows), description="reading logs"))
    wanted = len(experiment.cells()) * (experiment.episodes if episode is None else 1)
    if as_json:
        _dump({"run": str(folder), "unfinished": wanted - len(rows)} | failures.plain(found, experiment))
        return
    _print_table(failures.counts(found, experiment))
    for method in experiment.methods:
        for line in failures.lines(found, method, None if everything else failures.SHOWN):
            print(f"{method}: {line}")
    if wanted > len(rows):
        print(f"left out: {wanted - len(rows)} episodes that are not finished")


def _draw(place: RunFolder, rows: list[EpisodeRow], *, quiet: bool) -> None:
    from teamworld.report.run_figures import draw_all  # only here: matplotlib takes its time

    for path in draw_all(place, place.experiment(), rows):
        if not quiet:
            print(f"drawn: {path}")


def export_memory(folder: Path, method: str, seed: int | None, episode: int | None, out: Path) -> None:
    """Write a world model as JSON, GraphML or a picture.

    Raises:
        UserError: There is no such world model, or the file's ending says nothing.
    """
    from teamworld.memory import drawing, graph
    from teamworld.memory.store import MemoryStore

    place = RunFolder(folder)
    cell = RunCell(method, place.experiment().seeds[0] if seed is None else seed)
    if not place.memory_file.exists():
        raise UserError(f"{folder} has no world model yet")
    with MemoryStore(place.memory_file, readonly=True) as store:
        if cell.name not in store.runs():
            raise UserError(f"{folder} has no world model of {cell.name}; it has: {', '.join(store.runs()) or 'none'}")
        last = store.episodes(cell.name)[-1]
        if episode is not None and not 1 <= episode <= last:
            raise UserError(f"{cell.name} has episodes 1 to {last}, got {episode}")
        deltas = store.deltas(cell.name, up_to=episode)
    match out.suffix.lower():
        case ".json":
            out.write_text(json.dumps(graph.to_json(deltas), indent=1), "utf-8")
        case ".graphml":
            out.write_text(graph.to_graphml(graph.build(deltas)), "utf-8")
        case _:
            drawing.draw(deltas, out, (len(deltas),), title=f"World model of {method}, seed {cell.seed}")
    print(f"written: {out}")


def replay_run(folder: Path) -> int:
    """Run a folder's episodes again and compare; return the exit code."""
    place = RunFolder(folder)
    experiment = place.experiment()
    errors = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch, _progress(errors) as bar:
        task = bar.add_task("replaying", total=len(experiment.cells()) * experiment.episodes)
        compared = 0
        for checked in replay(place, experiment, Path(scratch)):
            bar.update(task, advance=1)
            compared += 1
            if checked.difference is not None:
                bar.stop()
                print(f"{checked.log} differs: {checked.difference}")
                return 1
    print(f"{compared} episodes replayed: every log is the same, byte for byte")
    return 0
