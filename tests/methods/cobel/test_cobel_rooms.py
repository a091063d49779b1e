"""What one knows of a teammate that it sees: where that one has looked, what it holds, whose plan stands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from teamworld.language import Entity, Fact, Facts, Schema, parse_action
from teamworld.methods.cobel import knowledge, messages, planning
from teamworld.methods.cobel.beliefs import BeliefStore
from teamworld.methods.cobel.situation import Intent, Subplan
from teamworld.record import EpisodeEnd
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import Option, View
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.facts import item, list_facts
from teamworld.worlds.rooms.state import House, Item, State
from tests.methods.cobel.test_cobel_agreement import altered, make, situation, state_of

HOUSE = House(2)
DOMAIN = RoomsDomain(HOUSE, {"agent_0": "carrier", "agent_1": "carrier"}, ())
UNSEEN = Fact(Entity("room", 1), "UNSEEN", HOUSE.middle(1))
DOOR = HOUSE.doors[0]


def view(t: int, mate: tuple[int, int], *holders: str) -> View:
    """Return what agent_0 sees from room 0, and has never seen of room 1."""
    thing = Item(1, mate, holders, "held") if holders else Item(1, (0, 0))
    state = State({"agent_0": (1, 1), "agent_1": mate}, {0: thing}, unseen=frozenset({1}))
    known = Facts(tuple(list_facts(state, HOUSE, (0,))))
    return cast(View, SimpleNamespace(t=t, facts=known, known=known, goals=DOMAIN.goals(known)))


def test_who_was_seen_in_a_place_has_seen_it_and_knows_where_it_carries_what_it_holds() -> None:
    schema = Schema(DOMAIN.relations, ("agent_0", "agent_1"))
    store = BeliefStore("agent_0", schema, cast(BeliefDomain, DOMAIN), False, ("agent_1",))
    store.observe(view(0, (2, 2)))
    assert UNSEEN in store.facts_of("agent_1", view(0, (2, 2)))
    store.observe(view(1, DOOR, "agent_1"))
    held = store.facts_of("agent_1", view(1, DOOR, "agent_1"))
    assert UNSEEN not in held
    assert Fact(item(0), "AT", DOOR) in held
    store.observe(view(2, (2, 2), "agent_1"))
    assert UNSEEN not in store.facts_of("agent_1", view(2, (2, 2), "agent_1"))  # it was there
    assert UNSEEN in store.facts(view(2, (2, 2), "agent_1"))


def test_telling_a_plan_saves_nothing_where_the_teammate_has_fewer_steps_to_go() -> None:
    world = make("rooms", "two")
    (look,) = (option for option in world.view("agent_0").options if option.action == parse_action("go((2, 8))"))
    now = situation(world, "agent_0", subplan=Subplan((look.action,)))
    for steps, stands in ((look.steps - 1, True), (look.steps, False), (look.steps + 1, False)):
        intent = Intent("agent_1", Option(look.action, None, steps), 1.0)
        assert planning.stands(now, intent) == stands
        assert bool(messages.estimate(now, {"agent_1": (intent,)}).by_plan) != stands
        assert ("its plan stands" in knowledge.describe_intent(now, intent)) == stands


def test_what_a_teammate_has_in_hand_is_no_option() -> None:
    world = make("rooms", "two")
    known = world.view("agent_0").known
    now = situation(world, "agent_0", facts=Facts((*known, Fact("agent_1", "HOLD", item(0)))))
    assert now.in_hand == {"deliver_0"}
    goals = {prospect.goal for prospect in planning.possible_prospects(now)}
    assert "deliver_2" in goals
    assert "deliver_0" not in goals
    heavy = situation(world, "agent_0", facts=Facts((*known, Fact("agent_1", "HOLD", item(2)))))
    assert not heavy.in_hand  # it takes another one


def test_news_says_what_has_changed_since_the_plan_was_made() -> None:
    world = make("rooms", "two")
    state, seen = state_of(world, "agent_0"), world.view("agent_0")
    state.take_up(Subplan((parse_action("wait()"),)), seen)
    assert state._news(seen) == ()
    found = [Fact(item(1), "AT", (1, 1)), Fact(item(1), "WEIGHT", 1), Fact("agent_1", "HOLD", item(0))]
    now = altered(seen, t=1, known=Facts((*seen.known, *found)), goals=DOMAIN.goals(Facts((*seen.known, *found))))
    assert state._news(now) == ("agent_1 holds item_0", "item_1 was found")
    state.planned_on = state._of_goals(now)
    assert "no longer: agent_1 holds item_0" in state._news(seen)


def test_what_was_said_as_an_agent_began_to_act_stops_it() -> None:
    end = play("cobel", Scenario("rooms", "two", 0, 60), {}).events[-1]
    assert isinstance(end, EpisodeEnd)
    assert end.step <= 45  # who is told too late looks into the same room and comes back: 57
