"""The household in words says what is known, and no more."""

from __future__ import annotations

from teamworld.worlds.household.world import HouseholdWorld
from tests.worlds.household.scenes import AT_TABLE, done, until, world

GO = "explore(<livingroom>(12))"


def describe_goals(here: HouseholdWorld, agent: str) -> str:
    view = here.view(agent)
    return "\n".join(here.domain.describe_goal(goal, agent, view.known) for goal in view.goals)


def list_options(here: HouseholdWorld, agent: str) -> set[str]:
    return {str(option.action) for option in here.view(agent).options}


def test_the_way_to_the_table_is_estimated_once_the_table_is_found() -> None:
    here = world(AT_TABLE, AT_TABLE)
    assert "coffeetable_23: not found yet." in here.view("Alice").text()
    assert "cupcake_32 in kitchen_11: about 1 step to take it" in describe_goals(here, "Alice")
    assert "to bring it" not in describe_goals(here, "Alice")
    done(here, "Alice", GO, "explore(<kitchen>(11))")
    assert "to bring it" in describe_goals(here, "Alice")


def test_what_a_teammate_is_seen_to_hold_is_held_now_and_else_then() -> None:
    here = world(AT_TABLE, AT_TABLE)
    assert "fetch(<cupcake>(32))" in list_options(here, "Alice")
    done(here, "Bob", "fetch(<cupcake>(32))")
    assert "Bob holds cupcake_32; no more need be found" in describe_goals(here, "Alice")
    done(here, "Bob", GO)
    assert "Bob held cupcake_32 when last seen" in describe_goals(here, "Alice")
    done(here, "Bob", "go(<coffeetable>(23))", "put(<cupcake>(32), <coffeetable>(23))", "explore(<kitchen>(11))", GO)
    done(here, "Alice", GO, "explore(<kitchen>(11))")
    assert "; holds nothing that you know of now." in here.view("Alice").text()


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
