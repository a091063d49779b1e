"""What agents did, step by step, for rules that read acts; and the steps in the form that worlds read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from teamworld.language import Action, AgentId, parse_term
from teamworld.metrics.coordination import CONSTRAINTS
from teamworld.metrics.event_table import EventTable, primitive
from teamworld.metrics.log_reader import tabulate
from teamworld.record import ActionStep, AttemptMade, Deliver, DrawingState, Event, Truth
from teamworld.worlds.base.failure_spans import SkippedAction, Transition
from teamworld.worlds.contract import Attempt, Constraint, Outcome

#: Records that rules read, beside those of every table.
_KINDS = (ActionStep, Deliver, DrawingState, Truth)


def detailed_table(log: Iterable[Event]) -> EventTable:
    """Return the table of a log, with all records that rules read.

    Raises:
        ValueError: The log has no start or no end.
    """
    events = tuple(log)
    table = tabulate(events)
    for kind in _KINDS:
        table.kept[kind] = [event for event in events if isinstance(event, kind)]
    return table


@primitive
def acts_by_step(table: EventTable) -> Sequence[Mapping[AgentId, ActionStep]]:
    """Return for each step what each living agent did in it."""
    acts: list[dict[AgentId, ActionStep]] = [{} for _ in range(table.steps)]
    for act in table.all(ActionStep):
        if act.spent:
            acts[act.step][act.agent] = act
    return acts


def transitions(table: EventTable) -> list[Transition]:
    """Return the steps in the form that a world reads."""
    frames = {frame.step: frame.state for frame in table.all(DrawingState)}
    attempts: defaultdict[int, list[Attempt]] = defaultdict(list)
    for made in table.all(AttemptMade):
        have, need = _counts(made.have), _counts(made.need)
        attempts[made.step].append(Attempt(made.goal, made.k, have, need, made.participants, made.success))
    skipped: defaultdict[int, list[SkippedAction]] = defaultdict(list)
    for act in table.all(ActionStep):
        plan = table.plans.get(act.plan)
        if not act.spent and plan is not None:
            action = SkippedAction(act.agent, _action(act.verb, act.args), act.reason, plan.step)
            skipped[act.step].append(action)
    return [
        Transition(
            step,
            frames[step],
            frames[step + 1],
            {agent: _outcome(act) for agent, act in acts.items()},
            attempts[step],
            skipped[step],
        )
        for step, acts in enumerate(acts_by_step(table))
        if step in frames and step + 1 in frames
    ]


def _counts(counts: Mapping[str, int]) -> tuple[tuple[Constraint, int], ...]:
    return tuple((name, counts[name]) for name in CONSTRAINTS if name in counts)


@lru_cache(maxsize=4096)
def _action(verb: str, args: tuple[str, ...]) -> Action:
    return Action(verb, tuple(map(parse_term, args)))


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
