"""A report page in Markdown, and numbers as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from teamworld.errors import UserError

#: Name of the page in the folder of a reproduction.
PAGE = "report.md"
#: What else may stand there beside the runs.
_WRITTEN = ("figures", "measured.json", "measured.tmp")
#: Said wherever published values are shown.
READ_OFF = "Published values were read off the papers' plots and are good to 1 or 2 units of the axis."


class Reproduction(NamedTuple):
    """What a reproduction leaves behind."""

    page: Path
    figures: tuple[Path, ...]
    numbers: dict[str, Any]
    """Ours and the published ones, as plain data; infinity is null."""
    lines: tuple[str, ...]
    """The main findings, for a terminal."""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def picture(path: Path, page: Path, caption: str) -> str:
    """Return a picture with its caption under it."""
    return f"![{caption.split('. ')[0]}]({path.relative_to(page.parent).as_posix()})\n\n*{caption}*"


def plain(value: Any) -> Any:  # noqa: ANN401  (any nested numbers)
    """Return nested numbers as plain data; infinity and NaN are null."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def check_folder(out: Path, inside: str, title: str) -> None:
    """See whether a folder can take a reproduction: new, empty, or left by an earlier call, whole or cut off.

    Whatever could be somebody else's is refused, since page and figures are written over.

    Args:
        out: The folder.
        inside: Name of the folder in it that holds the runs.
        title: First line of the page.

    Raises:
        UserError: It is a file, or holds something else.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: expected a folder for the figures")
    names = {entry.name for entry in out.iterdir()} if out.is_dir() else set()
    if names and not (out / inside).is_dir():
        raise UserError(f"{out} is not empty and holds no reproduction of this paper: use another --out")
    others = sorted(names - {inside, PAGE, *_WRITTEN})
    if PAGE in names and not _begins(out / PAGE, title):
        others.append(PAGE)
    if others:
        raise UserError(f"{out} holds {others[0]}, which no reproduction of this paper wrote: use another --out")


def _begins(page: Path, title: str) -> bool:
    """Return whether a page begins with a title; an empty one was cut off."""
    if not page.is_file():
        return False
    with page.open("rb") as file:
        begin = file.read(len(title.encode()))
    return not begin or begin == title.encode()
