"""The metrics of a run's finished episodes, from their logs and from the record of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, price_of
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.methods.registry import method_of, parts_of, reference
from teamworld.metrics.all_metrics import measure
from teamworld.metrics.definition import Value
from teamworld.metrics.event_table import CallRow, EventTable
from teamworld.metrics.log_reader import Unsound, tabulate
from teamworld.metrics.summary import Extract, extract
from teamworld.reasoning.llm.prices import Prices
from teamworld.record import EpisodeStart, Event, read_log
from teamworld.record.identity import Identifier, Identity

#: Episodes below which processes of their own take longer to start than they save.
WORTH = 200
#: Where episodes are.
RecordedRun: TypeAlias = tuple[RunFolder, ExperimentSpec]


class EpisodeMetrics(NamedTuple):
    """One episode with its metrics."""

    cell: RunCell
    row: EpisodeRow
    values: dict[str, Value]
    extract: Extract
    """What metrics across runs need of it."""
    identity: Identity
    """What it is apart from its seeds."""


def of_log(path: Path) -> dict[str, Value]:
    """Return the metrics of a log alone: what needs seconds or dollars is null.

    Raises:
        UserError: It is no finished log, or one that no episode can have written.
    """
    return measure(_table(path, read_log(path)))


def _table(path: Path, events: Iterable[Event], calls: Sequence[CallRow] | None = None) -> EventTable:
    """Read a log into a table; raises UserError."""
    try:
        return tabulate(events, calls)
    except Unsound as error:
        raise UserError(f"{path} cannot be measured: {error}") from None


def _check_place(path: Path, cell: RunCell, number: int, start: EpisodeStart) -> None:
    """See that a log is that of the episode in whose place it stands."""
    own = any(map(reference, parts_of(cell.method)))  # its name stands in code, which is not read
    expected = start.method if own else method_of(cell.method), cell.seed, number
    actual = start.method, start.seed, start.episode
    if actual != expected:
        texts = ["method {}, seed {}, episode {}".format(*place) for place in (expected, actual)]
        raise UserError(f"{path} is the log of another episode: expected {texts[0]}, got {texts[1]}; put its own back")


def of_cell(folder: RunFolder, cell: RunCell) -> list[EpisodeMetrics]:
    """Measure the finished episodes of one cell of a run; raises ``UserError``."""
    if not folder.results_file.exists():
        return []
    prices, measured = Prices.load(None), []
    with (
        Results(folder.results_file, readonly=True) as results,
        CallStore(folder.results_file, readonly=True) as store,
    ):
        for row in results.rows(cell):
            calls = [call._replace(usd=price_of(call, prices)) for call in store.rows(cell, row.episode)]
            path = folder.log(cell, row.episode)
            for first in read_log(path):
                if isinstance(first, EpisodeStart):
                    _check_place(path, cell, row.episode, first)
                break
            events = Identifier(read_log(path, expected=row.digest))
            table = _table(path, events, calls)
            measured.append(EpisodeMetrics(cell, row, measure(table), extract(table), events.identity))
    return measured


def of_runs(runs: Iterable[RecordedRun], processes: int | None = None) -> Iterator[tuple[RecordedRun, EpisodeMetrics]]:
    """Measure the finished episodes of runs, in the order of the runs and their cells.

    Args:
        runs: Where they are.
        processes: How many measure at a time; None: as many as are worth it.

    Raises:
        UserError: As for ``of_cell``.
    """
    cells = [(run, cell) for run in runs for cell in run[1].cells()]
    episodes = sum(experiment.episodes for (_, experiment), _ in cells)
    tasks = [(folder, cell) for (folder, _), cell in cells]
    number = process_pool.many(episodes, WORTH, processes)
    for (run, _), episodes_of_cell in zip(cells, process_pool.in_order(_of_cell, tasks, number), strict=True):
        for measured in episodes_of_cell:
            yield run, measured


def _of_cell(task: tuple[RunFolder, RunCell]) -> list[EpisodeMetrics]:
    return of_cell(*task)
