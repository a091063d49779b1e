"""The moving part against the slow reference, and what the specification says about times, reach and deaths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import REASONS
from teamworld.worlds.wildfire.levels import Team
from teamworld.worlds.wildfire.physics import StepEffects, step
from teamworld.worlds.wildfire.state import (
    BOARD,
    BURNABLE,
    BURNT_OUT,
    CARRIED,
    CLEAR,
    CUT,
    DEAD,
    DROP,
    FILL,
    FREE,
    GO,
    GO_ANYWHERE,
    IGNITED,
    LIFT,
    NOBODY,
    NOT_BURNABLE,
    SAFE,
    SCOOP,
    SPRAY,
    STOP,
    ActionRules,
)
from tests.worlds.wildfire.incidents import check, do, forest_fire, same, scene
from tests.worlds.wildfire.maps import douse, flat, rough
from tests.worlds.wildfire.reference_world import SlowWorld

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Incident


ONE = Team(firefighters=1)


def why(happened: StepEffects, agent: int = 1) -> str:
    """Return the reason for an agent."""
    return REASONS[happened.reason[agent - 1]]


def go(incident: Incident, **orders: tuple[int, int, int]) -> StepEffects:
    """Do one step."""
    happened = step(incident, do(incident, **orders))
    check(incident)
    return happened


# Against the slow reference -------------------------------------------------------------------------------------------


def compare(incident: Incident, slow: SlowWorld, happened: StepEffects) -> None:
    """Fail if the two differ in anything."""
    units, folk = incident.units, incident.civilians
    for row, agent in enumerate(slow.agents):
        stands = (units.x[row], units.y[row], bool(units.alive[row]), units.water[row], REASONS[happened.reason[row]])
        assert stands == (agent.x, agent.y, agent.alive, agent.water, agent.why), (row, agent)
        assert (happened.effect[row], happened.felled[row], happened.put_out[row]) == (
            agent.did,
            agent.felled,
            agent.put_out,
        )
        assert happened.died[row] == (agent in slow.died)
        assert units.aboard[row] == (slow.agents.index(agent.aboard) if agent.aboard else NOBODY)
        carried = [k for k, civilian in enumerate(slow.civilians) if civilian is agent.carries]
        assert units.carries[row] == (carried[0] if carried else NOBODY)
    assert [("free", "carried", "safe", "dead")[state] for state in folk.state] == [c.state for c in slow.civilians]
    assert list(zip(folk.x.tolist(), folk.y.tolist(), strict=True)) == [c.cell for c in slow.civilians]
    land = incident.land
    assert (land.inner(land.burn) == slow.fire.grid(slow.fire.state)).all()
    assert (land.inner(land.trees) == slow.fire.grid(slow.fire.trees)).all()
    assert (land.wet() == (slow.fire.grid(slow.fire.wet) > 0)).all()


def some_actions(incident: Incident, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return random actions; many near the agent, some senseless."""
    agents, size = len(incident.units), incident.land.size
    near = rng.random(agents) < 0.7
    near_aim = incident.units.places() + rng.integers(-4, 5, (agents, 2))
    aim = np.where(near[:, None], near_aim, rng.integers(-2, size + 2, (agents, 2)))
    if len(burning := np.argwhere(incident.land.inner(incident.land.burn) >= IGNITED)):
        at_fire = rng.random(agents) < 0.2
        aim[at_fire] = burning[rng.integers(len(burning), size=at_fire.sum()), ::-1]
    types = rng.choice([-2, -1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 77], agents)
    actions = np.column_stack([types, aim])
    actions[rng.random(agents) < 0.05] = 0
    return actions.astype(np.int32)


EDITIONS = [ActionRules(), ActionRules(pick_up=4.0, refill=3, rescue_reach=4), ActionRules(burnt_kills=True)]


