"""One moment of a home: where agents are, what their hands hold, where things lie, what stands open.

A ``State`` keeps what differs from the home as it was at the start, so that a copy costs a few small tables. It is
changed by its own methods alone; each keeps what is counted twice, such as what is seen in each room, in agreement.
The facts stand in ``docs/reference/worlds/household.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from teamworld.worlds.household.homes.home import SEARCHED, Box, Home, Need, NodeId, Point, Relation, can_be, close
from teamworld.worlds.household.interaction_points import SWINGS
from teamworld.worlds.household.pathfinding import Floor

if TYPE_CHECKING:
    from teamworld.worlds.household.sightlines import Outlook, Scene

AgentId: TypeAlias = NodeId
#: What a thing is INSIDE or ON.
Place: TypeAlias = tuple[Relation, NodeId]

#: Width, height and depth of an agent's box, metres.
BODY: Final = (0.8, 1.8, 0.8)
#: Hands of an agent.
HANDS: Final = 2


class Rules(NamedTuple):
    """What may be chosen about the rules."""

    mode: Literal["strict", "engine"] = "strict"
    """``strict``: what is not seen or not CLOSE cannot be handled, nor what was never seen be walked to;
    ``engine``: the agent is put where it can be handled, as the engine does."""
    strict_put: bool = False
    """Nothing can be put into a closed container."""
    sight: Literal["room", "cone"] = "room"
    """What an agent sees: its room, or what of it is ahead."""
    occlusion: bool = False
    """Whether tall furniture hides what is behind it from who sees only what is ahead."""


class Hands(NamedTuple):
    """What an agent holds; the right hand is filled first."""

    right: NodeId | None = None
    left: NodeId | None = None

    @property
    def things(self) -> tuple[NodeId, ...]:
        """What they hold, right hand first."""
        return tuple(thing for thing in self if thing is not None)

    @property
    def free(self) -> bool:
        """Whether one is empty."""
        return self.right is None or self.left is None

    def with_(self, thing: NodeId) -> Hands:
        """Return them with one thing more."""
        return Hands(thing, self.left) if self.right is None else Hands(self.right, thing)

    def without(self, thing: NodeId) -> Hands:
        """Return them with one thing less."""
        return Hands(None, self.left) if self.right == thing else Hands(self.right, None)


EMPTY: Final = Hands()


@dataclass(slots=True)
class State:
    """One moment. Read what you like; change it through its methods, of which ``physics.step`` makes use."""

    home: Home
    floor: Floor
    rules: Rules
    watched: frozenset[NodeId]
    """What the task is about: containers to be searched, and all of the classes of its things and targets."""
    points: dict[AgentId, Point]
    """Where each agent is, ascending."""
    rooms: dict[AgentId, NodeId]
    """The room each agent is in."""
    headings: dict[AgentId, float]
    """Degrees, 0 along z, 90 along x, in [0, 360)."""
    hands: dict[AgentId, Hands]
    opened: frozenset[NodeId]
    """What stands open of all that can be opened."""
    holder: dict[NodeId, AgentId] = field(default_factory=dict)
    """Who holds each thing that is held."""
    said: dict[AgentId, str] = field(default_factory=dict)
    """The messages of the last step; all agents hear them."""
    time: int = 0
    """Steps made."""
    known: dict[AgentId, frozenset[NodeId]] = field(default_factory=dict)
    """What each agent has seen so far."""
    last: dict[AgentId, dict[NodeId, Box]] = field(default_factory=dict)
    """Where each agent saw last what has been moved since out of its sight."""
    trail: dict[AgentId, tuple[Point, ...]] = field(default_factory=dict)
    """Up to five places to which the last walks in a row have led."""
    cones: dict[AgentId, tuple[tuple[Point, float], frozenset[NodeId]]] = field(default_factory=dict)
    """What agents saw ahead from where and in which direction, where this has been asked since anything changed."""
    outlook: Outlook | None = field(default=None, compare=False, repr=False)
    """What never changes of what can be seen, where this has been asked."""
    scene: Scene | None = field(default=None, compare=False, repr=False)
    """What can be seen where, where this has been asked since anything but an agent moved; copies have their own."""
    _place: dict[NodeId, Place] = field(default_factory=dict)
    _box: dict[NodeId, Box] = field(default_factory=dict)
    _contents: dict[NodeId, tuple[NodeId, ...]] = field(default_factory=dict)
    _shown: dict[NodeId, frozenset[NodeId]] = field(default_factory=dict)
    """By room: what can be seen in it, apart from agents and what they hold; all rooms."""
    _views: dict[NodeId, frozenset[NodeId]] = field(default_factory=dict)
    """By room: all that can be seen in it, where this has been asked since it changed."""
    _missing: dict[Need, int] = field(default_factory=dict)
    """What predicates lack, where this has been asked since a thing was moved."""

    def copy(self) -> State:
        """Return another that can be changed without changing this one."""
        return State(
            self.home,
            self.floor,
            self.rules,
            self.watched,
            self.points.copy(),
            self.rooms.copy(),
            self.headings.copy(),
            self.hands.copy(),
            self.opened,
            self.holder.copy(),
            self.said.copy(),
            self.time,
            self.known.copy(),
            {agent: places.copy() for agent, places in self.last.items()},
            self.trail.copy(),
            self.cones.copy(),
            self.outlook,
            None,
            self._place.copy(),
            self._box.copy(),
            self._contents.copy(),
            self._shown.copy(),
            self._views.copy(),
            self._missing.copy(),
        )

    # Where things are.

    def place(self, thing: NodeId) -> Place | None:
        """Return what a node is INSIDE or ON; None for rooms, agents and what is held."""
        if thing in self.holder:
            return None
        return self._place.get(thing) or self.home.parent.get(thing)

    def contents(self, node: NodeId) -> tuple[NodeId, ...]:
        """Return what lies directly INSIDE or ON a node; things only, no agents."""
        cached = self._contents.get(node)
        return self.home.contents.get(node, ()) if cached is None else cached

    def room(self, node: NodeId) -> NodeId:
        """Return the room that a node or an agent is in."""
        if node in self.rooms:
            return self.rooms[node]
        if node in self.holder:
            return self.rooms[self.holder[node]]
        moved = self._place.get(node)
        return self.home.room[node] if moved is None else self.room(moved[1])

    def box(self, node: NodeId) -> Box:
        """Return the box of a node or an agent; what is held is where its holder is."""
        agent = self.holder.get(node, node)
        if agent in self.points:
            return body(self.points[agent])
        return self._box.get(node) or self.home.nodes[node].box

    def fixed(self, node: NodeId) -> bool:
        """Whether a node is where it was at the start."""
        return not (node in self._box or node in self.holder or node in self.points)

    def closed(self, node: NodeId) -> bool:
        """Whether a node lies in a container that does not stand open, itself or with what it lies in or on."""
        place = self.place(node)
        while place is not None and place[1] not in self.home.rooms:
            if place[0] == "INSIDE" and place[1] not in self.opened:
                return True
            place = self.place(place[1])
        return False

    def reached_box(self, node: NodeId) -> Box:
        """Return the box by which a node is CLOSE or not: with its doors, where it stands open."""
        if node in self.opened and self.home.nodes[node].name in SWINGS:
            return self.floor.opened_box(node)
        return self.box(node)

    def close(self, agent: AgentId, node: NodeId, slack: float = 0.0) -> bool:
        """Whether a node or another agent is CLOSE to an agent, or lies in a container to be searched that is.

        Args:
            agent: Who reaches for it.
            node: What it reaches for.
            slack: By how many metres it may be farther.
        """
        own, nodes, place = body(self.points[agent]), self.home.nodes, self.place(node)
        if place is not None and place[0] == "INSIDE" and nodes[place[1]].name in SEARCHED:
            inside = close(own, self.reached_box(place[1]), slack)
        else:
            inside = False
        return inside or ((node not in nodes or can_be(nodes[node])) and close(own, self.reached_box(node), slack))

    def shown(self, room: NodeId) -> frozenset[NodeId]:
        """Return all that can be seen from within a room, and all rooms."""
        cached = self._views.get(room)
        if cached is None:
            inside = [agent for agent, at in self.rooms.items() if at == room]
            held = [thing for agent in inside for thing in self.hands[agent].things]
            cached = self._views[room] = self._shown[room].union(inside, held)
        return cached

    def missing(self, need: Need) -> int:
        """Return how many things a predicate of a goal lacks; negative where there are more than asked for."""
        cached = self._missing.get(need)
        if cached is None:
            nodes, place = self.home.nodes, (need.relation, need.target)
            there = [thing for thing in self.contents(need.target) if nodes[thing].name == need.name]
            cached = self._missing[need] = need.number - sum(self.place(thing) == place for thing in there)
        return cached

    def done(self, needs: Sequence[Need]) -> bool:
        """Whether all predicates of a goal hold."""
        return all(self.missing(need) <= 0 for need in needs)

    # Changes.

    def put(self, agent: AgentId, point: Point) -> None:
        """Put an agent, with what it holds, somewhere else."""
        self.cones.clear()
        self.points[agent] = point
        before, after = self.rooms[agent], self.floor.room(point)
        if before != after:
            self.rooms[agent] = after
            self._views.pop(before, None)
            self._views.pop(after, None)

    def grab(self, agent: AgentId, thing: NodeId) -> None:
        """Let an agent take a thing that can be seen; what lay in or on it stays where it is."""
        self._changed()
        place, room = self.place(thing), self.room(thing)
        assert place is not None
        self._take(place[1], thing)
        for child in self.contents(thing):
            self._give(("INSIDE", room), child)
            self._show(room, (child, *self._visible(child)))
        self._contents[thing] = ()
        self._place.pop(thing, None)
        self._box.pop(thing, None)
        self.holder[thing] = agent
        self.hands[agent] = self.hands[agent].with_(thing)
        self._hide(room, (thing,))
        self._views.pop(self.rooms[agent], None)

    def release(self, thing: NodeId, place: Place) -> None:
        """Let whoever holds a thing put it into a container or on a surface.

        What is put into something has its middle from then on; what is put on something stands where it is nearest to
        the agent.
        """
        self._changed()
        agent = self.holder.pop(thing)
        self.hands[agent] = self.hands[agent].without(thing)
        relation, onto = place
        box, size = self.box(onto), self.home.nodes[thing].box
        if relation == "INSIDE":
            self._box[thing] = size.moved(box.x, box.y, box.z)
        else:
            at = self.points[agent]
            self._box[thing] = size.moved(
                _within(at.x, box.x, box.width - size.width),
                round(box.y + (box.height + size.height) / 2, 4),
                _within(at.z, box.z, box.depth - size.depth),
            )
            outer = self.place(onto)
            if outer is not None and outer[0] == "INSIDE" and outer[1] not in self.home.rooms:
                place = outer  # what stands on things in a container is in the container
        self._give(place, thing)
        self._views.pop(self.rooms[agent], None)
        if not self.closed(thing):
            self._show(self.room(thing), (thing,))

    def open(self, container: NodeId) -> None:
        """Open something that can be seen."""
        self._changed()
        self.opened |= {container}
        self._show(self.room(container), self._visible(container))

    def shut(self, container: NodeId) -> None:
        """Close something."""
        self._changed()
        before = frozenset(self._visible(container))
        self.opened -= {container}
        self._hide(self.room(container), before.difference(self._visible(container)))

    def _changed(self) -> None:
        self.cones.clear()
        self.scene = None

    def _take(self, parent: NodeId, child: NodeId) -> None:
        self._missing.clear()
        self._contents[parent] = tuple(other for other in self.contents(parent) if other != child)

    def _give(self, place: Place, child: NodeId) -> None:
        self._missing.clear()
        self._place[child] = place
        self._contents[place[1]] = tuple(sorted((*self.contents(place[1]), child)))

    def _show(self, room: NodeId, nodes: Iterable[NodeId]) -> None:
        self._shown[room] = self._shown[room].union(nodes)
        self._views.pop(room, None)

    def _hide(self, room: NodeId, nodes: Iterable[NodeId]) -> None:
        self._shown[room] = self._shown[room].difference(nodes)
        self._views.pop(room, None)

    def _visible(self, node: NodeId) -> Iterator[NodeId]:
        """Go through what can be seen in or on a node that can be seen itself."""
        for child in self.contents(node):
            place = self.place(child)
            if place is not None and (place[0] == "ON" or node in self.opened):
                yield child
                yield from self._visible(child)


def body(point: Point) -> Box:
    """Return the box of an agent at a place."""
    return Box(point.x, BODY[1] / 2, point.z, *BODY)


def _within(value: float, middle: float, width: float) -> float:
    """Return the number nearest to ``value`` within a width around the middle, to 0.1 mm."""
    half = max(width, 0.0) / 2
    return round(min(max(value, middle - half), middle + half), 4)
