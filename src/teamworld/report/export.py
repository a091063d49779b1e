"""Tables as files: Markdown, LaTeX, CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from teamworld.report.style import need

_TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def latex(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Return a table in LaTeX (needs the package booktabs)."""
    lines = [" & ".join(map(_tex, line)) + r" \\" for line in (columns, *rows)]
    body = "\n".join(lines[1:])
    return (
        "\\begin{table}\n\\centering\n\\caption{" + _tex(caption) + "}\n"
        "\\begin{tabular}{l" + "r" * (len(columns) - 1) + "}\n\\toprule\n"
        f"{lines[0]}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in text.replace("\\", r"\textbackslash "))


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
