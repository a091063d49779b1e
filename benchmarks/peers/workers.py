"""One environment of a peer, or ours, stepped in a process of its own; ``compare.py`` starts it.

The process prints ``ready``, then for each line with a number of CPU seconds that it reads it steps for that long
and prints ``[agent-steps, CPU seconds]``. All step uniformly random actions drawn beforehand, start finished
episodes anew, and make the observations that their users get. The two that only burn count cells that caught fire
instead.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

#: One core: the process is bound to it, so threads of a library can only take turns.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

#: What JAX calls a tree: arrays in nested containers.
Tree: TypeAlias = Any

#: Steps of a batch: the clock is read after so many.
CHUNK = 128


def ours(n: int, envs: int, observation: str) -> Callable[[], int]:
    """CUBE in batches, in placed instances of the curriculum; episodes of 500 steps, started anew when over."""
    import numpy as np

    from teamworld.worlds.cube import vector_env

    env = vector_env(n=n, num_envs=envs, observation=observation, copy=False)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 5, (envs, n)).astype(np.int8) for _ in range(CHUNK)]

    def play() -> int:
        for action in actions:
            env.step(action)
        return CHUNK * envs * n

    return play


def gymnasium(name: str, n: int) -> Callable[[], int]:
    """One environment with a Gymnasium interface: lbforaging or rware."""
    import warnings

    warnings.filterwarnings("ignore")
    import gymnasium
    import lbforaging  # noqa: F401  (registers its environments, as does the next)
    import rware  # noqa: F401

    env = gymnasium.make(name)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(CHUNK)]

    def play() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return CHUNK * n

    return play


def vmas(scenario: str, n: int, envs: int) -> Callable[[], int]:
    """A batch of VMAS on the CPU, with its own discrete actions."""
    import torch
    import vmas

    torch.set_num_threads(1)
    env = vmas.make_env(
        scenario=scenario, num_envs=envs, device="cpu", continuous_actions=False, seed=0, n_agents=n, max_steps=500
    )
    env.reset()
    steps = 16
    actions = [[env.get_random_action(agent) for agent in env.agents] for _ in range(steps)]

    def play() -> int:
        with torch.no_grad():
            for action in actions:
                _, _, done, _ = env.step(action)
                if done.all():
                    env.reset()
                elif done.any():
                    for index in done.nonzero().flatten().tolist():
                        env.reset_at(index)
        return steps * envs * n

    return play


def jaxmarl(name: str, n: int, envs: int) -> Callable[[], int]:
    """A batch of JaxMARL in one compiled loop; its ``step`` starts finished episodes anew."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import jax.numpy as jnp
    from jaxmarl import make

    env = make(name) if name == "overcooked" else make(name, num_agents=n, num_landmarks=n)
    key = jax.random.PRNGKey(0)
    seen, state = jax.vmap(env.reset)(jax.random.split(key, envs))
    drawn = {
        agent: jax.random.randint(jax.random.fold_in(key, index), (CHUNK, envs), 0, env.action_space(agent).n)
        for index, agent in enumerate(env.agents)
    }

    @jax.jit
    def chunk(carry: Tree) -> Tree:
        def step(carry: Tree, actions: Tree) -> tuple[Tree, None]:
            key, _, state = carry
            key, sub = jax.random.split(key)
            seen, state, *_ = jax.vmap(env.step)(jax.random.split(sub, envs), state, actions)
            return (key, seen, state), None

        return jax.lax.scan(step, carry, drawn)[0]

    carry = (key, seen, state)
    assert jnp.asarray(carry[0]).size  # jax is awake

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(chunk(carry))
        return CHUNK * envs * n

    return play


#: What both fires burn: meters of a cell's side; meters per second of wind, east; the map's middle is set alight.
CELL, WIND = 30.0, 8.0


def fire(side: int, mode: Literal["reference", "stochastic"], caught: int) -> Callable[[], int]:
    """The fire of our wildfire world on a flat forest in a steady wind, from one cell until so many cells caught."""
    import numpy as np

    from teamworld.worlds.wildfire import fire as kernels
    from teamworld.worlds.wildfire.state import FireRules, Terrain

    shape = (side, side)
    terrain = Terrain(
        land=np.full(shape, 3, np.uint8),
        trees=np.full(shape, 2, np.uint8),
        elevation=np.zeros(shape, np.uint16),
        moisture=np.full(shape, 0.4, np.float32),
        wind=np.stack([np.full(shape, WIND, np.float32), np.zeros(shape, np.float32)]),
        building=np.zeros(shape, np.bool_),
        burnable=np.ones(shape, np.bool_),
    )
    start = kernels.make_land(terrain, FireRules(mode=mode))
    middle = np.array([side // 2])
    kernels.ignite_cells(start, (middle + 1) * start.stride + middle + 1)

    def play() -> int:
        land = start.copy()
        while land.cells_caught < caught:
            kernels.step(land)
        return int(land.cells_caught)

    return play


def pyretechnics(side: int, minutes: float) -> Callable[[], int]:
    """The level-set fire of pyretechnics (Rothermel, timber litter) on the same flat land and wind, for some time."""
    import numpy as np
    from pyretechnics.eulerian_level_set import SpreadState, spread_fire_with_phi_field
    from pyretechnics.space_time_cube import SpaceTimeCube

    bands = int(minutes // 60) + 1
    shape = (bands, side, side)
    held = {
        "slope": 0.0, "aspect": 0.0, "fuel_model": 10, "canopy_cover": 0.0, "canopy_height": 0.0,
        "canopy_base_height": 0.0, "canopy_bulk_density": 0.0, "wind_speed_10m": WIND * 3.6, "upwind_direction": 270.0,
        "fuel_moisture_dead_1hr": 0.06, "fuel_moisture_dead_10hr": 0.07, "fuel_moisture_dead_100hr": 0.08,
        "fuel_moisture_live_herbaceous": 0.6, "fuel_moisture_live_woody": 0.9, "foliar_moisture": 0.9,
    }  # fmt: skip
    cubes = {name: SpaceTimeCube(shape, value) for name, value in held.items()}

    def play() -> int:
        state = SpreadState(shape).ignite_cell((side // 2, side // 2))
        done = spread_fire_with_phi_field(cubes, state, (60.0, CELL, CELL), start_time=0.0, max_duration=minutes)
        matrices = done["spread_state"].get_full_matrices(["fire_type"])
        return int(np.count_nonzero(matrices["fire_type"]))

    return play


WORKERS: dict[str, Callable[..., Callable[[], int]]] = {
    "ours": ours, "gymnasium": gymnasium, "vmas": vmas, "jaxmarl": jaxmarl,
    "fire": fire, "pyretechnics": pyretechnics,
}  # fmt: skip


def main() -> None:
    """Make the environment that the arguments name, then measure whenever asked."""
    kind, arguments = sys.argv[1], json.loads(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print must not stand among the answers
    play = WORKERS[kind](**arguments)
    play()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        window, done, begin = float(line), 0, time.process_time()
        while (passed := time.process_time() - begin) < window:
            done += play()
        print(json.dumps([done, passed]), file=answers, flush=True)


if __name__ == "__main__":
    main()
