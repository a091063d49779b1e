"""What wildfire says of beliefs: what has to be found, sight, how fire facts age, and what two should not both do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Entity, Fact, Facts, parse_action
from teamworld.testing.random_walk import BeforeStep, walk_randomly
from teamworld.worlds.contract import Option
from teamworld.worlds.wildfire import beliefs, physics
from teamworld.worlds.wildfire.domain import WildfireDomain
from teamworld.worlds.wildfire.state import BURNABLE, IGNITED, ON_FIRE
from teamworld.worlds.wildfire.symbolic_state import (
    AgentState,
    CivilianState,
    FireState,
    Mission,
    SymbolicState,
    TargetCell,
    facts_of,
)
from teamworld.worlds.wildfire.world import make

KINDS: Mapping[str, str] = {
    **{f"firefighter_{n}": "firefighter" for n in (1, 2)},
    **{"bulldozer_1": "bulldozer", "drone_1": "drone", "drone_2": "drone", "helicopter_1": "helicopter"},
}


def brief(**changes: Any) -> Mission:
    """Return what a team on a map of 93 x 93 cells is told: nine sectors of 31 x 31."""
    parts: dict[str, Any] = {
        "task": "both", "size": 93, "kinds": KINDS, "known": False, "clusters": 2, "per_cluster": 3,
        "fire_every": 500, "careful": True, "lift_reach": 3.0, "fill_reach": 1,
        "riders_count": False,
    }  # fmt: skip
    return Mission(**parts | changes)


def domain(**changes: Any) -> WildfireDomain:
    return WildfireDomain(brief(**changes))


def told(scene: SymbolicState) -> Facts:
    return Facts(tuple(facts_of(scene)))


def team(**at: tuple[int, int]) -> dict[str, AgentState]:
    """Return everybody at (10, 10), or where a test wants them."""
    return {agent: AgentState(at.get(agent, (10, 10))) for agent in KINDS}


def option(text: str, goal: str | None = None, ticks: int = 3) -> Option:
    return Option(parse_action(text), goal, ticks)


MIDDLES = brief().middles
FIRE = FireState(tuple((60 + x, 60 + y) for x in range(4) for y in range(4)))
SPARK = FireState(((60, 60), (61, 60)))
RESCUE = {"task": "rescue", "known": True, "clusters": 1}
FERRY = {"task": "transport", "known": True, "kinds": {**KINDS, "helicopter_2": "helicopter"}}
Proposal: TypeAlias = tuple[str, str | None, int]


# ---- the table of conflict costs, row by row

UNSEEN = SymbolicState(team(), sectors=MIDDLES, unseen=dict.fromkeys(MIDDLES, 100))
LINE = {n: TargetCell((20 + n, 20), 3, 0) for n in range(5)}
LAST_OF_LINE = {n: spot._replace(trees=3 if n == 4 else 0) for n, spot in LINE.items()}
PEOPLE = {n: CivilianState((30, 30), "free", 0) for n in range(3)}
LAST_PERSON = {**PEOPLE, **{n: CivilianState((5, 5), "safe", 0) for n in (0, 1)}}
CLUSTER = SymbolicState(team(), zone=(5, 5), people=PEOPLE, clusters={0: (30, 30)})
TWO_HELICOPTERS = {**KINDS, "helicopter_2": "helicopter"}
WAITING = SymbolicState(team(), zone=(80, 80))
WATER = SymbolicState(team(), fires={0: FIRE}, water={0: (20, 20)})
BURNING = SymbolicState(team(), fires={0: SPARK}, people={0: CivilianState((64, 60), "free", 0)})


def above(water: int = 3, **at: tuple[int, int]) -> SymbolicState:
    """Return a helicopter at (60, 60) over a fire; walkers are at (5, 5), or where a test wants them."""
    walkers = {"firefighter_1": (5, 5), "firefighter_2": (5, 5), "bulldozer_1": (5, 5), **at}
    return SymbolicState({**team(**walkers), "helicopter_1": AgentState((60, 60), water)}, fires={0: FIRE})


@pytest.mark.parametrize(
    ("parts", "scene", "first", "second", "lost"),
    [
        # one sector is scouted by one; over a fire that is to be scouted two are wanted
        ({}, UNSEEN, ("go_to(<sector>(4))", "search", 3), ("go_to(<sector>(4))", None, 5), 3),
        ({}, UNSEEN, ("go_to(<sector>(4))", "search", 3), ("go_to(<sector>(5))", "search", 5), 0),
        ({"task": "scout"}, WATER, ("go_to(<fire>(0))", "scout_0", 3), ("go_to(<fire>(0))", "scout_0", 3), 0),
        # a small fire is put out by one and a large one by many
        ({"task": "contain"}, BURNING, ("spray_at(<fire>(0))", "fire_0", 1), ("spray_at(<fire>(0))", "fire_0", 2), 1),
        ({"task": "contain"}, WATER, ("spray_at(<fire>(0))", "fire_0", 1), ("spray_at(<fire>(0))", "fire_0", 2), 0),
        # one cell or the last of a line is cut by one
        (
            {"task": "cut_lines", "known": True}, SymbolicState(team(), targets=LINE),
            ("fell(<line>(0))", "line_0", 6), ("fell(<line>(0))", "line_0", 4), 0,
        ),
        (
            {"task": "cut_lines", "known": True}, SymbolicState(team(), targets=LAST_OF_LINE),
            ("fell(<line>(0))", "line_0", 6), ("fell(<line>(0))", "line_0", 4), 4,
        ),
        (
            {"task": "cut_sparse", "known": True}, SymbolicState(team(), targets={0: TargetCell((20, 20), 3)}),
            ("fell(<target>(0))", "cut_0", 6), ("go_to(<target>(0))", "cut_0", 4), 4,
        ),
        # two clear ground to one end
        ({}, SymbolicState(team()), ("cut_line((30, 30))", "fire_0", 6), ("cut_line((30, 30))", "fire_0", 4), 4),
        ({}, SymbolicState(team()), ("cut_line((30, 30))", "fire_0", 6), ("cut_line((30, 31))", "fire_0", 4), 0),
        # one civilian is fetched by one and a cluster by many
        (RESCUE, CLUSTER, ("go_to(<civilian>(1))", "rescue_0", 3), ("go_to(<civilian>(1))", "rescue_0", 5), 3),
        (RESCUE, CLUSTER, ("go_to(<cluster>(0))", "rescue_0", 3), ("go_to(<cluster>(0))", "rescue_0", 5), 0),
        (
            RESCUE, SymbolicState(team(), zone=(5, 5), people=LAST_PERSON),
            ("go_to(<cluster>(0))", "rescue_0", 3), ("go_to(<cluster>(0))", "rescue_0", 5), 3,
        ),
        # one helicopter fetches a firefighter; two wait, five find room
        (FERRY, WAITING, ("go_to(firefighter_1)", "transport_0", 3), ("go_to(firefighter_1)", "transport_0", 5), 3),
        (FERRY, WAITING, ("go_to(firefighter_1)", "transport_0", 3), ("go_to(firefighter_2)", "transport_0", 5), 0),
        (FERRY, WAITING, ("take_aboard()", "transport_0", 1), ("take_aboard()", "transport_0", 1), 1),
        # who makes for the only helicopter waits in vain while it pours
        ({}, WAITING, ("go_to(helicopter_1)", "transport_0", 4), ("release()", "fire_0", 1), 1),
        ({}, WAITING, ("go_to(helicopter_1)", "transport_0", 4), ("go_to(firefighter_1)", "transport_0", 2), 0),
        ({"kinds": TWO_HELICOPTERS}, WAITING, ("go_to(helicopter_1)", "transport_0", 4), ("release()", "fire_0", 1), 0),
        # a drop on who works does no harm
        ({}, above(firefighter_1=(60, 57)), ("release()", "fire_0", 1), ("cut_all()", "fire_0", 2), 0),
        # no source runs dry
        ({"task": "contain"}, WATER, ("refill()", "fire_0", 1), ("refill()", "fire_0", 1), 0),
        ({"task": "contain"}, WATER, ("go_to(<water>(0))", "fire_0", 4), ("go_to(<water>(0))", "fire_0", 4), 0),
        # where one of them goes into danger the two lose nothing by doing both
        ({}, BURNING, ("move_to((60, 61))", None, 3), ("wait()", None, 1), 0),
        ({}, BURNING, ("cut_line((65, 60))", "fire_0", 15), ("cut_line((60, 65))", "fire_0", 15), 0),
        ({}, BURNING, ("cut_line((65, 60))", "fire_0", 15), ("cut_line((65, 60))", "fire_0", 12), 12),
    ],
)  # fmt: skip
def test_conflict_costs(
    parts: Mapping[str, Any], scene: SymbolicState, first: Proposal, second: Proposal, lost: float
) -> None:
    """What is lost is the same the other way round."""
    rules, options = domain(**parts).beliefs, (option(*first), option(*second))
    assert rules.conflict_cost(*options, told(scene)) == lost
    assert rules.conflict_cost(*options[::-1], told(scene)) == lost


def test_danger_tells_of_fire_that_comes_to_where_somebody_works() -> None:  # D13
    here, near = domain(), team(firefighter_1=(62, 63), firefighter_2=(61, 61), drone_1=(60, 60), bulldozer_1=(80, 80))
    given_facts = told(SymbolicState(near, fires={0: SPARK}))
    harm = here.danger.harm_probability
    assert harm("firefighter_2", 1, given_facts) == 1.0  # it burns beside it
    assert [harm("firefighter_1", steps, given_facts) for steps in (4, 5, 10)] == [0, 0, beliefs.SPREADS]
    assert harm("drone_1", 50, given_facts) == 0
    assert harm("bulldozer_1", 10, given_facts) == 0
    assert harm("firefighter_1", 10, told(SymbolicState(near))) == 0  # what the other one holds: nothing of a fire
    assert harm("nobody", 10, given_facts) == 0


# ---- what is not known


def test_what_has_to_be_found_is_as_likely_in_any_unseen_cell() -> None:
    scene = SymbolicState(team(), sectors=MIDDLES, unseen={0: 50, 3: 100, 8: 1})
    variables = domain().beliefs.latent_variables(told(scene))
    assert [unknown.name for unknown in variables] == ["fire", "cluster 0", "cluster 1"]
    assert all(unknown.goals == ("search",) for unknown in variables)
    assert [(str(value.fact), value.weight) for value in variables[0].values] == [
        ("<fire>(0) AT (15, 15)", 0.5 * 31 * 31),
        ("<fire>(0) AT (15, 46)", 31 * 31),
        ("<fire>(0) AT (77, 77)", 0.01 * 31 * 31),
    ]
    assert {goal.id for goal in domain().goals(told(scene))} >= {"search"}


def test_where_all_was_seen_or_is_known() -> None:
    def open_questions(scene: SymbolicState, **parts: Any) -> list[tuple[str, int]]:
        variables = domain(**parts).beliefs.latent_variables(told(scene))
        return [(variable.name, len(variable.values)) for variable in variables]

    everywhere = SymbolicState(team(), sectors=MIDDLES)
    assert open_questions(everywhere) == [("fire", 9), ("cluster 0", 9), ("cluster 1", 9)]
    assert open_questions(replace(everywhere, fires={0: SPARK})) == [("cluster 0", 9), ("cluster 1", 9)]
    assert open_questions(SymbolicState(team(), fires={0: FIRE}), task="contain", known=True) == []
    assert open_questions(SymbolicState(team()), task="cut_sparse", clusters=0) == []


def test_the_rest_of_a_cluster_is_near_those_who_were_found() -> None:
    people = {0: CivilianState((30, 30), "free", 0)}
    variables = domain(task="rescue", clusters=1).beliefs.latent_variables(told(SymbolicState(team(), people=people)))
    assert [unknown.name for unknown in variables] == ["civilian 1"]
    assert variables[0].values[0].fact == Fact(Entity("civilian", 1), "AT", (30, 30))
    assert [value.weight for value in variables[0].values] == [4.0] + [1.0] * 8


def test_who_went_away_is_near_where_it_was() -> None:
    people = {n: CivilianState((30, 30), "free", 0) for n in range(3)} | {1: CivilianState(None, "free", 0, (0, 40))}
    (variable,) = domain(task="rescue", known=True, clusters=1).beliefs.latent_variables(
        told(SymbolicState(team(), people=people))
    )
    assert (variable.name, variable.goals) == ("civilian 1", ("rescue_0",))
    places = [value.fact.value for value in variable.values]
    assert len(places) == len(set(places))
    assert all(brief().inside(place) == place for place in places)  # type: ignore[arg-type]


# ---- what is in sight


@pytest.mark.heavy
@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from(["rescue_civilians_search_and_rescue", "suppress_fire_contain", "transport_firefighters_small"]),
    st.integers(0, 100),
)
def test_visible_is_what_a_map_of_ones_own_shows(level: str, seed: int) -> None:
    here = make(level, seed, 60, {"shared_map": False})
    remembered = (
        "UNSEEN",
        "FOR",
        "WAS",
        "BURNT",
        "IN",
    )  # of these, and of fires and water, a view tells without seeing them
    for part in walk_randomly(here, seed, 8):
        if not isinstance(part, BeforeStep):
            continue
        truth = here.truth()
        for agent, view in part.views.items():
            for fact in view.facts:
                kind = fact.subject.kind if isinstance(fact.subject, Entity) else "agent"
                kept = fact.predicate in remembered or kind == "water" or (kind, fact.predicate) == ("fire", "STATE")
                assert kept or here.domain.beliefs.observation_probability(fact, agent, view.known) > 0, (
                    f"{agent} perceives {fact}"
                )
            for fact in truth:
                chance = here.domain.beliefs.observation_probability(fact, agent, truth)
                seen = chance == 1.0 and fact.subject != agent and not _announced(fact)
                if seen and fact.predicate in ("AT", "BURNS", "HOLD", "STATE"):
                    assert fact in view.facts, f"{agent} does not perceive {fact}"


def _announced(fact: Fact) -> bool:
    kinds = ("zone", "target", "sector", "fire", "water", "cluster")
    return isinstance(fact.subject, Entity) and fact.subject.kind in kinds


def test_each_kind_sees_its_square() -> None:
    scene = SymbolicState(team(firefighter_1=(40, 40), drone_1=(40, 40), helicopter_1=(40, 40)), fires={0: SPARK})

    def seen(agent: str, cell: tuple[int, int]) -> float:
        return domain().beliefs.observation_probability(Fact(Entity("fire", 0), "BURNS", cell), agent, told(scene))

    assert [seen("firefighter_1", (45, 35)), seen("drone_1", (55, 25)), seen("helicopter_1", (60, 20))] == [1, 1, 1]
    assert [seen("firefighter_1", (46, 40)), seen("drone_1", (56, 40)), seen("helicopter_1", (61, 40))] == [0.25] * 3
    assert [seen("firefighter_1", (59, 40)), seen("drone_1", (77, 40)), seen("nobody", (40, 40))] == [0, 0, 0]


def test_a_sector_is_promised_only_as_far_as_it_is_new() -> None:
    here, at = domain(), Fact(Entity("fire", 0), "AT", MIDDLES[4])
    above = team(drone_1=(46, 46), firefighter_1=(46, 46))
    new = told(SymbolicState(above, sectors=MIDDLES, unseen={4: 100}))
    assert here.beliefs.observation_probability(at, "drone_1", new) == 1
    assert here.beliefs.observation_probability(at, "firefighter_1", new) == pytest.approx(11 * 11 / 31**2)
    assert here.beliefs.observation_probability(at, "drone_2", new) == 0
    partly_seen = told(
        SymbolicState(above, sectors=MIDDLES, unseen={4: 87})
    )  # what the firefighter sees from there was seen
    assert here.beliefs.observation_probability(at, "firefighter_1", partly_seen) == 0
    assert here.beliefs.observation_probability(at, "drone_1", partly_seen) == 1


def test_what_was_announced_is_known_to_all_and_what_was_not_seen_is_likely_so_for_others() -> None:
    scene = SymbolicState(
        team(), zone=(80, 80), targets={0: TargetCell((70, 70), 3, 0)}, sectors=MIDDLES, unseen={0: 40, 8: 100}
    )
    known = told(scene)
    here = domain()
    certain = [fact for fact in known if fact.predicate in ("AT", "IN") and isinstance(fact.subject, Entity)]
    assert all(here.beliefs.observation_probability(fact, "drone_1", known) == 1 for fact in certain)
    assert here.beliefs.observation_probability(Fact(Entity("target", 0), "TREES", 3), "drone_1", known) == 0
    assert here.beliefs.observation_probability(Fact(Entity("sector", 8), "UNSEEN", 100), "drone_1", known) == 0.9
    whole = told(SymbolicState(team(drone_1=(77, 77)), sectors=MIDDLES, unseen={8: 100}))
    assert here.beliefs.observation_probability(Fact(Entity("sector", 8), "UNSEEN", 100), "drone_1", whole) == 0


# ---- fire


@pytest.mark.heavy
@pytest.mark.parametrize("mode", ["reference", "stochastic"])
def test_fire_spreads_about_as_often_as_is_believed(mode: str) -> None:
    burning = spread = 0
    for seed in range(4):
        land = make("suppress_fire_contain", seed, 100, {"fire": mode}).incident.land
        for _ in range(20):
            before = land.burn.copy()
            physics.step_fire(land)
            new = (before == BURNABLE) & (land.burn != BURNABLE)
            for y, x in np.argwhere((before == IGNITED) | (before == ON_FIRE)):
                burning += 1
                spread += bool(new[y - 1 : y + 2, x - 1 : x + 2].any())
    assert burning > 500
    assert spread / burning == pytest.approx(beliefs.SPREADS, abs=0.1)


# ---- what cannot be


@pytest.mark.parametrize(
    "odd",
    [
        Fact(Entity("target", 0), "TREES", 2.5),
        Fact(Entity("target", 0), "AT", 5),
        Fact("drone_1", "AT", (10**9, -3)),
        Fact("drone_1", "AT", "nowhere"),
        Fact("stranger", "AT", (3, 3)),
        Fact("firefighter_1", "ABOARD", "stranger"),
        Fact("firefighter_1", "WATER", 1.5),
        Fact(Entity("sector", 10**9), "UNSEEN", 100),
        Fact(Entity("sector", 3), "UNSEEN", -(10**6)),
        Fact(Entity("sector", 3), "UNSEEN", 1500),
        Fact(Entity("civilian", 10**9), "IN", Entity("cluster", 10**9)),
        Fact(Entity("civilian", 0), "IN", Entity("cluster", 0)),
        Fact(Entity("fire", 10**9), "BURNS", (1999, 1999)),
        Fact(Entity("fire", 0), "IN", 4),
    ],
)
@pytest.mark.parametrize("task", ["both", "scout", "transport"])
def test_odd_facts_are_no_trouble(task: str, odd: Fact) -> None:
    scene = SymbolicState(team(), sectors=MIDDLES, unseen={3: 40}, fires={0: SPARK}, zone=(5, 5))
    here = domain(task=task)
    actions = ("go_to(stranger)", "go_to(3)", "move_to((99999, -7))", "release()", "fell(<line>(99999))", "spray_at()")
    options = [option(text, goal) for text in actions for goal in (None, "fire_0", "guard_1", "no_such_goal")]
    for known in (Facts((*(fact for fact in told(scene) if fact.subject != odd.subject), odd)), Facts((odd,)), Facts()):
        for unknown in here.beliefs.latent_variables(known):
            assert all(value.weight > 0 for value in unknown.values)
        for fact in (*told(scene), odd):
            for agent in ("drone_1", "firefighter_1", "stranger"):
                assert 0 <= here.beliefs.observation_probability(fact, agent, known) <= 1
                assert 0 <= here.danger.harm_probability(agent, 10**9, known) <= 1
        for first in options:
            assert all(here.beliefs.conflict_cost(first, second, known) >= 0 for second in options)
