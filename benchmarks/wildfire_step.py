"""How long a timestep of the wildfire world takes, agents, civilians and fire together, without observations.

Run ``python benchmarks/wildfire_step.py`` (add ``--quick`` for a look). Times are CPU time of one thread. Agents start
all over the map and go, cut, spray, fill, clear, board and drop at random; one cell in a thousand burns at the start,
and the fire steps once a timestep. The bar is the project's: 50 ms with 2,000 agents on 1000 x 1000, observations
included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import Team, instance_for, level_for
from teamworld.worlds.wildfire.terrain import generate

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import FireMode, Incident, Terrain


#: Milliseconds of a timestep with 2,000 agents on 1000 x 1000, observations included.
BAR = 50.0
#: Share of the cells that burn at the start.
ALIGHT = 0.001


#: How fire spreads, and whether agents only move.
CASES: tuple[tuple[FireMode, bool], ...] = (("reference", False), ("reference", True), ("stochastic", False))


def crowd(agents: int, terrain: Terrain, mode: FireMode) -> Incident:
    """Return an instance with agents all over the map, seven of ten firefighters, and a civilian for ten of them."""
    tenth = max(1, agents // 10)
    team = Team(agents - 3 * tenth, tenth, tenth, tenth)
    level = replace(
        level_for("full_game"), size=terrain.size, team=team, clusters=tenth, per_cluster=1, fire_every=100, water=5
    )
    world = physics.begin_incident(instance_for(level, 0, terrain=terrain), 0, mode)
    rng = np.random.default_rng(0)
    places = np.flatnonzero(rng.random((terrain.size, terrain.size)) < ALIGHT)
    physics.ignite_cells(world.land, (places // terrain.size + 1) * world.land.stride + places % terrain.size + 1)
    world.units.x[:], world.units.y[:] = rng.integers(0, terrain.size, (2, agents))
    world.units.water[: team.firefighters] = 5
    return world


def orders(world: Incident, rng: np.random.Generator, moving: bool) -> npt.NDArray[np.int32]:
    """Return random actions, or moves far away for all."""
    agents = len(world.units)
    types = np.zeros(agents, np.int64) if moving else rng.integers(0, 5, agents)
    return np.column_stack([types, rng.integers(0, world.land.size, (agents, 2))]).astype(np.int32)


def stepping(agents: int, terrain: Terrain, mode: FireMode, moving: bool, steps: int) -> dict[str, Any]:
    """Return the milliseconds of a timestep, median and worst of several, and of a score and all counters."""
    world, rng = crowd(agents, terrain, mode), np.random.default_rng(1)
    physics.step(world, orders(world, rng, moving))
    took = []
    for _ in range(steps):
        given = orders(world, rng, moving)
        begin = time.thread_time()
        physics.step(world, given)
        took.append((time.thread_time() - begin) * 1e3)
    begin = time.thread_time()
    physics.score(world)
    scored = time.thread_time()
    physics.counters(world)
    return {
        "what": f"{agents:,} agents, {terrain.size} x {terrain.size}, {mode}, {'all go' if moving else 'mixed'}",
        "ms": float(np.median(took)),
        "worst_ms": max(took),
        "score_ms": (scored - begin) * 1e3,
        "counts_ms": (time.thread_time() - scored) * 1e3,
        "burning": world.land.cells_burning,
        "gone": int((~world.units.alive).sum()),
        "bar_ms": BAR if (agents, terrain.size) == (2_000, 1_000) else None,
    }


FIRST_USE = """
import time
import numpy as np
from teamworld.worlds.wildfire import levels, physics
world = physics.begin_incident(levels.instance_for("full_game", 0), 0)
begin = time.process_time()
physics.step(world, np.zeros((len(world.units), 3), np.int32))
print(time.process_time() - begin)
"""


def first_use() -> dict[str, float]:
    """Return the CPU seconds of the first timestep in a fresh process, compiling and from the cache."""
    with tempfile.TemporaryDirectory() as cache:
        found = {}
        for label in ("compiling", "cached"):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_USE],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
            )
            found[label] = float(done.stdout)
    return found


def main() -> None:
    """Parse the command line, measure, and print each figure as it comes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few sizes, few steps")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of lines")
    options = parser.parse_args()
    steps = 10 if options.quick else 30
    rows: list[dict[str, Any]] = []
    teams = {60: (10,), 200: (15, 200), 1000: (2_000,)} if options.quick else {
        60: (10, 100), 200: (15, 200), 1000: (20, 200, 2_000, 20_000), 1500: (2_000, 100_000),
    }  # fmt: skip
    for size, counts in teams.items():
        terrain = generate(size, 1)
        for agents in counts:
            for mode, moving in CASES:
                row = stepping(agents, terrain, mode, moving, steps)
                rows.append(row)
                if not options.json:
                    bar = row["bar_ms"] and f"bar {BAR:g} ms {'reached' if row['worst_ms'] <= BAR else 'MISSED'}"
                    print(
                        f"{row['what']:58} {row['ms']:9.3f} ms, worst {row['worst_ms']:9.3f}; score "
                        f"{row['score_ms']:.3f}, counters {row['counts_ms']:.3f}; {row['burning']:,} burning, "
                        f"{row['gone']:,} gone {bar or ''}",
                        flush=True,
                    )
    first = first_use()
    if options.json:
        print(json.dumps([*rows, {"what": "first timestep of a process, CPU seconds", **first}], indent=1))
    else:
        print(f"first timestep of a process: {first['compiling']:.1f} s compiling, {first['cached']:.3f} s from cache")


if __name__ == "__main__":
    main()
