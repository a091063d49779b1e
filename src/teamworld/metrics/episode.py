"""A finished episode as columns: what metrics read; ``gathering`` makes it from a log.

A million events fit into some hundred megabytes: what every agent does in every step stands in typed arrays, and of the
rest only what a metric reads is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from teamworld.record import (
    ActionStep,
    Commit,
    EpisodeEnd,
    EpisodeStart,
    GoalChange,
    Release,
)

#: What an agent's step was spent on (metrics spec, section 3). ``think`` is for real-time runs.
StepClass: TypeAlias = Literal["invalid", "blocked", "talk", "work", "sync", "think", "move", "idle"]
CLASSES: tuple[StepClass, ...] = get_args(StepClass)
NOBODY = -1
"""In the place of an agent, a goal or a plan where there is none."""

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
    if act.ready is not None and act.ready == act.goal:  # in place for what it works on
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
    reward: float | None
    """The world's own score: its changes (``reward`` of a step's score) summed; None where no step tells of any."""
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

    @property
    def total(self) -> float:
        """Weight of all goals that were announced at the start."""
        return fsum(self.weights)

    @property
    def solved(self) -> bool | None:
        """Whether all goals were done, those that came up later too; None without goals."""
        goals = {*(goal.id for goal in self.start.goals), *(change.goal for change in self.all(GoalChange))}
        return goals <= self.done.keys() if goals else None

    @property
    def reached(self) -> float:
        """Weight of the goals that were done."""
        return fsum(self.weights[self.index[goal]] for goal in self.done)

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
