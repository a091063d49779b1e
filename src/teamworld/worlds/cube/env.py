"""CUBE as environments for learning: one episode with PettingZoo's interface, many at once with Gymnasium's.

The physics, rewards, placements and observations of both are the same, bit by bit; one call of the vector environment
steps all episodes, and nothing is made for single agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypedDict, Unpack

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.worlds.base.array_interface import (
    NEXT_STEP,
    RENDER_MODES,
    ParallelBase,
    RenderMode,
    VectorBase,
    batched,
    check_render_mode,
    given_actions,
    need_pettingzoo,
    reset_mask,
    reset_seeds,
    spaces,
)
from teamworld.worlds.cube import draw, physics
from teamworld.worlds.cube.autoreset import AutoReset
from teamworld.worlds.cube.levels import Placement, check_seed, layout_source
from teamworld.worlds.cube.observe import (
    CHANNELS,
    HEAVIEST,
    Observer,
    Pictures,
    Windows,
    info_lists,
    largest_value,
)
from teamworld.worlds.cube.state import ACTIONS, EpisodeRules, ForceScope, Layout, load, make_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymnasium.spaces import Box, Discrete, Space

Info: TypeAlias = dict[str, Any]
Observations: TypeAlias = "npt.NDArray[Any] | None"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Step: TypeAlias = "tuple[Observations, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]"

_INT8 = np.dtype(np.int8)
#: More environments than this would not be stepped faster.
MAX_ENVS = 1_000_000
#: Attributes that are made anew in a copy.
_VIEWS = ("_kernel_args", "_results", "_frozen", "_expected")


class InstanceOptions(TypedDict, total=False):
    """The instance and its rules, for both kinds of environments."""

    layout: Layout | None
    """Where everything starts, at every reset."""
    grid_size: int | None
    """Side K of the grid, in cells; 15 if neither n nor a layout is given."""
    num_agents: int | None
    """Number of agents; 3 if neither n nor a layout is given."""
    blocks: Mapping[int, int] | None
    """Weight -> count; {1: 3, 2: 2, 3: 1} if neither n nor a layout is given."""
    max_steps: int
    """Steps after which an unfinished episode is truncated; 500 by default."""
    step_cost: float
    """Taken from each agent's reward at each step; 0.01 by default."""
    deliver_reward: float
    """Reward for each unit of delivered weight, divided by the number of agents; 1 by default."""
    force_scope: ForceScope
    """Whose force a chain feels: ``"chain"``, the default, or ``"rear"``."""


def _instance(
    n: int | None,
    layout: Layout | None = None,
    grid_size: int | None = None,
    num_agents: int | None = None,
    blocks: Mapping[int, int] | None = None,
    **rules: Any,
) -> tuple[Layout | Placement, EpisodeRules]:
    source = layout_source(n, layout=layout, grid_size=grid_size, num_agents=num_agents, blocks=blocks)
    return source, EpisodeRules(**rules)


