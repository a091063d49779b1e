"""Instances of the CUBE world, by name and seed.

``n4`` is the curriculum at n = 4 with seeded placement; ``paper-n4`` is the published seed-42 layout. Custom
instances come from ``generate`` with a grid size, a number of agents and a map from weight to count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.seeding import generator
from teamworld.worlds.cube.state import MAX_GRID, MIN_GRID, Block, Layout

#: What an instance falls back to without n: grid side, agents, weight -> count.
DEFAULT_GRID, DEFAULT_AGENTS = 15, 3
DEFAULT_BLOCKS = {1: 3, 2: 2, 3: 1}

#: Whole placements tried before giving up. At n = 22, the worst curriculum level, one in three succeeds.
ATTEMPTS = 1000

#: The published layouts: (weight, row, col) of each block, and the row of each agent, all on column 0.
_PAPER: dict[int, tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]]] = {
    1: (((1, 1, 1),), (16,)),
    2: (((2, 1, 1), (1, 1, 5), (1, 1, 8)), (0, 1)),
    4: (((3, 1, 1), (1, 1, 5), (1, 1, 8)), (13, 14, 11, 8)),
    8: (
        ((5, 1, 1), (2, 1, 7), (2, 1, 14), (1, 1, 11), (1, 1, 17), (1, 3, 11)),
        (17, 3, 7, 4, 13, 15, 14, 11),
    ),
    16: (
        ((9, 1, 1), (4, 1, 11), (4, 6, 14), (2, 1, 16), (2, 11, 2), (2, 13, 15),
         (1, 4, 16), (1, 11, 16), (1, 15, 1), (1, 16, 12)),
        (19, 13, 2, 1, 14, 8, 5, 12, 7, 18, 16, 17, 4, 9, 6, 3),
    ),
    32: (
        ((17, 1, 1), (8, 1, 19), (8, 10, 21), (4, 20, 26), (4, 23, 1), (4, 25, 15),
         (2, 1, 28), (2, 7, 28), (2, 4, 28), (2, 20, 3), (1, 20, 1), (1, 27, 28), (1, 28, 4), (1, 28, 6), (1, 28, 25)),
        (17, 0, 27, 2, 31, 18, 9, 26, 4, 24, 19, 13, 7, 28, 3, 6,
         1, 12, 8, 20, 21, 30, 25, 29, 11, 22, 10, 5, 14, 16, 15, 23),
    ),
}  # fmt: skip

#: The levels to list, each with one line; any other ``n<number>`` is a level too.
LEVELS: dict[str, str] = {
    **{
        f"n{n}": f"{n} agent{'s' if n > 1 else ''} on a grid of {max(20, n)} x {max(20, n)}, blocks up to weight "
        f"{n // 2 + 1}, placed by seed"
        for n in (1, 2, 4, 8, 16, 32, 64, 128, 256)
    },
    **{f"paper-n{n}": f"the published layout for n = {n}, the same for every seed" for n in _PAPER},
}


def curriculum(n: int) -> tuple[int, dict[int, int]]:
    """Return the grid side and the weight -> count map for n agents.

    The side is max(20, n). The heaviest weight is W = n // 2 + 1, and for j = 0, 1, 2, ... there are j + 1 blocks
    of weight W // 2**j, while that is at least 1.

    Raises:
        UserError: If n is not an integer of at least 1.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= MAX_GRID:
        raise UserError(f"n must be an integer from 1 to {MAX_GRID}, got {n!r}")
    weight, count = int(n) // 2 + 1, 1
    blocks: dict[int, int] = {}
    while weight >= 1:
        blocks[weight] = count
        weight, count = weight // 2, count + 1
    return max(20, int(n)), blocks


def layout_for(level: str, seed: int) -> Layout:
    """Return the instance named ``level``; equal for equal arguments on every machine.

    Args:
        level: ``"n<number>"`` or one of the ``"paper-n<number>"`` names in ``LEVELS``.
        seed: Decides the placement; paper layouts are the same for every seed.

    Raises:
        UserError: If there is no such level.
    """
    if match := re.fullmatch(r"n([1-9]\d{0,4})", level):
        return generate(int(match[1]), rng=generator(seed, "cube", "layout", level))
    if (match := re.fullmatch(r"paper-n(\d+)", level)) and int(match[1]) in _PAPER:
        n = int(match[1])
        blocks, rows = _PAPER[n]
        return Layout(max(20, n), tuple((row, 0) for row in rows), tuple(Block(*block) for block in blocks))
    raise UserError(
        f"there is no CUBE level '{level}': expected n1, n2, ... or a paper layout{suggest(level, list(LEVELS))}"
    )


