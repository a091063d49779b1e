"""How fast CUBE steps: through PettingZoo, in batches, and at first use.

Run ``python benchmarks/cube_step.py`` (add ``--quick`` for a look). Times are CPU time of one thread, best of
several windows; random actions are drawn beforehand. Targets are those of the design document, section 8.
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
    from collections.abc import Callable

    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState

#: Width of the blocks in the transport workload, for each number of agents.
WIDTH = {2: 1, 8: 2, 32: 4, 128: 4, 256: 8, 1024: 8}
ENDLESS = 2**31 - 2


class Workload(NamedTuple):
    """Environments and the actions to play in them, again and again."""

    state: CubeState
    actions: list[npt.NDArray[np.int8]]


def random_walk(n: int, envs: int) -> Workload:
    """Uniformly random actions in placed instances, after 256 steps of mixing."""
    from teamworld.worlds.cube.levels import layout_for
    from teamworld.worlds.cube.physics import step
    from teamworld.worlds.cube.state import Rules, make_state

    layouts = [layout_for(f"n{n}", seed) for seed in range(min(envs, 16))]
    state = make_state([layouts[env % len(layouts)] for env in range(envs)], Rules(max_steps=ENDLESS))
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 5, (envs, n)).astype(np.int8) for _ in range(256)]
    for action in actions:
        step(state, action)
    return Workload(state, actions)


def transport(n: int, envs: int) -> Workload:
    """Teams on both sides carry each block to and fro: every agent moves, a quarter of all moves are pushes."""
    from teamworld.worlds.cube.physics import step
    from teamworld.worlds.cube.state import LEFT, RIGHT, Block, Layout, Rules, make_state

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
    state = make_state([Layout(max(20, n), agents, blocks)] * envs, Rules(max_steps=ENDLESS))
    cycle = np.array([RIGHT, LEFT, LEFT, RIGHT], np.int8)  # push, turn, push back, turn
    phase = np.random.default_rng(0).integers(0, 4, (envs, teams))  # teams out of step, against easy prediction
    for t in range(3):
        step(state, np.repeat(np.where(t < phase, cycle[t], 0), 2 * width, axis=1).astype(np.int8))
    return Workload(state, [np.repeat(cycle[(t + phase) % 4], 2 * width, axis=1) for t in range(64)])


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


def batched(sizes: list[int], window: float) -> None:
    """Print steps of the array interface, state only."""
    from teamworld.worlds.cube.physics import step

    print("\nArray interface, state only; million agent-steps a second (targets at 64 environments, n = 8 to 256:")
    print("random >= 40, transport >= 90), and microseconds a call of one environment (n = 1024: <= 20)")
    print(f"{'n':>6} {'random E=64':>12} {'transport E=64':>15} {'random E=1, us':>15} {'transport E=1, us':>18}")
    for n in sizes:
        cells = []
        for envs in (64, 1):
            for workload in (random_walk, transport):
                state, actions = workload(n, envs)

                def play(state: CubeState = state, actions: list[npt.NDArray[np.int8]] = actions) -> None:
                    for action in actions:
                        step(state, action)

                took = seconds(play, window) / len(actions)
                cells.append(n * envs / took / 1e6 if envs > 1 else took * 1e6)
        print(f"{n:>6} {cells[0]:>12.1f} {cells[1]:>15.1f} {cells[2]:>15.2f} {cells[3]:>18.2f}")


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


def pettingzoo(sizes: list[int], window: float) -> None:
    """Print steps through PettingZoo with observations, one process per size."""
    print("\nPettingZoo, random actions, observations every step (targets: n = 10 <= 0.025 ms, n = 256 <= 0.25 ms,")
    print("resident memory <= 0.2 GB)")
    print(f"{'n':>6} {'ms a step':>10} {'steps a second':>15} {'GB resident':>12}")
    for n in sizes:
        command = [sys.executable, __file__, "--one", str(n), "--window", str(window)]
        got = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"{n:>6} {got['ms']:>10.4f} {1e3 / got['ms']:>15,.0f} {got['gb']:>12.3f}")


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


def first_use() -> None:
    """Print what the first step costs in a fresh process, with and without numba's cache."""
    names = ("import numpy", "import numba", "import cube", "make state", "first step", "first observation")
    print("\nFirst use, seconds (targets for the first step: cold <= 3, cached <= 0.3)")
    print(f"{'':>8} " + " ".join(f"{name:>17}" for name in names))
    with tempfile.TemporaryDirectory() as cache:
        for label in ("cold", "cached", "cached"):
            variables = {**os.environ, "NUMBA_CACHE_DIR": cache}
            done = subprocess.run(
                [sys.executable, "-c", FIRST_USE], check=True, capture_output=True, text=True, env=variables
            )
            print(f"{label:>8} " + " ".join(f"{value:>17.3f}" for value in json.loads(done.stdout)))


def main() -> None:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few sizes, short windows")
    parser.add_argument("--window", type=float, default=0.2, help="CPU seconds of one window")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    window = 0.03 if options.quick else options.window
    if options.one:
        print(json.dumps(one_pettingzoo(options.one, options.window)))
        return
    first_use()
    pettingzoo([2, 10, 256] if options.quick else [2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 128, 256], window)
    batched([8, 256] if options.quick else list(WIDTH), window)


if __name__ == "__main__":
    main()
