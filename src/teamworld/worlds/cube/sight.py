"""What a team has seen, if its agents do not see everything (CUBE spec B17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell, Fact, Facts
from teamworld.worlds.cube.symbolic_state import GRID, Square, SymbolicState, block_facts, unseen_facts


class TeamKnowledge(NamedTuple):
    """What the team knows at one moment."""

    state: SymbolicState
    seen: dict[int, int]
    """Tick at which each known block was last seen."""


def area_side(radius: int) -> int:
    """Return the side of the areas in which unseen ground is counted, in cells: one look from within shows all."""
    return radius + 1


class TeamMemory:
    """The team's shared memory of blocks.

    An agent sees the square of cells up to ``radius`` rows and columns away; a block is seen if one of its cells is.
    All know where all agents are, for each reports its own place, and all are told when a block is delivered.
    A block that is not where it was last seen is forgotten until it is seen again. The grid is cut into square
    areas of ``area_side`` cells; an area is unseen until each of its cells has been in somebody's view.

    Args:
        radius: How far agents see, in rows and columns.
        side: Side of the grid.
    """

    def __init__(self, radius: int, side: int) -> None:
        self.radius = radius
        self._places: dict[int, Square] = {}
        self._known: Mapping[int, Square] = {}
        self._seen: dict[int, int] = {}
        self._looked = np.zeros((side, side), np.bool_)
        starts = [(row, col) for row in range(0, side, area_side(radius)) for col in range(0, side, area_side(radius))]
        self._areas = dict(enumerate(starts))

    def look(self, truth: SymbolicState, t: int) -> TeamKnowledge:
        """Add what the team sees at tick ``t`` and return what it knows."""
        cells = list(truth.agents.values())
        self._mark(cells)
        for block, square in truth.blocks.items():
            if square.delivered or any(within(cell, square, self.radius) for cell in cells):
                self._places[block], self._seen[block] = square, t
            elif block in self._places and self._contradicted(self._places[block], cells):
                del self._places[block], self._seen[block]
        known = {block: self._places[block] for block in sorted(self._places)}
        state = SymbolicState(
            truth.side, truth.agents, self._known if known == self._known else known, dict(self._areas)
        )
        self._known = state.blocks  # as long as nothing has moved, what follows from the blocks stays with them
        return TeamKnowledge(state, dict(self._seen))

    def _mark(self, cells: list[Cell]) -> None:
        """Note what is in view of agents on these cells, and which areas have now been wholly seen."""
        far, size = self.radius, area_side(self.radius)
        for row, col in cells:
            self._looked[max(0, row - far) : row + far + 1, max(0, col - far) : col + far + 1] = True
        for area, (row, col) in list(self._areas.items()):
            if self._looked[row : row + size, col : col + size].all():
                del self._areas[area]

    def _contradicted(self, square: Square, cells: list[Cell]) -> bool:
        return any(within(cell, square, self.radius) for cell in cells)


def within(cell: Cell, square: Square, radius: int) -> bool:
    """Return whether a cell of the block is at most ``radius`` rows and columns away."""
    rows = max(square.row - cell[0], cell[0] - (square.row + square.weight - 1))
    cols = max(square.col - cell[1], cell[1] - (square.col + square.weight - 1))
    return max(rows, cols) <= radius


def split(knowledge: TeamKnowledge, agent: AgentId, radius: int, t: int) -> tuple[Facts, Facts, Facts]:
    """Return what an agent sees now, what it recalls of the rest, and both together."""
    state, seen = knowledge
    at = state.agents[agent]
    now, then, ticks = [Fact(GRID, "SIDE", state.side)], list[Fact](), dict[Fact, int]()
    for mate, cell in state.agents.items():
        fact = Fact(mate, "AT", cell)
        if max(abs(cell[0] - at[0]), abs(cell[1] - at[1])) <= radius:
            now.append(fact)
        else:
            then.append(fact)
            ticks[fact] = t
    for block, square in state.blocks.items():
        facts = block_facts(block, square)
        if square.delivered or (seen[block] == t and within(at, square, radius)):
            now += facts
        else:
            then += facts
            ticks.update(dict.fromkeys(facts, seen[block]))
    unseen = unseen_facts(state)
    return Facts((*now, *unseen)), Facts(tuple(then), ticks), Facts((*now, *then, *unseen), ticks)
