"""Counts and sums over plan instances. All are whole numbers, so that they add up the same in any order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar

from teamworld.memory.contract import Instance

#: Start times are put together in buckets of so many ticks (DR. WELL spec A7, derived views).
BUCKET = 10
#: Shares of the work left are counted in millionths.
PARTS = 1_000_000

Key = TypeVar("Key", bound=tuple[Any, ...])


@dataclass(slots=True)
class Tally:
    """Counts, sums and extremes of a set of instances; ticks, and shares in millionths."""

    attempts: int = 0
    successes: int = 0
    duration_sum: int = 0
    """Of the successes, as is everything on durations and starts."""
    shortest: int | None = None
    longest: int | None = None
    start_sum: int = 0
    earliest: int | None = None
    latest: int | None = None
    share_sum: int = 0
    team_sum: int = 0

    def count(self, instance: Instance) -> None:
        """Take in one instance."""
        start = instance.start
        self.attempts += 1
        self.share_sum += share(instance)
        self.team_sum += instance.team
        if instance.success:
            duration = instance.end - start
            self.successes += 1
            self.duration_sum += duration
            self.start_sum += start
            if self.earliest is None or start < self.earliest:
                self.earliest = start
            if self.latest is None or start > self.latest:
                self.latest = start
            if self.shortest is None or duration < self.shortest:
                self.shortest = duration
            if self.longest is None or duration > self.longest:
                self.longest = duration

    def merge(self, other: Tally) -> None:
        """Take in another set."""
        self.attempts += other.attempts
        self.share_sum += other.share_sum
        self.team_sum += other.team_sum
        if other.successes:
            self.successes += other.successes
            self.duration_sum += other.duration_sum
            self.start_sum += other.start_sum
            self.shortest = _least(self.shortest, other.shortest)
            self.earliest = _least(self.earliest, other.earliest)
            self.longest = _most(self.longest, other.longest)
            self.latest = _most(self.latest, other.latest)

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


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other < one) else one


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other > one) else one


def sums(instances: Iterable[Instance], key: Callable[[Instance], Key]) -> dict[Key, Tally]:
    """Return a tally for each value of ``key``, ordered by it."""
    tallies: dict[Key, Tally] = defaultdict(Tally)
    for instance in instances:
        tallies[key(instance)].count(instance)
    return dict(sorted(tallies.items(), key=itemgetter(0)))


def share(instance: Instance) -> int:
    """Return how much of the work left was done, in millionths; without work it is all or nothing."""
    if instance.units <= 0:
        return PARTS if instance.success else 0
    return min(PARTS, max(0, instance.progress * PARTS // instance.units))
