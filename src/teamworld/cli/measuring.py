"""Metrics on the command line: of a log, of a run, and what they are."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.progress import track

from teamworld.errors import UserError
from teamworld.experiment.episode_metrics import finished, of_log, of_runs
from teamworld.experiment.folder import RunFolder
from teamworld.metrics.definition import Value, metrics, pool_all
from teamworld.report import metric_tables as tables
from teamworld.report.tables import Table, describe_reasoner, describe_reasoner_and_talk, rich_tables, talk


def listing(*, markdown: bool, as_json: bool) -> None:
    """Print what the metrics are."""
    if as_json:
        print(json.dumps({name: metric._asdict() for name, metric in metrics().items()}))
    elif markdown:
        print("\n".join(tables.definitions()).rstrip())
    else:
        for line in tables.lines():
            print(line)


def of_path(path: Path, *, as_json: bool) -> None:
    """Print the metrics of a log, or of every method of a run.

    Raises:
        UserError: It is neither.
    """
    if path.is_dir():
        _of_run(RunFolder(path), as_json=as_json)
        return
    values = of_log(path)
    if as_json:
        print(json.dumps({"metrics": {name: value._asdict() for name, value in values.items()}}, allow_nan=False))
    else:
        _print(tables.of_episode(values, str(path)))


def _of_run(folder: RunFolder, *, as_json: bool) -> None:
    experiment = folder.experiment()
    number = len(finished(folder, experiment))
    if not number:
        raise UserError(f"{folder.path} has no finished episode yet: nothing to measure")
    errors = Console(stderr=True)
    found: dict[str, list[dict[str, Value]]] = {method: [] for method in experiment.methods}
    measured = of_runs([(folder, experiment)])
    for _, (cell, _, values, _) in track(
        measured, "measuring", number, console=errors, transient=True, disable=not errors.is_terminal
    ):
        found[cell.method].append(values)
    by_method = {method: pool_all(values) for method, values in found.items()}
    if as_json:
        plain = {method: {name: one._asdict() for name, one in some.items()} for method, some in by_method.items()}
        told = {"mind": describe_reasoner(experiment), **({"talk": spoken} if (spoken := talk(experiment)) else {})}
        print(json.dumps({"run": str(folder.path), **told, "methods": plain}, allow_nan=False))
    else:
        title = f"{experiment.world} {experiment.level}: {number} episode{'' if number == 1 else 's'}"
        _print(tables.of_run(by_method, title, describe_reasoner_and_talk(experiment)))


def _print(table: Table) -> None:
    console = Console()
    print(table.title)
    for part in rich_tables(table, console.width):
        console.print(part)
    if table.caption:
        print(table.caption)
