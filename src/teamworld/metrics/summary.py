"""The headline numbers of an episode, as a run's results keep them: some of its metrics, and what else a table shows.

Empty cases are None, never 0 or 1; rates keep numerator and denominator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from teamworld.metrics import outcome
from teamworld.metrics.event_tables import gather
from teamworld.record import AttemptMade, Event, MessageSent, PlanEnd, QuestionAsked


class Rate(NamedTuple):
    """A share with what it is a share of."""

    num: int
    den: int

    @property
    def value(self) -> float | None:
        """The share; None where there was nothing to count."""
        return self.num / self.den if self.den else None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Headline numbers of one episode."""

    completion: float | None
    """O2: weight of the goals done over the weight of all goals; None without goals, as are the next and O4."""
    success: bool | None
    """O1: all goals done."""
    steps: int
    """E1: steps of the world executed."""
    anytime: float | None
    """O4: completion after each tick, averaged over the horizon, holding the last value after an early end."""
    reward: float
    """The world's own score: its changes (key ``reward`` of the step's score) summed."""
    done: dict[str, int | None]
    """By goal, the tick after which it was done; None if it was not."""
    plans: Rate
    """D15: plans ended with success, of all plans."""
    attempts: Rate
    """D1: joint acts with a quorum of two or more that succeeded, of all such acts."""
    messages: int
    """M1: messages sent."""
    questions: int
    """Questions asked of minds."""
    re_asked: int
    """Answers that could not be used and were asked again."""
    fallbacks: int
    """Questions that ended in their fallback."""
    reason: str
    """Why the episode ended."""


def summarise(log: Iterable[Event]) -> Summary:
    """Return the headline numbers of a finished episode.

    Raises:
        ValueError: The log has no start or no end.
    """
    episode = gather(log)
    values = outcome.measure(episode)
    success = values["O1"].value
    plans: list[PlanEnd] = episode.all(PlanEnd)
    attempts = [attempt for attempt in episode.all(AttemptMade) if attempt.k >= 2]
    questions: list[QuestionAsked] = episode.all(QuestionAsked)
    over = {goal: int(episode.clock[step + 1]) for goal, step in episode.done.items()}
    return Summary(
        completion=values["O2"].value,
        success=None if success is None else bool(success),
        steps=episode.steps,
        anytime=values["O4"].value,
        reward=round(episode.reward or 0.0, 10),
        done=dict.fromkeys((goal.id for goal in episode.start.goals), None) | over,
        plans=Rate(sum(plan.status == "success" for plan in plans), len(plans)),
        attempts=Rate(sum(attempt.success for attempt in attempts), len(attempts)),
        messages=len(episode.all(MessageSent)),
        questions=len(questions),
        re_asked=sum(len(question.errors) for question in questions),
        fallbacks=sum(question.fallback for question in questions),
        reason=episode.end.reason,
    )
