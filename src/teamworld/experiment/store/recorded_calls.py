"""The calls of language models that a run has made, in its results file: none is lost, none is paid twice."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.results import FORM, LOST
from teamworld.metrics.event_table import CallRow
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.budget import Price, Spent, UsageTotal, spent_by, spent_on
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Completion, Fault, Form, Request, Turn, Usage, is_lost
from teamworld.reasoning.llm.expense import Expense, call_expenses
from teamworld.reasoning.llm.prices import Prices
from teamworld.record.database import Database

Finish: TypeAlias = Literal["stop", "length", "refused"]

_QUESTION = "cell, episode, mind, purpose, number"
_KEY = f"{_QUESTION}, attempt"
_RECORD = (
    "request, text, finish, served, prompt_tokens, cached_tokens, written_tokens, output_tokens, reasoning_tokens,"
    " seconds, usd, faults, cached"
)
_ADD = f"INSERT INTO calls ({_KEY}, model, digest, {_RECORD}) VALUES ({', '.join('?' * 21)})"
_FIND = (
    f"SELECT {_RECORD} FROM calls"
    " WHERE cell = ? AND episode = ? AND mind = ? AND purpose = ? AND number = ? AND attempt = ?"
)
#: A call of one try of which everything was counted: most of them, and no JSON need be read for it.
_PLAIN = "finish IS NOT NULL AND faults = '[]' AND prompt_tokens + output_tokens IS NOT NULL"
_OF_EPISODE = "WHERE cell = ? AND episode = ?"
_COUNTS, _GROUPED = "cell, episode, count(*)", "GROUP BY cell, episode"
#: What of a request is one value, in words.
_WORDS = {
    "model": "model",
    "form": "form of the answer",
    "answer": "answer's model",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "token limit",
    "seed": "sampling seed",
}
_SHOWN = 40  # characters of a text before and after its first change


def price_of(row: CallRow, prices: Prices) -> float | None:
    """Return what a call cost in USD: as on record, else at what is known now; None where no price is known."""
    if row.usd is not None or row.finish is None or row.cached or row.model == HUMAN:
        return row.usd
    usage = Usage(
        prompt=row.prompt_tokens, cached=row.cached_tokens, written=row.written_tokens, output=row.output_tokens
    )
    return prices.price(row.model, row.served or "", usage)


class CallStore(Database):
    """The calls of one run; one of it serves all episodes of a process.

    A call that was added survives a kill of the process at any moment after: it stands in the write-ahead log,
    which the operating system holds. A power cut may take the last calls along (``synchronous = NORMAL``), as
    long as no episode was finished after them, and never damages the file.

    Args:
        path: The run's ``results.sqlite``; made if it is not there.
        readonly: Only look: the file must be there, and it need not be writable.

    Raises:
        UserError: The file is not ours, damaged, or of a newer version; it is left untouched.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        super().__init__(path, FORM._replace(synchronous="NORMAL"), readonly=readonly)

    def of(self, cell: RunCell, episode: int) -> EpisodeCalls:
        """Return the calls of one episode."""
        return EpisodeCalls(self, cell.name, episode)

    def rows(self, cell: RunCell | None = None, episode: int | None = None) -> list[CallRow]:
        """Return the calls of the run, a cell or an episode, ordered by their keys; they may go on growing."""
        names = (name for name in CallRow._fields if name not in CallRow._field_defaults)
        columns = ", ".join({"respondent": "mind"}.get(name, name) for name in names)
        rows = [CallRow(*row) for row in self._select(columns, f"ORDER BY {_KEY}", cell, episode)]
        return [self._read_faults(row._replace(cached=bool(row.cached))) for row in rows]

    def _read_faults(self, row: CallRow) -> CallRow:
        """Return a row, which holds its faults as JSON, with their number and what those tries took."""
        try:
            faults = msgspec.json.decode(cast("str", row.faults), type=tuple[Fault, ...])
        except msgspec.DecodeError as error:
            raise _damaged(self, f"the record of a call in episode {row.episode} of {row.cell}", error) from None
        taken = [fault.usage for fault in faults if fault.usage is not None]
        return row._replace(
            faults=len(faults),
            lost_prompt_tokens=sum(usage.prompt or 0 for usage in taken),
            lost_output_tokens=sum(usage.output or 0 for usage in taken),
            uncounted_tries=sum(usage.prompt is None or usage.output is None for usage in taken),
        )

    def records(self, cell: RunCell, episode: int | None = None) -> list[tuple[int, CallKey, CallRecord]]:
        """Return the calls of a cell or of an episode of it, whole, each with its episode and its key, in order."""
        rows = self._select(f"episode, mind, purpose, number, attempt, {_RECORD}", f"ORDER BY {_KEY}", cell, episode)
        return [(row[0], CallKey(*row[1:5]), self._read(row[5:])) for row in rows]

    def add_all(self, calls: Iterable[tuple[str, int, CallKey, CallRecord]]) -> None:
        """Put calls on record, all or none: name of the cell, episode, key and record; no key is there yet."""
        with self.transaction() as db:
            db.executemany(_ADD, [_columns((cell, episode), key, record) for cell, episode, key, record in calls])

    def count(self, cell: RunCell | None = None, episode: int | None = None) -> int:
        """Return how many calls are on record."""
        rows = self._select("count(*)", "", cell, episode)
        return int(rows[0][0]) if rows else 0

    def form(self, model: str) -> Form | None:
        """Return how the form of an answer was asked of a model so far, None if it was asked nothing."""
        request = self._request(model, "TRUE")
        return None if request is None else request.form

    def answered(self, model: str) -> Request | None:
        """Return a request that a model answered, None if it has answered nothing."""
        return self._request(model, "finish = 'stop'")

    def _request(self, model: str, condition: str) -> Request | None:
        with self.reading() as db:
            query = f"SELECT request FROM calls WHERE model = ? AND {condition} LIMIT 1"
            row = db.execute(query, (model,)).fetchone()
        try:
            return None if row is None else msgspec.json.decode(row[0], type=Request)
        except msgspec.DecodeError as error:
            raise _damaged(self, f"a request to {model}", error) from None

    def spent(self, price: Price, cell: RunCell | None = None, episode: int | None = None) -> Spent:
        """Return what the calls on record took, for a budget that goes on from there.

        Args:
            price: Of what nobody counted, and of calls that were made before a price was known.
            cell: Of this cell alone.
            episode: Of this episode alone.
        """
        paid = f"NOT cached AND model <> '{HUMAN}'"
        sums = (
            "total(usd), total(usd > 0), total(prompt_tokens + output_tokens), total(prompt_tokens + output_tokens > 0)"
        )
        usd, priced, tokens, calls = self._select(sums, "", cell, episode, paid, _PLAIN)[0]
        total = Spent(UsageTotal(usd, 0.0, int(priced)), UsageTotal(tokens, 0.0, int(calls)))
        counts = "model, served, prompt_tokens, cached_tokens, written_tokens, output_tokens"
        for model, served, *columns in self._select(counts, "", cell, episode, paid, _PLAIN, "usd IS NULL"):
            usage = Usage(**dict(zip(("prompt", "cached", "written", "output"), columns, strict=True)))
            if later := price(model, served, usage):
                total = total.plus(Spent(usd=UsageTotal(later, 0.0, 1)))
        for row in self._select(_RECORD, "", cell, episode, paid, f"NOT ({_PLAIN})"):
            total = total.plus(spent_by(self._read(row), price))
        for model, expense in self.lost(cell, episode):
            spent = spent_on(expense, price(model, "", expense.usage))
            total = total.plus(spent).plus(spent.call_count)
        return total

    def counts(self, cell: RunCell | None = None) -> dict[tuple[str, int], int]:
        """Return how many calls and tries that came to nothing are on record, by cell and episode."""
        total: Counter[tuple[str, int]] = Counter()
        for table in ("calls", "lost_tries"):
            with self.reading() as db:
                is_there = table == "calls" or _has_lost(db)
            for name, episode, number in self._select(_COUNTS, _GROUPED, cell, None, table=table) if is_there else ():
                total[name, episode] += number
        return dict(total)

    def take_over(self, other: CallStore, name: str, episode: int) -> None:
        """Put what another run has on record of an episode in place of what this one has, all or nothing."""
        copied: dict[str, list[Any]] = {}
        with other.reading() as db:
            for table in ("calls", *(["lost_tries"] if _has_lost(db) else [])):
                copied[table] = db.execute(f"SELECT * FROM {table} {_OF_EPISODE}", (name, episode)).fetchall()
        with self.transaction() as db:
            if copied.get("lost_tries") and not _has_lost(db):
                db.execute(LOST)
            for table in ("calls", *(["lost_tries"] if _has_lost(db) else [])):
                db.execute(f"DELETE FROM {table} {_OF_EPISODE}", (name, episode))
                for row in copied.get(table, ()):
                    db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def failed(self) -> set[tuple[str, int]]:
        """Return cell and episode of the calls that no try got through for."""
        return {question[:2] for question in self._failed()}

    def _failed(self) -> list[tuple[str, int, str, str, int]]:
        """Return cell, episode, respondent, purpose and number of the questions with a call that failed."""
        rows = self._select(f"{_QUESTION}, {_RECORD}", "", None, None, f"finish IS NULL AND model <> '{HUMAN}'")
        return [tuple(row[:5]) for row in rows if is_lost(self._read(row[5:]))]

    def forget_failed(self, finished: Collection[tuple[str, int]]) -> None:
        """Forget the questions with a call that failed, so that they are asked again; what they took stays on record.

        Args:
            finished: Cell and episode of those that came to their end all the same: they are left as they are.
        """
        for question in self._failed():
            if question[:2] in finished:
                continue
            of_question = f"WHERE ({_QUESTION}) = (?, ?, ?, ?, ?)"
            with self.transaction() as db:
                calls = [self._read(row) for row in db.execute(f"SELECT {_RECORD} FROM calls {of_question}", question)]
                expenses = [(call.request.model, expense) for call in calls for expense in call_expenses(call)]
                for model, expense in expenses:
                    _keep_lost(db, question[:2], model, expense)
                db.execute(f"DELETE FROM calls {of_question}", question)

    def _read(self, row: Sequence[Any]) -> CallRecord:
        try:
            return _record(*row)
        except msgspec.DecodeError as error:
            raise _damaged(self, "the record of a call", error) from None

    def lost(self, cell: RunCell | None = None, episode: int | None = None) -> list[tuple[str, Expense]]:
        """Return the model and what it took of each try whose call never came to an end: the run stopped."""
        with self.reading() as db:
            if not _has_lost(db):
                return []
        rows = self._select("model, prompt_tokens, output_tokens, counted", "", cell, episode, table="lost_tries")
        return [(model, Expense(Usage(prompt=prompt, output=output), bool(c))) for model, prompt, output, c in rows]

    def _select(
        self, what: str, end: str, cell: RunCell | None, episode: int | None, *where: str, table: str = "calls"
    ) -> list[Any]:
        filters = {"cell = ?": cell and cell.name, "episode = ?": episode}
        filters = {condition: value for condition, value in filters.items() if value is not None}
        conditions = " AND ".join((*filters, *where)) or "TRUE"
        with self.reading() as db:
            query = f"SELECT {what} FROM {table} WHERE {conditions} {end}"
            return db.execute(query, tuple(filters.values())).fetchall()


