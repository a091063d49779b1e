"""The rule for messages: who gets one, what it costs, how it is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from teamworld.episode.message_delivery import Channel, MessageRule
from teamworld.language import AgentId, Fact, parse_fact, plain, plain_names
from teamworld.methods.contract import Message
from teamworld.record import Deliver, Event, MessageSent
from teamworld.seeding import generator

TEAM = ("a", "b", "c", "d", "e")
#: What a rule's record held before the number of recipients could be bounded: logs of such rules stay as they were.
FIELDS = ["ticks", "chars_per_tick", "maximum", "reach", "loss", "echo", "seen", "paid_by"]
names = st.lists(st.sampled_from([*TEAM, "nobody"]), unique=True).map(tuple)


def channel(rule: MessageRule, events: list[Event], near: tuple[AgentId, ...] = TEAM) -> Channel:
    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    return Channel(rule, lambda sender, reach: [agent for agent in near if agent != sender], streams, events.append)


def sent(rule: MessageRule, wanted: tuple[AgentId, ...] | None, near: tuple[AgentId, ...] = TEAM) -> MessageSent:
    events: list[Event] = []
    channel(rule, events, near).post(Message("a", "inform", "hello", recipients=wanted), 0)
    (found,) = (event for event in events if isinstance(event, MessageSent))
    return found


@given(bound=st.integers(1, 6), wanted=st.none() | names, near=names, echo=st.booleans())
def test_a_bound_keeps_the_first_in_reach(
    bound: int, wanted: tuple[AgentId, ...] | None, near: tuple[AgentId, ...], echo: bool
) -> None:
    free = sent(MessageRule(echo=echo), wanted, near).recipients
    others = tuple(agent for agent in free if agent != "a")
    found = sent(MessageRule(recipients=bound, echo=echo), wanted, near).recipients
    assert found == others[:bound] + ("a",) * echo  # the echo goes to nobody else


def test_a_bound_holds_in_rooms_too() -> None:
    events: list[Event] = []
    meeting = channel(MessageRule(recipients=2), events).open_meeting(TEAM, 0)
    meeting.say(Message("c", "propose", "mine"))
    assert [agent for agent in TEAM if meeting.heard(agent)] == ["a", "b", "c"]


def test_whoever_has_said_all_that_it_may_is_not_sent_and_pays_nothing() -> None:
    events: list[Event] = []
    bound = channel(MessageRule(most=2, ticks=1, paid_by="speaker"), events)
    for number in range(4):
        assert bound.may_speak("a") == (number < 2)
        bound.post(Message("a", "inform", str(number)), 0)
    assert [event.text for event in events if isinstance(event, MessageSent)] == ["0", "1"]
    assert bound.owed["a"] == 2
    assert len(bound.inbox("b", 0)) == 2
    assert bound.may_speak("b")  # each has its own
    meeting = bound.open_meeting(TEAM, 0)
    meeting.say(Message("a", "inform", "again"))
    meeting.say(Message("b", "inform", "first"))
    assert [said.text for said in meeting.heard("c")] == ["first"]


def test_without_a_bound_anybody_may_speak_for_ever() -> None:
    free = channel(MessageRule(), [])
    for _ in range(20):
        free.post(Message("a", "inform", "hello"), 0)
    assert free.may_speak("a")


WORDS = "I take deliver_1; <item>(1) AT (2, 9)."
FACTS = tuple(
    map(parse_fact, ("<item>(1) AT (2, 9)", "<item>(1) WEIGHT 1", "<item>(1) WEIGHT 12", "<item>(2) STATE free"))
)


def test_facts_are_part_of_what_is_said_and_none_is_said_twice() -> None:
    events: list[Event] = []
    line = channel(MessageRule(ticks=1, chars_per_tick=10, paid_by="speaker"), events)
    line.post(Message("a", "inform", "ok", facts=FACTS), 0)
    line.post(Message("a", "inform", WORDS, facts=FACTS), 0)
    line.post(Message("a", "inform", "", facts=FACTS[:1]), 0)
    texts = [event.text for event in events if isinstance(event, MessageSent)]
    assert texts == [
        "ok Facts: item_1 AT (2, 9); item_1 WEIGHT 1; item_1 WEIGHT 12; item_2 STATE free.",
        f"{WORDS} Facts: item_1 WEIGHT 1; item_1 WEIGHT 12; item_2 STATE free.",
        "Facts: item_1 AT (2, 9).",
    ]
    assert line.owed["a"] == sum(1 + -(-len(text) // 10) for text in texts)
    assert [said.text for said in line.inbox("b", 0)] == [said.whole for said in line.inbox("b", 0)] == texts


def test_a_task_is_part_of_what_is_said() -> None:
    assert Message("a", "inform", "ok", "deliver_1", FACTS[1:2]).whole == "ok Task: deliver_1. Facts: item_1 WEIGHT 1."
    assert Message("a", "inform", WORDS, "deliver_1").whole == WORDS
    assert Message("a", "inform", WORDS, "deliver_12").whole == f"{WORDS} Task: deliver_12."


@given(
    st.integers(1, 120),
    st.sampled_from(["ok", WORDS, ""]),
    st.sampled_from([None, "deliver_1", "deliver_2"]),
    st.lists(st.sampled_from(FACTS)).map(tuple),
)
def test_a_limit_of_length_holds_for_words_task_and_facts_together(
    maximum: int, words: str, goal: str | None, facts: tuple[Fact, ...]
) -> None:
    events: list[Event] = []
    channel(MessageRule(maximum=maximum), events).post(Message("a", "inform", words, goal, facts), 0)
    (sent,) = (event for event in events if isinstance(event, MessageSent))
    free = Message("a", "inform", words, goal, facts).whole
    assert len(sent.text) <= maximum
    assert sent.text == free or len(free) > maximum
    assert sent.goal is None or sent.goal in sent.text  # what arrives as a task stands in the text
    for fact in sent.facts:  # what arrives as a fact stands in the text
        assert plain(fact) in plain_names(sent.text)


def test_whoever_is_named_twice_gets_it_once() -> None:
    assert sent(MessageRule(), ("b", "c", "b")).recipients == ("b", "c")
    assert sent(MessageRule(recipients=2), ("b", "b", "c")).recipients == ("b", "c")


def test_only_those_who_get_it_pay() -> None:
    events: list[Event] = []
    line = channel(MessageRule(ticks=2, paid_by="members", recipients=1, echo=True), events)
    line.post(Message("a", "inform", "hello"), 0)
    assert line.owed == {"a": 2, "b": 2}  # the echo costs nothing more


def test_an_echo_is_never_lost() -> None:
    events: list[Event] = []
    line = channel(MessageRule(echo=True, loss=1.0), events)
    line.post(Message("a", "inform", "hello"), 0)
    dropped = {event.agent: event.dropped for event in events if isinstance(event, Deliver)}
    assert dropped == {"b": True, "c": True, "d": True, "e": True, "a": False}
    assert [message.text for message in line.inbox("a", 0)] == ["hello"]


def test_a_rule_without_a_bound_is_recorded_as_it_was() -> None:
    assert list(MessageRule().model_dump(mode="json")) == FIELDS
    assert set(MessageRule(recipients=3).model_dump()) == {*FIELDS, "recipients"}
    for rule in (MessageRule(), MessageRule(recipients=3)):
        assert MessageRule.model_validate(rule.model_dump()) == rule


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "free"),
        ({"ticks": 1, "paid_by": "speaker"}, "1 tick a message, paid by the speaker"),
        (
            {"ticks": 2, "chars_per_tick": 20, "paid_by": "members"},
            "2 ticks a message and a tick for 20 characters, paid by members",
        ),
        ({"paid_by": "speaker"}, "free"),
        ({"most": 2}, "at most 2 messages an agent"),
        ({"maximum": 80, "recipients": 1}, "at most 80 characters, to at most 1 agent"),
        (
            {"reach": 0, "loss": 0.25, "seen": "next", "echo": True},
            "reach 0, 0.25 of all lost, read in the next step, echoed",
        ),
    ],
)
def test_a_rule_is_told_in_words(rule: dict[str, Any], words: str) -> None:
    assert MessageRule.model_validate(rule).in_words() == words


@pytest.mark.parametrize("wrong", [{"recipients": 0}, {"recipients": -1}, {"recipients": "few"}, {"ticks": 1}])
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MessageRule.model_validate(wrong)
