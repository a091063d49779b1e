"""One moment of the field: the truth, or what somebody believes; and the facts that tell it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.base.beliefs import is_cell
from teamworld.worlds.base.grid import is_inside
from teamworld.worlds.contract import ImpossibleFacts

RELATIONS = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("LEVEL", "agent", ("number",)),
    Relation("AT", "food", ("cell",)),
    Relation("LEVEL", "food", ("number",)),
    Relation("STATE", "food", ("free", "loaded")),
    Relation("UNSEEN", "area", ("cell",), role="map"),
)


class Food(NamedTuple):
    """A food on the field."""

    level: int
    """The levels that it takes at once."""
    loaded: bool = False


@dataclass(frozen=True)
class ForagingState:
    """One moment: all there is, or as much of it as somebody knows."""

    at: Mapping[AgentId, Cell]
    levels: Mapping[AgentId, int]
    foods: Mapping[Cell, Food]
    """Food does not move: its cell names it."""
    unseen: Mapping[int, Cell] = field(default_factory=dict)
    """In beliefs: areas not wholly seen, each with a cell that was not."""

    def closed(self, agent: AgentId) -> frozenset[Cell]:
        """Return the cells that an agent cannot enter: food, and where teammates are."""
        return self.fields_of_food() | {cell for other, cell in self.at.items() if other != agent}

    def fields_of_food(self) -> frozenset[Cell]:
        """Return the cells with food."""
        return frozenset(cell for cell, food in self.foods.items() if not food.loaded)


class Field(NamedTuple):
    """The field, known to all."""

    size: Cell
    """Rows and columns."""
    sight: int
    """How many cells a forager sees in each direction; as many as the field has where it sees all."""

    @property
    def is_observed(self) -> bool:
        """Whether everybody sees all of it."""
        return self.sight >= max(self.size)

    def food(self, cell: Cell) -> Entity:
        """Return the name of the food of a cell."""
        return Entity("food", cell[0] * self.size[1] + cell[1])

    def cell(self, food: Entity) -> Cell:
        """Return the cell of a food."""
        return divmod(food.id, self.size[1])

    def window(self, at: Cell) -> Iterator[Cell]:
        """Yield the cells that are seen from a cell."""
        top, left = (max(0, place - self.sight) for place in at)
        rows, columns = range(top, at[0] + self.sight + 1), range(left, at[1] + self.sight + 1)
        return (cell for cell in product(rows, columns) if is_inside(cell, self.size))

    def area(self, cell: Cell) -> int:
        """Return the area of a cell: squares as large as a window."""
        side = 2 * self.sight + 1
        return cell[0] // side * -(-self.size[1] // side) + cell[1] // side

    def list_unseen(self, seen: Collection[object]) -> dict[int, Cell]:
        """Return the areas with cells that are not among those seen, each with the one nearest to its middle."""
        unseen: dict[int, tuple[int, Cell]] = {}
        for cell in product(range(self.size[0]), range(self.size[1])):
            if cell not in seen:
                side, area = 2 * self.sight + 1, self.area(cell)
                off = sum(abs(place % side - self.sight) for place in cell)
                unseen[area] = min(unseen.get(area, (off, cell)), (off, cell))
        return {area: cell for area, (_, cell) in sorted(unseen.items())}


def list_facts(state: ForagingState, field: Field) -> Iterator[Fact]:
    """Yield what a state tells."""
    for agent, cell in state.at.items():
        yield Fact(agent, "AT", cell)
    for agent, level in state.levels.items():
        yield Fact(agent, "LEVEL", level)
    for cell, food in sorted(state.foods.items()):
        yield from list_food(field.food(cell), cell, food)
    for area, cell in state.unseen.items():
        yield Fact(Entity("area", area), "UNSEEN", cell)


def list_food(name: Entity, cell: Cell, food: Food) -> Iterator[Fact]:
    """Yield what is known of a food."""
    if not food.loaded:
        yield Fact(name, "AT", cell)
    yield Fact(name, "LEVEL", food.level)
    if food.loaded:
        yield Fact(name, "STATE", "loaded")


def read_state(facts: Facts, field: Field) -> ForagingState:
    """Return the state that facts tell of.

    Raises:
        ImpossibleFacts: A fact is none of the world's, or is about a cell outside the field.
    """
    at: dict[AgentId, Cell] = {}
    levels: dict[AgentId, int] = {}
    foods: dict[Cell, Food] = {}
    unseen: dict[int, Cell] = {}
    for fact in facts:
        subject, value = fact.subject, fact.value
        if fact.predicate in ("AT", "UNSEEN") and not (is_cell(value) and is_inside(value, field.size)):
            raise ImpossibleFacts(f"a place is a cell of the field of {field.size}, got {fact}")
        if isinstance(subject, str):
            if fact.predicate == "AT" and is_cell(value):
                at[subject] = value
            elif fact.predicate == "LEVEL" and isinstance(value, int):
                levels[subject] = value
        elif subject.kind == "area" and is_cell(value):
            unseen[subject.id] = value
        elif subject.kind == "food":
            cell = field.cell(subject)
            if not is_inside(cell, field.size):
                raise ImpossibleFacts(f"there is no {subject} on a field of {field.size}")
            food = foods.get(cell, Food(1))
            if fact.predicate == "LEVEL" and isinstance(value, int):
                food = food._replace(level=value)
            elif fact.predicate == "STATE":
                food = food._replace(loaded=value == "loaded")
            foods[cell] = food
    return ForagingState(at, levels, dict(sorted(foods.items())), unseen)
