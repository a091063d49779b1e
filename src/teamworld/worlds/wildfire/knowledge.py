"""What the team knows, or one agent: what was told, and what was seen and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell, Entity, Fact, Facts
from teamworld.worlds.wildfire import scene as words
from teamworld.worlds.wildfire.ground import Surveyor, whole
from teamworld.worlds.wildfire.scene import Body, Brief, Front, Person, PersonState, Scene, Spot
from teamworld.worlds.wildfire.sightings import truth
from teamworld.worlds.wildfire.state import WATER
from teamworld.worlds.wildfire.units import BULLDOZER, CARRIED, NOBODY

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.fires import Fires
    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.sightings import Sightings

_STATES: tuple[PersonState, ...] = ("free", "held", "safe", "dead")


def bodies(incident: Incident, names: Sequence[AgentId]) -> dict[AgentId, Body]:
    """Return all living agents as they are."""
    units, land = incident.units, incident.land
    places = units.places().tolist()
    found = {}
    for row, name in enumerate(names):
        if units.alive[row]:
            x, y = places[row]
            trees = int(land.trees[y + 1, x + 1]) if units.kind[row] <= BULLDOZER else None
            holds, aboard = int(units.carries[row]), int(units.aboard[row])
            found[name] = Body(
                (x, y),
                int(units.water[row]),
                None if holds == NOBODY else holds,
                None if aboard == NOBODY else names[aboard],
                trees,
            )
    return found


class Living(NamedTuple):
    """The agents that are alive; K of them."""

    bodies: Mapping[AgentId, Body]
    """In the order of the rows."""
    rows: Sequence[int]
    places: npt.NDArray[np.int64]
    """(K, 2): x and y of their cells."""


def living(incident: Incident, names: Sequence[AgentId]) -> Living:
    """Return all living agents."""
    rows = np.flatnonzero(incident.units.alive)
    return Living(bodies(incident, names), rows.tolist(), incident.units.places()[rows].astype(np.int64))


def targets(incident: Incident, brief: Brief) -> dict[int, tuple[Cell, int | None]]:
    """Return the cells to cut: place and line."""
    lines = incident.instance.targets
    cells = [((cell.x, cell.y), number) for number, line in enumerate(lines) for cell in line]
    alone = brief.task == "cut_sparse"
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
    """What an owner knows: the team if all share one map, else one agent.

    Args:
        incident: At the start.
        brief: What everybody was told.
        names: The agents by row.
        owner: The agent's row; None for the team.
    """

    def __init__(self, incident: Incident, brief: Brief, names: Sequence[AgentId], owner: int | None) -> None:
        self.brief, self.names, self.owner = brief, names, owner
        self.t = 0
        self._surveyor = Surveyor(brief.size, owner)
        self._hidden = {} if brief.known else {n: _cells(brief, n) for n in brief.middles}
        self._targets = targets(incident, brief)
        self._trees = dict.fromkeys(self._targets, (3, 0))
        self._people: dict[int, tuple[Cell | None, PersonState, int]] = {}
        self._was: dict[int, Cell] = {}
        self._mates: dict[AgentId, tuple[Body, int]] = {}
        self._fires: set[int] = {0} if brief.known and incident.instance.fire is not None else set()
        self._water: dict[int, Cell] = {}
        self._clusters: dict[int, Cell] = {}
        if brief.known:
            self._clusters = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.clusters)}
            for civilian in range(len(incident.civilians)):
                place = self._clusters[cluster_of(civilian, incident)]
                self._people[civilian] = (place, "free", 0)
            self._water = {k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.water)}
        self.scene = Scene()

    @property
    def people(self) -> Set[int]:
        """The civilians that it has seen or was told of."""
        return self._people.keys()

    def look(self, incident: Incident, sightings: Sightings, fires: Fires, living: Living) -> None:
        """Take in what is seen now.

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
        agents = self._look_at_mates(living)
        sectors = {} if self.brief.known else self.brief.middles
        self.scene = Scene(
            agents=agents,
            targets={
                number: Spot(cell, self._trees[number][0], line) for number, (cell, line) in self._targets.items()
            },
            zone=None if incident.instance.target is None else (incident.instance.target.x, incident.instance.target.y),
            water=self._water,
            fires=self._look_at_fires(fires),
            people={
                number: Person(
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
        now = Facts(tuple(fact for fact, tick in dates.items() if tick == self.t))
        past = {fact: tick for fact, tick in dates.items() if tick < self.t}
        return now, Facts(tuple(past), past)

    def _when(self, fact: Fact) -> int:
        """Return when a fact was perceived last; what was told holds now."""
        subject, value = fact.subject, fact.value
        if not isinstance(subject, Entity):
            return self._mates[subject][1]
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
        folk, units = incident.civilians, incident.units
        for number in range(len(folk)):
            at, state = (int(folk.x[number]), int(folk.y[number])), int(folk.state[number])
            told = self._people.get(number)
            by_radio = state == CARRIED and (self.owner is None or units.carries[self.owner] == number)
            if by_radio or self._sees(at):
                self._people[number] = (at, _STATES[state], self.t)
            elif told is not None and told[0] is not None and self._sees(told[0]):
                self._people[number] = (None, told[1], told[2])  # it went away, nobody knows where
                self._was[number] = told[0]

    def _look_at_mates(self, living: Living) -> Mapping[AgentId, Body]:
        """Return whom it knows of: the team all that live; one agent those in sight, and others where it saw them."""
        if self.owner is None:
            self._mates = {name: (body, self.t) for name, body in living.bodies.items()}
        else:
            there = dict(zip(living.bodies, self._surveyor.sees(living.places).tolist(), strict=True))
            last = np.array([body.at for body, _ in self._mates.values()], np.int64).reshape(-1, 2)
            away = zip(self._mates, self._surveyor.sees(last).tolist(), strict=True)
            known = {name for name, seen in away if not seen} | {name for name, seen in there.items() if seen}
            self._mates = {
                name: (living.bodies[name], self.t) if there.get(name) else self._mates[name]
                for name in self.names
                if name in known
            }
        return {name: body for name, (body, _) in self._mates.items()}

    def _look_at_fires(self, fires: Fires) -> dict[int, Front]:
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
            if code <= words.ON_FIRE:
                burning.setdefault(root[fire], []).append((x, y))
            else:
                scar.setdefault(root[fire], (x, y))
        found = {}
        for fire in sorted(self._fires):
            out = fires.out(fire)
            found[fire] = Front(
                () if out else tuple(burning.get(fire, ())),
                fires.origins[fire] if self.brief.known and fire == 0 else None,
                out,
                (scar[fire],) if fire in scar else (),
                None if root[fire] == fire else root[fire],
            )
        return found

    def _count(self, news: npt.NDArray[np.int64]) -> None:
        """Take cells that were seen for the first time from those of their sectors that nobody saw."""
        if not self._hidden or not len(news):
            return
        brief = self.brief
        edges = [x1 for _, x1, _, _ in brief.sectors[: brief.tiles]]
        column, row = (np.searchsorted(edges, along, side="right") for along in news.T)
        for number, count in enumerate(np.bincount(row * brief.tiles + column, minlength=brief.tiles**2).tolist()):
            self._hidden[number] -= count

    def _unseen(self) -> dict[int, int]:
        """Return per cent of each sector that was not seen, rounded up; without those seen whole."""
        return {n: -(-100 * left // _cells(self.brief, n)) for n, left in self._hidden.items() if left}


def _cells(brief: Brief, sector: int) -> int:
    """Return the cells of a sector."""
    x0, x1, y0, y1 = brief.sectors[sector]
    return (x1 - x0) * (y1 - y0)


def workplace(incident: Incident, brief: Brief, names: Sequence[AgentId]) -> Scene:
    """Return the truth about agents and what is to be cut: by it skills are judged."""
    return Scene(agents=bodies(incident, names), targets=true_targets(incident, brief))


def true_targets(incident: Incident, brief: Brief) -> dict[int, Spot]:
    """Return the cells to cut as they are."""
    trees = incident.land.trees
    return {
        number: Spot(cell, int(trees[cell[1] + 1, cell[0] + 1]), line)
        for number, (cell, line) in targets(incident, brief).items()
    }


def true_scene(incident: Incident, brief: Brief, names: Sequence[AgentId], fires: Fires) -> Scene:
    """Return all that is true."""
    folk, target, land = incident.civilians, incident.instance.target, incident.land
    return Scene(
        agents=bodies(incident, names),
        targets=true_targets(incident, brief),
        zone=None if target is None else (target.x, target.y),
        water={
            number: (cell.x, cell.y)
            for number, cell in enumerate(incident.instance.water_cells)
            if land.land[cell.y + 1, cell.x + 1] == WATER
        },
        fires={fire: fires.front(fire) for fire in fires.origins},
        people={
            number: Person(
                (int(folk.x[number]), int(folk.y[number])),
                _STATES[int(folk.state[number])],
                cluster_of(number, incident),
            )
            for number in range(len(folk))
        },
        clusters={k: (cell.x, cell.y) for k, cell in enumerate(incident.instance.clusters)},
        sectors=brief.middles,
        ground=whole(truth(land), incident.t) if brief.task == "scout" else None,
    )
