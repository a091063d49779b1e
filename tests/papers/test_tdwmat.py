"""``teamworld reproduce tdwmat``: published values, what episodes come to, checks, the command from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run
from teamworld.errors import UserError
from teamworld.methods import registry
from teamworld.papers.reproduction import load_yaml
from teamworld.papers.tdwmat.teams import (
    GROUPS,
    TransportEpisode,
    TransportRow,
    TransportTeam,
    all_rows,
    choose_rows,
    judge,
)
from teamworld.worlds.transport.official import list_episodes
from tests.worlds.transport.data import FOLDER, needs_data

VALUES = load_yaml("tdwmat", "published")
ROWS = {row.key: row for row in all_rows()}


def episode(number: int, seed: int, rate: float, tokens: float = 0.0) -> TransportEpisode:
    group = ("food low", "stuff low", "food high", "stuff high")[number % 4]
    return TransportEpisode(f"official-{number}", group, seed, rate, 3000, 1.0, tokens, 0, 0)


def team(key: str, rates: list[float], tokens: float = 0.0) -> TransportTeam:
    return TransportTeam(ROWS[key], [episode(number, 42, rate, tokens) for number, rate in enumerate(rates)])


# ---- published values


@pytest.mark.parametrize("column", VALUES["table"]["columns"].values(), ids=VALUES["table"]["columns"])
def test_published_groups_come_to_the_published_means(column: dict[str, list[float]]) -> None:
    food_low, stuff_low, food_high, stuff_high, low, high, whole = column["rates"]
    assert low == pytest.approx((food_low + stuff_low) / 2, abs=0.02)
    assert high == pytest.approx((food_high + stuff_high) / 2, abs=0.02)
    assert whole == pytest.approx((low + high) / 2, abs=0.02)
    for rate in (food_low, stuff_low, food_high, stuff_high):  # six episodes of ten targets
        assert rate * 60 / 100 == pytest.approx(round(rate * 60 / 100), abs=0.01)


def test_every_row_is_a_team_and_has_what_was_published_of_it() -> None:
    assert len(ROWS) == len(all_rows())
    for row in all_rows():
        registry.resolve(row.method, {})
        assert all(0 < rate <= 100 for rate, _ in row.published())
    assert list(ROWS["rhp-x2"].published()) == [(74.59, "planner"), (75, "planner, other paper")]
    assert list(ROWS["rhp-x2"].published("low")) == [(75.83, "planner")]
    assert list(ROWS["coela_tdwmat-x2"].published_tokens()) == [(2224, "GPT-4o"), (3793, "Qwen3-32B")]


def test_rows_are_chosen_by_method() -> None:
    assert [row.key for row in choose_rows(["rhp"])] == ["rhp-x1", "rhp-x2"]
    assert choose_rows(None) == all_rows()
    with pytest.raises(UserError, match="did you mean 'rhp'"):
        choose_rows(["rph"])


# ---- teams and claims


def test_means_are_of_the_episodes_of_a_group() -> None:
    mixed = team("rhp-x2", [10, 20, 30, 40, 50, 60, 70, 80])
    assert [round(mean.mean, 6) for name in GROUPS if (mean := mixed.mean("rate", name))] == [
        30,
        40,
        50,
        60,
        35,
        55,
        45,
    ]
    assert TransportTeam(ROWS["rhp-x2"], []).mean("rate") is None
    full = team("rhp-x2", [100, 100, 90, 100]).mean("rate")
    assert full is not None
    assert full.high == 100  # no more can be delivered


def test_a_team_gains_over_one_agent() -> None:
    one, two = team("rhp-x1", [40] * 4), team("rhp-x2", [80] * 4)
    assert two.gained(one) == 0.5
    assert two.gained(None) is None


def test_every_claim_holds_and_breaks() -> None:
    good = {
        "rhp-x1": team("rhp-x1", [40, 50, 50, 55]),
        "rhp-x2": team("rhp-x2", [70, 75, 75, 80]),
        "rhp+coela_tdwmat-x2": team("rhp+coela_tdwmat-x2", [80, 85, 86, 90]),
        "coela_tdwmat-x2": team("coela_tdwmat-x2", [82, 86, 88, 90], 2000),
        "capo-x2": team("capo-x2", [84, 88, 90, 92], 7000),
        "cobel-x2": team("cobel-x2", [88, 92, 94, 95], 1000),
    }
    verdicts = {check.number: check.verdict for check in judge(good)}
    claims = load_yaml("tdwmat", "claims")
    assert verdicts == {str(claim["number"]): "holds" for claim in (*claims["levels"], *claims["comparisons"])}
    names = list(good)
    bad = {key: good[other]._replace(row=ROWS[key]) for key, other in zip(names, reversed(names), strict=True)}
    assert {check.verdict for check in judge(bad)} == {"does not hold"}
    assert list(judge({})) == []


# ---- the command


def test_the_data_has_to_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments, why in (
        ([], "needs --data PATH"),
        (["--data", str(tmp_path / "none")], "there is no such folder"),
        (["--data", str(tmp_path)], "episodes.json"),
        (["--data", str(tmp_path), "--cap", "2"], "--cap belongs to 'reproduce cwah'"),
    ):
        assert run(["reproduce", "tdwmat", *arguments, "--out", str(tmp_path / "out")]) == 2
        assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@needs_data
def test_all_official_episodes_have_the_targets_that_rates_count_by() -> None:
    listed = list_episodes(FOLDER, "test")
    assert len(listed) == 24
    groups = [f"{one.task} {one.capacity}" for one in listed]
    assert {group: groups.count(group) for group in groups} == dict.fromkeys(
        ("food low", "stuff low", "food high", "stuff high"), 6
    )
    from teamworld.worlds.transport.levels import LevelOptions, instance

    for number in range(24):
        assert len(instance(f"official-{number}", 0, LevelOptions(FOLDER)).targets) == VALUES["targets"]


@needs_data
def test_a_quick_reproduction_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "reproduce",
        "tdwmat",
        "--data",
        str(FOLDER),
        "--quick",
        "--method",
        "rhp,greedy",
        "--out",
        str(tmp_path),
    ]
    assert run(arguments) == 0
    output = capsys.readouterr().out
    assert "2  RHP, 2 agents: more than 1 agent:" in output
    page = (tmp_path / "report.md").read_text("utf-8")
    assert page.startswith(f"# {load_yaml('tdwmat', 'claims')['title']}")
    assert "A quick version" in page
    assert str(FOLDER) not in page
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.zst")}
    assert len(times) == 3 * 4
    assert run([*arguments, "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.zst")} == times
    rows = {(row["method"], row["agents"]): row for row in numbers["rows"]}
    assert set(rows) == {("rhp", 1), ("rhp", 2), ("greedy", 2)}
    for row in rows.values():
        assert {"transport_rate", "low", "high"} <= set(row)
        assert row["transport_rate"] == pytest.approx((row["low"] + row["high"]) / 2)
        assert len(row["by_episode"]) == 4


def test_rows_know_what_decides() -> None:
    assert {row.by for row in all_rows() if not row.asks} == {"planner", "script", "inference"}
    assert TransportRow("a", "rhp+coela", "reasoners and planner").asks
