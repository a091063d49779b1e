"""Running experiments from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from teamworld.experiment.config import build
from teamworld.experiment.results import Row
from teamworld.experiment.runner import run as run_experiment


def run(
    world: str = "cube",
    *,
    level: str = "paper-n2",
    method: str | Sequence[str] = "drwell",
    reasoner: str = "rules",
    episodes: int = 1,
    seed: int | Sequence[int] = 0,
    max_steps: int = 150,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    out: Path | str,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Run episodes, or go on with a run that was stopped; the same as ``teamworld run``.

    Args:
        world: Name of a world.
        level: Level of the world.
        method: One coordination method, or several.
        reasoner: The mind.
        episodes: Episodes in a row with one memory.
        seed: One seed, or several.
        max_steps: Steps of the world after which an episode ends.
        options: Options by owner, for example ``{"drwell": {"task_identity": "class"}}``.
        out: Folder of the run.
        progress: Called with each finished episode.

    Returns:
        One row an episode, ordered by method, seed and episode.

    Raises:
        UserError: The arguments or the folder cannot be used.
    """
    experiment = build(
        {
            "world": world,
            "level": level,
            "methods": [method] if isinstance(method, str) else list(method),
            "reasoner": reasoner,
            "episodes": episodes,
            "seeds": [seed] if isinstance(seed, int) else list(seed),
            "max_steps": max_steps,
            "options": {owner: dict(values) for owner, values in (options or {}).items()},
        }
    )
    return run_experiment(experiment, Path(out), progress)
