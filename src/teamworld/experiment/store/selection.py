"""An episode of a run, chosen by method, seed and number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder


class SelectedEpisode(NamedTuple):
    """A finished episode of a run."""

    folder: RunFolder
    experiment: ExperimentSpec
    cell: RunCell
    episode: int
    log: Path
    digest: str
    """Of the log, as it was written."""


def select_episode(
    path: Path, method: str | None = None, seed: int | None = None, episode: int | None = None
) -> SelectedEpisode:
    """Return a finished episode of a run.

    Args:
        path: The run's folder.
        method: One of its methods; the first with a finished episode if None.
        seed: One of its seeds; the first with a finished episode if None.
        episode: The last finished one if None.

    Raises:
        UserError: The folder holds no run, or the run no such method, seed or finished episode.
    """
    folder = RunFolder(path)
    experiment = folder.experiment()
    if method is not None and method not in experiment.methods:
        raise UserError(f"{path} has no method '{method}'{suggest(method, list(experiment.methods))}")
    if seed is not None and seed not in experiment.seeds:
        raise UserError(f"{path} has no seed {seed}; it has: {_listed(experiment.seeds)}")
    cells = [cell for cell in experiment.cells() if method in (None, cell.method) and seed in (None, cell.seed)]
    begun = ((cell, digests) for cell in cells if (digests := folder.digests(cell)))
    cell, digests = next(begun, (cells[0], {}))
    episodes = list(digests)
    which = f"{cell.method} with seed {cell.seed}"
    if not episodes:
        failed = any(place in cells for place, _ in folder.errors(experiment))
        again = " (some ended in an error: add --repeat-errors)" if failed else ""
        raise UserError(f"{path} has no finished episode of {which} yet: go on with teamworld resume {path}{again}")
    if episode is not None and episode not in episodes:
        raise UserError(f"{path} has no finished episode {episode} of {which}: it has {_range(episodes)}")
    selected = episodes[-1] if episode is None else episode
    return SelectedEpisode(folder, experiment, cell, selected, folder.log(cell, selected), digests[selected])


def _range(numbers: Sequence[int]) -> str:
    is_whole = len(numbers) > 1 and list(numbers) == list(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]} to {numbers[-1]}" if is_whole else _listed(numbers)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", ..." if len(numbers) > 12 else "")
