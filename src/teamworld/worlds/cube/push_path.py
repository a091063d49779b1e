"""What a block that is pushed on and on meets: blocks that it takes along, and agents that stop it."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from teamworld.language import AgentId
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.symbolic_state import DELTA, Square, SymbolicState, once_per_blocks, once_per_state


class BlockMeeting(NamedTuple):
    """Something that a pushed block meets."""

    after: int
    """Cells that it has moved until then; 0 for what it touches."""
    block: int
    need: int
    """Agents that it takes to push on: as many as all blocks weigh that are in contact then."""


def cells_between(state: SymbolicState, block: int, other: Square, direction: str) -> int | None:
    """Return the cells between a block and what is ahead of it in its rows or columns; None if that is elsewhere."""
    square, (rows, cols) = state.blocks[block], DELTA[direction]
    across, over = (square.row, other.row) if cols else (square.col, other.col)
    if across >= over + other.weight or over >= across + square.weight:
        return None
    start, end = (square.col, other.col) if cols else (square.row, other.row)
    gap = end - start - square.weight if rows + cols > 0 else start - end - other.weight
    return gap if gap >= 0 else None


@once_per_blocks
def _moved_until_contact(state: SymbolicState, block: int, direction: str) -> dict[int, int]:
    """Return how far a block moves until each block that it takes along is in contact, itself included."""
    most = geometry.cells_to_edge(state, block, direction)
    moved: dict[int, int] = {}
    todo = [(0, block)]
    while todo:
        after, member = heappop(todo)
        if member in moved:
            continue
        moved[member] = after
        for other, square in state.open_blocks:
            gap = None if other in moved else cells_between(state, member, square, direction)
            if gap is not None and after + gap < most:
                heappush(todo, (after + gap, other))
    return moved


@once_per_blocks
def meetings(state: SymbolicState, block: int, direction: str = "right") -> tuple[BlockMeeting, ...]:
    """Return the blocks that a block meets on its way to the goal or to the end of the grid, in that order.

    To the right, blocks that have reached the goal column no longer count.
    """
    moved = _moved_until_contact(state, block, direction)

    def need(after: int) -> int:
        return sum(
            state.blocks[member].weight
            for member, since in moved.items()
            if since <= after and (direction != "right" or after < since + state.distance(member))
        )

    return tuple(BlockMeeting(after, member, need(after)) for member, after in moved.items() if member != block)


def obstruction(state: SymbolicState, block: int, direction: str, force: int) -> BlockMeeting | None:
    """Return the first block that a block meets and with which it is too heavy for some agents; None if there is none.

    That the block alone is too heavy is not asked.
    """
    return next((meeting for meeting in meetings(state, block, direction) if meeting.need > force), None)


@once_per_blocks
def can_be_delivered(state: SymbolicState, block: int, force: int) -> bool:
    """Return whether some agents can push a block to the goal once all that is too heavy on its way has been pushed on.

    Someone can stand at its left face, and the same holds for the block that stops it. Agents do not count.
    """
    if state.blocks[block].weight > force or not geometry.staging_cells(state, block, "left"):
        return False
    stop = obstruction(state, block, "right", force)
    return stop is None or (stop.after > 0 and can_be_delivered(state, stop.block, force))


def reach(state: SymbolicState, block: int, direction: str, force: int) -> int:
    """Return how many cells some agents can push a block, if no agent is in the way; 0 if it is too heavy at once."""
    if state.blocks[block].weight > force:
        return 0
    most = geometry.cells_to_edge(state, block, direction)
    stop = obstruction(state, block, direction, force)
    if stop is not None:
        most = min(most, stop.after)
    if direction == "right":
        return most
    moved = _moved_until_contact(state, block, direction)
    return min([most, *(since + geometry.cells_to_edge(state, member, direction) for member, since in moved.items())])


@once_per_state
def agents_ahead(state: SymbolicState, block: int, direction: str = "right") -> list[tuple[int, AgentId]]:
    """Return the agents that stop a block on its way, each with the cells that it moves until then, nearest first."""
    most = geometry.cells_to_edge(state, block, direction)
    moved = _moved_until_contact(state, block, direction)
    ahead = []
    for agent, (row, col) in state.agents.items():
        gaps = (
            after + gap
            for member, after in moved.items()
            if (gap := cells_between(state, member, Square(1, row, col), direction)) is not None
        )
        if (after := min(gaps, default=most)) < most:
            ahead.append((after, agent))
    return sorted(ahead, key=lambda stop: stop[0])


@once_per_state
def pushers_of(state: SymbolicState, block: int) -> frozenset[AgentId]:
    """Return who is lined up to push a block to the goal, if they are enough for all that it meets; else nobody."""
    there = geometry.aligned_agents(state, block, "left")
    is_enough = len(there) >= geometry.chain_weight(state, block, "left")
    return there if is_enough and obstruction(state, block, "right", len(there)) is None else frozenset()
