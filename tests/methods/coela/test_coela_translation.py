"""Translation and perception: what the parser reads, and that nothing makes it fail."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Action, parse_action, plain_names
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.perception import LONGEST, Paragraph, Perceive
from teamworld.methods.common.translation import Translate, Translation
from teamworld.planning.action_parser import action_text, read_action
from teamworld.reasoning.prompts import render
from teamworld.seeding import generator
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WAIT, View, World
from tests.toy import ToyWorld

PLACES = (("rooms", "three"), ("rooms", "two-hazard"), ("cube", "paper-n2"), ("cube", "n4"))


@cache
def place(world: str, level: str) -> World:
    return worlds.make(world, level, 1, 60, {})


def views() -> Iterator[tuple[World, View]]:
    for world, level in PLACES:
        made = place(world, level)
        yield from ((made, made.view(agent)) for agent in made.spec.agents)


def whole(view: View, action: Action) -> Action:
    schema = next((schema for schema in view.abilities if schema.verb == action.verb), None)
    return action if schema is None else schema.complete(action)


def test_the_written_form_and_the_number_of_each_option_are_read_back() -> None:
    for world, view in views():
        for number, option in enumerate(view.options, start=1):
            wanted = whole(view, option.action)
            for text in (
                str(option.action),
                f"  `{option.action}`. ",
                f"<action>{option.action}</action>",
                f"<reasoning>go((0, 0)) is no use</reasoning> <action> {option.action} </action>",
                str(number),
                f"option {number}",
                f"{number}. {option.action}",
                f"#{number}",
            ):
                assert read_action(text, view, world.domain) == wanted, text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("go to (2, 3)", "go((2, 3))"),
        ("Go to row 2, column 3 please", "go((2, 3))"),
        ("GO(2, 3)", "go((2, 3))"),
        ("I will go to [2, 3].", "go((2, 3))"),
        ("lift item 0", "lift(<item>(0), 8)"),
        ("lift item_0 and wait 3 ticks for the other", "lift(<item>(0), 3)"),
        ("LIFT <item>(0)", "lift(<item>(0), 8)"),
        ("lift(item 0, 4)", "lift(<item>(0), 4)"),
        ("do nothing", "wait()"),
        ("No action", "wait()"),
        ("wait", "wait()"),
        ("fly (2, 3)", None),
        ("go", None),
        ("go to the table", None),
        ("go((2, 99))", None),
        ("lift item 7", None),
        ("0", None),
        ("100", None),
        ("", None),
        ("...", None),
        ("SEND_MESSAGE", None),
    ],
)
def test_words_of_rooms(text: str, wanted: str | None) -> None:
    world = place("rooms", "three")
    found = read_action(text, world.view("agent_0"), world.domain)
    assert found == (None if wanted is None else parse_action(wanted))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("move to block 1 at its left face", "move_to_block(<block>(1), left, 40)"),
        ("push block 1 for 3 steps", "push_block(<block>(1), 3, 0)"),
        ("Then move up 2", "move(up, 2)"),
        ("move_to_block(block_1, left)", "move_to_block(<block>(1), left, 40)"),
        ("rendezvous at block 0, left, with 2", "rendezvous(<block>(0), left, 2, 10)"),
        ("rendezvous somewhere", None),
    ],
)
def test_words_of_cube(text: str, wanted: str | None) -> None:
    world = place("cube", "paper-n2")
    found = read_action(text, world.view("agent_1"), world.domain)
    assert found == (None if wanted is None else parse_action(wanted))


def test_of_several_verbs_the_first_that_can_start_is_meant() -> None:
    world = place("rooms", "three")
    view = world.view("agent_0")
    free = next(option.action for option in view.options if option.action.verb == "go")
    text = f"bring item 0 later, first go to {free.args[0]}"
    assert read_action(text, view, world.domain) == free


def test_numbers_stand_for_what_was_shown() -> None:
    world = place("rooms", "three")
    shown = (WAIT, parse_action("go((1, 1))"))
    assert read_action("2", world.view("agent_0"), world.domain, shown) == shown[1]
    assert read_action("3", world.view("agent_0"), world.domain, shown) is None


def test_a_slip_of_the_pen_is_read_as_the_option_most_alike() -> None:
    world = place("cube", "paper-n2")
    view = world.view("agent_0")
    wanted = next(option.action for option in view.options if option.action.verb == "move_to_block")
    assert read_action(str(wanted).replace("move_to_block", "move_to_blok"), view, world.domain) == whole(view, wanted)


WORDS = """go lift bring move push block item wait ( ) , < > 0 1 2 99999999 up left option # . action <action> </action>
« »"""
PIECES = st.sampled_from([*WORDS.split(), "\n"])


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map(" ".join)))
def test_any_text_is_nothing_or_an_action_of_the_agent_and_always_the_same(text: str) -> None:
    for world, view in ((place(*at), place(*at).view("agent_1")) for at in PLACES[::2]):
        found = read_action(text, view, world.domain)
        assert found == read_action(text, view, world.domain)
        if found is not None and found != WAIT:
            assert whole(view, found) == found


def test_long_texts_are_cut() -> None:
    world = place("cube", "paper-n2")
    assert read_action("x " * 100_000 + "move up 2", world.view("agent_0"), world.domain) is None
    assert len(action_text("x" * 5000)) == 1000


def asked(text: str) -> Translate:
    world = place("rooms", "three")
    view = world.view("agent_0")
    me = AgentKnowledge(view, world.domain, world.spec)
    return Translate("agent_0", {"agent_0": view}, me, text, tuple(o.action for o in view.options))


def test_a_mind_translates_into_what_can_start_or_nothing() -> None:
    rng = generator(0, "test")
    question = asked("go to (2, 3)")
    answer = question.rule(rng)
    assert question.check(answer) is None
    assert question.read(answer) == parse_action("go((2, 3))")
    for text, said in (("sing", None), ("lift item 0 at once, wherever it is", "lift(item_0, 8)")):
        nothing = asked(text).rule(rng)
        assert nothing.action == said, "whether it can start is not for the translator"
        assert asked(text).check(nothing) is None
        assert asked(text).read(nothing) is None
    for written in ("wait()", "wait", " `wait()` "):
        assert question.check(Translation(action=written)) is None
        assert question.read(Translation(action=written)) == WAIT, "to do nothing is an action"
    assert asked("do nothing").rule(rng).action == "wait()"
    assert question.check(Translation(action="sing()")) == (
        "there is no action sing; there are: go, lift, bring, drop, wait; or null"
    )
    assert question.read(Translation(action="bring(<item>(0), 8)")) is None, "it holds nothing"
    assert question.check(question.fallback()) is None
    assert question.check(Translation(action="")) is not None
    assert {*question.offers("action", {})} >= {"wait()", None}
    assert "«sing»" in render(asked("sing")).user


def test_perception_is_the_worlds_words_and_the_rule_gives_them_back() -> None:
    world = place("rooms", "three")
    view = world.view("agent_0")
    question = Perceive("agent_0", {"agent_0": view}, AgentKnowledge(view, world.domain, world.spec))
    assert question.grid == "", "rooms have no grid of signs"
    assert question.rule(generator(0, "test")).text == question.fallback().text == view.text()[:LONGEST]
    assert question.check(Paragraph(text="  ")) == "the paragraph is empty"
    assert plain_names(view.text()) in render(question).user


def test_a_grid_of_signs_is_shown_where_the_world_has_one() -> None:
    toy = ToyWorld()
    toy.reset(0)
    view = toy.view("a")
    view.text = lambda form="plain": "#.#" if form == "grid" else "words"  # type: ignore[method-assign]
    question = Perceive("a", {"a": view}, AgentKnowledge(view, toy.domain, toy.spec))
    assert "#.#" in render(question).user
    assert question.rule(generator(0, "test")).text == "words"


@pytest.mark.parametrize("written", ["wait", "WAIT()", "Wait( 1 )", "noop()", "do nothing"])
def test_waiting_is_read_as_tolerantly_as_any_action(written: str) -> None:
    world = worlds.make("cube", "paper-n2", 0, 20, {})
    assert read_action(written, world.view("agent_0"), world.domain) == WAIT


def test_talking_is_no_action_to_choose() -> None:
    world = worlds.make("cube", "paper-n2", 0, 20, {})
    assert read_action("talk(20)", world.view("agent_0"), world.domain) is None
