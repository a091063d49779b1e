"""The state of a wildfire world: terrain, land, units, civilians and the running incident.

A ``Terrain`` is a value: what was generated or read from a map file. A ``Land`` holds the arrays of one running
instance: trees, buildings, water, wetness and the fire. Agents and civilians stand beside it in arrays, one place each
in the order of their ids: row ``k`` is agent ``k + 1``, firefighters first, then bulldozers, drones and helicopters.
``physics`` changes these arrays; nothing else writes them.

Coordinates are (x, y) with the origin at the top left; x is the column, y the row, growing downward. Arrays of a
``Terrain`` have shape (N, N) and are indexed [y, x]. Arrays of a ``Land`` have a frame of one cell that can never burn,
shape (N + 2, N + 2), which spares the kernels every test of bounds; a position in them is an index into the flat array:
``cell = (y + 1) * stride + x + 1``, ``stride = N + 2``. Positions of agents are real numbers in cells: an agent is in
the cell whose middle is nearest.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar, cast, get_args

import numpy as np

from teamworld import yaml_io
from teamworld.errors import UserError, brief, suggest
from teamworld.plain_files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Edition, Level, Team, WildfireInstance


FireMode = Literal["reference", "stochastic"]

# The codes below are frozen into the compiled kernels, and numba's cache looks at the kernel's own file only: whoever
# changes one of them in a checkout deletes ``kernels/__pycache__``.

#: Land classes; the first five are those of the generator.
ROCKS, BRUSH, LIGHT_FOREST, MEDIUM_FOREST, DENSE_FOREST, WATER = range(6)
LAND_CLASSES = ("rocks", "brush", "light forest", "medium forest", "dense forest", "water")

#: Trees on a cell of each land class.
TREES = (0, 0, 1, 2, 3, 0)
MAX_TREES = 3

#: Burn states. From IGNITED on, a cell has caught fire.
NOT_BURNABLE, BURNABLE, IGNITED, ON_FIRE, EXTINGUISHING, BURNT_OUT = range(6)

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

#: Simulator ticks in one timestep of the agents.
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
    """The land before anything happens; checked when made, its arrays read-only.

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
        size = check_size(len(self.land))
        for name, (dtype, low, high) in _LAYERS.items():
            array = getattr(self, name)
            shape = (2, size, size) if name == "wind" else (size, size)
            if array.dtype != dtype or array.shape != shape:
                raise UserError(f"{name} must be {dtype.__name__} of shape {shape}, got {array.dtype} {array.shape}")
            # NaN compares false with everything, so the test is written for what is wanted.
            if not (array.min() >= low and array.max() <= high):
                raise UserError(f"{name} must lie within {low} and {high}")
            array.setflags(write=False)
        check_number("relief_m", self.relief_m, 0, 100_000, "a number of metres")
        check_number("cell_m", self.cell_m, 0.1, 100_000, "a number of metres")
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
        """Return this terrain with dense forest of 3 trees on the given (x, y) cells."""
        return self._with(cells, land=DENSE_FOREST, trees=MAX_TREES, building=False, burnable=True)

    def with_buildings(self, places: npt.NDArray[np.bool_]) -> Terrain:
        """Return this terrain with buildings on the given cells, (N, N), in place of trees; none on water."""
        new = places & (self.land != WATER)
        building, trees = self.building | new, np.where(new, 0, self.trees).astype(np.uint8)
        burnable = (self.burnable | can_burn(trees, building)) & (self.land != WATER)
        return replace(self, building=building, trees=trees, burnable=burnable)

    def _with(self, cells: Iterable[tuple[int, int]], **values: int) -> Terrain:
        places = list(cells)
        changed = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            for x, y in places:
                changed[name][y, x] = value
        return replace(self, **changed)


#: Type and range of each layer of a map.
_LAYERS: dict[str, tuple[Any, int, int]] = {
    "land": (np.uint8, 0, WATER),
    "trees": (np.uint8, 0, MAX_TREES),
    "elevation": (np.uint16, 0, TOP),
    "moisture": (np.float32, 0, 1),
    "wind": (np.float32, -100, 100),
    "building": (np.bool_, 0, 1),
    "burnable": (np.bool_, 0, 1),
}


def check_number(name: str, value: object, low: float, high: float, kind: str = "an integer") -> None:
    """Check that a value lies within bounds; it must be an integer if ``kind`` says so.

    Raises:
        UserError: If it does not.
    """
    kinds = (int, np.integer) if kind == "an integer" else (int, float, np.number)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        raise UserError(f"{name} must be {kind} from {low:,} to {high:,}, got {brief(value)}")


