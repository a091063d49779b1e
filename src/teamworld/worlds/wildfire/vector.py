"""Wildfire as a vector environment: many incidents at once as arrays, for learning (wildfire spec A7, A9, B41).

The episodes and rows are those of ``parallel_env``, bit by bit; here nothing is made for single agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.worlds.base.vector import NEXT_STEP, VectorBase, batched, reset_mask, reset_seeds, spaces
from teamworld.worlds.wildfire.episodes import TYPES, Episodes, ScoreName, Setting, setting_for, whole_seed
from teamworld.worlds.wildfire.observe import LENGTH, observations
from teamworld.worlds.wildfire.state import Cell
from teamworld.worlds.wildfire.units import GO_ANYWHERE, units_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymnasium.spaces import Space

    from teamworld.worlds.wildfire.incident import Rules
    from teamworld.worlds.wildfire.levels import Level
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.state import FireMode

Observations: TypeAlias = "npt.NDArray[np.float32] | None"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Step: TypeAlias = "tuple[Observations, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]"

#: More environments than this would not be stepped faster.
MAX_ENVS = 100_000


def vector_env(
    level: str | Level | Instance = "cut_trees_sparse_small",
    *,
    num_envs: int = 1,
    observation: str = "rows",
    copy: bool = True,
    mode: FireMode = "reference",
    score: ScoreName = "reference",
    shared_map: bool = True,
    rules: Rules | None = None,
    max_steps: int | None = None,
) -> WildfireVectorEnv:
    """Make ``num_envs`` wildfire environments that are stepped together.

    Args:
        level: A level or the name of one (``levels.LEVELS``); an instance is played in every episode as it is.
        num_envs: Number of environments, E.
        observation: ``"rows"``: (E, A + 1, 3728) float32, the rows of ``observe``, the manager's first; or ``"none"``.
        copy: True to return fresh arrays; False to return read-only ones that the next call overwrites.
        mode: How fire spreads: ``"reference"`` or ``"stochastic"`` (B1).
        score: Whose change is the reward: ``"reference"`` or ``"burnt"`` (B22).
        shared_map: Whether what one sees, all have seen (A9); else everybody has a map of its own (B32).
        rules: What agents may do; those of the level's edition if None.
        max_steps: Steps after which an unfinished episode is truncated; the level's if None.

    Raises:
        UserError: If an argument cannot be used.
    """
    if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or not 1 <= num_envs <= MAX_ENVS:
        raise UserError(f"num_envs must be an integer from 1 to {MAX_ENVS}, got {num_envs!r}")
    if observation not in ("rows", "none"):
        raise UserError(f"observation must be 'rows' or 'none', got {observation!r}")
    setting = setting_for(level, mode=mode, rules=rules, score=score, shared_map=shared_map, max_steps=max_steps)
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

    def __init__(self, setting: Setting, num_envs: int, rows: bool, copy: bool) -> None:
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
            if (one := seeds[env]) is not None:
                self._episodes[env].seed(one)
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
                turn = episodes.step(wanted[env])
                reward[env], terminated[env], truncated[env] = turn.reward, turn.over, turn.truncated
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
