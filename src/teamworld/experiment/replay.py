"""Replaying a run: every finished episode again, in order, compared byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.reasoner_factory import recorded
from teamworld.experiment.runner import completed, play
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow
from teamworld.experiment.warm_start import RunMemories, opened
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.metrics.summary import Summary, summarise
from teamworld.reasoning.contract import Reasoner
from teamworld.record import EpisodeStart, Event, OtherFormat, read_log
from teamworld.record.log import encode


class ReplayedEpisode(NamedTuple):
    """One episode replayed."""

    log: Path
    difference: str | None
    """The first difference, in words; None if there is none."""


def replay(folder: RunFolder, experiment: ExperimentSpec, scratch: Path) -> Iterator[ReplayedEpisode]:
    """Run the finished episodes of a run again and compare their logs.

    Args:
        folder: The run; it is only read.
        experiment: Its experiment.
        scratch: An empty folder for the new logs and a memory that learns anew.
    """
    if not folder.results_file.exists():
        raise UserError(f"{folder.path} has no results yet: nothing to replay")
    experiment = experiment.resolved()
    finished = folder.finished(experiment)
    if not finished:
        raise UserError(f"{folder.path} has no finished episode yet: nothing to replay")
    with replaying(folder, experiment, scratch) as replay_one:
        for cell, row in finished:
            yield replay_one(cell, row)


@contextmanager
def replaying(
    folder: RunFolder,
    experiment: ExperimentSpec,
    scratch: Path,
    wrapped: Callable[[Reasoner], Reasoner] = lambda reasoner: reasoner,
) -> Iterator[Callable[[RunCell, EpisodeRow], ReplayedEpisode]]:
    """Yield what runs a finished episode again and compares its log; those of a cell are to come in order.

    Args:
        folder: The run, which has results; it is only read.
        experiment: Its experiment, resolved.
        scratch: As for ``replay``; ``memory.sqlite`` in it holds what was learned.
        wrapped: Puts something round the reasoner of each episode that sees its questions pass by.
    """
    with (
        MemoryStore(scratch / "memory.sqlite") as memory,
        opened(folder, experiment) as brought,
        CallStore(folder.results_file, readonly=True) as calls,
    ):
        memories, reasoners = RunMemories(memory, brought), recorded(experiment, calls)

        def replay_one(cell: RunCell, row: EpisodeRow) -> ReplayedEpisode:
            old, new = folder.log(cell, row.episode), scratch / f"{cell.name}-{row.episode}.jsonl.zst"
            earlier = _events_in(old)
            reasoner, own = wrapped(reasoners.of(cell, row.episode)), _played_by(earlier)
            played = completed(play(experiment, cell, row.episode, new, memories, reasoner, *own, earlier))
            delta = methods.make(cell.method, experiment.options[cell.method]).learn(played.events)
            if delta is not None:
                memory.commit(cell.name, delta)
            changed = difference(old, new)
            if changed is None and not _is_same(row.summary, summarise(played.events)):
                changed = "its row in results.sqlite says something else"
            new.unlink()
            return ReplayedEpisode(old, changed)

        yield replay_one


def _events_in(log: Path) -> list[Event]:
    """Return the events of a log, as far as it can be read: its difference says where it is damaged."""
    events: list[Event] = []
    with suppress(UserError):
        events.extend(read_log(log))
    return events


def _played_by(log: Sequence[Event]) -> tuple[Mapping[str, str], str]:
    """Return which code a log says it was played by, and under which registration.

    What plays it again may be another code that plays alike.
    """
    start = next((event for event in log if isinstance(event, EpisodeStart)), None)
    if start is None:
        return {}, ""
    code, registered = start.code, start.registered
    return {} if code is msgspec.UNSET else code, "" if registered is msgspec.UNSET else registered


def _is_same(held: Summary, played: Summary) -> bool:
    """Return whether a row of results says what was played; rows of earlier versions have no headline."""
    return held == (played if held.headline else msgspec.structs.replace(played, headline=()))


def difference(old: Path, new: Path) -> str | None:
    """Return the first difference between two logs, in words; None if they are equal byte for byte.

    Raises:
        OtherFormat: One is of a version that is not read.
    """
    try:
        if old.read_bytes() == new.read_bytes():
            return None
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    try:
        before, after = list(read_log(old)), list(read_log(new))
    except OtherFormat:
        raise
    except UserError:
        return "it is damaged, cut off or altered: put back a copy of it"
    for old_event, new_event in zip(before, after, strict=False):
        if old_event != new_event:
            was, is_now = encode(old_event), encode(new_event)
            return f"record {old_event.seq} was {_around(was, is_now)}, now {_around(is_now, was)}"
    if len(before) != len(after):
        return f"it has {len(before)} records, now {len(after)}"
    return "its records are equal but its bytes are not: it was written by another version, or altered"


def _around(text: bytes, other: bytes) -> str:
    """Return what stands about the first byte that differs."""
    first = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    part = text[max(0, first - 60) : first + 60].decode("utf-8", "replace")
    return f"{'...' if first > 60 else ''}{part}{'...' if first + 60 < len(text) else ''}"
