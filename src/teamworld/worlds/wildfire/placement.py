"""Instances of the wildfire world: a level put on a map, by seed (wildfire spec A12.1, B23, B24, B29).

Everything is drawn uniformly among the cells that fit. When something finds no place, everything but the map is drawn
anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds.wildfire.levels import Edition, Event, Level, Task, level_for
from teamworld.worlds.wildfire.state import MAX_TREES, WATER, Cell, Terrain

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

#: Whole placements tried before giving up.
ATTEMPTS = 100
#: Shares of the map's side: how far things lie apart, and how wide the middle is in which they are drawn (A12.1).
SPAWN_MIDDLE, TARGET_MIDDLE, FIRE_MIDDLE, BOTH_FIRE_MIDDLE, WATER_MIDDLE = 0.8, 0.8, 0.8, 0.7, 0.9
SPARSE_FROM_SPAWN: dict[Edition, float] = {"2025": 0.15, "2026": 0.1}
LINE_FROM_SPAWN, SCOUT_FROM_SPAWN, TRANSPORT_FROM_SPAWN, CONTAIN_FROM_SPAWN = 0.2, 0.4, 0.4, 0.2
CLUSTER_FROM_TARGET, CLUSTER_FROM_SPAWN = 0.3, 0.2
BOTH_FIRE_FROM_SPAWN, BOTH_CLUSTER_FROM_FIRE = 0.25, 0.25
#: Free cells between two sparse targets; the 2026 edition keeps them apart, by how much is our choice.
TARGETS_APART: dict[Edition, int] = {"2025": 0, "2026": 1}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Instance:
    """A level placed on a map: where everything is at the start."""

    level: Level
    seed: int
    terrain: Terrain
    """The map, water placed and lines planted."""
    spawn: Cell
    """Where all agents start (wildfire spec A6)."""
    targets: tuple[tuple[Cell, ...], ...] = ()
    """Cut: the cells of each line, from left to right or top to bottom; lines of one cell if sparse."""
    target: Cell | None = None
    """Transport and rescue: where to."""
    fire: Cell | None = None
    """Where the fire starts."""
    water: tuple[Cell, ...] = ()
    clusters: tuple[Cell, ...] = ()
    """Where the civilians of each cluster start."""
    event_cells: tuple[tuple[Cell, ...], ...] = ()
    """Where each event of the level happens: a cell for each civilian cluster, fire or water cell it brings."""

    @property
    def water_cells(self) -> tuple[Cell, ...]:
        """The water that the level has, then that which its script brings."""
        events = zip(self.level.events, self.event_cells, strict=True)
        return self.water + tuple(cell for event, cells in events if event.kind == "water" for cell in cells)


def instance_for(
    level: str | Level,
    seed: int,
    *,
    terrain: Terrain | None = None,
    relief_m: float = 890.0,
    cell_m: float = 30.0,
) -> Instance:
    """Return an instance; equal for equal arguments on every machine.

    Args:
        level: A level or the name of one.
        seed: Decides the map and the placement.
        terrain: A map to use instead of a generated one; the level takes its size.
        relief_m: For a generated map: metres between its lowest and highest cell (B10).
        cell_m: For a generated map: side of a cell in metres.

    Raises:
        UserError: If there is no such level, or it finds no place on the map.
    """
    chosen = level_for(level) if isinstance(level, str) else level
    if terrain is None:
        from teamworld.worlds.wildfire.terrain import generate  # brings the compiler; a list of levels does not need it

        offset = chosen.vegetation_offset
        terrain = generate(chosen.size, seed, vegetation_offset=offset, relief_m=relief_m, cell_m=cell_m)
    elif terrain.size != chosen.size:
        chosen = replace(chosen, size=terrain.size)
    rng = generator(seed, "wildfire", "placement", chosen.full_name)
    missing: list[str] = []
    for _ in range(ATTEMPTS):
        try:
            return _Placement(chosen, seed, terrain, rng).place()
        except _NoRoomError as reason:
            missing.append(str(reason))
    raise UserError(
        f"level {chosen.full_name} finds no place on a map of {chosen.size} x {chosen.size} with seed {seed}: after "
        f"{ATTEMPTS} tries no room for {missing[-1]}; take another seed, a larger map or fewer of them"
    )


class _NoRoomError(Exception):
    """This attempt found no place for something; says for what."""


class _Placement:
    """One attempt to place a level (wildfire spec A12.1). Masks have shape (N, N), indexed [y, x]."""

    def __init__(self, level: Level, seed: int, terrain: Terrain, rng: np.random.Generator) -> None:
        self.level, self.seed, self.terrain, self.rng = level, seed, terrain, rng
        self.along = np.arange(level.size)
        self.open = (terrain.land != WATER) & ~terrain.building  # where something can be put or stand

    def place(self) -> Instance:
        """Return the instance, or raise ``_NoRoomError``."""
        self.spawn = self.draw(self.middle(SPAWN_MIDDLE) & self.open, "the spawn")
        tasks: dict[Task, Callable[[], Instance]] = {
            "cut_sparse": self.sparse,
            "cut_lines": self.lines,
            "scout": self.scout,
            "transport": self.transport,
            "contain": self.contain,
            "rescue": self.rescue,
            "both": self.both,
        }
        instance = tasks[self.level.task]()
        water = tuple(self.several(self.level.water, self.middle(WATER_MIDDLE) & self.free(instance), "water"))
        instance = replace(instance, water=water, terrain=instance.terrain.with_water(water))
        return replace(instance, event_cells=tuple(self.event(event, instance) for event in self.level.events))

    def instance(self, **parts: object) -> Instance:
        """Return an instance of these parts."""
        base = {"level": self.level, "seed": self.seed, "terrain": self.terrain, "spawn": self.spawn}
        return Instance(**{**base, **parts})  # type: ignore[arg-type]

    # Tasks

    def sparse(self) -> Instance:
        """Targets with exactly 3 trees (B23), far from the spawn in x and in y."""
        edition = self.level.edition
        dense = self.far_in_both(self.spawn, SPARSE_FROM_SPAWN[edition]) & (self.terrain.trees == MAX_TREES) & self.open
        cells = self.several(self.level.targets, dense, "targets with three trees", TARGETS_APART[edition])
        return self.instance(targets=tuple((cell,) for cell in cells))

    def lines(self) -> Instance:
        """Lines of exactly ``trees_per_line`` cells, planted with 3 trees each (B24)."""
        length, taken = self.level.trees_per_line, set[Cell]()
        lines = []
        for _ in range(self.level.targets):
            across = bool(self.rng.integers(2))
            free = self.open.copy()
            for x, y in (*taken, self.spawn):
                free[y, x] = False
            # Where the first cell may lie so that the whole line is free and its middle far from the spawn.
            right, down = (1, 0) if across else (0, 1)
            whole = _shifted(self.far_in_both(self.spawn, LINE_FROM_SPAWN), length // 2 * right, length // 2 * down)
            for k in range(length):
                whole &= _shifted(free, k * right, k * down)
            first = self.draw(whole, f"a line of {length} cells")
            line = tuple(Cell(first.x + k * right, first.y + k * down) for k in range(length))
            taken.update(line)
            lines.append(line)
        planted = self.terrain.planted(cell for line in lines for cell in line)
        return self.instance(targets=tuple(lines), terrain=planted)

    def scout(self) -> Instance:
        """A fire far from the spawn in x or in y."""
        return self.instance(fire=self.burning(self.far_in_one(self.spawn, SCOUT_FROM_SPAWN)))

    def transport(self) -> Instance:
        """A target far from the spawn in x and in y."""
        return self.instance(
            target=self.draw(self.far_in_both(self.spawn, TRANSPORT_FROM_SPAWN) & self.open, "a target")
        )

    def contain(self) -> Instance:
        """A fire in the middle, not beside the spawn (B29)."""
        return self.instance(
            fire=self.burning(self.middle(FIRE_MIDDLE) & self.far_in_one(self.spawn, CONTAIN_FROM_SPAWN))
        )

    def rescue(self) -> Instance:
        """A target in the middle, clusters far from it and from the spawn."""
        target = self.draw(self.middle(TARGET_MIDDLE) & self.open, "a target")
        far = self.far_in_one(target, CLUSTER_FROM_TARGET) & self.far_in_one(self.spawn, CLUSTER_FROM_SPAWN)
        clusters = self.several(self.level.clusters, far & self.open, "clusters of civilians")
        return self.instance(target=target, clusters=tuple(clusters))

    def both(self) -> Instance:
        """A fire in the middle far from the spawn, clusters far from the fire."""
        fire = self.burning(self.middle(BOTH_FIRE_MIDDLE) & self.far_in_one(self.spawn, BOTH_FIRE_FROM_SPAWN))
        far = self.far_in_both(fire, BOTH_CLUSTER_FROM_FIRE) & self.open
        return self.instance(fire=fire, clusters=tuple(self.several(self.level.clusters, far, "clusters of civilians")))

    def event(self, event: Event, instance: Instance) -> tuple[Cell, ...]:
        """Return where an event happens."""
        free = self.free(instance)
        if event.kind == "civilians":
            return (self.draw(free, "more civilians"),)
        if event.kind == "water":
            return tuple(self.several(event.count, free & self.middle(WATER_MIDDLE), "more water"))
        if event.kind == "fire":
            away = self.far_in_one(instance.fire or self.spawn, CONTAIN_FROM_SPAWN)
            burnable = instance.terrain.burnable & away & self.middle(FIRE_MIDDLE)
            return tuple(self.several(event.count, burnable & free, "another fire"))
        return ()

    # Places

    def burning(self, mask: npt.NDArray[np.bool_]) -> Cell:
        """Draw a cell where a fire can start."""
        return self.draw(mask & self.terrain.burnable & self.open, "a fire")

    def free(self, instance: Instance) -> npt.NDArray[np.bool_]:
        """Return the open cells where nothing was placed."""
        free: npt.NDArray[np.bool_] = self.open.copy()
        places = [
            self.spawn,
            *instance.clusters,
            *instance.water,
            *(cell for line in instance.targets for cell in line),
        ]
        places += [cell for cell in (instance.target, instance.fire) if cell is not None]
        for x, y in places:
            free[y, x] = False
        return free

    def middle(self, share: float) -> npt.NDArray[np.bool_]:
        """Return the cells of the middle ``share`` of the map, in x and in y."""
        edge = round((1.0 - share) / 2.0 * self.level.size)
        inside: npt.NDArray[np.bool_] = (self.along >= edge) & (self.along < self.level.size - edge)
        return inside[None, :] & inside[:, None]

    def far_in_both(self, cell: Cell, share: float) -> npt.NDArray[np.bool_]:
        """Return the cells further than ``share`` of the side from ``cell`` in x and in y."""
        reach = share * self.level.size
        return (abs(self.along - cell.x) > reach)[None, :] & (abs(self.along - cell.y) > reach)[:, None]

    def far_in_one(self, cell: Cell, share: float) -> npt.NDArray[np.bool_]:
        """Return the cells further than ``share`` of the side from ``cell`` in x or in y."""
        reach = share * self.level.size
        return (abs(self.along - cell.x) > reach)[None, :] | (abs(self.along - cell.y) > reach)[:, None]

    def draw(self, mask: npt.NDArray[np.bool_], what: str) -> Cell:
        """Draw one cell of a mask, each with equal chance."""
        return self.several(1, mask, what)[0]

    def several(self, count: int, mask: npt.NDArray[np.bool_], what: str, apart: int = 0) -> list[Cell]:
        """Draw different cells of a mask, with ``apart`` free cells between any two."""
        if count == 0:
            return []
        open_cells = np.flatnonzero(mask)
        taken = list[Cell]()
        blocked = set[tuple[int, int]]()
        reach = range(-apart, apart + 1)
        for index in self.rng.permutation(open_cells) if count > 1 else open_cells[_one(self.rng, len(open_cells))]:
            y, x = divmod(int(index), self.level.size)
            if (x, y) in blocked:
                continue
            taken.append(Cell(x, y))
            blocked.update((x + right, y + down) for right in reach for down in reach)
            if len(taken) == count:
                return taken
        raise _NoRoomError(what)


def _one(rng: np.random.Generator, length: int) -> npt.NDArray[np.int64]:
    """Return the index of one of ``length`` things, none if there are none."""
    return rng.integers(length, size=1) if length else np.empty(0, np.int64)


def _shifted(mask: npt.NDArray[np.bool_], right: int, down: int) -> npt.NDArray[np.bool_]:
    """Return at [y, x] what the mask holds at [y + down, x + right], False outside."""
    out = np.zeros_like(mask)
    size = len(mask)
    out[: size - down, : size - right] = mask[down:, right:]
    return out
