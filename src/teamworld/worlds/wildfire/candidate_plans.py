"""Plans that make sense for each kind of goal and for agents that are not needed, and where to cut a firebreak.

A firebreak is a closed rectangle round a fire, finished before the fire is there: a ring of cells that share sides and
hold no trees stops a fire that goes to eight neighbours. The rule of thumb here weighs what burns inside a rectangle
and what has to be cut for it against the time that the team has: a fire goes one cell in a fire step at most. What was
never seen is taken for medium forest.

Nothing is remembered, and yet whoever asks again later is to get the same answer while it holds. So sides lie on lines
of the map, not so far from a fire that grows; what was cut makes a ring cheaper; and who cuts where goes by the ring
and the team alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import dist
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from teamworld.language import Action, AgentId, Cell, Entity
from teamworld.worlds.contract import WAIT, Goal
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.skills import expected_state, is_near
from teamworld.worlds.wildfire.state import SEATS, TANK
from teamworld.worlds.wildfire.symbolic_state import BOARDING_REACH, WALKERS, Mission, SymbolicState

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
    uncut = tuple((x, y) for x, y in cells if effort[y, x] > 0)
    return Firebreak(cells, uncut, float(slack[best]))


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


def own_stretch(ring: Firebreak, agent: AgentId, mission: Mission, state: SymbolicState) -> list[Cell]:
    """Return what an agent should cut of a ring, the end that it is nearer to first.

    The ring is divided by the team's rates from its upper left corner on, so that each finds its stretch again. Who
    is done with its own shares what the others have left with those who are done too.
    """
    team = sorted(mission.agents(*RATES), key=lambda teammate: -RATES[mission.kinds[teammate]])
    left = {cell for cell in ring.uncut if not state.dangerous(cell)}
    rates = np.cumsum([RATES[mission.kinds[teammate]] for teammate in team])
    ends = [0, *(round(len(ring.cells) * float(rate / rates[-1])) for rate in rates)]
    own = {
        teammate: [cell for cell in ring.cells[begin:end] if cell in left]
        for teammate, begin, end in zip(team, ends, ends[1:], strict=False)
    }
    stretch = own[agent]
    if not stretch:
        idle = [teammate for teammate in cutters(mission, state) if not own[teammate]]
        rest = tuple(cell for cell in ring.cells if cell in left)
        stretch = divide_cells(rest, idle, mission, state).get(agent) or list(rest)
    at = state.agents[agent].at
    return stretch[::-1] if stretch and dist(stretch[-1], at) < dist(stretch[0], at) else stretch


def divide_cells(
    cells: tuple[Cell, ...], agents: list[AgentId], mission: Mission, state: SymbolicState
) -> dict[AgentId, list[Cell]]:
    """Divide the cells of a ring among agents: each a run of them, as long as it is quick; the nearest agent first."""
    if not cells or not agents:
        return {}
    total = sum(RATES[mission.kinds[agent]] for agent in agents)
    order = sorted(agents, key=lambda agent: (-RATES[mission.kinds[agent]], agent))
    first = min(range(len(cells)), key=lambda k: (dist(cells[k], state.agents[order[0]].at), k))
    turned = cells[first:] + cells[:first]
    shares: dict[AgentId, list[Cell]] = {}
    begun, done = 0, 0.0
    for agent in order:
        done += RATES[mission.kinds[agent]]
        end = round(len(turned) * done / total)
        shares[agent] = list(turned[begun:end])
        begun = end
    return shares


Steps: TypeAlias = tuple[Action, ...]

#: Whoever has nothing to do keeps this far from fire, in cells; people nearer to it than twice as much are in danger.
SAFE_DISTANCE = 6

#: Cells that one plan cuts at most: plans are short lists.
MOST_CUTS = 5
REST: Steps = (WAIT, WAIT, WAIT)


def go_to(aim: Entity | AgentId) -> Action:
    """Return the order to go to a thing or an agent."""
    return Action("go_to", (aim,))


def move_to(cell: Cell) -> Action:
    """Return the order to go to a cell."""
    return Action("move_to", (cell,))


def candidate_plans(mission: Mission, state: SymbolicState, agent: AgentId, goal: Goal | None) -> Iterator[Steps]:
    """Yield plans for a goal, at least one; without a goal plans to keep out of the way, at least one.

    To wait is a plan only where there is no other: partners who try plans in an order that they agreed on would all
    wait for one another.
    """
    if goal is None or goal.thing is None:
        yield from standby_plans(mission, state, agent)
        return
    makers: dict[str, Callable[[Mission, SymbolicState, AgentId, Entity], Iterator[Steps]]] = {
        "cut": _cut_plans, "search": search_plans, "scout": _scout_plans, "suppress": _suppress_plans,
        "transport": _transport_plans, "rescue": _rescue_plans, "guard": _guard_plans,
    }  # fmt: skip
    plans = makers[goal.kind](mission, state, agent, goal.thing)
    yield next(plans, REST)
    yield from plans


def approach(mission: Mission, state: SymbolicState, agent: AgentId, aim: Entity) -> Steps:
    """Return how an agent gets to a thing: no step if it is there."""
    return () if is_near(agent, aim, mission, state) else (go_to(aim),)


def _cut_plans(mission: Mission, state: SymbolicState, agent: AgentId, aim: Entity) -> Iterator[Steps]:
    at = state.agents[agent].at
    yield (Action("fell", (aim,)),)
    left = sorted(state.uncut(aim), key=lambda cell: (dist(cell, at), cell))
    if mission.kinds[agent] == "bulldozer":
        far = max(left, key=lambda cell: (dist(cell, left[0]), cell))
        start = () if at == left[0] else (move_to(left[0]),)
        yield (*start, Action("clear_to", (far,)))
    else:
        yield cut_cells(left[:MOST_CUTS], at)


def _scout_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    there = approach(mission, state, agent, fire)
    yield (*there, *REST)
    yield (*there, WAIT)


def search_plans(mission: Mission, state: SymbolicState, agent: AgentId, _: Entity | None = None) -> Iterator[Steps]:
    """Yield ways to look around: sectors that nobody has seen, of which each agent begins with others."""
    team = mission.present(state, mission.kinds[agent])
    mine, at = team.index(agent), state.agents[agent].at
    hidden = sorted(
        state.unseen,
        key=lambda number: (number % len(team) != mine, dist(state.sectors[number], at) // 8, number),
    )
    ways = [number for number in hidden if not is_near(agent, Entity("sector", number), mission, state)]
    if not ways:  # all was seen, but what is looked for goes about
        ways = [n for n in state.sectors if n % len(team) == mine and state.sectors[n] != at]
        ways = ways[len(ways) // 2 :] + ways[: len(ways) // 2]
    for first in range(min(3, len(ways))):
        yield tuple(go_to(Entity("sector", number)) for number in ways[first : first + 2])


def _suppress_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    body, kind = state.agents[agent], mission.kinds[agent]
    known = state.place(fire, body.at) is not None
    if kind == "helicopter":
        if not known:
            return
        drop = go_to(fire), Action("release")
        if body.water:
            yield drop * body.water
        elif state.water and not state.riders(agent):
            yield (*_fill_tank(mission, state, agent), *(drop * TANK))
        yield (go_to(fire), *REST)
        return
    if kind == "firefighter" and known:
        yield from _spray_plans(mission, state, agent, fire)
    cuts = _firebreak_plan(mission, state, agent, fire.id)
    if cuts:
        yield cuts
    else:  # who flees cuts nothing: no plan for the fire while there is a place on the break
        yield from standby_plans(mission, state, agent)


def _spray_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    """Yield a firefighter's plan to spray at a fire until it is out, or the tank empty; full, it goes there first."""
    steps: Steps = ()
    if not state.agents[agent].water:
        if not any(_is_clear(state.agents[agent].at, place, mission, state) for place in state.water.values()):
            return
        steps = _fill_tank(mission, state, agent)
        for action in steps:
            state = expected_state(agent, action, mission, state)
    spray = Action("spray_at", (fire,))
    while state.agents[agent].water and not state.fires[fire.id].out:
        way = (*approach(mission, state, agent, fire), spray)
        for action in way:
            state = expected_state(agent, action, mission, state)
        steps = (*steps, *way)
    yield steps


