"""Plans that make sense: for each kind of goal, and for whoever is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist
from typing import TypeAlias

from teamworld.language import Action, AgentId, Cell, Entity
from teamworld.worlds.contract import WAIT, Goal
from teamworld.worlds.wildfire import breaks, imagine
from teamworld.worlds.wildfire.goals import in_zone
from teamworld.worlds.wildfire.scene import Brief, Scene, thing
from teamworld.worlds.wildfire.skills import BOARDING, WALKERS, near_enough
from teamworld.worlds.wildfire.units import SEATS, TANK

Steps: TypeAlias = tuple[Action, ...]
#: Whoever has nothing to do keeps this far from fire, in cells; people nearer to it than twice as much are in danger.
SAFE = 6
#: Cells that one plan cuts at most: plans are short lists.
CELLS = 5
REST: Steps = (WAIT, WAIT, WAIT)


def go(aim: Entity | AgentId) -> Action:
    """Return the order to go to a thing or an agent."""
    return Action("go_to", (aim,))


def move(cell: Cell) -> Action:
    """Return the order to go to a cell."""
    return Action("move_to", (cell,))


def recipes(brief: Brief, scene: Scene, agent: AgentId, goal: Goal | None) -> Iterator[Steps]:
    """Yield plans for a goal, at least one; without a goal plans to keep out of the way, at least one.

    To wait is a plan only where there is no other: partners who try plans in an order that they agreed on would all
    wait for one another.
    """
    if goal is None or goal.thing is None:
        yield from standby(brief, scene, agent)
        return
    found = False
    for steps in _work(brief, scene, agent, goal, goal.thing):
        found = True
        yield steps
    if not found:
        yield REST


def _work(brief: Brief, scene: Scene, agent: AgentId, goal: Goal, aim: Entity) -> Iterator[Steps]:
    """Yield plans for a goal, as far as there are any."""
    kind = brief.kinds[agent]
    if goal.kind == "cut":
        yield from _cut(scene, agent, aim, kind)
    elif goal.kind == "search":
        yield from looks(brief, scene, agent)
    elif goal.kind == "scout":
        there = () if near_enough(agent, aim, brief, scene) else (go(aim),)
        yield (*there, *REST)
        yield (*there, WAIT)
    elif goal.kind == "suppress":
        yield from _suppress(brief, scene, agent, aim, kind)
    elif goal.kind == "transport":
        yield from _transport(brief, scene, agent, kind)
    elif goal.kind == "rescue":
        yield from _rescue(brief, scene, agent, aim)
    else:
        yield from _guard(brief, scene, agent, aim)


def _cut(scene: Scene, agent: AgentId, aim: Entity, kind: str) -> Iterator[Steps]:
    at = scene.agents[agent].at
    yield (Action("fell", (aim,)),)
    left = sorted((spot.at for spot in scene.spots(aim) if spot.trees), key=lambda cell: (dist(cell, at), cell))
    if kind == "bulldozer":
        far = max(left, key=lambda cell: (dist(cell, left[0]), cell))
        start = () if at == left[0] else (move(left[0]),)
        yield (*start, Action("clear_to", (far,)))
        return
    steps: list[Action] = []
    for cell in left[:CELLS]:
        steps += [*(() if cell == at else (move(cell),)), Action("cut_all")]
        at = cell
    yield tuple(steps)


def looks(brief: Brief, scene: Scene, agent: AgentId) -> Iterator[Steps]:
    """Yield ways to look around: sectors that nobody has seen, of which each agent begins with others."""
    team = [mate for mate in scene.agents if brief.kinds[mate] == brief.kinds[agent]]
    mine, at = team.index(agent), scene.agents[agent].at
    hidden = sorted(
        scene.unseen,
        key=lambda number: (number % len(team) != mine, dist(scene.sectors[number], at) // 8, number),
    )
    ways = [number for number in hidden if not near_enough(agent, thing("sector", number), brief, scene)]
    if not ways:  # all was seen, but what is looked for goes about
        ways = [n for n in scene.sectors if n % len(team) == mine and scene.sectors[n] != at]
        ways = ways[len(ways) // 2 :] + ways[: len(ways) // 2]
    for first in range(min(3, len(ways))):
        yield tuple(go(thing("sector", number)) for number in ways[first : first + 2])


def _suppress(brief: Brief, scene: Scene, agent: AgentId, fire: Entity, kind: str) -> Iterator[Steps]:
    body, known = scene.agents[agent], scene.place(fire, scene.agents[agent].at) is not None
    if kind == "helicopter":
        drop = Action("release")
        full = (go(fire), drop) * body.water if known else ()
        if full:
            yield full
        elif scene.water and not scene.riders(agent) and known:
            yield (*_fill(brief, scene, agent), *((go(fire), drop) * TANK))
        if known:
            yield (go(fire), *REST)
        return
    if kind == "firefighter" and known:
        yield from _water(brief, scene, agent, fire)
    found = False
    for steps in _firebreak(brief, scene, agent, fire.id, kind):
        found = True
        yield steps
    if not found:  # who flees cuts nothing: no plan for the fire while there is a place on the break
        yield from standby(brief, scene, agent)


def _water(brief: Brief, scene: Scene, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    """Yield a firefighter's plan to spray at a fire until it is out, or the tank empty; full, it goes there first."""
    steps: Steps = ()
    if not scene.agents[agent].water:
        if not any(_clear(scene.agents[agent].at, place, brief, scene) for place in scene.water.values()):
            return
        steps = _fill(brief, scene, agent)
        for action in steps:
            scene = imagine.after(agent, action, brief, scene)
    spray = Action("spray_at", (fire,))
    while scene.agents[agent].water and not scene.fires[fire.id].out:
        way = () if near_enough(agent, fire, brief, scene) else (go(fire),)
        for action in (*way, spray):
            scene = imagine.after(agent, action, brief, scene)
        steps = (*steps, *way, spray)
    yield steps


