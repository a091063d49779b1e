"""What agents see: their room, and nothing of others or of closed containers; in visual mode, what is ahead."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.seeding import generator
from teamworld.worlds.household import physics, sight, sightlines
from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.home import Door, Episode, Home, NodeId, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.physics import PrimitiveAction
from teamworld.worlds.household.state import Rules, State
from tests.worlds.household import homes
from tests.worlds.household.data import episodes, needs_data
from tests.worlds.household.homes import APPLE, CABINET, COFFEE, CUPCAKE, FRIDGE, KITCHEN, LIVING, PLATE, STOVE, TABLE

FLAT = homes.flat()
FLOOR = Floor(FLAT)
TEA = homes.tea(FLAT)


def begin(*points: Point, sees: str = "cone") -> State:
    """Return the start with agents at given places."""
    at = dict(enumerate(points, 1))
    rules = Rules(sight="cone" if sees == "cone" else "room")
    return physics.start(TEA, FLOOR, generator(0, "test"), agents=len(points), rules=rules, at=at)


def reason(state: State, act: PrimitiveAction) -> str:
    """Make one step of agent 1; return why it did nothing."""
    return physics.step(state, {1: act}, generator(0, "step")).done[1].reason


def test_an_agent_sees_its_room_all_rooms_and_who_is_there_with_what_they_hold() -> None:
    state = begin(Point(0.0, -0.7), Point(0.4, -0.7), Point(6.0, 0.5), sees="room")
    assert {1, 2, KITCHEN, LIVING, FRIDGE, TABLE, PLATE, CUPCAKE} <= sight.seen(state, 1)
    assert not {3, APPLE, CABINET, COFFEE} & sight.seen(state, 1)
    state.grab(2, CUPCAKE)
    assert CUPCAKE in sight.seen(state, 1)
    state.put(2, Point(6.5, 0.5))
    assert not {2, CUPCAKE} & sight.seen(state, 1)
    assert {2, 3, CUPCAKE} <= sight.seen(state, 3)


def test_headings_are_degrees_from_z_to_x() -> None:
    here = Point(1.0, 1.0)
    assert [sight.heading(here, *to) for to in ((1, 2), (2, 1), (1, 0), (0, 1), (2, 2), (1, 1))] == [
        0.0, 90.0, 180.0, 270.0, 45.0, None,
    ]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(x=st.integers(-250, 850), z=st.integers(-200, 200), heading=st.integers(0, 359))
def test_the_cone_is_what_a_product_of_directions_says(x: int, z: int, heading: int) -> None:
    state = begin(Point(x / 100, z / 100), Point(1.0, 1.0))
    state.headings[1] = float(heading)
    look = math.sin(math.radians(heading)), math.cos(math.radians(heading))
    found = sight.cone(state, 1)
    assert {1, KITCHEN, LIVING} <= found
    for node in (*state.watched, 2):
        box = state.box(node)
        to = box.x - x / 100, box.z - z / 100
        along = (look[0] * to[0] + look[1] * to[1]) / (math.hypot(*to) or 1.0)
        limit = math.cos(math.radians(sightlines.HALF_VIEW))
        if abs(along - limit) > 1e-3 and node in sight.seen(state, 1):
            assert (node in found) == (along > limit or to == (0.0, 0.0))


def doors_between(home: Home, start: NodeId, end: NodeId) -> list[Door]:
    """Return the doors on the shortest way."""
    ways = [(start, list[Door]())]
    for room, way in ways:  # which grows
        if room == end:
            return way
        ways += [(other, [*way, door]) for door in home.doors if room in door.rooms and door not in way
                 for other in door.rooms if other != room]  # fmt: skip
    raise AssertionError


def apart(first: Point, other: Point, third: Point, fourth: Point) -> bool:
    """Whether two places lie on the same side of the line through two others."""
    sides = [(other.x - first.x) * (p.z - first.z) - (other.z - first.z) * (p.x - first.x) for p in (third, fourth)]
    return (sides[0] > 0) == (sides[1] > 0)


def clear(state: State, at: Point, to: tuple[float, float, float], way: list[Door], around: set[NodeId]) -> bool:
    """Whether a line from the eyes passes all doorways, leaves and furniture that the thing is not in or on."""
    home, end = state.home, Point(to[0], to[2])
    for door in way:
        for off in (-sightlines.WALL / 2, sightlines.WALL / 2):
            wall = (door.x if door.across_x else door.z) + off
            (start, aside), (stop, beside) = (p if door.across_x else (p.z, p.x) for p in (at, end))
            if (start < wall) != (stop < wall):
                along = aside + (beside - aside) * (wall - start) / (stop - start)
                if abs(along - (door.z if door.across_x else door.x)) > door.width / 2:
                    return False
        if door.id in home.leaves:
            x, z, other_x, other_z = home.leaves[door.id]
            leaf = Point(x, z), Point(other_x, other_z)
            if not apart(at, end, *leaf) and not apart(*leaf, at, end):
                return False
    rooms = {room for door in way for room in door.rooms}
    for piece in home.nodes.values():
        if piece.category not in ("Furniture", "Appliances") or piece.grabbable or piece.name.startswith("curtain"):
            continue
        if piece.id in around or home.room[piece.id] not in rooms:
            continue
        box, times = piece.box, (0.0, 1.0)
        low, high = box.y - box.height / 2, box.y + box.height / 2
        high = high if high >= 1.5 else low + sightlines.SOLID * box.height
        spans = (
            (box.x - box.width / 2, box.x + box.width / 2),
            (low, high),
            (box.z - box.depth / 2, box.z + box.depth / 2),
        )
        for begin, finish, (least, most) in zip((at.x, sightlines.EYES, at.z), to, spans, strict=True):
            length = finish - begin or 1e-9
            ends = sorted(((least - begin) / length, (most - begin) / length))
            times = max(times[0], ends[0]), min(times[1], ends[1])
        if 0 < times[0] < 0.999 and times[0] < times[1] - 1e-6:
            return False
    return True


def in_picture(state: State, node: NodeId) -> bool:
    """Whether agent 1 sees enough of what is in another room, point by point."""
    at, box, around, place = state.points[1], state.reached_box(node), {node}, state.place(node)
    way = doors_between(state.home, state.rooms[1], state.room(node))
    while place is not None:
        around.add(place[1])
        place = state.place(place[1])
    look = math.radians(state.headings[1])
    seen = 0
    for i, j, k in itertools.product((-0.5, 0.0, 0.5), repeat=3):
        to = box.x + i * box.width, box.y + k * box.height, box.z + j * box.depth
        ahead = (math.atan2(to[0] - at.x, to[2] - at.z) - look + math.pi) % (2 * math.pi) - math.pi
        seen += abs(ahead) <= math.radians(sightlines.HALF_VIEW) and clear(state, at, to, way, around)
    off = abs(box.x - at.x), abs(box.y - sightlines.EYES), abs(box.z - at.z)
    faces = off[0] * box.height * box.depth + off[1] * box.width * box.depth + off[2] * box.width * box.height
    pixels = (128 / math.tan(math.radians(30))) ** 2 * faces / math.hypot(*off) ** 3
    return pixels * seen / 27 >= sightlines.PIXELS


@pytest.mark.parametrize("number", [-1, 0, 3])
def test_into_other_rooms_one_sees_what_a_plain_reference_says(number: int) -> None:
    task = TEA if number < 0 else home_generator.episode(number)
    rng = np.random.default_rng(number + 1)
    leaves = {door.id: (door.x - 0.1, door.z - 0.4, door.x + 0.3, door.z + 0.1) for door in task.home.doors[:1]}
    home = replace(task.home, leaves=leaves)
    state = physics.start(
        replace(task, home=home), Floor(home), generator(0, "test"), agents=2, rules=Rules(sight="cone")
    )
    seen = hidden = 0
    for turn in range(120):
        for agent in (1, 2):
            state.put(agent, state.floor.random(home.rooms[int(rng.integers(len(home.rooms)))], rng))
        if turn % 20 == 10:
            state.open(home.searched[turn // 20 % len(home.searched)])
            things = [node for node in sorted(state.watched) if home.nodes[node].grabbable and not state.closed(node)]
            if state.holder:
                state.release(min(state.holder), ("ON", task.needs[0].target))
            else:
                state.grab(2, things[0])
        door = home.doors[int(rng.integers(len(home.doors)))]
        ahead = sight.heading(state.points[1], door.x, door.z) or 0.0
        state.headings[1] = (ahead + float(rng.uniform(-40, 40))) % 360
        found = sight.cone(state, 1)
        for node in (2, *sorted(state.watched)):
            if state.room(node) != state.rooms[1] and node not in state.holder and not state.closed(node):
                assert (node in found) == in_picture(state, node), (turn, node)
                seen, hidden = seen + (node in found), hidden + (node not in found)
        assert all((thing in found) == (2 in found) for thing in state.hands[2].things)
    assert seen > 5
    assert hidden > 100


def test_one_looks_into_open_containers_that_one_stands_before() -> None:
    nodes = {**FLAT.nodes, APPLE: FLAT.nodes[APPLE]._replace(box=FLAT.nodes[APPLE].box.moved(-2.4, 0.9, 1.0))}
    state = physics.start(replace(TEA, home=replace(FLAT, nodes=nodes)), FLOOR, generator(0, "test"), agents=1,
                          rules=Rules(sight="cone"), at={1: Point(-1.6, 2.0)})  # fmt: skip
    state.headings[1] = 300.0  # the fridge is 30 degrees to the left, the apple in it 81
    assert FRIDGE in sight.cone(state, 1)
    assert APPLE not in sight.cone(state, 1)
    state.open(FRIDGE)
    assert APPLE in sight.cone(state, 1)
    state.headings[1] = 310.0
    assert not {FRIDGE, APPLE} & sight.cone(state, 1)


@settings(max_examples=60, deadline=None)
@given(x=st.integers(-250, 850), z=st.integers(-200, 200), heading=st.integers(0, 359))
def test_twelve_turns_show_all_of_the_room_each_thing_two_or_three_times(x: int, z: int, heading: int) -> None:
    state = begin(Point(x / 100, z / 100))
    state.headings[1] = float(heading)
    times: dict[NodeId, int] = {}
    for _ in range(12):
        for node in sight.view(state, 1) & state.watched & sight.seen(state, 1):
            times[node] = times.get(node, 0) + 1
        assert reason(state, PrimitiveAction("turnleft")) == ""
    assert state.headings[1] == heading
    assert times.keys() == sight.seen(state, 1) & state.watched
    assert set(times.values()) <= {2, 3}, "as in the recorded scans (A8)"


def test_in_visual_mode_one_handles_what_is_ahead_and_faces_what_one_goes_to() -> None:
    state = begin(Point(-1.0, 1.9))
    state.headings[1] = 90.0
    assert FRIDGE not in sight.view(state, 1)
    assert reason(state, PrimitiveAction("open", FRIDGE)) == "unseen"
    assert reason(state, PrimitiveAction("walktowards", FRIDGE)) == "unseen", "never seen so far"
    for _ in range(6):
        reason(state, PrimitiveAction("turnleft"))
    assert state.headings[1] == 270.0
    assert FRIDGE in sight.view(state, 1)
    assert reason(state, PrimitiveAction("open", FRIDGE)) == ""
    assert APPLE in sight.view(state, 1), "the step turns to what it handles"
    assert reason(state, PrimitiveAction("walktowards", LIVING)) == ""
    assert not {APPLE, FRIDGE} & sight.view(state, 1)
    assert reason(state, PrimitiveAction("walktowards", FRIDGE)) == "", "seen before"


def test_a_walk_that_has_ended_turns_to_its_target() -> None:
    state = begin(Point(0.0, 1.0))
    for _ in range(12):
        reason(state, PrimitiveAction("turnleft"))
    for _ in range(4):
        assert reason(state, PrimitiveAction("walktowards", STOVE)) == ""
    assert STOVE in sight.view(state, 1)


def hidden_slowly(state: State, agent: NodeId, node: NodeId) -> bool | None:
    """Go along the line from the eyes to the middle of a box in 4,000 steps; None where it grazes a piece."""
    home, at, box = state.home, state.points[agent], state.box(node)
    eyes, middle = np.array([at.x, 1.8, at.z]), np.array([box.x, box.y, box.z])
    points = eyes + np.linspace(0.0, 1.0, 4001)[:, None] * (middle - eyes)
    holders, place = {node}, state.place(node)
    while place is not None:
        holders.add(place[1])
        place = state.place(place[1])
    inside, close = False, False
    for piece in home.nodes.values():
        top = piece.box.y + piece.box.height / 2
        tall = piece.category in ("Furniture", "Appliances") and not piece.grabbable and top >= 1.5
        if not tall or home.room[piece.id] != state.rooms[agent] or piece.id in holders:
            continue
        away = abs(points - np.array(piece.box[:3])) - np.array(piece.box[3:]) / 2
        if (away[-1] <= 0).all():
            continue  # it holds the middle
        depth = -away.max(axis=1).min()
        inside, close = inside or depth > 0, close or abs(depth) < 5e-3
    return None if close else inside and not state.close(agent, node)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 3), cell=st.integers(0, 10**6), heading=st.integers(0, 359))
def test_tall_furniture_hides_what_is_behind_it(seed: int, cell: int, heading: int) -> None:
    episode, floor = homes_with_floors()[seed]
    state = physics.start(episode, floor, generator(cell, "test"), rules=Rules(sight="cone", occlusion=True))
    state.headings[1] = float(heading)
    found = sight.cone(state, 1)
    open_plan = sight.cone(replaced(state, Rules(sight="cone")), 1)
    assert found <= open_plan
    for node in open_plan & state.watched:
        slow = hidden_slowly(state, 1, node)
        assert slow is None or (node in found) != slow


@cache
def homes_with_floors() -> list[tuple[Episode, Floor]]:
    found = [home_generator.episode(seed) for seed in range(4)]
    return [(episode, Floor(episode.home)) for episode in found]


def replaced(state: State, rules: Rules) -> State:
    other = state.copy()
    other.rules = rules
    return other


def test_a_closet_hides_a_thing_until_one_is_close_or_looks_past_it() -> None:
    nodes = {**FLAT.nodes, 50: homes.node(50, "closet", "Furniture", "", (1.0, 1.0, 0.5, 0.6, 2.0, 0.6))}
    home = replace(FLAT, nodes=nodes, parent={**FLAT.parent, 50: ("INSIDE", KITCHEN)}, room={**FLAT.room, 50: KITCHEN})
    assert home.tall == {KITCHEN: (FRIDGE, 50), LIVING: (homes.SHELF,)}
    episode = homes.tea(replace(home, parent={**home.parent, CUPCAKE: ("INSIDE", KITCHEN)}))

    def sees(x: float, z: float, *, occlusion: bool = True, thing: Point = Point(1.0, 2.0)) -> bool:  # noqa: B008
        cake = episode.home.nodes[CUPCAKE]
        nodes = {**episode.home.nodes, CUPCAKE: cake._replace(box=cake.box.moved(thing.x, 0.05, thing.z))}
        there = replace(episode, home=replace(episode.home, nodes=nodes))
        rules = Rules(sight="cone", occlusion=occlusion)
        state = physics.start(there, FLOOR, generator(0, "test"), agents=1, rules=rules, at={1: Point(x, z)})
        return CUPCAKE in sight.view(state, 1)

    assert not sees(1.0, -2.0)
    assert sees(1.0, -2.0, occlusion=False)
    assert sees(0.0, -2.0, thing=Point(-0.2, 2.0)), "past it"
    assert not sees(1.0, -0.2, thing=Point(1.0, 1.6)), "across it"
    assert sees(1.0, -0.2, thing=Point(1.0, 1.0)), "close enough to lean round it"
    assert sees(1.0, -2.0, thing=Point(1.0, 0.6)), "in it"


@needs_data
@pytest.mark.parametrize("task", [0, 5])
def test_the_view_of_a_real_home_hides_containers_and_other_rooms(task: int) -> None:
    episode = episodes()[task]
    home = episode.home
    state = physics.start(episode, Floor(home), generator(1, "start"), agents=4)
    for agent, room in state.rooms.items():
        for node in sight.seen(state, agent) - {*home.rooms, *state.points}:
            assert home.room[node] == room
            relation, parent = home.parent[node]
            assert relation == "ON" or parent in home.rooms or parent in home.opened
