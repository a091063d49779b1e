"""Runs of variants, of fresh instances, and of world models brought along: on disk, resumed, replayed, refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from teamworld import run
from teamworld.cli import run as command
from teamworld.cli.options import parse_options
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.spec import RunCell, build, load
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.experiment.warm_start import gather
from teamworld.memory.store import MemoryStore
from teamworld.record import EpisodeStart, QuestionAsked, read_log
from tests.experiment.ledger import logs, play_of
from tests.experiment.test_runs import change, scores, stopped_after

METHODS = ["drwell", "drwell:no_memory", "drwell:free_chat", "drwell:mine"]
OPTIONS: dict[str, dict[str, Any]] = {"drwell:mine": {"explore": 2, "freeze_after": 1}}
SHORT: dict[str, Any] = {"method": METHODS, "options": OPTIONS, "episodes": 2, "max_steps": 40}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of variants."""
    folder = tmp_path_factory.mktemp("variants") / "run"
    run("cube", **SHORT, seed=[0, 1], out=folder)
    return folder


def differences(folder: Path, scratch: Path) -> list[str | None]:
    scratch.mkdir()
    return [episode.difference for episode in replay(RunFolder(folder), RunFolder(folder).experiment(), scratch)]


def world_models(folder: Path) -> dict[str, object]:
    with MemoryStore(folder / "memory.sqlite", readonly=True) as memory:
        return {name: memory.deltas(name) for name in memory.runs()}


def start_of(folder: Path, cell: RunCell, episode: int) -> EpisodeStart:
    start = next(iter(read_log(RunFolder(folder).log(cell, episode))))
    assert isinstance(start, EpisodeStart)
    return start


@pytest.mark.heavy
def test_rows_have_labels_and_folders_have_names_for_every_file_system(finished: Path) -> None:
    experiment = RunFolder(finished).experiment()
    names = sorted(folder.name for folder in (finished / "logs").iterdir())
    assert names == sorted(f"{label.replace(':', '-')}-s{seed}" for label in METHODS for seed in (0, 1))
    assert list(experiment.methods) == METHODS
    assert experiment.options["drwell:no_memory"]["memory"] == "none"
    assert experiment.options["drwell:mine"]["explore"] == 2
    assert experiment.resolved() == experiment
    with MemoryStore(finished / "memory.sqlite", readonly=True) as memory:
        assert set(memory.runs()) == {
            f"drwell{name}-s{seed}" for name in ("", "-free_chat", "-mine") for seed in (0, 1)
        }
        assert memory.episodes("drwell-mine-s0") == (1,)


def test_the_log_names_the_method_and_its_options_not_the_label(tmp_path: Path, finished: Path) -> None:
    for label in METHODS:
        start = start_of(finished, RunCell(label, 0), 1)
        assert start.method == "drwell"
        assert start.method_options == RunFolder(finished).experiment().options[label]
    same: dict[str, Any] = {"method": "drwell:same", "options": {"drwell:same": {"explore": 6}}}
    run("cube", **same, episodes=2, max_steps=40, out=tmp_path / "r")
    for episode in (1, 2):  # another label for the same options: the same episode
        log = RunFolder(tmp_path / "r").log(RunCell("drwell:same", 0), episode)
        assert play_of(log) == play_of(RunFolder(finished).log(RunCell("drwell", 0), episode))


@pytest.mark.heavy
@pytest.mark.parametrize("cell", ["drwell-s1", "drwell-mine-s0", "drwell-no_memory-s0"])
def test_a_stopped_run_of_variants_goes_on_to_the_same_bytes(tmp_path: Path, finished: Path, cell: str) -> None:
    stopped_after(tmp_path / "run", finished, cell, 2)
    rows = run("cube", **SHORT, seed=[0, 1], out=tmp_path / "run")
    assert scores(rows) == scores(run("cube", **SHORT, seed=[0, 1], out=finished))
    assert logs(tmp_path / "run") == logs(finished)
    assert world_models(tmp_path / "run") == world_models(finished)


