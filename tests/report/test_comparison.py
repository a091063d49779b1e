"""Comparisons that hold: nothing is found where nothing is, a planted difference is, and intervals cover."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.metrics.definition import count, only, share
from teamworld.report.comparison import (
    LEVEL,
    Comparison,
    MetricRow,
    PairedDifference,
    Sample,
    compare,
)
from teamworld.report.comparison_sentences import claims, doubts, enough
from teamworld.report.statistics import _resampled, exchanged, holm, paired, ratio_interval

PAIRS = 20


def samples(method: str, values: list[float], metric: str = "completion", episodes: int = 1) -> list[Sample]:
    return [
        Sample(method, f"level/{seed}", "level", episode, {metric: share(value, 1)})
        for seed, value in enumerate(values)
        for episode in range(1, episodes + 1)
    ]


def means(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(value, 1.0) for value in values]


def signs(differences: Sequence[float]) -> float:
    """Return the p of pairs of means with these differences."""
    units = np.array([[x, 1.0, 0.0, 1.0] for x in differences]).T
    return exchanged(units, 1e-12)


def found_of(shift: float, seed: int, cases: int) -> tuple[int, int]:
    """Return how many of the simulated cases show a difference, and how many intervals hold the true one."""
    rng = np.random.default_rng(seed)
    significant = covered = 0
    for _ in range(cases):
        instance = rng.normal(0.0, 1.0, PAIRS)  # what both share; a pair's difference has variance 2 · 0.25
        first, second = instance + rng.normal(shift, 0.5, PAIRS), instance + rng.normal(0.0, 0.5, PAIRS)
        result = paired(means(first.tolist()), means(second.tolist()))
        assert result is not None
        significant += result.p < LEVEL
        covered += result.low <= shift <= result.high
    return significant, covered


@pytest.mark.heavy
def test_where_nothing_differs_one_in_twenty_is_found_at_most() -> None:
    cases = 400
    significant, covered = found_of(0.0, 1, cases)
    error = 3 * math.sqrt(0.05 * 0.95 / cases)
    assert 0.05 - error <= significant / cases <= 0.05 + error
    assert 0.95 - error <= covered / cases <= 0.95 + error


@pytest.mark.heavy
def test_a_planted_difference_is_found_with_the_power_that_it_has() -> None:
    # A paired t test of 20 pairs has a power of 0.845 for a difference of 0.7 standard deviations; signs lose little.
    cases = 400
    significant, covered = found_of(0.7 * math.sqrt(0.5), 2, cases)
    assert 0.845 - 0.04 <= significant / cases <= 0.845 + 0.04
    assert 0.93 <= covered / cases <= 0.97


@pytest.mark.parametrize("number", [8, 20])
def test_intervals_of_a_ratio_cover(number: int) -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(500):
        dens = rng.integers(5, 30, number).astype(float)
        nums = rng.binomial(dens.astype(int), 0.3).astype(float)
        interval = ratio_interval({"": list(zip(nums.tolist(), dens.tolist(), strict=True))})
        assert interval is not None
        held += interval.low <= 0.3 <= interval.high
    assert 0.92 <= held / 500 <= 0.98


def test_strata_are_kept_apart() -> None:
    # Two levels that differ much and do not vary: all uncertainty between them is by choice, none by chance.
    assert ratio_interval({"a": [(0.0, 1.0)] * 5, "b": [(10.0, 1.0)] * 5}) == (5.0, 5.0, 5.0, 10)
    mixed = ratio_interval({"": [(0.0, 1.0)] * 5 + [(10.0, 1.0)] * 5})
    assert mixed is not None
    assert mixed.low < 3.0 < 7.0 < mixed.high


def test_nothing_to_divide_by_is_no_interval() -> None:
    assert ratio_interval({"a": [(1.0, 0.0), (0.0, 0.0)]}) is None
    assert ratio_interval({}) is None
    interval = ratio_interval({"a": [(1.0, 0.0), (1.0, 2.0), (3.0, 2.0)]})
    assert interval is not None
    assert interval.mean == 1.25
    assert math.isfinite(interval.low)


@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 2)), min_size=1, max_size=8))
def test_exchanges_are_all_tried_where_pairs_are_few(differences: list[float]) -> None:
    count_of = 0
    for bits in range(2 ** len(differences)):  # from the text: the same sum or one further from 0
        ways = [1 if bits >> at & 1 else -1 for at in range(len(differences))]
        count_of += (
            abs(sum(way * value for way, value in zip(ways, differences, strict=True))) >= abs(sum(differences)) - 1e-9
        )
    assert signs(differences) == pytest.approx(count_of / 2 ** len(differences), abs=1e-12)


def test_exchanges_are_drawn_where_pairs_are_many() -> None:
    assert signs([1.0] * 30) == pytest.approx(1 / 100_001)
    assert 1 / 10_001 < signs([1.0] * 25 + [-1.0] * 7) < 0.01
    assert signs([0.0] * 30) == 1.0
    assert signs([1.0, -1.0] * 15) == 1.0


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 2, *[st.integers(1, 9)] * 2), min_size=1, max_size=6))
def test_rates_are_exchanged_whole(pairs: list[tuple[int, int, int, int]]) -> None:
    units = np.array([(a, x, b, y) for a, b, x, y in pairs], float).T
    rows = [((a, x), (b, y)) for a, b, x, y in pairs]

    def difference(exchange: int) -> float:
        sides = [row[::-1] if exchange >> at & 1 else row for at, row in enumerate(rows)]
        one, other = ([side[which] for side in sides] for which in (0, 1))
        return abs(
            sum(a for a, _ in one) / sum(x for _, x in one) - sum(b for b, _ in other) / sum(y for _, y in other)
        )

    as_far = sum(difference(exchange) >= difference(0) - 1e-9 for exchange in range(2 ** len(rows)))
    assert exchanged(units, 1e-9) == pytest.approx(as_far / 2 ** len(rows))


def test_a_difference_of_rates_is_that_of_the_rows() -> None:
    # One seed has hardly any attempts: the mean of the seeds' rates says the opposite of the rate over all.
    first, second = [share(9, 10), share(10, 100)], [share(8, 10), share(90, 100)]
    comparison = compare(
        [
            Sample(method, f"l/{seed}", "l", 1, {"joint_success": value})
            for method, values in (("a", first), ("b", second))
            for seed, value in enumerate(values)
        ],
        ["joint_success"],
    )
    rows = {row.method: row.value or 0.0 for row in comparison.rows}
    assert comparison.paired[0].difference == pytest.approx(rows["a"] - rows["b"])
    assert comparison.paired[0].difference < 0


def test_rounding_is_no_difference() -> None:
    result = paired(means([0.1 + 0.2] * 8), means([0.3] * 8))
    assert result is not None
    assert (result.difference, result.low, result.high, result.p, result.effect) == (0.0, 0.0, 0.0, 1.0, None)
    same = paired(means([0.3, 0.5, 1.0, 0.1, 0.7]), means([0.2, 0.4, 0.9, 0.0, 0.6]))
    assert same is not None
    assert same.effect is None  # all differ by 0.1


@pytest.mark.parametrize("number", [2, 3, 10, 53])
def test_intervals_of_nothing_and_of_all_end_at_nothing_and_at_all(number: int) -> None:
    none, every = (ratio_interval({"": means([won] * number)}, binary=True) for won in (0.0, 1.0))
    assert none is not None
    assert every is not None
    assert (none.low, every.high) == (0.0, 1.0)
    assert 0 < none.high < 1
    assert none.high == pytest.approx(1 - every.low)


@pytest.mark.parametrize("number", [2, 3, 4, 5, 8, 20])
def test_intervals_cover_few_units_and_shares_near_their_ends(number: int) -> None:
    rng = np.random.default_rng(7)
    held = {"normal": 0, "0 or 1": 0, "pairs of 0 or 1": 0}
    for _ in range(400):
        drawn = ratio_interval({"": means(rng.normal(0, 1, number).tolist())}, binary=False)
        wins, fewer = ((rng.random(number) < share).astype(float).tolist() for share in (0.9, 0.6))
        won = ratio_interval({"": means(wins)}, binary=True)
        both = paired(means(wins), means(fewer), binary=True)
        assert drawn is not None
        assert won is not None
        assert both is not None
        held["normal"] += drawn.low <= 0 <= drawn.high
        held["0 or 1"] += won.low <= 0.9 <= won.high
        held["pairs of 0 or 1"] += both.low <= 0.3 <= both.high
    assert min(held.values()) / 400 >= 0.86, held  # 0.50 and 0.44 of two and five units by the bootstrap alone


def test_more_differences_take_more_pairs() -> None:
    assert [enough(family) for family in (1, 6, 18, 36)] == [6, 8, 10, 11]
    assert enough(501) is not None
    assert enough(1_000_000) is None  # the test draws too few exchanges
    first, second = samples("a", [0.5 + 0.01 * at for at in range(6)]), samples("b", [0.1 * at for at in range(6)])
    assert list(doubts(compare(first + second, ["completion"]))) == []
    (line,) = doubts(
        compare(first + second, ["completion", "anytime_completion", "steps"], [("a", "b"), ("b", "a"), ("a", "a")])
    )
    assert "with 6 independent observations none of the 3 differences" in line


def test_one_informative_unit_has_no_interval() -> None:
    rates = [share(3, 5)] + [share(0, 0)] * 19
    comparison = compare(
        [Sample("a", f"l/{seed}", "l", 1, {"joint_success": rate}) for seed, rate in enumerate(rates)],
        ["joint_success"],
    )
    assert (comparison.rows[0].value, comparison.rows[0].low, comparison.rows[0].high) == (0.6, 0.0, 1.0)


def test_many_strata_cost_no_more_than_few() -> None:
    strata = {str(at): [(float(x), 1.0) for x in range(at, at + 8)] for at in range(40)}
    before = _resampled.cache_info().misses
    ratio_interval(strata)
    ratio_interval(strata)
    assert _resampled.cache_info().misses - before <= 1


def test_strata_of_single_units_are_not_sure_of_themselves() -> None:
    strata = {str(at): [(value, 1.0)] for at, value in enumerate((0.1, 0.5, 0.4, 0.9, 0.6, 0.3))}
    assert ratio_interval(strata) == ratio_interval({"": [unit for units in strata.values() for unit in units]})


def test_several_ps_are_corrected() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=10))
def test_a_corrected_p_is_never_smaller_and_keeps_the_order(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(one >= p for one, p in zip(corrected, ps, strict=True))
    assert all(one <= 1 for one in corrected)
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    assert [corrected[at] for at in order] == sorted(corrected)


def test_a_method_is_compared_with_each_other_and_with_references() -> None:
    better = [0.5 + 0.02 * seed for seed in range(10)]
    worse = [value - 0.3 for value in better]
    comparison = compare(
        samples("a", better) + samples("b", worse) + samples("random", worse) + samples("greedy", better),
        ["completion"],
        [("a", "b"), ("a", "random"), ("a", "greedy"), ("b", "random"), ("b", "greedy")],
    )
    assert isinstance(comparison, Comparison)
    assert [(pair.a, pair.b) for pair in comparison.paired] == [
        *(("a", "b"), ("a", "random"), ("a", "greedy"), ("b", "random"), ("b", "greedy")),
    ]
    first = comparison.paired[0]
    assert first.n == 10
    assert first.difference == pytest.approx(0.3)
    assert first.p == 2 / 2**10
    assert first.p_corrected == pytest.approx(min(1.0, 5 * first.p))
    assert first.family == 5
    assert first.supported
    same = comparison.paired[2]
    assert (same.difference, same.effect, same.supported) == (0.0, None, False)
    row = comparison.rows[0]
    assert row.value == pytest.approx(0.59)
    assert (row.method, row.metric, row.n, row.nulls) == ("a", "completion", 10, 0)


def test_episodes_of_an_instance_are_one_observation() -> None:
    values = [0.1, 0.4, 0.5, 0.9]
    once, often = (compare(samples("a", values, episodes=episodes), ["completion"]).rows[0] for episodes in (1, 50))
    assert once.n == often.n == 4
    assert once[2:] == pytest.approx(often[2:])


def test_what_is_null_is_counted_and_pairs_need_both() -> None:
    first = samples("a", [0.1, 0.2, 0.3])
    second = [*samples("b", [0.1, 0.2]), Sample("b", "level/2", "level", 1, {"completion": only(None)})]
    comparison = compare(first + second, ["completion"])
    assert [row[5:] for row in comparison.rows] == [(3, 0), (2, 1)]
    assert (comparison.paired[0].n, comparison.paired[0].nulls) == (2, 1)
    nothing = compare(first, ["world_score"])
    assert nothing.rows == (MetricRow("a", "world_score", None, None, None, 0, 3),)


def test_rates_pool_within_an_instance_and_over_instances() -> None:
    rates = [share(1, 2), share(0, 8)]
    given_samples = [
        Sample("a", f"level/{seed}", "level", episode, {"invalid_action_rate": rate})
        for seed in (0, 1)
        for episode, rate in enumerate(rates)
    ]
    assert compare(given_samples, ["invalid_action_rate"]).rows[0].value == pytest.approx(0.1)
    counts = [Sample("a", f"l/{seed}", "l", 1, {"steps": count(seed)}) for seed in range(3)]
    assert compare(counts, ["steps"]).rows[0].value == 1.0


def test_claims_are_sentences_and_what_is_not_supported_says_so() -> None:
    good = PairedDifference("drwell", "zero_shot", "completion", 0.21, 0.14, 0.28, 0.0002, 0.0004, 1.2, 20, 0, 2)
    assert list(claims(Comparison((), (good,)))) == [
        "over 20 paired observations the completion (C) of drwell is 0.21 higher than of zero_shot, 95 % interval of "
        "the difference 0.14 to 0.28, p = 0.0004 corrected for 2 comparisons"
    ]
    less = good._replace(metric="steps", difference=-12.5, low=-20.0, high=-5.0)
    assert "the steps (T) of drwell is 12.5 steps lower than of zero_shot" in next(claims(Comparison((), (less,))))
    for weak in (good._replace(p_corrected=0.2), good._replace(low=-0.01)):
        assert next(claims(Comparison((), (weak,)))).startswith("not supported: a difference in completion (C)")
        assert list(claims(Comparison((), (weak,)), ["steps"])) == []  # only of these is a lack of support told


def test_one_pair_has_no_width() -> None:
    result = paired([(3.0, 1.0)], [(1.0, 1.0)])
    assert result is not None
    assert (result.difference, result.p, result.effect) == (2.0, 1.0, None)


def test_no_interval_of_steps_reaches_beyond_the_limit() -> None:
    steps = [count(number) for number in (100, 100, 100, 20)]
    samples = [Sample("a", f"l/{seed}", "l", 1, {"steps": value}) for seed, value in enumerate(steps)]
    (free,) = compare(samples, ["steps"]).rows
    assert free.high is not None
    assert free.high > 100
    (held,) = compare([sample._replace(step_limit=100) for sample in samples], ["steps"]).rows
    assert (held.value, held.low, held.high) == (free.value, free.low, 100)
