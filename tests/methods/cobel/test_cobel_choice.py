"""What to tell, by hand; the greedy choice by law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.methods.cobel.message_value import Choice, choose


def test_facts_are_chosen_by_gain_per_price_until_none_pays() -> None:
    worth = {"a": 10.0, "b": 9.0, "c": 1.0}
    price = {"a": 5.0, "b": 2.0, "c": 1.5}
    message = choose(list(worth), lambda some: sum(worth[one] for one in some), price.__getitem__)
    assert tuple(message) == (("b", "a"), 19.0, 7.0)
    assert message.pays(11.0)
    assert not message.pays(12.0)
    assert choose(list(worth), lambda some: sum(worth[one] for one in some), price.__getitem__, budget=4.0).items == (
        "b",
    )


def test_the_second_of_two_facts_that_say_the_same_is_not_told() -> None:
    message = choose(["a", "same as a"], lambda some: 5.0 if some else 0.0, lambda _: 1.0)
    assert message.items == ("a",)
    assert choose(["a"], lambda _: 0.0, lambda _: 0.0).items == ()
    nothing: Choice[str] = choose([], lambda _: 1.0, lambda _: 0.0)
    assert tuple(nothing) == ((), 0.0, 0.0)
    assert not nothing.pays(0.0)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 5)), max_size=6))
def test_where_gains_add_up_the_choice_is_the_best_of_all(some: list[tuple[float, float]]) -> None:
    def net(chosen: Sequence[int]) -> float:
        return sum(some[n][0] - some[n][1] for n in chosen)

    message = choose(range(len(some)), lambda chosen: sum(some[n][0] for n in chosen), lambda n: some[n][1])
    best = max(net(chosen) for size in range(len(some) + 1) for chosen in combinations(range(len(some)), size))
    assert message.gain - message.price == pytest.approx(best, abs=1e-9)
