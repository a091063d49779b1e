"""Wildfire for learning: a PettingZoo parallel environment, and a vector environment of many incidents at once.

Both play the same episodes, bit by bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
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
from teamworld.worlds.wildfire import draw, physics
from teamworld.worlds.wildfire.kernels.agents import LENGTH, REASONS, SEEN_CIVILIAN
from teamworld.worlds.wildfire.levels import Level, WildfireInstance, instance_for, level_for
from teamworld.worlds.wildfire.observe import agent_names, begin_sightings, observations
from teamworld.worlds.wildfire.physics import begin_incident
from teamworld.worlds.wildfire.state import GO_ANYWHERE, STOP, Cell, FireMode, units_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymnasium.spaces import Box, MultiDiscrete, Space

    from teamworld.worlds.wildfire.observe import Sightings
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import ActionRules, Incident


#: Whose change is the reward: cut trees count as lost (as in the reference code), or only what burnt.
ScoreName = Literal["reference", "burnt"]

#: Types of actions that each kind knows, from 0 on.
TYPES = (5, 2, 1, 4)

#: Seeds of later episodes are drawn from 0 up to this.
SEEDS = 2**31


class EpisodeSettings(NamedTuple):
    """The settings of an environment; checked when made by ``episode_settings``."""

    level: Level
    instance: WildfireInstance | None
    """Where everything is at the start of every episode; None to place each anew."""
    mode: FireMode
    rules: ActionRules | None
    score: ScoreName
    shared_map: bool


class EpisodeStep(NamedTuple):
    """The result of one step."""

    reward: float
    """The change of the score."""
    effects: StepEffects
    over: bool
    """Nothing is left to be done, or nobody to do it."""
    truncated: bool
    """The step limit came first."""


def episode_settings(
    level: str | Level | WildfireInstance,
    *,
    mode: FireMode,
    rules: ActionRules | None,
    score: str,
    shared_map: bool,
    max_steps: int | None,
) -> EpisodeSettings:
    """Return the setting; an instance instead of a level is played again and again.

    Raises:
        UserError: If there is no such level, or a value cannot be used.
    """
    if score not in get_args(ScoreName):
        raise UserError(f"score must be one of {', '.join(get_args(ScoreName))}, got {brief(score)}")
    if not isinstance(shared_map, bool):
        raise UserError(f"shared_map must be True or False, got {brief(shared_map)}")
    if not isinstance(level, (str, Level, WildfireInstance)):
        raise UserError(f"a level is a name, a Level or an Instance, got {brief(level)}")
    instance = level if isinstance(level, WildfireInstance) else None
    chosen = instance.level if instance else level_for(level) if isinstance(level, str) else level
    assert isinstance(chosen, Level)
    if max_steps is not None:
        chosen = replace(chosen, max_steps=max_steps)
        instance = instance and replace(instance, level=chosen)
    chosen.rules(mode)  # a wrong mode is told now, not at the first reset
    return EpisodeSettings(chosen, instance, mode, rules, "burnt" if score == "burnt" else "reference", shared_map)


class Episodes:
    """Episodes of one setting. The first after ``seed(s)`` has the seed s, later ones what the stream of s gives."""

    incident: Incident
    sightings: Sightings

    def __init__(self, setting: EpisodeSettings) -> None:
        self.setting = setting
        self._seed, self._number = 0, 0
        self._score = 0.0

    def seed(self, seed: int) -> None:
        """Begin the stream of a seed; ``restart`` takes the first of it."""
        self._seed, self._number = seed, 0

    def restart(self) -> None:
        """Begin the next episode.

        Raises:
            UserError: If the level finds no place on its map.
        """
        seed = self._seed
        if self._number:
            seed = int(generator(self._seed, "wildfire", "episode", self._number).integers(SEEDS))
        self._number += 1
        level, instance, mode, rules, _, shared_map = self.setting
        self.incident = begin_incident(instance or instance_for(level, seed), seed, mode, rules)
        self.sightings = begin_sightings(self.incident, shared_map=shared_map)
        self._score = self._score_now()

    def step(self, actions: npt.NDArray[np.integer]) -> EpisodeStep:
        """Let all act, (A, 3) whole numbers; those of agents that are lost are not read."""
        incident = self.incident
        alive = incident.units.alive
        effects = physics.step(incident, np.where(alive[:, None], actions, STOP))
        self.sightings.look(incident)
        before, self._score = self._score, self._score_now()
        over = physics.is_over(incident) or not incident.units.alive.any()
        truncated = not over and incident.t >= self.setting.level.max_steps
        return EpisodeStep(self._score - before, effects, over, truncated)

    def _score_now(self) -> float:
        score = physics.score(self.incident)
        return score.burnt if self.setting.score == "burnt" else score.reference


def whole_seed(seed: object) -> int:
    """Return a seed as an int.

    Raises:
        UserError: If it is not an integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise UserError(f"seed must be an integer or None, got {brief(seed)}")
    return int(seed)


