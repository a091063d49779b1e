"""Metrics of talk, worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics.messages import grams, repetitions, tokenize
from teamworld.record import (
    ActionStep,
    AttemptMade,
    Commit,
    Deliver,
    EpisodeStart,
    Event,
    LlmCall,
    MessageSent,
    Observe,
    QuestionAsked,
    RelationInfo,
    Truth,
)
from tests.metrics.golden import TEXT
from tests.metrics.logs import act, attempt, commit, log, measured, plan

HERE, THERE = "<block>(1) AT (0, 0)", "<block>(1) AT (5, 5)"


def say(agent: str, number: int, to: tuple[str, ...] = ("b",), text: str = "", **given: Any) -> list[Any]:
    """A message that reaches all whom it is for."""
    fields: dict[str, Any] = {"act": "inform", "goal": None} | given
    message = MessageSent(agent=agent, id=number, recipients=to, text=text, **fields)
    return [message, *(Deliver(agent=one, message=number) for one in to)]


def with_beliefs(*steps: list[Any], **given: Any) -> list[Event]:
    start, *events = log(*steps, **given)
    assert isinstance(start, EpisodeStart)
    goals = tuple(msgspec.structs.replace(goal, thing="<block>(1)") for goal in start.goals)
    relations = (RelationInfo(predicate="HOLD", subject="agent", values=("block",)),)
    return [msgspec.structs.replace(start, log_level="beliefs", goals=goals, relations=relations), *events]


def asked(agent: str, purpose: str, output: int | None) -> list[Any]:
    call = LlmCall(
        agent=agent,
        purpose=purpose,
        model="m",
        prompt_tokens=1,
        cached_tokens=0,
        output_tokens=output,
        reasoning_tokens=0,
        usable=True,
    )
    return [call, QuestionAsked(agent=agent, purpose=purpose, reasoner="m", answer={})]


# ---- words


def test_words_and_signs_are_tokenize() -> None:
    assert len(tokenize(TEXT)) == 12
    assert tokenize("block_1, Überraschung (5)!") == ["block_1", ",", "Überraschung", "(", "5", ")", "!"]
    assert tokenize(" \n") == []


def test_short_texts_are_compared_as_a_whole() -> None:
    assert grams("Go there") == grams("go THERE")
    assert grams("go there") != grams("go here")
    assert len(grams("a b c d")) == 2


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.lists(st.sampled_from(["go", "to", "me"]), max_size=14).map(" ".join),
            st.sets(st.sampled_from("xyz")),
        ),
        max_size=12,
    )
)
def test_repeats_are_those_that_comparing_all_with_all_finds(said: list[tuple[str, str, set[str]]]) -> None:
    def alike(one: str, other: str) -> bool:
        return 10 * len(grams(one) & grams(other)) >= 8 * len(grams(one) | grams(other))

    found = [
        any(speaker == who and hearers & them and alike(text, old) for who, old, them in said[:at])
        for at, (speaker, text, hearers) in enumerate(said)
    ]
    assert repetitions(said) == found


def test_four_of_five_runs_in_common_are_a_repetition() -> None:
    assert repetitions([("a", "one two three four five six", "b"), ("a", "one two three four five six seven", "b")])[1]
    assert not repetitions([("a", "one two three four five", "b"), ("a", "one two three four five six", "b")])[1]


# ---- counts


def test_who_says_how_much_to_whom() -> None:
    found = measured(log(say("a", 0, text="one two"), say("a", 1, ("b", "c"), "three"), team=("a", "b", "c")))
    assert found["messages"].value == 2
    assert found["message_tokens"].value == 3


def test_a_silent_team_has_counts_but_no_shares() -> None:
    found = measured(log([act("a"), act("b")]))
    assert found["messages"].value == found["message_tokens"].value == 0
    for name in ("repetition", "request_fulfilment", "message_generation_tokens"):
        assert found[name].value is None


def test_tokens_of_calls_that_write_messages_are_those_of_their_kind_of_question() -> None:
    found = measured(
        log(
            [*asked("a", "say", 10), *say("a", 0), *asked("a", "plan", 100), plan("a", 0), *say("a", 1)],
            asked("a", "say", 7),
        )
    )
    assert found["message_generation_tokens"].value == 17, (
        "also where nothing was sent; what is said after a plan was not asked for"
    )
    assert measured(log([*asked("a", "say", None), *say("a", 0)]))["message_generation_tokens"].value is None


# ---- what comes of it


@pytest.mark.parametrize(
    ("answer", "step", "answered"),
    [
        ([], 1, False),
        (say("b", 1, ("a",), reply_to=0), 3, True),
        (say("c", 1, ("a",), reply_to=0), 3, False),
        ([commit("b")], 3, True),
        ([commit("b", "h")], 3, False),
        ([plan("b", 0)], 10, True),
        ([plan("b", 0)], 11, False),
    ],
)
def test_requests_are_answered_by_those_asked_and_in_time(answer: list[Any], step: int, answered: bool) -> None:
    request = say("a", 0, ("b",), act="request", goal="g")
    steps: list[list[Any]] = [request, *([] for _ in range(11))]
    steps[step] = steps[step] + answer
    found = measured(log(*steps, goals={"g": 2, "h": 2}, team=("a", "b", "c")))
    assert found["request_fulfilment"] == (answered, answered, 1)


# ---- what it tells


def test_what_was_seen_is_no_news_until_something_else_is_known() -> None:
    found = measured(
        with_beliefs(
            [Observe(agent="b", seen=(HERE,)), *say("a", 0, facts=(HERE,))],
            [Observe(agent="b", unseen=(HERE,)), *say("a", 1, facts=(HERE,))],
            say("a", 2, facts=(THERE,)),
            say("a", 3, facts=(HERE,)),
            say("b", 4, ("b",), facts=(HERE,)),
        )
    )
    assert found["redundancy"] == (2 / 4, 2, 4), "told to itself is told to nobody"


def test_a_told_fact_never_outdoes_the_eyes() -> None:
    found = measured(
        with_beliefs([Observe(agent="b", seen=(HERE,)), *say("a", 0, facts=(THERE,)), *say("a", 1, facts=(HERE,))])
    )
    assert found["redundancy"] == (1 / 2, 1, 2)


@pytest.mark.parametrize(
    ("later", "step", "taken"),
    [
        ([commit("b")], 10, True),  # the goal is about the block
        ([commit("b")], 11, False),
        ([plan("b", 0, "h", "plan { push(<block>(1), 5) }")], 2, True),
        ([plan("b", 0, "h", "plan { push(<block>(2), 5) }")], 2, False),
        ([plan("b", 0, "h", "plan { move((5, 5)) }")], 2, True),
        ([Observe(agent="b", seen=(THERE,)), commit("b")], 2, False),  # it had seen it by itself
        ([commit("a")], 2, False),
    ],
)
def test_a_fact_is_taken_up_by_the_next_plan_or_commitment_about_it(later: list[Any], step: int, taken: bool) -> None:
    steps: list[list[Any]] = [say("a", 0, facts=(THERE,)), *([] for _ in range(11))]
    steps[step] = later
    start, *events = with_beliefs(*steps, goals={"g": 2, "h": 1})
    assert isinstance(start, EpisodeStart)
    about = tuple(msgspec.structs.replace(goal, thing=goal.thing if goal.id == "g" else None) for goal in start.goals)
    assert measured([msgspec.structs.replace(start, goals=about), *events])["uptake"] == (taken, taken, 1)


def test_false_facts_were_true_once_or_never() -> None:
    found = measured(
        with_beliefs(
            [Truth(true=(HERE,)), *say("a", 0, facts=(HERE, THERE, "a HOLD <block>(1)", "a MOOD merry"))],
            [Truth(true=(THERE,), false=(HERE,)), *say("a", 1, facts=(HERE,))],
        )
    )
    assert found["falsehood"] == (3 / 4, 3, 4), "moods are of no kind that the truth tells"


def failing(**given: Any) -> ActionStep:
    return act("b", "g", status="failed", args=("<block>(1)",), **given)


@pytest.mark.parametrize(
    ("before", "failure", "withheld"),
    [
        ([], failing(), True),
        ([], attempt(), True),
        ([], act("b", status="failed", args=("<block>(2)",)), False),  # about something else
        (say("a", 0, facts=(THERE,)), failing(), False),
        (
            [MessageSent(agent="a", id=0, recipients=("b",), act="inform", text="", goal=None, facts=(THERE,))],
            failing(),
            0,
        ),
        ([Observe(agent="a", seen=(HERE,), unseen=(THERE,))], failing(), False),  # the mate no longer holds it
        ([Truth(true=(HERE,), false=(THERE,))], failing(), False),  # what was assumed is true
        ([Observe(agent="b", seen=(THERE,))], failing(), False),  # it knew
    ],
)
def test_information_is_withheld_that_would_have_told_the_actor_better(
    before: list[Any], failure: ActionStep | AttemptMade, withheld: bool
) -> None:
    begin = [Truth(true=(THERE,)), Observe(agent="a", seen=(THERE,)), Observe(agent="b", seen=(HERE,))]
    assert measured(with_beliefs([*begin, *before, failure]))["withheld_information"] == (withheld, withheld, 1)


def test_what_was_passed_over_is_no_failed_action() -> None:
    assert measured(with_beliefs([failing(spent=False, legal=False)]))["withheld_information"].value is None


def test_commitments_to_unknown_goals_do_no_harm() -> None:
    assert measured(with_beliefs([*say("a", 0, facts=(HERE,)), Commit(agent="b", goal="new")]))["uptake"] == (0, 0, 1)
