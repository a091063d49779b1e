"""Wildfire as the registry finds it: levels, options, instances. The world itself is in ``play``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import AgentId
from teamworld.worlds.base.options import read_options
from teamworld.worlds.contract import FailureSpan, IndistinguishablePair, Transition
from teamworld.worlds.wildfire.levels import LEVELS as _LEVELS
from teamworld.worlds.wildfire.levels import describe, level_for, with_firefighters
from teamworld.worlds.wildfire.placement import instance_for
from teamworld.worlds.wildfire.state import Cell, FireMode
from teamworld.worlds.wildfire.units import SIGHTS

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.play import WildfireWorld

#: A run may be shorter than its level, not longer (``WildfireOptions.limit``): this is more than any level has.
DEFAULT_HORIZON = 1_000
DEFAULT_LEVEL = "cut_trees_sparse_small"
SUMMARY = "firefighters, bulldozers, drones and helicopters against a spreading fire (after CREW-Wildfire)"
#: The levels to list, each with one line, in the order of the paper; presets also as ``NAME@2026``.
LEVELS: Mapping[str, str] = {name: describe(level) for name, level in _LEVELS.items()}
__all__ = [
    "DEFAULT_HORIZON",
    "DEFAULT_LEVEL",
    "LEVELS",
    "OPTIONS",
    "SUMMARY",
    "WildfireOptions",
    "failures",
    "indistinguishable_pairs",
    "make",
]


class WildfireOptions(BaseModel):
    """What can be set for wildfire."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    fire: FireMode = "reference"
    """How fire spreads: the reference's rule without chance, or the stochastic one of Alexandridis et al. (B1)."""
    shared_map: bool = True
    """The team shares what it sees, as in the reference; false: each agent has a map of its own (B32)."""
    score: Literal["reference", "burnt"] = "reference"
    """What the score of fire levels charges: cut trees too, as the reference does, or only what burnt (B22)."""
    careful: bool = True
    """Whoever walks or drives goes round the fire that it knows of; false: straight on, as in the reference."""
    relief_m: float = Field(default=890.0, ge=0, le=100_000)
    """Metres between the lowest and the highest cell of a generated map (B10)."""
    cell_m: float = Field(default=30.0, ge=0.1, le=100_000)
    """Side of a cell in metres, for generated maps."""
    map_file: str | None = None
    """A map to play on instead of a generated one (.npz or .yaml); logs name it by a hash of what it holds."""
    burnt_kills: bool = False
    """Burnt-out ground kills walkers too, as in the code of July 2025 (B21)."""
    riders_count: bool = False
    """Firefighters in a helicopter above the target count as transported, as in the code of July 2025 (B26)."""
    weather: bool = False
    """Texts tell of wind, height and moisture where the agent stands; the benchmark hides them (B33)."""
    limit: bool = True
    """The level's own step limit holds (A12.2); false: only that of the run."""
    firefighters: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    """Number of firefighters in place of the level's; None: the level's, and no word of it in records."""


OPTIONS = WildfireOptions


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> WildfireWorld:
    """Return the instance of a level; ``NAME@2026`` names the other edition of a preset.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(WildfireOptions, options, "wildfire")
    from teamworld.worlds.wildfire.play import WildfireWorld  # brings the compiler; a list of levels does not need it

    found, terrain, named = level_for(level), None, chosen
    if chosen.firefighters is not None:
        found = with_firefighters(found, chosen.firefighters)
    if chosen.map_file is not None:
        from teamworld.worlds.wildfire.terrain import fingerprint, load_map

        terrain = load_map(chosen.map_file)
        named = chosen.model_copy(update={"map_file": fingerprint(terrain)})  # a path is of one machine only
    instance = instance_for(found, seed, terrain=terrain, relief_m=chosen.relief_m, cell_m=chosen.cell_m)
    return WildfireWorld(instance, level, horizon, named)


def failures(static: Mapping[str, Any], team: Sequence[AgentId], passages: Sequence[Transition]) -> list[FailureSpan]:
    """Return the failures that the passages of an episode show; see ``failures``."""
    from teamworld.worlds.wildfire.failures import failures as found  # brings the compiler, too

    return found(static, team, passages)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs that nobody can tell apart: a fire, or civilians, that nobody was told of begin elsewhere."""
    from teamworld.worlds.wildfire.play import WildfireWorld

    one = instance_for(level, seed)
    if one.level.known:
        return
    team = one.level.team
    counts = (team.firefighters, team.bulldozers, team.drones, team.helicopters)
    reach = max(sight.reveals for sight, count in zip(SIGHTS, counts, strict=True) if count)

    def away(cell: Cell) -> Cell | None:
        """Return a burnable cell beside, both out of everybody's sight."""
        for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            other = Cell(cell.x + right, cell.y + down)
            inside = 0 <= other.x < one.level.size and 0 <= other.y < one.level.size
            hidden = max(abs(other.x - one.spawn.x), abs(other.y - one.spawn.y)) > reach + 12
            if inside and hidden and one.terrain.burnable[other.y, other.x]:
                return other
        return None

    changes: dict[str, Any] = {}
    if one.fire is not None and (cell := away(one.fire)) is not None:
        changes["fire"] = cell
    elif one.clusters and (cell := away(one.clusters[0])) is not None:
        changes["clusters"] = (cell, *one.clusters[1:])
    if changes:
        other = replace(one, **changes)
        first = WildfireWorld(one, level, DEFAULT_HORIZON, WildfireOptions())
        for kind in dict.fromkeys(first.spec.kinds.values()):
            agent = next(name for name, its in first.spec.kinds.items() if its == kind)
            pair = [WildfireWorld(each, level, DEFAULT_HORIZON, WildfireOptions()) for each in (one, other)]
            yield IndistinguishablePair(pair[0], pair[1], agent)
