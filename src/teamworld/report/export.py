"""Tables as files: Markdown, LaTeX, CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from teamworld.report.figure_style import need

_TEX = {
    **{char: f"\\{char}" for char in "&%_#${}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " "},
}
_WIDE = 90  # characters of a small line that a page of one column holds


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def latex(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    r"""Return a table in LaTeX, in small type, and shrunk to the page where it is wider.

    A document that takes it in needs ``\usepackage{booktabs}`` for its lines and ``\usepackage{graphicx}`` for the
    shrinking, and an engine that reads UTF-8.
    """
    lines = [" & ".join(map(_cell, line)) + r" \\" for line in (columns, *rows)]
    body = "\n".join([r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
    table = f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}\n{body}\n\\end{{tabular}}"
    if _width([columns, *rows]) > _WIDE:
        table = f"\\resizebox{{\\textwidth}}{{!}}{{%\n{table}%\n}}"
    return f"\\begin{{table}}\n\\centering\n\\small\n\\caption{{{tex(caption)}}}\n{table}\n\\end{{table}}\n"


def _width(lines: Sequence[Sequence[str]]) -> int:
    """Return how many characters a line of the table takes, two between columns."""
    return sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))


def _cell(text: str) -> str:
    """Return a text for a cell; what would be taken for an option of the line before begins with nothing."""
    return ("{}" if text.lstrip().startswith(("[", "*")) else "") + tex(text)


def tex(text: str) -> str:
    """Return a text as LaTeX prints it."""
    return "".join(_TEX.get(char, char) for char in text)


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as CSV; null is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as Parquet.

    Raises:
        UserError: polars is not installed.
    """
    need(polars="tables")
    import polars

    polars.DataFrame(rows, infer_schema_length=None).write_parquet(path)
