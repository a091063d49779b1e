"""A cache of answers across runs: a call that was paid for once is free in every later run that makes the same.

The same is: the same request, byte for byte, at the same place of an episode with the same number and seed. Where two
agents, or two seeds, send equal requests, each gets an answer of its own, so samples stay independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar

import msgspec

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import CallKey, Completion, Request
from teamworld.record.database import Database, Format
from teamworld.record.server import PATIENCE, SCHEMA, Server, is_address, login

Result = TypeVar("Result")

_FORM = Format(
    what="cache of answers",
    name="cache.sqlite",
    application=0x7477_6361,  # "tw" and "ca"
    version=1,
    schema="""
CREATE TABLE answers (
    request     TEXT NOT NULL,
    seed        INTEGER NOT NULL,
    episode     INTEGER NOT NULL,
    mind        TEXT NOT NULL,
    purpose     TEXT NOT NULL,
    number      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    model       TEXT NOT NULL,
    completion  TEXT NOT NULL,
    PRIMARY KEY (request, seed, episode, mind, purpose, number, attempt)
) STRICT;
""",
)
_KEY = ("request", "seed", "episode", "mind", "purpose", "number", "attempt")


def _find(table: str, mark: str) -> str:
    return f"SELECT completion FROM {table} WHERE {' AND '.join(f'{column} = {mark}' for column in _KEY)}"


def _add(table: str, mark: str) -> str:
    columns = (*_KEY, "model", "completion")
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join([mark] * len(columns))}) ON CONFLICT DO NOTHING"
    )


class AnswerTable(Protocol):
    """Where answers are kept."""

    def find(self, place: Sequence[object]) -> str | None:
        """Return the answer at a place, in the order of ``_KEY``; None if there is none; raises ``UserError``."""

    def add(self, values: Sequence[object]) -> None:
        """Keep place, model and answer, unless there is an answer; raises ``UserError``."""

    def close(self) -> None:
        """Let go of it."""


class FileAnswers(Database):
    """Answers in a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _FORM)

    def find(self, place: Sequence[object]) -> str | None:
        """See ``AnswerTable``."""
        with self.reading() as db:
            row = db.execute(_find("answers", "?"), place).fetchone()
        return None if row is None else row[0]

    def add(self, values: Sequence[object]) -> None:
        """See ``AnswerTable``."""
        with self.transaction() as db:
            db.execute(_add("answers", "?"), values)


class ServerAnswers(Server):
    """Answers on a PostgreSQL server."""

    def find(self, place: Sequence[object]) -> str | None:
        """See ``AnswerTable``."""
        rows = self.execute(_find(f"{SCHEMA}.answers", "%s"), place)
        return rows[0][0] if rows else None

    def add(self, values: Sequence[object]) -> None:
        """See ``AnswerTable``."""
        self.execute(_add(f"{SCHEMA}.answers", "%s"), values)


class AnswerCache:
    """Answers of earlier runs in one file, which several processes may use at the same time, or on a server.

    Args:
        where: The file, made if it is not there, in a folder that is; or the address of a PostgreSQL server.
        patience: Seconds to wait for a server that does not answer any more.
        notice: Gets a line when waiting begins.

    Raises:
        UserError: The file is not ours, damaged, or of a newer version, and left untouched. The server cannot be used.
    """

    def __init__(
        self, where: Path | str, patience: float = PATIENCE, notice: Callable[[str], None] = lambda line: None
    ) -> None:
        self._server = ServerAnswers(login(str(where)), _FORM.what, patience, notice) if is_address(where) else None
        self._table: AnswerTable = self._server or FileAnswers(Path(where))
        self._where = Path(where) if self._server is None else self._server.address

    def of(self, seed: int, episode: int) -> EpisodeCache:
        """Return the answers that an episode may use."""
        return EpisodeCache(self, seed, episode)

    def find(self, place: Sequence[object]) -> Completion | None:
        """Return the answer at a place, None if there is none; raises ``UserError``."""
        text = self._table.find(place)
        try:
            return None if text is None else msgspec.json.decode(text, type=Completion)
        except msgspec.DecodeError as error:
            raise UserError(f"{self._where} is damaged ({error}): use another --cache") from None

    def add(self, values: Sequence[object]) -> None:
        """Keep an answer; where another process was faster, its answer stays; raises ``UserError``."""
        self._table.add(values)

    async def aside(self, work: Callable[..., Result], *values: object) -> Result:
        """Look something up or keep it; where that is on a server, the event loop goes on meanwhile."""
        return work(*values) if self._server is None else await self._server.aside(work, *values)

    def close(self) -> None:
        """Let go of it; closing twice does nothing."""
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class EpisodeCache:
    """The answers that one episode may use; see ``AnswerCache.of``."""

    def __init__(self, cache: AnswerCache, seed: int, episode: int) -> None:
        self._cache = cache
        self._place = (seed, episode)
        self.aside = cache.aside

    def find(self, key: CallKey, request: Request) -> Completion | None:
        """Return the answer to a request, None if there is none; raises ``UserError``."""
        return self._cache.find((request.digest(), *self._place, *key))

    def add(self, key: CallKey, request: Request, completion: Completion) -> None:
        """Keep an answer that is whole; one that was cut off or refused is asked for again by a later run."""
        if completion.finish == "stop":
            text = msgspec.json.encode(completion).decode()
            self._cache.add((request.digest(), *self._place, *key, request.model, text))
