"""The pages of reproductions: Markdown from one template, and numbers as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
import yaml

from teamworld.errors import UserError
from teamworld.papers import PaperName
from teamworld.report.statistics import Interval

#: Name of the page in the folder of a reproduction.
PAGE = "report.md"
#: What may stand there beside the page and the runs.
_OTHER_FILES = ("figures", "measured.json", "measured.tmp")
#: The cell of a table where nothing is published, or nothing can be said.
NOTHING = "–"


class Reproduction(NamedTuple):
    """The results of a reproduction."""

    page: Path
    figures: tuple[Path, ...]
    numbers: dict[str, Any]
    """Ours and the published ones, as plain data; infinity is null."""
    lines: tuple[str, ...]
    """The main results, for a terminal."""


@cache
def data(paper: PaperName, name: str) -> Any:  # noqa: ANN401  (the shape is the file's)
    """Return the content of a YAML file of a paper: ``published`` or ``claims``."""
    return yaml.safe_load(files(__package__).joinpath(paper, f"{name}.yaml").read_text("utf-8"))


def title(paper: PaperName) -> str:
    """Return the first line of a paper's page."""
    return f"# {data(paper, 'claims')['title']}"


def write(paper: PaperName, out: Path, command: str, **values: Any) -> Path:
    """Write the page of a paper.

    Args:
        paper: The paper; its folder holds the template.
        out: Folder of the page.
        command: The command as typed.
        values: The values of the template.

    Returns:
        The page.
    """
    page = out / PAGE
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: files(__package__).joinpath(name).read_text("utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    environment.globals |= {"table": table, "picture": picture, "code": code}
    template = environment.get_template(f"{paper}/page.md.j2")
    page.write_text(template.render(title=title(paper), command=command, **values), "utf-8")
    return page


def picture(name: str, caller: Callable[[], str]) -> str:
    """Return a figure of the page's folder with the caption that a template's call block holds."""
    caption = " ".join(caller().split())
    return f"![{caption.split('. ')[0]}](figures/{name}.png)\n\n*{caption}*\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def code(command: str) -> str:
    """Return a command as a block of code."""
    return f"```console\n{command}\n```"


def seeds_text(seeds: Sequence[int]) -> str:
    """Return consecutive seeds in words."""
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def interval_text(interval: Interval | None, text: Callable[[float], str]) -> str:
    """Return a mean with its interval where there is more than one value; ``none`` without a value."""
    if interval is None:
        return "none"
    bounds = f" [{text(interval.low)}, {text(interval.high)}]" if interval.n > 1 else ""
    return f"{text(interval.mean)}{bounds}"


def plain(value: Any) -> Any:  # noqa: ANN401  (any nested numbers)
    """Return nested numbers as plain data; infinity and NaN are null."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def check_folder(out: Path, runs: str, paper: PaperName) -> None:
    """Check that a folder is new, empty, or left by an earlier call, finished or not.

    Anything else could be the user's own and is refused, since page and figures are overwritten.

    Args:
        out: The folder.
        runs: Name of the folder in it that holds the runs.
        paper: The paper.

    Raises:
        UserError: It is a file, or holds something else.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: expected a folder for the figures")
    names = {entry.name for entry in out.iterdir()} if out.is_dir() else set()
    if names and not (out / runs).is_dir():
        raise UserError(f"{out} is not empty and holds no reproduction of this paper: use another --out")
    others = sorted(names - {runs, PAGE, *_OTHER_FILES})
    if PAGE in names and not _is_page(out / PAGE, title(paper)):
        others.append(PAGE)
    if others:
        raise UserError(f"{out} holds {others[0]}, which no reproduction of this paper wrote: use another --out")


def _is_page(page: Path, first_line: str) -> bool:
    """Return whether a page begins with a line; an empty one was cut off."""
    if not page.is_file():
        return False
    with page.open("rb") as file:
        begin = file.read(len(first_line.encode()))
    return not begin or begin == first_line.encode()
