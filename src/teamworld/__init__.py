"""teamworld: teams of agents in embodied worlds, measured.

Importing the package is cheap; worlds, methods and the runner load when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teamworld.errors import UserError

if TYPE_CHECKING:
    from teamworld import worlds
    from teamworld.experiment.api import run
    from teamworld.experiment.store.data_frames import load

__version__ = "0.1.0"
__all__ = ["UserError", "load", "run", "worlds"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    import importlib

    if name == "run":
        return importlib.import_module("teamworld.experiment.api").run
    if name == "load":
        return importlib.import_module("teamworld.experiment.store.data_frames").load
    if name == "worlds":
        return importlib.import_module("teamworld.worlds")
    raise AttributeError(f"module 'teamworld' has no attribute '{name}'")
