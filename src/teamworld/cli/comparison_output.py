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

from teamworld.cli.executions import default_folder, of_shard, share, tell_shard
from teamworld.cli.monitor import dump, estimate_all, monitored, print_table
from teamworld.errors import UserError, printable
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import Beside, ComparisonRun
from teamworld.experiment.grid import GridRun
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import load
from teamworld.experiment.store.folder import RunFolder
from teamworld.plain_files import write_file
from teamworld.report import comparison_tables
from teamworld.report import evidence as pages
from teamworld.report.comparison import Comparison
from teamworld.report.comparison_result import measure_comparison
from teamworld.report.comparison_sentences import claims, doubts
from teamworld.report.comparison_tables import plain
from teamworld.report.figure_style import need
from teamworld.report.tables import Table, describe_versions

_IMAGES = "images"


def compare(
    fields: Mapping[str, Any],
    metrics: str | None,
    primary: str | None,
    out: Path | None,
    options: RunOptions,
    beside: Beside,
    *,
    figures: bool,
    as_json: bool,
) -> None:
    """Run what is missing of a comparison, write its tables and figures, and print it.

    Args:
        fields: Of an experiment; what varies stands under ``grid``.
        metrics: Names with commas; None: the headline of the level, and what a results table shows beside it.
        primary: What the comparison is made for, see ``measurement.primary_metrics``.
        out: Folder of the comparison; a name made from the arguments if None.
        options: How its runs are carried out.
        beside: What stands beside the methods.
        figures: Whether to draw.
        as_json: Print one JSON object, and nothing else.
    """
    settings = comparison_runs.settings(fields)
    if out is not None:
        fields = grid.grown(out, fields, "comparison")
        settings = comparison_runs.settings(fields)
    for setting in settings:
        setting.experiment.resolved()  # all of them, before the first begins
    comparison_runs.check_twins(settings, beside.twins or ())
    comparison_runs.check_control(settings, beside.controls, options.shard)
    if options.shard and figures:
        raise UserError("--figures is for whole comparisons: leave it out of a shard, and draw once they are joined")
    folder = out if out is not None else of_shard(_default_folder(settings, beside.references), options)
    grid.claim(folder, fields, "comparison")
    parts = _run(settings, folder, options, beside)
    if options.shard:
        tell_shard(folder, options.shard, as_json=as_json)
        return
    _show(
        parts,
        settings,
        metrics,
        primary,
        folder,
        options.processes,
        references=beside.references,
        figures=figures,
        as_json=as_json,
    )


