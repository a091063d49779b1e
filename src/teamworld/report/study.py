"""A comparison from its methods to its numbers: runs on the same instances, measured, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.calls import CallRow, CallStore
from teamworld.experiment.config import Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.minds import Watch
from teamworld.experiment.results import Results, Row
from teamworld.experiment.runner import run
from teamworld.experiment.running import Running
from teamworld.metrics.definition import Value, metrics
from teamworld.metrics.episode import gather
from teamworld.metrics.measure import measure
from teamworld.record import read_log
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


def parts(asked: Experiment, out: Path, *, references: bool = True) -> list[Part]:
    """Return the runs of a comparison: what was asked for with the reference teams, and the same in silence.

    Args:
        asked: The methods to compare, and where.
        out: Folder of the comparison.
        references: Whether to add reference rows.
    """
    methods = asked.methods
    if not references:
        return [Part(out / "run", asked, {method: method for method in methods})]
    beside = tuple(name for name in REFERENCES if name not in methods)
    talkers = tuple(method for method in methods if method not in REFERENCES)
    found = [asked.model_copy(update={"methods": methods + beside})]
    names = [{method: method for method in methods + beside}]
    if talkers:
        lost = {**asked.options, "messages": {**asked.options.get("messages", {}), "loss": 1.0}}
        found.append(asked.model_copy(update={"methods": talkers, "options": _without(lost, methods, talkers)}))
        names.append({method: SILENT if method == talkers[0] else f"{SILENT}:{method}" for method in talkers})
    folders = (out / "run", out / SILENT)
    return [Part(*part) for part in zip(folders, found, names, strict=False)]


def _without(options: dict[str, dict[str, object]], methods: Sequence[str], kept: Sequence[str]) -> dict[str, object]:
    """Leave out the options of methods that are not run: a run refuses them."""
    gone = set(methods) - set(kept)
    return {owner: given for owner, given in options.items() if owner not in gone}


def run_all(found: Sequence[Part], progress: Callable[[Row], None], running: Running, watch: Watch) -> None:
    """Run what is missing of a comparison; what is there is used again.

    Raises:
        UserError: A run cannot be made, or a limit was reached: the same call goes on.
    """
    for part in found:
        run(part.experiment, part.folder, progress, running, watch)


def samples(found: Sequence[Part]) -> Iterator[Sample]:
    """Measure all finished episodes of a comparison, one after the other."""
    for part in found:
        folder, experiment = Folder(part.folder), part.experiment
        with Results(folder.results_file, readonly=True) as results, _calls(folder) as calls:
            done = [(cell, row) for cell in experiment.cells() for row in results.rows(cell)]
            for cell, row in done:
                values = _measured(folder.log(cell, row.episode), calls.rows(cell, row.episode))
                instance = f"{experiment.level}/{cell.seed}"
                yield Sample(part.names[cell.method], instance, experiment.level, row.episode, values)


def _calls(folder: Folder) -> CallStore:
    return CallStore(folder.results_file, readonly=True)


def _measured(log: Path, calls: Sequence[CallRow]) -> dict[str, Value]:
    return measure(gather(read_log(log)))


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
    """Compare measured episodes; reference rows are compared with the methods, and not with one another."""
    methods = dict.fromkeys(sample.method for sample in found)
    beside = [name for name in methods if name in REFERENCES or name.partition(":")[0] == SILENT]
    own = [name for name in methods if name not in beside]
    return compare(found, names, beside if own else ())
