"""Wildfire for learning: a PettingZoo parallel environment, and a vector environment of many incidents at once.

Both play the same episodes, bit by bit.
"""

from __future__ import annotations

from copy import copy as shallow_copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack, get_args

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.base.agent_indicator import indicator_names
from teamworld.worlds.base.array_interface import Info, RenderMode, spaces
from teamworld.worlds.base.parallel_environment import TeamEnv, TeamStep, parallel_metadata
from teamworld.worlds.base.vector_environment import (
    Observations,
    TeamVectorEnv,
    VectorStep,
    make_environments,
    vector_metadata,
)
from teamworld.worlds.wildfire import draw, physics
from teamworld.worlds.wildfire.kernels.agents import LENGTH, REASONS, SEEN_CIVILIAN
from teamworld.worlds.wildfire.levels import Level, WildfireInstance, instance_for, level_for
from teamworld.worlds.wildfire.observe import FIELDS, agent_names, begin_sightings, observations
from teamworld.worlds.wildfire.physics import ScoreName, begin_incident
from teamworld.worlds.wildfire.state import GO_ANYWHERE, STOP, Cell, FireMode, units_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from gymnasium.spaces import Box, MultiDiscrete, Space

    from teamworld.worlds.wildfire.observe import Sightings
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import ActionRules, Incident


#: Types of actions that each kind knows, from 0 on.
TYPES = (5, 2, 1, 4)

#: Seeds of later episodes are drawn from 0 up to this.
SEEDS = 2**31


class EpisodeOptions(TypedDict, total=False):
    """What is played and how, for both kinds of environments."""

    mode: FireMode
    """How fire spreads: ``"reference"``, the default, or ``"stochastic"``."""
    score: ScoreName
    """Whose change is the reward where a fire is fought: ``"reference"``, the default, counts trees that agents cut as
    lost, ``"burnt"`` only what the fire destroyed."""
    shared_map: bool
    """Whether what one sees, all have seen, as by default; else everybody has a map of its own."""
    rules: ActionRules | None
    """What agents may do; those of the level's edition if None."""
    max_steps: int | None
    """Steps after which an unfinished episode is truncated; the level's if None."""


class Episodes:
    """Episodes of one level. The first after ``seed(s)`` has the seed s, later ones what the stream of s gives.

    Args:
        level: A level or the name of one; an instance is played again and again.
        mode: As the others, see ``EpisodeOptions``.

    Raises:
        UserError: If there is no such level, or a value cannot be used.
    """

    incident: Incident
    sightings: Sightings
    effects: StepEffects | None

    def __init__(
        self,
        level: str | Level | WildfireInstance,
        mode: FireMode = "reference",
        score: ScoreName = "reference",
        shared_map: bool = True,
        rules: ActionRules | None = None,
        max_steps: int | None = None,
    ) -> None:
        if score not in get_args(ScoreName):
            raise UserError(f"score must be one of {', '.join(get_args(ScoreName))}, got {brief(score)}")
        if not isinstance(shared_map, bool):
            raise UserError(f"shared_map must be True or False, got {brief(shared_map)}")
        if not isinstance(level, (str, Level, WildfireInstance)):
            raise UserError(f"a level is a name, a Level or an Instance, got {brief(level)}")
        self._instance = level if isinstance(level, WildfireInstance) else None
        played = level.level if isinstance(level, WildfireInstance) else level
        self.level = level_for(played) if isinstance(played, str) else played
        self._placed = self.level  # what is placed does not depend on the limit of the episode
        if max_steps is not None:
            self.level = replace(self.level, max_steps=max_steps)
        self.level.rules(mode)  # a wrong mode is told now, not at the first reset
        self._mode, self._rules, self._shared_map, self._score_name = mode, rules, shared_map, score
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
        start = self._instance or instance_for(self._placed, seed, mode=self._mode)
        start = replace(start, level=self.level)
        self.incident = begin_incident(start, seed, self._mode, self._rules)
        self.sightings = begin_sightings(self.incident, shared_map=self._shared_map)
        self.effects = None
        self._score = self._score_now()

    def step(self, actions: npt.NDArray[np.integer]) -> TeamStep:
        """Let all act, (A, 3) whole numbers; those of agents that are lost are not read.

        The episode terminates when nothing is left to be done. When nobody is left to do it, it goes on: what burns
        later counts, too.
        """
        incident = self.incident
        alive = incident.units.alive
        self.effects = physics.step(incident, np.where(alive[:, None], actions, STOP))
        self.sightings.look(incident)
        before, self._score = self._score, self._score_now()
        over = physics.is_over(incident)
        return TeamStep(self._score - before, over, not over and incident.t >= self.level.max_steps)

    def _score_now(self) -> float:
        score = physics.score(self.incident)
        return score.burnt if self._score_name == "burnt" else score.reference


