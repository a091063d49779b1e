"""What the commands that carry out runs do: play, print tables, estimate, tell how far runs are."""

from __future__ import annotations

import hashlib
import json as json_text
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from teamworld.cli.monitor import dump, estimate_all, estimate_lines, estimates, monitored, print_table, progress_bar
from teamworld.errors import UserError, printable
from teamworld.experiment import comparison_runs, grid, merge, runner
from teamworld.experiment.code_identity import code_of
from teamworld.experiment.replay import replay as replay_episodes
from teamworld.experiment.replay_reasoner import replays
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import EXPERIMENT_FILE, RunFolder
from teamworld.plain_files import list_files
from teamworld.reasoning.human import Desk
from teamworld.reasoning.llm.prices import Prices
from teamworld.report import bills, evidence, tables
from teamworld.report.episode_columns import EpisodeColumns, columns_of
from teamworld.report.tables import Table

#: Longest name made from arguments, without the hash that then stands for the rest.
_MAX_NAME = 120


def default_folder(experiment: ExperimentSpec) -> Path:
    """Return the folder of a run that was not given one: the same arguments, the same folder.

    All that is not named in it and not the default stands in it as a short hash.
    """
    first, last = experiment.seeds[0], experiment.seeds[-1]
    seeds = f"s{first}" if first == last else f"s{first}-{last}"
    named = {"world", "level", "methods", "reasoner", "seeds"}
    rest = experiment.model_dump(mode="json", exclude=named)
    if rest != ExperimentSpec().model_dump(mode="json", exclude=named):
        text = json_text.dumps(rest, sort_keys=True).encode()
        seeds += f"-{hashlib.blake2b(text, digest_size=3).hexdigest()}"
    parts = (experiment.world, experiment.level, *experiment.methods, experiment.reasoner, seeds)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(parts))
    if len(name) > _MAX_NAME:
        name = f"{name[:_MAX_NAME]}-{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"
    return Path("runs") / name


def print_estimate(experiment: ExperimentSpec, options: RunOptions, *, as_json: bool) -> None:
    """Print what the language models of an experiment would take."""
    if not replays(experiment):
        experiment.resolved()  # says what is wrong with it
    expected = estimates([experiment], options)
    if as_json:
        dump({"expected": [part._asdict() for part in expected], "prices": Prices.load(options.prices).table()})
    elif not expected:
        print(f"no language model is asked: {tables.describe_reasoner(experiment)}")
    else:
        print("\n".join(estimate_lines(expected, options)))


def execute(
    experiment: ExperimentSpec,
    out: Path | None,
    options: RunOptions,
    *,
    figures: bool,
    as_json: bool,
    desk: Desk | None = None,
) -> None:
    """Run an experiment with a progress bar, then print its tables or its JSON and draw its figures.

    Args:
        experiment: What to run.
        out: The run's folder; one named by the experiment if None.
        options: How to carry it out.
        figures: Whether figures are drawn.
        as_json: Whether one JSON object is printed, and nothing else.
        desk: Where people answer; at the terminal if None.
    """
    path = out if out is not None else of_shard(default_folder(experiment), options)
    folder = RunFolder(path)
    if options.shard and figures:
        raise UserError("--figures is for whole runs: leave it out of a shard, and draw once they are joined")
    with monitored(share(experiment.episode_count, options), experiment, options, desk=desk) as (step, monitor):
        runner.finish(experiment, path, step, options, monitor, step.skip)
    if options.shard:
        tell_shard(path, options.shard, as_json=as_json)
        return
    whole = folder.experiment()
    if as_json:
        if figures:
            draw_figures(folder, columns_of(folder, whole), quiet=True)
        print(f'{{"run": {json_text.dumps(str(path))}, "episodes": ', end="")
        _dump_rows(folder)
        print("}")
        return
    rows = columns_of(folder, whole)
    for table in tables.of_run(rows, whole):
        print_table(table)
    for note in (tables.describe_errors(folder.errors(whole)), tables.describe_code(folder.codes())):
        if note:
            print(printable(note))
    if (bill := next(bills.of_run(folder, Prices.load(options.prices)), None)) is not None:
        print_table(bill)
    if figures:
        draw_figures(folder, rows, quiet=False)
    print(printable(f"Everything is recorded in {path}; look closer with: teamworld report {path} --figures"))


