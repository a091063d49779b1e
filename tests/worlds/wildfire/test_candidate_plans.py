"""Plans against fire that hold while they hold, firebreaks, candidate plans and the rules of the domain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Facts, parse_action, parse_fact
from teamworld.planning.simulate import dry_run
from teamworld.record import StepDone
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import WAIT
from teamworld.worlds.wildfire import firebreaks, heuristic
from teamworld.worlds.wildfire.candidate_plans import share_sectors
from teamworld.worlds.wildfire.kernels.agents import DRY, SEEN_BUILDING
from teamworld.worlds.wildfire.levels import level_for
from teamworld.worlds.wildfire.skills import MEASURES, line_cells, schemas
from teamworld.worlds.wildfire.symbolic_state import FireState, SymbolicState, facts_of, state_of
from teamworld.worlds.wildfire.world import WildfireWorld, make

#: Steps for which a team is watched.
STEPS = 14


def scene_of(world: WildfireWorld) -> SymbolicState:
    """Return what the team knows."""
    return state_of(world.view(world.spec.agents[0]).known)


@pytest.mark.parametrize("seed", range(4))
def test_sides_lie_on_lines_of_the_map_beyond_the_fire(seed: int) -> None:
    world = make("suppress_fire_contain", seed, 100, {})
    brief, size = world.domain.mission, world.domain.mission.size
    for _ in range(25):
        scene = scene_of(world)
        ring, box = firebreaks.firebreak(brief, scene, 0), firebreaks.fire_extent(brief, scene, 0)
        assert ring is not None
        assert box is not None
        for cells, low, high in (
            ({x for x, _ in ring.cells}, box.x0, box.x1),
            ({y for _, y in ring.cells}, box.y0, box.y1),
        ):
            first, last = min(cells), max(cells)
            assert first == 0 or (first % firebreaks.PITCH == 0 and first <= low - firebreaks.GAP)
            assert last == size - 1 or (last % firebreaks.PITCH == 0 and last >= high + firebreaks.GAP)
        world.step({})


@pytest.mark.parametrize("seed", range(3))
def test_runs_of_a_ring_are_straight_and_hold_all_that_is_left_to_cut(seed: int) -> None:
    world = make("suppress_fire_contain", seed, 100, {})
    brief, team = world.domain.mission, world.spec.agents
    for _ in range(STEPS):
        scene = scene_of(world)
        ring = firebreaks.firebreak(brief, scene, 0)
        assert ring is not None
        assert scene.ground is not None
        left = [cell for cell in ring.uncut if not scene.dangerous(cell)]
        left = [cell for cell in left if scene.ground.code(cell) != SEEN_BUILDING]
        for split in (False, True):
            runs = firebreaks.uncut_runs(brief, scene, 0, split)
            assert [cell for run in runs for cell in run] == left
            for run in runs:
                assert len({x for x, _ in run}) == 1 or len({y for _, y in run}) == 1
                assert line_cells(run[0], run[-1]) == list(run)
                assert not split or len(run) <= firebreaks.STRETCH
        orders = {}
        for agent in team:  # each asks in every step, and does the first thing
            view = world.view(agent)
            orders[agent] = world.domain.candidate_plans(view.goals[0], agent, view.known)[0].actions[0]
        world.step(orders)


@pytest.mark.parametrize(("level", "searchers"), [("scout_fire_small", 3), ("suppress_fire_locate_and_suppress", 2)])
def test_who_searches_has_a_sector_of_its_own_and_is_told_whose_the_others_are(level: str, searchers: int) -> None:
    world = make(level, 1, 100, {})
    scene = scene_of(world)
    shared = share_sectors(world.domain.mission, scene)
    assert len(shared) == len(set(shared.values())) == searchers
    assert all(world.spec.kinds[agent] == "drone" for agent in shared)
    for agent, number in shared.items():
        view = world.view(agent)
        first = [plan.actions[0] for plan in world.domain.candidate_plans(view.goals[0], agent, view.known)]
        assert first[0] == Action("go_to", (Entity("sector", number),))
        others = {Entity("sector", number) for mate, number in shared.items() if mate != agent}
        assert others.isdisjoint(plan.args[0] for plan in first)
        assert all(f"for {mate}" in view.text() for mate in shared)


def test_a_fire_is_enclosed_where_nothing_that_burns_leads_out() -> None:
    codes = np.full((9, 9), DRY + 2, np.uint8)
    codes[2:7, 2], codes[2:7, 6], codes[2, 2:7], codes[6, 2:7] = (DRY,) * 4
    mission = make("suppress_fire_contain", 0, 50, {}).domain.mission
    ring = [(x, y) for x in range(9) for y in range(9) if x in (0, 8) or y in (0, 8)]
    for gap in (None, (6, 4), (2, 2)):  # fire crosses corners
        burnable = codes.copy()
        if gap is not None:
            burnable[gap[1], gap[0]] = DRY + 1
        ground = SimpleNamespace(codes=burnable, code=lambda cell, codes=burnable: int(codes[cell[1], cell[0]]))
        state = SymbolicState(fires={0: FireState(cells=((4, 4),))}, ground=cast("Any", ground))
        assert firebreaks._is_enclosed(mission, state, 0, ring) == (gap is None)


@pytest.mark.parametrize("level", ["suppress_fire_contain", "rescue_civilians_known_location_small"])
def test_plans_and_options_know_nothing_of_the_place_in_the_team(level: str) -> None:
    """All start on one cell, so all of a kind are offered the same: who does what is for the method to decide."""
    world = make(level, 1, 100, {})
    offers: dict[str, set[str]] = {}
    for agent, kind in world.spec.kinds.items():
        view = world.view(agent)
        plans = [
            [list(map(str, plan.actions)) for plan in world.domain.candidate_plans(goal, agent, view.known)]
            for goal in (*view.goals, None)
            if goal is None or kind in goal.kinds
        ]
        offers.setdefault(kind, set()).add(str((plans, list(map(str, view.options)))))
    assert {kind: len(offered) for kind, offered in offers.items()} == dict.fromkeys(offers, 1)


@pytest.mark.parametrize("seed", range(3))
def test_recipes_against_fire_can_be_done_and_are_no_flight(seed: int) -> None:
    world = make("suppress_fire_extinguish", seed, 100, {})
    team = list(world.spec.agents)
    for _ in range(15):
        for agent in team[:3]:
            view = world.view(agent)
            for goal in view.goals:
                plans = world.domain.candidate_plans(goal, agent, view.known)
                assert plans
                assert all(dry_run(plan, view, world.domain).ok for plan in plans)
                if len(plans) > 1:
                    assert all(set(plan.actions) != {WAIT} for plan in plans)
        thing = world.view(team[0]).goals[0].thing
        assert thing is not None
        report = world.step({agent: Action("go_to", (thing,)) for agent in team[1:]})
        team = [agent for agent in team if agent not in report.gone]


def burnt(method: str, level: str, seed: int) -> float:
    """Return the damage, own agents not counted."""
    events = play(method, Scenario("wildfire", level, seed, 1_000), {}).events
    score = [event for event in events if isinstance(event, StepDone)][-1].score
    return score["trees_burnt"] + 10 * score["buildings_lost"] + 100 * score["civilians_lost"]


@pytest.mark.heavy
@pytest.mark.parametrize(("level", "seed"), [("suppress_fire_contain", 0), ("suppress_fire_extinguish", 1)])
def test_a_method_that_decides_every_step_keeps_its_place(level: str, seed: int) -> None:
    assert burnt("coela", level, seed) < burnt("do_nothing", level, seed) / 4


def test_nobody_waits_for_everybody_where_all_try_the_same_plan() -> None:
    events = play("drwell", Scenario("wildfire", "transport_firefighters_small", 2, 1_000), {}).events
    assert [event for event in events if isinstance(event, StepDone)][-1].score["score"] == 6


def score(level: str, seed: int, method: str = "greedy") -> dict[str, float]:
    """Return the last score of an episode."""
    events = play(method, Scenario("wildfire", level, seed, 1_000), {}).events
    return dict([event for event in events if isinstance(event, StepDone)][-1].score)


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(["suppress_fire_contain", "rescue_civilians_known_location_small", "cut_trees_lines_small"]),
    st.integers(0, 50),
    st.integers(0, 6),
)
def test_facts_say_all_that_a_scene_holds(level: str, seed: int, steps: int) -> None:
    here = make(level, seed, 30, {})
    for _ in range(steps):
        here.step({})
    for facts in (here.truth(), here.view(here.spec.agents[0]).known):
        again = state_of(Facts(tuple(parse_fact(str(fact)) for fact in facts)))
        assert list(facts_of(again)) == list(facts)


def test_goals_and_options_follow_from_plain_facts_too() -> None:
    here = make("suppress_fire_extinguish", 3, 30, {})
    view = here.view("firefighter_1")
    plain = Facts(tuple(view.known))  # as if they had come in a message: nothing is known of the ground
    assert list(here.domain.goals(plain)) == list(view.goals)
    assert {str(option.action) for option in here.domain.options("firefighter_1", plain)} >= {"go_to(<water>(0))"}
    assert here.domain.candidate_plans(view.goals[0], "firefighter_1", plain)


def test_every_verb_has_its_measures() -> None:
    here = make("rescue_civilians_search_rescue_transport", 0, 30, {})
    for kind in ("firefighter", "bulldozer", "drone", "helicopter"):
        for schema in schemas(kind, here.domain.mission, SymbolicState()):
            assert len(MEASURES[schema.verb]) == len(schema.params)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 200))
def test_a_firebreak_is_closed_and_keeps_the_fire_inside(seed: int) -> None:
    here = make("suppress_fire_contain", seed, 100, {})
    ring = firebreaks.firebreak(here.domain.mission, here.view("firefighter_1").state, 0)
    assert ring is not None
    cells, fire = set(ring.cells), here.incident.instance.fire
    assert fire is not None
    inside, todo = {(fire.x, fire.y)}, [(fire.x, fire.y)]
    size = here.incident.land.size
    while todo:  # as the fire goes: to eight neighbours
        x, y = todo.pop()
        for cell in [(x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)]:
            if cell not in inside | cells and 0 <= cell[0] < size and 0 <= cell[1] < size:
                inside.add(cell)
                todo.append(cell)
    xs, ys = zip(*ring.cells, strict=True)
    assert all(min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys) for x, y in inside)
    assert len(inside) < size * size / 2
    shares = heuristic.divide_cells(
        ring.uncut, list(here.spec.agents), here.domain.mission, here.view("firefighter_1").state
    )
    given_out = [cell for share in shares.values() for cell in share]
    assert sorted(given_out) == sorted(ring.uncut)  # each cell is somebody's, and nobody else's


@pytest.mark.parametrize(
    "level",
    ["cut_trees_sparse_small", "cut_trees_lines_small", "rescue_civilians_known_location_small",
     "transport_firefighters_small", "scout_fire_small"],
)  # fmt: skip
def test_the_scripted_team_reaches_the_best_score(level: str) -> None:
    assert [score(level, seed)["score"] for seed in range(3)] == [level_for(level).max_score] * 3


@pytest.mark.heavy
@pytest.mark.parametrize("level", ["suppress_fire_contain", "suppress_fire_extinguish"])
def test_the_scripted_team_keeps_most_from_burning(level: str) -> None:
    for seed in (0, 1):
        scripted, idle = score(level, seed), score(level, seed, "do_nothing")
        assert scripted["trees_burnt"] < idle["trees_burnt"] / 4
        assert scripted["agents_lost"] == 0


def test_expected_effects_come_true() -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    agent, action = "firefighter_1", parse_action("fell(<target>(0))")
    then = here.domain.predict(agent, action, here.view(agent).known)
    assert then.value(parse_fact("<target>(0) TREES 0").subject, "TREES") == 0
    estimate = here.domain.estimate_steps(agent, action, here.view(agent).known)
    report, steps = here.step({agent: action}), 1
    while report.outcomes[agent].status == "running":
        report, steps = here.step({}), steps + 1
    assert parse_fact("<target>(0) TREES 0") in here.truth()
    assert abs(steps - estimate) <= 2
    assert np.isclose(sum(event.delta for event in report.goals if event.goal == "cut_0"), 1 / 3)