def _clear(at: Cell, to: Cell, brief: Brief, scene: Scene) -> bool:
    """Whether the straight way to where water can be taken does not lead through fire."""
    length = max(1, round(dist(at, to)))
    right, down = (to[0] - at[0]) / length, (to[1] - at[1]) / length
    way = range(max(1, length - brief.fill_reach))
    return not any(scene.dangerous((round(at[0] + k * right), round(at[1] + k * down))) for k in way)


def _fill(brief: Brief, scene: Scene, agent: AgentId) -> Steps:
    at, flies = scene.agents[agent].at, brief.kinds[agent] not in WALKERS

    def way(number: int) -> tuple[bool, float, int]:
        place = scene.water[number]
        return not (flies or _clear(at, place, brief, scene)), dist(place, at), number

    nearest = min(scene.water, key=way)
    there = near_enough(agent, thing("water", nearest), brief, scene)
    return (*(() if there else (go(thing("water", nearest)),)), Action("refill"))


def _firebreak(brief: Brief, scene: Scene, agent: AgentId, fire: int, kind: str) -> Iterator[Steps]:
    """Yield the agent's share of a ring round the fire, if there is one to cut."""
    ring = breaks.ring(brief, scene, fire)
    if ring is None or not ring.uncut:
        return
    cells, at = breaks.stretch(ring, agent, brief, scene), scene.agents[agent].at
    if cells:
        yield drive(cells, ring.cells, at) if kind == "bulldozer" else cuts(cells[:CELLS], at)


def cuts(cells: list[Cell], at: Cell) -> Steps:
    """Return a firefighter's plan to cut cells one after the other."""
    steps: list[Action] = []
    for cell in cells:
        steps += [*(() if cell == at else (move(cell),)), Action("cut_all")]
        at = cell
    return tuple(steps)


def drive(cells: list[Cell], outline: tuple[Cell, ...], at: Cell) -> Steps:
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
    start = () if dist(way[0], at) <= 1 else (move(way[0]),)
    return (*start, *(Action("clear_to", (cell,)) for cell in (*corners, way[-1])))


def _transport(brief: Brief, scene: Scene, agent: AgentId, kind: str) -> Iterator[Steps]:
    body, zone = scene.agents[agent], thing("zone", 0)
    arrived = scene.zone is not None and in_zone(body.at, scene.zone)
    there = () if arrived else (go(zone),)
    if kind == "firefighter":
        if there:
            yield there
        return
    riders = scene.riders(agent)
    if riders:
        yield (*there, Action("set_down"))
    if not body.water and len(riders) < SEATS:
        for mate in waiting(brief, scene, agent)[:2]:
            near = dist(scene.agents[mate].at, body.at) < BOARDING
            yield (*(() if near else (go(mate),)), Action("take_aboard"), go(zone), Action("set_down"))


