"""The robotic warehouse: orders, what a sensor shows, carrying, robots in each other's way, the contract."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from teamworld.language import Action, Cell, Entity, Fact, Facts, plain
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.worlds import check_world
from teamworld.worlds import registry
from teamworld.worlds.adapters.rware import world as rware
from teamworld.worlds.adapters.rware.domain import RwareDomain
from teamworld.worlds.adapters.rware.state import Order, WarehouseState, find_racks
from teamworld.worlds.adapters.world import AdapterWorld
from teamworld.worlds.base import picture
from teamworld.worlds.contract import ImpossibleFacts, StepResult

TINY = "rware-tiny-2ag-v2"


def placed(
    robots: Mapping[int, tuple[Cell, int]], ordered: tuple[Cell, ...], level: str = TINY, orders: int = 2
) -> AdapterWorld:
    """Return a world of the package with robots (cell, direction of the package) and orders where they are put."""

    def put(env: Any) -> None:  # noqa: ANN401  (the package is not typed)
        shelves = {(shelf.y, shelf.x): shelf for shelf in env.shelfs}
        env.request_queue[:] = [shelves[cell] for cell in ordered]
        kind: Any = type(env.agents[0].dir)
        for number, ((row, column), direction) in robots.items():
            robot = env.agents[number]
            robot.y, robot.x, robot.dir = row, column, kind(direction)
        env._recalc_grid()

    return rware._build(level, 0, 500, rware.RwareOptions(orders=orders), put)


def run(world: AdapterWorld, actions: Mapping[str, Action], steps: int) -> list[StepResult]:
    """Give actions and let them run until one ends; return the results."""
    results = [world.step(actions)]
    while len(results) < steps and all(
        outcome.status == "running" for outcome in results[-1].outcomes.values() if outcome.action.verb != "wait"
    ):
        results.append(world.step({}))
    return results


@pytest.mark.heavy
@pytest.mark.parametrize("level", [TINY, "rware-tiny-4ag-easy-v2"])
def test_it_keeps_the_contract(level: str) -> None:
    check_world("rware", [level], seeds=(0, 5), steps=15)


def test_racks_are_slots_that_touch() -> None:
    assert find_racks({(0, 0), (1, 0), (0, 2), (0, 3)}, (2, 4)) == (((0, 0), (1, 0)), ((0, 2), (0, 3)))


def test_an_order_is_fetched_delivered_and_put_back() -> None:
    world = placed({0: ((1, 0), 3), 1: ((10, 9), 0)}, ((1, 1), (4, 8)))
    domain = cast("RwareDomain", world.domain)
    shelf = domain.floor.shelf((1, 1))
    assert [goal.thing for goal in world.view("agent_0").goals] == [shelf]  # it is beside it; the other is far
    assert run(world, {"agent_0": Action("fetch", (shelf,))}, 9)[-1].outcomes["agent_0"].status == "done"
    assert Fact("agent_0", "HOLD", shelf) in world.view("agent_0").facts
    assert f"{plain(shelf)} of slot (1, 1), which you carry." in world.view("agent_0").text()
    assert world.view("agent_0").check(Action("put_back")).word == "ordered"
    results = run(world, {"agent_0": Action("deliver")}, 60)
    last = results[-1]
    assert last.outcomes["agent_0"].status == "done"
    assert last.score["reward"] == 1.0
    assert [(event.event, event.participants) for event in last.goals if event.goal == "deliver_0"] == [
        ("progress", ("agent_0",)),
        ("done", ("agent_0",)),
    ]
    assert world.view("agent_0").goals[0].state == "done"
    back = run(world, {"agent_0": Action("put_back")}, 60)[-1]
    assert back.outcomes["agent_0"].status == "done"
    assert [*world.snapshot()["things"]].count([1, 1, "shelf", ""]) == 1


def test_orders_are_numbered_and_new_ones_are_pending_until_they_are_made() -> None:
    world = placed({0: ((1, 1), 1), 1: ((10, 9), 0)}, ((1, 1), (4, 8)), orders=3)
    assert [world.domain.read(world.truth()).orders[number].state for number in range(3)] == ["open", "open", "pending"]
    run(world, {"agent_0": Action("fetch", (Entity("shelf", 11),))}, 9)
    run(world, {"agent_0": Action("deliver")}, 60)
    orders = world.domain.read(world.truth()).orders
    assert [order.state for order in orders.values()] == ["fetched", "open", "open"]
    assert orders[0].delivered
    assert orders[2].slot not in (None, (4, 8))


def test_an_empty_slot_tells_that_somebody_took_the_shelf() -> None:
    world = placed({0: ((1, 1), 1), 1: ((3, 0), 0)}, ((1, 1), (4, 8)))
    run(world, {"agent_1": Action("go", ((2, 0),))}, 9)
    assert [goal.state for goal in world.view("agent_1").goals] == ["open"]
    run(world, {"agent_0": Action("fetch", (Entity("shelf", 11),))}, 9)
    run(world, {"agent_0": Action("deliver")}, 12)
    assert Fact(Entity("order", 0), "STATE", "fetched") in world.view("agent_1").facts
    assert [goal.state for goal in world.goals()] == ["open", "open"]


def test_two_loaded_robots_that_meet_in_an_aisle_get_past_each_other() -> None:
    world = placed({0: ((1, 1), 1), 1: ((8, 1), 1)}, ((1, 1), (8, 1)))
    for agent, shelf in (("agent_0", 11), ("agent_1", 81)):
        world.step({agent: Action("fetch", (Entity("shelf", shelf),))})
    meeting = {"agent_0": Action("go", ((9, 0),)), "agent_1": Action("go", ((0, 0),))}
    results = [world.step(meeting), *(world.step({}) for _ in range(70))]
    done = {
        agent
        for result in results
        for agent, o in result.outcomes.items()
        if o.action.verb == "go" and o.status == "done"
    }
    assert done == {"agent_0", "agent_1"}


def test_a_robot_sees_the_orders_beside_it_alone() -> None:
    for seed in range(6):
        world = registry.make("rware", "rware-tiny-4ag-easy-v2", seed, None, {})
        domain = cast("RwareDomain", world.domain)
        truth: WarehouseState = domain.read(world.truth())
        for agent, at in truth.at.items():
            window = set(domain.floor.window(at))
            seen = {number: order for number, order in truth.orders.items() if order.slot in window}
            known = domain.read(world.view(agent).known)
            assert known.orders == seen
            assert known.at == {other: cell for other, cell in truth.at.items() if cell in window}
            assert all(truth.facing[other] == facing for other, facing in known.facing.items())


def test_what_was_looked_at_long_ago_is_looked_at_again() -> None:
    world = registry.make("rware", TINY, 0, None, {})
    domain = cast("RwareDomain", world.domain)
    view = world.view("agent_0")
    rack = next(iter(domain.read(view.known).unseen))
    results = run(cast("AdapterWorld", world), {"agent_0": Action("search", (Entity("rack", rack),))}, 60)
    assert results[-1].outcomes["agent_0"].status == "done"
    assert rack not in domain.read(world.view("agent_0").known).unseen
    for _ in range(60):
        world.step({})
    assert rack in domain.read(world.view("agent_0").known).unseen


def test_the_options_make_the_same_instance_again() -> None:
    world = registry.make("rware", TINY, 0, None, {})
    assert dict(world.spec.options) == {"orders": 10}
    assert world.spec.horizon == 500
    assert len(registry.make("rware", TINY, 0, None, {"orders": 3}).goals()) == 3


@pytest.mark.parametrize("method", ["greedy", "drwell", "coela", "hmas2", "camon", "embodied"])
def test_methods_finish(method: str) -> None:
    played = play(method, Scenario("rware", TINY, 1, 500, {"orders": 3}), {})
    assert cast("Any", played.events[-1]).reason == "all_done"


@pytest.mark.parametrize("fact", [Fact("agent_0", "AT", (11, 0)), Fact("agent_0", "HOLD", Entity("shelf", 0))])
def test_facts_outside_the_warehouse_are_impossible(fact: Fact) -> None:
    domain = registry.make("rware", TINY, 0, None, {}).domain
    with pytest.raises(ImpossibleFacts):
        domain.goals(Facts((fact,)))


def test_a_picture_shows_who_carries_what() -> None:
    world = placed({0: ((1, 1), 1), 1: ((10, 9), 0)}, ((1, 1), (4, 8)))
    world.step({"agent_0": Action("fetch", (Entity("shelf", 11),))})
    static, snapshot = world.spec.static, world.snapshot()
    assert snapshot["agents"] == [[1, 1, "0", "south", "ordered"], [10, 9, "1", "north", ""]]
    lines = picture.text(static, snapshot).split("\n")
    assert (lines[1][1], lines[10][9], lines[4][8], lines[10][4]) == ("A", "B", "o", "g")
    assert picture.frame(static, snapshot, scale=16).shape == (11 * 16, 10 * 16, 3)
    assert Order((1, 1)).state == "open"


# ---- what stands in prompts


def test_a_search_is_estimated_by_what_is_still_to_be_seen() -> None:
    world = placed({0: ((8, 0), 1), 1: ((10, 9), 0)}, ((1, 1), (4, 8)))
    domain = cast("RwareDomain", world.domain)
    search = Action("search", (Entity("rack", 0),))
    whole = domain.estimate_steps("agent_0", search, world.view("agent_0").known)
    for _ in range(4):
        world.step({"agent_0": search})
    view = world.view("agent_0")
    ends = domain.read(view.known).unseen[0]
    assert len(ends) == 2
    assert domain.estimate_steps("agent_0", search, view.known) < whole
    assert f"rack_0 is to be searched from {ends[0]} to {ends[1]}: " in view.text()


def test_what_may_be_out_of_date_is_marked() -> None:
    world = placed({0: ((1, 0), 3), 1: ((10, 9), 0)}, ((1, 1), (4, 8)))
    domain = cast("RwareDomain", world.domain)
    shelf = domain.floor.shelf((1, 1))
    facts = Facts(
        (
            *(Fact("agent_0", "AT", (9, 0)), Fact("agent_0", "FACING", "north"), Fact("agent_1", "FACING", "north")),
            *(Fact(Entity("order", 0), "SHELF", shelf), Fact(Entity("order", 0), "STATE", "open")),
        )
    )
    for age, mark in (
        (0, "in its slot: "),
        (5, "in its slot 5 steps ago: "),
        (47, "47 steps ago, may be gone by now: "),
    ):
        old = {fact: 50 - age for fact in facts if fact.subject != "agent_0"} if age else {}
        view: Any = SimpleNamespace(known=Facts(tuple(facts), old), t=50, agent="agent_0", kind="robot")
        lines = [*domain.describe(view)]
        assert any(mark in line for line in lines)
        if age:
            assert f"agent_1, last seen {age} steps ago, no longer there." in lines


def test_the_scripted_team_leaves_orders_that_are_not_made_yet() -> None:
    here = registry.make("rware", "rware-tiny-2ag-hard-v2", 0, 500, {})
    here.reset(0)
    truth = here.truth()
    views = {
        agent: cast(Any, SimpleNamespace(known=truth, recall=Facts(), t=0, check=here.view(agent).check))
        for agent in here.spec.agents
    }
    assert any(goal.thing is None for goal in here.domain.goals(truth)), "one is made later"
    plans = here.domain.plan_scripted_team(views, {})
    made = {goal.id for goal in here.domain.goals(truth) if goal.thing is not None}
    assert plans.keys() == set(here.spec.agents)
    assert {plan.goal for plan in plans.values()} - {None} <= made
