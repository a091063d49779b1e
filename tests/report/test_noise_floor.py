"""The noise floor: what 95 % of the differences between a method and itself stay below, and the words for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics.definition import count, share
from teamworld.report.comparison import Comparison, PairedDifference, Sample, compare
from teamworld.report.comparison_sentences import claims, doubts
from teamworld.report.noise_floor import beside_floor
from teamworld.report.statistics import noise_floor, student
from teamworld.report.talk_effects import talk_effects, talk_sentences

VALUES = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=12)


def samples(method: str, values: list[float], play: str = "") -> list[Sample]:
    """Return an episode for each value, on a layout of its own; plays are those of the method unless they are given."""
    return [
        Sample(method, f"level/{seed}", "level", 1, {"steps": count(value)}, layout=f"{seed}", play=play or method)
        for seed, value in enumerate(values)
    ]


def plain_floor(pairs: list[tuple[int, int]]) -> float:
    """Return the floor of means by its definition, sum by sum."""
    error = math.sqrt(sum((a - b) ** 2 for a, b in pairs)) / len(pairs)
    return student(0.975, len(pairs)) * error


@given(VALUES)
def test_the_floor_of_means_is_that_of_its_definition(pairs: list[tuple[int, int]]) -> None:
    floor = noise_floor([(a, 1.0) for a, _ in pairs], [(b, 1.0) for _, b in pairs])
    assert floor == pytest.approx(plain_floor(pairs), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("pairs", "floor"), [([], None), ([(3, 5)], None), ([(3, 3)], 0.0), ([(3, 3), (4, 4)], 0.0)])
def test_what_no_pair_shows_has_no_floor_and_what_is_equal_has_none_to_clear(
    pairs: list[tuple[int, int]], floor: float | None
) -> None:
    assert noise_floor([(a, 1.0) for a, _ in pairs], [(b, 1.0) for _, b in pairs]) == floor


@pytest.mark.parametrize("number", [5, 20])
def test_nineteen_of_twenty_differences_of_a_method_and_itself_lie_within(number: int) -> None:
    # The floor is from one pair of runs, the difference from another: what a comparison asks of it.
    rng, cases = np.random.default_rng(number), 3000
    within = 0
    for _ in range(cases):
        first, second, third, fourth = rng.normal(0.0, 1.0, (4, number))
        floor = noise_floor([(x, 1.0) for x in first], [(x, 1.0) for x in second])
        assert floor is not None
        within += abs(float(np.mean(third - fourth))) <= floor
    assert 0.935 <= within / cases <= 0.965


def test_the_floor_of_rates_is_about_that_of_their_means_where_denominators_are_alike() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 10, (2, 40))
    rates = noise_floor([(float(x), 10.0) for x in first], [(float(x), 10.0) for x in second])
    means = noise_floor([(x / 10, 1.0) for x in first], [(x / 10, 1.0) for x in second])
    assert rates == pytest.approx(means)


A, TWIN_A, B, TWIN_B = [10.0, 12.0, 14.0], [11.0, 10.0, 15.0], [30.0, 33.0, 36.0], [33.0, 33.0, 33.0]


def compared(twins: dict[str, str]) -> Comparison:
    every = [*samples("a", A), *samples("b", B), *samples("c", [1.0, 2.0, 3.0])]
    every += [*samples("twin:a", TWIN_A), *samples("twin:b", TWIN_B)]
    return compare(every, ["steps"], [("a", "b"), ("a", "c"), ("c", "d")][:2], ["steps"], twins)


def floors(twins: dict[str, str]) -> dict[tuple[str, str], float | None]:
    return {(pair.a, pair.b): pair.floor for pair in compared(twins).paired}


def test_each_difference_stands_beside_the_floor_of_its_methods() -> None:
    of_a = noise_floor([(x, 1.0) for x in A], [(x, 1.0) for x in TWIN_A])
    of_b = noise_floor([(x, 1.0) for x in B], [(x, 1.0) for x in TWIN_B])
    assert of_a is not None
    assert of_b is not None
    assert floors({}) == {("a", "b"): None, ("a", "c"): None}
    assert floors({"a": "twin:a"})["a", "b"] == pytest.approx(of_a)
    both = floors({"a": "twin:a", "b": "twin:b"})
    assert both["a", "b"] == pytest.approx(math.sqrt((of_a**2 + of_b**2) / 2))
    assert both["a", "c"] == pytest.approx(of_a)
    assert floors({"b": "twin:b"})["a", "c"] == pytest.approx(of_b)  # neither has a twin: the noise of those that have


def test_the_twin_is_no_difference_that_is_tested() -> None:
    with_twin, without = compared({"a": "twin:a"}), compared({})
    assert [pair.p_corrected for pair in with_twin.paired] == [pair.p_corrected for pair in without.paired]
    (twin,) = with_twin.twins
    assert (twin.method, twin.difference, twin.equal, twin.met) == ("a", 0.0, 0, 3)


def test_repeats_in_one_layout_are_pairs_of_their_own() -> None:
    # Two layouts with three repeats each: two observations of a difference, six of the noise.
    def shared(method: str, values: list[float]) -> list[Sample]:
        return [sample._replace(layout=f"{at % 2}") for at, sample in enumerate(samples(method, values))]

    own, twin = [10.0, 40.0, 12.0, 43.0, 11.0, 41.0], [11.0, 41.0, 10.0, 44.0, 12.0, 44.0]
    every = [*shared("a", own), *shared("twin:a", twin), *shared("b", [0.0] * 6)]
    made = compare(every, ["steps"], [("a", "b")], twins={"a": "twin:a"})
    floor = noise_floor([(x, 1.0) for x in own], [(x, 1.0) for x in twin])
    assert [row.instances for row in made.twins] == [6]
    assert (made.paired[0].n, made.paired[0].floor) == (2, floor)


def pair(difference: float, floor: float | None) -> PairedDifference:
    return PairedDifference("a", "b", "steps", difference, -51, -33, 0.01, 0.01, None, 20, floor=floor)


@pytest.mark.parametrize(
    ("difference", "floor", "within", "words"),
    [
        (-42.0, 16.8, False, "2.5 x the noise floor of 16.8"),
        (-42.0, 42.0, True, "within the noise floor of 42"),
        (-42.0, 0.0, False, "noise floor 0"),
        (0.0, 0.0, True, "noise floor 0"),
        (-42.0, None, None, ""),
    ],
)
def test_a_difference_is_told_beside_its_floor(
    difference: float, floor: float | None, within: bool | None, words: str
) -> None:
    told = pair(difference, floor)
    assert (told.within_floor, beside_floor(told)) == (within, words)
    (sentence,) = claims(Comparison((), (told,)))
    assert words in sentence
    assert "inf" not in sentence


def test_a_twin_that_plays_the_same_is_said_to() -> None:
    same = compare(
        [*samples("a", A, "same"), *samples("twin:a", A, "same"), *samples("b", B)],
        ["steps"],
        [("a", "b")],
        twins={"a": "twin:a"},
    )
    assert same.paired[0].floor == 0.0
    assert any("plays the same in all 3 instances" in line and "floor is 0" in line for line in doubts(same))
    assert any("plays otherwise in 3 of 3 instances" in line for line in doubts(compared({"a": "twin:a"})))


def acted(method: str, deeds: str, successes: str, messages: int = 1) -> list[Sample]:
    """Return an episode for each letter of the deeds."""
    return [
        Sample(
            method,
            f"level/{seed}",
            "level",
            1,
            {"messages": count(messages), "success": share(int(success), 1)},
            deeds=deed,
        )
        for seed, (deed, success) in enumerate(zip(deeds, successes, strict=True))
    ]


def test_success_is_told_over_the_episodes_that_talk_changed() -> None:
    played = [*acted("a", "abcd", "1100"), *acted("silent", "abxx", "1001"), *acted("twin:a", "abcx", "1100")]
    (effect,) = talk_effects(played, {"a": "silent"}, {"a": "twin:a"}, ["a"])
    assert tuple(effect) == ("a", "silent", 4, 2, 0, 1, 1)
    (sentence,) = talk_sentences([effect])
    assert sentence == (
        "talk of a changed what agents did in 2 of 4 episodes; success in these: 0 of 2, in silence 1 of 2; chance "
        "alone changed it in 1"
    )


def test_where_nothing_is_known_of_talk_that_is_said() -> None:
    played = [*acted("a", "ab", "11"), *acted("b", "ab", "11", messages=0), *acted("silent", "ab", "11")]
    effects = list(talk_effects(played, {}, {}, ["a", "b"]))
    assert [(effect.method, effect.silent) for effect in effects] == [("a", None)]
    assert "not run in silence" in next(talk_sentences(effects))
    (unchanged,) = talk_effects(played, {"a": "silent"}, {}, ["a"])
    assert "in none of 2 episodes" in next(talk_sentences([unchanged]))
