"""What rooms say of beliefs: things not found, sight by rooms, and what two should not both do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Fact, Facts, parse_action
from teamworld.testing.random_walk import BeforeStep, walk_randomly
from teamworld.worlds.base.beliefs import SAFETY
from teamworld.worlds.contract import WAIT, Option, talk
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.facts import item, list_facts
from teamworld.worlds.rooms.state import House, Item, State
from teamworld.worlds.rooms.world import make

HOUSE = House(3)
DOMAIN = RoomsDomain(HOUSE, {"agent_0": "carrier", "agent_1": "carrier", "agent_2": "scout"}, (1,))
AGENTS = {"agent_0": (1, 1), "agent_1": (2, 2), "agent_2": (3, 3)}


def told(state: State, *more: Fact) -> Facts:
    return Facts((*list_facts(state, HOUSE, range(HOUSE.rooms)), *more))


def option(text: str, goal: str | None = None, ticks: int = 3) -> Option:
    return Option(parse_action(text), goal, ticks)


def conflict_cost(state: State, one: Option, other: Option) -> float:
    """Return what is lost, which is the same the other way round."""
    lost = DOMAIN.beliefs.conflict_cost(one, other, told(state))
    assert lost == DOMAIN.beliefs.conflict_cost(other, one, told(state))
    return lost


# ---- what two should not both do


def test_two_for_a_thing_that_one_can_carry_lose_the_shorter_way() -> None:
    state = State(AGENTS, {0: Item(1, (4, 4)), 1: Item(2, (4, 2))})
    ways = option("go((4, 4))", "deliver_0", 3), option("go((4, 4))", "deliver_0", 5)
    assert conflict_cost(state, *ways) == 3
    assert conflict_cost(state, option("lift(<item>(0), 8)", "deliver_0", 1), ways[1]) == 1
    heavy = option("go((4, 2))", "deliver_1", 3), option("lift(<item>(1), 8)", "deliver_1", 5)
    assert conflict_cost(state, *heavy) == 0  # it takes both
    assert conflict_cost(state, ways[0], heavy[0]) == 0


def test_who_puts_down_what_two_carry_loses_what_the_other_has_before_it() -> None:
    state = State(AGENTS, {1: Item(2, (1, 1), ("agent_0", "agent_1"), "held")})
    bring, drop = option("bring(<item>(1), 8)", "deliver_1", 9), option("drop()", "deliver_1", 1)
    assert conflict_cost(state, bring, drop) == 9
    assert conflict_cost(state, bring, bring) == 0


def test_one_door_is_opened_by_one_and_one_unseen_room_looked_into_by_one() -> None:
    state = State(AGENTS, {}, shut=frozenset({1}), unseen=frozenset({1}))
    opens = option("open(<door>(1))", "open_1", 1)
    assert conflict_cost(state, opens, option("go((2, 10))", "open_1", 6)) == 1
    assert conflict_cost(state, option("go((2, 8))"), option("go((0, 7))", ticks=2)) == 2
    assert conflict_cost(state, option("go((2, 2))"), option("go((2, 2))")) == 0  # that room was seen
    assert conflict_cost(state, option("go((2, 8))"), option("go((2, 14))")) == 0


def test_to_go_where_it_burns_costs_more_than_any_message() -> None:
    state = State(AGENTS, {}, fire={(4, 0): 3})
    assert conflict_cost(state, option("go((4, 0))"), Option(WAIT, None, 1)) == SAFETY
    assert conflict_cost(state, option("go((3, 0))"), Option(talk(2), None, 2)) == 0


# ---- what is not known


def test_a_number_that_nobody_has_seen_is_a_thing_in_a_room_that_nobody_has_seen() -> None:
    given_facts = told(State(AGENTS, {0: Item(1, (1, 2)), 2: Item(1, (4, 4))}, unseen=frozenset({1, 2})))
    (unknown,) = DOMAIN.beliefs.latent_variables(given_facts)
    assert unknown.name == "item_1"
    assert unknown.goals == ()
    assert [(value.fact, value.weight) for value in unknown.values] == [
        (Fact(item(1), "AT", HOUSE.middle(room)), 1.0) for room in (1, 2)
    ]


def test_without_a_gap_one_more_is_looked_for_while_there_are_unseen_rooms() -> None:
    things = {0: Item(1, (1, 2)), 1: Item(1, (4, 4))}
    assert [
        unknown.name for unknown in DOMAIN.beliefs.latent_variables(told(State(AGENTS, things, unseen=frozenset({2}))))
    ] == ["item_2"]
    assert DOMAIN.beliefs.latent_variables(told(State(AGENTS, things))) == ()


def test_a_thing_that_was_carried_off_is_rather_where_nobody_has_looked() -> None:
    known = [
        fact for fact in told(State(AGENTS, {0: Item(1, (1, 2))}, unseen=frozenset({2}))) if fact.predicate != "AT"
    ]
    (unknown, _) = DOMAIN.beliefs.latent_variables(Facts(tuple(known)))
    assert (unknown.name, unknown.goals) == ("item_0", ("deliver_0",))
    assert [value.weight for value in unknown.values] == [0.2, 0.2, 1.0]


def test_numbers_that_were_made_up_do_not_make_it_count() -> None:
    state = State(AGENTS, {0: Item(1, (1, 2))}, unseen=frozenset({1, 2}))
    found = DOMAIN.beliefs.latent_variables(told(state, Fact(item(10**9), "WEIGHT", 1)))
    assert [unknown.name for unknown in found] == ["item_1000000000", "item_1", "item_2"]


# ---- what is in sight


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["one", "two-hazard", "three"]), st.integers(0, 300))
def test_visible_is_what_a_view_shows(level: str, seed: int) -> None:
    here = make(level, seed, 60, {})
    for part in walk_randomly(here, seed, 15):
        if not isinstance(part, BeforeStep):
            continue
        truth = here.truth()
        for agent, view in part.views.items():
            for fact in view.facts:
                assert here.domain.beliefs.observation_probability(fact, agent, view.known) > 0
            for fact in truth:
                chance = here.domain.beliefs.observation_probability(fact, agent, truth)
                assert chance in (0.0, 1.0)
                assert (fact in view.facts) == (chance == 1.0)


def test_nobody_sees_what_others_have_not_seen() -> None:
    state = State(AGENTS, {}, unseen=frozenset({0, 1}))
    given_facts = told(state)
    chances = [
        DOMAIN.beliefs.observation_probability(Fact(Entity("room", room), "UNSEEN", (2, 2)), "agent_0", given_facts)
        for room in (0, 1)
    ]
    assert chances == [0.0, 0.9]
    assert DOMAIN.beliefs.observation_probability(Fact("agent_1", "AT", (2, 2)), "nobody", given_facts) == 0


# ---- what cannot be


@pytest.mark.parametrize(
    "odd",
    [
        Fact(item(3), "AT", 5),
        Fact("agent_1", "AT", "nowhere"),
        Fact("agent_1", "AT", (10**9, -2)),
        Fact(item(1), "WEIGHT", -(10**9)),
        Fact(Entity("room", 10**9), "UNSEEN", (2, 2)),
        Fact("agent_1", "LIKES", "nobody"),
        Fact(Entity("fire", 3), "AT", (10**9, 10**9)),
    ],
)
def test_odd_facts_are_no_trouble(odd: Fact) -> None:
    given_facts = told(State(AGENTS, {0: Item(1, (1, 2))}, unseen=frozenset({1})), odd)
    for known in (given_facts, Facts((odd,)), Facts()):
        list(DOMAIN.beliefs.latent_variables(known))
        for fact in given_facts:
            assert 0 <= DOMAIN.beliefs.observation_probability(fact, "agent_0", known) <= 1
            assert 0 <= DOMAIN.beliefs.observation_probability(fact, "agent_1", known) <= 1
        for action in (Action("go", ("up",)), Action("go"), Action("go", ((10**9, 0),)), Action("lift", (3,))):
            assert (
                DOMAIN.beliefs.conflict_cost(Option(action, "deliver_0", 2), Option(action, "deliver_0", 2), known) >= 0
            )
            assert (
                DOMAIN.beliefs.conflict_cost(Option(action, None, 2), Option(Action("go", ((2, 2),)), None, 2), known)
                >= 0
            )
