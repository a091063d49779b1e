"""Little worlds with everybody where a test wants them, and what one does with a world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from teamworld.language import Action, AgentId, Fact, parse_action, parse_fact
from teamworld.seeding import generator
from teamworld.worlds.contract import Outcome, StepResult
from teamworld.worlds.household.homes.home import Episode, Home, Need, NodeId
from teamworld.worlds.household.world import HouseholdOptions, HouseholdWorld
from tests.worlds.household.homes import FRIDGE, KITCHEN, LIVING, flat, tea

Place = tuple[float, float]

#: Places in the flat: by the fridge, by the kitchen table, by the coffee table, by the cabinet.
AT_FRIDGE, AT_TABLE, AT_COFFEE, AT_CABINET = (-1.5, 1.5), (0.0, -0.7), (6.0, -0.2), (7.6, 1.5)


def world(
    *at: Place, given: Episode | None = None, horizon: int = 100, seed: int = 0, **options: Any
) -> HouseholdWorld:
    """Return a world in which agent 1 starts at the first place, and so on."""
    episode = replace(given or tea(), recorded=tuple((place,) for place in at))
    chosen = HouseholdOptions(agents=len(at), starts="recorded", **options)
    made = HouseholdWorld(episode, "custom", horizon, chosen)
    made.reset(seed)
    return made


def groceries(home: Home | None = None, number: int = 1) -> Episode:
    """Return the task to bring cupcakes into the fridge."""
    needs = (Need("INSIDE", "cupcake", FRIDGE, number),)
    return Episode("groceries", "put_fridge", home or flat(), needs, (KITCHEN, LIVING))


def do(here: HouseholdWorld, **orders: str) -> StepResult:
    """Do one step with orders in written form."""
    return here.step({agent: parse_action(text) for agent, text in orders.items()})


def until(here: HouseholdWorld, agent: AgentId, order: str, most: int = 60) -> tuple[Outcome, int]:
    """Order once and let it run until it is over; return what became of it, and the steps."""
    report = do(here, **{agent: order})
    for steps in range(1, most):
        if report.end_reason is not None or report.outcomes[agent].status != "running":
            return report.outcomes[agent], steps
        report = here.step({})
    raise AssertionError(f"{order} goes on for ever")


def done(here: HouseholdWorld, agent: AgentId, *orders: str) -> None:
    """Do some actions to their end; each must succeed."""
    for order in orders:
        outcome, _ = until(here, agent, order)
        assert outcome.status == "done", outcome


def knows(here: HouseholdWorld, agent: AgentId, fact: str) -> bool:
    """Whether an agent knows a fact."""
    return parse_fact(fact) in here.view(agent).known


def told(here: HouseholdWorld, agent: AgentId, subject: str) -> set[str]:
    """Return what an agent knows of somebody or something, but where exactly it is."""
    facts = here.view(agent).known
    return {
        f"{one.predicate} {one.value}" for one in facts if str(one.subject) == subject and one.predicate != "POSITION"
    }


def moved(home: Home, things: Mapping[NodeId, tuple[str, NodeId]]) -> Home:
    """Return the home with things in the middle of other places."""
    nodes, parent, room = dict(home.nodes), dict(home.parent), dict(home.room)
    for thing, (relation, holder) in things.items():
        box = nodes[holder].box
        nodes[thing] = nodes[thing]._replace(box=nodes[thing].box.moved(box.x, box.y, box.z))
        parent[thing], room[thing] = (relation, holder), room[holder]  # type: ignore[assignment]
    return replace(home, nodes=nodes, parent=parent, room=room)


def facts(*texts: str) -> tuple[Fact, ...]:
    """Return facts from their written form."""
    return tuple(map(parse_fact, texts))


def stroll(here: HouseholdWorld, seed: int, steps: int) -> Iterator[StepResult | None]:
    """Let a team try at random whatever it could name; yield None before the first step and a report after each."""
    rng = generator(seed, "tests", "stroll")
    yield None
    busy: set[AgentId] = set()
    for _ in range(steps):
        orders = {
            agent: _any(here, agent, rng) for agent in here.spec.agents if agent not in busy or rng.random() < 0.1
        }
        report = here.step(orders)
        busy = {agent for agent, outcome in report.outcomes.items() if outcome.status == "running"}
        yield report
        if report.end_reason is not None:
            return


def _any(here: HouseholdWorld, agent: AgentId, rng: np.random.Generator) -> Action:
    """Return an option, or an action that an ability names with arguments drawn one by one."""
    view = here.view(agent)
    if rng.random() < 0.6:
        return view.options[int(rng.integers(len(view.options)))].action
    schemas = [one for one in view.abilities if all(param.choices or param.kind == "count" for param in one.params)]
    schema = schemas[int(rng.integers(len(schemas)))]
    args = [
        2 if param.kind == "count" else param.choices[int(rng.integers(len(param.choices)))] for param in schema.params
    ]
    return Action(schema.verb, tuple(args))
