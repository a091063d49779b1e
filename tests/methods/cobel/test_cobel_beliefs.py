"""CoBel-World's store and operations: who knows what, what is worth telling, who gives way (cobel.md part D)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from teamworld.language import Action, AgentId, Entity, Fact, Facts, RuleSet, Schema, plain
from teamworld.methods.cobel import messages, planning
from teamworld.methods.cobel.beliefs import BeliefEntry, BeliefStore, BeliefTable
from teamworld.methods.cobel.planning import FLOOR
from teamworld.methods.cobel.questions import (
    Assess,
    BeliefQuestion,
    Ground,
    MakePlan,
    PredictIntents,
    ReadDialogue,
    ReadMessage,
    RemakePlan,
    Result,
    Said,
    WriteMessage,
)
from teamworld.methods.cobel.situation import Announcement, CobelOptions, Intent, Situation, Subplan
from teamworld.methods.contract import Message
from teamworld.seeding import generator
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import World

TEAM = {"Alice": "person", "Bob": "person"}


def believing(world: World) -> BeliefDomain:
    """Return the domain of a world, which declares beliefs."""
    return cast("BeliefDomain", world.domain)


def home(seed: int = 8, agents: int = 2) -> World:
    world = worlds.make("household", "dev", seed, 60, {"agents": agents})
    world.reset(seed)
    return world


def situation(world: World, given: Facts, mind: Facts, **more: Any) -> Situation:
    """Alice, who holds ``given`` and believes that Bob holds ``mind``."""
    schema = Schema(world.domain.relations, world.spec.agents)
    view = world.view("Alice")
    rest: dict[str, Any] = {"options": CobelOptions(engine="exact"), "spec": world.spec, **more}
    return Situation(
        view=view,
        domain=believing(world),
        team=TEAM,
        rules=RuleSet.of(schema),
        facts=given,
        ascribed={"Bob": mind},
        last_met={"Bob": view.t},
        **rest,
    )


def rooms(world: World) -> list[Entity]:
    known = world.view("Alice").known
    found = [fact.subject for fact in known if fact.predicate == "POSITION" and isinstance(fact.subject, Entity)]
    return [one for one in found if all(fact.subject != one or fact.predicate != "IN" for fact in known)]


def facts(world: World, *more: Fact) -> Facts:
    """Where the rooms are, where both agents are, and what more."""
    known = world.view("Alice").known
    base = [fact for fact in known if fact.predicate == "POSITION" and fact.subject in rooms(world)]
    places = [Fact(agent, "AT", rooms(world)[0]) for agent in TEAM]
    return Facts((*places, *base, *more))


def explored(*places: Entity) -> list[Fact]:
    return [Fact(place, "EXPLORED", "all") for place in places]


# ---- tables


@pytest.mark.heavy
def test_the_same_evidence_counts_once_and_relays_do_not_make_it_surer() -> None:
    world = home()
    table = BeliefTable(Schema(world.domain.relations, world.spec.agents))
    fact = Fact(rooms(world)[0], "EXPLORED", "all")
    table.add([BeliefEntry(fact, 0.95, 3, "told", ("message:1",))])
    before = table.version
    table.add([BeliefEntry(fact, 0.95, 3, "told", ("message:1",))])
    assert table.version == before
    for relay in range(2, 5):  # through others, under new numbers
        table.add([BeliefEntry(fact, 0.95, 3 + relay, "told", (f"message:{relay}",))])
    (held,) = table.entries.values()
    assert held.weight == 0.95
    assert held.evidence == ("message:1", "message:2", "message:3", "message:4")


def test_one_value_of_an_exclusive_fact_takes_the_place_of_another() -> None:
    world = home()
    table = BeliefTable(Schema(world.domain.relations, world.spec.agents))
    thing, (one, other, *_) = Entity("wine", 160), rooms(world)
    table.add([BeliefEntry(Fact(thing, "IN", one))])
    table.add([BeliefEntry(Fact(thing, "IN", other), since=4)])
    assert tuple(table.entries) == (Fact(thing, "IN", other),)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(4))
def test_what_only_i_have_seen_never_becomes_what_others_hold(seed: int) -> None:
    world = home(seed, agents=3)
    schema = Schema(world.domain.relations, world.spec.agents)
    stores = {
        agent: BeliefStore(agent, schema, believing(world), False, tuple(m for m in world.spec.agents if m != agent))
        for agent in world.spec.agents
    }
    rng = generator(seed, "cobel", "walk")
    public = {fact for fact in world.view("Alice").known if fact.predicate == "POSITION"}
    together: dict[tuple[AgentId, AgentId], set[Fact]] = {}
    learned = 0
    for _ in range(40):
        views = {agent: world.view(agent) for agent in world.spec.agents}
        room = {agent: view.known.value(agent, "AT") for agent, view in views.items()}
        for agent, store in stores.items():
            store.observe(views[agent])
            for teammate in store.teammates:
                pair = together.setdefault((agent, teammate), set())
                if room[agent] == room[teammate]:
                    pair |= set(views[agent].facts) & set(views[teammate].facts)
                held = set(store.ascribed[teammate].entries)
                learned += len(held - public)
                assert held <= pair | public, (agent, teammate)
        orders = {}
        for agent, view in views.items():
            options = [option.action for option in view.options]
            orders[agent] = options[int(rng.integers(len(options)))]
        if world.step(orders).end_reason:
            break
    assert learned  # they met


def test_sight_beats_hearsay_and_what_was_told_last_counts() -> None:
    world = home()
    view = world.view("Alice")
    store = BeliefStore("Alice", Schema(world.domain.relations, world.spec.agents), believing(world), False, ("Bob",))
    here = view.known.value("Alice", "AT")
    assert isinstance(here, Entity)
    elsewhere = next(room for room in rooms(world) if room != here)
    ghost, thing = Entity("wine", 991), Entity("wine", 992)
    store.hear([BeliefEntry(Fact(ghost, "IN", here), 0.95, 0, "told", ("message:0",))], view)
    assert Fact(ghost, "IN", here) not in store.facts(view)  # I would see it
    store.hear([BeliefEntry(Fact(thing, "IN", elsewhere), 0.95, 0, "told", ("message:0",))], view)
    assert Fact(thing, "IN", elsewhere) in store.facts(view)
    third = next(room for room in rooms(world) if room not in (here, elsewhere))
    store.hear([BeliefEntry(Fact(thing, "IN", third), 0.95, 1, "told", ("message:1",))], view)
    assert [fact.value for fact in store.facts(view) if fact.subject == thing] == [third]
    assert all(fact in store.facts(view) for fact in view.known)


# ---- words


def test_a_plan_in_a_message_never_becomes_a_fact() -> None:
    world = home()
    now = situation(world, facts(world), facts(world))
    plan = Subplan((Action("explore", (rooms(world)[1],)), Action("deliver")), None)
    known = explored(rooms(world)[0])
    message = Message("Bob", "inform", messages.word_message(now, known, plan), facts=tuple(known), id=1, t=0)
    told = messages.read_messages(now, "Bob", [message])
    assert told.beliefs == tuple(known)
    assert told.plan is not None
    assert told.plan.actions == plan.actions
    bare = Message("Bob", "inform", messages.word_message(now, [], plan), id=2, t=0)
    assert messages.read_messages(now, "Bob", [bare]).beliefs == ()
    for hostile in ("I will: __import__('os').system('x').", "I will: go(" * 90, "I will: ; ;. I know: x", "I will: ."):
        assert messages.read_plan(Message("Bob", "inform", hostile), now.rules.schema) is None


def empty_room(world: World) -> tuple[Entity, Facts, Facts]:
    """The room that Bob is likeliest to look into; what Alice holds, who knows it empty; and what Bob holds."""
    mind = facts(world, *explored(rooms(world)[0]), Fact(target(world), "IN", rooms(world)[0]))
    now = situation(world, mind, mind)
    looks = [one for one in planning.predict_intents(now, "Bob", 9) if one.subplan.actions[0].verb == "explore"]
    empty = looks[0].subplan.actions[0].args[0]
    assert isinstance(empty, Entity)
    return empty, Facts((*mind, *explored(empty))), mind


def target(world: World) -> Entity:
    thing = world.goals()[0].thing
    assert thing is not None
    return thing


def test_what_was_said_to_a_mate_it_holds_and_saying_it_again_gains_nothing() -> None:
    world = home()
    empty, known, mind = empty_room(world)
    now = situation(world, known, mind, subplan=Subplan((Action("wait"),)))
    found = messages.assess(now, {"Bob": ()})
    told = found.facts
    assert Fact(empty, "EXPLORED", "all") in told
    sent = Message("Alice", "inform", "", facts=told, recipients=("Bob",)).within(None)
    said = replace(now, dialogue=(sent,))
    assert set(messages.read_messages(said, "Bob", said.dialogue_with("Bob")).beliefs) == set(told)
    again = situation(world, known, Facts((*mind, *told)), subplan=Subplan((Action("wait"),)))
    assert not messages.assess(again, {"Bob": ()}).facts
    assert not messages.assess(again, {"Bob": ()}).speaks


# ---- the gate


def intent(now: Situation, action: Action, weight: float = 0.9) -> Mapping[AgentId, Sequence[Intent]]:
    (option,) = Subplan((action,)).options("Bob", now.domain, now.facts)
    return {"Bob": (Intent("Bob", option, weight),)}


def test_with_the_same_beliefs_and_plans_that_go_together_nobody_speaks() -> None:
    world = home()
    far = sorted(rooms(world)[1:], key=lambda room: room.id)
    known = facts(world)
    now = situation(world, known, known, subplan=Subplan((Action("explore", (far[0],)),)))
    found = messages.assess(now, intent(now, Action("explore", (far[1],))))
    assert (found.speaks, found.lacking) == (False, {})
    assert found.saved < 0.5


def test_two_who_would_search_one_room_are_worth_a_message_with_the_plan() -> None:
    world = home()
    known = facts(world)
    room = next(one for one in rooms(world)[1:] if one.kind == "bedroom")  # one cabinet: nothing is left to a second
    now = situation(world, known, known, subplan=Subplan((Action("explore", (room,)),)))
    found = messages.assess(now, intent(now, Action("explore", (room,))))
    assert (found.speaks, found.facts, found.against) == (True, (), ("Bob",))
    draft = messages.draft_message(now, found)
    assert messages.read_plan(Message("Alice", "inform", draft.text), now.rules.schema) == now.subplan
    assert now.subplan is not None
    told = replace(now, own_announcement=Announcement(now.subplan, 0, 9))  # once is enough
    assert not messages.assess(told, intent(told, Action("explore", (room,)))).speaks


def test_a_room_known_to_be_empty_to_me_alone_is_worth_telling() -> None:
    world = home()
    empty, known, mind = empty_room(world)
    now = situation(world, known, mind, subplan=Subplan((Action("wait"),)))
    found = messages.assess(now, {"Bob": ()})
    assert (found.speaks, found.against) == (True, ())
    draft = messages.draft_message(now, found)
    assert Fact(empty, "EXPLORED", "all") in draft.facts
    assert plain(empty) in draft.text
    high = replace(now, options=CobelOptions(engine="exact", theta=1000))
    assert not messages.assess(high, {"Bob": ()}).speaks


def test_a_message_keeps_to_its_length() -> None:
    world = home()
    now = situation(
        world,
        facts(world, *explored(*rooms(world))),
        facts(world),
        subplan=Subplan((Action("wait"),)),
        options=CobelOptions(engine="exact", length=60),
    )
    assert len(messages.draft_message(now, messages.assess(now, {"Bob": ()})).text) <= 60


# ---- giving way


def test_an_announced_plan_is_planned_round() -> None:
    world = home()
    known = facts(world)
    looks = planning.possible_prospects(situation(world, known, known))
    full = (
        one for one in looks if believing(world).beliefs.conflict_cost(one.option, one.option, known) == one.first
    )  # nothing for a second
    alone = Subplan(next(one.actions for one in full if one.actions[0].verb == "explore"))
    told = {"Bob": Announcement(alone, 0, 9)}
    first = situation(world, known, known, announced=told)
    mine = next(one for one in planning.possible_prospects(first) if one.actions == alone.actions)
    others = planning.announced_intents(first, "Bob")
    assert planning.score(first, mine, others) == pytest.approx(planning.score(first, mine, ()) * FLOOR)
    far = {"Bob": Announcement(alone, 0, 9, first=99)}  # it has fewer steps to go than Bob
    second = situation(world, known, known, announced=far)
    assert planning.score(second, mine, others) == pytest.approx(planning.score(second, mine, ()))


# ---- asked and inferred


def answered(question: BeliefQuestion[Said, Result]) -> Result:
    """Return the result when the question is put to the built-in rules."""
    answer = question.rule(generator(0, "test"))
    assert question.check(answer) is None
    return question.read(answer)


def test_what_is_asked_and_what_is_inferred_agree() -> None:
    world = home()
    empty, known, mind = empty_room(world)
    words = "I will: wait()."
    said = Message("Bob", "inform", words, facts=tuple(explored(empty)), id=1, recipients=("Alice",)).within(None)
    now = situation(world, known, mind, subplan=Subplan((Action("wait"),)), dialogue=(said,))
    heard, after = ReadMessage(now, "Bob", [said]), ReadDialogue(now, "Bob", now.dialogue)
    inferred, asked = heard.infer(), answered(heard)
    assert inferred.beliefs == asked.beliefs != ()
    assert inferred.plan is not None
    assert asked.plan is not None
    assert inferred.plan.actions == asked.plan.actions
    assert after.infer().beliefs == answered(after).beliefs != ()
    intents = PredictIntents(now, "Bob")
    assert [one.subplan.actions for one in intents.infer()] == [one.subplan.actions for one in answered(intents)]
    assess = Assess(now, {"Bob": ()})
    assert (assess.infer().speaks, assess.infer().lacking) == (answered(assess).speaks, answered(assess).lacking)
    write = WriteMessage(now, messages.assess(now, {"Bob": ()}))
    assert write.infer().facts
    assert write.infer().text == answered(write).text
    assert Ground(now).infer() == answered(Ground(now))
    for question in (MakePlan(now), RemakePlan(now)):
        assert question.infer().actions
        assert answered(question).actions
