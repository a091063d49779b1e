"""Worlds whose agents see all, for ``headroom.py``: what teams play there is a joint plan with perfect information.

The instances and the rules are those of the worlds themselves; ``full_sight:Rware`` names the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from teamworld.worlds.adapters.describer import Look, Sight
from teamworld.worlds.registry import WorldModule, module


class Seen:
    """A world's module that makes worlds in which agents see all."""

    def __init__(self, world: str, make: Callable[[WorldModule, str, int, int, Mapping[str, object]], Any]) -> None:
        self._module, self._make = module(world), make
        self.LEVELS, self.OPTIONS = self._module.LEVELS, self._module.OPTIONS
        self.DEFAULT_LEVEL, self.SUMMARY = self._module.DEFAULT_LEVEL, f"{self._module.SUMMARY}; agents see all"

    def step_limit(self, level: str, options: Mapping[str, object]) -> int:
        return self._module.step_limit(level, options)

    def make(self, level: str, seed: int, horizon: int, options: Mapping[str, object]) -> Any:  # noqa: ANN401
        return self._make(self._module, level, seed, horizon, options)


def _make_rware(rware: WorldModule, level: str, seed: int, horizon: int, options: Mapping[str, object]) -> Any:  # noqa: ANN401
    world: Any = rware.make(level, seed, horizon, options)
    rows, columns = world.domain.floor.size
    cells = tuple((row, column) for row in range(rows) for column in range(columns))

    def perceive(agent: str, look: Look[Any]) -> Sight:
        return Sight(tuple(world.truth()), cells)

    world.domain.perceive = perceive
    return world


def _make_wildfire(wildfire: WorldModule, level: str, seed: int, horizon: int, options: Mapping[str, object]) -> Any:  # noqa: ANN401
    world: Any = wildfire.make(level, seed, horizon, options)
    told = replace(world._instance, level=replace(world._instance.level, known=True))
    return type(world)(told, level, horizon, world._options)


Rware = Seen("rware", _make_rware)
Wildfire = Seen("wildfire", _make_wildfire)
