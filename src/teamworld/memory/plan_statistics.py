"""Counts and sums over attempts. All are whole numbers, so that they add up the same in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from teamworld.memory.contract import PlanInstance

#: Shares of the work left are counted in millionths.
PARTS = 1_000_000


class Attempt(NamedTuple):
    """What plans of one agent, or of partners who began together, came to."""

    team: int
    start: int
    steps: int
    """Until the goal was done, by the plans or after all; of the longest plan where it was not."""
    success: bool
    share: int
    """Of the plan that did most, in millionths of the work; all of it where the goal was done after all."""

    @classmethod
    def of(cls, instances: Iterable[PlanInstance]) -> Attempt:
        """Return what instances of one attempt, at least one, came to together."""
        instances = tuple(instances)
        ends = [instance.end if instance.success else instance.done_by for instance in instances]
        done = [end - instance.start for instance, end in zip(instances, ends, strict=True) if end is not None]
        return cls(
            team=max(instance.team for instance in instances),
            start=instances[0].start,
            steps=min(done) if done else max(instance.duration for instance in instances),
            success=any(instance.success for instance in instances),
            share=max(map(done_share, instances)),
        )


@dataclass(slots=True)
class PlanStatistics:
    """Counts, sums and extremes of a set of attempts; steps, and shares in millionths."""

    attempts: int = 0
    successes: int = 0
    steps_sum: int = 0
    """Of all attempts."""
    duration_sum: int = 0
    """Of the successes, as is everything on durations and starts."""
    shortest: int | None = None
    longest: int | None = None
    earliest: int | None = None
    latest: int | None = None
    share_sum: int = 0
    team_sum: int = 0

    @classmethod
    def of(cls, *attempts: Attempt) -> PlanStatistics:
        """Return the statistics of some attempts."""
        successes = [attempt for attempt in attempts if attempt.success]
        durations = [attempt.steps for attempt in successes]
        starts = [attempt.start for attempt in successes]
        return cls(
            attempts=len(attempts),
            successes=len(successes),
            steps_sum=sum(attempt.steps for attempt in attempts),
            duration_sum=sum(durations),
            shortest=min(durations, default=None),
            longest=max(durations, default=None),
            earliest=min(starts, default=None),
            latest=max(starts, default=None),
            share_sum=sum(attempt.share for attempt in attempts),
            team_sum=sum(attempt.team for attempt in attempts),
        )

    def merge(self, other: PlanStatistics) -> None:
        """Count another set."""
        self.attempts += other.attempts
        self.successes += other.successes
        self.steps_sum += other.steps_sum
        self.duration_sum += other.duration_sum
        self.share_sum += other.share_sum
        self.team_sum += other.team_sum
        if other.successes:
            self.shortest = _extreme(min, self.shortest, other.shortest)
            self.earliest = _extreme(min, self.earliest, other.earliest)
            self.longest = _extreme(max, self.longest, other.longest)
            self.latest = _extreme(max, self.latest, other.latest)

    @property
    def rate(self) -> float | None:
        """Successes over attempts; None where there are none."""
        return self.successes / self.attempts if self.attempts else None

    @property
    def progress(self) -> float | None:
        """Mean share of the work that an attempt did; None where there are none."""
        return self.share_sum / PARTS / self.attempts if self.attempts else None

    @property
    def mean_steps(self) -> float | None:
        """Of all attempts; None where there are none."""
        return self.steps_sum / self.attempts if self.attempts else None

    @property
    def mean_duration(self) -> float | None:
        """Of the successes; None where there are none."""
        return self.duration_sum / self.successes if self.successes else None


def smoothed(successes: float, attempts: int) -> float:
    """Return (s + 1) / (n + 2), the mean of the posterior of a rate under a uniform prior; 1/2 where never tried."""
    return (successes + 1) / (attempts + 2)


def done_share(instance: PlanInstance) -> int:
    """Return how much of the work left was done, with what was done for other goals, in millionths, at most one goal.

    Of a goal without work it is all or nothing. A goal that was done after all counts whole.
    """
    if instance.done_by is not None:
        return PARTS
    if instance.units <= 0:
        own = PARTS if instance.success else 0
    else:
        own = max(0, instance.progress * PARTS // instance.units)
    return min(PARTS, own + instance.credit)


def _extreme(choose: Callable[[int, int], int], first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else choose(first, second)
