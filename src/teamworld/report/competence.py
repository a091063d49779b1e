"""Behavioural Competency Scores of a run or a grid, as a table with intervals (wildfire spec A14, B36-B38)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import stdev
from typing import Final, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.experiment.config import Cell, Experiment
from teamworld.experiment.episode_metrics import finished
from teamworld.experiment.folder import Folder
from teamworld.experiment.grid import runs
from teamworld.record import StepDone, read_log
from teamworld.report.compare_tables import where
from teamworld.report.comparison import SILENT
from teamworld.report.statistics import fitting_interval
from teamworld.report.tables import Table
from teamworld.worlds.wildfire.competence import COMPETENCIES, PROVISIONAL, Competency, Seed, Worth, shown_by, values

#: What scores are counted from.
IDLE: Final = "do_nothing"
_WORLD: Final = "wildfire"
#: Instance of a level: what two episodes must share to be paired.
Instance: TypeAlias = tuple[str, str, int, int]


class Episode(NamedTuple):
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
        path: Its folder; what was run in silence is left out.

    Raises:
        UserError: It holds no finished episode of a level that shows a competency, or nobody who did nothing.
    """
    asked = [(Folder(folder), one) for folder, one in runs(path) if folder.name != SILENT and one.world == _WORLD]
    kinds = {(one.reasoner, one.talk) for _, one in asked}
    found = [one for folder, experiment in asked for one in _episodes(folder, experiment, told=len(kinds) > 1)]
    if not found:
        raise UserError(f"{path} has no finished episode of a level of {_WORLD} that shows a competency")
    if not any(one.method == IDLE for one in found):
        raise UserError(f"competency scores count from doing nothing: run {IDLE} too, beside the methods of {path}")
    caption = where([experiment for _, experiment in asked])
    said = "; ".join(caption[name] for name in ("mind", "talk") if name in caption)
    return table(found, said)


def _episodes(folder: Folder, experiment: Experiment, *, told: bool) -> Iterator[Episode]:
    """Yield the episodes of a run, with their last scores; the method's name tells mind and talk if it is to."""
    if not shown_by(experiment.level):
        return
    place = json.dumps([experiment.options.get(_WORLD), experiment.max_steps], sort_keys=True)
    beside = " ".join(filter(None, (experiment.reasoner, experiment.talk))) if told else ""
    for cell, row in finished(folder, experiment):
        instance = experiment.level, place, cell.world_seed(row.episode, experiment.instances), row.episode
        name = f"{cell.method} {beside}".rstrip() if cell.method != IDLE else IDLE
        yield Episode(name, instance, _score(folder, cell, row.episode))


def _score(folder: Folder, cell: Cell, episode: int) -> float:
    path = folder.log(cell, episode)
    last = next((event.score for event in reversed(list(read_log(path))) if isinstance(event, StepDone)), {})
    if "score" not in last:
        raise UserError(f"{path} says no score: it is the log of an episode without a step")
    return last["score"]


def seeds(found: Sequence[Episode]) -> Mapping[str, list[Seed]]:
    """Return by method its episodes, each beside doing nothing on the same instance."""
    from teamworld.worlds.wildfire.levels import level_for
    from teamworld.worlds.wildfire.tasks import best

    idle = {one.instance: one.score for one in found if one.method == IDLE}
    most = {level: best(level_for(level)) for level in {one.level for one in found}}
    by_method: dict[str, list[Seed]] = {}
    for method, instance, score in found:
        seed = Seed(instance[0], instance[2], score, idle.get(instance), most[instance[0]])
        by_method.setdefault(method, []).append(seed)
    return by_method


def table(found: Sequence[Episode], said: str) -> Table:
    """Return the scores as a table, a line a competency.

    Args:
        found: Episodes of all methods, those that did nothing among them.
        said: What the caption says of minds and talk.
    """
    by_method = {method: some for method, some in seeds(found).items() if method != IDLE}
    worths = {method: _by_level(some) for method, some in by_method.items()}
    rows = [
        (f"{short} {name}{'*' if short in PROVISIONAL else ''}", *(_cell(worths[method], short) for method in worths))
        for short, name in COMPETENCIES.items()
    ]
    alone = sum(seed.idle is None for some in by_method.values() for seed in some)
    full = sum(one.no_room for some in worths.values() for level in some.values() for one in next(iter(level.values())))
    levels = len({one.level for one in found})
    told = [
        "0: doing nothing, 1: the best possible; mean of seeds [95 % interval over seeds, within levels] (standard "
        "deviation, n)",
        "* provisional: of the full game alone",
        f"{_seeds(full)} at 0 as doing nothing was the best possible" if full else "",
        f"{_seeds(alone)} without {IDLE} beside it left out" if alone else "",
        said,
    ]
    title = f"{_WORLD}: behavioural competency scores, {levels} level{'' if levels == 1 else 's'}"
    return Table(title, ("competency", *worths), tuple(rows), "; ".join(filter(None, told)))


def _seeds(number: int) -> str:
    return f"{number} seed{'' if number == 1 else 's'}"


def _by_level(some: Sequence[Seed]) -> dict[str, dict[Competency, list[Worth]]]:
    """Return the values of a method by level, of those competencies that the level shows."""
    found = {}
    for level in dict.fromkeys(seed.level for seed in some):
        shown = values(seed for seed in some if seed.level == level)
        found[level] = {name: shown[name] for name in shown_by(level)}
    return found


def _cell(by_level: Mapping[str, Mapping[Competency, Sequence[Worth]]], name: Competency) -> str:
    """Return the score of a competency; 'none' where no seed shows it."""
    strata = {level: [(one.n, 1.0) for one in shown.get(name, ())] for level, shown in by_level.items()}
    numbers = [number for units in strata.values() for number, _ in units]
    interval = fitting_interval(strata, shares=True)
    if interval is None:
        return "none"
    if len(numbers) < 2:
        return f"{interval.mean:.2f} (n 1)"
    low, high = max(0.0, interval.low), min(1.0, interval.high)
    return f"{interval.mean:.2f} [{low:.2f}, {high:.2f}] (sd {stdev(numbers):.2f}, n {len(numbers)})"
