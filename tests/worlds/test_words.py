"""Words of worlds: whatever the rules of a domain answer by stands in the situation, and nobody reads of ticks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from teamworld.language import Action, ActionSchema, Entity, Fact, Facts, plain
from teamworld.worlds import registry
from teamworld.worlds.contract import ImpossibleFacts, View, World

INSTANCES = [
    ("household", "dev-0", {}),
    ("household", "dev-groceries-3", {"sight": "cone"}),
    ("transport", "dev-0", {}),
    ("transport", "dev-stuff-low-3", {"agents": 3, "perception": "detector"}),
    ("rooms", "two-hazard", {}),
    ("rooms", "three", {}),
    ("lbf", "Foraging-2s-10x10-3p-3f-v3", {}),
    ("rware", "rware-tiny-2ag-v2", {}),
    ("overcooked", "forced_coordination", {}),
]


def make(name: str, level: str, options: dict[str, Any], horizon: int = 60) -> World:
    """Return an instance, or skip the test where its package is not installed."""
    package = getattr(registry.module(name), "PACKAGE", None)
    if package is not None:
        pytest.importorskip(package)
    return registry.make(name, level, 0, horizon, options)


def moments(world: World, steps: int) -> Iterator[None]:
    """Let the scripted team play; yield at each step."""
    for _ in range(steps):
        yield
        views = {agent: world.view(agent) for agent in world.spec.agents}
        plans = world.domain.plan_scripted_team(views, {})
        orders = {agent: plan.actions[0] for agent, plan in plans.items()}
        result = world.step({agent: order for agent, order in orders.items() if views[agent].check(order).ok})
        if result.end_reason is not None or result.gone:
            return


def changed(facts: Facts) -> Iterator[Facts]:
    """Yield the facts with one left out or altered."""
    items = list(facts)
    for at, fact in enumerate(items):
        for other in (None, *_altered(fact, items)):
            seen = {known: step for known, step in facts.seen.items() if known != fact}
            if other is not None and fact in facts.seen:
                seen[other] = facts.seen[fact]
            yield Facts((*items[:at], *([] if other is None else [other]), *items[at + 1 :]), seen)


def _altered(fact: Fact, items: list[Fact]) -> Iterator[Fact]:
    value = fact.value
    if isinstance(value, tuple):
        yield Fact(fact.subject, fact.predicate, (value[0] + 1, value[1]))
    elif isinstance(value, int):
        yield Fact(fact.subject, fact.predicate, value + 1)
    else:
        like = (one.value for one in items if one.predicate == fact.predicate and type(one.value) is type(value))
        yield from (Fact(fact.subject, fact.predicate, one) for one in [o for o in like if o != value][:1])


def answers(world: World, agent: str, kind: str, facts: Facts) -> str:
    """Return what the rules of the world answer if the facts hold."""
    domain = world.domain
    goals = [g for g in domain.goals(facts) if g.state == "open" and (not g.kinds or kind in g.kinds)]
    plans = [plan for goal in (*goals, None) for plan in domain.candidate_plans(goal, agent, facts)]
    steps = [[domain.estimate_steps(agent, action, facts) for action in plan.actions] for plan in plans]
    open_ = [] if domain.beliefs is None else [(one.name, one.values) for one in domain.beliefs.latent_variables(facts)]
    return repr((goals, domain.options(agent, facts), plans, steps, open_))


@pytest.mark.parametrize(("name", "level", "options"), INSTANCES)
def test_what_rules_answer_by_stands_in_the_situation(name: str, level: str, options: dict[str, Any]) -> None:
    world: Any = make(name, level, options, 3000)
    tried = 0
    for t, _ in enumerate(moments(world, 36)):
        if t % 12 != 5:
            continue
        for agent in world.spec.agents:
            view = world.view(agent)

            def tell(facts: Facts, view: View = view) -> str:
                told = SimpleNamespace(agent=view.agent, kind=view.kind, t=view.t, known=facts, is_able=view.is_able)
                return "\n".join(world.domain.describe(told))

            before = answers(world, agent, view.kind, view.known), tell(view.known)
            assert before[1] == view.text()
            for facts in changed(view.known):
                try:
                    after = answers(world, agent, view.kind, facts)
                except ImpossibleFacts:
                    continue
                tried += 1
                assert after == before[0] or tell(facts) != before[1], set(view.known) ^ set(facts)
    assert tried > 20


def accepting(schema: ActionSchema, example: Action) -> ActionSchema:
    """Return a schema that takes the things of an example, which may not be known now but are of the right kind."""
    params = list(schema.params)
    for at, value in enumerate(example.args):
        if isinstance(value, Entity):
            kinds = {thing.kind for thing in params[at].choices if isinstance(thing, Entity)}
            assert value.kind in kinds or not kinds
            params[at] = replace(params[at], choices=(*params[at].choices, value))
    return replace(schema, params=tuple(params))


@pytest.mark.parametrize(("name", "level", "options"), INSTANCES)
def test_words_are_plain_whole_and_count_in_steps(name: str, level: str, options: dict[str, Any]) -> None:
    world = make(name, level, options)
    assert world.spec.rules
    assert "60 steps" in world.spec.task
    for _ in moments(world, 20):
        for agent in world.spec.agents:
            view = world.view(agent)
            goals = [world.domain.describe_goal(goal, agent, view.known) for goal in view.goals]
            said = [world.spec.task, world.spec.rules, view.text(), *goals, *(o.reason for o in view.history)]
            for schema in view.abilities:
                said += [schema.doc, schema.needs]
                assert schema.needs.endswith(".") or not schema.needs
                if schema.example is not None:
                    assert accepting(schema, schema.example).complete(schema.example).verb == schema.verb
            for words in said:
                assert plain(words) == words
                assert not re.search(r"\bticks?\b|\b1 \w+s\b(?<!1 is)|  ", words, re.IGNORECASE), words
            assert all(outcome.word.isidentifier() for outcome in view.history if outcome.reason)


def test_steps_to_all_that_is_known_stand_in_a_home() -> None:
    world: Any = make("household", "dev-0", {})
    for _ in moments(world, 30):
        view, domain = world.view("Bob"), world.domain
        text, known = view.text(), domain.read(view.known)
        for entity in (*known.rooms, *known.opened):
            assert re.search(rf"\b{plain(entity)}\b", text), entity
        for option in view.options:
            if option.action.verb != "check":
                continue
            box = option.action.args[0]
            assert isinstance(box, Entity)
            x, z = known.points[box]
            way = rf"{plain(box)} \({x}, {z}\) (in reach|{option.steps - 1}\b)"
            assert re.search(way, text), (way, text)
