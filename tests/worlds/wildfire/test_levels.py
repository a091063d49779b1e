"""Levels and their placement: the published table, the rules of distance, bad input."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import (
    LEVELS,
    PRESETS,
    Event,
    Level,
    Team,
    WildfireInstance,
    describe_level,
    instance_for,
    level_for,
)
from teamworld.worlds.wildfire.state import IGNITED, WATER, Cell, FireMode
from teamworld.worlds.wildfire.terrain import generate
from teamworld.worlds.wildfire.unhindered_fire import burn_unhindered
from tests.worlds.wildfire.maps import flat

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The presets of CREW-Wildfire, typed again: map, team, best score, steps, ticks between fire steps.
TABLE = {
    "cut_trees_sparse_small": (30, (3, 0, 0, 0), 18, 30, 100),
    "cut_trees_sparse_large": (60, (10, 0, 0, 0), 75, 50, 100),
    "cut_trees_lines_small": (30, (2, 1, 0, 0), 30, 30, 100),
    "cut_trees_lines_large": (60, (4, 3, 0, 0), 105, 30, 100),
    "scout_fire_small": (100, (0, 0, 3, 0), 2, 30, 100),
    "scout_fire_large": (250, (0, 0, 5, 0), 2, 30, 300),
    "transport_firefighters_small": (100, (6, 0, 0, 1), 6, 15, 100),
    "transport_firefighters_large": (250, (12, 0, 0, 2), 12, 35, 100),
    "rescue_civilians_known_location_small": (40, (3, 0, 0, 0), 3, 25, 100),
    "rescue_civilians_known_location_large": (80, (5, 0, 0, 0), 9, 35, 100),
    "suppress_fire_contain": (60, (5, 1, 0, 0), 0, 100, 500),
    "suppress_fire_extinguish": (60, (8, 0, 0, 0), 0, 100, 500),
    "rescue_civilians_search_and_rescue": (100, (5, 0, 2, 0), 5, 40, 100),
    "suppress_fire_locate_and_suppress": (100, (5, 1, 2, 0), 0, 100, 500),
    "suppress_fire_locate_deploy_suppress": (150, (10, 0, 2, 2), 0, 120, 500),
    "rescue_civilians_search_rescue_transport": (150, (10, 0, 2, 2), 10, 60, 100),
    "full_game": (200, (10, 1, 2, 2), 0, 120, 500),
}
DENSE = {"cut_trees_lines_small", "cut_trees_lines_large", "full_game"}


def test_the_seventeen_presets_are_those_of_the_table() -> None:
    assert list(TABLE) == list(PRESETS)
    for name, (size, team, score, steps, every) in TABLE.items():
        level = level_for(name)
        assert (level.size, level.team, level.max_score, level.max_steps) == (size, Team(*team), score, steps)
        assert (level.fire_every, level.edition, level.full_name) == (every, "2025", name)
        assert level.civilian_every == (300 if level.civilians else 100)
        assert level.vegetation_offset == (30 if name in DENSE or "suppress" in name else 20)
        assert level.water == (name == "suppress_fire_extinguish")
        assert level.known == (
            "known" in name or name[:4] in ("cut_", "tran") or name[14:] in ("contain", "extinguish")
        )


def test_the_edition_2026_changes_what_was_changed() -> None:
    for name in PRESETS:
        level = level_for(f"{name}@2026")
        assert (level.edition, level.full_name) == ("2026", f"{name}@2026")
        assert level_for(f"{name}@2025") == level_for(name)
        rules = level.rules("stochastic")
        assert (rules.mode, rules.wet_steps, rules.jump_above) == ("stochastic", 25, 10.0)
        assert rules.every == level.fire_every
    assert level_for("suppress_fire_contain@2026").team == Team(5, 2)
    assert level_for("suppress_fire_contain@2026").vegetation_offset == 40
    assert level_for("suppress_fire_locate_and_suppress@2026").size == 120
    full = level_for("full_game@2026")
    assert (full.size, full.fire_every, full.water) == (220, 450, 1)


def test_the_published_edition_is_that_of_2026_with_other_limits() -> None:
    limits = {"full_game": 300, "suppress_fire_locate_and_suppress": 150}
    for name in PRESETS:
        level, later = level_for(f"{name}@published"), level_for(f"{name}@2026")
        assert level.full_name == f"{name}@published"
        assert level.rules() == later.rules()
        assert replace(level, edition="2026", max_steps=later.max_steps) == later
        assert level.max_steps == limits.get(name, later.max_steps)


@pytest.mark.parametrize("mode", ["reference", "stochastic"])
@pytest.mark.parametrize("name", ["suppress_fire_contain", "suppress_fire_extinguish@published"])
def test_fires_that_would_go_out_at_once_are_drawn_anew(name: str, mode: FireMode) -> None:
    """Unhindered, every fire reaches the level's bound; a fire that does so when first drawn stays as it is."""
    level, anew = replace(level_for(name), least_damage=300), 0
    for seed in range(12):
        instance, first = (
            instance_for(replace(level, least_damage=least), seed, mode=mode) for least in (level.least_damage, 0)
        )
        damage, small = (
            burn_unhindered(each.terrain, each.fire, level.rules(mode), seed=seed, steps=level.max_steps).damage
            for each in (instance, first)
            if each.fire is not None
        )
        assert damage >= 300
        assert (instance.fire == first.fire) == (small >= 300)
        anew += instance.fire != first.fire
        again = instance_for(level, seed, mode=mode)
        assert (again.fire, again.spawn, again.water) == (instance.fire, instance.spawn, instance.water)
    assert 0 < anew < 9


