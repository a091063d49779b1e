"""CUBE: agents push square blocks, alone or together, to the right edge of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.worlds.cube.env import parallel_env, vector_env
    from teamworld.worlds.cube.state import Block, Layout

__all__ = ["Block", "Layout", "parallel_env", "vector_env"]

_HOMES = {"Block": "state", "Layout": "state", "parallel_env": "env", "vector_env": "env"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(f"teamworld.worlds.cube.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'teamworld.worlds.cube' has no attribute '{name}'")
