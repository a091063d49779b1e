"""How the fire of an instance spreads where no door is shut: nobody has a hand in it, all plans meet the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.rooms.levels import Instance
from teamworld.worlds.rooms.physics import Primitive, draw_catches
from teamworld.worlds.rooms.physics import step as physics_step


class Fire:
    """The fire of an instance, step by step; what is asked of it is worked out when it is asked.

    Args:
        placed: The instance; no door is shut.
        rng: Draws where the fire spreads, as in the world; it is used up. None where nothing burns.
        spread: Probability that a cell beside fire catches fire in a step.
    """

    def __init__(self, placed: Instance, rng: np.random.Generator | None, spread: float) -> None:
        self.placed, self._rng, self._spread = placed, rng, spread
        self._state = replace(placed.state, agents={}, items={})
        self._catches: list[list[Cell]] = []
        self._burning: list[frozenset[Cell]] = [frozenset(placed.state.fire)]
        self._smoke: list[frozenset[Cell]] = [frozenset()]

    def burning(self, step: int) -> frozenset[Cell]:
        """Return the cells that burn after so many steps."""
        self._spread_until(step)
        return self._burning[step]

    def smoke(self, step: int) -> frozenset[Cell]:
        """Return the cells beside those that caught fire in that step: who is there is overcome."""
        self._spread_until(step)
        return self._smoke[step]

    def play(self, acts: Mapping[AgentId, Sequence[Primitive]]) -> int | None:
        """Return the steps in which carriers who act so deliver all, by the rules of the world; None if they do not."""
        state, steps = self.placed.state, max(map(len, acts.values()))
        self._spread_until(steps)
        for step in range(steps):
            tried = {name: own[step] for name, own in acts.items() if step < len(own)}
            state = physics_step(state, self.placed.house, tried, self._catches[step]).state
        return steps if all(item.state == "delivered" for item in state.items.values()) else None

    def _spread_until(self, step: int) -> None:
        house = self.placed.house
        while len(self._burning) <= step:
            self._catches.append([] if self._rng is None else draw_catches(self._rng, house, self._spread))
            before = self._state
            self._state = physics_step(before, house, {}, self._catches[-1]).state
            caught = self._state.fire.keys() - before.fire.keys()
            self._burning.append(frozenset(self._state.fire))
            self._smoke.append(frozenset(cell for fresh in caught for cell in house.beside(fresh)))
