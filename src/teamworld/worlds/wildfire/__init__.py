"""Wildfire: firefighters, bulldozers, drones and helicopters against a fire that spreads (after CREW-Wildfire).

``world`` is what methods play; ``physics`` and ``incident`` are the simulator under it, ``levels`` and ``placement``
say what is played. ``parallel_env`` and ``vector_env`` are environments for learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.env import parallel_env
    from teamworld.worlds.wildfire.vector import vector_env

__all__ = ["parallel_env", "vector_env"]

_HOMES = {"parallel_env": "env", "vector_env": "vector"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(f"teamworld.worlds.wildfire.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'teamworld.worlds.wildfire' has no attribute '{name}'")
