"""A running instance of the wildfire world: the land, who is out there, the clock, and what was found out.

This is what ``physics`` steps, ``observe`` and ``env`` make arrays of, and ``world`` wraps for symbolic methods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.wildfire import fire
from teamworld.worlds.wildfire.state import TICKS_PER_TIMESTEP, FireMode
from teamworld.worlds.wildfire.tasks import look_round
from teamworld.worlds.wildfire.units import Civilians, Units, civilians_at, units_at

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Edition, Level
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.state import Land


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What agents may do, where editions and the reference code differ (wildfire spec A5-A7, A13, B21, B26).

    ``rules_for(edition)`` has those of an edition. The last two are off in both; the reference code of July 2025 has
    them on, and ``Rules(burnt_kills=True, riders_count=True)`` is as it was.

    Raises:
        UserError: If a value cannot be used.
    """

    pick_up: float = 3.0
    """A civilian must be nearer than this to be picked up, in cells."""
    refill: int = 0
    """Cells from which water can be reached; 0: only from the water's own cell."""
    rescue_reach: int = 3
    """Cells from the target, in x and in y, within which a civilian that is put down is safe."""
    burnt_kills: bool = False
    """Whether burnt-out ground kills, as burning and smouldering ground does (B21)."""
    riders_count: bool = False
    """Whether firefighters in a helicopter above the target count as transported (B26)."""

    def __post_init__(self) -> None:
        """Check the values."""
        if isinstance(self.pick_up, bool) or not isinstance(self.pick_up, (int, float)):
            raise UserError(f"pick_up must be a number of cells, got {brief(self.pick_up)}")
        if not (math.isfinite(self.pick_up) and 0 < self.pick_up <= 100):
            raise UserError(f"pick_up must be a number of cells above 0, at most 100, got {self.pick_up}")
        for name in ("refill", "rescue_reach"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
                raise UserError(f"{name} must be a whole number of cells from 0 to 100, got {brief(value)}")
        for name in ("burnt_kills", "riders_count"):
            if not isinstance(getattr(self, name), bool):
                raise UserError(f"{name} must be true or false, got {brief(getattr(self, name))}")


def rules_for(edition: Edition) -> Rules:
    """Return the rules of an edition; 2026 reaches further (wildfire spec A7, A13)."""
    return Rules(pick_up=4.0, refill=3, rescue_reach=4) if edition == "2026" else Rules()


@dataclass(slots=True, eq=False, kw_only=True)
class Incident:
    """One running instance; ``physics.step`` changes it in place."""

    instance: Instance
    """What it started from."""
    seed: int
    """Names the generators of all chance in it: fire, civilians, events."""
    rules: Rules
    """What agents may do."""
    key: int
    """Key of the civilians' draws, 0 to 2**63 - 1."""
    land: Land
    units: Units
    civilians: Civilians
    """A script that brings more of them puts longer arrays here."""
    met: npt.NDArray[np.bool_]
    """(C,): civilians that an agent has had in sight."""
    found: npt.NDArray[np.bool_]
    """(W,): water cells that an agent has had in sight, those of the level first, then those of its script."""
    scouts: int = 0
    """Most drones and helicopters that were above the fire at once (B25)."""
    t: int = 0
    """Timesteps gone."""

    @property
    def level(self) -> Level:
        """What is to be done."""
        return self.instance.level

    @property
    def ticks(self) -> int:
        """Simulator ticks gone, 100 to a timestep."""
        return self.t * TICKS_PER_TIMESTEP

    def copy(self) -> Incident:
        """Return an independent copy; what never changes is shared."""
        return Incident(
            instance=self.instance,
            seed=self.seed,
            rules=self.rules,
            key=self.key,
            land=self.land.copy(),
            units=self.units.copy(),
            civilians=self.civilians.copy(),
            met=self.met.copy(),
            found=self.found.copy(),
            scouts=self.scouts,
            t=self.t,
        )


def begin(instance: Instance, seed: int, mode: FireMode = "reference", rules: Rules | None = None) -> Incident:
    """Return an instance before its first step, its fire lit.

    Args:
        instance: The level on its map.
        seed: Of the chance in it; the map and the placement are the instance's.
        mode: How fire spreads.
        rules: What agents may do; those of the level's edition if None.
    """
    level = instance.level
    land = fire.make_land(instance.terrain, level.rules(mode), seed=seed)
    if instance.fire is not None:
        fire.ignite(land, *instance.fire)
    civilians = civilians_at(instance.clusters, level.per_cluster)
    incident = Incident(
        instance=instance,
        seed=seed,
        rules=rules or rules_for(level.edition),
        key=int(generator(seed, "wildfire", "civilians").integers(2**63)),
        land=land,
        units=units_at(instance.spawn, level.team),
        civilians=civilians,
        met=np.zeros(len(civilians), np.bool_),
        found=np.zeros(len(instance.water_cells), np.bool_),
    )
    look_round(incident)
    return incident
