"""What agents observe as arrays: 3,728 numbers each, and the manager's row (wildfire spec A9).

A row of an agent is [kind] + 3,721 numbers of its window + [imitation flag] + [x, y] + 3 extras. The window holds what
was last seen of the cells round its own, row by row, 0 for what nobody saw and what lies outside the map, then -1. The
kind is 5 for one that is lost; of it the row tells where it was, and its window is all -1.

The manager's row is [4, task, size of the map, score] + the task's parameters, then -1. The edition of 2026 has
thirteen counters and whether a fire is active in place of the score. Parameters of the tasks are

* cut: whether they are lines (1) or single cells (0), how many; of each the cell, or the first and last cell of a line;
* scout: the fire's cell; transport: the target;
* contain: the fire's cell, then those of the water; rescue: the target, then the cell of each cluster of civilians;
* both: the fire's cell, that of the first water or 0 0, then those of the clusters;

all as they were at the start. Cells that do not fit are left out. The manager is told the truth, known to the team or
not (A9), so its row is for central training and for judges. The other rows never depend on what was not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire import tasks
from teamworld.worlds.wildfire.levels import TASK_CODES
from teamworld.worlds.wildfire.sightings import SEEN_CIVILIAN, SHIFT, TILE
from teamworld.worlds.wildfire.units import DESTROYED, FIREFIGHTER, HELICOPTER, KINDS, MANAGER, NOBODY, SIGHTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.levels import Edition
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.sightings import Sightings
    from teamworld.worlds.wildfire.units import Units

    F32: TypeAlias = npt.NDArray[np.float32]
    U8: TypeAlias = npt.NDArray[np.uint8]
    I32: TypeAlias = npt.NDArray[np.int32]
    Flags: TypeAlias = npt.NDArray[np.bool_]

# The places below are frozen into the compiled kernels of this file, with SHIFT and TILE of sightings.py.

#: Side of the largest window, a helicopter's, in cells; where the parts of a row stand; and how long it is.
WIDEST = 2 * max(sight.window for sight in SIGHTS) + 1
WINDOW_AT, FLAG_AT = 1, 1 + WIDEST * WIDEST
PLACE_AT, EXTRAS_AT = FLAG_AT + 1, FLAG_AT + 3
LENGTH = EXTRAS_AT + 3
PADDING = -1
#: Numbers of the manager's row between the size of the map and the task's parameters.
COUNTERS: dict[Edition, int] = {"2025": 1, "2026": 14}

_WINDOWS = np.array([sight.window for sight in SIGHTS], np.int32)
#: An unsigned index spares numba the test for negative ones.
u = np.uint64


class Observation(NamedTuple):
    """The row of one agent, decoded."""

    kind: int
    """FIREFIGHTER to HELICOPTER, or DESTROYED."""
    window: npt.NDArray[np.uint8]
    """(2W + 1, 2W + 1), indexed [y, x], its own cell in the middle; (0, 0) for one that is lost."""
    flag: int
    """Whether a person steered it (imitation); always 0 here."""
    x: int
    y: int
    extras: tuple[int, int, int]
    """Firefighter: carries a civilian, water, rides. Helicopter: firefighters aboard, water, 0. Others: 0, 0, 0."""


class Manager(NamedTuple):
    """The manager's row, decoded."""

    task: int
    """``levels.TASK_CODES``."""
    size: int
    """N, cells on a side of the map."""
    counters: tuple[float, ...]
    """The score; in the edition of 2026 thirteen counters (``tasks.Counts``) and whether a fire is active."""
    parameters: tuple[int, ...]


def observations(incident: Incident, sightings: Sightings, out: F32 | None = None) -> F32:
    """Return what everybody observes: float32 of shape (A + 1, 3728), row 0 the manager's, row k agent k's.

    Args:
        incident: What goes on.
        sightings: What was seen of it.
        out: C-contiguous array of that shape to write into; a new one if None.

    Raises:
        UserError: If ``out`` does not fit.
    """
    units = incident.units
    shape = (len(units) + 1, LENGTH)
    if out is None:
        out = np.empty(shape, np.float32)
    elif out.dtype != np.float32 or out.shape != shape or not out.flags.c_contiguous:
        raise UserError(f"out must be a contiguous float32 array of shape {shape}, got {out.dtype} {out.shape}")
    aboard = units.aboard[units.aboard != NOBODY]
    riders = np.bincount(aboard, minlength=len(units)).astype(np.int32)
    _rows(
        out[1:], units.kind, units.places(), units.alive, units.water, units.aboard, units.carries, riders, _WINDOWS,
        sightings.index, sightings.tiles, sightings.size,
    )  # fmt: skip
    out[0] = encode(manager(incident, sightings))
    return out


