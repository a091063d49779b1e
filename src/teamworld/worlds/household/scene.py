"""An episode and one moment of it as plain data, for pictures and replays.

Places and boxes are whole centimetres on the floor: x to the right, z upwards. Nothing here is shown to agents: a
moment tells where everything is.
"""

from __future__ import annotations

from typing import Any, Final

from teamworld.worlds.household.home import SEARCHED, Box, Episode, Node
from teamworld.worlds.household.state import State

#: Version of both; a drawing refuses others.
VERSION: Final = 1

_STANDING: Final = frozenset({"Furniture", "Appliances", "Electronics"})
#: Beginnings and ends of names of what hangs, or is a part of what is drawn already.
_LEFT_OUT: Final = ("wall", "ceiling", "curtain", "faucet", "hanger", "clothes", "drawer", "fan", "tray", "rack")
_FOOTPRINT: Final = 0.06  # square metres that furniture covers at least
_WALL: Final = 0.25  # rooms' boxes reach so far beyond the middles of their walls, metres


def static(episode: Episode) -> dict[str, Any]:
    """Return what does not change while an episode is played.

    ``rooms`` end in the middle of their walls. ``furniture`` is what stands in them, lower things first: the containers
    that are searched, the goal's targets, and what else is large enough to be seen. ``things`` are those of the classes
    that the goal asks for; a ``snapshot`` tells of them in the same order, as of ``needs``.
    """
    home = episode.home
    targets = {need.target for need in episode.needs}
    names = {need.name for need in episode.needs}
    shown = sorted(
        (node for node in home.nodes.values() if node.id in targets or _stands(episode, node)),
        key=lambda node: (node.box.y + node.box.height / 2, node.id),
    )
    return {
        "v": VERSION,
        "home": home.name,
        "task": episode.task,
        "steps": episode.steps,
        "rooms": [
            {"id": room, "name": home.nodes[room].name, "box": _bounds(home.nodes[room].box, _WALL)}
            for room in home.rooms
        ],
        "doors": [
            {"at": [_cm(door.x), _cm(door.z)], "across": "x" if door.across_x else "z", "width": _cm(door.width)}
            for door in home.doors
        ],
        "furniture": [
            {
                "id": node.id,
                "name": node.name,
                "container": node.name in SEARCHED,
                "goal": node.id in targets,
                "box": _bounds(node.box),
            }
            for node in shown
        ],
        "things": [
            {"id": node.id, "name": node.name} for node in home.nodes.values() if node.name in names and node.grabbable
        ],
        "needs": [
            {"relation": need.relation, "name": need.name, "target": need.target, "number": need.number}
            for need in episode.needs
        ],
    }


def snapshot(state: State, episode: Episode) -> dict[str, Any]:
    """Return one moment.

    ``agents`` are [x, z, heading] by id from 1 on, the heading in whole degrees, 0 along z and 90 along x; ``hands``
    what each holds, [right, left]. ``open`` is what stands open, doors left out. ``things`` are [relation, node, x, z]:
    HELD and the agent's id, or INSIDE or ON and what it is in or on. ``missing`` is what each need lacks.
    """
    home = state.home
    wanted = {need.name for need in episode.needs}
    things = []
    for node in home.nodes.values():
        if node.name in wanted and node.grabbable:
            place, box = state.place(node.id), state.box(node.id)
            relation, where = ("HELD", state.holder[node.id]) if place is None else place
            things.append([relation, where, _cm(box.x), _cm(box.z)])
    return {
        "v": VERSION,
        "t": state.time,
        "agents": [
            [_cm(point.x), _cm(point.z), round(state.headings[agent]) % 360] for agent, point in state.points.items()
        ],
        "hands": [list(hands) for hands in state.hands.values()],
        "open": sorted(node for node in state.opened if home.nodes[node].category != "Doors"),
        "things": things,
        "missing": [max(0, state.missing(need)) for need in episode.needs],
    }


def _stands(episode: Episode, node: Node) -> bool:
    """Whether something is drawn as furniture: what is searched, and large things that stand in a room."""
    if node.name in SEARCHED:
        return True
    _, place = episode.home.parent.get(node.id, ("", node.id))
    return (
        node.category in _STANDING
        and episode.home.nodes[place].category not in _STANDING  # but on a rug, perhaps
        and not node.name.startswith(_LEFT_OUT)
        and not node.name.endswith(_LEFT_OUT)
        and node.box.width * node.box.depth >= _FOOTPRINT
    )


def _bounds(box: Box, less: float = 0.0) -> list[int]:
    """Return [least x, least z, greatest x, greatest z]."""
    half_x, half_z = box.width / 2 - less, box.depth / 2 - less
    return [_cm(box.x - half_x), _cm(box.z - half_z), _cm(box.x + half_x), _cm(box.z + half_z)]


def _cm(metres: float) -> int:
    return round(metres * 100)
