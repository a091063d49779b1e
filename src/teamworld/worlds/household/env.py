"""The household as a PettingZoo parallel environment."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.base.array_interface import Info, RenderMode, is_integer, spaces
from teamworld.worlds.base.parallel_environment import TeamEnv, TeamStep, parallel_metadata
from teamworld.worlds.household import draw, drawing_data, levels, physics
from teamworld.worlds.household.array_features import (
    ACTIONS,
    FEATURES,
    OWN,
    ROWS,
    Floats,
    Mask,
    Table,
    field_names,
    length,
)
from teamworld.worlds.household.homes.floor_plan import NUMBERS
from teamworld.worlds.household.homes.home import MOST_AGENTS, NAMES, Episode
from teamworld.worlds.household.homes.placement import PLACEMENTS, Rule
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.starting_places import Starts, check_starts, starting_places
from teamworld.worlds.household.state import Rules, State

if TYPE_CHECKING:
    from gymnasium.spaces import Dict, Discrete

Observation = dict[str, Floats | Mask]

#: Seeds of later episodes are drawn from 0 up to this.
SEEDS: Final = 2**31
#: Metres that no coordinate passes; other numbers of an observation are smaller.
FAR: Final = 1000.0
_NUMBERS: Final = (NUMBERS[0], NUMBERS[-1])
_RULES: Final = tuple(PLACEMENTS)
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
    placement: Rule = "uniform",
    rooms: int = levels.ROOMS,
    starts: Starts = "random",
    data: str | Path | None = None,
    max_steps: int | None = None,
    agent_indicator: bool = False,
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
        placement: How things are laid out in generated homes, ``"uniform"`` or ``"official"``.
        rooms: How many rooms generated homes have, 3 to 6.
        starts: ``"random"``: at random places of their rooms; ``"recorded"``: where recorded runs of the official set
            began; or a list of places (x, z) in metres, one for each agent.
        data: The folder, or the pickle, of the official set, for levels ``official-...``.
        max_steps: Steps after which an unfinished episode is truncated; those of the episode, 250, if None.
        agent_indicator: End ``observation`` with a number for each agent, 1 for the agent itself, so that one network
            can play all. What each number is called: ``env.fields``.
        render_mode: What ``render`` returns: ``"rgb_array"`` a uint8 picture, ``"ansi"`` a text.

    Raises:
        UserError: If the extra ``[rl]`` is not installed or an argument cannot be used.
    """
    limits = {"agents": (agents, 1, MOST_AGENTS), "rooms": (rooms, *_NUMBERS), "max_steps": (max_steps, 1, 10**6)}
    for name, (value, least, most) in limits.items():
        if value is not None and not is_integer(value, least, most):
            raise UserError(f"{name} must be an integer from {least} to {most}, got {brief(value)}")
    choices = {
        "sight": (sight, ("room", "cone")),
        "mode": (mode, ("strict", "engine")),
        "placement": (placement, _RULES),
    }
    for name, (word, words) in choices.items():
        if word not in words:
            raise UserError(f"{name} must be one of {', '.join(words)}, got {brief(word)}")
    check_starts(starts, agents)
    home = levels.HomeOptions(None if data is None else Path(data), placement, rooms)
    rules = Rules(mode, bool(strict_put), sight, bool(occlusion))
    return HouseholdEnv(level, agents, rules, home, max_steps, render_mode, starts, agent_indicator=agent_indicator)


