"""Scores, ends and counters; doing nothing in every preset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import LEVELS, PRESETS, Event, Team, instance_for, level_for
from teamworld.worlds.wildfire.physics import Score, begin_incident, step
from teamworld.worlds.wildfire.state import (
    BOARD,
    BURNT_OUT,
    CUT,
    DEAD,
    EXTINGUISHING,
    GO,
    IGNITED,
    LIFT,
    ON_FIRE,
    SAFE,
    ActionRules,
    Cell,
    rules_for,
)
from tests.worlds.wildfire.incidents import do, forest_fire, scene
from tests.worlds.wildfire.maps import cut_trees, flat

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import FireMode

FINITE = [name for name in PRESETS if level_for(name).max_score]
SUPPRESSION = [name for name in PRESETS if not level_for(name).max_score]


# Doing nothing (conformance check 8) ----------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["2025", "2026"])
@pytest.mark.parametrize("name", FINITE)
def test_doing_nothing_is_worth_nothing(name: str, edition: str) -> None:
    for seed in range(3):
        incident = begin_incident(instance_for(f"{name}@{edition}", seed), seed)
        for _ in range(incident.level.max_steps):
            assert physics.score(incident) == (0.0, 0.0)
            assert not physics.is_over(incident)
            step(incident, do(incident))
        assert physics.score(incident) == (0.0, 0.0)
        assert physics.best_score(incident.level) == LEVELS[name].max_score > 0


@pytest.mark.parametrize("mode", ["reference", "stochastic"])
@pytest.mark.parametrize("name", SUPPRESSION)
def test_doing_nothing_costs_what_the_fire_takes(name: str, mode: FireMode) -> None:
    for seed in range(2):
        incident = begin_incident(instance_for(name, seed), seed, mode)
        steps = 0
        while not physics.is_over(incident) and steps < incident.level.max_steps:
            step(incident, do(incident))
            steps += 1
        # The fire without anybody, from the specification's own parts: what is gone of the map, who stood in its way.
        land = physics.make_land(incident.instance.terrain, incident.level.rules(mode), seed=seed)
        assert incident.instance.fire is not None
        physics.ignite(land, *incident.instance.fire)
        physics.advance_fire(land, 100 * steps)
        terrain, x, y = land.terrain, *incident.instance.spawn
        trees = int(terrain.trees.sum()) - int(land.trees.sum())
        houses = int(terrain.building.sum()) - int(land.building.sum())
        team = incident.level.team
        overrun = land.inner(land.burn)[y, x] >= IGNITED
        walkers = 20 * (team.firefighters + team.bulldozers) if overrun else 0
        dead = 100 * int((incident.civilians.state == DEAD).sum())
        assert physics.score(incident) == (-(trees + 10 * houses + walkers + dead),) * 2
        assert (land.burn == incident.land.burn).all()


# Scores ---------------------------------------------------------------------------------------------------------------


def test_cut_counts_the_trees_of_the_targets() -> None:
    lines = ((Cell(10, 10), Cell(11, 10)),)
    incident = scene(team=Team(1), terrain=flat(40, trees=3), task="cut_lines", lines=lines, trees_per_line=2)
    assert physics.best_score(incident.level) == 6
    for points in (1, 2, 3):
        step(incident, do(incident, a1=(CUT, 0, 0)))
        assert physics.score(incident) == (points, points)
    incident.units.x[0] = 20
    step(incident, do(incident, a1=(CUT, 0, 0)))
    counts = physics.counters(incident)
    assert (counts.correct_cuts, counts.trees_cut) == (3, 4)
    incident.units.x[0] = 11
    for _ in range(3):
        assert not physics.is_over(incident)
        step(incident, do(incident, a1=(CUT, 0, 0)))
    assert physics.is_over(incident)  # conformance check 10: with the step that reached the best score


def test_scouts_must_be_above_what_burns_or_has_burnt() -> None:
    incident = scene(team=Team(1, 0, 2, 1), terrain=flat(40), task="scout", fire=(20, 10), fire_every=100)
    for scouts in range(2):
        incident.units.x[:] = 20
        incident.land.burn[11, 21] = IGNITED if scouts == 0 else ON_FIRE
        assert len(physics.rows_over_fire(incident)) == 3 * scouts
    for state in (EXTINGUISHING, BURNT_OUT):
        incident.land.burn[11, 21] = state
        incident.units.x[:] = (20, 20, 20, 3)
        assert len(physics.rows_over_fire(incident)) == 2  # the firefighter does not count


def test_the_best_of_scouting_is_kept() -> None:
    incident = scene(team=Team(drones=2, firefighters=1), terrain=flat(40), task="scout", fire=(20, 10), seed=1)
    step(incident, do(incident, a2=(GO, 20, 10), a3=(GO, 5, 5)))
    assert physics.score(incident) == (1, 1)
    assert not physics.is_over(incident)
    step(incident, do(incident, a2=(GO, 5, 5)))
    assert physics.score(incident) == (1, 1)
    step(incident, do(incident, a2=(GO, 20, 10), a3=(GO, 20, 10)))
    assert physics.score(incident) == (2, 2)
    assert physics.is_over(incident)


@pytest.mark.parametrize(("riders_count", "points"), [(False, 1), (True, 2)])
def test_transport_counts_who_is_on_the_ground(riders_count: bool, points: int) -> None:
    incident = scene(
        team=Team(4, helicopters=1), task="transport", target=(20, 20), rules=ActionRules(riders_count=riders_count)
    )
    assert physics.best_score(incident.level) == 4
    incident.units.x[:] = (20, 23, 24, 17, 20)
    incident.units.y[:] = (20, 17, 20, 24, 20)
    assert physics.count_transported(incident) == 2  # 3 cells away counts, 4 do not, in x or in y
    step(incident, do(incident, a5=(BOARD, 0, 0)))
    assert incident.units.aboard.tolist()[:2] == [4, -1]
    assert physics.score(incident) == (points, points)
    incident.units.alive[1] = False
    assert physics.count_transported(incident) == points - 1


def test_damage_is_weighted_and_cut_trees_are_charged_in_one_score_only() -> None:
    incident = scene(team=Team(3, 2, 1, 1), terrain=flat(40, trees=3), task="both", clusters=((5, 5), (6, 6)))
    assert physics.score(incident) == Score(0.0, 0.0)
    assert str(physics.score(incident).burnt) == "0.0"
    incident.units.alive[:] = (False, True, False, False, True, False, False)
    incident.civilians.state[:] = (DEAD, SAFE)
    cut_trees(incident.land, np.array([incident.land.cell(3, 3)]), 2)
    incident.land.building[8, 8] = True
    physics.ignite(incident.land, 7, 7)
    physics.step_fire(incident.land)
    expected = -(3 + 10 * 1 + 100 * 1 + 20 * 2 + 20 * 1)
    assert physics.score(incident) == (expected - 2, expected)
    assert physics.best_score(incident.level) == 0


# Ends -----------------------------------------------------------------------------------------------------------------


def test_contain_ends_when_nothing_burns() -> None:
    incident = scene(team=Team(1), terrain=flat(40), task="contain", fire=(20, 10), fire_every=100)
    assert not physics.is_over(incident)
    step(incident, do(incident))
    assert not physics.is_over(incident)  # on fire
    step(incident, do(incident))
    assert incident.land.cells_in(EXTINGUISHING) == 1
    assert physics.is_over(incident)  # smouldering is over


def test_a_fire_still_to_come_keeps_it_going() -> None:
    events, cells = (Event(3, "fire"),), ((Cell(30, 30),),)
    incident = forest_fire(task="contain", fire=(20, 10), fire_every=100, events=events, event_cells=cells)
    ends = []
    for _ in range(7):
        step(incident, do(incident))
        ends.append(physics.is_over(incident))
    assert ends == [False, False, False, False, True, True, True]


def test_rescue_ends_when_all_are_safe_those_of_the_script_included() -> None:
    level = replace(level_for("dynamic_more_civilians"), size=40)
    assert physics.best_score(level) == 10
    incident = scene(team=Team(1), target=(10, 10), clusters=((10, 10), (11, 10)), civilian_every=1000)
    for done in (0, 1):
        assert not physics.is_over(incident)
        step(incident, do(incident, a1=(LIFT, 0, 0)))
        assert physics.score(incident).reference == done
        step(incident, do(incident, a1=(LIFT, 0, 0)))
    assert physics.is_over(incident)


# Counters -------------------------------------------------------------------------------------------------------------


def test_what_was_in_sight() -> None:
    incident = forest_fire(
        team=Team(1, drones=1), terrain=flat(60, trees=0), fire=(40, 10), clusters=((16, 10), (30, 10), (10, 26)),
        water=((5, 10), (50, 50)), civilian_every=10**6,
    )  # fmt: skip
    counts = physics.counters(incident, explored=961)
    # The drone sees 15 cells to each side: the first civilian (6), not the second (20) or third (16).
    assert (counts.explored, counts.civilians_scouted, counts.water_scouted, counts.fire_scouts) == (961, 1, 1, 0)
    step(incident, do(incident, a2=(GO, 30, 10)))
    assert physics.counters(incident).civilians_scouted == 2
    assert physics.counters(incident).fire_scouts == 1
    step(incident, do(incident, a2=(GO, 10, 10)))
    counts = physics.counters(incident)
    assert (counts.civilians_scouted, counts.fire_scouts, counts.explored) == (2, 0, None)
    assert len(counts) == 13


def test_counters_of_losses() -> None:
    incident = scene(team=Team(2, 1, 1), terrain=flat(40, trees=2), task="both", fire=(20, 20), clusters=((5, 5),))
    incident.units.alive[1:] = (False, False, True)
    incident.civilians.state[0] = DEAD
    step(incident, do(incident))
    counts = physics.counters(incident)
    assert (counts.agents_destroyed, counts.civilians_destroyed, counts.trees_burnt) == (2, 1, 2)


def test_rules_of_the_editions() -> None:
    assert rules_for("2025") == ActionRules()
    assert rules_for("2026") == ActionRules(pick_up=4.0, refill=3, rescue_reach=4)
    assert begin_incident(instance_for("full_game@2026", 0), 0).rules == rules_for("2026")
