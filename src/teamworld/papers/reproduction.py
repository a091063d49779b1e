"""The runner of all reproductions: a paper's plan becomes runs, figures, a page from a template, and numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import jinja2
import numpy as np
import yaml

from teamworld.errors import UserError
from teamworld.experiment.run_options import LOCAL, RunOptions
from teamworld.experiment.runner import run as run_experiment
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.results import EpisodeRow
from teamworld.papers import FIRST_SEED, PaperName, Progress
from teamworld.report.export import markdown
from teamworld.report.figure_style import need
from teamworld.report.statistics import Paired, paired
from teamworld.report.tables import interval_text

#: Name of the page in the folder of a reproduction.
PAGE = "report.md"
#: The cell of a table where nothing is published, or nothing can be said.
NOTHING = "–"
#: What may stand in the folder beside the page and the runs.
_OTHER_FILES = ("figures", "measured.json", "measured.json.tmp")
_Key = TypeVar("_Key", bound=Hashable)


# ---- plans and their results


class Reproduction(NamedTuple):
    """The results of a plan."""

    figures: tuple[Path, ...]
    page: dict[str, Any]
    """The values of the page's template."""
    numbers: dict[str, Any]
    """Ours, the published ones, and the path of the page."""
    lines: Sequence[str]
    """The main results, for a terminal."""


@dataclass(frozen=True, kw_only=True)
class PaperPlan(ABC):
    """What to run for a paper. Its module has a function ``plan``, which makes it of the options."""

    paper: ClassVar[PaperName]
    extras: ClassVar[Mapping[str, str]] = {"matplotlib": "plots"}
    """Packages that it takes, each with the extra that brings it."""
    run_folder: ClassVar[str] = "runs"

    seeds: int

    @property
    def seed_range(self) -> range:
        """The seeds."""
        return range(FIRST_SEED, FIRST_SEED + self.seeds)

    @property
    def seeds_text(self) -> str:
        """The seeds in words."""
        seeds = self.seed_range
        return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"

    @property
    @abstractmethod
    def size(self) -> int:
        """Episodes and measurements in all."""

    def runs(self, out: Path) -> Iterable[tuple[Path, ExperimentSpec]]:
        """Return the folders and experiments of all runs.

        Raises:
            UserError: Not all of them can be run apart from one another.
        """
        raise UserError(
            f"reproduce {self.paper} measures times, which belong to one machine: leave out --shard and --engine"
        )

    @abstractmethod
    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run what is missing in the run folder of ``out``, judge it, and draw the figures."""


def reproduce(
    plan: PaperPlan,
    out: Path,
    command: str,
    progress: Progress = lambda text: None,
    running: RunOptions | None = None,
) -> Reproduction:
    """Run a plan, going on with what stands in the folder; write figures and page.

    Args:
        plan: What to run.
        out: Folder of the page.
        command: The command as typed, for the page.
        progress: Called after every episode and measurement.
        running: How its runs are carried out, where that is not on this machine.

    Raises:
        UserError: An extra is missing, or the folder holds something else.

    Returns:
        The results, with the numbers as plain data: infinity is null.
    """
    need(**plan.extras)
    check_folder(out, plan.run_folder, plan.paper)
    if running is not None and running.engine != LOCAL:
        _play(plan, out, running, progress)
        progress = lambda text: None  # noqa: E731  (what is finished was told)
    made = plan.run(out, progress)
    page = out / PAGE
    page.write_text(_render(plan.paper, command=command, plan=plan, **made.page), "utf-8")
    return made._replace(numbers={"paper": plan.paper, **plain_data(made.numbers), "page": str(page)})


def run_shard(plan: PaperPlan, out: Path, running: RunOptions, progress: Progress = lambda text: None) -> None:
    """Run what is missing of one shard of a plan's runs, and make no page.

    Args:
        plan: What to run.
        out: Folder of the shard.
        running: Which part, and how it is carried out.
        progress: Called after every episode.

    Raises:
        UserError: The folder holds something else, or the plan cannot be run in parts.
    """
    check_folder(out, plan.run_folder, plan.paper)
    _play(plan, out, running, progress)


def _play(plan: PaperPlan, out: Path, running: RunOptions, progress: Progress) -> None:
    for folder, experiment in list(plan.runs(out)):

        def tell(row: EpisodeRow, level: str = experiment.level) -> None:
            progress(f"{level}, {row.method}, seed {row.seed}")

        run_experiment(experiment, folder, tell, running)


def check_folder(out: Path, runs: str, paper: PaperName) -> None:
    """Check that a folder is new, empty, or left by an earlier call, finished or not.

    Anything else could be the user's own and is refused, since page and figures are overwritten.

    Raises:
        UserError: It is a file, or holds something else.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: expected a folder for the figures")
    names = {entry.name for entry in out.iterdir()} if out.is_dir() else set()
    if names and not (out / runs).is_dir():
        raise UserError(f"{out} is not empty and holds no reproduction of this paper: use another --out")
    others = sorted(names - {runs, PAGE, *_OTHER_FILES})
    if PAGE in names and not _is_page(out / PAGE, paper):
        others.append(PAGE)
    if others:
        raise UserError(f"{out} holds {others[0]}, which no reproduction of this paper wrote: use another --out")