def parallel_env(
    level: str | Level | WildfireInstance = "cut_trees_sparse_small",
    *,
    agent_indicator: bool = False,
    render_mode: RenderMode | None = None,
    **options: Unpack[EpisodeOptions],
) -> WildfireEnv:
    """Make a wildfire environment with the PettingZoo parallel interface.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played at every reset as it is.
        agent_indicator: End rows with a number for each agent, 1 for the agent itself, so that one network
            can play all. What each number is called: ``env.fields``.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.
        options: See ``EpisodeOptions``.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    return WildfireEnv(Episodes(level, **options), render_mode, agent_indicator=agent_indicator)


class WildfireEnv(TeamEnv["npt.NDArray[np.float32]", "Box", "MultiDiscrete"]):
    """Firefighters, bulldozers, drones and helicopters against a fire, or at one of its lesser tasks.

    **Agents** are ``firefighter_1``, ``drone_4``, ...: kind and number. Who is lost in the fire stays in ``agents`` to
    the end of the episode and is paid with the team: its observation says that it is lost, its actions are not read.
    So the sum of an agent's rewards is the team's score, whoever dies, and no policy gains by dying early.

    **Actions**: MultiDiscrete, [type, x, y]; x and y from 0 to N - 1. Types from 0 on are the kind's primitives
    (``units``), -1 does nothing, -2 goes to any cell; [0, 0, 0] does nothing, so only -2 goes to (0, 0).

    **Observations**: (3728,) float32, the agent's row of ``observe``. Nothing in it depends on what was never seen.
    ``state()`` has the rows of all, and the manager's, which knows the truth.

    **Rewards**: all get the change of the team's score in the step.

    **End**: for all at once: terminated when nothing is left to be done, else truncated at the step limit. ``agents``
    is then empty, and ``step`` needs a ``reset`` first. When everybody is lost the fire burns on.

    **Infos**: for each agent ``{"alive": is it not lost, "effect": did its action change the world, "moved": ...,
    "reason": why it did not do what was asked, or ""}``; empty at the start.

    **Reset**: ``reset(seed=s)`` plays the instance of seed s; ``reset()`` then draws the next, from seed 0 if no seed
    was ever given. ``options`` are accepted, as the interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = parallel_metadata("wildfire_v0", 5)

    def __init__(
        self, episodes: Episodes, render_mode: RenderMode | None = None, *, agent_indicator: bool = False
    ) -> None:
        """Use ``parallel_env``."""
        level = episodes.level
        self._episodes = episodes
        units = units_at(Cell(0, 0), level.team)
        seen: Box = spaces().Box(-1.0, float(max(SEEN_CIVILIAN, level.size - 1)), (LENGTH,), np.float32)
        actions: list[MultiDiscrete] = [
            spaces().MultiDiscrete([TYPES[kind] - GO_ANYWHERE, level.size, level.size], start=[GO_ANYWHERE, 0, 0])
            for kind in units.kind.tolist()
        ]
        super().__init__(agent_names(units), seen, actions, render_mode, FIELDS, agent_indicator)
        self._row_of = {agent: row for row, agent in enumerate(self.possible_agents)}
        self._drawn: tuple[WildfireInstance, Mapping[str, Any]] | None = None
        """The instance that was drawn last, and what does not change in its pictures."""

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._episodes.seed(seed)
        self._episodes.restart()

    def _play(self, actions: list[npt.ArrayLike]) -> TeamStep:
        return self._episodes.step(self._array_of(actions))

    def _array_of(self, actions: list[npt.ArrayLike]) -> npt.NDArray[np.integer]:
        """Return the actions of all agents, in their order, as an array."""
        try:
            wanted = np.array(actions)
        except ValueError:  # of different lengths
            wanted = np.empty(0)
        if wanted.shape != (len(actions), 3) or wanted.dtype.kind not in "iu":
            wrong = next((action for action in actions if not _is_action(action)), actions)
            raise UserError(f"an action is three whole numbers, [type, x, y], got {wrong!r}")
        return wanted

    def _observe(self, agents: list[str]) -> dict[str, npt.NDArray[np.float32]]:
        self._rows = observations(self._episodes.incident, self._episodes.sightings)
        self._rows.flags.writeable = False
        return {agent: self._rows[self._row_of[agent] + 1] for agent in agents}

    def _infos(self, agents: list[str]) -> dict[str, Info]:
        effects = self._episodes.effects
        if effects is None:
            return {agent: {} for agent in agents}
        parts = self._episodes.incident.units.alive, effects.effect, effects.moved, effects.reason
        rows = zip(*(part.tolist() for part in parts), strict=True)
        infos = [
            {"alive": a, "effect": effect, "moved": moved, "reason": REASONS[why]} for a, effect, moved, why in rows
        ]
        return {agent: infos[self._row_of[agent]] for agent in agents}

    def _observe_all(self) -> npt.NDArray[np.float32]:
        return self._rows

    def _draw(self, as_text: bool) -> npt.NDArray[np.uint8] | str:
        incident, sightings = self._episodes.incident, self._episodes.sightings
        if self._drawn is None or self._drawn[0] is not incident.instance:
            self._drawn = incident.instance, draw.static(incident.instance)
        static, snapshot = self._drawn[1], draw.snapshot(incident)
        if as_text:
            return draw.text(static, snapshot)
        return draw.frame(static, snapshot, seen=np.maximum.reduce([*map(sightings.seen, range(len(sightings.index)))]))


