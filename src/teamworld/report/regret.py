"""What teams take beyond the steps that nobody can beat: bounds of instances, and the regret of episodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.definition import NULL, Value, metrics, only
from teamworld.report.statistics import mean_interval
from teamworld.report.tables import Table, describe_reasoner_and_talk, interval_text
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.bounds import StepBound

#: The metric.
REGRET = "regret"


class BestPlayed(NamedTuple):
    """The episode that did all goals of an instance in the fewest steps."""

    steps: int
    method: str


def bound_of(experiment: ExperimentSpec, cell: RunCell, episode: int) -> StepBound | None:
    """Return what is proven of the steps of an episode's instance; None where nothing is."""
    options = experiment.options.get(experiment.world, {})
    seed = cell.world_seed(episode, experiment.instances)
    return _bound(experiment.world, experiment.level, seed, json.dumps(options, sort_keys=True))


@lru_cache(maxsize=100_000)
def _bound(world: str, level: str, seed: int, options: str) -> StepBound | None:
    try:
        return worlds.step_bound(world, level, seed, json.loads(options))
    except UserError:  # the package of a world that was played elsewhere may lack here: its runs are shown all the same
        return None


def regret(experiment: ExperimentSpec, cell: RunCell, row: EpisodeRow) -> Value:
    """Return the steps of an episode beyond the bound of its instance; the step limit counts where goals were left.

    Null where nothing is proven, or no goals are asked for.
    """
    bound = bound_of(experiment, cell, row.episode) if row.summary.has_success else None
    if bound is None:
        return NULL
    limit = experiment.step_limit
    return only((row.summary.steps if row.summary.success else limit) - bound.within(limit))


def by_method(rows: Sequence[EpisodeRow], experiment: ExperimentSpec) -> Table:
    """Return bound, steps and regret of each method, with 95 % intervals over seeds."""
    lines = []
    for method in experiment.methods:
        own = [row for row in rows if row.method == method]
        bounds = [bound_of(experiment, RunCell(method, row.seed), row.episode) for row in own]
        proven = [bound for bound in bounds if bound is not None]
        if not proven:
            lines.append((method, str(len(own)), *["none"] * 4))
            continue
        values: dict[int, list[float]] = {}
        for row in own:
            if (value := regret(experiment, RunCell(method, row.seed), row).value) is not None:
                values.setdefault(row.seed, []).append(value)
        interval = mean_interval([fsum(each) / len(each) for each in values.values()])
        if interval is not None:
            low, high = metrics()[REGRET].within(interval.low, interval.high)
            interval = interval._replace(low=low, high=high)
        solved = sum(row.summary.success is True for row in own)
        lines.append(
            (
                method,
                str(len(own)),
                f"{solved / len(own):.2f}",
                f"{fsum(bound.within(experiment.step_limit) for bound in proven) / len(proven):.1f}",
                interval_text(interval, "{:.1f}".format),
                f"{sum(bound.is_exact for bound in proven)}/{len(proven)}",
            )
        )
    columns = ("method", "episodes", "solved", "bound", "regret", "exact")
    caption = (
        "bound: steps that no team can beat; regret: steps beyond it, the step limit "
        f"({experiment.step_limit:,}) where goals were left; exact: instances whose bound is the optimum; "
        f"{describe_reasoner_and_talk(experiment)}"
    )
    return Table(f"{experiment.world} {experiment.level}: regret", columns, tuple(lines), caption)


def find_best(runs: Iterable[tuple[ExperimentSpec, Sequence[tuple[RunCell, EpisodeRow]]]]) -> dict[int, BestPlayed]:
    """Return by the seed of its instance the best episode that did all goals; ties go to the first.

    Args:
        runs: In one place: an experiment, and its finished episodes.
    """
    best: dict[int, BestPlayed] = {}
    for experiment, rows in runs:
        for cell, row in rows:
            seed = cell.world_seed(row.episode, experiment.instances)
            if row.summary.success and (seed not in best or row.summary.steps < best[seed].steps):
                best[seed] = BestPlayed(row.summary.steps, row.method)
    return best


def list_bounds(
    world: str, level: str, seeds: Sequence[int], options: Mapping[str, object], best: Mapping[int, BestPlayed]
) -> Table:
    """Return the bounds of the instances of a level, beside what was played best where that is known.

    Raises:
        UserError: There is no such world, level or option.
    """
    lines, closed = list[tuple[str, ...]](), 0
    bounds = [worlds.step_bound(world, level, seed, options) for seed in seeds]
    for seed, bound in zip(seeds, bounds, strict=True):
        if bound is None:
            lines.append((str(seed), "none", "", "", *([""] * 3 if best else ())))
            continue
        played = best.get(seed)
        closed += (bound.is_exact and bound.can_be_done) or (played is not None and played.steps == bound.steps)
        shown = ("", "", "")
        if played is not None:
            shown = (str(played.steps), f"{(played.steps - bound.steps) / max(1, bound.steps):.0%}", played.method)
        planned = "none" if bound.planned is None else str(bound.planned)
        proven = (str(bound.steps), "optimum" if bound.is_exact else "at least")
        proven = proven if bound.can_be_done else ("none", "cannot be done")
        lines.append((str(seed), *proven, planned, *(shown if best else ())))
    columns = ("seed", "steps", "proven", "planned", *(("best played", "above", "by") if best else ()))
    count = sum(bound is not None for bound in bounds)
    caption = (
        f"steps that no team can beat, whatever it knows and however it plans; {closed} of {count} are the optimum; "
        "planned: steps of the best joint plan that is known"
    )
    return Table(f"{world} {level}: bounds", columns, tuple(lines), caption)
