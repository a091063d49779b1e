"""Rescue on foot: nobody is anywhere before out has passed, no search brings civilians sooner than the bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from teamworld.worlds.wildfire import bounds, carrying, carrying_plans, physics
from teamworld.worlds.wildfire.levels import Team, instance_for, level_for
from teamworld.worlds.wildfire.state import CARRIED, CUT, DRONE, FREE, GO_ANYWHERE, LIFT, SAFE, Cell, Incident
from teamworld.worlds.wildfire.terrain import generate
from teamworld.worlds.wildfire.walking_times import SAVED, WalkingTimes, slowness_of

LEVEL = "rescue_civilians_search_and_rescue"
Action = tuple[int, int, int]


def little(seed: int, firefighters: int, civilians: int, *, size: int = 12, drones: int = 0) -> Incident:
    """Return an invented map with woods as uneven as can be, denser with some seeds."""
    rng = np.random.default_rng(seed)
    team = Team(firefighters=firefighters, drones=drones)
    every = int(rng.choice([100, 300]))
    level = replace(level_for(LEVEL), size=size, team=team, per_cluster=civilians, civilian_every=every, max_steps=25)
    incident = physics.begin_incident(instance_for(level, seed, terrain=generate(size, seed)), seed)
    trees = incident.land.inner(incident.land.trees)
    trees[:] = rng.choice(4, trees.shape, p=[[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]][seed % 2])
    return incident


def read(incident: Incident) -> carrying.CarryTask:
    task = carrying.read_task(incident)
    assert task is not None
    return task


@pytest.mark.heavy
@pytest.mark.parametrize("firefighters", [1, 2])
@pytest.mark.parametrize("begun", range(0, 60, 12))
def test_no_search_brings_civilians_sooner(firefighters: int, begun: int) -> None:
    gaps = []
    for seed in range(begun, begun + 12):
        incident = little(seed, firefighters, civilians=1 + seed % 2 if firefighters > 1 else 1)
        task = read(incident)
        least = carrying.least_timesteps(task)
        best = search(incident, most=200 if firefighters == 1 else 12, limit=least + 2)
        planned = carrying_plans.find_plan(incident, task)
        assert least <= best
        if planned is not None:  # else a firefighter lifted whom another was to lift
            assert least <= planned
            gaps.append(planned - least)
    assert len(gaps) > 8
    assert 0 in gaps


def search(incident: Incident, most: int, limit: int) -> int:
    """Return the timesteps of the best plan that heads for a few cells, lifts and cuts; the limit if it takes more.

    After each timestep so many moments are kept, those from which least is left, as the crow flies.
    """
    rng = np.random.default_rng(0)
    target = incident.instance.target
    assert target is not None
    others = [Cell(*map(int, rng.integers(0, incident.land.size, 2))) for _ in range(2)]
    layer = {_key(incident): incident}
    for steps in range(limit):
        if any(physics.is_over(moment) for moment in layer.values()):
            return steps
        after: dict[bytes, Incident] = {}
        for moment in layer.values():
            place = Cell(int(moment.civilians.x[0]), int(moment.civilians.y[0]))
            aims = [(GO_ANYWHERE, *cell) for cell in (target, place, *others)]
            for actions in product([(LIFT, 0, 0), (CUT, 0, 0), *aims], repeat=len(moment.units)):
                new = moment.copy()
                physics.step(new, np.array(actions))
                after.setdefault(_key(new), new)
        layer = dict(sorted(after.items(), key=lambda each: _left(each[1], target))[:most])
    return limit


def _left(incident: Incident, target: Cell) -> float:
    people, units = incident.civilians, incident.units
    left = 0.0
    for x, y, state in zip(people.x, people.y, people.state, strict=True):
        left += 0.0 if state == SAFE else float(np.hypot(x - target.x, y - target.y))
        left += float(np.hypot(units.x - x, units.y - y).min()) + 10.0 if state == FREE else 0.0
        left += 5.0 if state == CARRIED else 0.0
    return left


def _key(incident: Incident) -> bytes:
    units, people = incident.units, incident.civilians
    arrays = (units.x, units.y, units.carries, people.x, people.y, people.state, incident.land.trees)
    return b"".join(array.tobytes() for array in arrays)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_is_anywhere_before_out_has_passed_whatever_is_cut(seed: int) -> None:
    incident = little(seed, firefighters=4, civilians=1, size=20)
    rng = np.random.default_rng(seed)
    start = Cell(*incident.units.place(0))
    trees = incident.land.inner(incident.land.trees).astype(np.int64)
    out = WalkingTimes(slowness_of(trees), start, 1 / 8)
    late = []
    for step in range(1, 16):
        actions = np.array(
            [[GO_ANYWHERE, *rng.integers(0, 20, 2)] if rng.random() < 0.5 else [CUT, 0, 0] for _ in range(4)]
        )
        physics.step(incident, actions)
        late += [100 * step - out.from_place(x, y) for x, y in zip(incident.units.x, incident.units.y, strict=True)]
    assert min(late) >= 0
    assert incident.land.trees_cut > 2


def test_cut_trees_shorten_no_way_by_more_than_their_price_and_what_it_is_longer() -> None:
    rng = np.random.default_rng(0)
    trees = rng.integers(0, 4, (14, 14))
    aim, start = Cell(1, 2), Cell(12, 11)
    before = WalkingTimes(slowness_of(trees), aim).from_cell(start)
    priced = WalkingTimes(slowness_of(trees, carrying.PRICE), aim).from_cell(start)
    less, cut = trees.copy(), 0
    for k in rng.permutation(14).tolist():  # on the straight way
        y, x = 2 + round(9 * k / 13), 1 + round(11 * k / 13)
        cut += int(less[y, x])
        less[y, x] = 0
        after = WalkingTimes(slowness_of(less), aim).from_cell(start)
        assert after >= max(before - SAVED * cut, priced - carrying.PRICE * cut) - 0.01 * before
    assert priced < before


def test_places_are_those_of_the_world() -> None:
    incident = little(5, firefighters=2, civilians=3)
    places = carrying.list_places(incident, 12)
    for step in range(12):
        assert places[step].T.tolist() == [incident.civilians.x.tolist(), incident.civilians.y.tolist()]
        physics.step(incident, np.zeros((2, 3), np.int64))


def test_more_firefighters_and_less_to_bring_never_take_longer() -> None:
    task = read(little(3, firefighters=2, civilians=4))
    few = carrying.least_timesteps(task)
    many = carrying.least_timesteps(task._replace(firefighters=4))
    assert carrying.least_timesteps(task._replace(lifts=task.lifts[:2])) <= few
    assert many <= few
    assert many < carrying.least_timesteps(task._replace(firefighters=1))  # it lifts all, one after the other


def test_what_has_more_to_it_is_left_to_the_other_bound() -> None:
    incident = little(0, firefighters=2, civilians=1)
    assert carrying.read_task(incident) is not None
    incident.units.x[1] += 1
    assert carrying.read_task(incident) is None
    assert carrying.read_task(little(0, firefighters=2, civilians=1, drones=1)) is not None
    cut = physics.begin_incident(instance_for("cut_trees_sparse_small", 0), 0)
    assert carrying.read_task(cut) is None


def test_firefighters_carry_alone_while_drones_wait() -> None:
    incident = little(1, firefighters=1, civilians=1, drones=1)
    bound = bounds.bound(incident)
    assert bound is not None
    assert bound.planned is not None
    assert bound.steps <= bound.planned
    assert incident.units.kind.tolist() == [0, DRONE]
    assert incident.t == 0


def test_no_plan_is_made_where_firefighters_go_twice() -> None:
    incident = little(1, firefighters=1, civilians=2)
    assert carrying_plans.find_plan(incident, read(incident)) is None