def _is_action(action: object) -> bool:
    array = np.asarray(action)
    return array.shape == (3,) and array.dtype.kind in "iu"


#: More environments than this would not be stepped faster.
MAX_ENVS = 100_000


def vector_env(
    level: str | Level | WildfireInstance = "cut_trees_sparse_small",
    *,
    num_envs: int = 1,
    observation: str = "rows",
    agent_indicator: bool = False,
    copy: bool = True,
    **options: Unpack[EpisodeOptions],
) -> WildfireVectorEnv:
    """Make ``num_envs`` wildfire environments that are stepped together.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played in every episode as it is.
        num_envs: Number of environments, E.
        observation: ``"rows"``: (E, A + 1, 3728) float32, the rows of ``observe``, the manager's first; or ``"none"``.
        agent_indicator: End each row with a number for each agent, 1 for the agent itself and all 0 for the manager:
            (E, A + 1, 3728 + A); fresh arrays whatever ``copy`` says. What each number is called: ``env.fields``.
        copy: True to return fresh arrays; False to return read-only ones that the next call overwrites.
        options: See ``EpisodeOptions``.

    Raises:
        UserError: If an argument cannot be used.
    """
    if observation not in ("rows", "none"):
        raise UserError(f"observation must be 'rows' or 'none', got {observation!r}")
    episodes = Episodes(level, **options)
    has_rows = observation == "rows"
    return make_environments(
        lambda count: WildfireVectorEnv(episodes, count, has_rows, bool(copy), agent_indicator=agent_indicator),
        num_envs,
        MAX_ENVS,
        "observation='none'",
    )


