"""Metrics as tables: their values, and what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teamworld.metrics.definition import Metric, PooledValue, Value, metrics
from teamworld.report.export import markdown
from teamworld.report.tables import Table


def of_episode(values: Mapping[str, Value], title: str) -> Table:
    """Return the metrics of one episode as a table; what is null is left out and counted."""
    known = {name: value for name, value in values.items() if value.value is not None}
    rows = tuple(
        (name, number(value.value), _ratio(value), metrics()[name].unit or "") for name, value in known.items()
    )
    left = len(values) - len(known)
    return Table(title, ("metric", "value", "of", "unit"), rows, f"{left} metrics had nothing to measure")


def of_run(by_method: Mapping[str, Mapping[str, PooledValue]], title: str, reasoner: str) -> Table:
    """Return the pooled metrics of a run's methods as a table, which says in words who decided."""
    rows = []
    for name, metric in metrics().items():
        row = [values.get(name) for values in by_method.values()]
        if any(value is not None and value.value is not None for value in row):
            rows.append((name, *map(_pooled, row), metric.pooling))
    caption = "micro: ratio of sums over episodes; macro: mean of episodes; (n-): episodes with nothing to measure"
    return Table(title, ("metric", *by_method, "pooled"), tuple(rows), f"{reasoner}; {caption}")


def number(value: float | None) -> str:
    """Return a number as tables show it: whole ones whole, others with four digits that count."""
    if value is None:
        return "null"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _ratio(value: Value) -> str:
    if value.den is None:
        return ""
    return f"over {number(value.den)}" if value.num is None else f"{number(value.num)} / {number(value.den)}"


def _pooled(value: PooledValue | None) -> str:
    if value is None or value.value is None:
        return "null"
    return f"{number(value.value)} ({value.nulls}-)" if value.nulls else number(value.value)


def lines() -> Iterator[str]:
    """Yield a line for each metric: its name, title and formula."""
    titles = {name: _title(metric) for name, metric in metrics().items()}
    first, second = max(map(len, titles)), max(map(len, titles.values()))
    for name, metric in metrics().items():
        yield f"{name:<{first}}  {titles[name]:<{second}}  {metric.formula}"


def definitions() -> Iterator[str]:
    """Yield the parts of the Markdown page that defines the metrics: a heading and a table for each section."""
    columns = (
        "metric",
        "in words",
        "tier",
        "needs",
        "formula",
        "range, unit",
        "better",
        "pooled",
        "points to",
        "source",
    )
    for section in dict.fromkeys(metric.section for metric in metrics().values()):
        rows = [
            (
                *(metric.name, _title(metric), metric.tier, metric.needs, metric.formula, _range(metric)),
                *(metric.better or "-", metric.pooling, metric.diagnoses, metric.source),
            )
            for metric in metrics().values()
            if metric.section == section
        ]
        yield f"## {section}\n\n{markdown(columns, rows)}"


def _title(metric: Metric) -> str:
    return ", ".join(filter(None, (metric.title, metric.symbol)))


def _range(metric: Metric) -> str:
    low = "-∞" if metric.low is None else number(metric.low)
    high = "∞" if metric.high is None else number(metric.high)
    return " ".join(filter(None, (f"[{low}, {high}]", metric.unit)))
