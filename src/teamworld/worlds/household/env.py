"""The household as a PettingZoo parallel environment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
from teamworld.worlds.base.array_interface import (
    RENDER_MODES,
    ParallelBase,
    RenderMode,
    check_render_mode,
    given_actions,
    need_pettingzoo,
    spaces,
)
from teamworld.worlds.household import draw, drawing_data, levels, physics
from teamworld.worlds.household.array_features import ACTIONS, FEATURES, OWN, ROWS, Floats, Mask, Table, length
from teamworld.worlds.household.homes.home import MOST_AGENTS, NAMES, Episode
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import Rules, State

if TYPE_CHECKING:
    from gymnasium.spaces import Dict, Discrete

Info = dict[str, Any]
Observation = dict[str, Floats | Mask]

#: Seeds of later episodes are drawn from 0 up to this.
SEEDS: Final = 2**31
#: Metres that no coordinate passes; other numbers of an observation are smaller.
FAR: Final = 1000.0
_KEPT: Final = 8  # homes with their floors, for levels that are one episode


class _Played(NamedTuple):
    """What is played."""

    episode: Episode
    floor: Floor
    table: Table


def parallel_env(
    level: str | Episode = "dev",
    *,
    agents: int = 2,
    sight: Literal["room", "cone"] = "room",
    mode: Literal["strict", "engine"] = "strict",
    strict_put: bool = False,
    occlusion: bool = False,
    data: str | Path | None = None,
    max_steps: int | None = None,
    render_mode: RenderMode | None = None,
) -> HouseholdEnv:
    """Make a household environment with the PettingZoo parallel interface.

    Args:
        level: A level (``levels.LEVELS``): ``"dev"`` is another home and task at every reset, ``"dev-3"`` always the
            same one; or an episode of your own.
        agents: How many there are, 1 to 10.
        sight: ``"room"``: agents see their room; ``"cone"``: of it what lies ahead.
        mode: ``"strict"``: agents handle what they see and are close to; ``"engine"``: they are put there.
        strict_put: Whether nothing can be put into a closed container.
        occlusion: With ``sight="cone"``: whether tall furniture hides what is behind it.
        data: The folder, or the pickle, of the official set, for levels ``official-...``.
        max_steps: Steps after which an unfinished episode is truncated; those of the episode, 250, if None.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    need_pettingzoo()
    check_render_mode(render_mode)
    for name, value, most in (("agents", agents, MOST_AGENTS), ("max_steps", max_steps, 10**6)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most):
            raise UserError(f"{name} must be an integer from 1 to {most}, got {brief(value)}")
    for name, word, words in (("sight", sight, ("room", "cone")), ("mode", mode, ("strict", "engine"))):
        if word not in words:
            raise UserError(f"{name} must be one of {', '.join(words)}, got {brief(word)}")
    rules = Rules(mode, bool(strict_put), sight, bool(occlusion))
    return HouseholdEnv(level, agents, rules, None if data is None else Path(data), max_steps, render_mode)


