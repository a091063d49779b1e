"""Views of the world model over episodes: which kinds of plans do what in which context, and what a change gained.

Both are computed from the plan instances of deltas (DR. WELL, symbolic world model). The context of an instance is its
task, the time of the episode at which it began, the team and how the team came to its commitments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from teamworld.memory.contract import Communication, MemoryDelta, PlanInstance, TaskKey
from teamworld.memory.plan_statistics import Attempt, PlanStatistics

#: Start times are grouped into buckets of this many steps.
BUCKET = 10
#: How the actions of one kind of plan become those of another.
Edit: TypeAlias = Literal["insert", "delete", "replace", "other"]


class PlanContext(NamedTuple):
    """What attempts have in common that are compared."""

    task: TaskKey
    bucket: int
    """Start step // ``BUCKET``."""
    team: int
    communication: Communication


class TemplateContext(NamedTuple):
    """How plans of a kind went in a context."""

    context: PlanContext
    prototype: str
    attempts: int
    successes: int
    progress: float
    """Mean share of the work that an attempt did, from 0 to 1."""
    mean_duration: float | None
    """Mean steps of the successes."""


class PlanDelta(NamedTuple):
    """What another kind of plan gained in the same context."""

    context: PlanContext
    before: str
    after: str
    gain: float
    """By how much the mean share of the work was more, above 0."""
    edit: Edit


def template_contexts(deltas: Iterable[MemoryDelta]) -> list[TemplateContext]:
    """Return how each kind of plan went in each context, in order; partners who begin together make one attempt."""
    groups: dict[tuple[PlanContext, str], dict[tuple[int, str, int], list[PlanInstance]]] = {}
    for delta in deltas:
        for instance in (instance for instance in delta.instances if not instance.cut):
            context = PlanContext(instance.task, instance.start // BUCKET, instance.team, instance.communication)
            attempts = groups.setdefault((context, instance.prototype), defaultdict(list))
            attempts[instance.episode, instance.goal, instance.start].append(instance)
    contexts = []
    for context, prototype in sorted(groups):
        counts = PlanStatistics.of(*map(Attempt.of, groups[context, prototype].values()))
        contexts.append(
            TemplateContext(
                context, prototype, counts.attempts, counts.successes, counts.progress or 0.0, counts.mean_duration
            )
        )
    return contexts


def plan_deltas(contexts: Iterable[TemplateContext]) -> list[PlanDelta]:
    """Return where one kind of plan did more of the work than another in the same context, the most gained first."""
    by_context: dict[PlanContext, list[TemplateContext]] = defaultdict(list)
    for template in contexts:
        by_context[template.context].append(template)
    deltas = [
        PlanDelta(
            context,
            before.prototype,
            after.prototype,
            after.progress - before.progress,
            classify_edit(before.prototype, after.prototype),
        )
        for context, alike in by_context.items()
        for before in alike
        for after in alike
        if after.progress > before.progress
    ]
    return sorted(deltas, key=lambda delta: (-delta.gain, delta.context, delta.before, delta.after))


def classify_edit(before: str, after: str) -> Edit:
    """Return how one prototype becomes another: one action put in, taken out or replaced, or more than that."""
    old, new = (prototype.split(" > ") for prototype in (before, after))
    if len(old) == len(new):
        return "replace" if sum(a != b for a, b in zip(old, new, strict=True)) == 1 else "other"
    if abs(len(old) - len(new)) != 1:
        return "other"
    short, long = sorted((old, new), key=len)
    fits = any([*long[:at], *long[at + 1 :]] == short for at in range(len(long)))
    return "other" if not fits else "insert" if len(new) > len(old) else "delete"
