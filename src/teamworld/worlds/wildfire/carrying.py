"""Timesteps in which no team brings all civilians to where they are safe, through woods, whatever trees it cuts.

For teams of firefighters, with drones or without, that start in the middle of one cell where nothing burns. Civilians
walk by the seed alone until they are first lifted: where each is in every timestep is known. *Out* are the ticks of
``walking_times`` from the start, *home* those to the zone, both with all trees that grow before the first timestep.

*Nobody is anywhere before out has passed*, whatever is cut. Suppose a tick is the first that ends too early. Out
changes by at most one in a tick, unless this begins in a cell that has fewer trees than before the first timestep.
Whoever cut there stood in that cell at least ``WORK_TICKS`` before, no earlier than out. From there it is a diagonal of
the cell and the way of a tick at most to where the tick ends. Out grows on it by ``SLOWEST`` a cell at most, in all by
less than ``WORK_TICKS``: so the tick does not end too early.

*A civilian that was lifted gets nearer to the zone by 100 ticks of home a timestep at most.* Who carries it walks. In a
timestep in which it is put down, lifted, or both, it gets nearer by the reach of a lift and half a diagonal of a cell
at most, or takes a step or two itself: ``read_task`` sees to it that this is less than 100 ticks in the densest woods.
So it takes the timesteps until its first lift, those of home, one for the first lift and one for the last putting down.
Trees that are cut shorten home by ``SAVED`` each at most; or by ``PRICE`` each, and by what home at that price is less.

*How many trees are cut.* Let ``m`` firefighters lift civilians that nobody has lifted before. Each walks out to the
first of these, for which it needs the ticks of out, less for trees as with home. Every carried way takes its timesteps
of home, every lift and every putting down one. To hand a civilian over takes two timesteps more, of two firefighters,
and saves less, as long as civilians walk few steps (``_is_slow``). All this, and a timestep for each tree, is no more
than the timesteps of all firefighters. Who carried another civilian before its walk out was over may count some
timesteps twice. Somebody else had put that civilian down, so this was after timestep ``A``, the earliest in which
anybody can lift anybody; and it was over early enough to bring home the civilian that it walked out for.

*Which trees shorten home.* In ``L`` timesteps a civilian stays where the way from its first lift and the way to the
zone, as the crow flies, are no longer than ``PACE`` a timestep together: trees elsewhere do not matter. Nobody cuts
those that do before out to the nearest of them has passed, and nobody lifts or carries before ``A``, who lifts nobody
first before ``A + 1``. So these timesteps are not left for such trees. The walk out is shortened by all trees.

*Who lifts several.* Of the civilians that a firefighter lifts first, the second is lifted in ``A + 2`` at the earliest,
as the one before is put down in between, the third in ``A + 4``. So with ``m`` firefighters, all but ``m`` civilians
can be brought in time from ``A + 2`` on, all but ``2 m`` from ``A + 4`` on.

A number of timesteps is too small where this cannot be with any ``m``: where civilians cannot be brought in time with
as many trees cut, or less than none is. More trees only make more possible. So one begins with all timesteps for
cutting, and takes as many as are left with so many cut, until that changes no more.
"""

from __future__ import annotations

from math import ceil, floor, fsum, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import ON_FOOT
from teamworld.worlds.wildfire.state import DRONE, FIREFIGHTER, TICKS_PER_TIMESTEP, Cell
from teamworld.worlds.wildfire.walking_times import PARTS, SAVED, WalkingTimes, slowness_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teamworld.worlds.wildfire.state import Incident

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
#: Ticks for a cell in the densest woods.
SLOWEST: Final = 1 / ON_FOOT[-1]
#: Cells that a firefighter goes in a timestep at most.
PACE: Final = TICKS_PER_TIMESTEP * ON_FOOT[0]
#: The price of a tree in ticks, for what trees shorten the way home: below what one saves at most.
PRICE: Final = 5.0
#: Of ``WalkingTimes``.
ROUNDS: Final = 12
#: More timesteps than any lift.
_NEVER: Final = 10_000
_HALF_DIAGONAL: Final = sqrt(0.5)
_ROUNDING: Final = 1e-6


class Lifts(NamedTuple):
    """Where a civilian can be lifted first: squares of an eighth of a cell."""

    out: Floats
    home: Floats
    priced_out: Floats
    """Out where trees may be gone at a price."""
    priced_home: Floats
    is_near: npt.NDArray[np.bool_]
    """Whether the civilian is within reach of some place of it, by timestep; shape (timesteps, squares)."""

    def earliest(self, after: int = 0) -> Ints:
        """Return the first timesteps in which it can be lifted there, ``_NEVER`` where in none."""
        steps = np.arange(len(self.is_near))[:, None]
        can = self.is_near & (steps >= np.maximum(after, _timesteps(self.out)))
        first: Ints = np.where(can.any(axis=0), can.argmax(axis=0), _NEVER)
        return first

    def steps_home(self, cut: int) -> Ints:
        """Return the timesteps home with so many trees cut."""
        return _timesteps(_shorten(self.home, self.priced_home, cut))

    def walk_out(self, cut: int) -> Floats:
        """Return the timesteps that are walked out with so many trees cut, and parts of such."""
        return np.maximum(0.0, _shorten(self.out, self.priced_out, cut)) / TICKS_PER_TIMESTEP


