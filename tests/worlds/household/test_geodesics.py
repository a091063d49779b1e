"""Lengths of the shortest ways, against straight lines by samples and ways over all corners of a maze."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.geodesics import Geodesics, Lengths, Places
from teamworld.worlds.household.pathfinding import CELL
from tests.worlds.household import walking
from tests.worlds.household.walking import maze, middle


def between(geodesics: Geodesics, first: Places, second: Places) -> Lengths:
    return geodesics.between(geodesics.locate(first), geodesics.locate(second))


def is_straight(free: Bools, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Return whether each part of a line, between two borders of cells, is in a free cell or between two cells."""
    cuts = {Fraction(0), Fraction(1)}
    for axis in (0, 1):
        low, high = sorted((start[axis], end[axis]))
        cuts |= {Fraction(at - start[axis], end[axis] - start[axis]) for at in range(low, high + 1)
                 if at % CELL == 0 and low < high}  # fmt: skip
    for first, last in pairwise(sorted(cuts)):
        x, z = (start[axis] + (end[axis] - start[axis]) * (first + last) / 2 for axis in (0, 1))
        rows, columns = ({int(at // CELL), -int(-at // CELL) - 1} for at in (z, x))
        if not any(free[row, column] for row in rows for column in columns):
            return False
    return True


@pytest.mark.parametrize("seed", range(3))
def test_lengths_are_those_over_all_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = np.pad(maze(rng, 7, 9, 0.3), 1)
    rows, columns = np.nonzero(free)
    own = np.stack((columns, rows), axis=1) * CELL + rng.integers(0, CELL, (len(rows), 2))
    corners = [(column * CELL, row * CELL) for row in range(1, 9) for column in range(1, 11)]
    places = [*map(tuple, own.tolist()), *corners]
    size = len(places)
    lengths = np.full((size, size), np.inf)
    for i, start in enumerate(places):
        for j, end in enumerate(places):
            if is_straight(free, start, end):
                lengths[i, j] = np.hypot(start[0] - end[0], start[1] - end[1])
    for k in range(size):
        lengths = np.minimum(lengths, lengths[:, [k]] + lengths[[k]])
    geodesics = Geodesics(free)
    lengths_between = between(geodesics, own, own)
    assert lengths_between == pytest.approx(lengths[: len(own), : len(own)])
    some = [slice(first, None, 5) for first in range(4)]
    nearest = geodesics.nearest(geodesics.locate(own), [geodesics.border(own[each]) for each in some])
    assert nearest == pytest.approx(np.stack([lengths_between[:, each].min(axis=1) for each in some], axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_no_walk_is_shorter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = np.pad(maze(rng, 15, 15, 0.25), 1)
    geodesics = Geodesics(free)
    cells = [(int(row), int(column)) for row, column in np.argwhere(free)]
    ratios = []
    for start, end in rng.permutation(len(cells))[:40].reshape(-1, 2).tolist():
        if cells[start] in walking.lengths(free, cells[end]):
            at, to = middle(cells[start]), middle(cells[end])
            reached, walked = walking.walk(free, at, cells[end], 10_000)
            far = between(geodesics, np.array([at], np.int64), np.array([to], np.int64))[0, 0]
            assert reached == to
            assert far <= walked + 1e-6
            ratios.append(far / max(walked, 1))
    assert np.mean(ratios) > 0.7  # and it is not much shorter