def test_every_named_fire_has_a_bound_but_the_smallest() -> None:
    bounds = {name: level.least_damage for name, level in LEVELS.items() if physics.fights_fire(level)}
    assert {name for name, bound in bounds.items() if bound != 100} == {"perception"}


def test_a_fire_of_impossible_size_gets_one_line() -> None:
    with pytest.raises(UserError, match=r"no room for a fire that destroys 9000000 points .*least_damage"):
        instance_for(replace(level_for("suppress_fire_contain"), least_damage=9_000_000), 0)
    with pytest.raises(UserError, match="needs a fire that is fought"):
        replace(level_for("scout_fire_small"), least_damage=1)


def test_the_unhindered_fire_is_that_of_an_episode_in_which_nobody_acts() -> None:
    for mode in ("reference", "stochastic"):
        instance = instance_for("full_game_exposed", 3, mode=mode)
        assert instance.fire is not None
        level = replace(instance.level, max_steps=120)
        alone = burn_unhindered(instance.terrain, instance.fire, level.rules(mode), seed=3, steps=level.max_steps)
        incident = physics.begin_incident(instance, 3, mode)
        for _ in range(level.max_steps):
            physics.step(incident, np.tile([-1, 0, 0], (len(incident.units), 1)))
        land = incident.land
        assert (alone.trees, alone.buildings) == (land.trees_burnt, land.buildings_lost)
        assert (alone.reached == (land.inner(land.burn) >= IGNITED)).all()


def test_in_the_exposed_game_houses_and_civilians_are_in_the_fires_path() -> None:
    for seed in range(4):
        instance = instance_for("full_game_exposed", seed)
        level, terrain, fire = instance.level, instance.terrain, instance.fire
        assert fire is not None
        check(instance)
        plain = generate(level.size, seed, vegetation_offset=level.vegetation_offset)
        alone = burn_unhindered(plain, fire, level.rules(), seed=seed, steps=level.max_steps)
        assert all(alone.reached[y, x] for x, y in instance.clusters)
        assert all(max(distances(cluster, fire)) > 0.1 * level.size for cluster in instance.clusters)
        new = np.argwhere(terrain.building & ~plain.building)
        assert len(new) >= level.settlements
        assert terrain.burnable[terrain.building].all()
        assert not terrain.trees[terrain.building].any()
        assert burn_unhindered(terrain, fire, level.rules(), seed=seed, steps=level.max_steps).buildings >= 3


def test_unknown_names_suggest_the_near_one() -> None:
    for name, message in {
        "full_gam": "no wildfire level 'full_gam'; did you mean 'full_game'",
        "full_game@2027": "no edition '2027' of full_game; did you mean",
        "full_game@": "no edition ''",
        "scale_simple@2025": "no edition '2025' of scale_simple",
        "zzz": "known: cut_trees_sparse_small",
    }.items():
        with pytest.raises(UserError, match=message):
            level_for(name)


