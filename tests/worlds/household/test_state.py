"""One moment of a home: places, boxes, hands, what is CLOSE, what is missing, copies."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.household import physics
from teamworld.worlds.household.homes.home import Need, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import Hands, State, body
from tests.worlds.household import homes
from tests.worlds.household.homes import (
    APPLE,
    COFFEE,
    CRATE,
    CUPCAKE,
    FRIDGE,
    JUICE,
    KITCHEN,
    LIVING,
    PLATE,
    PUDDING,
    STOVE,
    TABLE,
)

FLAT = homes.flat()
FLOOR = Floor(FLAT)
TEA = homes.tea(FLAT)


def begin(*points: Point) -> State:
    """Return the start with agents at given places."""
    at = dict(enumerate(points, 1))
    return physics.start(TEA, FLOOR, generator(0, "test"), agents=len(points), at=at)


def test_hands_are_filled_from_the_right_and_emptied_where_the_thing_is() -> None:
    both = Hands().with_(APPLE).with_(JUICE)
    assert both == Hands(APPLE, JUICE)
    assert not both.free
    assert both.things == (APPLE, JUICE)
    assert both.without(APPLE) == Hands(None, JUICE)
    assert both.without(APPLE).with_(PLATE) == Hands(PLATE, JUICE)
    assert both.without(JUICE) == Hands(APPLE)


def test_what_is_held_goes_where_its_holder_goes() -> None:
    state = begin(Point(0.0, -0.7))
    state.grab(1, PLATE)
    assert (state.place(PLATE), state.room(PLATE), state.fixed(PLATE)) == (None, KITCHEN, False)
    state.put(1, Point(6.0, 0.5))
    assert state.room(PLATE) == LIVING
    assert state.box(PLATE) == body(Point(6.0, 0.5))
    assert PLATE in state.shown(LIVING)
    assert PLATE not in state.shown(KITCHEN)


def test_what_stands_on_a_container_stays_in_sight_when_it_is_shut() -> None:
    state = begin(Point(-1.5, 0.5))
    state.grab(1, JUICE)
    state.release(JUICE, ("ON", STOVE))
    state.open(STOVE)
    state.shut(STOVE)
    assert JUICE in state.shown(KITCHEN)
    assert not state.closed(JUICE)
    assert state.closed(APPLE)


def test_a_thing_in_a_searched_container_is_close_when_the_container_is() -> None:
    state = begin(Point(-0.7, 2.0))
    assert state.close(1, FRIDGE)
    assert state.close(1, APPLE)
    state.put(1, Point(0.2, 2.0))
    assert not state.close(1, FRIDGE)
    assert not state.close(1, APPLE)
    state.put(1, Point(4.6, -1.0))
    assert state.close(1, COFFEE)
    assert not state.close(1, LIVING), "rooms never are"


def test_agents_are_close_to_agents_that_are_near() -> None:
    state = begin(Point(0.0, 0.0), Point(1.6, 0.0))
    assert state.close(1, 2)
    assert state.close(2, 1)
    state.put(2, Point(1.8, 0.0))
    assert not state.close(1, 2)


def test_the_goal_counts_things_of_a_class_at_the_target_and_nowhere_else() -> None:
    state = begin(Point(0.0, -0.7))
    on_table = Need("ON", "cupcake", TABLE, 1)
    assert state.missing(on_table) == 1, "it stands on a plate on the table"
    state.grab(1, CUPCAKE)
    assert state.missing(on_table) == 1
    state.release(CUPCAKE, ("ON", TABLE))
    assert state.missing(on_table) == 0
    assert state.missing(on_table._replace(number=0)) == -1
    assert state.done([on_table])
    inside = Need("INSIDE", "apple", FRIDGE, 1)
    assert state.done([inside])
    assert not state.done([inside._replace(relation="ON")])


@settings(max_examples=60, deadline=None)
@given(x=st.integers(-250, 250), z=st.integers(-200, 200), thing=st.sampled_from([PLATE, CUPCAKE, JUICE]))
def test_a_thing_is_put_on_a_surface_where_it_is_nearest(x: int, z: int, thing: int) -> None:
    state = begin(Point(x / 100, z / 100))
    state.grab(1, thing)
    state.release(thing, ("ON", TABLE))
    box, table = state.box(thing), FLAT.nodes[TABLE].box
    assert abs(box.x - table.x) <= (table.width - box.width) / 2 + 1e-4
    assert abs(box.z - table.z) <= (table.depth - box.depth) / 2 + 1e-4
    assert abs((box.y - box.height / 2) - (table.y + table.height / 2)) < 1e-3
    own = state.points[1]
    if abs(own.x - table.x) <= (table.width - box.width) / 2:
        assert abs(box.x - own.x) < 1e-3


def test_a_copy_and_its_source_go_their_own_ways() -> None:
    state = begin(Point(6.0, -0.2))
    copy = state.copy()
    copy.grab(1, CRATE)
    copy.put(1, Point(0.0, 1.0))
    copy.last[1][CRATE] = FLAT.nodes[CRATE].box
    assert state.place(CRATE) == ("ON", COFFEE)
    assert state.place(PUDDING) == ("INSIDE", CRATE)
    assert state.hands[1] == Hands()
    assert not state.holder
    assert state.rooms[1] == LIVING
    assert not state.last[1]
    assert PUDDING in copy.shown(LIVING)
    assert PUDDING not in state.shown(LIVING)
    state.open(CRATE)
    assert PUDDING in state.shown(LIVING)
    assert CRATE not in copy.opened
