"""Moments as facts and facts as moments; what an agent perceives and what it remembers.

Facts tell only of what the task is about: rooms, containers that are searched, things and furniture of the classes that
the goal names, and agents. Places are whole centimetres.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.household import sight, sightlines
from teamworld.worlds.household.homes.home import NAMES, SEARCHED, Episode, NodeId, close
from teamworld.worlds.household.state import State, body

#: Names of agents, in the order of their numbers.
TEAM: Final = NAMES[:8]
#: Directions into which an agent turns to see all of a room in visual mode.
HEADINGS: Final = 12
#: How many things can be near an agent at most, as far as readers of texts need to know.
MANY: Final = 100
#: Degrees within which whole centimetres do not tell whether something is ahead.
UNSURE: Final = 2.0

Place = tuple[str, Entity]
"""``IN`` a room, ``INSIDE`` a container, or ``ON`` something, and that."""


class Names:
    """Entities and agents by number, and back.

    Args:
        episode: The task.
        team: The agents.
    """

    def __init__(self, episode: Episode, team: Sequence[AgentId]) -> None:
        self.episode, self.team = episode, tuple(team)
        nodes = episode.home.nodes
        self.rooms: Mapping[Entity, Cell] = {
            Entity(nodes[room].name, room): _cell(nodes[room].box.x, nodes[room].box.z) for room in episode.home.rooms
        }
        self.doors: tuple[tuple[Entity, Entity, Cell], ...] = tuple(
            (self.room(door.rooms[0]), self.room(door.rooms[1]), _cell(door.x, door.z)) for door in episode.home.doors
        )
        """Which rooms adjoin, and where the door between them is."""
        wanted = {*SEARCHED, *(need.name for need in episode.needs)}
        wanted |= {nodes[need.target].name for need in episode.needs}
        self.watched: Mapping[NodeId, Entity] = {
            node.id: Entity(node.name, node.id) for node in nodes.values() if node.name in wanted
        }
        self.containers = frozenset(
            entity for number, entity in self.watched.items() if nodes[number].opens and not nodes[number].grabbable
        )
        self.things = frozenset(entity for number, entity in self.watched.items() if nodes[number].grabbable)

    def number(self, agent: AgentId) -> NodeId:
        """Return the number of an agent, from 1."""
        return self.team.index(agent) + 1

    def name(self, number: NodeId) -> AgentId:
        """Return the name of an agent."""
        return self.team[number - 1]

    def room(self, number: NodeId) -> Entity:
        """Return a room."""
        return Entity(self.episode.home.nodes[number].name, number)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What facts can state."""
        rooms = tuple(dict.fromkeys(room.kind for room in self.rooms))
        nodes, needs = self.episode.home.nodes, self.episode.needs
        targets = [nodes[need.target] for need in needs]  # what the home holds beside the goal nobody is told
        containers = tuple(sorted({*SEARCHED, *(target.name for target in targets if target.opens)}))
        fixed = tuple(sorted({*SEARCHED, *(target.name for target in targets)}))
        things = tuple(sorted({need.name for need in needs} - {*fixed}))
        put = ("put",)
        return (
            Relation("AT", "agent", rooms, role="at"),
            Relation("POSITION", "agent", ("cell",), role="position"),
            Relation("HOLD", "agent", things, max_values=2, role="held", verbs=("grab",)),
            Relation("NEAR", "agent", (*fixed, *things), max_values=MANY, role="near", verbs=("go",)),
            *(Relation("POSITION", room, ("cell",), role="position") for room in rooms),
            *(Relation("EXPLORED", room, ("part", "all"), role="search", verbs=("explore",)) for room in rooms),
            *(
                relation
                for kind in fixed
                for relation in (
                    Relation("IN", kind, rooms, role="room"),
                    Relation("POSITION", kind, ("cell",), role="position"),
                )
            ),
            *(
                Relation("STATE", kind, ("open", "closed"), role="access", verbs=("open", "close", "check"))
                for kind in containers
            ),
            *(Relation("IN", kind, rooms, role="room") for kind in things),
            *(Relation("INSIDE", kind, containers, role="container", verbs=put) for kind in things),
            *(Relation("ON", kind, fixed, role="surface", verbs=put) for kind in things),
            *(Relation("POSITION", kind, ("cell",), role="position") for kind in things),
        )


