"""What agents do in a timestep: compiled kernels over their arrays (wildfire spec A6, A7).

``start`` reads the actions and does what takes no time, ``walk`` moves by ticks, ``work`` does in the middle of the
timestep what takes 50 ticks, ``overrun`` lets the fire kill, ``follow`` takes along whoever is carried. ``physics``
calls them in the right order.

Positions are real numbers in cells; who is at (x, y) is in the cell whose middle is nearest. All is made of + - * / and
square root, which are the same on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from teamworld.worlds.compiled import compiled, part
from teamworld.worlds.wildfire.burning import fell, pour
from teamworld.worlds.wildfire.state import IGNITED, MAX_TREES, WATER
from teamworld.worlds.wildfire.turn import (
    ABOARD,
    ACT,
    ACTS,
    AIM_X,
    AIM_Y,
    ARRIVED,
    BOARDS,
    CELL,
    CLEARS,
    CUTS,
    DIED,
    DROPS,
    EFFECT,
    EMPTY,
    FELLED,
    FILLS,
    FINE,
    FULL,
    GOES,
    GONE,
    HAS_PASSENGERS,
    HAS_WATER,
    IDLE,
    LIFTS,
    MOVED,
    NO_TREE,
    NO_WATER,
    NOBODY_NEAR,
    NOT_AT_WATER,
    OFF_MAP,
    PUT_OUT,
    REASON,
    ROW,
    SPRAYS,
    UNKNOWN,
    Crew,
    Folk,
    Ground,
    Limits,
    Plan,
)
from teamworld.worlds.wildfire.units import (
    BULLDOZER,
    CARRIED,
    DEAD,
    FIREFIGHTER,
    FREE,
    GO_ANYWHERE,
    HELICOPTER,
    NOBODY,
    SAFE,
    SEATS,
    STOP,
    TANK,
)

if TYPE_CHECKING:
    import numpy.typing as npt

#: Cells a tick by kind: 12, 8, 20 and 30 a timestep (A6).
SPEEDS = (0.12, 0.08, 0.20, 0.30)
#: A firefighter's by trees of the cell: 12, 9.6, 7.2 and 4.8 a timestep.
ON_FOOT = (0.12, 0.096, 0.072, 0.048)
#: A bulldozer's while it clears.
CLEARING = 0.04
#: A helicopter takes aboard whoever is nearer than this, in cells (A7).
BOARDING = 3.0
#: Reach of a firefighter's spray and of a helicopter's drop, squared, in cells between middles (A4.4).
SPRAY_SQUARED, DROP_SQUARED = 9, 20

_ACTS = np.array(ACTS)


@part
def cell_at(x: float, y: float, size: int) -> int:
    """Return the framed cell of a position."""
    return (round(y) + 1) * (size + 2) + round(x) + 1


@part
def lose(row: int, crew: Crew, folk: Folk) -> None:
    """Take an agent out of the world, with the civilian that it carries (B19)."""
    civilian = crew.carries[row]
    if civilian != NOBODY:
        folk.state[civilian] = DEAD
        folk.x[civilian] = round(crew.x[row])
        folk.y[civilian] = round(crew.y[row])
    crew.alive[row] = False
    crew.carries[row] = NOBODY
    crew.aboard[row] = NOBODY
    crew.water[row] = 0


# The beginning of a timestep ------------------------------------------------------------------------------------------


@compiled
def start(
    actions: npt.NDArray[np.int64], crew: Crew, folk: Folk, ground: Ground, limits: Limits, plan: Plan
) -> tuple[int, int]:
    """Read the actions and do at once what takes no time, in the order of ids.

    Whoever is aboard a helicopter, or is taken aboard now, does nothing else in this timestep.

    Returns:
        How many are on the way (column ROW), and how many cut or spray.
    """
    agents = len(crew.kind)
    for row in range(agents):
        order, x, y = actions[row]
        if order == STOP or (order == 0 and x == 0 and y == 0):
            continue
        if not crew.alive[row]:
            if plan.notes[row, REASON] == FINE:  # else the fire of the script has just killed it
                plan.notes[row, REASON] = GONE
        elif crew.aboard[row] != NOBODY:
            plan.notes[row, REASON] = ABOARD
        else:
            act = GOES if order == GO_ANYWHERE else IDLE
            if 0 <= order < _ACTS.shape[1]:
                act = _ACTS[crew.kind[row], order]
            plan.notes[row, ACT] = act
            if act == IDLE:
                plan.notes[row, REASON] = UNKNOWN
    _do_at_once(crew, folk, ground, limits, plan)
    going = workers = 0
    for row in range(agents):
        act = plan.notes[row, ACT]
        if act == IDLE:
            continue
        if crew.aboard[row] != NOBODY:
            plan.notes[row, ACT] = IDLE
            plan.notes[row, REASON] = ABOARD
            continue
        if act == CUTS:
            workers += 1
            continue
        x, y = actions[row, 1], actions[row, 2]
        if not (0 <= x < ground.size and 0 <= y < ground.size):
            plan.notes[row, ACT] = IDLE
            plan.notes[row, REASON] = OFF_MAP
            continue
        plan.notes[row, AIM_X] = x
        plan.notes[row, AIM_Y] = y
        if act == SPRAYS:
            workers += 1
        elif _set_out(row, crew, ground, plan):
            plan.notes[going, ROW] = row
            going += 1
    return going, workers


@part
def _do_at_once(crew: Crew, folk: Folk, ground: Ground, limits: Limits, plan: Plan) -> None:
    """Do what takes no time, in the order of ids."""
    for row in range(len(crew.kind)):
        act = plan.notes[row, ACT]
        if act in (LIFTS, FILLS, BOARDS, DROPS):
            if act == LIFTS:
                reason = _lift(row, crew, folk, limits)
            elif act == FILLS:
                reason = _fill(row, crew, ground, limits)
            elif act == BOARDS:
                reason = _board(row, crew)
            else:
                reason = _drop(row, crew, ground, limits, plan)
            plan.notes[row, ACT] = IDLE
            plan.notes[row, REASON] = reason
            plan.notes[row, EFFECT] = reason == FINE


@part
def _lift(row: int, crew: Crew, folk: Folk, limits: Limits) -> int:
    """Put down the civilian that a firefighter carries, else pick up the nearest free one (B17, B18)."""
    x, y = crew.x[row], crew.y[row]
    civilian = crew.carries[row]
    if civilian != NOBODY:
        crew.carries[row] = NOBODY
        place_x, place_y = round(x), round(y)
        folk.x[civilian], folk.y[civilian] = place_x, place_y
        near = max(abs(place_x - limits.target_x), abs(place_y - limits.target_y)) <= limits.rescue_reach
        folk.state[civilian] = SAFE if limits.target_x >= 0 and near else FREE
        return FINE
    nearest = limits.pick_up * limits.pick_up
    for k in range(len(folk.state)):
        if folk.state[k] == FREE:
            far = (folk.x[k] - x) * (folk.x[k] - x) + (folk.y[k] - y) * (folk.y[k] - y)
            if far < nearest:
                nearest = far
                civilian = k
    if civilian == NOBODY:
        return NOBODY_NEAR
    folk.state[civilian] = CARRIED
    crew.carries[row] = civilian
    return FINE


@part
def _fill(row: int, crew: Crew, ground: Ground, limits: Limits) -> int:
    """Fill the tank of a firefighter or helicopter."""
    if crew.kind[row] == HELICOPTER and _riders(row, crew) > 0:
        return HAS_PASSENGERS
    if crew.water[row] == TANK:
        return FULL
    x, y = round(crew.x[row]), round(crew.y[row])
    reach = limits.refill
    for v in range(max(0, y - reach), min(ground.size, y + reach + 1)):
        for u in range(max(0, x - reach), min(ground.size, x + reach + 1)):
            near = (u - x) * (u - x) + (v - y) * (v - y) <= reach * reach
            if near and ground.land[(v + 1) * (ground.size + 2) + u + 1] == WATER:
                crew.water[row] = TANK
                return FINE
    return NOT_AT_WATER


@part
def _riders(row: int, crew: Crew) -> int:
    """Count who is aboard a helicopter."""
    riders = 0
    for other in range(row):  # firefighters come before helicopters
        riders += crew.aboard[other] == row
    return riders


@part
def _board(row: int, crew: Crew) -> int:
    """Take aboard the firefighters near a helicopter, in the order of ids, while there are seats."""
    if crew.water[row] > 0:
        return HAS_WATER
    riders = before = _riders(row, crew)
    if riders == SEATS:
        return FULL
    for other in range(row):
        if crew.kind[other] == FIREFIGHTER and crew.alive[other] and crew.aboard[other] == NOBODY:
            right, down = crew.x[other] - crew.x[row], crew.y[other] - crew.y[row]
            if right * right + down * down < BOARDING * BOARDING and riders < SEATS:
                crew.aboard[other] = row
                riders += 1
    return FINE if riders > before else NOBODY_NEAR


@part
def _drop(row: int, crew: Crew, ground: Ground, limits: Limits, plan: Plan) -> int:
    """Set down whoever is aboard a helicopter, and release one unit of water."""
    reason = EMPTY
    for other in range(row):
        if crew.aboard[other] == row:
            crew.aboard[other] = NOBODY
            crew.x[other] = crew.x[row]
            crew.y[other] = crew.y[row]
            reason = FINE
    if crew.water[row] > 0:
        crew.water[row] -= 1
        plan.notes[row, PUT_OUT] += _wet(crew.x[row], crew.y[row], 0, 0, DROP_SQUARED, False, ground, limits)
        reason = FINE
    return reason


@part
def _wet(x: float, y: float, right: int, down: int, squared: int, cone: bool, ground: Ground, limits: Limits) -> int:
    """Water the cells round a place, or those within 60 degrees of (right, down); return how many were put out.

    The own cell is always among them; it is all that is reached if one aims at it.
    """
    column, row = round(x), round(y)
    out = 0
    reach = int(math.sqrt(squared))
    length = right * right + down * down
    for v in range(max(-reach, -row), min(reach, ground.size - 1 - row) + 1):
        for u in range(max(-reach, -column), min(reach, ground.size - 1 - column) + 1):
            far = u * u + v * v
            if far > squared:
                continue
            if cone and far > 0:
                along = u * right + v * down
                # cos 60 degrees = 1 / 2, squared to stay with whole numbers
                if length == 0 or along < 0 or 4 * along * along < far * length:
                    continue
            cell = (row + v + 1) * (ground.size + 2) + column + u + 1
            out += pour(cell, limits.wet_steps, ground.burn, ground.wet_until, ground.meters)
    return out


@part
def _set_out(row: int, crew: Crew, ground: Ground, plan: Plan) -> bool:
    """Prepare the way of whoever goes; return whether there is one."""
    right, down = plan.notes[row, AIM_X] - crew.x[row], plan.notes[row, AIM_Y] - crew.y[row]
    left = math.sqrt(right * right + down * down)
    cell = cell_at(crew.x[row], crew.y[row], ground.size)
    plan.notes[row, CELL] = cell
    if plan.notes[row, ACT] == CLEARS:
        _clear(row, cell, ground, plan)
    if left == 0.0:
        plan.notes[row, ACT] = IDLE
        plan.notes[row, REASON] = FINE if plan.notes[row, EFFECT] else ARRIVED
        return False
    plan.way[row, 0] = right / left
    plan.way[row, 1] = down / left
    plan.way[row, 2] = left
    plan.notes[row, MOVED] = True
    plan.notes[row, EFFECT] = True
    return True


@part
def _clear(row: int, cell: int, ground: Ground, plan: Plan) -> None:
    """Let a bulldozer remove the trees of a cell."""
    felled = fell(cell, MAX_TREES, ground.burn, ground.trees, ground.meters)
    if felled > 0:
        plan.notes[row, FELLED] += felled
        plan.notes[row, EFFECT] = True


# By ticks -------------------------------------------------------------------------------------------------------------


@compiled
def walk(ticks: int, going: int, crew: Crew, folk: Folk, ground: Ground, limits: Limits, plan: Plan) -> int:
    """Move everybody who is on the way for some ticks; return how many still are.

    In each tick agents move in the order of ids, so firefighters see the trees before bulldozers clear them.
    """
    for _ in range(ticks):
        still = 0
        for k in range(going):
            row = plan.notes[k, ROW]
            if not crew.alive[row]:
                continue
            kind, before = crew.kind[row], plan.notes[row, CELL]
            if kind == FIREFIGHTER:
                pace = ON_FOOT[ground.trees[before]]
            else:
                pace = CLEARING if plan.notes[row, ACT] == CLEARS else SPEEDS[kind]
            left = plan.way[row, 2]
            if left <= pace * (1.0 + 1e-9):  # what is left after sums of steps that should have come out even
                crew.x[row] = plan.notes[row, AIM_X]
                crew.y[row] = plan.notes[row, AIM_Y]
                left = 0.0
            else:
                crew.x[row] += plan.way[row, 0] * pace
                crew.y[row] += plan.way[row, 1] * pace
                left -= pace
            plan.way[row, 2] = left
            cell = cell_at(crew.x[row], crew.y[row], ground.size)
            if cell != before:
                plan.notes[row, CELL] = cell
                if kind <= BULLDOZER and IGNITED <= ground.burn[cell] <= limits.deadliest:
                    lose(row, crew, folk)
                    plan.notes[row, REASON] = DIED
                    continue
                if plan.notes[row, ACT] == CLEARS:
                    _clear(row, cell, ground, plan)
            if left > 0.0:
                plan.notes[still, ROW] = row
                still += 1
        going = still
        if going == 0:
            break
    return going


@compiled
def work(crew: Crew, ground: Ground, limits: Limits, plan: Plan) -> None:
    """Cut and spray, in the order of ids: what takes 50 ticks, at the end of these (A7)."""
    for row in range(len(crew.kind)):
        act = plan.notes[row, ACT]
        if act not in (CUTS, SPRAYS) or not crew.alive[row]:
            continue
        x, y = crew.x[row], crew.y[row]
        if act == CUTS:
            felled = fell(cell_at(x, y, ground.size), 1, ground.burn, ground.trees, ground.meters)
            plan.notes[row, FELLED] = felled
            plan.notes[row, REASON] = FINE if felled else NO_TREE
        elif crew.water[row] == 0:
            plan.notes[row, REASON] = NO_WATER
        else:
            crew.water[row] -= 1
            right, down = plan.notes[row, AIM_X] - round(x), plan.notes[row, AIM_Y] - round(y)
            plan.notes[row, PUT_OUT] = _wet(x, y, right, down, SPRAY_SQUARED, True, ground, limits)
        plan.notes[row, EFFECT] = plan.notes[row, REASON] == FINE


@compiled
def overrun(crew: Crew, folk: Folk, ground: Ground, limits: Limits, plan: Plan) -> None:
    """Let burning ground kill whoever stands on it: firefighters and bulldozers (A6), civilians (A5)."""
    for row in range(len(crew.kind)):
        if crew.kind[row] <= BULLDOZER and crew.alive[row] and crew.aboard[row] == NOBODY:
            cell = cell_at(crew.x[row], crew.y[row], ground.size)
            if IGNITED <= ground.burn[cell] <= limits.deadliest:
                lose(row, crew, folk)
                plan.notes[row, REASON] = DIED
    for k in range(len(folk.state)):
        if folk.state[k] == FREE or folk.state[k] == SAFE:
            cell = (folk.y[k] + 1) * (ground.size + 2) + folk.x[k] + 1
            if IGNITED <= ground.burn[cell] <= limits.deadliest:
                folk.state[k] = DEAD


@compiled
def follow(crew: Crew, folk: Folk) -> None:
    """Take riders along with their helicopters, and civilians with who carries them (B19)."""
    for row in range(len(crew.kind)):
        helicopter, civilian = crew.aboard[row], crew.carries[row]
        if helicopter != NOBODY:
            crew.x[row] = crew.x[helicopter]
            crew.y[row] = crew.y[helicopter]
        if civilian != NOBODY:
            folk.x[civilian] = round(crew.x[row])
            folk.y[civilian] = round(crew.y[row])
