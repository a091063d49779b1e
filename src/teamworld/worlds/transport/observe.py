"""Moments as facts and facts as moments; what an agent perceives and what it remembers.

Facts tell of what the task is about: rooms, the bed, targets and containers of the task, agents. Places are whole
centimetres, x east and z north. Things of the other task only stand in the way and are in no fact.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.transport.physics import BED_RANGE
from teamworld.worlds.transport.scene import CONTAINERS, TARGETS, Instance, Room
from teamworld.worlds.transport.sight import NEVER, PART, WHOLE, Moment
from teamworld.worlds.transport.state import HANDS, NOBODY, NOTHING, Ground

#: The bed: there is one in every house.
BED: Final = Entity("bed", 0)
#: Kinds of rooms, as facts name them.
ROOM_KINDS: Final = ("kitchen", "livingroom", "bedroom", "office")
EXPLORED: Final = {PART: "part", WHOLE: "all"}
#: Shares of rooms are told in steps of so many per cent.
SHARE_STEP: Final = 10


class Names:
    """Entities and agents by number, and back.

    Args:
        instance: The instance.
        team: The agents.
    """

    def __init__(self, instance: Instance, team: Sequence[AgentId]) -> None:
        self.instance, self.team = instance, tuple(team)
        named = [room for room in instance.plan.rooms if room.is_named]
        self.room_numbers: Mapping[Entity, int] = {_room(room): room.number for room in named}
        self.room_of_number: Mapping[int, Entity] = {number: room for room, number in self.room_numbers.items()}
        self.rooms: Mapping[Entity, Cell] = {_room(room): _cell(*room.box.center) for room in named}
        self.bedrooms = tuple(room for room in self.rooms if room.kind == "bedroom")
        self.bed = BED
        items = list(enumerate(instance.items))
        self.things: Mapping[int, Entity] = {
            number: Entity(item.name, item.id) for number, item in items if item.kind != "unrelated"
        }
        self.item_numbers: Mapping[Entity, int] = {thing: number for number, thing in self.things.items()}
        self.targets = frozenset(self.things[number] for number, item in items if item.kind == "target")
        self.containers = frozenset(self.things[number] for number, item in items if item.kind == "container")
        self.target_numbers = [self.item_numbers[thing] for thing in self.things.values() if thing in self.targets]
        self.container_numbers = [
            self.item_numbers[thing] for thing in self.things.values() if thing in self.containers
        ]
        self.thing_numbers = list(self.things)
        self.container_kinds = CONTAINERS[instance.task]
        self.agent_numbers: Mapping[AgentId, int] = {agent: number for number, agent in enumerate(self.team)}

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What facts can state."""
        targets, containers = TARGETS[self.instance.task], self.container_kinds
        things, rooms = (*targets, *containers), ROOM_KINDS
        return (
            Relation("AT", "agent", rooms, role="at"),
            Relation("POSITION", "agent", ("cell",), role="position"),
            Relation("HOLD", "agent", things, max_values=HANDS, role="held", verbs=("fetch",)),
            *(Relation("POSITION", room, ("cell",), role="position") for room in rooms),
            *(Relation("EXPLORED", room, ("part", "all"), role="search", verbs=("explore",)) for room in rooms),
            *(Relation("SEEN", room, ("number",), role="map") for room in rooms),
            Relation("IN", "bed", rooms, role="room"),
            Relation("POSITION", "bed", ("cell",), role="position"),
            *(Relation("IN", kind, rooms, role="room") for kind in things),
            *(Relation("INSIDE", kind, containers, role="container", verbs=("put",)) for kind in targets),
            *(Relation("ON", kind, ("bed",), role="surface", verbs=("deliver",)) for kind in things),
            *(Relation("POSITION", kind, ("cell",), role="position") for kind in things),
        )


def _room(room: Room) -> Entity:
    return Entity(room.kind.lower(), room.id)


def _cell(x: float, z: float) -> Cell:
    """Return a place in whole centimetres."""
    return round(x * 100), round(z * 100)


