"""RWARE: the robotic warehouse of the package ``rware``. Robots carry ordered shelves to a goal and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.adapters.rware.env import parallel_env

__all__ = ["parallel_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("teamworld.worlds.adapters.rware.env"), name)
    raise AttributeError(f"module 'teamworld.worlds.adapters.rware' has no attribute '{name}'")
