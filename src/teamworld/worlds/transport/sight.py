"""What an agent sees: which things, and how much of the floor, computed on the map instead of on pictures.

The camera follows the head: 1.695 m up, 0.087 m ahead, 6.45 degrees down, 90 degrees square (recorded start pose of
TDW-MAT). Whether something is in the picture is exact; walls and furniture hide what is behind them by their heights,
as the rasters have them. A thing is seen if it would fill at least 5 pixels of a picture of 256 x 256 and is nearer
than 10 m, the bounds of ``agent_memory.py`` in CoELA's ``tdw_mat``.

Each agent draws its own chart of 240 x 120 cells of 0.125 m (``agent_memory.py``): unknown, free, obstacle or wall, up
to 5 m ahead. All kernels stand in this file, because numba's cache does not notice a change in another.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.transport.state import (
    F32,
    F64,
    I64,
    NOBODY,
    NOTHING,
    U8,
    UNRELATED,
    Ground,
    Records,
    TransportState,
)

I8: TypeAlias = npt.NDArray[np.int8]
I32: TypeAlias = npt.NDArray[np.int32]

#: The charts of agents: their cells, where the middle of the first one lies, the side of a cell (``agent_memory.py``).
CHART: Final = (240, 120)
CHART_X, CHART_Z, CHART_CELL = -15.0, -7.5, 0.125
#: What a cell of a chart is known to be.
UNKNOWN, FREE, OBSTACLE, WALL = range(4)
#: How near a cell is to an obstacle: more than 2 cells away, within 2, within 1, an obstacle itself, a wall.
CLEAR, NEAR, BESIDE, IN_OBSTACLE, IN_WALL = range(5)

#: Metres above the floor, and ahead of the middle of the body.
EYES, EYES_AHEAD = 1.695, 0.087
#: Degrees by which the camera looks down.
PITCH: Final = 6.45
#: Pixels of the picture over twice the tangent of half its angle, 45 degrees.
FOCAL: Final = 128.0
#: Pixels that a thing fills at least, and metres up to which it is seen.
LEAST_PIXELS, FARTHEST = 5.0, 10.0
#: Metres ahead up to which the chart is drawn: with a perfect segmentation, and with a detector, whose range bounds
#: things, too.
CHART_RANGE, DETECTOR_RANGE = 5.0, 3.0
#: Height from which something is an obstacle of the chart, metres (``agent_memory.py``).
LOWEST_OBSTACLE: Final = 0.1
#: Heights of an agent: its head, and its width.
BODY_HEIGHT, BODY_WIDTH = 1.7, 0.45
#: Looks in a row in which a detector must not find a thing where it was before the agent takes it to be gone.
MISSES: Final = 3

# Rays lie 1 / 60 of their depth apart, 0.083 m at 5 m, and have a sample every 0.12 m at most: no cell, and no wall,
# which is a cell thick, is between two of them.
_RAYS: Final = 60
_STEP: Final = 0.085
_COS, _SIN = round(math.cos(math.radians(PITCH)), 12), round(math.sin(math.radians(PITCH)), 12)
#: Metres ahead per metre below the eyes from which something is in the picture: the floor from 1.35 m on.
_BLIND: Final = (_COS - _SIN) / (_COS + _SIN)
_SIGHT_STEP: Final = 0.05

#: What an agent knows of an item: the frame in which it saw it last (-1: it does not know of it), whether it sees it
#: now; where, in whose hands, in which container and on which furniture it was then (-1 for none of each); in how many
#: looks in a row it was missed.
SIGHTING: Final = np.dtype(
    [("seen", "i8"), ("visible", "?"), *((n, "f8") for n in ("x", "y", "z")), ("holder", "i8"), ("inside", "i8"),
     ("support", "i8"), ("missed", "i8")], align=True
)  # fmt: skip
#: What an agent knows of another: the frame in which it saw it last, whether it sees it now, where, what it held.
MEETING: Final = np.dtype(
    [("seen", "i8"), ("visible", "?"), ("x", "f8"), ("z", "f8"), ("room", "i8"), ("left", "i8"), ("right", "i8")],
    align=True,
)
#: What an agent knows of a room: how many of its cells it has seen, whether it has looked around in it, the frame in
#: which it was last in it, and saw it last (-1: never), and how well it knows it: 0 not at all, 1 in part, 2 whole.
VISIT: Final = np.dtype(
    [("cells", "i8"), ("looked", "?"), ("been", "i8"), ("seen", "i8"), ("explored", "i8")], align=True
)
#: An agent itself: the room that it is in, the frame in which it saw the bed last (-1: never), whether it sees it now,
#: and how often something was new to it.
SELF: Final = np.dtype([("room", "i8"), ("bed", "i8"), ("sees_bed", "?"), ("news", "i8")], align=True)
NEVER: Final = -1
NOT_EXPLORED, PART, WHOLE = range(3)
#: Shares of a room's cells from which on it is known in part, and whole.
PART_SHARE, WHOLE_SHARE = 0.1, 0.9


class Field(NamedTuple):
    """What sight reads of an instance beside ``Ground``; never changes."""

    tall: F32
    """(240, 120): how high walls and furniture reach in each cell of the chart, metres."""
    room: I8
    """(240, 120): the room of each cell, -1 where it is in none or in a wall."""
    size: I64
    """(R,): cells of each room."""
    wall_height: float
    """From which height on a cell is a wall."""


class TransportKnowledge(NamedTuple):
    """What agents have seen so far. N agents, M items, R rooms."""

    chart: U8
    """(N, 240, 120): what each cell is known to be."""
    near: U8
    """(N, 240, 120): how near each cell is to a known obstacle."""
    things: Records
    """(N, M) of ``SIGHTING``."""
    teammates: Records
    """(N, N) of ``MEETING``."""
    rooms: Records
    """(N, R) of ``VISIT``."""
    own: Records
    """(N,) of ``SELF``."""
    stamp: I32
    """(240, 120): the look in which a thing or an agent was last seen in a cell; for use within a look."""
    looks: I64
    """(1,): looks so far."""

    def copy(self) -> TransportKnowledge:
        """Return another that can be changed without changing this one."""
        return TransportKnowledge._make(array.copy() for array in self)


class Shape(NamedTuple):
    """Something upright that may be seen."""

    x: float
    """Its middle."""
    low: float
    """The height of its lower side."""
    z: float
    high: float
    """How high it is; its upper side has to be in sight."""
    radius: float
    """Half its width."""
    support: int
    """The furniture that it lies on or is, which does not hide it; -1 for none."""


class Moment(NamedTuple):
    """One moment with all that it rests on: what kernels read and change."""

    ground: Ground
    field: Field
    state: TransportState
    knowledge: TransportKnowledge


class Eyes(NamedTuple):
    """How well agents perceive."""

    chart_range: float = CHART_RANGE
    """Metres ahead up to which the chart is drawn."""
    thing_range: float = FARTHEST
    """Metres ahead up to which things are seen."""
    miss: float = 0.0
    """Probability that a thing in sight is not noticed in a look."""


def make_field(ground: Ground, wall_height: float) -> Field:
    """Return what sight reads of an instance."""
    i = np.arange(ground.height.shape[0])
    j = np.arange(ground.height.shape[1])
    columns = np.floor((ground.x0 + (i + 0.5) * ground.cell - CHART_X) / CHART_CELL + 0.5).astype(np.int64)
    rows = np.floor((ground.z0 + (j + 0.5) * ground.cell - CHART_Z) / CHART_CELL + 0.5).astype(np.int64)
    inside = np.ix_((columns >= 0) & (columns < CHART[0]), (rows >= 0) & (rows < CHART[1]))
    at = np.ix_(columns[(columns >= 0) & (columns < CHART[0])], rows[(rows >= 0) & (rows < CHART[1])])
    tall = np.zeros(CHART, np.float32)
    np.maximum.at(tall, at, ground.height[inside])
    x = (CHART_X + CHART_CELL * np.arange(CHART[0]))[:, None]
    z = (CHART_Z + CHART_CELL * np.arange(CHART[1]))[None, :]
    room = np.full(CHART, -1, np.int8)
    for number, box in reversed(list(enumerate(ground.rooms))):
        is_in = (box["x0"] <= x) & (x <= box["x1"]) & (box["z0"] <= z) & (z <= box["z1"])
        room[is_in & (tall < wall_height)] = number
    size = np.array([np.count_nonzero(room == number) for number in range(len(ground.rooms))], np.int64)
    return Field(tall, room, size, float(np.float32(wall_height)))


def begin(agents: int, items: int, rooms: int) -> TransportKnowledge:
    """Return what agents know before they look for the first time: nothing."""
    things, teammates = np.zeros((agents, items), SIGHTING), np.zeros((agents, agents), MEETING)
    visits, own = np.zeros((agents, rooms), VISIT), np.zeros(agents, SELF)
    for name in ("seen", "holder", "inside", "support"):
        things[name] = NEVER
    for name in ("seen", "left", "right"):
        teammates[name] = NEVER
    visits["been"] = visits["seen"] = own["bed"] = own["room"] = NEVER
    charts = np.zeros((2, agents, *CHART), np.uint8)
    return TransportKnowledge(
        charts[0], charts[1], things, teammates, visits, own, np.zeros(CHART, np.int32), np.zeros(1, np.int64)
    )


@compiled
def look(
    ground: Ground, field: Field, eyes: Eyes, state: TransportState, knowledge: TransportKnowledge, draws: F64
) -> None:
    """Let all agents look: what each sees goes into what it knows.

    Args:
        ground: The instance.
        field: The same for sight.
        eyes: How well agents perceive.
        state: The moment.
        knowledge: What agents know; changed.
        draws: (N, M + N): numbers drawn from 0 to 1 for each agent, and each item and agent in its sight; read only
            where ``eyes.miss`` is above 0.
    """
    for agent in range(len(state.agents)):
        _look_ahead(ground, field, eyes, state, knowledge, agent, draws[agent])


@part
def _look_ahead(
    ground: Ground,
    field: Field,
    eyes: Eyes,
    state: TransportState,
    knowledge: TransportKnowledge,
    agent: int,
    draws: F64,
) -> None:
    """Let an agent look."""
    knowledge.looks[0] += 1
    frame = state.clock[0]
    _note_room(state, knowledge, agent, frame)
    for other in range(len(state.agents)):
        if other != agent:
            _meet(ground, eyes, state, knowledge, agent, other, draws[len(state.items) + other], frame)
    for item in range(len(state.items)):
        if ground.items[item].kind != UNRELATED and state.items[item].inside == NOTHING:
            _notice(ground, eyes, state, knowledge, agent, item, draws[item], frame)
    for item in range(len(state.items)):
        if ground.items[item].kind != UNRELATED and state.items[item].inside != NOTHING:
            _notice(ground, eyes, state, knowledge, agent, item, draws[item], frame)
    _draw_seen(ground, field, eyes, state, knowledge, agent)
    _draw_chart(field, eyes, state, knowledge, agent)
    _see_bed(ground, eyes, state, knowledge, agent, frame)
    _judge_rooms(field, knowledge, agent)


# ---- things and agents


@part
def _note_room(state: TransportState, knowledge: TransportKnowledge, agent: int, frame: int) -> None:
    """Note the room that an agent is in."""
    room = state.agents[agent].room
    if knowledge.own[agent].room != room:
        knowledge.own[agent].room = room
        knowledge.own[agent].news += 1
    knowledge.rooms[agent, room].been = knowledge.rooms[agent, room].seen = frame


@part
def _meet(
    ground: Ground,
    eyes: Eyes,
    state: TransportState,
    knowledge: TransportKnowledge,
    agent: int,
    other: int,
    draw: float,
    frame: int,
) -> None:
    """Note whether an agent sees another, and what that one holds."""
    met, body = knowledge.teammates[agent, other], state.agents[other]
    shape = Shape(body.x, 0.0, body.z, BODY_HEIGHT, BODY_WIDTH / 2, NOTHING)
    is_seen = _is_in_sight(ground, eyes.thing_range, state, agent, shape)
    if not is_seen or draw < eyes.miss:
        met.visible = False
        return
    left, right = state.hands[other, 0], state.hands[other, 1]
    if not met.visible or met.left != left or met.right != right:
        knowledge.own[agent].news += 1
    met.seen, met.visible, met.left, met.right = frame, True, left, right
    met.x, met.z, met.room = body.x, body.z, body.room


@part
def _notice(
    ground: Ground,
    eyes: Eyes,
    state: TransportState,
    knowledge: TransportKnowledge,
    agent: int,
    item: int,
    draw: float,
    frame: int,
) -> None:
    """Note whether an agent sees an item; forget where it was if it is not there any more."""
    known, thing, kind = knowledge.things[agent, item], state.items[item], ground.items[item]
    radius = (kind.width + kind.depth) / 4
    if thing.inside != NOTHING:
        is_seen = bool(knowledge.things[agent, thing.inside].visible)
    elif thing.holder == agent:
        is_seen = True
    elif thing.holder != NOBODY:
        is_seen = knowledge.teammates[agent, thing.holder].visible and draw >= eyes.miss
    elif known.seen != NEVER and known.holder == agent:
        is_seen = True  # it has just let go of it: it falls too near to be in the picture
    else:
        shape = Shape(thing.x, thing.y, thing.z, kind.height, radius, thing.support)
        is_seen = draw >= eyes.miss and _is_in_sight(ground, eyes.thing_range, state, agent, shape)
    if is_seen:
        is_moved = known.holder != thing.holder or known.inside != thing.inside
        if thing.holder == NOBODY and thing.inside == NOTHING:
            is_moved = is_moved or known.x != thing.x or known.z != thing.z
        if known.seen == NEVER or is_moved:
            knowledge.own[agent].news += 1
        known.seen, known.visible, known.missed = frame, True, 0
        known.holder, known.inside, known.support = thing.holder, thing.inside, thing.support
        known.x, known.y, known.z = thing.x, thing.y, thing.z
        return
    known.visible = False
    if known.seen == NEVER:
        return
    if known.inside != NOTHING:
        is_amiss = bool(knowledge.things[agent, known.inside].visible)
    elif known.holder == agent:
        is_amiss = True
    elif known.holder != NOBODY:
        is_amiss = bool(knowledge.teammates[agent, known.holder].visible)
    else:
        shape = Shape(known.x, known.y, known.z, kind.height, radius, known.support)
        is_amiss = _is_in_sight(ground, eyes.thing_range, state, agent, shape)
    known.missed = known.missed + 1 if is_amiss else 0
    if known.missed >= (MISSES if eyes.miss > 0.0 else 1):
        known.seen, known.holder, known.inside, known.missed = NEVER, NOBODY, NOTHING, 0
        knowledge.own[agent].news += 1


def forget(knowledge: TransportKnowledge, agent: int, item: int) -> None:
    """Let an agent take an item, which it does not see, to be gone from where it was."""
    known = knowledge.things[agent, item]
    known["seen"], known["holder"], known["inside"], known["missed"] = NEVER, NOBODY, NOTHING, 0
    knowledge.own[agent]["news"] += 1


@part
def _see_bed(
    ground: Ground, eyes: Eyes, state: TransportState, knowledge: TransportKnowledge, agent: int, frame: int
) -> None:
    """Note whether an agent sees the bed."""
    own = knowledge.own[agent]
    shape = Shape(ground.bed_x, 0.0, ground.bed_z, ground.bed_top, ground.bed_radius, ground.bed_owner)
    own.sees_bed = _is_in_sight(ground, eyes.thing_range, state, agent, shape)
    if own.sees_bed:
        if own.bed == NEVER:
            own.news += 1
        own.bed = frame


@part
def _is_in_sight(ground: Ground, most: float, state: TransportState, agent: int, shape: Shape) -> bool:
    """Return whether an agent sees something up to so many metres ahead: its middle or a side, and enough of it."""
    body, top = state.agents[agent], shape.low + shape.high
    eye_x, eye_z = body.x + EYES_AHEAD * body.east, body.z + EYES_AHEAD * body.north
    east, north, up = shape.x - eye_x, shape.z - eye_z, top - EYES
    ahead, side = east * body.east + north * body.north, east * body.north - north * body.east
    depth = ahead * _COS - up * _SIN
    if depth <= 0.0 or depth >= most or abs(ahead * _SIN + up * _COS) > depth:
        return False
    flat = math.sqrt(east * east + north * north)
    across = 2 * shape.radius
    tall = (shape.high * flat + across * abs(up)) / math.sqrt(flat * flat + up * up)
    third = across * tall * (FOCAL / depth) * (FOCAL / depth) / 3  # pixels for each of three points
    if 3 * third < LEAST_PIXELS:
        return False
    seen = 0.0
    for point in range(-1, 2):
        aside = point * shape.radius
        if abs(side + aside) <= depth:
            to_x, to_z = shape.x + aside * body.north, shape.z - aside * body.east
            if _is_clear(ground, eye_x, eye_z, to_x, top, to_z, shape.support):
                seen += third
    return seen >= LEAST_PIXELS


@part
def _is_clear(ground: Ground, x: float, z: float, to_x: float, to_y: float, to_z: float, support: int) -> bool:
    """Return whether nothing stands between the eyes of an agent and a point."""
    east, north = to_x - x, to_z - z
    steps = int(math.sqrt(east * east + north * north) / _SIGHT_STEP) + 1
    column, row, up = (x - ground.x0) / ground.cell, (z - ground.z0) / ground.cell, EYES
    across, along, rise = east / ground.cell / steps, north / ground.cell / steps, (to_y - EYES) / steps
    for _ in range(1, steps):
        column += across
        row += along
        up += rise
        i, j = int(column), int(row)
        if 0 <= i < ground.height.shape[0] and 0 <= j < ground.height.shape[1]:
            is_other = support == NOTHING or ground.owner[i, j] != support
            if ground.height[i, j] > up and is_other:
                return False
    return True


# ---- the chart


@part
def _draw_seen(
    ground: Ground, field: Field, eyes: Eyes, state: TransportState, knowledge: TransportKnowledge, agent: int
) -> None:
    """Draw seen things and agents as obstacles, and stamp their cells: floor behind them must not clear these."""
    for item in range(len(state.items)):
        thing, kind = state.items[item], ground.items[item]
        if not _is_obstacle(ground, state, item) or _ahead_of(state, agent, thing.x, thing.z) >= eyes.chart_range:
            continue
        if kind.kind == UNRELATED:  # what is of no use is no thing to know of, but it stands in the way
            shape = Shape(thing.x, thing.y, thing.z, kind.height, (kind.width + kind.depth) / 4, thing.support)
            is_seen = _is_in_sight(ground, eyes.chart_range, state, agent, shape)
        else:
            is_seen = bool(knowledge.things[agent, item].visible)
        if is_seen:
            _stamp(field, state, knowledge, agent, thing.x, thing.z, kind.radius)
    for other in range(len(state.agents)):
        met = knowledge.teammates[agent, other]
        if met.visible and _ahead_of(state, agent, met.x, met.z) < eyes.chart_range:
            _stamp(field, state, knowledge, agent, met.x, met.z, BODY_WIDTH / 2)


@part
def _ahead_of(state: TransportState, agent: int, x: float, z: float) -> float:
    """Return how many metres ahead of an agent a place is."""
    body = state.agents[agent]
    return float((x - body.x) * body.east + (z - body.z) * body.north)


@part
def _is_obstacle(ground: Ground, state: TransportState, item: int) -> bool:
    """Return whether an item that is seen is an obstacle of the chart."""
    thing = state.items[item]
    is_loose = thing.holder == NOBODY and thing.inside == NOTHING and thing.support == NOTHING
    return bool(is_loose and ground.items[item].height > LOWEST_OBSTACLE)


@part
def _stamp(
    field: Field, state: TransportState, knowledge: TransportKnowledge, agent: int, x: float, z: float, radius: float
) -> None:
    column, row, reach = (x - CHART_X) / CHART_CELL, (z - CHART_Z) / CHART_CELL, radius / CHART_CELL
    for i in range(max(int(column - reach + 0.5), 0), min(int(column + reach + 0.5), CHART[0] - 1) + 1):
        for j in range(max(int(row - reach + 0.5), 0), min(int(row + reach + 0.5), CHART[1] - 1) + 1):
            knowledge.stamp[i, j] = knowledge.looks[0]
            if knowledge.chart[agent, i, j] < OBSTACLE:
                _draw(field, knowledge, agent, state.clock[0], i, j, OBSTACLE)


@part
def _draw_chart(field: Field, eyes: Eyes, state: TransportState, knowledge: TransportKnowledge, agent: int) -> None:
    """Draw what is ahead: along each ray the floor, and obstacles as far as lower ones do not hide them."""
    body, chart, tall = state.agents[agent], knowledge.chart[agent], field.tall
    x = (body.x + EYES_AHEAD * body.east - CHART_X) / CHART_CELL + 0.5
    z = (body.z + EYES_AHEAD * body.north - CHART_Z) / CHART_CELL + 0.5
    step, steps = _STEP / CHART_CELL, int(eyes.chart_range / _STEP)
    for ray in range(-_RAYS, _RAYS + 1):
        aside = ray / _RAYS
        across, along = step * (body.east + aside * body.north), step * (body.north - aside * body.east)
        horizon = -np.inf  # the greatest slope so far, in metres up per metre ahead
        for count in range(2, steps + 1):
            i, j = int(x + count * across), int(z + count * along)
            if not (0 <= i < CHART[0] and 0 <= j < CHART[1]):
                break
            ahead, high = count * _STEP, tall[i, j]
            if high <= LOWEST_OBSTACLE:
                was, is_stamped = chart[i, j], knowledge.stamp[i, j] == knowledge.looks[0]
                is_seen = ahead >= EYES * _BLIND and horizon * ahead < -EYES
                if is_seen and was != FREE and not (is_stamped and was != UNKNOWN):
                    _draw(field, knowledge, agent, state.clock[0], i, j, FREE)
            elif high - EYES > horizon * ahead:
                horizon = (high - EYES) / ahead
                is_wall = high >= field.wall_height
                if ahead >= (EYES - high) * _BLIND and chart[i, j] != (WALL if is_wall else OBSTACLE):
                    _draw(field, knowledge, agent, state.clock[0], i, j, WALL if is_wall else OBSTACLE)
                if is_wall:
                    break


@part
def _draw(field: Field, knowledge: TransportKnowledge, agent: int, frame: int, i: int, j: int, kind: int) -> None:
    """Draw a cell, and how near it and those around it are to an obstacle."""
    chart, near = knowledge.chart[agent], knowledge.near[agent]
    was = chart[i, j]
    chart[i, j] = kind
    if was == UNKNOWN and field.room[i, j] >= 0:
        knowledge.rooms[agent, field.room[i, j]].cells += 1
        knowledge.rooms[agent, field.room[i, j]].seen = frame
    if kind == FREE and was == UNKNOWN:
        return
    for column in range(max(i - 2, 0), min(i + 2, CHART[0] - 1) + 1):
        for row in range(max(j - 2, 0), min(j + 2, CHART[1] - 1) + 1):
            if kind == FREE:
                near[column, row] = _find_near(chart, column, row)
            else:
                near[column, row] = max(near[column, row], _nearness(column - i, row - j, kind))


@part
def _nearness(across: int, along: int, kind: int) -> int:
    """Return how near a cell is to another that is an obstacle or a wall."""
    apart = max(abs(across), abs(along))
    if apart == 0:
        return IN_WALL if kind == WALL else IN_OBSTACLE
    return BESIDE if apart == 1 else NEAR


@part
def _find_near(chart: U8, i: int, j: int) -> int:
    """Return how near a cell is to the nearest obstacle of a chart."""
    nearest = CLEAR
    for column in range(max(i - 2, 0), min(i + 2, CHART[0] - 1) + 1):
        for row in range(max(j - 2, 0), min(j + 2, CHART[1] - 1) + 1):
            if chart[column, row] >= OBSTACLE:
                nearest = max(nearest, _nearness(column - i, row - j, chart[column, row]))
    return nearest


@part
def _judge_rooms(field: Field, knowledge: TransportKnowledge, agent: int) -> None:
    """Judge how well an agent knows each room."""
    for room in range(len(field.size)):
        visit = knowledge.rooms[agent, room]
        explored = NOT_EXPLORED
        if visit.looked or visit.cells >= WHOLE_SHARE * field.size[room]:
            explored = WHOLE
        elif visit.been != NEVER or visit.cells >= PART_SHARE * field.size[room]:
            explored = PART
        if explored > visit.explored:
            visit.explored = explored
            knowledge.own[agent].news += 1
