"""Metrics of several runs: the golden numbers, and their edges."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics import runs
from teamworld.metrics.definition import NULL

WORDS = st.lists(st.sampled_from("abc"), max_size=7)


def test_golden_numbers() -> None:
    assert runs.optimality(True, 6, 4).value == pytest.approx(0.667, abs=5e-4)
    reference = ["1", "2", "3", "4", "5"]
    actions = ["1", "x", "2", "3", "x", "x", "4", "x"]  # d = 4, |R| = 5, |A| = 8
    assert runs.trajectory(actions, [reference]).value == pytest.approx(0.6227, abs=5e-5)
    assert runs.reliability([4], 5, 3).value == pytest.approx(0.4)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_reliability_is_the_share_of_choices_that_all_succeed(repeats: list[bool], k: int) -> None:
    found = runs.reliability([sum(repeats)], len(repeats), k)
    if k > len(repeats):
        assert found == NULL
        return
    choices = [all(one) for one in combinations(repeats, k)]
    assert found.value == pytest.approx(sum(choices) / len(choices))


@given(WORDS, WORDS)
def test_a_trajectory_is_whole_where_it_is_its_reference(actions: list[str], other: list[str]) -> None:
    value = runs.trajectory(actions, [actions, other]).value
    assert value == pytest.approx(1.0) if actions else value in (None, 0.0)
    found = runs.trajectory(actions, [other]).value
    assert found is None if not other else found is not None and 0.0 <= found <= 1.0 + 1e-12


def test_order_and_the_first_action_count() -> None:
    assert runs.trajectory(["b", "a"], [["a", "b"]]).num == pytest.approx(1.9025)  # only a, in order
    assert runs.trajectory(["b", "c"], [["a", "b", "c"]]).value == 0.0  # the first is missing
    assert runs.trajectory(["a"], []) == NULL
    assert runs.gained(["a"], ["a", "b"], [["a", "b"]]).value == pytest.approx(1.0 - 1.9025 / 2.9025)
    assert runs.gained([], ["a"], []).value is None


def test_a_team_against_one_agent() -> None:
    assert runs.improvement([100, 80], [50, 80], fewer_is_better=True).value == 0.25
    assert runs.improvement([0.5], [1.0], fewer_is_better=False).value == 0.5
    assert runs.improvement([0.0], [0.0], fewer_is_better=False).value is None, "nobody did anything: no team is worse"
    assert runs.improvement([0.0, 0.5], [0.0, 1.0], fewer_is_better=False) == (0.5, 0.5, 1)
    assert runs.improvement([], [], fewer_is_better=True).value is None
    speed, efficiency = runs.speed_up([100, None, 60], [50, 40, None], 4)
    assert (speed.value, speed.den, efficiency.value) == (2.0, 1.0, 0.5)
    assert runs.speed_up([None], [10], 2)[0].value is None


def test_scores_between_random_and_reference() -> None:
    assert runs.normalised(5, 1, 9).value == 0.5
    assert runs.normalised(11, 1, 9).value == 1.25  # not clipped
    assert runs.normalised(1, 1, 1).value is None


def test_talk_and_scale() -> None:
    assert runs.mean_difference([1.0, 0.5, None], [0.5, 0.5, 1.0]) == (0.25, 0.5, 2.0)
    assert runs.talk_return(0.2, 4000).value == pytest.approx(0.05)
    assert runs.talk_return(0.2, 0).value is None
    assert runs.talk_return(None, 100) == NULL
    assert runs.scaling_tax(0.6, [0.5, 0.8]).value == pytest.approx(0.25)
    assert runs.scaling_tax(0.9, [0.8]).value == pytest.approx(-0.125)
    assert runs.scaling_tax(0.9, []).value is None


def test_learning_and_memory() -> None:
    assert runs.later_gain([1, 2, 3, 4, 5, 6, 7]).value == 5.0
    assert runs.later_gain([1, 2]) == NULL
    assert runs.lift((3, 4), (1, 2)).value == 0.25
    assert runs.lift((3, 4), (0, 0)).value is None
    assert runs.optimality(False, 6, 4).value == 0.0
