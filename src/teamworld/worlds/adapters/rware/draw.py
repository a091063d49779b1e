"""A moment of the warehouse as data for pictures and the replay, see ``adapters.picture``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.worlds.adapters.rware.state import FloorPlan, WarehouseState


def static(floor: FloorPlan) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    return {"size": list(floor.size), "goals": [list(goal) for goal in floor.goals]}


def snapshot(state: WarehouseState, floor: FloorPlan) -> Mapping[str, Any]:
    """Return where robots are in the team's order, and where shelves stand and which of them are ordered."""
    return {
        "v": 1,
        "agents": [[*cell, state.facing[agent], agent in state.held] for agent, cell in state.at.items()],
        "shelves": [
            [*slot, state.order_of(slot) is not None] for slot in sorted(floor.slots - set(state.held.values()))
        ],
    }