@dataclass(frozen=True, eq=False)
class Known:
    """What somebody knows, perceives or imagines: the content of facts in a form that rules can work with."""

    rooms: Mapping[Entity, Cell]
    """The middle of each room; everybody knows them."""
    explored: Mapping[Entity, str] = dataclasses.field(default_factory=dict)
    """``part`` or ``all`` of it."""
    shares: Mapping[Entity, int] = dataclasses.field(default_factory=dict)
    """How much of it was seen, per cent in steps of 10."""
    at: Mapping[AgentId, Entity] = dataclasses.field(default_factory=dict)
    points: Mapping[Entity | AgentId, Cell] = dataclasses.field(default_factory=dict)
    """Of agents, of the bed, of what lies somewhere."""
    hands: Mapping[AgentId, tuple[Entity, ...]] = dataclasses.field(default_factory=dict)
    inside: Mapping[Entity, Entity] = dataclasses.field(default_factory=dict)
    """The container that a target is in."""
    room: Mapping[Entity, Entity] = dataclasses.field(default_factory=dict)
    """The rooms of the bed and of what lies somewhere."""
    delivered: frozenset[Entity] = frozenset()
    """What lies by the bed, in a container or not."""
    last: Mapping[Entity | AgentId, int] = dataclasses.field(default_factory=dict)
    """Of whom or what is out of sight: the frame of last sight."""

    def holder(self, thing: Entity) -> AgentId | None:
        """Return who holds a thing, in a container or not, as far as is known."""
        outer = self.inside.get(thing, thing)
        return next((agent for agent, held in self.hands.items() if outer in held), None)

    def contents(self, container: Entity) -> tuple[Entity, ...]:
        """Return what is known to be in a container."""
        return tuple(thing for thing, outer in self.inside.items() if outer == container)

    def load(self, agent: AgentId) -> tuple[Entity, ...]:
        """Return what an agent carries, with what is in the containers that it holds."""
        held = self.hands.get(agent, ())
        return (*held, *(thing for thing, outer in self.inside.items() if outer in held))


# Facts.


def facts_of(known: Known, *, present: bool = True, past: bool = True) -> Iterator[Fact]:
    """Yield the facts of what is known: of what is perceived now, of what is remembered, or both."""
    last = known.last
    for agent in {**known.at, **known.hands}:
        if past if agent in last else present:
            if agent in known.at:
                yield Fact(agent, "AT", known.at[agent])
            if agent in known.points:
                yield Fact(agent, "POSITION", known.points[agent])
            yield from (Fact(agent, "HOLD", thing) for thing in known.hands.get(agent, ()))
    if present:
        yield from (Fact(room, "POSITION", middle) for room, middle in known.rooms.items())
    for room in known.rooms:
        if past if room in last else present:
            if room in known.explored:
                yield Fact(room, "EXPLORED", known.explored[room])
            if known.shares.get(room):
                yield Fact(room, "SEEN", known.shares[room])
    for entity in {**known.room, **known.inside}:
        if past if entity in last else present:
            yield from _facts(
                entity, known.inside.get(entity), known.room.get(entity), known.points.get(entity),
                entity in known.delivered,
            )  # fmt: skip


@lru_cache(maxsize=65_536)
def _facts(
    entity: Entity, container: Entity | None, room: Entity | None, point: Cell | None, is_delivered: bool
) -> tuple[Fact, ...]:
    facts = []
    if container is not None:
        facts.append(Fact(entity, "INSIDE", container))
    elif room is not None:
        facts.append(Fact(entity, "IN", room))
    if is_delivered:
        facts.append(Fact(entity, "ON", BED))
    if point is not None and container is None:
        facts.append(Fact(entity, "POSITION", point))
    return tuple(facts)


def believed(facts: Facts) -> Known:
    """Return what facts tell of; computed once for each collection. What cannot be is passed over."""
    return facts.derive(_read)


