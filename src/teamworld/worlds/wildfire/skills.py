"""The macro-actions: what each kind can do, how an action becomes one primitive a timestep, what to expect of it.

The options of CREW-Wildfire's execution module are here under words of their own; some actions name things instead of
cells. A skill steers by what its agent knows; whether it is done is judged by the truth. An agent whose action is done
decides in the very next timestep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import dist, inf
from typing import Any, Final, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param, Term
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.contract import Constraint
from teamworld.worlds.wildfire.kernels.agents import DRY, SEEN_BUILDING, SEEN_EXTINGUISHING, SEEN_IGNITED, WET
from teamworld.worlds.wildfire.state import (
    BOARD,
    CLEAR,
    CUT,
    DROP,
    FILL,
    GO_ANYWHERE,
    LIFT,
    SCOOP,
    SEATS,
    SPRAY,
    STOP,
    TANK,
)
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    DROP_REACH,
    ON_FOOT,
    PACE,
    SPRAY_REACH,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    in_zone,
)

#: Timesteps after which an agent on its way gives up: without getting on, and without getting nearer to its aim than it
#: has been. Less, and walkers who wait beside a fire until their place has burnt down would give up.
PATIENCE, DETOUR = 4, 20

#: Ways round a fire: degrees off the straight way, cosine, sine. As numbers: mathematical libraries differ in the last
#: digit, and all machines have to go the same way.
TURNS: Final = (
    (20, 0.9396926, 0.3420201), (40, 0.7660444, 0.6427876), (60, 0.5, 0.8660254),
    (80, 0.1736482, 0.9848078), (100, -0.1736482, 0.9848078), (130, -0.6427876, 0.7660444),
)  # fmt: skip
MEASURES: Final[Measures] = {
    **{"move_to": (None,), "go_to": (None,), "step_toward": (None,), "clear_to": (None,), "fell": (None,)},
    **{"cut": (None,), "cut_all": (), "pick_up": (), "drop_off": (), "spray": (None,), "spray_at": (None,)},
    **{"refill": (), "take_aboard": (), "set_down": (), "release": (), "wait": (), "talk": (None,)},
}
Command: TypeAlias = tuple[int, int, int]
STAY: Command = (STOP, 0, 0)


def schemas(kind: str, mission: Mission, state: SymbolicState) -> tuple[ActionSchema, ...]:
    """Return what a kind of agent can do, with the things that are known."""
    place = Param("place", "cell", size=(mission.size, mission.size))
    fires = tuple(Entity("fire", number) for number in state.fires)
    trees = [Entity("target", number) for number, spot in state.targets.items() if spot.line is None]
    trees += state.lines
    numbers = {
        "zone": () if state.zone is None else (0,),
        "water": state.water,
        "cluster": sorted({*state.clusters, *(person.cluster for person in state.people.values())}),
        "civilian": [number for number, person in state.people.items() if person.at is not None],
        "sector": state.sectors,
    }
    things: list[Term] = [*trees, *fires]
    things += [Entity(thing, number) for thing, known in numbers.items() for number in known]
    partners = {"firefighter": ["helicopter"], "helicopter": ["firefighter"]}
    things += mission.agents(*partners.get(kind, []))
    go = (
        ActionSchema("move_to", (place,), f"{_GO[kind]} to the cell (x, y), for as many timesteps as it takes."),
        ActionSchema("go_to", (Param("thing", "entity", tuple(things)),), f"{_GO[kind]} to something, {_NEAR[kind]}."),
        ActionSchema("step_toward", (place,), f"{_GO[kind]} toward the cell (x, y) for one timestep."),
    )
    fell = ActionSchema("fell", (Param("thing", "entity", tuple(trees)),), "Go there and cut until no tree is left.")
    return (*go, *_own_schemas(kind, place, fires, (fell,) if trees else ()), *_COMMON)


_GO = {"firefighter": "Walk", "bulldozer": "Drive, cutting nothing,", "drone": "Fly", "helicopter": "Fly"}
_NEAR = {
    "firefighter": "near enough to act on it and no nearer to a fire than that",
    "bulldozer": "and no nearer to a fire than two cells",
    "drone": "above a fire where it is hot or burnt",
    "helicopter": "above a fire where it is hot or burnt",
}
_COMMON = (
    ActionSchema("wait", (), "Do nothing for one timestep."),
    ActionSchema("talk", (Param("ticks", "count", low=1),), "Spend timesteps on talking."),
)


def _own_schemas(
    kind: str, place: Param, fires: tuple[Entity, ...], felling: tuple[ActionSchema, ...]
) -> tuple[ActionSchema, ...]:
    """Return what only this kind can do."""
    fire = Param("fire", "entity", fires)
    if kind == "firefighter":
        return (
            ActionSchema("cut", (Param("trees", "count", low=1, high=3, default=1),), "Cut trees of your own cell."),
            ActionSchema("cut_all", (), "Cut all trees of your own cell, one a timestep: then it cannot burn."),
            *felling,
            ActionSchema("pick_up", (), "Pick up the nearest civilian, less than three cells away."),
            ActionSchema("drop_off", (), "Put down the civilian that you carry; in the zone it is safe."),
            ActionSchema(
                "spray",
                (place,),
                "Spray 1 water toward a cell, three cells far: fire goes out, other ground is wet and cannot burn.",
            ),
            ActionSchema("spray_at", (fire,), "Spray 1 water toward what burns nearest, three cells far."),
            ActionSchema("refill", (), f"At water, fill up to {TANK} units."),
        )
    if kind == "bulldozer":
        doc = "Drive to the cell (x, y) at half speed, clearing every cell on the way: what is cleared cannot burn."
        return (ActionSchema("clear_to", (place,), doc), *felling)
    if kind == "helicopter":
        return (
            ActionSchema(
                "take_aboard", (), "Take up to 5 firefighters aboard, less than three cells away; with an empty tank."
            ),
            ActionSchema("set_down", (), "Set down everybody aboard, where you are."),
            ActionSchema("refill", (), f"Over water, fill up to {TANK} units; with nobody aboard."),
            ActionSchema("release", (), "Release 1 water: it puts out or wets all within four cells."),
        )
    return ()


def cell_of(action: Action) -> Cell:
    """Return the place that an action names; raises ``UserError`` where it names none."""
    place = action.args[0] if action.args else None
    if not isinstance(place, tuple):
        raise UserError(f"{action} names no cell")
    return place


def thing_of(action: Action) -> Entity | str:
    """Return the thing or agent that an action is about; raises ``UserError`` where it is about none."""
    aim = action.args[0] if action.args else None
    if not isinstance(aim, (Entity, str)):
        raise UserError(f"{action} names no thing")
    return aim


def is_near(agent: AgentId, aim: Entity | str, mission: Mission, state: SymbolicState) -> bool:
    """Return whether an agent is where ``go_to`` a thing takes it, as far as the state tells."""
    kind, at = mission.kinds[agent], state.agents[agent].at
    place = state.place(aim, at)
    if isinstance(aim, Entity) and aim.kind == "sector":
        return aim.id not in state.unseen or place == at
    if place is None:
        return False
    if isinstance(aim, str):
        return dist(place, at) < BOARDING_REACH
    if aim.kind in ("cluster", "civilian"):
        return dist(place, at) < mission.lift_reach
    if aim.kind == "zone":
        return in_zone(at, place)
    if aim.kind == "water":
        return dist(place, at) <= mission.fill_reach
    if aim.kind == "fire":
        return dist(place, at) <= SPRAY_REACH if kind in WALKERS else state.over_fire(at, aim.id)
    return place == at


def approach_cell(agent: AgentId, aim: Entity | str, at: Cell, mission: Mission, state: SymbolicState) -> Cell | None:
    """Return the cell to make for on the way to a thing; None where nobody knows of one."""
    place = state.place(aim, at)
    if place is None or not isinstance(aim, Entity) or aim.kind != "fire":
        return place
    if mission.kinds[agent] in WALKERS:
        return spray_place(place, at, mission)
    front = state.fires[aim.id]
    hot = [cell for cell in (*front.cells, *front.scar) if state.over_fire(cell, aim.id)]
    return min(hot, key=lambda cell: (dist(cell, at), cell), default=place)


def spray_place(hot: Cell, at: Cell, mission: Mission) -> Cell:
    """Return the cell nearest to ``at`` from which a spray reaches what burns, and which is not beside it."""
    ring = [
        (hot[0] + right, hot[1] + down)
        for right in range(-3, 4)
        for down in range(-3, 4)
        if max(abs(right), abs(down)) >= 2 and right * right + down * down <= SPRAY_REACH * SPRAY_REACH
    ]
    inside = [cell for cell in ring if mission.inside(cell) == cell]
    return min(inside or [at], key=lambda cell: (dist(cell, at), cell))


def steer(kind: str, at: Cell, goal: Cell, mission: Mission, state: SymbolicState) -> Cell | None:
    """Return where to head in this timestep to get to a cell: straight, or round the fire that is known of.

    Returns:
        A cell; None to stay, where every way is hot.
    """
    ground = state.ground
    if ground is None or not mission.careful or kind not in WALKERS or not ground.hot:
        return goal
    far = min(PACE[kind], dist(at, goal))
    started = ground.dangerous(at)

    def safe(end: tuple[float, float]) -> bool:
        for k, cell in enumerate(cells_between(at, end, int(2 * dist(at, end)))[1:], 1):
            escapes = started and k <= 4 and not SEEN_IGNITED <= ground.code(cell) <= SEEN_EXTINGUISHING
            if mission.inside(cell) != cell or (ground.dangerous(cell) and not escapes):
                return False
        return True

    if far == 0.0:
        return goal
    ahead = (goal[0] - at[0]) / dist(at, goal), (goal[1] - at[1]) / dist(at, goal)
    if safe((at[0] + ahead[0] * far, at[1] + ahead[1] * far)):
        return goal
    ways = []
    for degrees, cos, right in TURNS:
        for sin in (right, -right):
            way = ahead[0] * cos - ahead[1] * sin, ahead[0] * sin + ahead[1] * cos
            for length in (PACE[kind], PACE[kind] / 2):
                end = round(at[0] + way[0] * length), round(at[1] + way[1] * length)
                if end != at and safe(end):
                    ways.append((degrees, dist(end, goal), end))
    return min(ways)[2] if ways else None


def cells_between(start: Cell, end: tuple[float, float], steps: int) -> list[Cell]:
    """Return the cells on the straight way from a cell to a place, so many steps apart, both ends included."""
    steps = max(1, steps)
    return [
        (round(start[0] + (end[0] - start[0]) * k / steps), round(start[1] + (end[1] - start[1]) * k / steps))
        for k in range(steps + 1)
    ]


@dataclass
class RunningSkill:
    """A running action."""

    agent: AgentId
    kind: str
    action: Action
    """With all arguments."""
    start: int
    spent: int = 0
    stuck: int = 0
    """Timesteps in a row without getting on."""
    nearest: float = inf
    """Cells that it came near to its aim."""
    astray: int = 0
    """Timesteps since then."""
    felled: int = 0

    def command(self, mission: Mission, state: SymbolicState) -> Command:
        """Return the primitive of this timestep."""
        verb, at = self.action.verb, state.agents[self.agent].at
        if verb in ("move_to", "step_toward"):
            return self._toward(cell_of(self.action), mission, state)
        if verb == "go_to":
            place = approach_cell(self.agent, thing_of(self.action), at, mission, state)
            return STAY if place is None else self._toward(place, mission, state)
        if verb == "clear_to":
            way = self._way(cell_of(self.action), mission, state)
            return STAY if way is None else (CLEAR, *way)
        if verb == "fell":
            return self._fell(mission, state)
        if verb in ("spray", "spray_at"):
            aim = cell_of(self.action) if verb == "spray" else state.place(thing_of(self.action), at)
            return STAY if aim is None else (SPRAY, *aim)
        return (_TYPES.get((self.kind, verb), STOP), 0, 0)

    def _toward(self, place: Cell, mission: Mission, state: SymbolicState) -> Command:
        return STAY if (way := self._way(place, mission, state)) is None else (GO_ANYWHERE, *way)

    def _way(self, place: Cell, mission: Mission, state: SymbolicState) -> Cell | None:
        at = state.agents[self.agent].at
        left = dist(at, place)
        self.nearest, self.astray = (left, 0) if left < self.nearest else (self.nearest, self.astray + 1)
        return steer(self.kind, at, place, mission, state)

    def _fell(self, mission: Mission, state: SymbolicState) -> Command:
        at, aim = state.agents[self.agent].at, thing_of(self.action)
        left = state.uncut(aim)
        if not left:
            return STAY
        if self.kind == "bulldozer":
            near, far = sorted((left[0], left[-1]), key=lambda cell: (dist(cell, at), cell))
            is_there = at in (spot.at for spot in state.spots(aim))
            return (CLEAR, *far) if is_there else self._toward(near, mission, state)
        if at in left:
            return (CUT, 0, 0)
        others = [(mission.kinds[name], body.at) for name, body in state.agents.items() if name != self.agent]
        taken = {place for kind, place in others if kind in WALKERS}
        return self._toward(min(left, key=lambda cell: (cell in taken, dist(cell, at), cell)), mission, state)

    def result(self, mission: Mission, known: SymbolicState, body: AgentState, primitive: PrimitiveResult) -> Result:
        """Judge the timestep that has just gone by; the agent is still there, and able.

        Args:
            mission: The task and the rules of reach.
            known: What the agent knows now.
            body: The agent as it is now.
            primitive: The effects of its primitive.
        """
        self.spent += 1
        self.felled += primitive.felled
        if primitive.felled:  # the next tree may stand anywhere
            self.nearest, self.astray = inf, 0
        self.stuck = 0 if primitive.moved or primitive.effect else self.stuck + 1
        verb, at = self.action.verb, body.at
        if verb in ("move_to", "clear_to"):
            return DONE if at == cell_of(self.action) else self._patient()
        if verb == "step_toward":
            return DONE
        if verb == "talk":
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if verb == "go_to":
            aim = thing_of(self.action)
            if is_near(self.agent, aim, mission, known):
                return DONE
            lost = known.place(aim, known.agents[self.agent].at) is None
            return Result("failed", "not_there", "dependency") if lost else self._patient()
        if verb == "fell":
            return self._patient() if known.uncut(thing_of(self.action)) else DONE
        if verb in ("cut", "cut_all"):
            if primitive.reason == "no_tree":
                return Result("failed", "no_tree", "dependency")
            if not body.trees:
                return DONE
            if mission.careful and known.dangerous(at):
                return Result("failed", "fire", "spatial")
            return DONE if verb == "cut" and self.felled >= int(str(self.action.args[0])) else RUNNING
        if primitive.reason:
            return Result("failed", primitive.reason, _WHY.get(primitive.reason))
        return DONE

    def _patient(self) -> Result:
        """Return whether the agent goes on, though it is not there yet."""
        gives_up = self.stuck >= PATIENCE or self.astray >= DETOUR
        return Result("failed", "no_way", "spatial") if gives_up else RUNNING


class PrimitiveResult(NamedTuple):
    """The effects of one agent's primitive in a timestep."""

    moved: bool
    effect: bool
    reason: str
    felled: int


