"""The worth of messages and agents where a language model answered: what is asked again, paid for and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.fork import find_episode
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.report.worth import measure
from tests.reasoning.llm.server import Peer

STEPS = 6


def paid_calls(folder: Path) -> int:
    with CallStore(folder / "results.sqlite", readonly=True) as calls:
        return sum(not row.cached for row in calls.rows())


def asks_all_anew(folder: Path) -> bool:
    """Return whether a fork is a continuation from the first step, with nothing else changed."""
    fork = RunFolder(folder).experiment().fork
    assert fork is not None
    only = fork.changes[0]
    return len(fork.changes) == 1 and only.step == 0 and only.hand_over is not None and only.hand_over.method is None


@pytest.mark.heavy
def test_forks_ask_a_model_from_their_change_on_and_what_was_paid_for_is_kept(
    server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    run("cube", level="paper-n2", method="drwell", reasoner=server.name(), max_steps=STEPS, out=out)
    messages = find_episode(RunFolder(out), 1).row.summary.messages
    assert messages
    server.reset()
    words = ["worth", str(out), "--continuations", "2"]
    assert command(words) == 0
    told = capsys.readouterr()
    forks = sorted((out / "worth" / "drwell-s0" / "0001.forks").iterdir())
    assert f"{len(forks)} forks; the recorded episode took {paid_calls(out)} calls" in told.out + told.err
    paid = {folder: paid_calls(folder) for folder in forks}
    assert server.stats()["completions"] == sum(paid.values()) > 0
    anew = [folder for folder in forks if asks_all_anew(folder)]
    assert len(anew) == 4, "with messages that are heard, and without"
    assert all(paid[folder] for folder in anew), "a continuation is another draw, not the record's answers"
    assert all(command(["replay", str(folder)]) == 0 for folder in forks[:3])

    server.reset()
    capsys.readouterr()
    assert command([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["forks"], shown["continuations"], len(shown["messages"])) == (len(forks), 2, messages + 1)
    assert server.stats()["completions"] == 0, "it was all on record"


@pytest.mark.heavy
def test_one_budget_holds_for_all_forks_and_a_larger_one_goes_on(server: Peer, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run("cube", level="paper-n2", method="drwell", reasoner=server.name(), max_steps=STEPS, out=out)
    origin = find_episode(RunFolder(out), 1)
    with pytest.raises(UserError, match="budget"):
        measure(origin, continuations=2, running=RunOptions(budget="8000tokens"))
    server.reset()
    whole = measure(origin, continuations=2)
    assert 0 < len(list((out / "worth" / "drwell-s0" / "0001.forks").iterdir())) == whole.forks


def test_what_people_answered_is_refused(tmp_path: Path) -> None:
    run("rooms", level="two", method="coela", max_steps=2, out=tmp_path / "run")
    origin = find_episode(RunFolder(tmp_path / "run"), 1)
    asked = origin._replace(experiment=origin.experiment.model_copy(update={"reasoner": "human"}))
    with pytest.raises(UserError, match="was answered by people"):
        measure(asked)
