"""Shards: each episode in one of them, whatever the order and the kills, and joined they are one run's bytes."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.merge import merge
from teamworld.experiment.run_options import RunOptions, Shard, parse_shard
from teamworld.experiment.runner import run
from teamworld.experiment.shards import count, select
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer

#: DR. WELL learns from episode to episode; COELA's messages go by a rule of its own.
WHOLE: dict[str, Any] = {
    "level": "n1",
    "max_steps": 8,
    "methods": ["drwell", "zero_shot", "coela"],
    "seeds": [0, 1, 2, 10],
    "episodes": 3,
}
SHARDS = 16
COMPARED = ["compare", "drwell", "zero_shot", "--level", "n2", "--seeds", "2", "--max-steps", "12"]


def play(out: Path, shard: str | None, kill_after: int = 0, **changes: Any) -> list[EpisodeRow]:
    """Run a shard; with ``kill_after`` only so many episodes."""
    played: list[EpisodeRow] = []

    def step(row: EpisodeRow) -> None:
        played.append(row)
        if len(played) == kill_after:
            raise KeyboardInterrupt

    return run(build(WHOLE | changes), out, step, RunOptions(shard=shard, processes=1))


def state(folder: Path) -> dict[str, object]:
    """All that a run holds, but the seconds that it took."""
    place = RunFolder(folder)
    with MemoryStore(place.memory_file, readonly=True) as memory:
        learned = {name: memory.deltas(name) for name in memory.runs()}
    with CallStore(place.results_file, readonly=True) as store:
        calls = [call._replace(seconds=0.0) for call in store.rows()]
    return {
        "logs": logs(folder),
        "rows": [row._replace(seconds=0.0) for _, row in place.finished(place.experiment())],
        "memory": learned,
        "calls": calls,
        "experiment": place.experiment_file.read_bytes(),
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    play(folder, None)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both shards of two, in folders 1 and 2."""
    folder = tmp_path_factory.mktemp("two")
    for number in (1, 2):
        play(folder / str(number), f"{number}/2")
    return folder


# ---- which episodes a shard has


@pytest.mark.parametrize("total", [1, 2, 3, 7, 16, 40])
def test_each_episode_is_in_one_shard_and_who_learns_stays_in_it(total: int) -> None:
    experiment = build(WHOLE).resolved()
    parts = [select(experiment, Shard(number, total)) for number in range(1, total + 1)]
    dealt = [(cell, episode) for part in parts for cell, numbers in part.items() for episode in numbers]
    assert sorted(dealt) == sorted((cell, n) for cell in experiment.cells() for n in (1, 2, 3))
    for part in parts:
        assert all(list(numbers) == [1, 2, 3] for cell, numbers in part.items() if cell.method == "drwell")
        assert list(part) == [cell for cell in experiment.cells() if cell in part]
    sizes = [count(part) for part in parts]
    assert max(sizes) - min(sizes) <= (1 if total <= 12 else 3)


def test_without_a_shard_all_is_run() -> None:
    experiment = build(WHOLE).resolved()
    assert {cell: list(numbers) for cell, numbers in select(experiment, None).items()} == {
        cell: [1, 2, 3] for cell in experiment.cells()
    }


