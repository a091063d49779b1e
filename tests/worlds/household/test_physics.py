"""One step of a home: what each action needs and does, who wins what is contested, and a plain reference beside it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds.household import physics, sight
from teamworld.worlds.household.homes.home import NodeId, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import HANDLING, WAIT, Happened, PrimitiveAction, Verb
from teamworld.worlds.household.state import Hands, Rules, State
from tests.worlds.household import homes
from tests.worlds.household.homes import (
    APPLE,
    BOOK,
    CABINET,
    COFFEE,
    CRATE,
    CUPCAKE,
    DOOR,
    FRIDGE,
    JUICE,
    KITCHEN,
    LIVING,
    PLATE,
    PUDDING,
    SHELF,
    STOVE,
    SWITCH,
    TABLE,
    WINE,
)
from tests.worlds.household.slow import Graph

FLAT = homes.flat()
FLOOR = Floor(FLAT)
TEA = homes.tea(FLAT)
BY_FRIDGE, BY_TABLE, BY_COFFEE, BY_CABINET = Point(-1.6, 1.6), Point(0.0, -0.7), Point(6.0, -0.3), Point(8.0, 1.2)


def begin(*points: Point, rules: Rules = Rules()) -> State:  # noqa: B008 - a value that cannot change
    """Return the start with agents at given places."""
    at = dict(enumerate(points, 1))
    return physics.start(TEA, FLOOR, generator(0, "test"), agents=len(points), rules=rules, at=at)


def do(state: State, *acts: PrimitiveAction) -> Happened:
    """Make one step."""
    return physics.step(state, dict(enumerate(acts, 1)), generator(state.time, "step"))


def reasons(happened: Happened) -> list[str]:
    """Return each agent's reason."""
    return [done.reason for done in happened.done.values()]


def test_an_apple_goes_from_the_fridge_to_the_coffee_table() -> None:
    state = begin(BY_FRIDGE)
    assert reasons(do(state, PrimitiveAction("open", FRIDGE))) == [""]
    assert APPLE in sight.seen(state, 1)
    assert reasons(do(state, PrimitiveAction("grab", APPLE))) == [""]
    assert state.hands[1] == Hands(right=APPLE)
    assert state.place(APPLE) is None
    for _ in range(30):
        if state.close(1, COFFEE):
            break
        assert reasons(do(state, PrimitiveAction("walktowards", LIVING if state.rooms[1] == KITCHEN else COFFEE))) == [
            ""
        ]
    assert state.rooms[1] == LIVING
    assert reasons(do(state, PrimitiveAction("putback", APPLE, COFFEE))) == [""]
    assert state.place(APPLE) == ("ON", COFFEE)
    assert state.room(APPLE) == LIVING
    assert state.hands[1] == Hands()
    assert [state.missing(need) for need in TEA.needs] == [0, 1]
    assert not state.done(TEA.needs)


