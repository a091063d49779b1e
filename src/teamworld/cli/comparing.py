"""Comparing methods on the command line: runs, tables, sentences, files, figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from teamworld.cli.running import default_folder, watched
from teamworld.experiment.config import Experiment
from teamworld.experiment.running import Running
from teamworld.metrics.definition import metrics
from teamworld.report import export, study
from teamworld.report.compare import LEVEL, Comparison, Row, Sample, claims, least_p
from teamworld.report.metrics import number
from teamworld.report.tables import Table, mind, rich_tables

#: Metrics of which a difference that is not supported is worth a sentence.
MAIN = ("O2", "O4", "E1")


def compare(
    asked: Experiment,
    out: Path | None,
    running: Running,
    *,
    wanted: str | None,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Run what is missing, compare, print, and write the files."""
    names = study.named(wanted)
    folder = out if out is not None else _default(asked, references)
    methods = len(asked.methods) + references * (len(study.REFERENCES) + len(asked.methods))
    with watched(methods * len(asked.seeds) * asked.episodes, asked, running) as (step, watch):
        found = study.run_all(asked, folder, references=references, progress=step, running=running, watch=watch)
    errors = Console(stderr=True)
    with errors.status("measuring"):
        samples = list(study.samples(found))
        comparison = study.compared(samples, names)
    table = _table(comparison, names, asked)
    _write(folder, comparison, table)
    if figures:
        _draw(folder, comparison, samples, names, _caption(asked))
    if as_json:
        print(json.dumps({"run": str(folder), **plain(comparison)}, allow_nan=False))
        return
    print(table.title)
    for part in rich_tables(table, Console().width):
        Console().print(part)
    print(f"{table.caption}\n")
    for sentence in claims(comparison, MAIN):
        print(sentence)
    hidden = sum(not pair.supported and pair.metric not in MAIN for pair in comparison.paired)
    if hidden:
        print(f"{hidden} further differences are not supported; all are in {folder / 'comparison.md'}")
    if least_p(len(asked.seeds)) > LEVEL:
        print(f"with {len(asked.seeds)} seeds no difference can be supported, whatever it is: take 8 or more")
    print(f"\nTables (Markdown, LaTeX, CSV, with polars Parquet) and runs are in {folder}")


def plain(comparison: Comparison) -> dict[str, list[dict[str, Any]]]:
    """Return a comparison as plain data."""
    return {
        "rows": [row._asdict() for row in comparison.rows],
        "paired": [pair._asdict() for pair in comparison.paired],
    }


def _default(asked: Experiment, references: bool) -> Path:
    told = json.dumps([asked.model_dump(mode="json"), references], sort_keys=True).encode()
    return default_folder(asked).with_name(f"compare-{hashlib.blake2b(told, digest_size=4).hexdigest()}")


def _table(comparison: Comparison, names: Sequence[str], asked: Experiment) -> Table:
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    found: Mapping[tuple[str, str], Row] = {(row.method, row.metric): row for row in comparison.rows}
    shown = [name for name in names if any(found[method, name].value is not None for method in methods)]
    rows = [(f"{name} {metrics()[name].name}", *(_cell(found[method, name]) for method in methods)) for name in shown]
    caption = f"{_caption(asked)}; (n-): seeds without a value"
    return Table("Methods on the same instances and seeds", ("metric", *methods), tuple(rows), caption)


def _caption(asked: Experiment) -> str:
    seeds, episodes = len(asked.seeds), asked.episodes
    return (
        f"{asked.world} {asked.level}, {seeds} seed{'s'[: seeds - 1]} x {episodes} episode{'s'[: episodes - 1]}, 95 % "
        f"bootstrap intervals over seeds; {mind(asked)}"
    )


def _cell(row: Row) -> str:
    if row.value is None:
        return "none"
    bounds = "" if row.low == row.high else f" [{number(row.low)}, {number(row.high)}]"
    return f"{number(row.value)}{bounds}{f' ({row.nulls}-)' if row.nulls else ''}"


def _write(folder: Path, comparison: Comparison, table: Table) -> None:
    (folder / "comparison.md").write_text(
        f"{export.markdown(table.columns, table.rows)}\n{table.caption}\n\n"
        + "".join(f"- {sentence}\n" for sentence in claims(comparison)),
        "utf-8",
    )
    (folder / "comparison.tex").write_text(export.latex(table.columns, table.rows, table.caption), "utf-8")
    for name, rows in plain(comparison).items():
        export.write_csv(folder / f"{name}.csv", rows)
        if find_spec("polars") is not None:
            export.write_parquet(folder / f"{name}.parquet", rows)


def _draw(folder: Path, comparison: Comparison, samples: Sequence[Sample], names: Sequence[str], caption: str) -> None:
    from teamworld.report.compare_figures import draw

    for path in draw(comparison, samples, names, caption, folder / "figures"):
        Console(stderr=True).print(f"drawn: {path}", highlight=False, soft_wrap=True)