class HouseholdEnv(TeamEnv[Observation, "Dict", "Discrete"]):
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

    metadata: ClassVar[dict[str, Any]] = parallel_metadata("household_v0", 5)
    least_seed = 0
    _state: State

    def __init__(
        self,
        level: str | Episode,
        agents: int,
        rules: Rules,
        home: levels.HomeOptions = levels.AS_IS,
        max_steps: int | None = None,
        render_mode: RenderMode | None = None,
        starts: Starts = "random",
        *,
        agent_indicator: bool = False,
    ) -> None:
        """Use ``parallel_env``."""
        self._level, self._home, self._rules, self._max_steps = level, home, rules, max_steps
        self._starts = starts
        self._played = self._find(0)  # a level that cannot be played, or starts that are not in it, is told of now
        starting_places(self._played.episode, self._played.floor, starts, agents, 0)
        self._next = 0
        self._draws: np.random.Generator | None = None
        names = NAMES[:agents]
        self._id_of = {agent: number for number, agent in enumerate(names, 1)}
        box = spaces().Box
        seen: Dict = spaces().Dict(
            {
                "observation": box(-FAR, FAR, (length(agents),), np.float32),
                "action_mask": box(0, 1, (ACTIONS,), np.int8),
            }
        )
        self.state_space = box(-FAR, FAR, (agents * len(OWN) + ROWS * len(FEATURES),), np.float32)
        actions: list[Discrete] = [spaces().Discrete(ACTIONS) for _ in names]
        super().__init__(names, seen, actions, render_mode, field_names(agents), agent_indicator)

    def _find(self, seed: int) -> _Played:
        if isinstance(self._level, Episode):
            return _prepared(self._level)
        if self._level[-1:].isdigit():  # one episode, whatever the seed
            return _kept(self._level, self._home)
        return _prepared(levels.episode(self._level, seed, self._home))

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._next, self._draws = seed, generator(seed, "household", "later")
        if self._draws is None:
            self._draws = generator(0, "household", "later")
        current, self._next = self._next, int(self._draws.integers(SEEDS))
        self._played = self._find(current)
        self._rng = generator(current, "household", "play")
        episode, floor, agents = self._played.episode, self._played.floor, len(self.possible_agents)
        self._state = physics.start(
            episode,
            floor,
            generator(current, "household", "starts"),
            agents=agents,
            rules=self._rules,
            at=starting_places(episode, floor, self._starts, agents, current),
        )
        self._happened: physics.Happened | None = None

    def _play(self, actions: list[Any]) -> TeamStep:
        state, (episode, _, table) = self._state, self._played
        for action in actions:
            if not is_integer(action, 0, ACTIONS - 1):
                raise UserError(f"an action is an integer from 0 to {ACTIONS - 1}, got {brief(action)}")
        acts = {number: table.act(state, number, int(action)) for number, action in enumerate(actions, 1)}
        before = self._missing()
        self._happened = physics.step(state, acts, self._rng)
        missing = self._missing()
        is_late = state.time >= (self._max_steps or episode.steps)
        return TeamStep(float(before - missing), missing == 0, missing > 0 and is_late)

    def _missing(self) -> int:
        return sum(max(0, self._state.missing(need)) for need in self._played.episode.needs)

    def _infos(self, agents: list[str]) -> dict[str, Info]:
        if self._happened is None:
            return {agent: {} for agent in agents}
        infos: dict[str, Info] = {}
        for agent in agents:
            done = self._happened.done[self._id_of[agent]]
            reason = done.reason
            if reason == "unknown":  # whether a row that was never seen has a node is nobody's business
                reason = "not_held" if done.act.verb in ("putin", "putback") and not done.act.target else "unseen"
            infos[agent] = {"reason": reason, "moved": done.moved}
        return infos

    def _observe(self, agents: list[str]) -> dict[str, Observation]:
        observations: dict[str, Observation] = {}
        for agent in agents:
            seen, mask = self._played.table.look(self._state, self._id_of[agent])
            observations[agent] = {"observation": seen, "action_mask": mask}
        return observations

    def _observe_all(self) -> Floats:
        return self._played.table.truth(self._state)

    def _draw(self, as_text: bool) -> np.ndarray[Any, np.dtype[np.uint8]] | str:
        episode = self._played.episode
        static, snapshot = drawing_data.static(episode), drawing_data.snapshot(self._state, episode)
        return draw.text(static, snapshot) if as_text else draw.frame(static, snapshot)


def _prepared(episode: Episode) -> _Played:
    return _Played(episode, Floor(episode.home), Table(episode))


@lru_cache(maxsize=_KEPT)
def _kept(level: str, home: levels.HomeOptions) -> _Played:
    return _prepared(levels.episode(level, 0, home))
