"""A team-mate in danger that cannot know it is warned, whatever the agent's own cap says (cobel.md, check D13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from teamworld.language import AgentId, Entity, Fact, Facts, RuleSet, Schema
from teamworld.methods.cobel.messages import assess_danger, harm_probability
from teamworld.methods.cobel.method import Cobel
from teamworld.methods.cobel.situation import CobelOptions, Situation
from teamworld.methods.contract import DecisionContext
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import World

SPARK = 60, 60


def world() -> World:
    made = worlds.make("wildfire", "suppress_fire_contain", 3, 40, {"shared_map": False})
    made.reset(3)
    return made


def situation(here: World, minds: Mapping[AgentId, Facts], given: Facts, **more: Any) -> Situation:
    team = dict(here.spec.kinds)
    options = CobelOptions(engine="exact", cap="episode", most=1)
    me = here.spec.agents[0]
    rules = RuleSet.of(Schema(here.domain.relations, here.spec.agents))
    rest: dict[str, Any] = {"view": here.view(me), "domain": here.domain, "options": options, "spec": here.spec, **more}
    held = {teammate: minds.get(teammate, given) for teammate in team if teammate != me}
    return Situation(team=team, rules=rules, facts=given, ascribed=held, **rest)


class Burns:
    """What a team knows of a fire at one cell, and where its members are."""

    def __init__(self, at: Mapping[AgentId, tuple[int, int]]) -> None:
        fire = Entity("fire", 0)
        self.places = [Fact(agent, "AT", cell) for agent, cell in at.items()]
        self.fire = [Fact(fire, "STATE", "burning"), Fact(fire, "AT", SPARK), Fact(fire, "BURNS", SPARK)]
        self.out = [Fact(fire, "STATE", "out"), Fact(fire, "BURNT", SPARK)]

    def facts(self, *more: Fact, tick: int | None = None) -> Facts:
        return Facts((*self.places, *more), {} if tick is None else dict.fromkeys(more, tick))


@pytest.fixture
def case() -> tuple[World, Burns, AgentId]:
    """The first agent is far off; a firefighter stands two cells from the fire, and all others far away."""
    here = world()
    teammate = here.spec.agents[1]
    assert here.spec.kinds[teammate] == "firefighter"
    return here, Burns(dict.fromkeys(here.spec.agents, (5, 5)) | {teammate: (59, 59)}), teammate


def test_worlds_that_harm_nobody_have_no_danger() -> None:
    cube = worlds.make("cube", "n2", 0, 20, {})
    assert cube.domain.danger is None
    assert harm_probability(cube.domain, "agent_0", cube.view("agent_0").known) == 0


def test_who_works_where_it_will_burn_and_does_not_know_is_warned(case: tuple[World, Burns, AgentId]) -> None:
    here, burns, teammate = case
    known = burns.facts(*burns.fire)
    assert here.domain.danger is not None
    assert here.domain.danger.harm_probability(teammate, 10, known) == 1
    now = situation(here, {teammate: burns.facts()}, known)
    now = _unseen(now, teammate)
    found = assess_danger(now)
    assert found.speaks
    assert tuple(found.lacking) == (teammate,)
    assert set(found.facts) <= set(burns.fire)
    told = Facts((*burns.places, *found.facts))
    assert here.domain.danger.harm_probability(teammate, 10, told) == 1  # what it is told is enough
    again = situation(here, {teammate: told}, known)
    assert not assess_danger(_unseen(again, teammate)).speaks  # once is enough


def test_who_knows_newer_is_not_warned(case: tuple[World, Burns, AgentId]) -> None:
    here, burns, teammate = case
    old = burns.facts(*burns.fire, tick=0)
    newer = burns.facts(*burns.out, tick=7)
    assert not assess_danger(_unseen(situation(here, {teammate: newer}, old), teammate)).speaks
    older = burns.facts(*burns.out, tick=-1)
    assert assess_danger(_unseen(situation(here, {teammate: older}, old), teammate)).speaks


def test_who_sees_it_for_itself_is_not_warned(case: tuple[World, Burns, AgentId]) -> None:
    here, burns, teammate = case
    assert not assess_danger(situation(here, {teammate: burns.facts()}, burns.facts(*burns.fire))).speaks


@pytest.mark.parametrize("gate", ["assess", "never"])
@pytest.mark.parametrize("warn", [True, False])
@pytest.mark.parametrize("allowed", [True, False])
def test_a_warning_is_above_the_own_cap_and_below_that_of_the_run(
    case: tuple[World, Burns, AgentId], gate: str, warn: bool, allowed: bool
) -> None:
    here, burns, teammate = case
    now = _unseen(situation(here, {teammate: burns.facts()}, burns.facts(*burns.fire)), teammate)
    method = Cobel(
        CobelOptions.model_validate({"engine": "exact", "cap": "episode", "most": 1, "gate": gate, "warn": warn})
    )
    method._domain = now.domain
    spent = SimpleNamespace(store=SimpleNamespace(shared=False), may_speak=lambda: False, warned=-100)
    method._states = cast(Any, {now.agent: spent})
    moment = cast(DecisionContext, SimpleNamespace(may_speak=lambda agent: allowed))  # what ``messages.most`` leaves
    assert method._assess_danger(moment, now).speaks == (allowed and warn and gate == "assess")


def _unseen(now: Situation, teammate: AgentId) -> Situation:
    """Return the same with a team-mate that sees nothing of the fire: smoke, a ridge."""
    return replace(now, domain=cast(BeliefDomain, Blind(now.domain, teammate)))


class Blind:
    """A domain by which one agent perceives nothing."""

    def __init__(self, inner: BeliefDomain, who: AgentId) -> None:
        self._inner, self._who = inner, who

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    @property
    def beliefs(self) -> object:
        """Nothing is perceived by the one, and all else as it is."""
        return SimpleNamespace(observation_probability=self._perceives)

    def _perceives(self, fact: Fact, agent: AgentId, given: Facts) -> float:
        return 0.0 if agent == self._who else self._inner.beliefs.observation_probability(fact, agent, given)
