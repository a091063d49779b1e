"""The task's entities by index, and what is to be brought where.

All of it comes from the entities of the task, the goals and the relations of the world; none says where things are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.language import Entity, GoalId, Relation
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import Goal

#: Place of an entity among those of the task.
Index: TypeAlias = int


class Demand(NamedTuple):
    """So many things of a class, in or on one target."""

    goal: GoalId
    things: tuple[Index, ...]
    """All of the class."""
    inside: bool
    """Whether they are to be in the target; else on it."""
    target: Index
    number: int


@dataclass(frozen=True)
class Inventory:
    """All that the task is about."""

    entities: tuple[Entity, ...]
    words: Vocabulary
    indices: Mapping[Entity, Index]
    rooms: tuple[Index, ...]
    containers: tuple[Index, ...]
    """Where things may be hidden; a target can be one of them."""
    furniture: tuple[Index, ...]
    """What is neither room nor container nor thing: tables that are targets, or look like them."""
    things: tuple[Index, ...]
    """What may have to be brought."""
    demands: tuple[Demand, ...]

    @property
    def units(self) -> int:
        """How many things are to be brought."""
        return sum(demand.number for demand in self.demands)

    def demand_of(self, thing: Index) -> int | None:
        """Return the place in ``demands`` of the first one that a thing can serve."""
        return next((place for place, demand in enumerate(self.demands) if thing in demand.things), None)


def make_inventory(entities: Sequence[Entity], goals: Iterable[Goal], relations: Iterable[Relation]) -> Inventory:
    """Sort the entities of a task.

    Args:
        entities: All that the task is about.
        goals: As they stand before the first step.
        relations: What facts of the world can state: what can be searched is a room, what can be opened a container.

    Raises:
        UserError: A goal is not to put things of a class on or into one of the entities.
    """
    words = Vocabulary(relations)
    indices = {entity: index for index, entity in enumerate(entities)}
    demands = tuple(_make_demand(goal, entities, indices, words) for goal in goals)
    wanted = {thing for demand in demands for thing in demand.things}
    rest = [index for index in range(len(entities)) if index not in wanted]
    rooms = tuple(index for index in rest if entities[index].kind in words.rooms)
    containers = tuple(index for index in rest if index not in rooms and entities[index].kind in words.containers)
    return Inventory(
        tuple(entities),
        words,
        indices,
        rooms=rooms,
        containers=containers,
        furniture=tuple(index for index in rest if index not in rooms and index not in containers),
        things=tuple(sorted(wanted)),
        demands=demands,
    )


def _make_demand(goal: Goal, entities: Sequence[Entity], indices: Mapping[Entity, Index], words: Vocabulary) -> Demand:
    relation, kind, target = dict(goal.features).get("relation"), wanted_kind(goal), goal.thing
    known = relation in (words.surface, words.container) and relation and kind is not None
    if not known or target is None or target not in indices:
        raise UserError(
            f"mhp plans for goals that put things of a class ON or INSIDE one target of the roster, got {goal.label}: "
            "take another world or method"
        )
    things = tuple(index for index, entity in enumerate(entities) if entity.kind == kind)
    return Demand(goal.id, things, relation == words.container, indices[target], round(goal.weight))
