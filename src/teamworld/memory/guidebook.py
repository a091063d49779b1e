"""The symbolic world model as a method asks it: guidebook and plan library (DR. WELL, symbolic world model).

The same instances give the same answers in whatever order they came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import sqrt
from typing import NamedTuple

from teamworld.memory.contract import (
    GuideEntry,
    Library,
    PlanInstance,
    PlanRecord,
    Ranking,
    StartRecord,
    TaskKey,
    Verdict,
)
from teamworld.memory.notes import recent_notes
from teamworld.memory.plan_statistics import START_BUCKET, PlanStatistics, smoothed

#: Least success rate, exclusive, of each verdict of the guidebook.
VERDICTS: tuple[tuple[float, Verdict], ...] = (
    (0.7, "highly effective"),
    (0.4, "moderate"),
    (0.1, "challenging"),
)
_NONE = StartRecord(0, 0)
_Z = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


class PlanKey(NamedTuple):
    """What instances have in common that are counted together."""

    task: TaskKey
    team: int
    lifted: str
    prototype: str


class PlanRow(NamedTuple):
    """One line of the statistics; all answers are computed from these and the start rows."""

    key: PlanKey
    statistics: PlanStatistics


class StartRow(NamedTuple):
    """How a task went when begun in a bucket of ticks."""

    task: TaskKey
    bucket: int
    """Start tick // ``START_BUCKET``."""
    attempts: int
    successes: int


def verdict(rate: float | None) -> Verdict:
    """Return the guidebook's word for a success rate."""
    if rate is None:
        return "untested"
    return next((word for least, word in VERDICTS if rate > least), "needs a new strategy")


def wilson(successes: int, attempts: int) -> float:
    """Return the lower bound of the 95 % Wilson score interval of a rate (Wilson 1927).

    Args:
        successes: From 0 to ``attempts``.
        attempts: At least 1.
    """
    rate, z2 = successes / attempts, _Z * _Z
    middle = rate + z2 / (2 * attempts)
    spread = _Z * sqrt((rate * (1 - rate) + z2 / (4 * attempts)) / attempts)
    return (middle - spread) / (1 + z2 / attempts)


def merge(*models: WorldModel) -> WorldModel:
    """Return what several world models know together; adding to it leaves them as they are."""
    return WorldModel.from_rows(
        (row for model in models for row in model.rows()),
        (row for model in models for row in model.start_rows()),
        notes=(note for model in models for note in model.notes),
    )


class _Page:
    """All that is known about one task."""

    __slots__ = ("plans", "prototypes", "starts", "teams", "total")

    def __init__(self) -> None:
        self.total = PlanStatistics()
        self.teams: dict[int, PlanStatistics] = defaultdict(PlanStatistics)
        self.plans: dict[str, PlanStatistics] = defaultdict(PlanStatistics)
        self.prototypes: dict[str, PlanStatistics] = defaultdict(PlanStatistics)
        self.starts: dict[int, StartRecord] = {}


