"""Overcooked of the package ``cogrid``: two cooks fill pots with onions, plate soups and deliver them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.adapters.overcooked.env import parallel_env

__all__ = ["parallel_env"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("teamworld.worlds.adapters.overcooked.env"), name)
    raise AttributeError(f"module 'teamworld.worlds.adapters.overcooked' has no attribute '{name}'")
