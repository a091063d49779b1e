"""Fire: the worked values of the specification, the slow references, symmetry, water, cutting, the clock."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels import fire
from teamworld.worlds.wildfire.state import (
    BURNABLE,
    BURNT_OUT,
    EXTINGUISHING,
    IGNITED,
    NEIGHBOURS,
    NOT_BURNABLE,
    ON_FIRE,
    WATER,
    FireMode,
    FireRules,
    Land,
    Terrain,
)
from tests.worlds.wildfire.maps import cut_trees, douse, flat, ramp, rough, turned, turned_map
from tests.worlds.wildfire.reference_fire import (
    SlowFire,
    base_chance,
    burnt_area,
    chances,
    fuel_factor,
    mixed,
    reference_rate,
)

if TYPE_CHECKING:
    import numpy.typing as npt

MODES: tuple[FireMode, ...] = ("reference", "stochastic")


def burns(land: Land) -> npt.NDArray[np.uint8]:
    """Return the burn states, indexed [y, x]."""
    return land.inner(land.burn)


def cells(land: Land, *places: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Return the cells of (x, y) places."""
    return np.array([land.cell(x, y) for x, y in places])


def fire_at(terrain: Terrain, *places: tuple[int, int], steps: int = 0, **rules: Any) -> Land:
    """Return land with fires at (x, y) places, after so many fire steps."""
    land = physics.make_land(terrain, FireRules(**rules), seed=9)
    physics.ignite_cells(land, cells(land, *places))
    pass_steps(land, steps)
    return land


def pass_steps(land: Land, steps: int) -> Land:
    """Do fire steps."""
    for _ in range(steps):
        physics.step_fire(land)
    return land


def check_counts(land: Land) -> None:
    """Fail if a counter differs from what stands in the arrays."""
    states = burns(land)
    assert [land.cells_in(k) for k in range(6)] == np.bincount(states.ravel(), minlength=6).tolist()
    assert not land.burn[[0, -1]].any()
    assert not land.burn[:, [0, -1]].any()
    assert land.trees_burnt + land.trees_cut + int(land.trees.sum()) == int(land.terrain.trees.sum())
    assert land.buildings_lost + int(land.building.sum()) == int(land.terrain.building.sum())
    burning = np.isin(states, (IGNITED, ON_FIRE))
    assert land.cells_burning == burning.sum()


# The formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theta", "factor"),
    [(-45, 0.5115), (-30, 0.5337), (-20, 0.5719), (-10, 0.6674), (0, 1), (5, 1.4120), (10, 1.9937), (20, 3.9749),
     (30, 7.9248), (45, 22.309)],
)  # fmt: skip
def test_slope_factor(theta: float, factor: float) -> None:
    assert fire.slope_factor(float(theta)) == pytest.approx(factor, abs=5e-5 if factor < 10 else 5e-4)


@pytest.mark.parametrize(
    ("rise", "degrees", "rate"),
    [(0, 0, 0.940), (0, 45, 0.8023), (0, 90, 0.470), (0.006, 90, 0.943), (-0.006, 0, 0.626), (0, 180, 0),
     (0.006, 180, 0), (-0.2, 180, 0)],
)  # fmt: skip
def test_spread_rate(rise: float, degrees: float, rate: float) -> None:
    theta = fire.slope_degrees(890.0 * rise, 30.0)
    if abs(rise) == 0.006:
        assert abs(theta) == pytest.approx(10.09, abs=5e-3)
    got = fire.spread_rate(fire.slope_factor(theta), 0.6, math.cos(math.radians(degrees)))
    assert got == pytest.approx(rate, abs=5e-4 if rate != 0.8023 else 5e-5)


@pytest.mark.parametrize(("moisture", "limit"), [(0.4, 87.6), (0.6, 86.3), (0.8, 85.0)])
def test_limiting_angle_off_the_wind(moisture: float, limit: float) -> None:
    for angle, catches in ((limit - 0.06, True), (limit + 0.06, False)):
        rate = fire.spread_rate(1.0, moisture, math.cos(math.radians(angle)))
        assert (rate > 0.5) == catches


def test_direct_jump_needs_about_31_degrees_downwind() -> None:
    assert fire.spread_rate(fire.slope_factor(30.0), 0.6, 1.0) < 8
    assert fire.spread_rate(fire.slope_factor(32.0), 0.6, 1.0) > 8


