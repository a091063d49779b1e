"""The scripted team: it divides targets, sectors, civilians and firebreaks, and keeps clear of the fire.

A reference row: no rule of a method calls it. It holds nothing from one step to the next; what others do it reads off
their running plans. Where agents have maps of their own, each goes by its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import dist, fsum
from typing import TYPE_CHECKING, TypeAlias

from teamworld.language import Action, AgentId, Cell, Entity, Plan
from teamworld.worlds.contract import WAIT
from teamworld.worlds.wildfire.candidate_plans import (
    Steps,
    approach,
    cells_around,
    go_to,
    move_to,
    refuge,
    standby_plans,
    waiting_firefighters,
)
from teamworld.worlds.wildfire.firebreaks import cutters, firebreak
from teamworld.worlds.wildfire.skills import cells_between, estimate_ticks, is_near, spray_place
from teamworld.worlds.wildfire.state import FIREFIGHTER, SEATS, SIGHTS, TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    PACE,
    SPRAY_REACH,
    WALKERS,
    Mission,
    SymbolicState,
    state_of,
)

if TYPE_CHECKING:
    from teamworld.worlds.contract import View


#: A goal and actions.
Choice: TypeAlias = tuple[str | None, *tuple[Action, ...]]

#: Cells of forest that a bulldozer clears, and a firefighter cuts, in a timestep.
RATES = {"bulldozer": 4.0, "firefighter": 0.34}

#: People nearer than this to a fire are carried away from it, in cells.
THREATENED = 10

#: A firefighter stops for a helicopter that comes for it, once it is as near as this.
MEETING = 45


def scripted_plans(
    mission: Mission, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
) -> dict[AgentId, Plan]:
    """Return a plan for each agent that is able and has none."""
    idle = [agent for agent, view in views.items() if agent not in running and view.is_able]
    if not idle:
        return {}
    states = {agent: state_of(views[agent].known) for agent in idle}
    team = _Team(mission, states[idle[0]], dict(running), views[idle[0]].t, states)
    for agent in _choice_order(team, idle):
        team.state = states[agent]
        team.give(agent, *_plan(team, agent))
    return {agent: team.assigned[agent] for agent in idle}


def _choice_order(team: _Team, idle: list[AgentId]) -> list[AgentId]:
    """Return the order of choice: bulldozers before others, then whoever is nearest to something to cut."""
    spots = [spot.at for spot in team.state.targets.values() if spot.trees]

    def rank(agent: AgentId) -> tuple[bool, float]:
        at = team.states[agent].agents[agent].at
        near = min((dist(at, spot) for spot in spots), default=0.0)
        return team.mission.kinds[agent] != "bulldozer", near

    return sorted(idle, key=rank)


@dataclass
class _Team:
    """What is known, and the plans that run."""

    mission: Mission
    state: SymbolicState
    running: dict[AgentId, Plan]
    t: int
    states: Mapping[AgentId, SymbolicState]
    assigned: dict[AgentId, Plan] = field(default_factory=dict)

    def give(self, agent: AgentId, goal: str | None, *actions: Action) -> None:
        """Give an agent a plan."""
        self.assigned[agent] = self.running[agent] = Plan(actions or (WAIT,), goal)

    def others(self, agent: AgentId) -> Iterable[Plan]:
        """Yield the plans of the others."""
        return (plan for teammate, plan in self.running.items() if teammate != agent)

    def claimed(self, agent: AgentId, *verbs: str) -> list[object]:
        """Return what others act on or go to."""
        acts = (act for plan in self.others(agent) for act in plan.actions if act.verb in verbs and act.args)
        return [act.args[0] for act in acts]

    def at(self, agent: AgentId) -> Cell:
        """Return where an agent is."""
        return self.state.agents[agent].at

    def way(self, agent: AgentId, aim: Entity) -> tuple[Action, ...]:
        """Return how an agent gets to a thing: no action if it is there."""
        return approach(self.mission, self.state, agent, aim)

    def others_in_air(self, agent: AgentId) -> dict[AgentId, Cell]:
        """Return the other agents that fly, and where they are."""
        bodies, kinds = self.state.agents.items(), self.mission.kinds
        return {name: body.at for name, body in bodies if name != agent and kinds[name] not in WALKERS}


def _plan(team: _Team, agent: AgentId) -> Choice:
    """Return a goal and actions for one agent."""
    task, kind = team.mission.task, team.mission.kinds[agent]
    if task.startswith("cut"):
        return _cut(team, agent) if kind in WALKERS else (None, WAIT)
    if task == "transport":
        return _walk(team, agent) if kind == "firefighter" else _ferry(team, agent)
    if kind in WALKERS and (away := _escape(team, agent)) is not None:
        return None, away
    if task == "scout":
        return _scout(team, agent)
    if task == "rescue":
        return _rescue(team, agent) if kind == "firefighter" else _follow(team, agent)
    return _fight(team, agent)


# Cutting --------------------------------------------------------------------------------------------------------------


def _cut(team: _Team, agent: AgentId) -> Choice:
    """Take the target that is done soonest, of those that others leave over; share lines."""
    state, taken = team.state, team.claimed(agent, "fell")
    things = sorted(state.lines, key=lambda line: line.id) or [Entity("target", number) for number in state.targets]
    shared = team.mission.task == "cut_lines"

    def cost(aim: Entity) -> tuple[int, float, int]:
        ticks = estimate_ticks(agent, Action("fell", (aim,)), team.mission, state)
        others = taken.count(aim)
        place = state.place(aim, team.at(agent)) or team.at(agent)
        return others if not shared else ticks + 6 * others, dist(place, team.at(agent)), aim.id

    left = [aim for aim in things if state.uncut(aim) and (shared or aim not in taken)]
    if not left:
        return None, *next(iter(standby_plans(team.mission, state, agent)))
    best = min(left, key=cost)
    return f"{'line' if shared else 'cut'}_{best.id}", Action("fell", (best,))


# Transport ------------------------------------------------------------------------------------------------------------


def _walk(team: _Team, agent: AgentId) -> Choice:
    """Walk to the zone, step by step; stop for a helicopter that comes."""
    state, at = team.state, team.at(agent)
    if state.zone is None or state.in_zone(at):
        return None, WAIT
    pilots = [name for name, plan in team.running.items() if go_to(agent) in plan.actions and name in state.agents]
    coming = any(dist(team.at(pilot), at) < MEETING for pilot in pilots)
    if coming and dist(at, state.zone) > 15:
        return "transport_0", WAIT
    return "transport_0", Action("step_toward", (state.zone,))


def _ferry(team: _Team, agent: AgentId) -> Choice:
    """Carry whoever is furthest from the zone, as many as are together."""
    state, at, zone = team.state, team.at(agent), go_to(Entity("zone", 0))
    if state.riders(agent):
        return "transport_0", *(() if state.in_zone(at) else (zone,)), Action("set_down")
    taken = team.claimed(agent, "go_to")
    left = [name for name in waiting_firefighters(team.mission, state, agent) if name not in taken]
    near = [name for name in left if dist(team.at(name), at) < BOARDING_REACH]
    pilots = [name for name in team.mission.present(state, "helicopter") if dist(team.at(name), at) < BOARDING_REACH]
    ride = Action("take_aboard"), zone, Action("set_down")
    if near[SEATS * pilots.index(agent) :]:  # helicopters at one place board one after the other
        return "transport_0", *ride
    far = [name for name in left if state.zone is not None and dist(team.at(name), state.zone) > 15]
    return ("transport_0", go_to(far[0]), *ride) if far else (None, WAIT)


# Looking for things ---------------------------------------------------------------------------------------------------


def _look(team: _Team, agent: AgentId) -> Choice:
    """Fly to a sector that nobody has seen and nobody is on the way to: near, and hidden for the most part."""
    state, taken, at = team.state, team.claimed(agent, "go_to"), team.at(agent)
    hidden = {n: share for n, share in state.unseen.items() if Entity("sector", n) not in taken and share > 5}
    goal = None if team.mission.known else "search"
    if not hidden:
        patrol = _patrol(team, agent)
        return (None, WAIT) if patrol is None else (goal, patrol)
    best = min(hidden, key=lambda n: (dist(state.search_place(n), at) + 20) / hidden[n])
    return goal, go_to(Entity("sector", best))


def _patrol(team: _Team, agent: AgentId) -> Action | None:
    """Return the way to a sector that falls to the agent, of which each of a kind has its own."""
    state, at = team.state, team.at(agent)
    pilots = team.mission.present(state, team.mission.kinds[agent])
    mine = pilots.index(agent)
    hidden = sorted(
        state.unseen,
        key=lambda number: (number % len(pilots) != mine, dist(state.sectors[number], at) // 8, number),
    )
    ways = [number for number in hidden if not is_near(agent, Entity("sector", number), team.mission, state)]
    if not ways:  # all was seen, but what is looked for goes about
        ways = [n for n in state.sectors if n % len(pilots) == mine and state.sectors[n] != at]
        ways = ways[len(ways) // 2 :]
    return go_to(Entity("sector", ways[0])) if ways else None


def _scout(team: _Team, agent: AgentId) -> Choice:
    fires = [number for number, front in team.state.fires.items() if front.cells or front.scar]
    if not fires:
        return _look(team, agent)
    return f"scout_{fires[0]}", *(team.way(agent, Entity("fire", fires[0])) or (WAIT,))


def _follow(team: _Team, agent: AgentId) -> Choice:
    """Of those who fly: one stays with each group of people that was found, the others look for more."""
    state, taken = team.state, team.claimed(agent, "go_to")
    if team.mission.kinds[agent] == "bulldozer":
        return None, WAIT
    clusters = sorted({person.cluster for person in state.people.values() if person.state == "free"})
    for number in clusters:
        cluster = Entity("cluster", number)
        place = state.place(cluster, team.at(agent))
        if place is None or cluster in taken:
            continue
        if all(dist(at, place) >= BOARDING_REACH for at in team.others_in_air(agent).values()):
            return None, WAIT if dist(place, team.at(agent)) < BOARDING_REACH else go_to(cluster)
    return _look(team, agent)


# People ---------------------------------------------------------------------------------------------------------------


def _rescue(team: _Team, agent: AgentId) -> Choice:
    """Carry to the zone what is nearest of those for whom nobody goes."""
    state, at, body = team.state, team.at(agent), team.state.agents[agent]
    zone, out = go_to(Entity("zone", 0)), Action("drop_off")
    if body.holds is not None:
        cluster = state.people[body.holds].cluster
        return f"rescue_{cluster}", *((out,) if state.in_zone(at) else (zone, out))
    taken = team.claimed(agent, "go_to")
    free = [
        (dist(person.at, at), number)
        for number, person in state.people.items()
        if person.state == "free" and person.at is not None and Entity("civilian", number) not in taken
    ]
    if free:
        number = min(free)[1]
        goal = f"rescue_{state.people[number].cluster}"
        return goal, *(*team.way(agent, Entity("civilian", number)), Action("pick_up"))
    lost = [person.was for person in state.people.values() if person.state == "free" and person.was is not None]
    if lost and (ways := _search_cells(team, agent, lost[0])):
        return None, move_to(ways[0])
    if state.unseen:  # they will be needed somewhere: the middle is nearest to everywhere
        middle = (team.mission.size // 2, team.mission.size // 2)
        return "search", WAIT if dist(middle, at) < 10 else Action("step_toward", (middle,))
    return None, WAIT


def _search_cells(team: _Team, agent: AgentId, place: Cell) -> list[Cell]:
    """Return cells round a place that nobody has in sight and nobody goes to, the one unseen for longest first."""
    ground, taken = team.state.ground, team.claimed(agent, "move_to")
    if ground is None:
        return []
    taken.append(team.at(agent))
    ways = cells_around(place, team.mission)
    turn = team.mission.agents("firefighter").index(agent) % len(ways)
    return sorted((cell for cell in (*ways[turn:], *ways[:turn]) if cell not in taken), key=ground.date)


def _escape(team: _Team, agent: AgentId) -> Action | None:
    """Return the way out for a walker that the fire comes too near to; None where it does not."""
    state, at = team.state, team.at(agent)
    if not state.dangerous(at):
        return None
    far = refuge(team.mission, state, at)
    return None if far == at or state.dangerous(far) else Action("step_toward", (far,))


# Fire -----------------------------------------------------------------------------------------------------------------


def _fight(team: _Team, agent: AgentId) -> Choice:
    """Do what the kind is for: watch from above, drop water, spray, or cut a ring round the fire."""
    state, kind = team.state, team.mission.kinds[agent]
    fires = [n for n, front in state.fires.items() if not front.out and front.part_of is None]
    if kind == "firefighter" and (saved := _guard(team, agent)) is not None:
        return saved
    if not fires:
        return _look(team, agent) if kind not in WALKERS else (None, WAIT)
    number = min(fires, key=lambda n: dist(state.place(Entity("fire", n), team.at(agent)) or (0, 0), team.at(agent)))
    fire, goal = Entity("fire", number), f"fire_{number}"
    if kind == "drone":
        return _watch(team, agent, fire)
    if kind == "helicopter":
        return _drop(team, agent, fire) if state.water or state.agents[agent].water else _watch(team, agent, fire)
    if kind == "firefighter" and (state.water or state.agents[agent].water):
        return (goal, *_spray(team, agent, fire))
    return _dig(team, agent, number)


def _watch(team: _Team, agent: AgentId, fire: Entity) -> Choice:
    """One flyer stays above a fire, so that all know where it is; the others look for people and other fires."""
    place = team.state.place(fire, team.at(agent))
    for teammate, at in team.others_in_air(agent).items():
        plan = team.running.get(teammate)
        comes = plan is not None and go_to(fire) in plan.actions
        if place is not None and (dist(at, place) < 6 or comes):
            return _look(team, agent)
    return None, *(team.way(agent, fire) or (WAIT,))


def _drop(team: _Team, agent: AgentId, fire: Entity) -> Choice:
    goal = f"fire_{fire.id}"
    if team.state.agents[agent].water:
        return goal, *(*team.way(agent, fire), Action("release"))
    return goal, *_fetch_water(team, agent)


def _fetch_water(team: _Team, agent: AgentId) -> tuple[Action, ...]:
    at, water = team.at(agent), team.state.water
    nearest = Entity("water", min(water, key=lambda number: (dist(water[number], at), number)))
    return *team.way(agent, nearest), Action("refill")


def _spray(team: _Team, agent: AgentId, fire: Entity) -> tuple[Action, ...]:
    """Fetch water; then go near a part of the fire that nobody sprays at, and spray, looking again after each time."""
    state, body = team.state, team.state.agents[agent]
    if not body.water:
        return _fetch_water(team, agent)
    front = state.fires[fire.id]
    aims = [aim for aim in team.claimed(agent, "spray") if isinstance(aim, tuple)]
    near = sorted(front.cells, key=lambda cell: (dist(cell, body.at), cell))
    left = [cell for cell in near if all(dist(cell, aim) > 2 for aim in aims)]
    place = (left or near or [front.origin or body.at])[0]
    spray = Action("spray", (place,))
    if dist(place, body.at) <= SPRAY_REACH and front.cells:
        return (spray,)
    if not front.cells and dist(place, body.at) <= SPRAY_REACH:  # it went on from where it was said to be
        place = state.sectors.get(0, (team.mission.size // 2, team.mission.size // 2))
    way = Action("step_toward", (_in_sight(team, agent, spray_place(place, body.at, team.mission), place),))
    return (way, spray) if dist(place, body.at) <= PACE["firefighter"] / 2 and front.cells else (way,)


def _in_sight(team: _Team, agent: AgentId, goal: Cell, hot: Cell) -> Cell:
    """Return the cell to make for on the way to one: near a fire no further than the walker sees.

    The fire may have come on by a cell in each fire step, and a walker goes further in a timestep than it sees.
    """
    at, sees = team.at(agent), SIGHTS[FIREFIGHTER].reveals
    spread = 1 + team.t * TICKS_PER_TIMESTEP // team.mission.fire_every
    far = max(abs(goal[0] - at[0]), abs(goal[1] - at[1]))
    if far <= sees or dist(at, hot) > spread + PACE["firefighter"]:
        return goal
    return round(at[0] + (goal[0] - at[0]) * sees / far), round(at[1] + (goal[1] - at[1]) * sees / far)


def _dig(team: _Team, agent: AgentId, fire: int) -> Choice:
    """Cut the agent's share of the ring round a fire that others leave over."""
    state, goal = team.state, f"fire_{fire}"
    ring = firebreak(team.mission, state, fire)
    if ring is None:
        return goal, WAIT
    taken = set(team.claimed(agent, "move_to")) | _driven(team, agent)
    left = tuple(cell for cell in ring.uncut if cell not in taken and not state.dangerous(cell))
    free = [teammate for teammate in cutters(team.mission, state) if teammate not in team.running or teammate == agent]
    share = divide_cells(left, free, team.mission, state).get(agent, [])
    if not share:
        return None, WAIT
    if team.mission.kinds[agent] == "bulldozer":
        return goal, *clear_run(share, ring.cells, team.at(agent))
    if dist(share[-1], team.at(agent)) < dist(share[0], team.at(agent)):
        share = share[::-1]
    return goal, *cut_cells(share[:6], team.at(agent))


