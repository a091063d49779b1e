"""What an agent sees: all that is not hidden in its room, or what lies ahead, in other rooms through their doors."""

from __future__ import annotations

import math

import numpy as np

from teamworld.worlds.household import sightlines
from teamworld.worlds.household.homes.home import SEARCHED, Box, NodeId, Point
from teamworld.worlds.household.sightlines import EYES, Outlook, Scene
from teamworld.worlds.household.state import AgentId, State, body


def seen(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return the nodes and agents that an agent sees in symbolic mode, itself and all rooms among them.

    It sees what is in its room and not in a closed container, and agents there with what they hold.
    """
    return state.shown(state.rooms[agent])


def cone(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return what an agent sees in visual mode, itself, what it holds and all rooms among it.

    Of what the task is about, and of other agents, it sees what symbolic mode would show it and whose box's centre is
    within 33 degrees of its heading, however far away within the room. Of what symbolic mode would show it in other
    rooms it sees that of whose box enough lies within 33 degrees, in line with all doorways on the way, and neither
    behind the leaf of a door nor behind furniture: about 20 pixels of a picture. It looks into open containers that it
    sees and that are CLOSE. In its own room furniture hides nothing unless the rules have ``occlusion``; then see
    :func:`hidden`.
    """
    at, own, home = state.points[agent], state.rooms[agent], state.home
    scene, outlook = _scene(state)
    boxes, places, first = scene.boxes, scene.places, len(outlook.nodes)
    for row, (other, point) in enumerate(state.points.items(), first):
        boxes[row, 0] = boxes[row, 6] = point.x
        boxes[row, 2] = boxes[row, 7] = point.z
        places[row, 0] = outlook.number[state.rooms[other]]
    ahead = math.radians(state.headings[agent])
    count = sightlines.look(
        outlook.number[own], at.x, at.z, math.sin(ahead), math.cos(ahead), boxes, places, outlook.doors, outlook.ways,
        outlook.passed, outlook.pieces, scene.rows,
    )  # fmt: skip
    nodes = scene.nodes
    visible = {nodes[row] for row in scene.rows[:count].tolist()}
    if state.holder:
        visible.update(thing for other in state.points if other in visible for thing in state.hands[other].things)
    if state.rules.occlusion:
        visible = {node for node in visible if state.room(node) != own or not hidden(state, agent, node)}
    visible.update((agent, *state.hands[agent].things, *home.rooms))
    for container in state.opened & visible:
        if home.nodes[container].name in SEARCHED and state.close(agent, container):
            visible.update(state.watched.intersection(state.contents(container)))
    return frozenset(visible)


def _scene(state: State) -> tuple[Scene, Outlook]:
    """Return what can be seen at a moment, without the places of agents, and what never changes of it."""
    if state.outlook is None:
        state.outlook = sightlines.outlook(state.home, state.watched)
    outlook = state.outlook
    if state.scene is not None:
        return state.scene, outlook
    free = len(state.points)
    boxes = np.concatenate((outlook.boxes, np.tile(sightlines.shape(body(Point(0.0, 0.0))), (free, 1))))
    places = np.concatenate((outlook.places, np.full((free, outlook.places.shape[1]), -1, np.int64)))
    shown = frozenset[NodeId]().union(*map(state.shown, state.home.rooms)).difference(state.holder)
    for row, node in enumerate(outlook.nodes):
        if node not in shown:
            places[row, 0] = -1
        elif node in state.opened or not state.fixed(node) or state.place(node) != state.home.parent.get(node):
            boxes[row] = sightlines.shape(state.reached_box(node), state.box(node))
            places[row] = outlook.place(state.room(node), _chain(state, node))
    state.scene = Scene((*outlook.nodes, *state.points), boxes, places, np.zeros(len(boxes), np.int64))
    return state.scene, outlook


def _chain(state: State, node: NodeId) -> tuple[NodeId, ...]:
    """Return a node and what it lies in or on, one after the other."""
    place = state.place(node)
    return (node,) if place is None else (node, *_chain(state, place[1]))


def hidden(state: State, agent: AgentId, node: NodeId) -> bool:
    """Whether tall furniture of an agent's room stands between its eyes and the middle of a node's box.

    What is CLOSE is never hidden: one leans to see it. Nor does a piece hide what lies in or on it, or has its middle
    within it, such as the toilet in a stall.
    """
    at, box, nodes = state.points[agent], state.box(node), state.home.nodes
    middle_x, middle_z, wide, deep = (at.x + box.x) / 2, (at.z + box.z) / 2, abs(at.x - box.x), abs(at.z - box.z)
    for piece in state.home.tall[state.rooms[agent]]:
        other = nodes[piece].box
        # Most pieces lie beside the line's own rectangle.
        if abs(other.x - middle_x) * 2 >= other.width + wide or abs(other.z - middle_z) * 2 >= other.depth + deep:
            continue
        if _crosses((at.x, EYES, at.z), (box.x, box.y, box.z), other) and piece not in _chain(state, node):
            return not state.close(agent, node)
    return False


def view(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return what an agent sees by the rules of the state."""
    if state.rules.sight == "room":
        return seen(state, agent)
    at = (state.points[agent], state.headings[agent])
    cached = state.cones.get(agent)
    if cached is None or cached[0] != at:
        cached = state.cones[agent] = at, cone(state, agent)
    return cached[1]


def heading(start: Point, x: float, z: float) -> float | None:
    """Return the direction from one place to another: degrees in [0, 360), 0 along z; None if they are the same."""
    if start.x == x and start.z == z:
        return None
    return round(math.degrees(math.atan2(x - start.x, z - start.z)), 2) % 360.0


def _crosses(start: tuple[float, float, float], end: tuple[float, float, float], box: Box) -> bool:
    """Whether a straight line passes through the inside of a box in which it does not end."""
    first, last, inside = 0.0, 1.0, True
    middle, size = (box.x, box.y, box.z), (box.width, box.height, box.depth)
    for begin, finish, centre, full in zip(start, end, middle, size, strict=True):
        low, high, way = centre - full / 2 - begin, centre + full / 2 - begin, finish - begin
        inside = inside and low <= way <= high
        if way == 0.0:
            if not low < 0.0 < high:
                return False
        else:
            enters, leaves = (low / way, high / way) if way > 0 else (high / way, low / way)
            first, last = max(first, enters), min(last, leaves)
    return first < last and not inside
