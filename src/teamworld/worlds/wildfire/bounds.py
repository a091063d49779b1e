"""Timesteps that no team can beat where the task has an end: cut, scout, transport and rescue.

Where a fire is fought the aim is less damage, not fewer steps: nothing is proven there. Everything here counts all
ground as bare, leaves out what fire forbids, and lets nobody be in anybody's way: these only take time away. A
firefighter goes at most 12 cells a timestep, a bulldozer 8, a drone 20 and a helicopter 30, and one who cuts, lifts or
puts down does nothing else in that timestep.

*Cut.* A firefighter takes one tree a timestep, of the cell that it is in, a bulldozer clears the cells that it drives
through, at most ``SWATH`` a timestep. Each cell with trees must be come to, at least from the nearest start; and all
trees share the timesteps of all. Without bulldozers each cell takes at least the walk from the nearest other one or the
start too, and a timestep: who cuts in a cell has come there from where it cut before, but where it started.

*Few cells to cut.* Up to three firefighters and six cells, nothing burning: each firefighter comes to some of the cells
one after the other, in whole timesteps of walking, at least one to another cell, for which ``walking_times`` proves
least ticks where none of the trees of the task are left; in a timestep in which it cuts it does not walk. So whatever
cells one looks at, those who come to one of them need as many timesteps for cutting as trees grow there. A team that
cuts other trees, too, has shorter ways, each by ``SAVED`` ticks a tree at most, and a timestep less for each: it is
tried with every number of such trees until these alone take longer.

*Scout.* Two flyers are above the fire at once, so the second nearest has come. From its first cell the fire grows by
one cell at most with each fire step, aslant too.

*Transport.* All firefighters are in the zone at once, so the farthest is. It walks all the way; or a helicopter and it
come nearer by 42 cells a timestep until it is taken aboard, which costs it a timestep, as being set down does, and in
between it goes 30 at most.

*Rescue.* Civilians walk one cell at most with each of their steps, until they are lifted. Let ``f`` be the distance
from the target, and ``z`` that at which a civilian is safe. A civilian is carried inwards from where it stood to ``z``,
by firefighters that carry one each. So for each distance ``q``, at least as many go inwards over ``q`` as civilians
began beyond it, by what they may have walked; and as many go outwards as go inwards, but for the firefighters that
began beyond ``q``. Each civilian takes two timesteps more, to lift it and to put it down; who puts one down on the way
spends two more, for no more than the cells at which one is lifted. All firefighters share the sum. And the civilian
that is farthest from all of them and the target is come to, and brought. Helicopters carry firefighters: where there
are any, these go 30 cells a timestep, and are taken aboard from ``BOARDING`` cells while they lift.

*Rescue on foot.* Without helicopters, where nothing burns, ``carrying`` takes account of the woods, and of where
civilians walk: the larger of both bounds holds.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, dist, fsum, sqrt
from typing import TYPE_CHECKING

import numpy as np

from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.wildfire import carrying, carrying_plans, cutting, joint_plans
from teamworld.worlds.wildfire.kernels.agents import BOARDING, SPEEDS
from teamworld.worlds.wildfire.physics import SCOUTS, TRANSPORT_REACH
from teamworld.worlds.wildfire.state import BULLDOZER, DRONE, FIREFIGHTER, HELICOPTER, TICKS_PER_TIMESTEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teamworld.worlds.wildfire.state import Cell, Incident

#: Cells a timestep by kind.
PACES = tuple(TICKS_PER_TIMESTEP * speed for speed in SPEEDS)
#: Cells that a bulldozer enters in a timestep of clearing at most: 4 cells long and aslant, and the one it stood in.
SWATH = 7
#: A cell reaches so far from its middle.
HALF_DIAGONAL = sqrt(0.5)
#: Timesteps that are tried.
MOST = 10_000
_ROUNDING = 1e-6


def bound(incident: Incident) -> StepBound | None:
    """Return the bound of an instance before its first step; None where no number of steps is asked for."""
    makers = {
        "cut_sparse": _cut,
        "cut_lines": _cut,
        "scout": _scout,
        "transport": _transport,
        "rescue": _rescue,
    }
    prove = makers.get(incident.level.task)
    steps = None if prove is None else prove(incident)
    if steps is None:
        return None
    if (task := _few_cells(incident)) is not None:
        least = max(steps, cutting.least_timesteps(task))
        return StepBound(least, joint_plans.find_plan(incident, task, least))
    if (rescue := carrying.read_task(incident)) is not None:
        return StepBound(max(steps, carrying.least_timesteps(rescue)), carrying_plans.find_plan(incident, rescue))
    return StepBound(steps)


def _starts(incident: Incident, *kinds: int) -> list[tuple[float, float]]:
    """Return where agents of some kinds start."""
    units = incident.units
    return [(float(units.x[row]), float(units.y[row])) for row in np.flatnonzero(np.isin(units.kind, kinds))]


def _timesteps(length: float, pace: float) -> int:
    """Return the timesteps of a way of so many cells."""
    return max(0, ceil(length / pace - _ROUNDING))


def _cut(incident: Incident) -> int | None:
    if _starts(incident, HELICOPTER):
        return None
    left = _trees_to_cut(incident)
    cells = [cell for cell, count in left.items() if count]
    walkers, bulldozers = _starts(incident, FIREFIGHTER), _starts(incident, BULLDOZER)
    if not walkers and not bulldozers:
        return None
    farthest = 0
    for cell in cells:
        near = (dist(at, cell) - HALF_DIAGONAL for at in (*walkers, *bulldozers))
        work = 0 if bulldozers else left[cell]
        farthest = max(farthest, _timesteps(min(near), PACES[FIREFIGHTER]) + work)
    if bulldozers:
        fresh = SWATH * len(bulldozers) * 3 + len(walkers)  # trees a timestep, three in a cell at most
        return max(farthest, -(-sum(left.values()) // fresh))
    begun = {(round(x), round(y)) for x, y in walkers}
    ways = 0
    for cell in cells:
        if (cell.x, cell.y) not in begun:
            others = (dist(other, cell) - HALF_DIAGONAL for other in (*walkers, *cells) if other != cell)
            ways += max(1, _timesteps(min(others) - HALF_DIAGONAL, PACES[FIREFIGHTER]))
    return max(farthest, -(-(sum(left.values()) + ways) // len(walkers)))


def _few_cells(incident: Incident) -> cutting.CutTask | None:
    """Return what *Few cells to cut* is about, if it is all that is to be done."""
    units, instance = incident.units, incident.instance
    is_bare = instance.fire is None and not incident.level.events and bool((units.kind == FIREFIGHTER).all())
    if not is_bare or not incident.level.task.startswith("cut"):
        return None
    return cutting.read_task(incident, _trees_to_cut(incident), _starts(incident, FIREFIGHTER))


def _trees_to_cut(incident: Incident) -> dict[Cell, int]:
    """Return the trees of each cell of the task."""
    trees = incident.land.inner(incident.land.trees)
    return {cell: int(trees[cell.y, cell.x]) for line in incident.instance.targets for cell in line}


def _scout(incident: Incident) -> int | None:
    flyers = [(at, PACES[kind]) for kind in (DRONE, HELICOPTER) for at in _starts(incident, kind)]
    fire, every = incident.instance.fire, incident.level.fire_every
    if fire is None or incident.level.events or len(flyers) < SCOUTS:
        return None

    def is_over(at: tuple[float, float], pace: float, steps: int) -> bool:
        reach = steps * TICKS_PER_TIMESTEP // every + 0.5
        away = [max(0.0, abs(own - aim) - reach) for own, aim in zip(at, fire, strict=True)]
        return dist(away, (0.0, 0.0)) <= pace * steps + _ROUNDING

    return next((t for t in range(MOST) if sum(is_over(*flyer, t) for flyer in flyers) >= SCOUTS), None)


def _transport(incident: Incident) -> int | None:
    target, helicopters = incident.instance.target, _starts(incident, HELICOPTER)
    if target is None:
        return None
    reach, set_down = TRANSPORT_REACH + 0.5, 0 if incident.rules.riders_count else 1

    def walk(at: tuple[float, float]) -> float:
        return dist([max(0.0, abs(own - aim) - reach) for own, aim in zip(at, target, strict=True)], (0.0, 0.0))

    def ride(at: tuple[float, float]) -> float:
        foot, air = PACES[FIREFIGHTER], PACES[HELICOPTER]
        met = min(max(0.0, dist(at, other) - BOARDING) / (foot + air) for other in helicopters)
        return met + 1 + set_down + max(0.0, walk(at) - BOARDING - foot * met) / air

    ways = []
    for at in _starts(incident, FIREFIGHTER):
        alone = _timesteps(walk(at), PACES[FIREFIGHTER])
        ways.append(min(alone, max(0, ceil(ride(at) - _ROUNDING))) if helicopters else alone)
    return max(ways, default=None)


def _rescue(incident: Incident) -> int | None:
    target, people, rules = incident.instance.target, incident.civilians, incident.rules
    walkers = _starts(incident, FIREFIGHTER)
    if target is None or not walkers or not len(people):
        return None
    is_flown = bool(_starts(incident, HELICOPTER))
    pace, hop = PACES[HELICOPTER if is_flown else FIREFIGHTER], BOARDING if is_flown else 0.0
    safe = sqrt(2) * (rules.rescue_reach + 0.5) + HALF_DIAGONAL
    begun = [dist(at, target) for at in walkers]
    places = [(float(x), float(y)) for x, y in zip(people.x, people.y, strict=True)]

    def can_be_done(steps: int) -> bool:
        roamed = steps * TICKS_PER_TIMESTEP // incident.level.civilian_every
        lifted = roamed + rules.pick_up
        for at in places:
            way = min(dist(at, walker) for walker in walkers) + dist(at, target) - 2 * lifted - safe
            if way > pace * (steps - 2) + 2 * hop + _ROUNDING:
                return False
        far = [dist(at, target) - lifted for at in places]
        free = len(walkers) * steps - 2 * len(places)
        return _round_trips(far, begun, safe) <= pace * free + 2 * len(places) * hop + _ROUNDING

    return next((steps for steps in range(MOST) if can_be_done(steps)), None)


def _round_trips(far: Sequence[float], begun: Sequence[float], safe: float) -> float:
    """Return the cells that firefighters go inwards and outwards together, see *Rescue*."""
    cuts = sorted({safe, *(q for q in (*far, *begun) if q > safe)})
    parts = []
    for low, high in pairwise(cuts):
        inwards = sum(distance >= high for distance in far)
        outwards = max(0, inwards - sum(distance >= high for distance in begun))
        parts.append((high - low) * (inwards + outwards))
    return fsum(parts)
