"""The headline numbers of an episode, from its log (metrics spec, sections 4 to 7).

Empty cases are None, never 0 or 1; rates keep numerator and denominator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from teamworld.record import (
    AttemptMade,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    MessageSent,
    PlanEnd,
    QuestionAsked,
    StepDone,
)


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
    """The world's own score, summed over steps (key ``reward`` of the step's score)."""
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
    start: EpisodeStart | None = None
    end: EpisodeEnd | None = None
    done: dict[str, int | None] = {}
    steps = messages = questions = re_asked = fallbacks = 0
    reward = area = 0.0
    plans = attempts = Rate(0, 0)
    fresh: list[str] = []  # goals done in the step that is being read
    for event in log:
        match event:
            case EpisodeStart():
                start, done = event, dict.fromkeys((goal.id for goal in event.goals), None)
            case EpisodeEnd():
                end = event
            case GoalChange(event="done"):
                fresh.append(event.goal)
            case StepDone():
                steps += 1
                reward += event.score.get("reward", 0.0)
                area += _weight(start, done) * (event.ticks - 1)
                done.update(dict.fromkeys(fresh, event.tick + event.ticks))
                fresh.clear()
                area += _weight(start, done)  # what a step brought about holds from its last tick on
            case PlanEnd():
                plans = Rate(plans.num + (event.status == "success"), plans.den + 1)
            case AttemptMade() if event.k >= 2:
                attempts = Rate(attempts.num + event.success, attempts.den + 1)
            case MessageSent():
                messages += 1
            case QuestionAsked():
                questions += 1
                re_asked += len(event.errors)
                fallbacks += event.fallback
            case _:
                pass
    if start is None or end is None:
        raise ValueError("an unfinished log has no summary")
    total = sum(goal.weight for goal in start.goals)
    rest = start.horizon - min(end.tick, start.horizon)
    return Summary(
        completion=_weight(start, done) / total if total else None,
        success=all(tick is not None for tick in done.values()) if done else None,
        steps=steps,
        anytime=(area + _weight(start, done) * rest) / total / start.horizon if total else None,
        reward=round(reward, 10),
        done=done,
        plans=plans,
        attempts=attempts,
        messages=messages,
        questions=questions,
        re_asked=re_asked,
        fallbacks=fallbacks,
        reason=end.reason,
    )


def _weight(start: EpisodeStart | None, done: dict[str, int | None]) -> float:
    """Return the weight of the goals done so far."""
    return sum(goal.weight for goal in start.goals if done[goal.id] is not None) if start is not None else 0.0
