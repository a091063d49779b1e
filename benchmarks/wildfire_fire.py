"""How fast the fire of the wildfire world steps, and how long a map takes to make.

Run ``python benchmarks/wildfire_fire.py`` (add ``--quick`` for a look). Times are CPU time of one thread, best of
several tries. Cells per second count the whole map, as for a simulator that sweeps it; *touched* is the share of cells
that spread fire in the step or lie beside one that does. Bars are those of the project, for 1000 x 1000 cells:
3 Gcells/s with a line front, 0.2 with 43 % of cells touched, 8 without fire; 3 s to the first step in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.state import IGNITED, ON_FIRE, FireRules, Land, Terrain
from teamworld.worlds.wildfire.terrain import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import FireMode


#: What the bars are for: side of the map, in cells.
SIDE = 1000


class Row(NamedTuple):
    """One figure and the bar it has to reach."""

    table: str
    what: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is reached."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.unit == RATE else self.value <= self.bar


RATE = "Gcells/s"


def best(call: Callable[[], object], tries: int) -> float:
    """Return CPU seconds of one call, best of ``tries``."""
    found = float("inf")
    for _ in range(tries):
        begin = time.thread_time()
        call()
        found = min(found, time.thread_time() - begin)
    return found


def go(land: Land, steps: int) -> None:
    """Do some fire steps."""
    for _ in range(steps):
        physics.step_fire(land)


def uniform(size: int) -> Terrain:
    """Return a flat forest in a steady wind along x."""
    shape = (size, size)
    return Terrain(
        land=np.full(shape, 3, np.uint8),
        trees=np.full(shape, 2, np.uint8),
        elevation=np.zeros(shape, np.uint16),
        moisture=np.full(shape, 0.4, np.float32),
        wind=np.stack([np.full(shape, 8, np.float32), np.zeros(shape, np.float32)]),
        building=np.zeros(shape, np.bool_),
        burnable=np.ones(shape, np.bool_),
    )


def touched(land: Land) -> float:
    """Return the share of cells that spread in the next fire step or lie beside one that does."""
    active = np.isin(land.burn, (IGNITED,))
    recent = land.caught[: land.cells_caught]
    jumped = ~recent[recent < 0]
    active.reshape(-1)[jumped[land.burn.reshape(-1)[jumped] == ON_FIRE]] = True
    near = np.zeros((land.size, land.size), np.bool_)
    for down in range(3):
        for right in range(3):
            near |= active[down : down + land.size, right : right + land.size]
    return float(near.mean())


def at(land: Land, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the cells at (x, y)."""
    return (y + 1) * land.stride + x + 1


