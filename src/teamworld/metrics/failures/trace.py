"""The log of an episode, laid out by step for the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

from teamworld.language import Action, AgentId, Term, parse_term
from teamworld.metrics.episode import Episode, StepClass, step_class
from teamworld.metrics.event_tables import gather
from teamworld.metrics.knowledge import Knowledge
from teamworld.record import (
    ActionStep,
    AttemptMade,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    PlanEnd,
    PlanStart,
    StepDone,
)
from teamworld.worlds.contract import Attempt, Constraint, Outcome, SkippedAction, Transition

Kind = TypeVar("Kind", bound=Event)
#: The order in which the first unmet constraint is named (metrics spec D3).
_ORDER: tuple[Constraint, ...] = ("dependency", "capability", "participation", "spatial", "temporal")


@dataclass(frozen=True)
class Trace:
    """A finished episode; rules read it and never change it."""

    events: Sequence[Event]
    start: EpisodeStart
    end: EpisodeEnd

    @staticmethod
    def of(log: Iterable[Event]) -> Trace:
        """Lay out a log.

        Raises:
            ValueError: The log has no start or no end.
        """
        events = tuple(log)
        if not events or not isinstance(events[0], EpisodeStart) or not isinstance(events[-1], EpisodeEnd):
            raise ValueError("an unfinished log has no failure labels")
        return Trace(events, events[0], events[-1])

    def all(self, kind: type[Kind]) -> Sequence[Kind]:
        """Return the records of one kind, in order."""
        return cast("Sequence[Kind]", self._by_kind.get(cast("type[Event]", kind), ()))

    @cached_property
    def _by_kind(self) -> Mapping[type[Event], Sequence[Event]]:
        found: dict[type[Event], list[Event]] = {}
        for event in self.events:
            found.setdefault(type(event), []).append(event)
        return found

    @cached_property
    def steps(self) -> int:
        """Steps of the world executed."""
        return len(self.all(StepDone))

    @property
    def last(self) -> int:
        """The last step; 0 where none was made."""
        return max(0, self.steps - 1)

    @cached_property
    def acts(self) -> Sequence[Mapping[AgentId, ActionStep]]:
        """For each step, what each living agent did in it."""
        found: list[dict[AgentId, ActionStep]] = [{} for _ in range(self.steps)]
        for act in self.all(ActionStep):
            if act.spent and act.step < self.steps:
                found[act.step][act.agent] = act
        return found

    @cached_property
    def plans(self) -> Mapping[int, PlanStart]:
        """The plans by number."""
        return {plan.plan: plan for plan in self.all(PlanStart)}

    @cached_property
    def endings(self) -> Mapping[int, PlanEnd]:
        """How each plan ended, by number."""
        return {ending.plan: ending for ending in self.all(PlanEnd)}

    @cached_property
    def done(self) -> Mapping[str, int]:
        """For each goal that was done, the step in which it was."""
        return {change.goal: change.step for change in self.all(GoalChange) if change.event == "done"}

    @cached_property
    def things(self) -> Mapping[str, str | None]:
        """For each goal, the thing that it is about."""
        return {goal.id: goal.thing for goal in self.start.goals}

    @property
    def tells_beliefs(self) -> bool:
        """Whether the log also says what is true, perceived and believed."""
        return self.start.log_level != "play"

    @cached_property
    def episode(self) -> Episode:
        """The log as metrics read it."""
        return gather(self.events)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What was true and what agents held; only of a log that ``tells_beliefs``."""
        return Knowledge(self.episode)

    @cached_property
    def classes(self) -> Mapping[AgentId, Sequence[StepClass]]:
        """For each agent, the class of each of its steps (metrics spec, section 3)."""
        found: dict[AgentId, list[StepClass]] = {agent: [] for agent in self.start.team}
        for step in self.acts:
            for agent, act in step.items():
                found[agent].append(step_class(act))
        return found

    def passages(self) -> list[Transition]:
        """Return the steps in the form that a world reads."""
        frames = {frame.step: frame.state for frame in self.all(DrawingState)}
        attempts: dict[int, list[Attempt]] = {}
        for made in self.all(AttemptMade):
            attempts.setdefault(made.step, []).append(_attempt(made))
        passed: dict[int, list[SkippedAction]] = {}
        for act in self.all(ActionStep):
            plan = self.plans.get(act.plan) if act.plan is not None else None
            if not act.spent and plan is not None:
                over = SkippedAction(act.agent, _action(act.verb, act.args), act.reason, plan.step)
                passed.setdefault(act.step, []).append(over)
        return [
            Transition(
                step,
                frames[step],
                frames[step + 1],
                {agent: _outcome(act) for agent, act in acts.items()},
                attempts.get(step, ()),
                passed.get(step, ()),
            )
            for step, acts in enumerate(self.acts)
            if step in frames and step + 1 in frames
        ]


def unmet(attempt: AttemptMade) -> Constraint | None:
    """Return the first unmet constraint of a joint act; None if all were met."""
    return next((name for name in _ORDER if attempt.have.get(name, 0) < attempt.need.get(name, 0)), None)


def runs(steps: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive numbers; the numbers are in order."""
    first = last = None
    for step in steps:
        if first is None or last is None or step > last + 1:
            if first is not None and last is not None:
                yield first, last
            first = step
        last = step
    if first is not None and last is not None:
        yield first, last


@lru_cache(maxsize=4096)
def _action(verb: str, args: tuple[str, ...]) -> Action:
    return Action(verb, tuple(map(_term, args)))


@lru_cache(maxsize=4096)
def _term(text: str) -> Term:
    return parse_term(text)


def _outcome(act: ActionStep) -> Outcome:
    return Outcome(
        _action(act.verb, act.args),
        act.status,
        act.reason,
        cast("Constraint | None", act.constraint),
        act.blocker,
        act.legal,
        act.moved,
        act.effect,
        act.primitives,
        ready=act.ready,
    )


def _attempt(made: AttemptMade) -> Attempt:
    def pairs(counts: Mapping[str, Any]) -> tuple[tuple[Constraint, int], ...]:
        return tuple((name, counts[name]) for name in _ORDER if name in counts)

    return Attempt(made.goal, made.k, pairs(made.have), pairs(made.need), made.participants, made.success)
