"""Frames of the transport world: how bodies walk and turn, what hands do, when a thing counts as delivered.

One frame is one exchange with the simulator of the benchmark. ``run`` goes through frames until the action of an agent
ends: then all agents look and decide, as in TDW-MAT, where agents whose action still runs let it run on. What each
action takes was measured in recorded runs of the benchmark and read from TDW 1.11.23 (``replicant/actions``):
``docs/reference/worlds/transport.md`` has the table.

All kernels stand in this file, because numba's cache does not notice a change in another.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from teamworld.worlds.kernel_compiler import compiled, part
from teamworld.worlds.transport.state import (
    BLOCKED,
    CAPACITY,
    CONTAINED,
    CONTAINER,
    CONTAINER_FULL,
    DROP,
    EMPTY_HAND,
    F64,
    FAILURE,
    FORWARD,
    GRASP,
    HAND_FULL,
    HELD,
    LEFT,
    NOBODY,
    NONE,
    NOTHING,
    NOTHING_TO_PUT,
    OK,
    PUT,
    RIGHT,
    RUNNING,
    SPILLED,
    SUCCESS,
    TARGET,
    TOO_FAR,
    Ground,
    Primitive,
    Rules,
    TransportState,
)

#: Degrees of a turn, and its frames.
TURN: Final = 15.0
TURN_FRAMES: Final = 2
#: Frames of a move forward before the body walks; in the second the probe looks ahead.
START_FRAMES: Final = 2
#: Metres of a whole move forward, and the frames in which the body walks: 9 in all with the two before.
STRIDE: Final = 0.44
STRIDE_FRAMES: Final = 7
#: Metres of one frame of walking.
PACE: Final = STRIDE / STRIDE_FRAMES
#: The probe ahead of a walking body: how far its middle is, half its width, half its depth, metres (TDW, ``move_by``).
PROBE_AHEAD, PROBE_WIDE, PROBE_DEEP = 0.5, 0.6375 / 2, 0.175 / 2
#: Metres up to which a thing can be grasped, and to which the body walks for it (TDW-MAT, ``reach_for``).
GRASP_RANGE, GRASP_NEAR = 2.0, 0.7
#: Frames of a grasp: turning to the thing and one before the walk, then the grasp itself.
GRASP_BEFORE, GRASP_AFTER = 3, 2
DROP_FRAMES: Final = 33
#: Metres ahead at which a thing falls that is let go.
DROP_AHEAD: Final = 0.5
#: Metres from the bed within which a target counts as delivered.
BED_RANGE: Final = 3.0

_COS, _SIN = round(math.cos(math.radians(TURN)), 12), round(math.sin(math.radians(TURN)), 12)
# Cosines and sines of the directions in which a blocked body slides on: ahead, 30 and 60 degrees to either side.
_HALF, _ROOT = 0.5, 0.866025403784
_SLIDES: Final = ((1.0, 0.0), (_ROOT, _HALF), (_ROOT, -_HALF), (_HALF, _ROOT), (_HALF, -_ROOT))
_ACROSS, _ALONG = 13, 4  # samples of the probe less one: no more than a cell of the rasters apart


def order(state: TransportState, agent: int, primitive: Primitive, luck: float = 1.0) -> None:
    """Begin a primitive action of an agent in place of the one that runs.

    Args:
        state: The moment; changed.
        agent: The number of the agent.
        primitive: What to do.
        luck: A number drawn from 0 to 1: a ``PUT`` fails where it is below ``Rules.put_failure``.
    """
    body = state.agents[agent]
    body["verb"], body["item"], body["hand"], body["length"] = primitive
    body["spent"] = body["phase"] = 0
    body["walked"], body["luck"] = 0.0, luck


def cancel(state: TransportState, agent: int) -> None:
    """Stop the primitive action of an agent where it is."""
    order(state, agent, Primitive(NONE))


@compiled
def run(ground: Ground, rules: Rules, state: TransportState, most: int) -> int:
    """Go through frames until a primitive action ends, at most ``most``; return how many.

    ``last``, ``status`` and ``reason`` of the agents then tell which have ended, and how.
    """
    agents = len(state.agents)
    for agent in range(agents):
        state.agents[agent].last, state.agents[agent].status, state.agents[agent].reason = NONE, RUNNING, OK
    frames, is_over = 0, False
    while frames < most and not is_over:
        frames += 1
        state.clock[0] += 1
        for agent in range(agents):
            if state.agents[agent].verb != NONE:
                state.agents[agent].spent += 1
                _do_frame(ground, rules, state, agent)
                if state.agents[agent].status != RUNNING:
                    state.agents[agent].last = state.agents[agent].verb
                    state.agents[agent].verb = NONE
                    is_over = True
    for agent in range(agents):
        state.agents[agent].room = _room_at(ground, state.agents[agent].x, state.agents[agent].z)
    _deliver(ground, state)
    return frames


@part
def _do_frame(ground: Ground, rules: Rules, state: TransportState, agent: int) -> None:
    """Do one frame of the action of an agent."""
    verb = state.agents[agent].verb
    if verb == FORWARD:
        _go_forward(ground, rules, state, agent)
    elif verb in (LEFT, RIGHT):
        if state.agents[agent].spent == 1:
            _turn(state, agent, _SIN if verb == RIGHT else -_SIN)
        if state.agents[agent].spent == TURN_FRAMES:
            state.agents[agent].status = SUCCESS
    elif verb == GRASP:
        _grasp(ground, rules, state, agent)
    elif verb == PUT:
        _put(ground, rules, state, agent)
    elif verb == DROP:
        _drop(ground, state, agent)
    elif state.agents[agent].spent >= state.agents[agent].length:
        state.agents[agent].status = SUCCESS


@part
def _fail(state: TransportState, agent: int, reason: int) -> None:
    state.agents[agent].status, state.agents[agent].reason = FAILURE, reason


# ---- walking


@part
def _turn(state: TransportState, agent: int, sine: float) -> None:
    """Turn an agent by 15 degrees to the right, or to the left for a negative sine."""
    east, north = state.agents[agent].east, state.agents[agent].north
    state.agents[agent].east = east * _COS + north * sine
    state.agents[agent].north = north * _COS - east * sine


@part
def _go_forward(ground: Ground, rules: Rules, state: TransportState, agent: int) -> None:
    """Do one frame of a move forward."""
    spent = state.agents[agent].spent
    if spent < START_FRAMES:
        return
    if spent > START_FRAMES and not _walk(ground, rules, state, agent):
        _end_move(ground, rules, state, agent)
    elif spent == START_FRAMES + STRIDE_FRAMES:
        state.agents[agent].status = SUCCESS
        state.agents[agent].moves += 1
    elif rules.is_faithful and _probe_hits(ground, rules, state, agent):
        _end_move(ground, rules, state, agent)


@part
def _end_move(ground: Ground, rules: Rules, state: TransportState, agent: int) -> None:
    """End a move that is blocked; the walk goes on for a moment and shifts the body where there is room."""
    _fail(state, agent, BLOCKED)
    state.agents[agent].moves += 1
    state.agents[agent].blocked += 1
    if not rules.is_faithful:
        return
    body = state.agents[agent]
    for slide in range(len(_SLIDES)):
        cosine, sine = _SLIDES[slide]
        way = rules.creep * cosine  # what of the push is left along an obstacle
        x = body.x + way * (body.east * cosine + body.north * sine)
        z = body.z + way * (body.north * cosine - body.east * sine)
        if _has_room(ground, rules, state, agent, x, z):
            body.x, body.z = x, z
            return


@part
def _walk(ground: Ground, rules: Rules, state: TransportState, agent: int) -> bool:
    """Walk for one frame; return whether there was room."""
    x = state.agents[agent].x + PACE * state.agents[agent].east
    z = state.agents[agent].z + PACE * state.agents[agent].north
    if not _has_room(ground, rules, state, agent, x, z):
        return False
    state.agents[agent].x, state.agents[agent].z = x, z
    state.agents[agent].walked += PACE
    return True


@part
def _has_room(ground: Ground, rules: Rules, state: TransportState, agent: int, x: float, z: float) -> bool:
    """Return whether the disc of an agent's body fits at a place.

    What it overlaps already does not hold it, as long as it does not get deeper into it; walls always do.
    """
    radius = rules.body_radius
    for wall in range(len(ground.walls)):
        east = max(ground.walls[wall, 0] - x, x - ground.walls[wall, 2], 0.0)
        north = max(ground.walls[wall, 1] - z, z - ground.walls[wall, 3], 0.0)
        if east * east + north * north < radius * radius:
            return False
    covered = _covered_cells(ground, radius, x, z)
    if covered > 0 and covered >= _covered_cells(ground, radius, state.agents[agent].x, state.agents[agent].z):
        return False
    for item in range(len(ground.items)):
        if _obstructs(ground, state, item):
            apart = radius + ground.items[item].radius
            if _comes_close(state, agent, x, z, state.items[item].x, state.items[item].z, apart):
                return False
    for other in range(len(state.agents)):
        if other != agent and _comes_close(
            state, agent, x, z, state.agents[other].x, state.agents[other].z, 2 * radius
        ):
            return False
    return True


@part
def _comes_close(state: TransportState, agent: int, x: float, z: float, to_x: float, to_z: float, apart: float) -> bool:
    """Return whether an agent that moves to a place comes nearer to another one than ``apart``."""
    after = (x - to_x) * (x - to_x) + (z - to_z) * (z - to_z)
    if after >= apart * apart:
        return False
    east, north = state.agents[agent].x - to_x, state.agents[agent].z - to_z
    return bool(after < east * east + north * north)


@part
def _obstructs(ground: Ground, state: TransportState, item: int) -> bool:
    """Return whether an item lies where a body could walk into it."""
    is_loose = state.items[item].holder == NOBODY and state.items[item].inside == NOTHING
    return bool(ground.items[item].blocks and is_loose and state.items[item].support == NOTHING)


@part
def _covered_cells(ground: Ground, radius: float, x: float, z: float) -> int:
    """Return how many cells of furniture have their middle in a disc."""
    cell, count = ground.cell, 0
    first = max(int((x - radius - ground.x0) / cell), 0)
    last = min(int((x + radius - ground.x0) / cell), ground.blocked.shape[0] - 1)
    low = max(int((z - radius - ground.z0) / cell), 0)
    high = min(int((z + radius - ground.z0) / cell), ground.blocked.shape[1] - 1)
    for i in range(first, last + 1):
        east = ground.x0 + (i + 0.5) * cell - x
        for j in range(low, high + 1):
            if ground.blocked[i, j] != 0:
                north = ground.z0 + (j + 0.5) * cell - z
                if east * east + north * north < radius * radius:
                    count += 1
    return count


@part
def _probe_hits(ground: Ground, rules: Rules, state: TransportState, agent: int) -> bool:
    """Return whether anything that stops a walk is in the box ahead of an agent: 0.64 m wide, 0.18 m deep."""
    east, north = state.agents[agent].east, state.agents[agent].north
    x, z = state.agents[agent].x + PROBE_AHEAD * east, state.agents[agent].z + PROBE_AHEAD * north
    for wall in range(len(ground.walls)):
        if _wall_in_probe(ground.walls, wall, x, z, east, north):
            return True
    for across in range(_ACROSS + 1):
        side = PROBE_WIDE * (2.0 * across / _ACROSS - 1.0)
        for along in range(_ALONG + 1):
            ahead = PROBE_DEEP * (2.0 * along / _ALONG - 1.0)
            i = int((x + ahead * east + side * north - ground.x0) / ground.cell)
            j = int((z + ahead * north - side * east - ground.z0) / ground.cell)
            if 0 <= i < ground.blocked.shape[0] and 0 <= j < ground.blocked.shape[1] and ground.blocked[i, j] != 0:
                return True
    for item in range(len(ground.items)):
        if _obstructs(ground, state, item) and _disc_in_probe(
            state.items[item].x - x, state.items[item].z - z, ground.items[item].radius, east, north
        ):
            return True
    for other in range(len(state.agents)):
        if other != agent and _disc_in_probe(
            state.agents[other].x - x, state.agents[other].z - z, rules.body_radius, east, north
        ):
            return True
    return False


@part
def _disc_in_probe(x: float, z: float, radius: float, east: float, north: float) -> bool:
    """Return whether a disc overlaps the probe; x and z are its middle from that of the probe."""
    ahead = max(abs(x * east + z * north) - PROBE_DEEP, 0.0)
    side = max(abs(x * north - z * east) - PROBE_WIDE, 0.0)
    return ahead * ahead + side * side < radius * radius


@part
def _wall_in_probe(walls: F64, wall: int, x: float, z: float, east: float, north: float) -> bool:
    """Return whether a wall overlaps the probe: no axis of either rectangle separates them."""
    half_x, half_z = (walls[wall, 2] - walls[wall, 0]) / 2, (walls[wall, 3] - walls[wall, 1]) / 2
    to_x, to_z = (walls[wall, 0] + walls[wall, 2]) / 2 - x, (walls[wall, 1] + walls[wall, 3]) / 2 - z
    east_size, north_size = abs(east), abs(north)
    if abs(to_x) >= half_x + PROBE_DEEP * east_size + PROBE_WIDE * north_size:
        return False
    if abs(to_z) >= half_z + PROBE_DEEP * north_size + PROBE_WIDE * east_size:
        return False
    if abs(to_x * east + to_z * north) >= PROBE_DEEP + half_x * east_size + half_z * north_size:
        return False
    return bool(abs(to_x * north - to_z * east) < PROBE_WIDE + half_x * north_size + half_z * east_size)


# ---- hands


@part
def _grasp(ground: Ground, rules: Rules, state: TransportState, agent: int) -> None:
    """Do one frame of a grasp: turn to the thing, walk up to it as far as the way is free, take it."""
    item, spent = state.agents[agent].item, state.agents[agent].spent
    if spent == 1:
        x, z = _way_to(state, agent, item)
        far = math.sqrt(x * x + z * z)
        if far > GRASP_RANGE:
            _fail(state, agent, TOO_FAR)
        elif state.hands[agent, state.agents[agent].hand] != NOTHING:
            _fail(state, agent, HAND_FULL)
        elif far > 0.0:
            state.agents[agent].east, state.agents[agent].north = x / far, z / far
    elif spent >= GRASP_BEFORE and state.agents[agent].phase == 0:
        if spent > GRASP_BEFORE and not _walk(ground, rules, state, agent):
            state.agents[agent].phase = 1
            return
        x, z = _way_to(state, agent, item)
        is_near = x * x + z * z <= GRASP_NEAR * GRASP_NEAR
        if is_near or (rules.is_faithful and _probe_hits(ground, rules, state, agent)):
            state.agents[agent].phase = 1  # a grasp is tried where the way is blocked, too, and succeeds
    elif spent >= GRASP_BEFORE:
        state.agents[agent].phase += 1
        if state.agents[agent].phase > GRASP_AFTER:
            _take(rules, state, agent, item)


@part
def _take(rules: Rules, state: TransportState, agent: int, item: int) -> None:
    """End a grasp: take the thing if nothing keeps it."""
    hand, holder = state.agents[agent].hand, state.items[item].holder
    if state.items[item].inside != NOTHING:
        _fail(state, agent, CONTAINED)
    elif holder != NOBODY and (holder == agent or not rules.can_steal):
        _fail(state, agent, HELD)
    else:
        if holder != NOBODY:
            for other in range(state.hands.shape[1]):
                if state.hands[holder, other] == item:
                    state.hands[holder, other] = NOTHING
        state.hands[agent, hand] = item
        state.items[item].holder = agent
        state.agents[agent].status = SUCCESS


@part
def _put(ground: Ground, rules: Rules, state: TransportState, agent: int) -> None:
    """Do one frame of putting a thing into a container: at the end it is in it, or falls beside it."""
    first, second = state.hands[agent, 0], state.hands[agent, 1]
    if first == NOTHING or second == NOTHING:
        _fail(state, agent, NOTHING_TO_PUT)
        return
    hand = 0 if ground.items[second].kind == CONTAINER else 1
    thing, container = state.hands[agent, hand], state.hands[agent, 1 - hand]
    if ground.items[thing].kind != TARGET or ground.items[container].kind != CONTAINER:
        _fail(state, agent, NOTHING_TO_PUT)
        return
    count = 0
    for item in range(len(state.items)):
        if state.items[item].inside == container:
            count += 1
    if count >= CAPACITY:
        _fail(state, agent, CONTAINER_FULL)
    elif state.agents[agent].spent >= rules.put_frames:
        state.hands[agent, hand] = NOTHING
        state.items[thing].holder = NOBODY
        if state.agents[agent].luck < rules.put_failure:
            _fail(state, agent, SPILLED)
            _lay_down(ground, state, agent, thing)
        else:
            state.items[thing].inside = container
            state.agents[agent].status = SUCCESS


@part
def _drop(ground: Ground, state: TransportState, agent: int) -> None:
    """Do one frame of letting go: the thing falls at once, and the hand is busy until it rests."""
    if state.agents[agent].spent == 1:
        hand = state.agents[agent].hand
        item = state.hands[agent, hand]
        if item == NOTHING:
            _fail(state, agent, EMPTY_HAND)
        else:
            state.hands[agent, hand] = NOTHING
            state.items[item].holder = NOBODY
            _lay_down(ground, state, agent, item)
    elif state.agents[agent].spent >= DROP_FRAMES:
        state.agents[agent].status = SUCCESS


@part
def _lay_down(ground: Ground, state: TransportState, agent: int, item: int) -> None:
    """Lay a thing down ahead of an agent, on this side of any wall."""
    x, z = state.agents[agent].x, state.agents[agent].z
    for step in range(1, 11):
        to_x = state.agents[agent].x + DROP_AHEAD * step / 10 * state.agents[agent].east
        to_z = state.agents[agent].z + DROP_AHEAD * step / 10 * state.agents[agent].north
        if _is_in_wall(ground.walls, to_x, to_z):
            break
        x, z = to_x, to_z
    state.items[item].x, state.items[item].y, state.items[item].z = x, 0.0, z
    state.items[item].support = NOTHING
    i, j = int((x - ground.x0) / ground.cell), int((z - ground.z0) / ground.cell)
    if 0 <= i < ground.owner.shape[0] and 0 <= j < ground.owner.shape[1] and ground.owner[i, j] >= 0:
        state.items[item].y = ground.height[i, j]
        state.items[item].support = ground.owner[i, j]


@part
def _is_in_wall(walls: F64, x: float, z: float) -> bool:
    for wall in range(len(walls)):
        if walls[wall, 0] <= x <= walls[wall, 2] and walls[wall, 1] <= z <= walls[wall, 3]:
            return True
    return False


# ---- where things are


@part
def _outermost(state: TransportState, item: int) -> int:
    """Return the container that an item is in, else the item."""
    return item if state.items[item].inside == NOTHING else state.items[item].inside


@part
def _way_to(state: TransportState, agent: int, item: int) -> tuple[float, float]:
    """Return how far east and north an item is from an agent; what is held is where its holder is."""
    outer = _outermost(state, item)
    holder = state.items[outer].holder
    if holder == NOBODY:
        return state.items[outer].x - state.agents[agent].x, state.items[outer].z - state.agents[agent].z
    return state.agents[holder].x - state.agents[agent].x, state.agents[holder].z - state.agents[agent].z


@part
def _room_at(ground: Ground, x: float, z: float) -> int:
    """Return the named room whose box is nearest to a point, the first of equally near ones."""
    best, room = np.inf, -1
    for number in range(len(ground.rooms)):
        if ground.rooms[number].is_named:
            east = max(ground.rooms[number].x0 - x, x - ground.rooms[number].x1, 0.0)
            north = max(ground.rooms[number].z0 - z, z - ground.rooms[number].z1, 0.0)
            away = east * east + north * north
            if away < best:
                best, room = away, number
    return room


@part
def _deliver(ground: Ground, state: TransportState) -> None:
    """Note which targets are near the bed and in a bedroom: held or not, and for good."""
    for item in range(len(ground.items)):
        if ground.items[item].kind != TARGET or state.items[item].released:
            continue
        outer = _outermost(state, item)
        holder = state.items[outer].holder
        x = state.items[outer].x if holder == NOBODY else state.agents[holder].x
        z = state.items[outer].z if holder == NOBODY else state.agents[holder].z
        east, north = x - ground.bed_x, z - ground.bed_z
        if east * east + north * north < BED_RANGE * BED_RANGE and ground.rooms[_room_at(ground, x, z)].is_bedroom:
            state.items[item].delivered = True
            state.items[item].released = holder == NOBODY
