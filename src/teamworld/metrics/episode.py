"""A finished episode as columns: what metrics read, gathered from its log in one pass.

A million events fit into some hundred megabytes: what every agent does in every step stands in typed arrays, and of the
rest only what a metric reads is kept.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from teamworld.record import (
    ActionStep,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    EpisodeEnd,
    EpisodeStart,
    Event,
    Frame,
    GoalChange,
    Gone,
    LlmCall,
    MessageSent,
    Observe,
    PlanEnd,
    PlanStart,
    Predict,
    QuestionAsked,
    Release,
    Share,
    Stage,
    StepDone,
    Truth,
)

#: What an agent's step was spent on (metrics spec, section 3). ``think`` is for real-time runs.
StepClass: TypeAlias = Literal["invalid", "blocked", "talk", "work", "sync", "think", "move", "idle"]
CLASSES: tuple[StepClass, ...] = get_args(StepClass)
_CODES = {name: code for code, name in enumerate(CLASSES)}
NOBODY = -1
"""In the place of an agent, a goal or a plan where there is none."""

LEGAL, EFFECT, MOVED, FAILED = 1, 2, 4, 8

Ints: TypeAlias = NDArray[np.int64]
Kind = TypeVar("Kind")


def step_class(act: ActionStep) -> StepClass:
    """Return what an agent's step was spent on; the first that fits counts (metrics spec, section 3)."""
    if not act.legal:
        return "invalid"
    if act.blocker is not None and not act.moved and not act.effect:
        return "blocked"
    if act.verb == "talk":
        return "talk"
    if act.effect:
        return "work"
    if act.ready is not None:
        return "sync"
    return "move" if act.moved else "idle"


@dataclass(frozen=True)
class Acts:
    """What agents did: one row for each agent and step, in the order of the log. Actions passed over are left out."""

    step: Ints
    agent: Ints
    """Index in ``Episode.team``."""
    spent: Ints
    """Index in ``CLASSES``."""
    goal: Ints
    """Index in ``Episode.goals``; ``NOBODY`` where the step served none."""
    plan: Ints
    """Number of the plan; ``NOBODY`` without one."""
    ready: Ints
    """Index of the goal in whose place the agent stood, waiting for others."""
    blocker: Ints
    """Index of the agent in the way; ``NOBODY`` for none, and for a thing."""
    place: Ints
    """Number of the place where the agent stood when the step began; ``NOBODY`` where the log has no places."""
    aim: Ints
    """Number of the place that the agent tried to enter; ``NOBODY`` where it tried none."""
    legal: NDArray[np.bool_]
    effect: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    failed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True)
class Delivery:
    """Messages that reached somebody, one row for each recipient."""

    message: Ints
    agent: Ints
    step: Ints
    """Of the delivery."""
    seq: Ints


@dataclass(frozen=True)
class Stays:
    """Stages that agents entered, in the order of the log."""

    agent: Ints
    stage: Ints
    """Index in ``STAGES``."""
    step: Ints
    tick: Ints
    seq: Ints


@dataclass(frozen=True)
class Sights:
    """What came to be perceived or true and what no longer is, in the order of the log; the log level ``beliefs``."""

    seq: Ints
    step: Ints
    agent: Ints
    """Who perceives; ``NOBODY`` where it is about the truth."""
    fact: Ints
    """Index in ``Episode.facts``."""
    on: NDArray[np.bool_]
    """Whether it does from here on."""


STAGES = ("R", "W", "X", "I")


class Word(NamedTuple):
    """A commitment of an agent to a goal, from its first step to the one before ``end``."""

    agent: int
    goal: int
    first: int
    end: int
    """The number of steps where it held to the end of the episode."""
    seq: int
    """Of the ``commit``: who committed first has the lower one."""
    cause: str | None
    """Of its release; None where it was never released."""


