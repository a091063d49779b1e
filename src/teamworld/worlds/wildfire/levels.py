"""Levels by name, generated maps, and instances: a level placed on a map by a seed.

A ``Level`` sets a kind of task: sizes, team, frequencies, step limit. The 17 presets of the 12 published levels come in
three editions: ``2025``, the parameters of July 2025, which is the default; ``2026`` (``full_game@2026``), those of
later revisions; ``published``, those of 2026 with step limits under which doing nothing scores as published. Limits
of the first two are those of 2026, the only complete list that was published.

Everything is placed uniformly among the cells that fit. When something finds no place, or the fire would burn itself
out below ``Level.least_damage``, everything but the map is drawn anew, by the next draws of the same stream.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
from teamworld.worlds.wildfire.state import (
    MAX_TREES,
    WATER,
    Cell,
    FireMode,
    FireRules,
    Terrain,
    check_number,
    check_size,
)
from teamworld.worlds.wildfire.terrain import generate, settle
from teamworld.worlds.wildfire.unhindered_fire import UnhinderedFire, burn_unhindered

if TYPE_CHECKING:
    import numpy.typing as npt


Task = Literal["cut_sparse", "cut_lines", "scout", "transport", "contain", "rescue", "both"]
Edition = Literal["2025", "2026", "published"]

#: Number of each task in the manager's row of an observation.
TASK_CODES: dict[Task, int] = {
    "cut_sparse": 0, "cut_lines": 0, "scout": 1, "transport": 2, "contain": 3, "rescue": 4, "both": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Team:
    """How many agents of each kind; ids run from 1 in this order."""

    firefighters: int = 0
    bulldozers: int = 0
    drones: int = 0
    helicopters: int = 0

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """How many agents of each kind."""
        return self.firefighters, self.bulldozers, self.drones, self.helicopters

    @property
    def size(self) -> int:
        """All agents."""
        return sum(self.counts)


EventKind = Literal["lose_drone", "lose_helicopter", "civilians", "fire", "water", "growth"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a script does to a dynamic level."""

    t: int
    """Timestep at whose beginning it happens."""
    kind: EventKind
    """What: an agent is lost, civilians appear, another fire starts, a water cell appears, the fire steps on."""
    count: int = 1
    """How many agents, civilians, fires, water cells or fire steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One task, without a map; checked when made. Change one with ``dataclasses.replace``.

    Raises:
        UserError: If a value cannot be used or the task lacks something it needs.
    """

    name: str
    task: Task
    size: int
    """N, cells on a side of the map."""
    team: Team
    max_steps: int
    """Timesteps after which the episode ends."""
    edition: Edition = "2025"
    vegetation_offset: float = 20.0
    """``vegetation_density_offset`` of the generator."""
    fire_every: int = 100
    """Ticks between fire steps."""
    civilian_every: int = 100
    """Ticks between steps of the civilians; the presets' own value, which the reference fails to pass on."""
    targets: int = 0
    """Cut: single cells, or lines."""
    trees_per_line: int = 1
    """Cut: cells of a line."""
    clusters: int = 0
    """Rescue, both: clusters of civilians."""
    per_cluster: int = 0
    """Rescue, both: civilians in each."""
    known: bool = True
    """Whether the team is told where the fire, the water and the civilians are."""
    water: int = 0
    """Water cells."""
    least_damage: int = 0
    """Contain, both: points of trees and buildings that the fire destroys by the step limit if nobody acts. A smaller
    fire is drawn anew; 0: any fire will do."""
    settlements: int = 0
    """Contain, both: settlements built in the path of the fire, where it arrives by the step limit if nobody acts. With
    any, the clusters of civilians start in its path, too."""
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        check_size(self.size)
        for name, choices in (("task", get_args(Task)), ("edition", get_args(Edition))):
            value = getattr(self, name)
            if value not in choices:
                raise UserError(f"{name} must be one of {', '.join(choices)}, got {brief(value)}")
        for name, low, high in (
            ("max_steps", 1, 10**6), ("fire_every", 1, 10**6), ("civilian_every", 1, 10**6), ("targets", 0, 10**5),
            ("trees_per_line", 1, self.size), ("clusters", 0, 10**4), ("per_cluster", 0, 10**4), ("water", 0, 10**4),
            ("least_damage", 0, 10**7), ("settlements", 0, 10**3),
        ):  # fmt: skip
            check_number(name, getattr(self, name), low, high)
        for part in fields(self.team):
            check_number(part.name, getattr(self.team, part.name), 0, 10**6)
        if self.team.size == 0:
            raise UserError(f"level {self.name} needs at least one agent, got an empty team")
        self._check_task()
        for event in self.events:
            if event.kind not in get_args(EventKind) or event.t < 0 or event.count < 1:
                raise UserError(f"an event needs a known kind, a step from 0 on and a count from 1 on, got {event}")

    def _check_task(self) -> None:
        cuts, team = self.task.startswith("cut"), self.team
        hands = team.firefighters + (team.bulldozers if cuts else 0)
        needs = {
            "a fire that is fought (contain or both) for least_damage and settlements": (
                bool(self.least_damage or self.settlements) and self.task not in ("contain", "both")
            ),
            "at least one target to cut: set targets": cuts and not self.targets,
            "civilians: set clusters and per_cluster": self.task in ("rescue", "both") and not self.civilians,
            f"a drone or a helicopter to stay above the fire, got {team}": (
                self.task == "scout" and not team.drones + team.helicopters
            ),
            f"a firefighter, got {team}": (cuts or self.task in ("transport", "rescue")) and not hands,
        }
        for need, is_missing in needs.items():
            if is_missing:
                raise UserError(f"level {self.name} needs {need}")

    @property
    def full_name(self) -> str:
        """The name that ``level_for`` knows it by: with ``@EDITION`` where the name alone means another."""
        preset = LEVELS.get(self.name)
        return self.name if preset is None or preset.edition == self.edition else f"{self.name}@{self.edition}"

    @property
    def civilians(self) -> int:
        """Civilians at the start."""
        return self.clusters * self.per_cluster

    @property
    def max_score(self) -> int:
        """Best possible score."""
        if self.task in ("cut_sparse", "cut_lines"):
            return self.targets * self.trees_per_line * MAX_TREES
        scores = {"scout": 2, "transport": self.team.firefighters, "rescue": self.civilians}
        return scores.get(self.task, 0)

    def rules(self, mode: FireMode = "reference") -> FireRules:
        """Return the fire rules of this level in a mode; editions after 2025 differ in two numbers."""
        if self.edition == "2025":
            return FireRules(mode=mode, every=self.fire_every)
        return FireRules(mode=mode, every=self.fire_every, wet_steps=25, jump_above=10.0)


