"""What agents have seen of the map, and what they observe as arrays: 3,728 numbers each, and the manager's row.

After each step every living agent reveals the square round its cell, and those round the cells that it passed on its
way, as they stand at the end of the step; riders reveal what lies round their helicopter. A cell keeps the code that it
had when it was last seen, and has 0 before. A map is kept in tiles of 32 x 32 cells that are made when something in
them is first seen: 2,000 maps of one million cells each cost what their owners saw, and four bytes a tile besides.

A row of an agent is [kind] + 3,721 numbers of its window + [imitation flag] + [x, y] + 3 extras. The window holds what
was last seen of the cells round its own, row by row, 0 for what nobody saw and what lies outside the map, then -1. The
kind is 5 for one that is lost; of it the row tells where it was, and its window is all -1.

The manager's row is [4, task, size of the map, score] + the task's parameters, then -1. The edition of 2026 has
thirteen counters and whether a fire is active in place of the score. Parameters of the tasks are

* cut: whether they are lines (1) or single cells (0), how many; of each the cell, or the first and last cell of a line;
* scout: the fire's cell; transport: the target;
* contain: the fire's cell, then those of the water; rescue: the target, then the cell of each cluster of civilians;
* both: the fire's cell, that of the first water or 0 0, then those of the clusters;

all as they were at the start. Cells that do not fit are left out. The manager is told the truth, known to the team or
not, so its row is for central training and for judges. The other rows never depend on what was not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import (
    DRY,
    FLAG_AT,
    FROM_BURN,
    LENGTH,
    PADDING,
    SEEN_BUILDING,
    SEEN_CIVILIAN,
    SEEN_WATER,
    TILE,
    WET,
    WINDOW_AT,
    join_tiles,
    reveal_cells,
    sight_spans,
    write_rows,
    write_window,
)
from teamworld.worlds.wildfire.levels import TASK_CODES
from teamworld.worlds.wildfire.state import (
    DESTROYED,
    FIREFIGHTER,
    FREE,
    HELICOPTER,
    IGNITED,
    KINDS,
    MANAGER,
    NOBODY,
    SAFE,
    SIGHTS,
    WATER,
    Copyable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Edition, WildfireInstance
    from teamworld.worlds.wildfire.state import Incident, Land, Units

    F32: TypeAlias = npt.NDArray[np.float32]
    I32: TypeAlias = npt.NDArray[np.int32]
    Way: TypeAlias = tuple[int, int, int, int, int]
    Spans: TypeAlias = tuple[int, int, I32, I32]

_REVEALS = np.array([sight.reveals for sight in SIGHTS], np.int32)


@dataclass(slots=True, eq=False)
class Sightings(Copyable):
    """What was last seen of each cell; O maps of T x T tiles, O = 1 if the team shares one, else one for each agent."""

    index: npt.NDArray[np.int32]
    """(O, T, T): where the tile stands in ``tiles``; 0 until something in it is seen."""
    tiles: npt.NDArray[np.uint8]
    """(P, 32, 32): codes of cells; the first tile stays empty, those from ``used`` on are spare."""
    used: int
    """Tiles in use, the empty one among them."""
    cells: npt.NDArray[np.int32]
    """(A, 2): x and y of the cells in which the agents stood at the last look."""
    before: npt.NDArray[np.int32]
    """(A, 2): the same at the look before it."""
    reach: npt.NDArray[np.int32]
    """(A,): cells to each side that the agents reveal."""
    codes: npt.NDArray[np.uint8]
    """(N, N): work space, what can be seen of the land; stale between looks."""
    people: npt.NDArray[np.uint8]
    """(N, N): work space, 1 where somebody can be seen; all 0 between looks."""

    @property
    def shared(self) -> bool:
        """Whether the team has one map."""
        return len(self.index) == 1

    @property
    def size(self) -> int:
        """N, cells on a side of the map."""
        return len(self.people)

    @property
    def nbytes(self) -> int:
        """Memory in bytes, spare tiles not counted: the system gives a page when it is first written."""
        arrays = (self.index, self.cells, self.before, self.reach, self.codes, self.people)
        return self.used * TILE * TILE + sum(array.nbytes for array in arrays)

    @property
    def explored(self) -> int:
        """Cells that somebody has seen."""
        if self.shared:
            return int(np.count_nonzero(self.tiles[: self.used]))
        side = self.index.shape[1]
        seen = np.zeros((side * side, TILE * TILE), np.uint8)
        words = (array.reshape(-1, TILE * TILE).view(np.uint64) for array in (self.tiles, seen))  # eight cells at once
        join_tiles(self.index.reshape(-1, side * side), *words)
        return int(np.count_nonzero(seen))

    def look(self, incident: Incident, rows: Sequence[int] | None = None) -> None:
        """Update the maps with what every living agent sees now; call it after each step.

        Args:
            incident: The moment.
            rows: The agents that look; None: all. Those of others neither move nor see.
        """
        land, units, civilians = incident.land, incident.units, incident.civilians
        places = units.places()
        shown = (civilians.state == FREE) | (civilians.state == SAFE)
        people = civilians.y[shown], civilians.x[shown]
        self.people[people] = 1
        fresh = np.zeros(self.size, np.bool_)
        looking = units.alive
        if rows is not None:
            looking = np.zeros(len(units), np.bool_)
            looking[rows] = units.alive[rows]
        agent = 0
        while True:
            agent, self.used = reveal_cells(
                agent, self.used, self.index, self.tiles, self.cells, places, looking, self.reach,
                self.codes, fresh, self.people,
                land.burn, land.trees, land.land, land.building, land.wet_until, land.fire_steps,
            )  # fmt: skip
            if agent == len(units):
                break
            self._grow()
        self.people[people] = 0
        if rows is None:
            self.before, self.cells = self.cells, places
        else:
            self.before[rows], self.cells[rows] = self.cells[rows], places[rows]

    def _grow(self) -> None:
        """Make room for more tiles: at least for those that one agent can see in one step."""
        needed = self.used + self.index[0].size
        tiles = np.zeros((max(needed, len(self.tiles) * 3 // 2), TILE, TILE), np.uint8)
        tiles[: self.used] = self.tiles[: self.used]
        self.tiles = tiles

    def seen(self, agent: int = 0) -> npt.NDArray[np.uint8]:
        """Return (N, N), indexed [y, x]: the codes of the team's map, or of that of one agent (row in ``Units``).

        The array is new; it does not change with the next look.
        """
        tiles: npt.NDArray[np.uint8] = self.tiles[self.index[0 if self.shared else agent]]
        side = len(tiles) * TILE
        return np.ascontiguousarray(tiles.transpose(0, 2, 1, 3).reshape(side, side)[: self.size, : self.size])

    def way(self, agent: int) -> Way:
        """Return what decides what an agent saw at the last look: x and y before, x and y then, cells to each side."""
        (x0, y0), (x1, y1) = self.before[agent].tolist(), self.cells[agent].tolist()
        return x0, y0, x1, y1, int(self.reach[agent])

    def spans(self, way: Way) -> Spans:
        """Return what is seen on a way: first and last row, and (N,) each the first and last column in these rows."""
        left, right = np.empty(self.size, np.int32), np.empty(self.size, np.int32)
        top, bottom = sight_spans(*way, self.size, left, right)
        return int(top), int(bottom), left, right

    def tile(self, owner: int, column: int, row: int) -> npt.NDArray[np.uint8]:
        """Return (32, 32): the codes of a tile of the team's map, or of that of one agent; not to be changed."""
        codes: npt.NDArray[np.uint8] = self.tiles[self.index[0 if self.shared else owner, row, column]]
        return codes


