"""Behavioural Competency Scores: the formula, the clamp, the levels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.report.competence import COMPETENCIES, PROVISIONAL, Seed, Worth, shown_by, values, worth
from teamworld.worlds.wildfire.levels import LEVELS, PRESETS


@pytest.mark.parametrize(
    ("score", "idle", "best", "n"),
    [
        (0, 0, 18, 0.0),
        (9, 0, 18, 0.5),
        (18, 0, 18, 1.0),
        (10, 5, 10, 1.0),
        (6, 5, 10, 0.2),
        (-679, -679, 0, 0.0),
        (-340, -680, 0, math.log2(1.5)),
        (0, -680, 0, 1.0),
        (-900, -680, 0, 0.0),  # worse than doing nothing
        (-5000, -680, 0, 0.0),  # so much worse that there is no logarithm
        (20, 0, 18, 1.0),
    ],
)
def test_worth_of_a_score(score: float, idle: float, best: float, n: float) -> None:
    found = worth(score, idle, best)
    assert found.n == pytest.approx(n)
    assert not found.no_room


@pytest.mark.parametrize("best", [0.0, 6.0])
def test_no_room_above_doing_nothing_is_said(best: float) -> None:
    assert worth(best, best, best) == Worth(0.0, True)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 0), st.sampled_from([0.0, 18.0]))
def test_worth_lies_between_and_rises(one: float, other: float, idle: float, best: float) -> None:
    low, high = (worth(score, idle, best).n for score in sorted((one, other)))
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize("scores", [(math.nan, 0, 1), (1, math.inf, 2), (1, 3, 2)])
def test_scores_that_cannot_be(scores: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="expected finite scores with idle up to best"):
        worth(*scores)


def test_every_preset_shows_something_and_no_other_level_does() -> None:
    assert all(shown_by(name) for name in PRESETS)
    assert all(not shown_by(name) for name in LEVELS if name not in PRESETS)
    assert shown_by("full_game@2026") == tuple(COMPETENCIES)
    assert shown_by("scout_fire_small") == shown_by("scout_fire_large") == ("TD", "SR", "OS")
    assert {name for name in PRESETS if PROVISIONAL & set(shown_by(name))} == {"full_game"}


def test_values_by_competency() -> None:
    found = values(
        [
            Seed("cut_trees_lines_small", 1, 15, 0, 30),
            Seed("cut_trees_sparse_small", 1, 18, 0, 18),
            Seed("cut_trees_sparse_small", 2, 18, None, 18),
            Seed("a level of one's own", 1, 18, 0, 18),
        ]
    )
    assert found["TD"] == [Worth(0.5, False), Worth(1.0, False)]
    assert found["AC"] == [Worth(0.5, False)]
    assert found["OP"] == []
    assert list(found) == list(COMPETENCIES)
