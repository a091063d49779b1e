"""The levels: names that the package registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SETS: Final[Mapping[str, tuple[int, ...]]] = {
    # name: side, foragers, foods
    "Foraging-5x5-2p-1f-v3": (5, 2, 1),
    "Foraging-8x8-2p-1f-v3": (8, 2, 1),
    "Foraging-8x8-2p-2f-coop-v3": (8, 2, 2),
    "Foraging-2s-8x8-2p-2f-coop-v3": (8, 2, 2),
    "Foraging-10x10-3p-3f-v3": (10, 3, 3),
    "Foraging-2s-10x10-3p-3f-v3": (10, 3, 3),
    "Foraging-15x15-3p-4f-v3": (15, 3, 4),
    "Foraging-15x15-4p-3f-v3": (15, 4, 3),
}


def _summary(name: str, side: int, foragers: int, foods: int) -> str:
    lift = "each takes up to three foragers together" if "coop" in name else "of any level that the team can load"
    sight = ", foragers see 2 cells far" if "-2s-" in name else ""
    return f"{side} x {side} cells, {foragers} foragers, {foods} food{'s' * (foods > 1)}, {lift}{sight}"


#: The levels to list, each with one line; all others that the package registers can be played by name too.
LEVELS: Final[Mapping[str, str]] = {name: _summary(name, *numbers) for name, numbers in _SETS.items()}
