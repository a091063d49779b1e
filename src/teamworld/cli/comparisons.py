"""Commands that compare methods: compare, evidence."""

from __future__ import annotations

import hashlib
import json as json_text
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from teamworld.cli.executions import default_folder
from teamworld.cli.monitor import dump, estimate_all, monitored, print_table
from teamworld.cli.options import DEFAULT_RUN, DEFAULT_SPEC, Flag, Names, RunArguments, SpecArguments, split_names
from teamworld.errors import UserError
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import ComparisonRun
from teamworld.experiment.grid import GridRun
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import load
from teamworld.report import comparison_tables, measurement
from teamworld.report import evidence as pages
from teamworld.report.comparison import MAIN, Comparison, claims, doubts
from teamworld.report.comparison_tables import plain
from teamworld.report.figure_style import need
from teamworld.report.tables import Table

#: Not in the docstring: there, these names stand for parts of its own.
_METHODS = (
    "Two methods or more, or one to see beside the references; variants as drwell:no_memory. Or an experiment file "
    "ending in .yaml, which may name a grid of runs."
)
_REFERENCES = (
    "Whether random, greedy (the world's scripted team) and silent (the methods when nobody hears a message) are run "
    "too."
)
_IMAGES = "images"


def compare(
    *methods: Annotated[str, Parameter(help=_METHODS)],
    world: str | None = None,
    spec: SpecArguments = DEFAULT_SPEC,
    vary: Names = None,
    metrics: str | None = None,
    references: Annotated[bool, Parameter(help=_REFERENCES)] = True,
    out: Path | None = None,
    figures: Flag = False,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Compare methods on the same instances and seeds, beside random, scripted and silent teams.

    What is missing is run, what is there is used again. Prints values with intervals, paired differences as
    sentences, and writes tables (Markdown, LaTeX, CSV, Parquet) and figures into --out.

    Parameters
    ----------
    world:
        Name of a world (see: teamworld worlds). [default: cube]
    vary:
        What varies from setting to setting, as FIELD=VALUE,VALUE,...: level=n1,n2,n4 or cube.agents=1,2,4 for team
        sizes, reasoner=rules,rules:noise=0.2, instances=1,2,3, an option as OWNER.OPTION=...; may be repeated.
    metrics:
        Names with commas (see: teamworld metrics), or all. [default: those of a results table]
    out:
        Folder of the comparison. [default: a name made from the arguments, under runs/]
    figures:
        Also draw values, frontiers, profiles, learning curves and curves over what varies (needs the extra: plots).
    json:
        Print one JSON object, and nothing else.
    """
    if not methods:
        raise UserError("which methods? expected at least one, such as: teamworld compare drwell zero_shot --seeds 20")
    fields = spec.fields() | {"methods": split_names(methods)}
    if world is not None:
        fields["world"] = world
    if vary:
        fields["grid"] = grid.axes(vary)
    if len(methods) == 1 and methods[0].endswith((".yaml", ".yml")):
        if extra := fields.keys() - {"methods"}:
            listed = "/--".join(sorted(extra)).replace("grid", "vary")
            raise UserError(f"an experiment file says it all: leave out --{listed} or write it into {methods[0]}")
        fields = load(Path(methods[0]))
    elif "world" not in fields.get("grid", {}):
        fields.setdefault("world", "cube")
    names = measurement.metric_names(metrics, references=references)
    settings = comparison_runs.settings(fields)
    for setting in settings:
        setting.experiment.resolved()  # all of them, before the first begins
    folder = out if out is not None else _default_folder(settings, references)
    grid.claim(folder, fields, "comparison")
    parts = _run(settings, folder, options, references=references)
    with Console(stderr=True).status("measuring"):
        measured = measurement.measure(parts, names, options.processes)
        result = measurement.compared(measured, names)
        by_setting = {s.name: measurement.compared(measured.within(s.name), names) for s in settings if s.name}
    experiments = [setting.experiment for setting in settings]
    caption, where = comparison_tables.caption(experiments), comparison_tables.where(experiments)
    tables = [comparison_tables.table(result, names, caption)]
    tables += [comparison_tables.by_setting(by_setting, name, caption) for name in MAIN if by_setting and name in names]
    comparison_tables.write(folder, result, tables, by_setting, where)
    if figures:
        from teamworld.report.comparison_figures import draw

        varied = {setting.name: setting.values for setting in settings}
        for path in draw(result, measured.episodes, names, caption, folder / "figures", varied):
            Console(stderr=True).print(f"drawn: {path}", highlight=False, soft_wrap=True)
    if json:
        rows = [{"setting": name, **plain(part)} for name, part in by_setting.items()]
        dump({"run": str(folder), **where, **plain(result), **({"settings": rows} if rows else {})})
    else:
        _print(tables, result, folder)
    return 0


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
    main = [pair for pair in result.paired if pair.metric in MAIN] or list(result.paired)
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


def evidence(
    file: Path,
    *,
    out: Path | None = None,
    page: Path | None = None,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Make a page of evidence: several comparisons in one file, with tables, figures and what they support.

    The same command goes on where it stopped, and makes the same page again (needs the extra: plots).

    Parameters
    ----------
    file:
        YAML file of the page, such as experiments/evidence.yaml: what is compared, where, and why.
    out:
        Folder of the runs. [default: runs/NAME-OF-THE-FILE]
    page:
        The Markdown file to write; figures go into the folder images beside it. [default: evidence.md in --out]
    json:
        Print one JSON object with the paths, and nothing else.
    """
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
    if json:
        dump({"page": str(target), "figures": [str(path) for path in made.figures], "runs": str(folder)})
    else:
        print(f"{target} with {len(made.figures)} figures; its runs are in {folder}")
    return 0
