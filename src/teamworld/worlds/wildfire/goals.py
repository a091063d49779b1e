"""The goals of each task, how each step changes them, and failures that only wildfire can see.

``goals_in`` reads the goals from a symbolic state: what was announced, discovered or expected. ``GoalTracker`` follows
them from step to step. ``find_failures`` looks for deaths by fire, firebreaks begun too late and empty flights in the
snapshots of an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import dist
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.language import AgentId, Cell, Entity, GoalId
from teamworld.worlds.base.failure_spans import FailureSpan, Transition
from teamworld.worlds.contract import Attempt, Constraint, Goal, GoalEvent
from teamworld.worlds.wildfire.drawing_data import codes_of
from teamworld.worlds.wildfire.kernels.agents import SEEN_EXTINGUISHING, SEEN_IGNITED
from teamworld.worlds.wildfire.knowledge import cluster_of, target_cells
from teamworld.worlds.wildfire.physics import count_transported, rows_over_fire
from teamworld.worlds.wildfire.state import BOARD, DEAD, FIREFIGHTER, HELICOPTER, LIFT, NOBODY, SAFE, SEATS
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

    from teamworld.worlds.wildfire.knowledge import Fires, Knowledge
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import Incident, Units


GoalStatus = Literal["open", "done", "lost"]

#: Flyers that have to be over a fire at once, and a helicopter with somebody to carry.
PAIR = 2
_PARTS = (("northwest", "north", "northeast"), ("west", "centre", "east"), ("southwest", "south", "southeast"))
_WORK: dict[str, tuple[str, ...]] = {
    "cut": ("firefighter", "bulldozer"),
    "search": ("firefighter", "bulldozer", "drone", "helicopter"),
    "scout": ("drone", "helicopter"),
    "suppress": ("firefighter", "bulldozer", "helicopter"),
    "transport": ("firefighter", "helicopter"),
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
        "cut_sparse": _cuts, "cut_lines": _cuts, "scout": _scouting, "transport": _transport, "contain": _fires,
        "rescue": _rescues, "both": _both,
    }  # fmt: skip
    return (*_search(mission, state, looked), *makers[mission.task](mission, state))


def _goal(mission: Mission, goal: GoalId, kind: str, thing: Entity, **parts: Any) -> Goal:
    """Return a goal for those kinds of agents of the team that can work on it."""
    return Goal(goal, kind, thing, kinds=mission.of_team(*_WORK[kind]), **parts)


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
    aims = "fire and civilians" if fire and people else "fire" if fire else "civilians"
    yield _goal(
        mission,
        "search",
        "search",
        Entity("area", 0),
        features=(("for", aims),),
        capacity=len(mission.kinds),
        units=left,
        state="open" if left else "done",
    )


def _cuts(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield one goal for each cell or line to cut."""
    alone = mission.task == "cut_sparse"
    for thing in [Entity("target", number) for number in state.targets] if alone else state.lines:
        cells = state.spots(thing)
        trees = sum(spot.trees for spot in cells)
        across = len(cells) > 1 and cells[0].at[1] == cells[1].at[1]
        line = (("shape", "line"), ("cells", str(len(cells))), ("way", "across" if across else "down"))
        yield _goal(
            mission,
            f"{'cut' if alone else 'line'}_{thing.id}",
            "cut",
            thing,
            features=(("shape", "cell"),) if alone else line,
            weight=3.0 * len(cells),
            capacity=1 if alone else min(len(cells), len(mission.agents(*_WORK["cut"]))),
            units=trees,
            state="open" if trees else "done",
        )