class EpisodeCalls:
    """The calls of one episode that are on record; see ``CallStore.of``."""

    def __init__(self, db: Database, cell: str, episode: int) -> None:
        self.db = db
        self.place = (cell, episode)
        """Of the episode: name of its cell, and its number."""

    def find(self, key: CallKey, request: Request | None = None) -> CallRecord | None:
        """Return what is on record for a call, None if nothing.

        Args:
            key: Which call.
            request: What would be sent now, if what is on record has to answer just that.

        Raises:
            UserError: The record is damaged, or answers another request.
        """
        with self.db.reading() as db:
            row = db.execute(_FIND, (*self.place, *key)).fetchone()
        if row is None:
            return None
        try:
            record = _record(*row)
        except msgspec.DecodeError as error:
            raise _damaged(self.db, f"the record of {self.name(key)}", error) from None
        difference = None if request is None else changed(record.request, request)
        if difference is not None:
            raise UserError(
                f"{self.name(key)} was another request when it was recorded: {difference}; go back to that version, or "
                "start anew with another --out"
            )
        return record

    def add(self, key: CallKey, record: CallRecord, lost: Sequence[int] = ()) -> None:
        """Put a call on record; on return it survives a kill of this process.

        Args:
            key: Which call.
            record: What came of it.
            lost: What ``lose`` returned of its tries, which stand in the record from now on.

        Raises:
            RuntimeError: The call is on record already: somebody did not look, and it was paid twice.
        """
        try:
            with self.db.transaction() as db:
                db.execute(_ADD, _columns(self.place, key, record))
                for row in lost:
                    db.execute("DELETE FROM lost_tries WHERE rowid = ?", (row,))
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
                raise
            raise RuntimeError(f"{self.name(key)} is on record already: it was paid twice") from None

    def lose(self, model: str, expense: Expense) -> int:
        """Put on record what a try took that came to nothing, and return a number for it: the run may stop here."""
        with self.db.transaction() as db:
            return _keep_lost(db, self.place, model, expense)

    def name(self, key: CallKey) -> str:
        """Return what a call is called in a message."""
        cell, episode = self.place
        again = f", re-ask {key.attempt}" if key.attempt else ""
        return f"call {key.purpose} {key.number} of {key.respondent}{again}, episode {episode} of {cell}"


