"""Metrics that take a second look at logs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import teamworld
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.store import MemoryStore
from teamworld.record import ActionStep, PlanEnd, PlanStart, read_log
from teamworld.report import measurement


def act(
    agent: str, verb: str, status: Literal["running", "done", "failed"], *, plan: int = 0, spent: bool = True
) -> ActionStep:
    return ActionStep(
        seq=0,
        step=0,
        tick=0,
        agent=agent,
        verb=verb,
        args=("x", "1"),
        goal=None,
        plan=plan,
        status=status,
        legal=True,
        effect=False,
        moved=False,
        spent=spent,
    )


def test_an_action_counts_once_however_long_it_runs() -> None:
    log = [
        act("a", "go", "running"),
        act("b", "go", "done"),
        act("a", "go", "running"),
        act("a", "go", "done"),
        act("a", "go", "done"),  # again
        act("b", "push", "failed", spent=False),  # passed over
        act("b", "push", "running"),
        act("b", "push", "running", plan=1),  # the same action of another plan
    ]
    assert measurement.actions(log) == {"a": ["go(x, 1)", "go(x, 1)"], "b": ["go(x, 1)", "push(x, 1)", "push(x, 1)"]}


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


def test_the_scripted_team_is_its_own_reference(folder: Path) -> None:
    run, greedy = RunFolder(folder), RunCell("greedy", 0)
    reference = run.log(greedy, 1)
    assert measurement.trajectory(reference, reference).value == pytest.approx(1.0)
    other = measurement.trajectory(run.log(RunCell("drwell", 0), 1), reference)
    assert other.value is not None
    assert 0.0 <= other.value < 1.0
    assert other.den == 2  # agents
    assert measurement.trajectory(reference, run.log(RunCell("random", 0), 1)).value is None  # not run


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
