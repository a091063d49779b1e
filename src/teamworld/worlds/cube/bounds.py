"""Steps that no team of pushers can beat.

Let ``K`` be the side of the grid, block ``i`` of weight ``w`` begin in columns from ``c`` and rows from ``r``, and
``d = K - w - c`` be the columns that it must be moved right. A block moves at most a cell a step, an agent too. What
moves is a chain of touching blocks of weights that add up to some ``C <= n``, by ``C`` agents or more in straight
unbroken lines behind blocks of the chain. Leave out agents from the ends of lines until ``C`` are left: these stand at
most ``C`` cells behind their blocks, and blocks of a chain lie at most ``e = C - w`` cells off the block in question.

*One block.* Before it moves for the first time, ``C`` agents have come to its lines: ``C = w`` and ``e = 0`` where it
moves by itself. It takes ``d`` more steps, and one more where its first move is not to the right.

*Work.* Each agent makes at most one move a step, along a row or along a column, so the fewest moves of all, shared by
all agents, are a bound.

- Along rows: each move of a block to the right takes ``w`` moves of agents to the right, of its chain's ``C``, each
  from a column at most ``b`` left of the block's rear, where ``b = w - 1``, or ``C + e - 1`` in a chain. An agent goes
  from one column to the next at most once more than it comes back, so what ``p`` and all columns right of it take
  beyond ``n`` each is paid twice. The heaviest block's agents have come there first.
- Along columns: a block that is first moved up or down is moved by agents that then stand at most ``w - 1`` rows off
  its own (in a chain ``C + e - 1``), and so do those that push it along a row. So ``w`` agents (in a chain ``C``) have
  visited these rows. The cheapest choice of agents for all blocks bounds the moves; with many blocks, that of the
  costliest block.

*Two agents.* A block that takes both of them and a light one: all sequences of their pushes are searched, see
``pair_search``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.cube.joint_plans import find_plan
from teamworld.worlds.cube.pair_search import bound_pairs
from teamworld.worlds.cube.state import Block, Layout

if TYPE_CHECKING:
    import numpy.typing as npt

#: First and last row or column.
Span: TypeAlias = tuple[int, int]
#: Choices of agents for all blocks that are tried; beyond, each block is looked at by itself.
MOST_CHOICES = 20_000


class Chain(NamedTuple):
    """The chains in which a block may first be moved: what they weigh, and how far their other blocks reach."""

    agents: int
    reach: int

    @property
    def depth(self) -> int:
        """Columns or rows that an agent stands off the block's own, after a move along them, at most."""
        return self.agents + self.reach - 1


def bound(layout: Layout, most: int = 500) -> StepBound | None:
    """Return the bound of an instance; None where a block is too heavy for the team, or there is none.

    Args:
        layout: The instance.
        most: Steps of a plan at most.
    """
    agents, blocks = layout.agents, layout.blocks
    if not blocks or max(layout.weights) > len(agents):
        return None
    alone = max(_alone(number, layout) for number in range(len(blocks)))
    moves = _along_rows(layout) + _along_columns(layout)
    planned = find_plan(layout, most)
    pairs = bound_pairs(layout, most if planned is None else planned)
    return StepBound(max(alone, -(-moves // len(agents)), pairs), planned)


def _chains(number: int, layout: Layout) -> Iterator[Chain]:
    """Yield the chains of a block: itself alone, then with others."""
    weight, others = layout.blocks[number].weight, [*layout.weights]
    del others[number]
    yield Chain(weight, 0)
    for reach in range(min(others, default=len(layout.agents)), min(sum(others), len(layout.agents) - weight) + 1):
        yield Chain(weight + reach, reach)


def _alone(number: int, layout: Layout) -> int:
    block, (rows, cols) = layout.blocks[number], np.array(layout.agents).T
    least = min(
        int(np.partition(_gaps(rows, of_rows) + _gaps(cols, of_cols), chain.agents - 1)[chain.agents - 1]) + late
        for chain in _chains(number, layout)
        for of_rows, of_cols, late in _lines(block, chain)
    )
    return least + layout.grid_size - block.weight - block.col


def _lines(block: Block, chain: Chain) -> Iterator[tuple[Span, Span, int]]:
    """Yield where the agents stand that first move a block: rows, columns, steps lost where it is not to the right."""
    (row, col), side, (agents, reach) = (block.row, block.col), block.weight, chain
    rows, cols = (row - reach, row + side - 1 + reach), (col - reach, col + side - 1 + reach)
    ahead = -1 if reach == 0 else side - 1 + reach  # behind another block they may be ahead of this one
    yield rows, (col - reach - agents, col + ahead), 0
    yield rows, (col + side - 1 - ahead, col + side - 1 + reach + agents), 1
    yield (row - reach - agents, row + ahead), cols, 1
    yield (row + side - 1 - ahead, row + side - 1 + reach + agents), cols, 1


def _gaps(at: npt.NDArray[np.int64], span: Span) -> npt.NDArray[np.int64]:
    """Return the steps from rows or columns to the nearest of a span."""
    return np.maximum(0, np.maximum(span[0] - at, at - span[1]))


def _along_rows(layout: Layout) -> int:
    """Return the fewest moves of all agents to the left and right."""
    side, agents, blocks = layout.grid_size, layout.agents, layout.blocks
    reaches = [max(chain.depth for chain in _chains(number, layout)) for number in range(len(blocks))]
    work = sum(block.weight * (side - block.weight - block.col) for block in blocks)
    begun = [sum(col <= at for _, col in agents) for at in range(side)]
    returns = 0
    for first in range(side - 2):
        pushed = 0
        for block, reach in zip(blocks, reaches, strict=True):
            begin = max(block.col - 1, first + reach)  # moves from here on are from ``first`` or right of it
            pushed += block.weight * max(0, side - block.weight - 1 - begin)
        returns = max(returns, pushed - sum(begun[first : side - 2]))
    nearest = min(block.col - 1 - reach for block, reach in zip(blocks, reaches, strict=True))
    heaviest = max(layout.weights)
    coming = sum(max(0, heaviest - len(agents) + begun[at]) for at in range(nearest))
    return work + returns + coming


def _along_columns(layout: Layout) -> int:
    """Return the fewest moves of all agents up and down."""
    starts = [row for row, _ in layout.agents]
    rows = np.array(starts)
    chains = [list(_chains(number, layout)) for number in range(len(layout.blocks))]
    count = prod(sum(comb(len(starts), chain.agents) for chain in each) for each in chains)
    if count > MOST_CHOICES:
        return max(
            min(int(np.sort(_gaps(rows, _rows(block, chain)))[: chain.agents].sum()) for chain in each)
            for block, each in zip(layout.blocks, chains, strict=True)
        )
    choices = [
        [(team, _rows(block, chain)) for chain in each for team in combinations(range(len(starts)), chain.agents)]
        for block, each in zip(layout.blocks, chains, strict=True)
    ]
    return min(_cost(starts, chosen) for chosen in product(*choices))


def _rows(block: Block, chain: Chain) -> Span:
    return block.row - chain.depth, block.row + block.weight - 1 + chain.depth


def _cost(starts: Sequence[int], chosen: Iterable[tuple[tuple[int, ...], Span]]) -> int:
    """Return the moves in which agents visit rows of each of their spans."""
    low, high = [*starts], [*starts]
    for team, (first, last) in chosen:
        for agent in team:
            low[agent], high[agent] = min(low[agent], last), max(high[agent], first)
    return sum(top - end + min(at - end, top - at) for at, end, top in zip(starts, low, high, strict=True))
