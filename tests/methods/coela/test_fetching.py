"""Agents with two hands: what they fetch, where they look, when they bring what they hold, what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from teamworld.language import Action, Entity, parse_action, parse_fact
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import ProposeMessage
from teamworld.methods.coela.rules import find_news
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.own_step import choose_step
from teamworld.methods.contract import Message
from teamworld.reasoning.prompts import render
from teamworld.record import ActionStep, PlanStart, QuestionAsked, StepDone
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import WAIT, LatentVariable, Option, Outcome, Possible
from tests.methods.coela.house import TABLE, goal, make_situation

HERE = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<table>(20) IN <kitchen>(11)")
APPLES = ("<apple>(57) IN <kitchen>(11)", "<apple>(58) IN <bedroom>(12)")
GOALS = (goal("apple", 2), goal("plate", 1))


def option(text: str, ticks: int, of: str | None = None) -> Option:
    return Option(parse_action(text), of, ticks)


DELIVER = option("deliver()", 4, "apple_on_table")
NEAR, FAR = (
    option("fetch(<apple>(57))", 5, "apple_on_table"),
    option("fetch(<apple>(58))", 9, "apple_on_table"),
)
CABINET, BEDROOM = option("check(<cabinet>(22))", 2), option("explore(<bedroom>(12))", 6)
IDLE = Option(WAIT, None, 1)


def plate(*weights: float) -> LatentVariable:
    """Return the unknown where the plate is: in the cabinet, in the bedroom."""
    places = (parse_fact("<plate>(1) INSIDE <cabinet>(22)"), parse_fact("<plate>(1) IN <bedroom>(12)"))
    values = tuple(Possible(fact, weight) for fact, weight in zip(places, weights, strict=True))
    return LatentVariable("plate 1", values, ("plate_on_table",))


def home(*facts: str, options: Sequence[Option], **more: Any) -> Situation:
    return make_situation(*HERE, *facts, goals=more.pop("goals", GOALS), options=(*options, IDLE), **more)


def chosen(situation: Situation) -> Action:
    return choose_step(situation).action


def test_two_things_are_fetched_then_delivered() -> None:
    assert chosen(home(*APPLES, options=(NEAR, FAR))) == NEAR.action
    one = home(APPLES[1], "Alice HOLD <apple>(57)", options=(FAR, DELIVER._replace(steps=20)))
    assert chosen(one) == FAR.action
    two = home("Alice HOLD <apple>(57)", "Alice HOLD <apple>(58)", options=(CABINET, DELIVER._replace(steps=20)))
    assert chosen(two) == DELIVER.action


def test_what_is_held_is_delivered_first_where_that_is_nearer_or_nothing_else_is_of_use() -> None:
    near = home(APPLES[1], "Alice HOLD <apple>(57)", options=(FAR, DELIVER))
    assert chosen(near) == DELIVER.action
    last = home("Alice HOLD <apple>(57)", options=(CABINET, DELIVER._replace(steps=20)), goals=(goal("apple", 1),))
    assert chosen(last) == DELIVER.action


def test_what_somebody_holds_or_said_that_it_takes_is_not_lacking() -> None:
    assert dict(home(options=()).missing) == {"apple_on_table": 2, "plate_on_table": 1}
    assert dict(home("Alice HOLD <apple>(57)", "Bob HOLD <plate>(3)", options=()).missing) == {"apple_on_table": 1}
    claim = Message("Bob", "commit", "", "apple_on_table", t=7)
    assert dict(home(options=(), chat=(claim,)).missing) == {"apple_on_table": 1, "plate_on_table": 1}
    both = home("Bob HOLD <apple>(57)", options=(), chat=(claim,))
    assert both.missing["apple_on_table"] == 1  # it takes what it holds
    assert chosen(home(*APPLES, options=(NEAR,), chat=(claim,), goals=(goal("apple", 1),))) == WAIT


def test_a_look_is_as_good_as_its_ticks_over_what_it_may_find() -> None:
    even = home(options=(CABINET, BEDROOM), open_questions=(plate(1, 1),))
    assert chosen(even) == CABINET.action
    unlike = home(options=(CABINET, BEDROOM), open_questions=(plate(1, 4),))
    assert chosen(unlike) == BEDROOM.action  # 2 / 0.2 against 6 / 0.8
    nothing = home(options=(CABINET, BEDROOM), open_questions=(plate(1, 1),), goals=(goal("apple", 2),))
    assert chosen(nothing) == WAIT  # no plate is wanted


def test_what_a_mate_in_sight_is_nearer_to_counts_twice() -> None:
    seen = home("Bob AT <kitchen>(11)", options=(NEAR, FAR), mate_ticks=4)
    assert chosen(seen) == NEAR.action  # 10 against 18
    close = home("Bob AT <kitchen>(11)", options=(NEAR, FAR._replace(steps=7)), mate_ticks=6)
    assert chosen(close) == NEAR.action  # only the far one is Bob's
    taken = home("Bob AT <kitchen>(11)", *APPLES, options=(FAR._replace(steps=5), NEAR._replace(steps=4)), mate_ticks=3)
    assert chosen(taken) == NEAR.action


def test_where_one_was_told_of_a_thing_one_goes_unless_another_can_be_fetched() -> None:
    told = option("explore(<bedroom>(12))", 6, "apple_on_table")
    assert chosen(home(APPLES[1], options=(told, BEDROOM, CABINET))) == told.action
    assert chosen(home(*APPLES, options=(told, NEAR._replace(steps=9)))) == NEAR.action


def test_who_has_looked_everywhere_delivers_and_then_looks_where_it_was_longest_ago() -> None:
    bare = ("<bedroom>(12) EXPLORED all", "<bathroom>(13) EXPLORED all")
    bedroom, bathroom = option("explore(<bedroom>(12))", 4), option("explore(<bathroom>(13))", 4)
    places = tuple(Possible(parse_fact(f"<plate>(1) IN {room}"), 1.0) for room in ("<bedroom>(12)", "<bathroom>(13)"))
    unknown = (LatentVariable("plate 1", places, ("plate_on_table",)),)
    holding = home(
        *bare, "Alice HOLD <apple>(57)", options=(bedroom, DELIVER._replace(steps=30)), open_questions=unknown
    )
    assert chosen(holding) == DELIVER.action
    went = (Outcome(bedroom.action, "done", start=6),)
    empty = home(*bare, options=(bedroom, bathroom), open_questions=unknown, history=went)
    assert chosen(empty) == bathroom.action


def test_a_place_for_what_one_holds_is_looked_for() -> None:
    values = (Possible(parse_fact("<table>(20) IN <bedroom>(12)"), 1.0),)
    unknown = (LatentVariable("<table>(20)", values, ("apple_on_table",)),)
    facts = ("Alice AT <kitchen>(11)", "Alice HOLD <apple>(57)")
    situation = make_situation(*facts, goals=(goal("apple", 1),), options=(BEDROOM, IDLE), open_questions=unknown)
    assert chosen(situation) == BEDROOM.action


# ---- what is told


def test_the_place_of_a_goal_is_told_once_to_those_who_have_not_seen_it() -> None:
    situation = home(*APPLES, options=(NEAR, FAR, BEDROOM), shared=False)
    told = find_news(situation)
    assert {fact.subject for fact in told.facts} == {TABLE}
    assert len(told.facts) == len(set(told.facts))  # two goals have one place
    assert value_message(situation, None, told.facts).saved > 0
    heard = home(
        *APPLES,
        options=(NEAR, FAR, BEDROOM),
        shared=False,
        chat=(Message("Alice", "inform", "", facts=told.facts, t=0),),
    )
    assert not find_news(heard).facts
    together = home(*APPLES, options=(NEAR,), shared=False, witnessed={"Bob": [TABLE]})
    assert not find_news(together).facts


def test_that_one_takes_the_last_of_a_kind_is_worth_the_way_of_who_knows_of_it() -> None:
    last = (goal("apple", 1),)
    apple = Entity("apple", 57)
    alone = home(APPLES[0], options=(NEAR,), shared=False, goals=last)
    assert value_message(alone, "apple_on_table", ()).saved == 0  # Bob knows of no apple
    known = home(APPLES[0], options=(NEAR,), shared=False, goals=last, witnessed={"Bob": [apple]})
    assert value_message(known, "apple_on_table", ()).saved == pytest.approx(NEAR.steps)
    more = home(APPLES[0], options=(NEAR,), shared=False, goals=(goal("apple", 2),), witnessed={"Bob": [apple]})
    assert value_message(more, "apple_on_table", ()).saved == 0


# ---- in the household


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["coela", "coela:cwah", "coela:silent", "coela:original"])
@pytest.mark.parametrize("level", ["dev-groceries-2", "dev-30"])
def test_it_gets_the_housework_done(label: str, level: str) -> None:
    played = play(label, Scenario("household", level, 0, 250), {})
    assert sum(isinstance(event, StepDone) for event in played.events) < 100
    assert not played.complaints


def test_two_things_are_delivered_into_a_closed_fridge() -> None:
    events = play("coela:cwah", Scenario("household", "dev-groceries-1", 0, 250), {}).events
    asked = {(event.agent, event.step) for event in events if isinstance(event, QuestionAsked)}
    plans = [event for event in events if isinstance(event, PlanStart) and (event.agent, event.step) not in asked]
    assert plans
    assert {plan.text.split("{")[1] for plan in plans} == {" deliver() }"}
    done: dict[int, list[str]] = {plan.plan: [] for plan in plans}
    for event in events:
        if isinstance(event, ActionStep) and event.plan in done:
            done[event.plan] += event.primitives
    acts = [[act for act in primitives if act != "walktowards"] for primitives in done.values()]
    assert ["putin", "open", "putin"] in acts  # both hands were full: the first goes in before it is opened


def test_nobody_is_nearer_to_what_the_agent_alone_can_bring() -> None:
    bob = {"mate_ticks": 1, "goals": (goal("apple", 1),)}
    me = home(APPLES[1], "Alice HOLD <apple>(57)", "Bob AT <kitchen>(11)", options=(DELIVER, FAR), **bob)
    assert me.nearer(FAR) == "Bob"
    assert me.nearer(DELIVER) is None


def test_what_others_lack_is_what_was_neither_told_nor_seen_together() -> None:
    box = ("<cabinet>(22) IN <kitchen>(11)", "<cabinet>(22) STATE open", "<bedroom>(12) EXPLORED all")
    facts = (*APPLES, *box, "Bob AT <kitchen>(11)")
    heard = Message("Bob", "inform", "Facts: <apple>(57) IN <kitchen>(11).", t=1)
    seen = {"Bob": (TABLE,)}
    me = home(*facts, options=(NEAR,), shared=False, chat=(heard,), witnessed=seen)
    assert [str(fact) for fact in me.unshared] == [
        APPLES[1],
        "<bedroom>(12) EXPLORED all",
        "<cabinet>(22) STATE open",
    ], "Bob is in the kitchen and sees that it was searched; the table both saw"
    both = {"Bob": (TABLE, Entity("bedroom", 12))}
    there = home(*facts, options=(NEAR,), shared=False, chat=(heard,), witnessed=both)
    assert "<bedroom>(12) EXPLORED all" not in map(str, there.unshared), "the two were there at once"
    assert home(*facts, options=(NEAR,)).unshared == (), "all know what one has seen"
    prompt = render(ProposeMessage("Alice", {"Alice": me.view}, me, CoelaOptions())).user
    assert "not told and did not see with you: apple_58 IN bedroom_12; bedroom_12 EXPLORED all; cabinet_22" in prompt
    none = home("Bob AT <kitchen>(11)", options=(NEAR,), shared=False, witnessed=seen)
    prompt = render(ProposeMessage("Alice", {"Alice": none.view}, none, CoelaOptions())).user
    assert "Facts have this form: `" in prompt, "also where there is nothing to tell"
