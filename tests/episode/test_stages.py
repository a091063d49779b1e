"""The stage machine: nobody executes before everybody is ready, and no stage is skipped."""

from __future__ import annotations

import pytest

from teamworld.episode.stages import Stages
from teamworld.record import Event, StageEntered


def stages(*agents: str) -> tuple[Stages, list[Event]]:
    written: list[Event] = []
    return Stages(agents, written.append), written


def test_the_world_cannot_step_while_somebody_reasons() -> None:
    machine, _ = stages("a", "b")
    machine.enter("a", "R")
    with pytest.raises(RuntimeError, match="a is in stage R"):
        machine.execute()
    machine.enter("a", "W")
    machine.execute()


def test_only_changes_are_on_record() -> None:
    machine, written = stages("a", "b")
    machine.enter("a", "R")
    machine.enter("a", "R")
    machine.enter("a", "W")
    machine.execute()
    machine.execute()
    found = [(event.agent, event.stage) for event in written if isinstance(event, StageEntered)]
    assert found == [("a", "R"), ("a", "W"), ("a", "X"), ("b", "X")]


def test_an_interrupt_comes_from_executing_and_leads_to_reasoning() -> None:
    machine, _ = stages("a")
    with pytest.raises(RuntimeError, match="from stage W to I"):
        machine.enter("a", "I")
    machine.execute()
    machine.enter("a", "I")
    with pytest.raises(RuntimeError, match="from stage I to X"):
        machine.enter("a", "X")
    machine.enter("a", "R")
    with pytest.raises(RuntimeError, match="from stage R to X"):
        machine.enter("a", "X")


def test_whoever_left_holds_up_nobody() -> None:
    machine, _ = stages("a", "b")
    machine.enter("a", "R")
    machine.leave("a")
    machine.execute()
