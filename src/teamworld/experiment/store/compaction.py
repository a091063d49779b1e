"""Writing the results of a run as Parquet files, in batches of episodes: what is as it was is not written again.

A batch is a range of the planned episodes, so while a run grows only its last batches change. Each is read and written
episode by episode, in files of a bounded size: memory does not grow with the run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from teamworld import __version__
from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.experiment.code_identity import package_digest
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.parquet_tables import (
    FORMAT,
    MANIFEST,
    PARQUET,
    EpisodeBatch,
    Manifest,
    ParquetTables,
    ResultsState,
    TableFile,
    need_polars,
    schema_of,
    state_of,
)
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.result_tables import (
    TABLES,
    Columns,
    Row,
    TableName,
    columns_of,
    planned,
    rows_of,
    table_named,
)
from teamworld.experiment.store.results import Results
from teamworld.plain_files import write_file

if TYPE_CHECKING:
    from polars import DataFrame

_WAIT = 0.5  # seconds
_WORTH = 20_000  # episodes below which processes take longer to start than they save


class Compacted(NamedTuple):
    """What came of a run."""

    folder: Path
    episodes: int
    files: int
    bytes: int
    written: int
    """Batches that were written."""
    kept: int
    """Batches that were there already."""


class Sizes(NamedTuple):
    """How much is written at a time."""

    batch: int = 10_000
    """Episodes of a batch."""
    rows: int = 100_000
    """Rows of a file, which is one row group."""
    characters: int = 2**25
    """Characters of texts in a file, or a few more."""


SIZES: Final = Sizes()


def choose_tables(names: Collection[str] | None) -> tuple[TableName, ...]:
    """Return tables by their names, in their order, ``episodes`` among them; None: all; raises ``UserError``."""
    chosen = TABLES if names is None else {"episodes", *map(table_named, names)}
    return tuple(table for table in TABLES if table in chosen)


def compact(
    folder: RunFolder,
    tables: Sequence[TableName] = TABLES,
    processes: int | None = None,
    sizes: Sizes = SIZES,
) -> Compacted:
    """Write the results of a run as Parquet into its folder ``parquet``, or bring what is there up to date.

    The same call on the same results writes nothing. A kill leaves what was there before, and files that the next call
    uses or takes away. The run may go on meanwhile.

    Args:
        folder: The run.
        tables: Which tables; ``episodes`` is among them. Without those that take the logs no log is read.
        processes: How many read logs at a time; None: as many as are worth it.
        sizes: Of batches and files.

    Raises:
        UserError: polars is not there, a log is damaged, or another process writes there.
    """
    need_polars()
    experiment = folder.experiment()
    state = state_of(folder.results_file)  # before it is read: what comes later shows
    if state is None:
        raise UserError(f"{folder.path} has no results.sqlite: there is nothing to make tables of")
    place = folder.path / PARQUET
    place.mkdir(exist_ok=True)
    try:
        with FileLock(place / ".lock", timeout=_WAIT):
            return _bring_up_to_date(folder, experiment, state, tuple(tables), processes, sizes)
    except Timeout:
        raise UserError(f"another process is writing in {place}: wait for it") from None


def _bring_up_to_date(
    folder: RunFolder,
    experiment: ExperimentSpec,
    state: ResultsState,
    tables: tuple[TableName, ...],
    processes: int | None,
    sizes: Sizes,
) -> Compacted:
    columns: dict[str, dict[str, str]] = {
        table: {name: kind.__name__ for name, kind in columns_of(table).items()} for table in tables
    }
    held = _open_held(folder)
    known = {} if held is None or held.tables != columns else {batch.source: batch for batch in held.batches}
    code, episodes, tasks = package_digest(), 0, list[_Task]()
    batches: list[EpisodeBatch | None] = []
    for number, (source, finished) in enumerate(_list_sources(folder, experiment, code, sizes)):
        episodes += finished
        batch = known.get(source)
        if batch is not None and all(_is_whole(folder, part) for parts in batch.parts.values() for part in parts):
            batches.append(batch)
        else:
            batches.append(None)
            tasks.append(_Task(number, source))
    writing = partial(_write_batch, folder, experiment, tables, sizes)
    many = process_pool.many(len(tasks) * sizes.batch, _WORTH, processes)
    written = process_pool.in_order(writing, tasks, many)
    whole = tuple(batch or next(written) for batch in batches)
    manifest = Manifest(FORMAT, __version__, code, episodes, state, columns, whole)
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    path = folder.path / PARQUET / MANIFEST
    if held != manifest:
        write_file(path, data)
    _sweep(folder, manifest)
    parts = [part for table in tables for part in manifest.parts(table)]
    return Compacted(
        folder.path, episodes, len(parts), sum(part.bytes for part in parts), len(tasks), len(whole) - len(tasks)
    )


def _open_held(folder: RunFolder) -> Manifest | None:
    """Return the manifest that is there; None where none is that can be gone on from."""
    try:
        tables = ParquetTables.open(folder.path)
    except UserError:  # damaged, or of another version: all is written again
        return None
    return None if tables is None else tables.manifest


class _Task(NamedTuple):
    number: int
    source: str


def _list_sources(folder: RunFolder, experiment: ExperimentSpec, code: str, sizes: Sizes) -> Iterator[tuple[str, int]]:
    """Yield for each batch the digest of what it is made of, and how many of its episodes are finished."""
    with (
        Results(folder.results_file, readonly=True) as results,
        CallStore(folder.results_file, readonly=True) as calls,
    ):
        is_called = calls.count() > 0
        for begin in range(0, experiment.episode_count, sizes.batch):
            source, finished = hashlib.blake2b(f"{FORMAT} {code} {sizes}\n".encode(), digest_size=16), 0
            for cell, numbers in planned(experiment, begin, begin + sizes.batch).items():
                digests, counts = results.digests(cell, numbers), calls.counts(cell) if is_called else {}
                for number in numbers:
                    count = counts.get((cell.name, number), 0)
                    source.update(f"{cell.name} {number} {digests.get(number)} {count}\n".encode())
                finished += len(digests)
            yield source.hexdigest(), finished


def _is_whole(folder: RunFolder, part: TableFile) -> bool:
    try:
        return (folder.path / PARQUET / part.file).stat().st_size == part.bytes
    except FileNotFoundError:
        return False


def _write_batch(
    folder: RunFolder, experiment: ExperimentSpec, tables: Sequence[TableName], sizes: Sizes, task: _Task
) -> EpisodeBatch:
    """Write the files of a batch."""
    writers = {table: _TableWriter(folder, table, task.number, sizes) for table in tables}
    part = planned(experiment, task.number * sizes.batch, (task.number + 1) * sizes.batch)
    for rows in rows_of(folder, experiment, part, tables):
        for table, own in rows.items():
            writers[table].add(own)
    parts = {table: writer.finish() for table, writer in writers.items()}
    return EpisodeBatch(
        tuple(cell.name for cell in part), task.source, {table: files for table, files in parts.items() if files}
    )


class _TableWriter:
    """Writes the rows of a batch and a table, file by file."""

    def __init__(self, folder: RunFolder, table: TableName, batch: int, sizes: Sizes) -> None:
        self._folder, self._table, self._batch, self._sizes = folder.path / PARQUET, table, batch, sizes
        self._columns: Columns = columns_of(table)
        self._rows: list[Row] = []
        self._characters = 0
        self._parts: list[TableFile] = []

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows; what is full is written."""
        for row in rows:
            self._rows.append(row)
            self._characters += sum(len(value) for value in row if type(value) is str)
            if len(self._rows) >= self._sizes.rows or self._characters >= self._sizes.characters:
                self._flush()

    def finish(self) -> tuple[TableFile, ...]:
        """Write the rest and return all files."""
        if self._rows:
            self._flush()
        return tuple(self._parts)

    def _flush(self) -> None:
        folder = self._folder / self._table
        folder.mkdir(exist_ok=True)
        draft = folder / f"{self._batch:05d}-{len(self._parts):04d}.tmp"
        draft.unlink(missing_ok=True)
        frame_of(self._columns, self._rows).write_parquet(draft, row_group_size=len(self._rows))
        with draft.open("r+b") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
            os.fsync(file.fileno())
            size = file.seek(0, os.SEEK_END)
        name = f"{draft.stem}-{digest[:16]}.parquet"
        draft.replace(folder / name)
        self._parts.append(TableFile(f"{self._table}/{name}", len(self._rows), size, digest))
        self._rows, self._characters = [], 0


def frame_of(columns: Columns, rows: Sequence[Row]) -> DataFrame:
    """Return rows as a data frame of polars; raises ``UserError`` where that is not installed."""
    polars = need_polars()
    frame: DataFrame = polars.DataFrame(rows, schema=schema_of(columns), orient="row")
    return frame


def _sweep(folder: RunFolder, manifest: Manifest) -> None:
    """Take away the files that no manifest names any more, and drafts that a kill has left."""
    place = folder.path / PARQUET
    kept = {part.file for table in manifest.tables for part in manifest.parts(table)}
    for table in TABLES:
        for path in (place / table).glob("*"):
            if f"{table}/{path.name}" not in kept and path.suffix in (".parquet", ".tmp"):
                path.unlink(missing_ok=True)