@given(st.floats(-89.9, 89.9))
def test_slope_factor_agrees_with_the_mathematical_library(theta: float) -> None:
    e = math.exp(0.069 * abs(theta))
    assert fire.slope_factor(theta) == pytest.approx(e if theta >= 0 else e / (2 * e - 1), rel=1e-12)
    run = 10.0
    assert fire.slope_degrees(math.tan(math.radians(theta)) * run, run) == pytest.approx(theta, rel=1e-12, abs=1e-12)


def test_moisture_damping_is_rothermels() -> None:
    assert fire.moisture_damping(0.0, 0.3) == 1.0
    assert fire.moisture_damping(0.3, 0.3) == pytest.approx(0.0, abs=1e-12)
    assert fire.moisture_damping(5.0, 0.3) == pytest.approx(0.0, abs=1e-12)
    assert fire.moisture_damping(0.15, 0.3) == pytest.approx(1 - 2.59 / 2 + 5.11 / 4 - 3.52 / 8)
    values = [fire.moisture_damping(m, 1.0) for m in np.linspace(0, 1, 101)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("terrain", "direction", "trees", "chance"),
    [
        (flat(11, moisture=0.0), 0, 0, 0.58),
        (ramp(11, 30 * math.tan(math.radians(-5)), (8.0, 0.0), 0.0), 0, 0, 0.58 * math.exp(0.045 * 8 - 0.078 * 5)),
        (flat(11, (8.0, 0.0), 0.0), 4, 0, 0.58 * math.exp(0.045 * 8 - 2 * 0.131 * 8)),
        (flat(11, (0.0, 40.0), 0.0), 6, 0, 0.58 * math.exp(0.45 - 2.62)),  # the wind counts up to 10 m/s
        (flat(11, moisture=0.4), 1, 1, 0.58 * 1.4 * 0.6 * (1 - 2.59 * 0.4 + 5.11 * 0.16 - 3.52 * 0.064)),
        (ramp(11, 30 * math.tan(math.radians(60)), moisture=0.0), 0, 3, 1.0),
    ],
)
def test_chance_of_the_plain_case_and_its_factors(terrain: Terrain, direction: int, trees: int, chance: float) -> None:
    rules = FireRules(mode="stochastic")
    stored = int(fire.spread_of(terrain, rules).view(np.uint16).reshape(13, 13, 8)[6, 6, direction])
    assert min(1.0, stored * int(fire.fuel_of(rules)[trees]) / 2**32) == pytest.approx(chance, abs=1e-3)


@given(seed=st.integers(0, 10**6))
@example(seed=1)  # a chance beside a half of the last place
@example(seed=136)
@settings(max_examples=25, deadline=None)
def test_chances_of_a_map_are_those_of_the_formula(seed: int) -> None:
    terrain, rules = rough(seed, 10), FireRules(mode="stochastic")
    kept = fire.spread_of(terrain, rules).view(np.uint16).reshape(12, 12, 8)
    fuel = fire.fuel_of(rules)
    for y, x, d in np.ndindex(10, 10, 8):
        dx, dy = NEIGHBOURS[d]
        stored = int(kept[y + 1, x + 1, d])
        if not (0 <= x + dx < 10 and 0 <= y + dy < 10):
            assert stored == 0
            continue
        base = base_chance(terrain, rules, x, y, d)
        assert stored == pytest.approx(min(65535, base * 2**14), abs=0.51)  # rounded; both sides of a half are near
        trees = int(terrain.trees[y + dy, x + dx])
        chance = min(1.0, base * fuel_factor(rules, trees))
        if stored < 65535:
            assert min(1.0, stored * int(fuel[trees]) / 2**32) == pytest.approx(chance, abs=2**-15 * 1.83)


