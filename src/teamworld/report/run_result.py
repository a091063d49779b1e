"""Runs from Python: the rows of a run, which show themselves as the tables that the command prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from teamworld.experiment import api
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.remote import local_folder, url_of
from teamworld.experiment.store.results import EpisodeRow
from teamworld.methods.contract import Method
from teamworld.report import export, tables
from teamworld.report.episode_columns import EpisodeColumns


class RunResult(list[EpisodeRow]):
    """The rows of a run, one an episode; a notebook shows its tables."""

    def __init__(self, rows: Iterable[EpisodeRow], folder: Path) -> None:
        super().__init__(rows)
        self.folder = folder
        """Of the run."""

    def _repr_markdown_(self) -> str:
        experiment = RunFolder(self.folder).experiment()
        parts = [
            f"**{table.title}**\n\n{export.markdown(table.columns, table.rows)}\n*{table.caption}*\n"
            for table in tables.of_run(EpisodeColumns(self), experiment)
        ]
        return "\n".join(parts)


def run(
    world: str | ExperimentSpec | object = "cube",
    *,
    method: str | type[Method] | Iterable[str | type[Method]] | None = None,
    seed: int | Iterable[int] | None = None,
    out: Path | str,
    progress: Callable[[EpisodeRow], None] | None = None,
    running: RunOptions | None = None,
    **fields: Any,
) -> RunResult:
    """Run episodes, or continue a run that was stopped; the same as ``teamworld run``.

    Args:
        world: Name of a world, or a whole experiment. A world, a method or a reasoner may also be the class itself, as
            it stands in a module, a script or a notebook; only one in a module can be replayed by another process.
        method: One coordination method, or several: ``methods`` of the experiment.
        seed: One seed, or several: ``seeds`` of the experiment.
        out: Folder of the run, or a URL such as ``s3://BUCKET/FOLDER``.
        progress: Called with each finished episode; left out, a notebook shows a bar.
        running: How to carry it out: budget, keys, calls in flight, cache.
        fields: Other fields of ``teamworld.experiment.spec.ExperimentSpec``, by name: ``level``, ``reasoner``,
            ``episodes``, ``max_steps``, ``options`` and so on.

    Returns:
        One row an episode, ordered by method, seed and episode.

    Raises:
        UserError: The arguments or the folder cannot be used.
    """
    if isinstance(out, str | Path) and url_of(out) is not None:
        out = local_folder(out)
    if progress is None and Console().is_jupyter:
        progress = _NotebookBar(RunFolder(Path(out))).add
    rows = api.run(world, method=method, seed=seed, out=out, progress=progress, running=running, **fields)
    return RunResult(rows, Path(out))


class _NotebookBar:
    """A bar below a cell of a notebook; its own total stands in the run's folder once the run has begun."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._count, self._total = folder, 0, 0
        self._handle: Any = None

    def add(self, row: EpisodeRow) -> None:
        """Count one more episode."""
        display = import_module("IPython.display").display
        self._total = self._total or self._folder.experiment().episode_count
        self._count += 1
        bar = f'<progress value="{self._count}" max="{self._total}"></progress> {self._count} of {self._total} episodes'
        shown = {"text/html": bar, "text/plain": f"{self._count} of {self._total} episodes"}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