class WorldModel:
    """Guidebook and plan library: what a method may ask during an episode.

    Adding an instance takes constant time; an answer costs what it shows.

    Args:
        ranking: How plans, prototypes, team sizes and tasks are ranked when samples are few.
            ``expected``: expected ticks until a success, the mean duration of the successes over
            the smoothed rate (s + 1) / (n + 2). ``wilson``: lower bound of the 95 % Wilson
            interval, then attempts, then duration. ``rate``: success rate, then attempts, then
            duration (as in the paper). What never succeeded comes last, by mean progress.
    """

    def __init__(self, ranking: Ranking = "expected") -> None:
        self._ranking: Ranking = ranking
        self._rows: dict[PlanKey, PlanStatistics] = defaultdict(PlanStatistics)
        self._pages: dict[TaskKey, _Page] = defaultdict(_Page)
        self._notes: list[str] = []

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[PlanRow],
        starts: Iterable[StartRow],
        ranking: Ranking = "expected",
        notes: Iterable[str] = (),
    ) -> WorldModel:
        """Return the world model that the rows sum up: those of others, or the store's; one key may come twice."""
        model = cls(ranking)
        model._notes += recent_notes(notes)
        for row in rows:
            model._count(*row)
        for start in starts:
            model._count_start(start)
        return model

    def ranked(self, by: Ranking) -> WorldModel:
        """Return the same memory under another ranking: what is added to one, both know."""
        other = WorldModel(by)
        other._rows, other._pages, other._notes = self._rows, self._pages, self._notes
        return other

    def rows(self) -> Iterator[PlanRow]:
        """Yield the statistics, ordered by their keys."""
        return (PlanRow(key, self._rows[key]) for key in sorted(self._rows))

    def start_rows(self) -> Iterator[StartRow]:
        """Yield when tasks were begun, ordered by task and time."""
        for task, page in sorted(self._pages.items()):
            for bucket, record in sorted(page.starts.items()):
                yield StartRow(task, bucket, *record)

    def add(self, instance: PlanInstance) -> None:
        """Add an instance while the episode runs."""
        key = PlanKey(instance.task, instance.team, instance.lifted, instance.prototype)
        self._count(key, PlanStatistics.of(instance))
        self._count_start(StartRow(instance.task, instance.start // START_BUCKET, 1, int(instance.success)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What agents told the team so far, oldest first, each once."""
        return tuple(self._notes)

    def remember(self, text: str) -> None:
        """Add a note of an agent while the episode runs."""
        self._notes[:] = recent_notes([*self._notes, text])

    def _count(self, key: PlanKey, statistics: PlanStatistics) -> None:
        page = self._pages[key.task]
        counts = page.teams[key.team], page.plans[key.lifted], page.prototypes[key.prototype]
        for count in (self._rows[key], page.total, *counts):
            count.merge(statistics)

    def _count_start(self, row: StartRow) -> None:
        starts = self._pages[row.task].starts
        before = starts.get(row.bucket, _NONE)
        starts[row.bucket] = StartRecord(before.attempts + row.attempts, before.successes + row.successes)

    def guide(self, task: TaskKey, tick: int = 0) -> GuideEntry:
        """Return the guidebook's entry at a tick of the episode; an untested one for an unknown task."""
        page = self._pages.get(task) or _Page()
        total = page.total
        return GuideEntry(
            attempts=total.attempts,
            successes=total.successes,
            mean_duration=total.mean_duration,
            team=self._recommended_team(page),
            earliest_start=total.earliest,
            latest_start=total.latest,
            verdict=verdict(total.rate),
            about_now=page.starts.get(tick // START_BUCKET, _NONE),
        )

    def _recommended_team(self, page: _Page) -> int | None:
        """Return the best-performing team size, else the smallest that succeeded, else None.

        A size performs if its rate has a better verdict than "needs a new strategy".
        """
        succeeded = [(team, statistics) for team, statistics in sorted(page.teams.items()) if statistics.successes]
        if not succeeded:
            return None
        best, statistics = min(succeeded, key=lambda pair: (self._merit(pair[1]), pair[0]))
        return best if (statistics.rate or 0.0) > VERDICTS[-1][0] else succeeded[0][0]

    def library(self, task: TaskKey) -> Library:
        """Return the plan library's page, best first; an empty one for an unknown task."""
        page = self._pages.get(task) or _Page()
        return Library(page.total.attempts, self._records(page.prototypes), self._records(page.plans))

    def _records(self, by_text: dict[str, PlanStatistics]) -> tuple[PlanRecord, ...]:
        order = sorted(by_text.items(), key=lambda item: (self._merit(item[1]), item[0]))
        return tuple(
            PlanRecord(text, counts.attempts, counts.successes, counts.mean_duration, counts.team_sum / counts.attempts)
            for text, counts in order
        )

    def best(self) -> TaskKey | None:
        """Return the task that went best so far; None where nothing succeeded."""
        done = [(page.total, task) for task, page in self._pages.items() if page.total.successes]
        return min(done, key=lambda pair: (self._merit(pair[0]), pair[1]))[1] if done else None

    def _merit(self, counts: PlanStatistics) -> tuple[float, ...]:
        """Return the sort key of a ranking, ascending: the best has the least.

        What never succeeded comes last: by progress, then by how little it was tried.
        """
        if not counts.successes:
            return (1.0, -counts.share_sum / counts.attempts, counts.attempts)
        duration = counts.duration_sum / counts.successes
        if self._ranking == "expected":
            return (0.0, duration / smoothed(counts.successes, counts.attempts), -counts.attempts)
        if self._ranking == "wilson":
            return (0.0, -wilson(counts.successes, counts.attempts), -counts.attempts, duration)
        return (0.0, -counts.successes / counts.attempts, -counts.attempts, duration)
