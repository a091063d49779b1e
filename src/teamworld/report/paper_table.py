"""The table of a comparison as a paper prints it: methods by metrics, in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from teamworld.metrics.definition import Metric
from teamworld.report import export
from teamworld.report.comparison import MetricRow

_ARROWS: Mapping[Literal["high", "low"], str] = {"high": r"$\uparrow$", "low": r"$\downarrow$"}


class PaperTable(NamedTuple):
    """What a table shows."""

    rows: Sequence[MetricRow]
    methods: Sequence[str]
    """Rows of the table, in this order."""
    metrics: Sequence[Metric]
    """Its columns."""
    caption: str
    label: str = "tab:comparison"

    def latex(self) -> str:
        r"""Return it in LaTeX: three digits, the best of each metric in bold, with what ties with it.

        A value ties with the best where its interval holds the best value: a difference of their own was not tested.
        Needs ``\usepackage{booktabs}``.
        """
        values = {(row.method, row.metric): row for row in self.rows}
        bold = {
            (method, metric.name)
            for metric in self.metrics
            for method in _best([values[m, metric.name] for m in self.methods if (m, metric.name) in values], metric)
        }
        head = ["", *(self._head(metric) for metric in self.metrics)]
        body = [
            [
                export.tex(method),
                *(_cell(values.get((method, m.name)), m, (method, m.name) in bold) for m in self.metrics),
            ]
            for method in self.methods
        ]
        lines = [" & ".join(cells) + r" \\" for cells in (head, *body)]
        return "\n".join(
            [
                *(
                    r"\begin{table}",
                    r"\centering",
                    rf"\caption{{{export.tex(self.caption)}}}",
                    rf"\label{{{self.label}}}",
                ),
                *(rf"\begin{{tabular}}{{l{'r' * len(self.metrics)}}}", r"\toprule", lines[0], r"\midrule"),
                *(*lines[1:], r"\bottomrule", r"\end{tabular}", r"\end{table}", ""),
            ]
        )

    def _head(self, metric: Metric) -> str:
        arrow = f" {_ARROWS[metric.better]}" if metric.better is not None else ""
        unit = f" ({metric.unit})" if metric.unit and metric.unit != metric.title.lower() else ""
        return export.tex(metric.title + unit) + arrow


def _best(rows: Iterable[MetricRow], metric: Metric) -> list[str]:
    """Return the methods that are best at a metric, or tie with the best."""
    known = [(row, row.value) for row in rows if row.value is not None]
    if metric.better is None or len(known) < 2:
        return []
    best = (max if metric.better == "high" else min)(value for _, value in known)
    return [row.method for row, value in known if value == best or _holds(row, best)]


def _holds(row: MetricRow, value: float) -> bool:
    return row.n > 1 and row.low is not None and row.high is not None and row.low <= value <= row.high


def _cell(row: MetricRow | None, metric: Metric, is_bold: bool) -> str:
    if row is None or row.value is None:
        return "--"
    text = f"\\textbf{{{digits(row.value)}}}" if is_bold else digits(row.value)
    if row.n > 1 and row.low is not None and row.high is not None and row.low < row.high:
        text += rf" {{\scriptsize [{digits(row.low)}, {digits(row.high)}]}}"
    return text


def digits(value: float) -> str:
    """Return a number with three digits: 0.857, 43.4, 1,250."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 0.01 else f"{value:.{2 if abs(value) < 10 else 1}f}"