def window(incident: Incident, sightings: Sightings, agent: int) -> npt.NDArray[np.uint8]:
    """Return the window of one agent (its row in ``Units``), indexed [y, x]; (0, 0) if it is lost."""
    units = incident.units
    if not units.alive[agent]:
        return np.zeros((0, 0), np.uint8)
    reach = SIGHTS[units.kind[agent]].window
    side = 2 * reach + 1
    codes = np.empty(side * side, np.uint8)
    x, y = units.place(agent)
    owner = 0 if sightings.shared else agent
    _window(codes, sightings.index[owner], sightings.tiles.reshape(-1), sightings.size, x, y, reach)
    return codes.reshape(side, side)


def observation(incident: Incident, sightings: Sightings, agent: int) -> Observation:
    """Return what one agent (its row in ``Units``) observes, as ``decode`` has it."""
    units = incident.units
    x, y = units.place(agent)
    kind, extras = int(units.kind[agent]), (0, 0, 0)
    if not units.alive[agent]:
        kind = DESTROYED
    elif kind == FIREFIGHTER:
        carries, rides = int(units.carries[agent] != NOBODY), int(units.aboard[agent] != NOBODY)
        extras = (carries, int(units.water[agent]), rides)
    elif kind == HELICOPTER:
        extras = (int(np.count_nonzero(units.aboard == agent)), int(units.water[agent]), 0)
    return Observation(kind, window(incident, sightings, agent), 0, x, y, extras)


def names_of(units: Units) -> list[str]:
    """Return what the agents are called: kind and number, ``firefighter_1`` first (A6)."""
    return [f"{KINDS[kind]}_{k + 1}" for k, kind in enumerate(units.kind.tolist())]


def manager(incident: Incident, sightings: Sightings) -> Manager:
    """Return what the manager is told."""
    instance = incident.instance
    level = instance.level
    if level.edition == "2026":
        counts = tasks.counts(incident, sightings.explored)
        counters = (*(float(count or 0) for count in counts), float(incident.land.cells_burning > 0))
    else:
        counters = (tasks.score(incident).reference,)
    given = tuple(int(number) for number in parameters(instance))
    room = LENGTH - 3 - len(counters)
    return Manager(TASK_CODES[level.task], level.size, counters, given[: room - room % 2])


def parameters(instance: Instance) -> list[int]:
    """Return the task's parameters (see the module)."""
    task, cells = instance.level.task, list[tuple[int, int]]()
    head = list[int]()
    if task in ("cut_sparse", "cut_lines"):
        lines = task == "cut_lines"
        head = [int(lines), len(instance.targets)]
        cells = [cell for line in instance.targets for cell in ((line[0], line[-1]) if lines else line)]
    elif task == "transport":
        cells = [instance.target or (0, 0)]
    elif task == "rescue":
        cells = [instance.target or (0, 0), *instance.clusters]
    else:
        cells = [instance.fire or (0, 0)]
        if task == "contain":
            cells += instance.water
        elif task == "both":
            cells += [*(instance.water or ((0, 0),))[:1], *instance.clusters]
    return [*head, *(number for cell in cells for number in cell)]


def encode(seen: Observation | Manager) -> F32:
    """Return the row, float32 of shape (3728,).

    Raises:
        UserError: If it holds a window that its kind does not have, or too many parameters.
    """
    row = np.full(LENGTH, PADDING, np.float32)
    if isinstance(seen, Manager):
        numbers = (MANAGER, seen.task, seen.size, *seen.counters, *seen.parameters)
        if len(numbers) > LENGTH:
            raise UserError(f"the manager's row holds {LENGTH} numbers, got {len(numbers)}")
        row[: len(numbers)] = numbers
        return row
    side = _side(seen.kind)
    if seen.window.shape != (side, side):
        raise UserError(f"an agent of kind {seen.kind} has a window of shape {(side, side)}, got {seen.window.shape}")
    row[0] = seen.kind
    row[WINDOW_AT : WINDOW_AT + side * side] = seen.window.reshape(-1)
    row[FLAG_AT:] = (seen.flag, seen.x, seen.y, *seen.extras)
    return row


