"""The results of a run: one row an episode, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.config import Cell
from teamworld.metrics.summary import Summary

_APPLICATION = 0x7457_5253  # "tWRS": tells our files from other people's
_VERSION = 1
_SCHEMA = """
CREATE TABLE episodes (
    cell     TEXT NOT NULL,
    episode  INTEGER NOT NULL,
    method   TEXT NOT NULL,
    seed     INTEGER NOT NULL,
    summary  TEXT NOT NULL,
    digest   TEXT NOT NULL,
    seconds  REAL NOT NULL,
    PRIMARY KEY (cell, episode)
) WITHOUT ROWID, STRICT;
"""


class Row(NamedTuple):
    """One finished episode."""

    cell: str
    episode: int
    method: str
    seed: int
    summary: Summary
    digest: str
    """BLAKE2 of the log's records, to tell an altered log."""
    seconds: float
    """Wall time; a cost, never part of a score."""

    def plain(self) -> dict[str, Any]:
        """Return the row as plain data for ``--json``; everything but wall time."""
        summary: dict[str, Any] = msgspec.to_builtins(self.summary)
        rates = {name: {"num": rate.num, "den": rate.den, "value": rate.value} for name, rate in self._rates()}
        return {"episode": self.episode, "method": self.method, "seed": self.seed} | summary | rates

    def _rates(self) -> list[tuple[str, Any]]:
        return [("plans", self.summary.plans), ("attempts", self.summary.attempts)]


class Results:
    """The results store of one run folder.

    Args:
        path: The database file; made if it is not there.

    Raises:
        UserError: The file is not ours, damaged, or of a newer version; it is left untouched.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        new = not path.exists() or path.stat().st_size == 0
        if not new and not path.open("rb").read(16).startswith(b"SQLite format 3\x00"):
            raise UserError(f"{path} is not a database; move it away to start a new run here")
        with self._guard():
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            if new:
                self._db.executescript(
                    "PRAGMA journal_mode=WAL; BEGIN IMMEDIATE;"
                    f"PRAGMA application_id={_APPLICATION}; PRAGMA user_version={_VERSION}; {_SCHEMA} COMMIT;"
                )
            else:
                self._check()
            self._db.execute("PRAGMA synchronous=FULL")

    def _check(self) -> None:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            raise UserError(f"{self._path} is not a results file of teamworld; move it away to start a new run here")
        if version > _VERSION:
            raise UserError(f"{self._path} was written by a newer teamworld (format {version}): upgrade it")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise UserError(f"{self._path}: {error}; the run's logs are untouched") from None

    def add(self, row: Row) -> None:
        """Store a finished episode; on return it survives a kill."""
        values = (
            row.cell,
            row.episode,
            row.method,
            row.seed,
            msgspec.json.encode(row.summary).decode(),
            row.digest,
            row.seconds,
        )
        with self._guard():
            self._db.execute("INSERT INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def rows(self, cell: Cell | None = None) -> list[Row]:
        """Return the finished episodes, of one cell or all, ordered by cell and episode."""
        where, values = ("WHERE cell = ?", (cell.name,)) if cell is not None else ("", ())
        with self._guard():
            found = self._db.execute(f"SELECT * FROM episodes {where} ORDER BY cell, episode", values).fetchall()
        try:
            return [
                Row(name, episode, method, seed, msgspec.json.decode(summary, type=Summary), digest, seconds)
                for name, episode, method, seed, summary, digest, seconds in found
            ]
        except msgspec.DecodeError as error:
            raise UserError(f"{self._path} is damaged: {error}") from None

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        with self._guard():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close() if kind is None else self._db.close()
