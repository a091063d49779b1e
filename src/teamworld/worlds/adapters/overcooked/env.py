"""The bare package as a PettingZoo environment whose agents have names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from teamworld.errors import UserError, suggest
from teamworld.worlds.adapters.overcooked.levels import ENVIRONMENTS
from teamworld.worlds.adapters.overcooked.state import NOTHING, ONION, PLATE, SOUP, Kitchen
from teamworld.worlds.adapters.package import check_limit, load
from teamworld.worlds.base.agent_indicator import space_with_indicator, with_indicator
from teamworld.worlds.base.array_interface import ParallelBase, actions_in_order, check_pettingzoo

#: The package that is wrapped.
PACKAGE: Final = "cogrid"
#: Stations by the characters of the package's layouts.
_STATIONS: Final = {"U": "pot", "O": "onion_stack", "=": "plate_stack", "@": "window", "C": "counter"}

Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class OvercookedEnv(ParallelBase):
    """Overcooked with the package's own observations, rewards and actions; its agents 0 and 1 have names.

    Args:
        env: The package's environment.
        level: Its level.
        agent_indicator: Whether each observation ends with a number for each agent, 1 for the agent itself.
    """

    def __init__(self, env: Any, level: str, agent_indicator: bool = False) -> None:  # noqa: ANN401  (an environment of any kind)
        check_pettingzoo()
        self.env = env
        self.metadata = {"name": f"overcooked-{level}", "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents = [f"agent_{number}" for number in env.possible_agents]
        self.agents: list[str] = []
        seen = load("gymnasium.spaces").Box(-float("inf"), float("inf"), (_count_numbers(level),))
        self._is_indicated = bool(agent_indicator)
        if self._is_indicated:
            seen = space_with_indicator(seen, len(self.possible_agents))
        self._observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self._names = dict(zip(env.possible_agents, self.possible_agents, strict=True))
        number_of = load("cogrid.core.objects").object_to_idx
        own = {"onion": ONION, "plate": PLATE, "onion_soup": SOUP}
        self._things = {int(number_of(thing, scope=env.scope)): name for thing, name in own.items()}

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401  (a space)
        """Return the observation space of an agent: the numbers of an observation, without bounds."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401  (a space)
        """Return the action space of an agent."""
        return self.env.action_spaces[self.possible_agents.index(agent)]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode and return observations and infos.

        Args:
            seed: Passed on.
            options: Passed on.
        """
        observations, infos = self.env.reset(seed=seed, options=options)
        self.agents = self.possible_agents.copy()
        return self._marked(self._named(observations)), self._named(infos)

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Let both act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: One action for each agent in ``agents``.

        Raises:
            UserError: No episode is running, or an agent is missing or unknown.
        """
        if not self.agents:
            raise UserError("no episode is running: call reset() before step()")
        result = self.env.step(dict(enumerate(actions_in_order(actions, self.agents))))
        if not self.env.agents:
            self.agents = []
        observations, rewards, terminations, truncations, infos = map(self._named, result)
        return self._marked(observations), rewards, terminations, truncations, infos

    def name_thing(self, number: int) -> str:
        """Return what the package's number of a thing in hands or on a counter stands for."""
        return self._things.get(number, NOTHING)

    def _named(self, by_number: Mapping[int, Any]) -> dict[str, Any]:
        return {name: by_number[number] for number, name in self._names.items()}

    def _marked(self, seen: dict[str, Any]) -> dict[str, Any]:
        if not self._is_indicated:
            return seen
        return {agent: with_indicator(seen[agent], number, len(seen)) for number, agent in enumerate(seen)}

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def find_level(level: str) -> str:
    """Return the name that the package registers for a level; raises ``UserError``."""
    if level not in ENVIRONMENTS:
        raise UserError(f"overcooked has no level '{level}'{suggest(level, [*ENVIRONMENTS])}")
    return ENVIRONMENTS[level]


def make_bare(level: str) -> Any:  # noqa: ANN401  (an environment of any kind)
    """Return the package's own environment of a level; raises ``UserError``."""
    return load("cogrid.envs.registry").make(find_level(level))


def parallel_env(level: str, max_steps: int | None = None, *, agent_indicator: bool = False) -> OvercookedEnv:
    """Return the PettingZoo environment of a level.

    Args:
        level: Name of the layout: ``cramped_room``.
        max_steps: Steps after which an episode ends; the package's own if None.
        agent_indicator: End each observation with a number for each agent, 1 for the agent itself.

    Raises:
        UserError: The package is not installed, there is no such level, or the limit is below 1.
    """
    check_limit(max_steps)
    env = make_bare(level)
    if max_steps is not None:
        env.max_steps = max_steps
    return OvercookedEnv(env, level, agent_indicator)


@lru_cache(maxsize=8)
def _count_numbers(level: str) -> int:
    """Return how many numbers an observation has; only an environment that was reset tells."""
    return int(make_bare(level).reset(seed=0)[0][0].size)


def read_kitchen(env: OvercookedEnv) -> Kitchen:
    """Return the layout of an environment."""
    lines, _ = load("cogrid.core.grid.layouts").get_layout(env.env.config["grid"]["layout"])
    pot = load("cogrid.envs.overcooked.overcooked_grid_objects").Pot
    cells = {(row, column): char for row, line in enumerate(lines) for column, char in enumerate(line)}
    floor = frozenset(cell for cell, char in cells.items() if char not in _STATIONS)
    stations = {kind: tuple(cell for cell, char in cells.items() if char == own) for own, kind in _STATIONS.items()}
    size = len(lines), len(lines[0])
    return Kitchen.make(size, floor, stations, int(pot.recipes[0].cook_time))
