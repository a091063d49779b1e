"""From an episode's log to what the world model learns of it: ΔG_k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from math import fsum
from typing import Literal, NamedTuple, cast

import msgspec

from teamworld.language import Binding, Entity, Measures, lift, parse_entity, parse_plan, prototype
from teamworld.memory.contract import Communication, Identity, MemoryDelta, PlanInstance, TaskKey, TaskOutcome
from teamworld.memory.plan_statistics import PARTS
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

#: How plans end that another one replaces.
_REPLACED = ("superseded", "interrupted")


class _Started(NamedTuple):
    """A plan that runs, and who was committed when it was taken up."""

    event: PlanStart
    team: int
    helped: dict[str, float]
    """Progress of other goals in steps in which its agent took part, as shares of them."""
    progress: list[float]
    """Progress of its own goal: in all, and in steps in which its agent took part, as shares of the whole."""


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
    get the same instances, because only commitments, plans, plan ends and changes of goals count. Whether a goal was
    done after all is known at the end alone: ``delta`` adds it.

    A plan has credit for what it did for other goals than its own: their progress in steps in which its agent took
    part, and the share by which the agents that open goals need at once became fewer while it ran (its own goal's
    too: a block that was pushed aside makes the next one lighter to move). What others did for its goal is not its
    progress: a goal that they did alone, or that was done by
    itself, while it ran says nothing of it.

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
        self._says_who = False  # without changes of goals in it, a log does not say whose progress it is

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
                team = self._team(event.agent, event.goal)
                self._running[event.agent, event.plan] = _Started(event, team, {}, [0.0, 0.0])
            case GoalChange() if event.delta > 0:
                self._says_who = True
                for (agent, _), running in self._running.items():
                    _count_progress(running, agent, event)
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
        total, own = started.progress
        part = own / total if total else float(not self._says_who)
        success = end.goal_done and part > 0
        helped = dict(started.helped)
        for other, (before, after) in ({} if end.eased is msgspec.UNSET else end.eased).items():
            helped[other] = helped.get(other, 0.0) + (before - after) / before
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
            success=success,
            truncated=end.status == "unfinished",
            units=units,
            progress=round(min(units, max(0, units - left)) * part),
            team=started.team,
            communication=self._communication,
            cause="" if success else _word(end.cause),
            cut=not success and (end.goal_done or (end.status in _REPLACED and end.cause != "unable")),
            situation=start.label or "",
            quorum=max(1, start.quorum),
            credit=min(PARTS, round(fsum(helped.values()) * PARTS)),
            helped=tuple(sorted(helped)),
        )


def _count_progress(running: _Started, agent: str, change: GoalChange) -> None:
    takes_part = agent in change.participants
    if change.goal == running.event.goal:
        running.progress[0] += change.delta
        running.progress[1] += change.delta if takes_part else 0.0
    elif takes_part:
        running.helped[change.goal] = running.helped.get(change.goal, 0.0) + change.delta


def _word(cause: str) -> str:
    """Return a cause in one word; an explanation may follow it."""
    return cause.partition(":")[0].strip()


class _Goals:
    """What the log says about goals: which there are, and which were done, when and in what order."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._tasks: dict[str, TaskKey] = {}
        self._done: dict[str, int] = {}
        self._fresh: list[str] = []  # done in the step that is being read
        self._took_part: dict[tuple[str, str], int] = {}  # the last step in which an agent did some of a goal's work

    def see(self, event: Event) -> None:
        match event:
            case EpisodeStart():
                for goal in event.goals:
                    self._tasks[goal.id] = task_key(goal.id, goal.label, self._identity)
            case PlanStart() if event.goal is not None:
                # A goal that opened on the way has its class from the first plan made for it.
                self._tasks.setdefault(event.goal, task_key(event.goal, event.label, self._identity))
            case GoalChange(event="done" | "progress"):
                self._took_part.update({(event.goal, agent): event.tick for agent in event.participants})
                if event.event == "done":
                    self._fresh.append(event.goal)
            case StepDone():
                for done in self._fresh:
                    self._done.setdefault(done, event.tick + event.ticks)
                self._fresh.clear()
            case GoalChange(event="opened" | "lost"):
                self._done.pop(event.goal, None)  # undone again: what holds at the end counts

    def done_by(self, instance: PlanInstance) -> int | None:
        """Return the step by which an instance's goal was done after all, where its agent went on with it."""
        done = self._done.get(instance.goal)
        went_on = self._took_part.get((instance.goal, instance.agent), -1) >= instance.end
        is_over = instance.success or instance.cut or instance.is_preparation or not went_on
        return None if is_over else done

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
    after_all = tuple(msgspec.structs.replace(instance, done_by=goals.done_by(instance)) for instance in instances)
    return MemoryDelta(
        episode=start.episode, completed=completed, ticks=ticks, tasks=goals.outcomes(), instances=after_all
    )