class HouseholdEnv(ParallelBase):
    """Agents fetch things in a home with rooms, doors and closed containers, and bring them to one place.

    **Agents** are ``Alice``, ``Bob``, ...; all act at once and live until the episode ends.

    **Actions**: Discrete(195): 0 wait, 1 and 2 turn 30 degrees to the left and right, then 48 of each of: go to, open,
    grab, and put into or on the node of a row. ``put`` takes what the right hand holds, else the left. What cannot be
    done spends the step.

    **Observations**: ``{"observation": float32, "action_mask": int8}``. The first is one row of numbers (``rows``):
    the agent itself, the goal, its teammates, then 48 rows of nodes; ``features.nodes_of`` returns these. What the
    agent does not see is 0. The mask tells which actions the agent knows to be possible.

    **Rewards**: all get the number of things newly in place, negative where some were taken away again.

    **End**: terminated when all is in place, else truncated at the step limit. ``agents`` is then empty, and ``step``
    needs a ``reset`` first.

    **Infos**: for each agent ``{"reason": why its action did nothing, or "", "moved": whether it stands elsewhere}``;
    empty at the start.

    **Reset**: ``reset(seed=s)`` plays the episode of seed s, with the places and chances that the world has with that
    seed; ``reset()`` then draws the next, from seed 0 if no seed was ever given. ``options`` are accepted, as the
    interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "household_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 5,
    }

    def __init__(
        self,
        level: str | Episode,
        agents: int,
        rules: Rules,
        data: Path | None = None,
        max_steps: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        """Use ``parallel_env``."""
        self.render_mode = render_mode
        self._level, self._data, self._rules, self._max_steps = level, data, rules, max_steps
        self._played = self._find(0)  # a level that cannot be played is told of now
        self._state: State | None = None
        self._rng: np.random.Generator | None = None
        self._next = 0
        self._draws: np.random.Generator | None = None
        self.possible_agents = list(NAMES[:agents])
        self._id_of = {agent: number for number, agent in enumerate(self.possible_agents, 1)}
        self.agents: list[str] = []
        box, numbers = spaces().Box, length(agents)
        seen: Dict = spaces().Dict(
            {
                "observation": box(-FAR, FAR, (numbers,), np.float32),
                "action_mask": box(0, 1, (ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces: dict[str, Discrete] = {agent: spaces().Discrete(ACTIONS) for agent in self.possible_agents}
        self.state_space = box(-FAR, FAR, (agents * len(OWN) + ROWS * len(FEATURES),), np.float32)

    def _find(self, seed: int) -> _Played:
        if isinstance(self._level, Episode):
            return _prepared(self._level)
        if self._level[-1:].isdigit():  # one episode, whatever the seed
            return _kept(self._level, self._data)
        return _prepared(levels.episode(self._level, seed, self._data))

    def observation_space(self, agent: str) -> Dict:
        """Return the agent's observation space: Dict of the observation and the mask of actions."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Discrete:
        """Return the agent's action space: Discrete(195)."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent not in self.action_spaces:
            raise UserError(f"there is no agent {agent!r}{suggest(str(agent), self.possible_agents)}")
        return agent

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Info]]:
        """Start an episode and return observations and infos of all agents.

        Raises:
            UserError: If the seed is not an integer from 0 on.
        """
        if seed is not None:
            if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
                raise UserError(f"seed must be an integer from 0 on, or None, got {brief(seed)}")
            self._next, self._draws = int(seed), generator(int(seed), "household", "later")
        if self._draws is None:
            self._draws = generator(0, "household", "later")
        current, self._next = self._next, int(self._draws.integers(SEEDS))
        self._played = self._find(current)
        self._rng = generator(current, "household", "play")
        self._state = physics.start(
            self._played.episode,
            self._played.floor,
            generator(current, "household", "starts"),
            agents=len(self.possible_agents),
            rules=self._rules,
        )
        self.agents = self.possible_agents.copy()
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Let all agents act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: One integer for each agent in ``agents``.

        Raises:
            UserError: If no episode is running, an agent is missing or unknown, or an action is not as expected.
        """
        if not self.agents or self._state is None or self._rng is None:
            begun = self._state is not None
            raise UserError(f"the episode {'is over' if begun else 'has not begun'}: call reset() before step()")
        choices, state, agents = given_actions(actions, self.agents), self._state, self.agents
        episode, _, table = self._played
        for action in choices:
            if isinstance(action, bool) or not isinstance(action, (int, np.integer)) or not 0 <= action < ACTIONS:
                raise UserError(f"an action is an integer from 0 to {ACTIONS - 1}, got {brief(action)}")
        acts = {number: table.act(state, number, int(action)) for number, action in enumerate(choices, 1)}
        before = sum(max(0, state.missing(need)) for need in episode.needs)
        happened = physics.step(state, acts, self._rng)
        missing = sum(max(0, state.missing(need)) for need in episode.needs)
        over = missing == 0
        cut = not over and state.time >= (self._max_steps or episode.steps)
        infos: dict[str, Info] = {}
        for agent in agents:
            done = happened.done[self._id_of[agent]]
            reason = done.reason
            if reason == "unknown":  # whether a row that was never seen has a node is nobody's business
                reason = "not_held" if done.act.verb in ("putin", "putback") and not done.act.target else "unseen"
            infos[agent] = {"reason": reason, "moved": done.moved}
        observations = self._observations()
        if over or cut:
            self.agents = []
        return (
            observations,
            dict.fromkeys(agents, float(before - missing)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            infos,
        )

    def _observations(self) -> dict[str, Observation]:
        assert self._state is not None
        observations: dict[str, Observation] = {}
        for agent, number in self._id_of.items():
            seen, mask = self._played.table.look(self._state, number)
            observations[agent] = {"observation": seen, "action_mask": mask}
        return observations

    def state(self) -> Floats:
        """Return the whole moment, also after the end: OWN of each agent, then all rows as if all were seen.

        Raises:
            UserError: Before the first reset.
        """
        if self._state is None:
            raise UserError("the episode has not begun: call reset() before state()")
        return self._played.table.truth(self._state)

    def render(self) -> np.ndarray[Any, np.dtype[np.uint8]] | str:
        """Return a picture of now: uint8 of shape (height, width, 3), or a text, depending on ``render_mode``.

        Raises:
            UserError: If no render mode was chosen or no episode has begun.
        """
        if self.render_mode is None:
            raise UserError("no render mode was chosen: make the environment with render_mode='rgb_array' or 'ansi'")
        if self._state is None:
            raise UserError("the episode has not begun: call reset() before render()")
        fixed, moment = (
            drawing_data.static(self._played.episode),
            drawing_data.snapshot(self._state, self._played.episode),
        )
        return draw.text(fixed, moment) if self.render_mode == "ansi" else draw.frame(fixed, moment)

    def close(self) -> None:
        """Do nothing: there is no window to close."""


def _prepared(episode: Episode) -> _Played:
    return _Played(episode, Floor(episode.home), Table(episode))


@lru_cache(maxsize=_KEPT)
def _kept(level: str, data: Path | None) -> _Played:
    return _prepared(levels.episode(level, 0, data))