def _read_levels() -> tuple[dict[Edition, dict[str, Level]], dict[str, Level]]:
    """Return the presets by edition and name, and the further levels by name."""
    file = resources.files("teamworld.worlds.wildfire").joinpath("levels.toml")
    tables = tomllib.loads(file.read_text("utf-8"))
    presets: dict[Edition, dict[str, Level]] = {"2025": {}, "2026": {}, "published": {}}
    further = {}
    for name, values in tables["presets"].items():
        later, limits = values.pop("edition_2026", {}), values.pop("edition_published", {})
        for edition, changes in (("2025", {}), ("2026", later), ("published", later | limits)):
            level = msgspec.convert({"name": name, **values, **changes, "edition": edition}, Level)
            presets[level.edition][name] = level
    for name, values in tables["further"].items():
        further[name] = msgspec.convert({"name": name, "edition": "2026", **values}, Level)
    for name, values in tables["dynamic"].items():
        events = msgspec.convert(values["events"], tuple[Event, ...])
        further[name] = replace(presets["2026"][values["preset"]], name=name, events=events)
    return presets, further


_PRESETS, _FURTHER = _read_levels()

#: The 17 published configurations, in the order of the paper's levels.
PRESETS: tuple[str, ...] = tuple(_PRESETS["2025"])