def some_world(seed: int, fire_every: int, civilian_every: int, rules: ActionRules, chance: bool) -> Incident:
    """Return a small world with a bit of everything."""
    rng = np.random.default_rng(seed)
    terrain = rough(seed, size=14, relief_m=200.0)
    cells = [(int(x), int(y)) for y, x in np.argwhere(terrain.burnable)]
    picked = [cells[k] for k in rng.permutation(len(cells))[:8]]
    incident = scene(
        team=Team(6, 2, 1, 2),
        terrain=terrain,
        fire=picked[0],
        water=(*picked[1:3], (min(picked[7][0] + 1, 13), picked[7][1])),
        clusters=tuple(picked[3:6]),
        per_cluster=2,
        target=picked[6],
        spawn=picked[7],
        seed=seed,
        mode="stochastic" if chance else "reference",
        fire_every=fire_every,
        civilian_every=civilian_every,
        rules=rules,
    )
    incident.units.water[:2] = 5
    return incident


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    fire_every=st.sampled_from([30, 50, 100, 250]),
    civilian_every=st.sampled_from([40, 100, 300]),
    rules=st.sampled_from(EDITIONS),
    chance=st.booleans(),
)
def test_steps_are_those_of_the_slow_reference(
    seed: int, fire_every: int, civilian_every: int, rules: ActionRules, chance: bool
) -> None:
    incident = some_world(seed, fire_every, civilian_every, rules, chance)
    slow, rng = SlowWorld.of(incident), np.random.default_rng(seed)
    for _ in range(8):
        actions = some_actions(incident, rng)
        twin = incident.copy()
        happened = step(incident, actions)
        slow.step(actions.tolist())
        check(incident)
        compare(incident, slow, happened)
        step(twin, actions)
        assert same(incident, twin)


def test_the_random_worlds_reach_everything() -> None:
    seen: set[str] = set()
    for seed in range(60):
        incident = some_world(seed, (30, 50, 100, 250)[seed % 4], 100, EDITIONS[seed % 3], seed % 2 == 0)
        rng = np.random.default_rng(seed)
        for _ in range(8):
            before = incident.units.copy()
            happened = step(incident, some_actions(incident, rng))
            seen.update(REASONS[reason] for reason in happened.reason)
            kinds = incident.units.kind
            for name, mask in (
                ("put out by a firefighter", (happened.put_out > 0) & (kinds == 0)),
                ("put out by a helicopter", (happened.put_out > 0) & (kinds == 3)),
                ("cleared two cells", (happened.felled > 3) & (kinds == 1)),
                ("rescued", happened.rescued),
                ("lost", happened.lost_civilians),
                ("carrier lost", happened.died & (before.carries != NOBODY)),
                ("set down", (before.aboard != NOBODY) & (incident.units.aboard == NOBODY)),
                ("rode far", (incident.units.aboard != NOBODY) & (abs(incident.units.x - before.x) > 5)),
            ):
                if mask.any():
                    seen.add(name)
    assert seen - set(REASONS) == {
        "put out by a firefighter", "put out by a helicopter", "cleared two cells", "rescued", "lost", "carrier lost",
        "set down", "rode far",
    }  # fmt: skip
    assert set(REASONS) - seen == set()


# Times and ways (conformance checks 4 and 5) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("team", "trees", "order", "cells"),
    [
        (Team(firefighters=1), 0, GO, 12),
        (Team(firefighters=1), 1, GO, 9.6),
        (Team(firefighters=1), 2, GO, 7.2),
        (Team(firefighters=1), 3, GO, 4.8),
        (Team(bulldozers=1), 3, GO, 8),
        (Team(bulldozers=1), 3, CLEAR, 4),
        (Team(bulldozers=1), 0, CLEAR, 4),
        (Team(1, drones=1), 3, GO, 20),
        (Team(1, helicopters=1), 3, GO, 30),
    ],
)
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.6, 0.8)])
def test_cells_of_a_timestep(team: Team, trees: int, order: int, cells: float, direction: tuple[float, float]) -> None:
    incident = scene(team=team, terrain=flat(60, trees=trees), spawn=(4, 4), task="both")
    x, y = (round(4 + 40 * part) for part in direction)
    name = f"a{team.size}"
    happened = go(incident, **{name: (order, x, y)})
    went = (incident.units.x[-1] - 4, incident.units.y[-1] - 4)
    assert math.hypot(*went) == pytest.approx(cells, abs=1e-9)
    assert went == pytest.approx([cells * part for part in direction], abs=1e-9)
    assert happened.moved[-1]
    assert happened.effect[-1]
    assert why(happened, team.size) == ""


