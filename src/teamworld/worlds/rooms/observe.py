"""Moments as facts and facts as moments; what an agent perceives and what it remembers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from teamworld.language import AgentId, Entity, Fact, Facts
from teamworld.worlds.contract import ImpossibleFacts, Relation
from teamworld.worlds.rooms.state import House, Item, State

#: What facts can state.
RELATIONS = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("STATE", "agent", ("able", "overcome")),
    Relation("HOLD", "agent", ("item",), role="held"),
    Relation("AT", "item", ("cell",)),
    Relation("WEIGHT", "item", ("number",)),
    Relation("STATE", "item", ("free", "held", "delivered", "lost")),
    Relation("STATE", "door", ("open", "shut")),
    Relation("AT", "fire", ("cell",)),
    Relation("UNSEEN", "room", ("cell",)),
)


@lru_cache(maxsize=1024)
def item(number: int) -> Entity:
    """Return the name of an item."""
    return Entity("item", number)


@lru_cache(maxsize=1024)
def door(number: int) -> Entity:
    """Return the name of a door."""
    return Entity("door", number)


def facts(state: State, house: House, rooms: Collection[int]) -> Iterator[Fact]:
    """Yield what is true in some rooms, and what a board shows to all: doors, and what was delivered."""
    seen = set(rooms)
    for agent, cell in state.agents.items():
        if seen.intersection(house.rooms_at(cell)):
            yield Fact(agent, "AT", cell)
            yield Fact(agent, "STATE", "overcome" if agent in state.overcome else "able")
            if (number := state.held(agent)) is not None:
                yield Fact(agent, "HOLD", item(number))
    for number, thing in state.items.items():
        if thing.cell is not None and seen.intersection(house.rooms_at(thing.cell)):
            yield Fact(item(number), "AT", thing.cell)
        elif thing.cell is not None:
            continue
        yield Fact(item(number), "WEIGHT", thing.weight)
        yield Fact(item(number), "STATE", thing.state)
    for number in range(len(house.doors)):
        yield Fact(door(number), "STATE", "shut" if number in state.shut else "open")
    for cell in sorted(state.fire):
        if seen.intersection(house.rooms_at(cell)):
            yield Fact(Entity("fire", cell[0] * house.size[1] + cell[1]), "AT", cell)
    for number in sorted(state.unseen):
        yield Fact(Entity("room", number), "UNSEEN", house.middle(number))


def believed(facts: Facts) -> State:
    """Return the moment that facts tell of; computed once for each collection.

    Raises:
        ImpossibleFacts: A predicate is none of the world's.
    """
    return facts.derive(_read)


def _read(stated: Facts) -> State:
    known: dict[str, dict[Entity | str, object]] = {"AT": {}, "HOLD": {}, "WEIGHT": {}, "STATE": {}, "UNSEEN": {}}
    for fact in stated:
        if fact.predicate not in known:
            raise ImpossibleFacts(f"facts of rooms state one of {', '.join(known)}, got {fact}")
        known[fact.predicate][fact.subject] = fact.value
    at, states = known["AT"], known["STATE"]
    things = {}
    for subject, weight in known["WEIGHT"].items():
        if isinstance(subject, Entity):
            hands = tuple(str(agent) for agent, held in known["HOLD"].items() if held == subject)
            things[subject.id] = Item(weight, at.get(subject), hands, states.get(subject, "free"))  # type: ignore[arg-type]
    return State(
        agents={name: cell for name, cell in at.items() if isinstance(name, str)},  # type: ignore[misc]
        items=dict(sorted(things.items())),
        shut=frozenset(s.id for s, v in states.items() if isinstance(s, Entity) and s.kind == "door" and v == "shut"),
        fire={cell: 0 for s, cell in at.items() if isinstance(s, Entity) and s.kind == "fire"},  # type: ignore[misc]
        overcome={name: 0 for name, value in states.items() if isinstance(name, str) and value == "overcome"},
        unseen=frozenset(s.id for s in known["UNSEEN"] if isinstance(s, Entity)),
    )


@dataclass
class RoomMemory:
    """What one agent has seen, and when: a fact stays until its subject or its place is seen otherwise."""

    house: House
    rooms: set[int] = field(default_factory=set)
    """Rooms that it has been in."""
    perceived: tuple[Fact, ...] = ()
    past: dict[Fact, int] = field(default_factory=dict)
    """What is out of its sight, with the tick of last sight."""

    def look(self, state: State, agent: AgentId, t: int) -> None:
        """Take in what the agent perceives at tick ``t``."""
        here = self.house.rooms_at(state.agents[agent])
        self.rooms.update(here)
        unseen = frozenset(range(self.house.rooms)) - self.rooms
        before = self.past | {fact: t - 1 for fact in self.perceived if fact.predicate != "UNSEEN"}
        perceived = State(state.agents, state.items, state.shut, state.fire, overcome=state.overcome, unseen=unseen)
        self.perceived = tuple(facts(perceived, self.house, here))
        seen = {fact.subject for fact in self.perceived}
        # Whatever should be in sight and is not: it is elsewhere now, and what else is known of it may stand.
        moved = {
            fact.subject
            for fact in before
            if fact.predicate == "AT"
            and isinstance(fact.value, tuple)
            and set(here) & set(self.house.rooms_at(fact.value))
        }
        self.past = {
            fact: tick
            for fact, tick in before.items()
            if fact.subject not in seen and not (fact.subject in moved and fact.predicate in ("AT", "HOLD"))
        }

    @property
    def parts(self) -> tuple[Facts, Facts, Facts]:
        """What is perceived now, what was perceived before, and both."""
        return (
            Facts(self.perceived),
            Facts(tuple(self.past), self.past),
            Facts((*self.perceived, *self.past), self.past),
        )
