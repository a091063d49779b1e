"""The compiled kernels of ``fire``: a fire step, and what is done to single cells.

They work on flat arrays of a ``Land``. A kernel and all that it calls stand in one file, for numba's cache on disk
looks at no other: it compiles anew when the kernel's own file has another time or size. ``mixed``, ``pour`` and
``fell`` are the exception: kernels of ``acting`` and ``civilians`` take them in. An installer writes every file anew,
so an upgrade leaves nothing stale. In a checkout, whoever edits one of the three, or a code in ``state``, deletes the
``__pycache__`` of this folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from teamworld.worlds.compiled import compiled, part
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
    NOT_BURNABLE,
    ON_FIRE,
    PUT_OUT,
    TREES_BURNT,
    TREES_CUT,
    WET_UNTIL,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    U8: TypeAlias = npt.NDArray[np.uint8]
    U16: TypeAlias = npt.NDArray[np.uint16]
    I32: TypeAlias = npt.NDArray[np.int32]
    I64: TypeAlias = npt.NDArray[np.int64]
    U64: TypeAlias = npt.NDArray[np.uint64]
    Flags: TypeAlias = npt.NDArray[np.bool_]

#: Fire steps that a cell smoulders (wildfire spec A4.1).
SMOULDERS = 10

#: An unsigned index spares numba the test for negative ones.
u = np.uint64


@compiled
def step_by_rule(burn: U8, trees: U8, building: Flags, wet_until: I32, caught: I32, meters: I64, spread: U16) -> None:
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
def step_by_chance(
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


@part
def _begin(burn: U8, caught: I32, meters: I64) -> tuple[int, int]:
    """Start the next fire step; return where the cells that spread in it begin and end in the list of caught cells."""
    now = meters[FIRE_STEPS] + 1
    meters[FIRE_STEPS] = now
    meters[AT_COHORTS + now % COHORTS] = meters[CAUGHT]
    _settle(now, burn, caught, meters)
    return meters[AT_COHORTS + (now - 1) % COHORTS], meters[CAUGHT]


@part
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


@part
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


@part
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


@part
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
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@part
def mixed(z: np.uint64) -> np.uint64:
    """Return 64 well mixed bits (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@part
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
    step_key = mixed(np.uint64(key) + np.uint64(now) * GOLDEN)
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
                drawn = mixed(step_key + (place | np.uint64(pair)) * GOLDEN)  # two numbers of 32 bits
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


# Single cells --------------------------------------------------------------------------------------------------------


@compiled
def ignite(cells: I64, burn: U8, wet_until: I32, caught: I32, meters: I64) -> int:
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


@compiled
def douse(cells: I64, wet_steps: int, burn: U8, wet_until: I32, meters: I64) -> int:
    """Pour water on cells; return how many were put out (``fire.douse``)."""
    before = meters[PUT_OUT]
    for cell in cells:
        pour(cell, wet_steps, burn, wet_until, meters)
    return int(meters[PUT_OUT] - before)


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


@compiled
def cut(cells: I64, most: int, burn: U8, trees: U8, meters: I64) -> I64:
    """Cut up to ``most`` trees of each cell; return how many of each (``fire.cut``)."""
    felled = np.zeros(len(cells), np.int64)
    for i in range(len(cells)):
        felled[i] = fell(cells[i], most, burn, trees, meters)
    return felled


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
