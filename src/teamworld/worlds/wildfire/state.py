"""What the land of a wildfire world is made of: the terrain to start from, and the arrays that change.

A ``Terrain`` is a value: what was generated or loaded from a map file. A ``Land`` holds the arrays of one running
instance as flat structure of arrays: trees, buildings, water, wetness and the fire. Units (firefighters, bulldozers,
drones, helicopters, civilians) stand beside it; they read its arrays and change them through ``fire``.

Coordinates are (x, y) with the origin at the top left; x is the column, y the row, growing downward (wildfire spec
A2). Arrays of a ``Terrain`` have shape (N, N) and are indexed [y, x]. Arrays of a ``Land`` have a frame of one cell
that can never burn, shape (N + 2, N + 2), which spares the kernels every test of bounds; a position in them is a
*cell*, an index into the flat array: ``cell = (y + 1) * stride + x + 1``, ``stride = N + 2``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from teamworld.errors import UserError, brief, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

FireMode = Literal["reference", "stochastic"]

# The codes below are frozen into the compiled kernels, and numba's cache looks at the kernel's own file only: whoever
# changes one of them deletes the ``__pycache__`` of this folder (see ``burning``).

#: Land classes (wildfire spec A2); the first five are those of the generator.
ROCKS, BRUSH, LIGHT_FOREST, MEDIUM_FOREST, DENSE_FOREST, WATER = range(6)
LAND_CLASSES = ("rocks", "brush", "light forest", "medium forest", "dense forest", "water")
#: Trees on a cell of each land class.
TREES = (0, 0, 1, 2, 3, 0)
MAX_TREES = 3

#: Burn states (wildfire spec A2). From IGNITED on, a cell has caught fire.
NOT_BURNABLE, BURNABLE, IGNITED, ON_FIRE, EXTINGUISHING, BURNT_OUT = range(6)
BURN_STATES = ("not burnable", "burnable", "ignited", "on fire", "extinguishing", "burnt out")

#: Fields of ``Land.meters``: clocks, counts of what happened, how many cells are in each burn state, where the cells
#: that caught fire in the last 16 fire steps begin in ``Land.caught``, and how far away the eight neighbours are.
(
    TICKS, FIRE_STEPS, CAUGHT, WET_UNTIL, TREES_BURNT, TREES_CUT, BUILDINGS_LOST, PUT_OUT,
) = range(8)  # fmt: skip
AT_STATES, AT_COHORTS, AT_NEIGHBOURS = 8, 16, 32
COHORTS = 16
METERS = 40
#: (dx, dy) of the eight neighbours, clockwise from east; directions d and d + 4 are opposite.
NEIGHBOURS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
#: Burning cells that the kernel of the stochastic mode takes together, and where its fuel factors stand in ``scratch``.
BLOCK = 512
AT_FUEL = 2 * BLOCK

#: Elevation is kept in whole steps of ``relief_m / TOP``: the slope factor then comes from a table.
TOP = 65_535
#: Simulator ticks in one timestep of the agents (wildfire spec A1).
TICKS_PER_TIMESTEP = 100
#: Smallest and largest side of a map, in cells.
MIN_SIZE, MAX_SIZE = 10, 2_000


class Cell(NamedTuple):
    """A place on the map."""

    x: int
    """Column, 0 at the left."""
    y: int
    """Row, 0 at the top."""


Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Terrain:
    """The land before anything happens; checked when made, its arrays read-only (wildfire spec A2, A3, B10).

    Raises:
        UserError: If an array has the wrong shape, type or range.
    """

    land: npt.NDArray[np.uint8]
    """(N, N): land class, ROCKS to WATER."""
    trees: npt.NDArray[np.uint8]
    """(N, N): trees, 0 to 3."""
    elevation: npt.NDArray[np.uint16]
    """(N, N): height in units of ``relief_m / 65,535``."""
    moisture: npt.NDArray[np.float32]
    """(N, N): fuel moisture, 0 to 1 (the generator gives 0.4 to 0.8)."""
    wind: npt.NDArray[np.float32]
    """(2, N, N): wind in m/s along x and y, the direction it blows to; constant in time."""
    building: npt.NDArray[np.bool_]
    """(N, N): a building stands here."""
    burnable: npt.NDArray[np.bool_]
    """(N, N): the cell can catch fire: trees, a building, or a settlement within two cells."""
    relief_m: float = 890.0
    """Metres between elevation 0 and 1."""
    cell_m: float = 30.0
    """Side of a cell in metres."""

    def __post_init__(self) -> None:
        """Check the arrays and make them read-only."""
        if self.land.ndim != 2 or self.land.shape[0] != self.land.shape[1]:
            raise UserError(f"a map must be square, got an array of shape {self.land.shape}")
        size = check_size(self.land.shape[0])
        for name, (dtype, top) in _LAYERS.items():
            array = getattr(self, name)
            shape = (2, size, size) if name == "wind" else (size, size)
            if array.dtype != dtype or array.shape != shape:
                raise UserError(f"{name} must be {dtype.__name__} of shape {shape}, got {array.dtype} {array.shape}")
            # NaN compares false with everything, so the test is written for what is wanted.
            if top is not None and not (array.min() >= (-top if name == "wind" else 0) and array.max() <= top):
                raise UserError(f"{name} must lie within {-top if name == 'wind' else 0} and {top}")
            array.setflags(write=False)
        for name, least in (("relief_m", 0.0), ("cell_m", 0.1)):
            value = getattr(self, name)
            if not math.isfinite(value) or not least <= value <= 100_000:
                raise UserError(f"{name} must be a number of metres from {least:g} to 100,000, got {value!r}")
        if (self.burnable & (self.land == WATER)).any():
            raise UserError("water cannot burn: burnable must be false on water cells")

    @property
    def size(self) -> int:
        """N, cells on a side."""
        return len(self.land)

    @property
    def height_m(self) -> npt.NDArray[np.float64]:
        """(N, N): height in metres above the lowest level."""
        return self.elevation.astype(np.float64) * (self.relief_m / TOP)

    def with_water(self, cells: Iterable[tuple[int, int]]) -> Terrain:
        """Return this terrain with water on the given (x, y) cells: no trees, no building, not burnable."""
        return self._with(cells, land=WATER, trees=0, building=False, burnable=False)

    def planted(self, cells: Iterable[tuple[int, int]]) -> Terrain:
        """Return this terrain with dense forest of 3 trees on the given (x, y) cells (wildfire spec B24)."""
        return self._with(cells, land=DENSE_FOREST, trees=MAX_TREES, building=False, burnable=True)

    def _with(self, cells: Iterable[tuple[int, int]], **values: int) -> Terrain:
        places = list(cells)
        changed = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            for x, y in places:
                changed[name][y, x] = value
        return replace(self, **changed)


_LAYERS: dict[str, tuple[Any, int | None]] = {
    "land": (np.uint8, WATER),
    "trees": (np.uint8, MAX_TREES),
    "elevation": (np.uint16, None),
    "moisture": (np.float32, 1),
    "wind": (np.float32, 100),
    "building": (np.bool_, None),
    "burnable": (np.bool_, None),
}


def check_size(size: object) -> int:
    """Return a map's side as an int.

    Raises:
        UserError: If it is not an integer from 10 to 2,000.
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not MIN_SIZE <= size <= MAX_SIZE:
        raise UserError(f"the side of a map must be an integer from {MIN_SIZE} to {MAX_SIZE:,}, got {brief(size)}")
    return int(size)


