"""Opening our SQLite files without ever harming a file that is not one, and errors in plain words."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from teamworld.errors import UserError


class Format(NamedTuple):
    """One kind of database file."""

    what: str
    """What it is, in words: ``world model``."""
    name: str
    """What it is called in a run's folder: ``memory.sqlite``."""
    application: int
    """PRAGMA application_id."""
    version: int
    """PRAGMA user_version, the version of ``schema``; a reader refuses newer ones."""
    schema: str
    """SQL that makes an empty one."""
    synchronous: str = "NORMAL"
    """PRAGMA synchronous: FULL where a commit must survive a power cut."""
    upgrades: Mapping[int, str] = MappingProxyType({})
    """By older version, the one statement that makes the next one of it; other older versions never existed."""


_WAIT = 30.0  # seconds to wait for another process's transaction
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100  # bytes; fields below are offsets into it (sqlite.org/fileformat2.html, section 1.3)
_USER_VERSION, _APPLICATION_ID = 60, 68
_RESUME = "then give the same command again; nothing that was stored is lost"


class Database:
    """One connection to a file of one kind; creates the file where there is none.

    Whose file it is and its version are read from its header before SQLite gets to see it, because
    SQLite writes beside a file even to read it, and would bring a foreign one up to date.

    Args:
        path: The file; its folder exists.
        form: Its kind.
        readonly: Only look: the file must exist, and neither it nor its folder need be writable. Nothing
            is written, unless a write-ahead log lies beside the file because others have it open or were
            killed: then SQLite reads through the log's index (``-shm``), and makes one if there is none.
            Read no longer than needed: a writer that opens the file afterwards cannot know of the reader.

    Raises:
        UserError: Not of this kind, of a newer version, damaged, or not writable (with ``readonly``: not
            there). The file is left as it was.
    """

    def __init__(self, path: Path, form: Format, *, readonly: bool = False) -> None:
        self.path = path
        self._form = form
        self._readonly = readonly
        with self._explained():
            if not readonly and not path.exists():
                _create(path, form)
            _check_header(path, form)
            if not readonly:
                _check_writable(path)
            target = _read_uri(path) if readonly else path
            # In a notebook episodes are played in a thread of their own, while whoever opened this waits for them.
            self._db = sqlite3.connect(
                target, timeout=_WAIT, isolation_level=None, uri=readonly, check_same_thread=False
            )
            try:
                self.version = _check_body(path, form, self._db)
                """Of the file's schema: older than the form's only where the file is just read."""
                if not readonly:
                    self.version = _upgrade(form, self._db)
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
            if self._readonly:
                self._db.close()
                return
            try:
                # Readers elsewhere may hold the last commits back: then the last one to close does it.
                self._db.execute("PRAGMA busy_timeout = 1000")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.ProgrammingError:
                return  # closed before
            finally:
                self._db.close()

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path, self._form, readonly=self._readonly)


@contextmanager
def explained(path: Path, form: Format, *, readonly: bool = False) -> Iterator[None]:
    """Turn what the disk or SQLite refuses into one line for the user; errors of the program pass."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} {_in_words(error, form, readonly)}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be used as {form.what}: {error.strerror or error}") from None


def _in_words(error: sqlite3.DatabaseError, form: Format, readonly: bool) -> str:
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
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged(str(error), form)
        case sqlite3.SQLITE_IOERR:
            return f"cannot be read or written ({error}): check the disk, {_RESUME}"
    return f"cannot be used as {form.what}: {error}"


def _damaged(why: str, form: Format) -> str:
    return f"is damaged ({why}): put back a copy of it, or move it away to start with an empty {form.what}"


def _check_header(path: Path, form: Format) -> None:
    """Refuse what is not of this kind and a known version; reads 100 bytes and touches nothing."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header.startswith(_MAGIC):
        raise UserError(f"{path} is not a {form.what}: expected a {form.name} of teamworld; name another file")
    if len(header) < _HEADER:
        raise UserError(f"{path} {_damaged(f'it ends after {len(header)} bytes', form)}")
    if _number(header, _APPLICATION_ID, 4) != form.application:
        raise UserError(f"{path} is a database of another program: expected a {form.name}; name another file")
    _check_version(path, form, _number(header, _USER_VERSION, 4))


def _number(header: bytes, offset: int, size: int) -> int:
    return int.from_bytes(header[offset : offset + size], "big")


def _check_version(path: Path, form: Format, version: int) -> None:
    if version > form.version:
        raise UserError(
            f"{path} was written by a newer teamworld ({form.what} format {version}, "
            f"this one reads up to {form.version}): upgrade it"
        )
    if version != form.version and version not in form.upgrades:
        raise UserError(f"{path} {_damaged(f'{form.what} format {version} never existed', form)}")


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


def _check_writable(path: Path) -> None:
    for needed in (path, path.parent):
        if not os.access(needed, os.W_OK):
            raise UserError(f"{path} cannot be written: allow writing to {needed}, {_RESUME}")


def _check_body(path: Path, form: Format, connection: sqlite3.Connection) -> int:
    """Return the version of the file's schema, having looked at all of the file."""
    connection.execute("PRAGMA query_only = ON")  # looking must not repair or change anything
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    _check_version(path, form, version)
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise UserError(f"{path} {_damaged(found, form)}")
    connection.execute("PRAGMA query_only = OFF")
    return version


def _upgrade(form: Format, connection: sqlite3.Connection) -> int:
    """Bring an older file up to date, all or nothing, and return its version now."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == form.version:
        return form.version  # the usual case takes no lock
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: of several processes that open the file together, the first brings it up to date.
        for version in range(connection.execute("PRAGMA user_version").fetchone()[0], form.version):
            connection.execute(form.upgrades[version])
        connection.execute(f"PRAGMA user_version = {form.version}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return form.version


def _create(path: Path, form: Format) -> None:
    """Make an empty file of this kind under another name and put it in place whole.

    So a kill leaves no half-made file behind, and of several processes that start together the first
    wins while the others use what it made.
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