class WildfireVectorEnv(TeamVectorEnv):
    """E incidents at once, with the interface of Gymnasium's vector environments.

    **Actions**: whole numbers of shape (E, A, 3): [type, x, y] of each agent, in the order of their ids, as in
    ``parallel_env``. Those of agents that are lost are not read.

    **Observations**: see ``vector_env``. The rows after the first never depend on what was not seen.

    **Rewards, terminations, truncations**: shape (E,), float64 and bool. A team shares its reward: the change of its
    score, whoever of it is lost. An episode terminates when nothing is left to be done, not when everybody is lost.

    **Next-step autoreset**: an environment that finished in one step ignores its actions in the next: it starts a new
    episode and returns its first observation, with reward 0 and both flags False.

    **Seeds**: ``reset(seed=s)`` gives environment e the seed s + e; it then plays the episodes that ``parallel_env``
    plays after ``reset(seed=s + e)``, ``reset()``, ``reset()``, ... Without any seed s is 0. A list gives one seed
    for each environment.

    **Infos**: ``{"alive": (E, A) bool}``: who is not lost.
    """

    metadata: ClassVar[dict[str, Any]] = vector_metadata("wildfire_v0")

    def __init__(
        self, episodes: Episodes, num_envs: int, rows: bool, copy: bool, *, agent_indicator: bool = False
    ) -> None:
        """Use ``vector_env``."""
        super().__init__(num_envs, episodes.level.team.size, copy)
        self._is_indicated = bool(agent_indicator)
        agents = agent_names(units_at(Cell(0, 0), episodes.level.team))
        self.fields = (*FIELDS, *(indicator_names(agents) if self._is_indicated else ())) if rows else ()
        self._level = episodes.level
        self._episodes = [shallow_copy(episodes) for _ in range(num_envs)]
        self._rows = np.zeros((num_envs, self.num_agents + 1, LENGTH), np.float32) if rows else None
        self._finished = np.zeros(num_envs, np.bool_)

    def _seed(self, env: int, seed: int) -> None:
        self._episodes[env].seed(seed)

    def _restart(self, envs: npt.NDArray[np.int32]) -> None:
        for env in envs.tolist():
            self._episodes[env].restart()
        self._finished[envs] = False

    def step(self, actions: npt.NDArray[np.integer]) -> VectorStep:
        """Let all agents of all environments act: observations, rewards, terminations, truncations, infos.

        Args:
            actions: Whole numbers of shape (E, A, 3).

        Raises:
            UserError: If ``reset`` was never called, or the actions are not whole numbers or their shape is wrong.
        """
        if not self._has_begun:
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
                reward[env], terminated[env], truncated[env] = episodes.step(wanted[env])
        self._finished = terminated | truncated
        return self._observe(), reward, terminated, truncated, self._infos()

    def _observe(self) -> Observations:
        if self._rows is None:
            return None
        rows = np.empty_like(self._rows) if self._copy else self._rows
        for env, episodes in enumerate(self._episodes):
            observations(episodes.incident, episodes.sightings, rows[env])
        if self._is_indicated:
            marks = np.eye(self.num_agents + 1, self.num_agents, -1, np.float32)  # none for the manager
            return np.concatenate((rows, np.broadcast_to(marks, (len(rows), *marks.shape))), axis=-1)
        if not self._copy:
            rows = rows.view()
            rows.flags.writeable = False
        return rows

    def _infos(self) -> Info:
        return {"alive": np.stack([episodes.incident.units.alive for episodes in self._episodes])}

    def _team_action_space(self) -> Space[Any]:
        level = self._level
        kinds = units_at(Cell(0, 0), level.team).kind.tolist()
        most = [[TYPES[kind] - GO_ANYWHERE, level.size, level.size] for kind in kinds]
        least = np.tile(np.array([GO_ANYWHERE, 0, 0]), (len(kinds), 1))
        space: Space[Any] = spaces().MultiDiscrete(np.array(most), start=least)
        return space

    def _team_observation_space(self) -> Space[Any]:
        if self._rows is None:
            raise UserError("there are no observations: make the environment with observation='rows'")
        shape = (self.num_agents + 1, len(self.fields))
        space: Space[Any] = spaces().Box(-np.inf, np.inf, shape, np.float32)  # a score has no bounds
        return space
