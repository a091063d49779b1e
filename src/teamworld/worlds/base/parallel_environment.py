"""The base of PettingZoo environments: one episode of a world, which each world fills with what is its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.worlds.base.agent_indicator import indicator_names, space_with_indicator, with_indicator
from teamworld.worlds.base.array_interface import (
    RENDER_MODES,
    Info,
    ParallelBase,
    RenderMode,
    actions_in_order,
    check_pettingzoo,
    check_render_mode,
    check_seed,
)

if TYPE_CHECKING:
    import numpy.typing as npt

Observation = TypeVar("Observation")
ObservationSpace = TypeVar("ObservationSpace")
ActionSpace = TypeVar("ActionSpace")


class TeamStep(NamedTuple):
    """The result of one step of a team."""

    reward: float
    """The same for all agents."""
    terminated: bool
    truncated: bool


def parallel_metadata(name: str, frames_per_second: int) -> dict[str, Any]:
    """Return the metadata of an environment, as PettingZoo reads it."""
    return {
        "name": name,
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": frames_per_second,
    }


class TeamEnv(ParallelBase, Generic[Observation, ObservationSpace, ActionSpace]):
    """The loop of an environment in which all agents act at once and share their reward.

    All agents stay in ``agents`` to the end of the episode, also one that is lost in a world: it is paid with the
    team, so that no agent's return is better for leaving early.

    Args:
        agents: Names of all agents.
        observation_space: Of each agent; one object for all, since a Box holds its bounds.
        action_spaces: Of each agent, in the order of ``agents``.
        render_mode: What ``render`` returns.
        fields: What each number of an observation's row is called; empty where it is no row.
        agent_indicator: Whether the row ends with a number for each agent, 1 for the agent itself.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or there is no such render mode.
    """

    #: The smallest seed; None where any integer is one.
    least_seed: ClassVar[int | None] = None

    def __init__(
        self,
        agents: Sequence[str],
        observation_space: ObservationSpace,
        action_spaces: Sequence[ActionSpace],
        render_mode: RenderMode | None,
        fields: Sequence[str] = (),
        agent_indicator: bool = False,
    ) -> None:
        check_pettingzoo()
        check_render_mode(render_mode)
        self._is_indicated = bool(agent_indicator)
        if self._is_indicated:
            observation_space = space_with_indicator(observation_space, len(agents))
        self.fields = (*fields, *(indicator_names(agents) if self._is_indicated else ()))
        self.render_mode = render_mode
        self.possible_agents = list(agents)
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = dict(zip(self.possible_agents, action_spaces, strict=True))
        self._has_begun = False

    # ---- what a world fills in

    @abstractmethod
    def _begin(self, seed: int | None) -> None:
        """Start the episode of a seed; without one, the next episode."""

    @abstractmethod
    def _play(self, actions: list[Any]) -> TeamStep:
        """Do one step; ``actions`` has those of ``agents``, in their order."""

    @abstractmethod
    def _observe(self, agents: list[str]) -> dict[str, Observation]:
        """Return what each of some agents sees now."""

    @abstractmethod
    def _infos(self, agents: list[str]) -> dict[str, Info]:
        """Return the infos of some agents on the last step, or on the start of the episode."""

    @abstractmethod
    def _observe_all(self) -> npt.NDArray[Any]:
        """Return the array of everything."""

    @abstractmethod
    def _draw(self, as_text: bool) -> npt.NDArray[Any] | str:
        """Return the picture of now."""

    # ---- the interface

    def observation_space(self, agent: str) -> ObservationSpace:
        """Return the observation space of an agent."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> ActionSpace:
        """Return the action space of an agent."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent not in self.action_spaces:
            raise UserError(f"there is no agent {agent!r}{suggest(str(agent), self.possible_agents)}")
        return agent

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Info]]:
        """Start an episode and return observations and infos of all agents.

        Args:
            seed: Of the episode; None for the next one of the last seed, 0 if none was given.
            options: Not used; accepted, as the interface demands.

        Raises:
            UserError: If the seed cannot be used, or a level finds no place for what it holds.
        """
        self._begin(None if seed is None else check_seed(seed, self.least_seed))
        self._has_begun = True
        self.agents = self.possible_agents.copy()
        return self._look(self.agents), self._infos(self.agents)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Let all agents act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: One action for each agent in ``agents``.

        Raises:
            UserError: If no episode is running, an agent is missing or unknown, or an action is not as expected.
        """
        agents = self.agents
        if not agents:
            state = "is over" if self._has_begun else "has not begun"
            raise UserError(f"the episode {state}: call reset() before step()")
        reward, terminated, truncated = self._play(actions_in_order(actions, agents))
        if terminated or truncated:
            self.agents = []
        rewards = dict.fromkeys(agents, reward)
        terminations, truncations = dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated)
        return self._look(agents), rewards, terminations, truncations, self._infos(agents)

    def _look(self, agents: list[str]) -> dict[str, Observation]:
        seen = self._observe(agents)
        if not self._is_indicated:
            return seen
        every = self.possible_agents
        return {agent: with_indicator(seen[agent], every.index(agent), len(every)) for agent in seen}

    def state(self) -> npt.NDArray[Any]:
        """Return the array of everything, read-only, also after the end.

        Raises:
            UserError: Before the first reset.
        """
        self._check_begun("state")
        return self._observe_all()

    def render(self) -> npt.NDArray[Any] | str:
        """Return a picture of now: uint8 of shape (height, width, 3), or a text, depending on ``render_mode``.

        Raises:
            UserError: If no render mode was chosen or no episode has begun.
        """
        if self.render_mode is None:
            raise UserError("no render mode was chosen: make the environment with render_mode='rgb_array' or 'ansi'")
        self._check_begun("render")
        return self._draw(as_text=self.render_mode == "ansi")

    def _repr_png_(self) -> bytes | None:
        """Return the picture of now as PNG, for a notebook; None before an episode, and without pillow."""
        if not self._has_begun or find_spec("PIL") is None:
            return None
        from PIL import Image

        file = BytesIO()
        Image.fromarray(np.asarray(self._draw(as_text=False), np.uint8)).save(file, "PNG")
        return file.getvalue()

    def _check_begun(self, call: str) -> None:
        if not self._has_begun:
            raise UserError(f"the episode has not begun: call reset() before {call}()")

    def close(self) -> None:
        """Do nothing: there is no window to close."""
