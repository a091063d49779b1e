"""Views of the world model over episodes: what worked with how many agents, when, and by which plan.

Pure functions over sums by context (DR. WELL spec A7, "derived views"). The template-context view is
the sums themselves, see ``contexts``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import permutations
from typing import Literal, NamedTuple, TypeAlias

from teamworld.memory.contract import Instance, TaskKey
from teamworld.memory.tally import BUCKET, Tally, sums

#: Share of the best completion rate that a smaller team must reach to be enough (DR. WELL spec A7, k*).
NEAR_BEST = 0.95

Edit: TypeAlias = Literal["insert", "delete", "replace", "other"]


class Context(NamedTuple):
    """In what situation a prototype was tried."""

    task: TaskKey
    bucket: int
    """Start tick // ``BUCKET``."""
    team: int
    communication: str
    prototype: str


class ContextRow(NamedTuple):
    """How a prototype went in a context: attempts, successes, rate, mean duration and more."""

    context: Context
    tally: Tally


class CommitmentOutcome(NamedTuple):
    """How a task went when so many agents committed to it at about that time."""

    task: TaskKey
    bucket: int
    team: int
    tally: Tally
    communication: tuple[tuple[str, int], ...]
    """Attempts by type of communication."""


class EnoughAgents(NamedTuple):
    """The smallest team that does about as well as the best: k*."""

    task: TaskKey
    bucket: int
    team: int
    rate: float
    """Its completion rate."""
    best: float
    """The best completion rate of any team size."""


class PlanChange(NamedTuple):
    """A prototype that did better than another in the same context."""

    context: Context
    """With the worse prototype."""
    better: str
    gain: float
    """Difference of the completion rates."""
    edit: Edit
    """What makes the better out of the worse."""
    attempts: tuple[int, int]
    """Of the worse and of the better: a gain over few attempts says little."""


def contexts(instances: Iterable[Instance]) -> tuple[ContextRow, ...]:
    """Return the template-context view: the sums by context, in order; ``MemoryStore.contexts`` is faster."""
    found = sums(instances, lambda i: Context(i.task, i.start // BUCKET, i.team, i.communication, i.prototype))
    return tuple(ContextRow(context, tally) for context, tally in found.items())


def commitment_outcomes(rows: Iterable[ContextRow]) -> tuple[CommitmentOutcome, ...]:
    """Return the commitment-outcome view, ordered by task, time and team size."""
    total: dict[tuple[TaskKey, int, int], Tally] = defaultdict(Tally)
    counts: dict[tuple[TaskKey, int, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for context, tally in rows:
        key = context[:3]
        total[key].merge(tally)
        counts[key][context.communication] += tally.attempts
    return tuple(CommitmentOutcome(*key, total[key], tuple(sorted(counts[key].items()))) for key in sorted(total))


def enough_agents(rows: Iterable[ContextRow]) -> tuple[EnoughAgents, ...]:
    """Return k* by task and time: the smallest team with at least 95 % of the best completion rate.

    A task that never succeeded at that time has none.
    """
    rates: dict[tuple[TaskKey, int], list[tuple[int, float]]] = defaultdict(list)
    for outcome in commitment_outcomes(rows):
        rates[outcome.task, outcome.bucket].append((outcome.team, outcome.tally.rate or 0.0))
    found = []
    for (task, bucket), teams in sorted(rates.items()):
        best = max(rate for _, rate in teams)
        if best > 0:
            team, rate = next((team, rate) for team, rate in teams if rate >= NEAR_BEST * best)
            found.append(EnoughAgents(task, bucket, team, rate, best))
    return tuple(found)


def plan_changes(rows: Iterable[ContextRow]) -> tuple[PlanChange, ...]:
    """Return the plan-delta view: pairs of prototypes of one context of which the second did better."""
    groups: dict[tuple[TaskKey, int, int, str], list[ContextRow]] = defaultdict(list)
    for row in rows:
        groups[row.context[:4]].append(row)
    found = []
    for _, group in sorted(groups.items()):
        for one, other in permutations(sorted(group, key=lambda row: row.context), 2):
            gain = (other.tally.rate or 0.0) - (one.tally.rate or 0.0)
            if gain > 0:
                better = other.context.prototype
                attempts = (one.tally.attempts, other.tally.attempts)
                edit = edit_of(one.context.prototype, better)
                found.append(PlanChange(one.context, better, gain, edit, attempts))
    return tuple(found)


def edit_of(old: str, new: str) -> Edit:
    """Return what makes the prototype ``new`` out of ``old``.

    ``insert``: only further actions; ``delete``: only fewer; ``replace``: as many, one run of them
    exchanged; ``other``: anything else.
    """
    before, after = old.split(" > "), new.split(" > ")
    if len(before) < len(after) and _within(before, after):
        return "insert"
    if len(after) < len(before) and _within(after, before):
        return "delete"
    if len(before) == len(after):
        differ = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        if differ and differ[-1] - differ[0] + 1 == len(differ) < len(before):
            return "replace"
    return "other"


def _within(part: list[str], whole: list[str]) -> bool:
    """Whether the part's actions occur in the whole in their order."""
    rest = iter(whole)
    return all(action in rest for action in part)