def _read(facts: Facts) -> Known:
    rooms, points = dict[Entity, Cell](), dict[Entity | AgentId, Cell]()
    explored, shares = dict[Entity, str](), dict[Entity, int]()
    at, hands = dict[AgentId, Entity](), dict[AgentId, tuple[Entity, ...]]()
    inside, room = dict[Entity, Entity](), dict[Entity, Entity]()
    delivered = set[Entity]()
    for subject, predicate, value in ((fact.subject, fact.predicate, fact.value) for fact in facts):
        if isinstance(subject, str):
            hands.setdefault(subject, ())
            if predicate == "AT" and isinstance(value, Entity):
                at[subject] = value
            elif predicate == "HOLD" and isinstance(value, Entity):
                hands[subject] = (*hands[subject], value)
            elif predicate == "POSITION" and isinstance(value, tuple):
                points[subject] = value
        elif predicate == "POSITION" and isinstance(value, tuple):
            (rooms if subject.kind in ROOM_KINDS else points)[subject] = value
        elif predicate == "EXPLORED" and isinstance(value, str):
            explored[subject] = value
        elif predicate == "SEEN" and isinstance(value, int):
            shares[subject] = value
        elif predicate == "INSIDE" and isinstance(value, Entity):
            inside[subject] = value
        elif predicate == "IN" and isinstance(value, Entity):
            room[subject] = value
        elif predicate == "ON":
            delivered.add(subject)
    if (bed := points.get(BED)) is not None:  # who saw a thing there need not have seen the bed, but somebody has
        delivered |= {
            thing
            for thing, within in room.items()
            if within == room.get(BED) and thing in points and math.dist(points[thing], bed) < 100 * BED_RANGE
        } - {BED}
        delivered |= {thing for thing, outer in inside.items() if outer in delivered}
    last = {fact.subject: tick for fact, tick in facts.seen.items()}
    for entity, within in room.items():  # what was told without a place is somewhere in its room
        if entity not in points and within in rooms:
            points[entity] = rooms[within]
    return Known(rooms, explored, shares, at, points, hands, inside, room, frozenset(delivered), last)


# What agents see and remember, as facts.