def test_a_way_ends_at_the_middle_of_its_target_and_not_beyond() -> None:
    incident = scene(team=ONE)
    go(incident, a1=(GO, 13, 14))
    assert (incident.units.x[0], incident.units.y[0]) == (13, 14)
    happened = go(incident, a1=(GO, 13, 14))
    assert why(happened) == "arrived"
    assert not happened.effect[0]
    assert not happened.moved[0]


def test_an_even_way_is_not_a_tick_short() -> None:
    incident = scene(team=Team(1, 1, 1, 1), spawn=(5, 5), task="both")
    go(incident, a1=(GO, 17, 5), a2=(GO, 13, 5), a3=(GO, 25, 5), a4=(GO, 35, 5))
    assert incident.units.x.tolist() == [17, 13, 25, 35]


def test_a_bulldozer_clears_every_cell_on_its_way() -> None:
    incident = scene(team=Team(1, 1), terrain=flat(40, trees=3), spawn=(5, 5))
    happened = go(incident, a2=(CLEAR, 20, 5))
    trees = incident.land.inner(incident.land.trees)
    assert trees[5, 4:11].tolist() == [3, 0, 0, 0, 0, 0, 3]
    assert happened.felled.tolist() == [0, 15]
    assert incident.land.trees_cut == 15
    assert (incident.land.inner(incident.land.burn)[5, 5:10] == NOT_BURNABLE).all()


def test_driving_without_clearing_leaves_the_trees() -> None:
    incident = scene(team=Team(1, 1), terrain=flat(40, trees=3), spawn=(5, 5))
    go(incident, a2=(GO, 20, 5))
    assert incident.land.trees_cut == 0


def test_three_trees_take_three_cuts_and_then_nothing_burns_there() -> None:
    incident = scene(team=ONE, terrain=flat(40, trees=3))
    for left in (2, 1, 0):
        assert incident.land.inner(incident.land.burn)[10, 10] == BURNABLE
        assert go(incident, a1=(CUT, 0, 0)).felled.tolist() == [1]
        assert incident.land.inner(incident.land.trees)[10, 10] == left
    happened = go(incident, a1=(CUT, 0, 0))
    assert why(happened) == "no_tree"
    assert not happened.effect[0]
    assert not physics.ignite(incident.land, 10, 10)


@pytest.mark.parametrize(("fire_every", "felled"), [(50, 1), (49, 0)])
def test_cutting_takes_fifty_ticks(fire_every: int, felled: int) -> None:
    # The fire beside the firefighter steps just before or just after tick 50; who is dead cuts no tree.
    incident = forest_fire(terrain=flat(40, wind=(5, 0), trees=3), fire=(9, 10), fire_every=fire_every)
    step(incident, do(incident, a1=(CUT, 0, 0)))
    assert incident.land.trees_cut == felled
    assert not incident.units.alive[0]


def test_two_who_cut_the_last_tree() -> None:
    incident = scene(team=Team(2), terrain=flat(40, trees=1))
    happened = go(incident, a1=(CUT, 0, 0), a2=(CUT, 0, 0))
    assert happened.felled.tolist() == [1, 0]
    assert [why(happened, 1), why(happened, 2)] == ["", "no_tree"]


# What does nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ((STOP, 0, 0), ""),
        ((STOP, 7, 7), ""),
        ((0, 0, 0), ""),
        ((9, 3, 3), "unknown"),
        ((-5, 3, 3), "unknown"),
        ((GO, 40, 3), "off_map"),
        ((GO, 3, -1), "off_map"),
        ((SPRAY, 99, 0), "off_map"),
        ((SPRAY, 11, 10), "no_water"),
        ((FILL, 0, 0), "not_at_water"),
        ((LIFT, 0, 0), "nobody_near"),
        ((CUT, 0, 0), "no_tree"),
        ((GO, 10, 10), "arrived"),
    ],
)
def test_actions_that_change_nothing(order: tuple[int, int, int], reason: str) -> None:
    incident = scene(team=ONE, water=((12, 10),))
    before = incident.copy()
    happened = go(incident, a1=order)
    assert why(happened) == reason
    assert not happened.effect[0]
    assert not happened.moved[0]
    before.land.meters[0] = incident.land.meters[0]
    before.land.meters[1] = incident.land.meters[1]
    before.land.meters[16:32] = incident.land.meters[16:32]
    before.t = 1
    before.civilians.x[:], before.civilians.y[:] = incident.civilians.x, incident.civilians.y
    assert same(incident, before)