class NotRecorded(UserError):
    """A call is not on record, and nobody is asked."""


class ForkedCalls(EpisodeCalls):
    """The calls of a fork: what is asked as in the episode that it is a fork of is answered as there, at no cost.

    Args:
        calls: What the fork has on record.
        source: The other episode's; None where that run is gone.
        first: So many calls were made before the first change: what they are has to be on record.
    """

    def __init__(self, calls: EpisodeCalls, source: EpisodeCalls | None, first: int) -> None:
        super().__init__(calls.db, *calls.place)
        self._source, self._first = source, first
        self._asked = 0

    def find(self, key: CallKey, request: Request | None = None) -> CallRecord | None:
        """Return what is on record for a call, copied from the other episode if it stands only there; else None.

        Raises:
            NotRecorded: It is before the first change and not on record: nothing is to be paid for there.
            UserError: The record is damaged, or answers another request.
        """
        self._asked += 1
        record = super().find(key, request)
        if record is not None or request is None:
            return record
        original = None if self._source is None else self._source.find(key)
        difference = "there is no such call" if original is None else changed(original.request, request)
        if original is not None and difference is None:
            record = msgspec.structs.replace(original, cached=True)
            self.add(key, record)
            return record
        if self._asked <= self._first:
            raise NotRecorded(
                f"{self.name(key)} is before the change, and not on record as it is asked now ({difference}): the code "
                "has changed since, or the record of the run is gone"
            )
        return None


