"""Homes and episodes written down in the formats of the C-WAH data and of the original pickles."""

from __future__ import annotations

from typing import Any

from teamworld.worlds.household.homes.home import Episode, Home


def neutral(episode: Episode, **changes: Any) -> dict[str, Any]:
    """Return an episode as the neutral JSON has it."""
    home = episode.home
    return {
        "format": "cwah-episode/1",
        "episode": 0,
        "task_id": 7,
        "task_name": episode.task,
        "task_title": "A task",
        "env_id": 3,
        "max_steps": episode.steps,
        "goal": [
            {
                "relation": need.relation,
                "object_class": need.name,
                "target_id": need.target,
                "target_class": home.nodes[need.target].name,
                "count": need.number,
            }
            for need in episode.needs
        ],
        "goal_total": episode.units,
        "agents": [
            {
                "id": number,
                "name": f"agent {number}",
                "start_room_id": room,
                "start_positions_observed_xz": [[0.5, 1.25]],
            }
            for number, room in enumerate(episode.starts, 1)
        ],
        "graph": {
            "nodes": [
                {
                    "id": node.id,
                    "class_name": node.name,
                    "category": node.category,
                    "properties": sorted(node.properties),
                    "states": (["OPEN"] if node.id in home.opened else ["CLOSED"]) if node.opens else [],
                    "bbox_center": list(node.box[:3]),
                    "bbox_size": list(node.box[3:]),
                }
                for node in home.nodes.values()
            ],
            "edges": [{"from": start, "relation": name, "to": end} for start, name, end in edges(home)],
        },
        **changes,
    }


def original(episode: Episode, **changes: Any) -> dict[str, Any]:
    """Return an episode as a record of the original data set."""
    whole, home = neutral(episode), episode.home
    goal = {f"{need.relation.lower()}_{need.name}_{need.target}": need.number for need in episode.needs}
    return {
        "task_id": 7,
        "task_name": episode.task,
        "env_id": 3,
        "level": 0,
        "task_goal": {0: goal, 1: dict(goal)},
        "init_rooms": [home.nodes[room].name for room in episode.starts],
        "init_graph": {
            "nodes": [
                {
                    "id": node["id"],
                    "class_name": node["class_name"],
                    "category": node["category"],
                    "properties": node["properties"],
                    "states": node["states"],
                    "bounding_box": {"center": node["bbox_center"], "size": node["bbox_size"]},
                }
                for node in whole["graph"]["nodes"]
            ],
            "edges": [
                {"from_id": edge["from"], "relation_type": edge["relation"], "to_id": edge["to"]}
                for edge in whole["graph"]["edges"]
            ],
        },
        **changes,
    }


def edges(home: Home) -> list[tuple[int, str, int]]:
    """Return the edges of a home: everything's place and room, and what doors join."""
    relations: list[tuple[int, str, int]] = [(id_, relation, parent) for id_, (relation, parent) in home.parent.items()]
    relations += [(id_, "INSIDE", room) for id_, room in home.room.items() if id_ not in home.rooms]
    relations += [(door.id, "BETWEEN", room) for door in home.doors for room in door.rooms]
    return sorted(set(relations))
