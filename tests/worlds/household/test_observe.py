"""What agents perceive and remember, and facts as a way to write it down."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Cell, Entity, Fact, Facts, parse_action, parse_fact
from teamworld.worlds.household import observe
from teamworld.worlds.household.observe import HEADINGS, Known, Place, SightMemory, believed, facts_of
from teamworld.worlds.household.world import HouseholdWorld, make
from tests.worlds.household.homes import APPLE, CABINET, COFFEE, CUPCAKE, FRIDGE, KITCHEN, LIVING, STOVE, flat
from tests.worlds.household.scenes import (
    AT_COFFEE,
    AT_FRIDGE,
    AT_TABLE,
    done,
    knows,
    stroll,
    told,
    until,
    world,
)

MODES: dict[str, dict[str, Any]] = {
    "room": {},
    "cone": {"sight": "cone"},
    "occlusion": {"sight": "cone", "occlusion": True},
    "engine": {"mode": "engine"},
    "strict_put": {"strict_put": True},
}
CORNER = (2.4, 2.3)


# ---- what is perceived is true, and all that can be seen is perceived


@pytest.mark.heavy
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_perceived_is_true(mode: str, seed: int) -> None:
    here = make("dev", seed, 40, {"agents": 3, **MODES[mode]})
    for _ in stroll(here, seed, 40):
        truth = set(here.truth())
        for agent in here.spec.agents:
            view = here.view(agent)
            assert set(view.facts) <= truth
            assert set(view.known) == {*view.facts, *view.recall}
            assert not set(view.facts) & set(view.recall)
            assert set(view.recall.seen) == set(view.recall)
            assert all(0 <= tick < view.t for tick in view.recall.seen.values())


@pytest.mark.parametrize("seed", [2, 3])
def test_all_of_the_room_that_is_not_shut_away_is_perceived(seed: int) -> None:
    here = make("dev", seed, 60, {"agents": 2})
    for _ in stroll(here, seed, 40):
        truth = observe.truth(here._names, here._state, {})
        for agent in here.spec.agents:
            known, room = believed(here.view(agent).facts), truth.at[agent]
            shut = {box for box, opened in truth.opened.items() if not opened}
            open_ = {
                one
                for one in truth.places
                if truth.room_of(one) == room
                and not (truth.places[one][0] == "INSIDE" and truth.places[one][1] in shut)
            }
            assert set(known.places) == open_
            assert set(known.hands) == {mate for mate, at in truth.at.items() if at == room}
            assert all(known.hands[mate] == truth.hands[mate] for mate in known.hands)


@pytest.mark.heavy
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [4, 5])
def test_what_is_known_does_not_contradict_itself(mode: str, seed: int) -> None:
    here = make("dev", seed, 50, {"agents": 4, **MODES[mode]})
    for _ in stroll(here, seed, 50):
        for agent in here.spec.agents:
            known = believed(here.view(agent).known)
            held = [thing for things in known.hands.values() for thing in things]
            assert len(held) == len(set(held)), "two hold one thing"
            assert not set(held) & set(known.places), "it is in a hand and lies somewhere"
            assert all(len(things) <= 2 for things in known.hands.values())
            once = [
                (one.subject, one.predicate) for one in here.view(agent).known if one.predicate not in ("HOLD", "NEAR")
            ]
            assert len(once) == len(set(once))


@pytest.mark.parametrize("sight", ["room", "cone"])
def test_what_was_seen_last_is_what_was_true_then(sight: str) -> None:
    here = make("dev", 6, 80, {"agents": 2, "sight": sight})
    was: list[set[Fact]] = []
    for _ in stroll(here, 6, 80):
        was.append(set(here.truth()))
        for agent in here.spec.agents:
            recall = here.view(agent).recall
            for fact in recall:
                then = recall.seen[fact]
                laid = Fact(agent, "HOLD", fact.subject) in was[then]  # one's own hands shut it in the step after
                assert fact in was[then] or laid, (agent, str(fact), then)


def test_near_is_said_of_oneself_alone() -> None:
    here = world(AT_FRIDGE, AT_TABLE)
    near = {str(one) for one in here.view("Alice").facts if one.predicate == "NEAR"}
    assert near == {"Alice NEAR <fridge>(20)", "Alice NEAR <stove>(25)"}


def test_all_rooms_have_places_from_the_start_and_one_is_explored() -> None:
    view = world(AT_FRIDGE).view("Alice")
    assert view.facts.value(Entity("livingroom", LIVING), "POSITION") == (600, 0)
    assert [str(one) for one in view.facts if one.predicate == "EXPLORED"] == ["<kitchen>(11) EXPLORED all"]
    assert not any(one.subject == Entity("coffeetable", COFFEE) for one in view.known)  # nor where the goal stands


def test_what_the_task_is_not_about_has_no_facts() -> None:
    home = flat()
    subjects = {fact.subject for fact in world(AT_FRIDGE, AT_COFFEE).truth()}
    numbers = {one.id for one in subjects if isinstance(one, Entity)}
    assert numbers == {KITCHEN, LIVING, FRIDGE, CABINET, STOVE, COFFEE, APPLE, CUPCAKE}
    assert len(home.nodes) > len(numbers)


def test_the_right_hand_is_told_first() -> None:
    here = world(AT_FRIDGE)
    done(here, "Alice", "check(<fridge>(20))", "fetch(<cupcake>(32))", "fetch(<apple>(30))")
    held = [str(fact.value) for fact in here.view("Alice").facts if fact.predicate == "HOLD"]
    assert held == ["<cupcake>(32)", "<apple>(30)"]
    assert told(here, "Alice", "<apple>(30)") == set()  # no place of what is in a hand


# ---- memory


def test_a_thing_that_a_mate_moved_unseen_is_remembered_where_it_was_until_one_looks() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Alice", "explore(<livingroom>(12))", "go(<cabinet>(22))")
    done(here, "Bob", "fetch(<cupcake>(32))", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))")
    assert told(here, "Alice", "<cupcake>(32)") == {"IN <kitchen>(11)"}
    done(here, "Alice", "explore(<kitchen>(11))")
    assert told(here, "Alice", "<cupcake>(32)") == set()
    assert {one.name for one in here.domain.beliefs.latent_variables(here.view("Alice").known)} == {
        "apple 1",
        "cupcake 1",
    }


@pytest.mark.parametrize("occlusion", [False, True])
def test_whoever_goes_for_a_thing_that_is_gone_gives_up(occlusion: bool) -> None:
    here = world(AT_TABLE, CORNER, sight="cone", occlusion=occlusion)
    done(here, "Alice", "explore(<kitchen>(11))", "explore(<livingroom>(12))", "go(<cabinet>(22))")
    done(here, "Bob", "explore(<kitchen>(11))", "fetch(<cupcake>(32))", "explore(<livingroom>(12))")
    done(here, "Bob", "go(<kitchen>(11))", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))", "go(<fridge>(20))")
    here._memories["Alice"].met.pop("Bob", None)  # as if it had never met Bob
    outcome, _ = until(here, "Alice", "fetch(<cupcake>(32))", 40)
    assert (outcome.status, outcome.word) == ("failed", "gone")


def test_a_mate_that_leaves_with_a_thing_is_believed_to_hold_it() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Bob", "fetch(<cupcake>(32))", "explore(<livingroom>(12))")
    assert told(here, "Alice", "Bob") == {"HOLD <cupcake>(32)"}  # and not where it is: not here
    assert told(here, "Alice", "<cupcake>(32)") == set()
    assert here.view("Alice").check(parse_action("fetch(<cupcake>(32))")).word == "held"
    assert re.search(r"Bob, seen 1 step ago: at .*, left since; held cupcake_32 then\.", here.view("Alice").text())
    done(here, "Bob", "deliver()")
    assert told(here, "Alice", "Bob") == {"HOLD <cupcake>(32)"}  # it was not there
    done(here, "Alice", "explore(<livingroom>(12))")
    assert told(here, "Alice", "Bob") == {"AT <livingroom>(12)"}
    assert told(here, "Alice", "<cupcake>(32)") == {"IN <livingroom>(12)", "ON <coffeetable>(23)"}
    assert [goal.state for goal in here.view("Alice").goals] == ["open", "done"]


def test_a_thing_is_held_by_one_alone() -> None:
    here = world(AT_TABLE, AT_TABLE, (0.0, 0.5))
    done(here, "Alice", "fetch(<cupcake>(32))")
    done(here, "Carol", "explore(<livingroom>(12))")
    assert told(here, "Carol", "Alice") == {"AT <kitchen>(11)", "HOLD <cupcake>(32)"}
    done(here, "Alice", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))")
    done(here, "Bob", "check(<stove>(25))", "fetch(<cupcake>(32))", "explore(<livingroom>(12))")
    assert told(here, "Carol", "Bob") == {"AT <livingroom>(12)", "HOLD <cupcake>(32)"}
    assert told(here, "Carol", "Alice") == {"AT <kitchen>(11)"}


def test_what_a_mate_lays_down_in_sight_is_known_and_unseen_is_not() -> None:
    here = world(AT_TABLE, AT_TABLE, AT_COFFEE)
    done(here, "Bob", "fetch(<cupcake>(32))", "explore(<livingroom>(12))", "deliver()")
    on = "<cupcake>(32) ON <coffeetable>(23)"
    assert knows(here, "Carol", on)
    assert knows(here, "Bob", on)
    assert not knows(here, "Alice", on)
    assert [goal.units for goal in here.view("Alice").goals] == [1, 1]
    assert [goal.units for goal in here.view("Carol").goals] == [1, 0]


def test_a_container_that_a_mate_opened_unseen_is_remembered_closed() -> None:
    here = world(AT_FRIDGE, AT_TABLE)
    done(here, "Bob", "explore(<livingroom>(12))")
    done(here, "Alice", "open(<fridge>(20))")
    assert knows(here, "Alice", "<apple>(30) INSIDE <fridge>(20)")
    assert told(here, "Bob", "<fridge>(20)") == {"IN <kitchen>(11)", "STATE closed"}
    assert told(here, "Bob", "<apple>(30)") == set()
    done(here, "Bob", "explore(<kitchen>(11))")
    assert told(here, "Bob", "<fridge>(20)") == {"IN <kitchen>(11)", "STATE open"}
    assert told(here, "Bob", "<apple>(30)") == {"INSIDE <fridge>(20)"}


def test_what_is_shut_away_is_remembered_and_found_missing_once_it_is_open() -> None:
    here = world(AT_FRIDGE, CORNER)
    done(here, "Alice", "open(<fridge>(20))")
    done(here, "Bob", "explore(<livingroom>(12))", "go(<cabinet>(22))")
    done(here, "Alice", "fetch(<apple>(30))", "close(<fridge>(20))", "put(<apple>(30), <stove>(25))")
    done(here, "Bob", "explore(<kitchen>(11))")
    assert told(here, "Bob", "<fridge>(20)") == {"IN <kitchen>(11)", "STATE closed"}
    assert told(here, "Bob", "<apple>(30)") == {"INSIDE <fridge>(20)"}  # nothing says otherwise
    outcome, _ = until(here, "Bob", "fetch(<apple>(30))")
    assert (outcome.legal, outcome.word) == (False, "closed")
    done(here, "Bob", "check(<fridge>(20))")
    assert told(here, "Bob", "<apple>(30)") == set()


def test_a_mate_is_remembered_where_it_was_until_that_room_is_seen_without_it() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Alice", "explore(<livingroom>(12))")
    assert told(here, "Alice", "Bob") == {"AT <kitchen>(11)"}
    assert parse_fact("Bob AT <kitchen>(11)") in here.view("Alice").recall
    done(here, "Bob", "explore(<livingroom>(12))")
    done(here, "Alice", "explore(<kitchen>(11))", "explore(<livingroom>(12))", "explore(<kitchen>(11))")
    assert told(here, "Alice", "Bob") == {"AT <livingroom>(12)"}


def test_what_one_put_into_something_closed_is_there() -> None:
    here = world(AT_TABLE, AT_TABLE)
    done(here, "Alice", "fetch(<cupcake>(32))", "go(<stove>(25))", "put(<cupcake>(32), <stove>(25))")
    assert told(here, "Alice", "<cupcake>(32)") == {"INSIDE <stove>(25)"}
    assert told(here, "Bob", "<cupcake>(32)") == set()
    assert parse_fact("<cupcake>(32) INSIDE <stove>(25)") in here.view("Alice").recall
    done(here, "Bob", "check(<stove>(25))")
    assert parse_fact("<cupcake>(32) INSIDE <stove>(25)") in here.view("Alice").facts
    done(here, "Bob", "fetch(<cupcake>(32))")
    assert told(here, "Alice", "<cupcake>(32)") == set()


# ---- what is ahead


def test_a_cone_leaves_what_is_behind_unseen() -> None:
    here = world(AT_TABLE, CORNER, sight="cone")  # both look along z: at what has a larger z
    known = here.view("Alice").known
    assert not any(fact.subject == Entity("cupcake", CUPCAKE) for fact in known)  # it lies behind
    assert knows(here, "Alice", "<kitchen>(11) EXPLORED part")
    assert here.view("Bob").facts.value("Alice", "AT") is None


def test_a_room_is_explored_after_a_turn_round_whatever_the_heading() -> None:
    here = world(AT_TABLE, sight="cone")
    for first in (0.0, 15.0, 14.99, 22.5, 45.0, 345.0):
        memory = SightMemory(here._names, "Alice")
        for turn in range(HEADINGS):
            before = believed_explored(memory, here)
            assert before == (None if turn == 0 else "part"), first
            here._state.headings[1] = round(first - 30.0 * turn, 2) % 360.0
            memory.look(here._state, turn)
        assert believed_explored(memory, here) == "all", first


def believed_explored(memory: SightMemory, here: HouseholdWorld) -> str | None:
    return memory.known(here._state).explored.get(Entity("kitchen", KITCHEN))


def test_exploring_in_a_cone_ends_with_the_whole_room() -> None:
    here = world(AT_TABLE, sight="cone")
    for room in ("<kitchen>(11)", "<livingroom>(12)"):
        done(here, "Alice", f"explore({room})")
        assert knows(here, "Alice", f"{room} EXPLORED all")
    assert here.view("Alice").check(parse_action("explore(<livingroom>(12))")).word == "there"
    seen = set(believed(here.view("Alice").known).places)
    assert seen == {
        Entity("fridge", 20),
        Entity("stove", 25),
        Entity("cupcake", 32),
        Entity("cabinet", 22),
        Entity("coffeetable", 23),
    }


@pytest.mark.parametrize("seed", range(3))
def test_nobody_forgets_what_stays_where_it_is(seed: int) -> None:
    here = make("dev", seed, 120, {"agents": 1, "sight": "cone"})
    ever: set[Entity] = set()
    for _ in stroll(here, seed, 120):
        truth, known = observe.truth(here._names, here._state, {}), believed(here.view("Alice").known)
        ever |= set(known.places)
        still = {one for one in ever if one in truth.places}
        assert still <= set(known.places)


# ---- facts


def content(known: Known) -> dict[str, Any]:
    """Return what a ``Known`` says, whatever the order, without empty hands' and things' defaults."""
    found = {one.name: getattr(known, one.name) for one in fields(known)}
    found["near"] = {agent: near for agent, near in known.near.items() if near}
    return found


@pytest.mark.parametrize("mode", MODES)
def test_what_agents_know_comes_back_from_its_facts(mode: str) -> None:
    here = make("dev", 7, 50, {"agents": 3, **MODES[mode]})
    for _ in stroll(here, 7, 50):
        for agent in here.spec.agents:
            known = believed(here.view(agent).known)
            read = believed(Facts(tuple(facts_of(known)), here.view(agent).known.seen))
            assert content(read) == content(known)
            now = believed(here.view(agent).facts)
            assert content(believed(Facts(tuple(here.view(agent).facts)))) == content(now)


ROOMS = (Entity("kitchen", 11), Entity("livingroom", 12), Entity("bedroom", 13))
BOXES = (Entity("fridge", 20), Entity("cabinet", 21))
TABLES = (Entity("coffeetable", 30),)
THINGS = tuple(Entity("apple", number) for number in (40, 41, 42, 43))
AGENTS = ("Alice", "Bob", "Carol")
cells = st.tuples(st.integers(-900, 900), st.integers(-900, 900))


@st.composite
def knowledge(draw: st.DrawFn) -> Known:
    """Draw what somebody may know: each thing in one place or hand, or nowhere."""
    standing = {one: draw(st.sampled_from(ROOMS)) for one in (*BOXES, *TABLES) if draw(st.booleans())}
    places: dict[Entity, Place] = {one: ("IN", room) for one, room in standing.items()}
    room = dict(standing)
    hands: dict[str, tuple[Entity, ...]] = {agent: () for agent in AGENTS if draw(st.booleans())}
    for thing in THINGS:
        where = draw(st.sampled_from(("nowhere", "held", "IN", "INSIDE", "ON")))
        free = [agent for agent, held in hands.items() if len(held) < 2]
        inside, on = [one for one in BOXES if one in standing], [one for one in TABLES if one in standing]
        if where == "held" and free:
            agent = draw(st.sampled_from(free))
            hands[agent] = (*hands[agent], thing)
        elif where == "IN":
            room[thing] = draw(st.sampled_from(ROOMS))
            places[thing] = ("IN", room[thing])
        elif where == "INSIDE" and inside:
            places[thing] = ("INSIDE", draw(st.sampled_from(inside)))
        elif where == "ON" and on:
            places[thing] = ("ON", draw(st.sampled_from(on)))
            room[thing] = standing[places[thing][1]]
    at = {agent: draw(st.sampled_from(ROOMS)) for agent in hands if draw(st.booleans())}
    whose: tuple[Entity | str, ...] = (*at, *places)
    points = {one: draw(cells) for one in whose}
    near = {"Alice": frozenset(one for one in places if draw(st.booleans()))} if "Alice" in hands else {}
    return Known(
        rooms={one: draw(cells) for one in ROOMS},
        explored={one: draw(st.sampled_from(("part", "all"))) for one in ROOMS if draw(st.booleans())},
        at=at,
        points=points,
        hands=hands,
        places=places,
        room=room,
        opened={one: draw(st.booleans()) for one in BOXES if one in standing},
        near=near,
    )


@settings(max_examples=100, deadline=None)
@given(known=knowledge(), data=st.data())
def test_facts_say_all_that_is_known_in_any_order(known: Known, data: st.DataObject) -> None:
    told_of = {agent: held for agent, held in known.hands.items() if held or agent in known.at or known.near.get(agent)}
    points: dict[Entity | str, Cell] = dict(known.points)
    points |= {room: middle for room, middle in known.rooms.items()}  # noqa: C416 - of another type
    want = content(known) | {"hands": told_of, "points": points}
    facts = list(facts_of(known))
    held = [fact for fact in facts if fact.predicate == "HOLD"]  # the order of hands is that of their facts
    others = data.draw(st.permutations([fact for fact in facts if fact.predicate != "HOLD"]))
    assert content(believed(Facts((*others, *held)))) == want