@pytest.mark.parametrize(
    ("point", "before", "act", "reason"),
    [
        (BY_TABLE, (), PrimitiveAction("grab", 99), "unknown"),
        (BY_TABLE, (), PrimitiveAction("grab", 1), "unknown"),
        (BY_TABLE, (), PrimitiveAction("walktowards", 99), "unknown"),
        (BY_TABLE, (), PrimitiveAction("walktowards", WINE), "unseen"),
        (BY_TABLE, (), PrimitiveAction("walktowards", COFFEE), "unseen"),
        (BY_TABLE, (), PrimitiveAction("grab", WINE), "unseen"),
        (BY_FRIDGE, (), PrimitiveAction("grab", APPLE), "unseen"),
        (BY_FRIDGE, (), PrimitiveAction("grab", CUPCAKE), "not_close"),
        (BY_FRIDGE, (), PrimitiveAction("open", KITCHEN), "not_close"),
        (BY_FRIDGE, (), PrimitiveAction("grab", FRIDGE), "not_grabbable"),
        (BY_TABLE, (), PrimitiveAction("open", TABLE), "not_openable"),
        (Point(2.6, 0.0), (), PrimitiveAction("close", DOOR), "not_close"),
        (BY_FRIDGE, (PrimitiveAction("open", FRIDGE),), PrimitiveAction("open", FRIDGE), "already_open"),
        (BY_FRIDGE, (), PrimitiveAction("close", FRIDGE), "already_closed"),
        (
            BY_TABLE,
            (PrimitiveAction("grab", PLATE), PrimitiveAction("grab", CUPCAKE)),
            PrimitiveAction("open", FRIDGE),
            "not_close",
        ),
        (BY_TABLE, (), PrimitiveAction("putback", PLATE, TABLE), "not_held"),
        (BY_TABLE, (PrimitiveAction("grab", PLATE),), PrimitiveAction("putback", PLATE, PLATE), "held"),
        (BY_TABLE, (PrimitiveAction("grab", PLATE),), PrimitiveAction("grab", PLATE), "held"),
        (BY_TABLE, (PrimitiveAction("grab", CUPCAKE),), PrimitiveAction("putin", CUPCAKE, TABLE), "no_container"),
        (BY_TABLE, (PrimitiveAction("grab", CUPCAKE),), PrimitiveAction("putin", CUPCAKE, FRIDGE), "not_close"),
        (BY_COFFEE, (PrimitiveAction("grab", CRATE),), PrimitiveAction("putin", CRATE, SHELF), "not_close"),
        (BY_TABLE, (PrimitiveAction("grab", CUPCAKE),), PrimitiveAction("putback", CUPCAKE, SWITCH), "not_close"),
    ],
)
def test_what_cannot_be_done_is_named_and_changes_nothing_but_the_time(
    point: Point, before: tuple[PrimitiveAction, ...], act: PrimitiveAction, reason: str
) -> None:
    state = begin(point)
    for one in before:
        assert reasons(do(state, one)) == [""]
    kept = snapshot(state)
    assert reasons(do(state, act)) == [reason]
    assert snapshot(state) == kept
    assert state.time == len(before) + 1
    assert reason in physics.REASONS


def snapshot(state: State) -> object:
    """Return all that is true in a state."""
    places = {node: (state.place(node), state.box(node), state.contents(node)) for node in state.home.nodes}
    views = {room: state.shown(room) for room in state.home.rooms}
    return (
        places,
        views,
        dict(state.points),
        dict(state.rooms),
        dict(state.headings),
        dict(state.hands),
        state.opened,
        dict(state.holder),
    )


def test_two_hands_hold_two_things_the_right_one_first() -> None:
    state = begin(BY_TABLE)
    do(state, PrimitiveAction("grab", CUPCAKE))
    do(state, PrimitiveAction("grab", PLATE))
    assert state.hands[1] == Hands(CUPCAKE, PLATE)
    state.put(1, Point(1.0, 0.8))
    assert reasons(do(state, PrimitiveAction("grab", JUICE))) == ["hands_full"]
    state.put(1, BY_FRIDGE)
    assert reasons(do(state, PrimitiveAction("open", FRIDGE))) == ["hands_full"]
    assert reasons(do(state, PrimitiveAction("putin", CUPCAKE, FRIDGE))) == [""], "into a closed container (C7)"
    assert state.hands[1] == Hands(None, PLATE)
    assert CUPCAKE not in sight.seen(state, 1)
    do(state, PrimitiveAction("open", FRIDGE))
    assert {CUPCAKE, APPLE} <= sight.seen(state, 1)
    do(state, PrimitiveAction("grab", CUPCAKE))
    assert state.hands[1] == Hands(CUPCAKE, PLATE)


