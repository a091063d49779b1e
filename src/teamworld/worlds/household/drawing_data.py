"""An episode and one moment of it as plain data, for pictures and replays, and as text: a floor plan of letters.

Places and boxes are whole centimetres on the floor: x to the right, z upwards. Nothing here is shown to agents: a
moment tells where everything is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.household.homes.home import NAMES, SEARCHED, Box, Episode, Node
from teamworld.worlds.household.state import State

Static: TypeAlias = Mapping[str, Any]
Snapshot: TypeAlias = Mapping[str, Any]

#: How a home looks, for ``draw`` and the replay. ``facts``: the replay needs what agents perceive.
STYLE: Final[Mapping[str, Any]] = {
    "facts": True,
    "rooms": {"kitchen": "#fbf2df", "bathroom": "#e2eff5", "bedroom": "#f1e9f6", "livingroom": "#e9f3e6"},
    "any_room": "#f0f0ee",
    "ink": "#20262c",
    "soft": "#6a737c",
    "wall": "#4a5058",
    "door": "#f4eee2",
    "furniture": ["#e4dccf", "#c9bfae"],
    "closed": ["#98a5b1", "#5f6d79"],
    "open": ["#ffffff", "#5f6d79"],
    "target": ["#bfe5cf", "#00795a"],
    "legend": [
        ["closed", "closed container"],
        ["open", "open container"],
        ["target", "where things go"],
        ["furniture", "other furniture"],
    ],
    "marks": {"cutleryfork": "Fo"},
    "apart": 20,
}
#: Version of both; a drawing refuses others.
VERSION: Final = 1

_STANDING: Final = frozenset({"Furniture", "Appliances", "Electronics"})
#: Beginnings and ends of names of what hangs, or is a part of what is drawn already.
_LEFT_OUT: Final = ("wall", "ceiling", "curtain", "faucet", "hanger", "clothes", "drawer", "fan", "tray", "rack")
_FOOTPRINT: Final = 0.06  # square metres that furniture covers at least
_APART: Final = 15  # centimetres between pieces that have one label
_WALL: Final = 0.25  # rooms' boxes reach so far beyond the middles of their walls, metres


def static(episode: Episode) -> dict[str, Any]:
    """Return what does not change while an episode is played.

    ``rooms`` end in the middle of their walls. ``furniture`` is what stands in them, lower things first: the containers
    that are searched, the goal's targets, and what else is large enough to be seen. ``things`` are those of the classes
    that the goal asks for; a ``snapshot`` tells of them in the same order, as of ``needs``. ``touching`` are pieces
    of a kind that touch: they have one name.
    """
    home = episode.home
    targets = {need.target for need in episode.needs}
    names = {need.name for need in episode.needs}
    pieces = sorted(
        (node for node in home.nodes.values() if node.id in targets or _stands(episode, node)),
        key=lambda node: (node.box.y + node.box.height / 2, node.id),
    )
    furniture = [
        {
            "id": node.id,
            "name": node.name,
            "container": node.name in SEARCHED,
            "goal": node.id in targets,
            "box": _bounds(node.box),
        }
        for node in pieces
    ]
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
        "furniture": furniture,
        "touching": touching(furniture),
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


def touching(furniture: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the ids of pieces that are alike and touch, two or more together: they have one name on a picture."""
    groups: list[list[Mapping[str, Any]]] = []
    for piece in furniture:
        near = [group for group in groups if any(_touch(piece, other) for other in group)]
        rest = [group for group in groups if group not in near]
        groups = [*rest, [*(each for group in near for each in group), piece]]
    return [sorted(piece["id"] for piece in group) for group in groups if len(group) > 1]


