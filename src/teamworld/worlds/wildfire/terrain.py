"""Where maps come from: generated from a seed, or read from a file.

Generated maps follow wildfire spec A3 with B10-B13: fractal gradient noise (K. Perlin, "An image synthesizer",
SIGGRAPH 1985), persistence 0.5, lacunarity 2, stretched over the map to its full range. The noise and its random
numbers are our own, so a seed gives another map here than in Unity. Maps are made of + - * / alone and are equal on
every machine.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire.state import (
    DENSE_FOREST,
    LAND_CLASSES,
    MAX_SIZE,
    MAX_TREES,
    ROCKS,
    TOP,
    TREES,
    WATER,
    Terrain,
    check_size,
)

if TYPE_CHECKING:
    import numpy.typing as npt


class Noise(NamedTuple):
    """The noise of one field (wildfire spec A3)."""

    scale: float
    """Cells from one bump to the next in the coarsest octave."""
    octaves: int
    """Layers, each twice as fine and half as high as the one before."""


ELEVATION = Noise(100, 4)
MOISTURE = Noise(100, 2)
VEGETATION = Noise(20, 4)
WIND_X = Noise(2000, 4)
WIND_Y = Noise(200, 4)

#: Chance that a rock cell becomes the middle of a settlement, and that each cell round it is built on (B12).
SETTLED, BUILT = 0.05, 0.5
#: Cells round a building that can burn, whatever grows there: two 8-neighbour dilations.
REACH = 2
#: Directions of the gradients.
_COMPASS = 8
_ROOT_HALF = 0.5**0.5


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
            makes small maps very steep (B10).
        cell_m: Side of a cell in metres.

    Raises:
        UserError: If an argument cannot be used.
    """
    size = check_size(size)
    if isinstance(vegetation_offset, bool) or not -200 <= vegetation_offset <= 200:
        raise UserError(f"vegetation_offset must be a number from -200 to 200, got {brief(vegetation_offset)}")
    height = (field(size, ELEVATION, seed, "elevation") + 1.0) * 0.5
    damp = 0.6 + 0.2 * field(size, MOISTURE, seed, "moisture")
    growth = field(size, VEGETATION, seed, "vegetation")
    wind = [10.0 * field(size, noise, seed, name) for noise, name in ((WIND_X, "wind_x"), (WIND_Y, "wind_y"))]
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


def field(size: int, noise: Noise, seed: int, name: str) -> npt.NDArray[np.float64]:
    """Return (N, N): one field of fractal noise, stretched to [-1, 1]; all 0 where the noise is flat."""
    rng = generator(seed, "wildfire", "terrain", name)
    total = np.zeros((size, size))
    for octave in range(noise.octaves):
        spacing = noise.scale / 2**octave
        begin = rng.integers(-100_000, 100_001, 2) / spacing  # of the map, in cells of the lattice
        begin -= np.floor(begin)
        lattice = rng.integers(0, _COMPASS, (int(size / spacing) + 3,) * 2, np.uint8)
        _add_noise(total, lattice, begin[0], begin[1], 1.0 / spacing, 0.5**octave)
    low, high = float(total.min()), float(total.max())
    if high == low:
        return np.zeros((size, size))
    stretched = (total - low) * (2.0 / (high - low)) - 1.0
    return np.clip(stretched, -1.0, 1.0)


@compiled
def _add_noise(
    total: npt.NDArray[np.float64],
    lattice: npt.NDArray[np.uint8],
    begin_x: float,
    begin_y: float,
    pace: float,
    weight: float,
) -> None:
    """Add one octave of gradient noise to ``total``.

    Args:
        total: (N, N), indexed [y, x].
        lattice: Direction of the gradient at each point of the lattice, in eighths of a turn.
        begin_x: Where column 0 lies in the lattice.
        begin_y: Where row 0 lies in the lattice.
        pace: Cells of the lattice to a cell of the map.
        weight: Height of the octave.
    """
    east = (1.0, _ROOT_HALF, 0.0, -_ROOT_HALF, -1.0, -_ROOT_HALF, 0.0, _ROOT_HALF)
    south = (0.0, _ROOT_HALF, 1.0, _ROOT_HALF, 0.0, -_ROOT_HALF, -1.0, -_ROOT_HALF)
    for row in range(total.shape[0]):
        y = begin_y + row * pace
        j = int(y)
        v = y - j
        smooth_v = v * v * v * (v * (v * 6.0 - 15.0) + 10.0)
        for col in range(total.shape[1]):
            x = begin_x + col * pace
            i = int(x)
            h = x - i
            smooth_h = h * h * h * (h * (h * 6.0 - 15.0) + 10.0)
            a, b = lattice[j, i], lattice[j, i + 1]
            c, d = lattice[j + 1, i], lattice[j + 1, i + 1]
            nw = east[a] * h + south[a] * v
            ne = east[b] * (h - 1.0) + south[b] * v
            sw = east[c] * h + south[c] * (v - 1.0)
            se = east[d] * (h - 1.0) + south[d] * (v - 1.0)
            north = nw + smooth_h * (ne - nw)
            total[row, col] += weight * (north + smooth_v * (sw + smooth_h * (se - sw) - north))


