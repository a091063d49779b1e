"""Comparisons from Python, and what the command prints: runs measured, compared, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from teamworld import plugins
from teamworld.errors import UserError
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import Beside, ComparisonRun
from teamworld.experiment.grid import GridRun
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.remote import local_folder, remote_of
from teamworld.methods.contract import Method
from teamworld.report import comparison_tables, export, measurement
from teamworld.report.comparison import Comparison
from teamworld.report.comparison_sentences import claims, doubts
from teamworld.report.measurement import Measurement
from teamworld.report.tables import Table, describe_errors, describe_headline


@dataclass(frozen=True)
class ComparisonResult:
    """A comparison, measured. It shows itself as its tables and sentences, in a notebook too."""

    comparison: Comparison
    """Over all settings."""
    by_setting: Mapping[str, Comparison]
    """Of each setting, by name; empty where there is only one."""
    measured: Measurement
    names: tuple[str, ...]
    """The metrics."""
    tables: tuple[Table, ...]
    caption: str
    where: Mapping[str, str]
    """Where it was made, and who decided."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a method and metric: value, interval, independent observations, nulls."""
        return comparison_tables.plain(self.comparison)["rows"]

    @property
    def paired(self) -> list[dict[str, Any]]:
        """One row a difference: its interval, p, and whether it is supported."""
        return comparison_tables.plain(self.comparison)["paired"]

    @property
    def sentences(self) -> list[str]:
        """What may be said of the primary metric, and what limits it."""
        main = [pair for pair in self.comparison.paired if pair.metric in self.comparison.main]
        shown = Comparison((), tuple(main or self.comparison.paired))
        return [*claims(shown), *doubts(self.comparison)]

    def _repr_markdown_(self) -> str:
        lines = []
        for table in self.tables:
            lines.append(f"**{table.title}**\n\n{export.markdown(table.columns, table.rows)}\n*{table.caption}*\n")
        return "\n".join([*lines, *(f"- {sentence}" for sentence in self.sentences)])

    def __str__(self) -> str:
        """Return it in Markdown."""
        return self._repr_markdown_()


def measure_comparison(
    parts: Sequence[ComparisonRun],
    settings: Sequence[GridRun],
    metrics: str | None = None,
    primary: str | None = None,
    *,
    references: bool = True,
    processes: int | None = None,
) -> ComparisonResult:
    """Measure and compare the finished episodes of some runs.

    Args:
        parts: The runs.
        settings: Where they took place.
        metrics: Names with commas; None: the headline of the level, and what a results table shows beside it.
        primary: What the comparison is made for, see ``measurement.primary_metrics``.
        references: Whether reference teams stand beside.
        processes: How many measure at a time.

    Raises:
        UserError: No episode is finished, or there is no such metric.
    """
    spoken = [part for part in parts if part.is_aloud] or parts  # those in silence are told by their names
    experiments = list({(p.setting.name, p.experiment.reasoner): p.experiment for p in spoken}.values())
    finished = [row for part in parts for _, row in RunFolder(part.folder).finished(part.experiment)]
    if not finished:
        raise UserError("no episode is finished yet: nothing to compare")
    names = measurement.metric_names(metrics, references=references, rows=finished)
    main = measurement.primary_metrics(finished, primary)
    names = tuple(dict.fromkeys((*main, *names)))
    measured = measurement.measure(parts, names, processes)
    result = measurement.compared(measured, names, main)
    by_setting = {s.name: measurement.compared(measured.within(s.name), names, main) for s in settings if s.name}
    caption = comparison_tables.caption(experiments)
    errors = [failed for part in parts for failed in RunFolder(part.folder).errors(part.experiment)]
    if errors:
        caption += f"; {describe_errors(errors)}"
    explained = "; ".join(filter(None, (caption, describe_headline(finished))))
    tables = [comparison_tables.table(result, names, explained)]
    tables += [comparison_tables.by_setting(by_setting, name, caption) for name in main if by_setting and name in names]
    tables += [comparison_tables.differences(result, name, caption) for name in main if result.twins]
    where = comparison_tables.where(experiments)
    return ComparisonResult(result, by_setting, measured, names, tuple(tables), caption, where)


