"""The macro-actions: what each kind can do, how an action becomes one primitive a step, what to expect of it.

The options of CREW-Wildfire's execution module are here under words of their own; some actions name things instead of
cells. A skill steers by what its agent knows; whether it is done is judged by the truth. An agent whose action is done
decides in the very next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, dist, inf
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param, Term, plain, show
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.words import listed
from teamworld.worlds.contract import Constraint
from teamworld.worlds.wildfire.kernels.agents import DRY, SEEN_BUILDING, SEEN_EXTINGUISHING, SEEN_IGNITED, UNSEEN, WET
from teamworld.worlds.wildfire.sharing import search_way, share_civilians
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
    CLEARING,
    DROP_REACH,
    ON_FOOT,
    PACE,
    SPRAY_REACH,
    USUAL_PACE,
    USUAL_TREES,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    in_zone,
    zone_cell,
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
    **{"move_to": (None,), "go_to": (None,), "step_toward": (None,), "cut_line": (None,), "fell": (None,)},
    **{"cut": (None,), "cut_all": (), "pick_up": (), "drop_off": (), "spray": (None,), "spray_at": (None,)},
    **{"refill": (), "take_aboard": (), "set_down": (), "release": (), "wait": (), "idle": (None,), "talk": (None,)},
}
#: What leaves the agent and the world as they are.
IDLE: Final = ("wait", "idle", "talk")
Value = TypeVar("Value")
Command: TypeAlias = tuple[int, int, int]
STAY: Command = (STOP, 0, 0)


def schemas(kind: str, mission: Mission, state: SymbolicState) -> tuple[ActionSchema, ...]:
    """Return what a kind of agent can do that is of use on this level, with the things that are known."""
    return tuple(_schemas(kind, mission, state))


_GO = {"firefighter": "Walk", "bulldozer": "Drive, cutting nothing,", "drone": "Fly", "helicopter": "Fly"}
_STEPS = Param("steps", "count", low=1)


def _schemas(kind: str, mission: Mission, state: SymbolicState) -> Iterator[ActionSchema]:
    place = Param("place", "cell", size=(mission.size, mission.size))
    things, go = _things(kind, mission, state), _GO[kind]
    spot = mission.size // 2, mission.size // 2
    doc = f"{go} to the cell (x, y)."
    yield ActionSchema("move_to", (place,), doc, example=Action("move_to", (spot,)))
    if things:
        doc = f"{go} to a thing{' or an agent' if any(isinstance(thing, str) for thing in things) else ''}"
        thing = Param("thing", "entity", tuple(things))
        doc = f"{doc}, {_near_enough(kind, mission)}."
        yield ActionSchema("go_to", (thing,), doc, example=Action("go_to", (things[0],)))
    doc = "1 step of the way to the cell (x, y)."
    yield ActionSchema("step_toward", (place,), doc, example=Action("step_toward", (spot,)))
    if kind in WALKERS and mission.cuts:
        yield from _cutting(kind, mission, place, spot, [thing for thing in things if _is_target(thing)])
    if kind == "firefighter" and mission.has_people:
        near, example = f"a free civilian less than {mission.lift_reach:g} cells away; empty hands.", Action("pick_up")
        yield ActionSchema(
            "pick_up",
            (),
            "Pick up the nearest free civilian; of several who do, each takes another if it is in reach.",
            near,
            example,
        )
        doc = "Put down the civilian that you carry" + ("; in the zone it is safe." if mission.has_zone else ".")
        yield ActionSchema("drop_off", (), doc, "you carry a civilian.", Action("drop_off"))
    if kind == "helicopter" and mission.agents("firefighter"):
        needs = f"a firefighter on foot less than {BOARDING_REACH:g} cells away, a free seat{_EMPTY[mission.pours]}"
        doc = f"Take firefighters aboard, the nearest first, up to {SEATS} in all."
        yield ActionSchema("take_aboard", (), doc, needs, Action("take_aboard"))
        yield ActionSchema(
            "set_down", (), "Set down everybody aboard, here.", "somebody is aboard.", Action("set_down")
        )
    if mission.pours and kind in ("firefighter", "helicopter"):
        yield from _pouring(kind, mission, place, [thing for thing in things if _is_fire(thing)])
    yield ActionSchema("wait", (), "Do nothing for 1 step.", example=Action("wait"))
    yield ActionSchema(
        "idle", (_STEPS,), "Do nothing for so many steps, whatever happens.", example=Action("idle", (3,))
    )
    doc = "Do nothing for so many steps: what messages cost where they take time."
    yield ActionSchema("talk", (_STEPS,), doc, example=Action("talk", (1,)))


_EMPTY = {False: ".", True: "; an empty tank."}


def _things(kind: str, mission: Mission, state: SymbolicState) -> list[Entity | str]:
    """Return the things and agents that an agent of a kind may go to."""
    numbers: dict[str, Iterable[int]] = {
        "target": (number for number, spot in state.targets.items() if spot.line is None),
        "line": (line.id for line in state.lines),
        "fire": state.fires,
        "zone": () if state.zone is None else (0,),
        "water": state.water if mission.pours else (),
        "cluster": sorted({*state.clusters, *(person.cluster for person in state.people.values())}),
        "civilian": (number for number, person in state.people.items() if person.at is not None),
        "sector": state.sectors,
    }
    partners = {"firefighter": ["helicopter"], "helicopter": ["firefighter"]}.get(kind, [])
    things: list[Entity | str] = [Entity(thing, number) for thing, known in numbers.items() for number in known]
    return [*things, *mission.agents(*partners)]


def _is_target(thing: Term) -> bool:
    return isinstance(thing, Entity) and thing.kind in ("target", "line")


def _is_fire(thing: Term) -> bool:
    return isinstance(thing, Entity) and thing.kind == "fire"


def _near_enough(kind: str, mission: Mission) -> str:
    """Return where going to a thing ends, in words."""
    sought = {"rescue": "civilians", "both": "civilians or fire"}.get(mission.task, "fire")
    search = (
        "" if mission.known else f"; at a sector, search until somebody has seen all of it, or new {sought} somewhere"
    )
    if kind not in WALKERS:
        return ("above a fire where it is hot or burnt" if mission.burns else "above its middle") + search
    if kind == "bulldozer":
        return ("and no nearer to a fire than two cells" if mission.burns else "onto it") + search
    fire = " and no nearer to a fire than that" if mission.burns else ""
    zone = ", to the nearest cell of a zone" if mission.has_zone else ""
    people = ", at a cluster to the free civilian that is for you, else the nearest" if mission.has_people else ""
    return f"near enough to act on it{fire}{people}{zone}{search}"


def _cutting(kind: str, mission: Mission, place: Param, spot: Cell, targets: Sequence[Term]) -> Iterator[ActionSchema]:
    """Yield what cuts trees."""
    bare = "; what is cut cannot burn" if mission.burns else ""
    if kind == "firefighter":
        own, trees = "trees on your own cell.", Param("trees", "count", low=1, high=3, default=1)
        yield ActionSchema("cut", (trees,), "Cut so many trees of your own cell.", own, Action("cut", (2,)))
        doc = f"Cut all trees of your own cell{bare}."
        yield ActionSchema("cut_all", (), doc, own, Action("cut_all"))
        doc = "Cut all trees on the straight way from your cell to (x, y), passing bare cells; several share its cells."
    else:
        doc = "Drive the straight way from your cell to (x, y) and cut all trees on it."
    if mission.task != "cut_sparse":
        yield ActionSchema("cut_line", (place,), doc, example=Action("cut_line", (spot,)))
    if targets:
        thing = Param("thing", "entity", tuple(targets))
        doc = "Go there and cut all its trees; several at it share them."
        yield ActionSchema("fell", (thing,), doc, "trees are left on it.", Action("fell", (targets[0],)))


def _pouring(kind: str, mission: Mission, place: Param, fires: Sequence[Term]) -> Iterator[ActionSchema]:
    """Yield what is done with water."""
    at = f"water at most {mission.fill_reach} cells away" if mission.fill_reach else "you are on a cell with water"
    full = f"Fill your tank to {TANK} units."
    if kind == "helicopter":
        yield ActionSchema("refill", (), full, f"{at}; nobody aboard, the tank not full.", Action("refill"))
        doc = "Release 1 water on all within 4 cells of you."
        yield ActionSchema("release", (), doc, "water on board.", Action("release"))
        return
    yield ActionSchema("refill", (), full, f"{at}; the tank not full.", Action("refill"))
    doc = "Spray 1 water toward the cell (x, y), 3 cells far."
    middle = place.size[0] // 2, place.size[1] // 2
    yield ActionSchema("spray", (place,), doc, "you carry water.", Action("spray", (middle,)))
    if fires:
        doc, needs = "Spray 1 water toward what burns nearest of a fire.", "you carry water; it burns within 3 cells."
        fire = Param("fire", "entity", tuple(fires))
        yield ActionSchema("spray_at", (fire,), doc, needs, Action("spray_at", (fires[0],)))


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
        return aim.id not in state.unseen
    if place is None:
        return False
    if isinstance(aim, str):
        return dist(place, at) < BOARDING_REACH
    if aim.kind in ("cluster", "civilian"):
        return dist(place, at) <= mission.lift_reach - 1  # cells are whole, and reach goes by the exact place
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
    if place is not None and isinstance(aim, Entity) and aim.kind == "zone":
        return zone_cell(at, place)
    if isinstance(aim, Entity) and aim.kind == "cluster":
        own = share_civilians(mission, state).get(agent)
        return state.people[own].at if own in state.members(aim.id) else place
    if place is None or not isinstance(aim, Entity) or aim.kind != "fire":
        return place
    if mission.kinds[agent] in WALKERS:
        return spray_place(place, at, mission)
    front = state.fires[aim.id]
    hot = [cell for cell in (*front.cells, *front.scar) if state.over_fire(cell, aim.id)]
    return min(hot, key=lambda cell: (dist(cell, at), cell), default=place)


def whereabouts(aim: Entity | str, state: SymbolicState) -> str:
    """Return why nobody is led to a thing or agent of which no place is told, in words."""
    person = state.people.get(aim.id) if isinstance(aim, Entity) and aim.kind == "civilian" else None
    return (
        f"{plain(aim)} is {person.state}"
        if person and person.state != "free"
        else f"nobody knows where {plain(aim)} is"
    )


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
    """Return where to head in this step to get to a cell: straight, or round the fire that is known of.

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
    place: Cell | None = None
    """Where its search makes for."""
    known: frozenset[Entity] | None = None
    """The people and fires that were known of when its search began."""
    felled: int = 0
    begun_at: Cell | None = None
    """Where a line that is cut begins."""

    def command(self, mission: Mission, state: SymbolicState) -> Command:
        """Return the primitive of this step."""
        verb, at = self.action.verb, state.agents[self.agent].at
        if verb in ("move_to", "step_toward"):
            return self._toward(cell_of(self.action), mission, state)
        if verb == "go_to":
            place = approach_cell(self.agent, thing_of(self.action), at, mission, state)
            if _is_sector(thing_of(self.action)):
                self._search_on(place, state)
            return STAY if place is None else self._toward(place, mission, state)
        if verb == "cut_line":
            return self._cut_line(mission, state)
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

    def _search_on(self, place: Cell | None, state: SymbolicState) -> None:
        """Note what is known as a search begins, and where it goes on: nearer there is nearer anew."""
        if self.known is None:
            self.known = _sighted(state)
        if place != self.place:
            self.place, self.nearest, self.astray = place, inf, 0

    def _cut_line(self, mission: Mission, state: SymbolicState) -> Command:
        place, at = cell_of(self.action), state.agents[self.agent].at
        if self.kind == "bulldozer":
            way = self._way(place, mission, state)
            return STAY if way is None else (CLEAR, *way)
        if self.begun_at is None:
            self.begun_at = at
        left = [cell for cell in uncut_on_line(self.begun_at, place, state) if not self._shuns(cell, mission, state)]
        return self._cut_one(left, mission, state) if left else self._toward(place, mission, state)

    def _shuns(self, cell: Cell, mission: Mission, state: SymbolicState) -> bool:
        return mission.careful and state.dangerous(cell)

    def _fell(self, mission: Mission, state: SymbolicState) -> Command:
        at, aim = state.agents[self.agent].at, thing_of(self.action)
        left = state.uncut(aim)
        if not left:
            return STAY
        if self.kind == "bulldozer":
            near, far = sorted((left[0], left[-1]), key=lambda cell: (dist(cell, at), cell))
            is_there = at in (spot.at for spot in state.spots(aim))
            return (CLEAR, *far) if is_there else self._toward(near, mission, state)
        return self._cut_one(left, mission, state)

    def _cut_one(self, left: Sequence[Cell], mission: Mission, state: SymbolicState) -> Command:
        """Return the primitive of a firefighter who cuts one of some cells or is on the way to one.

        Right of way: of those on one cell the first cuts it, and the others go on to cells where nobody is.
        """
        at = state.agents[self.agent].at
        others = [(name, body.at) for name, body in state.agents.items() if name != self.agent]
        taken = {place for name, place in others if mission.kinds[name] in WALKERS}
        here = [name for name, body in state.agents.items() if body.at == at and mission.kinds[name] == self.kind]
        ahead = here.index(self.agent)

        def nearest(cell: Cell) -> tuple[float, Cell]:
            return dist(cell, at), cell

        free = sorted((cell for cell in left if cell not in taken and cell != at), key=nearest)
        if at in left and not (ahead and free):
            return (CUT, 0, 0)
        if free:
            return self._toward(free[min(ahead - (at in left), len(free) - 1)], mission, state)
        return self._toward(min(left, key=nearest), mission, state)

    def result(self, mission: Mission, known: SymbolicState, body: AgentState, primitive: PrimitiveResult) -> Result:
        """Judge the step that has just gone by; the agent is still there, and able.

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
        if verb == "move_to":
            return DONE if at == cell_of(self.action) else self._patient(at, known)
        if verb == "cut_line":
            return self._judge_line(at, mission, known)
        if verb == "step_toward":
            return DONE
        if verb in ("idle", "talk"):
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if verb == "go_to":
            aim = thing_of(self.action)
            if is_near(self.agent, aim, mission, known):
                return DONE
            if _is_sector(aim) and (fresh := _sighted(known) - (self.known or frozenset())):
                return Result("done", f"sighted: {listed([*map(plain, sorted(fresh, key=_by_name))])} came in sight")
            if known.place(aim, known.agents[self.agent].at) is None:
                return Result("failed", f"not_there: {whereabouts(aim, known)}", "dependency")
            return self._patient(at, known)
        if verb == "fell":
            return self._patient(at, known) if known.uncut(thing_of(self.action)) else DONE
        if verb in ("cut", "cut_all"):
            if primitive.reason == "no_tree":
                return Result("failed", explain("no_tree"), "dependency")
            if not body.trees:
                return DONE
            if mission.careful and known.dangerous(at):
                return Result("failed", explain("fire"), "spatial")
            return DONE if verb == "cut" and self.felled >= int(str(self.action.args[0])) else RUNNING
        if primitive.reason:
            return Result("failed", explain(primitive.reason, verb), _WHY.get(primitive.reason))
        return DONE

    def _judge_line(self, at: Cell, mission: Mission, known: SymbolicState) -> Result:
        """Judge the cutting of a line: over where all is cut and its end reached, vain where the fire is there."""
        end = cell_of(self.action)
        left = [] if self.begun_at is None else uncut_on_line(self.begun_at, end, known)
        if at == end and not left:
            return DONE
        if self.begun_at is not None and all(self._shuns(cell, mission, known) for cell in left or [end]):
            return Result("failed", "fire: it burns at what is left of the line, or beside it", "spatial")
        return self._patient(at, known)

    def _patient(self, at: Cell, known: SymbolicState) -> Result:
        """Return whether the agent goes on, though it is not there yet."""
        if self.stuck < PATIENCE and self.astray < DETOUR:
            return RUNNING
        how = f"stuck for {PATIENCE} steps" if self.stuck >= PATIENCE else f"no nearer for {DETOUR} steps"
        hot = any(dist(cell, at) <= PACE[self.kind] for cell in known.burning)
        fire = ", fire is in the way" if self.kind in WALKERS and hot else ""
        return Result("failed", f"no_way: {how} at {show(at)}{fire}", "spatial")


def _is_sector(aim: object) -> bool:
    return isinstance(aim, Entity) and aim.kind == "sector"


def _sighted(state: SymbolicState) -> frozenset[Entity]:
    """Return the people and fires that are known of: what is searched for."""
    people = (Entity("civilian", number) for number, person in state.people.items() if person.at is not None)
    return frozenset((*people, *(Entity("fire", number) for number in state.fires)))


def _by_name(thing: Entity) -> tuple[str, int]:
    return thing.kind, thing.id


class PrimitiveResult(NamedTuple):
    """The effects of one agent's primitive in a step."""

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