def test_strict_put_refuses_closed_containers() -> None:
    state = begin(BY_TABLE, rules=Rules(strict_put=True))
    do(state, PrimitiveAction("grab", CUPCAKE))
    state.put(1, BY_FRIDGE)
    assert reasons(do(state, PrimitiveAction("putin", CUPCAKE, FRIDGE))) == ["closed"]
    do(state, PrimitiveAction("open", FRIDGE))
    assert reasons(do(state, PrimitiveAction("putin", CUPCAKE, FRIDGE))) == [""]
    assert state.place(CUPCAKE) == ("INSIDE", FRIDGE)


def test_what_lay_on_a_thing_or_in_it_stays_when_it_is_taken() -> None:
    state = begin(BY_TABLE, BY_COFFEE)
    do(state, PrimitiveAction("grab", PLATE), PrimitiveAction("grab", CRATE))
    assert state.place(CUPCAKE) == ("INSIDE", KITCHEN)
    assert CUPCAKE in sight.seen(state, 1)
    assert state.place(PUDDING) == ("INSIDE", LIVING)
    assert PUDDING in sight.seen(state, 2)
    assert state.contents(PLATE) == ()
    assert state.box(CUPCAKE) == FLAT.nodes[CUPCAKE].box


def test_what_is_put_on_a_thing_in_a_container_is_in_the_container() -> None:
    state = begin(BY_TABLE)
    for act in (PrimitiveAction("grab", PLATE), PrimitiveAction("grab", CUPCAKE)):
        do(state, act)
    state.put(1, BY_FRIDGE)
    do(state, PrimitiveAction("putin", PLATE, FRIDGE))
    do(state, PrimitiveAction("open", FRIDGE))
    assert reasons(do(state, PrimitiveAction("putback", CUPCAKE, PLATE))) == [""]
    assert state.place(CUPCAKE) == ("INSIDE", FRIDGE)
    do(state, PrimitiveAction("close", FRIDGE))
    assert not {PLATE, CUPCAKE, APPLE} & sight.seen(state, 1)


def test_engine_mode_puts_agents_where_things_can_be_handled() -> None:
    state = begin(Point(6.0, 0.4), rules=Rules(mode="engine"))
    assert reasons(do(state, PrimitiveAction("open", FRIDGE))) == [""]
    assert state.rooms[1] == KITCHEN
    assert state.close(1, FRIDGE)
    state.put(1, BY_COFFEE)
    happened = do(state, PrimitiveAction("grab", APPLE))
    assert reasons(happened) == [""]
    assert happened.done[1].moved
    assert state.rooms[1] == KITCHEN
    assert reasons(do(state, PrimitiveAction("grab", WINE))) == ["unseen"], "not through closed doors of cabinets"


def test_one_of_two_gets_what_both_name_and_each_does_so_about_half_of_the_times() -> None:
    won = []
    for seed in range(200):
        state = begin(BY_TABLE, Point(0.4, -0.7))
        happened = physics.step(
            state, {1: PrimitiveAction("grab", CUPCAKE), 2: PrimitiveAction("grab", CUPCAKE)}, generator(seed, "coin")
        )
        (winner,) = happened.contested.values()
        loser = 3 - winner
        assert happened.done[loser].reason == "contested"
        assert not happened.done[winner].reason
        assert state.holder == {CUPCAKE: winner}
        assert state.hands[loser] == Hands()
        won.append(winner)
    assert 70 < won.count(1) < 130


def test_who_cannot_do_it_does_not_contest_it() -> None:
    for seed in range(20):
        state = begin(BY_TABLE, BY_COFFEE)
        happened = physics.step(
            state, {1: PrimitiveAction("grab", CUPCAKE), 2: PrimitiveAction("grab", CUPCAKE)}, generator(seed, "coin")
        )
        assert reasons(happened) == ["", "unseen"]
        assert not happened.contested


def test_two_things_into_one_container_are_no_conflict() -> None:
    state = begin(BY_TABLE, Point(0.4, -0.7))
    do(state, PrimitiveAction("grab", CUPCAKE), PrimitiveAction("grab", PLATE))
    state.put(1, BY_FRIDGE)
    state.put(2, Point(-1.6, 2.0))
    assert reasons(do(state, PrimitiveAction("putin", CUPCAKE, FRIDGE), PrimitiveAction("putin", PLATE, FRIDGE))) == [
        "",
        "",
    ]
    assert state.contents(FRIDGE) == (APPLE, PLATE, CUPCAKE)


