"""Reads the published C-WAH episodes: the neutral JSON, and the pickles they came from.

Everything is checked field by field, and what cannot be used is a :class:`~teamworld.errors.UserError` of one line.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct, ValidationError, convert, field

from teamworld.errors import UserError, brief, suggest
from teamworld.worlds.household.homes.home import MOST_AGENTS, Box, Door, Episode, Home, Need, Node, NodeId, Relation
from teamworld.worlds.household.homes.safe_files import read_json, read_pickle

#: Task numbers of the ten episodes that papers report, in their order.
PUBLISHED: Final = (0, 5, 10, 16, 20, 26, 30, 32, 40, 49)
#: Width of the leaf of a door, metres: that of the opening less the frame.
LEAF: Final = 0.87
#: Ends of file names that mean a pickle.
PICKLES: Final = (".pik", ".pkl", ".pickle")

_FAR, _WIDEST = 1e6, 100.0  # metres that no length reaches, and that a home may stretch
_Edges: TypeAlias = Mapping[str, Mapping[NodeId, list[NodeId]]]
_Text: TypeAlias = Annotated[str, Meta(pattern=r"\S")]
_Triple: TypeAlias = tuple[float, float, float]
_EdgeRelation: TypeAlias = Literal["ON", "INSIDE", "BETWEEN", "FACING", "CLOSE"]

# ---- the neutral format


class _NodeRecord(Struct):
    id: Annotated[int, Meta(gt=MOST_AGENTS)]  # the others are the agents'
    class_name: _Text
    category: _Text
    properties: frozenset[_Text]
    bbox_center: _Triple
    bbox_size: _Triple
    states: list[str] = []
    position: _Triple | None = None
    rotation: tuple[float, float, float, float] | None = None


class _EdgeRecord(Struct):
    relation: _EdgeRelation
    start: int = field(name="from")
    end: int = field(name="to")


class _Graph(Struct):
    nodes: list[_NodeRecord]
    edges: list[_EdgeRecord]


class _GoalRecord(Struct):
    relation: Relation
    object_class: _Text
    target_id: int
    target_class: _Text
    count: int


class _AgentRecord(Struct):
    start_room_id: int
    start_positions_observed_xz: list[tuple[float, float]] | None = None


class _EpisodeRecord(Struct):
    format: Literal["cwah-episode/1"]
    task_id: int
    task_name: _Text
    env_id: int
    goal: list[_GoalRecord]
    agents: list[_AgentRecord]
    graph: _Graph
    max_steps: int = 250


class _Listed(Struct):
    file: _Text


class _Index(Struct):
    episodes: list[_Listed]


# ---- the format of the original pickles


class _Bounds(Struct):
    center: _Triple
    size: _Triple


class _OriginalNode(Struct):
    id: Annotated[int, Meta(gt=MOST_AGENTS)]
    class_name: _Text
    category: _Text
    properties: frozenset[_Text]
    bounding_box: _Bounds
    states: list[str] = []
    obj_transform: _Transform | None = None


class _OriginalEdge(Struct):
    from_id: int
    relation_type: _EdgeRelation
    to_id: int


class _OriginalGraph(Struct):
    nodes: list[_OriginalNode]
    edges: list[_OriginalEdge]


class _Transform(Struct):
    position: _Triple
    rotation: tuple[float, float, float, float]


class _Original(Struct):
    task_id: int
    task_name: _Text
    env_id: int
    task_goal: dict[int, dict[str, int]]
    init_rooms: list[_Text]
    init_graph: _OriginalGraph


def episode(path: Path) -> Episode:
    """Read one episode.

    Args:
        path: A JSON file of the data folder (``cwah-episode/1``), or a pickle that holds one record.

    Returns:
        The episode, checked as :func:`episodes` says.

    Raises:
        UserError: If the file is not there, is damaged, holds anything but data, or its episode cannot be played.
    """
    episodes_read = _file(path)
    if len(episodes_read) != 1:
        raise UserError(f"{path}: expected one episode, found {len(episodes_read)}; read them all with episodes()")
    return episodes_read[0]


def episodes(path: Path) -> tuple[Episode, ...]:
    """Read all episodes of a data folder, in the order of its index, or of one file.

    Every graph is whole (no dangling edge, each node in one room, boxes finite), and every goal can be met: the target
    takes things that way, enough grabbable things of the class lie where an agent can get at them, a chain of doors
    joins them to where agents start, and the goal does not hold yet.

    Args:
        path: The data folder with ``index.json``; or one JSON file; or a pickle of the original benchmark.

    Returns:
        The episodes.

    Raises:
        UserError: If the path is not there, or a file is damaged, holds anything but data, or cannot be played.
    """
    if not path.is_dir():
        return _file(path)
    place = path / "index.json"
    if not place.is_file():
        raise UserError(f"{path}: expected the folder of the C-WAH data with index.json, found none there")
    try:
        files = [path / listed.file for listed in convert(read_json(place), _Index).episodes]
    except ValidationError as error:
        raise UserError(f"{place}: {error}") from None
    for file in files:
        if not file.resolve().is_relative_to(path.resolve()):
            raise UserError(f"{place}: expected a file of the folder, found {brief(str(file))}")
    return tuple(map(episode, files))


def _file(path: Path) -> tuple[Episode, ...]:
    is_pickle = path.suffix in PICKLES
    content = read_pickle(path) if is_pickle else read_json(path)
    try:
        if not is_pickle:
            records = [convert(content, _EpisodeRecord)]
        else:
            originals = convert([content] if isinstance(content, dict) else content, list[_Original])
            records = [_translate(record) for record in originals]
        _expect(bool(records), "expected episodes, found none")
        return tuple(map(_episode, records))
    except (ValidationError, UserError) as error:
        raise UserError(f"{path}: {error}") from None


def _expect(condition: bool, reason: str) -> None:
    """Refuse a file if a condition does not hold."""
    if not condition:
        raise UserError(reason)


def _translate(record: _Original) -> _EpisodeRecord:
    """Return a record of the original format as one of the neutral format."""
    graph, goals = record.init_graph, record.task_goal
    _expect(0 in goals, f"expected a goal of agent 0, found only {brief(list(goals))}")
    _expect(all(goal == goals[0] for goal in goals.values()), "expected one goal for all agents, found different ones")
    names = {node.id: node.class_name for node in graph.nodes}
    goal = []
    for text, count in goals[0].items():
        match = re.fullmatch(r"(on|inside)_([^_]*)_([0-9]{1,9})", text)
        if match is None:
            raise UserError(f"expected a predicate such as 'on_apple_268', found {brief(text)}")
        target = int(match[3])
        if count:  # the original lists classes of which none is asked for
            relation: Relation = "ON" if match[1] == "on" else "INSIDE"
            goal.append(_GoalRecord(relation, match[2], target, names.get(target, ""), count))
    rooms = {node.class_name: node.id for node in graph.nodes if node.category == "Rooms"}
    for room in record.init_rooms:
        _expect(room in rooms, f"expected a room, found {brief(room)}{suggest(room, sorted(rooms))}")
    nodes = []
    for n in graph.nodes:
        box, at = n.bounding_box, n.obj_transform
        pose = (None, None) if at is None else (at.position, at.rotation)
        nodes.append(_NodeRecord(n.id, n.class_name, n.category, n.properties, box.center, box.size, n.states, *pose))
    return _EpisodeRecord(
        format="cwah-episode/1",
        task_id=record.task_id,
        task_name=record.task_name,
        env_id=record.env_id,
        goal=goal,
        agents=[_AgentRecord(rooms[room]) for room in record.init_rooms],
        graph=_Graph(nodes, [_EdgeRecord(edge.relation_type, edge.from_id, edge.to_id) for edge in graph.edges]),
    )


def _episode(record: _EpisodeRecord) -> Episode:
    home = _home(f"apartment_{record.env_id}", record.graph)
    for goal in record.goal:
        target = home.nodes.get(goal.target_id)
        if target is not None and target.name != goal.target_class:
            raise UserError(f"expected {goal.target_class} as node {target.id}, found {target.name}")
    starts = [agent.start_positions_observed_xz for agent in record.agents]
    recorded = tuple(tuple(places) for places in starts if places is not None)
    for place in (place for places in recorded for place in places):
        _check_lengths(place)
    episode = Episode(
        name=f"task{record.task_id:02d}_{record.task_name}",
        task=record.task_name,
        home=home,
        needs=tuple(Need(goal.relation, goal.object_class, goal.target_id, goal.count) for goal in record.goal),
        starts=tuple(agent.start_room_id for agent in record.agents),
        recorded=recorded,
        steps=record.max_steps,
    )
    _check_playable(episode)
    return episode


def _check_lengths(lengths: Sequence[float]) -> None:
    _expect(all(abs(length) < _FAR for length in lengths), f"expected lengths in metres, found {brief(tuple(lengths))}")


def _home(name: str, graph: _Graph) -> Home:
    nodes = {record.id: _node(record) for record in sorted(graph.nodes, key=lambda record: record.id)}
    _expect(len(nodes) == len(graph.nodes), "expected every id once, found one twice")
    rooms = tuple(node.id for node in nodes.values() if node.category == "Rooms")
    _expect(bool(rooms), "expected rooms (nodes of the category Rooms), found none")
    for box in (nodes[room].box for room in rooms):
        if max(abs(box.x) + box.width, abs(box.z) + box.depth) > _WIDEST or min(box.width, box.depth) < 2:
            raise UserError(f"expected rooms of 2 m or more within {_WIDEST:.0f} m, found {brief(tuple(box))}")
    edges: dict[str, dict[NodeId, list[NodeId]]] = {relation: {} for relation in get_args(_EdgeRelation)}
    for edge in graph.edges:
        for side in (edge.start, edge.end):
            _expect(side in nodes, f"the edge leads to node {side}, which is not in the graph")
        ends = edges[edge.relation].setdefault(edge.start, [])
        if edge.end not in ends:
            ends.append(edge.end)
    parent = {
        node.id: holder
        for node in nodes.values()
        if node.id not in rooms and (holder := _parent(nodes, rooms, edges, node))
    }
    return Home(
        name=name,
        nodes=nodes,
        rooms=rooms,
        doors=tuple(_door(nodes, rooms, node, ends) for node, ends in sorted(edges["BETWEEN"].items())),
        parent=parent,
        room={node: _room(parent, rooms, edges["INSIDE"], node) for node in nodes},
        opened=frozenset(record.id for record in graph.nodes if nodes[record.id].opens and "OPEN" in record.states),
        leaves=dict(_leaf(record) for record in graph.nodes if record.id in edges["BETWEEN"] and record.position),
    )


def _leaf(record: _NodeRecord) -> tuple[NodeId, tuple[float, float, float, float]]:
    """Return a door and the ends of its leaf: its transform is at the hinge, and looks along the leaf."""
    x, _, z = record.position or (0.0, 0.0, 0.0)
    _, turn, _, rest = record.rotation or (0.0, 0.0, 0.0, 1.0)
    _check_lengths((x, z, turn, rest))
    angle = 2 * math.atan2(turn, rest)
    return record.id, (x, z, x + LEAF * math.sin(angle), z + LEAF * math.cos(angle))


def _node(record: _NodeRecord) -> Node:
    _check_lengths((*record.bbox_center, *record.bbox_size))
    _expect(min(record.bbox_size) >= 0, f"expected a size, found {record.bbox_size}")
    box = Box(*record.bbox_center, *record.bbox_size)
    return Node(record.id, record.class_name, record.category, record.properties, box)


def _parent(
    nodes: Mapping[NodeId, Node], rooms: tuple[NodeId, ...], edges: _Edges, node: Node
) -> tuple[Relation, NodeId] | None:
    """Find what a node lies in or on, so that all parents together are a tree (normalisation)."""
    inside = edges["INSIDE"].get(node.id, [])
    holders = [holder for holder in inside if holder not in rooms]
    _expect(len(holders) < 2, f"node {node.id} ({node.name}) lies in {len(holders)} containers: {brief(holders)}")
    if holders:
        return "INSIDE", holders[0]
    # Of several supports, furniture; what lies higher is no support, and so no two things carry each other.
    on = edges["ON"].get(node.id, [])
    below = [holder for holder in on if holder not in rooms and nodes[holder].box.y < node.box.y]
    if below:
        return "ON", max(below, key=lambda holder: (not nodes[holder].grabbable, nodes[holder].box.y, -holder))
    own = [holder for holder in inside if holder in rooms]
    return ("INSIDE", own[0]) if own else None


def _room(
    parent: Mapping[NodeId, tuple[Relation, NodeId]],
    rooms: tuple[NodeId, ...],
    inside: Mapping[NodeId, list[NodeId]],
    node: NodeId,
) -> NodeId:
    chain = [node]
    while chain[-1] not in rooms and chain[-1] in parent:
        chain.append(parent[chain[-1]][1])
        _expect(chain[-1] not in chain[:-1], f"node {node} lies in or on itself by way of {brief(chain[1:])}")
    if node in rooms:
        return node
    containing = [room for room in inside.get(node, []) if room in rooms] or [room for room in chain if room in rooms]
    _expect(len(containing) == 1, f"expected node {node} in one room, found it in {len(containing)}")
    return containing[0]


def _door(nodes: Mapping[NodeId, Node], rooms: tuple[NodeId, ...], node: NodeId, ends: list[NodeId]) -> Door:
    is_between = len(ends) == 2 and all(end in rooms for end in ends)
    _expect(is_between, f"expected door {node} between two rooms, found {brief(ends)}")
    first, second = sorted(ends)
    box = nodes[node].box
    # The door's own box is square; the jamb round it is thin across the wall.
    jambs = (jamb.box for jamb in nodes.values() if jamb.name == "doorjamb")
    jamb = next((jamb for jamb in jambs if abs(jamb.x - box.x) + abs(jamb.z - box.z) < 0.2), None)
    if jamb is not None:
        across_x = jamb.width < jamb.depth
    else:
        box_1, box_2 = nodes[first].box, nodes[second].box
        apart_x = abs(box_1.x - box_2.x) - (box_1.width + box_2.width) / 2
        across_x = apart_x > abs(box_1.z - box_2.z) - (box_1.depth + box_2.depth) / 2
    return Door(node, (first, second), box.x, box.z, across_x)


# ---- whether the goal can be met


def _check_playable(episode: Episode) -> None:
    home, needs, starts = episode.home, episode.needs, episode.starts
    is_task = bool(needs) and episode.steps > 0
    _expect(is_task, f"expected a goal and steps, found {len(needs)} predicates and {episode.steps} steps")
    _expect(1 <= len(starts) <= MOST_AGENTS, f"expected 1 to {MOST_AGENTS} agents, found {len(starts)}")
    for start in starts:
        _expect(start in home.rooms, f"expected a room to start in, found node {start}")
    joined = _joined(home, starts[0])
    for need in needs:
        _check_target(home, need)
        _expect(home.room[need.target] in joined, f"no doors lead from the start to the target, node {need.target}")
    for start in starts:
        _expect(start in joined, f"no doors join the rooms in which agents start, {starts[0]} and {start}")
    wanted: Counter[str] = Counter()
    for need in needs:
        wanted[need.name] += need.number
    for name, number in sorted(wanted.items()):
        there = [node for node in home.nodes.values() if node.name == name]
        takable = sorted({node.name for node in home.nodes.values() if node.grabbable})
        _expect(bool(there), f"the goal asks for '{name}', which no node is{suggest(name, takable)}")
        got = sum(node.grabbable and home.room[node.id] in joined and _is_accessible(home, node.id) for node in there)
        _expect(got >= number, f"the goal asks for {number} of '{name}', but only {got} of {len(there)} can be fetched")
    is_met = all(_count_placed(home, need) >= need.number for need in needs)
    _expect(not is_met, "expected a goal that does not hold yet, found it met at the start")


def _check_target(home: Home, need: Need) -> None:
    if need.target not in home.nodes:
        raise UserError(f"the goal's target, node {need.target}, is not in the graph")
    target = home.nodes[need.target]
    _expect(need.number > 0, f"expected a number of '{need.name}' from 1 on, found {need.number}")
    place, is_open = f"node {target.id}, a {target.name}", target.opens or target.id in home.opened
    if need.relation == "ON":
        _expect(target.surface, f"the goal puts '{need.name}' on {place}, which is no surface")
    else:
        _expect(target.container and is_open, f"the goal puts '{need.name}' into {place}, which does not open")


def _count_placed(home: Home, need: Need) -> int:
    place = (need.relation, need.target)
    return sum(home.nodes[node].name == need.name for node, parent in home.parent.items() if parent == place)


def _joined(home: Home, start: NodeId) -> frozenset[NodeId]:
    reached = [start]
    for room in reached:  # grows while it is gone through
        reached += [other for other in home.beside[room] if other not in reached]
    return frozenset(reached)


def _is_accessible(home: Home, node: NodeId) -> bool:
    """Return whether an agent in the room can come to see a thing: all that encloses it can be opened."""
    while node in home.parent:
        relation, node = home.parent[node]
        if relation == "INSIDE" and node not in home.rooms and not (home.nodes[node].opens or node in home.opened):
            return False
    return True


def fingerprint(episode: Episode) -> str:
    """Return ``sha256:`` and 16 hexadecimal digits that name what an episode holds, whatever file it came from."""
    home = episode.home
    nodes = [node._replace(properties=tuple(sorted(node.properties))) for node in home.nodes.values()]  # type: ignore[arg-type]
    parts = (nodes, home.rooms, home.doors, sorted(home.parent.items()), sorted(home.opened))
    whole = repr((parts, episode.needs, episode.starts, episode.recorded))
    return f"sha256:{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
