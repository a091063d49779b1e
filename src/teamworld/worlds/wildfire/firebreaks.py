"""Where to cut a firebreak: common knowledge of the map, the same for all who have seen the same ground.

A firebreak is a closed rectangle round a fire, finished before the fire is there: a ring of cells that share sides and
hold no trees stops a fire that goes to eight neighbours. The rule of thumb here weighs what burns inside a rectangle
and what has to be cut for it against the time that the team has: a fire goes one cell in a fire step at most. What was
never seen is taken for medium forest.

Nothing is remembered, and yet whoever asks again later is to get the same answer while it holds. So sides lie on lines
of the map, not so far from a fire that grows; what was cut makes a ring cheaper; stretches of it end at lines of the
map. Who cuts which stretch is not said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import dist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.symbolic_state import Mission, SymbolicState

if TYPE_CHECKING:
    import numpy.typing as npt


#: Sides lie on every such row or column of the map; so many of them are tried on each side of a fire.
PITCH, LINES = 2, 12

#: Cells between the fire as it is known and a side, at least.
GAP = 2

#: Cells of forest that a bulldozer clears, and a firefighter cuts, in a timestep.
RATES = {"bulldozer": 4.0, "firefighter": 0.34}

#: What no fire takes, or takes no more.
_BARE = frozenset({agents.WET, agents.DRY, agents.SEEN_EXTINGUISHING, agents.SEEN_BURNT_OUT, agents.SEEN_WATER})

#: What a building on the ring counts: it cannot be cut, and burns.
HOUSE = 6.0


class Rectangle(NamedTuple):
    """Cells from (x0, y0) to (x1, y1), both included."""

    x0: int
    y0: int
    x1: int
    y1: int


class Firebreak(NamedTuple):
    """A rectangle to cut round a fire."""

    cells: tuple[Cell, ...]
    """Of the map, clockwise; where it leaves the map there is a gap."""
    uncut: tuple[Cell, ...]
    """Those that hold trees, or may hold some."""
    slack: float
    """Timesteps that the team has left when it is done; negative: the fire is expected to be quicker."""
    encloses: bool = False
    """Nothing is left to cut: the fire cannot get out of where it is, by what was seen of it."""


def firebreak(mission: Mission, state: SymbolicState, fire: int) -> Firebreak | None:
    """Return the best rectangle round a fire; None where nobody knows where it is, or nothing burns."""
    return state.derived(("firebreak", fire), lambda: _best_firebreak(mission, state, fire))


def fire_extent(mission: Mission, state: SymbolicState, fire: int) -> Rectangle | None:
    """Return the cells that a fire may have taken by now: what was seen of it, grown since then."""
    front = state.fires[fire]
    if front.out or state.ground is None:
        return None
    seen, t = state.ground.seen, state.ground.t
    cells = [*front.cells, *front.scar]
    if not cells and front.origin is None:
        return None
    if cells:
        codes = state.ground.codes
        rows, columns = np.nonzero((codes >= agents.SEEN_IGNITED) & (codes <= agents.SEEN_BURNT_OUT))
        age = t - max(int(seen[y, x]) for x, y in cells)
        box = Rectangle(int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max()))
    else:
        assert front.origin is not None
        age, box = t, Rectangle(*front.origin, *front.origin)
    grown = -(-100 * age // mission.fire_every)
    return Rectangle(box.x0 - grown, box.y0 - grown, box.x1 + grown, box.y1 + grown)


def _best_firebreak(mission: Mission, state: SymbolicState, fire: int) -> Firebreak | None:
    box = fire_extent(mission, state, fire)
    if box is None or state.ground is None:
        return None
    team = cutters(mission, state)
    if not team:
        return None
    size, effort, fuel = mission.size, _effort(state.ground.codes), _fuel(state.ground.codes)
    inside = np.zeros((size + 1, size + 1))
    inside[1:, 1:] = fuel.cumsum(axis=0).cumsum(axis=1)
    sides = (-_side_lines(-box.x0), -_side_lines(-box.y0), _side_lines(box.x1), _side_lines(box.y1))
    x0, y0, x1, y1 = (side.ravel() for side in np.meshgrid(*sides, indexing="ij"))
    low_x, high_x = np.clip(x0, 0, size - 1), np.clip(x1, 0, size - 1)
    low_y, high_y = np.clip(y0, 0, size - 1), np.clip(y1, 0, size - 1)
    along_x, along_y = (np.pad(np.cumsum(array, axis=1), ((0, 0), (1, 0))) for array in (effort, effort.T))
    work = np.zeros(len(x0))
    for sums, side, low, high in (
        (along_x, y0, low_x, high_x), (along_x, y1, low_x, high_x),
        (along_y, x0, low_y, high_y), (along_y, x1, low_y, high_y),
    ):  # fmt: skip
        line = np.clip(side, 0, size - 1)
        work += np.where(line == side, sums[line, high + 1] - sums[line, low], 0)
    burnt = (
        inside[high_y + 1, high_x + 1] - inside[low_y, high_x + 1] - inside[high_y + 1, low_x] + inside[low_y, low_x]
    )
    rate = sum(RATES[mission.kinds[agent]] for agent in team)
    middle = (box.x0 + box.x1) // 2, (box.y0 + box.y1) // 2
    travel = min(dist(state.agents[agent].at, middle) / 8.0 for agent in team)
    gaps = (x0, box.x0 - x0), (x1, x1 - box.x1), (y0, box.y0 - y0), (y1, y1 - box.y1)
    # Fire steps until the fire is at a side; never, where the side is beyond the map.
    steps = [np.where((side < 0) | (side >= size), 1e3, gap - 1.0) for side, gap in gaps]
    every = mission.fire_every / 100.0
    until = np.min(steps, axis=0) * every - state.ground.t % every
    slack = until - 1.3 * work / rate - travel - 2.0
    worth = burnt + 1.5 * work + np.where(slack < 0, 1e4 - 1e3 * slack, 0)
    best = int(np.argmin(worth))
    cells = _outline(Rectangle(int(x0[best]), int(y0[best]), int(x1[best]), int(y1[best])), size)
    if _is_enclosed(mission, state, fire, cells):
        return Firebreak(cells, (), float(slack[best]), True)
    uncut = tuple((x, y) for x, y in cells if effort[y, x] > 0)
    return Firebreak(cells, uncut, float(slack[best]))


def _is_enclosed(mission: Mission, state: SymbolicState, fire: int, ring: Sequence[Cell]) -> bool:
    """Return whether what burns cannot spread out of a ring, over what can burn or was never seen."""
    ground, todo = state.ground, list(state.fires[fire].cells)
    if ground is None or not todo or (ground.codes == agents.SEEN_BUILDING).any():  # bare ground beside them burns
        return False
    around, reached = set(ring), set(todo)
    while todo:
        x, y = todo.pop()
        for cell in ((x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)):
            if cell in reached or mission.inside(cell) != cell or ground.code(cell) in _BARE:
                continue
            if cell in around:
                return False
            reached.add(cell)
            todo.append(cell)
    return True


def _side_lines(edge: int) -> npt.NDArray[np.int64]:
    """Return where sides may lie beyond an edge of a fire, the nearest first."""
    first = -(-(edge + GAP) // PITCH)
    return PITCH * np.arange(first, first + LINES)


def cutters(mission: Mission, state: SymbolicState) -> list[AgentId]:
    """Return who can cut."""
    return [agent for agent, body in state.agents.items() if mission.kinds[agent] in RATES and body.aboard is None]


def _effort(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return what a cell adds to the work on a ring, in cells; much where a ring cannot go."""
    effort = np.zeros(codes.shape)
    effort[(codes > agents.DRY) & (codes < agents.SEEN_IGNITED)] = 1.0
    effort[codes == agents.UNSEEN] = 0.75
    effort[codes == agents.SEEN_BUILDING] = HOUSE
    effort[(codes >= agents.SEEN_IGNITED) & (codes <= agents.SEEN_EXTINGUISHING)] = 1e3
    return effort


def _fuel(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    fuel = np.zeros(codes.shape)
    dry = (codes >= agents.DRY) & (codes < agents.SEEN_IGNITED)
    fuel[dry] = codes[dry] - agents.DRY
    fuel[codes == agents.UNSEEN] = 1.5
    fuel[codes == agents.SEEN_BUILDING] = 10.0
    return fuel


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
    ring, ground = firebreak(mission, state, fire), state.ground
    if ring is None or ground is None:
        return
    run: list[Cell] = []
    for cell in ring.uncut:
        if ground.code(cell) == agents.SEEN_BUILDING or (mission.careful and state.dangerous(cell)):
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