Info = dict[str, Any]
Rows = dict[str, "npt.NDArray[np.float32]"]


def parallel_env(
    level: str | Level | WildfireInstance = "cut_trees_sparse_small",
    *,
    mode: FireMode = "reference",
    score: ScoreName = "reference",
    shared_map: bool = True,
    rules: ActionRules | None = None,
    max_steps: int | None = None,
    render_mode: RenderMode | None = None,
) -> WildfireEnv:
    """Make a wildfire environment with the PettingZoo parallel interface.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played at every reset as it is.
        mode: How fire spreads: ``"reference"`` or ``"stochastic"``.
        score: Whose change is the reward where a fire is fought: ``"reference"`` counts trees that agents cut as
            lost, ``"burnt"`` only what the fire destroyed.
        shared_map: Whether what one sees, all have seen; else everybody has a map of its own.
        rules: What agents may do; those of the level's edition if None.
        max_steps: Steps after which an unfinished episode is truncated; the level's if None.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    need_pettingzoo()
    check_render_mode(render_mode)
    setting = episode_settings(level, mode=mode, rules=rules, score=score, shared_map=shared_map, max_steps=max_steps)
    return WildfireEnv(setting, render_mode)


class WildfireEnv(ParallelBase):
    """Firefighters, bulldozers, drones and helicopters against a fire, or at one of its lesser tasks.

    **Agents** are ``firefighter_1``, ``drone_4``, ...: kind and number. Who is lost in the fire is terminated and
    leaves ``agents``; the others go on.

    **Actions**: MultiDiscrete, [type, x, y]; x and y from 0 to N - 1. Types from 0 on are the kind's primitives
    (``units``), -1 does nothing, -2 goes to any cell; [0, 0, 0] does nothing, so only -2 goes to (0, 0).

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

    def __init__(self, setting: EpisodeSettings, render_mode: RenderMode | None = None) -> None:
        """Use ``parallel_env``."""
        level = setting.level
        self.render_mode = render_mode
        self._episodes = Episodes(setting)
        self._rows: npt.NDArray[np.float32] | None = None
        units = units_at(Cell(0, 0), level.team)
        self.possible_agents = agent_names(units)
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
        episode_step = self._episodes.step(self._given(actions))
        alive = self._episodes.incident.units.alive
        gone = {agent: episode_step.over or not alive[self._row_of[agent]] for agent in agents}
        cut = {agent: episode_step.truncated and not gone[agent] for agent in agents}
        self.agents = [agent for agent in agents if not (gone[agent] or cut[agent])]
        rewards = dict.fromkeys(agents, episode_step.reward)
        return self._observations(agents), rewards, gone, cut, self._infos(agents, episode_step)

    def _given(self, actions: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.int64]:
        """Return the actions as an array, those of agents that are lost empty."""
        chosen = given_actions(actions, self.agents)
        try:
            wanted = np.array(chosen)
        except ValueError:  # of different lengths
            wanted = np.empty(0)
        if wanted.shape != (len(chosen), 3) or wanted.dtype.kind not in "iu":
            wrong = next((action for action in chosen if not _is_action(action)), chosen)
            raise UserError(f"an action is three whole numbers, [type, x, y], got {wrong!r}")
        out = np.zeros((len(self.possible_agents), 3), np.int64)
        out[[self._row_of[agent] for agent in self.agents]] = wanted
        return out

    def _observations(self, agents: list[str]) -> Rows:
        self._rows = observations(self._episodes.incident, self._episodes.sightings)
        self._rows.flags.writeable = False
        return {agent: self._rows[self._row_of[agent] + 1] for agent in agents}

    def _infos(self, agents: list[str], episode_step: EpisodeStep) -> dict[str, Info]:
        effects = episode_step.effects
        rows = zip(effects.effect.tolist(), effects.moved.tolist(), effects.reason.tolist(), strict=True)
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


