"""One budget for several runs, and what they take together told before the first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("pydantic_ai")

from teamworld.cli import run as command
from teamworld.experiment import grid
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.budget import OutOfBudget
from tests.reasoning.llm.server import Peer


def file(server: Peer, path: Path) -> Path:
    data: dict[str, Any] = {
        "methods": ["drwell"],
        "max_steps": 8,
        "grid": {"level": ["paper-n2", "n4"], "reasoner": [server.name(), "rules"]},
    }
    path.write_text(yaml.safe_dump(data))
    return path


def tokens(folder: Path) -> float:
    with CallStore(RunFolder(folder).results_file, readonly=True) as calls:
        return calls.spent(lambda *_: None).tokens.likely


def spent(out: Path) -> list[float]:
    return [tokens(folder) for folder, _ in grid.runs(out)]


def test_a_grid_is_costed_before_it_starts(server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file(server, tmp_path / "grid.yaml")
    server.reset()
    assert command(["run", str(path), "--out", str(tmp_path / "out"), "--estimate"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("2 runs together:\nexpected of ")  # those on rules cost nothing
    assert server.stats()["completions"] == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.heavy
def test_a_budget_holds_for_all_runs_together(server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = file(server, tmp_path / "grid.yaml"), tmp_path / "out"
    assert command(["run", str(path), "--out", str(out)]) == 0
    assert capsys.readouterr().err.count("runs together") == 1  # told once, and before
    whole = spent(out)
    assert sum(taken > 0 for taken in whole) == 2
    first, last = (taken for taken in whole if taken)

    short = tmp_path / "short"
    limit = round(first + last / 2)
    assert command(["run", str(path), "--out", str(short), "--budget", f"{limit}tok"]) == 2
    assert "with a larger --budget" in capsys.readouterr().err
    parts = [part for part in grid.expand(yaml.safe_load(path.read_text())) if part.values["reasoner"] != "rules"]
    one, other = (tokens(short / part.name) for part in parts)
    assert one == first
    assert 0 < other < last
    assert command(["run", str(path), "--out", str(short), "--budget", f"{round(first + last) + 1}tok", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"].keys() == {
        part.name for part in grid.expand(yaml.safe_load(path.read_text()))
    }
    assert spent(short) == whole


def test_where_nothing_is_left_nothing_begins(server: Peer, tmp_path: Path) -> None:
    path, out = file(server, tmp_path / "grid.yaml"), tmp_path / "out"
    assert command(["run", str(path), "--out", str(out)]) == 0
    (asked, one), (_, other) = (
        (folder, experiment) for folder, experiment in grid.runs(out) if experiment.reasoner != "rules"
    )
    budget = SharedBudget(RunOptions(budget="1tok"), [folder for folder, _ in grid.runs(out)])
    with pytest.raises(OutOfBudget, match="spent by the other runs"):
        budget.options_for(tmp_path / "new", other)
    assert budget.options_for(asked, one) == RunOptions()  # all its episodes are there: nothing is asked
    assert budget.options_for(tmp_path / "new", other.model_copy(update={"reasoner": "rules"})) == RunOptions()
    assert SharedBudget(RunOptions(), [asked]).options_for(asked, one) == RunOptions()


def test_the_sections_of_a_page_share_one_budget(
    server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = {"methods": ["drwell"], "max_steps": 8, "level": "paper-n2", "reasoner": server.name()}
    sections = [{"name": name, "title": name, "experiment": experiment} for name in ("one", "two")]
    path, out = tmp_path / "page.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump({"title": "A page", "sections": sections}))
    assert command(["evidence", str(path), "--out", str(out)]) == 0
    each = tokens(out / "one" / "run")
    short = tmp_path / "short"
    assert command(["evidence", str(path), "--out", str(short), "--budget", f"{round(each)}tok"]) == 2
    assert "is spent by the other runs" in capsys.readouterr().err  # of the section before
    assert tokens(short / "one" / "run") == each
    assert not (short / "two" / "run" / "results.sqlite").exists()
