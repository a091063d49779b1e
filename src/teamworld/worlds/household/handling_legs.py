"""Fewest steps from one handling to the next, by anything that agents can do in between.

*Walks.* A step of walking leads at most a metre along straight lines in free cells, and is rounded to the centimetre:
into the same cell, or by half a centimetre along each axis. So it is no longer than :data:`STEP_LENGTH`, and steps are
at least the shortest way round all that is solid by this (``geodesics``), rounded up from one handling to the next, as
each begins with a step.

*Handling.* Whoever handles something stands near it: within reach by the boxes (``close`` without the tolerance of the
physics, as the actions of the world ask for), in its room or a doorway of it where agents see rooms. Afterwards it
stands where it was (``physics.ARM``, ``putin``), or where walks to the thing end. What was laid on a piece may be
anywhere on it, and what was put into something has its middle.

*Detours.* Any other handling may lead on by more than a step of walking: opening or closing something, laying things
down and taking them; with full hands only closing. Each takes one step, and leads from near a piece or a thing to where
walks to it end, or nowhere. Legs are the shortest over any number of such detours.

Where one handles from is a set of whole centimetres, replaced by few places; lengths are less by what these may be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.geodesics import Geodesics, Lengths, Places
from teamworld.worlds.household.homes.home import REACH, SEARCHED, Box, Need, NodeId, Point
from teamworld.worlds.household.interaction_points import SWINGS
from teamworld.worlds.household.pathfinding import CELL, STEP
from teamworld.worlds.household.physics import ARM
from teamworld.worlds.household.state import BODY, State
from teamworld.worlds.kernel_compiler import compiled

Floats: TypeAlias = npt.NDArray[np.float64]
Steps: TypeAlias = npt.NDArray[np.int16]
"""Shape (places after one handling, places after the next)."""
Verb: TypeAlias = Literal["start", "open", "grab", "lay", "take", "put"]
Handling: TypeAlias = tuple[Verb, int]
"""What is done and with what: ``grab`` takes a thing where it lies at first, ``take`` from a piece it was laid on."""

#: Centimetres of a step of walking at most: rounding leads at most a diagonal of a centimetre on.
STEP_LENGTH: Final = STEP + 2**0.5
#: More steps than any plan has; twice as many are no overflow.
NEVER: Final = 10_000
#: Edges of blocks of places that one stands for: on the border of a region, of those in it, and of pieces; centimetres.
_BORDER, _INSIDE, _COARSE = 5, CELL, 2 * CELL


class Spots(NamedTuple):
    """Places that stand for others around them."""

    at: Places
    off: Lengths
    """How far what a place stands for is away from it at most, centimetres; shape (places,)."""


class Region(NamedTuple):
    """Whole centimetres of the floor."""

    x: int
    z: int
    """The first column and row."""
    inside: Bools
    """Shape (rows, columns)."""

    def contains(self, places: Places) -> Bools:
        """Return whether places lie in the region; shape (places,)."""
        x, z = places[:, 0] - self.x, places[:, 1] - self.z
        rows, columns = self.inside.shape
        there = (x >= 0) & (z >= 0) & (x < columns) & (z < rows)
        contained: Bools = there & self.inside[np.where(there, z, 0), np.where(there, x, 0)]
        return contained

    def border(self) -> Spots:
        """Return the places at which one comes into the region."""
        wide = np.pad(self.inside, 1)
        inner = np.ones_like(self.inside)
        for down in range(3):
            for right in range(3):
                rows, columns = self.inside.shape
                inner &= wide[down : down + rows, right : right + columns]
        spots = _spots(Region(self.x, self.z, self.inside & ~inner), _BORDER)
        return Spots(spots.at, spots.off + 1.0)  # a unit's square round each centimetre is crossed first


_NOWHERE: Final = Region(0, 0, np.zeros((1, 1), np.bool_))


def _spots(region: Region, edge: int) -> Spots:
    """Return a place of each block that stands for those of a region in it."""
    z, x = np.nonzero(region.inside)
    x, z = x + region.x, z + region.z
    if not len(x):
        return Spots(np.zeros((0, 2), np.int64), np.zeros(0))
    _, block = np.unique(np.stack((z // edge, x // edge)), axis=1, return_inverse=True)
    block = block.reshape(-1)
    count = int(block.max()) + 1
    low, high = np.full((count, 2), 2**30), np.full((count, 2), -(2**30))
    for axis, values in enumerate((x, z)):
        np.minimum.at(low[:, axis], block, values)
        np.maximum.at(high[:, axis], block, values)
    middle = (low + high) / 2
    away = np.hypot(x - middle[block, 0], z - middle[block, 1])
    best = np.lexsort((away, block))
    first = best[np.searchsorted(block[best], np.arange(count))]
    at = np.stack((x[first], z[first]), axis=1).astype(np.int64)
    off = np.zeros(count)
    np.maximum.at(off, block, np.hypot(x - at[block, 0], z - at[block, 1]))
    return Spots(at, off if edge <= CELL else off * 2**0.5)  # round the corner in the middle of four cells


class _Stop:
    """Where one handles something from, and where one stands afterwards.

    Args:
        geodesics: Of the home.
        near: From where it is handled.
        stays: From where of this one does not move.
        ends: Where one is put else.
        edge: Of the blocks of places.
    """

    def __init__(self, geodesics: Geodesics, near: Region, stays: Region, ends: Places, edge: int) -> None:
        self._geodesics, self._near, self._ends = geodesics, near, ends
        kept = _spots(stays, edge)
        self._kept = len(kept.at)
        self.at = np.concatenate((kept.at, ends))
        self._off = np.concatenate((kept.off, np.zeros(len(ends))))
        self._border = near.border()
        self._sides = geodesics.sides(self.at)
        self._ways = geodesics.to_corners(self._sides)
        self._border_side = geodesics.sides(self._border.at).min(axis=0, initial=np.inf)

    def after_end(self) -> _Stop:
        """Return the stop without the places where one does not move."""
        return _Stop(self._geodesics, _NOWHERE, _NOWHERE, self._ends, CELL)

    def steps_near(self, other: _Stop) -> Steps:
        """Return the steps of walking near another stop and of handling it; shape (places after this,)."""
        if not len(other._border.at):
            return np.full(len(self.at), NEVER, np.int16)
        far = self._geodesics.nearest(self.at, other._border.at, self._ways, other._border_side)
        far -= self._off + other._border.off.max()
        far[other._near.contains(self.at)] = 0.0
        return _count(far)

    def steps_to(self, other: _Stop) -> Steps:
        """Return the steps of walking to another stop and of handling it, without detours."""
        kept = other._kept
        far = self._geodesics.between(self.at, other.at[:kept], self._ways, other._sides[:kept])
        moved = np.repeat(self.steps_near(other)[:, None], len(other.at) - kept, axis=1)
        return np.concatenate((_count(far - self._off[:, None] - other._off[None, :kept]), moved), axis=1)


def _count(lengths: Lengths) -> Steps:
    """Return the steps of walking so many centimetres and handling something."""
    steps: Steps = (np.ceil(np.clip(lengths / STEP_LENGTH - 1e-9, 0, NEVER)) + 1).astype(np.int16)
    return steps


class Legs:
    """The fewest steps between handlings in a home.

    Args:
        state: The moment before the first step.
        need: A predicate of the goal, for its target.
        watched: What agents can handle.

    Raises:
        ValueError: Something of it is in a room in which nobody can stand.
    """

    def __init__(self, state: State, need: Need, watched: frozenset[NodeId]) -> None:
        self._state = state
        floor, nodes = state.floor, state.home.nodes
        free = np.pad(floor.free, 1)  # solid all round
        self._geodesics = Geodesics(free)
        corner = floor.middle((0, 0))
        self._left, self._low = (round(at * 100) - CELL // 2 - CELL for at in corner)
        self._free: Bools = np.repeat(np.repeat(free, CELL, axis=0), CELL, axis=1)
        rows, columns = self._free.shape
        z, x = (np.arange(rows)[:, None] + self._low) / 100, (np.arange(columns) + self._left) / 100
        boxes = [nodes[room].box for room in state.home.rooms]
        depths = [np.minimum(box.width / 2 - abs(x - box.x), box.depth / 2 - abs(z - box.z)) for box in boxes]
        deepest = np.max(depths, axis=0) - 1e-9
        self._seen_from: dict[NodeId, Bools] = {
            room: (depth >= deepest) | (depth >= -1e-9) for room, depth in zip(state.home.rooms, depths, strict=True)
        }
        fixed = [node for node in sorted(watched) if not nodes[node].grabbable]
        containers = [node for node in fixed if nodes[node].opens and nodes[node].container]
        laid = {node for node in fixed if nodes[node].surface and node not in containers}
        self._laid = laid | ({need.target} if need.relation == "ON" else set())
        #: What things can be laid on or put into.
        self.pieces = sorted({*containers, *self._laid})
        self._stop, self.steps = cache(self._make_stop), cache(self._count_steps)
        #: Steps between handlings without detours, see :meth:`steps`.
        self.direct = cache(self._count_direct)
        self._outwards, self._inwards = cache(self._list_outwards), cache(self._list_inwards)
        self._things = [node for node in sorted(watched) if nodes[node].grabbable]
        always: list[Handling] = [("open", node) for node in fixed if nodes[node].opens]
        free_hand: list[Handling] = [("open", node) for node in self.pieces if not nodes[node].opens]
        free_hand += [*(("take", node) for node in self.pieces), *(("grab", node) for node in self._things)]
        stops = {full: [self._stop(each) for each in each_of] for full, each_of in
                 ((True, always), (False, always + free_hand))}  # fmt: skip
        self._detours = {full: [(stop, stop.after_end()) for stop in stops[full]] for full in stops}
        self._across = {full: _cross(detours) for full, detours in self._detours.items()}

    def walk(self, start: Point, then: Handling) -> Steps:
        """Return the steps of walking from a place and of handling something; shape (places after it,)."""
        stop = _Stop(self._geodesics, _NOWHERE, _NOWHERE, self._at([start]), CELL)
        fewest: Steps = stop.steps_to(self._stop(then))[0]
        return fewest

    def _count_direct(self, first: Handling, then: Handling) -> Steps:
        return self._stop(first).steps_to(self._stop(then))

    def fewest(self, first: Handling, then: Handling) -> int:
        """Return the fewest steps from one handling to the next, with a hand free."""
        return int(self.steps(first, then, False).min(initial=NEVER))

    def places(self, handling: Handling) -> int:
        """Return at how many places one may stand after something."""
        return len(self._stop(handling).at)

    def _count_steps(self, first: Handling, then: Handling, full: bool) -> Steps:
        """Return the fewest steps from after one handling to after the next, with full hands or not in between."""
        steps = self.direct(first, then)
        if not self._detours[full]:
            return steps
        over = _min_plus(_min_plus(self._outwards(first, full), self._across[full]), self._inwards(then, full))
        return np.minimum(steps, over)

    def _list_outwards(self, first: Handling, full: bool) -> Steps:
        return np.stack([self._stop(first).steps_near(stop) for stop, _ in self._detours[full]], axis=1)

    def _list_inwards(self, then: Handling, full: bool) -> Steps:
        end = self._stop(then)
        return np.stack([after.steps_to(end).min(axis=0, initial=NEVER) for _, after in self._detours[full]])

    def _make_stop(self, handling: Handling) -> _Stop:
        verb, node = handling
        state, floor, geodesics = self._state, self._state.floor, self._geodesics
        if verb == "start":
            return _Stop(geodesics, _NOWHERE, _NOWHERE, self._at([state.points[node]]), CELL)
        box = state.box(node)
        boxes, taken = self._reached(node), [box] if verb == "grab" else []
        if verb == "take":  # if it was put into something, all of that counts
            taken = self._list_laid(node)
            boxes = [*taken, *(boxes if node not in self._laid else [])]
        place = state.place(node)
        if taken and place is not None and place[0] == "INSIDE" and state.home.nodes[place[1]].name in SEARCHED:
            boxes += self._reached(place[1])
        aims = dict.fromkeys(taken) if verb == "take" else [node]
        ends = [floor.end(aim) for aim in aims if floor.reach(floor.middle((0, 0)), aim)]
        near = self._near(boxes, state.room(node))
        x, z = self._metres(near)
        stays = np.zeros_like(near.inside)
        if not ends:
            stays = near.inside
        elif taken:
            within = [np.hypot(x - each.x, z - each.z) <= ARM + 1e-9 for each in taken]
            stays = near.inside & np.any(within, axis=0)
        elif verb in ("put", "lay") and node not in self._laid:
            stays = near.inside & _is_close(x, z, box)
        edge = _COARSE if verb in ("take", "lay") else _INSIDE
        return _Stop(geodesics, near, near._replace(inside=stays), self._at(ends), edge)

    def _reached(self, node: NodeId) -> list[Box]:
        """Return the boxes by which a node is close, closed or open."""
        box = self._state.box(node)
        return [box, self._state.floor.opened_box(node)] if self._state.home.nodes[node].name in SWINGS else [box]

    def _list_laid(self, piece: NodeId) -> list[Box]:
        """Return the boxes of all things after they were laid on or put into a piece by who stands at its end."""
        state, floor = self._state, self._state.floor
        box = state.box(piece)
        at = Point(box.x, box.z)
        if piece in self._laid:
            at = floor.end(piece)
        laid = []
        for thing in self._things:
            size = state.home.nodes[thing].box
            x, z = (
                min(max(value, middle - wide / 2), middle + wide / 2)
                for value, middle, wide in (
                    (at.x, box.x, max(box.width - size.width, 0.0)),
                    (at.z, box.z, max(box.depth - size.depth, 0.0)),
                )
            )
            laid.append(size.moved(round(x, 4), box.y, round(z, 4)))
        return laid

    def _near(self, boxes: Sequence[Box], room: NodeId) -> Region:
        """Return from where something in a room is handled by being close to one of some boxes."""
        rows, columns = self._free.shape
        far = 2 * REACH
        left, right = (f(each.x + sign * (each.width / 2 + far) for each in boxes) for f, sign in ((min, -1), (max, 1)))
        low, high = (f(each.z + sign * (each.depth / 2 + far) for each in boxes) for f, sign in ((min, -1), (max, 1)))
        first_x, last_x = (min(max(0, round(at * 100) - self._left), columns) for at in (left, right))
        first_z, last_z = (min(max(0, round(at * 100) - self._low), rows) for at in (low, high))
        window = slice(first_z, last_z), slice(first_x, last_x)
        region = Region(first_x, first_z, self._free[window])
        x, z = self._metres(region)
        inside = region.inside & np.any([_is_close(x, z, each) for each in boxes], axis=0)
        if self._state.rules.sight == "room":  # else things are seen, and so handled, from other rooms too
            inside &= self._seen_from[room][window]
        return region._replace(inside=inside)

    def _metres(self, region: Region) -> tuple[Floats, Floats]:
        """Return x and z of the places of a region; shapes (columns,) and (rows, 1)."""
        rows, columns = region.inside.shape
        x = (np.arange(columns) + region.x + self._left) / 100
        return x, ((np.arange(rows) + region.z + self._low) / 100)[:, None]

    def _at(self, points: Sequence[Point]) -> Places:
        """Return places from the corner of the grid with its frame."""
        at = [(round(point.x * 100) - self._left, round(point.z * 100) - self._low) for point in points]
        return np.array(at, np.int64).reshape(-1, 2)


def _cross(detours: Sequence[tuple[_Stop, _Stop]]) -> Steps:
    """Return the steps from after each detour to after each other, over any of them."""
    across = np.full((len(detours), len(detours)), NEVER, np.int16)
    for i, (_, after) in enumerate(detours):
        for j, (stop, _) in enumerate(detours):
            across[i, j] = 0 if i == j else after.steps_near(stop).min(initial=NEVER)
    for k in range(len(detours)):
        across = np.minimum(across, across[:, [k]] + across[[k]])
    return across


def _is_close(x: Floats, z: Floats, box: Box) -> Bools:
    """Return where somebody is close to a box, see ``homes.home.close``."""
    across, along = abs(x - box.x), abs(z - box.z)
    spans = (
        np.hypot(np.maximum(across - wide / 2, 0), np.maximum(along - deep / 2, 0))
        for wide, deep in ((box.width, box.depth), (BODY[0], BODY[2]))
    )
    close: Bools = np.minimum(*spans) <= REACH + 1e-9
    return close


@compiled
def _min_plus(first: Steps, second: Steps) -> Steps:
    """Return the fewest steps over one place of the second kind; shape (rows of the first, columns of the second)."""
    steps = np.full((first.shape[0], second.shape[1]), NEVER, np.int16)
    for i in range(first.shape[0]):
        for k in range(first.shape[1]):
            begun = first[i, k]
            if begun < NEVER:
                for j in range(second.shape[1]):
                    steps[i, j] = min(steps[i, j], begun + second[k, j])
    return steps


@compiled
def advance(begun: Steps, steps: Steps, field: Steps) -> None:
    """Lower the steps at places after a handling to those over the places before it.

    Args:
        begun: Steps so far at the places before.
        steps: From there to the places after.
        field: Those that are lowered.
    """
    for i in range(len(begun)):
        if begun[i] < NEVER:
            for j in range(len(field)):
                field[j] = min(field[j], begun[i] + steps[i, j])
