"""Comparing methods on the command line: runs, tables, sentences, files, figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from teamworld.cli.running import default_folder, expect_all, watched
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import ComparisonRun
from teamworld.experiment.grid import GridRun
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.report import comparison_tables, measurement
from teamworld.report.comparison import MAIN, Comparison, claims, doubts
from teamworld.report.comparison_tables import plain
from teamworld.report.tables import Table, rich_tables


def compare(
    asked: Mapping[str, Any],
    out: Path | None,
    running: RunOptions,
    *,
    wanted: str | None,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Run what is missing, compare, print, and write the files.

    Args:
        asked: Fields of an experiment; what varies stands under ``grid``.
        out: Folder of the comparison; None: one with a name made from what is asked.
        running: How runs are carried out.
        wanted: Metrics with commas; None for those of a results table.
        references: Whether reference rows stand beside.
        figures: Whether figures are drawn too.
        as_json: Whether to print one JSON object, and nothing else.

    Raises:
        UserError: Something asked for cannot be used, or a limit was reached.
    """
    names = measurement.metric_names(wanted, references=references)
    settings = comparison_runs.settings(asked)
    for setting in settings:
        setting.experiment.resolved()  # all of them, before the first begins
    folder = out if out is not None else _default(settings, references)
    grid.claim(folder, asked, "comparison")
    parts = _run(settings, folder, running, references=references)
    with Console(stderr=True).status("measuring"):
        found = measurement.measure(parts, names, running.processes)
        comparison = measurement.compared(found, names)
        each = {one.name: measurement.compared(found.within(one.name), names) for one in settings if one.name}
    experiments = [one.experiment for one in settings]
    caption, where = comparison_tables.caption(experiments), comparison_tables.where(experiments)
    tables = [comparison_tables.table(comparison, names, caption)]
    tables += [comparison_tables.by_setting(each, name, caption) for name in MAIN if each and name in names]
    comparison_tables.write(folder, comparison, tables, each, where)
    if figures:
        _draw(folder, comparison, found, names, caption, settings)
    if as_json:
        told = {"settings": [{"setting": name, **plain(one)} for name, one in each.items()]} if each else {}
        print(json.dumps({"run": str(folder), **where, **plain(comparison), **told}, allow_nan=False))
        return
    _print(tables, comparison, folder)


def _run(settings: Sequence[GridRun], folder: Path, running: RunOptions, *, references: bool) -> list[ComparisonRun]:
    """Run what is missing, with a progress bar; say first what language models will take."""
    first, silent = settings[0].experiment, None if references else ()
    methods = len(first.methods) + references * (len(comparison_runs.REFERENCES) + len(first.methods))
    total = methods * len(first.seeds) * first.episodes * len(settings)
    planned = list(comparison_runs.planned(settings, folder, references=references, silent=silent))
    told = expect_all([(part.folder, part.experiment) for part in planned], running)
    purse = SharedBudget(running, [part.folder for part in planned])
    with watched(total, first, running, told=told) as (step, watch):
        return comparison_runs.run_all(
            settings, folder, references=references, silent=silent, progress=step, purse=purse, watch=watch
        )


def _print(tables: Sequence[Table], comparison: Comparison, folder: Path) -> None:
    """Print tables, then what may be said of the main metrics, and where the rest is."""
    for table in tables:
        print(table.title)
        for part in rich_tables(table, Console().width):
            Console().print(part)
    print(f"{tables[0].caption}\n")
    main = [pair for pair in comparison.paired if pair.metric in MAIN] or list(comparison.paired)
    for sentence in claims(Comparison((), tuple(main))):
        print(sentence)
    others = [pair.supported for pair in comparison.paired if pair not in main]
    if others:
        print(
            f"of {len(others)} differences in other metrics {sum(others)} are supported; all are in "
            f"{folder / 'comparison.md'}"
        )
    for line in doubts(comparison):
        print(line)
    print(f"\nTables (Markdown, LaTeX, CSV, with polars Parquet) and runs are in {folder}")


def _default(settings: Sequence[GridRun], references: bool) -> Path:
    asked = [setting.experiment.model_dump(mode="json") for setting in settings]
    told = json.dumps([*asked, references], sort_keys=True).encode()
    name = f"compare-{hashlib.blake2b(told, digest_size=4).hexdigest()}"
    return default_folder(settings[0].experiment).with_name(name)


def _draw(
    folder: Path,
    comparison: Comparison,
    found: measurement.Measurement,
    names: Sequence[str],
    caption: str,
    settings: Sequence[GridRun],
) -> None:
    from teamworld.report.comparison_figures import draw

    varied = {setting.name: setting.values for setting in settings}
    for path in draw(comparison, found.episodes, names, caption, folder / "figures", varied):
        Console(stderr=True).print(f"drawn: {path}", highlight=False, soft_wrap=True)
