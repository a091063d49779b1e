"""LBF: level-based foraging of the package ``lbforaging``. Foragers load food, together where it takes their levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.adapters.lbf.env import parallel_env

__all__ = ["parallel_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("teamworld.worlds.adapters.lbf.env"), name)
    raise AttributeError(f"module 'teamworld.worlds.adapters.lbf' has no attribute '{name}'")