@dataclass(frozen=True, eq=False)
class Known:
    """What somebody knows, perceives, or imagines: the content of facts in a form that rules can work with."""

    rooms: Mapping[Entity, Cell]
    """The middle of each room."""
    explored: Mapping[Entity, str]
    """``all`` or ``part`` of it."""
    at: Mapping[AgentId, Entity]
    points: Mapping[Entity | AgentId, Cell]
    hands: Mapping[AgentId, tuple[Entity, ...]]
    places: Mapping[Entity, Place]
    room: Mapping[Entity, Entity]
    """The rooms of furniture, and of things that lie in the open."""
    opened: Mapping[Entity, bool]
    """Containers, and whether they stand open."""
    near: Mapping[AgentId, frozenset[Entity]] = field(default_factory=dict)
    """What is CLOSE to an agent."""
    last: Mapping[Entity | AgentId, int] = field(default_factory=dict)
    """Of whom or what is out of sight: the step of last sight."""

    def holder(self, thing: Entity) -> AgentId | None:
        """Return who holds a thing, as far as is known."""
        return next((agent for agent, held in self.hands.items() if thing in held), None)

    def room_of(self, entity: Entity) -> Entity | None:
        """Return the room that a node is in, as far as is known."""
        if entity in self.rooms:
            return entity
        place = self.places.get(entity)
        if place is not None and place[0] == "INSIDE":
            return self.room.get(place[1])
        return self.room.get(entity)


# Facts.


def facts_of(known: Known, *, present: bool = True, past: bool = True) -> Iterator[Fact]:
    """Yield the facts of what is known: of what is perceived now, of what is remembered, or both."""
    last = known.last
    for agent, held in known.hands.items():
        if past if agent in last else present:
            if agent in known.at:
                yield Fact(agent, "AT", known.at[agent])
            if agent in known.points:
                yield Fact(agent, "POSITION", known.points[agent])
            yield from (Fact(agent, "HOLD", thing) for thing in held)
            yield from (Fact(agent, "NEAR", thing) for thing in sorted(known.near.get(agent, ()), key=attrgetter("id")))
    if present:
        for room, middle in known.rooms.items():
            yield Fact(room, "POSITION", middle)
    for room, how in known.explored.items():
        if past if room in last else present:
            yield Fact(room, "EXPLORED", how)
    for entity in known.points:
        if isinstance(entity, Entity) and entity not in known.rooms and (past if entity in last else present):
            place, within = known.places.get(entity), known.room.get(entity)
            yield from _facts(entity, place, within, known.points[entity], known.opened.get(entity))


@lru_cache(maxsize=65_536)
def _facts(
    entity: Entity, place: Place | None, room: Entity | None, point: Cell, opened: bool | None
) -> tuple[Fact, ...]:
    facts = []
    if place is not None and place[0] == "INSIDE":
        facts.append(Fact(entity, "INSIDE", place[1]))
    elif room is not None:
        facts.append(Fact(entity, "IN", room))
    if place is not None and place[0] == "ON":
        facts.append(Fact(entity, "ON", place[1]))
    if opened is not None:
        facts.append(Fact(entity, "STATE", "open" if opened else "closed"))
    facts.append(Fact(entity, "POSITION", point))
    return tuple(facts)


def believed(facts: Facts) -> Known:
    """Return what facts tell of; computed once for each collection. What cannot be is passed over."""
    return facts.derive(_read)


def _read(facts: Facts) -> Known:
    rooms: dict[Entity, Cell] = {}
    explored: dict[Entity, str] = {}
    at: dict[AgentId, Entity] = {}
    points: dict[Entity | AgentId, Cell] = {}
    hands: dict[AgentId, tuple[Entity, ...]] = {}
    places: dict[Entity, Place] = {}
    room: dict[Entity, Entity] = {}
    opened: dict[Entity, bool] = {}
    near: dict[AgentId, frozenset[Entity]] = {}
    for subject, predicate, value in ((fact.subject, fact.predicate, fact.value) for fact in facts):
        if isinstance(subject, str):
            hands.setdefault(subject, ())
        if predicate == "POSITION" and isinstance(value, tuple):
            points[subject] = value
        elif isinstance(subject, Entity):
            if predicate == "EXPLORED" and isinstance(value, str):
                explored[subject] = value
            elif predicate == "STATE" and value in ("open", "closed"):
                opened[subject] = value == "open"
            elif predicate == "IN" and isinstance(value, Entity):
                room[subject] = value
                places.setdefault(subject, ("IN", value))
            elif predicate in ("INSIDE", "ON") and isinstance(value, Entity):
                places[subject] = (predicate, value)
        elif isinstance(value, Entity):
            if predicate == "AT":
                at[subject] = value
            elif predicate == "HOLD":
                hands[subject] = (*hands[subject], value)
            elif predicate == "NEAR":
                near[subject] = near.get(subject, frozenset()) | {value}
    placed = {*places, *room, *opened}
    rooms = {holder: middle for holder, middle in points.items() if isinstance(holder, Entity) and holder not in placed}
    held = {thing for things in hands.values() for thing in things}
    rooms = {holder: middle for holder, middle in rooms.items() if holder not in held}
    last = {fact.subject: tick for fact, tick in facts.seen.items()}
    for entity in placed:  # what was told without a position is somewhere in its room
        if entity not in points:
            where = places.get(entity, ("IN", entity))[1]
            middle = points.get(where) or rooms.get(room.get(where, where)) or rooms.get(room.get(entity, where))
            points[entity] = middle or (0, 0)
    return Known(rooms, explored, at, points, hands, places, room, opened, near, last)


