"""Transport as a PettingZoo parallel environment and as a vector of environments, by primitive actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.base.agent_indicator import indicator_names, stack_indicators
from teamworld.worlds.base.array_interface import Info, RenderMode, is_integer, spaces
from teamworld.worlds.base.parallel_environment import TeamEnv, TeamStep, parallel_metadata
from teamworld.worlds.base.vector_environment import (
    Observations,
    TeamVectorEnv,
    VectorStep,
    make_environments,
    vector_metadata,
)
from teamworld.worlds.transport import draw, drawing_data, levels, physics, sight
from teamworld.worlds.transport import state as arrays
from teamworld.worlds.transport.array_features import (
    ACTIONS,
    ROWS,
    SELF_HERE,
    THING,
    WINDOW,
    FeatureTable,
    Floats,
    Mask,
    field_names,
    length,
    make_primitive,
    make_table,
    write_observations,
)
from teamworld.worlds.transport.observe import Names
from teamworld.worlds.transport.scene import Instance
from teamworld.worlds.transport.sight import Eyes, Field, Moment
from teamworld.worlds.transport.state import FRAMES, NOBODY, NONE, REASONS, TEAM, Ground, Rules

if TYPE_CHECKING:
    from gymnasium.spaces import Dict, Discrete, Space

Observation = dict[str, npt.NDArray[np.uint8] | Floats | Mask]

#: Seeds of later episodes are drawn from 0 up to this.
SEEDS: Final = 2**31
#: Metres and counts that no number of an observation passes.
FAR: Final = 1000.0
#: Environments of a vector, and what they can return.
MOST: Final = 4096
OBSERVATIONS: Final = ("numbers", "window", "both", "none")
_KEPT: Final = 64  # houses that are kept ready


class _Played(NamedTuple):
    """A house, ready to be played."""

    instance: Instance
    ground: Ground
    field: Field
    table: FeatureTable
    targets: npt.NDArray[np.int64]


class Setting(NamedTuple):
    """What is played."""

    level: str | Instance = levels.DEFAULT_LEVEL
    agents: int = 2
    data: Path | None = None
    rules: Rules = Rules()
    eyes: Eyes = Eyes()
    max_steps: int = FRAMES


class Episodes:
    """One episode after the other, by arrays."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.played = self._find(0)  # a level that cannot be played is told of now
        self._next, self._later = 0, generator(0, "transport", "later")
        agents = setting.agents
        self.windows = np.zeros((agents, WINDOW, WINDOW), np.uint8)
        self.numbers = np.zeros((agents, length(agents)), np.float32)
        self.masks = np.zeros((agents, ACTIONS), np.int8)

    def _find(self, seed: int) -> _Played:
        level, agents, data = self.setting[:3]
        if isinstance(level, Instance):
            return _prepared(level)
        seed = 0 if level[-1:].isdigit() else seed
        return _kept(level, seed, agents, data)

    def seed(self, seed: int) -> None:
        """Begin the stream of a seed."""
        self._next, self._later = seed, generator(seed, "transport", "later")

    def restart(self) -> None:
        """Begin the next episode."""
        seed, self._next = self._next, int(self._later.integers(SEEDS))
        self.played = self._find(seed)
        instance, ground, field, _, _ = self.played
        agents, rooms = self.setting.agents, len(instance.plan.rooms)
        knowledge = sight.begin(agents, len(instance.items), rooms)
        self.moment = Moment(ground, field, arrays.begin(instance), knowledge)
        self._luck = [generator(seed, "transport", "luck", TEAM[number]) for number in range(agents)]
        self._sees = [generator(seed, "transport", "eyes", TEAM[number]) for number in range(agents)]
        self._draws = np.ones((agents, len(instance.items) + agents))
        self.frames = 0
        self._look()

    def step(self, actions: Sequence[int] | npt.NDArray[np.integer]) -> TeamStep:
        """Begin the actions of those whose last one is over, then go through frames until one ends."""
        state, rules, table = self.moment.state, self.setting.rules, self.played.table
        for agent, action in enumerate(actions):
            if state.agents["verb"][agent] == NONE:
                luck = self._luck[agent].random() if rules.put_failure else 1.0
                physics.order(state, agent, make_primitive(table, state, agent, int(action)), luck)
        before = int(state.items["delivered"].sum())
        self.frames = physics.run(self.moment.ground, rules, state, self.setting.max_steps - int(state.clock[0]))
        self._look()
        delivered = int(state.items["delivered"].sum())
        is_done = delivered == len(self.played.targets)
        return TeamStep(
            float(delivered - before), is_done, not is_done and int(state.clock[0]) >= self.setting.max_steps
        )

    def _look(self) -> None:
        if self.setting.eyes.miss:
            for rng, draws in zip(self._sees, self._draws, strict=True):
                rng.random(out=draws)
        ground, field, state, knowledge = self.moment
        sight.look(ground, field, self.setting.eyes, state, knowledge, self._draws)

    def observe(self) -> None:
        """Write what agents know into ``windows``, ``numbers`` and ``masks``."""
        seen = self.windows, self.numbers, self.masks
        write_observations(*self.moment, self.played.table, self.setting.max_steps, *seen)


