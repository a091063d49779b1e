"""What an agent knows as arrays: a window of its chart, a row of numbers, and which actions it knows to be possible.

Nothing here depends on what an agent has not seen: what it does not know of is 0.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.errors import UserError
from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.transport.physics import BED_RANGE, GRASP_RANGE
from teamworld.worlds.transport.scene import CONTAINERS, TARGETS, Instance
from teamworld.worlds.transport.sight import CHART, CHART_CELL, CHART_X, CHART_Z, NEVER, Field, TransportKnowledge
from teamworld.worlds.transport.state import (
    CAPACITY,
    CONTAINER,
    DROP,
    FORWARD,
    GRASP,
    I64,
    LEFT,
    NOBODY,
    NONE,
    NOTHING,
    PUT,
    RIGHT,
    STAY,
    TARGET,
    U8,
    Ground,
    Primitive,
    TransportState,
)

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

#: Cells of a window along each side, the agent in the middle; cells of 0.125 m.
WINDOW: Final = 49
#: What a cell of a window shows beside the four kinds of a chart's cells: a target, a container, the bed, agents.
TARGET_HERE, CONTAINER_HERE, BED_HERE, TEAMMATE_HERE, SELF_HERE = range(4, 9)
#: Rows for targets and containers, and for rooms; the published episodes have up to 15 and 9.
ROWS, ROOMS = 16, 10
#: Of the agent itself: metres, its heading, the share of the frames that is gone, whether its last action still runs.
OWN: Final = ("x", "z", "east", "north", "time", "busy", "bed_known", "bed_x", "bed_z")
#: Of each kind of target, in the order of ``TARGETS``: how many are wanted.
KINDS: Final = 6
#: Of each room, by number: whether it has a name, whether it is a bedroom, its middle, the share seen, whether here.
ROOM: Final = ("named", "bedroom", "x", "z", "seen", "here")
#: Of each teammate, by number: whether it was ever seen and is seen now, where, and (row + 1) of what each hand held.
TEAMMATE: Final = ("known", "seen", "x", "z", "left", "right")
#: Of each target and container: ``inside`` is (row + 1) of its container; ``kind`` the place of its kind among targets,
#: then containers, plus 1; ``by_bed`` that it lies where targets are delivered, as far as the agent knows.
THING: Final = (
    "known", "seen", "x", "z", "left_hand", "right_hand", "held_by_teammate", "inside", "container", "kind", "by_bed",
)  # fmt: skip
#: Actions: wait, move forward, turn left and right, put in, drop from the left and right hand, then grasp each row.
PLAIN: Final = ("wait", "forward", "turn_left", "turn_right", "put_in", "drop_left", "drop_right")
ACTIONS: Final = len(PLAIN) + ROWS
#: Frames of waiting.
WAIT_FRAMES: Final = 1


def length(agents: int) -> int:
    """Return how many numbers an observation has in a team of so many."""
    return len(OWN) + KINDS + ROOMS * len(ROOM) + (agents - 1) * len(TEAMMATE) + ROWS * len(THING)


def field_names(agents: int) -> tuple[str, ...]:
    """Return what each number of an observation is called in a team of so many."""
    parts: list[tuple[str, tuple[str, ...]]] = [(f"room_{k}", ROOM) for k in range(ROOMS)]
    parts += [(f"teammate_{k}", TEAMMATE) for k in range(agents - 1)]
    parts += [(f"thing_{k}", THING) for k in range(ROWS)]
    wanted = (f"wanted_{k}" for k in range(KINDS))
    return (*OWN, *wanted, *(f"{part}_{name}" for part, names in parts for name in names))


class FeatureTable(NamedTuple):
    """The rows of an episode, as arrays for the kernels."""

    items: I64
    """(16,): the item of each row, -1 for none."""
    rows: I64
    """(M,): the row of each item, -1 for none."""
    kinds: I64
    """(M,): the place of its kind among those of the task, plus 1; 0 for things of no use."""
    wanted: Floats
    """(6,): targets wanted of each kind."""


def make_table(instance: Instance) -> FeatureTable:
    """Return the rows of an episode: targets, then containers, by kind and number.

    Raises:
        UserError: There are more things or rooms than rows.
    """
    order = (*TARGETS[instance.task], *CONTAINERS[instance.task])
    useful = [k for k, item in enumerate(instance.items) if item.kind != "unrelated"]
    useful.sort(key=lambda k: (order.index(instance.items[k].name), instance.items[k].id))
    if len(useful) > ROWS or len(instance.plan.rooms) > ROOMS:
        raise UserError(
            f"{instance.name}: the array face has {ROWS} rows for things and {ROOMS} for rooms, got {len(useful)} and "
            f"{len(instance.plan.rooms)}"
        )
    items, rows = np.full(ROWS, NOTHING, np.int64), np.full(len(instance.items), NOTHING, np.int64)
    items[: len(useful)], rows[useful] = useful, np.arange(len(useful))
    kinds = np.zeros(len(instance.items), np.int64)
    kinds[useful] = [order.index(instance.items[k].name) + 1 for k in useful]
    wanted = np.array([instance.goals.get(kind, 0) for kind in TARGETS[instance.task]], np.float32)
    return FeatureTable(items, rows, kinds, wanted)


def make_primitive(table: FeatureTable, state: TransportState, agent: int, action: int) -> Primitive:
    """Return what an action means now; a grasp of a row without a thing waits for a frame."""
    if action < len(PLAIN):
        plain = (STAY, FORWARD, LEFT, RIGHT, PUT, DROP, DROP)[action]
        return Primitive(plain, hand=int(action == len(PLAIN) - 1), frames=WAIT_FRAMES)
    item = int(table.items[action - len(PLAIN)])
    if item == NOTHING:
        return Primitive(STAY, frames=WAIT_FRAMES)
    return Primitive(GRASP, item, 0 if state.hands[agent, 0] == NOTHING else 1)


@compiled
def write_observations(
    ground: Ground,
    field: Field,
    state: TransportState,
    knowledge: TransportKnowledge,
    table: FeatureTable,
    horizon: int,
    windows: U8,
    numbers: Floats,
    masks: Mask,
) -> None:
    """Write what each agent knows.

    Args:
        ground: The instance.
        field: The same for sight.
        state: The moment.
        knowledge: What agents know.
        table: The rows of the episode.
        horizon: Frames of an episode.
        windows: (N, 49, 49): windows of their charts, with what they know to be where; written.
        numbers: (N, ``length``): OWN, KINDS, ROOMS x ROOM, teammates x TEAMMATE, ROWS x THING; written.
        masks: (N, ACTIONS): 1 where an agent knows an action to be possible, 0 elsewhere; written.
    """
    for agent in range(len(state.agents)):
        _write_window(ground, state, knowledge, table, agent, windows[agent])
        _write_numbers(ground, field, state, knowledge, table, agent, horizon, numbers[agent])
        _write_mask(ground, state, knowledge, table, agent, masks[agent])


@part
def _write_numbers(
    ground: Ground,
    field: Field,
    state: TransportState,
    knowledge: TransportKnowledge,
    table: FeatureTable,
    agent: int,
    horizon: int,
    numbers: Floats,
) -> None:
    """Write the row of numbers of an agent."""
    numbers[:] = 0.0
    body, own = state.agents[agent], knowledge.own[agent]
    numbers[0], numbers[1], numbers[2], numbers[3] = body.x, body.z, body.east, body.north
    numbers[4], numbers[5] = state.clock[0] / horizon, body.verb != NONE
    if own.bed != NEVER:
        numbers[6], numbers[7], numbers[8] = 1.0, ground.bed_x, ground.bed_z
    at = len(OWN)
    numbers[at : at + KINDS] = table.wanted
    at += KINDS
    for room in range(len(ground.rooms)):
        box, visit = ground.rooms[room], knowledge.rooms[agent, room]
        numbers[at], numbers[at + 1] = box.is_named, box.is_bedroom
        numbers[at + 2], numbers[at + 3] = (box.x0 + box.x1) / 2, (box.z0 + box.z1) / 2
        numbers[at + 4], numbers[at + 5] = visit.cells / max(field.size[room], 1), body.room == room
        at += len(ROOM)
    at = len(OWN) + KINDS + ROOMS * len(ROOM)
    for teammate in range(len(state.agents)):
        if teammate != agent:
            met = knowledge.teammates[agent, teammate]
            if met.seen != NEVER:
                numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3] = 1.0, met.visible, met.x, met.z
                numbers[at + 4], numbers[at + 5] = _row_number(table, met.left), _row_number(table, met.right)
            at += len(TEAMMATE)
    for row in range(ROWS):
        if table.items[row] != NOTHING:
            _write_thing(ground, state, knowledge, table, agent, table.items[row], numbers[at : at + len(THING)])
        at += len(THING)


@part
def _row_number(table: FeatureTable, item: int) -> float:
    return 0.0 if item == NOTHING else float(table.rows[item] + 1)


@part
def _write_thing(
    ground: Ground,
    state: TransportState,
    knowledge: TransportKnowledge,
    table: FeatureTable,
    agent: int,
    item: int,
    numbers: Floats,
) -> None:
    """Write what an agent knows of a target or container."""
    known = knowledge.things[agent, item]
    if known.seen == NEVER:
        return
    numbers[0], numbers[1] = 1.0, known.visible
    if known.holder == NOBODY and known.inside == NOTHING:
        numbers[2], numbers[3] = known.x, known.z
        if knowledge.own[agent].bed != NEVER:
            east, north = known.x - ground.bed_x, known.z - ground.bed_z
            numbers[10] = east * east + north * north < BED_RANGE * BED_RANGE
    numbers[4], numbers[5] = state.hands[agent, 0] == item, state.hands[agent, 1] == item
    numbers[6] = known.holder != NOBODY and known.holder != agent
    numbers[7] = _row_number(table, known.inside)
    numbers[8], numbers[9] = ground.items[item].kind == CONTAINER, table.kinds[item]


@part
def _write_mask(
    ground: Ground, state: TransportState, knowledge: TransportKnowledge, table: FeatureTable, agent: int, mask: Mask
) -> None:
    """Write which actions an agent knows to be possible; while its last one runs it can only go on."""
    mask[:] = 0
    mask[0] = 1
    body = state.agents[agent]
    if body.verb != NONE:
        return
    mask[1:4] = 1
    left, right = state.hands[agent, 0], state.hands[agent, 1]
    mask[5], mask[6] = left != NOTHING, right != NOTHING
    if left != NOTHING and right != NOTHING:
        container = right if ground.items[right].kind == CONTAINER else left
        thing = left if container == right else right
        count = 0
        for item in range(len(state.items)):
            count += state.items[item].inside == container
        is_pair = ground.items[container].kind == CONTAINER and ground.items[thing].kind == TARGET
        mask[4] = is_pair and count < CAPACITY
        return
    for row in range(ROWS):
        item = table.items[row]
        if item != NOTHING:
            known = knowledge.things[agent, item]
            is_lying = known.seen != NEVER and known.holder == NOBODY and known.inside == NOTHING
            east, north = known.x - body.x, known.z - body.z
            mask[len(PLAIN) + row] = is_lying and east * east + north * north <= GRASP_RANGE * GRASP_RANGE


@part
def _write_window(
    ground: Ground, state: TransportState, knowledge: TransportKnowledge, table: FeatureTable, agent: int, window: U8
) -> None:
    """Write the window of an agent's chart."""
    body = state.agents[agent]
    column = int((body.x - CHART_X) / CHART_CELL + 0.5) - WINDOW // 2
    row = int((body.z - CHART_Z) / CHART_CELL + 0.5) - WINDOW // 2
    window[:] = 0
    first, last = max(column, 0), min(column + WINDOW, CHART[0])
    low, high = max(row, 0), min(row + WINDOW, CHART[1])
    if first < last and low < high:
        window[first - column : last - column, low - row : high - row] = knowledge.chart[agent, first:last, low:high]
    if knowledge.own[agent].bed != NEVER:
        _mark(window, column, row, ground.bed_x, ground.bed_z, BED_HERE)
    for place in range(ROWS):
        item = table.items[place]
        if item != NOTHING:
            known = knowledge.things[agent, item]
            if known.seen != NEVER and known.holder == NOBODY and known.inside == NOTHING:
                is_box = ground.items[item].kind == CONTAINER
                _mark(window, column, row, known.x, known.z, CONTAINER_HERE if is_box else TARGET_HERE)
    for teammate in range(len(state.agents)):
        met = knowledge.teammates[agent, teammate]
        if met.visible:
            _mark(window, column, row, met.x, met.z, TEAMMATE_HERE)
    window[WINDOW // 2, WINDOW // 2] = SELF_HERE


@part
def _mark(window: U8, column: int, row: int, x: float, z: float, sign: int) -> None:
    """Put a sign into a window, where the place is in it."""
    i, j = int((x - CHART_X) / CHART_CELL + 0.5) - column, int((z - CHART_Z) / CHART_CELL + 0.5) - row
    if 0 <= i < WINDOW and 0 <= j < WINDOW:
        window[i, j] = sign