_TYPES: Mapping[tuple[str, str], int] = {
    ("firefighter", "cut"): CUT,
    ("firefighter", "cut_all"): CUT,
    ("firefighter", "pick_up"): LIFT,
    ("firefighter", "drop_off"): LIFT,
    ("firefighter", "refill"): FILL,
    ("helicopter", "take_aboard"): BOARD,
    ("helicopter", "set_down"): DROP,
    ("helicopter", "release"): DROP,
    ("helicopter", "refill"): SCOOP,
}
_WHY: Mapping[str, Constraint] = {
    **{"nobody_near": "spatial", "not_at_water": "spatial", "no_water": "dependency", "has_water": "capability"},
    **{"has_passengers": "capability", "full": "capability", "empty": "dependency", "aboard": "capability"},
}

#: A firefighter's pace where nobody knows the ground, in cells a timestep.
USUAL = 9.0


def trees_at(state: SymbolicState, cell: Cell) -> int | None:
    """Return the trees of a cell as far as is known."""
    spot = next((spot for spot in state.targets.values() if spot.at == cell), None)
    if spot is not None:
        return spot.trees
    code = SEEN_BUILDING if state.ground is None else state.ground.code(cell)
    return None if code in (0, SEEN_BUILDING) or code >= SEEN_IGNITED else code - (WET if code < DRY else DRY)