def divide_cells(
    cells: tuple[Cell, ...], agents: list[AgentId], mission: Mission, state: SymbolicState
) -> dict[AgentId, list[Cell]]:
    """Divide the cells of a ring among agents: each a run of them, as long as it is quick; the nearest agent first."""
    if not cells or not agents:
        return {}
    total = fsum(RATES[mission.kinds[agent]] for agent in agents)
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
    return (*start, *(Action("cut_line", (cell,)) for cell in (*corners, way[-1])))


def _driven(team: _Team, agent: AgentId) -> set[object]:
    """Return the cells that bulldozers are about to clear."""
    cells: set[object] = set()
    for teammate, plan in team.running.items():
        if teammate == agent or teammate not in team.state.agents:
            continue
        at = team.at(teammate)
        for act in plan.actions:
            if act.args and isinstance(act.args[0], tuple) and act.verb in ("move_to", "cut_line"):
                end = act.args[0]
                if act.verb == "cut_line":
                    cells.update(cells_between(at, end, max(abs(end[0] - at[0]), abs(end[1] - at[1]))))
                at = end
    return cells


def _guard(team: _Team, agent: AgentId) -> Choice | None:
    """Carry people away whom the fire comes near; None where nobody is in danger."""
    state, body = team.state, team.state.agents[agent]
    hot = state.burning
    if not state.people or not hot:
        return None
    if body.holds is not None:
        goal = f"guard_{state.people[body.holds].cluster}"
        far = min(dist(body.at, cell) for cell in hot)
        if far > 2 * THREATENED:
            return goal, Action("drop_off")
        return goal, Action("step_toward", (refuge(team.mission, state, body.at),))
    taken = team.claimed(agent, "go_to")
    threatened = [
        (dist(person.at, body.at), number)
        for number, person in state.people.items()
        if person.state == "free"
        and person.at is not None
        and Entity("civilian", number) not in taken
        and min(dist(person.at, cell) for cell in hot) < THREATENED
    ]
    if not threatened or min(threatened)[0] > 40:
        return None
    number = min(threatened)[1]
    there = team.way(agent, Entity("civilian", number))
    return f"guard_{state.people[number].cluster}", *(*there, Action("pick_up"))
