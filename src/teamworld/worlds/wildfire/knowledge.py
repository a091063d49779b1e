"""What the team knows, or one agent: what was announced, and what was seen and when.

``Fires`` tells which fire is which, ``MapTracker`` keeps when each cell was last seen, ``Knowledge`` makes the symbolic
state of its owner of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from teamworld.language import AgentId, Cell, Entity, Fact, Facts
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.kernels.agents import SEEN_BURNT_OUT, SEEN_EXTINGUISHING, SEEN_IGNITED, TILE
from teamworld.worlds.wildfire.observe import true_codes
from teamworld.worlds.wildfire.state import (
    BULLDOZER,
    BURNT_OUT,
    CARRIED,
    EXTINGUISHING,
    IGNITED,
    NOBODY,
    ON_FIRE,
    WATER,
)
from teamworld.worlds.wildfire.symbolic_state import (
    AgentState,
    CivilianState,
    CivilianStatus,
    FireState,
    Mission,
    SymbolicState,
    TargetCell,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from teamworld.worlds.wildfire.observe import Sightings
    from teamworld.worlds.wildfire.state import Incident

    Key: TypeAlias = tuple[int, int]
    Labels = npt.NDArray[np.int16]


class Fires:
    """The fires as they truly are, numbered in the order in which they began.

    A cell belongs for ever to the fire that it caught fire from, of several to the oldest. Fires that touch have grown
    together: the younger is part of the older one.
    """

    def __init__(self, incident: Incident) -> None:
        instance = incident.instance
        self._incident = incident
        self.origins: dict[int, Cell] = {}
        if instance.fire is not None:
            self.origins[0] = (instance.fire.x, instance.fire.y)
        self._later = [
            (event.t, (cell.x, cell.y))
            for event, cells in zip(instance.level.events, instance.event_cells, strict=True)
            if event.kind == "fire"
            for cell in cells
        ]
        self._labels: Labels | None = None
        """(N + 2, N + 2): the fire of each framed cell, -1 where nothing burnt; None if there can be but one fire."""
        if self._later:
            self._labels = np.full(incident.land.burn.shape, -1, np.int16)
        self._oldest: Mapping[int, int] = {}

    def look(self, incident: Incident) -> None:
        """Follow the script and the fire; call it after each step."""
        self._incident = incident
        if self._labels is None:
            return
        caught = incident.land.burn >= IGNITED
        for number, (t, (x, y)) in enumerate(self._later, start=1):
            # Where it burnt before, or was cut or wet, no fire began.
            if t == incident.t - 1 and caught[y + 1, x + 1] and self._labels[y + 1, x + 1] < 0:
                self.origins[number] = (x, y)
                self._labels[y + 1, x + 1] = number
        _label_caught(self._labels, caught)
        self._oldest = oldest(self._labels, self.origins)

    def labels(self, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return (K,): the fires that K burning or burnt cells caught fire from."""
        if self._labels is None:
            return np.zeros(len(x), np.int64)
        return self._labels[y + 1, x + 1].astype(np.int64)

    def known(self, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64], fires: Iterable[int]) -> Mapping[int, int]:
        """Return the oldest fire that each has grown together with, as far as these K cells show."""
        if self._labels is None:
            return {fire: fire for fire in fires}
        seen = np.full(self._labels.shape, -1, np.int16)
        seen[y + 1, x + 1] = self._labels[y + 1, x + 1]
        return oldest(seen, fires)

    def _root(self, fire: int) -> int:
        return self._oldest.get(fire, fire)

    def out(self, fire: int) -> bool:
        """Return whether nothing of a fire, and of those it has grown together with, is ignited or on fire any more."""
        land = self._incident.land
        if self._labels is None:
            return land.cells_burning == 0
        group = [other for other in self.origins if self._root(other) == self._root(fire)]
        mine = np.isin(self._labels, group)
        return not bool((mine & ((land.burn == IGNITED) | (land.burn == ON_FIRE))).any())

    def front(self, fire: int) -> FireState:
        """Return a fire with all its cells; one that is part of another has none of its own."""
        land = self._incident.land
        cells: dict[bool, list[Cell]] = {True: [], False: []}
        for burning, (low, high) in ((True, (IGNITED, ON_FIRE)), (False, (EXTINGUISHING, BURNT_OUT))):
            rows, columns = np.nonzero((land.burn >= low) & (land.burn <= high))
            xs, ys = columns - 1, rows - 1
            owners = self.labels(xs, ys).tolist()
            places = zip(xs.tolist(), ys.tolist(), owners, strict=True)
            cells[burning] = [(x, y) for x, y, owner in places if self._root(owner) == fire]
        root = self._root(fire)
        part_of = None if root == fire else root
        return FireState(tuple(cells[True]), self.origins[fire], self.out(fire), tuple(cells[False]), part_of)


