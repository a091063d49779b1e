"""A joint plan of firefighters who know where all civilians will be, played by the rules of the world.

For each civilian the shortest route is looked for: out to where it can be lifted, then to the zone. A route is made
timestep by timestep; of the places where it may end after so many, those are kept from which the rest takes the fewest
ticks. Then each firefighter takes a route, and it is played who lifts whom.
"""

from __future__ import annotations

from itertools import islice, permutations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.joint_plans import walk_for_timestep
from teamworld.worlds.wildfire.state import FIREFIGHTER, GO_ANYWHERE, LIFT, STOP
from teamworld.worlds.wildfire.walking_times import PARTS, slowness_of, spread_times

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.carrying import CarryTask
    from teamworld.worlds.wildfire.state import Incident

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Action: TypeAlias = tuple[int, int, int]
#: Places that are kept in each timestep, and orders of the firefighters that are played.
KEPT, PLAYED = 60, 120
#: How far those cells are that a firefighter heads for: farther than it comes in a timestep.
_REACH: Final = 13
#: Places that are close to each other are in the same quarter of a cell; so many for each that is kept are looked at.
_PARTS_OF_CELL, _SORTED = 4, 40


class Places(NamedTuple):
    """Where a route may be after some timesteps."""

    x: Floats
    y: Floats
    before: Ints
    """Row of the place a timestep earlier; of one on the way out where it has lifted since, if ``has_lifted``."""
    aims: Ints
    """What it headed for, shape (places, 2)."""
    has_lifted: npt.NDArray[np.bool_]


def find_plan(incident: Incident, task: CarryTask) -> int | None:
    """Return the timesteps of the best joint plan that was played; None where there is none.

    Args:
        incident: The moment before the first step; it is left as it is.
        task: What is known of it.
    """
    if len(task.lifts) > task.firefighters:
        return None
    routes = [_find_route(incident, task, civilian) for civilian in range(len(task.lifts))]
    played = [route for route in routes if route is not None]
    if len(played) < len(routes):
        return None
    least, best = max(map(len, played)), None
    for order in islice(permutations(played), PLAYED):
        steps = _play(incident.copy(), order)
        best = steps if best is None or (steps is not None and steps < best) else best
        if best == least:
            break
    return best


def _play(incident: Incident, routes: tuple[list[Action], ...]) -> int | None:
    """Play a joint plan and return its timesteps; None if civilians are left."""
    rows = np.flatnonzero(incident.units.kind == FIREFIGHTER)
    for step in range(max(map(len, routes))):
        actions = np.full((len(incident.units), 3), (STOP, 0, 0), np.int64)
        for row, route in zip(rows, routes, strict=False):
            if step < len(route):
                actions[row] = route[step]
        physics.step(incident, actions)
        if physics.is_over(incident):
            return step + 1
    return None


def _find_route(incident: Incident, task: CarryTask, civilian: int) -> list[Action] | None:
    """Return the actions that bring a civilian to the zone."""
    trees = incident.land.inner(incident.land.trees)
    lengths = slowness_of(trees) / PARTS
    best: list[Action] | None = None
    lifted = {int(task.lifts[civilian].earliest().min())}
    tried = set[tuple[int, int]]()
    while lifted:
        x, y = map(int, task.places[min(lifted.pop(), task.most - 1), civilian])
        if (x, y) in tried:
            continue
        tried.add((x, y))
        corners = np.arange(len(lengths) + 1) / PARTS - 0.5
        is_near = np.hypot(corners[:, None] - y, corners[None, :] - x) < task.pick_up
        ticks = np.where(is_near, task.home.ticks, np.inf)
        spread_times(ticks, lengths)
        route = _search(incident, task, civilian, ticks)
        if route is not None:
            lifted.add(route.index((LIFT, 0, 0)))
            best = route if best is None or len(route) < len(best) else best
    return best


