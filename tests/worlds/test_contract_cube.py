"""CUBE keeps the contract of worlds, and the registry finds it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint

import pytest

from teamworld.errors import UserError
from teamworld.language import Action, parse_action, parse_fact
from teamworld.worlds import registry
from teamworld.worlds.contract import WAIT, Domain, Option, View, World, talk

LEVELS = ["paper-n1", "paper-n2", "paper-n4", "n3", "n8"]


def cube(level: str, horizon: int = 30, options: Mapping[str, object] | None = None) -> World:
    """Return the world by its contract alone."""
    return registry.make("cube", level, 3, horizon, options or {})


@pytest.mark.heavy
@pytest.mark.parametrize("options", [{}, {"view_radius": 4}])
@pytest.mark.parametrize("level", LEVELS)
def test_an_episode_of_first_options_keeps_the_contract(level: str, options: dict[str, object]) -> None:
    here = cube(level, options=options)
    here.reset(1)
    spec = here.spec
    assert set(spec.kinds) == set(spec.agents)
    assert spec.task
    steps, over = 0, None
    while over is None:
        orders: dict[str, Action] = {}
        for index, agent in enumerate(spec.agents):
            view = here.view(agent)
            check_view(view, here.domain, agent, steps, spec.horizon)
            orders[agent] = view.options[(index + steps) % len(view.options)].action
        report = here.step(orders)
        steps += report.ticks
        over = report.end_reason
        assert set(report.outcomes) == set(spec.agents)
        goals = {goal.id for goal in here.goals()}
        assert {event.goal for event in report.goals} <= goals
        for attempt in report.attempts:
            assert attempt.goal in goals
            have, need = dict(attempt.have), dict(attempt.need)
            assert list(have) == list(need)
            assert all(have[name] <= need[name] for name in have)
            assert attempt.success <= all(have[name] == need[name] for name in have)
        for agent, outcome in report.outcomes.items():
            assert outcome.action in (orders[agent], WAIT)
            assert (outcome.status == "failed") == bool(outcome.reason)
            assert outcome.ready is None or outcome.ready in goals
            assert len(outcome.primitives) == report.ticks
    assert over == ("horizon" if steps == spec.horizon else "all_done")


def check_view(view: View, domain: Domain, agent: str, t: int, horizon: int) -> None:
    """Check what one view offers."""
    assert (view.agent, view.t, view.steps_left) == (agent, t, horizon - t)
    assert len(view.known) == len(view.facts) + len(view.recall)
    for fact in view.known:
        assert parse_fact(str(fact)) == fact
    assert view.goals == domain.goals(view.known)
    schemas = {schema.verb: schema for schema in view.abilities}
    assert set(schemas) == set(domain.measures)
    assert view.options == domain.options(agent, view.known)
    for option in view.options:
        check_option(option, view, domain)
        schemas[option.action.verb].complete(option.action)
    assert view.check(WAIT).ok
    assert view.check(talk(2)).ok
    assert agent in view.text()


def check_option(option: Option, view: View, domain: Domain) -> None:
    """Check that an option can be done as far as the agent knows, and written down."""
    assert parse_action(str(option.action)) == option.action
    assert view.check(option.action) == domain.check(view.agent, option.action, view.known)
    assert view.check(option.action).ok
    assert option.goal is None or option.goal in {goal.id for goal in view.goals}


@pytest.mark.parametrize("options", [{}, {"view_radius": 4}])
def test_what_is_perceived_is_true_but_for_what_nobody_has_seen(options: dict[str, object]) -> None:
    here = cube("n8", options=options)
    agents = here.spec.agents
    for step in range(12):
        truth = set(here.truth())
        assert {fact.predicate for fact in truth} == {"SIDE", "AT", "WEIGHT", "STATE"}
        for agent in agents:
            assert {fact for fact in here.view(agent).facts if fact.predicate != "UNSEEN"} <= truth
        orders = {agent: here.view(agent).options[(index + step) % 3].action for index, agent in enumerate(agents)}
        here.step(orders)


def test_reset_gives_equal_instances_for_equal_seeds() -> None:
    assert cube("n8").snapshot() == cube("n8").snapshot()
    other = registry.make("cube", "n8", 4, 30, {})
    assert cube("n8").snapshot() != other.snapshot()


def test_the_registry_knows_cube() -> None:
    assert "cube" in registry.names()
    assert "paper-n2" in registry.levels("cube")
    assert registry.summary("cube")
    assert set(registry.option_model("cube").model_fields) >= {"view_radius", "timeouts"}
    assert all(field.description for field in registry.option_model("cube").model_fields.values())
    assert registry.make("cube", "n2", 0, None, {}).spec.horizon == 500


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UserError, match="did you mean 'cube'"):
        registry.make("cubes", "n2", 0, 10, {})
    with pytest.raises(UserError, match="did you mean 'paper-n"):
        registry.make("cube", "paper-n3", 0, 10, {})
    with pytest.raises(UserError, match="max_steps|horizon"):
        registry.make("cube", "n2", 0, 0, {})


def test_worlds_of_other_packages_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    good = EntryPoint("mine", "teamworld.worlds.cube.world", registry.GROUP)
    bad = EntryPoint("broken", "no.such.module", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [good, bad] if group == registry.GROUP else [])
    assert registry.names() == ["broken", "cube", "household", "mine", "rooms", "wildfire"]
    assert registry.make("mine", "n1", 0, 5, {}).spec.agents == ("agent_0",)
    with pytest.raises(UserError, match="'broken' of no.such.module cannot be loaded"):
        registry.module("broken")
