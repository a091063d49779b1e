"""What fire on a cell does to its eight neighbours: the formulas, and their values over a whole map.

``reference`` (wildfire spec A4.1 with B3-B5, B9)
    A neighbour is ignited when r > 0.5 and put on fire at once when r > 8, with r from ``spread_rate``.
``stochastic`` (B2-B4, B9)
    A neighbour is ignited with the probability ``catch_chance``: A. Alexandridis, D. Vakalis, C. I. Siettos,
    G. V. Bafas, "A cellular automata model for forest fire spread prediction: the case of the wildfire that swept
    through Spetses Island in 1990", Applied Mathematics and Computation 204 (2008) 191-201, times the moisture damping
    of R. C. Rothermel, "A mathematical model for predicting fire spread in wildland fuels", USDA Forest Service
    Research Paper INT-115 (1972).

Elevation, moisture and wind never change, so all this is worked out once per map, by ``spread_of``:

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

from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire.state import NEIGHBOURS, TOP, FireRules, Terrain

if TYPE_CHECKING:
    import numpy.typing as npt

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
    """Return S(theta) of the reference mode (wildfire spec A4.1).

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
def spread_rate(slope: float, moisture: float, cosine: float, wet: float) -> float:
    """Return r of the reference mode, with R0 = 1 (wildfire spec A4.1).

    Args:
        slope: ``slope_factor`` from source to target.
        moisture: Moisture of the target, 0 to 1.
        cosine: Cosine between the wind of the source and the way to the target; 0 without wind (B5).
        wet: 0 for dry ground. In R25 watered ground adds 5; here watered ground cannot catch fire at all (B6).
    """
    return slope * (1.0 - (moisture + wet) / 10.0) * (1.0 + cosine) / 2.0


@compiled
def moisture_damping(moisture: float, extinction: float) -> float:
    """Return Rothermel's moisture damping coefficient, 0 to 1 (Rothermel 1972, eq. 29; wildfire spec B3).

    Args:
        moisture: Fuel moisture.
        extinction: Moisture of extinction, on the same scale.
    """
    q = min(moisture / extinction, 1.0)
    return max(0.0, min(1.0, 1.0 - 2.59 * q + 5.11 * q * q - 3.52 * q * q * q))


@compiled
def wind_factor(speed: float, along: float, speed_effect: float, angle_effect: float) -> float:
    """Return p_w = exp(c1 V) exp(c2 V (cos phi - 1)) (Alexandridis et al. 2008; wildfire spec B2).

    Args:
        speed: V, wind speed in m/s.
        along: V cos phi, wind along the way to the target in m/s.
        speed_effect: c1.
        angle_effect: c2.
    """
    return _exp(speed_effect * speed + angle_effect * (along - speed))


def catch_chance(
    rules: FireRules, *, wind: tuple[float, float], direction: int, slope: float, moisture: float, trees: int
) -> float:
    """Return the chance that fire passes from one cell to a neighbour in the stochastic mode (wildfire spec B2, B3).

    p = p_h (1 + p_veg) (1 + p_den) p_w p_s times the moisture damping, at most 1; p_s = exp(a theta). Alexandridis et
    al. 2008; moisture is not in their model.

    Args:
        rules: The parameters.
        wind: Wind at the burning cell in m/s along x and y.
        direction: Index into ``NEIGHBOURS``.
        slope: Angle from the burning cell to the target in degrees; diagonal neighbours are sqrt(2) cells away (B9).
        moisture: Moisture of the target.
        trees: Trees of the target.
    """
    dx, dy = NEIGHBOURS[direction]
    length = math.sqrt(wind[0] * wind[0] + wind[1] * wind[1])
    scale = min(1.0, rules.wind_cap / length) if length > 0 else 0.0
    along = (wind[0] * dx + wind[1] * dy) * scale * (_ROOT_HALF if dx and dy else 1.0)
    blown = wind_factor(length * scale, along, rules.wind_speed_effect, rules.wind_angle_effect)
    fuel = (1.0 + rules.vegetation[trees]) * (1.0 + rules.density[trees])
    damped = moisture_damping(moisture, rules.extinction_moisture)
    return min(1.0, rules.base * blown * _exp(rules.slope_effect * slope) * damped * fuel)


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
def _slope_factors(step_m: float, cell_m: float) -> npt.NDArray[np.float64]:
    """Return (131071,): S of the reference mode by the difference of levels."""
    return _tabulated_factors(step_m, cell_m)


@lru_cache(maxsize=4)
def _slope_chances(step_m: float, cell_m: float, base: float, effect: float) -> npt.NDArray[np.float64]:
    """Return (2, 131071): p_h p_s by the difference of levels, for orthogonal and for diagonal neighbours."""
    return _tabulated_chances(step_m, cell_m, base, effect)


@compiled
def _tabulated_factors(step_m: float, cell_m: float) -> npt.NDArray[np.float64]:
    slopes = np.empty(2 * TOP + 1, np.float64)
    for k in range(2 * TOP + 1):
        slopes[k] = slope_factor(slope_degrees((k - TOP) * step_m, cell_m))
    return slopes


@compiled
def _tabulated_chances(step_m: float, cell_m: float, base: float, effect: float) -> npt.NDArray[np.float64]:
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
                rate = spread_rate(slope, float(moisture[y + dy, x + dx]), cosine, 0.0)
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
    """Return the chance for each neighbour without the factors of its trees, in units of 1 / ``CHANCE``."""
    size = elevation.shape[0]
    stride = size + 2
    spread = np.zeros(stride * stride * 8, np.uint16)
    for y in range(size):
        for x in range(size):
            along_x, along_y = float(wind[0, y, x]), float(wind[1, y, x])
            length = math.sqrt(along_x * along_x + along_y * along_y)
            if length > cap:
                along_x *= cap / length
                along_y *= cap / length
                length = cap
            level = int(elevation[y, x])
            for d in range(8):
                dx, dy = NEIGHBOURS[d]
                if not (0 <= x + dx < size and 0 <= y + dy < size):
                    continue
                along = along_x * dx + along_y * dy
                if d & 1:
                    along *= _ROOT_HALF
                chance = slopes[d & 1, int(elevation[y + dy, x + dx]) - level + TOP]
                chance *= wind_factor(length, along, speed_effect, angle_effect)
                chance *= moisture_damping(float(moisture[y + dy, x + dx]), extinction)
                spread[((y + 1) * stride + x + 1) * 8 + d] = int(min(chance * CHANCE + 0.5, 65535.0))
    return spread


def fuel_of(rules: FireRules) -> npt.NDArray[np.uint64]:
    """Return (4,): by trees of the target, what makes a chance of ``Land.spread`` one in 2**32."""
    pairs = zip(rules.vegetation, rules.density, strict=True)
    return np.array([round((1 + vegetation) * (1 + density) * FUEL) for vegetation, density in pairs], np.uint64)
