"""The goals of each task, how each step changes them, and failures that only wildfire can see.

``goals_in`` reads the goals from a symbolic state: what was announced, discovered or expected. ``GoalTracker`` follows
them from step to step. ``find_failures`` looks for deaths by fire, firebreaks begun too late and empty flights in the
snapshots of an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import dist
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.language import AgentId, Cell, Entity, GoalId
from teamworld.worlds.base.failure_spans import FailureSpan, Transition
from teamworld.worlds.contract import Attempt, Constraint, Goal, GoalEvent
from teamworld.worlds.wildfire.draw import codes_of
from teamworld.worlds.wildfire.kernels.agents import REASONS, SEEN_EXTINGUISHING, SEEN_IGNITED
from teamworld.worlds.wildfire.knowledge import cluster_of, target_cells
from teamworld.worlds.wildfire.physics import count_transported
from teamworld.worlds.wildfire.state import BOARD, DEAD, FIREFIGHTER, HELICOPTER, LIFT, NOBODY, SAFE
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    PACE,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    in_zone,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.knowledge import Fires
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import Incident


#: Flyers that have to be over a fire at once, and a helicopter with somebody to carry.
PAIR = 2
_PARTS = (("northwest", "north", "northeast"), ("west", "centre", "east"), ("southwest", "south", "southeast"))
_WORK: dict[str, tuple[str, ...]] = {
    "cut": ("firefighter", "bulldozer"),
    "search": ("firefighter", "bulldozer", "drone", "helicopter"),
    "scout": ("drone", "helicopter"),
    "suppress": ("firefighter", "bulldozer", "helicopter"),
    "transport": ("firefighter", "helicopter"),
    "rescue": ("firefighter",),
}


def part_of_map(cell: Cell, size: int) -> str:
    """Return in which of nine parts of the map a cell lies, in words."""
    return _PARTS[min(2, 3 * cell[1] // size)][min(2, 3 * cell[0] // size)]


def distance_bucket(length: float, size: int) -> str:
    """Return a distance in words, by the side of the map."""
    return "near" if length < size / 4 else "middle" if length < size / 2 else "far"


def goals_in(mission: Mission, state: SymbolicState, looked: bool | None = None) -> tuple[Goal, ...]:
    """Return the goals as they stand in a symbolic state, in a fixed order.

    Args:
        mission: The task and the rules of reach.
        state: What is known, or true.
        looked: In the truth, where all is known: whether what had to be found was found; None in what agents know.
    """
    makers = {
        "cut_sparse": _cuts, "cut_lines": _lines, "scout": _scouting, "transport": _transport, "contain": _fires,
        "rescue": _rescues, "both": _both,
    }  # fmt: skip
    return (*_search(mission, state, looked), *makers[mission.task](mission, state))


def _search(mission: Mission, state: SymbolicState, looked: bool | None) -> Iterator[Goal]:
    """Yield the goal to find the fire and the civilians, where nobody was told."""
    if mission.known:
        return
    fire = mission.task in ("scout", "contain", "both")
    people = mission.clusters * mission.per_cluster
    seen = sum(number < people for number in state.people)
    left = people - seen + int(fire and not state.fires)
    if looked is not None:
        left = 0 if looked else max(1, left)
    yield Goal(
        "search",
        "search",
        Entity("area", 0),
        features=(("for", "fire and civilians" if fire and people else "fire" if fire else "civilians"),),
        capacity=len(mission.kinds),
        kinds=mission.of_team(*_WORK["search"]),
        units=left,
        state="open" if left else "done",
    )


def _cuts(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    for number, spot in state.targets.items():
        yield Goal(
            f"cut_{number}",
            "cut",
            Entity("target", number),
            features=(("shape", "cell"),),
            weight=3.0,
            capacity=1,
            kinds=mission.of_team(*_WORK["cut"]),
            units=spot.trees,
            state="open" if spot.trees else "done",
        )


def _lines(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    for number in dict.fromkeys(spot.line for spot in state.targets.values() if spot.line is not None):
        cells = state.line(number)
        trees = sum(spot.trees for spot in cells)
        across = len(cells) > 1 and cells[0].at[1] == cells[1].at[1]
        yield Goal(
            f"line_{number}",
            "cut",
            Entity("line", number),
            features=(("shape", "line"), ("cells", str(len(cells))), ("way", "across" if across else "down")),
            weight=3.0 * len(cells),
            capacity=min(len(cells), len(mission.agents(*_WORK["cut"]))),
            kinds=mission.of_team(*_WORK["cut"]),
            units=trees,
            state="open" if trees else "done",
        )


def _scouting(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    for number, front in state.fires.items():
        place = state.place(Entity("fire", number), front.origin or (0, 0))
        over = sum(state.over_fire(at, number) for at in _flyers(mission, state))
        yield Goal(
            f"scout_{number}",
            "scout",
            Entity("fire", number),
            features=(("part", part_of_map(place or (0, 0), mission.size)),),
            weight=float(PAIR),
            quorum=PAIR,
            capacity=PAIR,
            kinds=mission.of_team(*_WORK["scout"]),
            units=max(0, PAIR - over),
            constraints=("participation", "spatial", "temporal"),
            state="open" if over < PAIR else "done",
        )


def _flyers(mission: Mission, state: SymbolicState) -> list[Cell]:
    return [body.at for agent, body in state.agents.items() if mission.kinds[agent] in _WORK["scout"]]


def _fires(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield one goal for each fire: all that burns and burnt from one beginning is one, however its front runs."""
    for number, front in state.fires.items():
        place = _middle(front.cells) or front.origin
        yield Goal(
            f"fire_{number}",
            "suppress",
            Entity("fire", number),
            features=(
                ("part", "unknown" if place is None else part_of_map(place, mission.size)),
                ("water", "yes" if state.water else "no"),
            ),
            weight=1.0,
            capacity=max(1, len(mission.agents(*_WORK["suppress"]))),
            kinds=mission.of_team(*_WORK["suppress"]),
            units=0 if front.out else max(1, len(front.cells)),
            prerequisites=() if front.part_of is None or front.out else (f"fire_{front.part_of}",),
            state="done" if front.out else "open",
        )


