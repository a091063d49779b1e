"""A moment of foraging as data for pictures and the replay, see ``base.picture``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.worlds.adapters.lbf.state import Field, ForagingState
from teamworld.worlds.base import picture


def static(field: Field) -> dict[str, Any]:
    """Return what a drawing needs to know once."""
    kinds: dict[str, picture.Kind] = {"food": ("square", "#d9a441", "food with its level; agents show theirs")}
    return picture.static(field.size, kinds)


def snapshot(state: ForagingState) -> Mapping[str, Any]:
    """Return the places and levels of foragers in the team's order, and of the food that is left."""
    agents = [(cell, str(state.levels[agent]), "", "") for agent, cell in state.at.items()]
    return picture.snapshot(
        agents, [(cell, "food", str(state.foods[cell].level)) for cell in sorted(state.fields_of_food())]
    )