@pytest.mark.heavy
def test_a_run_of_variants_replays(tmp_path: Path, finished: Path) -> None:
    assert differences(finished, tmp_path / "scratch") == [None] * 16


def test_a_resumed_run_does_not_learn_what_is_frozen(tmp_path: Path, finished: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "memory.sqlite").unlink()
    run("cube", **SHORT, seed=[0, 1], out=tmp_path / "run")
    with MemoryStore(tmp_path / "run" / "memory.sqlite") as memory:
        assert memory.episodes("drwell-mine-s0") == (1,)
        assert memory.episodes("drwell-s0") == (1, 2)
        assert memory.episodes("drwell-no_memory-s0") == ()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"methods": ["drwell:no_memry"]}, "did you mean 'no_memory'"),
        ({"methods": ["drwell:mine"]}, "needs options"),
        ({"methods": ["drwell"], "options": {"drwell:mine": {"explore": 1}}}, "not part of this run"),
        ({"methods": ["drwell:no_memory"], "options": {"drwell": {"explor": 1}}}, "did you mean 'explore'"),
        ({"methods": ["random"], "options": {"drwell": {"explore": 1}}}, "not part of this run"),
        ({"instances": "new"}, "'fixed' or 'fresh'"),
        ({"memory": 3}, "memory"),
    ],
)
def test_experiments_that_cannot_be_run(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        build(fields).resolved()
    assert "\n" not in str(caught.value)


@pytest.mark.heavy
def test_a_file_the_command_line_and_python_mean_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "methods: [drwell, 'drwell:no_memory', 'drwell:mine']\nmax_steps: 8\ninstances: fresh\noptions:\n"
    text += "  drwell: {explore: 3}\n  drwell:mine: {memory: library}\n"
    (tmp_path / "e.yaml").write_text(text)
    flags = ["--method", "drwell,drwell:no_memory", "--method", "drwell:mine"]
    flags += ["--max-steps", "8", "--instances", "fresh"]
    flags += ["--set", "drwell.explore=3", "--set", "drwell:mine.memory=library"]
    assert command(["run", str(tmp_path / "e.yaml"), "--out", str(tmp_path / "file")]) == 0
    assert command(["run", "cube", *flags, "--out", str(tmp_path / "flags")]) == 0
    options = parse_options(["drwell.explore=3", "drwell:mine.memory=library"])
    methods = ["drwell", "drwell:no_memory", "drwell:mine"]
    run(method=methods, max_steps=8, instances="fresh", options=options, out=tmp_path / "python")
    result = [RunFolder(tmp_path / name).experiment() for name in ("file", "flags", "python")]
    assert result[0] == result[1] == result[2]
    assert logs(tmp_path / "file") == logs(tmp_path / "flags") == logs(tmp_path / "python")
    out = capsys.readouterr().out
    assert "drwell:no_memory" in out
    assert command(["run", "cube", *flags, "--out", str(tmp_path / "flags"), "--json"]) == 0  # goes on
    rows = json.loads(capsys.readouterr().out)["episodes"]
    assert [row["method"] for row in rows] == ["drwell", "drwell:no_memory", "drwell:mine"]


def test_many_variants_still_make_a_folder_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"drwell:{'long_' * 7}{number}" for number in range(9)]
    flags = [part for name in names for part in ("--set", f"{name}.explore=1")]
    assert command(["run", "cube", "--method", ",".join(names), *flags, "--max-steps", "1"]) == 0
    assert len(next((tmp_path / "runs").iterdir()).name) < 140
    capsys.readouterr()


# ---- fresh instances


