"""What somebody has seen of the ground, cell by cell, and when: kept in tiles, so it costs what was seen.

A ``Ground`` is one moment and never changes: the next look replaces the tiles that it touches, and shares the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from teamworld.worlds.wildfire.sightings import SEEN_BURNT_OUT, SEEN_EXTINGUISHING, SEEN_IGNITED, TILE

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.language import Cell
    from teamworld.worlds.wildfire.sightings import Sightings

    Key: TypeAlias = tuple[int, int]

Number = TypeVar("Number", bound=np.generic)


class Tile(NamedTuple):
    """32 x 32 cells, indexed [y, x]."""

    codes: npt.NDArray[np.uint8]
    """As last seen (wildfire spec A9)."""
    seen: npt.NDArray[np.int32]
    """Timestep at which the cell was last seen; -1 never."""


class Near(NamedTuple):
    """A part of the map with cells that burn or smoulder, and those beside them."""

    x0: int
    y0: int
    danger: npt.NDArray[np.bool_]


class Ground:
    """What was seen of the ground, as it is known at one moment.

    Args:
        tiles: By column and row of the tile.
        caught: (K, 3): x, y and code of the cells that were seen burning, smouldering or burnt out; by rows.
        size: N, cells on a side of the map.
        t: Now.
        keep: Whether whole arrays are kept once made: where many share this ground.
    """

    def __init__(
        self, tiles: Mapping[Key, Tile], caught: npt.NDArray[np.int64], size: int, t: int, *, keep: bool
    ) -> None:
        self._tiles, self.caught, self._size, self.t, self._keep = tiles, caught, size, t, keep
        self._kept: dict[int, npt.NDArray[Any]] = {}
        self._near: Near | None = None

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """(N, N): the code of each cell as last seen, 0 where nobody looked; indexed [y, x]."""
        return self._whole(0, 0, np.uint8)

    @property
    def seen(self) -> npt.NDArray[np.int32]:
        """(N, N): timestep at which the cell was last seen; -1 never."""
        return self._whole(1, -1, np.int32)

    def _whole(self, part: int, unseen: int, kind: type[Number]) -> npt.NDArray[Number]:
        if part in self._kept:
            return self._kept[part]
        out = np.full((self._size, self._size), unseen, kind)
        for (column, row), tile in self._tiles.items():
            there = out[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
            there[:] = tile[part][: there.shape[0], : there.shape[1]]
        if self._keep:
            self._kept[part] = out
        return out

    def code(self, at: Cell) -> int:
        """Return the code of a cell as last seen; 0 never."""
        tile = self._tiles.get((at[0] // TILE, at[1] // TILE))
        return 0 if tile is None else int(tile.codes[at[1] % TILE, at[0] % TILE])

    def date(self, at: Cell) -> int:
        """Return the timestep at which a cell was last seen; -1 never."""
        tile = self._tiles.get((at[0] // TILE, at[1] // TILE))
        return -1 if tile is None else int(tile.seen[at[1] % TILE, at[0] % TILE])

    @property
    def hot(self) -> bool:
        """Whether anything was last seen burning or smouldering."""
        return bool((self.caught[:, 2] <= SEEN_EXTINGUISHING).any())

    def dangerous(self, at: Cell) -> bool:
        """Whether a cell was last seen burning or smouldering, or lies beside one that was."""
        if self._near is None:
            self._near = self._round()
        x0, y0, danger = self._near
        x, y = at[0] - x0, at[1] - y0
        return 0 <= y < danger.shape[0] and 0 <= x < danger.shape[1] and bool(danger[y, x])

    def _round(self) -> Near:
        hot = self.caught[self.caught[:, 2] <= SEEN_EXTINGUISHING, :2]
        if not len(hot):
            return Near(0, 0, np.zeros((0, 0), np.bool_))
        first, last = hot.min(axis=0) - 1, hot.max(axis=0) + 1
        wide, high = (last - first + 1).tolist()
        danger = np.zeros((high, wide), np.bool_)
        columns, rows = (hot - first).T
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                danger[rows + down, columns + right] = True
        return Near(int(first[0]), int(first[1]), danger)


def whole(codes: npt.NDArray[np.uint8], t: int) -> Ground:
    """Return ground that was all seen just now, (N, N) codes, indexed [y, x]."""
    wide = np.pad(codes, (0, -len(codes) % TILE))
    tiles = {
        (column, row): Tile(
            wide[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE], np.full((TILE, TILE), t, np.int32)
        )
        for row in range(len(wide) // TILE)
        for column in range(len(wide) // TILE)
    }
    ys, xs = np.nonzero((codes >= SEEN_IGNITED) & (codes <= SEEN_BURNT_OUT))
    return Ground(tiles, np.stack([xs, ys, codes[ys, xs].astype(np.int64)], axis=1), len(codes), t, keep=False)


NO_CELLS = np.zeros((0, 3), np.int64)


class Surveyor:
    """Keeps what one owner has seen of the ground, the team or one agent.

    Args:
        size: N, cells on a side of the map.
        owner: The agent's row; None for the team.
    """

    def __init__(self, size: int, owner: int | None) -> None:
        self._size, self._owner = size, owner
        self._tiles: dict[Key, Tile] = {}
        self._caught: dict[Key, npt.NDArray[np.int64]] = {}
        self._strips: list[tuple[int, int, npt.NDArray[np.int32], npt.NDArray[np.int32]]] = []
        """What was in sight at the last look: first and last row, first and last column by row."""
        self.ground = Ground({}, NO_CELLS, size, 0, keep=owner is None)

    def look(self, sightings: Sightings, agents: Iterable[int], t: int) -> npt.NDArray[np.int64]:
        """Take in what the owner's agents see now.

        Args:
            sightings: After their look.
            agents: Rows of those alive whose sight is the owner's.
            t: Now.

        Returns:
            (K, 2): x and y of the cells that were seen for the first time.
        """
        fresh: dict[Key, Tile] = {}
        news = [np.zeros((0, 2), np.int64)]
        self._strips = [sightings.spans(way) for way in dict.fromkeys(map(sightings.way, agents))]
        for top, bottom, left, right in self._strips:
            for row in range(top // TILE, bottom // TILE + 1):
                rows = slice(max(top, row * TILE), min(bottom + 1, (row + 1) * TILE))
                low, high = left[rows, None], right[rows, None]
                for column in range(int(low.min()) // TILE, int(high.max()) // TILE + 1):
                    across = np.arange(column * TILE, (column + 1) * TILE)
                    mask = (across >= low) & (across <= high)
                    if (column, row) not in fresh:
                        fresh[column, row] = self._copied(column, row)
                    part = fresh[column, row].seen[rows.start - row * TILE : rows.stop - row * TILE]
                    down, along = np.nonzero(mask & (part < 0))
                    if len(down):
                        news.append(np.stack([along + column * TILE, down + rows.start], axis=1))
                    part[mask] = t
        for (column, row), tile in fresh.items():
            tile.codes[:] = sightings.tile(self._owner or 0, column, row)
            self._note_fire(column, row, tile.codes)
        self._tiles = {**self._tiles, **fresh}
        caught = np.concatenate([NO_CELLS, *self._caught.values()])
        caught = caught[np.lexsort((caught[:, 0], caught[:, 1]))]
        self.ground = Ground(self._tiles, caught, self._size, t, keep=self._owner is None)
        return np.concatenate(news)

    def sees(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return (K,): which of (K, 2) cells, x and y, were in sight at the last look."""
        x, y = places.T
        seen = np.zeros(len(places), np.bool_)
        for top, bottom, left, right in self._strips:
            seen |= (top <= y) & (y <= bottom) & (left[y] <= x) & (x <= right[y])
        return seen

    def _copied(self, column: int, row: int) -> Tile:
        if (column, row) in self._tiles:
            old = self._tiles[column, row]
            return Tile(old.codes.copy(), old.seen.copy())
        return Tile(np.zeros((TILE, TILE), np.uint8), np.full((TILE, TILE), -1, np.int32))

    def _note_fire(self, column: int, row: int, codes: npt.NDArray[np.uint8]) -> None:
        ys, xs = np.nonzero((codes >= SEEN_IGNITED) & (codes <= SEEN_BURNT_OUT))
        if len(ys):
            cells = np.stack([xs + column * TILE, ys + row * TILE, codes[ys, xs].astype(np.int64)], axis=1)
            self._caught[column, row] = cells
        else:
            self._caught.pop((column, row), None)
