"""From a log to the table of its events, in one pass that holds no event longer than it must.

A log that was changed by hand or by a fault is refused, as its metrics would mean nothing.
"""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final

import numpy as np

from teamworld.metrics.event_table import CLASSES, NOBODY, ActColumns, CallRow, EventTable, spent_on
from teamworld.record import (
    ActionStep,
    AgentLeft,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    LlmCall,
    MessageSent,
    Observe,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    Release,
    StageEntered,
    StepDone,
    Truth,
)

#: Counts are below: a million of them still add up exactly.
MANY: Final = 2**31
#: A weight is 0 or between these, so that no sum and no ratio of weights leaves the floating-point numbers.
LIGHTEST, HEAVIEST = 1e-100, 1e100

_CODES = {name: code for code, name in enumerate(CLASSES)}
_EFFECT, _MOVED, _DONE = 1, 2, 4
_PACKED = struct.Struct("10i").pack
#: The verb of a search in worlds that declare none.
_SEARCH: Final = "search"
#: Records of which all are kept; there are few of them, beside what agents do.
_KEPT: Final = (
    *(AgentLeft, AttemptMade, Believe, Commit, GoalChange, LlmCall, MessageSent),
    *(PlanEnd, PlanStart, QuestionAsked, Release),
)
#: Those that are kept at the log level ``beliefs`` too.
_KEPT_WITH_BELIEFS: Final = (Deliver, Observe, StageEntered, Truth)


class Unsound(ValueError):
    """A log that no episode can have written."""


def refusal(event: Event, why: str) -> Unsound:
    """Return the error that refuses a log for one of its records."""
    return Unsound(f"an impossible log: record {event.seq} ({type(event).__struct_config__.tag}) {why}")


def tabulate(log: Iterable[Event], calls: Sequence[CallRow] | None = None) -> EventTable:
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
    _check_start(start)
    reader = _Reader(start)
    reader.read(events)
    return reader.table(calls)


def _numbering(names: Iterable[str] = ()) -> defaultdict[str | None, int]:
    """Return numbers of names from 0 on, in the order in which they come up; None is ``NOBODY``."""
    numbers: defaultdict[str | None, int] = defaultdict(count().__next__, {None: NOBODY})
    for name in names:
        numbers[name]
    return numbers