def _is_clear(at: Cell, to: Cell, mission: Mission, state: SymbolicState) -> bool:
    """Return whether the straight way to where water can be taken does not lead through fire."""
    length = max(1, round(dist(at, to)))
    right, down = (to[0] - at[0]) / length, (to[1] - at[1]) / length
    way = range(max(1, length - mission.fill_reach))
    return not any(state.dangerous((round(at[0] + k * right), round(at[1] + k * down))) for k in way)


def _fill_tank(mission: Mission, state: SymbolicState, agent: AgentId) -> Steps:
    at, flies = state.agents[agent].at, mission.kinds[agent] not in WALKERS

    def way(number: int) -> tuple[bool, float, int]:
        place = state.water[number]
        return not (flies or _is_clear(at, place, mission, state)), dist(place, at), number

    nearest = Entity("water", min(state.water, key=way))
    return (*approach(mission, state, agent, nearest), Action("refill"))


def _firebreak_plan(mission: Mission, state: SymbolicState, agent: AgentId, fire: int) -> Steps:
    """Return how to cut the agent's share of a ring round the fire; empty if there is none to cut."""
    ring = firebreak(mission, state, fire)
    cells = [] if ring is None or not ring.uncut else own_stretch(ring, agent, mission, state)
    if ring is None or not cells:
        return ()
    at = state.agents[agent].at
    if mission.kinds[agent] == "bulldozer":
        return clear_run(cells, ring.cells, at)
    return cut_cells(cells[:MOST_CUTS], at)


