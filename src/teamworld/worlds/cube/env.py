"""CUBE as environments for learning: one episode with PettingZoo's interface, many at once with Gymnasium's.

The physics, rewards, placements and observations of both are the same, bit by bit; one call of the vector environment
steps all episodes, and nothing is made for single agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.base.array_interface import Info, RenderMode, is_integer, spaces
from teamworld.worlds.base.parallel_environment import TeamEnv, TeamStep, parallel_metadata
from teamworld.worlds.base.vector_environment import (
    Observations,
    TeamVectorEnv,
    VectorStep,
    make_environments,
    vector_metadata,
)
from teamworld.worlds.cube import draw, physics
from teamworld.worlds.cube.autoreset import AutoReset
from teamworld.worlds.cube.levels import Placement
from teamworld.worlds.cube.observe import (
    AGENT_INDEX,
    CHANNEL_NAMES,
    CHANNELS,
    HEAVIEST,
    Observer,
    Pictures,
    Windows,
    frozen,
    info_lists,
    largest_value,
)
from teamworld.worlds.cube.state import ACTIONS, EpisodeRules, ForceScope, Layout, load, make_state

if TYPE_CHECKING:
    import numpy.typing as npt
    from gymnasium.spaces import Box, Discrete, Space

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


def _instance(n: int | None, options: Mapping[str, Any]) -> tuple[Placement, EpisodeRules]:
    sizes = {name: options[name] for name in ("layout", "grid_size", "num_agents", "blocks") if name in options}
    rules = {name: value for name, value in options.items() if name not in sizes}
    return Placement(n, **sizes), EpisodeRules(**rules)


def parallel_env(
    n: int | None = None,
    *,
    view_radius: int | None = None,
    agent_indicator: bool = False,
    render_mode: RenderMode | None = None,
    **options: Unpack[InstanceOptions],
) -> CubeEnv:
    """Make a CUBE environment with the PettingZoo parallel interface.

    Args:
        n: Number of agents of the curriculum; sets the grid side and the blocks too.
        view_radius: None to show everything to everybody in one shared array; else cells further away than this
            are blank in an agent's own array, except the goal channel.
        agent_indicator: Add a channel that is 1 where the agent itself stands, so that one network can play all
            agents; each then has an array of its own. Channels by name: ``env.channels``.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.
        options: See ``InstanceOptions``.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    return CubeEnv(
        *_instance(n, options), view_radius=view_radius, agent_indicator=agent_indicator, render_mode=render_mode
    )


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
    radius = _radius(observation)
    placement, rules = _instance(n, options)
    return make_environments(
        lambda count: CubeVectorEnv(placement, rules, count, radius, bool(copy)), num_envs, MAX_ENVS, "a smaller window"
    )


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


