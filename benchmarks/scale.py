"""Does it scale? Bar and figure for large teams, for long runs, and for the cost of an episode.

Each row is measured in a process of its own; figures hold for a machine that does nothing else meanwhile.

    python benchmarks/scale.py
    python benchmarks/scale.py --row memory --episodes 200
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from teamworld.experiment.store.results import EpisodeRow

MEGA = 2**20
#: Agents and steps of the walk to the right.
WALKERS, STEPS = 1024, 1000
ROWS = ("cost", "n64", "n256", "arrays", "symbols", "memory")
#: Samples over a long run.
SAMPLES = 10


def report(what: str, bar: str, figure: str) -> None:
    """Print one row."""
    print(f"{what:58s} | {bar:24s} | {figure}", flush=True)


def peak() -> float:
    """Return the most memory this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (MEGA / 1024 if sys.platform != "darwin" else MEGA)


def resident() -> float:
    """Return the memory that this process holds now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / MEGA


def arrays() -> None:
    """Let many agents walk right through the PettingZoo interface."""
    from teamworld.worlds.cube import parallel_env
    from teamworld.worlds.cube.state import RIGHT

    env = parallel_env(n=WALKERS, max_steps=STEPS)
    env.reset(seed=0)
    actions = dict.fromkeys(env.agents, RIGHT)
    begun, steps = time.process_time(), 0
    while env.agents:
        env.step(actions)
        steps += 1
    spent = time.process_time() - begun
    report(f"parallel_env, n = {WALKERS}, always right", f"{STEPS} steps", f"{steps} steps, {spent:.1f} s CPU")


def symbols() -> None:
    """Let many agents walk right by one macro-action each."""
    from teamworld.language import Action
    from teamworld.worlds.cube.world import make

    world = make(f"n{WALKERS}", 0, STEPS, {})
    walk = Action("move", ("right", world.state.side))
    orders = dict.fromkeys(world.spec.agents, walk)
    begun, steps, over = time.process_time(), 0, None
    while over is None:
        over = world.step(orders).end_reason
        steps += 1
    spent = time.process_time() - begun
    report(f"symbolic world, n = {WALKERS}, {walk}", f"{STEPS} steps", f"{steps} steps, {spent:.1f} s CPU")


def team(level: str) -> None:
    """Run one episode of DR. WELL on rules with a large team."""
    from teamworld import run

    begun, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        (row,) = run("cube", level=level, max_steps=200, out=Path(folder) / "run")
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    figure = f"{wall:.1f} s, {cpu:.1f} s CPU, {row.summary.steps} steps, at most {peak():.0f} MB"
    report(f"DR. WELL on rules, {level}, 200 steps", "under 120 s", figure)


def memory(episodes: int) -> None:
    """Run many episodes in one process and see whether memory and time per episode grow."""
    from teamworld import run

    samples: list[tuple[int, float, float]] = []

    def progress(row: EpisodeRow) -> None:
        if row.episode % (episodes // SAMPLES) == 0:
            samples.append((row.episode, resident(), time.process_time()))

    with tempfile.TemporaryDirectory() as folder:
        run("cube", episodes=episodes, out=Path(folder) / "run", progress=progress)
    at, held, clock = (np.array(column) for column in zip(*samples, strict=True))
    print("  episodes:", *at)
    print("  MB held:", *(f"{one:.1f}" for one in held))
    costs = np.diff(clock) / np.diff(at) * 1000
    print("  ms CPU an episode:", *(f"{one:.0f}" for one in costs))
    kilobytes = float(np.polyfit(at, held, 1)[0]) * 1024
    report(
        f"memory over {episodes} episodes of paper-n2",
        "flat",
        f"{kilobytes:.2f} kB an episode, {held[-1] - held[0]:.1f} MB from first to last sample",
    )
    report("time of an episode, last over first sample", "about 1", f"{costs[-1] / costs[0]:.2f}")


def cost() -> None:
    """Time a whole command in a process of its own, imports and all; its third run, when the disk is warm."""
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            what = ["run", "cube", "--method", "drwell", "--level", "paper-n2", "--episodes", "10"]
            subprocess.run(
                [sys.executable, "-m", "teamworld", *what, "--out", str(Path(folder) / "run")],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report(
        "teamworld run, 10 episodes of paper-n2, DR. WELL on rules",
        "under 3 s, one core",
        f"{wall:.2f} s, {cpu:.2f} s CPU",
    )


def measure(row: str, episodes: int) -> None:
    """Measure one row."""
    match row:
        case "cost":
            cost()
        case "arrays":
            arrays()
        case "symbols":
            symbols()
        case "memory":
            memory(episodes)
        case _:
            team(row)


def main() -> None:
    """Measure one row here, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=1000, help="episodes of the long run, at least 30")
    parser.add_argument("--row", choices=ROWS, help="only this one")
    given = parser.parse_args()
    if given.episodes < 3 * SAMPLES:
        parser.error(f"--episodes takes at least {3 * SAMPLES}")
    if given.row is not None:
        measure(given.row, given.episodes)
        return
    for row in ROWS:
        subprocess.run([sys.executable, __file__, "--row", row, "--episodes", str(given.episodes)], check=True)


if __name__ == "__main__":
    main()
