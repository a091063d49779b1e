"""Which plan is best: by the weight of its goal, the share of the work, and the steps; none where none can be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from teamworld.planning.candidates import MAX_GOALS, best_plan, evaluate_plans, list_steps
from teamworld.worlds.contract import Goal
from teamworld.worlds.registry import make
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


def test_what_takes_longer_than_the_steps_left_does_nothing() -> None:
    def plans(horizon: int) -> Iterator[tuple[int, float]]:
        world = make("cube", "paper-n1", 0, horizon, {})
        world.reset(0)
        view = world.view(world.spec.agents[0])
        for goal in view.goals:
            yield from ((step.ticks, step.share) for step in list_steps(goal, view, world.domain))
            yield from ((plan.steps, plan.share) for plan in evaluate_plans(goal, view, world.domain))

    useful = {plan for plan in plans(500) if plan[1]}
    some = sorted(steps for steps, _ in useful)[len(useful) // 2]
    for left in (some, some - 1):
        assert {plan for plan in plans(left) if plan[1]} == {plan for plan in useful if plan[0] <= left}
    assert any(steps == some for steps, _ in useful)


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
