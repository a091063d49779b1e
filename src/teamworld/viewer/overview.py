"""The episodes of a run, a grid or a comparison: what the page of ``teamworld view`` lists and searches."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.parquet_tables import MANIFEST, PARQUET
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.failures import LABELS
from teamworld.record import Event, MessageSent
from teamworld.record.log import read_log
from teamworld.report import tables
from teamworld.report.episode_columns import columns_of
from teamworld.report.failures import tags

#: Measures of every episode, beside those that its level is told in first.
MEASURES = ("completion", "steps", "anytime", "reward", "messages", "questions", "re_asked", "fallbacks", "seconds")
#: Seconds after which a search in the logs says how far it came.
SEARCH_SECONDS = 1.0
#: Words and failures that are told of one episode.
MOST_TOLD = 20
#: Episodes that the page lists; of more, the first ones.
MOST_LISTED = 20_000
#: Characters of a message around the words that were searched for.
_AROUND = 60


class ListedEpisode(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A finished episode, as the page lists it; an array in the order of its fields."""

    run: str
    """Folder of its run, within the folder that is shown; "." where that is the run."""
    level: str
    method: str
    seed: int
    episode: int
    reason: str
    """Why it ended."""
    values: tuple[float | None, ...]
    """By place in ``Overview.measures``; None where there was nothing to measure."""


class ShownTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as ``teamworld report`` prints it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The finished episodes of a folder."""

    version: str
    """Changes when something is finished."""
    name: str
    kind: str
    """``run``, ``grid``, ``comparison`` or ``evidence``."""
    wanted: int
    """Episodes that there are when all are finished."""
    measures: tuple[str, ...]
    units: tuple[str, ...]
    """What each measure is counted in, and which side is better; empty for those that need no word."""
    episodes: tuple[ListedEpisode, ...]
    """The first ``MOST_LISTED``."""
    finished: int
    """All of them."""
    failed: int
    """Episodes that ended in an error."""


class Match(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What was searched for in one episode."""

    place: int
    """Of the episode in ``Overview.episodes``."""
    hits: tuple[tuple[int, str, str], ...]
    """The first ones: step of the log, which is a moment of the replay; who said it or the label; the text."""
    count: int
    """All of them."""


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """How far a search came."""

    matches: tuple[Match, ...]
    next: int
    """The place to go on from; the number of episodes where it is over."""


class _Part(NamedTuple):
    """A run within the folder."""

    name: str
    folder: RunFolder
    experiment: ExperimentSpec


