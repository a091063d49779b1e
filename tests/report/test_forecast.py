"""Sample sizes: found at the power that was asked for, with layouts and repeats apart, before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.metrics.definition import Value
from teamworld.report.comparison import Sample
from teamworld.report.forecast import forecast, layouts_needed, lines
from teamworld.report.statistics import paired


def sample(method: str, layout: int, repeat: int, steps: float, tokens: float | None = None) -> Sample:
    values = {"steps": Value(steps, None, None)} | ({} if tokens is None else {"tokens": Value(tokens, None, None)})
    return Sample(method, f"l{layout} s{repeat}", "l", 1, values, layout=f"layout {layout}", play=f"{layout} {repeat}")


def pilot(layouts: int, repeats: int, between: float, within: float, tokens: float | None = None) -> list[Sample]:
    rng = np.random.default_rng(0)
    samples = []
    for layout in range(layouts):
        shift = rng.normal(0, between)
        for repeat in range(repeats):
            number = layout * repeats + repeat
            samples.append(sample("a", layout, number, 100 + shift + rng.normal(0, within), tokens))
            samples.append(sample("b", layout, number, 100.0, tokens))
    return samples


@pytest.mark.parametrize(("effect", "power"), [(0.4, 0.8), (0.8, 0.8), (0.8, 0.9)])
def test_a_difference_of_the_size_is_found_at_the_power(effect: float, power: float) -> None:
    number = layouts_needed(1.0, effect, power, 0.05)
    assert number is not None
    rng, found = np.random.default_rng(1), 0
    for _ in range(500):
        first = [(value, 1.0) for value in rng.normal(effect, 1, number)]
        result = paired(first, [(0.0, 1.0)] * number)
        assert result is not None
        found += result.p < 0.05 and not result.low <= 0.0 <= result.high
    assert power - 0.05 <= found / 500 <= power + 0.05


def test_numbers_known_from_textbooks() -> None:
    assert layouts_needed(1.0, 0.5, 0.8, 0.05) == 34  # paired t test, d_z 0.5
    assert layouts_needed(1.0, 0.2, 0.8, 0.05) in range(198, 201)
    assert layouts_needed(1.0, 100.0, 0.8, 0.05) == 6  # one sign in all of five pairs is p = 0.0625
    assert layouts_needed(1.0, 1e-9, 0.8, 0.05) is None


def test_the_variance_is_split_into_layouts_and_repeats() -> None:
    (need,) = forecast(pilot(400, 4, 20.0, 10.0), "steps", 10.0, 0.8).needs
    assert need.between is not None
    assert need.within is not None
    assert need.between == pytest.approx(20, rel=0.1)
    assert need.within == pytest.approx(10, rel=0.1)
    assert need.needed == layouts_needed((need.between**2 + need.within**2) ** 0.5, 10.0, 0.8, 0.05)
    (once,) = forecast(pilot(400, 1, 20.0, 10.0), "steps", 10.0, 0.8).needs
    assert once.within is None
    assert once.between == pytest.approx((20**2 + 10**2) ** 0.5, rel=0.1)  # one play tells them together


def test_repeats_of_one_layout_tell_nothing_of_others() -> None:
    made = forecast(pilot(1, 8, 20.0, 10.0), "steps", 10.0, 0.8)
    assert made.seeds is None
    assert any("one layout" in line for line in lines(made))


def test_costs_are_those_of_all_methods_and_seeds() -> None:
    made = forecast(pilot(20, 1, 10.0, 0.0, tokens=1000.0), "steps", 5.0, 0.8)
    assert made.seeds is not None
    assert made.costs == {"tokens": pytest.approx(2 * 1000 * made.seeds)}
    assert "tokens" in lines(made)[-1]


def test_more_pairs_take_more_layouts_and_references_count_among_them() -> None:
    two = pilot(30, 1, 10.0, 0.0)
    three = [*two, *(one._replace(method="c") for one in two if one.method == "b")]
    beside = [*two, *(one._replace(method="greedy") for one in two if one.method == "b")]
    few, many, same = (forecast(samples, "steps", 5.0, 0.8).seeds for samples in (two, three, beside))
    assert few is not None
    assert many is not None
    assert few < many == same
    assert len(forecast(beside, "steps", 5.0, 0.8).needs) == 1  # references are tested, and not what is forecast
    with pytest.raises(UserError, match="two methods"):
        forecast([one for one in two if one.method == "a"], "steps", 5.0, 0.8)
    with pytest.raises(UserError, match="met in no layout"):
        forecast([one._replace(instance="x") if one.method == "a" else one for one in two], "steps", 5.0, 0.8)


def test_the_command_reads_a_pilot_and_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teamworld.run("cube", level="n1", method=["drwell", "greedy"], seeds=[0, 1, 2], out=tmp_path / "pilot")
    before = sorted(tmp_path.rglob("*"))
    arguments = ["forecast", str(tmp_path / "pilot"), "--effect", "steps=10"]
    assert command(arguments) == 0
    assert "a difference of 10 steps is found with power 0.8 by" in capsys.readouterr().out
    assert command([*arguments, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["seeds"] == made["needs"][0]["needed"]
    assert sorted(tmp_path.rglob("*")) == before
    for wrong, why in (
        (["--effect", "steps"], "METRIC=NUMBER"),
        (["--effect", "steps=no"], "METRIC=NUMBER"),
        (["--effect", "stepz=3"], "did you mean 'steps'"),
        (["--effect", "steps=3", "--power", "2"], "--power"),
    ):
        assert command(["forecast", str(tmp_path / "pilot"), *wrong]) == 2
        assert why in capsys.readouterr().err
    assert command(["forecast", "--effect", "steps=3"]) == 2
    assert "which pilot?" in capsys.readouterr().err
