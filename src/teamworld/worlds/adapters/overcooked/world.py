"""Overcooked as a world of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from teamworld.worlds.adapters.known_picture import of_facts
from teamworld.worlds.adapters.overcooked import bounds, draw
from teamworld.worlds.adapters.overcooked.domain import OvercookedDomain
from teamworld.worlds.adapters.overcooked.env import PACKAGE as PACKAGE
from teamworld.worlds.adapters.overcooked.env import find_level, parallel_env, read_kitchen
from teamworld.worlds.adapters.overcooked.levels import LEVELS as LEVELS
from teamworld.worlds.adapters.overcooked.text import tell_rules, tell_task
from teamworld.worlds.adapters.world import AdapterWorld
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.options import read_options
from teamworld.worlds.contract import WorldSpec

DEFAULT_LEVEL = "cramped_room"
SUMMARY = (
    "Overcooked (cogrid): cook onion soups and deliver them; layouts where cooks are in each other's way, or apart"
)


class OvercookedOptions(BaseModel):
    """What can be set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    soups: int = Field(
        default=4,
        ge=1,
        le=50,
        description="Soups to deliver: then the level is finished. The package has no such number.",
    )


OPTIONS = OvercookedOptions
known_picture = of_facts(lambda describer: draw.static(describer.kitchen))


@lru_cache(maxsize=8)
def _own_limit(level: str) -> int:
    return int(parallel_env(level).env.max_steps)


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends in the package.

    Raises:
        UserError: The package is not installed, or there is no such level.
    """
    find_level(level)
    return _own_limit(level)


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> AdapterWorld:
    """Return the instance of a level.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    chosen = read_options(OvercookedOptions, options, "overcooked")
    env = parallel_env(level)
    kitchen, agents = read_kitchen(env), env.possible_agents
    spec = WorldSpec(
        world="overcooked",
        level=level,
        agents=tuple(agents),
        kinds=dict.fromkeys(agents, "cook"),
        horizon=horizon,
        task=tell_task(chosen.soups, horizon),
        rules=tell_rules(kitchen),
        options=chosen.model_dump(mode="json"),
        static=draw.static(kitchen),
    )
    domain = OvercookedDomain(kitchen, agents, chosen.soups)
    return AdapterWorld(spec, domain, lambda: parallel_env(level, horizon), seed)


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    world = make(level, seed, step_limit(level, options), options)
    domain = cast("OvercookedDomain", world.domain)
    return bounds.bound(domain.kitchen, domain.read(world.truth()), domain.soups)
