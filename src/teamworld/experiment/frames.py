"""Results as data frames: one row for each episode, call or event, with what it was run on beside it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.calls import CallStore
from teamworld.experiment.config import Cell
from teamworld.experiment.folder import Folder
from teamworld.experiment.measured import finished, of_run
from teamworld.metrics.definition import metrics
from teamworld.record import read_log

if TYPE_CHECKING:
    from polars import DataFrame

#: What stands in a column of its own in the frame of events; the rest is JSON.
_EVENT = ("seq", "step", "tick", "kind", "agent", "goal", "plan")


class Frames:
    """The results of a run; each frame is made when it is first read.

    Args:
        folder: Of the run.

    Raises:
        UserError: It holds no run.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._experiment = folder.experiment()

    @cached_property
    def episodes(self) -> DataFrame:
        """One row an episode: where and with what it was run, its seconds, and all metrics by id; null where null."""
        rows = []
        for cell, row, values in of_run(self._folder, self._experiment):
            told = {name: value.value for name, value in values.items()}
            rows.append(self._place(cell, row.episode) | {"seconds": row.seconds} | told)
        measured = [name for name, metric in metrics().items() if metric.basis == "log"]
        return _frame(rows, numbers=("seconds", *measured))

    @cached_property
    def calls(self) -> DataFrame:
        """One row a call of a language model: who was asked what, tokens, seconds, dollars, faults."""
        cells = {cell.name: cell for cell in self._experiment.cells()}
        rows: list[dict[str, Any]] = []
        if self._folder.results_file.exists():
            with CallStore(self._folder.results_file, readonly=True) as store:
                for call in store.rows():
                    told = {name: value for name, value in call._asdict().items() if name not in ("cell", "episode")}
                    rows.append(self._place(cells[call.cell], call.episode) | told)
        return _frame(rows, numbers=("usd", "seconds"))

    @cached_property
    def events(self) -> DataFrame:
        """One row an event of the logs; what has no column of its own stands as JSON in ``data``."""
        rows = []
        for cell, row in finished(self._folder, self._experiment):
            place = self._place(cell, row.episode)
            for event in read_log(self._folder.log(cell, row.episode)):
                told = msgspec.to_builtins(event)
                own = {name: told.pop(name, None) for name in _EVENT}
                rows.append(place | own | {"data": msgspec.json.encode(told).decode()})
        return _frame(rows)

    def _place(self, cell: Cell, episode: int) -> dict[str, Any]:
        run = self._experiment
        return {
            "run": str(self._folder.path),
            "world": run.world,
            "level": run.level,
            "method": cell.method,
            "reasoner": run.reasoner,
            "seed": cell.seed,
            "episode": episode,
        }


def load(folder: Path | str) -> Frames:
    """Load the results of a run as data frames (needs the extra: tables).

    Args:
        folder: Of the run; one that goes on may be read too.

    Returns:
        An object with the frames ``episodes``, ``calls`` and ``events``.

    Raises:
        UserError: The folder holds no run.
    """
    return Frames(Folder(Path(folder)))


def _frame(rows: list[dict[str, Any]], numbers: tuple[str, ...] = ()) -> DataFrame:
    try:
        import polars
    except ImportError:
        raise UserError("data frames need another package: pip install 'teamworld[tables]'") from None
    names = dict.fromkeys(name for row in rows for name in row)
    kinds = {name: polars.Float64 for name in (*numbers,) if name in names}
    return polars.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)