def _is_action(action: object) -> bool:
    array = np.asarray(action)
    return array.shape == (3,) and array.dtype.kind in "iu"


Observations: TypeAlias = "npt.NDArray[np.float32] | None"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Step: TypeAlias = "tuple[Observations, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]"

#: More environments than this would not be stepped faster.
MAX_ENVS = 100_000


def vector_env(
    level: str | Level | WildfireInstance = "cut_trees_sparse_small",
    *,
    num_envs: int = 1,
    observation: str = "rows",
    copy: bool = True,
    mode: FireMode = "reference",
    score: ScoreName = "reference",
    shared_map: bool = True,
    rules: ActionRules | None = None,
    max_steps: int | None = None,
) -> WildfireVectorEnv:
    """Make ``num_envs`` wildfire environments that are stepped together.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played in every episode as it is.
        num_envs: Number of environments, E.
        observation: ``"rows"``: (E, A + 1, 3728) float32, the rows of ``observe``, the manager's first; or ``"none"``.
        copy: True to return fresh arrays; False to return read-only ones that the next call overwrites.
        mode: How fire spreads: ``"reference"`` or ``"stochastic"``.
        score: Whose change is the reward: ``"reference"`` or ``"burnt"``.
        shared_map: Whether what one sees, all have seen; else everybody has a map of its own.
        rules: What agents may do; those of the level's edition if None.
        max_steps: Steps after which an unfinished episode is truncated; the level's if None.

    Raises:
        UserError: If an argument cannot be used.
    """
    if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or not 1 <= num_envs <= MAX_ENVS:
        raise UserError(f"num_envs must be an integer from 1 to {MAX_ENVS}, got {num_envs!r}")
    if observation not in ("rows", "none"):
        raise UserError(f"observation must be 'rows' or 'none', got {observation!r}")
    setting = episode_settings(level, mode=mode, rules=rules, score=score, shared_map=shared_map, max_steps=max_steps)
    try:
        return WildfireVectorEnv(setting, int(num_envs), observation == "rows", bool(copy))
    except MemoryError:
        raise UserError(f"{num_envs} environments do not fit into memory: take fewer, or observation='none'") from None