def _scouting(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    flyers = [body.at for agent, body in state.agents.items() if mission.kinds[agent] in _WORK["scout"]]
    for number, front in state.fires.items():
        fire = Entity("fire", number)
        place = state.place(fire, front.origin or (0, 0))
        over = sum(state.over_fire(at, number) for at in flyers)
        yield _goal(
            mission,
            f"scout_{number}",
            "scout",
            fire,
            features=(("part", part_of_map(place or (0, 0), mission.size)),),
            weight=float(PAIR),
            quorum=PAIR,
            capacity=PAIR,
            units=max(0, PAIR - over),
            constraints=("participation", "spatial", "temporal"),
            state="open" if over < PAIR else "done",
        )


def _fires(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield one goal for each fire: all that burns and burnt from one beginning is one, however its front runs."""
    for number, front in state.fires.items():
        count = len(front.cells)
        place = front.origin
        if count:
            place = sum(x for x, _ in front.cells) // count, sum(y for _, y in front.cells) // count
        part = "unknown" if place is None else part_of_map(place, mission.size)
        yield _goal(
            mission,
            f"fire_{number}",
            "suppress",
            Entity("fire", number),
            features=(("part", part), *((("water", "yes" if state.water else "no"),) if mission.pours else ())),
            capacity=max(1, len(mission.agents(*_WORK["suppress"]))),
            units=0 if front.out else max(1, count),
            prerequisites=() if front.part_of is None or front.out else (f"fire_{front.part_of}",),
            state="done" if front.out else "open",
        )


def _transport(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield the goal to bring all firefighters to the zone: joint for a helicopter and those it carries."""

    def has_arrived(body: AgentState) -> bool:
        return state.in_zone(body.at) and (body.aboard is None or mission.riders_count)

    firefighters = [body for agent, body in state.agents.items() if mission.kinds[agent] == "firefighter"]
    left = [body for body in firefighters if not has_arrived(body)]
    start = max((dist(body.at, state.zone or body.at) for body in left), default=0.0)
    joint = bool(mission.of_team("helicopter"))
    yield _goal(
        mission,
        "transport_0",
        "transport",
        Entity("zone", 0),
        features=(("distance", distance_bucket(start, mission.size)), ("helicopter", "yes" if joint else "no")),
        weight=float(len(mission.agents("firefighter"))),
        quorum=PAIR if joint else 1,
        capacity=len(mission.agents(*_WORK["transport"])),
        units=len(left),
        constraints=("capability", "participation", "spatial") if joint else (),
        can_be_lost=True,
        state="open" if left else "done",
    )


def _rescues(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield one goal for each cluster of civilians that somebody knows of."""
    for number in sorted({*state.clusters, *(person.cluster for person in state.people.values())}):
        cluster, people = Entity("cluster", number), state.members(number).values()
        dead = sum(person.state == "dead" for person in people)
        size = mission.per_cluster if number < mission.clusters else len(people)
        left = max(0, size - dead - sum(person.state == "safe" for person in people))
        place = state.place(cluster, state.zone or (0, 0))
        away = "unknown"
        if place is not None and state.zone is not None:
            away = distance_bucket(dist(place, state.zone), mission.size)
        yield Goal(
            f"rescue_{number}",
            "rescue",
            cluster,
            kinds=("firefighter",),
            features=(("people", "few" if size <= 3 else "many"), ("distance", away)),
            weight=float(size),
            capacity=max(1, min(size, len(mission.agents("firefighter")))),
            units=left,
            constraints=("dependency", "spatial"),
            can_be_lost=True,
            state="open" if left else "lost" if dead else "done",
        )


def _both(mission: Mission, state: SymbolicState) -> Iterator[Goal]:
    """Yield the fires, and for each cluster the goal to keep its people from the fire until it is out."""
    fires = tuple(_fires(mission, state))
    yield from fires
    out = bool(fires) and all(goal.state == "done" for goal in fires)
    for goal in _rescues(mission, state):
        number, size = goal.thing.id if goal.thing is not None else 0, int(goal.weight)
        dead = sum(person.state == "dead" for person in state.members(number).values())
        status = _guarded(dead, size, out)
        left = size - dead if status == "open" else 0
        yield replace(goal, id=f"guard_{number}", kind="guard", features=goal.features[:1], units=left, state=status)


def _guarded(dead: int, size: int, out: bool) -> GoalStatus:
    """Return how a cluster of people stands that has to be kept from the fire."""
    if dead >= size or (out and dead):
        return "lost"
    return "done" if out else "open"


class Standing(NamedTuple):
    """How a goal stands after a step."""

    goal: GoalId
    share: float
    """How much of the whole is done."""
    status: GoalStatus
    participants: tuple[AgentId, ...] = ()
    """Who took part in this step."""


class GoalTracker:
    """Tracks the goals from step to step.

    Args:
        incident: At the start.
        mission: The task and the rules of reach.
        names: The agents by row.
        knowledge: What all agents know, also those that are lost.
    """

    def __init__(
        self, incident: Incident, mission: Mission, names: Sequence[AgentId], knowledge: Collection[Knowledge]
    ) -> None:
        self._mission, self._names, self._knowledge = mission, names, knowledge
        self._shares: dict[GoalId, float] = {}
        self._ended: set[GoalId] = set()
        self._opened: set[GoalId] = set()
        self.looked = mission.known
        """Whether everything that had to be found was found."""
        self._at_start: int | None = None
        """What was in sight before the first step."""
        self._spots: dict[GoalId, list[tuple[int, int]]] = {}
        for number, (cell, line) in target_cells(incident, mission).items():
            self._spots.setdefault(f"cut_{number}" if line is None else f"line_{line}", []).append(cell)

    def open(self, known: Iterable[GoalId]) -> list[GoalEvent]:
        """Note the goals that the team knows of now; return those that are new."""
        new = [goal for goal in known if goal not in self._opened]
        self._opened.update(new)
        return [GoalEvent(goal, "opened", 0.0, ()) for goal in new]

    def step(self, incident: Incident, start: Units, effects: StepEffects, fires: Fires) -> list[GoalEvent]:
        """Return the goal events of the step."""
        events: list[GoalEvent] = []
        for goal, share, status, participants in self._standings(incident, start, effects, fires):
            if goal in self._ended:
                continue
            delta = share - self._shares.get(goal, 0.0)
            if delta:
                self._shares[goal] = share
                events.append(GoalEvent(goal, "progress", delta, participants))
            if status != "open":
                self._ended.add(goal)
                events.append(GoalEvent(goal, status, 0.0, participants))
        return events

    def _standings(self, incident: Incident, start: Units, effects: StepEffects, fires: Fires) -> Iterator[Standing]:
        """Yield how each goal stands."""
        mission = self._mission
        if not mission.known:
            yield self._search(fires)
        if mission.task.startswith("cut"):
            yield from self._cuts(incident, effects)
        elif mission.task == "scout":
            share = min(incident.scouts, PAIR) / PAIR
            yield Standing("scout_0", share, _status(share), self._agents(rows_over_fire(incident)))
        elif mission.task == "transport":
            yield self._transport(incident, start)
        if mission.task in ("contain", "both"):
            for fire in fires.origins:
                out = fires.out(fire)
                participants = self._agents(np.flatnonzero((effects.put_out > 0) | (effects.felled > 0)))
                yield Standing(f"fire_{fire}", float(out), "done" if out else "open", participants)
        if mission.task in ("rescue", "both"):
            yield from self._people(incident, start, fires)

    def _agents(self, rows: Iterable[int]) -> tuple[AgentId, ...]:
        return tuple(self._names[row] for row in rows)

    def _search(self, fires: Fires) -> Standing:
        people = self._mission.clusters * self._mission.per_cluster
        fire = int(bool(fires.origins) and self._mission.task != "rescue")
        met = set[int]().union(*(knowledge.people for knowledge in self._knowledge))
        discovered, total = sum(civilian < people for civilian in met), people + fire
        if any(knowledge.state.fires for knowledge in self._knowledge):
            discovered += fire
        self.looked = discovered >= total
        if self._at_start is None:
            self._at_start = discovered
        share = 1.0 if self.looked else (discovered - self._at_start) / (total - self._at_start)
        return Standing("search", share, "done" if self.looked else "open")

    def _cuts(self, incident: Incident, effects: StepEffects) -> Iterator[Standing]:
        trees, places, kinds = incident.land.trees, incident.units.places(), self._mission.kinds
        busy = np.flatnonzero(effects.felled > 0).tolist()
        reach = [PACE["bulldozer"] if kinds[name] == "bulldozer" else 0.0 for name in self._names]
        for goal, cells in self._spots.items():
            left = sum(int(trees[y + 1, x + 1]) for x, y in cells)
            near = [row for row in busy if min(dist(places[row], cell) for cell in cells) <= reach[row]]
            yield Standing(goal, 1 - left / (3 * len(cells)), "open" if left else "done", self._agents(near))

    def _transport(self, incident: Incident, start: Units) -> Standing:
        share = count_transported(incident) / incident.level.team.firefighters
        target, places, before = incident.instance.target, incident.units.places(), start.places()
        arrived = [
            row
            for row, (x, y) in enumerate(places.tolist())
            if target is not None
            and incident.units.alive[row]
            and in_zone((x, y), target)
            and (start.aboard[row] != NOBODY or (places[row] != before[row]).any())
        ]
        return Standing("transport_0", share, _status(share), self._agents(arrived))

    def _people(self, incident: Incident, start: Units, fires: Fires) -> Iterator[Standing]:
        civilians, carries = incident.civilians, incident.units.carries
        clusters = np.array([cluster_of(number, incident) for number in range(len(civilians))])
        released = np.flatnonzero((start.carries != NOBODY) & (carries == NOBODY)).tolist()
        for number in np.unique(clusters).tolist():
            states = civilians.state[clusters == number]
            safe, dead, size = int((states == SAFE).sum()), int((states == DEAD).sum()), len(states)
            participants = self._agents(row for row in released if clusters[start.carries[row]] == number)
            if self._mission.task == "rescue":
                status: GoalStatus = "open" if safe + dead < size else "lost" if dead else "done"
                yield Standing(f"rescue_{number}", safe / size, status, participants)
            else:
                status = _guarded(dead, size, bool(fires.origins) and all(map(fires.out, fires.origins)))
                yield Standing(f"guard_{number}", float(status == "done"), status, participants)


def _status(share: float) -> GoalStatus:
    return "done" if share >= 1 else "open"


#: How many of each constraint there are, or are needed.
ConstraintCounts: TypeAlias = dict[Constraint, int]


def joint_attempts(
    incident: Incident,
    start: Units,
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
    if mission.task == "scout" and (over := rows_over_fire(incident)):
        flyers, above = int((start.alive & (kinds > 1)).sum()), len(over)
        have: ConstraintCounts = {"participation": flyers, "spatial": above, "temporal": above}
        yield _attempt("scout_0", PAIR, have, dict.fromkeys(have, PAIR), [names[row] for row in over])
    for row in np.flatnonzero(start.alive & (kinds == FIREFIGHTER) & (commands[:, 0] == LIFT)).tolist():
        if start.carries[row] == NOBODY and len(incident.civilians):
            yield _lifting(row, incident, start, effects, mission, names)


def _attempt(
    goal: GoalId, quorum: int, have: ConstraintCounts, need: ConstraintCounts, participants: Sequence[AgentId]
) -> Attempt:
    capped = {name: min(count, need[name]) for name, count in have.items()}
    return Attempt(goal, quorum, tuple(capped.items()), tuple(need.items()), tuple(participants), capped == need)


def _boarding(
    row: int, goal: GoalId, incident: Incident, start: Units, effects: StepEffects, names: Sequence[AgentId]
) -> Attempt:
    on_foot = start.alive & (incident.units.kind == FIREFIGHTER) & (start.aboard == NOBODY)
    places = start.places()
    near = [k for k in np.flatnonzero(on_foot).tolist() if dist(places[k], places[row]) < BOARDING_REACH]
    boarded = np.flatnonzero((incident.units.aboard == row) & (start.aboard == NOBODY)).tolist()
    has_seats = int((start.aboard == row).sum()) < SEATS
    joined = bool(effects.effect[row])
    have: ConstraintCounts = {
        "capability": int(start.water[row] == 0 and has_seats),
        "participation": PAIR if joined else min(PAIR, 1 + int(on_foot.sum())),
        "spatial": PAIR if joined else min(PAIR, 1 + len(near)),
    }
    need: ConstraintCounts = {"capability": 1, "participation": PAIR, "spatial": PAIR}
    if not joined and have == need:
        have["spatial"] = 1  # near by whole cells, not by the exact place
    return _attempt(goal, PAIR, have, need, [names[k] for k in (*boarded, row)])


def _lifting(
    row: int, incident: Incident, start: Units, effects: StepEffects, mission: Mission, names: Sequence[AgentId]
) -> Attempt:
    civilians, at, aim = incident.civilians, start.place(row), int(incident.units.carries[row])
    if aim == NOBODY:
        aim = min(range(len(civilians)), key=lambda k: (dist(at, (civilians.x[k], civilians.y[k])), k))
    cluster = cluster_of(aim, incident)
    free = any(
        state not in (SAFE, DEAD) and cluster_of(k, incident) == cluster
        for k, state in enumerate(civilians.state.tolist())
    )
    lifted = bool(effects.effect[row])
    have: ConstraintCounts = {"dependency": int(lifted or free), "spatial": int(lifted)}
    goal = f"{'rescue' if mission.task == 'rescue' else 'guard'}_{cluster}"
    return _attempt(goal, 1, have, {"dependency": 1, "spatial": 1}, [names[row]])


# Failures ------------------------------------------------------------------------------------------------------------

Static: TypeAlias = Mapping[str, Any]
Team: TypeAlias = Sequence[AgentId]
Steps: TypeAlias = Sequence[Transition]


class Death(NamedTuple):
    """A walker that was lost in a step."""

    passage: Transition
    agent: AgentId
    at: Cell
    """Where it stood when the step began."""
    stayed_safe: bool
    """Whether that cell did not burn when the step was over."""


def find_walked_into_fire(static: Static, team: Team, steps: Steps) -> Iterator[FailureSpan]:
    """Find walkers that died on the move, while the cell that they left did not burn."""
    for death in _deaths(static, team, steps):
        outcome = death.passage.outcomes.get(death.agent)
        if outcome is not None and outcome.moved and death.stayed_safe:
            text = f"{outcome.action} from {death.at} led into fire; where it had stood nothing burnt"
            yield _span(death.passage, "walked-into-fire", death.agent, text)


def find_overrun(static: Static, team: Team, steps: Steps) -> Iterator[FailureSpan]:
    """Find walkers that the fire reached where they stood, though it burnt beside them as the step began."""
    for death in _deaths(static, team, steps):
        if death.stayed_safe:
            continue
        codes, (x, y) = codes_of(static, death.passage.before), death.at
        hot = _is_hot(codes[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2])
        if hot.any():
            text = f"the fire came to {death.at}; {int(hot.sum())} cells beside it burnt as the step began"
            yield _span(death.passage, "overrun", death.agent, text)


def find_break_too_late(static: Static, team: Team, steps: Steps) -> Iterator[FailureSpan]:
    """Find cuts that were given up because the fire was there first."""
    for passage in steps:
        for agent, outcome in passage.outcomes.items():
            late = outcome.status == "failed" and outcome.word == "fire"
            if late and outcome.action.verb in ("cut", "cut_all", "cut_line"):
                text = f"{outcome.action} given up: fire beside {agent} before the trees were cut"
                yield _span(passage, "break-too-late", agent, text)


def find_empty_flight(static: Static, team: Team, steps: Steps) -> Iterator[FailureSpan]:
    """Find helicopters that came to the zone with nobody aboard, while firefighters were still to be brought there."""
    if static["target"] is None:
        return
    zone = (static["target"][0], static["target"][1])
    for passage in steps:
        if passage.before["civilians"]:
            continue  # a rescue: nobody can ride but those who rescue
        places = zip(static["kinds"], passage.after["agents"], strict=True)
        left = sum(
            kind == "firefighter" and place is not None and not in_zone((place[0], place[1]), zone)
            for kind, place in places
        )
        for agent, outcome in passage.outcomes.items():
            aim = outcome.action.args[0] if outcome.action.args else None
            to_zone = outcome.action.verb == "go_to" and isinstance(aim, Entity) and aim.kind == "zone"
            row = team.index(agent)
            flew = to_zone and outcome.status == "done" and outcome.moved and static["kinds"][row] == "helicopter"
            if flew and left and row not in passage.after["aboard"]:
                text = f"came to the zone with nobody aboard; {left} firefighters were not there"
                yield _span(passage, "empty-flight", agent, text)


#: The rules, in the order of their labels.
RULES: Final[Sequence[Callable[[Static, Team, Steps], Iterator[FailureSpan]]]] = (
    find_walked_into_fire,
    find_overrun,
    find_break_too_late,
    find_empty_flight,
)


def find_failures(static: Static, team: Team, passages: Steps) -> list[FailureSpan]:
    """Return the failures that the passages of an episode show, the steps from 0 on; a ``FailureFinder``."""
    return [finding for rule in RULES for finding in rule(static, team, passages)]


def _deaths(static: Static, team: Team, steps: Steps) -> Iterator[Death]:
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


def _span(passage: Transition, label: str, agent: AgentId, text: str) -> FailureSpan:
    return FailureSpan(label, passage.step, passage.step, (agent,), None, text)