def line_front(terrain: Terrain, mode: FireMode, tries: int) -> tuple[float, float, int]:
    """Return seconds a step, share touched at first and mean of cells that spread, for a front right across the map."""
    land, side = physics.make_land(terrain, FireRules(mode=mode)), terrain.size
    physics.ignite_cells(land, at(land, np.full(side, side // 4), np.arange(side)))
    for _ in range(side // 50):
        physics.step_fire(land)
    share, steps = touched(land), side // 10
    found, front = float("inf"), 0
    for _ in range(tries):
        twin = land.copy()
        found = min(found, best(partial(go, twin, steps), 1) / steps)
        front = (twin.cells_caught - land.cells_caught) // steps
    return found, share, front


def alight(terrain: Terrain, mode: FireMode, share: float) -> Land:
    """Return a land with this share of its cells ignited at random."""
    land, side = physics.make_land(terrain, FireRules(mode=mode)), terrain.size
    places = np.flatnonzero(np.random.default_rng(0).random((side, side)) < share)
    physics.ignite_cells(land, at(land, places % side, places // side))
    return land


def worst(terrain: Terrain, mode: FireMode, tries: int) -> tuple[float, float, int]:
    """Return the same for so many scattered fires that one step touches 43 % of cells."""
    land = alight(terrain, mode, 1 - 0.57 ** (1 / 9))
    found = float("inf")
    for _ in range(tries):
        twin = land.copy()
        found = min(found, best(partial(physics.step_fire, twin), 1))
    return found, touched(land), land.cells_in(IGNITED)


def twenty(terrain: Terrain, mode: FireMode, tries: int) -> tuple[float, float, int]:
    """Return the mean of 20 steps after 1 % of cells was set alight, each step the best of ``tries``."""
    took, shares, fronts = [], [], []
    land = alight(terrain, mode, 0.01)
    for _ in range(20):
        shares.append(touched(land))
        fronts.append(land.cells_in(IGNITED))
        found = float("inf")
        for _ in range(tries):
            twin = land.copy()
            found = min(found, best(partial(physics.step_fire, twin), 1))
        took.append(found)
        physics.step_fire(land)
    return float(np.mean(took)), float(np.mean(shares)), round(float(np.mean(fronts)))


def no_fire(terrain: Terrain, mode: FireMode, tries: int) -> tuple[float, float, int]:
    """Return the same where nothing burns."""
    land = physics.make_land(terrain, FireRules(mode=mode))
    return best(lambda: go(land, 1000), tries) / 1000, 0.0, 0


CASES = (
    ("line front", line_front, 3.0),
    ("43 % touched", worst, 0.2),
    ("1 % alight, 20 steps", twenty, 0.2),
    ("no fire", no_fire, 8.0),
)


def stepping(sides: list[int], tries: int) -> Iterator[Row]:
    """Yield the fire step on uniform maps and on a generated one."""
    for side in sides:
        for ground, terrain in (("flat forest", uniform(side)), ("generated map", generate(side, 1))):
            for mode in ("reference", "stochastic"):
                for name, case, bar in CASES:
                    took, share, front = case(terrain, mode, tries)
                    each = f", {took / front * 1e9:.0f} ns for each" if front else ""
                    note = f"{took * 1e6:9,.1f} us a step, {share:5.1%} touched, {front:,} spread{each}"
                    least = bar if side == SIDE and ground == "flat forest" else None
                    yield Row(
                        f"{side} x {side}, {ground}", f"{mode:10} {name}", side**2 / took / 1e9, RATE, least, note
                    )


def making(quick: bool) -> Iterator[Row]:
    """Yield what a new map and a new episode cost."""
    for side in (60, 250, 1000) if quick else (60, 250, 1000, 1500, 2000):
        yield Row("making", f"{side} x {side}: generate the map", best(partial(generate, side, 1), 2), "s")
        terrain = generate(side, 1)
        for mode in ("reference", "stochastic"):
            rules = FireRules(mode=mode)
            took = best(partial(physics.make_land, terrain, rules), 3)
            land = physics.make_land(terrain, rules)
            held = sum(part.nbytes for part in (getattr(land, name) for name in ARRAYS))
            yield Row("making", f"{side} x {side}: land for {mode}", took, "s", note=f"{held / 1e6:.1f} MB")


ARRAYS = ("burn", "trees", "land", "building", "wet_until", "caught", "meters", "spread", "scratch")

FIRST_USE = """
import sys, time
begin = time.process_time()
from teamworld.worlds.wildfire import levels, physics
imported = time.process_time()
instance = levels.instance_for("suppress_fire_contain", 0)
placed = time.process_time()
land = physics.make_land(instance.terrain, instance.level.rules(sys.argv[1]))
physics.ignite(land, *instance.fire)
made = time.process_time()
physics.step_fire(land)
print([imported - begin, placed - imported, made - placed, time.process_time() - made])
"""


def first_use() -> Iterator[Row]:
    """Yield what the first step costs in a fresh process, with and without the cache of compiled code."""
    names = ("import", "place an instance", "make its land", "first step")
    for mode in ("reference", "stochastic"):
        with tempfile.TemporaryDirectory() as cache:
            for label, bar in (("cold", 3.0), ("cached", 0.3)):
                done = subprocess.run(
                    [sys.executable, "-c", FIRST_USE, mode],
                    check=True,
                    capture_output=True,
                    text=True,
                    env={**os.environ, "NUMBA_CACHE_DIR": cache},
                )
                for name, value in zip(names, json.loads(done.stdout), strict=True):
                    yield Row(
                        f"first use, {mode}", f"{label}: {name}", value, "s", bar if name == "first step" else None
                    )


def main() -> None:
    """Parse the command line, measure, and print each figure as it comes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few sizes, few tries")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of tables")
    options = parser.parse_args()
    found: list[Row] = []
    tries = 5 if options.quick else 15
    sides = [SIDE] if options.quick else [60, 250, SIDE, 1500]
    for rows in (stepping(sides, tries), making(options.quick), first_use()):
        for row in rows:
            if not options.json:
                if not found or found[-1].table != row.table:
                    print(f"\n{row.table}")
                bar = "" if row.bar is None else f"bar {row.bar:g} {'reached' if row.holds else 'MISSED'}"
                print(f"  {row.what:34} {row.value:10.4g} {row.unit:9} {bar:18} {row.note}", flush=True)
            found.append(row)
    if options.json:
        print(json.dumps([{**row._asdict(), "holds": row.holds} for row in found], indent=1))


if __name__ == "__main__":
    main()