@dataclass(frozen=True, slots=True, kw_only=True)
class FireRules:
    """How fire spreads (wildfire spec A4, B1-B9).

    The last eight values belong to the mode ``stochastic``; see ``fire`` for the formulas and their sources.

    Raises:
        UserError: If a value cannot be used.
    """

    mode: FireMode = "reference"
    """``"reference"``: the deterministic rule of A4.1; ``"stochastic"``: Alexandridis et al. 2008."""
    every: int = 100
    """Ticks between two fire steps (``fire_spread_frequency``)."""
    wet_steps: int = 30
    """Fire steps for which watered ground stays wet; 25 in R26 (B6)."""
    edge_burns: bool = True
    """Whether the outermost ring of cells can burn; False as in the reference code (B8)."""
    ignite_above: float = 0.5
    """Reference: the neighbour is ignited when r passes this."""
    jump_above: float = 8.0
    """Reference: the neighbour goes straight to on fire when r passes this; 10 in R26."""
    base: float = 0.58
    """p_h: chance to catch fire with no wind, on flat ground, in normal fuel."""
    wind_speed_effect: float = 0.045
    """c1, per m/s."""
    wind_angle_effect: float = 0.131
    """c2, per m/s."""
    slope_effect: float = 0.078
    """a, per degree."""
    wind_cap: float = 10.0
    """Wind speed in m/s above which it counts no more (B4)."""
    vegetation: tuple[float, float, float, float] = (0.0, 0.4, 0.4, 0.4)
    """p_veg by trees of the target, 0 to 3: thickets without trees, pine forest with them."""
    density: tuple[float, float, float, float] = (0.0, -0.4, 0.0, 0.3)
    """p_den by trees of the target, 0 to 3: normal; sparse, normal and dense forest."""
    extinction_moisture: float = 1.0
    """Moisture of extinction of Rothermel's damping, on the scale of ``Terrain.moisture``."""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.mode not in get_args(FireMode):
            raise UserError(
                f"the fire mode must be 'reference' or 'stochastic', got {brief(self.mode)}"
                f"{suggest(str(self.mode), list(get_args(FireMode)))}"
            )
        for name, least, most in (("every", 1, 10**6), ("wet_steps", 0, 10**6)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
                raise UserError(f"{name} must be an integer from {least} to {most:,}, got {brief(value)}")
        for name, low, high in _BOUNDS:
            values = getattr(self, name)
            for value in values if isinstance(values, tuple) else (values,):
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                    raise UserError(f"{name} must be from {low:g} to {high:g}, got {brief(value)}")
        for name in ("vegetation", "density"):
            if len(getattr(self, name)) != MAX_TREES + 1:
                raise UserError(f"{name} must have four values, for 0 to 3 trees, got {brief(getattr(self, name))}")


_BOUNDS = (
    ("ignite_above", 0.0, 1e6), ("jump_above", 0.0, 1e6), ("base", 0.0, 1.0), ("wind_speed_effect", 0.0, 1.0),
    ("wind_angle_effect", 0.0, 1.0), ("slope_effect", 0.0, 1.0), ("wind_cap", 0.0, 100.0), ("vegetation", -1.0, 3.0),
    ("density", -1.0, 3.0), ("extinction_moisture", 0.01, 100.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """The land of one running instance; ``fire`` changes the arrays in place.

    Use ``fire.make_land`` to build one. One land must not be changed by two threads at once; two may.
    """

    terrain: Terrain
    """What it started from; elevation, moisture and wind never change."""
    rules: FireRules
    key: int
    """Key of the random draws of the stochastic mode, 0 to 2**63 - 1."""

    burn: npt.NDArray[np.uint8]
    """(N + 2, N + 2): burn state, NOT_BURNABLE on the frame."""
    trees: npt.NDArray[np.uint8]
    """(N + 2, N + 2): trees left."""
    land: npt.NDArray[np.uint8]
    """(N + 2, N + 2): land class, ROCKS on the frame."""
    building: npt.NDArray[np.bool_]
    """(N + 2, N + 2): a building stands here."""
    wet_until: npt.NDArray[np.int32]
    """(N + 2, N + 2): the fire step up to which the cell is wet; wet now while it is above ``fire_steps``."""
    caught: npt.NDArray[np.int32] = field(repr=False)
    """(N * N + 1,): the cells that caught fire, in order of time; ``~cell`` for one that went straight to on fire.

    A cell burns at most once, so the list never outgrows the map; all that a fire step has to visit stands in a few
    runs of it."""
    meters: npt.NDArray[np.int64] = field(repr=False)
    """(40,): clocks and counts; read them through the properties."""
    spread: npt.NDArray[Any] = field(repr=False)
    """What fire on a cell does to its neighbours, worked out once per map; see ``fire``. Shared between copies."""
    scratch: npt.NDArray[np.uint64] = field(repr=False)
    """(1028,): work space of the kernels, then what the trees of a target make of a chance (``spread.fuel_of``)."""

    @property
    def size(self) -> int:
        """N, cells on a side."""
        return self.terrain.size

    @property
    def stride(self) -> int:
        """N + 2, cells on a side with the frame."""
        return self.terrain.size + 2

    @property
    def ticks(self) -> int:
        """Simulator ticks gone."""
        return int(self.meters[TICKS])

    @property
    def fire_steps(self) -> int:
        """Fire steps done."""
        return int(self.meters[FIRE_STEPS])

    @property
    def ticks_to_fire(self) -> int:
        """Ticks until the next fire step, 1 to ``rules.every``."""
        return self.rules.every - self.ticks % self.rules.every

    @property
    def trees_burnt(self) -> int:
        """Trees that the fire destroyed."""
        return int(self.meters[TREES_BURNT])

    @property
    def trees_cut(self) -> int:
        """Trees that agents cut; counted apart from those burnt (wildfire spec B22)."""
        return int(self.meters[TREES_CUT])

    @property
    def buildings_lost(self) -> int:
        """Buildings that the fire destroyed."""
        return int(self.meters[BUILDINGS_LOST])

    @property
    def cells_caught(self) -> int:
        """Cells that caught fire, ever."""
        return int(self.meters[CAUGHT])

    @property
    def cells_put_out(self) -> int:
        """Ignited, burning or smouldering cells that water put out."""
        return int(self.meters[PUT_OUT])

    @property
    def cells_burning(self) -> int:
        """Cells ignited or on fire now; the fire is over when there is none (wildfire spec B27)."""
        return int(self.meters[AT_STATES + IGNITED] + self.meters[AT_STATES + ON_FIRE])

    def cells_in(self, burn_state: int) -> int:
        """Return how many cells of the map are in a burn state."""
        return int(self.meters[AT_STATES + burn_state])

    def wet(self) -> npt.NDArray[np.bool_]:
        """Return (N, N): which cells are wet now."""
        return self.inner(self.wet_until) > self.fire_steps

    def inner(self, array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return the (N, N) view of one of the framed arrays, indexed [y, x]."""
        return array[1:-1, 1:-1]

    def cell(self, x: int, y: int) -> int:
        """Return the cell at (x, y).

        Raises:
            UserError: If it lies outside the map.
        """
        if not (0 <= x < self.size and 0 <= y < self.size):
            raise UserError(f"a cell must lie inside x and y 0 to {self.size - 1}, got ({x}, {y})")
        return (y + 1) * self.stride + x + 1

    def place(self, cell: int) -> Cell:
        """Return (x, y) of a cell."""
        y, x = divmod(int(cell), self.stride)
        return Cell(x - 1, y - 1)

    def burning_cells(self) -> npt.NDArray[np.int32]:
        """Return the cells ignited or on fire, ascending; costs what burns, not the map."""
        cohorts, now = self.meters[AT_COHORTS:], self.fire_steps
        recent = self.caught[cohorts[max(now - 1, 0) % COHORTS] : self.cells_caught]
        recent = np.where(recent < 0, ~recent, recent)
        states = self.burn.reshape(-1)[recent]
        return np.sort(recent[(states == IGNITED) | (states == ON_FIRE)])

    def copy(self) -> Land:
        """Return an independent copy; what never changes is shared."""
        shared = ("terrain", "rules", "key", "spread")
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return Land(**{name: part if name in shared else part.copy() for name, part in parts.items()})
