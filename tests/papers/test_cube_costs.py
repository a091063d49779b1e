"""What is measured: the scenarios do what they say; times are positive and never compared."""

from __future__ import annotations

import os
from concurrent.futures.process import BrokenProcessPool

import pytest

from teamworld.errors import UserError
from teamworld.experiment import process_pool
from teamworld.papers.cube.costs import VERBS, action_cost, scenario, step_costs, step_costs_apart


@pytest.mark.parametrize("n", [1, 2, 8, 16])
@pytest.mark.parametrize("verb", VERBS)
def test_every_agent_does_the_action_and_nobody_is_refused(n: int, verb: str) -> None:
    world, orders = scenario(n, verb)
    world.reset(0)
    assert {order.verb for order in orders.values()} - {"idle"} <= {verb}
    assert len(orders) == n
    for _ in range(4):
        report = world.step(orders)
        outcomes = list(report.outcomes.values())
        assert all(outcome.legal for outcome in outcomes)
        if any(outcome.status != "running" for outcome in outcomes):
            break
        if verb in ("move_to_block", "push_block", "yield_block"):
            assert all(outcome.moved for outcome in outcomes)
        assert all(outcome.effect == (verb == "push_block") for outcome in outcomes)
    assert not any(outcome.status == "failed" for outcome in outcomes)
    assert n == 1 or all(outcome.status == "running" for outcome in outcomes)  # alone, a meeting is over at once


@pytest.mark.parametrize(("n", "verb"), [(0, "idle"), (3, "idle"), (2, "dance")])
def test_no_other_scenario(n: int, verb: str) -> None:
    with pytest.raises(ValueError, match="power of two"):
        scenario(n, verb)


def test_an_action_takes_time() -> None:
    cost = action_cost(2, "push_block", 0.01)
    assert (cost.n, cost.verb) == (2, "push_block")
    assert cost.steps >= 1
    assert cost.seconds > 0


def test_a_step_takes_time_and_memory() -> None:
    pytest.importorskip("pettingzoo")
    costs = step_costs(3, 0.01)
    assert [cost.policy for cost in costs] == ["random", "always right"]
    for cost in costs:
        assert cost.n == 3
        assert cost.steps >= 50
        assert cost.mean > 0
        assert cost.std >= 0
        assert cost.cpu > 0
        assert (cost.gigabytes is None) == (os.name == "nt")
        assert cost.gigabytes is None or 0.01 < cost.gigabytes < 10


def test_a_process_that_fails_gives_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> list[object]:
        raise BrokenProcessPool("a process ended abruptly")

    monkeypatch.setattr(process_pool, "as_done", broken)
    with pytest.raises(UserError, match=r"measuring 2 agents failed \(a process ended abruptly"):
        step_costs_apart(2, 0.01)
