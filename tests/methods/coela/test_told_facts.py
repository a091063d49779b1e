"""Sight replaces what was told, and a thing has one place."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.language import Action, Entity, Fact, Facts, parse_fact
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import ChooseAction, Decided
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.told_facts import list_predicates
from teamworld.methods.contract import Message
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import Option
from tests.methods.coela.house import House, make_situation, situate

TOLD = "<apple>(57) INSIDE <fridge>(21)"
HOME = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<fridge>(21) IN <kitchen>(11)")
SHUT, OPEN = "<fridge>(21) STATE closed", "<fridge>(21) STATE open"


def is_believed(*texts: str, fact: str = TOLD, t: int = 5, **more: Any) -> bool:
    told = Message("Bob", "inform", "look", facts=(parse_fact(fact),), t=t)
    situation = make_situation(*texts, chat=(told,), shared=False, **more)
    return parse_fact(fact) in situation.known


def test_what_was_told_of_a_place_out_of_sight_is_believed() -> None:
    assert is_believed(*HOME, SHUT)


@pytest.mark.parametrize(
    "sight", [OPEN, "Bob HOLD <apple>(57)", "Alice HOLD <apple>(57)", "<apple>(57) ON <table>(20)"]
)
def test_what_is_seen_otherwise_is_not_believed(sight: str) -> None:
    assert not is_believed(*HOME, sight)


@pytest.mark.parametrize(("seen", "believed"), [(4, True), (6, False)])
def test_what_was_seen_later_counts(seen: int, believed: bool) -> None:
    for fact in (OPEN, "Bob HOLD <apple>(57)"):
        assert is_believed(*HOME, fact, seen={fact: seen}) == believed


def test_what_lies_somewhere_is_in_no_hand() -> None:
    held = "Bob HOLD <apple>(57)"
    told = Message("Bob", "inform", "look", facts=(parse_fact(TOLD),), t=5)
    situation = make_situation(*HOME, SHUT, held, seen={held: 3}, chat=(told,), shared=False)
    assert parse_fact(held) not in situation.known


def test_a_teammate_with_full_hands_takes_nothing_before_the_agent() -> None:
    fetch = Option(Action("fetch", (Entity("apple", 57),)), "apple_on_table", 4)
    here = ("Alice AT <kitchen>(11)", "Bob AT <kitchen>(11)", "Bob HOLD <plate>(32)")
    assert make_situation(*here, options=(fetch,), mate_ticks=1).nearer(fetch) == "Bob"
    assert make_situation(*here, "Bob HOLD <plate>(33)", options=(fetch,), mate_ticks=1).nearer(fetch) is None


def test_predicates_are_listed_with_what_they_take() -> None:
    forms = list_predicates(make_situation("Alice AT <kitchen>(11)").domain)
    assert forms["INSIDE"] == "INSIDE fridge/cabinet"
    assert forms["STATE"] == "STATE open/closed"
    assert "HOLD" not in forms


# ---- foragers who see two cells far

LEVEL = "Foraging-2s-10x10-3p-3f-v3"


def told_by(texts: tuple[str, ...], t: int = 3) -> Situation:
    world = worlds.make("lbf", LEVEL, 3, None, {})
    told = Message("agent_1", "inform", "look", facts=tuple(map(parse_fact, texts)), t=t)
    return situate(world.view("agent_0"), world.domain, world.spec.kinds, chat=(told,), shared=False)


FAR = ("<food>(99) AT (9, 9)", "<food>(99) LEVEL 2", "<food>(99) STATE free")


def test_food_that_was_only_told_of_is_to_be_seen_first() -> None:
    me = told_by(FAR)
    (goal,) = (goal for goal in me.goals if goal.id == "load_99")
    assert me.describe_goal(goal).endswith("you were only told of food_99: go and see it first")
    question = ChooseAction("agent_0", {"agent_0": me.view}, me, CoelaOptions(), None)
    complaint = question.check(Decided(action="load(food_99, 12)"))
    assert complaint is not None
    assert "you have not seen food_99 yourself, go there first" in complaint
    assert question.check(Decided(action="go((5, 5))")) is None


def test_what_was_told_of_a_teammate_is_believed_until_it_is_seen() -> None:
    me = told_by(("agent_1 LEVEL 2", "agent_1 AT (8, 8)", "agent_2 LEVEL 7", "agent_0 LEVEL 9"))
    assert me.known.value("agent_1", "LEVEL") == 2
    assert me.known.value("agent_1", "AT") == (8, 8)
    for seen in ("agent_0", "agent_2"):
        assert me.known.value(seen, "LEVEL") == me.view.known.value(seen, "LEVEL")
    assert any(text.startswith("agent_1 LEVEL 2") for text in me.told_facts)


def test_what_was_told_of_food_is_over_once_it_is_loaded() -> None:
    world = worlds.make("lbf", LEVEL, 3, None, {})
    domain: Any = world.domain
    food, field = Entity("food", 35), domain.field
    told = Message("agent_1", "inform", "", facts=(Fact(food, "AT", (3, 5)),), t=2)
    for state, believed in (("free", True), ("loaded", False)):
        known = Facts((Fact("agent_0", "AT", (3, 4)), Fact(food, "LEVEL", 1), Fact(food, "STATE", state)))
        view: Any = House(known, domain.goals(known), agent="agent_0", relations=domain.relations)
        assert field.cell(food) == (3, 5)
        situation = situate(view, domain, world.spec.kinds, chat=(told,), shared=False)
        assert bool(situation.told_facts) == believed
