"""The scripted team: what it pools, that it does the task, and that its agents keep out of each other's way."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

import pytest

from teamworld.language import Entity, Facts, Plan, parse_action
from teamworld.worlds.contract import WAIT
from teamworld.worlds.household.heuristic import pool
from teamworld.worlds.household.observe import believed
from teamworld.worlds.household.world import HouseholdWorld, make
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, KITCHEN, LIVING, TABLE, flat
from tests.worlds.household.scenes import AT_CABINET, AT_COFFEE, AT_FRIDGE, AT_TABLE, do, done, groceries, moved, world

Kitchen, Living, Coffee = Entity("kitchen", KITCHEN), Entity("livingroom", LIVING), Entity("coffeetable", COFFEE)
Cupcake = Entity("cupcake", CUPCAKE)


def plans(here: HouseholdWorld, running: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the one action of each plan that the team is given."""
    views = {agent: here.view(agent) for agent in here.spec.agents}
    busy = {agent: Plan((parse_action(text),)) for agent, text in (running or {}).items()}
    found = here.domain.plan_scripted_team(views, busy)
    assert all(len(plan.actions) == 1 for plan in found.values())
    return {agent: str(plan.actions[0]) for agent, plan in found.items()}


def play(here: HouseholdWorld) -> tuple[str | None, int]:
    """Let the scripted team play to the end; return how it ended, and the steps."""
    running: dict[str, Plan] = {}
    for step in range(1, here.spec.horizon + 1):
        views = {agent: here.view(agent) for agent in here.spec.agents}
        new = here.domain.plan_scripted_team(views, running)
        assert not set(new) & set(running)
        running |= new
        for agent, plan in new.items():
            assert views[agent].check(plan.actions[0]).ok, (agent, str(plan))
        report = here.step({agent: plan.actions[0] for agent, plan in running.items()})
        running = {agent: plan for agent, plan in running.items() if report.outcomes[agent].status == "running"}
        if report.end_reason is not None:
            return report.end_reason, step
    return None, here.spec.horizon


# ---- what it knows


def test_it_pools_what_each_has_seen_last() -> None:
    here = world(AT_TABLE, AT_COFFEE)
    known = believed(pool({agent: here.view(agent) for agent in here.spec.agents}))
    assert dict(known.explored) == {Kitchen: "all", Living: "all"}
    assert known.room[Coffee] == Living
    assert known.at == {"Alice": Kitchen, "Bob": Living}
    done(here, "Alice", "fetch(<cupcake>(32))")
    done(here, "Bob", "explore(<kitchen>(11))")
    done(here, "Alice", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))")
    done(here, "Bob", "explore(<livingroom>(12))")
    known = believed(pool({agent: here.view(agent) for agent in here.spec.agents}))
    assert known.places[Cupcake] == ("INSIDE", Entity("stove", 25))


def test_a_thing_in_a_hand_lies_nowhere_whatever_others_remember() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Bob", "explore(<livingroom>(12))")
    done(here, "Alice", "fetch(<cupcake>(32))")
    assert Cupcake in believed(here.view("Bob").known).places
    known = believed(pool({agent: here.view(agent) for agent in here.spec.agents}))
    assert Cupcake not in known.places
    assert known.hands["Alice"] == (Cupcake,)


def test_what_one_has_explored_in_part_and_another_in_whole_is_explored() -> None:
    here = world(AT_TABLE, AT_FRIDGE, sight="cone")
    done(here, "Alice", "explore(<kitchen>(11))")
    told = pool({agent: here.view(agent) for agent in here.spec.agents})
    assert [str(fact.value) for fact in told if fact.predicate == "EXPLORED"] == ["all"]


def test_of_nobody_there_is_nothing() -> None:
    assert list(pool({})) == []
    assert world(AT_TABLE).domain.plan_scripted_team({}, {}) == {}


# ---- what it does


def test_each_does_something_else() -> None:
    here = world(AT_TABLE, AT_FRIDGE, AT_COFFEE)
    found = plans(here)
    assert found["Alice"] == "fetch(<cupcake>(32))"
    assert found["Bob"] == "check(<fridge>(20))"
    assert found["Carol"] == "check(<cabinet>(22))"


def test_who_is_busy_is_left_alone_and_its_thing_is_its_own() -> None:
    here = world(AT_TABLE, (0.4, -0.7))
    found = plans(here, {"Bob": "fetch(<cupcake>(32))"})
    assert set(found) == {"Alice"}
    assert "cupcake" not in found["Alice"]


def test_full_hands_deliver_and_look_for_the_place_first() -> None:
    here = world(AT_TABLE, given=None)
    done(here, "Alice", "fetch(<cupcake>(32))", "check(<fridge>(20))", "fetch(<apple>(30))")
    assert plans(here) == {"Alice": "explore(<livingroom>(12))"}
    done(here, "Alice", "explore(<livingroom>(12))")
    assert plans(here) == {"Alice": "deliver()"}


def test_where_a_mate_has_seen_the_place_one_goes_there_to_see_it() -> None:
    here = world(AT_TABLE, AT_COFFEE)
    done(here, "Alice", "fetch(<cupcake>(32))")
    found = plans(here, {"Bob": "check(<cabinet>(22))"})
    assert found["Alice"] in ("explore(<livingroom>(12))", "check(<fridge>(20))")


def test_who_is_not_needed_waits() -> None:
    home = moved(flat(), {APPLE: ("ON", TABLE)})
    here = world(AT_TABLE, AT_CABINET, given=groceries(home))
    done(here, "Alice", "fetch(<cupcake>(32))")
    assert plans(here) == {"Alice": "deliver()", "Bob": str(WAIT)}


def test_it_looks_again_where_a_thing_was_carried_off() -> None:
    """All was looked into, and what is missing was moved meanwhile: the team looks into rooms again."""
    here = world(AT_TABLE)
    for box in ("<fridge>(20)", "<stove>(25)"):
        done(here, "Alice", f"check({box})")
    done(here, "Alice", "explore(<livingroom>(12))", "check(<cabinet>(22))")
    here._state.grab(1, CUPCAKE)
    here._state.release(CUPCAKE, ("ON", COFFEE))
    here._state.grab(1, APPLE)
    here._state.release(APPLE, ("ON", TABLE))
    do(here, Alice="wait()")
    assert plans(here)["Alice"] != str(WAIT)


# ---- how it fares


@pytest.mark.heavy
@pytest.mark.parametrize("options", [{}, {"sight": "cone"}, {"strict_put": True}, {"mode": "engine"}], ids=str)
@pytest.mark.parametrize("agents", [1, 3])
def test_it_does_the_task(agents: int, options: dict[str, object]) -> None:
    for seed in range(2):
        over, _ = play(make("dev", seed, 250, {"agents": agents, **options}))
        assert over == "all_done"


@pytest.mark.heavy
def test_two_are_faster_than_one() -> None:
    steps = {agents: [play(make("dev", seed, 250, {"agents": agents}))[1] for seed in range(20)] for agents in (1, 2)}
    assert mean(steps[2]) < 0.75 * mean(steps[1])


def test_it_is_alike_whatever_the_order_of_facts() -> None:
    here = world(AT_TABLE, AT_FRIDGE, AT_COFFEE)
    facts = list(pool({agent: here.view(agent) for agent in here.spec.agents}))
    one, other = Facts(facts), Facts(facts[::-1])
    assert here.domain.options("Alice", one) == here.domain.options("Alice", other)
    assert plans(here) == plans(here)
