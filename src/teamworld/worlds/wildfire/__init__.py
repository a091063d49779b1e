"""Wildfire: firefighters, bulldozers, drones and helicopters against a fire that spreads (after CREW-Wildfire).

``world`` is what methods play, ``physics`` the simulator under it, ``levels`` what is played. ``parallel_env`` and
``vector_env`` are environments for learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.env import parallel_env, vector_env

__all__ = ["parallel_env", "vector_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    if name in __all__:
        from teamworld.worlds.wildfire import env

        return getattr(env, name)
    raise AttributeError(f"module 'teamworld.worlds.wildfire' has no attribute '{name}'")
