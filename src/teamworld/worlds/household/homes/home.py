"""What a home is: rooms, doors, furniture and things with their boxes, and an episode in it, as plain values.

Everything here is as before the first step and never changes. Lengths are metres; x and z
lie in the floor, y points up. All geometry goes by axis-aligned boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

NodeId: TypeAlias = int
Relation: TypeAlias = Literal["ON", "INSIDE"]

#: Classes in which goal things are searched for; all of them are closed at the start.
SEARCHED: Final = ("bathroomcabinet", "kitchencabinet", "cabinet", "fridge", "stove", "dishwasher", "microwave")
#: What agents are called, by id from 1 on.
NAMES: Final = ("Alice", "Bob", "Carol", "Dave", "Eve", "Frank", "Grace", "Heidi", "Ivan", "Judy")
#: The ids of agents are 1 to this; nodes of a home have larger ones.
MOST_AGENTS: Final = 10
#: Metres to which furniture reaches at least that hides things from who looks past it.
TALL: Final = 1.5


class Point(NamedTuple):
    """A place on the floor; the walking model gives whole centimetres, so that it prints alike everywhere."""

    x: float
    z: float


class Box(NamedTuple):
    """An axis-aligned box."""

    x: float
    y: float
    z: float
    """Its centre."""
    width: float
    height: float
    depth: float
    """Its full size along x, y and z."""

    def moved(self, x: float, y: float, z: float) -> Box:
        """Return the box with another centre."""
        return self._replace(x=x, y=y, z=z)


class Node(NamedTuple):
    """A room, a piece of furniture or a thing."""

    id: NodeId
    name: str
    """Its class: lower case, no blanks."""
    category: str
    properties: frozenset[str]
    box: Box

    @property
    def grabbable(self) -> bool:
        """Whether a hand can take it."""
        return "GRABBABLE" in self.properties

    @property
    def opens(self) -> bool:
        """Whether it can be opened."""
        return "CAN_OPEN" in self.properties

    @property
    def container(self) -> bool:
        """Whether things can be put into it."""
        return "CONTAINERS" in self.properties

    @property
    def surface(self) -> bool:
        """Whether things can be put on it."""
        return "SURFACES" in self.properties


class Door(NamedTuple):
    """A way from one room to another; always open in all homes."""

    id: NodeId
    rooms: tuple[NodeId, NodeId]
    x: float
    z: float
    """The middle of the opening."""
    across_x: bool
    """One walks through it along x; along z otherwise."""
    width: float = 0.93


@dataclass(frozen=True)
class Home:
    """An apartment as it is before the first step; agents are no part of it."""

    name: str
    nodes: Mapping[NodeId, Node]
    """By id, ascending."""
    rooms: tuple[NodeId, ...]
    """Ascending."""
    doors: tuple[Door, ...]
    parent: Mapping[NodeId, tuple[Relation, NodeId]]
    """What each node lies in or on: INSIDE a container, else ON a thing, else INSIDE a room; rooms have none."""
    room: Mapping[NodeId, NodeId]
    """The room that each node is in, itself for rooms."""
    opened: frozenset[NodeId]
    """What can be opened and stands open."""
    leaves: Mapping[NodeId, tuple[float, float, float, float]] = field(default_factory=dict)
    """The leaves of doors that have one: x and z of the hinge, and of the other end as the door stands."""

    @cached_property
    def searched(self) -> tuple[NodeId, ...]:
        """The containers that are looked into, ascending."""
        return tuple(node.id for node in self.nodes.values() if node.name in SEARCHED)

    @cached_property
    def contents(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """What lies directly in or on each node that has something in or on it, ascending."""
        contents: dict[NodeId, list[NodeId]] = {}
        for child, (_, parent) in self.parent.items():
            contents.setdefault(parent, []).append(child)
        return {parent: tuple(sorted(children)) for parent, children in contents.items()}

    @cached_property
    def shown(self) -> Mapping[NodeId, frozenset[NodeId]]:
        """What can be seen from within each room: all there that is not in something closed, and all rooms."""

        def visible(node: NodeId) -> Iterator[NodeId]:
            for child in self.contents.get(node, ()):
                if self.parent[child][0] == "ON" or node in self.opened or node in self.rooms:
                    yield child
                    yield from visible(child)

        shown: dict[NodeId, set[NodeId]] = {room: set(self.rooms) for room in self.rooms}
        for room in self.rooms:
            for node in visible(room):
                shown[self.room[node]].add(node)
        return {room: frozenset(nodes) for room, nodes in shown.items()}

    @cached_property
    def tall(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """By room the furniture that can hide what is behind it, ascending: nobody carries it, and it is tall."""
        pieces: dict[NodeId, list[NodeId]] = {room: [] for room in self.rooms}
        for node in self.nodes.values():
            stands = node.category in ("Furniture", "Appliances") and not node.grabbable
            if stands and node.box.y + node.box.height / 2 >= TALL and not node.name.startswith("curtain"):
                pieces[self.room[node.id]].append(node.id)
        return {room: tuple(nodes) for room, nodes in pieces.items()}

    @cached_property
    def beside(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """For each room the rooms behind its doors, ascending."""
        neighbours: dict[NodeId, set[NodeId]] = {room: set() for room in self.rooms}
        for door in self.doors:
            first, other = door.rooms
            neighbours[first].add(other)
            neighbours[other].add(first)
        return {room: tuple(sorted(others)) for room, others in neighbours.items()}


class Need(NamedTuple):
    """One predicate of the goal: at least so many things of a class ON or INSIDE one target."""

    relation: Relation
    name: str
    """Class of the things."""
    target: NodeId
    number: int


@dataclass(frozen=True)
class Episode:
    """A task in a home."""

    name: str
    task: str
    """One of ``read_book``, ``put_dishwasher``, ``prepare_food``, ``put_fridge``, ``setup_table``."""
    home: Home
    needs: tuple[Need, ...]
    starts: tuple[NodeId, ...]
    """The room in which each agent starts; of a larger team the others are drawn."""
    recorded: tuple[tuple[tuple[float, float], ...], ...] = ()
    """For each agent the places (x, z) at which recorded runs began; empty if there are none."""
    steps: int = 250
    placement: Literal["uniform", "official"] = "uniform"
    """The rule by which things were laid out, or which inference expects where nobody knows (``placement``)."""

    @property
    def units(self) -> int:
        """Things to bring."""
        return sum(need.number for need in self.needs)


# ---- what is CLOSE to an agent: near enough to be handled (docs/reference/worlds/household.md)

#: The farthest that is CLOSE, from the middle of one box to the other box, metres.
REACH: Final = 1.3
#: Metres between the middles; what is farther is not CLOSE whatever its size.
FAR: Final = 5.0
_NEVER: Final = frozenset({"Rooms", "Doors", "Floor", "Floors", "Walls", "Ceiling"})
_HUNG: Final = frozenset({"curtain", "curtains", "ceilinglamp", "walllamp", "doorjamb"})


def close(agent_box: Box, box: Box, slack: float = 0.0) -> bool:
    """Say whether two boxes are CLOSE; heights do not count.

    They are when the middle of one is at most :data:`REACH` from the other box, either way round.

    Args:
        agent_box: The character's box, 0.8 m wide and deep.
        box: The other's.
        slack: By how many metres they may be farther apart.

    Returns:
        Whether they are CLOSE.
    """
    across, along = abs(agent_box.x - box.x), abs(agent_box.z - box.z)
    if across * across + along * along > FAR * FAR:
        return False
    reach = REACH + slack
    dx, dz = max(across - box.width / 2, 0.0), max(along - box.depth / 2, 0.0)
    if dx * dx + dz * dz <= reach * reach:
        return True
    dx, dz = max(across - agent_box.width / 2, 0.0), max(along - agent_box.depth / 2, 0.0)
    return dx * dx + dz * dz <= reach * reach


def can_be(node: Node) -> bool:
    """Whether a node can be CLOSE at all: rooms, doors, walls, ceilings, curtains and hanging lamps cannot."""
    return node.category not in _NEVER and node.name not in _HUNG