def cut_cells(cells: list[Cell], at: Cell) -> Steps:
    """Return a firefighter's plan to cut cells one after the other."""
    steps: list[Action] = []
    for cell in cells:
        steps += [*(() if cell == at else (move_to(cell),)), Action("cut_all")]
        at = cell
    return tuple(steps)


def clear_run(cells: list[Cell], outline: tuple[Cell, ...], at: Cell) -> Steps:
    """Return a bulldozer's plan to clear a run of cells of a ring: to its start, then from corner to corner."""
    first, last = outline.index(cells[0]), outline.index(cells[-1])
    if len(cells) > 1 and (outline.index(cells[1]) - first) % len(outline) > len(outline) // 2:  # against the clock
        outline = outline[::-1]
        first, last = outline.index(cells[0]), outline.index(cells[-1])
    way = [outline[k % len(outline)] for k in range(first, last + 1 + (len(outline) if last < first else 0))]
    corners = [
        here
        for before, here, after in zip(way, way[1:], way[2:], strict=False)
        if (here[0] - before[0], here[1] - before[1]) != (after[0] - here[0], after[1] - here[1])
    ]
    start = () if dist(way[0], at) <= 1 else (move_to(way[0]),)
    return (*start, *(Action("clear_to", (cell,)) for cell in (*corners, way[-1])))


def _transport_plans(mission: Mission, state: SymbolicState, agent: AgentId, zone: Entity) -> Iterator[Steps]:
    body = state.agents[agent]
    there = () if state.in_zone(body.at) else (go_to(zone),)
    if mission.kinds[agent] == "firefighter":
        if there:
            yield there
        return
    riders = state.riders(agent)
    if riders:
        yield (*there, Action("set_down"))
    if not body.water and len(riders) < SEATS:
        for firefighter in waiting_firefighters(mission, state, agent)[:2]:
            near = dist(state.agents[firefighter].at, body.at) < BOARDING_REACH
            yield (*(() if near else (go_to(firefighter),)), Action("take_aboard"), go_to(zone), Action("set_down"))


