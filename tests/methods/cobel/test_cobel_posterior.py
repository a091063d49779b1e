"""What a mate is up to, by hand and by law."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.methods.cobel.planning import after_step, after_word, likeliest, prior

names = st.sampled_from(("go", "fetch", "wait", "open", "close"))
numbers = st.floats(-50, 50)
utilities = st.dictionaries(names, numbers, min_size=1)


def test_the_prior_falls_with_cost() -> None:
    table = prior({"near": -2.0, "far": -7.0}, 5.0)
    assert table == pytest.approx({"near": 1 / (1 + exp(-1)), "far": exp(-1) / (1 + exp(-1))})
    assert prior({}, 5.0) == {}
    assert prior({"a": 1e6, "b": -1e6}, 0.1) == {"a": 1.0, "b": 0.0}


def test_a_step_speaks_against_intents_that_it_delays() -> None:
    table = {"kitchen": 0.5, "bath": 0.5}
    assert after_step(table, {"bath": 2.0}, 1.0) == pytest.approx(
        {"kitchen": 1 / (1 + exp(-2)), "bath": exp(-2) / (1 + exp(-2))}
    )
    assert after_step(table, {"bath": 9.0}, 0.0) == table  # nothing is to be read from its steps
    assert after_step(table, {"bath": 5000.0, "kitchen": 4999.0}, 1.0)["bath"] == pytest.approx(exp(-1) / (1 + exp(-1)))


def test_an_announced_plan_is_believed_as_far_as_the_mate_is() -> None:
    table = {"a": 0.2, "b": 0.4, "c": 0.4}
    assert after_word(table, "a", 0.8) == pytest.approx({"a": 0.16 / 0.24, "b": 0.04 / 0.24, "c": 0.04 / 0.24})
    assert after_word(table, "new", 0.75) == pytest.approx({"a": 0.05, "b": 0.1, "c": 0.1, "new": 0.75})
    assert after_word({}, "new", 0.75) == {"new": 1.0}
    assert after_word({"a": 1.0}, "a", 0.75) == {"a": 1.0}


@given(utilities, st.dictionaries(names, st.floats(0, 1e4)), names, st.floats(0, 1))
def test_intents_add_up_to_one(options: dict[str, float], regrets: dict[str, float], word: str, chance: float) -> None:
    table = prior(options, 3.0)
    for step in (after_step(table, regrets, chance), after_word(table, word, chance)):
        assert sum(step.values()) == pytest.approx(1.0)
        assert min(step.values()) >= 0


def test_the_likeliest_come_first_and_equals_keep_their_order() -> None:
    table = {"a": 0.1, "b": 0.3, "c": 0.1, "d": 0.4, "e": 0.1}
    assert likeliest(table, 3) == [("d", 0.4), ("b", 0.3), ("a", 0.1)]