def _is_page(page: Path, paper: PaperName) -> bool:
    """Return whether a page is of a paper, by its title or its command; an empty one was cut off."""
    text = page.read_text("utf-8", "replace") if page.is_file() else None
    return text == "" or (
        text is not None and (text.startswith(title(paper)) or f"teamworld reproduce {paper}" in text[:500])
    )


# ---- the paper's files and its page


@cache
def load_yaml(paper: PaperName, name: str) -> Any:  # noqa: ANN401  (the shape is the file's)
    """Return the content of a YAML file of a paper, such as ``published`` or ``claims``."""
    return yaml.safe_load(files(__package__).joinpath(paper, f"{name}.yaml").read_text("utf-8"))


def title(paper: PaperName) -> str:
    """Return the first line of a paper's page."""
    return f"# {load_yaml(paper, 'claims')['title']}"


def _render(paper: PaperName, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: files(__package__).joinpath(name).read_text("utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    environment.globals |= {
        "table": markdown,
        "picture": picture,
        "interval_text": interval_text,
        "title": title(paper),
    }
    return environment.get_template(f"{paper}/page.md.j2").render(values)


def picture(name: str, caller: Callable[[], str]) -> str:
    """Return a figure of the page's folder with the caption that a template's call block holds."""
    caption = " ".join(caller().split())
    return f"![{caption.split('. ')[0]}](figures/{name}.png)\n\n*{caption}*\n"


def plain_data(value: Any) -> Any:  # noqa: ANN401  (any nested numbers)
    """Return nested numbers as plain data; infinity and NaN are null."""
    if isinstance(value, np.ndarray | np.generic):
        return plain_data(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "_asdict"):
        return plain_data(value._asdict())
    if is_dataclass(value):
        return plain_data(vars(value))
    if isinstance(value, Mapping):
        return {str(key): plain_data(part) for key, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain_data(part) for part in value]
    return value


# ---- claims


class Check(NamedTuple):
    """The verdict on one claim, on one level and method where the claim is about each of them."""

    number: str
    claim: str
    numbers: str
    verdict: str
    level: str | None = None
    method: str | None = None

    @property
    def line(self) -> str:
        """The check as a line for a terminal."""
        subject = ", ".join(filter(None, (self.level, self.method)))
        return f"{self.number}  {subject}{': ' * bool(subject)}{self.claim}: {self.verdict} ({self.numbers})"

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data, without level and method where it has no level."""
        place = {} if self.level is None else {"method": self.method, "level": self.level}
        return {"number": self.number, "claim": self.claim, **place, "found": self.numbers, "verdict": self.verdict}


def interval_verdict(low: float, high: float, *, strict: bool) -> str:
    """Return whether a difference is more than 0 if ``strict``, else 0 or more, by where its interval lies."""
    if low > 0 or (low == 0 and not strict):
        return "holds"
    return "does not hold" if high < 0 or (high == 0 and strict) else "not decided"


def paired_difference(
    values: Mapping[_Key, float], others: Mapping[_Key, float], strata: Mapping[_Key, str] | None = None
) -> Paired | None:
    """Return the mean of value minus other value over the episodes that both have; None where there is none.

    ``strata`` tells which episodes belong together; None: all.
    """
    keys = [key for key in values if key in others]
    first, second = ([(side[key], 1.0) for key in keys] for side in (values, others))
    return paired(first, second, None if strata is None else [strata[key] for key in keys])
