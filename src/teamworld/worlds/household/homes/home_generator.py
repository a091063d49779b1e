"""Homes and episodes of our own, by seed: the package needs no data to play.

A home has four rooms, a chain or a star, or three to six, with furniture along walls that one can walk round, and
everyday things. An episode takes a task, lays what it may ask for in and on the furniture as a rule of placement says,
asks for some of that, and draws the start rooms.

Seeds are published as two ranges. Tune on ``DEV`` only; ``TEST`` is for what is reported. The two never share a home.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
from teamworld.worlds.household.homes.floor_plan import NUMBERS, Blocked, Opening, Rect, draw_labels, kind_of, rooms
from teamworld.worlds.household.homes.furnishing import (
    EVERYDAY,
    FURNITURE,
    GOAL_ROOMS,
    ROOMS,
    TASKS,
    THINGS,
    Kind,
    Task,
)
from teamworld.worlds.household.homes.furniture_layout import Piece, furnished, inside
from teamworld.worlds.household.homes.home import (
    MOST_AGENTS,
    Box,
    Door,
    Episode,
    Home,
    Need,
    Node,
    NodeId,
    Point,
    Relation,
    close,
)
from teamworld.worlds.household.homes.placement import (
    ASKED,
    HOLDERS,
    PLACEMENTS,
    Place,
    Placement,
    Rule,
    draw_place,
)
from teamworld.worlds.household.pathfinding import Floor

#: Seeds of homes and episodes to tune on.
DEV: Final = range(0, 10_000)
#: Seeds of homes and episodes to report; look at no other result before.
TEST: Final = range(10_000, 20_000)

#: Things that a goal asks for, at least and at most.
UNITS: Final = (3, 5)
#: Tries before giving up. In 1,000 seeds no home took more than a few.
ATTEMPTS: Final = 200

_CORNERS: Final = ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))


def home(seed: int, number: int = 4) -> Home:
    """Return a home of so many rooms; equal for equal arguments on every machine.

    Raises:
        UserError: The seed is not an integer from 0 on, or there is no such number of rooms.
    """
    _check_seed(seed)
    if number not in NUMBERS:
        raise UserError(f"a household has {NUMBERS[0]} to {NUMBERS[-1]} rooms, got {brief(number)}")
    size = () if number == 4 else (number,)  # streams of the homes of four are older than other numbers
    labels = draw_labels(number, generator(seed, "household", "rooms", number))
    for attempt in range(ATTEMPTS):
        rng = generator(seed, "household", "home", attempt, *size)
        try:
            rects, doors = rooms(labels, rng)
            order = (label for kind in ROOMS for label in rects if kind_of(label) == kind)
            pieces = {label: furnished(label, rects[label], doors, rng) for label in order}
        except Blocked:
            continue
        base = _built("-".join(("home", *map(str, (seed, *size)))), rects, doors, pieces)
        if _walkable(base):
            return _stocked(base, rng)
    raise RuntimeError(f"no home for seed {seed} in {ATTEMPTS} tries")


def episode(
    seed: int, task: str | None = None, home: Home | None = None, *, placement: Rule = "uniform", number: int = 4
) -> Episode:
    """Return an episode; equal for equal arguments on every machine.

    Args:
        seed: Decides everything that is drawn.
        task: One of ``TASKS``; by default the five take turns with the seed.
        home: Where to play, for example an apartment of the official set. What the task may ask for is taken away
            there, with what lies on it, and laid out anew. By default the home of the seed.
        placement: The rule by which things are laid out.
        number: Of the rooms of the home of the seed.

    Raises:
        UserError: There is no such task or number of rooms, the seed is no integer from 0 on, or the home lacks the
            furniture.
    """
    _check_seed(seed)
    name = tuple(TASKS)[seed % len(TASKS)] if task is None else task
    if name not in TASKS:
        raise UserError(f"there is no household task {brief(name)}{suggest(str(name), list(TASKS))}")
    asked, rule = TASKS[name], PLACEMENTS[placement]
    base = _home(seed, number) if home is None else home
    goal = _goal(base, name, asked)
    gone, needed = (asked.names, ASKED) if placement == "uniform" else (ASKED, asked.names)
    cleared, holders = _without(base, gone), [node for node in base.nodes.values() if node.name in HOLDERS[placement]]
    if home is not None:
        floor = Floor(home)
        holders = [node for node in holders if _in_reach(floor, node.box)]
    stream = (name,) if placement == "uniform" else (name, placement)
    for attempt in range(ATTEMPTS):
        rng = generator(seed, "household", "episode", *stream, attempt)
        wanted, counts = _drawn(asked, rule, rng)
        filled = _scattered(cleared, holders, goal.id, wanted, asked.names, needed, rng)
        if filled is not None and rule.uncounted is not None:
            names = dict.fromkeys(name for name, _ in wanted if name in asked.names)
            counts = _counted(filled, rule, names, len(counts), rng)
        if filled is not None and sum(counts.values()) >= UNITS[0]:
            needs = tuple(Need(asked.relation, thing, goal.id, count) for thing, count in counts.items())
            first, second = (base.rooms[i] for i in rng.permutation(len(base.rooms))[:2])
            title = f"{asked.short}-{seed}" if home is None else f"{home.name}-{asked.short}-{seed}"
            return Episode(title, name, filled, needs, (first, second), placement=placement)
    raise UserError(f"{base.name} has no room for the things of task {name}: take another home")


_home = home  # ``episode`` has a parameter of that name


def _check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"a household seed is an integer from 0 on, got {brief(seed)}")


def _goal(base: Home, name: str, asked: Task) -> Node:
    """Return the furniture of the goal."""
    room = GOAL_ROOMS[asked.target]
    for node in base.nodes.values():
        if node.name == asked.target and base.nodes[base.room[node.id]].name == room:
            break
    else:
        raise UserError(
            f"task {name} needs a {asked.target} in the {room}, but {base.name} has none: take another home"
        )
    if len(base.rooms) < 2:
        raise UserError(f"an episode starts in two rooms, but {base.name} has {len(base.rooms)}: take another home")
    return node


# The home.


def _walkable(base: Home) -> bool:
    """Whether one can walk through every door, and to every piece that one may have to handle."""
    floor = Floor(base)
    through = (floor.middle(floor.cell(door.x, door.z)) for door in base.doors)
    if any(abs(at.x - door.x) + abs(at.z - door.z) > 0.2 for at, door in zip(through, base.doors, strict=True)):
        return False
    return all(_in_reach(floor, node.box) for node in base.nodes.values() if node.surface or node.container)


def _in_reach(floor: Floor, box: Box) -> bool:
    """Whether what lies in the middle or at the corners of a piece is CLOSE where walks to it end."""
    for i, j in _CORNERS:
        thing = Box(box.x + i * box.width / 2, box.y, box.z + j * box.depth / 2, 0.0, 0.0, 0.0)
        if not floor.reach(Point(thing.x, thing.z), thing):
            return False
        x, z = floor.end(thing)
        if not close(Box(x, 0.9, z, 0.8, 1.8, 0.8), thing):
            return False
    return True


def _box(rect: Rect, bottom: int, top: int) -> Box:
    """Return a box in metres."""
    middle = ((rect.x0 + rect.x1) / 200, (bottom + top) / 200, (rect.z0 + rect.z1) / 200)
    return Box(*middle, (rect.x1 - rect.x0) / 100, (top - bottom) / 100, (rect.z1 - rect.z0) / 100)


def _built(
    name: str, rects: Mapping[str, Rect], doors: Sequence[Opening], pieces: Mapping[str, Sequence[Piece]]
) -> Home:
    """Give everything its id: each room, its doors, its furniture."""
    nodes: dict[NodeId, Node] = {}
    parent: dict[NodeId, tuple[Relation, NodeId]] = {}
    room: dict[NodeId, NodeId] = {}
    ids = {}
    at: dict[Opening, NodeId] = {}

    def add(label: str, category: str, properties: frozenset[str], box: Box, place: NodeId | None) -> NodeId:
        number = len(nodes) + MOST_AGENTS + 1
        nodes[number] = Node(number, label, category, properties, box)
        room[number] = number if place is None else place
        return number

    for label in rects:
        # Rooms' boxes reach half a metre into each other at walls, as those of the engine do.
        ids[label] = add(kind_of(label), "Rooms", frozenset(), _box(rects[label].grown(25), -20, 280), None)
        for door in (door for door in doors if label in door.rooms and door not in at):
            frame = Rect(door.x, door.z, door.x, door.z).grown(46)
            at[door] = add("door", "Doors", frozenset({"CAN_OPEN"}), _box(frame, 0, 100), ids[label])
            parent[at[door]] = ("INSIDE", ids[label])
        numbers: list[NodeId] = []
        for piece in pieces[label]:
            kind = FURNITURE[piece.name]
            box = _box(piece.rect, piece.bottom, piece.top)
            numbers.append(add(piece.name, kind.category, kind.properties, box, ids[label]))
            parent[numbers[-1]] = ("INSIDE", ids[label]) if piece.on is None else ("ON", numbers[piece.on])
    ways = tuple(
        Door(number, (ids[door.rooms[0]], ids[door.rooms[1]]), door.x / 100, door.z / 100, door.across_x)
        for door, number in at.items()
    )
    return Home(name, nodes, tuple(sorted(ids.values())), ways, parent, room, frozenset(at.values()))


# Things.


def _stocked(base: Home, rng: np.random.Generator) -> Home:
    """Add the everyday things."""
    placed: list[tuple[str, Relation, NodeId, Box]] = []
    for node in base.nodes.values():
        for stock in (stock for stock in EVERYDAY if stock.holder == node.name):
            lying = _boxes(base, node.id)
            names = stock.names.split()
            for _ in range(int(rng.integers(stock.least, stock.most + 1))):
                name = names[rng.integers(len(names))]
                box = _settled(node, stock.relation, THINGS[name], lying, rng)
                if box is not None:
                    lying.append(box)
                    placed.append((name, stock.relation, node.id, box))
    return _with(base, placed)


def _boxes(base: Home, holder: NodeId) -> list[Box]:
    """Return the boxes of what lies on or in something."""
    return [base.nodes[child].box for child in base.contents.get(holder, ())]


def _with(base: Home, things: Iterable[tuple[str, Relation, NodeId, Box]]) -> Home:
    """Return the home with more things; their ids follow the largest."""
    nodes, parent, room = dict(base.nodes), dict(base.parent), dict(base.room)
    for number, (name, relation, holder, box) in enumerate(things, max(nodes) + 1):
        kind = THINGS[name]
        nodes[number] = Node(number, name, kind.category, kind.properties, box)
        parent[number], room[number] = (relation, holder), room[holder]
    return replace(base, nodes=nodes, parent=parent, room=room)


def _without(base: Home, names: Sequence[str]) -> Home:
    """Return the home without things of some classes, nor what lies on or in those."""
    gone = {node.id for node in base.nodes.values() if node.grabbable and node.name in names}
    if not gone:
        return base
    while more := {child for child, (_, place) in base.parent.items() if place in gone} - gone:
        gone |= more
    return replace(
        base,
        nodes={number: node for number, node in base.nodes.items() if number not in gone},
        parent={number: place for number, place in base.parent.items() if number not in gone},
        room={number: place for number, place in base.room.items() if number not in gone},
        opened=base.opened - gone,
    )


def _settled(
    holder: Node, relation: Relation, kind: Kind, lying: Sequence[Box], rng: np.random.Generator
) -> Box | None:
    """Draw a place for a thing, clear of what lies there; None if none was found."""
    at = holder.box
    area = Rect(
        round((at.x - at.width / 2) * 100), round((at.z - at.depth / 2) * 100),
        round((at.x + at.width / 2) * 100), round((at.z + at.depth / 2) * 100),
    )  # fmt: skip
    bottom, top = round((at.y - at.height / 2) * 100), round((at.y + at.height / 2) * 100)
    if relation == "INSIDE":
        wall = 3 if holder.opens else 1
        area, bottom, top = area.grown(-wall), bottom + wall, top - wall
        shelves = max(1, (top - bottom) // 32)
        room = (top - bottom) // shelves
    for _ in range(12):
        base = top
        if relation == "INSIDE":
            base = bottom + room * int(rng.integers(shelves))
            if kind.height > room:
                return None
        width, depth = (kind.depth, kind.width) if rng.integers(2) else (kind.width, kind.depth)
        spot = inside(area.grown(-1), width, depth, rng)
        if spot is not None:
            box = _box(spot, base, base + kind.height)
            if not any(_meet(box, other) for other in lying):
                return box
    return None


def _meet(first: Box, other: Box) -> bool:
    """Whether two boxes share more than a millimetre."""
    return (
        abs(first.x - other.x) < (first.width + other.width) / 2 - 1e-3
        and abs(first.y - other.y) < (first.height + other.height) / 2 - 1e-3
        and abs(first.z - other.z) < (first.depth + other.depth) / 2 - 1e-3
    )


# The task.


def _drawn(
    asked: Task, rule: Placement, rng: np.random.Generator
) -> tuple[list[tuple[str, Mapping[Place, float]]], dict[str, int]]:
    """Draw which things there are, with where each may lie, and how many of them the goal asks for."""
    low, high, most = rule.numbers["few" if len(asked.names) == 2 else "many"]
    while True:
        order = [asked.names[i] for i in rng.permutation(len(asked.names))]
        split = int(rng.integers(low, high + 1))
        number: dict[str, int] = {}
        wanted: list[str] = []
        for name in order[:split]:
            there = int(rng.integers(1, most + 1))
            wanted += [name] * there
            count = min(int(rng.integers(max(1, there - 2), there + 1)), UNITS[1] - sum(number.values()))
            if count:
                number[name] = count
        if sum(number.values()) >= UNITS[0]:
            break
    for name in order[split:]:
        wanted += [name] * int(rng.integers(3))
    things = [(name, rule.of(name)) for name in wanted]
    for name in (name for name in ASKED if name not in asked.names):
        others = rule.others[name]
        things += [(name, others.weights)] * int(rng.integers(others.least, others.most + 1))
    return things, number


def _counted(
    filled: Home, rule: Placement, names: Iterable[str], classes: int, rng: np.random.Generator
) -> dict[str, int]:
    """Draw how many things of so many classes the goal asks for, of those that the rule counts."""
    holder = {node: filled.nodes[place].name for node, (_, place) in filled.parent.items()}
    there = Counter(node.name for node in filled.nodes.values() if holder.get(node.id) != rule.uncounted)
    number: dict[str, int] = {}
    for name in (name for name in names if there[name]):
        count = min(int(rng.integers(max(1, there[name] - 2), there[name] + 1)), UNITS[1] - sum(number.values()))
        if count and len(number) < classes:
            number[name] = count
    return number


def _scattered(
    base: Home,
    holders: Iterable[Node],
    goal: NodeId,
    wanted: Iterable[tuple[str, Mapping[Place, float]]],
    asked: Sequence[str],
    needed: Sequence[str],
    rng: np.random.Generator,
) -> Home | None:
    """Lay things where they may lie, those of the task not where the goal wants them; None if a needed one cannot."""
    by_name: dict[str, list[Node]] = {}
    for node in holders:
        by_name.setdefault(node.name, []).append(node)
    lying: dict[NodeId, list[Box]] = {}
    things_placed: list[tuple[str, Relation, NodeId, Box]] = []
    for name, weights in wanted:
        options = {place: weight for place, weight in weights.items() if place[1] in by_name}
        for _ in range(20 if options else 0):
            relation, label = draw_place(options, rng)
            holder = by_name[label][rng.integers(len(by_name[label]))]
            if holder.id == goal and name in asked:
                continue
            there = lying.setdefault(holder.id, _boxes(base, holder.id))
            box = _settled(holder, relation, THINGS[name], there, rng)
            if box is not None:
                there.append(box)
                things_placed.append((name, relation, holder.id, box))
                break
        else:
            if name in needed:
                return None
    return _with(base, things_placed)
