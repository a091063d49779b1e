"""A tiny home in facts: two rooms, three containers, a table, three things; and what an agent perceives in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from teamworld.language import Entity, Fact, Facts, Relation, Role
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.inventory import Index, Inventory, make_inventory
from teamworld.methods.mhp.percept import Percept, perceive
from teamworld.seeding import generator
from teamworld.worlds.contract import Goal, View

KITCHEN, BEDROOM = Entity("kitchen", 11), Entity("bedroom", 12)
FRIDGE, CUPBOARD, CABINET = Entity("fridge", 21), Entity("kitchencabinet", 22), Entity("cabinet", 23)
TABLE = Entity("coffeetable", 31)
APPLE, OTHER, CAKE = Entity("apple", 41), Entity("apple", 42), Entity("cupcake", 43)
ROSTER: Final = (KITCHEN, BEDROOM, FRIDGE, CUPBOARD, CABINET, TABLE, APPLE, OTHER, CAKE)
WORDS: Final[tuple[tuple[str, Role, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...]] = (
    ("AT", "at", ("agent",), ("kitchen", "bedroom"), ()),
    ("HOLD", "held", ("agent",), ("apple", "cupcake"), ("grab",)),
    ("NEAR", "near", ("agent",), ("apple", "cupcake", "fridge"), ("go",)),
    ("POSITION", "position", ("agent",), ("cell",), ()),
    ("EXPLORED", "search", ("kitchen", "bedroom"), ("part", "all"), ("explore",)),
    ("STATE", "access", ("fridge", "kitchencabinet", "cabinet"), ("open", "closed"), ("open", "close", "check")),
    ("IN", "room", ("apple", "cupcake"), ("kitchen", "bedroom"), ()),
    ("INSIDE", "container", ("apple", "cupcake"), ("fridge", "kitchencabinet", "cabinet"), ("put",)),
    ("ON", "surface", ("apple", "cupcake"), ("coffeetable",), ("put",)),
)
RELATIONS: Final = tuple(
    Relation(predicate, kind, values, role=role, verbs=verbs)
    for predicate, role, kinds, values, verbs in WORDS
    for kind in kinds
)


def goal(thing: str, how: str, target: Entity, number: int) -> Goal:
    """Return the goal to bring so many things."""
    features = (("thing", thing), ("relation", how), ("target", target.kind))
    return Goal(f"{thing}_{how.lower()}_{target.kind}", "put", target, features, float(number), units=number)


ON_TABLE: Final = (goal("apple", "ON", TABLE, 2), goal("cupcake", "ON", TABLE, 1))
IN_FRIDGE: Final = (goal("apple", "INSIDE", FRIDGE, 2),)


def home(goals: Sequence[Goal] = ON_TABLE) -> Inventory:
    """Return what there is."""
    return make_inventory(ROSTER, goals, RELATIONS)


class Eyes:
    """A view that shows some facts."""

    def __init__(self, facts: Iterable[Fact], known: Iterable[Fact] | None = None) -> None:
        self.agent, self.t = "Alice", 0
        self.facts = Facts(tuple(facts))
        self.known = self.facts if known is None else Facts(tuple(known))
        self.goals: Sequence[Goal] = ()


def eyes(facts: Iterable[Fact], known: Iterable[Fact] | None = None) -> View:
    """Return a view that shows some facts."""
    return cast("View", Eyes(facts, known))


def facts(text: Mapping[Any, Any] | None = None, *, room: Entity = KITCHEN, agent: str = "Alice") -> list[Fact]:
    """Return facts of what an agent in a room perceives, given as ``{(subject, predicate): value}``."""
    found = [Fact(agent, "AT", room), Fact(room, "EXPLORED", "all")]
    return found + [Fact(subject, predicate, value) for (subject, predicate), value in (text or {}).items()]


def seen(known: Inventory, text: Mapping[Any, Any] | None = None, *, room: Entity = KITCHEN) -> Percept:
    """Return what an agent perceives."""
    found = perceive(eyes(facts(text, room=room)), known)
    assert found is not None
    return found


def rng(*names: str | int) -> np.random.Generator:
    """Return a generator."""
    return generator(0, "test", *names)


#: What stands where in truth: the closed kitchen and the closed bedroom.
STANDS: Final[Mapping[Any, Any]] = {
    (FRIDGE, "IN"): KITCHEN,
    (FRIDGE, "STATE"): "closed",
    (CUPBOARD, "IN"): KITCHEN,
    (CUPBOARD, "STATE"): "closed",
}


def believed(
    known: Inventory,
    place: Mapping[Entity, Entity],
    *,
    on: Mapping[Entity, Entity] | None = None,
    opened: Iterable[Entity] = (),
) -> Belief:
    """Return a belief whose drawn world is given; what is not named is where the draw put it."""
    belief = Belief(known, rng("belief"))
    belief.opened = {known.indices[one] for one in opened}
    for one, into in place.items():
        surface = (on or {}).get(one)
        belief.put(known.indices[one], known.indices[into], None if surface is None else known.indices[surface])
    return belief


#: A whole home: furniture in its rooms, one apple in the open fridge, one in the cabinet, the cake in the bedroom.
PLACES: Final[Mapping[Entity, Entity]] = {
    FRIDGE: KITCHEN,
    CUPBOARD: KITCHEN,
    CABINET: BEDROOM,
    TABLE: BEDROOM,
    APPLE: FRIDGE,
    OTHER: CABINET,
    CAKE: BEDROOM,
}


def numbers(known: Inventory, *entities: Entity) -> tuple[Index, ...]:
    """Return the numbers of some entities."""
    return tuple(known.indices[one] for one in entities)