# Against the slow reference -------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    mode=st.sampled_from(MODES),
    edge=st.booleans(),
    wet_steps=st.integers(0, 6),
    relief=st.sampled_from([0.0, 890.0, 4000.0]),
)
@settings(max_examples=80, deadline=None)
def test_kernel_equals_the_slow_reference(seed: int, mode: FireMode, edge: bool, wet_steps: int, relief: float) -> None:
    terrain = rough(seed, 12, relief)
    rules = FireRules(mode=mode, edge_burns=edge, wet_steps=wet_steps, jump_above=3.0)
    land = physics.make_land(terrain, rules, seed=seed)
    slow = SlowFire(terrain, rules, land.key)
    rng = np.random.default_rng(seed)
    for _ in range(18):
        for x, y in rng.integers(0, 12, (2, 2)).tolist():
            assert physics.ignite(land, x, y) == slow.ignite(x, y)
        if rng.random() < 0.5:
            places = rng.integers(0, 12, (6, 2)).tolist()
            douse(land, cells(land, *places))
            for x, y in places:
                slow.douse(x, y)
            places, most = rng.integers(0, 12, (6, 2)).tolist(), int(rng.integers(1, 4))
            felled = cut_trees(land, cells(land, *places), most)
            assert felled == [slow.cut(x, y, most) for x, y in places]
        physics.step_fire(land)
        slow.step()
        assert burns(land).tolist() == slow.grid(slow.state).tolist()
        assert land.inner(land.trees).tolist() == slow.grid(slow.trees).tolist()
        assert land.inner(land.building).tolist() == slow.grid(slow.building).tolist()
        assert land.wet().tolist() == (slow.grid(slow.wet) > 0).tolist()
        assert (land.trees_burnt, land.buildings_lost) == (slow.trees_burnt, slow.buildings_lost)
        assert (land.trees_cut, land.cells_put_out) == (slow.trees_cut, slow.put_out)
        check_counts(land)


def test_the_random_maps_show_every_case() -> None:
    """The comparison above would be empty if no cell jumped or nothing but fire happened."""
    rates = [
        reference_rate(terrain, x, y, d)
        for terrain in map(rough, range(3))
        for y, x, d in np.ndindex(10, 10, 8)
        if 0 < x < 11 and 0 < y < 11
    ]
    share = [np.mean(np.array(rates) > limit) for limit in (0.5, 3.0)]
    assert 0.3 < share[0] < 0.9
    assert 0.01 < share[1] < 0.3


@pytest.mark.parametrize("mode", MODES)
def test_the_order_of_ignition_does_not_matter(mode: FireMode) -> None:
    terrain, rng = rough(5, 40), np.random.default_rng(1)
    lands = [physics.make_land(terrain, FireRules(mode=mode), seed=3) for _ in range(2)]
    places = [lands[0].cell(x, y) for x, y in rng.integers(0, 40, (60, 2)).tolist()]
    for land, order in zip(lands, (places, rng.permutation(places).tolist()), strict=True):
        physics.ignite_cells(land, np.array(order))
        for _ in range(15):
            physics.step_fire(land)
        check_counts(land)
    assert (lands[0].burn == lands[1].burn).all()


def test_chance_does_not_depend_on_the_map_around() -> None:
    small, large = (fire_at(flat(size), (7, 7), steps=6, mode="stochastic") for size in (15, 40))
    assert (burns(small) == burns(large)[:15, :15]).all()


def test_the_hash_is_splitmix() -> None:
    # First numbers of SplitMix64 with seed 1234567, as published with its reference code.
    golden, state, numbers = 0x9E3779B97F4A7C15, 1234567, []
    for _ in range(3):
        state = (state + golden) % 2**64
        numbers.append(mixed(state))
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


# Symmetry -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 8))
@pytest.mark.parametrize("seed", range(4))
def test_reference_fire_has_exact_eightfold_symmetry(k: int, seed: int) -> None:
    terrain = rough(seed, 24, relief_m=2000.0)
    lands = [physics.make_land(terrain), physics.make_land(turned_map(terrain, k))]
    start = np.random.default_rng(seed).random((24, 24)) < 0.03
    for land, where in zip(lands, (start, turned(start, k)), strict=True):
        physics.ignite_cells(land, cells(land, *[(x, y) for y, x in np.argwhere(where).tolist()]))
    for _ in range(25):
        for land in lands:
            physics.step_fire(land)
        assert (turned(burns(lands[0]), k) == burns(lands[1])).all()
    assert lands[0].cells_caught > 60


@pytest.mark.parametrize("k", range(1, 8))
def test_chances_have_exact_eightfold_symmetry(k: int) -> None:
    terrain, rules = rough(8, 20), FireRules(mode="stochastic")
    before = fire.spread_of(terrain, rules).view(np.uint16).reshape(22, 22, 8)
    after = fire.spread_of(turned_map(terrain, k), rules).view(np.uint16).reshape(22, 22, 8)
    for d, (dx, dy) in enumerate(NEIGHBOURS):
        if k >= 4:
            dx, dy = dy, dx
        for _ in range(k % 4):
            dx, dy = dy, -dx
        assert (turned(before[..., d], k) == after[..., NEIGHBOURS.index((dx, dy))]).all()


