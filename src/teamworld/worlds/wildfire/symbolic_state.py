"""The symbolic state of a wildfire: what somebody knows or expects, or the truth, and the facts that say the same.

A ``SymbolicState`` can be read from facts and written as facts. What was seen of the ground, cell by cell, is kept with
a state that the world made; it is no fact, for there would be thousands. Cells are (x, y).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, dist
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.contract import ImpossibleFacts
from teamworld.worlds.wildfire.kernels.agents import SEEN_BURNT_OUT, SEEN_ON_FIRE
from teamworld.worlds.wildfire.state import KINDS, MAX_SIZE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from teamworld.worlds.wildfire.knowledge import SeenMap
    from teamworld.worlds.wildfire.levels import Task

Result = TypeVar("Result")

#: Most cells on a side of a sector, what a drone sees at once; most sectors on a side of a map.
SECTOR_SIDE, MOST_SECTORS = 31, 10

#: Cells of the largest map: a fire has many, and nothing else about a subject is said twice.
MOST_CELLS: Final = MAX_SIZE**2

#: What facts can state, the same words for all kinds of agents.
RELATIONS: Final = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("TREES", "agent", ("number",)),
    Relation("WATER", "agent", ("number",)),
    Relation("HOLD", "agent", ("civilian",), role="held"),
    Relation("ABOARD", "agent", ("agent",)),
    Relation("AT", "target", ("cell",)),
    Relation("TREES", "target", ("number",)),
    Relation("IN", "target", ("line",)),
    Relation("AT", "zone", ("cell",)),
    Relation("AT", "water", ("cell",)),
    Relation("AT", "fire", ("cell",)),
    Relation("STATE", "fire", ("burning", "out")),
    Relation("BURNS", "fire", ("cell",), max_values=MOST_CELLS),
    Relation("BURNT", "fire", ("cell",), max_values=MOST_CELLS),
    Relation("IN", "fire", ("fire",)),
    Relation("AT", "cluster", ("cell",)),
    Relation("IN", "civilian", ("cluster",)),
    Relation("AT", "civilian", ("cell",)),
    Relation("WAS", "civilian", ("cell",)),
    Relation("STATE", "civilian", ("free", "held", "safe", "dead")),
    Relation("AT", "sector", ("cell",)),
    Relation("UNSEEN", "sector", ("number", "cell"), max_values=2, role="map"),
    Relation("FOR", "sector", ("agent",), role="map"),
)
CivilianStatus: TypeAlias = Literal["free", "held", "safe", "dead"]


class AgentState(NamedTuple):
    """An agent."""

    at: Cell
    water: int = 0
    """Units of water on board."""
    holds: int | None = None
    """The civilian that it carries."""
    aboard: AgentId | None = None
    """The helicopter that it rides."""
    trees: int | None = None
    """Of a walker: trees on the cell where it stands; None where nobody knows."""


class TargetCell(NamedTuple):
    """A cell whose trees are to be cut."""

    at: Cell
    trees: int
    line: int | None = None


class FireState(NamedTuple):
    """A fire: the cells that burn (ignited or on fire), as last seen."""

    cells: tuple[Cell, ...] = ()
    origin: Cell | None = None
    """Where it began, if that was announced."""
    out: bool = False
    scar: tuple[Cell, ...] = ()
    """Cells that smoulder or are burnt out; one will do to find the place again."""
    part_of: int | None = None
    """The older fire that it has grown together with."""


class CivilianState(NamedTuple):
    """A civilian."""

    at: Cell | None
    """None: nobody knows."""
    state: CivilianStatus
    cluster: int
    was: Cell | None = None
    """Where it was seen last, if it is there no longer."""


@dataclass(frozen=True)
class SymbolicState:
    """A moment, or as much of it as somebody knows."""

    agents: Mapping[AgentId, AgentState] = field(default_factory=dict)
    targets: Mapping[int, TargetCell] = field(default_factory=dict)
    zone: Cell | None = None
    """Where to bring firefighters or civilians."""
    water: Mapping[int, Cell] = field(default_factory=dict)
    fires: Mapping[int, FireState] = field(default_factory=dict)
    people: Mapping[int, CivilianState] = field(default_factory=dict)
    clusters: Mapping[int, Cell] = field(default_factory=dict)
    """Announced places of clusters of civilians."""
    sectors: Mapping[int, Cell] = field(default_factory=dict)
    """The middle of each sector, where something has to be looked for."""
    unseen: Mapping[int, int] = field(default_factory=dict)
    """Per cent of a sector that nobody has seen; without those seen whole."""
    ahead: Mapping[int, Cell] = field(default_factory=dict)
    """Where the search of a sector goes on whose middle was seen: an unseen cell, the nearest to where it was."""
    searchers: Mapping[int, AgentId] = field(default_factory=dict)
    """By sector, who was to search it and has come nearer to it in the last step."""
    ground: SeenMap | None = field(default=None, compare=False, repr=False)
    cutting: Mapping[AgentId, Cell] = field(default_factory=dict, compare=False, repr=False)
    """Who was seen cutting in the last step, and from which cell on; no fact either."""
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """Results derived from it."""

    def derived(self, key: Hashable, derive: Callable[[], Result]) -> Result:
        """Return what is derived from this state, computed once for each key."""
        if key not in self.memo:
            self.memo[key] = derive()
        return cast("Result", self.memo[key])

    @cached_property
    def lines(self) -> list[Entity]:
        """The lines that are to be cut."""
        numbers = dict.fromkeys(spot.line for spot in self.targets.values())
        return [Entity("line", number) for number in numbers if number is not None]

    @cached_property
    def standing(self) -> Mapping[Cell, Sequence[AgentId]]:
        """Who is in each cell, as far as it is known, in the order of the agents."""
        standing: dict[Cell, list[AgentId]] = {}
        for name, body in self.agents.items():
            standing.setdefault(body.at, []).append(name)
        return standing

    def spots(self, entity: Entity | str) -> list[TargetCell]:
        """Return the cells to cut of a target or a line, from one end of it to the other; none of an agent."""
        if isinstance(entity, str):
            return []
        if entity.kind == "line":
            return [spot for spot in self.targets.values() if spot.line == entity.id]
        return [self.targets[entity.id]] if entity.id in self.targets else []

    def uncut(self, entity: Entity | str) -> list[Cell]:
        """Return those of the cells to cut of a target or a line that still hold trees."""
        return [spot.at for spot in self.spots(entity) if spot.trees]

    def members(self, cluster: int) -> dict[int, CivilianState]:
        """Return the civilians known of a cluster."""
        return {number: person for number, person in self.people.items() if person.cluster == cluster}

    def riders(self, helicopter: AgentId) -> list[AgentId]:
        """Return who rides a helicopter."""
        return [agent for agent, body in self.agents.items() if body.aboard == helicopter]

    def nearest_free(self, at: Cell, reach: float) -> int | None:
        """Return the free civilian nearest to a cell, nearer than ``reach``, ties by number."""
        near = [
            (dist(at, person.at), number)
            for number, person in self.people.items()
            if person.state == "free" and person.at is not None and dist(at, person.at) < reach
        ]
        return min(near)[1] if near else None

    def place(self, entity: Entity | str, at: Cell) -> Cell | None:
        """Return where a thing or agent is, the part of it nearest to ``at``; None where nobody knows."""
        if isinstance(entity, str):
            return self.agents[entity].at if entity in self.agents else None
        if entity.kind in ("target", "line"):
            return _nearest(self.uncut(entity) or [spot.at for spot in self.spots(entity)], at)
        if entity.kind == "zone":
            return self.zone
        if entity.kind == "water":
            return self.water.get(entity.id)
        if entity.kind == "sector":
            return self.ahead.get(entity.id) or self.sectors.get(entity.id)
        if entity.kind == "fire" and entity.id in self.fires:
            front = self.fires[entity.id]
            return _nearest(list(front.cells), at) or _nearest(list(front.scar), at) or front.origin
        if entity.kind == "civilian" and entity.id in self.people:
            person = self.people[entity.id]  # nobody is led to one that is carried
            return person.at if person.state == "free" else None
        if entity.kind == "cluster":
            people = self.members(entity.id).values()
            free = [person.at for person in people if person.state == "free" and person.at is not None]
            return _nearest(free, at) or (None if people else self.clusters.get(entity.id))
        return None

    def search_place(self, sector: int) -> Cell:
        """Return where the search of a sector begins or goes on."""
        return self.ahead.get(sector, self.sectors[sector])

    def in_zone(self, at: Cell) -> bool:
        """Return whether a cell counts as the zone, as far as that is known."""
        return self.zone is not None and in_zone(at, self.zone)

    @cached_property
    def burning(self) -> list[Cell]:
        """All cells that burn, by fire."""
        return [cell for front in self.fires.values() for cell in front.cells]

    def dangerous(self, at: Cell) -> bool:
        """Return whether a cell burns, smoulders or lies beside one that does, as far as is known."""
        if self.ground is not None:
            return self.ground.dangerous(at)
        return any(abs(x - at[0]) <= 1 and abs(y - at[1]) <= 1 for x, y in self.burning)

    def any_dangerous(self, xs: npt.NDArray[np.int64], ys: npt.NDArray[np.int64]) -> bool:
        """Return whether any of some cells is dangerous."""
        if self.ground is not None:
            return self.ground.any_dangerous(xs, ys)
        return any(map(self.dangerous, zip(xs.tolist(), ys.tolist(), strict=True)))

    def over_fire(self, at: Cell, fire: int) -> bool:
        """Return whether a cell is on fire, smoulders or is burnt out, as far as is known."""
        if self.ground is not None:
            return SEEN_ON_FIRE <= self.ground.code(at) <= SEEN_BURNT_OUT
        return fire in self.fires and at in (*self.fires[fire].cells, *self.fires[fire].scar)


def _nearest(cells: list[Cell], at: Cell) -> Cell | None:
    return min(cells, key=lambda cell: (dist(cell, at), cell), default=None)


@dataclass(frozen=True, kw_only=True)
class Mission:
    """The task as announced before the first step, and the rules of reach."""

    task: Task
    size: int
    kinds: Mapping[AgentId, str]
    known: bool
    """Whether the places of fire, water and civilians are announced."""
    clusters: int
    per_cluster: int
    fire_every: int
    """Ticks between fire steps."""
    careful: bool
    """Walkers go round the fire that they know of."""
    lift_reach: float
    """A civilian nearer than this can be picked up."""
    fill_reach: int
    """Water at most so many cells away, in x and in y, can be taken."""
    riders_count: bool
    """Firefighters in a helicopter above the zone count as transported."""
    has_water: bool = True
    """There is water on the map, or will be."""

    @property
    def has_people(self) -> bool:
        """Whether there are civilians."""
        return self.task in ("rescue", "both")

    @property
    def has_zone(self) -> bool:
        """Whether there is a zone to bring firefighters or civilians to."""
        return self.task in ("rescue", "transport")

    @property
    def burns(self) -> bool:
        """Whether there is a fire."""
        return self.task in ("scout", "contain", "both")

    @property
    def fights(self) -> bool:
        """Whether a fire is to be fought."""
        return self.task in ("contain", "both")

    @property
    def cuts(self) -> bool:
        """Whether it is of use to cut trees."""
        return self.fights or self.task.startswith("cut")

    @property
    def pours(self) -> bool:
        """Whether there is water, a fire to pour it on, and an agent who can carry it."""
        return self.has_water and self.fights and bool(self.of_team("firefighter", "helicopter"))

    @cached_property
    def tiles(self) -> int:
        """Sectors on a side of the map."""
        return min(MOST_SECTORS, ceil(self.size / SECTOR_SIDE))

    def agents(self, *kinds: str) -> list[AgentId]:
        """Return the agents of some kinds."""
        if kinds not in self._by_kinds:
            self._by_kinds[kinds] = [agent for agent, kind in self.kinds.items() if kind in kinds]
        return list(self._by_kinds[kinds])

    @cached_property
    def _by_kinds(self) -> dict[tuple[str, ...], list[AgentId]]:
        """The agents of the kinds that were asked for."""
        return {}

    def present(self, state: SymbolicState, kind: str) -> list[AgentId]:
        """Return the agents of a kind that are known of."""
        return [agent for agent in state.agents if self.kinds[agent] == kind]

    def of_team(self, *kinds: str) -> tuple[str, ...]:
        """Return those of some kinds that the team has."""
        return tuple(kind for kind in self._kinds if kind in kinds)

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        """The kinds of agents that the team has."""
        present = set(self.kinds.values())
        return tuple(kind for kind in KINDS if kind in present)

    @cached_property
    def sectors(self) -> tuple[tuple[int, int, int, int], ...]:
        """x0, x1, y0, y1 of each sector of the map, row by row, the ends beyond it."""
        edge = [self.size * k // self.tiles for k in range(self.tiles + 1)]
        sides = list(pairwise(edge))
        return tuple((*across, *down) for down in sides for across in sides)

    @cached_property
    def middles(self) -> Mapping[int, Cell]:
        """The middle of each sector."""
        return {n: ((x0 + x1) // 2, (y0 + y1) // 2) for n, (x0, x1, y0, y1) in enumerate(self.sectors)}

    def cells_in(self, sector: int) -> int:
        """Return the number of cells of a sector."""
        x0, x1, y0, y1 = self.sectors[sector]
        return (x1 - x0) * (y1 - y0)

    @cached_property
    def by_middle(self) -> Mapping[Cell, int]:
        """The sector that each middle names."""
        return {middle: number for number, middle in self.middles.items()}

    def inside(self, cell: Cell) -> Cell:
        """Return the cell of the map nearest to a cell."""
        return min(max(cell[0], 0), self.size - 1), min(max(cell[1], 0), self.size - 1)


def facts_of(state: SymbolicState) -> Iterator[Fact]:
    """Yield the facts that hold in a state."""
    for agent, body in state.agents.items():
        yield Fact(agent, "AT", body.at)
        if body.trees is not None:
            yield Fact(agent, "TREES", body.trees)
        if body.water:
            yield Fact(agent, "WATER", body.water)
        if body.holds is not None:
            yield Fact(agent, "HOLD", Entity("civilian", body.holds))
        if body.aboard is not None:
            yield Fact(agent, "ABOARD", body.aboard)
    for number, spot in state.targets.items():
        yield Fact(Entity("target", number), "AT", spot.at)
        yield Fact(Entity("target", number), "TREES", spot.trees)
        if spot.line is not None:
            yield Fact(Entity("target", number), "IN", Entity("line", spot.line))
    if state.zone is not None:
        yield Fact(Entity("zone", 0), "AT", state.zone)
    for kind, cells in (("water", state.water), ("cluster", state.clusters), ("sector", state.sectors)):
        for number, cell in cells.items():
            yield Fact(Entity(kind, number), "AT", cell)
    for number, front in state.fires.items():
        if front.origin is not None:
            yield Fact(Entity("fire", number), "AT", front.origin)
        yield Fact(Entity("fire", number), "STATE", "out" if front.out else "burning")
        if front.part_of is not None:
            yield Fact(Entity("fire", number), "IN", Entity("fire", front.part_of))
        yield from (Fact(Entity("fire", number), "BURNS", cell) for cell in front.cells)
        yield from (Fact(Entity("fire", number), "BURNT", cell) for cell in front.scar)
    for number, person in state.people.items():
        yield Fact(Entity("civilian", number), "IN", Entity("cluster", person.cluster))
        if person.at is not None:
            yield Fact(Entity("civilian", number), "AT", person.at)
        elif person.was is not None:
            yield Fact(Entity("civilian", number), "WAS", person.was)
        yield Fact(Entity("civilian", number), "STATE", person.state)
    for number, percent in state.unseen.items():
        yield Fact(Entity("sector", number), "UNSEEN", percent)
    for number, cell in state.ahead.items():
        yield Fact(Entity("sector", number), "UNSEEN", cell)
    for number, agent in state.searchers.items():
        yield Fact(Entity("sector", number), "FOR", agent)


def state_of(facts: Facts) -> SymbolicState:
    """Return the state that facts describe; computed once for each collection.

    Raises:
        ImpossibleFacts: A number of trees or of water is not whole.
    """
    return facts.derive(_read)


def expected_facts(state: SymbolicState) -> Facts:
    """Return the facts of a state, made when first read."""
    return Facts.later(lambda: facts_of(state), _read, state)


def without_agents(facts: Facts, kept: frozenset[AgentId]) -> Facts:
    """Return what is known without the agents that are not kept; what was seen of the ground stays."""
    state = state_of(facts)
    narrow = replace(
        state,
        agents={agent: body for agent, body in state.agents.items() if agent in kept},
        cutting={agent: cell for agent, cell in state.cutting.items() if agent in kept},
        memo={},
    )
    return expected_facts(narrow)


def _read(facts: Facts) -> SymbolicState:
    values: dict[tuple[str, str], dict[Any, Any]] = defaultdict(dict)
    """The first value by kind and predicate, then by number."""
    agents: dict[str, dict[str, object]] = defaultdict(dict)
    burns: dict[str, dict[int, list[Cell]]] = {"BURNS": defaultdict(list), "BURNT": defaultdict(list)}
    unseen, ahead = dict[int, int](), dict[int, Cell]()
    for fact in facts:
        subject, predicate, value = fact.subject, fact.predicate, fact.value
        if not _is_on_map(value):
            continue
        if isinstance(subject, str):
            agents[subject].setdefault(predicate, value)
        elif predicate in burns and isinstance(value, tuple):
            burns[predicate][subject.id].append(value)
        elif predicate == "UNSEEN":
            if isinstance(value, tuple):
                ahead.setdefault(subject.id, value)
            elif isinstance(value, int):
                unseen.setdefault(subject.id, value)
        else:
            values[subject.kind, predicate].setdefault(subject.id, value)

    def cells(kind: str, predicate: str = "AT") -> dict[int, Cell]:
        return {number: cell for number, cell in values[kind, predicate].items() if isinstance(cell, tuple)}

    def numbers(kind: str) -> dict[int, int]:
        return {number: thing.id for number, thing in values[kind, "IN"].items() if isinstance(thing, Entity)}

    trees, lines = values["target", "TREES"], numbers("target")
    status, origins, roots = values["fire", "STATE"], cells("fire"), numbers("fire")
    places, was, kept, clusters = (
        cells("civilian"),
        cells("civilian", "WAS"),
        values["civilian", "STATE"],
        numbers("civilian"),
    )
    return SymbolicState(
        agents={agent: _agent_state(parts) for agent, parts in agents.items() if "AT" in parts},
        targets={
            number: TargetCell(cell, _whole(trees.get(number, 3)), lines.get(number))
            for number, cell in cells("target").items()
        },
        zone=cells("zone").get(0),
        water=cells("water"),
        fires={
            number: FireState(
                tuple(burns["BURNS"].get(number, ())),
                origins.get(number),
                status.get(number) == "out",
                tuple(burns["BURNT"].get(number, ())),
                roots.get(number),
            )
            for number in sorted({*status, *values["fire", "AT"], *burns["BURNS"], *burns["BURNT"]})
        },
        people={
            number: CivilianState(
                places.get(number),
                kept.get(number, "free" if number in values["civilian", "AT"] else "held"),
                clusters.get(number, 0),
                was.get(number),
            )
            for number in sorted(values["civilian", "IN"])
        },
        clusters=cells("cluster"),
        sectors=cells("sector"),
        unseen=unseen,
        ahead=ahead,
        searchers={number: agent for number, agent in values["sector", "FOR"].items() if isinstance(agent, str)},
    )


def _is_on_map(value: object) -> bool:
    """Return whether a value could be on some map: whoever told a fact may have made it up, and rules go by places."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(0 <= part < MAX_SIZE for part in parts if isinstance(part, int))


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise ImpossibleFacts(f"trees and water are counted in whole numbers, got {value}")
    return value


