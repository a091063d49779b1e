"""What is in a capsule: a run's folder as members of an archive, and back.

The databases are written out as JSON lines, because SQLite's bytes differ from version to version; the learned world
models are left out, because replaying makes them. Seconds of whole episodes are left out too: no table reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import msgspec
import zstandard

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import EXPERIMENT_FILE, RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.metrics.summary import Summary
from teamworld.reasoning.llm.contract import CallKey, CallRecord
from teamworld.report.capsule.archive import Archive, digest_of

MANIFEST: Final = "capsule.json"
EPISODES: Final = "episodes.jsonl"
#: Folder of the calls of language models and of people, a file a cell.
CALLS: Final = "calls"
_ENDING: Final = ".jsonl.zst"
BEFORE: Final = f"before{_ENDING}"
#: Folder of the tables.
TABLES: Final = "tables"
FORMAT: Final = 1
#: Bytes that one member may have once unpacked, and all together.
LARGEST: Final = 1 << 28
MOST_BYTES: Final = 1 << 35
_CHUNK: Final = 1 << 20

Line = TypeVar("Line")


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a capsule says of itself."""

    format: int
    teamworld: str
    """Version of the package that made it."""
    metrics: str | None = None
    """Names of the metrics of its comparison, with commas; null for those of a results table."""
    primary: str | None = None
    """The metric that the comparison was made for; null for the usual."""
    files: dict[str, str]
    """Digest of each other member."""


class _Episode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the results."""

    cell: str
    episode: int
    method: str
    seed: int
    summary: Summary
    digest: str


class _Call(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call on record."""

    episode: int
    key: CallKey
    record: CallRecord


class _Before(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a cell began with."""

    cell: str
    delta: MemoryDelta


def seal(manifest: bytes) -> str:
    """Return the digest that stands for a whole capsule: it is that of its manifest, which names those of all else."""
    return digest_of(manifest)


def members_of(folder: RunFolder, experiment: ExperimentSpec) -> Iterator[tuple[str, bytes | Path]]:
    """Yield the members of a run by their names in its folder; the caller knows that it is finished."""
    yield EXPERIMENT_FILE, folder.experiment_file
    rows = folder.finished(experiment)
    lines = [
        _Episode(cell=r.cell, episode=r.episode, method=r.method, seed=r.seed, summary=r.summary, digest=r.digest)
        for _, r in rows
    ]
    yield EPISODES, _lines(lines)
    for cell, row in rows:
        log = folder.log(cell, row.episode)
        yield log.relative_to(folder.path).as_posix(), log
    with CallStore(folder.results_file, readonly=True) as store:
        for cell in experiment.cells():
            calls = [_Call(episode=number, key=key, record=record) for number, key, record in store.records(cell)]
            if calls:
                yield f"{CALLS}/{cell.name}{_ENDING}", _compressed(_lines(calls))
    if experiment.memory is not None:
        with MemoryStore(folder.before_file, readonly=True) as memory:
            begun = [_Before(cell=run, delta=delta) for run in memory.runs() for delta in memory.deltas(run)]
        yield BEFORE, _compressed(_lines(begun))


def restore(archive: Archive, place: str, folder: RunFolder) -> None:
    """Make the folder of a run from its members, but for the world models that it learned.

    Args:
        archive: The capsule.
        place: What the names of the run's members begin with; empty, or ending in a slash.
        folder: Where to; it does not exist.

    Raises:
        UserError: A member is missing, damaged or too large.
    """
    own = {name.removeprefix(place) for name in archive.names if name.startswith(place)}
    for name in sorted(name for name in own if name == EXPERIMENT_FILE or PurePosixPath(name).parts[0] == "logs"):
        archive.extract(place + name, folder.path / name)
    if EPISODES not in own:
        raise UserError(f"{archive.path}: {place}{EPISODES} is missing")
    rows = _parsed(archive, place + EPISODES, archive.read(place + EPISODES, LARGEST), _Episode)
    with Results(folder.results_file) as results:
        results.add_all(EpisodeRow(r.cell, r.episode, r.method, r.seed, r.summary, r.digest, 0.0) for r in rows)
    with CallStore(folder.results_file) as store:
        for name in sorted(name for name in own if name.startswith(f"{CALLS}/")):
            cell = PurePosixPath(name).name.removesuffix(_ENDING)
            calls = _parsed(archive, place + name, _unpacked(archive, place + name), _Call)
            store.add_all((cell, call.episode, call.key, call.record) for call in calls)
    if BEFORE in own:
        with MemoryStore(folder.before_file) as memory:
            for line in _parsed(archive, place + BEFORE, _unpacked(archive, place + BEFORE), _Before):
                memory.commit(line.cell, line.delta)


def check_sizes(folder: Path) -> None:
    """See that no log in a folder unfolds without end; raises ``UserError``."""
    total = 0
    for path in sorted(folder.rglob("*.zst")):
        total += _unpacked_size(path)
        if total > MOST_BYTES:
            raise UserError(f"{folder.name} is not a capsule: its logs unfold into more than {MOST_BYTES:,} bytes")


def _unpacked_size(path: Path) -> int:
    size = 0
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > LARGEST:
                    raise UserError(f"{path.name} unfolds into more than {LARGEST:,} bytes: no log is so long")
    except zstandard.ZstdError:
        return size  # whoever reads it says what is wrong with it
    return size


def _lines(structs: list[Any]) -> bytes:
    encoder = msgspec.json.Encoder(order="deterministic")
    return b"".join(encoder.encode(line) + b"\n" for line in structs)


def _parsed(archive: Archive, name: str, data: bytes, kind: type[Line]) -> list[Line]:
    try:
        return msgspec.json.Decoder(kind).decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{archive.path}: {name} is damaged: {error}") from None


def _compressed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)


def _unpacked(archive: Archive, name: str) -> bytes:
    """Return what is in a compressed member, of bounded size."""
    stored, parts, size = archive.read(name, LARGEST), [], 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(stored) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > LARGEST:
                    raise UserError(f"{archive.path}: {name} unfolds into more than {LARGEST:,} bytes")
                parts.append(chunk)
    except zstandard.ZstdError as error:
        raise UserError(f"{archive.path}: {name} is damaged: {error}") from None
    return b"".join(parts)
