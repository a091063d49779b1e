"""A plain reference of the household's rules: a graph as sets of edges, all of it gone through at every question.

Edges are kept as the spec tells of them (A2, A5, A7): what is put on something is both ON it and INSIDE its room. Where
agents stand is not judged here but taken from the state under test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from teamworld.worlds.household.homes.home import SEARCHED, Box, Home, NodeId, Point, can_be, close
from teamworld.worlds.household.physics import TOLERANCE, PrimitiveAction
from teamworld.worlds.household.state import State, body

Edge: TypeAlias = tuple[NodeId, str, NodeId]
HANDLING = ("grab", "open", "close", "putin", "putback")


class Graph:
    """One moment as edges."""

    def __init__(self, state: State) -> None:
        self.home: Home = state.home
        self.rules = state.rules
        self.edges: set[Edge] = set()
        for child, (relation, parent) in state.home.parent.items():
            self.edges.add((child, relation, parent))
            if relation == "ON":
                self.edges.add((child, "INSIDE", state.home.room[child]))
        self.opened = set(state.home.opened)
        self.boxes: dict[NodeId, Box] = {id_: node.box for id_, node in state.home.nodes.items()}
        self.points: dict[NodeId, Point] = {}
        self.stand(state)

    def stand(self, state: State) -> None:
        """Let agents stand where they stand in a state."""
        for agent, point in state.points.items():
            self.points[agent] = point
            for thing in (agent, *self.held(agent)):
                self.edges = {edge for edge in self.edges if edge[0] != thing or edge[1] != "INSIDE"}
                self.edges.add((thing, "INSIDE", state.floor.room(point)))

    def held(self, agent: NodeId) -> list[NodeId]:
        """Return what an agent holds, right hand first."""
        return [
            thing
            for hand in ("RH", "LH")
            for thing in [edge[0] for edge in self.edges if edge[1:] == (f"HELD_{hand}", agent)]
        ]

    def holder(self, thing: NodeId) -> NodeId | None:
        """Return who holds a thing."""
        return next((edge[2] for edge in self.edges if edge[0] == thing and edge[1].startswith("HELD")), None)

    def above(self, node: NodeId) -> NodeId | None:
        """Return what a node is INSIDE."""
        return next((edge[2] for edge in self.edges if edge[0] == node and edge[1] == "INSIDE"), None)

    def room(self, node: NodeId) -> NodeId | None:
        """Return the room to which a node's chain of INSIDE leads."""
        inside = self.above(node)
        return inside if inside is None or inside in self.home.rooms else self.room(inside)

    def hidden(self, node: NodeId) -> bool:
        """Whether a container on a node's chain of INSIDE is not open."""
        inside = self.above(node)
        if inside is None or inside in self.home.rooms:
            return False
        return inside not in self.opened or self.hidden(inside)

    def seen(self, agent: NodeId) -> frozenset[NodeId]:
        """Return what an agent sees (A7)."""
        room = self.room(agent)
        assert room is not None
        return frozenset(self.seen_from(room) | set(self.home.rooms) | set(self.held(agent)))

    def seen_from(self, room: NodeId) -> set[NodeId]:
        nodes = [*self.home.nodes, *self.points]
        return {node for node in nodes if self.room(node) == room and not self.hidden(node)}

    def within_sight(self, agent: NodeId) -> set[NodeId]:
        """Return what an agent may handle as seen: in a doorway, what is seen in both rooms."""
        x, z = self.points[agent]
        boxes = {room: self.home.nodes[room].box for room in self.home.rooms}
        here = [
            room
            for room, box in boxes.items()
            if max(abs(x - box.x) - box.width / 2, abs(z - box.z) - box.depth / 2) <= 0
        ]
        return set(self.seen(agent)).union(*(self.seen_from(room) for room in here))

    def box(self, node: NodeId) -> Box:
        """Return a node's or an agent's box."""
        agent = self.holder(node)
        at = node if agent is None else agent
        return body(self.points[at]) if at in self.points else self.boxes[at]

    def close(self, agent: NodeId, node: NodeId) -> bool:
        """Whether a node is near enough to be handled: CLOSE (A2), or not much farther."""
        inside = self.above(node)
        things = [node] if node in self.points or can_be(self.home.nodes[node]) else []
        if inside is not None and inside not in self.home.rooms and self.home.nodes[inside].name in SEARCHED:
            things.append(inside)
        return any(close(body(self.points[agent]), self.box(thing), TOLERANCE) for thing in things)

    def can(self, agent: NodeId, act: PrimitiveAction) -> bool:
        """Whether an agent can handle what it names."""
        nodes = self.home.nodes
        first, onto = nodes.get(act.target), nodes.get(act.onto)
        reach = act.onto if act.verb.startswith("put") else act.target
        if first is None or reach not in nodes or self.hidden(reach):
            return False
        if self.rules.mode == "strict" and (reach not in self.within_sight(agent) or not self.close(agent, reach)):
            return False
        if self.holder(reach) is not None:
            return False
        free = len(self.held(agent)) < 2
        if act.verb == "grab":
            return first.grabbable and free
        opens = nodes[reach].opens and nodes[reach].category != "Doors"
        if act.verb == "open":
            return opens and act.target not in self.opened and free
        if act.verb == "close":
            return opens and act.target in self.opened
        if self.holder(act.target) != agent or onto is None:
            return False
        if act.verb == "putback":
            return onto.surface
        return onto.container and opens and not (self.rules.strict_put and act.onto not in self.opened)

    def do(self, agent: NodeId, act: PrimitiveAction) -> None:
        """Change the edges as an action does (A5)."""
        if act.verb == "open":
            self.opened.add(act.target)
        elif act.verb == "close":
            self.opened.discard(act.target)
        elif act.verb == "grab":
            self._grab(agent, act.target)
        else:
            self._release(act)

    def _grab(self, agent: NodeId, thing: NodeId) -> None:
        room = self.room(thing)
        assert room is not None
        loose = {edge[0] for edge in self.edges if edge[1:] == ("INSIDE", thing)}
        right = any(edge[1:] == ("HELD_RH", agent) for edge in self.edges)
        self.edges = {edge for edge in self.edges if thing not in (edge[0], edge[2])}
        self.edges |= {(child, "INSIDE", room) for child in loose}
        self.edges |= {(thing, "HELD_LH" if right else "HELD_RH", agent), (thing, "INSIDE", room)}

    def _release(self, act: PrimitiveAction) -> None:
        onto = act.onto
        self.edges = {edge for edge in self.edges if edge[0] != act.target}
        outer = self.above(onto)
        assert outer is not None
        if act.verb == "putin":
            self.edges.add((act.target, "INSIDE", onto))
        else:
            self.edges.add((act.target, "INSIDE", outer))
            if outer in self.home.rooms:
                self.edges.add((act.target, "ON", onto))

    def step(
        self, after: State, acts: Mapping[NodeId, PrimitiveAction], won: Mapping[NodeId, NodeId]
    ) -> dict[NodeId, bool]:
        """Make the step that a state has made; return who could do what they tried of what handles things.

        Args:
            after: The state after the step, for where agents stand then.
            acts: What was tried.
            won: Who won what was contested.
        """
        handling = {agent: act for agent, act in sorted(acts.items()) if act.verb in HANDLING}
        able = {agent: self.can(agent, act) for agent, act in handling.items()}
        for thing in {act.target for act in handling.values()}:
            rivals = [agent for agent, act in handling.items() if able[agent] and act.target == thing]
            assert (thing in won) == (len(rivals) > 1)
            for agent in rivals:
                able[agent] = won.get(thing, agent) in rivals and won.get(thing, agent) == agent
        for agent, act in handling.items():
            able[agent] = able[agent] and self.can(agent, act)
            if able[agent]:
                self.do(agent, act)
                if act.verb.startswith("put"):
                    self.boxes[act.target] = after.box(act.target)
                self.points[agent] = after.points[agent]
        self.stand(after)
        return able
