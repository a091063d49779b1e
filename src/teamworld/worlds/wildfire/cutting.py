"""Shares of trees to cut: which cells each firefighter comes to, in which order, and how many trees it cuts there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.wildfire.state import TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.walking_times import SAVED, WalkingTimes, slowness_of

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import Cell, Incident

Ints: TypeAlias = npt.NDArray[np.int64]
#: Cells, and firefighters, with which all shares are looked at.
MOST_CELLS, MOST_WALKERS = 6, 3
#: More than any walk takes.
_NEVER: Final = 10_000


class CutTask(NamedTuple):
    """What is left to cut, and the ticks between the places."""

    trees: Mapping[Cell, int]
    """Of each cell with trees that have to go."""
    times: Sequence[WalkingTimes]
    """To each of these cells, with none of these trees left."""
    between: npt.NDArray[np.float64]
    """Ticks from cell to cell, shape (cells, cells)."""
    begun: npt.NDArray[np.float64]
    """From where each firefighter starts, shape (firefighters, cells)."""
    is_away: Ints
    """1 for cells in which it does not start, else 0; same shape."""


class Shares(NamedTuple):
    """The cells of each firefighter."""

    orders: tuple[tuple[int, ...], ...]
    cuts: tuple[Mapping[int, int], ...]


def read_task(incident: Incident, trees: Mapping[Cell, int], starts: Sequence[tuple[float, float]]) -> CutTask | None:
    """Return the task; None where there is more of it than is looked at."""
    cells = [cell for cell, number in trees.items() if number]
    if not 0 < len(cells) <= MOST_CELLS or not 0 < len(starts) <= MOST_WALKERS:
        return None
    left = incident.land.inner(incident.land.trees).astype(np.int64)
    for cell in cells:
        left[cell.y, cell.x] = 0
    slowness = slowness_of(left)
    times = [WalkingTimes(slowness, cell) for cell in cells]
    between = np.array([[aim.from_cell(cell) for aim in times] for cell in cells])
    begun = np.array([[aim.from_place(*at) for aim in times] for at in starts])
    is_away = np.array([[int((round(x), round(y)) != (cell.x, cell.y)) for cell in cells] for x, y in starts])
    return CutTask({cell: trees[cell] for cell in cells}, times, between, begun, is_away)


def least_timesteps(task: CutTask) -> int:
    """Return the timesteps in which no team cuts all trees, whatever other trees it cuts for shorter ways."""
    number, walkers = sum(task.trees.values()), len(task.begun)
    least = _NEVER
    before: Ints | None = None
    for more in count():
        steps = -(-(number + more) // walkers)
        if steps >= least:
            break
        walks = _list_walks(task, SAVED * more)
        if before is not None and np.array_equal(walks, before):
            continue  # takes no less than with fewer other trees
        before = walks
        while steps < least and next(_list_shares(task, walks, steps, more), None) is None:
            steps += 1
        least = steps
    return least


def list_shares(task: CutTask, steps: int) -> Iterator[Shares]:
    """Yield shares with which all trees may be cut in so many timesteps, those with the shortest walks first."""
    walks = _list_walks(task, 0.0)
    every = sorted(
        _list_shares(task, walks, steps, 0), key=lambda own: sum(w[s] for w, s in zip(walks, own, strict=True))
    )
    for own in every:
        cuts = _share_cuts(task, own, [steps - int(walk[subset]) for walk, subset in zip(walks, own, strict=True)])
        orders = tuple(_order(task, walker, subset) for walker, subset in enumerate(own))
        if cuts is not None:
            yield Shares(orders, cuts)


def _timesteps(ticks: npt.NDArray[np.float64]) -> Ints:
    steps: Ints = np.maximum(0, np.ceil(ticks / TICKS_PER_TIMESTEP - 1e-6)).astype(np.int64)
    return steps


def _legs(task: CutTask, saved: float) -> tuple[Ints, Ints]:
    """Return the timesteps between cells, over others too, and from the starts: 1 at least to another cell."""
    between = np.maximum(_timesteps(task.between - saved), 1 - np.eye(len(task.between), dtype=np.int64))
    begun = np.maximum(_timesteps(task.begun - saved), task.is_away)
    for over in range(len(between)):
        between = np.minimum(between, between[:, [over]] + between[[over], :])
    for over in range(len(between)):
        begun = np.minimum(begun, begun[:, [over]] + between[[over], :])
    return between, begun


def _list_walks(task: CutTask, saved: float) -> Ints:
    """Return the timesteps in which a firefighter walks to all cells of a subset; shape (firefighters, subsets)."""
    return np.array([_walk(task, walker, saved).min(axis=1) for walker in range(len(task.begun))])


def _walk(task: CutTask, walker: int, saved: float) -> Ints:
    """Return the same by the last cell, shape (subsets, cells)."""
    between, begun = _legs(task, saved)
    size = len(between)
    walks = np.full((1 << size, size), _NEVER, np.int64)
    walks[0] = 0
    for subset in range(1, 1 << size):
        for last in range(size):
            if subset >> last & 1:
                rest = subset ^ 1 << last
                walks[subset, last] = (
                    min(walks[rest, k] + between[k, last] for k in range(size) if rest >> k & 1)
                    if rest
                    else begun[walker, last]
                )
    return walks


def _list_shares(task: CutTask, walks: Ints, steps: int, more: int) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of cells of firefighters who may cut all trees, and others, in so many timesteps.

    Whatever cells are looked at, who comes to one of them has to have time for their trees.
    """
    size = len(task.trees)
    trees = [*task.trees.values()]
    subsets = np.arange(1 << size)
    needed = np.array([sum(n for k, n in enumerate(trees) if subset >> k & 1) for subset in subsets])
    needed = np.append(needed, needed[-1] + more)
    meets = np.append((subsets[:, None] & subsets[None, :]) != 0, np.ones((len(subsets), 1), np.bool_), axis=1)
    time = steps - walks
    possible = [np.flatnonzero(own >= 0) for own in time]
    sums = np.zeros((1, len(needed)), np.int16)
    for own, here in zip(time, possible, strict=True):
        added = (own[here, None] * meets[here]).astype(np.int16)
        sums = (sums[:, None, :] + added[None, :, :]).reshape(-1, len(needed))
    for row in np.flatnonzero((sums >= needed).all(axis=1)):
        places = np.unravel_index(row, [len(here) for here in possible])
        yield tuple(int(here[place]) for here, place in zip(possible, places, strict=True))


