"""What the team knows, or one agent: what was announced, and what was seen and when.

``Fires`` tells which fire is which, ``SeenMap`` holds when each cell was last seen, ``Knowledge`` makes the symbolic
state of its owner of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from teamworld.language import AgentId, Cell, Entity, Fact, Facts
from teamworld.worlds.wildfire.kernels.agents import (
    DRY,
    SEEN_BURNT_OUT,
    SEEN_EXTINGUISHING,
    SEEN_IGNITED,
    SEEN_ON_FIRE,
    TILE,
)
from teamworld.worlds.wildfire.observe import true_codes
from teamworld.worlds.wildfire.sharing import sharing_kept
from teamworld.worlds.wildfire.skills import cells_between
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
    expected_facts,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from teamworld.worlds.wildfire.observe import Sightings, Spans
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
        burn, root = self._incident.land.burn, self._root(fire)

        def cells(low: int, high: int) -> tuple[Cell, ...]:
            rows, columns = np.nonzero((burn >= low) & (burn <= high))
            xs, ys = columns - 1, rows - 1
            places = zip(xs.tolist(), ys.tolist(), self.labels(xs, ys).tolist(), strict=True)
            return tuple((x, y) for x, y, owner in places if self._root(owner) == fire)

        burning, scar = cells(IGNITED, ON_FIRE), cells(EXTINGUISHING, BURNT_OUT)
        return FireState(burning, self.origins[fire], self.out(fire), scar, None if root == fire else root)


def _label_caught(labels: Labels, caught: npt.NDArray[np.bool_]) -> None:
    """Give each cell that has caught fire the fire of its neighbours, the oldest of several; the first if none is."""
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

    @classmethod
    def unseen(cls) -> Tile:
        """Return a tile that nobody has seen."""
        return cls(np.zeros((TILE, TILE), np.uint8), np.full((TILE, TILE), -1, np.int32))


NO_CELLS = np.zeros((0, 3), np.int64)


class SeenMap:
    """What one owner, the team or one agent, has seen of the ground, as it is known at one moment; never changes.

    Args:
        size: N, cells on a side of the map.
        owner: The agent's row; None for the team.
        t: Now.
        tiles: By column and row of the tile, what was seen.
        caught: By tile, (K, 3): x, y and code of the cells that were seen burning, smouldering or burnt out.
        spans: What was in sight at the last look, as ``Sightings.spans`` has it.
    """

    def __init__(
        self,
        size: int,
        owner: int | None,
        t: int = 0,
        tiles: Mapping[Key, Tile] = MappingProxyType({}),
        caught: Mapping[Key, npt.NDArray[np.int64]] = MappingProxyType({}),
        spans: Sequence[Spans] = (),
    ) -> None:
        self._size, self._owner, self.t, self._tiles, self._spans = size, owner, t, tiles, spans
        self._caught = caught
        self._kept: dict[int, npt.NDArray[Any]] = {}

    @cached_property
    def caught(self) -> npt.NDArray[np.int64]:
        """(K, 3): those of all tiles, by rows."""
        cells = np.concatenate([NO_CELLS, *self._caught.values()])
        return cells[np.lexsort((cells[:, 0], cells[:, 1]))]

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
        if self._owner is None:  # many share this map: the array is worth keeping
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
        x0, y0, danger = self._danger
        x, y = at[0] - x0, at[1] - y0
        return 0 <= y < danger.shape[0] and 0 <= x < danger.shape[1] and bool(danger[y, x])

    def any_dangerous(self, xs: npt.NDArray[np.int64], ys: npt.NDArray[np.int64]) -> bool:
        """Return whether any of some cells is dangerous."""
        x0, y0, danger = self._danger
        xs, ys = xs - x0, ys - y0
        known = (ys >= 0) & (ys < danger.shape[0]) & (xs >= 0) & (xs < danger.shape[1])
        return bool(danger[ys[known], xs[known]].any())

    @cached_property
    def _danger(self) -> tuple[int, int, npt.NDArray[np.bool_]]:
        """Column and row of a part of the map, and which of its cells are dangerous."""
        hot = self.caught[self.caught[:, 2] <= SEEN_EXTINGUISHING, :2]
        if not len(hot):
            return 0, 0, np.zeros((0, 0), np.bool_)
        first = hot.min(axis=0) - 1
        wide, high = (hot.max(axis=0) - first + 2).tolist()
        danger = np.zeros((high, wide), np.bool_)
        columns, rows = (hot - first).T
        for down, right in np.ndindex(3, 3):
            danger[rows + down - 1, columns + right - 1] = True
        return int(first[0]), int(first[1]), danger

    def look(self, sightings: Sightings, agents: Iterable[int], t: int) -> tuple[SeenMap, npt.NDArray[np.int64]]:
        """Return the map with what the owner's living agents (rows) see now, and the cells seen for the first time.

        The cells are (K, 2): x and y.
        """
        fresh: dict[Key, Tile] = {}
        news = [NO_CELLS[:, :2]]
        spans = [sightings.spans(way) for way in dict.fromkeys(map(sightings.way, agents))]
        for top, bottom, left, right in spans:
            for row in range(top // TILE, bottom // TILE + 1):
                rows = slice(max(top, row * TILE), min(bottom + 1, (row + 1) * TILE))
                low, high = left[rows, None], right[rows, None]
                for column in range(int(low.min()) // TILE, int(high.max()) // TILE + 1):
                    across = np.arange(column * TILE, (column + 1) * TILE)
                    mask = (across >= low) & (across <= high)
                    if (column, row) not in fresh:
                        old = self._tiles.get((column, row))
                        fresh[column, row] = Tile.unseen() if old is None else Tile(old.codes.copy(), old.seen.copy())
                    part = fresh[column, row].seen[rows.start - row * TILE : rows.stop - row * TILE]
                    down, along = np.nonzero(mask & (part < 0))
                    if len(down):
                        news.append(np.stack([along + column * TILE, down + rows.start], axis=1))
                    part[mask] = t
        caught = {key: cells for key, cells in self._caught.items() if key not in fresh}
        for (column, row), tile in fresh.items():
            tile.codes[:] = sightings.tile(self._owner or 0, column, row)
            cells = _caught_cells(tile.codes, column * TILE, row * TILE)
            if len(cells):
                caught[column, row] = cells
        ground = SeenMap(self._size, self._owner, t, {**self._tiles, **fresh}, caught, spans)
        return ground, np.concatenate(news)

    def lost_trees(self, before: SeenMap) -> bool:
        """Return whether a cell has no trees that was seen with trees on an earlier map."""
        return any(
            bool(((old.codes > DRY) & (old.codes < SEEN_IGNITED) & (tile.codes == DRY)).any())
            for key, tile in self._tiles.items()
            if (old := before._tiles.get(key)) is not None and old is not tile
        )

    def sees(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return (K,): which of (K, 2) cells, x and y, were in sight at the last look."""
        x, y = places.T
        seen = np.zeros(len(places), np.bool_)
        for top, bottom, left, right in self._spans:
            seen |= (top <= y) & (y <= bottom) & (left[y] <= x) & (x <= right[y])
        return seen


