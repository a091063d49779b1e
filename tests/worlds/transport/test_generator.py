"""Episodes of our own: the same for the same seed, whole, reachable, and like the published ones."""

from __future__ import annotations

import math
import runpy
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.transport import generator
from teamworld.worlds.transport.generator import DEV, NEAR_BED, TEST, generate_instance
from teamworld.worlds.transport.official import fingerprint
from teamworld.worlds.transport.placement import NEAR_ITEM
from teamworld.worlds.transport.rasters import BODY, build_rasters, cell_of, is_near
from teamworld.worlds.transport.scene import Capacity, Instance, Task
from teamworld.worlds.transport.starting_places import reached_from, walkable_floor

TASKS: tuple[Task, ...] = ("food", "stuff")
CAPACITIES: tuple[Capacity, ...] = ("high", "low")
instances = st.builds(
    cache(generate_instance),
    st.integers(0, 20) | st.integers(10_000, 10_020),
    st.sampled_from(TASKS),
    st.sampled_from(CAPACITIES),
    st.just(4),
)
examples = settings(max_examples=25, deadline=None)

#: Measures what episodes are like.
SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "transport_scenes.py"
#: What the published episodes are like: those of the test set and those of the training set.
PUBLISHED = {
    "targets on floor": (0.39, 0.36),
    "targets on tables": (0.38, 0.36),
    "targets on seats": (0.24, 0.28),
    "targets in Kitchen": (0.15, 0.18),
    "targets in Livingroom": (0.64, 0.64),
    "targets in Office": (0.21, 0.18),
    "containers in Kitchen": (0.20, 0.33),
    "containers in Livingroom": (0.62, 0.46),
    "containers in Office": (0.18, 0.21),
}


@pytest.mark.parametrize(
    ("seed", "task", "capacity", "name"),
    [
        (0, "food", "high", "sha256:496f884bfe96bd7d"),
        (0, "stuff", "high", "sha256:b5d9fb12f0e90f2d"),
        (17, "food", "low", "sha256:7e69e1d48ab663c3"),
        (10_000, "stuff", "low", "sha256:4a86b0caab98d93b"),
    ],
)
def test_the_same_bytes_on_every_machine(seed: int, task: Task, capacity: Capacity, name: str) -> None:
    assert fingerprint(generate_instance(seed, task, capacity)) == name


def test_nothing_depends_on_what_was_made_before() -> None:
    first = fingerprint(generate_instance(5, "food", "high"))
    generator._build.cache_clear()
    generator._fill.cache_clear()
    generate_instance(5, "stuff", "low")
    generate_instance(6, "food", "high")
    assert fingerprint(generate_instance(5, "food", "high")) == first


def test_a_seed_has_one_house() -> None:
    instances = [generate_instance(4, task, capacity) for task in TASKS for capacity in CAPACITIES]
    assert all(instance.plan is instances[0].plan for instance in instances)
    places = [[(item.id, item.name, item.x, item.z) for item in instance.items] for instance in instances]
    assert places[0] == places[2], "the task decides only what is a target"
    assert places[0] != places[1]
    assert [instance.name for instance in instances] == ["food-high-4", "food-low-4", "stuff-high-4", "stuff-low-4"]


def test_more_agents_leave_the_others_where_they_are() -> None:
    starts = [generate_instance(4, "food", "high", agents).starts for agents in (1, 2, 3, 4)]
    assert [len(places) for places in starts] == [1, 2, 3, 4]
    assert all(places == starts[3][: len(places)] for places in starts)


def test_splits_share_no_house() -> None:
    assert not set(DEV) & set(TEST)
    assert (len(DEV), len(TEST)) == (10_000, 10_000)
    plans = {str(generate_instance(seed, "food", "low").plan.walls.tolist()) for seed in (*DEV[:12], *TEST[:12])}
    assert len(plans) == 24


