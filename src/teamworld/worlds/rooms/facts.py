"""States as facts and facts as states."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from teamworld.language import Entity, Fact, Facts, Relation
from teamworld.worlds.contract import ImpossibleFacts
from teamworld.worlds.rooms.state import House, Item, State

RELATIONS = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("STATE", "agent", ("able", "overcome")),
    Relation("HOLD", "agent", ("item",), role="held"),
    Relation("AT", "item", ("cell",)),
    Relation("WEIGHT", "item", ("number",)),
    Relation("STATE", "item", ("free", "held", "delivered", "lost")),
    Relation("STATE", "door", ("open", "shut")),
    Relation("AT", "fire", ("cell",)),
    Relation("UNSEEN", "room", ("cell",), role="map"),
)


def item(number: int) -> Entity:
    """Return the name of an item."""
    return Entity("item", number)


def door(number: int) -> Entity:
    """Return the name of a door."""
    return Entity("door", number)


def list_facts(state: State, house: House, rooms: Collection[int]) -> Iterator[Fact]:
    """Yield what is true in some rooms, and what a board shows to all: doors, and what was delivered."""
    seen = set(rooms)
    for agent, cell in state.agents.items():
        if seen.intersection(house.rooms_at(cell)):
            yield Fact(agent, "AT", cell)
            yield Fact(agent, "STATE", "overcome" if agent in state.overcome else "able")
            if (number := state.held(agent)) is not None:
                yield Fact(agent, "HOLD", item(number))
    for number, thing in state.items.items():
        if thing.cell is not None:
            if not seen.intersection(house.rooms_at(thing.cell)):
                continue
            yield Fact(item(number), "AT", thing.cell)
        yield Fact(item(number), "WEIGHT", thing.weight)
        yield Fact(item(number), "STATE", thing.state)
    for number in range(len(house.doors)):
        yield Fact(door(number), "STATE", "shut" if number in state.shut else "open")
    for cell in sorted(state.fire):
        if seen.intersection(house.rooms_at(cell)):
            yield Fact(Entity("fire", cell[0] * house.size[1] + cell[1]), "AT", cell)
    for number in sorted(state.unseen):
        yield Fact(Entity("room", number), "UNSEEN", house.middle(number))


def read_state(facts: Facts) -> State:
    """Return the state that facts tell of; computed once for each collection.

    Raises:
        ImpossibleFacts: A predicate is none of the world's.
    """
    return facts.derive(_read)


def _read(facts: Facts) -> State:
    known: dict[str, dict[Entity | str, object]] = {relation.predicate: {} for relation in RELATIONS}
    for fact in facts:
        if fact.predicate not in known:
            raise ImpossibleFacts(f"facts of rooms state one of {', '.join(known)}, got {fact}")
        known[fact.predicate][fact.subject] = fact.value
    at, states = known["AT"], known["STATE"]
    items = {}
    for subject, weight in known["WEIGHT"].items():
        if isinstance(subject, Entity):
            holders = tuple(str(agent) for agent, held in known["HOLD"].items() if held == subject)
            items[subject.id] = Item(weight, at.get(subject), holders, states.get(subject, "free"))  # type: ignore[arg-type]
    return State(
        agents={name: cell for name, cell in at.items() if isinstance(name, str)},  # type: ignore[misc]
        items=dict(sorted(items.items())),
        shut=frozenset(s.id for s, v in states.items() if isinstance(s, Entity) and s.kind == "door" and v == "shut"),
        fire={cell: 0 for s, cell in at.items() if isinstance(s, Entity) and s.kind == "fire"},  # type: ignore[misc]
        overcome={name: 0 for name, value in states.items() if isinstance(name, str) and value == "overcome"},
        unseen=frozenset(s.id for s in known["UNSEEN"] if isinstance(s, Entity)),
    )
