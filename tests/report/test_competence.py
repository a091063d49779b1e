"""Behavioural Competency Scores: the formula, the clamp and the levels; from episodes, and from what was run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.report.competence import (
    COMPETENCIES,
    IDLE,
    PROVISIONAL,
    ScoredEpisode,
    Seed,
    Worth,
    competencies,
    mean_competency,
    of_folder,
    shown_by,
    table,
    worth,
    worths,
)
from teamworld.worlds.wildfire.levels import LEVELS, PRESETS

CUT, FIRE = "cut_trees_sparse_small", "suppress_fire_contain"
BEST = 18.0
"""Of the level CUT."""


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


def episode(method: str, seed: int, score: float, level: str = CUT) -> ScoredEpisode:
    return ScoredEpisode(method, (level, "", seed, 1), score)


def cells(episodes: list[ScoredEpisode]) -> dict[str, str]:
    made = table(episodes, "built-in rules")
    assert made.columns == ("competency", "a")
    return {row[0][:2]: row[1] for row in made.rows}


def test_a_score_lies_between_doing_nothing_and_the_best() -> None:
    episodes = [episode("do_nothing", seed, 0.0) for seed in range(4)]
    episodes += [episode("a", seed, BEST * share) for seed, share in enumerate((0.0, 0.5, 0.5, 1.0))]
    scores = cells(episodes)
    assert scores["TD"].startswith("0.50 [")
    assert scores["TD"].endswith("(sd 0.41, n 4)")
    assert {name for name, cell in scores.items() if cell != "none"} == {"TD"}  # the one that cutting trees shows


def test_where_a_fire_is_fought_the_logarithm_counts() -> None:
    episodes = [episode("do_nothing", 0, -100.0, FIRE), episode("a", 0, -50.0, FIRE)]
    scores = cells(episodes)
    assert {scores[name] for name in ("TD", "SR", "PA", "AC")} == {"0.58 (n 1)"}  # log2(1 + 1 / 2)
    assert scores["OS"] == "none"


def test_what_cannot_be_counted_is_told() -> None:
    episodes = [episode("do_nothing", 0, 0.0), episode("a", 0, BEST), episode("a", 1, BEST)]
    episodes += [episode(method, 0, 0.0, FIRE) for method in ("do_nothing", "a")]
    made = table(episodes, "built-in rules")
    assert "1 seed without do_nothing beside it left out" in made.caption
    assert "1 seed at 0 as doing nothing was the best possible" in made.caption
    assert made.rows[0] == ("TD task designation", "0.50 [0.00, 1.00] (sd 0.71, n 2)")
    assert made.caption.endswith("built-in rules")
    assert made.rows[-1] == ("OP objective prioritization*", "none")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("competence") / "run"
    teamworld.run(
        "wildfire", level=CUT, method=["do_nothing", "greedy", "random"], seed=[0, 1], max_steps=15, out=folder
    )
    return folder


def test_a_run_has_scores(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["report", str(out), "--competence", "--json"]) == 0
    (made,) = json.loads(capsys.readouterr().out)["tables"]
    assert made == of_folder(out).plain()
    assert made["title"] == "wildfire: behavioural competency scores, 1 level"
    assert "built-in rules, no language model" in made["caption"]
    first = made["rows"][0]
    assert list(first) == ["competency", "greedy", "random"]
    assert float(first["greedy"].split()[0]) > float(first["random"].split()[0])
    assert command(["report", str(out), "--competence"]) == 0
    assert "TD task designation" in " ".join(capsys.readouterr().out.split())


def test_what_has_no_scores_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teamworld.run("rooms", level="one", method="greedy", max_steps=5, out=tmp_path / "rooms")
    with pytest.raises(UserError, match="no finished episode of a level of wildfire"):
        of_folder(tmp_path / "rooms")
    teamworld.run("wildfire", level=CUT, method="random", max_steps=3, out=tmp_path / "alone")
    assert command(["report", str(tmp_path / "alone"), "--competence"]) != 0
    assert "run do_nothing too" in capsys.readouterr().err
    assert command(["report", str(tmp_path / "alone"), "--competence", "--bill"]) != 0
    assert "five reports" in capsys.readouterr().err


def test_a_comparison_has_scores_without_its_silent_rows(tmp_path: Path) -> None:
    asked = ["compare", "drwell", "do_nothing", "--world", "wildfire", "--level", CUT, "--max-steps", "20"]
    assert command([*asked, "--metrics", "completion", "--out", str(tmp_path / "c")]) == 0
    assert of_folder(tmp_path / "c").columns == ("competency", "drwell", "random", "greedy")
