"""Metrics as tables and on the command line: one definition for all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.experiment.api import run
from teamworld.metrics.definition import (
    PooledValue,
    Value,
    count,
    letter_codes,
    logged_metrics,
    metrics,
    only,
    pool,
    share,
)
from teamworld.record import LogWriter
from teamworld.report.evidence import Section
from teamworld.report.measurement import metric_names
from teamworld.report.metric_tables import definitions, number
from tests.metrics.golden import log

ROOT = Path(__file__).parents[2]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.jsonl.zst"
    with LogWriter(path) as writer:
        for event in log():
            writer.write(event, event.step, event.tick)
        writer.finish()
    return path


def test_a_log_is_measured_in_one_json_object(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["metrics", str(golden), "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["metrics"]
    assert measured["anytime_completion"] == {"value": 0.6, "num": 6.0, "den": 10.0}
    assert measured["waiting_share"] == {"value": 0.25, "num": 3.0, "den": 12.0}
    assert measured["duplicate_search"] == {"value": None, "num": 0.0, "den": 0.0}
    assert list(measured) == logged_metrics()


def test_a_log_is_measured_as_a_table(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["metrics", str(golden)]) == 0
    printed = capsys.readouterr().out
    assert "anytime_completion" in printed
    assert "6 / 10" in printed
    assert "had nothing to measure" in printed


def test_a_run_is_measured_by_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(method=["greedy", "random"], episodes=2, max_steps=20, out=tmp_path / "run")
    assert command(["metrics", str(tmp_path / "run"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mind"] == "built-in rules, no language model"
    methods = printed["methods"]
    assert list(methods) == ["greedy", "random"]
    assert methods["greedy"]["completion"]["n"] == 2
    assert methods["greedy"]["steps"]["value"] <= 20
    assert command(["metrics", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert "completion" in text
    assert "built-in rules, no language model; at most 20 steps; micro: ratio of sums" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.jsonl.zst"], "cannot be read"),
        (["."], "holds no run"),
        (["x", "--markdown"], "leave out the log"),
    ],
)
def test_what_is_no_log_is_refused(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(["metrics", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_the_page_is_made_from_the_definitions(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["metrics", "--markdown"]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed == "\n".join(definitions()).strip()
    assert printed in (ROOT / "docs/reference/metrics.md").read_text("utf-8"), (
        "write the output of teamworld metrics --markdown into it"
    )
    assert command(["metrics"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(metrics())


@pytest.mark.parametrize("metric", metrics().values(), ids=list(metrics()))
def test_a_definition_is_whole(metric: object) -> None:
    from teamworld.metrics.definition import Metric

    assert isinstance(metric, Metric)
    assert metric.tier in ("front", "second")
    assert metric.needs in ("log", "calls", "beliefs", "runs")
    assert metric.pooling in ("micro", "macro")
    assert metric.better in (None, "high", "low")
    assert metric.low is None or metric.high is None or metric.low < metric.high
    assert all((metric.name, metric.title, metric.section, metric.formula, metric.diagnoses, metric.source))


def test_rates_pool_by_sums_and_quantities_by_means() -> None:
    rate, quantity = metrics()["invalid_action_rate"], metrics()["completion"]
    assert pool(rate, [share(1, 2), share(0, 8), share(0, 0)]) == PooledValue(0.1, 1.0, 10.0, 2, 1)
    assert pool(quantity, [share(1, 2), share(0, 8), share(0, 0)]) == PooledValue(0.25, 0.5, 2.0, 2, 1)
    assert pool(quantity, []) == PooledValue(None, 0, 0.0, 0, 0)
    assert pool(metrics()["steps"], [count(3), count(5)]).value == 4.0
    assert pool(rate, [only(None)]) == PooledValue(None, 0, 0, 0, 1)
    assert pool(metrics()["redundancy"], [Value(None, 5.0, 0.0), Value(2.0, 4.0, 2.0)]).value == 4.5


def test_numbers_are_short() -> None:
    assert [number(value) for value in (None, 0.0, 1234.0, 0.123456, 1e-9)] == ["null", "0", "1,234", "0.1235", "1e-09"]


def test_letter_codes_of_older_files_stand_for_names() -> None:
    assert set(letter_codes().values()) < set(metrics())  # metrics that came later have none
    assert metric_names("O2, E1,joint_success") == ("completion", "steps", "joint_success")
    data = {"name": "a", "title": "A", "experiment": {}, "metrics": ["O7.raw", "messages"]}
    assert Section.model_validate(data).metrics == ("world_score", "messages")
