"""The household in words says what is known, and no more."""

from __future__ import annotations

import re
from dataclasses import replace

from teamworld.worlds.household.homes.home import Episode, Home, Need
from teamworld.worlds.household.world import HouseholdWorld
from tests.worlds.household.homes import APPLE, CUPCAKE, KITCHEN, STOVE, TABLE, flat, studio, tea
from tests.worlds.household.scenes import AT_FRIDGE, AT_TABLE, do, done, groceries, moved, until, world

GO = "explore(<livingroom>(12))"


def describe_goals(here: HouseholdWorld, agent: str) -> str:
    view = here.view(agent)
    return "\n".join(here.domain.describe_goal(goal, agent, view.known) for goal in view.goals)


def list_options(here: HouseholdWorld, agent: str) -> set[str]:
    return {str(option.action) for option in here.view(agent).options}


def test_the_way_to_the_table_is_estimated_once_the_table_is_found() -> None:
    here = world(AT_TABLE, AT_TABLE)
    assert "coffeetable_23: not found yet." in here.view("Alice").text()
    assert "cupcake_32 in kitchen_11: for you 1 step to take it" in describe_goals(here, "Alice")
    assert "to bring it" not in describe_goals(here, "Alice")
    done(here, "Alice", GO, "explore(<kitchen>(11))")
    assert "to bring it" in describe_goals(here, "Alice")


def test_what_a_teammate_is_seen_to_hold_is_held_now_and_else_then() -> None:
    here = world(AT_TABLE, AT_TABLE)
    assert "fetch(<cupcake>(32))" in list_options(here, "Alice")
    done(here, "Bob", "fetch(<cupcake>(32))")
    assert "Bob holds cupcake_32; no more need be found" in describe_goals(here, "Alice")
    done(here, "Bob", GO)
    assert "Bob held cupcake_32 as last known and may bring it" in describe_goals(here, "Alice")
    done(here, "Bob", "go(<coffeetable>(23))", "put(<cupcake>(32), <coffeetable>(23))", "explore(<kitchen>(11))", GO)
    done(here, "Alice", GO, "explore(<kitchen>(11))")
    assert "; has nothing in hand that you know of." in here.view("Alice").text()


def test_what_was_opened_and_is_empty_is_said_to_be() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Alice", "check(<stove>(25))")
    assert "- open, nothing for the mission in it: stove_25" in here.view("Alice").text()


def test_nothing_is_looked_for_where_all_is_found() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Alice", GO, "explore(<kitchen>(11))")
    searches = {option for option in list_options(here, "Alice") if option.startswith("check")}
    assert searches
    for container in sorted(searches):
        done(here, "Alice", container)
        lacks = "still to be found" in describe_goals(here, "Alice")
        assert any(option.startswith("check") for option in list_options(here, "Alice")) == lacks


def test_one_waits_as_long_as_one_says() -> None:
    here = world(AT_TABLE, AT_TABLE)
    outcome, steps = until(here, "Alice", "idle(3)")
    assert (outcome.status, steps) == ("done", 3)


def test_for_furniture_one_looks_into_rooms_alone() -> None:
    here = world(AT_TABLE, given=tea(moved(flat(), {APPLE: ("INSIDE", STOVE)})))
    done(here, "Alice", "check(<stove>(25))")
    assert "coffeetable_23: not found yet." in here.view("Alice").text()
    assert list_options(here, "Alice") == {"fetch(<apple>(30))", "fetch(<cupcake>(32))", GO, "wait()"}
    for goal in here.view("Alice").goals:
        plans = here.domain.candidate_plans(goal, "Alice", here.view("Alice").known)
        assert not any(action.verb == "check" for plan in plans for action in plan.actions)


def test_what_a_teammate_may_bring_comes_after_what_is_still_to_be_found() -> None:
    here = world(AT_TABLE, AT_TABLE, given=tea(with_cupcakes(33)))
    done(here, "Bob", "fetch(<cupcake>(32))", GO)
    listed = [str(option.action) for option in here.view("Alice").options]
    assert listed.index("fetch(<cupcake>(33))") > max(listed.index(GO), listed.index("check(<fridge>(20))"))


def with_cupcakes(*more: int) -> Home:
    home = flat()
    nodes = {**home.nodes, **{number: home.nodes[CUPCAKE]._replace(id=number) for number in more}}
    parent = {**home.parent, **dict.fromkeys(more, home.parent[CUPCAKE])}
    return replace(home, nodes=nodes, parent=parent, room={**home.room, **dict.fromkeys(more, KITCHEN)})


def test_whose_hands_are_full_reads_no_steps_to_what_it_cannot_take() -> None:
    here = world(AT_TABLE, given=groceries(with_cupcakes(50, 51), number=3))
    assert "cupcake_51 in kitchen_11: for you 1 step to take it" in describe_goals(here, "Alice")
    done(here, "Alice", "fetch(<cupcake>(32))", "fetch(<cupcake>(50))")
    assert describe_goals(here, "Alice").endswith(
        "; you hold cupcake_32 and cupcake_50, 5 steps to bring them; cupcake_51 in kitchen_11"
    )


def test_what_lies_in_something_closed_has_no_steps_of_its_own() -> None:
    here = world(AT_FRIDGE, given=groceries())
    done(here, "Alice", "fetch(<cupcake>(32))", "go(<fridge>(20))", "put(<cupcake>(32), <fridge>(20))")
    assert re.search(r"cupcake_32 in fridge_20 \(closed\) \(-240, 200\)[.,]? \(seen", here.view("Alice").text())


def test_only_deliver_opens_what_it_puts_into() -> None:
    here = world(AT_FRIDGE, AT_FRIDGE, given=groceries())
    assert "while it is closed, where others do not see them; only deliver opens it first." in here.spec.rules
    done(here, "Alice", "fetch(<cupcake>(32))", "go(<fridge>(20))")
    (deliver,) = (option for option in here.view("Alice").options if option.action.verb == "deliver")
    assert deliver.steps == 2
    do(here, Alice="put(<cupcake>(32), <fridge>(20))")
    assert here.view("Bob").goals[0].state == "open", "the fridge is closed"
    assert here.view("Alice").goals[0].state == "done"


def test_the_doors_are_told_and_none_where_there_is_none() -> None:
    assert "Doors: kitchen_11 - livingroom_12 (300, 0)." in world(AT_TABLE).spec.rules
    home = studio()
    alone = Episode("one", "prepare_food", home, (Need("ON", "apple", TABLE, 1),), (KITCHEN,))
    assert "Doors" not in world((0.0, 0.0), given=alone).spec.rules