def _caught_cells(codes: npt.NDArray[np.uint8], x0: int, y0: int) -> npt.NDArray[np.int64]:
    """Return (K, 3): x, y and code of the cells of a part of the map that have caught fire."""
    ys, xs = np.nonzero((codes >= SEEN_IGNITED) & (codes <= SEEN_BURNT_OUT))
    return np.stack([xs + x0, ys + y0, codes[ys, xs].astype(np.int64)], axis=1)


def fully_seen(codes: npt.NDArray[np.uint8], t: int) -> SeenMap:
    """Return ground that was all seen just now, (N, N) codes, indexed [y, x]."""
    wide, seen = np.pad(codes, (0, -len(codes) % TILE)), np.full((TILE, TILE), t, np.int32)
    sides = range(len(wide) // TILE)
    tiles = {
        (column, row): Tile(wide[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE], seen)
        for row in sides
        for column in sides
    }
    return SeenMap(len(codes), None, t, tiles, {(0, 0): _caught_cells(codes, 0, 0)})


_STATES: tuple[CivilianStatus, ...] = ("free", "held", "safe", "dead")


def agent_states(
    incident: Incident, names: Sequence[AgentId], rows: Sequence[int] | None = None
) -> dict[AgentId, AgentState]:
    """Return all living agents as they are, or those of some rows."""
    units, land = incident.units, incident.land
    rows = np.flatnonzero(units.alive).tolist() if rows is None else rows
    states = {}
    for row, (x, y) in zip(rows, units.places()[rows].tolist(), strict=True):
        holds, aboard = int(units.carries[row]), int(units.aboard[row])
        states[names[row]] = AgentState(
            (x, y),
            int(units.water[row]),
            None if holds == NOBODY else holds,
            None if aboard == NOBODY else names[aboard],
            int(land.trees[y + 1, x + 1]) if units.kind[row] <= BULLDOZER else None,
        )
    return states


class LivingAgents(NamedTuple):
    """The agents that are alive; K of them."""

    bodies: Mapping[AgentId, AgentState]
    """In the order of the rows."""
    rows: Sequence[int]
    places: npt.NDArray[np.int64]
    """(K, 2): x and y of their cells."""


def living_agents(incident: Incident, names: Sequence[AgentId], rows: Sequence[int] | None = None) -> LivingAgents:
    """Return all living agents, or those of some rows, all of whom live."""
    rows = np.flatnonzero(incident.units.alive).tolist() if rows is None else rows
    places = incident.units.places()[rows].astype(np.int64)
    return LivingAgents(agent_states(incident, names, rows), rows, places)


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


class PersonSeen(NamedTuple):
    """What is known of a civilian."""

    at: Cell | None
    """None: nobody knows."""
    state: CivilianStatus
    seen: int
    """Timestep of the last sight."""
    was: Cell | None = None
    """Where it was seen last, if it is there no longer."""


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
        self._ground = SeenMap(mission.size, owner)
        self._hidden = {} if mission.known else {n: mission.cells_in(n) for n in mission.middles}
        self._ahead: Mapping[int, Cell] = {}
        self._targets = target_cells(incident, mission)
        self._trees = dict.fromkeys(self._targets, (3, 0))
        self._people: dict[int, PersonSeen] = {}
        self._teammates: dict[AgentId, tuple[AgentState, int]] = {}
        self._last = np.full((len(names), 2), -1, np.int64)  # where it saw them last, by row
        self._fires: set[int] = {0} if mission.known and incident.instance.fire is not None else set()
        self._water: dict[int, Cell] = {}
        self._clusters: dict[int, Cell] = {}
        if mission.known:
            self._clusters = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.clusters)}
            for civilian in range(len(incident.civilians)):
                self._people[civilian] = PersonSeen(self._clusters[cluster_of(civilian, incident)], "free", 0)
            self._water = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.water)}
        self.state = SymbolicState()
        self._known: Facts | None = None
        self._parts: tuple[Facts, Facts, Facts] | None = None

    @property
    def known(self) -> Facts:
        """All that is known, as facts; made when first asked for."""
        if self._known is None:
            self._known = expected_facts(self.state)
        return self._known

    @property
    def people(self) -> Set[int]:
        """The civilians that it has seen or that were announced."""
        return self._people.keys()

    def look(self, incident: Incident, sightings: Sightings, fires: Fires, living: LivingAgents) -> None:
        """Update what is known with what is seen now, after the look of ``sightings`` and ``fires``."""
        self.t = incident.t
        rows = living.rows if self.owner is None else [self.owner]
        before, teammates = self._ground, self._teammates
        self._ground, news = self._ground.look(sightings, rows, self.t)
        self._count(news)
        self._move_on()
        self._look_at_things(incident)
        self._look_at_people(incident)
        self._look_at_teammates(living)
        target = incident.instance.target
        agents = {name: body for name, (body, _) in self._teammates.items()}
        self.state = SymbolicState(
            agents=agents,
            targets={
                number: TargetCell(cell, self._trees[number][0], line) for number, (cell, line) in self._targets.items()
            },
            zone=None if target is None else (target.x, target.y),
            water=dict(self._water),
            fires=self._look_at_fires(fires),
            people={
                number: CivilianState(at, state, cluster_of(number, incident), was)
                for number, (at, state, _, was) in sorted(self._people.items())
            },
            clusters=self._clusters,
            sectors={} if self.mission.known else self.mission.middles,
            ahead=self._ahead,
            searchers=sharing_kept(self.mission, self.state, agents),
            unseen={n: -(-100 * left // self.mission.cells_in(n)) for n, left in self._hidden.items() if left},
            ground=self._ground,
            cutting=self._seen_cutting(before, teammates) if self.mission.cuts else {},
        )
        self._known = self._parts = None

    def parts(self) -> tuple[Facts, Facts, Facts]:
        """Return what is perceived now, what was perceived before, and both."""
        if self._parts is None:
            dates = {fact: self._when(fact) for fact in self.known}
            current = Facts(tuple(fact for fact, t in dates.items() if t == self.t))
            past = {fact: t for fact, t in dates.items() if t < self.t}
            self._parts = current, Facts(tuple(past), past), self.known
        return self._parts

    def _when(self, fact: Fact) -> int:
        """Return when a fact was perceived last; what was told holds now."""
        subject, value = fact.subject, fact.value
        if not isinstance(subject, Entity):
            return self._teammates[subject][1]
        if fact.predicate == "BURNS" and isinstance(value, tuple):
            return self._ground.date(value)
        if subject.kind == "target" and fact.predicate == "TREES":
            return self._trees[subject.id][1]
        if subject.kind == "civilian" and fact.predicate != "IN":
            return self._people[subject.id].seen
        return self.t

    # ---- looking

    def _sees(self, at: Cell) -> bool:
        return self._ground.date(at) == self.t

    def _look_at_things(self, incident: Incident) -> None:
        trees, land = incident.land.trees, incident.land.land
        for number, ((x, y), _) in self._targets.items():
            if self._sees((x, y)):
                self._trees[number] = (int(trees[y + 1, x + 1]), self.t)
        for number, (x, y) in enumerate(incident.instance.water_cells):
            if self._sees((x, y)) and land[y + 1, x + 1] == WATER:
                self._water[number] = (x, y)

    def _look_at_people(self, incident: Incident) -> None:
        civilians, units = incident.civilians, incident.units
        for number in range(len(civilians)):
            at, state = (int(civilians.x[number]), int(civilians.y[number])), int(civilians.state[number])
            last = self._people.get(number)
            by_radio = state == CARRIED and (self.owner is None or units.carries[self.owner] == number)
            if by_radio or self._sees(at):
                self._people[number] = PersonSeen(at, _STATES[state], self.t)
            elif last is not None and last.at is not None and self._sees(last.at):  # it went away, nobody knows where
                self._people[number] = last._replace(at=None, was=last.at)

    def _look_at_teammates(self, living: LivingAgents) -> None:
        """Note whom it knows of: the team all that live; one agent those in sight, and others where it saw them."""
        if self.owner is None:
            self._teammates = {name: (body, self.t) for name, body in living.bodies.items()}
            return
        rows = np.array(living.rows, np.int64)
        in_sight = rows[self._ground.sees(living.places)]
        looked_at = np.flatnonzero(self._last[:, 0] >= 0)
        gone = np.setdiff1d(looked_at[self._ground.sees(self._last[looked_at])], in_sight)
        self._last[gone] = -1
        self._last[in_sight] = living.places[np.isin(rows, in_sight)]
        teammates = dict(self._teammates)
        for row in gone.tolist():
            del teammates[self.names[row]]
        seen = [self.names[row] for row in in_sight.tolist()]
        is_new = any(name not in teammates for name in seen)
        teammates.update((name, (living.bodies[name], self.t)) for name in seen)
        self._teammates = {name: teammates[name] for name in self.names if name in teammates} if is_new else teammates

    def _seen_cutting(
        self, ground: SeenMap, teammates: Mapping[AgentId, tuple[AgentState, int]]
    ) -> dict[AgentId, Cell]:
        """Return who was in sight at the last two looks and cut trees between them, and from which cell on.

        Args:
            ground: What was seen until the look before.
            teammates: Whom it knew of then.
        """
        cutting = dict[AgentId, Cell]()
        in_sight = [
            (name, teammates[name][0], body)
            for name, (body, t) in self._teammates.items()
            if t == self.t and name in teammates and teammates[name][1] == t - 1
        ]
        lost_trees = bool(in_sight) and self._ground.lost_trees(ground)
        for name, old, body in in_sight:
            if body.trees is not None and old.trees is not None:
                if old.at == body.at:
                    felled = old.trees > body.trees
                else:  # on foot one either walks or cuts
                    drives = lost_trees and self.mission.kinds[name] == "bulldozer"
                    felled = drives and _drove(old.at, body.at, ground, self._ground)
                if felled:
                    cutting[name] = old.at
        return cutting

    def _look_at_fires(self, fires: Fires) -> dict[int, FireState]:
        """Return the fires known of: cells last seen burning, unless it was told that the fire is out.

        What has grown together shows only in what was seen.
        """
        xs, ys, codes = self._ground.caught.T
        labels = fires.labels(xs, ys)
        self._fires.update(np.unique(labels).tolist())
        root = fires.known(xs, ys, self._fires)
        burning: dict[int, list[Cell]] = {}
        scar: dict[int, Cell] = {}
        for x, y, code, fire in zip(xs.tolist(), ys.tolist(), codes.tolist(), labels.tolist(), strict=True):
            if code <= SEEN_ON_FIRE:
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

    def _move_on(self) -> None:
        """Note where the search of each sector goes on: its middle, then the unseen cell nearest to where it was."""
        places = {n: self._ahead.get(n, self.mission.middles[n]) for n, left in self._hidden.items() if left}
        seen_there = [number for number, place in places.items() if self._ground.date(place) >= 0]
        ahead = {number: cell for number, cell in self._ahead.items() if number in places}
        seen = self._ground.seen if seen_there else np.zeros((0, 0), np.int32)  # making it takes time
        for number in seen_there:
            (x0, x1, y0, y1), (x, y) = self.mission.sectors[number], places[number]
            down, right = np.nonzero(seen[y0:y1, x0:x1] < 0)
            nearest = int(np.argmin((down + y0 - y) ** 2 + (right + x0 - x) ** 2))
            ahead[number] = int(right[nearest]) + x0, int(down[nearest]) + y0
        self._ahead = ahead


def _drove(start: Cell, end: Cell, before: SeenMap, after: SeenMap) -> bool:
    """Return whether trees are gone on the straight way between two cells that were seen there before."""
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    return any(
        DRY < before.code(cell) < SEEN_IGNITED and after.code(cell) == DRY for cell in cells_between(start, end, steps)
    )


def true_state(incident: Incident, mission: Mission, names: Sequence[AgentId], fires: Fires) -> SymbolicState:
    """Return all that is true."""
    civilians, target, land = incident.civilians, incident.instance.target, incident.land
    return SymbolicState(
        agents=agent_states(incident, names),
        targets={
            number: TargetCell((x, y), int(land.trees[y + 1, x + 1]), line)
            for number, ((x, y), line) in target_cells(incident, mission).items()
        },
        zone=None if target is None else (target.x, target.y),
        water={
            number: (x, y)
            for number, (x, y) in enumerate(incident.instance.water_cells)
            if land.land[y + 1, x + 1] == WATER
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
