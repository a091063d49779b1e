"""Named sets of instances: what they hold, and how they are asked for."""

from __future__ import annotations

import csv
import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.suites import suite
from teamworld.experiment.suites.suite import Place
from teamworld.worlds import registry
from teamworld.worlds.wildfire.levels import LEVELS
from teamworld.worlds.wildfire.physics import fights_fire

#: What a level of the suite saves at least; as in ``benchmarks/headroom.py``.
THRESHOLD = 0.1
ROOT = Path(__file__).parents[2]
#: Columns of the table: shares, each with its interval, and what pages tell before them.
_SHARES = ("headroom", "low", "high", "saved", "saved_low", "saved_high")
_TOLD = ("world", "level", "half", "method", "measure", "bound", "known", "silent")


def test_the_suite_holds_120_instances_half_of_them_for_the_test() -> None:
    halves = [suite.places(name) for name in ("coordination-1", "coordination-1/test")]
    instances = [{(p.world, p.level, seed) for p in half for seed in p.seeds} for half in halves]
    assert [len(half) for half in instances] == [60, 60]
    assert not instances[0] & instances[1]
    for half in instances:
        worlds = Counter(world for world, _, _ in half)
        assert len(worlds) >= 5
        assert max(worlds.values()) <= 60 / 3
    for world, level, _ in instances[0]:
        assert level in registry.levels(world)


def test_levels_of_the_suite_have_headroom_on_both_halves() -> None:
    saved = {(row["world"], row["level"], row["half"]): float(row["saved"]) for row in _rows()}
    for half in suite.HALVES:
        for place in suite.places(f"coordination-1/{half}"):
            assert saved[place.world, place.level, half] > THRESHOLD


def test_what_is_no_suite_is_refused() -> None:
    with pytest.raises(UserError, match="there is no suite 'coordination'; did you mean 'coordination-1'"):
        suite.places("coordination")
    with pytest.raises(UserError, match="halves development and test, got 'tests'; did you mean 'test'"):
        suite.places("coordination-1/tests")
    with pytest.raises(UserError, match="leave out level, seeds"):
        grid.expand({"suite": "coordination-1", "level": "n2", "seeds": [1]})
    with pytest.raises(UserError, match="expected a name such as coordination-1"):
        grid.expand({"suite": 1})


def test_a_comparison_on_a_suite_plays_each_level_with_its_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suite, "places", lambda text: [Place("rooms", "one", (4,)), Place("cube", "n1", (5, 6))])
    words = ["compare", "zero_shot", "--world", "suite:coordination-1", "--no-references", "--metrics", "steps,regret"]
    out = tmp_path / "c"
    assert command([*words, "--out", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["setting"] for row in result["settings"]] == ["world=rooms,level=one", "world=cube,level=n1"]
    assert {(row["metric"], row["n"]) for row in result["rows"]} == {("steps", 3), ("regret", 3)}
    assert Counter(path.parent.name for path in out.rglob("*.zst")) == {f"zero_shot-s{seed}": 1 for seed in (4, 5, 6)}
    assert command(["compare", str(out), "--json"]) == 0  # what stands there is read again in the same settings
    assert len(json.loads(capsys.readouterr().out)["settings"]) == 2


def test_levels_are_listed_with_their_headroom(capsys: pytest.CaptureFixture[str]) -> None:
    assert "; headroom " in _list_levels(capsys, "lbf")["Foraging-2s-8x8-2p-2f-coop-v3"]
    assert "; headroom " in _list_levels(capsys, "household")["test"]  # measured on the test half alone
    assert command(["levels", "--headroom"]) == 0
    lines = capsys.readouterr().out.splitlines()
    measured = [line for line in lines if "not measured: " not in line]
    shares = [float(line.partition("headroom ")[2].removeprefix("from ").split("%")[0]) for line in measured]
    assert len(shares) > 20
    assert shares == sorted(shares, reverse=True)
    most, least = (0.413, 0.302, 0.52), (0.2, 0.1, 0.3)
    assert suite.Headroom(most, most, 10, "steps").in_words() == "headroom 41% [30, 52]"
    assert suite.Headroom(most, least, 2, "steps").in_words() == "headroom from 20% [10, 30] to 41% [30, 52]"
    assert suite.Headroom(most, least, 4, "damage").in_words().endswith("to 41% [30, 52] of its damage")
    assert suite.Headroom(most, least, 1, "steps").in_words() == "headroom from 20% to 41%, one instance"


def test_every_level_states_its_headroom_or_why_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    levels = {(world, level) for world in registry.names() for level in registry.levels(world)}
    assert suite.headrooms().keys() | suite.unmeasured().keys() == levels
    assert not suite.headrooms().keys() & suite.unmeasured().keys()
    assert command(["levels", "--headroom"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert {tuple(line.split()[:2]) for line in listed} == levels
    assert listed[-1].endswith(f"not measured: {[*suite.unmeasured().values()][-1]}")
    unmeasured = _list_levels(capsys, "wildfire")["stress_100k"]
    assert unmeasured.endswith("; headroom not measured: an episode takes too long")
    assert _list_levels(capsys, "wildfire")["full_game"].endswith(" of its damage")
    assert _list_levels(capsys, "cube")["paper-n4"].endswith(", one instance")


def test_shares_lie_within_their_intervals_and_what_is_known_within_what_is_proven() -> None:
    for row in _rows():
        shares = {name: float(row[name]) for name in _SHARES}
        for mean, low, high in (_SHARES[:3], _SHARES[3:]):
            assert 0 <= shares[low] <= shares[mean] <= shares[high] <= 1
            if row["seeds"] == "1":
                assert shares[low] == shares[high]
        assert shares["saved"] <= shares["headroom"]
        assert float(row["bound"]) <= float(row["known"]) <= float(row["silent"])
        assert row["measure"] in ("steps", "damage")
        if row["measure"] == "damage":
            assert row["world"] == "wildfire"
            assert fights_fire(LEVELS[row["level"]])


def _list_levels(capsys: pytest.CaptureFixture[str], world: str) -> dict[str, str]:
    assert command(["levels", world]) == 0
    return {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}


def test_the_pages_show_the_table() -> None:
    """``python benchmarks/headroom.py`` prints it."""
    page = (ROOT / "docs/reference/headroom.md").read_text("utf-8")
    for row in _rows():
        shares = [f"{100 * float(row[name]):.0f}" for name in _SHARES]
        spans = [f"{mean}% [{low}, {high}]" for mean, low, high in (shares[:3], shares[3:])]
        if row["seeds"] == "1":
            spans = [f"{shares[0]}%", f"{shares[3]}%"]
        cells = (*(row[name] for name in _TOLD), *spans)
        assert f"| {' | '.join(cells)} | {row['near']}/{row['seeds']} |" in page
    stated = f"{len(suite.headrooms())} of {len(suite.headrooms()) + len(suite.unmeasured())} levels"
    assert stated in (ROOT / "docs/how-to/bounds.md").read_text("utf-8")


def _rows() -> list[dict[str, str]]:
    text = files("teamworld.experiment.suites").joinpath("headroom.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
