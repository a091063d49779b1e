"""Where to cut a firebreak: common knowledge of the map, the same for all who have seen the same ground.

A firebreak is a closed rectangle round a fire, finished before the fire is beside it: a ring of cells that share sides
and hold no trees stops a fire that goes to eight neighbours. Proposed is the rectangle in which least is lost of those
that the team can close in time, as everybody can reckon: a fire goes one cell in a fire step at most, who cuts needs
its way and the work of its kind, and together they do the sum. What was never seen is taken for the usual ground.

Nothing is remembered, and yet whoever asks again later is to get the same answer while it holds. So sides lie on lines
of the map; what is cut costs no more work, and its side has no deadline any more; the margin is a share of the time
that is still needed, so a ring that is cut as fast as was reckoned stays in time; stretches of it end at lines of the
map. Who cuts which stretch is not said here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import dist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.skills import travel_ticks
from teamworld.worlds.wildfire.state import TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.symbolic_state import CLEARING, USUAL_TREES, FireState, Mission, SymbolicState

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.knowledge import SeenMap


#: Sides lie on every such row or column of the map; so many of them are tried on each side of a fire.
PITCH, LINES = 2, 12

#: Cells between the fire as it is known and a side, at least.
GAP = 2

#: Kinds that cut. A firefighter needs a step to a cell with trees and one for each tree, a bulldozer the time to drive.
CUTTERS = ("firefighter", "bulldozer")

#: Of the time that is still needed, what has to be left over where nothing is cut yet; in proportion where much is.
MARGIN = 0.1

#: Trees that a ring is expected to cost for each step that it is too late, where nothing is cut yet; in proportion
#: where much is: the fire goes as fast as it can on few ways only, and through a gap only at the gap.
LATE = 100.0

#: Steps that a bulldozer loses at a corner, on average: what is left of a step when it is there.
CORNER = 0.5

#: Share of the trees inside a closed ring that burn, about; those on it are cut for sure.
BURNS = 0.6

#: What no fire takes, or takes no more.
_BARE = (agents.WET, agents.DRY, agents.SEEN_EXTINGUISHING, agents.SEEN_BURNT_OUT, agents.SEEN_WATER)

#: Cells from a building in which bare ground burns too.
NEAR_BUILDING = 2

#: Work on a cell where a ring cannot be closed.
_NEVER = 1e3


class Rectangle(NamedTuple):
    """Cells from (x0, y0) to (x1, y1), both included."""

    x0: int
    y0: int
    x1: int
    y1: int


class Firebreak(NamedTuple):
    """A rectangle to cut round a fire."""

    box: Rectangle
    """May reach beyond the map, whose edge stops a fire too."""
    cells: tuple[Cell, ...]
    """Of the map, clockwise; where it leaves the map there is a gap."""
    uncut: tuple[Cell, ...]
    """Those that hold trees, or may hold some."""
    needs: float
    """Timesteps that the team needs for it, as it stands; 0 where nothing is left to cut."""
    deadline: int | None
    """Timestep from which the fire may be beside a side of it that is not cut; None where none is left."""
    in_time: bool
    """Whether the team is expected to be done before."""


def firebreak(mission: Mission, state: SymbolicState, fire: int) -> Firebreak | None:
    """Return the best rectangle round a fire.

    None where nobody knows where it is, nobody can cut, it is out, enclosed or part of another, or no ring is worth it.
    """
    return state.derived(("firebreak", fire), lambda: _best_firebreak(mission, state, fire))


def enclosed_ground(mission: Mission, state: SymbolicState, fire: int) -> frozenset[Cell] | None:
    """Return the cells that a fire can still take where it cannot get out of the ground round it, by what was seen.

    None where it can get out, may get out over ground that nobody has seen, or was not seen burning.
    """
    return state.derived(("enclosed", fire), lambda: _enclosed_ground(mission, state, fire))


def fire_extent(mission: Mission, state: SymbolicState, fire: int) -> Rectangle | None:
    """Return where a fire may burn by now: where it was seen burning, grown a cell in each fire step since then."""
    front = state.fires[fire]
    if front.out or front.part_of is not None or state.ground is None:
        return None
    boxes = list(_grown(mission, state.ground, front))
    if not boxes:
        return None
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Rectangle(min(x0), min(y0), max(x1), max(y1))


def _grown(mission: Mission, ground: SeenMap, front: FireState) -> Iterator[Rectangle]:
    """Yield the ground that each cell of a fire may have set on fire since it was seen."""
    last = max((ground.date(cell) for cell in front.scar), default=0)
    reported = [(front.origin, 0)] if front.origin is not None and not front.scar else []
    seen = [(cell, ground.date(cell)) for cell in front.cells] or [(cell, last) for cell in front.scar] or reported
    fire_step = fire_steps(mission, ground.t)
    for (x, y), t in seen:
        far = fire_step - fire_steps(mission, t)
        yield Rectangle(x - far, y - far, x + far, y + far)


def fire_steps(mission: Mission, t: int) -> int:
    """Return how many fire steps are over at a timestep."""
    return TICKS_PER_TIMESTEP * t // mission.fire_every


def cutters(mission: Mission, state: SymbolicState) -> list[AgentId]:
    """Return who can cut."""
    return [agent for agent, body in state.agents.items() if mission.kinds[agent] in CUTTERS and body.aboard is None]


def _best_firebreak(mission: Mission, state: SymbolicState, fire: int) -> Firebreak | None:
    box, ground = fire_extent(mission, state, fire), state.ground
    team = cutters(mission, state)
    if box is None or ground is None or not team or enclosed_ground(mission, state, fire) is not None:
        return None
    lines = (-_side_lines(-box.x0), -_side_lines(-box.y0), _side_lines(box.x1), _side_lines(box.y1))
    sides = np.stack([side.ravel() for side in np.meshgrid(*lines, indexing="ij")])
    survey = _Survey(mission, ground, sides)
    needs = _needed(survey, _arrivals(mission, state, team, box))
    left = np.where(survey.open.any(axis=0), _steps_left(mission, ground.t, box, sides, survey.open), np.inf)
    spare = left - (1 + MARGIN * survey.uncut) * needs
    late = LATE * survey.uncut * np.maximum(0, -spare)
    worth = BURNS * survey.inside + (1 - BURNS) * survey.trees + late
    best = int(np.argmin(worth))
    ring = Rectangle(*map(int, sides[:, best]))
    cells = _outline(ring, mission.size)
    if not cells:  # the best is to let it run to the edges of the map
        return None
    uncut = tuple(cell for cell in cells if _may_hold_trees(ground.code(cell)))
    deadline = None if np.isinf(left[best]) else ground.t + int(left[best])
    return Firebreak(ring, cells, uncut, float(needs[best]), deadline, bool(left[best] >= needs[best]))


def _side_lines(edge: int) -> npt.NDArray[np.int64]:
    """Return where sides may lie beyond an edge of a fire, the nearest first."""
    first = -(-(edge + GAP) // PITCH)
    return PITCH * np.arange(first, first + LINES)


def _steps_left(
    mission: Mission, t: int, box: Rectangle, sides: npt.NDArray[np.int64], open_sides: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return (K,): timesteps until the fire may be beside a side that is open, the first of them; see ``_Survey``."""
    gaps = np.stack([box.x0 - sides[0], box.y0 - sides[1], sides[2] - box.x1, sides[3] - box.y1])
    steps = np.where(open_sides, gaps - 1.0, np.inf).min(axis=0)
    until: npt.NDArray[np.float64] = np.ceil((steps + fire_steps(mission, t)) * mission.fire_every / TICKS_PER_TIMESTEP)
    return until - t