def _agent_state(parts: Mapping[str, object]) -> AgentState:
    at, holds, trees, aboard = parts["AT"], parts.get("HOLD"), parts.get("TREES"), parts.get("ABOARD")
    return AgentState(
        at if isinstance(at, tuple) else (0, 0),
        _whole(parts.get("WATER", 0)),
        holds.id if isinstance(holds, Entity) else None,
        None if aboard is None else str(aboard),
        None if trees is None else _whole(trees),
    )


def in_zone(at: Cell, zone: Cell) -> bool:
    """Return whether a cell counts as the zone: at most three cells away in x and in y."""
    return zone_cell(at, zone) == at


def zone_cell(at: Cell, zone: Cell) -> Cell:
    """Return the cell of the zone nearest to a cell."""
    return min(max(at[0], zone[0] - 3), zone[0] + 3), min(max(at[1], zone[1] - 3), zone[1] + 3)


#: Cells that a spray reaches, a drop from a helicopter, and within which a helicopter takes people aboard.
SPRAY_REACH, DROP_REACH, BOARDING_REACH = 3.0, 4.5, 3.0

#: Cells a timestep by kind, a firefighter's by trees of the cell.
PACE: Final = {"firefighter": 12.0, "bulldozer": 8.0, "drone": 20.0, "helicopter": 30.0}
ON_FOOT: Final = (12.0, 9.6, 7.2, 4.8)
CLEARING = 4.0
#: Trees of a cell that nobody has seen, and a firefighter's pace over such cells in cells a step. Of 12 maps each of
#: seven levels 4 to 17 % of the cells are bare, and a cell has 1.42 to 1.81 trees. Of 180 walks on three levels, 10
#: maps each, steps were foretold best at this pace, to 0.37 of 3.9 on average, as a step begun counts whole.
USUAL_TREES, USUAL_PACE = 1.6, 8.5
WALKERS = ("firefighter", "bulldozer")


def number_of(count: float, thing: str) -> str:
    """Return a number with its noun: ``1 step``, ``2 steps``."""
    return f"{count:g} {thing}" if count == 1 else f"{count:g} {thing}s"
