"""Frames of the transport world: what each action takes and does, what stops bodies, and when things are delivered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.transport import physics
from teamworld.worlds.transport.sight import Moment
from teamworld.worlds.transport.state import (
    BLOCKED,
    CONTAINED,
    CONTAINER_FULL,
    DROP,
    EMPTY_HAND,
    FAILURE,
    FORWARD,
    GRASP,
    HAND_FULL,
    HELD,
    LEFT,
    NOBODY,
    NONE,
    NOTHING,
    NOTHING_TO_PUT,
    OK,
    PUT,
    RIGHT,
    RUNNING,
    SPILLED,
    STAY,
    SUCCESS,
    TOO_FAR,
    Primitive,
    Rules,
)
from tests.worlds.transport.houses import box, do, give, house, item, moment, put_agent
from tests.worlds.transport.slow_physics import SlowHouse

DONE = SUCCESS, OK


def at(here: Moment, agent: int = 0) -> tuple[float, float]:
    return float(here.state.agents["x"][agent]), float(here.state.agents["z"][agent])


# ---- frames


def test_a_turn_takes_two_frames_and_15_degrees() -> None:
    here = moment(house())
    assert do(here, 0, RIGHT, RIGHT) == [(2, *DONE)] * 2
    body = here.state.agents[0]
    assert (body["east"], body["north"]) == pytest.approx((0.5, math.sqrt(0.75)))
    assert do(here, 0, *[LEFT] * 26) == [(2, *DONE)] * 26
    assert (body["east"], body["north"]) == pytest.approx((0.0, 1.0), abs=1e-9)
    assert int(here.state.clock[0]) == 56


def test_a_free_move_takes_nine_frames_and_44_centimetres() -> None:
    here = moment(house(starts=[(1.0, 2.0, 90.0)]))
    assert do(here, 0, FORWARD, FORWARD) == [(9, *DONE)] * 2
    assert at(here) == pytest.approx((1.88, 2.0))
    assert here.state.agents[0][["moves", "blocked"]].tolist() == (2, 0)


def test_a_move_that_is_blocked_at_once_takes_two_frames_and_creeps() -> None:
    """The probe reaches 0.59 m ahead. Nearer than 0.29 m it looks past the thin wall, as it does in the benchmark."""
    here = moment(house(starts=[(2.0, 3.5, 0.0)]))
    assert do(here, 0, *[FORWARD] * 4) == [(2, FAILURE, BLOCKED)] * 4
    assert at(here) == pytest.approx((2.0, 3.74))
    assert do(here, 0, *[FORWARD] * 3) == [(3, FAILURE, BLOCKED)] * 3
    assert 3.74 < at(here)[1] <= 3.8, "the body keeps 0.2 m from walls"


def test_a_move_is_blocked_on_the_way() -> None:
    here = moment(house(starts=[(2.0, 3.2, 0.0)]))
    frames, status, reason = do(here, 0, FORWARD)[0]
    assert (status, reason) == (FAILURE, BLOCKED)
    assert 3 <= frames <= 8
    walked = (frames - 2) * 0.44 / 7
    assert 3.2 + walked + 0.5875 >= 4.0 > 3.2 + walked - 0.44 / 7 + 0.5875
    assert at(here)[1] == pytest.approx(3.2 + walked + 0.06)


def test_a_grasp_takes_five_frames_and_the_walk() -> None:
    here = moment(house([item(1, "apple", 2.5, 2.0), item(2, "apple", 1.0, 2.0)], starts=[(2.0, 2.0, 180.0)]))
    assert do(here, 0, GRASP, item=0) == [(5, *DONE)]
    assert here.state.hands[0].tolist() == [0, NOTHING]
    body = here.state.agents[0]
    assert (body["east"], body["north"]) == pytest.approx((1.0, 0.0), abs=1e-9)
    steps = math.ceil((1.0 - 0.7) / (0.44 / 7))
    assert do(here, 0, GRASP, item=1, hand=1) == [(5 + steps, *DONE)]
    assert at(here)[0] == pytest.approx(2.0 - steps * 0.44 / 7)


def test_what_is_more_than_two_metres_away_is_refused_in_a_frame() -> None:
    here = moment(house([item(1, "apple", 2.0, 0.6)], starts=[(2.0, 2.61, 0.0)]))
    assert do(here, 0, GRASP, item=0) == [(1, FAILURE, TOO_FAR)]
    put_agent(here, 0, 2.0, 2.59)
    assert do(here, 0, GRASP, item=0)[0][1:] == DONE


def test_a_grasp_succeeds_where_the_way_is_blocked() -> None:
    """The thing lies on a wide table, more than 0.7 m from where one can stand."""
    table = box("table", 2.0, 3.0, 3.0, 1.6, 0.8)
    here = moment(house([item(1, "apple", 2.0, 3.2, 0.8, support=1)], [table], [(2.0, 1.5, 0.0)]))
    frames, *end = do(here, 0, GRASP, item=0)[0]
    assert tuple(end) == DONE
    assert frames < 5 + (1.7 - 0.7) / (0.44 / 7)
    assert at(here)[1] < 2.2


def test_putting_in_takes_146_frames_and_dropping_33() -> None:
    here = moment(house([item(1, "apple", 2.0, 2.0), item(2, "bowl", 2.0, 2.0)]))
    give(here, 0, 0, 0)
    give(here, 0, 1, 1)
    assert do(here, 0, PUT) == [(146, *DONE)]
    assert here.state.hands[0].tolist() == [NOTHING, 1]
    assert here.state.items["inside"].tolist() == [1, NOTHING]
    assert do(here, 0, DROP, hand=1) == [(33, *DONE)]
    assert here.state.hands[0].tolist() == [NOTHING, NOTHING]
    assert here.state.items["inside"].tolist() == [1, NOTHING]
    assert here.state.items[1][["x", "y", "z"]].tolist() == pytest.approx((2.0, 0.0, 2.5))
    assert do(here, 0, DROP, hand=0) == [(1, FAILURE, EMPTY_HAND)]


def test_the_frames_of_putting_in_can_be_set() -> None:
    here = moment(house([item(1, "apple", 2.0, 2.0), item(2, "bowl", 2.0, 2.0)]))
    give(here, 0, 0, 0)
    give(here, 0, 1, 1)
    assert do(here, 0, PUT, rules=Rules(put_frames=103)) == [(103, *DONE)]


def test_frames_go_by_until_any_agent_is_done() -> None:
    here = moment(house(starts=[(1.0, 2.0, 90.0), (6.0, 2.0, 0.0)]))
    physics.order(here.state, 0, Primitive(FORWARD))
    for _ in range(4):
        physics.order(here.state, 1, Primitive(LEFT))
        assert physics.run(here.ground, Rules(), here.state, 100) == 2
        assert here.state.agents["last"].tolist() == [NONE, LEFT]
        assert here.state.agents["status"].tolist() == [RUNNING, SUCCESS]
    physics.order(here.state, 1, Primitive(STAY, frames=7))
    assert physics.run(here.ground, Rules(), here.state, 100) == 1
    assert here.state.agents["last"].tolist() == [FORWARD, NONE]
    assert physics.run(here.ground, Rules(), here.state, 100) == 6
    assert here.state.agents["last"].tolist() == [NONE, STAY]
    assert physics.run(here.ground, Rules(), here.state, 100) == 100


# ---- hands


def test_what_a_hand_cannot_take() -> None:
    things = [item(1, "apple", 2.2, 2.0), item(2, "bowl", 2.4, 2.0), item(3, "apple", 1.8, 2.0)]
    here = moment(house(things, starts=[(2.0, 2.0, 0.0), (2.0, 1.0, 0.0)]))
    here.state.items["inside"][0] = 1
    assert do(here, 0, GRASP, item=0) == [(5, FAILURE, CONTAINED)]
    give(here, 1, 0, 2)
    put_agent(here, 1, 2.5, 2.0)
    assert do(here, 0, GRASP, item=2)[0][1:] == (FAILURE, HELD)
    assert do(here, 0, GRASP, item=2, rules=Rules(can_steal=True))[0][1:] == DONE
    assert here.state.hands.tolist() == [[2, NOTHING], [NOTHING, NOTHING]]
    assert do(here, 0, GRASP, item=1) == [(1, FAILURE, HAND_FULL)]
    assert do(here, 0, GRASP, item=1, hand=1)[0][1:] == DONE


@pytest.mark.parametrize("hands", [(), (0,), (0, 3), (1,), (1, 4)])
def test_putting_in_needs_a_container_and_a_target(hands: tuple[int, ...]) -> None:
    names = ("apple", "bowl", "plate", "pen", "wood_basket")
    here = moment(house([item(k, name, 2.0, 2.0) for k, name in enumerate(names)]))
    for hand, thing in enumerate(hands):
        give(here, 0, hand, thing)
    assert do(here, 0, PUT) == [(1, FAILURE, NOTHING_TO_PUT)]


def test_a_container_takes_three() -> None:
    here = moment(house([*(item(k, "apple", 2.0, 2.0) for k in range(1, 5)), item(5, "bowl", 2.0, 2.0)]))
    give(here, 0, 1, 4)
    for thing in range(3):
        give(here, 0, 0, thing)
        assert do(here, 0, PUT) == [(146, *DONE)]
    give(here, 0, 0, 3)
    assert do(here, 0, PUT) == [(1, FAILURE, CONTAINER_FULL)]
    assert here.state.items["inside"].tolist() == [4, 4, 4, NOTHING, NOTHING]


def test_what_is_put_in_may_fall_beside() -> None:
    here = moment(house([item(1, "apple", 1.0, 1.0), item(2, "bowl", 2.0, 2.0)]))
    give(here, 0, 0, 1)
    give(here, 0, 1, 0)
    physics.order(here.state, 0, Primitive(PUT), luck=0.2)
    assert physics.run(here.ground, Rules(put_failure=0.3), here.state, 1000) == 146
    assert here.state.agents["reason"][0] == SPILLED
    assert here.state.hands[0].tolist() == [1, NOTHING]
    assert here.state.items[0][["x", "z"]].tolist() == pytest.approx((2.0, 2.5))
    give(here, 0, 1, 0)
    physics.order(here.state, 0, Primitive(PUT), luck=0.3)
    physics.run(here.ground, Rules(put_failure=0.3), here.state, 1000)
    assert here.state.agents["status"][0] == SUCCESS


def test_things_fall_on_this_side_of_a_wall_and_on_furniture() -> None:
    table = box("table", 2.0, 1.0, 1.0, 1.0, 0.75)
    here = moment(house([item(1, "apple", 2.0, 2.0), item(2, "apple", 2.0, 2.0)], [table], [(2.0, 3.7, 0.0)]))
    give(here, 0, 0, 0)
    give(here, 0, 1, 1)
    do(here, 0, DROP)
    assert 3.7 <= here.state.items["z"][0] <= 4.0
    put_agent(here, 0, 2.0, 1.8, 180.0)
    do(here, 0, DROP, hand=1)
    assert here.state.items[1][["y", "z"]].tolist() == pytest.approx((0.75, 1.3))
    assert here.state.items["support"].tolist() == [NOTHING, 1]


# ---- delivery


def test_what_comes_near_the_bed_is_delivered_for_good_held_or_not() -> None:
    here = moment(house([item(1, "apple", 9.0, 2.0), item(2, "apple", 9.5, 2.0)], starts=[(7.0, 2.0, 0.0)]))
    give(here, 0, 0, 0)
    do(here, 0, STAY)
    assert here.state.items["delivered"].tolist() == [False, True], "the second lies 1.8 m from the bed"
    put_agent(here, 0, 8.35, 2.0)
    do(here, 0, STAY)
    assert here.state.items["delivered"].tolist() == [True, True]
    assert here.state.items["released"].tolist() == [False, True]
    put_agent(here, 0, 2.0, 2.0)
    do(here, 0, STAY)
    assert here.state.items["delivered"].tolist() == [True, True]
    assert here.state.items["released"].tolist() == [False, True]
    put_agent(here, 0, 9.0, 1.0)
    do(here, 0, DROP)
    assert here.state.items["released"].tolist() == [True, True]


def test_what_lies_near_the_bed_in_another_room_is_not_delivered() -> None:
    here = moment(house([item(1, "apple", 7.7, 2.0), item(2, "apple", 8.7, 2.0)]))
    here.state.items["x"][:] = 7.95, 8.31  # nearer to the kitchen than to the bedroom; within 3 m of the bed
    ground = here.ground._replace(bed_x=10.5)
    physics.run(ground, Rules(), here.state, 1)
    assert here.state.items["delivered"].tolist() == [False, True]


def test_what_is_in_a_held_container_is_delivered_with_it() -> None:
    here = moment(house([item(1, "apple", 1.0, 2.0), item(2, "bowl", 1.0, 2.0)], starts=[(9.0, 2.0, 0.0)]))
    here.state.items["inside"][0] = 1
    give(here, 0, 0, 1)
    do(here, 0, STAY)
    assert here.state.items["delivered"].tolist() == [True, False]


# ---- what stops bodies


@pytest.mark.parametrize(
    ("name", "stops"), [("wood_basket", True), ("bowl", True), ("plate", False), ("apple", False), ("pen", False)]
)
def test_which_things_stop_a_walk(name: str, stops: bool) -> None:
    """Targets never do, and what is no higher than 0.12 m lies below the probe."""
    here = moment(house([item(1, name, 2.0, 3.0)], starts=[(2.0, 2.3, 0.0)]))
    assert (do(here, 0, FORWARD)[0][1] == FAILURE) == stops
    give(here, 0, 0, 0)
    put_agent(here, 0, 2.0, 2.3)
    assert do(here, 0, FORWARD)[0][1:] == DONE


def test_another_agent_stops_a_walk() -> None:
    here = moment(house(starts=[(2.0, 1.0, 0.0), (2.0, 1.7, 0.0)]))
    assert do(here, 0, FORWARD) == [(2, FAILURE, BLOCKED)]
    put_agent(here, 1, 2.5, 1.5)
    assert do(here, 0, FORWARD)[0][1:] == (FAILURE, BLOCKED), "within 0.2 m of the side of the probe"
    put_agent(here, 0, 2.0, 1.0)
    put_agent(here, 1, 2.55, 1.5)
    assert do(here, 0, FORWARD)[0][1:] == DONE


def test_without_faithful_a_body_walks_up_to_what_is_in_its_way() -> None:
    here = moment(house(starts=[(2.0, 3.5, 0.0)]))
    frames, status, reason = do(here, 0, FORWARD, rules=Rules(is_faithful=False))[0]
    assert (frames, status, reason) == (2 + 4 + 1, FAILURE, BLOCKED)
    assert at(here)[1] == pytest.approx(3.5 + 4 * 0.44 / 7)


def test_who_stands_in_furniture_gets_out_of_it() -> None:
    table = box("table", 2.0, 2.0, 1.0, 1.0, 0.75)
    here = moment(house((), [table], [(1.0, 1.0, 0.0)]))
    put_agent(here, 0, 2.0, 2.45)
    for _ in range(12):
        do(here, 0, FORWARD)
    assert at(here)[1] > 2.7


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_walks_are_those_of_the_plain_reference(seed: int, is_faithful: bool) -> None:
    rng = generator(seed, "test")
    places = rng.uniform((0.4, 0.4), (7.2, 3.6), (9, 2)).tolist()
    sizes = rng.uniform(0.2, 1.0, (4, 2)).tolist()
    pieces = [box("piece", x, z, wide, deep, 0.7) for (x, z), (wide, deep) in zip(places[:4], sizes, strict=True)]
    things = [item(k, "wood_basket", x, z) for k, (x, z) in enumerate(places[4:7])]
    starts = [(x, z, 15.0 * float(rng.integers(24))) for x, z in places[7:]]
    instance, rules = house(things, pieces, starts), Rules(is_faithful=is_faithful)
    here, slow = moment(instance), SlowHouse(instance, rules)
    for verb in rng.choice([FORWARD, FORWARD, FORWARD, LEFT, RIGHT], 60).tolist():
        agent = int(rng.integers(2))
        frames, status, _ = do(here, agent, verb, rules=rules)[0]
        if verb == FORWARD:
            assert (frames, status == SUCCESS) == slow.forward(agent)
        else:
            assert frames == slow.turn(agent, 15.0 if verb == RIGHT else -15.0)
        body, plain = here.state.agents[agent], slow.bodies[agent]
        assert (body["x"], body["z"]) == pytest.approx((plain.x, plain.z), abs=1e-7)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_nothing_is_lost_and_nobody_leaves_the_house(seed: int) -> None:
    rng = generator(seed, "test")
    names = ("apple", "apple", "bread", "burger", "bowl", "plate", "wood_basket")
    places = rng.uniform((0.3, 0.3), (7.7, 3.7), (len(names), 2)).tolist()
    things = [item(k, name, x, z) for k, (name, (x, z)) in enumerate(zip(names, places, strict=True))]
    here = moment(house(things, (), [(2.0, 2.0, 0.0), (3.0, 2.0, 0.0), (6.0, 2.0, 0.0)]))
    state, creep = here.state, float(rng.choice([0.0, 0.12]))
    rules = Rules(can_steal=bool(rng.integers(2)), put_failure=0.5, creep=creep)
    for _ in range(150):
        for agent in np.flatnonzero(state.agents["verb"] == NONE).tolist():
            verb = int(rng.choice([FORWARD, FORWARD, FORWARD, LEFT, RIGHT, GRASP, GRASP, PUT, DROP]))
            primitive = Primitive(verb, int(rng.integers(len(names))), int(rng.integers(2)))
            physics.order(state, agent, primitive, float(rng.random()))
        before = state.copy()
        frames = physics.run(here.ground, rules, state, 500)
        assert state.clock[0] - before.clock[0] == frames
        for agent, body in enumerate(state.agents):
            for x0, z0, x1, z1 in here.ground.walls.tolist():
                away = math.hypot(max(x0 - body["x"], body["x"] - x1, 0), max(z0 - body["z"], body["z"] - z1, 0))
                assert away >= rules.body_radius - 1e-12
            for thing in state.hands[agent].tolist():
                assert thing == NOTHING or state.items["holder"][thing] == agent
        held = sorted(thing for thing in state.hands.reshape(-1).tolist() if thing != NOTHING)
        assert held == np.flatnonzero(state.items["holder"] != NOBODY).tolist()
        inside = np.flatnonzero(state.items["inside"] != NOTHING)
        assert set(state.items["inside"][inside].tolist()) <= {4, 5}
        assert not set(inside.tolist()) & set(held)
        assert (state.items["delivered"] >= before.items["delivered"]).all()
        assert (state.items["delivered"] >= state.items["released"]).all()


def test_agents_do_not_walk_into_each_other() -> None:
    here = moment(house(starts=[(1.0, 2.0, 90.0), (3.0, 2.0, -90.0)]))
    for _ in range(30):
        for agent in np.flatnonzero(here.state.agents["verb"] == NONE).tolist():
            physics.order(here.state, agent, Primitive(FORWARD))
        physics.run(here.ground, Rules(), here.state, 100)
        assert math.dist(at(here, 0), at(here, 1)) >= 0.4 - 1e-9
