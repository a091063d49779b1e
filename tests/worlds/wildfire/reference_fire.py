"""Fire, slowly: dictionaries instead of lists of cells, the formulas from the mathematical library.

Written from the specification, not from the kernels. ``burnt_area`` is a second, independent reference of
the stochastic mode, with other random numbers and whole-map numpy arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from teamworld.worlds.wildfire.state import (
    BURNABLE,
    BURNT_OUT,
    EXTINGUISHING,
    IGNITED,
    NOT_BURNABLE,
    ON_FIRE,
    FireRules,
    Terrain,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

AROUND = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
MASK = 2**64 - 1


def reference_rate(terrain: Terrain, x: int, y: int, d: int) -> float:
    """Return r from (x, y) to its neighbour in direction d."""
    dx, dy = AROUND[d]
    u, v = (float(w) for w in terrain.wind[:, y, x])
    speed = math.hypot(u, v)
    cosine = (u * dx + v * dy) / (speed * math.hypot(dx, dy)) if speed else 0.0
    rise = (int(terrain.elevation[y + dy, x + dx]) - int(terrain.elevation[y, x])) * terrain.relief_m / 65535
    theta = math.degrees(math.atan(rise / terrain.cell_m))
    if theta >= 0:
        slope = math.exp(0.069 * theta)
    else:
        e = math.exp(-0.069 * theta)
        slope = e / (2 * e - 1)
    return slope * (1 - float(terrain.moisture[y + dy, x + dx]) / 10) * (1 + cosine) / 2


def base_chance(terrain: Terrain, rules: FireRules, x: int, y: int, d: int) -> float:
    """Return the chance from (x, y) to its neighbour in direction d, before the trees there are known."""
    dx, dy = AROUND[d]
    u, v = (float(w) for w in terrain.wind[:, y, x])
    speed = math.hypot(u, v)
    cosine = (u * dx + v * dy) / (speed * math.hypot(dx, dy)) if speed else 0.0
    speed = min(speed, rules.wind_cap)
    wind = math.exp(rules.wind_speed_effect * speed) * math.exp(rules.wind_angle_effect * speed * (cosine - 1))
    rise = (int(terrain.elevation[y + dy, x + dx]) - int(terrain.elevation[y, x])) * terrain.relief_m / 65535
    theta = math.degrees(math.atan(rise / (terrain.cell_m * math.hypot(dx, dy))))
    q = min(1.0, float(terrain.moisture[y + dy, x + dx]) / rules.extinction_moisture)
    damping = min(1.0, max(0.0, 1 - 2.59 * q + 5.11 * q**2 - 3.52 * q**3))
    return rules.base * wind * math.exp(rules.slope_effect * theta) * damping


def fuel_factor(rules: FireRules, trees: int) -> float:
    """Return (1 + p_veg) (1 + p_den) of a cell."""
    return (1 + rules.vegetation[trees]) * (1 + rules.density[trees])


def mixed(z: int) -> int:
    """Return the finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class SlowFire:
    """The land, cell by cell; positions are (x, y)."""

    def __init__(self, terrain: Terrain, rules: FireRules, key: int) -> None:
        self.terrain, self.rules, self.key, self.now = terrain, rules, key, 0
        n = self.size = terrain.size
        cells = [(x, y) for y in range(n) for x in range(n)]
        ring = set() if rules.edge_burns else {(x, y) for x, y in cells if x in (0, n - 1) or y in (0, n - 1)}
        self.state = {c: BURNABLE if terrain.burnable[c[1], c[0]] and c not in ring else NOT_BURNABLE for c in cells}
        self.trees = {(x, y): int(terrain.trees[y, x]) for x, y in cells}
        self.building = {(x, y): bool(terrain.building[y, x]) for x, y in cells}
        self.since = dict.fromkeys(cells, 0)
        self.wet = dict.fromkeys(cells, 0)
        self.trees_burnt = self.trees_cut = self.buildings_lost = self.put_out = 0

    def ignite(self, x: int, y: int) -> bool:
        if self.state[x, y] != BURNABLE or self.wet[x, y]:
            return False
        self.state[x, y] = IGNITED
        return True

    def douse(self, x: int, y: int) -> None:
        if self.state[x, y] in (IGNITED, ON_FIRE, EXTINGUISHING):
            self.state[x, y] = BURNT_OUT
            self.put_out += 1
        else:
            self.wet[x, y] = self.rules.wet_steps

    def cut(self, x: int, y: int, most: int) -> int:
        felled = min(most, self.trees[x, y])
        self.trees[x, y] -= felled
        self.trees_cut += felled
        if felled and not self.trees[x, y] and self.state[x, y] == BURNABLE:
            self.state[x, y] = NOT_BURNABLE
        return felled

    def destroy(self, cell: tuple[int, int]) -> None:
        self.state[cell] = ON_FIRE
        self.trees_burnt += self.trees[cell]
        self.buildings_lost += self.building[cell]
        self.trees[cell], self.building[cell] = 0, False

    def step(self) -> None:
        self.now += 1
        for cell, state in list(self.state.items()):
            if state == EXTINGUISHING and self.now - self.since[cell] == 10:
                self.state[cell] = BURNT_OUT
            elif state == ON_FIRE and self.since[cell] == 1:  # has spread in the step before
                self.state[cell], self.since[cell] = EXTINGUISHING, self.now
        jumped = [cell for cell, state in self.state.items() if state == ON_FIRE]
        for cell, state in list(self.state.items()):
            if state == IGNITED:
                self.destroy(cell)
                self.since[cell] = 1
        effects: dict[tuple[int, int], int] = {}
        for (x, y), state in self.state.items():
            if state == ON_FIRE:
                for d, (dx, dy) in enumerate(AROUND):
                    target = (x + dx, y + dy)
                    if self.state.get(target) == BURNABLE and not self.wet[target]:
                        effects[target] = max(effects.get(target, 0), self.effect(x, y, d, target))
        for target, effect in effects.items():
            if effect == IGNITED:
                self.state[target] = IGNITED
            elif effect == ON_FIRE:
                self.destroy(target)
        for cell in jumped:
            self.state[cell], self.since[cell] = EXTINGUISHING, self.now
        for cell in self.wet:
            self.wet[cell] = max(0, self.wet[cell] - 1)

    def effect(self, x: int, y: int, d: int, target: tuple[int, int]) -> int:
        """Return what fire on (x, y) makes of its neighbour: IGNITED, ON_FIRE or 0."""
        if self.rules.mode == "reference":
            r = reference_rate(self.terrain, x, y, d)
            return ON_FIRE if r > self.rules.jump_above else IGNITED if r > self.rules.ignite_above else 0
        key = mixed((self.key + self.now * 0x9E3779B97F4A7C15) & MASK)
        place = y << 32 | x << 3 | d // 2
        both = mixed((key + place * 0x9E3779B97F4A7C15) & MASK)
        drawn = both % 2**32 if d % 2 else both >> 32
        kept = min(65535, math.floor(base_chance(self.terrain, self.rules, x, y, d) * 2**14 + 0.5))
        return IGNITED if drawn < kept * round(fuel_factor(self.rules, self.trees[target]) * 2**18) else 0

    def grid(self, values: Mapping[tuple[int, int], int]) -> npt.NDArray[np.int64]:
        """Return (N, N), indexed [y, x]."""
        return np.array([[values[x, y] for x in range(self.size)] for y in range(self.size)])