def share_of(cells: int, size: int) -> int:
    """Return the share of a room's cells, per cent, down to a step of 10."""
    return min(100, 100 * cells // max(size, 1)) // SHARE_STEP * SHARE_STEP


def known_by(names: Names, moment: Moment, agent: int) -> Known:
    """Return what an agent knows now, in a form that does not change any more."""
    ground, field, state, knowledge = moment
    own, met = knowledge.own[agent], knowledge.teammates[agent]
    frame, body = int(state.clock[0]), state.agents[agent]
    explored, shares, last = dict[Entity, str](), dict[Entity, int](), dict[Entity | AgentId, int]()
    for room, number in names.room_numbers.items():
        visit = knowledge.rooms[agent, number]
        if visit["explored"]:
            explored[room] = EXPLORED[int(visit["explored"])]
        shares[room] = share_of(int(visit["cells"]), int(field.size[number]))
        if visit["seen"] != NEVER and visit["seen"] < frame:
            last[room] = int(visit["seen"])
    draft = _Draft(names, ground, {}, {}, {})
    draft.meet(agent, int(body["room"]), float(body["x"]), float(body["z"]), state.hands[agent])
    for other, name in enumerate(names.team):
        seen = int(met["seen"][other])
        if other != agent and seen != NEVER:
            x, z = float(met["x"][other]), float(met["z"][other])
            draft.meet(other, int(met["room"][other]), x, z, (met["left"][other], met["right"][other]))
            if not met["visible"][other]:
                last[name] = seen
    for number, thing in names.things.items():
        sighting = knowledge.things[agent, number]
        if sighting["seen"] != NEVER:
            draft.find(thing, sighting)
            if not sighting["visible"]:
                last[thing] = int(sighting["seen"])
    if own["bed"] != NEVER:
        draft.find_bed()
        if not own["sees_bed"]:
            last[names.bed] = int(own["bed"])
    return draft.known(explored, shares, last)


def truth(names: Names, moment: Moment) -> Known:
    """Return all that is true now; what was explored is nobody's business but the agents'."""
    state = moment.state
    draft = _Draft(names, moment.ground, {}, {}, {})
    for agent, body in enumerate(state.agents):
        draft.meet(agent, int(body["room"]), float(body["x"]), float(body["z"]), state.hands[agent])
    for number, thing in names.things.items():
        draft.find(thing, state.items[number])
    draft.find_bed()
    return draft.known({}, {}, {})


def room_facts(names: Names, moment: Moment) -> Iterator[Fact]:
    """Yield what any agent has seen of the rooms, each fact once."""
    facts, field = dict[Fact, None](), moment.field
    for visits in moment.knowledge.rooms:
        for room, number in names.room_numbers.items():
            if visits["explored"][number]:
                facts[Fact(room, "EXPLORED", EXPLORED[int(visits["explored"][number])])] = None
            if share := share_of(int(visits["cells"][number]), int(field.size[number])):
                facts[Fact(room, "SEEN", share)] = None
    return iter(facts)


@dataclass
class _Draft:
    """What is known, while it is being put together."""

    names: Names
    ground: Ground
    hands: dict[AgentId, tuple[Entity, ...]]
    at: dict[AgentId, Entity]
    points: dict[Entity | AgentId, Cell]
    inside: dict[Entity, Entity] = dataclasses.field(default_factory=dict)
    room: dict[Entity, Entity] = dataclasses.field(default_factory=dict)
    near: dict[Entity, bool] = dataclasses.field(default_factory=dict)
    """Of what lies somewhere: whether it counts as delivered there."""

    def meet(self, agent: int, room: int, x: float, z: float, hands: Iterable[int]) -> None:
        """Add an agent."""
        name, things = self.names.team[agent], self.names.things
        self.at[name], self.points[name] = self.names.room_of_number[room], _cell(x, z)
        self.hands[name] = tuple(things[int(item)] for item in hands if int(item) in things)

    def find(self, thing: Entity, lying: np.void) -> None:
        """Add a thing that lies somewhere or is in a container; what is in hands goes with the agent."""
        if lying["inside"] != NOTHING:
            self.inside[thing] = self.names.things[int(lying["inside"])]
        elif lying["holder"] == NOBODY:
            x, z = float(lying["x"]), float(lying["z"])
            room = self.names.instance.plan.room_at(x, z)
            self.points[thing], self.room[thing] = _cell(x, z), self.names.room_of_number[room.number]
            east, north = x - self.ground.bed_x, z - self.ground.bed_z
            self.near[thing] = east * east + north * north < BED_RANGE * BED_RANGE and room.kind == "Bedroom"

    def find_bed(self) -> None:
        """Add the bed."""
        self.points[BED] = _cell(self.ground.bed_x, self.ground.bed_z)
        self.room[BED] = self.names.room_of_number[self.names.instance.bed.room]

    def known(
        self, explored: Mapping[Entity, str], shares: Mapping[Entity, int], last: Mapping[Entity | AgentId, int]
    ) -> Known:
        """Return the whole; that something lies by the bed is known to who knows where the bed is."""
        delivered = frozenset(
            thing
            for thing in (*self.near, *self.inside)
            if BED in self.room and self.near.get(self.inside.get(thing, thing), False)
        )
        agents = self.at, self.points, self.hands
        return Known(self.names.rooms, explored, shares, *agents, self.inside, self.room, delivered, last)


def perception(known: Known) -> Perception:
    """Return what is perceived now, what was perceived before, and both."""
    past = tuple(facts_of(known, present=False)) if known.last else ()
    ticks = {fact: known.last[fact.subject] for fact in past}
    present = Facts(facts_of(known, past=False))  # generators: facts are made when somebody reads one
    return Perception(present, Facts(past, ticks), Facts(facts_of(known), ticks))
