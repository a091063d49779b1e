"""Compiled kernels of what changes by itself: terrain noise, the spread of fire, civilians.

How fire passes to the eight neighbours of a cell:

``reference`` (CREW-Wildfire)
    A neighbour is ignited when r > 0.5 and put on fire at once when r > 8, with r from ``spread_rate``.
``stochastic``
    A neighbour is ignited with the probability p_h (1 + p_veg) (1 + p_den) p_w p_s, where p_s = exp(a theta), of
    A. Alexandridis, D. Vakalis, C. I. Siettos, G. V. Bafas, "A cellular automata model for forest fire spread
    prediction: the case of the wildfire that swept through Spetses Island in 1990", Applied Mathematics and
    Computation 204 (2008) 191-201, times the moisture damping of R. C. Rothermel, "A mathematical model for predicting
    fire spread in wildland fuels", USDA Forest Service Research Paper INT-115 (1972).

Elevation, moisture and wind never change, so ``spread_of`` works all this out once per map:

- reference: 16 bits a cell; bit d is set if the neighbour in direction d would be ignited, bit 8 + d if it would be on
  fire at once;
- stochastic: 8 times 16 bits a cell, in two words; the chance for each neighbour before the trees there are known, in
  steps of 1 / 16,384 and at most 4 (the factors of the trees may bring it down again).

All functions are made of + - * / and square root, which are the same on every machine; the mathematical library is not.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.worlds.kernel_compiler import compiled, part
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
    FREE,
    IGNITED,
    NEIGHBOURS,
    ON_FIRE,
    TOP,
    TREES_BURNT,
    WET_UNTIL,
    FireRules,
    Terrain,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    Flags: TypeAlias = npt.NDArray[np.bool_]
    I32: TypeAlias = npt.NDArray[np.int32]
    I64: TypeAlias = npt.NDArray[np.int64]
    U16: TypeAlias = npt.NDArray[np.uint16]
    U64: TypeAlias = npt.NDArray[np.uint64]
    U8: TypeAlias = npt.NDArray[np.uint8]


@compiled
def add_noise(
    total: npt.NDArray[np.float64],
    lattice: npt.NDArray[np.uint8],
    begin_x: float,
    begin_y: float,
    pace: float,
    weight: float,
) -> None:
    """Add one octave of gradient noise to ``total``.

    Args:
        total: (N, N), indexed [y, x].
        lattice: Direction of the gradient at each point of the lattice, in eighths of a turn.
        begin_x: Where column 0 lies in the lattice.
        begin_y: Where row 0 lies in the lattice.
        pace: Cells of the lattice to a cell of the map.
        weight: Height of the octave.
    """
    east = (1.0, _ROOT_HALF, 0.0, -_ROOT_HALF, -1.0, -_ROOT_HALF, 0.0, _ROOT_HALF)
    south = (0.0, _ROOT_HALF, 1.0, _ROOT_HALF, 0.0, -_ROOT_HALF, -1.0, -_ROOT_HALF)
    for row in range(total.shape[0]):
        y = begin_y + row * pace
        j = int(y)
        v = y - j
        smooth_v = v * v * v * (v * (v * 6.0 - 15.0) + 10.0)
        for col in range(total.shape[1]):
            x = begin_x + col * pace
            i = int(x)
            h = x - i
            smooth_h = h * h * h * (h * (h * 6.0 - 15.0) + 10.0)
            a, b = lattice[j, i], lattice[j, i + 1]
            c, d = lattice[j + 1, i], lattice[j + 1, i + 1]
            nw = east[a] * h + south[a] * v
            ne = east[b] * (h - 1.0) + south[b] * v
            sw = east[c] * h + south[c] * (v - 1.0)
            se = east[d] * (h - 1.0) + south[d] * (v - 1.0)
            north = nw + smooth_h * (ne - nw)
            total[row, col] += weight * (north + smooth_v * (sw + smooth_h * (se - sw) - north))


#: Fire steps that a cell smoulders.
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
    step = meters[FIRE_STEPS] + 1
    meters[FIRE_STEPS] = step
    meters[AT_COHORTS + step % COHORTS] = meters[CAUGHT]
    _settle(step, burn, caught, meters)
    return meters[AT_COHORTS + (step - 1) % COHORTS], meters[CAUGHT]


@part
def _settle(step: int, burn: U8, caught: I32, meters: I64) -> None:
    """End the smouldering of ten steps and begin that of cells that were on fire for one.

    A cell that caught in step k is on fire from k + 1, smoulders from k + 2 and is burnt out from k + 12; one that
    went straight to on fire is one step ahead.
    """
    done = 0
    for ahead in range(2):
        k = step - SMOULDERS - 2 + ahead
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
    for i in range(meters[AT_COHORTS + (step - 2) % COHORTS], meters[AT_COHORTS + (step - 1) % COHORTS]):
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
    step = meters[FIRE_STEPS]
    at = end
    for i in range(first, end):
        code = int(caught[u(i)])
        cell = code if code >= 0 else ~code
        bits = int(spread[u(cell)]) >> 8
        if bits == 0 or burn[u(cell)] != ON_FIRE:
            continue
        for d in range(8):
            target = cell + meters[u(AT_NEIGHBOURS + d)]
            if (bits >> d) & 1 and burn[u(target)] == BURNABLE and wet_until[u(target)] < step:
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
    step = meters[FIRE_STEPS]
    water = meters[WET_UNTIL] >= step
    for i in range(first, end):
        code = int(caught[u(i)])
        cell = code if code >= 0 else ~code
        bits = int(spread[u(cell)]) & 255
        if burn[u(cell)] != ON_FIRE:
            continue
        for d in range(8):
            target = cell + meters[u(AT_NEIGHBOURS + d)]
            if (bits >> d) & 1 == 0 or burn[u(target)] != BURNABLE or (water and wet_until[u(target)] >= step):
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
    step = meters[FIRE_STEPS]
    water = meters[WET_UNTIL] >= step
    at = end
    step_key = mixed(np.uint64(key) + np.uint64(step) * GOLDEN)
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
                        hit = hit & (wet_until[u(target)] < step)
                    burn[u(target)] = IGNITED if hit else state
                    caught[u(at)] = target
                    at += hit
    return at


#: The ways that a civilian may go.
_WAYS = np.array(((1, 0), (0, 1), (-1, 0), (0, -1)))


@compiled
def walk_civilians(
    x: npt.NDArray[np.int32],
    y: npt.NDArray[np.int32],
    state: npt.NDArray[np.uint8],
    burn: npt.NDArray[np.uint8],
    key: int,
    number: int,
) -> None:
    """Let each free civilian step to a neighbouring cell that is open, each with equal chance."""
    last = burn.shape[0] - 4  # the last but one column of the map; the frame adds two
    of_step = mixed(np.uint64(key) + np.uint64(number) * GOLDEN)
    for k in range(len(state)):
        if state[k] != FREE:
            continue
        choices = 0
        for d in range(4):
            choices += _is_open(x[k] + _WAYS[d, 0], y[k] + _WAYS[d, 1], last, burn)
        # 32 random bits times the number of choices: equal chances to one in a thousand million.
        picked = int(((mixed(of_step + np.uint64(k) * GOLDEN) >> np.uint64(32)) * np.uint64(choices)) >> np.uint64(32))
        for d in range(4):
            right, down = _WAYS[d, 0], _WAYS[d, 1]
            if _is_open(x[k] + right, y[k] + down, last, burn):
                if picked == 0:
                    x[k] += right
                    y[k] += down
                    break
                picked -= 1


@part
def _is_open(x: int, y: int, last: int, burn: npt.NDArray[np.uint8]) -> bool:
    """Return whether a civilian may step there."""
    return 0 <= x <= last and 0 <= y <= last and burn[y + 1, x + 1] < IGNITED


#: A chance of 1 in ``Land.spread``, and the factor that takes it to 2**32 once the fuel is known.
CHANCE, FUEL = 1 << 14, 1 << 18
_ROOT_HALF = math.sqrt(0.5)
_DEGREES = 180.0 / math.pi


# The formulas --------------------------------------------------------------------------------------------------------


@compiled
def _exp(x: float) -> float:
    """Return e**x for moderate x, from + and * alone."""
    y = x / 256.0
    value = 1.0
    for k in range(9, 0, -1):
        value = 1.0 + y * value / k
    for _ in range(8):
        value *= value
    return value


@compiled
def _atan(x: float) -> float:
    """Return the arc tangent, from + * / and square root alone: half the angle three times, then the series."""
    for _ in range(3):
        x /= 1.0 + math.sqrt(1.0 + x * x)
    square = x * x
    value = 0.0
    for k in range(25, 0, -2):
        value = 1.0 / k - square * value
    return 8.0 * x * value


@compiled
def slope_degrees(rise_m: float, run_m: float) -> float:
    """Return the slope angle in degrees of a rise over a horizontal distance, negative downhill."""
    return _atan(rise_m / run_m) * _DEGREES


@compiled
def slope_factor(theta: float) -> float:
    """Return S(theta) of the reference mode.

    Uphill McArthur's exponential rule, the rate doubling every ten degrees; downhill the correction of
    A. L. Sullivan, J. J. Sharples, S. Matthews, M. P. Plucinski, "A downslope fire spread correction factor based on
    landscape-scale fire behaviour", Environmental Modelling & Software 62 (2014) 153-163.

    Args:
        theta: Slope from source to target in degrees, negative downhill.
    """
    if theta >= 0.0:
        return _exp(0.069 * theta)
    e = _exp(-0.069 * theta)
    return e / (2.0 * e - 1.0)


@compiled
def spread_rate(slope: float, moisture: float, cosine: float) -> float:
    """Return r of the reference mode, with R0 = 1.

    Args:
        slope: ``slope_factor`` from source to target.
        moisture: Moisture of the target, 0 to 1.
        cosine: Cosine between the wind of the source and the way to the target; 0 without wind.
    """
    return slope * (1.0 - moisture / 10.0) * (1.0 + cosine) / 2.0


@compiled
def moisture_damping(moisture: float, extinction: float) -> float:
    """Return Rothermel's moisture damping coefficient, 0 to 1 (Rothermel 1972, eq. 29).

    Args:
        moisture: Fuel moisture.
        extinction: Moisture of extinction, on the same scale.
    """
    q = min(moisture / extinction, 1.0)
    return max(0.0, min(1.0, 1.0 - 2.59 * q + 5.11 * q * q - 3.52 * q * q * q))


@compiled
def wind_factor(speed: float, along: float, speed_effect: float, angle_effect: float) -> float:
    """Return p_w = exp(c1 V) exp(c2 V (cos phi - 1)) (Alexandridis et al. 2008).

    Args:
        speed: V, wind speed in m/s.
        along: V cos phi, wind along the way to the target in m/s.
        speed_effect: c1.
        angle_effect: c2.
    """
    return _exp(speed_effect * speed + angle_effect * (along - speed))


# What fire on a cell does to its neighbours, once per map -------------------------------------------------------------


def spread_of(terrain: Terrain, rules: FireRules) -> npt.NDArray[Any]:
    """Return ``Land.spread``: 16 bits a cell in the reference mode, 2 times 64 in the stochastic; see the module."""
    step_m, cell_m = terrain.relief_m / TOP, terrain.cell_m
    layers = terrain.elevation, terrain.moisture, terrain.wind
    if rules.mode == "reference":
        slopes = _slope_factors(step_m, cell_m)
        return _reference_spread(*layers, slopes, rules.ignite_above, rules.jump_above)
    slopes = _slope_chances(step_m, cell_m, rules.base, rules.slope_effect)
    effects = rules.wind_speed_effect, rules.wind_angle_effect, rules.wind_cap, rules.extinction_moisture
    return _stochastic_spread(*layers, slopes, *effects).view(np.uint64)


# Elevation comes in 65,536 levels, so a slope has one of 131,071 values. Most maps share relief and cell size: the
# tables are kept, and a small map costs a millisecond.


@lru_cache(maxsize=4)
@compiled
def _slope_factors(step_m: float, cell_m: float) -> npt.NDArray[np.float64]:
    """Return (131071,): S of the reference mode by the difference of levels."""
    slopes = np.empty(2 * TOP + 1, np.float64)
    for k in range(2 * TOP + 1):
        slopes[k] = slope_factor(slope_degrees((k - TOP) * step_m, cell_m))
    return slopes


@lru_cache(maxsize=4)
@compiled
def _slope_chances(step_m: float, cell_m: float, base: float, effect: float) -> npt.NDArray[np.float64]:
    """Return (2, 131071): p_h p_s by the difference of levels, for orthogonal and for diagonal neighbours."""
    slopes = np.empty((2, 2 * TOP + 1), np.float64)
    for k in range(2 * TOP + 1):
        rise = (k - TOP) * step_m
        slopes[0, k] = base * _exp(effect * slope_degrees(rise, cell_m))
        slopes[1, k] = base * _exp(effect * slope_degrees(rise, cell_m / _ROOT_HALF))
    return slopes


@compiled
def _reference_spread(
    elevation: npt.NDArray[np.uint16],
    moisture: npt.NDArray[np.float32],
    wind: npt.NDArray[np.float32],
    slopes: npt.NDArray[np.float64],
    ignite_above: float,
    jump_above: float,
) -> npt.NDArray[np.uint16]:
    """Return a bit per neighbour that would be ignited, and eight bits higher one per neighbour put on fire at once."""
    size = elevation.shape[0]
    stride = size + 2
    spread = np.zeros(stride * stride, np.uint16)
    for y in range(size):
        for x in range(size):
            along_x, along_y = float(wind[0, y, x]), float(wind[1, y, x])
            length = math.sqrt(along_x * along_x + along_y * along_y)
            if length > 0.0:
                along_x /= length
                along_y /= length
            level = int(elevation[y, x])
            bits = 0
            for d in range(8):
                dx, dy = NEIGHBOURS[d]
                if not (0 <= x + dx < size and 0 <= y + dy < size):
                    continue
                cosine = along_x * dx + along_y * dy
                if d & 1:
                    cosine *= _ROOT_HALF
                slope = slopes[int(elevation[y + dy, x + dx]) - level + TOP]
                rate = spread_rate(slope, float(moisture[y + dy, x + dx]), cosine)
                if rate > jump_above:
                    bits |= 256 << d
                elif rate > ignite_above:
                    bits |= 1 << d
            spread[(y + 1) * stride + x + 1] = bits
    return spread


@compiled
def _stochastic_spread(
    elevation: npt.NDArray[np.uint16],
    moisture: npt.NDArray[np.float32],
    wind: npt.NDArray[np.float32],
    slopes: npt.NDArray[np.float64],
    speed_effect: float,
    angle_effect: float,
    cap: float,
    extinction: float,
) -> npt.NDArray[np.uint16]:
    """Return the chance for each neighbour without the factors of its trees, in units of 1 / ``CHANCE``.

    Row by row and neighbour by neighbour: the compiler does several cells at once where nothing but arithmetic stands
    in a loop. A row of damping factors serves the three rows beside it.
    """
    size = elevation.shape[0]
    stride = size + 2
    spread = np.zeros(stride * stride * 8, np.uint16)
    speeds, along_x, along_y, winds = np.empty((4, size))
    damping = np.empty((3, size))
    for y in range(-1, size):
        if y + 1 < size:
            for x in range(size):
                damping[(y + 1) % 3, x] = moisture_damping(float(moisture[y + 1, x]), extinction)
        if y < 0:
            continue
        for x in range(size):
            speed_x, speed_y = float(wind[0, y, x]), float(wind[1, y, x])
            length = math.sqrt(speed_x * speed_x + speed_y * speed_y)
            if length > cap:
                speed_x *= cap / length
                speed_y *= cap / length
                length = cap
            speeds[x], along_x[x], along_y[x] = length, speed_x, speed_y
        for d in range(8):
            dx, dy = NEIGHBOURS[d]
            if not 0 <= y + dy < size:
                continue
            part = _ROOT_HALF if d & 1 else 1.0
            for x in range(size):
                along = (along_x[x] * dx + along_y[x] * dy) * part
                winds[x] = wind_factor(speeds[x], along, speed_effect, angle_effect)
            for x in range(max(0, -dx), size - max(0, dx)):
                chance = slopes[d & 1, int(elevation[y + dy, x + dx]) - int(elevation[y, x]) + TOP]
                chance *= winds[x]
                chance *= damping[(y + dy) % 3, x + dx]
                spread[((y + 1) * stride + x + 1) * 8 + d] = int(min(chance * CHANCE + 0.5, 65535.0))
    return spread


def fuel_of(rules: FireRules) -> npt.NDArray[np.uint64]:
    """Return (4,): by trees of the target, what makes a chance of ``Land.spread`` one in 2**32."""
    pairs = zip(rules.vegetation, rules.density, strict=True)
    return np.array([round((1 + vegetation) * (1 + density) * FUEL) for vegetation, density in pairs], np.uint64)
