"""Instances written down in the format of the TDW-MAT data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from teamworld.worlds.transport.official import EPISODES
from teamworld.worlds.transport.scene import CONTAINERS, FloorPlan, Instance, Item

SCENE, LAYOUT, PLACEMENT = "7a", 1, "7a_1_0"
#: Samples of the written scene: one of two is free.
SHAPE = (9, 7)


def content(instance: Instance) -> dict[str, Any]:
    """Return the files of a data folder by name, in which all 48 episodes are this one."""
    return {
        "episodes.json": [episode(instance, split, index) for split in ("test", "train") for index in range(EPISODES)],
        "placements.json": {PLACEMENT: placement(instance)},
        "scene_7.json": scene(instance.plan),
        "layout_7_1.json": layout(instance.plan),
    }


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write the files of a data folder and return it."""
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value))
    return folder


def episode(instance: Instance, split: str, index: int) -> dict[str, Any]:
    """Return the record of an episode."""
    return {
        "split": split,
        "index": index,
        "placement": PLACEMENT,
        "scene": SCENE,
        "task": instance.task,
        "capacity": ("high", "low")[index % 2],
        "goal_description": dict(instance.goals),
        "target_ids": [item.id for item in instance.targets],
        "container_ids": [item.id for item in instance.containers],
        "goal": {"x": instance.bed.x, "z": instance.bed.z, "region": instance.bed.room},
        "agents": [{"x": start.x, "z": start.z, "yaw": start.yaw} for start in instance.starts],
    }


def placement(instance: Instance) -> dict[str, Any]:
    """Return the items of a placement, of both tasks."""
    return {"scene": SCENE, "layout": LAYOUT, "items": [thing(item, instance.plan) for item in instance.items]}


def thing(item: Item, plan: FloorPlan) -> dict[str, Any]:
    """Return the record of an item, at the height from which it is dropped."""
    return {
        "id": item.id,
        "model": item.model,
        "name": item.name,
        "task": item.task,
        "kind": "container" if item.name in CONTAINERS[item.task] else "target",
        "x": item.x,
        "y": 0.1 if item.support is None else plan.furniture[item.support].top,
        "z": item.z,
        "yaw": item.yaw,
        "size": list(item.size),
        "support": item.support,
        "region": item.room,
        "room_type_stored": plan.rooms[item.room].kind,
    }


def layout(plan: FloorPlan) -> dict[str, Any]:
    """Return the furniture of a layout."""
    return {
        "scene": SCENE[0],
        "layout": LAYOUT,
        "room_types": [room.kind for room in plan.rooms],
        "objects": [
            {
                "name": piece.name,
                "category": piece.category,
                "x": piece.x,
                "z": piece.z,
                "yaw": piece.yaw,
                "y_bottom": piece.bottom,
                "y_top": piece.top,
                "kinematic": piece.is_kinematic,
                "footprint": [list(corner) for corner in piece.corners],
            }
            for piece in plan.furniture
        ],
    }


def scene(plan: FloorPlan) -> dict[str, Any]:
    """Return the walls, rooms and samples of a scene; a sample stands for the outside, and others are free by turns."""
    codes = (np.indices(SHAPE).sum(axis=0) % 2).tolist()
    codes[0][0] = -1
    return {
        "scene": SCENE[0],
        "variant_used": SCENE,
        "x_min": plan.bounds.x0,
        "z_min": plan.bounds.z0,
        "x_max": plan.bounds.x1,
        "z_max": plan.bounds.z1,
        "walls": {"height": plan.wall_height, "rects_x0_z0_x1_z1": plan.walls.tolist()},
        "regions": [
            {
                "id": room.number,
                "x_min": room.box.x0,
                "x_max": room.box.x1,
                "z_min": room.box.z0,
                "z_max": room.box.z1,
                "type_by_layout": ["Office", room.kind],
            }
            for room in plan.rooms
        ],
        "grid049": {"cell": 0.49, "shape": list(SHAPE), "occupancy_by_layout": {str(LAYOUT): codes}},
    }


def place(files: dict[str, Any], path: Sequence[str | int]) -> tuple[Any, str | int]:
    """Return what holds a value of the files, and the key of the value in it."""
    holder: Any = files
    for key in path[:-1]:
        holder = holder[key]
    return holder, path[-1]
