"""Facts of which no state can be made raise one error; whatever else goes wrong is a bug, and raises as such."""

from __future__ import annotations

import pytest

from teamworld.language import Action, Entity, Facts, parse_fact
from teamworld.worlds import registry
from teamworld.worlds.base.beliefs import readable
from teamworld.worlds.contract import WAIT, ImpossibleFacts, Option

CASES = [
    ("cube", "paper-n2", "<grid>(0) SIDE 0"),
    ("cube", "paper-n2", "<grid>(0) SIDE 1000000000"),
    ("cube", "paper-n2", "<block>(0) AT (99, 1)"),
    ("cube", "paper-n2", "agent_0 AT nowhere"),
    ("rooms", "two", "agent_0 LIKES agent_1"),
    ("rooms", "two", "<door>(7) STATE shut"),
    ("rooms", "two", "agent_1 AT (0, 5)"),
    ("rooms", "two", "agent_0 AT 5"),
    ("wildfire", "scout_fire_small", "stranger AT (3, 3)"),
    ("wildfire", "scout_fire_small", "<sector>(99) UNSEEN 40"),
    ("wildfire", "cut_trees_sparse_small", "<target>(0) TREES 2.5"),
]


@pytest.mark.parametrize(("world", "level", "lie"), CASES)
def test_what_no_state_can_be_made_of(world: str, level: str, lie: str) -> None:
    instance, fact = registry.make(world, level, 0, 20, {}), parse_fact(lie)
    agent = instance.spec.agents[0]
    instance.reset(0)
    known = instance.view(agent).known
    others = [old for old in known if (old.subject, old.predicate) != (fact.subject, fact.predicate)]
    with pytest.raises(ImpossibleFacts):
        instance.domain.options(agent, Facts((*others, fact)))
    assert instance.domain.beliefs is not None
    instance.domain.beliefs.latent_variables(Facts((*others, fact)))


@pytest.mark.parametrize("world", ["cube", "rooms"])
def test_an_agent_that_nobody_has_seen_has_no_options(world: str) -> None:
    instance = registry.make(world, {"cube": "paper-n2", "rooms": "two"}[world], 0, 20, {})
    agent = instance.spec.agents[0]
    instance.reset(0)
    nowhere = Facts(fact for fact in instance.view(agent).known if fact.subject != agent)
    with pytest.raises(ImpossibleFacts, match=agent):
        instance.domain.options(agent, nowhere)
    if world == "cube":
        for ask in (instance.domain.check, instance.domain.predict):
            with pytest.raises(ImpossibleFacts, match=agent):
                ask(agent, WAIT, nowhere)
        with pytest.raises(ImpossibleFacts, match=agent):
            instance.domain.candidate_plans(None, agent, nowhere)


def test_a_bug_in_a_reader_is_not_an_impossible_fact() -> None:
    def impossible(facts: Facts) -> int:
        raise ImpossibleFacts("no state")

    def faulty(facts: Facts) -> int:
        raise KeyError("a bug")

    assert readable(impossible, Facts()) is None
    assert readable(len, Facts()) == 0
    with pytest.raises(KeyError, match="a bug"):
        readable(faulty, Facts())


@pytest.mark.parametrize("world", ["cube", "rooms", "household", "wildfire"])
def test_an_action_whose_arguments_do_not_fit_takes_a_step_and_costs_nobody_anything(world: str) -> None:
    level = {"wildfire": "transport_firefighters_small"}.get(world) or registry.module(world).DEFAULT_LEVEL
    instance = registry.make(world, level, 0, 20, {})
    instance.reset(0)
    for agent in instance.spec.agents:
        known, domain = instance.view(agent).known, instance.domain
        assert domain.beliefs is not None
        verbs = [schema.verb for schema in instance.view(agent).abilities if schema.params]
        assert verbs
        for verb in verbs:
            for args in ((), ("word",), (-5,), ((3, 3),), (Entity("nothing", 9),)):
                action = Action(verb, args)
                assert domain.estimate_steps(agent, action, known) >= 1
                odd = Option(action, None, 1)
                for option in (odd, *domain.options(agent, known)):
                    assert domain.beliefs.conflict_cost(odd, option, known) >= 0
                    assert domain.beliefs.conflict_cost(option, odd, known) >= 0
