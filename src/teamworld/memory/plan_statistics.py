"""Counts and sums over plan instances. All are whole numbers, so that they add up the same in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from teamworld.memory.contract import PlanInstance

#: Start times are grouped into buckets of this many ticks.
START_BUCKET = 10
#: Shares of the work left are counted in millionths.
PARTS = 1_000_000


@dataclass(slots=True)
class PlanStatistics:
    """Counts, sums and extremes of a set of instances; ticks, and shares in millionths."""

    attempts: int = 0
    successes: int = 0
    duration_sum: int = 0
    """Of the successes, as is everything on durations and starts."""
    shortest: int | None = None
    longest: int | None = None
    earliest: int | None = None
    latest: int | None = None
    share_sum: int = 0
    team_sum: int = 0

    @classmethod
    def of(cls, *instances: PlanInstance) -> PlanStatistics:
        """Return the statistics of some instances."""
        successes = [instance for instance in instances if instance.success]
        durations = [instance.end - instance.start for instance in successes]
        starts = [instance.start for instance in successes]
        return cls(
            attempts=len(instances),
            successes=len(successes),
            duration_sum=sum(durations),
            shortest=min(durations, default=None),
            longest=max(durations, default=None),
            earliest=min(starts, default=None),
            latest=max(starts, default=None),
            share_sum=sum(map(done_share, instances)),
            team_sum=sum(instance.team for instance in instances),
        )

    def merge(self, other: PlanStatistics) -> None:
        """Count another set."""
        self.attempts += other.attempts
        self.successes += other.successes
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
    def mean_duration(self) -> float | None:
        """Of the successes; None where there are none."""
        return self.duration_sum / self.successes if self.successes else None


def smoothed(successes: int, attempts: int) -> float:
    """Return (s + 1) / (n + 2), the mean of the posterior of a rate under a uniform prior; 1/2 where never tried."""
    return (successes + 1) / (attempts + 2)


def done_share(instance: PlanInstance) -> int:
    """Return how much of the work left was done, in millionths; without work it is all or nothing."""
    if instance.units <= 0:
        return PARTS if instance.success else 0
    return min(PARTS, max(0, instance.progress * PARTS // instance.units))


def _extreme(choose: Callable[[int, int], int], first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else choose(first, second)
