"""Reads a log into a table of events, in one pass that holds no event longer than it must."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from teamworld.metrics.tables.event_table import (
    CLASSES,
    NOBODY,
    ActColumns,
    CallRecord,
    DecisionColumns,
    DeliveryColumns,
    EventTable,
    FactColumns,
    Ints,
    spent_on,
)
from teamworld.metrics.tables.validation import HEAVIEST, MANY, Unsound, check_records, check_start, refusal
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
_EFFECT, _MOVED = 1, 2
_PACKED = struct.Struct("9i").pack
#: Records of which all are kept; there are few of them, beside what agents do.
_KEPT = (
    *(AttemptMade, Believe, Commit, GoalChange, AgentLeft, LlmCall, MessageSent),
    *(PlanEnd, PlanStart, Predict, QuestionAsked, Release, ViewsShared),
)


def tabulate(log: Iterable[Event], calls: Sequence[CallRecord] | None = None) -> EventTable:
    """Read a log into a table, in one pass; the events are not held.

    Args:
        log: The events of a finished episode.
        calls: Its calls of language models on record; None where there is no record.

    Raises:
        ValueError: The log has no start or no end, or is one that no episode can have written (``Unsound``).
    """
    events = iter(log)
    start = next(events, None)
    if not isinstance(start, EpisodeStart):
        raise ValueError("an unfinished log has no metrics: it begins with its episode_start")
    check_start(start)
    reader = _Reader(start)
    reader.read(events)
    if reader.end is None:
        raise ValueError("an unfinished log has no metrics: it ends with its episode_end")
    check_records(start, reader.kept, reader.step)
    return reader.table(calls)


class _Numbering(dict[str | None, int]):
    """Numbers names from 0, in the order in which they come up; None is ``NOBODY``."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__({None: NOBODY})
        for name in names:
            self[name]

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self) - 1
        return number

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self if name is not None)


