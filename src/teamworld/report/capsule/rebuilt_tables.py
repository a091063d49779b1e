"""The tables of a folder, made from its record alone: what a capsule holds, and what verifying it makes again."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from teamworld.errors import UserError, brief
from teamworld.experiment import comparison_runs, episode_metrics, grid
from teamworld.experiment.comparison_runs import REFERENCES
from teamworld.experiment.episode_metrics import EpisodeMetrics
from teamworld.experiment.replay_reasoner import replays
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.metrics.definition import NULL, logged_metrics
from teamworld.report import comparison_tables, export, tables
from teamworld.report.comparison_result import ComparisonResult, measure_comparison
from teamworld.report.episode_columns import columns_of

#: Endings of the tables of a comparison that stand in a capsule: Parquet's bytes differ from version to version.
_TEXTS = (".md", ".tex", ".csv")
_VALUE = ("value", "num", "den")


def tables_of(
    folder: Path, metric_names: str | None, primary: str | None, processes: int | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield the tables of a run, a grid or a comparison by name.

    Each run has its report and the metrics of every episode; a comparison has what ``compare`` writes too.

    Args:
        folder: The folder.
        metric_names: As for ``measure_comparison``.
        primary: As for ``measure_comparison``.
        processes: How many measure at a time.

    Raises:
        UserError: A log is missing or damaged, or no episode is finished.
    """
    for path, experiment in grid.runs(folder):
        place = "" if path == folder else f"{path.relative_to(folder).as_posix()}/"
        run = RunFolder(path)
        report = tables.of_run(columns_of(run, experiment), experiment)
        yield f"{place}report.md", "\n".join(map(_markdown, report)).encode()
        measured = [episode for _, episode in episode_metrics.of_runs([(run, experiment)], processes)]
        yield f"{place}episodes.csv", _csv(measured)
    if grid.kind_of(folder) == "comparison":
        compared = compare_again([folder], metric_names, primary, processes)
        with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
            made = (compared.comparison, compared.tables, compared.by_setting, compared.where)
            comparison_tables.write(Path(scratch), *made)
            for path in sorted(Path(scratch).iterdir()):
                if path.suffix in _TEXTS:
                    yield path.name, path.read_bytes()


def compare_again(
    folders: Sequence[Path], metric_names: str | None, primary: str | None, processes: int | None = None
) -> ComparisonResult:
    """Return the comparison of what stands in some folders, as ``teamworld compare`` makes it; raises ``UserError``."""
    parts = comparison_runs.recorded(folders)
    settings = list({part.setting.name: part.setting for part in parts}.values())
    return measure_comparison(parts, settings, metric_names, primary, processes=processes)


def plan_gaps(folder: Path) -> Iterator[str]:
    """Yield a line for each run that a grid or a comparison planned and does not hold, or holds and did not plan.

    Raises:
        UserError: The file of the plan is damaged.
    """
    kind = grid.kind_of(folder)
    if kind is None:
        return
    plan = grid.read_plan(folder)
    if kind == "evidence" or "folders" in plan:
        raise UserError(f"{folder} holds no run of its own: pack the runs, grids and comparisons that it is made of")
    held = {path for path, _ in grid.runs(folder) if RunFolder(path).is_begun}
    if kind == "grid":
        needed = {folder / part.name: part.experiment for part in grid.expand(plan, imports=False)}
        possible = set(needed)
    else:
        settings = comparison_runs.settings(plan, imports=False)
        asked = comparison_runs.planned(settings, folder, comparison_runs.ALL_BESIDE._replace(references=False))
        parts = {part.folder: part for part in asked}
        needed = {path: part.experiment for path, part in parts.items() if part.is_aloud}
        possible = set(parts)
    for path in sorted({*needed, *held}):
        name = path.relative_to(folder).as_posix()
        if path not in held:
            yield f"{name} was planned and is missing"
        elif path not in possible:
            yield f"{name} is no part of what was planned"
        elif path in needed:
            yield from (f"{name}: {line}" for line in _changes(needed[path], RunFolder(path).experiment()))


def _changes(asked: ExperimentSpec, run: ExperimentSpec) -> Iterator[str]:
    """Yield what a run has otherwise than it was planned; what was left open is the run's to fill in."""
    left_open = {"options", "talk", *(("max_steps",) if asked.max_steps is None else ())}
    left_open |= {"reasoner", "answers", "reasoning", "retries", "sampling"} if replays(asked) else set()
    for name in ExperimentSpec.model_fields:
        was, has = getattr(asked, name), getattr(run, name)
        if name == "methods":  # reference teams stand beside
            was, has = set(was), {method for method in has if method in was or method not in REFERENCES}
        elif name == "seeds":
            was, has = set(was), set(has)
        if name not in left_open and was != has:
            yield f"its {name} is not what was planned"
    for owner, values in asked.options.items():
        for option, value in values.items():
            held = run.options.get(owner, {})
            if option in held and str(held[option]) != str(value):
                yield f"its {owner}.{option} is {brief(held[option])}, and {brief(value)} was planned"


def _markdown(table: tables.Table) -> str:
    return f"**{table.title}**\n\n{export.markdown(table.columns, table.rows)}\n{table.caption}\n"


def _csv(measured: Sequence[EpisodeMetrics]) -> bytes:
    """Return the metrics of episodes, a line each: value, numerator and denominator; null is empty."""
    text = io.StringIO()
    names = logged_metrics()
    lines = csv.writer(text, lineterminator="\n")
    columns = [f"{name}.{part}" if part != "value" else name for name in names for part in _VALUE]
    lines.writerow(["method", "seed", "episode", "layout", "play", *columns])
    for episode in measured:
        cells = [value for name in names for value in episode.values.get(name, NULL)]
        place = [episode.cell.method, episode.cell.seed, episode.row.episode, *episode.identity]
        lines.writerow([*place, *("" if cell is None else cell for cell in cells)])
    return text.getvalue().encode()
