"""How fire spreads, goes out and is fought, over a ``Land``; the compiled kernels are in ``burning``.

A fire step does the following, every decision taken from the state before it (wildfire spec A4.1, B7):

1. Smouldering cells that have smouldered for ten fire steps become burnt out, and cells that were on fire for one
   fire step become smouldering (*extinguishing*).
2. Ignited cells become on fire: their trees and building are destroyed and counted.
3. Every cell that is on fire and has not spread yet tries its eight neighbours, once in its life. What can catch
   fire is burnable and dry (B6). The neighbour becomes ignited, or in the reference mode at once on fire; in that
   case it spreads in the next step, too.

So fire advances one cell per fire step. What it does to a neighbour stands in ``spread``; the two modes differ only
there. In the stochastic mode, chance is a hash of (key, fire step, x and y of the burning cell, direction); it does not
depend on the order of cells, on threads, on the size of the map or on what burns elsewhere.

A fire step visits only the cells that change: cost O(cells that catch, spread, begin or end smouldering), never O(map).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.wildfire import burning
from teamworld.worlds.wildfire.spread import fuel_of, spread_of
from teamworld.worlds.wildfire.state import (
    AT_FUEL,
    AT_NEIGHBOURS,
    AT_STATES,
    BURNABLE,
    METERS,
    NEIGHBOURS,
    NOT_BURNABLE,
    ROCKS,
    TICKS,
    WATER,
    FireRules,
    Land,
    Terrain,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Scalar

    I64: TypeAlias = npt.NDArray[np.int64]
    #: Indices into the framed arrays.
    Cells: TypeAlias = npt.NDArray[np.integer[Any]]


def make_land(terrain: Terrain, rules: FireRules | None = None, *, seed: int = 0) -> Land:
    """Return the land of a new instance, nothing burning.

    Args:
        terrain: What it starts from.
        rules: How fire spreads; the reference mode if None.
        seed: Seed of the chance in the stochastic mode.
    """
    rules = rules or FireRules()
    burn = _framed(terrain.burnable.astype(np.uint8) * BURNABLE)
    if not rules.edge_burns:
        burn[1, :] = burn[-2, :] = burn[:, 1] = burn[:, -2] = NOT_BURNABLE
    meters = np.zeros(METERS, np.int64)
    meters[AT_STATES + BURNABLE] = np.count_nonzero(burn)
    meters[AT_STATES + NOT_BURNABLE] = terrain.size**2 - meters[AT_STATES + BURNABLE]
    meters[AT_NEIGHBOURS:] = [dy * (terrain.size + 2) + dx for dx, dy in NEIGHBOURS]
    return Land(
        terrain=terrain,
        rules=rules,
        key=int(generator(seed, "wildfire", "fire").integers(2**63)),
        burn=burn,
        trees=_framed(terrain.trees),
        land=_framed(terrain.land),
        building=_framed(terrain.building),
        wet_until=np.zeros(burn.shape, np.int32),
        caught=np.zeros(terrain.size**2 + 1, np.int32),
        meters=meters,
        spread=spread_of(terrain, rules),
        scratch=np.concatenate([np.zeros(AT_FUEL, np.uint64), fuel_of(rules)]),
    )


def _framed(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    return np.pad(array, 1)


# One fire step --------------------------------------------------------------------------------------------------------


def step(land: Land) -> None:
    """Do one fire step, whatever the clock says (see the module)."""
    arrays = (
        land.burn.reshape(-1),
        land.trees.reshape(-1),
        land.building.reshape(-1),
        land.wet_until.reshape(-1),
        land.caught,
        land.meters,
        land.spread,
    )
    if land.rules.mode == "reference":
        burning.step_by_rule(*arrays)
        return
    burning.step_by_chance(*arrays, land.key, land.stride, land.scratch)


def advance(land: Land, ticks: int) -> int:
    """Let time pass: do each fire step that falls due.

    Args:
        land: What to change.
        ticks: Simulator ticks, 100 to a timestep of the agents. A fire step falls due whenever the clock reaches a
            multiple of ``rules.every`` (wildfire spec A1).

    Returns:
        How many fire steps were done.
    """
    every = land.rules.every
    due = (land.ticks + ticks) // every - land.ticks // every
    land.meters[TICKS] += ticks
    for _ in range(due):
        step(land)
    return due


# What agents and events do to the land --------------------------------------------------------------------------------


def ignite(land: Land, x: int, y: int) -> bool:
    """Set a cell alight; it spreads in the next fire step.

    Returns:
        Whether it caught: not if it is not burnable, wet, or has burnt (wildfire spec A4.3, B6).

    Raises:
        UserError: If the cell lies outside the map.
    """
    return ignite_cells(land, np.array([land.cell(x, y)])) == 1


def ignite_cells(land: Land, cells: Cells) -> int:
    """Set cells alight (indices into the framed arrays); return how many caught."""
    return burning.ignite(
        _checked(land, cells), land.burn.reshape(-1), land.wet_until.reshape(-1), land.caught, land.meters
    )


def _checked(land: Land, cells: Cells) -> I64:
    """Return the cells as int64; the kernels trust them."""
    given = np.asarray(cells)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not ((given >= 0) & (given < land.burn.size)).all():
        raise UserError(f"cells must be a list of whole numbers from 0 to {land.burn.size - 1}, got {brief(given)}")
    return given.astype(np.int64)


def douse(land: Land, cells: Cells) -> int:
    """Pour water on cells: fire goes out, other ground is wet for ``rules.wet_steps`` fire steps (wildfire spec A4.4).

    A cell that is ignited, on fire or smouldering becomes burnt out; what had not burnt yet is not counted as lost.

    Args:
        land: What to change.
        cells: Indices into the framed arrays, of any number; one named twice counts once.

    Returns:
        How many cells were put out.
    """
    return burning.douse(
        _checked(land, cells), land.rules.wet_steps, land.burn.reshape(-1), land.wet_until.reshape(-1), land.meters
    )


def cut(land: Land, cells: I64, most: int = 1) -> I64:
    """Cut trees; a burnable cell that loses its last one can no longer catch fire (wildfire spec A4.4).

    Args:
        land: What to change.
        cells: Indices into the framed arrays, one per agent that cuts; worked through in order.
        most: Trees that each may cut: 1 for a firefighter, 3 for a bulldozer.

    Returns:
        Trees cut by each, 0 where there was none.
    """
    return burning.cut(_checked(land, cells), most, land.burn.reshape(-1), land.trees.reshape(-1), land.meters)


def set_water(land: Land, x: int, y: int, present: bool = True) -> bool:
    """Make a cell a water cell, or dry land without trees again (scripted events, wildfire spec A4.5).

    Returns:
        Whether anything changed: water is not put on a cell that has caught fire.

    Raises:
        UserError: If the cell lies outside the map.
    """
    cell = land.cell(x, y)
    kinds, burn = land.land.reshape(-1), land.burn.reshape(-1)
    if (kinds[cell] == WATER) == present or burn[cell] > BURNABLE:
        return False
    kinds[cell] = WATER if present else ROCKS
    if burn[cell] == BURNABLE:
        burn[cell] = NOT_BURNABLE
        land.meters[AT_STATES + BURNABLE] -= 1
        land.meters[AT_STATES + NOT_BURNABLE] += 1
    land.trees.reshape(-1)[cell] = 0
    land.building.reshape(-1)[cell] = False
    return True
