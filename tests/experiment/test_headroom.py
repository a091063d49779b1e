"""``benchmarks/headroom.py``: what it plays it measures, and what it does not play stays as it was."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import pytest

from benchmarks import headroom

PLACE = ("cube", "paper-n1", "development")


def test_rows_without_runs_stay_and_runs_make_theirs_anew(tmp_path: Path) -> None:
    text = files("teamworld.experiment.suites").joinpath("headroom.csv").read_text("utf-8")
    kept = list(csv.DictReader(text.splitlines()))
    runs = headroom.Runs(tmp_path, (), ())
    assert list(headroom.rows(runs, kept)) == kept
    headroom.play(runs, *PLACE[:2], "react", PLACE[2])
    stale = [row | {"silent": "1.0"} for row in kept]
    made = {key_of(row): row for row in headroom.rows(headroom.Runs(tmp_path, ("cube/paper-n1",), ()), stale)}
    assert made[PLACE] == next(row for row in kept if key_of(row) == PLACE)
    assert {row["silent"] for key, row in made.items() if key != PLACE} == {"1.0"}


def key_of(row: dict[str, str]) -> tuple[str, str, str]:
    return row["world"], row["level"], row["half"]


def test_a_run_that_beats_a_bound_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = headroom.Runs(tmp_path, (), ())
    headroom.play(runs, *PLACE[:2], "react", PLACE[2])
    monkeypatch.setattr(headroom, "prove", lambda *_: {0: (1_000, None)})
    with pytest.raises(SystemExit, match="react beats the bound"):
        headroom.read(runs, *PLACE)


def test_damage_is_a_share_of_what_the_silent_team_lost() -> None:
    played = [headroom.Played(0, None, {"react": 40, "greedy": 10}, {"react": 40, "greedy": 10}) for _ in range(3)]
    nothing = headroom.Played(0, None, {"react": 0}, {"react": 0})  # nothing was lost, so nothing can be saved
    row = dict(zip(headroom.COLUMNS[3:], headroom.values("full_game", [*played, nothing], "react"), strict=True))
    assert (row["measure"], row["silent"], row["known"], row["bound"]) == ("damage", "30.0", "7.5", "0.0")
    assert float(row["saved"]) == 0.562  # three quarters of three instances, none of the fourth
    assert float(row["headroom"]) == 0.75
