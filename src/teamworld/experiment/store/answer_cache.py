"""A cache of answers across runs: a call that was paid for once is free in every later run that makes the same.

The same is: the same request, byte for byte, at the same place of an episode with the same number and seed. Where two
agents, or two seeds, send equal requests, each gets an answer of its own, so samples stay independent.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import CallKey, Completion, Request
from teamworld.record.database import Database, Format

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
_FIND = (
    "SELECT completion FROM answers WHERE request = ? AND seed = ? AND episode = ?"
    " AND mind = ? AND purpose = ? AND number = ? AND attempt = ?"
)
_ADD = "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class AnswerCache(Database):
    """Answers of earlier runs in one file, which several processes may use at the same time.

    Args:
        path: The file; made if it is not there, in a folder that is.

    Raises:
        UserError: The file is not ours, damaged, or of a newer version; it is left untouched.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, _FORM)

    def of(self, seed: int, episode: int) -> EpisodeCache:
        """Return the answers that an episode may use."""
        return EpisodeCache(self, seed, episode)


class EpisodeCache:
    """The answers that one episode may use; see ``AnswerCache.of``."""

    def __init__(self, db: Database, seed: int, episode: int) -> None:
        self._db = db
        self._place = (seed, episode)

    def find(self, key: CallKey, request: Request) -> Completion | None:
        """Return the answer to a request, None if there is none; raises ``UserError``."""
        with self._db.reading() as db:
            row = db.execute(_FIND, (request.digest(), *self._place, *key)).fetchone()
        try:
            return None if row is None else msgspec.json.decode(row[0], type=Completion)
        except msgspec.DecodeError as error:
            raise UserError(f"{self._db.path} is damaged ({error}): use another --cache") from None

    def add(self, key: CallKey, request: Request, completion: Completion) -> None:
        """Keep an answer that is whole; one that was cut off or refused is asked for again by a later run.

        Where another process was faster, its answer stays.
        """
        if completion.finish != "stop":
            return
        values = (request.digest(), *self._place, *key, request.model, msgspec.json.encode(completion).decode())
        with self._db.transaction() as db:
            db.execute(_ADD, values)
