"""What one agent knows of a home, as the replay draws it: rooms about as large as what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from teamworld.language import AgentId, Cell, Entity
from teamworld.worlds.base.known_picture import AWAY, KnownPicture, guess_extent
from teamworld.worlds.contract import Goal, View
from teamworld.worlds.household.drawing_data import VERSION, touching
from teamworld.worlds.household.observe import Known, believed

#: Half of a side of furniture whose size no fact tells, in centimetres; rooms, and how far they reach behind furniture.
_FURNITURE: Final = 28
_ROOM: Final = 220
_BEYOND: Final = 45


def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
    """Return the home with the agents, furniture and things that the facts of a view tell of."""
    known, goals = believed(view.known), view.goals
    wanted = {_features(goal)["thing"] for goal in goals}
    by_id = attrgetter("id")
    things = sorted(
        {entity for entity in (*known.places, *(held for hands in known.hands.values() for held in hands))
         if entity.kind in wanted},
        key=by_id,
    )  # fmt: skip
    targets = {goal.thing for goal in goals if goal.thing is not None}
    pieces = sorted({*targets, *known.room, *known.opened} - {*things}, key=by_id)
    furniture = [
        {
            "id": piece.id,
            "name": piece.kind,
            "container": piece in known.opened,
            "goal": piece in targets,
            "box": _box(known.points.get(piece, AWAY)),
        }
        for piece in pieces
    ]
    static = {
        "v": VERSION,
        "rooms": [{"id": room.id, "name": room.kind, "box": _extent(room, known)} for room in known.rooms],
        "doors": [],
        "furniture": furniture,
        "touching": touching(furniture),
        "things": [{"id": thing.id, "name": thing.kind} for thing in things],
        "needs": [_need(goal) for goal in goals],
    }
    frame = {
        "v": VERSION,
        "t": view.t,
        "agents": [[*known.points.get(agent, AWAY), None] for agent in team],
        "hands": [_two([held.id for held in known.hands.get(agent, ())]) for agent in team],
        "open": sorted(piece.id for piece, is_open in known.opened.items() if is_open),
        "things": [_place(thing, known, team) for thing in things],
        "missing": [goal.units for goal in goals],
    }
    return KnownPicture(static, frame, frozenset(agent for agent in team if agent not in known.points))


def _features(goal: Goal) -> Mapping[str, str]:
    return dict(goal.features)


def _need(goal: Goal) -> dict[str, Any]:
    features, target = _features(goal), goal.thing
    return {
        "relation": features["relation"],
        "name": features["thing"],
        "target": None if target is None else target.id,
        "number": int(goal.weight),
    }


def _box(middle: Cell) -> list[int]:
    x, z = middle
    return [x - _FURNITURE, z - _FURNITURE, x + _FURNITURE, z + _FURNITURE]


def _extent(room: Entity, known: Known) -> list[int]:
    inside = [known.points[entity] for entity, within in known.room.items() if within == room]
    inside += [known.points[agent] for agent, within in known.at.items() if within == room and agent in known.points]
    return guess_extent(known.rooms[room], inside, least=_ROOM, beyond=_BEYOND)


def _two(held: list[int]) -> list[int | None]:
    return [*held, None, None][:2]


def _place(thing: Entity, known: Known, team: Sequence[AgentId]) -> list[Any]:
    holder = known.holder(thing)
    if holder is not None:
        return ["HELD", team.index(holder) + 1, *known.points.get(holder, AWAY)]
    relation, where = known.places[thing]
    return [relation, where.id, *known.points.get(thing, AWAY)]
