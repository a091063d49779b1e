"""The table of events that every metric and failure label reads: an episode's log, and its calls on record.

A million events fit into some hundred megabytes: what agents do in every step stands in columns, and of the rest only
the records that a metric reads are kept. ``log_reader.tabulate`` makes the table of a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from math import fsum
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics import headline
from teamworld.record import (
    ActionStep,
    AgentLeft,
    Commit,
    EpisodeEnd,
    EpisodeStart,
    GoalChange,
    PlanEnd,
    PlanStart,
    Release,
)

#: What an agent's step was spent on: see ``spent_on``. ``sync`` is waiting in place.
StepClass: TypeAlias = Literal["invalid", "blocked", "talk", "work", "sync", "move", "idle"]
CLASSES: tuple[StepClass, ...] = get_args(StepClass)
NOBODY: Final = -1
"""In the place of an agent, a goal or a plan where there is none."""

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Kind = TypeVar("Kind")
Result = TypeVar("Result")


def spent_on(act: ActionStep) -> StepClass:
    """Return what an agent's step was spent on; the first class that fits counts."""
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


class CallRow(NamedTuple):
    """A call of a language model on record, without its request and text."""

    cell: str
    episode: int
    respondent: str
    purpose: str
    number: int
    """Which of these questions, from 1."""
    attempt: int
    model: str
    served: str | None
    finish: Literal["stop", "length", "refused"] | None
    """None where no completion came."""
    prompt_tokens: int | None
    cached_tokens: int | None
    written_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    seconds: float
    """From the first sending to the answer."""
    usd: float | None
    """Its price; None where none is known."""
    faults: int
    """Things that went wrong on the way."""
    cached: bool
    """It came from a cache of earlier runs, at no cost."""
    lost_prompt_tokens: int = 0
    """Of tries that brought no answer, as their provider counted them; not in the counts above."""
    lost_output_tokens: int = 0
    uncounted_tries: int = 0
    """Tries that brought no answer and took tokens that nobody counted."""


class ActColumns(NamedTuple):
    """What agents did: one row for each agent and step, in the order of the log. Skipped actions are left out."""

    step: Ints
    agent: Ints
    """Index in ``EventTable.team``."""
    spent: Ints
    """Index in ``CLASSES``."""
    goal: Ints
    """Index in ``EventTable.goals``; ``NOBODY`` where the step served none."""
    plan: Ints
    """Number of the plan; ``NOBODY`` without one."""
    blocker: Ints
    """Index of the agent in the way; ``NOBODY`` for none, and for a thing."""
    place: Ints
    """Number of the place where the agent stood when the step began; ``NOBODY`` where the log has no places."""
    aim: Ints
    """Number of the place that the agent tried to enter; ``NOBODY`` where it tried none."""
    search: Ints
    """Number of what the agent was searching; ``NOBODY`` where it searched nothing."""
    effect: Flags
    moved: Flags
    done: Flags
    """The action ended with this step, as it should."""

    def in_class(self, name: StepClass) -> Flags:
        """Return which rows were spent on a class."""
        return np.asarray(self.spent == CLASSES.index(name))