def begin_sightings(incident: Incident, *, shared_map: bool = True) -> Sightings:
    """Return what is seen before the first step, on one map for the team or on one for each agent.

    Raises:
        UserError: If ``shared_map`` is neither True nor False.
    """
    if not isinstance(shared_map, bool):
        raise UserError(f"shared_map must be True or False, got {brief(shared_map)}")
    size = incident.land.size
    side = -(-size // TILE)
    owners = 1 if shared_map else len(incident.units)
    sightings = Sightings(
        index=np.zeros((owners, side, side), np.int32),
        tiles=np.zeros(((side * side if shared_map else 4 * owners) + 1, TILE, TILE), np.uint8),
        used=1,
        cells=incident.units.places(),
        before=incident.units.places(),
        reach=_REVEALS[incident.units.kind],
        codes=np.zeros((size, size), np.uint8),
        people=np.zeros((size, size), np.uint8),
    )
    sightings.look(incident)
    return sightings


def true_codes(land: Land) -> npt.NDArray[np.uint8]:
    """Return (N, N), indexed [y, x]: the code of every cell as it is, people left out. For drawings and logs."""
    burn, trees = land.inner(land.burn), land.inner(land.trees)
    codes = np.where(land.wet(), WET, DRY).astype(np.uint8) + trees
    codes[land.inner(land.building)] = SEEN_BUILDING
    codes[land.inner(land.land) == WATER] = SEEN_WATER
    return np.where(burn >= IGNITED, burn + np.uint8(FROM_BURN), codes)


#: Numbers of the manager's row between the size of the map and the task's parameters.
COUNTERS: dict[Edition, int] = {"2025": 1, "2026": 14, "published": 14}
_WINDOWS = np.array([sight.window for sight in SIGHTS], np.int32)


#: What each number of an agent's row is called.
FIELDS = (
    "kind", *(f"window_{number}" for number in range(FLAG_AT - WINDOW_AT)), "steered", "x", "y",
    "carries_or_aboard", "water", "rides",
)  # fmt: skip


class Observation(NamedTuple):
    """The row of one agent, decoded."""

    kind: int
    """FIREFIGHTER to HELICOPTER, or DESTROYED."""
    window: npt.NDArray[np.uint8]
    """(2W + 1, 2W + 1), indexed [y, x], its own cell in the middle; (0, 0) for one that is lost."""
    flag: int
    """Whether a person steered it (imitation); always 0 here."""
    x: int
    y: int
    extras: tuple[int, int, int]
    """Firefighter: carries a civilian, water, rides. Helicopter: firefighters aboard, water, 0. Others: 0, 0, 0."""


class ManagerRow(NamedTuple):
    """The manager's row, decoded."""

    task: int
    """``levels.TASK_CODES``."""
    size: int
    """N, cells on a side of the map."""
    counters: tuple[float, ...]
    """The score; in the edition of 2026 thirteen counters (``tasks.Counts``) and whether a fire is active."""
    parameters: tuple[int, ...]


def observations(incident: Incident, sightings: Sightings, out: F32 | None = None) -> F32:
    """Return what everybody observes: float32 of shape (A + 1, 3728), row 0 the manager's, row k agent k's.

    ``out`` is a C-contiguous array of that shape to write into; a new one if None.

    Raises:
        UserError: If ``out`` does not fit.
    """
    units = incident.units
    shape = (len(units) + 1, LENGTH)
    if out is None:
        out = np.empty(shape, np.float32)
    elif out.dtype != np.float32 or out.shape != shape or not out.flags.c_contiguous:
        raise UserError(f"out must be a contiguous float32 array of shape {shape}, got {out.dtype} {out.shape}")
    aboard = units.aboard[units.aboard != NOBODY]
    riders = np.bincount(aboard, minlength=len(units)).astype(np.int32)
    write_rows(
        out[1:], units.kind, units.places(), units.alive, units.water, units.aboard, units.carries, riders, _WINDOWS,
        sightings.index, sightings.tiles, sightings.size,
    )  # fmt: skip
    out[0] = encode_row(manager_row(incident, sightings))
    return out


def window(incident: Incident, sightings: Sightings, agent: int) -> npt.NDArray[np.uint8]:
    """Return the window of one agent (its row in ``Units``), indexed [y, x]; (0, 0) if it is lost."""
    units = incident.units
    side = _side(int(units.kind[agent]) if units.alive[agent] else DESTROYED)
    codes = np.empty((side, side), np.uint8)
    if side:
        index, tiles = sightings.index[0 if sightings.shared else agent], sightings.tiles.reshape(-1)
        write_window(codes.reshape(-1), index, tiles, sightings.size, *units.place(agent), side // 2)
    return codes


def observation(incident: Incident, sightings: Sightings, agent: int) -> Observation:
    """Return what one agent (its row in ``Units``) observes, as ``decode`` has it."""
    units = incident.units
    x, y = units.place(agent)
    kind, extras = int(units.kind[agent]), (0, 0, 0)
    if not units.alive[agent]:
        kind = DESTROYED
    elif kind == FIREFIGHTER:
        carries, rides = int(units.carries[agent] != NOBODY), int(units.aboard[agent] != NOBODY)
        extras = (carries, int(units.water[agent]), rides)
    elif kind == HELICOPTER:
        extras = (int(np.count_nonzero(units.aboard == agent)), int(units.water[agent]), 0)
    return Observation(kind, window(incident, sightings, agent), 0, x, y, extras)


def agent_names(units: Units) -> list[str]:
    """Return what the agents are called: kind and number, ``firefighter_1`` first."""
    return [f"{KINDS[kind]}_{k + 1}" for k, kind in enumerate(units.kind.tolist())]


def manager_row(incident: Incident, sightings: Sightings) -> ManagerRow:
    """Return what the manager is told."""
    instance = incident.instance
    level = instance.level
    if level.edition != "2025":
        counts = physics.counters(incident, sightings.explored)
        counters = (*(float(count or 0) for count in counts), float(incident.land.cells_burning > 0))
    else:
        counters = (physics.score(incident).reference,)
    numbers = tuple(int(number) for number in parameters(instance))
    room = LENGTH - 3 - len(counters)
    return ManagerRow(TASK_CODES[level.task], level.size, counters, numbers[: room - room % 2])


def parameters(instance: WildfireInstance) -> list[int]:
    """Return the task's parameters (see the module)."""
    task, targets, cells = instance.level.task, instance.targets, list[tuple[int, int]]()
    match task:
        case "cut_sparse":
            cells = [(0, len(targets)), *(cell for line in targets for cell in line)]
        case "cut_lines":
            cells = [(1, len(targets)), *(cell for line in targets for cell in (line[0], line[-1]))]
        case "transport" | "rescue":
            cells = [instance.target or (0, 0), *instance.clusters]
        case "scout" | "contain":
            cells = [instance.fire or (0, 0), *instance.water]
        case "both":
            cells = [instance.fire or (0, 0), *(instance.water or ((0, 0),))[:1], *instance.clusters]
    return [number for cell in cells for number in cell]


def encode_row(seen: Observation | ManagerRow) -> F32:
    """Return the row, float32 of shape (3728,).

    Raises:
        UserError: If it holds a window that its kind does not have, or too many parameters.
    """
    row = np.full(LENGTH, PADDING, np.float32)
    if isinstance(seen, ManagerRow):
        numbers = (MANAGER, seen.task, seen.size, *seen.counters, *seen.parameters)
        if len(numbers) > LENGTH:
            raise UserError(f"the manager's row holds {LENGTH} numbers, got {len(numbers)}")
        row[: len(numbers)] = numbers
        return row
    side = _side(seen.kind)
    if seen.window.shape != (side, side):
        raise UserError(f"an agent of kind {seen.kind} has a window of shape {(side, side)}, got {seen.window.shape}")
    row[0] = seen.kind
    row[WINDOW_AT : WINDOW_AT + side * side] = seen.window.reshape(-1)
    row[FLAG_AT:] = (seen.flag, seen.x, seen.y, *seen.extras)
    return row


def decode_row(row: npt.NDArray[np.floating] | Sequence[float], edition: Edition = "2025") -> Observation | ManagerRow:
    """Return what a row says; ``encode`` gives the same row again.

    Args:
        row: Numbers of shape (3728,).
        edition: Whose manager's row it is; rows of agents are the same in all.

    Raises:
        UserError: If it is no row of an observation.
    """
    numbers = np.asarray(row, np.float32)
    if numbers.shape != (LENGTH,) or not 0 <= numbers[0] <= DESTROYED or numbers[0] % 1:
        raise UserError(f"an observation has {LENGTH} numbers and begins with a kind from 0 to 5, got {brief(row)}")
    kind = int(numbers[0])
    if kind == MANAGER:
        head = 3 + COUNTERS[edition]
        rest = numbers[head:]
        values = rest[: np.flatnonzero(rest != PADDING)[-1] + 1] if (rest != PADDING).any() else rest[:0]
        counters = tuple(float(number) for number in numbers[3:head])
        return ManagerRow(int(numbers[1]), int(numbers[2]), counters, tuple(int(number) for number in values))
    side = _side(kind)
    codes = numbers[WINDOW_AT : WINDOW_AT + side * side]
    if not ((codes >= 0) & (codes <= SEEN_CIVILIAN)).all():
        raise UserError(f"a window holds codes from 0 to {SEEN_CIVILIAN}, got {brief(codes)}")
    flag, x, y, *extras = (int(number) for number in numbers[FLAG_AT:])
    return Observation(kind, codes.astype(np.uint8).reshape(side, side), flag, x, y, (extras[0], extras[1], extras[2]))


def _side(kind: int) -> int:
    """Return the side of a window in cells."""
    if kind == DESTROYED:
        return 0
    if not 0 <= kind < len(SIGHTS):
        raise UserError(f"the kind of an agent is a number from 0 to 3, or 5 for one that is lost, got {kind}")
    return 2 * SIGHTS[kind].window + 1
