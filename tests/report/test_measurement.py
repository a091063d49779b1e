"""Metrics that take a second look at logs."""

from __future__ import annotations

from pathlib import Path

import pytest

import teamworld
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.store import MemoryStore
from teamworld.record import PlanEnd, PlanStart, read_log
from teamworld.report import measurement


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reread") / "run"
    teamworld.run(
        level="n2",
        method=["drwell", "drwell:half", "greedy"],
        options={"drwell:half": {"freeze_after": 2}},
        seed=[0],
        episodes=4,
        max_steps=80,
        out=out,
    )
    return out


def test_a_memory_is_held_against_the_episodes_after_it_was_frozen(folder: Path) -> None:
    run, cell = RunFolder(folder), RunCell("drwell:half", 0)
    errors = measurement.honesty(run, run.experiment(), cell)
    assert measurement.honesty(run, run.experiment(), RunCell("drwell", 0)) == {}
    with MemoryStore(run.memory_file, readonly=True) as store:
        assert store.episodes(cell.name) == (1, 2)
        reported = store.world_model(cell.name)
    tries: dict[str, list[bool]] = {}
    for episode in (3, 4):  # from the logs, without the guidebook's code
        goals: dict[int, str] = {}
        for event in read_log(run.log(cell, episode)):
            if isinstance(event, PlanStart) and event.goal is not None:
                goals[event.plan] = event.goal
            if isinstance(event, PlanEnd) and event.plan in goals:
                tries.setdefault(goals[event.plan], []).append(event.goal_done)
    guides = {goal: reported.guide(goal) for goal in tries}
    gaps = [
        abs(guides[goal].successes / guides[goal].attempts - sum(won) / len(won))
        for goal, won in tries.items()
        if guides[goal].attempts
    ]
    assert gaps
    assert errors["memory_rate_error"].value == pytest.approx(sum(gaps) / len(gaps))
    assert errors["memory_duration_error"].value is not None
