"""Runs on disk in both fire modes, and what a method gets before the first step."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from teamworld import run
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.methods import registry as methods
from teamworld.methods.contract import Briefing, Method
from teamworld.record import DrawingState, EpisodeStart, read_log
from teamworld.testing.episodes import Scenario, play
from teamworld.viewer.replay_data import build
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WorldSpec
from teamworld.worlds.wildfire.state import fingerprint, load_map, save_map
from teamworld.worlds.wildfire.terrain import generate
from teamworld.worlds.wildfire.world import make

MODES = ("reference", "stochastic")


LEVEL, STEPS = "perception", 14


def setting(mode: str, **more: Any) -> dict[str, Any]:
    """Return the arguments of a short run; the fire of the level spreads and its civilians walk about."""
    methods = ["coela", "greedy"]
    options = {"wildfire": {"fire": mode, **more}}
    return {"level": LEVEL, "method": methods, "episodes": 2, "max_steps": STEPS, "seed": 3, "options": options}


def logs(folder: Path) -> dict[str, bytes]:
    """Return every log of a run by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted((folder / "logs").rglob("*.zst"))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished run of each mode."""
    folders = {mode: tmp_path_factory.mktemp(mode) / "run" for mode in MODES}
    for mode, folder in folders.items():
        run("wildfire", **setting(mode), out=folder)
    return folders


@pytest.mark.parametrize("mode", MODES)
def test_the_same_seed_writes_the_same_bytes(tmp_path: Path, finished: dict[str, Path], mode: str) -> None:
    run("wildfire", **setting(mode), out=tmp_path / "run")
    assert logs(tmp_path / "run") == logs(finished[mode])
    run("wildfire", **(setting(mode) | {"seed": 4}), out=tmp_path / "other")
    assert set(logs(tmp_path / "other").values()).isdisjoint(logs(finished[mode]).values())


def frames(path: Path) -> list[Any]:
    """Return the snapshots of a log."""
    return [event.state for event in read_log(path) if isinstance(event, DrawingState)]


def test_the_fire_burns_and_the_modes_differ(finished: dict[str, Path]) -> None:
    reference, stochastic = (frames(RunFolder(finished[mode]).log(RunCell("greedy", 3), 1)) for mode in MODES)
    assert reference[0] == stochastic[0]
    assert reference[-1]["land"] != reference[0]["land"]
    assert reference[-1]["land"] != stochastic[-1]["land"]


@pytest.mark.parametrize("mode", MODES)
def test_a_run_replays_and_every_snapshot_is_that_of_the_world(
    tmp_path: Path, finished: dict[str, Path], mode: str
) -> None:
    folder = RunFolder(finished[mode])
    replays = list(replay(folder, folder.experiment(), tmp_path))
    assert [checked.difference for checked in replays] == [None] * 4
    for path in sorted((finished[mode] / "logs").rglob("*.zst")):
        events = list(read_log(path))
        start = next(event for event in events if isinstance(event, EpisodeStart))
        shown = build(events)
        world = make(LEVEL, start.world_seed, STEPS, start.world_options)
        world.reset(start.world_seed)
        assert (shown.static, shown.frames) == (start.static, frames(path))
        assert (shown.static, shown.frames[0]) == (world.spec.static, world.snapshot())


# ---- a map of one's own


def test_a_log_names_a_map_by_what_it_holds(tmp_path: Path) -> None:
    terrain = generate(20, 5)
    written = []
    for name in ("one.npz", "other.npz"):
        (tmp_path / name[:-4]).mkdir()
        save_map(terrain, tmp_path / name[:-4] / name)
        folder = tmp_path / f"run-{name}"
        run("wildfire", **setting("reference", map_file=str(tmp_path / name[:-4] / name)), out=folder)
        written.append(logs(folder))
    assert written[0] == written[1]
    path = next((tmp_path / "run-one.npz" / "logs").rglob("*.zst"))
    start = next(event for event in read_log(path) if isinstance(event, EpisodeStart))
    assert start.world_options["map_file"] == fingerprint(load_map(tmp_path / "one" / "one.npz"))
    assert start.world_options["map_file"].startswith("sha256:")
    assert str(tmp_path) not in repr(list(read_log(path)))
    run_folder = RunFolder(tmp_path / "run-one.npz")
    (tmp_path / "scratch").mkdir()
    assert not any(checked.difference for checked in replay(run_folder, run_folder.experiment(), tmp_path / "scratch"))


def test_a_run_does_not_go_on_in_another_map(tmp_path: Path) -> None:
    path, folder = tmp_path / "map.npz", tmp_path / "run"
    save_map(generate(20, 1), path)
    run("wildfire", **setting("reference", map_file=str(path)), out=folder)
    written = logs(folder)
    with sqlite3.connect(folder / "results.sqlite") as results:  # as if it had been stopped before its last episode
        results.execute("DELETE FROM episodes WHERE cell LIKE 'greedy%' AND episode = 2")
    results.close()
    RunFolder(folder).log(RunCell("greedy", 3), 2).unlink()
    save_map(generate(20, 2), path)
    with pytest.raises(UserError, match=r"wildfire\.map_file names has changed"):
        run("wildfire", **setting("reference", map_file=str(path)), out=folder)
    assert len(logs(folder)) == 3
    save_map(generate(20, 1), path)
    run("wildfire", **setting("reference", map_file=str(path)), out=folder)
    assert logs(folder) == written


def test_another_map_under_the_same_name_shows_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    names = []
    for seed in (1, 2):
        save_map(generate(20, seed), path)
        names.append(make(LEVEL, 0, 5, {"map_file": str(path)}).spec.options["map_file"])
    assert len(set(names)) == 2
    with pytest.raises(UserError, match="sha256"):  # it names a map, it does not find one
        make(LEVEL, 0, 5, {"map_file": names[0]})


class Nosy:
    """Keeps what a method gets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
        self.briefings: list[Briefing] = []
        kind = type(methods.make(label, methods.resolve(label, {}).model_dump(mode="json")))
        inner = kind.begin

        async def begin(method: Method, briefing: Briefing) -> None:
            self.briefings.append(briefing)
            await inner(method, briefing)

        monkeypatch.setattr(kind, "begin", begin)


