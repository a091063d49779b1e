"""A comparison as tables and files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from teamworld.experiment.spec import ExperimentSpec
from teamworld.metrics.definition import Metric, metrics
from teamworld.plain_files import write_file
from teamworld.reasoning.registry import describe
from teamworld.report import export
from teamworld.report.comparison import Comparison, MetricRow, PairedDifference
from teamworld.report.comparison_sentences import claims, doubts
from teamworld.report.metric_tables import number
from teamworld.report.paper_table import PaperTable
from teamworld.report.tables import Table, talk

#: Columns of the table for a paper at most: name the metrics that you want with --metrics.
PAPER_COLUMNS = 6


def table(comparison: Comparison, names: Sequence[str], caption: str) -> Table:
    """Return the values of all methods, a line a metric; metrics that nobody has a value of are left out."""
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    cells = {(row.method, row.metric): row for row in comparison.rows}
    shown = [name for name in names if any(cells[method, name].value is not None for method in methods)]
    rows = [(name, *(cell(cells[method, name]) for method in methods)) for name in shown]
    return Table(
        "Methods on the same instances and seeds",
        ("metric", *methods),
        tuple(rows),
        f"{caption}; (n/n): all alike, (n-): nulls",
    )


def by_setting(comparisons: Mapping[str, Comparison], metric: str, caption: str) -> Table:
    """Return one metric, a line a method and a column a setting."""
    rows = {
        (row.method, setting): row
        for setting, comparison in comparisons.items()
        for row in comparison.rows
        if row.metric == metric
    }
    methods = list(dict.fromkeys(method for method, _ in rows))
    lines = [
        (method, *(cell(rows[method, setting]) if (method, setting) in rows else "" for setting in comparisons))
        for method in methods
    ]
    return Table(title(metrics()[metric]), ("method", *comparisons), tuple(lines), caption)


def differences(comparison: Comparison, metric: str, caption: str) -> Table:
    """Return the differences of one metric beside their noise floors, a line a pair of methods."""
    lines = [
        (f"{pair.a} - {pair.b}", _difference(pair), "none" if pair.floor is None else number(pair.floor))
        for pair in comparison.paired
        if pair.metric == metric
    ]
    return Table(
        f"Differences beside the noise floor: {title(metrics()[metric])}",
        ("methods", "difference", "noise floor"),
        tuple(lines),
        caption,
    )


def _difference(pair: PairedDifference) -> str:
    """Return a difference with its interval, and how many times its noise floor it is."""
    bounds = f" [{number(pair.low)}, {number(pair.high)}]" if pair.low is not None and pair.high is not None else ""
    beside = f": {pair.times_floor:.2g} x the floor" if pair.times_floor is not None else ""
    return f"{number(pair.difference)}{bounds}{': within the floor' if pair.within_floor else beside}"


def title(metric: Metric) -> str:
    """Return a metric's name, and its unit where the name does not say it."""
    is_said = metric.unit is None or re.search(rf"(^|_){re.escape(metric.unit.lower())}(_|$)", metric.name)
    return metric.name if is_said else f"{metric.name}, {metric.unit}"


def label(metric: Metric) -> str:
    """Return a metric's title for a figure, and its unit where the title does not say it."""
    is_said = metric.unit is None or re.search(rf"\b{re.escape(metric.unit)}\b", metric.title.lower())
    return metric.title if is_said else f"{metric.title}, {metric.unit}"


def caption(experiments: Sequence[ExperimentSpec]) -> str:
    """Return the caption of every table and figure: where, how many episodes, which reasoner and talk."""
    first, place = experiments[0], where(experiments)
    seeds, episodes = len(first.seeds), first.episodes
    layouts = list(
        dict.fromkeys(str(experiment.instances) for experiment in experiments if isinstance(experiment.instances, int))
    )
    steps = ", ".join(f"{most:,}" for most in dict.fromkeys(experiment.step_limit for experiment in experiments))
    who = "; ".join(place[name] for name in ("mind", "talk") if name in place)
    on = f", layout{'s'[: len(layouts) - 1]} {', '.join(layouts)}" if layouts else ""
    played = f"{seeds} seed{'s'[: seeds - 1]} x {episodes} episode{'s'[: episodes - 1]} of at most {steps} steps"
    return f"{place['world']} {place['level']}{on}; {played}, 95 % intervals over seeds; {who}"