# Plain cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", range(8))
def test_one_cell_per_fire_step_downwind_and_never_upwind(d: int) -> None:
    dx, dy = NEIGHBOURS[d]
    land = physics.make_land(flat(31, (5.0 * dx, 5.0 * dy)))
    physics.ignite(land, 15, 15)
    ahead = np.add.outer(dy * (np.arange(31) - 15), dx * (np.arange(31) - 15))  # along the wind
    for k in range(1, 13):
        physics.step_fire(land)
        caught = burns(land) >= IGNITED
        assert (ahead[caught] >= 0).all()
        assert burns(land)[15 + k * dy, 15 + k * dx] == IGNITED
        if k < 12:
            assert burns(land)[15 + (k + 1) * dy, 15 + (k + 1) * dx] == BURNABLE


def test_without_wind_flat_ground_does_not_carry_fire_and_slopes_do() -> None:
    assert fire_at(flat(11), (5, 5), steps=1).cells_burning == 1
    land = fire_at(ramp(11, 30 * math.tan(math.radians(5))), (5, 5), steps=1)
    assert np.argwhere(burns(land) == IGNITED).tolist() == [[4, 6], [5, 6], [6, 6]]  # uphill only


def test_timings_of_a_cell() -> None:
    land = fire_at(flat(11), (5, 5))
    seen = [int(burns(land)[5, 5]), *(int(burns(pass_steps(land, 1))[5, 5]) for _ in range(13))]
    assert seen == [IGNITED, ON_FIRE, *[EXTINGUISHING] * 10, BURNT_OUT, BURNT_OUT]
    assert land.trees_burnt == 2


def test_steep_ground_goes_straight_to_on_fire_and_spreads_on() -> None:
    land = fire_at(ramp(15, 30 * math.tan(math.radians(35)), (5.0, 0.0)), (2, 7), steps=1)
    assert burns(land)[7, 3] == ON_FIRE
    assert land.trees_burnt == 8  # the cell itself and the three uphill
    seen = [int(burns(pass_steps(land, 1))[7, 3]) for _ in range(12)]
    assert seen == [*[EXTINGUISHING] * 10, BURNT_OUT, BURNT_OUT]
    assert burns(land)[7, 14] >= ON_FIRE  # one cell per step
    check_counts(land)


def test_the_stronger_effect_wins_whatever_the_order() -> None:
    terrain = ramp(11, 30 * math.tan(math.radians(35)), (5.0, 0.0))
    for order in ((4, 5, 6), (6, 5, 4)):
        land = fire_at(terrain, *[(4, y) for y in order], steps=1)
        assert burns(land)[5, 5] == ON_FIRE


def test_outermost_ring_burns_unless_switched_off() -> None:
    for edge in (True, False):
        land = physics.make_land(flat(11, (5.0, 0.0)), FireRules(edge_burns=edge))
        assert physics.ignite(land, 0, 5) == edge
        physics.ignite(land, 7, 5)
        pass_steps(land, 6)
        assert (burns(land)[5, 10] >= ON_FIRE) == edge
        assert not land.burn[[0, -1]].any()


def test_ignition_is_refused_where_nothing_can_burn() -> None:
    base = flat(11)
    burnable = base.burnable.copy()
    burnable[4, 3] = False
    land = physics.make_land(replace(base, burnable=burnable))
    douse(land, cells(land, (5, 5)))
    assert not physics.ignite(land, 3, 4)
    assert not physics.ignite(land, 5, 5)
    assert physics.ignite(land, 6, 6)
    assert not physics.ignite(land, 6, 6)
    assert land.cells_caught == 1
    with pytest.raises(UserError, match=r"inside x and y 0 to 10, got \(11, 0\)"):
        physics.ignite(land, 11, 0)


def test_wet_cells_do_not_burn_for_thirty_fire_steps() -> None:
    land = physics.make_land(flat(60, (5.0, 0.0)))
    physics.step_fire(land)
    line = cells(land, *[(30, y) for y in range(60)])
    assert douse(land, line) == 0
    for k in range(30):
        assert land.wet().sum() == 60, k
        assert not physics.ignite(land, 30, 5)
        physics.step_fire(land)
    assert not land.wet().any()
    assert physics.ignite(land, 30, 5)


def test_a_wet_line_stops_fire_even_uphill() -> None:
    land = physics.make_land(ramp(21, 30 * math.tan(math.radians(35)), (5.0, 0.0)))
    douse(land, cells(land, *[(10, y) for y in range(21)]))
    physics.ignite(land, 3, 10)
    pass_steps(land, 20)
    assert land.cells_burning == 0
    assert (burns(land)[:, 10:] == BURNABLE).all()
    assert (burns(land)[10, 4:10] >= ON_FIRE).all()