def strings(value: object, seen: set[int]) -> list[str]:
    """Return every text and array that can be reached from a value by its fields."""
    if id(value) in seen or isinstance(value, (int, float, type(None))):
        return []
    seen.add(id(value))
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.items() for part in item for text in strings(part, seen)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for part in value for text in strings(part, seen)]
    if hasattr(value, "dtype"):
        return [f"an array of shape {getattr(value, 'shape', ())}"]
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    parts = [getattr(value, name) for name in names] + list(getattr(value, "__dict__", {}).values())
    return [text for part in parts for text in strings(part, seen)]


@pytest.mark.parametrize("level", ["suppress_fire_locate_and_suppress", "suppress_fire_contain", "perception"])
def test_the_briefing_holds_nothing_of_the_land(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    nosy = Nosy(monkeypatch, "do_nothing")
    events = play("do_nothing", Scenario("wildfire", level, 1, 2), {}).events
    (briefing,) = nosy.briefings
    start = next(event for event in events if isinstance(event, EpisodeStart))
    land = start.static["land"]
    assert len(land) == start.static["size"]  # the log has what a drawing needs
    texts = strings((briefing.spec, briefing.domain), set())
    assert briefing.spec.task in texts
    assert not set(land) & set(texts)
    assert not [text for text in texts if text.startswith("an array")]


@pytest.mark.parametrize("world", worlds.names())
def test_no_world_tells_methods_what_only_a_drawing_needs(monkeypatch: pytest.MonkeyPatch, world: str) -> None:
    nosy = Nosy(monkeypatch, "do_nothing")
    level = worlds.module(world).DEFAULT_LEVEL
    events = play("do_nothing", Scenario(world, level, 1, 2), {}).events
    (briefing,) = nosy.briefings
    assert briefing.spec.static == {}
    made = worlds.make(world, level, 1, 2, {})
    assert next(event for event in events if isinstance(event, EpisodeStart)).static == made.spec.static != {}
    for field in dataclasses.fields(WorldSpec):
        if field.name != "static":
            assert getattr(briefing.spec, field.name) == getattr(made.spec, field.name)
