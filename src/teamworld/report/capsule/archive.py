"""One file of many members: the same members give the same bytes, and nothing but members can be in it.

A zip of plain files, each stored as it is, in alphabetical order, of one time and mode. Without compression no member
unfolds into more than the file holds, and no version of a compressor changes a byte; what is worth compressing comes
compressed (logs, calls).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from teamworld.errors import UserError, brief
from teamworld.plain_files import open_file

_TIME: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = (stat.S_IFREG | 0o644) << 16
_UNIX: Final = 3
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=,+-]{0,199}(/[A-Za-z0-9_][A-Za-z0-9._=,+-]{0,199}){0,9}")
_MOST_MEMBERS: Final = 1_000_000
_CHUNK: Final = 1 << 20


def write_archive(path: Path, members: Mapping[str, bytes | Path]) -> None:
    """Write a file of some members, given as they are or as files; whole, or not at all.

    Raises:
        OSError: It cannot be written.
    """
    draft = path.with_name(f"{path.name}.tmp")
    draft.unlink(missing_ok=True)
    try:
        with draft.open("xb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            for name, content in sorted(members.items()):
                size = content.stat().st_size if isinstance(content, Path) else len(content)
                with target.open(_entry(name, size), "w") as member:
                    if isinstance(content, Path):
                        with open_file(content) as source:
                            shutil.copyfileobj(source, member, _CHUNK)
                    else:
                        member.write(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _entry(name: str, size: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.create_system, entry.external_attr, entry.file_size = _UNIX, _MODE, size
    return entry


class Archive:
    """The members of such a file, which somebody else may have made; see ``opened``."""

    def __init__(self, path: Path, source: zipfile.ZipFile, size: int) -> None:
        self.path = path
        self._source = source
        self.names = tuple(entry.filename for entry in source.infolist())
        """In alphabetical order."""
        self._check(source.infolist(), size)

    def read(self, name: str, most: int) -> bytes:
        """Return a member of at most so many bytes; raises ``UserError``."""
        size = self._source.getinfo(name).file_size
        if size > most:
            raise UserError(f"{self.path} is not a capsule: {name} has {size:,} bytes, expected at most {most:,}")
        with self._member(name) as file:
            return file.read()

    def digest(self, name: str) -> str:
        """Return the digest of a member, see ``digest_of``; raises ``UserError``."""
        total = _hash()
        with self._member(name) as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
        return total.hexdigest()

    def extract(self, name: str, target: Path) -> None:
        """Write a member as a new file, in a folder that is made; raises ``UserError``."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._member(name) as source, target.open("xb") as file:
            shutil.copyfileobj(source, file, _CHUNK)

    def is_whole(self, again: Path) -> bool:
        """Return whether every byte of the file is as an archive of its members has it; written to another file."""
        with again.open("xb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            for entry in self._source.infolist():
                with (
                    self._member(entry.filename) as source,
                    target.open(_entry(entry.filename, entry.file_size), "w") as member,
                ):
                    shutil.copyfileobj(source, member, _CHUNK)
        return digest_of(again) == digest_of(self.path)

    @contextmanager
    def _member(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with self._source.open(name) as file:
                yield file
        except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise UserError(f"{self.path} is damaged: {error}") from None

    def _check(self, entries: list[zipfile.ZipInfo], size: int) -> None:
        if len(entries) > _MOST_MEMBERS:
            raise UserError(f"{self.path} is not a capsule: it has more than {_MOST_MEMBERS:,} members")
        if self._source.comment or list(self.names) != sorted(self.names):
            raise UserError(
                f"{self.path} is not a capsule: its members are not in order, or it holds more than members"
            )
        if sum(entry.file_size for entry in entries) > size:
            raise UserError(
                f"{self.path} is not a capsule: its members share bytes and would unfold into more than it has"
            )
        names = {name.casefold() for name in self.names}
        folders = {parent for name in names for parent in _parents(name)}
        if len(names) < len(entries) or not names.isdisjoint(folders):
            raise UserError(f"{self.path} is not a capsule: two of its members share a name")
        for entry in entries:
            # The length shows what follows a NUL, which the name leaves out.
            plain = _NAME.fullmatch(entry.filename) and entry.orig_filename == entry.filename
            stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
            ours = (entry.external_attr, entry.create_system, entry.date_time) == (_MODE, _UNIX, _TIME)
            if not plain or not stored or not ours or entry.flag_bits or entry.comment:
                raise UserError(
                    f"{self.path} is not a capsule: {brief(entry.filename)} is no plain file stored as it is"
                )


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open an archive for reading.

    Raises:
        UserError: It is no such file, or damaged.
    """
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            try:
                source = zipfile.ZipFile(file)
            except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
                raise UserError(f"{path} is not a capsule: {error}; expected a file of: teamworld capsule") from None
            with source:
                yield Archive(path, source, size)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None


def digest_of(content: bytes | Path) -> str:
    """Return the digest (BLAKE2) of a member, given as it is or as a file."""
    total = _hash()
    if isinstance(content, Path):
        with open_file(content) as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
    else:
        total.update(content)
    return total.hexdigest()


def _hash() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)
