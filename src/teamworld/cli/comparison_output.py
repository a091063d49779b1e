"""What the commands that compare methods do: run what is missing, measure, write tables, figures and pages."""

from __future__ import annotations

import hashlib
import json as json_text
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from teamworld.cli.executions import default_folder
from teamworld.cli.monitor import dump, estimate_all, monitored, print_table
from teamworld.errors import UserError
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import ALOUD, ComparisonRun
from teamworld.experiment.grid import GridRun
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import load
from teamworld.experiment.store.folder import RunFolder
from teamworld.report import comparison_tables, measurement
from teamworld.report import evidence as pages
from teamworld.report.comparison import Comparison, claims, doubts
from teamworld.report.comparison_tables import plain
from teamworld.report.figure_style import need
from teamworld.report.tables import Table, describe_headline

_IMAGES = "images"


def compare(
    fields: Mapping[str, Any],
    metrics: str | None,
    out: Path | None,
    options: RunOptions,
    *,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Run what is missing of a comparison, write its tables and figures, and print it.

    Args:
        fields: Of an experiment; what varies stands under ``grid``.
        metrics: Names with commas; None: the headline of the level, and what a results table shows beside it.
        out: Folder of the comparison; a name made from the arguments if None.
        options: How its runs are carried out.
        references: Whether random, scripted and silent teams stand beside.
        figures: Whether to draw.
        as_json: Print one JSON object, and nothing else.
    """
    settings = comparison_runs.settings(fields)
    for setting in settings:
        setting.experiment.resolved()  # all of them, before the first begins
    folder = out if out is not None else _default_folder(settings, references)
    grid.claim(folder, fields, "comparison")
    parts = _run(settings, folder, options, references=references)
    experiments = [RunFolder(folder / s.name / ALOUD).keep_limit(s.experiment) for s in settings]
    finished = [row for part in parts for _, row in RunFolder(part.folder).finished(part.experiment)]
    names = measurement.metric_names(metrics, references=references, rows=finished)
    main = measurement.main_metrics(finished)
    with Console(stderr=True).status("measuring"):
        measured = measurement.measure(parts, names, options.processes)
        result = measurement.compared(measured, names, main)
        by_setting = {s.name: measurement.compared(measured.within(s.name), names, main) for s in settings if s.name}
    caption, where = comparison_tables.caption(experiments), comparison_tables.where(experiments)
    explained = "; ".join(filter(None, (caption, describe_headline(finished))))
    tables = [comparison_tables.table(result, names, explained)]
    tables += [comparison_tables.by_setting(by_setting, name, caption) for name in main if by_setting and name in names]
    comparison_tables.write(folder, result, tables, by_setting, where)
    if figures:
        from teamworld.report.comparison_figures import draw

        varied = {setting.name: setting.values for setting in settings}
        for path in draw(result, measured.episodes, names, caption, folder / "figures", varied):
            Console(stderr=True).print(f"drawn: {path}", highlight=False, soft_wrap=True)
    if as_json:
        rows = [{"setting": name, **plain(part)} for name, part in by_setting.items()]
        dump({"run": str(folder), **where, **plain(result), **({"settings": rows} if rows else {})})
    else:
        _print(tables, result, folder)


def _run(settings: Sequence[GridRun], folder: Path, options: RunOptions, *, references: bool) -> list[ComparisonRun]:
    """Run what is missing, with a progress bar; show first what language models will take."""
    first, silent = settings[0].experiment, None if references else ()
    methods = len(first.methods) + references * (len(comparison_runs.REFERENCES) + len(first.methods))
    total = methods * len(first.seeds) * first.episodes * len(settings)
    planned = list(comparison_runs.planned(settings, folder, references=references, silent=silent))
    lines = estimate_all([(part.folder, part.experiment) for part in planned], options)
    budget = SharedBudget(options, [part.folder for part in planned])
    with monitored(total, first, options, lines=lines) as (step, monitor):
        return comparison_runs.run_all(
            settings, folder, references=references, silent=silent, progress=step, budget=budget, watch=monitor
        )


def _print(tables: Sequence[Table], result: Comparison, folder: Path) -> None:
    """Print tables, then what may be said of the main metrics, and where the rest is."""
    for table in tables:
        print_table(replace(table, caption=""))
    print(f"{tables[0].caption}\n")
    main = [pair for pair in result.paired if pair.metric in result.main] or list(result.paired)
    for sentence in claims(Comparison((), tuple(main))):
        print(sentence)
    others = [pair.supported for pair in result.paired if pair not in main]
    if others:
        print(
            f"of {len(others)} differences in other metrics {sum(others)} are supported; all are in "
            f"{folder / 'comparison.md'}"
        )
    for line in doubts(result):
        print(line)
    print(f"\nTables (Markdown, LaTeX, CSV, with polars Parquet) and runs are in {folder}")


def _default_folder(settings: Sequence[GridRun], references: bool) -> Path:
    asked: Sequence[Mapping[str, Any] | bool] = [
        *(setting.experiment.model_dump(mode="json") for setting in settings),
        references,
    ]
    text = json_text.dumps(asked, sort_keys=True).encode()
    name = f"compare-{hashlib.blake2b(text, digest_size=4).hexdigest()}"
    return default_folder(settings[0].experiment).with_name(name)


def make_evidence(file: Path, out: Path | None, page: Path | None, options: RunOptions, *, as_json: bool) -> None:
    """Make a page of evidence and print where it is; raises ``UserError``."""
    data = load(file)
    plan = pages.parsed(data)
    need(matplotlib="plots")
    folder = out if out is not None else Path("runs") / file.stem
    target = page if page is not None else folder / "evidence.md"
    if target.is_dir() or target.suffix != ".md":
        raise UserError(f"--page is a Markdown file such as docs/evidence.md, got {target}")
    grid.claim(folder, data, "evidence", same=False)
    places = [word for name, path in (("--out", out), ("--page", page)) if path for word in (name, str(path))]
    command = shlex.join(["teamworld", "evidence", str(file), *places])
    first = plan.settings(plan.sections[0], folder)[0].experiment
    lines = estimate_all(pages.planned(plan, folder), options)
    with monitored(pages.episodes(plan), first, options, lines=lines) as (step, monitor):
        made = pages.make(
            plan,
            folder,
            target.parent / _IMAGES,
            f"{_IMAGES}/",
            command,
            progress=step,
            running=options,
            watch=monitor,
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(made.text, "utf-8")
    if as_json:
        dump({"page": str(target), "figures": [str(path) for path in made.figures], "runs": str(folder)})
    else:
        print(f"{target} with {len(made.figures)} figures; its runs are in {folder}")
