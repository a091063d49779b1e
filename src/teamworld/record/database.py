"""Open the SQLite files of a run without harming a file that is not one, and explain errors in plain words."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

import msgspec

from teamworld.errors import UserError, brief
from teamworld.plain_files import open_file


class Format(NamedTuple):
    """One kind of database file."""

    what: str
    """What it is, in words: ``world model``."""
    name: str
    """What it is called in a run's folder: ``memory.sqlite``."""
    application: int
    """PRAGMA application_id."""
    version: int
    """PRAGMA user_version, the version of ``schema``; files of other versions are refused."""
    schema: str
    """SQL that makes an empty one."""
    optional: str = ""
    """SQL of the tables that are made when they are needed."""
    impossible: Mapping[str, str] = MappingProxyType({})
    """By table, a condition in SQL of rows that nothing writes; a file with one is damaged."""
    synchronous: str = "NORMAL"
    """PRAGMA synchronous: FULL where a commit must survive a power cut."""


_ROLLBACK_MAGIC = bytes.fromhex("d9d505f920a163d7")  # sqlite.org/fileformat2.html, section 3
_SCHEMA_SECONDS = 2.0  # for reading what is in a file, which takes far less than one
_MOST_OBJECTS = 1000
_MOST_BYTES = 2**37
#: Of files that are looked through before they are used. In larger ones, what is damaged is refused when it is read:
#: looking through a gigabyte takes seconds, each time that somebody opens one episode.
_CHECKED_BYTES = 2**27
_WAIT = 30.0  # seconds to wait for another process's transaction
_RESUME = "then give the same command again; nothing that was stored is lost"


