"""Which plan is best: by the weight of its goal, the share of the work, and the steps; none where none can be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from teamworld.planning.candidates import MAX_GOALS, best_plan
from teamworld.worlds.contract import Goal
from tests.toy import ToyWorld, work


def begun(*units: int) -> ToyWorld:
    world = ToyWorld(jobs=tuple((left, 1) for left in units))
    world.reset(0)
    return world


def weighted(world: ToyWorld, weights: Sequence[float]) -> list[Goal]:
    return [replace(goal, weight=weight) for goal, weight in zip(world.goals(), weights, strict=True)]


@pytest.mark.parametrize(
    ("weights", "job"),
    [((1.0, 1.0), 1), ((2.5, 1.0), 1), ((3.5, 1.0), 0), ((3.0, 1.0), 0)],
    ids=["fewest steps", "weight does not make up for steps", "weight does", "of equals the first"],
)
def test_the_best_plan_earns_most_a_step(weights: tuple[float, float], job: int) -> None:
    world = begun(3, 1)
    plan = best_plan(weighted(world, weights), world.view("a"), world)
    assert plan is not None
    assert (plan.goal, plan.actions) == (f"job_{job}", (work(job, world.left[job]),))


def test_there_is_no_best_plan_where_none_can_be_carried_out() -> None:
    world = begun(3, 1)
    goals = list(world.goals())
    assert best_plan([], world.view("a"), world) is None
    world.left[1] = 0
    assert best_plan(goals[1:], world.view("a"), world) is None
    plan = best_plan([goals[1], goals[0]], world.view("a"), world)
    assert plan is not None
    assert plan.goal == "job_0"


def test_only_the_nearest_goals_are_tried() -> None:
    world = begun(*[3] * (MAX_GOALS + 1))
    plan = best_plan(weighted(world, [1.0] * MAX_GOALS + [9.0]), world.view("a"), world)
    assert plan is not None
    assert plan.goal == "job_0"
