"""Opening the world model's file without ever harming a file that is not one, and errors in plain words."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from teamworld.errors import UserError

#: PRAGMA application_id of the file: "tw" and "wm".
APPLICATION = 0x7477_776D
#: PRAGMA user_version: the version of ``schema.sql``. A reader refuses newer ones.
FORMAT = 1

_WAIT = 30.0  # seconds to wait for another process's transaction
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100  # bytes; fields below are offsets into it (sqlite.org/fileformat2.html, section 1.3)
_USER_VERSION, _APPLICATION_ID = 60, 68
_RESUME = "then give the same command again; nothing that was stored is lost"


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to the file; creates it where there is none.

    Whose file it is and its version are read from its header before SQLite gets to see it, because
    SQLite writes beside a file even to read it, and would bring a foreign one up to date.

    Raises:
        UserError: Not a world model, of a newer version, damaged, or not writable.
    """
    with explained(path):
        if not path.exists():
            _create(path)
        _check_header(path)
        _check_writable(path)
        connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        try:
            _check_body(path, connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the disk or SQLite refuses into one line for the user; errors of the program pass."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        raise UserError(f"{path} {_in_words(error)}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be used as world model: {error.strerror or error}") from None


def _in_words(error: sqlite3.DatabaseError) -> str:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:  # the primary code; the rest says more than is needed
        case sqlite3.SQLITE_FULL:
            return f"cannot be written: the disk is full; make room, {_RESUME}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot be written ({error}): allow writing to it and to its folder, {_RESUME}"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"is held by another process for more than {_WAIT:.0f} s: stop that one, {_RESUME}"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged(str(error))
        case sqlite3.SQLITE_IOERR:
            return f"cannot be read or written ({error}): check the disk, {_RESUME}"
    return f"cannot be used as world model: {error}"


def _damaged(why: str) -> str:
    return f"is damaged ({why}): put back a copy of it, or move it away to start with an empty world model"


def _check_header(path: Path) -> None:
    """Refuse what is not a world model of a known version; reads 100 bytes and touches nothing."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header.startswith(_MAGIC):
        raise UserError(f"{path} is not a world model: expected a memory.sqlite of teamworld; name another file")
    if len(header) < _HEADER:
        raise UserError(f"{path} {_damaged(f'it ends after {len(header)} bytes')}")
    if _number(header, _APPLICATION_ID, 4) != APPLICATION:
        raise UserError(f"{path} is a database of another program: expected a memory.sqlite; name another file")
    _check_version(path, _number(header, _USER_VERSION, 4))


def _number(header: bytes, offset: int, size: int) -> int:
    return int.from_bytes(header[offset : offset + size], "big")


def _check_version(path: Path, version: int) -> None:
    if version > FORMAT:
        raise UserError(
            f"{path} was written by a newer teamworld (memory format {version}, "
            f"this one reads up to {FORMAT}): upgrade it"
        )
    if version != FORMAT:
        raise UserError(f"{path} {_damaged(f'memory format {version} never existed')}")


def _check_writable(path: Path) -> None:
    for needed in (path, path.parent):
        if not os.access(needed, os.W_OK):
            raise UserError(f"{path} cannot be written: allow writing to {needed}, {_RESUME}")


def _check_body(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")  # looking must not repair or change anything
    _check_version(path, connection.execute("PRAGMA user_version").fetchone()[0])
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise UserError(f"{path} {_damaged(found)}")
    connection.execute("PRAGMA query_only = OFF")


def _create(path: Path) -> None:
    """Make an empty world model under another name and put it in place whole.

    So a kill leaves no half-made file behind, and of several processes that start together the first
    wins while the others use what it made.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            schema = (files("teamworld.memory") / "schema.sql").read_text("utf-8")
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; {schema} COMMIT;"
            )
            # Last, and without anything in the log yet: the header that ``_check_header`` reads is complete.
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
