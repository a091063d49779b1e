"""What one timestep did to the goals: what was discovered, progress, ends, and acts that take more than good will."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from math import dist
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.language import AgentId, GoalId
from teamworld.worlds.contract import Attempt, Constraint, GoalEvent
from teamworld.worlds.wildfire.goals import PAIR, in_zone
from teamworld.worlds.wildfire.knowledge import cluster_of, targets
from teamworld.worlds.wildfire.physics import REASONS
from teamworld.worlds.wildfire.scene import Brief
from teamworld.worlds.wildfire.skills import BOARDING, PACE
from teamworld.worlds.wildfire.units import BOARD, DEAD, FIREFIGHTER, HELICOPTER, LIFT, NOBODY, SAFE

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.fires import Fires
    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.physics import Happened

#: How many of each constraint there are, or are needed.
Counts: TypeAlias = "dict[Constraint, int]"

State = Literal["open", "done", "lost"]


class Start(NamedTuple):
    """What has to be known of the moment before a step."""

    carries: npt.NDArray[np.int32]
    alive: npt.NDArray[np.bool_]
    places: npt.NDArray[np.int32]
    water: npt.NDArray[np.int8]
    aboard: npt.NDArray[np.int32]


def before(incident: Incident) -> Start:
    """Return it, copied."""
    units = incident.units
    return Start(units.carries.copy(), units.alive.copy(), units.places(), units.water.copy(), units.aboard.copy())


class Ledger:
    """Follows the goals from step to step.

    Args:
        incident: At the start.
        brief: What everybody was told.
        names: The agents by row.
    """

    def __init__(self, incident: Incident, brief: Brief, names: Sequence[AgentId]) -> None:
        self._brief, self._names = brief, names
        self._done: dict[GoalId, float] = {}
        """How far each goal is, as a share of the whole."""
        self._ended: dict[GoalId, State] = {}
        self._opened: set[GoalId] = set()
        self.looked = brief.known
        """Whether everything that had to be found was found."""
        self._met: set[int] = set()
        self._fire_seen = False
        self._at_start: int | None = None
        """What was in sight before the first step."""
        self._spots: dict[GoalId, list[tuple[int, int]]] = {}
        for number, (cell, line) in targets(incident, brief).items():
            self._spots.setdefault(f"cut_{number}" if line is None else f"line_{line}", []).append(cell)
        self._clusters = [cluster_of(number, incident) for number in range(len(incident.civilians))]

    def open(self, known: Iterable[GoalId]) -> list[GoalEvent]:
        """Note the goals that the team knows of now; return those that are new."""
        new = [goal for goal in known if goal not in self._opened]
        self._opened.update(new)
        return [GoalEvent(goal, "opened", 0.0, ()) for goal in new]

    def find(self, people: Set[int], *, fire: bool) -> None:
        """Note civilians that somebody knows of, and whether somebody knows of a fire; it stays found."""
        self._met.update(people)
        self._fire_seen |= fire

    def step(self, incident: Incident, start: Start, did: Happened, fires: Fires) -> tuple[GoalEvent, ...]:
        """Return what the step did to the goals."""
        found: list[GoalEvent] = []
        for goal, share, state, who in self._standing(incident, start, did, fires):
            if goal in self._ended:
                continue
            delta = share - self._done.get(goal, 0.0)
            if delta:
                self._done[goal] = share
                found.append(GoalEvent(goal, "progress", delta, who))
            if state != "open":
                self._ended[goal] = state
                found.append(GoalEvent(goal, "done" if state == "done" else "lost", 0.0, who))
        return tuple(found)

    def _standing(
        self, incident: Incident, start: Start, did: Happened, fires: Fires
    ) -> Iterator[tuple[GoalId, float, State, tuple[AgentId, ...]]]:
        """Yield how each goal stands: the share that is done, its state, and who took part in this step."""
        brief = self._brief
        if not brief.known:
            yield self._search(incident, fires)
        if brief.task.startswith("cut"):
            yield from self._cuts(incident, did)
        elif brief.task == "scout":
            share = min(incident.scouts, PAIR) / PAIR
            yield "scout_0", share, "done" if share >= 1 else "open", self._rows(over_fire(incident))
        elif brief.task == "transport":
            yield self._transport(incident, start)
        if brief.task in ("contain", "both"):
            for fire in fires.origins:
                out = fires.out(fire)
                who = self._rows(np.flatnonzero((did.put_out > 0) | (did.felled > 0)).tolist())
                yield f"fire_{fire}", float(out), "done" if out else "open", who
        if brief.task in ("rescue", "both"):
            yield from self._people(incident, start, did, fires)

    def _rows(self, rows: Iterable[int]) -> tuple[AgentId, ...]:
        return tuple(self._names[row] for row in rows)

    def _search(self, incident: Incident, fires: Fires) -> tuple[GoalId, float, State, tuple[AgentId, ...]]:
        people = self._brief.clusters * self._brief.per_cluster
        fire = int(bool(fires.origins) and self._brief.task != "rescue")
        met = sum(civilian in self._met for civilian in range(people))
        found, total = met + (fire if self._fire_seen else 0), people + fire
        self.looked = found >= total
        if self._at_start is None:
            self._at_start = found
        share = 1.0 if self.looked else (found - self._at_start) / (total - self._at_start)
        return "search", share, "done" if self.looked else "open", ()

    def _cuts(self, incident: Incident, did: Happened) -> Iterator[tuple[GoalId, float, State, tuple[AgentId, ...]]]:
        trees, places, kinds = incident.land.trees, incident.units.places(), self._brief.kinds
        busy = np.flatnonzero(did.felled > 0).tolist()
        for goal, cells in self._spots.items():
            left = sum(int(trees[y + 1, x + 1]) for x, y in cells)
            near = [
                row
                for row in busy
                if min(dist(places[row], cell) for cell in cells)
                <= (PACE["bulldozer"] if kinds[self._names[row]] == "bulldozer" else 0.0)
            ]
            yield goal, 1 - left / (3 * len(cells)), "open" if left else "done", self._rows(near)

    def _transport(self, incident: Incident, start: Start) -> tuple[GoalId, float, State, tuple[AgentId, ...]]:
        from teamworld.worlds.wildfire import tasks

        total = incident.level.team.firefighters
        share = tasks.transported(incident) / total
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
        self, incident: Incident, start: Start, did: Happened, fires: Fires
    ) -> Iterator[tuple[GoalId, float, State, tuple[AgentId, ...]]]:
        folk = incident.civilians
        while len(self._clusters) < len(folk):
            self._clusters.append(cluster_of(len(self._clusters), incident))
        clusters = np.array(self._clusters)
        for number in sorted(set(self._clusters)):
            mine = clusters == number
            states = folk.state[mine]
            safe, dead, size = int((states == SAFE).sum()), int((states == DEAD).sum()), int(mine.sum())
            who = [row for row in range(len(self._names)) if self._put_down(row, mine, start, incident)]
            if self._brief.task == "rescue":
                state: State = "open" if safe + dead < size else "lost" if dead else "done"
                yield f"rescue_{number}", safe / size, state, self._rows(who)
            else:
                out = bool(fires.origins) and all(fires.out(fire) for fire in fires.origins)
                state = "lost" if dead == size or (out and dead) else "done" if out else "open"
                yield f"guard_{number}", float(state == "done"), state, self._rows(who)

    def _put_down(self, row: int, mine: npt.NDArray[np.bool_], start: Start, incident: Incident) -> bool:
        held = int(start.carries[row])
        return held != NOBODY and bool(mine[held]) and int(incident.units.carries[row]) == NOBODY


def over_fire(incident: Incident) -> list[int]:
    """Return the rows of the flyers above what is on fire, smoulders or is burnt out (B25)."""
    units, burn, places = incident.units, incident.land.burn, incident.units.places()
    rows = range(len(units))
    return [
        row
        for row in rows
        if units.alive[row] and units.kind[row] > 1 and burn[places[row][1] + 1, places[row][0] + 1] > 2
    ]


def attempts(
    incident: Incident,
    start: Start,
    commands: npt.NDArray[np.int64],
    did: Happened,
    brief: Brief,
    names: Sequence[AgentId],
) -> Iterator[Attempt]:
    """Yield the acts of the step that can fail on others or on the place: boarding, scouting, picking up."""
    kinds = incident.units.kind
    joint = {"transport": "transport_0", "contain": "fire_0", "both": "fire_0"}.get(brief.task)
    for row in np.flatnonzero(start.alive & (kinds == HELICOPTER) & (commands[:, 0] == BOARD)).tolist():
        if joint is not None:
            yield _boarding(row, joint, incident, start, did, names)
    if brief.task == "scout":
        over = over_fire(incident)
        flyers = int((start.alive & (kinds > 1)).sum())
        if over:
            have: Counts = {
                "participation": min(PAIR, flyers),
                "spatial": min(PAIR, len(over)),
                "temporal": min(PAIR, len(over)),
            }
            yield _attempt("scout_0", PAIR, have, dict.fromkeys(have, PAIR), [names[row] for row in over])
    for row in np.flatnonzero(start.alive & (kinds == FIREFIGHTER) & (commands[:, 0] == LIFT)).tolist():
        if start.carries[row] == NOBODY and len(incident.civilians):
            yield _lifting(row, incident, start, did, brief, names)


def _attempt(goal: GoalId, quorum: int, have: Counts, need: Counts, who: Sequence[AgentId]) -> Attempt:
    capped = {name: min(count, need[name]) for name, count in have.items()}
    return Attempt(goal, quorum, tuple(capped.items()), tuple(need.items()), tuple(who), capped == need)


def _boarding(
    row: int, goal: GoalId, incident: Incident, start: Start, did: Happened, names: Sequence[AgentId]
) -> Attempt:
    on_foot = start.alive & (incident.units.kind == FIREFIGHTER) & (start.aboard == NOBODY)
    near = [k for k in np.flatnonzero(on_foot).tolist() if dist(start.places[k], start.places[row]) < BOARDING]
    boarded = np.flatnonzero((incident.units.aboard == row) & (start.aboard == NOBODY)).tolist()
    seats = int((start.aboard == row).sum()) < 5
    joined = bool(did.effect[row])
    have: Counts = {
        "capability": int(start.water[row] == 0 and seats),
        "participation": PAIR if joined else min(PAIR, 1 + int(on_foot.sum())),
        "spatial": PAIR if joined else min(PAIR, 1 + len(near)),
    }
    need: Counts = {"capability": 1, "participation": PAIR, "spatial": PAIR}
    if not joined and have == need:
        have["spatial"] = 1  # near by whole cells, not by the exact place
    return _attempt(goal, PAIR, have, need, [names[k] for k in (*boarded, row)])


def _lifting(
    row: int, incident: Incident, start: Start, did: Happened, brief: Brief, names: Sequence[AgentId]
) -> Attempt:
    folk, at = incident.civilians, start.places[row]
    held = int(incident.units.carries[row])
    nearest = min(range(len(folk)), key=lambda k: (dist(at, (folk.x[k], folk.y[k])), k)) if held == NOBODY else held
    cluster = cluster_of(nearest, incident)
    free = any(folk.state[k] not in (SAFE, DEAD) for k in range(len(folk)) if cluster_of(k, incident) == cluster)
    lifted = bool(did.effect[row])
    have: Counts = {"dependency": int(lifted or free), "spatial": int(lifted)}
    if not lifted and REASONS[int(did.reason[row])] == "nobody_near" and not free:
        have["dependency"] = 0
    goal = f"{'rescue' if brief.task == 'rescue' else 'guard'}_{cluster}"
    return _attempt(goal, 1, have, {"dependency": 1, "spatial": 1}, [names[row]])
