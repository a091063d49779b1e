"""A joint plan of pushers that see all, played by the rules of the world.

Each block is pushed right, in its rows, by as many agents as it weighs, abreast or in a line, who go on to the next
block of theirs as soon as it is delivered. In a small team one block may be left in some column, for others to push on.
The order of blocks is chosen, and the team for each, as if agents walked straight and were in nobody's way; the best
orders are played.
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
MOST_CHOICES, PLAYED, PLAYED_SHARED, MOST_BLOCKS, PATIENCE = 20_000, 24, 96, 7, 40
#: Up to so many agents, others than those that come first may push a block.
SMALL_TEAM: Final = 4
_MOVES: Final[Mapping[Cell, int]] = {(-1, 0): 1, (1, 0): 2, (0, -1): 3, (0, 1): 4}


class BlockJob(NamedTuple):
    """A block that an agent pushes."""

    block: int
    row: int
    behind: int
    """Columns that it stands behind the block's left face, from 1."""
    since: int
    """Column of the block from which on it is pushed."""
    until: int
    """Column of the block to which it is pushed."""


class Leg(NamedTuple):
    """A way on which a team pushes a block."""

    block: int
    until: int
    """Column of the block to which it is pushed."""
    later: int
    """How many of the agents that come first leave it to others."""
    way: int | None
    """The way in which they stand behind it; None: that which begins first."""


#: What each agent does, in order; and the steps that this takes if nobody is in the way.
Plan: TypeAlias = tuple[int, tuple[tuple[BlockJob, ...], ...]]


def find_plan(layout: Layout, most: int) -> int | None:
    """Return the steps of the best joint plan that was played; None where there is none.

    Args:
        layout: The instance.
        most: Steps of a plan at most.
    """
    if not 0 < len(layout.blocks) <= MOST_BLOCKS:
        return None
    best: int | None = None
    for choices, played in ((_list_whole(layout), PLAYED), (_list_shared(layout), PLAYED_SHARED)):
        plans = sorted({_share(layout, legs) for legs in islice(choices, MOST_CHOICES)})
        for estimate, jobs in plans[:played]:
            limit = most if best is None else best - 1
            if estimate <= limit:
                steps = _play(layout, jobs, limit)
                best = steps if steps is not None else best
    return best


def _list_whole(layout: Layout) -> Iterator[Sequence[Leg]]:
    """Yield orders of blocks, and who pushes each of them, and how."""
    small = len(layout.agents) <= SMALL_TEAM
    ways: list[Sequence[int | None]] = [
        range(2 * len([*_formations(block, block.col)])) if small and block.weight > 1 else (None,)
        for block in layout.blocks
    ]
    yield from _list_orders(layout, _list_ends(layout), ways)


def _list_shared(layout: Layout) -> Iterator[Sequence[Leg]]:
    """Yield such orders in which others push one block on from some column; none of large teams."""
    blocks, team = layout.blocks, len(layout.agents)
    if team <= SMALL_TEAM and len(blocks) < SMALL_TEAM:
        ends = _list_ends(layout)
        for block, (number, goal) in zip(blocks, ends, strict=True):
            for until in range(block.col + 1, goal if block.weight < team else 0):
                yield from _list_orders(layout, [*ends, (number, until)], [(None,)] * len(blocks))


def _list_ends(layout: Layout) -> list[tuple[int, int]]:
    """Return each block with the column in which it is delivered."""
    return [(number, layout.grid_size - block.weight) for number, block in enumerate(layout.blocks)]


def _list_orders(
    layout: Layout, ends: Sequence[tuple[int, int]], ways: Sequence[Sequence[int | None]]
) -> Iterator[Sequence[Leg]]:
    """Yield legs to these columns of blocks, in all orders in which each way is clear when its turn comes."""
    team, ahead = len(layout.agents), _list_ahead(layout)
    others = [range(min(2, team - block.weight + 1) if team <= SMALL_TEAM else 1) for block in layout.blocks]
    for order in permutations(ends):
        if all(_may_precede(end, after, ahead) for place, after in enumerate(order) for end in order[:place]):
            for later in product(*(others[number] for number, _ in order)):
                for way in product(*(ways[number] for number, _ in order)):
                    yield [Leg(*end, late, how) for end, late, how in zip(order, later, way, strict=True)]


