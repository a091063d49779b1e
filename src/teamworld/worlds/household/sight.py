"""What an agent sees: all that is not hidden in its room, or what lies ahead, in other rooms through their doors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from teamworld.worlds.household.homes.home import SEARCHED, Box, Door, NodeId, Point
from teamworld.worlds.household.state import AgentId, State

Look: TypeAlias = tuple[float, float]
"""Where one looks, as sine and cosine of the heading."""
Window: TypeAlias = tuple[float, float]
"""Directions, from one on the left to one on the right, as metres to the right for each ahead."""

#: Half the angle of view, degrees.
HALF_VIEW: Final = 33.0
#: Height from which agents look, metres.
EYES: Final = 1.8
#: The same as metres to the right for each ahead; what is less far ahead than this, metres, is beside one.
WIDTH: Final = math.tan(math.radians(HALF_VIEW))
NEAREST, SIDEWAYS = 1e-6, 1e6
#: How thick a wall is, metres: one looks through a doorway past the jambs on both its sides.
WALL: Final = 0.14
#: How far from the middle of a wall one stands in its doorway, metres: half of what neighbouring rooms share.
DOORWAY: Final = 0.25


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
    at, own, home, occlusion = state.points[agent], state.rooms[agent], state.home, state.rules.occlusion
    ahead = math.radians(state.headings[agent])
    look = sine, cosine = math.sin(ahead), math.cos(ahead)
    visible = {agent, *state.hands[agent].things, *home.rooms}
    for node in _watched(state, own):
        box = state.box(node)
        x, z = box.x - at.x, box.z - at.z
        seen_at = abs(x * cosine - z * sine) <= WIDTH * (x * sine + z * cosine)
        if seen_at and not (occlusion and hidden(state, agent, node)):
            visible.add(node)
    for container in state.opened & visible:
        if home.nodes[container].name in SEARCHED and state.close(agent, container):
            visible.update(state.watched.intersection(state.contents(container)))
    for room, window in _windows(home.doors, look, at, own):
        for node in _watched(state, room):
            if _meets(window, look, at, state.box(node)) and not (occlusion and hidden(state, agent, node)):
                visible.add(node)
    return frozenset(visible)


def _watched(state: State, room: NodeId) -> Iterator[NodeId]:
    """Go through what can be seen in a room of what the task is about, and agents there with what they hold."""
    shown = state.shown(room)
    yield from shown & state.watched
    yield from (node for node in (*state.points, *state.holder) if node in shown)


def _windows(doors: Sequence[Door], look: Look, at: Point, own: NodeId) -> list[tuple[NodeId, Window]]:
    """Return the other rooms into which one looks, each with the directions that are open to the eye.

    Args:
        doors: Of the home.
        look: Where one looks.
        at: Where one stands.
        own: The room one is in.
    """
    rooms: list[tuple[NodeId, Window]] = [(own, (-WIDTH, WIDTH))]
    met = {own}
    for room, (low, high) in rooms:  # which grows
        for door in doors:
            if room not in door.rooms:
                continue
            x, z, width = door.x - at.x, door.z - at.z, door.width
            if abs(x * look[1] - z * look[0]) - width > WIDTH * (x * look[0] + z * look[1] + width):
                continue  # one does not look there, as mostly
            other = door.rooms[door.rooms[0] == room]
            less, more = _opening(door, look, at)
            window = max(low, less), min(high, more)
            if other not in met and window[0] < window[1]:
                met.add(other)
                rooms.append((other, window))
    return rooms[1:]


def _opening(door: Door, look: Look, at: Point) -> Window:
    """Return the directions in which one looks through a doorway, past the jambs on both sides of the wall."""
    x, z, half = door.x - at.x, door.z - at.z, door.width / 2
    along, across = (z, x) if door.across_x else (x, z)
    if abs(across) <= DOORWAY and abs(along) <= half:
        return -SIDEWAYS, SIDEWAYS  # one stands in it
    jambs = []
    for side in (-half, half):
        corners = [(off, side) if door.across_x else (side, off) for off in (-WALL / 2, WALL / 2)]
        slopes = [_slope(*_beside(look, at, Point(door.x + x, door.z + z))) for x, z in corners]
        jambs.append((min(slopes), max(slopes)))
    first, last = sorted(jambs)
    return first[1], last[0]


def _meets(window: Window, look: Look, at: Point, box: Box) -> bool:
    """Whether a part of a box lies in a window's directions."""
    right, forward = _beside(look, at, box)
    low, high = window
    if forward > 0 and low * forward <= right <= high * forward:
        return True
    reach = (box.width + box.depth) / 2  # no part is farther from the middle
    if right - high * forward > reach * (1 + abs(high)) or low * forward - right > reach * (1 + abs(low)):
        return False
    wide, deep = box.width / 2, box.depth / 2
    corners = [Point(box.x + x, box.z + z) for x in (-wide, wide) for z in (-deep, deep)]
    slopes = [_slope(*_beside(look, at, corner)) for corner in corners]
    return min(slopes) <= high and max(slopes) >= low


def _beside(look: Look, at: Point, to: Point | Box) -> tuple[float, float]:
    """Return how far to the right and how far ahead a place is, metres."""
    x, z = to.x - at.x, to.z - at.z
    return x * look[1] - z * look[0], x * look[0] + z * look[1]


def _slope(right: float, forward: float) -> float:
    """Return the direction of a place, as metres to the right for each ahead."""
    return right / forward if forward > NEAREST else math.copysign(SIDEWAYS, right)


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