def _label_caught(labels: Labels, caught: npt.NDArray[np.bool_]) -> None:
    """Give each cell that has caught fire the fire of its neighbours, the oldest first; what touches none the oldest.

    Args:
        labels: Of framed cells; changed in place.
        caught: Of framed cells: whether they have caught fire.
    """
    while True:
        ys, xs = np.nonzero(caught & (labels < 0))
        if not len(ys):
            return
        beside = np.stack([labels[ys + down, xs + right] for down in (-1, 0, 1) for right in (-1, 0, 1)])
        smallest = np.where(beside < 0, np.iinfo(np.int16).max, beside).min(axis=0)
        reached = smallest < np.iinfo(np.int16).max
        if not reached.any():
            labels[ys, xs] = 0
            return
        labels[ys[reached], xs[reached]] = smallest[reached]


def oldest(labels: Labels, fires: Iterable[int]) -> Mapping[int, int]:
    """Return for each fire the oldest of those that it touches, through others too.

    Args:
        labels: The fire of each framed cell; -1 where nothing burnt, or nobody looked.
        fires: All that may be named.
    """
    root = {fire: fire for fire in sorted(fires)}

    def find(fire: int) -> int:
        while root[fire] != fire:
            fire = root[fire]
        return fire

    pairs = set[tuple[int, int]]()
    inner = labels[1:-1, 1:-1]
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        other = labels[1 + down : labels.shape[0] - 1 + down, 1 + right : labels.shape[1] - 1 + right]
        touch = (inner >= 0) & (other >= 0) & (inner != other)
        pairs.update(zip(inner[touch].tolist(), other[touch].tolist(), strict=True))
    for first, second in sorted(pairs):
        low, high = sorted((find(first), find(second)))
        root[high] = low
    return {fire: find(fire) for fire in root}


Number = TypeVar("Number", bound=np.generic)


class Tile(NamedTuple):
    """32 x 32 cells, indexed [y, x]."""

    codes: npt.NDArray[np.uint8]
    """As last seen."""
    seen: npt.NDArray[np.int32]
    """Timestep at which the cell was last seen; -1 never."""


class HotZone(NamedTuple):
    """A part of the map with cells that burn or smoulder, and those beside them."""

    x0: int
    y0: int
    danger: npt.NDArray[np.bool_]


class SeenMap:
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
        self._near: HotZone | None = None

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
        """Return whether a cell was last seen burning or smouldering, or lies beside one that was."""
        if self._near is None:
            self._near = self._round()
        x0, y0, danger = self._near
        x, y = at[0] - x0, at[1] - y0
        return 0 <= y < danger.shape[0] and 0 <= x < danger.shape[1] and bool(danger[y, x])

    def _round(self) -> HotZone:
        hot = self.caught[self.caught[:, 2] <= SEEN_EXTINGUISHING, :2]
        if not len(hot):
            return HotZone(0, 0, np.zeros((0, 0), np.bool_))
        first, last = hot.min(axis=0) - 1, hot.max(axis=0) + 1
        wide, high = (last - first + 1).tolist()
        danger = np.zeros((high, wide), np.bool_)
        columns, rows = (hot - first).T
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                danger[rows + down, columns + right] = True
        return HotZone(int(first[0]), int(first[1]), danger)


def fully_seen(codes: npt.NDArray[np.uint8], t: int) -> SeenMap:
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
    return SeenMap(tiles, np.stack([xs, ys, codes[ys, xs].astype(np.int64)], axis=1), len(codes), t, keep=False)


