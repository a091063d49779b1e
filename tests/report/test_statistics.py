"""Intervals: exact where they can be, and covering what they should."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.report.statistics import (
    Interval,
    _pseudo_values,
    mean_interval,
    paired_interval,
    ratio_interval,
    slope,
)


def test_what_does_not_vary_has_no_width() -> None:
    assert mean_interval([0.25] * 7) == Interval(0.25, 0.25, 0.25, 7)
    assert mean_interval([3.5]) == Interval(3.5, 3.5, 3.5, 1)
    assert mean_interval([]) is None


def test_two_values_have_the_interval_of_student() -> None:
    assert mean_interval([0.0, 1.0]) == pytest.approx((0.5, 0.5 - 0.5 * 12.7062, 0.5 + 0.5 * 12.7062, 2), abs=1e-4)


def test_the_same_values_give_the_same_interval() -> None:
    values = np.random.default_rng(0).normal(size=20).tolist()
    assert mean_interval(values) == mean_interval(list(values))
    assert mean_interval(values) != mean_interval(values[:-1])


def test_few_values_have_the_interval_of_student_and_more_lean_to_the_longer_tail() -> None:
    few = mean_interval([1.0, 2.0, 4.0, 8.0, 16.0])
    reach = 1.28 * 2.7764 * 2.72764
    assert few == pytest.approx((6.2, 6.2 - reach, 6.2 + reach, 5), abs=0.01)
    many = mean_interval([1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 4.0, 8.0, 16.0])
    assert many is not None
    assert many.high - many.mean > 1.2 * (many.mean - many.low)


def test_wilson_is_for_yes_and_no_alone() -> None:
    assert mean_interval([1.0] * 10) == Interval(1.0, 1.0, 1.0, 10)  # ten shares that are whole say no more than that
    sure = mean_interval([1.0] * 10, binary=True)
    assert sure == pytest.approx((1.0, 0.7225, 1.0, 10), abs=1e-4)
    mixed = mean_interval([1.0, 0.5, 1.0], binary=True)  # over several episodes each
    assert mixed == mean_interval([1.0, 0.5, 1.0])


def test_a_rate_without_the_unit_that_has_it_all_is_linearised() -> None:
    alone = ratio_interval({"": [(3.0, 5.0), (0.0, 0.0), (0.0, 0.0)]})
    assert alone is not None
    assert alone.mean == 0.6
    assert np.isfinite(alone[:3]).all()


@pytest.mark.parametrize("number", [3, 8, 20])
def test_pseudo_values_of_a_mean_are_its_values(number: int) -> None:
    values = np.random.default_rng(3).exponential(1, number)
    units = np.stack([values, np.ones(number)])
    assert _pseudo_values(units) == pytest.approx(values)
    pairs = np.concatenate([units, np.stack([values[::-1], np.ones(number)])])
    assert _pseudo_values(pairs) == pytest.approx(values - values[::-1])


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
