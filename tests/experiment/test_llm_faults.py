"""A run through every fault that a server can have: nothing is lost, paid twice or left untold."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from tests.experiment.ledger import balance, logs
from tests.reasoning.llm.behaviour import FLAWED, PASSING
from tests.reasoning.llm.server import Peer

#: Those that are over when the same request is sent again, and those that a client need not notice.
ON_THE_WAY = (*PASSING, "choiceless", "null", "inband", "drip", "mislabelled")
EVERY = (*ON_THE_WAY, *FLAWED, "usageless", "long", "moderated")
#: What holds up everybody, or a call for as long as a try may take: rarely.
SLOW = ("busy", "busy-after", "stall", "stall-body")
RUNNING = RunOptions(timeout=5.0, calls=32)  # longer than an answer takes on a busy machine


def experiment(server: Peer) -> ExperimentSpec:
    """Return one of some 300 calls."""
    return build({"reasoner": server.name(), "level": "n4", "max_steps": 40, "seeds": list(range(24))})


def meet(server: Peer, faults: tuple[str, ...], row: int | None = None) -> None:
    """Let the server have every fault once, then each at random."""
    server.reset()
    script = [outcome for fault in faults for outcome in (fault, "ok")]
    rates = {fault: 0.003 if fault in SLOW else 0.19 / (len(faults) - len(SLOW)) for fault in faults}
    server.set(seconds=0.005, script=script, faults=rates, row=row, seed=1, retry_after="0", drip=0.1)


@pytest.mark.heavy
def test_what_passes_leaves_no_trace_in_the_logs(server: Peer, tmp_path: Path) -> None:
    run(experiment(server), tmp_path / "quiet")
    quiet = balance(server.stats(), tmp_path / "quiet")
    assert (quiet.wrong, quiet.faults, quiet.calls > 250) == ([], {}, True)
    meet(server, ON_THE_WAY, row=3)
    run(experiment(server), tmp_path / "a", running=RUNNING)
    stats = server.stats()
    ledger = balance(stats, tmp_path / "a")
    assert ledger.wrong == []
    assert (ledger.lost, ledger.twice, ledger.given_up, ledger.calls) == (0, 0, 0, quiet.calls)
    assert stats["faults"].keys() == set(ON_THE_WAY)
    assert all(there == here > 0 for there, here in ledger.faults.values())
    assert logs(tmp_path / "a") == logs(tmp_path / "quiet")


@pytest.mark.heavy
def test_what_does_not_pass_is_told(server: Peer, tmp_path: Path) -> None:
    meet(server, EVERY)
    rows = run(experiment(server), tmp_path / "a", running=RUNNING)
    stats = server.stats()
    ledger = balance(stats, tmp_path / "a")
    assert len(rows) == 24
    assert ledger.wrong == []
    assert (ledger.lost, ledger.twice) == (0, 0)
    assert stats["faults"].keys() == set(EVERY)
    assert ledger.faults.keys() == {"broken", "busy", "busy, told how long", "gone", "late", "refused"}
    assert ledger.answers.keys() == {"good", *FLAWED}
    assert ledger.flaws.keys() == {"cut", "empty", "json", "none", "refused", "schema"}
    # And what does not agree is found.
    for number, (change, lost) in enumerate(
        {
            "DELETE FROM calls WHERE rowid = (SELECT min(rowid) FROM calls WHERE finish = 'stop')": 1,
            "UPDATE calls SET faults = '[]' WHERE faults LIKE '%late%'": 0,
            "UPDATE calls SET finish = 'stop' WHERE finish = 'refused'": 0,
        }.items()
    ):
        out = shutil.copytree(tmp_path / "a", tmp_path / f"changed{number}")
        with contextlib.closing(sqlite3.connect(out / "results.sqlite")) as db, db:
            db.execute(change)
        changed = balance(stats, out)
        assert changed.wrong
        assert changed.lost == lost
