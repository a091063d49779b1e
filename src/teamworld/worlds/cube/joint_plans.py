"""A joint plan of pushers that see all, played by the rules of the world.

Each block is pushed right, in its rows, by as many agents as it weighs, abreast or in a line, who go on to the next
block of theirs as soon as it is delivered. The order of blocks is chosen, and the team for each, as if agents walked
straight and were in nobody's way; the best orders are played.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from teamworld.worlds.base.grid import distance
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import RIGHT, Layout, make_state

if TYPE_CHECKING:
    from teamworld.worlds.cube.state import Block, CubeState

Cell: TypeAlias = tuple[int, int]
#: Choices that are looked at, plans that are played, blocks at most, and steps without a block that moves at most.
MOST_CHOICES, PLAYED, MOST_BLOCKS, PATIENCE = 20_000, 24, 7, 40
#: Up to so many agents, others than those that come first may push a block.
SMALL_TEAM: Final = 4
_MOVES: Final[Mapping[Cell, int]] = {(-1, 0): 1, (1, 0): 2, (0, -1): 3, (0, 1): 4}


class BlockJob(NamedTuple):
    """A block that an agent pushes."""

    block: int
    row: int
    behind: int
    """Columns that it stands behind the block's left face, from 1."""


#: What each agent does, in order; and the steps that this takes if nobody is in the way.
Plan: TypeAlias = tuple[int, tuple[tuple[BlockJob, ...], ...]]
#: The order of blocks; and of each, how many of the agents that come first leave it to others, and the way it is pushed.
Choice: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]


def find_plan(layout: Layout, most: int) -> int | None:
    """Return the steps of the best joint plan that was played; None where there is none.

    Args:
        layout: The instance.
        most: Steps of a plan at most.
    """
    if not 0 < len(layout.blocks) <= MOST_BLOCKS:
        return None
    best: int | None = None
    plans = sorted({_share(layout, *choice) for choice in islice(_list_choices(layout), MOST_CHOICES)})
    for estimate, jobs in plans[:PLAYED]:
        limit = most if best is None else best - 1
        if estimate <= limit:
            steps = _play(layout, jobs, limit)
            best = steps if steps is not None else best
    return best


def _list_choices(layout: Layout) -> Iterator[Choice]:
    """Yield orders of blocks in which each way is clear when its turn comes, and who pushes each of them, and how."""
    blocks, team, ahead = layout.blocks, len(layout.agents), _list_ahead(layout)
    small = team <= SMALL_TEAM
    others = [range(min(2, team - block.weight + 1) if small else 1) for block in blocks]
    ways = [range(2 * len([*_formations(block)])) if small and block.weight > 1 else (None,) for block in blocks]
    for order in permutations(range(len(blocks))):
        if all({*ahead[number]} <= {*order[:place]} for place, number in enumerate(order)):
            yield from ((order, later, way) for later in product(*others) for way in product(*ways))


def _list_ahead(layout: Layout) -> list[list[int]]:
    """Return for each block the blocks that are on its way."""
    return [
        [
            other
            for other, lying in enumerate(layout.blocks)
            if lying.col > block.col and lying.row < block.row + block.weight and block.row < lying.row + lying.weight
        ]
        for block in layout.blocks
    ]


def _share(layout: Layout, order: Sequence[int], later: Sequence[int], chosen: Sequence[int | None]) -> Plan:
    """Return the jobs of each agent if the first agents to come push each block, or those after the first ``later``.

    Each is pushed in the chosen of the ways in which they may stand, or that which begins first.
    """
    at, free = list(layout.agents), [0] * len(layout.agents)
    jobs: list[list[BlockJob]] = [[] for _ in at]
    begun: dict[int, int] = {}
    ahead = _list_ahead(layout)
    for number in order:
        block = layout.blocks[number]
        ways = []
        for places in _formations(block):
            came = sorted((free[a] + min(distance(at[a], cell) for cell in places), a) for a in range(len(at)))
            near = [a for _, a in came[later[number] : later[number] + block.weight]]
            for team in (sorted(near, key=lambda a: at[a]), sorted(near, key=lambda a: (-at[a][1], at[a][0]))):
                here = (free[a] + distance(at[a], cell) for a, cell in zip(team, places, strict=True))
                ways.append((max(*here, 0, *(begun[other] for other in ahead[number])), team, places))
        way = chosen[number]
        begin, team, places = min(ways) if way is None else ways[way]
        begun[number] = begin
        pushed = layout.grid_size - block.weight - block.col
        for agent, (row, col) in zip(team, places, strict=True):
            jobs[agent].append(BlockJob(number, row, block.col - col))
            at[agent], free[agent] = (row, col + pushed), begin + pushed
    return max(free), tuple(map(tuple, jobs))