NO_CELLS = np.zeros((0, 3), np.int64)


class MapTracker:
    """Tracks what one owner, the team or one agent, has seen of the ground.

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
        self.ground = SeenMap({}, NO_CELLS, size, 0, keep=owner is None)

    def look(self, sightings: Sightings, agents: Iterable[int], t: int) -> npt.NDArray[np.int64]:
        """Update the map with what the owner's agents see now.

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
        self.ground = SeenMap(self._tiles, caught, self._size, t, keep=self._owner is None)
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


_STATES: tuple[CivilianStatus, ...] = ("free", "held", "safe", "dead")


def agent_states(incident: Incident, names: Sequence[AgentId]) -> dict[AgentId, AgentState]:
    """Return all living agents as they are."""
    units, land = incident.units, incident.land
    places = units.places().tolist()
    states = {}
    for row, name in enumerate(names):
        if units.alive[row]:
            x, y = places[row]
            trees = int(land.trees[y + 1, x + 1]) if units.kind[row] <= BULLDOZER else None
            holds, aboard = int(units.carries[row]), int(units.aboard[row])
            states[name] = AgentState(
                (x, y),
                int(units.water[row]),
                None if holds == NOBODY else holds,
                None if aboard == NOBODY else names[aboard],
                trees,
            )
    return states


class LivingAgents(NamedTuple):
    """The agents that are alive; K of them."""

    bodies: Mapping[AgentId, AgentState]
    """In the order of the rows."""
    rows: Sequence[int]
    places: npt.NDArray[np.int64]
    """(K, 2): x and y of their cells."""


def living_agents(incident: Incident, names: Sequence[AgentId]) -> LivingAgents:
    """Return all living agents."""
    rows = np.flatnonzero(incident.units.alive)
    return LivingAgents(agent_states(incident, names), rows.tolist(), incident.units.places()[rows].astype(np.int64))


def target_cells(incident: Incident, mission: Mission) -> dict[int, tuple[Cell, int | None]]:
    """Return the cells to cut: place and line."""
    lines = incident.instance.targets
    cells = [((cell.x, cell.y), number) for number, line in enumerate(lines) for cell in line]
    alone = mission.task == "cut_sparse"
    return {number: (cell, None if alone else line) for number, (cell, line) in enumerate(cells)}


def cluster_of(civilian: int, incident: Incident) -> int:
    """Return the cluster of a civilian; those that a script brings come after those of the level."""
    level = incident.level
    if civilian < level.civilians:
        return civilian // level.per_cluster
    number, left = level.clusters, civilian - level.civilians
    for event in level.events:
        if event.kind == "civilians":
            if left < event.count:
                break
            number, left = number + 1, left - event.count
    return number


