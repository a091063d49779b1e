"""What one agent knows of a house, as the replay draws it: rooms about as large as what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from teamworld.language import AgentId, Cell, Entity
from teamworld.worlds.base.known_picture import AWAY, KnownPicture, guess_extent
from teamworld.worlds.contract import View
from teamworld.worlds.transport.drawing_data import VERSION
from teamworld.worlds.transport.observe import BED, Known, believed
from teamworld.worlds.transport.physics import BED_RANGE

#: Half of a room's shortest side, how far it reaches behind what is known in it, and half of a wall, in centimetres.
_ROOM: Final = 190
_BEYOND: Final = 45
_WALL: Final = 6


def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
    """Return the house with the agents and things that the facts of a view tell of."""
    known, goals = believed(view.known), view.goals
    wanted = {dict(goal.features)["thing"]: int(goal.weight) for goal in goals}
    carried = (held for hands in known.hands.values() for held in hands)
    things = sorted({*known.room, *known.inside, *carried} - {BED}, key=attrgetter("id", "kind"))
    numbers = {thing: number for number, thing in enumerate(things)}
    boxes = {room: _extent(room, known) for room in known.rooms}
    static = {
        "v": VERSION,
        "rooms": [{"id": room.id, "name": room.kind.title(), "box": box} for room, box in boxes.items()],
        "walls": _outline(list(boxes.values())),
        "furniture": [],
        "items": [
            {"id": thing.id, "name": thing.kind, "kind": "target" if thing.kind in wanted else "container"}
            for thing in things
        ],
        "goals": wanted,
        "bed": [*known.points.get(BED, AWAY), round(100 * BED_RANGE)],
        "sight": 0,  # no fact tells where an agent looks
    }
    frame = {
        "v": VERSION,
        "t": view.t,
        "agents": [[*known.points.get(agent, AWAY), None] for agent in team],
        "hands": [[*(numbers[held] for held in known.hands.get(agent, ())), -1, -1][:2] for agent in team],
        "trails": [[list(known.points.get(agent, AWAY))] for agent in team],
        "items": [_item(thing, known, team, numbers) for thing in things],
        "known": [[] for _ in team],
        "seen": [[known.shares.get(room, 0) for room in known.rooms] for _ in team],
        "moves": [[0, 0] for _ in team],
    }
    return KnownPicture(static, frame, frozenset(agent for agent in team if agent not in known.points))


def _extent(room: Entity, known: Known) -> list[int]:
    inside = [
        known.points[entity] for entity, within in known.room.items() if within == room and entity in known.points
    ]
    inside += [known.points[agent] for agent, within in known.at.items() if within == room and agent in known.points]
    return guess_extent(known.rooms[room], inside, least=_ROOM, beyond=_BEYOND)


def _outline(boxes: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return walls round all rooms: where those between them are, no fact tells."""
    (x0, z0), (x1, z1) = (
        [pick(box[side + axis] for box in boxes) for axis in (0, 1)] for pick, side in ((min, 0), (max, 2))
    )
    corners = ((x0, z0, x1, z0), (x0, z1, x1, z1), (x0, z0, x0, z1), (x1, z0, x1, z1))
    return [[left - _WALL, low - _WALL, right + _WALL, high + _WALL] for left, low, right, high in corners]


def _item(thing: Entity, known: Known, team: Sequence[AgentId], numbers: dict[Entity, int]) -> list[Any]:
    outer = known.inside.get(thing)
    holder = next((agent for agent, held in known.hands.items() if thing in held), None)
    place: Cell = known.points.get(thing, AWAY)
    inside = -1 if outer is None else numbers.get(outer, -1)
    return [*place, -1 if holder is None else team.index(holder), inside, int(thing in known.delivered)]
