"""The levels: names that the package registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SIZES: Final[Mapping[str, int]] = {"tiny": 3, "small": 6, "medium": 10}
_QUEUES: Final[Mapping[str, str]] = {
    "-easy": "twice as many shelves requested at a time as robots",
    "": "as many shelves requested at a time as robots",
    "-hard": "half as many shelves requested at a time as robots",
}
_NAMES: Final = (
    *(("tiny", 2, queue) for queue in _QUEUES),
    ("tiny", 4, ""),
    ("small", 4, ""),
    ("medium", 4, "-easy"),
)

#: The levels to list, each with one line; all others that the package registers can be played by name too.
LEVELS: Final[Mapping[str, str]] = {
    f"rware-{size}-{robots}ag{queue}-v2": f"about {_SIZES[size]} racks, {robots} robots, {_QUEUES[queue]}"
    for size, robots, queue in _NAMES
}
