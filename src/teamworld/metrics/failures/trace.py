"""The log of an episode, laid out by step for the rules, beside the table that metrics read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

from teamworld.language import Action, AgentId, Term, parse_term
from teamworld.metrics.joint_acts import CONSTRAINTS
from teamworld.metrics.tables.event_table import EventTable
from teamworld.metrics.tables.log_reader import tabulate
from teamworld.record import ActionStep, AttemptMade, DrawingState, EpisodeEnd, EpisodeStart, Event, PlanStart
from teamworld.worlds.contract import Attempt, Constraint, Outcome, SkippedAction, Transition

Kind = TypeVar("Kind", bound=Event)


@dataclass(frozen=True)
class Trace:
    """A finished episode; rules read it and never change it."""

    events: Sequence[Event]
    table: EventTable

    @staticmethod
    def of(log: Iterable[Event]) -> Trace:
        """Lay out a log.

        Raises:
            ValueError: The log has no start or no end.
        """
        events = tuple(log)
        if not events or not isinstance(events[0], EpisodeStart) or not isinstance(events[-1], EpisodeEnd):
            raise ValueError("an unfinished log has no failure labels")
        return Trace(events, tabulate(events))

    def all(self, kind: type[Kind]) -> Sequence[Kind]:
        """Return the records of one kind, in order; those that the table does not keep, too."""
        return cast("Sequence[Kind]", self._by_kind.get(cast("type[Event]", kind), ()))

    @cached_property
    def _by_kind(self) -> Mapping[type[Event], Sequence[Event]]:
        by_kind: dict[type[Event], list[Event]] = {}
        for event in self.events:
            by_kind.setdefault(type(event), []).append(event)
        return by_kind

    @cached_property
    def acts(self) -> Sequence[Mapping[AgentId, ActionStep]]:
        """For each step, what each living agent did in it."""
        acts: list[dict[AgentId, ActionStep]] = [{} for _ in range(self.table.steps)]
        for act in self.all(ActionStep):
            if act.spent:
                acts[act.step][act.agent] = act
        return acts

    @cached_property
    def plans(self) -> Mapping[int | None, PlanStart]:
        """The plans by number."""
        return {plan.plan: plan for plan in self.all(PlanStart)}

    def transitions(self) -> list[Transition]:
        """Return the steps in the form that a world reads."""
        frames = {frame.step: frame.state for frame in self.all(DrawingState)}
        attempts: dict[int, list[Attempt]] = {}
        for made in self.all(AttemptMade):
            attempts.setdefault(made.step, []).append(_attempt(made))
        skipped: dict[int, list[SkippedAction]] = {}
        for act in self.all(ActionStep):
            plan = self.plans.get(act.plan)
            if not act.spent and plan is not None:
                action = SkippedAction(act.agent, _action(act.verb, act.args), act.reason, plan.step)
                skipped.setdefault(act.step, []).append(action)
        return [
            Transition(
                step,
                frames[step],
                frames[step + 1],
                {agent: _outcome(act) for agent, act in acts.items()},
                attempts.get(step, ()),
                skipped.get(step, ()),
            )
            for step, acts in enumerate(self.acts)
            if step in frames and step + 1 in frames
        ]


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
        return tuple((name, counts[name]) for name in CONSTRAINTS if name in counts)

    return Attempt(made.goal, made.k, pairs(made.have), pairs(made.need), made.participants, made.success)
