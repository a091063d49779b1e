"""The original form: the list of plans, how an answer is read, full hands, what is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from teamworld.language import Action, Entity, parse_action
from teamworld.methods.coela.lettered_plans import (
    BLIND,
    SEND,
    find_room_search,
    letter,
    list_plans,
    plan_text,
    read_plan,
)
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import PickPlan, Tell, Think
from teamworld.methods.contract import Message
from teamworld.planning.fetch import carrying_capacity
from teamworld.reasoning.prompts import render
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WAIT, Option
from tests.methods.coela.house import goal, make_situation

PLANS = (SEND, *map(parse_action, ("explore(<kitchen>(11))", "check(<cabinet>(22))", "fetch(<apple>(57))")))
EXPLORE, CHECK, FETCH = PLANS[1:]
DELIVER = Action("deliver")
OPTIONS = (
    Option(EXPLORE, None, 6),
    Option(CHECK, None, 2),
    Option(FETCH, "apple_on_table", 3),
    Option(WAIT, None, 1),
)
HERE = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<apple>(57) IN <kitchen>(11)")
FULL = (*HERE, "Alice HOLD <apple>(31)", "Alice HOLD <plate>(32)")
CWAH = CoelaOptions(listed="plans", thinking="before", report=True, opening=True, messages_shown=3, unread="draw")


def test_letters() -> None:
    assert [letter(index) for index in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        *("A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA")
    ]


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_no_two_plans_have_a_letter_in_common(one: int, other: int) -> None:
    assert (letter(one) == letter(other)) is (one == other)


# ---- the list


def test_the_message_comes_first_then_what_can_start_and_waiting_last() -> None:
    situation = make_situation(*HERE, options=OPTIONS)
    assert list_plans(situation, CWAH, message=True) == (*PLANS, WAIT)
    assert list_plans(situation, CWAH, message=False) == (*PLANS[1:], WAIT)
    without = make_situation(*HERE, options=OPTIONS, omit=("check",))
    assert list_plans(without, CWAH, message=False) == (EXPLORE, FETCH, WAIT)


def test_delivery_before_the_place_was_seen_is_a_plan_only_where_that_is_asked_for() -> None:
    holding = make_situation(*HERE, "Alice HOLD <apple>(31)", options=OPTIONS)
    blind = CoelaOptions(listed="plans", blind_delivery=True)
    assert BLIND not in list_plans(holding, CWAH, message=False)
    assert list_plans(holding, blind, message=False)[-2] == BLIND
    assert find_room_search(holding) == EXPLORE
    assert BLIND not in list_plans(make_situation(*HERE, options=OPTIONS), blind, message=False)  # it holds nothing
    seen = make_situation(*HERE, "Alice HOLD <apple>(31)", options=(*OPTIONS, Option(DELIVER, "apple_on_table", 4)))
    assert list_plans(seen, blind, message=False)[-2] == DELIVER


# ---- hands


def test_hands() -> None:
    situation = make_situation(*FULL, options=(*OPTIONS, Option(DELIVER, "apple_on_table", 4)))
    assert carrying_capacity(situation.domain) == 2
    assert situation.held("Alice") == (Entity("apple", 31), Entity("plate", 32))
    assert situation.held("Bob") == ()
    assert situation.is_full
    found = next(iter(situation.deliveries()), None)
    assert found is not None
    assert found.action == DELIVER
    without = make_situation(*FULL, options=(Option(DELIVER, "apple_on_table", 4),), omit=("deliver",))
    assert not list(without.deliveries())
    one = make_situation(*HERE, "Alice HOLD <apple>(31)", options=OPTIONS)
    assert not one.is_full
    assert not list(one.deliveries())
    rooms = worlds.make("rooms", "two", 0, 60, {}).domain
    assert carrying_capacity(rooms) == 1
    assert carrying_capacity(worlds.make("cube", "n2", 0, 60, {}).domain) == 0


# ---- reading


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        # exact text
        ("fetch(<apple>(57))", FETCH),
        ("I will do B, no: FETCH(<apple>(57))", FETCH),
        ("SEND_MESSAGE", SEND),
        ("A. SEND_MESSAGE: I do fetch(<apple>(57))", SEND),  # the first in the list
        ("<answer>check(<cabinet>(22))</answer> and not fetch(<apple>(57))", CHECK),
        # letters
        ("option B", EXPLORE),
        ("Option C is best", CHECK),
        ("D.", FETCH),
        ("D, since it is near", FETCH),
        ("the best is (C)", CHECK),
        ("D", FETCH),
        ("  'A'  ", SEND),
        ("**B**", EXPLORE),
        ("option BA", None),
        ("e.g. nothing", None),
        # anything of a plan but the message
        ("Take the apple", FETCH),
        ("I think D it is", FETCH),
        ("go to room 11", EXPLORE),
        ("check something", CHECK),
        ("explore or fetch <apple>", FETCH),  # two marks beat one
        ("explore and check", EXPLORE),  # of equals the first
        ("A nice day", None),  # an article is no letter
        ("send a message", None),
        ("appletree", None),
        ("57", FETCH),
        ("157", None),
        ("", None),
        ("none of these", None),
        ("«»{{ 1 }}\u202e", None),
        ("B" * 5000, None),
    ],
)
def test_how_an_answer_is_read(text: str, plan: Action | None) -> None:
    assert read_plan(text, PLANS) == plan


@given(st.integers(0, 60), st.sampled_from(["{}", "option {}", "({}) go", "{}. now", "{}, yes", "I take option {}"]))
def test_every_plan_can_be_named_by_text_and_letter(index: int, form: str) -> None:
    plans = tuple(Action("walk", (Entity("spot", number),)) for number in range(100, 161))
    assert read_plan(str(plans[index]), plans) == plans[index]
    assert read_plan(form.format(letter(index)), plans) == plans[index]


@pytest.mark.heavy
@given(st.text(max_size=80))
def test_whatever_is_said_a_plan_of_the_list_is_read_or_none(text: str) -> None:
    assert read_plan(text, PLANS) in (*PLANS, None)
    assert read_plan(text, ()) is None


# ---- questions


def pick(options: CoelaOptions = CWAH, message: str = "hello", *facts: str) -> PickPlan:
    me = make_situation(*HERE, *facts, options=OPTIONS)
    told = Message("Alice", "inform", message) if message else None
    return PickPlan("Alice", {"Alice": me.view}, me, options, told, "I thought a lot.")


def test_the_list_of_the_prompt_is_what_the_letters_stand_for() -> None:
    question = pick()
    user = render(question).user
    for index, plan in enumerate(question.numbered):
        text = plan_text(plan) if plan == SEND else f"`{plan_text(plan)}`"
        assert f"\n{letter(index)}. {text}" in user
        assert question.read(question.answer(plan=letter(index))) == plan
    assert "A. SEND_MESSAGE, at the price of a step:\n> hello" in user
    assert "D. `fetch(apple_57)` for apple_on_table, about 3 steps" in user
    assert "E. `wait()`, about 1 step" in user
    assert "> I thought a lot." in user


def test_an_answer_without_a_plan_is_asked_again_or_a_plan_is_drawn() -> None:
    nonsense = pick().answer(plan="hm")
    assert pick().check(nonsense) is None
    again = pick(CoelaOptions(listed="plans"))
    assert again.check(nonsense) == (
        "no plan is named: answer with one of A to E and its text, such as A. SEND_MESSAGE"
    )
    assert again.check(again.rule(None)) is None  # type: ignore[arg-type]


def test_the_rule_takes_a_plan_of_the_list_and_thinks_the_same_before() -> None:
    question = pick(CWAH, "")
    assert question.rule(None).plan == "fetch(apple_57)"  # type: ignore[arg-type]
    think = Think("Alice", question.views, question.me, CWAH, None)
    assert "fetch(apple_57)" in think.rule(None).reasoning  # type: ignore[arg-type]
    assert "C. `fetch(apple_57)`" in render(think).user


def test_prompts_show_the_opening_lines_and_the_last_messages() -> None:
    chat = [Message("Bob", "inform", f"word {number}", t=number) for number in range(5)]
    chat[0] = Message("Alice", "commit", "mine", "apple_on_table", t=0)
    me = make_situation(*HERE, options=OPTIONS, chat=chat, shown=2)
    user = render(Tell("Alice", {"Alice": me.view}, me, CWAH)).user
    assert user.index("Alice, before the first step: ") < user.index("Bob, before the first step: ")
    assert [number for number in range(5) if f"«word {number}»" in user] == [3, 4]
    assert "taking apple_on_table: «mine Task: apple_on_table.»" in user  # what it announced itself stays
    plain = render(Tell("Alice", {"Alice": me.view}, me, CoelaOptions(listed="plans"))).user
    assert "before the first step" not in plain
    assert "a house" in plain
    assert "a house" not in user
    assert "You are in kitchen_11" in user


@pytest.mark.parametrize(
    "wrong",
    [
        {"unread": "draw"},
        {"blind_delivery": True},
        {"listed": "plans", "translate": "mind"},
        {"listed": "letters"},
        {"messages_shown": -1},
    ],
)
def test_options_that_would_do_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CoelaOptions.model_validate(wrong)


def test_options_that_are_not_set_are_not_written_down() -> None:
    assert "thinking" not in CoelaOptions().model_dump()
    assert CoelaOptions(thinking="before").model_dump()["thinking"] == "before"
    assert CoelaOptions.model_validate(CWAH.model_dump()) == CWAH


def test_goals_of_a_kind_are_about_any_of_it() -> None:
    assert goal("apple", 0).state == "done"
