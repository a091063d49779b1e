"""A joint plan of firefighters who know where all trees grow, played by the rules of the world."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.cutting import CutTask, Shares, list_shares
from teamworld.worlds.wildfire.kernels.agents import ON_FOOT
from teamworld.worlds.wildfire.state import FIREFIGHTER, GO_ANYWHERE, STOP, TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.walking_times import PARTS

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import Cell, Incident

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
#: Shares that are played for each number of timesteps, and how many more than the bound these are at most.
PLAYED, SLACK = 12, 3
#: How far those cells are that a firefighter may head for: farther than it comes in a timestep.
_REACH: Final = 13
_PACES: Final = np.array(ON_FOOT)
_CUT: Final = 1


def find_plan(incident: Incident, task: CutTask, least: int) -> int | None:
    """Return the timesteps of the best joint plan that was played; None where there is none.

    Args:
        incident: The moment before the first step; it is left as it is.
        task: What is to be cut.
        least: Timesteps that no team beats.
    """
    best: int | None = None
    for steps in range(least, least + SLACK + 1):
        if best is not None and best <= steps:
            break
        for shares in islice(list_shares(task, steps), PLAYED):
            played = _play(incident.copy(), task, shares, most=(least + 2 * SLACK if best is None else best - 1))
            best = best if played is None else played
            if best == least:
                return best
    return best


def _play(incident: Incident, task: CutTask, shares: Shares, most: int) -> int | None:
    """Play a joint plan and return its timesteps; None if it takes more than so many."""
    rows = np.flatnonzero(incident.units.kind == FIREFIGHTER)
    cells = [*task.trees]
    left = [[(cell, cuts[cell]) for cell in order if cuts[cell]] for order, cuts in zip(*shares, strict=True)]
    for step in range(most + 1):
        if physics.is_over(incident):
            return step
        if step < most:
            actions = np.zeros((len(incident.units), 3), np.int64)
            for row, own in zip(rows, left, strict=True):
                actions[row] = _act(incident, task, cells, int(row), own)
            physics.step(incident, actions)
    return None


def _act(
    incident: Incident, task: CutTask, cells: list[Cell], row: int, left: list[tuple[int, int]]
) -> tuple[int, int, int]:
    """Return the next action of a firefighter, and strike off the tree that it cuts."""
    if not left:
        return STOP, 0, 0
    (number, trees), x, y = left[0], float(incident.units.x[row]), float(incident.units.y[row])
    cell = cells[number]
    if (round(x), round(y)) == (cell.x, cell.y):
        left[:1] = [(number, trees - 1)] if trees > 1 else []
        return _CUT, 0, 0
    onwards = task.times[left[1][0]].ticks if len(left) > 1 else task.times[number].ticks
    aim = _choose_aim(incident.land.inner(incident.land.trees), task.times[number].ticks, onwards, x, y, cell.x, cell.y)
    return GO_ANYWHERE, *aim


@part
def _walk(trees: npt.NDArray[np.uint8], x: float, y: float, aim_x: int, aim_y: int) -> tuple[float, float]:
    """Return where a firefighter is that went straight for an aim for a timestep."""
    right, down = aim_x - x, aim_y - y
    left = math.sqrt(right * right + down * down)
    if left == 0.0:
        return x, y
    right, down = right / left, down / left
    for _ in range(TICKS_PER_TIMESTEP):
        pace = _PACES[trees[round(y), round(x)]]
        if left <= pace:
            return float(aim_x), float(aim_y)
        x += right * pace
        y += down * pace
        left -= pace
    return x, y


@compiled
def walk_for_timestep(trees: npt.NDArray[np.uint8], xs: Floats, ys: Floats, aims: Ints) -> Floats:
    """Return where firefighters are that go straight for their aims for a timestep, shape (aims, 2).

    Args:
        trees: By cell.
        xs: Where they are.
        ys: Where they are.
        aims: Shape (aims, 2), (x, y).
    """
    ends = np.empty((len(xs), 2))
    for row in range(len(xs)):
        ends[row] = _walk(trees, xs[row], ys[row], aims[row, 0], aims[row, 1])
    return ends


@compiled
def _choose_aim(
    trees: npt.NDArray[np.uint8], ticks: Floats, onwards: Floats, x: float, y: float, to_x: int, to_y: int
) -> tuple[int, int]:
    """Return where to head for: so that one is in a cell after the timestep, near what comes next, or near to the cell.

    Args:
        trees: By cell.
        ticks: To the cell, by corner of squares.
        onwards: To what comes next.
        x: Where the firefighter is.
        y: Where the firefighter is.
        to_x: The cell.
        to_y: The cell.
    """
    size = len(trees)
    best, best_x, best_y = np.inf, to_x, to_y
    for aim_y in range(max(0, round(y) - _REACH), min(size, round(y) + _REACH + 1)):
        for aim_x in range(max(0, round(x) - _REACH), min(size, round(x) + _REACH + 1)):
            if aim_x == x and aim_y == y:
                continue
            at_x, at_y = _walk(trees, x, y, aim_x, aim_y)
            row, column = round((at_y + 0.5) * PARTS), round((at_x + 0.5) * PARTS)
            is_there = round(at_x) == to_x and round(at_y) == to_y
            far = onwards[row, column] - 1e9 if is_there else ticks[row, column]
            if far < best:
                best, best_x, best_y = far, aim_x, aim_y
    return best_x, best_y