# Perceiving and remembering.


class Seen(NamedTuple):
    """A node as it was seen last."""

    entity: Entity
    place: Place
    room: Entity
    point: Cell
    opened: bool | None
    """None for what is no container."""


class Met(NamedTuple):
    """An agent as it was seen last."""

    room: Entity | None
    """None where it was not there any more."""
    point: Cell
    """Where it was seen last."""
    held: tuple[Entity, ...]
    t: int


@dataclass
class SightMemory:
    """What one agent has seen, and when: it stays until it is seen otherwise, or is not where it should be seen."""

    names: Names
    agent: AgentId
    t: int = 0
    visible: frozenset[NodeId] = frozenset()
    """What it sees, of what the task is about."""
    records: dict[NodeId, Seen] = field(default_factory=dict)
    last: dict[NodeId, int] = field(default_factory=dict)
    """When it saw what is out of its sight."""
    met: dict[AgentId, Met] = field(default_factory=dict)
    turned: dict[NodeId, frozenset[int]] = field(default_factory=dict)
    """The directions into which it has looked in each room."""
    left: dict[NodeId, int] = field(default_factory=dict)
    """When it was last in each room that it has left."""
    _view: frozenset[NodeId] = frozenset()

    def look(self, state: State, t: int) -> None:
        """Take in what the agent perceives at step ``t``."""
        number = self.names.number(self.agent)
        view, here = sight.view(state, number), state.rooms[number]
        self.left |= dict.fromkeys(self.turned.keys() - self.left.keys() - {here}, t - 1)
        self.left.pop(here, None)
        self.turned[here] = self.turned.get(here, frozenset()) | {int(state.headings[number] * HEADINGS / 360)}
        if view is not self._view:  # where nothing changes the same set is seen again
            watched = self.names.watched
            visible = frozenset(node for node in view if node in watched and node not in state.holder)
            for node in self.visible - visible:
                self.last[node] = t - 1
            for node in visible:
                self.last.pop(node, None)
                self.records[node] = _seen(self.names, state, node)
            self.visible, self._view = visible, view
            for node in [node for node in self.records if node not in visible and self._amiss(state, number, node)]:
                del self.records[node]
                self.last.pop(node, None)
        self._meet(state, number, view, t)
        self.t = t

    def _amiss(self, state: State, number: NodeId, node: NodeId) -> bool:
        """Whether a node that the agent does not see would be seen if it were where it was; or is in seen hands."""
        seen = self.records[node]
        if node in state.holder and state.holder[node] in self._view:
            return True
        if seen.room.id != state.rooms[number] or self.shut(node):
            return False
        if state.rules.sight == "room":
            return True
        at, (x, z) = state.points[number], seen.point
        to = sight.heading(at, x / 100, z / 100)
        apart = 0.0 if to is None else abs(to - state.headings[number]) % 360
        if min(apart, 360 - apart) > sightlines.HALF_VIEW - UNSURE:
            return False
        box = self.names.episode.home.nodes[node].box._replace(x=x / 100, z=z / 100)
        within = seen.place[0] == "INSIDE" and state.close(number, seen.place[1].id)
        return not state.rules.occlusion or within or close(body(at), box)  # what is CLOSE nothing hides

    def shut_in(self, state: State, node: NodeId) -> None:
        """Note what the agent itself has put into something closed, where it does not see it."""
        if node in self.names.watched and node not in self.visible:
            self.records[node], self.last[node] = _seen(self.names, state, node), self.t - 1

    def shut(self, node: NodeId) -> bool:
        """Whether a node lies in something closed, as far as the agent knows."""
        seen = self.records.get(node)
        container = None if seen is None or seen.place[0] != "INSIDE" else self.records.get(seen.place[1].id)
        return container is not None and not container.opened

    def _meet(self, state: State, number: NodeId, view: frozenset[NodeId], t: int) -> None:
        here = self.names.room(state.rooms[number])
        shown = {*self.visible, *(thing for thing, holder in state.holder.items() if holder in view)}
        for other in state.points:
            name = self.names.name(other)
            if other in view:
                self.met[name] = _met(self.names, state, other, t)
            elif name in self.met:
                met = self.met[name]
                if met.room == here and state.rules.sight == "room":
                    met = met._replace(room=None)  # where it was seen last stays known
                kept = tuple(thing for thing in met.held if thing.id not in shown)
                self.met[name] = met._replace(held=kept)

    def known(self, state: State) -> Known:
        """Return what the agent knows now, in a form that does not change any more."""
        names, number = self.names, self.names.number(self.agent)
        met = {agent: self.met[agent] for agent in names.team if agent in self.met}
        every = state.rules.sight == "room"
        explored = {
            names.room(room): "all" if every or len(turned) >= HEADINGS else "part"
            for room, turned in sorted(self.turned.items())
        }
        last: dict[Entity | AgentId, int] = {names.watched[node]: t for node, t in self.last.items()}
        last |= {name: sighting.t for name, sighting in met.items() if sighting.t < self.t}
        last |= {names.room(room): t for room, t in sorted(self.left.items())}
        records = [self.records[node] for node in sorted(self.records)]
        return _known(names, explored, met, records, {self.agent: near(names, state, number, self.visible)}, last)

    def perception(self, state: State) -> Perception:
        """Return what is perceived now, what was perceived before, and both."""
        known = self.known(state)
        past = tuple(facts_of(known, present=False)) if known.last else ()
        ticks = {fact: known.last[fact.subject] for fact in past}
        present = Facts(facts_of(known, past=False))  # generators: facts are made when somebody reads one
        return Perception(present, Facts(past, ticks), Facts(facts_of(known), ticks))


