"""A moment of foraging as data for pictures and the replay, see ``adapters.picture``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.worlds.adapters.lbf.state import Field, ForagingState


def static(field: Field) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    return {"size": list(field.size)}


def snapshot(state: ForagingState) -> Mapping[str, Any]:
    """Return the places and levels of foragers in the team's order, and of the food that is left."""
    return {
        "v": 1,
        "agents": [[*cell, state.levels[agent]] for agent, cell in state.at.items()],
        "foods": [[*cell, food.level] for cell, food in state.foods.items() if not food.loaded],
    }
