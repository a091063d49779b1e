"""A moment of the warehouse as data for pictures and the replay, see ``base.picture``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.worlds.adapters.rware.state import FloorPlan, WarehouseState
from teamworld.worlds.base import picture

_KINDS: Mapping[str, picture.Kind] = {
    "goal": ("tile", "#7fc8a4", "goal"),
    "slot": ("tile", "#ece9e2", "slot of a shelf"),
    "shelf": ("square", "#b9a58f", "shelf"),
    "ordered": ("square", "#d9792b", "shelf with an order"),
}


def static(floor: FloorPlan) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    slots = [(slot, "slot") for slot in sorted(floor.slots)]
    return picture.static(floor.size, _KINDS, [*((goal, "goal") for goal in floor.goals), *slots])


def snapshot(state: WarehouseState, floor: FloorPlan) -> Mapping[str, Any]:
    """Return where robots are in the team's order, and where shelves stand and which of them are ordered."""

    def kind(slot: tuple[int, int]) -> str:
        return "shelf" if state.order_of(slot) is None else "ordered"

    agents = [
        (cell, str(number), state.facing[agent], kind(state.held[agent]) if agent in state.held else "")
        for number, (agent, cell) in enumerate(state.at.items())
    ]
    standing = sorted(floor.slots - set(state.held.values()))
    return picture.snapshot(agents, [(slot, kind(slot), "") for slot in standing])