def test_water_puts_fire_out_and_spares_what_has_not_burnt() -> None:
    land = fire_at(flat(11, (5.0, 0.0)), (2, 5))
    assert douse(land, cells(land, (2, 5), (2, 5), (3, 5))) == 1
    assert land.trees_burnt == 0
    physics.ignite(land, 5, 5)
    physics.step_fire(land)
    assert douse(land, cells(land, *[(x, y) for x in range(11) for y in range(11)])) == 4
    assert land.cells_burning == 0
    assert burns(land)[5, 2] == burns(land)[5, 5] == burns(land)[5, 6] == BURNT_OUT
    assert land.trees_burnt == 2
    check_counts(land)
    physics.step_fire(land)
    assert land.cells_burning == 0


def test_cutting_the_last_tree_makes_a_firebreak() -> None:
    land = physics.make_land(flat(11, (5.0, 0.0), trees=3))
    for left in (2, 1, 0):
        assert cut_trees(land, cells(land, (5, 5))) == [1]
        assert land.inner(land.trees)[5, 5] == left
        assert burns(land)[5, 5] == (BURNABLE if left else NOT_BURNABLE)
    assert cut_trees(land, cells(land, (5, 5))) == [0]
    cut_trees(land, cells(land, *[(5, y) for y in range(11)]), most=3)
    physics.ignite(land, 2, 5)
    pass_steps(land, 20)
    assert (burns(land)[:, 5:] <= BURNABLE).all()
    assert land.trees_cut == 33
    check_counts(land)


def test_buildings_burn_and_are_counted() -> None:
    base = flat(11, (5.0, 0.0))
    building, trees = base.building.copy(), base.trees.copy()
    building[5, 6], trees[5, 6] = True, 0
    land = fire_at(replace(base, building=building, trees=trees), (5, 5), steps=1)
    assert (land.buildings_lost, land.trees_burnt) == (0, 2)
    physics.step_fire(land)
    assert (land.buildings_lost, land.trees_burnt) == (1, 6)


def test_water_can_appear_and_vanish() -> None:
    land = physics.make_land(flat(11, (5.0, 0.0)))
    assert physics.set_water(land, 5, 5)
    assert not physics.set_water(land, 5, 5)
    assert land.inner(land.land)[5, 5] == WATER
    assert burns(land)[5, 5] == NOT_BURNABLE
    assert not physics.ignite(land, 5, 5)
    assert physics.set_water(land, 5, 5, present=False)
    assert not physics.set_water(land, 5, 5, present=False)
    physics.ignite(land, 7, 7)
    assert not physics.set_water(land, 7, 7)
    assert land.cells_in(NOT_BURNABLE) == 1


def test_the_clock_does_fire_steps_when_they_fall_due() -> None:
    land = physics.make_land(flat(11), FireRules(every=500))
    assert [physics.advance_fire(land, 100) for _ in range(12)] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
    assert (land.ticks, land.fire_steps, land.ticks_to_fire) == (1200, 2, 300)
    assert physics.advance_fire(land, 1300) == 3
    assert land.ticks_to_fire == 500
    assert [physics.advance_fire(land, 1) for _ in range(500)] == [*[0] * 499, 1]


def test_a_copy_is_independent() -> None:
    land = fire_at(flat(15, (5.0, 0.0)), (3, 7))
    twin = land.copy()
    pass_steps(land, 5)
    assert (twin.fire_steps, twin.cells_burning) == (0, 1)
    pass_steps(twin, 5)
    assert (twin.burn == land.burn).all()
    assert twin.meters.tolist() == land.meters.tolist()


def test_a_whole_map_can_burn_down() -> None:
    land = physics.make_land(flat(12), FireRules(mode="stochastic", base=1.0, vegetation=(3, 3, 3, 3)))
    physics.ignite_cells(land, np.arange(land.burn.size))
    pass_steps(land, 13)
    assert land.cells_in(BURNT_OUT) == land.cells_caught == 144
    check_counts(land)


# The stochastic mode --------------------------------------------------------------------------------------------------