def cell(row: MetricRow) -> str:
    """Return a value with its interval and its nulls."""
    if row.value is None:
        return "none"
    bounds = f" ({row.n}/{row.n})" if row.n > 1 else ""
    if row.low is not None and row.high is not None and row.low != row.high:
        bounds = f" [{number(row.low)}, {number(row.high)}]"
    return f"{number(row.value)}{bounds}{f' ({row.nulls}-)' if row.nulls else ''}"


def plain(comparison: Comparison) -> dict[str, list[dict[str, Any]]]:
    """Return a comparison as plain data."""
    return {
        "rows": [row._asdict() for row in comparison.rows],
        "paired": [pair_row(pair) for pair in comparison.paired],
        "independence": [count._asdict() for count in comparison.independence],
        **({"twins": [twin._asdict() for twin in comparison.twins]} if comparison.twins else {}),
        **({"talk_effects": [effect._asdict() for effect in effects]} if (effects := comparison.talk_effects) else {}),
        **(
            {"controls": [{**use._asdict(), "ratio": use.ratio} for use in uses]}
            if (uses := comparison.controls)
            else {}
        ),
    }


def pair_row(pair: PairedDifference) -> dict[str, Any]:
    """Return a paired difference as plain data, with how it stands to its noise floor, and whether it is supported."""
    floor = {"times_floor": pair.times_floor, "within_floor": pair.within_floor}
    return {**pair._asdict(), **floor, "supported": pair.supported}


def write(
    folder: Path,
    comparison: Comparison,
    shown: Sequence[Table],
    settings: Mapping[str, Comparison],
    where: Mapping[str, str],
) -> None:
    """Write the tables into a folder: Markdown, LaTeX, CSV and, where polars is there, Parquet.

    Args:
        folder: Of the comparison.
        comparison: Over all settings.
        shown: Its tables.
        settings: The comparison of each setting, by name; empty where there is only one.
        where: What every row of the files says: world, levels and reasoner.
    """
    text = (
        "".join(f"**{part.title}**\n\n{export.markdown(part.columns, part.rows)}\n{part.caption}\n\n" for part in shown)
        + f"Differences, {shown[0].caption}:\n\n"
        + "".join(f"- {sentence}\n" for sentence in (*claims(comparison), *doubts(comparison)))
    )
    write_file(folder / "comparison.md", text.encode())
    tex = "\n".join(export.latex(part.columns, part.rows, f"{part.title}. {part.caption}") for part in shown)
    write_file(folder / "comparison.tex", tex.encode())
    listed = dict.fromkeys(row.metric for row in comparison.rows)
    paper = PaperTable(
        comparison.rows,
        list(dict.fromkeys(row.method for row in comparison.rows)),
        [metrics()[name] for name in listed if name in metrics()][:PAPER_COLUMNS],
        f"{shown[0].title}. {shown[0].caption}. Bold: the best, and what ties with it by its interval.",
    )
    write_file(folder / "paper.tex", paper.latex().encode())
    for name, rows in plain(comparison).items():
        _both(folder / name, [{**row, **where} for row in rows])
    if settings:
        for name in ("rows", "paired"):
            data = [{"setting": at, **row, **where} for at, part in settings.items() for row in plain(part)[name]]
            _both(folder / f"{name}_by_setting", data)


def where(experiments: Sequence[ExperimentSpec]) -> dict[str, str]:
    """Return where a comparison was made, and who decided: what is rules is called rules.

    And by which protocol they talked, where free talk is not all there could be.
    """
    spoken = " and ".join(filter(None, dict.fromkeys(map(talk, experiments))))
    return {
        "world": ", ".join(dict.fromkeys(experiment.world for experiment in experiments)),
        "level": ", ".join(dict.fromkeys(experiment.level for experiment in experiments)),
        "mind": _describe_reasoners(list(dict.fromkeys(experiment.reasoner for experiment in experiments))),
        **({"talk": spoken} if spoken else {}),
    }


def _describe_reasoners(names: Sequence[str]) -> str:
    if len(names) > 1 and all(name.partition(":")[0] == "rules" for name in names):
        return f"{', '.join(names)}: built-in rules, alone and as stand-ins that err, no language model"
    return " and ".join(map(describe, names))


def _both(stem: Path, rows: Sequence[dict[str, Any]]) -> None:
    export.write_csv(stem.with_suffix(".csv"), rows)
    if find_spec("polars") is not None:
        export.write_parquet(stem.with_suffix(".parquet"), rows)
