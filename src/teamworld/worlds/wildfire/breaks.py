"""Where to cut a firebreak: a closed rectangle round a fire, finished before the fire is there.

A ring of cells that share sides and hold no trees stops a fire that goes to eight neighbours. The rule of thumb here
weighs what burns inside a rectangle and what has to be cut for it against the time that the team has: a fire goes one
cell in a fire step at most. What was never seen is taken for medium forest.

Nothing is remembered, and yet who asks again later is to get the same answer while it holds. So sides lie on lines of
the map, not so far from a fire that grows; what was cut makes a ring cheaper; and who cuts where goes by the ring and
the team alone.
"""

from __future__ import annotations

from math import dist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.wildfire import scene as words
from teamworld.worlds.wildfire.scene import Brief, Scene

if TYPE_CHECKING:
    import numpy.typing as npt

#: Sides lie on every such row or column of the map; so many of them are tried on each side of a fire.
PITCH, LINES = 2, 12
#: Cells between the fire as it is known and a side, at least.
GAP = 2
#: Cells of forest that a bulldozer clears, and a firefighter cuts, in a timestep.
RATES = {"bulldozer": 4.0, "firefighter": 0.34}
#: What a building on the ring counts: it cannot be cut, and burns.
HOUSE = 6.0


class Box(NamedTuple):
    """Cells from (x0, y0) to (x1, y1), both included."""

    x0: int
    y0: int
    x1: int
    y1: int


class Ring(NamedTuple):
    """A rectangle to cut round a fire."""

    cells: tuple[Cell, ...]
    """Of the map, clockwise; where it leaves the map there is a gap."""
    uncut: tuple[Cell, ...]
    """Those that hold trees, or may hold some."""
    slack: float
    """Timesteps that the team has left when it is done; negative: the fire is expected to be quicker."""


def ring(brief: Brief, scene: Scene, fire: int) -> Ring | None:
    """Return the best rectangle round a fire; None where nobody knows where it is, or nothing burns."""
    key = "ring", fire
    if key not in scene.memo:
        scene.memo[key] = _ring(brief, scene, fire)
    found: Ring | None = scene.memo[key]
    return found


