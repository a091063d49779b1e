"""From an episode's log to what the world model learns of it: ΔG_k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Literal, NamedTuple, cast

from teamworld.language import Binding, Entity, Measures, lift, parse_entity, parse_plan, prototype
from teamworld.memory.contract import Communication, Identity, MemoryDelta, PlanInstance, TaskKey, TaskOutcome
from teamworld.record import (
    Commit,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    PlanEnd,
    PlanStart,
    Release,
    StepDone,
)


class _Started(NamedTuple):
    """A plan that runs, and who was committed when it was taken up."""

    event: PlanStart
    team: int


def task_key(goal: str, label: str | None, identity: Identity) -> TaskKey:
    """Return the key of a goal's task over episodes.

    Args:
        goal: The goal's id.
        label: Its class; a goal without one keeps its id.
        identity: Whether layouts stay the same (``id``) or change (``class``).
    """
    return label if identity == "class" and label is not None else goal


class Tracker:
    """A fold over the events of an episode that yields an instance at every end of a plan.

    A method feeds it ``DecisionContext.news`` while the episode runs, ``delta`` feeds it the whole log; both
    get the same instances, because only commitments, plans and plan ends count.

    Args:
        identity: What a task is over episodes.
        episode: The number of the episode.
        communication: How the team came to its commitments.
        measures: Which parameters of actions count in a measure of the goal; None where the
            ``EpisodeStart`` will be seen, which holds them too.
    """

    def __init__(
        self, identity: Identity, episode: int, communication: Communication, measures: Measures | None = None
    ) -> None:
        self._identity = identity
        self._episode = episode
        self._communication = communication
        self._measures = measures
        self._committed: dict[str, str] = {}
        self._running: dict[tuple[str, int], _Started] = {}

    def see(self, event: Event) -> PlanInstance | None:
        """Take in the next event; return the instance if it ended a plan that served a goal; raises ``ValueError``."""
        match event:
            case EpisodeStart():
                self._measures = cast("Mapping[str, tuple[Literal['units', 'quorum'] | None, ...]]", event.measures)
            case Commit():
                # An agent works on one goal at a time: a commitment elsewhere replaces the one before,
                # also where its release was forgotten, or team sizes would grow without end.
                self._committed[event.agent] = event.goal
            case Release():
                if self._committed.get(event.agent) == event.goal:
                    del self._committed[event.agent]
            case PlanStart() if event.goal is not None:
                self._running[event.agent, event.plan] = _Started(event, self._team(event.agent, event.goal))
            case PlanEnd():
                started = self._running.pop((event.agent, event.plan), None)
                return self._instance(started, event) if started is not None else None
        return None

    def _team(self, agent: str, goal: str) -> int:
        """Agents committed to the goal, and the agent itself: by its plan it is one of them ."""
        return len({agent} | {other for other, bound in self._committed.items() if bound == goal})

    def _instance(self, started: _Started, end: PlanEnd) -> PlanInstance:
        if self._measures is None:
            raise ValueError("a Tracker needs the measures: pass them, or let it see the EpisodeStart")
        start = started.event
        goal = cast("str", start.goal)
        plan = parse_plan(start.text)
        thing: Entity | None = parse_entity(start.thing) if start.thing is not None else None
        units = max(0, start.units)
        left = 0 if end.goal_done else end.units_left
        return PlanInstance(
            episode=self._episode,
            agent=start.agent,
            task=task_key(goal, start.label, self._identity),
            goal=goal,
            plan=start.text,
            lifted=str(lift(plan, Binding(thing, start.units, start.quorum), self._measures)),
            prototype=prototype(plan),
            origin=start.origin,
            start=start.tick,
            end=end.tick,
            success=end.goal_done,
            truncated=end.status == "unfinished",
            units=units,
            progress=min(units, max(0, units - left)),
            team=started.team,
            communication=self._communication,
        )


class _Goals:
    """What the log says about goals: which there are, and which were done, when and in what order."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._tasks: dict[str, TaskKey] = {}
        self._done: dict[str, int] = {}
        self._fresh: list[str] = []  # done in the step that is being read

    def see(self, event: Event) -> None:
        match event:
            case EpisodeStart():
                for goal in event.goals:
                    self._tasks[goal.id] = task_key(goal.id, goal.label, self._identity)
            case PlanStart() if event.goal is not None:
                # A goal that opened on the way has its class from the first plan made for it.
                self._tasks.setdefault(event.goal, task_key(event.goal, event.label, self._identity))
            case GoalChange(event="done"):
                self._fresh.append(event.goal)
            case StepDone():
                for done in self._fresh:
                    self._done.setdefault(done, event.tick + event.ticks)
                self._fresh.clear()
            case GoalChange(event="opened" | "lost"):
                self._done.pop(event.goal, None)  # undone again: what holds at the end counts

    def outcomes(self) -> tuple[TaskOutcome, ...]:
        for goal in self._done:
            self._tasks.setdefault(goal, goal)
        order = {goal: rank for rank, goal in enumerate(self._done, start=1)}
        return tuple(
            TaskOutcome(task=task, goal=goal, success=goal in order, end=self._done.get(goal), order=order.get(goal))
            for goal, task in self._tasks.items()
        )


def delta(events: Iterable[Event], *, identity: Identity = "id", communication: Communication = "none") -> MemoryDelta:
    """Return what an episode adds to the world model; pure, from its log alone.

    A plan that the log leaves without an end yields no instance; the loop ends every plan.

    Args:
        events: The whole log, in order.
        identity: What a task is over episodes.
        communication: How the team came to its commitments.

    Raises:
        ValueError: The log does not begin with an ``EpisodeStart``.
    """
    log = iter(events)
    start = next(log, None)
    if not isinstance(start, EpisodeStart):
        raise ValueError("a log begins with an EpisodeStart")
    tracker, goals = Tracker(identity, start.episode, communication), _Goals(identity)
    instances: list[PlanInstance] = []
    ticks, completed = 0, False
    for event in chain([start], log):
        instance = tracker.see(event)
        if instance is not None:
            instances.append(instance)
        goals.see(event)
        if isinstance(event, StepDone):
            ticks += event.ticks
        elif isinstance(event, EpisodeEnd):
            completed = event.reason == "all_done"
    return MemoryDelta(
        episode=start.episode, completed=completed, ticks=ticks, tasks=goals.outcomes(), instances=tuple(instances)
    )