def _search(incident: Incident, task: CarryTask, civilian: int, ticks: Floats) -> list[Action] | None:
    """Return the shortest route; ``ticks`` lead to the zone by way of the civilian."""
    trees, rules, target = incident.land.inner(incident.land.trees), incident.rules, incident.instance.target
    assert target is not None
    start = np.flatnonzero(incident.units.kind == FIREFIGHTER)[0]
    none = np.zeros(0)
    out = [_places(incident.units.x[[start]], incident.units.y[[start]])]
    home = [_places(none, none)]
    for step in range(task.most):
        here, carried = out[-1], home[-1]
        away = np.maximum(abs(np.rint(carried.x) - target.x), abs(np.rint(carried.y) - target.y))
        if (away <= rules.rescue_reach).any():
            return _trace(out, home, int(np.argmax(away <= rules.rescue_reach)))
        x, y = task.places[step, civilian]
        squared = (x - here.x) ** 2 + (y - here.y) ** 2
        lifts = np.flatnonzero(squared < task.pick_up**2)
        walked = _walk_on(carried, trees, task.home.ticks, target.x, target.y)
        lifted = Places(here.x[lifts], here.y[lifts], lifts, np.zeros((len(lifts), 2), np.int64), lifts >= 0)
        both = Places(*(np.concatenate(parts) for parts in zip(lifted, walked, strict=True)))
        home.append(_keep(both, task.home.ticks))
        out.append(_keep(_walk_on(here, trees, ticks, int(x), int(y)), ticks))
    return None


def _trace(out: list[Places], home: list[Places], row: int) -> list[Action]:
    """Return the actions that lead to a place on the way home after as many timesteps as are listed, then put down."""
    actions: list[Action] = [(LIFT, 0, 0)]
    side = home
    for step in range(len(home) - 1, 0, -1):
        places = side[step]
        if places.has_lifted[row]:
            actions.append((LIFT, 0, 0))
            side = out
        else:
            actions.append((GO_ANYWHERE, int(places.aims[row, 0]), int(places.aims[row, 1])))
        row = int(places.before[row])
    return actions[::-1]


def _places(x: Floats, y: Floats) -> Places:
    return Places(x, y, np.zeros(len(x), np.int64), np.zeros((len(x), 2), np.int64), np.zeros(len(x), np.bool_))


def _walk_on(places: Places, trees: npt.NDArray[np.uint8], ticks: Floats, x: int, y: int) -> Places:
    """Return where a timestep of walking leads, to any aim near (x, y), else as far as it goes in many directions."""
    before, aims = list_aims(places.x, places.y, len(trees), x, y)
    ends = walk_for_timestep(trees, places.x[before], places.y[before], aims)
    return Places(ends[:, 0], ends[:, 1], before, aims, np.zeros(len(before), np.bool_))


def _keep(places: Places, ticks: Floats) -> Places:
    """Return the places with the fewest ticks left, of those close to each other the best."""
    left = ticks[np.rint((places.y + 0.5) * PARTS).astype(int), np.rint((places.x + 0.5) * PARTS).astype(int)]
    order = np.argsort(left, kind="stable")[: _SORTED * KEPT]
    columns, rows = (np.rint(each[order] * _PARTS_OF_CELL).astype(np.int64) for each in (places.x, places.y))
    _, first = np.unique(rows * len(ticks) + columns, return_index=True)
    kept = order[np.sort(first)[:KEPT]]
    return Places(*(part[kept] for part in places))


@compiled
def list_aims(xs: Floats, ys: Floats, size: int, near_x: int, near_y: int) -> tuple[Ints, Ints]:
    """Return the aims of each place: all near (near_x, near_y), else those at the border of a square.

    Returns:
        The row of the place of each aim, and the aims, shape (aims, 2).
    """
    most = (2 * _REACH + 1) ** 2
    rows, aims = np.empty(len(xs) * most, np.int64), np.empty((len(xs) * most, 2), np.int64)
    count = 0
    for row in range(len(xs)):
        x, y = round(xs[row]), round(ys[row])
        is_near = max(abs(x - near_x), abs(y - near_y)) <= _REACH + 3
        for down in range(-_REACH, _REACH + 1):
            for right in range(-_REACH, _REACH + 1):
                is_border = max(abs(right), abs(down)) == _REACH
                if (is_near or is_border) and 0 <= x + right < size and 0 <= y + down < size:
                    rows[count], aims[count, 0], aims[count, 1] = row, x + right, y + down
                    count += 1
    return rows[:count], aims[:count]
