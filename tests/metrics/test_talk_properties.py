"""Metrics of talk and belief over logs at random: against the slow ones. Tokens, and texts that repeat."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics.definition import Value
from teamworld.metrics.messages import grams, repetitions, tokenize
from teamworld.record import Believe, Event, MessageSent
from tests.metrics import naive_talk as slow
from tests.metrics.beliefs import belief_logs
from tests.metrics.golden import TEXT
from tests.metrics.logs import measured


def pair(value: Value) -> tuple[int, int]:
    return int(value.num or 0), int(value.den or 0)


@pytest.mark.heavy
@given(belief_logs)
def test_what_messages_tell_is_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    assert pair(found["redundancy"]) == slow.redundancy(log)
    assert pair(found["uptake"]) == slow.uptake(log)
    assert pair(found["withheld_information"]) == slow.withheld(log)


@pytest.mark.heavy
@given(belief_logs)
def test_repeated_messages_are_what_the_slow_way_finds(log: list[Event]) -> None:
    sent = [event for event in log if isinstance(event, MessageSent)]
    repeated = repetitions([(message.agent, message.text, message.recipients) for message in sent])
    assert (sum(repeated), len(repeated)) == slow.repetition(log)


@pytest.mark.heavy
@given(belief_logs)
def test_beliefs_are_what_the_slow_way_finds(log: list[Event]) -> None:
    found = measured(log)
    told = slow.beliefs(log)
    if not any(isinstance(event, Believe) and event.about is None for event in log):
        assert found["belief_f1"].value is None
        return
    assert found["belief_f1"].den == len(told.f1)
    assert isclose(found["belief_f1"].num or 0.0, sum(told.f1), abs_tol=1e-9)
    assert pair(found["misled_failures"]) == told.acted


@pytest.mark.heavy
@given(belief_logs)
def test_what_others_are_believed_to_know_is_what_the_slow_way_finds(log: list[Event]) -> None:
    right, told = slow.first_order(log)
    assert pair(measured(log)["first_order_accuracy"]) == (right, told)


# ---- texts


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
