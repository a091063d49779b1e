"""Thinking ahead to when the team will be done: plays by hand, drawn worlds, and what is told because of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Action, AgentId, Entity, Fact, Facts, RuleSet, Schema
from teamworld.methods.cobel import inference, message_value, rollout
from teamworld.methods.cobel.beliefs import BeliefStore
from teamworld.methods.cobel.fetch_simulator import (
    CLOSED,
    LATE,
    TARGET,
    Aim,
    FetchSimulator,
    ImaginedWorld,
    Item,
    News,
    Walker,
)
from teamworld.methods.cobel.situation import CobelOptions, Situation
from teamworld.methods.contract import Message
from teamworld.record import ActionStep
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import View
from teamworld.worlds.contract import World as Instance
from teamworld.worlds.household.domain import HouseholdDomain

#: Places on a line: their numbers are ticks from each other.
BACK, TABLE, NEAR, MIDDLE, FAR, END = (Entity("place", number) for number in (94, 100, 102, 105, 110, 114))


def ticks(at: Entity | AgentId, to: Entity) -> int:
    """Everybody begins at the table."""
    return max(1, abs((TABLE if isinstance(at, str) else at).id - to.id))


def walker(agent: AgentId, **more: Any) -> Walker:
    rest: dict[str, Any] = {
        "site": agent,
        "hands": [],
        "missing": Counter(),
        "others": Counter(),
        "known": [],
        "places": {},
        "finds": True,
    }
    return Walker(agent=agent, **(rest | more))


def world(*items: Item, **more: Any) -> ImaginedWorld:
    return ImaginedWorld(items=items, **({"taken": {}, "brought": (), "aims": {}, "home": None, "starts": {}} | more))


def ends(drawn: ImaginedWorld, *walkers: Walker, first: Aim | None = None, told: News | None = None) -> int:
    copies = [one.copy() for one in walkers]
    return FetchSimulator(drawn, copies, TABLE, {}, 2, ticks, 1.0).run(first, [0] * len(copies), told)


# ---- by hand


def test_what_is_known_is_fetched_and_brought() -> None:
    cup = Item("cup", FAR, FAR)
    alone = walker("Alice", missing=Counter(cup=1), known=[cup])
    assert ends(world(cup), alone) == 10 + 10
    assert ends(world(cup), walker("Alice", missing=Counter())) == 0  # all is done


def test_two_things_are_brought_at_once_and_laid_down_one_by_one() -> None:
    cup, jug = Item("cup", FAR, FAR), Item("jug", MIDDLE, MIDDLE)
    alone = walker("Alice", missing=Counter(cup=1, jug=1), known=[cup, jug])
    # Five to the jug; the table is as near as the cup, so it is brought first.
    assert ends(world(cup, jug), alone) == 5 + 5 + 10 + 10
    full = walker("Alice", site=FAR, hands=["cup", "jug"], missing=Counter(cup=1, jug=1))
    assert ends(world(), full) == 10 + 1


def test_what_lies_nowhere_is_never_brought() -> None:
    assert ends(world(), walker("Alice", missing=Counter(cup=1), places={"cup": {FAR: 1.0}})) == LATE


def test_it_is_looked_for_where_most_is_to_be_expected_a_tick() -> None:
    cup = Item("cup", NEAR, NEAR)
    looking = walker("Alice", missing=Counter(cup=1), places={"cup": {NEAR: 0.2, FAR: 0.8}})
    # 0.2 / 2 against 0.8 / 10: the near place first, then a tick to take it.
    assert ends(world(cup), looking) == 2 + 1 + 2


def test_who_is_told_that_a_place_is_empty_saves_the_way_if_the_team_waits_for_it() -> None:
    cup = Item("cup", FAR, FAR)
    idle = walker("Alice", missing=Counter(cup=1), others=Counter(cup=1))
    looks = walker("Bob", missing=Counter(cup=1), places={"cup": {BACK: 1.0, FAR: 1.0}})
    knows = replace(looks, places={"cup": {FAR: 1.0}})
    before = ends(world(cup), idle, looks)
    after = ends(world(cup), idle, looks, told={"Bob": (looks, knows)})
    assert before == 6 + 16 + 1 + 10
    assert after == 1 + 1 + 10 + 1 + 10  # it reads at the tick after, one step on the wrong way
    alone = walker("Alice", missing=Counter(cup=1), known=[cup])  # brings it itself: nobody waits for Bob
    assert ends(world(cup), alone, looks) == ends(world(cup), alone, looks, told={"Bob": (looks, knows)})


def test_who_holds_the_last_thing_and_is_told_so_brings_it() -> None:
    looks = {"jug": {END: 1.0}}
    teammate = walker("Bob", site=FAR, hands=["cup"], missing=Counter(cup=1, jug=1), places=looks)
    done = replace(teammate, missing=Counter(cup=1))
    me = walker("Alice", missing=Counter(cup=1), others=Counter(cup=1))
    drawn = world(brought=("jug",))
    assert ends(world(), me, teammate) == 4 + 14
    assert ends(world(), me, teammate, told={"Bob": (teammate, done)}) == 1 + 1 + 10
    assert ends(drawn, walker("Alice", missing=Counter(cup=1)), teammate) == 10  # who has brought the jug itself knows


def test_of_two_who_go_for_one_thing_the_slower_finds_it_gone() -> None:
    cup = Item("cup", MIDDLE, MIDDLE)
    quick = walker("Alice", site=NEAR, missing=Counter(cup=1), known=[cup])
    slow = walker("Bob", missing=Counter(cup=1), known=[cup])
    play_ = FetchSimulator(world(cup), [quick.copy(), slow.copy()], TABLE, {}, 2, ticks, 1.0)
    assert play_.run(cup, [0, 0], None) == 3 + 5
    both = FetchSimulator(world(cup, aims={"Bob": cup}), [quick.copy(), slow.copy()], TABLE, {}, 2, ticks, 1.0)
    assert both.run(cup, [0, 0], None) == 3 + 5
    assert both.walkers[1].others == Counter(cup=1)  # it takes somebody to have it


def test_where_things_are_brought_may_have_to_be_found_first() -> None:
    holds = walker("Alice", hands=["cup"], missing=Counter(cup=1), places={TARGET: {MIDDLE: 1.0}}, finds=False)
    assert ends(world(home=MIDDLE), holds) == 5 + 5


def test_what_mates_may_have_taken_or_brought_counts() -> None:
    me = walker("Alice", missing=Counter(cup=2), places={"cup": {FAR: 1.0}})
    teammate = walker("Bob", missing=Counter(cup=2), places={"cup": {FAR: 1.0}})
    assert ends(world(taken={"Bob": ("cup",)}, brought=("cup",)), me, teammate) < LATE
    assert ends(world(brought=("cup", "cup")), me, teammate) == 0


def test_who_is_in_the_room_sees_what_is_found_and_taken() -> None:
    """Both start in the room MIDDLE, in which END and FAR can be looked into; the table stands there too."""
    cup = Item("cup", FAR, FAR)
    room: dict[str, Any] = {"site": MIDDLE, "room": MIDDLE, "missing": Counter(cup=1)}
    nearer = walker("Alice", places={"cup": {FAR: 1.0}}, **room)
    longer = walker("Bob", places={"cup": {END: 1.0, FAR: 0.2}}, **room)
    play_ = FetchSimulator(world(cup, home=MIDDLE), [nearer, longer], TABLE, {MIDDLE: [FAR, END]}, 2, ticks, 1.0)
    assert play_.run(None, [0, 0], None) == 5 + 1 + 10
    assert longer.places["cup"] == {}  # Alice looked into the one before it looked into the other
    assert longer.others == Counter()  # it saw that the cup was taken, and that it was brought
    assert not longer.missing
    apart = replace(nearer, agent="Carol", room=None, site=BACK, aim=None, places={}, hands=[], missing=Counter(cup=1))
    FetchSimulator(world(home=MIDDLE), [walker("Alice", hands=["cup"], **room), apart], TABLE, {}, 2, ticks, 1.0).run(
        None, [0, 0], None
    )
    assert apart.missing == Counter(cup=1)  # out of sight


def test_where_somebody_heads_is_known_to_those_who_see_it_set_out() -> None:
    cup = Item("cup", FAR, FAR)
    near = walker("Alice", site=MIDDLE, room=MIDDLE, missing=Counter(cup=1), known=[cup])
    teammate = walker("Bob", site=MIDDLE, room=MIDDLE, missing=Counter(cup=1), known=[cup])
    for room, aims in ((MIDDLE, False), (NEAR, True)):
        play_ = FetchSimulator(world(cup), [near.copy(), replace(teammate.copy(), room=room)], TABLE, {}, 2, ticks, 1.0)
        play_._send(play_.walkers[0], cup, 0)
        assert (play_._choose(play_.walkers[1], 0) == cup) == aims


def test_a_way_takes_less_than_its_estimate_by_which_it_is_chosen() -> None:
    cup = Item("cup", FAR, FAR)
    alone = walker("Alice", missing=Counter(cup=1), known=[cup])
    assert FetchSimulator(world(cup), [alone.copy()], TABLE, {}, 2, ticks, 0.5).run(None, [0], None) == 5 + 5


def test_who_was_never_seen_begins_in_some_room_and_sees_it() -> None:
    cup = Item("cup", FAR, FAR)
    me = walker("Alice", missing=Counter(cup=1))
    teammate = walker("Bob", missing=Counter(cup=1), places={"cup": {FAR: 1.0, BACK: 5.0}})
    assert ends(world(cup, starts={"Bob": FAR}), me, teammate) == 1 + 10
    assert ends(world(cup), me, teammate) == 6 + 16 + 1 + 10


PLACES = [TABLE, NEAR, MIDDLE, FAR, Entity("place", 107)]


@st.composite
def teams(draw: st.DrawFn) -> tuple[ImaginedWorld, list[Walker]]:
    kinds = ["cup", "jug"]
    item = st.builds(Item, st.sampled_from(kinds), st.sampled_from(PLACES[1:]), st.sampled_from(PLACES[1:]))
    items = draw(st.lists(item, max_size=4))
    made = []
    for agent in ("Alice", "Bob", "Carol")[: draw(st.integers(1, 3))]:
        weights = st.dictionaries(st.sampled_from(PLACES[1:]), st.floats(0.01, 5), max_size=4)
        made.append(
            walker(
                agent,
                hands=draw(st.lists(st.sampled_from(kinds), max_size=2)),
                missing=Counter(draw(st.dictionaries(st.sampled_from(kinds), st.integers(1, 3)))),
                others=Counter(draw(st.dictionaries(st.sampled_from(kinds), st.integers(1, 2)))),
                known=[one for one in items if draw(st.booleans())],
                places={kind: draw(weights) for kind in kinds},
            )
        )
    return world(*items), made


@given(teams(), st.booleans())
def test_every_play_ends_and_the_same_play_ends_alike(team: tuple[ImaginedWorld, list[Walker]], told: bool) -> None:
    drawn, walkers = team
    news = {one.agent: (one, replace(one, places={})) for one in walkers[1:]} if told else None
    before = [one.copy() for one in walkers]
    first = ends(drawn, *walkers, told=news)
    assert 0 <= first <= LATE
    assert first == ends(drawn, *walkers, told=news)
    assert walkers == before  # who plays plays with copies


# ---- in the household


def situation(seed: int = 3) -> tuple[Situation, Entity, Entity]:
    """All but one thing is brought. Alice, at the target, knows where that lies; Bob, who is near it, does not."""
    home = worlds.make("household", "dev", seed, 60, {"agents": 2})
    home.reset(seed)
    view, domain = home.view("Alice"), home.domain
    goals = view.goals
    target = goals[0].thing
    assert target is not None
    rooms = [fact.subject for fact in view.known if fact.predicate == "POSITION" and isinstance(fact.subject, Entity)]
    rooms = [room for room in rooms if view.known.value(room, "IN") is None]
    places = [fact for fact in view.known if fact.predicate == "POSITION" and fact.subject in rooms]
    here, relation = rooms[0], dict(goals[0].features)["relation"]
    base = [Fact("Alice", "AT", here), *places]
    centre = {fact.subject: fact.value for fact in places}
    base += [Fact(target, "IN", here), Fact(target, "POSITION", centre[here])]
    base.append(Fact(here, "EXPLORED", "all"))
    brought = [
        Fact(thing, relation, target)
        for goal in goals
        for thing in _things(home, str(dict(goal.features)["thing"]))[: goal.units]
    ]
    last = brought.pop().subject
    assert isinstance(last, Entity)
    far = max(rooms[1:], key=lambda room: domain.estimate_steps("Alice", _explore(room), Facts(base)))
    others = [room for room in rooms if room not in (here, far)]
    near = min(others, key=lambda r: domain.estimate_steps("Bob", _explore(far), Facts((*base, Fact("Bob", "AT", r)))))
    base += [Fact("Bob", "AT", near), Fact(near, "EXPLORED", "all")]
    known = Facts((*base, *brought, Fact(last, "IN", far), Fact(last, "POSITION", centre[far])))
    now = Situation(
        view=view,
        domain=cast(BeliefDomain, domain),
        options=CobelOptions(engine="exact"),
        task=home.spec.task,
        team={"Alice": "person", "Bob": "person"},
        rules=RuleSet.of(Schema(domain.relations, home.spec.agents)),
        facts=known,
        ascribed={"Bob": Facts((*base, *brought))},
    )
    return now, last, far


def _things(home: Instance, kind: str) -> list[Entity]:
    """All things of a kind that there are, by number."""
    names = cast("HouseholdDomain", home.domain).names
    return sorted((thing for thing in names.things if thing.kind == kind), key=lambda thing: thing.id)


def _explore(room: Entity) -> Action:
    return Action("explore", (room,))


def test_what_everybody_knows_saves_nothing() -> None:
    now, _, _ = situation()
    alike = replace(now, ascribed={"Bob": now.facts})
    assert rollout.Rollout(alike, {}, 8).ticks_saved(tuple(now.facts)) == 0.0
    assert not message_value.assess_by_rollout(alike, {}).speaks


def test_drawn_worlds_are_those_of_the_moment_and_of_nothing_else() -> None:
    now, last, far = situation()
    fact = (Fact(last, "IN", far),)
    once = rollout.Rollout(now, {}, 16).ticks_saved(fact)
    rollout.Rollout(now, {}, 5).ticks_saved(())  # whatever else was asked
    assert rollout.Rollout(now, {}, 16).ticks_saved(fact) == once
    draws = {rollout.Rollout(replace(now, seed=seed), {}, 16)._worlds[0].items for seed in range(4)}
    assert draws  # other seeds may draw others; the known thing lies where it is in each
    assert all(any(item.kind == last.kind and item.place == far for item in items) for items in draws)


def test_who_was_never_seen_may_be_in_any_other_room() -> None:
    now, _, _ = situation()
    unseen = replace(now, facts=Facts(fact for fact in now.facts if fact.subject != "Bob"), ascribed={"Bob": Facts()})
    statics = [fact for fact in now.view.known if fact.predicate == "POSITION"]
    unseen = replace(unseen, ascribed={"Bob": Facts(statics)})
    team = rollout.Rollout(unseen, {}, 64)
    starts = {drawn.starts["Bob"] for drawn in team._worlds}
    assert len(starts) == 3  # of the four rooms all but Alice's
    assert now.facts.value("Alice", "AT") not in starts
    assert all(not drawn.starts for drawn in rollout.Rollout(now, {}, 4)._worlds)


def test_in_a_room_that_nobody_saw_most_has_to_be_searched_for() -> None:
    home = worlds.make("household", "dev", 3, 60, {"agents": 2})
    home.reset(3)
    view = home.view("Alice")
    mind = Facts(fact for fact in view.known if fact.subject != "Alice")
    team = rollout.Rollout(replace(situation()[0], view=view, facts=view.known, ascribed={"Bob": mind}), {}, 200)
    lying = Counter(item.place.kind == rollout.INNER for drawn in team._worlds for item in drawn.items)
    assert 0.4 < lying[True] / sum(lying.values()) <= CLOSED + 0.05
    inner, room = next(iter(team._rooms.items()))
    assert team._ticks(inner, inner) == rollout.SEARCH == team._ticks(room, inner)
    assert team._ticks("Alice", inner) == rollout.SEARCH + team.travel.ticks("Alice", room)


def test_from_a_place_that_is_no_option_ways_begin_there() -> None:
    now, last, far = situation()
    ways = rollout.TravelTimes(now, None)
    here = now.facts.value("Alice", "AT")
    assert isinstance(here, Entity)
    assert here not in ways  # it is explored: there is nothing to go there for
    elsewhere = Facts((*(f for f in now.facts if f.subject != "Alice"), Fact("Alice", "AT", far)))
    moved = rollout.TravelTimes(replace(now, facts=elsewhere), None)
    assert moved.ticks(here, last) == ways.ticks("Alice", last) > moved.ticks("Alice", last)


def test_nothing_is_told_whose_saving_is_below_the_price() -> None:
    sent = []
    for seed in range(3, 8):
        now, last, far = situation(seed)
        found = message_value.assess_by_rollout(now, {})
        assert found.speaks == bool(found.saved > message_value.STEP and found.lacking)
        dear = replace(now, options=CobelOptions(engine="exact", theta=1000))
        assert not message_value.assess_by_rollout(dear, {}).speaks
        if found.speaks:
            draft = message_value.draft_message(now, found)
            assert inference.read_plan(Message("Alice", "inform", draft.text)) is None  # facts alone
            sent.append(Fact(last, "IN", far) in draft.facts)
    assert any(sent), sent
    assert len(sent) < 5


def test_nothing_is_told_to_a_mate_of_which_too_little_is_known() -> None:
    now, _, _ = situation()
    t = now.view.t
    assert message_value._foreseen_share(replace(now, last_met={"Bob": t})) == 1.0
    later = replace(now, view=cast("View", At(now.view, t + 4)), last_met={"Bob": t})
    assert message_value._foreseen_share(later) == 0.25
    unseen = replace(now, facts=Facts(fact for fact in now.facts if fact.subject != "Bob"))
    assert message_value._foreseen_share(unseen) == 0.0
    assert not message_value.assess_by_rollout(unseen, {}).speaks


class At:
    """A view at another tick."""

    def __init__(self, view: View, t: int) -> None:
        self._view, self.t = view, t

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


class Seen:
    """A view of which so much is seen."""

    def __init__(self, view: View, facts: Facts) -> None:
        self._view, self.facts, self.known = view, facts, facts

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


def test_what_a_mate_was_seen_with_and_is_seen_without_was_brought() -> None:
    home = worlds.make("household", "dev", 3, 60, {"agents": 2})
    home.reset(3)
    view = home.view("Alice")
    goal = view.goals[0]
    thing, here = Entity(str(dict(goal.features)["thing"]), 950), view.known.value("Alice", "AT")
    assert isinstance(here, Entity)
    assert goal.thing is not None
    store = BeliefStore(
        "Alice", Schema(home.domain.relations, home.spec.agents), cast(BeliefDomain, home.domain), False, ("Bob",)
    )
    with_it = Facts((*view.facts, Fact("Bob", "AT", here), Fact("Bob", "HOLD", thing)))
    without = Facts((*view.facts, Fact("Bob", "AT", here)))
    for seen in (with_it, view.facts):  # the second time Bob is out of sight: nothing is known of it
        store.observe(cast("View", Seen(view, seen)))
        assert not tuple(store.world.entries)
    store.observe(cast("View", Seen(view, without)))
    assert [(fact.subject, fact.value) for fact in tuple(store.world.entries)] == [(thing, goal.thing)]
    (entry,) = store.world.entries.values()
    assert (entry.origin, entry.weight < 1) == ("predicted", True)


def test_what_is_seen_on_the_way_changes_the_plan() -> None:
    """In this home an agent walks to the kitchen through a room in which two of the wanted things lie."""
    seen = play("cobel:exact", Scenario("household", "dev-103", 103, 12, {"agents": 2}), {"cobel": {"gate": "never"}})
    taken = [event for event in seen.events if isinstance(event, ActionStep) and event.agent == "Alice"]
    assert [event.verb for event in taken if event.status == "done"][:2] == ["fetch", "fetch"]
