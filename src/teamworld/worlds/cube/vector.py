"""CUBE as a vector environment: many episodes at once as arrays, for learning.

The physics and the observations are those of ``parallel_env``, bit by bit; here one call steps all environments, and
nothing is made for single agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.base.vector import NEXT_STEP, VectorBase, batched, reset_mask, reset_seeds, spaces
from teamworld.worlds.cube import physics
from teamworld.worlds.cube.autoreset import AutoReset
from teamworld.worlds.cube.levels import Placement, check_seed, layout_source
from teamworld.worlds.cube.observe import HEAVIEST, Pictures, Windows, largest_value
from teamworld.worlds.cube.state import ACTIONS, ForceScope, Layout, Rules, make_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymnasium.spaces import Space

Observations: TypeAlias = "npt.NDArray[Any] | None"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Step: TypeAlias = "tuple[Observations, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]"

_INT8 = np.dtype(np.int8)
#: More environments than this would not be stepped faster.
MAX_ENVS = 1_000_000
#: Attributes that are made anew in a copy.
_VIEWS = ("_kernel_args", "_results", "_frozen", "_expected")


def vector_env(
    n: int | None = None,
    *,
    num_envs: int = 1,
    observation: str = "grid",
    copy: bool = True,
    layout: Layout | None = None,
    grid_size: int | None = None,
    num_agents: int | None = None,
    blocks: Mapping[int, int] | None = None,
    max_steps: int = 500,
    step_cost: float = 0.01,
    deliver_reward: float = 1.0,
    force_scope: ForceScope = "chain",
) -> CubeVectorEnv:
    """Make ``num_envs`` CUBE environments that are stepped together.

    Args:
        n: Number of agents of the curriculum; sets the grid side and the blocks too.
        num_envs: Number of environments, E.
        observation: ``"grid"``: (E, K, K, 5) float32, the picture of ``parallel_env``, one for all agents of an
            environment; ``"window:R"``: (E, n, 2R + 1, 2R + 1) uint8, what each agent sees around it as classes of
            cells (``observe.EMPTY``, ``GOAL_COLUMN``, ``OUTSIDE``, ``MATE``, ``MATE`` + weight); ``"none"``.
        copy: True to return fresh arrays; False to return read-only ones that the next call overwrites.
        layout: Where every episode starts.
        grid_size: Side K of the grid, in cells.
        num_agents: Number of agents.
        blocks: Weight -> count.
        max_steps: Steps after which an unfinished episode is truncated.
        step_cost: Taken from the reward at each step.
        deliver_reward: Reward for each unit of delivered weight, divided by the number of agents.
        force_scope: Whose force a chain feels: ``"chain"`` or ``"rear"``.

    Raises:
        UserError: If an argument cannot be used.
    """
    if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or not 1 <= num_envs <= MAX_ENVS:
        raise UserError(f"num_envs must be an integer from 1 to {MAX_ENVS}, got {num_envs!r}")
    radius = _radius(observation)
    source = layout_source(n, layout=layout, grid_size=grid_size, num_agents=num_agents, blocks=blocks)
    rules = Rules(max_steps=max_steps, step_cost=step_cost, deliver_reward=deliver_reward, force_scope=force_scope)
    try:
        return CubeVectorEnv(source, rules, int(num_envs), radius, bool(copy))
    except MemoryError:
        raise UserError(f"{num_envs} environments do not fit into memory: take fewer, or a smaller window") from None


def _radius(observation: object) -> int | None:
    """Return the radius of windows, -1 for grids, None for no observations."""
    if observation == "none":
        return None
    if observation == "grid":
        return -1
    match = re.fullmatch(r"window:([0-9]{1,3})", observation) if isinstance(observation, str) else None
    if match is None:
        raise UserError(
            f"observation must be 'grid', 'window:R' with a radius R from 0 to 999, or 'none', got {observation!r}"
        )
    return int(match[1])


class CubeVectorEnv(VectorBase):
    """E episodes of CUBE at once, with the interface of Gymnasium's vector environments.

    **Actions**: integers of shape (E, n): 0 stay, 1 up, 2 down, 3 left, 4 right. Other numbers act as stay. A
    contiguous int8 array is used as it is.

    **Observations**: see ``vector_env``.

    **Rewards, terminations, truncations**: shape (E,), float64 and bool. A team shares its reward, so there is one
    number for all agents of an environment: ``-step_cost + deliver_reward * delivered weight / n``.

    **Next-step autoreset**: an environment that finished in one step ignores its actions in the next: it starts a new
    episode and returns its first observation, with reward 0 and both flags False.

    **Seeds**: ``reset(seed=s)`` gives environment e the seed s + e; it then plays the episodes that ``parallel_env``
    plays after ``reset(seed=s + e)``, ``reset()``, ``reset()``, ... Without any seed s is 0. A list gives one seed
    for each environment. A fixed layout stays.

    **Infos**: always empty.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "cube_v0", "render_modes": [], "autoreset_mode": NEXT_STEP}
    spec: Any = None
    render_mode: str | None = None
    closed: bool = False

    def __init__(self, source: Layout | Placement, rules: Rules, num_envs: int, radius: int | None, copy: bool) -> None:
        """Use ``vector_env``."""
        first, stream = (source, None) if isinstance(source, Layout) else (source.first, source.stream)
        self.num_envs = num_envs
        self.num_agents = len(first.agents)
        self._state = make_state([first] * num_envs, rules)
        self._restarts = AutoReset(self._state, first, stream)
        self._copy = copy
        self._begun = False
        self._view: Pictures | Windows | None = None
        if radius is not None:
            self._view = Pictures(self._state) if radius < 0 else Windows(self._state, radius)
        self._bind()

    def _bind(self) -> None:
        """Make the views that a step needs."""
        self._kernel_args = self._state.kernel_args
        self._results = (self._state.reward, self._state.terminated, self._state.truncated)
        self._frozen = (frozen(self._state.reward), frozen(self._state.terminated), frozen(self._state.truncated))
        # No actions have the shape None: so a step before the first reset is noticed without a question at each step.
        self._expected = self._state.agent_cell.shape if self._begun else None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or pickle keeps: no views, which would drift apart from their arrays."""
        return {name: value for name, value in vars(self).items() if name not in _VIEWS}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take what was kept and make the views."""
        vars(self).update(kept)
        self._bind()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start new episodes and return their first observations and infos.

        Args:
            seed: s for the seeds s, s + 1, ...; or one seed for each environment; None to go on with the streams.
            options: ``{"reset_mask": bool array of shape (E,)}`` resets some environments and leaves the others as
                they are; nothing else is known.

        Raises:
            UserError: If a seed or an option cannot be used.
        """
        which = np.flatnonzero(reset_mask(options, self.num_envs, self._begun)).astype(np.int32)
        seeds = reset_seeds(seed, self.num_envs, self._begun, check_seed)
        for env in which.tolist():
            if (own_seed := seeds[env]) is not None:
                self._restarts.seed(env, own_seed)
        self._restart(which)
        self._begun = True
        self._expected = self._state.agent_cell.shape
        return self._look(), {}

    def step(self, actions: npt.NDArray[np.int8]) -> Step:
        """Let all agents of all environments act: observations, rewards, terminations, truncations, infos.

        Args:
            actions: Integers of shape (E, n); int8 arrays in C order are the fastest.

        Raises:
            UserError: If ``reset`` was never called, or the actions are not integers or their shape is wrong.
        """
        if (
            type(actions) is not np.ndarray
            or actions.dtype is not _INT8
            or actions.shape != self._expected
            or not actions.flags.carray
        ):
            if not self._begun:
                raise UserError("the episodes have not begun: call reset() before step()")
            actions = physics.as_int8(actions, self.num_envs, self.num_agents)
        finished = physics.advance(actions, *self._kernel_args)
        if finished:
            self._restart(self._state.waiting[:finished])
        if not self._copy:
            return self._look(), *self._frozen, {}
        reward, terminated, truncated = self._results
        return self._look(), reward.copy(), terminated.copy(), truncated.copy(), {}

    def _restart(self, envs: npt.NDArray[np.int32]) -> None:
        if self._view is not None:  # first, for those that are placed before one is found to have no room
            self._view.restart(envs)
        self._restarts.restart(envs)

    def _look(self) -> Observations:
        return None if self._view is None else self._view.look(self._copy)

    def close(self, **kwargs: Any) -> None:
        """Note that the environments are no longer needed; there is nothing to close and ``kwargs`` are not used."""
        self.closed = True

    @cached_property
    def single_action_space(self) -> Space[Any]:
        """What one team may do: n actions."""
        space: Space[Any] = spaces().MultiDiscrete([len(ACTIONS)] * self.num_agents, dtype=np.int8)
        return space

    @cached_property
    def action_space(self) -> Space[Any]:
        """What all teams may do: shape (E, n)."""
        return batched(self.single_action_space, self.num_envs)

    @cached_property
    def single_observation_space(self) -> Space[Any]:
        """The observations of one environment.

        Raises:
            UserError: If there are none.
        """
        if self._view is None:
            raise UserError("there are no observations: make the environment with observation='grid' or 'window:R'")
        shape = self._view.shape[1:]
        windows = isinstance(self._view, Windows)
        most = HEAVIEST if windows else largest_value(self._state)
        space: Space[Any] = spaces().Box(0, most, shape, np.uint8 if windows else np.float32)
        return space

    @cached_property
    def observation_space(self) -> Space[Any]:
        """The observations of all environments."""
        return batched(self.single_observation_space, self.num_envs)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
