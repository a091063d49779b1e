"""What rooms are made of, and one moment of them. A moment is a value: the truth, or what somebody believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from teamworld.language import AgentId, Cell
from teamworld.worlds.contract import ImpossibleFacts

#: Cells that each kind of agent goes in a step.
SPEED: Mapping[str, int] = {"carrier": 1, "scout": 2}


@dataclass(frozen=True)
class House:
    """The floor plan, known to all: rooms in a row, each joined to the next by a door in the wall between them."""

    rooms: int
    height: int = 5
    width: int = 5

    @cached_property
    def size(self) -> Cell:
        """Rows and columns, walls between rooms included."""
        return self.height, self.rooms * (self.width + 1) - 1

    @cached_property
    def doors(self) -> tuple[Cell, ...]:
        """The cell of each door; door ``d`` joins room ``d`` and room ``d + 1``."""
        return tuple((self.height // 2, (d + 1) * (self.width + 1) - 1) for d in range(self.rooms - 1))

    @cached_property
    def floor(self) -> tuple[Cell, ...]:
        """All cells that are no wall: those of the rooms, then the doors."""
        return (*(cell for room in range(self.rooms) for cell in self.cells(room)), *self.doors)

    @property
    def table(self) -> Cell:
        """Where things are brought: a corner of the last room."""
        return 0, self.size[1] - 1

    def middle(self, room: int) -> Cell:
        """Return the cell in the middle of a room."""
        return self.height // 2, room * (self.width + 1) + self.width // 2

    def cells(self, room: int) -> tuple[Cell, ...]:
        """Return the cells of a room."""
        left = room * (self.width + 1)
        return tuple((row, col) for row in range(self.height) for col in range(left, left + self.width))

    def rooms_at(self, cell: Cell) -> tuple[int, ...]:
        """Return the rooms that are seen from a cell: its own; both from a doorway; none from a wall."""
        room, rest = divmod(cell[1], self.width + 1)
        if not (0 <= cell[0] < self.height and 0 <= cell[1] < self.size[1]):
            return ()
        if rest < self.width:
            return (room,)
        return (room, room + 1) if cell in self.doors else ()

    def beside(self, cell: Cell) -> tuple[Cell, ...]:
        """Return the cells that one step leads to, doors included, in a fixed order."""
        row, col = cell
        steps = ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1))
        return tuple(step for step in steps if self.rooms_at(step))


@lru_cache(maxsize=4096)
def distances(house: House, end: Cell, closed: frozenset[Cell]) -> Mapping[Cell, int]:
    """Return the steps to ``end`` from each cell from which there is a way around the closed cells."""
    steps, edge = {end: 0}, [end]
    for cell in edge:  # grows while it is gone through
        for other in house.beside(cell):
            if other not in steps and other not in closed:
                steps[other] = steps[cell] + 1
                edge.append(other)
    return steps


class Item(NamedTuple):
    """A thing to be brought to the table."""

    weight: int
    """Carriers that it takes at once."""
    cell: Cell | None
    """None where nobody knows, or where it matters no more."""
    holders: tuple[AgentId, ...] = ()
    state: Literal["free", "held", "delivered", "lost"] = "free"


@dataclass(frozen=True)
class State:
    """One moment: all there is, or as much of it as somebody knows."""

    agents: Mapping[AgentId, Cell]
    """Where each living agent is."""
    items: Mapping[int, Item]
    shut: frozenset[int] = frozenset()
    """Doors that are shut."""
    fire: Mapping[Cell, int] = field(default_factory=dict)
    """Burning cells, and for how many more steps (0 in beliefs: nobody sees that)."""
    ash: frozenset[Cell] = frozenset()
    """Cells that have burnt out; they do not burn again."""
    overcome: Mapping[AgentId, int] = field(default_factory=dict)
    """Agents that the smoke has overcome, and for how many more steps they cannot act."""
    unseen: frozenset[int] = frozenset()
    """In beliefs: rooms that the believer has never seen."""

    def closed(self, house: House) -> frozenset[Cell]:
        """Return the cells that nobody should enter: fire, and doors that are shut."""
        return frozenset(self.fire) | {house.doors[door] for door in self.shut}

    def place(self, agent: AgentId) -> Cell:
        """Return where an agent is.

        Raises:
            ImpossibleFacts: Nobody knows.
        """
        if agent not in self.agents:
            raise ImpossibleFacts(f"the facts do not tell where {agent} is")
        return self.agents[agent]

    def held(self, agent: AgentId) -> int | None:
        """Return the item in an agent's hands."""
        return next((number for number, item in self.items.items() if agent in item.holders), None)
