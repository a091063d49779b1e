"""The robotic warehouse as a world of the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError
from teamworld.language import Cell
from teamworld.worlds.adapters.gymnasium_team import find_registered
from teamworld.worlds.adapters.known_picture import of_facts
from teamworld.worlds.adapters.rware import bounds, draw
from teamworld.worlds.adapters.rware.domain import RwareDomain
from teamworld.worlds.adapters.rware.env import PACKAGE as PACKAGE
from teamworld.worlds.adapters.rware.env import RwareEnv, parallel_env
from teamworld.worlds.adapters.rware.levels import LEVELS as LEVELS
from teamworld.worlds.adapters.rware.state import FloorPlan, find_racks
from teamworld.worlds.adapters.rware.text import tell_rules, tell_task
from teamworld.worlds.adapters.world import AdapterWorld
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.options import read_options
from teamworld.worlds.contract import GOALS_AND_STEPS, HeadlineMeasure, WorldSpec

DEFAULT_LEVEL = "rware-tiny-2ag-v2"
#: Requests to be delivered unless told otherwise: the scripted team takes about half of the published 500 steps.
ORDERS_PER_ROBOT = 5
SUMMARY = "the robotic warehouse (rware): find requested shelves, carry them to a goal and back"

#: Draws what one robot knows.
known_picture = of_facts(lambda describer: draw.static(describer.floor))

_HEADLINE = (
    HeadlineMeasure(
        "world_score",
        "shelves",
        "high",
        "rewards of the package, summed over robots: 1 for each shelf that is delivered",
    ),
    *GOALS_AND_STEPS,
)


class RwareOptions(BaseModel):
    """What can be set for the warehouse."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    orders: int | None = Field(default=None, ge=1, le=1000)
    """Requests that are to be delivered, five for each robot if left out; the package makes new ones without end."""


OPTIONS = RwareOptions


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends in the package.

    Raises:
        UserError: The package is not installed, or there is no such level.
    """
    return int(find_registered(PACKAGE, level).kwargs["max_steps"])


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> AdapterWorld:
    """Return the instance of a level.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    return _build(level, seed, horizon, read_options(RwareOptions, options, "rware"))


def _build(
    level: str, seed: int, horizon: int, chosen: RwareOptions, edit: Callable[[Any], None] | None = None
) -> AdapterWorld:
    env = parallel_env(level)
    if not env.env.fast_obs or env.env.msg_bits or env.env.normalised_coordinates:
        raise UserError(f"the world rware reads flat observations without messages; {level} has others")
    agents = env.possible_agents
    orders = chosen.orders or ORDERS_PER_ROBOT * len(agents)
    floor = read_floor(env, orders)
    spec = WorldSpec(
        world="rware",
        level=level,
        agents=tuple(agents),
        kinds=dict.fromkeys(agents, "robot"),
        horizon=horizon,
        task=tell_task(orders, horizon),
        rules=tell_rules(floor),
        memory="agent",
        headline=_HEADLINE,
        options={"orders": orders},
        static=draw.static(floor),
    )
    return AdapterWorld(spec, RwareDomain(floor, agents), lambda: parallel_env(level, horizon, edit), seed)


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    Raises:
        UserError: The package is not installed, or there is no such level or option.
    """
    chosen = read_options(RwareOptions, options, "rware")
    env = parallel_env(level)
    env.reset(seed=seed)
    return bounds.bound(bounds.read_problem(env.env, chosen.orders or ORDERS_PER_ROBOT * len(env.possible_agents)))


def read_floor(env: RwareEnv, orders: int) -> FloorPlan:
    """Return the floor plan of an environment."""
    warehouse = env.env
    rows, columns = warehouse.grid_size
    slots = frozenset((y, x) for y in range(rows) for x in range(columns) if not warehouse.highways[y, x])
    goals = tuple((int(y), int(x)) for x, y in warehouse.goals)
    return FloorPlan((rows, columns), goals, slots, find_racks(slots, (rows, columns)), orders, warehouse.sensor_range)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances that a robot cannot tell apart: another shelf out of its sight is ordered."""
    horizon = step_limit(level, {})
    world = _build(level, seed, horizon, RwareOptions())
    floor, state = cast("RwareDomain", world.domain).floor, world.domain.read(world.truth())
    for agent, at in state.at.items():
        window = set(floor.window(at))
        hidden = [order.slot for order in state.orders.values() if order.slot and order.slot not in window]
        ordered = {order.slot for order in state.orders.values()}
        other = next(slot for slot in sorted(floor.slots - ordered) if slot not in window)
        for slot in hidden[:1]:

            def change(env: Any, slot: Cell = slot, other: Cell = other) -> None:  # noqa: ANN401  (the package is not typed)
                shelves = {(shelf.y, shelf.x): shelf for shelf in env.shelfs}
                env.request_queue[env.request_queue.index(shelves[slot])] = shelves[other]

            first, second = (_build(level, seed, horizon, RwareOptions(), edit) for edit in (None, change))
            yield IndistinguishablePair(first, second, agent)
