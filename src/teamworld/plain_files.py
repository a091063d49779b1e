"""Files that somebody else may have put there: read only where they are plain files, written never through a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from teamworld.errors import UserError

_SHOWN = 200  # characters of a path
_LOGS, _MOST_LOGS = "logs", 10_000  # that are looked at before they are opened


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading in binary.

    Raises:
        UserError: It is a pipe, a device or the like, which may never end.
        OSError: It cannot be opened.
    """
    # Without waiting: a pipe that nobody writes to would hold everything up before it can be looked at.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise UserError(f"{path} is no file that can be read: expected a plain file")
    return os.fdopen(descriptor, "rb")


def read_file(path: Path, most: int | None = None) -> bytes:
    """Return what is in a file.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        UserError: It is no plain file, or larger.
        OSError: It cannot be read.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            raise UserError(f"{path} is too large: expected at most {most:,} bytes, got {size:,}")
        return file.read()


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole: a kill leaves the one before, or none, and a draft beside it.

    A link in its place is replaced and never written through.
    """
    draft = path.with_name(f"{path.name}.tmp")
    draft.unlink(missing_ok=True)
    with draft.open("xb") as file:  # only if nothing is there, so through no link either
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def file_state(path: Path) -> tuple[int, int] | None:
    """Return bytes and time of the last change (ns) of a file; what lies ahead of a database counts to its bytes.

    None where there is no such file.
    """
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    try:
        ahead = path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        ahead = 0
    return seen.st_size + ahead, seen.st_mtime_ns


def check_inside(folder: Path) -> None:
    """See that nothing in a folder leads out of it or is no plain file: what others made may be made to mislead.

    The folder itself may be a link. Of logs, which may be a million, the first ten thousand are looked at; all others
    when they are opened, see ``check_link`` and ``open_file``.

    Raises:
        UserError: One line on the first that does.
    """
    root = os.path.realpath(folder)
    logs: list[str] = []
    for entry in chain(_list_entries([root], logs), islice(_list_entries(logs), _MOST_LOGS)):
        if entry.is_symlink():
            check_link(Path(entry.path), folder)
        elif not entry.is_file(follow_symlinks=False):
            raise UserError(f"{entry.path} is neither a file nor a folder: take it away")


def check_link(path: Path, folder: Path) -> None:
    """See that a link in a folder does not lead out of it; raises ``UserError``."""
    root = os.path.realpath(folder)
    if os.path.commonpath((root, os.path.realpath(path))) != root:
        raise UserError(f"{path} is a link out of {folder}: take it away, or put what it names in its place")


def list_files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and in those within it, in no order, logs aside; links are not followed.

    Raises:
        UserError: A folder cannot be read.
    """
    return (Path(entry.path) for entry in _list_entries([str(folder)], []) if entry.is_file(follow_symlinks=False))


def _list_entries(folders: list[str], logs: list[str] | None = None) -> Iterator[os.DirEntry[str]]:
    """Yield all in some folders and those in them but the folders themselves; links are not followed.

    Args:
        folders: Where to look.
        logs: Takes the folders in those named ``logs``, which are left out; None: they are looked into.
    """
    folders = list(folders)
    while folders:
        folder = folders.pop()
        of_logs = logs is not None and os.path.basename(folder) == _LOGS
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        (logs if logs is not None and of_logs else folders).append(entry.path)
                    else:
                        yield entry
        except OSError as error:  # folders in folders without end have no path, among others
            raise UserError(f"{folder[:_SHOWN]} cannot be read: {error.strerror}") from None