class Database:
    """One connection to a file of one kind; creates the file where there is none.

    The kind and version of a file are read from its header before SQLite opens it, because SQLite writes beside a
    file even to read it, and would bring a foreign one up to date.

    Args:
        path: The file; its folder exists.
        form: Its kind.
        readonly: Only look: the file must exist, and neither it nor its folder need be writable. Nothing
            is written, unless a write-ahead log lies beside the file because others have it open or were
            killed: then SQLite reads through the log's index (``-shm``), and makes one if there is none.
            Read no longer than needed: a writer that opens the file afterwards cannot know of the reader.

    Raises:
        UserError: Not of this kind and version, damaged, or not writable (with ``readonly``: not there). The file
            is left as it was.
    """

    def __init__(self, path: Path, form: Format, *, readonly: bool = False) -> None:
        self.path = path
        self._form = form
        self._readonly = readonly
        with self._explained():
            if not readonly and not path.exists():
                _create(path, form)
            _check_header(path, form)
            _check_rollback_file(path)
            for needed in () if readonly else (path, path.parent):
                if not os.access(needed, os.W_OK):
                    raise UserError(f"{path} cannot be written: allow writing to {needed}, {_RESUME}")
            target = _read_uri(path) if readonly else path
            # In a notebook episodes are played in a thread of their own, while whoever opened this waits for them.
            self._db = sqlite3.connect(
                target, timeout=_WAIT, isolation_level=None, uri=readonly, check_same_thread=False
            )
            try:
                self._db.execute("PRAGMA query_only = ON")  # looking must not repair or change anything
                _check_schema(self._db, path, form)
                if path.stat().st_size <= _CHECKED_BYTES:
                    (result,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
                    if result != "ok":
                        raise UserError(f"{path} {_damaged(result, form)}")
                    _check_rows(self._db, path, form)
                self._db.execute("PRAGMA query_only = OFF")
                if not readonly:
                    self._db.execute(f"PRAGMA synchronous = {form.synchronous}")
                    self._db.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                self._db.close()
                raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Takes the write lock at once, so that it waits here and never fails half way.

        Raises:
            ProgrammingError: Opened for reading only.
        """
        if self._readonly:
            raise sqlite3.ProgrammingError(f"{self.path} was opened for reading only")
        with self._explained():
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file for several questions, whatever others write meanwhile."""
        with self._explained():
            try:
                self._db.execute("BEGIN")
                yield self._db
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Bring everything into the one file and let go of it; closing twice does nothing.

        What was opened for reading only is let go of as it is.
        """
        with self._explained():
            try:
                if not self._readonly:
                    # Readers elsewhere may hold the last commits back: then the last one to close does it.
                    self._db.execute("PRAGMA busy_timeout = 1000")
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.ProgrammingError:
                return  # closed before
            finally:
                self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the disk or of SQLite into one line for the user; errors of the program pass."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
            raise
        except sqlite3.DatabaseError as error:
            raise UserError(f"{self.path} {_describe(error, self._form, self._readonly)}") from None
        except (msgspec.ValidationError, UnicodeDecodeError) as error:
            raise UserError(f"{self.path} {_damaged(str(error), self._form)}") from None
        except OSError as error:
            raise UserError(f"{self.path} cannot be used as {self._form.what}: {error.strerror or error}") from None


def _describe(error: sqlite3.DatabaseError, form: Format, readonly: bool) -> str:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:  # the primary code; the rest says more than is needed
        case sqlite3.SQLITE_FULL:
            return f"cannot be written: the disk is full; make room, {_RESUME}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM if readonly:
            return (
                f"cannot be read ({error}): copy it and its -wal file into a folder that can be written; name the copy"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot be written ({error}): allow writing to it and to its folder, {_RESUME}"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"is held by another process for more than {_WAIT:.0f} s: stop that one, {_RESUME}"
        case sqlite3.SQLITE_INTERRUPT:
            return _damaged("the list of its tables has no end", form)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged(str(error), form)
        case sqlite3.SQLITE_IOERR:
            return f"cannot be read or written ({error}): check the disk, {_RESUME}"
    return f"cannot be used as {form.what}: {error}"


def _damaged(why: str, form: Format) -> str:
    return f"is damaged ({why}): put back a copy of it, or move it away to start with an empty {form.what}"


def _check_header(path: Path, form: Format) -> None:
    """Refuse what is not of this kind and version; reads 100 bytes and touches nothing."""
    with open_file(path) as file:
        header = file.read(100)
        size = file.seek(0, os.SEEK_END)
    if not header.startswith(b"SQLite format 3\x00"):
        raise UserError(f"{path} is not a {form.what}: expected a {form.name} of teamworld; name another file")
    # Offsets of the fields: sqlite.org/fileformat2.html, section 1.3.
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    if application != form.application:
        raise UserError(f"{path} is a database of another program: expected a {form.name}; name another file")
    if version != form.version:
        age, advice = ("a newer", "upgrade it") if version > form.version else ("an older", "run it anew")
        raise UserError(
            f"{path} was written by {age} teamworld ({form.what} format {version}, this one reads {form.version}): "
            f"{advice}"
        )
    if size > _MOST_BYTES:  # checking it takes memory by its pages, whether they hold anything or not
        raise UserError(f"{path} {_damaged(f'it has {size // 2**30} GB, more than a {form.what} may', form)}")


def _check_rollback_file(path: Path) -> None:
    """Refuse a rollback file that names another file: SQLite would delete that one, wherever it is.

    A transaction over several databases leaves such a file, and there are none here. See
    sqlite.org/atomiccommit.html, section 5.5.
    """
    for beside in {path, path.resolve()}:
        rollback = beside.with_name(f"{beside.name}-journal")
        if not rollback.exists():
            continue
        with open_file(rollback) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(_ROLLBACK_MAGIC)))
            if file.read() == _ROLLBACK_MAGIC:
                raise UserError(f"{rollback} is none of teamworld: take it away; SQLite would delete a file it names")


def _check_schema(db: sqlite3.Connection, path: Path, form: Format) -> None:
    """Refuse a file that holds other tables, or something in their place that runs code when it is read.

    Pages may be made to go in circles, so that the list of what is in the file has no end: reading it is bounded.
    """
    end = time.monotonic() + _SCHEMA_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        objects = _read_schema(db)
    finally:
        db.set_progress_handler(None, 0)
    own, optional = _list_schema(form.schema), _list_schema(form.schema + form.optional)
    for kind, name, sql in own:
        if not any((kind, name) == known[:2] for known in objects):
            raise UserError(f"{path} {_damaged(f'its {kind} {name} is missing', form)}")
        if (kind, name, sql) not in objects:
            raise UserError(f"{path} {_damaged(f'its {kind} {name} is not as it was made', form)}")
    for place, known in enumerate(objects):
        if known not in optional or known in objects[:place]:
            raise UserError(f"{path} {_damaged(f'it holds a {known[0]} {brief(known[1])}, not of teamworld', form)}")


def _check_rows(db: sqlite3.Connection, path: Path, form: Format) -> None:
    """Refuse a file with rows that nothing writes."""
    present = {name for kind, name, _ in _read_schema(db) if kind == "table"}
    for table, condition in form.impossible.items():
        if table in present and db.execute(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1").fetchone():
            raise UserError(f"{path} {_damaged(f'a row of its table {table} holds numbers that cannot be', form)}")


@lru_cache(maxsize=8)
def _list_schema(schema: str) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema)
        return _read_schema(db)


def _read_schema(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return type, name and SQL of what is in a database; indexes that come with a table are left out."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index' OR sql IS NOT NULL")
    return [(str(kind), str(name), " ".join(str(sql).split())) for kind, name, sql in rows.fetchmany(_MOST_OBJECTS)]


def _read_uri(path: Path) -> str:
    """Name the file to SQLite for reading only.

    ``immutable`` leaves out all locks and files beside it, without which SQLite reads no file in WAL mode.
    It is right only while nobody writes: a log with content holds commits that are missing in the file, and
    an empty one with its index means that another process may have the file open.
    """
    real = path.resolve()  # the log lies beside the file itself, not beside a link to it
    log, index = (real.with_name(real.name + end) for end in ("-wal", "-shm"))
    shared = log.exists() and (log.stat().st_size > 0 or index.exists())
    return f"{real.as_uri()}?mode=ro{'' if shared else '&immutable=1'}"


def _create(path: Path, form: Format) -> None:
    """Make an empty file of this kind under another name and put it in place whole.

    So a kill leaves no half-made file behind, and of several processes that start together the first
    wins while the others use its file.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = OFF")  # of a draft; it is synced once, when it is whole
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {form.application}; PRAGMA user_version = {form.version};"
                f"{form.schema} COMMIT;"
            )
            # Last, and without anything in the log yet: the header that ``_check_header`` reads is complete.
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        with draft.open("r+b") as file:
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