def _settlements(land: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return (N, N): where buildings stand (wildfire spec A3)."""
    size = len(land)
    middles = (land == ROCKS) & (rng.random(land.shape) < SETTLED)
    building: npt.NDArray[np.bool_] = middles.copy()
    rows, cols = np.nonzero(middles)
    built = rng.random((len(rows), 3, 3)) < BUILT
    for down, right in np.ndindex(3, 3):
        y, x = rows + down - 1, cols + right - 1
        inside = built[:, down, right] & (y >= 0) & (y < size) & (x >= 0) & (x < size)
        building[y[inside], x[inside]] = True
    return building


def can_burn(trees: npt.NDArray[np.uint8], building: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return (N, N): cells with trees, and those within two cells of a building."""
    near = building
    for axis in (0, 1):
        wide = np.pad(near, [(REACH, REACH) if axis == a else (0, 0) for a in (0, 1)])
        parts = [np.take(wide, range(k, k + len(building)), axis) for k in range(2 * REACH + 1)]
        near = np.logical_or.reduce(parts)
    return (trees > 0) | near


# Map files -----------------------------------------------------------------------------------------------------------

#: Largest map file, packed or not: a map of 2,000 x 2,000 with every layer in 64 bits takes 260 MB.
MAX_BYTES = 300_000_000
_REQUIRED = ("land",)
_OPTIONAL = ("trees", "elevation", "moisture", "wind_x", "wind_y", "building", "burnable")
_NUMBERS = ("relief_m", "cell_m")


def load_map(path: str | Path) -> Terrain:
    """Read a map from a file.

    Either a numpy archive (``.npz``) with these arrays, or a YAML file (``.yaml``, ``.yml``) that names a ``.npy``
    file for each, beside it. Layers have shape (N, N) and are indexed [y, x]:

    - ``land``: land class, 0 rocks, 1 brush, 2 light, 3 medium, 4 dense forest, 5 water; required;
    - ``trees``: 0 to 3; by default what the class says, none under buildings;
    - ``elevation``: 0 to 1, times ``relief_m``; flat by default;
    - ``moisture``: 0 to 1; 0.6 by default;
    - ``wind_x``, ``wind_y``: m/s, the direction the wind blows to; 0 by default;
    - ``building``: 0 or 1; none by default;
    - ``burnable``: 0 or 1; by default cells with trees and those within two cells of a building;
    - ``relief_m`` (890) and ``cell_m`` (30): numbers.

    Raises:
        UserError: If the file cannot be read or is not a map; says which layer is wrong.
    """
    source = Path(path)
    parts = _read(source)
    unknown = sorted(set(parts) - {*_REQUIRED, *_OPTIONAL, *_NUMBERS})
    if unknown:
        near = suggest(unknown[0], [*_REQUIRED, *_OPTIONAL, *_NUMBERS])
        raise UserError(f"{source}: there is no layer '{unknown[0]}' in a map{near}")
    if "land" not in parts:
        raise UserError(f"{source}: a map needs the layer 'land', got {', '.join(sorted(parts)) or 'nothing'}")
    try:
        return _terrain(parts)
    except UserError as error:
        raise UserError(f"{source}: {error}") from None


def save_map(terrain: Terrain, path: str | Path) -> None:
    """Write a map as a numpy archive that ``load_map`` reads back equal.

    Raises:
        UserError: If the name does not end in .npz or the file cannot be written.
    """
    target = Path(path)
    if target.suffix != ".npz":
        raise UserError(f"a map is saved as .npz, got '{target.name}'")
    try:
        np.savez_compressed(
            target,
            land=terrain.land,
            trees=terrain.trees,
            elevation=terrain.elevation / TOP,
            moisture=terrain.moisture,
            wind_x=terrain.wind[0],
            wind_y=terrain.wind[1],
            building=terrain.building,
            burnable=terrain.burnable,
            relief_m=terrain.relief_m,
            cell_m=terrain.cell_m,
        )
    except OSError as error:
        raise UserError(f"cannot write the map {target}: {error.strerror or error}") from None


def fingerprint(terrain: Terrain) -> str:
    """Return ``sha256:`` and 16 hexadecimal digits that name what a map holds, whatever file it came from."""
    digest = hashlib.sha256(f"{terrain.size} {float(terrain.relief_m)} {float(terrain.cell_m)}".encode())
    for name in ("land", "trees", "elevation", "moisture", "wind", "building", "burnable"):
        array = getattr(terrain, name)
        digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return f"sha256:{digest.hexdigest()[:16]}"


#: What reading a file raises that is damaged, encrypted, or nested without end.
BROKEN = (ValueError, TypeError, LookupError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)


def _read(source: Path) -> dict[str, Any]:
    """Return the arrays and numbers of a map file by name, not yet checked."""
    try:
        if source.suffix == ".npz":
            with zipfile.ZipFile(source) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                    raise UserError(f"{source}: a map takes at most {MAX_BYTES // 10**6} MB unpacked")
            with np.load(source, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        if source.suffix in (".yaml", ".yml"):
            return _read_yaml(source)
    except OSError as error:
        raise UserError(f"cannot read the map {source}: {error.strerror or error}") from None
    except BROKEN as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{source} is not a map: {error}") from None
    raise UserError(f"a map is a file ending in .npz, .yaml or .yml, got '{source.name}'")


def _read_yaml(source: Path) -> dict[str, Any]:
    import yaml  # only for maps written this way

    if source.stat().st_size > 100_000:
        raise UserError(f"{source}: a YAML map only names its .npy files and is at most 100 kB long")
    try:
        named = yaml.safe_load(source.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise UserError(f"{source} is not YAML: {error}") from None
    if not isinstance(named, dict):
        raise UserError(f"{source}: expected layers and file names, as in 'land: land.npy', got {brief(named)}")
    parts: dict[str, Any] = {}
    for name, value in named.items():
        if isinstance(value, str):
            layer = source.parent / value
            if layer.suffix != ".npy" or layer.resolve().parent != source.parent.resolve():
                raise UserError(f"{source}: {name} must name a .npy file in the same folder, got {brief(value)}")
            if layer.stat().st_size > MAX_BYTES:
                raise UserError(f"{layer}: a layer takes at most {MAX_BYTES // 10**6} MB")
            parts[str(name)] = np.load(layer, allow_pickle=False)
        else:
            parts[str(name)] = value
    return parts


def _terrain(parts: dict[str, Any]) -> Terrain:
    """Check the layers of a map file and fill in those left out."""
    shape = np.shape(parts["land"])
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0] <= MAX_SIZE:
        raise UserError(f"land must be a square array of at most {MAX_SIZE:,} x {MAX_SIZE:,}, got shape {shape}")
    check_size(shape[0])
    land = _layer(parts, "land", shape, WATER, whole=True).astype(np.uint8)
    building = _layer(parts, "building", shape, 1, whole=True) > 0
    usual = np.where(building, 0, np.array(TREES, np.uint8)[land])
    trees = _layer(parts, "trees", shape, MAX_TREES, whole=True, default=usual).astype(np.uint8)
    wet = land == WATER
    for name, layer in (("trees", trees), ("building", building)):
        drowned = wet & (layer > 0)
        if drowned.any():
            y, x = (int(k[0]) for k in np.nonzero(drowned))
            raise UserError(f"{name} must be 0 on water, got {int(layer[y, x])} at x {x}, y {y}")
    burnable = _layer(parts, "burnable", shape, 1, whole=True, default=can_burn(trees, building) & ~wet) > 0
    wind = [_layer(parts, name, shape, 100, least=-100) for name in ("wind_x", "wind_y")]
    return Terrain(
        land=land,
        trees=trees,
        elevation=np.rint(_layer(parts, "elevation", shape, 1) * TOP).astype(np.uint16),
        moisture=_layer(parts, "moisture", shape, 1, default=0.6).astype(np.float32),
        wind=np.stack(wind).astype(np.float32),
        building=building,
        burnable=burnable,
        relief_m=_number(parts, "relief_m", 890.0),
        cell_m=_number(parts, "cell_m", 30.0),
    )


def _layer(
    parts: dict[str, Any],
    name: str,
    shape: tuple[int, ...],
    most: float,
    *,
    least: float = 0.0,
    whole: bool = False,
    default: Any = 0.0,  # noqa: ANN401  (a number or an array)
) -> npt.NDArray[Any]:
    """Return a layer as float64 (int64 if ``whole``) of the map's shape, every number in its range."""
    given = np.asarray(parts.get(name, default))
    if name not in parts:
        given = np.broadcast_to(given, shape)
    if given.shape != shape or given.dtype.kind not in "biuf":
        raise UserError(f"{name} must be numbers of shape {shape}, got {given.dtype} of shape {given.shape}")
    wrong = ~((given >= least) & (given <= most))  # true for NaN
    if whole:
        wrong |= given != np.floor(np.where(wrong, 0, given))
    if wrong.any():
        y, x = (int(k[0]) for k in np.nonzero(wrong))
        classes = f" ({', '.join(LAND_CLASSES)})" if name == "land" else ""
        kind = "whole numbers" if whole else "numbers"
        raise UserError(f"{name} must be {kind} from {least:g} to {most:g}{classes}, got {given[y, x]} at x {x}, y {y}")
    return given.astype(np.int64 if whole else np.float64)


def _number(parts: dict[str, Any], name: str, default: float) -> float:
    value = parts.get(name, default)
    if isinstance(value, bool) or np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "iuf":
        raise UserError(f"{name} must be a number of metres, got {brief(value)}")
    return float(value)
