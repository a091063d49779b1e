"""An instance and one moment of it as plain data, for pictures and replays.

Places are whole centimetres, x to the right and z upwards. Nothing here is shown to agents: a moment tells where
everything is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Final, TypeAlias

from teamworld.errors import UserError
from teamworld.worlds.transport.observe import Names
from teamworld.worlds.transport.physics import BED_RANGE
from teamworld.worlds.transport.scene import Furniture, Instance
from teamworld.worlds.transport.sight import CHART_RANGE, NEVER, Moment

Static: TypeAlias = Mapping[str, Any]
Snapshot: TypeAlias = Mapping[str, Any]

#: How a house looks, for ``draw`` and the replay.
STYLE: Final[Mapping[str, Any]] = {
    "rooms": {"Kitchen": "#fbf2df", "Bedroom": "#f1e9f6", "Livingroom": "#e9f3e6", "Office": "#e2eff5"},
    "any_room": "#f0f0ee",
    "ink": "#20262c",
    "soft": "#6a737c",
    "wall": "#4a5058",
    "furniture": ["#e4dccf", "#c9bfae"],
    "bed": ["#bfe5cf", "#00795a"],
    "target": ["#ffd34d", "#8a6a00"],
    "container": ["#cdb4ea", "#5f4687"],
    "other": ["#d7dade", "#98a1aa"],
    "agents": ["#2f6fb0", "#c2572b", "#3c8d5a", "#8a4f9e"],
    "legend": [
        ["bed", "where targets go, and how near"],
        ["target", "target"],
        ["container", "container"],
        ["other", "thing of no use"],
        ["furniture", "furniture"],
    ],
}
#: Version of both; a drawing refuses others.
VERSION: Final = 1
#: Height above which furniture hangs out of the way, and square metres that a piece covers at least to be drawn.
_HANGS, _FOOTPRINT = 1.88, 0.02


def static(instance: Instance) -> dict[str, Any]:
    """Return what does not change while an episode is played.

    ``walls`` and rooms' boxes are [x0, z0, x1, z1]; ``furniture`` are outlines, lower pieces first. A ``snapshot``
    tells of ``items`` in the same order. ``bed`` is [x, z, how near targets count]; ``sight`` how far charts reach.
    """
    plan = instance.plan
    pieces = sorted(
        (piece for piece in plan.furniture if piece.bottom < _HANGS and _area(piece) >= _FOOTPRINT),
        key=lambda piece: piece.top,
    )
    bed = plan.furniture[instance.bed.furniture]
    return {
        "v": VERSION,
        "house": plan.name,
        "task": instance.task,
        "rooms": [{"id": room.id, "name": room.kind, "box": [*map(_cm, room.box)]} for room in plan.rooms],
        "walls": [[*map(_cm, wall)] for wall in plan.walls.tolist()],
        "furniture": [
            {"name": piece.name, "outline": [[_cm(x), _cm(z)] for x, z in piece.corners], "bed": piece is bed}
            for piece in pieces
        ],
        "items": [{"id": item.id, "name": item.name, "kind": item.kind} for item in instance.items],
        "goals": dict(instance.goals),
        "bed": [_cm(instance.bed.x), _cm(instance.bed.z), _cm(BED_RANGE)],
        "sight": _cm(CHART_RANGE),
    }


def snapshot(moment: Moment, names: Names, trails: Sequence[Sequence[tuple[int, int]]]) -> dict[str, Any]:
    """Return one moment.

    ``agents`` are [x, z, heading], the heading in whole degrees, 0 along z and 90 along x; ``hands`` the places of
    items in the static list, [left, right], -1 for none; ``trails`` the places of each agent since the last moment.
    ``items`` are [x, z, holder, container, state]: -1 for none, the state 0 not delivered, 1 delivered, 2 released.
    ``known`` are for each agent the items that it knows of, ``seen`` the per cents that it saw of each room, by number.
    ``moves`` are for each agent the moves forward so far and how many of them were blocked.
    """
    _, field, state, knowledge = moment
    return {
        "v": VERSION,
        "t": int(state.clock[0]),
        "agents": [[_cm(a["x"]), _cm(a["z"]), _degrees(a["east"], a["north"])] for a in state.agents],
        "hands": state.hands.tolist(),
        "trails": [[list(place) for place in trail] for trail in trails],
        "items": [
            [_cm(i["x"]), _cm(i["z"]), int(i["holder"]), int(i["inside"]), int(i["delivered"]) + int(i["released"])]
            for i in state.items
        ],
        "known": [
            [number for number in names.thing_numbers if things["seen"][number] != NEVER] for things in knowledge.things
        ],
        "seen": [
            [100 * int(cells) // max(int(size), 1) for cells, size in zip(rooms["cells"], field.size, strict=True)]
            for rooms in knowledge.rooms
        ],
        "moves": [[int(a["moves"]), int(a["blocked"])] for a in state.agents],
    }


def check_version(static: Static, snapshot: Snapshot) -> None:
    """Refuse data of another version.

    Raises:
        UserError: It is of another one.
    """
    for data in (static, snapshot):
        if data.get("v") != VERSION:
            raise UserError(f"expected a transport picture of version {VERSION}, got {data.get('v')!r}")


def _area(piece: Furniture) -> float:
    """Return the square metres of an outline."""
    corners = piece.corners
    pairs = zip(corners, (*corners[1:], corners[0]), strict=True)
    return abs(fsum(x0 * z1 - x1 * z0 for (x0, z0), (x1, z1) in pairs)) / 2


def _degrees(east: float, north: float) -> int:
    return round(math.degrees(math.atan2(east, north))) % 360


def _cm(metres: float) -> int:
    return round(float(metres) * 100)
