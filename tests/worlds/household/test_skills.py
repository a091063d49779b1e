"""How actions become one act a tick, and how they end: each must, whatever the others do meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from teamworld.language import parse_action
from teamworld.worlds.household.homes.home import Episode, Need
from teamworld.worlds.household.world import HouseholdWorld
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, FRIDGE, KITCHEN, LIVING, TABLE, flat
from tests.worlds.household.scenes import (
    AT_CABINET,
    AT_COFFEE,
    AT_FRIDGE,
    AT_TABLE,
    do,
    done,
    groceries,
    moved,
    stroll,
    told,
    until,
    world,
)

OPEN_APPLE = moved(flat(), {APPLE: ("ON", TABLE)})
"""The apple lies on the table."""
STORE = Episode(
    "store",
    "put_fridge",
    OPEN_APPLE,
    (Need("INSIDE", "cupcake", FRIDGE, 1), Need("INSIDE", "apple", FRIDGE, 1)),
    (KITCHEN, LIVING),
)

BAD = (
    *("talk(0)", "talk()", "wait(1)", "turn(left)", "fly(<fridge>(20))", "fetch(fridge)", "fetch(<fridge>(20))"),
    *("explore(<fridge>(20))", "put(<apple>(30))", "put(<apple>(30), <fridge>(20))", "open(<coffeetable>(23))"),
    *("go((3, 4))", "check(<kitchen>(11))", "deliver(<fridge>(20))", "grab(Alice)"),
)


def verbs(here: HouseholdWorld, agent: str, order: str) -> list[str]:
    """Order once and let it run until it is over; return the act of each tick."""
    report = do(here, **{agent: order})
    found: list[str] = []
    while True:
        found += report.outcomes[agent].primitives
        if report.outcomes[agent].status != "running":
            assert report.outcomes[agent].status == "done", report.outcomes[agent]
            return found
        report = here.step({})


# ---- each macro, as it should go


def test_explore_ends_in_the_room() -> None:
    here = world(AT_FRIDGE)
    assert set(verbs(here, "Alice", "explore(<livingroom>(12))")) == {"walktowards"}
    assert told(here, "Alice", "Alice") == {"AT <livingroom>(12)"}
    outcome, steps = until(here, "Alice", "explore(<livingroom>(12))")
    assert (outcome.legal, outcome.word, steps) == (False, "there", 1)


def test_check_walks_and_opens() -> None:
    here = world(AT_TABLE)
    found = verbs(here, "Alice", "check(<fridge>(20))")
    assert found[-1] == "open"
    assert set(found[:-1]) == {"walktowards"}
    assert "STATE open" in told(here, "Alice", "<fridge>(20)")
    assert until(here, "Alice", "check(<fridge>(20))")[0].word == "already_open"


def test_fetch_walks_and_takes() -> None:
    here = world(AT_FRIDGE)
    found = verbs(here, "Alice", "fetch(<cupcake>(32))")
    assert found[-1] == "grab"
    assert set(found[:-1]) == {"walktowards"}
    assert "HOLD <cupcake>(32)" in told(here, "Alice", "Alice")
    assert until(here, "Alice", "fetch(<cupcake>(32))")[0].word == "held"


def test_deliver_puts_both_things_one_a_tick() -> None:
    here = world(AT_FRIDGE)
    done(here, "Alice", "check(<fridge>(20))", "fetch(<apple>(30))", "fetch(<cupcake>(32))")
    assert until(here, "Alice", "deliver()")[0].word == "unseen"  # nobody has seen the table
    done(here, "Alice", "explore(<livingroom>(12))")
    assert verbs(here, "Alice", "deliver()")[-2:] == ["putback", "putback"]
    assert here._over == "all_done"


@pytest.mark.parametrize("strict_put", [False, True])
def test_deliver_opens_what_is_closed_with_a_free_hand(strict_put: bool) -> None:
    here = world(AT_TABLE, given=groceries(), strict_put=strict_put)
    done(here, "Alice", "fetch(<cupcake>(32))")
    assert verbs(here, "Alice", "deliver()")[-2:] == ["open", "putin"]


def test_deliver_with_both_hands_full_puts_one_thing_into_what_is_closed_then_opens_it() -> None:
    here = world(AT_TABLE, given=STORE)
    done(here, "Alice", "fetch(<cupcake>(32))", "fetch(<apple>(30))")
    assert verbs(here, "Alice", "deliver()")[-3:] == ["putin", "open", "putin"]  # C7


def test_where_nothing_goes_into_what_is_closed_full_hands_cannot_deliver_and_are_not_advised() -> None:
    here = world(AT_TABLE, given=STORE, strict_put=True)
    done(here, "Alice", "fetch(<cupcake>(32))")
    view = here.view("Alice")
    assert "fetch(<apple>(30))" not in [str(option.action) for option in view.options]
    (plan, *_) = here.domain.candidate_plans(view.goals[1], "Alice", view.known)
    assert [str(action) for action in plan.actions] == ["deliver()"]  # one hand must open the fridge first
    done(here, "Alice", "fetch(<apple>(30))")
    outcome, _ = until(here, "Alice", "deliver()")
    assert (outcome.status, outcome.word) == ("failed", "closed")
    done(here, "Alice", "wait()")


def test_the_first_thing_delivered_opens_the_way_for_two() -> None:
    here = world(AT_TABLE, given=STORE, strict_put=True)
    done(here, "Alice", "check(<fridge>(20))", "fetch(<cupcake>(32))")
    assert "fetch(<apple>(30))" in [str(option.action) for option in here.view("Alice").options]


# ---- what others do meanwhile


def test_a_thing_that_is_gone_is_not_fetched() -> None:
    here = world(AT_COFFEE, AT_TABLE)
    done(here, "Alice", "explore(<kitchen>(11))", "explore(<livingroom>(12))", "go(<cabinet>(22))")
    done(here, "Bob", "fetch(<cupcake>(32))", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))")
    outcome, _ = until(here, "Alice", "fetch(<cupcake>(32))")
    assert (outcome.status, outcome.word, outcome.legal) == ("failed", "gone", True)
    assert here.view("Alice").history[-1].word == "gone"


def test_a_thing_that_is_taken_before_ones_eyes_is_not_fetched() -> None:
    here = world(AT_FRIDGE, AT_TABLE)
    report = do(here, Alice="fetch(<cupcake>(32))", Bob="fetch(<cupcake>(32))")
    assert report.outcomes["Bob"].status == "done"
    outcome = report.outcomes["Alice"]
    assert (outcome.status, outcome.word, outcome.constraint) == ("failed", "held", "spatial")


@pytest.mark.parametrize("seed", range(4))
def test_of_two_that_grab_one_thing_one_gets_it(seed: int) -> None:
    here = world(AT_TABLE, (0.4, -0.7), seed=seed)
    outcomes = do(here, Alice="grab(<cupcake>(32))", Bob="fetch(<cupcake>(32))").outcomes
    won = [agent for agent, outcome in outcomes.items() if outcome.status == "done"]
    (lost,) = [agent for agent, outcome in outcomes.items() if outcome.status == "failed"]
    assert won == [outcomes[lost].blocker]
    assert (outcomes[lost].word, outcomes[lost].constraint) == ("contested", "spatial")
    assert "HOLD <cupcake>(32)" in told(here, lost, won[0])


def test_both_win_sometimes() -> None:
    winners = set()
    for seed in range(12):
        outcomes = do(world(AT_TABLE, (0.4, -0.7), seed=seed), Alice="grab(<cupcake>(32))", Bob="grab(<cupcake>(32))")
        winners |= {agent for agent, one in outcomes.outcomes.items() if one.status == "done"}
    assert winners == {"Alice", "Bob"}


@pytest.mark.parametrize("order", ["fetch(<apple>(30))", "go(<apple>(30))"])
def test_what_is_shut_away_meanwhile_is_not_walked_to_for_ever(order: str) -> None:
    here = world(AT_COFFEE, AT_FRIDGE)
    done(here, "Bob", "open(<fridge>(20))")
    done(here, "Alice", "explore(<kitchen>(11))", "explore(<livingroom>(12))", "go(<coffeetable>(23))")
    assert here.view("Alice").check(parse_action(order)).ok
    do(here, Alice=order, Bob="close(<fridge>(20))")
    outcome, _ = until(here, "Alice", order)
    assert (outcome.status, outcome.word) == ("failed", "closed")
    assert until(here, "Alice", order)[0].word == "closed"
    assert told(here, "Alice", "<apple>(30)") == {"INSIDE <fridge>(20)"}


def test_a_container_that_somebody_else_opens_first_is_checked_all_the_same() -> None:
    here = world((2.0, -1.0), AT_FRIDGE)
    do(here, Alice="check(<fridge>(20))", Bob="open(<fridge>(20))")
    outcome = here.view("Alice").history[-1]
    assert (str(outcome.action), outcome.status) == ("check(<fridge>(20))", "done")
    assert "INSIDE <fridge>(20)" in told(here, "Alice", "<apple>(30)")


def test_what_was_opened_out_of_sight_is_checked_all_the_same() -> None:
    here = world(AT_COFFEE, AT_FRIDGE)
    done(here, "Alice", "explore(<kitchen>(11))", "explore(<livingroom>(12))", "go(<coffeetable>(23))")
    done(here, "Bob", "open(<fridge>(20))")
    assert until(here, "Alice", "check(<fridge>(20))")[0].status == "done"


# ---- interruption, waiting, talking


def test_another_order_breaks_off_what_runs_and_it_is_remembered() -> None:
    here = world(AT_FRIDGE)
    assert do(here, Alice="explore(<livingroom>(12))").outcomes["Alice"].status == "running"
    do(here, Alice="go(<fridge>(20))")
    first = here.view("Alice").history[0]
    assert (str(first.action), first.status, first.word) == ("explore(<livingroom>(12))", "failed", "interrupted")


def test_what_cannot_start_breaks_off_what_runs_all_the_same() -> None:
    here = world(AT_FRIDGE)
    do(here, Alice="explore(<livingroom>(12))")
    outcome = do(here, Alice="deliver()").outcomes["Alice"]
    assert (outcome.legal, outcome.word, outcome.moved) == (False, "empty_hands", False)
    assert [one.word for one in here.view("Alice").history] == ["interrupted", "empty_hands"]
    assert here.step({}).outcomes["Alice"].action == parse_action("wait()")


def test_talking_takes_its_ticks_and_waiting_one() -> None:
    here = world(AT_FRIDGE)
    statuses = [do(here, Alice="talk(3)").outcomes["Alice"].status for _ in range(3)]
    assert statuses == ["running", "running", "done"]
    assert do(here, Alice="wait()").outcomes["Alice"].status == "done"
    for bad in BAD:
        outcome = do(here, Alice=bad).outcomes["Alice"]
        assert (outcome.status, outcome.legal) == ("failed", False), bad
        assert outcome.word.isidentifier(), bad


@pytest.mark.parametrize("order", ["open(<fridge>(20))", "grab(<cupcake>(32))", "close(<fridge>(20))"])
def test_primitives_do_not_walk(order: str) -> None:
    here = world((2.4, 2.3))
    outcome = do(here, Alice=order).outcomes["Alice"]
    assert outcome.word in ("not_close", "already_closed")
    assert not outcome.moved


def test_in_engine_mode_they_need_no_walk() -> None:
    here = world((2.4, 2.3), mode="engine")
    assert do(here, Alice="grab(<cupcake>(32))").outcomes["Alice"].status == "done"


def test_full_hands_neither_open_nor_take() -> None:
    home = moved(flat(), {APPLE: ("ON", TABLE)})
    needs = (Need("ON", "apple", COFFEE, 1), Need("ON", "cupcake", COFFEE, 1), Need("ON", "plate", COFFEE, 1))
    here = world(AT_TABLE, given=Episode("t", "read_book", home, needs, (KITCHEN, LIVING)))
    done(here, "Alice", "grab(<cupcake>(32))", "grab(<apple>(30))")
    for order in ("grab(<plate>(31))", "fetch(<plate>(31))", "check(<fridge>(20))"):
        assert do(here, Alice=order).outcomes["Alice"].word == "hands_full"
    assert {one.action.verb for one in here.view("Alice").options} == {"explore", "wait"}


# ---- what is ahead


def test_a_turn_is_thirty_degrees() -> None:
    here = world(AT_TABLE, sight="cone")
    for side, heading in (("right", 30.0), ("right", 60.0), ("left", 30.0), ("left", 0.0), ("left", 330.0)):
        done(here, "Alice", f"turn({side})")
        assert here._state.headings[1] == heading


def test_exploring_walks_to_the_middle_and_turns_once_round() -> None:
    here = world(AT_TABLE, sight="cone")
    found = verbs(here, "Alice", "explore(<kitchen>(11))")
    assert found[-11:] == ["turnleft"] * 11
    assert set(found[:-11]) <= {"walktowards"}
    assert here._state.points[1] == here._floor.end(KITCHEN)


def test_a_turn_is_refused_where_all_of_the_room_is_seen() -> None:
    view = world(AT_TABLE).view("Alice")
    assert view.check(parse_action("turn(left)")).word == "illegal"
    assert "turn" not in [schema.verb for schema in view.abilities]


# ---- nothing goes on for ever


@pytest.mark.parametrize(
    "options",
    [{}, {"sight": "cone"}, {"sight": "cone", "occlusion": True}, {"mode": "engine"}, {"strict_put": True}],
    ids=str,
)
@pytest.mark.parametrize("given", ["tea", "store"])
def test_every_action_ends(options: Mapping[str, Any], given: str) -> None:
    """Three that hinder each other: no action takes longer than the longest walk, with a turn round."""
    here = world(AT_FRIDGE, AT_CABINET, AT_TABLE, given=STORE if given == "store" else None, horizon=400, **options)
    for tick, report in enumerate(stroll(here, 3, 400)):
        for agent, outcome in () if report is None else report.outcomes.items():
            if outcome.status == "running":
                assert tick - outcome.start < 40, (agent, outcome)


def test_both_hands_are_emptied_in_the_order_of_their_filling() -> None:
    here = world(AT_TABLE, given=STORE)
    done(here, "Alice", "fetch(<cupcake>(32))", "fetch(<apple>(30))")
    do(here, Alice="deliver()")
    while len(here._state.hands[1].things) == 2:
        here.step({})
    assert here._state.hands[1].things == (APPLE,)
    assert here._state.place(CUPCAKE) == ("INSIDE", FRIDGE)


def test_in_engine_mode_one_can_walk_to_what_is_across_the_room() -> None:
    here = world(AT_TABLE, mode="engine")
    outcome, steps = until(here, "Alice", f"go(<fridge>({FRIDGE}))")
    assert (outcome.status, steps > 1) == ("done", True)
    again = do(here, Alice=f"go(<fridge>({FRIDGE}))").outcomes["Alice"]
    assert (again.status, again.word) == ("failed", "there")


def test_single_actions_of_the_engine_are_judged_by_the_physics_alone() -> None:
    here = world(AT_FRIDGE, primitives=True)
    names = [schema.verb for schema in here.view("Alice").abilities]
    assert {"walktowards", "putin", "putback"} <= set(names)
    done(
        here,
        "Alice",
        f"open(<fridge>({FRIDGE}))",
        f"grab(<apple>({APPLE}))",
        f"putin(<apple>({APPLE}), <fridge>({FRIDGE}))",
    )
    assert here._state.place(APPLE) == ("INSIDE", FRIDGE)
    done(here, "Alice", f"walktowards(<kitchen>({KITCHEN}))")
    tried = {
        f"walktowards(<coffeetable>({COFFEE}))": "unseen",
        "walktowards(<wine>(999))": "unseen",
        f"putback(<apple>({APPLE}), <kitchentable>({TABLE}))": "not_held",
        f"putback(<cupcake>({CUPCAKE}), <kitchentable>({TABLE}))": "not_held",
        f"open(<fridge>({FRIDGE}))": "not_close",
    }
    done(here, "Alice", *[f"walktowards(<kitchentable>({TABLE}))"] * 3)
    for order, reason in tried.items():
        outcome = do(here, Alice=order).outcomes["Alice"]
        assert (outcome.status, outcome.word) == ("failed", reason), order
    assert here.domain.predict(
        "Alice", parse_action(f"walktowards(<kitchen>({KITCHEN}))"), here.known("Alice")
    ) is here.known("Alice")


def test_single_actions_of_the_engine_are_an_option() -> None:
    here = world(AT_FRIDGE)
    outcome = do(here, Alice=f"walktowards(<kitchen>({KITCHEN}))").outcomes["Alice"]
    assert (outcome.status, outcome.legal) == ("failed", False)
