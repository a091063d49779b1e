"""The results of a run: one row an episode, and one row a call of a language model, in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell
from teamworld.metrics.definition import metrics
from teamworld.metrics.summary import Summary
from teamworld.record.database import Database, Format

#: See ``experiment.store.recorded_calls``, which reads and writes it. The request and the faults are JSON; text, finish
#: and the counts are null where no completion came.
_CALLS = """
CREATE TABLE calls (
    cell              TEXT NOT NULL,
    episode           INTEGER NOT NULL,
    mind              TEXT NOT NULL,
    purpose           TEXT NOT NULL,
    number            INTEGER NOT NULL,
    attempt           INTEGER NOT NULL,
    model             TEXT NOT NULL,
    digest            TEXT NOT NULL,
    request           TEXT NOT NULL,
    text              TEXT,
    finish            TEXT CHECK (finish IN ('stop', 'length', 'refused')),
    served            TEXT,
    prompt_tokens     INTEGER,
    cached_tokens     INTEGER,
    written_tokens    INTEGER,
    output_tokens     INTEGER,
    reasoning_tokens  INTEGER,
    seconds           REAL NOT NULL,
    usd               REAL,
    faults            TEXT NOT NULL,
    cached            INTEGER NOT NULL,
    PRIMARY KEY (cell, episode, mind, purpose, number, attempt)
) STRICT;
"""

#: Tries of calls that did not come to an end, because the run was stopped, or have not yet.
LOST = """
CREATE TABLE lost_tries (
    cell           TEXT NOT NULL,
    episode        INTEGER NOT NULL,
    model          TEXT NOT NULL,
    prompt_tokens  INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    counted        INTEGER NOT NULL
) STRICT;
"""

_MOST = 2**53  # of seconds, dollars and tokens: sums of them are numbers
_COUNTS = " AND ".join(
    f"ifnull({kind}_tokens, 0) BETWEEN 0 AND {_MOST}" for kind in ("prompt", "cached", "written", "output", "reasoning")
)

FORM = Format(
    what="results file",
    name="results.sqlite",
    application=0x7477_7273,  # "tw" and "rs"
    version=2,
    schema="""
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
    + _CALLS,
    optional=LOST,
    impossible={
        "episodes": f"NOT seconds BETWEEN 0 AND {_MOST}",
        "calls": f"NOT (seconds BETWEEN 0 AND {_MOST} AND ifnull(usd, 0) BETWEEN 0 AND {_MOST} AND {_COUNTS})",
        "lost_tries": f"NOT (prompt_tokens BETWEEN 0 AND {_MOST} AND output_tokens BETWEEN 0 AND {_MOST})",
    },
    synchronous="FULL",
)


_COLUMNS = "cell, episode, method, seed, summary, digest, seconds"
_SUMMARY = msgspec.json.Decoder(Summary)
_AT_ONCE = 2000  # rows that are held while all are read


class EpisodeRow(NamedTuple):
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
        headline = {part.metric: part.value.value for part in self.summary.headline}
        named = {"episode": self.episode, "method": self.method, "seed": self.seed}
        return named | summary | rates | {"headline": headline}

    def _rates(self) -> list[tuple[str, Any]]:
        return [("plans", self.summary.plans), ("attempts", self.summary.attempts)]


class Results(Database):
    """The results store of one run folder.

    Args:
        path: The database file; made if it is not there.
        readonly: Only look: the file must be there, and it need not be writable.

    Raises:
        UserError: The file is not ours, damaged, or of a newer version; it is left untouched.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        super().__init__(path, FORM, readonly=readonly)

    def add(self, row: EpisodeRow) -> None:
        """Store a finished episode; on return it survives a kill."""
        self.add_all([row])

    def add_all(self, rows: Iterable[EpisodeRow]) -> None:
        """Store finished episodes, all or none; no two are of one cell and number."""
        values = [
            (r.cell, r.episode, r.method, r.seed, msgspec.json.encode(r.summary).decode(), r.digest, r.seconds)
            for r in rows
        ]
        with self.transaction() as db:
            db.executemany(f"INSERT INTO episodes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def rows(self, cell: RunCell | None = None, numbers: Sequence[int] | None = None) -> list[EpisodeRow]:
        """Return the finished episodes, of one cell or all, ordered by cell and episode.

        Args:
            cell: Of this cell alone.
            numbers: Of these episodes alone, which follow one another.
        """
        where, values = _select(cell, numbers)
        with self.reading() as db:
            rows = db.execute(f"SELECT {_COLUMNS} FROM episodes {where} ORDER BY cell, episode", values).fetchall()
        return list(self._decoded(rows))

    def each(self, cell: RunCell) -> Iterator[EpisodeRow]:
        """Yield the finished episodes of a cell in their order; few are held at a time."""
        last = -1
        while True:
            with self.reading() as db:
                rows = db.execute(
                    f"SELECT {_COLUMNS} FROM episodes WHERE cell = ? AND episode > ? ORDER BY episode LIMIT {_AT_ONCE}",
                    (cell.name, last),
                ).fetchall()
            yield from self._decoded(rows)
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1][1]

    def _decoded(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[EpisodeRow]:
        known = metrics()
        for name, episode, method, seed, text, digest, seconds in rows:
            try:
                summary = _SUMMARY.decode(text)
            except msgspec.DecodeError as error:
                raise UserError(f"{self.path} is damaged: {error}") from None
            for part in summary.headline:
                if part.metric not in known:
                    raise UserError(
                        f"{self.path} tells of '{part.metric}', which is no metric here: install what has it"
                    )
            yield EpisodeRow(name, episode, method, seed, summary, digest, seconds)

    def digests(self, cell: RunCell, numbers: Sequence[int] | None = None) -> dict[int, str]:
        """Return the digests of the logs of a cell's finished episodes, by number; arguments as of ``rows``."""
        where, values = _select(cell, numbers)
        with self.reading() as db:
            return dict(db.execute(f"SELECT episode, digest FROM episodes {where} ORDER BY episode", values).fetchall())

    def counts(self) -> dict[str, int]:
        """Return how many episodes are finished, by the name of the cell; of those that have any."""
        with self.reading() as db:
            return dict(db.execute("SELECT cell, count(*) FROM episodes GROUP BY cell").fetchall())


def _select(cell: RunCell | None, numbers: Sequence[int] | None) -> tuple[str, tuple[str | int, ...]]:
    """Return a condition in SQL with its values."""
    if cell is None:
        return "", ()
    if numbers is None:
        return "WHERE cell = ?", (cell.name,)
    return "WHERE cell = ? AND episode BETWEEN ? AND ?", (cell.name, min(numbers), max(numbers))
