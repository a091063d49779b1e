"""The regression planner: steps, their costs, what they lead to, and which subgoals there are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.carrying import CarryModel, PrimitiveStep, Subgoal
from teamworld.worlds.contract import Goal
from tests.methods.mhp import home as h
from tests.methods.mhp.slow import run

TABLED, CHILLED = h.home(), h.home(h.IN_FRIDGE)
KITCHEN, BEDROOM, FRIDGE, CUPBOARD, CABINET, TABLE, APPLE, OTHER, CAKE = range(9)


def model(
    belief: Belief | None = None, shows: dict[Any, Any] | None = None, *, room: Entity = h.KITCHEN, **given: Any
) -> CarryModel:
    known = TABLED if belief is None else belief.inventory
    return CarryModel(belief or h.believed(known, h.PLACES, **given), h.seen(known, shows, room=room))


def told(found: CarryModel, subgoal: Subgoal) -> tuple[list[str], float]:
    done = found.plan(subgoal, found.root)
    names = [found.inventory.entities[one] for one in range(9)]
    steps = [f"{step.verb} {names[step.entity].kind}" + (" >" if step.verb == "put" else "") for step in done.steps]
    return steps, round(done.cost, 9)


@pytest.mark.parametrize(
    ("subgoal", "opened", "near", "steps", "cost"),
    [
        # in an open container of this room, not near: walk there, 1 + 0.05; then to another room, 1 + 0.5 + 0.05
        (
            Subgoal(APPLE, 0),
            [h.FRIDGE],
            [],
            ["go apple", "grab apple", "go bedroom", "go coffeetable", "put apple >"],
            2.6,
        ),
        # in a closed container of this room
        (
            Subgoal(APPLE, 0),
            [],
            [],
            ["go fridge", "open fridge", "grab apple", "go bedroom", "go coffeetable", "put apple >"],
            2.65,
        ),
        # the same, being near: what is in a container that is near is near too
        (
            Subgoal(APPLE, 0),
            [],
            [h.FRIDGE],
            ["open fridge", "grab apple", "go bedroom", "go coffeetable", "put apple >"],
            1.65,
        ),
        # in a closed container of another room: walk there 1, on to it 0.5; the target is in sight then
        (
            Subgoal(OTHER, 0),
            [],
            [],
            ["go bedroom", "go cabinet", "open cabinet", "grab apple", "go coffeetable", "put apple >"],
            2.65,
        ),
        # in an open container of another room
        (
            Subgoal(OTHER, 0),
            [h.CABINET],
            [],
            ["go bedroom", "go cabinet", "grab apple", "go coffeetable", "put apple >"],
            2.6,
        ),
        # in the open in another room
        (
            Subgoal(CAKE, 1),
            [],
            [],
            ["go bedroom", "go cupcake", "grab cupcake", "go coffeetable", "put cupcake >"],
            2.6,
        ),
    ],
)
def test_the_steps_that_bring_a_thing(
    subgoal: Subgoal, opened: list[Entity], near: list[Entity], steps: list[str], cost: float
) -> None:
    shows = {("Alice", "NEAR"): near[0]} if near else {}
    assert told(model(shows=shows, opened=opened), subgoal) == (steps, cost)


def test_what_is_held_is_only_put_down() -> None:
    found = model(shows={("Alice", "HOLD"): h.APPLE, ("Alice", "NEAR"): h.TABLE}, room=h.BEDROOM)
    assert told(found, Subgoal(APPLE, 0)) == (["put apple >"], 0.05)


def test_a_container_that_is_the_target_is_opened_and_closed_unless_it_was_the_last_thing() -> None:
    places = {**h.PLACES, h.APPLE: h.KITCHEN, h.OTHER: h.KITCHEN}
    found = model(h.believed(CHILLED, places))
    steps, cost = told(found, Subgoal(APPLE, 0))
    assert steps == ["go apple", "grab apple", "go fridge", "open fridge", "put apple >", "close fridge"]
    assert cost == pytest.approx(1 + 0.05 + 1 + 0.05 + 0.05 + 0.05)
    after = found.carry_out(Subgoal(APPLE, 0), found.root).state
    last = found.plan(Subgoal(OTHER, 0), after)
    assert [step.verb for step in last.steps] == ["go", "grab", "go", "open", "put"]
    assert found.units(last.state) == 2


def test_what_a_team_mate_holds_is_waited_for() -> None:
    found = model(shows={("Bob", "HOLD"): h.CAKE, ("Bob", "AT"): h.KITCHEN})
    assert told(found, Subgoal(CAKE, 1)) == ([], 0.0)


def test_subgoals_are_what_is_held_else_what_is_in_sight_else_all() -> None:
    found = model()
    assert found.subgoals(found.root) == [Subgoal(APPLE, 0), Subgoal(OTHER, 0), Subgoal(CAKE, 1)]
    found = model(opened=[h.FRIDGE])
    assert found.subgoals(found.root) == [Subgoal(APPLE, 0)]
    found = model(shows={("Alice", "HOLD"): h.CAKE}, opened=[h.FRIDGE])
    assert found.subgoals(found.root) == [Subgoal(CAKE, 1)]


def test_things_at_their_target_count_guesses_too() -> None:
    found = model(on={h.CAKE: h.TABLE})
    assert found.units(found.root) == 1
    assert Subgoal(CAKE, 1) not in found.subgoals(found.root)
    guessed = model(h.believed(CHILLED, {**h.PLACES, h.OTHER: h.CUPBOARD}))  # an apple taken to be in the closed fridge
    assert guessed.units(guessed.root) == 1
    assert guessed.subgoals(guessed.root) == [Subgoal(OTHER, 0)]


def test_what_others_said_they_do_is_left_to_them() -> None:
    belief = h.believed(TABLED, h.PLACES)
    found = CarryModel(belief, h.seen(TABLED), [Subgoal(CAKE, 1)])
    assert found.subgoals(found.root) == [Subgoal(APPLE, 0), Subgoal(OTHER, 0)]
    found = CarryModel(belief, h.seen(TABLED), [Subgoal(APPLE, 0)])
    assert found.subgoals(found.root) == [Subgoal(OTHER, 0), Subgoal(CAKE, 1)]  # two apples are missing
    mine = h.believed(TABLED, h.PLACES, on={h.CAKE: h.TABLE, h.APPLE: h.TABLE})
    served = CarryModel(mine, h.seen(TABLED), [Subgoal(APPLE, 0)])  # the last apple: whoever brings which
    assert served.subgoals(served.root) == [Subgoal(OTHER, 0)]
    served = CarryModel(mine, h.seen(TABLED), [Subgoal(OTHER, 0)])
    assert served.subgoals(served.root) == [Subgoal(OTHER, 0)]  # nothing else is left: nobody stands idle


PLACE = st.sampled_from([h.KITCHEN, h.BEDROOM, h.FRIDGE, h.CUPBOARD, h.CABINET])
ROOM = st.sampled_from([h.KITCHEN, h.BEDROOM])


@given(
    st.fixed_dictionaries(
        {
            h.APPLE: PLACE,
            h.OTHER: PLACE,
            h.CAKE: PLACE,
            **dict.fromkeys((h.FRIDGE, h.CUPBOARD, h.CABINET, h.TABLE), ROOM),
        }
    ),
    st.sets(st.sampled_from([h.FRIDGE, h.CUPBOARD, h.CABINET])),
    ROOM,
    st.sampled_from([h.ON_TABLE, h.IN_FRIDGE]),
    st.permutations([0, 1, 2]),
)
def test_the_model_says_what_a_plain_world_does(
    place: dict[Entity, Entity],
    opened: set[Entity],
    room: Entity,
    goals: tuple[Goal, ...],
    order: list[int],
) -> None:
    known = h.home(goals)
    belief = h.believed(known, place, opened=opened)
    found = CarryModel(belief, h.seen(known, room=room))
    state = found.root
    plain = run(known, belief, known.indices[room], [])
    for index in order:
        moves = [Subgoal(thing, number) for number, need in enumerate(known.demands) for thing in need.things]
        move = moves[index % len(moves)]
        if move not in found.subgoals(state):
            continue
        done = found.plan(move, state)
        plain = run(known, belief, known.indices[room], done.steps, plain)  # every step must be possible
        state = done.state
        assert (state.room, found.units(state)) == (plain.room, plain.units(known))
        assert {box for box in known.containers if found.is_open(box, state)} == plain.opened
        assert done.cost == pytest.approx(plain.cost)
        assert PrimitiveStep("put", move.thing, known.demands[move.demand].target) in done.steps
