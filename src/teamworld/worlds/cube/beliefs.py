"""Beliefs in CUBE: team memory, latent variables, observation probability and conflict cost.

Agents report their positions, so all positions are known. Where sight is limited, blocks have to be found: the position
of a block is a latent variable over at most a few dozen sectors of the grid, each named by its top-left cell. Facts may
be invented by a language model: impossible ones are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell, Fact, Facts
from teamworld.worlds.base.beliefs import UNSEEN_TOO, is_cell, overlap, readable
from teamworld.worlds.contract import LatentVariable, Option, Possible
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import block_of
from teamworld.worlds.cube.geometry import cells_to_edge
from teamworld.worlds.cube.push_path import cells_between
from teamworld.worlds.cube.symbolic_state import (
    GRID,
    OPPOSITE,
    SIDES,
    Square,
    SymbolicState,
    area_side,
    block_facts,
    entity,
    is_within,
    once_per_blocks,
    once_per_state,
    read_state,
    unseen_facts,
)

#: Sectors on a side of the grid, at most.
SECTORS: Final = 6

#: Largest side of a grid that is believed where nobody was told the side.
LARGEST: Final = 1024

#: Cells by which a block is pushed that is not pushed to the goal, where the option does not say.
ASIDE: Final = 2


# ---- what the team has seen


class TeamKnowledge(NamedTuple):
    """What the team knows at one step."""

    state: SymbolicState
    seen: dict[int, int]
    """Step at which each known block was last seen."""
    looked: frozenset[Cell] = frozenset()
    """The cells of areas not seen entirely that somebody has seen."""


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
        """Add what the team sees at step ``t`` and return what it knows."""
        cells = list(truth.agents.values())
        self._mark(cells)
        for block, square in truth.blocks.items():
            if square.delivered or any(is_within(cell, square, self.radius) for cell in cells):
                self._places[block], self._seen[block] = square, t
            elif block in self._places and self._contradicted(self._places[block], cells):
                del self._places[block], self._seen[block]
        known = {block: self._places[block] for block in sorted(self._places)}
        state = SymbolicState(
            truth.side, truth.agents, self._known if known == self._known else known, dict(self._areas)
        )
        self._known = state.blocks  # as long as nothing has moved, what follows from the blocks stays with them
        return TeamKnowledge(state, dict(self._seen), self._partly_seen())

    def _mark(self, cells: list[Cell]) -> None:
        """Mark the cells in view of agents on these cells, and drop the areas that have been seen entirely."""
        far, size = self.radius, area_side(self.radius)
        for row, col in cells:
            self._looked[max(0, row - far) : row + far + 1, max(0, col - far) : col + far + 1] = True
        for area, (row, col) in list(self._areas.items()):
            if self._looked[row : row + size, col : col + size].all():
                del self._areas[area]

    def _partly_seen(self) -> frozenset[Cell]:
        """Return the cells of areas not seen entirely that somebody has seen."""
        size = area_side(self.radius)
        return frozenset(
            (row + int(i), col + int(j))
            for row, col in self._areas.values()
            for i, j in np.argwhere(self._looked[row : row + size, col : col + size])
        )

    def _contradicted(self, square: Square, cells: list[Cell]) -> bool:
        return any(is_within(cell, square, self.radius) for cell in cells)


def split_facts(knowledge: TeamKnowledge, agent: AgentId, radius: int, t: int) -> tuple[Facts, Facts, Facts]:
    """Return what an agent perceives, what it recalls of the rest, and both together."""
    state, seen = knowledge.state, knowledge.seen
    at = state.agents[agent]
    perceived, recalled, last_seen = [Fact(GRID, "SIDE", state.side)], list[Fact](), dict[Fact, int]()
    for other, cell in state.agents.items():
        fact = Fact(other, "AT", cell)
        if max(abs(cell[0] - at[0]), abs(cell[1] - at[1])) <= radius:
            perceived.append(fact)
        else:
            recalled.append(fact)
            last_seen[fact] = t
    for block, square in state.blocks.items():
        facts = block_facts(block, square)
        if square.delivered or (seen[block] == t and is_within(at, square, radius)):
            perceived += facts
        else:
            recalled += facts
            last_seen.update(dict.fromkeys(facts, seen[block]))
    unseen = unseen_facts(state)
    known = state.as_facts(lambda: (*perceived, *recalled, *unseen), last_seen)
    return Facts((*perceived, *unseen)), Facts(tuple(recalled), last_seen), known


# ---- latent variables


def possible_state(facts: Facts) -> SymbolicState | None:
    """Return the state that facts describe without what is outside the grid; None if they describe none.

    The same object that ``read_state`` returns if everything is inside; computed once for each collection of facts.
    """
    return facts.derive(_possible_state)


def _possible_state(facts: Facts) -> SymbolicState | None:
    state = readable(read_state, facts)
    if state is None or not 1 <= state.side <= LARGEST:
        return None
    agents = {agent: cell for agent, cell in state.agents.items() if is_cell(cell) and state.is_inside(cell)}
    blocks = _possible_blocks(state)
    unseen = {area: cell for area, cell in state.unseen.items() if is_cell(cell) and state.is_inside(cell)}
    if (len(agents), len(blocks), len(unseen)) == (len(state.agents), len(state.blocks), len(state.unseen)):
        return state
    return SymbolicState(state.side, agents, blocks, unseen, state.elsewhere)


@once_per_blocks
def _possible_blocks(state: SymbolicState) -> Mapping[int, Square]:
    return {block: square for block, square in state.blocks.items() if square.delivered or _fits(square, state.side)}


def _fits(square: Square, side: int) -> bool:
    weight, row, col, _ = square
    return weight >= 1 and 0 <= row <= side - weight and 0 <= col <= side - weight


@once_per_state
def sectors(state: SymbolicState, radius: int | None) -> Mapping[Cell, tuple[int, tuple[Cell, ...]]]:
    """Return the sectors that have unseen areas, by top-left cell: how many cells these have, and where they begin.

    All sectors where no area is unseen; they then have no areas.
    """
    side, size = state.side, sector_side(state.side, radius)
    corners = range(0, side, size)
    if not state.unseen:
        return {(row, col): (_count_cells((row, col), size, side), ()) for row in corners for col in corners}
    area = area_side(radius or 0)
    areas: dict[Cell, list[Cell]] = {}
    for at in sorted(state.unseen.values()):
        areas.setdefault((at[0] // size * size, at[1] // size * size), []).append(at)
    return {
        corner: (sum(_count_cells(at, area, side) for at in unseen), tuple(unseen))
        for corner, unseen in sorted(areas.items())
    }


def sector_side(side: int, radius: int | None) -> int:
    """Return the side of a sector in cells: whole areas, and at most SECTORS sectors on a side of the grid."""
    area = area_side(radius or 0)
    return area * ceil(ceil(side / area) / SECTORS)


def _count_cells(corner: Cell, size: int, side: int) -> int:
    """Return how many cells of a square lie in the grid, by its top-left cell."""
    return min(size, side - corner[0]) * min(size, side - corner[1])


# ---- observation probability


def _sector_in_view(corner: Cell, sector: tuple[int, tuple[Cell, ...]], at: Cell, side: int, radius: int) -> float:
    count, areas = sector
    if not areas:
        return _share_in_view(corner, sector_side(side, radius), at, side, radius)
    size = area_side(radius)
    whole = (area for area in areas if _share_in_view(area, size, at, side, radius) == 1)
    return sum(_count_cells(area, size, side) for area in whole) / count


def _share_in_view(corner: Cell, size: int, at: Cell, side: int, radius: int) -> float:
    """Return the share of a square, cut at the edge of the grid, that is in view of an agent."""
    (row, col), count = corner, _count_cells(corner, size, side)
    if count <= 0:
        return 0.0
    rows = overlap(row, min(row + size, side), at[0] - radius, at[0] + radius)
    return rows * overlap(col, min(col + size, side), at[1] - radius, at[1] + radius) / count


# ---- conflict cost


class IntendedPush(NamedTuple):
    """The push that an option is meant for."""

    block: int
    face: str
    verb: str
    arrives: int
    """Steps until its agent is at the face."""
    steps: int
    """Cells that the block is to move."""

    @property
    def way(self) -> str:
        """The direction of the push."""
        return OPPOSITE[self.face]


class Lane(NamedTuple):
    """The cells that a push moves a block over; the ends are exclusive."""

    top: int
    bottom: int
    left: int
    right: int

    def contains(self, cell: Cell) -> bool:
        """Return whether a cell lies in it."""
        return self.top <= cell[0] < self.bottom and self.left <= cell[1] < self.right

    def meets(self, other: Lane) -> bool:
        """Return whether they have cells in common."""
        rows = max(self.top, other.top) < min(self.bottom, other.bottom)
        return rows and max(self.left, other.left) < min(self.right, other.right)


def conflict_cost(first: Option, second: Option, state: SymbolicState) -> float:
    """Return the steps lost if two agents take both options."""
    push, other = (intended_push(option, state) for option in (first, second))
    if push is None or other is None:
        return 0.0
    shorter, longer = sorted((first.steps, second.steps))
    if push.block == other.block and push.face == other.face:
        return _cost_at_one_face(state, push, other, [shorter, longer])
    if push.face == OPPOSITE[other.face] and _are_in_contact(state, push, other):
        return float(shorter + longer)
    if push.block == other.block:
        return float(shorter)
    return max(_cost_of_obstruction(state, push, other, shorter), _cost_of_obstruction(state, other, push, shorter))


def intended_push(option: Option, state: SymbolicState) -> IntendedPush | None:
    """Return the push that an option is meant for; None if it has no block, or one that is not on the grid."""
    verb, args = option.action.verb, option.action.args
    block = block_of(option.action)
    if block is None or verb not in ("move_to_block", "rendezvous", "push_block"):
        return None
    if block not in state.blocks or state.blocks[block].delivered:
        return None
    named = args[1] if len(args) > 1 else None
    if verb == "push_block":
        face = max(("left", "right", "up", "down"), key=lambda side: len(geometry.aligned_agents(state, block, side)))
        most = cells_to_edge(state, block, OPPOSITE[face])
        return IntendedPush(block, face, verb, 0, max(1, min(named, most)) if isinstance(named, int) else most)
    if not isinstance(named, str) or named not in SIDES:
        return None
    most = cells_to_edge(state, block, OPPOSITE[named])
    return IntendedPush(block, named, verb, option.steps, most if named == "left" else min(ASIDE, most))


def _are_in_contact(state: SymbolicState, push: IntendedPush, other: IntendedPush) -> bool:
    """Return whether one of the two blocks moves along if the other is pushed."""
    return other.block in geometry.chain(state, push.block, push.way) or push.block in geometry.chain(
        state, other.block, other.way
    )


def _cost_at_one_face(state: SymbolicState, push: IntendedPush, other: IntendedPush, steps: list[int]) -> float:
    """Return the steps lost if two agents work at one face."""
    need = geometry.chain_weight(state, push.block, push.face)
    aligned = len(geometry.aligned_agents(state, push.block, push.face))
    verbs = {push.verb, other.verb}
    if verbs == {"push_block", "rendezvous"}:
        return float(steps[0]) if aligned - 1 < need else 0.0
    if verbs == {"push_block"}:
        return float(_steps_after_contact(state, push, min(push.steps, other.steps), aligned))
    coming = (push.verb, other.verb).count("move_to_block")
    many = min(coming, max(0, aligned + coming - need))
    return float(sum(steps[:many])) if many and _is_other_block_short(state, push.block) else 0.0


def _is_other_block_short(state: SymbolicState, block: int) -> bool:
    """Return whether another block lacks agents."""
    others = (other for other, _ in state.open_blocks if other != block)
    return any(
        len(geometry.aligned_agents(state, other, "left")) < geometry.chain_weight(state, other, "left")
        for other in others
    )


def _steps_after_contact(state: SymbolicState, push: IntendedPush, steps: int, aligned: int) -> int:
    """Return the steps of a push that are left when it meets a block and becomes too heavy; 0 if it does not."""
    ahead = [
        (gap, block)
        for block, _ in state.open_blocks
        if (gap := _cells_between(state, push, block)) is not None and gap < steps
    ]
    if not ahead:
        return 0
    gap, met = min(ahead)
    force = geometry.chain_weight(state, push.block, push.face)
    if met not in geometry.chain(state, push.block, push.way):
        force += geometry.chain_weight(state, met, push.face)
    return steps - gap if force > aligned else 0


def _cells_between(state: SymbolicState, push: IntendedPush, other: int) -> int | None:
    """Return the cells between a pushed block and another one ahead in its lane; None if that one is elsewhere."""
    return None if other == push.block else cells_between(state, push.block, state.blocks[other], push.way)


def lane_of(state: SymbolicState, push: IntendedPush) -> Lane:
    """Return the cells ahead of a block that a push takes it over."""
    weight, row, col, _ = state.blocks[push.block]
    steps = push.steps
    return {
        "right": Lane(row, row + weight, col + weight, col + weight + steps),
        "left": Lane(row, row + weight, col - steps, col),
        "down": Lane(row + weight, row + weight + steps, col, col + weight),
        "up": Lane(row - steps, row, col, col + weight),
    }[push.way]


def _cost_of_obstruction(state: SymbolicState, push: IntendedPush, other: IntendedPush, shorter: int) -> float:
    """Return the steps that ``push`` loses through ``other``, a push of another block."""
    path = lane_of(state, push)
    gap = _cells_between(state, push, other.block)
    if gap is not None and gap < push.steps:
        if push.way == other.way:  # it goes ahead, as soon as it is under way
            return float(max(0, other.arrives - push.arrives - gap))
        return float(shorter)
    places = geometry.staging_cells(state, other.block, other.face)
    blocked = sum(path.contains(cell) for cell in places) / len(places) if places else 0.0
    crossing = push.way != other.way and path.meets(lane_of(state, other))
    return float(shorter) if crossing else blocked * shorter


class CubeBeliefs(NamedTuple):
    """The capability ``beliefs`` of CUBE, and what every agent knows before the first step."""

    weights: Sequence[int] = ()
    """Of each block, by id; empty if unknown."""
    side: int | None = None
    """Of the grid; None if unknown."""
    radius: int | None = None
    """How far agents see, in cells; None if they see everything."""

    def _state(self, facts: Facts) -> SymbolicState | None:
        state = possible_state(facts)
        return None if state is None or self.side not in (None, state.side) else state

    def list_missing(self, state: SymbolicState) -> list[int]:
        """Return the blocks that nobody has found, as far as their number is known."""
        return [block for block in range(len(self.weights)) if block not in state.blocks]

    def is_searching(self, state: SymbolicState) -> bool:
        """Return whether a block may have to be found: not all see everything, nor are all blocks known."""
        return self.radius is not None and (not self.weights or bool(self.list_missing(state)))

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return a latent variable for each block that was not found yet: where it is.

        The number of blocks is known. A block is as likely in one unseen cell as in any other, so a sector counts by
        the cells of its unseen areas; by all its cells once there are no unseen areas left.
        """
        state = self._state(facts)
        if state is None:
            return ()
        missing = self.list_missing(state)
        counts = sectors(state, self.radius) if missing else {}
        return tuple(
            LatentVariable(
                f"block_{block}",
                tuple(Possible(Fact(entity(block), "AT", cell), float(count)) for cell, (count, _) in counts.items()),
            )
            for block in missing
        )

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return the probability that an agent perceives a fact if it is true.

        1 for what is within its radius, what all report or are told (places of agents, deliveries), and all where
        sight has no limit. Of a sector the share of its unseen areas that is wholly in view: which part of an area was
        seen is not told, and what is in view from where one stands was seen already. That an area was not seen is in
        nobody's sight; of whoever does not see all of it now it is likely.
        """
        if self.radius is None:
            return 1.0
        state, radius = self._state(facts), self.radius
        if state is None or agent not in state.agents:
            return 0.0
        subject, value, at = fact.subject, fact.value, state.agents[agent]
        if isinstance(subject, str) or fact.predicate == "SIDE" or value == "delivered":
            return 1.0
        if fact.predicate == "UNSEEN":
            is_in_view = is_cell(value) and _share_in_view(value, area_side(radius), at, state.side, radius) == 1
            return 0.0 if is_in_view else UNSEEN_TOO
        square = state.blocks.get(subject.id)
        if fact.predicate != "AT":
            return float(square is not None and (square.delivered or is_within(at, square, radius)))
        if not is_cell(value):
            return 0.0
        if square is None and (sector := sectors(state, radius).get(value)) is not None:
            return _sector_in_view(value, sector, at, state.side, radius)
        is_announced = subject.id < len(self.weights)
        weight = square.weight if square is not None else self.weights[subject.id] if is_announced else 1
        return float(is_within(at, Square(weight, *value), radius))

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both options; 0 if the blocks are unknown."""
        state = self._state(facts)
        return 0.0 if state is None else conflict_cost(first, second, state)
