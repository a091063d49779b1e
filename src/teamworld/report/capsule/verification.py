"""Verifying a capsule: every episode is played again from its record, every table made again, and what differs is said.

A capsule is a file that somebody else made. It is unpacked into a folder of its own and read there like the folder of
a run; nothing that it names is imported or opened unless the caller trusts it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from teamworld import plugins
from teamworld.errors import UserError, brief
from teamworld.experiment import grid, process_pool
from teamworld.experiment.code_identity import code_of
from teamworld.experiment.registration import FILES, settings_digest
from teamworld.experiment.replay import replaying
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import EXPERIMENT_FILE, RunFolder, RunRecord
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.reasoning import router
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.prompts import template_info
from teamworld.record import LlmCall, read_log
from teamworld.report.capsule import run_checks
from teamworld.report.capsule.archive import Archive, opened
from teamworld.report.capsule.contents import (
    BEFORE,
    CALLS,
    EPISODES,
    FORMAT,
    LARGEST,
    MANIFEST,
    TABLES,
    Manifest,
    check_sizes,
    restore,
    seal,
)
from teamworld.report.capsule.rebuilt_tables import plan_gaps, tables_of

#: Episodes below which processes take longer to start than they save.
_WORTH: Final = 60
#: Chunks of cells for each process: the last to end is not waited for long.
_CHUNKS: Final = 4
_PLANS: Final = ("grid.yaml", "comparison.yaml")
_WIDE: Final = 200  # characters of a line of a table in a message


class Verified(NamedTuple):
    """What came of verifying a capsule."""

    seal: str
    """Digest of the whole capsule."""
    runs: int
    episodes: int
    """That were played again."""
    tables: int
    """That were made again."""
    differences: tuple[str, ...]
    """A line on each thing that is not what it is said to be; empty for a capsule that verifies."""
    notes: tuple[str, ...]
    """What one should know of a capsule even where it verifies, such as seeds that were added later."""

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


class UnpackedCapsule(NamedTuple):
    """A capsule as a folder."""

    folder: Path
    manifest: Manifest
    seal: str
    differences: tuple[str, ...]
    """What showed on the way: members that are missing, added or altered."""
    tables: Mapping[str, bytes]
    """By name."""


def verify(path: Path, *, trust: bool = False, processes: int | None = None) -> Verified:
    """Verify a capsule: no network, no key, nothing is written but in a folder that is taken away again.

    Args:
        path: The capsule.
        trust: Whether code and files outside of the package that the capsule names may be imported and read.
        processes: How many play at a time; None: as many as are worth it.

    Raises:
        UserError: It is not a capsule, or one that cannot be verified here.
    """
    with unpacked(path) as capsule:
        return verify_unpacked(capsule, trust=trust, processes=processes)


def verify_unpacked(capsule: UnpackedCapsule, *, trust: bool = False, processes: int | None = None) -> Verified:
    """Verify a capsule that is unpacked; as ``verify``."""
    differences, notes = list(capsule.differences), []
    runs = [(path, read) for path, read in grid.runs(capsule.folder) if RunFolder(path).is_begun]
    differences += plan_gaps(capsule.folder)
    episodes = 0
    for path, read in runs:
        place = "" if path == capsule.folder else f"{path.relative_to(capsule.folder).as_posix()}/"
        run = RunFolder(path)
        differences += [f"{place or 'the run'}: {line}" for line in _missing(run)]
        if not run.results_file.exists():
            continue
        if not trust:
            _refuse_foreign_code(read)
        problems = list(run_checks.check_run(run, read))  # before all that it names is tried
        experiment, record = read.resolved(), run.record()
        problems += [*_check_settings(record, experiment), *_check_calls(run, experiment)]
        replayed = _replay(run, experiment, processes)
        episodes += replayed.episodes
        differences += [f"{place}{line}" for line in (*problems, *replayed.differences)]
        notes += [f"{place}{line}" for line in _notes(run, record, experiment)]
    compared = _compare_tables(capsule, processes) if episodes else _Lines([], 0)
    differences += compared.lines
    said = tuple(line.replace(f"{capsule.folder}/", "") for line in differences)
    return Verified(capsule.seal, len(runs), episodes, compared.tables, said, tuple(notes))


# ---- unpacking


@contextmanager
def unpacked(path: Path) -> Iterator[UnpackedCapsule]:
    """Unpack a capsule into a folder, which is taken away at the end.

    Raises:
        UserError: It is not a capsule.
    """
    with opened(path) as archive, tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        folder = Path(scratch).resolve() / "capsule"
        folder.mkdir()
        if not archive.is_whole(again := Path(scratch) / "again.tw"):
            raise UserError(f"{path} is damaged: bytes of it are none of its members'")
        again.unlink()
        try:
            yield _unpack(archive, folder)
        except UserError as error:  # where it was unpacked says nothing
            raise UserError(str(error).replace(f"{folder}/", "").replace(str(folder), str(path))) from None


def _unpack(archive: Archive, folder: Path) -> UnpackedCapsule:
    manifest, sealed = _manifest(archive)
    for name in _PLANS:
        if name in archive.names:
            archive.extract(name, folder / name)
    for place in _places(archive):
        restore(archive, place, RunFolder(folder / place if place else folder))
    check_sizes(folder)
    names = [name for name in archive.names if name.startswith(f"{TABLES}/")]
    tables = {name.removeprefix(f"{TABLES}/"): archive.read(name, LARGEST) for name in names}
    return UnpackedCapsule(folder, manifest, sealed, tuple(_check_members(archive, manifest)), tables)


def _manifest(archive: Archive) -> tuple[Manifest, str]:
    if MANIFEST not in archive.names:
        raise UserError(f"{archive.path} is not a capsule: there is no {MANIFEST} in it")
    data = archive.read(MANIFEST, LARGEST)
    try:
        version = msgspec.json.decode(data, type=dict[str, Any]).get("format")
        if version != FORMAT:
            raise UserError(f"{archive.path} is a capsule of format {brief(version)}: this version reads {FORMAT}")
        return msgspec.json.decode(data, type=Manifest), seal(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{archive.path} is not a capsule: {MANIFEST} is damaged: {error}") from None


def _places(archive: Archive) -> list[str]:
    """Return what the names of the members of each run begin with."""
    experiments = [name for name in archive.names if name.rpartition("/")[2] == EXPERIMENT_FILE]
    places = [name.removesuffix(EXPERIMENT_FILE) for name in experiments if not name.startswith(f"{TABLES}/")]
    if not places:
        raise UserError(f"{archive.path} is not a capsule: it holds no run")
    several = any(name in archive.names for name in _PLANS)
    if several == ("" in places) or (not several and len(places) > 1):
        raise UserError(f"{archive.path} is not a capsule: expected one run, or a grid or a comparison of runs")
    return places


def _check_members(archive: Archive, manifest: Manifest) -> Iterator[str]:
    """Yield the members that are missing, added or altered by the manifest, and those that belong to nothing."""
    names = set(archive.names) - {MANIFEST}
    for name in sorted(names | set(manifest.files)):
        if name not in names:
            yield f"{brief(name)} is missing: the capsule was packed with it"
        elif name not in manifest.files:
            yield f"{name} was added: the capsule was packed without it"
        elif archive.digest(name) != manifest.files[name]:
            yield f"{name} was altered since it was packed"
    own = "|".join(re.escape(place) for place in _places(archive))
    parts = rf"{EXPERIMENT_FILE}|{EPISODES}|{BEFORE}|{CALLS}/[^/]+\.jsonl\.zst|logs/[^/]+/[0-9]+\.jsonl\.zst"
    pattern = re.compile(rf"({own})({parts})|{TABLES}/.+|{'|'.join(_PLANS)}")
    yield from (f"{name} is no part of a capsule" for name in sorted(names) if not pattern.fullmatch(name))


# ---- what is checked before anything is played


def _missing(run: RunFolder) -> Iterator[str]:
    if not run.results_file.exists():
        yield "it has no results"


def _refuse_foreign_code(experiment: ExperimentSpec) -> None:
    """Refuse what would run code, or open files, that somebody else named; raises ``UserError``."""
    parts = [part for label in experiment.methods for part in methods.parts_of(label)]
    names = [experiment.world, *parts, *(route.name for route in router.parse_routes(experiment.reasoner))]
    for name in names:
        if plugins.reference(name) is not None:
            raise UserError(
                f"the capsule names code that is no part of teamworld, {brief(name)}: add --trust to import it"
            )
    for owner, values in experiment.options.items():
        for name, value in values.items():
            if name in FILES and value is not None:
                raise UserError(f"the capsule names a file, {owner}.{name} {brief(value)}: add --trust to read it")


def _check_settings(record: RunRecord, experiment: ExperimentSpec) -> Iterator[str]:
    """Yield what the experiment file says otherwise than when its registrations were made, or its code was used."""
    versions = record.versions or {}
    for number, entry in enumerate(record.registered or (), start=1):
        known = [method for method in entry.methods if method in experiment.methods]  # others are missed elsewhere
        if len(known) == len(entry.methods) and settings_digest(experiment, known, versions) != entry.settings:
            yield f"{EXPERIMENT_FILE}: the settings are not those of registration {number}"
    if not _changed_code(record, experiment):
        for template, held in (record.prompts or {}).items():
            if held != template_info(template)._asdict():
                yield f"{EXPERIMENT_FILE}: the prompt {brief(template)} is not that of the code that it names"


def _check_calls(run: RunFolder, experiment: ExperimentSpec) -> Iterator[str]:
    """Yield the episodes for which answers are on record that their logs do not know."""
    with CallStore(run.results_file, readonly=True) as store:
        if not store.count():
            return
        for cell, row in run.finished(experiment):
            calls = store.rows(cell, row.episode)
            answered = sum(call.finish is not None and call.model != HUMAN for call in calls)
            try:
                logged = sum(isinstance(event, LlmCall) for event in read_log(run.log(cell, row.episode)))
            except UserError:
                continue  # which is found when it is played again
            if answered != logged:
                yield f"{cell.name}, episode {row.episode}: {answered} answers are on record, {logged} in its log"


def _changed_code(record: RunRecord, experiment: ExperimentSpec) -> list[str]:
    """Return which parts of the installed code are others than those that played the run last."""
    last = (record.code or ({},))[-1]
    return [name for name, digest in code_of(experiment).items() if last.get(name, digest) != digest]


def _notes(run: RunFolder, record: RunRecord, experiment: ExperimentSpec) -> Iterator[str]:
    """Yield what one should know of a run even where all of it holds."""
    if changed := _changed_code(record, experiment):
        yield f"the installed code is not that of the capsule: {', '.join(changed)}; what differs may come from that"
    for entry in (record.registered or ())[1:]:
        yield (
            f"{len(entry.methods)} methods, {len(entry.seeds)} seeds and {entry.episodes} episodes were registered "
            f"after {entry.finished} episodes were finished"
        )
    if errors := run.errors(experiment):
        yield f"{len(errors)} episodes ended in an error and count nowhere"


# ---- playing again


class _Replayed(NamedTuple):
    """What came of playing some cells again."""

    episodes: int
    differences: list[str]
    learned: list[tuple[str, MemoryDelta]]
    """By name of the cell."""


def _replay(run: RunFolder, experiment: ExperimentSpec, processes: int | None) -> _Replayed:
    """Play the episodes of a run again, in processes where that is worth it; what was learned gets into its folder."""
    cells = experiment.cells()
    number = process_pool.many(experiment.episode_count, _WORTH, processes)
    size = max(1, -(-len(cells) // (number * _CHUNKS)))
    tasks = [cells[at : at + size] for at in range(0, len(cells), size)] if number > 1 else [cells]
    parts = list(process_pool.in_order(partial(_replay_cells, run, experiment), tasks, number))
    with MemoryStore(run.memory_file) as memory:
        for part in parts:
            for name, delta in part.learned:
                memory.commit(name, delta)
    differences = [line for part in parts for line in part.differences]
    return _Replayed(sum(part.episodes for part in parts), differences, [])


def _replay_cells(run: RunFolder, experiment: ExperimentSpec, cells: Sequence[RunCell]) -> _Replayed:
    """Play the episodes of some cells again."""
    experiment.load_plugins()
    count, differences = 0, []
    wanted = set(cells)
    rows = [(cell, row) for cell, row in run.finished(experiment) if cell in wanted]
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        with replaying(run, experiment, Path(scratch)) as replay_one:
            for cell, row in rows:
                name = run.log(cell, row.episode).relative_to(run.path).as_posix()
                try:
                    difference = replay_one(cell, row).difference
                except UserError as error:
                    difference = f"it cannot be played again: {error}"
                except Exception as error:  # noqa: BLE001  (what somebody else wrote may end anywhere)
                    difference = f"it cannot be played again: {type(error).__name__}: {brief(str(error))}"
                count += 1
                if difference is not None:
                    differences.append(f"{name} differs: {difference}")
        with MemoryStore(Path(scratch) / "memory.sqlite") as memory:
            learned = [(cell.name, delta) for cell in cells for delta in memory.deltas(cell.name)]
    return _Replayed(count, differences, learned)


# ---- tables


class _Lines(NamedTuple):
    """Lines on tables that differ, and how many tables were made."""

    lines: list[str]
    tables: int


def _compare_tables(capsule: UnpackedCapsule, processes: int | None) -> _Lines:
    """Make the tables again and compare them line by line."""
    held, lines = capsule.tables, []
    chosen = capsule.manifest.metrics, capsule.manifest.primary
    try:
        made = dict(tables_of(capsule.folder, *chosen, processes))
    except UserError as error:
        return _Lines([f"the tables cannot be made again: {error}"], 0)
    for name in sorted({*held, *made}):
        if name not in held:
            lines.append(f"{TABLES}/{name} is missing")
        elif name not in made:
            lines.append(f"{TABLES}/{brief(name)} is a table that this folder does not give")
        elif held[name] != made[name]:
            lines += [f"{TABLES}/{name} {line}" for line in _changed_lines(held[name], made[name])]
    return _Lines(lines, len(made))


def _changed_lines(held: bytes, made: bytes) -> Iterator[str]:
    """Yield what is not the same in two texts, line by line."""
    old, new = (data.decode("utf-8", "replace").split("\n") for data in (held, made))
    is_said = False
    for kind, begin, end, other, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        is_said = True
        for number in range(max(end - begin, last - other)):
            was = old[begin + number] if begin + number < end else None
            made_line = new[other + number] if other + number < last else None
            if was is None:
                yield f"lacks a line after line {begin}: {_cut(made_line)}"
            elif made_line is None:
                yield f"line {begin + number + 1} is too many: {_cut(was)}"
            else:
                yield f"line {begin + number + 1} says {_part(was, made_line)}, rebuilt it says {_part(made_line, was)}"
    if not is_said:
        yield "has the same lines in other bytes"


def _cut(text: str | None) -> str:
    return repr((text or "")[:_WIDE])


def _part(text: str, other: str) -> str:
    """Return what stands about the first character that differs."""
    at = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    begin = max(0, at - 40)
    return f"{'...' if begin else ''}{text[begin : at + 40]!r}"


def shown(differences: Iterable[str], most: int) -> Iterator[str]:
    """Yield lines, at most so many and then how many more there are."""
    lines = list(differences)
    yield from lines[:most]
    if len(lines) > most:
        yield f"and {len(lines) - most:,} more"