def check_size(size: int) -> int:
    """Return the side of a map as an int.

    Raises:
        UserError: If it is not an integer from 10 to 2,000.
    """
    check_number("the side of a map", size, MIN_SIZE, MAX_SIZE)
    return int(size)


@dataclass(frozen=True, slots=True, kw_only=True)
class FireRules:
    """How fire spreads.

    The last eight values belong to the mode ``stochastic``; see ``kernels.fire`` for the formulas and their sources.

    Raises:
        UserError: If a value cannot be used.
    """

    mode: FireMode = "reference"
    """``"reference"``: the deterministic rule; ``"stochastic"``: Alexandridis et al. 2008."""
    every: int = 100
    """Ticks between two fire steps (``fire_spread_frequency``)."""
    wet_steps: int = 30
    """Fire steps for which watered ground stays wet; 25 in R26."""
    edge_burns: bool = True
    """Whether the outermost ring of cells can burn; False as in the reference code."""
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
    """Wind speed in m/s above which it counts no more."""
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
        for name, low, high in _BOUNDS:
            kind = "an integer" if name in ("every", "wet_steps") else "a number"
            values = getattr(self, name)
            for value in values if isinstance(values, tuple) else (values,):
                check_number(name, value, low, high, kind)
        for name in ("vegetation", "density"):
            if len(getattr(self, name)) != MAX_TREES + 1:
                raise UserError(f"{name} must have four values, for 0 to 3 trees, got {brief(getattr(self, name))}")


_BOUNDS = (
    ("every", 1, 10**6), ("wet_steps", 0, 10**6), ("ignite_above", 0, 10**6), ("jump_above", 0, 10**6), ("base", 0, 1),
    ("wind_speed_effect", 0, 1), ("wind_angle_effect", 0, 1), ("slope_effect", 0, 1), ("wind_cap", 0, 100),
    ("vegetation", -1, 3), ("density", -1, 3), ("extinction_moisture", 0.01, 100),
)  # fmt: skip


class Copyable:
    """A record that can be copied: its arrays are, what never changes is shared."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return an independent copy."""
        parts = {part.name: getattr(self, part.name) for part in fields(cast("Any", self))}
        copies = {
            name: part.copy()
            for name, part in parts.items()
            if isinstance(part, (np.ndarray, Copyable)) and name != "spread"
        }
        return cast("Self", replace(cast("Any", self), **copies))


class Meter:
    """A number that stands at a place in ``Land.meters``."""

    def __init__(self, place: int) -> None:
        self._place = place

    def __get__(self, land: Land, kind: type[Land]) -> int:
        return int(land.meters[self._place])


@dataclass(frozen=True, slots=True, eq=False)
class Land(Copyable):
    """The land of one running instance; ``physics`` changes the arrays in place.

    Use ``physics.make_land`` to build one. One land must not be changed by two threads at once; two may.
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
    """What fire on a cell does to its neighbours, worked out once per map by ``kernels.fire.spread_of``."""
    scratch: npt.NDArray[np.uint64] = field(repr=False)
    """(1028,): work space of the kernels, then what the trees of a target make of a chance (``fuel_of``)."""

    @property
    def size(self) -> int:
        """N, cells on a side."""
        return self.terrain.size

    @property
    def stride(self) -> int:
        """N + 2, cells on a side with the frame."""
        return self.terrain.size + 2

    @property
    def ticks_to_fire(self) -> int:
        """Ticks until the next fire step, 1 to ``rules.every``."""
        return self.rules.every - self.ticks % self.rules.every

    ticks = Meter(TICKS)
    """Simulator ticks gone."""
    fire_steps = Meter(FIRE_STEPS)
    """Fire steps done."""
    trees_burnt = Meter(TREES_BURNT)
    """Trees that the fire destroyed."""
    trees_cut = Meter(TREES_CUT)
    """Trees that agents cut; counted apart from those burnt."""
    buildings_lost = Meter(BUILDINGS_LOST)
    """Buildings that the fire destroyed."""
    cells_caught = Meter(CAUGHT)
    """Cells that caught fire, ever."""
    cells_put_out = Meter(PUT_OUT)
    """Ignited, burning or smouldering cells that water put out."""

    @property
    def cells_burning(self) -> int:
        """Cells ignited or on fire now; the fire is over when there is none."""
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


#: Kinds of agents; the last two are codes of observations alone: the manager's row, and whoever is gone.
FIREFIGHTER, BULLDOZER, DRONE, HELICOPTER, MANAGER, DESTROYED = range(6)
KINDS = ("firefighter", "bulldozer", "drone", "helicopter")

#: Primitives by kind, the first number of an action [type, x, y]. Each kind's own; GO is everybody's.
STOP = -1
"""Does nothing; so does every type that a kind does not know, and the vector [0, 0, 0]."""
GO = 0
GO_ANYWHERE = -2
"""GO, for every target: [0, 0, 0] does nothing, so only this goes to (0, 0)."""
CUT, LIFT, SPRAY, FILL = 1, 2, 3, 4
"""A firefighter's: cut a tree, pick up or put down a civilian, spray, refill."""
CLEAR = 1
"""A bulldozer's: go, and clear every cell on the way."""
BOARD, SCOOP, DROP = 1, 2, 3
"""A helicopter's: take firefighters aboard, refill, set everybody down and release water."""

