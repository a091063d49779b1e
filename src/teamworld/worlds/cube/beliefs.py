"""What CUBE says of beliefs: what is not known, and what is in sight.

See CoBel-World spec B1 and B3.2. Agents report where they are, so all know where all are. Where sight is limited,
blocks have to be found: where one may be is believed by sectors of the grid, a few dozen at most, each named by its
top-left cell. Facts may have been made up by whoever told them: what cannot be in a grid counts as not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

from teamworld.language import AgentId, Cell, Entity, Fact, Facts
from teamworld.worlds.base.beliefs import UNSEEN_TOO, is_cell, overlap, readable
from teamworld.worlds.contract import LatentVariable, Possible
from teamworld.worlds.cube.sight import area_side, within
from teamworld.worlds.cube.symbolic_state import Square, SymbolicState, entity, read_state

#: Sectors on a side of the grid, at most.
SECTORS: Final = 6
#: Largest side of a grid that is believed where nobody was told the side.
LARGEST: Final = 1024


class CommonKnowledge(NamedTuple):
    """What everybody was told before the first step."""

    weights: Sequence[int] = ()
    """Of each block, by id; empty if that was not told."""
    side: int | None = None
    """Of the grid; None if that was not told."""
    radius: int | None = None
    """How far agents see, in cells; None if they see everything."""


def sound(told: CommonKnowledge, given: Facts) -> SymbolicState | None:
    """Return the state that facts tell of, without what cannot be; None where they tell of none."""
    state = given.derive(_sound)
    if state is None or (told.side is not None and state.side != told.side):
        return None
    return state


def _sound(given: Facts) -> SymbolicState | None:
    state = readable(read_state, given)
    if state is None or not 1 <= state.side <= LARGEST:
        return None
    agents = {agent: cell for agent, cell in state.agents.items() if is_cell(cell) and state.inside(cell)}
    blocks = {block: square for block, square in state.blocks.items() if square.delivered or _fits(square, state.side)}
    unseen = {area: cell for area, cell in state.unseen.items() if is_cell(cell) and state.inside(cell)}
    if (len(agents), len(blocks), len(unseen)) == (len(state.agents), len(state.blocks), len(state.unseen)):
        return state
    return SymbolicState(state.side, agents, blocks, unseen)


def _fits(square: Square, side: int) -> bool:
    weight, row, col, _ = square
    return weight >= 1 and 0 <= row <= side - weight and 0 <= col <= side - weight


# ---- what is not known


def unknowns(told: CommonKnowledge, given: Facts) -> tuple[LatentVariable, ...]:
    """Return for each block that was not found where it may be.

    All were told how many blocks there are. A block is as likely in one unseen cell as in any other (CUBE spec A5), so
    a sector counts by the cells of its unseen areas; by all its cells once there are no unseen areas left.
    """
    state = sound(told, given)
    if state is None:
        return ()
    missing = [block for block in range(len(told.weights)) if block not in state.blocks]
    counts = sectors(state, told.radius) if missing else {}
    return tuple(
        LatentVariable(
            f"block {block}",
            tuple(Possible(Fact(entity(block), "AT", cell), float(count)) for cell, (count, _) in counts.items()),
        )
        for block in missing
    )


def sectors(state: SymbolicState, radius: int | None) -> Mapping[Cell, tuple[int, tuple[Cell, ...]]]:
    """Return the sectors that have unseen areas, by top-left cell: how many cells these have, and where they begin.

    All sectors where no area is unseen; they then have no areas.
    """
    key = ("sectors", radius)
    if key not in state.memo:
        state.memo[key] = _sectors(state, radius)
    found: Mapping[Cell, tuple[int, tuple[Cell, ...]]] = state.memo[key]
    return found


def sector_side(side: int, radius: int | None) -> int:
    """Return the side of a sector: of as many whole areas as it takes for few sectors."""
    area = area_side(radius or 0)
    return area * ceil(ceil(side / area) / SECTORS)


def _sectors(state: SymbolicState, radius: int | None) -> Mapping[Cell, tuple[int, tuple[Cell, ...]]]:
    side, size = state.side, sector_side(state.side, radius)
    corners = range(0, side, size)
    if not state.unseen:
        return {(row, col): (_cells((row, col), size, side), ()) for row in corners for col in corners}
    area = area_side(radius or 0)
    areas: dict[Cell, list[Cell]] = {}
    for at in sorted(state.unseen.values()):
        areas.setdefault((at[0] // size * size, at[1] // size * size), []).append(at)
    return {corner: (sum(_cells(at, area, side) for at in some), tuple(some)) for corner, some in sorted(areas.items())}


def _cells(corner: Cell, size: int, side: int) -> int:
    """Return how many cells of a square with this top-left cell lie in the grid."""
    return min(size, side - corner[0]) * min(size, side - corner[1])


# ---- what is in sight


def visible(told: CommonKnowledge, fact: Fact, agent: AgentId, given: Facts) -> float:
    """Return how likely an agent perceives a fact if it is true.

    1 for what is within its radius, what all report or are told (places of agents, deliveries), and all where sight
    has no limit. Of a sector the share of its unseen areas that is wholly in view: which part of an area was seen is
    not told, and what is in view from where one stands was seen already. That an area was not seen is in nobody's
    sight; of whoever does not see all of it now it is likely.
    """
    state = sound(told, given)
    if told.radius is None:
        return 1.0
    subject, value, at = fact.subject, fact.value, state.agents.get(agent) if state is not None else None
    if state is None or at is None:
        return 0.0
    if isinstance(subject, str) or fact.predicate == "SIDE" or value == "delivered":
        return 1.0
    if fact.predicate == "UNSEEN":
        whole = is_cell(value) and _in_view(value, area_side(told.radius), at, state.side, told.radius) == 1
        return 0.0 if whole else UNSEEN_TOO
    square = state.blocks.get(subject.id)
    if fact.predicate != "AT":
        return float(square is not None and (square.delivered or within(at, square, told.radius)))
    if not is_cell(value):
        return 0.0
    if square is None and (sector := sectors(state, told.radius).get(value)) is not None:
        return _sector_in_view(value, sector, at, state.side, told.radius)
    return float(within(at, Square(_weight(square, told, subject), *value), told.radius))


def _weight(square: Square | None, told: CommonKnowledge, block: Entity) -> int:
    if square is not None:
        return square.weight
    return told.weights[block.id] if block.id < len(told.weights) else 1


def _sector_in_view(corner: Cell, sector: tuple[int, tuple[Cell, ...]], at: Cell, side: int, radius: int) -> float:
    count, areas = sector
    if not areas:
        return _in_view(corner, sector_side(side, radius), at, side, radius)
    size = area_side(radius)
    whole = (area for area in areas if _in_view(area, size, at, side, radius) == 1)
    return sum(_cells(area, size, side) for area in whole) / count


def _in_view(corner: Cell, size: int, at: Cell, side: int, radius: int) -> float:
    """Return the share of a square that is in the view of an agent; of that part of it that lies in the grid."""
    (row, col), count = corner, _cells(corner, size, side)
    if count <= 0:
        return 0.0
    rows = overlap(row, min(row + size, side), at[0] - radius, at[0] + radius)
    return rows * overlap(col, min(col + size, side), at[1] - radius, at[1] + radius) / count
