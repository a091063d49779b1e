"""Plans against fire that hold while they hold: rings, who cuts where, water; what methods on rules make of them."""

from __future__ import annotations

import pytest

from teamworld.language import Action, AgentId, Cell
from teamworld.planning.simulate import dry_run
from teamworld.record import StepDone
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import WAIT
from teamworld.worlds.wildfire import candidate_plans
from teamworld.worlds.wildfire.symbolic_state import SymbolicState, state_of
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
        ring, box = candidate_plans.firebreak(brief, scene, 0), candidate_plans.fire_extent(brief, scene, 0)
        assert ring is not None
        assert box is not None
        for cells, low, high in (
            ({x for x, _ in ring.cells}, box.x0, box.x1),
            ({y for _, y in ring.cells}, box.y0, box.y1),
        ):
            first, last = min(cells), max(cells)
            assert first == 0 or (first % candidate_plans.PITCH == 0 and first <= low - candidate_plans.GAP)
            assert last == size - 1 or (last % candidate_plans.PITCH == 0 and last >= high + candidate_plans.GAP)
        world.step({})


@pytest.mark.parametrize("seed", range(3))
def test_who_asks_again_gets_the_same_stretch_as_long_as_the_ring_stands(seed: int) -> None:
    world = make("suppress_fire_contain", seed, 100, {})
    brief, team, kept = world.domain.mission, world.spec.agents, 0
    before: tuple[tuple[Cell, ...], dict[AgentId, set[Cell]]] | None = None
    for _ in range(STEPS):
        scene = scene_of(world)
        ring = candidate_plans.firebreak(brief, scene, 0)
        assert ring is not None
        shares = {agent: candidate_plans.own_stretch(ring, agent, brief, scene) for agent in team}
        left = {cell for cell in ring.uncut if not scene.dangerous(cell)}
        assert {cell for share in shares.values() for cell in share} == left
        if before is not None and before[0] == ring.cells:
            kept += 1
            for agent in team:  # what it alone had; those who are done share what others have left
                alone = before[1][agent] - set().union(*(before[1][mate] for mate in team if mate != agent))
                assert alone & left <= set(shares[agent])
        before = ring.cells, {agent: set(share) for agent, share in shares.items()}
        orders = {}
        for agent in team:  # each asks in every step, and does the first thing
            view = world.view(agent)
            orders[agent] = world.domain.candidate_plans(view.goals[0], agent, view.known)[0].actions[0]
        world.step(orders)
    assert kept >= STEPS // 2


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
