"""What was last seen of the map, by the team or by each agent (wildfire spec A6, A9, B32).

After each step everybody alive reveals the square round its cell, and those round the cells that it passed on its way,
as they stand at the end of the step; riders what lies round their helicopter, the dead nothing. A cell keeps the code
that it had when it was last seen, and has 0 before.

A map is kept in tiles of 32 x 32 cells that are made when something in them is first seen. So 2,000 maps of one million
cells each cost what their owners saw, and four bytes a tile that they did not see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire.state import IGNITED, WATER
from teamworld.worlds.wildfire.units import FREE, SAFE, SIGHTS

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.state import Land

    U8: TypeAlias = npt.NDArray[np.uint8]
    I32: TypeAlias = npt.NDArray[np.int32]
    U64: TypeAlias = npt.NDArray[np.uint64]
    Flags: TypeAlias = npt.NDArray[np.bool_]

# The codes and sizes below are frozen into the compiled kernels, here and in observe.py: who changes one touches both.

#: Codes of cells (wildfire spec A9). A wet cell with t trees is WET + t, a dry one DRY + t.
UNSEEN, WET, DRY = 0, 1, 5
SEEN_IGNITED, SEEN_ON_FIRE, SEEN_EXTINGUISHING, SEEN_BURNT_OUT, SEEN_WATER, SEEN_BUILDING, SEEN_CIVILIAN = range(9, 16)
#: From the burn states of the land to the codes of cells that caught fire.
FROM_BURN = SEEN_IGNITED - IGNITED
#: Cells on a side of a tile.
TILE = 32
SHIFT, LAST = 5, TILE - 1

_REVEALS = np.array([sight.reveals for sight in SIGHTS], np.int32)
#: An unsigned index spares numba the test for negative ones.
u = np.uint64


@dataclass(slots=True, eq=False)
class Sightings:
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
        return (
            self.index.nbytes
            + self.used * TILE * TILE
            + 2 * self.cells.nbytes
            + self.reach.nbytes
            + 2 * self.people.nbytes
        )

    @property
    def explored(self) -> int:
        """Cells that somebody has seen."""
        if self.shared:
            return int(np.count_nonzero(self.tiles[: self.used]))
        side = self.index.shape[1]
        seen = np.zeros((side * side, TILE * TILE), np.uint8)
        words = (array.reshape(-1, TILE * TILE).view(np.uint64) for array in (self.tiles, seen))  # eight cells at once
        _join(self.index.reshape(-1, side * side), *words)
        return int(np.count_nonzero(seen))

    def look(self, incident: Incident) -> None:
        """Take in what everybody alive sees now; call it after each step."""
        land, units, civilians = incident.land, incident.units, incident.civilians
        now = units.places()
        shown = (civilians.state == FREE) | (civilians.state == SAFE)
        people = civilians.y[shown], civilians.x[shown]
        self.people[people] = 1
        fresh = np.zeros(self.size, np.bool_)
        agent = 0
        while True:
            agent, self.used = _reveal(
                agent, self.used, self.index, self.tiles, self.cells, now, units.alive, self.reach,
                self.codes, fresh, self.people,
                land.burn, land.trees, land.land, land.building, land.wet_until, land.fire_steps,
            )  # fmt: skip
            if agent == len(units):
                break
            self._grow()
        self.people[people] = 0
        self.before, self.cells = self.cells, now

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

    def way(self, agent: int) -> tuple[int, int, int, int, int]:
        """Return what decides what an agent saw at the last look: x and y before, x and y then, cells to each side."""
        (x0, y0), (x1, y1) = self.before[agent], self.cells[agent]
        return int(x0), int(y0), int(x1), int(y1), int(self.reach[agent])

    def spans(self, way: tuple[int, int, int, int, int]) -> tuple[int, int, I32, I32]:
        """Return what is seen on a way: first and last row, and (N,) each the first and last column in these rows."""
        left, right = np.empty(self.size, np.int32), np.empty(self.size, np.int32)
        top, bottom = _spans(*way, self.size, left, right)
        return int(top), int(bottom), left, right

    def tile(self, owner: int, column: int, row: int) -> npt.NDArray[np.uint8]:
        """Return (32, 32): the codes of a tile of the team's map, or of that of one agent; not to be changed."""
        found: npt.NDArray[np.uint8] = self.tiles[self.index[0 if self.shared else owner, row, column]]
        return found

    def copy(self) -> Sightings:
        """Return an independent copy."""
        return replace(
            self,
            index=self.index.copy(),
            tiles=self.tiles.copy(),
            cells=self.cells.copy(),
            before=self.before.copy(),
            codes=self.codes.copy(),
            people=self.people.copy(),
        )


