"""Checks of generated homes and episodes, written from the description of the benchmark: what is wrong with one."""

from __future__ import annotations

from itertools import combinations

from teamworld.worlds.household.homes.furnishing import TASKS
from teamworld.worlds.household.homes.home import SEARCHED, Box, Episode, Home, NodeId, Point, close
from teamworld.worlds.household.homes.placement import PLACEMENTS, Place, Rule
from teamworld.worlds.household.pathfinding import Floor

#: What boxes may share.
MILLIMETRE = 1e-3


def edges(box: Box) -> tuple[tuple[float, float], ...]:
    """Return the least and the greatest along x, y and z."""
    sizes = (box.width, box.height, box.depth)
    return tuple((at - size / 2, at + size / 2) for at, size in zip(box[:3], sizes, strict=True))


def within(inner: Box, outer: Box, axes: str) -> bool:
    return all(
        edges(outer)["xyz".index(axis)][0] - MILLIMETRE <= edges(inner)["xyz".index(axis)][0]
        and edges(inner)["xyz".index(axis)][1] <= edges(outer)["xyz".index(axis)][1] + MILLIMETRE
        for axis in axes
    )


def overlap(one: Box, other: Box) -> bool:
    return all(min(a[1], b[1]) - max(a[0], b[0]) > MILLIMETRE for a, b in zip(edges(one), edges(other), strict=True))


def inner(home: Home, room: NodeId) -> Box:
    """Return a room between the middles of its walls."""
    box = home.nodes[room].box
    return box._replace(width=box.width - 0.5, depth=box.depth - 0.5)


def faults_of_tree(home: Home) -> list[str]:
    """Check ids, and that everything lies in one place, in or on what it says."""
    messages = [f"id {i}" for i, node in home.nodes.items() if i != node.id or i < 11]
    if list(home.nodes) != sorted(home.nodes):
        messages.append("ids not ascending")
    for i, node in home.nodes.items():
        if i in home.rooms:
            messages += [f"room {i} lies in something"] * (i in home.parent)
            continue
        chain = [i]
        while chain[-1] not in home.rooms and chain[-1] in home.parent and len(chain) < 9:
            chain.append(home.parent[chain[-1]][1])
        if chain[-1] != home.room[i]:
            messages.append(f"{node.name} {i} does not end in its room: {chain}")
            continue
        relation, place = home.parent[i]
        holder = home.nodes[place]
        if relation == "ON":
            level = abs(edges(node.box)[1][0] - edges(holder.box)[1][1]) < 0.01
            fine = holder.surface and level and within(node.box, holder.box, "xz")
        elif place in home.rooms:
            fine = node.category == "Doors" or within(node.box, inner(home, place), "xyz")
        else:
            fine = holder.container and within(node.box, holder.box, "xyz")
        messages += [] if fine else [f"{node.name} {i} is not {relation} {holder.name} {place}"]
    for lying in home.contents.values():
        things = [home.nodes[i] for i in lying if home.nodes[i].grabbable]
        for one, other in combinations(things, 2):
            if overlap(one.box, other.box):
                messages.append(f"{one.name} {one.id} overlaps {other.name} {other.id}")
    return messages


def faults_of_furniture(home: Home) -> list[str]:
    """Check that no two pieces stand in one place, but for seats, which reach under tables and desks."""
    messages = []
    for room in home.rooms:
        pieces = [home.nodes[i] for i in home.contents[room] if home.nodes[i].category != "Doors"]
        messages += [
            f"{one.name} {one.id} stands in {other.name} {other.id}"
            for one, other in combinations(pieces, 2)
            if overlap(one.box, other.box) and not {one.name, other.name} & {"chair", "bench"}
        ]
    return messages


