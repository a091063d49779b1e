"""Wildfire as a PettingZoo parallel environment (wildfire spec A7, A9, A13, B14, B22, B28, B32)."""

from __future__ import annotations

from collections.abc import Mapping
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
from teamworld.worlds.wildfire import draw
from teamworld.worlds.wildfire.episodes import TYPES, Episodes, ScoreName, Setting, Turn, setting_for, whole_seed
from teamworld.worlds.wildfire.observe import LENGTH, names_of, observations
from teamworld.worlds.wildfire.physics import REASONS
from teamworld.worlds.wildfire.sightings import SEEN_CIVILIAN
from teamworld.worlds.wildfire.state import Cell
from teamworld.worlds.wildfire.units import GO_ANYWHERE, units_at

if TYPE_CHECKING:
    import numpy.typing as npt
    from gymnasium.spaces import Box, MultiDiscrete

    from teamworld.worlds.wildfire.incident import Rules
    from teamworld.worlds.wildfire.levels import Level
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.state import FireMode

Info = dict[str, Any]
Rows = dict[str, "npt.NDArray[np.float32]"]


def parallel_env(
    level: str | Level | Instance = "cut_trees_sparse_small",
    *,
    mode: FireMode = "reference",
    score: ScoreName = "reference",
    shared_map: bool = True,
    rules: Rules | None = None,
    max_steps: int | None = None,
    render_mode: RenderMode | None = None,
) -> WildfireEnv:
    """Make a wildfire environment with the PettingZoo parallel interface.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played at every reset as it is.
        mode: How fire spreads: ``"reference"`` or ``"stochastic"`` (B1).
        score: Whose change is the reward where a fire is fought: ``"reference"`` counts trees that agents cut as
            lost, ``"burnt"`` only what the fire destroyed (B22).
        shared_map: Whether what one sees, all have seen (A9); else everybody has a map of its own (B32).
        rules: What agents may do; those of the level's edition if None.
        max_steps: Steps after which an unfinished episode is truncated; the level's if None.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    need_pettingzoo()
    check_render_mode(render_mode)
    setting = setting_for(level, mode=mode, rules=rules, score=score, shared_map=shared_map, max_steps=max_steps)
    return WildfireEnv(setting, render_mode)


class WildfireEnv(ParallelBase):
    """Firefighters, bulldozers, drones and helicopters against a fire, or at one of its lesser tasks.

    **Agents** are ``firefighter_1``, ``drone_4``, ...: kind and number. Who is lost in the fire is terminated and
    leaves ``agents``; the others go on.

    **Actions**: MultiDiscrete, [type, x, y]; x and y from 0 to N - 1. Types from 0 on are the kind's primitives
    (``units``), -1 does nothing, -2 goes to any cell; [0, 0, 0] does nothing, so only -2 goes to (0, 0) (B14).

    **Observations**: (3728,) float32, the agent's row of ``observe``. Nothing in it depends on what was never seen.
    ``state()`` has the rows of all, and the manager's, which knows the truth.

    **Rewards**: all get the change of the team's score in the step.

    **End**: terminated for all when nothing is left to be done, else truncated at the step limit. ``agents`` is then
    empty, as it is when everybody is lost, and ``step`` needs a ``reset`` first.

    **Infos**: for each agent ``{"effect": did its action change the world, "moved": ..., "reason": why it did not
    do what was asked, or ""}``; empty at the start.

    **Reset**: ``reset(seed=s)`` plays the instance of seed s; ``reset()`` then draws the next, from seed 0 if no seed
    was ever given. ``options`` are accepted, as the interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "wildfire_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 5,
    }

    def __init__(self, setting: Setting, render_mode: RenderMode | None = None) -> None:
        """Use ``parallel_env``."""
        level = setting.level
        self.render_mode = render_mode
        self._episodes = Episodes(setting)
        self._rows: npt.NDArray[np.float32] | None = None
        units = units_at(Cell(0, 0), level.team)
        self.possible_agents = names_of(units)
        self._row_of = {agent: row for row, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        # One object for all agents: a Box holds its bounds.
        space: Box = spaces().Box(-1.0, float(max(SEEN_CIVILIAN, level.size - 1)), (LENGTH,), np.float32)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces: dict[str, MultiDiscrete] = {
            agent: spaces().MultiDiscrete(
                [TYPES[kind] - GO_ANYWHERE, level.size, level.size], start=[GO_ANYWHERE, 0, 0]
            )
            for agent, kind in zip(self.possible_agents, units.kind.tolist(), strict=True)
        }

    def observation_space(self, agent: str) -> Box:
        """Return the agent's observation space: a Box from -1 to the largest code or coordinate."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> MultiDiscrete:
        """Return the agent's action space: MultiDiscrete, [type, x, y]."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent not in self.action_spaces:
            raise UserError(f"there is no agent {agent!r}{suggest(str(agent), self.possible_agents)}")
        return agent

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Rows, dict[str, Info]]:
        """Start an episode and return observations and infos of all agents.

        Raises:
            UserError: If the seed is not an integer, or the level finds no place on the map of the seed.
        """
        if seed is not None:
            self._episodes.seed(whole_seed(seed))
        self._episodes.restart()
        self.agents = self.possible_agents.copy()
        return self._observations(self.agents), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, npt.ArrayLike]
    ) -> tuple[Rows, dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Let all living agents act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: [type, x, y], whole numbers, for each agent in ``agents``.

        Raises:
            UserError: If no episode is running, an agent is missing or unknown, or an action is not as expected.
        """
        agents = self.agents
        if not agents:
            begun = self._rows is not None
            raise UserError(f"the episode {'is over' if begun else 'has not begun'}: call reset() before step()")
        turn = self._episodes.step(self._given(actions))
        alive = self._episodes.incident.units.alive
        gone = {agent: turn.over or not alive[self._row_of[agent]] for agent in agents}
        cut = {agent: turn.truncated and not gone[agent] for agent in agents}
        self.agents = [agent for agent in agents if not (gone[agent] or cut[agent])]
        rewards = dict.fromkeys(agents, turn.reward)
        return self._observations(agents), rewards, gone, cut, self._infos(agents, turn)

    def _given(self, actions: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.int64]:
        """Return the actions as an array, those of agents that are lost empty."""
        given = given_actions(actions, self.agents)
        try:
            wanted = np.array(given)
        except ValueError:  # of different lengths
            wanted = np.empty(0)
        if wanted.shape != (len(given), 3) or wanted.dtype.kind not in "iu":
            wrong = next((one for one in given if not _whole(one)), given)
            raise UserError(f"an action is three whole numbers, [type, x, y], got {wrong!r}")
        out = np.zeros((len(self.possible_agents), 3), np.int64)
        out[[self._row_of[agent] for agent in self.agents]] = wanted
        return out

    def _observations(self, agents: list[str]) -> Rows:
        self._rows = observations(self._episodes.incident, self._episodes.sightings)
        self._rows.flags.writeable = False
        return {agent: self._rows[self._row_of[agent] + 1] for agent in agents}

    def _infos(self, agents: list[str], turn: Turn) -> dict[str, Info]:
        happened = turn.happened
        rows = zip(happened.effect.tolist(), happened.moved.tolist(), happened.reason.tolist(), strict=True)
        infos = [{"effect": effect, "moved": moved, "reason": REASONS[why]} for effect, moved, why in rows]
        return {agent: infos[self._row_of[agent]] for agent in agents}

    def state(self) -> npt.NDArray[np.float32]:
        """Return the rows of the manager and of all agents, read-only, also after the end: (A + 1, 3728) float32.

        Raises:
            UserError: Before the first reset.
        """
        if self._rows is None:
            raise UserError("the episode has not begun: call reset() before state()")
        return self._rows

    def render(self) -> npt.NDArray[np.uint8] | str:
        """Return a picture of now: uint8 of shape (height, width, 3), or a text, depending on ``render_mode``.

        Raises:
            UserError: If no render mode was chosen or no episode has begun.
        """
        if self.render_mode is None:
            raise UserError("no render mode was chosen: make the environment with render_mode='rgb_array' or 'ansi'")
        if self._rows is None:
            raise UserError("the episode has not begun: call reset() before render()")
        static, snapshot = draw.static(self._episodes.incident.instance), draw.snapshot(self._episodes.incident)
        return draw.text(static, snapshot) if self.render_mode == "ansi" else draw.frame(static, snapshot)

    def close(self) -> None:
        """Do nothing: there is no window to close."""


def _whole(action: object) -> bool:
    array = np.asarray(action)
    return array.shape == (3,) and array.dtype.kind in "iu"