#: Every level by the name that alone means it.
LEVELS: dict[str, Level] = {**_PRESETS["2025"], **_FURTHER}


def level_for(name: str) -> Level:
    """Return the level of a name: a preset, alone or with ``@2025``, ``@2026`` or ``@published``, or a further level.

    Raises:
        UserError: If there is no such level or edition.
    """
    base, at, edition = name.partition("@")
    if base not in LEVELS:
        raise UserError(f"there is no wildfire level '{base}'{suggest(base, list(LEVELS))}")
    level = LEVELS[base]
    if not at or edition == level.edition:
        return level
    for known, presets in _PRESETS.items():
        if edition == known and base in presets:
            return presets[base]
    editions = [*map(str, _PRESETS)] if base in PRESETS else [str(level.edition)]
    raise UserError(f"there is no edition '{edition}' of {base}{suggest(edition, editions)}")


def with_firefighters(level: Level, number: int) -> Level:
    """Return the level with another number of firefighters; the rest of the team, the map and the places stay.

    Raises:
        UserError: The level has no firefighters, so what it sets is no task for them, or the number cannot be used.
    """
    if level.team.firefighters == 0:
        has = ", ".join(name for name in ("bulldozers", "drones", "helicopters") if getattr(level.team, name))
        raise UserError(
            f"level {level.full_name} has no firefighters, only {has}: leave option 'firefighters' of wildfire out"
        )
    return replace(level, team=replace(level.team, firefighters=number))


def describe_level(level: Level) -> str:
    """Return one line about a level, for lists."""
    counts = {part.name: getattr(level.team, part.name) for part in fields(Team)}
    team = ", ".join(f"{n} {name.removesuffix('s') if n == 1 else name}" for name, n in counts.items() if n)
    return f"{level.task}, {level.size} x {level.size} cells, {team}"


#: Whole placements tried before giving up.
ATTEMPTS = 100

#: Shares of the map's side: how far things lie apart, and how wide the middle is in which they are drawn.
SPAWN_MIDDLE, TARGET_MIDDLE, FIRE_MIDDLE, BOTH_FIRE_MIDDLE, WATER_MIDDLE = 0.8, 0.8, 0.8, 0.7, 0.9
SPARSE_FROM_SPAWN: dict[Edition, float] = {"2025": 0.15, "2026": 0.1, "published": 0.1}
LINE_FROM_SPAWN, SCOUT_FROM_SPAWN, TRANSPORT_FROM_SPAWN, CONTAIN_FROM_SPAWN = 0.2, 0.4, 0.4, 0.2
CLUSTER_FROM_TARGET, CLUSTER_FROM_SPAWN = 0.3, 0.2
BOTH_FIRE_FROM_SPAWN, BOTH_CLUSTER_FROM_FIRE = 0.25, 0.25
#: Our choice, for settlements and civilians in the path of the fire: the team has time to come.
EXPOSED_FROM_FIRE = 0.1
#: Free cells between the middles of two such settlements, so that no block touches another.
SETTLEMENTS_APART = 3

