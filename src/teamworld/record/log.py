"""Write and read logs: JSON lines, compressed, readable while they are written and after a kill."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
import zstandard

from teamworld.errors import UserError
from teamworld.plain_files import open_file
from teamworld.record.events import OLDEST, SCHEMA, EpisodeEnd, EpisodeStart, Event

_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_LEVEL = 3
_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 24

Record = TypeVar("Record", bound=Event)


class OtherFormat(UserError):
    """A log in a format that this version does not read."""


def encode(event: Event) -> bytes:
    """Return the event as one line of JSON without its end of line."""
    return _ENCODER.encode(event)


def decode(line: bytes) -> Event:
    """Return the event of one line; raises ``msgspec.DecodeError``."""
    return _DECODER.decode(line)


class LogWriter:
    """Appends events to one episode's log.

    The file can be read up to the last ``flush`` at any time, also after a kill. ``finish`` syncs
    it to the disk. An unfinished log of an earlier attempt is replaced.

    Args:
        path: The file to write; its folder exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[Event] = []
        """All events so far, as written."""
        self._records = _hash()
        path.unlink(missing_ok=True)  # never write through a link into somebody else's file
        self._file: BinaryIO = path.open("wb")
        compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self._stream = compressor.stream_writer(self._file, closefd=False)

    def write(self, event: Record, step: int, tick: int) -> Record:
        """Append an event and return it as it stands in the log, with its place in the order."""
        placed = msgspec.structs.replace(event, seq=len(self.events), step=step, tick=tick)
        line = _ENCODER.encode(placed) + b"\n"
        self._stream.write(line)
        self._records.update(line)
        self.events.append(placed)
        return placed

    @property
    def digest(self) -> str:
        """What ``digest`` returns for the file once the log is finished."""
        return self._records.hexdigest()

    def flush(self) -> None:
        """Make everything so far readable."""
        self._stream.flush(zstandard.FLUSH_BLOCK)

    def finish(self) -> None:
        """End the log and sync it to the disk."""
        self._stream.flush(zstandard.FLUSH_FRAME)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._file.closed:
            self._file.close()


def _chunks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Yield some whole lines at a time; what was cut off by a kill is left out."""
    rest: list[bytes] = []  # of a line that has not ended
    length = 0
    with zstandard.ZstdDecompressor().stream_reader(file) as stream:
        while chunk := stream.read(_CHUNK):
            whole, newline, begun = chunk.rpartition(b"\n")
            if newline:
                yield b"".join((*rest, whole))
                rest, length = [], 0
            rest.append(begun)
            length += len(begun)
            if length > _LONGEST_LINE:
                raise UserError(f"{path} is damaged: a line is longer than any event")


def read_log(path: Path | str, *, whole: bool = True, expected: str | None = None) -> Iterator[Event]:
    """Yield the events of a log in order.

    Args:
        path: A ``.jsonl.zst`` file written by ``LogWriter``.
        whole: Refuse a log that does not end with ``episode_end``; otherwise a log that is still
            being written, or was cut off by a kill, yields what is there.
        expected: Its digest when it was written, if it is to be compared.

    Raises:
        OtherFormat: It is of an older or a newer version.
        UserError: Not a log, damaged, altered, or (with ``whole``) not finished.
    """
    path = Path(path)
    last: Event | None = None
    total = _hash()
    try:
        with open_file(path) as file:
            begin = file.read(len(_MAGIC))
            if not _MAGIC.startswith(begin):  # a log just opened may be empty
                raise UserError(f"{path} is not a log: expected a zstd file (.jsonl.zst)")
            file.seek(0, io.SEEK_SET)
            count = 0
            for lines in _chunks(path, file):
                total.update(lines + b"\n")
                for last in _decode_lines(path, count, lines):
                    yield _check(path, count, last)
                    count += 1
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except zstandard.ZstdError as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if whole and not isinstance(last, EpisodeEnd):
        raise UserError(f"{path} is not finished: the run was cut off; resume it with the same command")
    if expected is not None and total.hexdigest() != expected:
        raise UserError(
            f"{path} was altered since its episode was played: its digest is not that in results.sqlite; put back a "
            f"copy, or measure it by itself: teamworld metrics {path}"
        )


def digest(path: Path) -> str:
    """Return a digest (BLAKE2) of a finished log's records; raises ``UserError``."""
    total = _hash()
    for event in read_log(path):
        total.update(encode(event) + b"\n")
    return total.hexdigest()


def _hash() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def _decode_lines(path: Path, first: int, lines: bytes) -> Iterable[Event]:
    """Return the events of some lines, of which the first is the record of that number."""
    if b"\n\n" in b"\n%b\n" % lines:  # which the decoder would pass over, however many there are
        return _decode_singly(path, first, lines)
    try:
        return _DECODER.decode_lines(lines)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_singly(path, first, lines)


def _decode_singly(path: Path, first: int, lines: bytes) -> Iterator[Event]:
    """Yield the same events, up to one that is damaged: that is refused."""
    for number, line in enumerate(lines.split(b"\n"), first):
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if number == 0:  # another version may not even decode
                _check_version(path, line)
            raise UserError(f"{path} is damaged: record {number} is not an event ({error})") from None


def _check(path: Path, number: int, event: Event) -> Event:
    """Return an event that stands where it says, of a version that is read."""
    if number == 0 and not isinstance(event, EpisodeStart):
        raise UserError(f"{path} is not a log of teamworld: its first record is no episode_start")
    if event.seq != number:
        raise UserError(f"{path} is damaged: record {number} says it is number {event.seq}")
    if number == 0:
        _check_version(path, encode(event))
    return event


def _check_version(path: Path, line: bytes) -> None:
    try:
        schema = msgspec.json.decode(line, type=dict).get("schema", SCHEMA)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if type(schema) is int and OLDEST <= schema <= SCHEMA:
        return
    whose, advice = "another", "read it with that one, or run it anew"
    if type(schema) is int:
        whose, advice = ("a newer", "upgrade it") if schema > SCHEMA else ("an older", advice)
    reads = f"this one reads {OLDEST} to {SCHEMA}"
    raise OtherFormat(f"{path} was written by {whose} teamworld (log format {schema}, {reads}): {advice}")
