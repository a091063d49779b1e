"""Behavioural Competency Scores of CREW-Wildfire: which level shows which competency, and a table with intervals.

A competency's score is the mean over all seeds of all its levels; it stands with the number of seeds, the sample
standard deviation and an interval.

The names of the seven competencies are those that readers of the paper report; the defining text was not to be had. The
levels are those of the 2026 scripts, which know no objective prioritisation: its score here is of the full game alone,
the only level where goals compete, and is provisional.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from statistics import stdev
from typing import Final, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.experiment.comparison_runs import SILENT, is_twin
from teamworld.experiment.grid import runs
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import StepDone, read_log
from teamworld.report.comparison_tables import where
from teamworld.report.statistics import Interval, Ratio, ratio_interval
from teamworld.report.tables import Table

Competency: TypeAlias = Literal["TD", "AC", "SR", "OS", "RC", "PA", "OP"]

COMPETENCIES: Mapping[Competency, str] = {
    "TD": "task designation",
    "AC": "agent capitalization",
    "SR": "spatial reasoning",
    "OS": "observation sharing",
    "RC": "realtime coordination",
    "PA": "plan adaptation",
    "OP": "objective prioritization",
}
#: Not in the published scripts.
PROVISIONAL: frozenset[Competency] = frozenset({"OP"})

_SHOWS: Mapping[str, tuple[Competency, ...]] = {
    "cut_trees_sparse": ("TD",),
    "cut_trees_lines": ("TD", "AC"),
    "scout_fire": ("TD", "SR", "OS"),
    "transport_firefighters": ("AC", "SR", "RC"),
    "rescue_civilians_known_location": ("TD", "SR", "PA"),
    "suppress_fire_contain": ("TD", "SR", "PA", "AC"),
    "suppress_fire_extinguish": ("TD", "SR", "PA"),
    "rescue_civilians_search_and_rescue": ("TD", "SR", "PA", "OS"),
    "suppress_fire_locate_and_suppress": ("TD", "SR", "PA", "AC", "OS"),
    "suppress_fire_locate_deploy_suppress": ("TD", "AC", "SR", "OS", "RC", "PA"),
    "rescue_civilians_search_rescue_transport": ("TD", "AC", "SR", "OS", "RC", "PA"),
    "full_game": ("TD", "AC", "SR", "OS", "RC", "PA", "OP"),
}


def shown_by(level: str) -> tuple[Competency, ...]:
    """Return the competencies that a level, with or without its edition, shows; none outside the 17 presets."""
    name = level.partition("@")[0]
    return _SHOWS.get(name) or _SHOWS.get(name.removesuffix("_small").removesuffix("_large"), ())


class Worth(NamedTuple):
    """What the score of one seed is worth."""

    n: float
    """0 for doing nothing, 1 for the best possible score."""
    no_room: bool
    """Doing nothing was already the best possible score: n is 0 then, and says nothing."""


def worth(score: float, idle: float, best: float) -> Worth:
    """Return n of one seed: a score between that of doing nothing and the best possible one, clamped to 0 to 1.

    With r = (score - idle) / (best - idle), n = r; where the best score is 0, as on levels where a fire is fought,
    n = log2(1 + r).

    Args:
        score: Final score.
        idle: Final score of doing nothing on the same seed.
        best: Best possible score, ``tasks.best``.

    Raises:
        ValueError: If a value is not finite, or doing nothing beats the best possible score.
    """
    if not all(math.isfinite(value) for value in (score, idle, best)) or idle > best:
        raise ValueError(f"expected finite scores with idle up to best, got score {score}, idle {idle}, best {best}")
    if best == idle:
        return Worth(0.0, True)
    share = min(1.0, max(0.0, (score - idle) / (best - idle)))
    return Worth(math.log2(1.0 + share) if best == 0 else share, False)


class Seed(NamedTuple):
    """One episode of a method, beside doing nothing on the same seed."""

    level: str
    seed: int
    score: float
    idle: float | None
    """Final score of doing nothing; None if there is no such run."""
    best: float


def worths(seeds: Iterable[Seed]) -> dict[str, list[Worth]]:
    """Return what the seeds of each level are worth, of levels that show a competency.

    Seeds without a run of doing nothing are left out, as in the published scripts.
    """
    by_level: dict[str, list[Worth]] = {}
    for seed in seeds:
        if seed.idle is not None and shown_by(seed.level):
            by_level.setdefault(seed.level, []).append(worth(seed.score, seed.idle, seed.best))
    return by_level


def competencies(seeds: Iterable[Seed]) -> dict[Competency, Interval | None]:
    """Return the competency scores of a method with intervals over seeds, within levels.

    A competency that no seed shows has no score, not one of 0.
    """
    by_level = worths(seeds)
    return {
        name: _bounded(
            {level: [(value.n, 1.0) for value in own] for level, own in by_level.items() if name in shown_by(level)},
        )
        for name in COMPETENCIES
    }


def mean_competency(seeds: Iterable[Seed]) -> Interval | None:
    """Return the mean of the competencies that the levels show, the provisional one left out, with its interval.

    Each seed weighs by the competencies that it counts in, over how many seeds each of these has.
    """
    by_level = worths(seeds)
    counts = {
        name: sum(len(own) for level, own in by_level.items() if name in shown_by(level))
        for name in COMPETENCIES
        if name not in PROVISIONAL
    }
    shown = [name for name, count in counts.items() if count]
    strata = {}
    for level, own in by_level.items():
        weight = fsum(1.0 / counts[name] for name in shown if name in shown_by(level)) / max(1, len(shown))
        strata[level] = [(value.n * weight, weight) for value in own]
    return _bounded(strata)


def _bounded(strata: Mapping[str, Sequence[Ratio]]) -> Interval | None:
    interval = ratio_interval(strata)
    return interval and interval._replace(low=max(0.0, interval.low), high=min(1.0, interval.high))


#: What scores are counted from.
IDLE: Final = "do_nothing"
_WORLD: Final = "wildfire"
#: Instance of a level: what two episodes must share to be paired.
Instance: TypeAlias = tuple[str, str, int, int]


class ScoredEpisode(NamedTuple):
    """What an episode came to."""

    method: str
    instance: Instance
    score: float

    @property
    def level(self) -> str:
        """Where it was."""
        return self.instance[0]


def of_folder(path: Path) -> Table:
    """Return the scores of all methods of a run, a grid or a comparison, beside doing nothing on the same instances.

    Args:
        path: Its folder; what was run in silence, and twins, are left out.

    Raises:
        UserError: It holds no finished episode of a level that shows a competency, or nobody who did nothing.
    """
    played = [(folder, spec) for folder, spec in runs(path) if folder.name != SILENT and not is_twin(folder, spec)]
    asked = [(RunFolder(folder), spec) for folder, spec in played if spec.world == _WORLD]
    kinds = {(spec.reasoner, spec.talk) for _, spec in asked}
    scored = [spec for folder, experiment in asked for spec in _episodes(folder, experiment, named=len(kinds) > 1)]
    if not scored:
        raise UserError(f"{path} has no finished episode of a level of {_WORLD} that shows a competency")
    if not any(spec.method == IDLE for spec in scored):
        raise UserError(f"competency scores count from doing nothing: run {IDLE} too, beside the methods of {path}")
    caption = where([experiment for _, experiment in asked])
    steps = sorted({experiment.step_limit for _, experiment in asked})
    limit = f"at most {' to '.join(map(str, dict.fromkeys((steps[0], steps[-1]))))} steps"
    return table(scored, "; ".join([*(caption[name] for name in ("mind", "talk") if name in caption), limit]))


def _episodes(folder: RunFolder, experiment: ExperimentSpec, *, named: bool) -> Iterator[ScoredEpisode]:
    """Yield the episodes of a run, with their last scores; the method's name tells reasoner and talk if ``named``."""
    if not shown_by(experiment.level):
        return
    place = json.dumps([experiment.options.get(_WORLD), experiment.step_limit], sort_keys=True)
    beside = " ".join(filter(None, (experiment.reasoner, experiment.talk))) if named else ""
    for cell, row in folder.finished(experiment):
        instance = experiment.level, place, cell.world_seed(row.episode, experiment.instances), row.episode
        name = f"{cell.method} {beside}".rstrip() if cell.method != IDLE else IDLE
        yield ScoredEpisode(name, instance, _score(folder, cell, row.episode))