def compare(
    *compared: str | type[Method] | Path,
    world: str | object = "cube",
    out: Path | str | None = None,
    metrics: str | Iterable[str] | None = None,
    primary: str | None = None,
    references: bool = True,
    twin: str | Iterable[str] = (),
    control: Literal["central"] | None = None,
    equal_tokens: bool = False,
    running: RunOptions | None = None,
    **fields: Any,
) -> ComparisonResult:
    """Compare methods on the same instances and seeds, or folders of runs that exist, as ``teamworld compare`` does.

    Args:
        compared: Methods, by name or as classes; or folders of runs, grids and comparisons, of which nothing is run.
        world: Name of a world, or the world itself.
        out: Folder of the runs and tables. Methods need one; of folders nothing is written without it.
        metrics: Names; None: those of a results table.
        primary: The metric that the comparison is made for; None: steps, or the world's own score.
        references: Whether random, scripted and silent teams stand beside.
        twin: Methods of which an inert twin is played too: the noise floor stands beside every difference then.
        control: ``central`` plays one reasoner that plans for all bodies, beside each method.
        equal_tokens: Whether it may take the tokens that its method took on the same instance.
        running: How runs are carried out: budget, keys, calls in flight, cache.
        fields: Other fields of an experiment, by name: ``level``, ``seeds``, ``episodes``, ``reasoner`` and so on; what
            varies stands under ``grid``.

    Raises:
        UserError: The arguments or the folder cannot be used.
    """
    if running is not None and running.shard:
        raise UserError("compare measures whole runs: play shards with the command, join them, and compare the result")
    names = metrics if isinstance(metrics, str | None) else ",".join(metrics)
    processes = None if running is None else running.processes
    folders = [
        local_folder(item) for item in compared if isinstance(item, Path) or (isinstance(item, str) and "/" in item)
    ]
    out = None if out is None else local_folder(out)
    if folders:
        if len(folders) < len(compared) or fields or twin or control:
            raise UserError("compare takes methods with fields of an experiment, or folders of runs alone")
        parts = comparison_runs.recorded(folders, references=references)
        settings = list({part.setting.name: part.setting for part in parts}.values())
        result = measure_comparison(parts, settings, names, primary, references=references, processes=processes)
        if out is not None:
            grid.claim(out, {"folders": [folder.as_posix() for folder in folders]}, "comparison")
    else:
        if out is None or not compared:
            raise UserError("compare takes one method or more, and a folder: out='runs/compared'")
        labels = [plugins.name_of(method) for method in compared]
        chosen = {name: value for name, value in fields.items() if value is not None}
        asked = {**chosen, "methods": labels, "world": plugins.name_of(world)}
        asked |= {"seeds": list(asked["seeds"])} if "seeds" in asked else {}
        comparison_runs.settings(asked)  # says what is wrong with it
        asked = grid.grown(out, asked, "comparison")
        settings = comparison_runs.settings(asked)
        for setting in settings:
            setting.experiment.resolved()  # all of them, before the first begins
        grid.claim(out, asked, "comparison")
        beside = Beside(
            references,
            None if references else (),
            (twin,) if isinstance(twin, str) else tuple(twin),
            comparison_runs.control_kind(control, equal_tokens=equal_tokens),
        )
        comparison_runs.check_twins(settings, beside.twins or ())
        comparison_runs.check_control(settings, beside.controls, None)
        planned = list(comparison_runs.planned(settings, out, beside))
        parts = comparison_runs.run_all(
            settings,
            out,
            beside,
            progress=lambda row: None,
            budget=SharedBudget(running or RunOptions(), [part.folder for part in planned]),
            watch=RunMonitor(),
        )
        result = measure_comparison(parts, settings, names, primary, references=references, processes=processes)
    if out is not None:
        comparison_tables.write(out, result.comparison, result.tables, result.by_setting, result.where)
        if (remote := remote_of(out)) is not None:
            remote.push()
    return result