def near(names: Names, state: State, number: NodeId, nodes: frozenset[NodeId]) -> frozenset[Entity]:
    """Return which of some nodes are CLOSE to an agent."""
    return frozenset(names.watched[node] for node in nodes if state.close(number, node))


def truth(names: Names, state: State, explored: Mapping[Entity, str]) -> Known:
    """Return all that is true now; what ``explored`` says is what somebody has explored."""
    every = frozenset(names.watched)
    return _known(
        names,
        explored,
        {names.name(agent): _met(names, state, agent) for agent in state.points},
        [_seen(names, state, node) for node in names.watched if node not in state.holder],
        {names.name(agent): near(names, state, agent, every) for agent in state.points},
        {},
    )


def _known(
    names: Names,
    explored: Mapping[Entity, str],
    met: Mapping[AgentId, Met],
    records: Sequence[Seen],
    near: Mapping[AgentId, frozenset[Entity]],
    last: Mapping[Entity | AgentId, int],
) -> Known:
    points: dict[Entity | AgentId, Cell] = {name: sighting.point for name, sighting in met.items()}
    return Known(
        rooms=names.rooms,
        explored=explored,
        at={name: sighting.room for name, sighting in met.items() if sighting.room is not None},
        points=points | {seen.entity: seen.point for seen in records},
        hands={name: sighting.held for name, sighting in met.items()},
        places={seen.entity: seen.place for seen in records},
        room={seen.entity: seen.room for seen in records if seen.place[0] != "INSIDE"},
        opened={seen.entity: seen.opened for seen in records if seen.opened is not None},
        near=near,
        last=last,
    )


def _met(names: Names, state: State, number: NodeId, t: int = 0) -> Met:
    """Return an agent as it is."""
    held = tuple(names.watched[thing] for thing in state.hands[number].things if thing in names.watched)
    return Met(names.room(state.rooms[number]), _cell(*state.points[number]), held, t)


def _seen(names: Names, state: State, node: NodeId) -> Seen:
    """Return a node as it is; of what lies on things in a container only the container counts."""
    entity, room, box = names.watched[node], names.room(state.room(node)), state.box(node)
    place: Place = ("IN", room)
    at, first = state.place(node), True
    while at is not None and at[1] not in state.home.rooms:
        holder = names.watched.get(at[1])
        if at[0] == "INSIDE" and holder in names.containers:
            place = ("INSIDE", holder)
            break
        if first and holder is not None and at[0] == "ON":
            place = ("ON", holder)
        at, first = state.place(at[1]), False
    opened = node in state.opened if entity in names.containers else None
    return Seen(entity, place, room, _cell(box.x, box.z), opened)


def _cell(x: float, z: float) -> Cell:
    """Return a place in whole centimetres."""
    return round(x * 100), round(z * 100)