def parallel_env(
    n: int | None = None,
    *,
    view_radius: int | None = None,
    render_mode: RenderMode | None = None,
    **options: Unpack[InstanceOptions],
) -> CubeEnv:
    """Make a CUBE environment with the PettingZoo parallel interface.

    Args:
        n: Number of agents of the curriculum; sets the grid side and the blocks too.
        view_radius: None to show everything to everybody in one shared array; else cells further away than this
            are blank in an agent's own array, except the goal channel.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.
        options: See ``InstanceOptions``.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    need_pettingzoo()
    return CubeEnv(*_instance(n, **options), view_radius=view_radius, render_mode=render_mode)


def vector_env(
    n: int | None = None,
    *,
    num_envs: int = 1,
    observation: str = "grid",
    copy: bool = True,
    **options: Unpack[InstanceOptions],
) -> CubeVectorEnv:
    """Make ``num_envs`` CUBE environments that are stepped together.

    Args:
        n: Number of agents of the curriculum; sets the grid side and the blocks too.
        num_envs: Number of environments, E.
        observation: ``"grid"``: (E, K, K, 5) float32, the picture of ``parallel_env``, one for all agents of an
            environment; ``"window:R"``: (E, n, 2R + 1, 2R + 1) uint8, what each agent sees around it as classes of
            cells (``observe.EMPTY``, ``GOAL_COLUMN``, ``OUTSIDE``, ``TEAMMATE``, ``TEAMMATE`` + weight); ``"none"``.
        copy: True to return fresh arrays; False to return read-only ones that the next call overwrites.
        options: See ``InstanceOptions``.

    Raises:
        UserError: If an argument cannot be used.
    """
    if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or not 1 <= num_envs <= MAX_ENVS:
        raise UserError(f"num_envs must be an integer from 1 to {MAX_ENVS}, got {num_envs!r}")
    radius = _radius(observation)
    source, rules = _instance(n, **options)
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


class CubeEnv(ParallelBase):
    """Agents push square blocks, alone or together, into the right-most column of a grid.

    **Agents** are ``agent_0`` ... ``agent_{n-1}``; all act at once and live until the episode ends.

    **Actions**: Discrete(5): 0 stay, 1 up, 2 down, 3 left, 4 right. Other numbers act as stay.

    **Observations**: (K, K, 5) float32: 1 where an agent stands; weight of the block on the cell; 1 in the goal
    column; agent index + 1; block id + 1. One read-only array a step is shared by all agents, unless a view radius
    is set; no array ever changes after it was returned. Copy one to write into it.

    **Rewards**: each agent gets ``-step_cost + deliver_reward * delivered weight / n``.

    **End**: terminated when no block is left, else truncated after ``max_steps``. The last step returns values for
    all agents, then ``agents`` is empty and ``step`` needs a ``reset`` first.

    **Infos**: for each agent ``{"agents": rows of (name, id, position), "blocks": rows of (id, weight, position)}``;
    the rows are made when first read.

    **Reset**: ``reset(seed=...)`` restarts the stream of placements; ``reset()`` draws the next one, from seed 0 if
    no seed was ever given. A fixed layout stays. ``options`` are accepted, as the interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cube_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 10,
    }

    def __init__(
        self,
        source: Layout | Placement,
        rules: EpisodeRules,
        *,
        view_radius: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Use ``parallel_env``."""
        if view_radius is not None and (
            isinstance(view_radius, bool) or not isinstance(view_radius, (int, np.integer)) or view_radius < 0
        ):
            raise UserError(f"view_radius must be None or an integer of at least 0, got {view_radius!r}")
        check_render_mode(render_mode)
        self._source = source
        self._view_radius = view_radius
        self.render_mode = render_mode
        first = source if isinstance(source, Layout) else source.first
        self._state = make_state(first, rules)
        self._observer = Observer(self._state)
        self._seen: npt.NDArray[np.float32] | None = None
        self.possible_agents = [f"agent_{i}" for i in range(self._state.num_agents)]
        self.agents: list[str] = []
        shape = (first.grid_size, first.grid_size, CHANNELS)
        # One object for all agents: at K = 256 a Box holds 3 MB of bounds.
        self.state_space: Box = spaces().Box(0.0, float(largest_value(self._state)), shape, np.float32)
        self.observation_spaces: dict[str, Box] = dict.fromkeys(self.possible_agents, self.state_space)
        self.action_spaces: dict[str, Discrete] = {agent: spaces().Discrete(5) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        """Return the agent's observation space: a Box from 0 to max(n, heaviest weight, number of blocks)."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Discrete:
        """Return the agent's action space: Discrete(5)."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent not in self.action_spaces:
            raise UserError(f"there is no agent {agent!r}{suggest(str(agent), self.possible_agents)}")
        return agent

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, Info]]:
        """Start an episode and return observations and infos of all agents.

        Raises:
            UserError: If the seed is not an integer.
        """
        if seed is not None:
            seed = check_seed(seed)
        source = self._source
        if isinstance(source, Placement):
            if seed is not None:
                source.seed(seed)
            layout = source.draw()
        else:
            layout = source
        load(self._state, 0, layout)
        self._observer.restart()
        self.agents = self.possible_agents.copy()
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Let all agents act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: One integer for each agent in ``agents``.

        Raises:
            UserError: If no episode is running, an agent is missing or unknown, or an action is not an integer.
        """
        agents = self.possible_agents
        if not self.agents:
            begun = self._seen is not None
            raise UserError(f"the episode {'is over' if begun else 'has not begun'}: call reset() before step()")
        ordered = given_actions(actions, agents)
        physics.step(self._state, ordered)
        reward = float(self._state.reward[0])
        terminated, truncated = bool(self._state.terminated[0]), bool(self._state.truncated[0])
        if terminated or truncated:
            self.agents = []
        return (
            self._observations(),
            dict.fromkeys(agents, reward),
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            self._infos(),
        )

    def _observations(self) -> dict[str, npt.NDArray[np.float32]]:
        self._seen = self._observer.look()
        if self._view_radius is None:
            return dict.fromkeys(self.possible_agents, self._seen)
        return dict(zip(self.possible_agents, self._observer.windows(self._view_radius), strict=True))

    def _infos(self) -> dict[str, Info]:
        agents, blocks = info_lists(self._state, self.possible_agents)
        return {agent: {"agents": agents, "blocks": blocks} for agent in self.possible_agents}

    def state(self) -> npt.NDArray[np.float32]:
        """Return the observation of everything, read-only, also after the end: (K, K, 5) float32.

        Raises:
            UserError: Before the first reset.
        """
        if self._seen is None:
            raise UserError("the episode has not begun: call reset() before state()")
        return self._seen

    def render(self) -> npt.NDArray[np.uint8] | str:
        """Return a picture of now: uint8 of shape (height, width, 3), or a text, depending on ``render_mode``.

        Raises:
            UserError: If no render mode was chosen or no episode has begun.
        """
        if self.render_mode is None:
            raise UserError("no render mode was chosen: make the environment with render_mode='rgb_array' or 'ansi'")
        if self._seen is None:
            raise UserError("the episode has not begun: call reset() before render()")
        snapshot = draw.snapshot(self._state)
        return draw.text(snapshot) if self.render_mode == "ansi" else draw.frame(snapshot)

    def close(self) -> None:
        """Do nothing: there is no window to close."""


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

    def __init__(
        self, source: Layout | Placement, rules: EpisodeRules, num_envs: int, radius: int | None, copy: bool
    ) -> None:
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
