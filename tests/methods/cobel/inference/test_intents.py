"""What a mate is up to, by hand and by law."""

from __future__ import annotations

from itertools import product
from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.methods.cobel.inference.intents import Manner, after_step, after_word, later, prior, profiles, ranked

names = st.sampled_from(("go", "fetch", "wait", "open", "close"))
numbers = st.floats(-50, 50)
utilities = st.dictionaries(names, numbers, min_size=1)


@st.composite
def mates(draw: st.DrawFn) -> list[dict[str, float]]:
    return [prior(draw(utilities), 5.0) for _ in range(draw(st.integers(1, 3)))]


def test_the_prior_falls_with_cost() -> None:
    table = prior({"near": -2.0, "far": -7.0, "shut": -inf}, 5.0)
    assert table == pytest.approx({"near": 1 / (1 + exp(-1)), "far": exp(-1) / (1 + exp(-1)), "shut": 0.0})
    assert prior({"shut": -inf}, 5.0) == prior({}, 5.0) == {}
    assert prior({"a": 1e6, "b": -1e6}, 0.1) == {"a": 1.0, "b": 0.0}


def test_a_step_speaks_against_intents_that_it_delays() -> None:
    table = {"kitchen": 0.5, "bath": 0.5}
    assert after_step(table, {"bath": 2.0}, 1.0) == pytest.approx(
        {"kitchen": 1 / (1 + exp(-2)), "bath": exp(-2) / (1 + exp(-2))}
    )
    assert after_step(table, {"bath": inf}, 1.0) == {"kitchen": 1.0, "bath": 0.0}
    assert after_step(table, {"bath": inf, "kitchen": inf}, 1.0) == table  # nothing explains the step
    assert after_step(table, {"bath": inf}, 0.0) == table  # nothing is to be read from a mate's steps
    assert after_step(table, {"bath": 5000.0, "kitchen": 4999.0}, 1.0)["bath"] == pytest.approx(exp(-1) / (1 + exp(-1)))


def test_an_announced_plan_is_believed_as_far_as_the_mate_is() -> None:
    table = {"a": 0.2, "b": 0.4, "c": 0.4}
    assert after_word(table, "a", 0.8) == pytest.approx({"a": 0.16 / 0.24, "b": 0.04 / 0.24, "c": 0.04 / 0.24})
    assert after_word(table, "new", 0.75) == pytest.approx({"a": 0.05, "b": 0.1, "c": 0.1, "new": 0.75})
    assert after_word({}, "new", 0.75) == {"new": 1.0}
    assert after_word({"a": 1.0}, "a", 0.75) == {"a": 1.0}


def test_a_mate_stays_with_its_intent_or_draws_anew() -> None:
    table, fresh = {"a": 0.9, "b": 0.1}, {"b": 0.5, "c": 0.5}
    assert later(table, fresh, 0.2) == pytest.approx({"b": 0.08 + 0.46, "c": 0.46})
    assert later(table, fresh, 1.0) == fresh
    assert later({"b": 1.0}, fresh, 0.0) == {"b": 1.0, "c": 0.0}
    assert later({}, fresh, 0.1) == pytest.approx(fresh)
    assert later(table, {}, 0.1) == {}


@given(utilities, st.dictionaries(names, st.floats(0, 1e4)), names, st.floats(0, 1), utilities)
def test_intents_add_up_to_one(
    some: dict[str, float], regrets: dict[str, float], word: str, chance: float, others: dict[str, float]
) -> None:
    table = prior(some, 3.0)
    for step in (
        after_step(table, regrets, chance),
        after_word(table, word, chance),
        later(table, prior(others, 3.0), chance),
    ):
        assert sum(step.values()) == pytest.approx(1.0)
        assert min(step.values()) >= 0


@given(mates())
def test_the_likeliest_profiles_are_the_best_of_all(some: list[dict[str, float]]) -> None:
    everything = []
    for combination in product(*(ranked(one).best for one in some)):
        chance = 1.0
        for _, part in combination:
            chance *= part
        everything.append(chance)
    best = profiles(some, most=5)
    assert [chance for _, chance in best] == pytest.approx(sorted(everything, reverse=True)[:5])
    for profile, chance in best:
        expected = 1.0
        for one, intent in zip(some, profile, strict=True):
            expected *= one[intent]
        assert chance == pytest.approx(expected)


def test_the_best_three_and_the_rest() -> None:
    best, rest = ranked({"a": 0.1, "b": 0.3, "c": 0.1, "d": 0.4, "e": 0.1})
    assert best == (("d", 0.4), ("b", 0.3), ("a", 0.1))
    assert rest == pytest.approx(0.2)


def test_who_surprises_is_read_less() -> None:
    sure = {"a": 0.9, "b": 0.1}
    as_told, surprising, fair = Manner(steps=2.0), Manner(steps=2.0), Manner(steps=2.0)
    for n in range(20):
        as_told = as_told.after(sure, "a")
        surprising = surprising.after(sure, "b" if n % 2 else "none of these")
        fair = fair.after(sure, "b" if n % 10 == 0 else "a")
    assert as_told.beta == 2.0
    assert fair.beta == pytest.approx(2.0)  # one in ten was to be expected
    assert surprising.beta < 0.6
    vague = Manner(steps=2.0)
    for n in range(20):
        vague = vague.after({"a": 0.5, "b": 0.5}, "a" if n % 2 else "b")
    assert vague.beta == 2.0  # who is hard to predict, and known to be, does not surprise
    assert surprising.after(sure, "a").beta > surprising.beta


def test_who_breaks_its_word_is_trusted_less() -> None:
    manner = Manner(word=0.9, strength=4.0)
    assert manner.trust == 0.9
    assert manner.promised(False).trust == pytest.approx(3.6 / 5)
    assert manner.promised(True).trust == pytest.approx(4.6 / 5)
    assert manner.promised(False).promised(False).trust < manner.promised(False).trust