class _Survey:
    """What each of K rectangles holds.

    Args:
        mission: The task.
        ground: What was seen of it.
        sides: (4, K): x0, y0, x1 and y1 of the rectangles.
    """

    open: npt.NDArray[np.bool_]
    """(4, K): on which sides, in the same order, something is left to cut."""
    on_foot: npt.NDArray[np.float64]
    """(K,): steps that one firefighter would need to cut all of the outline."""
    driven: npt.NDArray[np.float64]
    """(K,): the same for a bulldozer."""
    trees: npt.NDArray[np.float64]
    """(K,): trees on the outline."""
    uncut: npt.NDArray[np.float64]
    """(K,): share of the outline that is not bare."""
    inside: npt.NDArray[np.float64]
    """(K,): trees inside and on the outline."""

    def __init__(self, mission: Mission, ground: SeenMap, sides: npt.NDArray[np.int64]) -> None:
        last = mission.size - 1
        x0, y0, x1, y1 = np.clip(sides, 0, last)
        left, top = int(x0.min()), int(y0.min())
        part = slice(top, int(y1.max()) + 1), slice(left, int(x1.max()) + 1)
        tenths, cells, never = _work(mission, ground.codes, part)
        x0, x1, y0, y1 = x0 - left, x1 - left, y0 - top, y1 - top
        on_map = (sides >= 0) & (sides <= last)
        low, high = y0 + on_map[1], y1 - on_map[3]  # a corner belongs to the row
        sums = []
        for values in (tenths, cells, never):
            rows, columns = (np.pad(np.cumsum(array, axis=1), ((0, 0), (1, 0))) for array in (values, values.T))
            side_sums = (
                columns[x0, high + 1] - columns[x0, low], rows[y0, x1 + 1] - rows[y0, x0],
                columns[x1, high + 1] - columns[x1, low], rows[y1, x1 + 1] - rows[y1, x0],
            )  # fmt: skip
            sums.append(np.where(on_map, np.stack(side_sums), 0.0))
        self.open = sums[1] + sums[2] > 0
        hard = _NEVER * sums[2].sum(axis=0)
        self.trees, cells_left = sums[0].sum(axis=0) / 10, sums[1].sum(axis=0)
        self.uncut = (cells_left + sums[2].sum(axis=0)) / (2 * (x1 - x0 + y1 - y0))
        self.on_foot = self.trees + cells_left + hard
        self.driven = cells_left / CLEARING + CORNER * self.open.sum(axis=0) + hard
        whole = np.zeros((tenths.shape[0] + 1, tenths.shape[1] + 1))
        whole[1:, 1:] = tenths.cumsum(axis=0).cumsum(axis=1)
        self.inside = (whole[y1 + 1, x1 + 1] - whole[y0, x1 + 1] - whole[y1 + 1, x0] + whole[y0, x0]) / 10


