"""teamworld: teams of agents in embodied worlds, measured.

Importing the package is cheap; worlds, methods and the runner load when first used.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from teamworld.errors import UserError

if _TYPE_CHECKING:
    from typing import Any

    from teamworld import worlds
    from teamworld.experiment.api import register
    from teamworld.experiment.store.data_frames import load
    from teamworld.report.comparison_result import compare
    from teamworld.report.run_result import run
    from teamworld.viewer.recorded_prompt import prompt
    from teamworld.viewer.replay_page import view

__version__ = "0.1.0"
#: What is imported when it is first used, and from where; modules are their own.
_LAZY = {
    "compare": "teamworld.report.comparison_result",
    "prompt": "teamworld.viewer.recorded_prompt",
    "register": "teamworld.experiment.api",
    "run": "teamworld.report.run_result",
    "view": "teamworld.viewer.replay_page",
    "load": "teamworld.experiment.store.data_frames",
    **dict.fromkeys(
        ("language", "memory", "methods", "metrics", "planning", "reasoning", "record", "report", "testing", "worlds")
    ),
}
__all__ = [
    "UserError",
    "compare",
    "language",
    "load",
    "memory",
    "methods",
    "metrics",
    "planning",
    "prompt",
    "reasoning",
    "record",
    "register",
    "report",
    "run",
    "testing",
    "view",
    "worlds",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    if name not in _LAZY:
        raise AttributeError(f"module 'teamworld' has no attribute '{name}'")
    home = _LAZY[name]
    return _import_module(f"teamworld.{name}") if home is None else getattr(_import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