class Knowledge:
    """What an owner knows: the team if it shares one map, else one agent.

    Args:
        incident: At the start.
        mission: The task and the rules of reach.
        names: The agents by row.
        owner: The agent's row; None for the team.
    """

    def __init__(self, incident: Incident, mission: Mission, names: Sequence[AgentId], owner: int | None) -> None:
        self.mission, self.names, self.owner = mission, names, owner
        self.t = 0
        self._surveyor = MapTracker(mission.size, owner)
        self._hidden = {} if mission.known else {n: _cells(mission, n) for n in mission.middles}
        self._targets = target_cells(incident, mission)
        self._trees = dict.fromkeys(self._targets, (3, 0))
        self._people: dict[int, tuple[Cell | None, CivilianStatus, int]] = {}
        self._was: dict[int, Cell] = {}
        self._teammates: dict[AgentId, tuple[AgentState, int]] = {}
        self._fires: set[int] = {0} if mission.known and incident.instance.fire is not None else set()
        self._water: dict[int, Cell] = {}
        self._clusters: dict[int, Cell] = {}
        if mission.known:
            self._clusters = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.clusters)}
            for civilian in range(len(incident.civilians)):
                place = self._clusters[cluster_of(civilian, incident)]
                self._people[civilian] = (place, "free", 0)
            self._water = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.water)}
        self.state = SymbolicState()

    @property
    def people(self) -> Set[int]:
        """The civilians that it has seen or that were announced."""
        return self._people.keys()

    def look(self, incident: Incident, sightings: Sightings, fires: Fires, living: LivingAgents) -> None:
        """Update what is known with what is seen now.

        Args:
            incident: What goes on.
            sightings: After their look.
            fires: After theirs.
            living: Those alive.
        """
        self.t = incident.t
        rows = living.rows if self.owner is None else [self.owner]
        self._count(self._surveyor.look(sightings, rows, self.t))
        self._look_at_things(incident)
        self._look_at_people(incident)
        agents = self._look_at_teammates(living)
        sectors = {} if self.mission.known else self.mission.middles
        self.state = SymbolicState(
            agents=agents,
            targets={
                number: TargetCell(cell, self._trees[number][0], line) for number, (cell, line) in self._targets.items()
            },
            zone=None if incident.instance.target is None else (incident.instance.target.x, incident.instance.target.y),
            water=self._water,
            fires=self._look_at_fires(fires),
            people={
                number: CivilianState(
                    at, state, cluster_of(number, incident), None if at is not None else self._was.get(number)
                )
                for number, (at, state, _) in sorted(self._people.items())
            },
            clusters=self._clusters,
            sectors=sectors,
            unseen=self._unseen(),
            ground=self._surveyor.ground,
        )

    def facts(self, known: Facts) -> tuple[Facts, Facts]:
        """Split what is known into what is perceived now and what was perceived before; before the next look only."""
        dates = {fact: self._when(fact) for fact in known}
        current = Facts(tuple(fact for fact, tick in dates.items() if tick == self.t))
        past = {fact: tick for fact, tick in dates.items() if tick < self.t}
        return current, Facts(tuple(past), past)

    def _when(self, fact: Fact) -> int:
        """Return when a fact was perceived last; what was told holds now."""
        subject, value = fact.subject, fact.value
        if not isinstance(subject, Entity):
            return self._teammates[subject][1]
        if fact.predicate == "BURNS" and isinstance(value, tuple):
            return self._surveyor.ground.date(value)
        if subject.kind == "target" and fact.predicate == "TREES":
            return self._trees[subject.id][1]
        if subject.kind == "civilian" and fact.predicate != "IN":
            return self._people[subject.id][2]
        return self.t

    # ---- looking

    def _sees(self, at: Cell) -> bool:
        return self._surveyor.ground.date(at) == self.t

    def _look_at_things(self, incident: Incident) -> None:
        trees, land = incident.land.trees, incident.land.land
        for number, ((x, y), _) in self._targets.items():
            if self._sees((x, y)):
                self._trees[number] = (int(trees[y + 1, x + 1]), self.t)
        self._water = dict(self._water)
        for number, cell in enumerate(incident.instance.water_cells):
            if self._sees((cell.x, cell.y)) and land[cell.y + 1, cell.x + 1] == WATER:
                self._water[number] = (cell.x, cell.y)

    def _look_at_people(self, incident: Incident) -> None:
        civilians, units = incident.civilians, incident.units
        for number in range(len(civilians)):
            at, state = (int(civilians.x[number]), int(civilians.y[number])), int(civilians.state[number])
            last = self._people.get(number)
            by_radio = state == CARRIED and (self.owner is None or units.carries[self.owner] == number)
            if by_radio or self._sees(at):
                self._people[number] = (at, _STATES[state], self.t)
            elif last is not None and last[0] is not None and self._sees(last[0]):
                self._people[number] = (None, last[1], last[2])  # it went away, nobody knows where
                self._was[number] = last[0]

    def _look_at_teammates(self, living: LivingAgents) -> Mapping[AgentId, AgentState]:
        """Return whom it knows of: the team all that live; one agent those in sight, and others where it saw them."""
        if self.owner is None:
            self._teammates = {name: (body, self.t) for name, body in living.bodies.items()}
        else:
            there = dict(zip(living.bodies, self._surveyor.sees(living.places).tolist(), strict=True))
            last = np.array([body.at for body, _ in self._teammates.values()], np.int64).reshape(-1, 2)
            away = zip(self._teammates, self._surveyor.sees(last).tolist(), strict=True)
            known = {name for name, seen in away if not seen} | {name for name, seen in there.items() if seen}
            self._teammates = {
                name: (living.bodies[name], self.t) if there.get(name) else self._teammates[name]
                for name in self.names
                if name in known
            }
        return {name: body for name, (body, _) in self._teammates.items()}

    def _look_at_fires(self, fires: Fires) -> dict[int, FireState]:
        """Return the fires known of: cells last seen burning, unless it was told that the fire is out.

        What has grown together shows only in what was seen.
        """
        xs, ys, codes = self._surveyor.ground.caught.T
        labels = fires.labels(xs, ys)
        self._fires.update(np.unique(labels).tolist())
        root = fires.known(xs, ys, self._fires)
        burning: dict[int, list[Cell]] = {}
        scar: dict[int, Cell] = {}
        for x, y, code, fire in zip(xs.tolist(), ys.tolist(), codes.tolist(), labels.tolist(), strict=True):
            if code <= agents.SEEN_ON_FIRE:
                burning.setdefault(root[fire], []).append((x, y))
            else:
                scar.setdefault(root[fire], (x, y))
        fronts = {}
        for fire in sorted(self._fires):
            out = fires.out(fire)
            fronts[fire] = FireState(
                () if out else tuple(burning.get(fire, ())),
                fires.origins[fire] if self.mission.known and fire == 0 else None,
                out,
                (scar[fire],) if fire in scar else (),
                None if root[fire] == fire else root[fire],
            )
        return fronts

    def _count(self, news: npt.NDArray[np.int64]) -> None:
        """Take cells that were seen for the first time from those of their sectors that nobody saw."""
        if not self._hidden or not len(news):
            return
        mission = self.mission
        edges = [x1 for _, x1, _, _ in mission.sectors[: mission.tiles]]
        column, row = (np.searchsorted(edges, along, side="right") for along in news.T)
        for number, count in enumerate(np.bincount(row * mission.tiles + column, minlength=mission.tiles**2).tolist()):
            self._hidden[number] -= count

    def _unseen(self) -> dict[int, int]:
        """Return per cent of each sector that was not seen, rounded up; without those seen whole."""
        return {n: -(-100 * left // _cells(self.mission, n)) for n, left in self._hidden.items() if left}


def _cells(mission: Mission, sector: int) -> int:
    """Return the cells of a sector."""
    x0, x1, y0, y1 = mission.sectors[sector]
    return (x1 - x0) * (y1 - y0)


def work_state(incident: Incident, mission: Mission, names: Sequence[AgentId]) -> SymbolicState:
    """Return the truth about agents and what is to be cut: by it skills are judged."""
    return SymbolicState(agents=agent_states(incident, names), targets=true_targets(incident, mission))


def true_targets(incident: Incident, mission: Mission) -> dict[int, TargetCell]:
    """Return the cells to cut as they are."""
    trees = incident.land.trees
    return {
        number: TargetCell(cell, int(trees[cell[1] + 1, cell[0] + 1]), line)
        for number, (cell, line) in target_cells(incident, mission).items()
    }


def true_state(incident: Incident, mission: Mission, names: Sequence[AgentId], fires: Fires) -> SymbolicState:
    """Return all that is true."""
    civilians, target, land = incident.civilians, incident.instance.target, incident.land
    return SymbolicState(
        agents=agent_states(incident, names),
        targets=true_targets(incident, mission),
        zone=None if target is None else (target.x, target.y),
        water={
            number: (cell.x, cell.y)
            for number, cell in enumerate(incident.instance.water_cells)
            if land.land[cell.y + 1, cell.x + 1] == WATER
        },
        fires={fire: fires.front(fire) for fire in fires.origins},
        people={
            number: CivilianState(
                (int(civilians.x[number]), int(civilians.y[number])),
                _STATES[int(civilians.state[number])],
                cluster_of(number, incident),
            )
            for number in range(len(civilians))
        },
        clusters={k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.clusters)},
        sectors=mission.middles,
        ground=fully_seen(true_codes(land), incident.t) if mission.task == "scout" else None,
    )
