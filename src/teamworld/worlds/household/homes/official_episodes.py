"""Reads the published C-WAH episodes and recordings: the neutral JSON, and the pickles they came from.

Everything is checked field by field (``plain.py`` says what a file may hold), and what cannot be used is a
:class:`~teamworld.errors.UserError` of one line.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from teamworld.errors import UserError, brief, suggest
from teamworld.worlds.household.homes.home import MOST_AGENTS, Box, Door, Episode, Home, Need, Node, NodeId, Relation
from teamworld.worlds.household.homes.safe_files import Part, parsed, unpickled

#: Task numbers of the ten episodes that papers report, in their order.
PUBLISHED: Final = (0, 5, 10, 16, 20, 26, 30, 32, 40, 49)
#: Ends of file names that mean a pickle.
PICKLES: Final = (".pik", ".pkl", ".pickle")

_WIDEST = 100.0  # metres that a home may stretch
_Edges: TypeAlias = Mapping[str, Mapping[NodeId, list[NodeId]]]
_RELATIONS = frozenset({"ON", "INSIDE", "BETWEEN", "FACING", "CLOSE"})


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
    listed = parsed(place).item("episodes")
    loaded = []
    for entry in listed.items():
        name = entry.text("file")
        file = path / name
        if not file.resolve().is_relative_to(path.resolve()):
            entry.refuse(f"expected a file of the folder, found {brief(name)}")
        loaded.append(episode(file))
    return tuple(loaded)


def _file(path: Path) -> tuple[Episode, ...]:
    if path.suffix not in PICKLES:
        part = parsed(path)
        part.choice("format", ("cwah-episode/1",))
        return (_neutral(part),)
    whole = unpickled(path)
    if isinstance(whole.value, dict):
        return (_original(whole),)
    loaded = tuple(_original(record) for record in whole.items())
    return loaded if loaded else whole.refuse("expected episodes, found none")


class _Fields(NamedTuple):
    """How a format names the parts of a graph."""

    middle: tuple[str, ...]
    size: tuple[str, ...]
    edge: tuple[str, str, str]


_NEUTRAL = _Fields(("bbox_center",), ("bbox_size",), ("from", "relation", "to"))
_ORIGINAL = _Fields(("bounding_box", "center"), ("bounding_box", "size"), ("from_id", "relation_type", "to_id"))


def _neutral(part: Part) -> Episode:
    agents = list(part.item("agents").items())
    needs = []
    home = _home(part, part.item("graph"), _NEUTRAL)
    for predicate in part.item("goal").items():
        need = Need(
            _relation(predicate), predicate.text("object_class"), predicate.whole("target_id"), predicate.whole("count")
        )
        needs.append(need)
        if need.target in home.nodes and home.nodes[need.target].name != predicate.text("target_class"):
            name = home.nodes[need.target].name
            predicate.refuse(f"expected {predicate.text('target_class')} as node {need.target}, found {name}")
    return _playable(
        part,
        Episode(
            name=f"task{part.whole('task_id'):02d}_{part.text('task_name')}",
            task=part.text("task_name"),
            home=home,
            needs=tuple(needs),
            starts=tuple(agent.whole("start_room_id") for agent in agents),
            recorded=tuple(
                tuple(place.as_pair() for place in agent.item("start_positions_observed_xz").items())
                for agent in agents
            ),
            steps=part.whole("max_steps"),
        ),
    )


def _relation(part: Part) -> Relation:
    return "ON" if part.choice("relation", ("ON", "INSIDE")) == "ON" else "INSIDE"


def _original(part: Part) -> Episode:
    home = _home(part, part.item("init_graph"), _ORIGINAL)
    goals = part.item("task_goal")
    goal = goals.item(0)
    if any(other.value != goal.value for _, other in goals.fields()):
        goals.refuse("expected one goal for all agents, found different ones")
    needs = []
    for text, count in goal.fields():
        words = text.split("_")
        if len(words) != 3 or words[0] not in ("on", "inside") or not words[2].isdecimal() or len(words[2]) > 9:
            goal.refuse(f"expected a predicate such as 'on_apple_268', found {brief(text)}")
        if count.as_whole():  # the original lists classes of which none is asked for
            needs.append(Need("ON" if words[0] == "on" else "INSIDE", words[1], int(words[2]), count.as_whole()))
    named = {home.nodes[room].name: room for room in home.rooms}
    starts = []
    for room in part.item("init_rooms").items():
        if room.as_text() not in named:
            room.refuse(f"expected a room, found {brief(room.value)}{suggest(room.as_text(), sorted(named))}")
        starts.append(named[room.as_text()])
    task = part.text("task_name")
    return _playable(part, Episode(f"task{part.whole('task_id'):02d}_{task}", task, home, tuple(needs), tuple(starts)))


def _home(part: Part, graph: Part, fields: _Fields) -> Home:
    nodes: dict[NodeId, Node] = {}
    opened = set()
    for record in graph.item("nodes").items():
        node = _node(record, fields)
        if node.id in nodes:
            record.refuse(f"expected every id once, found {node.id} twice")
        nodes[node.id] = node
        if node.opens and any(state.value == "OPEN" for state in record.item("states").items()):
            opened.add(node.id)
    nodes = dict(sorted(nodes.items()))
    rooms = tuple(node.id for node in nodes.values() if node.category == "Rooms")
    if not rooms:
        graph.refuse("expected rooms (nodes of the category Rooms), found none")
    for box in (nodes[room].box for room in rooms):
        if max(abs(box.x) + box.width, abs(box.z) + box.depth) > _WIDEST or min(box.width, box.depth) < 2:
            graph.refuse(f"expected rooms of 2 m or more within {_WIDEST:.0f} m, found {brief(tuple(box))}")
    edges: dict[str, dict[NodeId, list[NodeId]]] = {name: {} for name in sorted(_RELATIONS)}
    for record in graph.item("edges").items():
        start, name, end = (record.item(field) for field in fields.edge)
        for side in (start, end):
            if side.as_whole() not in nodes:
                side.refuse(f"the edge leads to node {side.value}, which is not in the graph")
        if name.as_text() not in _RELATIONS:
            name.refuse(f"expected one of {', '.join(sorted(_RELATIONS))}, found {brief(name.value)}")
        ends = edges[name.as_text()].setdefault(start.as_whole(), [])
        if end.as_whole() not in ends:
            ends.append(end.as_whole())
    parent = {
        node.id: inside
        for node in nodes.values()
        if node.id not in rooms and (inside := _parent(graph, nodes, rooms, edges, node))
    }
    return Home(
        name=f"apartment_{part.whole('env_id')}",
        nodes=nodes,
        rooms=rooms,
        doors=tuple(_door(graph, nodes, rooms, node, ends) for node, ends in sorted(edges["BETWEEN"].items())),
        parent=parent,
        room={node: _room(graph, parent, rooms, edges["INSIDE"], node) for node in nodes},
        opened=frozenset(opened),
    )


def _node(part: Part, fields: _Fields) -> Node:
    x, y, z = part.item(*fields.middle).as_numbers(3)
    size = part.item(*fields.size)
    width, height, depth = size.as_numbers(3)
    if min(width, height, depth) < 0:
        size.refuse(f"expected a size, found {brief(size.value)}")
    if part.whole("id") <= MOST_AGENTS:
        part.refuse(f"expected an id above {MOST_AGENTS} (the others are the agents'), found {part.whole('id')}")
    properties = frozenset(entry.as_text() for entry in part.item("properties").items())
    box = Box(x, y, z, width, height, depth)
    return Node(part.whole("id"), part.text("class_name"), part.text("category"), properties, box)


def _parent(
    graph: Part, nodes: Mapping[NodeId, Node], rooms: tuple[NodeId, ...], edges: _Edges, node: Node
) -> tuple[Relation, NodeId] | None:
    """Find what a node lies in or on, so that all parents together are a tree (normalisation)."""
    inside = edges["INSIDE"].get(node.id, [])
    holders = [holder for holder in inside if holder not in rooms]
    if len(holders) > 1:
        graph.refuse(f"node {node.id} ({node.name}) lies in {len(holders)} containers: {brief(holders)}")
    if holders:
        return "INSIDE", holders[0]
    # Of several supports, furniture; what lies higher is no support, and so no two things carry each other.
    below = [
        holder for holder in edges["ON"].get(node.id, []) if holder not in rooms and nodes[holder].box.y < node.box.y
    ]
    if below:
        return "ON", max(below, key=lambda holder: (not nodes[holder].grabbable, nodes[holder].box.y, -holder))
    own = [holder for holder in inside if holder in rooms]
    return ("INSIDE", own[0]) if own else None


def _room(
    graph: Part,
    parent: Mapping[NodeId, tuple[Relation, NodeId]],
    rooms: tuple[NodeId, ...],
    inside: Mapping[NodeId, list[NodeId]],
    node: NodeId,
) -> NodeId:
    chain = [node]
    while chain[-1] not in rooms and chain[-1] in parent:
        chain.append(parent[chain[-1]][1])
        if len(set(chain)) < len(chain):
            graph.refuse(f"node {node} lies in or on itself by way of {brief(chain[1:])}")
    containing = [room for room in inside.get(node, []) if room in rooms]
    if node not in rooms and (len(containing) > 1 or (not containing and chain[-1] not in rooms)):
        graph.refuse(f"expected node {node} in one room, found it in {len(containing)}")
    return containing[0] if containing and node not in rooms else chain[-1]


def _door(
    graph: Part, nodes: Mapping[NodeId, Node], rooms: tuple[NodeId, ...], node: NodeId, ends: list[NodeId]
) -> Door:
    between = tuple(sorted(end for end in ends if end in rooms))
    if len(between) != 2 or len(ends) != 2:
        graph.refuse(f"expected door {node} between two rooms, found {brief(ends)}")
    box = nodes[node].box
    # The door's own box is square; the jamb round it is thin across the wall.
    jambs = [
        node_box.box
        for node_box in nodes.values()
        if node_box.name == "doorjamb" and abs(node_box.box.x - box.x) + abs(node_box.box.z - box.z) < 0.2
    ]
    if jambs:
        across_x = jambs[0].width < jambs[0].depth
    else:
        node_box, other = nodes[between[0]].box, nodes[between[1]].box
        apart_x = abs(node_box.x - other.x) - (node_box.width + other.width) / 2
        across_x = apart_x > abs(node_box.z - other.z) - (node_box.depth + other.depth) / 2
    return Door(node, (between[0], between[1]), box.x, box.z, across_x)


def _playable(part: Part, episode: Episode) -> Episode:
    """Check that the goal can be met."""
    home = episode.home
    if not episode.needs or episode.steps < 1:
        part.refuse(f"expected a goal and steps, found {len(episode.needs)} predicates and {episode.steps} steps")
    if not 1 <= len(episode.starts) <= MOST_AGENTS:
        part.refuse(f"expected 1 to {MOST_AGENTS} agents, found {len(episode.starts)}")
    for start in episode.starts:
        if start not in home.rooms:
            part.refuse(f"expected a room to start in, found node {start}")
    joined = _joined(home, episode.starts[0])
    wanted: Counter[str] = Counter()
    held = 0
    for need in episode.needs:
        _target(part, home, need)
        wanted[need.name] += need.number
        lying = sum(home.nodes[node].name == need.name for node in home.parent if _lies(home, node, need))
        held += min(lying, need.number)
        if home.room[need.target] not in joined:
            part.refuse(f"no doors lead from the start to the target, node {need.target}")
    for start in episode.starts:
        if start not in joined:
            part.refuse(f"no doors join the rooms in which agents start, {episode.starts[0]} and {start}")
    for name, number in sorted(wanted.items()):
        there = [node for node in home.nodes.values() if node.name == name]
        if not there:
            part.refuse(f"the goal asks for '{name}', which no node is{suggest(name, _takable(home))}")
        got = sum(node.grabbable and home.room[node.id] in joined and _open_way(home, node.id) for node in there)
        if got < number:
            part.refuse(f"the goal asks for {number} of '{name}', but only {got} of {len(there)} can be fetched")
    if held == episode.units:
        part.refuse("expected a goal that does not hold yet, found it met at the start")
    return episode


def _target(part: Part, home: Home, need: Need) -> None:
    if need.target not in home.nodes:
        part.refuse(f"the goal's target, node {need.target}, is not in the graph")
    target = home.nodes[need.target]
    if need.number < 1:
        part.refuse(f"expected a number of '{need.name}' from 1 on, found {need.number}")
    if need.relation == "ON" and not target.surface:
        part.refuse(f"the goal puts '{need.name}' on node {target.id}, a {target.name}, which is no surface")
    if need.relation == "INSIDE" and not (target.container and (target.opens or target.id in home.opened)):
        part.refuse(f"the goal puts '{need.name}' into node {target.id}, a {target.name}, which does not open")


def _lies(home: Home, node: NodeId, need: Need) -> bool:
    return home.parent[node] == (need.relation, need.target)


def _joined(home: Home, start: NodeId) -> frozenset[NodeId]:
    reached, new = {start}, [start]
    while new:
        new = [room for current in new for room in home.beside[current] if room not in reached]
        reached.update(new)
    return frozenset(reached)


def _open_way(home: Home, node: NodeId) -> bool:
    """Whether an agent in the room can come to see a thing: all that encloses it can be opened."""
    while node in home.parent:
        relation, node = home.parent[node]
        if relation == "INSIDE" and node not in home.rooms and not (home.nodes[node].opens or node in home.opened):
            return False
    return True


def _takable(home: Home) -> list[str]:
    return sorted({node.name for node in home.nodes.values() if node.grabbable})


def fingerprint(episode: Episode) -> str:
    """Return ``sha256:`` and 16 hexadecimal digits that name what an episode holds, whatever file it came from."""
    home = episode.home
    nodes = [node._replace(properties=tuple(sorted(node.properties))) for node in home.nodes.values()]  # type: ignore[arg-type]
    parts = (nodes, home.rooms, home.doors, sorted(home.parent.items()), sorted(home.opened))
    whole = repr((parts, episode.needs, episode.starts, episode.recorded))
    return f"sha256:{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
