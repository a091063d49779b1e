"""What an agent sees: all that is not hidden in its room, or what of it lies ahead."""

from __future__ import annotations

import math
from typing import Final

from teamworld.worlds.household.homes.home import Box, NodeId, Point
from teamworld.worlds.household.state import AgentId, State

#: Half the angle of view, degrees.
HALF_VIEW: Final = 33.0
#: Height from which agents look, metres.
EYES: Final = 1.8


def seen(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return the nodes and agents that an agent sees in symbolic mode, itself and all rooms among them.

    It sees what is in its room and not in a closed container, and agents there with what they hold.
    """
    return state.shown(state.rooms[agent])


def cone(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return what an agent sees in visual mode, itself, what it holds and all rooms among it.

    Of what the task is about, and of other agents, it sees what symbolic mode would show it and whose box's centre is
    within 33 degrees of its heading, however far away within the room. Furniture hides nothing unless the rules
    have ``occlusion``; then see :func:`hidden`.
    """
    at, ahead = state.points[agent], state.headings[agent]
    candidates = seen(state, agent)
    watched = (*(candidates & state.watched), *(node for node in (*state.points, *state.holder) if node in candidates))
    visible = {agent, *state.hands[agent].things, *state.home.rooms}
    occlusion = state.rules.occlusion
    for node in watched:
        if _turn(ahead, at, state.box(node)) <= HALF_VIEW and not (occlusion and hidden(state, agent, node)):
            visible.add(node)
    return frozenset(visible)


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
        if _crosses((at.x, EYES, at.z), (box.x, box.y, box.z), other) and not _holds(state, piece, node):
            return not state.close(agent, node)
    return False


def _holds(state: State, piece: NodeId, node: NodeId) -> bool:
    """Whether a node is a piece, or lies in or on it, itself or with what it lies in or on."""
    while node != piece:
        place = state.place(node)
        if place is None:
            return False
        node = place[1]
    return True


def view(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return what an agent sees by the rules of the state."""
    return seen(state, agent) if state.rules.sight == "room" else cone(state, agent)


def heading(start: Point, x: float, z: float) -> float | None:
    """Return the direction from one place to another: degrees in [0, 360), 0 along z; None if they are the same."""
    if start.x == x and start.z == z:
        return None
    return round(math.degrees(math.atan2(x - start.x, z - start.z)), 2) % 360.0


def _turn(heading_: float, at: Point, box: Box) -> float:
    """Return by how much one would have to turn to look at the middle of a box, degrees."""
    to = heading(at, box.x, box.z)
    if to is None:
        return 0.0
    apart = abs(to - heading_) % 360.0
    return min(apart, 360.0 - apart)


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
