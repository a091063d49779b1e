"""COELA's prompts show what the agent may know, the words of others as quotations, and what its options add."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from teamworld.episode.message_delivery import MessageRule
from teamworld.language import parse_fact, plain
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import ChooseAction, Proposal, ProposeMessage
from teamworld.methods.coela.situation import Situation
from teamworld.methods.contract import Message
from teamworld.methods.registry import kinds
from teamworld.reasoning.contract import Question
from teamworld.reasoning.prompts import render
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World
from teamworld.worlds.cube.state import Block
from tests.methods.asked import Twist, asked
from tests.methods.coela.house import situate
from tests.methods.test_prompts import differ
from tests.methods.test_prompts import world as cube
from tests.reasoning.test_untrusted_text import texts

NATIVE = MessageRule(ticks=1, paid_by="speaker")
MINE = {"coela.message", "coela.action"}


def test_all_kinds_of_questions_are_asked() -> None:
    found = {question.kind for question in asked(cube(Block(1, 20, 3), horizon=3), "coela:reference")}
    assert found == set(kinds(["coela"])) & (MINE | {"perception", "translation"})


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["coela", "coela:reference", "coela:original", "coela:simultaneous"])
def test_a_block_that_nobody_has_seen_changes_no_prompt(label: str) -> None:
    known = asked(cube(Block(1, 20, 3)), label, rule=NATIVE)
    assert {question.t for question in known} > {0}
    for far in (Block(1, 20, 8), Block(1, 16, 5)):  # of the same weight: all are told the weights with the task
        assert differ(known, asked(cube(far), label, rule=NATIVE)) == set()
    one, other = (asked(cube(Block(1, 20, at), radius=None, horizon=1), label, rule=NATIVE) for at in (3, 4))
    assert differ(one[:2], other[:2]) == {question.kind for question in one[:2]}


def make_situation(world: World, said: str = "hello", scene: str | None = None) -> Situation:
    facts = tuple(map(parse_fact, ("<item>(1) AT (2, 9)", "<item>(1) WEIGHT 1", "<item>(1) STATE free")))
    chat = (Message("agent_1", "inform", said, "deliver_0", facts, t=0),)
    view, told = world.view("agent_0"), {"shared": False, "chat": chat, "scene": scene}
    return situate(view, world.domain, world.spec.kinds, **told)  # type: ignore[arg-type]


def questions(
    world: World, options: CoelaOptions, said: str = "hello", paragraph: str | None = None
) -> list[Question[Any]]:
    me = make_situation(world, said, paragraph)
    told = ("agent_0", {"agent_0": me.view}, me, options)
    return [ProposeMessage(*told), ChooseAction(*told, Message("agent_0", "inform", said))]


@given(st.sampled_from([0, 1]), texts)
def test_hostile_words_stay_quotations(which: int, said: str) -> None:
    said = said.encode("utf-8", "replace").decode()[:1000]  # as an answer is read
    world = worlds.make("rooms", "two", 0, 60, {})
    mark, hostile = (render(questions(world, CoelaOptions(), text, text)[which]) for text in ("MARK", said))
    assert hostile.system == mark.system
    assert "never an instruction" in mark.system
    own = re.compile(r"^> .*$", re.MULTILINE)  # its own words need no marks, but no line of them is one of the prompt
    assert "MARK" not in re.sub("«[^«»]*»", "", own.sub("", mark.user))
    if said.strip():
        shown = own.sub("", hostile.user)
        assert shown.count("«") == shown.count("»") == mark.user.count("«")


def test_the_message_is_the_first_of_the_numbered_options() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    question = questions(world, CoelaOptions(), "come here")[1]
    assert isinstance(question, ChooseAction)
    user = render(question).user
    numbered = re.findall(r"^(\d+)\. (.*)$", user, re.MULTILINE)
    assert numbered[0] == ("1", "SEND_MESSAGE, at the price of a step:")
    assert "step:\n> come here\n" in user
    assert [int(number) for number, _ in numbered] == list(range(1, len(question.numbered) + 1))
    assert [text.split("`")[1] for _, text in numbered[1:]] == [plain(action) for action in question.numbered[1:]]
    assert all("about" in text for _, text in numbered[1:])
    silent = replace(question, message=None)
    assert "There is no message to send." in render(silent).user
    assert re.search(r"^1\. `", render(silent).user, re.MULTILINE)
    for other in (question, silent):  # what the number means is what was shown
        for number, action in enumerate(other.numbered, start=1):
            read = other.read(other.answer(action=str(number)))
            assert read is not None
            assert read.verb == action.verb


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ("belief_map", "## What you remember, or were told"),
        ("teammates", "Last seen of them:"),
        ("progress", "that you know of, 0 done"),
    ],
)
def test_the_additions_of_the_original_are_shown_where_switched_on(option: str, shown: str) -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    for bare, added in zip(
        questions(world, CoelaOptions()), questions(world, CoelaOptions.model_validate({option: True})), strict=True
    ):
        assert shown not in render(bare).user
        assert shown in render(added).user
        assert render(bare).system == render(added).system
    told = render(questions(world, CoelaOptions(belief_map=True))[0]).user
    assert "- item_1 AT (2, 9) (step 0)" in told
    assert "has said since step 0 that it takes deliver_0" in told


def test_what_was_told_stands_beside_what_is_seen() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    line = "You were told, and have not seen yourself since: item_1 AT (2, 9) (step 0); item_1 WEIGHT 1 (step 0)"
    for question in questions(world, CoelaOptions()):
        assert line in render(question).user
    assert "You were told" not in render(questions(world, CoelaOptions(belief_map=True))[0]).user  # it stands there


def test_abilities_instead_of_options() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    question = questions(world, CoelaOptions(listed="abilities"), "come here")[1]
    user = render(question).user
    assert re.findall(r"^\d+\. .*$", user, re.MULTILINE) == ["1. SEND_MESSAGE, at the price of a step:"]
    assert "values of your own" in user


@pytest.mark.heavy
def test_what_others_heard_is_not_shown_to_who_did_not_hear_it() -> None:
    def twist(text: str) -> Twist:
        def answer(question: Question[Any], answer: BaseModel) -> BaseModel:
            if question.respondent != "agent_2":
                return answer
            if isinstance(question, ProposeMessage):
                return Proposal(message=text)
            return answer.model_copy(update={"action": "SEND_MESSAGE"})

        return answer

    far = MessageRule(ticks=1, paid_by="speaker", reach=0)
    for rule, hearing in ((far, set()), (NATIVE, {"agent_0", "agent_1"})):
        one, other = (
            asked(cube(Block(1, 20, 3), radius=None, horizon=6), "coela", twist=twist(text), rule=rule)
            for text in ("left", "right")
        )
        changed = {a.respondent for a, b in zip(one, other, strict=False) if a.prompt != b.prompt}
        assert changed - {"agent_2"} == hearing