class _Reader:
    """Takes events one by one."""

    def __init__(self, start: EpisodeStart) -> None:
        self.start = start
        self.end: EpisodeEnd | None = None
        self.who = {agent: at for at, agent in enumerate(start.team)}
        self.goals, self.places = _numbering(goal.id for goal in start.goals), _numbering()
        self.searches, self.searched = frozenset(start.searches or (_SEARCH,)), _numbering()
        self.acts = bytearray()
        """Packed: filling an array takes five times as long."""
        self.failed: list[ActionStep] = []
        self.skipped = 0
        self.ticks = array("q")
        self.step = self.tick = 0
        """Steps and ticks of the world so far."""
        self.reward: float | None = None
        self.score: dict[str, float] = {}
        self.has_beliefs = start.log_level != "play"
        kinds = (*_KEPT, *_KEPT_WITH_BELIEFS) if self.has_beliefs else _KEPT
        self.kept: dict[type[Any], list[Any]] = {kind: [] for kind in kinds}

    def read(self, events: Iterable[Event]) -> None:
        """Take all events, each of which says in which step it happened."""
        takers: dict[type[Any], Callable[[Any], None]] = {
            **dict.fromkeys(self.kept, self._keep),
            ActionStep: self._act,
            StepDone: self._step,
            EpisodeEnd: self._end,
            EpisodeStart: self._refuse_start,
        }
        event: Event = self.start
        try:
            for event in events:
                if event.step != self.step or event.tick != self.tick:
                    stands = f"it stands in step {self.step}, tick {self.tick}"
                    raise refusal(event, f"says step {event.step}, tick {event.tick}: {stands}")
                if (take := takers.get(type(event))) is not None:
                    take(event)
        except KeyError as error:
            raise refusal(event, f"names {error}, who is not in the team") from None
        except (OverflowError, struct.error):
            raise refusal(event, "has a number that is out of all bounds") from None

    def _keep(self, event: Any) -> None:  # noqa: ANN401 - a record of any kind
        match event:
            case AttemptMade():
                self._known(event.participants)
            case GoalChange():
                self._known(event.participants)
                _check_bounds(event, "delta", event.delta, 1 - MANY)
            case PlanStart():
                self._known((event.agent,))
                _check_bounds(event, "plan", event.plan)
                _check_bounds(event, "quorum", event.quorum)
            case LlmCall():
                # Counts below 0 alone: a run must not break off over an odd count of its provider.
                for number in (event.prompt_tokens, event.cached_tokens, event.output_tokens, event.reasoning_tokens):
                    _check_bounds(event, "tokens", number, high=2**63)
            case Believe():
                self._known((event.agent,))
                for held in event.held:
                    if not 0.0 <= held.probability <= 1.0:
                        raise refusal(event, f"has probability {held.probability}: expected 0 to 1")
            case AgentLeft() | Commit() | Release() | PlanEnd() | Deliver() | Observe() | StageEntered():
                self._known((event.agent,))
        self.kept[type(event)].append(event)

    def _known(self, agents: Iterable[str]) -> None:
        for agent in agents:
            self.who[agent]

    def _act(self, act: ActionStep) -> None:
        if not act.spent:
            self.skipped += 1
            return
        if act.status == "failed" and self.has_beliefs:
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
            self.searched[act.args[0] if act.verb in self.searches and act.args else None],
            _EFFECT * act.effect + _MOVED * act.moved + _DONE * (act.status == "done"),
        )

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
        self.score = event.score

    def _end(self, event: EpisodeEnd) -> None:
        self.end = event

    def _refuse_start(self, event: EpisodeStart) -> None:
        raise refusal(event, "begins the episode again")

    def table(self, calls: Sequence[CallRow] | None) -> EventTable:
        """Return the table of what was read."""
        if self.end is None:
            raise ValueError("an unfinished log has no metrics: it ends with its episode_end")
        for kind in (GoalChange, Commit, PlanStart, AttemptMade):
            for event in self.kept[kind]:
                self.goals[event.goal]
        rows = np.frombuffer(self.acts, np.int32).reshape(-1, 10).T
        step, agent, spent, goal, plan, blocker, place, aim, search, flags = (row.astype(np.int64) for row in rows)
        is_effect, is_moved, is_done = ((flags & flag) > 0 for flag in (_EFFECT, _MOVED, _DONE))
        acts = ActColumns(step, agent, spent, goal, plan, blocker, place, aim, search, is_effect, is_moved, is_done)
        self._check_steps(acts)
        return EventTable(
            start=self.start,
            end=self.end,
            goals=tuple(goal for goal in self.goals if goal is not None),
            ticks=np.frombuffer(self.ticks, np.int64),
            reward=self.reward,
            score=self.score,
            acts=acts,
            skipped=self.skipped,
            failed=self.failed,
            kept=self.kept,
            calls=calls,
        )

    def _check_steps(self, acts: ActColumns) -> None:
        """Check that what happens belongs to a step of the world, and that no agent acts twice in one."""
        team = self.start.team
        if len(acts.step) and acts.step[-1] >= self.step:
            raise Unsound(f"an impossible log: {team[acts.agent[-1]]} acts after the last of {self.step} steps")
        for event in (*self.kept[AttemptMade][-1:], *self.kept[GoalChange][-1:]):
            if event.step >= self.step:
                raise refusal(event, f"stands after the last of {self.step} steps")
        often = np.bincount(acts.step * len(team) + acts.agent)
        if len(often) and often.max() > 1:
            step, agent = divmod(int(often.argmax()), len(team))
            raise Unsound(f"an impossible log: {team[agent]} acts twice in step {step}")


def _check_start(start: EpisodeStart) -> None:
    """Check that a log begins with a team, and goals that can be counted and weighed."""
    if not start.team:
        raise refusal(start, "names no agent")
    for what, names in (("an agent", start.team), ("a goal", [goal.id for goal in start.goals])):
        if len(set(names)) < len(names):
            raise refusal(start, f"names {what} twice")
    _check_bounds(start, "horizon", start.horizon)
    for goal in start.goals:
        if goal.weight and not LIGHTEST <= goal.weight <= HEAVIEST:
            bounds = f"{LIGHTEST:g} to {HEAVIEST:g}"
            raise refusal(start, f"gives goal {goal.id!r} the weight {goal.weight}: expected 0, or {bounds}")
        _check_bounds(start, f"quorum of goal {goal.id!r}", goal.quorum)
        _check_bounds(start, f"places of goal {goal.id!r}", goal.places)


def _check_bounds(event: Event, name: str, number: float | None, low: int = 0, high: int = MANY) -> None:
    if number is not None and not low <= number < high:
        raise refusal(event, f"has {name} {number}: expected {low} to {high - 1}")
