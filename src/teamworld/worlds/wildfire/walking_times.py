"""Ticks in which no firefighter on foot comes from one place to another, through woods of any shape.

In a tick a firefighter goes as far as the trees of the cell allow in which the tick begins. So at a place, at best the
pace counts of the fastest cell from which a tick leads there: its *slowness* is the least of ``1 / pace`` of the cells
that are no farther away than their own pace. A function that is 0 in the cell of the aim, and nowhere steeper than the
slowness, changes in a tick by at most one: its value is a lower bound on the ticks that it takes to the aim.

The function is linear on the triangles into which squares of an eighth of a cell are cut. First it is that of the
shortest time, as the upwind scheme has it; where a triangle is too steep, less slowness is counted in the next round,
after the first rounds beside it, too.
What is too steep after the last is made flatter everywhere: so the function is proven, however good the scheme is.

*A tree less.* Slowness is less for it only within a square of its cell; there it is no more than that of the cell
before, and no less than the cell has now, where it has changed. The quickest way is nowhere longer in what has changed
than straight through: it could go straight. So a tree saves ``SAVED`` ticks between two places at most.

*Trees at a price.* Let each cell be as slow as with some of its trees gone, and a little more: the price of these trees
by the ``CHORD``, whatever number is best. On the quickest way with any trees gone, no cell sets the slowness on more
than a ``CHORD``, as it could go straight. So what that way takes, and the price of all trees that are gone, is
together no less than the quickest way takes with slowness at a price.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled
from teamworld.worlds.wildfire.kernels.agents import ON_FOOT

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import Cell

Floats: TypeAlias = npt.NDArray[np.float64]
#: Squares along the edge of a cell; one is no narrower than the longest way of a tick.
PARTS: Final = 8
#: Cells that a way goes at most where a cell sets the slowness.
CHORD: Final = (1 + 2 / PARTS) * sqrt(2)
#: Ticks that a tree less saves between any two places at most.
SAVED: Final = (1 / ON_FOOT[-1] - 1 / ON_FOOT[-2]) * CHORD
#: How steep a triangle may be before all is made flatter for it, rounds, and sweeps over the map in each at most.
_STEEPEST, _ROUNDS, _SWEEPS = 1.002, 30, 500
#: What is less steep counts as flat enough in a round, and how many rounds change no squares beside.
_COUNTS, _APART = 1.001, 2


class WalkingTimes:
    """Lower bounds on the ticks from everywhere to a square: as many from it to everywhere.

    Args:
        slowness: See ``slowness_of``.
        aim: The cell in the middle.
        reach: Cells from its middle to the sides of the square, a multiple of ``1 / PARTS``; by default it is the cell.
        rounds: At most, see above; with fewer the bounds are a little lower.
    """

    def __init__(self, slowness: Floats, aim: Cell, reach: float = 0.5, rounds: int = _ROUNDS) -> None:
        rows, columns = slowness.shape
        sides = slowness / PARTS
        counted = sides.copy()
        ticks = np.full((rows + 1, columns + 1), np.inf)
        top, bottom, left, right = (
            max(0, round(PARTS * (at + 0.5 + side))) for at in (aim.y, aim.x) for side in (-reach, reach)
        )
        ticks[top : bottom + 1, left : right + 1] = 0.0
        best, least = inf, ticks
        for turn in range(rounds):
            spread_times(ticks, counted)
            steep = _steepness(ticks, sides)
            if float(steep.max()) < best:
                best, least = float(steep.max()), ticks.copy()
            if best <= _STEEPEST:
                break
            steep[steep < _COUNTS] = 1.0
            counted /= steep if turn < _APART else _of_neighbours(steep, np.maximum)
        #: By corner of the squares; what is too steep still is made flatter everywhere.
        self.ticks: Floats = least / max(1.0, best * (1 + 1e-12))

    def from_cell(self, cell: Cell) -> float:
        """Return the ticks from the best place of a cell."""
        part = self.ticks[PARTS * cell.y : PARTS * (cell.y + 1) + 1, PARTS * cell.x : PARTS * (cell.x + 1) + 1]
        return float(part.min())

    def from_place(self, x: float, y: float) -> float:
        """Return the ticks from a place: the least of the corners of its square."""
        column, row = int((x + 0.5) * PARTS), int((y + 0.5) * PARTS)
        return float(self.ticks[row : row + 2, column : column + 2].min())

    @property
    def in_squares(self) -> Floats:
        """The ticks from the best place of each square, shape (rows, columns) times ``PARTS``."""
        ticks = np.minimum(self.ticks[:-1], self.ticks[1:])
        return np.minimum(ticks[:, :-1], ticks[:, 1:])


def slowness_of(trees: npt.NDArray[np.integer], price: float = inf) -> Floats:
    """Return ticks for the length of a cell, by square; shape (rows, columns) times ``PARTS``.

    Args:
        trees: Of each cell, shape (rows, columns).
        price: In ticks of a tree that may be gone, see *Trees at a price*; infinite where none may.
    """
    full = 1.0 / np.array(ON_FOOT)
    rates = [min([full[k], *(full[k - gone] + price * gone / CHORD for gone in range(1, k + 1))]) for k in range(4)]
    own = np.repeat(np.repeat(np.array(rates)[trees], PARTS, axis=0), PARTS, axis=1)
    return _of_neighbours(own, np.minimum)


def _of_neighbours(squares: Floats, choose: np.ufunc) -> Floats:
    """Return the least or the largest of each square and the eight round it."""
    framed = np.pad(squares, 1, mode="edge")
    height, width = squares.shape
    shifted = [framed[down : down + height, right : right + width] for down in range(3) for right in range(3)]
    chosen: Floats = choose.reduce(shifted)
    return chosen


@compiled
def spread_times(ticks: Floats, lengths: Floats) -> None:
    """Lower times to the shortest ones by the upwind scheme.

    Args:
        ticks: By corner; 0 at the aim, else infinite, or the shortest times with more slowness.
        lengths: Ticks along the side of each square.
    """
    rows, columns = ticks.shape
    for _ in range(_SWEEPS):
        changed = False
        for turn in range(4):
            for i in range(rows):
                row = i if turn < 2 else rows - 1 - i
                for j in range(columns):
                    column = j if turn % 2 == 0 else columns - 1 - j
                    best = ticks[row, column]
                    for down in (-1, 1):
                        other = row + down
                        if not 0 <= other < rows:
                            continue
                        for right in (-1, 1):
                            beside = column + right
                            if not 0 <= beside < columns:
                                continue
                            side = lengths[min(row, other), min(column, beside)]
                            first, second = ticks[other, column], ticks[row, beside]
                            low, high = min(first, second), max(first, second)
                            if low == np.inf:
                                continue
                            way = low + side
                            if high < way:
                                way = (low + high + sqrt(2 * side * side - (high - low) ** 2)) / 2
                            best = min(best, way)
                    if best < ticks[row, column] - 1e-4:
                        ticks[row, column] = best
                        changed = True
        if not changed:
            break


def _steepness(ticks: Floats, sides: Floats) -> Floats:
    """Return how steep the steeper triangle of each square is, cut along the better diagonal; 1 where it may be."""
    first, second, third, fourth = ticks[:-1, :-1], ticks[:-1, 1:], ticks[1:, :-1], ticks[1:, 1:]

    def steep(corner: Floats, across: Floats, along: Floats) -> Floats:
        slope: Floats = np.hypot(across - corner, along - corner)
        return slope

    falling = np.maximum(steep(first, second, third), steep(fourth, third, second))
    rising = np.maximum(steep(second, first, fourth), steep(third, fourth, first))
    steepest: Floats = np.minimum(falling, rising) / sides
    return steepest