def waiting(brief: Brief, scene: Scene, agent: AgentId) -> list[AgentId]:
    """Return the firefighters that are not at the zone and ride with nobody, the furthest from the zone first."""
    left = [
        mate
        for mate, body in scene.agents.items()
        if brief.kinds[mate] == "firefighter"
        and body.aboard is None
        and not (scene.zone is not None and in_zone(body.at, scene.zone))
    ]
    zone = scene.zone or scene.agents[agent].at
    return sorted(left, key=lambda mate: (-round(dist(scene.agents[mate].at, zone)), mate))


def _rescue(brief: Brief, scene: Scene, agent: AgentId, cluster: Entity) -> Iterator[Steps]:
    body = scene.agents[agent]
    zone, out = go(thing("zone", 0)), Action("drop_off")
    arrived = scene.zone is not None and in_zone(body.at, scene.zone)
    if body.holds is not None:
        yield (out,) if arrived else (zone, out)
        return
    people = scene.members(cluster.id)
    free = [number for number, person in people.items() if person.state == "free" and person.at is not None]
    if scene.place(cluster, body.at) is not None:
        there = () if near_enough(agent, cluster, brief, scene) else (go(cluster),)
        yield (*there, Action("pick_up"), zone, out)
        firefighters = [mate for mate in scene.agents if brief.kinds[mate] == "firefighter"]
        mine = free[firefighters.index(agent) % len(free)] if free else None
        if mine is not None and not near_enough(agent, thing("civilian", mine), brief, scene):
            yield (go(thing("civilian", mine)), Action("pick_up"), zone, out)
        return
    lost = [person.was for person in people.values() if person.state == "free" and person.was is not None]
    for cell in round_about((lost or [scene.clusters.get(cluster.id, body.at)])[0], brief, agent):
        if cell != body.at and not scene.dangerous(cell):
            yield (move(cell),)
    yield from standby(brief, scene, agent)


def round_about(middle: Cell, brief: Brief, agent: AgentId) -> list[Cell]:
    """Return cells round a place, where somebody who went away may be."""
    ways = ((7, 0), (-7, -7), (0, 7), (7, -7), (-7, 0), (7, 7), (0, -7), (-7, 7))
    turn = brief.agents("firefighter").index(agent) % len(ways)
    return [brief.inside((middle[0] + x, middle[1] + y)) for x, y in (*ways[turn:], *ways[:turn])]


def _guard(brief: Brief, scene: Scene, agent: AgentId, cluster: Entity) -> Iterator[Steps]:
    """Yield ways to keep people from the fire: carry them away from it, or be near."""
    body = scene.agents[agent]
    fires = [cell for front in scene.fires.values() for cell in front.cells]
    if body.holds is not None:
        far = refuge(brief, scene, body.at)
        yield (*(() if far == body.at else (move(far),)), Action("drop_off"))
        yield REST
        return
    place = scene.place(cluster, body.at)
    if place is not None:
        there = () if near_enough(agent, cluster, brief, scene) else (go(cluster),)
        if any(dist(place, cell) < 2 * SAFE for cell in fires):
            far = refuge(brief, scene, place)
            yield (*there, Action("pick_up"), move(far), Action("drop_off"))
        yield (*there, *REST)
    yield from standby(brief, scene, agent)


def refuge(brief: Brief, scene: Scene, at: Cell) -> Cell:
    """Return a cell further from all fire: of those a way off, the one furthest from it."""
    hot = [cell for front in scene.fires.values() for cell in front.cells]
    ways = [brief.inside((at[0] + x * 12, at[1] + y * 12)) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    return max(ways, key=lambda cell: (min((dist(cell, fire) for fire in hot), default=0.0), cell))


def standby(brief: Brief, scene: Scene, agent: AgentId) -> Iterator[Steps]:
    """Yield plans for an agent that is not needed, the best first: flee, put down, look around, wait."""
    body, kind = scene.agents[agent], brief.kinds[agent]
    if body.aboard is not None:
        yield REST
        return
    if body.holds is not None and scene.zone is not None and in_zone(body.at, scene.zone):
        yield (Action("drop_off"),)
    hot = [cell for front in scene.fires.values() for cell in front.cells if dist(cell, body.at) < SAFE]
    if hot and kind in WALKERS:
        far = refuge(brief, scene, body.at)
        if far != body.at and not scene.dangerous(far):
            yield (move(far),)
    if kind not in WALKERS and scene.unseen:
        yield from looks(brief, scene, agent)
    yield REST
    if scene.sectors:
        yield from looks(brief, scene, agent)
