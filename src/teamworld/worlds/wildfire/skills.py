"""The actions and how each becomes one primitive a timestep until it is done or has failed (wildfire spec A8, B14-B18).

The options of the reference's execution module are here under words of their own, some actions name things instead of
cells. A skill steers by what its agent knows; whether it is done is judged by the truth. An agent whose action is done
decides in the very next timestep, as one that arrives does in the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import dist, inf
from typing import Final, Literal, NamedTuple, TypeAlias

from teamworld.language import Action, AgentId, Cell, Entity, Measures, Term
from teamworld.worlds.contract import ActionSchema, Constraint, Param
from teamworld.worlds.wildfire import units
from teamworld.worlds.wildfire.goals import in_zone
from teamworld.worlds.wildfire.scene import IGNITED, SMOULDERING, Brief, Scene, thing
from teamworld.worlds.wildfire.units import TANK

#: Cells that a spray reaches, a drop from a helicopter, and within which a helicopter takes people aboard (A4.4, A7).
SPRAY, DROP, BOARDING = 3.0, 4.5, 3.0
#: Cells a timestep by kind (A6), a firefighter's by trees of the cell.
PACE: Final = {"firefighter": 12.0, "bulldozer": 8.0, "drone": 20.0, "helicopter": 30.0}
ON_FOOT: Final = (12.0, 9.6, 7.2, 4.8)
CLEARING = 4.0
#: Timesteps after which an agent on its way gives up: without getting on, and without getting nearer to its aim than it
#: has been. Less, and walkers who wait beside a fire until their place has burnt down would give up.
PATIENCE, DETOUR = 4, 20
WALKERS = ("firefighter", "bulldozer")
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
STAY: Command = (units.STOP, 0, 0)


def schemas(kind: str, brief: Brief, scene: Scene) -> tuple[ActionSchema, ...]:
    """Return what a kind of agent can do, with the things that are known."""
    place = Param("place", "cell", size=(brief.size, brief.size))
    fires = tuple(thing("fire", number) for number in scene.fires)
    trees = [thing("target", number) for number, spot in scene.targets.items() if spot.line is None]
    trees += [thing("line", n) for n in dict.fromkeys(spot.line for spot in scene.targets.values()) if n is not None]
    things: list[Term] = [*trees, *fires]
    if scene.zone is not None:
        things.append(thing("zone", 0))
    things += [thing("water", number) for number in scene.water]
    things += [thing("cluster", number) for number in sorted(_clusters(scene))]
    things += [thing("civilian", number) for number, person in scene.people.items() if person.at is not None]
    things += [thing("sector", number) for number in scene.sectors]
    things += brief.agents("firefighter" if kind == "helicopter" else "helicopter") if kind[0] in "fh" else ()
    go = (
        ActionSchema("move_to", (place,), f"{_GO[kind]} to the cell (x, y), for as many timesteps as it takes."),
        ActionSchema("go_to", (Param("thing", "entity", tuple(things)),), f"{_GO[kind]} to something, {_NEAR[kind]}."),
        ActionSchema("step_toward", (place,), f"{_GO[kind]} toward the cell (x, y) for one timestep."),
    )
    fell = ActionSchema("fell", (Param("thing", "entity", tuple(trees)),), "Go there and cut until no tree is left.")
    return (*go, *_own(kind, place, fires, fell if trees else None), *_COMMON)


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


def _clusters(scene: Scene) -> set[int]:
    return {*scene.clusters, *(person.cluster for person in scene.people.values())}


def _own(kind: str, place: Param, fires: tuple[Entity, ...], fell: ActionSchema | None) -> tuple[ActionSchema, ...]:
    """Return what only this kind can do."""
    some = (fell,) if fell is not None else ()
    fire = Param("fire", "entity", fires)
    if kind == "firefighter":
        return (
            ActionSchema("cut", (Param("trees", "count", low=1, high=3, default=1),), "Cut trees of your own cell."),
            ActionSchema("cut_all", (), "Cut all trees of your own cell, one a timestep: then it cannot burn."),
            *some,
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
        return (ActionSchema("clear_to", (place,), doc), *some)
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


class Result(NamedTuple):
    """How an action stands after a timestep."""

    status: Literal["running", "done", "failed"] = "running"
    reason: str = ""
    constraint: Constraint | None = None


RUNNING, DONE = Result(), Result("done")


def cell_of(action: Action) -> Cell:
    """Return the place that a complete action names."""
    place = action.args[0]
    if not isinstance(place, tuple):
        raise TypeError(f"{action} names no cell")
    return place


def thing_of(action: Action) -> Entity | str:
    """Return the thing or agent that an action is about."""
    found = action.args[0]
    if not isinstance(found, (Entity, str)):
        raise TypeError(f"{action} names no thing")
    return found


def near_enough(agent: AgentId, aim: Entity | str, brief: Brief, scene: Scene) -> bool:
    """Whether an agent is where ``go_to`` a thing takes it, as far as the scene tells."""
    kind, at = brief.kinds[agent], scene.agents[agent].at
    place = scene.place(aim, at)
    if isinstance(aim, Entity) and aim.kind == "sector":
        return aim.id not in scene.unseen or place == at
    if place is None:
        return False
    if isinstance(aim, str):
        return dist(place, at) < BOARDING
    if aim.kind in ("cluster", "civilian"):
        return dist(place, at) < brief.lift_reach
    if aim.kind == "zone":
        return in_zone(at, place)
    if aim.kind == "water":
        return dist(place, at) <= brief.fill_reach
    if aim.kind == "fire":
        return dist(place, at) <= SPRAY if kind in WALKERS else scene.over_fire(at, aim.id)
    return place == at


def reached(agent: AgentId, aim: Entity | str, at: Cell, brief: Brief, scene: Scene) -> Cell | None:
    """Return the cell to make for on the way to a thing; None where nobody knows of one."""
    place = scene.place(aim, at)
    if place is None or not isinstance(aim, Entity) or aim.kind != "fire":
        return place
    if brief.kinds[agent] in WALKERS:
        return beside(place, at, brief)
    front = scene.fires[aim.id]
    hot = [cell for cell in (*front.cells, *front.scar) if scene.over_fire(cell, aim.id)]
    return min(hot, key=lambda cell: (dist(cell, at), cell), default=place)


def beside(hot: Cell, at: Cell, brief: Brief) -> Cell:
    """Return the cell nearest to ``at`` from which a spray reaches what burns, and which is not beside it."""
    ring = [
        (hot[0] + right, hot[1] + down)
        for right in range(-3, 4)
        for down in range(-3, 4)
        if max(abs(right), abs(down)) >= 2 and right * right + down * down <= SPRAY * SPRAY
    ]
    inside = [cell for cell in ring if brief.inside(cell) == cell]
    return min(inside or [at], key=lambda cell: (dist(cell, at), cell))


def steer(kind: str, at: Cell, goal: Cell, brief: Brief, scene: Scene) -> Cell | None:
    """Return where to head in this timestep to get to a cell: straight, or round the fire that is known of.

    Returns:
        A cell; None to stay, where every way is hot.
    """
    ground = scene.ground
    if ground is None or not brief.careful or kind not in WALKERS or not ground.hot:
        return goal
    far = min(PACE[kind], dist(at, goal))

    def safe(end: tuple[float, float]) -> bool:
        steps = max(1, int(2 * dist(at, end)))
        started = ground.dangerous(at)
        for k in range(1, steps + 1):
            x = round(at[0] + (end[0] - at[0]) * k / steps)
            y = round(at[1] + (end[1] - at[1]) * k / steps)
            if not (0 <= x < brief.size and 0 <= y < brief.size):
                return False
            if ground.dangerous((x, y)) and not (
                started and k <= 4 and not IGNITED <= ground.code((x, y)) <= SMOULDERING
            ):
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


@dataclass
class Skill:
    """A running action."""

    agent: AgentId
    row: int
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
    primitives: list[str] = field(default_factory=list)

    def command(self, brief: Brief, scene: Scene) -> Command:
        """Return the primitive of this timestep."""
        verb, at = self.action.verb, scene.agents[self.agent].at
        if verb in ("move_to", "step_toward"):
            return self._toward(cell_of(self.action), brief, scene)
        if verb == "go_to":
            place = reached(self.agent, thing_of(self.action), at, brief, scene)
            return STAY if place is None else self._toward(place, brief, scene)
        if verb == "clear_to":
            way = self._way(cell_of(self.action), brief, scene)
            return STAY if way is None else (units.CLEAR, *way)
        if verb == "fell":
            return self._fell(brief, scene)
        if verb in ("spray", "spray_at"):
            aim = cell_of(self.action) if verb == "spray" else scene.place(thing_of(self.action), at)
            return STAY if aim is None else (units.SPRAY, *aim)
        return (_TYPES.get((self.kind, verb), units.STOP), 0, 0)

    def _toward(self, place: Cell, brief: Brief, scene: Scene) -> Command:
        return STAY if (way := self._way(place, brief, scene)) is None else (units.GO_ANYWHERE, *way)

    def _way(self, place: Cell, brief: Brief, scene: Scene) -> Cell | None:
        at = scene.agents[self.agent].at
        left = dist(at, place)
        self.nearest, self.astray = (left, 0) if left < self.nearest else (self.nearest, self.astray + 1)
        return steer(self.kind, at, place, brief, scene)

    def _fell(self, brief: Brief, scene: Scene) -> Command:
        at, aim = scene.agents[self.agent].at, thing_of(self.action)
        spots = [spot.at for spot in scene.spots(aim) if spot.trees] if isinstance(aim, Entity) else []
        if not spots:
            return STAY
        taken = {body.at for name, body in scene.agents.items() if name != self.agent and brief.kinds[name] in WALKERS}
        if self.kind == "bulldozer":
            ends = sorted((spots[0], spots[-1]), key=lambda cell: (dist(cell, at), cell))
            here = at in (spot.at for spot in scene.spots(aim)) if isinstance(aim, Entity) else False
            return (units.CLEAR, *ends[1]) if here else self._toward(ends[0], brief, scene)
        if at in spots:
            return (units.CUT, 0, 0)
        return self._toward(min(spots, key=lambda c: (c in taken, dist(c, at), c)), brief, scene)

    def result(self, brief: Brief, known: Scene, truth: Scene, did: Did) -> Result:
        """Judge the timestep that has just gone by; the agent is still there, and able.

        Args:
            brief: What everybody was told.
            known: What the agent knows now.
            truth: What is true now.
            did: What came of its primitive.
        """
        self.spent += 1
        self.felled += did.felled
        if did.felled:  # the next tree may stand anywhere
            self.nearest, self.astray = inf, 0
        self.stuck = 0 if did.moved or did.effect else self.stuck + 1
        verb, at = self.action.verb, truth.agents[self.agent].at
        if verb in ("move_to", "clear_to"):
            return DONE if at == cell_of(self.action) else self._patient("no_way")
        if verb == "step_toward":
            return DONE
        if verb == "talk":
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if verb == "go_to":
            return self._arrival(brief, known)
        if verb == "fell":
            aim = thing_of(self.action)
            left = isinstance(aim, Entity) and any(spot.trees for spot in known.spots(aim))
            return self._patient("no_way") if left else DONE
        if verb in ("cut", "cut_all"):
            if did.reason == "no_tree":
                return Result("failed", "no_tree", "dependency")
            if not truth.agents[self.agent].trees:
                return DONE
            if brief.careful and known.dangerous(at):
                return Result("failed", "fire", "spatial")
            return DONE if verb == "cut" and self.felled >= int(str(self.action.args[0])) else RUNNING
        if did.reason:
            return Result("failed", did.reason, _WHY.get(did.reason))
        return DONE

    def _arrival(self, brief: Brief, known: Scene) -> Result:
        aim = thing_of(self.action)
        if near_enough(self.agent, aim, brief, known):
            return DONE
        if known.place(aim, known.agents[self.agent].at) is None:
            return Result("failed", "not_there", "dependency")
        return self._patient("no_way")

    def _patient(self, reason: str) -> Result:
        lost = self.stuck >= PATIENCE or self.astray >= DETOUR
        return Result("failed", reason, "spatial") if lost else RUNNING


class Did(NamedTuple):
    """What came of one agent's primitive in a timestep."""

    moved: bool
    effect: bool
    reason: str
    felled: int


_TYPES: Mapping[tuple[str, str], int] = {
    ("firefighter", "cut"): units.CUT,
    ("firefighter", "cut_all"): units.CUT,
    ("firefighter", "pick_up"): units.LIFT,
    ("firefighter", "drop_off"): units.LIFT,
    ("firefighter", "refill"): units.FILL,
    ("helicopter", "take_aboard"): units.BOARD,
    ("helicopter", "set_down"): units.DROP,
    ("helicopter", "release"): units.DROP,
    ("helicopter", "refill"): units.SCOOP,
}
_WHY: Mapping[str, Constraint] = {
    **{"nobody_near": "spatial", "not_at_water": "spatial", "no_water": "dependency", "has_water": "capability"},
    **{"has_passengers": "capability", "full": "capability", "empty": "dependency", "aboard": "capability"},
}
