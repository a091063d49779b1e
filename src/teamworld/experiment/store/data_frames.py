"""Results as data frames: one row for each episode, call or event, with what it was run on beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.comparison_runs import SILENT, is_twin, twin_name
from teamworld.experiment.episode_metrics import of_runs
from teamworld.experiment.grid import runs
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.metrics.definition import metrics
from teamworld.record import read_log

if TYPE_CHECKING:
    from polars import DataFrame

_Columns: TypeAlias = Mapping[str, type]
#: Columns that all frames begin with: where a row is from. The talk is null where only one rule could apply. A method
#: that a comparison ran in silence is ``silent:METHOD``.
_PLACE: _Columns = {
    **{"run": str, "world": str, "level": str, "instances": str, "method": str, "reasoner": str, "talk": str},
    **{"seed": int, "episode": int},
}
_CALL: _Columns = {
    **{"respondent": str, "purpose": str, "number": int, "attempt": int, "model": str, "served": str, "finish": str},
    **{"prompt_tokens": int, "cached_tokens": int, "written_tokens": int, "output_tokens": int},
    **{"reasoning_tokens": int, "seconds": float, "usd": float, "faults": int, "cached": bool},
    **{"lost_prompt_tokens": int, "lost_output_tokens": int, "uncounted_tries": int},
}
#: What stands in a column of its own in the frame of events; the rest is JSON.
_EVENT: _Columns = {"seq": int, "step": int, "tick": int, "kind": str, "agent": str, "goal": str, "plan": int}


class Frames:
    """The results of a run or a grid of runs; each frame is made when it is first read.

    A frame has the same columns of the same types for every run, also where it has no row.

    Args:
        folder: Of the run or the grid; one that goes on may be read too.

    Raises:
        UserError: It holds neither.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = [(RunFolder(path), experiment) for path, experiment in runs(folder)]

    def __repr__(self) -> str:
        return f"<frames episodes, calls and events of {len(self._runs)} runs in {self._folder}>"

    @cached_property
    def episodes(self) -> DataFrame:
        """One row an episode: where and with what it was run, its seconds, and all metrics by name; null where null.

        Episodes with the same ``layout`` took place in the same; those with the same ``play`` are copies; those with
        the same ``code`` were played by the same code.
        """
        rows = []
        for run, (cell, row, values, _, identity) in of_runs(self._runs):
            numbers = {name: value.value for name, value in values.items()}
            own = identity._asdict() | {"code": row.summary.code, "seconds": row.seconds}
            rows.append(_place(*run, cell, row.episode) | own | numbers)
        measured = [name for name, metric in metrics().items() if metric.basis == "log"]
        return _frame(
            rows, {"layout": str, "play": str, "code": str, "seconds": float, **dict.fromkeys(measured, float)}
        )

    @cached_property
    def calls(self) -> DataFrame:
        """One row a call of a language model: who was asked what, tokens, seconds, dollars, faults."""
        rows: list[dict[str, Any]] = []
        for folder, experiment in self._runs:
            if not folder.results_file.exists():
                continue
            cells = {cell.name: cell for cell in experiment.cells()}
            with CallStore(folder.results_file, readonly=True) as store:
                for call in store.rows():
                    fields = {name: value for name, value in call._asdict().items() if name in _CALL}
                    rows.append(_place(folder, experiment, cells[call.cell], call.episode) | fields)
        return _frame(rows, _CALL)

    @cached_property
    def events(self) -> DataFrame:
        """One row an event of the logs; what has no column of its own stands as JSON in ``data``."""
        rows = []
        for folder, experiment in self._runs:
            for cell, row in folder.finished(experiment):
                place = _place(folder, experiment, cell, row.episode)
                for event in read_log(folder.log(cell, row.episode), expected=row.digest):
                    fields = msgspec.to_builtins(event)
                    own = {name: fields.pop(name, None) for name in _EVENT}
                    rows.append(place | own | {"data": msgspec.json.encode(fields).decode()})
        return _frame(rows, {**_EVENT, "data": str})


def _place(folder: RunFolder, experiment: ExperimentSpec, cell: RunCell, episode: int) -> dict[str, Any]:
    is_silent = folder.path.name == SILENT and experiment.options.get("messages", {}).get("loss") == 1.0
    return {
        "run": str(folder.path),
        "world": experiment.world,
        "level": experiment.level,
        "instances": str(experiment.instances),
        "method": f"{SILENT}:{cell.method}"
        if is_silent
        else twin_name(cell.method)
        if is_twin(folder.path, experiment)
        else cell.method,
        "reasoner": experiment.reasoner,
        "talk": experiment.talk,
        "seed": cell.seed,
        "episode": episode,
    }


def load(folder: Path | str) -> Frames:
    """Load the results of a run, or of a grid of runs, as data frames (needs the extra: tables); see ``Frames``."""
    return Frames(Path(folder))


def _frame(rows: Sequence[dict[str, Any]], columns: _Columns) -> DataFrame:
    try:
        import polars
    except ImportError:
        raise UserError("data frames need another package: pip install 'teamworld[tables]'") from None
    return polars.DataFrame(rows, schema={**_PLACE, **columns}, orient="row")
