"""Episodes in which a call was lost for good: they end as errors, apart from all scores, and can be played again."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow
from teamworld.experiment.store.selection import select_episode
from teamworld.reasoning.llm.gateway import Patience
from teamworld.report import comparison_result
from teamworld.report.tables import describe_errors
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer

pytestmark = pytest.mark.heavy

METHODS = ("zero_shot", "drwell:no_memory")
ALL = RunOptions(tolerate=1.0)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a call at once, and on the server never."""
    patience = Patience(tries=3, per_try=3.0, first_wait=0.001, longest_wait=0.002, outage=0.5)
    monkeypatch.setattr(Patience, "lasting", lambda *_: patience)


def experiment(server: Peer, **changes: object) -> ExperimentSpec:
    fields = {
        "reasoner": server.name(),
        "methods": ["drwell", "zero_shot"],
        "max_steps": 12,
        "episodes": 2,
        "level": "n2",
    }
    return build(fields | {"seeds": list(range(10))} | changes)


def by_place(rows: list[EpisodeRow]) -> dict[tuple[str, int], object]:
    return {(row.cell, row.episode): row.summary for row in rows}


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_what_came_to_its_end_is_as_without_faults(server: Peer, tmp_path: Path, share: float) -> None:
    whole = by_place(run(experiment(server), tmp_path / "whole"))
    failed, seed = set[tuple[str, int]](), 5
    while not failed:  # which requests are hit depends on what stands in them
        server.set(faults={"error": share}, lasting=True, seed=seed)
        folder = RunFolder(tmp_path / str(seed))
        rows = by_place(run(experiment(server), folder.path, running=ALL))
        failed = {(cell.name, episode) for cell, episode in folder.errors(experiment(server))}
        seed += 1
        assert seed < 25, "no episode was hit"
    assert not failed & rows.keys()
    assert rows == {place: whole[place] for place in rows}
    later = whole.keys() - rows.keys() - failed  # of a team that would have learned from it
    assert all((cell, episode - 1) in failed and cell.startswith("drwell") for cell, episode in later)
    assert {path: logs(tmp_path / "whole")[path] for path in logs(folder.path)} == logs(folder.path)


def test_errors_are_told_not_asked_again_and_repeated_when_asked_for(server: Peer, tmp_path: Path) -> None:
    told: list[str] = []
    watch = RunMonitor(notice=told.append)
    server.set(faults={"error": 0.05}, lasting=True, seed=5)
    first = run(experiment(server), tmp_path / "a", running=ALL, watch=watch)
    folder = RunFolder(tmp_path / "a")
    errors = folder.errors(experiment(server))
    assert sum("ended in an error" in line for line in told) == len(errors)
    came = server.stats()["requests"]
    assert run(experiment(server), tmp_path / "a", running=ALL) == first
    assert server.stats()["requests"] == came  # the record answers
    server.set()
    repeat = RunOptions(repeat_errors=True)
    run(experiment(server), tmp_path / "a", running=repeat)
    assert folder.errors(experiment(server)) == []
    run(experiment(server), tmp_path / "whole")
    assert logs(tmp_path / "a") == logs(tmp_path / "whole")


def test_more_errors_than_are_tolerated_stop_the_run(server: Peer, tmp_path: Path) -> None:
    server.set(faults={"error": 0.3}, lasting=True, seed=5)
    with pytest.raises(UserError, match=r"^\d of 40 episodes ended in an error, more than --tolerate 0.1; the last: "):
        run(experiment(server), tmp_path / "a")
    with pytest.raises(UserError, match=r"^\d of 40 .* more than --tolerate 0;"):
        run(experiment(server), tmp_path / "b", running=RunOptions(tolerate=0))


def test_a_comparison_leaves_out_what_one_of_a_pair_lacks_and_says_so(server: Peer, tmp_path: Path) -> None:
    server.set(faults={"error": 0.05}, lasting=True, seed=5)
    run(experiment(server, methods=list(METHODS)), tmp_path / "a", running=ALL)
    errors = RunFolder(tmp_path / "a").errors(experiment(server, methods=list(METHODS)))
    assert errors
    result = comparison_result.compare(tmp_path / "a")
    assert describe_errors(errors) in result.caption
    (steps,) = (pair for pair in result.comparison.paired if pair.metric == "steps")
    first, second = ({(cell.seed, episode) for cell, episode in errors if cell.method == name} for name in METHODS)
    assert steps.left_out == len(first ^ second) > 0
    assert any(f"{steps.left_out} episode" in sentence for sentence in result.sentences)


def test_what_is_shown_is_an_episode_that_came_to_its_end(server: Peer, tmp_path: Path) -> None:
    server.set(faults={"error": 0.05}, lasting=True, seed=6)
    played = experiment(server, methods=list(METHODS), episodes=1)
    run(played, tmp_path, running=ALL)
    cell = RunFolder(tmp_path).errors(played)[0][0]
    with contextlib.closing(sqlite3.connect(tmp_path / "results.sqlite")) as db, db:
        db.execute("DELETE FROM episodes WHERE method = ? AND seed < 9", (METHODS[0],))
    assert select_episode(tmp_path).cell == RunCell(METHODS[0], 9)
    with pytest.raises(UserError, match=r"some ended in an error: add --repeat-errors"):
        select_episode(tmp_path, cell.method, cell.seed)


def test_what_a_repeated_call_took_before_stays_charged(server: Peer, tmp_path: Path) -> None:
    server.set(faults={"drop-body": 0.05}, lasting=True, seed=5)  # the answer was made, and never came
    run(experiment(server), tmp_path / "a", running=ALL)
    with CallStore(RunFolder(tmp_path / "a").results_file, readonly=True) as store:
        before = store.spent(lambda *_: None).tokens
    assert before.estimated > 0
    server.set()
    run(experiment(server), tmp_path / "a", running=RunOptions(repeat_errors=True))
    with CallStore(RunFolder(tmp_path / "a").results_file, readonly=True) as store:
        after = store.spent(lambda *_: None).tokens
    assert after.estimated == before.estimated
    assert after.total > before.total


def test_the_command_line_takes_both(server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.set(faults={"error": 0.05}, lasting=True, seed=5)
    out = str(tmp_path / "a")
    asked = [
        "run",
        "cube",
        "--reasoner",
        server.name(),
        "--level",
        "n2",
        "--max-steps",
        "12",
        "--seeds",
        "10",
        "--out",
        out,
    ]
    assert command([*asked, "--tolerate", "1"]) == 0
    assert "ended in an error" in capsys.readouterr().out
    assert command(["status", out]) == 0
    assert "in error" in capsys.readouterr().out
    assert command(["report", out]) == 0
    assert "--repeat-errors plays both" in capsys.readouterr().out
    server.set()
    assert command([*asked, "--repeat-errors"]) == 0
    assert command(["status", out]) == 0
    assert "10 of 10 episodes are finished" in capsys.readouterr().out
