"""Where items lie in houses of our own: the rules of the benchmark's generator."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.worlds.transport import placement
from teamworld.worlds.transport.generator import generate_instance
from teamworld.worlds.transport.placement import ITEM_MODELS, ON_FLOOR, ON_FURNITURE
from teamworld.worlds.transport.scene import CONTAINERS, TARGETS, Capacity, Instance, Item, rest_height
from tests.worlds.transport import slow_rasters

capacities: st.SearchStrategy[Capacity] = st.sampled_from(("high", "low"))
instances = st.builds(cache(generate_instance), st.integers(0, 20), st.sampled_from(("food", "stuff")), capacities)
examples = settings(max_examples=25, deadline=None)
pytestmark = pytest.mark.heavy


def family(item: Item) -> int:
    return TARGETS[item.task].index(item.name) // 3


@examples
@given(instances)
def test_how_many_there_are(instance: Instance) -> None:
    containers = {"high": 5, "low": 2}[instance.capacity]
    assert len(instance.targets) == 10
    assert len(instance.containers) == containers
    others = [item for item in instance.items if item.kind == "unrelated"]
    assert Counter(item.is_container for item in others) == {False: 10, True: containers}
    for item in instance.items:
        assert (item.kind == "unrelated") == (item.task != instance.task)
        assert item.name in (CONTAINERS if item.is_container else TARGETS)[item.task]
        assert (item.model, item.size) == ITEM_MODELS[item.name]
    families = Counter((item.task, family(item)) for item in instance.items if not item.is_container)
    assert all(4 <= count <= 6 for count in families.values())
    on_furniture = Counter(
        (item.task, family(item)) for item in instance.items if not item.is_container and item.support is not None
    )
    assert all(count <= 4 for count in on_furniture.values())


@examples
@given(instances)
def test_what_lies_on_furniture(instance: Instance) -> None:
    plan = instance.plan
    lying: Counter[int] = Counter()
    for item in instance.items:
        if item.support is None:
            continue
        piece = plan.furniture[item.support]
        room = plan.room_at(piece.x, piece.z)
        assert item.name in ON_FURNITURE[room.kind, piece.category].names
        assert item.room == room.number
        assert item.y == rest_height(piece)
        assert slow_rasters.is_inside(piece.corners, item.x, item.z)
        shares = spot(piece.corners, item)
        assert all(0.2 <= share <= 0.3 or 0.8 <= share <= 0.9 for share in shares), shares
        lying[item.support] += 1
    for index, count in lying.items():
        assert count <= {"table": 2, "chair": 1, "sofa": 1}[plan.furniture[index].category]


def spot(corners: tuple[tuple[float, float], ...], item: Item) -> list[float]:
    """Return how far along the two sides of a top something lies, to a hundredth."""
    origin = np.array(corners[0])
    sides = np.array([np.array(corners[1]) - origin, np.array(corners[3]) - origin])
    shares = (sides @ (np.array((item.x, item.z)) - origin)) / (sides**2).sum(axis=1)
    return [round(float(share), 2) for share in shares]


@examples
@given(instances)
def test_what_lies_on_the_floor(instance: Instance) -> None:
    plan, bounds = instance.plan, instance.plan.bounds
    floor = [item for item in instance.items if item.support is None]
    for item in floor:
        room = plan.rooms[item.room]
        assert room.box.contains(item.x, item.z)
        assert item.task in ON_FLOOR[room.kind]
        assert item.y == 0.0
        steps = ((item.x - bounds.x0) / 0.25, (item.z - bounds.z0) / 0.25)
        assert steps == pytest.approx([round(step) for step in steps], abs=1e-3)
        clearance = 0.65 if item.is_container else 0.5
        assert slow_rasters.wall_distance(plan.walls.tolist(), item.x, item.z) >= clearance - 0.05
        for index, piece in enumerate(plan.furniture):
            if piece.top > 0.12:
                gap = slow_rasters.distance_to_outline(piece.corners, item.x, item.z)
                assert gap >= clearance - 0.08, (item, index, piece)
    for first, other in combinations(floor, 2):
        least = 0.65 if first.is_container or other.is_container else 0.5
        assert math.dist((first.x, first.z), (other.x, other.z)) >= least


@examples
@given(instances)
def test_where_containers_lie(instance: Instance) -> None:
    rooms = {
        task: {item.room for item in instance.items if item.is_container and item.task == task}
        for task in ("food", "stuff")
    }
    assert not rooms["food"] & rooms["stuff"], "a room holds containers of one task only"
    for task, numbers in rooms.items():
        kinds = Counter(instance.plan.rooms[number].kind for number in numbers)
        assert set(kinds) <= set(placement.CONTAINER_ROOMS[task])  # type: ignore[index]
        assert all(count == 1 for count in kinds.values())
        assert len(numbers) <= {"high": 2, "low": 1}[instance.capacity]
    assert all(item.support is None for item in instance.items if item.is_container)