_WORDS: Mapping[str, str] = {
    "no_tree": "no tree stands on your cell", "fire": "it burns beside you", "no_water": "your tank is empty",
    "not_at_water": "no water is within reach", "has_water": "your tank is not empty", "empty": "nobody is aboard",
    "has_passengers": "somebody is aboard", "full_hands": "you carry a civilian already",
    "empty_hands": "you carry nobody", "aboard": "a helicopter carries you", "off_map": "the cell is not on the map",
    "already_there": "you are there", "no_fire": "it is out", "not_near": "no fire is within 3 cells",
    "arrived": "you are there", "gone": "you were lost", "burnt": "the fire reached you",
}  # fmt: skip
_WORDS_OF: Mapping[tuple[str, str], str] = {
    ("nobody_near", "pick_up"): "no free civilian is within reach",
    ("nobody_near", "take_aboard"): "no firefighter on foot is within reach",
    ("full", "refill"): "your tank is full",
    ("full", "take_aboard"): "all seats are taken",
}


def explain(word: str, verb: str = "") -> str:
    """Return one of the world's words for why an action cannot be done, with an explanation."""
    words = _WORDS.get(word) or _WORDS_OF.get((word, verb))
    return f"{word}: {words}" if words else word


def line_cells(start: Cell, end: Cell) -> list[Cell]:
    """Return the cells of the straight way between two cells, both included; one after the other they share sides.

    So no fire goes through between them.
    """
    x, y = start
    right, down = end[0] - x, end[1] - y
    cells = [start]
    while (x, y) != end:  # along the axis on which more of the way is left
        if abs(end[0] - x) * max(1, abs(down)) >= abs(end[1] - y) * max(1, abs(right)) and x != end[0]:
            x += 1 if right > 0 else -1
        else:
            y += 1 if down > 0 else -1
        cells.append((x, y))
    return cells


