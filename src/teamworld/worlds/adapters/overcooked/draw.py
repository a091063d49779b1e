"""A moment of the kitchen as data for pictures and the replay, see ``base.picture``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from teamworld.worlds.adapters.overcooked.state import FULL, NOTHING, ONION, PLATE, SOUP, Kitchen, KitchenState
from teamworld.worlds.base import picture

_KINDS: Final[dict[str, picture.Kind]] = {
    "counter": ("tile", "#cdbfa8", "counter"),
    "onion_stack": ("tile", "#e3c766", "onions"),
    "plate_stack": ("tile", "#b9c7d4", "plates"),
    "window": ("tile", "#8fbf88", "window: soups go out here"),
    "pot": ("tile", "#8a8a8a", f"pot: onions of {FULL}, then steps until it is cooked, ! when it is"),
    ONION: ("disc", "#c8901e", "onion"),
    PLATE: ("disc", "#7fa3c7", "plate"),
    SOUP: ("disc", "#a8471f", "soup on a plate"),
}


def static(kitchen: Kitchen) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    rows, columns = kitchen.size
    ground = {cell: kind for kind, cells in kitchen.stations for cell in cells}
    walls = ((row, column) for row in range(rows) for column in range(columns) if (row, column) not in kitchen.floor)
    return picture.static(kitchen.size, _KINDS, ((cell, ground.get(cell, "counter")) for cell in walls))


def snapshot(state: KitchenState, kitchen: Kitchen) -> Mapping[str, Any]:
    """Return cooks with what they hold, what pots contain and what lies on counters."""
    agents = [
        (cell, str(number), state.faces[agent], held if (held := state.hands[agent]) != NOTHING else "")
        for number, (agent, cell) in enumerate(state.at.items())
    ]
    labels = ["!" if pot.state == "ready" else str(pot.left or pot.onions) for pot in state.pots]
    pots = [(kitchen.cell(pot), "pot", label) for pot, label in zip(kitchen.list("pot"), labels, strict=True)]
    lying = [(kitchen.cell(c), state.counters[c.id], "") for c in kitchen.list("counter") if c.id in state.counters]
    return picture.snapshot(agents, [*pots, *lying])