class CarryTask(NamedTuple):
    """What is known of a rescue before the first timestep."""

    firefighters: int
    lifts: tuple[Lifts, ...]
    """Of each civilian."""
    home: WalkingTimes
    reached: Ints
    """First timestep in which a tree can be cut where civilians come in so many timesteps; shape (timesteps,)."""
    places: Ints
    """Where each free civilian is before each timestep; shape (timesteps, civilians, 2), (x, y)."""
    pick_up: float
    civilian_every: int

    @property
    def most(self) -> int:
        """Timesteps that are looked at."""
        return len(self.places)


def read_task(incident: Incident) -> CarryTask | None:
    """Return the task; None where it is another, or has more to it than is looked at."""
    units, level, rules, target = incident.units, incident.level, incident.rules, incident.instance.target
    starts = {(float(x), float(y)) for x, y, kind in zip(units.x, units.y, units.kind, strict=True) if kind != DRONE}
    if level.task != "rescue" or target is None or len(starts) != 1 or not len(incident.civilians):
        return None
    start = Cell(*(round(at) for at in next(iter(starts))))
    is_bare = incident.instance.fire is None and all(event.kind == "lose_drone" for event in level.events)
    has_others = not np.isin(units.kind, (FIREFIGHTER, DRONE)).all()
    hop, step = rules.pick_up + _HALF_DIAGONAL, 1 + TICKS_PER_TIMESTEP // level.civilian_every + _HALF_DIAGONAL
    if not is_bare or has_others or start not in starts or SLOWEST * max(hop, step) > TICKS_PER_TIMESTEP:
        return None
    trees = incident.land.inner(incident.land.trees).astype(np.int64)
    slowness = slowness_of(trees)
    reach = rules.rescue_reach + 0.5
    home = WalkingTimes(slowness, target, reach, ROUNDS)
    out, priced = WalkingTimes(slowness, start, 1 / PARTS, ROUNDS), slowness_of(trees, PRICE)
    priced_out, priced_home = (WalkingTimes(priced, *aim, ROUNDS) for aim in ((start, 1 / PARTS), (target, reach)))
    times = (out, home, priced_out, priced_home)
    places = list_places(incident, level.max_steps)
    squares = [each.in_squares for each in times]
    lifts = tuple(_read_lifts(squares, places[:, k], float(rules.pick_up)) for k in range(len(incident.civilians)))
    number = int((units.kind == FIREFIGHTER).sum())
    reached = _list_reached(squares[0], target, places, reach, float(rules.pick_up))
    return CarryTask(number, lifts, home, reached, places, float(rules.pick_up), level.civilian_every)