def test_walking_is_no_conflict_and_a_shut_container_hides_what_the_next_would_take() -> None:
    state = begin(BY_FRIDGE, Point(-1.6, 2.0))
    do(state, PrimitiveAction("open", FRIDGE))
    assert reasons(do(state, PrimitiveAction("walktowards", FRIDGE), PrimitiveAction("walktowards", FRIDGE))) == [
        "",
        "",
    ]
    assert reasons(do(state, PrimitiveAction("close", FRIDGE), PrimitiveAction("grab", APPLE))) == ["", "unseen"]
    assert state.place(APPLE) == ("INSIDE", FRIDGE)


def test_a_message_is_heard_for_one_step_and_cut() -> None:
    state = begin(BY_FRIDGE, BY_COFFEE)
    do(state, PrimitiveAction("send_message", text="x" * 600), WAIT)
    assert state.said == {1: "x" * 500}
    do(state, WAIT, WAIT)
    assert state.said == {}


def test_turns_are_of_thirty_degrees() -> None:
    state = begin(BY_FRIDGE)
    do(state, PrimitiveAction("turnleft"))
    assert state.headings[1] == 330.0
    for _ in range(2):
        do(state, PrimitiveAction("turnright"))
    assert state.headings[1] == 30.0


def test_who_walks_on_the_spot_five_times_is_sent_to_some_room() -> None:
    state = begin(BY_TABLE)
    while do(state, PrimitiveAction("walktowards", TABLE)).done[1].moved:
        pass
    sent = []
    for _ in range(6):
        happened = do(state, PrimitiveAction("walktowards", TABLE))
        sent.append(happened.done[1].redirected)
    assert [one for one in sent if one is not None]
    assert set(sent) <= {None, KITCHEN, LIVING}
    state = begin(BY_TABLE)
    for _ in range(10):
        assert do(state, PrimitiveAction("walktowards", TABLE)).done[1].redirected is None
        do(state, WAIT)


def test_a_walk_leads_to_where_the_agent_saw_a_thing_last() -> None:
    state = begin(BY_TABLE, Point(0.4, -0.7))
    do(state, WAIT, PrimitiveAction("grab", CUPCAKE))
    state.put(1, Point(1.0, 0.8))
    for _ in range(12):
        do(state, WAIT, PrimitiveAction("walktowards", LIVING))
    assert state.rooms[2] == LIVING
    assert CUPCAKE not in sight.seen(state, 1)
    remembered = state.last[1][CUPCAKE]
    assert abs(remembered.x - 3.0) < 1.6, "where agent 2 left the kitchen"
    copied = state.copy()
    for _ in range(6):
        do(state, PrimitiveAction("walktowards", CUPCAKE), PrimitiveAction("walktowards", CABINET))
        do(copied, PrimitiveAction("walktowards", CUPCAKE), PrimitiveAction("walktowards", COFFEE))
        if state.rooms[1] == LIVING:
            break
        assert state.points[1] == copied.points[1], "does not depend on where the cupcake really is"


def test_starts_lie_in_the_rooms_of_the_episode_and_more_agents_fill_others() -> None:
    for seed in range(10):
        state = physics.start(TEA, FLOOR, generator(seed, "start"), agents=4)
        assert [state.rooms[agent] for agent in (1, 2)] == [KITCHEN, LIVING]
        assert set(state.rooms.values()) <= {KITCHEN, LIVING}
        assert len(state.points) == 4
    with pytest.raises(UserError, match="1 to 10 agents, got 11"):
        physics.start(TEA, FLOOR, generator(0, "start"), agents=11)
    with pytest.raises(UserError, match="got 0"):
        physics.start(TEA, FLOOR, generator(0, "start"), agents=0)