class CubeEnv(TeamEnv["npt.NDArray[np.float32]", "Box", "Discrete"]):
    """Agents push square blocks, alone or together, into the right-most column of a grid.

    **Agents** are ``agent_0`` ... ``agent_{n-1}``; all act at once and live until the episode ends.

    **Actions**: Discrete(5): 0 stay, 1 up, 2 down, 3 left, 4 right. Other numbers act as stay.

    **Observations**: (K, K, 5) float32: 1 where an agent stands; weight of the block on the cell; 1 in the goal
    column; agent index + 1; block id + 1; with ``agent_indicator`` a sixth channel: 1 where the agent itself stands.
    ``channels`` has their names. One read-only array a step is shared by all agents, unless a view radius or the
    indicator is set; no array ever changes after it was returned. Copy one to write into it.

    **Rewards**: each agent gets ``-step_cost + deliver_reward * delivered weight / n``.

    **End**: terminated when no block is left, else truncated after ``max_steps``. The last step returns values for
    all agents, then ``agents`` is empty and ``step`` needs a ``reset`` first.

    **Infos**: for each agent ``{"agents": rows of (name, id, position), "blocks": rows of (id, weight, position)}``;
    the rows are made when first read.

    **Reset**: ``reset(seed=...)`` restarts the stream of placements; ``reset()`` draws the next one, from seed 0 if
    no seed was ever given. A fixed layout stays. ``options`` are accepted, as the interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = parallel_metadata("cube_v0", 10)

    def __init__(
        self,
        placement: Placement,
        rules: EpisodeRules,
        *,
        view_radius: int | None = None,
        agent_indicator: bool = False,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Use ``parallel_env``."""
        if view_radius is not None and not is_integer(view_radius, 0):
            raise UserError(f"view_radius must be None or an integer of at least 0, got {view_radius!r}")
        self._placement = placement
        self._view_radius, self._has_indicator = view_radius, bool(agent_indicator)
        self.channels = (*CHANNEL_NAMES, "self") if agent_indicator else CHANNEL_NAMES
        first = placement.first
        self._state = make_state(first, rules)
        self._observer = Observer(self._state)
        agents = [f"agent_{i}" for i in range(self._state.num_agents)]
        shape = (first.grid_size, first.grid_size, CHANNELS)
        # One object for all agents: at K = 256 a Box holds 3 MB of bounds.
        largest = float(largest_value(self._state))
        self.state_space: Box = spaces().Box(0.0, largest, shape, np.float32)
        own = (*shape[:2], len(self.channels))
        seen: Box = self.state_space if own == shape else spaces().Box(0.0, largest, own, np.float32)
        actions: list[Discrete] = [spaces().Discrete(len(ACTIONS)) for _ in agents]
        super().__init__(agents, seen, actions, render_mode)

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._placement.seed(seed)
        load(self._state, 0, self._placement.draw())
        self._observer.restart()

    def _play(self, actions: list[Any]) -> TeamStep:
        state = self._state
        physics.step(state, actions)
        return TeamStep(float(state.reward[0]), bool(state.terminated[0]), bool(state.truncated[0]))

    def _observe(self, agents: list[str]) -> dict[str, npt.NDArray[np.float32]]:
        self._seen = self._observer.look()
        if self._view_radius is None:
            pictures = dict.fromkeys(agents, self._seen)
        else:
            pictures = dict(zip(agents, self._observer.windows(self._view_radius), strict=True))
        return {a: self._with_self(a, picture) for a, picture in pictures.items()} if self._has_indicator else pictures

    def _with_self(self, agent: str, picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return a picture with one more channel: 1 where the agent stands."""
        whole = np.zeros((*picture.shape[:2], len(self.channels)), np.float32)
        whole[..., :CHANNELS] = picture
        number = self.possible_agents.index(agent)
        whole[..., CHANNELS] = self._seen[..., AGENT_INDEX] == number + 1
        whole.flags.writeable = False
        return whole

    def _infos(self, agents: list[str]) -> dict[str, Info]:
        agent_rows, block_rows = info_lists(self._state, self.possible_agents)
        return {agent: {"agents": agent_rows, "blocks": block_rows} for agent in agents}

    def _observe_all(self) -> npt.NDArray[np.float32]:
        return self._seen

    def _draw(self, as_text: bool) -> npt.NDArray[np.uint8] | str:
        snapshot = draw.snapshot(self._state)
        return draw.text(snapshot) if as_text else draw.frame(snapshot)


class CubeVectorEnv(TeamVectorEnv):
    """E episodes of CUBE at once, with the interface of Gymnasium's vector environments.

    **Actions**: integers of shape (E, n): 0 stay, 1 up, 2 down, 3 left, 4 right. Other numbers act as stay. A
    contiguous int8 array is used as it is.

    **Observations**: see ``vector_env``; ``channels`` has the names of a grid's channels. In the middle of a window
    stands the agent itself.

    **Rewards, terminations, truncations**: shape (E,), float64 and bool. A team shares its reward, so there is one
    number for all agents of an environment: ``-step_cost + deliver_reward * delivered weight / n``.

    **Next-step autoreset**: an environment that finished in one step ignores its actions in the next: it starts a new
    episode and returns its first observation, with reward 0 and both flags False.

    **Seeds**: ``reset(seed=s)`` gives environment e the seed s + e; it then plays the episodes that ``parallel_env``
    plays after ``reset(seed=s + e)``, ``reset()``, ``reset()``, ... Without any seed s is 0. A list gives one seed
    for each environment. A fixed layout stays.

    **Infos**: always empty.
    """

    metadata: ClassVar[dict[str, Any]] = vector_metadata("cube_v0")

    def __init__(
        self, placement: Placement, rules: EpisodeRules, num_envs: int, radius: int | None, copy: bool
    ) -> None:
        """Use ``vector_env``."""
        first = placement.first
        super().__init__(num_envs, len(first.agents), copy)
        self._state = make_state([first] * num_envs, rules)
        self._restarts = AutoReset(self._state, first, placement.stream)
        self._view: Pictures | Windows | None = None
        self.channels = CHANNEL_NAMES if radius == -1 else ()
        if radius is not None:
            self._view = Pictures(self._state) if radius < 0 else Windows(self._state, radius)
        self._bind()

    def _bind(self) -> None:
        """Make the views that a step needs."""
        self._kernel_args = self._state.kernel_args
        self._results = (self._state.reward, self._state.terminated, self._state.truncated)
        self._frozen = (frozen(self._state.reward), frozen(self._state.terminated), frozen(self._state.truncated))
        # No actions have the shape None: so a step before the first reset is noticed without a question at each step.
        self._expected = self._state.agent_cell.shape if self._has_begun else None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or pickle keeps: no views, which would drift apart from their arrays."""
        return {name: value for name, value in vars(self).items() if name not in _VIEWS}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take what was kept and make the views."""
        vars(self).update(kept)
        self._bind()

    def step(self, actions: npt.NDArray[np.int8]) -> VectorStep:
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
            if not self._has_begun:
                raise UserError("the episodes have not begun: call reset() before step()")
            actions = physics.as_int8(actions, self.num_envs, self.num_agents)
        finished = physics.advance(actions, *self._kernel_args)
        if finished:
            self._restart(self._state.waiting[:finished])
        if not self._copy:
            return self._observe(), *self._frozen, {}
        reward, terminated, truncated = self._results
        return self._observe(), reward.copy(), terminated.copy(), truncated.copy(), {}

    def _seed(self, env: int, seed: int) -> None:
        self._restarts.seed(env, seed)

    def _restart(self, envs: npt.NDArray[np.int32]) -> None:
        if self._view is not None:  # first, for those that are placed before one is found to have no room
            self._view.restart(envs)
        self._restarts.restart(envs)
        self._expected = self._state.agent_cell.shape

    def _observe(self) -> Observations:
        return None if self._view is None else self._view.look(self._copy)

    def _team_action_space(self) -> Space[Any]:
        space: Space[Any] = spaces().MultiDiscrete([len(ACTIONS)] * self.num_agents, dtype=np.int8)
        return space

    def _team_observation_space(self) -> Space[Any]:
        if self._view is None:
            raise UserError("there are no observations: make the environment with observation='grid' or 'window:R'")
        is_windows = isinstance(self._view, Windows)
        most = HEAVIEST if is_windows else largest_value(self._state)
        shape, dtype = self._view.shape[1:], np.uint8 if is_windows else np.float32
        space: Space[Any] = spaces().Box(0, most, shape, dtype)
        return space