def test_each_neighbour_catches_as_often_as_the_formula_says() -> None:
    terrain = ramp(11, 3.0, (4.0, 2.0), moisture=0.5)
    rules = FireRules(mode="stochastic")
    land, tries, caught = physics.make_land(terrain, rules), 6000, np.zeros(8)
    for key in range(tries):
        once = replace(land.copy(), key=key)
        physics.ignite(once, 5, 5)
        physics.step_fire(once)
        caught += [burns(once)[5 + dy, 5 + dx] == IGNITED for dx, dy in NEIGHBOURS]
    for d in range(8):
        p = min(1.0, base_chance(terrain, rules, 5, 5, d) * fuel_factor(rules, 2))
        assert abs(caught[d] - tries * p) < 4.5 * math.sqrt(tries * p * (1 - p)) + 1, d


@pytest.mark.heavy
@pytest.mark.parametrize("wind", [(0.0, 0.0), (6.0, 3.0)])
def test_burnt_area_over_time_agrees_with_the_independent_reference(wind: tuple[float, float]) -> None:
    terrain, rules = flat(31, wind, moisture=0.4), FireRules(mode="stochastic")
    steps, runs = 14, 400
    land, ours = physics.make_land(terrain, rules), []
    for key in range(runs):
        once = replace(land.copy(), key=key * 7919 + 1)
        physics.ignite(once, 15, 15)
        ours.append([pass_steps(once, 1).cells_caught for _ in range(steps)])
    rng = np.random.default_rng(0)
    chance = chances(terrain, rules)
    theirs = [burnt_area(terrain, chance, (15, 15), steps, rng) for _ in range(runs)]
    a, b = np.array(ours, float), np.array(theirs, float)
    error = np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / runs)
    assert (np.abs(a.mean(0) - b.mean(0)) < 4 * error).all()
    assert b.mean(0)[-1] > 150  # it was a fire


# Bad input and determinism --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mode": "referense"}, "did you mean 'reference'"),
        ({"every": 0}, "every must be an integer from 1"),
        ({"every": 2.5}, "every must be an integer"),
        ({"wet_steps": -1}, "wet_steps must be an integer from 0"),
        ({"base": 1.5}, "base must be a number from 0 to 1, got 1.5"),
        ({"base": float("nan")}, "base must be a number from 0 to 1, got nan"),
        ({"density": (0.0, 0.1)}, "density must have four values"),
        ({"vegetation": (0.0, 0.1, -2.0, 0.0)}, "vegetation must be a number from -1 to 3, got -2.0"),
    ],
)
def test_impossible_rules_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        FireRules(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trees": np.full((11, 11), 4, np.uint8)}, "trees must lie within 0 and 3"),
        ({"moisture": np.full((11, 11), np.nan, np.float32)}, "moisture must lie within 0 and 1"),
        ({"moisture": np.full((11, 11), 0.5)}, "moisture must be float32"),
        ({"wind": np.zeros((11, 11), np.float32)}, r"wind must be float32 of shape \(2, 11, 11\)"),
        ({"land": np.full((11, 11), WATER, np.uint8)}, "water cannot burn"),
        ({"relief_m": -1.0}, "relief_m must be a number of metres"),
        ({"cell_m": float("inf")}, "cell_m must be a number of metres"),
    ],
)
def test_impossible_terrain_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        replace(flat(11), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [[-1], [169], [1.5], [[1, 2]]])
def test_cells_outside_the_arrays_are_refused(wrong: list[float]) -> None:
    land = physics.make_land(flat(11))
    with pytest.raises(UserError, match="whole numbers from 0 to 168"):
        physics.ignite_cells(land, np.array(wrong))
    assert physics.ignite_cells(land, np.array([], np.int64)) == 0
    assert physics.ignite_cells(land, np.array([80], np.uint8)) == 1


def digest(terrain: Terrain, mode: FireMode) -> str:
    """Return a fingerprint of 40 fire steps."""
    land = physics.make_land(terrain, FireRules(mode=mode), seed=11)
    physics.ignite_cells(land, cells(land, (20, 20), (40, 10), (5, 30)))
    digest_of_steps = hashlib.sha256()
    for _ in range(40):
        physics.step_fire(land)
        digest_of_steps.update(land.burn.tobytes() + land.trees.tobytes())
    return digest_of_steps.hexdigest()[:16]


@pytest.mark.parametrize(("mode", "expected"), [("reference", "4c035b83cb2260fa"), ("stochastic", "13fdcb307c885e60")])
def test_fire_is_the_same_on_every_machine(mode: FireMode, expected: str) -> None:
    from teamworld.worlds.wildfire.terrain import generate

    assert digest(generate(50, 7, vegetation_offset=30), mode) == expected
