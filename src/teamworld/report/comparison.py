"""A comparison from its methods to its numbers: runs on the same instances, measured, compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment import episode_metrics, grid, process_pool
from teamworld.experiment.config import ExperimentSpec, RunCell, build
from teamworld.experiment.folder import RunFolder
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.results import EpisodeRow
from teamworld.experiment.runner import run
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.methods import registry
from teamworld.metrics.definition import Value, metrics
from teamworld.report import cross_run, trajectories
from teamworld.report.compare import COSTS, HEADLINE, Comparison, Sample, compare
from teamworld.report.cross_run import GREEDY, RANDOM

#: Reference rows that stand beside every comparison: agents that draw at random, and the world's scripted team.
REFERENCES = (RANDOM, GREEDY)
#: The third: the method itself when nobody hears a message. Talk has to beat silence to count as useful.
SILENT = "silent"
_ALOUD = "run"
"""Folder of a setting's run in which all is heard."""
#: Metrics across runs that the usual table shows too.
ACROSS = ("O7", "M14.C", "M14.T", "M15")
#: What is kept of each episode beside the metrics that are shown: metrics across runs and figures are made of them.
_NEEDED = ("O1", "O2", "O4", "O7.raw", "E1", "M1", "M2", "D1", *COSTS)
#: Defined, but not by runs of a comparison: the gain of a step, and what benchmarks measure.
_UNMEASURED = ("E13.gain", "K11")
#: A method whose memory never learns: what DR. WELL's is measured against (B11).
FROZEN = "drwell:frozen"


class Setting(NamedTuple):
    """One place of a comparison: a world, a level, a mind, ... in which all methods are run."""

    name: str
    """Of its folder and in tables; empty where there is no other."""
    values: Mapping[str, Any]
    """What it has of what varies."""
    experiment: ExperimentSpec
    """The methods to compare, and where."""

    def folder(self, out: Path) -> Path:
        """Return its place in the folder of the comparison."""
        return out / self.name if self.name else out


class Part(NamedTuple):
    """One run of a comparison."""

    folder: Path
    experiment: ExperimentSpec
    names: dict[str, str]
    """Of its methods, as the comparison calls them."""
    setting: Setting
    in_silence: bool = False
    """Whether nobody hears a message."""