@pytest.mark.heavy
def test_fresh_instances_differ_by_episode_and_seed_and_replay(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fields: dict[str, Any] = {"level": "n2", "method": ["drwell:class_identity", "zero_shot"], "max_steps": 20}
    run("cube", **fields, episodes=3, seed=[0, 1], instances="fresh", out=folder)
    starts = {
        (label, seed, episode): start_of(folder, RunCell(label, seed), episode)
        for label in fields["method"]
        for seed in (0, 1)
        for episode in (1, 2, 3)
    }
    placed = {key: (start.world_seed, str(start.static), str(start.goals)) for key, start in starts.items()}
    assert len({world for world, *_ in placed.values()}) == 6
    for seed in (0, 1):
        for episode in (1, 2, 3):  # the same instance for every method: comparisons are paired
            assert placed["drwell:class_identity", seed, episode] == placed["zero_shot", seed, episode]
    assert {start.seed for start in starts.values()} == {0, 1}
    assert differences(folder, tmp_path / "scratch") == [None] * 12
    with pytest.raises(UserError, match="its instances is fresh, not fixed"):
        run("cube", **fields, episodes=3, seed=[0, 1], out=folder)


def test_fixed_instances_are_one(tmp_path: Path) -> None:
    run("cube", level="n2", method="random", episodes=2, max_steps=5, seed=7, out=tmp_path / "run")
    assert [start_of(tmp_path / "run", RunCell("random", 7), episode).world_seed for episode in (1, 2)] == [7, 7]


# ---- beginning with a world model


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learned."""
    folder = tmp_path_factory.mktemp("learned") / "run"
    run("cube", level="n4", method=["drwell", "drwell:no_memory", "zero_shot"], episodes=3, seed=[0, 1], out=folder)
    return folder


def answers_of(folder: Path) -> list[Mapping[str, Any]]:
    events = (event for path in sorted((folder / "logs").rglob("*.zst")) for event in read_log(path))
    return [event.answer for event in events if isinstance(event, QuestionAsked)]


def frozen(source: Path, out: Path, **changes: object) -> list[EpisodeRow]:
    all_given: dict[str, Any] = {
        "level": "n4",
        "method": "drwell:frozen",
        "episodes": 2,
        "memory": source,
        "out": out,
    } | changes
    return run("cube", **all_given)


@pytest.mark.heavy
def test_a_frozen_run_reads_what_another_learned_and_is_whole_by_itself(tmp_path: Path, learned: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(learned, source)
    rows = frozen(source, tmp_path / "warm")
    cold = frozen(source, tmp_path / "cold", memory=None)
    assert len(rows) == len(cold) == 2
    assert answers_of(tmp_path / "warm") != answers_of(tmp_path / "cold")
    with (
        MemoryStore(tmp_path / "warm" / "before.sqlite", readonly=True) as brought,
        MemoryStore(source / "memory.sqlite", readonly=True) as theirs,
    ):
        assert brought.deltas("drwell-frozen-s0") == theirs.deltas("drwell-s0")
    with MemoryStore(tmp_path / "warm" / "memory.sqlite", readonly=True) as memory:
        assert memory.runs() == ()
    shutil.rmtree(source)
    assert frozen(source, tmp_path / "warm") == rows  # goes on, and finds all done
    assert differences(tmp_path / "warm", tmp_path / "scratch") == [None] * 2
    for path in (tmp_path / "warm" / "logs").rglob("*.zst"):
        assert "source" not in "".join(map(str, read_log(path)))


def test_what_goes_on_learning_continues_as_if_it_had_never_stopped(tmp_path: Path, learned: Path) -> None:
    """Episode 1 of the second run knows what episode 4 of the first would: their first plans are from one memory."""
    run("cube", level="n4", method="drwell", episodes=1, memory=learned, out=tmp_path / "second")
    run("cube", level="n4", method="drwell", episodes=1, memory=tmp_path / "second", out=tmp_path / "third")
    with (
        MemoryStore(tmp_path / "third" / "before.sqlite", readonly=True) as brought,
        MemoryStore(learned / "memory.sqlite", readonly=True) as first,
        MemoryStore(tmp_path / "second" / "memory.sqlite", readonly=True) as second,
    ):
        assert brought.episodes("drwell-s0") == (1, 2, 3, 4)
        assert brought.deltas("drwell-s0", up_to=3) == first.deltas("drwell-s0")
        assert [one.tasks for one in brought.deltas("drwell-s0")[3:]] == [
            one.tasks for one in second.deltas("drwell-s0")
        ]


def test_whose_memory_a_cell_takes(learned: Path) -> None:
    def taken(fields: Mapping[str, Any]) -> dict[str, int]:
        brought = gather(build({"memory": str(learned), **fields}).resolved())
        with MemoryStore(learned / "memory.sqlite", readonly=True) as memory:
            deltas = {seed: list(memory.deltas(f"drwell-s{seed}")) for seed in (0, 1)}
        return {name: next(seed for seed, result in deltas.items() if result == mine) for name, mine in brought.items()}

    assert taken({"methods": ["drwell"], "seeds": [0, 1]}) == {"drwell-s0": 0, "drwell-s1": 1}
    assert taken({"methods": ["drwell", "zero_shot"], "seeds": [9]}) == {"drwell-s9": 0}  # the first that has one
    assert taken({"methods": ["drwell:library_only"], "seeds": [1]}) == {"drwell-library_only-s1": 1}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"memory": "nowhere"}, "holds no run"),
        ({"method": "zero_shot"}, "none of zero_shot has a memory"),
        ({"method": "drwell:class_identity"}, "give both the same task_identity"),
    ],
)
def test_memories_that_cannot_be_brought(tmp_path: Path, learned: Path, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        frozen(learned, tmp_path / "run", **fields)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_run_without_a_fitting_memory_is_refused(tmp_path: Path) -> None:
    run("cube", method=["zero_shot", "drwell:no_memory"], max_steps=5, out=tmp_path / "none")
    with pytest.raises(UserError, match="no world model for drwell:frozen"):
        frozen(tmp_path / "none", tmp_path / "run")
    with pytest.raises(UserError, match="holds another experiment"):
        frozen(tmp_path / "none", tmp_path / "none")


def test_another_memory_on_the_same_folder_is_refused(tmp_path: Path, learned: Path) -> None:
    frozen(learned, tmp_path / "run", max_steps=10)
    with pytest.raises(UserError, match="its memory is"):
        frozen(learned, tmp_path / "run", max_steps=10, memory=None)


def test_a_kill_while_the_memory_was_copied_does_no_harm(tmp_path: Path, learned: Path) -> None:
    rest = tmp_path / "run"
    rest.mkdir()
    for name in (".lock", "before.sqlite.tmp", "before.sqlite.tmp-wal", ".before.sqlite.tmp.12ab.new", "before.sqlite"):
        (rest / name).write_bytes(b"half")
    rows = frozen(learned, rest, max_steps=20)
    assert scores(rows) == scores(frozen(learned, tmp_path / "quiet", max_steps=20))
    assert not list(rest.glob("*.tmp*"))


@pytest.mark.heavy
def test_a_lost_memory_is_told_and_a_damaged_one_too(tmp_path: Path, learned: Path) -> None:
    folder = tmp_path / "run"
    frozen(learned, folder, max_steps=20)
    change(folder / "results.sqlite", "DELETE FROM episodes WHERE episode = 2")
    kept = (folder / "before.sqlite").read_bytes()
    (folder / "before.sqlite").write_bytes(kept[: len(kept) // 2])
    with pytest.raises(UserError, match="damaged"):
        frozen(learned, folder, max_steps=20)
    (folder / "before.sqlite").unlink()
    with pytest.raises(UserError, match="is missing"):
        frozen(learned, folder, max_steps=20)
    (folder / "before.sqlite").write_bytes(kept)
    assert len(frozen(learned, folder, max_steps=20)) == 2


def test_the_experiment_file_names_the_memory_as_it_was_given(tmp_path: Path, learned: Path) -> None:
    frozen(learned, tmp_path / "run", max_steps=5)
    assert load(tmp_path / "run" / "experiment.yaml")["memory"] == learned.as_posix()
    assert RunFolder(tmp_path / "run").experiment().resolved().memory == learned.as_posix()