class EpisodeFolder:
    """A folder of episodes: one run, or several. It is only read.

    Args:
        path: The folder.

    Raises:
        UserError: It holds no run, grid, comparison or page of evidence.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = grid.kind_of(path) or "run"
        self._parts()

    def version(self) -> str:
        """Return what changes when something is finished, without a look into results."""
        return _version(self._parts())

    def overview(self) -> Overview:
        """Return the finished episodes."""
        parts = self._parts()
        version, listed = _version(parts), _finished(parts)
        rows = [row for _, _, row in listed]
        done = {part.name: part.folder.count_finished(part.experiment) for part in parts}
        unfinished = [part for part in parts if done[part.name] < part.folder.episode_count(part.experiment)]
        first = [part for part in tables.headline(rows) if part.metric not in MEASURES]
        names = (*(part.metric for part in first), *MEASURES)
        units = (*(tables.unit(part) for part in first), *("" for _ in MEASURES))
        return Overview(
            version=version,
            name=self.path.resolve().name,
            kind=self.kind,
            wanted=sum(part.folder.episode_count(part.experiment) for part in parts),
            measures=names,
            units=units,
            episodes=tuple(_listed(part, cell, row, names) for part, cell, row in listed),
            finished=sum(done.values()),
            failed=sum(len(part.folder.errors(part.experiment)) for part in unfinished),
        )

    def tables(self) -> list[ShownTable]:
        """Return the table of each run over all its episodes, with its name before the title if there are several."""
        shown = []
        for part in self._parts():
            columns = columns_of(part.folder, part.experiment)
            if len(columns):
                table = tables.by_method(columns, part.experiment)
                title = table.title if part.name == "." else f"{part.name}: {table.title}"
                shown.append(ShownTable(title=title, columns=table.columns, rows=table.rows, caption=table.caption))
        return shown

    def search(self, words: str, begin: int) -> SearchResult:
        """Return the episodes in which some words were said, for as long as ``SEARCH_SECONDS``.

        Args:
            words: Any case; the name of a failure label finds the episodes that have it.
            begin: The first episode to look into, by its place in the overview.
        """
        label = words if words in LABELS else None
        listed, matches, end = _finished(self._parts()), list[Match](), time.monotonic() + SEARCH_SECONDS
        place = max(0, begin) if words else len(listed)
        while place < len(listed):
            part, cell, row = listed[place]
            log = list(read_log(part.folder.log(cell, row.episode), expected=row.digest))
            hits = list(_failures(log, label) if label is not None else _said(log, words.casefold()))
            if hits:
                matches.append(Match(place=place, hits=tuple(hits[:MOST_TOLD]), count=len(hits)))
            place += 1
            if time.monotonic() > end:
                break
        return SearchResult(matches=tuple(matches), next=place)

    def run(self, name: str) -> Path:
        """Return the folder of a run by the name that it is listed under; raises ``UserError``."""
        for part in self._parts():
            if part.name == name:
                return part.folder.path
        raise UserError(f"there is no run of that name in {self.path}")

    def _parts(self) -> list[_Part]:
        parts = []
        for path, experiment in grid.runs(self.path):
            folder = RunFolder(path)
            if path == self.path:
                parts.append(_Part(".", folder, folder.experiment()))
            else:
                name = path.relative_to(self.path).as_posix()
                parts.append(_Part(name, folder, folder.experiment() if folder.is_begun else experiment))
        return parts


def _version(parts: Iterable[_Part]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        file = part.folder.results_path
        for path in (file, file.with_name(f"{file.name}-wal"), part.folder.path / PARQUET / MANIFEST):
            if path.exists():
                seen = path.stat()
                digest.update(f"{path} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _finished(parts: Iterable[_Part]) -> list[tuple[_Part, RunCell, EpisodeRow]]:
    """Return the episodes that are listed."""
    every = ((part, cell, row) for part in parts for cell, row in part.folder.each_finished(part.experiment))
    return list(islice(every, MOST_LISTED))


def _listed(part: _Part, cell: RunCell, row: EpisodeRow, names: Sequence[str]) -> ListedEpisode:
    first = {measure.metric: measure.value.value for measure in row.summary.headline}
    values = [row.seconds if name == "seconds" else getattr(row.summary, name, first.get(name)) for name in names]
    return ListedEpisode(
        run=part.name,
        level=f"{part.experiment.world} {part.experiment.level}",
        method=cell.method,
        seed=cell.seed,
        episode=row.episode,
        reason=row.summary.reason,
        values=tuple(None if value is None else float(value) for value in values),
    )


def _said(log: Sequence[Event], words: str) -> Iterator[tuple[int, str, str]]:
    for event in log:
        if isinstance(event, MessageSent) and (at := event.text.casefold().find(words)) >= 0:
            begin = max(0, at - _AROUND)
            text = event.text[begin : at + len(words) + _AROUND]
            yield (
                event.step,
                event.agent,
                f"{'…' if begin else ''}{text}{'…' if begin + len(text) < len(event.text) else ''}",
            )


def _failures(log: Sequence[Event], label: str) -> Iterator[tuple[int, str, str]]:
    for tag in islice(tags(log), 10_000):
        if tag["label"] == label:
            yield int(tag["first"]), label, str(tag["text"])