def test_every_level_can_be_described() -> None:
    assert describe_level(level_for("full_game")) == (
        "both, 200 x 200 cells, 10 firefighters, 1 bulldozer, 2 drones, 2 helicopters"
    )
    assert all("\n" not in describe_level(level) for level in LEVELS.values())


def distances(first: Cell, second: Cell) -> tuple[int, int]:
    """Return the distance in x and in y."""
    return abs(first.x - second.x), abs(first.y - second.y)


def in_middle(cell: Cell, share: float, size: int) -> bool:
    """Return whether a cell lies in the middle of the map."""
    edge = round((1 - share) / 2 * size)
    return all(edge <= k < size - edge for k in cell)


def placed(instance: WildfireInstance) -> Iterator[Cell]:
    """Yield everything that must not lie on the same cell."""
    yield instance.spawn
    yield from instance.water
    yield from instance.clusters
    yield from (cell for line in instance.targets for cell in line)
    if instance.fire:
        yield instance.fire


def check(instance: WildfireInstance) -> None:
    """Fail if a placement breaks a rule that holds for all tasks."""
    level, terrain, n = instance.level, instance.terrain, instance.level.size
    assert terrain.size == n
    assert in_middle(instance.spawn, 0.8, n)
    assert (instance.fire is not None) == (level.task in ("scout", "contain", "both"))
    assert len(instance.clusters) == level.clusters
    assert len(instance.water) == level.water == (terrain.land == WATER).sum()
    everything = list(placed(instance))
    assert len(set(everything)) == len(everything)
    for x, y in instance.water:
        assert in_middle(Cell(x, y), 0.9, n)
        assert terrain.land[y, x] == WATER
    if instance.fire:
        assert physics.ignite(physics.make_land(terrain, level.rules()), *instance.fire)
    for x, y in everything:
        assert not terrain.building[y, x]


