"""Reads recorded runs of the C-WAH engine: who was where, saw what and did what, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import brief
from teamworld.worlds.household.homes.home import Box, NodeId
from teamworld.worlds.household.homes.safe_files import Part, parsed


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
    """Read a recorded run (``cwah-trace/1`` or ``cwah-visual-trace/1``).

    Raises:
        UserError: If the file is not there or damaged.
    """
    part = parsed(path)
    visual = part.choice("format", ("cwah-trace/1", "cwah-visual-trace/1")) == "cwah-visual-trace/1"
    return Trace(
        task_id=part.whole("task_id"),
        task=part.text("task_name"),
        visual=visual,
        finished=part.flag("finished"),
        steps=tuple(
            TraceStep(
                tuple(_trace_agent(agent, visual) for agent in step.item("agents").items()),
                {name: count.as_whole() for name, count in step.item("remaining_after").fields()},
            )
            for step in part.item("steps").items()
        ),
    )


def _trace_agent(part: Part, visual: bool) -> TraceAgent:
    x, z = part.item("pos_xz").as_pair()
    box = None
    if not visual:
        (mid_x, mid_z), (width, depth) = part.item("bbox_center_xz").as_pair(), part.item("bbox_size_xz").as_pair()
        box = Box(mid_x, 0.9, mid_z, width, 1.8, depth)
    holds = part.item("holds")
    held = holds.items() if visual else [hand for _, hand in sorted(holds.fields(), reverse=True)]  # RH before LH
    return TraceAgent(
        id=part.whole("id"),
        x=x,
        z=z,
        box=box,
        room=part.text("room") if visual else part.whole("room"),
        close=frozenset(one.as_whole() for one in part.item("reachable" if visual else "close").items()),
        held=tuple(one.as_whole() for one in held),
        seen=frozenset(one.as_whole() for one in part.item("seen_now" if visual else "visible_task_nodes").items()),
        action=_acted(part.item("action")),
    )


def _acted(part: Part) -> Acted | None:
    if part.value is None:
        return None
    verb, *words = part.as_text().split()
    if verb[:1] + verb[-1:] != "[]":
        part.refuse(f"expected an action such as '[open] <fridge> (103)', found {brief(part.value)}")
    if verb == "[send_message]":
        return Acted("send_message", (), int("".join(words)) if "".join(words).isdecimal() else 0)
    inner = [word[1:-1] for word in words if word[0] + word[-1] == "()"]
    if not all(word.isdecimal() and len(word) < 10 for word in inner):
        part.refuse(f"expected numbers in brackets, found {brief(part.value)}")
    return Acted(verb[1:-1], tuple(int(word) for word in inner))