def waiting_firefighters(mission: Mission, state: SymbolicState, agent: AgentId) -> list[AgentId]:
    """Return the firefighters that are not at the zone and ride with nobody, the furthest from the zone first."""
    bodies = [(name, state.agents[name]) for name in mission.present(state, "firefighter")]
    left = [(name, body.at) for name, body in bodies if body.aboard is None and not state.in_zone(body.at)]
    zone = state.zone or state.agents[agent].at
    return [name for _, name in sorted((-round(dist(at, zone)), name) for name, at in left)]


def _rescue_plans(mission: Mission, state: SymbolicState, agent: AgentId, cluster: Entity) -> Iterator[Steps]:
    body = state.agents[agent]
    zone, out = go_to(Entity("zone", 0)), Action("drop_off")
    if body.holds is not None:
        yield (out,) if state.in_zone(body.at) else (zone, out)
        return
    people = state.members(cluster.id)
    free = [number for number, person in people.items() if person.state == "free" and person.at is not None]
    if state.place(cluster, body.at) is not None:
        yield (*approach(mission, state, agent, cluster), Action("pick_up"), zone, out)
        mine = free[mission.present(state, "firefighter").index(agent) % len(free)] if free else None
        if mine is not None and not is_near(agent, Entity("civilian", mine), mission, state):
            yield (go_to(Entity("civilian", mine)), Action("pick_up"), zone, out)
        return
    lost = [person.was for person in people.values() if person.state == "free" and person.was is not None]
    for cell in cells_around((lost or [state.clusters.get(cluster.id, body.at)])[0], mission, agent):
        if cell != body.at and not state.dangerous(cell):
            yield (move_to(cell),)
    yield from standby_plans(mission, state, agent)


def cells_around(middle: Cell, mission: Mission, agent: AgentId) -> list[Cell]:
    """Return cells round a place, where somebody who went away may be."""
    ways = ((7, 0), (-7, -7), (0, 7), (7, -7), (-7, 0), (7, 7), (0, -7), (-7, 7))
    turn = mission.agents("firefighter").index(agent) % len(ways)
    return [mission.inside((middle[0] + x, middle[1] + y)) for x, y in (*ways[turn:], *ways[:turn])]


def _guard_plans(mission: Mission, state: SymbolicState, agent: AgentId, cluster: Entity) -> Iterator[Steps]:
    """Yield ways to keep people from the fire: carry them away from it, or be near."""
    body = state.agents[agent]
    if body.holds is not None:
        far = refuge(mission, state, body.at)
        yield (*(() if far == body.at else (move_to(far),)), Action("drop_off"))
        yield REST
        return
    place = state.place(cluster, body.at)
    if place is not None:
        there = approach(mission, state, agent, cluster)
        if any(dist(place, cell) < 2 * SAFE_DISTANCE for cell in state.burning):
            far = refuge(mission, state, place)
            yield (*there, Action("pick_up"), move_to(far), Action("drop_off"))
        yield (*there, *REST)
    yield from standby_plans(mission, state, agent)


def refuge(mission: Mission, state: SymbolicState, at: Cell) -> Cell:
    """Return a cell further from all fire: of those a way off, the one furthest from it."""
    ways = [mission.inside((at[0] + x * 12, at[1] + y * 12)) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    return max(ways, key=lambda cell: (min((dist(cell, fire) for fire in state.burning), default=0.0), cell))


def standby_plans(mission: Mission, state: SymbolicState, agent: AgentId) -> Iterator[Steps]:
    """Yield plans for an agent that is not needed, the best first: flee, put down, look around, wait."""
    body, kind = state.agents[agent], mission.kinds[agent]
    if body.aboard is not None:
        yield REST
        return
    if body.holds is not None and state.in_zone(body.at):
        yield (Action("drop_off"),)
    if kind in WALKERS and any(dist(cell, body.at) < SAFE_DISTANCE for cell in state.burning):
        far = refuge(mission, state, body.at)
        if far != body.at and not state.dangerous(far):
            yield (move_to(far),)
    if kind not in WALKERS and state.unseen:
        yield from search_plans(mission, state, agent)
    yield REST
    if state.sectors:
        yield from search_plans(mission, state, agent)
