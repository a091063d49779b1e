"""Generated maps: fractal gradient noise makes height, moisture, vegetation and wind; settlements stand on rocks.

Noise is that of K. Perlin, "An image synthesizer", SIGGRAPH 1985, persistence 0.5, lacunarity 2, stretched over the map
to its full range. Noise and random numbers are our own, so a seed gives another map here than in Unity. Maps are
made of + - * / alone and are equal on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.seeding import generator
from teamworld.worlds.wildfire.kernels.fire import add_noise
from teamworld.worlds.wildfire.state import (
    DENSE_FOREST,
    ROCKS,
    TOP,
    TREES,
    Terrain,
    can_burn,
    check_number,
    check_size,
)

if TYPE_CHECKING:
    import numpy.typing as npt


class Noise(NamedTuple):
    """The noise of one field."""

    scale: float
    """Cells from one bump to the next in the coarsest octave."""
    octaves: int
    """Layers, each twice as fine and half as high as the one before."""


ELEVATION = Noise(100, 4)
MOISTURE = Noise(100, 2)
VEGETATION = Noise(20, 4)
WIND_X = Noise(2000, 4)
WIND_Y = Noise(200, 4)

#: Chance that a rock cell becomes the middle of a settlement, and that each cell round it is built on.
SETTLED, BUILT = 0.05, 0.5

#: Directions of the gradients.
_COMPASS = 8


def generate(
    size: int, seed: int, *, vegetation_offset: float = 20.0, relief_m: float = 890.0, cell_m: float = 30.0
) -> Terrain:
    """Make a map; equal for equal arguments on every machine.

    Args:
        size: N, cells on a side, 10 to 2,000.
        seed: Decides everything; each field has its own stream.
        vegetation_offset: Hundredths added to the vegetation noise (``vegetation_density_offset``): 20 by default,
            30 on several levels.
        relief_m: Metres between the lowest and the highest cell. The reference stretches every map to 890 m, which
            makes small maps very steep.
        cell_m: Side of a cell in metres.

    Raises:
        UserError: If an argument cannot be used.
    """
    size = check_size(size)
    check_number("vegetation_offset", vegetation_offset, -200, 200, "a number")
    height = (noise_field(size, ELEVATION, seed, "elevation") + 1.0) * 0.5
    damp = 0.6 + 0.2 * noise_field(size, MOISTURE, seed, "moisture")
    growth = noise_field(size, VEGETATION, seed, "vegetation")
    wind = [10.0 * noise_field(size, noise, seed, name) for noise, name in ((WIND_X, "wind_x"), (WIND_Y, "wind_y"))]
    land = np.clip(np.rint(2.5 * (growth + 0.01 * vegetation_offset) + 2.0), ROCKS, DENSE_FOREST).astype(np.uint8)
    building = _settlements(land, generator(seed, "wildfire", "terrain", "settlements"))
    trees = np.where(building, 0, np.array(TREES, np.uint8)[land]).astype(np.uint8)
    return Terrain(
        land=land,
        trees=trees,
        elevation=np.rint(height * TOP).astype(np.uint16),
        moisture=damp.astype(np.float32),
        wind=np.stack(wind).astype(np.float32),
        building=building,
        burnable=can_burn(trees, building),
        relief_m=relief_m,
        cell_m=cell_m,
    )


def noise_field(size: int, noise: Noise, seed: int, name: str) -> npt.NDArray[np.float64]:
    """Return (N, N): one field of fractal noise, stretched to [-1, 1]; all 0 where the noise is flat."""
    rng = generator(seed, "wildfire", "terrain", name)
    total = np.zeros((size, size))
    for octave in range(noise.octaves):
        spacing = noise.scale / 2**octave
        begin = rng.integers(-100_000, 100_001, 2) / spacing  # of the map, in cells of the lattice
        begin -= np.floor(begin)
        lattice = rng.integers(0, _COMPASS, (int(size / spacing) + 3,) * 2, np.uint8)
        add_noise(total, lattice, begin[0], begin[1], 1.0 / spacing, 0.5**octave)
    low, high = float(total.min()), float(total.max())
    if high == low:
        return np.zeros((size, size))
    stretched = (total - low) * (2.0 / (high - low)) - 1.0
    return np.clip(stretched, -1.0, 1.0)


def _settlements(land: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return (N, N): where buildings stand."""
    return settle((land == ROCKS) & (rng.random(land.shape) < SETTLED), rng)


def settle(middles: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return (N, N): the buildings of settlements round these cells; chance builds on each of the eight beside one."""
    size = len(middles)
    building = middles.copy()
    rows, cols = np.nonzero(middles)
    built = rng.random((len(rows), 3, 3)) < BUILT
    for down, right in np.ndindex(3, 3):
        y, x = rows + down - 1, cols + right - 1
        inside = built[:, down, right] & (y >= 0) & (y < size) & (x >= 0) & (x < size)
        building[y[inside], x[inside]] = True
    return building
