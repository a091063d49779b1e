"""What CUBE costs on this machine: time, memory and load of a step, and time of each macro-action.

Wall-clock figures belong to the machine that they were measured on. They go to a page, never into a log.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from math import fsum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.language import Action, AgentId
from teamworld.seeding import generator
from teamworld.worlds.cube import parallel_env
from teamworld.worlds.cube.state import RIGHT, Block, Layout
from teamworld.worlds.cube.symbolic_state import agent_name, entity
from teamworld.worlds.cube.world import CubeWorld

POLICIES = ("random", "always right")
#: The macro-actions of the published heat map, by our names, with the published names.
VERBS = {
    "move_to_block": "MoveToBlock",
    "push_block": "Push",
    "rendezvous": "Rendezvous",
    "idle": "Wait",
    "wait_agents": "WaitAgents",
    "yield_block": "YieldFace",
}
_WARM_UP, _LEAST, _MOST = 50, 50, 5000  # steps
_DRAWN = 256  # random joint actions, drawn before the clock starts
_LONG = 1_000_000  # ticks: no time-out in a measurement


class StepCost(NamedTuple):
    """Cost of a step through PettingZoo with observations, for one number of agents and one policy."""

    n: int
    policy: str
    steps: int
    """Steps measured, warm-up excluded."""
    mean: float
    """Seconds a step."""
    std: float
    """Standard deviation over steps, in seconds."""
    cpu: float
    """CPU seconds of the process per wall second of stepping without a pause, in per cent of one core."""
    gigabytes: float | None
    """Resident memory of the whole process, interpreter and libraries included; None where it cannot be read."""


class ActionCost(NamedTuple):
    """Time of one macro-action, for one number of agents."""

    n: int
    verb: str
    steps: int
    """Steps of the world measured, warm-up excluded."""
    seconds: float
    """Seconds of ``CubeWorld.step`` for each agent and step while every agent does this action."""


def step_costs(n: int, window: float) -> list[StepCost]:
    """Measure both policies at one size for ``window`` seconds each, in this process."""
    return [_step_cost(n, policy, window) for policy in POLICIES]


def step_costs_apart(n: int, window: float) -> list[StepCost]:
    """Measure one size in a process of its own, so that its memory is its own.

    Raises:
        UserError: The process failed.
    """
    try:
        (costs,) = process_pool.as_done(partial(step_costs, window=window), [n], 1)
    except BrokenProcessPool as error:
        raise UserError(
            f"measuring {n} agents failed ({error}): run it again, or with --quick for fewer agents"
        ) from None
    return costs


def _step_cost(n: int, policy: str, window: float) -> StepCost:
    env = parallel_env(n=n)
    rng = generator(0, "reproduce", "random", n)
    env.reset(seed=0)
    if policy == "random":
        actions = [dict(zip(env.agents, rng.integers(0, 5, n).tolist(), strict=True)) for _ in range(_DRAWN)]
    else:
        actions = [dict.fromkeys(env.agents, RIGHT)]
    times: list[float] = []
    wall_begun = cpu_begun = 0.0
    for count in range(_WARM_UP + _MOST):
        if count == _WARM_UP:
            times.clear()
            wall_begun, cpu_begun = time.perf_counter(), time.process_time()
        begun = time.perf_counter()
        env.step(actions[count % len(actions)])
        times.append(time.perf_counter() - begun)
        if count >= _WARM_UP + _LEAST and _over(times, window):
            break
        if not env.agents:
            env.reset()
    load = (time.process_time() - cpu_begun) / (time.perf_counter() - wall_begun)
    data = np.array(times)
    return StepCost(n, policy, len(data), float(data.mean()), float(data.std()), 100 * load, _resident())


def _over(times: list[float], window: float) -> bool:
    """Look at the sum now and then only: it costs as much as a small step."""
    return len(times) % 25 == 0 and fsum(times) >= window


def _resident() -> float | None:
    """Return this process's resident memory in gigabytes (Linux), its peak elsewhere on Unix, or None."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text("ascii").split()[1]) * resource.getpagesize() / 1e9
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


# ---- macro-actions


def action_cost(n: int, verb: str, window: float) -> ActionCost:
    """Measure one macro-action: seconds of ``step`` for each agent and step while every agent does it.

    The team stands in groups before blocks that it can move. It pushes them to the goal, walks across the grid to
    them, backs away from them, or waits; when the first agent is through, the world is set back and all begin again.
    A new order is part of the time, setting back is not. For ``wait_agents`` agent 0 idles, so that the others wait.

    Args:
        n: Number of agents, a power of two.
        verb: One of ``VERBS``.
        window: Seconds to measure.
    """
    world, orders = scenario(n, verb)
    for _ in _pass(world, orders):
        pass
    total, steps = 0.0, 0
    while total < window:
        for seconds in _pass(world, orders):
            total += seconds
            steps += 1
            if total >= window:
                break
    return ActionCost(n, verb, steps, total / (steps * n))


def scenario(n: int, verb: str) -> tuple[CubeWorld, dict[AgentId, Action]]:
    """Return a world in which every agent can do the action at once, and the orders to do it."""
    if verb not in VERBS or n < 1 or n & (n - 1):
        raise ValueError(f"expected a power of two and one of {', '.join(VERBS)}; got {n} and {verb}")
    side = max(20, n)
    width = max(1, 2 ** (n.bit_length() // 2 - 1))  # of a block, and so the number of agents before it
    near = verb in ("push_block", "rendezvous")
    col = 1 if near else side - width - 2
    stand = col - 1 if verb == "yield_block" else 0
    layout = Layout(
        side,
        tuple((row, stand) for row in range(n)),
        tuple(Block(width, row, col) for row in range(0, n, width)),
    )
    orders = {agent_name(i): _order(verb, i // width, n, side) for i in range(n)}
    if verb == "wait_agents" and n > 1:
        orders[agent_name(0)] = _order("idle", 0, n, side)
    return CubeWorld(layout, "measure", _LONG), orders


def _order(verb: str, block: int, n: int, side: int) -> Action:
    args: Mapping[str, tuple[object, ...]] = {
        "move_to_block": (entity(block), "left", _LONG),
        "push_block": (entity(block), side, _LONG),
        "rendezvous": (entity(block), "left", n, _LONG),
        "idle": (_LONG,),
        "wait_agents": (n, _LONG),
        "yield_block": (entity(block), side, _LONG),
    }
    return Action(verb, args[verb])  # type: ignore[arg-type]


def _pass(world: CubeWorld, orders: Mapping[AgentId, Action]) -> Iterator[float]:
    """Yield the seconds of each step until the first action is over, or for 100 steps."""
    world.reset(0)
    for count in range(100):
        begun = time.perf_counter()
        report = world.step(orders if count == 0 else {})
        yield time.perf_counter() - begun
        if report.end_reason is not None or any(outcome.status != "running" for outcome in report.outcomes.values()):
            return


def machine() -> dict[str, str]:
    """Return what the measured figures depend on."""
    import numba

    return {
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