IDS = (0, 1, 2, 99, *FLAT.nodes)


def trying(state: State, rng: np.random.Generator) -> dict[NodeId, PrimitiveAction]:
    """Draw what agents try: now and then anything at all, else mostly what can be done."""
    acts = {}
    for agent in state.points:
        verbs: list[Verb] = ["grab", "open", "close", "putin", "putback", "walktowards", "wait"]
        verb = verbs[int(rng.integers(len(verbs)))]
        held = state.hands[agent].things
        tries = [PrimitiveAction(verb, int(a), int(b)) for a, b in rng.choice(IDS, (20, 2))]
        if held and verb in ("putin", "putback"):
            tries = [act._replace(target=held[0]) for act in tries]
        fit = [act for act in tries if not physics.refusal(state, agent, act)]
        acts[agent] = fit[0] if fit and rng.random() < 0.8 else tries[0]
    return acts


def check_whole(state: State) -> None:
    """Check that every node is in one place and hands are hands (D6)."""
    held = [thing for hands in state.hands.values() for thing in hands.things]
    assert len(held) == len(set(held))
    assert {thing: state.holder[thing] for thing in held} == state.holder
    assert all(len(hands.things) <= 2 for hands in state.hands.values())
    lying = list(itertools.chain.from_iterable(state.contents(node) for node in state.home.nodes))
    assert sorted([*lying, *held]) == sorted(set(state.home.nodes) - set(state.home.rooms))
    for node in state.home.nodes:
        place = state.place(node)
        assert (place is None) == (node in held or node in state.home.rooms)
        assert place is None or node in state.contents(place[1])
    for agent, point in state.points.items():
        assert state.rooms[agent] == state.floor.room(point)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    agents=st.integers(1, 4),
    rules=st.builds(Rules, st.sampled_from(["strict", "engine"]), st.booleans(), st.just("room")),
)
def test_steps_agree_with_the_reference_and_lose_nothing(seed: int, agents: int, rules: Rules) -> None:
    rng = generator(seed, "play")
    state = physics.start(TEA, FLOOR, rng, agents=agents, rules=rules)
    slow = Graph(state)
    for _ in range(20):
        acts = trying(state, rng)
        before = state.copy()
        kept = snapshot(before)
        happened = physics.step(state, acts, rng)
        able = slow.step(state, acts, happened.contested)
        assert able == {a: not d.reason for a, d in happened.done.items() if d.act.verb in HANDLING}
        for agent in state.points:
            assert sight.seen(state, agent) == slow.seen(agent)
            assert list(state.hands[agent].things) == slow.held(agent)
        assert state.opened == slow.opened
        check_whole(state)
        assert snapshot(before) == kept, "a copy stays as it is"
        for done in happened.done.values():
            assert done.reason in ("", *physics.REASONS)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**20), agents=st.integers(1, 4))
def test_the_same_seed_and_acts_give_the_same_events(seed: int, agents: int) -> None:
    def play() -> list[Mapping[NodeId, object]]:
        rng = generator(seed, "play")
        state = physics.start(TEA, FLOOR, rng, agents=agents)
        return [physics.step(state, trying(state, rng), rng).done for _ in range(20)]

    assert repr(play()) == repr(play())


def test_no_book_comes_out_of_a_shelf_that_cannot_be_opened_and_none_goes_in() -> None:
    state = begin(BY_COFFEE)
    do(state, PrimitiveAction("grab", CRATE))
    state.put(1, Point(5.0, 1.2))
    assert reasons(do(state, PrimitiveAction("putin", CRATE, SHELF))) == ["no_container"], (
        "it would never be seen again"
    )
    state = begin(Point(5.0, 1.2))
    assert SHELF in sight.seen(state, 1)
    assert BOOK not in sight.seen(state, 1)
    assert reasons(do(state, PrimitiveAction("grab", BOOK))) == ["unseen"]
    assert STOVE in sight.seen(begin(BY_TABLE), 1)