def _touch(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two pieces are alike and hardly apart."""
    here, there = first["box"], other["box"]
    apart = max(here[0] - there[2], there[0] - here[2], here[1] - there[3], there[1] - here[3])
    return apart <= _APART and all(first[key] == other[key] for key in ("name", "goal"))


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


def text(static: Static, snapshot: Snapshot) -> str:
    """Draw a moment as text: a floor plan, a sign for 25 by 50 centimetres, then in words what it cannot show.

    ``#`` walls, ``:`` furniture, ``X`` closed and ``O`` open containers, ``T`` what the goal wants things brought to,
    small letters the things (the first of their class; those in closed containers are not on the plan), digits agents.
    """
    check_version(static, snapshot)
    boxes = [room["box"] for room in static["rooms"]]
    left, top = min(box[0] for box in boxes), max(box[3] for box in boxes)
    size = (top - min(box[1] for box in boxes)) // 50 + 2, (max(box[2] for box in boxes) - left) // 25 + 2
    signs = np.full(size, " ")

    def cells(box: Sequence[int], beyond: int = 0) -> tuple[slice, slice]:
        """Return the signs that a box covers; ``beyond`` counts its right and lower edge, too."""
        last_row, last_column = (top - box[1] - 1 + beyond) // 50, (box[2] - left - 1 + beyond) // 25
        return slice(max((top - box[3]) // 50, 0), last_row + 1), slice(max((box[0] - left) // 25, 0), last_column + 1)

    for box in boxes:
        rows, columns = cells(box, 1)
        signs[rows, [columns.start, columns.stop - 1]] = "#"
        signs[[rows.start, rows.stop - 1], columns] = "#"
    for door in static["doors"]:
        (x, z), half = door["at"], door["width"] // 2
        across, along = (30, half) if door["across"] == "x" else (half, 55)
        signs[cells([x - across, z - along + 25, x + across, z + along - 25])] = " "
    opened = set(snapshot["open"])
    for piece in static["furniture"]:
        sign = "T" if piece["goal"] else ":" if not piece["container"] else "O" if piece["id"] in opened else "X"
        signs[cells(piece["box"])] = sign
    hiding = hiding_of(static, snapshot)
    for thing, (relation, place, x, z) in zip(static["things"], snapshot["things"], strict=True):
        if relation != "HELD" and not (relation == "INSIDE" and place in hiding):
            signs[(top - z) // 50, (x - left) // 25] = thing["name"][0]
    for agent, (x, z, _) in enumerate(snapshot["agents"], 1):
        signs[(top - z) // 50, (x - left) // 25] = str(agent % 10)
    plan = "\n".join("".join(row).rstrip() for row in signs.tolist()).rstrip()
    return f"step {snapshot['t']} of {static['steps']}\n{plan}\n" + "\n".join(_list_places(static, snapshot))


def _list_places(static: Static, snapshot: Snapshot) -> Iterator[str]:
    """Say what the goal asks for, who is where with what, and where each thing is."""
    names = {listed["id"]: f"{listed['name']} {listed['id']}" for listed in (*static["rooms"], *static["furniture"])}
    for need, missing in zip(static["needs"], snapshot["missing"], strict=True):
        target = names.get(need["target"], str(need["target"]))
        yield f"{need['number']} {need['name']} {need['relation']} {target}: {missing} missing"
    hiding = hiding_of(static, snapshot)
    for agent, (x, z, heading) in enumerate(snapshot["agents"], 1):
        yield f"{agent} {NAMES[agent - 1]} at ({x}, {z}) cm, heading {heading}"
    for thing, (relation, place, _, _) in zip(static["things"], snapshot["things"], strict=True):
        at = f"held by {NAMES[place - 1]}" if relation == "HELD" else f"{relation} {names.get(place, f'node {place}')}"
        yield f"{thing['name']} {thing['id']} {at}" + (" (closed)" if relation == "INSIDE" and place in hiding else "")


def hiding_of(static: Static, snapshot: Snapshot) -> set[int]:
    """Return the containers that are closed."""
    return {piece["id"] for piece in static["furniture"] if piece["container"]} - set(snapshot["open"])


def check_version(static: Static, snapshot: Snapshot) -> None:
    """Refuse data of another version.

    Raises:
        UserError: It is of another one.
    """
    for data in (static, snapshot):
        if data.get("v") != VERSION:
            raise UserError(f"expected a household picture of version {VERSION}, got {data.get('v')!r}")
