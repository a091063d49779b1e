"""Steps in which no team can bring all things, by any of the actions of the world in ``strict`` mode.

*Ways.* A step of walking is at most a metre long, and rounded to a centimetre, in free cells. The length of a way is
at least that of the shortest one by the norm ``max + (sqrt 2 - 1) min``, less 8 %, as for each straight part. Ways that
are shortest by this norm bend at corners of cells alone, so they are found exactly among these corners, along
the sides of free cells and aslant through them.

*Handling.* Whoever handles something stands within reach of it (``close`` without the tolerance of the physics, as the
actions of the world ask for), and after it there or where a walk to it ends. What was put down lies in or on one of the
pieces that things can be put to, and who takes it there goes to a cell beside the piece. So a handling step leads at
most from the cells *before* it to those *after* it of one piece, or of a thing that lies elsewhere; and a thing that
is put down and taken again, in two steps, comes on by its surroundings, which are both, at most.

*Distances.* Let ``d`` be the fewest steps between two places by walks and by what handling leads to: a step from a cell
before it to one after it, a step and a half between two cells before it. Then each step changes ``d`` from the target
by one at most. Let ``e`` be the same where handling that the task needs is free: that of the target, and of where
needed things lie. Then this handling does not change ``e``, and each other step by one at most. For each thing it is
a step to take it, another to put it, and one to open the container that it is in, if it is closed.

*One thing.* Somebody comes to it, opens what it is in, and takes it; it is carried to the target, and put there.

*Work.* For each distance, the things beyond it are carried inwards over it two at a time by an agent, who goes outwards
as often, but for the agents that started beyond it. All share the sum of this over all distances: by ``d``, or by
``e`` with the handling in addition.

Where there are more things of a class than are needed, the cheapest count, and no container need be opened.

*Search.* The bound is the least limit that a search of all teams does not refute (``carrying_search``, by
the legs of ``handling_legs``), up to the steps of the plan; a limit with too much to look at is not refuted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, fsum, sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.household.carrying_search import CarryingSearch
from teamworld.worlds.household.free_space import Bools
from teamworld.worlds.household.handling_legs import Legs
from teamworld.worlds.household.handling_plans import HandlingPlans
from teamworld.worlds.household.homes.home import REACH, Box, Need, NodeId, Point
from teamworld.worlds.household.interaction_points import SWINGS
from teamworld.worlds.household.joint_plans import find_plan
from teamworld.worlds.household.pathfinding import CELL, STEP, Floor
from teamworld.worlds.household.state import BODY, HANDS, State
from teamworld.worlds.kernel_compiler import compiled

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
#: Lengths along a side of a cell and aslant through it, related as 1 to a little less than the root of 2.
_SIDE, _SLANT = 408, 576
#: What a step of walking is at most by the norm: a metre and a diagonal of a centimetre, as what is rounded into a wall
#: goes on to the next place, by at most 1.0824.
STEP_LENGTH: Final = ceil(_SIDE / CELL * (STEP + sqrt(2)) * 1.0824)
#: From a place to the nearest corner of its cell.
_CORNER: Final = _SLANT // 2 + 1
#: Metres by which tests of cells are wider than those of places: half a diagonal.
_WIDER: Final = CELL / 100 * sqrt(0.5)
#: Work of a search of teams for one limit, at most: some ten seconds on one core.
WORK: Final = 300_000
#: Steps by which a bound is raised at most where no plan is known.
STEPS_RAISED: Final = 20


class Fetched(NamedTuple):
    """A thing of the task."""

    steps: int
    """In which it can be brought, if nothing else is."""
    distance: float
    """Steps from where it is taken to the target."""
    joined: float
    """The same where needed handling costs nothing."""
    container: NodeId | None
    """What has to be opened."""


def bound(state: State, needs: Sequence[Need], watched: frozenset[NodeId], most: int) -> StepBound | None:
    """Return the bound of an instance before its first step; None where an agent begins in something solid.

    Args:
        state: The moment.
        needs: The predicates of the goal, of one target.
        watched: What agents can handle.
        most: Steps of a plan at most.
    """
    floor, target = state.floor, needs[0].target
    if not all(floor.free[floor.cell(*at)] and _is_within(at, floor) for at in state.points.values()):
        return None
    missing = {need: max(0, state.missing(need)) for need in needs}
    lying = {need: _list_things(state, need, watched) for need in needs if missing[need]}
    places = {thing: _handled_at(state, thing, watched) for things in lying.values() for thing in things}
    nodes = {node: state.home.nodes[node] for node in watched if not state.home.nodes[node].grabbable}
    laid = {n for n, node in nodes.items() if node.surface and not (node.opens and node.container)}
    laid |= {need.target for need in needs if need.relation == "ON"}
    graph, joined = (_Graph(state, watched, laid, free) for free in ((), {target, *places.values()}))
    inwards = [each.distances(each.surroundings[target]) for each in (graph, joined)]
    ways = [graph.distances(graph.nearest_corner(at)) for at in state.points.values()]
    chosen: list[Fetched] = []
    for need, things in lying.items():
        fetched = [_fetch(state, thing, graph.surroundings[places[thing]], inwards, ways) for thing in things]
        if len(things) > missing[need]:
            steps = sorted(each.steps for each in fetched)
            far, short = sorted(each.distance for each in fetched), sorted(each.joined for each in fetched)
            alike = zip(steps, far, short, strict=True)
            fetched = [Fetched(own, way, less, None) for own, way, less in alike][: missing[need]]
        chosen += fetched
    if not chosen:
        return StepBound(0)
    opened = {each.container for each in chosen if each.container is not None}
    is_shut = state.rules.strict_put and needs[0].relation == "INSIDE" and target not in state.opened
    handling = 2 * len(chosen) + len(opened | ({target} if is_shut else set()))
    corners = [graph.nearest_corner(at) for at in state.points.values()]
    begun = [[(int(inward[at].min()) + _CORNER) / STEP_LENGTH for at in corners] for inward in inwards]
    walks = _round_trips([each.distance for each in chosen], begun[0])
    less = _round_trips([each.joined for each in chosen], begun[1])
    work = ceil(max(walks, less + handling) / len(state.points) - 1e-6)
    planned = find_plan(state, needs, lying, most)
    simple = StepBound(max(work, *(each.steps for each in chosen)), planned)
    return simple if simple.is_exact else _search(state, needs, lying, watched, simple, most)


def _search(
    state: State,
    needs: Sequence[Need],
    lying: Mapping[Need, Sequence[NodeId]],
    watched: frozenset[NodeId],
    simple: StepBound,
    most: int,
) -> StepBound:
    """Return a bound with a better plan, if there is any, raised as far as a search of teams ends without any.

    Args:
        state: The moment before the first step.
        needs: The predicates of the goal.
        lying: The things that each predicate that is open may use.
        watched: What agents can handle.
        simple: What is known.
        most: Steps of a plan at most.
    """
    if not all(at == Point(round(at.x, 2), round(at.z, 2)) for at in state.points.values()):
        return simple
    try:
        legs = Legs(state, needs[0], watched)
    except ValueError:  # something that nobody can come to
        return simple
    choices = [(things, state.missing(need)) for need, things in lying.items()]
    places = {thing: state.place(thing) for things, _ in choices for thing in things}
    boxes = {
        thing: place[1]
        for thing, place in places.items()
        if place is not None and place[0] == "INSIDE" and place[1] in watched and place[1] not in state.opened
    }
    least, planned, target = simple.steps, simple.planned, needs[0].target
    is_strict = state.rules.strict_put and needs[0].relation == "INSIDE"
    if state.rules.sight == "room" and not is_strict:
        planned = HandlingPlans(state, needs, legs, boxes).find(choices, planned or most + 1) or planned
    needed = [target] if is_strict and target not in state.opened else []
    most = (least + STEPS_RAISED if planned is None else planned) - 1
    while least <= most:  # where a limit is too much to look at, so are those above
        limit = (least + most) // 2
        search = CarryingSearch(legs, tuple(state.points), target, boxes, needed, limit, WORK)
        least, most = (least, limit - 1) if search.can_bring(choices, limit) else (limit + 1, most)
    return StepBound(least, planned)


def _is_within(at: Point, floor: Floor) -> bool:
    """Return whether a place is in its cell, rather than in something solid beside it."""
    middle = floor.middle(floor.cell(*at))
    return max(abs(at.x - middle.x), abs(at.z - middle.z)) <= CELL / 200 + 1e-9


def _list_things(state: State, need: Need, watched: frozenset[NodeId]) -> list[NodeId]:
    """Return the things that a predicate may still use."""
    there = need.relation, need.target
    alike = (node for node in sorted(watched) if state.home.nodes[node].name == need.name)
    return [thing for thing in alike if state.place(thing) != there]


def _handled_at(state: State, thing: NodeId, watched: frozenset[NodeId]) -> NodeId:
    """Return by whose surroundings a thing is taken: those of the container that it is in, or its own."""
    place = state.place(thing)
    return place[1] if place is not None and place[0] == "INSIDE" and place[1] in watched else thing


def _fetch(state: State, thing: NodeId, around: Ints, inwards: Sequence[Ints], ways: Sequence[Ints]) -> Fetched:
    place = state.place(thing)
    far, joined = (int(inward[around].min()) for inward in inwards)
    come = max(0, min(int(way[around].min()) for way in ways) - _CORNER)
    is_closed = state.closed(thing)
    steps = -(-come // STEP_LENGTH) + is_closed + 1 + -(-far // STEP_LENGTH) + 1
    opened = place[1] if is_closed and place is not None else None
    return Fetched(steps, far / STEP_LENGTH, joined / STEP_LENGTH, opened)


def _round_trips(far: Sequence[float], begun: Sequence[float]) -> float:
    """Return the steps of walking inwards and outwards, see *Work*."""
    parts = []
    for low, high in pairwise(sorted({0.0, *far, *begun})):
        inwards = -(-sum(distance >= high for distance in far) // HANDS)
        outwards = max(0, inwards - sum(distance >= high for distance in begun))
        parts.append((high - low) * (inwards + outwards))
    return fsum(parts)


class _Graph:
    """The corners of free cells, and the surroundings of what can be handled, joined by a hub for each.

    Args:
        state: The moment before the first step.
        watched: What can be handled.
        laid: On what of it things can be laid.
        free: That between whose surroundings steps cost nothing.
    """

    def __init__(
        self, state: State, watched: frozenset[NodeId], laid: Collection[NodeId], free: Collection[NodeId]
    ) -> None:
        self._floor = state.floor
        cells = np.pad(state.floor.free, 1)
        self._columns = cells.shape[1] - 1
        size = (cells.shape[0] - 1) * self._columns
        reach = {node: self._list_around(state, node, laid) for node in sorted(watched)}
        self.surroundings = {node: np.union1d(*parts) for node, parts in reach.items()}
        edges = list(_list_edges(cells))
        for hub, (node, (near, ends)) in enumerate(reach.items(), size):
            for around, part in ((near, 3), (ends, 1)):  # quarters of a step
                there, half = np.full(len(around), hub), 0 if node in free else STEP_LENGTH * part // 4
                lengths = np.full(len(around), half)
                edges += [(around, there, lengths), (there, around, lengths)]
        starts, ends, lengths = (np.concatenate(parts) for parts in zip(*edges, strict=True))
        order = np.argsort(starts, kind="stable")
        self._first = np.searchsorted(starts[order], np.arange(size + len(watched) + 1)).astype(np.int64)
        self._ends, self._lengths = ends[order].astype(np.int64), lengths[order].astype(np.int64)

    def distances(self, sources: Ints) -> Ints:
        """Return the lengths of the shortest ways from some corners to all."""
        return _shortest(self._first, self._ends, self._lengths, sources)

    def nearest_corner(self, at: Point) -> Ints:
        """Return the corner of its cell that is nearest to a place."""
        row, column = self._floor.cell(*at)
        middle = self._floor.middle((row, column))
        return np.array([(row + (at.z > middle.z)) * self._columns + column + (at.x > middle.x)])

    def _list_around(self, state: State, node: NodeId, laid: Collection[NodeId]) -> tuple[Ints, Ints]:
        """Return the corners of cells from which a node, or what lies in or on it, is handled, and of those after."""
        floor, home, is_piece = self._floor, state.home, not state.home.nodes[node].grabbable
        cells = np.argwhere(floor.free)
        corner = floor.middle((0, 0))
        x: Floats = corner.x + cells[:, 1].astype(np.float64) * (CELL / 100)
        z: Floats = corner.z + cells[:, 0].astype(np.float64) * (CELL / 100)
        box = state.box(node)
        reached = [box, floor.opened_box(node)] if home.nodes[node].name in SWINGS else [box]
        is_near: Bools = np.any([_is_close(x, z, each, is_piece) for each in reached], axis=0)
        depths = np.array([_depth(x, z, home.nodes[room].box) for room in home.rooms])
        own, deepest = depths[home.rooms.index(state.room(node))], depths.max(axis=0)
        is_in = own >= deepest - 2 * _WIDER
        if state.rules.sight == "room":  # else things are seen, and so handled, from other rooms too
            is_near &= is_in | (own >= -_WIDER)  # a doorway is in both rooms
        is_end = np.zeros(len(cells), np.bool_)
        if node in laid and is_in.any():  # where walks to what lies on it end
            is_end = is_in & (_span(x, z, box, -1) <= _span(x, z, box, 1)[own == deepest].min() + _WIDER)
        aims = [aim for aim in (node, box) if floor.reach(corner, aim)]
        ends = [floor.cell(*floor.end(aim)) for aim in aims]  # what is put into something has its middle
        return self._corners(cells[is_near]), self._corners([*cells[is_end].tolist(), *ends])

    def _corners(self, cells: npt.ArrayLike) -> Ints:
        rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
        first = rows * self._columns + columns
        corners: Ints = np.unique(np.concatenate([first + more for more in (0, 1, self._columns, self._columns + 1)]))
        return corners


def _span(x: Floats, z: Floats, box: Box, sign: int) -> Floats:
    """Return the distances from places to a box, or for sign 1 to its farthest point."""
    across, along = abs(x - box.x) + sign * box.width / 2, abs(z - box.z) + sign * box.depth / 2
    return np.hypot(np.maximum(0, across), np.maximum(0, along))


def _is_close(x: Floats, z: Floats, box: Box, is_piece: bool) -> Bools:
    """Return where somebody in a cell may be close to a box, or to a thing in or on it; see ``homes.home.close``."""
    reach = REACH + _WIDER
    middle = box if is_piece else box._replace(width=0.0, depth=0.0)
    wider = middle._replace(width=middle.width + BODY[0], depth=middle.depth + BODY[2])
    close: Bools = np.minimum(_span(x, z, box, -1), _span(x, z, wider, -1)) <= reach
    return close


def _depth(x: Floats, z: Floats, box: Box) -> Floats:
    """Return how deep places lie in a room, see ``Floor.room``."""
    depth: Floats = np.minimum(box.width / 2 - abs(x - box.x), box.depth / 2 - abs(z - box.z))
    return depth


def _list_edges(cells: Bools) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield starts, ends and lengths of the edges between corners of free cells, both ways.

    Args:
        cells: The free cells, with a frame of others. The corner (row, column) is the upper left one of the cell
            (row + 1, column + 1) of these.
    """
    columns = cells.shape[1] - 1
    number = np.arange((cells.shape[0] - 1) * columns).reshape(-1, columns)
    inner, across, down = cells[1:-1, 1:-1], cells[:-1, 1:-1] | cells[1:, 1:-1], cells[1:-1, :-1] | cells[1:-1, 1:]
    for start, end, is_free, length in (
        (number[:, :-1], number[:, 1:], across, _SIDE),
        (number[:-1], number[1:], down, _SIDE),
        (number[:-1, :-1], number[1:, 1:], inner, _SLANT),
        (number[:-1, 1:], number[1:, :-1], inner, _SLANT),
    ):
        lengths = np.full(int(is_free.sum()), length)
        yield start[is_free], end[is_free], lengths
        yield end[is_free], start[is_free], lengths


@compiled
def _shortest(first: Ints, ends: Ints, lengths: Ints, sources: Ints) -> Ints:
    """Return the lengths of the shortest ways from some nodes of a graph to all of them."""
    nodes = len(first) - 1
    far = np.full(nodes, 2**60, np.int64)
    waiting, queued = np.empty(nodes, np.int64), np.zeros(nodes, np.bool_)
    head = count = 0
    for source in sources:
        far[source] = 0
        waiting[count] = source
        queued[source] = True
        count += 1
    while count:
        node = waiting[head]
        head, count = (head + 1) % nodes, count - 1
        queued[node] = False
        for edge in range(first[node], first[node + 1]):
            other, length = ends[edge], far[node] + lengths[edge]
            if length < far[other]:
                far[other] = length
                if not queued[other]:
                    queued[other] = True
                    waiting[(head + count) % nodes] = other
                    count += 1
    return far