def uncut_on_line(start: Cell, end: Cell, state: SymbolicState) -> list[Cell]:
    """Return the cells of a line that hold trees, or may hold some for all that is known."""
    ground, targets = state.ground, {spot.at: spot.trees for spot in state.targets.values()}

    def may_hold(cell: Cell) -> bool:
        if cell in targets:
            return targets[cell] > 0
        code = DRY if ground is None else ground.code(cell)
        return code == UNSEEN or WET < code < DRY or DRY < code < SEEN_IGNITED

    return [cell for cell in line_cells(start, end) if may_hold(cell)]


def trees_at(state: SymbolicState, cell: Cell) -> int | None:
    """Return the trees of a cell as far as is known."""
    known = state.derived("trees", lambda: {spot.at: spot.trees for spot in state.targets.values()}).get(cell)
    if known is not None:
        return known
    code = SEEN_BUILDING if state.ground is None else state.ground.code(cell)
    return None if code in (0, SEEN_BUILDING) or code >= SEEN_IGNITED else code - (WET if code < DRY else DRY)


def travel_ticks(kind: str, at: Cell, to: Cell, state: SymbolicState, pace: float | None = None) -> int:
    """Return the steps of a straight way, at least 1."""
    length = dist(at, to)
    if kind != "firefighter" or pace is not None:
        return max(1, -(-int(10 * length) // int(10 * (pace or PACE[kind]))))
    time, steps = 0.0, min(12, max(1, int(length)))
    for k in range(steps):
        share = (k + 0.5) / steps
        cell = round(at[0] + (to[0] - at[0]) * share), round(at[1] + (to[1] - at[1]) * share)
        trees = trees_at(state, cell)
        time += length / steps / (USUAL_PACE if trees is None else ON_FOOT[trees])
    return max(1, int(time + 0.999))


def destination(agent: AgentId, action: Action, mission: Mission, state: SymbolicState) -> Cell | None:
    """Return the cell that an action takes its agent to; None where it stays or nobody knows."""
    at = state.agents[agent].at
    if action.verb in ("move_to", "cut_line"):
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
    """Return the estimated steps of an action, at least 1."""
    body, kind = state.agents.get(agent), mission.kinds[agent]
    if body is None or action.verb == "step_toward":
        return 1
    if action.verb in ("idle", "talk", "cut"):
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
    if action.verb == "cut_line":
        return line_ticks(kind, body.at, place, state)
    aim = action.args[0]
    if isinstance(aim, Entity) and _is_sector(aim):
        pace = USUAL_PACE if kind == "firefighter" else PACE[kind]
        return travel_ticks(kind, body.at, place, state) + ceil(search_way(kind, aim.id, mission, state) / pace)
    return travel_ticks(kind, body.at, place, state)


def cutting_left(thing: Entity | str, mission: Mission, state: SymbolicState) -> int:
    """Return the steps until those who stand on a cell to cut are done with it; 0 where that is not told.

    That is of a single cell with firefighters alone on it, as each cuts one of its trees a step.
    """
    spots = state.spots(thing)
    there = state.standing.get(spots[0].at, ()) if len(spots) == 1 else ()
    alone = bool(there) and all(mission.kinds[name] == "firefighter" for name in there)
    return -(-spots[0].trees // len(there)) if alone else 0


def cut_before(agent: AgentId, thing: Entity | str, mission: Mission, state: SymbolicState) -> bool:
    """Return whether those who stand on a cell to cut are done with it no later without an agent than with its help."""
    left = cutting_left(thing, mission, state)
    is_there = state.spots(thing)[0].at == state.agents[agent].at
    return left > 0 and not is_there and cut_together(agent, thing, mission, state) >= left


def cut_together(agent: AgentId, thing: Entity | str, mission: Mission, state: SymbolicState) -> int:
    """Return the steps until a single cell is cut by the firefighters on it, and an agent that comes or is there.

    It holds where ``cutting_left`` is told.
    """
    spot, at = state.spots(thing)[0], state.agents[agent].at
    if spot.at == at:
        return cutting_left(thing, mission, state)
    way = travel_ticks(mission.kinds[agent], at, spot.at, state)
    there = sum(body.at == spot.at for body in state.agents.values())
    rest = max(0, spot.trees - way * there)
    return way + (min(rest, 1) if mission.kinds[agent] == "bulldozer" else -(-rest // (there + 1)))


def line_ticks(kind: str, at: Cell, end: Cell, state: SymbolicState) -> int:
    """Return the estimated steps of cutting a line alone: one for each tree, and one to each cell that holds some."""
    if kind == "bulldozer":
        return travel_ticks(kind, at, end, state, CLEARING)
    left = uncut_on_line(at, end, state)
    known = [trees_at(state, cell) for cell in left]
    trees = sum(count for count in known if count is not None) + USUAL_TREES * known.count(None)
    bare = (dist(at, end) - len(left)) / ON_FOOT[0]
    return max(1, round(trees) + len(left) - (at in left) + max(0, int(bare)))


def expected_state(agent: AgentId, action: Action, mission: Mission, state: SymbolicState) -> SymbolicState:
    """Return the state to expect after an action that can be done, if it succeeds."""
    verb, body, kind = action.verb, state.agents[agent], mission.kinds[agent]
    place = destination(agent, action, mission, state)
    aim = action.args[0] if action.args else None
    if verb == "go_to" and place is not None and isinstance(aim, Entity) and aim.kind == "sector":
        state = replace(state, unseen=_without(state.unseen, aim.id), ahead=_without(state.ahead, aim.id), memo={})
    if verb in ("fell", "cut", "cut_all", "cut_line"):
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


def _without(known: Mapping[int, Value], number: int) -> dict[int, Value]:
    return {key: value for key, value in known.items() if key != number}


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
    elif action.verb == "cut_line":
        gone = dict.fromkeys(line_cells(body.at, cell_of(action)), 3)
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
