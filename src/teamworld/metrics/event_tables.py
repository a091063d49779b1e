"""Gathers an episode from its log, in one pass that holds no event longer than it must."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from teamworld.metrics.episode import CLASSES, NOBODY, STAGES, Acts, Delivery, Episode, Ints, Sights, Stays, step_class
from teamworld.metrics.validation import HEAVIEST, MANY, Unsound, check, check_start, refused
from teamworld.record import (
    ActionStep,
    AgentLeft,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    LlmCall,
    MessageSent,
    Observe,
    PlanEnd,
    PlanStart,
    Predict,
    QuestionAsked,
    Release,
    StageEntered,
    StepDone,
    Truth,
    ViewsShared,
)

_CODES = {name: code for code, name in enumerate(CLASSES)}
_LEGAL, _EFFECT, _MOVED, _FAILED = 1, 2, 4, 8
_PACKED = struct.Struct("10i").pack

#: Events of which all is kept; there are few of them, beside what agents do.
_KEPT = (
    AttemptMade,
    Believe,
    Commit,
    GoalChange,
    AgentLeft,
    LlmCall,
    MessageSent,
    PlanEnd,
    PlanStart,
    Predict,
    QuestionAsked,
    Release,
    ViewsShared,
)


class _Columns:
    """Takes events one by one."""

    def __init__(self, start: EpisodeStart) -> None:
        self.start = start
        self.end: EpisodeEnd | None = None
        self.who = {agent: at for at, agent in enumerate(start.team)}
        self.goals = {goal.id: at for at, goal in enumerate(start.goals)}
        self.goals_or_none: dict[str | None, int] = {None: NOBODY} | dict(self.goals)
        self.places: dict[str | None, int] = {None: NOBODY}
        self.acts = bytearray()
        """Packed: filling an array takes five times as long."""
        self.deliveries = array("q")
        self.stays = array("q")
        self.facts: dict[str, int] = {}
        self.sights = array("q")
        """One row for each record."""
        self.changes = array("q")
        """One number for each change: twice the fact, and one more for what begins."""
        self.failed: list[ActionStep] = []
        self.keeps_failed = start.log_level != "play"
        self.ticks = array("q")
        self.step = self.tick = 0
        """Steps and ticks of the world so far."""
        self.reward: float | None = None
        self.kept: dict[type[Any], list[Any]] = {kind: [] for kind in (*_KEPT, ActionStep)}

    def takers(self) -> dict[type[Any], Callable[[Any], None]]:
        """Return what takes each kind of event."""
        return {
            **{kind: found.append for kind, found in self.kept.items()},
            ActionStep: self._act,
            Deliver: self._deliver,
            StageEntered: self._stage,
            Truth: lambda event: self._sight(event, NOBODY, event.true, event.false),
            Observe: lambda event: self._sight(event, self.who[event.agent], event.seen, event.unseen),
            StepDone: self._step,
            EpisodeEnd: self._end,
            EpisodeStart: _begun_again,
            DrawingState: lambda event: None,
        }

    def _act(self, act: ActionStep) -> None:
        if not act.spent:
            self.kept[ActionStep].append(act)
            return
        if self.keeps_failed and act.status == "failed":
            self.failed.append(act)
        goals, places = self.goals_or_none, self.places
        goal, ready, plan, blocker = act.goal, act.ready, act.plan, act.blocker
        self.acts += _PACKED(
            act.step,
            self.who[act.agent],
            _CODES[step_class(act)],
            goals[goal] if goal in goals else self.goal(goal),
            NOBODY if plan is None else plan,
            goals[ready] if ready in goals else self.goal(ready),
            NOBODY if blocker is None else self.who.get(blocker, NOBODY),
            places.setdefault(act.place, len(places)),
            places.setdefault(act.aim, len(places)),
            _LEGAL * act.legal + _EFFECT * act.effect + _MOVED * act.moved + _FAILED * (act.status == "failed"),
        )

    def goal(self, goal: str | None) -> int:
        """Return the index of a goal, that of one which was not announced at the start too."""
        if goal is not None and goal not in self.goals:
            self.goals[goal] = self.goals_or_none[goal] = len(self.goals)
        return self.goals_or_none[goal]

    def _deliver(self, event: Deliver) -> None:
        if not event.dropped:
            self.deliveries.extend((event.message, self.who[event.agent], event.step, event.seq))

    def _stage(self, event: StageEntered) -> None:
        self.stays.extend((self.who[event.agent], STAGES.index(event.stage), event.step, event.tick, event.seq))

    def _sight(self, event: Truth | Observe, agent: int, on: Sequence[str], off: Sequence[str]) -> None:
        facts, changes = self.facts, self.changes
        self.sights.extend((event.seq, event.step, agent, len(on) + len(off)))
        for which, now in ((on, 1), (off, 0)):
            changes.extend([2 * facts.setdefault(fact, len(facts)) + now for fact in which])

    def _step(self, event: StepDone) -> None:
        if not 1 <= event.ticks < MANY:
            raise refused(event, f"has {event.ticks} ticks: expected 1 to {MANY - 1}")
        self.ticks.append(event.ticks)
        self.step += 1
        self.tick += event.ticks
        for name, value in event.score.items():
            if not -HEAVIEST <= value <= HEAVIEST:
                raise refused(event, f"has the score {value}: expected a number up to {HEAVIEST:g}")
            if name == "reward":
                self.reward = (self.reward or 0.0) + value

    def _end(self, event: EpisodeEnd) -> None:
        self.end = event


def _begun_again(event: EpisodeStart) -> None:
    raise refused(event, "begins the episode again")


def _take(columns: _Columns, events: Iterable[Event]) -> None:
    """Take all events, each of which says in which step it happened."""
    takers, step, tick = columns.takers(), columns.step, columns.tick
    event: Event | None = None
    try:
        for event in events:
            if event.step != step or event.tick != tick:
                raise refused(
                    event, f"says step {event.step}, tick {event.tick}: it stands in step {step}, tick {tick}"
                )
            takers[type(event)](event)
            if type(event) is StepDone:
                step, tick = columns.step, columns.tick
    except KeyError as error:
        raise refused(event or columns.start, f"names {error}, who is not in the team") from None
    except (OverflowError, struct.error):
        raise refused(event or columns.start, "has a number that is out of all bounds") from None


def _check_acts(columns: _Columns, step: Ints, agent: Ints) -> None:
    """See that every act belongs to a step of the world, and that nobody acts twice in one."""
    team = columns.start.team
    if len(step) and step[-1] >= columns.step:
        raise Unsound(f"an impossible log: {team[agent[-1]]} acts after the last of {columns.step} steps")
    often = np.bincount(step * len(team) + agent)
    if len(often) and often.max() > 1:
        at, who = divmod(int(often.argmax()), len(team))
        raise Unsound(f"an impossible log: {team[who]} acts twice in step {at}")


def gather(log: Iterable[Event]) -> Episode:
    """Gather an episode from its log, in one pass; the events are not held.

    Raises:
        ValueError: The log has no start or no end, or is one that no episode can have written (``Unsound``).
    """
    events = iter(log)
    start = next(events, None)
    if not isinstance(start, EpisodeStart):
        raise ValueError("an unfinished log has no metrics: it begins with its episode_start")
    check_start(start)
    columns = _Columns(start)
    _take(columns, events)
    if columns.end is None:
        raise ValueError("an unfinished log has no metrics: it ends with its episode_end")
    check(start, columns.kept, columns.step)
    for kind in (GoalChange, Commit, PlanStart, AttemptMade):
        for event in columns.kept[kind]:
            columns.goal(event.goal)
    rows = np.frombuffer(columns.acts, np.int32).reshape(-1, 10).T
    step, agent, spent, goal, plan, ready, blocker, place, aim, flags = (row.astype(np.int64) for row in rows)
    _check_acts(columns, step, agent)
    told, stays = _table(columns.deliveries, 4), _table(columns.stays, 5)
    *records, number = _table(columns.sights, 4)
    seq, when, who = (np.repeat(column, number) for column in records)
    change = np.frombuffer(columns.changes, np.int64)
    return Episode(
        start=start,
        end=columns.end,
        team=start.team,
        goals=tuple(columns.goals),
        ticks=_table(columns.ticks, 1)[0],
        reward=columns.reward,
        acts=Acts(
            step,
            agent,
            spent,
            goal,
            plan,
            ready,
            blocker,
            place,
            aim,
            *((flags & bit) > 0 for bit in (_LEGAL, _EFFECT, _MOVED, _FAILED)),
        ),
        deliveries=Delivery(*told),
        stays=Stays(*stays),
        facts=tuple(columns.facts),
        sights=Sights(seq, when, who, change >> 1, (change & 1) > 0),
        failed=columns.failed,
        kept=columns.kept,
    )


def _table(numbers: array[int], width: int) -> list[Ints]:
    """Return the columns of a table that was filled row by row."""
    return [np.ascontiguousarray(column) for column in np.frombuffer(numbers, np.int64).reshape(-1, width).T]
