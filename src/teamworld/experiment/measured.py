"""The metrics of a run's finished episodes, from their logs and from the record of their calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from teamworld.experiment.calls import CallStore
from teamworld.experiment.config import Cell, Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.results import Results, Row
from teamworld.metrics.definition import Value
from teamworld.metrics.episode import gather
from teamworld.metrics.measure import measure
from teamworld.reasoning.llm.prices import Prices
from teamworld.record import read_log


class Measured(NamedTuple):
    """One episode with its metrics."""

    cell: Cell
    row: Row
    values: dict[str, Value]


def of_log(path: Path) -> dict[str, Value]:
    """Return the metrics of a log alone: what needs seconds or dollars is null.

    Raises:
        UserError: It is no finished log.
    """
    return measure(gather(read_log(path)))


def finished(folder: Folder, experiment: Experiment) -> list[tuple[Cell, Row]]:
    """Return the finished episodes of a run, in the order of its cells."""
    if not folder.results_file.exists():
        return []
    with Results(folder.results_file, readonly=True) as results:
        return [(cell, row) for cell in experiment.cells() for row in results.rows(cell)]


def of_run(folder: Folder, experiment: Experiment) -> Iterator[Measured]:
    """Measure the finished episodes of a run one after the other.

    Raises:
        UserError: A log is missing or damaged.
    """
    done = finished(folder, experiment)
    if not done:
        return
    prices = Prices.load(None)
    with CallStore(folder.results_file, readonly=True) as store:
        for cell, row in done:
            calls = [call._replace(usd=call.price(prices)) for call in store.rows(cell, row.episode)]
            yield Measured(cell, row, measure(gather(read_log(folder.log(cell, row.episode))), calls))
