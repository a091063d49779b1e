"""CoBel-World where things are fetched: what is worth telling, and what is concluded from what teammates carry."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from teamworld.language import Action, Entity, Fact, Facts, RuleSet, Schema
from teamworld.methods.cobel import messages
from teamworld.methods.cobel.beliefs import BeliefStore
from teamworld.methods.cobel.situation import CobelOptions, Situation
from teamworld.methods.contract import Message
from teamworld.record import ActionStep
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import View, World


def make_home(seed: int) -> World:
    home = worlds.make("household", "dev", seed, 60, {"agents": 2})
    home.reset(seed)
    return home


def situation(seed: int) -> tuple[Situation, Fact]:
    """All but one thing is brought. Alice, at the target, knows where that lies; Bob, who is in sight, does not."""
    home = make_home(seed)
    view, domain = home.view("Alice"), cast(BeliefDomain, home.domain)
    target = view.goals[0].thing
    assert target is not None
    points = {f.subject: f.value for f in view.known if f.predicate == "POSITION" and isinstance(f.subject, Entity)}
    here, *rooms = [room for room in points if view.known.value(room, "IN") is None]
    known = [Fact(room, "POSITION", points[room]) for room in (here, *rooms)]
    known += [Fact(agent, "AT", here) for agent in ("Alice", "Bob")]
    known += [Fact(target, "IN", here), Fact(target, "POSITION", points[here]), Fact(here, "EXPLORED", "all")]
    number = 900
    for goal in view.goals:
        features = dict(goal.features)
        for _ in range(goal.units):
            number += 1
            known.append(Fact(Entity(features["thing"], number), features["relation"], target))
    missing = known.pop().subject
    far = max(rooms, key=lambda room: domain.estimate_steps("Bob", Action("explore", (room,)), Facts(known)))
    lies = Fact(missing, "IN", far)
    looks = [Fact(room, "EXPLORED", "all") for room in rooms]
    return Situation(
        view=view,
        domain=domain,
        options=CobelOptions(engine="exact"),
        spec=home.spec,
        team={"Alice": "person", "Bob": "person"},
        rules=RuleSet.of(Schema(domain.relations, home.spec.agents)),
        facts=Facts((*known, *looks, lies, Fact(missing, "POSITION", points[far]))),
        ascribed={"Bob": Facts(known)},
        last_met={"Bob": view.t},
    ), lies


@pytest.mark.parametrize("seed", [3, 4])
def test_who_would_search_in_vain_is_told_if_it_is_in_sight(seed: int) -> None:
    here, lies = situation(seed)
    assessment = messages.assess(here, {})
    assert assessment.speaks
    assert assessment.saved > messages.STEP
    draft = messages.draft_message(here, assessment)
    assert lies in draft.facts
    assert messages.read_plan(Message("Alice", "inform", draft.text), here.rules.schema) is None  # facts alone
    costly = replace(here, options=CobelOptions(engine="exact", theta=1000))
    slightly_costly = replace(here, options=CobelOptions(engine="exact", theta=assessment.saved - messages.STEP / 2))
    unseen = replace(here, last_met={})
    alike = replace(here, ascribed={"Bob": here.facts})
    for silent in (costly, slightly_costly, unseen, alike):
        assert not messages.assess(silent, {}).speaks


class Seen:
    """A view of which so much is seen."""

    def __init__(self, view: View, facts: Facts) -> None:
        self._view, self.facts, self.known = view, facts, facts

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


def test_what_a_teammate_was_seen_with_and_is_seen_without_was_brought() -> None:
    home = make_home(3)
    view, domain = home.view("Alice"), cast(BeliefDomain, home.domain)
    goal = view.goals[0]
    thing, here = Entity(str(dict(goal.features)["thing"]), 950), view.known.value("Alice", "AT")
    assert isinstance(here, Entity)
    assert goal.thing is not None
    store = BeliefStore("Alice", Schema(domain.relations, home.spec.agents), domain, False, ("Bob",))
    with_it = Facts((*view.facts, Fact("Bob", "AT", here), Fact("Bob", "HOLD", thing)))
    without = Facts((*view.facts, Fact("Bob", "AT", here)))
    for seen in (with_it, view.facts):  # the second time Bob is out of sight: nothing is known of it
        store.observe(cast("View", Seen(view, seen)))
        assert not tuple(store.world.entries)
    store.observe(cast("View", Seen(view, without)))
    assert [(fact.subject, fact.value) for fact in tuple(store.world.entries)] == [(thing, goal.thing)]
    (entry,) = store.world.entries.values()
    assert (entry.origin, entry.weight < 1) == ("predicted", True)


def test_what_is_seen_on_the_way_changes_the_plan() -> None:
    """In this home Bob walks to the bedroom through a room in which a pudding lies."""
    seen = play("cobel:exact", Scenario("household", "dev-152", 152, 12, {"agents": 2}), {"cobel": {"gate": "never"}})
    taken = [event for event in seen.events if isinstance(event, ActionStep) and event.agent == "Bob"]
    walks = [(event.verb, event.status) for event in taken]
    assert (("explore", "running"), ("fetch", "running")) in pairwise(walks)