def reach(brief: Brief, scene: Scene, fire: int) -> Box | None:
    """Return the cells that a fire may have taken by now: what was seen of it, grown since then."""
    front = scene.fires[fire]
    if front.out or scene.ground is None:
        return None
    seen, t = scene.ground.seen, scene.ground.t
    cells = [*front.cells, *front.scar]
    if not cells and front.origin is None:
        return None
    if cells:
        codes = scene.ground.codes
        rows, columns = np.nonzero((codes >= words.IGNITED) & (codes <= words.BURNT))
        age = t - max(int(seen[y, x]) for x, y in cells)
        box = Box(int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max()))
    else:
        assert front.origin is not None
        age, box = t, Box(*front.origin, *front.origin)
    grown = -(-100 * age // brief.fire_every)
    return Box(box.x0 - grown, box.y0 - grown, box.x1 + grown, box.y1 + grown)


def _ring(brief: Brief, scene: Scene, fire: int) -> Ring | None:
    box = reach(brief, scene, fire)
    if box is None or scene.ground is None:
        return None
    size, effort, fuel = brief.size, _effort(scene.ground.codes), _fuel(scene.ground.codes)
    along_x = np.concatenate([np.zeros((size, 1)), np.cumsum(effort, axis=1)], axis=1)
    along_y = np.concatenate([np.zeros((1, size)), np.cumsum(effort, axis=0)], axis=0)
    inside = np.zeros((size + 1, size + 1))
    inside[1:, 1:] = fuel.cumsum(axis=0).cumsum(axis=1)
    sides = (-_lines(-box.x0), -_lines(-box.y0), _lines(box.x1), _lines(box.y1))
    x0, y0, x1, y1 = (side.ravel() for side in np.meshgrid(*sides, indexing="ij"))
    low_x, high_x = np.clip(x0, 0, size - 1), np.clip(x1, 0, size - 1)
    low_y, high_y = np.clip(y0, 0, size - 1), np.clip(y1, 0, size - 1)
    work = np.zeros(len(x0))
    for y in (y0, y1):
        here = (y >= 0) & (y < size)
        work += np.where(
            here, along_x[np.clip(y, 0, size - 1), high_x + 1] - along_x[np.clip(y, 0, size - 1), low_x], 0
        )
    for x in (x0, x1):
        here = (x >= 0) & (x < size)
        work += np.where(
            here, along_y[high_y + 1, np.clip(x, 0, size - 1)] - along_y[low_y, np.clip(x, 0, size - 1)], 0
        )
    burnt = (
        inside[high_y + 1, high_x + 1] - inside[low_y, high_x + 1] - inside[high_y + 1, low_x] + inside[low_y, low_x]
    )
    rate = sum(RATES[brief.kinds[a]] for a in workers(brief, scene))
    if rate == 0.0:
        return None
    middle = (box.x0 + box.x1) // 2, (box.y0 + box.y1) // 2
    travel = min(dist(scene.agents[a].at, middle) / 8.0 for a in workers(brief, scene))
    gaps = (x0, box.x0 - x0), (x1, x1 - box.x1), (y0, box.y0 - y0), (y1, y1 - box.y1)
    every = brief.fire_every / 100.0
    until = np.min([_steps(at, gap, size) for at, gap in gaps], axis=0) * every - scene.ground.t % every
    slack = until - 1.3 * work / rate - travel - 2.0
    worth = burnt + 1.5 * work + np.where(slack < 0, 1e4 - 1e3 * slack, 0)
    best = int(np.argmin(worth))
    cells = _outline(Box(int(x0[best]), int(y0[best]), int(x1[best]), int(y1[best])), size)
    uncut = tuple((x, y) for x, y in cells if effort[y, x] > 0)
    return Ring(cells, uncut, float(slack[best]))


def _lines(edge: int) -> npt.NDArray[np.int64]:
    """Return where sides may lie beyond an edge of a fire, the nearest first."""
    first = -(-(edge + GAP) // PITCH)
    return PITCH * np.arange(first, first + LINES)


def workers(brief: Brief, scene: Scene) -> list[AgentId]:
    """Return who can cut."""
    return [agent for agent, body in scene.agents.items() if brief.kinds[agent] in RATES and body.aboard is None]


def _steps(side: npt.NDArray[np.int64], offset: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.float64]:
    """Return the fire steps until the fire is at a side; never, where the side is beyond the map."""
    return np.where((side < 0) | (side >= size), 1e3, offset - 1.0)


def _effort(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return what a cell adds to the work on a ring, in cells; much where a ring cannot go."""
    effort = np.zeros(codes.shape)
    effort[(codes > words.DRY) & (codes < words.IGNITED)] = 1.0
    effort[codes == words.UNSEEN] = 0.75
    effort[codes == words.BUILDING] = HOUSE
    effort[(codes >= words.IGNITED) & (codes <= words.SMOULDERING)] = 1e3
    return effort


def _fuel(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    fuel = np.zeros(codes.shape)
    dry = (codes >= words.DRY) & (codes < words.IGNITED)
    fuel[dry] = codes[dry] - words.DRY
    fuel[codes == words.UNSEEN] = 1.5
    fuel[codes == words.BUILDING] = 10.0
    return fuel


def _outline(box: Box, size: int) -> tuple[Cell, ...]:
    """Return the cells of a rectangle, clockwise from its upper left corner, without those off the map."""
    top = [(x, box.y0) for x in range(box.x0, box.x1)]
    right = [(box.x1, y) for y in range(box.y0, box.y1)]
    bottom = [(x, box.y1) for x in range(box.x1, box.x0, -1)]
    left = [(box.x0, y) for y in range(box.y1, box.y0, -1)]
    return tuple((x, y) for x, y in (*top, *right, *bottom, *left) if 0 <= x < size and 0 <= y < size)


def stretch(ring: Ring, agent: AgentId, brief: Brief, scene: Scene) -> list[Cell]:
    """Return what an agent should cut of a ring, the end that it is nearer to first.

    The ring is divided by the team's rates from its upper left corner on, so that each finds its stretch again. Who
    is done with its own shares what the others have left with those who are done too.
    """
    team = sorted(brief.agents(*RATES), key=lambda mate: -RATES[brief.kinds[mate]])
    left = {cell for cell in ring.uncut if not scene.dangerous(cell)}
    rates = np.cumsum([RATES[brief.kinds[mate]] for mate in team])
    ends = [0, *(round(len(ring.cells) * float(rate / rates[-1])) for rate in rates)]
    own = {
        mate: [cell for cell in ring.cells[begin:end] if cell in left]
        for mate, begin, end in zip(team, ends, ends[1:], strict=False)
    }
    found = own[agent]
    if not found:
        idle = [mate for mate in workers(brief, scene) if not own[mate]]
        rest = tuple(cell for cell in ring.cells if cell in left)
        found = shares(rest, idle, brief, scene).get(agent) or list(rest)
    at = scene.agents[agent].at
    return found[::-1] if found and dist(found[-1], at) < dist(found[0], at) else found


def shares(cells: tuple[Cell, ...], agents: list[AgentId], brief: Brief, scene: Scene) -> dict[AgentId, list[Cell]]:
    """Divide the cells of a ring among agents: each a run of them, as long as it is quick; the nearest agent first."""
    if not cells or not agents:
        return {}
    total = sum(RATES[brief.kinds[agent]] for agent in agents)
    order = sorted(agents, key=lambda agent: (-RATES[brief.kinds[agent]], agent))
    first = min(range(len(cells)), key=lambda k: (dist(cells[k], scene.agents[order[0]].at), k))
    turned = cells[first:] + cells[:first]
    found: dict[AgentId, list[Cell]] = {}
    begun, done = 0, 0.0
    for agent in order:
        done += RATES[brief.kinds[agent]]
        end = round(len(turned) * done / total)
        found[agent] = list(turned[begun:end])
        begun = end
    return found