def _prepared(instance: Instance) -> _Played:
    ground = arrays.make_ground(instance)
    targets = np.array([k for k, item in enumerate(instance.items) if item.kind == "target"], np.int64)
    return _Played(instance, ground, sight.make_field(ground, instance.plan.wall_height), make_table(instance), targets)


@lru_cache(maxsize=_KEPT)
def _kept(level: str, seed: int, agents: int, data: Path | None) -> _Played:
    return _prepared(levels.instance(level, seed, levels.LevelOptions(data, agents)))


def _setting(
    level: str | Instance,
    agents: int,
    data: str | Path | None,
    rules: Rules,
    eyes: Eyes,
    max_steps: int | None,
) -> Setting:
    """Return what is played.

    Raises:
        UserError: An argument cannot be used.
    """
    for name, value, most in (("agents", agents, len(TEAM)), ("max_steps", max_steps, 10**6)):
        if value is not None and not is_integer(value, 1, most):
            raise UserError(f"{name} must be an integer from 1 to {most}, got {brief(value)}")
    if isinstance(level, Instance) and len(level.starts) != agents:
        raise UserError(f"an instance with {len(level.starts)} starts is for as many agents, got {agents}")
    return Setting(level, agents, None if data is None else Path(data), rules, eyes, max_steps or FRAMES)