def _dump_rows(folder: RunFolder) -> None:
    """Print the finished episodes of a run as a JSON list, one after the other: they may be many."""
    between = "["
    for _, row in folder.each_finished(folder.experiment()):
        print(f"{between}{json_text.dumps(row.plain(), allow_nan=False)}", end="")
        between = ", "
    print("]" if between == ", " else "[]", end="")


def of_shard(folder: Path, options: RunOptions) -> Path:
    """Return the folder of a shard beside that of the whole; the same where all is run."""
    return folder if options.part is None else folder.with_name(f"{folder.name}-{'of'.join(map(str, options.part))}")


def share(episodes: int, options: RunOptions) -> int:
    """Return about how many of some episodes are run, all or those of a shard."""
    return episodes if options.part is None else -(-episodes // options.part.total)


def tell_shard(folder: Path, shard: str | None, *, as_json: bool) -> None:
    """Print that a shard is finished, and how to go on."""
    runs = [RunFolder(path) for path, _ in _begun_runs(folder)]
    done = sum(run.count_finished(run.experiment()) for run in runs)
    if as_json:
        dump({"run": str(folder), "shard": shard, "finished": done})
        return
    errors = tables.describe_errors([error for run in runs for error in run.errors(run.experiment())])
    if errors:
        print(printable(errors))
    episodes = f"{done} episode{'' if done == 1 else 's'}"
    print(
        printable(
            f"shard {shard} with {episodes} is in {folder}; once all shards are there, join them: teamworld "
            f"merge {folder} ... --out DIR"
        )
    )


def _begun_runs(folder: Path) -> Iterator[tuple[Path, ExperimentSpec]]:
    paths = sorted(path.parent for path in list_files(folder) if path.name == EXPERIMENT_FILE)
    return ((path, RunFolder(path).experiment()) for path in paths)


def join_shards(shards: Sequence[Path], out: Path, *, accept_changes: bool, as_json: bool) -> int:
    """Join shards and tell what is missing; return 0 if nothing is, else 1."""
    with Console(stderr=True).status("joining"):
        merged = merge.merge(shards, out, accept_changes=accept_changes)
    if grid.kind_of(out) is not None:  # runs that no shard has begun
        not_begun = [(path, spec) for path, spec in _planned_runs(out) if not RunFolder(path).is_begun]
    else:
        not_begun = []
    lacking = [run for run in merged if run.missing]
    missing = sum(run.missing for run in lacking) + sum(spec.episode_count for _, spec in not_begun)
    wanted = sum(run.wanted for run in merged) + sum(spec.episode_count for _, spec in not_begun)
    reasons = [
        run.why if len(merged) == 1 else f"{_within(run.folder.path, out)}: {run.why}" for run in lacking if run.why
    ]
    reasons += [f"{_within(path, out)}: no shard has begun it" for path, _ in not_begun]
    if as_json:
        dump({"run": str(out), "wanted": wanted, "missing": missing, "why": reasons})
    elif missing:
        why = "; ".join(reasons)
        print(printable(f"{missing} of {wanted} episodes are missing in {out}{': ' * bool(why)}{why}"), file=sys.stderr)
    else:
        added = sum(run.added for run in merged)
        print(printable(f"all {wanted} episodes are in {out} ({added} of them new)"))
    return 1 if missing else 0


def _within(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def draw_figures(folder: RunFolder, rows: EpisodeColumns, *, quiet: bool) -> None:
    """Draw the figures of a run into its folder."""
    from teamworld.report.run_figures import draw_all  # only here: matplotlib takes its time

    for path in draw_all(folder, folder.experiment(), rows):
        if not quiet:
            print(printable(f"drawn: {path}"))


# ---- a grid of runs


def run_grid(data: Mapping[str, Any], out: Path | None, options: RunOptions, *, estimate: bool, as_json: bool) -> None:
    """Run what is missing of a grid, one run after the other under one budget, and print a table of all."""
    parts = grid.expand(data)
    if out is None:
        raise UserError("a grid of runs needs a folder: add --out DIR")
    data = grid.grown(out, data)
    parts = grid.expand(data)
    for part in parts:
        part.experiment.resolved()  # all of them, before the first begins
    folders = {part.name: out / part.name for part in parts}
    lines = estimate_all([(folders[part.name], part.experiment) for part in parts], options)
    if estimate:
        print("\n".join(lines) or "no language model is asked")
        return
    budget = SharedBudget(options, folders.values())
    grid.claim(out, data)
    total = share(sum(part.experiment.episode_count for part in parts), options)
    with monitored(total, parts[0].experiment, options, lines=lines) as (step, monitor):
        for part in parts:
            folder = folders[part.name]
            own = budget.options_for(folder, part.experiment)
            runner.finish(part.experiment, folder, step, own, monitor, step.skip)
    if options.shard:
        tell_shard(out, options.shard, as_json=as_json)
        return
    if as_json:
        print(f'{{"grid": {json_text.dumps(str(out))}, "runs": {{', end="")
        for number, part in enumerate(parts):
            print(f"{', ' * bool(number)}{json_text.dumps(part.name)}: ", end="")
            _dump_rows(RunFolder(folders[part.name]))
        print("}}")
        return
    played = [part._replace(experiment=RunFolder(folders[part.name]).keep_limit(part.experiment)) for part in parts]
    print_table(_grid_table(played, folders))
    print(printable(f"Everything is recorded in {out}; in Python: teamworld.load('{out}').episodes"))


def _grid_table(parts: Sequence[grid.GridRun], folders: Mapping[str, Path]) -> Table:
    runs = [RunFolder(folders[part.name]) for part in parts]
    columns = (columns_of(run, run.experiment()) for run in runs)
    tabled = [tables.by_method(own, part.experiment) for part, own in zip(parts, columns, strict=True)]
    left_out = ("method", "joint acts", "plans", "messages", "re-asked")
    shown = [name for name in dict.fromkeys(name for table in tabled for name in table.columns) if name not in left_out]
    rows = []
    for part, table in zip(parts, tabled, strict=True):
        place = " ".join(f"{name}={value}" for name, value in part.values.items())
        for line in table.rows:
            cells = dict(zip(table.columns, line, strict=True))
            rows.append((f"{place} {cells['method']}", *(cells.get(name, "") for name in shown)))
    return Table(f"{len(parts)} runs", ("run", *shown), tuple(rows), _caption([part.experiment for part in parts]))


def _caption(experiments: Sequence[ExperimentSpec]) -> str:
    """Return what the numbers of some runs are: of how many seeds and episodes, which reasoners, which protocol."""
    seeds = _counts("seed", [len(spec.seeds) for spec in experiments])
    episodes = _counts("episode", [spec.episodes for spec in experiments])
    steps = _counts("step", [spec.step_limit for spec in experiments])
    reasoners = {spec.reasoner: tables.describe_reasoner(spec) for spec in experiments}
    settings = [text if len(reasoners) == 1 or text == name else f"{name}: {text}" for name, text in reasoners.items()]
    settings += filter(None, dict.fromkeys(map(tables.talk, experiments)))
    several = any(len(spec.seeds) > 1 for spec in experiments)
    over = f"mean of {episodes} each{' [95 % interval over seeds]' if several else ', no interval'}"
    return f"{seeds}, {over}; at most {steps}; {'; '.join(settings)}"


def _counts(word: str, counts: Sequence[int]) -> str:
    """Return a count with its word, as in '1 seed'; of runs that differ all counts, as in '2 or 4 seeds'."""
    different = sorted(set(counts))
    return f"{' or '.join(map(str, different))} {word}{'' if different == [1] else 's'}"


# ---- status


class RunProgress(NamedTuple):
    """How far a run is."""

    run: str
    done: int
    """Episodes."""
    wanted: int
    running: bool | None
    """A process holds it now; None where that cannot be seen."""
    calls: int
    errors: int
    """Episodes that ended in an error."""

    @property
    def state(self) -> str:
        """The state in a word."""
        if self.running:
            return "running"
        if self.done == self.wanted:
            return "done"
        if self.errors:
            return f"{self.errors} in error"
        if self.running is None:
            return "not known"
        return "stopped" if self.done else "waiting"


def _planned_runs(folder: Path) -> Iterator[tuple[Path, ExperimentSpec]]:
    """Yield the runs of a folder, those too that a page of evidence or a comparison has not begun.

    Which methods a comparison runs in silence is known once they have spoken.
    """
    kind = grid.kind_of(folder)
    if kind == "evidence":
        page = evidence.parsed(grid.read_plan(folder), imports=False)
        planned = evidence.planned(page, folder, imports=False)
    elif kind == "comparison":
        settings = comparison_runs.settings(grid.read_plan(folder), imports=False)
        parts = comparison_runs.planned(settings, folder, comparison_runs.ALL_BESIDE)
        planned = [(part.folder, part.experiment) for part in parts if part.is_aloud or part.folder.exists()]
    else:
        yield from grid.runs(folder)
        return
    for path, experiment in planned:
        held = RunFolder(path)
        yield path, held.experiment() if held.experiment_file.exists() else experiment


def _progress(folder: RunFolder, experiment: ExperimentSpec) -> RunProgress:
    """Return how far a run is; nothing is touched, also while it goes on."""
    calls = folder.count_calls()
    done = folder.count_finished(experiment)
    errors = len(folder.errors(experiment))
    return RunProgress(str(folder.path), done, folder.episode_count(experiment), folder.held(), calls, errors)


def show_status(folder: Path, *, as_json: bool) -> int:
    """Print how far each run of a folder is."""
    runs = [_progress(RunFolder(path), experiment) for path, experiment in _planned_runs(folder)]
    if as_json:
        dump({"folder": str(folder), "runs": [run._asdict() for run in runs]})
        return 0
    table = RichTable(box=None, padding=(0, 2, 0, 0))
    for heading in ("run", "", "episodes", "calls", ""):
        table.add_column(heading, justify="left" if heading in ("run", "") else "right")
    for run in runs:
        path = Path(run.run)
        name = printable(path.name if path == folder else path.relative_to(folder).as_posix())
        bar = ProgressBar(run.wanted, run.done, width=24)
        table.add_row(Text(name), bar, f"{run.done} of {run.wanted}", str(run.calls or ""), run.state)
    Console(highlight=False).print(table)
    print(f"{sum(run.done for run in runs)} of {sum(run.wanted for run in runs)} episodes are finished")
    return 0


def replay_run(folder: Path) -> int:
    """Run every finished episode of a run again; return 0 if all logs are equal, 1 at the first difference."""
    place = RunFolder(folder)
    experiment = place.experiment()
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch, progress_bar() as bar:
        task = bar.add_task("replaying", total=experiment.episode_count)
        compared = 0
        for episode in replay_episodes(place, experiment, Path(scratch)):
            bar.update(task, advance=1)
            compared += 1
            if episode.difference is not None:
                bar.stop()
                print(printable(f"{episode.log} differs: {episode.difference}"))
                if changed := place.changed_code(code_of(experiment.resolved())):
                    print(f"the code of {', '.join(changed)} has changed since this run was played, which may be why")
                return 1
    print(f"{compared} episodes replayed: every log is the same, byte for byte")
    return 0
