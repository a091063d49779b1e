"""Behavioural Competency Scores: from episodes, and from what was run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.report.competence import ScoredEpisode, of_folder, table

CUT, FIRE = "cut_trees_sparse_small", "suppress_fire_contain"
BEST = 18.0
"""Of the level CUT."""


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
    assert made.rows[0] == ("TD task designation", "0.50 [0.09, 0.91] (sd 0.71, n 2)")
    assert made.caption.endswith("built-in rules")
    assert made.rows[-1] == ("OP objective prioritization*", "none")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("competence") / "run"
    teamworld.run(
        "wildfire", level=CUT, method=["do_nothing", "greedy", "random"], seed=[0, 1], max_steps=40, out=folder
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
    assert "four reports" in capsys.readouterr().err


def test_a_comparison_has_scores_without_its_silent_rows(tmp_path: Path) -> None:
    asked = ["compare", "drwell", "do_nothing", "--world", "wildfire", "--level", CUT, "--max-steps", "20"]
    assert command([*asked, "--metrics", "completion", "--out", str(tmp_path / "c")]) == 0
    assert of_folder(tmp_path / "c").columns == ("competency", "drwell", "random", "greedy")
