"""Work for processes, in a module that they import quickly."""

from __future__ import annotations

import os
import time

from teamworld.errors import UserError


def squared(number: int) -> tuple[int, int]:
    """Return a number's square and the process that found it; 13 is refused."""
    if number == 13:
        raise UserError("not that one")
    time.sleep(0.05 * (number % 2))
    return number**2, os.getpid()