def _middle(cells: tuple[Cell, ...]) -> Cell | None:
    if not cells:
        return None
    return sum(x for x, _ in cells) // len(cells), sum(y for _, y in cells) // len(cells)


def _transport(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield the goal to bring all firefighters to the zone: joint for a helicopter and those it carries."""
    left = [
        body
        for agent, body in state.agents.items()
        if mission.kinds[agent] == "firefighter" and not _arrived(body, mission, state)
    ]
    start = max((dist(body.at, state.zone or body.at) for body in left), default=0.0)
    helicopters = mission.of_team("helicopter")
    yield Goal(
        "transport_0",
        "transport",
        Entity("zone", 0),
        features=(("distance", distance_bucket(start, mission.size)), ("helicopter", "yes" if helicopters else "no")),
        weight=float(len(mission.agents("firefighter"))),
        quorum=PAIR if helicopters else 1,
        capacity=len(mission.agents(*_WORK["transport"])),
        kinds=mission.of_team(*_WORK["transport"]),
        units=len(left),
        constraints=("capability", "participation", "spatial") if helicopters else (),
        can_be_lost=True,
        state="open" if left else "done",
    )


def _arrived(body: AgentState, mission: Mission, state: SymbolicState) -> bool:
    """Return whether a firefighter counts as transported."""
    there = state.zone is not None and in_zone(body.at, state.zone)
    return there and (body.aboard is None or mission.riders_count)


def _rescues(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield one goal for each cluster of civilians that somebody knows of."""
    clusters = sorted({*state.clusters, *(person.cluster for person in state.people.values())})
    for number in clusters:
        people = list(state.members(number).values())
        dead = sum(person.state == "dead" for person in people)
        size = mission.per_cluster if number < mission.clusters else len(people)
        left = max(0, size - sum(person.state in ("safe", "dead") for person in people))
        place = state.place(Entity("cluster", number), state.zone or (0, 0))
        away = (
            "unknown" if place is None or state.zone is None else distance_bucket(dist(place, state.zone), mission.size)
        )
        status: Literal["open", "done", "lost"] = "open" if left else "lost" if dead else "done"
        yield Goal(
            f"rescue_{number}",
            "rescue",
            Entity("cluster", number),
            features=(("people", "few" if size <= 3 else "many"), ("distance", away)),
            weight=float(size),
            capacity=max(1, min(size, len(mission.agents("firefighter")))),
            kinds=("firefighter",),
            units=left,
            constraints=("dependency", "spatial"),
            can_be_lost=True,
            state=status,
        )


def _both(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield the fires, and for each cluster the goal to keep its people from the fire until it is out."""
    fires = tuple(_fires(mission, state))
    yield from fires
    out = bool(fires) and all(goal.state == "done" for goal in fires)
    for goal in _rescues(mission, state):
        number = goal.thing.id if goal.thing is not None else 0
        people = list(state.members(number).values())
        alive = [person for person in people if person.state != "dead"]
        size = mission.per_cluster if number < mission.clusters else len(people)
        lost = len(people) - len(alive)
        status: Literal["open", "done", "lost"] = "open"
        if lost >= size or (out and lost):
            status = "lost"
        elif out:
            status = "done"
        left = size - lost if status == "open" else 0
        features = goal.features[:1]
        yield replace(goal, id=f"guard_{number}", kind="guard", features=features, units=left, state=status)


#: How many of each constraint there are, or are needed.
ConstraintCounts: TypeAlias = dict[Constraint, int]
GoalStatus = Literal["open", "done", "lost"]


class UnitsBefore(NamedTuple):
    """The units before a step."""

    carries: npt.NDArray[np.int32]
    alive: npt.NDArray[np.bool_]
    places: npt.NDArray[np.int32]
    water: npt.NDArray[np.int8]
    aboard: npt.NDArray[np.int32]


def copy_units(incident: Incident) -> UnitsBefore:
    """Return the state of the units before a step, copied."""
    units = incident.units
    return UnitsBefore(
        units.carries.copy(), units.alive.copy(), units.places(), units.water.copy(), units.aboard.copy()
    )


class GoalTracker:
    """Tracks the goals from step to step.

    Args:
        incident: At the start.
        mission: The task and the rules of reach.
        names: The agents by row.
    """

    def __init__(self, incident: Incident, mission: Mission, names: Sequence[AgentId]) -> None:
        self._mission, self._names = mission, names
        self._done: dict[GoalId, float] = {}
        """How far each goal is, as a share of the whole."""
        self._ended: dict[GoalId, GoalStatus] = {}
        self._opened: set[GoalId] = set()
        self.looked = mission.known
        """Whether everything that had to be found was found."""
        self._met: set[int] = set()
        self._fire_seen = False
        self._at_start: int | None = None
        """What was in sight before the first step."""
        self._spots: dict[GoalId, list[tuple[int, int]]] = {}
        for number, (cell, line) in target_cells(incident, mission).items():
            self._spots.setdefault(f"cut_{number}" if line is None else f"line_{line}", []).append(cell)
        self._clusters = [cluster_of(number, incident) for number in range(len(incident.civilians))]

    def open(self, known: Iterable[GoalId]) -> list[GoalEvent]:
        """Note the goals that the team knows of now; return those that are new."""
        new = [goal for goal in known if goal not in self._opened]
        self._opened.update(new)
        return [GoalEvent(goal, "opened", 0.0, ()) for goal in new]

    def find(self, people: Set[int], *, fire: bool) -> None:
        """Note discovered civilians, and whether a fire was discovered."""
        self._met.update(people)
        self._fire_seen |= fire

    def step(self, incident: Incident, start: UnitsBefore, effects: StepEffects, fires: Fires) -> tuple[GoalEvent, ...]:
        """Return the goal events of the step."""
        events: list[GoalEvent] = []
        for goal, share, state, who in self._standing(incident, start, effects, fires):
            if goal in self._ended:
                continue
            delta = share - self._done.get(goal, 0.0)
            if delta:
                self._done[goal] = share
                events.append(GoalEvent(goal, "progress", delta, who))
            if state != "open":
                self._ended[goal] = state
                events.append(GoalEvent(goal, "done" if state == "done" else "lost", 0.0, who))
        return tuple(events)

    def _standing(
        self, incident: Incident, start: UnitsBefore, effects: StepEffects, fires: Fires
    ) -> Iterator[tuple[GoalId, float, GoalStatus, tuple[AgentId, ...]]]:
        """Yield how each goal stands: the share that is done, its state, and who took part in this step."""
        mission = self._mission
        if not mission.known:
            yield self._search(incident, fires)
        if mission.task.startswith("cut"):
            yield from self._cuts(incident, effects)
        elif mission.task == "scout":
            share = min(incident.scouts, PAIR) / PAIR
            yield "scout_0", share, "done" if share >= 1 else "open", self._rows(rows_over_fire(incident))
        elif mission.task == "transport":
            yield self._transport(incident, start)
        if mission.task in ("contain", "both"):
            for fire in fires.origins:
                out = fires.out(fire)
                who = self._rows(np.flatnonzero((effects.put_out > 0) | (effects.felled > 0)).tolist())
                yield f"fire_{fire}", float(out), "done" if out else "open", who
        if mission.task in ("rescue", "both"):
            yield from self._people(incident, start, effects, fires)

    def _rows(self, rows: Iterable[int]) -> tuple[AgentId, ...]:
        return tuple(self._names[row] for row in rows)

    def _search(self, incident: Incident, fires: Fires) -> tuple[GoalId, float, GoalStatus, tuple[AgentId, ...]]:
        people = self._mission.clusters * self._mission.per_cluster
        fire = int(bool(fires.origins) and self._mission.task != "rescue")
        met = sum(civilian in self._met for civilian in range(people))
        discovered, total = met + (fire if self._fire_seen else 0), people + fire
        self.looked = discovered >= total
        if self._at_start is None:
            self._at_start = discovered
        share = 1.0 if self.looked else (discovered - self._at_start) / (total - self._at_start)
        return "search", share, "done" if self.looked else "open", ()

    def _cuts(
        self, incident: Incident, effects: StepEffects
    ) -> Iterator[tuple[GoalId, float, GoalStatus, tuple[AgentId, ...]]]:
        trees, places, kinds = incident.land.trees, incident.units.places(), self._mission.kinds
        busy = np.flatnonzero(effects.felled > 0).tolist()
        for goal, cells in self._spots.items():
            left = sum(int(trees[y + 1, x + 1]) for x, y in cells)
            near = [
                row
                for row in busy
                if min(dist(places[row], cell) for cell in cells)
                <= (PACE["bulldozer"] if kinds[self._names[row]] == "bulldozer" else 0.0)
            ]
            yield goal, 1 - left / (3 * len(cells)), "open" if left else "done", self._rows(near)

    def _transport(
        self, incident: Incident, start: UnitsBefore
    ) -> tuple[GoalId, float, GoalStatus, tuple[AgentId, ...]]:
        total = incident.level.team.firefighters
        share = count_transported(incident) / total
        target, places = incident.instance.target, incident.units.places()
        who = [
            row
            for row in range(len(self._names))
            if target is not None
            and incident.units.alive[row]
            and in_zone((int(places[row][0]), int(places[row][1])), (target.x, target.y))
            and (start.aboard[row] != NOBODY or (places[row] != start.places[row]).any())
        ]
        return "transport_0", share, "done" if share >= 1 else "open", self._rows(who)

    def _people(
        self, incident: Incident, start: UnitsBefore, effects: StepEffects, fires: Fires
    ) -> Iterator[tuple[GoalId, float, GoalStatus, tuple[AgentId, ...]]]:
        civilians = incident.civilians
        while len(self._clusters) < len(civilians):
            self._clusters.append(cluster_of(len(self._clusters), incident))
        clusters = np.array(self._clusters)
        for number in sorted(set(self._clusters)):
            mine = clusters == number
            states = civilians.state[mine]
            safe, dead, size = int((states == SAFE).sum()), int((states == DEAD).sum()), int(mine.sum())
            who = [row for row in range(len(self._names)) if self._put_down(row, mine, start, incident)]
            if self._mission.task == "rescue":
                state: GoalStatus = "open" if safe + dead < size else "lost" if dead else "done"
                yield f"rescue_{number}", safe / size, state, self._rows(who)
            else:
                out = bool(fires.origins) and all(fires.out(fire) for fire in fires.origins)
                state = "lost" if dead == size or (out and dead) else "done" if out else "open"
                yield f"guard_{number}", float(state == "done"), state, self._rows(who)

    def _put_down(self, row: int, mine: npt.NDArray[np.bool_], start: UnitsBefore, incident: Incident) -> bool:
        held = int(start.carries[row])
        return held != NOBODY and bool(mine[held]) and int(incident.units.carries[row]) == NOBODY


def rows_over_fire(incident: Incident) -> list[int]:
    """Return the rows of the flyers above what is on fire, smoulders or is burnt out."""
    units, burn, places = incident.units, incident.land.burn, incident.units.places()
    rows = range(len(units))
    return [
        row
        for row in rows
        if units.alive[row] and units.kind[row] > 1 and burn[places[row][1] + 1, places[row][0] + 1] > 2
    ]


def joint_attempts(
    incident: Incident,
    start: UnitsBefore,
    commands: npt.NDArray[np.int64],
    effects: StepEffects,
    mission: Mission,
    names: Sequence[AgentId],
) -> Iterator[Attempt]:
    """Yield the acts of the step that can fail on others or on the place: boarding, scouting, picking up."""
    kinds = incident.units.kind
    joint = {"transport": "transport_0", "contain": "fire_0", "both": "fire_0"}.get(mission.task)
    for row in np.flatnonzero(start.alive & (kinds == HELICOPTER) & (commands[:, 0] == BOARD)).tolist():
        if joint is not None:
            yield _boarding(row, joint, incident, start, effects, names)
    if mission.task == "scout":
        over = rows_over_fire(incident)
        flyers = int((start.alive & (kinds > 1)).sum())
        if over:
            have: ConstraintCounts = {
                "participation": min(PAIR, flyers),
                "spatial": min(PAIR, len(over)),
                "temporal": min(PAIR, len(over)),
            }
            yield _attempt("scout_0", PAIR, have, dict.fromkeys(have, PAIR), [names[row] for row in over])
    for row in np.flatnonzero(start.alive & (kinds == FIREFIGHTER) & (commands[:, 0] == LIFT)).tolist():
        if start.carries[row] == NOBODY and len(incident.civilians):
            yield _lifting(row, incident, start, effects, mission, names)


def _attempt(
    goal: GoalId, quorum: int, have: ConstraintCounts, need: ConstraintCounts, who: Sequence[AgentId]
) -> Attempt:
    capped = {name: min(count, need[name]) for name, count in have.items()}
    return Attempt(goal, quorum, tuple(capped.items()), tuple(need.items()), tuple(who), capped == need)


def _boarding(
    row: int, goal: GoalId, incident: Incident, start: UnitsBefore, effects: StepEffects, names: Sequence[AgentId]
) -> Attempt:
    on_foot = start.alive & (incident.units.kind == FIREFIGHTER) & (start.aboard == NOBODY)
    near = [k for k in np.flatnonzero(on_foot).tolist() if dist(start.places[k], start.places[row]) < BOARDING_REACH]
    boarded = np.flatnonzero((incident.units.aboard == row) & (start.aboard == NOBODY)).tolist()
    seats = int((start.aboard == row).sum()) < 5
    joined = bool(effects.effect[row])
    have: ConstraintCounts = {
        "capability": int(start.water[row] == 0 and seats),
        "participation": PAIR if joined else min(PAIR, 1 + int(on_foot.sum())),
        "spatial": PAIR if joined else min(PAIR, 1 + len(near)),
    }
    need: ConstraintCounts = {"capability": 1, "participation": PAIR, "spatial": PAIR}
    if not joined and have == need:
        have["spatial"] = 1  # near by whole cells, not by the exact place
    return _attempt(goal, PAIR, have, need, [names[k] for k in (*boarded, row)])


def _lifting(
    row: int, incident: Incident, start: UnitsBefore, effects: StepEffects, mission: Mission, names: Sequence[AgentId]
) -> Attempt:
    civilians, at = incident.civilians, start.places[row]
    held = int(incident.units.carries[row])
    nearest = (
        min(range(len(civilians)), key=lambda k: (dist(at, (civilians.x[k], civilians.y[k])), k))
        if held == NOBODY
        else held
    )
    cluster = cluster_of(nearest, incident)
    free = any(
        civilians.state[k] not in (SAFE, DEAD) for k in range(len(civilians)) if cluster_of(k, incident) == cluster
    )
    lifted = bool(effects.effect[row])
    have: ConstraintCounts = {"dependency": int(lifted or free), "spatial": int(lifted)}
    if not lifted and REASONS[int(effects.reason[row])] == "nobody_near" and not free:
        have["dependency"] = 0
    goal = f"{'rescue' if mission.task == 'rescue' else 'guard'}_{cluster}"
    return _attempt(goal, 1, have, {"dependency": 1, "spatial": 1}, [names[row]])


class Death(NamedTuple):
    """A walker that was lost in a step."""

    passage: Transition
    agent: AgentId
    at: Cell
    """Where it stood when the step began."""
    stayed_safe: bool
    """Whether that cell did not burn when the step was over."""


def find_walked_into_fire(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find walkers that died on the move, while the cell that they left did not burn."""
    for death in _deaths(static, team, steps):
        outcome = death.passage.outcomes.get(death.agent)
        if outcome is not None and outcome.moved and death.stayed_safe:
            text = f"{outcome.action} from {death.at} led into fire; where it had stood nothing burnt"
            yield _span(death.passage, "walked-into-fire", (death.agent,), text)


def find_overrun(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find walkers that the fire reached where they stood, though it burnt beside them as the step began."""
    for death in _deaths(static, team, steps):
        if death.stayed_safe:
            continue
        codes, (x, y) = codes_of(static, death.passage.before), death.at
        hot = _is_hot(codes[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2])
        if hot.any():
            text = f"the fire came to {death.at}; {int(hot.sum())} cells beside it burnt as the step began"
            yield _span(death.passage, "overrun", (death.agent,), text)


def find_break_too_late(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find cuts that were given up because the fire was there first."""
    for passage in steps:
        for agent, outcome in passage.outcomes.items():
            late = outcome.status == "failed" and outcome.reason == "fire"
            if late and outcome.action.verb in ("cut", "cut_all"):
                text = f"{outcome.action} given up: fire beside {agent} before the trees were cut"
                yield _span(passage, "break-too-late", (agent,), text)


def find_empty_flight(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find helicopters that came to the zone with nobody aboard, while firefighters were still to be brought there."""
    if static["target"] is None:
        return
    zone = (static["target"][0], static["target"][1])
    for passage in steps:
        if passage.before["civilians"]:
            continue  # a rescue: nobody can ride but those who rescue
        after = passage.after
        left = [
            team[row]
            for row, (kind, place) in enumerate(zip(static["kinds"], after["agents"], strict=True))
            if kind == "firefighter" and place is not None and not in_zone((place[0], place[1]), zone)
        ]
        for agent, outcome in passage.outcomes.items():
            aim = outcome.action.args[0] if outcome.action.args else None
            to_zone = outcome.action.verb == "go_to" and isinstance(aim, Entity) and aim.kind == "zone"
            row = team.index(agent)
            flew = to_zone and outcome.status == "done" and outcome.moved and static["kinds"][row] == "helicopter"
            if flew and left and row not in after["aboard"]:
                text = f"came to the zone with nobody aboard; {len(left)} firefighters were not there"
                yield _span(passage, "empty-flight", (agent,), text)


#: The rules, in the order of their labels.
RULES: Final[
    Sequence[Callable[[Mapping[str, Any], Sequence[AgentId], Sequence[Transition]], Iterator[FailureSpan]]]
] = (
    find_walked_into_fire,
    find_overrun,
    find_break_too_late,
    find_empty_flight,
)


def find_failures(
    static: Mapping[str, Any], team: Sequence[AgentId], passages: Sequence[Transition]
) -> list[FailureSpan]:
    """Return the failures that the passages of a wildfire episode show; implements ``contract.FailureFinder``.

    Args:
        static: As ``draw.static`` has it.
        team: The agents, in the order of the snapshots.
        passages: The steps from 0 on, none left out.
    """
    return [finding for rule in RULES for finding in rule(static, team, passages)]


def _deaths(static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]) -> Iterator[Death]:
    for passage in steps:
        places = zip(passage.before["agents"], passage.after["agents"], strict=True)
        lost = [row for row, (old, new) in enumerate(places) if old is not None and new is None]
        walkers = [row for row in lost if static["kinds"][row] in WALKERS and passage.before["aboard"][row] is None]
        if walkers:
            codes = codes_of(static, passage.after)
            for row in walkers:
                x, y = passage.before["agents"][row]
                yield Death(passage, team[row], (x, y), not bool(_is_hot(codes[y : y + 1, x : x + 1]).any()))


def _is_hot(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    hot: npt.NDArray[np.bool_] = (codes >= SEEN_IGNITED) & (codes <= SEEN_EXTINGUISHING)
    return hot


def _span(passage: Transition, label: str, agents: tuple[AgentId, ...], text: str) -> FailureSpan:
    return FailureSpan(label, passage.step, passage.step, agents, None, text)