def generate(
    n: int | None = None,
    *,
    grid_size: int | None = None,
    num_agents: int | None = None,
    blocks: Mapping[int, int] | None = None,
    rng: np.random.Generator,
) -> Layout:
    """Place agents and blocks at random.

    Agents stand on column 0 in different rows. Blocks are placed heaviest first, each uniformly over the top-left
    cells from 1 to K - w - 2 that keep a moat of one cell around every block, so each can be
    pushed at the start. When a block finds no place, everything is placed anew.

    Args:
        n: The curriculum's one parameter; excludes the other three.
        grid_size: Side K of a custom instance; 15 if None.
        num_agents: Agents of a custom instance; 3 if None.
        blocks: Weight -> count of a custom instance; {1: 3, 2: 2, 3: 1} if None.
        rng: Where the random numbers come from.

    Raises:
        UserError: If the numbers cannot be used or no placement is found.
    """
    if n is not None:
        if any(value is not None for value in (grid_size, num_agents, blocks)):
            raise UserError("expected either n or grid_size, num_agents and blocks, got both: leave one of them out")
        side, counts = curriculum(n)
        agents = int(n)
    else:
        side = DEFAULT_GRID if grid_size is None else _count(grid_size, "grid_size", MIN_GRID)
        agents = DEFAULT_AGENTS if num_agents is None else _count(num_agents, "num_agents", 1)
        counts = _counts(DEFAULT_BLOCKS if blocks is None else blocks)
    if agents > side:
        raise UserError(
            f"agents start on column 0, one per row, so a grid of {side} x {side} takes at most {side}, got {agents}: "
            "take fewer agents or a larger grid_size"
        )
    weights = [weight for weight in sorted(counts, reverse=True) for _ in range(counts[weight])]
    rows = rng.permutation(side)[:agents]
    return Layout(side, tuple((int(row), 0) for row in rows), _place(side, weights, rng))


def neighbouring_layouts(layout: Layout, beyond: int) -> Iterator[Layout]:
    """Yield the layout with one block a row or column away, for blocks that begin and end right of a column."""
    for number, block in enumerate(layout.blocks):
        for rows, cols in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            other = Block(block.weight, block.row + rows, block.col + cols)
            if min(block.col, other.col) <= beyond:
                continue
            try:
                yield replace(layout, blocks=(*layout.blocks[:number], other, *layout.blocks[number + 1 :]))
            except UserError:
                continue  # another block, or the wall, is there
            break


class Placement:
    """Where episodes start: at one layout, or at those that ``generate`` draws from the stream of a seed, 0 at first.

    Raises:
        UserError: If both were asked for or an argument cannot be used.
    """

    def __init__(
        self,
        n: int | None = None,
        *,
        layout: Layout | None = None,
        grid_size: int | None = None,
        num_agents: int | None = None,
        blocks: Mapping[int, int] | None = None,
    ) -> None:
        if layout is not None and (n, grid_size, num_agents, blocks) != (None,) * 4:
            raise UserError("expected either layout or n, grid_size, num_agents and blocks, got both: leave one out")
        if layout is not None and not isinstance(layout, Layout):
            raise UserError(f"layout must be a Layout(grid_size, agents, blocks), got {layout!r}")
        self._layout, self._n = layout, n
        kept = dict(blocks) if isinstance(blocks, Mapping) else blocks
        self._sizes = {"grid_size": grid_size, "num_agents": num_agents, "blocks": kept}
        self.stream = None if layout is not None else "custom" if n is None else f"n{n}"
        """Name of the stream; None for one layout."""
        self.seed(0)
        self.first = self.draw()
        """The first layout of seed 0: tells the sizes."""
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Start the stream of ``seed``: the curriculum then starts with the layout of the level of this name."""
        self._rng = generator(seed, "cube", "layout", self.stream or "")

    def draw(self) -> Layout:
        """Return the next layout."""
        return self._layout or generate(self._n, **self._sizes, rng=self._rng)  # type: ignore[arg-type]


def _count(value: int, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= MAX_GRID:
        raise UserError(f"{what} must be an integer from {least} to {MAX_GRID}, got {value!r}")
    return int(value)


def _counts(blocks: Mapping[int, int]) -> dict[int, int]:
    try:
        pairs = dict(blocks).items()
    except (TypeError, ValueError):
        raise UserError(f"blocks must map weight to count, for example {{1: 3, 2: 2}}, got {blocks!r}") from None
    return {_count(weight, "a block weight", 1): _count(count, "a block count", 0) for weight, count in pairs}


def _place(side: int, weights: list[int], rng: np.random.Generator) -> tuple[Block, ...]:
    """Place blocks of the given weights, in this order, or raise after ``ATTEMPTS`` tries."""
    if weights and weights[0] > side - 3:
        raise UserError(
            f"a block of weight {weights[0]} cannot start movable on a grid of {side} x {side}, which takes weights "
            f"up to {side - 3}: make the grid larger, or write a Layout to place blocks freely"
        )
    moat = sum((weight + 1) ** 2 for weight in weights)  # each block and the moat on two of its sides
    if moat <= (side - 2) ** 2:
        for _ in range(ATTEMPTS):
            placed = _place_once(side, weights, rng)
            if placed is not None:
                return placed
    raise UserError(no_room(side, weights))


def no_room(side: int, weights: list[int]) -> str:
    """Return what to say when blocks of these weights found no place on a grid of this side."""
    return (
        f"no room found for blocks of weights {weights} on a grid of {side} x {side} with one free cell around each: "
        "take fewer or lighter blocks or a larger grid_size, or write a Layout"
    )


def _place_once(side: int, weights: list[int], rng: np.random.Generator) -> tuple[Block, ...] | None:
    placed: list[Block] = []
    for weight in weights:
        free = np.ones((side - weight - 2, side - weight - 2), np.bool_)  # top-left (1, 1) is at [0, 0]
        for other in placed:
            rows, cols = (slice(max(at - weight - 1, 0), at + other.weight) for at in (other.row, other.col))
            free[rows, cols] = False
        open_cells = np.flatnonzero(free)
        if not len(open_cells):
            return None
        row, col = divmod(int(open_cells[rng.integers(len(open_cells))]), free.shape[1])
        placed.append(Block(weight, row + 1, col + 1))
    return tuple(placed)
