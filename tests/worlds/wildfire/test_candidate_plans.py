"""Plans against fire that hold while they hold, firebreaks, candidate plans and the rules of the domain."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Fact, Facts, parse_action, parse_fact
from teamworld.planning.simulate import dry_run
from teamworld.record import StepDone
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import WAIT
from teamworld.worlds.wildfire import firebreaks, heuristic
from teamworld.worlds.wildfire.kernels.agents import DRY, SEEN_BUILDING, SEEN_ON_FIRE, UNSEEN
from teamworld.worlds.wildfire.levels import level_for
from teamworld.worlds.wildfire.sharing import share_civilians, share_sectors, sharing_kept
from teamworld.worlds.wildfire.skills import DETOUR, MEASURES, RunningSkill, approach_cell, line_cells, schemas
from teamworld.worlds.wildfire.symbolic_state import (
    USUAL_TREES,
    AgentState,
    FireState,
    SymbolicState,
    expected_facts,
    facts_of,
    state_of,
)
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
        if ring is None:
            assert firebreaks.enclosed_ground(brief, scene, 0) is not None
            return
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


def test_a_sector_is_searched_to_its_last_cell_or_until_somebody_is_found() -> None:
    here = make("rescue_civilians_search_and_rescue", 3, 40, {})
    agent, orders = "firefighter_1", {"firefighter_1": Action("go_to", (Entity("sector", 13),))}
    while not (ended := here.view(agent).history):
        here.step(orders)
        orders = {}
    scene = here.view(agent).state
    assert 13 not in scene.unseen
    assert ended[-1].ending == "done"
    walk = {agent: Action("go_to", (Entity("sector", 15),))}
    for number in range(16):
        orders = {"drone_6": Action("go_to", (Entity("sector", number),)), **walk}
        while len(here.view("drone_6").history) <= number and not here.view(agent).history[1:]:
            here.step(orders)
            orders, walk = {}, {}
    assert here.view(agent).history[1].ending.endswith("came in sight")


def test_whoever_gets_no_nearer_to_what_moves_gives_up() -> None:
    here = make("rescue_civilians_known_location_small", 0, 40, {})
    view, civilian = here.view("firefighter_1"), Entity("civilian", 0)
    mission, state = view.mission, view.state
    x, y = state.agents["firefighter_1"].at
    skill = RunningSkill("firefighter_1", "firefighter", Action("go_to", (civilian,)), 0)
    for step in range(DETOUR + 1):
        away = min(mission.size - 1, x + 10 + step), y
        skill.command(mission, replace(state, people={0: state.people[0]._replace(at=away)}, memo={}))
    assert skill.astray >= DETOUR


def test_the_pair_that_shows_most_a_step_comes_first() -> None:
    world = make("rescue_civilians_search_and_rescue", 0, 40, {})
    scene = scene_of(world)
    least = min(scene.unseen, key=scene.unseen.__getitem__)
    shared = share_sectors(world.domain.mission, scene)
    assert least not in shared.values(), "what is all but seen is not worth the way"
    assert all(scene.unseen[shared[drone]] > 80 for drone in ("drone_6", "drone_7"))


def test_who_comes_nearer_keeps_its_sector_and_who_does_not_is_paired_anew() -> None:
    here = make("rescue_civilians_search_and_rescue", 0, 40, {})
    mission, before = here.domain.mission, scene_of(here)
    shared = share_sectors(mission, before)
    walkers = [agent for agent in shared if mission.kinds[agent] == "firefighter"]
    walker, idler = walkers[0], walkers[1]
    here.step({walker: Action("go_to", (Entity("sector", shared[walker]),))})
    scene = here.view(walker).state
    assert scene.searchers == {shared[walker]: walker}
    assert share_sectors(mission, scene)[walker] == shared[walker]
    assert Fact(Entity("sector", shared[walker]), "FOR", walker) in here.view(idler).known
    seen = replace(scene, unseen={number: 1 for number in scene.unseen if number != shared[walker]}, memo={})
    assert share_sectors(mission, seen).get(walker) != shared[walker], "what was seen whole is nobody's"
    away = scene.agents[walker]._replace(at=(0, 0)), scene.agents[walker]._replace(holds=0)
    assert not sharing_kept(mission, scene, {walker: away[0]}) or shared[walker] == 0
    laden = replace(scene, agents={**scene.agents, walker: away[1]}, memo={})
    assert walker not in share_sectors(mission, laden)


def test_each_firefighter_goes_for_a_civilian_of_its_own_and_nobody_for_one_that_is_carried() -> None:
    here = make("rescue_civilians_known_location_small", 0, 40, {})
    view = here.view("firefighter_1")
    mission, state, cluster = view.mission, view.state, Entity("cluster", 0)
    shared = share_civilians(mission, state)
    assert len(shared) == len(set(shared.values())) == 3
    at = state.agents["firefighter_1"].at
    for agent, number in shared.items():
        assert approach_cell(agent, cluster, at, mission, state) == state.people[number].at
        assert f"for {agent}" in view.text()
    laden = {**state.agents, "firefighter_2": state.agents["firefighter_2"]._replace(holds=0)}
    people = {**state.people, 0: state.people[0]._replace(state="held")}
    later = replace(state, agents=laden, people=people, memo={})
    assert share_civilians(mission, later).keys() == {"firefighter_1", "firefighter_3"}
    assert 0 not in share_civilians(mission, later).values()
    order = Action("go_to", (Entity("civilian", 0),))
    refused = here.domain.check_now("firefighter_1", order, expected_facts(later))
    assert refused.reason == "unknown_place: civilian_0 is held"
    assert here.domain.ends_plan(order, "not_there")
    assert here.domain.ends_plan(Action("pick_up"), "nobody_near")
    assert not here.domain.ends_plan(Action("move_to", ((1, 1),)), "no_way")


def test_a_zone_is_reached_at_its_nearest_cell() -> None:
    here = make("rescue_civilians_known_location_small", 0, 40, {})
    view = here.view("firefighter_1")
    zone = view.state.zone
    assert zone is not None
    for at in ((0, 0), (zone[0] + 9, zone[1] - 1), (zone[0], zone[1] + 30)):
        cell = approach_cell("firefighter_1", Entity("zone", 0), at, view.mission, view.state)
        assert cell is not None
        assert view.state.in_zone(cell)
        assert all(abs(axis - middle) <= 3 for axis, middle in zip(cell, zone, strict=True))
        ways = [(x, y) for x in range(zone[0] - 3, zone[0] + 4) for y in range(zone[1] - 3, zone[1] + 4)]
        assert math.dist(at, cell) == min(math.dist(at, way) for way in ways)


class _Ground(SimpleNamespace):
    """Ground that was all seen just now, of (N, N) codes."""

    codes: np.ndarray
    t = 0

    def code(self, cell: tuple[int, int]) -> int:
        return int(self.codes[cell[1], cell[0]])

    def date(self, cell: tuple[int, int]) -> int:
        return 0

    def dangerous(self, cell: tuple[int, int]) -> bool:
        return False


def scene_with(codes: np.ndarray, cells: tuple[tuple[int, int], ...], **at: tuple[int, int]) -> SymbolicState:
    """Return a scene of a fire on ground with these codes."""
    bodies = {agent: AgentState(place) for agent, place in at.items()}
    return SymbolicState(bodies, fires={0: FireState(cells=cells)}, ground=cast("Any", _Ground(codes=codes)))


def test_a_fire_is_enclosed_where_nothing_that_burns_leads_out() -> None:
    codes = np.full((60, 60), DRY + 2, np.uint8)
    codes[22:27, 22], codes[22:27, 26], codes[22, 22:27], codes[26, 22:27] = (DRY,) * 4
    mission = make("suppress_fire_contain", 0, 50, {}).domain.mission
    inside = frozenset((x, y) for x in (23, 24, 25) for y in (23, 24, 25))
    assert firebreaks.enclosed_ground(mission, scene_with(codes, ((24, 24),)), 0) == inside
    for gap, code in (((26, 24), DRY + 1), ((22, 22), DRY + 1), ((26, 24), UNSEEN), ((24, 20), SEEN_BUILDING)):
        leaky = codes.copy()  # fire crosses corners, and bare ground near buildings burns
        leaky[gap[1], gap[0]] = code
        assert firebreaks.enclosed_ground(mission, scene_with(leaky, ((24, 24),)), 0) is None


def test_nobody_is_called_to_a_fire_that_is_enclosed() -> None:
    codes = np.full((60, 60), DRY + 2, np.uint8)
    codes[22:27, 22], codes[22:27, 26], codes[22, 22:27], codes[26, 22:27] = (DRY,) * 4
    here = make("suppress_fire_contain", 0, 50, {})
    scene = scene_with(codes, ((24, 24),), firefighter_1=(22, 24), firefighter_2=(23, 23))
    facts = expected_facts(scene)
    (goal,) = here.domain.goals(facts)
    words = here.domain.describe_goal(goal, "firefighter_1", facts)
    assert "it is enclosed" in words
    assert words.endswith("nobody is needed")
    assert "of use" not in words
    options = here.domain.options("firefighter_1", facts)
    assert [str(option.action) for option in options] == ["idle(5)", "wait()"]  # on bare ground one is safe
    assert options[0].goal == "fire_0"
    assert here.domain.candidate_plans(goal, "firefighter_1", facts)[0].actions == (Action("idle", (5,)),)
    inside = here.domain.options("firefighter_2", facts)  # the fire comes to where it stands
    assert next(option.action.verb for option in inside) == "move_to"


def test_the_ring_is_small_and_stays_while_it_is_cut_as_fast_as_was_reckoned() -> None:
    """The bulldozer drives round, five on foot cut the west side: they are done before the step that was told."""
    world = make("suppress_fire_contain", 0, 100, {})
    brief = world.domain.mission
    first = firebreaks.firebreak(brief, scene_of(world), 0)
    assert first is not None
    assert (first.box, len(first.cells), first.deadline, first.in_time) == ((38, 32, 44, 38), 24, 10, True)
    west = [f"move_to((38, {y}))" for y in (33, 34, 35, 36, 37)]
    south = [f"move_to(({x}, 38))" for x in (38, 39, 40, 41, 42)]
    plans = {f"firefighter_{k}": [west[k - 1], "cut_all()", south[k - 1], "cut_all()"] for k in range(1, 6)}
    plans["bulldozer_6"] = ["move_to((38, 32))", "cut_line((44, 32))", "cut_line((44, 38))", "cut_line((38, 38))"]
    free = set(plans)
    for _ in range(20):
        ring = firebreaks.firebreak(brief, scene_of(world), 0)
        if ring is None:
            break
        assert ring.box == first.box
        report = world.step({agent: parse_action(plans[agent].pop(0)) for agent in free if plans[agent]})
        free = {agent for agent, outcome in report.outcomes.items() if outcome.status != "running"}
    assert firebreaks.enclosed_ground(brief, scene_of(world), 0) is not None
    assert first.deadline is not None
    assert world.incident.t <= first.deadline
    assert abs(world.incident.t - first.needs) <= 1.5


def test_a_ring_that_is_nearly_cut_is_kept_when_it_may_be_late() -> None:
    codes = np.full((60, 60), DRY + 2, np.uint8)
    mission = make("suppress_fire_contain", 0, 50, {}).domain.mission
    fire = ((30, 30), (31, 30), (30, 31), (31, 31))
    new = firebreaks.firebreak(mission, scene_with(codes, fire, firefighter_1=(26, 26)), 0)
    assert new is not None
    codes[26:36, 26], codes[26:36, 34], codes[26, 26:35], codes[34, 26:35] = (DRY,) * 4
    codes[34, 30] = DRY + 3  # the fire is three cells from it, and who could cut it has a long way
    kept = firebreaks.firebreak(mission, scene_with(codes, fire, firefighter_1=(0, 59), firefighter_2=(59, 59)), 0)
    assert kept is not None
    assert kept.box == (26, 26, 34, 34) != new.box
    assert kept.uncut == ((30, 34),)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_what_a_ring_needs_is_the_plain_sum(seed: int) -> None:
    """Work, arrivals and deadline of the ring that is chosen, reckoned cell by cell."""
    draw = np.random.default_rng(seed)
    codes = draw.integers(DRY, DRY + 4, (60, 60)).astype(np.uint8)
    codes[draw.random((60, 60)) < 0.2] = UNSEEN
    x, y = (int(k) for k in draw.integers(0, 60, 2))
    codes[y, x] = SEEN_ON_FIRE
    mission = make("suppress_fire_contain", 0, 50, {}).domain.mission
    at = {agent: (int(draw.integers(60)), int(draw.integers(60))) for agent in list(mission.kinds)[-3:]}
    scene = scene_with(codes, ((x, y),), **at)
    ring = firebreaks.firebreak(mission, scene, 0)
    assert ring is not None
    x0, y0, x1, y1 = ring.box
    outline = {
        (i, j) for i in range(x0, x1 + 1) for j in range(y0, y1 + 1)
        if (i in (x0, x1) or j in (y0, y1)) and 0 <= i < 60 and 0 <= j < 60
    }  # fmt: skip
    assert set(ring.cells) == outline
    left = {cell: codes[cell[1], cell[0]] for cell in outline if codes[cell[1], cell[0]] not in (DRY, SEEN_ON_FIRE)}
    assert set(ring.uncut) == set(left)
    trees = sum(USUAL_TREES if code == UNSEEN else code - DRY for code in left.values())
    sides = {
        "y0": [c for c in left if c[1] == y0], "y1": [c for c in left if c[1] == y1],
        "x0": [c for c in left if c[0] == x0 and c[1] not in (y0, y1)],
        "x1": [c for c in left if c[0] == x1 and c[1] not in (y0, y1)],
    }  # fmt: skip
    work = {"firefighter": trees + len(left), "bulldozer": len(left) / 4 + 0.5 * sum(map(bool, sides.values()))}
    gaps = [gap for side, gap in (("x0", x - x0), ("y0", y - y0), ("x1", x1 - x), ("y1", y1 - y)) if sides[side]]
    assert ring.deadline == 5 * (min(gaps) - 1)
    arrivals = firebreaks._arrivals(mission, scene, list(at), firebreaks.Rectangle(x, y, x, y))
    low, high = 0.0, 1e4
    for _ in range(60):  # all together have done the whole: by bisection
        middle = (low + high) / 2
        done = sum(count * max(0, middle - a) / work[kind] for (a, kind), count in arrivals.items())
        low, high = (middle, high) if done < 1 else (low, middle)
    assert ring.needs == pytest.approx(max(high, min(a for a, _ in arrivals) + 1), rel=1e-6)


def test_who_stands_on_a_ring_is_offered_to_cut_what_is_underfoot() -> None:
    codes = np.full((60, 60), DRY + 2, np.uint8)
    here = make("suppress_fire_contain", 0, 50, {})
    fire = ((31, 31),)
    ring = firebreaks.firebreak(here.domain.mission, scene_with(codes, fire, firefighter_1=(20, 20)), 0)
    assert ring is not None
    side = [cell for cell in ring.cells if cell[1] == ring.box.y0]
    for at in (side[3], (side[3][0], side[3][1] - 1)):
        scene = scene_with(codes, fire, firefighter_1=at)
        body = scene.agents["firefighter_1"]._replace(trees=2)
        facts = expected_facts(replace(scene, agents={"firefighter_1": body}))
        verbs = [option.action.verb for option in here.domain.options("firefighter_1", facts)]
        assert "cut_all" in verbs
        assert ("cut_line" in verbs) == (at in side)  # and to go on from there
    alike = scene_with(codes, fire, firefighter_1=(20, 20), firefighter_2=(20, 20))
    offers = [list(map(str, here.domain.options(agent, expected_facts(alike)))) for agent in alike.agents]
    assert offers[0] == offers[1]


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