def begin(incident: Incident, *, shared_map: bool = True) -> Sightings:
    """Return what is seen before the first step.

    Args:
        incident: Where everybody stands at the start.
        shared_map: One map for the team (wildfire spec A9), else one for each agent (B32).

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


def truth(land: Land) -> npt.NDArray[np.uint8]:
    """Return (N, N), indexed [y, x]: the code of every cell as it is, people left out. For drawings and logs."""
    burn, trees = land.inner(land.burn), land.inner(land.trees)
    codes = np.where(land.wet(), WET, DRY).astype(np.uint8) + trees
    codes[land.inner(land.building)] = SEEN_BUILDING
    codes[land.inner(land.land) == WATER] = SEEN_WATER
    return np.where(burn >= IGNITED, burn + np.uint8(FROM_BURN), codes)


@compiled
def _reveal(
    agent: int,
    used: int,
    index: I32,
    tiles: U8,
    before: I32,
    now: I32,
    alive: Flags,
    reach: I32,
    codes: U8,
    fresh: Flags,
    people: U8,
    burn: U8,
    trees: U8,
    land: U8,
    building: Flags,
    wet_until: I32,
    fire_step: int,
) -> tuple[int, int]:
    """Reveal what agents from ``agent`` on see; stop before one whose tiles may find no room.

    Agents stand close, so the truth is looked up once for each row that anybody sees (``codes``, where ``fresh``), and
    copied from there.

    Returns:
        The agent to go on with, the number of agents once done; and the tiles in use.
    """
    side = index.shape[1]
    size = len(burn) - 2
    shared = index.shape[0] == 1
    left, right = np.empty(size, np.int32), np.empty(size, np.int32)
    flat, true = tiles.reshape(-1), codes.reshape(-1)
    for k in range(agent, len(alive)):
        if not alive[k]:
            continue
        if not shared and used + side * side > len(tiles) and used + _most_tiles(before, now, k, reach[k]) > len(tiles):
            return k, used
        owner = 0 if shared else k
        top, bottom = _spans(before[k, 0], before[k, 1], now[k, 0], now[k, 1], reach[k], size, left, right)
        for y in range(top, bottom + 1):
            if not fresh[y]:
                fresh[y] = True
                _encode(y, codes, people, burn, trees, land, building, wet_until, fire_step)
            for column in range(left[y] >> SHIFT, (right[y] >> SHIFT) + 1):
                slot = index[owner, y >> SHIFT, column]
                if slot == 0:
                    slot = used
                    index[owner, y >> SHIFT, column] = used
                    used += 1
                first, end = max(left[y], column << SHIFT), min(right[y] + 1, (column + 1) << SHIFT)
                here, there = y * size, (slot << 2 * SHIFT) + ((y & LAST) << SHIFT) - (column << SHIFT)
                for x in range(first, end):
                    flat[u(there + x)] = true[u(here + x)]
    return len(alive), used


@compiled
def _encode(
    y: int,
    codes: U8,
    people: U8,
    burn: U8,
    trees: U8,
    land: U8,
    building: Flags,
    wet_until: I32,
    fire_step: int,
) -> None:
    """Write the codes of one row of the map as it is now. Whole rows go four cells a nanosecond, short runs do not."""
    out, somebody = codes[y], people[y]
    state, wood, ground = burn[y + 1, 1:-1], trees[y + 1, 1:-1], land[y + 1, 1:-1]
    house, until = building[y + 1, 1:-1], wet_until[y + 1, 1:-1]
    for x in range(len(out)):
        code = np.uint8(WET if until[x] > fire_step else DRY) + wood[x]
        code = np.uint8(SEEN_BUILDING) if house[x] else code
        code = np.uint8(SEEN_WATER) if ground[x] == WATER else code
        code = np.uint8(state[x] + FROM_BURN) if state[x] >= IGNITED else code
        out[x] = np.uint8(SEEN_CIVILIAN) if somebody[x] else code


@compiled
def _join(index: I32, tiles: U64, seen: U64) -> None:
    """Make every cell of ``seen``, (tiles of a map, words of a tile), not 0 that somebody has seen."""
    for owner in range(len(index)):
        for column in range(index.shape[1]):
            if index[owner, column]:
                tile, union = tiles[index[owner, column]], seen[column]
                for word in range(len(union)):
                    union[word] |= tile[word]


@compiled
def _most_tiles(before: I32, now: I32, k: int, reach: int) -> int:
    """Return the most tiles that an agent can see in a step."""
    wide = (abs(now[k, 0] - before[k, 0]) + 2 * reach) // TILE + 2
    high = (abs(now[k, 1] - before[k, 1]) + 2 * reach) // TILE + 2
    return int(wide * high)


@compiled
def _spans(x0: int, y0: int, x1: int, y1: int, reach: int, size: int, left: I32, right: I32) -> tuple[int, int]:
    """Write, for each row, from where to where an agent sees that went straight from one cell to another.

    The squares round the cells of a straight line meet a row in one run: no cell is visited twice.

    Returns:
        The first and last row, inside the map.
    """
    if y0 > y1:  # the same line, from the top
        x0, y0, x1, y1 = x1, y1, x0, y0
    steps = max(abs(x1 - x0), y1 - y0, 1)
    top, bottom = max(0, y0 - reach), min(size - 1, y1 + reach)
    first = last = 0  # the cells of the line nearest to its ends that are within reach of the row
    for y in range(top, bottom + 1):
        while _along(y0, y1, first, steps) < y - reach:
            first += 1
        while last < steps and _along(y0, y1, last + 1, steps) <= y + reach:
            last += 1
        one, other = _along(x0, x1, first, steps), _along(x0, x1, last, steps)
        left[y], right[y] = max(0, min(one, other) - reach), min(size - 1, max(one, other) + reach)
    return top, bottom


@compiled
def _along(start: int, end: int, k: int, steps: int) -> int:
    """Return the nearest whole number to the point ``k / steps`` of the way, halves upward."""
    return start + (2 * (end - start) * k + steps) // (2 * steps)
