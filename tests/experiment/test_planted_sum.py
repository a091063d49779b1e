"""A sum of floats planted in a world is found when a run that another Python recorded is replayed.

From version 3.12 on ``sum`` corrects the error of each addition of floats; before, it does not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from pathlib import Path

import pytest

from teamworld.experiment.api import run
from teamworld.experiment.replay import replay
from teamworld.experiment.store.folder import RunFolder
from teamworld.worlds.contract import StepResult
from teamworld.worlds.rooms.world import RoomsWorld

TENTHS = [0.1] * 10


def sum_elsewhere(values: Iterable[float]) -> float:
    """What ``sum`` returns on Pythons of the other kind."""
    return reduce(add, values) if sys.version_info >= (3, 12) else math.fsum(values)


def plant(monkeypatch: pytest.MonkeyPatch, adding: Callable[[Iterable[float]], float]) -> None:
    """Have the world tell a sum with the score of each step."""
    conclude = RoomsWorld.conclude

    def with_sum(world: RoomsWorld, change: object) -> StepResult:
        result = conclude(world, change)  # type: ignore[arg-type]
        return result._replace(score={**result.score, "planted": adding(TENTHS)})

    monkeypatch.setattr(RoomsWorld, "conclude", with_sum)


@pytest.mark.parametrize(("there", "here", "same"), [(sum_elsewhere, sum, False), (math.fsum, math.fsum, True)])
def test_a_planted_sum_is_found_by_replay(
    there: Callable[[Iterable[float]], float],
    here: Callable[[Iterable[float]], float],
    same: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as recording:
        plant(recording, there)
        run("rooms", level="one", out=tmp_path / "run", max_steps=5)
    folder, scratch = RunFolder(tmp_path / "run"), tmp_path / "scratch"
    scratch.mkdir()
    with monkeypatch.context() as replaying:
        plant(replaying, here)
        [checked] = replay(folder, folder.experiment(), scratch)
    assert (checked.difference is None) == same
    assert same or '"planted":' in str(checked.difference)