def decode(row: npt.NDArray[np.floating] | Sequence[float], edition: Edition = "2025") -> Observation | Manager:
    """Return what a row says; ``encode`` gives the same row again.

    Args:
        row: Numbers of shape (3728,).
        edition: Whose manager's row it is; rows of agents are the same in both.

    Raises:
        UserError: If it is no row of an observation.
    """
    numbers = np.asarray(row, np.float32)
    if numbers.shape != (LENGTH,) or not 0 <= numbers[0] <= DESTROYED or numbers[0] % 1:
        raise UserError(f"an observation has {LENGTH} numbers and begins with a kind from 0 to 5, got {brief(row)}")
    kind = int(numbers[0])
    if kind == MANAGER:
        head = 3 + COUNTERS[edition]
        rest = numbers[head:]
        given = rest[: np.flatnonzero(rest != PADDING)[-1] + 1] if (rest != PADDING).any() else rest[:0]
        counters = tuple(float(number) for number in numbers[3:head])
        return Manager(int(numbers[1]), int(numbers[2]), counters, tuple(int(number) for number in given))
    side = _side(kind)
    codes = numbers[WINDOW_AT : WINDOW_AT + side * side]
    if not ((codes >= 0) & (codes <= SEEN_CIVILIAN)).all():
        raise UserError(f"a window holds codes from 0 to {SEEN_CIVILIAN}, got {brief(codes)}")
    flag, x, y, *extras = (int(number) for number in numbers[FLAG_AT:])
    return Observation(kind, codes.astype(np.uint8).reshape(side, side), flag, x, y, (extras[0], extras[1], extras[2]))


def _side(kind: int) -> int:
    """Return the side of a window in cells."""
    if kind == DESTROYED:
        return 0
    if not 0 <= kind < len(SIGHTS):
        raise UserError(f"the kind of an agent is a number from 0 to 3, or 5 for one that is lost, got {kind}")
    return 2 * SIGHTS[kind].window + 1


@compiled
def _rows(
    out: F32,
    kind: U8,
    place: I32,
    alive: Flags,
    water: npt.NDArray[np.int8],
    aboard: I32,
    carries: I32,
    riders: I32,
    windows: I32,
    index: I32,
    tiles: U8,
    size: int,
) -> None:
    """Write the rows of all agents."""
    flat = tiles.reshape(-1)
    for k in range(len(kind)):
        row = out[k]
        end = WINDOW_AT
        row[EXTRAS_AT:] = 0
        row[0] = DESTROYED
        if alive[k]:
            row[0] = kind[k]
            reach = windows[kind[k]]
            end += (2 * reach + 1) ** 2
            _window(row[WINDOW_AT:end], index[k if len(index) > 1 else 0], flat, size, place[k, 0], place[k, 1], reach)
            if kind[k] == FIREFIGHTER:
                row[EXTRAS_AT] = carries[k] != NOBODY
                row[EXTRAS_AT + 1] = water[k]
                row[EXTRAS_AT + 2] = aboard[k] != NOBODY
            elif kind[k] == HELICOPTER:
                row[EXTRAS_AT] = riders[k]
                row[EXTRAS_AT + 1] = water[k]
        row[end:FLAG_AT] = PADDING
        row[FLAG_AT] = 0
        row[PLACE_AT] = place[k, 0]
        row[PLACE_AT + 1] = place[k, 1]


@compiled
def _window(out: F32 | U8, index: I32, flat: U8, size: int, x: int, y: int, reach: int) -> None:
    """Write the codes round (x, y), row by row.

    Args:
        out: Flat array of (2 reach + 1) squared numbers.
        index: (T, T), where the tiles of this map stand.
        flat: All tiles, as one array.
        size: N, cells on a side of the map.
        x: Column in the middle.
        y: Row in the middle.
        reach: Cells to each side.
    """
    first, last = max(0, x - reach), min(size - 1, x + reach)
    at = 0
    for row in range(y - reach, y + reach + 1):
        if not 0 <= row < size:
            out[at : at + 2 * reach + 1] = 0
        else:
            out[at : at + first - x + reach] = 0
            out[at + last + 1 - x + reach : at + 2 * reach + 1] = 0
            there = at + reach - x
            for column in range(first >> SHIFT, (last >> SHIFT) + 1):
                tile = (index[row >> SHIFT, column] << 2 * SHIFT) + ((row & TILE - 1) << SHIFT) - (column << SHIFT)
                for i in range(max(first, column << SHIFT), min(last + 1, (column + 1) << SHIFT)):
                    out[u(there + i)] = flat[u(tile + i)]
        at += 2 * reach + 1
