"""How long 2,000 agents take to see and to observe on 1000 x 1000 cells, and what their maps cost.

Run ``python benchmarks/wildfire_observe.py`` (add ``--quick`` for a look). Times are CPU time of one thread, median
over the steps. Agents are spread over the map and go their own ways as far as they can; fires burn. The bars are the
project's: 50 ms for a timestep with a shared map, observations included, and 1 GB in all.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.wildfire import observe, physics, text
from teamworld.worlds.wildfire.env import parallel_env, vector_env
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.levels import Team, instance_for, level_for

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import Incident

#: 2,000 agents: half of them on foot, as many drones as helicopters.
TEAM = Team(firefighters=1000, bulldozers=200, drones=400, helicopters=400)
#: Cells that a kind goes in a timestep.
SPEEDS = np.array([12.0, 8.0, 20.0, 30.0])
FIRES = 200


class Case(NamedTuple):
    """What one way to keep maps costs."""

    name: str
    step: float
    """Milliseconds of the physics."""
    look: float
    rows: float
    map_mb: float
    first_mb: float
    """Megabytes of the maps after the last step, and at the start."""


def spread_out(size: int, seed: int = 0) -> Incident:
    """Return an incident with the team all over the map and fires burning."""
    level = replace(level_for("darpa_500"), team=TEAM, size=size, edition="2025", max_steps=10**6)
    running = physics.begin_incident(instance_for(level, seed), seed)
    rng = np.random.default_rng(seed)
    agents = TEAM.size
    running.units.x[:], running.units.y[:] = rng.uniform(0, size - 1, (2, agents))
    for x, y in rng.integers(0, size, (FIRES, 2)).tolist():
        physics.ignite(running.land, x, y)
    return running


def measured(size: int, shared: bool, steps: int) -> Case:
    """Return the figures of one case."""
    running = spread_out(size)
    units = running.units
    rng = np.random.default_rng(1)
    seen = observe.begin_sightings(running, shared_map=shared)
    first = seen.nbytes / 1e6
    out = observe.observations(running, seen)
    times: dict[str, list[float]] = {"step": [], "look": [], "rows": []}
    for k in range(steps + 1):
        way = rng.uniform(0, 2 * np.pi, len(units))
        there = np.stack([units.x, units.y]) + SPEEDS[units.kind] * np.stack([np.cos(way), np.sin(way)])
        targets = np.clip(np.rint(there), 0, size - 1).astype(np.int64)
        actions = np.stack([np.zeros(len(units), np.int64), *targets], axis=1)
        for name, call in (
            ("step", lambda actions=actions: physics.step(running, actions)),
            ("look", lambda: seen.look(running)),
            ("rows", lambda: observe.observations(running, seen, out)),
        ):
            begin = time.thread_time()
            call()
            if k:  # the first compiles
                times[name].append(1000 * (time.thread_time() - begin))
    medians = {name: statistics.median(found) for name, found in times.items()}
    name = "one for the team" if shared else "one for each agent"
    return Case(name, **medians, map_mb=seen.nbytes / 1e6, first_mb=first)


def environments(steps: int) -> list[str]:
    """Return what a step of ``parallel_env`` with the team costs, and of ``vector_env`` with 64 small incidents."""
    size = 1000
    level = replace(level_for("darpa_500"), team=TEAM, size=size, edition="2025", max_steps=10**6)
    env = parallel_env(instance_for(level, 0))
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    took = []
    for _ in range(steps):
        goals = rng.integers(0, size, (len(env.agents), 2))
        actions = {agent: np.array([0, *goal]) for agent, goal in zip(env.agents, goals.tolist(), strict=True)}
        begin = time.thread_time()
        env.step(actions)
        took.append(1000 * (time.thread_time() - begin))
    lines = [f"parallel_env, {TEAM.size} agents on {size} x {size}: {statistics.median(took):.1f} ms a step"]
    envs = vector_env("suppress_fire_contain", num_envs=64, copy=False)
    envs.reset(seed=0)
    took = []
    for _ in range(steps):
        wanted = rng.integers(0, 60, (64, envs.num_agents, 3))
        wanted[..., 0] %= 2
        begin = time.thread_time()
        envs.step(wanted)
        took.append(1000 * (time.thread_time() - begin))
    middle = statistics.median(took)
    rate = 64 * envs.num_agents / middle
    lines.append(f"vector_env, 64 x suppress_fire_contain: {middle:.1f} ms a step, {rate:.0f} thousand agent steps/s")
    return lines


def words(size: int, tries: int) -> tuple[float, int]:
    """Return the mean milliseconds of a description, and its mean number of characters."""
    running = spread_out(size)
    seen = observe.begin_sightings(running)
    lengths = []
    begin = time.thread_time()
    for agent in np.linspace(0, TEAM.size - 1, tries).astype(int).tolist():
        lengths.append(len(text.describe(text.agent_situation(running, seen, agent))))
    return 1000 * (time.thread_time() - begin) / tries, round(statistics.mean(lengths))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    steps = 10 if parser.parse_args().quick else 60
    size = 1000
    print(f"{TEAM.size} agents on {size} x {size}, {steps} steps; CPU time of one thread, medians\n")
    print("map                 physics    look    rows     sum   maps at start   after")
    for shared in (True, False):
        case = measured(size, shared, steps)
        total = case.step + case.look + case.rows
        print(
            f"{case.name:18} {case.step:6.1f} ms {case.look:4.1f} ms {case.rows:4.1f} ms {total:4.1f} ms "
            f"{case.first_mb:9.1f} MB {case.map_mb:6.1f} MB"
        )
    rows = (TEAM.size + 1) * agents.LENGTH * 4 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\nrows of all: {rows:.1f} MB; peak of the process: {peak:.0f} MB")
    each, length = words(size, 100)
    print(f"description in words: {each:.2f} ms and {length} characters each")
    print("\n".join(environments(steps)))


if __name__ == "__main__":
    main()