#: Water that a firefighter or helicopter carries when full; firefighters that a helicopter carries.
TANK, SEATS = 5, 5

#: State of a civilian.
FREE, CARRIED, SAFE, DEAD = range(4)
"""``SAFE``: put down at the target, it stays there and counts."""
NOBODY = -1


class Sight(NamedTuple):
    """How far a kind of agent sees, in cells; both are squares round its own cell."""

    reveals: int
    """Cells to each side that it reveals: 5 makes a square of 11 x 11."""
    window: int
    """Cells to each side that its observation shows."""


SIGHTS = (Sight(5, 10), Sight(5, 10), Sight(15, 25), Sight(20, 30))
"""By kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Units(Copyable):
    """The agents of an instance; A of them."""

    kind: npt.NDArray[np.uint8]
    """(A,): FIREFIGHTER to HELICOPTER, also of one that is gone."""
    x: npt.NDArray[np.float64]
    """(A,): column, in cells."""
    y: npt.NDArray[np.float64]
    """(A,): row, in cells."""
    alive: npt.NDArray[np.bool_]
    """(A,)."""
    water: npt.NDArray[np.int8]
    """(A,): units of water on board, 0 to ``TANK``."""
    aboard: npt.NDArray[np.int32]
    """(A,): row of the helicopter that carries this firefighter; ``NOBODY``."""
    carries: npt.NDArray[np.int32]
    """(A,): row of the civilian that this firefighter carries; ``NOBODY``."""

    def __len__(self) -> int:
        return len(self.kind)

    def place(self, agent: int) -> tuple[int, int]:
        """Return (x, y) of the cell that an agent is in; halves go to the even cell."""
        return round(float(self.x[agent])), round(float(self.y[agent]))

    def places(self) -> npt.NDArray[np.int32]:
        """Return (A, 2): x and y of the cell that each agent is in, as ``place`` has it."""
        return np.rint(np.stack([self.x, self.y], axis=1)).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Civilians(Copyable):
    """The civilians of an instance; C of them, those that a script brings later at the end."""

    x: npt.NDArray[np.int32]
    """(C,): column of the cell; its carrier's while carried."""
    y: npt.NDArray[np.int32]
    """(C,): row of the cell."""
    state: npt.NDArray[np.uint8]
    """(C,): FREE, CARRIED, SAFE or DEAD."""

    def __len__(self) -> int:
        return len(self.state)


def units_at(spawn: Cell, team: Team) -> Units:
    """Return a team that starts in one cell, its tanks empty."""
    kind = np.repeat(np.arange(len(KINDS), dtype=np.uint8), team.counts)
    agents = len(kind)
    x, y = (np.full(agents, float(at)) for at in spawn)
    alive, water = np.ones(agents, np.bool_), np.zeros(agents, np.int8)
    aboard, carries = (np.full(agents, NOBODY, np.int32) for _ in range(2))
    return Units(kind, x, y, alive, water, aboard, carries)


