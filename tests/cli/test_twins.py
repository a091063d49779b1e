"""``teamworld compare --twin``: the same layouts and requests, other draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import teamworld
from teamworld.cli import run as command
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import EpisodeStart, Event, QuestionAsked, StepDone, read_log

ASKED = ["zero_shot", "--level", "n1", "--seeds", "3", "--max-steps", "60", "--metrics", "steps"]
NOISY = ["--reasoner", "rules:noise=0.5"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twins") / "c"
    assert command(["compare", *ASKED, *NOISY, "--twin", "zero_shot", "--out", str(folder)]) == 0
    return folder


def plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert command(["compare", *arguments, "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def events(folder: Path) -> list[list[Event]]:
    return [list(read_log(path)) for path in sorted(folder.glob("logs/zero_shot-*/*.zst"))]


def is_seen(event: Event) -> bool:
    return not isinstance(event, EpisodeStart)


def test_a_twin_plays_the_same_layouts_and_parts_at_an_answer(out: Path) -> None:
    first, second = events(out / "run"), events(out / "twin")
    assert len(first) == len(second) == 3
    parted = 0
    for own, twin in zip(first, second, strict=True):
        pairs = list(zip(filter(is_seen, own), filter(is_seen, twin), strict=False))
        differing = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if differing is not None:
            parted += 1
            assert all(isinstance(event, QuestionAsked) for event in differing)
    assert parted >= 2
    assert yaml.safe_load((out / "twin" / "experiment.yaml").read_text("utf-8"))["salt"] == 1
    assert "salt" not in yaml.safe_load((out / "run" / "experiment.yaml").read_text("utf-8"))


@pytest.mark.heavy
def test_the_floor_stands_beside_every_difference(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = plain([*ASKED, *NOISY, "--twin", "zero_shot", "--out", str(out)], capsys)
    assert all(pair["floor"] is not None and pair["within_floor"] is not None for pair in asked["paired"])
    assert {(twin["method"], twin["metric"]) for twin in asked["twins"]} == {("zero_shot", "steps")}
    assert plain([str(out), "--metrics", "steps"], capsys)["twins"] == asked["twins"]
    text = (out / "comparison.md").read_text("utf-8")
    assert "Differences beside the noise floor: steps" in text
    assert "the noise floor of" in text
    assert {"floor", "times_floor", "within_floor"} <= set(
        (out / "paired.csv").read_text("utf-8").split("\n")[0].split(",")
    )
    assert (out / "twins.csv").exists()


@pytest.mark.heavy
def test_a_twin_replays_and_goes_on_as_it_is(out: Path) -> None:
    assert command(["replay", str(out / "twin")]) == 0
    assert command(["status", str(out)]) == 0
    before = [path.read_bytes() for path in sorted((out / "twin").rglob("*.zst"))]
    assert command(["compare", *ASKED, *NOISY, "--twin", "zero_shot", "--out", str(out)]) == 0
    assert [path.read_bytes() for path in sorted((out / "twin").rglob("*.zst"))] == before
    assert RunFolder(out / "twin").experiment().salt == 1


def test_rules_that_draw_nothing_are_their_own_twin(tmp_path: Path) -> None:
    result = teamworld.compare(
        "zero_shot", level="n2", seeds=range(3), max_steps=20, metrics="steps", twin="zero_shot", out=tmp_path / "c"
    )
    assert [pair["floor"] for pair in result.paired] == [0.0] * len(result.paired)
    assert any("its noise floor is 0" in sentence for sentence in result.sentences)
    assert "inf" not in str(result)
    for own, twin in zip(events(tmp_path / "c" / "run"), events(tmp_path / "c" / "twin"), strict=True):
        assert [event for event in own if isinstance(event, StepDone)] == [
            event for event in twin if isinstance(event, StepDone)
        ]


def test_the_twin_of_a_method_that_draws_itself_draws_otherwise(tmp_path: Path) -> None:
    result = teamworld.compare(
        "random", level="n2", seeds=range(3), max_steps=20, metrics="steps", twin="random", out=tmp_path / "c"
    )
    assert any("twin of random plays otherwise in 3 of 3" in sentence for sentence in result.sentences)


def test_a_twin_of_what_is_not_compared_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", *ASKED, "--twin", "zero_shoot", "--out", str(tmp_path / "c")]) == 2
    assert "did you mean 'zero_shot'" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_folders_have_the_twins_that_they_have(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compare", str(out), "--twin", "zero_shot"]) == 2
    assert "--twin" in capsys.readouterr().err
