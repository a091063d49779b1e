"""Work for processes, in a module that they import quickly."""

from __future__ import annotations

import os
import sys
import threading
from typing import NamedTuple

from teamworld.errors import UserError


class Task(NamedTuple):
    """A number to square; 13 is refused."""

    number: int
    waits_for: threading.Event | None = None
    """Of another task; shared between processes."""
    sets: threading.Event | None = None


def squared(task: Task) -> tuple[int, int]:
    """Return a number's square and the process that found it."""
    if task.number == 13:
        raise UserError("not that one")
    if task.waits_for is not None:
        assert task.waits_for.wait(60)
    if task.sets is not None:
        task.sets.set()
    return task.number**2, os.getpid()


def work_without_end(_: int) -> None:
    """Say that it has begun, and never end."""
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    threading.Event().wait()
