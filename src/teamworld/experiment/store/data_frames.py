"""Results as data frames: one row for each episode, call, message or event, with what it was run on beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teamworld.experiment.episode_metrics import measured_tables
from teamworld.experiment.grid import runs
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.compaction import frame_of
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.parquet_tables import ParquetTables, need_polars, schema_of
from teamworld.experiment.store.remote import local_folder
from teamworld.experiment.store.result_tables import (
    PLACE,
    Row,
    TableName,
    columns_of,
    planned,
    rows_of,
    table_named,
)
from teamworld.metrics.definition import logged_metrics

if TYPE_CHECKING:
    from polars import DataFrame, Expr, LazyFrame

_ROWS = 10_000  # of a frame that is streamed


class Frames:
    """The results of a run or a grid of runs; each frame is made when it is first read.

    A frame has the same columns of the same types for every run, also where it has no row. What ``teamworld compact``
    has written is read where it is up to date, else the run itself.

    Args:
        folder: Of the run or the grid; one that goes on may be read too.

    Raises:
        UserError: It holds neither.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = [(RunFolder(path), experiment) for path, experiment in runs(folder)]

    def __repr__(self) -> str:
        return f"<frames episodes, calls, messages and events of {len(self._runs)} runs in {self._folder}>"

    @cached_property
    def episodes(self) -> DataFrame:
        """One row an episode: where and with what it was run, its seconds, and all metrics by name; null where null.

        Episodes with the same ``layout`` took place in the same; those with the same ``play`` are copies; those with
        the same ``code`` were played by the same code.
        """
        own = ("layout", "play", "code", "seconds", *logged_metrics())
        return self._read("metrics").select("run", *PLACE, *own)

    @cached_property
    def calls(self) -> DataFrame:
        """One row a call of a language model: who was asked what, tokens, seconds, dollars, faults."""
        return self._read("calls")

    @cached_property
    def messages(self) -> DataFrame:
        """One row a message: who said what to whom, and in which step; lists stand as JSON."""
        return self._read("messages")

    @cached_property
    def events(self) -> DataFrame:
        """One row an event of the logs; what has no column of its own stands as JSON in ``data``."""
        return self._read("events")

    def scan(self, table: str) -> LazyFrame:
        """Return a table for a query that streams: ``scan("events").filter(...).collect(engine="streaming")``.

        Args:
            table: ``episodes`` (what the results file knows, no log is read), ``metrics`` (NAME, NAME_num and NAME_den
                of each), ``calls``, ``messages`` or ``events``.

        Raises:
            UserError: There is no such table, or polars is not installed.
        """
        polars = need_polars()
        name = table_named(table)
        schema = {"run": polars.String, **schema_of(columns_of(name))}
        parts = [polars.DataFrame(schema=schema).lazy()]
        for folder, experiment in self._runs:
            compacted = _compacted(folder, name)
            if compacted is not None and (paths := compacted.paths(name)):
                part = polars.scan_parquet(paths).with_columns(run=polars.lit(str(folder.path)))
                parts.append(part.select("run", *columns_of(name)))
            elif compacted is None:
                parts.append(_scan_run(folder, experiment, name, schema))
        scanned: LazyFrame = polars.concat(parts)
        return scanned

    def _read(self, table: TableName) -> DataFrame:
        polars = need_polars()
        schema = {"run": polars.String, **schema_of(columns_of(table))}
        frames = [polars.DataFrame(schema=schema)]
        for folder, experiment in self._runs:
            frames += (_with_run(frame, folder) for frame in _frames(folder, experiment, table))
        whole: DataFrame = polars.concat(frames)
        return whole


def _compacted(folder: RunFolder, table: TableName) -> ParquetTables | None:
    """Return the Parquet files that tell what the run does; None where the run itself is to be read."""
    tables = measured_tables(folder) if table == "metrics" else folder.tables()
    return tables if tables is not None and table in tables.manifest.tables else None


def _frames(folder: RunFolder, experiment: ExperimentSpec, table: TableName) -> Iterator[DataFrame]:
    """Yield the rows of a run in frames of some thousand."""
    if (compacted := _compacted(folder, table)) is not None:
        yield from compacted.frames(table, list(columns_of(table)))
        return
    rows: list[Row] = []
    for tables in rows_of(folder, experiment, planned(experiment), [table]):
        rows += tables.get(table, ())
        if len(rows) >= _ROWS:
            yield frame_of(columns_of(table), rows)
            rows = []
    if rows:
        yield frame_of(columns_of(table), rows)


def _with_run(frame: DataFrame, folder: RunFolder) -> DataFrame:
    polars = need_polars()
    columns = frame.columns
    return frame.with_columns(run=polars.lit(str(folder.path))).select("run", *columns)


def _scan_run(folder: RunFolder, experiment: ExperimentSpec, table: TableName, schema: Mapping[str, Any]) -> LazyFrame:
    """Return a query over a run itself, which is read as the query goes on."""
    from polars.io.plugins import register_io_source

    def read(
        columns: list[str] | None, predicate: Expr | None, most: int | None, size: int | None
    ) -> Iterator[DataFrame]:
        left = most
        for frame in _frames(folder, experiment, table):
            part = _with_run(frame, folder) if left is None else _with_run(frame.head(left), folder)
            left = None if left is None else left - part.height
            part = part if predicate is None else part.filter(predicate)
            yield part if columns is None else part.select(columns)
            if left == 0:
                return

    return register_io_source(read, schema=dict(schema))


def load(folder: Path | str) -> Frames:
    """Load the results of a run, or of a grid of runs, as data frames (needs the extra: tables); see ``Frames``.

    The folder may be a URL, such as ``s3://BUCKET/FOLDER``.
    """
    return Frames(local_folder(folder))
