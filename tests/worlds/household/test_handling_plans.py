"""Plans by orders of handling: played as they are counted, and no longer than those of the simple planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from teamworld.seeding import generator
from teamworld.worlds.household import joint_plans, physics
from teamworld.worlds.household.handling_legs import Legs
from teamworld.worlds.household.handling_plans import HandlingPlans
from teamworld.worlds.household.homes.home import Episode, Need
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import PrimitiveAction
from teamworld.worlds.household.state import AgentId
from tests.worlds.household.homes import APPLE, CABINET, COFFEE, FRIDGE, KITCHEN, LIVING, TABLE, WINE, flat


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
def test_a_plan_is_played_in_as_many_steps_as_its_longest_course(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    target = (COFFEE, TABLE, COFFEE)[seed]
    needs = (Need("ON", "apple", target, 1), Need("ON", "wine", target, 1))
    placed = Episode("tests", "put_fridge", flat(), needs, (KITCHEN, LIVING))
    floor, rng = Floor(placed.home), np.random.default_rng(seed)
    at = {agent: floor.random(int(rng.choice((KITCHEN, LIVING))), rng) for agent in (1, 2)}
    state = physics.start(placed, floor, generator(0, "tests"), at=at)
    played: list[tuple[int, int | None]] = []
    play = HandlingPlans._play

    def record(plans: HandlingPlans, acts: Mapping[AgentId, Sequence[PrimitiveAction]], most: int) -> int | None:
        played.append((max(map(len, acts.values())), play(plans, acts, most)))
        return played[-1][1]

    monkeypatch.setattr(HandlingPlans, "_play", record)
    plans = HandlingPlans(state, needs, Legs(state, needs[0], state.watched), {APPLE: FRIDGE, WINE: CABINET})
    choices = [([APPLE], 1), ([WINE], 1)]
    simple = joint_plans.find_plan(state, needs, dict(zip(needs, ([APPLE], [WINE]), strict=True)), 60)
    best = plans.find(choices, 60)
    assert simple is not None
    assert best is not None
    assert best <= simple
    assert played
    assert all(counted == steps for counted, steps in played)
    assert plans.find(choices, best) is None
