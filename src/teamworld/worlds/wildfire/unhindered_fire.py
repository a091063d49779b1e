"""The fire that nobody fights: what it destroys by the step limit, and where it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teamworld.worlds.wildfire.physics import BUILDING_COST, TREE_COST, advance_fire, ignite, make_land
from teamworld.worlds.wildfire.state import BURNABLE, TICKS_PER_TIMESTEP

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Cell, FireRules, Terrain


class UnhinderedFire(NamedTuple):
    """A fire that burnt for a while without agents and without a script."""

    trees: int
    buildings: int
    reached: npt.NDArray[np.bool_]
    """(N, N): cells that caught fire."""

    @property
    def damage(self) -> int:
        """Points of the trees and buildings that it destroyed."""
        return TREE_COST * self.trees + BUILDING_COST * self.buildings


def burn_unhindered(terrain: Terrain, fire: Cell, rules: FireRules, *, seed: int, steps: int) -> UnhinderedFire:
    """Let a fire burn alone; costs what burns, not the size of the map.

    Args:
        terrain: Where.
        fire: Where it starts.
        rules: How it spreads.
        seed: Of the chance in the stochastic mode; that of the episode gives the episode's fire.
        steps: Timesteps.
    """
    land = make_land(terrain, rules, seed=seed)
    ignite(land, *fire)
    advance_fire(land, steps * TICKS_PER_TIMESTEP)
    return UnhinderedFire(land.trees_burnt, land.buildings_lost, land.inner(land.burn) > BURNABLE)