@pytest.mark.parametrize("kind", [Team(1, 1), Team(1, drones=1), Team(1, helicopters=1)])
def test_types_of_other_kinds_are_unknown(kind: Team) -> None:
    incident = scene(team=kind)
    for order in (FILL, 5, 2**31 - 1):
        assert why(go(incident, a2=(order, 3, 3)), 2) == "unknown"


def test_the_corner_has_an_order_of_its_own() -> None:
    incident = scene(team=ONE, spawn=(3, 4))
    assert not go(incident, a1=(GO, 0, 0)).moved[0]
    go(incident, a1=(GO_ANYWHERE, 0, 0))
    assert incident.units.place(0) == (0, 0)


@pytest.mark.parametrize(
    "actions",
    [np.zeros((2, 3), np.int32), np.zeros(3, np.int32), np.zeros((1, 3)), np.zeros((1, 4), np.int32), [["a", 0, 0]]],
)
def test_actions_of_another_form_are_refused(actions: npt.NDArray[np.int32]) -> None:
    incident = scene(team=ONE)
    before = incident.copy()
    with pytest.raises(UserError, match=r"actions must be whole numbers of shape \(1, 3\)"):
        step(incident, actions)
    assert same(incident, before)


def test_numbers_of_any_size_do_no_harm() -> None:
    incident = scene(team=Team(1, 1, 1, 1))
    for number in (2**63 - 1, -(2**63)):
        for order in (0, 1, 2, 3, 4, number):
            step(incident, np.full((4, 3), number) * 0 + np.array([order, number, number]))
            check(incident)


# Water (conformance check 6) ------------------------------------------------------------------------------------------


def wet_cells(incident: Incident) -> set[tuple[int, int]]:
    """Return (x, y) of the wet cells."""
    return {(int(x), int(y)) for y, x in np.argwhere(incident.land.wet())}


def test_a_spray_takes_one_unit_and_reaches_sixty_degrees_to_each_side() -> None:
    incident = scene(team=ONE, water=((10, 10),))
    assert go(incident, a1=(FILL, 0, 0)).effect[0]
    assert incident.units.water[0] == 5
    assert why(go(incident, a1=(FILL, 0, 0))) == "full"
    go(incident, a1=(SPRAY, 30, 10))
    assert incident.units.water[0] == 4
    expected = {
        (10 + u, 10 + v)
        for u in range(-3, 4)
        for v in range(-3, 4)
        if math.hypot(u, v) <= 3 and (u, v) != (0, 0) and abs(math.degrees(math.atan2(v, u))) <= 60
    }
    assert wet_cells(incident) == expected | {(10, 10)}


def test_a_spray_at_the_own_cell_waters_it_alone() -> None:
    incident = scene(team=ONE, water=((10, 10),))
    go(incident, a1=(FILL, 0, 0))
    go(incident, a1=(SPRAY, 10, 10))
    assert wet_cells(incident) == {(10, 10)}


