"""What must hold of a run before it is played again: nothing that was registered is missing, nothing is too much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from teamworld.errors import UserError, brief
from teamworld.experiment.code_identity import dependencies_digest
from teamworld.experiment.registration import Registration
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.record import EpisodeStart, read_log

#: Episodes of a run; each takes part of a second to play again.
MOST_EPISODES: Final = 1_000_000
_OLDER: Final = "it was begun by a version that did not keep them, or they were taken out: run it anew"


def check_run(folder: RunFolder, experiment: ExperimentSpec) -> Iterator[str]:
    """Yield a line for each thing that does not hold of a run, as far as that shows without playing it.

    Its registrations follow one another and name all that the run is to hold; each of its episodes is there once, or
    ended in an error that is on record; each log says that it was played by the code, with the packages and under a
    registration that the run names.

    Args:
        folder: The run.
        experiment: Its experiment.

    Raises:
        UserError: A file is damaged.
    """
    if experiment.episode_count > MOST_EPISODES:
        raise UserError(f"{folder.path} is to hold {experiment.episode_count:,} episodes: at most {MOST_EPISODES:,}")
    record = folder.record()
    registrations, packages, codes = record.registered or (), record.packages or {}, record.code or ()
    yield from _check_registrations(registrations, experiment)
    if not packages:
        yield f"no packages are named that it was played with: {_OLDER}"
    for digest, lines in packages.items():
        if dependencies_digest(lines) != digest:
            yield f"the packages that it was played with are not those of their digest {brief(digest)}"
    rows = _rows(folder)
    yield from _check_rows(rows, folder, experiment)
    cells = {cell.name: cell for cell in experiment.cells()}
    for row in rows:
        if row.cell in cells and 1 <= row.episode <= experiment.episodes:
            cell = cells[row.cell]
            if (start := _start_of(folder.log(cell, row.episode))) is not None:
                problems = _check_start(start, cell, row.episode, registrations, packages, codes)
                yield from (f"logs/{cell.name}/{row.episode:04d}: {problem}" for problem in problems)


def _check_registrations(registrations: Sequence[Registration], experiment: ExperimentSpec) -> Iterator[str]:
    """Yield what is wrong with the chain of registrations, and what the experiment has that it does not."""
    if not registrations:
        yield f"its seeds were not registered before the first call: {_OLDER}"
        return
    before = ""
    for number, entry in enumerate(registrations, start=1):
        if entry.sealed(before).digest != entry.digest:
            yield f"registration {number} is not that of its digest {brief(entry.digest)}"
        before = entry.digest
    last = registrations[-1]
    for what, registered, held in (
        ("method", last.methods, experiment.methods),
        ("seed", last.seeds, experiment.seeds),
        ("number of episodes", (last.episodes,), (experiment.episodes,)),
    ):
        yield from (f"{what} {brief(value)} was registered and is missing" for value in registered if value not in held)
        yield from (f"{what} {brief(value)} was not registered" for value in held if value not in registered)


def _rows(folder: RunFolder) -> list[EpisodeRow]:
    if not folder.results_file.exists():
        return []
    with Results(folder.results_file, readonly=True) as results:
        return results.rows()


def _check_rows(rows: Sequence[EpisodeRow], folder: RunFolder, experiment: ExperimentSpec) -> Iterator[str]:
    """Yield the episodes that are missing and those that are too many, among rows and among logs."""
    cells = {cell.name: cell for cell in experiment.cells()}
    held = {(row.cell, row.episode) for row in rows}
    failed = {(cell.name, episode) for cell, episode in folder.errors(experiment)}
    for name in cells:
        is_lost = False
        for episode in range(1, experiment.episodes + 1):
            is_lost |= (name, episode) in failed  # and what would have learned from it was not played
            if (name, episode) not in held and not is_lost:
                yield f"episode {episode} of {name} is missing"
    for row in rows:
        cell = cells.get(row.cell)
        if cell is None or not 1 <= row.episode <= experiment.episodes:
            yield f"episode {row.episode} of {brief(row.cell)} is no part of the run"
        elif (row.method, row.seed) != cell:
            yield f"episode {row.episode} of {row.cell} is said to be of {brief(row.method)}, seed {row.seed}"
    logs = {path.relative_to(folder.path).as_posix() for path in folder.path.glob("logs/**/*") if path.is_file()}
    named = {folder.log(cells[c], e).relative_to(folder.path).as_posix() for c, e in held if c in cells}
    yield from (f"{name} is a log of no episode of the run" for name in sorted(logs - named))
    yield from (f"{name} is missing" for name in sorted(named - logs))


def _start_of(path: Path) -> EpisodeStart | None:
    """Return the first record of a log; None where there is none, which is found when it is compared."""
    try:
        start = next(iter(read_log(path, whole=False)), None)
    except UserError:
        return None
    return start if isinstance(start, EpisodeStart) else None


def _check_start(
    start: EpisodeStart,
    cell: RunCell,
    episode: int,
    registrations: Sequence[Registration],
    packages: Mapping[str, Sequence[str]],
    codes: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Yield what the first record of an episode says that the run does not."""
    entry = next((entry for entry in registrations if entry.digest == start.registered), None)
    if entry is None:
        yield "it was played under no registration of the run: what was to be played has been changed since"
    elif cell.method not in entry.methods or cell.seed not in entry.seeds or episode > entry.episodes:
        yield "the registration that it was played under does not name it"
    code: Mapping[str, str] = {} if start.code is msgspec.UNSET else start.code
    if not code or not any(all(held.get(name) == digest for name, digest in code.items()) for held in codes):
        yield "it was played by code that the run does not name"
    if code.get("dependencies") not in packages:
        yield "it was played with packages that the run does not name"
