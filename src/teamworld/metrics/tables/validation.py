"""Checks of a log: one that was changed by hand or by a fault is refused, as its metrics would mean nothing.

That steps and agents fit is checked while the log is read (``event_table``); here its numbers and names are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from teamworld.record import (
    AgentLeft,
    AttemptMade,
    Believe,
    Commit,
    EpisodeStart,
    Event,
    GoalChange,
    LlmCall,
    MessageSent,
    PlanEnd,
    PlanStart,
    Predict,
    Release,
)

#: Counts are below: a million of them still add up exactly.
MANY: Final = 2**31
#: A weight is 0 or between these, so that no sum and no ratio of weights leaves the floating-point numbers.
LIGHTEST, HEAVIEST = 1e-100, 1e100


class Unsound(ValueError):
    """A log that no episode can have written."""


def refusal(event: Event, why: str) -> Unsound:
    """Return the error that refuses a log for one of its records."""
    return Unsound(f"an impossible log: record {event.seq} ({type(event).__struct_config__.tag}) {why}")


def check_start(start: EpisodeStart) -> None:
    """Check that a log begins with a team, and goals that can be counted and weighed.

    Raises:
        Unsound: It does not.
    """
    goals = [goal.id for goal in start.goals]
    if not start.team:
        raise refusal(start, "names no agent")
    for what, names in (("agent", start.team), ("goal", goals)):
        if len(set(names)) < len(names):
            raise refusal(start, f"names {'an' if what == 'agent' else 'a'} {what} twice")
    _bounded(start, "horizon", start.horizon)
    for goal in start.goals:
        if goal.weight and not LIGHTEST <= goal.weight <= HEAVIEST:
            bounds = f"{LIGHTEST:g} to {HEAVIEST:g}"
            raise refusal(start, f"gives goal {goal.id!r} the weight {goal.weight}: expected 0, or {bounds}")
        _bounded(start, f"quorum of goal {goal.id!r}", goal.quorum)
        _bounded(start, f"places of goal {goal.id!r}", goal.places)


def check_records(start: EpisodeStart, kept: Mapping[type[Any], Iterable[Any]], steps: int) -> None:
    """Check that the records of which all are kept name agents of the team and hold numbers that can be.

    Args:
        start: The beginning of the log.
        kept: Its records by kind.
        steps: Of the world.

    Raises:
        Unsound: One does not.
    """
    lengths = {plan.plan: plan.length for plan in kept[PlanStart]}
    for records in kept.values():
        for event in records:
            match event:
                case AgentLeft() | Commit() | Release():
                    _known(event, start, event.agent)
                case AttemptMade():
                    _in_step(event, start, steps)
                    _bounded(event, "k", event.k)
                    for name, number in (*event.have.items(), *event.need.items()):
                        _bounded(event, name, number)
                case GoalChange():
                    _in_step(event, start, steps)
                    _bounded(event, "delta", event.delta, 1 - MANY)
                case PlanStart():
                    _known(event, start, event.agent)
                    for name in ("plan", "quorum", "predicted_steps", "length"):
                        _bounded(event, name, getattr(event, name))
                case PlanEnd():
                    _known(event, start, event.agent)
                    _bounded(event, "plan", event.plan)
                    _bounded(event, "actions_done", event.actions_done)
                    length = lengths.get(event.plan)
                    if length is not None and event.actions_done > length:
                        raise refusal(event, f"says that {event.actions_done} of {length} actions were done")
                case MessageSent():
                    _bounded(event, "id", event.id)
                case LlmCall():
                    _check_tokens(event)
                case Believe():
                    _known(event, start, event.agent)
                    for held in event.held:
                        if not 0.0 <= held.probability <= 1.0:
                            raise refusal(event, f"has probability {held.probability}: expected 0 to 1")
                case Predict() if isinstance(event.value, float | int):
                    _bounded(event, "value", event.value, 1 - MANY)


def _known(event: Event, start: EpisodeStart, *agents: str) -> None:
    for agent in agents:
        if agent not in start.team:
            raise refusal(event, f"names {agent!r}, who is not in the team")


def _in_step(event: AttemptMade | GoalChange, start: EpisodeStart, steps: int) -> None:
    _known(event, start, *event.participants)
    if event.step >= steps:
        raise refusal(event, f"stands after the last of {steps} steps")


def _bounded(event: Event, name: str, number: float | None, low: float = 0) -> None:
    if number is not None and not low <= number < MANY:
        raise refusal(event, f"has {name} {number}: expected {low} to {MANY - 1}")


def _check_tokens(event: LlmCall) -> None:
    """Refuse counts below 0 alone: a run must not break off over an odd count of its provider."""
    for number in (event.prompt_tokens, event.cached_tokens, event.output_tokens, event.reasoning_tokens):
        if number is not None and not 0 <= number < 2**63:
            raise refusal(event, f"counts {number} tokens: expected 0 to {2**63 - 1}")