@dataclass(frozen=True)
class Episode:
    """A finished episode; metrics read it and never change it."""

    start: EpisodeStart
    end: EpisodeEnd
    team: tuple[str, ...]
    goals: tuple[str, ...]
    """Ids, those that were announced at the start first."""
    ticks: Ints
    """Of each step."""
    score: dict[str, float]
    """The world's own score, summed over steps."""
    acts: Acts
    deliveries: Delivery
    stays: Stays
    facts: tuple[str, ...]
    """Whatever was perceived or true, in written form."""
    sights: Sights
    failed: list[ActionStep]
    """Steps in which an action failed; kept at the log level ``beliefs`` alone."""
    kept: dict[type[Any], list[Any]] = field(repr=False)
    """All events of the kinds of which all is read, in order."""

    @property
    def steps(self) -> int:
        """Steps of the world executed, T."""
        return len(self.ticks)

    @property
    def horizon(self) -> int:
        """T_max, in ticks."""
        return self.start.horizon

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of one kind, in order."""
        return self.kept[kind]

    @property
    def passed_over(self) -> list[ActionStep]:
        """Actions that could not start and were passed over at no cost, in order; they are no agent-steps."""
        return self.kept[ActionStep]

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Of the goals, w_g; 0 for one that was not announced at the start."""
        known = {goal.id: goal.weight for goal in self.start.goals}
        return np.array([known.get(goal, 0.0) for goal in self.goals], np.float64)

    @cached_property
    def quorum(self) -> Ints:
        """Of the goals at the start, k_g."""
        known = {goal.id: goal.quorum for goal in self.start.goals}
        return np.array([known.get(goal, 0) for goal in self.goals], np.int64)

    @cached_property
    def index(self) -> dict[str, int]:
        """Of each goal."""
        return {goal: at for at, goal in enumerate(self.goals)}

    @cached_property
    def who(self) -> dict[str, int]:
        """Index of each agent."""
        return {agent: at for at, agent in enumerate(self.team)}

    @cached_property
    def done(self) -> dict[str, int]:
        """For each goal that was done, c_g: the step in which it was, counting from 0."""
        return {change.goal: change.step for change in self.all(GoalChange) if change.event == "done"}

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Commitments in the order in which they were made; one made again to the same goal begins anew."""
        held: dict[tuple[str, str], Commit] = {}
        found: list[Word] = []

        def end(word: Commit, step: int, cause: str | None) -> None:
            found.append(Word(self.who[word.agent], self.index[word.goal], word.step, step, word.seq, cause))

        events: list[Commit | Release] = [*self.all(Commit), *self.all(Release)]
        for event in sorted(events, key=lambda event: event.seq):
            word = held.pop((event.agent, event.goal), None)
            if word is not None:
                end(word, event.step, event.cause if isinstance(event, Release) else None)
            if isinstance(event, Commit):
                held[event.agent, event.goal] = event
        for word in held.values():
            end(word, self.steps, None)
        return tuple(sorted(found, key=lambda word: word.seq))

    @cached_property
    def row(self) -> Ints:
        """For each step and agent, its row of ``acts``; ``NOBODY`` where it did nothing."""
        found = np.full((self.steps, len(self.team)), NOBODY, np.int64)
        found[self.acts.step, self.acts.agent] = np.arange(len(self.acts))
        return found

    @cached_property
    def clock(self) -> Ints:
        """Ticks gone at the beginning of each step and at the end: one more than there are steps."""
        return np.concatenate(([0], np.cumsum(self.ticks)))


_PACKED = struct.Struct("10i").pack

#: Events of which all is kept; there are few of them, beside what agents do.
_KEPT = (
    AttemptMade,
    Believe,
    Commit,
    GoalChange,
    Gone,
    LlmCall,
    MessageSent,
    PlanEnd,
    PlanStart,
    Predict,
    QuestionAsked,
    Release,
    Share,
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
        self.score: dict[str, float] = {}
        self.kept: dict[type[Any], list[Any]] = {kind: [] for kind in (*_KEPT, ActionStep)}

    def takers(self) -> dict[type[Any], Callable[[Any], None]]:
        """Return what takes each kind of event."""
        return {
            **{kind: found.append for kind, found in self.kept.items()},
            ActionStep: self._act,
            Deliver: self._deliver,
            Stage: self._stage,
            Truth: lambda event: self._sight(event, NOBODY, event.true, event.false),
            Observe: lambda event: self._sight(event, self.who[event.agent], event.seen, event.unseen),
            StepDone: self._step,
            EpisodeEnd: self._end,
            EpisodeStart: lambda event: None,
            Frame: lambda event: None,
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
            LEGAL * act.legal + EFFECT * act.effect + MOVED * act.moved + FAILED * (act.status == "failed"),
        )

    def goal(self, goal: str | None) -> int:
        """Return the index of a goal, that of one which was not announced at the start too."""
        if goal is not None and goal not in self.goals:
            self.goals[goal] = self.goals_or_none[goal] = len(self.goals)
        return self.goals_or_none[goal]

    def _deliver(self, event: Deliver) -> None:
        if not event.dropped:
            self.deliveries.extend((event.message, self.who[event.agent], event.step, event.seq))

    def _stage(self, event: Stage) -> None:
        self.stays.extend((self.who[event.agent], STAGES.index(event.stage), event.step, event.tick, event.seq))

    def _sight(self, event: Truth | Observe, agent: int, on: Sequence[str], off: Sequence[str]) -> None:
        facts, changes = self.facts, self.changes
        self.sights.extend((event.seq, event.step, agent, len(on) + len(off)))
        for which, now in ((on, 1), (off, 0)):
            changes.extend([2 * facts.setdefault(fact, len(facts)) + now for fact in which])

    def _step(self, event: StepDone) -> None:
        self.ticks.append(event.ticks)
        for name, value in event.score.items():
            self.score[name] = self.score.get(name, 0.0) + value

    def _end(self, event: EpisodeEnd) -> None:
        self.end = event


def gather(log: Iterable[Event]) -> Episode:
    """Gather an episode from its log, in one pass; the events are not held.

    Raises:
        ValueError: The log has no start or no end.
    """
    events = iter(log)
    start = next(events, None)
    if not isinstance(start, EpisodeStart):
        raise ValueError("a log begins with its episode_start")
    columns = _Columns(start)
    takers = columns.takers()
    for event in events:
        takers[type(event)](event)
    if columns.end is None:
        raise ValueError("an unfinished log has no metrics")
    for kind in (GoalChange, Commit, PlanStart, AttemptMade):
        for event in columns.kept[kind]:
            columns.goal(event.goal)
    rows = np.frombuffer(columns.acts, np.int32).reshape(-1, 10).T
    step, agent, spent, goal, plan, ready, blocker, place, aim, flags = (row.astype(np.int64) for row in rows)
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
        score=columns.score,
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
            *((flags & bit) > 0 for bit in (LEGAL, EFFECT, MOVED, FAILED)),
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