def chances(terrain: Terrain, rules: FireRules) -> npt.NDArray[np.float64]:
    """Return (8, N, N): the chance from each cell to its neighbour in each direction."""
    n = terrain.size
    chance = np.zeros((8, n, n))
    for d, (dx, dy) in enumerate(AROUND):
        for y in range(max(0, -dy), n - max(0, dy)):
            for x in range(max(0, -dx), n - max(0, dx)):
                fuel = fuel_factor(rules, int(terrain.trees[y + dy, x + dx]))
                chance[d, y, x] = min(1.0, base_chance(terrain, rules, x, y, d) * fuel)
    return chance


def burnt_area(
    terrain: Terrain,
    chance: npt.NDArray[np.float64],
    start: tuple[int, int],
    steps: int,
    rng: np.random.Generator,
) -> list[int]:
    """Return how many cells have caught after each fire step of the stochastic mode, with random numbers of its own."""
    n = terrain.size
    fresh = np.zeros((n, n), bool)
    fresh[start[1], start[0]] = True
    caught, counts = fresh.copy(), []
    for _ in range(steps):
        hit = np.zeros((n + 2, n + 2), bool)
        passed = fresh & (rng.random((8, n, n)) < chance)
        for d, (dx, dy) in enumerate(AROUND):
            hit[1 + dy : n + 1 + dy, 1 + dx : n + 1 + dx] |= passed[d]
        fresh = hit[1:-1, 1:-1] & ~caught & terrain.burnable
        caught |= fresh
        counts.append(int(caught.sum()))
    return counts
