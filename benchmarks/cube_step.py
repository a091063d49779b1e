"""How fast CUBE steps: in batches through ``vector_env.step``, through PettingZoo, and at first use.

Run ``python benchmarks/cube_step.py`` (add ``--quick`` for a look). Times are CPU time of one thread, best of
several windows; random actions are drawn beforehand. The bars are those of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from teamworld.worlds.cube.env import CubeVectorEnv

#: Width of the blocks in the transport workload, for each number of agents.
WIDTH = {2: 1, 8: 2, 32: 4, 128: 4, 256: 8, 1024: 8}
#: The least rates of a batch without observations.
WALKING = {8: 40.0, 32: 40.0, 128: 40.0, 256: 40.0}
PUSHING = {8: 55.0, 32: 90.0, 128: 90.0, 256: 105.0}
ENDLESS = 2**31 - 2


class Workload(NamedTuple):
    """Environments and the actions to play in them, again and again."""

    env: CubeVectorEnv
    actions: list[npt.NDArray[np.int8]]


def random_walk(n: int, envs: int, observation: str = "none", copy: bool = True) -> Workload:
    """Uniformly random actions in placed instances, after 256 steps of mixing."""
    from teamworld.worlds.cube import vector_env

    env = vector_env(n, num_envs=envs, observation=observation, copy=copy, max_steps=ENDLESS)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 5, (envs, n), np.int8) for _ in range(256 if envs * n < 100_000 else 16)]
    for action in actions:
        env.step(action)
    return Workload(env, actions)


def transport(n: int, envs: int, observation: str = "none", copy: bool = True) -> Workload:
    """Teams on both sides carry each block to and fro: every agent moves, a quarter of all moves are pushes."""
    from teamworld.worlds.cube import Block, Layout, vector_env
    from teamworld.worlds.cube.state import LEFT, RIGHT

    width = WIDTH[n]
    teams = n // (2 * width)
    rows = [team * width + i for team in range(teams) for i in range(width)]
    agents = tuple(
        (row, col)
        for team in range(teams)
        for col in (5, 7 + width)  # touching the block on the left, one cell away on the right
        for row in rows[team * width : (team + 1) * width]
    )
    blocks = tuple(Block(width, team * width, 6) for team in range(teams))
    layout = Layout(max(20, n), agents, blocks)
    env = vector_env(layout=layout, num_envs=envs, observation=observation, copy=copy, max_steps=ENDLESS)
    env.reset()
    cycle = np.array([RIGHT, LEFT, LEFT, RIGHT], np.int8)  # push, turn, push back, turn
    phase = np.random.default_rng(0).integers(0, 4, (envs, teams))  # teams out of step, against easy prediction
    for t in range(3):
        env.step(np.repeat(np.where(t < phase, cycle[t], 0), 2 * width, axis=1).astype(np.int8))
    return Workload(env, [np.repeat(cycle[(t + phase) % 4], 2 * width, axis=1) for t in range(16)])


def seconds(call: Callable[[], object], window: float, windows: int = 5) -> float:
    """Return CPU seconds of one call: the best of several windows."""
    call()
    best = float("inf")
    for _ in range(windows):
        calls, begin = 0, time.thread_time()
        while (passed := time.thread_time() - begin) < window:
            call()
            calls += 1
        best = min(best, passed / calls)
    return best


class Row(NamedTuple):
    """One figure and the bar it has to reach."""

    table: str
    what: str
    value: float
    unit: str
    bar: float | None = None
    """The least rate, or the most time; None where there is no bar."""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is reached."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.unit == RATE else self.value <= self.bar


RATE = "M agent-steps/s"


def per_step(work: Workload, window: float, windows: int = 10) -> float:
    """Return CPU seconds of one call of ``vector_env.step``, the restarts it makes included."""
    env, actions = work

    def play() -> None:
        for action in actions:
            env.step(action)

    return seconds(play, window, windows) / len(actions)


def batched(sizes: list[int], window: float) -> Iterator[Row]:
    """Yield 64 environments through ``vector_env.step``."""
    for n in sizes:
        for workload, bar in ((random_walk, WALKING.get(n)), (transport, PUSHING.get(n))):
            for observation, least in (("none", bar), ("window:5", 20.0), ("grid", None)):
                if observation == "grid" and n == 1024:  # two arrays of 1.3 GB
                    continue
                for copy in (True, False):
                    took = per_step(workload(n, 64, observation, copy), window)
                    what = f"n = {n:<4} {workload.__name__:11} {observation:8} {'copy' if copy else 'own buffers'}"
                    yield Row("64 environments", what, n * 64 / took / 1e6, RATE, least)


def single(sizes: list[int], window: float) -> Iterator[Row]:
    """Yield one environment through ``vector_env.step``."""
    for n in sizes:
        for workload in (random_walk, transport):
            took = per_step(workload(n, 1), window)
            bar = 20.0 if n == 1024 else None
            yield Row("1 environment", f"n = {n:<4} {workload.__name__:11} none", took * 1e6, "us a step", bar)


def out_of_cache(window: float) -> Iterator[Row]:
    """Yield 1,024 environments of 1,024 agents: 2.1 GB of grids."""
    for workload in (random_walk, transport):
        took = per_step(workload(1024, 1024), window, 3)
        yield Row("1,024 environments", f"n = 1024 {workload.__name__:11} none", 1024**2 / took / 1e6, RATE, 38.0)


def episodes(window: float) -> Iterator[Row]:
    """Yield short episodes, placed anew at each autoreset, and what placing alone takes."""
    from teamworld.worlds.cube import vector_env

    for n in (8, 64):
        env = vector_env(n, num_envs=64, observation="none", max_steps=100)
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        took = per_step(Workload(env, [rng.integers(0, 5, (64, n), np.int8) for _ in range(101)]), window)
        every = np.arange(64, dtype=np.int32)
        placing = seconds(lambda restarts=env._restarts, every=every: restarts.restart(every), window)  # type: ignore[misc]
        yield Row("100-step episodes", f"n = {n:<4} random", n * 64 / took / 1e6, RATE)
        yield Row(
            "100-step episodes", f"n = {n:<4} restarts, part of all time", 100 * placing / (101 * took), "% of the time"
        )


def one_pettingzoo(n: int, window: float) -> dict[str, float]:
    """Measure one size through PettingZoo; meant for a process of its own, for an honest memory figure."""
    import psutil

    from teamworld.worlds.cube import parallel_env

    env = parallel_env(n=n, max_steps=ENDLESS)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [dict(zip(env.agents, rng.integers(0, 5, n).tolist(), strict=True)) for _ in range(100)]

    def play() -> None:
        for action in actions:
            env.step(action)

    took = seconds(play, window) / len(actions)
    return {"ms": took * 1e3, "gb": psutil.Process().memory_info().rss / 1e9}


def pettingzoo(sizes: list[int], window: float) -> Iterator[Row]:
    """Yield steps through PettingZoo with observations, one process per size."""
    for n in sizes:
        command = [sys.executable, __file__, "--one", str(n), "--window", str(window)]
        got = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        yield Row(
            "PettingZoo", f"n = {n:<4} random, observations", got["ms"], "ms a step", {10: 0.025, 256: 0.25}.get(n)
        )
        yield Row("PettingZoo", f"n = {n:<4} resident memory", got["gb"], "GB", 0.2 if n == 256 else None)


FIRST_USE = """
import time
marks = [time.perf_counter()]
def mark(): marks.append(time.perf_counter())
import numpy; mark()
import numba; mark()
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.observe import Observer
from teamworld.worlds.cube.state import make_state; mark()
state = make_state(layout_for("n4", 0)); watch = Observer(state); mark()
step(state, [[4, 4, 4, 4]]); mark()
watch.look(); mark()
print([round(b - a, 3) for a, b in zip(marks, marks[1:])])
"""


def first_use() -> Iterator[Row]:
    """Yield what the first step costs in a fresh process, with and without numba's cache."""
    names = ("import numpy", "import numba", "import cube", "make state", "first step", "first observation")
    with tempfile.TemporaryDirectory() as cache:
        for label, bar in (("cold", 3.0), ("cached", 0.3)):
            variables = {**os.environ, "NUMBA_CACHE_DIR": cache}
            done = subprocess.run(
                [sys.executable, "-c", FIRST_USE], check=True, capture_output=True, text=True, env=variables
            )
            for name, value in zip(names, json.loads(done.stdout), strict=True):
                yield Row("first use", f"{label}: {name}", value, "s", bar if name == "first step" else None)


