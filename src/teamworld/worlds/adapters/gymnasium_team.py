"""Gymnasium environments of teams (tuples of observations, lists of rewards) as PettingZoo environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from teamworld.errors import UserError, suggest
from teamworld.worlds.adapters.package import load
from teamworld.worlds.base.agent_indicator import space_with_indicator, with_indicator
from teamworld.worlds.base.array_interface import ParallelBase, actions_in_order, check_pettingzoo

TeamStep = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


def find_registered(package: str, name: str) -> Any:  # noqa: ANN401  (Gymnasium's specification of an environment)
    """Return the specification of an environment that a package registers with Gymnasium.

    Args:
        package: Imported first; importing it registers its environments.
        name: ``Foraging-8x8-2p-1f-v3``.

    Raises:
        UserError: The package is not installed, or there is no such environment.
    """
    load(package)
    specs = load("gymnasium.envs.registration").registry
    own = [known for known, spec in specs.items() if str(spec.entry_point).startswith(package)]
    if name not in own:
        near = suggest(name, own)
        hint = near if "mean" in near else f"; there are {len(own)}, for example '{own[0]}'"
        raise UserError(f"{package} registers no environment '{name}'{hint}")
    return specs[name]


def make_registered(package: str, name: str, **settings: object) -> Any:  # noqa: ANN401  (an environment of any kind)
    """Return a bare environment that a package registers with Gymnasium, without wrappers.

    Args:
        package: See ``find_registered``.
        name: See ``find_registered``.
        settings: Instead of those that are registered under the name.

    Raises:
        UserError: The package is not installed, or there is no such environment.
    """
    spec = find_registered(package, name)
    create = load("gymnasium.envs.registration").load_env_creator(spec.entry_point)
    return create(**{**spec.kwargs, **settings})


class GymnasiumTeam(ParallelBase):
    """A PettingZoo environment with the observations and rewards of a Gymnasium environment, unchanged.

    Args:
        env: Takes a list of actions, returns a tuple of observations and a list of rewards, and ends for all at once.
        name: For ``metadata``.
        edit: Changes the environment after each reset; checks use it to make states that agents cannot tell apart.
        agent_indicator: Whether each observation ends with a number for each agent, 1 for the agent itself.

    Raises:
        UserError: PettingZoo is not installed, or observations that are to have an indicator are no rows.
    """

    def __init__(
        self,
        env: Any,  # noqa: ANN401  (an environment of any kind)
        name: str,
        edit: Callable[[Any], None] | None = None,
        agent_indicator: bool = False,
    ) -> None:
        check_pettingzoo()
        self.env, self._edit = env, edit
        self.metadata = {"name": name, "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents = [f"agent_{number}" for number in range(len(env.action_space))]
        self.agents: list[str] = []
        self._is_indicated, seen = bool(agent_indicator), env.observation_space
        if self._is_indicated:
            seen = [space_with_indicator(space, len(self.possible_agents)) for space in seen]
        self.observation_spaces = dict(zip(self.possible_agents, seen, strict=True))
        self.action_spaces = dict(zip(self.possible_agents, env.action_space, strict=True))

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401  (a space)
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401  (a space)
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def infos(self) -> Sequence[dict[str, Any]]:
        """Return the info of each agent; an environment whose observations leave something open adds it here."""
        return [{} for _ in self.possible_agents]

    def observe(self) -> Sequence[Any]:
        """Return what each agent observes now: where an environment is edited, its class says how."""
        raise NotImplementedError

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode and return observations and infos.

        Args:
            seed: Passed on.
            options: Passed on.
        """
        observations, _ = self.env.reset(seed=seed, options=options)
        if self._edit is not None:
            self._edit(self.env)
            observations = self.observe()
        self.agents = self.possible_agents.copy()
        return self._named(observations), dict(zip(self.agents, self.infos(), strict=True))

    def _named(self, observations: Sequence[Any]) -> dict[str, Any]:
        if self._is_indicated:
            observations = [with_indicator(seen, k, len(observations)) for k, seen in enumerate(observations)]
        return dict(zip(self.possible_agents, observations, strict=True))

    def step(self, actions: Mapping[str, Any]) -> TeamStep:
        """Let all agents act and return observations, rewards, terminations, truncations and infos.

        Args:
            actions: One action for each agent in ``agents``.

        Raises:
            UserError: No episode is running, or an agent is missing or unknown.
        """
        agents = self.agents
        if not agents:
            raise UserError("no episode is running: call reset() before step()")
        observations, rewards, terminated, truncated, _ = self.env.step(actions_in_order(actions, agents))
        if terminated or truncated:
            self.agents = []
        return (
            self._named(observations),
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            dict(zip(agents, self.infos(), strict=True)),
        )

    def close(self) -> None:
        """Close the environment."""
        self.env.close()
