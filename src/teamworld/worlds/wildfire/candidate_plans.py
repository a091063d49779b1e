"""Plans that make sense for each kind of goal, and for agents that are not needed.

A plan depends on where its agent stands and on what is known: who does what is for the method to decide. So an agent is
offered several places to begin at, the nearest first. Only a search is shared out, by where all stand: who looks where
a teammate looks finds nothing, and nobody can say before a search which part of it is worth more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import dist
from typing import TypeAlias

import numpy as np

from teamworld.language import Action, AgentId, Cell, Entity
from teamworld.worlds.contract import WAIT, Goal
from teamworld.worlds.wildfire.firebreaks import enclosed_ground, uncut_runs
from teamworld.worlds.wildfire.sharing import share_sectors, shown_a_step
from teamworld.worlds.wildfire.skills import cut_before, cutting_left, expected_state, is_near
from teamworld.worlds.wildfire.state import SEATS, TANK
from teamworld.worlds.wildfire.symbolic_state import BOARDING_REACH, WALKERS, Mission, SymbolicState

Steps: TypeAlias = tuple[Action, ...]

#: Whoever has nothing to do keeps this far from fire, in cells; people nearer to it than twice as much are in danger.
SAFE_DISTANCE = 6

#: Places to begin at that an agent is offered for one goal, the nearest ones.
MOST_PLACES = 6
REST: Steps = (WAIT, WAIT, WAIT)

#: Steps that an agent idles beside a fire that is enclosed before it looks again.
IDLE_STEPS = 5


def go_to(aim: Entity | AgentId) -> Action:
    """Return the order to go to a thing or an agent."""
    return Action("go_to", (aim,))


def move_to(cell: Cell) -> Action:
    """Return the order to go to a cell."""
    return Action("move_to", (cell,))


def cut_line(cell: Cell) -> Action:
    """Return the order to cut all trees on the straight way to a cell."""
    return Action("cut_line", (cell,))


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
    if cut_before(agent, aim, mission, state):  # whoever is there is done no later alone
        yield (Action("idle", (cutting_left(aim, mission, state),)),)
        return
    yield (Action("fell", (aim,)),)
    left = state.uncut(aim)
    if len(left) > 1:
        at = state.agents[agent].at
        near, far = sorted((left[0], left[-1]), key=lambda cell: (dist(cell, at), cell))
        yield _cut_run(mission.kinds[agent], at, (near, far))


def _scout_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    there = approach(mission, state, agent, fire)
    yield (*there, *REST)
    yield (*there, WAIT)


def is_search_over(mission: Mission, state: SymbolicState) -> bool:
    """Return whether people are all that is to be found, and it is known of all that the mission speaks of where."""
    people = mission.clusters * mission.per_cluster
    if mission.task != "rescue" or sum(number < people for number in state.people) < people:
        return False
    return all(person.state != "free" or person.at is not None for person in state.people.values())


def search_plans(mission: Mission, state: SymbolicState, agent: AgentId, _: Entity | None = None) -> Iterator[Steps]:
    """Yield ways to look around: each through a sector that nobody has seen whole.

    It is the sector to which ``share_sectors`` sends the agent; where that leaves it none, those that show most a step.
    Where all was seen, what is looked for goes about: then to the middles that nobody has seen for longest.
    """
    at, ground = state.agents[agent].at, state.ground
    if not state.unseen:
        seen = {middle: -1 if ground is None else ground.date(middle) for middle in state.sectors.values()}
        order = sorted(seen, key=lambda middle: (seen[middle], dist(middle, at), middle))
        yield from ((move_to(middle),) for middle in [middle for middle in order if middle != at][:MOST_PLACES])
        return
    own = share_sectors(mission, state).get(agent)
    ways = [number for number in state.unseen if number in state.sectors]
    best = sorted(ways, key=lambda number: (-shown_a_step(agent, number, mission, state), number))
    for number in best[:MOST_PLACES] if own is None else [own]:
        yield (go_to(Entity("sector", number)),)


def _suppress_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: Entity) -> Iterator[Steps]:
    body, kind = state.agents[agent], mission.kinds[agent]
    known = state.place(fire, body.at) is not None
    is_enclosed = enclosed_ground(mission, state, fire.id) is not None
    if is_enclosed and not (state.water or body.water):
        yield from _beside_enclosed(mission, state, agent)
        return
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
    pours = list(_spray_plans(mission, state, agent, fire)) if kind == "firefighter" and known else []
    if pours:  # whoever can have water puts the fire out: a ring takes longer, and costs trees
        yield from pours
        return
    if is_enclosed:
        yield from _beside_enclosed(mission, state, agent)
        return
    cuts = list(firebreak_plans(mission, state, agent, fire.id))
    # Who flees cuts nothing: no plan for the fire while there is a place on the break.
    yield from cuts or standby_plans(mission, state, agent)


def _beside_enclosed(mission: Mission, state: SymbolicState, agent: AgentId) -> Iterator[Steps]:
    """Yield what is left to do at a fire that cannot get out: to get out of its way, or nothing."""
    if mission.kinds[agent] in WALKERS and is_threatened(mission, state, state.agents[agent].at):
        yield from islice(standby_plans(mission, state, agent), 1)
    yield (Action("idle", (IDLE_STEPS,)),)


def is_threatened(mission: Mission, state: SymbolicState, at: Cell) -> bool:
    """Return whether a walker had better leave a cell: fire is near that can come there, as far as is known."""
    return any(
        any(dist(cell, at) < SAFE_DISTANCE for cell in front.cells)
        and ((inside := enclosed_ground(mission, state, number)) is None or at in inside)
        for number, front in state.fires.items()
    )


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
    way = np.arange(max(1, length - mission.fill_reach))
    xs, ys = (np.rint(start + way * step).astype(np.int64) for start, step in ((at[0], right), (at[1], down)))
    return not state.any_dangerous(xs, ys)


def _fill_tank(mission: Mission, state: SymbolicState, agent: AgentId) -> Steps:
    at, flies = state.agents[agent].at, mission.kinds[agent] not in WALKERS

    def way(number: int) -> tuple[bool, float, int]:
        place = state.water[number]
        return not (flies or _is_clear(at, place, mission, state)), dist(place, at), number

    nearest = Entity("water", min(state.water, key=way))
    return (*approach(mission, state, agent, nearest), Action("refill"))


#: Cells that a plan for a ring cuts at least, if as many are left: plans are short lists, and alike in length.
CUTS = {"firefighter": 6, "bulldozer": 24}


def firebreak_plans(mission: Mission, state: SymbolicState, agent: AgentId, fire: int) -> Iterator[Steps]:
    """Yield ways to work on the ring round a fire: to begin at one of the nearest stretches of it, and go on."""
    at, kind = state.agents[agent].at, mission.kinds[agent]
    runs = uncut_runs(mission, state, fire, split=kind == "firefighter")
    near = sorted(range(len(runs)), key=lambda k: (min(dist(cell, at) for cell in runs[k]), runs[k]))
    for first in near[:MOST_PLACES]:
        clockwise = dist(runs[first][0], at) <= dist(runs[first][-1], at)
        steps: list[Action] = []
        here, cells = at, 0
        for k in range(len(runs)):
            run = runs[(first + k) % len(runs)] if clockwise else runs[first - k][::-1]
            if cells >= CUTS[kind]:
                break
            steps += _cut_run(kind, here, run)
            here, cells = run[-1], cells + len(run)
        yield tuple(steps)


def _cut_run(kind: str, at: Cell, run: tuple[Cell, ...]) -> Steps:
    """Return how to cut a straight run of cells, from its first to its last."""
    first, last = run[0], run[-1]
    if at in run[1:-1]:
        return tuple(cut_line(end) for end in sorted((first, last), key=lambda end: (dist(end, at), end)))
    beside = dist(at, first) <= 1 and (at[0] == last[0] or at[1] == last[1])
    if first == last and kind == "firefighter":
        return (*(() if at == first else (move_to(first),)), Action("cut_all"))
    return (*(() if beside else (move_to(first),)), cut_line(last))


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
        for number in free[:MOST_PLACES] if len(free) > 1 else ():
            if not is_near(agent, Entity("civilian", number), mission, state):
                yield (go_to(Entity("civilian", number)), Action("pick_up"), zone, out)
        return
    lost = [person.was for person in people.values() if person.state == "free" and person.was is not None]
    ground = state.ground
    ways = cells_around((lost or [state.clusters.get(cluster.id, body.at)])[0], mission)
    is_carried = not lost and len(people) >= mission.per_cluster  # nobody is left to look for
    for cell in sorted(ways, key=lambda cell: (-1 if ground is None else ground.date(cell), dist(cell, body.at))):
        if not is_carried and cell != body.at and not state.dangerous(cell):
            yield (move_to(cell),)
    yield from standby_plans(mission, state, agent)


def cells_around(middle: Cell, mission: Mission) -> list[Cell]:
    """Return cells round a place, where somebody who went away may be."""
    ways = ((7, 0), (-7, -7), (0, 7), (7, -7), (-7, 0), (7, 7), (0, -7), (-7, 7))
    return [mission.inside((middle[0] + x, middle[1] + y)) for x, y in ways]


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
    if kind in WALKERS and is_threatened(mission, state, body.at):
        far = refuge(mission, state, body.at)
        if far != body.at and not state.dangerous(far):
            yield (move_to(far),)
    lost = any(person.state == "free" and person.at is None for person in state.people.values())
    looks = not is_search_over(mission, state)
    if looks and kind not in WALKERS and (state.unseen or lost):
        yield from search_plans(mission, state, agent)
    yield REST
    if looks and state.sectors:
        yield from search_plans(mission, state, agent)
