"""One word is enough: of several who could say the same, who comes first in the team says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from teamworld.language import AgentId, Entity, Fact, Facts, RuleSet, Schema
from teamworld.methods.cobel.messages import others_can_say
from teamworld.methods.cobel.method import Cobel
from teamworld.methods.cobel.situation import Announcement, Assessment, CobelOptions, Situation, Subplan
from teamworld.record import MessageSent
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain

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
        task="",
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


def test_plans_are_left_to_whose_plan_clashes_and_comes_first() -> None:
    plans = Assessment(True, 9.0, against=(FIRST,))
    knows = {FIRST: False, SECOND: False}
    assert others_can_say(situation(THIRD, knows), plans)
    assert not others_can_say(situation(THIRD, knows), lacks(SECOND))
    said = {FIRST: Announcement(Subplan(), 0, 5)}  # it will not say that again
    assert not others_can_say(situation(THIRD, knows, announced=said), plans)
    both = lacks(SECOND, against=(FIRST,))  # the plan could be told by the first, the fact by nobody else
    assert not others_can_say(situation(THIRD, knows), both)
    assert others_can_say(situation(THIRD, {FIRST: True, SECOND: False}), both)


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


def test_what_several_saw_at_once_is_told_by_one() -> None:
    fire = Scenario("wildfire", "suppress_fire_contain", 0, 6, {"shared_map": False, "firefighters": 4})
    sent = [event for event in play("cobel:exact", fire, {}).events if isinstance(event, MessageSent)]
    assert Counter(event.step for event in sent)[3] == 1
