"""Joining what the shards of an experiment have played to one run, as if it had been played in one folder.

Episodes are taken over as the runner finishes them: the log, then what was learned, then the row. So a merge that was
killed goes on with the same call, and one that was finished finds nothing to do.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.run_options import Shard
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import EXPERIMENT_FILE, RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.plain_files import check_inside, list_files, open_file, read_file, write_file
from teamworld.record import read_log

_LONGEST = 100  # characters of a value
_SHOWN = 12  # shards that a line names


class MergedRun(NamedTuple):
    """A run that was joined from several folders."""

    folder: RunFolder
    wanted: int
    """Episodes of the experiment."""
    added: int
    """Episodes that were not there before."""
    missing: int
    """Episodes that came from nowhere."""
    why: str
    """Whose the missing ones are, in words; empty where that is not known."""


def merge(folders: Sequence[Path], out: Path, *, accept_changes: bool = False) -> list[MergedRun]:
    """Join the runs of several folders, and return each run as it then is.

    Args:
        folders: Of shards, each a run, a grid, a comparison, a page of evidence or a reproduction, in any order. Runs
            of the same path within them are parts of one. What stands in ``out`` from an earlier call stays.
        out: Where the joined runs are written; made if it is not there.
        accept_changes: Join what was played by different code; the joined run names all of it.

    Raises:
        UserError: The folders are not of one experiment, one is being written, or an episode was played twice and
            differently. What was taken over before stays.
    """
    sources = [folder for folder in folders if folder.resolve() != out.resolve()]
    if not sources:
        raise UserError("which folders? expected those of the shards, such as: teamworld merge shards/* --out joined")
    for folder in sources:
        if folder.resolve() in out.resolve().parents:
            raise UserError(f"--out {out} lies in {folder}, which is to be joined: name another place")
    places = {folder: _list_runs(folder) for folder in sources}
    first, *others = sources
    kinds = {folder: grid.kind_of(folder) for folder in sources}
    for folder in others:
        if kinds[folder] != kinds[first] or (Path() in places[folder]) != (Path() in places[first]):
            raise UserError(f"{folder} and {first} hold different things: expected shards of one experiment")
    if (kind := kinds[first]) is not None:
        plan = grid.read_plan(first)
        for folder in others:
            if grid.read_plan(folder) != plan:
                raise UserError(f"{folder} holds another {kind} than {first}: expected shards of one experiment")
        grid.claim(out, plan, kind)
    paths = sorted({path for runs in places.values() for path in runs})
    return [
        _merge_run(
            [RunFolder(folder / path) for folder in sources if path in places[folder]],
            RunFolder(out / path),
            accepted=accept_changes,
        )
        for path in paths
    ]


def _list_runs(folder: Path) -> set[Path]:
    """Return the paths of the runs in a folder, from there."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder")
    check_inside(folder)
    runs = {path.parent.relative_to(folder) for path in list_files(folder) if path.name == EXPERIMENT_FILE}
    if not runs:
        raise UserError(f"{folder} holds no run that has begun: leave it out")
    return {Path()} if Path() in runs else runs


def _merge_run(parts: Sequence[RunFolder], target: RunFolder, *, accepted: bool) -> MergedRun:
    """Join the parts of one run."""
    parts = sorted(parts, key=lambda part: (_order(part), part.path.as_posix()))
    experiment = parts[0].experiment()
    for part in parts:
        if part.held():
            raise UserError(f"a process is running in {part.path}: wait for it")
        _check_same(parts[0], part, accepted=accepted)
    target.check(experiment)
    with target.locked():
        if target.is_begun:
            _check_same(parts[0], target, accepted=accepted)
            if (held := target.shard()) is not None:
                raise UserError(f"{target.path} holds shard {held.shard}: use another --out")
        elif parts[0].before_file.exists():
            write_file(target.before_file, read_file(parts[0].before_file))
        target.claim_joined(parts)
        added = _take_over(experiment, parts, target)
    missing = experiment.episode_count - target.count_finished(experiment)
    return MergedRun(target, experiment.episode_count, added, missing, _explain(parts) if missing else "")


def _order(part: RunFolder) -> tuple[int, int]:
    held = part.shard()
    return (0, 0) if held is None else (held.total, held.number)


def _check_same(first: RunFolder, other: RunFolder, *, accepted: bool) -> None:
    """Refuse folders of different experiments or prompts, that began with different world models, or of other code.

    Args:
        first: A folder.
        other: Another.
        accepted: Whether the user said that the code may differ.

    Raises:
        UserError: They do not belong together.
    """
    ours, theirs = first.experiment().model_dump(mode="json"), other.experiment().model_dump(mode="json")
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            raise UserError(
                f"{other.path} is of another experiment than {first.path}: its {name} {_show(theirs.get(name))}, not "
                f"{_show(ours.get(name))}"
            )
    before, after = first.prompts(), other.prompts()
    if changed := [name for name in {**before, **after} if before.get(name) != after.get(name)]:
        raise UserError(
            f"{other.path} was played with another {_list(changed, ', ')} than {first.path}: play all shards with one "
            "version of the prompts"
        )
    if not accepted and (changed := _changed_code(first, other)):
        raise UserError(
            f"{other.path} was played by other code than {first.path}: its {_list(changed, ', ')} differs; play all "
            "shards with one version of everything, or add --accept-changes to join them all the same"
        )
    if _began_with(first) != _began_with(other):
        raise UserError(f"{other.path} began with other world models than {first.path}")


