"""What a method had learned before an episode and after it: against the deltas of the store, and on the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.experiment.runner import run
from teamworld.experiment.spec import RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.contract import MemoryDelta, Reflection
from teamworld.memory.store import MemoryStore
from teamworld.viewer.replay_page import view
from teamworld.viewer.replay_types import AddedNote, EpisodeMemory
from teamworld.viewer.world_model import compare_memory, read_memory
from tests.viewer.conftest import opened, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page

CELL = RunCell("drwell", 0)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    run(build({"world": "cube", "level": "paper-n2", "methods": ["drwell", "greedy"], "episodes": 2}), out)
    return out


@pytest.fixture(scope="module")
def deltas(played: Path) -> tuple[MemoryDelta, ...]:
    with MemoryStore(played / "memory.sqlite", readonly=True) as store:
        return store.deltas(CELL.name)


@pytest.fixture(scope="module")
def files(played: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in ("first", "second", "greedy")}
    view(played, "drwell", episode=1).save(made["first"])
    view(played, "drwell", episode=2).save(made["second"])
    view(played, "greedy").save(made["greedy"])
    return made


def test_before_is_what_the_episode_before_left(played: Path) -> None:
    first, second = (read_memory(RunFolder(played), CELL, episode) for episode in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.episodes, second.episodes) == (0, 1)
    assert all((task.before.attempts, task.before.verdict) == (0, "untested") for task in first.tasks)
    left = {task.task: (task.after, task.plans_after) for task in first.tasks}
    for task in second.tasks:
        if task.task in left:
            assert (task.before, task.plans_before) == left[task.task]
    assert any(task.after != task.before for task in second.tasks)


def test_the_plans_of_the_episode_are_those_of_the_store(deltas: tuple[MemoryDelta, ...]) -> None:
    made = compare_memory(deltas[:1], deltas[1])
    stored = sorted((one.task, one.agent, one.plan, one.start, one.success) for one in deltas[1].instances)
    assert stored
    added = [(task.task, one.agent, one.plan, one.start, one.success) for task in made.tasks for one in task.added]
    assert sorted(added) == stored


def test_notes_of_the_episode_are_not_among_those_of_earlier_ones() -> None:
    def noted(episode: int, text: str) -> MemoryDelta:
        note = Reflection(agent="a", tick=3, text=text)
        return MemoryDelta(episode=episode, completed=True, ticks=9, tasks=(), instances=(), reflections=(note,))

    made = compare_memory([noted(1, "push together")], noted(2, "wait less"))
    assert made == EpisodeMemory(episodes=1, notes=["push together"], added=[AddedNote(agent="a", text="wait less")])


def test_a_method_without_a_world_model_has_none(played: Path) -> None:
    assert read_memory(RunFolder(played), RunCell("greedy", 0), 2) is None
    assert read_memory(RunFolder(played), CELL, 3) is None
    assert read_memory(RunFolder(played / "logs"), CELL, 1) is None


def test_the_page_shows_it_before_and_after(
    browser: Page, files: dict[str, Path], deltas: tuple[MemoryDelta, ...]
) -> None:
    with opened(browser, files["second"]) as shown:
        wait(shown, "teamworld.player.ask")
        shown.click("#tab-memory")
        count = len(deltas[1].instances)
        words = f"learned from 1 earlier episode of the run; this one added {count} plan{'s' if count > 1 else ''}"
        assert shown.locator("#memory .bill").inner_text() == words
        assert shown.locator("#memory .row").count() == count
        assert shown.locator("#memory tr.changed").count() > 0
        last = max(deltas[1].instances, key=lambda one: one.start)
        shown.locator(f"#memory .when:text-is('step {last.start}')").first.click()
        wait(shown, f"teamworld.player.step === {last.start}")


def test_a_page_without_memory_says_so(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["greedy"]) as shown:
        wait(shown, "teamworld.player.ask")
        shown.click("#tab-memory")
        assert "keeps no world model" in shown.inner_text("#memory")
