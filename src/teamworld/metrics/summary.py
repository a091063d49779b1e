"""The headline numbers of an episode, as a run's results keep them, and what metrics over several runs need of it.

Empty cases are None, never 0 or 1; rates keep numerator and denominator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from teamworld.metrics.all_metrics import HeadlineValue, measure_headline
from teamworld.metrics.coordination import joint_success, plan_shares
from teamworld.metrics.definition import Count, Number, Value
from teamworld.metrics.event_table import EventTable
from teamworld.metrics.log_reader import tabulate
from teamworld.metrics.outcome import anytime_completion, completion
from teamworld.record import Event, MessageSent, PlanStart, QuestionAsked


class Rate(NamedTuple):
    """A share with what it is a share of."""

    num: Count
    den: Count

    @property
    def value(self) -> float | None:
        """The share; None where there was nothing to count."""
        return self.num / self.den if self.den else None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Headline numbers of one episode."""

    completion: Number | None
    """Weight of the goals done over the weight of all goals; None without goals, as are the next and ``anytime``."""
    success: bool | None
    """All goals done."""
    steps: Count
    """Steps of the world executed."""
    anytime: Number | None
    """Completion after each tick, averaged over the horizon, holding the last value after an early end."""
    reward: Number
    """The world's own score: its changes (key ``reward`` of the step's score) summed."""
    done: dict[str, Count | None]
    """By goal, the tick after which it was done; None if it was not."""
    plans: Rate
    """Plans ended with success, of all plans."""
    attempts: Rate
    """Joint acts with a quorum of two or more that succeeded, of all such acts."""
    messages: Count
    """Messages sent."""
    questions: Count
    """Questions asked of reasoners."""
    re_asked: Count
    """Answers that could not be used and were asked again."""
    fallbacks: Count
    """Questions that ended in their fallback."""
    reason: str
    """Why the episode ended."""
    headline: tuple[HeadlineValue, ...] = ()
    """What the level's results are told in first; empty in results of earlier versions."""

    code: str = ""
    """Digest of the code that played it; empty where the log does not name it."""

    @property
    def has_success(self) -> bool:
        """Whether doing all goals was what the level asked."""
        return not self.headline or any(part.metric == "completion" for part in self.headline)


def summarise(log: Iterable[Event]) -> Summary:
    """Return the headline numbers of a finished episode.

    Raises:
        ValueError: The log has no start or no end.
    """
    table = tabulate(log)
    questions: list[QuestionAsked] = table.all(QuestionAsked)
    done_after = {goal: int(table.clock[step + 1]) for goal, step in table.done.items()}
    return Summary(
        completion=completion(table).value,
        success=table.is_solved,
        steps=int(table.clock[-1]),
        anytime=anytime_completion(table).value,
        reward=round(table.reward or 0.0, 10),
        done=dict.fromkeys((goal.id for goal in table.start.goals), None) | done_after,
        plans=_rate(plan_shares(table)[0]),
        attempts=_rate(joint_success(table)),
        messages=len(table.all(MessageSent)),
        questions=len(questions),
        re_asked=sum(len(question.errors) for question in questions),
        fallbacks=sum(question.fallback for question in questions),
        reason=table.end.reason,
        headline=measure_headline(table),
        code=_digest_code(table.start.code),
    )


def _digest_code(code: Mapping[str, str] | msgspec.UnsetType) -> str:
    if code is msgspec.UNSET:
        return ""
    return hashlib.blake2b(msgspec.json.encode(code, order="sorted"), digest_size=8).hexdigest()


def _rate(value: Value) -> Rate:
    return Rate(int(value.num or 0), int(value.den or 0))


class PlanTally(NamedTuple):
    """Plans, and those of them that ended with success."""

    won: int
    plans: int


class Extract(NamedTuple):
    """Some numbers of an episode."""

    world_seed: int
    """What placed its world."""
    team: int
    """Agents."""
    reused: Mapping[str, PlanTally]
    """By goal, plans that were taken from a memory as they were."""
    fresh: Mapping[str, PlanTally]
    """By goal, all other plans."""


def extract(table: EventTable) -> Extract:
    """Return what metrics over several runs need of an episode."""
    reused: dict[str, PlanTally] = {}
    fresh: dict[str, PlanTally] = {}
    for plan in table.all(PlanStart):
        if plan.goal is not None:
            tallies = reused if plan.origin == "reused" else fresh
            won, plans = tallies.get(plan.goal, PlanTally(0, 0))
            tallies[plan.goal] = PlanTally(won + (plan.plan in table.won), plans + 1)
    return Extract(table.start.world_seed, len(table.team), reused, fresh)
