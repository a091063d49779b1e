"""Each rule by which an agent takes things to be somewhere (household spec A13)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.language import Entity, Fact
from teamworld.methods.mhp.belief import OPEN, Belief
from teamworld.methods.mhp.inventory import make_inventory
from teamworld.methods.mhp.percept import Percept, perceive, sees_in_part
from teamworld.worlds.contract import Goal
from tests.methods.mhp import home as h

HOME = h.home()
N = HOME.indices
ROOMS, BOXES = set(HOME.rooms), set(HOME.containers)
KITCHEN, BEDROOM, FRIDGE, CUPBOARD, CABINET, TABLE, APPLE = h.numbers(
    HOME, h.KITCHEN, h.BEDROOM, h.FRIDGE, h.CUPBOARD, h.CABINET, h.TABLE, h.APPLE
)


def fresh(name: str | int = "fresh") -> Belief:
    return Belief(HOME, h.rng(name))


def test_the_roster_is_sorted_by_what_facts_can_state() -> None:
    assert [HOME.entities[one] for one in HOME.rooms] == [h.KITCHEN, h.BEDROOM]
    assert [HOME.entities[one] for one in HOME.containers] == [h.FRIDGE, h.CUPBOARD, h.CABINET]
    assert [HOME.entities[one] for one in HOME.furniture] == [h.TABLE]
    assert [HOME.entities[one] for one in HOME.things] == [h.APPLE, h.OTHER, h.CAKE]
    assert HOME.units == 3
    assert [need.number for need in HOME.demands] == [2, 1]


@pytest.mark.parametrize(
    "goal", [h.goal("apple", "UNDER", h.TABLE, 1), h.goal("apple", "ON", Entity("bed", 99), 1)], ids=["how", "where"]
)
def test_goals_that_it_cannot_plan_for_are_refused(goal: Goal) -> None:
    with pytest.raises(UserError, match="mhp plans for goals that put things"):
        make_inventory(h.ROSTER, [goal], h.RELATIONS)


def test_at_the_start_all_places_are_alike_and_furniture_is_anywhere() -> None:
    belief = fresh()
    assert belief.boxes[APPLE] == {OPEN, *BOXES}
    assert belief.rooms[FRIDGE] == belief.rooms[TABLE] == belief.rooms[APPLE] == ROOMS
    drawn = [Belief(HOME, h.rng("draw", number)) for number in range(400)]
    found = Counter(OPEN if one.place[APPLE] in ROOMS else one.place[APPLE] for one in drawn)
    assert set(found) == {OPEN, *BOXES}
    assert all(60 <= number <= 140 for number in found.values())  # 100 expected of each of the four
    assert 150 <= Counter(one.place[FRIDGE] for one in drawn)[KITCHEN] <= 250
    assert 150 <= sum(FRIDGE in one.opened for one in drawn) <= 250


def test_what_is_seen_is_certain_and_stays_so_out_of_sight() -> None:
    belief = fresh()
    belief.update(h.seen(HOME, {**h.STANDS, (h.FRIDGE, "STATE"): "open", (h.APPLE, "INSIDE"): h.FRIDGE}))
    assert belief.boxes[APPLE] == {FRIDGE}
    assert belief.rooms[APPLE] == {KITCHEN}
    assert (belief.place[APPLE], belief.place[FRIDGE]) == (FRIDGE, KITCHEN)
    assert FRIDGE in belief.opened
    belief.update(h.seen(HOME, room=h.BEDROOM))
    assert (belief.place[APPLE], belief.place[FRIDGE]) == (FRIDGE, KITCHEN)
    assert {APPLE, FRIDGE} <= belief.seen


def test_what_is_not_seen_is_not_in_the_open_here() -> None:
    belief = fresh()
    belief.update(h.seen(HOME, h.STANDS))
    assert belief.rooms[APPLE] == belief.rooms[CABINET] == belief.rooms[TABLE] == {BEDROOM}
    assert belief.boxes[APPLE] == {OPEN, *BOXES}
    assert {belief.place[CABINET], belief.place[TABLE]} == {BEDROOM}
    assert all(one.place[APPLE] != KITCHEN for one in (belief,))


def test_what_is_not_seen_is_in_no_open_container_that_is() -> None:
    belief = fresh()
    belief.update(h.seen(HOME, {**h.STANDS, (h.FRIDGE, "STATE"): "open"}))
    assert belief.boxes[APPLE] == {OPEN, CUPBOARD, CABINET}
    assert belief.place[APPLE] != FRIDGE


def test_when_no_room_is_left_it_is_in_a_container() -> None:
    belief = fresh()
    belief.update(h.seen(HOME, h.STANDS))
    belief.update(h.seen(HOME, {(h.CABINET, "IN"): h.BEDROOM, (h.CABINET, "STATE"): "closed"}, room=h.BEDROOM))
    assert belief.rooms[APPLE] == set()
    assert belief.boxes[APPLE] == BOXES
    assert belief.place[APPLE] in BOXES


def test_when_nothing_is_left_everything_is_possible_again_but_here() -> None:
    belief = fresh()
    every = {(box, what): value for box in (h.FRIDGE, h.CUPBOARD, h.CABINET) for what, value in _open(box)}
    belief.update(h.seen(HOME, every))
    assert belief.boxes[APPLE] == {OPEN}  # all three stand open here, and it is in none of them
    belief.update(h.seen(HOME, room=h.BEDROOM))
    assert belief.rooms[APPLE] == {KITCHEN}  # the bedroom had been left; now all rooms are ruled out, so all is new
    assert belief.boxes[APPLE] == {OPEN, *BOXES}


def _open(box: Entity) -> list[tuple[str, object]]:
    return [("IN", h.KITCHEN), ("STATE", "open")]


def test_a_thing_that_was_taken_away_is_looked_for_anew() -> None:
    belief = fresh()
    belief.update(h.seen(HOME, {(h.APPLE, "IN"): h.KITCHEN, (h.APPLE, "ON"): h.TABLE, (h.TABLE, "IN"): h.KITCHEN}))
    assert belief.on[APPLE] == TABLE
    belief.update(h.seen(HOME, {(h.TABLE, "IN"): h.KITCHEN}))
    assert APPLE not in belief.on
    assert APPLE not in belief.seen
    assert belief.rooms[APPLE] == {BEDROOM}
    assert belief.boxes[APPLE] == {OPEN, *BOXES}
    assert belief.place[APPLE] in {BEDROOM, *BOXES}


def test_a_guess_stays_until_it_is_contradicted() -> None:
    for number in range(30):
        belief = fresh(number)
        guess = belief.place[APPLE]
        belief.update(h.seen(HOME, h.STANDS))
        assert (belief.place[APPLE] == guess) is (guess != KITCHEN) or guess == KITCHEN
        if guess == KITCHEN:
            assert belief.place[APPLE] != KITCHEN
        else:
            assert belief.place[APPLE] == guess


def test_what_is_in_hands_is_in_the_room_of_whoever_holds_it() -> None:
    found = h.seen(HOME, {**h.STANDS, ("Alice", "HOLD"): h.APPLE, ("Bob", "HOLD"): h.CAKE, ("Bob", "AT"): h.KITCHEN})
    assert found.held == h.numbers(HOME, h.APPLE)
    assert found.held_by_others == frozenset(h.numbers(HOME, h.CAKE))
    assert found.place[APPLE] == found.place[N[h.CAKE]] == KITCHEN


def test_what_lies_ahead_only_counts_with_what_was_seen_in_this_room() -> None:
    """In part of a room absence says nothing; what is remembered of another room is not in sight."""
    now = [Fact("Alice", "AT", h.KITCHEN), Fact(h.KITCHEN, "EXPLORED", "part"), Fact(h.FRIDGE, "IN", h.KITCHEN)]
    before = [Fact(h.APPLE, "IN", h.KITCHEN), Fact(h.TABLE, "IN", h.BEDROOM), Fact("Bob", "HOLD", h.CAKE)]
    view = h.eyes(now, [*now, *before])
    assert sees_in_part(view, HOME)
    assert not sees_in_part(h.eyes(h.facts()), HOME)
    found = perceive(view, HOME, in_part=True)
    assert found is not None
    assert set(found.place) == {FRIDGE, APPLE}
    assert not found.is_whole
    belief = Belief(HOME, h.rng("ahead"), in_part=True)
    belief.update(found)
    assert belief.rooms[TABLE] == ROOMS
    assert perceive(view, HOME) == perceive(h.eyes(now), HOME)  # whoever sees a whole room goes by what it sees


def test_nothing_is_known_where_it_does_not_know_where_it_is() -> None:
    assert perceive(h.eyes([Fact(h.FRIDGE, "IN", h.KITCHEN)]), HOME) is None


def test_facts_of_what_is_not_in_the_roster_are_passed_over() -> None:
    assert h.seen(HOME, {(Entity("sofa", 99), "IN"): h.KITCHEN, (h.APPLE, "INSIDE"): Entity("bag", 98)}).place == {}


def test_being_told_counts_until_it_is_seen_otherwise() -> None:
    belief = fresh()
    belief.accept(CABINET, BEDROOM)
    belief.accept(APPLE, CABINET)
    assert (belief.place[APPLE], belief.room_of(APPLE)) == (CABINET, BEDROOM)
    belief.rule_out(N[h.OTHER], CABINET)
    assert CABINET not in belief.boxes[N[h.OTHER]]
    shows = {(h.CABINET, "IN"): h.BEDROOM, (h.CABINET, "STATE"): "open"}
    belief.update(h.seen(HOME, shows, room=h.BEDROOM))
    assert belief.place[APPLE] != CABINET


SIGHTS = st.builds(
    lambda room, box, fridge, apple: h.seen(
        HOME,
        {
            **({(h.FRIDGE, "IN"): h.KITCHEN, (h.FRIDGE, "STATE"): fridge} if room == h.KITCHEN else {}),
            **({(h.CABINET, "IN"): h.BEDROOM, (h.CABINET, "STATE"): box} if room == h.BEDROOM else {}),
            **({(h.APPLE, "IN"): room} if apple else {}),
        },
        room=room,
    ),
    st.sampled_from([h.KITCHEN, h.BEDROOM]),
    st.sampled_from(["open", "closed"]),
    st.sampled_from(["open", "closed"]),
    st.booleans(),
)


@given(st.lists(SIGHTS, max_size=8), st.integers(0, 20))
def test_whatever_is_seen_there_is_always_a_world(sights: list[Percept], number: int) -> None:
    belief = fresh(number)
    for one in sights:
        belief.update(one)
        for node, into in belief.place.items():
            assert into in (ROOMS | BOXES if node in HOME.things else ROOMS)
            assert belief.room_of(node) in ROOMS
            if node not in one.place:
                assert into != one.room
            else:
                assert into == one.place[node]
