"""The kitchen, known to all; one moment of it, the truth or what somebody believes; and the facts that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.base import grid
from teamworld.worlds.base.beliefs import is_cell
from teamworld.worlds.contract import ImpossibleFacts

#: What hands and counters hold.
NOTHING, ONION, PLATE, SOUP = THINGS = ("nothing", "onion", "plate", "soup")
#: Onions that a pot takes; with the last it begins to cook.
FULL: Final = 3
#: The package's directions by their numbers.
FACINGS: Final = ("east", "south", "west", "north")
RELATIONS = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("FACES", "agent", FACINGS),
    Relation("HOLDS", "agent", THINGS),
    Relation("HOLDS", "counter", THINGS),
    Relation("ONIONS", "pot", ("number",)),
    Relation("STATE", "pot", ("open", "cooking", "ready")),
    Relation("LEFT", "pot", ("number",)),
    Relation("STATE", "soup", ("open", "delivered")),
)


class Kitchen(NamedTuple):
    """A layout."""

    size: Cell
    """Rows and columns."""
    floor: frozenset[Cell]
    stations: tuple[tuple[str, tuple[Cell, ...]], ...]
    """The cells of each kind of station that somebody can stand beside, in reading order."""
    cook_time: int
    """Steps from the last onion to the soup."""

    @classmethod
    def make(cls, size: Cell, floor: frozenset[Cell], stations: Mapping[str, tuple[Cell, ...]], time: int) -> Kitchen:
        """Return a layout without the stations that nobody can reach."""
        used = {
            kind: tuple(cell for cell in cells if floor.intersection(grid.list_neighbours(cell, size)))
            for kind, cells in stations.items()
        }
        return cls(size, floor, tuple(used.items()), time)

    def list(self, kind: str) -> tuple[Entity, ...]:
        """Return the stations of a kind."""
        return tuple(Entity(kind, number) for number in range(len(dict(self.stations)[kind])))

    def cell(self, station: Entity) -> Cell:
        """Return the cell of a station."""
        return dict(self.stations)[station.kind][station.id]

    @property
    def walls(self) -> frozenset[Cell]:
        """The cells that nobody can enter."""
        return _walls(self)

    def sides(self, station: Entity) -> tuple[Cell, ...]:
        """Return the cells from which a station is used."""
        return _sides(self, station)

    def distance(self, at: Cell, ends: tuple[Cell, ...]) -> int | None:
        """Return the steps to the nearest of some cells in an empty kitchen; None where there is no way."""
        ways = [grid.distances(self.size, end, self.walls).get(at) for end in ends]
        return min((way for way in ways if way is not None), default=None)

    def reach(self, at: Cell) -> frozenset[Entity]:
        """Return the stations that somebody at a cell can get to."""
        return _reach(self, at)


@lru_cache(maxsize=64)
def _walls(kitchen: Kitchen) -> frozenset[Cell]:
    rows, columns = kitchen.size
    return frozenset((row, column) for row in range(rows) for column in range(columns)) - kitchen.floor


@lru_cache(maxsize=4096)
def _sides(kitchen: Kitchen, station: Entity) -> tuple[Cell, ...]:
    cells = grid.list_neighbours(kitchen.cell(station), kitchen.size)
    return tuple(cell for cell in cells if cell in kitchen.floor)


@lru_cache(maxsize=4096)
def _reach(kitchen: Kitchen, at: Cell) -> frozenset[Entity]:
    stations = (station for kind, _ in kitchen.stations for station in kitchen.list(kind))
    return frozenset(s for s in stations if kitchen.distance(at, kitchen.sides(s)) is not None)


class Pot(NamedTuple):
    """A pot."""

    onions: int = 0
    left: int = 0
    """Steps until the soup is cooked, where it is full."""

    @property
    def is_full(self) -> bool:
        """Whether it cooks or is ready."""
        return self.onions >= FULL

    @property
    def state(self) -> str:
        """The state in a word."""
        return "open" if not self.is_full else "cooking" if self.left else "ready"


@dataclass(frozen=True)
class KitchenState:
    """One moment: all there is, or as much of it as somebody knows."""

    at: Mapping[AgentId, Cell]
    faces: Mapping[AgentId, str]
    hands: Mapping[AgentId, str]
    pots: tuple[Pot, ...]
    counters: Mapping[int, str]
    """What lies on counters, without the empty ones."""
    delivered: int = 0

    @property
    def soups(self) -> int:
        """Soups on plates, in hands and on counters."""
        return sum(thing == SOUP for thing in (*self.hands.values(), *self.counters.values()))

    def after(self, before: KitchenState) -> KitchenState:
        """Return the state with the soups that were delivered since the moment before."""
        taken = sum(old.is_full and not pot.is_full for old, pot in zip(before.pots, self.pots, strict=True))
        return replace(self, delivered=before.delivered + max(0, before.soups + taken - self.soups))


def list_facts(state: KitchenState, kitchen: Kitchen, soups: int) -> Iterator[Fact]:
    """Yield what a state tells."""
    for agent, cell in state.at.items():
        yield Fact(agent, "AT", cell)
        yield from (Fact(agent, "FACES", facing) for facing in [state.faces.get(agent)] if facing)
        yield Fact(agent, "HOLDS", state.hands.get(agent, NOTHING))
    for number, pot in enumerate(state.pots):
        name = Entity("pot", number)
        yield Fact(name, "ONIONS", pot.onions)
        yield Fact(name, "STATE", pot.state)
        if pot.state == "cooking":
            yield Fact(name, "LEFT", pot.left)
    for counter in kitchen.list("counter"):
        yield Fact(counter, "HOLDS", state.counters.get(counter.id, NOTHING))
    for number in range(1, soups + 1):
        yield Fact(Entity("soup", number), "STATE", "delivered" if number <= state.delivered else "open")


def read_state(facts: Facts, kitchen: Kitchen) -> KitchenState:
    """Return the state that facts tell of.

    Raises:
        ImpossibleFacts: A fact is about a cell, pot or counter that is not there.
    """
    at: dict[AgentId, Cell] = {}
    faces, hands = dict[AgentId, str](), dict[AgentId, str]()
    pots, counters, delivered = [Pot()] * len(kitchen.list("pot")), dict[int, str](), 0
    for fact in facts:
        subject, value = fact.subject, fact.value
        if isinstance(subject, str):
            if fact.predicate == "AT":
                if not is_cell(value) or value not in kitchen.floor:
                    raise ImpossibleFacts(f"cooks stand on the floor of the kitchen, got {fact}")
                at[subject] = value
            elif fact.predicate == "FACES":
                faces[subject] = str(value)
            elif fact.predicate == "HOLDS":
                hands[subject] = str(value)
            continue
        if subject.kind in ("pot", "counter") and subject not in kitchen.list(subject.kind):
            raise ImpossibleFacts(f"there is no {subject} in this kitchen")
        if subject.kind == "pot":
            pots[subject.id] = _read_pot(pots[subject.id], fact)
        elif subject.kind == "counter" and value != NOTHING:
            counters[subject.id] = str(value)
        elif subject.kind == "soup":
            delivered += value == "delivered"
    return KitchenState(at, faces, hands, tuple(pots), dict(sorted(counters.items())), delivered)


def _read_pot(pot: Pot, fact: Fact) -> Pot:
    if isinstance(fact.value, int):
        number = fact.value
        return pot._replace(onions=min(number, FULL)) if fact.predicate == "ONIONS" else pot._replace(left=number)
    return pot if fact.value == "open" else pot._replace(onions=FULL, left=max(1, pot.left) * (fact.value == "cooking"))