def list_places(incident: Incident, steps: int) -> Ints:
    """Return where the civilians are before each timestep while nobody lifts them; shape (steps + 1, civilians, 2)."""
    free, every = incident.copy(), incident.level.civilian_every
    places = []
    for step in range(steps + 1):
        places.append(np.stack([free.civilians.x, free.civilians.y], axis=1).astype(np.int64))
        begun = step * TICKS_PER_TIMESTEP
        for number in range(begun // every + 1, (begun + TICKS_PER_TIMESTEP) // every + 1):
            physics.step_civilians(free, number)
    return np.array(places)


def least_timesteps(task: CarryTask) -> int:
    """Return the timesteps in which no team brings all; one more than are looked at where it is none of these."""
    first = min(int(lifts.earliest().min()) for lifts in task.lifts)
    delayed = range(first, first + 2 * len(task.lifts), 2)
    early = [[lifts.earliest(after) for after in delayed] for lifts in task.lifts]
    teams = range(min(task.firefighters, len(task.lifts)), 0, -1)
    return next(
        (
            steps
            for steps in range(1, task.most)
            if any(_can_be(task, early, first, steps, lifters) for lifters in teams)
        ),
        task.most,
    )


def _can_be(task: CarryTask, early: list[list[Ints]], first: int, steps: int, lifters: int) -> bool:
    """Return whether all may be brought in so many timesteps, with so many who lift civilians first.

    Args:
        task: What is known.
        early: Of each civilian, the first timesteps in which it can be lifted, from ``first``, ``first + 2`` ... on.
        first: The earliest timestep in which anybody can lift anybody.
        steps: Timesteps.
        lifters: Firefighters who lift civilians that nobody has lifted before.
    """
    cut: int | None = task.firefighters * steps
    if _is_slow(task, steps - first):
        cut = _most_cuts(task, [each[0] for each in early], first, steps, lifters)
    if cut is None:
        return False
    homes = [lifts.steps_home(cut) for lifts in task.lifts]
    for number, left in enumerate(range(len(homes), 0, -lifters)):
        if sum(_is_in_time(each[number], home, steps) for each, home in zip(early, homes, strict=True)) < left:
            return False
    return True


def _is_slow(task: CarryTask, steps: int) -> bool:
    """Return whether civilians walk too little in so many timesteps for handing over to save time."""
    walked = 1 + steps * TICKS_PER_TIMESTEP // task.civilian_every
    return SLOWEST * (task.pick_up + _HALF_DIAGONAL + walked) <= 2 * TICKS_PER_TIMESTEP


def _is_in_time(early: Ints, home: Ints, steps: int) -> bool:
    return bool((early + home + 2 <= steps).any())


def _most_cuts(task: CarryTask, early: list[Ints], first: int, steps: int, lifters: int) -> int | None:
    """Return how many trees that shorten home are cut at most, None if so many timesteps do not suffice without any.

    See ``_can_be``; ``early`` are the first timesteps from ``first`` on.
    """
    every = task.firefighters * steps
    reached = int(task.reached[max(0, steps - 2 - first)])
    idle = (task.firefighters - lifters) * min(reached, first + 1)
    cut = useful = every
    while True:
        carried, outs, shortest = [], [], steps
        for lifts, begun in zip(task.lifts, early, strict=True):
            home = lifts.steps_home(useful)
            can = begun + home + 2 <= steps
            if not can.any():
                return None
            carried.append(2.0 + int(home[can].min()))
            outs.append(float((lifts.walk_out(cut) + home)[can].min()) + 2.0 - carried[-1])
            shortest = min(shortest, int(home[can].min()))
        both = max(0, steps - 2 - shortest - (first + 3))
        walks = [max(0.0, walk - both) for walk in sorted(outs)[:lifters]]
        left = floor(every - fsum((*carried, *walks)) + _ROUNDING)
        walks = [max(float(min(reached, first)), walk) for walk in walks]
        matter = floor(every - fsum((*carried, *walks)) - idle + _ROUNDING)
        if matter < 0:
            return None
        if left >= cut and matter >= useful:
            return useful
        cut, useful = min(cut, left), min(useful, matter)


def _list_reached(out: Floats, target: Cell, places: Ints, reach: float, pick_up: float) -> Ints:
    """Return ``CarryTask.reached``."""
    size = len(out) // PARTS
    cells = np.arange(size)

    def away(x: int, y: int, side: float) -> Floats:
        down, across = (np.maximum(0.0, abs(cells - at) - side) for at in (y, x))
        lengths: Floats = np.hypot(down[:, None], across[None, :])
        return lengths

    from_places = [away(int(x), int(y), 0.5) for x, y in np.unique(places.reshape(-1, 2), axis=0)]
    way = np.min(from_places, axis=0) - pick_up + away(*target, reach + 0.5)
    times = _timesteps(out.reshape(size, PARTS, size, PARTS).min(axis=(1, 3)))
    return np.array([times[way <= PACE * steps + _ROUNDING].min(initial=_NEVER) for steps in range(len(places))])


def _read_lifts(times: Sequence[Floats], places: Ints, reach: float) -> Lifts:
    """Return the lifts of a civilian that is at these places, by timestep."""
    around = ceil(reach) + 1
    left, top = (max(0, int(low) - around) for low in places.min(axis=0))
    right, bottom = (int(high) + around + 1 for high in places.max(axis=0))
    window = np.s_[PARTS * top : PARTS * bottom, PARTS * left : PARTS * right]
    parts = [each[window] for each in times]
    rows, columns = (np.arange(length) / PARTS - 0.5 for length in parts[0].shape)
    away = []
    for x, y in places:
        down, across = (
            np.maximum(0.0, np.maximum(low + begun - at, at - low - begun - 1 / PARTS))
            for low, begun, at in ((rows, top, y), (columns, left, x))
        )
        away.append(np.hypot(down[:, None], across[None, :]) < reach)
    near = np.array(away).reshape(len(places), -1)
    is_used = near.any(axis=0)
    out, home, priced_out, priced_home = (part.ravel()[is_used] for part in parts)
    return Lifts(out, home, priced_out, priced_home, near[:, is_used])


def _shorten(ticks: Floats, priced: Floats, cut: int) -> Floats:
    shorter: Floats = np.maximum(ticks - SAVED * cut, priced - PRICE * cut)
    return shorter


def _timesteps(ticks: Floats) -> Ints:
    steps: Ints = np.maximum(0, np.ceil(ticks / TICKS_PER_TIMESTEP - _ROUNDING)).astype(np.int64)
    return steps