class Commitment(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class EventTable:
    """A finished episode; metrics read it and never change it."""

    start: EpisodeStart
    end: EpisodeEnd
    goals: tuple[str, ...]
    """Ids, those that were announced at the start first."""
    ticks: Ints
    """Of each step."""
    reward: float | None
    """The world's own score: its changes (``reward`` of a step's score) summed; None where no step tells of any."""
    score: Mapping[str, float]
    """The world's other scores and counts as its last step tells them."""
    acts: ActColumns
    skipped: int
    """How many actions could not start and were passed over at no cost; they are no agent-steps."""
    failed: list[ActionStep]
    """Steps in which an action failed; kept at the log level ``beliefs`` alone."""
    kept: dict[type[Any], list[Any]] = field(repr=False)
    """The records of which all are kept, by kind, in order."""
    calls: Sequence[CallRow] | None = None
    """Its calls of language models on record; None where there is no record: then seconds and dollars are null."""
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What ``primitive`` functions have returned."""

    @property
    def team(self) -> tuple[str, ...]:
        """The agents."""
        return self.start.team

    @property
    def steps(self) -> int:
        """Steps of the world executed, T."""
        return len(self.ticks)

    @property
    def last(self) -> int:
        """The last step; 0 where none was made."""
        return max(0, self.steps - 1)

    @property
    def forgets(self) -> bool:
        """Whether what was seen can come to be unseen again, as the world's facts say."""
        return any(relation.predicate == "UNSEEN" for relation in self.start.relations)

    @property
    def has_beliefs(self) -> bool:
        """Whether the log also says what is true, perceived and believed."""
        return self.start.log_level != "play"

    def all(self, *kinds: type[Kind]) -> list[Kind]:
        """Return the records of some kinds, in order."""
        if len(kinds) == 1:
            return self.kept.get(kinds[0], [])
        events: list[Any] = [event for kind in kinds for event in self.all(kind)]
        return sorted(events, key=lambda event: event.seq)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Of the goals, w_g; 0 for one that was not announced at the start."""
        known = {goal.id: goal.weight for goal in self.start.goals}
        return np.array([known.get(goal, 0.0) for goal in self.goals], np.float64)

    @property
    def is_solved(self) -> bool | None:
        """Whether all goals were done, as the level asks; None without goals, and of levels that ask for none."""
        return self.is_all_done if headline.has_success(self.start) else None

    @property
    def is_all_done(self) -> bool | None:
        """Whether all goals were done, later ones too, by the team or by themselves; None without goals."""
        goals = {*(goal.id for goal in self.start.goals), *(change.goal for change in self.all(GoalChange))}
        return goals <= self.done.keys() if goals else None

    @property
    def reached(self) -> float:
        """Weight of the goals that were done."""
        return fsum(self.weights[self.index[goal]] for goal in self.done)

    @cached_property
    def quorum(self) -> Ints:
        """Of the goals at the start, k_g; 0 of others."""
        known = {goal.id: goal.quorum for goal in self.start.goals}
        return np.array([known.get(goal, 0) for goal in self.goals], np.int64)

    @cached_property
    def takes(self) -> Ints:
        """Of the goals at the start, how many agents can be of use: k_g, or the places if more; 0 of others."""
        known = {goal.id: max(goal.quorum, goal.places) for goal in self.start.goals}
        return np.array([known.get(goal, 0) for goal in self.goals], np.int64)

    @cached_property
    def has_place_for_each_unit(self) -> Flags:
        """Of the goals at the start, whether the places count what is to be fetched: one unit, one agent of use."""
        known = {goal.id: goal.units == goal.places for goal in self.start.goals}
        return np.array([known.get(goal, False) for goal in self.goals], np.bool_)

    @cached_property
    def things(self) -> dict[str | None, str | None]:
        """For each goal that was announced at the start, the thing that it is about."""
        return {goal.id: goal.thing for goal in self.start.goals}

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
    def has_left(self) -> bool:
        """Whether the team left before the end: it quit, or every agent was lost."""
        return self.end.reason == "quit" or self.is_lost

    @cached_property
    def is_lost(self) -> bool:
        """Whether every agent was lost; logs of earlier versions do not give it as the reason of their end."""
        return len({event.agent for event in self.all(AgentLeft)}) == len(self.team)

    @cached_property
    def endings(self) -> dict[int, PlanEnd]:
        """How each plan ended, by number."""
        return {ending.plan: ending for ending in self.all(PlanEnd)}

    @cached_property
    def won(self) -> set[int]:
        """The plans that ended with success, by number."""
        return {ending.plan for ending in self.all(PlanEnd) if ending.status == "success"}

    @cached_property
    def carried_out(self) -> set[int]:
        """The plans of which every action was done, or whose goal was, by number: an open goal is no failure."""
        return self.won | {ending.plan for ending in self.all(PlanEnd) if ending.cause == "goal_open"}

    @cached_property
    def plans(self) -> dict[int | None, PlanStart]:
        """The plans by number."""
        return {plan.plan: plan for plan in self.all(PlanStart)}

    @cached_property
    def plans_of(self) -> dict[str, list[PlanStart]]:
        """The plans of each agent that took up any."""
        plans: dict[str, list[PlanStart]] = {}
        for plan in self.all(PlanStart):
            plans.setdefault(plan.agent, []).append(plan)
        return plans

    @cached_property
    def commitments(self) -> tuple[Commitment, ...]:
        """Commitments in the order in which they were made; one made again to the same goal begins anew."""
        held: dict[tuple[str, str], Commit] = {}
        ended: list[Commitment] = []

        def end(commit: Commit, step: int, cause: str | None) -> None:
            ended.append(
                Commitment(self.who[commit.agent], self.index[commit.goal], commit.step, step, commit.seq, cause)
            )

        events: list[Commit | Release] = self.all(Commit, Release)
        for event in events:
            before = held.pop((event.agent, event.goal), None)
            if before is not None:
                end(before, event.step, event.cause if isinstance(event, Release) else None)
            if isinstance(event, Commit):
                held[event.agent, event.goal] = event
        for commit in held.values():
            end(commit, self.steps, None)
        return tuple(sorted(ended, key=lambda commitment: commitment.seq))

    @cached_property
    def row(self) -> Ints:
        """For each step and agent, its row of ``acts``; ``NOBODY`` where it did nothing."""
        rows = np.full((self.steps, len(self.team)), NOBODY, np.int64)
        rows[self.acts.step, self.acts.agent] = np.arange(len(self.acts.step))
        return rows

    @cached_property
    def act_ticks(self) -> Ints:
        """Of each row of ``acts``, the ticks of its step: shares of steps are weighted by them."""
        return self.ticks[self.acts.step]

    @cached_property
    def clock(self) -> Ints:
        """Ticks gone at the beginning of each step and at the end: one more than there are steps."""
        return np.concatenate(([0], np.cumsum(self.ticks)))


def primitive(function: Callable[[EventTable], Result]) -> Callable[[EventTable], Result]:
    """Let a function that several metrics and labels are made of be worked out once for each episode."""

    @wraps(function)
    def remembered(table: EventTable) -> Result:
        if function not in table.memo:
            table.memo[function] = function(table)
        result: Result = table.memo[function]
        return result

    return remembered


def consecutive_runs(steps: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of consecutive numbers; the numbers are in order."""
    runs: list[tuple[int, int]] = []
    for step in steps:
        first = runs.pop()[0] if runs and step <= runs[-1][1] + 1 else step
        runs.append((first, step))
    return runs
