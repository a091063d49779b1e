"""Failures that only the world itself can see in the log of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from teamworld.language import Action, AgentId, GoalId
from teamworld.worlds.contract import Attempt, Outcome


class SkippedAction(NamedTuple):
    """An action of a plan that was passed over at no cost, because it could not start."""

    agent: AgentId
    action: Action
    reason: str
    since: int
    """Step in which the plan was taken up."""


class Transition(NamedTuple):
    """One step of an episode as its log tells it: two snapshots, and what was done between them."""

    step: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    outcomes: Mapping[AgentId, Outcome]
    """Of every living agent; actions have all their arguments where the plan named them."""
    attempts: Sequence[Attempt] = ()
    skipped: Sequence[SkippedAction] = ()
    """Before the step."""


class FailureSpan(NamedTuple):
    """A failure in a span of an episode."""

    label: str
    """One of the names in ``teamworld.metrics.failures.LABELS``."""
    first: int
    """First step."""
    last: int
    """Last step."""
    agents: tuple[AgentId, ...]
    """Those held up or acting in vain, then those in their way; may be empty."""
    goal: GoalId | None
    text: str
    """What happened, with its numbers."""


#: What a world's module may offer as ``failures``: finds in the passages of an episode, in order, what only the world
#: can see (faces, cells, ways). Pure; takes ``WorldSpec.static``, the team and the passages.
FailureFinder: TypeAlias = Callable[[Mapping[str, Any], Sequence[AgentId], Sequence[Transition]], Iterable[FailureSpan]]
