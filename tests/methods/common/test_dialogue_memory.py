"""What an agent spent in vain: steps of actions that failed, each once, and none of what it stopped itself."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.language import parse_action
from teamworld.methods.common.dialogue_memory import DialogueMemory
from teamworld.worlds.contract import Outcome
from tests.methods.cobel.test_cobel_agreement import altered
from tests.worlds.transport.houses import house, item, world

FETCH = parse_action("fetch(<apple>(11))")


def failed(start: int, reason: str) -> Outcome:
    return Outcome(FETCH, "failed", reason, start=start)


@pytest.mark.parametrize(
    ("history", "lost"),
    [
        ((failed(0, "unreachable"), failed(10, "unreachable")), 40),
        ((failed(0, "interrupted: another action was begun"), failed(10, "unreachable")), 30),
        ((failed(0, "interrupted: another action was begun"), Outcome(FETCH, "done", start=10)), 0),
    ],
)
def test_steps_in_vain_are_counted_once(history: tuple[Outcome, ...], lost: int) -> None:
    place = world(house((item(11, "apple", 2.0, 3.0),), starts=[(2.0, 1.0, 0.0)]))
    memory = DialogueMemory("Alice", ("Alice",), np.random.default_rng(0), goal="deliver_apple")
    memory.look(altered(place.view("Alice"), t=40, history=history))
    assert memory.lost["deliver_apple"] == lost
    assert 0.5 * lost <= memory.vain["deliver_apple"] <= 1.5 * lost
