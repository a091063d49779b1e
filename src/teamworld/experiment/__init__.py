"""Running experiments: configuration, the runner, resuming, replaying, and the results on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teamworld.experiment.api import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    if name == "run":
        from teamworld.experiment.api import run

        return run
    raise AttributeError(f"module 'teamworld.experiment' has no attribute '{name}'")