def _score(folder: RunFolder, cell: RunCell, episode: int) -> float:
    path = folder.log(cell, episode)
    last = next((event.score for event in reversed(list(read_log(path))) if isinstance(event, StepDone)), {})
    if "score" not in last:
        raise UserError(f"{path} says no score: it is the log of an episode without a step")
    return last["score"]


def seeds(episodes: Sequence[ScoredEpisode]) -> Mapping[str, list[Seed]]:
    """Return by method its episodes, each beside doing nothing on the same instance."""
    from teamworld.worlds.wildfire.levels import level_for
    from teamworld.worlds.wildfire.physics import best_score

    idle = {episode.instance: episode.score for episode in episodes if episode.method == IDLE}
    most = {level: best_score(level_for(level)) for level in {episode.level for episode in episodes}}
    by_method: dict[str, list[Seed]] = {}
    for method, instance, score in episodes:
        seed = Seed(instance[0], instance[2], score, idle.get(instance), most[instance[0]])
        by_method.setdefault(method, []).append(seed)
    return by_method


def table(episodes: Sequence[ScoredEpisode], said: str) -> Table:
    """Return the scores as a table, a line a competency; ``said`` is what the caption says of reasoners and talk."""
    by_method = {method: own for method, own in seeds(episodes).items() if method != IDLE}
    scores = {method: _cells(own) for method, own in by_method.items()}
    rows = [
        (f"{short} {name}{'*' if short in PROVISIONAL else ''}", *(cells[short] for cells in scores.values()))
        for short, name in COMPETENCIES.items()
    ]
    alone = sum(seed.idle is None for own in by_method.values() for seed in own)
    full = sum(value.no_room for own in by_method.values() for level in worths(own).values() for value in level)
    levels = len({episode.level for episode in episodes})
    notes = [
        "0: doing nothing, 1: the best possible; mean of seeds [95 % interval over seeds, within levels] (standard "
        "deviation, n)",
        "* provisional: of the full game alone",
        f"{_seeds(full)} at 0 as doing nothing was the best possible" if full else "",
        f"{_seeds(alone)} without {IDLE} beside it left out" if alone else "",
        said,
    ]
    title = f"{_WORLD}: behavioural competency scores, {levels} level{'' if levels == 1 else 's'}"
    return Table(title, ("competency", *scores), tuple(rows), "; ".join(filter(None, notes)))


def _seeds(number: int) -> str:
    return f"{number} seed{'' if number == 1 else 's'}"


def _cells(own: Sequence[Seed]) -> dict[Competency, str]:
    """Return the scores of a method; 'none' of what no seed shows."""
    by_level, cells = worths(own), {}
    for name, interval in competencies(own).items():
        numbers = [value.n for level, values in by_level.items() if name in shown_by(level) for value in values]
        if interval is None:
            cells[name] = "none"
        elif interval.n < 2:
            cells[name] = f"{interval.mean:.2f} (n 1)"
        else:
            bounds = f"[{interval.low:.2f}, {interval.high:.2f}]"
            cells[name] = f"{interval.mean:.2f} {bounds} (sd {stdev(numbers):.2f}, n {interval.n})"
    return cells
