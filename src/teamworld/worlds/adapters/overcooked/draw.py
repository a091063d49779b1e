"""A moment of the kitchen as data for pictures and the replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.worlds.adapters.overcooked.state import NOTHING, Kitchen, KitchenState


def static(kitchen: Kitchen) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    stations = {kind: [list(cell) for cell in cells] for kind, cells in kitchen.stations}
    return {"size": list(kitchen.size), "floor": [list(cell) for cell in sorted(kitchen.floor)], "stations": stations}


def snapshot(state: KitchenState) -> Mapping[str, Any]:
    """Return cooks in the team's order with what they hold, pots, what lies on counters, and soups delivered."""
    return {
        "v": 1,
        "agents": [[*cell, state.faces[agent], state.hands.get(agent, NOTHING)] for agent, cell in state.at.items()],
        "pots": [[pot.onions, pot.left] for pot in state.pots],
        "counters": [[number, thing] for number, thing in state.counters.items()],
        "delivered": state.delivered,
    }
