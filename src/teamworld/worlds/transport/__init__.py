"""Transport: agents find things in a house, carry them in hands and containers, and bring them to the bed (TDW-MAT).

``world`` is what methods play, ``physics`` and ``sight`` the simulator under it; ``levels`` say what is played.
``parallel_env`` and ``vector_env`` are environments for learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.transport.env import parallel_env, vector_env

__all__ = ["parallel_env", "vector_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("teamworld.worlds.transport.env"), name)
    raise AttributeError(f"module 'teamworld.worlds.transport' has no attribute '{name}'")
