"""Household: two or more agents fetch things in an apartment with rooms, doors and closed containers (C-WAH).

``world`` is what methods play, ``physics`` the simulator under it; ``levels`` say what is played. ``parallel_env`` is
an environment for learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.household.env import parallel_env

__all__ = ["parallel_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("teamworld.worlds.household.env"), name)
    raise AttributeError(f"module 'teamworld.worlds.household' has no attribute '{name}'")
