"""Scripted events: what each does, and the six dynamic levels."""

from __future__ import annotations

import numpy as np
import pytest

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import REASONS
from teamworld.worlds.wildfire.levels import LEVELS, Event, Team, instance_for
from teamworld.worlds.wildfire.physics import begin_incident, step
from teamworld.worlds.wildfire.state import (
    BOARD,
    DEAD,
    DRONE,
    FILL,
    FREE,
    GO,
    HELICOPTER,
    IGNITED,
    NOBODY,
    NOT_BURNABLE,
    WATER,
    Cell,
)
from tests.worlds.wildfire.incidents import check, do, forest_fire, same, scene
from tests.worlds.wildfire.maps import cut_trees, flat

DYNAMIC = [name for name, level in LEVELS.items() if level.events]


@pytest.mark.parametrize("kind", ["lose_drone", "lose_helicopter"])
def test_losing_agents_at_the_step_of_the_script(kind: str) -> None:
    gone = set()
    for seed in range(12):
        incident = scene(team=Team(2, 0, 4, 4), events=(Event(2, kind, 2),), seed=seed)  # type: ignore[arg-type]
        for t in range(4):
            happened = step(incident, do(incident))
            assert happened.died.sum() == (2 if t == 2 else 0)
            assert [event.kind for event in happened.events] == ([kind] if t == 2 else [])
        lost = np.flatnonzero(~incident.units.alive)
        assert (incident.units.kind[lost] == (DRONE if kind == "lose_drone" else HELICOPTER)).all()
        gone.add(tuple(lost))
    assert len(gone) > 1  # the seed decides who


def test_more_are_lost_than_there_are() -> None:
    incident = scene(team=Team(1, 0, 1), events=(Event(0, "lose_drone", 9), Event(1, "lose_drone")))
    assert step(incident, do(incident)).died.tolist() == [False, True]
    assert not step(incident, do(incident)).died.any()
    assert REASONS[step(incident, do(incident, a2=(GO, 3, 3))).reason[1]] == "gone"


def test_a_lost_helicopter_sets_down_whom_it_carries() -> None:
    incident = scene(team=Team(2, helicopters=1), events=(Event(1, "lose_helicopter"),))
    step(incident, do(incident, a3=(BOARD, 0, 0)))
    assert incident.units.aboard.tolist() == [2, 2, NOBODY]
    happened = step(incident, do(incident, a1=(GO, 10, 15)))
    check(incident)
    assert happened.died.tolist() == [False, False, True]
    assert incident.units.aboard.tolist() == [NOBODY] * 3
    assert incident.units.place(0) == (10, 15)


def test_more_civilians_come_after_those_there_are() -> None:
    incident = scene(
        team=Team(1),
        clusters=((20, 20),),
        events=(Event(1, "civilians", 3),),
        event_cells=((Cell(12, 10),),),
        civilian_every=10**6,
    )
    step(incident, do(incident))
    happened = step(incident, do(incident))
    check(incident)
    assert incident.civilians.x.tolist() == [20, 12, 12, 12]
    assert incident.civilians.state.tolist() == [FREE] * 4
    assert incident.met.tolist() == [False, True, True, True]
    assert happened.lost_civilians.tolist() == [False] * 4
    assert happened.rescued.shape == (4,)


def test_civilians_that_come_into_fire_are_lost_at_once() -> None:
    incident = forest_fire(fire=(30, 10), events=(Event(0, "civilians", 2),), event_cells=((Cell(30, 10),),))
    assert step(incident, do(incident)).lost_civilians.tolist() == [True, True]


def test_another_fire_starts_where_it_can() -> None:
    cells = (Cell(30, 30), Cell(12, 12))
    incident = forest_fire(task="contain", fire=(20, 10), events=(Event(1, "fire", 2),), event_cells=(cells,))
    step(incident, do(incident))
    cut_trees(incident.land, np.array([incident.land.cell(12, 12)]), 3)
    step(incident, do(incident))
    states = incident.land.inner(incident.land.burn)
    assert (states[30, 30], states[12, 12]) == (IGNITED, NOT_BURNABLE)
    assert incident.land.cells_burning == 2


def test_fire_under_an_agent_kills_it_before_it_acts() -> None:
    incident = forest_fire(fire=(30, 30), events=(Event(0, "fire"),), event_cells=((Cell(10, 10),),))
    happened = step(incident, do(incident, a1=(GO, 20, 10)))
    assert happened.died[0]
    assert REASONS[happened.reason[0]] == "died"  # in the fire, not out of service
    assert not happened.moved[0]
    assert incident.units.place(0) == (10, 10)


def test_water_appears_and_can_be_taken() -> None:
    incident = forest_fire(events=(Event(1, "water"),), event_cells=((Cell(10, 10),),), clusters=((30, 30),))
    assert incident.water_found.tolist() == [False]
    step(incident, do(incident, a1=(FILL, 0, 0)))
    assert incident.units.water[0] == 0
    assert incident.water_found.tolist() == [False]
    step(incident, do(incident, a1=(FILL, 0, 0)))
    assert incident.units.water[0] == 5
    assert incident.land.inner(incident.land.land)[10, 10] == WATER
    assert incident.water_found.tolist() == [True]


def test_growth_does_fire_steps_beside_the_clock_and_kills_on_its_way() -> None:
    east = flat(40, wind=(5, 0))
    incident = scene(
        team=Team(1), terrain=east, task="both", fire=(9, 10), fire_every=500, events=(Event(0, "growth", 15),),
        clusters=((12, 10),), civilian_every=10**6,
    )  # fmt: skip
    happened = step(incident, do(incident))
    assert incident.land.fire_steps == 15
    assert happened.fire_steps == 0
    assert incident.land.ticks == 100
    # Both stand on burnt-out ground by now, where nobody would die any more.
    assert happened.died[0]
    assert happened.lost_civilians.tolist() == [True]
    assert incident.civilians.state[0] == DEAD


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_levels(name: str) -> None:
    """Each changes what its name says, at its step, the same on every run; doing nothing is worth 0 or the damage."""
    incident = begin_incident(instance_for(name, 4), 4)
    (event,) = incident.level.events
    for t in range(25):
        twin = incident.copy()
        before = (incident.units.alive.sum(), len(incident.civilians), incident.land.fire_steps)
        water = int((incident.land.land == WATER).sum())
        caught = incident.land.cells_caught
        happened = step(incident, do(incident))
        step(twin, do(twin))
        assert same(incident, twin)
        assert happened.events == ((event,) if t == event.t else ())
        if t != event.t:
            continue
        match event.kind:
            case "lose_drone" | "lose_helicopter":
                assert incident.units.alive.sum() == before[0] - 1
            case "civilians":
                assert len(incident.civilians) == before[1] + 5
            case "fire":
                assert incident.land.cells_caught > caught
            case "water":
                assert (incident.land.land == WATER).sum() == water + 1
            case "growth":
                assert incident.land.fire_steps == before[2] + 5 + happened.fire_steps
    if incident.level.max_score:
        assert physics.score(incident) == (0, 0)