def _formations(block: Block) -> Iterator[list[Cell]]:
    """Yield where a team may stand behind a block: abreast, or in a line behind one of its rows."""
    row, col, weight = block.row, block.col, block.weight
    yield [(row + number, col - 1) for number in range(weight)]
    if 1 < weight <= col:
        yield from ([(row + number, col - 1 - behind) for behind in range(weight)] for number in range(weight))


def _play(layout: Layout, jobs: Sequence[Sequence[BlockJob]], most: int) -> int | None:
    """Play a plan and return its steps; None if it takes more than so many, or gets stuck."""
    state, ahead = make_state(layout), _list_ahead(layout)
    left = [deque(own) for own in jobs]
    moved = 0
    for steps in range(1, most + 1):
        for own in left:
            while own and state.delivered_at[0, own[0].block]:
                own.popleft()
        step(state, np.array(_choose_actions(state, left, ahead), np.int8))
        if state.terminated[0]:
            return steps
        moved = max(moved, int(state.moved_at[0].max()))
        if steps - moved > PATIENCE:
            return None
    return None


class _Moment:
    """Where all stand, and what keeps walkers away."""

    def __init__(self, state: CubeState, left: Sequence[deque[BlockJob]], ahead: Sequence[Sequence[int]]) -> None:
        stride = state.grid_size + 2
        self.size = state.grid_size
        self.at = [(int(cell) // stride - 1, int(cell) % stride - 1) for cell in state.agent_cell[0]]
        corners = zip(state.block_row[0].tolist(), state.block_col[0].tolist(), strict=True)
        weights = state.block_weight[0].tolist()
        still = {n: corner for n, corner in enumerate(corners) if not state.delivered_at[0, n]}
        self.aims = [(own[0].row, still[own[0].block][1] - own[0].behind) if own else None for own in left]
        teams = {n: [a for a, own in enumerate(left) if own and own[0].block == n] for n in still}
        self.pushed = {
            n
            for n, team in teams.items()
            if len(team) == weights[n]
            and all(self.at[agent] == self.aims[agent] for agent in team)
            and all(other not in still or state.moved_at[0, other] for other in ahead[n])
        }
        self.lanes = [(range(row, row + weights[n]), col) for n, (row, col) in still.items()]
        self.walls = {
            (row + down, col + right)
            for n, (row, col) in still.items()
            for down in range(weights[n])
            for right in range(weights[n] + 2 * (n in self.pushed))  # two columns ahead of what is pushed are kept free
        }
        self.standing = {at for at, aim in zip(self.at, self.aims, strict=True) if at == aim}

    def is_in_way(self, cell: Cell) -> bool:
        """Return whether a cell is on the way of a block."""
        return any(cell[0] in rows and cell[1] >= col for rows, col in self.lanes)

    def next_cell(self, agent: int, closed: Collection[Cell]) -> Cell | None:
        """Return where an agent goes next: to its aim, without one out of the way of blocks; None where it stays."""
        start, aim = self.at[agent], self.aims[agent]
        first: dict[Cell, Cell | None] = {start: None}
        waiting = deque([start])
        while waiting:
            cell = waiting.popleft()
            if cell == aim or (aim is None and not self.is_in_way(cell)):
                return first[cell]
            for down, right in _MOVES:
                other = cell[0] + down, cell[1] + right
                inside = 0 <= other[0] < self.size and 0 <= other[1] < self.size
                if inside and other not in first and other not in closed and other not in self.walls:
                    first[other] = first[cell] or other
                    waiting.append(other)
        return None


def _choose_actions(state: CubeState, left: Sequence[deque[BlockJob]], ahead: Sequence[Sequence[int]]) -> list[int]:
    """Return the actions of a step."""
    moment = _Moment(state, left, ahead)
    actions, taken = [0] * len(left), {*moment.at}
    for agent, own in enumerate(left):
        at = moment.at[agent]
        if own and own[0].block in moment.pushed:
            actions[agent] = RIGHT
        elif at != moment.aims[agent]:
            for closed in (moment.standing, taken):  # round those who stand; round all if somebody is in the way
                after = moment.next_cell(agent, closed)
                if after is not None and after not in taken:
                    actions[agent] = _MOVES[after[0] - at[0], after[1] - at[1]]
                    taken.add(after)
                    break
    return actions
