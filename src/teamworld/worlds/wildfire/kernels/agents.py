"""Compiled kernels of what agents do and see in a timestep, and the codes that they share.

``start_actions`` reads the actions and does what takes no time, ``move_units`` moves by ticks, ``finish_work`` does in
the middle of the timestep what takes 50 ticks, ``kill_on_fire`` lets the fire kill, ``move_carried`` takes along
whoever is carried; ``physics`` calls them in the right order. ``reveal_cells`` notes what agents see, ``write_rows``
writes their observations.

Positions are real numbers in cells; a unit at (x, y) is in the cell whose middle is nearest. All is made of + - * / and
square root, which are the same on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.wildfire.state import (
    AT_STATES,
    BULLDOZER,
    BURNABLE,
    BURNT_OUT,
    CARRIED,
    CAUGHT,
    DEAD,
    DESTROYED,
    EXTINGUISHING,
    FIRE_STEPS,
    FIREFIGHTER,
    FREE,
    GO_ANYWHERE,
    HELICOPTER,
    IGNITED,
    MAX_TREES,
    NOBODY,
    NOT_BURNABLE,
    ON_FIRE,
    PUT_OUT,
    SAFE,
    SEATS,
    SIGHTS,
    STOP,
    TANK,
    TREES_CUT,
    WATER,
    WET_UNTIL,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Incident

    F32: TypeAlias = npt.NDArray[np.float32]
    Flags: TypeAlias = npt.NDArray[np.bool_]
    I32: TypeAlias = npt.NDArray[np.int32]
    I64: TypeAlias = npt.NDArray[np.int64]
    U64: TypeAlias = npt.NDArray[np.uint64]
    U8: TypeAlias = npt.NDArray[np.uint8]


#: What an action comes to, whoever does it.
IDLE, GOES, CLEARS, CUTS, LIFTS, SPRAYS, FILLS, BOARDS, DROPS = range(9)

#: By kind, then by type of action from 0 on.
ACTS = (
    (GOES, CUTS, LIFTS, SPRAYS, FILLS),
    (GOES, CLEARS, IDLE, IDLE, IDLE),
    (GOES, IDLE, IDLE, IDLE, IDLE),
    (GOES, BOARDS, FILLS, DROPS, IDLE),
)

#: Why an action, or the rest of it, did nothing; ``StepEffects.reason`` holds indices.
REASONS = (
    "", "gone", "aboard", "unknown", "off_map", "arrived", "nobody_near", "no_water", "not_at_water", "full",
    "has_passengers", "has_water", "empty", "no_tree", "died",
)  # fmt: skip
(
    FINE, GONE, ABOARD, UNKNOWN, OFF_MAP, ARRIVED, NOBODY_NEAR, NO_WATER, NOT_AT_WATER, FULL,
    HAS_PASSENGERS, HAS_WATER, EMPTY, NO_TREE, DIED,
) = range(len(REASONS))  # fmt: skip


class UnitArrays(NamedTuple):
    """The arrays of ``Units``."""

    kind: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    alive: npt.NDArray[np.bool_]
    water: npt.NDArray[np.int8]
    aboard: npt.NDArray[np.int32]
    carries: npt.NDArray[np.int32]


class CivilianArrays(NamedTuple):
    """The arrays of ``Civilians``."""

    x: npt.NDArray[np.int32]
    y: npt.NDArray[np.int32]
    state: npt.NDArray[np.uint8]


class LandArrays(NamedTuple):
    """The arrays of ``Land`` that agents meet, flat, and its size."""

    burn: npt.NDArray[np.uint8]
    trees: npt.NDArray[np.uint8]
    cover: npt.NDArray[np.uint8]
    wet_until: npt.NDArray[np.int32]
    meters: npt.NDArray[np.int64]
    size: int


class StepRules(NamedTuple):
    """The rules as numbers."""

    pick_up: float
    refill: int
    rescue_reach: int
    target_x: int
    """Where civilians are safe; -1 if nowhere."""
    target_y: int
    deadliest: int
    """Burn states from IGNITED up to this kill."""
    wet_steps: int


#: Columns of ``StepNotes.table``.
(
    ACT, REASON, EFFECT, MOVED, FELLED, DOUSED, AIM_X, AIM_Y, CELL, ROW,
) = range(10)  # fmt: skip


class StepNotes(NamedTuple):
    """What each agent does in this timestep, and what comes of it."""

    table: npt.NDArray[np.int32]
    """(A, 10), by column:

    - ACT: IDLE to DROPS; IDLE again once it is done. REASON: index into ``REASONS``. EFFECT, MOVED: 1 if so.
    - FELLED: trees that it cut. PUT_OUT: burning or smouldering cells that its water put out.
    - AIM_X, AIM_Y: target of whoever goes or sprays. CELL: where whoever goes is now.
    - ROW: not by agent, but from the first row on: the rows of those on the way, ascending.
    """
    way: npt.NDArray[np.float64]
    """(A, 3): x and y of the direction that an agent goes, of length 1, and cells left."""


def arrays(incident: Incident) -> tuple[UnitArrays, CivilianArrays, LandArrays, StepRules]:
    """Return the arrays that the kernels work on."""
    units, civilians, land, rules = incident.units, incident.civilians, incident.land, incident.rules
    target = incident.instance.target
    return (
        UnitArrays(units.kind, units.x, units.y, units.alive, units.water, units.aboard, units.carries),
        CivilianArrays(civilians.x, civilians.y, civilians.state),
        LandArrays(
            land.burn.reshape(-1),
            land.trees.reshape(-1),
            land.land.reshape(-1),
            land.wet_until.reshape(-1),
            land.meters,
            land.size,
        ),
        StepRules(
            float(rules.pick_up),
            rules.refill,
            rules.rescue_reach,
            *((-1, -1) if target is None else target),
            BURNT_OUT if rules.burnt_kills else EXTINGUISHING,
            land.rules.wet_steps,
        ),
    )


#: Cells a tick by kind: 12, 8, 20 and 30 a timestep.
SPEEDS = (0.12, 0.08, 0.20, 0.30)

#: A firefighter's by trees of the cell: 12, 9.6, 7.2 and 4.8 a timestep.
ON_FOOT = (0.12, 0.096, 0.072, 0.048)

#: A bulldozer's while it clears.
CLEARING = 0.04

#: A helicopter takes aboard whoever is nearer than this, in cells.
BOARDING = 3.0

#: Reach of a firefighter's spray and of a helicopter's drop, squared, in cells between middles.
SPRAY_SQUARED, DROP_SQUARED = 9, 20
_ACTS = np.array(ACTS)


@part
def cell_at(x: float, y: float, size: int) -> int:
    """Return the framed cell of a position."""
    return (round(y) + 1) * (size + 2) + round(x) + 1


@part
def lose(row: int, units: UnitArrays, civilians: CivilianArrays) -> None:
    """Take an agent out of the world, with the civilian that it carries."""
    civilian = units.carries[row]
    if civilian != NOBODY:
        civilians.state[civilian] = DEAD
        civilians.x[civilian] = round(units.x[row])
        civilians.y[civilian] = round(units.y[row])
    units.alive[row] = False
    units.carries[row] = NOBODY
    units.aboard[row] = NOBODY
    units.water[row] = 0


# The beginning of a timestep ------------------------------------------------------------------------------------------


@compiled
def start_actions(
    actions: npt.NDArray[np.int64],
    units: UnitArrays,
    civilians: CivilianArrays,
    land: LandArrays,
    rules: StepRules,
    notes: StepNotes,
) -> tuple[int, int]:
    """Read the actions and do at once what takes no time, in the order of ids.

    Whoever is aboard a helicopter, or is taken aboard now, does nothing else in this timestep.

    Returns:
        How many are on the way (column ROW), and how many cut or spray.
    """
    agents = len(units.kind)
    for row in range(agents):
        order, x, y = actions[row]
        if order == STOP or (order == 0 and x == 0 and y == 0):
            continue
        if not units.alive[row]:
            if notes.table[row, REASON] == FINE:  # else the fire of the script has just killed it
                notes.table[row, REASON] = GONE
        elif units.aboard[row] != NOBODY:
            notes.table[row, REASON] = ABOARD
        else:
            act = GOES if order == GO_ANYWHERE else IDLE
            if 0 <= order < _ACTS.shape[1]:
                act = _ACTS[units.kind[row], order]
            notes.table[row, ACT] = act
            if act == IDLE:
                notes.table[row, REASON] = UNKNOWN
    _do_at_once(units, civilians, land, rules, notes)
    going = workers = 0
    for row in range(agents):
        act = notes.table[row, ACT]
        if act == IDLE:
            continue
        if units.aboard[row] != NOBODY:
            notes.table[row, ACT] = IDLE
            notes.table[row, REASON] = ABOARD
            continue
        if act == CUTS:
            workers += 1
            continue
        x, y = actions[row, 1], actions[row, 2]
        if not (0 <= x < land.size and 0 <= y < land.size):
            notes.table[row, ACT] = IDLE
            notes.table[row, REASON] = OFF_MAP
            continue
        notes.table[row, AIM_X] = x
        notes.table[row, AIM_Y] = y
        if act == SPRAYS:
            workers += 1
        elif _set_out(row, units, land, notes):
            notes.table[going, ROW] = row
            going += 1
    return going, workers


@part
def _do_at_once(
    units: UnitArrays, civilians: CivilianArrays, land: LandArrays, rules: StepRules, notes: StepNotes
) -> None:
    """Do what takes no time, in the order of ids."""
    for row in range(len(units.kind)):
        act = notes.table[row, ACT]
        if act in (LIFTS, FILLS, BOARDS, DROPS):
            if act == LIFTS:
                reason = _lift(row, units, civilians, rules)
            elif act == FILLS:
                reason = _fill(row, units, land, rules)
            elif act == BOARDS:
                reason = _board(row, units)
            else:
                reason = _drop_water(row, units, land, rules, notes)
            notes.table[row, ACT] = IDLE
            notes.table[row, REASON] = reason
            notes.table[row, EFFECT] = reason == FINE


@part
def _lift(row: int, units: UnitArrays, civilians: CivilianArrays, rules: StepRules) -> int:
    """Put down the civilian that a firefighter carries, else pick up the nearest free one."""
    x, y = units.x[row], units.y[row]
    civilian = units.carries[row]
    if civilian != NOBODY:
        units.carries[row] = NOBODY
        place_x, place_y = round(x), round(y)
        civilians.x[civilian], civilians.y[civilian] = place_x, place_y
        near = max(abs(place_x - rules.target_x), abs(place_y - rules.target_y)) <= rules.rescue_reach
        civilians.state[civilian] = SAFE if rules.target_x >= 0 and near else FREE
        return FINE
    nearest = rules.pick_up * rules.pick_up
    for k in range(len(civilians.state)):
        if civilians.state[k] == FREE:
            far = (civilians.x[k] - x) * (civilians.x[k] - x) + (civilians.y[k] - y) * (civilians.y[k] - y)
            if far < nearest:
                nearest = far
                civilian = k
    if civilian == NOBODY:
        return NOBODY_NEAR
    civilians.state[civilian] = CARRIED
    units.carries[row] = civilian
    return FINE


@part
def _fill(row: int, units: UnitArrays, land: LandArrays, rules: StepRules) -> int:
    """Fill the tank of a firefighter or helicopter."""
    if units.kind[row] == HELICOPTER and _riders(row, units) > 0:
        return HAS_PASSENGERS
    if units.water[row] == TANK:
        return FULL
    x, y = round(units.x[row]), round(units.y[row])
    reach = rules.refill
    for v in range(max(0, y - reach), min(land.size, y + reach + 1)):
        for u in range(max(0, x - reach), min(land.size, x + reach + 1)):
            near = (u - x) * (u - x) + (v - y) * (v - y) <= reach * reach
            if near and land.cover[(v + 1) * (land.size + 2) + u + 1] == WATER:
                units.water[row] = TANK
                return FINE
    return NOT_AT_WATER


@part
def _riders(row: int, units: UnitArrays) -> int:
    """Count who is aboard a helicopter."""
    riders = 0
    for other in range(row):  # firefighters come before helicopters
        riders += units.aboard[other] == row
    return riders


@part
def _board(row: int, units: UnitArrays) -> int:
    """Take aboard the firefighters near a helicopter, in the order of ids, while there are seats."""
    if units.water[row] > 0:
        return HAS_WATER
    riders = before = _riders(row, units)
    if riders == SEATS:
        return FULL
    for other in range(row):
        if units.kind[other] == FIREFIGHTER and units.alive[other] and units.aboard[other] == NOBODY:
            right, down = units.x[other] - units.x[row], units.y[other] - units.y[row]
            if right * right + down * down < BOARDING * BOARDING and riders < SEATS:
                units.aboard[other] = row
                riders += 1
    return FINE if riders > before else NOBODY_NEAR


@part
def _drop_water(row: int, units: UnitArrays, land: LandArrays, rules: StepRules, notes: StepNotes) -> int:
    """Set down whoever is aboard a helicopter, and release one unit of water."""
    reason = EMPTY
    for other in range(row):
        if units.aboard[other] == row:
            units.aboard[other] = NOBODY
            units.x[other] = units.x[row]
            units.y[other] = units.y[row]
            reason = FINE
    if units.water[row] > 0:
        units.water[row] -= 1
        notes.table[row, DOUSED] += _wet_cells(units.x[row], units.y[row], 0, 0, DROP_SQUARED, False, land, rules)
        reason = FINE
    return reason


@part
def _wet_cells(
    x: float, y: float, right: int, down: int, squared: int, cone: bool, land: LandArrays, rules: StepRules
) -> int:
    """Water the cells round a place, or those within 60 degrees of (right, down); return how many were put out.

    The own cell is always among them; it is all that is reached if one aims at it.
    """
    column, row = round(x), round(y)
    out = 0
    reach = int(math.sqrt(squared))
    length = right * right + down * down
    for v in range(max(-reach, -row), min(reach, land.size - 1 - row) + 1):
        for u in range(max(-reach, -column), min(reach, land.size - 1 - column) + 1):
            far = u * u + v * v
            if far > squared:
                continue
            if cone and far > 0:
                along = u * right + v * down
                # cos 60 degrees = 1 / 2, squared to stay with whole numbers
                if length == 0 or along < 0 or 4 * along * along < far * length:
                    continue
            cell = (row + v + 1) * (land.size + 2) + column + u + 1
            out += pour(cell, rules.wet_steps, land.burn, land.wet_until, land.meters)
    return out


@part
def _set_out(row: int, units: UnitArrays, land: LandArrays, notes: StepNotes) -> bool:
    """Prepare the way of whoever goes; return whether there is one."""
    right, down = notes.table[row, AIM_X] - units.x[row], notes.table[row, AIM_Y] - units.y[row]
    left = math.sqrt(right * right + down * down)
    cell = cell_at(units.x[row], units.y[row], land.size)
    notes.table[row, CELL] = cell
    if notes.table[row, ACT] == CLEARS:
        _clear(row, cell, land, notes)
    if left == 0.0:
        notes.table[row, ACT] = IDLE
        notes.table[row, REASON] = FINE if notes.table[row, EFFECT] else ARRIVED
        return False
    notes.way[row, 0] = right / left
    notes.way[row, 1] = down / left
    notes.way[row, 2] = left
    notes.table[row, MOVED] = True
    notes.table[row, EFFECT] = True
    return True


@part
def _clear(row: int, cell: int, land: LandArrays, notes: StepNotes) -> None:
    """Let a bulldozer remove the trees of a cell."""
    felled = fell(cell, MAX_TREES, land.burn, land.trees, land.meters)
    if felled > 0:
        notes.table[row, FELLED] += felled
        notes.table[row, EFFECT] = True


# By ticks -------------------------------------------------------------------------------------------------------------


@compiled
def move_units(
    ticks: int,
    going: int,
    units: UnitArrays,
    civilians: CivilianArrays,
    land: LandArrays,
    rules: StepRules,
    notes: StepNotes,
) -> int:
    """Move everybody who is on the way for some ticks; return how many still are.

    In each tick agents move in the order of ids, so firefighters see the trees before bulldozers clear them.
    """
    for _ in range(ticks):
        still = 0
        for k in range(going):
            row = notes.table[k, ROW]
            if not units.alive[row]:
                continue
            kind, before = units.kind[row], notes.table[row, CELL]
            if kind == FIREFIGHTER:
                pace = ON_FOOT[land.trees[before]]
            else:
                pace = CLEARING if notes.table[row, ACT] == CLEARS else SPEEDS[kind]
            left = notes.way[row, 2]
            if left <= pace * (1.0 + 1e-9):  # what is left after sums of steps that should have come out even
                units.x[row] = notes.table[row, AIM_X]
                units.y[row] = notes.table[row, AIM_Y]
                left = 0.0
            else:
                units.x[row] += notes.way[row, 0] * pace
                units.y[row] += notes.way[row, 1] * pace
                left -= pace
            notes.way[row, 2] = left
            cell = cell_at(units.x[row], units.y[row], land.size)
            if cell != before:
                notes.table[row, CELL] = cell
                if kind <= BULLDOZER and IGNITED <= land.burn[cell] <= rules.deadliest:
                    lose(row, units, civilians)
                    notes.table[row, REASON] = DIED
                    continue
                if notes.table[row, ACT] == CLEARS:
                    _clear(row, cell, land, notes)
            if left > 0.0:
                notes.table[still, ROW] = row
                still += 1
        going = still
        if going == 0:
            break
    return going


@compiled
def finish_work(units: UnitArrays, land: LandArrays, rules: StepRules, notes: StepNotes) -> None:
    """Cut and spray, in the order of ids: what takes 50 ticks, at the end of these."""
    for row in range(len(units.kind)):
        act = notes.table[row, ACT]
        if act not in (CUTS, SPRAYS) or not units.alive[row]:
            continue
        x, y = units.x[row], units.y[row]
        if act == CUTS:
            felled = fell(cell_at(x, y, land.size), 1, land.burn, land.trees, land.meters)
            notes.table[row, FELLED] = felled
            notes.table[row, REASON] = FINE if felled else NO_TREE
        elif units.water[row] == 0:
            notes.table[row, REASON] = NO_WATER
        else:
            units.water[row] -= 1
            right, down = notes.table[row, AIM_X] - round(x), notes.table[row, AIM_Y] - round(y)
            notes.table[row, DOUSED] = _wet_cells(x, y, right, down, SPRAY_SQUARED, True, land, rules)
        notes.table[row, EFFECT] = notes.table[row, REASON] == FINE


@compiled
def kill_on_fire(
    units: UnitArrays, civilians: CivilianArrays, land: LandArrays, rules: StepRules, notes: StepNotes
) -> None:
    """Let burning ground kill whoever stands on it: firefighters and bulldozers, civilians."""
    for row in range(len(units.kind)):
        if units.kind[row] <= BULLDOZER and units.alive[row] and units.aboard[row] == NOBODY:
            cell = cell_at(units.x[row], units.y[row], land.size)
            if IGNITED <= land.burn[cell] <= rules.deadliest:
                lose(row, units, civilians)
                notes.table[row, REASON] = DIED
    for k in range(len(civilians.state)):
        if civilians.state[k] == FREE or civilians.state[k] == SAFE:
            cell = (civilians.y[k] + 1) * (land.size + 2) + civilians.x[k] + 1
            if IGNITED <= land.burn[cell] <= rules.deadliest:
                civilians.state[k] = DEAD


@compiled
def move_carried(units: UnitArrays, civilians: CivilianArrays) -> None:
    """Take riders along with their helicopters, and civilians with who carries them."""
    for row in range(len(units.kind)):
        helicopter, civilian = units.aboard[row], units.carries[row]
        if helicopter != NOBODY:
            units.x[row] = units.x[helicopter]
            units.y[row] = units.y[helicopter]
        if civilian != NOBODY:
            civilians.x[civilian] = round(units.x[row])
            civilians.y[civilian] = round(units.y[row])


# Single cells --------------------------------------------------------------------------------------------------------


@compiled
def ignite_cells(cells: I64, burn: U8, wet_until: I32, caught: I32, meters: I64) -> int:
    """Set cells alight; return how many caught (``fire.ignite_cells``)."""
    before = meters[CAUGHT]
    for cell in cells:
        if burn[cell] == BURNABLE and wet_until[cell] <= meters[FIRE_STEPS]:
            burn[cell] = IGNITED
            caught[meters[CAUGHT]] = cell
            meters[CAUGHT] += 1
    count = meters[CAUGHT] - before
    meters[AT_STATES + BURNABLE] -= count
    meters[AT_STATES + IGNITED] += count
    return int(count)


@part
def pour(cell: int, wet_steps: int, burn: U8, wet_until: I32, meters: I64) -> bool:
    """Pour water on one cell; return whether it was put out."""
    state = burn[cell]
    if state in (IGNITED, ON_FIRE, EXTINGUISHING):
        meters[AT_STATES + state] -= 1
        meters[AT_STATES + BURNT_OUT] += 1
        meters[PUT_OUT] += 1
        burn[cell] = BURNT_OUT
        return True
    until = meters[FIRE_STEPS] + wet_steps
    wet_until[cell] = until
    meters[WET_UNTIL] = until
    return False


@part
def fell(cell: int, most: int, burn: U8, trees: U8, meters: I64) -> int:
    """Cut up to ``most`` trees of one cell; return how many."""
    count = min(most, int(trees[cell]))
    trees[cell] -= count
    meters[TREES_CUT] += count
    if count > 0 and trees[cell] == 0 and burn[cell] == BURNABLE:
        burn[cell] = NOT_BURNABLE
        meters[AT_STATES + BURNABLE] -= 1
        meters[AT_STATES + NOT_BURNABLE] += 1
    return count


REVEALS = np.array([sight.reveals for sight in SIGHTS])


@compiled
def note_seen(
    kind: npt.NDArray[np.uint8],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    alive: npt.NDArray[np.bool_],
    at_x: npt.NDArray[np.int32],
    at_y: npt.NDArray[np.int32],
    there: npt.NDArray[np.bool_],
    seen: npt.NDArray[np.bool_],
) -> None:
    """Mark the things that are in the square that an agent reveals."""
    for k in range(len(seen)):
        if seen[k] or not there[k]:
            continue
        for row in range(len(kind)):
            reach = REVEALS[kind[row]]
            if alive[row] and abs(round(x[row]) - at_x[k]) <= reach and abs(round(y[row]) - at_y[k]) <= reach:
                seen[k] = True
                break


@compiled
def fire_scouts(
    kind: npt.NDArray[np.uint8],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    alive: npt.NDArray[np.bool_],
    burn: npt.NDArray[np.uint8],
) -> int:
    """Return how many living agents have a cell in sight that burns or smoulders."""
    scouts = 0
    size = burn.shape[0] - 2
    for row in range(len(kind)):
        if not alive[row]:
            continue
        reach = REVEALS[kind[row]]
        column, line = round(x[row]), round(y[row])
        for v in range(max(0, line - reach), min(size, line + reach + 1)):
            seen = False
            for u in range(max(0, column - reach), min(size, column + reach + 1)):
                if IGNITED <= burn[v + 1, u + 1] <= EXTINGUISHING:
                    seen = True
                    break
            if seen:
                scouts += 1
                break
    return scouts


#: Codes of cells. A wet cell with t trees is WET + t, a dry one DRY + t.
UNSEEN, WET, DRY = 0, 1, 5
SEEN_IGNITED, SEEN_ON_FIRE, SEEN_EXTINGUISHING, SEEN_BURNT_OUT, SEEN_WATER, SEEN_BUILDING, SEEN_CIVILIAN = range(9, 16)

#: From the burn states of the land to the codes of cells that caught fire.
FROM_BURN = SEEN_IGNITED - IGNITED

#: Cells on a side of a tile.
TILE = 32
SHIFT, LAST = 5, TILE - 1

#: An unsigned index spares numba the test for negative ones.
u = np.uint64


@compiled
def reveal_cells(
    agent: int,
    used: int,
    index: I32,
    tiles: U8,
    before: I32,
    places: I32,
    alive: Flags,
    reach: I32,
    codes: U8,
    fresh: Flags,
    people: U8,
    burn: U8,
    trees: U8,
    land: U8,
    building: Flags,
    wet_until: I32,
    fire_step: int,
) -> tuple[int, int]:
    """Reveal what agents from ``agent`` on see; stop before one whose tiles may find no room.

    Agents stand close, so the truth is looked up once for each row that anybody sees (``codes``, where ``fresh``), and
    copied from there.

    Returns:
        The agent to go on with, the number of agents once done; and the tiles in use.
    """
    side = index.shape[1]
    size = len(burn) - 2
    shared = index.shape[0] == 1
    left, right = np.empty(size, np.int32), np.empty(size, np.int32)
    flat, true = tiles.reshape(-1), codes.reshape(-1)
    for k in range(agent, len(alive)):
        if not alive[k]:
            continue
        if (
            not shared
            and used + side * side > len(tiles)
            and used + _most_tiles(before, places, k, reach[k]) > len(tiles)
        ):
            return k, used
        owner = 0 if shared else k
        top, bottom = sight_spans(before[k, 0], before[k, 1], places[k, 0], places[k, 1], reach[k], size, left, right)
        for y in range(top, bottom + 1):
            if not fresh[y]:
                fresh[y] = True
                _encode_row(y, codes, people, burn, trees, land, building, wet_until, fire_step)
            for column in range(left[y] >> SHIFT, (right[y] >> SHIFT) + 1):
                slot = index[owner, y >> SHIFT, column]
                if slot == 0:
                    slot = used
                    index[owner, y >> SHIFT, column] = used
                    used += 1
                first, end = max(left[y], column << SHIFT), min(right[y] + 1, (column + 1) << SHIFT)
                here, there = y * size, (slot << 2 * SHIFT) + ((y & LAST) << SHIFT) - (column << SHIFT)
                for x in range(first, end):
                    flat[u(there + x)] = true[u(here + x)]
    return len(alive), used


@compiled
def _encode_row(
    y: int,
    codes: U8,
    people: U8,
    burn: U8,
    trees: U8,
    land: U8,
    building: Flags,
    wet_until: I32,
    fire_step: int,
) -> None:
    """Write the codes of one row of the map as it is now. Whole rows go four cells a nanosecond, short runs do not."""
    out, seen_people = codes[y], people[y]
    state, wood, ground = burn[y + 1, 1:-1], trees[y + 1, 1:-1], land[y + 1, 1:-1]
    house, until = building[y + 1, 1:-1], wet_until[y + 1, 1:-1]
    for x in range(len(out)):
        code = np.uint8(WET if until[x] > fire_step else DRY) + wood[x]
        code = np.uint8(SEEN_BUILDING) if house[x] else code
        code = np.uint8(SEEN_WATER) if ground[x] == WATER else code
        code = np.uint8(state[x] + FROM_BURN) if state[x] >= IGNITED else code
        out[x] = np.uint8(SEEN_CIVILIAN) if seen_people[x] else code


@compiled
def join_tiles(index: I32, tiles: U64, seen: U64) -> None:
    """Make every cell of ``seen``, (tiles of a map, words of a tile), not 0 that somebody has seen."""
    for owner in range(len(index)):
        for column in range(index.shape[1]):
            if index[owner, column]:
                tile, union = tiles[index[owner, column]], seen[column]
                for word in range(len(union)):
                    union[word] |= tile[word]


@compiled
def _most_tiles(before: I32, places: I32, k: int, reach: int) -> int:
    """Return the most tiles that an agent can see in a step."""
    wide = (abs(places[k, 0] - before[k, 0]) + 2 * reach) // TILE + 2
    high = (abs(places[k, 1] - before[k, 1]) + 2 * reach) // TILE + 2
    return int(wide * high)


@compiled
def sight_spans(x0: int, y0: int, x1: int, y1: int, reach: int, size: int, left: I32, right: I32) -> tuple[int, int]:
    """Write, for each row, from where to where an agent sees that went straight from one cell to another.

    The squares round the cells of a straight line meet a row in one run: no cell is visited twice.

    Returns:
        The first and last row, inside the map.
    """
    if y0 > y1:  # the same line, from the top
        x0, y0, x1, y1 = x1, y1, x0, y0
    steps = max(abs(x1 - x0), y1 - y0, 1)
    top, bottom = max(0, y0 - reach), min(size - 1, y1 + reach)
    first = last = 0  # the cells of the line nearest to its ends that are within reach of the row
    for y in range(top, bottom + 1):
        while _along(y0, y1, first, steps) < y - reach:
            first += 1
        while last < steps and _along(y0, y1, last + 1, steps) <= y + reach:
            last += 1
        low, high = _along(x0, x1, first, steps), _along(x0, x1, last, steps)
        left[y], right[y] = max(0, min(low, high) - reach), min(size - 1, max(low, high) + reach)
    return top, bottom


@compiled
def _along(start: int, end: int, k: int, steps: int) -> int:
    """Return the nearest whole number to the point ``k / steps`` of the way, halves upward."""
    return start + (2 * (end - start) * k + steps) // (2 * steps)


#: Side of the largest window, a helicopter's, in cells; where the parts of a row stand; and how long it is.
WIDEST = 2 * max(sight.window for sight in SIGHTS) + 1
WINDOW_AT, FLAG_AT = 1, 1 + WIDEST * WIDEST
PLACE_AT, EXTRAS_AT = FLAG_AT + 1, FLAG_AT + 3
LENGTH = EXTRAS_AT + 3
PADDING = -1


@compiled
def write_rows(
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
            write_window(
                row[WINDOW_AT:end], index[k if len(index) > 1 else 0], flat, size, place[k, 0], place[k, 1], reach
            )
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
def write_window(out: F32 | U8, index: I32, flat: U8, size: int, x: int, y: int, reach: int) -> None:
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
