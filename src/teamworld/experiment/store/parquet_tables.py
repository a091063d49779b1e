"""The results of a run as Parquet files: what ``teamworld compact`` has written into its folder ``parquet``.

A manifest lists the files, and names what they were made from. It is replaced whole, after its files are there, and no
file is ever written again under its name: who reads sees one state.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import msgspec

from teamworld.errors import UserError, brief
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.summary import Summary
from teamworld.plain_files import file_state, read_file

if TYPE_CHECKING:
    from types import ModuleType

    from polars import DataFrame

#: Of a run's folder.
PARQUET: Final = "parquet"
RESULTS: Final = "results.sqlite"
MANIFEST: Final = "manifest.json"
#: Of manifests and of the columns of the tables; others are refused.
FORMAT: Final = 1
#: Names of the files: table, batch, number in it, digest of what is in it.
_NAME: Final = re.compile(r"[a-z]{1,20}/[0-9]{5}-[0-9]{4}-[0-9a-f]{16}\.parquet", re.ASCII)
_MOST_BYTES: Final = 2**28
#: Files that stay in memory while episodes are told cell by cell: neighbours share files.
_HELD: Final = 2
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class TableFile(msgspec.Struct, frozen=True):
    """A file of a table: one row group."""

    file: str
    """Within the folder."""
    rows: _Count
    bytes: _Count
    digest: str
    """BLAKE2 of the file."""


class EpisodeBatch(msgspec.Struct, frozen=True):
    """Episodes that follow one another in the order of the experiment, and the files that they are in."""

    cells: tuple[str, ...]
    """Whose they are."""
    source: str
    """Digest of what they were made from: digests of the logs, and how many calls each episode had."""
    parts: dict[str, tuple[TableFile, ...]]
    """By table; of a table without rows none."""


class ResultsState(msgspec.Struct, frozen=True):
    """A results file as it was read: another size or time of its last change may mean other results."""

    bytes: _Count
    changed: int
    """Nanoseconds."""


class Manifest(msgspec.Struct, frozen=True):
    """What stands in the folder."""

    format: int
    teamworld: str
    """Version that wrote it."""
    code: str
    """Digest of the code that measured the metrics."""
    episodes: _Count
    """Finished ones."""
    results: ResultsState
    tables: dict[str, dict[str, str]]
    """Columns with their types, by table."""
    batches: tuple[EpisodeBatch, ...]

    def parts(self, table: str) -> list[TableFile]:
        """Return the files of a table, in order."""
        return [part for batch in self.batches for part in batch.parts.get(table, ())]


class ParquetTables:
    """The tables of a run in Parquet; they are only read.

    Args:
        folder: The run's folder.
        manifest: What it holds.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder / PARQUET
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path) -> Self | None:
        """Return the tables in a run's folder; None where there are none.

        Raises:
            UserError: The manifest is damaged, or of another version.
        """
        path = folder / PARQUET / MANIFEST
        try:
            data = read_file(path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        try:
            version = msgspec.json.decode(data, type=_Version).format
            if version != FORMAT:
                raise UserError(
                    f"{path} is of another teamworld (format {version}, this one reads {FORMAT}): write the tables "
                    "again with teamworld compact, or read them with that version"
                )
            manifest = msgspec.json.decode(data, type=Manifest)
            if bad := next((part.file for table in manifest.tables for part in manifest.parts(table)
                            if not _NAME.fullmatch(part.file)), None):  # fmt: skip
                raise msgspec.ValidationError(f"{brief(bad)} is no name of a file of a table")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UserError(f"{path} is damaged: {error}; write the tables again with teamworld compact") from None
        return cls(folder, manifest)

    def is_current(self, results_file: Path) -> bool:
        """Return whether the tables tell what the results file does; True where there is no such file any more."""
        try:
            return state_of(results_file) in (self.manifest.results, None)
        except OSError:
            return False

    def paths(self, table: str) -> list[Path]:
        """Return the files of a table; raises ``UserError`` where it was left out, or a file is not there whole."""
        if table not in self.manifest.tables:
            raise UserError(f"{self.folder} holds no table of {table}: write it with teamworld compact")
        return [self._checked(part) for part in self.manifest.parts(table)]

    def is_whole(self) -> bool:
        """Return whether each file of each table is there."""
        try:
            for table in self.manifest.tables:
                self.paths(table)
        except UserError:
            return False
        return True

    def count(self, table: str) -> int:
        """Return the rows of a table; 0 where it was left out."""
        return sum(part.rows for part in self.manifest.parts(table))

    def count_finished(self, cells: Sequence[RunCell]) -> int:
        """Return how many episodes of some cells are finished; no table is read where these are all of the run."""
        names = {cell.name for cell in cells}
        if all(name in names for batch in self.manifest.batches for name in batch.cells):
            return self.count("episodes")
        return sum(name in names for frame in self.frames("episodes", ("cell",)) for (name,) in frame.iter_rows())

    def _checked(self, part: TableFile) -> Path:
        path = self.folder / part.file
        try:
            is_whole = path.stat().st_size == part.bytes and not path.is_symlink()
        except FileNotFoundError:
            is_whole = False
        if not is_whole:
            raise UserError(f"{path} is missing or altered: write the tables again with teamworld compact")
        return path

    def frames(self, table: str, columns: Sequence[str], cell: RunCell | None = None) -> Iterator[DataFrame]:
        """Yield some columns of a table, file by file.

        Args:
            table: Its name.
            columns: Their names.
            cell: Only the files with episodes of this cell, which may hold others too.

        Raises:
            UserError: A file is missing or damaged.
        """
        for batch in self.manifest.batches:
            if cell is not None and cell.name not in batch.cells:
                continue
            for part in batch.parts.get(table, ()):
                yield self._frame(part, columns)

    def _frame(self, part: TableFile, columns: Sequence[str]) -> DataFrame:
        """Read some columns of a file, in their order."""
        polars, path = need_polars(), self._checked(part)
        data = read_file(path, _MOST_BYTES)
        if hashlib.blake2b(data, digest_size=16).hexdigest() != part.digest:
            raise UserError(f"{path} was altered: write the tables again with teamworld compact")
        try:
            frame: DataFrame = polars.read_parquet(data, columns=list(columns)).select(columns)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
            raise UserError(f"{path} is damaged: {str(error).splitlines()[0][:200]}") from None
        return frame

    def digests(self, cell: RunCell) -> dict[int, str]:
        """Return the digests of the logs of a cell's finished episodes, by number; raises ``UserError``."""
        names = ("cell", "episode", "digest")
        rows = (row for frame in self.frames("episodes", names, cell) for row in frame.iter_rows())
        return dict(sorted((episode, digest) for name, episode, digest in rows if name == cell.name))

    def finished_places(self, cells: Iterable[RunCell]) -> set[tuple[str, int]]:
        """Return name of the cell and number of the finished episodes of some cells; raises ``UserError``."""
        names = {cell.name for cell in cells}
        rows = (row for frame in self.frames("episodes", ("cell", "episode")) for row in frame.iter_rows())
        return {(name, episode) for name, episode in rows if name in names}

    def each_finished(self, cells: Sequence[RunCell]) -> Iterator[tuple[RunCell, EpisodeRow]]:
        """Yield the finished episodes of some cells, in their order, as the results file had them.

        Raises:
            UserError: A file is missing or damaged.
        """
        names = ("cell", "episode", "seconds", "digest", "summary")
        parts: dict[str, list[TableFile]] = {}
        for batch in self.manifest.batches:
            for cell_name in batch.cells:
                parts.setdefault(cell_name, []).extend(batch.parts.get("episodes", ()))
        read = lru_cache(_HELD)(partial(self._frame, columns=names))
        for cell in cells:
            rows: list[EpisodeRow] = []
            for frame in map(read, parts.get(cell.name, ())):
                own = frame.filter(frame["cell"] == cell.name)
                for name, episode, seconds, digest, text in own.iter_rows():
                    try:
                        summary = msgspec.json.decode(text, type=Summary)
                    except (msgspec.DecodeError, TypeError) as error:
                        raise UserError(f"{self.folder} is damaged: {error}") from None
                    rows.append(EpisodeRow(name, episode, cell.method, cell.seed, summary, digest, seconds))
            for row in sorted(rows, key=lambda row: row.episode):
                yield cell, row


class _Version(msgspec.Struct):
    format: int


def state_of(results_file: Path) -> ResultsState | None:
    """Return the state of a results file, what its write-ahead log holds included; None where it is not there."""
    state = file_state(results_file)
    return None if state is None else ResultsState(*state)


def need_polars() -> ModuleType:
    """Return polars; raises ``UserError`` where it is not installed."""
    try:
        import polars
    except ImportError:
        raise UserError("data frames and Parquet need another package: pip install 'teamworld[tables]'") from None
    return polars


def schema_of(columns: Mapping[str, type]) -> dict[str, Any]:
    """Return columns with the types that polars has for them."""
    polars = need_polars()
    kinds = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    return {name: kinds[kind] for name, kind in columns.items()}
