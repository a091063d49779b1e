"""Which episode of a run is shown."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.config import RunCell
from teamworld.experiment.folder import RunFolder
from teamworld.experiment.results import Results


class Chosen(NamedTuple):
    """A finished episode of a run."""

    cell: RunCell
    episode: int
    log: Path


def choose(folder: Path, method: str | None = None, seed: int | None = None, episode: int | None = None) -> Chosen:
    """Return a finished episode of a run.

    Args:
        folder: The run's folder.
        method: One of its methods; the first if None.
        seed: One of its seeds; the first if None.
        episode: The last finished one if None.

    Raises:
        UserError: The folder holds no run, or the run no such method, seed or finished episode.
    """
    place = RunFolder(folder)
    experiment = place.experiment()
    if method is not None and method not in experiment.methods:
        raise UserError(f"{folder} has no method '{method}'{suggest(method, list(experiment.methods))}")
    if seed is not None and seed not in experiment.seeds:
        raise UserError(f"{folder} has no seed {seed}; it has: {_some(experiment.seeds)}")
    cell = RunCell(method or experiment.methods[0], experiment.seeds[0] if seed is None else seed)
    finished = _finished(place, cell)
    if not finished:
        raise UserError(
            f"{folder} has no finished episode of {cell.method} with seed {cell.seed} yet: "
            f"go on with teamworld resume {folder}"
        )
    if episode is not None and episode not in finished:
        raise UserError(
            f"{folder} has finished episodes {_range(finished)} of {cell.method} with seed {cell.seed}, got {episode}"
        )
    chosen = finished[-1] if episode is None else episode
    return Chosen(cell, chosen, place.log(cell, chosen))


def _finished(place: RunFolder, cell: RunCell) -> list[int]:
    if not place.results_file.exists():
        return []
    with Results(place.results_file, readonly=True) as results:
        return [row.episode for row in results.rows(cell)]


def _range(numbers: list[int]) -> str:
    whole = numbers == list(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]} to {numbers[-1]}" if whole and len(numbers) > 1 else _some(numbers)


def _some(numbers: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", ..." if len(numbers) > 12 else "")
