"""A comparison from its methods to its numbers: runs on the same instances, measured, compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.config import Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.measured import of_run
from teamworld.experiment.minds import Watch
from teamworld.experiment.results import Row
from teamworld.experiment.runner import run
from teamworld.experiment.running import Running
from teamworld.metrics.definition import metrics
from teamworld.report.compare import HEADLINE, Comparison, Sample, compare

#: Reference rows that stand beside every comparison: agents that draw at random, and the world's scripted team.
REFERENCES = ("random", "greedy")
#: The third: the method itself when nobody hears a message. Talk has to beat silence to count as useful.
SILENT = "silent"


class Part(NamedTuple):
    """One run of a comparison."""

    folder: Path
    experiment: Experiment
    names: dict[str, str]
    """Of its methods, as the comparison calls them."""


def aloud(asked: Experiment, out: Path, *, references: bool) -> Part:
    """Return the run of the methods that are compared, with the reference teams.

    Args:
        asked: The methods to compare, and where.
        out: Folder of the comparison.
        references: Whether to add reference rows.
    """
    beside = tuple(name for name in REFERENCES if references and name not in asked.methods)
    methods = asked.methods + beside
    return Part(out / "run", asked.model_copy(update={"methods": methods}), {method: method for method in methods})


def in_silence(asked: Experiment, out: Path, spoke: Collection[str]) -> Part | None:
    """Return the run of the same methods when nobody hears a message, None if all of them are reference teams.

    Args:
        asked: As for ``aloud``.
        out: Folder of the comparison.
        spoke: Methods that sent messages. Others would do the same in silence; the first method's row always stands.
    """
    own = [method for method in asked.methods if method not in REFERENCES]
    talkers = [method for method in own if method == own[0] or method in spoke]
    if not talkers:
        return None
    gone = set(asked.methods) - set(talkers)  # a run refuses options of what is no part of it
    options = {owner: given for owner, given in asked.options.items() if owner not in gone}
    options["messages"] = {**options.get("messages", {}), "loss": 1.0}
    experiment = asked.model_copy(update={"methods": tuple(talkers), "options": options})
    return Part(out / SILENT, experiment, {method: silent_name(method, own) for method in talkers})


def run_all(
    asked: Experiment,
    out: Path,
    *,
    references: bool,
    progress: Callable[[Row], None],
    running: Running,
    watch: Watch,
) -> list[Part]:
    """Run what is missing of a comparison, use again what is there, and return its runs.

    Raises:
        UserError: A run cannot be made, or a limit was reached: the same call goes on.
    """
    first = aloud(asked, out, references=references)
    rows = run(first.experiment, first.folder, progress, running, watch)
    spoke = {row.method for row in rows if row.summary.messages}
    second = in_silence(asked, out, spoke) if references else None
    if second is None:
        return [first]
    run(second.experiment, second.folder, progress, running, watch)
    return [first, second]


def samples(found: Sequence[Part]) -> Iterator[Sample]:
    """Measure all finished episodes of a comparison, one after the other."""
    for part in found:
        level = part.experiment.level
        for cell, row, values in of_run(Folder(part.folder), part.experiment):
            yield Sample(part.names[cell.method], f"{level}/{cell.seed}", level, row.episode, values)


def named(text: str | None) -> tuple[str, ...]:
    """Return the ids of metrics in a text with commas; those of a results table if there is none, all for ``all``.

    Raises:
        UserError: There is no such metric.
    """
    known = [name for name, metric in metrics().items() if metric.basis == "log"]
    if text is None:
        return tuple(name for name in HEADLINE if name in known)
    if text == "all":
        return tuple(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UserError(f"there is no metric '{name}'{suggest(name, known)}; see: teamworld metrics")
    return tuple(dict.fromkeys(names))


def compared(found: Sequence[Sample], names: Sequence[str]) -> Comparison:
    """Compare measured episodes: methods with one another, with the reference teams, each with itself in silence."""
    methods = list(dict.fromkeys(sample.method for sample in found))
    beside = [name for name in methods if name in REFERENCES]
    silent = [name for name in methods if name.partition(":")[0] == SILENT]
    own = [name for name in methods if name not in (*beside, *silent)]
    pairs = list(combinations(own or beside, 2))
    pairs += [(name, reference) for name in own for reference in beside]
    pairs += [(name, quiet) for name in own for quiet in silent if quiet == silent_name(name, own)]
    return compare(found, names, pairs)


def silent_name(method: str, methods: Sequence[str]) -> str:
    """Return what a method in silence is called: ``silent`` for the first."""
    return SILENT if method == methods[0] else f"{SILENT}:{method}"