def test_small_runs_do_not_all_fall_to_the_first_shards() -> None:
    taken = set()
    for seed in range(40):
        experiment = build(WHOLE | {"methods": ["zero_shot"], "seeds": [seed], "episodes": 1}).resolved()
        taken |= {number for number in range(1, 9) if select(experiment, Shard(number, 8))}
    assert taken == set(range(1, 9))


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "3", "a/b", "-1/4", "1/4/4", "1/1000000", "", "٣/٤"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--shard takes I/N"):
        RunOptions(shard=text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(parse_shard("3/16")) == "3/16"


# ---- joined they are one run


@pytest.mark.heavy
@pytest.mark.parametrize("order", range(2))
def test_shards_in_any_order_with_two_killed_and_repeated_are_one_run(tmp_path: Path, whole: Path, order: int) -> None:
    draws = random.Random(order)
    numbers = list(range(1, SHARDS + 1))
    draws.shuffle(numbers)
    experiment = build(WHOLE).resolved()
    several = [n for n in numbers if count(select(experiment, Shard(n, SHARDS))) > 1]
    resumed, elsewhere = several[:2]
    for number in numbers:
        folder, shard = tmp_path / "shards" / str(number), f"{number}/{SHARDS}"
        if number in (resumed, elsewhere):
            with pytest.raises(KeyboardInterrupt):
                play(folder, shard, kill_after=1)
        if number == elsewhere:
            folder = folder.with_name(f"{number}-again")  # what the killed one left is given too
        play(folder, shard)
    folders = list((tmp_path / "shards").iterdir())
    draws.shuffle(folders)
    (merged,) = merge(folders, tmp_path / "joined")
    assert (merged.wanted, merged.added, merged.missing, merged.why) == (36, 36, 0, "")
    assert state(tmp_path / "joined") == state(whole)


def test_what_is_stored_stands_in_the_order_of_one_run(tmp_path: Path, whole: Path, two: Path) -> None:
    merge([two / "2", two / "1"], tmp_path / "joined")
    dumps = []
    for folder in (whole, tmp_path / "joined"):
        with contextlib.closing(sqlite3.connect(folder / "memory.sqlite")) as db:
            dumps.append(list(db.iterdump()))
    assert dumps[0] == dumps[1]


def test_a_second_merge_changes_nothing_and_a_later_one_adds(tmp_path: Path, whole: Path, two: Path) -> None:
    out = tmp_path / "joined"
    (first,) = merge([two / "2"], out)
    assert (first.missing, first.why) == (36 - first.added, "no shard 1/2")
    (second,) = merge([two / "1"], out)
    assert (second.added, second.missing) == (36 - first.added, 0)
    before = contents(out)
    (third,) = merge([two / "1", two / "2", out], out)  # as by a shell's pattern, where that is among them
    assert (third.added, third.missing) == (0, 0)
    assert contents(out) == before
    assert state(out) == state(whole)


@pytest.mark.heavy
def test_a_merge_that_was_killed_goes_on(
    tmp_path: Path, whole: Path, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, commit, left = tmp_path / "joined", MemoryStore.commit, [3]

    def killed(self: MemoryStore, run: str, delta: MemoryDelta) -> None:
        commit(self, run, delta)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(MemoryStore, "commit", killed)
    with pytest.raises(KeyboardInterrupt):
        merge([two / "1", two / "2"], out)
    monkeypatch.undo()
    assert merge([two / "1", two / "2"], out)[0].missing == 0
    assert state(out) == state(whole)


@pytest.mark.heavy
def test_what_is_missing_is_played_by_the_ordinary_command(tmp_path: Path, whole: Path, two: Path) -> None:
    merge([two / "1"], tmp_path / "joined")
    play(tmp_path / "joined", None)
    assert {**state(tmp_path / "joined"), "experiment": 0} == {**state(whole), "experiment": 0}


def test_processes_play_a_shard_as_well(tmp_path: Path, two: Path) -> None:
    run(build(WHOLE), tmp_path / "1", running=RunOptions(shard="1/2", processes=2))
    assert state(tmp_path / "1") == state(two / "1")


def test_world_models_that_a_run_began_with_are_joined_once(tmp_path: Path, whole: Path) -> None:
    fields: dict[str, Any] = {"methods": ["drwell"], "seeds": [0, 1], "episodes": 2, "memory": str(whole)}
    play(tmp_path / "one", None, **fields)
    for number in (1, 2):
        play(tmp_path / str(number), f"{number}/2", **fields)
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "joined")
    assert state(tmp_path / "joined") == state(tmp_path / "one")
    assert (tmp_path / "joined" / "before.sqlite").exists()


# ---- what is refused


def test_a_shard_has_a_folder_of_its_own_and_does_not_grow(tmp_path: Path, two: Path, whole: Path) -> None:
    with pytest.raises(UserError, match="holds shard 1/2, not shard 2/2: each shard takes a folder of its own"):
        play(two / "1", "2/2")
    with pytest.raises(UserError, match="holds shard 1/2, not all of it"):
        play(two / "1", None)
    with pytest.raises(UserError, match="holds a whole run, not shard 1/2"):
        play(whole, "1/2")
    with pytest.raises(UserError, match="a shard does not grow"):
        play(two / "1", "1/2", seeds=[0, 1, 2, 10, 11])
    with pytest.raises(UserError, match="is shard 1/2 of a run: join all its shards first"):
        play(tmp_path / "new", None, memory=str(two / "1"))
    with pytest.raises(UserError, match="holds shard 1/2: use another --out"):
        merge([two / "2"], two / "1")


@pytest.mark.heavy
def test_shards_of_other_experiments_code_and_beginnings_are_refused(tmp_path: Path, two: Path) -> None:
    play(tmp_path / "other", "2/2", max_steps=9)
    with pytest.raises(UserError, match="of another experiment than .*: its max_steps is 9, not is 8"):
        merge([two / "1", tmp_path / "other"], tmp_path / "joined")
    shutil.copytree(two / "2", tmp_path / "2")
    file = tmp_path / "2" / "experiment.yaml"
    file.write_text(file.read_text().replace("- teamworld: ", "- teamworld: f"))
    parts = [two / "1", tmp_path / "2"]
    with pytest.raises(UserError, match="was played by other code than .*: its teamworld differs; .*--accept-changes"):
        merge(parts, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
    for _ in range(2):  # the second finds nothing to do
        (joined,) = merge(parts, tmp_path / "joined", accept_changes=True)
        assert joined.missing == 0
        ours, theirs = (RunFolder(part).codes() for part in parts)
        held = joined.folder.codes()
        assert [code["teamworld"] for code in held] == [ours[0]["teamworld"], theirs[0]["teamworld"]]
        assert held[1]["from"] == RunFolder(parts[0]).count_finished(RunFolder(parts[0]).experiment()) > 0


def test_shards_with_other_prompts_are_refused_whatever_is_accepted(tmp_path: Path, two: Path) -> None:
    shutil.copytree(two / "2", tmp_path / "2")
    file = tmp_path / "2" / "experiment.yaml"
    data = yaml.safe_load(file.read_text())
    name = next(iter(data["prompts"]))
    data["prompts"][name]["hash"] = "0" * 8
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(UserError, match=f"was played with another {re.escape(name)} than"):
        merge([two / "1", tmp_path / "2"], tmp_path / "joined", accept_changes=True)


def test_an_episode_that_was_played_differently_or_altered_is_refused(tmp_path: Path, two: Path) -> None:
    shutil.copytree(two / "2", tmp_path / "2")
    log = next((tmp_path / "2").glob("logs/zero_shot*/*.zst"))
    other = next(path for path in (tmp_path / "2").glob("logs/coela*/*.zst"))
    kept = log.read_bytes()
    shutil.copy(other, log)
    with pytest.raises(UserError, match="was altered since its episode was played"):
        merge([tmp_path / "2"], tmp_path / "joined")
    log.write_bytes(kept)
    db = sqlite3.connect(tmp_path / "2" / "results.sqlite")
    with db:
        db.execute("UPDATE episodes SET digest = 'x' WHERE cell LIKE 'coela%'")
    db.close()
    merge([two / "2"], tmp_path / "again")
    with pytest.raises(UserError, match=r"episode \d of coela-s\d+ was played twice, and differently"):
        merge([tmp_path / "2"], tmp_path / "again")


def test_a_shard_that_is_being_played_is_waited_for(tmp_path: Path, two: Path) -> None:
    with RunFolder(two / "1").locked(), pytest.raises(UserError, match="a process is running in"):
        merge([two / "1", two / "2"], tmp_path / "joined")


def test_what_is_no_shard_is_no_part_of_a_merge(tmp_path: Path, two: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder"):
        merge([tmp_path / "nothing"], tmp_path / "joined")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no run that has begun"):
        merge([tmp_path / "empty"], tmp_path / "joined")
    with pytest.raises(UserError, match="lies in"):
        merge([two / "1"], two / "1" / "joined")
    with pytest.raises(UserError, match="which folders"):
        merge([], tmp_path / "joined")


# ---- the commands


@pytest.mark.heavy
def test_the_commands_run_shards_join_them_and_tell_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", "cube", "--level", "n1", "--max-steps", "8", "--method", "drwell,zero_shot", "--seeds", "2"]
    for number in (1, 3):
        assert command([*asked, "--shard", f"{number}/3", "--out", str(tmp_path / str(number))]) == 0
    assert "shard 3/3 with 1 episode is in" in capsys.readouterr().out
    assert command(["merge", str(tmp_path / "1"), str(tmp_path / "3"), "-o", str(tmp_path / "all")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.strip().splitlines()[-1] == f"2 of 4 episodes are missing in {tmp_path / 'all'}: no shard 2/3"
    assert command([*asked, "--shard", "2/3", "--out", str(tmp_path / "2"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"run": str(tmp_path / "2"), "shard": "2/3", "finished": 2}
    assert command(["merge", *(str(tmp_path / n) for n in "123"), "--out", str(tmp_path / "all")]) == 0
    assert "all 4 episodes are in" in capsys.readouterr().out
    assert command(["status", str(tmp_path / "2"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["wanted"] == 2
    assert command(["resume", str(tmp_path / "2"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] == 2
    assert command(["merge", str(tmp_path / "2")]) == 2
    assert "add --out DIR" in capsys.readouterr().err


def test_an_unfinished_shard_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields: dict[str, Any] = {"methods": ["drwell"], "seeds": [0], "episodes": 2}
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "1", "1/1", kill_after=1, **fields)
    assert command(["merge", str(tmp_path / "1"), "--out", str(tmp_path / "all"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["missing"], told["why"]) == (1, ["shard 1/1 has 1 of 2 episodes"])


@pytest.mark.heavy
def test_a_grid_is_joined_run_by_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "grid.yaml"
    file.write_text("methods: [zero_shot]\nmax_steps: 8\nseeds: [0, 1]\ngrid: {level: [n1, n2]}\n")
    for number in (1, 2):
        assert command(["run", str(file), "--shard", f"{number}/2", "--out", str(tmp_path / str(number))]) == 0
    assert command(["run", str(file), "--out", str(tmp_path / "one"), "--json"]) == 0
    assert command(["merge", str(tmp_path / "2"), str(tmp_path / "1"), "--out", str(tmp_path / "all")]) == 0
    for name in ("level=n1", "level=n2"):
        assert state(tmp_path / "all" / name) == state(tmp_path / "one" / name)
    shutil.rmtree(tmp_path / "1" / "level=n2")
    shutil.rmtree(tmp_path / "2" / "level=n2")
    capsys.readouterr()
    assert command(["merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out", str(tmp_path / "less")]) == 1
    assert "2 of 4 episodes are missing" in (told := capsys.readouterr().err)
    assert "level=n2: no shard has begun it" in told
    assert command(["merge", str(tmp_path / "1"), str(tmp_path / "1" / "level=n1"), "--out", str(tmp_path / "x")]) == 2
    assert "hold different things" in capsys.readouterr().err


@pytest.mark.heavy
def test_a_comparison_of_shards_has_the_tables_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command([*COMPARED, "--out", str(tmp_path / "one")]) == 0
    for number in (1, 2, 3):
        assert command([*COMPARED, "--shard", f"{number}/3", "--out", str(tmp_path / "s" / str(number))]) == 0
    assert command(["merge", *map(str, sorted((tmp_path / "s").iterdir())), "--out", str(tmp_path / "all")]) == 0
    played = {path: path.stat().st_mtime_ns for path in (tmp_path / "all").rglob("*.zst")}
    assert command([*COMPARED, "--out", str(tmp_path / "all")]) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "all").rglob("*.zst")} == played
    for end in ("md", "csv", "tex"):
        for path in (tmp_path / "one").glob(f"*.{end}"):
            assert (tmp_path / "all" / path.name).read_bytes() == path.read_bytes(), path.name
    assert command([*COMPARED, "--shard", "1/3", "--figures", "--out", str(tmp_path / "x")]) == 2
    capsys.readouterr()


@pytest.mark.heavy
def test_a_reproduction_of_shards_has_the_numbers_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    asked = ["reproduce", "drwell", "--quick", "--seeds", "2"]
    for number in (1, 2):
        assert command([*asked, "--shard", f"{number}/2", "--out", str(tmp_path / str(number))]) == 0
    assert command(["merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out", str(tmp_path / "all")]) == 0
    numbers = []
    for name in ("all", "one"):
        capsys.readouterr()
        assert command([*asked, "--json", "--out", str(tmp_path / name)]) == 0
        numbers.append({**json.loads(capsys.readouterr().out), "page": ""})
    assert numbers[0] == numbers[1]
    assert (tmp_path / "all" / "report.md").read_bytes() == (tmp_path / "one" / "report.md").read_bytes()
    assert command(["reproduce", "cube", "--quick", "--shard", "1/2", "--out", str(tmp_path / "cube")]) == 2
    assert "measures times" in capsys.readouterr().err


# ---- language models


def asking(server: Peer, **changes: Any) -> ExperimentSpec:
    return build({"reasoner": server.name(), "methods": ["drwell"], "max_steps": 12, "seeds": [0, 1]} | changes)


@pytest.mark.heavy
def test_paid_calls_come_along_also_those_of_unfinished_episodes(server: Peer, tmp_path: Path) -> None:
    run(asking(server), tmp_path / "one")
    paid = server.stats()["completions"]
    for number in (1, 2):
        run(asking(server), tmp_path / str(number), running=RunOptions(shard=f"{number}/2"))
    assert server.stats()["completions"] == 2 * paid
    db = sqlite3.connect(tmp_path / "2" / "results.sqlite")  # as if it had been killed before its last episode's row
    with db:
        db.execute("DELETE FROM episodes")
    db.close()
    (merged,) = merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert merged.missing == 1
    run(asking(server), tmp_path / "all")
    assert server.stats()["completions"] == 2 * paid, "what was paid is not asked again"
    ours, theirs = state(tmp_path / "all"), state(tmp_path / "one")
    assert ours["logs"] == theirs["logs"]
    assert ours["calls"] == theirs["calls"]
