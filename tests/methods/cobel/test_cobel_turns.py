"""One word is enough: of several who could say the same, who comes first in the team says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from teamworld.language import Action, AgentId, Entity, Fact, Facts, RuleSet, Schema
from teamworld.methods.cobel import planning
from teamworld.methods.cobel.agent_state import AgentState
from teamworld.methods.cobel.beliefs import BeliefStore
from teamworld.methods.cobel.messages import others_can_say
from teamworld.methods.cobel.method import Cobel
from teamworld.methods.cobel.situation import Assessment, CobelOptions, Situation, Subplan
from teamworld.record import EpisodeEnd, MessageSent
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import Outcome, View

BURNS = Fact(Entity("fire", 0), "BURNS", (41, 35))
FIRST, SECOND, THIRD = (f"firefighter_{number}" for number in (1, 2, 3))


def situation(me: AgentId, knows: Mapping[AgentId, bool], **more: Any) -> Situation:
    """Return the situation of one that has seen a fire, and who else holds that it burns, as it believes."""
    here = worlds.make("wildfire", "suppress_fire_contain", 0, 40, {"shared_map": False})
    here.reset(0)
    known, options = Facts((BURNS,)), CobelOptions(engine="exact")
    return Situation(
        view=here.view(me),
        domain=cast(BeliefDomain, here.domain),
        options=options,
        spec=here.spec,
        team=dict.fromkeys((FIRST, SECOND, THIRD), "firefighter"),
        rules=RuleSet.of(Schema(here.domain.relations, here.spec.agents)),
        facts=known,
        ascribed={teammate: known if holds else Facts() for teammate, holds in knows.items()},
        **more,
    )


def lacks(teammate: AgentId, **more: Any) -> Assessment:
    return Assessment(True, 9.0, lacking={teammate: (BURNS,)}, **more)


def test_facts_are_left_to_who_holds_them_and_comes_first() -> None:
    assert others_can_say(situation(SECOND, {FIRST: True, THIRD: False}), lacks(THIRD))
    assert not others_can_say(situation(FIRST, {SECOND: True, THIRD: False}), lacks(THIRD))
    assert not others_can_say(situation(SECOND, {FIRST: False, THIRD: False}), lacks(THIRD))


def test_a_plan_that_stands_is_told_by_who_made_it() -> None:
    assert not others_can_say(situation(THIRD, {FIRST: True, SECOND: False}), lacks(SECOND, against=(FIRST,)))


def test_whoever_left_its_word_once_speaks_then() -> None:
    now, found = situation(SECOND, {FIRST: True, THIRD: False}), lacks(THIRD)
    method = Cobel(CobelOptions(engine="exact"))
    mind = SimpleNamespace(waited=False, deferred=False)
    method._states = cast(Any, {SECOND: mind})
    assert method._defers(now, found)
    assert mind.deferred
    mind.waited, mind.deferred = mind.deferred, False  # as the next cycle begins
    assert not method._defers(now, found)
    assert not mind.deferred


def test_of_several_who_plan_the_same_one_announces_it() -> None:
    trees = Scenario("wildfire", "cut_trees_sparse_small", 0, 6, {"shared_map": False})
    sent = [event for event in play("cobel:exact", trees, {}).events if isinstance(event, MessageSent)]
    assert Counter(event.step for event in sent)[0] == 1


def with_history(view: View, *history: Outcome) -> View:
    """Return a view whose agent has done this."""
    names = ("agent", "kind", "t", "facts", "known", "goals", "abilities", "options", "check")
    return cast(View, SimpleNamespace(**{name: getattr(view, name) for name in names}, history=history))


def test_what_ran_when_the_subplan_was_taken_up_counts_and_what_gave_way_does_not() -> None:
    here = worlds.make("cube", "paper-n2", 0, 40, {})
    here.reset(0)
    push, walk = Action("push", (1,)), Action("walk", (2,))
    domain, view = cast(BeliefDomain, here.domain), here.view("agent_0")
    before = with_history(view, Outcome(walk, "done", start=0))
    schema = Schema(domain.relations, here.spec.agents)
    store = BeliefStore("agent_0", schema, domain, False, ("agent_1",))
    state = AgentState("agent_0", store, RuleSet.of(schema), CobelOptions(), np.random.default_rng(0))
    state.take_up(Subplan((push, walk)), before)  # `push` has run since step 1
    ended = (Outcome(push, "done", start=1), Outcome(walk, "failed", "interrupted: another action was begun", start=5))
    after = with_history(view, *before.history, *ended)
    now = state.situation(after, here.spec, dict.fromkeys(here.spec.agents, "pusher"))
    assert planning.remaining_actions(now) == (walk,)
    assert [outcome.action for outcome in now.outcomes] == [push]


def test_who_announces_another_plan_does_not_go_on_with_the_old_one() -> None:
    end = play("cobel:exact", Scenario("cube", "paper-n2", 0, 150), {}).events[-1]
    assert isinstance(end, EpisodeEnd)
    assert end.step <= 64  # a silent team takes 61; who goes on with what it gave up waits at a rendezvous