def _may_precede(end: tuple[int, int], after: tuple[int, int], ahead: Sequence[Collection[int]]) -> bool:
    """Return whether a block may be pushed to a column before another, or itself, is to another column."""
    return end[1] < after[1] if end[0] == after[0] else after[0] not in ahead[end[0]]


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


def _share(layout: Layout, legs: Sequence[Leg]) -> Plan:
    """Return the jobs of each agent if the first agents to come push each block, or those after the first of them."""
    at, free = list(layout.agents), [0] * len(layout.agents)
    jobs: list[list[BlockJob]] = [[] for _ in at]
    cols, left = [block.col for block in layout.blocks], [0] * len(layout.blocks)
    begun: dict[int, int] = {}
    ahead = _list_ahead(layout)
    for number, until, later, way in legs:
        block = layout.blocks[number]
        ways = []
        for places in _formations(block, cols[number]):
            came = sorted((free[a] + min(distance(at[a], cell) for cell in places), a) for a in range(len(at)))
            near = [a for _, a in came[later : later + block.weight]]
            for team in (sorted(near, key=lambda a: at[a]), sorted(near, key=lambda a: (-at[a][1], at[a][0]))):
                here = (free[a] + distance(at[a], cell) for a, cell in zip(team, places, strict=True))
                ways.append((max(*here, left[number], *(begun[other] for other in ahead[number])), team, places))
        begin, team, places = min(ways) if way is None else ways[way]
        begun[number] = begin
        left[number] = begin + until - cols[number]
        for agent, (row, col) in zip(team, places, strict=True):
            jobs[agent].append(BlockJob(number, row, cols[number] - col, cols[number], until))
            at[agent], free[agent] = (row, col + until - cols[number]), left[number]
        cols[number] = until
    return max(free), tuple(map(tuple, jobs))


def _formations(block: Block, col: int) -> Iterator[list[Cell]]:
    """Yield where a team may stand behind a block in a column: abreast, or in a line behind one of its rows."""
    row, weight = block.row, block.weight
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
            while own and (state.delivered_at[0, own[0].block] or state.block_col[0, own[0].block] >= own[0].until):
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
        self.aims = [self._aim(own[0], still[own[0].block][1]) if own else None for own in left]
        teams = {
            n: [a for a, own in enumerate(left) if own and own[0].block == n and own[0].since <= corner[1]]
            for n, corner in still.items()
        }
        self.pushed = {
            n
            for n, team in teams.items()
            if len(team) == weights[n]
            and all(self.at[agent] == self.aims[agent] for agent in team)
            and all(other not in still or state.moved_at[0, other] for other in ahead[n])
        }
        self.pushers = {agent for n in self.pushed for agent in teams[n]}
        self.lanes = [(range(row, row + weights[n]), col) for n, (row, col) in still.items()]
        self.walls = {
            (row + down, col + right)
            for n, (row, col) in still.items()
            for down in range(weights[n])
            for right in range(weights[n] + 2 * (n in self.pushed))  # two columns ahead of what is pushed are kept free
        }
        self.standing = {at for at, aim in zip(self.at, self.aims, strict=True) if at == aim}

    def _aim(self, job: BlockJob, col: int) -> Cell:
        """Return where the agent of a job stands: behind the block, or beside the place where others leave it."""
        if job.since <= col:
            return job.row, col - job.behind
        return job.row + (1 if job.row + 1 < self.size else -1), job.since - job.behind

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
    for agent in range(len(left)):
        at = moment.at[agent]
        if agent in moment.pushers:
            actions[agent] = RIGHT
        elif at != moment.aims[agent]:
            for closed in (moment.standing, taken):  # round those who stand; round all if somebody is in the way
                after = moment.next_cell(agent, closed)
                if after is not None and after not in taken:
                    actions[agent] = _MOVES[after[0] - at[0], after[1] - at[1]]
                    taken.add(after)
                    break
    return actions
