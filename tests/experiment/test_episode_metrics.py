"""Metrics of a run's episodes: each from its own log, or one line that says why not."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.episode_metrics import of_runs
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import LogWriter, read_log


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    methods = ["drwell:no_memory", "random", "greedy"]
    teamworld.run(method=methods, episodes=2, seed=[0, 1], max_steps=4, out=folder)
    return folder


def measured(folder: Path, processes: int = 1) -> list[str]:
    place = RunFolder(folder)
    runs = [(place, place.experiment())]
    return [f"{one.cell.name}/{one.row.episode}" for _, one in of_runs(runs, processes)]


@pytest.mark.heavy
def test_each_episode_is_measured_from_its_own_log(played: Path) -> None:
    one_by_one = measured(played)
    assert len(one_by_one) == 12, "the log of a variant names its method"
    assert measured(played, processes=2) == one_by_one


@pytest.mark.parametrize(
    ("source", "target", "got", "processes"),
    [
        ("greedy-s0/0001", "random-s0/0001", "method greedy, seed 0, episode 1", 1),
        ("greedy-s1/0001", "greedy-s0/0001", "method greedy, seed 1, episode 1", 1),
        ("greedy-s0/0002", "greedy-s0/0001", "method greedy, seed 0, episode 2", 1),
        ("greedy-s0/0001", "drwell-no_memory-s0/0001", "method greedy, seed 0, episode 1", 1),
        ("greedy-s0/0001", "random-s0/0001", "method greedy, seed 0, episode 1", 2),
    ],
)
def test_the_log_of_another_episode_is_refused(
    source: str, target: str, got: str, processes: int, played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    there = folder / "logs" / f"{target}.jsonl.zst"
    shutil.copy(folder / "logs" / f"{source}.jsonl.zst", there)
    with pytest.raises(UserError, match=f"is the log of another episode: expected method .* got {got}"):
        measured(folder, processes)
    assert command(["metrics", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"teamworld: {there} is the log of another episode: expected method ")


def test_an_impossible_log_is_refused(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    path = folder / "logs/greedy-s0/0001.jsonl.zst"
    start, *events = read_log(path)
    with LogWriter(path) as writer:
        for event in (msgspec.structs.replace(start, team=("agent_0",)), *events):
            writer.write(event, event.step, event.tick)
        writer.finish()
    assert command(["metrics", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"teamworld: {path} cannot be measured: an impossible log: record ")
    assert line.endswith("names 'agent_1', who is not in the team")
