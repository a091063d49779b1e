"""The rules that everybody knows: pure in what they are given, never by what is hidden, and right about the world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Fact, Facts, parse_action, parse_fact
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT, Goal, Option
from teamworld.worlds.household.domain import HouseholdDomain
from teamworld.worlds.household.homes.home import SEARCHED, Episode, Home, Need
from teamworld.worlds.household.observe import Names, believed
from teamworld.worlds.household.state import Rules
from teamworld.worlds.household.world import HouseholdWorld, make
from tests.worlds.household.homes import (
    APPLE,
    CABINET,
    COFFEE,
    CUPCAKE,
    FRIDGE,
    KITCHEN,
    LIVING,
    STOVE,
    flat,
    node,
    tea,
)
from tests.worlds.household.scenes import (
    AT_COFFEE,
    AT_FRIDGE,
    AT_TABLE,
    done,
    facts,
    groceries,
    moved,
    stroll,
    world,
)

Apple, Cupcake, Fridge, Stove = (
    Entity("apple", APPLE),
    Entity("cupcake", CUPCAKE),
    Entity("fridge", FRIDGE),
    Entity("stove", STOVE),
)
Kitchen, Living, Coffee = Entity("kitchen", KITCHEN), Entity("livingroom", LIVING), Entity("coffeetable", COFFEE)


def everything(domain: HouseholdDomain, agent: str, told: Facts) -> dict[str, Any]:
    """Return all that the rules say for some knowledge, to compare it."""
    goals = domain.goals(told)
    options = domain.options(agent, told)
    actions = [*_named(told), *(option.action for option in options)]
    return {
        "relations": domain.relations,
        "measures": domain.measures,
        "goals": goals,
        "abilities": domain.abilities(agent, told),
        "options": options,
        "recipes": [domain.candidate_plans(goal, agent, told) for goal in (*goals, None)],
        "unknowns": domain.beliefs.latent_variables(told),
        "check": [domain.check(agent, action, told) for action in actions],
        "after": [list(after) for action in actions if (after := domain.predict(agent, action, told)) is not told],
        "ticks": [domain.estimate_steps(agent, action, told) for action in actions],
        "visible": [domain.beliefs.observation_probability(fact, agent, told) for fact in told],
        "clash": [domain.beliefs.conflict_cost(one, other, told) for one in options[:6] for other in options[:6]],
    }


def _named(told: Facts) -> list[Action]:
    """Return all actions that name what facts name."""
    named = dict.fromkeys(term for fact in told for term in (fact.subject, fact.value) if isinstance(term, Entity))
    verbs = ("explore", "check", "fetch", "go", "open", "close", "grab")
    actions = [Action(verb, (entity,)) for verb in verbs for entity in named]
    actions += [Action("put", (entity, other)) for entity in named for other in named if entity.kind == "apple"]
    return [*actions, Action("deliver"), Action("turn", ("left",)), Action("talk", (3,)), WAIT]


# ---- nothing hidden is told


def with_more(home: Home) -> Home:
    """Return the flat with another wine in the fridge, a second apple there, and a microwave that nobody has seen."""
    more = (
        node(50, "apple", "Food", "g", (-2.4, 0.9, 2.0, 0.1, 0.1, 0.1)),
        node(51, "wine", "Food", "g", (-2.4, 0.9, 2.0, 0.1, 0.3, 0.1)),
        node(52, "microwave", "Appliances", "oc", (8.3, 1.2, 2.0, 0.4, 0.3, 0.3)),
    )
    return replace(
        home,
        nodes={**home.nodes, **{extra.id: extra for extra in more}},
        parent={**home.parent, 50: ("INSIDE", FRIDGE), 51: ("INSIDE", FRIDGE), 52: ("ON", CABINET)},
        room={**home.room, 50: KITCHEN, 51: KITCHEN, 52: LIVING},
    )


HIDDEN = {
    "the apple in the stove": moved(flat(), {APPLE: ("INSIDE", STOVE)}),
    "the apple in the cabinet": moved(flat(), {APPLE: ("INSIDE", CABINET)}),
    "the apple on the coffee table": moved(flat(), {APPLE: ("ON", COFFEE)}),
    "more things and a microwave": with_more(flat()),
}


@pytest.mark.parametrize("home", HIDDEN.values(), ids=HIDDEN)
def test_rules_and_views_say_the_same_whatever_is_hidden(home: Home) -> None:
    """Alice stands in the kitchen, has not been in the living room, and has opened nothing."""
    shown = []
    for variant in (flat(), home):
        here = world(AT_TABLE, given=tea(variant))
        view = here.view("Alice")
        shown.append(
            everything(here.domain, "Alice", view.known)
            | {"facts": list(view.facts), "text": view.text(), "goals": list(view.goals), "spec": here.spec.public}
        )
        assert here.entities is not None
    for part, value in shown[0].items():
        assert value == shown[1][part], part


def test_relations_list_what_everybody_is_told_at_the_start() -> None:
    relations = world(AT_TABLE).domain.relations
    assert {one.subject for one in relations if one.predicate == "STATE"} == set(SEARCHED)
    assert {one.subject for one in relations if one.predicate == "EXPLORED"} == {"kitchen", "livingroom"}
    (hold,) = (one for one in relations if one.predicate == "HOLD")
    assert (hold.values, hold.max_values) == (("apple", "cupcake"), 2)
    here = world(AT_TABLE, AT_COFFEE)
    for _ in stroll(here, 0, 40):
        listed = {(one.predicate, one.subject): one for one in here.domain.relations}
        for agent in here.spec.agents:
            for fact in here.view(agent).known:
                relation = listed[fact.predicate, fact.subject.kind if isinstance(fact.subject, Entity) else "agent"]
                kind = fact.value.kind if isinstance(fact.value, Entity) else fact.value
                assert kind in relation.values or (isinstance(kind, tuple) and "cell" in relation.values)


@pytest.mark.parametrize("level", ["dev-0", "dev-tea-1", "test-3"])
def test_homes_with_the_same_task_have_the_same_relations(level: str) -> None:
    here = make(level, 0, 250, {})
    assert all(relation.max_values in (1, 2, 100) for relation in here.domain.relations)
    kinds = {relation.subject for relation in here.domain.relations if relation.predicate == "STATE"}
    assert kinds >= set(SEARCHED)
    asked = {need.name for need in here.episode.needs}
    assert {relation.subject for relation in here.domain.relations if relation.predicate == "INSIDE"} == asked


def test_the_ids_of_goals_are_those_of_their_predicates() -> None:
    here = world(AT_TABLE)
    goals = here.view("Alice").goals
    assert [goal.id for goal in goals] == ["apple_on_coffeetable", "cupcake_on_coffeetable"]
    assert {goal.thing for goal in goals} == {Coffee}
    assert goals[0].features == (("thing", "apple"), ("relation", "ON"), ("target", "coffeetable"))
    assert [(goal.weight, goal.units, goal.capacity, goal.quorum) for goal in goals] == [(1.0, 1, 1, 1)] * 2


# ---- goals


def test_a_goal_counts_what_is_known_to_be_there() -> None:
    here = world(AT_TABLE, given=groceries(number=2))

    def units(*texts: str) -> tuple[int, str]:
        (goal,) = here.domain.goals(Facts(facts(*texts)))
        return goal.units, goal.state

    assert units() == (2, "open")
    assert units("<cupcake>(32) INSIDE <fridge>(20)") == (1, "open")
    assert units("<cupcake>(32) INSIDE <stove>(25)", "<apple>(30) INSIDE <fridge>(20)") == (2, "open")
    assert units("<cupcake>(32) ON <fridge>(20)") == (2, "open")
    assert units("<cupcake>(32) INSIDE <fridge>(20)", "<cupcake>(33) INSIDE <fridge>(20)") == (0, "done")
    three = [f"<cupcake>({number}) INSIDE <fridge>(20)" for number in (32, 33, 34)]
    assert units(*three) == (0, "done")


# ---- options and recipes


@pytest.mark.heavy
@pytest.mark.parametrize("sight", ["room", "cone"])
@pytest.mark.parametrize("agents", [1, 3])
def test_options_can_start_and_recipes_begin_with_what_can(agents: int, sight: str) -> None:
    here = make("dev", 8, 80, {"agents": agents, "sight": sight})
    for _ in stroll(here, 8, 30):
        for agent in here.spec.agents:
            view = here.view(agent)
            options = view.options
            assert options[-1].action == WAIT
            assert len({option.action for option in options if option.goal is None}) == len(
                [option for option in options if option.goal is None]
            )
            for option in options:
                assert view.check(option.action).ok
                assert option.steps == here.domain.estimate_steps(agent, option.action, view.known) >= 1
            for goal in (*view.goals, None):
                plans = here.domain.candidate_plans(goal, agent, view.known)
                assert plans or (goal is not None and goal.state != "open")
                for plan in plans if goal is None or goal.state == "open" else ():
                    assert view.check(plan.actions[0]).ok, (agent, str(plan))
                    assert plan.goal == (None if goal is None else goal.id)
                    told = view.known
                    for action in plan.actions:
                        verdict = here.domain.check(agent, action, told)
                        assert verdict.ok, (str(plan), str(action), verdict)
                        told = here.domain.predict(agent, action, told)


def test_the_last_thing_of_a_kind_is_not_fetched_when_none_is_missing() -> None:
    here = world(AT_TABLE)
    known = Facts((*here.view("Alice").known, *facts("<cupcake>(33) ON <coffeetable>(23)")))
    verbs = {(option.action.verb, option.action.args) for option in here.domain.options("Alice", known)}
    assert ("fetch", (Cupcake,)) not in verbs


# ---- odd knowledge: what a message may tell

TERMS = st.sampled_from(
    [Kitchen, Living, Fridge, Stove, Coffee, Apple, Cupcake, Entity("fridge", 98), Entity("apple", 99),
     Entity("apple", 1), Entity("ghost", 5), "Alice",
     "Bob", "Zoe", "open", "closed", "all", "part", (3, 4), (-900, 0), 7, "none"]
)  # fmt: skip
PREDICATES = st.sampled_from(["AT", "IN", "INSIDE", "ON", "HOLD", "NEAR", "STATE", "POSITION", "EXPLORED", "ODD"])
ODD = st.builds(Fact, TERMS.filter(lambda term: isinstance(term, Entity | str)), PREDICATES, TERMS)
AGENTS = st.sampled_from(["Alice", "Zoe"])


@cache
def domains() -> tuple[tuple[HouseholdDomain, Facts], ...]:
    pairs = []
    for options in ({}, {"sight": "cone"}, {"strict_put": True}, {"mode": "engine"}):
        here = world(AT_TABLE, AT_FRIDGE, **options)
        pairs.append((here.domain, here.view("Alice").known))
    here = world(AT_TABLE, given=groceries())
    return (*pairs, (here.domain, here.view("Alice").known))


@settings(max_examples=40, deadline=None)
@given(odd=st.lists(ODD, max_size=9), which=st.integers(0, 4), alone=st.booleans(), agent=AGENTS)
def test_odd_knowledge_never_raises(odd: list[Fact], which: int, alone: bool, agent: str) -> None:
    domain, known = domains()[which]
    told = Facts(odd if alone else (*known, *odd))
    said = everything(domain, agent, told)
    assert all(verdict.ok or verdict.word.isidentifier() for verdict in said["check"])
    assert all(ticks >= 1 for ticks in said["ticks"])
    assert all(0.0 <= chance <= 1.0 for chance in said["visible"])
    for unknown in said["unknowns"]:
        assert unknown.values
        assert all(value.weight > 0 for value in unknown.values)
    after = domain.predict(agent, Action("deliver"), told)
    everything(domain, agent, after)


# ---- what is expected is what happens

Trip = tuple[str, int, int]


@cache
def trips(seeds: range, sight: str) -> tuple[tuple[str, ...], tuple[Trip, ...]]:
    """Let one agent act at random; return where the world did not do as expected, and expected and real ticks."""
    wrong: list[str] = []
    found: list[Trip] = []
    for seed in seeds:
        here = make("dev", seed, 250, {"agents": 1, "sight": sight})
        rng, over = generator(seed, "tests", "trips"), None
        while over is None:
            view = here.view("Alice")
            options = [option for option in view.options if option.action != WAIT]
            handy = [option for option in options if option.action.verb in ("fetch", "deliver")]
            some = handy if handy and rng.random() < 0.5 else options
            chosen, start = some[int(rng.integers(len(some)))], view.t
            expected = here.domain.predict("Alice", chosen.action, view.known)
            report = here.step({"Alice": chosen.action})
            while report.end_reason is None and report.outcomes["Alice"].status == "running":
                report = here.step({})
            over = report.end_reason
            if report.outcomes["Alice"].status != "done":
                assert over == "horizon"
                continue
            view = here.view("Alice")
            found.append((chosen.action.verb, chosen.steps, view.t - start))
            wrong += [f"{seed} {start} {chosen.action}: {part}" for part in _differ(here, expected, view.known)]
    return tuple(wrong), tuple(found)


def _differ(here: HouseholdWorld, expected: Facts, real: Facts) -> list[str]:
    """Return in what expected knowledge differs from what is known, which may be more."""
    first, other = believed(expected), believed(real)
    differences = []
    if first.at["Alice"] != other.at["Alice"]:
        differences.append("place")
    if first.hands["Alice"] != other.hands["Alice"]:
        differences.append("hands")
    differences += [f"STATE of {box}" for box, opened in first.opened.items() if other.opened.get(box) != opened]
    differences += [f"place of {thing}" for thing, place in first.places.items() if other.places.get(thing) != place]
    if [goal.units for goal in here.domain.goals(expected)] != [goal.units for goal in here.domain.goals(real)]:
        differences.append("goals")
    return differences


@pytest.mark.parametrize("sight", ["room", "cone"])
def test_what_is_expected_happens_if_nobody_interferes(sight: str) -> None:
    wrong, found = trips(range(4), sight)
    assert wrong == ()
    assert {verb for verb, _, _ in found} == {"explore", "check", "fetch", "deliver"}


@pytest.mark.heavy
def test_what_is_expected_happens_in_thirty_homes() -> None:
    wrong, found = trips(range(30), "room")
    assert wrong == ()
    errors = _errors(found)
    assert all(abs(mean(error)) < 1 for error in errors.values()), {verb: mean(e) for verb, e in errors.items()}


def _errors(found: Sequence[Trip]) -> dict[str, list[int]]:
    errors = defaultdict(list)
    for verb, estimated, took in found:
        errors[verb].append(estimated - took)
    return errors


@pytest.mark.heavy
@pytest.mark.parametrize(("sight", "within"), [("room", 1), ("cone", 2)])
def test_nine_walks_in_ten_are_as_long_as_the_rules_say(sight: str, within: int) -> None:
    walks = [(estimated, took) for _, estimated, took in trips(range(12), sight)[1] if max(estimated, took) > 1]
    assert mean(abs(estimated - took) <= within for estimated, took in walks) >= 0.9
    assert abs(mean(estimated - took for estimated, took in walks)) < 0.5


# ---- what is open


def test_each_missing_thing_that_nobody_knows_of_is_open() -> None:
    here = world(AT_TABLE)
    view = here.view("Alice")
    apple, table = here.domain.beliefs.latent_variables(view.known)
    assert (apple.name, apple.goals) == ("apple 1", ("apple_on_coffeetable",))
    one = Entity("apple", 1)
    values = {(value.fact.predicate, value.fact.value): value for value in apple.values}
    assert set(values) == {("INSIDE", Fridge), ("INSIDE", Stove), ("IN", Living)}
    assert values["INSIDE", Fridge].part_of == Fact(one, "IN", Kitchen)
    assert values["INSIDE", Fridge].weight > values["INSIDE", Stove].weight  # nothing lies in stoves at the start
    assert {value.fact for value in table.values} == {Fact(Coffee, "IN", Living)}


def test_what_was_looked_into_in_vain_is_not_open_any_more() -> None:
    here = world(AT_TABLE, given=tea(moved(flat(), {APPLE: ("INSIDE", CABINET)})))
    done(here, "Alice", "check(<fridge>(20))")
    (apple, _) = here.domain.beliefs.latent_variables(here.view("Alice").known)
    assert {value.fact.value for value in apple.values} == {Stove, Living}
    done(here, "Alice", "check(<stove>(25))", "explore(<livingroom>(12))")
    (apple,) = here.domain.beliefs.latent_variables(here.view("Alice").known)
    assert {value.fact.value for value in apple.values} == {Entity("cabinet", CABINET)}
    done(here, "Alice", "check(<cabinet>(22))")
    assert here.domain.beliefs.latent_variables(here.view("Alice").known) == ()


def test_where_all_was_looked_into_it_may_be_in_any_room() -> None:
    here = world(AT_TABLE)
    told = facts(
        "<kitchen>(11) POSITION (0, 0)", "<livingroom>(12) POSITION (600, 0)", "<kitchen>(11) EXPLORED all",
        "<livingroom>(12) EXPLORED all", "<fridge>(20) IN <kitchen>(11)", "<fridge>(20) STATE open",
    )  # fmt: skip
    apple, cupcake, _ = here.domain.beliefs.latent_variables(Facts(told))
    assert [value.fact.value for value in apple.values] == [Kitchen, Living]
    assert [value.fact.value for value in cupcake.values] == [Kitchen, Living]


def test_what_is_held_is_not_open() -> None:
    here = world(AT_FRIDGE)
    done(here, "Alice", "check(<fridge>(20))", "fetch(<apple>(30))")
    assert [variable.name for variable in here.domain.beliefs.latent_variables(here.view("Alice").known)] == [
        "<coffeetable>(23)"
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("sight", ["room", "cone"])
@pytest.mark.parametrize("seed", range(4))
def test_the_truth_is_among_what_is_possible(seed: int, sight: str) -> None:
    """As long as nobody else moves things, each missing thing that is not known is where it may be."""
    here = make("dev", seed, 120, {"agents": 1, "sight": sight})
    for _ in stroll(here, seed, 80):
        held = {fact.value for fact in here.truth() if fact.predicate == "HOLD"}
        placed = (fact for fact in here.truth() if fact.predicate != "IN" or fact.subject not in held)
        known, truth = believed(here.view("Alice").known), believed(Facts(placed))
        for unknown in here.domain.beliefs.latent_variables(here.view("Alice").known):
            subject = unknown.values[0].fact.subject
            values = {(value.fact.predicate, value.fact.value) for value in unknown.values}
            assert isinstance(subject, Entity)
            if subject.id > 10:
                assert ("IN", truth.room[subject]) in values
                continue
            unseen = [thing for thing in truth.places if thing.kind == subject.kind and thing not in known.places]
            assert unseen, "more is open than there is"
            for thing in unseen:
                relation, place = truth.places[thing]
                assert (relation, place) in values or ("IN", truth.room_of(thing)) in values


def test_what_is_visible_is_what_is_in_ones_room_and_not_shut_away() -> None:
    here = world(AT_TABLE)
    known = Facts((*here.view("Alice").known, *facts("<cabinet>(22) IN <livingroom>(12)", "<stove>(25) STATE open")))
    want = {
        "<apple>(1) IN <kitchen>(11)": 1.0, "<apple>(1) IN <livingroom>(12)": 0.0,
        "<apple>(1) INSIDE <fridge>(20)": 0.0, "<apple>(1) INSIDE <cabinet>(22)": 0.0,
        "Bob AT <kitchen>(11)": 1.0, "Bob AT <livingroom>(12)": 0.0,
    }  # fmt: skip
    assert {
        text: here.domain.beliefs.observation_probability(parse_fact(text), "Alice", known) for text in want
    } == want
    assert here.domain.beliefs.observation_probability(parse_fact("Bob AT <kitchen>(11)"), "Bob", Facts()) == 0.0


def test_two_that_do_the_same_lose_the_shorter_way() -> None:
    here = world(AT_TABLE)
    known = here.view("Alice").known

    def option(text: str, goal: str | None, ticks: int) -> Option:
        return Option(parse_action(text), goal, ticks)

    look = [option("check(<fridge>(20))", None, ticks) for ticks in (4, 7)]
    assert (
        here.domain.beliefs.conflict_cost(look[0], look[1], known)
        == here.domain.beliefs.conflict_cost(look[1], look[0], known)
        == 4.0
    )
    assert here.domain.beliefs.conflict_cost(look[0], option("check(<stove>(25))", None, 3), known) == 0.0
    apples = [option(f"fetch(<apple>({number}))", "apple_on_coffeetable", 5) for number in (30, 31)]
    assert here.domain.beliefs.conflict_cost(apples[0], apples[1], known) == 5.0  # one is enough
    assert here.domain.beliefs.conflict_cost(option("deliver()", None, 3), option("deliver()", None, 3), known) == 0.0
    assert here.domain.beliefs.conflict_cost(Option(WAIT, None, 1), Option(WAIT, None, 1), known) == 0.0


# ---- pure


def test_rules_do_not_depend_on_the_order_of_facts_nor_on_what_was_asked_before() -> None:
    here = world(AT_TABLE, AT_FRIDGE)
    known = list(here.view("Alice").known)
    held = [fact for fact in known if fact.predicate == "HOLD"]
    rest = [fact for fact in known if fact.predicate != "HOLD"]
    rooms = [fact for fact in rest if fact.subject in (Kitchen, Living)]
    others = [fact for fact in rest if fact not in rooms]
    one, other = Facts(known), Facts((*rooms, *others[::-1], *held))
    for part in ("goals", "options", "abilities"):
        assert everything(here.domain, "Alice", one)[part] == everything(here.domain, "Alice", other)[part]
    assert everything(here.domain, "Alice", one) == everything(here.domain, "Alice", one)


def test_a_domain_needs_no_world() -> None:
    home = flat()
    episode = Episode("two", "read_book", home, (Need("ON", "apple", COFFEE, 1),), (KITCHEN, LIVING))
    domain = HouseholdDomain(Names(episode, ("Alice", "Bob")), Rules())
    assert domain.options("Alice", Facts())[-1] == Option(WAIT, None, 1)
    (goal,) = domain.goals(Facts())
    assert isinstance(goal, Goal)
    assert goal.state == "open"