def parallel_env(
    level: str | Instance = levels.DEFAULT_LEVEL,
    *,
    agents: int = 2,
    data: str | Path | None = None,
    rules: Rules = Rules(),  # noqa: B008 - a value that cannot change
    eyes: Eyes = Eyes(),  # noqa: B008
    max_steps: int | None = None,
    agent_indicator: bool = False,
    render_mode: RenderMode | None = None,
) -> TransportEnv:
    """Make a transport environment with the PettingZoo parallel interface.

    Args:
        level: A level (``levels.LEVELS``): ``"dev"`` is another house at every reset, ``"dev-3"`` always the same one;
            or an instance of your own.
        agents: How many there are, 1 to 4.
        data: The folder of the published sets, for levels ``official-...`` and ``train-...``.
        rules: How bodies walk and hands work.
        eyes: How well agents perceive.
        max_steps: Frames after which an unfinished episode is truncated, 3000 if None.
        agent_indicator: End ``observation`` with a number for each agent, 1 for the agent itself, so that one network
            can play all. What each number is called: ``env.fields``.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    setting = _setting(level, agents, data, rules, eyes, max_steps)
    return TransportEnv(setting, render_mode, agent_indicator=agent_indicator)


class TransportEnv(TeamEnv[Observation, "Dict", "Discrete"]):
    """Agents find targets in a house and bring them to the bed, in hands and containers.

    **Agents** are ``Alice``, ``Bob``, ...; all live until the episode ends. A step goes through frames until the
    action of any agent ends. Agents whose action still runs ignore what they are given, and say so: ``busy`` is 1 and
    the mask leaves them nothing but 0.

    **Actions**: Discrete(23): 0 wait (a frame), 1 move forward, 2 and 3 turn 15 degrees left and right, 4 put what one
    hand holds into the container in the other, 5 and 6 drop what the left and right hand hold, then grasp the thing
    of each of 16 rows.

    **Observations**: ``{"window": uint8 (49, 49), "observation": float32, "action_mask": int8 (23,)}``: a window of the
    agent's chart with the agent in the middle and north as second axis, a row of numbers
    (``array_features.write_observations``), and which actions the agent knows to be possible.

    **Rewards**: all get the number of targets newly delivered.

    **End**: terminated when all are delivered, else truncated at the limit of frames. ``agents`` is then empty, and
    ``step`` needs a ``reset`` first.

    **Infos**: for each agent ``{"reason": why its action failed, or "", "frames": frames of the step}``; empty at the
    start.

    **Reset**: ``reset(seed=s)`` plays the episode of seed s; ``reset()`` then draws the next, from seed 0 if no seed
    was ever given. ``options`` are accepted, as the interface demands, and not used.
    """

    metadata: ClassVar[dict[str, Any]] = parallel_metadata("transport_v0", 10)
    least_seed = 0

    def __init__(
        self, setting: Setting, render_mode: RenderMode | None = None, *, agent_indicator: bool = False
    ) -> None:
        """Use ``parallel_env``."""
        self._episodes = Episodes(setting)
        agents = TEAM[: setting.agents]
        size = setting.agents * (len(arrays.AGENT.names or ()) + arrays.HANDS) + ROWS * (len(THING) + 1)
        self.state_space = spaces().Box(-np.inf, np.inf, (size,), np.float32)
        actions: list[Discrete] = [spaces().Discrete(ACTIONS) for _ in agents]
        fields = field_names(setting.agents)
        super().__init__(agents, _observation_space(setting.agents), actions, render_mode, fields, agent_indicator)

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._episodes.seed(seed)
        self._episodes.restart()
        self._has_stepped = False

    def _play(self, actions: list[Any]) -> TeamStep:
        for action in actions:
            if not is_integer(action, 0, ACTIONS - 1):
                raise UserError(f"an action is an integer from 0 to {ACTIONS - 1}, got {brief(action)}")
        self._has_stepped = True
        return self._episodes.step(actions)

    def _infos(self, agents: list[str]) -> dict[str, Info]:
        if not self._has_stepped:
            return {agent: {} for agent in agents}
        reasons = self._episodes.moment.state.agents["reason"].tolist()
        frames = self._episodes.frames
        return {agent: {"reason": REASONS[reasons[TEAM.index(agent)]], "frames": frames} for agent in agents}

    def _observe(self, agents: list[str]) -> dict[str, Observation]:
        episodes = self._episodes
        episodes.observe()
        return {
            agent: {
                "window": episodes.windows[number].copy(),
                "observation": episodes.numbers[number].copy(),
                "action_mask": episodes.masks[number].copy(),
            }
            for number, agent in enumerate(agents)
        }

    def _observe_all(self) -> Floats:
        state, table = self._episodes.moment.state, self._episodes.played.table
        bodies = np.array([[float(value) for value in body] for body in state.agents.tolist()], np.float32)
        rows = np.zeros((ROWS, len(THING) + 1), np.float32)
        for row, item in enumerate(table.items.tolist()):
            if item >= 0:
                thing = state.items[item]
                holder = int(thing["holder"])
                rows[row, :6] = 1.0, thing["x"], thing["y"], thing["z"], holder != NOBODY, holder + 1
                rows[row, 6:10] = thing["inside"] + 1, table.kinds[item], thing["delivered"], thing["released"]
        return np.concatenate([bodies.reshape(-1), state.hands.reshape(-1).astype(np.float32), rows.reshape(-1)])

    def _draw(self, as_text: bool) -> npt.NDArray[np.uint8] | str:
        instance, moment = self._episodes.played.instance, self._episodes.moment
        names = Names(instance, self.possible_agents)
        static, snapshot = drawing_data.static(instance), drawing_data.snapshot(moment, names, [])
        return draw.text(static, snapshot) if as_text else draw.frame(static, snapshot)


def _observation_space(agents: int) -> Dict:
    box = spaces().Box
    space: Dict = spaces().Dict(
        {
            "window": box(0, SELF_HERE, (WINDOW, WINDOW), np.uint8),
            "observation": box(-FAR, FAR, (length(agents),), np.float32),
            "action_mask": box(0, 1, (ACTIONS,), np.int8),
        }
    )
    return space


def vector_env(
    level: str | Instance = levels.DEFAULT_LEVEL,
    num_envs: int = 1,
    *,
    agents: int = 2,
    data: str | Path | None = None,
    rules: Rules = Rules(),  # noqa: B008 - a value that cannot change
    eyes: Eyes = Eyes(),  # noqa: B008
    max_steps: int | None = None,
    observation: str = "numbers",
    agent_indicator: bool = False,
    copy: bool = True,
) -> TransportVectorEnv:
    """Make many transport environments with Gymnasium's vector interface.

    Args:
        level: As for ``parallel_env``.
        num_envs: How many, 1 to 4096.
        agents: How many agents each has, 1 to 4.
        data: The folder of the published sets.
        rules: How bodies walk and hands work.
        eyes: How well agents perceive.
        max_steps: Frames after which an unfinished episode is truncated, 3000 if None.
        observation: ``"numbers"``: float32 (E, n, L); ``"window"``: uint8 (E, n, 49, 49); ``"both"``: a dictionary of
            these two by their names; ``"none"``: nothing, which saves the time of making it.
        agent_indicator: End each agent's numbers with one for each agent, 1 for the agent itself: (E, n, L + n); fresh
            arrays whatever ``copy`` says. What each number is called: ``env.fields``.
        copy: Whether returned observations are fresh arrays; else the next step overwrites them.

    Raises:
        UserError: If an argument cannot be used.
    """
    if observation not in OBSERVATIONS:
        raise UserError(f"observation must be one of {', '.join(OBSERVATIONS)}, got {brief(observation)}")
    setting = _setting(level, agents, data, rules, eyes, max_steps)
    return make_environments(
        lambda number: TransportVectorEnv(setting, number, observation, copy, agent_indicator=agent_indicator),
        num_envs,
        MOST,
        "another observation or fewer agents",
    )


class TransportVectorEnv(TeamVectorEnv):
    """E episodes of transport at once, with the interface of Gymnasium's vector environments.

    **Actions**: integers of shape (E, n), see ``TransportEnv``; what is out of range waits.

    **Observations**: see ``vector_env``.

    **Rewards, terminations, truncations**: shape (E,), float64 and bool. A team shares its reward.

    **Next-step autoreset**: an environment that finished in one step ignores its actions in the next: it starts a new
    episode and returns its first observation, with reward 0 and both flags False.

    **Seeds**: ``reset(seed=s)`` gives environment e the seed s + e; it then plays the episodes that ``parallel_env``
    plays after ``reset(seed=s + e)``, ``reset()``, ``reset()``, ... Without any seed s is 0. A list gives one seed
    for each environment.

    **Infos**: ``{"frames": (E,) int64}``: frames of the step; with observations also ``{"action_mask": (E, n, 23)
    int8}``.
    """

    metadata: ClassVar[dict[str, Any]] = vector_metadata("transport_v0")

    def __init__(
        self, setting: Setting, num_envs: int, observation: str, copy: bool, *, agent_indicator: bool = False
    ) -> None:
        """Use ``vector_env``."""
        super().__init__(num_envs, setting.agents, copy)
        self._is_indicated, agents = bool(agent_indicator), TEAM[: setting.agents]
        marks = indicator_names(agents) if self._is_indicated else ()
        self.fields = (*field_names(setting.agents), *marks) if observation in ("numbers", "both") else ()
        self._episodes = [Episodes(setting) for _ in range(num_envs)]
        self._finished = np.zeros(num_envs, np.bool_)
        self._observation = observation
        self._windows = np.zeros((num_envs, setting.agents, WINDOW, WINDOW), np.uint8)
        self._numbers = np.zeros((num_envs, setting.agents, length(setting.agents)), np.float32)
        self._masks = np.zeros((num_envs, setting.agents, ACTIONS), np.int8)
        for env, episodes in enumerate(self._episodes):
            episodes.windows, episodes.numbers = self._windows[env], self._numbers[env]
            episodes.masks = self._masks[env]

    def _seed(self, env: int, seed: int) -> None:
        self._episodes[env].seed(seed)

    def _restart(self, envs: npt.NDArray[np.int32]) -> None:
        for env in envs.tolist():
            self._episodes[env].restart()
        self._finished[envs] = False

    def step(self, actions: npt.NDArray[np.integer]) -> VectorStep:
        """Let all agents of all environments act: observations, rewards, terminations, truncations, infos.

        Args:
            actions: Whole numbers of shape (E, n).

        Raises:
            UserError: If ``reset`` was never called, or the actions are not whole numbers or their shape is wrong.
        """
        if not self._has_begun:
            raise UserError("the episodes have not begun: call reset() before step()")
        wanted, shape = np.asarray(actions), (self.num_envs, self.num_agents)
        if wanted.shape != shape or wanted.dtype.kind not in "iu":
            raise UserError(f"actions must be whole numbers of shape {shape}, got {wanted.dtype} {brief(wanted.shape)}")
        wanted = np.where((wanted >= 0) & (wanted < ACTIONS), wanted, 0)
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
        if self._observation == "none":
            return None
        for episodes in self._episodes:
            episodes.observe()
        if self._observation == "both":
            both: Any = {"numbers": self._given_numbers(), "window": self._given(self._windows)}
            return both  # type: ignore[no-any-return]  # a dictionary, which the base does not foresee
        return self._given_numbers() if self._observation == "numbers" else self._given(self._windows)

    def _given_numbers(self) -> npt.NDArray[Any]:
        return stack_indicators(self._numbers) if self._is_indicated else self._given(self._numbers)

    def _given(self, part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array to hand out: a copy, or a view that cannot be written."""
        if self._copy:
            return part.copy()
        view = part.view()
        view.flags.writeable = False
        return view

    def _infos(self) -> Info:
        infos: Info = {"frames": np.array([episodes.frames for episodes in self._episodes], np.int64)}
        return infos if self._observation == "none" else infos | {"action_mask": self._given(self._masks)}

    def _team_action_space(self) -> Space[Any]:
        space: Space[Any] = spaces().MultiDiscrete([ACTIONS] * self.num_agents)
        return space

    def _team_observation_space(self) -> Space[Any]:
        if self._observation == "none":
            raise UserError("there are no observations: make the environment with observation='numbers' or 'window'")
        box, agents = spaces().Box, self.num_agents
        parts = {
            "numbers": box(-FAR, FAR, (agents, length(agents) + self._is_indicated * agents), np.float32),
            "window": box(0, SELF_HERE, (agents, WINDOW, WINDOW), np.uint8),
        }
        space: Space[Any] = spaces().Dict(parts) if self._observation == "both" else parts[self._observation]
        return space