def civilians_at(clusters: tuple[Cell, ...], per_cluster: int) -> Civilians:
    """Return civilians, all of a cluster in its one cell."""
    cells = np.array([(cell.x, cell.y) for cell in clusters], np.int32).reshape(-1, 2).repeat(per_cluster, axis=0)
    return Civilians(cells[:, 0].copy(), cells[:, 1].copy(), np.full(len(cells), FREE, np.uint8))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRules:
    """What agents may do, where editions and the reference code differ.

    ``rules_for(edition)`` has those of an edition. The last two are off in both; the reference code of July 2025 has
    them on, and ``ActionRules(burnt_kills=True, riders_count=True)`` is as it was.

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
    """Whether burnt-out ground kills, as burning and smouldering ground does."""
    riders_count: bool = False
    """Whether firefighters in a helicopter above the target count as transported."""

    def __post_init__(self) -> None:
        """Check the values."""
        check_number("pick_up", self.pick_up, 0.01, 100, "a number of cells")
        check_number("refill", self.refill, 0, 100)
        check_number("rescue_reach", self.rescue_reach, 0, 100)


def rules_for(edition: Edition) -> ActionRules:
    """Return the rules of an edition; later ones than 2025 reach further."""
    return ActionRules() if edition == "2025" else ActionRules(pick_up=4.0, refill=3, rescue_reach=4)


@dataclass(slots=True, eq=False, kw_only=True)
class Incident(Copyable):
    """One running instance; ``physics.step`` changes it in place."""

    instance: WildfireInstance
    """What it started from."""
    seed: int
    """Names the generators of all chance in it: fire, civilians, events."""
    rules: ActionRules
    """What agents may do."""
    key: int
    """Key of the civilians' draws, 0 to 2**63 - 1."""
    land: Land
    units: Units
    civilians: Civilians
    """A script that brings more of them puts longer arrays here."""
    met: npt.NDArray[np.bool_]
    """(C,): civilians that an agent has had in sight."""
    water_found: npt.NDArray[np.bool_]
    """(W,): water cells that an agent has had in sight, those of the level first, then those of its script."""
    scouts: int = 0
    """Most drones and helicopters that were above the fire at once."""
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


#: Cells round a building that can burn, whatever grows there: two 8-neighbour dilations.
BURNS_NEAR_BUILDING = 2


def can_burn(trees: npt.NDArray[np.uint8], building: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return (N, N): cells with trees, and those within two cells of a building."""
    near = building
    for axis in (0, 1):
        wide = np.pad(near, [(BURNS_NEAR_BUILDING, BURNS_NEAR_BUILDING) if axis == a else (0, 0) for a in (0, 1)])
        parts = [np.take(wide, range(k, k + len(building)), axis) for k in range(2 * BURNS_NEAR_BUILDING + 1)]
        near = np.logical_or.reduce(parts)
    return (trees > 0) | near


# Map files -----------------------------------------------------------------------------------------------------------

#: Largest map file, packed or not: a map of 2,000 x 2,000 with every layer in 64 bits takes 260 MB.
MAX_BYTES = 300_000_000
_LAYER_NAMES = ("land", "trees", "elevation", "moisture", "wind_x", "wind_y", "building", "burnable")
_NAMES = (*_LAYER_NAMES, "relief_m", "cell_m")


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
    if unknown := sorted(set(parts) - set(_NAMES)):
        raise UserError(f"{source}: there is no layer '{unknown[0]}' in a map{suggest(unknown[0], list(_NAMES))}")
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
    layers = {name: getattr(terrain, name) for name in _NAMES if not name.startswith("wind")}
    layers |= {"elevation": terrain.elevation / TOP, "wind_x": terrain.wind[0], "wind_y": terrain.wind[1]}
    try:
        np.savez_compressed(target, **layers)
    except OSError as error:
        raise UserError(f"cannot write the map {target}: {error.strerror or error}") from None


def fingerprint(terrain: Terrain) -> str:
    """Return ``sha256:`` and 16 hexadecimal digits that name what a map holds, whatever file it came from."""
    digest = hashlib.sha256(f"{terrain.size} {float(terrain.relief_m)} {float(terrain.cell_m)}".encode())
    for name in _LAYERS:
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

    try:
        named = yaml_io.parse(read_file(source, 100_000).decode())
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
        **{name: _plain(parts[name]) for name in ("relief_m", "cell_m") if name in parts},
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
    layer = np.asarray(parts.get(name, default))
    if name not in parts:
        layer = np.broadcast_to(layer, shape)
    if layer.shape != shape or layer.dtype.kind not in "biuf":
        raise UserError(f"{name} must be numbers of shape {shape}, got {layer.dtype} of shape {layer.shape}")
    wrong = ~((layer >= least) & (layer <= most))  # true for NaN
    if whole:
        wrong |= layer != np.floor(np.where(wrong, 0, layer))
    if wrong.any():
        y, x = (int(k[0]) for k in np.nonzero(wrong))
        classes = f" ({', '.join(LAND_CLASSES)})" if name == "land" else ""
        kind = "whole numbers" if whole else "numbers"
        raise UserError(f"{name} must be {kind} from {least:g} to {most:g}{classes}, got {layer[y, x]} at x {x}, y {y}")
    return layer.astype(np.int64 if whole else np.float64)


def _plain(value: Any) -> Any:  # noqa: ANN401  (``Terrain`` checks it)
    """Return the number that an array without dimensions holds; anything else as it came."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