def _show(value: object) -> str:
    text = f"is {value}"
    return text if len(text) < _LONGEST else f"{text[:_LONGEST]}..."


def _changed_code(first: RunFolder, other: RunFolder) -> list[str]:
    """Return the names of the parts of the code that two runs were not both played by."""

    def versions(folder: RunFolder) -> dict[str, set[object]]:
        codes = folder.codes()
        return {name: {code.get(name) for code in codes} for name in {key for code in codes for key in code} - {"from"}}

    ours, theirs = versions(first), versions(other)
    return sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))


def _began_with(folder: RunFolder) -> Mapping[str, object]:
    if not folder.before_file.exists():
        return {}
    with MemoryStore(folder.before_file, readonly=True) as memory:
        return {name: memory.deltas(name) for name in memory.runs()}


class _Part:
    """What stands in one of the folders that are joined."""

    def __init__(self, folder: RunFolder, stack: ExitStack) -> None:
        self.folder = folder
        self.results = stack.enter_context(Results(folder.results_file, readonly=True))
        self.calls = stack.enter_context(CallStore(folder.results_file, readonly=True))
        self.counts = self.calls.counts()
        """Calls on record, by cell and episode."""
        self._memory = stack.enter_context(MemoryStore(folder.memory_file, readonly=True))

    def copy_log(self, cell: RunCell, row: EpisodeRow, target: RunFolder) -> None:
        """Copy the log of a finished episode; raises ``UserError`` where it is not what was played."""
        path = target.new_log(cell, row.episode)
        path.parent.mkdir(parents=True, exist_ok=True)
        source, draft = self.folder.log(cell, row.episode), path.with_name(f"{path.name}.tmp")
        for _ in read_log(source, expected=row.digest):
            pass
        draft.unlink(missing_ok=True)
        with open_file(source) as file, draft.open("xb") as copy:
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
        draft.replace(path)

    def deltas(self, cell: RunCell, episodes: Collection[int]) -> list[MemoryDelta]:
        """Return what was learned in some episodes."""
        return [delta for delta in self._memory.deltas(cell.name) if delta.episode in episodes]


def _take_over(experiment: ExperimentSpec, folders: Sequence[RunFolder], target: RunFolder) -> int:
    """Take over the finished episodes that are not there yet, with their calls, and calls of unfinished ones.

    Cells follow one another as in one run, so that what is stored stands in the same order. Of an episode that came to
    its end nowhere, the longest record of calls is kept: who goes on with the run does not pay them again.
    """
    added = 0
    with ExitStack() as stack:
        results = stack.enter_context(Results(target.results_file))
        memory = stack.enter_context(MemoryStore(target.memory_file))
        calls = stack.enter_context(CallStore(target.results_file))
        parts = [_Part(folder, stack) for folder in folders if folder.results_file.exists()]
        counts = calls.counts()
        finished: set[tuple[str, int]] = set()
        for cell in experiment.cells():
            held = {row.episode: (target, row) for row in results.rows(cell)}
            for part in parts:
                new = [row for row in part.results.rows(cell) if _is_new(cell, row, part.folder, held)]
                for row in new:
                    part.copy_log(cell, row, target)
                    place = (cell.name, row.episode)
                    if place in counts or place in part.counts:
                        calls.take_over(part.calls, *place)
                for delta in part.deltas(cell, {row.episode for row in new}) if new else ():
                    memory.commit(cell.name, delta)
                results.add_all(new)
                held |= {row.episode: (part.folder, row) for row in new}
                added += len(new)
            finished |= {(cell.name, episode) for episode in held}
        open_places = {
            (cell.name, n) for cell in experiment.cells() for n in range(1, experiment.episodes + 1)
        } - finished
        for part in parts:
            for place in sorted(open_places & part.counts.keys()):
                if part.counts[place] > counts.get(place, 0):
                    calls.take_over(part.calls, *place)
                    counts[place] = part.counts[place]
    return added


def _is_new(
    cell: RunCell, row: EpisodeRow, folder: RunFolder, held: Mapping[int, tuple[RunFolder, EpisodeRow]]
) -> bool:
    """Return whether an episode is not there yet; raises ``UserError`` where it is, and was played differently."""
    if row.episode not in held:
        return True
    where, known = held[row.episode]
    if known.digest != row.digest:
        raise UserError(
            f"episode {row.episode} of {cell.name} was played twice, and differently, in {where.path} and in "
            f"{folder.path}: leave one of them out"
        )
    return False


def _explain(parts: Sequence[RunFolder]) -> str:
    """Return in words which shards are not there, and which are not finished."""
    begun: dict[Shard, tuple[int, int]] = {}
    for part in parts:
        if (held := part.shard()) is not None:
            done = part.count_finished(part.experiment())
            begun[held.shard] = max(begun.get(held.shard, (0, 0)), (done, held.episodes))
    if len({shard.total for shard in begun}) != 1:
        return ""
    total = next(iter(begun)).total
    absent = [f"{shard}" for shard in (Shard(number, total) for number in range(1, total + 1)) if shard not in begun]
    short = [
        f"shard {shard} has {done} of {wanted} episodes" for shard, (done, wanted) in begun.items() if done < wanted
    ]
    return "; ".join(([f"no shard {_list(absent, ', ')}"] if absent else []) + ([_list(short, ", ")] if short else []))


def _list(words: Sequence[str], separator: str) -> str:
    rest = len(words) - _SHOWN
    return separator.join(words[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