def _share_cuts(task: CutTask, subsets: Sequence[int], time: Sequence[int]) -> tuple[dict[int, int], ...] | None:
    """Return how many trees each firefighter cuts in each of its cells; None if time does not suffice."""
    cuts = tuple[dict[int, int], ...]({} for _ in subsets)
    left = list(time)

    def share(cell: int, walker: int, trees: int) -> bool:
        if walker == len(subsets):
            return trees == 0 and (cell + 1 == len(task.trees) or share(cell + 1, 0, [*task.trees.values()][cell + 1]))
        most = min(trees, left[walker]) if subsets[walker] >> cell & 1 else 0
        for number in range(most, -1, -1):
            cuts[walker][cell] = number
            left[walker] -= number
            if share(cell, walker + 1, trees - number):
                return True
            left[walker] += number
        return False

    return cuts if share(0, 0, next(iter(task.trees.values()))) else None


def _order(task: CutTask, walker: int, subset: int) -> tuple[int, ...]:
    """Return the order in which a firefighter walks to the cells of a subset."""
    walks, (between, _) = _walk(task, walker, 0.0), _legs(task, 0.0)
    order: list[int] = []
    while subset:
        ends = [walks[subset, k] + (between[k, order[-1]] if order else 0) for k in range(len(between))]
        order.append(min((k for k in range(len(between)) if subset >> k & 1), key=lambda k: ends[k]))
        subset ^= 1 << order[-1]
    return tuple(reversed(order))
