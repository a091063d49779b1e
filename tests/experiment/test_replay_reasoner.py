"""``--reasoner replay``: the minds of a recorded run answer again, from the record alone."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import Results
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import running


class Recorded:
    """A run that was recorded; its server is gone."""

    def __init__(self, out: Path) -> None:
        self.out = out
        with running("tests.reasoning.llm.player:plays") as server:
            self.reasoner = f"agent_0=rules,*={server.name()}"
            run(reasoner=self.reasoner, episodes=2, max_steps=12, retries=1, sampling={"*": {"seed": 7}}, out=out)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("again") / "run")


@pytest.mark.heavy
def test_another_run_is_played_from_its_record_and_is_a_whole_run_then(recorded: Recorded, tmp_path: Path) -> None:
    out = tmp_path / "again"
    run(reasoner=f"replay:{recorded.out}", episodes=2, max_steps=12, out=out)
    assert logs(out) == logs(recorded.out)
    held = RunFolder(out).experiment()
    assert held == RunFolder(recorded.out).experiment()
    assert held.reasoner == recorded.reasoner
    with CallStore(out / "results.sqlite", readonly=True) as new, CallStore(recorded.out / "results.sqlite") as old:
        assert [row._replace(cached=False) for row in new.rows()] == old.rows()
        assert all(row.cached for row in new.rows())
        assert new.spent(lambda *_: None).tokens.likely == 0
    assert command(["replay", str(out)]) == 0


def test_a_run_that_was_killed_goes_on_from_its_own_record(recorded: Recorded, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(recorded.out, out)
    next(out.glob("logs/*/0002*")).unlink()
    with contextlib.closing(sqlite3.connect(out / "results.sqlite")) as database, database:
        assert database.execute("DELETE FROM episodes WHERE episode = 2").rowcount == 1
    # The same command as the recorded one, but for the mind.
    arguments = ["run", "cube", "--episodes", "2", "--max-steps", "12", "--out", str(out), "--reasoner", "replay"]
    assert command(arguments) == 0
    assert logs(out) == logs(recorded.out)


def test_what_is_not_on_record_is_named_and_nothing_is_asked(recorded: Recorded, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not on record: a replay asks no model"):
        run(reasoner=f"replay:{recorded.out}", episodes=3, max_steps=12, out=tmp_path / "longer")
    with pytest.raises(UserError, match="was another request when it was recorded: the temperature was"):
        run(
            reasoner=f"replay:{recorded.out}",
            sampling={"*": {"seed": 7, "temperature": 0.1}},
            max_steps=12,
            out=tmp_path / "cooler",
        )
    with CallStore(tmp_path / "cooler" / "results.sqlite", readonly=True) as store:
        assert store.count() == 0


@pytest.mark.parametrize(
    ("reasoner", "says"),
    [
        ("replay", "holds none; name another run's as replay:DIR"),
        ("replay:nowhere", "nowhere holds none"),
        ("agent_0=replay:nowhere,*=rules", "replay answers for all reasoners of a run"),
    ],
)
def test_there_must_be_a_record(reasoner: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["run", "cube", "--reasoner", reasoner, "--out", str(tmp_path / "new")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_command_prints_a_run_that_is_finished(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "cube", "--episodes", "2", "--max-steps", "12", "--out", str(recorded.out)]
    assert command([*arguments, "--reasoner", "replay", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["episodes"]) == 2


def test_what_a_record_lacks_ends_only_what_needs_it(tmp_path: Path) -> None:
    """A cell, and an episode of a method that does not learn, may be whole on record where one before it is not."""
    out = tmp_path / "run"
    with running("tests.reasoning.llm.player:plays") as server:
        run(method=["zero_shot", "drwell"], reasoner=server.name(), episodes=2, max_steps=12, out=out)
    before = {path.parent.name + path.name: path.read_bytes() for path in out.glob("logs/*/*.zst")}
    with contextlib.closing(sqlite3.connect(out / "results.sqlite")) as database, database:
        database.execute("DELETE FROM episodes")
        database.execute("DELETE FROM calls WHERE cell = 'zero_shot-s0' AND episode = 1")
        database.execute("DELETE FROM calls WHERE cell = 'drwell-s0' AND episode = 2")
    with pytest.raises(UserError, match=r"zero_shot.plan 1 of agent_0, episode 1 of zero_shot-s0 is not on record"):
        run(method=["zero_shot", "drwell"], reasoner="replay", episodes=2, max_steps=12, out=out)
    with Results(out / "results.sqlite", readonly=True) as results:
        assert [(row.cell, row.episode) for row in results.rows()] == [("drwell-s0", 1), ("zero_shot-s0", 2)]
    for name in ("drwell-s00001", "zero_shot-s00002"):
        assert next(out.glob(f"logs/{name[:-4]}/{name[-4:]}*")).read_bytes() == before[f"{name}.jsonl.zst"]


@pytest.mark.parametrize(
    ("fields", "says"), [({"level": "n4"}, "level paper-n2, not n4"), ({}, "max_steps 12, not 500")]
)
def test_a_record_of_something_else_is_refused_before_anything_is_written(
    recorded: Recorded, tmp_path: Path, fields: dict[str, str], says: str
) -> None:
    with pytest.raises(UserError, match=f"was run with {says}"):
        run(reasoner=f"replay:{recorded.out}", out=tmp_path / "new", **fields)  # type: ignore[arg-type]
    assert not (tmp_path / "new").exists()


def test_nobody_is_asked_so_nothing_is_expected(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    reasoner = f"replay:{recorded.out}"
    assert command(["run", "cube", "--reasoner", reasoner, "--estimate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expected"] == []
    assert command(["doctor", "--reasoner", reasoner]) == 0
    assert "nobody is asked" in capsys.readouterr().out