def settings(data: Mapping[str, Any]) -> list[Setting]:
    """Return the settings of a comparison: one for each combination of a grid, or one alone.

    Args:
        data: Fields of an experiment; what varies stands under ``grid``.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    if not grid.is_grid(data):
        return [Setting("", {}, build(data))]
    return [Setting(*part) for part in grid.expand(data)]


def aloud(setting: Setting, out: Path, *, references: bool) -> Part:
    """Return the run of the methods that are compared, with the reference teams.

    Args:
        setting: Where.
        out: Folder of the comparison.
        references: Whether to add reference rows.
    """
    asked = setting.experiment
    beside = tuple(name for name in REFERENCES if references and name not in asked.methods)
    methods = asked.methods + beside
    names = {method: method for method in methods}
    return Part(setting.folder(out) / _ALOUD, asked.model_copy(update={"methods": methods}), names, setting)


def in_silence(
    setting: Setting, out: Path, spoke: Collection[str], wanted: Collection[str] | None = None
) -> Part | None:
    """Return the run of the same methods when nobody hears a message, None if there is none to run.

    Args:
        setting: As for ``aloud``.
        out: Folder of the comparison.
        spoke: Methods that sent messages. Others would do the same in silence; the first method's row always stands.
        wanted: Methods to run in silence, whether they spoke or not; None for those above.
    """
    asked = setting.experiment
    own = [method for method in asked.methods if method not in REFERENCES]
    chosen = {*own[:1], *spoke} if wanted is None else wanted
    talkers = [method for method in own if method in chosen]
    if not talkers:
        return None
    gone = set(asked.methods) - set(talkers)  # a run refuses options of what is no part of it
    kept = {*talkers, *map(registry.method_of, talkers)}  # what is set for a method holds for its variants
    options = {owner: given for owner, given in asked.options.items() if owner not in gone or owner in kept}
    options["messages"] = {**options.get("messages", {}), "loss": 1.0}
    update = {"methods": tuple(talkers), "options": options, "talk": asked.protocol}  # which the loss does not change
    experiment = asked.model_copy(update=update)
    names = {method: silent_name(method, own) for method in talkers}
    return Part(setting.folder(out) / SILENT, experiment, names, setting, in_silence=True)


def planned(found: Sequence[Setting], out: Path, *, references: bool, silent: Collection[str] | None) -> Iterator[Part]:
    """Yield the runs that a comparison can take: in silence those of all methods, for any may turn out to talk."""
    for setting in found:
        yield aloud(setting, out, references=references)
        quiet = in_silence(setting, out, setting.experiment.methods, silent)
        if quiet is not None:
            yield quiet


def run_all(
    found: Sequence[Setting],
    out: Path,
    *,
    references: bool,
    silent: Collection[str] | None,
    progress: Callable[[EpisodeRow], None],
    purse: SharedBudget,
    watch: RunMonitor,
) -> list[Part]:
    """Run what is missing of a comparison, use again what is there, and return its runs.

    Args:
        found: Its settings.
        out: Its folder.
        references: Whether random and scripted teams stand beside.
        silent: Methods that are run in silence too; None for all that talk, and the first.
        progress: Called with each episode.
        purse: How runs are carried out, and the budget that they share.
        watch: Told how many calls are in flight.

    Raises:
        UserError: A run cannot be made, or a limit was reached: the same call goes on.
    """
    parts = []
    for setting in found:
        first = aloud(setting, out, references=references)
        rows = run(first.experiment, first.folder, progress, purse.running(first.folder, first.experiment), watch)
        parts.append(first)
        spoke = {row.method for row in rows if row.summary.messages}
        second = in_silence(setting, out, spoke, silent)
        if second is not None:
            run(second.experiment, second.folder, progress, purse.running(second.folder, second.experiment), watch)
            parts.append(second)
    return parts


class Measured(NamedTuple):
    """What was measured in a comparison."""

    episodes: list[Sample]
    """With the metrics across runs that an episode has."""
    units: list[Sample]
    """One more for each seed of a method in a setting, with what its episodes in a row show."""

    @property
    def all(self) -> list[Sample]:
        """Both: what values and differences are made of."""
        return [*self.episodes, *self.units]

    def within(self, setting: str) -> Measured:
        """Return what was measured in one setting; what pairs it with others stays."""
        return Measured(*([one for one in some if one.setting == setting] for some in self))


def measure(parts: Sequence[Part], names: Sequence[str], processes: int | None = None) -> Measured:
    """Measure all finished episodes of a comparison.

    Args:
        parts: Its runs.
        names: Ids of metrics that are wanted; what takes other runs, or a second look at the logs, is measured only if
            one of them is.
        processes: How many measure at a time; None: as many as are worth it.

    Raises:
        UserError: A log is missing or damaged.
    """
    tasks = [(part, cell) for part in parts for cell in part.experiment.cells()]
    number = process_pool.many(sum(part.experiment.episodes for part, _ in tasks), episode_metrics.WORTH, processes)
    found = [one for some in process_pool.in_order(partial(_of_cell, names), tasks, number) for one in some]
    if not any(metrics()[name].basis == "runs" for name in names):
        return Measured(found, [])
    methods = list(dict.fromkeys(sample.method for sample in found))
    frozen = {name: FROZEN for name in methods if name == FROZEN.partition(":")[0]}
    partners = cross_run.Partners(_quiet(methods), frozen)
    return Measured(list(cross_run.of_episodes(found, partners)), list(cross_run.of_units(found)))


def _of_cell(names: Sequence[str], task: tuple[Part, RunCell]) -> list[Sample]:
    """Measure one cell of a run."""
    part, cell = task
    folder, aloud_in = RunFolder(part.folder), RunFolder(part.folder.parent / _ALOUD)
    found = [_sample(part, one, {*names, *_NEEDED}) for one in episode_metrics.of_cell(folder, cell)]
    honest = trajectories.honesty(folder, part.experiment, cell) if found and trajectories.HONESTY & set(names) else {}

    def more(episode: int) -> dict[str, Value]:
        if trajectories.TRAJECTORY not in names:
            return {}
        return trajectories.trajectory(folder.log(cell, episode), aloud_in.log(RunCell(GREEDY, cell.seed), episode))

    return [one._replace(values={**one.values, **honest, **more(one.episode)}) for one in found]


def _sample(part: Part, found: episode_metrics.EpisodeMetrics, kept: Collection[str]) -> Sample:
    setting, asked, cell = part.setting, part.experiment, found.cell
    layout = f" {asked.instances}" if isinstance(asked.instances, int) else ""
    stratum = f"{asked.world} {asked.level}{layout}"
    placed = ("world", "level", "instances", "memory", f"{asked.world}.agents")
    others = {name: value for name, value in setting.values.items() if name not in placed}
    return Sample(
        method=part.names[cell.method],
        instance=f"{stratum} {cell.seed}",
        stratum=stratum,
        episode=found.row.episode,
        values={name: value for name, value in found.values.items() if name in kept},
        extract=found.extract,
        setting=setting.name,
        others=json.dumps(others, sort_keys=True),
        memory=asked.memory or "" if registry.method_class(cell.method).learns else "",
    )


def named(text: str | None, *, references: bool = True) -> tuple[str, ...]:
    """Return the ids of metrics in a text with commas; those of a results table if there is none, all for ``all``.

    Raises:
        UserError: There is no such metric.
    """
    known = [name for name in metrics() if name not in _UNMEASURED]
    if text is None:
        return tuple(name for name in known if name in (*HEADLINE, *(ACROSS if references else ())))
    if text == "all":
        return tuple(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UserError(f"there is no metric '{name}'{suggest(name, known)}; see: teamworld metrics")
    return tuple(dict.fromkeys(names))


def compared(found: Measured, names: Sequence[str]) -> Comparison:
    """Compare what was measured: methods with one another, with the reference teams, each with itself in silence."""
    present = list(dict.fromkeys(sample.method for sample in found.episodes))
    beside = [name for name in present if name in REFERENCES]
    silent = [name for name in present if name.partition(":")[0] == SILENT]
    own = [name for name in present if name not in (*beside, *silent)]
    pairs = list(combinations(own or beside, 2))
    pairs += [(name, reference) for name in own for reference in beside]
    pairs += list(_quiet(present).items())
    shown = compare(found.all, [name for name in names if name not in cross_run.WHOLE], pairs)
    if not any(name in cross_run.WHOLE for name in names):
        return shown
    rows = (*shown.rows, *cross_run.of_methods(found.episodes, COSTS))
    return Comparison(tuple(row for row in rows if row.metric in names), shown.paired)


def _quiet(present: Sequence[str]) -> dict[str, str]:
    """Return by method what it is called in silence, where that was run."""
    own = [name for name in present if name not in REFERENCES and name.partition(":")[0] != SILENT]
    return {name: silent_name(name, own) for name in own if silent_name(name, own) in present}


def silent_name(method: str, methods: Sequence[str]) -> str:
    """Return what a method in silence is called: ``silent`` for the first."""
    return SILENT if method == methods[0] else f"{SILENT}:{method}"
