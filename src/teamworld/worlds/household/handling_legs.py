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
from teamworld.worlds.household.geodesics import Geodesics, Lengths, Located, Places
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
    columns = int(x.max()) // edge + 1
    _, block = np.unique(z // edge * columns + x // edge, return_inverse=True)
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


class _Stand(NamedTuple):
    """Where one may stand."""

    geodesics: Geodesics
    places: Located
    off: Lengths
    """See :class:`Spots`."""

    @classmethod
    def join(cls, stands: Sequence[_Stand]) -> _Stand:
        """Return the places of all of some."""
        places = (np.concatenate(parts) for parts in zip(*(stand.places for stand in stands), strict=True))
        return cls(stands[0].geodesics, Located(*places), np.concatenate([stand.off for stand in stands]))

    def steps_near(self, stops: Sequence[_Stop]) -> Steps:
        """Return the steps of walking near each of some stops and of handling it; shape (places, stops)."""
        far = self.geodesics.nearest(self.places, [stop.border for stop in stops])
        far -= self.off[:, None] + [stop.border_off for stop in stops]
        far[np.stack([stop.near.contains(self.places.at) for stop in stops], axis=1)] = 0.0
        return _count(far)

    def steps_to(self, stop: _Stop) -> Steps:
        """Return the steps of walking to a stop and of handling it, without detours; shape (places, places after)."""
        far = self.geodesics.between(self.places, stop.kept.places) - self.off[:, None] - stop.kept.off
        moved = np.repeat(self.steps_near([stop]), len(stop.moved.off), axis=1)
        return np.concatenate((_count(far), moved), axis=1)


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
        self.near = near
        border = near.border()
        self.border, self.border_off = geodesics.border(border.at), border.off.max(initial=0.0)
        kept = _spots(stays, edge)
        places = geodesics.locate(np.concatenate((kept.at, ends)))
        off = np.concatenate((kept.off, np.zeros(len(ends))))
        #: All places after it; those where one did not move; the others.
        self.after = _Stand(geodesics, places, off)
        self.kept, self.moved = (
            _Stand(geodesics, places.part(each), off[each])
            for each in (slice(len(kept.at)), slice(len(kept.at), None))
        )  # fmt: skip


def _count(lengths: Lengths) -> Steps:
    """Return the steps of walking so many centimetres and handling something."""
    steps: Steps = (np.ceil(np.clip(lengths / STEP_LENGTH - 1e-9, 0, NEVER - 1)) + 1).astype(np.int16)
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
        fixed = [node for node in sorted(watched) if not nodes[node].grabbable]
        containers = [node for node in fixed if nodes[node].opens and nodes[node].container]
        laid = {node for node in fixed if nodes[node].surface and node not in containers}
        self._laid = laid | ({need.target} if need.relation == "ON" else set())
        #: What things can be laid on or put into.
        self.pieces = sorted({*containers, *self._laid})
        self._stop, self.steps = cache(self._make_stop), cache(self._count_steps)
        #: Steps between handlings without detours, see :meth:`steps`.
        self.direct = cache(self._count_direct)
        self.fewest = cache(self._find_fewest)
        self._outwards, self._inwards = cache(self._count_outwards), cache(self._count_inwards)
        self._things = [node for node in sorted(watched) if nodes[node].grabbable]
        always: list[Handling] = [("open", node) for node in fixed if nodes[node].opens]
        free_hand: list[Handling] = [("open", node) for node in self.pieces if not nodes[node].opens]
        free_hand += [*(("take", node) for node in self.pieces), *(("grab", node) for node in self._things)]
        self._detours = [self._stop(handling) for handling in (*always, *free_hand)]
        moved = [stop.moved for stop in self._detours]
        self._from = np.repeat(np.arange(len(moved)), [len(each.off) for each in moved])
        self._ends = _Stand.join(moved)
        across = self._fewest_from_ends(self._ends.steps_near(self._detours))
        np.fill_diagonal(across, 0)
        #: Those detours that full hands allow, or all, and the steps from after each to after each other.
        self._allowed = {
            full: (these, _over_any(across[these, these])) for full, these in
            ((True, slice(len(always))), (False, slice(None)))
        }  # fmt: skip

    def walks(self, starts: Sequence[Point], then: Handling) -> Steps:
        """Return the steps of walking from places and of handling something; shape (starts, places after it)."""
        return self._stand(starts).steps_to(self._stop(then))

    def _count_direct(self, first: Handling, then: Handling) -> Steps:
        return self._stop(first).after.steps_to(self._stop(then))

    def _find_fewest(self, first: Handling, then: Handling) -> int:
        """Return the fewest steps from one handling to the next, with a hand free."""
        return int(self.steps(first, then, False).min(initial=NEVER))

    def places(self, handling: Handling) -> int:
        """Return at how many places one may stand after something."""
        return len(self._stop(handling).after.off)

    def _count_steps(self, first: Handling, then: Handling, full: bool) -> Steps:
        """Return the fewest steps from after one handling to after the next, with full hands or not in between."""
        these, across = self._allowed[full]
        over = _min_plus(_min_plus(self._outwards(first)[:, these], across), self._inwards(then)[these])
        return np.minimum(self.direct(first, then), over)

    def _count_outwards(self, first: Handling) -> Steps:
        """Return the steps from after something to after each detour; shape (places, detours)."""
        return self._stop(first).after.steps_near(self._detours)

    def _count_inwards(self, then: Handling) -> Steps:
        """Return the fewest steps from after each detour to after something; shape (detours, places)."""
        return self._fewest_from_ends(self._ends.steps_to(self._stop(then)))

    def _fewest_from_ends(self, steps: Steps) -> Steps:
        """Return the fewest of the steps from the places to which each detour leads; shape (detours, columns)."""
        fewest = np.full((len(self._detours), steps.shape[1]), NEVER, np.int16)
        np.minimum.at(fewest, self._from, steps)
        return fewest

    def _make_stop(self, handling: Handling) -> _Stop:
        verb, node = handling
        state, floor, geodesics = self._state, self._state.floor, self._geodesics
        if verb == "start":
            return _Stop(geodesics, _NOWHERE, _NOWHERE, self._at([state.points[node]]), _INSIDE)
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
        stays = np.zeros_like(near.inside)
        if not ends:
            stays = near.inside
        elif taken:
            x, z = self._metres(near)
            within = [(x - each.x) ** 2 + (z[:, None] - each.z) ** 2 <= (ARM + 1e-9) ** 2 for each in taken]
            stays = near.inside & np.any(within, axis=0)
        elif verb in ("put", "lay") and node not in self._laid:
            stays = _close_to(near.inside, *self._metres(near), _numbers([box]))
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
        inside = _close_to(region.inside, x, z, _numbers(boxes))
        if self._state.rules.sight == "room":  # else things are seen, and so handled, from other rooms too
            rooms = self._state.home.rooms
            places = _numbers([self._state.home.nodes[each].box for each in rooms])
            inside = _seen_from(inside, x, z, places, rooms.index(room))
        return region._replace(inside=inside)

    def _metres(self, region: Region) -> tuple[Floats, Floats]:
        """Return x and z of the places of a region; shapes (columns,) and (rows,)."""
        rows, columns = region.inside.shape
        x, z = np.arange(columns) + region.x + self._left, np.arange(rows) + region.z + self._low
        return x / 100, z / 100

    def _stand(self, points: Sequence[Point]) -> _Stand:
        """Return some places as such where one may stand."""
        return _Stand(self._geodesics, self._geodesics.locate(self._at(points)), np.zeros(len(points)))

    def _at(self, points: Sequence[Point]) -> Places:
        """Return places from the corner of the grid with its frame."""
        at = [(round(point.x * 100) - self._left, round(point.z * 100) - self._low) for point in points]
        return np.array(at, np.int64).reshape(-1, 2)


def _over_any(steps: Steps) -> Steps:
    """Return the fewest steps between detours over any of them."""
    for k in range(len(steps)):
        steps = np.minimum(steps, steps[:, [k]] + steps[[k]])
    return steps


def _numbers(boxes: Sequence[Box]) -> Floats:
    """Return the middles and sizes of boxes on the floor; shape (boxes, x, z, width and depth)."""
    return np.array([(box.x, box.z, box.width, box.depth) for box in boxes])


@compiled
def _close_to(inside: Bools, x: Floats, z: Floats, boxes: Floats) -> Bools:
    """Return where of some places somebody is close to a box, see ``homes.home.close``; shape (rows, columns)."""
    close, most = np.zeros_like(inside), (REACH + 1e-9) ** 2
    for row in range(len(z)):
        for column in range(len(x)):
            for box in range(len(boxes) if inside[row, column] else 0):
                across, along = abs(x[column] - boxes[box, 0]), abs(z[row] - boxes[box, 1])
                for wide, deep in ((boxes[box, 2], boxes[box, 3]), (BODY[0], BODY[2])):
                    if max(across - wide / 2, 0.0) ** 2 + max(along - deep / 2, 0.0) ** 2 <= most:
                        close[row, column] = True
    return close


@compiled
def _seen_from(inside: Bools, x: Floats, z: Floats, rooms: Floats, room: int) -> Bools:
    """Return which of some places are in a room or in a doorway of it, see ``Floor.room``; shape (rows, columns)."""
    seen = np.zeros_like(inside)
    depths = np.empty(len(rooms))
    for row in range(len(z)):
        for column in range(len(x)):
            if inside[row, column]:
                for each in range(len(rooms)):
                    across, along = abs(x[column] - rooms[each, 0]), abs(z[row] - rooms[each, 1])
                    depths[each] = min(rooms[each, 2] / 2 - across, rooms[each, 3] / 2 - along)
                seen[row, column] = depths[room] >= min(depths.max(), 0.0) - 1e-9
    return seen


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


@compiled
def restrict(field: Steps, least: int, most: int) -> bool:
    """Raise steps to the least that they may be and leave out what is more than the most; return whether any is left.

    Args:
        field: Steps by place, which are changed.
        least: What has to be waited for.
        most: Steps that are looked at.
    """
    is_any = False
    for i in range(len(field)):
        steps = max(field[i], least)
        field[i] = steps if steps <= most else NEVER
        is_any |= steps <= most
    return is_any