#: Free cells between two sparse targets; the 2026 edition keeps them apart, by how much is our choice.
TARGETS_APART: dict[Edition, int] = {"2025": 0, "2026": 1, "published": 1}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WildfireInstance:
    """A level placed on a map: where everything is at the start."""

    level: Level
    seed: int
    terrain: Terrain
    """The map, water placed and lines planted."""
    spawn: Cell
    """Where all agents start."""
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
    mode: FireMode = "reference",
) -> WildfireInstance:
    """Return an instance; equal for equal arguments on every machine.

    Args:
        level: A level or the name of one.
        seed: Decides the map and the placement.
        terrain: A map to use instead of a generated one; the level takes its size, and any fire will do.
        relief_m: For a generated map: metres between its lowest and highest cell.
        cell_m: For a generated map: side of a cell in metres.
        mode: How fire spreads, where the level asks for a fire of some size or for settlements in its path.

    Raises:
        UserError: If there is no such level, or it finds no place on the map.
    """
    chosen = level_for(level) if isinstance(level, str) else level
    if terrain is None:
        offset = chosen.vegetation_offset
        terrain = generate(chosen.size, seed, vegetation_offset=offset, relief_m=relief_m, cell_m=cell_m)
    else:
        chosen = replace(chosen, size=terrain.size, least_damage=0)
    rng = generator(seed, "wildfire", "placement", chosen.full_name)
    missing: list[str] = []
    for _ in range(ATTEMPTS):
        try:
            return _Placement(chosen, seed, terrain, rng, mode).place()
        except _NoRoomError as reason:
            missing.append(str(reason))
    raise UserError(
        f"level {chosen.full_name} finds no place on a map of {chosen.size} x {chosen.size} with seed {seed}: after "
        f"{ATTEMPTS} tries no room for {missing[-1]}; take another seed, a larger map or less of it"
    )


class _NoRoomError(Exception):
    """This attempt found no place for something; says for what."""