def faults_of_plan(home: Home) -> list[str]:
    """Check rooms, doors and containers (A3)."""
    messages = []
    kinds = sorted(home.nodes[room].name for room in home.rooms)
    if not {"kitchen", "livingroom"} <= set(kinds) or not {"bathroom", "bedroom"} & set(kinds):
        messages.append(f"rooms {kinds}")
    reached = {home.rooms[0]}
    while more := {other for room in reached for other in home.beside[room]} - reached:
        reached |= more
    if reached != set(home.rooms) or len(home.doors) != len(home.rooms) - 1:
        messages.append(f"doors {home.doors}")
    for one in home.rooms:
        messages += [
            f"rooms {one} and {other} lie over each other"
            for other in home.rooms
            if one < other and overlap(inner(home, one), inner(home, other))
        ]
    bathrooms = [room for room in home.rooms if home.nodes[room].name == "bathroom"]
    messages += [f"a way through bathroom {room}" for room in bathrooms if len(home.beside[room]) != 1]
    for door in home.doors:
        for room in door.rooms:
            box = inner(home, room)
            across, along = (0, 2) if door.across_x else (2, 0)
            at = (door.x, 0.0, door.z)
            low, high = edges(box)[along]
            if min(abs(at[across] - wall) for wall in edges(box)[across]) > MILLIMETRE or not (
                low < at[along] - door.width / 2 and at[along] + door.width / 2 < high
            ):
                messages.append(f"door {door.id} is not in a wall of room {room}")
            whole = edges(home.nodes[room].box)
            if not (whole[0][0] <= door.x <= whole[0][1] and whole[2][0] <= door.z <= whole[2][1]):
                messages.append(f"door {door.id} is not where rooms meet")
        messages += [] if door.width == 0.93 and door.id in home.opened else [f"door {door.id} is narrow or shut"]
    searched = [home.nodes[i].name for i in home.searched]
    elsewhere = kinds.count("bathroom") + kinds.count("bedroom")  # one container in each
    if not 10 <= len(searched) - elsewhere <= 14:
        messages.append(f"{len(searched)} containers, {elsewhere} not in the kitchen")
    there = {"bathroomcabinet": "bathroom", "cabinet": "bedroom"}
    messages += [f"no {name}" for name in SEARCHED if name not in searched and there.get(name, "kitchen") in kinds]
    return messages + [f"{home.nodes[i].name} {i} stands open" for i in home.searched if i in home.opened]


def out_of_reach(home: Home) -> list[str]:
    """Check that one can walk through doors, to what is searched and to what can be taken, until it is CLOSE."""
    floor, messages = Floor(home), []
    for door in home.doors:
        x, z = floor.middle(floor.cell(door.x, door.z))
        messages += [f"door {door.id} is blocked"] * (abs(x - door.x) > 0.06 or abs(z - door.z) > 0.06)
    for node in home.nodes.values():
        if not (node.grabbable or node.surface or node.container):
            continue
        if not floor.reach(Point(node.box.x, node.box.z), node.id):
            messages.append(f"{node.name} {node.id} is cut off")
            continue
        x, z = floor.end(node.id)
        stands = Box(x, 0.9, z, 0.8, 1.8, 0.8)
        holder = home.nodes[home.parent[node.id][1]]
        near = close(
            stands, holder.box if holder.name in SEARCHED and home.parent[node.id][0] == "INSIDE" else node.box
        )
        if not near or floor.room(floor.end(node.id)) != home.room[node.id]:
            messages.append(f"{node.name} {node.id} is out of reach")
    return messages


def places(name: str, rule: Rule = "uniform", asked: bool = True) -> tuple[Place, ...]:
    placement = PLACEMENTS[rule]
    return tuple(placement.of(name) if asked else placement.others[name].weights)


def faults_of_goal(episode: Episode) -> list[str]:
    """Check the goal and the start (A10, A12, D1)."""
    home, task, messages = episode.home, TASKS[episode.task], []
    targets = {(need.relation, need.target) for need in episode.needs}
    if len(targets) != 1 or len({need.name for need in episode.needs}) != len(episode.needs):
        return [f"goal {episode.needs}"]
    relation, target = targets.pop()
    goal = home.nodes[target]
    if (relation, goal.name) != (task.relation, task.target) or not (
        goal.surface if relation == "ON" else goal.container
    ):
        messages.append(f"goal {relation} {goal.name}")
    if not 3 <= episode.units <= 5:
        messages.append(f"{episode.units} units")
    for need in episode.needs:
        there = [node.id for node in home.nodes.values() if node.name == need.name and node.grabbable]
        if need.name not in task.names or not 1 <= need.number <= len(there):
            messages.append(f"{need.number} of {len(there)} {need.name}")
        if need.number < len(there) - 2 and episode.units < 5:
            messages.append(f"asks for only {need.number} of {len(there)} {need.name}")
    for i, node in home.nodes.items():
        if node.grabbable and node.name in task.names and i not in home.rooms and home.parent[i][1] == target:
            messages.append(f"{node.name} {i} is at the goal")
        if node.grabbable and any(node.name in other.names for other in TASKS.values()):
            holder = home.nodes[home.parent[i][1]].name
            if (home.parent[i][0], holder) not in places(node.name, episode.placement, node.name in task.names):
                messages.append(f"{node.name} {i} may not lie {home.parent[i][0]} {holder}")
    if len(set(episode.starts)) != 2 or not set(episode.starts) <= set(home.rooms):
        messages.append(f"starts {episode.starts}")
    return messages


def faults(episode: Episode) -> list[str]:
    home = episode.home
    return faults_of_tree(home) or (
        faults_of_plan(home) + faults_of_furniture(home) + out_of_reach(home) + faults_of_goal(episode)
    )
