"""What an agent sees: all that is not hidden in its room, or what lies ahead, in other rooms through their doors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from teamworld.worlds.household.homes.home import Box, Door, NodeId, Point
from teamworld.worlds.household.state import AgentId, State

#: Half the angle of view, degrees.
HALF_VIEW: Final = 33.0
#: Height from which agents look, metres.
EYES: Final = 1.8
#: How thick a wall is, metres: one looks through a doorway past the jambs on both its sides.
WALL: Final = 0.14


def seen(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return the nodes and agents that an agent sees in symbolic mode, itself and all rooms among them.

    It sees what is in its room and not in a closed container, and agents there with what they hold.
    """
    return state.shown(state.rooms[agent])


def cone(state: State, agent: AgentId) -> frozenset[NodeId]:
    """Return what an agent sees in visual mode, itself, what it holds and all rooms among it.

    Of what the task is about, and of other agents, it sees what symbolic mode would show it and whose box's centre is
    within 33 degrees of its heading, however far away within the room; of what symbolic mode would show it in other
    rooms, that of whose box a part lies within 33 degrees and in line with all doorways on the way. It looks into open
    containers that it sees and that are CLOSE. Furniture hides nothing unless the rules have ``occlusion``; then see
    :func:`hidden`.
    """
    at, ahead, own = state.points[agent], state.headings[agent], state.rooms[agent]
    visible, into = {agent, *state.hands[agent].things, *state.home.rooms}, []
    occlusion = state.rules.occlusion
    for node in _watched(state, own):
        if _turn(ahead, at, state.box(node)) <= HALF_VIEW and not (occlusion and hidden(state, agent, node)):
            visible.add(node)
        elif (place := state.place(node)) is not None and place[0] == "INSIDE":
            into.append((node, place[1]))
    for room, low, high in _windows(state.home.doors, state.floor.doorway(at), at, ahead, own):
        for node in _watched(state, room):
            first, last = _span(ahead, at, state.box(node))
            if first <= high and last >= low and not (occlusion and hidden(state, agent, node)):
                visible.add(node)
    visible.update(node for node, container in into if container in visible and state.close(agent, container))
    return frozenset(visible)


def _watched(state: State, room: NodeId) -> Iterator[NodeId]:
    """Go through what can be seen in a room of what the task is about, and agents there with what they hold."""
    shown = state.shown(room)
    yield from shown & state.watched
    yield from (node for node in (*state.points, *state.holder) if node in shown)


def _windows(
    doors: Sequence[Door], here: Sequence[NodeId], at: Point, ahead: float, own: NodeId
) -> Iterator[tuple[NodeId, float, float]]:
    """Go through the other rooms into which one looks, each with the directions open to the eye.

    Args:
        doors: Of the home.
        here: The rooms one stands in: in a doorway, both.
        at: Where one stands.
        ahead: The direction of one's head, degrees.
        own: The room one is in.

    Yields:
        A room, and the least and the largest angle to the right of ``ahead`` at which one looks into it, degrees.
    """
    waiting, met = [(own, -HALF_VIEW, HALF_VIEW)], {own}
    while waiting:
        room, low, high = waiting.pop()
        for door in doors:
            if room not in door.rooms:
                continue
            other = door.rooms[door.rooms[0] == room]
            if other in met:
                continue
            span = (low, high)
            if other not in here:
                wide, deep = (WALL, door.width) if door.across_x else (door.width, WALL)
                span = _opening(ahead, at, Box(door.x, 1.0, door.z, wide, 2.0, deep))
            less, more = max(low, span[0]), min(high, span[1])
            if less < more:
                met.add(other)
                waiting.append((other, less, more))
                yield other, less, more


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


def _bearings(ahead: float, at: Point, box: Box) -> Iterator[tuple[float, float]]:
    """Go through the corners of a box: how far to the right of a direction each lies, and the middle, degrees."""
    middle = math.atan2(box.x - at.x, box.z - at.z)
    right = (math.degrees(middle) - ahead + 180.0) % 360.0 - 180.0
    for x in (box.x - box.width / 2, box.x + box.width / 2):
        for z in (box.z - box.depth / 2, box.z + box.depth / 2):
            beside = math.degrees(math.atan2(x - at.x, z - at.z) - middle)
            yield right + (beside + 180.0) % 360.0 - 180.0, right


def _span(ahead: float, at: Point, box: Box) -> tuple[float, float]:
    """Return between which angles to the right of a direction a box lies, degrees."""
    corners = [corner for corner, _ in _bearings(ahead, at, box)]
    return min(corners), max(corners)


def _opening(ahead: float, at: Point, box: Box) -> tuple[float, float]:
    """Return between which angles to the right of a direction one looks through an opening as thick as a wall."""
    corners = sorted(_bearings(ahead, at, box))
    left = [corner for corner, middle in corners if corner < middle]
    right = [corner for corner, middle in corners if corner >= middle]
    return max(left, default=0.0), min(right, default=0.0)


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
