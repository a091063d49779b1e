"""Reads recorded runs of the C-WAH engine: who was where, saw what and did what, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from teamworld.worlds.household.homes.home import Box, NodeId


class Acted(NamedTuple):
    """A recorded action."""

    verb: str
    """As recorded: ``walktowards``, ``grab``, ``open``, ``putin``, ``putback``, ``send_message``, ``TurnLeft``, ..."""
    ids: tuple[NodeId, ...]
    length: int = 0
    """Characters of a message."""


class TraceAgent(NamedTuple):
    """What was recorded of one agent before a step."""

    id: int
    x: float
    z: float
    box: Box | None
    """The character's, which changes with the pose; its height is taken as 1.8 m. Visual traces have none."""
    room: NodeId | str
    """Visual traces give the name."""
    close: frozenset[NodeId]
    """Nodes of the task that were CLOSE; in visual traces "reachable"."""
    held: tuple[NodeId, ...]
    """Right hand first."""
    seen: frozenset[NodeId]
    """Nodes of the task that were visible."""
    action: Acted | None
    """None: waited."""


class TraceStep(NamedTuple):
    """One recorded step."""

    agents: tuple[TraceAgent, ...]
    """Before the step."""
    remaining: Mapping[str, int]
    """Missing things by class after it; negative where more lie there than asked for."""


class Trace(NamedTuple):
    """A recorded run of the engine."""

    task_id: int
    task: str
    visual: bool
    finished: bool
    steps: tuple[TraceStep, ...]


def trace(path: Path) -> Trace:
    """Read a recorded run (``cwah-trace/1`` or ``cwah-visual-trace/1``)."""
    run = json.loads(path.read_text("utf-8"))
    visual = run["format"] == "cwah-visual-trace/1"
    steps = [
        TraceStep(tuple(_trace_agent(agent, visual) for agent in step["agents"]), step["remaining_after"])
        for step in run["steps"]
    ]
    return Trace(run["task_id"], run["task_name"], visual, run["finished"], tuple(steps))


def _trace_agent(agent: dict[str, Any], visual: bool) -> TraceAgent:
    box = None
    if not visual:
        (mid_x, mid_z), (width, depth) = agent["bbox_center_xz"], agent["bbox_size_xz"]
        box = Box(mid_x, 0.9, mid_z, width, 1.8, depth)
    holds = agent["holds"]
    held = holds if visual else [thing for _, thing in sorted(holds.items(), reverse=True)]  # RH before LH
    return TraceAgent(
        id=agent["id"],
        x=agent["pos_xz"][0],
        z=agent["pos_xz"][1],
        box=box,
        room=agent["room"],
        close=frozenset(agent["reachable" if visual else "close"]),
        held=tuple(held),
        seen=frozenset(agent["seen_now" if visual else "visible_task_nodes"]),
        action=None if agent["action"] is None else _acted(agent["action"]),
    )


def _acted(text: str) -> Acted:
    verb, *words = text.split()
    if verb == "[send_message]":
        return Acted("send_message", (), int("".join(words)) if "".join(words).isdecimal() else 0)
    return Acted(verb[1:-1], tuple(int(word[1:-1]) for word in words if word[0] + word[-1] == "()"))
