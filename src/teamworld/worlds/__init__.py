"""Embodied worlds. Each is a folder with the same rooms; see ``teamworld.worlds.contract``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds import cube, rooms

__all__ = ["cube", "rooms"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in __all__:
        return importlib.import_module(f"teamworld.worlds.{name}")
    raise AttributeError(f"module 'teamworld.worlds' has no attribute '{name}'")