def _work(
    mission: Mission, codes: npt.NDArray[np.uint8], part: tuple[slice, slice]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return tenths of trees, cells that hold some and cells where no ring can be closed; of a part of the map, [y, x].

    Tenths are whole numbers: sums are exact, and equal rings are equal on every machine. No ring can be closed on
    buildings and the bare ground beside them, which burn and cannot be cut, nor on what holds trees where it burns or,
    for walkers who shun it, beside what burns or smoulders.
    """
    seen = codes[part]
    wooded = (seen > agents.DRY) & (seen < agents.SEEN_IGNITED)
    unseen = seen == agents.UNSEEN
    known = 10.0 * (seen.astype(np.float64) - agents.DRY)
    tenths = np.where(wooded, known, np.where(unseen, round(10 * USUAL_TREES), 0.0))
    cells = (wooded | unseen).astype(np.float64)
    burning = (seen == agents.SEEN_IGNITED) | (seen == agents.SEEN_ON_FIRE)
    hot = _widened(burning | (seen == agents.SEEN_EXTINGUISHING), 1) if mission.careful else burning
    built = _widened(seen == agents.SEEN_BUILDING, NEAR_BUILDING) & ~wooded
    never = burning | (hot & wooded) | (built & (seen != agents.SEEN_WATER))
    return tenths, cells, never.astype(np.float64)


def _widened(mask: npt.NDArray[np.bool_], far: int) -> npt.NDArray[np.bool_]:
    """Return which cells are at most so many cells, in x and in y, from one of a mask."""
    if not mask.any():
        return mask
    for axis in (0, 1):
        wide = np.pad(mask, [(far, far) if this == axis else (0, 0) for this in (0, 1)])
        count = mask.shape[axis]
        parts = [np.take(wide, np.arange(start, start + count), axis=axis) for start in range(2 * far + 1)]
        mask = np.logical_or.reduce(parts)
    return mask


def _arrivals(mission: Mission, state: SymbolicState, team: list[AgentId], box: Rectangle) -> Counter[tuple[int, str]]:
    """Return how many of each kind can be at a ring round a fire after how many steps."""
    arrivals: Counter[tuple[int, str]] = Counter()
    for (kind, (x, y)), count in Counter((mission.kinds[agent], state.agents[agent].at) for agent in team).items():
        near = min(max(x, box.x0 - GAP), box.x1 + GAP), min(max(y, box.y0 - GAP), box.y1 + GAP)
        steps = travel_ticks(kind, (x, y), near, state) if dist((x, y), near) > PITCH else 0
        steps -= steps > 0 and kind == "firefighter"  # a step to each cell is part of the work
        arrivals[steps, kind] += count
    return arrivals


def _needed(survey: _Survey, arrivals: Counter[tuple[int, str]]) -> npt.NDArray[np.float64]:
    """Return (K,): steps until a team is done with each ring, if all cut from when they are there and share the work.

    Who is there after a steps and would need w for all of it has done (T - a) / w at T; at the end these sum to 1. Of
    the sets of those who come first, each tells when it would be done alone; it is the earliest of these times.
    """
    work = {"firefighter": survey.on_foot, "bulldozer": survey.driven}
    share, rate = np.ones(len(survey.inside)), np.zeros(len(survey.inside))
    done = np.full(len(survey.inside), np.inf)
    busy = survey.open.any(axis=0)
    steps = {kind: np.where(busy, needed, 1.0) for kind, needed in work.items()}
    for (arrival, kind), count in sorted(arrivals.items()):
        share = share + arrival * count / steps[kind]
        rate = rate + count / steps[kind]
        done = np.minimum(done, share / rate)
    first = min(arrival for arrival, _ in arrivals)
    return np.where(busy, np.maximum(done, first + 1.0), 0.0)


def _may_hold_trees(code: int) -> bool:
    return code == agents.UNSEEN or agents.DRY < code < agents.SEEN_IGNITED


def _enclosed_ground(mission: Mission, state: SymbolicState, fire: int) -> frozenset[Cell] | None:
    ground, todo = state.ground, list(state.fires[fire].cells)
    box = fire_extent(mission, state, fire)
    if ground is None or box is None or not todo:
        return None
    far = GAP + PITCH * LINES
    x0, y0 = max(0, box.x0 - far), max(0, box.y0 - far)
    codes = ground.codes[y0 : box.y1 + far + 1, x0 : box.x1 + far + 1]
    burnable = ~np.isin(codes, _BARE) | _widened(codes == agents.SEEN_BUILDING, NEAR_BUILDING)
    reached = set(todo)
    while todo:  # depth first: where it can get out, it is soon out
        x, y = todo.pop()
        for cell in ((x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)):
            if cell in reached or mission.inside(cell) != cell:
                continue
            column, row = cell[0] - x0, cell[1] - y0
            if not (0 <= row < codes.shape[0] and 0 <= column < codes.shape[1]):
                return None
            if not burnable[row, column]:
                continue
            if codes[row, column] == agents.UNSEEN:
                return None
            reached.add(cell)
            todo.append(cell)
    return frozenset(reached)


def _outline(box: Rectangle, size: int) -> tuple[Cell, ...]:
    """Return the cells of a rectangle, clockwise from its upper left corner, without those off the map."""
    top = [(x, box.y0) for x in range(box.x0, box.x1)]
    right = [(box.x1, y) for y in range(box.y0, box.y1)]
    bottom = [(x, box.y1) for x in range(box.x1, box.x0, -1)]
    left = [(box.x0, y) for y in range(box.y1, box.y0, -1)]
    return tuple((x, y) for x, y in (*top, *right, *bottom, *left) if 0 <= x < size and 0 <= y < size)


#: Long runs are split into stretches where every such row or column of the map crosses them.
STRETCH = 6


def uncut_runs(mission: Mission, state: SymbolicState, fire: int, split: bool = False) -> list[tuple[Cell, ...]]:
    """Return what is left to cut of the ring round a fire: straight runs of cells that may hold trees, clockwise.

    Cells that are not safe to go to are left out. Empty where there is no ring.

    Args:
        mission: The task.
        state: What is known.
        fire: Its number.
        split: Whether long runs are split into stretches, see ``STRETCH``.
    """
    return state.derived(("runs", fire, split), lambda: list(_uncut_runs(mission, state, fire, split)))


def _uncut_runs(mission: Mission, state: SymbolicState, fire: int, split: bool) -> Iterator[tuple[Cell, ...]]:
    ring = firebreak(mission, state, fire)
    if ring is None:
        return
    run: list[Cell] = []
    for cell in ring.uncut:
        if mission.careful and state.dangerous(cell):
            continue
        if run and not _goes_on(run, cell, split):
            yield tuple(run)
            run = []
        run.append(cell)
    if run:
        yield tuple(run)


def _goes_on(run: list[Cell], cell: Cell, split: bool) -> bool:
    """Return whether a cell is the next one of a straight run."""
    last = run[-1]
    way = cell[0] - last[0], cell[1] - last[1]
    if abs(way[0]) + abs(way[1]) != 1 or (len(run) > 1 and way != (last[0] - run[-2][0], last[1] - run[-2][1])):
        return False
    along = int(way[0] == 0)
    return not split or last[along] // STRETCH == cell[along] // STRETCH
