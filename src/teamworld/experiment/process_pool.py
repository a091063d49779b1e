"""Work in processes of its own, as many at a time as there are processors.

A worker ends with the process that started it, also where that one is killed, so that nobody writes into a folder that
is not held. It does not import what the user runs: a script needs no guard, and a notebook works too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import wait
from types import ModuleType
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not told on this system
        return os.cpu_count() or 1


def many(episodes: int, worth: int, asked: int | None) -> int:
    """Return how many processes take so many episodes.

    Args:
        episodes: In all.
        worth: Episodes below which processes take longer to start than they save.
        asked: What the user wants; None: as many as there are processors, if they are worth it.
    """
    if asked is not None:
        return asked
    return processors() if episodes >= worth else 1


def in_order(work: Callable[[Task], Result], tasks: Sequence[Task], processes: int) -> Generator[Result]:
    """Yield what each task gives, in the order of the tasks; the first error ends the others.

    Args:
        work: A function of a module, which processes can import.
        tasks: What it is called with.
        processes: How many at a time; with one, or for one task, all is done here.
    """
    if processes < 2 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    with _started(work, tasks, processes) as futures:
        futures.reverse()
        while futures:
            yield futures.pop().result()  # and no longer held


def as_done(work: Callable[[Task], Result], tasks: Sequence[Task], processes: int) -> Iterator[Result]:
    """Yield what each task gives, in the order in which they end; always in processes, otherwise as ``in_order``."""
    with _started(work, tasks, processes) as futures:
        for future in as_completed(futures):
            yield future.result()


@contextmanager
def _started(work: Callable[[Task], Result], tasks: Sequence[Task], processes: int) -> Iterator[list[Future[Result]]]:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
    with ProcessPoolExecutor(min(processes, len(tasks)), context, _begin) as pool:
        try:
            with _nothing_run(), _uninterrupted():
                futures = [pool.submit(work, task) for task in tasks]
            yield futures
        except BaseException:
            for process in list((pool._processes or {}).values()):  # a task may take long
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@contextmanager
def _nothing_run() -> Iterator[None]:
    """Hide the user's script while processes start, for each would run it again."""
    name = "__main__"
    script = sys.modules[name]
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        sys.modules[name] = script


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold interrupts back while processes start, which inherit that: before they can ignore one, each would tell."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Make a worker end with its parent, and leave interrupts to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