def test_a_spray_at_the_edge_stays_on_the_map() -> None:
    incident = scene(team=ONE, water=((0, 0),), spawn=(0, 0))
    go(incident, a1=(FILL, 0, 0))
    go(incident, a1=(SPRAY, 0, 5))
    assert wet_cells(incident) == {(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (2, 2)}
    assert not incident.land.wet_until[0].any()
    assert not incident.land.wet_until[:, 0].any()


def test_spraying_takes_fifty_ticks() -> None:
    # Fire at (12, 10) reaches (11, 10) with the fire step of tick 50, after the water; with that of tick 49, before.
    for fire_every, burns in ((50, False), (49, True)):
        incident = forest_fire(terrain=flat(40, wind=(-5, 0)), fire=(14, 10), fire_every=fire_every)
        incident.units.water[0] = 1
        step(incident, do(incident, a1=(SPRAY, 30, 10)))
        states = incident.land.inner(incident.land.burn)
        assert (states[10, 13] == BURNT_OUT) == burns, fire_every


def test_water_puts_out_and_says_how_much() -> None:
    incident = forest_fire(fire=(12, 10))
    incident.units.water[0] = 1
    happened = go(incident, a1=(SPRAY, 30, 10))
    assert happened.put_out.tolist() == [1]
    assert incident.land.cells_burning == 0


@pytest.mark.parametrize(
    ("refill", "place", "fills"), [(0, (10, 11), False), (3, (10, 13), True), (3, (12, 13), False)]
)
def test_from_where_water_can_be_reached(refill: int, place: tuple[int, int], fills: bool) -> None:
    incident = scene(team=ONE, water=(place,), rules=ActionRules(refill=refill))
    assert bool(go(incident, a1=(FILL, 0, 0)).effect[0]) == fills


def test_a_helicopter_drops_all_round() -> None:
    incident = scene(team=Team(1, helicopters=1), water=((10, 10),))
    go(incident, a2=(SCOOP, 0, 0))
    assert incident.units.water.tolist() == [0, 5]
    go(incident, a2=(DROP, 0, 0))
    around = range(-5, 6)
    assert incident.units.water[1] == 4
    assert wet_cells(incident) == {(10 + u, 10 + v) for u in around for v in around if math.hypot(u, v) <= 4.5}
    for _ in range(4):
        go(incident, a2=(DROP, 0, 0))
    assert why(go(incident, a2=(DROP, 0, 0)), 2) == "empty"


# Riding ------------------------------------------------------------------------------------------------------


def test_water_or_passengers_never_both() -> None:
    incident = scene(team=Team(2, helicopters=1), water=((10, 10),))
    go(incident, a3=(SCOOP, 0, 0))
    assert why(go(incident, a3=(BOARD, 0, 0)), 3) == "has_water"
    assert (incident.units.aboard == NOBODY).all()
    incident.units.water[2] = 0
    assert go(incident, a3=(BOARD, 0, 0)).effect[2]
    assert incident.units.aboard.tolist() == [2, 2, NOBODY]
    assert why(go(incident, a3=(SCOOP, 0, 0)), 3) == "has_passengers"
    assert incident.units.water[2] == 0


def test_five_seats_and_three_cells() -> None:
    incident = scene(team=Team(8, helicopters=2))
    incident.units.x[0] = 13.0  # three cells away: too far
    go(incident, a9=(BOARD, 0, 0), a10=(BOARD, 0, 0))
    assert incident.units.aboard.tolist() == [NOBODY, 8, 8, 8, 8, 8, 9, 9, NOBODY, NOBODY]
    assert why(go(incident, a9=(BOARD, 0, 0)), 9) == "full"
    assert why(go(incident, a10=(BOARD, 0, 0)), 10) == "nobody_near"


def test_riders_go_along_cannot_act_and_are_set_down() -> None:
    incident = scene(team=Team(1, helicopters=1), terrain=flat(40, trees=3))
    happened = go(incident, a1=(GO, 5, 5), a2=(BOARD, 0, 0))
    assert why(happened) == "aboard"
    assert incident.units.place(0) == (10, 10)
    happened = go(incident, a1=(CUT, 0, 0), a2=(GO, 30, 10))
    assert why(happened) == "aboard"
    assert incident.land.trees_cut == 0
    assert not happened.moved[0]
    assert incident.units.place(0) == (30, 10)
    happened = go(incident, a1=(GO, 30, 12), a2=(DROP, 0, 0))
    assert why(happened) == "aboard"
    assert incident.units.place(0) == (30, 10)
    go(incident, a1=(GO, 30, 12))
    assert incident.units.place(0) == (30, 12)


def test_riders_are_safe_above_fire_and_die_when_set_down_in_it() -> None:
    incident = forest_fire(team=Team(1, helicopters=1), fire=(20, 10))
    go(incident, a2=(BOARD, 0, 0))
    go(incident, a2=(GO, 20, 10))
    go(incident)
    assert incident.units.alive.all()
    happened = go(incident, a2=(DROP, 0, 0))
    assert happened.died.tolist() == [True, False]
    assert why(happened) == "died"
    assert why(go(incident, a1=(GO, 3, 3))) == "gone"


# Civilians ------------------------------------------------------------------------------------------------------------


def test_the_nearest_free_civilian_is_picked_up() -> None:
    incident = scene(team=Team(2), clusters=((12, 10), (11, 10), (9, 10)), civilian_every=10**6)
    go(incident, a1=(LIFT, 0, 0), a2=(LIFT, 0, 0))  # the second and third are equally near
    assert incident.units.carries.tolist() == [1, 2]
    assert incident.civilians.state.tolist() == [FREE, CARRIED, CARRIED]


@pytest.mark.parametrize(("pick_up", "taken"), [(3.0, False), (4.0, True)])
def test_three_cells_are_too_far_in_2025(pick_up: float, taken: bool) -> None:
    incident = scene(team=ONE, clusters=((13, 10),), civilian_every=10**6, rules=ActionRules(pick_up=pick_up))
    assert bool(go(incident, a1=(LIFT, 0, 0)).effect[0]) == taken


@pytest.mark.parametrize(("place", "reach", "state"), [((23, 17), 3, SAFE), ((24, 20), 3, FREE), ((24, 20), 4, SAFE)])
def test_put_down_at_the_target_it_is_safe_and_elsewhere_free(place: tuple[int, int], reach: int, state: int) -> None:
    incident = scene(
        team=ONE, clusters=((10, 10),), target=(20, 20), civilian_every=100, rules=ActionRules(rescue_reach=reach)
    )
    go(incident, a1=(LIFT, 0, 0))
    while incident.units.place(0) != place:
        go(incident, a1=(GO, *place))
    assert (incident.civilians.x[0], incident.civilians.y[0]) == place
    happened = go(incident, a1=(LIFT, 0, 0))
    assert incident.civilians.state[0] == state
    assert happened.rescued.tolist() == [state == SAFE]
    for _ in range(5):
        go(incident)
    stayed = (incident.civilians.x[0], incident.civilians.y[0]) == place
    assert stayed or state == FREE
    if state == SAFE:
        assert why(go(incident, a1=(LIFT, 0, 0))) == "nobody_near"  # not one that is rescued


def test_a_carried_civilian_dies_with_its_carrier() -> None:
    incident = forest_fire(fire=(14, 10), clusters=((10, 10),))
    go(incident, a1=(LIFT, 0, 0))
    happened = go(incident, a1=(GO, 20, 10))
    assert happened.died[0]
    assert happened.lost_civilians.tolist() == [True]
    assert incident.civilians.state[0] == DEAD
    assert incident.civilians.x[0] == 14
    assert incident.units.carries[0] == NOBODY


# Deaths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("team", [Team(1), Team(0, 1)])
@pytest.mark.parametrize("order", [GO, CLEAR])
def test_walkers_die_where_it_burns_and_fliers_do_not(team: Team, order: int) -> None:
    incident = forest_fire(team=Team(team.firefighters, team.bulldozers, 1, 1), fire=(12, 10))
    orders = {f"a{k}": (GO if k > 1 or team.firefighters else order, 12, 10) for k in (1, 2, 3)}
    go(incident, **orders)
    assert incident.units.alive.tolist() == [False, True, True]
    assert incident.units.place(0) == (12, 10)


def test_the_fire_kills_whoever_stands_where_it_comes() -> None:
    east = flat(40, wind=(5, 0))
    incident = scene(team=Team(1, 1, 1), terrain=east, task="both", fire=(9, 10), clusters=((10, 9),))
    happened = go(incident)
    assert happened.died.tolist() == [True, True, False]
    assert happened.fire_steps == 1
    assert incident.civilians.state[0] == DEAD


@pytest.mark.parametrize(("burnt_kills", "alive"), [(False, True), (True, False)])
def test_burnt_out_ground_is_safe_unless_switched(burnt_kills: bool, alive: bool) -> None:
    incident = forest_fire(fire=(12, 10), rules=ActionRules(burnt_kills=burnt_kills))
    douse(incident.land, np.array([incident.land.cell(12, 10)]))
    assert incident.land.inner(incident.land.burn)[10, 12] == BURNT_OUT
    go(incident, a1=(GO, 12, 10))
    assert bool(incident.units.alive[0]) == alive


def test_the_ground_is_safe_again_once_it_has_smouldered() -> None:
    # Ignited at the start, on fire in fire step 1, smouldering from 2, burnt out from 12.
    for steps, alive in ((11, False), (12, True)):
        incident = scene(team=ONE, terrain=flat(40), task="both", fire=(12, 10))
        for _ in range(steps):
            go(incident)
        go(incident, a1=(GO, 12, 10))
        assert bool(incident.units.alive[0]) == alive