def compare_folders(
    folders: Sequence[Path],
    metrics: str | None,
    primary: str | None,
    out: Path | None,
    processes: int | None,
    *,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Compare what stands in folders of runs, and run nothing.

    Args:
        folders: Of runs, grids, comparisons or pages of evidence.
        metrics: As for ``compare``.
        primary: As for ``compare``.
        out: Where tables and figures are written; they are not if None.
        processes: How many measure at a time.
        references: Whether reference teams that were run stand beside.
        figures: Whether to draw.
        as_json: Print one JSON object, and nothing else.
    """
    if figures and out is None:
        raise UserError("--figures of folders are drawn where? add --out DIR")
    parts = comparison_runs.recorded(folders, references=references)
    settings = list({part.setting.name: part.setting for part in parts}.values())
    if out is not None:
        grid.claim(out, {"folders": [folder.as_posix() for folder in folders]}, "comparison")
    _show(parts, settings, metrics, primary, out, processes, references=references, figures=figures, as_json=as_json)


def _show(
    parts: Sequence[ComparisonRun],
    settings: Sequence[GridRun],
    metrics: str | None,
    primary: str | None,
    folder: Path | None,
    processes: int | None,
    *,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Measure the runs of a comparison, write its tables and figures if it has a folder, and print it."""
    with Console(stderr=True).status("measuring"):
        made = measure_comparison(parts, settings, metrics, primary, references=references, processes=processes)
    result, tables = made.comparison, made.tables
    if folder is not None:
        comparison_tables.write(folder, result, tables, made.by_setting, made.where)
    if figures and folder is not None:
        from teamworld.report.comparison_figures import draw

        varied = {setting.name: setting.values for setting in settings}
        for path in draw(result, made.measured.episodes, made.names, made.caption, folder / "figures", varied):
            Console(stderr=True).print(printable(f"drawn: {path}"), highlight=False, markup=False, soft_wrap=True)
    if as_json:
        rows = [{"setting": name, **plain(part)} for name, part in made.by_setting.items()]
        place = {} if folder is None else {"run": str(folder)}
        dump({**place, **made.where, **plain(result), **({"settings": rows} if rows else {})})
    else:
        _print(tables, result, folder)
        if note := describe_versions(RunFolder(part.folder).codes() for part in parts):
            print(f"\n{note}")


def _run(settings: Sequence[GridRun], folder: Path, options: RunOptions, beside: Beside) -> list[ComparisonRun]:
    """Run what is missing, with a progress bar; show first what language models will take."""
    first = settings[0].experiment
    methods = (
        len(first.methods) * (2 if beside.controls else 1)
        + len(beside.twins or ())
        + beside.references * (len(comparison_runs.REFERENCES) + len(first.methods))
    )
    total = share(methods * len(first.seeds) * first.episodes * len(settings), options)
    planned = list(comparison_runs.planned(settings, folder, beside))
    lines = estimate_all([(part.folder, part.estimated or part.experiment) for part in planned], options)
    budget = SharedBudget(options, [part.folder for part in planned])
    with monitored(total, first, options, lines=lines) as (step, monitor):
        return comparison_runs.run_all(settings, folder, beside, progress=step, budget=budget, watch=monitor)


def _print(tables: Sequence[Table], result: Comparison, folder: Path | None) -> None:
    """Print tables, then what may be said of the main metrics, and where the rest is."""
    for table in tables:
        print_table(replace(table, caption=""))
    print(f"{tables[0].caption}\n")
    main = [pair for pair in result.paired if pair.metric in result.main] or list(result.paired)
    for sentence in claims(Comparison((), tuple(main))):
        print(printable(sentence))
    others = [pair.supported for pair in result.paired if pair not in main]
    if others:
        where = "add --out DIR for all of them" if folder is None else f"all are in {folder / 'comparison.md'}"
        print(f"of {len(others)} differences in other metrics {sum(others)} are supported; {where}")
    for line in doubts(result):
        print(printable(line))
    if folder is not None:
        print(printable(f"\nTables (Markdown, LaTeX, CSV, with polars Parquet) and runs are in {folder}"))


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
    if options.shard:
        pages.check_shards(plan)
    else:
        need(matplotlib="plots")
    folder = out if out is not None else of_shard(Path("runs") / file.stem, options)
    target = page if page is not None else folder / "evidence.md"
    if target.is_dir() or target.suffix != ".md":
        raise UserError(f"--page is a Markdown file such as docs/evidence.md, got {target}")
    grid.claim(folder, data, "evidence")
    places = [word for name, path in (("--out", out), ("--page", page)) if path for word in (name, str(path))]
    command = shlex.join(["teamworld", "evidence", str(file), *places])
    first = plan.settings(plan.sections[0], folder)[0].experiment
    lines = estimate_all(pages.planned(plan, folder), options)
    with monitored(share(pages.episodes(plan), options), first, options, lines=lines) as (step, monitor):
        if options.shard:
            pages.run_shard(plan, folder, progress=step, running=options, watch=monitor)
            tell_shard(folder, options.shard, as_json=as_json)
            return
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
    write_file(target, made.text.encode())
    if as_json:
        dump({"page": str(target), "figures": [str(path) for path in made.figures], "runs": str(folder)})
    else:
        print(printable(f"{target} with {len(made.figures)} figures; its runs are in {folder}"))
