"""CUBE as a PettingZoo parallel environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.worlds.base.vector import (
    RENDER_MODES,
    ParallelBase,
    RenderMode,
    check_render_mode,
    given_actions,
    need_pettingzoo,
    spaces,
)
from teamworld.worlds.cube import draw, physics
from teamworld.worlds.cube.levels import Placement, check_seed, layout_source
from teamworld.worlds.cube.observe import CHANNELS, Observer, info_lists, largest_value
from teamworld.worlds.cube.state import ForceScope, Layout, Rules, load, make_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from gymnasium.spaces import Box, Discrete

Info = dict[str, Any]


def parallel_env(
    n: int | None = None,
    *,
    layout: Layout | None = None,
    grid_size: int | None = None,
    num_agents: int | None = None,
    blocks: Mapping[int, int] | None = None,
    max_steps: int = 500,
    step_cost: float = 0.01,
    deliver_reward: float = 1.0,
    force_scope: ForceScope = "chain",
    view_radius: int | None = None,
    render_mode: RenderMode | None = None,
) -> CubeEnv:
    """Make a CUBE environment with the PettingZoo parallel interface.

    With ``n`` it is the curriculum; with ``layout`` a fixed scene; with some of ``grid_size``, ``num_agents`` and
    ``blocks`` a custom size whose missing values are 15, 3 and {1: 3, 2: 2, 3: 1}, as they are without any
    argument.

    Args:
        n: Number of agents of the curriculum; sets the grid side and the blocks too.
        layout: Where everything starts, at every reset.
        grid_size: Side K of the grid, in cells.
        num_agents: Number of agents.
        blocks: Weight -> count.
        max_steps: Steps after which an unfinished episode is truncated.
        step_cost: Taken from each agent's reward at each step.
        deliver_reward: Reward for each unit of delivered weight, divided by the number of agents.
        force_scope: Whose force a chain feels: ``"chain"`` or ``"rear"``.
        view_radius: None to show everything to everybody in one shared array; else cells further away than this
            are blank in an agent's own array, except the goal channel.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    need_pettingzoo()
    source = layout_source(n, layout=layout, grid_size=grid_size, num_agents=num_agents, blocks=blocks)
    rules = Rules(max_steps=max_steps, step_cost=step_cost, deliver_reward=deliver_reward, force_scope=force_scope)
    return CubeEnv(source, rules, view_radius=view_radius, render_mode=render_mode)


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
        rules: Rules,
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
