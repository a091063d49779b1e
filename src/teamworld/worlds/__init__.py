"""Embodied worlds. Each is a folder with the same rooms; see ``teamworld.worlds.contract``."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from teamworld.worlds import adapters, base, contract, cube, household, registry, rooms, transport, wildfire

__all__ = ["adapters", "base", "contract", "cube", "household", "registry", "rooms", "transport", "wildfire"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'teamworld.worlds' has no attribute '{name}'")
    return _import_module(f"teamworld.worlds.{name}")


def __dir__() -> list[str]:
    return __all__