class RecordedCalls:
    """The calls of an episode that is replayed: what is not on record cannot be answered.

    Args:
        calls: What this run has on record.
        source: The same episode's record in another run, copied from as calls are asked for; they cost nothing here.
    """

    def __init__(self, calls: EpisodeCalls, source: EpisodeCalls | None = None) -> None:
        self._calls = calls
        self._source = source

    def find(self, key: CallKey, request: Request) -> CallRecord:
        """Return what is on record for a call.

        Raises:
            NotRecorded: Nothing is.
            UserError: What is answers another request, or is damaged.
        """
        record = self._calls.find(key, request)
        if record is None and self._source is not None:
            original = self._source.find(key, request)
            if original is not None:
                record = msgspec.structs.replace(original, cached=True)
                self._calls.add(key, record)
        if record is None:
            raise NotRecorded(
                f"{self._calls.name(key)} is not on record: a replay asks no model; the record ends before it, or is of"
                " another version, or was altered"
            )
        return record

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        """As ``find``, for a language model."""
        return self.find(key, request)

    def add(self, key: CallKey, record: CallRecord) -> None:
        """Refuse: a replay makes no calls."""
        raise RuntimeError(f"{self._calls.name(key)} was made during a replay")


def _has_lost(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'lost_tries'").fetchone() is not None


def _keep_lost(db: sqlite3.Connection, place: tuple[str, int], model: str, tried: Expense) -> int:
    """Put on record what a try took that stands in no call, and return its row."""
    if not _has_lost(db):
        db.execute(LOST)
    values = (*place, model, tried.usage.prompt, tried.usage.output, tried.counted)
    row = db.execute("INSERT INTO lost_tries VALUES (?, ?, ?, ?, ?, ?)", values).lastrowid
    assert row is not None  # it was put in
    return row


def _columns(place: tuple[str, int], key: CallKey, record: CallRecord) -> tuple[object, ...]:
    """Return the row of a call."""
    request, done = record.request, record.completion
    usage = done.usage if done else Usage()
    return (
        *place,
        *key,
        request.model,
        request.digest(),
        msgspec.json.encode(request).decode(),
        *((done.text, done.finish, done.served) if done else (None, None, None)),
        *(usage.prompt, usage.cached, usage.written, usage.output, usage.reasoning),
        *(record.seconds, record.usd, msgspec.json.encode(record.faults).decode(), record.cached),
    )


def _damaged(db: Database, what: str, error: msgspec.DecodeError) -> UserError:
    return UserError(f"{db.path} is damaged: {what} does not parse ({error}): put back a copy")


def _record(request: str, text: str | None, finish: Finish | None, served: str | None, *rest: Any) -> CallRecord:
    *counts, seconds, usd, faults, cached = rest
    if (text is None) != (finish is None) or (served is None) != (finish is None):
        raise msgspec.DecodeError("half an answer")
    names = ("prompt", "cached", "written", "output", "reasoning")
    usage = Usage(**dict(zip(names, counts, strict=True)))
    return CallRecord(
        request=msgspec.json.decode(request, type=Request),
        completion=Completion(text=text or "", finish=finish, usage=usage, served=served or "") if finish else None,
        faults=msgspec.json.decode(faults, type=tuple[Fault, ...]),
        seconds=seconds,
        usd=usd,
        cached=bool(cached),
    )


def changed(recorded: Request, current: Request) -> str | None:
    """Return in one line what differs between a request on record and the one that would be sent now.

    None if nothing does, which is when their digests are equal.
    """
    if recorded.digest() == current.digest():
        return None
    parts = [
        f"the {words} was {getattr(recorded, name)}, now {getattr(current, name)}"
        for name, words in _WORDS.items()
        if getattr(recorded, name) != getattr(current, name)
    ]
    before, after = (msgspec.json.encode(request.schema, order="sorted").decode() for request in (recorded, current))
    if before != after:
        parts.append(f"the answer's schema {_change(before, after)}")
    if recorded.turns != current.turns:
        parts.append(_prompt_change(recorded.turns, current.turns))
    return "; ".join(parts)


def _prompt_change(before: Sequence[Turn], after: Sequence[Turn]) -> str:
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        if old != new:
            texts = (
                (old.text, new.text) if old.role == new.role else (f"{old.role}: {old.text}", f"{new.role}: {new.text}")
            )
            return f"the prompt's turn {number} ({new.role}) {_change(*texts)}"
    return f"the prompt had {len(before)} turns, now {len(after)}"


def _change(before: str, after: str) -> str:
    unlike = (at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    at = next(unlike, min(len(before), len(after)))
    begin = max(0, at - _SHOWN)
    old, new = (repr(text[begin : at + _SHOWN]) for text in (before, after))
    return f"changed at character {at}: was {old}, now {new}"