class _Placement:
    """One attempt to place a level. Masks have shape (N, N), indexed [y, x]."""

    def __init__(
        self, level: Level, seed: int, terrain: Terrain, rng: np.random.Generator, mode: FireMode = "reference"
    ) -> None:
        self.level, self.seed, self.terrain, self.rng, self.mode = level, seed, terrain, rng, mode
        self.along = np.arange(level.size)
        self.open = (terrain.land != WATER) & ~terrain.building  # where something can be put or stand

    def place(self) -> WildfireInstance:
        """Return the instance, or raise ``_NoRoomError``."""
        level = self.level
        self.spawn = self.draw(self.middle(SPAWN_MIDDLE) & self.open, "the spawn")
        instance = WildfireInstance(level=level, seed=self.seed, terrain=self.terrain, spawn=self.spawn)
        instance = replace(instance, **self.parts())
        water = tuple(self.several(level.water, self.middle(WATER_MIDDLE) & self.free(instance), "water"))
        instance = replace(instance, water=water, terrain=instance.terrain.with_water(water))
        self.check_fire(instance)
        return replace(instance, event_cells=tuple(self.event(event, instance) for event in level.events))

    def check_fire(self, instance: WildfireInstance) -> None:
        """Raise ``_NoRoomError`` if the fire would burn itself out below ``least_damage``."""
        least = self.level.least_damage
        if least and instance.fire is not None and self.burn(instance.terrain, instance.fire).damage < least:
            raise _NoRoomError(f"a fire that destroys {least} points if nobody acts (least_damage)")

    # Tasks

    def parts(self) -> dict[str, Any]:
        """Return what the task adds to an instance: targets, a fire, clusters of civilians."""
        match self.level.task:
            case "cut_sparse":
                return {"targets": self.sparse()}
            case "cut_lines":
                lines = self.lines()
                return {"targets": lines, "terrain": self.terrain.planted(cell for line in lines for cell in line)}
            case "scout":
                return {"fire": self.burning(self.far_in_one(self.spawn, SCOUT_FROM_SPAWN))}
            case "transport":
                far = self.far_in_both(self.spawn, TRANSPORT_FROM_SPAWN)
                return {"target": self.draw(far & self.open, "a target")}
            case "contain":
                far = self.far_in_one(self.spawn, CONTAIN_FROM_SPAWN)
                fire = self.burning(self.middle(FIRE_MIDDLE) & far)
                return {"fire": fire, **(self.exposed(fire) if self.level.settlements else {})}
            case "rescue":
                target = self.draw(self.middle(TARGET_MIDDLE) & self.open, "a target")
                far = self.far_in_one(target, CLUSTER_FROM_TARGET) & self.far_in_one(self.spawn, CLUSTER_FROM_SPAWN)
                return {"target": target, "clusters": self.clusters(far)}
            case "both":
                far = self.far_in_one(self.spawn, BOTH_FIRE_FROM_SPAWN)
                fire = self.burning(self.middle(BOTH_FIRE_MIDDLE) & far)
                if self.level.settlements:
                    return {"fire": fire, **self.exposed(fire)}
                return {"fire": fire, "clusters": self.clusters(self.far_in_both(fire, BOTH_CLUSTER_FROM_FIRE))}

    def sparse(self) -> tuple[tuple[Cell, ...], ...]:
        """Draw targets with exactly 3 trees, far from the spawn in x and in y."""
        edition = self.level.edition
        dense = self.far_in_both(self.spawn, SPARSE_FROM_SPAWN[edition]) & (self.terrain.trees == MAX_TREES) & self.open
        cells = self.several(self.level.targets, dense, "targets with three trees", TARGETS_APART[edition])
        return tuple((cell,) for cell in cells)

    def lines(self) -> tuple[tuple[Cell, ...], ...]:
        """Draw lines of exactly ``trees_per_line`` cells; they are planted with 3 trees each."""
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
        return tuple(lines)

    def exposed(self, fire: Cell) -> dict[str, Any]:
        """Draw settlements and clusters of civilians in the path of the fire, not too near to where it starts."""
        path = self.burn(self.terrain, fire).reached & self.far_in_one(fire, EXPOSED_FROM_FIRE)
        middles = np.zeros_like(path)
        what = "settlements in the path of the fire"
        for x, y in self.several(self.level.settlements, path & self.open, what, SETTLEMENTS_APART):
            middles[y, x] = True
        terrain = self.terrain.with_buildings(settle(middles, self.rng) & self.open)
        self.open &= ~terrain.building
        return {"terrain": terrain, "clusters": self.clusters(path)}

    def burn(self, terrain: Terrain, fire: Cell) -> UnhinderedFire:
        """Return what the fire does by the step limit if nobody acts, in an episode of the instance's seed."""
        rules = self.level.rules(self.mode)
        return burn_unhindered(terrain, fire, rules, seed=self.seed, steps=self.level.max_steps)

    def clusters(self, far: npt.NDArray[np.bool_]) -> tuple[Cell, ...]:
        """Draw the cells in which clusters of civilians start."""
        return tuple(self.several(self.level.clusters, far & self.open, "clusters of civilians"))

    def event(self, event: Event, instance: WildfireInstance) -> tuple[Cell, ...]:
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

    def free(self, instance: WildfireInstance) -> npt.NDArray[np.bool_]:
        """Return the open cells where nothing was placed."""
        free: npt.NDArray[np.bool_] = self.open.copy()
        lines = (*instance.targets, instance.clusters, instance.water)
        for place in (self.spawn, instance.target, instance.fire, *(cell for line in lines for cell in line)):
            if place is not None:
                free[place.y, place.x] = False
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
        for index in (
            self.rng.permutation(open_cells) if count > 1 else open_cells[_draw_index(self.rng, len(open_cells))]
        ):
            y, x = divmod(int(index), self.level.size)
            if (x, y) in blocked:
                continue
            taken.append(Cell(x, y))
            blocked.update((x + right, y + down) for right in reach for down in reach)
            if len(taken) == count:
                return taken
        raise _NoRoomError(what)


def _draw_index(rng: np.random.Generator, length: int) -> npt.NDArray[np.int64]:
    """Return the index of one of ``length`` things, none if there are none."""
    return rng.integers(length, size=1) if length else np.empty(0, np.int64)


def _shifted(mask: npt.NDArray[np.bool_], right: int, down: int) -> npt.NDArray[np.bool_]:
    """Return at [y, x] what the mask holds at [y + down, x + right], False outside."""
    out = np.zeros_like(mask)
    size = len(mask)
    out[: size - down, : size - right] = mask[down:, right:]
    return out
