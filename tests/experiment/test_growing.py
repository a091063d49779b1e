"""Runs grow: the same folder with more seeds, episodes, methods or levels runs what is missing, and nothing else."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from teamworld import run
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.comparison_runs import recorded
from teamworld.experiment.runner import run as run_experiment
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from tests.experiment.ledger import plays

#: DR. WELL learns from episode to episode; COELA's messages go by a rule of its own.
METHODS, SEEDS, EPISODES = ["drwell", "zero_shot", "coela"], [0, 1, 10], 3
WHOLE: dict[str, Any] = {"level": "n1", "max_steps": 8, "methods": METHODS, "seeds": SEEDS, "episodes": EPISODES}
#: Orders in which a run grows; GROWING_ORDERS=50 plays more.
COUNT = 5


def outcomes(folder: Path) -> list[tuple[object, ...]]:
    """What stands in the table, but for the seconds that it took, and the digest of a log that names a registration."""
    rows = RunFolder(folder).finished(RunFolder(folder).experiment())
    return [(row.cell, row.episode, row.summary) for _, row in rows]


def unregistered(folder: Path) -> dict[str, Any]:
    """What the experiment file says, but for the steps in which the run grew."""
    held: dict[str, Any] = yaml.safe_load(RunFolder(folder).experiment_file.read_text("utf-8"))
    return {name: value for name, value in held.items() if name != "registered"}


def part(draws: random.Random) -> dict[str, Any]:
    """Some of the methods and seeds, in any order, and fewer episodes or all."""
    some = {name: draws.sample(WHOLE[name], draws.randint(1, len(WHOLE[name]))) for name in ("methods", "seeds")}
    return WHOLE | some | {"episodes": draws.randint(1, EPISODES)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_experiment(build(WHOLE), folder)
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize("order", range(int(os.environ.get("GROWING_ORDERS", COUNT))))
def test_any_order_of_growing_ends_in_the_episodes_of_one_run(tmp_path: Path, whole: Path, order: int) -> None:
    draws, folder = random.Random(order), tmp_path / "run"

    def kill(row: EpisodeRow) -> None:
        if draws.random() < 0.05:
            raise KeyboardInterrupt

    for fields in (*(part(draws) for _ in range(draws.randint(1, 4))), WHOLE):
        while True:
            try:
                run_experiment(build(fields), folder, kill)
                break
            except KeyboardInterrupt:
                continue
    assert plays(folder) == plays(whole)
    assert outcomes(folder) == outcomes(whole)
    assert unregistered(folder) == unregistered(whole)


def test_what_is_finished_is_not_played_again_and_what_was_asked_before_stays(tmp_path: Path, whole: Path) -> None:
    folder = tmp_path / "run"
    run_experiment(build(WHOLE | {"methods": ["drwell"], "seeds": [0, 1]}), folder)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.zst")}
    rows = run_experiment(build(WHOLE | {"methods": ["coela"], "seeds": [10], "episodes": 1}), folder)
    assert len(rows) == 2 * 3 * EPISODES  # union: two methods, three seeds, no episode less
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert RunFolder(folder).experiment().methods == ("drwell", "coela")
    ours = {log: data for log, data in plays(whole).items() if "zero_shot" not in str(log)}
    assert plays(folder) == ours


def test_the_refusal_names_the_field_and_what_to_do(tmp_path: Path, whole: Path) -> None:
    with pytest.raises(UserError, match=r"its max_steps is 8, not 9, .*; set max_steps back, or use another --out"):
        run_experiment(build(WHOLE | {"max_steps": 9}), whole)
    with pytest.raises(UserError, match=r"its drwell\.explore is 6, not 2"):
        run_experiment(build(WHOLE | {"methods": ["drwell"], "options": {"drwell": {"explore": 2}}}), whole)
    with pytest.raises(UserError, match=r"its messages\.loss of drwell is 0\.0, not 0\.5"):
        run_experiment(build(WHOLE | {"options": {"messages": {"loss": 0.5}}}), whole)
    with pytest.raises(UserError, match="its level is n1, not n2"):
        run_experiment(build(WHOLE | {"level": "n2"}), whole)


def test_new_methods_bring_options_of_their_own(tmp_path: Path) -> None:
    folder, few = tmp_path / "run", {"methods": ["zero_shot"], "seeds": [0], "episodes": 1}
    run_experiment(build(WHOLE | few), folder)
    options = {"drwell:mine": {"explore": 2}}
    run_experiment(build(WHOLE | few | {"methods": ["drwell:mine"], "options": options}), folder)
    assert RunFolder(folder).experiment().options["drwell:mine"]["explore"] == 2
    assert run_experiment(build(WHOLE | few), folder)[-1].method == "drwell:mine"  # it is there without being named


def test_a_run_that_began_with_world_models_takes_more_episodes_and_no_more_cells(tmp_path: Path, whole: Path) -> None:
    fields = WHOLE | {"methods": ["drwell"], "seeds": [0], "episodes": 1, "memory": str(whole)}
    run_experiment(build(fields), tmp_path / "run")
    assert len(run_experiment(build(fields | {"episodes": 2}), tmp_path / "run")) == 2
    with pytest.raises(UserError, match="may have changed since"):
        run_experiment(build(fields | {"seeds": [1]}), tmp_path / "run")


# ---- grids and comparisons


def grid_file(folder: Path, **fields: Any) -> str:
    path = folder / "grid.yaml"
    base = {"methods": ["zero_shot"], "max_steps": 8, "seeds": [0], "grid": {"level": ["n1"]}}
    path.write_text(yaml.safe_dump(base | fields))
    return str(path)


@pytest.mark.heavy
def test_a_grid_takes_more_levels_seeds_and_methods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert command(["run", grid_file(tmp_path), "--out", out]) == 0
    assert command(["run", grid_file(tmp_path, grid={"level": ["n2"]}, seeds=[1]), "--out", out]) == 0
    assert command(["run", grid_file(tmp_path, methods=["greedy"]), "--out", out]) == 0
    held = yaml.safe_load((tmp_path / "out" / "grid.yaml").read_text())
    assert (held["grid"]["level"], held["seeds"], held["methods"]) == (["n1", "n2"], [0, 1], ["zero_shot", "greedy"])
    once = tmp_path / "once"
    everything = grid_file(tmp_path, grid={"level": ["n1", "n2"]}, seeds=[0, 1], methods=["zero_shot", "greedy"])
    assert command(["run", everything, "--out", str(once)]) == 0
    assert {level: plays(tmp_path / "out" / level) for level in ("level=n1", "level=n2")} == {
        level: plays(once / level) for level in ("level=n1", "level=n2")
    }
    capsys.readouterr()
    assert command(["run", grid_file(tmp_path, max_steps=9), "--out", out]) == 2
    assert "its max_steps is 8, not 9" in capsys.readouterr().err
    assert command(["run", grid_file(tmp_path, grid={"level": ["n1"], "retries": [1]}), "--out", out]) == 2
    assert "its grid is" in capsys.readouterr().err
    assert yaml.safe_load((tmp_path / "out" / "grid.yaml").read_text()) == held


@pytest.mark.heavy
def test_what_exists_is_compared_and_nothing_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, method in (("a", "drwell,greedy"), ("b", "zero_shot,greedy")):
        run("cube", level="n1", method=method.split(","), seeds=[0, 1, 2], max_steps=8, out=tmp_path / name)
    run("cube", level="n2", method="drwell", seeds=[0, 1], max_steps=8, out=tmp_path / "c")
    a, b, c = (str(tmp_path / name) for name in "abc")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert command(["compare", a, b, "--metrics", "steps"]) == 0
    shown = capsys.readouterr().out
    assert "between drwell and zero_shot" in shown
    assert "over 3 paired observations" in shown
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    parts = recorded([tmp_path / "a", tmp_path / "b"])
    assert [dict(part.names) for part in parts] == [
        {"drwell": "drwell", "greedy": "greedy"},
        {"zero_shot": "zero_shot"},
    ]
    assert [part.setting.name for part in recorded([tmp_path / "a", tmp_path / "c"])] == ["level=n1", "level=n2"]
    twice = recorded([tmp_path / "a", tmp_path / "a"], references=False)
    assert [list(part.names.values()) for part in twice] == [[f"drwell ({a})"], [f"drwell ({a})"]]
    assert command(["compare", a, b, "--out", str(tmp_path / "out"), "--metrics", "steps"]) == 0
    assert (tmp_path / "out" / "comparison.md").exists()
    capsys.readouterr()
    for wrong, why in (
        ([a, "drwell"], "methods or folders"),
        ([a, "--seeds", "3"], "leave out --seeds"),
        ([a, "--figures"], "add --out"),
        ([str(tmp_path)], "holds several runs"),
    ):
        assert command(["compare", *wrong]) == 2
        assert why in capsys.readouterr().err
    assert command(["compare", c, "--metrics", "steps"]) == 0


def test_reports_and_metrics_of_several_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert command(["run", grid_file(tmp_path, grid={"level": ["n1", "n2"]}), "--out", out]) == 0
    capsys.readouterr()
    assert command(["report", out]) == 0
    assert "level=n2: cube n2: methods" in capsys.readouterr().out
    assert command(["metrics", out]) == 0
    assert "cube n2: 1 episode" in capsys.readouterr().out
    assert command(["compare", out, "--metrics", "steps"]) == 0
    assert command(["view", out, "--export", str(tmp_path / "x.html")]) == 2
    assert "holds several runs: name one of them, such as" in capsys.readouterr().err


@pytest.mark.heavy
def test_run_and_report_print_the_same_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds from 7 to 12: as text 10 comes before 7, and the order of seeds shows in bootstrap intervals."""
    out = str(tmp_path / "run")
    arguments = ["--method", "drwell,zero_shot,greedy", "--seed", "7", "--seeds", "6"]
    assert command(["run", "cube", "--level", "n2", *arguments, "--out", out]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "[" in line]
    assert command(["report", out]) == 0
    reported = capsys.readouterr().out
    assert told
    assert all(line in reported for line in told if "interval" not in line)
