"""Intervals: exact where they can be, and covering what they should."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.report.statistics import Interval, mean_interval, paired_interval, slope


def test_what_does_not_vary_has_no_width() -> None:
    assert mean_interval([0.25] * 7) == Interval(0.25, 0.25, 0.25, 7)
    assert mean_interval([3.5]) == Interval(3.5, 3.5, 3.5, 1)
    assert mean_interval([]) is None


def test_two_values_reach_from_one_to_the_other() -> None:
    assert mean_interval([0.0, 1.0]) == Interval(0.5, 0.0, 1.0, 2)  # either end in a quarter of the resamples


def test_the_same_values_give_the_same_interval() -> None:
    values = np.random.default_rng(0).normal(size=20).tolist()
    assert mean_interval(values) == mean_interval(list(values))
    assert mean_interval(values) != mean_interval(values[:-1])


def test_the_interval_lies_within_the_values_round_the_mean() -> None:
    values = [1.0, 2.0, 4.0, 8.0, 16.0]
    interval = mean_interval(values)
    assert interval is not None
    assert interval.mean == pytest.approx(6.2)
    assert interval.n == 5
    assert 1.0 < interval.low < 6.2 < interval.high < 16.0


def test_95_percent_of_intervals_hold_the_true_mean() -> None:
    rng = np.random.default_rng(1)
    intervals = [mean_interval(rng.normal(3.0, 2.0, size=30).tolist()) for _ in range(300)]
    held = sum(interval is not None and interval.low <= 3.0 <= interval.high for interval in intervals)
    assert 0.88 * 300 <= held <= 0.99 * 300


def test_pairs_are_compared_by_their_differences() -> None:
    first, second = [5.0, 7.0, 9.0, 4.0], [4.5, 6.0, 9.5, 2.0]
    assert paired_interval(first, second) == mean_interval([0.5, 1.0, -0.5, 2.0])
    assert paired_interval([], []) is None
    for wrong in ([1.0], [1.0] * 5, []):
        with pytest.raises(ValueError, match="zip"):
            paired_interval(first, wrong)


def test_the_slope_of_a_line_is_its_slope() -> None:
    assert slope([3.0 - 0.25 * x for x in range(12)]) == pytest.approx(-0.25, abs=1e-12)
    assert slope([2.0, 2.0, 2.0]) == pytest.approx(0.0, abs=1e-12)
    assert slope([0.0, 1.0, 0.0, 1.0]) == pytest.approx(0.2)  # by hand: cov 1.0 / var 5.0
    assert slope([4.0]) == 0.0
