"""The metrics of a run's finished episodes, from their logs and from the record of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import UnsetType

from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.experiment.code_identity import package_digest
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.parquet_tables import ParquetTables
from teamworld.experiment.store.recorded_calls import CallStore, price_of
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.methods.registry import method_of, parts_of, reference
from teamworld.metrics.all_metrics import measure
from teamworld.metrics.definition import Value, logged_metrics
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
    deeds: str
    """Digest of what agents did but wait and talk, step by step."""
    tokens: tuple[int, int] | None
    """Tokens that its questions might take, and took; None where nothing limited them."""


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
    """Measure the finished episodes of one cell of a run, or read what was measured; raises ``UserError``."""
    if (tables := measured_tables(folder)) is not None:
        return _of_tables(tables, cell)
    if not folder.results_file.exists():
        return []
    measured = []
    with (
        Results(folder.results_file, readonly=True) as results,
        CallStore(folder.results_file, readonly=True) as store,
    ):
        for row in results.rows(cell):
            path = folder.log(cell, row.episode)
            events = read_log(path, expected=row.digest)
            measured.append(of_events(path, cell, row, events, store.rows(cell, row.episode)))
    return measured


def measured_tables(folder: RunFolder) -> ParquetTables | None:
    """Return the Parquet tables with the metrics of a run; None where its logs are to be measured.

    Metrics that other code has measured are read only where there is no results file to go back to.
    """
    tables = folder.tables()
    if tables is None or "metrics" not in tables.manifest.tables:
        return None
    is_same = tables.manifest.code == package_digest()
    return tables if is_same or not folder.results_file.exists() else None


def _of_tables(tables: ParquetTables, cell: RunCell) -> list[EpisodeMetrics]:
    """Return what stands in Parquet of one cell."""
    held = tables.manifest.tables["metrics"]
    names = [name for name in logged_metrics() if {name, f"{name}_num", f"{name}_den"} <= held.keys()]
    parts = [f"{name}{end}" for name in names for end in ("", "_num", "_den")]
    measured: dict[int, tuple[dict[str, Value], Extract, Identity, str, tuple[int, int] | None]] = {}
    columns = ("cell", "episode", "extract", *Identity._fields, "deeds", "token_limit", "tokens_taken", *parts)
    for frame in tables.frames("metrics", columns, cell):
        for name, episode, text, layout, play, deeds, limit, taken, *numbers in frame.select(columns).iter_rows():
            if name != cell.name:
                continue
            values = dict(zip(names, map(Value, numbers[::3], numbers[1::3], numbers[2::3]), strict=True))
            try:
                extracted, tokens = msgspec.json.decode(text, type=Extract), None if limit is None else (limit, taken)
                measured[episode] = values, extracted, Identity(layout, play), deeds, tokens
            except (msgspec.DecodeError, TypeError) as error:
                raise UserError(f"{tables.folder} is damaged: {error}") from None
    rows = [row for _, row in tables.each_finished([cell])]
    if lacking := [row.episode for row in rows if row.episode not in measured]:
        raise UserError(f"{tables.folder} is damaged: it has no metrics of episode {lacking[0]} of {cell.name}")
    return [EpisodeMetrics(cell, row, *measured[row.episode]) for row in rows]


def of_events(
    path: Path, cell: RunCell, row: EpisodeRow, events: Iterable[Event], calls: Iterable[CallRow]
) -> EpisodeMetrics:
    """Measure a finished episode.

    Args:
        path: Of its log.
        cell: Where it is from.
        row: Its result.
        events: What is in the log.
        calls: Its calls on record.

    Raises:
        UserError: It is the log of another episode, or none that an episode can have written.
    """
    prices = Prices.load(None)
    identified = Identifier(_checked(path, cell, row.episode, events))
    table = _table(path, identified, [call._replace(usd=price_of(call, prices)) for call in calls])
    counted = table.end.tokens
    tokens = None if isinstance(counted, UnsetType) else (counted.limit, counted.taken)
    values, extracted = measure(table), extract(table)
    return EpisodeMetrics(cell, row, values, extracted, identified.identity, identified.deeds, tokens)


def _checked(path: Path, cell: RunCell, number: int, events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events of the episode in whose place a log stands; raises ``UserError`` where it is another's."""
    for event in events:
        if isinstance(event, EpisodeStart):
            _check_place(path, cell, number, event)
        yield event


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
