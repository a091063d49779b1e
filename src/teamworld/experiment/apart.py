"""Cells in processes of their own, where nobody is asked: as many at a time as there are processors.

Each cell writes its own logs; results and world models are shared files that take one writer at a time. A worker ends
with the process that started it, also where that one is killed, so that nobody writes into a folder that is not held.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing.connection import wait

from teamworld.experiment.config import Cell, Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.results import Row

#: Episodes below which processes of their own take longer to start than they save.
WORTH = 40
#: Runs one cell in a folder and returns its episodes.
Work = Callable[[Experiment, Folder, Cell], list[Row]]


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not told on this system
        return os.cpu_count() or 1


def run_apart(
    work: Work,
    experiment: Experiment,
    folder: Folder,
    cells: Sequence[Cell],
    processes: int,
    progress: Callable[[Row], None],
) -> None:
    """Run cells in processes of their own; the first error ends the others."""
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
    with ProcessPoolExecutor(min(processes, len(cells)), context, _begin) as pool:
        try:
            for future in as_completed([pool.submit(work, experiment, folder, cell) for cell in cells]):
                for row in future.result():
                    progress(row)
        except BaseException:
            for process in list((pool._processes or {}).values()):  # a cell may take long
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _begin() -> None:
    """Make a worker end with its parent, and leave interrupts to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
