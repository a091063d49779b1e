"""Level-based foraging as a world of the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from teamworld.errors import UserError
from teamworld.language import Cell
from teamworld.worlds.adapters.gymnasium_team import find_registered
from teamworld.worlds.adapters.known_picture import of_facts
from teamworld.worlds.adapters.lbf import bounds, draw
from teamworld.worlds.adapters.lbf.domain import LbfDomain
from teamworld.worlds.adapters.lbf.env import PACKAGE as PACKAGE
from teamworld.worlds.adapters.lbf.env import parallel_env
from teamworld.worlds.adapters.lbf.levels import LEVELS as LEVELS
from teamworld.worlds.adapters.lbf.state import Field
from teamworld.worlds.adapters.lbf.text import tell_rules, tell_task
from teamworld.worlds.adapters.world import AdapterWorld
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.options import read_options
from teamworld.worlds.contract import GOALS_AND_STEPS, HeadlineMeasure, WorldSpec

DEFAULT_LEVEL = "Foraging-8x8-2p-2f-coop-v3"
SUMMARY = "level-based foraging (lbforaging): load food whose level takes several foragers at once"
#: Draws what one forager knows.
known_picture = of_facts(lambda describer: draw.static(describer.field))

_HEADLINE = (
    HeadlineMeasure(
        "world_score", "points", "high", "rewards of the package, summed over foragers: 1 where all food is loaded"
    ),
    *GOALS_AND_STEPS,
)


class LbfOptions(BaseModel):
    """Nothing can be set: the name of the level says it all."""

    model_config = ConfigDict(extra="forbid", frozen=True)


OPTIONS = LbfOptions


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends in the package.

    Raises:
        UserError: The package is not installed, or there is no such level.
    """
    return int(find_registered(PACKAGE, level).kwargs["max_episode_steps"])


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> AdapterWorld:
    """Return the instance of a level.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    read_options(LbfOptions, options, "lbf")
    return _build(level, seed, horizon)


def _build(level: str, seed: int, horizon: int, edit: Callable[[Any], None] | None = None) -> AdapterWorld:
    env = parallel_env(level)
    if env.env._grid_observation or not env.env._observe_agent_levels:
        raise UserError(f"the world lbf reads vector observations with levels; {level} has others")
    rows, columns = env.env.field_size
    field, agents = Field((rows, columns), env.env.sight), env.possible_agents
    spec = WorldSpec(
        world="lbf",
        level=level,
        agents=tuple(agents),
        kinds=dict.fromkeys(agents, "forager"),
        horizon=horizon,
        task=tell_task(horizon),
        rules=tell_rules(field),
        memory="agent",
        headline=_HEADLINE,
        static=draw.static(field),
    )
    return AdapterWorld(spec, LbfDomain(field, agents), lambda: parallel_env(level, horizon, edit), seed)


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound | None:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    None where the team together cannot load some food.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    read_options(LbfOptions, options, "lbf")
    world = _build(level, seed, step_limit(level, {}))
    domain = cast("LbfDomain", world.domain)
    return bounds.bound(domain.field.size, domain.read(world.truth()))


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances that a forager cannot tell apart: a food out of its sight has another level."""
    world = _build(level, seed, step_limit(level, {}))
    domain = cast("LbfDomain", world.domain)
    state = domain.read(world.truth())
    for agent, at in state.at.items():
        hidden = [cell for cell in state.foods if cell not in set(domain.field.window(at))]
        for cell in hidden[:1]:

            def change(env: Any, cell: Cell = cell) -> None:  # noqa: ANN401  (the package is not typed)
                env.field[cell] = 1 if env.field[cell] > 1 else 2

            first, second = (_build(level, seed, step_limit(level, {}), edit) for edit in (None, change))
            yield IndistinguishablePair(first, second, agent)