@pytest.mark.heavy
@pytest.mark.parametrize("name", [*PRESETS, *(f"{name}@2026" for name in PRESETS)])
def test_placements_keep_the_distances(name: str) -> None:
    level = level_for(name)
    n, far = level.size, 0.25 if level.task == "both" else 0.2
    for seed in range(6):
        instance = instance_for(name, seed)
        check(instance)
        for line in instance.targets:
            reach = 0.2 if level.task == "cut_lines" else 0.15 if level.edition == "2025" else 0.1
            assert min(distances(line[len(line) // 2], instance.spawn)) > reach * n
            assert len(line) == level.trees_per_line
            assert [instance.terrain.trees[y, x] for x, y in line] == [3] * len(line)
            assert {distances(a, b) for a, b in pairwise(line)} <= {(0, 1), (1, 0)}
            assert len({c.x for c in line}) == 1 or len({c.y for c in line}) == 1
        if instance.fire:
            reach = 0.4 if level.task == "scout" else far
            assert max(distances(instance.fire, instance.spawn)) > reach * n
            if level.task != "scout":
                assert in_middle(instance.fire, 0.7 if level.task == "both" else 0.8, n)
        if level.task == "transport":
            assert instance.target
            assert min(distances(instance.target, instance.spawn)) > 0.4 * n
        if level.task == "rescue":
            assert instance.target
            assert in_middle(instance.target, 0.8, n)
            for cluster in instance.clusters:
                assert max(distances(cluster, instance.target)) > 0.3 * n
                assert max(distances(cluster, instance.spawn)) > 0.2 * n
        if level.task == "both" and not level.settlements:
            assert instance.fire
            assert all(min(distances(cluster, instance.fire)) > 0.25 * n for cluster in instance.clusters)


def test_sparse_targets_of_2026_are_kept_apart() -> None:
    for seed in range(5):
        cells = [line[0] for line in instance_for("cut_trees_sparse_large@2026", seed).targets]
        assert all(max(distances(a, b)) > 1 for k, a in enumerate(cells) for b in cells[:k])


def test_doing_nothing_scores_nothing_on_cut_levels() -> None:
    for name in PRESETS[:4]:
        instance = instance_for(name, 3)
        left = sum(int(instance.terrain.trees[y, x]) for line in instance.targets for x, y in line)
        assert left == instance.level.max_score


@pytest.mark.parametrize("name", [name for name in LEVELS if name not in PRESETS and not name.startswith("stress")])
def test_further_levels_can_be_placed(name: str) -> None:
    instance = instance_for(name, 1)
    check(instance)
    assert instance.level.full_name == name
    for event, cells in zip(instance.level.events, instance.event_cells, strict=True):
        assert len(cells) == {"civilians": 1, "fire": 1, "water": 1}.get(event.kind, 0)
        assert not set(cells) & set(placed(instance))


def test_dynamic_levels_have_the_scripts_of_a12_3() -> None:
    scripts = {name: level.events for name, level in LEVELS.items() if level.events}
    assert sorted((event.t, event.kind, event.count) for (event,) in scripts.values()) == [
        (4, "lose_drone", 1), (4, "lose_helicopter", 1), (9, "civilians", 5), (10, "water", 1), (15, "growth", 5),
        (18, "fire", 1),
    ]  # fmt: skip
    assert LEVELS["dynamic_drone_lost"].team.drones
    assert LEVELS["dynamic_helicopter_lost"].team.helicopters


def test_seeds_decide() -> None:
    def told(instance: WildfireInstance) -> tuple[object, ...]:
        return (instance.spawn, instance.targets, instance.target, instance.fire, instance.water, instance.clusters)

    for name in ("cut_trees_lines_small", "full_game@2026"):
        assert told(instance_for(name, 5)) == told(instance_for(name, 5))
        assert len({told(instance_for(name, seed)) for seed in range(5)}) == 5
    spawns = {instance_for("transport_firefighters_small", seed).spawn for seed in range(30)}
    assert len(spawns) > 25


def test_a_level_can_be_played_on_another_map() -> None:
    instance = instance_for("suppress_fire_extinguish", 0, terrain=flat(80))
    assert (instance.level.size, instance.terrain.size) == (80, 80)
    check(instance)
    assert instance.level.least_damage == 0  # a map of one's own burns as it burns
    steep = instance_for("suppress_fire_extinguish", 0, relief_m=100.0, cell_m=20.0)
    assert (steep.terrain.relief_m, steep.terrain.cell_m) == (100.0, 20.0)


def test_what_finds_no_place_gets_one_line() -> None:
    bare = flat(30, trees=1)
    with pytest.raises(UserError, match="cut_trees_sparse_small finds no place .* targets with three trees") as error:
        instance_for("cut_trees_sparse_small", 0, terrain=bare)
    assert "\n" not in str(error.value)
    stone = replace(bare, burnable=np.zeros((30, 30), np.bool_))
    with pytest.raises(UserError, match="no room for a fire"):
        instance_for("suppress_fire_contain", 0, terrain=stone)
    crowded = replace(level_for("cut_trees_lines_small"), targets=100, trees_per_line=20)
    with pytest.raises(UserError, match="no room for a line of 20 cells"):
        instance_for(crowded, 0)
    many = replace(level_for("rescue_civilians_known_location_small"), clusters=10_000)
    with pytest.raises(UserError, match="no room for clusters of civilians"):
        instance_for(many, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"team": Team()}, "needs at least one agent"),
        ({"team": Team(-1, 2)}, "firefighters must be an integer from 0"),
        ({"team": Team(drones=2)}, "needs a firefighter"),
        ({"targets": 0}, "at least one target"),
        ({"task": "cut"}, "task must be one of cut_sparse"),
        ({"edition": "2024"}, "edition must be one of 2025, 2026"),
        ({"size": 5}, "from 10 to 2,000, got 5"),
        ({"max_steps": 0}, "max_steps must be an integer from 1"),
        ({"task": "rescue"}, "needs civilians"),
        ({"task": "scout"}, "needs a drone or a helicopter"),
        ({"task": "transport", "team": Team(0, 3)}, "needs a firefighter"),
        ({"task": "rescue", "team": Team(0, 3), "clusters": 1, "per_cluster": 1}, "needs a firefighter"),
        ({"events": (Event(3, "rain"),)}, "an event needs a known kind"),  # type: ignore[arg-type]
    ],
)
def test_impossible_levels_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        replace(level_for("cut_trees_sparse_small"), **changes)  # type: ignore[arg-type]


def test_a_level_of_ones_own() -> None:
    level = Level(name="mine", task="contain", size=25, team=Team(1), max_steps=5, water=3)
    check(instance_for(level, 0))
    assert level.full_name == "mine"