class WildfireVectorEnv(VectorBase):
    """E incidents at once, with the interface of Gymnasium's vector environments.

    **Actions**: whole numbers of shape (E, A, 3): [type, x, y] of each agent, in the order of their ids, as in
    ``parallel_env``. Those of agents that are lost are not read.

    **Observations**: see ``vector_env``. The rows after the first never depend on what was not seen.

    **Rewards, terminations, truncations**: shape (E,), float64 and bool. A team shares its reward: the change of its
    score. An episode terminates when nothing is left to be done or everybody is lost.

    **Next-step autoreset**: an environment that finished in one step ignores its actions in the next: it starts a new
    episode and returns its first observation, with reward 0 and both flags False.

    **Seeds**: ``reset(seed=s)`` gives environment e the seed s + e; it then plays the episodes that ``parallel_env``
    plays after ``reset(seed=s + e)``, ``reset()``, ``reset()``, ... Without any seed s is 0. A list gives one seed
    for each environment.

    **Infos**: ``{"alive": (E, A) bool}``: who is not lost.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "wildfire_v0", "render_modes": [], "autoreset_mode": NEXT_STEP}
    spec: Any = None
    render_mode: str | None = None
    closed: bool = False

    def __init__(self, setting: EpisodeSettings, num_envs: int, rows: bool, copy: bool) -> None:
        """Use ``vector_env``."""
        self.num_envs = num_envs
        self.num_agents = setting.level.team.size
        self._setting = setting
        self._episodes = [Episodes(setting) for _ in range(num_envs)]
        self._rows = np.zeros((num_envs, self.num_agents + 1, LENGTH), np.float32) if rows else None
        self._finished = np.zeros(num_envs, np.bool_)
        self._copy = copy
        self._begun = False

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
            UserError: If a seed or an option cannot be used, or the level finds no place on the map of a seed.
        """
        which = [int(env) for env in np.flatnonzero(reset_mask(options, self.num_envs, self._begun))]
        seeds = reset_seeds(seed, self.num_envs, self._begun, whole_seed)
        for env in which:
            if (first := seeds[env]) is not None:
                self._episodes[env].seed(first)
        for env in which:
            self._episodes[env].restart()
        self._finished[which] = False
        self._begun = True
        return self._look(), self._infos()

    def step(self, actions: npt.NDArray[np.integer]) -> Step:
        """Let all agents of all environments act: observations, rewards, terminations, truncations, infos.

        Args:
            actions: Whole numbers of shape (E, A, 3).

        Raises:
            UserError: If ``reset`` was never called, or the actions are not whole numbers or their shape is wrong.
        """
        if not self._begun:
            raise UserError("the episodes have not begun: call reset() before step()")
        wanted = np.asarray(actions)
        shape = (self.num_envs, self.num_agents, 3)
        if wanted.shape != shape or wanted.dtype.kind not in "iu":
            raise UserError(f"actions must be whole numbers of shape {shape}, got {wanted.dtype} {brief(wanted.shape)}")
        reward = np.zeros(self.num_envs)
        terminated, truncated = (np.zeros(self.num_envs, np.bool_) for _ in range(2))
        for env, episodes in enumerate(self._episodes):
            if self._finished[env]:
                episodes.restart()
            else:
                episode_step = episodes.step(wanted[env])
                reward[env], terminated[env], truncated[env] = (
                    episode_step.reward,
                    episode_step.over,
                    episode_step.truncated,
                )
        self._finished = terminated | truncated
        return self._look(), reward, terminated, truncated, self._infos()

    def _look(self) -> Observations:
        if self._rows is None:
            return None
        rows = np.empty_like(self._rows) if self._copy else self._rows
        for env, episodes in enumerate(self._episodes):
            observations(episodes.incident, episodes.sightings, rows[env])
        if not self._copy:
            rows = rows.view()
            rows.flags.writeable = False
        return rows

    def _infos(self) -> dict[str, Any]:
        return {"alive": np.stack([episodes.incident.units.alive for episodes in self._episodes])}

    def close(self, **kwargs: Any) -> None:
        """Note that the environments are no longer needed; there is nothing to close and ``kwargs`` are not used."""
        self.closed = True

    @cached_property
    def single_action_space(self) -> Space[Any]:
        """What one team may do: shape (A, 3)."""
        level = self._setting.level
        kinds = units_at(Cell(0, 0), level.team).kind.tolist()
        most = [[TYPES[kind] - GO_ANYWHERE, level.size, level.size] for kind in kinds]
        least = np.tile(np.array([GO_ANYWHERE, 0, 0]), (len(kinds), 1))
        space: Space[Any] = spaces().MultiDiscrete(np.array(most), start=least)
        return space

    @cached_property
    def action_space(self) -> Space[Any]:
        """What all teams may do: shape (E, A, 3)."""
        return batched(self.single_action_space, self.num_envs)

    @cached_property
    def single_observation_space(self) -> Space[Any]:
        """The rows of one environment.

        Raises:
            UserError: If there are none.
        """
        if self._rows is None:
            raise UserError("there are no observations: make the environment with observation='rows'")
        space: Space[Any] = spaces().Box(-np.inf, np.inf, self._rows.shape[1:], np.float32)  # a score has no bounds
        return space

    @cached_property
    def observation_space(self) -> Space[Any]:
        """The rows of all environments."""
        return batched(self.single_observation_space, self.num_envs)