def travel_ticks(kind: str, at: Cell, to: Cell, state: SymbolicState, pace: float | None = None) -> int:
    """Return the timesteps of a straight way, at least 1."""
    length = dist(at, to)
    if kind != "firefighter" or pace is not None:
        return max(1, -(-int(10 * length) // int(10 * (pace or PACE[kind]))))
    time, steps = 0.0, min(12, max(1, int(length)))
    for k in range(steps):
        share = (k + 0.5) / steps
        cell = round(at[0] + (to[0] - at[0]) * share), round(at[1] + (to[1] - at[1]) * share)
        trees = trees_at(state, cell)
        time += length / steps / (USUAL if trees is None else ON_FOOT[trees])
    return max(1, int(time + 0.999))


def destination(agent: AgentId, action: Action, mission: Mission, state: SymbolicState) -> Cell | None:
    """Return the cell that an action takes its agent to; None where it stays or nobody knows."""
    at = state.agents[agent].at
    if action.verb in ("move_to", "clear_to"):
        return cell_of(action)
    if action.verb == "step_toward":
        far, pace = cell_of(action), PACE[mission.kinds[agent]]
        share = min(1.0, pace / max(dist(at, far), 1e-9))
        return round(at[0] + (far[0] - at[0]) * share), round(at[1] + (far[1] - at[1]) * share)
    if action.verb == "go_to":
        return approach_cell(agent, thing_of(action), at, mission, state)
    if action.verb == "fell":
        spots = state.spots(thing_of(action))
        return spots[-1].at if spots else None
    return None


def estimate_ticks(agent: AgentId, action: Action, mission: Mission, state: SymbolicState) -> int:
    """Return the estimated timesteps of an action, at least 1."""
    body, kind = state.agents.get(agent), mission.kinds[agent]
    if body is None or action.verb == "step_toward":
        return 1
    if action.verb in ("talk", "cut"):
        return max(1, action.args[0]) if action.args and isinstance(action.args[0], int) else 1
    if action.verb == "cut_all":
        return max(1, 2 if body.trees is None else body.trees)
    if action.verb == "fell":
        spots = [spot for spot in state.spots(thing_of(action)) if spot.trees]
        there = 0
        if all(spot.at != body.at for spot in spots):
            there = min((travel_ticks(kind, body.at, spot.at, state) for spot in spots), default=0)
        work = -(-len(spots) // 4) if kind == "bulldozer" else sum(spot.trees for spot in spots) + len(spots) - 1
        return max(1, there + work)
    place = destination(agent, action, mission, state)
    if place is None:
        return 1
    return travel_ticks(kind, body.at, place, state, 4.0 if action.verb == "clear_to" else None)


def expected_state(agent: AgentId, action: Action, mission: Mission, state: SymbolicState) -> SymbolicState:
    """Return the state to expect after an action that can be done, if it succeeds."""
    verb, body, kind = action.verb, state.agents[agent], mission.kinds[agent]
    place = destination(agent, action, mission, state)
    aim = action.args[0] if action.args else None
    if verb == "go_to" and place is not None and isinstance(aim, Entity) and aim.kind == "sector":
        state = replace(state, unseen={k: v for k, v in state.unseen.items() if k != aim.id}, memo={})  # it is seen
    if verb in ("fell", "cut", "cut_all", "clear_to"):
        state = _cut_trees(action, body, state)
    if place is not None:
        return _move(agent, place, kind, state)
    body = state.agents[agent]
    if verb in ("cut", "cut_all"):
        is_target = any(spot.at == body.at for spot in state.targets.values())
        return _with(state, agent, body._replace(trees=trees_at(state, body.at) if is_target else 0))
    if verb == "refill":
        return _with(state, agent, body._replace(water=TANK))
    if verb in ("spray", "spray_at", "release"):
        return _pour(agent, body, SPRAY_REACH if kind == "firefighter" else DROP_REACH, state)
    if verb in ("pick_up", "drop_off"):
        return _carry(agent, body, mission, state)
    if verb in ("take_aboard", "set_down"):
        return _ride(agent, verb == "take_aboard", mission, state)
    return state


def _with(state: SymbolicState, agent: AgentId, body: AgentState, **changes: Any) -> SymbolicState:
    return replace(state, agents={**state.agents, agent: body}, memo={}, **changes)


def _move(agent: AgentId, place: Cell, kind: str, state: SymbolicState) -> SymbolicState:
    body = state.agents[agent]
    agents = {**state.agents, agent: body._replace(at=place, trees=trees_at(state, place) if kind in WALKERS else None)}
    agents |= {rider: agents[rider]._replace(at=place) for rider in state.riders(agent)}
    people = dict(state.people)
    if body.holds is not None and body.holds in people:
        people[body.holds] = people[body.holds]._replace(at=place)
    return replace(state, agents=agents, people=people, memo={})


def _cut_trees(action: Action, body: AgentState, state: SymbolicState) -> SymbolicState:
    gone: Mapping[Cell, int] = {body.at: 3}
    if action.verb == "cut":
        gone = {body.at: int(str(action.args[0]))}
    elif action.verb == "fell":
        gone = {spot.at: 3 for spot in state.spots(thing_of(action))}
    elif action.verb == "clear_to":
        end = cell_of(action)
        gone = dict.fromkeys(cells_between(body.at, end, int(2 * dist(body.at, end))), 3)
    left = {
        number: spot._replace(trees=max(0, spot.trees - gone.get(spot.at, 0))) for number, spot in state.targets.items()
    }
    return replace(state, targets=left, memo={})


def _pour(agent: AgentId, body: AgentState, reach: float, state: SymbolicState) -> SymbolicState:
    fires = {}
    for number, front in state.fires.items():
        left = tuple(cell for cell in front.cells if dist(cell, body.at) > reach)
        out = bool(front.cells) and not left
        fires[number] = front._replace(cells=left, out=front.out or out)
    return _with(state, agent, body._replace(water=max(0, body.water - 1)), fires=fires)


def _carry(agent: AgentId, body: AgentState, mission: Mission, state: SymbolicState) -> SymbolicState:
    people = dict(state.people)
    if body.holds is None:
        number = state.nearest_free(body.at, mission.lift_reach)
        if number is None:
            return state
        people[number] = people[number]._replace(at=body.at, state="held")
        return _with(state, agent, body._replace(holds=number), people=people)
    if body.holds in people:
        people[body.holds] = people[body.holds]._replace(at=body.at, state="safe" if state.in_zone(body.at) else "free")
    return _with(state, agent, body._replace(holds=None), people=people)


def _ride(agent: AgentId, aboard: bool, mission: Mission, state: SymbolicState) -> SymbolicState:
    agents, at, riders = dict(state.agents), state.agents[agent].at, state.riders(agent)
    if aboard:
        on_foot = [name for name in mission.present(state, "firefighter") if agents[name].aboard is None]
        near = [name for name in on_foot if dist(agents[name].at, at) < BOARDING_REACH]
        for rider in near[: SEATS - len(riders)]:
            agents[rider] = agents[rider]._replace(at=at, aboard=agent, trees=None)
    else:
        for rider in riders:
            agents[rider] = agents[rider]._replace(at=at, aboard=None, trees=trees_at(state, at))
    return replace(state, agents=agents, memo={})
