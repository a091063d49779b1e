"""How fire spreads, goes out and is fought: compiled kernels over a ``Land``.

A fire step does the following, every decision taken from the state before it (wildfire spec A4.1, B7):

1. Smouldering cells that have smouldered for ten fire steps become burnt out, and cells that were on fire for one
   fire step become smouldering (*extinguishing*).
2. Ignited cells become on fire: their trees and building are destroyed and counted.
3. Every cell that is on fire and has not spread yet tries its eight neighbours, once in its life. What can catch
   fire is burnable and dry (B6). The neighbour becomes ignited, or in the reference mode at once on fire; in that
   case it spreads in the next step, too.

So fire advances one cell per fire step. What it does to a neighbour stands in ``spread``; the two modes differ only
there. In the stochastic mode, chance is a hash of (key, fire step, x and y of the burning cell, direction); it does not
depend on the order of cells, on threads, on the size of the map or on what burns elsewhere.

A fire step visits only the cells that change: cost O(cells that catch, spread, begin or end smouldering), never O(map).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire.spread import fuel_of, spread_of
from teamworld.worlds.wildfire.state import (
    AT_COHORTS,
    AT_FUEL,
    AT_NEIGHBOURS,
    AT_STATES,
    BLOCK,
    BUILDINGS_LOST,
    BURNABLE,
    BURNT_OUT,
    CAUGHT,
    COHORTS,
    EXTINGUISHING,
    FIRE_STEPS,
    IGNITED,
    METERS,
    NEIGHBOURS,
    NOT_BURNABLE,
    ON_FIRE,
    PUT_OUT,
    ROCKS,
    TICKS,
    TREES_BURNT,
    TREES_CUT,
    WATER,
    WET_UNTIL,
    FireRules,
    Land,
    Terrain,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Scalar

    U8: TypeAlias = npt.NDArray[np.uint8]
    U16: TypeAlias = npt.NDArray[np.uint16]
    I32: TypeAlias = npt.NDArray[np.int32]
    I64: TypeAlias = npt.NDArray[np.int64]
    U64: TypeAlias = npt.NDArray[np.uint64]
    Flags: TypeAlias = npt.NDArray[np.bool_]
    #: Indices into the framed arrays.
    Cells: TypeAlias = npt.NDArray[np.integer[Any]]

#: Fire steps that a cell smoulders (wildfire spec A4.1).
SMOULDERS = 10


def make_land(terrain: Terrain, rules: FireRules | None = None, *, seed: int = 0) -> Land:
    """Return the land of a new instance, nothing burning.

    Args:
        terrain: What it starts from.
        rules: How fire spreads; the reference mode if None.
        seed: Seed of the chance in the stochastic mode.
    """
    rules = rules or FireRules()
    burn = _framed(terrain.burnable.astype(np.uint8) * BURNABLE)
    if not rules.edge_burns:
        burn[1, :] = burn[-2, :] = burn[:, 1] = burn[:, -2] = NOT_BURNABLE
    meters = np.zeros(METERS, np.int64)
    meters[AT_STATES + BURNABLE] = np.count_nonzero(burn)
    meters[AT_STATES + NOT_BURNABLE] = terrain.size**2 - meters[AT_STATES + BURNABLE]
    meters[AT_NEIGHBOURS:] = [dy * (terrain.size + 2) + dx for dx, dy in NEIGHBOURS]
    return Land(
        terrain=terrain,
        rules=rules,
        key=int(generator(seed, "wildfire", "fire").integers(2**63)),
        burn=burn,
        trees=_framed(terrain.trees),
        land=_framed(terrain.land),
        building=_framed(terrain.building),
        wet_until=np.zeros(burn.shape, np.int32),
        caught=np.zeros(terrain.size**2 + 1, np.int32),
        meters=meters,
        spread=spread_of(terrain, rules),
        scratch=np.concatenate([np.zeros(AT_FUEL, np.uint64), fuel_of(rules)]),
    )


def _framed(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    return np.pad(array, 1)


# One fire step --------------------------------------------------------------------------------------------------------


def step(land: Land) -> None:
    """Do one fire step, whatever the clock says (see the module)."""
    arrays = (
        land.burn.reshape(-1),
        land.trees.reshape(-1),
        land.building.reshape(-1),
        land.wet_until.reshape(-1),
        land.caught,
        land.meters,
        land.spread,
    )
    if land.rules.mode == "reference":
        _step_by_rule(*arrays)
        return
    _step_by_chance(*arrays, land.key, land.stride, land.scratch)


def advance(land: Land, ticks: int) -> int:
    """Let time pass: do each fire step that falls due.

    Args:
        land: What to change.
        ticks: Simulator ticks, 100 to a timestep of the agents. A fire step falls due whenever the clock reaches a
            multiple of ``rules.every`` (wildfire spec A1).

    Returns:
        How many fire steps were done.
    """
    every = land.rules.every
    due = (land.ticks + ticks) // every - land.ticks // every
    land.meters[TICKS] += ticks
    for _ in range(due):
        step(land)
    return due


#: An unsigned index spares numba the test for negative ones.
u = np.uint64


@compiled
def _step_by_rule(burn: U8, trees: U8, building: Flags, wet_until: I32, caught: I32, meters: I64, spread: U16) -> None:
    """Do one fire step of the reference mode on flat arrays."""
    first, end = _begin(burn, caught, meters)
    if first == end:
        return
    _promote(first, end, burn, trees, building, caught, meters)
    jumped = _jump_by_rule(first, end, burn, trees, building, wet_until, caught, meters, spread)
    last = _spread_by_rule(first, end, jumped, burn, wet_until, caught, meters, spread)
    meters[CAUGHT] = last
    meters[AT_STATES + BURNABLE] -= last - end
    meters[AT_STATES + ON_FIRE] += jumped - end
    meters[AT_STATES + IGNITED] += last - jumped
    # A cell that was put on fire at once in the step before has now spread.
    done = 0
    for i in range(first, end):
        code = int(caught[u(i)])
        if code < 0 and burn[u(~code)] == ON_FIRE:
            burn[u(~code)] = EXTINGUISHING
            done += 1
    meters[AT_STATES + ON_FIRE] -= done
    meters[AT_STATES + EXTINGUISHING] += done


@compiled
def _step_by_chance(
    burn: U8,
    trees: U8,
    building: Flags,
    wet_until: I32,
    caught: I32,
    meters: I64,
    spread: U64,
    key: int,
    stride: int,
    scratch: U64,
) -> None:
    """Do one fire step of the stochastic mode on flat arrays."""
    first, end = _begin(burn, caught, meters)
    if first == end:
        return
    _promote(first, end, burn, trees, building, caught, meters)
    last = _spread_by_chance(first, end, burn, trees, wet_until, caught, meters, spread, key, stride, scratch)
    meters[CAUGHT] = last
    meters[AT_STATES + BURNABLE] -= last - end
    meters[AT_STATES + IGNITED] += last - end


@compiled
def _begin(burn: U8, caught: I32, meters: I64) -> tuple[int, int]:
    """Start the next fire step; return where the cells that spread in it begin and end in the list of caught cells."""
    now = meters[FIRE_STEPS] + 1
    meters[FIRE_STEPS] = now
    meters[AT_COHORTS + now % COHORTS] = meters[CAUGHT]
    _settle(now, burn, caught, meters)
    return meters[AT_COHORTS + (now - 1) % COHORTS], meters[CAUGHT]


@compiled
def _settle(now: int, burn: U8, caught: I32, meters: I64) -> None:
    """End the smouldering of ten steps and begin that of cells that were on fire for one.

    A cell that caught in step k is on fire from k + 1, smoulders from k + 2 and is burnt out from k + 12; one that
    went straight to on fire is one step ahead.
    """
    done = 0
    for ahead in range(2):
        k = now - SMOULDERS - 2 + ahead
        for i in range(meters[AT_COHORTS + k % COHORTS], meters[AT_COHORTS + (k + 1) % COHORTS]):
            code = int(caught[u(i)])
            if (code < 0) == (ahead == 1):
                cell = code if code >= 0 else ~code
                if burn[u(cell)] == EXTINGUISHING:
                    burn[u(cell)] = BURNT_OUT
                    done += 1
    meters[AT_STATES + EXTINGUISHING] -= done
    meters[AT_STATES + BURNT_OUT] += done
    done = 0
    for i in range(meters[AT_COHORTS + (now - 2) % COHORTS], meters[AT_COHORTS + (now - 1) % COHORTS]):
        code = int(caught[u(i)])
        if code >= 0 and burn[u(code)] == ON_FIRE:
            burn[u(code)] = EXTINGUISHING
            done += 1
    meters[AT_STATES + ON_FIRE] -= done
    meters[AT_STATES + EXTINGUISHING] += done


@compiled
def _promote(first: int, end: int, burn: U8, trees: U8, building: Flags, caught: I32, meters: I64) -> None:
    """Put ignited cells on fire and count what they destroy."""
    done = 0
    lost = 0
    houses = 0
    for i in range(first, end):
        cell = int(caught[u(i)])
        if cell >= 0 and burn[u(cell)] == IGNITED:
            burn[u(cell)] = ON_FIRE
            lost += trees[u(cell)]
            trees[u(cell)] = 0
            houses += building[u(cell)]
            building[u(cell)] = False
            done += 1
    meters[AT_STATES + IGNITED] -= done
    meters[AT_STATES + ON_FIRE] += done
    meters[TREES_BURNT] += lost
    meters[BUILDINGS_LOST] += houses


@compiled
def _jump_by_rule(
    first: int, end: int, burn: U8, trees: U8, building: Flags, wet_until: I32, caught: I32, meters: I64, spread: U16
) -> int:
    """Put on fire at once the neighbours that the rule says; return the new length of the list of caught cells.

    This comes before any ignition, so that the stronger effect wins whatever the order of cells.
    """
    now = meters[FIRE_STEPS]
    at = end
    for i in range(first, end):
        code = int(caught[u(i)])
        cell = code if code >= 0 else ~code
        bits = int(spread[u(cell)]) >> 8
        if bits == 0 or burn[u(cell)] != ON_FIRE:
            continue
        for d in range(8):
            target = cell + meters[u(AT_NEIGHBOURS + d)]
            if (bits >> d) & 1 and burn[u(target)] == BURNABLE and wet_until[u(target)] < now:
                burn[u(target)] = ON_FIRE
                meters[TREES_BURNT] += trees[u(target)]
                meters[BUILDINGS_LOST] += building[u(target)]
                trees[u(target)] = 0
                building[u(target)] = False
                caught[u(at)] = ~target
                at += 1
    return at


@compiled
def _spread_by_rule(
    first: int, end: int, at: int, burn: U8, wet_until: I32, caught: I32, meters: I64, spread: U16
) -> int:
    """Ignite the neighbours that the rule of the reference mode names; return the new length of the list."""
    now = meters[FIRE_STEPS]
    water = meters[WET_UNTIL] >= now
    for i in range(first, end):
        code = int(caught[u(i)])
        cell = code if code >= 0 else ~code
        bits = int(spread[u(cell)]) & 255
        if burn[u(cell)] != ON_FIRE:
            continue
        for d in range(8):
            target = cell + meters[u(AT_NEIGHBOURS + d)]
            if (bits >> d) & 1 == 0 or burn[u(target)] != BURNABLE or (water and wet_until[u(target)] >= now):
                continue
            burn[u(target)] = IGNITED
            caught[u(at)] = target
            at += 1
    return at


#: The golden ratio in 64 bits: the step of SplitMix64.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def _mixed(z: np.uint64) -> np.uint64:
    """Return 64 well mixed bits (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _spread_by_chance(
    first: int,
    end: int,
    burn: U8,
    trees: U8,
    wet_until: I32,
    caught: I32,
    meters: I64,
    spread: U64,
    key: int,
    stride: int,
    scratch: U64,
) -> int:
    """Ignite neighbours by chance; return the new length of the list of caught cells."""
    now = meters[FIRE_STEPS]
    water = meters[WET_UNTIL] >= now
    at = end
    step_key = _mixed(np.uint64(key) + np.uint64(now) * _GOLDEN)
    for begin in range(first, end, BLOCK):
        stop = min(begin + BLOCK, end)
        # The chances of a map do not fit the cache. Fetched in a loop that does nothing else, they arrive side by side:
        # the step takes less than half the time.
        for i in range(begin, stop):
            cell = int(caught[u(i)])
            scratch[u(2 * (i - begin))] = spread[u(2 * cell)]
            scratch[u(2 * (i - begin) + 1)] = spread[u(2 * cell + 1)]
        for i in range(begin, stop):
            cell = int(caught[u(i)])
            if burn[u(cell)] != ON_FIRE:
                continue
            y = cell // stride
            place = (np.uint64(y - 1) << np.uint64(32)) | (np.uint64(cell - y * stride - 1) << np.uint64(3))
            # Chance cannot be predicted, so there is no branch on it: each neighbour is written, and kept if it caught.
            for pair in range(4):
                drawn = _mixed(step_key + (place | np.uint64(pair)) * _GOLDEN)  # two numbers of 32 bits
                for d in range(2 * pair, 2 * pair + 2):
                    target = cell + meters[u(AT_NEIGHBOURS + d)]
                    state = burn[u(target)]
                    chance = (scratch[u(2 * (i - begin) + (d >> 2))] >> np.uint64((d & 3) * 16)) & np.uint64(0xFFFF)
                    half = (drawn >> np.uint64(32 * (1 - (d & 1)))) & np.uint64(0xFFFFFFFF)
                    hit = (state == BURNABLE) & (half < chance * scratch[u(AT_FUEL + trees[u(target)])])
                    if water:
                        hit = hit & (wet_until[u(target)] < now)
                    burn[u(target)] = IGNITED if hit else state
                    caught[u(at)] = target
                    at += hit
    return at


# What agents and events do to the land --------------------------------------------------------------------------------


def ignite(land: Land, x: int, y: int) -> bool:
    """Set a cell alight; it spreads in the next fire step.

    Returns:
        Whether it caught: not if it is not burnable, wet, or has burnt (wildfire spec A4.3, B6).

    Raises:
        UserError: If the cell lies outside the map.
    """
    return ignite_cells(land, np.array([land.cell(x, y)])) == 1


def ignite_cells(land: Land, cells: Cells) -> int:
    """Set cells alight (indices into the framed arrays); return how many caught."""
    return _ignite(_checked(land, cells), land.burn.reshape(-1), land.wet_until.reshape(-1), land.caught, land.meters)


@compiled
def _ignite(cells: I64, burn: U8, wet_until: I32, caught: I32, meters: I64) -> int:
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


def _checked(land: Land, cells: Cells) -> I64:
    """Return the cells as int64; the kernels trust them."""
    given = np.asarray(cells)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not ((given >= 0) & (given < land.burn.size)).all():
        raise UserError(f"cells must be a list of whole numbers from 0 to {land.burn.size - 1}, got {brief(given)}")
    return given.astype(np.int64)


def douse(land: Land, cells: Cells) -> int:
    """Pour water on cells: fire goes out, other ground is wet for ``rules.wet_steps`` fire steps (wildfire spec A4.4).

    A cell that is ignited, on fire or smouldering becomes burnt out; what had not burnt yet is not counted as lost.

    Args:
        land: What to change.
        cells: Indices into the framed arrays, of any number; one named twice counts once.

    Returns:
        How many cells were put out.
    """
    return _douse(
        _checked(land, cells), land.rules.wet_steps, land.burn.reshape(-1), land.wet_until.reshape(-1), land.meters
    )


@compiled
def _douse(cells: I64, wet_steps: int, burn: U8, wet_until: I32, meters: I64) -> int:
    before = meters[PUT_OUT]
    until = meters[FIRE_STEPS] + wet_steps
    for cell in cells:
        state = burn[cell]
        if state in (IGNITED, ON_FIRE, EXTINGUISHING):
            meters[AT_STATES + state] -= 1
            meters[AT_STATES + BURNT_OUT] += 1
            meters[PUT_OUT] += 1
            burn[cell] = BURNT_OUT
        else:
            wet_until[cell] = until
            meters[WET_UNTIL] = until
    return int(meters[PUT_OUT] - before)


def cut(land: Land, cells: I64, most: int = 1) -> I64:
    """Cut trees; a burnable cell that loses its last one can no longer catch fire (wildfire spec A4.4).

    Args:
        land: What to change.
        cells: Indices into the framed arrays, one per agent that cuts; worked through in order.
        most: Trees that each may cut: 1 for a firefighter, 3 for a bulldozer.

    Returns:
        Trees cut by each, 0 where there was none.
    """
    return _cut(_checked(land, cells), most, land.burn.reshape(-1), land.trees.reshape(-1), land.meters)


@compiled
def _cut(cells: I64, most: int, burn: U8, trees: U8, meters: I64) -> I64:
    felled = np.zeros(len(cells), np.int64)
    for i in range(len(cells)):
        cell = cells[i]
        count = min(most, int(trees[cell]))
        felled[i] = count
        trees[cell] -= count
        meters[TREES_CUT] += count
        if count > 0 and trees[cell] == 0 and burn[cell] == BURNABLE:
            burn[cell] = NOT_BURNABLE
            meters[AT_STATES + BURNABLE] -= 1
            meters[AT_STATES + NOT_BURNABLE] += 1
    return felled


def set_water(land: Land, x: int, y: int, present: bool = True) -> bool:
    """Make a cell a water cell, or dry land without trees again (scripted events, wildfire spec A4.5).

    Returns:
        Whether anything changed: water is not put on a cell that has caught fire.

    Raises:
        UserError: If the cell lies outside the map.
    """
    cell = land.cell(x, y)
    kinds, burn = land.land.reshape(-1), land.burn.reshape(-1)
    if (kinds[cell] == WATER) == present or burn[cell] > BURNABLE:
        return False
    kinds[cell] = WATER if present else ROCKS
    if burn[cell] == BURNABLE:
        burn[cell] = NOT_BURNABLE
        land.meters[AT_STATES + BURNABLE] -= 1
        land.meters[AT_STATES + NOT_BURNABLE] += 1
    land.trees.reshape(-1)[cell] = 0
    land.building.reshape(-1)[cell] = False
    return True