class _Reader:
    """Takes events one by one."""

    def __init__(self, start: EpisodeStart) -> None:
        self.start = start
        self.end: EpisodeEnd | None = None
        self.who = {agent: at for at, agent in enumerate(start.team)}
        self.goals = _Numbering(goal.id for goal in start.goals)
        self.places, self.facts = _Numbering(), _Numbering()
        self.acts = bytearray()
        """Packed: filling an array takes five times as long."""
        self.deliveries, self.decisions, self.sights = array("q"), array("q"), array("q")
        self.changes = array("q")
        """One number for each change of a fact: twice the fact, and one more for what begins."""
        self.failed: list[ActionStep] = []
        self.skipped = 0
        self.ticks = array("q")
        self.step = self.tick = 0
        """Steps and ticks of the world so far."""
        self.reward: float | None = None
        self.kept: dict[type[Any], list[Any]] = {kind: [] for kind in _KEPT}

    def read(self, events: Iterable[Event]) -> None:
        """Take all events, each of which says in which step it happened."""
        takers = self._takers()
        event: Event = self.start
        try:
            for event in events:
                if event.step != self.step or event.tick != self.tick:
                    stands = f"it stands in step {self.step}, tick {self.tick}"
                    raise refusal(event, f"says step {event.step}, tick {event.tick}: {stands}")
                takers[type(event)](event)
        except KeyError as error:
            raise refusal(event, f"names {error}, who is not in the team") from None
        except (OverflowError, struct.error):
            raise refusal(event, "has a number that is out of all bounds") from None

    def _takers(self) -> dict[type[Any], Callable[[Any], None]]:
        return {
            **{kind: records.append for kind, records in self.kept.items()},
            ActionStep: self._act,
            Deliver: self._deliver,
            StageEntered: self._stage,
            Truth: lambda event: self._sight(event, NOBODY, event.true, event.false),
            Observe: lambda event: self._sight(event, self.who[event.agent], event.seen, event.unseen),
            StepDone: self._step,
            EpisodeEnd: self._end,
            EpisodeStart: _refuse_start,
            DrawingState: lambda event: None,
        }

    def _act(self, act: ActionStep) -> None:
        if not act.spent:
            self.skipped += 1
            return
        if act.status == "failed" and self.start.log_level != "play":
            self.failed.append(act)
        self.acts += _PACKED(
            act.step,
            self.who[act.agent],
            _CODES[spent_on(act)],
            self.goals[act.goal],
            NOBODY if act.plan is None else act.plan,
            NOBODY if act.blocker is None else self.who.get(act.blocker, NOBODY),
            self.places[act.place],
            self.places[act.aim],
            _EFFECT * act.effect + _MOVED * act.moved,
        )

    def _deliver(self, event: Deliver) -> None:
        if not event.dropped:
            self.deliveries.extend((event.message, self.who[event.agent], event.step, event.seq))

    def _stage(self, event: StageEntered) -> None:
        agent = self.who[event.agent]
        if event.stage == "W":
            self.decisions.extend((agent, event.step, event.seq))

    def _sight(self, event: Truth | Observe, agent: int, on: Sequence[str], off: Sequence[str]) -> None:
        self.sights.extend((event.seq, event.step, agent, len(on) + len(off)))
        self.changes.extend([2 * self.facts[fact] + 1 for fact in on])
        self.changes.extend([2 * self.facts[fact] for fact in off])

    def _step(self, event: StepDone) -> None:
        if not 1 <= event.ticks < MANY:
            raise refusal(event, f"has {event.ticks} ticks: expected 1 to {MANY - 1}")
        self.ticks.append(event.ticks)
        self.step += 1
        self.tick += event.ticks
        for name, value in event.score.items():
            if not -HEAVIEST <= value <= HEAVIEST:
                raise refusal(event, f"has the score {value}: expected a number up to {HEAVIEST:g}")
            if name == "reward":
                self.reward = (self.reward or 0.0) + value

    def _end(self, event: EpisodeEnd) -> None:
        self.end = event

    def table(self, calls: Sequence[CallRecord] | None) -> EventTable:
        """Return the table of what was read."""
        assert self.end is not None
        for kind in (GoalChange, Commit, PlanStart, AttemptMade):
            for event in self.kept[kind]:
                self.goals[event.goal]
        rows = np.frombuffer(self.acts, np.int32).reshape(-1, 9).T
        step, agent, spent, goal, plan, blocker, place, aim, flags = (row.astype(np.int64) for row in rows)
        is_effect, is_moved = (flags & _EFFECT) > 0, (flags & _MOVED) > 0
        acts = ActColumns(step, agent, spent, goal, plan, blocker, place, aim, is_effect, is_moved)
        self._check_acts(acts)
        *records, number = _columns(self.sights, 4)
        seq, when, who = (np.repeat(column, number) for column in records)
        change = np.frombuffer(self.changes, np.int64)
        sights = FactColumns(seq, when, who, change >> 1, (change & 1) > 0)
        return EventTable(
            start=self.start,
            end=self.end,
            goals=self.goals.names(),
            ticks=_columns(self.ticks, 1)[0],
            reward=self.reward,
            acts=acts,
            skipped=self.skipped,
            deliveries=DeliveryColumns(*_columns(self.deliveries, 4)),
            decisions=DecisionColumns(*_columns(self.decisions, 3)),
            facts=self.facts.names(),
            sights=sights,
            failed=self.failed,
            kept=self.kept,
            calls=calls,
        )

    def _check_acts(self, acts: ActColumns) -> None:
        """Check that every act belongs to a step of the world, and that no agent acts twice in one."""
        team = self.start.team
        if len(acts.step) and acts.step[-1] >= self.step:
            raise Unsound(f"an impossible log: {team[acts.agent[-1]]} acts after the last of {self.step} steps")
        often = np.bincount(acts.step * len(team) + acts.agent)
        if len(often) and often.max() > 1:
            step, agent = divmod(int(often.argmax()), len(team))
            raise Unsound(f"an impossible log: {team[agent]} acts twice in step {step}")


def _refuse_start(event: EpisodeStart) -> None:
    raise refusal(event, "begins the episode again")


def _columns(numbers: array[int], width: int) -> list[Ints]:
    """Return the columns of a table that was filled row by row."""
    return [np.ascontiguousarray(column) for column in np.frombuffer(numbers, np.int64).reshape(-1, width).T]
