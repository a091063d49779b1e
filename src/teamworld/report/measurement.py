"""The measurement of a comparison's runs: metrics of each episode, and those that take several runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import partial
from itertools import combinations
from typing import Final, NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.comparison_runs import (
    REFERENCES,
    ComparisonRun,
    control_names,
    own_methods,
    silent_names,
    twin_names,
)
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.memory.episode_learning import delta
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry
from teamworld.metrics.definition import Value, mean, metrics, name_of
from teamworld.record import read_log
from teamworld.report import cross_run, regret
from teamworld.report.comparison import COSTS, MAIN, Comparison, Sample, compare
from teamworld.report.controls import control_uses
from teamworld.report.tables import asks_for_goals, headline
from teamworld.report.talk_effects import talk_effects

#: What is kept of each episode beside the metrics that are shown: metrics across runs and figures are made of them.
_NEEDED: Final = (
    *("success", "completion", "anytime_completion", "world_score", "steps"),
    *("messages", "message_tokens", "joint_success", *COSTS),
)
#: What says nothing where no goals are asked for.
_OF_GOALS: Final = (*("success", "completion", "anytime_completion", "talk_value_completion"),)
#: A method whose memory never learns: what DR. WELL's is measured against.
FROZEN: Final = "drwell:frozen"
HONESTY: Final = frozenset({"memory_rate_error", "memory_duration_error"})


class Measurement(NamedTuple):
    """What was measured in a comparison."""

    episodes: list[Sample]
    """With the metrics across runs that an episode has."""
    units: list[Sample]
    """One more for each seed of a method in a setting, with what its episodes in a row show."""

    @property
    def all(self) -> list[Sample]:
        """Both: what values and differences are made of."""
        return [*self.episodes, *self.units]

    def within(self, setting: str) -> Measurement:
        """Return what was measured in one setting; what pairs it with others stays."""
        return Measurement(*([sample for sample in samples if sample.setting == setting] for samples in self))


def measure(parts: Sequence[ComparisonRun], names: Sequence[str], processes: int | None = None) -> Measurement:
    """Measure all finished episodes of a comparison.

    Args:
        parts: Its runs.
        names: Metrics that are wanted; what takes other runs, or a second look at the logs, is measured only if one of
            them is.
        processes: How many measure at a time; None: as many as are worth it.

    Raises:
        UserError: A log is missing or damaged.
    """
    tasks = [(part, cell) for part in parts for cell in part.experiment.cells()]
    number = process_pool.many(sum(part.experiment.episodes for part, _ in tasks), episode_metrics.WORTH, processes)
    cells = process_pool.in_order(partial(_measure_cell, names), tasks, number)
    samples = [sample for cell in cells for sample in cell]
    if all(metrics()[name].is_of_episode for name in names):
        return Measurement(samples, [])
    methods = list(dict.fromkeys(sample.method for sample in samples))
    frozen = {name: FROZEN for name in methods if name == FROZEN.partition(":")[0]}
    partners = cross_run.Partners(silent_names(methods), frozen)
    return Measurement(list(cross_run.of_episodes(samples, partners)), list(cross_run.of_units(samples)))


def _measure_cell(names: Sequence[str], task: tuple[ComparisonRun, RunCell]) -> list[Sample]:
    """Measure one cell of a run."""
    part, cell = task
    folder = RunFolder(part.folder)
    of_cell = episode_metrics.of_cell(folder, cell)
    samples = [_sample(part, measured, {*names, *_NEEDED}) for measured in of_cell]
    values = honesty(folder, part.experiment, cell) if samples and HONESTY & set(names) else {}

    def beyond(row: EpisodeRow) -> dict[str, Value]:
        return {regret.REGRET: regret.regret(part.experiment, cell, row)} if regret.REGRET in names else {}

    return [
        sample._replace(values={**sample.values, **values, **beyond(measured.row)})
        for sample, measured in zip(samples, of_cell, strict=True)
    ]


def _sample(part: ComparisonRun, measured: episode_metrics.EpisodeMetrics, kept: Collection[str]) -> Sample:
    setting, asked, cell = part.setting, part.experiment, measured.cell
    layout = f" {asked.instances}" if isinstance(asked.instances, int) else ""
    stratum = f"{asked.world} {asked.level}{layout}"
    placed = ("world", "level", "instances", "memory", f"{asked.world}.agents")
    others = {name: value for name, value in setting.values.items() if name not in placed}
    return Sample(
        method=part.names[cell.method],
        instance=f"{stratum} {cell.seed}",
        stratum=stratum,
        episode=measured.row.episode,
        values={name: value for name, value in measured.values.items() if name in kept},
        extract=measured.extract,
        setting=setting.name,
        others=json.dumps(others, sort_keys=True),
        layout=measured.identity.layout,
        play=measured.identity.play,
        deeds=measured.deeds,
        tokens=measured.tokens,
        step_limit=asked.step_limit,
        memory=asked.memory or "" if registry.may_learn(cell.method) else "",
    )


def honesty(folder: RunFolder, experiment: ExperimentSpec, cell: RunCell) -> dict[str, Value]:
    """Return how far a memory that is frozen after some episodes is off the episodes that follow.

    Both sides are counted by the same code, as the guidebook counts. A cell whose memory is not frozen on its way has
    no value.
    """
    options = folder.experiment().options[cell.method]
    last = options.get("freeze_after")
    if not last or last >= experiment.episodes or experiment.fork is not None:
        return {}
    with MemoryStore(folder.memory_file, readonly=True) as store:
        reported = store.world_model(cell.name)
    held_out = WorldModel()
    for episode in range(last + 1, experiment.episodes + 1):
        later = delta(read_log(folder.log(cell, episode)), identity=options["task_identity"])
        for instance in later.instances:
            held_out.add(instance)
    rates, durations = [], []
    for task in sorted({row.key.task for row in held_out.rows()}):
        guide, seen = reported.guide(task), held_out.guide(task)
        if guide.attempts and seen.attempts:
            rates.append(abs(guide.successes / guide.attempts - seen.successes / seen.attempts))
        if guide.mean_duration is not None and seen.mean_duration is not None:
            durations.append(abs(guide.mean_duration - seen.mean_duration))
    return {"memory_rate_error": mean(rates), "memory_duration_error": mean(durations)}


def primary_metrics(rows: Sequence[EpisodeRow], wanted: str | None = None) -> tuple[str, ...]:
    """Return what a comparison is made for: one metric, so that there is nothing else to correct its differences for.

    Args:
        rows: What is compared.
        wanted: Names with commas; None: steps, or on levels that ask for no goals what their results are told in first.

    Raises:
        UserError: There is no such metric.
    """
    if wanted is not None:
        return metric_names(wanted)
    return ("steps",) if asks_for_goals(rows) else tuple(part.metric for part in headline(rows)[:1])


def metric_names(
    text: str | None, *, references: bool = True, rows: Sequence[EpisodeRow] | None = None
) -> tuple[str, ...]:
    """Return the metrics in a text with commas; those of a results table if there is none, all for ``all``.

    Args:
        text: What is wanted.
        references: Whether reference teams stand beside.
        rows: What is compared: the headline of its levels comes first, and what tells of goals is left out of a results
            table where no level asks for them.

    Raises:
        UserError: There is no such metric.
    """
    known = list(metrics())
    if text is None:
        first = [part.metric for part in headline(rows or ())]
        left_out = () if asks_for_goals(rows or ()) else _OF_GOALS
        usual = [name for name, metric in metrics().items() if metric.tier == "front" and name not in left_out]
        return tuple(dict.fromkeys((*first, *(name for name in usual if references or metrics()[name].is_of_episode))))
    if text == "all":
        return tuple(known)
    names = [name_of(word.strip()) for word in text.split(",") if word.strip()]
    for name in names:
        if name not in known:
            raise UserError(f"there is no metric '{name}'{suggest(name, known)} (see: teamworld metrics)")
    return tuple(dict.fromkeys(names))


def list_pairs(present: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of methods that a comparison tests: with one another, the reference teams, silence and controls.

    Args:
        present: The methods that were run, reference teams and silent ones by their names among them.
    """
    beside = [name for name in present if name in REFERENCES]
    own = own_methods(present)
    pairs = list(combinations(own or beside, 2))
    pairs += [(name, reference) for name in own for reference in beside]
    return [*pairs, *silent_names(present).items(), *control_names(present).items()]


def compared(measured: Measurement, names: Sequence[str], main: Sequence[str] = MAIN) -> Comparison:
    """Compare what was measured: methods with one another, with the reference teams, each with itself in silence.

    A twin is tested against nothing: its differences from its method are the noise floor beside all others.

    Args:
        measured: The episodes.
        names: Metrics.
        main: Those that the comparison is made for.
    """
    present = list(dict.fromkeys(sample.method for sample in measured.episodes))
    twins, own = twin_names(present), own_methods(present)
    shown = compare(measured.all, names, list_pairs(present), main, twins)
    effects = talk_effects(measured.episodes, silent_names(present), twins, own)
    uses = control_uses(measured.episodes, control_names(present))
    return shown._replace(talk_effects=tuple(effects), controls=tuple(uses))
