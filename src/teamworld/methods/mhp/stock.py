"""What there is, by number: rooms, containers, furniture and things of the task, and what is to be brought where.

Everything comes from the roster, the goals and the relations that facts of the world can state; none of it tells where
anything is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.language import Entity, GoalId
from teamworld.worlds.contract import Goal, Relation

#: Place of an entity in the roster.
Number: TypeAlias = int
How: TypeAlias = Literal["ON", "INSIDE"]


class Need(NamedTuple):
    """So many things of a class, on or in one target."""

    goal: GoalId
    things: tuple[Number, ...]
    """All of the class."""
    how: How
    target: Number
    number: int


@dataclass(frozen=True)
class Stock:
    """What there is."""

    entities: tuple[Entity, ...]
    numbers: Mapping[Entity, Number]
    rooms: tuple[Number, ...]
    containers: tuple[Number, ...]
    """Where things may be hidden; a target can be one of them."""
    furniture: tuple[Number, ...]
    """What is neither room nor container nor thing: tables that are targets, or look like them."""
    things: tuple[Number, ...]
    """What may have to be brought."""
    needs: tuple[Need, ...]

    @property
    def units(self) -> int:
        """How many things are to be brought."""
        return sum(need.number for need in self.needs)


def stock(roster: Sequence[Entity], goals: Iterable[Goal], relations: Iterable[Relation]) -> Stock:
    """Sort a roster.

    Args:
        roster: All that the task is about.
        goals: As they stand before the first step.
        relations: What facts of the world can state: what can be EXPLORED is a room, what has a STATE a container.

    Raises:
        UserError: A goal is not to put things of a class on or into one thing of the roster.
    """
    of: dict[str, set[str]] = {"EXPLORED": set(), "STATE": set()}
    for relation in relations:
        if relation.predicate in of:
            of[relation.predicate].add(relation.subject)
    numbers = {entity: number for number, entity in enumerate(roster)}
    needs = tuple(_need(goal, roster, numbers) for goal in goals)
    things = {thing for need in needs for thing in need.things}
    kinds: dict[str, list[Number]] = {"room": [], "container": [], "thing": [], "furniture": []}
    for number, entity in enumerate(roster):
        if number in things:
            kinds["thing"].append(number)
        elif entity.kind in of["EXPLORED"]:
            kinds["room"].append(number)
        else:
            kinds["container" if entity.kind in of["STATE"] else "furniture"].append(number)
    return Stock(
        tuple(roster),
        numbers,
        rooms=tuple(kinds["room"]),
        containers=tuple(kinds["container"]),
        furniture=tuple(kinds["furniture"]),
        things=tuple(kinds["thing"]),
        needs=needs,
    )


def _need(goal: Goal, roster: Sequence[Entity], numbers: Mapping[Entity, Number]) -> Need:
    told = dict(goal.features)
    how, target = told.get("relation"), goal.thing
    if how not in ("ON", "INSIDE") or target is None or target not in numbers or "thing" not in told:
        raise UserError(
            f"mhp plans for goals that put things of a class ON or INSIDE one target of the roster, got {goal.label}: "
            "take another world or method"
        )
    things = tuple(number for number, entity in enumerate(roster) if entity.kind == told["thing"])
    return Need(goal.id, things, "ON" if how == "ON" else "INSIDE", numbers[target], round(goal.weight))
