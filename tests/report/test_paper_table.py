"""The table for a paper: three digits, the best in bold with its ties, and LaTeX that is sound."""

from __future__ import annotations

import re

import pytest

from teamworld.metrics.definition import metrics
from teamworld.report.comparison import MetricRow
from teamworld.report.paper_table import PaperTable, digits


def row(method: str, metric: str, value: float | None, low: float | None, high: float | None, n: int = 10) -> MetricRow:
    return MetricRow(method, metric, value, low, high, n, 0)


ROWS = [
    *(row("a_b", "steps", 43.44, 40.7, 46.0), row("b", "steps", 45.0, 43.0, 47.0), row("c", "steps", 60.0, 55.0, 65.0)),
    *(
        row("a_b", "completion", 1.0, 1.0, 1.0),
        row("b", "completion", 0.8571, 0.7, 0.95),
        row("c", "completion", None, None, None),
    ),
]
TABLE = PaperTable(ROWS, ["a_b", "b", "c"], [metrics()["steps"], metrics()["completion"]], "50 % of rooms_two")


def test_the_best_is_bold_and_what_ties_with_it() -> None:
    lines = TABLE.latex().splitlines()
    cells = {line.split(" & ")[0]: line.removesuffix(r" \\").split(" & ")[1:] for line in lines if " & " in line}
    assert cells[r"a\_b"] == [r"\textbf{43.4} {\scriptsize [40.7, 46.0]}", r"\textbf{1.00}"]
    assert cells["b"] == [r"\textbf{45.0} {\scriptsize [43.0, 47.0]}", r"0.86 {\scriptsize [0.70, 0.95]}"]
    assert cells["c"] == [r"60.0 {\scriptsize [55.0, 65.0]}", "--"]


def test_it_is_one_table_with_caption_and_label() -> None:
    text = TABLE.latex()
    assert r"\caption{50 \% of rooms\_two}" in text
    assert r"\label{tab:comparison}" in text
    assert text.count("{") == text.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == ["table", "tabular"]
    assert "\\downarrow" in text.splitlines()[6]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00123, "0.00123"), (0.857, "0.86"), (43.44, "43.4"), (1250.4, "1,250"), (-9.5, "-9.50")],
)
def test_three_digits(value: float, text: str) -> None:
    assert digits(value) == text