@pytest.mark.heavy
@examples
@given(instances)
def test_an_instance_is_whole(instance: Instance) -> None:
    plan = instance.plan
    assert len({item.id for item in instance.items}) == len(instance.items)
    assert {item.id for item in instance.items} == set(range(101, 101 + len(instance.items)))
    assert Counter(item.name for item in instance.targets) == instance.goals
    assert list(instance.goals) == sorted(instance.goals)
    assert all(plan.room_at(item.x, item.z).number == item.room for item in instance.items)
    bed = plan.furniture[instance.bed.furniture]
    assert (bed.category, bed.x, bed.z) == ("bed", instance.bed.x, instance.bed.z)
    assert plan.rooms[instance.bed.room].kind == "Bedroom"
    assert sum(piece.category == "bed" for piece in plan.furniture) == 1
    assert plan.samples is None
    made = build_rasters(plan)
    assert (made.is_blocked == instance.rasters.is_blocked).all()
    assert not plan.walls.flags.writeable
    for box in plan.room_boxes:
        assert plan.bounds.contains(box[0], box[1])
        assert plan.bounds.contains(box[2], box[3])


@pytest.mark.heavy
@examples
@given(instances)
def test_starts_are_free_and_everything_can_be_reached(instance: Instance) -> None:
    plan, rasters = instance.plan, instance.rasters
    is_free = walkable_floor(plan, rasters, instance.items)
    for start in instance.starts:
        is_reached = reached_from(rasters, is_free, start)
        assert is_reached.any()
        for item in instance.items:
            assert is_near(is_reached, rasters, item.x, item.z, NEAR_ITEM)
        assert is_near(is_reached, rasters, instance.bed.x, instance.bed.z, NEAR_BED)
        for opposite in instance.starts:
            assert is_reached[cell_of(rasters, opposite.x, opposite.z)]
        edges = (is_reached[0], is_reached[-1], is_reached[:, 0], is_reached[:, -1])
        assert not any(edge.any() for edge in edges), "one can leave the house"


@pytest.mark.heavy
@examples
@given(instances)
def test_starts_are_on_the_grid_in_distinct_rooms(instance: Instance) -> None:
    plan, bounds = instance.plan, instance.plan.bounds
    rooms = [plan.room_at(start.x, start.z) for start in instance.starts]
    assert len({room.number for room in rooms}) == 4
    for start, room in zip(instance.starts, rooms, strict=True):
        assert room.is_named
        assert room.box.contains(start.x, start.z)
        assert start.yaw == 0
        steps = ((start.x - bounds.x0) / 0.5, (start.z - bounds.z0) / 0.5)
        assert steps == pytest.approx([round(step) for step in steps], abs=1e-3)
        solid = (item for item in instance.items if item.support is None and item.size[1] > 0.12)
        assert all(math.dist(start[:2], (item.x, item.z)) >= BODY for item in solid if item.kind != "target")


@pytest.mark.heavy
def test_own_episodes_are_like_the_published_ones() -> None:
    own = [generate_instance(seed, task, capacity) for seed in range(16) for capacity in CAPACITIES for task in TASKS]
    script = runpy.run_path(str(SCRIPT))
    measured: dict[str, float] = script["lying_shares"](own)
    for name, shares in PUBLISHED.items():
        assert min(shares) - 0.12 <= measured[name] <= max(shares) + 0.12, name
    lengths: dict[str, float] = script["mean_lengths"](own[::4])
    assert 9 <= lengths["from the bed to a target"] <= 15
    assert 7 <= lengths["from the first start to a target"] <= 12
    assert 80 <= lengths["square metres to walk on"] <= 120


@pytest.mark.parametrize("seed", [-1, 1.0, True, "3", None])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(UserError, match="an integer from 0 on"):
        generate_instance(seed, "food", "high")  # type: ignore[arg-type]


@pytest.mark.parametrize("agents", [0, 5, -1, 1.5])
def test_teams_that_are_too_large_or_none(agents: object) -> None:
    with pytest.raises(UserError, match="1 to 4 agents"):
        generate_instance(0, "food", "high", agents)  # type: ignore[arg-type]


@pytest.mark.heavy
def test_every_seed_has_an_episode() -> None:
    for seed in np.linspace(0, 19_999, 15).astype(int):
        assert len(generate_instance(int(seed), "stuff", "high").items) == 30
