"""Behavioural Competency Scores: the formula, the clamp, the levels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.report.competence import (
    COMPETENCIES,
    IDLE,
    PROVISIONAL,
    ScoredEpisode,
    Seed,
    Worth,
    competencies,
    mean_competency,
    shown_by,
    table,
    worth,
    worths,
)
from teamworld.worlds.wildfire.levels import LEVELS, PRESETS

CUT = "cut_trees_sparse_small"


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
    value = worth(score, idle, best)
    assert value.n == pytest.approx(n)
    assert not value.no_room


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


def test_what_seeds_are_worth_by_level() -> None:
    seeds = [
        Seed("cut_trees_lines_small", 1, 15, 0, 30),
        Seed(CUT, 1, 18, 0, 18),
        Seed(CUT, 2, 18, None, 18),
        Seed("a level of one's own", 1, 18, 0, 18),
    ]
    assert worths(seeds) == {"cut_trees_lines_small": [Worth(0.5, False)], CUT: [Worth(1.0, False)]}
    scores = competencies(seeds)
    assert list(scores) == list(COMPETENCIES)
    assert {name: score.mean for name, score in scores.items() if score is not None} == {"TD": 0.75, "AC": 0.5}


def test_the_mean_competency_is_the_mean_of_the_competencies() -> None:
    cut = [Seed(CUT, seed, 9.0, 0.0, 18.0) for seed in range(3)]
    scout = [Seed("scout_fire_small", seed, score, 0.0, 2.0) for seed, score in enumerate((0.0, 1.0, 2.0, 2.0))]
    full = [Seed("full_game", 0, -50.0, -100.0, 0.0)]
    seeds = cut + scout + full
    each, mean = competencies(seeds), mean_competency(seeds)
    shown = [score.mean for name, score in each.items() if score is not None and name != "OP"]
    assert len(shown) == 6
    assert mean is not None
    assert mean.mean == pytest.approx(sum(shown) / 6)
    assert mean.n == 8
    assert each["TD"] is not None
    assert each["TD"].n == 8
    assert mean_competency([]) is None
    assert competencies([Seed(CUT, 0, 9.0, None, 18.0)])["TD"] is None  # without doing nothing beside it
    made = table(
        [ScoredEpisode(method, (result.level, "", result.seed, 1), score or 0.0)
         for result in seeds for method, score in (("a", result.score), (IDLE, result.idle))],
        "",
    )  # fmt: skip
    assert made.rows[0][1].startswith(f"{each['TD'].mean:.2f} [")
