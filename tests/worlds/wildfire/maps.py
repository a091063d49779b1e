"""Maps for tests: flat and uniform ones, random ones, and the eight turns and reflections of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.state import MEDIUM_FOREST, Land, Terrain

if TYPE_CHECKING:
    import numpy.typing as npt


def flat(size: int = 21, wind: tuple[float, float] = (0.0, 0.0), moisture: float = 0.6, trees: int = 2) -> Terrain:
    """Return a flat map with the same trees, moisture and wind everywhere."""
    shape = (size, size)
    return Terrain(
        land=np.full(shape, MEDIUM_FOREST, np.uint8),
        trees=np.full(shape, trees, np.uint8),
        elevation=np.zeros(shape, np.uint16),
        moisture=np.full(shape, moisture, np.float32),
        wind=np.stack([np.full(shape, part, np.float32) for part in wind]),
        building=np.zeros(shape, np.bool_),
        burnable=np.ones(shape, np.bool_),
    )


def ramp(size: int, rise_m: float, wind: tuple[float, float] = (0.0, 0.0), moisture: float = 0.6) -> Terrain:
    """Return a map that rises by ``rise_m`` metres a cell along x."""
    base = flat(size, wind, moisture)
    relief = abs(rise_m) * (size - 1)
    heights = np.rint(np.linspace(0, 65535, size))[:: 1 if rise_m >= 0 else -1]
    return replace(base, elevation=np.tile(heights, (size, 1)).astype(np.uint16), relief_m=relief)


def rough(seed: int, size: int = 12, relief_m: float = 890.0, share: float = 0.8) -> Terrain:
    """Return a map where every cell is drawn on its own; some have no wind, some a building."""
    rng = np.random.default_rng(seed)
    shape = (size, size)
    wind = rng.uniform(-12, 12, (2, *shape)).astype(np.float32)
    wind[:, rng.random(shape) < 0.2] = 0.0
    wind[0, rng.random(shape) < 0.1] = 0.0
    building = rng.random(shape) < 0.1
    trees = np.where(building, 0, rng.integers(0, 4, shape)).astype(np.uint8)
    # Gentle mostly, a cliff here and there: neighbours then differ in what happens to them.
    elevation = np.where(rng.random(shape) < 0.1, rng.integers(0, 65536, shape), rng.integers(30000, 32000, shape))
    return Terrain(
        land=np.full(shape, MEDIUM_FOREST, np.uint8),
        trees=trees,
        elevation=elevation.astype(np.uint16),
        moisture=rng.uniform(0, 1, shape).astype(np.float32),
        wind=wind,
        building=building,
        burnable=(trees > 0) | (rng.random(shape) < share),
        relief_m=relief_m,
    )


def turned(array: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """Return one of the eight turns and reflections (k = 0 to 7) of an array indexed [y, x]."""
    return np.ascontiguousarray(np.rot90(array.T if k >= 4 else array, k % 4))


def turned_map(terrain: Terrain, k: int) -> Terrain:
    """Return the map turned, wind directions with it."""
    u, v = terrain.wind
    if k >= 4:  # mirrored at the diagonal
        u, v = v, u
    for _ in range(k % 4):  # a quarter turn against the clock, as rot90 does with rows growing downward
        u, v = v, -u
    return replace(
        terrain,
        land=turned(terrain.land, k),
        trees=turned(terrain.trees, k),
        elevation=turned(terrain.elevation, k),
        moisture=turned(terrain.moisture, k),
        wind=np.stack([turned(u, k), turned(v, k)]),
        building=turned(terrain.building, k),
        burnable=turned(terrain.burnable, k),
    )


def douse(land: Land, cells: npt.NDArray[np.int64]) -> int:
    """Pour water on cells as agents do; return how many were put out."""
    arrays = land.burn.reshape(-1), land.wet_until.reshape(-1), land.meters
    return sum(agents.pour.py_func(cell, land.rules.wet_steps, *arrays) for cell in cells)  # type: ignore[attr-defined]


def cut_trees(land: Land, cells: npt.NDArray[np.int64], most: int = 1) -> list[int]:
    """Cut up to ``most`` trees of each cell as agents do; return how many of each."""
    arrays = land.burn.reshape(-1), land.trees.reshape(-1), land.meters
    return [int(agents.fell.py_func(cell, most, *arrays)) for cell in cells]  # type: ignore[attr-defined]
