"""Facts of the transport world: what they tell, how they are read back, what is perceived and what remembered."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Entity, Fact, Facts, Schema, parse_fact
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT
from teamworld.worlds.transport.observe import BED, Known, believed, facts_of
from tests.worlds.transport.houses import give, house, item, put_agent, world

LIVING, KITCHEN, BEDROOM = Entity("livingroom", 1000), Entity("kitchen", 2000), Entity("bedroom", 3000)
APPLE, BANANA, BREAD, BOWL = Entity("apple", 11), Entity("banana", 12), Entity("bread", 13), Entity("bowl", 14)
THINGS = (
    item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2), item(13, "bread", 6.0, 3.5), item(14, "bowl", 1.0, 3.0),
    item(15, "pen", 2.0, 3.2), item(16, "burger", 7.8, 0.2),
)  # fmt: skip


def told(facts: Facts) -> set[str]:
    return {str(fact) for fact in facts}


def test_what_facts_tell_at_the_start() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (6.0, 1.0, 0.0)]))
    assert told(here.view("Alice").known) == {
        "Alice AT <livingroom>(1000)",
        "Alice POSITION (200, 100)",
        "<livingroom>(1000) POSITION (197, 200)",
        "<kitchen>(2000) POSITION (600, 200)",
        "<bedroom>(3000) POSITION (1003, 200)",
        "<livingroom>(1000) EXPLORED part",
        "<livingroom>(1000) SEEN 30",
        "<apple>(11) IN <livingroom>(1000)",
        "<apple>(11) POSITION (200, 300)",
        "<banana>(12) IN <livingroom>(1000)",
        "<banana>(12) POSITION (260, 320)",
        "<bowl>(14) IN <livingroom>(1000)",
        "<bowl>(14) POSITION (100, 300)",
    }


def test_hands_containers_and_the_bed() -> None:
    here = world(house(THINGS, starts=[(9.0, 1.0, 0.0), (8.4, 2.5, 90.0)]))
    state = here._moment.state
    give(here._moment, 1, 0, 3)
    give(here._moment, 1, 1, 0)
    state.items["inside"][1] = 3
    state.items["x"][2], state.items["z"][2] = 10.0, 3.0
    here.step({})
    assert told(here.view("Alice").known) >= {
        "Alice AT <bedroom>(3000)",
        "Bob HOLD <bowl>(14)",
        "Bob HOLD <apple>(11)",
        "<banana>(12) INSIDE <bowl>(14)",
        "<bread>(13) IN <bedroom>(3000)",
    }
    assert not told(here.view("Alice").known) & {"<bread>(13) ON <bed>(0)", "<bed>(0) IN <bedroom>(3000)"}
    assert "<bread>(13) ON <bed>(0)" in told(here.view("Bob").known), "Bob sees the bed"
    assert "<bread>(13) ON <bed>(0)" in told(here.truth())
    put_agent(here._moment, 0, 9.0, 1.0, 90.0)
    here.step({})
    assert "<bread>(13) ON <bed>(0)" in told(here.view("Alice").known)
    assert {str(goal.id): goal.units for goal in here.view("Alice").goals}["deliver_bread"] == 0


def test_what_is_out_of_sight_is_remembered_with_its_step() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (2.0, 2.5, 0.0)]))
    give(here._moment, 1, 0, 1)
    here.step({})
    assert "Bob HOLD <banana>(12)" in told(here.view("Alice").facts)
    put_agent(here._moment, 0, 6.0, 1.0, 180.0)
    here.step({})
    view = here.view("Alice")
    assert not {fact for fact in view.facts if fact.subject in ("Bob", APPLE, BOWL)}
    gone = {str(fact): view.recall.seen[fact] for fact in view.recall}
    assert gone["Bob HOLD <banana>(12)"] == gone["<apple>(11) IN <livingroom>(1000)"] == 10
    assert gone["<livingroom>(1000) EXPLORED part"] == 10
    assert "Alice AT <kitchen>(2000)" in told(view.facts)
    assert told(view.known) == told(view.facts) | told(view.recall)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_facts_read_back_as_what_they_tell(seed: int) -> None:
    rng = generator(seed, "test")
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (6.0, 1.0, 0.0)]))
    schema = Schema(here.domain.relations, here.spec.agents)
    for _ in range(12):
        actions = {}
        for agent in here.spec.agents:
            options = here.view(agent).options
            actions[agent] = options[int(rng.integers(len(options)))].action if rng.random() < 0.3 else WAIT
        here.step(actions)
        for agent in here.spec.agents:
            known = here.view(agent).known
            read = believed(known)
            assert set(facts_of(read)) == set(known)
            assert told(here.domain.write(here.domain.read(known))) == told(known)
            assert all(parse_fact(str(fact)) == fact and schema.statable(fact) for fact in known)
            assert set(here.view(agent).facts) <= set(here.truth())


def test_what_cannot_be_is_passed_over() -> None:
    facts = Facts(
        [
            Fact("Alice", "AT", "nowhere"),
            Fact(APPLE, "IN", KITCHEN),
            Fact(APPLE, "POSITION", 5),
            Fact(KITCHEN, "POSITION", (600, 200)),
            Fact("Bob", "POSITION", (1, 2)),
            Fact(KITCHEN, "EXPLORED", 3),
        ]
    )
    read = believed(facts)
    assert (read.at, read.points) == ({}, {"Bob": (1, 2), APPLE: (600, 200)})
    assert read.hands == {"Alice": (), "Bob": ()}


def test_what_is_carried() -> None:
    known = Known({}, hands={"Alice": (BOWL, APPLE), "Bob": ()}, inside={BANANA: BOWL, BREAD: Entity("plate", 3)})
    assert known.load("Alice") == (BOWL, APPLE, BANANA)
    assert (known.holder(BANANA), known.holder(BREAD), known.holder(BED)) == ("Alice", None, None)
    assert known.contents(BOWL) == (BANANA,)


def test_who_saw_a_thing_by_the_bed_need_not_have_seen_the_bed() -> None:
    lines = (
        "<apple>(11) IN <bedroom>(3000)",
        "<apple>(11) POSITION (1000, 300)",
        "<banana>(12) IN <bedroom>(3000)",
        "<banana>(12) POSITION (1000, 601)",
        "<bread>(13) INSIDE <bowl>(14)",
        "<bowl>(14) IN <bedroom>(3000)",
        "<bowl>(14) POSITION (1000, 310)",
    )
    bed = ("<bed>(0) IN <bedroom>(3000)", "<bed>(0) POSITION (1000, 300)")
    assert believed(Facts(tuple(map(parse_fact, lines)))).delivered == frozenset()
    assert believed(Facts(tuple(map(parse_fact, (*lines, *bed))))).delivered == {APPLE, BOWL, BREAD}