def machine(window: float) -> Iterator[Row]:
    """Yield what the machine itself can do; the bars were set on one that copies 122 GB/s in L2 and 38 beyond cache."""
    for what, size in (("in L2", 2**18), ("beyond cache", 2**28)):
        source, target = np.ones(size, np.uint8), np.empty(size, np.uint8)
        took = seconds(lambda source=source, target=target: np.copyto(target, source), window)  # type: ignore[misc]
        yield Row("this machine", f"copying {size >> 10:,} kB, {what}", 2 * size / took / 1e9, "GB/s read and written")


def rows(quick: bool, window: float) -> Iterator[Row]:
    """Yield all rows."""
    yield from machine(window)
    yield from first_use()
    yield from pettingzoo([2, 10, 256] if quick else [2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 128, 256], window)
    yield from batched([8, 256] if quick else list(WIDTH), window)
    yield from single([8, 1024] if quick else list(WIDTH), window)
    yield from episodes(window)
    if not quick:
        yield from out_of_cache(window)


def main() -> None:
    """Parse the command line, measure, and print each figure as it comes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few sizes, short windows")
    parser.add_argument("--window", type=float, default=0.1, help="CPU seconds of one window")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of tables")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    window = 0.02 if options.quick else options.window
    if options.one:
        print(json.dumps(one_pettingzoo(options.one, options.window)))
        return
    found = []
    for row in rows(options.quick, window):
        if not options.json:
            if not found or found[-1].table != row.table:
                print(f"\n{row.table}")
            bar = "" if row.bar is None else f"bar {row.bar:g} {'reached' if row.holds else 'MISSED'}"
            print(f"  {row.what:42} {row.value:10.4g} {row.unit:16} {bar}", flush=True)
        found.append(row)
    if options.json:
        print(json.dumps([{**row._asdict(), "holds": row.holds} for row in found], indent=1))


if __name__ == "__main__":
    main()
