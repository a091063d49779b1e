"""Runs with ``--schedule causal``: records, resuming and replaying are as in lock-step; what cannot be is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import CAUSAL, RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.budget import OutOfBudget
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer

AHEAD = RunOptions(schedule=CAUSAL)


def woods(reasoner: str, **changes: Any) -> ExperimentSpec:
    """Return a short episode of firefighters with maps of their own."""
    plain = {"world": "wildfire", "level": "cut_trees_sparse_large", "methods": ["react"], "max_steps": 6}
    return build({**plain, "reasoner": reasoner, "options": {"wildfire": {"shared_map": False}}, **changes})


def tokens(out: Path) -> list[int]:
    """Return what each call on record took."""
    with CallStore(out / "results.sqlite", readonly=True) as store:
        return [(row.prompt_tokens or 0) + (row.output_tokens or 0) for row in store.rows()]


@pytest.mark.heavy
def test_a_model_is_asked_the_same_and_a_run_goes_on_under_the_other_schedule(server: Peer, tmp_path: Path) -> None:
    experiment, whole, stopped = woods(server.name()), tmp_path / "whole", tmp_path / "stopped"
    run(experiment, whole)
    taken = tokens(whole)
    assert server.stats()["completions"] == len(taken) > 10
    server.reset()
    server.set(seconds=0.001, jitter=0.05, seed=3)
    with pytest.raises(OutOfBudget):
        run(experiment, stopped, running=RunOptions(schedule=CAUSAL, budget=f"{sum(taken) // 2}tok"))
    run(experiment, stopped)
    assert logs(stopped) == logs(whole)
    assert server.stats()["completions"] == len(tokens(stopped)) == len(taken)  # nothing was asked twice


@pytest.mark.heavy
def test_a_causal_run_is_replayed_in_lock_step(server: Peer, tmp_path: Path) -> None:
    server.set(seconds=0.001, jitter=0.05, seed=4)
    run(woods(server.name()), tmp_path / "a", running=AHEAD)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    folder = RunFolder(tmp_path / "a")
    assert [episode.difference for episode in replay(folder, folder.experiment(), scratch)] == [None]


@pytest.mark.heavy
def test_rules_and_episodes_that_learn_are_as_in_lock_step(tmp_path: Path) -> None:
    experiment = woods("rules:noise=0.3", methods=["react:reflexion", "zero_shot"], episodes=2)
    run(experiment, tmp_path / "a")
    run(experiment, tmp_path / "b", running=AHEAD)
    assert logs(tmp_path / "a") == logs(tmp_path / "b")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"methods": ["react", "drwell"]}, "those of drwell wait for one another"),
        ({"options": {}}, "somebody may learn at once of what happens anywhere"),
        ({"world": "cube", "level": "n4", "options": {}}, "in cube, level n4"),
    ],
)
def test_what_cannot_run_ahead_is_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        run(woods("rules", **changes), tmp_path / "a", running=AHEAD)
    assert not (tmp_path / "a").exists()


def test_the_command_takes_the_schedule_and_refuses_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = ["run", "wildfire", "--level", "cut_trees_sparse_small", "--method", "react", "--max-steps", "2"]
    alone = ["--set", "wildfire.shared_map=false", "--schedule"]
    assert command([*wild, *alone, "causal", "--out", str(tmp_path / "a")]) == 0
    for other, words in (("soon", "--schedule is lock-step or causal, got 'soon'"), ("causal", "leave out --engine")):
        engine = ["--engine", "ray"] if other == "causal" else []
        assert command([*wild, *alone, other, *engine, "--out", str(tmp_path / "b")]) == 2
        assert words in capsys.readouterr().err
